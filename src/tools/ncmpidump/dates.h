/* Which variables hold times that -t and -i print as dates. */
#ifndef PNC_TOOLS_NCMPIDUMP_DATES_H
#define PNC_TOOLS_NCMPIDUMP_DATES_H

#include "tools/ncmpidump/calendar.h"
#include "tools/ncmpidump/dump.h"

/* *found: the variable holds times of these units, and dates are wanted. A variable that another one names in its
 * attribute bounds has the units of that one. NC_NOERR, or a code after a complaint. */
int dump_dates_choose(const dump_file *file, const dump_variable *variable, cal_units *units, bool *found);

/* The same by the attributes of the variable alone. */
int dump_dates_find_own(const dump_file *file, int varid, cal_units *units, bool *found);

/* Behind an attribute of a variable that holds times: its numbers as dates, in a comment. */
void dump_dates_print_comment(const dump_file *file, const cal_units *units, const cdl_type *type, size_t length,
                              const char *values);

/* The date between quotes, or the number where a value is no date. */
void dump_date_print(const dump_file *file, const cal_units *units, const cdl_type *type, cdl_value value,
                     char out[CDL_NUMBER_SIZE]);

#endif
