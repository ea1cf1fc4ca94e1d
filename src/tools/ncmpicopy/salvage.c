/* Chunks are read by independent calls, as each may fail on its own. Of a variable without chunks, a part of a row is
 * read at once: a disk loses sectors. */
#include "tools/ncmpicopy/salvage.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/storage.h"

enum { SECTOR = 4096, INDEX_SIZE = 256 };

bool copy_wreck_is_damage(int code)
{
    return code == NC_EREAD || code == NC_EHDFERR;
}

/* Part of a block: the arrays are those of the block, and more. */
typedef struct piece {
    MPI_Offset *unit;   /* lengths of a chunk in the input */
    MPI_Offset *at;     /* the first index of the part in the block */
    MPI_Offset *length; /* of the part */
    MPI_Offset *first;  /* its first index in the input */
    MPI_Offset *step;   /* elements from one index to the next in the memory of the block */
} piece;

static int alloc_piece(int ndims, piece *p)
{
    int64_t n = ndims > 0 ? ndims : 1;
    p->unit = pnc_memory_alloc_zeroed(5 * n, sizeof *p->unit);
    if (p->unit == NULL)
        return NC_ENOMEM;
    p->at = p->unit + n;
    p->length = p->at + n;
    p->first = p->length + n;
    p->step = p->first + n;
    return NC_NOERR;
}

static void init_piece(const copy_block *w, piece *p)
{
    int ndims = w->var->ndims;
    MPI_Offset step = 1;
    bool has_chunks = ndims > 0 && copy_chunks_find(w->ncid, w->varid, p->unit);
    for (int d = ndims - 1; d >= 0; d--) {
        p->step[d] = step;
        step *= w->count[d];
        if (!has_chunks || p->unit[d] < 1)
            p->unit[d] = d < ndims - 1 ? 1 : SECTOR / (MPI_Offset)pnc_type_get_size(w->var->type);
    }
}

/* The part that begins at p->at: up to the end of the chunk, or of the block. */
static void measure(const copy_block *w, piece *p)
{
    for (int d = 0; d < w->var->ndims; d++) {
        MPI_Offset stride = w->stride[d], left = w->count[d] - p->at[d];
        p->first[d] = w->start[d] + p->at[d] * stride;
        p->length[d] = (p->unit[d] - p->first[d] % p->unit[d] - 1) / stride + 1;
        p->length[d] = p->length[d] < left ? p->length[d] : left;
    }
}

static bool advance(const copy_block *w, piece *p)
{
    for (int d = w->var->ndims - 1; d >= 0; d--) {
        p->at[d] += p->length[d];
        if (p->at[d] < w->count[d])
            return true;
        p->at[d] = 0;
    }
    return false;
}

/* --- one part --- */

static MPI_Offset count_values(const copy_block *w, const piece *p)
{
    MPI_Offset n = 1;
    for (int d = 0; d < w->var->ndims; d++)
        n *= p->length[d];
    return n;
}

static char *find_values(const copy_block *w, const piece *p, void *values)
{
    MPI_Offset at = 0;
    for (int d = 0; d < w->var->ndims; d++)
        at += p->at[d] * p->step[d];
    return (char *)values + (size_t)at * pnc_type_get_size(w->var->type);
}

static void fill_values(const copy_block *w, const piece *p, const void *fill, char *values, int d)
{
    size_t size = pnc_type_get_size(w->var->type);
    if (d == w->var->ndims) {
        memcpy(values, fill, size);
        return;
    }
    for (MPI_Offset i = 0; i < p->length[d]; i++)
        fill_values(w, p, fill, values + (size_t)(i * p->step[d]) * size, d + 1);
}

static void explain_index(const copy_block *w, const piece *p, bool is_last, char out[INDEX_SIZE])
{
    size_t used = (size_t)snprintf(out, INDEX_SIZE, "[");
    for (int d = 0; d < w->var->ndims && used < INDEX_SIZE; d++)
        used += (size_t)snprintf(out + used, INDEX_SIZE - used, "%s%lld", d > 0 ? ", " : "",
                                 (long long)(p->first[d] + (is_last ? p->length[d] - 1 : 0) * w->stride[d]));
    if (used < INDEX_SIZE)
        snprintf(out + used, INDEX_SIZE - used, "]");
}

static void report(const copy_block *w, const piece *p, int code)
{
    char first[INDEX_SIZE], last[INDEX_SIZE];
    explain_index(w, p, false, first);
    explain_index(w, p, true, last);
    tool_error_print_last(w->path, code);
    tool_error_print("variable %s: %lld values from %s to %s become the fill value", w->var->name,
                     (long long)count_values(w, p), first, last);
}

static int read_part(copy_block *w, const piece *p, const void *fill, void *values)
{
    char *at = find_values(w, p, values);
    MPI_Offset n = count_values(w, p);
    MPI_Datatype type = tool_type_get_mpi(w->var->type);
    int err = ncmpi_get_varm(w->ncid, w->varid, p->first, p->length, w->stride, p->step, at, n, type);
    if (!copy_wreck_is_damage(err))
        return err;
    fill_values(w, p, fill, at, 0);
    w->lost += n;
    if (w->is_reported)
        report(w, p, err);
    return NC_NOERR;
}

/* --- a block --- */

static int read_parts(copy_block *w, void *values)
{
    unsigned char fill[8];
    piece p;
    int no_fill, err = alloc_piece(w->var->ndims, &p);
    bool more = true;
    for (int d = 0; d < w->var->ndims; d++)
        more = more && w->count[d] > 0;
    if (err == NC_NOERR)
        err = ncmpi_inq_var_fill(w->ncid, w->varid, &no_fill, fill);
    if (err == NC_NOERR)
        init_piece(w, &p);
    while (err == NC_NOERR && more) {
        measure(w, &p);
        err = read_part(w, &p, fill, values);
        more = advance(w, &p);
    }
    pnc_memory_free(p.unit);
    return err;
}

int copy_wreck_read(copy_block *w, void *values)
{
    w->lost = 0;
    int err = tool_status_agree(ncmpi_begin_indep_data(w->ncid));
    if (err == NC_NOERR) {
        err = read_parts(w, values);
        int end = ncmpi_end_indep_data(w->ncid);
        err = tool_status_agree(err != NC_NOERR ? err : end);
    }
    return err != NC_NOERR ? copy_failure_print(w->plan, w->path, err) : NC_NOERR;
}
