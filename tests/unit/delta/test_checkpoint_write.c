/* Checkpoints: their columns against the schemas that Spark wrote, their rows, the hint, V2, and files that appear whole. A stand-in Parquet service keeps the batches. */
#include "write_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/time.h"
#include "delta/arrow_read.h"
#include "delta/checkpoint_rows.h"

#define MAX_BATCHES 8

/* What the last write() was given. */
typedef struct kept_file {
    const char *type;
    struct ArrowSchema schema;
    struct ArrowArray batches[MAX_BATCHES];
    size_t n_batches;
    int64_t rows;
} kept_file;

typedef struct fixture {
    store *store;
    parquet_service parquet;
    delta_env env;
    arena *arena;
    silt_error err;
    kept_file file;
    bool fails;
    const char *folder; /* of the local disk */
} fixture;

static void forget(kept_file *k) {
    for (size_t i = 0; i < k->n_batches; i++) k->batches[i].release(&k->batches[i]);
    if (k->schema.release) k->schema.release(&k->schema);
    memset(k, 0, sizeof *k);
}

static silt_status keep(parquet_service *s, str local_path, const data_type *columns, struct ArrowArrayStream *rows, silt_error *err) {
    fixture *f = s->ctx;
    forget(&f->file);
    f->file.type = arena_cstr(f->arena, type_simple(columns, f->arena));
    char path[4096];
    snprintf(path, sizeof path, "%.*s", STR_ARG(local_path));
    FILE *out = fopen(path, "wb");
    if (!out) return err_IO_ERROR(err, "fopen", local_path);
    fputs("PAR1", out);
    fclose(out);
    if (f->fails) return err_NO_SPACE_LEFT(err, local_path);
    if (rows->get_schema(rows, &f->file.schema) != 0) return err_IO_ERROR(err, "get_schema", local_path);
    for (;;) {
        struct ArrowArray batch;
        if (rows->get_next(rows, &batch) != 0) return err_IO_ERROR(err, "get_next", local_path);
        if (!batch.release) break;
        f->file.rows += batch.length;
        if (f->file.n_batches < MAX_BATCHES) f->file.batches[f->file.n_batches++] = batch;
        else batch.release(&batch);
    }
    rows->release(rows);
    return SILT_OK;
}

static fixture *open_fixture(const table_spec *spec) {
    fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    assert_int_equal(store_memory_open(1700000000000, &f->store, NULL), SILT_OK);
    f->parquet = (parquet_service){.ctx = f, .write = keep};
    f->env = (delta_env){.store = f->store, .parquet = &f->parquet, .n_threads = 1};
    assert_created(&f->env, spec);
    return f;
}

static void close_fixture(fixture *f) {
    forget(&f->file);
    arena_free(f->arena);
    store_close(f->store);
    free(f);
}

static void checkpoint(fixture *f, int64_t version) {
    delta_snapshot *s;
    assert_ok(delta_snapshot_load(&f->env, ROOT, version, &s, &f->err), &f->err);
    assert_ok(delta_checkpoint_write(s, &f->err), &f->err);
    delta_snapshot_release(s);
}

static arrow_column column(const fixture *f, size_t batch, const char *dotted) {
    arrow_column c = arrow_column_root(&f->file.schema, &f->file.batches[batch]);
    str rest = str_of(dotted), piece;
    while (str_next(&rest, '.', &piece)) c = arrow_column_field(&c, arena_cstr(f->arena, piece));
    return c;
}

/* Row of the first batch whose add (or remove) has this path. */
static int64_t row_of(const fixture *f, const char *action, const char *path) {
    char name[64];
    snprintf(name, sizeof name, "%s.path", action);
    arrow_column c = column(f, 0, name);
    for (int64_t i = 0; i < f->file.batches[0].length; i++)
        if (str_eqz(arrow_str(&c, i), path)) return i;
    return -1;
}

static int64_t count_of(const fixture *f, const char *dotted) {
    int64_t n = 0;
    for (size_t b = 0; b < f->file.n_batches; b++) {
        arrow_column c = column(f, b, dotted);
        for (int64_t i = 0; i < f->file.batches[b].length; i++) n += !arrow_is_null(&c, i);
    }
    return n;
}

static const json_node *hint_of(fixture *f) {
    const json_node *root;
    const char *text = write_log_text(f->store, "_last_checkpoint", f->arena);
    assert_non_null(text);
    assert_int_equal(json_parse(str_of(text), f->arena, &root, NULL), SILT_OK);
    return root;
}

/* ---- columns ---- */

#define MAP   "map<string,string>"
#define TXN   "txn:struct<appId:string,version:bigint,lastUpdated:bigint>"
#define DV    "deletionVector:struct<storageType:string,pathOrInlineDv:string,offset:int,sizeInBytes:int,cardinality:bigint,maxRowIndex:bigint>"
#define ADD   "path:string,partitionValues:" MAP ",size:bigint,modificationTime:bigint,dataChange:boolean,tags:" MAP "," DV \
              ",baseRowId:bigint,defaultRowCommitVersion:bigint,clusteringProvider:string"
#define REMOVE "remove:struct<path:string,deletionTimestamp:bigint,dataChange:boolean,extendedFileMetadata:boolean,partitionValues:" MAP \
               ",size:bigint," DV ",baseRowId:bigint,defaultRowCommitVersion:bigint>"
#define STATE "metaData:struct<id:string,name:string,description:string,format:struct<provider:string,options:" MAP \
              ">,schemaString:string,partitionColumns:array<string>,configuration:" MAP ",createdTime:bigint>," \
              "protocol:struct<minReaderVersion:int,minWriterVersion:int,readerFeatures:array<string>,writerFeatures:array<string>>," \
              "domainMetadata:struct<domain:string,configuration:string,removed:boolean>"

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define SCHEMA(fields)    "{\"type\":\"struct\",\"fields\":[" fields "]}"
static const char many_types[] = SCHEMA(FIELD("id", "\"long\"") "," FIELD("p", "\"date\"") "," FIELD("t", "\"timestamp\"") "," FIELD("d", "\"decimal(10,2)\"") ","
                                        FIELD("b", "\"binary\"") "," FIELD("a", "{\"type\":\"array\",\"elementType\":\"integer\",\"containsNull\":true}") ","
                                        FIELD("s", SCHEMA(FIELD("x", "\"integer\"") "," FIELD("y", "\"boolean\""))));

static void columns_of_a_partitioned_table(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.partition_by = "p"});
    assert_appended(&f->env, "x@1");
    checkpoint(f, 1);
    assert_string_equal(f->file.type, "struct<" TXN ",add:struct<" ADD ",stats:string,partitionValues_parsed:struct<p:int>,stats_parsed:struct<numRecords:bigint,"
                                      "minValues:struct<a:bigint>,maxValues:struct<a:bigint>,nullCount:struct<a:bigint>>>," REMOVE "," STATE ">");
    close_fixture(f);
}

static void columns_without_json_statistics(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.schema = many_types, .partition_by = "p", .properties = "delta.checkpoint.writeStatsAsJson=false"});
    checkpoint(f, 0);
    assert_string_equal(f->file.type, "struct<" TXN ",add:struct<" ADD ",partitionValues_parsed:struct<p:date>,stats_parsed:struct<numRecords:bigint,"
                                      "minValues:struct<id:bigint,t:timestamp,d:decimal(10,2),s:struct<x:int>>,maxValues:struct<id:bigint,t:timestamp,d:decimal(10,2),"
                                      "s:struct<x:int>>,nullCount:struct<id:bigint,t:bigint,d:bigint,b:bigint,a:bigint,s:struct<x:bigint,y:bigint>>>>," REMOVE "," STATE ">");
    close_fixture(f);
}

static void columns_without_parsed_statistics(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.partition_by = "p", .properties = "delta.checkpoint.writeStatsAsStruct=false"});
    checkpoint(f, 0);
    assert_string_equal(f->file.type, "struct<" TXN ",add:struct<" ADD ",stats:string>," REMOVE "," STATE ">");
    close_fixture(f);
}

static void columns_with_deletion_vectors(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.properties = "delta.enableDeletionVectors=true|delta.dataSkippingNumIndexedCols=1"});
    checkpoint(f, 0);
    assert_string_equal(f->file.type, "struct<" TXN ",add:struct<" ADD ",stats:string,stats_parsed:struct<numRecords:bigint,minValues:struct<a:bigint>,"
                                      "maxValues:struct<a:bigint>,nullCount:struct<a:bigint>,tightBounds:boolean>>," REMOVE "," STATE ">");
    close_fixture(f);
}

static void named_statistics_columns(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.schema = many_types, .properties = "delta.dataSkippingStatsColumns= `t` , s.X"});
    checkpoint(f, 0);
    assert_non_null(strstr(f->file.type, "minValues:struct<t:timestamp,s:struct<x:int>>,maxValues:struct<t:timestamp,s:struct<x:int>>,nullCount:struct<t:bigint,s:struct<x:bigint>>>"));
    close_fixture(f);
    f = open_fixture(&(table_spec){.schema = many_types, .properties = "delta.dataSkippingNumIndexedCols=0"});
    checkpoint(f, 0);
    assert_non_null(strstr(f->file.type, "stats_parsed:struct<numRecords:bigint>>"));
    close_fixture(f);
}

/* ---- rows ---- */

static void rows_of_every_action(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.partition_by = "p", .properties = "delta.feature.domainMetadata=supported|delta.enableDeletionVectors=true"});
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_appended(&f->env, "old@1");
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(delta_txn_set_txn_id(t, STR("app"), 3, &f->err), &f->err);
    assert_ok(delta_txn_set_domain(t, STR("mine"), STR("{\"k\":1}"), false, &f->err), &f->err);
    delta_add old = write_file("old", "1", 10, f->arena), add = write_file("new", "", 7, f->arena);
    add.dv = (delta_dv){'u', STR("ab^-aqEH.-t@S}K{vb[*k^"), 4, 40, 2};
    add.tags = STR("{\"k\":\"v\",\"n\":null}");
    assert_ok(delta_txn_remove_file(t, &old, true, &f->err), &f->err);
    assert_ok(delta_txn_add(t, &add, &f->err), &f->err);
    assert_ok(write_commit(t, "WRITE", &version, &f->err), &f->err);
    delta_txn_free(t);
    delta_snapshot_release(s);
    checkpoint(f, 2);

    assert_int_equal(f->file.rows, 6);
    assert_int_equal(count_of(f, "protocol"), 1);
    assert_int_equal(count_of(f, "metaData"), 1);
    assert_int_equal(count_of(f, "txn"), 1);
    assert_int_equal(count_of(f, "domainMetadata"), 1);
    assert_int_equal(count_of(f, "add"), 1);
    assert_int_equal(count_of(f, "remove"), 1);

    int64_t row = row_of(f, "add", "new"), from, to;
    assert_true(row >= 0);
    arrow_column c = column(f, 0, "add.dataChange");
    assert_false(arrow_bool(&c, row, true));
    c = column(f, 0, "add.stats");
    assert_true(str_starts_with(arrow_str(&c, row), STR("{\"numRecords\":7,")));
    c = column(f, 0, "add.stats_parsed.numRecords");
    assert_int_equal(arrow_i64(&c, row, -1), 7);
    c = column(f, 0, "add.stats_parsed.maxValues.a");
    assert_int_equal(arrow_i64(&c, row, -1), 7);
    c = column(f, 0, "add.stats_parsed.nullCount.a");
    assert_int_equal(arrow_i64(&c, row, -1), 0);
    c = column(f, 0, "add.partitionValues_parsed.p");
    assert_true(arrow_is_null(&c, row));
    c = column(f, 0, "add.deletionVector.cardinality");
    assert_int_equal(arrow_i64(&c, row, -1), 2);
    c = column(f, 0, "add.partitionValues");
    assert_true(arrow_list(&c, row, &from, &to));
    assert_int_equal(to - from, 1);
    arrow_column values = arrow_column_item(&c, 1);
    assert_true(arrow_is_null(&values, from));
    c = column(f, 0, "add.tags");
    assert_true(arrow_list(&c, row, &from, &to));
    assert_int_equal(to - from, 2);
    c = column(f, 0, "add.baseRowId");
    assert_true(arrow_is_null(&c, row));

    row = row_of(f, "remove", "old");
    assert_true(row >= 0);
    c = column(f, 0, "remove.size");
    assert_int_equal(arrow_i64(&c, row, -1), 100);
    c = column(f, 0, "add");
    assert_true(arrow_is_null(&c, row));

    const json_node *hint = hint_of(f);
    assert_int_equal(json_get_i64(hint, "version", -1), 2);
    assert_int_equal(json_get_i64(hint, "size", -1), 6);
    assert_int_equal(json_get_i64(hint, "numOfAddFiles", -1), 1);
    assert_int_equal(json_get_i64(hint, "sizeInBytes", -1), 4);
    assert_int_equal(json_get_str(hint, "checksum", STR("")).len, 32);
    assert_non_null(json_get(hint, "checkpointSchema"));
    assert_non_null(write_log_text(f->store, "00000000000000000002.checkpoint.parquet", f->arena));
    close_fixture(f);
}

/* Tombstones and application transactions go when their time is over. */
static void expired_actions_are_left_out(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.properties = "delta.deletedFileRetentionDuration=interval 1 day|delta.setTransactionRetentionDuration=interval 2 days"});
    delta_snapshot *s;
    int64_t now = time_now_ms(), day = 86400000;
    str entry = arena_printf(f->arena, "{\"commitInfo\":{\"operation\":\"X\"}}\n{\"remove\":{\"path\":\"young\",\"deletionTimestamp\":%lld,\"dataChange\":true}}\n"
                             "{\"remove\":{\"path\":\"expired\",\"deletionTimestamp\":%lld,\"dataChange\":true}}\n{\"remove\":{\"path\":\"undated\",\"dataChange\":true}}\n"
                             "{\"txn\":{\"appId\":\"young\",\"version\":1,\"lastUpdated\":%lld}}\n{\"txn\":{\"appId\":\"expired\",\"version\":1,\"lastUpdated\":%lld}}\n"
                             "{\"txn\":{\"appId\":\"undated\",\"version\":1}}\n",
                             (long long)(now - day / 2), (long long)(now - 2 * day), (long long)(now - day), (long long)(now - 3 * day));
    assert_ok(store_put(f->store, STR("/t/_delta_log/00000000000000000001.json"), entry, STORE_PUT_IF_ABSENT, &f->err), &f->err);
    assert_ok(delta_snapshot_load(&f->env, ROOT, 1, &s, &f->err), &f->err);
    assert_ok(delta_checkpoint_write(s, &f->err), &f->err);
    assert_int_equal(count_of(f, "remove"), 1);
    assert_true(row_of(f, "remove", "young") >= 0);
    assert_int_equal(count_of(f, "txn"), 2); /* young and undated */
    delta_snapshot_release(s);
    close_fixture(f);
}

/* More files than one batch holds: all of them once, in bounded pieces. */
static void many_files(void **state) {
    (void)state;
    enum { N = 9000 };
    fixture *f = open_fixture(&(table_spec){0});
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    for (int i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof path, "f%d", i);
        delta_add add = write_file(path, NULL, 10, f->arena);
        assert_ok(delta_txn_add(t, &add, &f->err), &f->err);
    }
    assert_ok(write_commit(t, "WRITE", &version, &f->err), &f->err);
    delta_txn_free(t);
    delta_snapshot_release(s);
    checkpoint(f, 1);
    assert_int_equal(f->file.rows, N + 2);
    assert_int_equal(count_of(f, "add"), N);
    assert_int_equal(f->file.n_batches, 2);
    close_fixture(f);
}

static void a_failed_write_leaves_nothing(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){0});
    delta_snapshot *s;
    f->fails = true;
    assert_ok(delta_snapshot_load(&f->env, ROOT, 0, &s, &f->err), &f->err);
    assert_int_equal(delta_checkpoint_write(s, &f->err), SILT_NO_SPACE);
    assert_null(write_log_text(f->store, "00000000000000000000.checkpoint.parquet", f->arena));
    assert_null(write_log_text(f->store, "_last_checkpoint", f->arena));
    delta_snapshot_release(s);
    close_fixture(f);
}

static void at_the_interval_after_commits(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.properties = "delta.checkpointInterval=2"});
    assert_appended(&f->env, "a");
    assert_null(write_log_text(f->store, "_last_checkpoint", f->arena));
    assert_appended(&f->env, "b");
    assert_int_equal(json_get_i64(hint_of(f), "version", -1), 2);
    assert_int_equal(count_of(f, "add"), 2);
    close_fixture(f);
}

/* ---- V2 ---- */

static void v2_by_policy(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.properties = "delta.checkpointPolicy=v2"});
    assert_appended(&f->env, "x|y");
    checkpoint(f, 1);
    assert_string_equal(f->file.type, "struct<add:struct<" ADD ",stats:string,stats_parsed:struct<numRecords:bigint,minValues:struct<a:bigint,p:int>,"
                                      "maxValues:struct<a:bigint,p:int>,nullCount:struct<a:bigint,p:bigint>>>," REMOVE ">");
    assert_int_equal(f->file.rows, 2);
    const json_node *hint = hint_of(f), *v2 = json_get(hint, "v2Checkpoint");
    assert_null(json_get(hint, "checkpointSchema"));
    assert_int_equal(json_get_i64(hint, "size", -1), 2 + 3 + 1); /* adds; checkpointMetadata, protocol, metaData; the sidecar */
    str name = json_get_str(v2, "path", STR(""));
    assert_true(str_starts_with(name, STR("00000000000000000001.checkpoint.")) && str_ends_with(name, STR(".json")));
    assert_int_equal(json_get(v2, "nonFileActions")->count, 3);
    const char *top = write_log_text(f->store, arena_cstr(f->arena, name), f->arena);
    assert_non_null(top);
    assert_int_equal(json_get_i64(v2, "sizeInBytes", -1), strlen(top));
    assert_non_null(strstr(top, "{\"checkpointMetadata\":{\"version\":1,\"tags\":{\"sidecarNumActions\":\"2\",\"sidecarSizeInBytes\":\"4\",\"numOfAddFiles\":\"2\""));
    const json_node *sidecar = &json_get(v2, "sidecarFiles")->values[0];
    str file = json_get_str(sidecar, "path", STR(""));
    assert_true(str_starts_with(file, STR("00000000000000000001.checkpoint.0000000001.0000000001.")));
    assert_non_null(write_log_text(f->store, arena_printf(f->arena, "_sidecars/%.*s", STR_ARG(file)).ptr, f->arena));
    assert_non_null(strstr(top, arena_printf(f->arena, "{\"sidecar\":{\"path\":\"%.*s\",\"sizeInBytes\":4,\"modificationTime\":", STR_ARG(file)).ptr));
    close_fixture(f);
}

/* Sidecars of at most so many rows; the stand-in keeps the last one. */
static void v2_in_parts(void **state) {
    (void)state;
    static const struct {
        int64_t rows, sidecars, last;
    } cases[] = {{1, 5, 1}, {2, 3, 1}, {4, 2, 1}, {5, 1, 5}, {6, 1, 5}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        fixture *f = open_fixture(&(table_spec){.properties = "delta.checkpointPolicy=v2"});
        f->env.checkpoint_part_rows = cases[i].rows;
        assert_appended(&f->env, "a|b|c|d|e");
        checkpoint(f, 1);
        assert_int_equal(f->file.rows, cases[i].last);
        const json_node *hint = hint_of(f), *list = json_get(json_get(hint, "v2Checkpoint"), "sidecarFiles");
        assert_int_equal(list->count, cases[i].sidecars);
        assert_int_equal(json_get_i64(hint, "size", -1), 5 + 3 + cases[i].sidecars);
        assert_int_equal(json_get_i64(hint, "numOfAddFiles", -1), 5);
        for (size_t k = 0; k < list->count; k++) {
            str name = json_get_str(&list->values[k], "path", STR("")), head = arena_printf(f->arena, "%020d.checkpoint.%010zu.%010zu.", 1, k + 1, list->count);
            assert_true(str_starts_with(name, head));
            assert_non_null(write_log_text(f->store, arena_printf(f->arena, "_sidecars/%.*s", STR_ARG(name)).ptr, f->arena));
        }
        close_fixture(f);
    }
}

static void v2_with_a_parquet_top(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.properties = "delta.checkpointPolicy=v2"});
    f->env.checkpoint_top_parquet = true;
    f->env.checkpoint_part_rows = 2;
    assert_appended(&f->env, "a|b|c");
    checkpoint(f, 1);
    const json_node *hint = hint_of(f), *v2 = json_get(hint, "v2Checkpoint");
    assert_true(str_ends_with(json_get_str(v2, "path", STR("")), STR(".parquet")));
    assert_non_null(json_get(hint, "checkpointSchema"));
    assert_int_equal(json_get(v2, "nonFileActions")->count, 3);
    assert_int_equal(f->file.rows, 2 + 1 + 2); /* protocol, metaData; checkpointMetadata; the sidecars */
    assert_int_equal(count_of(f, "checkpointMetadata"), 1);
    assert_int_equal(count_of(f, "add"), 0);
    assert_int_equal(count_of(f, "sidecar.path"), 2);
    arrow_column bytes = column(f, 0, "sidecar.sizeInBytes");
    assert_int_equal(arrow_i64(&bytes, 4, -1), 4);
    close_fixture(f);
}

static void a_failed_part_leaves_no_hint(void **state) {
    (void)state;
    fixture *f = open_fixture(&(table_spec){.properties = "delta.checkpointPolicy=v2"});
    delta_snapshot *s;
    f->env.checkpoint_part_rows = 1;
    assert_appended(&f->env, "a|b|c");
    f->fails = true;
    assert_ok(delta_snapshot_load(&f->env, ROOT, 1, &s, &f->err), &f->err);
    assert_int_equal(delta_checkpoint_write(s, &f->err), SILT_NO_SPACE);
    assert_null(write_log_text(f->store, "_last_checkpoint", f->arena));
    delta_snapshot_release(s);
    close_fixture(f);
}

/* ---- whole files on the local disk ---- */

static silt_status look_while_writing(parquet_service *s, str local_path, const data_type *columns, struct ArrowArrayStream *rows, silt_error *err) {
    fixture *f = s->ctx;
    TRY(keep(s, local_path, columns, rows, err));
    /* the bytes are there, the checkpoint is not */
    store_list_result found = {0};
    str dir = arena_printf(f->arena, "%s/_delta_log", f->folder);
    TRY(store_list(f->store, dir, STR_NULL, false, f->arena, &found, err));
    for (size_t i = 0; i < found.count; i++)
        if (str_find(found.items[i].path, STR("checkpoint")) != SIZE_MAX) f->fails = true;
    return SILT_OK;
}

static void appears_whole_on_the_local_disk(void **state) {
    (void)state;
    char folder[] = "/tmp/silt-whole-XXXXXX", command[128];
    assert_non_null(mkdtemp(folder));
    fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    assert_int_equal(store_local_open(&f->store, NULL), SILT_OK);
    f->parquet = (parquet_service){.ctx = f, .write = look_while_writing};
    f->env = (delta_env){.store = f->store, .parquet = &f->parquet, .n_threads = 1};
    f->folder = folder;
    delta_protocol p;
    delta_metadata m;
    delta_txn *t;
    delta_snapshot *s;
    int64_t version;
    assert_ok(write_definition(&(table_spec){0}, f->arena, &p, &m, &f->err), &f->err);
    assert_ok(delta_txn_begin(&f->env, NULL, str_of(folder), &t, &f->err), &f->err);
    assert_ok(delta_txn_set_protocol(t, &p, &f->err), &f->err);
    assert_ok(delta_txn_set_metadata(t, &m, &f->err), &f->err);
    assert_ok(write_commit(t, "CREATE TABLE", &version, &f->err), &f->err);
    delta_txn_free(t);
    assert_ok(delta_snapshot_load(&f->env, str_of(folder), 0, &s, &f->err), &f->err);
    assert_ok(delta_checkpoint_write(s, &f->err), &f->err);
    assert_false(f->fails);
    store_entry entry;
    str path = arena_printf(f->arena, "%s/_delta_log/00000000000000000000.checkpoint.parquet", folder);
    assert_ok(store_stat(f->store, path, f->arena, &entry, &f->err), &f->err);
    assert_int_equal(entry.size_bytes, 4);
    delta_snapshot_release(s);
    close_fixture(f);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_a_partitioned_table),
        cmocka_unit_test(columns_without_json_statistics),
        cmocka_unit_test(columns_without_parsed_statistics),
        cmocka_unit_test(columns_with_deletion_vectors),
        cmocka_unit_test(named_statistics_columns),
        cmocka_unit_test(rows_of_every_action),
        cmocka_unit_test(expired_actions_are_left_out),
        cmocka_unit_test(many_files),
        cmocka_unit_test(a_failed_write_leaves_nothing),
        cmocka_unit_test(at_the_interval_after_commits),
        cmocka_unit_test(v2_by_policy),
        cmocka_unit_test(v2_in_parts),
        cmocka_unit_test(v2_with_a_parquet_top),
        cmocka_unit_test(a_failed_part_leaves_no_hint),
        cmocka_unit_test(appears_whole_on_the_local_disk),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
