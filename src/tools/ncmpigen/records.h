/* Values of record variables, until their places are known to be filled: a text has one variable after the other, and
 * the file one record after the other. They wait in a file without a name beside the output, so that each part of the
 * output is written once, and in few accesses. */
#ifndef PNC_TOOLS_NCMPIGEN_RECORDS_H
#define PNC_TOOLS_NCMPIGEN_RECORDS_H

#include <stdbool.h>

#include "tools/ncmpigen/gen.h"

typedef struct gen_records gen_records;

/* Is there so much to be interleaved that it is worth the detour? */
bool gen_records_is_worthwhile(const pnc_model *model);

/* The next three return a code, after a word to error. beside: the path of a file in the folder to be used. */
int gen_records_begin(const char *beside, gen_records **records, pnc_error *error);
/* External bytes of n elements of a variable, from its element first. What comes later counts. */
int gen_records_keep(gen_records *records, const pnc_model *model, int varid, int64_t first, const void *bytes,
                     int64_t n, pnc_error *error);
/* All records in the order of the file: fill values (or zeros), and over them what was kept. put takes them in turn,
 * and returns a code after a word to error. */
int gen_records_write(gen_records *records, const pnc_model *model, bool fill,
                      int (*put)(void *with, int64_t at, const char *bytes, int64_t n, pnc_error *error), void *with,
                      pnc_error *error);
void gen_records_free(gen_records *records); /* NULL is nothing */

#endif
