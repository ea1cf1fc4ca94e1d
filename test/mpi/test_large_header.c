/* Headers of more bytes than rank 0 reads at once: all ranks decode them at the same time. Where the first variables
 * say too little about the size of the others, where the file is cut, and where it is damaged, all ranks get what one
 * rank gets that opens the file alone. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"

enum { VARS = 600 };

static char path[4096];

static void name_of(int var, bool is_long, char *name)
{
    snprintf(name, NC_MAX_NAME, is_long ? "v%03d_%0200d" : "v%03d", var, 7);
}

/* From the variable `longer` on, names have 200 more bytes. */
static MPI_Offset make_file(int longer)
{
    char name[NC_MAX_NAME + 1];
    MPI_Offset header = 0;
    int ncid, dim;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", 3, &dim) == NC_NOERR, "def_dim");
    for (int i = 0; i < VARS; i++) {
        name_of(i, i >= longer, name);
        t_local(ncmpi_def_var(ncid, name, NC_SHORT, i % 2, &dim, NULL) == NC_NOERR, "def_var");
        t_local(ncmpi_put_att_int(ncid, i, "number", NC_INT, 1, &i) == NC_NOERR, "put_att");
    }
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_inq_header_size(ncid, &header) == NC_NOERR, "inq_header_size");
    expect_ok(ncmpi_close(ncid), "make a file");
    MPI_Barrier(MPI_COMM_WORLD);
    return header;
}

static int open_in_chunks(MPI_Comm comm, int mode, const char *bytes, int *ncid)
{
    MPI_Info info;
    int err;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_header_read_chunk_size", bytes);
    err = ncmpi_open(comm, path, mode, info, ncid);
    MPI_Info_free(&info);
    return err;
}

static bool has_variables(int ncid, int longer)
{
    char name[NC_MAX_NAME + 1], wanted[NC_MAX_NAME + 1];
    int n, ndims, number;

    if (ncmpi_inq_nvars(ncid, &n) != NC_NOERR || n != VARS)
        return false;
    for (int i = 0; i < VARS; i++) {
        name_of(i, i >= longer, wanted);
        if (ncmpi_inq_varname(ncid, i, name) != NC_NOERR || strcmp(name, wanted) != 0 ||
            ncmpi_inq_varndims(ncid, i, &ndims) != NC_NOERR || ndims != i % 2 ||
            ncmpi_get_att_int(ncid, i, "number", &number) != NC_NOERR || number != i)
            return false;
    }
    return true;
}

static void test_sound(int longer, const char *chunk)
{
    int ncid, err = open_in_chunks(MPI_COMM_WORLD, NC_NOWRITE, chunk, &ncid);

    if (expect_ok(err, "open")) {
        t_check(has_variables(ncid, longer), "long names from variable %d on, chunks of %s bytes", longer, chunk);
        expect_ok(ncmpi_close(ncid), "close");
    }
}

/* What all ranks get, and what one rank gets that opens the file alone. */
static void expect_the_same(const char *chunk, const char *what)
{
    char message[NC_MAX_MESSAGE] = "", alone[NC_MAX_MESSAGE] = "";
    int ncid, wanted, err = open_in_chunks(MPI_COMM_WORLD, NC_NOWRITE, chunk, &ncid);

    if (err == NC_NOERR)
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    else
        ncmpi_inq_last_error(-1, NULL, message);
    wanted = open_in_chunks(MPI_COMM_SELF, NC_NOWRITE, "262144", &ncid);
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

/* A program has changed the header and died: an open for writing completes the change. */
static void test_mark(int longer)
{
    int ncid;

    overwrite(3, "\x85", 1);
    expect_the_same("4096", "a header that is marked");
    overwrite(3, "\5", 1);
    test_sound(longer, "4096");
    expect_ok(open_in_chunks(MPI_COMM_WORLD, NC_WRITE, "4096", &ncid), "open for writing");
    expect_ok(ncmpi_rename_var(ncid, VARS - 1, "last"), "rename the last variable");
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    static const char *const chunks[] = {"48", "4096", "20000", "100000"};
    static const int first_long[] = {0, VARS / 10, VARS - 20, VARS};

    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("large_header.nc"));
    for (size_t k = 0; k < sizeof first_long / sizeof *first_long; k++) {
        MPI_Offset header = make_file(first_long[k]);

        for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
            test_sound(first_long[k], chunks[i]);
            test_damaged(header, chunks[i]);
        }
        test_mark(first_long[k]);
        test_cut(make_file(first_long[k]), chunks[k]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
