/* Defines, puts and gets variables of strings, for test_netcdf4_string_vars.py, which says what the files must have.
 *
 * netcdf4_string_vars put FILE: a new file, in several calls; each rank prints what it gets as lines "wrong ..".
 * netcdf4_string_vars many FILE N [LENGTH]: a variable of N strings of about 100 bytes, of which each rank puts a part;
 *     or of N x 1 strings of LENGTH bytes.
 * netcdf4_string_vars append FILE: puts into "names" and "log" of a file that exists, and adds a variable.
 * netcdf4_string_vars refuse FOLDER FILE: calls that fail; FILE has strings "fixed" of one length.
 * netcdf4_string_vars full FILE: the file cannot grow while strings are put; then it can.
 * netcdf4_string_vars live FILE: rank 1 opens the file and gets all strings, again and again, while rank 0 replaces
 *     them by others, and syncs. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pnetcdf.h"

#include "netcdf4_expect.h"

enum { X = 5, OWN = 8, BYTES = 64, LONG = 3000000 };

static int nprocs;

static void expect_text(const char *found, const char *expected, const char *what)
{
    if (found != NULL ? expected != NULL && strcmp(found, expected) == 0 : expected == NULL)
        return;
    printf("wrong: rank %d: %s: %.80s, expected %.80s\n", rank, what, found, expected);
    fflush(stdout);
}

/* One text at a time, which the caller may keep until many others are made. */
static const char *make_text(const char *kind, int a, int b)
{
    static char texts[64][BYTES];
    static int next;

    next = (next + 1) % 64;
    snprintf(texts[next], BYTES, "%s %d.%d \xc3\xa4", kind, a, b);
    return texts[next];
}

/* --- put --- */

static void define(int *varids)
{
    const char *missing = "missing";
    const MPI_Offset two[] = {2};
    int x, time, own, dims[2];
    char *fill = NULL;

    OK(ncmpi_def_dim(ncid, "x", X, &x));
    OK(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time));
    OK(ncmpi_def_dim(ncid, "own", OWN, &own));
    OK(ncmpi_def_grp(ncid, "group"));
    OK(ncmpi_def_var(ncid, "names", NC_STRING, 1, &x, &varids[0]));
    dims[0] = time;
    dims[1] = x;
    OK(ncmpi_def_var(ncid, "log", NC_STRING, 2, dims, &varids[1]));
    OK(ncmpi_def_var(ncid, "one", NC_STRING, 0, NULL, &varids[2]));
    OK(ncmpi_def_var(ncid, "filled", NC_STRING, 1, &x, &varids[3]));
    OK(ncmpi_put_att_string(ncid, varids[3], "_FillValue", 1, &missing));
    OK(ncmpi_def_var(ncid, "by_call", NC_STRING, 1, &x, &varids[4]));
    OK(ncmpi_def_var_fill(ncid, varids[4], 0, &missing));
    OK(ncmpi_inq_var_fill(ncid, varids[4], NULL, &fill));
    expect_text(fill, missing, "fill value");
    OK(ncmpi_free_string(1, &fill));
    OK(ncmpi_def_var_chunking(ncid, varids[4], NC_CHUNKED, two));
    OK(ncmpi_def_var(ncid, "group/inner", NC_STRING, 1, &own, &varids[5]));
    OK(ncmpi_def_var(ncid, "numbers", NC_INT, 1, &time, &varids[6]));
    OK(ncmpi_def_var_deflate(ncid, varids[6], 1, 1, 1));
    OK(ncmpi_def_var(ncid, "long", NC_STRING, 1, &time, &varids[7]));
}

static void put_records(int varid)
{
    const MPI_Offset start[] = {2 * rank, 0}, count[] = {2, X};
    const char *texts[2 * X];
    char *found[X];

    for (int i = 0; i < 2 * X; i++)
        texts[i] = i == 3 ? NULL : make_text("log", 2 * rank + i / X, i % X);
    OK(ncmpi_put_vara_string_all(ncid, varid, start, count, texts));
    OK(ncmpi_get_vara_string_all(ncid, varid, (MPI_Offset[]){(2 * rank + 2) % (2 * nprocs), 0}, (MPI_Offset[]){1, X},
                                 found));
    for (int i = 0; i < X; i++)
        expect_text(found[i], i == 3 ? NULL : make_text("log", (2 * rank + 2) % (2 * nprocs), i),
                    "a record of another");
    OK(ncmpi_free_string(X, found));
}

/* Each rank has values of its own, sees them, and the others after that. */
static void put_independently(int varid)
{
    MPI_Offset at = rank;
    const char *text = make_text("first", rank, 0), *again = make_text("own", rank, 0);
    char *found = NULL, *all[OWN];

    OK(ncmpi_begin_indep_data(ncid));
    OK(ncmpi_put_var1_string(ncid, varid, &at, &text));
    OK(ncmpi_put_vara_string(ncid, varid, &at, (MPI_Offset[]){1}, &again));
    OK(ncmpi_get_var1_string(ncid, varid, &at, &found));
    expect_text(found, again, "what waits");
    OK(ncmpi_free_string(1, &found));
    OK(ncmpi_end_indep_data(ncid));
    OK(ncmpi_get_var_string_all(ncid, varid, all));
    for (int i = 0; i < OWN; i++)
        expect_text(all[i], i < nprocs ? make_text("own", i, 0) : "", "values of all ranks");
    OK(ncmpi_free_string(OWN, all));
}

static void put_long(int varid)
{
    MPI_Offset at = 2 * nprocs, one = rank == nprocs - 1;
    char *text = malloc(LONG + 1);
    const char *values[] = {text};

    memset(text, 'a' + nprocs, LONG);
    text[LONG] = '\0';
    OK(ncmpi_put_vara_string_all(ncid, varid, &at, &one, values));
    free(text);
}

static void put_file(const char *path)
{
    const char *names[X], *scalar = "alone", *late = "late";
    const MPI_Offset second = 1;
    const int numbers[] = {rank, -rank};
    int varids[8], added, x;

    for (int i = 0; i < X; i++)
        names[i] = make_text("name", i, 0);
    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    define(varids);
    OK(ncmpi_enddef(ncid));
    OK(ncmpi_put_var_string_all(ncid, varids[0], names));
    put_records(varids[1]);
    OK(ncmpi_put_vara_int_all(ncid, varids[6], (MPI_Offset[]){2 * rank}, (MPI_Offset[]){2}, numbers));
    OK(ncmpi_put_var1_string_all(ncid, varids[2], NULL, &scalar));
    OK(ncmpi_put_var1_string_all(ncid, varids[3], &second, &scalar));
    OK(ncmpi_sync(ncid));
    OK(ncmpi_put_var1_string_all(ncid, varids[4], &second, &scalar));
    put_independently(varids[5]);
    OK(ncmpi_redef(ncid));
    OK(ncmpi_inq_dimid(ncid, "x", &x));
    OK(ncmpi_def_var(ncid, "added", NC_STRING, 1, &x, &added));
    OK(ncmpi_enddef(ncid));
    OK(ncmpi_put_var1_string_all(ncid, added, &second, &late));
    put_long(varids[7]);
    OK(ncmpi_close(ncid));
}

/* --- many --- */

static void put_many(const char *path, int n, int length)
{
    const int first = (int)((long long)n * rank / nprocs), end = (int)((long long)n * (rank + 1) / nprocs);
    char *bytes = malloc((size_t)(end - first) * 128);
    const char **texts = malloc((size_t)(end - first) * sizeof *texts);
    int dims[2], varid;

    for (int i = first; i < end; i++) {
        char *text = bytes + (size_t)(i - first) * 128;

        snprintf(text, 128, "%0*d", (length > 0 ? length : 60 + i % 60) % 128, i);
        texts[i - first] = text;
    }
    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    OK(ncmpi_def_dim(ncid, "n", n, &dims[0]));
    OK(ncmpi_def_dim(ncid, "one", 1, &dims[1]));
    OK(ncmpi_def_var(ncid, "many", NC_STRING, length > 0 ? 2 : 1, dims, &varid));
    OK(ncmpi_enddef(ncid));
    OK(ncmpi_put_vara_string_all(ncid, varid, (MPI_Offset[]){first, 0}, (MPI_Offset[]){end - first, 1}, texts));
    OK(ncmpi_close(ncid));
    free(texts);
    free(bytes);
}

/* --- append --- */

static void append(const char *path)
{
    const char *name = "new name", *row[X];
    MPI_Offset at = 1, records, start[] = {0, 0}, count[] = {1, X};
    int names, log, x, time, later;

    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
    OK(ncmpi_inq_varid(ncid, "names", &names));
    OK(ncmpi_inq_varid(ncid, "log", &log));
    OK(ncmpi_put_var1_string_all(ncid, names, &at, &name));
    OK(ncmpi_inq_dimid(ncid, "time", &time));
    OK(ncmpi_inq_dimlen(ncid, time, &records));
    start[0] = records + rank;
    for (int i = 0; i < X; i++)
        row[i] = make_text("append", rank, i);
    OK(ncmpi_put_vara_string_all(ncid, log, start, count, row));
    OK(ncmpi_redef(ncid));
    OK(ncmpi_inq_dimid(ncid, "x", &x));
    OK(ncmpi_def_var(ncid, "later", NC_STRING, 1, &x, &later));
    OK(ncmpi_enddef(ncid));
    OK(ncmpi_put_var_string_all(ncid, later, row));
    OK(ncmpi_close(ncid));
}

/* --- calls that fail --- */

static void refuse_definitions(const char *path, int mode, int expected)
{
    int x, varid;

    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, MPI_INFO_NULL, &ncid));
    OK(ncmpi_def_dim(ncid, "x", X, &x));
    expect(ncmpi_def_var(ncid, "v", NC_STRING, 1, &x, &varid), expected, "def_var of NC_STRING");
    OK(ncmpi_close(ncid));
}

static void refuse_storage(int varid)
{
    const char *none = NULL;
    const int level = 1;

    expect(ncmpi_def_var_deflate(ncid, varid, 0, 1, 1), NC_EFILTER, "deflate");
    expect(ncmpi_def_var_deflate(ncid, varid, 1, 0, 0), NC_EFILTER, "shuffle");
    expect(ncmpi_def_var_fletcher32(ncid, varid, 1), NC_EFILTER, "fletcher32");
    expect(ncmpi_def_var_filter(ncid, varid, 1, 1, (const unsigned *)&level), NC_EFILTER, "a filter");
    expect(ncmpi_def_var_endian(ncid, varid, NC_ENDIAN_BIG), NC_EINVAL, "byte order");
    expect(ncmpi_def_var_quantize(ncid, varid, NC_QUANTIZE_BITGROOM, 3), NC_EINVAL, "quantization");
    expect(ncmpi_def_var_fill(ncid, varid, 1, NULL), NC_EINVAL, "no fill value");
    expect(ncmpi_def_var_fill(ncid, varid, 0, &none), NC_EINVAL, "NULL as fill value");
    expect(ncmpi_put_att_text(ncid, varid, "_FillValue", 1, "a"), NC_EBADTYPE, "a text as fill value");
    expect(ncmpi_put_var_string_all(ncid, varid, NULL), NC_EINDEFINE, "a put in define mode");
}

/* One rank has wrong arguments: no rank puts. */
static void refuse_on_one_rank(int varid)
{
    const bool is_wrong = rank == nprocs - 1;
    const MPI_Offset start = is_wrong ? X : rank, one = 1;
    const char *text = "not put";
    int err = ncmpi_put_vara_string_all(ncid, varid, &start, &one, &text);

    expect(err, NC_EINVALCOORDS, "a start that is too large on one rank");
    err = ncmpi_put_vara_string_all(ncid, is_wrong ? 99 : varid, &(MPI_Offset){0}, &one, &text);
    expect(err, NC_ENOTVAR, "no such variable on one rank");
    err = ncmpi_put_vara_string_all(ncid, varid, &(MPI_Offset){0}, &one, is_wrong ? NULL : &text);
    expect(err, NC_EINVAL, "no strings on one rank");
    err = ncmpi_get_vara_string_all(ncid, varid, &(MPI_Offset){0}, &one, is_wrong ? NULL : (char *[]){NULL});
    expect(err, NC_EINVAL, "no memory for a get on one rank");
}

static void refuse_puts(int varid, int numbers)
{
    const MPI_Offset start = 3, negative = -1, three = 3, none = 0;
    const char *texts[] = {"a", "b", "c"};
    const int number = 1;

    expect(ncmpi_put_vara_string_all(ncid, varid, &start, &three, texts), NC_EEDGE, "beyond the end");
    expect(ncmpi_put_vara_string_all(ncid, varid, &negative, &three, texts), NC_EINVALCOORDS, "a negative start");
    expect(ncmpi_put_vara_string_all(ncid, varid, &start, &negative, texts), NC_ENEGATIVECNT, "a negative count");
    expect(ncmpi_put_vara_string_all(ncid, varid, NULL, &three, texts), NC_ENULLSTART, "no start");
    expect(ncmpi_put_vara_string_all(ncid, varid, &start, NULL, texts), NC_ENULLCOUNT, "no count");
    expect(ncmpi_put_vara_string_all(ncid, varid, &start, &none, NULL), NC_NOERR, "no values");
    expect(ncmpi_put_var_string_all(ncid, numbers, texts), NC_EBADTYPE, "strings for numbers");
    expect(ncmpi_put_var1_int_all(ncid, varid, &none, &number), NC_EBADTYPE, "a number for a string");
    expect(ncmpi_put_var1_string(ncid, varid, &none, texts), NC_ENOTINDEP, "an independent put");
    expect(ncmpi_fill_var_rec(ncid, varid, 0), NC_ENOTRECVAR, "a record of strings");
}

static void refuse(const char *folder, const char *other)
{
    const char *text = "not put";
    char path[4096];
    int x, varid, numbers;

    snprintf(path, sizeof path, "%s/refused_%d.nc", folder, nprocs);
    refuse_definitions(path, NC_64BIT_DATA, NC_EBADTYPE);
    refuse_definitions(path, NC_NETCDF4 | NC_CLASSIC_MODEL, NC_ESTRICTNC3);
    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    OK(ncmpi_def_dim(ncid, "x", X, &x));
    OK(ncmpi_def_var(ncid, "v", NC_STRING, 1, &x, &varid));
    OK(ncmpi_def_var(ncid, "numbers", NC_INT, 1, &x, &numbers));
    refuse_storage(varid);
    OK(ncmpi_enddef(ncid));
    refuse_puts(varid, numbers);
    refuse_on_one_rank(varid);
    OK(ncmpi_close(ncid));
    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    expect(ncmpi_put_var1_string_all(ncid, varid, &(MPI_Offset){0}, &text), NC_EPERM, "a file that is only read");
    OK(ncmpi_close(ncid));
    OK(ncmpi_open(MPI_COMM_WORLD, other, NC_WRITE, MPI_INFO_NULL, &ncid));
    OK(ncmpi_inq_varid(ncid, "fixed", &varid));
    expect(ncmpi_put_var1_string_all(ncid, varid, &(MPI_Offset){0}, &text), NC_ENOTSUPPORT, "strings of one length");
    OK(ncmpi_close(ncid));
}

/* --- a file that cannot grow --- */

static void limit_size(const char *path, bool is_limited)
{
    struct rlimit limit;
    struct stat facts;

    getrlimit(RLIMIT_FSIZE, &limit);
    if (is_limited && stat(path, &facts) == 0)
        limit.rlim_cur = (rlim_t)facts.st_size;
    else
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void fill_disk(const char *path)
{
    const MPI_Offset at = rank, one = 1;
    const char *before = "before", *after = make_text("after", rank, 0);
    char copy[4200], *found = NULL;
    int own, varid;

    signal(SIGXFSZ, SIG_IGN);
    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    OK(ncmpi_def_dim(ncid, "own", OWN, &own));
    OK(ncmpi_def_var(ncid, "v", NC_STRING, 1, &own, &varid));
    OK(ncmpi_enddef(ncid));
    OK(ncmpi_put_vara_string_all(ncid, varid, &at, &one, &before));
    OK(ncmpi_sync(ncid));
    limit_size(path, true);
    OK(ncmpi_put_vara_string_all(ncid, varid, &at, &one, &after));
    if (ncmpi_sync(ncid) == NC_NOERR)
        expect(NC_NOERR, NC_EWRITE, "a sync of a file that cannot grow");
    limit_size(path, false);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(copy, sizeof copy, "cp %s %s.failed", path, path);
    if (rank == 0 && system(copy) != 0)
        printf("wrong: no copy\n");
    MPI_Barrier(MPI_COMM_WORLD);
    OK(ncmpi_get_var1_string_all(ncid, varid, &at, &found));
    expect_text(found, after, "a string after the failure");
    OK(ncmpi_free_string(1, &found));
    OK(ncmpi_sync(ncid));
    OK(ncmpi_close(ncid));
}

/* --- two programs --- */

enum { LIVE = 2000, PART = 50, COMMITS = 300 };

/* A part of the strings at a time, by others of another length: heaps are divided in another way each time. */
static void replace_live(const char *path)
{
    static char texts[LIVE][40];
    const char *strings[LIVE];
    int dimid, varid;

    OK(ncmpi_create(MPI_COMM_SELF, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    OK(ncmpi_def_dim(ncid, "n", LIVE, &dimid));
    OK(ncmpi_def_var(ncid, "v", NC_STRING, 1, &dimid, &varid));
    OK(ncmpi_enddef(ncid));
    for (int k = 0; k < COMMITS; k++) {
        const MPI_Offset start = k == 0 ? 0 : k * PART % LIVE, count = k == 0 ? LIVE : PART;

        for (int i = 0; i < (int)count; i++) {
            snprintf(texts[i], sizeof texts[i], "element %d.%0*d", (int)start + i, 1 + k % 9, k);
            strings[i] = texts[i];
        }
        OK(ncmpi_put_vara_string_all(ncid, varid, &start, &count, strings));
        OK(ncmpi_sync(ncid));
        if (k == 0)
            MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        usleep(k % 4 == 0 ? 50000 : 0);
    }
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    OK(ncmpi_close(ncid));
}

static bool has_elements(char *const *found)
{
    char begin[32];
    int bad = -1;

    for (int i = 0; i < LIVE && bad < 0; i++) {
        snprintf(begin, sizeof begin, "element %d.", i);
        if (found[i] == NULL || strncmp(found[i], begin, strlen(begin)) != 0)
            bad = i;
    }
    if (bad >= 0)
        printf("wrong: element %d is %.40s\n", bad, found[bad] != NULL ? found[bad] : "NULL");
    return bad < 0;
}

/* A file that is written just now may be refused. */
static void read_live(const char *path)
{
    char *found[LIVE];
    int nright = 0, is_done = 0, varid, err;

    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!is_done) {
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_done, MPI_STATUS_IGNORE);
        err = ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
        if (err == NC_NOERR) {
            OK(ncmpi_inq_varid(ncid, "v", &varid));
            err = ncmpi_get_var_string_all(ncid, varid, found);
            if (err == NC_NOERR) {
                nright += has_elements(found);
                OK(ncmpi_free_string(LIVE, found));
            }
            OK(ncmpi_close(ncid));
        }
        if (err != NC_NOERR)
            expect(err, NC_EINTERRUPTED, "a file that is written just now");
    }
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (nright == 0)
        printf("wrong: no strings could be read\n");
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (strcmp(kind, "put") == 0)
        put_file(argv[2]);
    else if (strcmp(kind, "many") == 0)
        put_many(argv[2], atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
    else if (strcmp(kind, "append") == 0)
        append(argv[2]);
    else if (strcmp(kind, "refuse") == 0)
        refuse(argv[2], argv[3]);
    else if (strcmp(kind, "full") == 0)
        fill_disk(argv[2]);
    else if (strcmp(kind, "live") == 0 && rank == 0)
        replace_live(argv[2]);
    else if (strcmp(kind, "live") == 0 && rank == 1)
        read_live(argv[2]);
    MPI_Finalize();
    return 0;
}
