/* Puts and gets attributes of strings, for test_netcdf4_strings.py.
 *
 * netcdf4_strings put FILE: creates the file, and changes it in define mode, in data mode and after it was opened.
 * netcdf4_strings get FILE: prints the strings of all attributes of the file and its variables, one a line.
 * netcdf4_strings copy FILE TO: copies the global attributes to a netCDF-4 file TO and a classic one, TO.classic.
 * netcdf4_strings values FILE: the strings of its variables "names", by each function, and wrong calls.
 * netcdf4_strings refuse FOLDER: calls that fail. A code that is not expected is printed as a line "wrong ..". */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

#include "netcdf4_expect.h"

static void put_strings(const char *path)
{
    const char *three[] = {"good", "", "b\xc3\xa4ume\nund mehr"}, *one[] = {"K"}, *other[] = {"m", "s-1"};
    const char *with_null[] = {"a", NULL, "c"};
    int dimid, varid;

    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    OK(ncmpi_def_dim(ncid, "x", 4, &dimid));
    OK(ncmpi_def_var(ncid, "t", NC_FLOAT, 1, &dimid, &varid));
    OK(ncmpi_put_att_string(ncid, NC_GLOBAL, "three", 3, three));
    OK(ncmpi_put_att_string(ncid, NC_GLOBAL, "one", 1, one));
    OK(ncmpi_put_att(ncid, NC_GLOBAL, "by_type", NC_STRING, 2, other));
    OK(ncmpi_put_att_string(ncid, NC_GLOBAL, "none", 0, NULL));
    OK(ncmpi_put_att_string(ncid, NC_GLOBAL, "with_null", 3, with_null));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", 5, "a\nb c"));
    OK(ncmpi_put_att_string(ncid, NC_GLOBAL, "becomes_text", 2, other));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "becomes_text", 4, "text"));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "becomes_strings", 6, "m\ns-1\n"));
    OK(ncmpi_put_att_string(ncid, NC_GLOBAL, "becomes_strings", 2, other));
    OK(ncmpi_put_att_string(ncid, varid, "units", 1, one));
    OK(ncmpi_enddef(ncid));
    OK(ncmpi_put_att_string(ncid, varid, "units", 2, other));
    OK(ncmpi_close(ncid));
    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
    OK(ncmpi_redef(ncid));
    OK(ncmpi_rename_att(ncid, NC_GLOBAL, "one", "uno"));
    OK(ncmpi_del_att(ncid, NC_GLOBAL, "text"));
    OK(ncmpi_put_att_string(ncid, varid, "late", 3, three));
    OK(ncmpi_enddef(ncid));
    OK(ncmpi_put_att_string(ncid, varid, "late", 1, other));
    OK(ncmpi_close(ncid));
}

static void print_strings(int varid, const char *name)
{
    MPI_Offset n, length;
    nc_type type;
    char **strings;

    OK(ncmpi_inq_att_string(ncid, varid, name, &n));
    OK(ncmpi_inq_att(ncid, varid, name, &type, &length));
    printf("%d %s %lld %d %lld", varid, name, (long long)n, type, (long long)length);
    if (n < 0) {
        expect(ncmpi_get_att_string(ncid, varid, name, NULL), NC_EBADTYPE, "get of what are no strings");
        printf("\n");
        return;
    }
    strings = calloc((size_t)n + 1, sizeof *strings);
    OK(ncmpi_get_att_string(ncid, varid, name, strings));
    for (MPI_Offset i = 0; i < n; i++) {
        printf(" ");
        if (strings[i] == NULL)
            printf("NULL");
        for (const char *c = strings[i]; c != NULL && *c != '\0'; c++)
            printf("%02x", *(const unsigned char *)c);
    }
    printf("\n");
    OK(ncmpi_free_string(n, strings));
    for (MPI_Offset i = 0; i < n; i++)
        expect(strings[i] == NULL ? NC_NOERR : NC_EINVAL, NC_NOERR, "pointers after ncmpi_free_string");
    free(strings);
}

static void get_strings(const char *path)
{
    char name[NC_MAX_NAME + 1];
    int nvars, natts;

    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    OK(ncmpi_inq(ncid, NULL, &nvars, &natts, NULL));
    for (int v = -1; v < nvars && rank == 0; v++) {
        if (v >= 0)
            OK(ncmpi_inq_varnatts(ncid, v, &natts));
        for (int i = 0; i < natts; i++) {
            OK(ncmpi_inq_attname(ncid, v, i, name));
            print_strings(v, name);
        }
    }
    OK(ncmpi_close(ncid));
}

static void copy_strings(const char *path, const char *to, int mode)
{
    char name[NC_MAX_NAME + 1];
    int from, natts;

    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &from));
    OK(ncmpi_create(MPI_COMM_WORLD, to, NC_CLOBBER | mode, MPI_INFO_NULL, &ncid));
    OK(ncmpi_inq_natts(from, &natts));
    for (int i = 0; i < natts; i++) {
        OK(ncmpi_inq_attname(from, NC_GLOBAL, i, name));
        OK(ncmpi_copy_att(from, NC_GLOBAL, name, ncid, NC_GLOBAL));
    }
    OK(ncmpi_close(ncid));
    OK(ncmpi_close(from));
}

static void refuse(const char *folder, int mode, int expected)
{
    const char *one[] = {"K"}, *own[] = {rank == 0 ? "K" : "C"};
    char path[4096];
    int dimid, varid, nprocs;

    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    snprintf(path, sizeof path, "%s/refused_%d.nc", folder, mode);
    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, MPI_INFO_NULL, &ncid));
    OK(ncmpi_def_dim(ncid, "x", 4, &dimid));
    OK(ncmpi_def_var(ncid, "t", NC_CHAR, 1, &dimid, &varid));
    expect(ncmpi_put_att_string(ncid, NC_GLOBAL, "a", 1, one), expected, "put_att_string");
    expect(ncmpi_put_att(ncid, NC_GLOBAL, "a", NC_STRING, 1, one), expected, "put_att of NC_STRING");
    if (expected == NC_NOERR) {
        expect(ncmpi_put_att_string(ncid, varid, "_FillValue", 1, one), NC_EBADTYPE, "_FillValue");
        expect(ncmpi_put_att_string(ncid, varid, "a", -1, one), NC_EINVAL, "-1 strings");
        expect(ncmpi_put_att_string(ncid, varid, "a", 1, NULL), NC_EINVAL, "no strings");
        expect(ncmpi_put_att_string(ncid, 7, "a", 1, one), NC_ENOTVAR, "no variable");
        expect(ncmpi_put_att_string(ncid, varid, "a/b", 1, one), NC_EBADNAME, "a name with a slash");
        expect(ncmpi_put_att_string(ncid, varid, "a", 1, own), nprocs > 1 ? NC_EMULTIDEFINE_ATTR_VAL : NC_NOERR,
               "strings that differ between the ranks");
        expect(ncmpi_free_string(-1, NULL), NC_EINVAL, "-1 strings to free");
    }
    OK(ncmpi_close(ncid));
}

/* What each rank has got, in the order of ranks. */
static void print_values(const char *what, int n, char **strings)
{
    enum { LINE = 400 };
    char line[LINE], *lines = NULL;
    int nprocs, used = snprintf(line, sizeof line, "%d %s:", rank, what);

    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (int i = 0; i < n && used < LINE; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, " [%s]", strings[i] != NULL ? strings[i] : "NULL");
    if (rank == 0)
        lines = malloc((size_t)nprocs * LINE);
    MPI_Gather(line, LINE, MPI_CHAR, lines, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < nprocs; r++) /* mpiexec may mix what ranks print */
        printf("%s\n", lines + (size_t)r * LINE);
    free(lines);
    fflush(stdout);
    OK(ncmpi_free_string(n, strings));
}

/* "log" has 2 records of 3, the unlimited dimension 4. */
static void get_values(const char *path)
{
    const MPI_Offset start[2] = {0, rank % 2}, count[2] = {4, 2}, none[2] = {0, 0}, last[2] = {1, 2},
                     beyond[2] = {4, 0};
    const MPI_Offset negative[2] = {-1, 1}, wide[2] = {1, 4};
    char *got[12] = {NULL};
    int names, log, numbers;

    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    OK(ncmpi_inq_varid(ncid, "names", &names));
    OK(ncmpi_inq_varid(ncid, "log", &log));
    OK(ncmpi_inq_varid(ncid, "numbers", &numbers));
    OK(ncmpi_get_var_string_all(ncid, names, got));
    print_values("names", 3, got);
    OK(ncmpi_get_vara_string_all(ncid, log, start, count, got));
    print_values("log", 8, got);
    OK(ncmpi_get_var1_string_all(ncid, log, last, got));
    print_values("last", 1, got);
    expect(ncmpi_get_var1_string_all(ncid, log, beyond, got), NC_EINVALCOORDS, "beyond the end");
    expect(ncmpi_get_vara_string_all(ncid, log, none, negative, got), NC_ENEGATIVECNT, "a negative count");
    expect(ncmpi_get_vara_string_all(ncid, log, none, wide, got), NC_EEDGE, "too many");
    expect(ncmpi_get_vara_string_all(ncid, log, NULL, wide, got), NC_ENULLSTART, "no start");
    expect(ncmpi_get_var_string_all(ncid, names, NULL), NC_EINVAL, "no buffer");
    expect(ncmpi_get_var_string_all(ncid, numbers, got), NC_EBADTYPE, "numbers as strings");
    expect(ncmpi_get_var_string_all(ncid, 99, got), NC_ENOTVAR, "no variable");
    expect(ncmpi_get_var_string(ncid, names, got), NC_ENOTINDEP, "independent in collective mode");
    OK(ncmpi_begin_indep_data(ncid));
    expect(ncmpi_get_var_string_all(ncid, names, got), NC_EINDEP, "collective in independent mode");
    if (rank == 0) {
        OK(ncmpi_get_vara_string(ncid, log, none, count, got));
        OK(ncmpi_free_string(8, got));
        OK(ncmpi_get_var1_string(ncid, log, last, got));
        OK(ncmpi_free_string(1, got));
    }
    OK(ncmpi_get_var_string(ncid, names, got));
    print_values("alone", 3, got);
    OK(ncmpi_close(ncid));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc == 3 && strcmp(argv[1], "put") == 0) {
        put_strings(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "get") == 0) {
        get_strings(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "values") == 0) {
        get_values(argv[2]);
    } else if (argc == 5 && strcmp(argv[1], "copy") == 0) {
        copy_strings(argv[2], argv[3], NC_NETCDF4);
        copy_strings(argv[2], argv[4], 0);
    } else if (argc == 3 && strcmp(argv[1], "refuse") == 0) {
        refuse(argv[2], 0, NC_EBADTYPE);
        refuse(argv[2], NC_64BIT_DATA, NC_EBADTYPE);
        refuse(argv[2], NC_NETCDF4 | NC_CLASSIC_MODEL, NC_ESTRICTNC3);
        refuse(argv[2], NC_NETCDF4, NC_NOERR);
    }
    MPI_Finalize();
    return 0;
}
