/* Arrow schemas both ways, and arrays byte for byte as the columnar format lays them out. */
#include "table_test.h"

#include <stdlib.h>

#include "table/arrow.h"

static const data_type *wide_struct(arena *a) {
    const char *json =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"v\",\"type\":\"void\"},{\"name\":\"b\",\"type\":\"boolean\"},{\"name\":"
        "\"by\",\"type\":\"byte\"},{\"name\":\"sh\",\"type\":\"short\"},"
        "{\"name\":\"i\",\"type\":\"integer\",\"nullable\":false},{\"name\":\"l\",\"type\":\"long\"},{\"name\":\"f\",\"type\":"
        "\"float\"},{\"name\":\"d\",\"type\":\"double\"},"
        "{\"name\":\"m\",\"type\":\"decimal(38,10)\"},{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"bi\",\"type\":\"binary\"},"
        "{\"name\":\"dt\",\"type\":\"date\"},{\"name\":\"t\",\"type\":\"timestamp\"},"
        "{\"name\":\"n\",\"type\":\"timestamp_ntz\"},{\"name\":\"vr\",\"type\":\"variant\"},{\"name\":\"ar\",\"type\":{\"type\":"
        "\"array\",\"elementType\":\"string\",\"containsNull\":false}},"
        "{\"name\":\"mp\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"long\",\"valueContainsNull\":true}},"
        "{\"name\":\"st\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"integer\"}]}},{\"name\":\"ym\","
        "\"type\":\"interval year to month\"},"
        "{\"name\":\"ds\",\"type\":\"interval day to second\"},{\"name\":\"iv\",\"type\":\"interval\"}]}";
    const data_type *t;
    assert_int_equal(schema_parse_json(str_of(json), a, &t, NULL), SILT_OK);
    return t;
}

static void every_type_has_its_format(void **state) {
    static const char *const formats[] = {"n",   "b",       "c",    "s", "i",  "l",  "f",  "g",   "d:38,10", "u",  "z",
                                          "tdD", "tsu:UTC", "tsu:", "u", "+l", "+m", "+s", "tiM", "tDu",     "tin"};
    const data_type *t = wide_struct(*state), *back;
    struct ArrowSchema s;
    assert_int_equal(arrow_schema_from_type(t, &s, NULL), SILT_OK);
    assert_string_equal(s.format, "+s");
    assert_int_equal(s.n_children, ARRAY_LEN(formats));
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        assert_string_equal(s.children[i]->format, formats[i]);
        assert_true(str_eqz(t->fields[i].name, s.children[i]->name));
        assert_int_equal(s.children[i]->flags, i == 4 ? 0 : ARROW_FLAG_NULLABLE);
    }
    struct ArrowSchema *list = s.children[15], *map = s.children[16];
    assert_string_equal(list->children[0]->format, "u");
    assert_int_equal(list->children[0]->flags, 0);
    assert_string_equal(map->children[0]->format, "+s");
    assert_int_equal(map->children[0]->flags, 0);
    assert_string_equal(map->children[0]->children[0]->name, "key");
    assert_int_equal(map->children[0]->children[0]->flags, 0);
    assert_string_equal(map->children[0]->children[1]->format, "l");
    assert_int_equal(map->children[0]->children[1]->flags, ARROW_FLAG_NULLABLE);
    assert_non_null(s.children[14]->metadata);

    assert_int_equal(arrow_schema_to_type(&s, *state, &back, NULL), SILT_OK);
    assert_true(type_equal(t, back));
    assert_false(back->fields[4].nullable);
    assert_false(back->fields[15].type->contains_null);
    assert_true(back->fields[16].type->contains_null);

    struct ArrowSchema moved = *s.children[9]; /* a consumer may take a child away */
    s.children[9]->release = NULL;
    s.release(&s);
    assert_null(s.release);
    assert_string_equal(moved.name, "s");
    moved.release(&moved);
}

static silt_status one_format(arena *a, const char *format, struct ArrowSchema **children, int64_t n,
                              struct ArrowSchema *dictionary, const data_type **out, silt_error *err) {
    struct ArrowSchema column = {.format = format, .name = "c", .children = children, .n_children = n, .dictionary = dictionary},
                       *columns[] = {&column};
    struct ArrowSchema top = {.format = "+s", .name = "", .children = columns, .n_children = 1};
    const data_type *t = NULL;
    silt_status s = arrow_schema_to_type(&top, a, &t, err);
    if (s == SILT_OK) *out = t->fields[0].type;
    return s;
}

static void foreign_formats_map_to_spark_types(void **state) {
    arena *a = *state;
    static const struct {
        const char *format, *simple;
    } cases[] = {
        {"C", "smallint"},
        {"S", "int"},
        {"I", "bigint"},
        {"L", "decimal(20,0)"},
        {"e", "float"},
        {"U", "string"},
        {"Z", "binary"},
        {"vu", "string"},
        {"vz", "binary"},
        {"w:16", "binary"},
        {"tdm", "date"},
        {"tss:", "timestamp_ntz"},
        {"tsn:Europe/Paris", "timestamp"},
        {"tsm:+05:00", "timestamp"},
        {"d:10,2,128", "decimal(10,2)"},
        {"d:20,0,256", "decimal(20,0)"},
        {"tDn", "interval day to second"},
    };
    const data_type *t;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(one_format(a, cases[i].format, NULL, 0, NULL, &t, NULL), SILT_OK);
        assert_string_equal(type_simple(t, a).ptr, cases[i].simple);
    }
    struct ArrowSchema text = {.format = "u", .name = "item"}, run_ends = {.format = "i", .name = "run_ends"}, *child[] = {&text},
                       *runs[] = {&run_ends, &text};
    static const char *const lists[] = {"+L", "+w:3", "+vl", "+vL", "+l"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        assert_int_equal(one_format(a, lists[i], child, 1, NULL, &t, NULL), SILT_OK);
        assert_string_equal(type_simple(t, a).ptr, "array<string>");
    }
    assert_int_equal(one_format(a, "+r", runs, 2, NULL, &t, NULL), SILT_OK);
    assert_string_equal(type_simple(t, a).ptr, "string");
    assert_int_equal(one_format(a, "i", NULL, 0, &text, &t, NULL), SILT_OK);
    assert_string_equal(type_simple(t, a).ptr, "string");
}

static void other_formats_are_refused_by_name(void **state) {
    static const char *const bad[] = {"ttu", "tts", "d:76,10,256", "d:10", "d:5,-2", "+ud:0,1", "+us:0", "+l",
                                      "+m",  "+r",  "tsx:",        "ts",   "?",      "",        NULL};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const data_type *t;
        silt_error err = {0};
        assert_int_equal(one_format(*state, bad[i], NULL, 0, NULL, &t, &err), SILT_UNSUPPORTED);
        assert_string_equal(err.condition, "DELTA_UNSUPPORTED_DATA_TYPES");
        if (bad[i]) assert_non_null(strstr(err.message, bad[i]));
        assert_non_null(strstr(err.detail, "column c"));
    }
    const data_type *t;
    struct ArrowSchema top = {.format = "i", .name = ""};
    assert_int_equal(arrow_schema_to_type(&top, *state, &t, NULL), SILT_UNSUPPORTED);
}

static const uint8_t *bytes_of(const struct ArrowArray *array, int buffer) { return array->buffers[buffer]; }

static void scalars_lie_as_the_format_says(void **state) {
    arena *a = *state;
    struct ArrowArray out;
    arrow_builder *b = arrow_builder_new(&type_short);
    assert_true(arrow_append_i64(b, -2) && arrow_append_null(b) && arrow_append_i64(b, 513));
    assert_int_equal(arrow_builder_rows(b), 3);
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    assert_int_equal(out.length, 3);
    assert_int_equal(out.null_count, 1);
    assert_int_equal(out.n_buffers, 2);
    assert_int_equal(bytes_of(&out, 0)[0] & 7, 5);
    assert_memory_equal(out.buffers[1], "\xfe\xff\x00\x00\x01\x02", 6);
    out.release(&out);
    assert_null(out.release);

    /* The builder is empty again, and a column without nulls has no validity. */
    assert_int_equal(arrow_builder_rows(b), 0);
    assert_true(arrow_append_i64(b, 7));
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    assert_null(out.buffers[0]);
    assert_int_equal(((const int16_t *)out.buffers[1])[0], 7);
    out.release(&out);
    arrow_builder_free(b);

    b = arrow_builder_new(&type_boolean);
    for (int i = 0; i < 10; i++) assert_true(i == 4 ? arrow_append_null(b) : arrow_append_bool(b, i % 3 == 0));
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    assert_int_equal(bytes_of(&out, 0)[0], 0xef);
    assert_int_equal(bytes_of(&out, 1)[0], 0x49);  /* rows 0, 3, 6 */
    assert_int_equal(bytes_of(&out, 1)[1] & 3, 2); /* row 9 */
    out.release(&out);
    arrow_builder_free(b);

    b = arrow_builder_new(type_decimal(a, 38, 0));
    assert_true(arrow_append_decimal(b, -1));
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    for (int i = 0; i < 16; i++) assert_int_equal(bytes_of(&out, 1)[i], 0xff);
    out.release(&out);
    arrow_builder_free(b);

    b = arrow_builder_new(&type_float);
    assert_true(arrow_append_f64(b, 1.5) && arrow_append_f64(b, 0.1));
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    assert_true(((const float *)out.buffers[1])[1] == 0.1f);
    out.release(&out);
    arrow_builder_free(b);

    b = arrow_builder_new(&type_void);
    assert_true(arrow_append_null(b) && arrow_append_null(b));
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    assert_int_equal(out.n_buffers, 0);
    assert_int_equal(out.null_count, 2);
    out.release(&out);
    arrow_builder_free(b);
}

static void texts_have_offsets(void **state) {
    struct ArrowArray out;
    arrow_builder *b = arrow_builder_new(&type_string);
    assert_true(arrow_append_str(b, STR("ab")) && arrow_append_null(b) && arrow_append_str(b, STR("")) &&
                arrow_append_str(b, STR("é")));
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    const int32_t *offsets = out.buffers[1];
    const int32_t expected[] = {0, 2, 2, 2, 4};
    assert_memory_equal(offsets, expected, sizeof expected);
    assert_memory_equal(out.buffers[2], "ab\xC3\xA9", 4);
    out.release(&out);

    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK); /* no rows: one offset, and memory behind every buffer */
    assert_int_equal(out.length, 0);
    assert_int_equal(((const int32_t *)out.buffers[1])[0], 0);
    assert_non_null(out.buffers[2]);
    out.release(&out);
    arrow_builder_free(b);
    (void)state;
}

/* struct<a:array<int>, m:map<string,long>>: rows {[1,null],{x:5}}, null, {[],{}}, {null,null}. */
static void nested_rows(void **state) {
    arena *a = *state;
    field fields[] = {field_make(STR("a"), type_array(a, &type_int, true), true),
                      field_make(STR("m"), type_map(a, &type_string, &type_long, true), true)};
    arrow_builder *b = arrow_builder_new(type_struct(a, fields, 2)), *list = arrow_child(b, 0), *map = arrow_child(b, 1);
    assert_true(arrow_append_i64(arrow_child(list, 0), 1) && arrow_append_null(arrow_child(list, 0)) && arrow_finish_row(list));
    assert_true(arrow_append_str(arrow_child(map, 0), STR("x")) && arrow_append_i64(arrow_child(map, 1), 5) &&
                arrow_finish_row(map));
    assert_true(arrow_finish_row(b));
    assert_true(arrow_append_null(b));
    assert_true(arrow_finish_row(list) && arrow_finish_row(map) && arrow_finish_row(b));
    assert_true(arrow_append_null(list) && arrow_append_null(map) && arrow_finish_row(b));

    struct ArrowArray out;
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    assert_int_equal(out.length, 4);
    assert_int_equal(out.null_count, 1);
    assert_int_equal(out.n_buffers, 1);
    assert_int_equal(bytes_of(&out, 0)[0], 0xd);
    struct ArrowArray *la = out.children[0], *ma = out.children[1];
    const int32_t list_offsets[] = {0, 2, 2, 2, 2}, map_offsets[] = {0, 1, 1, 1, 1};
    assert_int_equal(la->length, 4);
    assert_int_equal(la->null_count, 2);
    assert_int_equal(bytes_of(la, 0)[0], 5);
    assert_memory_equal(la->buffers[1], list_offsets, sizeof list_offsets);
    assert_int_equal(la->children[0]->length, 2);
    assert_int_equal(la->children[0]->null_count, 1);
    assert_memory_equal(ma->buffers[1], map_offsets, sizeof map_offsets);
    assert_int_equal(ma->n_children, 1);
    struct ArrowArray *entries = ma->children[0];
    assert_int_equal(entries->length, 1);
    assert_int_equal(entries->n_children, 2);
    assert_memory_equal(entries->children[0]->buffers[2], "x", 1);
    assert_int_equal(((const int64_t *)entries->children[1]->buffers[1])[0], 5);

    struct ArrowArray moved = *la;
    la->release = NULL;
    out.release(&out);
    assert_int_equal(((const int32_t *)moved.children[0]->buffers[1])[0], 1);
    moved.release(&moved);

    /* the second batch starts from nothing */
    assert_true(arrow_append_i64(arrow_child(list, 0), 9) && arrow_finish_row(list) && arrow_append_null(map) &&
                arrow_finish_row(b));
    assert_int_equal(arrow_builder_finish(b, &out, NULL), SILT_OK);
    assert_int_equal(((const int32_t *)out.children[0]->buffers[1])[1], 1);
    out.release(&out);
    arrow_builder_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_ARENA(every_type_has_its_format),
        WITH_ARENA(foreign_formats_map_to_spark_types),
        WITH_ARENA(other_formats_are_refused_by_name),
        WITH_ARENA(scalars_lie_as_the_format_says),
        WITH_ARENA(texts_have_offsets),
        WITH_ARENA(nested_rows),
    };
    return RUN_TESTS(tests);
}
