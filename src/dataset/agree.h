/* Comparing the arguments of collective calls. */
#ifndef PNC_DATASET_AGREE_H
#define PNC_DATASET_AGREE_H

#include "dataset/dataset.h"

/* An argument of a collective call. */
typedef struct pnc_argument {
    int code; /* returned if the argument differs from that of rank 0 */
    const void *bytes;
    int64_t length;
} pnc_argument;

/* What the call does next: it decides whether the ranks compare their arguments outside safe mode. */
typedef enum pnc_consequence {
    PNC_STAYS_LOCAL,   /* each rank returns its own `local`; not collective */
    PNC_IS_COLLECTIVE, /* all ranks return an error if one does: none blocks in a later step */
    PNC_CHANGES_HEADER /* as in safe mode: in data mode no later step reconciles the headers of the ranks */
} pnc_consequence;

/* In safe mode, compare every argument with that of rank 0, byte by byte. Returns on every rank the code of the first
 * argument that differs on any rank, or NC_NOERR. A rank whose call has already failed passes its error in `local`;
 * then every rank returns an error. An error that a binding has found in the arguments is such an error. */
int pnc_dataset_arguments_agree(pnc_dataset *ds, int local, const pnc_argument *args, int n,
                                pnc_consequence consequence);

#endif
