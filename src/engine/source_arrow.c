/** An Arrow stream as a table source (silt_arrow): what INSERT and the C API's append read from. */
#include "engine/sources.h"

#include <stdlib.h>

typedef struct arrow_source {
    own_source own;
    struct ArrowArrayStream stream;
    arrow_input *input;
} arrow_source;

static bool holds_variant(const data_type *type) {
    if (type->id == TYPE_VARIANT) return true;
    if (type->element && holds_variant(type->element)) return true;
    if (type->key && holds_variant(type->key)) return true;
    for (size_t i = 0; i < type->n_fields; i++)
        if (holds_variant(type->fields[i].type)) return true;
    return false;
}

/* Variants come as JSON text and are parsed into what the query expects. */
static silt_status print(const own_source *s, buf *out, silt_error *err) {
    const arrow_source *source = (const arrow_source *)s;
    const data_type *schema = s->base.schema;
    buf_append_z(out, "(SELECT ");
    for (size_t i = 0; i < schema->n_fields; i++) {
        const data_type *type = schema->fields[i].type;
        if (i) buf_append_z(out, ", ");
        if (type->id == TYPE_VARIANT)
            buf_printf(out, "CAST(CAST(c%zu AS JSON) AS VARIANT) AS c%zu", i, i);
        else if (holds_variant(type))
            return err_UNSUPPORTED_FEATURE(err, "a variant inside a nested column of an Arrow stream");
        else
            buf_printf(out, "c%zu", i);
    }
    buf_printf(out, " FROM silt_arrow(%llu))", (unsigned long long)arrow_input_id(source->input));
    return SILT_OK;
}

static const silt_error *failure(const own_source *s) {
    const silt_error *e = arrow_input_error(((const arrow_source *)s)->input);
    return e->status == SILT_OK ? NULL : e;
}

static void release(table_source *t) {
    arrow_source *source = (arrow_source *)t;
    arrow_input_close(source->input);
    if (source->stream.release) source->stream.release(&source->stream);
    free(source);
}

silt_status engine_arrow_source(engine *e, struct ArrowArrayStream *stream, table_source **out, silt_error *err) {
    static const table_source_ops ops = OWN_SOURCE_OPS(release);
    arrow_source *source = calloc(1, sizeof *source);
    if (!source) {
        stream->release(stream);
        return error_no_memory(err);
    }
    source->stream = *stream;
    stream->release = NULL;
    silt_status status = arrow_input_open(e, &source->stream, NULL, &source->input, err);
    if (status != SILT_OK) {
        release(&source->own.base);
        return status;
    }
    source->own = (own_source){.engine = e, .print = print, .failure = failure};
    source->own.base = (table_source){.ops = &ops,
                                      .schema = arrow_input_type(source->input),
                                      .match = MATCH_BY_NAME,
                                      .description = STR("an Arrow stream"),
                                      .format = STR("arrow"),
                                      .location = STR(""),
                                      .version = -1};
    *out = &source->own.base;
    return SILT_OK;
}
