/* A file that is opened once more, by some of its ranks. */
#include "file/file.h"

#include <stddef.h>

#include "drivers/driver.h"
#include "file/communicator.h"

/* With romio_no_indep_rw ROMIO reports these on ranks that are not aggregators only (MPICH 4.0.2). In the next open
 * it compares each hint across the ranks, so that one which only some ranks pass blocks forever. The file exists: its
 * striping does not change. */
static void remove_striping(MPI_Info info)
{
    static const char *const names[] = {"striping_unit", "striping_factor", "romio_lustre_start_iodevice"};
    int length, found;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        MPI_Info_get_valuelen(info, names[i], &length, &found);
        if (found)
            MPI_Info_delete(info, names[i]);
    }
}

/* ROMIO writes independently if it finds that the extents of ranks do not interleave, but compares each rank with the
 * one before it only (MPICH 4.0.2): with a rank without extents between two others, data sieving of one could overwrite
 * what the other writes into its gaps. */
int pnc_file_hints_create(const pnc_file *file, MPI_Info *out)
{
    PNC_TRY(file->store->ops->hints(file->store, out, file->error));
    remove_striping(*out);
    if (MPI_Info_set(*out, "romio_ds_write", "disable") == MPI_SUCCESS)
        return NC_NOERR;
    MPI_Info_free(out);
    return pnc_error_set(file->error, NC_EMPI, "%s: MPI has no memory for hints", file->path);
}

int pnc_file_open_again(const pnc_file *file, MPI_Comm comm, MPI_Info info, pnc_file *out)
{
    pnc_file again = {.path = file->path,
                      .comm = comm,
                      .driver = file->driver,
                      .read_only = file->read_only,
                      .statistics = file->statistics,
                      .error = file->error};
    pnc_open_call call = {.comm = comm,
                          .path = file->store->full_path != NULL ? file->store->full_path : file->path,
                          .purpose = file->read_only ? PNC_OPEN_READ : PNC_OPEN_UPDATE,
                          .info = info,
                          .statistics = file->statistics,
                          .inode = file->store->identity.inode};
    int err;

    MPI_Comm_rank(comm, &again.rank);
    MPI_Comm_size(comm, &again.nprocs);
    call.status = pnc_file_comm_check_spare(file, PNC_COMMS_FOR_FILE);
    err = pnc_driver_file_open(file->driver, call, &again.store, file->error);
    if (again.store != NULL)
        *out = again;
    return err;
}

int pnc_file_close_again(pnc_file *file)
{
    int err = file->store->ops->close(file->store, file->error);

    file->store = NULL;
    return err;
}
