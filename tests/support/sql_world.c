#include "support/sql_world.h"

static silt_status open_files(str authority, void *config, store **out, silt_error *err) {
    (void)authority;
    (void)config;
    return store_local_open(out, err);
}

int sql_world_setup(void **state) {
    sql_world *w = calloc(1, sizeof *w);
    snprintf(w->folder, sizeof w->folder, "/tmp/silt-sql-XXXXXX");
    if (!mkdtemp(w->folder)) return -1;
    w->a = arena_new();
    const str key = STR("spark.sql.warehouse.dir"), folder = str_of(w->folder);
    assert_int_equal(store_registry_new(&w->stores, NULL), SILT_OK);
    assert_int_equal(store_registry_add(w->stores, "file", open_files, NULL, NULL), SILT_OK);
    assert_int_equal(store_local_open(&w->files, NULL), SILT_OK);
    session_options options = {.stores = w->stores, .keys = &key, .values = &folder, .n_settings = 1};
    assert_int_equal(session_open(&options, &w->session, &w->err), SILT_OK);
    *state = w;
    return 0;
}

int sql_world_teardown(void **state) {
    sql_world *w = *state;
    char command[96];
    session_close(w->session);
    store_close(w->files);
    store_registry_free(w->stores);
    snprintf(command, sizeof command, "rm -rf %s", w->folder);
    int removed = system(command);
    arena_free(w->a);
    free(w);
    return removed;
}

silt_status sql_world_run(sql_world *w, const char *text) {
    statement_result *r;
    w->err = (silt_error){.status = SILT_OK};
    silt_status status = session_run(w->session, str_of(text), NULL, &r, &w->err);
    if (status != SILT_OK) return status;
    w->message = arena_cstr(w->a, statement_result_message(r));
    w->note = arena_cstr(w->a, str_of(statement_result_note(r)));
    statement_result_free(r);
    return SILT_OK;
}

/* ---- the log ---- */

str sql_world_commit(sql_world *w, const char *table, int64_t version) {
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    str path = arena_printf(w->a, "%s/%s/_delta_log/%020lld.json", w->folder, table, (long long)version);
    str out = store_read(w->files, path, 0, -1, &text, NULL) == SILT_OK ? arena_str(w->a, buf_str(&text)) : STR_NULL;
    buf_dispose(&text);
    return out;
}

int64_t sql_world_latest(sql_world *w, const char *table) {
    int64_t v = 0;
    while (!str_is_null(sql_world_commit(w, table, v))) v++;
    return v - 1;
}

const char *sql_world_actions(sql_world *w, const char *table, int64_t version) {
    str rest = sql_world_commit(w, table, version), line, names = STR("");
    while (str_next(&rest, '\n', &line)) {
        const json_node *root;
        if (line.len == 0) continue;
        assert_int_equal(json_parse(line, w->a, &root, NULL), SILT_OK);
        names = names.len ? arena_printf(w->a, "%.*s %.*s", STR_ARG(names), STR_ARG(root->keys[0])) : root->keys[0];
    }
    return arena_cstr(w->a, names);
}

const json_node *sql_world_action(sql_world *w, const char *table, int64_t version, const char *name) {
    str rest = sql_world_commit(w, table, version), line;
    while (str_next(&rest, '\n', &line)) {
        const json_node *root;
        if (line.len == 0) continue;
        assert_int_equal(json_parse(line, w->a, &root, NULL), SILT_OK);
        if (json_get(root, name)) return json_get(root, name);
    }
    return NULL;
}
