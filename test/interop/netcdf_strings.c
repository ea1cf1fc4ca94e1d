/* netcdf_strings FILE KIND: a program of netCDF that defines, puts and gets variables of strings, and renames groups,
 * on any number of ranks: the file is the same on all. KIND serial: by nc_create, else by nc_create_par. Rank 0 prints
 * what each call returns, which must be the same with netCDF-C alone. */
#include <mpi.h>
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_var_par_access(int ncid, int varid, int access);

enum { X = 4 };

static int rank, nprocs, is_serial, nc;

static void show(const char *what, int err)
{
    if (rank == 0)
        printf("%s: %d\n", what, err);
}

static void show_strings(const char *what, int err, char **got, size_t n)
{
    if (rank == 0)
        printf("%s: %d", what, err);
    for (size_t i = 0; rank == 0 && err == NC_NOERR && i < n; i++)
        printf(" [%s]", got[i] != NULL ? got[i] : "NULL");
    if (rank == 0)
        printf("\n");
    if (err == NC_NOERR)
        nc_free_string(n, got);
}

static void define(int *varids, int *groups)
{
    const char *fill = "none";
    int x, time, dims[2];

    show("dims", nc_def_dim(nc, "x", X, &x) + nc_def_dim(nc, "time", NC_UNLIMITED, &time));
    dims[0] = time, dims[1] = x;
    show("fixed", nc_def_var(nc, "fixed", NC_STRING, 1, &x, &varids[0]));
    show("records", nc_def_var(nc, "records", NC_STRING, 2, dims, &varids[1]));
    show("scalar", nc_def_var(nc, "scalar", NC_STRING, 0, NULL, &varids[2]));
    show("fill", nc_def_var_fill(nc, varids[0], 0, &fill));
    show("no fill", nc_def_var_fill(nc, varids[2], 1, NULL));
    show("deflate", nc_def_var_deflate(nc, varids[1], 1, 1, 1));
    show("endian", nc_def_var_endian(nc, varids[1], NC_ENDIAN_BIG));
    show("groups", nc_def_grp(nc, "first", &groups[0]) + nc_def_grp(groups[0], "inner", &groups[1]) +
                       nc_def_grp(nc, "second", &groups[2]));
    show("inner", nc_def_var(groups[1], "text", NC_STRING, 1, &x, &varids[3]));
    show("attribute", nc_put_att_text(groups[1], NC_GLOBAL, "title", 5, "inner"));
}

static void rename_groups(int *groups)
{
    char name[NC_MAX_NAME + 1] = "";
    size_t length = 0;

    show("to one that exists", nc_rename_grp(groups[0], "second"));
    show("to its own name", nc_rename_grp(groups[0], "first"));
    show("of the root group", nc_rename_grp(nc, "root"));
    show("with a slash", nc_rename_grp(groups[0], "a/b"));
    show("to that of a variable", nc_rename_grp(groups[0], "fixed"));
    show("rename", nc_rename_grp(groups[0], "renamed"));
    show("name", nc_inq_grpname_full(groups[1], &length, name));
    show(name, (int)length);
}

/* Each rank puts what is its own, or nothing. */
static void put_values(const int *varids, const int *groups)
{
    static const char *const rows[2][X] = {{"a", "", "ccc", NULL}, {"eeeee", "f", "g", "h"}};
    const char *one = "one", *two[] = {"s0", "s2"}, *mapped[] = {"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"};
    size_t start[2] = {0, 0}, count[2] = {1, X}, second = 1, zero = 0, pair = 2;
    ptrdiff_t stride = 2, imap = 2, steps[2] = {1, 1};
    int err = NC_NOERR;

    if (!is_serial)
        nc_var_par_access(nc, varids[1], 1);
    for (int i = 0; i < 2; i++) {
        start[0] = (size_t)i;
        count[0] = i % nprocs == rank;
        show("row", nc_put_vara_string(nc, varids[1], start, count, (const char **)rows[i]));
    }
    if (rank == nprocs - 1)
        err = nc_put_var1_string(nc, varids[0], &second, &one);
    if (err == NC_NOERR && rank == 0)
        err = nc_put_vars_string(nc, varids[0], &zero, &pair, &stride, two);
    show("one, and some", err);
    start[0] = 3;
    count[0] = rank == 0;
    show("mapped", nc_put_varm_string(nc, varids[1], start, count, steps, (ptrdiff_t[]){8, imap}, mapped));
    start[0] = 2;
    count[0] = rank == 0;
    count[1] = 2;
    show("strided", nc_put_vars_string(nc, varids[1], start, count, (ptrdiff_t[]){1, 3}, two));
    show("scalar", rank == 0 ? nc_put_var_string(nc, varids[2], &one) : NC_NOERR);
    show("inner", rank == 0 ? nc_put_var_string(groups[1], varids[3], (const char **)rows[1]) : NC_NOERR);
    show("a number", nc_put_var1_int(nc, varids[0], &second, &err));
    show("a text", nc_put_var1_text(nc, varids[0], &second, "a"));
}

static void get_values(const int *varids, const int *groups)
{
    size_t start[2] = {0, 0}, count[2] = {4, X};
    char *got[4 * X] = {NULL}, *fill = NULL;
    int no_fill = -1, endian = -1, deflate = -1, shuffle = -1, level = -1;

    show_strings("fixed", nc_get_var_string(nc, varids[0], got), got, X);
    show_strings("records", nc_get_vara_string(nc, varids[1], start, count, got), got, 4 * X);
    count[0] = count[1] = 2;
    show_strings("strided", nc_get_vars_string(nc, varids[1], start, count, (ptrdiff_t[]){2, 3}, got), got, 4);
    show_strings("mapped", nc_get_varm_string(nc, varids[1], start, count, NULL, (ptrdiff_t[]){1, 2}, got), got, 4);
    show_strings("scalar", nc_get_var_string(nc, varids[2], got), got, 1);
    show_strings("inner", nc_get_var_string(groups[1], varids[3], got), got, X);
    show_strings("fill", nc_inq_var_fill(nc, varids[0], &no_fill, &fill), &fill, 1);
    show("filters", nc_inq_var_deflate(nc, varids[1], &shuffle, &deflate, &level));
    show("filled", no_fill + 10 * deflate + 100 * nc_inq_var_endian(nc, varids[0], &endian) + 1000 * endian);
}

int main(int argc, char **argv)
{
    int varids[4], groups[3], err;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    is_serial = argc > 2 && strcmp(argv[2], "serial") == 0;
    err = is_serial ? nc_create(argv[1], NC_NETCDF4, &nc)
                    : nc_create_par(argv[1], NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);
    show("create", err);
    define(varids, groups);
    rename_groups(groups);
    put_values(varids, groups);
    show("sync", nc_sync(nc));
    get_values(varids, groups);
    show("rename in data mode", nc_rename_grp(groups[2], "also_renamed"));
    show("close", nc_close(nc));
    err = is_serial ? nc_open(argv[1], NC_WRITE, &nc)
                    : nc_open_par(argv[1], NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);
    show("open", err);
    show("group", nc_inq_grp_full_ncid(nc, "/renamed/inner", &groups[1]));
    show("stored group", nc_inq_ncid(nc, "renamed", &groups[0]) + nc_rename_grp(groups[0], "again"));
    /* with netCDF-C the last one to be renamed is the last one */
    show("another", nc_inq_ncid(nc, "also_renamed", &groups[2]) + nc_rename_grp(groups[2], "last"));
    show("text", nc_inq_varid(groups[1], "text", &varids[3]));
    get_values(varids, groups);
    show("close", nc_close(nc));
    MPI_Finalize();
    return 0;
}
