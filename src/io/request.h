/* A request: hyperslabs of one variable, and the memory of their values.
 *
 * A request is small and contiguous. A pending one costs 88 bytes of memory, and 16 for each extent, or for each
 * dimension of a hyperslab that is not contiguous (24 with strides), in the arena of the queue, plus the values of puts
 * that are packed when they are posted; a get keeps the memory of the numbers that it was posted with. It holds no file
 * offsets, because it may be posted in define mode, before offsets are assigned. A wait call takes 8 bytes of memory
 * more for each request (16 if it is given ids), and 24 (while it sorts, 48) for each one of a list that was posted out
 * of the order of the file. */
#ifndef PNC_IO_REQUEST_H
#define PNC_IO_REQUEST_H

#include "base/memory.h"
#include "io/call.h"
#include "io/context.h"
#include "select/flat_type.h"
#include "select/selection.h"

#define PNC_PIECES_DIMS 8
#define PNC_PIECES_NUMBERS (64 << 10)

/* The hyperslabs of a blocking call with a long list, of more than PNC_PIECES_NUMBERS numbers. They remain in the
 * arrays of the caller. */
typedef struct pnc_pieces {
    MPI_Offset *const *starts, *const *counts;
    int64_t *numbers; /* of one hyperslab at a time */
    int ndims;
    int64_t elem_size, distance[PNC_PIECES_DIMS]; /* bytes; for extents */
} pnc_pieces;

/* The largest fields first, flags last: a million of them may be pending. */
typedef struct pnc_request {
    int64_t nslabs;   /* with a filetype: number of its runs; `numbers` is unused */
    int64_t elements; /* of all hyperslabs */
    int64_t numrecs;  /* number of records after a put, 0 for a fixed-size variable */
    char *memory;
    pnc_flat_type *flat; /* NULL: the elements are contiguous */
    union {
        int64_t *numbers; /* of each hyperslab: start[ndims], count[ndims] and, if strided, stride[ndims] */
        /* has_extents: nslabs extents replace the hyperslabs, all of which are contiguous: in bytes from the beginning
         * of the variable, as if its records were contiguous. Each one lies in one record. */
        pnc_extent *extents;
    };
    union {
        pnc_pieces *pieces; /* has_pieces: they have the hyperslabs */
        /* has_filetype (put_vard, get_vard): replaces the hyperslabs; displacements in bytes from the beginning of the
         * variable */
        pnc_flat_type *filetype;
    };
    int varid;
    int ndims;
    int id;                 /* of a pending request */
    int8_t status;          /* NC_NOERR or NC_ERANGE, set by execution */
    uint8_t direction;      /* pnc_direction */
    unsigned mem : 4;       /* pnc_mem_type */
    unsigned elem_size : 4; /* bytes in the file */
    bool strided : 1;
    bool has_extents : 1;
    bool ascends : 1;      /* the extents ascend and are disjoint */
    bool has_computed : 1; /* there are as many extents, which are computed from the pieces when they are needed */
    bool has_pieces : 1;
    bool has_filetype : 1;
    bool external : 1; /* memory holds external bytes, packed when the request was posted */
    bool buffered : 1; /* those bytes count as used of the attached buffer (bput) */
} pnc_request;
_Static_assert(sizeof(pnc_request) <= 72, "what the head of this file says about memory");
_Static_assert(PNC_MEM_TYPE_COUNT < 16 && NC_ERANGE >= INT8_MIN, "the small fields hold their values");

/* What requests are in all. */
typedef struct pnc_request_summary {
    int64_t n, bytes, slabs;
    int64_t numrecs;  /* the largest */
    bool are_single;  /* each request is one extent of the file, and of memory */
    bool is_in_order; /* and begins after the end of the one before it, in the same variable */
    int varid;        /* of the last request */
    int64_t end;      /* of its extent */
} pnc_request_summary;

/* Requests that are executed together: all puts or all gets, of a collective or an independent call. */
typedef struct pnc_request_list {
    pnc_direction direction;
    bool collective;
    pnc_request **at;
    int64_t n;
    pnc_request_summary summary;
    int error;                       /* in the arguments of this rank, which has no requests then */
    bool is_checked;                 /* values out of range were reported when the requests were posted */
    const pnc_request *out_of_range; /* set by execution: the first request with such values, or NULL */
    int64_t others;                  /* ranks that also have one: as pnc_error_share takes it */
} pnc_request_list;

static inline bool pnc_io_request_has_extents(const pnc_request *r)
{
    return r->has_extents || r->has_computed;
}

/* Whether the request is one extent of the file, and of memory. */
static inline bool pnc_io_request_is_single(const pnc_request *r)
{
    return r->has_extents && r->nslabs == 1 && r->flat == NULL;
}

/* So many requests ahead of their use, requests and their values are loaded into the cache: those in random order are
 * at random addresses, and each of them would cost a cache miss. Sources are loaded twice as far ahead, as they lead to
 * requests. A wait for 1,000,000 igets that are scattered in the file took 44 ns each with 16, 39 with 32, and 41 with
 * 64. */
#define PNC_REQUESTS_AHEAD 32

/* Load a single request into the cache, with its extent, which is behind it in the arena. */
static inline void pnc_io_request_prefetch(const pnc_request *r)
{
    pnc_memory_prefetch(r, (int64_t)(sizeof *r + sizeof *r->extents));
}

static inline pnc_extent pnc_io_request_get_extent(const pnc_request *r, int64_t i)
{
    const pnc_pieces *p = r->pieces;
    const MPI_Offset *start, *count;
    pnc_extent extent;

    if (r->has_extents)
        return r->extents[i];
    start = p->starts[i];
    count = p->counts != NULL ? p->counts[i] : NULL;
    extent = (pnc_extent){0, p->elem_size};
    for (int k = 0; k < p->ndims; k++) {
        extent.offset += start[k] * p->distance[k];
        extent.length *= count != NULL ? count[k] : 1;
    }
    return extent;
}

/* The numbers of a hyperslab. */
typedef struct pnc_slab {
    int64_t *start, *count, *stride; /* stride: NULL unless the request is strided */
} pnc_slab;
/* Copy those of hyperslab i from the pieces. */
pnc_slab pnc_io_request_load_slab(const pnc_request *r, int64_t i);

/* Of hyperslab i, until the next call; for requests without extents or a filetype. */
static inline pnc_slab pnc_io_request_get_slab(const pnc_request *r, int64_t i)
{
    int64_t *start = r->numbers + i * r->ndims * (r->strided ? 3 : 2);

    if (r->has_pieces)
        return pnc_io_request_load_slab(r, i);
    return (pnc_slab){start, start + r->ndims, r->strided ? start + 2 * r->ndims : NULL};
}

/* Capacity that pnc_io_request_init needs in `numbers`; 0 if varid is invalid. */
int64_t pnc_io_request_count_numbers(const pnc_io_context *io, const pnc_call *call);
/* What the request uses of it, from the beginning. */
int64_t pnc_io_request_count_used(const pnc_request *r);

/* The first checks of a call: varid exists; text only to and from NC_CHAR (if the memory type is known). */
int pnc_io_request_check_target(pnc_io_context *io, const pnc_call *call);
/* Check a call's arguments in the documented order of errors and fill in *r; `numbers` is the caller's. On failure
 * *r is empty and may be freed. */
int pnc_io_request_init(pnc_io_context *io, const pnc_call *call, int64_t *numbers, pnc_request *r);
/* Release what *r holds, except the caller's numbers. */
void pnc_io_request_free(pnc_request *r);

/* Check that the format can store `records` records. `first` is the first record of the request: it selects the
 * error code. */
int pnc_io_request_check_records(pnc_io_context *io, const pnc_var *var, int64_t first, int64_t records);

/* Record the result of a conversion of values of the request. NC_NOERR keeps an earlier result. */
static inline void pnc_io_request_set_status(pnc_io_context *io, pnc_request *r, int status)
{
    if (status == NC_NOERR)
        return;
    r->status = (int8_t)status;
    io->has_out_of_range = true;
}

/* Bytes of the request in the file. */
static inline int64_t pnc_io_request_count_bytes(const pnc_request *r)
{
    return r->elements * r->elem_size;
}

static inline void pnc_io_request_summary_add(pnc_request_summary *s, const pnc_request *r)
{
    bool is_first = s->n == 0;

    s->are_single = pnc_io_request_is_single(r) && (is_first || s->are_single);
    s->is_in_order =
        s->are_single && (is_first || (s->is_in_order && s->varid == r->varid && s->end <= r->extents->offset));
    s->varid = r->varid;
    s->end = s->are_single ? r->extents->offset + r->extents->length : 0;
    s->n++;
    s->bytes += pnc_io_request_count_bytes(r);
    s->slabs += r->elements > 0 ? r->nslabs : 0;
    s->numrecs = r->numrecs > s->numrecs ? r->numrecs : s->numrecs;
}

static inline void pnc_io_request_list_add(pnc_request_list *list, pnc_request *r)
{
    list->at[list->n++] = r;
    pnc_io_request_summary_add(&list->summary, r);
}

/* The selection of hyperslab number i; for requests without extents or a filetype. */
int pnc_io_request_get_selection(pnc_io_context *io, const pnc_request *r, int64_t i, pnc_selection *out);
/* Init a packer over all values of the request. */
int pnc_io_request_init_packer(pnc_io_context *io, const pnc_request *r, pnc_packer *packer);

#endif
