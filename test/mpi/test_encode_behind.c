/* Chunks that threads compress after their put has returned (nc_write_behind, nc_filter_threads): puts of parts of
 * them, gets, flushes and changes of the mode in between see and leave the values that a copy in memory has. */
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../harness.h"

enum { TIMES = 12, ROWS = 64, COLUMNS = 96, NVARS = 3, VALUES = TIMES * ROWS * COLUMNS };

static float expected[NVARS][VALUES]; /* the same on all ranks */
static float values[VALUES];

static uint32_t state = 12345;

/* The same number on all ranks. */
static int draw(int most)
{
    state = state * 1664525 + 1013904223;
    return (int)((state >> 8) % (uint32_t)most);
}

/* A box of the variable: records, rows, and of the columns those of a rank of n. */
typedef struct box {
    MPI_Offset start[3], count[3];
} box;

static box draw_box(bool is_whole)
{
    box b = {.start = {draw(TIMES), 0, 0}, .count = {1, ROWS, COLUMNS}};

    if (is_whole)
        return b;
    b.start[1] = draw(ROWS);
    b.count[1] = 1 + draw(ROWS - (int)b.start[1]);
    return b;
}

static box find_part(box b, int rank)
{
    b.start[2] = (MPI_Offset)COLUMNS * rank / t_nprocs;
    b.count[2] = (MPI_Offset)COLUMNS * (rank + 1) / t_nprocs - b.start[2];
    return b;
}

static int64_t find_index(const box *b, int64_t i)
{
    int64_t column = b->start[2] + i % b->count[2], row = b->start[1] + i / b->count[2];

    return (b->start[0] * ROWS + row) * COLUMNS + column;
}

static int64_t count_values(const box *b)
{
    return b->count[0] * b->count[1] * b->count[2];
}

/* All ranks know what each puts. */
static int put_box(int ncid, int v, box whole, int version)
{
    box own = find_part(whole, t_rank);

    for (int rank = 0; rank < t_nprocs; rank++) {
        box b = find_part(whole, rank);

        for (int64_t i = 0; i < count_values(&b); i++)
            expected[v][find_index(&b, i)] = (float)((i * 7 + version * 31 + rank * 3) % 1000) * 0.5f;
    }
    for (int64_t i = 0; i < count_values(&own); i++)
        values[i] = expected[v][find_index(&own, i)];
    return ncmpi_put_vara_float_all(ncid, v, own.start, own.count, values);
}

static bool has_box(int ncid, int v, box b, bool collective)
{
    int64_t wrong = 0;
    int err;

    memset(values, 0, sizeof values);
    err = collective ? ncmpi_get_vara_float_all(ncid, v, b.start, b.count, values)
                     : ncmpi_get_vara_float(ncid, v, b.start, b.count, values);
    for (int64_t i = 0; i < count_values(&b); i++)
        wrong += values[i] != expected[v][find_index(&b, i)];
    return t_local(err == NC_NOERR && wrong == 0, "variable %d, record %d: %lld wrong, %s", v, (int)b.start[0],
                   (long long)wrong, ncmpi_strerror(err));
}

static bool has_independently(int ncid, int v)
{
    bool good;
    int err = ncmpi_begin_indep_data(ncid);

    good = has_box(ncid, v, find_part(draw_box(false), (t_rank + 1) % t_nprocs), false);
    err += ncmpi_end_indep_data(ncid);
    return good && err == NC_NOERR;
}

static int define(int ncid)
{
    const MPI_Offset chunks[NVARS][3] = {{1, ROWS, COLUMNS}, {1, 20, 30}, {3, 16, 96}};
    int dims[3], varid, err = ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);

    err += ncmpi_def_dim(ncid, "y", ROWS, &dims[1]) + ncmpi_def_dim(ncid, "x", COLUMNS, &dims[2]);
    for (int v = 0; v < NVARS; v++) {
        char name[16];
        float zero = 0;

        snprintf(name, sizeof name, "v%d", v);
        err += ncmpi_def_var(ncid, name, NC_FLOAT, 3, dims, &varid);
        err += ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunks[v]);
        err += ncmpi_def_var_deflate(ncid, varid, 1, 1, 1 + 4 * v);
        err += ncmpi_def_var_fill(ncid, varid, 0, &zero);
    }
    return err + ncmpi_enddef(ncid);
}

static bool run_steps(int ncid, int n)
{
    bool good = true;
    int err = put_box(ncid, 0, (box){.start = {TIMES - 1, 0, 0}, .count = {1, ROWS, COLUMNS}}, 0);

    for (int i = 1; i < n && err == NC_NOERR; i++) {
        int v = draw(NVARS), kind = draw(12);

        if (kind < 8)
            err = put_box(ncid, v, draw_box(kind < 5), i);
        else if (kind == 8)
            good = has_box(ncid, v, find_part(draw_box(false), (t_rank + 1) % t_nprocs), true) && good;
        else if (kind == 9)
            err = ncmpi_sync(ncid);
        else if (kind == 10)
            good = has_independently(ncid, v) && good;
        else
            err = ncmpi_redef(ncid) + ncmpi_put_att_int(ncid, NC_GLOBAL, "step", NC_INT, 1, &i) + ncmpi_enddef(ncid);
    }
    return t_local(err == NC_NOERR, "%s", ncmpi_strerror(err)) && good;
}

static bool has_all(const char *path)
{
    bool good = true;
    int ncid, err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);

    for (int v = 0; v < NVARS && err == NC_NOERR; v++)
        good = has_box(ncid, v, (box){.count = {TIMES, ROWS, COLUMNS}}, true) && good;
    if (err == NC_NOERR)
        err = ncmpi_close(ncid);
    return good && err == NC_NOERR;
}

int main(int argc, char **argv)
{
    const char *path;
    MPI_Info info;
    int ncid, err;

    t_start(&argc, &argv);
    path = t_path("behind.nc");
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_write_behind", "enable");
    MPI_Info_set(info, "nc_filter_threads", "2");
    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid);
    if (err == NC_ENOTBUILT) {
        t_skip("built without netCDF-4");
    } else {
        bool good = t_local(err == NC_NOERR && define(ncid) == NC_NOERR, "create: %s", ncmpi_strerror(err));

        good = good && run_steps(ncid, t_choose(100, 300, 3000));
        t_check(good, "puts, gets and flushes while chunks are compressed");
        t_check(ncmpi_close(ncid) == NC_NOERR, "close");
        t_check(has_all(path), "the file has all values");
    }
    MPI_Info_free(&info);
    return t_finish();
}
