/* References: a JSON file by which readers of Zarr find the data in netCDF files (kerchunk's reference files, version
 * 1; https://fsspec.github.io/kerchunk/spec.html). */
#ifndef PNC_TOOLS_NCOFFSETS_REFERENCES_H
#define PNC_TOOLS_NCOFFSETS_REFERENCES_H

#include <stdio.h>

#include "tools/common/file.h"
#include "tools/ncoffsets/options.h"

/* Write the references of all files of the options, joined along the record dimension. first: the first one, open.
 * Returns NC_NOERR, or a code after an error message. */
int offsets_references_write(const tool_file *first, const options *o, FILE *out);

#endif
