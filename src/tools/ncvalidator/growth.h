/* A growth of the header that was interrupted and has left a journal. */
#ifndef PNC_TOOLS_NCVALIDATOR_GROWTH_H
#define PNC_TOOLS_NCVALIDATOR_GROWTH_H

#include "growth/growth.h"

/* Complete the growth, or revert one that had not begun to overwrite data. fd: the file, open for reading and writing.
 * NC_NOERR, or a code after an error message. */
int validator_growth_repair(const char *path, int fd, pnc_growth_outcome *outcome);

#endif
