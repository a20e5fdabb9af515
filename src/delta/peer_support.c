/*
 * What deltalake (delta-rs), DuckDB's delta extension, Trino and polars do with each table feature, as their releases of 2026 stand: their sources and documents, and where a
 * line says "seen" their answer to a table that Spark wrote. A peer that reads a feature but ignores it when it writes (deltalake writes by copy where a table has
 * deletion vectors) counts as able. deltalake is asked through its own engine (QueryBuilder, seen with deletion vectors and column mapping): its to_pyarrow_table refuses every reader feature.
 * polars writes through deltalake. Another release is a matter of changing a row.
 */
#include "delta/peer_support.h"

enum { D = 1, K = 2, T = 4, P = 8 };

static const delta_peer peers[] = {{"deltalake 1.6", D}, {"DuckDB delta", K}, {"Trino", T}, {"polars 2.1", P}};

static const struct {
    const char *feature;
    uint8_t no_read, no_write;
} support[] = {
    {"checkConstraints", 0, K},                       /* the kernel has no evaluator of SQL text */
    {"generatedColumns", 0, K | T},
    {"columnMapping", P, D | P},                      /* polars refuses reader version 2; deltalake reads it (seen) and does not write it yet */
    {"identityColumns", 0, D | K | T | P},
    {"rowTracking", 0, D | T | P},
    {"domainMetadata", 0, D | T | P},
    {"clustering", 0, D | T | P},
    {"inCommitTimestamp", 0, D | T | P},
    {"allowColumnDefaults", 0, D | T | P},
    {"v2Checkpoint", 0, T | P},
    {"vacuumProtocolCheck", D | P, D | P},            /* deltalake 1.6.6 refuses it (seen) */
    {"typeWidening", D | P, D | K | T | P},           /* refuses (seen); DuckDB and Trino read it */
    {"typeWidening-preview", D | P, D | K | T | P},
    {"icebergCompatV1", 0, D | K | T | P},
    {"icebergCompatV2", 0, D | K | T | P},
    {"icebergCompatV3", 0, D | T | P},
    {"variantType", T, T | P},
    {"variantType-preview", T, T | P},
    {"variantShredding", T | P, T | P},
    {"variantShredding-preview", D | T | P, D | T | P}, /* refuses -preview (seen) */
    {"checkpointProtection", 0, D | K | T | P},
    {"materializePartitionColumns", 0, D | T | P},
    {"deletionVectors", 0, P},
};

size_t delta_peer_count(void) { return ARRAY_LEN(peers); }
const delta_peer *delta_peer_at(size_t i) { return &peers[i]; }

void delta_peers_shut_out(const delta_protocol *p, uint8_t *out_read, uint8_t *out_write) {
    *out_read = *out_write = 0;
    for (size_t i = 0; p && i < ARRAY_LEN(support); i++) {
        /* A version number that implies a feature which the table does not use stands in nobody's way. */
        bool has = p->has_writer_features ? delta_protocol_has(p, support[i].feature) : false;
        if (!has && strcmp(support[i].feature, "columnMapping") == 0) has = p->min_reader_version == 2;
        if (!has) continue;
        *out_read |= support[i].no_read;
        *out_write |= support[i].no_write;
    }
}
