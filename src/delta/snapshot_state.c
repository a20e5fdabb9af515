/* Everything of a table's state that is not files: protocol, metadata, transaction ids, domains. PROTOCOL.md "Action
 * Reconciliation": the newest of each counts. */
#include "delta/action_json.h"
#include "delta/features.h"
#include "delta/metadata_copy.h"
#include "delta/snapshot.h"

#include <stdlib.h>

/* ---- protocol and metadata ---- */

/* A bad action is told with its file and line. */
static silt_status located(const delta_env *env, const raw_action *action, silt_status status, const silt_error *why,
                           silt_error *err) {
    if (status == SILT_CORRUPT)
        return log_parse_bad_line(env->store, action->path, action->line_offset, why->detail[0] ? why->detail : why->message,
                                  err);
    if (status != SILT_OK && err) *err = *why;
    return status;
}

static const raw_action *newest(const raw_actions *actions, action_kind kind) {
    for (size_t i = actions->count; i-- > 0;)
        if (actions->items[i].kind == kind) return &actions->items[i];
    return NULL;
}

silt_status state_find_protocol(const delta_env *env, const raw_actions *actions, arena *a, const delta_protocol **out,
                                silt_error *err) {
    const raw_action *action = newest(actions, ACTION_PROTOCOL);
    *out = NULL;
    if (!action) return SILT_OK;
    delta_protocol *p = ARENA_NEW(a, delta_protocol);
    silt_error why = {0};
    if (!p) return error_no_memory(err);
    *out = p;
    return located(env, action, action_parse_protocol(action->text, a, p, &why), &why, err);
}

silt_status state_find_metadata(const delta_env *env, const raw_actions *actions, arena *a, const delta_metadata **out,
                                silt_error *err) {
    const raw_action *action = newest(actions, ACTION_METADATA);
    *out = NULL;
    if (!action) return SILT_OK;
    delta_metadata *m = ARENA_NEW(a, delta_metadata);
    silt_error why = {0};
    if (!m) return error_no_memory(err);
    *out = m;
    return located(env, action, action_parse_metadata(action->text, a, m, &why), &why, err);
}

bool state_has_ict(const delta_protocol *p, const delta_metadata *m) {
    return delta_protocol_has(p, "inCommitTimestamp") &&
           str_eq_ascii_fold(str_map_get(&m->configuration, STR("delta.enableInCommitTimestamps")), STR("true"));
}

/* Settings that change what the files mean need their feature in the protocol; otherwise two readers would disagree. */
static silt_status check_metadata(const delta_protocol *p, const delta_metadata *m, silt_error *err) {
    str mode = str_map_get(&m->configuration, STR("delta.columnMapping.mode"));
    bool mapped = mode.len && !str_eq_ascii_fold(mode, STR("none"));
    if (mapped && !str_eq_ascii_fold(mode, STR("name")) && !str_eq_ascii_fold(mode, STR("id")))
        return err_DELTA_INVALID_PROPERTY_VALUE(err, STR("delta.columnMapping.mode"), mode, "none, name or id");
    if (mapped && !delta_protocol_has(p, "columnMapping"))
        return err_DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH(err, STR("columnMapping"));
    if (!str_eq_ascii_fold(m->format_provider, STR("parquet")))
        return err_UNSUPPORTED_FEATURE(err, "Delta tables whose data files are not Parquet");
    for (size_t i = 0; i < m->n_partition_columns; i++)
        if (schema_find(m->schema, m->partition_columns[i]) < 0)
            return err_DELTA_PARTITION_COLUMN_NOT_FOUND(err, m->partition_columns[i]);
    return SILT_OK;
}

silt_status table_state_new(const delta_protocol *p, const delta_metadata *m, table_state **out, silt_error *err) {
    table_state *s = calloc(1, sizeof *s);
    arena *a = arena_new();
    const delta_protocol *protocol = a ? delta_protocol_copy(p, a) : NULL;
    delta_metadata *metadata = NULL;
    silt_status status = s && protocol ? delta_metadata_copy(m, a, &metadata, err) : error_no_memory(err);
    if (status == SILT_OK) status = check_metadata(protocol, metadata, err);
    if (status != SILT_OK) {
        arena_free(a);
        free(s);
        return status;
    }
    *s = (table_state){.refs = 1, .arena = a, .protocol = *protocol, .metadata = *metadata};
    *out = s;
    return SILT_OK;
}

void table_state_release(table_state *s) {
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) != 0) return;
    arena_free(s->arena);
    free(s);
}

/* ---- transaction ids and domains ---- */

typedef struct name_set {
    str *names;
    size_t mask;
} name_set;

static bool name_set_init(name_set *s, size_t n) {
    size_t capacity = 8;
    while (capacity < n * 2) capacity *= 2;
    s->mask = capacity - 1;
    s->names = calloc(capacity, sizeof *s->names);
    return s->names != NULL;
}

/* true the first time. */
static bool name_set_add(name_set *s, str name) {
    size_t i = (size_t)str_hash(name) & s->mask;
    for (; s->names[i].ptr; i = (i + 1) & s->mask)
        if (str_eq(s->names[i], name)) return false;
    s->names[i] = name.len ? name : STR("");
    return true;
}

static silt_status copy_txns(app_state *s, const delta_txn_id *txns, size_t n, silt_error *err) {
    name_set seen;
    s->txns = ARENA_ARRAY(s->arena, n, delta_txn_id);
    if (!s->txns || !name_set_init(&seen, n)) return error_no_memory(err);
    silt_status status = SILT_OK;
    for (size_t i = n; i-- > 0 && status == SILT_OK;) {
        if (!name_set_add(&seen, txns[i].app_id)) continue;
        delta_txn_id *t = &s->txns[s->n_txns++];
        *t = txns[i];
        if (!(t->app_id = arena_str(s->arena, t->app_id)).ptr) status = error_no_memory(err);
    }
    for (size_t i = 0, k = s->n_txns; i + 1 < k; i++) { /* oldest first again */
        delta_txn_id swap = s->txns[i];
        s->txns[i] = s->txns[--k];
        s->txns[k] = swap;
    }
    free(seen.names);
    return status;
}

static silt_status copy_domains(app_state *s, const delta_domain *domains, size_t n, silt_error *err) {
    name_set seen;
    s->domains = ARENA_ARRAY(s->arena, n, delta_domain);
    if (!s->domains || !name_set_init(&seen, n)) return error_no_memory(err);
    silt_status status = SILT_OK;
    for (size_t i = n; i-- > 0 && status == SILT_OK;) {
        if (!name_set_add(&seen, domains[i].domain) || domains[i].removed) continue;
        delta_domain *d = &s->domains[s->n_domains++];
        *d = domains[i];
        d->domain = arena_str(s->arena, d->domain);
        d->configuration = arena_str(s->arena, d->configuration);
        if (!d->domain.ptr || !d->configuration.ptr) status = error_no_memory(err);
    }
    for (size_t i = 0, k = s->n_domains; i + 1 < k; i++) {
        delta_domain swap = s->domains[i];
        s->domains[i] = s->domains[--k];
        s->domains[k] = swap;
    }
    free(seen.names);
    return status;
}

/* Older and newer ones in one list each, in `a`. */
static silt_status gather(const delta_env *env, const raw_actions *newer, arena *a, delta_txn_id **txns, size_t *n_txns,
                          delta_domain **domains, size_t *n_domains, silt_error *err) {
    for (size_t i = 0; i < newer->count; i++) {
        const raw_action *action = &newer->items[i];
        silt_error why = {0};
        if (action->kind == ACTION_TXN)
            TRY(located(env, action, action_parse_txn(action->text, a, &(*txns)[(*n_txns)++], &why), &why, err));
        if (action->kind == ACTION_DOMAIN)
            TRY(located(env, action, action_parse_domain(action->text, a, &(*domains)[(*n_domains)++], &why), &why, err));
    }
    return SILT_OK;
}

static silt_status build_apps(app_state *s, arena *scratch, const delta_env *env, const delta_txn_id *txns, size_t n_txns,
                              const delta_domain *domains, size_t n_domains, const raw_actions *newer, silt_error *err) {
    delta_txn_id *all_txns = ARENA_ARRAY(scratch, n_txns + newer->count, delta_txn_id);
    delta_domain *all_domains = ARENA_ARRAY(scratch, n_domains + newer->count, delta_domain);
    if (!all_txns || !all_domains) return error_no_memory(err);
    if (n_txns) memcpy(all_txns, txns, n_txns * sizeof *txns);
    if (n_domains) memcpy(all_domains, domains, n_domains * sizeof *domains);
    TRY(gather(env, newer, scratch, &all_txns, &n_txns, &all_domains, &n_domains, err));
    TRY(copy_txns(s, all_txns, n_txns, err));
    return copy_domains(s, all_domains, n_domains, err);
}

silt_status app_state_new(const delta_env *env, const delta_txn_id *txns, size_t n_txns, const delta_domain *domains,
                          size_t n_domains, const raw_actions *newer, app_state **out, silt_error *err) {
    app_state *s = calloc(1, sizeof *s);
    arena *scratch = arena_new();
    silt_status status = SILT_OK;
    if (s) *s = (app_state){.refs = 1, .arena = arena_new()};
    if (!s || !s->arena || !scratch)
        status = error_no_memory(err);
    else
        status = build_apps(s, scratch, env, txns, n_txns, domains, n_domains, newer, err);
    arena_free(scratch);
    if (status == SILT_OK)
        *out = s;
    else
        app_state_release(s);
    return status;
}

void app_state_release(app_state *s) {
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) != 0) return;
    arena_free(s->arena);
    free(s);
}
