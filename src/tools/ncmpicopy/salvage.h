/* --salvage: values that cannot be read, as those of a damaged chunk, become fill values. */
#ifndef PNC_TOOLS_NCMPICOPY_SALVAGE_H
#define PNC_TOOLS_NCMPICOPY_SALVAGE_H

#include "tools/ncmpicopy/block.h"

/* Whether a code says that values are damaged. */
bool copy_wreck_is_damage(int code);

/* Collective, after a get of this block has failed on a rank: each rank reads its block chunk by chunk, and puts fill
 * values where that fails. NC_NOERR or, on all ranks, a code after an error message of rank 0. */
int copy_wreck_read(copy_block *wreck, void *values);

#endif
