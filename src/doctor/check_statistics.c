/* Statistics: files that have none, and columns that queries filter by without being indexed. */
#include "delta/stats_columns.h"
#include "delta/stats_fetch.h"
#include "doctor/check.h"

#define SAMPLE    100 /* files */
#define FEW_FILES 20  /* a table of fewer is read as fast without statistics */

/* ---- files ---- */

static silt_status count_bare(doctor *d, size_t *out_sampled, size_t *out_bare, silt_error *err) {
    size_t n = delta_snapshot_n_files(d->snapshot), step = n > SAMPLE ? n / SAMPLE : 1;
    arena *scratch = arena_new();
    silt_status status = scratch ? SILT_OK : error_no_memory(err);
    *out_sampled = *out_bare = 0;
    for (size_t i = 0; status == SILT_OK && i < n && *out_sampled < SAMPLE; i += step) {
        delta_add add;
        int64_t records;
        arena_reset(scratch);
        status = delta_snapshot_file(d->snapshot, i, true, scratch, &add, err);
        if (status != SILT_OK) break;
        (*out_sampled)++;
        *out_bare += !stats_num_records(add.stats, scratch, &records);
    }
    arena_free(scratch);
    return status;
}

static silt_status check_files(doctor *d, silt_error *err) {
    size_t sampled, bare, n = delta_snapshot_n_files(d->snapshot);
    if (n < FEW_FILES) return SILT_OK;
    TRY(count_bare(d, &sampled, &bare, err));
    if (bare * 10 < sampled || bare == 0) return SILT_OK;
    bool all = sampled == n;
    doctor_finding *f = doctor_report(
        d, DOCTOR_WARNING, (int64_t)bare,
        all ? "%zu of %zu files have no statistics" : "%zu of %zu files that were looked at have no statistics", bare, sampled);
    if (f) f->remedy = STR("Write these files again with statistics; a writer that leaves them out does it each time.");
    return f ? SILT_OK : error_no_memory(err);
}

/* ---- columns ---- */

/* The physical path of a dotted logical name; NULL when the schema has no such column. */
static const field *find_column(const data_type *schema, str name, arena *a, str *out_physical) {
    const field *f = NULL;
    str part;
    *out_physical = STR("");
    while (str_next(&name, '.', &part)) {
        int at = schema && schema->id == TYPE_STRUCT ? schema_find(schema, part) : -1;
        if (at < 0) return NULL;
        f = &schema->fields[at];
        schema = f->type;
        *out_physical = out_physical->len ? arena_printf(a, "%.*s.%.*s", STR_ARG(*out_physical), STR_ARG(f->physical_name))
                                          : f->physical_name;
    }
    return f;
}

static bool has_bounds(const data_type *bounds, str physical) {
    str part;
    while (bounds && str_next(&physical, '.', &part)) {
        const data_type *next = NULL;
        for (size_t i = 0; bounds->id == TYPE_STRUCT && i < bounds->n_fields && !next; i++)
            if (str_eq(bounds->fields[i].name, part)) next = bounds->fields[i].type;
        bounds = next;
    }
    return bounds != NULL;
}

static bool is_partition_column(const delta_metadata *m, str name) {
    for (size_t i = 0; i < m->n_partition_columns; i++)
        if (str_eq_fold(m->partition_columns[i], name)) return true;
    return false;
}

typedef struct filtered {
    str name;
    const char *why;
} filtered;

typedef struct filter_list {
    filtered *items;
    size_t n, capacity;
} filter_list;

static silt_status add_filter(doctor *d, filter_list *l, str name, const char *why, silt_error *err) {
    for (size_t i = 0; i < l->n; i++)
        if (str_eq_fold(l->items[i].name, name)) return SILT_OK;
    filtered f = {arena_str(d->a, name), why};
    return f.name.ptr && ARENA_PUSH(d->a, l->items, l->n, l->capacity, f) ? SILT_OK : error_no_memory(err);
}

/* Clustering columns are written by their physical names. */
static silt_status clustering_columns(doctor *d, filter_list *l, silt_error *err) {
    const delta_domain *domain = delta_snapshot_find_domain(d->snapshot, STR("delta.clustering"));
    const data_type *schema = delta_snapshot_metadata(d->snapshot)->schema;
    const json_node *root = NULL;
    if (!domain || json_parse(domain->configuration, d->a, &root, NULL) != SILT_OK) return SILT_OK;
    const json_node *columns = json_get(root, "clusteringColumns");
    for (size_t i = 0; columns && i < columns->count; i++) {
        const data_type *in = schema;
        str name = STR("");
        for (size_t k = 0; in && k < columns->values[i].count; k++) {
            const field *f = NULL;
            for (size_t c = 0; in->id == TYPE_STRUCT && c < in->n_fields; c++)
                if (str_eq(in->fields[c].physical_name, columns->values[i].values[k].text)) f = &in->fields[c];
            if (f) name = name.len ? arena_printf(d->a, "%.*s.%.*s", STR_ARG(name), STR_ARG(f->name)) : f->name;
            in = f ? f->type : NULL;
        }
        if (in && name.len) TRY(add_filter(d, l, name, "the table is clustered by it", err));
    }
    return SILT_OK;
}

/* OPTIMIZE … ZORDER BY keeps its columns as a JSON list in a string. */
static silt_status zorder_columns(doctor *d, filter_list *l, silt_error *err) {
    const log_heads *h;
    TRY(doctor_heads(d, &h, err));
    for (size_t i = h->count; i > 0; i--) {
        const json_node *list = json_get(json_get(h->items[i - 1].info, "operationParameters"), "zOrderBy");
        if (!list) continue;
        if (list->type == JSON_STRING && json_parse(list->text, d->a, &list, NULL) != SILT_OK) continue;
        for (size_t c = 0; list->type == JSON_ARRAY && c < list->count; c++)
            TRY(add_filter(d, l, list->values[c].text, "it was Z-ordered by it", err));
        return SILT_OK;
    }
    return SILT_OK;
}

static silt_status report_column(doctor *d, const filtered *c, silt_error *err) {
    doctor_finding *f = doctor_report(d, DOCTOR_WARNING, 1, "the column %.*s has no minimum and maximum in the log (%s)",
                                      STR_ARG(c->name), c->why);
    str limit = delta_snapshot_property(d->snapshot, "delta.dataSkippingStatsColumns");
    return doctor_command(d, f, err, "ALTER TABLE %.*s SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = '%.*s%s%.*s')",
                          STR_ARG(d->subject->sql_name), STR_ARG(limit), limit.len ? "," : "", STR_ARG(c->name));
}

static silt_status check_columns(doctor *d, silt_error *err) {
    const delta_metadata *m = delta_snapshot_metadata(d->snapshot);
    const data_type *bounds, *nulls;
    filter_list l = {0};
    for (size_t i = 0; i < d->options->n_filters; i++) {
        str physical;
        if (!find_column(m->schema, d->options->filters[i], d->a, &physical))
            return err_UNRESOLVED_COLUMN(err, d->options->filters[i]);
        TRY(add_filter(d, &l, d->options->filters[i], "queries filter by it", err));
    }
    TRY(clustering_columns(d, &l, err));
    TRY(zorder_columns(d, &l, err));
    if (l.n == 0 || delta_stats_types(m, d->a, &bounds, &nulls, NULL) != SILT_OK) return SILT_OK;
    for (size_t i = 0; i < l.n; i++) {
        str physical;
        const field *f = find_column(m->schema, l.items[i].name, d->a, &physical);
        if (f && !is_partition_column(m, l.items[i].name) && !has_bounds(bounds, physical))
            TRY(report_column(d, &l.items[i], err));
    }
    return SILT_OK;
}

silt_status check_statistics_missing(doctor *d, silt_error *err) {
    TRY(check_files(d, err));
    return check_columns(d, err);
}
