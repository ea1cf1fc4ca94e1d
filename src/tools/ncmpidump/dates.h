/* Find the variables that contain times, which -t and -i print as dates. */
#ifndef PNC_TOOLS_NCMPIDUMP_DATES_H
#define PNC_TOOLS_NCMPIDUMP_DATES_H

#include "tools/common/calendar.h"
#include "tools/ncmpidump/dump.h"

/* *found: the options ask for dates, and the variable contains times in these units. A variable that is named by the
 * attribute `bounds` of another one has the units of that one. Returns NC_NOERR, or a code after an error message. */
int dump_dates_choose(const dump_file *file, const dump_variable *variable, cal_units *units, bool *found);

/* The same; only the attributes of the variable itself count. */
int dump_dates_find_own(const dump_file *file, int varid, cal_units *units, bool *found);

/* Print the numbers of an attribute as dates, in a comment after the attribute. */
void dump_dates_print_comment(const dump_file *file, const cal_units *units, const cdl_type *type, size_t length,
                              const char *values);

/* Format the date in quotes, or the number if the value is not a date. */
void dump_date_print(const dump_file *file, const cal_units *units, const cdl_type *type, cdl_value value,
                     char out[CDL_NUMBER_SIZE]);

#endif
