/*
 * The log's JSON, PROTOCOL.md "Actions". One pass: simdjson's first stage finds the tokens of the whole piece, the cursor walks
 * them, and of an add only the members that a file list needs are looked at. A statistics string is not even unescaped: its place
 * in the file is noted, and the number of records where it stands first in it, as every known writer puts it.
 */
#include "delta/log_parse.h"

#include <stdlib.h>

#include "delta/json_walk.h"
#include "delta/log_door.h"

struct log_parser {
    log_door *door;
    buf text;     /* the piece that was read */
    buf scratch;  /* unescaped strings of one action */
    arena *arena; /* partition maps of one action */
};

log_parser *log_parser_new(void) {
    log_parser *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    buf_init(&p->text, BUF_MAX_DEFAULT);
    buf_init(&p->scratch, BUF_MAX_DEFAULT);
    p->door = log_door_new();
    p->arena = arena_new();
    if (!p->door || !p->arena) {
        log_parser_free(p);
        return NULL;
    }
    return p;
}

void log_parser_free(log_parser *p) {
    if (!p) return;
    log_door_free(p->door);
    arena_free(p->arena);
    buf_dispose(&p->text);
    buf_dispose(&p->scratch);
    free(p);
}

/* One walk over a piece. */
typedef struct parse {
    log_parser *p;
    json_walk w;
    const log_piece *piece;
    int64_t offset; /* of w.text in its file */
    file_batch *batch;
    raw_actions *actions;
    arena *arena;
    bool no_memory;
} parse;

static bool out_of_memory(parse *x) {
    x->no_memory = true;
    return json_walk_fail(&x->w, "");
}

/* ---- strings ---- */

/* Copy a raw string into the batch, its escapes resolved. */
static bool take_text(parse *x, str raw, uint32_t *out_offset, uint32_t *out_len) {
    str s = raw;
    if (!json_raw_is_plain(raw)) {
        buf_clear(&x->p->scratch);
        if (!json_raw_unescape(raw, &x->p->scratch))
            return x->p->scratch.failed ? out_of_memory(x) : json_walk_fail(&x->w, "a string has an invalid escape");
        s = buf_str(&x->p->scratch);
    }
    if (!file_batch_string(x->batch, s, out_offset)) return out_of_memory(x);
    *out_len = (uint32_t)s.len;
    return true;
}

static bool take_string(parse *x, uint32_t *out_offset, uint32_t *out_len, bool *out_null) {
    str raw;
    if (!json_walk_string(&x->w, &raw)) return false;
    *out_null = raw.ptr == NULL;
    return *out_null || take_text(x, raw, out_offset, out_len);
}

/* An unescaped copy in the scratch arena. */
static bool scratch_string(parse *x, str raw, str *out) {
    buf_clear(&x->p->scratch);
    if (!json_raw_unescape(raw, &x->p->scratch))
        return x->p->scratch.failed ? out_of_memory(x) : json_walk_fail(&x->w, "a string has an invalid escape");
    *out = arena_str(x->p->arena, buf_str(&x->p->scratch));
    return out->ptr || out_of_memory(x);
}

/* ---- partition values ---- */

/* A value of partitionValues: a string or null; numbers and booleans are taken as their text, as Jackson does. */
static bool partition_value(parse *x, str *out) {
    char c = json_walk_peek(&x->w);
    str raw;
    if (c == '"' || c == 'n') {
        if (!json_walk_string(&x->w, &raw)) return false;
        *out = STR_NULL;
        return raw.ptr == NULL || scratch_string(x, raw, out);
    }
    if (c == '{' || c == '[') return json_walk_fail(&x->w, "a partition value must be a string");
    return json_walk_value(&x->w, out);
}

static bool parse_partition(parse *x, str raw, uint32_t *out) {
    arena_reset(x->p->arena);
    str *keys = NULL, *values = NULL;
    size_t n = 0, n_values = 0, keys_capacity = 0, values_capacity = 0;
    str key, value;
    for (bool more = json_walk_begin(&x->w, &key); more; more = json_walk_next(&x->w, &key)) {
        if (!scratch_string(x, key, &key) || !partition_value(x, &value)) return false;
        if (!ARENA_PUSH(x->p->arena, keys, n, keys_capacity, key) ||
            !ARENA_PUSH(x->p->arena, values, n_values, values_capacity, value))
            return out_of_memory(x);
    }
    if (x->w.error) return false;
    *out = file_batch_add_partition(x->batch, raw, &(str_map){.keys = keys, .values = values, .count = n});
    return *out != UINT32_MAX || out_of_memory(x);
}

/* Most files of a commit share few maps: the raw text is looked up before anything in it is. */
static bool take_partition(parse *x, file_row *row) {
    if (json_walk_null(&x->w)) return true;
    size_t start = x->w.at;
    str raw;
    if (json_walk_peek(&x->w) != '{') return json_walk_fail(&x->w, "partitionValues must be an object");
    if (!json_walk_value(&x->w, &raw)) return false;
    row->partition = file_batch_find_partition(x->batch, raw);
    row->flags |= ROW_HAS_PARTITION;
    if (row->partition != UINT32_MAX) return true;
    x->w.at = start;
    return parse_partition(x, raw, &row->partition);
}

/* ---- deletion vectors and statistics ---- */

static bool take_dv(parse *x, file_row *row) {
    if (json_walk_null(&x->w)) return true;
    batch_dv dv = {.offset = -1};
    bool null, has_text = false;
    str key;
    for (bool more = json_walk_begin(&x->w, &key); more; more = json_walk_next(&x->w, &key)) {
        int64_t number = -1;
        if (str_eq(key, STR("storageType"))) {
            str raw;
            if (!json_walk_string(&x->w, &raw)) return false;
            if (raw.ptr && raw.len != 1) return json_walk_fail(&x->w, "deletionVector.storageType must be one character");
            dv.storage = raw.ptr ? raw.ptr[0] : 0;
        } else if (str_eq(key, STR("pathOrInlineDv"))) {
            if (!take_string(x, &dv.path, &dv.path_len, &null)) return false;
            has_text = !null;
        } else if (str_eq(key, STR("offset"))) {
            if (!json_walk_i64(&x->w, &number)) return false;
            if (number < -1 || number > INT32_MAX) return json_walk_fail(&x->w, "deletionVector.offset is out of range");
            dv.offset = (int32_t)number;
        } else if (str_eq(key, STR("sizeInBytes"))) {
            if (!json_walk_i64(&x->w, &number)) return false;
            if (number < 0 || number > INT32_MAX) return json_walk_fail(&x->w, "deletionVector.sizeInBytes is out of range");
            dv.size_bytes = (int32_t)number;
        } else if (str_eq(key, STR("cardinality"))) {
            if (!json_walk_i64(&x->w, &dv.cardinality)) return false;
        } else if (!json_walk_skip(&x->w)) {
            return false;
        }
    }
    if (x->w.error) return false;
    if (!dv.storage || !has_text) return json_walk_fail(&x->w, "deletionVector needs storageType and pathOrInlineDv");
    return file_batch_push_dv(x->batch, &dv, &row->dv) || out_of_memory(x);
}

/* {\"numRecords\":N at the front of the raw text; otherwise the statistics have to be read when it is asked for. */
static int64_t records_of_raw_stats(str raw) {
    static const char front[] = "{\\\"numRecords\\\":";
    size_t at = sizeof front - 1;
    if (raw.len <= at || memcmp(raw.ptr, front, at) != 0) return ROW_RECORDS_UNKNOWN;
    int64_t n = 0;
    size_t digits = at;
    for (; digits < raw.len && digits < at + 18 && raw.ptr[digits] >= '0' && raw.ptr[digits] <= '9'; digits++)
        n = n * 10 + (raw.ptr[digits] - '0');
    bool ends = digits > at && digits < raw.len && (raw.ptr[digits] == ',' || raw.ptr[digits] == '}');
    return ends ? n : ROW_RECORDS_UNKNOWN;
}

static bool take_stats(parse *x, file_row *row) {
    if (json_walk_peek(&x->w) != '"') return json_walk_skip(&x->w); /* null, or not what the protocol says: no statistics */
    str raw;
    if (!json_walk_string(&x->w, &raw)) return false;
    if (raw.len > UINT32_MAX - 2) return json_walk_fail(&x->w, "stats is too long");
    row->stats_len = (uint32_t)raw.len + 2;
    row->stats_offset = x->offset + (raw.ptr - 1 - x->w.text);
    row->num_records = records_of_raw_stats(raw);
    row->flags |= ROW_HAS_STATS;
    return true;
}

/* ---- add and remove ---- */

static bool take_tags(parse *x, file_extra *extra) {
    if (json_walk_null(&x->w)) return true;
    str raw;
    if (!json_walk_value(&x->w, &raw)) return false;
    if (!file_batch_string(x->batch, raw, &extra->tags)) return out_of_memory(x);
    extra->tags_len = (uint32_t)raw.len;
    return true;
}

static void set_flag(file_row *row, uint32_t flag, bool on) { row->flags = on ? row->flags | flag : row->flags & ~flag; }

/* Members that add and remove share, and those of one of them. */
static bool take_member(parse *x, str key, file_row *row, file_extra *extra, bool *has_path) {
    bool remove = file_row_is_remove(row), flag, null;
    json_walk *w = &x->w;
    switch (key.len) {
        case 4:
            if (str_eq(key, STR("path"))) {
                if (!take_string(x, &row->path, &row->path_len, &null)) return false;
                *has_path = !null && row->path_len > 0;
                return true;
            }
            if (str_eq(key, STR("size"))) return json_walk_i64(w, &row->size_bytes);
            if (str_eq(key, STR("tags"))) return take_tags(x, extra);
            break;
        case 5:
            if (str_eq(key, STR("stats"))) return take_stats(x, row);
            break;
        case 9:
            if (str_eq(key, STR("baseRowId"))) return json_walk_i64(w, &extra->base_row_id);
            break;
        case 10:
            if (str_eq(key, STR("dataChange"))) {
                flag = (row->flags & ROW_DATA_CHANGE) != 0;
                if (!json_walk_bool(w, &flag)) return false;
                set_flag(row, ROW_DATA_CHANGE, flag);
                return true;
            }
            break;
        case 14:
            if (str_eq(key, STR("deletionVector"))) return take_dv(x, row);
            break;
        case 15:
            if (str_eq(key, STR("partitionValues"))) return take_partition(x, row);
            break;
        case 16:
            if (!remove && str_eq(key, STR("modificationTime"))) return json_walk_i64(w, &row->time_ms);
            break;
        case 17:
            if (remove && str_eq(key, STR("deletionTimestamp"))) return json_walk_i64(w, &row->time_ms);
            break;
        case 18:
            if (!remove && str_eq(key, STR("clusteringProvider")))
                return take_string(x, &extra->clustering, &extra->clustering_len, &null);
            break;
        case 20:
            if (remove && str_eq(key, STR("extendedFileMetadata"))) {
                flag = false;
                if (!json_walk_bool(w, &flag)) return false;
                set_flag(row, ROW_EXTENDED, flag);
                return true;
            }
            break;
        case 23:
            if (str_eq(key, STR("defaultRowCommitVersion"))) return json_walk_i64(w, &extra->default_row_commit_version);
            break;
        default: break;
    }
    return json_walk_skip(w);
}

static bool take_file(parse *x, bool remove) {
    if (json_walk_null(&x->w)) return true;
    file_row row = {.flags = ROW_DATA_CHANGE | (remove ? ROW_REMOVE : 0),
                    .size_bytes = remove ? -1 : 0,
                    .time_ms = remove ? -1 : 0,
                    .num_records = ROW_RECORDS_ABSENT};
    file_extra extra = {.base_row_id = -1, .default_row_commit_version = -1};
    bool has_path = false;
    str key;
    for (bool more = json_walk_begin(&x->w, &key); more; more = json_walk_next(&x->w, &key))
        if (!take_member(x, key, &row, &extra, &has_path)) return false;
    if (x->w.error) return false;
    if (!has_path) return json_walk_fail(&x->w, remove ? "remove has no path" : "add has no path");
    return file_batch_push(x->batch, &row, &extra) || out_of_memory(x);
}

/* ---- lines ---- */

static bool rare_kind(str key, action_kind *out) {
    static const struct {
        const char *name;
        action_kind kind;
    } table[] = {
        {"commitInfo", ACTION_COMMIT_INFO}, {"protocol", ACTION_PROTOCOL}, {"metaData", ACTION_METADATA}, {"txn", ACTION_TXN},
        {"domainMetadata", ACTION_DOMAIN},  {"sidecar", ACTION_SIDECAR}, {"cdc", ACTION_CDC},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_eqz(key, table[i].name)) {
            *out = table[i].kind;
            return true;
        }
    return false;
}

static bool take_rare(parse *x, action_kind kind, size_t line) {
    if (json_walk_null(&x->w)) return true;
    str text;
    if (json_walk_peek(&x->w) != '{') return json_walk_fail(&x->w, "an action must be an object");
    if (!json_walk_value(&x->w, &text)) return false;
    if (kind == ACTION_COMMIT_INFO && !x->piece->want_commit_info) return true;
    if (kind == ACTION_CDC && !x->piece->want_cdc) return true;
    raw_action action = {.kind = kind,
                         .version = x->piece->version,
                         .text = arena_str(x->arena, text),
                         .path = x->piece->path,
                         .line_offset = x->offset + (int64_t)line};
    if (!action.text.ptr || !ARENA_PUSH(x->arena, x->actions->items, x->actions->count, x->actions->capacity, action))
        return out_of_memory(x);
    return true;
}

static bool take_action(parse *x, str key, size_t line) {
    action_kind kind;
    if (str_eq(key, STR("add"))) return take_file(x, false);
    if (str_eq(key, STR("remove"))) return take_file(x, true);
    if (rare_kind(key, &kind)) return take_rare(x, kind, line);
    return json_walk_skip(&x->w);
}

/* One action: an object by itself. The protocol puts each on one line of its own; some hand-made logs spread one over several,
 * which Delta reads too. */
static bool take_line(parse *x) {
    json_walk *w = &x->w;
    size_t start = json_walk_offset(w);
    str key;
    for (bool more = json_walk_begin(w, &key); more; more = json_walk_next(w, &key))
        if (!take_action(x, key, start)) return false;
    if (w->error) return false;
    size_t end = w->positions[w->at - 1];
    if (json_walk_done(w)) return true;
    size_t next = json_walk_offset(w);
    if (!memchr(w->text + end, '\n', next - end)) return json_walk_fail(w, "more follows on the line");
    return true;
}

/* The piece as a whole could not be indexed: which line is it? */
static size_t bad_line(log_parser *p, const char *text, size_t len) {
    buf line;
    buf_init(&line, BUF_MAX_DEFAULT);
    size_t at = 0, found = 0;
    while (at < len) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - text) : len;
        const uint32_t *positions;
        size_t count;
        buf_clear(&line);
        buf_append_bytes(&line, text + at, end - at);
        if (!buf_reserve(&line, LOG_DOOR_PADDING)) break;
        if (log_door_index(p->door, line.ptr, line.len, &positions, &count)) {
            found = at;
            break;
        }
        at = end + 1;
    }
    buf_dispose(&line);
    return found;
}

silt_status log_parse_text(log_parser *p, const char *text, size_t len, const log_piece *piece, int64_t offset, file_batch *batch,
                           raw_actions *actions, arena *a, size_t *out_bad, silt_error *err) {
    const uint32_t *positions;
    size_t count;
    *out_bad = 0;
    const char *why = log_door_index(p->door, text, len, &positions, &count);
    if (why && !*why) return error_no_memory(err);
    if (why) {
        *out_bad = bad_line(p, text, len);
        silt_status s = err_DELTA_LOG_FILE_CORRUPT(err, piece->path, 0);
        error_detail(err, "%s", why);
        return s;
    }
    parse x = {.p = p,
               .w = json_walk_start(text, positions, count),
               .piece = piece,
               .offset = offset,
               .batch = batch,
               .actions = actions,
               .arena = a};
    while (!json_walk_done(&x.w)) {
        size_t start = json_walk_offset(&x.w);
        if (take_line(&x)) continue;
        if (x.no_memory) return error_no_memory(err);
        *out_bad = start;
        silt_status s = err_DELTA_LOG_FILE_CORRUPT(err, piece->path, 0);
        error_detail(err, "%s", x.w.error ? x.w.error : "it cannot be read");
        return s;
    }
    return SILT_OK;
}

silt_status log_parse_bad_line(store *s, str path, int64_t offset, const char *why, silt_error *err) {
    int64_t line = 1, at = 0;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    while (at < offset) {
        int64_t want = offset - at < (4 << 20) ? offset - at : 4 << 20;
        buf_clear(&text);
        if (store_read(s, path, at, want, &text, NULL) != SILT_OK || text.len == 0) break;
        for (size_t i = 0; i < text.len; i++) line += text.ptr[i] == '\n';
        at += (int64_t)text.len;
    }
    buf_dispose(&text);
    arena *a = arena_new();
    silt_status status = err_DELTA_LOG_FILE_CORRUPT(err, a ? store_path_named(s, path, a) : path, line);
    error_detail(err, "%s", why);
    arena_free(a);
    return status;
}

/* ---- reading a piece ---- */

#define EXTEND_BYTES (1 << 16)

static silt_status read_bytes(store *s, str path, int64_t from, int64_t length, buf *out, silt_error *err) {
    silt_status status = store_read(s, path, from, length, out, err);
    return status == SILT_NOT_FOUND ? store_path_error(s, path, err_DELTA_LOG_FILE_NOT_FOUND, err) : status;
}

/* The lines that start in [from, to): one byte before tells whether a line starts at `from`, and the last line may reach beyond
 * `to`. */
static silt_status read_piece(log_parser *p, store *s, const log_piece *piece, size_t *out_start, silt_error *err) {
    buf *text = &p->text;
    buf_clear(text);
    *out_start = 0;
    int64_t from = piece->from > 0 ? piece->from - 1 : 0;
    if (piece->to >= 0 && !buf_reserve(text, (size_t)(piece->to - from) + EXTEND_BYTES)) return error_no_memory(err);
    TRY(read_bytes(s, piece->path, from, piece->to < 0 ? -1 : piece->to - from, text, err));
    if (piece->from > 0) {
        const char *newline = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
        if (!newline) {
            text->len = 0;
            return SILT_OK;
        }
        *out_start = (size_t)(newline - text->ptr) + 1;
    }
    if (piece->to < 0 || *out_start >= text->len) return SILT_OK; /* no line starts here */
    while (text->len > 0 && text->ptr[text->len - 1] != '\n') {
        size_t before = text->len;
        TRY(read_bytes(s, piece->path, from + (int64_t)before, EXTEND_BYTES, text, err));
        if (text->len == before) break;
        const char *newline = memchr(text->ptr + before, '\n', text->len - before);
        if (newline) text->len = (size_t)(newline - text->ptr) + 1;
    }
    return SILT_OK;
}

silt_status log_parse_file(log_parser *p, store *s, const log_piece *piece, file_batch *batch, raw_actions *actions, arena *a,
                           silt_error *err) {
    if (!file_batch_add_source(batch, piece->path, piece->version, false)) return error_no_memory(err);
    size_t start, bad;
    TRY(read_piece(p, s, piece, &start, err));
    if (start >= p->text.len) return SILT_OK;
    if (!buf_reserve(&p->text, LOG_DOOR_PADDING)) return error_no_memory(err);
    int64_t offset = (piece->from > 0 ? piece->from - 1 : 0) + (int64_t)start;
    silt_status status = log_parse_text(p, p->text.ptr + start, p->text.len - start, piece, offset, batch, actions, a, &bad, err);
    if (status != SILT_CORRUPT) return status;
    char why[sizeof err->detail];
    memcpy(why, err ? err->detail : "", err ? sizeof why : 1);
    return log_parse_bad_line(s, piece->path, offset + (int64_t)bad, why, err);
}
