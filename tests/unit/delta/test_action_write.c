/* Lines of a commit against the literal lines that Spark 4.1 with Delta 4.3 wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "delta/action_write.h"

static void assert_line(buf *b, const char *expected) {
    assert_string_equal(buf_cstr(b), expected);
    buf_dispose(b);
}

static void add_with_deletion_vector(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 1 << 16);
    const delta_add a = {.path = STR("part-00000-8c7f5236-7d5e-4ba4-8d3a-7f0b40f27417-c000.snappy.parquet"),
                         .size_bytes = 930,
                         .modification_time_ms = 1795987851733,
                         .data_change = true,
                         .stats = STR("{\"numRecords\":100,\"minValues\":{\"id\":0},\"maxValues\":{\"id\":99},\"nullCount\":{\"id\":0},\"tightBounds\":false}"),
                         .dv = {'u', STR("MRvA3D>F.EPXhN*tWozb"), 1, 40, 4},
                         .base_row_id = -1,
                         .default_row_commit_version = -1};
    delta_write_add(&b, &a);
    assert_line(&b, "{\"add\":{\"path\":\"part-00000-8c7f5236-7d5e-4ba4-8d3a-7f0b40f27417-c000.snappy.parquet\",\"partitionValues\":{},\"size\":930,"
                    "\"modificationTime\":1795987851733,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":100,\\\"minValues\\\":{\\\"id\\\":0},"
                    "\\\"maxValues\\\":{\\\"id\\\":99},\\\"nullCount\\\":{\\\"id\\\":0},\\\"tightBounds\\\":false}\",\"deletionVector\":{"
                    "\"storageType\":\"u\",\"pathOrInlineDv\":\"MRvA3D>F.EPXhN*tWozb\",\"offset\":1,\"sizeInBytes\":40,\"cardinality\":4}}}\n");
}

static void add_with_everything(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 1 << 16);
    const str keys[] = {STR("p"), STR("q")}, values[] = {STR("a \"b\""), STR_NULL};
    const delta_add a = {.path = STR("p=a%2520/x"),
                         .partition_values = {keys, values, 2},
                         .size_bytes = 1,
                         .modification_time_ms = 2,
                         .tags = STR("{\"ZCUBE_ID\":\"z\"}"),
                         .base_row_id = 0,
                         .default_row_commit_version = 1,
                         .clustering_provider = STR("liquid")};
    delta_write_add(&b, &a);
    assert_line(&b, "{\"add\":{\"path\":\"p=a%2520/x\",\"partitionValues\":{\"p\":\"a \\\"b\\\"\",\"q\":null},\"size\":1,\"modificationTime\":2,"
                    "\"dataChange\":false,\"tags\":{\"ZCUBE_ID\":\"z\"},\"baseRowId\":0,\"defaultRowCommitVersion\":1,\"clusteringProvider\":\"liquid\"}}\n");
}

static void remove_of_a_tracked_file(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 1 << 16);
    const delta_remove r = {.path = STR("part-00000-b6d96202-7fd3-46e7-8709-778abb06cfc1-c000.snappy.parquet"),
                            .deletion_timestamp_ms = 1795984983221,
                            .data_change = true,
                            .extended_file_metadata = true,
                            .size_bytes = 748,
                            .stats = STR("{\"numRecords\":10}"),
                            .dv = {'u', STR("rK1/rR![}/Mz{bFUL?ZL"), 85, 34, 1},
                            .base_row_id = 0,
                            .default_row_commit_version = 1};
    delta_write_remove(&b, &r);
    assert_line(&b, "{\"remove\":{\"path\":\"part-00000-b6d96202-7fd3-46e7-8709-778abb06cfc1-c000.snappy.parquet\",\"deletionTimestamp\":1795984983221,"
                    "\"dataChange\":true,\"extendedFileMetadata\":true,\"partitionValues\":{},\"size\":748,\"deletionVector\":{\"storageType\":\"u\","
                    "\"pathOrInlineDv\":\"rK1/rR![}/Mz{bFUL?ZL\",\"offset\":85,\"sizeInBytes\":34,\"cardinality\":1},\"baseRowId\":0,"
                    "\"defaultRowCommitVersion\":1,\"stats\":\"{\\\"numRecords\\\":10}\"}}\n");
}

static void remove_without_extended_metadata(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 1 << 16);
    const delta_remove r = {.path = STR("deletion_vector_06b347b5-1635-4a4d-8c4d-a49a9097aa41.bin"),
                            .deletion_timestamp_ms = 1795985041274,
                            .size_bytes = -1,
                            .base_row_id = -1,
                            .default_row_commit_version = -1};
    delta_write_remove(&b, &r);
    assert_line(&b, "{\"remove\":{\"path\":\"deletion_vector_06b347b5-1635-4a4d-8c4d-a49a9097aa41.bin\",\"deletionTimestamp\":1795985041274,"
                    "\"dataChange\":false}}\n");
}

static void protocols(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 1 << 16);
    const str features[] = {STR("deletionVectors"), STR("invariants"), STR("appendOnly")};
    const delta_protocol plain = {.min_reader_version = 1, .min_writer_version = 2};
    const delta_protocol listed = {.min_reader_version = 3, .min_writer_version = 7, .reader_features = features, .n_reader_features = 1,
                                   .has_reader_features = true, .writer_features = features, .n_writer_features = 3, .has_writer_features = true};
    delta_write_protocol(&b, &plain);
    delta_write_protocol(&b, &listed);
    assert_line(&b, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
                    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"deletionVectors\"],"
                    "\"writerFeatures\":[\"deletionVectors\",\"invariants\",\"appendOnly\"]}}\n");
}

static void metadata(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 1 << 16);
    const str column = STR("p"), key = STR("delta.enableInCommitTimestamps"), on = STR("true");
    delta_metadata m = {.id = STR("1dd10db7-a59a-44b1-a6a2-7c8f1fa3b04e"),
                        .format_provider = STR("parquet"),
                        .schema_json = STR("{\"type\":\"struct\",\"fields\":[]}"),
                        .partition_columns = &column,
                        .n_partition_columns = 1,
                        .configuration = {&key, &on, 1},
                        .created_time_ms = 1795988477158};
    delta_write_metadata(&b, &m);
    m.name = STR("n");
    m.description = STR("");
    m.created_time_ms = -1;
    m.configuration.count = m.n_partition_columns = 0;
    delta_write_metadata(&b, &m);
    assert_line(&b, "{\"metaData\":{\"id\":\"1dd10db7-a59a-44b1-a6a2-7c8f1fa3b04e\",\"format\":{\"provider\":\"parquet\",\"options\":{}},"
                    "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[\"p\"],"
                    "\"configuration\":{\"delta.enableInCommitTimestamps\":\"true\"},\"createdTime\":1795988477158}}\n"
                    "{\"metaData\":{\"id\":\"1dd10db7-a59a-44b1-a6a2-7c8f1fa3b04e\",\"name\":\"n\",\"description\":\"\",\"format\":{"
                    "\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[]}\","
                    "\"partitionColumns\":[],\"configuration\":{}}}\n");
}

static void txn_and_domain(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 1 << 16);
    const delta_txn_id t = {STR("app0"), 0, 1795985003928};
    const delta_domain d = {STR("delta.clustering"), STR("{\"clusteringColumns\":[[\"c\"],[\"n\",\"z\"]],\"domainName\":\"delta.clustering\"}"), false};
    delta_write_txn(&b, &t);
    delta_write_domain(&b, &d);
    assert_line(&b, "{\"txn\":{\"appId\":\"app0\",\"version\":0,\"lastUpdated\":1795985003928}}\n"
                    "{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":\"{\\\"clusteringColumns\\\":[[\\\"c\\\"],"
                    "[\\\"n\\\",\\\"z\\\"]],\\\"domainName\\\":\\\"delta.clustering\\\"}\",\"removed\":false}}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_with_deletion_vector),
        cmocka_unit_test(add_with_everything),
        cmocka_unit_test(remove_of_a_tracked_file),
        cmocka_unit_test(remove_without_extended_metadata),
        cmocka_unit_test(protocols),
        cmocka_unit_test(metadata),
        cmocka_unit_test(txn_and_domain),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
