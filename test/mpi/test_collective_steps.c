/* How many collective steps a call makes: each waits for all ranks. The functions below count, and call MPI by its
 * profiling interface. MPI_File_open, _close and _sync are not counted: no call can do without them. */
#include <pnetcdf.h>

#include "../expect.h"

static int steps;

/* A communicator of one rank does not wait. */
static void count(MPI_Comm comm)
{
    int nprocs;

    PMPI_Comm_size(comm, &nprocs);
    steps += nprocs > 1;
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    count(comm);
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

int MPI_Iallreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    count(comm);
    return PMPI_Iallreduce(from, to, n, type, op, comm, request);
}

int MPI_Bcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    count(comm);
    return PMPI_Bcast(buf, n, type, root, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
    count(comm);
    return PMPI_Barrier(comm);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *out, MPI_Request *request)
{
    count(comm);
    return PMPI_Comm_idup(comm, out, request);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    count(comm);
    return PMPI_Comm_dup(comm, out);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out)
{
    count(comm);
    return PMPI_Comm_split(comm, color, key, out);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
    count(comm);
    return PMPI_Comm_split_type(comm, type, key, info, out);
}

int MPI_File_set_size(MPI_File file, MPI_Offset size)
{
    steps += t_nprocs > 1;
    return PMPI_File_set_size(file, size);
}

/* No rank makes more than `most` steps. */
static void expect_steps(int err, int most, const char *text)
{
    int made = steps;

    t_local(err == NC_NOERR, "%s", ncmpi_strerror(err));
    t_check(t_local(made <= most, "%d steps", made), "%s: at most %d collective steps", text, most);
    steps = 0;
}

/* Without aggregators, which several nodes would use for the small puts below. */
static int create_direct(MPI_Comm comm, const char *path, int *ncid)
{
    MPI_Info info;
    int err;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", "direct");
    err = ncmpi_create(comm, path, NC_CLOBBER, info, ncid);
    MPI_Info_free(&info);
    return err;
}

static int make_file(MPI_Comm comm, const char *path, int most, const char *text)
{
    int ncid, dims[2], id;

    steps = 0;
    expect_steps(create_direct(comm, path, &ncid), most, text);
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", 4 * t_nprocs, &dims[1]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "w", NC_INT, 1, &dims[1], &id) == NC_NOERR, "def_var");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "hello") == NC_NOERR, "put_att");
    return ncid;
}

static void test_data_mode(int ncid)
{
    MPI_Offset start[2] = {0, 4 * t_rank}, count[2] = {1, 4};
    int values[4] = {0}, req, status;

    expect_steps(ncmpi_put_vara_int_all(ncid, 0, start, count, values), 2, "put a new record");
    expect_steps(ncmpi_put_vara_int_all(ncid, 0, start, count, values), 1, "put");
    expect_steps(ncmpi_get_vara_int_all(ncid, 0, start, count, values), 1, "get");
    t_local(ncmpi_iput_vara_int(ncid, 0, start, count, values, &req) == NC_NOERR, "iput");
    expect_steps(ncmpi_wait_all(ncid, 1, &req, &status), 2, "wait_all of puts");
    t_local(ncmpi_iget_vara_int(ncid, 0, start, count, values, &req) == NC_NOERR, "iget");
    expect_steps(ncmpi_wait_all(ncid, 1, &req, &status), 2, "wait_all of gets");
    expect_steps(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "world"), 3, "change an attribute");
    expect_steps(ncmpi_begin_indep_data(ncid), 0, "begin_indep_data");
    expect_steps(ncmpi_end_indep_data(ncid), 1, "end_indep_data");
    expect_steps(ncmpi_sync_numrecs(ncid), 0, "sync_numrecs with nothing new");
    expect_steps(ncmpi_begin_indep_data(ncid), 0, "begin_indep_data");
    expect_steps(ncmpi_sync_numrecs(ncid), 1, "sync_numrecs in independent mode");
    expect_steps(ncmpi_end_indep_data(ncid), 1, "end_indep_data");
    expect_steps(ncmpi_sync(ncid), 2, "sync");
    expect_steps(ncmpi_sync(ncid), 1, "sync with nothing new");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    const char *path;
    int ncid;

    t_start(&argc, &argv);
    path = t_path("collective_steps.nc");
    MPI_Comm_split(MPI_COMM_WORLD, 0, t_rank, &comm); /* nothing is known about it */
    ncid = make_file(comm, path, 5, "create the first file of a communicator");
    expect_steps(ncmpi_close(ncid), 3, "enddef and close");
    ncid = make_file(comm, path, 4, "create over a file");
    expect_steps(ncmpi_enddef(ncid), 2, "enddef");
    test_data_mode(ncid);
    expect_steps(ncmpi_close(ncid), 2, "close");
    expect_steps(ncmpi_open(comm, path, NC_WRITE, MPI_INFO_NULL, &ncid), 3, "open a third file");
    t_local(ncmpi_redef(ncid) == NC_NOERR && ncmpi_enddef(ncid) == NC_NOERR, "redef");
    steps = 0;
    expect_steps(ncmpi_close(ncid), 2, "close");
    PMPI_Comm_free(&comm);
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_steps(ncmpi_open(comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), 6, "open the first file of a communicator");
    expect_steps(ncmpi_close(ncid), 1, "close a file that was only read");
    MPI_Comm_free(&comm);
    return t_finish();
}
