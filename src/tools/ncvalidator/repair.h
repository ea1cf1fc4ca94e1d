/* Repairs of files that were not completed, or were truncated. */
#ifndef PNC_TOOLS_NCVALIDATOR_REPAIR_H
#define PNC_TOOLS_NCVALIDATOR_REPAIR_H

#include "tools/ncvalidator/growth.h"
#include "tools/ncvalidator/report.h"

/* A repair, or a defect that cannot be repaired. */
typedef struct repair_step {
    bool certain;
    char text[400];
} repair_step;

enum { REPAIR_STEPS = 16 };

typedef struct repair_log {
    repair_step steps[REPAIR_STEPS];
    int n, left_out; /* steps beyond the limit are only counted */
    bool uncertain;  /* a step is, also among those */
    bool changed;    /* the file is another one than before */
} repair_log;

/* Repairs that may be wrong are made only on request. */
typedef struct repair_choice {
    bool raise_records; /* count records that the file has after the counted ones */
    bool assumes_dead;  /* complete a change of the header whose program may still run, for all that is known */
    bool undo_growth;   /* move data back where equal data suggest that a writer had moved them */
} repair_choice;

/* Add a repair that was made, or a defect that cannot be repaired. */
void validator_step_add(repair_log *log, bool certain, const char *format, ...) PNC_PRINTF(3, 4);

/* All return NC_NOERR, or a code after an error message. */

/* Set the header's padding to null in the file at `path`, the file of the report. */
int validator_padding_repair(const char *path, const report *r, repair_log *log);

/* Repair the file at `path`: the file of the report or a copy of it. held: that file, or NULL for a copy. */
int validator_file_repair(const tool_file *file, const report *r, const repair_choice *choice, const char *path,
                          validator_hold *held, repair_log *log);

/* Copy a file's bytes into the file at `path`, which exists. An error if they change meanwhile. */
int validator_file_copy(const tool_file *file, const char *path, bool quiet);

void validator_repair_print(const repair_log *log, bool json);

#endif
