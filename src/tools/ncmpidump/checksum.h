/* ncmpidump --checksum: a manifest of the values of a file. */
#ifndef PNC_TOOLS_NCMPIDUMP_CHECKSUM_H
#define PNC_TOOLS_NCMPIDUMP_CHECKSUM_H

#include "tools/ncmpidump/dump.h"

/* Collective: the variables are divided among the ranks. */
int dump_checksums_print(const dump_file *file);

#endif
