/* silt inspect: gathers what the log tells about a table and draws it as one HTML page. */
#include "cli/inspect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HISTORY_LIMIT  2000
#define STATES         24 /* versions that are opened to see the table grow */
#define STATES_SECONDS 15 /* and no more once that is over */

/* ---- files ---- */

static int size_bin(int64_t size) {
    int bin = 0;
    for (int64_t limit = 64 << 10; bin + 1 < SIZE_BINS && size > limit; limit *= 4) bin++;
    return bin;
}

static uint64_t hash_text(const char *s) {
    uint64_t h = 14695981039346656037U;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 1099511628211U;
    return h;
}

static void grow_slots(inspection *i) {
    i->n_slots = i->n_slots ? i->n_slots * 2 : 256;
    free(i->slots);
    i->slots = malloc(i->n_slots * sizeof *i->slots);
    if (!i->slots) exit(EXIT_FAILED);
    memset(i->slots, 0xFF, i->n_slots * sizeof *i->slots);
    for (uint32_t p = 0; p < i->n_partitions; p++) {
        size_t at = hash_text(i->partitions[p].label) & (i->n_slots - 1);
        while (i->slots[at] != UINT32_MAX) at = (at + 1) & (i->n_slots - 1);
        i->slots[at] = p;
    }
}

static inspect_partition *partition_of(inspection *i, const char *label) {
    if ((i->n_partitions + 1) * 3 >= i->n_slots * 2) grow_slots(i);
    size_t at = hash_text(label) & (i->n_slots - 1);
    while (i->slots[at] != UINT32_MAX && strcmp(i->partitions[i->slots[at]].label, label) != 0) at = (at + 1) & (i->n_slots - 1);
    if (i->slots[at] != UINT32_MAX) return &i->partitions[i->slots[at]];
    if (i->n_partitions == i->capacity) {
        i->capacity = i->capacity ? i->capacity * 2 : 64;
        i->partitions = realloc(i->partitions, i->capacity * sizeof *i->partitions);
        if (!i->partitions) exit(EXIT_FAILED);
    }
    i->slots[at] = (uint32_t)i->n_partitions;
    i->partitions[i->n_partitions] = (inspect_partition){.label = text_of("%s", label)};
    return &i->partitions[i->n_partitions++];
}

/* "day=2026-01-31/city=Oslo"; a physical name of column mapping is left out, it tells nobody anything. */
static void partition_label(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *map, int64_t row) {
    const int32_t *offsets = (const int32_t *)map->buffers[1] + row + map->offset;
    const struct ArrowSchema *pair = s->children[0];
    const struct ArrowArray *entries = map->children[0];
    b->len = 0;
    text_add_z(b, "");
    for (int64_t k = offsets[0]; k < offsets[1]; k++) {
        if (k > offsets[0]) text_add_z(b, "/");
        size_t name = b->len;
        value_write_text(b, pair->children[0], entries->children[0], k + entries->offset);
        if (strncmp(b->ptr + name, "col-", 4) == 0)
            b->len = name;
        else
            text_add_z(b, "=");
        if (!value_write_text(b, pair->children[1], entries->children[1], k + entries->offset)) text_add_z(b, "NULL");
    }
}

static int64_t i64_at(const struct ArrowSchema *s, const struct ArrowArray *batch, int64_t row, const char *name,
                      int64_t absent) {
    const struct ArrowSchema *cs;
    const struct ArrowArray *a;
    int64_t at;
    return batch_find(s, batch, row, name, &cs, &a, &at) ? ((const int64_t *)a->buffers[1])[at + a->offset] : absent;
}

static void take_file(inspection *i, const struct ArrowSchema *s, const struct ArrowArray *batch, int64_t row, text_buf *label) {
    const struct ArrowSchema *ms;
    const struct ArrowArray *map;
    int64_t at, size = i64_at(s, batch, row, "size", 0), rows = i64_at(s, batch, row, "numRecords", -1),
                deleted = i64_at(s, batch, row, "numDeletedRows", 0);
    int bin = size_bin(size);
    i->bin_files[bin]++;
    i->bin_bytes[bin] += size;
    i->vector_files += deleted > 0;
    i->deleted_rows += deleted;
    label->len = 0;
    text_add_z(label, "");
    if (batch_find(s, batch, row, "partitionValues", &ms, &map, &at)) partition_label(label, ms, map, at);
    i->is_partitioned |= label->len > 0;
    inspect_partition *p = partition_of(i, label->ptr);
    p->files++;
    p->bytes += size;
    p->rows = rows < 0 || p->rows < 0 ? -1 : p->rows + rows - deleted;
}

static int gather_files(inspection *i, silt_snapshot *snapshot) {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    silt_error err;
    text_buf label = {0};
    if (silt_snapshot_files(snapshot, &stream, &err) != SILT_OK) return report_error(&err);
    bool good = stream.get_schema(&stream, &schema) == 0;
    while (good && (good = stream.get_next(&stream, &batch) == 0) && batch.release) {
        for (int64_t row = 0; row < batch.length; row++) take_file(i, &schema, &batch, row, &label);
        batch.release(&batch);
    }
    if (!good) silt_stream_error(&stream, &err);
    if (schema.release) schema.release(&schema);
    stream.release(&stream);
    free(label.ptr);
    return good ? EXIT_DONE : report_error(&err);
}

/* ---- statements ---- */

static int gather_rows(silt_session *session, const char *before, const char *table, const char *after, result_rows *out) {
    text_buf sql = {0};
    struct ArrowArrayStream stream;
    silt_error err;
    text_add_z(&sql, before);
    if (!sql_table(&sql, table, "delta")) {
        free(sql.ptr);
        return EXIT_USAGE;
    }
    text_add_z(&sql, after);
    silt_status status = silt_query(session, sql.ptr, NULL, &stream, &err);
    free(sql.ptr);
    return status == SILT_OK ? rows_read(&stream, out) : report_error(&err);
}

/* ---- growth ---- */

/* Versions evenly spread over those that the log still has; one that cannot be opened any more is left out. */
static void gather_states(silt_session *session, inspection *i) {
    struct timespec began, now;
    int64_t n = i->history.count < STATES ? i->history.count : STATES;
    i->states = calloc((size_t)n + 1, sizeof *i->states);
    if (!i->states) exit(EXIT_FAILED);
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int64_t k = 0; k < n; k++) {
        int64_t row = n > 1 ? (i->history.count - 1) * (n - 1 - k) / (n - 1) : 0; /* newest first there */
        int64_t version = rows_i64(&i->history, row, "version", -1);
        silt_snapshot *s;
        silt_error err;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - began.tv_sec > STATES_SECONDS && k + 1 < n) continue;
        if (version < 0 || silt_snapshot_open(session, i->table, version, NULL, &s, &err) != SILT_OK) continue;
        i->states[i->n_states++] =
            (inspect_state){version, rows_i64(&i->history, row, "timestamp", 0) / 1000, silt_snapshot_num_files(s),
                            silt_snapshot_size_bytes(s), silt_snapshot_num_records(s, &err)};
        silt_snapshot_close(s);
    }
}

/* ---- all of it ---- */

static int gather_snapshot(silt_session *session, const options *o, inspection *i) {
    silt_snapshot *s;
    silt_error err;
    const char *json;
    if (silt_snapshot_open(session, i->table, o->version, o->timestamp, &s, &err) != SILT_OK) return report_error(&err);
    i->version = silt_snapshot_version(s);
    i->ms = silt_snapshot_timestamp_ms(s);
    i->files = silt_snapshot_num_files(s);
    i->bytes = silt_snapshot_size_bytes(s);
    i->rows = silt_snapshot_num_records(s, &err);
    int code = silt_snapshot_describe_json(s, &json, &err) == SILT_OK ? EXIT_DONE : report_error(&err);
    if (code == EXIT_DONE) {
        i->described = text_of("%s", json);
        code = gather_files(i, s);
    }
    silt_snapshot_close(s);
    return code;
}

int inspect_gather(silt_session *session, const options *o, inspection *i) {
    *i = (inspection){.table = o->arguments.items[0]};
    int code = gather_snapshot(session, o, i);
    char *limit = text_of(" LIMIT %d", HISTORY_LIMIT + 1);
    if (code == EXIT_DONE) code = gather_rows(session, "DESCRIBE HISTORY ", i->table, limit, &i->history);
    free(limit);
    i->history_cut = i->history.count > HISTORY_LIMIT;
    if (code == EXIT_DONE) code = gather_rows(session, "DESCRIBE TABLE ", i->table, "", &i->columns);
    if (code == EXIT_DONE) code = gather_rows(session, "DOCTOR TABLE ", i->table, "", &i->findings);
    if (code == EXIT_DONE) gather_states(session, i);
    return code;
}

void inspect_free(inspection *i) {
    for (size_t p = 0; p < i->n_partitions; p++) free(i->partitions[p].label);
    free(i->partitions);
    free(i->slots);
    free(i->states);
    free(i->described);
    rows_free(&i->history);
    rows_free(&i->findings);
    rows_free(&i->columns);
}

static int write_page(const char *path, const text_buf *page) {
    if (strcmp(path, "-") == 0)
        return fwrite(page->ptr, 1, page->len, stdout) == page->len && fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
    char *partial = text_of("%s.%ld.partial", path, (long)getpid());
    FILE *f = fopen(partial, "w");
    bool good = f && fwrite(page->ptr, 1, page->len, f) == page->len;
    good = (!f || fclose(f) == 0) && good && rename(partial, path) == 0;
    if (!good) {
        fprintf(stderr, "silt: cannot write %s: %s\n", path, strerror(errno));
        unlink(partial);
    }
    free(partial);
    return good ? EXIT_DONE : EXIT_FAILED;
}

int command_inspect(int argc, char **argv) {
    options o;
    inspection i;
    if (!options_parse(argc, argv, "it", &o)) return EXIT_USAGE;
    if (o.help) return command_help(2, (char *[]){(char *)"help", (char *)"inspect"});
    if (o.arguments.count != 1) return usage_error("'silt inspect' takes one TABLE (a name, a path or a URI)");
    if (!o.html) return usage_error("'silt inspect' needs --html FILE ('-' is standard output)");
    silt_session *session = open_session(&o);
    if (!session) return EXIT_FAILED;
    int code = inspect_gather(session, &o, &i);
    if (code == EXIT_DONE) {
        text_buf page = {0};
        inspect_page(&i, &page);
        code = write_page(o.html, &page);
        if (code == EXIT_DONE && !o.quiet && strcmp(o.html, "-") != 0)
            printf("%s written (%zu KiB)\n", o.html, (page.len + 1023) / 1024);
        free(page.ptr);
    }
    inspect_free(&i);
    silt_session_close(session);
    return code;
}
