/*
 * Commits to a table in a remote store, for commits.py and kills.py: one process of several, with a file in which it says what was acknowledged to it.
 *
 * usage: commit_client entries|sql|verify LOCATION NOTES WRITER COUNT [KEY=VALUE]...     KEY=VALUE: the session's settings, of the store first of all
 *
 *   entries  at the level of the store: COUNT times a data file and a log entry that names it, by the rules of delta/commit.c (store_put, then reading back)
 *   sql      COUNT times INSERT INTO delta.`LOCATION` VALUES (id, writer, text); the table is there
 *   verify   prints "VERSION ID" of every entry that `entries` left, ascending; fails where one is not whole or its data file is not
 *
 * NOTES gets a line per commit as soon as its outcome is known: "ok VERSION ID", "unknown VERSION ID" or "failed VERSION ID why" (VERSION -1 for sql).
 * With COMMIT_CLIENT_WAIT set it begins when a line comes on its standard input, so that who started it knows its pid before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/uri.h"
#include "silt/arrow.h"
#include "silt/silt.h"
#include "store/settings.h"
#include "store/store.h"

enum { MAX_SETTINGS = 32, TRIES = 10, LIST_EVERY = 5 };

typedef struct client {
    const char *location, *writer;
    int notes, count;
    const char *keys[MAX_SETTINGS], *values[MAX_SETTINGS];
    size_t n_settings;
    arena *arena;
    store *store;
    str root;
    uint64_t state; /* of the random numbers */
} client;

static void note(const client *c, const char *outcome, int64_t version, const char *id, const char *why) {
    char line[600];
    int n = snprintf(line, sizeof line, "%s %lld %s %.400s", outcome, (long long)version, id, why);
    for (int i = 0; i < n && i < (int)sizeof line; i++)
        if (line[i] == '\n') line[i] = ' ';
    if (n >= (int)sizeof line) n = sizeof line - 1;
    line[n++] = '\n';
    if (write(c->notes, line, (size_t)n) != n) exit(3);
}

static void note_error(const client *c, const char *outcome, int64_t version, const char *id, const silt_error *why) {
    char text[420];
    snprintf(text, sizeof text, "%.60s %.150s (%.180s)", why->condition, why->message, why->detail);
    note(c, outcome, version, id, text);
}

static uint64_t next_random(client *c) {
    c->state = c->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return c->state >> 33;
}

static str get_setting(void *ctx, const char *key) {
    const client *c = ctx;
    for (size_t i = 0; i < c->n_settings; i++)
        if (strcmp(c->keys[i], key) == 0) return str_of(c->values[i]);
    return STR_NULL;
}

static void die(const char *what, const silt_error *err) {
    fprintf(stderr, "%s: %s %s %s\n", what, err->condition, err->message, err->detail);
    exit(1);
}

/* ---- at the level of the store ---- */

static void open_store(client *c) {
    static const struct {
        const char *scheme;
        store_open_fn open;
    } back_ends[] = {{"s3a", store_s3a_open}, {"webhdfs", store_webhdfs_open}, {"abfss", store_azure_open}, {"gs", store_gcs_open}};
    static store_settings settings;
    store_registry *registry;
    silt_error err = {0};
    settings = (store_settings){.get = get_setting, .ctx = c};
    silt_status status = store_registry_new(&registry, &err);
    for (size_t i = 0; i < ARRAY_LEN(back_ends) && status == SILT_OK; i++)
        status = store_registry_add(registry, back_ends[i].scheme, back_ends[i].open, &settings, &err);
    if (status == SILT_OK) status = store_registry_find(registry, str_of(c->location), c->arena, &c->store, &c->root, &err);
    if (status != SILT_OK) die("open", &err);
}

/* An id and as many bytes as follow from it. */
static void fill(buf *out, const char *id) {
    uint64_t h = 1469598103934665603u;
    for (const char *p = id; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211u;
    size_t n = h % 20 == 0 ? 300000 : h % 3000;
    buf_clear(out);
    buf_printf(out, "%s\n", id);
    for (size_t i = 0; i < n; i++) buf_append_char(out, (char)('a' + (h >> (i % 50)) % 26));
}

static str entry_path(client *c, int64_t version) { return arena_printf(c->arena, "%.*s/_delta_log/%020lld.json", STR_ARG(c->root), (long long)version); }
static str data_path(client *c, const char *id) { return arena_printf(c->arena, "%.*s/data/%s.bin", STR_ARG(c->root), id); }

static silt_status write_data(client *c, const char *id, silt_error *err) {
    str path = data_path(c, id), local;
    buf bytes;
    buf_init(&bytes, BUF_MAX_DEFAULT);
    fill(&bytes, id);
    silt_status status = store_write_begin(c->store, path, c->arena, &local, err);
    FILE *file = status == SILT_OK ? fopen(local.ptr, "wb") : NULL;
    if (file && (fwrite(bytes.ptr, 1, bytes.len, file) != bytes.len || fclose(file) != 0)) exit(4);
    if (status == SILT_OK) status = store_write_finish(c->store, path, local, err);
    if (file) unlink(local.ptr);
    buf_dispose(&bytes);
    return status;
}

typedef enum owner { OURS, OTHERS, ABSENT, UNREADABLE } owner;

static owner read_back(client *c, str path, str text, silt_error *err) {
    buf found;
    buf_init(&found, BUF_MAX_DEFAULT);
    silt_status status = store_read(c->store, path, 0, -1, &found, err);
    owner who = status == SILT_NOT_FOUND ? ABSENT : status != SILT_OK ? UNREADABLE : str_eq(buf_str(&found), text) ? OURS : OTHERS;
    buf_dispose(&found);
    return who;
}

/* Listing from a few versions before: all of them, in order, this one among them. */
static void check_list(client *c, int64_t version) {
    char from[32];
    store_list_result list;
    silt_error err = {0};
    int64_t first = version > 5 ? version - 5 : 0;
    snprintf(from, sizeof from, "%020lld.json", (long long)first);
    str dir = arena_printf(c->arena, "%.*s/_delta_log", STR_ARG(c->root));
    silt_status status = store_list(c->store, dir, str_of(from), false, c->arena, &list, &err);
    if (status != SILT_OK) return; /* a fault; what is listed is what counts */
    for (size_t i = 0; i < list.count; i++)
        if (!str_eq(list.items[i].path, entry_path(c, first + (int64_t)i))) note(c, "broken", version, "list", list.items[i].path.ptr);
    if ((int64_t)list.count <= version - first) note(c, "broken", version, "list", "ends too early");
}

/* As delta/commit.c does it. Returns the version that was made or tried. */
static int64_t commit_entry(client *c, int64_t version, const char *id) {
    silt_error err = {0};
    int tries = 0;
    for (;; arena_reset(c->arena)) {
        str path = entry_path(c, version), text = arena_printf(c->arena, "{\"commitInfo\":{\"txnId\":\"%s\"}}\n", id);
        silt_status status = store_put(c->store, path, text, STORE_PUT_IF_ABSENT, &err);
        silt_error asked = {0};
        owner who = status == SILT_OK ? OURS : read_back(c, path, text, &asked);
        if (who == OURS) {
            note(c, "ok", version, id, "");
            if (next_random(c) % LIST_EVERY == 0) check_list(c, version);
            return version;
        }
        if (who == OTHERS) {
            version++;
            tries = 0;
        } else if (++tries == TRIES) {
            note_error(c, "unknown", version, id, who == UNREADABLE ? &asked : &err);
            return version;
        }
    }
}

static int commit_entries(client *c) {
    int64_t version = 0;
    char root[1024];
    snprintf(root, sizeof root, "%.*s", STR_ARG(c->root));
    c->root = str_of(root);
    for (int i = 0; i < c->count; i++) {
        char id[80], number[32];
        silt_error err = {0};
        arena_reset(c->arena);
        snprintf(number, sizeof number, "%06d", i);
        snprintf(id, sizeof id, "%s-%s", c->writer, number);
        silt_status status = write_data(c, id, &err);
        if (status != SILT_OK) note_error(c, "failed", -1, id, &err);
        else version = commit_entry(c, version, id) + 1;
    }
    return 0;
}

static int verify(client *c) {
    buf text, wanted, data;
    silt_error err = {0};
    int64_t version = 0;
    buf_init(&text, BUF_MAX_DEFAULT);
    buf_init(&wanted, BUF_MAX_DEFAULT);
    buf_init(&data, BUF_MAX_DEFAULT);
    /* Listing first, as readers of tables do: it makes up for a commit by DynamoDB whose writer was killed after it was decided. */
    store_list_result list;
    str dir = arena_printf(c->arena, "%.*s/_delta_log", STR_ARG(c->root));
    if (store_list(c->store, dir, STR_NULL, true, c->arena, &list, &err) != SILT_OK) die("list", &err);
    for (;; version++) {
        char id[80];
        buf_clear(&text);
        buf_clear(&data);
        silt_status status = store_read(c->store, entry_path(c, version), 0, -1, &text, &err);
        if (status == SILT_NOT_FOUND) break;
        if (status != SILT_OK) die("entry", &err);
        if (sscanf(buf_cstr(&text), "{\"commitInfo\":{\"txnId\":\"%79[^\"]\"}}\n", id) != 1 || text.ptr[text.len - 1] != '\n') {
            printf("entry %lld is not whole: %s\n", (long long)version, buf_cstr(&text));
            return 1;
        }
        fill(&wanted, id);
        status = store_read(c->store, data_path(c, id), 0, -1, &data, &err);
        if (status != SILT_OK) die("data", &err);
        if (!str_eq(buf_str(&data), buf_str(&wanted))) {
            printf("data of %s is not whole\n", id);
            return 1;
        }
        printf("%lld %s\n", (long long)version, id);
    }
    int64_t listed = 0; /* beside them, at most what readers of tables pass over: a killed process' probe of its server, temporary files of commits by DynamoDB */
    for (size_t i = 0; i < list.count; i++) {
        char first = list.items[i].path.ptr[dir.len + 1];
        if (first == '.' || first == '_') continue;
        if (!str_eq(list.items[i].path, entry_path(c, listed++))) printf("%.*s is there\n", STR_ARG(list.items[i].path));
    }
    if (listed == version) return 0;
    printf("%lld entries are read, %lld are listed\n", (long long)version, (long long)listed);
    return 1;
}

/* ---- by SQL ---- */

static silt_status run(silt_session *session, const char *sql, silt_error *err) {
    struct ArrowArrayStream stream = {0};
    struct ArrowArray rows = {0};
    silt_status status = silt_query(session, sql, NULL, &stream, err);
    if (status != SILT_OK) return status;
    while (stream.get_next(&stream, &rows) == 0 && rows.release) rows.release(&rows);
    silt_stream_error(&stream, err);
    status = err->status;
    stream.release(&stream);
    return status;
}

static int commit_sql(client *c) {
    const silt_session_options options = {.struct_size = sizeof options, .keys = c->keys, .values = c->values, .n_settings = c->n_settings};
    silt_session *session;
    silt_error err = {0};
    if (silt_session_open(&options, &session, &err) != SILT_OK) die("session", &err);
    for (int i = 0; i < c->count; i++) {
        char id[32], sql[2048];
        silt_error why = {0};
        snprintf(id, sizeof id, "%lld", atoll(c->writer) * 1000000 + i);
        snprintf(sql, sizeof sql, "INSERT INTO delta.`%s` VALUES (%s, %s, 'text of %s')", c->location, id, c->writer, id);
        silt_status status = run(session, sql, &why);
        if (status == SILT_OK) note(c, "ok", -1, id, "");
        else note_error(c, status == SILT_UNKNOWN ? "unknown" : "failed", -1, id, &why);
    }
    silt_session_close(session);
    return 0;
}

int main(int argc, char **argv) {
    client c = {.arena = arena_new()};
    char line[16];
    if (argc < 6 || !c.arena) {
        fprintf(stderr, "usage: commit_client entries|sql|verify LOCATION NOTES WRITER COUNT [KEY=VALUE]...\n");
        return 2;
    }
    c.location = argv[2];
    c.notes = open(argv[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    c.writer = argv[4];
    c.count = atoi(argv[5]);
    c.state = (uint64_t)getpid();
    if (c.notes < 0) return 2;
    for (int i = 6; i < argc && c.n_settings < MAX_SETTINGS; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals) return 2;
        *equals = 0;
        c.keys[c.n_settings] = argv[i];
        c.values[c.n_settings++] = equals + 1;
    }
    if (getenv("COMMIT_CLIENT_WAIT") && !fgets(line, sizeof line, stdin)) return 2;
    if (strcmp(argv[1], "sql") == 0) return commit_sql(&c);
    arena *kept = c.arena; /* that of location and root */
    open_store(&c);
    if (strcmp(argv[1], "verify") == 0) return verify(&c);
    c.arena = arena_new();
    int status = c.arena ? commit_entries(&c) : 3;
    arena_free(c.arena);
    arena_free(kept);
    return status;
}
