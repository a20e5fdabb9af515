/* Statistics text of a file: any bytes. What the reader in place finds, the JSON parser must find as well. */
#include <stdlib.h>

#include "table/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char schema_json[] =
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"l\",\"type\":\"long\"},{\"name\":\"d\",\"type\":\"double\"},{\"name\":\"f\","
    "\"type\":\"float\"},"
    "{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"t\",\"type\":\"timestamp\"},{\"name\":\"n\",\"type\":\"timestamp_ntz\"},{"
    "\"name\":\"dt\",\"type\":\"date\"},"
    "{\"name\":\"m\",\"type\":\"decimal(38,10)\"},{\"name\":\"b\",\"type\":\"boolean\"},{\"name\":\"by\",\"type\":\"byte\"},"
    "{\"name\":\"st\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x\\\"\\n\\u00e9\",\"type\":\"integer\"}]}}]}";
static const uint32_t paths[][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}, {10, 0}};

static size_t occurrences(const json_node *object, str key) {
    size_t n = 0;
    for (size_t i = 0; object && object->type == JSON_OBJECT && i < object->count; i++) n += str_eq(object->keys[i], key);
    return n;
}

static void must(bool claim) {
    if (!claim) abort();
}

/* What was found in place is the parser's answer too; with duplicate keys there is no right answer. The reverse does not
 * hold: half a surrogate pair is no bound, but the parser has a replacement for it. */
static void compare_with_tree(const json_node *root, const file_stats *f, size_t column, arena *a) {
    const field *c = &f->schema->fields[column];
    const json_node *minima = json_get(root, "minValues");
    value in_place, by_tree;
    if (occurrences(root, STR("minValues")) > 1 || occurrences(minima, c->physical_name) > 1) return;
    if (!file_stats_bound(f, (column_path){paths[column], 1}, STATS_MIN, &in_place)) return;
    bool comparable;
    must(value_from_stats_json(json_get(minima, arena_cstr(a, c->physical_name)), c->type, &by_tree, a));
    must(value_compare(&in_place, &by_tree, &comparable) == 0 && comparable);
}

static void ask(const stats_source *source, const data_type *schema, column_path column, const data_type *type) {
    value literal = {.type = type}, low, high;
    if (!source->min(source, column, type, &low)) low = literal;
    if (!source->max(source, column, type, &high)) high = literal;
    for (predicate_kind k = PRED_EQ; k <= PRED_STARTS_WITH; k++) {
        if (k == PRED_STARTS_WITH && type->id != TYPE_STRING) continue;
        predicate p = {.kind = k, .column = column, .column_type = type, .literals = k % 2 ? &low : &high, .n_literals = 1};
        if (type->id == TYPE_STRING && str_is_null(p.literals->as.bytes)) continue;
        predicate_may_match(&p, source);
        predicate_all_match(&p, source);
        buf b;
        buf_init(&b, 1 << 20);
        predicate_write(&b, &p, schema);
        value_write_stats_json(&b, &low);
        buf_dispose(&b);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    const data_type *schema;
    const json_node *root;
    file_stats f;
    stats_source source;
    str json = {(const char *)data, size};
    if (!a || schema_parse_json(str_of(schema_json), a, &schema, NULL) != SILT_OK) abort();
    file_stats_parse(json, schema, a, &f);
    file_stats_source(&f, &source);
    for (size_t i = 0; i < schema->n_fields - 1; i++) ask(&source, schema, (column_path){paths[i], 1}, schema->fields[i].type);
    ask(&source, schema, (column_path){paths[10], 2}, schema->fields[10].type->fields[0].type);

    bool read_in_place = f.num_records >= 0 || f.min_values.ptr || f.max_values.ptr || f.null_count.ptr;
    if (read_in_place && json_parse(json, a, &root, NULL) == SILT_OK)
        for (size_t i = 0; i < schema->n_fields - 1; i++) compare_with_tree(root, &f, i, a);
    arena_free(a);
    return 0;
}
