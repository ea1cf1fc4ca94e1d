/* Headers of more bytes than rank 0 reads at once. All ranks decode one at the same time if its first bytes are enough
 * to estimate its size. Where they are not, where the file is cut or damaged, and where one rank has no memory, all
 * ranks return what an open on MPI_COMM_SELF returns, or an error. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"
#include "allocations.h"

enum { VARS = 600, HANG = 60 };

/* Collective steps of an open of a header that does not fit into one message: rank 0 decodes it first; all ranks decode
 * it at the same time; they cannot, and rank 0 does. */
enum { OF_ROOT = 2, OF_ALL = 3, OF_BOTH = 6 };

static char path[4096];
static int steps;

int MPI_Bcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    steps++;
    return PMPI_Bcast(buf, n, type, root, comm);
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    steps++;
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

static void name_of(int var, int first_long, char *name)
{
    snprintf(name, NC_MAX_NAME, var >= first_long ? "v%03d_%0200d" : "v%03d", var, 7);
}

/* From the variable first_long on, names have 200 more bytes. Returns the size of the header. */
static MPI_Offset make_file(int first_long, int vars)
{
    char name[NC_MAX_NAME + 1];
    MPI_Offset header = 0;
    int ncid, dim;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", 3, &dim) == NC_NOERR, "def_dim");
    for (int i = 0; i < vars; i++) {
        name_of(i, first_long, name);
        t_local(ncmpi_def_var(ncid, name, NC_SHORT, i % 2, &dim, NULL) == NC_NOERR, "def_var");
        t_local(ncmpi_put_att_int(ncid, i, "number", NC_INT, 1, &i) == NC_NOERR, "put_att");
    }
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_inq_header_size(ncid, &header) == NC_NOERR, "inq_header_size");
    expect_ok(ncmpi_close(ncid), "make a file");
    MPI_Barrier(MPI_COMM_WORLD);
    return header;
}

static int open_in_chunks(MPI_Comm comm, const char *bytes, int *ncid)
{
    MPI_Info info;
    int err;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_header_read_chunk_size", bytes);
    steps = 0;
    err = ncmpi_open(comm, path, NC_NOWRITE, info, ncid);
    MPI_Info_free(&info);
    return err;
}

/* The collective steps that any open takes, for a header that fits into one message. */
static int count_least_steps(void)
{
    int ncid, least;

    make_file(0, 1);
    t_local(open_in_chunks(MPI_COMM_WORLD, "262144", &ncid) == NC_NOERR && ncmpi_close(ncid) == NC_NOERR, "open");
    t_local(open_in_chunks(MPI_COMM_WORLD, "262144", &ncid) == NC_NOERR, "open");
    least = steps;
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    return least;
}

static bool has_variables(int ncid, int first_long)
{
    char name[NC_MAX_NAME + 1], wanted[NC_MAX_NAME + 1];
    int n, ndims, number;

    if (ncmpi_inq_nvars(ncid, &n) != NC_NOERR || n != VARS)
        return false;
    for (int i = 0; i < VARS; i++) {
        name_of(i, first_long, wanted);
        if (ncmpi_inq_varname(ncid, i, name) != NC_NOERR || strcmp(name, wanted) != 0 ||
            ncmpi_inq_varndims(ncid, i, &ndims) != NC_NOERR || ndims != i % 2 ||
            ncmpi_get_att_int(ncid, i, "number", &number) != NC_NOERR || number != i)
            return false;
    }
    return true;
}

static void test_sound(int first_long, const char *chunk, int wanted)
{
    int ncid, err = open_in_chunks(MPI_COMM_WORLD, chunk, &ncid);

    t_local(t_nprocs == 1 || steps == wanted, "%d steps, not %d", steps, wanted);
    if (expect_ok(err, "open")) {
        t_check(has_variables(ncid, first_long), "long names from variable %d on, chunks of %s bytes", first_long,
                chunk);
        expect_ok(ncmpi_close(ncid), "close");
    }
}

/* The error of an open on all ranks, and of an open on MPI_COMM_SELF. */
static void expect_the_same(const char *chunk, const char *what)
{
    char message[NC_MAX_MESSAGE] = "", alone[NC_MAX_MESSAGE] = "";
    int ncid, wanted, err = open_in_chunks(MPI_COMM_WORLD, chunk, &ncid);

    if (err == NC_NOERR)
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    else
        ncmpi_inq_last_error(-1, NULL, message);
    wanted = open_in_chunks(MPI_COMM_SELF, "262144", &ncid);
    if (wanted == NC_NOERR)
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    else
        ncmpi_inq_last_error(-1, NULL, alone);
    if (t_local(strstr(alone, path) != NULL, "one rank: %s", ncmpi_strerrno(wanted)))
        t_local(strstr(message, strstr(alone, path)) != NULL, "all ranks: %s", message);
    t_check(err == wanted, "%s: all ranks get %s", what, ncmpi_strerrno(wanted));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void overwrite(MPI_Offset at, const char *bytes, size_t n)
{
    if (t_rank == 0) {
        int fd = open(path, O_WRONLY);

        t_local(fd >= 0 && pwrite(fd, bytes, n, (off_t)at) == (ssize_t)n && close(fd) == 0, "write");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The type of the last variable is before its vsize and begin. */
static void test_damaged(MPI_Offset header, const char *chunk)
{
    overwrite(header - 20, "\0\0\0\143", 4);
    expect_the_same(chunk, "the last variable has type 99");
    overwrite(header - 20, "\0\0\0\3", 4);
}

static void test_cut(MPI_Offset header, const char *chunk)
{
    for (MPI_Offset cut = header - 1; cut > 20000; cut -= header / 3) {
        if (t_rank == 0)
            t_local(truncate(path, (off_t)cut) == 0, "truncate");
        MPI_Barrier(MPI_COMM_WORLD);
        expect_the_same(chunk, "a file that ends in its header");
    }
}

static void test_mark(void)
{
    overwrite(3, "\x85", 1);
    expect_the_same("20000", "a header that a program is changing");
    overwrite(3, "\5", 1);
}

/* Returns false when the open has fewer allocations. */
static bool try_allocation(int first_long, int rank, long position)
{
    int ncid, err, least, most;
    bool failed;

    alarm(HANG);
    allocation_arm(rank, position);
    err = open_in_chunks(MPI_COMM_WORLD, "20000", &ncid);
    failed = allocation_disarm(rank);
    MPI_Allreduce(&err, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&err, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    t_local(least == most && (err == NC_NOERR || err == NC_ENOMEM), "allocation %ld: %s", position,
            ncmpi_strerrno(err));
    if (err == NC_NOERR) {
        t_local(has_variables(ncid, first_long), "allocation %ld: other variables", position);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    }
    alarm(0);
    return failed;
}

static void test_memory(int first_long)
{
    for (int rank = 0; rank < t_nprocs; rank++) {
        long position = 0;

        while (try_allocation(first_long, rank, position))
            position++;
        t_check(position > 10, "each of %ld allocations of rank %d fails", position, rank);
    }
}

int main(int argc, char **argv)
{
    /* All have several variables. A header with long names is more than 64 times as large as the first chunk, and less
     * than twice as large as the last one. */
    static const char *const chunks[] = {"2000", "20000", "100000"};
    static const struct {
        int first_long, steps[3];
    } rows[] = {
        {0, {OF_ROOT, OF_ALL, OF_ROOT}}, {VARS / 10, {OF_BOTH, OF_BOTH, OF_ROOT}}, {VARS, {OF_ALL, OF_ALL, OF_ROOT}}};
    int least;

    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("large_header.nc"));
    least = count_least_steps();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        int first_long = rows[k].first_long;
        MPI_Offset header = make_file(first_long, VARS);

        for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
            test_sound(first_long, chunks[i], least + rows[k].steps[i]);
            test_damaged(header, chunks[i]);
        }
        test_mark();
        if (allocation_can_fail())
            test_memory(first_long);
        else
            t_skip("allocations cannot be made to fail");
        test_cut(header, chunks[k]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
