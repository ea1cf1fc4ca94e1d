/* What each filter defines: one file for each, one row in the table of chain.c. Of this room only. */
#ifndef PNC_FILTER_KIND_H
#define PNC_FILTER_KIND_H

#include <assert.h>
#include <string.h>

#include "filter/filter.h"

/* One filter applied to one chunk. */
typedef struct pnc_filter_step {
    pnc_filter_worker *worker;
    const pnc_filter *filter; /* checked */
    const unsigned char *in;
    int64_t in_bytes;
    unsigned char *out; /* does not overlap `in` */
    int64_t capacity;
    /* Set on success: the result, which is `out` or a part of `in`. */
    const unsigned char *result;
    int64_t result_bytes; /* at most `capacity` */
    pnc_error *error;
} pnc_filter_step;

typedef struct pnc_filter_kind {
    int id;
    const char *name;
    const char *library, *package; /* NULL: none is needed; the file that is opened, and Debian's package */
    bool compresses;               /* the number of bytes depends on their values */
    int added;                     /* else: bytes that encoding adds */
    /* The most bytes that encoding makes of so many, or of which decoding makes so many; NULL: as the two say. */
    int64_t (*get_bound)(const pnc_filter *filter, int64_t bytes);
    bool (*has_library)(const pnc_codecs *codecs, int id);
    int (*check)(const pnc_filter *filter, pnc_error *error); /* its parameters; NC_EFILTER */
    /* NC_EFILTER without a message: the result does not fit into `capacity`. */
    int (*encode)(pnc_filter_step *step); /* NULL: chunks are only decoded */
    int (*decode)(pnc_filter_step *step);
} pnc_filter_kind;

extern const pnc_filter_kind pnc_filter_kind_deflate, pnc_filter_kind_shuffle, pnc_filter_kind_fletcher32,
    pnc_filter_kind_szip, pnc_filter_kind_nbit, pnc_filter_kind_scaleoffset, pnc_filter_kind_zstd, pnc_filter_kind_lzf,
    pnc_filter_kind_number, pnc_filter_kind_plugin, pnc_filter_kind_gzip, pnc_filter_kind_blosc, pnc_filter_kind_crc32c,
    pnc_filter_kind_transpose;

/* NC_EFILTER unless a filter has from `least` to `most` parameters. */
int pnc_filter_parameters_check(const pnc_filter *filter, int least, int most, pnc_error *error);

/* Of decoding: NC_EHDFERR, "deflate: WHAT". */
int pnc_filter_damage_set(const pnc_filter_step *step, const char *what);
/* Of decoding: the filter has changed nothing. */
int pnc_filter_bytes_take(pnc_filter_step *step);

#endif
