/**
 * Many small Parquet files read as few: DuckDB spends ten times as long on opening a file of 100 rows as on its rows. So the bytes of small files with one schema are put behind one
 * another in a temporary file with one footer (table/parquet_splice.h), which costs a read and a write of what is small by its nature.
 */
#ifndef ENGINE_SCAN_BUNDLE_H
#define ENGINE_SCAN_BUNDLE_H

#include "engine/scan.h"

/**
 * Where the scan asks for nothing but the rows' columns (no row numbers, paths or partition values, no deletion vectors), its small files are replaced by bundles. Best effort: a file that
 * does not fit in stays as it is, and reading it says what is wrong with it.
 */
/** Files up to that size are small: beyond that their rows cost more than their opening. */
#define SCAN_SMALL_BYTES ((int64_t)128 << 10)
silt_status scan_bundle(scan_node *node, arena *a, silt_error *err) MUST_CHECK;
/** Removes the temporary files. */
void scan_bundle_remove(scan_node *node);

#endif
