/* A sorted array of files; folders are what stands before a slash. Everything under one lock. */
#include "hdfs_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/uri.h"
#include "store/hdfs/hdfs.h"

enum { FILES_MAX = 200, TARGETS_MAX = 400, PAGE = 3 };

typedef struct fake_file {
    char *path;
    buf bytes;
    int id;
} fake_file;

struct hdfs_fake {
    tiny_server *server;
    pthread_mutex_t lock;
    fake_file files[FILES_MAX];
    size_t n_files;
    int next_id;
    fake_break breaks;
    const char *state;
    bool is_httpfs;
    buf log;
    arena *kept;
    char *targets[TARGETS_MAX];
    size_t n_targets;
};

/* One request. */
typedef struct call {
    hdfs_fake *f;
    arena *a;
    str path, query, op;
    bool at_data_node;
    const tiny_request *q;
    tiny_answer *out;
} call;

static str parameter(const call *c, const char *name) {
    str rest = c->query, part;
    while (str_next(&rest, '&', &part)) {
        size_t equals = str_find_char(part, '=');
        if (equals != SIZE_MAX && str_eqz(str_slice(part, 0, equals), name)) return uri_decode(str_slice(part, equals + 1, part.len), c->a);
    }
    return STR_NULL;
}

static fake_file *find(hdfs_fake *f, str path) {
    for (size_t i = 0; i < f->n_files; i++)
        if (str_eqz(path, f->files[i].path)) return &f->files[i];
    return NULL;
}

static bool is_folder(hdfs_fake *f, str path) {
    if (path.len <= 1) return true;
    for (size_t i = 0; i < f->n_files; i++)
        if (str_starts_with(str_of(f->files[i].path), path) && f->files[i].path[path.len] == '/') return true;
    return false;
}

static int compare_files(const void *x, const void *y) { return strcmp(((const fake_file *)x)->path, ((const fake_file *)y)->path); }

static void add(hdfs_fake *f, str path, str bytes) {
    assert_true(f->n_files < FILES_MAX);
    fake_file *file = &f->files[f->n_files++];
    *file = (fake_file){.path = strndup(path.ptr, path.len), .id = ++f->next_id};
    buf_init(&file->bytes, 1 << 20);
    buf_append(&file->bytes, bytes);
    qsort(f->files, f->n_files, sizeof *f->files, compare_files);
}

static void drop(hdfs_fake *f, fake_file *file) {
    free(file->path);
    buf_dispose(&file->bytes);
    size_t at = (size_t)(file - f->files);
    memmove(file, file + 1, (f->n_files - at - 1) * sizeof *file);
    f->n_files--;
}

/* ---- answers ---- */

static void say(call *c, int status, const char *text) {
    c->out->status = status;
    buf_clear(&c->out->body);
    buf_append_z(&c->out->body, text);
}

static void refuse(call *c, int status, const char *exception, const char *message) {
    str text = arena_printf(c->a, "{\"RemoteException\":{\"exception\":\"%s\",\"javaClassName\":\"x.%s\",\"message\":\"%s\\n\\tat x.Y.z(Y.java:1)\\n\\tat x.Y.w(Y.java:2)\"}}", exception,
                            exception, message);
    say(c, status, text.ptr);
}

static void redirect(call *c, bool as_json) {
    str location = tiny_server_url(c->f->server, "", c->a);
    location = arena_printf(c->a, "%.*s/webhdfs/v1%.*s?%.*s&step2=1", STR_ARG(location), STR_ARG(http_encode(c->path, true, c->a)), STR_ARG(c->query));
    if (as_json) {
        say(c, 200, arena_printf(c->a, "{\"Location\":\"%.*s\"}", STR_ARG(location)).ptr);
        return;
    }
    say(c, 307, "");
    c->out->headers = arena_printf(c->a, "Location: %.*s\r\n", STR_ARG(location));
}

static void create(call *c) {
    if (!c->at_data_node) {
        redirect(c, str_eqz(parameter(c, "noredirect"), "true"));
        return;
    }
    fake_file *old = find(c->f, c->path);
    if (old && !str_eqz(parameter(c, "overwrite"), "true")) {
        refuse(c, 403, "FileAlreadyExistsException", "exists");
        return;
    }
    if (old) drop(c->f, old);
    add(c->f, c->path, c->q->body);
    say(c, 201, "");
}

static void open_file(call *c) {
    const fake_file *file = find(c->f, c->path);
    int64_t offset = 0, length = -1;
    (void)str_to_i64(parameter(c, "offset"), &offset);
    (void)str_to_i64(parameter(c, "length"), &length);
    if (!file) {
        refuse(c, 404, "FileNotFoundException", is_folder(c->f, c->path) ? "Path is not a file" : "File not found");
        return;
    }
    if (offset > 0 && (size_t)offset >= file->bytes.len) {
        refuse(c, 403, "IOException", "Offset=400 out of the range [0, 16); OPEN, path=/t/a");
        return;
    }
    if (!c->at_data_node && !c->f->is_httpfs) {
        redirect(c, false);
        return;
    }
    str bytes = str_slice(buf_str(&file->bytes), (size_t)offset, file->bytes.len);
    if (length >= 0 && (size_t)length < bytes.len) bytes.len = (size_t)length;
    say(c, 200, "");
    buf_append(&c->out->body, bytes);
}

static void rename_file(call *c) {
    str to = parameter(c, "destination");
    fake_file *from = find(c->f, c->path), *there = find(c->f, to);
    bool replace = str_eqz(parameter(c, "renameoptions"), "OVERWRITE"), refused = !from || there || is_folder(c->f, to);
    if (c->f->is_httpfs) {
        say(c, 200, refused ? "{\"boolean\":false}" : "{\"boolean\":true}");
        if (refused) return;
    } else if (!from) {
        refuse(c, 404, "FileNotFoundException", "rename source not found");
        return;
    } else if (is_folder(c->f, to)) {
        refuse(c, 403, "IOException", "Source and destination must both be directories");
        return;
    } else if (there && !replace) {
        refuse(c, 403, "FileAlreadyExistsException", "rename destination already exists");
        return;
    } else {
        say(c, 200, "");
    }
    if (there) drop(c->f, there);
    from = find(c->f, c->path);
    free(from->path);
    from->path = strndup(to.ptr, to.len);
    qsort(c->f->files, c->f->n_files, sizeof *c->f->files, compare_files);
}

static void remove_path(call *c) {
    fake_file *file = find(c->f, c->path);
    if (!file && is_folder(c->f, c->path)) {
        refuse(c, 403, "PathIsNotEmptyDirectoryException", "not empty");
        return;
    }
    say(c, 200, file ? "{\"boolean\":true}" : "{\"boolean\":false}");
    if (file) drop(c->f, file);
}

static void write_status(call *c, str name, const fake_file *file) {
    buf *b = &c->out->body;
    buf_append_z(b, "{\"accessTime\":1,\"blockSize\":134217728,\"childrenNum\":0,\"group\":\"g\",\"owner\":\"o\",\"permission\":\"644\",\"replication\":1,\"storagePolicy\":0,");
    buf_printf(b, "\"fileId\":%d,\"length\":%zu,\"modificationTime\":1796028294574,\"type\":\"%s\",\"pathSuffix\":", file ? file->id : 9, file ? file->bytes.len : 0,
               file ? "FILE" : "DIRECTORY");
    json_write_str(b, name);
    buf_append_char(b, '}');
}

static void get_status(call *c) {
    const fake_file *file = find(c->f, c->path);
    if (!file && !is_folder(c->f, c->path)) {
        refuse(c, 404, "FileNotFoundException", "File does not exist");
        return;
    }
    say(c, 200, "{\"FileStatus\":");
    write_status(c, STR(""), file);
    buf_append_char(&c->out->body, '}');
}

static void list(call *c, bool in_pages) {
    str after = parameter(c, "startafter"), last = STR("");
    size_t told = 0, left = 0, skip = c->path.len == 1 ? 1 : c->path.len + 1;
    if (find(c->f, c->path) || !is_folder(c->f, c->path)) {
        refuse(c, 404, "FileNotFoundException", "File /nope does not exist.");
        return;
    }
    say(c, 200, in_pages ? "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[" : "{\"FileStatuses\":{\"FileStatus\":[");
    for (size_t i = 0; i < c->f->n_files; i++) {
        str path = str_of(c->f->files[i].path);
        if (path.len <= skip || !str_starts_with(path, c->path) || path.ptr[skip - 1] != '/') continue;
        str name = str_slice(path, skip, path.len);
        size_t slash = str_find_char(name, '/');
        if (slash != SIZE_MAX) name.len = slash;
        if (str_eq(name, last) || (in_pages && !str_is_null(after) && str_cmp(name, after) <= 0)) continue;
        last = name;
        if (in_pages && told == PAGE) {
            left++;
            continue;
        }
        if (told++) buf_append_char(&c->out->body, ',');
        write_status(c, name, slash == SIZE_MAX ? &c->f->files[i] : NULL);
    }
    if (in_pages) buf_printf(&c->out->body, "]}},\"remainingEntries\":%zu}}", left);
    else buf_append_z(&c->out->body, "]}}");
}

static void carry_out(call *c) {
    if (str_eqz(c->op, "CREATE")) create(c);
    else if (str_eqz(c->op, "OPEN")) open_file(c);
    else if (str_eqz(c->op, "RENAME")) rename_file(c);
    else if (str_eqz(c->op, "DELETE")) remove_path(c);
    else if (str_eqz(c->op, "GETFILESTATUS")) get_status(c);
    else if (str_eqz(c->op, "LISTSTATUS_BATCH") && !c->f->is_httpfs) list(c, true);
    else if (str_eqz(c->op, "LISTSTATUS")) list(c, false);
    else if (str_eqz(c->op, "MKDIRS")) say(c, 200, "{\"boolean\":true}");
    else refuse(c, 400, "IllegalArgumentException", arena_printf(c->a, "Invalid value for webhdfs parameter \\\"op\\\": No enum constant %.*s", STR_ARG(c->op)).ptr);
}

/* ---- requests ---- */

static void note(call *c) {
    hdfs_fake *f = c->f;
    if (f->log.len) buf_append_char(&f->log, ' ');
    buf_append(&f->log, c->op);
    if (c->at_data_node) buf_append_char(&f->log, '2');
    if (f->n_targets < TARGETS_MAX) f->targets[f->n_targets++] = strndup(c->q->target.ptr, c->q->target.len);
}

static bool is_to_break(const call *c) {
    const fake_break *b = &c->f->breaks;
    if (!b->op || b->times <= 0) return false;
    return str_eq(arena_printf(c->a, "%.*s%s", STR_ARG(c->op), c->at_data_node ? "2" : ""), str_of(b->op));
}

static void answer(call *c) {
    const fake_break b = c->f->breaks;
    bool breaks = is_to_break(c);
    if (c->f->state && !c->at_data_node) {
        refuse(c, 403, c->f->state, "Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error");
        return;
    }
    if (breaks) c->f->breaks.times--;
    if (!breaks || b.applied || b.twice) carry_out(c);
    if (breaks && b.twice) carry_out(c);
    if (!breaks || b.twice) return;
    c->out->way = b.way;
    if (b.way == TINY_ANSWER || b.way == TINY_CLOSE) say(c, b.status, "<html>Server Error</html>");
}

static void handle(void *ctx, const tiny_request *q, tiny_answer *out) {
    hdfs_fake *f = ctx;
    arena *a = arena_new();
    static const size_t prefix = sizeof "/webhdfs/v1" - 1;
    assert_non_null(a);
    size_t question = str_find_char(q->target, '?');
    assert_true(question != SIZE_MAX && str_starts_with(q->target, STR("/webhdfs/v1/")));
    call c = {.f = f, .a = a, .q = q, .out = out, .query = str_slice(q->target, question + 1, q->target.len)};
    c.path = uri_decode(str_slice(q->target, prefix, question), a);
    c.op = parameter(&c, "op");
    c.at_data_node = str_eqz(parameter(&c, "step2"), "1");
    pthread_mutex_lock(&f->lock);
    note(&c);
    answer(&c);
    if (out->headers.len) out->headers = arena_str(f->kept, out->headers); /* read behind this call */
    pthread_mutex_unlock(&f->lock);
    arena_free(a);
}

/* ---- for tests ---- */

hdfs_fake *hdfs_fake_start(void) {
    hdfs_fake *f = calloc(1, sizeof *f);
    assert_non_null(f);
    pthread_mutex_init(&f->lock, NULL);
    buf_init(&f->log, 1 << 20);
    f->kept = arena_new();
    assert_non_null(f->kept);
    f->server = tiny_server_start(handle, f);
    return f;
}

void hdfs_fake_stop(hdfs_fake *f) {
    tiny_server_stop(f->server);
    while (f->n_files) drop(f, &f->files[f->n_files - 1]);
    for (size_t i = 0; i < f->n_targets; i++) free(f->targets[i]);
    buf_dispose(&f->log);
    arena_free(f->kept);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

str hdfs_fake_authority(const hdfs_fake *f, arena *a) { return arena_printf(a, "127.0.0.1:%d", tiny_server_port(f->server)); }

void hdfs_fake_break(hdfs_fake *f, fake_break b) {
    pthread_mutex_lock(&f->lock);
    f->breaks = b;
    if (b.times == 0) f->breaks.times = 1;
    pthread_mutex_unlock(&f->lock);
}

void hdfs_fake_state(hdfs_fake *f, const char *exception) {
    pthread_mutex_lock(&f->lock);
    f->state = exception;
    pthread_mutex_unlock(&f->lock);
}

void hdfs_fake_be_httpfs(hdfs_fake *f) { f->is_httpfs = true; }

void hdfs_fake_file(hdfs_fake *f, const char *path, const char *bytes) {
    pthread_mutex_lock(&f->lock);
    add(f, str_of(path), str_of(bytes));
    pthread_mutex_unlock(&f->lock);
}

str hdfs_fake_log(hdfs_fake *f, arena *a) {
    pthread_mutex_lock(&f->lock);
    str log = arena_str(a, buf_str(&f->log));
    buf_clear(&f->log);
    pthread_mutex_unlock(&f->lock);
    return log;
}

str hdfs_fake_target(hdfs_fake *f, const char *text, arena *a) {
    str found = STR_NULL;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->n_targets; i++)
        if (strstr(f->targets[i], text)) found = arena_str(a, str_of(f->targets[i]));
    pthread_mutex_unlock(&f->lock);
    return found;
}

str hdfs_fake_files(hdfs_fake *f, arena *a) {
    buf b;
    buf_init(&b, 1 << 20);
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->n_files; i++) {
        str path = str_of(f->files[i].path);
        if (i) buf_append_char(&b, ' ');
        buf_append(&b, hdfs_is_temporary(path_name(path)) ? STR("TMP") : path);
    }
    pthread_mutex_unlock(&f->lock);
    str text = arena_str(a, buf_str(&b));
    buf_dispose(&b);
    return text;
}
