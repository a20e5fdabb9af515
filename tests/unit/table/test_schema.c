/* Schema JSON and type texts, against the protocol's examples and schemas that Spark wrote. */
#include "table_test.h"

#include "table/type.h"

static const data_type *parse(arena *a, const char *json) {
    const data_type *t = NULL;
    silt_error err = {0};
    silt_status s = schema_parse_json(str_of(json), a, &t, &err);
    if (s != SILT_OK) print_error("%s: %s (%s)\n", json, err.message, err.detail);
    assert_int_equal(s, SILT_OK);
    return t;
}

static const char *json_of(arena *a, const data_type *t) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    schema_write_json(&b, t);
    return table_take_text(&b, a);
}

static void assert_round_trip(arena *a, const char *json) { assert_string_equal(json_of(a, parse(a, json)), json); }

static const struct {
    const char *json, *simple, *sql;
    type_id id;
} primitives[] = {
    {"string", "string", "STRING", TYPE_STRING},
    {"long", "bigint", "BIGINT", TYPE_LONG},
    {"integer", "int", "INT", TYPE_INT},
    {"short", "smallint", "SMALLINT", TYPE_SHORT},
    {"byte", "tinyint", "TINYINT", TYPE_BYTE},
    {"float", "float", "FLOAT", TYPE_FLOAT},
    {"double", "double", "DOUBLE", TYPE_DOUBLE},
    {"decimal(10,2)", "decimal(10,2)", "DECIMAL(10,2)", TYPE_DECIMAL},
    {"decimal(38,38)", "decimal(38,38)", "DECIMAL(38,38)", TYPE_DECIMAL},
    {"decimal(1,0)", "decimal(1,0)", "DECIMAL(1,0)", TYPE_DECIMAL},
    {"boolean", "boolean", "BOOLEAN", TYPE_BOOLEAN},
    {"binary", "binary", "BINARY", TYPE_BINARY},
    {"date", "date", "DATE", TYPE_DATE},
    {"timestamp", "timestamp", "TIMESTAMP", TYPE_TIMESTAMP},
    {"timestamp_ntz", "timestamp_ntz", "TIMESTAMP_NTZ", TYPE_TIMESTAMP_NTZ},
    {"variant", "variant", "VARIANT", TYPE_VARIANT},
    {"void", "void", "VOID", TYPE_VOID},
};

static void primitive_types_round_trip(void **state) {
    arena *a = *state;
    for (size_t i = 0; i < ARRAY_LEN(primitives); i++) {
        str json =
            arena_printf(a, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"%s\",\"nullable\":%s,\"metadata\":{}}]}",
                         primitives[i].json, i % 2 ? "true" : "false");
        const data_type *t = parse(a, json.ptr);
        assert_int_equal(t->n_fields, 1);
        assert_int_equal(t->fields[0].type->id, primitives[i].id);
        assert_int_equal(t->fields[0].nullable, i % 2);
        assert_string_equal(json_of(a, t), json.ptr);
        assert_string_equal(type_simple(t->fields[0].type, a).ptr, primitives[i].simple);
        assert_string_equal(type_sql(t->fields[0].type, a).ptr, primitives[i].sql);
    }
}

static void decimal_without_parameters_is_10_0(void **state) {
    const data_type *t = parse(
        *state, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"decimal\",\"nullable\":true,\"metadata\":{}}]}");
    assert_int_equal(t->fields[0].type->precision, 10);
    assert_int_equal(t->fields[0].type->scale, 0);
}

#define WIDENED                                                                                                                  \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{\"delta.typeChanges\":[" \
    "{"                                                                                                                          \
    "\"toType\":\"short\",\"fromType\":\"byte\"},{\"toType\":\"integer\",\"fromType\":\"short\"}]}},{\"name\":\"b\",\"type\":{"  \
    "\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"nullable\":false,\"metadata\":{}},{\"name\":\"y\","     \
    "\"type\":{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true},\"nullable\":true,\"metadata\":{}}]},"         \
    "\"nullable\":true,\"metadata\":{}},{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"long\",\"valueType\":"          \
    "\"double\","                                                                                                                \
    "\"valueContainsNull\":false},\"nullable\":true,\"metadata\":{}}]}"

static void nested_types_round_trip(void **state) {
    arena *a = *state;
    assert_round_trip(a, WIDENED);
    assert_round_trip(a, "{\"type\":\"struct\",\"fields\":[]}");
    const data_type *t = parse(a, WIDENED);
    assert_string_equal(type_simple(t, a).ptr, "struct<a:bigint,b:struct<x:bigint,y:array<bigint>>,m:map<bigint,double>>");
    assert_string_equal(type_sql(t, a).ptr,
                        "STRUCT<a: BIGINT, b: STRUCT<x: BIGINT NOT NULL, y: ARRAY<BIGINT>>, m: MAP<BIGINT, DOUBLE>>");
    assert_int_equal(type_leaf_count(t), 4); /* a, b.x, b.y, m */
    const json_node *changes = field_metadata_get(&t->fields[0], "delta.typeChanges", a);
    assert_non_null(changes);
    assert_int_equal(changes->count, 2);
    assert_null(field_metadata_get(&t->fields[0], "comment", a));
    assert_null(field_metadata_get(&t->fields[1], "comment", a));
}

/* Order, spacing, numbers and escapes of the metadata stay as another writer chose them. */
static void metadata_stays_verbatim(void **state) {
    assert_round_trip(*state,
                      "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"long\",\"nullable\":true,\"metadata\":"
                      "{ \"comment\" : \"\\u00e9\\n\", \"delta.identity.start\":1, \"x\":1.50e3,\"y\":[ 1 , null ],\"x\":2}}]}");
}

static void names_in_any_script_round_trip(void **state) {
    arena *a = *state;
    const char *json =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a b`c.d\\\"\\\\\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
        "{\"name\":\"列é😀\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"1a\",\"type\":\"long\",\"nullable\":"
        "true,\"metadata\":{}}]}";
    assert_round_trip(a, json);
    assert_string_equal(type_sql(parse(a, json), a).ptr, "STRUCT<`a b``c.d\"\\`: BIGINT, `列é😀`: BIGINT, `1a`: BIGINT>");
}

/* The protocol's example of column mapping. */
#define MAPPED                                                                                                                   \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"e\",\"type\":{\"type\":\"array\",\"elementType\":{\"type\":\"struct\","        \
    "\"fields\":[{"                                                                                                              \
    "\"name\":\"d\",\"type\":\"integer\",\"nullable\":false,\"metadata\":{\"delta.columnMapping.id\":5,"                         \
    "\"delta.columnMapping.physicalName\":\"col-a7f4159c-53be-4cb0-b81a-f7e5240cfc49\"}}]},\"containsNull\":true},\"nullable\":" \
    "true,"                                                                                                                      \
    "\"metadata\":{\"delta.columnMapping.id\":4,\"delta.columnMapping.physicalName\":\"col-5f422f40-de70-45b2-88ab-"             \
    "1d5c90e94db1\"}}]}"

static void column_mapping_gives_physical_names_and_ids(void **state) {
    arena *a = *state;
    const data_type *t = parse(a, MAPPED);
    const field *e = &t->fields[0], *d = &e->type->element->fields[0];
    assert_true(str_eqz(e->physical_name, "col-5f422f40-de70-45b2-88ab-1d5c90e94db1"));
    assert_int_equal(e->field_id, 4);
    assert_true(str_eqz(d->name, "d"));
    assert_true(str_eqz(d->physical_name, "col-a7f4159c-53be-4cb0-b81a-f7e5240cfc49"));
    assert_int_equal(d->field_id, 5);
    assert_string_equal(json_of(a, t), MAPPED);

    const data_type *plain = schema_use_logical_names(t, a);
    e = &plain->fields[0];
    d = &e->type->element->fields[0];
    assert_true(str_eqz(e->physical_name, "e"));
    assert_true(str_eqz(d->physical_name, "d"));
    assert_int_equal(e->field_id, -1);
    assert_int_equal(d->field_id, -1);
    assert_string_equal(json_of(a, plain), MAPPED); /* the log's text does not change */
}

static void char_and_varchar_come_from_metadata(void **state) {
    arena *a = *state;
    const char *json =
        "{\"type\":\"struct\",\"fields\":["
        "{\"name\":\"v\",\"type\":\"string\",\"nullable\":true,\"metadata\":{\"__CHAR_VARCHAR_TYPE_STRING\":\"varchar(45)\"}},"
        "{\"name\":\"c\",\"type\":\"string\",\"nullable\":true,\"metadata\":{\"__CHAR_VARCHAR_TYPE_STRING\":\"char(3)\"}},"
        "{\"name\":\"n\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x:y\",\"type\":\"string\",\"nullable\":true,"
        "\"metadata\":{}},"
        "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"string\",\"containsNull\":true},\"nullable\":true,"
        "\"metadata\":{}}]},"
        "\"nullable\":true,\"metadata\":{\"__CHAR_VARCHAR_TYPE_STRING\":\"struct<x:y:varchar(5),l:array<char(2)>>\"}},"
        "{\"name\":\"bad\",\"type\":\"string\",\"nullable\":true,\"metadata\":{\"__CHAR_VARCHAR_TYPE_STRING\":\"varchar(0)\"}}]}";
    const data_type *t = parse(a, json);
    assert_int_equal(t->fields[0].type->length, 45);
    assert_false(t->fields[0].type->is_char);
    assert_int_equal(t->fields[1].type->length, 3);
    assert_true(t->fields[1].type->is_char);
    const data_type *n = t->fields[2].type;
    assert_int_equal(n->fields[0].type->length, 5);
    assert_int_equal(n->fields[1].type->element->length, 2);
    assert_true(n->fields[1].type->element->is_char);
    assert_int_equal(t->fields[3].type->length, 0);
    assert_string_equal(json_of(a, t), json);
    assert_string_equal(type_simple(t, a).ptr,
                        "struct<v:varchar(45),c:char(3),n:struct<x:y:varchar(5),l:array<char(2)>>,bad:string>");
    assert_string_equal(type_sql(t->fields[1].type, a).ptr, "CHAR(3)");
}

static void refuse(arena *a, const char *json, silt_status status, const char *condition, const char *part) {
    const data_type *t = NULL;
    silt_error err = {0};
    assert_int_equal(schema_parse_json(str_of(json), a, &t, &err), status);
    assert_string_equal(err.condition, condition);
    if (!strstr(err.message, part)) fail_msg("'%s' lacks '%s'", err.message, part);
}

static void unknown_types_are_refused_by_name(void **state) {
    static const char *const types[] = {"geometry(4326)", "timestamp_nanos", "String", "", "int", "array<int>", "varchar(5)"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        str json = arena_printf(
            *state, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"%s\",\"nullable\":true,\"metadata\":{}}]}",
            types[i]);
        refuse(*state, json.ptr, SILT_UNSUPPORTED, "DELTA_UNSUPPORTED_DATA_TYPES", types[i]);
    }
    refuse(*state, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":{\"type\":\"udt\",\"class\":\"x\"}}]}",
           SILT_UNSUPPORTED, "DELTA_UNSUPPORTED_DATA_TYPES", "udt");
}

static void malformed_schemas_are_refused(void **state) {
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "\"long\"",
        "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}",
        "{\"type\":\"struct\"}",
        "{\"type\":\"struct\",\"fields\":{}}",
        "{\"type\":\"struct\",\"fields\":[1]}",
        "{\"type\":\"struct\",\"fields\":[{\"type\":\"long\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":5}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"decimal(39,0)\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"decimal(5,6)\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"decimal(0,0)\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"decimal(10,2\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"decimal(99999999999,2)\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":{\"type\":\"array\"}}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":{\"type\":\"map\",\"keyType\":\"long\"}}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":{}}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"long\",\"nullable\":\"yes\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"long\",\"metadata\":[]}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) refuse(*state, bad[i], SILT_CORRUPT, "DELTA_INVALID_SCHEMA", "schema");
}

static void equality_ignores_nullability_and_metadata(void **state) {
    arena *a = *state;
    const data_type *t = parse(a, WIDENED), *u = parse(a, MAPPED);
    assert_true(type_equal(t, parse(a, WIDENED)));
    assert_false(type_equal(t, u));
    field one[] = {field_make(STR("A"), &type_long, false)}, other[] = {field_make(STR("a"), &type_long, true)};
    const data_type *upper = type_struct(a, one, 1), *lower = type_struct(a, other, 1);
    assert_false(type_equal(upper, lower));
    assert_true(type_equal_fold(upper, lower));
    assert_false(type_equal(type_decimal(a, 10, 2), type_decimal(a, 10, 3)));
    assert_true(type_equal(type_array(a, &type_int, true), type_array(a, &type_int, false)));
    assert_false(type_equal(type_map(a, &type_int, &type_int, true), type_map(a, &type_int, &type_long, true)));
    assert_true(type_equal(&type_string, type_text_limited(a, 5, false)));
}

static void fields_are_found_exactly_first_then_without_case(void **state) {
    arena *a = *state;
    field fields[] = {field_make(STR("ID"), &type_long, true), field_make(STR("id"), &type_int, true),
                      field_make(STR("Été"), &type_int, true)};
    const data_type *t = type_struct(a, fields, 3);
    assert_int_equal(schema_find(t, STR("id")), 1);
    assert_int_equal(schema_find(t, STR("Id")), 0);
    assert_int_equal(schema_find(t, STR("été")), 2);
    assert_int_equal(schema_find(t, STR("x")), -1);
}

static void metadata_keys_are_set_replaced_and_removed(void **state) {
    arena *a = *state;
    str m = field_metadata_set(STR("{}"), "comment", STR("\"x\""), a);
    assert_string_equal(m.ptr, "{\"comment\":\"x\"}");
    m = field_metadata_set(m, "delta.columnMapping.id", STR("7"), a);
    assert_string_equal(m.ptr, "{\"comment\":\"x\",\"delta.columnMapping.id\":7}");
    m = field_metadata_set(m, "comment", STR("\"y\""), a);
    assert_string_equal(m.ptr, "{\"comment\":\"y\",\"delta.columnMapping.id\":7}");
    m = field_metadata_set(m, "comment", STR_NULL, a);
    assert_string_equal(m.ptr, "{\"delta.columnMapping.id\":7}");
    assert_true(str_is_null(field_metadata_set(STR("[]"), "a", STR("1"), a)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_ARENA(primitive_types_round_trip),
        WITH_ARENA(decimal_without_parameters_is_10_0),
        WITH_ARENA(nested_types_round_trip),
        WITH_ARENA(metadata_stays_verbatim),
        WITH_ARENA(names_in_any_script_round_trip),
        WITH_ARENA(column_mapping_gives_physical_names_and_ids),
        WITH_ARENA(char_and_varchar_come_from_metadata),
        WITH_ARENA(unknown_types_are_refused_by_name),
        WITH_ARENA(malformed_schemas_are_refused),
        WITH_ARENA(equality_ignores_nullability_and_metadata),
        WITH_ARENA(fields_are_found_exactly_first_then_without_case),
        WITH_ARENA(metadata_keys_are_set_replaced_and_removed),
    };
    return RUN_TESTS(tests);
}
