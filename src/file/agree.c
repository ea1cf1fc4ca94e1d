/* Agreement between the ranks that share a file: on a status, and on bytes of rank 0. */
#include "file/agree.h"

int pnc_file_status_broadcast(pnc_file *file, int status)
{
    if (file->nprocs == 1)
        return status;
    if (MPI_Bcast(&status, 1, MPI_INT, 0, file->comm) != MPI_SUCCESS)
        return pnc_error_set(file->error, NC_EMPI, "%s: MPI_Bcast of the result of rank 0 failed", file->path);
    if (status != NC_NOERR) { /* the error object of rank 0 has the cause */
        pnc_error cause = *file->error;

        MPI_Bcast(cause.text, sizeof cause.text, MPI_CHAR, 0, file->comm);
        if (file->rank != 0)
            pnc_error_set_remote(file->error, status, "%s", cause.text);
    }
    return status;
}

int pnc_file_status_agree(pnc_file *file, int status)
{
    int worst = status;

    if (file->nprocs == 1)
        return status;
    if (MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, file->comm) != MPI_SUCCESS)
        return pnc_error_set(file->error, NC_EMPI, "%s: MPI_Allreduce of the results of the ranks failed", file->path);
    if (status == NC_NOERR && worst != NC_NOERR)
        pnc_error_set_remote(file->error, worst, "%s: another rank failed: %s", file->path, pnc_error_get_text(worst));
    return pnc_error_keep_first(status, worst);
}

static int reduce(pnc_file *file, int64_t *values, int n, MPI_Op op, const char *what)
{
    if (file->nprocs == 1)
        return NC_NOERR;
    if (MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, op, file->comm) != MPI_SUCCESS)
        return pnc_error_set(file->error, NC_EMPI, "%s: MPI_Allreduce of %s failed", file->path, what);
    return NC_NOERR;
}

int pnc_file_maxima_agree(pnc_file *file, int64_t *values, int n, const char *what)
{
    return reduce(file, values, n, MPI_MAX, what);
}

int pnc_file_sums_agree(pnc_file *file, int64_t *values, int n, const char *what)
{
    return reduce(file, values, n, MPI_SUM, what);
}

int pnc_file_bytes_broadcast(pnc_file *file, void *bytes, int64_t size, const char *what)
{
    const int64_t most = INT64_C(1) << 30; /* the count of MPI_Bcast is an int */

    if (file->nprocs == 1)
        return NC_NOERR;
    for (int64_t at = 0; at < size; at += most) {
        int portion = (int)(size - at < most ? size - at : most);

        if (MPI_Bcast((char *)bytes + at, portion, MPI_BYTE, 0, file->comm) != MPI_SUCCESS)
            return pnc_error_set(file->error, NC_EMPI, "%s: MPI_Bcast of %s failed", file->path, what);
    }
    return NC_NOERR;
}
