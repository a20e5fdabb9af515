/* Writing through the public API: an Arrow stream or files into a table, one commit. */
#include "api/api.h"
#include "expr/parser.h"

static silt_status write_spec_of(const char *table, const silt_write_options *o, arena *a, session_write_spec *out, silt_error *err) {
    static const save_mode modes[] = {[SILT_APPEND] = SAVE_APPEND, [SILT_OVERWRITE] = SAVE_OVERWRITE, [SILT_ERROR_IF_EXISTS] = SAVE_ERROR_IF_EXISTS, [SILT_IGNORE] = SAVE_IGNORE};
    silt_save_mode mode = API_GET(o, mode, SILT_APPEND);
    if ((unsigned)mode >= ARRAY_LEN(modes)) return err_INVALID_PARAMETER_VALUE(err, STR("mode"), STR("?"), "one of silt_save_mode");
    size_t n = API_GET(o, partition_by, NULL) ? API_GET(o, n_partition_by, 0) : 0, n_properties = API_GET(o, n_properties, 0);
    str *partitions = api_strs(a, API_GET(o, partition_by, NULL), n);
    str *keys = api_strs(a, API_GET(o, property_keys, NULL), n_properties), *values = api_strs(a, API_GET(o, property_values, NULL), n_properties);
    if (!partitions || !keys || !values) return error_no_memory(err);
    const char *app = API_GET(o, txn_app_id, NULL), *user = API_GET(o, user_metadata, NULL);
    *out = (session_write_spec){
        .table = api_str(table), .mode = modes[mode], .partition_columns = partitions, .n_partition_columns = n, .properties = {keys, values, n_properties},
        .options = {.merge_schema = API_GET(o, merge_schema, false), .overwrite_schema = API_GET(o, overwrite_schema, false), .has_txn = app != NULL, .txn_app_id = api_str(app),
                    .txn_version = API_GET(o, txn_version, 0), .user_metadata = api_str(user), .replace_where = api_str(API_GET(o, replace_where, NULL))},
    };
    return SILT_OK;
}

static void report(silt_write_result *out, const ops_result *done) {
    if (!out) return;
    if (API_HAS(out, version)) out->version = done->version;
    if (API_HAS(out, num_rows)) out->num_rows = done->rows;
    if (API_HAS(out, num_files)) out->num_files = done->files;
    if (API_HAS(out, num_bytes)) out->num_bytes = done->bytes;
    if (API_HAS(out, num_files_taken)) out->num_files_taken = done->files_taken;
    if (API_HAS(out, why_rewritten)) memcpy(out->why_rewritten, done->why_rewritten, sizeof out->why_rewritten);
}

silt_status silt_write(silt_session *s, const char *table, struct ArrowArrayStream *rows, const silt_write_options *options, silt_write_result *out, silt_error *err) {
    arena *a = arena_new();
    session_write_spec spec;
    table_source *source = NULL;
    ops_result done = {.version = -1};
    engine *e = NULL;
    silt_status status = a ? write_spec_of(table, options, a, &spec, err) : error_no_memory(err);
    if (status == SILT_OK) status = session_engine(s->inner, &e, err);
    if (status != SILT_OK) {
        if (rows->release) rows->release(rows);
        goto out;
    }
    TRY_OUT(engine_arrow_source(e, rows, &source, err));
    TRY_OUT(session_write(s->inner, &spec, source, &done, err));
    report(out, &done);
out:
    arena_free(a);
    return status;
}

static const char *format_of(const char *file) {
    str name = str_of(file);
    static const struct { const char *suffix, *format; } table[] = {
        {".csv", "csv"}, {".tsv", "csv"}, {".csv.gz", "csv"}, {".json", "json"}, {".jsonl", "json"}, {".ndjson", "json"}, {".json.gz", "json"}, {".jsonl.gz", "json"},
        {".parquet", "parquet"}, {".orc", "orc"},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_ends_with(name, str_of(table[i].suffix))) return table[i].format;
    return NULL;
}

/** A load while it may be done again: files can be read twice, a stream cannot. */
typedef struct load_run {
    session *s;
    const session_write_spec *spec;
    str format;
    const str *paths;
    size_t n_paths;
    const str *keys, *values;
    size_t n;
    const data_type *declared;
    ops_result done;
} load_run;

static silt_status load_once(void *ctx, silt_error *err) {
    load_run *l = ctx;
    engine *e;
    table_source *source;
    TRY(session_engine(l->s, &e, err));
    TRY(engine_file_source(e, l->format, l->paths, l->n_paths, l->keys, l->values, l->n, l->declared, &source, err));
    return session_write(l->s, l->spec, source, &l->done, err);
}

silt_status silt_load(silt_session *s, const char *table, const char *const *files, size_t n_files, const silt_load_options *load, const silt_write_options *options,
                      silt_write_result *out, silt_error *err) {
    if (n_files == 0) return err_INVALID_PARAMETER_VALUE(err, STR("files"), STR(""), "at least one file");
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status = SILT_OK;
    session_write_spec spec;
    const data_type *declared = NULL;
    TRY_OUT(write_spec_of(table, options, a, &spec, err));
    size_t n = API_GET(load, n_options, 0);
    str *paths = api_strs(a, files, n_files), *keys = api_strs(a, API_GET(load, option_keys, NULL), n), *values = api_strs(a, API_GET(load, option_values, NULL), n);
    if (!paths || !keys || !values) {
        status = error_no_memory(err);
        goto out;
    }
    const char *format = API_GET(load, format, NULL);
    if (!format) format = format_of(files[0]);
    if (!format) {
        status = err_INVALID_PARAMETER_VALUE(err, STR("format"), str_of(files[0]), "csv, json or parquet given by name when the file's name does not tell");
        goto out;
    }
    if (API_GET(load, schema, NULL)) TRY_OUT(schema_parse_ddl(str_of(load->schema), a, &declared, err));
    load_run run = {s->inner, &spec, str_of(format), paths, n_files, keys, values, n, declared, {.version = -1}};
    int64_t reruns;
    TRY_OUT(session_rerun(s->inner, load_once, &run, &reruns, err));
    report(out, &run.done);
out:
    arena_free(a);
    return status;
}
