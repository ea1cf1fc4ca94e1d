/* Names of dimensions, variables and attributes: rules of the classic format, Unicode normal form C. */
#ifndef PNC_BASE_NAME_H
#define PNC_BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"
#include "base/table.h"

/* Check a user's name and return its NFC form in *out (the caller frees it with pnc_memory_free).
 * NC_EBADNAME: NULL, empty, illegal character, bad UTF-8, trailing blank. NC_EMAXNAME: longer than NC_MAX_NAME. */
int pnc_name_normalise(const char *name, char **out, pnc_error *error);

/* False for n bytes that no caller can pass as a name and that readers fail on: none, or invalid UTF-8. */
bool pnc_name_is_text(const char *name, size_t n);

/* The key of a name in the tables: name itself if it is certainly in NFC, else its NFC form, which is also stored in
 * *owned for the caller to free. If there is no NFC form (invalid UTF-8 in the file of another library), name
 * itself. name must not be NULL. */
const char *pnc_name_make_key(const char *name, char **owned);

/* The error code for a name that was not found: NC_EBADNAME (NULL, empty, invalid UTF-8) or NC_EMAXNAME if the name
 * is invalid, else `otherwise`. */
int pnc_name_explain_missing(const char *name, int otherwise);

/* Index of a user's name in a table, or -1 (also for NULL). Files of other libraries may have names that are not in
 * NFC: the unnormalised name is tried last. */
int pnc_name_find(const pnc_table *table, const char *name);

#endif
