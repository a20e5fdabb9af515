/*
 * Reading objects: one range, and many at once.
 *
 * Many small ranges (the commits of a log, column chunks of small files) are one loop over all their requests, since each of them is mostly a wait: a thread for each would cost more than the request.
 * Large ones are read by threads, which also share the work of TLS and of what is done with the bytes. The loop knows only how things go well: whatever an answer is but the bytes, an error, a lesson to be
 * learned (a region, a clock), is left to the way of a single range.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "store/object/object_internal.h"

/* ---- one range ---- */

typedef struct read_state {
    buf *out;
    size_t before;          /* what was in it */
    int64_t offset, length; /* the range asked for; length < 0: to the end */
    int64_t seen;           /* of the body, in this attempt */
    bool windowed;          /* more came than was asked for: only what is of the range was kept */
} read_state;

/* What of the body's bytes [at, at + bytes.len) is of the range. */
static str in_range(const read_state *state, int64_t at, str bytes) {
    int64_t from = state->offset > at ? state->offset - at : 0, to = state->offset + state->length - at;
    if (to > (int64_t)bytes.len) to = (int64_t)bytes.len;
    return to > from ? str_slice(bytes, (size_t)from, (size_t)to) : STR("");
}

/*
 * A server without ranges sends all of the object, which may be far more than there is room for: as soon as it is more than the range, what is not of it is dropped. `out` holds the body's
 * begin until then.
 */
static void window(read_state *state) {
    if (!state->windowed && state->out->len > state->before) {
        str part = in_range(state, 0, (str){state->out->ptr + state->before, state->out->len - state->before});
        memmove(state->out->ptr + state->before, part.ptr, part.len);
        state->out->len = state->before + part.len;
    }
    state->windowed = true;
}

static silt_status take_bytes(void *ctx, int64_t offset, str bytes, silt_error *err) {
    read_state *state = ctx;
    if (offset == 0) { /* another attempt */
        state->out->len = state->before;
        state->windowed = false;
    }
    state->seen = offset + (int64_t)bytes.len;
    if (state->length >= 0 && state->seen > state->length) window(state);
    buf_append(state->out, state->windowed ? in_range(state, offset, bytes) : bytes);
    return buf_ok(state->out) ? SILT_OK : error_no_memory(err);
}

/* "bytes 10-19/100"; an emulator says "bytes 10-9/10" for nothing behind the end. */
static bool parse_content_range(str text, int64_t *out_from, int64_t *out_to) {
    str head, size;
    if (!str_starts_with(text, STR("bytes "))) return false;
    str rest = str_slice(text, 6, text.len);
    if (!str_next(&rest, '-', &head) || !str_to_i64(head, out_from)) return false;
    if (!str_next(&rest, '/', &size) || !str_to_i64(size, out_to)) return false;
    return *out_from >= 0 && *out_to >= *out_from - 1 && *out_to < INT64_MAX;
}

/* A server may send all although a part was asked for; then the part is cut out of it. */
static silt_status cut_range(read_state *state, int64_t offset, int64_t length) {
    size_t got = state->out->len - state->before;
    if (state->windowed) return SILT_OK;
    size_t from = (uint64_t)offset < got ? (size_t)offset : got, n = got - from;
    if (length >= 0 && (uint64_t)length < n) n = (size_t)length;
    if (n > 0 && from > 0) memmove(state->out->ptr + state->before, state->out->ptr + state->before + from, n);
    state->out->len = state->before + n;
    return SILT_OK;
}

/* What is in the buffer could be of an attempt before, where the last one had no bytes at all. */
static bool is_whole(const http_response *r, const read_state *state) {
    int64_t told;
    str length = http_header_get(r, "content-length");
    if (str_is_null(length) || !str_is_null(http_header_get(r, "content-encoding"))) return true;
    return str_to_i64(length, &told) && told == state->seen;
}

static silt_status check_part(object_store *o, const http_response *r, const read_state *state, int64_t offset, int64_t length, silt_error *err) {
    int64_t from, to;
    int64_t got = (int64_t)(state->out->len - state->before);
    if (!parse_content_range(http_header_get(r, "content-range"), &from, &to)) return object_bad_answer(o, "Reading", "a part without Content-Range", err);
    bool right = from == offset && to - from + 1 == got && (length < 0 || got <= length);
    return right ? SILT_OK : object_bad_answer(o, "Reading", "another part of the object than was asked for", err);
}

/* The Range header; null: all of it. A range that ends beyond what a number can tell ends at the end. */
static str range_header(int64_t offset, int64_t length, arena *a) {
    if (length < 0 || length > INT64_MAX - offset) return arena_printf(a, "bytes=%lld-", (long long)offset);
    return arena_printf(a, "bytes=%lld-%lld", (long long)offset, (long long)(offset + length - 1));
}

/* The request for a range; its bytes go to `state`. headers has room for OBJECT_HEADERS. */
static silt_status make_request(object_store *o, str key, int64_t offset, int64_t length, read_state *state, http_header *headers, http_request *out, arena *a, silt_error *err) {
    TRY(object_request_begin(o, OBJECT_READ, key, headers, out, a, err));
    bool part = offset > 0 || length >= 0;
    if (part && !object_add_header(out, "Range", range_header(offset, length, a))) return error_no_memory(err);
    out->sink = take_bytes;
    out->sink_ctx = state;
    out->expected_bytes = length;
    out->repeatable = true;
    return SILT_OK;
}

/* Are those the bytes that were asked for? */
static silt_status check_answer(object_store *o, str key, int64_t offset, int64_t length, read_state *state, const http_response *answer, arena *a, silt_error *err) {
    bool part = offset > 0 || length >= 0;
    if (answer->status == 416 && part) { /* the object is there, and ends before */
        state->out->len = state->before;
        return SILT_OK;
    }
    if (!http_is_ok(answer)) return object_error_of(o, answer, "Reading", key, a, err);
    if (!is_whole(answer, state)) return object_bad_answer(o, "Reading", "not as long as it says", err);
    if (answer->status == 206) return check_part(o, answer, state, offset, length, err);
    return part ? cut_range(state, offset, length) : SILT_OK;
}

static void take_back(read_state *state) {
    if (state->before == 0) buf_clear(state->out);
    state->out->len = state->before;
    state->out->failed = false;
}

/* ---- of which version ---- */

typedef enum tag_verdict { TAG_RIGHT, TAG_OTHER } tag_verdict;

#define OTHERS_MAX 6 /* fewer than LOG_REWRITES_MAX; nobody writes an object anew so often: a service that spells its tags in answers in a way of its own */

static str without_weakness(str tag) { return str_starts_with(tag, STR("W/")) ? str_slice(tag, 2, tag.len) : tag; }

/* What something between has made of it: W/"x", "x-gzip". */
static bool is_spelt_otherwise(str tag, str wanted) {
    return str_starts_with(tag_without_quotes(without_weakness(tag)), tag_without_quotes(without_weakness(wanted)));
}

/* Where nothing is asked for, or answers tell nothing, all is right. */
static tag_verdict compare_tags(object_store *o, str wanted, const http_response *answer) {
    if (str_is_null(wanted) || !o->driver->tag_of || atomic_load(&o->tags.odd)) return TAG_RIGHT;
    str tag = http_is_ok(answer) ? o->driver->tag_of(answer) : STR(""); /* a range beyond the end: the object had more bytes */
    if (!str_is_null(tag) && str_eq(tag, wanted)) {
        atomic_store(&o->tags.seen, true);
        return TAG_RIGHT;
    }
    if (!str_is_null(tag) && !is_spelt_otherwise(tag, wanted)) return TAG_OTHER;
    atomic_store(&o->tags.odd, true);
    return TAG_RIGHT;
}

static silt_status check_tag(object_store *o, str path, str wanted, const http_response *answer, silt_error *err) {
    if (compare_tags(o, wanted, answer) == TAG_RIGHT) return SILT_OK;
    if (atomic_fetch_add(&o->tags.others, 1) >= OTHERS_MAX) {
        atomic_store(&o->tags.odd, true);
        return SILT_OK;
    }
    return store_path_error(&o->base, path, err_STORE_OBJECT_CHANGED, err);
}

bool object_store_proves_tags(store *s) {
    const object_store *o = (const object_store *)s;
    return atomic_load(&o->tags.seen) && !atomic_load(&o->tags.odd);
}

static silt_status read_object(object_store *o, str path, int64_t offset, int64_t length, str tag, buf *out, arena *a, silt_error *err) {
    str key = object_key(path);
    http_header headers[OBJECT_HEADERS];
    http_request r;
    http_response answer;
    read_state state = {.out = out, .before = out->len, .offset = offset, .length = length};
    TRY(make_request(o, key, offset, length, &state, headers, &r, a, err));
    silt_status status = object_send(o, &r, "Reading", a, &answer, err);
    if (status == SILT_OK) status = check_answer(o, key, offset, length, &state, &answer, a, err);
    if (status == SILT_OK) status = check_tag(o, path, tag, &answer, err);
    if (status != SILT_OK) take_back(&state);
    return status;
}

/* A part that no object reaches is not asked for: services differ in what they make of such numbers. */
#define OBJECT_MAX_BYTES (INT64_C(1) << 52)

silt_status object_store_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    return object_store_read_tagged(s, path, offset, length, STR_NULL, out, err);
}

silt_status object_store_read_tagged(store *s, str path, int64_t offset, int64_t length, str tag, buf *out, silt_error *err) {
    store_entry entry;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status;
    if (length == 0 || offset >= OBJECT_MAX_BYTES) {
        status = s->ops->stat(s, path, a, &entry, err);
        if (status == SILT_OK && entry.is_dir) status = store_path_error(s, path, err_FILE_NOT_FOUND, err);
    } else {
        status = read_object((object_store *)s, path, offset, length > OBJECT_MAX_BYTES ? -1 : length, tag, out, a, err);
    }
    arena_free(a);
    return status;
}

/* ---- many ranges ---- */

#define SMALL_BYTES      ((int64_t)256 << 10) /* on average */
#define FEW              8                    /* ranges: not worth a loop */
#define CONNECTIONS_FROM 64
#define PER_CONNECTION   4 /* requests that a further connection must be good for, since it costs a handshake */
#define LOOPS_MAX        4 /* and half of the processors: the others have something to do with what was read */
#define AT_ONCE          1024 /* requests made before the first is sent */

typedef struct many {
    object_store *o;
    store_range *ranges;
    size_t n;
    const store_read_options *options;
    size_t n_loops;
    int in_flight; /* of each loop */
    bool enough;   /* atomic: something is left to the other way, which begins when all loops have ended */
} many;

/* What one loop has under way, all arrays of `count`. */
typedef struct loop {
    const many *m;
    size_t *indices; /* of ranges */
    size_t count;
    http_request *requests;
    http_header *headers;
    http_response *answers;
    silt_status *statuses;
    read_state *states;
    arena *a;
    bool *enough;
    silt_status failed; /* what `done` said */
    silt_error *err;
} loop;

static bool is_wanted(const store_range *r) { return r->length > 0 && r->offset < OBJECT_MAX_BYTES && r->length <= OBJECT_MAX_BYTES; }

/* The range is whole, or is known to be missing, or stays SILT_CANCELLED for the other way. */
static bool range_ended(void *ctx, size_t k) {
    loop *l = ctx;
    const store_read_options *o = l->m->options;
    store_range *r = &l->m->ranges[l->indices[k]];
    silt_error why = {0};
    silt_status status = l->statuses[k];
    if (status == SILT_OK) status = check_answer(l->m->o, object_key(r->path), r->offset, r->length, &l->states[k], &l->answers[k], l->a, &why);
    if (status == SILT_OK && compare_tags(l->m->o, r->tag, &l->answers[k]) != TAG_RIGHT) status = SILT_CANCELLED; /* the other way says so, or has the right one by then */
    bool missing = l->statuses[k] == SILT_OK && status == SILT_NOT_FOUND && o->keep_going;
    if (status != SILT_OK) take_back(&l->states[k]);
    if (missing) r->status = SILT_NOT_FOUND;
    if (status == SILT_OK) {
        if (o->done) status = o->done(o->ctx, l->indices[k], &why);
        r->status = status;
        if (status != SILT_OK && l->failed == SILT_OK) {
            l->failed = status;
            if (l->err) *l->err = why;
        }
    }
    if (status != SILT_OK && !missing) __atomic_store_n(l->enough, true, __ATOMIC_RELAXED);
    return !__atomic_load_n(l->enough, __ATOMIC_RELAXED);
}

static silt_status make_requests(loop *l, silt_error *err) {
    l->requests = ARENA_ARRAY(l->a, l->count, http_request);
    l->headers = ARENA_ARRAY(l->a, l->count * OBJECT_HEADERS, http_header);
    l->answers = ARENA_ARRAY(l->a, l->count, http_response);
    l->statuses = ARENA_ARRAY(l->a, l->count, silt_status);
    l->states = ARENA_ARRAY(l->a, l->count, read_state);
    if (!l->requests || !l->headers || !l->answers || !l->statuses || !l->states) return error_no_memory(err);
    for (size_t k = 0; k < l->count; k++) {
        store_range *r = &l->m->ranges[l->indices[k]];
        l->states[k] = (read_state){.out = r->out, .before = r->out->len, .offset = r->offset, .length = r->length};
        TRY(make_request(l->m->o, object_key(r->path), r->offset, r->length, &l->states[k], l->headers + k * OBJECT_HEADERS, &l->requests[k], l->a, err));
        l->requests[k].cancel = l->m->options->cancel;
        l->requests[k].what = "Reading";
        l->requests[k].sign = l->m->o->sign;
        l->requests[k].sign_ctx = l->m->o;
    }
    return SILT_OK;
}

/* Failures of transport are left to the other way too, which has patience of its own; being cancelled and out of memory are not. */
static silt_status run_loop(loop *l, silt_error *err) {
    silt_error why = {0};
    l->err = err;
    TRY(make_requests(l, err));
    silt_status status = http_send_each(l->m->o->client, l->requests, l->count, l->m->in_flight, l->a, l->answers, l->statuses, range_ended, l, &why);
    if (l->failed != SILT_OK) return l->failed;
    if (status != SILT_CANCELLED && status != SILT_NO_MEMORY) return SILT_OK;
    if (err) *err = why;
    return status;
}

/* Every n_loops-th range, AT_ONCE at a time. */
static silt_status nth_loop(void *ctx, size_t nth, silt_error *err) {
    many *m = ctx;
    size_t next = nth;
    silt_status status = SILT_OK;
    arena *a = arena_new();
    size_t *indices = a ? malloc(AT_ONCE * sizeof *indices) : NULL;
    if (!indices) status = error_no_memory(err);
    while (status == SILT_OK && next < m->n && !__atomic_load_n(&m->enough, __ATOMIC_RELAXED)) {
        loop l = {.m = m, .indices = indices, .a = a, .enough = &m->enough};
        for (; next < m->n && l.count < AT_ONCE; next += m->n_loops)
            if (is_wanted(&m->ranges[next])) indices[l.count++] = next;
        if (l.count) status = run_loop(&l, err);
        arena_reset(a);
    }
    free(indices);
    arena_free(a);
    return status;
}

/* How many connections n requests are worth. */
static int connections_for(const object_store *o, size_t n) {
    int most = http_max_connections(o->client), worth = n / PER_CONNECTION > INT_MAX ? INT_MAX : (int)(n / PER_CONNECTION);
    int wanted = worth < CONNECTIONS_FROM ? CONNECTIONS_FROM : worth;
    return wanted < most ? wanted : most;
}

static bool are_small(const store_range *ranges, size_t n) {
    int64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].length < 0 || ranges[i].length > OBJECT_MAX_BYTES / 1024) return false;
        bytes += ranges[i].length;
    }
    return bytes / (int64_t)n <= SMALL_BYTES;
}

/* Those that did not come whole, one by one. */
typedef struct rest {
    const many *m;
    size_t *indices;
} rest;

static silt_status read_rest(void *ctx, size_t k, silt_error *err) {
    const rest *r = ctx;
    return store_read_range(&r->m->o->base, r->m->ranges, r->indices[k], r->m->options, err);
}

static silt_status read_others(const many *m, int in_flight, silt_error *err) {
    size_t count = 0;
    rest r = {m, malloc((m->n + 1) * sizeof *r.indices)};
    if (!r.indices) return error_no_memory(err);
    for (size_t i = 0; i < m->n; i++)
        if (m->ranges[i].status == SILT_CANCELLED) r.indices[count++] = i;
    silt_status status = thread_for(in_flight, count, read_rest, &r, err);
    free(r.indices);
    return status;
}

silt_status object_store_read_many(store *s, store_range *ranges, size_t n, const store_read_options *options, silt_error *err) {
    many m = {.o = (object_store *)s, .ranges = ranges, .n = n, .options = options};
    int in_flight = options->in_flight > 0 ? options->in_flight : n > FEW && are_small(ranges, n) ? connections_for(m.o, n) : store_parallel(s);
    if (n > FEW && are_small(ranges, n)) {
        size_t loops = (size_t)thread_count_default() / 2, worth = (size_t)in_flight / CONNECTIONS_FROM;
        m.n_loops = loops > LOOPS_MAX ? LOOPS_MAX : loops ? loops : 1;
        if (m.n_loops > worth) m.n_loops = worth ? worth : 1;
        m.in_flight = in_flight / (int)m.n_loops;
        TRY(thread_for((int)m.n_loops, m.n_loops, nth_loop, &m, err));
    }
    return read_others(&m, in_flight < store_parallel(s) ? in_flight : store_parallel(s), err);
}
