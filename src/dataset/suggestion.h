/* Names that a program may have meant, for messages about names that a file does not have. */
#ifndef PNC_DATASET_SUGGESTION_H
#define PNC_DATASET_SUGGESTION_H

#include "format/model.h"

/* ": did you mean "temperature"?", or empty. */
typedef struct pnc_suggestion {
    char text[NC_MAX_NAME + 32];
} pnc_suggestion;

/* name may be NULL. */
pnc_suggestion pnc_dataset_dim_suggest(const pnc_model *model, const char *name);
pnc_suggestion pnc_dataset_var_suggest(const pnc_model *model, const char *name);
pnc_suggestion pnc_dataset_att_suggest(const pnc_atts *atts, const char *name);

#endif
