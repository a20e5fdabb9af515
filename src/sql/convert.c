/* CONVERT TO DELTA: what the name means, the conversion, and then the catalog's entry. */
#include "ops/maintain/convert.h"

#include "sql/convert_statement.h"
#include "sql/run.h"

/* The folder behind the name. Errors name what it is instead. */
static silt_status find_folder(run *r, resolved_table *t, silt_error *err) {
    const relation *rel = r->st->table;
    silt_error miss = {0};
    bool is_path = rel->name.count == 1 && rel->name.parts[0].len > 0 && rel->name.parts[0].ptr[0] == '/';
    bool is_iceberg = rel->name.count == 2 && str_eq_ascii_fold(rel->name.parts[0], STR("iceberg"));
    bool is_orc = rel->name.count == 2 && (str_eq_ascii_fold(rel->name.parts[0], STR("orc")) || str_eq_ascii_fold(rel->name.parts[0], STR("text")));
    if (is_path) return err_DELTA_MISSING_PROVIDER_FOR_CONVERT(err, rel->name.parts[0]);
    if (is_orc && rel->name.parts[1].len && rel->name.parts[1].ptr[0] == '/') return err_DELTA_CONVERT_NON_PARQUET_TABLE(err, rel->name.parts[0], name_join(rel->name, r->a));
    silt_status status = resolve_table(r, rel, false, t, &miss);
    if (status == SILT_NOT_FOUND && is_iceberg) return err_UNSUPPORTED_FEATURE(err, "CONVERT TO DELTA of Iceberg tables");
    if (status != SILT_OK) {
        if (err) *err = miss;
        return status;
    }
    if (str_eqz(t->format, "view")) return err_UNSUPPORTED_FEATURE(err, "converting a view to a Delta table");
    bool fits = str_eq_ascii_fold(t->format, STR("parquet")) || str_eqz(t->format, "delta");
    if (!fits) return err_DELTA_CONVERT_NON_PARQUET_TABLE(err, t->format, t->display);
    return t->root.ptr ? SILT_OK : resolve_location(r->s, t->location, r->a, &t->store, &t->root, err);
}

static silt_status show_counts(run *r, const convert_result *done, silt_error *err) {
    TRY(rows_begin(r, "partition STRING, rows_before BIGINT, rows_after BIGINT", err));
    for (size_t i = 0; i < done->n_counts; i++) {
        const convert_count *c = &done->counts[i];
        bool ok = arrow_append_str(rows_column(r, 0), c->partition) && arrow_append_i64(rows_column(r, 1), c->before) &&
                  arrow_append_i64(rows_column(r, 2), c->after) && arrow_finish_row(r->result->rows);
        if (!ok) return error_no_memory(err);
    }
    return SILT_OK;
}

static silt_status show(run *r, const convert_result *done, bool verify, silt_error *err) {
    ops_result told = {0};
    if (done->version < 0) r->result->message = STR("it is a Delta table already");
    else
        r->result->message = arena_printf(r->a, "%lld file%s with %lld row%s converted, version %lld", (long long)done->files, done->files == 1 ? "" : "s",
                                          (long long)done->rows, done->rows == 1 ? "" : "s", (long long)done->version);
    if (!r->result->message.ptr) return error_no_memory(err);
    if (verify && done->version >= 0) TRY(show_counts(r, done, err));
    memcpy(told.note, done->note, sizeof told.note);
    return run_add_note(r, &told, err);
}

/* A catalog's table of Parquet files is a Delta table from now on; a run that was stopped before this is completed by the next. */
static silt_status tell_catalog(run *r, resolved_table *t, silt_error *err) {
    if (!t->in_catalog || str_eqz(t->format, "delta")) return SILT_OK;
    catalog_table entry = t->entry;
    entry.provider = STR("delta");
    return r->s->catalog->ops->replace_table(r->s->catalog, &entry, err);
}

static bool setting_is_on(run *r, const char *key) { return str_eq_ascii_fold(session_get(r->s, str_of(key)), STR("true")); }

silt_status run_convert(run *r, silt_error *err) {
    const convert_statement *c = r->st->convert;
    resolved_table t;
    delta_env *env;
    convert_result done;
    TRY(run_bind(r, err));
    TRY(find_folder(r, &t, err));
    TRY(session_env(r->s, t.store, &env, err));
    convert_spec spec = {.table_name = t.display,
                         .root = t.root,
                         .catalog_name = STR_NULL,
                         .partition = c->partition,
                         .n_partition = c->n_partition,
                         .infer_partition = t.in_catalog && !c->has_partition,
                         .no_statistics = c->no_statistics,
                         .verify = setting_is_on(r, "silt.convert.verify")};
    if (t.in_catalog) spec.catalog_name = arena_printf(r->a, "`spark_catalog`.`%.*s`.`%.*s`", STR_ARG(t.database), STR_ARG(t.name));
    if (t.in_catalog && str_is_null(spec.catalog_name)) return error_no_memory(err);
    bool exists;
    TRY(delta_table_exists(env, t.root, &exists, err));
    if (!exists && str_eqz(t.format, "delta")) return err_DELTA_TABLE_NOT_FOUND(err, t.display);
    ops_env ops = run_ops_env(r, env);
    TRY(ops_convert(&ops, &spec, r->a, &done, err));
    TRY(tell_catalog(r, &t, err));
    return show(r, &done, spec.verify, err);
}
