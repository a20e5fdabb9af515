/* Transactions over `t` by way of the inner interfaces. */
#include "isolation/rewrite.h"

#include "api/api.h"
#include "base/ident.h"
#include "base/uri.h"
#include "delta/metadata_copy.h"
#include "delta/transaction.h"

typedef struct rewrite {
    const delta_snapshot *snapshot;
    delta_txn *txn;
    str partition; /* value of p */
    str *copies;   /* paths in the store */
    size_t n_copies, copies_capacity;
    arena *a;
} rewrite;

/* A copy under another name stands for the compacted file: what matters to the others is that the files change and the rows do not. */
static silt_status copy_file(rewrite *r, const delta_add *add, silt_error *err) {
    store *s = delta_snapshot_env(r->snapshot)->store;
    str root = delta_snapshot_root(r->snapshot), path = uri_decode(add->path, r->a);
    char id[37];
    buf bytes;
    uuid_generate(id);
    size_t slash = str_rfind_char(path, '/');
    str folder = slash == SIZE_MAX ? STR("") : str_slice(path, 0, slash + 1), to = arena_printf(r->a, "%.*spart-00000-%s.snappy.parquet", STR_ARG(folder), id);
    buf_init(&bytes, 1 << 24);
    str target = arena_printf(r->a, "%.*s/%.*s", STR_ARG(root), STR_ARG(to));
    silt_status status = store_read(s, arena_printf(r->a, "%.*s/%.*s", STR_ARG(root), STR_ARG(path)), 0, -1, &bytes, err);
    if (status == SILT_OK) status = store_put(s, target, buf_str(&bytes), STORE_PUT_IF_ABSENT, err);
    buf_dispose(&bytes);
    if (status != SILT_OK) return status;
    if (!ARENA_PUSH(r->a, r->copies, r->n_copies, r->copies_capacity, target)) return error_no_memory(err);
    delta_add copy = *add;
    copy.path = uri_encode_path(to, r->a);
    copy.data_change = false;
    TRY(delta_txn_read_file(r->txn, add->path, err));
    TRY(delta_txn_remove_file(r->txn, add, false, err));
    return delta_txn_add(r->txn, &copy, err);
}

static silt_status rewrite_if_meant(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    rewrite *r = ctx;
    (void)i;
    bool is_meant = add->partition_values.count == 1 && str_eq(add->partition_values.values[0], r->partition);
    return is_meant ? copy_file(r, add, err) : SILT_OK;
}

static predicate *equals(str text, arena *a) {
    predicate *p = ARENA_NEW(a, predicate);
    uint32_t *index = ARENA_NEW(a, uint32_t);
    value *literal = ARENA_NEW(a, value);
    int64_t wanted = 0;
    (void)str_to_i64(text, &wanted);
    *index = 1;
    *literal = (value){.type = &type_int, .as.i64 = wanted};
    *p = (predicate){.kind = PRED_EQ, .column = {index, 1}, .column_type = &type_int, .literals = literal, .n_literals = 1};
    return p;
}

static silt_status commit(delta_txn *t, const char *operation, silt_error *err) {
    const delta_commit_info info = {.operation = operation, .operation_parameters = STR("{}"), .operation_metrics = STR("{}")};
    int64_t version;
    return delta_txn_commit(t, &info, &version, err);
}

bool rewrite_is_meant(const char *sql) { return strncmp(sql, "!rewrite p=", 11) == 0; }

silt_status rewrite_run(silt_session *by, const char *sql, silt_error *err) {
    delta_snapshot *s;
    arena *a = arena_new();
    rewrite r = {.partition = str_of(sql + 11), .a = a};
    TRY(session_open_table(by->inner, STR("t"), -1, STR_NULL, &s, err));
    r.snapshot = s;
    silt_status status = delta_txn_begin(delta_snapshot_env(s), s, delta_snapshot_root(s), &r.txn, err);
    if (status == SILT_OK) status = delta_txn_read_predicate(r.txn, equals(r.partition, a), err);
    if (status == SILT_OK) status = delta_snapshot_each_file(s, true, rewrite_if_meant, &r, err);
    if (status == SILT_OK) status = commit(r.txn, "OPTIMIZE", err);
    for (size_t i = 0; status != SILT_OK && i < r.n_copies; i++) (void)!store_remove(delta_snapshot_env(s)->store, r.copies[i], NULL);
    delta_txn_free(r.txn);
    delta_snapshot_release(s);
    arena_free(a);
    return status;
}

silt_status rewrite_set_level(silt_session *by, const char *level, silt_error *err) {
    delta_snapshot *s;
    delta_txn *t = NULL;
    arena *a = arena_new();
    TRY(session_open_table(by->inner, STR("t"), -1, STR_NULL, &s, err));
    delta_metadata m = *delta_snapshot_metadata(s);
    silt_status status = str_map_with(&m.configuration, STR("delta.isolationLevel"), str_of(level), a, &m.configuration) ? SILT_OK : error_no_memory(err);
    if (status == SILT_OK) status = delta_txn_begin(delta_snapshot_env(s), s, delta_snapshot_root(s), &t, err);
    if (status == SILT_OK) status = delta_txn_set_metadata(t, &m, err);
    if (status == SILT_OK) status = commit(t, "SET TBLPROPERTIES", err);
    delta_txn_free(t);
    delta_snapshot_release(s);
    arena_free(a);
    return status;
}
