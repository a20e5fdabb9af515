/**
 * How the wanted columns are found in a scan's files, and the groups of files that agree in it.
 *
 * By name (column mapping off or "name") the log says all: one group, no footer is opened, unless fields of structs were dropped. By field id, names in files may be any: footers are read and files are
 * grouped by what they call the columns, at every depth (`schema=` knows ids at the top level only, and a file without ids gave NULL in every row). A file without
 * any ids is read by the physical names, which id mode keeps too.
 */
#include <stdio.h>

#include "engine/scan.h"
#include "engine/scan_footer.h"

/* ---- read types ---- */

typedef struct type_maker {
    arena *a;
    bool by_id;
    silt_error *err;
} type_maker;

static silt_status read_type(type_maker *m, const data_type *wanted, const footer_node *node, const data_type **out);

static const footer_node *find_child(const type_maker *m, const footer_node *parent, const field *f) {
    if (!parent) return NULL;
    for (size_t i = 0; i < parent->n_children; i++) {
        const footer_node *child = &parent->children[i];
        if (m->by_id && f->field_id >= 0 ? child->field_id == f->field_id : str_eq(child->name, f->physical_name)) return child;
    }
    return NULL;
}

static silt_status read_struct(type_maker *m, const data_type *wanted, const footer_node *node, const data_type **out) {
    field *fields = ARENA_ARRAY(m->a, wanted->n_fields + 2, field);
    size_t n = wanted->n_fields, found = 0;
    if (!fields) return error_no_memory(m->err);
    for (size_t i = 0; i < n; i++) {
        const field *f = &wanted->fields[i];
        const footer_node *child = find_child(m, node, f);
        found += child != NULL;
        fields[i] = *f;
        fields[i].name = child ? arena_str(m->a, child->name) : f->physical_name;
        if (node && !child)
            fields[i].name = arena_printf(m->a, "silt:missing:%zu", i); /* must not meet another field of that name */
        if (!fields[i].name.ptr) return error_no_memory(m->err);
        TRY(read_type(m, f->type, child, &fields[i].type));
    }
    if (node && !found && node->n_children) { /* DuckDB casts structs only that share a field: one of the file's own comes along, as text, and is not looked at */
        fields[n] = field_make(arena_str(m->a, node->children[0].name), &type_string, true);
        if (!fields[n++].name.ptr) return error_no_memory(m->err);
    }
    *out = type_struct(m->a, fields, n);
    return *out ? SILT_OK : error_no_memory(m->err);
}

static silt_status read_type(type_maker *m, const data_type *wanted, const footer_node *node, const data_type **out) {
    const data_type *element = NULL, *key = NULL;
    *out = wanted;
    switch (wanted->id) {
        case TYPE_STRUCT: return read_struct(m, wanted, node, out);
        case TYPE_ARRAY:
            TRY(read_type(m, wanted->element, footer_list_element(node), &element));
            if (element != wanted->element) *out = type_array(m->a, element, wanted->contains_null);
            break;
        case TYPE_MAP:
            TRY(read_type(m, wanted->key, footer_map_part(node, 0), &key));
            TRY(read_type(m, wanted->element, footer_map_part(node, 1), &element));
            if (key != wanted->key || element != wanted->element) *out = type_map(m->a, key, element, wanted->contains_null);
            break;
        default: break;
    }
    return *out ? SILT_OK : error_no_memory(m->err);
}

static silt_status make_reads(const scan_node *node, const footer_node *footer, arena *a, const column_read **out,
                              silt_error *err) {
    type_maker m = {.a = a, .err = err};
    m.by_id = node->source->match == MATCH_BY_FIELD_ID && footer && footer_has_ids(footer);
    column_read *reads = ARENA_ARRAY(a, node->n_wanted + 1, column_read);
    if (!reads) return error_no_memory(err);
    for (size_t i = 0; i < node->n_wanted; i++) {
        const field *f = &node->wanted[i].field;
        const footer_node *found = find_child(&m, footer, f);
        reads[i].exists = !footer || found;
        reads[i].name = found ? arena_str(a, found->name) : f->physical_name;
        if (!reads[i].name.ptr) return error_no_memory(err);
        TRY(read_type(&m, f->type, found, &reads[i].type));
    }
    *out = reads;
    return SILT_OK;
}

/* ---- schema map ---- */

static bool has_leaf(const data_type *type, type_id id) {
    if (type->id == id) return true;
    if (type->element && has_leaf(type->element, id)) return true;
    if (type->key && has_leaf(type->key, id)) return true;
    for (size_t i = 0; i < type->n_fields; i++)
        if (has_leaf(type->fields[i].type, id)) return true;
    return false;
}

static silt_status write_map(scan_group *g, const scan_node *node, arena *a, silt_error *err) {
    buf map, type;
    buf_init(&map, BUF_MAX_DEFAULT);
    buf_init(&type, BUF_MAX_DEFAULT);
    bool any = false, strings = false, binaries = false;
    buf_append_z(&map, "MAP{");
    for (size_t i = 0; i < node->n_wanted; i++) {
        const column_read *read = &g->reads[i];
        if (!read->exists) continue;
        buf_clear(&type);
        engine_write_type(&type, read->type, false);
        if (any) buf_append_z(&map, ", ");
        any = true;
        engine_write_literal(&map, read->name);
        buf_append_z(&map, ": {name: ");
        engine_write_literal(&map, node->wanted[i].alias);
        buf_append_z(&map, ", type: ");
        engine_write_literal(&map, buf_str(&type));
        buf_append_z(&map, ", default_value: NULL::VARCHAR}");
        strings |= has_leaf(read->type, TYPE_STRING);
        binaries |= has_leaf(read->type, TYPE_BINARY) || has_leaf(read->type, TYPE_VARIANT);
    }
    if (!any) buf_append_z(&map, "'silt:none': {name: 'none', type: 'BOOLEAN', default_value: NULL::VARCHAR}");
    buf_append_char(&map, '}');
    /* Old writers leave the UTF8 mark out: as BLOB such a column would be shown with escapes. With a binary column beside it the option would do the reverse. */
    g->binary_as_string = strings && !binaries;
    g->schema_map = buf_ok(&map) && buf_ok(&type) ? arena_str(a, buf_str(&map)) : STR_NULL;
    buf_dispose(&type);
    buf_dispose(&map);
    return g->schema_map.ptr ? SILT_OK : error_no_memory(err);
}

/* ---- groups ---- */

static silt_status single_group(scan_node *node, arena *a, silt_error *err) {
    scan_group *g = ARENA_NEW(a, scan_group);
    if (!g) return error_no_memory(err);
    *g = (scan_group){.node = node, .n_files = node->scan.n_files};
    node->groups = g;
    node->n_groups = 1;
    TRY(make_reads(node, NULL, a, &g->reads, err));
    return write_map(g, node, a, err);
}

/* Groups while their files are collected: agreement is equality of the schema map (names and types, in order). */
typedef struct group_list {
    scan_group *items;
    uint32_t **files;
    size_t *file_capacity;
    size_t count, capacity;
} group_list;

static silt_status add_group(scan_node *node, group_list *list, const footer_node *footer, arena *a, silt_error *err) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 4;
        list->items = arena_grow(a, list->items, list->count * sizeof *list->items, capacity * sizeof *list->items);
        list->files = arena_grow(a, list->files, list->count * sizeof *list->files, capacity * sizeof *list->files);
        list->file_capacity =
            arena_grow(a, list->file_capacity, list->count * sizeof *list->file_capacity, capacity * sizeof *list->file_capacity);
        if (!list->items || !list->files || !list->file_capacity) return error_no_memory(err);
        list->capacity = capacity;
    }
    scan_group *g = &list->items[list->count];
    *g = (scan_group){.node = node};
    list->files[list->count] = NULL;
    list->file_capacity[list->count++] = 0;
    TRY(make_reads(node, footer, a, &g->reads, err));
    return write_map(g, node, a, err);
}

static silt_status add_file(scan_node *node, group_list *list, uint32_t file, const footer_node *footer, arena *scratch, arena *a,
                            silt_error *err) {
    arena_reset(scratch);
    scan_group trial = {.node = node};
    TRY(make_reads(node, footer, scratch, &trial.reads, err));
    TRY(write_map(&trial, node, scratch, err));
    size_t i = 0;
    while (i < list->count && !str_eq(list->items[i].schema_map, trial.schema_map)) i++;
    if (i == list->count) TRY(add_group(node, list, footer, a, err));
    if (!ARENA_PUSH(a, list->files[i], list->items[i].n_files, list->file_capacity[i], file)) return error_no_memory(err);
    list->items[i].files = list->files[i];
    return SILT_OK;
}

typedef struct footer_walk {
    scan_node *node;
    group_list list;
    arena *scratch, *a;
} footer_walk;

static silt_status on_footer(void *ctx, size_t file, const footer_node *footer, silt_error *err) {
    footer_walk *w = ctx;
    return add_file(w->node, &w->list, (uint32_t)file, footer, w->scratch, w->a, err);
}

static bool has_struct(const data_type *type) {
    return type->id == TYPE_STRUCT || (type->element && has_struct(type->element)) || (type->key && has_struct(type->key));
}

static bool needs_footers(const scan_node *node) {
    bool structs = false;
    if (node->n_wanted == 0 || node->scan.n_files == 0) return false;
    for (size_t i = 0; i < node->n_wanted; i++) structs |= has_struct(node->wanted[i].field.type);
    return node->source->match == MATCH_BY_FIELD_ID || (node->source->match == MATCH_BY_NAME_CHECKED && structs);
}

silt_status scan_make_groups(scan_node *node, engine *e, arena *a, silt_error *err) {
    if (!needs_footers(node))
        return single_group(node, a, err);
    footer_walk w = {.node = node, .scratch = arena_new(), .a = a};
    if (!w.scratch) return error_no_memory(err);
    silt_status status = footers_read(e, node->local_paths, node->scan.n_files, on_footer, &w, err);
    arena_free(w.scratch);
    TRY(status);
    node->groups = w.list.items;
    node->n_groups = w.list.count;
    return SILT_OK;
}
