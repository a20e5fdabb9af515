/* ArrowArrayStream around what a statement gave. The stream owns the result, and keeps its last error and message. */
#include <errno.h>
#include <stdlib.h>

#include "api/api.h"

typedef struct stream_state {
    statement_result *result; /* or the rows below */
    arena *a;
    const data_type *type;
    arrow_builder *rows;
    silt_error error;
    char text[1200];
    char *message;
} stream_state;

static int errno_of(silt_status status) {
    switch (status) {
    case SILT_OK: return 0;
    case SILT_NO_MEMORY: return ENOMEM;
    case SILT_CANCELLED: return ECANCELED;
    case SILT_INVALID:
    case SILT_CONSTRAINT: return EINVAL;
    case SILT_NOT_FOUND: return ENOENT;
    case SILT_DENIED: return EACCES;
    default: return EIO;
    }
}

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    stream_state *s = stream->private_data;
    return errno_of(arrow_schema_from_type(s->type, out, &s->error));
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    stream_state *s = stream->private_data;
    out->release = NULL;
    if (s->error.status != SILT_OK) return errno_of(s->error.status); /* an error ends the stream */
    silt_status status = SILT_OK;
    if (s->result) {
        status = statement_result_next(s->result, out, &s->error);
    } else if (s->rows && arrow_builder_rows(s->rows) > 0) {
        status = arrow_builder_finish(s->rows, out, &s->error);
        arrow_builder_free(s->rows);
        s->rows = NULL;
    }
    if (status != SILT_OK) s->error.status = status;
    return errno_of(status);
}

static const char *stream_last_error(struct ArrowArrayStream *stream) {
    stream_state *s = stream->private_data;
    if (s->error.status == SILT_OK) return NULL;
    buf b;
    buf_init(&b, sizeof s->text);
    buf_printf(&b, "[%s] %s", s->error.condition, s->error.message);
    size_t n = b.len < sizeof s->text - 1 ? b.len : sizeof s->text - 1;
    if (n) memcpy(s->text, b.ptr, n);
    s->text[n] = '\0';
    buf_dispose(&b);
    return s->text;
}

static void stream_release(struct ArrowArrayStream *stream) {
    stream_state *s = stream->private_data;
    statement_result_free(s->result);
    arrow_builder_free(s->rows);
    arena_free(s->a);
    free(s->message);
    free(s);
    stream->release = NULL;
}

static silt_status make_stream(stream_state init, str message, struct ArrowArrayStream *out, silt_error *err) {
    stream_state *s = calloc(1, sizeof *s);
    char *copy = calloc(1, message.len + 1);
    if (!s || !copy) {
        free(s);
        free(copy);
        statement_result_free(init.result);
        arrow_builder_free(init.rows);
        arena_free(init.a);
        return error_no_memory(err);
    }
    if (message.len) memcpy(copy, message.ptr, message.len);
    *s = init;
    s->message = copy;
    *out = (struct ArrowArrayStream){stream_get_schema, stream_get_next, stream_last_error, stream_release, s};
    return SILT_OK;
}

silt_status api_stream_from_result(statement_result *result, struct ArrowArrayStream *out, silt_error *err) {
    str message = statement_result_message(result);
    return make_stream((stream_state){.result = result, .type = statement_result_type(result)}, message, out, err);
}

silt_status api_stream_from_rows(arena *a, const data_type *type, arrow_builder *rows, struct ArrowArrayStream *out, silt_error *err) {
    return make_stream((stream_state){.a = a, .type = type, .rows = rows}, STR(""), out, err);
}

static stream_state *own_state(struct ArrowArrayStream *stream) { return stream->release == stream_release ? stream->private_data : NULL; }

void silt_stream_error(struct ArrowArrayStream *stream, silt_error *out) {
    stream_state *s = own_state(stream);
    if (s) *out = s->error;
    else memset(out, 0, sizeof *out);
}

const char *silt_stream_message(struct ArrowArrayStream *stream) {
    stream_state *s = own_state(stream);
    return s ? s->message : "";
}

const char *silt_stream_note(struct ArrowArrayStream *stream) {
    stream_state *s = own_state(stream);
    return s && s->result ? statement_result_note(s->result) : "";
}

double silt_stream_progress(struct ArrowArrayStream *stream) {
    stream_state *s = own_state(stream);
    return s && s->result ? statement_result_progress(s->result) : -1;
}
