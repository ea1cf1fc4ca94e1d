/* A page for browsers: a map of the file that can be zoomed, and a table of the variables that can be searched. */
#ifndef PNC_TOOLS_NCOFFSETS_HTML_H
#define PNC_TOOLS_NCOFFSETS_HTML_H

#include <stdio.h>

#include "tools/common/file.h"
#include "tools/ncoffsets/options.h"

/* One file without references to others. Returns NC_NOERR, or NC_ENOMEM after an error message. */
int offsets_page_write(const tool_file *file, const options *o, FILE *out);

#endif
