/* Chunks by several threads of each rank: files have the same chunks as by one, gets the same values, and no thread is
 * left after the close. */
#include <dirent.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../harness.h"

enum { TIMES = 3, ROWS = 240, COLUMNS = 300, NVARS = 4 };

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;

    if (tasks == NULL)
        return 0;
    for (const struct dirent *d = readdir(tasks); d != NULL; d = readdir(tasks))
        n += d->d_name[0] != '.';
    closedir(tasks);
    return n;
}

static float find_value(int varid, int time, int row, int column)
{
    return (float)((row * 7 + column * 3 + time * 11) % 1000) * 0.25f + (float)varid;
}

static MPI_Info make_hints(const char *threads)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_filter_threads", threads);
    return info;
}

/* The columns of this rank, of all rows: chunks are of several ranks. */
static void choose_box(int time, MPI_Offset *start, MPI_Offset *count)
{
    start[0] = time;
    start[1] = 0;
    start[2] = (MPI_Offset)COLUMNS * t_rank / t_nprocs;
    count[0] = 1;
    count[1] = ROWS;
    count[2] = (MPI_Offset)COLUMNS * (t_rank + 1) / t_nprocs - start[2];
}

static int define(int ncid, int *varids)
{
    static const char *const names[NVARS] = {"deflated", "level_6", "tiny", "plain"};
    const MPI_Offset chunk[3] = {1, 30, 70}, tiny[3] = {1, 4, 4};
    int dims[3], err = ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);

    err += ncmpi_def_dim(ncid, "y", ROWS, &dims[1]) + ncmpi_def_dim(ncid, "x", COLUMNS, &dims[2]);
    for (int v = 0; v < NVARS; v++) {
        err += ncmpi_def_var(ncid, names[v], NC_FLOAT, 3, dims, &varids[v]);
        err += ncmpi_def_var_chunking(ncid, varids[v], NC_CHUNKED, v == 2 ? tiny : chunk);
        if (v < 3)
            err += ncmpi_def_var_deflate(ncid, varids[v], 1, 1, v == 0 ? 1 : 6);
    }
    return err + ncmpi_enddef(ncid);
}

/* Returns how many threads there were before the close. */
static int write_file(const char *path, const char *threads)
{
    static float values[ROWS * COLUMNS];
    int ncid, varids[NVARS], err, n;
    MPI_Offset start[3], count[3];
    MPI_Info info = make_hints(threads);

    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid);
    MPI_Info_free(&info);
    err += define(ncid, varids);
    for (int i = 0; i < TIMES * NVARS; i++) {
        choose_box(i / NVARS, start, count);
        for (int k = 0; k < (int)(count[1] * count[2]); k++)
            values[k] = find_value(i % NVARS, i / NVARS, k / (int)count[2], (int)start[2] + k % (int)count[2]);
        err += ncmpi_put_vara_float_all(ncid, varids[i % NVARS], start, count, values);
    }
    n = count_threads();
    err += ncmpi_close(ncid);
    t_check(err == NC_NOERR, "put, %s threads", threads);
    return n;
}

static bool has_values(int ncid, int varid, int time, bool is_collective)
{
    static float values[ROWS * COLUMNS];
    MPI_Offset start[3], count[3];
    int wrong = 0, err;

    choose_box(time, start, count);
    memset(values, 0, sizeof values);
    if (is_collective)
        err = ncmpi_get_vara_float_all(ncid, varid, start, count, values);
    else
        err = ncmpi_get_vara_float(ncid, varid, start, count, values);
    for (int k = 0; k < (int)(count[1] * count[2]); k++)
        wrong += values[k] != find_value(varid, time, k / (int)count[2], (int)start[2] + k % (int)count[2]);
    return err == NC_NOERR && wrong == 0;
}

static void read_file(const char *path, const char *threads, const char *cache)
{
    MPI_Info info = make_hints(threads);
    bool good = true;
    int ncid, err;

    MPI_Info_set(info, "nc_chunk_cache_size", cache);
    err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid);
    MPI_Info_free(&info);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < TIMES * NVARS; i++)
            good = has_values(ncid, i % NVARS, i / NVARS, k == 0) && good;
        if (k == 0)
            err += ncmpi_begin_indep_data(ncid);
    }
    err += ncmpi_close(ncid);
    t_check(good && err == NC_NOERR, "get, %s threads, a cache of %s bytes", threads, cache);
}

/* Of rank 0. -1: the lengths differ. Metadata have times, and checksums. */
static int count_differences(const char *a, const char *b)
{
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    int x = EOF, y = EOF, n = 0;

    if (f != NULL && g != NULL)
        do {
            x = getc(f);
            y = getc(g);
            n += x != y;
        } while (x != EOF && y != EOF);
    if (f != NULL)
        fclose(f);
    if (g != NULL)
        fclose(g);
    return x == EOF && y == EOF && f != NULL && g != NULL ? n : -1;
}

static bool has_netcdf4(void)
{
    int ncid, err = ncmpi_create(MPI_COMM_WORLD, t_path("threads_0.nc"), NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);

    if (err == NC_NOERR)
        ncmpi_close(ncid);
    return err != NC_ENOTBUILT;
}

int main(int argc, char **argv)
{
    char one[4096], several[4096];
    int before, with, n;

    t_start(&argc, &argv);
    if (!has_netcdf4()) {
        t_skip("built without netCDF-4");
        return t_finish();
    }
    snprintf(one, sizeof one, "%s", t_path("threads_0.nc"));
    snprintf(several, sizeof several, "%s", t_path("threads_3.nc"));
    write_file(one, "0");
    before = count_threads();
    with = write_file(several, "3");
    t_check(before == 0 || with == before + 3, "there are three more threads than %d: %d", before, with);
    t_check(count_threads() == before, "no thread is left: %d", count_threads());
    n = t_rank == 0 ? count_differences(one, several) : 0;
    t_check(n >= 0 && n < 200, "the files are the same but for times: %d bytes", n);
    read_file(one, "3", "33554432");
    read_file(several, "0", "33554432");
    read_file(several, "3", "0");
    read_file(several, "3", "4096");
    read_file(several, "3", "30000");
    t_check(count_threads() == before, "no thread is left after gets");
    return t_finish();
}
