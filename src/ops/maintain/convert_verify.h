/** Counting the rows of every partition before and after. Internal to ops/maintain. */
#ifndef OPS_MAINTAIN_CONVERT_VERIFY_H
#define OPS_MAINTAIN_CONVERT_VERIFY_H

#include "ops/maintain/convert.h"
#include "ops/maintain/convert_files.h"

/** Read every file as a table would and compare with its footer: CONVERT_FILE_CHANGED, CONVERT_COUNTS_DIFFER. Nothing is committed yet. */
silt_status convert_verify_before(const op *o, const convert_files *f, const field *partition, size_t n, convert_result *out) MUST_CHECK;
/** Ask the new table, and compare. */
silt_status convert_verify_after(const op *o, const convert_spec *spec, convert_result *out) MUST_CHECK;

#endif
