/**
 * Footers through DuckDB's parquet_schema(): one row per schema element, depth first, file after file. The trees are rebuilt from the numbers of children.
 */
#include "engine/scan_footer.h"

#include <stdio.h>

typedef struct element_reader {
    engine_stream stream;
    duckdb_data_chunk chunk;
    size_t at, n;
    arena *arena; /* of the current file */
    silt_error *err;
} element_reader;

typedef struct element {
    str name;
    int64_t n_children, field_id;
    bool repeated, int96;
} element;

static silt_status fetch(element_reader *r, bool *out_more) {
    while (r->at >= r->n) {
        if (r->chunk) duckdb_destroy_data_chunk(&r->chunk);
        TRY(engine_stream_next(&r->stream, &r->chunk, r->err));
        *out_more = r->chunk != NULL;
        if (!r->chunk) return SILT_OK;
        r->n = duckdb_data_chunk_get_size(r->chunk);
        r->at = 0;
    }
    *out_more = true;
    return SILT_OK;
}

static bool is_null(duckdb_vector v, size_t row) {
    uint64_t *validity = duckdb_vector_get_validity(v);
    return validity && !duckdb_validity_row_is_valid(validity, row);
}

static str text_at(const element_reader *r, idx_t column) {
    duckdb_vector v = duckdb_data_chunk_get_vector(r->chunk, column);
    if (is_null(v, r->at)) return STR("");
    duckdb_string_t *s = (duckdb_string_t *)duckdb_vector_get_data(v) + r->at;
    return (str){duckdb_string_t_data(s), duckdb_string_t_length(*s)};
}

static int64_t integer_at(const element_reader *r, idx_t column, int64_t absent) {
    duckdb_vector v = duckdb_data_chunk_get_vector(r->chunk, column);
    return is_null(v, r->at) ? absent : ((const int64_t *)duckdb_vector_get_data(v))[r->at];
}

static silt_status next_element(element_reader *r, element *out, bool *out_more) {
    TRY(fetch(r, out_more));
    if (!*out_more) return SILT_OK;
    *out = (element){.n_children = integer_at(r, 1, 0),
                     .field_id = integer_at(r, 2, -1),
                     .repeated = str_eqz(text_at(r, 3), "REPEATED"),
                     .int96 = str_eqz(text_at(r, 4), "INT96")};
    out->name = arena_str(r->arena, text_at(r, 0));
    if (!out->name.ptr) return error_no_memory(r->err);
    return SILT_OK;
}

#define MAX_DEPTH 200

static silt_status read_tree(element_reader *r, const element *e, footer_node *out, int depth) {
    *out = (footer_node){.name = e->name, .field_id = (int32_t)e->field_id, .is_repeated = e->repeated, .is_int96 = e->int96};
    if (e->n_children <= 0) return SILT_OK;
    if (depth > MAX_DEPTH || e->n_children > 1000000) return err_INTERNAL_ERROR(r->err, "a Parquet schema is nested too deeply");
    out->n_children = (size_t)e->n_children;
    out->children = ARENA_ARRAY(r->arena, out->n_children, footer_node);
    if (!out->children) return error_no_memory(r->err);
    for (size_t i = 0; i < out->n_children; i++) {
        element child;
        bool more;
        r->at++;
        TRY(next_element(r, &child, &more));
        if (!more) return err_INTERNAL_ERROR(r->err, "a Parquet schema ends early");
        TRY(read_tree(r, &child, &out->children[i], depth + 1));
    }
    return SILT_OK;
}

static silt_status open_elements(engine *e, const str *paths, size_t n, engine_stream *out, silt_error *err) {
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "SELECT name, num_children, field_id, repetition_type, type FROM parquet_schema([");
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(&sql, ", ");
        engine_write_path(&sql, paths[i]);
    }
    buf_append_z(&sql, "])");
    const char *text = buf_cstr(&sql);
    engine_connection *c = NULL;
    silt_status status = text ? engine_connect(e, &c, err) : error_no_memory(err);
    if (status == SILT_OK) status = engine_stream_open(c, text, out, err);
    buf_dispose(&sql);
    return status;
}

silt_status footers_read(engine *e, const str *local_paths, size_t n,
                         silt_status (*fn)(void *ctx, size_t file, const footer_node *root, silt_error *err), void *ctx,
                         silt_error *err) {
    element_reader r = {.arena = arena_new(), .err = err};
    if (!r.arena) return error_no_memory(err);
    silt_status status = open_elements(e, local_paths, n, &r.stream, err);
    for (size_t file = 0; status == SILT_OK && file < n; file++) {
        element root;
        footer_node tree;
        bool more = false;
        arena_reset(r.arena);
        status = next_element(&r, &root, &more);
        if (status == SILT_OK && !more) status = err_INTERNAL_ERROR(err, "fewer footers than files");
        if (status == SILT_OK) status = read_tree(&r, &root, &tree, 0);
        r.at++;
        if (status == SILT_OK) status = fn(ctx, file, &tree, err);
    }
    if (r.chunk) duckdb_destroy_data_chunk(&r.chunk);
    engine_stream_close(&r.stream);
    arena_free(r.arena);
    return status;
}

bool footer_has_ids(const footer_node *node) {
    for (size_t i = 0; i < node->n_children; i++)
        if (node->children[i].field_id >= 0) return true;
    return false;
}

const footer_node *footer_list_element(const footer_node *node) {
    if (!node || node->n_children != 1) return NULL;
    const footer_node *repeated = &node->children[0];
    if (!repeated->is_repeated) return NULL;
    bool named_element = str_eqz(repeated->name, "array") || str_ends_with(repeated->name, STR("_tuple"));
    if (repeated->n_children == 1 && !named_element) return &repeated->children[0];
    return repeated;
}

const footer_node *footer_map_part(const footer_node *node, size_t part) {
    if (!node || node->n_children != 1 || node->children[0].n_children != 2) return NULL;
    return &node->children[0].children[part];
}
