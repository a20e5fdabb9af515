/*
 * Query a Delta table from C: open a session, run SQL, walk the Arrow batches, travel in time, scan one snapshot with a projection and a predicate.
 *
 *     cc query.c $(pkg-config --cflags --libs silt) && ./a.out
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <silt/silt.h>

static void fail(const silt_error *err) {
    fprintf(stderr, "[%s] %s\n%s\n", err->condition, err->message, err->hint);
    exit(1);
}

static void run(silt_session *session, const char *sql) {
    struct ArrowArrayStream rows;
    silt_error err;
    if (silt_query(session, sql, NULL, &rows, &err) != SILT_OK) fail(&err);
    rows.release(&rows);
}

/* Sum of the first column, a BIGINT, over all batches. */
static int64_t sum(struct ArrowArrayStream *rows) {
    struct ArrowArray batch;
    int64_t total = 0;
    while (rows->get_next(rows, &batch) == 0 && batch.release) {
        const int64_t *values = batch.children[0]->buffers[1];
        for (int64_t i = 0; i < batch.length; i++) total += values[i + batch.offset + batch.children[0]->offset];
        batch.release(&batch);
    }
    silt_error err;
    silt_stream_error(rows, &err);
    rows->release(rows);
    if (err.status != SILT_OK) fail(&err);
    return total;
}

int main(void) {
    silt_session *session;
    silt_error err;
    if (silt_session_open(NULL, &session, &err) != SILT_OK) fail(&err);

    run(session, "CREATE TABLE numbers (n BIGINT, kind STRING) USING DELTA PARTITIONED BY (kind)");
    run(session, "INSERT INTO numbers VALUES (1, 'odd'), (2, 'even'), (3, 'odd'), (4, 'even')");
    run(session, "INSERT INTO numbers VALUES (5, 'odd')");

    /* SQL with a parameter. */
    struct ArrowArrayStream rows;
    const char *names[] = {"kind"}, *values[] = {"odd"};
    silt_query_options query = {.struct_size = sizeof query, .parameter_names = names, .parameter_values = values, .n_parameters = 1};
    if (silt_query(session, "SELECT n FROM numbers WHERE kind = :kind", &query, &rows, &err) != SILT_OK) fail(&err);
    int64_t odd = sum(&rows);

    /* One snapshot, an older version, only the column and rows that are wanted. */
    silt_snapshot *snapshot;
    if (silt_snapshot_open(session, "numbers", 1, NULL, &snapshot, &err) != SILT_OK) fail(&err);
    const char *columns[] = {"n"};
    silt_scan_options scan = {.struct_size = sizeof scan, .columns = columns, .n_columns = 1, .where = "kind = 'odd'"};
    if (silt_snapshot_scan(snapshot, &scan, &rows, &err) != SILT_OK) fail(&err);
    int64_t before = sum(&rows);
    printf("version %" PRId64 ": the odd ones make %" PRId64 "; now they make %" PRId64 "\n", silt_snapshot_version(snapshot), before, odd);
    silt_snapshot_close(snapshot);

    /* Errors are data. */
    if (silt_query(session, "SELECT nothing FROM numbers", NULL, &rows, &err) != SILT_INVALID) return 1;
    printf("as expected: %s\n", err.condition);

    silt_session_close(session);
    return before == 4 && odd == 9 && strncmp(err.condition, "UNRESOLVED_COLUMN", 17) == 0 ? 0 : 1;
}
