/* Changes of a schema by path: what is changed, what stays shared, what is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/expr.h"
#include "expr/parser.h"
#include "ops/schema_edit.h"

static const char ddl[] = "id INT, s STRUCT<x: INT, Y: STRUCT<z: STRING>>, ar ARRAY<STRUCT<e: INT, f: DATE>>, m MAP<STRUCT<k: INT>, ARRAY<STRUCT<v: INT>>>";

static arena *a;

static int setup(void **state) {
    (void)state;
    a = arena_new();
    return a ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    arena_free(a);
    return 0;
}

static const data_type *schema(void) {
    const data_type *t;
    assert_int_equal(schema_parse_ddl(str_of(ddl), a, &t, NULL), SILT_OK);
    return t;
}

static name_parts name(const char *text) {
    parser p;
    name_parts out;
    assert_int_equal(parser_init(&p, str_of(text), a, NULL), SILT_OK);
    assert_int_equal(parser_name(&p, &out), SILT_OK);
    return out;
}

static const char *text(const data_type *t) { return arena_cstr(a, type_simple(t, a)); }

static void paths_lead_through_structs_arrays_and_maps(void **state) {
    static const struct { const char *name, *spelled, *type; } found[] = {
        {"ID", "id", "int"},
        {"s.X", "s.x", "int"},
        {"S.y.Z", "s.Y.z", "string"},
        {"ar.element", "ar.element", "struct<e:int,f:date>"},
        {"ar.Element.f", "ar.element.f", "date"},
        {"m.key.k", "m.key.k", "int"},
        {"m.value.element.v", "m.value.element.v", "int"},
    };
    (void)state;
    const data_type *s = schema();
    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        schema_path path;
        assert_int_equal(schema_path_find(s, name(found[i].name), &path), PATH_FOUND);
        assert_true(str_eqz(schema_path_text(s, path.steps, path.depth, a), found[i].spelled));
        assert_string_equal(text(schema_type_at(s, path.steps, path.depth)), found[i].type);
    }
}

static void what_is_not_there_is_told_apart(void **state) {
    static const struct { const char *name; path_outcome outcome; size_t depth; } missing[] = {
        {"nope", PATH_ABSENT, 0}, {"s.nope", PATH_ABSENT, 1}, {"nope.x", PATH_ABSENT, 0}, {"id.x", PATH_NOT_A_STRUCT, 1},
        {"ar.e", PATH_NOT_A_STRUCT, 1}, {"m.element", PATH_NOT_A_STRUCT, 1}, {"m.value.v", PATH_NOT_A_STRUCT, 2}, {"s.x.key", PATH_NOT_A_STRUCT, 2},
    };
    (void)state;
    const data_type *s = schema();
    for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
        schema_path path;
        assert_int_equal(schema_path_find(s, name(missing[i].name), &path), missing[i].outcome);
        assert_int_equal(path.depth, missing[i].depth);
    }
}

static void the_nearest_field_is_above_elements(void **state) {
    (void)state;
    const data_type *s = schema();
    schema_path path;
    size_t depth;
    assert_int_equal(schema_path_find(s, name("m.value.element"), &path), PATH_FOUND);
    assert_true(str_eqz(schema_nearest_field(s, &path, &depth)->name, "m"));
    assert_int_equal(depth, 1);
    assert_int_equal(schema_path_find(s, name("m.value.element.v"), &path), PATH_FOUND);
    assert_true(str_eqz(schema_nearest_field(s, &path, &depth)->name, "v"));
    assert_int_equal(depth, 4);
}

static void a_type_is_replaced_and_the_rest_is_shared(void **state) {
    (void)state;
    const data_type *s = schema();
    schema_path path;
    assert_int_equal(schema_path_find(s, name("m.value.element.v"), &path), PATH_FOUND);
    const data_type *changed = schema_replace_type(s, path.steps, path.depth, &type_long, a);
    assert_string_equal(text(changed), "struct<id:int,s:struct<x:int,Y:struct<z:string>>,ar:array<struct<e:int,f:date>>,m:map<struct<k:int>,array<struct<v:bigint>>>>");
    assert_ptr_equal(changed->fields[2].type, s->fields[2].type);
    assert_ptr_equal(changed->fields[3].type->key, s->fields[3].type->key);
    assert_string_equal(text(s), text(schema())); /* the old one is as it was */
    assert_int_equal(schema_path_find(s, name("m.key"), &path), PATH_FOUND);
    assert_string_equal(text(schema_replace_type(s, path.steps, path.depth, &type_int, a)->fields[3].type), "map<int,array<struct<v:int>>>");
}

static void a_field_is_replaced(void **state) {
    (void)state;
    const data_type *s = schema();
    schema_path path;
    assert_int_equal(schema_path_find(s, name("ar.element.f"), &path), PATH_FOUND);
    field f = field_make(STR("g"), &type_string, false);
    const data_type *changed = schema_replace_field(s, path.steps, path.depth, &f, a);
    assert_string_equal(text(changed->fields[2].type), "array<struct<e:int,g:string>>");
    assert_false(changed->fields[2].type->element->fields[1].nullable);
}

static void fields_come_go_and_move(void **state) {
    static const struct { size_t from, to; const char *order; } moves[] = {{0, 0, "abcd"}, {0, 3, "bcda"}, {3, 0, "dabc"}, {1, 2, "acbd"}, {2, 1, "acbd"}, {3, 3, "abcd"}};
    (void)state;
    const data_type *s;
    assert_int_equal(schema_parse_ddl(STR("a INT, b INT, c INT, d INT"), a, &s, NULL), SILT_OK);
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        const data_type *moved = struct_move(s, moves[i].from, moves[i].to, a);
        for (size_t k = 0; k < 4; k++) assert_int_equal(moved->fields[k].name.ptr[0], moves[i].order[k]);
    }
    field f = field_make(STR("e"), &type_date, true);
    assert_string_equal(text(struct_insert(s, 0, &f, a)), "struct<e:date,a:int,b:int,c:int,d:int>");
    assert_string_equal(text(struct_insert(s, 4, &f, a)), "struct<a:int,b:int,c:int,d:int,e:date>");
    assert_string_equal(text(struct_remove(s, 0, a)), "struct<b:int,c:int,d:int>");
    assert_string_equal(text(struct_remove(s, 3, a)), "struct<a:int,b:int,c:int>");
}

static void metadata_goes_at_every_depth(void **state) {
    static const char json[] = "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"array\",\"elementType\":{\"type\":\"struct\",\"fields\":[{\"name\":\"b\",\"type\":\"long\","
                               "\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":2,\"delta.columnMapping.physicalName\":\"col-2\",\"comment\":\"c\"}}]},\"containsNull\":true},"
                               "\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":1,\"delta.columnMapping.physicalName\":\"col-1\"}}]}";
    static const char *const keys[] = {"delta.columnMapping.id", "delta.columnMapping.physicalName"};
    (void)state;
    const data_type *s;
    assert_int_equal(schema_parse_json(str_of(json), a, &s, NULL), SILT_OK);
    const data_type *plain = schema_strip(s, keys, ARRAY_LEN(keys), true, a);
    const field *inner = &plain->fields[0].type->element->fields[0];
    assert_true(str_eqz(plain->fields[0].metadata, "{}"));
    assert_true(str_eqz(inner->metadata, "{\"comment\":\"c\"}"));
    assert_true(str_eqz(inner->physical_name, "b"));
    assert_int_equal(inner->field_id, -1);
    assert_true(str_eqz(s->fields[0].physical_name, "col-1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths_lead_through_structs_arrays_and_maps, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_told_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(the_nearest_field_is_above_elements, setup, teardown),
        cmocka_unit_test_setup_teardown(a_type_is_replaced_and_the_rest_is_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(a_field_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(fields_come_go_and_move, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata_goes_at_every_depth, setup, teardown),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
