/* The functions behind nfmpi_ procedures with arguments that depend on each other. */
#include <stdlib.h>
#include <string.h>

#include "binding/f77/procedures.h"
#include "binding/f77/shim.h"

/* Fortran cannot pass NULL: with a negative count, such as NF_REQ_ALL, the arrays are not used. */
static int *unless_all(int count, int *array)
{
    return count < 0 ? NULL : array;
}

int pnc_f77_wait(int ncid, int count, int *requests, int *statuses)
{
    return ncmpi_wait(ncid, count, unless_all(count, requests), unless_all(count, statuses));
}

int pnc_f77_wait_all(int ncid, int count, int *requests, int *statuses)
{
    return ncmpi_wait_all(ncid, count, unless_all(count, requests), unless_all(count, statuses));
}

int pnc_f77_cancel(int ncid, int num, int *reqs, int *statuses)
{
    return ncmpi_cancel(ncid, num, unless_all(num, reqs), unless_all(num, statuses));
}

/* The name that a code has in pnetcdf.inc. */
void pnc_f77_strerrno(int err, char *answer, size_t answer_len)
{
    const char *name = ncmpi_strerrno(err);

    (void)pnc_f77_string_store(answer, answer_len, name);
    if (strncmp(name, "NC_", 3) == 0)
        answer[1] = 'F';
}

int pnc_f77_def_var(int ncid, const char *name, size_t name_len, int xtype, int ndims, const int *dimids, int *varid)
{
    size_t n = ndims > 0 ? (size_t)ndims : 0;
    int *turned = malloc((n + 1) * sizeof *turned);
    pnc_f77_string text;
    int err;

    pnc_f77_string_begin(&text, name, name_len);
    if (turned == NULL) {
        text.err = NC_ENOMEM;
        ndims = -1; /* ncmpi_def_var rejects it, after its collective comparison of arguments */
    }
    for (size_t i = 0; turned != NULL && i < n; i++)
        turned[i] = pnc_f77_id_convert(dimids[n - 1 - i]);
    err = pnc_f77_string_end(&text, ncmpi_def_var(ncid, text.text, xtype, ndims, turned, varid));
    if (err == NC_NOERR)
        *varid = pnc_f77_id_return(*varid);
    free(turned);
    return err;
}

int pnc_f77_inq_var(int ncid, int varid, char *name, size_t name_len, int *xtype, int *ndims, int *dimids, int *natts)
{
    char text[NC_MAX_NAME + 1] = "";
    int n = 0;
    int err = ncmpi_inq_var(ncid, pnc_f77_id_convert(varid), text, xtype, &n, dimids, natts);

    if (err == NC_NOERR) {
        *ndims = n;
        pnc_f77_dimids_convert(dimids, n);
        err = pnc_f77_string_store(name, name_len, text);
    }
    return err;
}

int pnc_f77_inq_vardimid(int ncid, int varid, int *dimids)
{
    int ndims;
    int err = ncmpi_inq_varndims(ncid, pnc_f77_id_convert(varid), &ndims);

    if (err == NC_NOERR)
        err = ncmpi_inq_vardimid(ncid, pnc_f77_id_convert(varid), dimids);
    if (err == NC_NOERR)
        pnc_f77_dimids_convert(dimids, ndims);
    return err;
}

int pnc_f77_inq_path(int ncid, int *pathlen, char *path, size_t path_len)
{
    int length;
    int err = ncmpi_inq_path(ncid, &length, NULL);
    char *text;

    if (err != NC_NOERR)
        return err;
    text = malloc((size_t)length + 1);
    if (text == NULL)
        return NC_ENOMEM;
    err = ncmpi_inq_path(ncid, NULL, text);
    if (err == NC_NOERR) {
        *pathlen = length;
        err = pnc_f77_string_store(path, path_len, text);
    }
    free(text);
    return err;
}

/* With buf_len 1 the whole text: an array of characters, such as CHARACTER TEXT(80), does not pass its size. */
static int get_text(int ncid, int varid, const char *name, char *buf, size_t buf_len)
{
    MPI_Offset length;
    char *text = buf;
    int err = ncmpi_inq_attlen(ncid, varid, name, &length);

    if (err != NC_NOERR || buf_len == 1)
        return err != NC_NOERR ? err : ncmpi_get_att_text(ncid, varid, name, buf);
    if ((size_t)length > buf_len) {
        text = malloc((size_t)length);
        if (text == NULL)
            return NC_ENOMEM;
    }
    err = ncmpi_get_att_text(ncid, varid, name, text);
    if (text != buf) {
        if (err == NC_NOERR) {
            memcpy(buf, text, buf_len);
            err = NC_ESTS;
        }
        free(text);
    } else if (err == NC_NOERR) {
        memset(buf + length, ' ', buf_len - (size_t)length);
    }
    return err;
}

int pnc_f77_get_att_text(int ncid, int varid, const char *name, size_t name_len, char *buf, size_t buf_len)
{
    pnc_f77_string text;

    pnc_f77_string_begin(&text, name, name_len);
    return pnc_f77_string_end(&text, get_text(ncid, pnc_f77_id_convert(varid), text.text, buf, buf_len));
}
