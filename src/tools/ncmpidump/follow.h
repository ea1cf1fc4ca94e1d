/* ncmpidump --follow: print records of a file that a program is writing as they appear. */
#ifndef PNC_TOOLS_NCMPIDUMP_FOLLOW_H
#define PNC_TOOLS_NCMPIDUMP_FOLLOW_H

#include "tools/ncmpidump/options.h"

/* Until the file is not written for the time of --idle; without that option only a signal or an error ends it. Returns
 * the exit status. */
int dump_records_watch(const dump_options *options);

#endif
