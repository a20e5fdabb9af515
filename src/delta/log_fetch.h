/**
 * Having files of the log at hand before they are read, where the table is in a remote store behind a read cache: all commits in about as many round trips as they take divided by those under way at
 * once, and of checkpoints the columns that are asked for. On a local disk nothing is done.
 */
#ifndef DELTA_LOG_FETCH_H
#define DELTA_LOG_FETCH_H

#include "delta/segment.h"

/** What tells this version of a file of the log from another one of its name, in `a`; null where the store is local. */
silt_status log_file_tag(const delta_env *env, const store_entry *e, arena *a, str *out, silt_error *err) MUST_CHECK;

/** Best effort: what cannot be fetched is for its reader to complain about. Files are kept until `a` ends. @return OK, CANCELLED, NO_MEMORY */
silt_status log_fetch(const delta_env *env, const log_file *files, size_t n, arena *a, silt_error *err) MUST_CHECK;

/**
 * A local path (in `a`) of a Parquet file of the log at which its footer, the columns of `columns` (a struct type; NULL: none) and those of dotted names can be read.
 * @param size_bytes,tag  as listed: then who reads it asks log_fetch_check after the last read; size < 0: asked for, and checked here
 * @return DELTA_LOG_FILE_NOT_FOUND, UNSUPPORTED (no Parquet reader), IO, CANCELLED, NO_MEMORY
 */
silt_status log_fetch_parquet(const delta_env *env, const log_file *f, const data_type *columns, const str *more, size_t n_more, arena *a, str *out, silt_error *err) MUST_CHECK;
/** The same of several at once, best effort as log_fetch. */
silt_status log_fetch_parquets(const delta_env *env, const log_file *files, size_t n, const data_type *columns, const str *more, size_t n_more, arena *a, silt_error *err) MUST_CHECK;

/** A checkpoint file whose name holds an identifier (V2, sidecars) is written once; N.checkpoint.parquet and its parts are written again by whoever makes a checkpoint of that version. */
bool log_fetch_may_be_rewritten(str path);
/**
 * N.checkpoint.parquet and its parts are written again by whoever makes a checkpoint of that version, and reading one takes several reads. After the last of them: is it still the file that was listed? Then
 * all of them read it. What the cache keeps of a mixture stands under the tag of the old file, which nobody sees any more. Names that hold an identifier are written once and not looked at; nor is a file of which
 * all was kept before it was listed, since the listing told that it is that one still; nor where the store's answers told that each of them was of that version (store_proves_tags).
 * @param met_another  see store_met_another_version
 * @param f            becomes what is there now
 */
silt_status log_fetch_check(const delta_env *env, log_file *f, bool met_another, arena *a, bool *same, silt_error *err) MUST_CHECK;
#define LOG_REWRITES_MAX 8

#endif
