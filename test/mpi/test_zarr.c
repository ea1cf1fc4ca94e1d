/* Zarr stores, by the hint nc_format: all types, scalars, records, blocks of ranks that cross chunks and shards,
 * several steps, appending, on any number of ranks; and what a store refuses. test/interop/test_zarr_store.py runs this
 * program with "keep", and compares what zarr and xarray read with the same formula. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pnetcdf.h"

#include "../harness.h"

enum {
    Y = 37,
    X = 53,
    TYPES = 11,
    FIRST_RECORDS = 5,
    RECORDS = 9,
    FIXED = 0,
    RECORD = 1,
    SCALAR = 2,
    MOST = Y * X,
    LENGTH = 12
};

static const struct {
    int type;
    const char *name;
} types[TYPES] = {{NC_BYTE, "byte"},   {NC_CHAR, "char"},     {NC_SHORT, "short"},  {NC_INT, "int"},
                  {NC_FLOAT, "float"}, {NC_DOUBLE, "double"}, {NC_UBYTE, "ubyte"},  {NC_USHORT, "ushort"},
                  {NC_UINT, "uint"},   {NC_INT64, "int64"},   {NC_UINT64, "uint64"}};
static const char *const kinds[] = {"fixed", "record", "scalar"};

static int ids[TYPES][3];
static bool keeps;

/* Of an element of a variable: 33 to 122, so that all types have it, also as a character. */
static int value_of(int type, int kind, long element)
{
    return (int)(33 + (element * 7 + type * 13 + kind * 5 + element / 61) % 90);
}

static bool is_good(int err, const char *what)
{
    return t_local(err == NC_NOERR, "%s: %s", what, ncmpi_strerror(err));
}
#define DO(call) (good = is_good(call, #call) && good)

static MPI_Info make_info(const char *shards, const char *compression)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_format", "zarr");
    if (shards != NULL)
        MPI_Info_set(info, "nc_shards", shards);
    if (compression != NULL)
        MPI_Info_set(info, "nc_compression", compression);
    return info;
}

/* --- blocks --- */

/* Columns of this rank, which cross chunks. */
static void find_block(MPI_Offset *start, MPI_Offset *count)
{
    start[0] = 0;
    count[0] = Y;
    start[1] = X * t_rank / t_nprocs;
    count[1] = X * (t_rank + 1) / t_nprocs - start[1];
}

static long element_of(MPI_Offset record, const MPI_Offset *start, const MPI_Offset *count, long i)
{
    return (long)(record * MOST + (start[0] + i / count[1]) * X + start[1] + i % count[1]);
}

/* A block of a record, or of a variable without records; -1: of a scalar. */
static int put_block(int ncid, int type, int kind, MPI_Offset record, bool collective)
{
    MPI_Offset start[3] = {record}, count[3] = {1}, *s = kind == RECORD ? start : start + 1;
    MPI_Offset *c = kind == RECORD ? count : count + 1;
    static double values[MOST];
    static char texts[MOST];

    find_block(start + 1, count + 1);
    for (long i = 0; i < (kind == SCALAR ? 1 : count[1] * count[2]); i++) {
        long element = kind == SCALAR ? 0 : element_of(kind == RECORD ? record : 0, start + 1, count + 1, i);

        values[i] = value_of(type, kind, element);
        texts[i] = (char)value_of(type, kind, element);
    }
    if (types[type].type == NC_CHAR)
        return collective ? ncmpi_put_vara_text_all(ncid, ids[type][kind], s, c, texts)
                          : ncmpi_put_vara_text(ncid, ids[type][kind], s, c, texts);
    return collective ? ncmpi_put_vara_double_all(ncid, ids[type][kind], s, c, values)
                      : ncmpi_put_vara_double(ncid, ids[type][kind], s, c, values);
}

/* Rows that another rank has put in part. */
static bool check_rows(int ncid, int type, int kind, MPI_Offset record, bool collective)
{
    MPI_Offset start[3] = {record, Y * t_rank / t_nprocs, 0}, count[3] = {1, Y * (t_rank + 1) / t_nprocs - start[1], X};
    MPI_Offset *s = kind == RECORD ? start : start + 1, *c = kind == RECORD ? count : count + 1;
    static double values[MOST];
    static char texts[MOST];
    int id = ids[type][kind], err;
    bool good = true;

    if (types[type].type == NC_CHAR)
        err = collective ? ncmpi_get_vara_text_all(ncid, id, s, c, texts) : ncmpi_get_vara_text(ncid, id, s, c, texts);
    else
        err = collective ? ncmpi_get_vara_double_all(ncid, id, s, c, values)
                         : ncmpi_get_vara_double(ncid, id, s, c, values);
    for (long i = 0; i < (kind == SCALAR ? 1 : count[1] * count[2]) && good; i++) {
        long element = kind == SCALAR ? 0 : element_of(kind == RECORD ? record : 0, start + 1, count + 1, i);
        int found = types[type].type == NC_CHAR ? texts[i] : (int)values[i];

        good = t_local(found == value_of(type, kind, element), "%s_%s, element %ld: %d", types[type].name, kinds[kind],
                       element, found);
    }
    return is_good(err, "get") && good;
}

/* --- a store --- */

static bool define_vars(int ncid)
{
    const MPI_Offset chunks[] = {2, 10, 9};
    int dimids[3], x, time;
    bool good = true;
    float fill = -1;
    char name[64];

    DO(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dimids[0]));
    DO(ncmpi_def_dim(ncid, "y", Y, &dimids[1]));
    DO(ncmpi_def_dim(ncid, "x", X, &dimids[2]));
    DO(ncmpi_def_var(ncid, "x", NC_DOUBLE, 1, &dimids[2], &x));
    DO(ncmpi_put_att_text(ncid, x, "units", 1, "m"));
    DO(ncmpi_def_var(ncid, "time", NC_DOUBLE, 1, dimids, &time));
    DO(ncmpi_put_att_text(ncid, time, "units", 21, "days since 2001-01-01"));
    for (int i = 0; i < TYPES; i++)
        for (int kind = 0; kind < 3; kind++) {
            snprintf(name, sizeof name, "%s_%s", types[i].name, kinds[kind]);
            DO(ncmpi_def_var(ncid, name, types[i].type, 2 - 2 * (kind == SCALAR) + (kind == RECORD),
                             kind == RECORD ? dimids : dimids + 1, &ids[i][kind]));
            if (kind != SCALAR)
                DO(ncmpi_def_var_chunking(ncid, ids[i][kind], NC_CHUNKED, kind == RECORD ? chunks : chunks + 1));
        }
    DO(ncmpi_put_att_float(ncid, ids[4][RECORD], "_FillValue", NC_FLOAT, 1, &fill));
    DO(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "a box"));
    DO(ncmpi_put_att_int(ncid, NC_GLOBAL, "numbers", NC_INT, 3, (const int[]){1, 2, 3}));
    return good;
}

static bool find_vars(int ncid)
{
    bool good = true;
    char name[64];

    for (int i = 0; i < TYPES; i++)
        for (int kind = 0; kind < 3; kind++) {
            snprintf(name, sizeof name, "%s_%s", types[i].name, kinds[kind]);
            DO(ncmpi_inq_varid(ncid, name, &ids[i][kind]));
        }
    return good;
}

static bool put_coordinates(int ncid, MPI_Offset first, MPI_Offset n)
{
    double values[X];
    bool good = true;
    int varid;

    for (int i = 0; i < X; i++)
        values[i] = 0.5 * i;
    DO(ncmpi_inq_varid(ncid, "x", &varid));
    DO(ncmpi_put_var_double_all(ncid, varid, values));
    for (int i = 0; i < n; i++)
        values[i] = (double)first + i;
    DO(ncmpi_inq_varid(ncid, "time", &varid));
    DO(ncmpi_put_vara_double_all(ncid, varid, &first, &n, values));
    return good;
}

/* A sync in each second step. */
static bool put_records(int ncid, int first, int end)
{
    bool good = put_coordinates(ncid, first, end - first);

    for (int record = first; record < end; record++) {
        for (int i = 0; i < TYPES; i++)
            DO(put_block(ncid, i, RECORD, record, true));
        if (record % 2 == 0)
            DO(ncmpi_sync(ncid));
    }
    return good;
}

static bool create_store(const char *path, MPI_Info info)
{
    bool good = true;
    int ncid;

    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid));
    good = define_vars(ncid) && good;
    DO(ncmpi_enddef(ncid));
    for (int i = 0; i < TYPES; i++) {
        DO(put_block(ncid, i, FIXED, 0, true));
        DO(put_block(ncid, i, SCALAR, 0, true));
    }
    good = put_records(ncid, 0, FIRST_RECORDS) && good;
    DO(ncmpi_close(ncid));
    return good;
}

/* Also by independent puts, and a definition. */
static bool append_store(const char *path)
{
    bool good = true;
    int ncid, varid;

    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
    good = find_vars(ncid) && put_records(ncid, FIRST_RECORDS, RECORDS - 2) && good;
    DO(ncmpi_begin_indep_data(ncid));
    for (int i = 0; i < TYPES; i++)
        DO(put_block(ncid, i, RECORD, RECORDS - 2, false));
    DO(ncmpi_end_indep_data(ncid));
    DO(ncmpi_redef(ncid));
    DO(ncmpi_def_var(ncid, "later", NC_INT, 0, NULL, &varid));
    DO(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 8, "appended"));
    DO(ncmpi_enddef(ncid));
    DO(ncmpi_put_var_int_all(ncid, varid, &(int){77}));
    good = put_records(ncid, RECORDS - 1, RECORDS) && put_coordinates(ncid, RECORDS - 2, 1) && good;
    DO(ncmpi_sync(ncid));
    DO(ncmpi_redef(ncid)); /* nothing else changes: the root has it, too */
    DO(ncmpi_put_att_text(ncid, 0, "comment", 5, "later"));
    DO(ncmpi_enddef(ncid));
    DO(ncmpi_close(ncid));
    return good;
}

static bool check_definitions(int ncid, int records)
{
    int ndims, nvars, ngatts, unlimited, type, format;
    MPI_Offset length;
    bool good = true;
    char text[64] = "";

    DO(ncmpi_inq(ncid, &ndims, &nvars, &ngatts, &unlimited));
    good = t_local(ndims == 3 && nvars >= 2 + 3 * TYPES && ngatts >= 2 && unlimited == 0,
                   "%d dimensions, %d variables, %d attributes, unlimited %d", ndims, nvars, ngatts, unlimited) &&
           good;
    DO(ncmpi_inq_dimlen(ncid, 0, &length));
    good = t_local(length == records, "%d records", (int)length) && good;
    DO(ncmpi_inq_format(ncid, &format));
    good = t_local(format == NC_FORMAT_NETCDF4, "format %d", format) && good;
    for (int i = 0; i < TYPES; i++) {
        DO(ncmpi_inq_vartype(ncid, ids[i][RECORD], &type));
        good = t_local(type == types[i].type, "type %d of %s", type, types[i].name) && good;
    }
    if (records == RECORDS) {
        DO(ncmpi_get_att_text(ncid, 0, "comment", text));
        good = t_local(strncmp(text, "later", 5) == 0, "comment: %.5s", text) && good;
    }
    DO(ncmpi_get_att_text(ncid, NC_GLOBAL, "title", text));
    return t_local(strncmp(text, "a box", 5) == 0, "title: %.5s", text) && good;
}

static bool check_store(const char *path, int records, bool collective)
{
    bool good = true;
    int ncid, format = 0;

    DO(ncmpi_inq_file_format(path, &format));
    good = t_local(format == NC_FORMAT_NETCDF4, "format %d", format) && good;
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    good = find_vars(ncid) && check_definitions(ncid, records) && good;
    if (!collective)
        DO(ncmpi_begin_indep_data(ncid));
    for (int i = 0; i < TYPES; i++) {
        good = check_rows(ncid, i, FIXED, 0, collective) && check_rows(ncid, i, SCALAR, 0, collective) && good;
        for (int record = 0; record < records; record++)
            good = check_rows(ncid, i, RECORD, record, collective) && good;
    }
    DO(ncmpi_close(ncid));
    return good;
}

static void test_store(const char *name, const char *shards, const char *compression)
{
    const char *path = t_path(name);
    MPI_Info info = make_info(shards, compression);

    t_check(create_store(path, info), "%s: create", name);
    t_check(check_store(path, FIRST_RECORDS, true), "%s: collective gets", name);
    t_check(append_store(path), "%s: append", name);
    t_check(check_store(path, RECORDS, true) && check_store(path, RECORDS, false), "%s: all gets", name);
    MPI_Info_free(&info);
}

/* --- folders --- */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void test_folders(void)
{
    MPI_Info info = make_info(NULL, NULL);
    char path[4096], inside[4200];
    int ncid, err;

    snprintf(path, sizeof path, "%s", t_path("folder.zarr"));
    snprintf(inside, sizeof inside, "%s/mine.txt", path);
    if (t_rank == 0) {
        FILE *f = mkdir(path, 0777) == 0 ? fopen(inside, "w") : NULL;

        t_local(f != NULL && fclose(f) == 0, "a folder with a file");
    }
    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid);
    t_check(err == NC_EBAD_FILE && exists(inside), "a folder that is no store is not replaced: %s",
            ncmpi_strerrno(err));
    err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    t_check(err == NC_EBAD_FILE, "nor opened: %s", ncmpi_strerrno(err));
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        (void)unlink(inside);
    MPI_Barrier(MPI_COMM_WORLD);
    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid);
    t_check(err == NC_NOERR && ncmpi_close(ncid) == NC_NOERR, "an empty one is: %s", ncmpi_strerrno(err));
    err = ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, info, &ncid);
    t_check(err == NC_EEXIST, "NC_NOCLOBBER: %s", ncmpi_strerrno(err));
    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid);
    t_check(err == NC_NOERR && ncmpi_abort(ncid) == NC_NOERR && !exists(path), "ncmpi_abort removes a new store: %s",
            ncmpi_strerrno(err));
    MPI_Info_free(&info);
}

/* Chunks that are put again and again take a new place each time, until most of the shard are old ones. */
static void test_garbage(void)
{
    enum { COLUMNS = 16384, CHUNK_BYTES = 4 * COLUMNS, TIMES = 60 };
    static int values[2 * COLUMNS];
    const MPI_Offset chunks[2] = {1, COLUMNS};
    const char *path = t_path("garbage.zarr");
    MPI_Info info = make_info(NULL, NULL);
    MPI_Offset start[2] = {0, COLUMNS * t_rank / t_nprocs},
               count[2] = {2, COLUMNS * (t_rank + 1) / t_nprocs - start[1]};
    int ncid, dimids[2], varid;
    struct stat facts = {.st_size = 0};
    char shard[4200];
    bool good = true;

    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid));
    DO(ncmpi_def_dim(ncid, "y", 2, &dimids[0]));
    DO(ncmpi_def_dim(ncid, "x", COLUMNS, &dimids[1]));
    DO(ncmpi_def_var(ncid, "v", NC_INT, 2, dimids, &varid));
    DO(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunks));
    DO(ncmpi_enddef(ncid));
    for (int k = 0; k < TIMES; k++) {
        for (int i = 0; i < 2 * COLUMNS; i++)
            values[i] = k + i;
        DO(ncmpi_put_vara_int_all(ncid, varid, start, count, values));
        DO(ncmpi_sync(ncid));
    }
    DO(ncmpi_close(ncid));
    snprintf(shard, sizeof shard, "%s/v/c.0.0", path);
    good = t_local(stat(shard, &facts) == 0 && facts.st_size < 3 * 2 * CHUNK_BYTES + (1 << 20), "a shard of %lld bytes",
                   (long long)facts.st_size) &&
           good;
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    memset(values, 0, sizeof values);
    DO(ncmpi_get_vara_int_all(ncid, varid, start, count, values));
    for (int i = 0; i < 2 * (int)count[1] && good; i++)
        good = t_local(values[i] == TIMES - 1 + i, "value %d: %d", i, values[i]);
    DO(ncmpi_close(ncid));
    t_check(good, "chunks that are put %d times", TIMES);
    MPI_Info_free(&info);
}

static int count_files(const char *folder)
{
    DIR *open = opendir(folder);
    int n = 0;

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;)
        n += strncmp(entry->d_name, "c.", 2) == 0;
    if (open != NULL)
        closedir(open);
    return n;
}

/* Shards that the program chooses are files of so many values; the hint does not change them. */
/* Whole records, which threads compress while the program goes on; the first one is put again. */
static void test_behind(void)
{
    enum { COLUMNS = 30000, RECORDS_PUT = 6, CHUNKS = 3 };
    const MPI_Offset chunks[2] = {1, COLUMNS / CHUNKS};
    MPI_Offset start[2] = {0, COLUMNS * t_rank / t_nprocs},
               count[2] = {1, COLUMNS * (t_rank + 1) / t_nprocs - start[1]}, again = -1;
    const char *path = t_path("behind.zarr");
    MPI_Info info = make_info(NULL, "zstd:1"), used;
    int ncid, dimids[2], varid, flag = 0;
    static int values[COLUMNS];
    char behind[MPI_MAX_INFO_VAL + 1] = "";
    bool good = true;

    MPI_Info_set(info, "nc_write_behind", "enable");
    MPI_Info_set(info, "nc_filter_threads", "2");
    MPI_Info_set(info, "nc_stats", "keep");
    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid));
    DO(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dimids[0]));
    DO(ncmpi_def_dim(ncid, "x", COLUMNS, &dimids[1]));
    DO(ncmpi_def_var(ncid, "v", NC_INT, 2, dimids, &varid));
    DO(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunks));
    DO(ncmpi_enddef(ncid));
    DO(ncmpi_inq_file_info(ncid, &used));
    MPI_Info_get(used, "nc_write_behind", MPI_MAX_INFO_VAL, behind, &flag);
    MPI_Info_free(&used);
    t_check(flag && strcmp(behind, "enable") == 0, "nc_write_behind is in effect: %s", behind);
    for (int i = 0; i <= RECORDS_PUT; i++) {
        start[0] = i % RECORDS_PUT;
        for (int k = 0; k < count[1]; k++)
            values[k] = i * COLUMNS + (int)start[1] + k;
        DO(ncmpi_put_vara_int_all(ncid, varid, start, count, values));
        if (i == RECORDS_PUT - 1) {
            DO(ncmpi_sync(ncid));
            DO(ncmpi_inq_stats(ncid, "chunks_written_again", &again));
            t_check(good && again == 0, "chunks of a shard are written once: %lld again", (long long)again);
        }
    }
    DO(ncmpi_close(ncid));
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    for (int i = 1; i <= RECORDS_PUT; i++) {
        start[0] = i % RECORDS_PUT;
        DO(ncmpi_get_vara_int_all(ncid, varid, start, count, values));
        for (int k = 0; k < count[1] && good; k++)
            good = t_local(values[k] == i * COLUMNS + (int)start[1] + k, "record %d: %d", i, values[k]);
    }
    DO(ncmpi_close(ncid));
    MPI_Info_free(&info);
    t_check(good, "values that were compressed behind the program");
}

static void test_sharding(void)
{
    enum { ROWS = 10, COLUMNS = 24 };
    const MPI_Offset chunks[2] = {2, 4}, shards[2] = {4, 12}, odd[2] = {4, 6}, none[2] = {0, 0};
    MPI_Offset start[2] = {0, COLUMNS * t_rank / t_nprocs},
               count[2] = {ROWS, COLUMNS * (t_rank + 1) / t_nprocs - start[1]}, found[3][2] = {{1}};
    const char *path = t_path("sharding.zarr");
    MPI_Info info = make_info("100000", "none");
    int ncid, dimids[2], vars[3], values[ROWS * COLUMNS];
    char folder[4200];
    bool good = true;

    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid));
    DO(ncmpi_def_dim(ncid, "y", ROWS, &dimids[0]));
    DO(ncmpi_def_dim(ncid, "x", COLUMNS, &dimids[1]));
    DO(ncmpi_def_var(ncid, "sharded", NC_INT, 2, dimids, &vars[0]));
    DO(ncmpi_def_var(ncid, "chunked", NC_INT, 2, dimids, &vars[1]));
    DO(ncmpi_def_var(ncid, "hinted", NC_INT, 2, dimids, &vars[2]));
    t_check(good && ncmpi_def_var_sharding(ncid, vars[0], shards) == NC_EINVAL, "shards of chunks without lengths");
    for (int i = 0; i < 3; i++)
        DO(ncmpi_def_var_chunking(ncid, vars[i], NC_CHUNKED, chunks));
    t_check(good && ncmpi_def_var_sharding(ncid, vars[0], odd) == NC_EBADCHUNK, "shards that cut chunks");
    t_check(good && ncmpi_def_var_sharding(ncid, vars[0], none) == NC_EBADCHUNK, "shards without elements");
    DO(ncmpi_def_var_sharding(ncid, vars[0], shards));
    DO(ncmpi_def_var_sharding(ncid, vars[1], NULL));
    DO(ncmpi_enddef(ncid));
    t_check(good && ncmpi_redef(ncid) == NC_NOERR && ncmpi_def_var_sharding(ncid, vars[0], shards) == NC_ELATEDEF &&
                ncmpi_enddef(ncid) == NC_NOERR,
            "shards of a variable that exists");
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = i;
    for (int i = 0; i < 3; i++)
        DO(ncmpi_put_vara_int_all(ncid, vars[i], start, count, values));
    for (int i = 0; i < 3; i++)
        DO(ncmpi_inq_var_sharding(ncid, vars[i], found[i]));
    t_check(good && found[0][0] == 4 && found[0][1] == 12 && found[1][0] == 0 && found[2][0] == 10, "shards inquired");
    DO(ncmpi_close(ncid));
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    for (int i = 0; i < 3; i++)
        DO(ncmpi_inq_var_sharding(ncid, vars[i], found[i]));
    t_check(good && found[0][0] == 4 && found[0][1] == 12 && found[1][0] == 0 && found[2][0] == 10, "of the store");
    DO(ncmpi_get_vara_int_all(ncid, vars[0], start, count, values));
    for (int i = 0; i < ROWS * (int)count[1] && good; i++)
        good = t_local(values[i] == i, "value %d: %d", i, values[i]);
    DO(ncmpi_close(ncid));
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"sharded", "chunked", "hinted"};
        static const int expected[] = {3 * 2, 5 * 6, 1};

        snprintf(folder, sizeof folder, "%s/%s", path, names[i]);
        good = t_local(count_files(folder) == expected[i], "%s: %d files", names[i], count_files(folder)) && good;
    }
    t_check(good, "files of shards");
    MPI_Info_free(&info);
}

/* Other formats have none. */
static void test_no_shards(void)
{
    const MPI_Offset ones[1] = {1};
    const int modes[] = {0, NC_NETCDF4}, codes[] = {NC_ENOTNC4, NC_ENOTSUPPORT};
    const char *path = t_path("no_shards.nc");
    int ncid, dimid, varid, err;

    for (int i = 0; i < 2; i++) {
        bool good = true;

        err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | modes[i], MPI_INFO_NULL, &ncid);
        if (err == NC_ENOTNC4 || err == NC_ENOTBUILT) /* without libhdf5 */
            continue;
        DO(err);
        DO(ncmpi_def_dim(ncid, "x", 3, &dimid));
        DO(ncmpi_def_var(ncid, "v", NC_INT, 1, &dimid, &varid));
        err = ncmpi_def_var_sharding(ncid, varid, ones);
        DO(ncmpi_close(ncid));
        t_check(good && err == codes[i], "shards of other files: %s", ncmpi_strerrno(err));
    }
    if (t_rank == 0)
        (void)unlink(path);
}

/* A program that asks for CDF-1 gets the classic model, in which bytes have no sign; also when it opens the store. */
static void test_classic_model(void)
{
    const char *path = t_path("classic.zarr");
    MPI_Info info = make_info(NULL, NULL);
    const unsigned char value = 200;
    unsigned char found = 0;
    int ncid, varid;
    bool good = true;

    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid));
    DO(ncmpi_def_var(ncid, "v", NC_BYTE, 0, NULL, &varid));
    DO(ncmpi_enddef(ncid));
    DO(ncmpi_close(ncid));
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_put_var_uchar_all(ncid, varid, &value));
    DO(ncmpi_get_var_uchar_all(ncid, varid, &found));
    DO(ncmpi_close(ncid));
    t_check(t_local(found == value, "%d", found) && good, "the classic model");
    MPI_Info_free(&info);
}

/* The name is in the documents of arrays, too. */
static void test_renamed_dim(void)
{
    const char *path = t_path("renamed.zarr");
    MPI_Info info = make_info(NULL, NULL);
    int ncid, dimid, varid, value = 7, found = 0;
    MPI_Offset start = 1, count = 1;
    char name[NC_MAX_NAME + 1] = "";
    bool good = true;

    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid));
    DO(ncmpi_def_dim(ncid, "long_name", 3, &dimid));
    DO(ncmpi_def_var(ncid, "v", NC_INT, 1, &dimid, &varid));
    DO(ncmpi_enddef(ncid));
    DO(ncmpi_put_vara_int_all(ncid, varid, &start, &count, &value));
    DO(ncmpi_rename_dim(ncid, dimid, "name"));
    DO(ncmpi_close(ncid));
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_redef(ncid));
    DO(ncmpi_rename_dim(ncid, dimid, "longest_name"));
    DO(ncmpi_enddef(ncid));
    DO(ncmpi_close(ncid));
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_inq_vardimid(ncid, varid, &dimid));
    DO(ncmpi_inq_dimname(ncid, dimid, name));
    DO(ncmpi_get_vara_int_all(ncid, varid, &start, &count, &found));
    DO(ncmpi_close(ncid));
    t_check(
        t_local(dimid == 0 && strcmp(name, "longest_name") == 0 && found == value, "%d %s %d", dimid, name, found) &&
            good,
        "a dimension is renamed");
    MPI_Info_free(&info);
}

static bool write_document(const char *path, const char *key, const char *text)
{
    char name[4200];
    FILE *f;

    snprintf(name, sizeof name, "%s/%s", path, key);
    f = fopen(name, "w");
    return f != NULL && fputs(text, f) >= 0 && fclose(f) == 0;
}

static bool make_version_2(const char *path)
{
    char array[4200];

    snprintf(array, sizeof array, "%s/v", path);
    return mkdir(path, 0777) == 0 && mkdir(array, 0777) == 0 &&
           write_document(path, ".zgroup", "{\"zarr_format\": 2}") &&
           write_document(path, "v/.zarray",
                          "{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [2], \"dtype\": \">i4\", \"order\": "
                          "\"C\", \"fill_value\": 5, \"filters\": null, \"compressor\": null}") &&
           write_document(path, "v/0", "abcdefgh");
}

/* Also a folder without zarr.json is a store; it is opened, replaced and deleted as others are. */
static void test_version_2(void)
{
    const char *path = t_path("version2.zarr");
    MPI_Info info = make_info(NULL, NULL);
    int ncid, nvars = -1, values[3] = {0};
    bool good = true;

    if (t_rank == 0)
        good = t_local(make_version_2(path), "a store of version 2");
    MPI_Barrier(MPI_COMM_WORLD);
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_get_var_int_all(ncid, 0, values));
    DO(ncmpi_close(ncid));
    t_check(t_local(values[0] == 0x61626364 && values[1] == 0x65666768 && values[2] == 5, "%x %x %x", values[0],
                    values[1], values[2]) &&
                good,
            "a store of version 2");
    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid));
    DO(ncmpi_close(ncid));
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_inq_nvars(ncid, &nvars));
    DO(ncmpi_close(ncid));
    t_check(t_local(nvars == 0, "%d variables", nvars) && good, "it is replaced");
    MPI_Info_free(&info);
}

/* --- groups --- */

/* Of LENGTH elements, each rank its part. */
static bool put_part(int ncid, int varid, int record, int factor)
{
    MPI_Offset start[2] = {record, (MPI_Offset)LENGTH * t_rank / t_nprocs}, count[2] = {1, 0};
    int values[LENGTH], skipped = record < 0;
    bool good = true;

    count[1] = (MPI_Offset)LENGTH * (t_rank + 1) / t_nprocs - start[1];
    for (int i = 0; i < count[1]; i++)
        values[i] = factor * (int)(start[1] + i);
    DO(ncmpi_put_vara_int_all(ncid, varid, start + skipped, count + skipped, values));
    return good;
}

static bool has_names(int ncid, const char *when, const char *expected)
{
    char found[500] = "", name[NC_MAX_NAME + 1];
    int ndims = 0, nvars = 0, ngroups = 0;
    bool good = true;

    DO(ncmpi_inq_ndims(ncid, &ndims));
    DO(ncmpi_inq_nvars(ncid, &nvars));
    DO(ncmpi_inq_ngrps(ncid, &ngroups));
    for (int i = 0; i < ndims + nvars + ngroups && good; i++) {
        if (i < ndims)
            DO(ncmpi_inq_dimname(ncid, i, name));
        else if (i < ndims + nvars)
            DO(ncmpi_inq_varname(ncid, i - ndims, name));
        else
            DO(ncmpi_inq_grpname(ncid, i - ndims - nvars, name));
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s ", name);
    }
    return t_local(strcmp(found, expected) == 0, "%s: %s", when, found) && good;
}

/* Groups in another order than that of the variables in them, and a second define mode. */
static bool define_groups(const char *path, MPI_Info info)
{
    const char *models[] = {"one", "two"};
    const float weight = 0.1F;
    int ncid, x, time, level, tas, root, later, dims[2];
    bool good = true;

    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid));
    DO(ncmpi_def_grp(ncid, "empty"));
    DO(ncmpi_def_grp(ncid, "later"));
    DO(ncmpi_def_grp(ncid, "forecast"));
    DO(ncmpi_def_dim(ncid, "forecast/time", NC_UNLIMITED, &time));
    DO(ncmpi_def_dim(ncid, "x", LENGTH, &x));
    dims[0] = time, dims[1] = x;
    DO(ncmpi_def_var(ncid, "/forecast/tas", NC_INT, 2, dims, &tas));
    DO(ncmpi_put_att_text(ncid, tas, "units", 1, "K"));
    DO(ncmpi_def_var(ncid, "tas", NC_INT, 1, &x, &root));
    DO(ncmpi_put_att_text(ncid, NC_GLOBAL, "/forecast/title", 8, "forecast"));
    DO(ncmpi_put_att_string(ncid, NC_GLOBAL, "/forecast/models", 2, models));
    DO(ncmpi_put_att_float(ncid, NC_GLOBAL, "/forecast/weight", NC_FLOAT, 1, &weight));
    DO(ncmpi_enddef(ncid));
    good = put_part(ncid, tas, 0, 1) && put_part(ncid, root, -1, 2) && good;
    DO(ncmpi_redef(ncid));
    DO(ncmpi_def_grp(ncid, "forecast/high"));
    DO(ncmpi_def_dim(ncid, "forecast/high/level", LENGTH, &level));
    DO(ncmpi_def_var(ncid, "forecast/high/first", NC_INT, 1, &level, &later));
    DO(ncmpi_rename_var(ncid, later, "level"));
    DO(ncmpi_def_dim(ncid, "forecast/x", LENGTH, &level)); /* not that of tas, but nearer */
    DO(ncmpi_enddef(ncid));
    good = put_part(ncid, tas, 1, 3) && put_part(ncid, later, -1, 4) && good;
    good =
        has_names(
            ncid, "until it is closed",
            "forecast/time x forecast/high/level forecast/x forecast/tas tas forecast/high/level empty later forecast "
            "forecast/high ") &&
        good;
    DO(ncmpi_close(ncid));
    return good;
}

/* What a hint hides, or does not list, stays as it was when definitions change. */
static bool change_definitions(const char *path, const char *groups, const char *name)
{
    MPI_Info info;
    int ncid, dimid, x;
    bool good = true;

    MPI_Info_create(&info);
    if (groups != NULL)
        MPI_Info_set(info, "nc_groups", groups);
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    DO(ncmpi_redef(ncid));
    DO(ncmpi_inq_dimid(ncid, "x", &dimid));
    if (groups == NULL)
        DO(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 3, "new"));
    else
        DO(ncmpi_def_var(ncid, name, NC_INT, 1, &dimid, &x));
    DO(ncmpi_enddef(ncid));
    DO(ncmpi_close(ncid));
    return good;
}

static bool refuses(int err, int expected, const char *what)
{
    return t_local(err == expected, "%s: %s", what, ncmpi_strerrno(err));
}

/* What would change what a hint hides, or does not list; and names that no folder can have. */
static bool refuse_definition(const char *path, const char *groups, int number)
{
    static const int expected[] = {NC_ENOTSUPPORT, NC_ENAMEINUSE, NC_ENOTSUPPORT, NC_EBADNAME, NC_EBADNAME};
    MPI_Info info;
    int ncid, dimid, varid, err;
    bool good = true;

    MPI_Info_create(&info);
    if (groups != NULL)
        MPI_Info_set(info, "nc_groups", groups);
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    DO(ncmpi_redef(ncid));
    DO(ncmpi_inq_dimid(ncid, "x", &dimid));
    switch (number) {
    case 0: err = ncmpi_rename_dim(ncid, dimid, "other"); break;
    case 1: err = ncmpi_def_var(ncid, "forecast", NC_INT, 1, &dimid, &varid); break;
    case 2: err = ncmpi_put_att_text(ncid, NC_GLOBAL, "forecast/late", 1, "a"); break;
    case 3: err = ncmpi_def_grp(ncid, "zarr.json"); break;
    default: err = ncmpi_def_grp(ncid, "forecast/__x"); break;
    }
    if (err == NC_NOERR)
        err = ncmpi_enddef(ncid);
    good = t_local(err == expected[number], "definition %d: %s", number, ncmpi_strerrno(err)) && good;
    DO(ncmpi_abort(ncid));
    return good;
}

static bool refuse_groups(const char *path)
{
    MPI_Info info;
    int ncid, time, varid;
    bool good = true;

    good = refuse_definition(path, "root", 0) && refuse_definition(path, "root", 1) &&
           refuse_definition(path, NULL, 2) && refuse_definition(path, "all", 3) && refuse_definition(path, "all", 4);

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_groups", "all");
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid));
    DO(ncmpi_inq_varid(ncid, "forecast/tas", &varid));
    good = refuses(ncmpi_rename_var(ncid, varid, "t"), NC_ENOTSUPPORT, "a rename in data mode") && good;
    DO(ncmpi_redef(ncid));
    good = refuses(ncmpi_rename_var(ncid, varid, "t"), NC_ENOTSUPPORT, "a rename in define mode") && good;
    good = refuses(ncmpi_rename_grp(ncid, 0, "full"), NC_ENOTSUPPORT, "another name of a group") && good;
    DO(ncmpi_abort(ncid));
    MPI_Info_set(info, "nc_groups", "root");
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    DO(ncmpi_redef(ncid));
    DO(ncmpi_def_grp(ncid, "other"));
    DO(ncmpi_def_dim(ncid, "other/time", NC_UNLIMITED, &time));
    good = refuses(ncmpi_enddef(ncid), NC_ENOTSUPPORT, "a group of a store that has hidden ones") && good;
    DO(ncmpi_abort(ncid));
    return good;
}

static void test_groups(void)
{
    const char *path = t_path("groups.zarr");
    MPI_Info info = make_info(NULL, NULL);
    int ncid, dimid, varid, dimids[2] = {-1, -1}, unlimited[2] = {-1, -1}, n = 0;
    nc_type type = 0;
    bool good = define_groups(path, info);

    good = change_definitions(path, NULL, NULL) && good;
    good = change_definitions(path, "root", "more") && good;
    good = change_definitions(path, "all", "most") && good;
    good = refuse_groups(path) && good;
    MPI_Info_set(info, "nc_groups", "all");
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    good =
        has_names(
            ncid, "opened",
            "forecast/time x forecast/high/level forecast/x forecast/tas tas forecast/high/level more most empty later "
            "forecast forecast/high ") &&
        good;
    DO(ncmpi_inq_dimid(ncid, "forecast/time", &dimid));
    DO(ncmpi_inq_varid(ncid, "forecast/tas", &varid));
    DO(ncmpi_inq_vardimid(ncid, varid, dimids));
    DO(ncmpi_inq_unlimdims(ncid, &n, unlimited));
    DO(ncmpi_inq_atttype(ncid, NC_GLOBAL, "forecast/weight", &type));
    DO(ncmpi_close(ncid));
    good = t_local(dimids[0] == dimid && dimids[1] == 1, "dimensions %d %d", dimids[0], dimids[1]) && good;
    t_check(t_local(n == 1 && unlimited[0] == dimid && type == NC_FLOAT, "unlimited %d %d, type %d", n, unlimited[0],
                    type) &&
                good,
            "groups are defined, changed and refused");
}

static void test_delete(const char *name)
{
    const char *path = t_path(name);
    int err = NC_NOERR;

    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        err = ncmpi_delete(path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(err == NC_NOERR && !exists(path), "ncmpi_delete %s: %s", name, ncmpi_strerrno(err));
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    keeps = argc > 1 && strcmp(argv[1], "keep") == 0;
    test_store("chunks.zarr", "0", "none");
    test_store("shards.zarr", "3000", NULL); /* the default */
    test_store("large.zarr", NULL, "deflate:1");
    test_groups();
    if (!keeps) {
        test_folders();
        test_delete("groups.zarr");
        test_classic_model();
        test_delete("classic.zarr");
        test_renamed_dim();
        test_delete("renamed.zarr");
        test_version_2();
        test_delete("version2.zarr");
        test_sharding();
        test_delete("sharding.zarr");
        test_no_shards();
        test_behind();
        test_delete("behind.zarr");
        test_garbage();
        test_delete("garbage.zarr");
        test_delete("chunks.zarr");
        test_delete("shards.zarr");
        test_delete("large.zarr");
    }
    return t_finish();
}
