/* The registry of features and the checks of a protocol, against what Delta 4.3 did with hand-made protocols. */
#include "read_support.h"

#include "delta/features.h"

typedef struct protocol_case {
    int reader, writer;
    const char *reader_features, *writer_features; /* comma lists; NULL: absent */
    const char *read, *write;                      /* condition, NULL: fine */
} protocol_case;

#define INVALID  "DELTA_INVALID_PROTOCOL_VERSION"
#define NO_READ  "DELTA_UNSUPPORTED_FEATURES_FOR_READ"
#define NO_WRITE "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"

static const protocol_case cases[] = {
    {1, 1, NULL, NULL, NULL, NULL},
    {1, 2, NULL, NULL, NULL, NULL},
    {2, 5, NULL, NULL, NULL, NULL},
    {1, 7, NULL, "martian", NULL, NO_WRITE},
    {3, 7, "martian", "martian", NO_READ, NO_READ},
    {3, 7, "", "deletionVectors", NULL, NULL}, /* a reader-writer feature only in the writers' list */
    {1, 2, "deletionVectors", NULL, INVALID, INVALID},
    {3, 5, "deletionVectors", NULL, INVALID, INVALID},
    {3, 7, NULL, "deletionVectors", INVALID, INVALID},
    {2, 7, NULL, "columnMapping", NULL, NULL},
    {2, 7, NULL, "appendOnly", NULL, NULL},
    {1, 7, NULL, "columnMapping", NULL, NULL},
    {4, 7, "", "", INVALID, INVALID},
    {1, 8, NULL, NULL, INVALID, INVALID},
    {1, 7, NULL, "", NULL, NULL},
    {1, 7, NULL, NULL, INVALID, INVALID},
    {3, 7, "columnMapping", "columnMapping", NULL, NULL},
    {1, 2, NULL, "appendOnly", INVALID, INVALID},
    {0, 2, NULL, NULL, INVALID, INVALID},
    {3, 7, "geospatial", "geospatial", NO_READ, NO_READ},
    {3, 7, "catalogManaged,vacuumProtocolCheck", "catalogManaged,vacuumProtocolCheck,inCommitTimestamp",
     "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED", "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED"},
    {3, 7, "catalogManaged", "catalogManaged,inCommitTimestamp", "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
     "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"},
    {3, 7,
     "deletionVectors,typeWidening,typeWidening-preview,v2Checkpoint,timestampNtz,vacuumProtocolCheck,variantType,variantType-"
     "preview,variantShredding,variantShredding-preview,columnMapping",
     "deletionVectors,typeWidening,rowTracking,domainMetadata,clustering,inCommitTimestamp,icebergCompatV1,icebergCompatV2,"
     "icebergCompatV3,allowColumnDefaults,columnMapping,variantType",
     NULL, NULL},
    {2, 7, NULL, "columnMapping,rowTracking,domainMetadata,icebergCompatV3,icebergWriterCompatV3", NULL, NO_WRITE},
};

static size_t split(const char *list, str *out) {
    str rest = str_of(list ? list : "");
    size_t n = 0;
    while (rest.len && str_next(&rest, ',', &out[n])) n++;
    return n;
}

static delta_protocol protocol(const protocol_case *c, str *reader, str *writer) {
    return (delta_protocol){.min_reader_version = c->reader,
                            .min_writer_version = c->writer,
                            .reader_features = reader,
                            .n_reader_features = split(c->reader_features, reader),
                            .has_reader_features = c->reader_features != NULL,
                            .writer_features = writer,
                            .n_writer_features = split(c->writer_features, writer),
                            .has_writer_features = c->writer_features != NULL};
}

static void check(silt_status status, const silt_error *err, const char *condition, size_t i) {
    if ((status == SILT_OK) != (condition == NULL)) fail_msg("case %zu: %s %s", i, err->condition, err->message);
    if (condition) assert_condition(err, condition);
}

static void protocols(void **state) {
    (void)state;
    delta_metadata m = {.schema = &(data_type){.id = TYPE_STRUCT}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        str reader[16], writer[16];
        silt_error err = {0};
        delta_protocol p = protocol(&cases[i], reader, writer);
        check(delta_protocol_check_read(&p, STR("t"), &err), &err, cases[i].read, i);
        /* Listed but inactive features do not stop a write; unknown ones do. The last case is of active ones only by the lack of
         * metadata. */
        bool last = i + 1 == ARRAY_LEN(cases);
        check(delta_protocol_check_write(&p, last ? NULL : &m, STR("t"), &err), &err, cases[i].write, i);
    }
}

static void refusals_name_the_feature(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0,
               "{'protocol':{'minReaderVersion':3,'minWriterVersion':7,'readerFeatures':['martian','deletionVectors','venusian'],"
               "'writerFeatures':['martian','venusian']}}\n" METADATA);
    f->env.store->uri_prefix = "s3a://bucket";
    log_load_fails(f, DELTA_LATEST, "DELTA_UNSUPPORTED_FEATURES_FOR_READ");
    assert_non_null(strstr(f->err.message, "martian, venusian"));
    assert_non_null(strstr(f->err.message, "s3a://bucket/t"));
    assert_null(strstr(f->err.message, "deletionVectors"));
}

static const char *active_case(log_fixture *f, const char *schema, const char *key, const char *text) {
    delta_protocol p = {.min_reader_version = 1, .min_writer_version = 6};
    str keys[1] = {str_of(key)}, values[1] = {str_of(text)};
    delta_metadata m = {.configuration = {.keys = keys, .values = values, .count = key ? 1 : 0}};
    f->err = (silt_error){0};
    assert_int_equal(schema_parse_json(log_text(f, schema), f->arena, &m.schema, &f->err), SILT_OK);
    return delta_protocol_check_write(&p, &m, STR("t"), &f->err) == SILT_OK ? "" : f->err.message;
}

/* Writer 6 implies constraints, change data, generated and identity columns: all are written, whether the table has one or not. */
static void active_features(void **state) {
    log_fixture *f = *state;
#define ONE(metadata)                                                                                                      \
    "{'type':'struct','fields':[{'name':'s','type':{'type':'struct','fields':[{'name':'a','type':'long','nullable':true,'" \
    "metadata':{" metadata "}}]},'nullable':true,'metadata':{}}]}"
    assert_string_equal(active_case(f, ONE(""), NULL, NULL), "");
    assert_string_equal(active_case(f, ONE("'comment':'delta.generationExpression'"), NULL, NULL), "");
    assert_string_equal(active_case(f, ONE("'delta.generationExpression':'b + 1'"), NULL, NULL), "");
    assert_string_equal(active_case(f, ONE("'delta.identity.start':1"), NULL, NULL), "");
    assert_string_equal(active_case(f, ONE(""), "delta.enableChangeDataFeed", "false"), "");
}

static void implied_and_listed(void **state) {
    (void)state;
    str list[1] = {STR("rowTracking")};
    delta_protocol p = {.min_reader_version = 1, .min_writer_version = 4};
    assert_true(delta_protocol_has(&p, "appendOnly"));
    assert_true(delta_protocol_has(&p, "generatedColumns"));
    assert_false(delta_protocol_has(&p, "identityColumns"));
    assert_false(delta_protocol_has(&p, "columnMapping"));
    p = (delta_protocol){.min_reader_version = 2, .min_writer_version = 5};
    assert_true(delta_protocol_has(&p, "columnMapping"));
    p = (delta_protocol){.min_reader_version = 1,
                         .min_writer_version = 7,
                         .writer_features = list,
                         .n_writer_features = 1,
                         .has_writer_features = true};
    assert_true(delta_protocol_has(&p, "rowTracking"));
    assert_false(delta_protocol_has(&p, "appendOnly"));
    assert_false(delta_protocol_has(&p, "martian"));
}

static void registry(void **state) {
    (void)state;
    for (size_t i = 0; i < delta_feature_count(); i++) {
        const delta_feature *f = delta_feature_at(i);
        assert_ptr_equal(delta_feature_find(str_of(f->name)), f);
        for (size_t d = 0; d < ARRAY_LEN(f->depends_on) && f->depends_on[d]; d++)
            assert_non_null(delta_feature_find(str_of(f->depends_on[d])));
        if (!f->can_read) assert_false(f->can_write);
    }
    assert_null(delta_feature_find(STR("AppendOnly")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protocols),
        cmocka_unit_test_setup_teardown(refusals_name_the_feature, log_setup, log_teardown),
        cmocka_unit_test_setup_teardown(active_features, log_setup, log_teardown),
        cmocka_unit_test(implied_and_listed),
        cmocka_unit_test(registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
