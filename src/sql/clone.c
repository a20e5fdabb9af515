/* CREATE [OR REPLACE] TABLE t SHALLOW | DEEP CLONE source: the source resolved; where the target may be is for CREATE TABLE to say. */
#include "ops/maintain/clone.h"

#include "base/uri.h"
#include "sql/restore_statement.h"
#include "sql/run.h"

/* As the history shows it: spark_catalog.db.t, or delta.`file:/p`. */
static str source_name(run *r, const resolved_table *t, str base) {
    if (t->in_catalog) return arena_printf(r->a, "spark_catalog.%.*s.%.*s", STR_ARG(t->database), STR_ARG(t->name));
    return arena_printf(r->a, "%.*s.`%.*s`", STR_ARG(t->format), STR_ARG(base));
}

/* The table's root as a URI: what makes paths of its files absolute. */
static str source_base(run *r, const resolved_table *t, str root) {
    str encoded = uri_encode_path(root, r->a);
    if (str_is_null(encoded)) return encoded;
    return arena_printf(r->a, "%s%.*s", store_uri_prefix(t->store), STR_ARG(encoded));
}

static silt_status open_folder(run *r, resolved_table *t, const relation *source, clone_spec *spec, silt_error *err) {
    delta_env *env;
    store_entry entry;
    if (source->travel.version || source->travel.timestamp) return err_UNSUPPORTED_FEATURE(err, "time travel of tables other than Delta's");
    TRY(resolve_location(r->s, t->location, r->a, &t->store, &t->root, err));
    if (store_stat(t->store, t->root, r->a, &entry, NULL) == SILT_NOT_FOUND) return err_PATH_NOT_FOUND(err, t->location);
    TRY(session_env(r->s, t->store, &env, err));
    spec->folder_env = env;
    spec->folder = t->root;
    return SILT_OK;
}

static silt_status open_table(run *r, const resolved_table *t, const relation *source, clone_spec *spec, silt_error *err) {
    delta_snapshot *snapshot;
    TRY(open_snapshot(r, t, &source->travel, &snapshot, err));
    spec->source = snapshot;
    return SILT_OK;
}

static silt_status open_source(run *r, clone_spec *spec, silt_error *err) {
    resolved_table t;
    const relation *source = r->st->restore->source;
    TRY(resolve_table(r, source, false, &t, err));
    bool is_folder = str_eqz(t.format, "parquet");
    if (!str_eqz(t.format, "delta") && !is_folder) return err_DELTA_CLONE_UNSUPPORTED_SOURCE(err, t.display, str_eqz(t.format, "view") ? STR("View") : t.format);
    if (is_folder) TRY(open_folder(r, &t, source, spec, err));
    else TRY(open_table(r, &t, source, spec, err));
    spec->source_base = source_base(r, &t, spec->source ? delta_snapshot_root(spec->source) : spec->folder);
    spec->source_name = source_name(r, &t, spec->source_base);
    return str_is_null(spec->source_base) || str_is_null(spec->source_name) ? error_no_memory(err) : SILT_OK;
}

static silt_status show_cloned(run *r, const clone_spec *spec, const ops_result *done, silt_error *err) {
    static const char columns[] = "source_table_size BIGINT, source_num_of_files BIGINT, num_removed_files BIGINT, num_copied_files BIGINT, "
                                  "removed_files_size BIGINT, copied_files_size BIGINT";
    const clone_numbers *n = &spec->numbers;
    const int64_t numbers[] = {n->source_bytes, n->source_files, n->removed_files, n->copied_files, n->removed_bytes, n->copied_bytes};
    bool ok = true;
    TRY(rows_begin(r, columns, err));
    if (done->version < 0 && !spec->is_deep) return SILT_OK; /* IF NOT EXISTS found it */
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) ok = ok && arrow_append_i64(rows_column(r, i), numbers[i]);
    if (!ok || !arrow_finish_row(r->result->rows)) return error_no_memory(err);
    if (done->version >= 0)
        r->result->message = arena_printf(r->a, "cloned %.*s, version %lld%s", STR_ARG(spec->source_name), (long long)done->version,
                                          n->found_files ? "; files that an earlier run had copied were kept" : "");
    return SILT_OK;
}

/* Where it may go, in CLONE's own words: what CREATE would say otherwise. */
static silt_status check_target(run *r, const resolved_table *t, silt_error *err) {
    const statement *st = r->st;
    bool is_relative = st->has_location && st->location.len && st->location.ptr[0] != '/' && str_find_char(st->location, ':') == SIZE_MAX;
    if (is_relative) return err_DELTA_INVALID_CLONE_PATH(err, st->location);
    if (st->has_location && !t->name.ptr && !str_eq(st->location, t->location)) return err_DELTA_CLONE_AMBIGUOUS_TARGET(err, st->location, t->display);
    if (st->replace_only && t->name.ptr && !t->in_catalog) return err_DELTA_CANNOT_REPLACE_MISSING_TABLE(err, t->display);
    if (t->in_catalog && t->entry.is_view) return err_WRONG_COMMAND_FOR_OBJECT_TYPE(err, t->display, "VIEW", "DROP VIEW");
    return t->in_catalog && !st->or_replace && !st->if_not_exists ? err_DELTA_TABLE_ALREADY_EXISTS(err, t->display) : SILT_OK;
}

silt_status run_clone(run *r, silt_error *err) {
    resolved_table t;
    clone_spec clone = {.is_deep = r->st->restore->is_deep};
    create_spec spec = {.clone = &clone};
    ops_result done = {.version = -1};
    TRY(run_bind(r, err));
    TRY(resolve_table(r, r->st->table, true, &t, err));
    TRY(check_target(r, &t, err));
    TRY(open_source(r, &clone, err));
    TRY(create_table_at(r, &t, &spec, &done, err));
    return show_cloned(r, &clone, &done, err);
}
