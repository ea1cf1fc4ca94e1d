/* Calls before MPI_Init and after MPI_Finalize. */
#include "dataset/mpi_state.h"

#include <stdatomic.h>
#include <stdio.h>

#include "dataset/caller.h"
#include "dataset/environment.h"
#include "dataset/last_error.h"
#include "dataset/launcher.h"

/* Programs that do not look at codes go on without a file, and fail elsewhere. */
static void print_first(void)
{
    static atomic_flag is_known = ATOMIC_FLAG_INIT;
    const pnc_failure *last;

    if (atomic_flag_test_and_set(&is_known) || pnc_dataset_environment_is_on("PNETCDF_VERBOSE", false))
        return; /* else it is printed as other failures are */
    if (pnc_dataset_launcher_is_first() && pnc_dataset_error_get_last(-1, &last) == NC_NOERR)
        fprintf(stderr, "PnetCDF: %s\n", last->message);
}

int pnc_dataset_mpi_state_check(const char *call, const char *path, MPI_Comm comm)
{
    int has_begun = 0, has_ended = 0, err;
    pnc_error error = {0};

    MPI_Initialized(&has_begun);
    MPI_Finalized(&has_ended);
    if (!has_ended && (has_begun || (comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF)))
        return NC_NOERR;
    pnc_dataset_caller_identify(call, &error);
    err = has_ended ? pnc_error_set(&error, NC_EPARINIT,
                                    "MPI_Finalize has been called: call it after the last use of "
                                    "files")
                    : pnc_error_set(&error, NC_EPARINIT, "MPI is not initialized: call MPI_Init first");
    err = pnc_dataset_error_report_call(call, path, err, &error);
    print_first();
    return err;
}
