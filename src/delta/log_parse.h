/** NDJSON of the log (commits, compacted files, V2 checkpoints in JSON) → file_batch and the texts of the other actions. */
#ifndef DELTA_LOG_PARSE_H
#define DELTA_LOG_PARSE_H

#include "delta/file_batch.h"
#include "store/store.h"

typedef enum action_kind {
    ACTION_PROTOCOL,
    ACTION_METADATA,
    ACTION_TXN,
    ACTION_DOMAIN,
    ACTION_COMMIT_INFO,
    ACTION_SIDECAR,
    ACTION_CDC
} action_kind;

/** An action that is not a file, as the JSON text of its object. */
typedef struct raw_action {
    action_kind kind;
    int64_t version;
    str text;
    str path;            /**< of the log file, and */
    int64_t line_offset; /**< where its line starts in it: for the error message */
} raw_action;

typedef struct raw_actions {
    raw_action *items; /**< in the order of the log; texts in the arena given to log_parse_file */
    size_t count, capacity;
} raw_actions;

/** What one thread needs to parse; reused from file to file. */
typedef struct log_parser log_parser;
log_parser *log_parser_new(void); /**< NULL on exhaustion */
void log_parser_free(log_parser *p);

typedef struct log_piece {
    str path; /**< of the log file, absolute in the store */
    int64_t version;
    int64_t from, to;      /**< the lines that start in [from, to); to < 0: to the end */
    bool want_commit_info; /**< keep commitInfo's text */
    bool want_cdc;         /**< and those of change data files */
} log_piece;

/**
 * Read a piece of one log file and append its file actions to `batch` and the others to `actions` (texts in `arena`). Blank lines
 * are skipped, unknown actions and members ignored.
 * @return CORRUPT (DELTA_LOG_FILE_CORRUPT, which names file and line), NOT_FOUND (DELTA_LOG_FILE_NOT_FOUND), IO, NO_MEMORY
 */
silt_status log_parse_file(log_parser *p, store *s, const log_piece *piece, file_batch *batch, raw_actions *actions, arena *a,
                           silt_error *err) MUST_CHECK;
/**
 * The same from bytes: text[0, len) with LOG_DOOR_PADDING bytes allocated behind it, standing at `offset` in its file. On CORRUPT
 * *out_bad is the offset (in text) of the bad line.
 */
silt_status log_parse_text(log_parser *p, const char *text, size_t len, const log_piece *piece, int64_t offset, file_batch *batch,
                           raw_actions *actions, arena *a, size_t *out_bad, silt_error *err) MUST_CHECK;

/** DELTA_LOG_FILE_CORRUPT for the line that starts at `offset` of the file; counts the lines before it. */
silt_status log_parse_bad_line(store *s, str path, int64_t offset, const char *why, silt_error *err);

#endif
