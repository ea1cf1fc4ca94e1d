/* Agreement between the ranks that share a file: on a status, and on bytes of rank 0. */
#include "file/agree.h"

int pnc_file_late_take(pnc_file *file, int status)
{
    int late = file->late;

    file->late = NC_NOERR;
    return pnc_error_keep_first(status, late);
}

void pnc_file_step_check(pnc_file *file, int code, const char *call, const char *what)
{
    if (code != MPI_SUCCESS)
        file->late = pnc_error_set(file->error, NC_EMPI, "%s: %s of %s failed", file->path, call, what);
}

int pnc_file_status_broadcast(pnc_file *file, int status)
{
    if (file->nprocs == 1)
        return status;
    if (file->rank == 0)
        status = pnc_file_late_take(file, status);
    pnc_file_step_check(file, MPI_Bcast(&status, 1, MPI_INT, 0, file->comm), "MPI_Bcast", "the result of rank 0");
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
    int worst;

    status = worst = pnc_file_late_take(file, status);
    if (file->nprocs == 1)
        return status;
    pnc_file_step_check(file, MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, file->comm), "MPI_Allreduce",
                        "the results of the ranks");
    if (status == NC_NOERR && worst != NC_NOERR)
        pnc_error_set_remote(file->error, worst, "%s: another rank failed: %s", file->path, pnc_error_get_text(worst));
    return pnc_error_keep_first(status, worst);
}

static void reduce(pnc_file *file, int64_t *values, int n, MPI_Op op, const char *what)
{
    if (file->nprocs > 1)
        pnc_file_step_check(file, MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, op, file->comm), "MPI_Allreduce",
                            what);
}

void pnc_file_maxima_agree(pnc_file *file, int64_t *values, int n, const char *what)
{
    reduce(file, values, n, MPI_MAX, what);
}

void pnc_file_sums_agree(pnc_file *file, int64_t *values, int n, const char *what)
{
    reduce(file, values, n, MPI_SUM, what);
}

void pnc_file_bytes_broadcast(pnc_file *file, void *bytes, int64_t size, const char *what)
{
    const int64_t most = INT64_C(1) << 30; /* the count of MPI_Bcast is an int */

    for (int64_t at = 0; at < size && file->nprocs > 1; at += most) {
        int portion = (int)(size - at < most ? size - at : most);

        pnc_file_step_check(file, MPI_Bcast((char *)bytes + at, portion, MPI_BYTE, 0, file->comm), "MPI_Bcast", what);
    }
}
