/* The table of delta.* properties: spelling, validation, defaults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "delta/properties.h"

static bool valid(const char *name, const char *text) {
    const delta_property *p = delta_property_find(str_of(name));
    assert_non_null(p);
    return delta_property_validate(p, str_of(text), NULL) == SILT_OK;
}

static void names_are_found_in_any_case(void **state) {
    (void)state;
    assert_string_equal(delta_property_find(STR("DELTA.appendonly"))->name, "delta.appendOnly");
    assert_string_equal(delta_property_find(STR("delta.enableChangeDataCapture"))->name, "delta.enableChangeDataFeed");
    assert_null(delta_property_find(STR("delta.nope")));
    assert_null(delta_property_find(STR("appendOnly")));
}

static void validation(void **state) {
    (void)state;
    assert_true(valid("delta.appendOnly", "TRUE"));
    assert_false(valid("delta.appendOnly", "1"));
    assert_true(valid("delta.checkpointInterval", "1"));
    assert_false(valid("delta.checkpointInterval", "0"));
    assert_false(valid("delta.checkpointInterval", "ten"));
    assert_true(valid("delta.dataSkippingNumIndexedCols", "-1"));
    assert_false(valid("delta.dataSkippingNumIndexedCols", "-2"));
    assert_true(valid("delta.logRetentionDuration", "interval 30 days"));
    assert_true(valid("delta.logRetentionDuration", "2 weeks"));
    assert_false(valid("delta.logRetentionDuration", "interval 1 month"));
    assert_false(valid("delta.logRetentionDuration", "soon"));
    assert_true(valid("delta.checkpointPolicy", "v2"));
    assert_false(valid("delta.checkpointPolicy", "v3"));
    assert_true(valid("delta.columnMapping.mode", "id"));
    assert_false(valid("delta.columnMapping.mode", "position"));
    assert_true(valid("delta.isolationLevel", "Serializable"));
    assert_false(valid("delta.isolationLevel", "WriteSerializable"));
}

static void values_in_effect(void **state) {
    (void)state;
    const str_map none = {NULL, NULL, 0};
    assert_false(delta_config_bool(&none, "delta.appendOnly"));
    assert_true(delta_config_bool(&none, "delta.enableExpiredLogCleanup"));
    assert_int_equal(delta_config_i64(&none, "delta.checkpointInterval"), 10);
    assert_int_equal(delta_config_i64(&none, "delta.dataSkippingNumIndexedCols"), 32);
    assert_int_equal(delta_config_interval_ms(&none, "delta.logRetentionDuration"), INT64_C(30) * 86400000);
    assert_int_equal(delta_config_interval_ms(&none, "delta.deletedFileRetentionDuration"), INT64_C(7) * 86400000);
    assert_int_equal(delta_config_interval_ms(&none, "delta.setTransactionRetentionDuration"), -1);

    const str keys[] = {STR("delta.appendOnly"), STR("delta.checkpointInterval"), STR("delta.logRetentionDuration"), STR("delta.isolationLevel")};
    const str values[] = {STR("True"), STR("junk"), STR("interval 1 day"), STR("WriteSerializable")};
    const str_map some = {keys, values, 4};
    assert_true(delta_config_bool(&some, "delta.appendOnly"));
    assert_int_equal(delta_config_i64(&some, "delta.checkpointInterval"), 10); /* another engine's nonsense counts as absent */
    assert_int_equal(delta_config_interval_ms(&some, "delta.logRetentionDuration"), 86400000);
    assert_true(str_eqz(delta_config_str(&some, "delta.isolationLevel"), "WriteSerializable"));
}

static void checked_together(void **state) {
    (void)state;
    const str key = STR("delta.deletedFileRetentionDuration"), week = STR("interval 30 days"), months = STR("interval 31 days");
    const str_map fits = {&key, &week, 1}, too_long = {&key, &months, 1};
    assert_int_equal(delta_properties_check_together(&fits, NULL), SILT_OK);
    assert_int_equal(delta_properties_check_together(&too_long, NULL), SILT_INVALID);
    const str both[] = {STR("delta.enableRowTracking"), STR("delta.rowTrackingSuspended")}, on[] = {STR("true"), STR("true")};
    const str_map suspended = {both, on, 2};
    assert_int_equal(delta_properties_check_together(&suspended, NULL), SILT_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_in_any_case),
        cmocka_unit_test(validation),
        cmocka_unit_test(values_in_effect),
        cmocka_unit_test(checked_together),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
