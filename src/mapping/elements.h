/* The elements of a variable that a request accesses, in the order of their values in memory, not expanded: hyperslabs;
 * extents, if all hyperslabs are contiguous; or those of a filetype. */
#ifndef PNC_MAPPING_ELEMENTS_H
#define PNC_MAPPING_ELEMENTS_H

#include "base/types.h"
#include "mapping/mapping.h"
#include "select/flat_type.h"

typedef enum pnc_elements_form { PNC_SLABS, PNC_EXTENTS, PNC_FILETYPE } pnc_elements_form;

/* The arguments of a call, as the caller has them. */
typedef struct pnc_slab_arguments {
    int64_t n;
    bool is_list;                              /* of hyperslabs, as in varn */
    const pnc_offset *start, *count, *stride;  /* of one hyperslab */
    pnc_offset *const *starts, *const *counts; /* of a list; NULL: none, and all ones */
} pnc_slab_arguments;

/* A long list that remains in the arrays of the caller. */
typedef struct pnc_slab_arrays {
    pnc_slab_arguments given;
    int64_t *numbers; /* of one hyperslab at a time */
} pnc_slab_arrays;

typedef struct pnc_elements {
    int64_t n;     /* hyperslabs, extents, or runs of the filetype */
    int64_t count; /* elements of all of them */
    union {
        int64_t *numbers;    /* of each hyperslab: start[ndims], count[ndims] and, if strided, stride[ndims] */
        pnc_extent *extents; /* offsets in the variable; each extent lies in one part */
    };
    union {
        pnc_slab_arrays *arrays;        /* in_arrays: instead of numbers or extents */
        const pnc_selection *selection; /* is_ready: that of the only hyperslab */
        pnc_flat_type *filetype;        /* displacements in bytes from the first address of the variable */
    };
    int varid;
    uint8_t form; /* pnc_elements_form */
    uint8_t elem_size;
    bool strided : 1;
    bool ascends : 1; /* the extents ascend and are disjoint */
    bool in_arrays : 1;
    bool is_ready : 1;
} pnc_elements;

/* --- extents --- */

/* Make extents of the hyperslabs, in the memory of e->numbers: at most `capacity`, or else, with in_arrays, they are
 * computed when they are needed. False if a hyperslab is not contiguous or not valid: nothing has changed then, but the
 * contents of that memory. most_records: that an index may reach. *records: after the last one; 0 without records. */
bool pnc_mapping_extents_make(const pnc_mapping *mapping, const pnc_slab_arguments *given, int64_t most_records,
                              int64_t capacity, pnc_elements *e, int64_t *records);
/* One of the whole variable, if it has one part. */
bool pnc_mapping_extent_make_whole(const pnc_mapping *mapping, pnc_elements *e);
pnc_extent pnc_mapping_extent_compute(const pnc_mapping *mapping, const pnc_elements *e, int64_t i);

static inline pnc_extent pnc_mapping_extent_get(const pnc_mapping *mapping, const pnc_elements *e, int64_t i)
{
    return e->in_arrays ? pnc_mapping_extent_compute(mapping, e, i) : e->extents[i];
}

/* --- hyperslabs --- */

typedef struct pnc_slab {
    int64_t *start, *count, *stride; /* stride: NULL unless strided */
} pnc_slab;

/* How many numbers each one has. */
static inline int pnc_mapping_slab_count_numbers(const pnc_elements *e, int ndims)
{
    return ndims * (e->strided ? 3 : 2);
}

/* Copy those of hyperslab i from the arguments. */
pnc_slab pnc_mapping_slab_take(const pnc_elements *e, const pnc_slab_arguments *given, int ndims, int64_t i);
/* Of hyperslab i, until the next call. */
pnc_slab pnc_mapping_slab_get(const pnc_elements *e, int ndims, int64_t i);
/* The selection of hyperslab i: one that is ready, or else *own, which the caller frees. NC_ENOMEM; NC_EINVALCOORDS if
 * an address exceeds 64 bits. */
int pnc_mapping_selection_get(const pnc_mapping *mapping, const pnc_elements *e, int64_t i, pnc_selection *own,
                              const pnc_selection **out);

/* --- both --- */

/* The addresses from the first to behind the last byte, and the bytes of the elements. */
typedef struct pnc_span {
    int64_t first, end, bytes;
} pnc_span;

/* Of hyperslab or extent i; the locator is that of the mapping. */
pnc_span pnc_mapping_span_get(const pnc_mapping *mapping, pnc_locator *locator, const pnc_elements *e, int64_t i);

#endif
