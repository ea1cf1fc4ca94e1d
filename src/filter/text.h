/* Filters as users write them, in hints and in options of tools:
 *
 *     none
 *     deflate[:LEVEL]                zstd[:LEVEL]
 *     bzip2[:LEVEL]                  lz4
 *     blosc:CODEC[:LEVEL]            blosc2:CODEC[:LEVEL]
 *     bitshuffle:lz4                 bitshuffle:zstd[:LEVEL]
 *     zfp:accuracy:ERROR             zfp:precision:BITS    zfp:rate:BITS    zfp:reversible
 *     sz3:abs:ERROR                  sz3:rel:ERROR
 *     ID[:PARAMETER]...              of a plugin of HDF5 */
#ifndef PNC_FILTER_TEXT_H
#define PNC_FILTER_TEXT_H

#include "filter/filter.h"

enum { PNC_FILTER_TEXT_PARAMETERS = 64 }; /* 128 bits each would not fill the value of a hint */

typedef enum pnc_filter_shuffling {
    PNC_SHUFFLED_BEFORE, /* shuffle before it makes chunks smaller */
    PNC_SHUFFLED_WITHIN, /* it has a shuffle of its own: pnc_filter_text_shuffle_remove */
    PNC_NOT_SHUFFLED     /* it shuffles bits, needs numbers, or has no name here */
} pnc_filter_shuffling;

typedef struct pnc_filter_text {
    int id; /* 0: none */
    int nparameters;
    uint32_t parameters[PNC_FILTER_TEXT_PARAMETERS];
    pnc_filter_shuffling shuffling;
    bool takes_reals; /* only numbers of floating point */
    bool is_lossy;    /* not for coordinates */
} pnc_filter_text;

/* False: the text is none of these, or has a number out of range. */
bool pnc_filter_text_parse(const char *text, pnc_filter_text *out);

/* Of a filter with a shuffle of its own: without it. */
void pnc_filter_text_shuffle_remove(pnc_filter_text *filter);

/* When a dataset is created, a plugin makes parameters of those that it is given. Of parameters of a dataset: the first
 * of those that a new one is given to have the same. *n: how many. */
const uint32_t *pnc_filter_text_find_given(int id, const uint32_t *parameters, int *n);

#endif
