/* Names in _delta_log, as PROTOCOL.md spells them, and names that only look like them. */
#include "read_support.h"

#include "delta/log_path.h"

typedef struct name_case {
    const char *name;
    log_file_kind kind;
    int64_t version, end_version;
    int32_t part, parts;
} name_case;

#define V10 "00000000000000000010"

static const name_case cases[] = {
    {"00000000000000000000.json", LOG_COMMIT, 0, 0, 0, 0},
    {V10 ".json", LOG_COMMIT, 10, 10, 0, 0},
    {"09223372036854775807.json", LOG_COMMIT, INT64_MAX, INT64_MAX, 0, 0},
    {V10 ".crc", LOG_CHECKSUM, 10, 10, 0, 0},
    {V10 ".checkpoint.parquet", LOG_CHECKPOINT, 10, 10, 0, 0},
    {V10 ".checkpoint.0000000001.0000000003.parquet", LOG_CHECKPOINT_PART, 10, 10, 1, 3},
    {V10 ".checkpoint.0000000003.0000000003.parquet", LOG_CHECKPOINT_PART, 10, 10, 3, 3},
    {V10 ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json", LOG_CHECKPOINT_V2_JSON, 10, 10, 0, 0},
    {V10 ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet", LOG_CHECKPOINT_V2_PARQUET, 10, 10, 0, 0},
    {"00000000000000000004.00000000000000000006.compacted.json", LOG_COMPACTED, 4, 6, 0, 0},
};

static const char *const foreign[] = {
    "",
    ".json",
    "_last_checkpoint",
    "_sidecars",
    "0.json",
    "0000000000000000010.json",
    "000000000000000000010.json",
    V10,
    V10 ".",
    V10 ".json.tmp",
    "." V10 ".json.crc",
    V10 ".JSON",
    "0000000000000000001a.json",
    "-0000000000000000001.json",
    "99999999999999999999.json",
    "09223372036854775808.json",
    V10 ".checkpoint.0000000000.0000000003.parquet",
    V10 ".checkpoint.0000000004.0000000003.parquet",
    V10 ".checkpoint.1.3.parquet",
    V10 ".checkpoint.0000000001.0000000003.json",
    V10 ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a1.json",
    V10 ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a1g.json",
    V10 ".checkpoint.80a083e8x7026-4e79-81be-64bd76c43a11.json",
    V10 ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.csv",
    V10 ".checkpoint",
    V10 ".checkpoint.json",
    "00000000000000000006.00000000000000000004.compacted.json",
    "00000000000000000004.00000000000000000004.compacted.json",
    V10 ".80a083e8-7026-4e79-81be-64bd76c43a11.json",
};

static void names_of_the_protocol(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        log_file_name n = log_path_parse(str_of(cases[i].name));
        assert_int_equal(n.kind, cases[i].kind);
        assert_int_equal(n.version, cases[i].version);
        assert_int_equal(n.end_version, cases[i].end_version);
        assert_int_equal(n.part, cases[i].part);
        assert_int_equal(n.parts, cases[i].parts);
    }
}

static void foreign_names(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
        if (log_path_parse(str_of(foreign[i])).kind != LOG_OTHER) fail_msg("%s was taken for a log file", foreign[i]);
}

static void every_prefix_is_foreign(void **state) {
    const char *name = V10 ".checkpoint.0000000001.0000000003.parquet";
    (void)state;
    for (size_t n = 0; n < strlen(name); n++) assert_int_equal(log_path_parse((str){name, n}).kind, LOG_OTHER);
}

static void written_paths(void **state) {
    log_fixture *f = *state;
    assert_text("/t/_delta_log", log_path_dir(LOG_ROOT, f->arena));
    assert_text("/t/_delta_log/00000000000000000007.json", log_path_file(LOG_ROOT, 7, ".json", f->arena));
    assert_text("/t/_delta_log/_last_checkpoint", log_path_last_checkpoint(LOG_ROOT, f->arena));
    assert_text("/t/_delta_log/_sidecars", log_path_sidecars(STR("/t/"), f->arena));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_protocol),
        cmocka_unit_test(foreign_names),
        cmocka_unit_test(every_prefix_is_foreign),
        cmocka_unit_test_setup_teardown(written_paths, log_setup, log_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
