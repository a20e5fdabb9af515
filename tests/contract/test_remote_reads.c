/*
 * Tables read through the read cache, whose unfetched bytes are poison: every answer must be that of the same files read directly. And how much is asked of the store for it.
 *
 * The store is the local disk behind one that counts; latency is added where the number of round trips is the matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "support/hooked_session.h"
#include "support/remote_session.h"

static char folder[64], cache[96];
static silt_session *writer; /* reads and writes the files directly */
static remote_session remote;
static silt_session *reader; /* through the cache */

static void shell(const char *format, ...) {
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) fail_msg("%s", command);
}

static void open_reader(int64_t latency_us) {
    silt_error err;
    silt_session_close(reader);
    if (remote.local) remote_session_end(&remote);
    remote = (remote_session){.cache_dir = cache, .latency_us = latency_us};
    assert_int_equal(silt_session_open(NULL, &reader, &err), SILT_OK);
    assert_int_equal(remote_session_hook(reader, &remote, &err), SILT_OK);
}

static void clear_cache(void) { shell("rm -rf '%s'", cache); }

static int begin(void **state) {
    (void)state;
    silt_error err;
    snprintf(folder, sizeof folder, "/tmp/silt-remote-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    return silt_session_open(NULL, &writer, &err) == SILT_OK ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    silt_session_close(reader);
    reader = NULL;
    if (remote.local) remote_session_end(&remote);
    silt_session_close(writer);
    shell("rm -rf '%s'", folder);
    return 0;
}

/* The statement with every T/ made the test's folder. */
static char *placed(const char *sql) {
    char *out = calloc(1, strlen(sql) + 20 * (sizeof folder + 2));
    assert_non_null(out);
    for (char *at = out; *sql; sql++) {
        if (strncmp(sql, "`T/", 3) == 0) {
            at += sprintf(at, "`%s/", folder);
            sql += 2;
        } else {
            *at++ = *sql;
        }
    }
    return out;
}

static void must(silt_session *s, const char *sql) {
    char *text = placed(sql);
    silt_error err;
    if (session_execute(s, text, &err) != SILT_OK) fail_msg("%s: [%s] %s (%s)", text, err.condition, err.message, err.detail);
    free(text);
}

static int64_t number(silt_session *s, const char *sql) {
    char *text = placed(sql);
    silt_error err;
    int64_t out = 0;
    if (session_number(s, text, &out, &err) != SILT_OK) fail_msg("%s: [%s] %s (%s)", text, err.condition, err.message, err.detail);
    free(text);
    return out;
}

/* A query whose one value sums up what it saw. */
static void same(const char *sql) {
    int64_t direct = number(writer, sql), through = number(reader, sql);
    if (direct != through) fail_msg("%s: %lld directly, %lld through the cache", sql, (long long)direct, (long long)through);
}

static remote_counts counts(void) { return remote_like_counts(remote.remote); }

/* ---- right answers ---- */

static const char *const wide =
    "SELECT id, id * 7 AS a, CASE WHEN id % 5 = 0 THEN NULL ELSE concat('value ', cast(id % 1000 AS STRING)) END AS s, id % 50 AS d, cast(id AS DOUBLE) / 3 AS f, "
    "cast(id % 100000 AS DECIMAL(12,2)) AS n, named_struct('x', id, 'y', concat('y', cast(id AS STRING)), 'z', named_struct('deep', id % 9)) AS st, "
    "array(id, id + 1, id + 2) AS arr, map(concat('k', cast(id % 3 AS STRING)), id) AS m, id % 2 = 0 AS b, concat('k', cast(id % 90 * 3 AS STRING)) AS k FROM range(130000)";

static void every_kind_of_column(void **state) {
    (void)state;
    char sql[2048];
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`T/wide` USING delta AS %s", wide);
    must(writer, sql);
    static const char *const columns[] = {"id", "a", "hash(s)", "d", "cast(f AS BIGINT)", "cast(n AS BIGINT)", "st.x", "hash(st.y)", "st.z.deep", "arr[1]", "hash(map_keys(m)[0])", "cast(b AS INT)", "hash(st)"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        clear_cache();
        open_reader(0);
        snprintf(sql, sizeof sql, "SELECT sum(%s) FROM delta.`T/wide`", columns[i]);
        same(sql);
        snprintf(sql, sizeof sql, "SELECT sum(%s) FROM delta.`T/wide` WHERE a BETWEEN 500000 AND 600000", columns[i]); /* one more column, now of a file that has some */
        same(sql);
    }
    same("SELECT sum(hash(id, a, s, d, f, n, st, arr, m, b, k)) FROM (SELECT id, a, s, d, f, n, st, arr, map_entries(m) AS m, b, k FROM delta.`T/wide`)");
}

static void filters_that_ask_bloom_filters(void **state) {
    (void)state;
    char sql[2048];
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`T/bloom` USING delta AS %s", wide);
    must(writer, sql);
    clear_cache();
    open_reader(0);
    same("SELECT count(*) FROM delta.`T/bloom` WHERE k = 'k100'"); /* within the bounds, and nowhere */
    same("SELECT sum(id) FROM delta.`T/bloom` WHERE k = 'k3'");
    same("SELECT count(a) FROM delta.`T/bloom` WHERE d = 77");
    same("SELECT count(a) FROM delta.`T/bloom` WHERE d = 7 AND s IS NULL");
    same("SELECT sum(id) FROM delta.`T/bloom` WHERE st.x = 12345 OR st.z.deep = 4 AND k IN ('k3', 'k6')");
    same("SELECT sum(id) FROM (SELECT * FROM delta.`T/bloom` ORDER BY f DESC LIMIT 10)");
    same("SELECT count(DISTINCT k) FROM delta.`T/bloom`");
}

static void changed_tables(void **state) {
    (void)state;
    must(writer, "CREATE TABLE delta.`T/changed` (id BIGINT, part INT, s STRING, st STRUCT<x: BIGINT, y: STRING>) USING delta PARTITIONED BY (part) TBLPROPERTIES "
                 "('delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true', 'delta.checkpointInterval' = '4')");
    for (int i = 0; i < 6; i++) must(writer, "INSERT INTO delta.`T/changed` SELECT id, cast(id % 3 AS INT), concat('s', cast(id AS STRING)), named_struct('x', id, 'y', concat('y', cast(id AS STRING))) FROM range(60000)");
    must(writer, "DELETE FROM delta.`T/changed` WHERE id % 17 = 3");
    must(writer, "UPDATE delta.`T/changed` SET s = 'new' WHERE id % 1000 = 7");
    must(writer, "ALTER TABLE delta.`T/changed` RENAME COLUMN s TO text");
    must(writer, "ALTER TABLE delta.`T/changed` ADD COLUMN more INT");
    must(writer, "ALTER TABLE delta.`T/changed` DROP COLUMN st.x");
    must(writer, "INSERT INTO delta.`T/changed` SELECT 5, 1, 'five', named_struct('y', 'z'), 6");
    clear_cache();
    open_reader(0);
    same("SELECT sum(hash(id, part, text, st, more)) FROM delta.`T/changed`");
    same("SELECT count(text) FROM delta.`T/changed` WHERE part = 1 AND id > 50000");
    same("SELECT sum(hash(st.y)) FROM delta.`T/changed` VERSION AS OF 9");
    same("SELECT sum(_metadata.row_id) FROM delta.`T/changed`");
    same("SELECT count(*) FROM delta.`T/changed` WHERE part = 2");
    uint64_t before = remote_requests(counts());
    open_reader(0); /* another process: data, vectors and log are there */
    same("SELECT sum(hash(id, part, text, st, more)) FROM delta.`T/changed`");
    assert_true(remote_requests(counts()) < 4 && before > 10); /* _last_checkpoint, one listing, and whether it is a table */
}

static void changes_through_the_cache(void **state) {
    (void)state;
    clear_cache();
    open_reader(0);
    must(reader, "CREATE TABLE delta.`T/made` (id BIGINT, s STRING) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.checkpointInterval' = '3')");
    for (int i = 0; i < 8; i++) {
        must(reader, "INSERT INTO delta.`T/made` SELECT id, cast(id AS STRING) FROM range(1000)");
        must(reader, "DELETE FROM delta.`T/made` WHERE id % 10 = 3");
        must(reader, "MERGE INTO delta.`T/made` t USING (SELECT 5 AS id) u ON t.id = u.id AND t.s = '5' WHEN MATCHED THEN UPDATE SET s = 'five'");
        same("SELECT sum(hash(id, s)) FROM delta.`T/made`");
    }
    must(reader, "OPTIMIZE delta.`T/made`");
    same("SELECT sum(hash(id, s)) FROM delta.`T/made`");
}

/* The same path, another table: nothing of the first may be seen. */
static void a_table_made_anew_in_place(void **state) {
    (void)state;
    clear_cache();
    open_reader(0);
    for (int i = 0; i < 3; i++) {
        char sql[256];
        shell("rm -rf '%s/anew'", folder);
        snprintf(sql, sizeof sql, "CREATE TABLE delta.`T/anew` USING delta AS SELECT id + %d AS id FROM range(1000)", i);
        must(writer, sql);
        same("SELECT sum(id) FROM delta.`T/anew`");
    }
}

/* ---- how much is asked ---- */

static int64_t column_bytes(const char *columns) {
    char sql[512];
    must(writer, "DROP TABLE IF EXISTS delta.`T/only`");
    shell("rm -rf '%s/only'", folder);
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`T/only` USING delta AS SELECT %s FROM delta.`T/many`", columns);
    must(writer, sql);
    int64_t bytes = 0;
    char command[256];
    snprintf(command, sizeof command, "cat %s/only/*.parquet | wc -c", folder);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    long long n = 0;
    assert_int_equal(fscanf(p, "%lld", &n), 1);
    pclose(p);
    bytes = n;
    return bytes;
}

enum { FILES = 12 };

/* 12 files of 11 columns, of which two are wanted. */
static void two_columns_of_many_files(void **state) {
    (void)state;
    char sql[2048];
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`T/many` USING delta PARTITIONED BY (p) AS SELECT *, (id + extra) %% %d AS p FROM (%s) CROSS JOIN (SELECT id AS extra FROM range(3))", FILES, wide);
    must(writer, sql);
    clear_cache();
    open_reader(0);
    int64_t wanted = column_bytes("id, f");
    must(reader, "SELECT count(*) FROM delta.`T/many`"); /* the log */
    remote_like_reset(remote.remote);
    same("SELECT sum(id + cast(f AS BIGINT)) FROM delta.`T/many`");
    remote_counts c = counts();
    if (c.bytes > wanted * 11 / 10) fail_msg("%lld bytes were moved for columns of %lld", (long long)c.bytes, (long long)wanted);
    assert_true(c.reads <= FILES * 4); /* a footer, and at most a request per chunk, of which there may be two row groups */
    assert_true(c.reads >= FILES);
    remote_like_reset(remote.remote);
    same("SELECT sum(id) FROM delta.`T/many` WHERE f > 10");
    assert_int_equal(counts().reads, 0);
}

static void files_are_fetched_side_by_side(void **state) {
    (void)state;
    clear_cache();
    open_reader(10000);
    same("SELECT sum(id) FROM delta.`T/many`");
    assert_true(counts().most_in_flight >= 8);
    assert_true(counts().reads >= FILES);
}

static void a_few_rows_need_few_files(void **state) {
    (void)state;
    clear_cache();
    open_reader(0);
    must(reader, "SELECT * FROM delta.`T/many` LIMIT 10");
    assert_true(counts().reads < 30);
    assert_true(counts().most_in_flight > 0);
    assert_int_equal(number(reader, "SELECT count(*) FROM (SELECT id FROM delta.`T/many` LIMIT 100000)"), 100000);
    same("SELECT sum(id) FROM (SELECT id FROM delta.`T/many` LIMIT 7 OFFSET 40000)");
    clear_cache();
    open_reader(0);
    same("SELECT sum(id) FROM (SELECT id FROM delta.`T/many` ORDER BY id DESC LIMIT 7)");
    same("SELECT count(*) FROM (SELECT explode(arr) FROM delta.`T/many` LIMIT 1000000)");
    same("SELECT count(*) FROM (SELECT id FROM delta.`T/many` WHERE s IS NULL LIMIT 300000)");
}

static void explaining_fetches_no_columns(void **state) {
    (void)state;
    clear_cache();
    open_reader(0);
    must(reader, "EXPLAIN EXTENDED SELECT s FROM delta.`T/many`");
    assert_true(counts().bytes < 2000000);
}

/* ---- the log ---- */

enum { COMMITS = 40 };

static void make_commits(void) {
    must(writer, "CREATE TABLE delta.`T/log` (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '1000')");
    for (int i = 0; i < COMMITS; i++) must(writer, "ALTER TABLE delta.`T/log` SET TBLPROPERTIES ('a' = 'b')");
}

static void a_log_is_read_side_by_side(void **state) {
    (void)state;
    make_commits();
    clear_cache();
    open_reader(10000);
    same("SELECT count(*) FROM delta.`T/log`");
    remote_counts c = counts();
    assert_true(c.reads >= COMMITS && c.reads <= COMMITS + 4);
    assert_int_equal(c.lists, 1);
    assert_int_equal(c.stats + c.others, 0);
    assert_true(c.most_in_flight >= 8);
}

static void a_poll_is_one_request(void **state) {
    (void)state;
    open_reader(0);
    must(reader, "SELECT count(*) FROM delta.`T/log`");
    remote_like_reset(remote.remote);
    must(reader, "SELECT count(*) FROM delta.`T/log`");
    remote_counts c = counts();
    if (remote_requests(c) > 1) fail_msg("%d reads, %d lists, %d stats", (int)c.reads, (int)c.lists, (int)c.stats);
    must(writer, "ALTER TABLE delta.`T/log` SET TBLPROPERTIES ('a' = 'c')");
    remote_like_reset(remote.remote);
    must(reader, "SELECT count(*) FROM delta.`T/log`");
    c = counts();
    if (remote_requests(c) > 3) fail_msg("%d reads, %d lists, %d stats", (int)c.reads, (int)c.lists, (int)c.stats);
}

static void a_checkpoint_s_columns(void **state) {
    (void)state;
    must(writer, "CREATE TABLE delta.`T/cp` USING delta PARTITIONED BY (p) AS SELECT id, concat('text ', cast(id AS STRING)) AS s, id % 300 AS p FROM range(3000)");
    silt_snapshot *s;
    silt_error err;
    char path[128];
    snprintf(path, sizeof path, "%s/cp", folder);
    assert_int_equal(silt_snapshot_open(writer, path, -1, NULL, &s, &err), SILT_OK);
    assert_int_equal(silt_snapshot_checkpoint(s, &err), SILT_OK);
    silt_snapshot_close(s);
    must(writer, "INSERT INTO delta.`T/cp` SELECT 1, 's', 1");
    clear_cache();
    open_reader(0);
    same("SELECT count(*) FROM delta.`T/cp`");
    same("SELECT sum(hash(id, s, p)) FROM delta.`T/cp` WHERE id > 1500 AND p < 100");
    same("SELECT max(id) FROM delta.`T/cp`");
}

/* What a process reads of a table of which another one kept all: nothing; one listing tells what is new. */
static void a_table_that_is_kept_costs_a_listing(void **state) {
    (void)state;
    must(writer, "CREATE TABLE delta.`T/kept` (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '3')");
    for (int i = 0; i < 7; i++) must(writer, "INSERT INTO delta.`T/kept` VALUES (1)");
    open_reader(0);
    same("SELECT count(*) FROM delta.`T/kept`");
    same("SELECT sum(id) FROM delta.`T/kept`");
    usleep(2200000); /* after which no clock's step can mean that the checkpoint was read later than it was listed */
    open_reader(0);
    must(reader, "SELECT sum(id) FROM delta.`T/kept`");
    remote_counts c = counts();
    if (c.lists != 1 || c.reads != 0 || c.stats > 1) fail_msg("%d reads, %d lists, %d stats", (int)c.reads, (int)c.lists, (int)c.stats);
    must(writer, "INSERT INTO delta.`T/kept` VALUES (100000)"); /* and it is no old answer */
    open_reader(0);
    assert_int_equal(number(reader, "SELECT sum(id) FROM delta.`T/kept`"), 100007);
}

/* The hint that was kept is of a table that is no more: another one stands there, with a shorter log, then with a longer one of which that checkpoint was cleaned up. */
static void a_hint_of_another_table(void **state) {
    (void)state;
    open_reader(0);
    must(writer, "CREATE TABLE delta.`T/hinted` (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '3')");
    for (int i = 0; i < 7; i++) must(writer, "INSERT INTO delta.`T/hinted` VALUES (1)");
    same("SELECT count(*) FROM delta.`T/hinted`");
    shell("rm -rf '%s/hinted'", folder);
    must(writer, "CREATE TABLE delta.`T/hinted` (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '100')");
    must(writer, "INSERT INTO delta.`T/hinted` VALUES (5)");
    open_reader(0);
    assert_int_equal(number(reader, "SELECT sum(id) FROM delta.`T/hinted`"), 5);
    for (int i = 0; i < 12; i++) must(writer, "INSERT INTO delta.`T/hinted` VALUES (1)");
    open_reader(0);
    assert_int_equal(number(reader, "SELECT sum(id) FROM delta.`T/hinted`"), 17);
    assert_int_equal(number(reader, "SELECT sum(id) FROM delta.`T/hinted` VERSION AS OF 1"), 5);
}

/* ---- a checkpoint that somebody writes again meanwhile ---- */

#define CHECKPOINT "%s/cpa/_delta_log/00000000000000000000.checkpoint.parquet"

static void write_checkpoint(const char *table) {
    silt_snapshot *s;
    silt_error err;
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, table);
    assert_int_equal(silt_snapshot_open(writer, path, -1, NULL, &s, &err), SILT_OK);
    assert_int_equal(silt_snapshot_checkpoint(s, &err), SILT_OK);
    silt_snapshot_close(s);
}

static void replace_at(void *ctx, uint64_t nth) {
    char from[160], to[160];
    snprintf(from, sizeof from, "%s/other.next", folder);
    snprintf(to, sizeof to, CHECKPOINT, folder);
    if (nth == *(uint64_t *)ctx && rename(from, to) != 0) abort();
}

/* Two checkpoints with different files take each other's place before every read in turn: what is read is the one or the other. */
static void a_checkpoint_that_is_rewritten(void **state) {
    (void)state;
    must(writer, "CREATE TABLE delta.`T/cpa` USING delta PARTITIONED BY (p) AS SELECT id, id % 300 AS p FROM range(600)");
    must(writer, "CREATE TABLE delta.`T/cpb` USING delta PARTITIONED BY (p) AS SELECT id + 1000000 AS id, id % 297 AS p FROM range(594)");
    write_checkpoint("cpa");
    write_checkpoint("cpb");
    int64_t a = number(writer, "SELECT count(*) FROM delta.`T/cpa`"), b = number(writer, "SELECT count(*) FROM delta.`T/cpb`");
    shell("cd '%s' && rm cpa/_delta_log/*.crc && cp " CHECKPOINT " one && cp '%s/cpb/_delta_log/00000000000000000000.checkpoint.parquet' other", folder, folder, folder);
    uint64_t all = 0, seen_b = 0;
    for (uint64_t at = 0; at <= all && at < 40; at++) {
        shell("cd '%s' && cp one one.next && mv one.next " CHECKPOINT " && cp other other.next", folder, folder);
        clear_cache();
        open_reader(0);
        (void)number(reader, "SELECT count(*) FROM delta.`T/cpb`"); /* the store is open */
        uint64_t before = counts().reads, nth = before + at;
        remote_like_before_read(remote.remote, replace_at, &nth);
        int64_t rows = number(reader, "SELECT count(*) FROM delta.`T/cpa`");
        if (rows != a && rows != b) fail_msg("replaced before read %llu: %lld is neither %lld nor %lld", (unsigned long long)at, (long long)rows, (long long)a, (long long)b);
        if (at == 0) all = counts().reads - before;
        seen_b += rows == b;
    }
    assert_true(seen_b > 1); /* it was replaced while it was read, and noticed */
}

/* ---- files that are no tables ---- */

static void files_by_location(void **state) {
    (void)state;
    shell("mkdir -p '%s/csv/day=1' '%s/csv/day=2' '%s/csv/_hidden' && cd '%s/csv' && printf 'id,s\n1,a\n2,b\n' > day=1/one.csv && printf 'id,s\n3,c\n' | gzip > day=2/two.csv.gz && "
          "cp day=1/one.csv _hidden/x.csv && printf '{\"id\":5}\n{\"id\":6}\n' > lines.json",
          folder, folder, folder, folder);
    must(writer, "CREATE TABLE delta.`T/source` USING delta PARTITIONED BY (p) AS SELECT id, cast(id AS STRING) AS s, id % 3 AS p FROM range(50000)");
    clear_cache();
    open_reader(0);
    char sql[512];
    static const struct { const char *query; int64_t answer; } cases[] = {
        {"SELECT count(*) FROM csv.`remote:%s/csv/day=1`", 3},          {"SELECT count(*) FROM csv.`remote:%s/csv/day=*/*.csv*`", 5}, /* the header lines are rows */
        {"SELECT count(*) FROM csv.`remote:%s/csv/day={1,2}`", 5},       {"SELECT sum(id) FROM json.`remote:%s/csv/lines.json`", 11},
        {"SELECT sum(id) FROM parquet.`remote:%s/source`", 1249975000}, {"SELECT count(s) FROM parquet.`remote:%s/source` WHERE p = 1", 16667},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(sql, sizeof sql, cases[i].query, folder);
        assert_int_equal(number(reader, sql), cases[i].answer);
    }
    uint64_t reads = counts().reads;
    snprintf(sql, sizeof sql, cases[3].query, folder);
    assert_int_equal(number(reader, sql), 11);
    assert_int_equal(counts().reads, reads);
    shell("printf '{\"id\":7}\n{\"id\":6}\n' > %s/csv/lines.json", folder); /* other bytes of the same number */
    assert_int_equal(number(reader, sql), 13);
    silt_error err;
    int64_t out;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM csv.`remote:%s/none`", folder);
    assert_int_equal(session_number(reader, sql, &out, &err), SILT_NOT_FOUND);
    assert_string_equal(err.condition, "PATH_NOT_FOUND");
}

/* ---- failures ---- */

static void a_missing_file_is_named(void **state) {
    (void)state;
    must(writer, "CREATE TABLE delta.`T/gone` USING delta AS SELECT id, cast(id AS STRING) AS s FROM range(100000)");
    shell("rm %s/gone/*.parquet", folder);
    clear_cache();
    open_reader(0);
    silt_error err;
    int64_t out;
    char *sql = placed("SELECT sum(id) FROM delta.`T/gone`");
    assert_int_equal(session_number(reader, sql, &out, &err), SILT_NOT_FOUND);
    assert_string_equal(err.condition, "DELTA_FILE_NOT_FOUND_DETAILED");
    free(sql);
}

static void a_damaged_file_is_an_error(void **state) {
    (void)state;
    must(writer, "CREATE TABLE delta.`T/hurt` USING delta AS SELECT id, cast(id AS STRING) AS s FROM range(100000)");
    shell("for f in %s/hurt/*.parquet; do truncate -s -100 $f; done", folder);
    clear_cache();
    open_reader(0);
    silt_error err;
    int64_t out;
    char *sql = placed("SELECT sum(id) FROM delta.`T/hurt`");
    assert_int_not_equal(session_number(reader, sql, &out, &err), SILT_OK);
    free(sql);
}

/* The file is put back as it was, as from a backup: what was kept of the damaged one is not in the way. */
static void a_damaged_file_that_is_mended(void **state) {
    (void)state;
    must(writer, "CREATE TABLE delta.`T/mended` USING delta AS SELECT id, cast(id AS STRING) AS s FROM range(1000000)");
    shell("mkdir %s/good && cp %s/mended/*.parquet %s/good/", folder, folder, folder);
    shell("for f in %s/mended/*.parquet; do head -c 200000 /dev/urandom | dd of=$f bs=1 seek=100 conv=notrunc 2>/dev/null; done", folder);
    clear_cache();
    open_reader(0);
    silt_error err;
    int64_t out = 0;
    char *sql = placed("SELECT count(DISTINCT id) FROM delta.`T/mended`");
    assert_int_not_equal(session_number(reader, sql, &out, &err), SILT_OK);
    assert_string_equal(err.condition, "FAILED_READ_FILE");
    assert_null(strstr(err.message, cache));
    assert_non_null(strstr(err.hint, "run the statement again"));
    assert_int_not_equal(session_number(reader, sql, &out, &err), SILT_OK); /* still damaged, and fetched again */
    shell("cp %s/good/*.parquet %s/mended/", folder, folder);
    if (session_number(reader, sql, &out, &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    assert_int_equal(out, 1000000);
    free(sql);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_column),
        cmocka_unit_test(filters_that_ask_bloom_filters),
        cmocka_unit_test(changed_tables),
        cmocka_unit_test(changes_through_the_cache),
        cmocka_unit_test(a_table_made_anew_in_place),
        cmocka_unit_test(two_columns_of_many_files),
        cmocka_unit_test(files_are_fetched_side_by_side),
        cmocka_unit_test(a_few_rows_need_few_files),
        cmocka_unit_test(explaining_fetches_no_columns),
        cmocka_unit_test(a_log_is_read_side_by_side),
        cmocka_unit_test(a_poll_is_one_request),
        cmocka_unit_test(a_checkpoint_s_columns),
        cmocka_unit_test(a_table_that_is_kept_costs_a_listing),
        cmocka_unit_test(a_hint_of_another_table),
        cmocka_unit_test(a_checkpoint_that_is_rewritten),
        cmocka_unit_test(files_by_location),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(a_damaged_file_is_an_error),
        cmocka_unit_test(a_damaged_file_that_is_mended),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
