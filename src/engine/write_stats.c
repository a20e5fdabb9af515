/**
 * Delta's statistics: which columns are counted, and how the text is written. The counting itself: write_stats_leaf.c.
 */
#include "engine/write_stats.h"

#include <stdlib.h>

#include "engine/write_stats_leaf.h"

typedef struct stats_node stats_node;
struct stats_node {
    str name; /* physical, borrowed from the spec's schema */
    const data_type *type;
    bool counted; /* leaf: takes part in nullCount; struct: has a counted leaf below */
    bool bounded; /* leaf: may have min and max; struct: has such a leaf below */
    bool left_out; /* leaf of the top level: the written file's footer tells */
    stats_leaf leaf;
    stats_node *children; /* STRUCT */
    size_t n_children;
};

struct stats_tree {
    const write_spec *spec;
    stats_node root;
    int64_t rows;
};

/* ---- choosing columns ---- */

static bool type_has_bounds(type_id id) {
    switch (id) {
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG:
        case TYPE_FLOAT:
        case TYPE_DOUBLE:
        case TYPE_DECIMAL:
        case TYPE_STRING:
        case TYPE_DATE:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ:
        case TYPE_VARIANT: return true; /* of a variant: its shredded fields, which Silt does not write; the empty objects stay */
        default: return false;
    }
}

typedef struct chooser {
    const write_spec *spec;
    int64_t left; /* leaves still to be counted; < 0: no limit */
    uint32_t path[64];
    size_t depth;
} chooser;

/* Is the path one of the named columns, or below one? */
static bool is_named(const chooser *c) {
    for (size_t i = 0; i < c->spec->n_stats_columns; i++) {
        const column_path *named = &c->spec->stats_columns[i];
        if (named->depth <= c->depth && memcmp(named->index, c->path, named->depth * sizeof *named->index) == 0) return true;
    }
    return false;
}

static bool take_leaf(chooser *c) {
    if (c->spec->has_stats_columns) return is_named(c);
    if (c->left < 0) return true;
    if (c->left == 0) return false;
    c->left--;
    return true;
}

static bool make_children(chooser *c, stats_node *node, const data_type *type);

static bool make_node(chooser *c, stats_node *node, const field *f) {
    node->name = f->physical_name;
    node->type = f->type;
    if (f->type->id == TYPE_STRUCT && c->depth < ARRAY_LEN(c->path)) return make_children(c, node, f->type);
    node->counted = take_leaf(c);
    node->bounded = node->counted && type_has_bounds(f->type->id);
    stats_leaf_init(&node->leaf, f->type, c->spec->string_prefix_length > 0 ? (size_t)c->spec->string_prefix_length : 32);
    return true;
}

static bool is_partition_column(const write_spec *spec, size_t i) {
    for (size_t k = 0; k < spec->n_partition_columns; k++)
        if (spec->partition_columns[k] == i) return true;
    return false;
}

static size_t table_columns(const write_spec *spec) { return spec->schema->n_fields - spec->n_extra_columns; }

static bool make_children(chooser *c, stats_node *node, const data_type *type) {
    node->type = type;
    node->children = calloc(type->n_fields ? type->n_fields : 1, sizeof *node->children);
    if (!node->children) return false;
    node->n_children = type->n_fields;
    for (size_t i = 0; i < type->n_fields; i++) {
        if (c->depth == 0 && (is_partition_column(c->spec, i) || i >= table_columns(c->spec))) continue;
        c->path[c->depth++] = (uint32_t)i;
        bool ok = make_node(c, &node->children[i], &type->fields[i]);
        c->depth--;
        if (!ok) return false;
        node->counted |= node->children[i].counted;
        node->bounded |= node->children[i].bounded;
    }
    return true;
}

stats_tree *stats_tree_new(const write_spec *spec) {
    stats_tree *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->spec = spec;
    chooser c = {.spec = spec, .left = spec->num_indexed_columns};
    if (make_children(&c, &t->root, spec->schema)) return t;
    stats_tree_free(t);
    return NULL;
}

/* ---- walking ---- */

static void dispose_node(stats_node *node) {
    stats_leaf_dispose(&node->leaf);
    for (size_t i = 0; i < node->n_children; i++) dispose_node(&node->children[i]);
    free(node->children);
}

void stats_tree_free(stats_tree *t) {
    if (!t) return;
    dispose_node(&t->root);
    free(t);
}

static void reset_node(stats_node *node) {
    stats_leaf_reset(&node->leaf);
    for (size_t i = 0; i < node->n_children; i++) reset_node(&node->children[i]);
}

void stats_tree_reset(stats_tree *t) {
    t->rows = 0;
    reset_node(&t->root);
}

static bool add_node(stats_node *node, duckdb_vector vector, const row_mask *parent, size_t from, size_t to) {
    if (!node->counted) return true;
    row_mask mask;
    if (!row_mask_combine(&mask, parent, vector, from, to)) return false;
    if (!node->children) return stats_leaf_add(&node->leaf, vector, &mask, from, to, node->bounded);
    for (size_t i = 0; i < node->n_children; i++)
        if (!add_node(&node->children[i], duckdb_struct_vector_get_child(vector, i), &mask, from, to)) return false;
    return true;
}

bool stats_tree_add(stats_tree *t, duckdb_vector *columns, size_t from, size_t to) {
    t->rows += (int64_t)(to - from);
    for (size_t i = 0; i < t->root.n_children; i++) {
        stats_node *node = &t->root.children[i];
        if (node->left_out) continue;
        if (!columns[i]) {
            if (node->counted) node->leaf.nulls += (int64_t)(to - from);
            continue;
        }
        if (!add_node(node, columns[i], NULL, from, to)) return false;
    }
    return true;
}

static bool merge_node(stats_node *into, const stats_node *other) {
    if (!into->children) return stats_leaf_merge(&into->leaf, &other->leaf);
    for (size_t i = 0; i < into->n_children; i++)
        if (!merge_node(&into->children[i], &other->children[i])) return false;
    return true;
}

bool stats_tree_merge(stats_tree *into, const stats_tree *other) {
    into->rows += other->rows;
    return merge_node(&into->root, &other->root);
}

int64_t stats_tree_rows(const stats_tree *t) { return t->rows; }

/* ---- what a footer tells ---- */

bool stats_are_in_footer(const data_type *type) {
    switch (type->id) {
        case TYPE_BOOLEAN:
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG:
        case TYPE_DATE:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ:
        case TYPE_STRING:
        case TYPE_BINARY: return true;
        case TYPE_DECIMAL: return type->precision <= 18;
        default: return false;
    }
}

void stats_tree_leave_to_footer(stats_tree *t) {
    for (size_t i = 0; i < t->root.n_children; i++) {
        stats_node *node = &t->root.children[i];
        node->left_out = node->counted && stats_are_in_footer(node->type);
    }
}

stats_leaf *stats_tree_left_out(stats_tree *t, size_t column, bool *out_bounded) {
    stats_node *node = &t->root.children[column];
    *out_bounded = node->bounded;
    return node->left_out ? &node->leaf : NULL;
}

/* ---- writing ---- */

typedef enum stats_part { PART_MIN, PART_MAX, PART_NULLS } stats_part;

static bool has_part(const stats_node *node, stats_part part) { return part == PART_NULLS ? node->counted : node->bounded; }

/* Leaves without values are left out; structs stay, as empty objects. */
static void write_members(const stats_node *node, stats_part part, buf *out) {
    bool first = true;
    buf_append_char(out, '{');
    for (size_t i = 0; i < node->n_children; i++) {
        const stats_node *child = &node->children[i];
        if (!has_part(child, part)) continue;
        if (child->children) {
            json_write_key_str(out, &first, child->name);
            write_members(child, part, out);
            continue;
        }
        if (part == PART_NULLS) {
            json_write_key_str(out, &first, child->name);
            buf_append_i64(out, child->leaf.nulls);
            continue;
        }
        buf bound;
        buf_init(&bound, BUF_MAX_DEFAULT);
        if (stats_leaf_write(&child->leaf, part == PART_MAX, &bound)) {
            json_write_key_str(out, &first, child->name);
            buf_append(out, buf_str(&bound));
        }
        if (!buf_ok(&bound)) out->failed = true;
        buf_dispose(&bound);
    }
    buf_append_char(out, '}');
}

void stats_tree_write(const stats_tree *t, buf *out) {
    buf_append_z(out, "{\"numRecords\":");
    buf_append_i64(out, t->rows);
    static const struct {
        const char *key;
        stats_part part;
    } parts[] = {{"minValues", PART_MIN}, {"maxValues", PART_MAX}, {"nullCount", PART_NULLS}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!has_part(&t->root, parts[i].part)) continue;
        buf_printf(out, ",\"%s\":", parts[i].key);
        write_members(&t->root, parts[i].part, out);
    }
    if (t->spec->write_tight_bounds) buf_append_z(out, ",\"tightBounds\":true");
    buf_append_char(out, '}');
}
