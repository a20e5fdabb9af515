/*
 * Auto compaction: after a write, the small files of the partitions that it wrote to become larger ones, where there are enough of them. It is an OPTIMIZE of its own with
 * smaller sizes, committed after the write's version and marked "auto" in history.
 *
 * Delta counts the small files of a partition in the memory of its session, from the session's first write on. Here the table's own files are counted: a process that lives
 * for one statement would otherwise compact after each.
 */
#include "delta/path_set.h"
#include "ops/commit.h"
#include "ops/maintain/optimize_run.h"

#define DEFAULT_MAX_BYTES     ((int64_t)128 << 20)
#define DEFAULT_MIN_FILES     50
#define DEFAULT_MAX_PARTITIONS 128

static str text_setting(const op *o, const delta_metadata *m) {
    str session = ops_setting(o, "spark.databricks.delta.autoCompact.enabled");
    str legacy = str_map_get(&m->configuration, STR("delta.autoOptimize"));
    if (!str_is_null(session)) return session;
    if (!str_is_null(legacy) && str_eq_ascii_fold(legacy, STR("true"))) return legacy;
    return str_map_get(&m->configuration, STR("delta.autoOptimize.autoCompact"));
}

/* "auto" and "legacy" are Databricks' words for an engine's own choice: on. */
static bool is_on(const op *o, const delta_metadata *m) {
    static const char *const words[] = {"true", "auto", "legacy"};
    str text = text_setting(o, m);
    for (size_t i = 0; !str_is_null(text) && i < ARRAY_LEN(words); i++)
        if (str_eq_ascii_fold(text, str_of(words[i]))) return true;
    return false;
}

/* Only what brought rows in; what OPTIMIZE and its like write has no need of it. */
static bool adds_rows(const committed *c) {
    for (size_t i = 0; i < delta_txn_n_files(c->txn); i++) {
        const delta_add *add = delta_txn_added(c->txn, i);
        if (add && add->data_change) return true;
    }
    return false;
}

/* A shallow clone of files that would be copied at once, or a restored version that would be another one at once, is not what was asked for; nor does Delta compact after these. */
static bool only_names_files(const committed *c) {
    static const char *const operations[] = {"RESTORE", "CLONE", "CONVERT"};
    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        if (strcmp(c->info->operation, operations[i]) == 0) return true;
    return false;
}

static silt_status number_setting(const op *o, const char *key, int64_t absent, int64_t *out) {
    str text = ops_setting(o, key);
    *out = absent;
    if (str_is_null(text)) return SILT_OK;
    return str_to_i64(text, out) && *out >= 0 ? SILT_OK : err_INVALID_PARAMETER_VALUE(o->err, str_of(key), text, "a whole number");
}

static silt_status size_setting(const op *o, const char *key, int64_t absent, int64_t *out) {
    str text = ops_setting(o, key);
    *out = absent;
    if (str_is_null(text)) return SILT_OK;
    return ops_parse_bytes(text, out) && *out >= 0 ? SILT_OK : err_INVALID_PARAMETER_VALUE(o->err, str_of(key), text, "a size such as 128mb");
}

static silt_status limits(const op *o, const delta_snapshot *s, optimize_limits *out) {
    TRY(optimize_limits_of(o, s, out));
    TRY(size_setting(o, "spark.databricks.delta.autoCompact.maxFileSize", DEFAULT_MAX_BYTES, &out->max_bytes));
    return size_setting(o, "spark.databricks.delta.autoCompact.minFileSize", out->max_bytes / 2, &out->min_bytes);
}

/* ---- which partitions ---- */

/* Flags of partitions that the commit added to; with modifiedPartitionsOnly off, of all. */
static silt_status mark_written(const optimize_run *r, const committed *c, uint8_t *flags) {
    const op *o = r->o;
    size_t n = delta_snapshot_metadata(r->snapshot)->n_partition_columns;
    if (n == 0 || !ops_setting_bool(o, "spark.databricks.delta.autoCompact.modifiedPartitionsOnly.enabled", true)) {
        memset(flags, 1, r->n_partitions);
        return SILT_OK;
    }
    path_set written = {0};
    for (size_t i = 0; i < delta_txn_n_files(c->txn); i++) {
        const delta_add *add = delta_txn_added(c->txn, i);
        str key;
        bool added;
        if (!add || !add->data_change) continue;
        TRY(optimize_partition_key(o, r->snapshot, add, o->a, &key));
        if (!path_set_add(&written, key, o->a, &added)) return error_no_memory(o->err);
    }
    for (size_t i = 0; i < r->n_partitions; i++) flags[i] = path_set_has(&written, r->partitions[i].key);
    return SILT_OK;
}

/* Leaves those that have files enough; *out is how many. */
static silt_status keep_crowded(const optimize_run *r, uint8_t *flags, size_t *out) {
    const op *o = r->o;
    int64_t min_files, max_partitions, *small = ARENA_ARRAY(o->a, r->n_partitions + 1, int64_t);
    if (!small) return error_no_memory(o->err);
    TRY(number_setting(o, "spark.databricks.delta.autoCompact.minNumFiles", DEFAULT_MIN_FILES, &min_files));
    TRY(number_setting(o, "spark.databricks.delta.autoCompact.maxNumModifiedPartitions", DEFAULT_MAX_PARTITIONS, &max_partitions));
    for (size_t i = 0; i < r->n_files; i++) small[r->files[i].partition] += r->files[i].bytes < r->limits.min_bytes;
    *out = 0;
    for (size_t i = 0; i < r->n_partitions; i++) {
        flags[i] = flags[i] && small[i] > 1 && small[i] >= min_files && (int64_t)*out < max_partitions;
        *out += flags[i];
    }
    return SILT_OK;
}

/* ---- as history shows them ---- */

/* ('p <=> cast(1 as int)), joined by AND within a partition. */
static void print_partition(const delta_metadata *m, const optimize_partition *p, buf *out) {
    for (size_t i = 1; i < m->n_partition_columns; i++) buf_append_char(out, '(');
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        const data_type *type = p->values[i].type;
        buf text;
        buf_init(&text, BUF_MAX_DEFAULT);
        bool set = partition_value_write(&text, &p->values[i]);
        if (i) buf_append_z(out, " AND ");
        buf_printf(out, "('%.*s <=> cast(%.*s as ", STR_ARG(m->schema->fields[schema_find(m->schema, m->partition_columns[i])].physical_name),
                   STR_ARG(set ? buf_str(&text) : STR("null")));
        type_write_simple(out, type);
        buf_append_z(out, "))");
        if (i) buf_append_char(out, ')');
        if (!buf_ok(&text)) out->failed = true;
        buf_dispose(&text);
    }
}

static silt_status predicate_text(const optimize_run *r, const uint8_t *flags, size_t n, str *out) {
    const delta_metadata *m = delta_snapshot_metadata(r->snapshot);
    size_t seen = 0;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 1; i < n; i++) buf_append_char(&b, '(');
    for (size_t i = 0; i < r->n_partitions; i++) {
        if (!flags[i]) continue;
        if (seen++) buf_append_z(&b, " OR ");
        print_partition(m, &r->partitions[i], &b);
        if (seen > 1) buf_append_char(&b, ')');
    }
    *out = buf_take(&b, r->o->a);
    return str_is_null(*out) ? error_no_memory(r->o->err) : SILT_OK;
}

/* ---- the hook ---- */

static silt_status compact(optimize_run *r, const committed *c) {
    const op *o = r->o;
    bool clustered, has_columns;
    size_t n;
    str text;
    TRY(limits(o, r->snapshot, &r->limits));
    TRY(optimize_list_files(r));
    uint8_t *flags = ARENA_ARRAY(o->a, r->n_partitions + 1, uint8_t);
    if (!flags) return error_no_memory(o->err);
    TRY(mark_written(r, c, flags));
    TRY(keep_crowded(r, flags, &n));
    if (n == 0) return SILT_OK;
    if (delta_snapshot_metadata(r->snapshot)->n_partition_columns > 0) {
        TRY(predicate_text(r, flags, n, &text));
        r->predicate = &text;
    }
    TRY(cluster_is_clustered(o, r->snapshot, &clustered, &has_columns));
    if (has_columns) {
        TRY(cluster_plan_make(o, r->snapshot, false, &r->cluster));
        r->curve = r->cluster.columns;
        r->mode = OPTIMIZE_CLUSTER;
    }
    for (size_t i = 0; i < r->n_partitions; i++) r->partitions[i].is_wanted = flags[i];
    return optimize_execute(r);
}

silt_status auto_compact_hook(const op *o, const committed *c) {
    delta_snapshot *now;
    if (!is_on(o, c->target->metadata) || only_names_files(c) || !adds_rows(c)) return SILT_OK;
    TRY(delta_snapshot_load(o->env->delta, c->target->root, DELTA_LATEST, &now, o->err));
    const optimize_spec spec = {.table_name = c->target->table_name, .root = c->target->root, .snapshot = now};
    optimize_run r = {.o = o, .spec = &spec, .snapshot = now, .is_auto = true, .version = -1};
    silt_status status = compact(&r, c);
    delta_snapshot_release(now);
    return status;
}
