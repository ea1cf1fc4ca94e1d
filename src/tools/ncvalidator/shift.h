/* Data that were being moved up when their writer was interrupted. */
#ifndef PNC_TOOLS_NCVALIDATOR_SHIFT_H
#define PNC_TOOLS_NCVALIDATOR_SHIFT_H

#include "tools/common/file.h"

typedef struct shift {
    int found;        /* offsets at which a move may have stopped: 0, 1, or 2 for more */
    int64_t distance; /* by which data moved */
    int64_t from;     /* data from this offset on are moved back */
} shift;

/* The old header places the data between `first` and `end`; the file had `old_size` bytes. NC_NOERR, or a code after an
 * error message. */
int validator_shift_find(const tool_file *file, int64_t first, int64_t end, int64_t old_size, shift *s);

/* Move the data back, so that the file is the old one up to `end`. 0, EIO after an error message, or the errno of a
 * write. */
int validator_shift_undo(const tool_file *file, const shift *s, int64_t end, int fd);

#endif
