/* The owner's side of an exchange: pieces of one stripe of the file, gathered from several ranks, become few large
 * accesses. */
#ifndef PNC_DATASET_STRIPES_H
#define PNC_DATASET_STRIPES_H

#include "dataset/dataset.h"

#define PNC_STRIPE (INT64_C(1) << 20) /* bytes */
#define PNC_STRIPE_MEMORY (2 * PNC_STRIPE + PNC_STRIPE / 8) /* that serving stripes takes */

typedef struct pnc_stripe {
    pnc_dataset *ds;
    bool exclusive;     /* nobody else writes to the stripe meanwhile: its gaps may be read and written again */
    int64_t first;      /* file offset of the stripe */
    int64_t low, high;  /* the part of it that the pieces span, as file offsets; low == high: nothing yet */
    char *window;       /* bytes of the stripe */
    char *old;          /* what the file holds in gaps */
    uint64_t *covered;  /* one bit for each byte that a piece brought */
} pnc_stripe;

int pnc_stripe_make(pnc_stripe *stripe, pnc_dataset *ds);
void pnc_stripe_free(pnc_stripe *stripe);

/* Begin with stripe number `index` of the file. */
void pnc_stripe_begin(pnc_stripe *stripe, int64_t index);
/* Put: take the bytes of one piece in, and at the end write everything. Where pieces overlap, the last one stays. */
void pnc_stripe_put(pnc_stripe *stripe, pnc_extent piece, const char *bytes);
int pnc_stripe_write(pnc_stripe *stripe);
/* Get: say what is wanted, read the span of it, hand out pieces. */
void pnc_stripe_want(pnc_stripe *stripe, pnc_extent piece);
int pnc_stripe_read(pnc_stripe *stripe);
void pnc_stripe_get(const pnc_stripe *stripe, pnc_extent piece, char *bytes);

#endif
