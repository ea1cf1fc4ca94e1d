/* Whether references to several files can be joined along the first unlimited dimension. Functions return NC_NOERR, or
 * a code after an error message, which names files, variable and what differs. */
#ifndef PNC_TOOLS_NCOFFSETS_JOIN_H
#define PNC_TOOLS_NCOFFSETS_JOIN_H

#include "tools/common/file.h"
#include "tools/common/meaning.h"
#include "tools/ncoffsets/options.h"

/* Whether the values of a file can continue those of the first one. Variables along the dimension that the first one
 * lacks are left out, with a warning. first_relations: of the first one. */
int offsets_join_check(const tool_file *first, const tool_relations *first_relations, const tool_file *other,
                       const options *o);

/* References to netCDF-4 files are not joined here: NC_ENOTSUPPORT. The message names another program only where that
 * would find the values of all files of the options. */
int offsets_join_refuse(const tool_file *first, const options *o);

#endif
