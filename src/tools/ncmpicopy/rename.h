/* Names of the input that a new file cannot have. */
#ifndef PNC_TOOLS_NCMPICOPY_RENAME_H
#define PNC_TOOLS_NCMPICOPY_RENAME_H

#include "tools/ncmpicopy/plan.h"

/* A name with '_' in place of characters that are not allowed. Attempts with numbers from 0 give different names; false
 * after the last one. repaired has NC_MAX_NAME + 1 bytes. */
bool copy_name_repair(const char *name, int attempt, char *repaired);

/* Warn that an object has another name in the output. */
void copy_name_report(copy_plan *plan, const char *object, const char *name, const char *repaired);

#endif
