/* The functions behind nfmpi_ procedures with arguments that depend on each other. */
#include <stdlib.h>
#include <string.h>

#include "binding/f77/f77.h"
#include "binding/f77/procedures.h"

/* --- requests --- */

/* Fortran cannot pass NULL: with a negative count, such as NF_REQ_ALL, the arrays are not used. */
static int *unless_all(int count, int *array)
{
    return count < 0 ? NULL : array;
}

int pnc_f77_wait(int ncid, int count, int *requests, int *statuses)
{
    pnc_caller caller;
    int err;

    PNC_F77_BEGIN(&caller, wait, wait, ncid);
    err = ncmpi_wait(ncid, count, unless_all(count, requests), unless_all(count, statuses));
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_wait_all(int ncid, int count, int *requests, int *statuses)
{
    pnc_caller caller;
    int err;

    PNC_F77_BEGIN(&caller, wait_all, wait_all, ncid);
    err = ncmpi_wait_all(ncid, count, unless_all(count, requests), unless_all(count, statuses));
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_cancel(int ncid, int num, int *reqs, int *statuses)
{
    pnc_caller caller;
    int err;

    PNC_F77_BEGIN(&caller, cancel, cancel, ncid);
    err = ncmpi_cancel(ncid, num, unless_all(num, reqs), unless_all(num, statuses));
    return pnc_dataset_caller_end(&caller, err);
}

/* --- codes --- */

void pnc_f77_strerror(int err, char *answer, size_t answer_len)
{
    pnc_caller caller;

    PNC_F77_BEGIN(&caller, strerror, strerror, -1);
    (void)pnc_binding_text_return(ncmpi_strerror(err), answer, answer_len, NULL);
    pnc_dataset_caller_end(&caller, NC_NOERR);
}

/* The name that a code has in pnetcdf.inc. */
void pnc_f77_strerrno(int err, char *answer, size_t answer_len)
{
    char name[NC_MAX_NAME];
    const char *translated = pnc_language_translate(PNC_LANGUAGE_F77, ncmpi_strerrno(err), name, sizeof name);

    (void)pnc_binding_text_return(translated, answer, answer_len, NULL);
}

/* --- definitions and inquiry --- */

int pnc_f77_def_var(int ncid, const char *name, size_t name_len, int xtype, int ndims, const int *dimids, int *varid)
{
    char name_c[PNC_BINDING_TEXT_MAX];
    pnc_caller caller;
    int *dimids_c, err;

    PNC_F77_BEGIN(&caller, def_var, def_var, ncid);
    dimids_c = pnc_binding_dimids_create(dimids, ndims, &caller.error);
    err = ncmpi_def_var(ncid, pnc_binding_text_convert(name, name_len, name_c), xtype, ndims, dimids_c, varid);
    if (err == NC_NOERR)
        *varid = pnc_binding_id_return(*varid);
    free(dimids_c);
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_inq_var(int ncid, int varid, char *name, size_t name_len, int *xtype, int *ndims, int *dimids, int *natts)
{
    char name_c[NC_MAX_NAME + 1] = "";
    pnc_caller caller;
    int err;

    PNC_F77_BEGIN(&caller, inq_var, inq_var, ncid);
    err = ncmpi_inq_var(ncid, pnc_binding_id_convert(varid), name_c, xtype, ndims, dimids, natts);
    if (err == NC_NOERR) {
        pnc_binding_dimids_return(dimids, *ndims);
        pnc_binding_text_return(name_c, name, name_len, &caller.error);
    }
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_inq_vardimid(int ncid, int varid, int *dimids)
{
    pnc_var_facts facts = {0};
    pnc_caller caller;
    int err;

    PNC_F77_BEGIN(&caller, inq_vardimid, inq_vardimid, ncid);
    pnc_dataset_caller_inquire_var(ncid, pnc_binding_id_convert(varid), &facts);
    err = ncmpi_inq_vardimid(ncid, pnc_binding_id_convert(varid), dimids);
    if (err == NC_NOERR)
        pnc_binding_dimids_return(dimids, facts.ndims);
    return pnc_dataset_caller_end(&caller, err);
}

/* Lengths of chunks along each dimension, in the order of C. NULL for a variable that ncmpi refuses. */
static MPI_Offset *create_chunksizes(pnc_caller *caller, int varid, const MPI_Offset *chunksizes, int *ndims)
{
    pnc_var_facts facts = {0};
    MPI_Offset *lengths;

    pnc_dataset_caller_inquire_var(caller->ncid, varid, &facts);
    *ndims = facts.ndims;
    lengths = malloc((size_t)(facts.ndims + 1) * sizeof *lengths);
    if (lengths == NULL)
        pnc_error_set(&caller->error, NC_ENOMEM, "no memory for %d chunk lengths", facts.ndims);
    for (int d = 0; lengths != NULL && d < facts.ndims; d++)
        lengths[d] = chunksizes == NULL ? 0 : chunksizes[facts.ndims - 1 - d];
    return lengths;
}

static void return_chunksizes(const MPI_Offset *lengths, int ndims, MPI_Offset *chunksizes)
{
    for (int d = 0; lengths != NULL && d < ndims; d++)
        chunksizes[d] = lengths[ndims - 1 - d];
}

int pnc_f77_def_var_chunking(int ncid, int varid, int storage, const MPI_Offset *chunksizes)
{
    MPI_Offset *lengths;
    pnc_caller caller;
    int ndims, err;

    PNC_F77_BEGIN(&caller, def_var_chunking, def_var_chunking, ncid);
    varid = pnc_binding_id_convert(varid);
    lengths = create_chunksizes(&caller, varid, storage == NC_CHUNKED ? chunksizes : NULL, &ndims);
    err = ncmpi_def_var_chunking(ncid, varid, storage, lengths);
    free(lengths);
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_inq_var_chunking(int ncid, int varid, int *storage, MPI_Offset *chunksizes)
{
    MPI_Offset *lengths;
    pnc_caller caller;
    int ndims, err;

    PNC_F77_BEGIN(&caller, inq_var_chunking, inq_var_chunking, ncid);
    varid = pnc_binding_id_convert(varid);
    lengths = create_chunksizes(&caller, varid, NULL, &ndims);
    err = ncmpi_inq_var_chunking(ncid, varid, storage, lengths);
    if (err == NC_NOERR && *storage == NC_CHUNKED)
        return_chunksizes(lengths, ndims, chunksizes);
    free(lengths);
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_def_var_sharding(int ncid, int varid, const MPI_Offset *shardsizes)
{
    MPI_Offset *lengths;
    pnc_caller caller;
    int ndims, err;

    PNC_F77_BEGIN(&caller, def_var_sharding, def_var_sharding, ncid);
    varid = pnc_binding_id_convert(varid);
    lengths = create_chunksizes(&caller, varid, shardsizes, &ndims);
    err = ncmpi_def_var_sharding(ncid, varid, ndims > 0 && shardsizes[0] != 0 ? lengths : NULL);
    free(lengths);
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_inq_var_sharding(int ncid, int varid, MPI_Offset *shardsizes)
{
    MPI_Offset *lengths;
    pnc_caller caller;
    int ndims, err;

    PNC_F77_BEGIN(&caller, inq_var_sharding, inq_var_sharding, ncid);
    varid = pnc_binding_id_convert(varid);
    lengths = create_chunksizes(&caller, varid, NULL, &ndims);
    err = ncmpi_inq_var_sharding(ncid, varid, lengths);
    if (err == NC_NOERR)
        return_chunksizes(lengths, ndims, shardsizes);
    free(lengths);
    return pnc_dataset_caller_end(&caller, err);
}

/* The same with default integers. */
int pnc_f77_var_set_chunk(int ncid, int varid, int *chunk_dim)
{
    pnc_var_facts facts = {0};
    pnc_caller caller;
    int *lengths, err;

    PNC_F77_BEGIN(&caller, var_set_chunk, var_set_chunk, ncid);
    varid = pnc_binding_id_convert(varid);
    pnc_dataset_caller_inquire_var(ncid, varid, &facts);
    lengths = malloc((size_t)(facts.ndims + 1) * sizeof *lengths);
    if (lengths == NULL)
        pnc_error_set(&caller.error, NC_ENOMEM, "no memory for %d chunk lengths", facts.ndims);
    for (int d = 0; lengths != NULL && d < facts.ndims; d++)
        lengths[d] = chunk_dim[facts.ndims - 1 - d];
    err = ncmpi_var_set_chunk(ncid, varid, lengths);
    free(lengths);
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_var_get_chunk(int ncid, int varid, int *chunk_dim)
{
    pnc_var_facts facts = {0};
    pnc_caller caller;
    int err;

    PNC_F77_BEGIN(&caller, var_get_chunk, var_get_chunk, ncid);
    varid = pnc_binding_id_convert(varid);
    pnc_dataset_caller_inquire_var(ncid, varid, &facts);
    err = ncmpi_var_get_chunk(ncid, varid, chunk_dim);
    if (err == NC_NOERR)
        pnc_binding_order_convert(chunk_dim, facts.ndims);
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f77_inq_path(int ncid, int *pathlen, char *path, size_t path_len)
{
    pnc_caller caller;

    PNC_F77_BEGIN(&caller, inq_path, inq_path, ncid);
    return pnc_dataset_caller_end(&caller, pnc_binding_path_inquire(&caller, pathlen, path, path_len));
}

/* --- text attributes --- */

/* The beginning of a text that is longer than the variable. */
static int get_beginning(pnc_caller *caller, int varid, const char *name, size_t length, char *buf, size_t buf_len)
{
    char *text = malloc(length);
    int err;

    if (text == NULL) {
        pnc_error_set(&caller->error, NC_ENOMEM, "attribute \"%s\": no memory for %zu characters", name, length);
        return NC_NOERR;
    }
    err = ncmpi_get_att_text(caller->ncid, varid, name, text);
    if (err == NC_NOERR) {
        memcpy(buf, text, buf_len);
        pnc_error_set(&caller->error, NC_ESTS, "attribute \"%s\" has %zu characters, the variable that receives it %zu",
                      name, length, buf_len);
    }
    free(text);
    return err;
}

/* With buf_len 1 the whole text: an array of characters, such as CHARACTER TEXT(80), does not pass its size. */
static int get_text(pnc_caller *caller, int varid, const char *name, char *buf, size_t buf_len)
{
    pnc_att_facts facts = {0}; /* without such an attribute, ncmpi_get_att_text returns the error */
    size_t length;
    int err;

    pnc_dataset_caller_inquire_att(caller->ncid, varid, name, &facts);
    length = (size_t)facts.length;
    if (buf_len != 1 && length > buf_len)
        return get_beginning(caller, varid, name, length, buf, buf_len);
    err = ncmpi_get_att_text(caller->ncid, varid, name, buf);
    if (err == NC_NOERR && buf_len != 1)
        memset(buf + length, ' ', buf_len - length);
    return err;
}

int pnc_f77_get_att_text(int ncid, int varid, const char *name, size_t name_len, char *buf, size_t buf_len)
{
    char name_c[PNC_BINDING_TEXT_MAX];
    pnc_caller caller;
    int err;

    PNC_F77_BEGIN(&caller, get_att_text, get_att_text, ncid);
    pnc_binding_text_convert(name, name_len, name_c);
    err = get_text(&caller, pnc_binding_id_convert(varid), name_c, buf, buf_len);
    return pnc_dataset_caller_end(&caller, err);
}
