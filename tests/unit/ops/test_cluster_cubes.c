/* Which files OPTIMIZE of a clustered table takes, told by their tags: those of Delta 4.3's rules, and tags that nobody should have written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/maintain/cluster_cubes.h"
#include "ops_test.h"

#define SCHEMA                                                                                                          \
    "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"a\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}," \
    "{\\\"name\\\":\\\"b\\\",\\\"type\\\":\\\"integer\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}"
#define OURS   "\"clusteringProvider\":\"liquid\",\"tags\":{\"ZCUBE_ID\":\"%s\",\"ZCUBE_ZORDER_BY\":\"[\\\"a\\\"]\"}"
#define OTHERS "\"clusteringProvider\":\"liquid\",\"tags\":{\"ZCUBE_ID\":\"%s\",\"ZCUBE_ZORDER_BY\":\"[\\\"b\\\"]\"}"

/* A file: its bytes and what of its add tells its cube; %s in `more` is `cube`. */
typedef struct given_file {
    int bytes;
    const char *more, *cube;
} given_file;

static void write_log(world *w, const given_file *files, size_t n) {
    char path[256];
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    buf_append_z(&text, "{\"commitInfo\":{\"timestamp\":1,\"operation\":\"WRITE\",\"operationParameters\":{}}}\n"
                        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"deletionVectors\"],\"writerFeatures\":[\"deletionVectors\",\"domainMetadata\",\"clustering\"]}}\n"
                        "{\"metaData\":{\"id\":\"i\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"" SCHEMA
                        "\",\"partitionColumns\":[],\"configuration\":{\"delta.enableDeletionVectors\":\"true\"},\"createdTime\":1}}\n"
                        "{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":\"{\\\"clusteringColumns\\\":[[\\\"a\\\"]]}\",\"removed\":false}}\n");
    for (size_t i = 0; i < n; i++) {
        buf_printf(&text, "{\"add\":{\"path\":\"f%zu\",\"partitionValues\":{},\"size\":%d,\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":10}\"", i, files[i].bytes);
        if (files[i].more) {
            buf_append_char(&text, ',');
            for (const char *at = files[i].more; *at; at++) {
                if (at[0] == '%' && at[1] == 's')
                    buf_append_z(&text, files[i].cube), at++;
                else
                    buf_append_char(&text, *at);
            }
        }
        buf_append_z(&text, "}}\n");
    }
    snprintf(path, sizeof path, "%s/_delta_log/00000000000000000000.json", w->root);
    OK(store_put(w->store, str_of(path), buf_str(&text), STORE_PUT_REPLACE, &w->err));
    buf_dispose(&text);
}

/* "f0 f2 | f1": the bins by the paths of their files. */
static const char *plan_of(world *w, const given_file *files, size_t n, bool full, cluster_plan *out) {
    op o = {&w->env, w->a, &w->err};
    write_log(w, files, n);
    delta_snapshot *s = world_snapshot(w);
    OK(cluster_plan_make(&o, s, full, out));
    str text = STR("");
    for (size_t i = 0; i < out->n_bins; i++) {
        int64_t bytes = 0;
        for (size_t k = 0; k < out->bins[i].n_files; k++) {
            delta_add add;
            OK(delta_snapshot_file(s, out->bins[i].files[k], false, w->a, &add, &w->err));
            text = arena_printf(w->a, "%.*s%s%.*s", STR_ARG(text), k ? " " : i ? " | " : "", STR_ARG(add.path));
            bytes += add.size_bytes;
        }
        assert_int_equal(out->bins[i].bytes, bytes);
    }
    delta_snapshot_release(s);
    return arena_cstr(w->a, text);
}

static void assert_taken(world *w, const given_file *files, size_t n, const char *expected, const char *expected_full) {
    cluster_plan p;
    assert_string_equal(plan_of(w, files, n, false, &p), expected);
    assert_string_equal(plan_of(w, files, n, true, &p), expected_full);
}

static void sizes(world *w) {
    world_set(w, "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold", "100");
    world_set(w, "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.targetCubeSize", "150");
}

static void new_files_join_small_cubes(void **state) {
    world *w = *state;
    const given_file files[] = {{40, OURS, "c1"}, {10, NULL, NULL}, {60, OURS, "c2"}, {50, OURS, "c2"}, {30, OURS, "c1"}, {20, NULL, NULL}};
    sizes(w);
    assert_taken(w, files, 6, "f1 f5 f0 f4", "f1 f5 f0 f4"); /* c2 has 110 bytes */
}

static void a_small_cube_alone_stays(void **state) {
    world *w = *state;
    const given_file one[] = {{40, OURS, "c1"}, {10, OURS, "c1"}, {60, OURS, "c2"}, {50, OURS, "c2"}};
    const given_file two[] = {{40, OURS, "c1"}, {10, OURS, "c2"}};
    sizes(w);
    assert_taken(w, one, 4, "", "");
    assert_taken(w, two, 2, "f0 f1", "f0 f1");
    assert_taken(w, NULL, 0, "", "");
}

static void bins_end_at_the_target(void **state) {
    world *w = *state;
    const given_file files[] = {{80, NULL, NULL}, {70, NULL, NULL}, {1, NULL, NULL}, {500, NULL, NULL}, {5, NULL, NULL}};
    sizes(w);
    assert_taken(w, files, 5, "f0 f1 | f2 | f3 | f4", "f0 f1 | f2 | f3 | f4");
}

static void cubes_of_other_columns_ask_for_full(void **state) {
    world *w = *state;
    const given_file files[] = {{40, OTHERS, "c1"}, {10, NULL, NULL}, {300, OTHERS, "c2"}, {30, OURS, "c3"}};
    const given_file others[] = {{40, OTHERS, "c1"}, {30, OURS, "c3"}};
    sizes(w);
    assert_taken(w, files, 4, "f1 f3", "f1 f3 f0 | f2");
    assert_taken(w, others, 2, "", "f1 f0");
}

static void files_of_other_providers_are_left_alone(void **state) {
    world *w = *state;
    const given_file files[] = {{40, "\"clusteringProvider\":\"else\"", NULL}, {10, NULL, NULL}, {11, NULL, NULL}};
    sizes(w);
    assert_taken(w, files, 3, "f1 f2", "f1 f2 f0");
}

/* A file whose tags do not name a cube is a file of none. */
static void broken_tags(void **state) {
    world *w = *state;
    const given_file files[] = {{10, "\"tags\":{\"ZCUBE_ID\":\"c1\"}", NULL},
                                {10, "\"tags\":{\"ZCUBE_ID\":\"c1\",\"ZCUBE_ZORDER_BY\":\"no list\"}", NULL},
                                {10, "\"tags\":{\"ZCUBE_ZORDER_BY\":\"[\\\"a\\\"]\"}", NULL},
                                {10, "\"tags\":{}", NULL},
                                {10, "\"tags\":{\"ZCUBE_ID\":\"c9\",\"ZCUBE_ZORDER_BY\":\"[1]\"}", NULL}};
    cluster_plan p;
    sizes(w);
    assert_string_equal(plan_of(w, files, 4, false, &p), "f2 f3 f0 f1");
    assert_string_equal(plan_of(w, files, 5, false, &p), "f2 f3 f0 f1"); /* of columns that are not ours */
}

/* What a deletion vector hides does not count for the size of a cube. */
static void hidden_rows_make_a_cube_small(void **state) {
    world *w = *state;
    const given_file files[] = {
        {120, OURS ",\"deletionVector\":{\"storageType\":\"i\",\"pathOrInlineDv\":\"wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L\",\"sizeInBytes\":40,\"cardinality\":5}", "c1"}, {10, NULL, NULL}, {130, OURS, "c2"}};
    sizes(w);
    assert_taken(w, files, 3, "f1 f0", "f1 f0");
}

static void numbers_as_spark_counts_them(void **state) {
    world *w = *state;
    const given_file files[] = {{40, OURS, "c1"}, {10, NULL, NULL}, {60, OURS, "c2"}, {50, OURS, "c2"}, {30, OTHERS, "c3"}};
    cluster_plan p;
    sizes(w);
    plan_of(w, files, 5, false, &p);
    assert_int_equal(p.stats.input_cube_files.files, 3);
    assert_int_equal(p.stats.input_cube_files.bytes, 150);
    assert_int_equal(p.stats.input_other_files.files, 2);
    assert_int_equal(p.stats.input_other_files.bytes, 40);
    assert_int_equal(p.stats.input_cubes, 2);
    assert_int_equal(p.stats.merged_files.files, 2);
    assert_int_equal(p.stats.merged_files.bytes, 50);
    assert_int_equal(p.stats.output_cubes, 1);
    plan_of(w, files, 5, true, &p);
    assert_int_equal(p.stats.input_cube_files.files, 4);
    assert_int_equal(p.stats.input_cubes, 3);
    assert_int_equal(p.stats.merged_files.files, 3);
}

static void tags_of_a_new_cube(void **state) {
    world *w = *state;
    op o = {&w->env, w->a, &w->err};
    const given_file files[] = {{10, NULL, NULL}, {10, NULL, NULL}};
    cluster_plan p;
    str one, two;
    plan_of(w, files, 2, false, &p);
    OK(cluster_cube_tags(&o, &p, &one));
    OK(cluster_cube_tags(&o, &p, &two));
    assert_int_equal(one.len, strlen("{\"ZCUBE_ID\":\"00000000-0000-0000-0000-000000000000\",\"ZCUBE_ZORDER_BY\":\"[\\\"a\\\"]\"}"));
    assert_true(str_starts_with(one, STR("{\"ZCUBE_ID\":\"")));
    assert_false(str_eq(one, two));
}

int main(void) {
    const struct CMUnitTest tests[] = {WITH_WORLD(new_files_join_small_cubes), WITH_WORLD(a_small_cube_alone_stays), WITH_WORLD(bins_end_at_the_target),
                                       WITH_WORLD(cubes_of_other_columns_ask_for_full), WITH_WORLD(files_of_other_providers_are_left_alone), WITH_WORLD(broken_tags),
                                       WITH_WORLD(hidden_rows_make_a_cube_small), WITH_WORLD(numbers_as_spark_counts_them), WITH_WORLD(tags_of_a_new_cube)};
    return RUN_TESTS(tests);
}
