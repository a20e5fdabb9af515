/* Sessions and SQL of the public API. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/secret.h"
#include "expr/lexer.h"
#include "expr/parser.h"

#ifndef SILT_BUILD_VERSION
#define SILT_BUILD_VERSION "0.0.0"
#endif

const char *silt_version(void) { return SILT_BUILD_VERSION; }

/* Settings as stores look for them. While the session opens there are only its options. */
static str store_setting_of(void *ctx, const char *key) {
    silt_session *s = ctx;
    return s->inner ? session_get(s->inner, str_of(key)) : STR_NULL;
}

static void each_setting(void *ctx, void (*take)(void *taker, str key, str value), void *taker) {
    silt_session *s = ctx;
    if (s->inner) session_each(s->inner, take, taker);
}

str *api_strs(arena *a, const char *const *strings, size_t n) {
    str *out = ARENA_ARRAY(a, n, str);
    for (size_t i = 0; out && i < n; i++) out[i] = str_of(strings[i]);
    return out;
}

silt_status silt_session_open(const silt_session_options *options, silt_session **out, silt_error *err) {
    silt_session *s = calloc(1, sizeof *s);
    arena *a = arena_new();
    silt_status status = SILT_OK;
    if (!s || !a) {
        status = error_no_memory(err);
        goto out;
    }
    buf_init(&s->text, BUF_MAX_DEFAULT);
    TRY_OUT(store_registry_new(&s->stores, err));
    s->store_settings = (store_settings){.get = store_setting_of, .ctx = s, .each = each_setting,
                                         .waiter = {&s->cancel, API_GET(options, progress, NULL), API_GET(options, progress_ctx, NULL), pthread_self()}};
    TRY_OUT(api_add_stores(s->stores, &s->store_settings, s->remotes, err));
    size_t n = API_GET(options, n_settings, 0);
    str *keys = api_strs(a, API_GET(options, keys, NULL), n), *values = api_strs(a, API_GET(options, values, NULL), n);
    if (n && (!keys || !values)) {
        status = error_no_memory(err);
        goto out;
    }
    session_options inner = {.stores = s->stores, .keys = keys, .values = values, .n_settings = n, .cancel = &s->cancel,
                             .progress = API_GET(options, progress, NULL), .progress_ctx = API_GET(options, progress_ctx, NULL),
                             .ends_with_process = API_GET(options, ends_with_process, false)};
    TRY_OUT(session_open(&inner, &s->inner, err));
    *out = s;
    s = NULL;
out:
    arena_free(a);
    silt_session_close(s);
    return status;
}

void silt_session_close(silt_session *s) {
    if (!s) return;
    session_close(s->inner);
    store_registry_free(s->stores);
    buf_dispose(&s->text);
    free(s);
}

silt_status silt_session_set(silt_session *s, const char *key, const char *text, silt_error *err) { return session_set(s->inner, api_str(key), api_str(text), err); }

const char *silt_session_get(silt_session *s, const char *key) {
    str v = session_get(s->inner, api_str(key));
    if (!v.ptr) return NULL;
    buf_clear(&s->text);
    buf_append(&s->text, v);
    return buf_cstr(&s->text);
}

void silt_session_cancel(silt_session *s) { cancel_request(&s->cancel, true); }
void silt_session_resume(silt_session *s) { cancel_request(&s->cancel, false); }

/* ---- statements ---- */

/* A parameter's text in its type: through the parser and a constant cast, so that it means what the same text means in SQL. */
static silt_status parameter_value(const silt_query_options *o, size_t i, arena *a, value *out, silt_error *err) {
    const char *text = o->parameter_values[i];
    const char *const *types = API_GET(o, parameter_types, NULL);
    const data_type *type = &type_string;
    if (types && types[i]) TRY(type_parse(str_of(types[i]), a, &type, err));
    *out = (value){.type = type, .is_null = text == NULL};
    if (!text) return SILT_OK;
    str s = str_of(text);
    bool ok = true;
    switch (type->id) {
    case TYPE_STRING:
    case TYPE_BINARY: out->as.bytes = s; break;
    case TYPE_BOOLEAN: out->as.boolean = str_eq_ascii_fold(s, STR("true")); ok = out->as.boolean || str_eq_ascii_fold(s, STR("false")); break;
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG: ok = str_to_i64(s, &out->as.i64); break;
    case TYPE_FLOAT:
    case TYPE_DOUBLE: ok = str_to_f64(s, &out->as.f64); break;
    case TYPE_DECIMAL: ok = decimal_parse(s, type->scale, &out->as.decimal); break;
    default: {
        silt_status status = partition_value_parse(s, false, type, 0, a, out, NULL);
        ok = status == SILT_OK;
        break;
    }
    }
    return ok ? SILT_OK : err_CAST_INVALID_INPUT(err, s, STR("STRING"), type_sql(type, a));
}

silt_status silt_query(silt_session *s, const char *sql, const silt_query_options *options, struct ArrowArrayStream *out, silt_error *err) {
    out->release = NULL;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status = SILT_OK;
    statement_parameters p = {.count = API_GET(options, n_parameters, 0)};
    value *values = ARENA_ARRAY(a, p.count, value);
    str *names = ARENA_ARRAY(a, p.count, str);
    if (!values || !names) {
        status = error_no_memory(err);
        goto out;
    }
    for (size_t i = 0; i < p.count; i++) {
        names[i] = options->parameter_names && options->parameter_names[i] ? str_of(options->parameter_names[i]) : STR("");
        TRY_OUT(parameter_value(options, i, a, &values[i], err));
    }
    p.names = names;
    p.values = values;
    statement_result *result;
    TRY_OUT(session_run(s->inner, api_str(sql), &p, &result, err));
    status = api_stream_from_result(result, out, err);
out:
    arena_free(a);
    return status;
}

silt_status silt_export_parquet(silt_session *s, const char *sql, const char *path, silt_error *err) {
    return session_export_parquet(s->inner, api_str(sql), api_str(path), err);
}

bool silt_script_has_secret(const char *text) {
    char *copy = strdup(text);
    bool has = !copy || secret_mask(copy, strlen(copy), true);
    free(copy);
    return has;
}

bool silt_script_next(const char *text, size_t *out_end, bool *out_is_blank) {
    arena *a = arena_new();
    bool whole = false;
    str script = str_of(text);
    if (!a || lexer_first_statement(script, a, out_end, out_is_blank, &whole, NULL) != SILT_OK) {
        *out_end = script.len;
        *out_is_blank = whole = false;
    }
    arena_free(a);
    return whole;
}
