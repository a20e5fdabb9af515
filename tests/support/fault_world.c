#include "support/fault_world.h"

/* ---- the warehouse ---- */

void shell(const char *format, ...) {
    char command[2048];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_in_range(n, 0, sizeof command - 1);
    if (system(command) != 0) fail_msg("failed: %s", command);
}

void fault_world_set(fault_world *w, const char *key, const char *value) {
    assert_true(w->n_settings < WORLD_SETTINGS);
    w->keys[w->n_settings] = key;
    w->values[w->n_settings++] = value;
}

void fault_world_begin(fault_world *w, const char *name) {
    *w = (fault_world){0};
    snprintf(w->folder, sizeof w->folder, "/tmp/silt-%s-XXXXXX", name);
    if (!mkdtemp(w->folder)) fail_msg("no folder like %s", w->folder);
    snprintf(w->base, sizeof w->base, "%s/base", w->folder);
    snprintf(w->warehouse, sizeof w->warehouse, "%s/wh", w->folder);
    fault_world_set(w, "spark.sql.warehouse.dir", w->warehouse);
}

void fault_world_keep(fault_world *w) { shell("rm -rf '%s' && mv '%s' '%s'", w->base, w->warehouse, w->base); }
void fault_world_fresh(const fault_world *w) { shell("rm -rf '%s' && cp -a '%s' '%s'", w->warehouse, w->base, w->warehouse); }
void fault_world_end(const fault_world *w) { shell("rm -rf '%s'", w->folder); }

/* ---- sessions ---- */

silt_session *world_open(const fault_world *w) {
    silt_session_options options = {.struct_size = sizeof options, .keys = w->keys, .values = w->values, .n_settings = w->n_settings};
    silt_session *s;
    silt_error err = {0};
    if (silt_session_open(&options, &s, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    return s;
}

silt_status world_run(const fault_world *w, const char *sql, store_fault_fn before, void *ctx, silt_error *err) {
    hooked_session h;
    if (hooked_session_open(&h, w->keys, w->values, w->n_settings, before, ctx, err) != SILT_OK) fail_msg("[%s] %s", err->condition, err->message);
    silt_status status = session_execute(h.session, sql, err);
    hooked_session_close(&h);
    return status;
}

static void format_sql(char *out, size_t capacity, const char *format, va_list args) {
    int n = vsnprintf(out, capacity, format, args);
    assert_in_range(n, 0, capacity - 1);
}

void must(silt_session *s, const char *format, ...) {
    char sql[1024];
    silt_error err = {0};
    va_list args;
    va_start(args, format);
    format_sql(sql, sizeof sql, format, args);
    va_end(args);
    if (session_execute(s, sql, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
}

int64_t number(silt_session *s, const char *format, ...) {
    char sql[1024];
    int64_t n = 0;
    silt_error err = {0};
    va_list args;
    va_start(args, format);
    format_sql(sql, sizeof sql, format, args);
    va_end(args);
    if (session_number(s, sql, &n, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
    return n;
}

/* ---- faults ---- */

store_fault fault_on_order(void *ctx, const char *call, str path, size_t nth) {
    static const char *const reads[] = {"read", "stat", "list", "local_read_path"};
    fault_order *o = ctx;
    bool writes = true;
    (void)path, (void)nth;
    if (__atomic_add_fetch(&o->calls, 1, __ATOMIC_SEQ_CST) != o->at) return FAULT_NONE;
    for (size_t i = 0; i < ARRAY_LEN(reads); i++) writes &= strcmp(call, reads[i]) != 0;
    o->given = writes || o->fault == FAULT_FAIL || (o->fault == FAULT_SHORT && strcmp(call, "read") == 0);
    return o->given ? o->fault : FAULT_NONE;
}

void fault_fail(const char *what, const fault_order *o, const char *format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fail_msg("%s: fault %d at call %zu: %s", what, (int)o->fault, o->at, text);
}

void fault_check_told(const char *what, const fault_order *o, silt_status status, const silt_error *err, bool is_before, bool is_after) {
    if (!is_before && !is_after) fault_fail(what, o, "neither before nor after");
    if (!fault_is_survived(o) || status == SILT_UNKNOWN) return;
    if (status == SILT_OK && !is_after) fault_fail(what, o, "told that it is done, and it is not");
    if (status != SILT_OK && !is_before) fault_fail(what, o, "told [%s] %s, and it is done", err->condition, err->message);
}
