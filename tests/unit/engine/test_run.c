/* Queries end to end: parsed and bound text over tables of given files; streaming, log answers, explain, folding, export, cancellation. */
#include <pthread.h>
#include <unistd.h>

#include "support.h"

#include "base/time.h"

static table_source *resolved;

static silt_status resolve(table_resolver *r, const relation *rel, arena *a, table_source **out_source, str *out_view,
                           silt_error *err) {
    (void)r;
    (void)rel;
    (void)a;
    (void)out_view;
    (void)err;
    *out_source = resolved;
    return SILT_OK;
}

/* The text, parsed, bound (every table name is `t`) and pushed down. */
static query *bind_text(const char *text, fake_table *t) {
    static table_resolver resolver = {.resolve = resolve};
    bind_env *env = ARENA_NEW(fix.arena, bind_env);
    *env = plain_env;
    env->resolver = &resolver;
    env->source_text = str_of(text);
    env->fold = engine_fold;
    env->fold_ctx = fix.engine;
    resolved = t ? &t->base : NULL;
    query *q;
    silt_error err = {0};
    assert_ok(query_parse(str_of(text), fix.arena, &q, &err), &err);
    assert_ok(query_bind(q, env, fix.arena, &err), &err);
    assert_ok(expr_push_predicates(q, env, fix.arena, &err), &err);
    return q;
}

static fake_table *numbers(void) {
    run_sql("COPY (SELECT i AS x, (i % 10)::INT AS k, 'v' || i AS s FROM range(100000) t(i)) TO '{}/numbers.parquet'");
    fake_table *t = make_table("x BIGINT, k INT, s STRING");
    add_file(t, "numbers.parquet")->num_records = 100000;
    t->rows = 100000;
    return t;
}

static void text_to_rows(void **state) {
    (void)state;
    fake_table *t = numbers();
    assert_string_equal(rows_of(bind_text("SELECT k, sum(x), max(s) FROM t WHERE x < 20 GROUP BY k HAVING k < 2 ORDER BY k", t)),
                        "0,10,v10\n1,12,v11");
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t a JOIN t b ON a.x = b.x WHERE a.k = 3", t)), "10000");
    assert_string_equal(
        rows_of(bind_text("WITH c AS (SELECT x FROM t WHERE x > 99997) SELECT * FROM c UNION ALL SELECT x FROM c ORDER BY 1", t)),
        "99998\n99998\n99999\n99999");
}

/* ---- log answers ---- */

static void counts_come_from_the_log(void **state) {
    (void)state;
    fake_table *t = numbers();
    t->rows = 12345; /* not what the file says: the log was asked */
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t", t)), "12345");
    assert_string_equal(rows_of(bind_text("SELECT count(1) AS n, count(*) FROM t", t)), "12345,12345");
    assert_int_equal(t->scans, 0);
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t WHERE x >= 0", t)), "100000");
    assert_string_equal(rows_of(bind_text("SELECT count(x) FROM t", t)), "100000");
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t GROUP BY k LIMIT 1", t)), "10000");
    assert_string_equal(rows_of(bind_text("SELECT count(DISTINCT k) FROM t", t)), "10");
    t->rows = -1;
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t", t)), "100000");
}

static void bounds_come_from_the_log_where_certain(void **state) {
    (void)state;
    fake_table *t = numbers();
    t->has_bounds = true;
    t->low = -7;
    t->high = 77;
    t->rows = 3;
    assert_string_equal(rows_of(bind_text("SELECT min(x), max(x), count(*) FROM t", t)), "-7,77,3");
    assert_int_equal(t->scans, 0);
    assert_string_equal(rows_of(bind_text("SELECT min(s) FROM t", t)), "v0");
    assert_string_equal(rows_of(bind_text("SELECT min(x) FROM t WHERE x > 5", t)), "6");
    t->has_bounds = false;
    assert_string_equal(rows_of(bind_text("SELECT min(x), max(x) FROM t", t)), "0,99999");
}

static void partition_filters_count_whole_files(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x FROM range(3) t(i)) TO '{}/three.parquet'");
    fake_table *t = make_table("x BIGINT, p INT");
    static const uint32_t columns[] = {1};
    t->base.partition_columns = columns;
    t->base.n_partition_columns = 1;
    static const value parts[] = {
        {.type = &type_int, .as.i64 = 1}, {.type = &type_int, .as.i64 = 2}, {.type = &type_int, .is_null = true}};
    for (size_t i = 0; i < 3; i++) {
        scan_file *f = add_file(t, "three.parquet");
        f->partition = &parts[i];
        f->num_records = 3;
    }
    /* This table prunes nothing: each file then is in the answer to the filter and to its opposite, so that the log is not trusted. */
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t WHERE p = 1", t)), "3");
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t WHERE p <> 1", t)), "3");
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t WHERE p = 1 AND rand() >= 0", t)), "3");
}

static void reports_say_what_was_read(void **state) {
    (void)state;
    fake_table *t = numbers();
    engine_result *r;
    size_t n;
    silt_error err = {0};
    assert_ok(engine_run(fix.engine, bind_text("SELECT x FROM t", t), &plain_env, &r, &err), &err);
    const scan_report *reports = engine_result_scans(r, &n);
    assert_int_equal(n, 1);
    assert_int_equal(reports[0].files_read, 1);
    assert_false(reports[0].from_log);
    engine_result_free(r);
    assert_ok(engine_run(fix.engine, bind_text("SELECT count(*) FROM t", t), &plain_env, &r, &err), &err);
    reports = engine_result_scans(r, &n);
    assert_int_equal(n, 1);
    assert_true(reports[0].from_log);
    engine_result_free(r);
}

/* ---- streams ---- */

static void two_results_stream_side_by_side(void **state) {
    (void)state;
    fake_table *t = numbers();
    engine_result *a, *b;
    silt_error err = {0};
    assert_ok(engine_run(fix.engine, bind_text("SELECT x FROM t", t), &plain_env, &a, &err), &err);
    assert_ok(engine_run(fix.engine, bind_text("SELECT s FROM t", t), &plain_env, &b, &err), &err);
    int64_t rows[2] = {0, 0};
    for (bool more = true; more;) {
        more = false;
        engine_result *both[2] = {a, b};
        for (size_t i = 0; i < 2; i++) {
            struct ArrowArray batch;
            assert_ok(engine_result_next(both[i], &batch, &err), &err);
            if (!batch.release) continue;
            more = true;
            rows[i] += batch.length;
            batch.release(&batch);
        }
    }
    assert_int_equal(rows[0], 100000);
    assert_int_equal(rows[1], 100000);
    engine_result_free(a);
    engine_result_free(b);
}

static void a_result_may_be_left_early(void **state) {
    (void)state;
    fake_table *t = numbers();
    engine_result *r;
    struct ArrowArray batch;
    silt_error err = {0};
    assert_ok(engine_run(fix.engine, bind_text("SELECT a.x FROM t a CROSS JOIN t b", t), &plain_env, &r, &err), &err);
    assert_ok(engine_result_next(r, &batch, &err), &err);
    batch.release(&batch);
    engine_result_free(r);
    assert_string_equal(rows_of(bind_text("SELECT 1", NULL)), "1");
}

static void errors_in_mid_stream_are_told(void **state) {
    (void)state;
    fake_table *t = numbers();
    const char *text;
    silt_error err = {0};
    assert_condition(try_rows(bind_text("SELECT 1 DIV (x - 90000) FROM t", t), &text, &err), &err, "DIVIDE_BY_ZERO");
}

/* A raised message quotes the user's value, which may look like a damaged file. */
static void raised_errors_are_not_taken_for_damage(void **state) {
    (void)state;
    run_sql("COPY (SELECT '/tmp/Corrupt malformed.parquet' AS s) TO '{}/words.parquet'");
    fake_table *t = make_table("s STRING");
    add_file(t, "words.parquet");
    const char *text;
    silt_error err = {0};
    assert_condition(try_rows(bind_text("SELECT CAST(s AS INT) FROM t", t), &text, &err), &err, "CAST_INVALID_INPUT");
}

static void *set_token_soon(void *ctx) {
    (void)ctx;
    usleep(100 * 1000);
    cancel_request(&fix.cancel, true);
    return NULL;
}

static void cancelling_stops_a_long_query(void **state) {
    (void)state;
    fake_table *t = numbers();
    query *q = bind_text("SELECT count(*) FROM t a JOIN t b ON a.x + b.x > 100 AND a.s < b.s", t);
    pthread_t thread;
    const char *text;
    silt_error err = {0};
    int64_t start = time_monotonic_ms();
    assert_int_equal(pthread_create(&thread, NULL, set_token_soon, NULL), 0);
    silt_status status = try_rows(q, &text, &err);
    pthread_join(thread, NULL);
    cancel_request(&fix.cancel, false);
    assert_condition(status, &err, "OPERATION_CANCELLED");
    assert_true(time_monotonic_ms() - start < 20000);
    assert_string_equal(rows_of(bind_text("SELECT 1", NULL)), "1");
}

/* ---- variants ---- */

static void variants_come_as_json_text(void **state) {
    (void)state;
    run_sql("COPY (SELECT variant_to_parquet_variant(v) AS v FROM (SELECT unnest([CAST(CAST('{\"a\":[1,null]}' AS JSON) AS "
            "VARIANT), NULL]) AS v)) TO '{}/variant.parquet'");
    fake_table *t = make_table("v VARIANT, missing VARIANT");
    add_file(t, "variant.parquet");
    assert_string_equal(rows_of(select_all(make_relation(t))), "{\"a\":[1,null]},null\nnull,null");
    const char *nested = rows_of(bind_text("SELECT named_struct('k', v), array(v) FROM t", t));
    assert_string_equal(nested, "({\"a\":[1,null]}),[{\"a\":[1,null]}]\n(null),[null]");
}

/* ---- explain, fold, export ---- */

static void explain_shows_scans_and_plan(void **state) {
    (void)state;
    fake_table *t = numbers();
    buf out;
    silt_error err = {0};
    buf_init(&out, BUF_MAX_DEFAULT);
    assert_ok(engine_explain(fix.engine, bind_text("SELECT x FROM t WHERE x = 1", t), &plain_env, true, &out, &err), &err);
    const char *text = buf_cstr(&out);
    assert_non_null(strstr(text, "Scan delta.`/t`"));
    assert_non_null(strstr(text, "files: 1 of 1 read, 0 pruned by partition values, 0 pruned by statistics"));
    assert_non_null(strstr(text, "read_parquet("));
    assert_non_null(strstr(text, "READ_PARQUET"));
    buf_clear(&out);
    assert_ok(engine_explain(fix.engine, bind_text("SELECT count(*) FROM t", t), &plain_env, false, &out, &err), &err);
    assert_non_null(strstr(buf_cstr(&out), "answered from the log"));
    buf_dispose(&out);
}

static value fold_text(const char *text) {
    expr *e;
    value v;
    silt_error err = {0};
    assert_ok(expr_parse(str_of(text), fix.arena, &e, &err), &err);
    assert_ok(expr_bind(e, NULL, &plain_env, fix.arena, &e, &err), &err);
    assert_ok(engine_fold(fix.engine, e, fix.arena, &v, &err), &err);
    return v;
}

static void constants_are_folded(void **state) {
    (void)state;
    assert_int_equal(fold_text("1 + 2").as.i64, 3);
    assert_true(str_eqz(fold_text("concat('a', 'b')").as.bytes, "ab"));
    assert_true(fold_text("1.5 * 2").as.decimal == 30);
    assert_true(fold_text("CAST('2024-01-31' AS DATE)").as.i64 == 19753);
    assert_true(fold_text("TIMESTAMP '2024-01-31 10:00:00'").as.i64 == 1706695200000000);
    assert_true(fold_text("CAST(NULL AS INT)").is_null);
    assert_true(fold_text("'x' = 'x'").as.boolean);
}

static void results_are_exported_whole(void **state) {
    (void)state;
    fake_table *t = numbers();
    silt_error err = {0};
    str path = in_folder("export.parquet");
    assert_ok(engine_export_parquet(fix.engine, bind_text("SELECT x AS `a b`, s FROM t WHERE k = 1", t), &plain_env, path, &err),
              &err);
    assert_string_equal(duck_rows("SELECT count(*), sum(\"a b\") FROM '{}/export.parquet'"), "10000,499960000");
    silt_error failed = {0};
    str other = in_folder("failed.parquet");
    assert_condition(
        engine_export_parquet(fix.engine, bind_text("SELECT 1 DIV (x - 90000) FROM t", t), &plain_env, other, &failed), &failed,
        "DIVIDE_BY_ZERO");
    assert_int_equal(access(other.ptr, F_OK), -1);
    assert_string_equal(duck_rows("SELECT count(*) FROM glob('{}/*.tmp')"), "0");
}

static void zones_are_checked(void **state) {
    (void)state;
    silt_error err = {0};
    assert_condition(engine_set_time_zone(fix.engine, STR("Nowhere/City"), &err), &err, "INVALID_PARAMETER_VALUE");
    assert_ok(engine_set_time_zone(fix.engine, STR("Europe/Paris"), &err), &err);
    assert_ok(engine_set_time_zone(fix.engine, STR("UTC"), &err), &err);
}

static void pruning_off_gives_the_same_rows(void **state) {
    (void)state;
    fake_table *t = numbers();
    t->rows = 1; /* a wrong log: must not be asked */
    engine *kept = fix.engine;
    silt_error err = {0};
    engine_options options = {.threads = 2, .no_pruning = true};
    assert_ok(engine_open(&options, &fix.engine, &err), &err);
    assert_string_equal(rows_of(bind_text("SELECT count(*), sum(x) FROM t WHERE x BETWEEN 10 AND 12", t)), "3,33");
    assert_string_equal(rows_of(bind_text("SELECT count(*) FROM t", t)), "100000");
    engine_close(fix.engine);
    fix.engine = kept;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_to_rows),
        cmocka_unit_test(counts_come_from_the_log),
        cmocka_unit_test(bounds_come_from_the_log_where_certain),
        cmocka_unit_test(partition_filters_count_whole_files),
        cmocka_unit_test(reports_say_what_was_read),
        cmocka_unit_test(two_results_stream_side_by_side),
        cmocka_unit_test(a_result_may_be_left_early),
        cmocka_unit_test(errors_in_mid_stream_are_told),
        cmocka_unit_test(raised_errors_are_not_taken_for_damage),
        cmocka_unit_test(cancelling_stops_a_long_query),
        cmocka_unit_test(variants_come_as_json_text),
        cmocka_unit_test(explain_shows_scans_and_plan),
        cmocka_unit_test(constants_are_folded),
        cmocka_unit_test(results_are_exported_whole),
        cmocka_unit_test(zones_are_checked),
        cmocka_unit_test(pruning_off_gives_the_same_rows),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
