/** Symlink manifests: for readers that know Hive's SymlinkTextInputFormat and not Delta, a file per partition that names the data files of the newest version. */
#ifndef OPS_MAINTAIN_MANIFEST_H
#define OPS_MAINTAIN_MANIFEST_H

#include "ops/ops.h"

/**
 * GENERATE symlink_format_manifest: _symlink_format_manifest/[partition/…]/manifest of every partition, each replaced at once; manifests of partitions without files go.
 * @return DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS, DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING
 */
silt_status ops_generate_manifest(const ops_env *env, const delta_snapshot *snapshot, silt_error *err) MUST_CHECK;

#endif
