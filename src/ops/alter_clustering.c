/* CLUSTER BY (columns) | NONE: the columns are in a domain of the log, files stay as they are until OPTIMIZE. */
#include "delta/protocol_upgrade.h"
#include "ops/alter_run.h"

static str joined(const str *names, size_t n, arena *a) {
    str text = n ? names[0] : STR("");
    for (size_t i = 1; i < n && text.ptr; i++) text = arena_printf(a, "%.*s,%.*s", STR_ARG(text), STR_ARG(names[i]));
    return text;
}

static silt_status need_feature(alter_run *run) {
    const char *feature = "clustering";
    delta_protocol with;
    TRY(delta_protocol_add_features(&run->target.protocol, &feature, 1, run->o->a, &with, run->o->err));
    run->target.protocol_changed = run->target.metadata_changed = !ops_protocol_equal(&with, &run->target.protocol); /* Spark writes both or none */
    run->target.protocol = with;
    return SILT_OK;
}

silt_status alter_clustering(alter_run *run) {
    const op *o = run->o;
    const alter_spec *spec = run->spec;
    const delta_metadata *m = &run->target.metadata;
    const str *old, *names;
    size_t n_old;
    if (m->n_partition_columns) return err_DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED(o->err);
    run->nothing = spec->n_cluster_columns == 0 && !delta_protocol_has(&run->target.protocol, "clustering");
    if (run->nothing) return SILT_OK;
    TRY(ops_clustering_columns(run->snapshot, o->a, &old, &n_old, o->err));
    run->domain = STR(CLUSTERING_DOMAIN);
    run->domain_configuration = STR(CLUSTERING_NONE);
    if (spec->n_cluster_columns)
        TRY(ops_clustering_plan(o, m->schema, &m->configuration, spec->cluster_columns, spec->n_cluster_columns, &run->domain_configuration, &names));
    TRY(need_feature(run));
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_str(&j, "oldClusteringColumns", joined(old, n_old, o->a));
    ops_json_object_str(&j, "newClusteringColumns", joined(spec->cluster_columns, spec->n_cluster_columns, o->a));
    run->parameters = ops_json_object_end(&j, o->a);
    run->operation = "CLUSTER BY";
    return str_is_null(run->parameters) ? error_no_memory(o->err) : SILT_OK;
}
