/* Names of dimensions, variables and attributes: what the classic format allows, in Unicode normal form C. */
#ifndef PNC_BASE_NAME_H
#define PNC_BASE_NAME_H

#include "base/error.h"
#include "base/table.h"

/* Check a user's name and return its NFC form in *out (the caller frees it with pnc_memory_free).
 * NC_EBADNAME: NULL, empty, illegal character, bad UTF-8, trailing blank. NC_EMAXNAME: longer than NC_MAX_NAME. */
int pnc_name_normalise(const char *name, char **out, pnc_error *error);

/* The form under which a user's name is looked up: name itself where that is in NFC for sure, else its NFC form, which
 * *owned then also holds for the caller to free. Where there is no NFC form (bad UTF-8 in a foreign file) the name
 * itself. name must not be NULL. */
const char *pnc_name_make_key(const char *name, char **owned);

/* Why a name that was not found names nothing: `otherwise`, or NC_EBADNAME (NULL, empty, bad UTF-8) or NC_EMAXNAME
 * where no name could be so. */
int pnc_name_explain_missing(const char *name, int otherwise);

/* Index of a user's name in a table, or -1 (also for NULL). A foreign file may hold names that are not in NFC: the name
 * as it was given is tried last. */
int pnc_name_find(const pnc_table *table, const char *name);

#endif
