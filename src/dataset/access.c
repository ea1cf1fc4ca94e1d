/* The put/get family: a call is checked, turned into a selection of the file and a pump over the user's memory, and
 * handed to the transfer. On a collective call a rank with an error takes part with an empty selection. */
#include "dataset/call.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/modes.h"

/* A call while it is prepared and carried out. */
typedef struct request {
    const pnc_var *var;
    pnc_array array;
    int64_t small[5 * PNC_SELECTION_INLINE], *numbers; /* shape and the arguments, as int64_t */
    const int64_t *start, *count, *stride, *imap;      /* NULL where the call gives none */
    int64_t elements;
    pnc_mem mem;
    pnc_memmap *map;      /* of memory */
    char *memory;         /* the user's buffer, or packed */
    char *packed;         /* see repack */
    pnc_memmap *user_map; /* of the user's buffer where there is a packed one */
    int64_t newrecs;
    pnc_selection selection;
    pnc_pump pump;
    bool pumping;
} request;

static int check_mode(pnc_dataset *ds, const pnc_call *call)
{
    int err = call->op == PNC_OP_PUT ? pnc_mode_need_write(ds) : NC_NOERR;

    if (err != NC_NOERR)
        return err;
    return call->collective ? pnc_mode_need_collective(ds) : pnc_mode_need_independent(ds);
}

/* MPI_Offset need not be int64_t itself, though it holds the same values. */
static const int64_t *copy_argument(int64_t *to, const MPI_Offset *from, int ndims)
{
    if (from == NULL)
        return NULL;
    for (int i = 0; i < ndims; i++)
        to[i] = from[i];
    return to;
}

/* The variable as selection sees it, and the arguments of the call; those that the shape of the call or a scalar does
 * not use are NULL. */
static int take_arguments(pnc_dataset *ds, const pnc_call *call, request *r)
{
    int n = r->var->ndims;
    int64_t *at = r->small;
    bool whole = call->shape == PNC_VAR || n == 0;

    if (n > PNC_SELECTION_INLINE)
        at = r->numbers = pnc_alloc((int64_t)5 * n, sizeof *at);
    if (at == NULL)
        return pnc_fail(&ds->error, NC_ENOMEM, "no memory for the arguments of variable \"%s\"", r->var->name);
    for (int i = 0; i < n; i++)
        at[i] = r->var->is_record && i == 0 ? ds->model.numrecs : r->var->shape[i];
    r->array = (pnc_array){.name = r->var->name, .begin = r->var->begin, .elem_size = (int)pnc_type_size(r->var->type),
                           .ndims = n, .shape = at, .is_record = r->var->is_record, .recsize = ds->model.recsize};
    if (whole) {
        r->count = n > 0 ? at : NULL;
        return NC_NOERR;
    }
    r->start = copy_argument(at + n, call->start, n);
    if (call->shape != PNC_VAR1)
        r->count = copy_argument(at + 2 * n, call->count, n);
    if (call->shape == PNC_VARS || call->shape == PNC_VARM)
        r->stride = copy_argument(at + 3 * n, call->stride, n);
    if (call->shape == PNC_VARM)
        r->imap = copy_argument(at + 4 * n, call->imap, n);
    return NC_NOERR;
}

/* CDF-1 and CDF-2 keep the number of records in 4 bytes. */
static int check_records(pnc_dataset *ds, request *r)
{
    int64_t most = INT32_MAX;

    r->newrecs = pnc_select_records(&r->array, r->start, r->count, r->stride);
    if (ds->model.format == 5 || r->newrecs <= most)
        return NC_NOERR;
    return pnc_fail(&ds->error, r->start[0] >= most ? NC_EINVALCOORDS : NC_EEDGE, "variable \"%s\": a CDF-%d file holds "
                    "at most %lld records, and %lld are asked for: use NC_64BIT_DATA", r->var->name, ds->model.format,
                    (long long)most, (long long)r->newrecs);
}

/* Checked against the largest element on either side, so that no size in bytes can overflow later. */
static int count_elements(pnc_dataset *ds, request *r)
{
    int64_t bytes = 8;

    r->elements = 1;
    for (int i = 0; i < r->array.ndims && r->count != NULL; i++)
        if (r->count[i] == 0)
            r->elements = 0;
    for (int i = 0; i < r->array.ndims && r->count != NULL && r->elements > 0; i++) {
        if (pnc_mul(bytes, r->count[i], &bytes) != 0)
            return pnc_fail(&ds->error, NC_EINVAL, "variable \"%s\": the request is larger than any memory",
                            r->var->name);
        r->elements = bytes / 8;
    }
    return NC_NOERR;
}

static int check_bounds(pnc_dataset *ds, const pnc_call *call, request *r)
{
    bool put = call->op == PNC_OP_PUT;
    pnc_bounds how = {.relax = ds->relax, .growing = put, .single = call->shape == PNC_VAR1};
    int err = NC_NOERR;

    if (call->shape != PNC_VAR)
        err = pnc_select_check(&r->array, r->start, r->count, r->stride, how, &ds->error);
    if (err == NC_NOERR && put)
        err = check_records(ds, r);
    if (err != NC_NOERR)
        return err;
    return count_elements(ds, r);
}

static int check_conversion(pnc_dataset *ds, const pnc_var *var, pnc_mem mem)
{
    bool text = mem == PNC_TEXT;

    if (text == (var->type == NC_CHAR))
        return NC_NOERR;
    return pnc_fail(&ds->error, NC_ECHAR, "variable \"%s\" has type %s: %s", var->name, pnc_type_name(var->type),
                    text ? "it holds numbers, not text" : "it holds text, not numbers: use the _text functions");
}

/* Addresses below are never mapped, so that a NULL buffer with a datatype that begins there must be a mistake, and not
 * MPI_BOTTOM with absolute addresses. */
#define LOWEST_ADDRESS 4096

static int check_buffer(pnc_dataset *ds, const pnc_call *call, request *r)
{
    MPI_Aint low = 0, extent;

    if (call->buf != NULL || r->elements == 0)
        return NC_NOERR;
    if (call->mem == PNC_FLEX && call->buftype != MPI_DATATYPE_NULL)
        MPI_Type_get_true_extent(call->buftype, &low, &extent);
    if (low >= LOWEST_ADDRESS || low < 0)
        return NC_NOERR;
    return pnc_fail(&ds->error, NC_EINVAL, "variable \"%s\": the buffer is NULL, but %lld values are to be moved",
                    r->var->name, (long long)r->elements);
}

/* True where all elements of a map lie at equal distances. */
static bool is_regular(const pnc_memmap *map, pnc_memrun *run)
{
    int64_t elements = pnc_memmap_elements(map);
    pnc_memcursor cursor;
    bool regular;

    if (pnc_memcursor_start(&cursor, map) != NC_NOERR)
        return false;
    regular = pnc_memcursor_next(&cursor, elements, run) && run->count == elements;
    pnc_memcursor_end(&cursor);
    return regular;
}

/* imap over memory whose elements lie `stride` bytes apart, the first at `offset`. */
static int imap_over(pnc_dataset *ds, request *r, int64_t offset, int64_t stride)
{
    int64_t most = INT64_MAX / 2 / (stride < 0 ? -stride : stride + 1);
    pnc_memmap *map = pnc_memmap_block(1, (int)pnc_mem_size(r->mem));

    for (int i = r->array.ndims - 1; i >= 0; i--) {
        if (r->imap[i] > most / r->count[i] || r->imap[i] < -most / r->count[i]) {
            pnc_memmap_free(map);
            return pnc_fail(&ds->error, NC_EINVAL, "variable \"%s\": imap[%d] = %lld leads beyond any memory",
                            r->var->name, i, (long long)r->imap[i]);
        }
        map = pnc_memmap_vector(map, r->count[i], r->imap[i] * stride);
    }
    r->map = pnc_memmap_shift(map, offset);
    return NC_NOERR;
}

/* imap counts the elements that the datatype picks, and these alone: it may not lead beyond them. */
static bool imap_stays_inside(const request *r)
{
    int64_t last = 0;

    for (int i = 0; i < r->array.ndims; i++) {
        int64_t times = r->count[i] - 1;

        if (times == 0)
            continue;
        if (r->imap[i] < 0 || r->imap[i] > (r->elements - 1 - last) / times)
            return false;
        last += r->imap[i] * times;
    }
    return true;
}

/* Copy all elements between the user's memory and the packed buffer. */
static int copy_packed(const request *r, char *user, bool pack)
{
    int64_t size = (int64_t)pnc_mem_size(r->mem);
    char *packed = r->packed;
    pnc_memcursor cursor;
    pnc_memrun run;
    int err = pnc_memcursor_start(&cursor, r->user_map);

    if (err != NC_NOERR)
        return err;
    while (pnc_memcursor_next(&cursor, r->elements, &run))
        for (int64_t i = 0; i < run.count; i++, packed += size) {
            char *at = user + run.offset + i * run.stride;

            memcpy(pack ? packed : at, pack ? at : packed, (size_t)size);
        }
    pnc_memcursor_end(&cursor);
    return NC_NOERR;
}

/* imap on top of a datatype without a regular stride: the one case that needs memory for all elements. */
static int repack(pnc_dataset *ds, const pnc_call *call, request *r)
{
    if (!imap_stays_inside(r))
        return pnc_fail(&ds->error, NC_EINVAL, "variable \"%s\": imap leads beyond the %lld elements of the MPI datatype",
                        r->var->name, (long long)r->elements);
    r->packed = pnc_alloc(r->elements, pnc_mem_size(r->mem));
    r->user_map = r->map;
    r->map = pnc_memmap_imap(r->array.ndims, r->count, r->imap, (int)pnc_mem_size(r->mem));
    if (r->packed == NULL || r->map == NULL || copy_packed(r, call->buf, true) != NC_NOERR)
        return pnc_fail(&ds->error, NC_ENOMEM, "variable \"%s\": no memory for %lld elements", r->var->name,
                        (long long)r->elements);
    r->memory = r->packed;
    return NC_NOERR;
}

/* Where the elements lie in the user's memory. */
static int map_memory(pnc_dataset *ds, const pnc_call *call, request *r)
{
    bool flexible = call->mem == PNC_FLEX, mapped = r->imap != NULL && r->elements > 0;
    pnc_memrun run = {0, 0, 0};
    int err = NC_NOERR;

    r->mem = call->mem;
    r->memory = call->buf;
    if (flexible)
        err = pnc_buftype_map(call->bufcount, call->buftype, r->var->type, r->elements, &r->map, &r->mem, &ds->error);
    if (err == NC_NOERR && flexible)
        err = check_conversion(ds, r->var, r->mem);
    if (err == NC_NOERR)
        err = check_buffer(ds, call, r);
    if (err != NC_NOERR)
        return err;
    if (flexible && mapped && !is_regular(r->map, &run))
        return repack(ds, call, r);
    if (mapped) {
        pnc_memmap_free(r->map);
        r->map = NULL;
        err = imap_over(ds, r, run.offset, run.count > 1 ? run.stride : (int64_t)pnc_mem_size(r->mem));
        if (err != NC_NOERR)
            return err;
    } else if (!flexible) {
        r->map = pnc_memmap_block(r->elements, (int)pnc_mem_size(r->mem));
    }
    if (r->map == NULL)
        return pnc_fail(&ds->error, NC_ENOMEM, "variable \"%s\": no memory to describe the buffer", r->var->name);
    return NC_NOERR;
}

/* Everything that can be wrong with the arguments, in the documented order of precedence. */
static int prepare(pnc_dataset *ds, const pnc_call *call, request *r)
{
    pnc_direction way = call->op == PNC_OP_PUT ? PNC_PUT : PNC_GET;
    unsigned char fill[8];
    int err = pnc_mode_need_var(ds, call->varid);

    if (err != NC_NOERR)
        return err;
    r->var = ds->model.vars[call->varid];
    if (call->mem != PNC_FLEX && (err = check_conversion(ds, r->var, call->mem)) != NC_NOERR)
        return err;
    if ((err = take_arguments(ds, call, r)) != NC_NOERR || (err = check_bounds(ds, call, r)) != NC_NOERR ||
        (err = map_memory(ds, call, r)) != NC_NOERR)
        return err;
    err = pnc_select(&r->selection, &r->array, r->start, r->count, r->stride);
    if (err != NC_NOERR)
        return pnc_fail(&ds->error, err, "variable \"%s\": %s", r->var->name, pnc_code_text(err));
    if (r->elements == 0)
        return NC_NOERR;
    if (way == PNC_PUT)
        pnc_model_fill_value(r->var, fill);
    else
        pnc_convert_mem_fill(r->mem, fill);
    err = pnc_pump_start(&r->pump, way, r->map, r->memory, r->var->type, r->mem, ds->model.format, fill);
    r->pumping = err == NC_NOERR;
    return err == NC_NOERR ? err : pnc_fail(&ds->error, err, "variable \"%s\": %s", r->var->name, pnc_code_text(err));
}

static void release(request *r)
{
    if (r->pumping)
        pnc_pump_end(&r->pump);
    pnc_select_free(&r->selection);
    pnc_memmap_free(r->map);
    pnc_memmap_free(r->user_map);
    pnc_free(r->packed);
    pnc_free(r->numbers);
}

/* Some element did not fit; all are moved all the same. */
static int out_of_range(pnc_dataset *ds, const request *r, pnc_op op)
{
    const char *file = pnc_type_name(r->var->type), *memory = pnc_mem_name(r->mem);

    if (!r->pumping || r->pump.status == NC_NOERR)
        return NC_NOERR;
    return pnc_fail(&ds->error, r->pump.status, "variable \"%s\": some values of type %s do not fit type %s and became "
                    "the fill value", r->var->name, op == PNC_OP_PUT ? memory : file,
                    op == PNC_OP_PUT ? file : memory);
}

int pnc_access(pnc_dataset *ds, const pnc_call *call)
{
    pnc_direction way = call->op == PNC_OP_PUT ? PNC_PUT : PNC_GET;
    pnc_selection none;
    request r = {0};
    int err = check_mode(ds, call), moved = NC_NOERR;

    if (err != NC_NOERR) /* not answered by a collective call: the mode is the same on all ranks */
        return err;
    err = prepare(ds, call, &r);
    if (call->collective && ds->safe) {
        err = pnc_agree_worst(ds, err);
        if (err != NC_NOERR)
            goto out;
    }
    if (err == NC_NOERR) {
        moved = pnc_transfer(ds, way, call->collective, &r.selection, r.pumping ? &r.pump : NULL, r.newrecs);
        if (moved == NC_NOERR && r.packed != NULL && way == PNC_GET)
            moved = copy_packed(&r, call->buf, false);
        err = moved != NC_NOERR ? moved : out_of_range(ds, &r, call->op);
    } else if (call->collective) {
        pnc_select_none(&none);
        pnc_transfer(ds, way, true, &none, NULL, 0);
    }
out:
    release(&r);
    return err;
}
