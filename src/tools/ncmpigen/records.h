/* A spool for the values of record variables. CDL lists one variable after the other, but in the file the records
 * interleave the variables. The values are collected in an unlinked temporary file beside the output and written record
 * by record at the end, so that each part of the output is written once, in few large accesses. */
#ifndef PNC_TOOLS_NCMPIGEN_RECORDS_H
#define PNC_TOOLS_NCMPIGEN_RECORDS_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/ncmpigen/gen.h"

/* An unlinked temporary file in the folder of the file with this path. NC_NOERR, or a code after setting error. */
int gen_spool_create(const char *beside, FILE **spool, pnc_error *error);
/* By errno: "cannot be VERB". Returns the code. */
int gen_spool_fail(const char *verb, pnc_error *error);

typedef struct gen_records gen_records;

/* True if a spool saves accesses: several record variables, and small records. */
bool gen_records_is_worthwhile(const pnc_model *model);

/* The next three return NC_NOERR, or a code after setting error. */

/* beside: path of a file; the spool is created in the same folder. model must exist as long as values are kept. */
int gen_records_begin(const char *beside, const pnc_model *model, gen_records **records, pnc_error *error);
/* Keep the external bytes of n elements of a variable, from element `first`. Later values replace earlier ones. */
int gen_records_keep(gen_records *records, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *error);
/* Write all records in the order of the file: the kept values, and fill values (or zeros) for the other elements. put
 * receives the bytes in order, and returns NC_NOERR, or a code after setting error. */
int gen_records_write(gen_records *records, const pnc_model *model, bool fill,
                      int (*put)(void *with, int64_t at, const char *bytes, int64_t n, pnc_error *error), void *with,
                      pnc_error *error);
void gen_records_free(gen_records *records); /* NULL: no effect */

#endif
