/* netcdf_trouble WHAT NAME: programs of netCDF that end badly, through libpnetcdf-netcdf on any number of ranks. Each
 * rank prints the code of each call, a line each: "RANK CALL CODE".
 *   full: after nc_sync no file may grow any more; nine more calls.
 *   kill: after nc_sync values are put, and the last rank kills itself.
 *   hold: waits, with the file open, until the file NAME.go exists. */
#include <mpi.h>
#include <netcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);

enum { LENGTH = 40000, EARLY = 1000 };

static int rank, nprocs, nc, packed, plain;
static int values[LENGTH];

static void print_code(const char *what, int err)
{
    printf("%d %s %d\n", rank, what, err);
    fflush(stdout);
}

/* A rank's share of n values from `first` on; collective if the variable is. */
static int put(int varid, int first, int n)
{
    size_t start = (size_t)(first + n / nprocs * rank), count = (size_t)(n / nprocs);

    for (size_t i = 0; i < count; i++)
        values[i] = (int)((start + i) * 2654435761u); /* which deflate does not shorten */
    return nc_put_vara_int(nc, varid, &start, &count, values);
}

static int create(const char *path)
{
    size_t chunk = EARLY;
    int dim;

    if (nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &nc) != NC_NOERR ||
        nc_def_dim(nc, "x", LENGTH, &dim) != NC_NOERR ||
        nc_def_var(nc, "packed", NC_INT, 1, &dim, &packed) != NC_NOERR ||
        nc_def_var_chunking(nc, packed, NC_CHUNKED, &chunk) != NC_NOERR ||
        nc_def_var_deflate(nc, packed, 0, 1, 1) != NC_NOERR || nc_def_dim(nc, "u", NC_UNLIMITED, &dim) != NC_NOERR ||
        nc_def_var(nc, "plain", NC_INT, 1, &dim, &plain) != NC_NOERR ||
        nc_def_var_chunking(nc, plain, NC_CHUNKED, &chunk) != NC_NOERR || put(packed, 0, EARLY) != NC_NOERR)
        return 1;
    return nc_sync(nc) == NC_NOERR ? 0 : 1;
}

/* From here on, as on a disk that is full. */
static void limit_files(const char *path)
{
    struct rlimit limit = {0, 0};
    struct stat found;

    MPI_Barrier(MPI_COMM_WORLD);
    stat(path, &found);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = (rlim_t)found.st_size;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void write_to_full_disk(const char *path)
{
    int id;

    limit_files(path);
    print_code("put_packed", put(packed, EARLY, LENGTH - EARLY));
    print_code("put_plain", put(plain, 0, LENGTH));
    print_code("sync", nc_sync(nc));
    print_code("put_again", put(packed, EARLY, LENGTH - EARLY));
    print_code("redef", nc_redef(nc));
    print_code("def_var", nc_def_var(nc, "late", NC_INT, 0, NULL, &id));
    print_code("enddef", nc_enddef(nc));
    print_code("put_last", put(packed, EARLY, LENGTH - EARLY));
    print_code("close", nc_close(nc));
}

static void die(void)
{
    print_code("put_packed", put(packed, EARLY, LENGTH - EARLY));
    print_code("put_plain", put(plain, 0, LENGTH));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == nprocs - 1)
        raise(SIGKILL);
    print_code("close", nc_close(nc));
}

static void hold(const char *path)
{
    char go[1024];

    snprintf(go, sizeof go, "%s.go", path);
    print_code("ready", NC_NOERR);
    while (access(go, F_OK) != 0)
        usleep(20000);
    print_code("close", nc_close(nc));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "open") == 0) {
        int err = nc_open_par(argv[2], NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);

        print_code("open", err);
        if (err == NC_NOERR)
            nc_close(nc);
    } else if (create(argv[2]) != 0) {
        print_code("create", -1);
    } else if (strcmp(argv[1], "full") == 0) {
        write_to_full_disk(argv[2]);
    } else if (strcmp(argv[1], "kill") == 0) {
        die();
    } else {
        hold(argv[2]);
    }
    MPI_Finalize();
    return 0;
}
