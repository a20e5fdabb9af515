/* The Parquet service: write, read back by name, projection of nested columns, missing fields, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"

static engine *shared;
static char folder[] = "/tmp/silt-parquet-XXXXXX";

static int set_up(void **state) {
    (void)state;
    silt_error err = {0};
    engine_options options = {.threads = 2};
    if (!mkdtemp(folder)) return -1;
    if (engine_open(&options, &shared, &err) != SILT_OK) {
        print_error("%s: %s %s\n", err.condition, err.message, err.detail);
        return -1;
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    engine_close(shared);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : -1;
}

static void assert_ok(silt_status status, const silt_error *err) {
    if (status != SILT_OK) print_error("%s: %s | %s\n", err->condition, err->message, err->detail);
    assert_int_equal(status, SILT_OK);
}

static str file_path(arena *a, const char *name) { return arena_printf(a, "%s/%s", folder, name); }

/* A stream of one or more arrays made by a callback. */
typedef struct test_stream {
    const data_type *type;
    int64_t batches, at, rows_per_batch;
    void (*append)(arrow_builder *b, int64_t row);
} test_stream;

static int stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
    return arrow_schema_from_type(((test_stream *)s->private_data)->type, out, NULL) == SILT_OK ? 0 : 12;
}

static int stream_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
    test_stream *t = s->private_data;
    memset(out, 0, sizeof *out);
    if (t->at == t->batches) return 0;
    arrow_builder *b = arrow_builder_new(t->type);
    for (int64_t i = 0; i < t->rows_per_batch; i++) t->append(b, t->at * t->rows_per_batch + i);
    t->at++;
    silt_status status = arrow_builder_finish(b, out, NULL);
    arrow_builder_free(b);
    return status == SILT_OK ? 0 : 12;
}

static const char *stream_error(struct ArrowArrayStream *s) {
    (void)s;
    return NULL;
}

static void stream_release(struct ArrowArrayStream *s) { s->release = NULL; }

static void write_rows(const char *name, const data_type *type, int64_t batches, int64_t rows_per_batch,
                       void (*append)(arrow_builder *, int64_t)) {
    test_stream t = {.type = type, .batches = batches, .rows_per_batch = rows_per_batch, .append = append};
    struct ArrowArrayStream stream = {stream_schema, stream_next, stream_error, stream_release, &t};
    silt_error err = {0};
    arena *a = arena_new();
    parquet_service *s = engine_parquet(shared);
    assert_ok(s->write(s, file_path(a, name), type, &stream, &err), &err);
    stream.release(&stream);
    arena_free(a);
}

/* Rows of a checkpoint in miniature: add struct<path, partitionValues map, size, stats struct<list>>, txn struct<appId>. */
static const data_type *checkpoint_type(arena *a) {
    static field stats[2], add[4], top[2], txn[1];
    stats[0] = field_make(STR("n"), &type_long, true);
    stats[1] = field_make(STR("tags"), type_array(a, &type_string, true), true);
    add[0] = field_make(STR("path"), &type_string, true);
    add[1] = field_make(STR("partitionValues"), type_map(a, &type_string, &type_string, true), true);
    add[2] = field_make(STR("size"), &type_long, true);
    add[3] = field_make(STR("stats"), type_struct(a, stats, 2), true);
    txn[0] = field_make(STR("appId"), &type_string, true);
    top[0] = field_make(STR("add"), type_struct(a, add, 4), true);
    top[1] = field_make(STR("txn"), type_struct(a, txn, 1), true);
    return type_struct(a, top, 2);
}

static void append_checkpoint_row(arrow_builder *b, int64_t row) {
    arrow_builder *add = arrow_child(b, 0), *txn = arrow_child(b, 1);
    if (row % 10 == 9) { /* a txn row: add is null */
        arrow_append_null(add);
        arrow_append_str(arrow_child(txn, 0), STR("app"));
        arrow_finish_row(txn);
        arrow_finish_row(b);
        return;
    }
    char path[64];
    int n = snprintf(path, sizeof path, "part-%05lld-with-a-long-name.parquet", (long long)row);
    arrow_append_str(arrow_child(add, 0), (str){path, (size_t)n});
    arrow_builder *map = arrow_child(add, 1);
    arrow_append_str(arrow_child(map, 0), STR("p"));
    if (row % 3 == 0)
        arrow_append_null(arrow_child(map, 1));
    else
        arrow_append_str(arrow_child(map, 1), STR("x"));
    arrow_finish_row(map);
    arrow_append_i64(arrow_child(add, 2), row * 100);
    arrow_builder *stats = arrow_child(add, 3);
    arrow_append_i64(arrow_child(stats, 0), row);
    arrow_builder *tags = arrow_child(stats, 1);
    for (int64_t i = 0; i < row % 4; i++) arrow_append_str(arrow_child(tags, 0), STR("t"));
    arrow_finish_row(tags);
    arrow_finish_row(stats);
    arrow_finish_row(add);
    arrow_append_null(txn);
    arrow_finish_row(b);
}

static bool is_valid(const struct ArrowArray *a, int64_t i) {
    return !a->buffers[0] || (((const uint8_t *)a->buffers[0])[(a->offset + i) >> 3] >> ((a->offset + i) & 7) & 1);
}

static str text_at(const struct ArrowArray *a, int64_t i) {
    const int32_t *offsets = a->buffers[1];
    return (str){(const char *)a->buffers[2] + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
}

static void open_stream(const char *name, const data_type *type, struct ArrowArrayStream *out) {
    silt_error err = {0};
    arena *a = arena_new();
    parquet_service *s = engine_parquet(shared);
    assert_ok(s->read(s, file_path(a, name), type, out, &err), &err);
    arena_free(a);
}

static void round_trip_keeps_nested_values(void **state) {
    (void)state;
    arena *a = arena_new();
    write_rows("cp.parquet", checkpoint_type(a), 3, 3000, append_checkpoint_row);
    struct ArrowArrayStream stream;
    open_stream("cp.parquet", checkpoint_type(a), &stream);
    int64_t row = 0;
    for (;;) {
        struct ArrowArray batch;
        assert_int_equal(stream.get_next(&stream, &batch), 0);
        if (!batch.release) break;
        const struct ArrowArray *add = batch.children[0], *txn = batch.children[1], *map = add->children[1],
                                *stats = add->children[3];
        const int32_t *map_offsets = map->buffers[1], *tag_offsets = stats->children[1]->buffers[1];
        for (int64_t i = 0; i < batch.length; i++, row++) {
            /* a null struct may come as a struct of nulls: its leaves tell */
            assert_int_equal(is_valid(add, i) && is_valid(add->children[0], i), row % 10 != 9);
            assert_int_equal(is_valid(txn, i) && is_valid(txn->children[0], i), row % 10 == 9);
            if (row % 10 == 9) continue;
            char path[64];
            snprintf(path, sizeof path, "part-%05lld-with-a-long-name.parquet", (long long)row);
            assert_true(str_eqz(text_at(add->children[0], i), path));
            assert_int_equal(((const int64_t *)add->children[2]->buffers[1])[i], row * 100);
            assert_int_equal(map_offsets[i + 1] - map_offsets[i], 1);
            const struct ArrowArray *entries = map->children[0];
            assert_true(str_eqz(text_at(entries->children[0], map_offsets[i]), "p"));
            assert_int_equal(is_valid(entries->children[1], map_offsets[i]), row % 3 != 0);
            assert_int_equal(tag_offsets[i + 1] - tag_offsets[i], row % 4);
        }
        batch.release(&batch);
    }
    assert_int_equal(row, 9000);
    stream.release(&stream);
    arena_free(a);
}

static void projection_is_by_name_at_every_depth(void **state) {
    (void)state;
    arena *a = arena_new();
    field add[3] = {field_make(STR("size"), &type_long, true), field_make(STR("absent"), &type_string, true),
                    field_make(STR("path"), &type_string, true)};
    field top[2] = {field_make(STR("nowhere"), type_array(a, &type_int, true), true),
                    field_make(STR("add"), type_struct(a, add, 3), true)};
    struct ArrowArrayStream stream;
    open_stream("cp.parquet", type_struct(a, top, 2), &stream);
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.n_children, 2);
    assert_int_equal(batch.children[0]->null_count, batch.length);
    const struct ArrowArray *read = batch.children[1];
    assert_int_equal(((const int64_t *)read->children[0]->buffers[1])[2], 200);
    assert_int_equal(read->children[1]->null_count, batch.length);
    assert_true(str_eqz(text_at(read->children[2], 2), "part-00002-with-a-long-name.parquet"));
    batch.release(&batch);
    stream.release(&stream);
    arena_free(a);
}

static void schema_of_a_file_is_told(void **state) {
    (void)state;
    arena *a = arena_new();
    const data_type *found;
    silt_error err = {0};
    parquet_service *s = engine_parquet(shared);
    assert_ok(s->read_schema(s, file_path(a, "cp.parquet"), a, &found, &err), &err);
    assert_true(type_equal(found, checkpoint_type(a)));
    arena_free(a);
}

static const data_type *one_long(arena *a) {
    static field top[1];
    top[0] = field_make(STR("x"), &type_long, true);
    return type_struct(a, top, 1);
}

static void missing_and_damaged_files_are_named(void **state) {
    (void)state;
    arena *a = arena_new();
    parquet_service *s = engine_parquet(shared);
    struct ArrowArrayStream stream;
    silt_error err = {0};
    assert_int_equal(s->read(s, file_path(a, "none.parquet"), one_long(a), &stream, &err), SILT_NOT_FOUND);
    assert_string_equal(err.condition, "FILE_NOT_FOUND");
    str path = file_path(a, "bad.parquet");
    FILE *f = fopen(path.ptr, "wb");
    fputs("PAR1 this is not a Parquet file at all, it only begins like one", f);
    fclose(f);
    silt_error damaged = {0};
    silt_status status = s->read(s, path, one_long(a), &stream, &damaged);
    if (status == SILT_OK) {
        struct ArrowArray batch;
        assert_int_not_equal(stream.get_next(&stream, &batch), 0);
        assert_non_null(strstr(stream.get_last_error(&stream), "bad.parquet"));
        stream.release(&stream);
    } else {
        assert_string_equal(damaged.condition, "FAILED_READ_FILE");
        assert_non_null(strstr(damaged.message, "bad.parquet"));
    }
    arena_free(a);
}

static void names_with_glob_characters_are_plain(void **state) {
    (void)state;
    arena *a = arena_new();
    write_rows("a[1]*?.parquet", checkpoint_type(a), 1, 10, append_checkpoint_row);
    write_rows("a1xx.parquet", checkpoint_type(a), 2, 10, append_checkpoint_row);
    struct ArrowArrayStream stream;
    open_stream("a[1]*?.parquet", checkpoint_type(a), &stream);
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 10);
    batch.release(&batch);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_null(batch.release);
    stream.release(&stream);
    arena_free(a);
}

static const data_type *every_type(arena *a) {
    static field f[14];
    const data_type *types[] = {&type_boolean,
                                &type_byte,
                                &type_short,
                                &type_int,
                                &type_long,
                                &type_float,
                                &type_double,
                                type_decimal(a, 4, 1),
                                type_decimal(a, 9, 2),
                                type_decimal(a, 18, 3),
                                type_decimal(a, 38, 4),
                                &type_date,
                                &type_timestamp,
                                &type_timestamp_ntz};
    static const char *const names[] = {"bo", "by", "sh", "i", "l", "f", "d", "d4", "d9", "d18", "d38", "dt", "ts", "tn"};
    for (size_t i = 0; i < ARRAY_LEN(f); i++) f[i] = field_make(str_of(names[i]), types[i], true);
    return type_struct(a, f, ARRAY_LEN(f));
}

static void append_every_type(arrow_builder *b, int64_t row) {
    static const int64_t values[] = {0, 1, -1, 127, -128, -62135596800000000};
    int64_t v = values[row];
    for (size_t i = 0; i < 14; i++) {
        arrow_builder *c = arrow_child(b, i);
        if (i == 0)
            arrow_append_bool(c, v != 0);
        else if (i == 5 || i == 6)
            arrow_append_f64(c, (double)v / 2);
        else if (i >= 7 && i <= 10)
            arrow_append_decimal(c, v < -1000 ? -999 : v);
        else
            arrow_append_i64(c, i < 4 || i == 11 ? (v < -1000 ? -7 : v) : v);
    }
    arrow_finish_row(b);
}

static void every_primitive_type_comes_back(void **state) {
    (void)state;
    arena *a = arena_new();
    write_rows("types.parquet", every_type(a), 1, 6, append_every_type);
    struct ArrowArrayStream stream;
    open_stream("types.parquet", every_type(a), &stream);
    struct ArrowArray got, wanted;
    assert_int_equal(stream.get_next(&stream, &got), 0);
    arrow_builder *b = arrow_builder_new(every_type(a));
    for (int64_t i = 0; i < 6; i++) append_every_type(b, i);
    assert_int_equal(arrow_builder_finish(b, &wanted, NULL), SILT_OK);
    static const size_t widths[] = {0, 1, 2, 4, 8, 4, 8, 16, 16, 16, 16, 4, 8, 8};
    assert_int_equal(got.length, 6);
    for (size_t i = 0; i < 14; i++)
        assert_memory_equal(got.children[i]->buffers[1], wanted.children[i]->buffers[1], widths[i] ? widths[i] * 6 : 1);
    arrow_builder_free(b);
    wanted.release(&wanted);
    got.release(&got);
    stream.release(&stream);
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_keeps_nested_values),
        cmocka_unit_test(projection_is_by_name_at_every_depth),
        cmocka_unit_test(schema_of_a_file_is_told),
        cmocka_unit_test(missing_and_damaged_files_are_named),
        cmocka_unit_test(names_with_glob_characters_are_plain),
        cmocka_unit_test(every_primitive_type_comes_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
