/* Blocks of variables of strings. */
#ifndef PNC_TOOLS_NCMPICOPY_STRINGS_H
#define PNC_TOOLS_NCMPICOPY_STRINGS_H

#include "formats/reader.h"
#include "tools/ncmpicopy/block.h"

/* Collective. The strings of the block, which are to be freed in any case; with --salvage, the fill value for those
 * that cannot be read. NC_NOERR or, on all ranks, a code after an error message of rank 0. */
int copy_strings_read(copy_block *block, pnc_reader_strings *strings);

/* Collective. Put them at `start` of a variable of the output, or compare them with it; as above. */
int copy_strings_put(const copy_block *block, const pnc_reader_strings *strings, int to, int id,
                     const MPI_Offset *start);
int copy_strings_compare(const copy_block *block, const pnc_reader_strings *strings, int to, int id,
                         const MPI_Offset *start, bool *same);

#endif
