#ifndef PNC_TOOLS_NCVALIDATOR_CHECKSUM_H
#define PNC_TOOLS_NCVALIDATOR_CHECKSUM_H

#include "tools/ncvalidator/options.h"

/* Read the manifest of the options, if there is one; without files each of its parts must name one. NC_NOERR, or a code
 * after an error message. */
int validator_manifests_load(options *o);

/* Whether the values of the file at `path` have their checksums; after an error message for each variable that has not.
 * name: the name in messages, if `path` is a temporary name, else NULL. */
bool validator_checksums_check(const char *path, const char *name, const options *o);

#endif
