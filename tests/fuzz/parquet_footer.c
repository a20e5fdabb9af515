/* Parquet footers: any bytes are parsed or refused with a reason; what is taken has a consistent tree, and every name and bound lies inside the bytes. The schema is inferred from it. */
#include <stdlib.h>

#include "table/parquet_fetch.h"
#include "table/parquet_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim) {
    if (!claim) abort();
}

static void inside(str s, str bytes) {
    if (s.len == 0) return;
    must(s.ptr >= bytes.ptr && s.ptr + s.len <= bytes.ptr + bytes.len);
}

static void check_footer(const parquet_footer *f, str bytes) {
    uint32_t leaves = 0;
    for (size_t i = 0; i < f->n_elements; i++) {
        const parquet_element *e = &f->elements[i];
        inside(e->name, bytes);
        must(e->next > i && e->next <= f->n_elements);
        must(e->leaf == leaves);
        leaves += e->physical != PARQUET_GROUP;
    }
    must(leaves == f->n_leaves && f->n_rows >= 0);
    for (size_t i = 0; f->chunks && i < f->n_row_groups * f->n_leaves; i++) {
        inside(f->chunks[i].min, bytes);
        inside(f->chunks[i].max, bytes);
        inside(f->chunks[i].old_min, bytes);
        inside(f->chunks[i].old_max, bytes);
    }
}

/* Stretches of all columns: ascending, inside what stands before the footer. */
static void check_spans(const parquet_footer *f, int64_t footer_offset, arena *a) {
    const parquet_path all = {.n_names = 0};
    store_span *spans;
    size_t n;
    if (!parquet_spans(f, footer_offset, &all, 1, a, &spans, &n)) return;
    for (size_t i = 0; i < n; i++) {
        must(spans[i].offset >= 4 && spans[i].length >= 0 && spans[i].offset + spans[i].length <= footer_offset);
        must(i == 0 || spans[i].offset >= spans[i - 1].offset);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const parquet_rules rules = {.int96_as_timestamp = true, .infer_ntz = true};
    str bytes = {(const char *)data, size};
    arena *a = arena_new();
    if (!a) return 0;
    for (int with_chunks = 0; with_chunks < 2; with_chunks++) {
        parquet_footer f;
        const data_type *type;
        silt_error err = {0};
        if (parquet_footer_parse(bytes, with_chunks, a, &f, &err) != SILT_OK) {
            must(err.detail[0] != 0);
            continue;
        }
        check_footer(&f, bytes);
        if (f.chunks) check_spans(&f, (int64_t)size * 16, a);
        if (parquet_schema_type(&f, &rules, a, &type, &err) == SILT_OK) must(type->id == TYPE_STRUCT);
        else must(err.condition[0] != 0);
    }
    arena_free(a);
    return 0;
}
