/* Ids and physical names: depth first as Spark gives them, kept where they are, nested at every depth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "delta/features.h"

static const char nested[] =
    "{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{\"comment\":\"c\"}},"
    "{\"name\":\"p\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"ts\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":{\"type\":\"array\",\"elementType\":{\"type\":\"struct\","
    "\"fields\":[{\"name\":\"z\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]},\"containsNull\":true},\"valueContainsNull\":true},"
    "\"nullable\":true,\"metadata\":{}}]}";

static const data_type *parse(const char *json, arena *a) {
    const data_type *schema;
    assert_int_equal(schema_parse_json(str_of(json), a, &schema, NULL), SILT_OK);
    return schema;
}

static const char *as_json(const data_type *schema, arena *a) {
    buf b;
    buf_init(&b, 1 << 20);
    schema_write_json(&b, schema);
    const char *text = arena_cstr(a, buf_str(&b));
    buf_dispose(&b);
    return text;
}

static void ids_run_depth_first(void **state) {
    (void)state;
    arena *a = arena_new();
    const data_type *s;
    int64_t max;
    assert_int_equal(delta_assign_column_mapping(parse(nested, a), 0, true, a, &s, &max, NULL), SILT_OK);
    assert_int_equal(max, 7);
    assert_int_equal(s->fields[0].field_id, 1);
    assert_int_equal(s->fields[1].field_id, 2);
    assert_int_equal(s->fields[2].field_id, 3);
    assert_int_equal(s->fields[2].type->fields[0].field_id, 4);
    assert_int_equal(s->fields[2].type->fields[1].field_id, 5);
    assert_int_equal(s->fields[3].field_id, 6);
    const field *z = &s->fields[3].type->element->element->fields[0];
    assert_int_equal(z->field_id, 7);
    assert_true(str_starts_with(z->physical_name, STR("col-")));
    assert_int_equal(z->physical_name.len, 4 + 36);
    /* the metadata carries both, and parses back to the same */
    const data_type *again = parse(as_json(s, a), a);
    assert_int_equal(again->fields[3].type->element->element->fields[0].field_id, 7);
    assert_true(str_eq(again->fields[3].type->element->element->fields[0].physical_name, z->physical_name));
    assert_true(str_starts_with(s->fields[0].metadata, STR("{\"comment\":\"c\",\"delta.columnMapping.id\":1,\"delta.columnMapping.physicalName\":\"col-")));
    arena_free(a);
}

static void upgrade_keeps_the_names(void **state) {
    (void)state;
    arena *a = arena_new();
    const data_type *s;
    int64_t max;
    assert_int_equal(delta_assign_column_mapping(parse(nested, a), 0, false, a, &s, &max, NULL), SILT_OK);
    assert_int_equal(max, 7);
    assert_true(str_eqz(s->fields[2].type->fields[1].physical_name, "ts"));
    assert_true(str_eqz(s->fields[1].metadata, "{\"delta.columnMapping.id\":2,\"delta.columnMapping.physicalName\":\"p\"}"));
    arena_free(a);
}

static void a_new_column_of_a_mapped_table(void **state) {
    (void)state;
    arena *a = arena_new();
    const data_type *s;
    int64_t max;
    const char json[] = "{\"type\":\"struct\",\"fields\":["
                        "{\"name\":\"new\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
                        "{\"name\":\"old\",\"type\":\"long\",\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":3,"
                        "\"delta.columnMapping.physicalName\":\"x\"}}]}";
    assert_int_equal(delta_assign_column_mapping(parse(json, a), 9, true, a, &s, &max, NULL), SILT_OK);
    assert_int_equal(max, 10); /* ids 4 to 9 belonged to columns that are gone */
    assert_int_equal(s->fields[0].field_id, 10);
    assert_true(str_starts_with(s->fields[0].physical_name, STR("col-")));
    assert_int_equal(s->fields[1].field_id, 3);
    assert_true(str_eqz(s->fields[1].physical_name, "x"));
    assert_int_equal(delta_assign_column_mapping(parse(json, a), 0, true, a, &s, &max, NULL), SILT_OK);
    assert_int_equal(s->fields[0].field_id, 4); /* never an id that is there */
    arena_free(a);
}

static void names_with_quotes(void **state) {
    (void)state;
    arena *a = arena_new();
    field f = field_make(STR("a\"\\\nb"), &type_long, true);
    const data_type *s;
    int64_t max;
    assert_int_equal(delta_assign_column_mapping(type_struct(a, &f, 1), 0, false, a, &s, &max, NULL), SILT_OK);
    const data_type *again = parse(as_json(s, a), a);
    assert_true(str_eqz(again->fields[0].physical_name, "a\"\\\nb"));
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_run_depth_first),
        cmocka_unit_test(upgrade_keeps_the_names),
        cmocka_unit_test(a_new_column_of_a_mapped_table),
        cmocka_unit_test(names_with_quotes),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
