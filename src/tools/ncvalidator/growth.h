/* A growth of the header that was interrupted and has left a journal, and whether its program still runs. */
#ifndef PNC_TOOLS_NCVALIDATOR_GROWTH_H
#define PNC_TOOLS_NCVALIDATOR_GROWTH_H

#include "growth/growth.h"

/* A file that is read or repaired: other programs that change its header or move data hold it too. */
typedef struct validator_hold {
    const char *path;
    int fd; /* -1: not open */
    bool is_local;
    bool writes;       /* and so keeps them away; one that copies the file does not, and finds what they write */
    bool assumes_dead; /* see repair_choice */
    pnc_growth_life life;
    pnc_error error;
} validator_hold;

/* All return NC_NOERR, or a code after an error message. End what has begun, also after an error. */

/* Before the file is read. NC_EINTERRUPTED if another program holds it. A file that cannot be opened is no error: who
 * reads it reports that. */
int validator_hold_begin(const char *path, bool writes, bool assumes_dead, validator_hold *held);
void validator_hold_end(validator_hold *held);

/* Whether the program that owns the journal in the file has ended. */
int validator_growth_examine(validator_hold *held);
/* Complete the growth, or revert one that had not begun to overwrite data. */
int validator_growth_repair(validator_hold *held, pnc_growth_outcome *outcome);

#endif
