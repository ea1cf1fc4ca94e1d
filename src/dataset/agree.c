/* What the ranks of a dataset agree on. */
#include "dataset/dataset.h"

#include <string.h>

#include "base/memory.h"

int pnc_dataset_status_broadcast(pnc_dataset *ds, int status)
{
    if (ds->nprocs == 1)
        return status;
    if (MPI_Bcast(&status, 1, MPI_INT, 0, ds->comm) != MPI_SUCCESS)
        return pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Bcast of the result of rank 0 failed", ds->path);
    if (status != NC_NOERR) { /* the error object of rank 0 has the cause */
        pnc_error cause = ds->error;

        MPI_Bcast(cause.text, sizeof cause.text, MPI_CHAR, 0, ds->comm);
        if (ds->rank != 0)
            pnc_error_set_remote(&ds->error, status, "%s", cause.text);
    }
    return status;
}

int pnc_dataset_status_agree(pnc_dataset *ds, int status)
{
    int worst = status;

    if (ds->nprocs > 1 && MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, ds->comm) != MPI_SUCCESS)
        return pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Allreduce of the results of the ranks failed", ds->path);
    if (status == NC_NOERR && worst != NC_NOERR)
        pnc_error_set_remote(&ds->error, worst, "%s: another rank failed: %s", ds->path, pnc_error_get_text(worst));
    return status != NC_NOERR ? status : worst;
}

/* All arguments as one record of length and bytes for each: two ranks passed the same arguments if their records are
 * equal. */
static char *pack_arguments(const pnc_argument *args, int n, int64_t *size)
{
    char *record, *p;

    *size = 0;
    for (int i = 0; i < n; i++)
        *size += (int64_t)sizeof(int64_t) + args[i].length;
    record = p = pnc_memory_alloc(*size, 1);
    for (int i = 0; i < n && record != NULL; i++) {
        memcpy(p, &args[i].length, sizeof(int64_t));
        p += sizeof(int64_t);
        if (args[i].length > 0)
            memcpy(p, args[i].bytes, (size_t)args[i].length);
        p += args[i].length;
    }
    return record;
}

/* The code of the first argument that differs from rank 0's record. */
static int compare_arguments(const char *root, int64_t size, const pnc_argument *args, int n)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++) {
        int64_t length;

        if (size - at < (int64_t)sizeof(int64_t))
            return args[i].code;
        memcpy(&length, root + at, sizeof length);
        at += (int64_t)sizeof length;
        if (length != args[i].length || (length > 0 && memcmp(root + at, args[i].bytes, (size_t)length) != 0))
            return args[i].code;
        at += length;
    }
    return NC_NOERR;
}

int pnc_dataset_bytes_broadcast(pnc_dataset *ds, char *bytes, int64_t size)
{
    const int64_t most = 1 << 30; /* the count of MPI_Bcast is an int */

    for (int64_t at = 0; at < size; at += most) {
        int piece = (int)(size - at < most ? size - at : most);

        if (MPI_Bcast(bytes + at, piece, MPI_BYTE, 0, ds->comm) != MPI_SUCCESS)
            return pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Bcast of %lld bytes failed", ds->path, (long long)size);
    }
    return NC_NOERR;
}

int pnc_dataset_arguments_agree(pnc_dataset *ds, int local, const pnc_argument *args, int n,
                                pnc_consequence consequence)
{
    int64_t size = 0;
    char *record, *root;
    int err = NC_NOERR, code;

    /* these errors depend on the mode of the file, which is the same on all ranks */
    if (ds->nprocs == 1 || local == NC_EPERM || local == NC_EINDEFINE)
        return local;
    if (!ds->safe && consequence != PNC_CHANGES_HEADER)
        return consequence == PNC_IS_COLLECTIVE ? pnc_dataset_status_agree(ds, local) : local;
    record = pack_arguments(args, n, &size);
    if (record == NULL)
        size = -1;
    int64_t root_size = size;
    if (MPI_Bcast(&root_size, 1, MPI_INT64_T, 0, ds->comm) != MPI_SUCCESS)
        err = NC_EMPI;
    root = ds->rank == 0 ? record : pnc_memory_alloc(root_size < 0 ? 0 : root_size, 1);
    /* if a rank has no memory, no rank enters the broadcast */
    err = pnc_dataset_status_agree(ds, root == NULL || record == NULL ? NC_ENOMEM : err);
    if (err == NC_NOERR)
        err = pnc_dataset_bytes_broadcast(ds, root, root_size);
    code = err != NC_NOERR ? err : compare_arguments(root, root_size, args, n);
    if (ds->rank != 0)
        pnc_memory_free(root);
    pnc_memory_free(record);
    if (code != NC_NOERR)
        pnc_error_set(&ds->error, code, "%s: rank %d and rank 0 passed different arguments to a collective call: %s",
                      ds->path, ds->rank, pnc_error_get_text(code));
    return pnc_dataset_status_agree(ds, local != NC_NOERR ? local : code);
}
