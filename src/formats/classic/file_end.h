/* The end of the file: it ends with the last value that was written, but not within a record, as some readers (scipy)
 * fail on a part of one. Space for data is not reserved: a sparse file has none, and does not save time either. */
#ifndef PNC_CLASSIC_FILE_END_H
#define PNC_CLASSIC_FILE_END_H

#include "formats/format.h"

/* Rank 0: NC_EREAD if the file has `size` bytes and is known to have had more: another program has truncated it. */
int pnc_classic_file_end_check(pnc_format *f, int64_t size);
/* Rank 0 extends the file to the end of its last record, after the same check. Local. */
int pnc_classic_file_end_write(pnc_format *f);

#endif
