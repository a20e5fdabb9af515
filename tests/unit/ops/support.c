/* See ops_test.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "ops_test.h"

/* ---- setting up ---- */

static str setting(void *ctx, const char *key) {
    const world *w = ctx;
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (w->keys[i] && strcmp(w->keys[i], key) == 0) return str_of(w->values[i]);
    return STR_NULL;
}

void world_set(world *w, const char *key, const char *text) {
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (w->keys[i] && strcmp(w->keys[i], key) != 0) continue;
        w->keys[i] = key;
        w->values[i] = text;
        return;
    }
    fail_msg("too many settings");
}

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static silt_status resolve(table_resolver *r, const relation *rel, arena *a, table_source **out_source, str *out_view,
                           silt_error *err) {
    world *w = r->ctx;
    delta_snapshot *s;
    (void)a;
    (void)out_view;
    if (rel->name.count != 1 || !str_eqz(rel->name.parts[0], "t")) return err_TABLE_OR_VIEW_NOT_FOUND(err, rel->name.parts[0]);
    silt_status status = delta_snapshot_load(&w->delta, str_of(w->root), DELTA_LATEST, &s, err);
    if (status != SILT_OK) return status;
    status = delta_table_source(s, out_source, err);
    delta_snapshot_release(s);
    if (status == SILT_OK && !arena_defer(w->a, release_source, *out_source)) return error_no_memory(err);
    return status;
}

int world_setup(void **state) {
    world *w = calloc(1, sizeof *w);
    if (!w) return -1;
    strcpy(w->folder, "/tmp/silt-ops-XXXXXX");
    if (!mkdtemp(w->folder)) return -1;
    snprintf(w->root, sizeof w->root, "%s/t", w->folder);
    w->a = arena_new();
    engine_options options = {.threads = 1};
    if (engine_open(&options, &w->engine, &w->err) != SILT_OK || store_local_open(&w->store, &w->err) != SILT_OK) {
        fprintf(stderr, "%s: %s\n", w->err.message, w->err.detail);
        return -1;
    }
    w->delta = (delta_env){.store = w->store, .parquet = engine_parquet(w->engine), .n_threads = 1};
    w->resolver = (table_resolver){.ctx = w, .resolve = resolve};
    w->bind = (bind_env){.resolver = &w->resolver,
                         .time_zone = STR("UTC"),
                         .ansi = true,
                         .now_us = time_now_us(),
                         .fold = engine_fold,
                         .fold_ctx = w->engine};
    w->env = (ops_env){.engine = w->engine, .delta = &w->delta, .bind = &w->bind, .setting = setting, .setting_ctx = w};
    *state = w;
    return 0;
}

int world_teardown(void **state) {
    world *w = *state;
    char command[128];
    arena_free(w->a); /* table sources first: they borrow the store */
    engine_close(w->engine);
    store_close(w->store);
    snprintf(command, sizeof command, "rm -rf '%s'", w->folder);
    int code = system(command);
    free(w);
    return code;
}

/* ---- statements ---- */

static const str *split(world *w, const char *text, char separator, size_t *out_n) {
    str *items = ARENA_ARRAY(w->a, 32, str), rest = text ? arena_str(w->a, str_of(text)) : STR_NULL;
    *out_n = 0;
    while (rest.len > 0 && str_next(&rest, separator, &items[*out_n])) {
        items[*out_n] = str_trim(items[*out_n]);
        ++*out_n;
    }
    return items;
}

static silt_status bound_query(world *w, const char *text, query **out) {
    str copy = arena_str(w->a, str_of(text));
    w->bind.source_text = copy;
    silt_status status = query_parse(copy, w->a, out, &w->err);
    return status == SILT_OK ? query_bind(*out, &w->bind, w->a, &w->err) : status;
}

static str_map properties_of(world *w, const char *text) {
    size_t n;
    const str *pairs = split(w, text, ';', &n);
    str *keys = ARENA_ARRAY(w->a, n + 1, str), *values = ARENA_ARRAY(w->a, n + 1, str);
    for (size_t i = 0; i < n; i++) {
        size_t at = str_find_char(pairs[i], '=');
        keys[i] = str_slice(pairs[i], 0, at);
        values[i] = str_slice(pairs[i], at + 1, pairs[i].len);
    }
    return (str_map){keys, values, n};
}

silt_status world_create(world *w, create_words words) {
    create_spec spec = {.table_name = STR("t"),
                        .root = str_of(w->root),
                        .comment = words.comment ? str_of(words.comment) : STR_NULL,
                        .properties = properties_of(w, words.properties),
                        .or_replace = words.or_replace,
                        .replace_only = words.replace_only,
                        .if_not_exists = words.if_not_exists,
                        .is_managed = words.is_managed,
                        .is_path = words.is_path,
                        .is_new_name = words.is_new_name};
    spec.partition_columns = split(w, words.partitioned_by, ',', &spec.n_partition_columns);
    spec.cluster_columns = split(w, words.cluster_by, ',', &spec.n_cluster_columns);
    silt_status status = SILT_OK;
    if (words.columns) status = schema_parse_ddl(arena_str(w->a, str_of(words.columns)), w->a, &spec.schema, &w->err);
    if (status == SILT_OK && words.query) status = bound_query(w, words.query, &spec.source);
    return status == SILT_OK ? ops_create(&w->env, &spec, &w->done, &w->err) : status;
}

static silt_status partition_clause(world *w, const char *text, insert_spec *spec) {
    const str *items = split(w, text, ',', &spec->n_partition);
    str *names = ARENA_ARRAY(w->a, spec->n_partition + 1, str);
    expr **values = ARENA_ARRAY(w->a, spec->n_partition + 1, expr *);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < spec->n_partition && status == SILT_OK; i++) {
        size_t at = str_find_char(items[i], '=');
        names[i] = at == SIZE_MAX ? items[i] : str_slice(items[i], 0, at);
        if (at == SIZE_MAX) continue;
        status = expr_parse(str_slice(items[i], at + 1, items[i].len), w->a, &values[i], &w->err);
        if (status == SILT_OK) status = expr_bind(values[i], NULL, &w->bind, w->a, &values[i], &w->err);
    }
    spec->partition_names = names;
    spec->partition_values = values;
    spec->has_partition_clause = text != NULL;
    return status;
}

silt_status world_insert(world *w, insert_words words) {
    delta_snapshot *s;
    silt_status status = delta_snapshot_load(&w->delta, str_of(w->root), DELTA_LATEST, &s, &w->err);
    if (status != SILT_OK) return status;
    insert_spec spec = {.table_name = STR("spark_catalog.default.t"),
                        .root = str_of(w->root),
                        .snapshot = s,
                        .by_name = words.by_name,
                        .overwrite = words.overwrite,
                        .is_data_frame = words.data_frame,
                        .reads_target = words.reads_target,
                        .options = words.options};
    spec.columns = split(w, words.columns, ',', &spec.n_columns);
    status = partition_clause(w, words.partition, &spec);
    str text = arena_str(w->a, str_of(words.query));
    w->bind.source_text = text;
    if (status == SILT_OK) status = query_parse(text, w->a, &spec.source, &w->err);
    if (status == SILT_OK) status = ops_insert_defaults(&w->env, &spec, spec.source, w->a, &w->err);
    if (status == SILT_OK) status = query_bind(spec.source, &w->bind, w->a, &w->err);
    if (status == SILT_OK) status = ops_insert(&w->env, &spec, &w->done, &w->err);
    delta_snapshot_release(s);
    return status;
}

silt_status world_load(world *w, const char *query_text, save_mode mode, const char *partitioned_by, write_options options) {
    load_spec spec = {.table_name = STR("t"), .root = str_of(w->root), .mode = mode, .options = options};
    spec.partition_columns = split(w, partitioned_by, ',', &spec.n_partition_columns);
    silt_status status = bound_query(w, query_text, &spec.source);
    return status == SILT_OK ? ops_load(&w->env, &spec, &w->done, &w->err) : status;
}

/* ---- reading back ---- */

static void append_cell(buf *out, const data_type *type, const struct ArrowArray *column, int64_t row) {
    const uint8_t *valid = column->buffers[0];
    int64_t i = row + column->offset;
    if (valid && !(valid[i / 8] >> (i % 8) & 1))
        buf_append_z(out, "NULL");
    else if (type->id == TYPE_STRING) {
        const int32_t *ends = column->buffers[1];
        buf_append_bytes(out, (const char *)column->buffers[2] + ends[i], (size_t)(ends[i + 1] - ends[i]));
    } else if (type->id == TYPE_INT)
        buf_append_i64(out, ((const int32_t *)column->buffers[1])[i]);
    else if (type->id == TYPE_LONG)
        buf_append_i64(out, ((const int64_t *)column->buffers[1])[i]);
    else
        fail_msg("cast the columns of a test query to string, int or bigint");
}

const char *world_rows(world *w, const char *text) {
    query *q;
    engine_result *result;
    buf out;
    buf_init(&out, BUF_MAX_DEFAULT);
    OK(bound_query(w, text, &q));
    OK(expr_push_predicates(q, &w->bind, w->a, &w->err));
    OK(engine_run(w->engine, q, &w->bind, &result, &w->err));
    const data_type *type = engine_result_type(result);
    for (;;) {
        struct ArrowArray batch;
        OK(engine_result_next(result, &batch, &w->err));
        if (!batch.release) break;
        for (int64_t row = 0; row < batch.length; row++)
            for (size_t c = 0; c < type->n_fields; c++) {
                append_cell(&out, type->fields[c].type, batch.children[c], row);
                buf_append_char(&out, c + 1 < type->n_fields ? '|' : '\n');
            }
        batch.release(&batch);
    }
    engine_result_free(result);
    const char *rows = arena_cstr(w->a, buf_str(&out));
    buf_dispose(&out);
    return rows;
}

delta_snapshot *world_snapshot(world *w) {
    delta_snapshot *s;
    OK(delta_snapshot_load(&w->delta, str_of(w->root), DELTA_LATEST, &s, &w->err));
    return s;
}

int64_t world_version(world *w) {
    bool exists;
    OK(delta_table_exists(&w->delta, str_of(w->root), &exists, &w->err));
    if (!exists) return -1;
    delta_snapshot *s = world_snapshot(w);
    int64_t version = delta_snapshot_version(s);
    delta_snapshot_release(s);
    return version;
}

const json_node *world_commit(world *w, int64_t version, size_t *out_count, const json_node ***out_lines) {
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    str path = arena_printf(w->a, "%s/_delta_log/%020lld.json", w->root, (long long)version), rest, line;
    OK(store_read(w->store, path, 0, -1, &text, &w->err));
    const json_node **lines = ARENA_ARRAY(w->a, 256, const json_node *);
    size_t n = 0;
    rest = arena_str(w->a, buf_str(&text));
    while (rest.len > 0 && str_next(&rest, '\n', &line))
        if (line.len > 0) OK(json_parse(line, w->a, &lines[n++], &w->err));
    buf_dispose(&text);
    *out_count = n;
    *out_lines = lines;
    return lines[0];
}

const json_node *world_action(world *w, int64_t version, const char *name) {
    size_t n;
    const json_node **lines;
    world_commit(w, version, &n, &lines);
    for (size_t i = 0; i < n; i++)
        if (json_get(lines[i], name)) return json_get(lines[i], name);
    return NULL;
}

size_t world_count(world *w, int64_t version, const char *name) {
    size_t n, found = 0;
    const json_node **lines;
    world_commit(w, version, &n, &lines);
    for (size_t i = 0; i < n; i++) found += json_get(lines[i], name) != NULL;
    return found;
}

const char *world_actions(world *w, int64_t version) {
    size_t n;
    const json_node **lines;
    str out = STR("");
    world_commit(w, version, &n, &lines);
    for (size_t i = 0; i < n; i++) out = arena_printf(w->a, "%.*s%s%.*s", STR_ARG(out), i ? " " : "", STR_ARG(lines[i]->keys[0]));
    return arena_cstr(w->a, out);
}

const char *world_parameters(world *w, int64_t version) {
    return arena_cstr(w->a, json_get(world_action(w, version, "commitInfo"), "operationParameters")->text);
}

const char *world_metrics(world *w, int64_t version) {
    const json_node *metrics = json_get(world_action(w, version, "commitInfo"), "operationMetrics");
    str out = STR("");
    for (size_t i = 0; i < metrics->count; i++) {
        assert_int_equal(metrics->values[i].type, JSON_STRING);
        if (str_ends_with(metrics->keys[i], STR("Bytes"))) continue;
        out = arena_printf(w->a, "%.*s%s%.*s=%.*s", STR_ARG(out), out.len ? " " : "", STR_ARG(metrics->keys[i]),
                           STR_ARG(metrics->values[i].text));
    }
    return arena_cstr(w->a, out);
}

size_t world_data_files(world *w) {
    store_list_result list = {0};
    size_t n = 0;
    if (store_list(w->store, str_of(w->root), STR_NULL, true, w->a, &list, &w->err) != SILT_OK) return 0;
    for (size_t i = 0; i < list.count; i++)
        n += str_ends_with(list.items[i].path, STR(".parquet")) && str_find(list.items[i].path, STR("_delta_log")) == SIZE_MAX;
    return n;
}

store_fault world_inject(void *ctx, const char *call, str path, size_t nth_call) {
    injector *i = ctx;
    (void)call;
    (void)path;
    (void)nth_call;
    return i->armed && atomic_fetch_add(&i->calls, 1) + 1 == i->nth ? i->fault : FAULT_NONE;
}
