/* Strings and indices between Fortran and C. */
#include "binding/f77/shim.h"

#include <stdlib.h>
#include <string.h>

/* An invalid varid, for collective calls of a rank that has already failed. */
#define NO_VARIABLE (-2)

void pnc_f77_string_begin(pnc_f77_string *string, const char *text, size_t length)
{
    char *copy = string->small;

    while (length > 0 && text[length - 1] == ' ')
        length--;
    string->allocated = NULL;
    string->err = NC_NOERR;
    if (length >= sizeof string->small) {
        copy = string->allocated = malloc(length + 1);
        if (copy == NULL) {
            string->err = NC_ENOMEM;
            copy = string->small;
            length = 0;
        }
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    string->text = copy;
}

int pnc_f77_string_end(pnc_f77_string *string, int err)
{
    free(string->allocated);
    return string->err != NC_NOERR ? string->err : err;
}

int pnc_f77_string_store(char *text, size_t length, const char *from)
{
    size_t wanted = strlen(from), used = wanted < length ? wanted : length;

    memcpy(text, from, used);
    memset(text + used, ' ', length - used);
    return used == wanted ? NC_NOERR : NC_ESTS;
}

void pnc_f77_dimids_convert(int *dimids, int ndims)
{
    for (int i = 0; i < ndims / 2; i++) {
        int kept = dimids[i];

        dimids[i] = dimids[ndims - 1 - i];
        dimids[ndims - 1 - i] = kept;
    }
    for (int i = 0; i < ndims; i++)
        dimids[i] = pnc_f77_id_return(dimids[i]);
}

/* 0 if there is no such variable: the next call returns the error. */
static int rank_of(int ncid, int varid)
{
    int ndims = 0;

    return ncmpi_inq_varndims(ncid, varid, &ndims) == NC_NOERR ? ndims : 0;
}

static const MPI_Offset *turned(const MPI_Offset *from, int ndims, MPI_Offset *to)
{
    if (from == NULL)
        return NULL;
    to[0] = 0;
    for (int i = 0; i < ndims; i++)
        to[i] = from[ndims - 1 - i];
    return to;
}

static const MPI_Offset *turned_indices(const MPI_Offset *from, int ndims, MPI_Offset *to)
{
    turned(from, ndims, to);
    for (int i = 0; i < ndims; i++)
        to[i] = pnc_f77_index_convert(to[i]);
    return to;
}

void pnc_f77_block_begin(pnc_f77_block *block, int ncid, int varid, const MPI_Offset *start, const MPI_Offset *count,
                         const MPI_Offset *stride, const MPI_Offset *imap)
{
    MPI_Offset *capacity = block->small;
    int ndims, size = PNC_F77_SMALL;

    block->varid = pnc_f77_id_convert(varid);
    block->err = NC_NOERR;
    block->allocated = NULL;
    ndims = rank_of(ncid, block->varid);
    if (ndims > PNC_F77_SMALL) {
        capacity = block->allocated = malloc(4 * (size_t)ndims * sizeof *capacity);
        size = ndims;
        if (capacity == NULL) {
            block->varid = NO_VARIABLE;
            block->err = NC_ENOMEM;
            capacity = block->small;
            size = ndims = 0;
        }
    }
    block->start = turned_indices(start, ndims, capacity);
    block->count = turned(count, ndims, capacity + size);
    block->stride = turned(stride, ndims, capacity + 2 * (size_t)size);
    block->imap = turned(imap, ndims, capacity + 3 * (size_t)size);
}

int pnc_f77_block_end(pnc_f77_block *block, int err)
{
    free(block->allocated);
    return block->err != NC_NOERR ? block->err : err;
}

/* One allocation: num pointers to starts, num pointers to counts, and the arrays. */
void pnc_f77_list_begin(pnc_f77_list *list, int ncid, int varid, int num, const MPI_Offset *starts,
                        const MPI_Offset *counts)
{
    size_t n = num > 0 ? (size_t)num : 0, ndims, stride;
    MPI_Offset *values;

    list->varid = pnc_f77_id_convert(varid);
    list->err = NC_NOERR;
    ndims = (size_t)rank_of(ncid, list->varid);
    stride = ndims > 0 ? ndims : 1; /* the starts of a scalar variable have no elements, but must not be NULL */
    list->starts = NULL;
    if (n <= SIZE_MAX / 2 / stride / (sizeof *list->starts + sizeof *values) - 1)
        list->starts = malloc(2 * (n + 1) * (sizeof *list->starts + stride * sizeof *values));
    if (list->starts == NULL) {
        list->varid = NO_VARIABLE;
        list->err = NC_ENOMEM;
        list->counts = NULL;
        return;
    }
    list->counts = list->starts + n + 1;
    values = (MPI_Offset *)(list->counts + n + 1);
    for (size_t i = 0; i < n; i++) {
        list->starts[i] = values + 2 * i * stride;
        list->counts[i] = list->starts[i] + stride;
        turned_indices(starts + i * ndims, (int)ndims, list->starts[i]);
        turned(counts + i * ndims, (int)ndims, list->counts[i]);
    }
}

int pnc_f77_list_end(pnc_f77_list *list, int err)
{
    free(list->starts);
    return list->err != NC_NOERR ? list->err : err;
}
