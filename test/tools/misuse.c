/* Started by test_safe_mode.py. misuse HOW FILE: the last rank makes other calls than the others.
 *
 *     end     it calls MPI_Finalize without ncmpi_close; "ends": all ranks but the last one do
 *     order   as "end", with two files, which the others close in the other order
 *     all     no rank closes the file
 *     next    it creates another file without ncmpi_close
 *     alone   it creates the file with MPI_COMM_SELF; the others with MPI_COMM_WORLD
 *     parts   each rank has a file of its own */
#include <stdio.h>
#include <string.h>

#include "pnetcdf.h"

static int rank, ranks;

static void report(const char *call, int err)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err != NC_NOERR)
        ncmpi_inq_last_error(NC_GLOBAL, NULL, message);
    printf("%d %s %s: %s\n", rank, call, ncmpi_strerrno(err), message);
    fflush(stdout);
}

static int create(MPI_Comm comm, const char *path)
{
    int ncid = -1, err = ncmpi_create(comm, path, NC_CLOBBER, MPI_INFO_NULL, &ncid);

    if (err == NC_NOERR)
        err = ncmpi_enddef(ncid);
    if (err != NC_NOERR)
        report("create", err);
    return ncid;
}

static void close_file(int ncid)
{
    report("close", ncmpi_close(ncid));
}

static void close_in_order(int a, const char *second)
{
    int b = create(MPI_COMM_WORLD, second);

    if (rank == ranks - 1)
        return;
    close_file(b);
    close_file(a);
}

int main(int argc, char **argv)
{
    const char *how = argc == 3 ? argv[1] : "";
    char second[4096];
    int ncid, is_last;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    is_last = rank == ranks - 1;
    snprintf(second, sizeof second, "%s.%s", argv[2], strcmp(how, "parts") == 0 ? "part" : "second");
    if (strcmp(how, "parts") == 0)
        snprintf(second + strlen(second), 20, "%d", rank);
    if (strcmp(how, "parts") == 0 || (strcmp(how, "alone") == 0 && is_last))
        ncid = create(MPI_COMM_SELF, strcmp(how, "parts") == 0 ? second : argv[2]);
    else
        ncid = create(MPI_COMM_WORLD, argv[2]);
    if (strcmp(how, "order") == 0)
        close_in_order(ncid, second);
    else if (strcmp(how, "next") == 0 && is_last)
        create(MPI_COMM_WORLD, second);
    else if (strcmp(how, "all") != 0 && (strcmp(how, "end") != 0 || !is_last) && (strcmp(how, "ends") != 0 || is_last))
        close_file(ncid);
    MPI_Finalize();
    return 0;
}
