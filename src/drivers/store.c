/* Behaviour common to all drivers. */
#include "drivers/store.h"

#include <assert.h>
#include <string.h>

/* A communicator of this rank only takes from the same supply, without messages. */
int pnc_store_comm_check(MPI_Comm comm, const char *path, pnc_error *error)
{
    MPI_Comm spare = MPI_COMM_NULL;
    MPI_Group all = MPI_GROUP_NULL, own = MPI_GROUP_NULL;
    int rank, code = MPI_Comm_group(comm, &all);

    MPI_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS)
        code = MPI_Group_incl(all, 1, &rank, &own);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_create_group(comm, own, 0, &spare);
    if (spare != MPI_COMM_NULL)
        MPI_Comm_free(&spare);
    if (own != MPI_GROUP_NULL)
        MPI_Group_free(&own);
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    if (code == MPI_SUCCESS)
        return NC_NOERR;
    return pnc_error_set(error, NC_ENFILE, "%s: MPI has no communicator left for another open file: close some files",
                         path);
}

int pnc_store_pass_end(const pnc_store *store, const char *path, pnc_extent rest, int64_t size, char *to,
                       pnc_error *error)
{
    long long first = rest.offset, last = rest.offset + rest.length - 1, known = store->end->least_size;

    assert(rest.length > 0);
    if (size < known)
        return pnc_error_set(error, NC_EREAD,
                             "%s ends at byte %lld, but had %lld bytes before and was truncated while "
                             "it was open: bytes %lld to %lld are lost",
                             path, (long long)size, known, first, last);
    if (rest.offset < size)
        return pnc_error_set(error, NC_EREAD, "%s has %lld bytes, but the read at byte %lld returned none", path,
                             (long long)size, first);
    if (store->end->refuses_short)
        return pnc_error_set(error, NC_EREAD,
                             "%s ends at byte %lld, but the call reads bytes %lld to %lld: values "
                             "that were never written, or a truncated file; set the hint nc_short_file=zero to read "
                             "zeros",
                             path, (long long)size, first, last);
    memset(to, 0, (size_t)rest.length);
    return NC_NOERR;
}
