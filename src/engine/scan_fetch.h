/**
 * Making a scan's files readable where they are in a remote store: footers when the scan is planned, columns when it is about to run, each of all files at once (table/parquet_fetch.h).
 *
 * DuckDB opens the files of a list one after the other as it goes, with no call of ours in between, so everything it may read must be there before the statement starts: fetching and
 * scanning do not overlap within one scan. What makes up for it is that all files are fetched at once, as many at a time as the store is fast with.
 */
#ifndef ENGINE_SCAN_FETCH_H
#define ENGINE_SCAN_FETCH_H

#include "engine/scan.h"

/** Fills node->local_paths. Local files: only looked for. whole_bytes: remote files up to that size are fetched whole. */
silt_status scan_fetch_footers(scan_node *node, int64_t whole_bytes, arena *a, silt_error *err) MUST_CHECK;
/** After scan_make_groups: the columns that the groups read. Does nothing the second time. */
silt_status scan_fetch_columns(scan_node *node, arena *a, silt_error *err) MUST_CHECK;

#endif
