/* A request: elements of one variable, and the memory of their values.
 *
 * A request is small and contiguous. A pending one costs 88 bytes of memory, and 16 for each extent, or for each
 * dimension of a hyperslab that is not contiguous (24 with strides), in the arena of the queue, plus the values of puts
 * that are packed when they are posted; a get keeps the memory of the numbers that it was posted with. It holds no
 * addresses, because it may be posted in define mode, before they are assigned. A wait call takes 8 bytes of memory
 * more for each request (16 if it is given ids), and 24 (while it sorts, 48) for each one of a list that was posted out
 * of the order of the file. */
#ifndef PNC_IO_REQUEST_H
#define PNC_IO_REQUEST_H

#include "base/memory.h"
#include "io/request/call.h"
#include "io/context.h"
#include "mapping/elements.h"
#include "select/flat_type.h"

/* The hyperslabs of a blocking call with a list of more than so many numbers remain in the arrays of the caller. */
#define PNC_LIST_NUMBERS (64 << 10)

/* Ordered to avoid padding: a million requests may be pending. */
typedef struct pnc_request {
    pnc_elements elements;
    int64_t numrecs; /* length of the first unlimited dimension after a put; 0: the variable does not have it */
    char *memory;
    pnc_flat_type *flat;   /* NULL: the values are contiguous */
    int id;                /* of a pending request */
    int8_t status;         /* NC_NOERR or NC_ERANGE, set by execution */
    uint8_t direction;     /* pnc_direction */
    uint8_t mem;           /* pnc_mem_type */
    bool external : 1;     /* memory holds external bytes, packed when the request was posted */
    bool buffered : 1;     /* those bytes count as used of the attached buffer (bput) */
    bool is_quantized : 1; /* they are quantized already, where their variable is */
} pnc_request;
_Static_assert(sizeof(pnc_request) <= 72, "what the head of this file says about memory");
_Static_assert(PNC_MEM_TYPE_COUNT <= UINT8_MAX && NC_ERANGE >= INT8_MIN, "the small fields hold their values");

/* The variable of the current request of a list. */
typedef struct pnc_target {
    int varid; /* -1: none */
    pnc_mapping mapping;
    pnc_locator locator;
} pnc_target;

/* Set the variable, unless it is set. */
static inline void pnc_io_target_load(pnc_target *target, const pnc_io_context *io, int varid)
{
    if (target->varid == varid)
        return;
    target->varid = varid;
    target->mapping = pnc_io_context_get_mapping(io, varid);
    pnc_mapping_locator_init(&target->locator, &target->mapping);
}

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

/* Whether the request is one extent of the file, and of memory. */
static inline bool pnc_io_request_is_single(const pnc_request *r)
{
    return r->elements.form == PNC_EXTENTS && r->elements.n == 1 && r->flat == NULL;
}

/* So many requests ahead of their use, requests and their values are loaded into the cache: those in random order are
 * at random addresses, and each of them would cost a cache miss. Sources are loaded twice as far ahead, as they lead to
 * requests. A wait for 1,000,000 igets that are scattered in the file took 44 ns each with 16, 39 with 32, and 41 with
 * 64. */
#define PNC_REQUESTS_AHEAD 32

/* Load a single request into the cache, with its extent, which is behind it in the arena. */
static inline void pnc_io_request_prefetch(const pnc_request *r)
{
    pnc_memory_prefetch(r, (int64_t)(sizeof *r + sizeof *r->elements.extents));
}

/* Capacity that pnc_io_request_init needs in `numbers`; 0 if varid is invalid. */
int64_t pnc_io_request_count_numbers(const pnc_io_context *io, const pnc_call *call);

/* The first checks of a call: varid exists; text only to and from NC_CHAR (if the memory type is known). */
int pnc_io_request_check_target(pnc_io_context *io, const pnc_call *call);
/* Check a call's arguments in the documented order of errors and fill in *r; `numbers` is the caller's. On failure
 * *r is empty and may be freed. `ready`: NULL, or memory for the selection of the only hyperslab, with which it need
 * not be made again; the caller frees it, too. */
int pnc_io_request_init(pnc_io_context *io, const pnc_call *call, int64_t *numbers, pnc_selection *ready,
                        pnc_request *r);
/* Check a put that was posted before its variable had addresses, or with other ones: NC_EINVALCOORDS or NC_EEDGE if it
 * exceeds them. */
int pnc_io_request_check_place(pnc_io_context *io, const pnc_request *r);
/* Release what *r holds, except the caller's numbers. */
void pnc_io_request_free(pnc_request *r);

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
    return r->elements.count * r->elements.elem_size;
}

static inline void pnc_io_request_summary_add(pnc_request_summary *s, const pnc_request *r)
{
    const pnc_elements *e = &r->elements;
    bool is_first = s->n == 0, is_single = pnc_io_request_is_single(r);

    s->are_single = is_single && (is_first || s->are_single);
    s->is_in_order =
        is_single && (is_first || (s->is_in_order && s->varid == e->varid && s->end <= e->extents->offset));
    s->varid = e->varid;
    s->end = is_single ? e->extents->offset + e->extents->length : 0;
    s->n++;
    s->bytes += pnc_io_request_count_bytes(r);
    s->slabs += e->count > 0 ? e->n : 0;
    s->numrecs = r->numrecs > s->numrecs ? r->numrecs : s->numrecs;
}

static inline void pnc_io_request_list_add(pnc_request_list *list, pnc_request *r)
{
    list->at[list->n++] = r;
    pnc_io_request_summary_add(&list->summary, r);
}

/* The length that an unlimited dimension needs after the puts of a list; for files with several of them. */
int64_t pnc_io_list_get_length(const pnc_io_context *io, const pnc_request_list *list, int dimid);

/* Set an error of a request of the variable, with the text of the code. */
int pnc_io_request_fail(pnc_io_context *io, int varid, int err);
/* put_vard and get_vard: check the arguments and fill in *r, which is to be freed in any case. A request without
 * elements has nothing to transfer. */
int pnc_io_vard_request_init(pnc_io_context *io, const pnc_vard *vard, pnc_request *r);

int pnc_io_conversion_reject(pnc_io_context *io, const pnc_var *var); /* always NC_ECHAR */

/* Text is only accessed as text: NC_ECHAR. */
static inline int pnc_io_conversion_check(pnc_io_context *io, const pnc_var *var, pnc_mem_type mem)
{
    return (mem == PNC_TEXT) == (var->type == NC_CHAR) ? NC_NOERR : pnc_io_conversion_reject(io, var);
}

/* Set the memory of a request from buffer, datatype and imap (NC_ECHAR, NC_EIOMISMATCH ..). r->elements must be set,
 * and with imap also the numbers. */
int pnc_io_request_set_memory(pnc_io_context *io, const pnc_call *call, pnc_request *r);
/* Init a packer over all values of the request, for its execution: puts are quantized then. */
int pnc_io_request_init_packer(pnc_io_context *io, const pnc_request *r, pnc_packer *packer);
/* The same without quantization, for values that are kept until then. In define mode it is not known yet. */
int pnc_io_request_init_converter(pnc_io_context *io, const pnc_request *r, pnc_packer *packer);

/* Whether execution must change values that are external already. */
static inline bool pnc_io_request_is_quantized(const pnc_io_context *io, const pnc_request *r)
{
    const pnc_var *var = io->model->vars[r->elements.varid];

    return !r->is_quantized && (var->quantize_mode != NC_NOQUANTIZE || var->error_mode != 0) && r->direction == PNC_PUT;
}

#endif
