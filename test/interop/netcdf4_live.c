/* Writes a netCDF-4 file record by record, or reads one again and again meanwhile, for test_netcdf4_live.py.
 *
 * netcdf4_live write PATH RECORDS: each record is synced; every tenth time a variable is defined, and an attribute gets
 *     a longer text
 * netcdf4_live read PATH: makes PATH.reading; until PATH.done exists: opens the file anew each time. Prints how often
 *     it could, how often not, the codes of these, the largest number of records, and what was wrong
 *
 * Record r of v has 1000 r + x at each x, and w has r + 1. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { X = 1000, MOST_CODES = 20 };

static int rank, nprocs;

static void require(int err, const char *what)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, ncmpi_strerrno(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- writing --- */

static void add_definitions(int ncid, int number)
{
    char name[32], text[500];
    int dims[2] = {0, 1}, varid, length = 20 * number % (int)sizeof text;

    snprintf(name, sizeof name, "more%d", number);
    memset(text, 'a', sizeof text);
    require(ncmpi_redef(ncid), "redef");
    require(ncmpi_def_var(ncid, name, NC_SHORT, 2, dims, &varid), "def_var");
    require(ncmpi_put_att_text(ncid, varid, "units", 7, "degrees"), "put_att_text");
    require(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", length, text), "put_att_text");
    require(ncmpi_enddef(ncid), "enddef");
}

static void put_record(int ncid, int record)
{
    MPI_Offset first = (MPI_Offset)X * rank / nprocs, end = (MPI_Offset)X * (rank + 1) / nprocs;
    MPI_Offset start[2] = {record, first}, count[2] = {1, end - first}, one[1] = {rank == 0};
    int values[X], number = record + 1;

    for (MPI_Offset x = first; x < end; x++)
        values[x - first] = 1000 * record + (int)x;
    require(ncmpi_put_vara_int_all(ncid, 0, start, count, values), "put v");
    require(ncmpi_put_vara_int_all(ncid, 1, start, one, &number), "put w");
}

static void write_records(const char *path, int records)
{
    int ncid, dims[2], ids[2];

    require(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    require(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]), "def_dim");
    require(ncmpi_def_dim(ncid, "x", X, &dims[1]), "def_dim");
    require(ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &ids[0]), "def_var");
    require(ncmpi_def_var(ncid, "w", NC_INT, 1, dims, &ids[1]), "def_var");
    for (int i = 0; i < 2; i++)
        require(ncmpi_def_var_deflate(ncid, ids[i], 1, 1, 1), "def_var_deflate");
    require(ncmpi_enddef(ncid), "enddef");
    for (int record = 0; record < records; record++) {
        put_record(ncid, record);
        if (record % 10 == 9)
            add_definitions(ncid, record / 10);
        require(ncmpi_sync(ncid), "sync");
    }
    require(ncmpi_close(ncid), "close");
}

/* --- reading --- */

static struct {
    int opened, refused, wrong, ncodes, codes[MOST_CODES];
    MPI_Offset records;
    char what[400];
} seen;

static void note(const char *what, int err)
{
    if (seen.wrong++ == 0)
        snprintf(seen.what, sizeof seen.what, "%s: %s", what, err == NC_NOERR ? "values" : ncmpi_strerror(err));
}

/* An error is one of the file, which changes: a plain refusal. */
static void refuse(int err)
{
    seen.refused++;
    for (int i = 0; i < seen.ncodes; i++)
        if (seen.codes[i] == err)
            return;
    if (seen.ncodes < MOST_CODES)
        seen.codes[seen.ncodes++] = err;
}

/* netCDF-C may write the length of a variable before the index of its chunks: records at the end lack values then. */
static bool is_theirs;

static bool lacks_values(const int *values, MPI_Offset i, MPI_Offset n)
{
    for (; is_theirs && i < n; i++)
        if (values[i] != NC_FILL_INT)
            return false;
    return is_theirs;
}

static int check_values(int ncid, MPI_Offset records)
{
    MPI_Offset start[2] = {records > 3 ? records - 3 : 0, 0}, count[2] = {records - start[0], X}, n = records, from = 0;
    int *values = malloc(sizeof *values * (size_t)(3 * X)), *numbers = malloc(sizeof *numbers * (size_t)(records + 1));
    int err = ncmpi_get_vara_int_all(ncid, 0, start, count, values);

    if (err == NC_NOERR)
        err = ncmpi_get_vara_int_all(ncid, 1, &from, &n, numbers);
    for (MPI_Offset i = 0; err == NC_NOERR && i < count[0] * X; i++)
        if (values[i] != (start[0] + i / X) * 1000 + i % X) {
            if (!lacks_values(values, i, count[0] * X))
                note("v", NC_NOERR);
            break;
        }
    for (MPI_Offset i = 0; err == NC_NOERR && i < n; i++)
        if (numbers[i] != i + 1) {
            if (!lacks_values(numbers, i, n))
                note("w", NC_NOERR);
            break;
        }
    free(values);
    free(numbers);
    return err;
}

static int check_definitions(int ncid)
{
    int nvars = 0, err = ncmpi_inq_nvars(ncid, &nvars);

    for (int i = 2; err == NC_NOERR && i < nvars; i++) {
        char name[NC_MAX_NAME + 1] = "", wanted[32], units[100] = "";

        snprintf(wanted, sizeof wanted, "more%d", i - 2);
        err = ncmpi_inq_varname(ncid, i, name);
        if (err == NC_NOERR)
            err = ncmpi_get_att_text(ncid, i, "units", units);
        if (err != NC_NOERR || strcmp(name, wanted) != 0 || strcmp(units, "degrees") != 0)
            note(wanted, err);
    }
    return err;
}

static void read_once(const char *path)
{
    MPI_Offset records = 0;
    int ncid, err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);

    if (err != NC_NOERR) {
        refuse(err);
        return;
    }
    err = ncmpi_inq_dimlen(ncid, 0, &records);
    if (err == NC_NOERR && records < seen.records)
        note("fewer records than before", NC_NOERR);
    if (err == NC_NOERR)
        err = check_definitions(ncid);
    if (err == NC_NOERR && records > 0)
        err = check_values(ncid, records);
    (void)ncmpi_close(ncid);
    if (err != NC_NOERR) {
        refuse(err);
        return;
    }
    seen.opened++;
    seen.records = records > seen.records ? records : seen.records;
}

static void read_until_done(const char *path)
{
    char done[4096];
    int is_done = 0;
    FILE *mark;

    snprintf(done, sizeof done, "%s.reading", path);
    mark = rank == 0 ? fopen(done, "w") : NULL;
    if (mark != NULL)
        fclose(mark);
    snprintf(done, sizeof done, "%s.done", path);
    while (!is_done) {
        is_done = access(done, F_OK) == 0;
        MPI_Bcast(&is_done, 1, MPI_INT, 0, MPI_COMM_WORLD);
        read_once(path);
    }
    if (rank != 0)
        return;
    printf("%d %d %lld %d", seen.opened, seen.refused, (long long)seen.records, seen.wrong);
    for (int i = 0; i < seen.ncodes; i++)
        printf(" %s", ncmpi_strerrno(seen.codes[i]));
    printf("\n%s\n", seen.what);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    is_theirs = argc == 3 && strcmp(argv[1], "read-theirs") == 0;
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        write_records(argv[2], atoi(argv[3]));
    else if (is_theirs || (argc == 3 && strcmp(argv[1], "read") == 0))
        read_until_done(argv[2]);
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
