/* --checksum: compare the checksums of the variables of two files, or of a file and a manifest. */
#ifndef PNC_TOOLS_DIFF_CHECKSUM_H
#define PNC_TOOLS_DIFF_CHECKSUM_H

#include "tools/diff/diff.h"

/* Returns the exit status, the same on all ranks. Without the library: each rank reads the files itself. */
int diff_checksums_compare(const diff_options *options, const diff_world *world);

#endif
