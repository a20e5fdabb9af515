/*
 * What releases of other engines read, as their documents and release notes have it: the first release that is sure to know a
 * feature. Delta's own: docs.delta.io, "How does Delta Lake manage feature compatibility"; Spark stands for the newest Delta
 * that runs on it. Trino: its release notes and merged changes; where the exact release is uncertain the later one. deltalake,
 * DuckDB and polars: delta/peer_support.h. Hive's connector knows reader version 1 alone.
 */
#include "doctor/readers.h"

#include "delta/peer_support.h"

#define NEVER INT32_MAX

typedef enum engine { ENGINE_DELTA, ENGINE_TRINO, ENGINE_HIVE, ENGINE_PEER, ENGINE_OTHER } engine;

/* Releases: Delta's as 100 * major + minor, Trino's as its number. */
static const struct feature_row {
    const char *feature;
    int delta, trino;
} features[] = {
    {"columnMapping", 102, 400},        {"deletionVectors", 203, 422},
    {"timestampNtz", 204, 420},         {"v2Checkpoint", 300, 440},
    {"typeWidening-preview", 302, 453}, {"typeWidening", 400, 453},
    {"vacuumProtocolCheck", 303, 453},  {"variantType-preview", 400, NEVER},
    {"variantType", 400, NEVER},        {"variantShredding-preview", 400, NEVER},
    {"variantShredding", 403, NEVER},   {"catalogManaged", 402, NEVER},
};

typedef struct reader_row {
    const char *name;
    reader_kind kind;
    engine engine;
    const char *peer; /* of peer_support: how its name begins */
} reader_row;

static const reader_row rows[] = {
    {"delta", READER_DELTA, ENGINE_DELTA, NULL},          {"spark", READER_DELTA, ENGINE_DELTA, NULL},
    {"trino", READER_DELTA, ENGINE_TRINO, NULL},          {"deltalake", READER_DELTA, ENGINE_PEER, "deltalake"},
    {"delta-rs", READER_DELTA, ENGINE_PEER, "deltalake"}, {"duckdb", READER_DELTA, ENGINE_PEER, "DuckDB"},
    {"polars", READER_DELTA, ENGINE_PEER, "polars"},      {"hive", READER_DELTA, ENGINE_HIVE, NULL},
    {"manifest", READER_MANIFEST, ENGINE_OTHER, NULL},    {"parquet", READER_FOLDER, ENGINE_OTHER, NULL},
};

/* Spark's release → Delta's, both as 100 * major + minor; 0 for one that never had it. */
static int delta_of_spark(int spark) {
    static const struct {
        int spark, delta;
    } pairs[] = {{300, 8}, {301, 100}, {302, 200}, {303, 203}, {304, 204}, {305, 303}, {400, 400}, {401, 403}};
    int delta = 0;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (spark >= pairs[i].spark) delta = pairs[i].delta;
    return delta;
}

/* "3.5.1" → 305, "455" → 455. false when it is no release. */
static bool parse_release(str text, bool dotted, int *out) {
    int64_t major, minor = 0;
    str piece;
    if (!str_next(&text, '.', &piece) || !str_to_i64(piece, &major) || major < 0 || major > 100000) return false;
    if (dotted && str_next(&text, '.', &piece) && (!str_to_i64(piece, &minor) || minor < 0 || minor > 99)) return false;
    *out = (int)(dotted ? major * 100 + minor : major);
    return true;
}

silt_status reader_parse(str name, reader *out, silt_error *err) {
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t n = strlen(rows[i].name);
        bool named = name.len >= n && str_eq_ascii_fold(str_slice(name, 0, n), str_of(rows[i].name));
        *out = (reader){.name = name, .kind = rows[i].kind, .row = &rows[i]};
        if (named && name.len == n) return SILT_OK;
        if (!named || name.ptr[n] != '-' ||
            !parse_release(str_slice(name, n + 1, name.len), rows[i].engine != ENGINE_TRINO, &out->release))
            continue;
        if (strcmp(rows[i].name, "spark") == 0) out->release = delta_of_spark(out->release);
        return SILT_OK;
    }
    return err_INVALID_PARAMETER_VALUE(err, STR("readers"), name,
                                       "delta-X.Y, spark-X.Y, trino-N, deltalake, duckdb, polars, hive, manifest or parquet");
}

static bool peer_refuses(const reader_row *row, const char *feature) {
    str list[] = {str_of(feature)};
    delta_protocol alone = {.min_reader_version = 3,
                            .min_writer_version = 7,
                            .reader_features = list,
                            .n_reader_features = 1,
                            .has_reader_features = true,
                            .writer_features = list,
                            .n_writer_features = 1,
                            .has_writer_features = true};
    uint8_t read, write;
    delta_peers_shut_out(&alone, &read, &write);
    for (size_t i = 0; i < delta_peer_count(); i++)
        if (str_starts_with(str_of(delta_peer_at(i)->name), str_of(row->peer)) && (read & delta_peer_at(i)->bit)) return true;
    return false;
}

static bool refuses(const reader *r, const struct feature_row *f) {
    const reader_row *row = r->row;
    switch (row->engine) {
        case ENGINE_DELTA: return r->release ? r->release < f->delta : f->delta == NEVER;
        case ENGINE_TRINO: return r->release ? r->release < f->trino : f->trino == NEVER;
        case ENGINE_PEER: return peer_refuses(row, f->feature);
        case ENGINE_HIVE: return true;
        case ENGINE_OTHER: return strcmp(f->feature, "deletionVectors") == 0 || strcmp(f->feature, "columnMapping") == 0;
    }
    return false;
}

/* Named in the protocol, or implied by reader version 2. */
static bool is_listed(const delta_protocol *p, const char *feature) {
    for (size_t i = 0; i < p->n_reader_features; i++)
        if (str_eqz(p->reader_features[i], feature)) return true;
    return p->min_reader_version == 2 && strcmp(feature, "columnMapping") == 0;
}

silt_status reader_refuses(const reader *r, const delta_protocol *p, arena *a, const char ***out, size_t *out_n,
                           silt_error *err) {
    const char **names = NULL;
    size_t n = 0, capacity = 0;
    for (size_t i = 0; i < ARRAY_LEN(features); i++)
        if (is_listed(p, features[i].feature) && refuses(r, &features[i]) &&
            !ARENA_PUSH(a, names, n, capacity, features[i].feature))
            return error_no_memory(err);
    *out = names;
    *out_n = n;
    return SILT_OK;
}
