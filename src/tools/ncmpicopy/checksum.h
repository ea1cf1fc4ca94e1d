/* --checksum: an attribute of each variable of the output, or a manifest. */
#ifndef PNC_TOOLS_NCMPICOPY_CHECKSUM_H
#define PNC_TOOLS_NCMPICOPY_CHECKSUM_H

#include "tools/common/manifest.h"
#include "tools/ncmpicopy/plan.h"

/* Whether the output gets the checksum attribute of the input: its values are all those of the input. */
bool copy_checksum_is_copied(const copy_plan *plan, const copy_var *var);

/* Whether a variable gets a checksum: not those of strings. */
bool copy_checksum_is_possible(const copy_var *var);

/* Whether the output gets attributes, and not a manifest. */
bool copy_checksum_is_attribute(const copy_plan *plan);

/* These are collective, and return NC_NOERR or, on all ranks, a code; the second one after an error message of rank 0.
 */

/* Define the attribute of a variable, before its values are known. */
int copy_checksum_define(int to, int varid);
/* Compute all checksums from the output, which has all values, and put them there or into the manifest. If the input
 * has that of a variable whose values are all copied, and none are lost, it must be the same. */
int copy_checksums_put(const copy_plan *plan, int ncid, tool_manifest *manifest);
/* Whether the manifest may replace what is there, before anything is written. */
int copy_manifest_check(const copy_plan *plan);
/* Write the manifest, if it was asked for, when the output is complete. */
int copy_manifest_write(const copy_plan *plan, const tool_manifest *manifest);

#endif
