/* The text of PNETCDF_HINTS. */
#ifndef PNC_DATASET_HINTS_TEXT_H
#define PNC_DATASET_HINTS_TEXT_H

#include <mpi.h>
#include <stdbool.h>
#include "base/error.h"

/* Add the hints of PNETCDF_HINTS for the file `path` to the info. warn: print malformed entries. */
int pnc_dataset_hints_parse(const char *list, const char *path, bool warn, MPI_Info info, pnc_error *error);

/* Whether a pattern matches a path, or its last component if the pattern has no '/'. */
bool pnc_dataset_pattern_is_match(const char *pattern, const char *path);
/* The first patterns of a list, at most `most`, which become strings in it. Returns their number. */
int pnc_dataset_hints_list_patterns(char *list, int most, const char **patterns);

#endif
