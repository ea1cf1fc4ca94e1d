/* Names that a program may have meant, for messages about names that a file does not have. */
#ifndef PNC_DATASET_SUGGESTION_H
#define PNC_DATASET_SUGGESTION_H

#include "dataset/dataset.h"

/* ": did you mean "temperature"?", or empty. */
typedef struct pnc_suggestion {
    char text[NC_MAX_NAME + 32];
} pnc_suggestion;

/* name may be NULL. Empty, too, for a file in which many names were missing. */
pnc_suggestion pnc_dataset_dim_suggest(pnc_dataset *ds, const char *name);
pnc_suggestion pnc_dataset_var_suggest(pnc_dataset *ds, const char *name);
pnc_suggestion pnc_dataset_att_suggest(pnc_dataset *ds, const pnc_atts *atts, const char *name);

#endif
