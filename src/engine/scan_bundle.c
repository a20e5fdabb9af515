/* One pass over the files: read whole, looked at, appended to the bundle of their schema. */
#include "engine/scan_bundle.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ident.h"
#include "table/parquet_splice.h"

#define FEW_FILES     16                   /* are opened as they are */
#define BUNDLE_BYTES  ((int64_t)256 << 20)
#define MAX_BUNDLES   16                   /* open at once: schemas of one table */
#define MAGIC         4
#define WRITE_BYTES   ((size_t)128 << 10) /* at once: small files are not written one by one */

typedef struct bundle {
    parquet_splice splice;
    FILE *file;
    str path;
    int64_t position; /* where the next bytes go */
    int64_t rows;     /* by the log, -1 unknown */
} bundle;

typedef struct bundler {
    scan_node *node;
    arena *arena;
    bundle open[MAX_BUNDLES];
    size_t n_open, last;
    buf bytes;   /* of the file at hand */
    bool broken; /* something was written by half: then no bundle is used */
    scan_file *files;
    str *paths;
    parquet_want **wants; /* NULL: none is remote */
    size_t n_files;
} bundler;

/* ---- may it be done? ---- */

static bool asks_for_rows_only(const scan_node *node) {
    const relation *rel = node->rel;
    size_t n = node->source->schema->n_fields;
    if (node->has_deleted || !rel->column_used || node->n_wanted == 0 || node->source->match == MATCH_BY_FIELD_ID) return false;
    for (size_t i = n; i < rel->n_columns; i++)
        if (rel->column_used[i]) return false;
    for (size_t i = 0; i < node->source->n_partition_columns; i++)
        if (rel->column_used[node->source->partition_columns[i]]) return false;
    return true;
}

static bool is_small(const scan_file *f) { return f->size_bytes <= SCAN_SMALL_BYTES; }

/* ---- one file ---- */

static bool read_file(bundler *b, str local_path) {
    struct stat sb;
    const char *path = arena_cstr(b->arena, local_path);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return false;
    buf_clear(&b->bytes);
    bool ok = fstat(fd, &sb) == 0 && sb.st_size >= 3 * MAGIC && sb.st_size <= SCAN_SMALL_BYTES * 2 && buf_reserve(&b->bytes, (size_t)sb.st_size);
    ssize_t got = ok ? pread(fd, b->bytes.ptr, (size_t)sb.st_size, 0) : -1;
    close(fd);
    if (!ok || got != sb.st_size) return false;
    b->bytes.len = (size_t)got;
    return memcmp(b->bytes.ptr, "PAR1", MAGIC) == 0 && memcmp(b->bytes.ptr + got - MAGIC, "PAR1", MAGIC) == 0;
}

static bool find_footer(const bundler *b, str *out) {
    const unsigned char *end = (const unsigned char *)b->bytes.ptr + b->bytes.len - 2 * MAGIC;
    uint32_t length = (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
    if (length > b->bytes.len - 3 * MAGIC) return false;
    *out = (str){(const char *)end - length, length};
    return true;
}

/* ---- bundles ---- */

static bool keep_parts(bundler *b, const parquet_parts *parts, parquet_parts *out) {
    *out = *parts;
    out->schema = arena_str(b->arena, parts->schema);
    if (!str_is_null(parts->created_by)) out->created_by = arena_str(b->arena, parts->created_by);
    if (!str_is_null(parts->column_orders)) out->column_orders = arena_str(b->arena, parts->column_orders);
    return !str_is_null(out->schema) && str_is_null(out->created_by) == str_is_null(parts->created_by) && str_is_null(out->column_orders) == str_is_null(parts->column_orders);
}

static bool open_bundle(bundler *b, const parquet_parts *parts, size_t *out) {
    char uuid[37];
    if (b->n_open == MAX_BUNDLES) return false;
    bundle *n = &b->open[b->n_open];
    uuid_generate(uuid);
    parquet_splice_init(&n->splice);
    n->path = arena_printf(b->arena, "%s/bundle-%s.parquet", b->node->engine->temp.path, uuid);
    (void)!engine_keep_temp(b->node->engine, NULL);
    n->file = str_is_null(n->path) || !keep_parts(b, parts, &n->splice.first) ? NULL : fopen(n->path.ptr, "wbex");
    if (!n->file) {
        parquet_splice_dispose(&n->splice);
        return false;
    }
    n->rows = 0;
    n->position = MAGIC;
    *out = b->n_open++;
    (void)setvbuf(n->file, NULL, _IOFBF, WRITE_BYTES);
    b->broken |= fwrite("PAR1", 1, MAGIC, n->file) != MAGIC;
    return !b->broken;
}

static bool find_bundle(bundler *b, const parquet_parts *parts, size_t *out) {
    for (size_t i = 0; i < b->n_open; i++)
        if (b->open[i].file && b->open[i].position < BUNDLE_BYTES && parquet_splice_fits(&b->open[i].splice.first, parts)) {
            *out = i;
            return true;
        }
    return open_bundle(b, parts, out);
}

static bool append_groups(bundle *n, str footer, parquet_parts *out) {
    size_t before = n->splice.groups.len;
    if (n->position >= BUNDLE_BYTES || !parquet_splice_parse(footer, n->position - MAGIC, &n->splice.groups, out)) return false;
    if (parquet_splice_fits(&n->splice.first, out)) return true;
    n->splice.groups.len = before;
    return false;
}

/* Most often that of the file before: its offsets are tried first, so that a footer is looked at once. */
static bool choose_bundle(bundler *b, str footer, parquet_parts *out) {
    buf look;
    if (b->n_open && append_groups(&b->open[b->last], footer, out)) return true;
    buf_init(&look, BUF_MAX_DEFAULT);
    bool found = parquet_splice_parse(footer, 0, &look, out) && find_bundle(b, out, &b->last);
    buf_dispose(&look);
    b->broken |= found && !append_groups(&b->open[b->last], footer, out);
    return found && !b->broken;
}

static bool append_file(bundler *b, const scan_file *f, str footer) {
    parquet_parts parts;
    size_t from = MAGIC, length = (size_t)(footer.ptr - b->bytes.ptr) - from;
    if (!choose_bundle(b, footer, &parts)) return false;
    bundle *n = &b->open[b->last];
    b->broken |= fwrite(b->bytes.ptr + from, 1, length, n->file) != length;
    if (b->broken) return false;
    n->position += (int64_t)length;
    n->splice.n_rows += parts.n_rows;
    n->splice.n_groups += parts.n_groups;
    n->rows = n->rows < 0 || f->num_records < 0 ? -1 : n->rows + f->num_records;
    return true;
}

static void leave_alone(bundler *b, size_t i) {
    b->files[b->n_files] = b->node->scan.files[i];
    if (b->wants) b->wants[b->n_files] = b->node->wants[i];
    b->paths[b->n_files++] = b->node->local_paths[i];
}

static void take_file(bundler *b, size_t i) {
    const scan_file *f = &b->node->scan.files[i];
    str footer;
    bool taken = is_small(f) && read_file(b, b->node->local_paths[i]) && find_footer(b, &footer) && append_file(b, f, footer);
    if (!taken) leave_alone(b, i);
}

/* ---- the end ---- */

static bool end_bundle(bundler *b, bundle *n) {
    buf end;
    buf_init(&end, BUF_MAX_DEFAULT);
    parquet_splice_write_end(&n->splice, &end);
    bool ok = buf_ok(&end) && fwrite(end.ptr, 1, end.len, n->file) == end.len;
    ok = fclose(n->file) == 0 && ok;
    n->file = NULL;
    n->position += (int64_t)end.len;
    buf_dispose(&end);
    if (!ok) return false;
    b->files[b->n_files] = (scan_file){.path = n->path,
                                       .store = b->node->scan.files[0].store,
                                       .size_bytes = n->position,
                                       .num_records = n->rows,
                                       .base_row_id = -1,
                                       .default_row_commit_version = -1};
    b->paths[b->n_files++] = n->path;
    return true;
}

static bool end_bundles(bundler *b) {
    bool ok = !b->broken;
    for (size_t i = 0; i < b->n_open; i++) ok = ok && end_bundle(b, &b->open[i]);
    return ok;
}

static void close_bundler(bundler *b) {
    for (size_t i = 0; i < b->n_open; i++) {
        if (b->open[i].file) fclose(b->open[i].file);
        parquet_splice_dispose(&b->open[i].splice);
    }
    buf_dispose(&b->bytes);
}

/* Written for good: the node owns the files from here on, whether or not it reads them. */
static silt_status hand_over(bundler *b, bool ok, silt_error *err) {
    scan_node *node = b->node;
    node->bundles = ARENA_ARRAY(b->arena, b->n_open + 1, str);
    if (!node->bundles) {
        for (size_t i = 0; i < b->n_open; i++) (void)unlink(b->open[i].path.ptr);
        return error_no_memory(err);
    }
    for (size_t i = 0; i < b->n_open; i++) node->bundles[node->n_bundles++] = b->open[i].path;
    if (!ok) return SILT_OK; /* no space for them, say: then without */
    node->scan.files = b->files;
    node->local_paths = b->paths;
    node->wants = b->wants;
    node->scan.n_files = b->n_files;
    return SILT_OK;
}

silt_status scan_bundle(scan_node *node, arena *a, silt_error *err) {
    size_t n = node->scan.n_files, n_small = 0;
    for (size_t i = 0; i < n; i++) n_small += is_small(&node->scan.files[i]);
    if (n_small < FEW_FILES || !asks_for_rows_only(node)) return SILT_OK;
    bundler *b = ARENA_NEW(a, bundler);
    if (!b) return error_no_memory(err);
    *b = (bundler){.node = node, .arena = a, .files = ARENA_ARRAY(a, n + 1, scan_file), .paths = ARENA_ARRAY(a, n + 1, str)};
    if (node->wants) b->wants = ARENA_ARRAY(a, n + 1, parquet_want *);
    if (!b->files || !b->paths || !b->wants != !node->wants) return error_no_memory(err);
    buf_init(&b->bytes, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < n && !b->broken; i++) take_file(b, i);
    bool ok = end_bundles(b);
    close_bundler(b);
    return hand_over(b, ok, err);
}

void scan_bundle_remove(scan_node *node) {
    for (size_t i = 0; i < node->n_bundles; i++) (void)unlink(node->bundles[i].ptr);
    node->n_bundles = 0;
}
