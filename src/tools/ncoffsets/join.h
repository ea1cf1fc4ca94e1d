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

/* The same of a file in chunks, and of all others of the options. within[] of each variable of the first one: its
 * values must be within the references, as chunks of one file do not continue those of another. */
int offsets_join_check_stored(const tool_file *first, const tool_relations *first_relations, const options *o,
                              bool *within);

#endif
