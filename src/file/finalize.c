/* What the library does when MPI_Finalize begins: it first deletes the attributes of MPI_COMM_SELF, the last one that
 * was set first, and calls the functions that belong to them. So a library above this one that closes its files in the
 * same way, and has begun later, does so before. */
#include "file/finalize.h"

#include <stddef.h>
#include <unistd.h>

bool pnc_file_finalize_add(MPI_Comm_delete_attr_function *function)
{
    int has_world = 0, key;
    bool is_added;

    MPI_Initialized(&has_world);
    if (!has_world || MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, function, &key, NULL) != MPI_SUCCESS)
        return false;
    is_added = MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS;
    MPI_Comm_free_keyval(&key); /* MPI keeps it as long as MPI_COMM_SELF has the attribute */
    return is_added;
}

bool pnc_file_finalize_wait(MPI_Request *request, double seconds)
{
    const double end = MPI_Wtime() + seconds;
    int done = 0;

    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done && MPI_Wtime() < end)
        usleep(1000);
    return done;
}
