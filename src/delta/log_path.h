/** Names in _delta_log. PROTOCOL.md "File Types", "Checkpoint Naming Scheme", "Log Compaction Files", "Version Checksum File". */
#ifndef DELTA_LOG_PATH_H
#define DELTA_LOG_PATH_H

#include "base/base.h"

typedef enum log_file_kind {
    LOG_OTHER,              /**< foreign, temporary or not part of the log */
    LOG_COMMIT,             /**< <v>.json */
    LOG_CHECKPOINT,         /**< <v>.checkpoint.parquet */
    LOG_CHECKPOINT_PART,    /**< <v>.checkpoint.<part>.<parts>.parquet */
    LOG_CHECKPOINT_V2_JSON, /**< <v>.checkpoint.<uuid>.json */
    LOG_CHECKPOINT_V2_PARQUET,
    LOG_COMPACTED, /**< <from>.<to>.compacted.json */
    LOG_CHECKSUM   /**< <v>.crc */
} log_file_kind;

typedef struct log_file_name {
    log_file_kind kind;
    int64_t version;     /**< LOG_COMPACTED: the first one */
    int64_t end_version; /**< LOG_COMPACTED: the last one; otherwise = version */
    int32_t part, parts; /**< LOG_CHECKPOINT_PART: 1-based part of parts */
} log_file_name;

/** `name` is the last path component. Never fails: what is no log file is LOG_OTHER. */
log_file_name log_path_parse(str name);

/** <root>/_delta_log */
str log_path_dir(str root, arena *arena);
/**
 * <root>/_delta_log/<20 digits><suffix>, e.g. suffix ".json", ".crc", ".checkpoint.parquet". {NULL,0} on exhaustion, as
 * arena_str.
 */
str log_path_file(str root, int64_t version, const char *suffix, arena *arena);
str log_path_last_checkpoint(str root, arena *arena);
/** <root>/_delta_log/_sidecars */
str log_path_sidecars(str root, arena *arena);

#endif
