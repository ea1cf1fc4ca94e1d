/* What must reach MPI-IO: flushes of ncmpi_sync and NC_SHARE, and hints. Counted in wrappers of the MPI functions. Also
 * arguments that are wrong by one sign or one repetition: negative ones of ncmpi__enddef, one id twice in a wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"

static char path[4096];
static int syncs;
static char sieving[MPI_MAX_INFO_VAL + 1]; /* romio_ds_write of the last MPI_File_open */

int MPI_File_sync(MPI_File file)
{
    syncs++;
    return PMPI_File_sync(file);
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    int found = 0;

    sieving[0] = '\0';
    if (info != MPI_INFO_NULL)
        MPI_Info_get(info, "romio_ds_write", MPI_MAX_INFO_VAL, sieving, &found);
    return PMPI_File_open(comm, name, mode, info, file);
}

static int create(int mode, const char *hint)
{
    MPI_Info info;
    int ncid, dim, id;

    MPI_Info_create(&info);
    if (hint != NULL)
        MPI_Info_set(info, "romio_ds_write", hint);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    t_local(ncmpi_def_dim(ncid, "x", t_nprocs, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id) == NC_NOERR, "def_var");
    return ncid;
}

static void test_syncs(int mode, const char *name, bool after_put)
{
    MPI_Offset start = t_rank, count = 1;
    int ncid = create(mode, NULL);

    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    syncs = 0;
    t_local(ncmpi_put_vara_int_all(ncid, 0, &start, &count, &t_rank) == NC_NOERR, "put");
    t_local((syncs > 0) == after_put, "%d flushes after a put", syncs);
    syncs = 0;
    t_local(ncmpi_sync(ncid) == NC_NOERR, "sync");
    t_local(syncs == !after_put, "%d flushes in ncmpi_sync, after a put that has flushed or not", syncs);
    t_check(ncmpi_close(ncid) == NC_NOERR, "%s: flushes reach MPI-IO", name);
}

static void test_hint(void)
{
    int ncid = create(0, "disable");

    t_local(strcmp(sieving, "disable") == 0, "romio_ds_write is %s", sieving);
    t_check(ncmpi_close(ncid) == NC_NOERR, "romio_ds_write reaches MPI-IO");
}

/* A list of n bytes, whose last hint counts. */
static void set_list(int n)
{
    static const char hint[] = ";romio_ds_write=disable";
    char *list = malloc((size_t)n + 1);

    memset(list, ' ', (size_t)n);
    strcpy(list + n - (int)strlen(hint), hint);
    setenv("PNETCDF_HINTS", list, 1);
    free(list);
}

/* Launchers may set PNETCDF_HINTS for rank 0 only: what rank 0 has counts on all ranks. Lists of 1024 bytes and more
 * travel in a message of their own. */
static void test_list(void)
{
    static const int lengths[] = {23, 1000, 1022, 1023, 1024, 1025, 1033, 1040, 4096, 100001};
    char usual[sizeof sieving];
    int ncid = create(0, NULL);

    strcpy(usual, sieving);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (t_rank == 0)
            set_list(lengths[i]);
        ncid = create(0, NULL);
        unsetenv("PNETCDF_HINTS");
        t_local(strcmp(sieving, "disable") == 0, "romio_ds_write is %s", sieving);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
        t_check(true, "PNETCDF_HINTS of %d bytes on rank 0", lengths[i]);
        if (t_rank > 0)
            set_list(lengths[i]);
        ncid = create(0, NULL);
        unsetenv("PNETCDF_HINTS");
        t_local(strcmp(sieving, usual) == 0, "romio_ds_write is %s", sieving);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
        t_check(true, "PNETCDF_HINTS of %d bytes on the other ranks only", lengths[i]);
    }
}

static void test_negative_layout(void)
{
    int ncid = create(0, NULL);

    for (int k = 0; k < 4; k++)
        expect_code(ncmpi__enddef(ncid, k == 0 ? -1 : 0, k == 1 ? -1 : 0, k == 2 ? -1 : 0, k == 3 ? -1 : 0), NC_EINVAL,
                    "_enddef with a negative argument");
    expect_ok(ncmpi_enddef(ncid), "enddef after it");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_id_twice(void)
{
    MPI_Offset start = t_rank;
    int ncid = create(0, NULL), id = NC_REQ_NULL, ids[2], statuses[2] = {1, 1}, value = 40 + t_rank, got = 0, err;

    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_iput_var1_int(ncid, 0, &start, &value, &id) == NC_NOERR, "iput");
    ids[0] = ids[1] = id;
    err = ncmpi_wait_all(ncid, 2, ids, statuses);
    t_check(statuses[0] == NC_NOERR && statuses[1] == NC_EINVAL_REQUEST,
            "one id twice in a wait: %s; statuses %s and %s", ncmpi_strerrno(err), ncmpi_strerrno(statuses[0]),
            ncmpi_strerrno(statuses[1]));
    expect_ok(ncmpi_get_var1_int_all(ncid, 0, &start, &got), "get");
    t_check(got == value, "the value was put once");
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("mpi_calls.nc"));
    test_syncs(0, "without NC_SHARE", false);
    test_syncs(NC_SHARE, "with NC_SHARE", true);
    test_hint();
    test_list();
    test_negative_layout();
    test_id_twice();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
