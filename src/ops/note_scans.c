/*
 * What a query reads of the very table that its statement writes, for the conflict rules: the filters that the binder pushed to each reference, and the files that they leave. A
 * reference that asks for another version is no dependence on the present one.
 */
#include "ops/internal.h"

typedef struct scan_notes {
    const op *o;
    const delta_snapshot *snapshot;
    delta_txn *txn;
    silt_status status;
} scan_notes;

static silt_status note_files(const scan_notes *n, const table_source *source, const predicate *where) {
    const op *o = n->o;
    uint8_t *candidates, *whole;
    size_t count = delta_snapshot_n_files(n->snapshot);
    TRY(delta_files_matching(source, where, o->a, &candidates, &whole, o->err));
    TRY(delta_txn_read_predicate(n->txn, where, o->err));
    for (size_t i = 0; i < count; i++) {
        delta_add add;
        if (!candidates[i]) continue;
        TRY(delta_snapshot_file(n->snapshot, i, false, o->a, &add, o->err));
        TRY(delta_txn_read_file(n->txn, add.path, o->err));
    }
    return SILT_OK;
}

static bool note_reference(void *ctx, relation *r) {
    scan_notes *n = ctx;
    const table_source *s = r->kind == REL_TABLE ? r->source : NULL;
    if (!delta_source_is_of(s, n->snapshot)) return true;
    if (r->travel.version || r->travel.timestamp) return true;
    if (!delta_source_has_files_of(s, n->snapshot) || !r->where || r->where->kind == PRED_UNKNOWN || r->where->kind == PRED_TRUE) delta_txn_read_whole_table(n->txn);
    else n->status = note_files(n, s, r->where);
    return n->status == SILT_OK;
}

silt_status ops_note_scans(const op *o, query *q, const delta_snapshot *snapshot, delta_txn *txn) {
    scan_notes n = {o, snapshot, txn, SILT_OK};
    query_walk_relations(q, note_reference, &n);
    return n.status;
}
