/* netcdf_calls NAME OTHER STRINGS: calls of netCDF that random programs do not make, through libpnetcdf-netcdf on 2
 * ranks or more: independent and collective access of the same file, filters, refusals. OTHER is a file with a user-
 * defined type and a group, which several ranks do not write, STRINGS one with variables of strings. Rank 0 prints TAP
 * lines. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_var_par_access(int ncid, int varid, int access);
int nc_def_var_chunking_ints(int ncid, int varid, int storage, int *lengths);
int nc_inq_var_chunking_ints(int ncid, int varid, int *storage, int *lengths);
int nc_set_var_chunk_cache_ints(int ncid, int varid, int size, int nelems, int preemption);
int nc_get_var_chunk_cache_ints(int ncid, int varid, int *size, int *nelems, int *preemption);
int nc_def_var_zstandard(int ncid, int varid, int level);
int nc_inq_var_zstandard(int ncid, int varid, int *has, int *level);

enum { INDEPENDENT, COLLECTIVE, LENGTH = 12, CHUNK = 4, BZIP2 = 307 };
#define OWN_EINDEP (-203)
#define OWN_ENOTSUPPORT (-214)

static int rank, nprocs;

/* good: on this rank. */
static void check(int good, const char *what)
{
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s - %s\n", good ? "ok" : "not ok", what);
    fflush(stdout);
}

/* An independent put of a value by the last rank; what rank 0 gets then, and after another collective call. */
static void check_independent(int nc, int chunked, int contiguous, int other)
{
    size_t at = 1, n = LENGTH, none = 0, zero = 0;
    int value = 77, got = 0, values[LENGTH] = {0}, err = NC_NOERR;

    if (rank == nprocs - 1)
        err = nc_put_var1_int(nc, chunked, &at, &value);
    check(err == NC_NOERR, "one rank puts into a variable in chunks, the others are not in the call");
    if (rank == nprocs - 1)
        err = nc_get_var1_int(nc, chunked, &at, &got);
    check(err == NC_NOERR && (rank < nprocs - 1 || got == 77), "it gets what it has put");
    if (rank == nprocs - 1)
        err = nc_put_var1_int(nc, contiguous, &at, &value);
    MPI_Barrier(MPI_COMM_WORLD);
    got = 0;
    if (rank == 0)
        err = nc_get_var1_int(nc, contiguous, &at, &got);
    check(err == NC_NOERR && (rank > 0 || got == 77), "of a contiguous variable, the others get it at once");
    err = nc_put_vara_int(nc, other, &zero, rank == 0 ? &n : &none, values);
    got = 0;
    if (err == NC_NOERR)
        err = nc_get_var1_int(nc, chunked, &at, &got);
    check(err == NC_NOERR && got == 77, "of a variable in chunks, all ranks get it after a collective call of another");
}

/* A collective put of half a chunk waits at its aggregator. */
static void check_waiting(int nc, int collective)
{
    size_t at = 1, start = 0, half = CHUNK / 2, none = 0;
    int values[CHUNK] = {1, 2, 3, 4}, got = 0, err;

    err = nc_put_vara_int(nc, collective, &start, rank == 0 ? &half : &none, values);
    check(err == NC_NOERR, "a collective put of half a chunk");
    err = nc_get_var1_int(nc, collective, &at, &got);
    check(err == NC_NOERR && got == 2, "a collective get has its values");
    err = nc_var_par_access(nc, collective, INDEPENDENT);
    if (err == NC_NOERR)
        err = nc_get_var1_int(nc, collective, &at, &got);
    check(nprocs == 1 || (err == OWN_EINDEP && strstr(nc_strerror(OWN_EINDEP), "nc_sync") != NULL),
          "an independent get fails, and nc_strerror names nc_sync");
    err = nc_sync(nc);
    got = 0;
    if (err == NC_NOERR)
        err = nc_get_var1_int(nc, collective, &at, &got);
    check(err == NC_NOERR && got == 2, "after nc_sync an independent get has its values");
}

static int has_bzip2(int nc, int varid)
{
    unsigned level = 9;

    return nc_def_var_filter(nc, varid, BZIP2, 1, &level) == NC_NOERR;
}

static void check_properties(int nc, int varid)
{
    int level = 0, has = 0, storage = -1, lengths[1] = {0}, size = 0, nelems = 0, preemption = 0, wanted[1] = {6}, err;
    size_t n = 0;
    unsigned ids[4] = {0};

    err = nc_def_var_chunking_ints(nc, varid, NC_CHUNKED, wanted);
    if (err == NC_NOERR)
        err = nc_inq_var_chunking_ints(nc, varid, &storage, lengths);
    check(err == NC_NOERR && storage == NC_CHUNKED && lengths[0] == 6, "chunk lengths of netCDF-Fortran");
    err = nc_set_var_chunk_cache_ints(nc, varid, 16, 101, 50);
    if (err == NC_NOERR)
        err = nc_get_var_chunk_cache_ints(nc, varid, &size, &nelems, &preemption);
    check(err == NC_NOERR && size == 16 && nelems == 101 && preemption == 50, "a chunk cache is kept for inquiries");
    err = nc_def_var_zstandard(nc, varid, 5);
    if (err == NC_NOERR)
        err = nc_inq_var_zstandard(nc, varid, &has, &level);
    check(err == NC_NOERR && has == 1 && level == 5, "zstd, which Debian's libnetcdf accepts and forgets");
    err = nc_inq_var_filter_ids(nc, varid, &n, ids);
    check(err == NC_NOERR && n == 1 && ids[0] == 32015, "its filter is listed");
    err = nc_inq_filter_avail(nc, BZIP2); /* by a plugin, which the machine may have or not */
    check(nc_inq_filter_avail(nc, 1) == NC_NOERR && nc_inq_filter_avail(nc, 32015) == NC_NOERR &&
              nc_inq_filter_avail(nc, 60000) == NC_ENOFILTER && (err == NC_NOERR) == has_bzip2(nc, varid),
          "the filters that are available can be defined");
}

static void check_refusals(int nc)
{
    int count = -1;
    nc_type type;
    char name[NC_MAX_NAME + 1];
    size_t size = 0;

    check(nc_def_compound(nc, 8, "pair", &type) == OWN_ENOTSUPPORT &&
              nc_def_vlen(nc, "row", NC_INT, &type) != NC_NOERR && nc_def_opaque(nc, 4, "bytes", &type) != NC_NOERR &&
              nc_def_enum(nc, NC_INT, "e", &type) != NC_NOERR,
          "user-defined types are refused");
    check(nc_inq_typeids(nc, &count, NULL) == NC_NOERR && count == 0, "there are no types");
    check(nc_inq_type(nc, NC_UINT, name, &size) == NC_NOERR && strcmp(name, "uint") == 0 && size == 4, "a type's name");
    check(strcmp(nc_strerror(OWN_ENOTSUPPORT), nc_strerror(-1000)) != 0, "nc_strerror knows this library's codes");
}

/* A group in a group, with a dimension and a variable; strings of its own and of its variable. */
static void check_groups(int nc)
{
    const char *texts[] = {"one", "two"};
    int outer, inner, found = -1, dim, varid, n = 0, ids[8];
    char name[NC_MAX_NAME + 1], *got[2] = {NULL, NULL};
    nc_type type = 0;
    size_t length = 0;

    check(nc_def_grp(nc, "group", &outer) == NC_NOERR && nc_def_grp(outer, "inner", &inner) == NC_NOERR,
          "groups are defined");
    check(nc_def_dim(outer, "y", 2, &dim) == NC_NOERR && nc_def_var(inner, "v", NC_INT, 1, &dim, &varid) == NC_NOERR &&
              varid == 0,
          "a variable of a group has the id 0 there");
    check(nc_inq_dimids(inner, &n, ids, 1) == NC_NOERR && n == 2 && ids[1] == dim, "a group has dimensions above it");
    check(nc_inq_grp_full_ncid(nc, "/group/inner", &found) == NC_NOERR && found == inner &&
              nc_inq_grpname_full(inner, &length, name) == NC_NOERR && strcmp(name, "/group/inner") == 0 &&
              length == 12,
          "a group is found by its path");
    check(nc_put_att_string(inner, NC_GLOBAL, "texts", 2, texts) == NC_NOERR &&
              nc_put_att_string(inner, varid, "text", 1, texts) == NC_NOERR,
          "attributes of strings are put");
    check(nc_inq_att(inner, NC_GLOBAL, "texts", &type, &length) == NC_NOERR && type == NC_STRING && length == 2 &&
              nc_get_att_string(inner, NC_GLOBAL, "texts", got) == NC_NOERR && strcmp(got[1], "two") == 0 &&
              nc_free_string(2, got) == NC_NOERR,
          "attributes of strings are got");
    check(nc_rename_grp(inner, "other") == NC_NOERR && nc_inq_grpname(inner, name) == NC_NOERR &&
              strcmp(name, "other") == 0 && nc_rename_grp(inner, "inner") == NC_NOERR,
          "a group is renamed");
    check(nc_close(inner) == NC_EBADGRPID && nc_inq_nvars(nc + 60, &n) == NC_EBADID, "ids of groups are no files");
}

static void check_other(const char *path)
{
    int nc, varid, value = 0, ngroups = 0, err = nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);
    size_t at = 2;

    check(err == NC_NOERR, "a file with a user-defined type is opened by netCDF-C");
    if (err != NC_NOERR)
        return;
    err = nc_inq_varid(nc, "plain", &varid);
    if (err == NC_NOERR)
        err = nc_get_var1_int(nc, varid, &at, &value);
    check(err == NC_NOERR && value == 2, "and read");
    check(nc_inq_grps(nc, &ngroups, NULL) == NC_NOERR && ngroups == 1, "with its group");
    check(nc_close(nc) == NC_NOERR, "and closed");
    err = nc_open_par(path, NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);
    check(nprocs == 1 || err == OWN_ENOTSUPPORT, "several ranks do not open it to write");
    check(nprocs > 1 || (err == NC_NOERR && nc_close(nc) == NC_NOERR), "one rank does, by netCDF-C");
    check(nc_open_par("absent.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc) == 2, "a file that is not there");
    check(nc_create_par("http://x.org/x", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &nc) == OWN_ENOTSUPPORT, "a URL");
}

/* Of netCDF4-python: strings "names" (2) and "log" over an unlimited dimension. */
static void check_strings(const char *path)
{
    const char *text[] = {"first"};
    int nc, names, log, plain, err = nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc), no_fill = -1;
    size_t start[1] = {0}, count[1] = {2};
    ptrdiff_t stride[1] = {2};
    char *got[4] = {NULL}, *fill = NULL;

    check(err == NC_NOERR && nc_inq_varid(nc, "names", &names) == NC_NOERR &&
              nc_inq_varid(nc, "log", &log) == NC_NOERR && nc_inq_varid(nc, "plain", &plain) == NC_NOERR,
          "a file with variables of strings is opened");
    err = nc_get_var_string(nc, names, got);
    check(err == NC_NOERR && strcmp(got[0], "first") == 0 && strcmp(got[1], "second") == 0 &&
              nc_free_string(2, got) == NC_NOERR,
          "and its strings are got");
    err = nc_get_vars_string(nc, log, start, count, stride, got);
    check(err == NC_NOERR && strcmp(got[0], "a") == 0 && strcmp(got[1], "c") == 0 && nc_free_string(2, got) == NC_NOERR,
          "also at distances");
    if (rank == nprocs - 1)
        err = nc_get_var1_string(nc, log, start, got);
    check(err == NC_NOERR && (rank < nprocs - 1 || nc_free_string(1, got) == NC_NOERR), "by one rank");
    check(nc_inq_var_fill(nc, names, &no_fill, &fill) == NC_NOERR && fill[0] == '\0' && nc_free_string(1, &fill) == 0,
          "their fill value is empty");
    check(nc_get_var_string(nc, plain, got) != NC_NOERR && nc_get_var_text(nc, names, (char *)got) == NC_ECHAR,
          "numbers are no strings, nor are strings text");
    check(nc_close(nc) == NC_NOERR, "the file of strings is closed");
    err = nc_open_par(path, NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);
    check(err == NC_NOERR, "it is opened to write");
    err = nc_put_var1_string(nc, names, start, text);
    check(err == NC_NOERR, "strings are put");
    check(nc_close(nc) == NC_NOERR, "and closed again");
}

/* Codes and values for which netCDF has rules of its own. */
static void check_rules(const char *path)
{
    int nc, dims[NC_MAX_VAR_DIMS + 1], bytes, unfilled, cube, mode = -1, no_fill = -1, err, late[2];
    size_t at = 0, chunk[2] = {0};
    signed char got = 0;

    err = nc_create_par(path, NC_NETCDF4 | NC_64BIT_OFFSET, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);
    check(err == NC_EINVAL, "two formats are NC_EINVAL");
    if (nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &nc) != NC_NOERR)
        MPI_Abort(MPI_COMM_WORLD, 1);
    err = nc_inq_format_extended(nc, NULL, &mode);
    check(err == NC_NOERR && mode == NC_NETCDF4, "the mode of a new file");
    check(nc_def_grp(nc, NULL, &err) == NC_EINVAL, "a group without a name");
    nc_def_dim(nc, "x", 40, &dims[0]);
    for (int i = 1; i <= NC_MAX_VAR_DIMS; i++)
        dims[i] = dims[0];
    err = nc_def_var(nc, "many", NC_INT, NC_MAX_VAR_DIMS + 1, dims, &bytes);
    check(err == NC_EMAXDIMS, "more dimensions than a variable can have");
    nc_def_var(nc, "bytes", NC_BYTE, 1, dims, &bytes);
    nc_var_par_access(nc, bytes, COLLECTIVE);
    nc_def_var(nc, "unfilled", NC_INT, 1, dims, &unfilled);
    nc_def_var_fill(nc, unfilled, 1, NULL);
    nc_def_var(nc, "cube", NC_INT, 2, dims, &cube);
    nc_def_var_fletcher32(nc, cube, 1);
    err = nc_inq_var_chunking(nc, cube, NULL, chunk);
    check(err == NC_NOERR && chunk[0] == 40 && chunk[1] == 40, "lengths of chunks that the library will choose");
    nc_enddef(nc);
    err = nc_put_var1_int(nc, bytes, &at, &(int){1000});
    check(err == NC_ERANGE, "an integer that does not fit");
    nc_get_var1_schar(nc, bytes, &at, &got);
    check(got == (signed char)1000, "keeps its low bits");
    err = nc_put_var1_double(nc, bytes, &at, &(double){9999.99});
    nc_get_var1_schar(nc, bytes, &at, &got);
    check(err == NC_ERANGE && got == (signed char)9999, "so does a real number");
    nc_redef(nc);
    late[0] = nc_def_var_fill(nc, bytes, 0, "7");
    late[1] = nc_put_att_schar(nc, bytes, "_FillValue", NC_BYTE, 1, (const signed char *)"7");
    check(late[0] == NC_ELATEDEF && late[1] == NC_ELATEFILL, "a fill value that comes late");
    nc_close(nc);
    if (nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc) != NC_NOERR)
        MPI_Abort(MPI_COMM_WORLD, 1);
    err = nc_inq_var_fill(nc, unfilled, &no_fill, NULL);
    check(err == NC_NOERR && no_fill == 1, "a file says which variables have no fill value");
    err = nc_inq_var_fill(nc, bytes, &no_fill, NULL);
    check(err == NC_NOERR && no_fill == 0, "and which have one");
    nc_close(nc);
    if (nc_create_par(path, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &nc) != NC_NOERR)
        MPI_Abort(MPI_COMM_WORLD, 1);
    err = nc_put_att_longlong(nc, NC_GLOBAL, "a", NC_INT64, 1, &(long long){1});
    check(err == NC_EBADTYPE, "a type that a classic file does not have");
    nc_def_dim(nc, "x", 4, &dims[0]);
    nc_def_var(nc, "v", NC_INT, 1, dims, &cube);
    nc_def_dim(nc, "t", NC_UNLIMITED, &dims[1]);
    nc_def_var(nc, "records", NC_INT, 2, (int[]){dims[1], dims[0]}, &unfilled);
    nc_enddef(nc);
    err = nc_put_var1_int(nc, unfilled, (size_t[]){2, 9}, &(int){1});
    nc_inq_dimlen(nc, dims[1], &at);
    check(err == NC_EINVALCOORDS && at == 0, "a put at a wrong index makes no records");
    err = nc_put_var1_text(nc, cube, &(size_t){9}, "x");
    check(err == NC_ECHAR, "text in place of a number, at a wrong index");
    err = nc_def_var(nc, "w", NC_INT, 1, dims, &bytes);
    check(err == NC_ENOTINDEFINE, "a definition outside of define mode");
    nc_redef(nc);
    err = nc_put_att_int(nc, cube, "_FillValue", NC_INT, 1, &(int){5});
    check(err == NC_NOERR, "a fill value of a classic variable that exists");
    nc_close(nc);
}

int main(int argc, char **argv)
{
    int nc, dim, chunked, contiguous, other, collective, compressed, err;
    size_t chunk = CHUNK;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc != 5)
        return 2;
    err = nc_create_par(argv[1], NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);
    check(err == NC_NOERR, "a file is created");
    if (err != NC_NOERR)
        MPI_Abort(MPI_COMM_WORLD, 1);
    nc_def_dim(nc, "x", LENGTH, &dim);
    nc_def_var(nc, "chunked", NC_INT, 1, &dim, &chunked);
    nc_def_var_chunking(nc, chunked, NC_CHUNKED, &chunk);
    nc_def_var(nc, "contiguous", NC_INT, 1, &dim, &contiguous);
    nc_def_var(nc, "other", NC_INT, 1, &dim, &other);
    nc_var_par_access(nc, other, COLLECTIVE);
    nc_def_var(nc, "collective", NC_INT, 1, &dim, &collective);
    nc_def_var_chunking(nc, collective, NC_CHUNKED, &chunk);
    nc_def_var_deflate(nc, collective, 0, 1, 1); /* collective from here on */
    nc_def_var(nc, "compressed", NC_INT, 1, &dim, &compressed);
    check_properties(nc, compressed);
    check_refusals(nc);
    check_groups(nc);
    check(nc_enddef(nc) == NC_NOERR, "definitions end");
    check_independent(nc, chunked, contiguous, other);
    check_waiting(nc, collective);
    check(nc_close(nc) == NC_NOERR, "the file is closed");
    check_other(argv[2]);
    check_strings(argv[3]);
    check_rules(argv[4]);
    MPI_Finalize();
    return 0;
}
