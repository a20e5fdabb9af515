/*
 * Append rows from a program: an ArrowArrayStream goes into a table as one commit, written once however often it is repeated.
 *
 *     cc append.c $(pkg-config --cflags --libs silt) && ./a.out
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <silt/silt.h>

static void fail(const silt_error *err) {
    fprintf(stderr, "[%s] %s\n%s\n", err->condition, err->message, err->hint);
    exit(1);
}

/* ---- a stream of two columns, id BIGINT and name STRING, in one batch; a real program gets its stream from an Arrow library ---- */

static int64_t ids[] = {1, 2, 3};
static const char names[] = "annbobcid";
static const int32_t name_offsets[] = {0, 3, 6, 9};

static void release_schema(struct ArrowSchema *s) { s->release = NULL; }
static void release_array(struct ArrowArray *a) { a->release = NULL; }

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    static struct ArrowSchema id, name, *children[2] = {&id, &name};
    (void)stream;
    id = (struct ArrowSchema){.format = "l", .name = "id", .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    name = (struct ArrowSchema){.format = "u", .name = "name", .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    *out = (struct ArrowSchema){.format = "+s", .name = "", .n_children = 2, .children = children, .release = release_schema};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    static const void *id_buffers[2], *name_buffers[3], *row_buffers[1];
    static struct ArrowArray id, name, *children[2] = {&id, &name};
    bool *done = stream->private_data;
    memset(out, 0, sizeof *out);
    if (*done) return 0;
    *done = true;
    id_buffers[1] = ids;
    name_buffers[1] = name_offsets;
    name_buffers[2] = names;
    id = (struct ArrowArray){.length = 3, .n_buffers = 2, .buffers = id_buffers, .release = release_array};
    name = (struct ArrowArray){.length = 3, .n_buffers = 3, .buffers = name_buffers, .release = release_array};
    *out = (struct ArrowArray){.length = 3, .n_buffers = 1, .buffers = row_buffers, .n_children = 2, .children = children, .release = release_array};
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return NULL;
}

static void release_stream(struct ArrowArrayStream *stream) { stream->release = NULL; }

static int64_t append(silt_session *session, int64_t batch) {
    bool done = false;
    struct ArrowArrayStream rows = {get_schema, get_next, last_error, release_stream, &done};
    silt_write_options options = {.struct_size = sizeof options, .mode = SILT_APPEND, .txn_app_id = "example", .txn_version = batch};
    silt_write_result result = {.struct_size = sizeof result};
    silt_error err;
    if (silt_write(session, "./people", &rows, &options, &result, &err) != SILT_OK) fail(&err);
    return result.version;
}

int main(void) {
    silt_session *session;
    silt_error err;
    if (silt_session_open(NULL, &session, &err) != SILT_OK) fail(&err);

    int64_t first = append(session, 1), second = append(session, 2), repeated = append(session, 2);
    printf("versions %" PRId64 " and %" PRId64 "; the repeated batch committed %s\n", first, second, repeated < 0 ? "nothing" : "AGAIN");

    silt_snapshot *snapshot;
    if (silt_snapshot_open(session, "./people", SILT_LATEST, NULL, &snapshot, &err) != SILT_OK) fail(&err);
    int64_t rows = silt_snapshot_num_records(snapshot, &err);
    printf("%" PRId64 " rows in %" PRId64 " files\n", rows, silt_snapshot_num_files(snapshot));
    silt_snapshot_close(snapshot);
    silt_session_close(session);
    return rows == 6 && repeated == -1 ? 0 : 1;
}
