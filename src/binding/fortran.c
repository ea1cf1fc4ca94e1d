/* Ids, indices, orders of dimensions and text between Fortran and C. */
#include "binding/fortran.h"

#include <stdlib.h>
#include <string.h>

/* --- ids and indices --- */

int *pnc_binding_dimids_create(const int *from, int ndims, pnc_error *error)
{
    int *to;

    if (ndims < 0)
        return NULL;
    to = malloc(((size_t)ndims + 1) * sizeof *to);
    if (to == NULL)
        pnc_error_set(error, NC_ENOMEM, "no memory for %d ids of dimensions", ndims);
    for (int i = 0; to != NULL && i < ndims; i++)
        to[i] = pnc_binding_id_convert(from[ndims - 1 - i]);
    return to;
}

void pnc_binding_order_convert(int *values, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int kept = values[i];

        values[i] = values[n - 1 - i];
        values[n - 1 - i] = kept;
    }
}

void pnc_binding_dimids_return(int *dimids, int n)
{
    pnc_binding_order_convert(dimids, n);
    for (int i = 0; i < n; i++)
        dimids[i] = pnc_binding_id_return(dimids[i]);
}

/* --- handles --- */

/* Without sessions (before MPI 4), Open MPI ends a program that converts a handle while MPI is not initialized. */
static bool can_convert(void)
{
    int has_begun, has_ended, version, subversion;

    MPI_Initialized(&has_begun);
    MPI_Finalized(&has_ended);
    MPI_Get_version(&version, &subversion);
    return version >= 4 || (has_begun && !has_ended);
}

MPI_Comm pnc_binding_comm_convert(MPI_Fint comm)
{
    return can_convert() ? MPI_Comm_f2c(comm) : MPI_COMM_WORLD;
}

MPI_Info pnc_binding_info_convert(MPI_Fint info)
{
    return can_convert() ? MPI_Info_f2c(info) : MPI_INFO_NULL;
}

/* --- hyperslabs --- */

/* The first `given` of n numbers, in the other order; the rest is 1. */
static void reverse(const MPI_Offset *from, int given, int n, MPI_Offset *to)
{
    for (int i = 0; i < n; i++)
        to[n - 1 - i] = i < given ? from[i] : 1;
}

/* Absent starts are the first elements. */
static void reverse_starts(const MPI_Offset *from, int n, MPI_Offset *to)
{
    reverse(from, from == NULL ? 0 : n, n, to);
    for (int i = 0; i < n; i++)
        to[i] = pnc_binding_index_convert(to[i]);
}

int pnc_binding_hyperslab_init(const pnc_binding_indices *from, int ndims, pnc_binding_hyperslab *to, pnc_error *error)
{
    MPI_Offset *numbers = to->few;

    to->allocated = NULL;
    if (ndims > PNC_BINDING_FEW / 4)
        numbers = to->allocated = malloc(4 * (size_t)ndims * sizeof *numbers);
    if (numbers == NULL) {
        to->start = to->count = to->stride = to->imap = NULL;
        return pnc_error_set(error, NC_ENOMEM, "no memory for the indices of %d dimensions", ndims);
    }
    to->few[0] = 0; /* C must not receive uninitialised memory where a variable does not exist */
    to->start = numbers;
    to->count = numbers + ndims;
    to->stride = from->stride == NULL ? NULL : numbers + 2 * (size_t)ndims;
    to->imap = from->imap == NULL ? NULL : numbers + 3 * (size_t)ndims;
    reverse_starts(from->start, ndims, to->start);
    reverse(from->count, from->count == NULL ? 0 : ndims - from->unit_counts, ndims, to->count);
    if (to->stride != NULL)
        reverse(from->stride, ndims, ndims, to->stride);
    if (to->imap != NULL)
        reverse(from->imap, ndims, ndims, to->imap);
    return NC_NOERR;
}

void pnc_binding_hyperslab_free(pnc_binding_hyperslab *slab)
{
    free(slab->allocated);
}

/* One allocation: num pointers to starts, num pointers to counts, and the arrays. */
int pnc_binding_list_init(const pnc_binding_blocks *from, int ndims, pnc_binding_list *to, pnc_error *error)
{
    size_t num = from->num > 0 ? (size_t)from->num : 0;
    size_t stride =
        ndims > 0 ? (size_t)ndims : 1; /* the starts of a scalar variable have no elements, but an address */
    MPI_Offset *numbers;

    to->starts = to->counts = NULL;
    if (num <= SIZE_MAX / 2 / stride / (sizeof *to->starts + sizeof *numbers) - 1)
        to->starts = malloc(2 * (num + 1) * (sizeof *to->starts + stride * sizeof *numbers));
    if (to->starts == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory for the indices of %d blocks", from->num);
    to->counts = to->starts + num + 1;
    numbers = (MPI_Offset *)(to->counts + num + 1);
    for (size_t i = 0; i < num; i++) {
        to->starts[i] = numbers + 2 * i * stride;
        to->counts[i] = to->starts[i] + stride;
        reverse_starts(from->starts + i * from->start_rows, ndims, to->starts[i]);
        if (from->counts == NULL)
            reverse(NULL, 0, ndims, to->counts[i]);
        else
            reverse(from->counts + i * from->count_rows, ndims, ndims, to->counts[i]);
    }
    return NC_NOERR;
}

void pnc_binding_list_free(pnc_binding_list *list)
{
    free(list->starts);
}

/* --- text --- */

size_t pnc_binding_text_get_length(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

const char *pnc_binding_text_convert(const char *text, size_t length, char *to)
{
    length = pnc_binding_text_get_length(text, length);
    if (length >= PNC_BINDING_TEXT_MAX)
        length = PNC_BINDING_TEXT_MAX - 1;
    memcpy(to, text, length);
    to[length] = '\0';
    return to;
}

int pnc_binding_text_return(const char *from, char *text, size_t length, pnc_error *error)
{
    size_t wanted = strlen(from), used = wanted < length ? wanted : length;

    memcpy(text, from, used);
    memset(text + used, ' ', length - used);
    if (used < wanted)
        return pnc_error_set(error, NC_ESTS, "\"%s\" has %zu characters, the variable that receives it has %zu", from,
                             wanted, length);
    return NC_NOERR;
}

int pnc_binding_path_inquire(pnc_caller *caller, int *length, char *path, size_t capacity)
{
    pnc_file_facts facts = {0};
    char *text;
    int err;

    pnc_dataset_caller_inquire_file(caller->ncid, &facts); /* without a file, ncmpi_inq_path returns the error */
    text = malloc(facts.path_length + 1);
    if (text == NULL) {
        pnc_error_set(&caller->error, NC_ENOMEM, "no memory for a path of %zu characters", facts.path_length);
        return NC_NOERR;
    }
    err = ncmpi_inq_path(caller->ncid, length, text);
    if (err == NC_NOERR)
        pnc_binding_text_return(text, path, capacity, &caller->error);
    free(text);
    return err;
}
