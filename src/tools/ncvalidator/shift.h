/* Data that were on their way up in a file when their writer ended. */
#ifndef PNC_TOOLS_NCVALIDATOR_SHIFT_H
#define PNC_TOOLS_NCVALIDATOR_SHIFT_H

#include "tools/common/file.h"

typedef struct shift {
    int found;        /* places where a move may have stopped: 0, 1, or 2 for more */
    int64_t distance; /* by which data moved */
    int64_t from;     /* data from here on are to be taken back */
} shift;

/* Data of a header that was about to grow lie between `first` and `end`, as the old header tells; the file had
 * `old_size` bytes. NC_NOERR, or a code after a complaint. */
int validator_shift_find(const tool_file *file, int64_t first, int64_t end, int64_t old_size, shift *s);

/* Take the data back, so that the file is the old one up to `end`. 0, EIO after a complaint, or the errno of a
 * write. */
int validator_shift_undo(const tool_file *file, const shift *s, int64_t end, int fd);

#endif
