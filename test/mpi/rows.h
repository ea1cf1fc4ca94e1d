/* Rows of which each rank has a column, in variables of records and of fixed size: put by a rank, read by others, and
 * the number of records as the system reads it. */
#ifndef TEST_ROWS_H
#define TEST_ROWS_H

#include <fcntl.h>
#include <unistd.h>

#include "../expect.h"

enum { NX = 64, ROWS = 12 };

/* Define v(time, rank, x), and f(ROWS, rank, x), whose dimensions fixed[] gets. */
static inline void define_rows(int ncid, int fixed[3])
{
    int dims[3], varid;

    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "rank", t_nprocs, &dims[1]);
    ncmpi_def_dim(ncid, "x", NX, &dims[2]);
    ncmpi_def_dim(ncid, "row", ROWS, &fixed[0]);
    fixed[1] = dims[1];
    fixed[2] = dims[2];
    ncmpi_def_var(ncid, "v", NC_INT, 3, dims, &varid);
    ncmpi_def_var(ncid, "f", NC_INT, 3, fixed, &varid);
}

static inline int value_of(int row, int column, int x, int version)
{
    return 100000 * version + 1000 * row + 100 * column + x;
}

/* The part of a row of a column, by this rank. */
static inline int transfer(int ncid, int varid, bool puts, int row, int column, int version)
{
    MPI_Offset start[3] = {row, column, 0}, count[3] = {1, 1, NX};
    int values[NX], err;

    for (int i = 0; i < NX; i++)
        values[i] = puts ? value_of(row, column, i, version) : -1;
    err = puts ? ncmpi_put_vara_int_all(ncid, varid, start, count, values)
               : ncmpi_get_vara_int_all(ncid, varid, start, count, values);
    for (int i = 0; i < NX && !puts && err == NC_NOERR; i++)
        t_local(values[i] == value_of(row, column, i, version), "row %d, column %d, x %d: %d", row, column, i,
                values[i]);
    return err;
}

static inline int put_rows(int ncid, int varid, int from, int to, int version)
{
    int err = NC_NOERR;

    for (int row = from; row < to && err == NC_NOERR; row++)
        err = transfer(ncid, varid, true, row, t_rank, version);
    return err;
}

/* Each rank reads what others have put. */
static inline void check_rows(int ncid, int varid, int from, int to, int version, const char *what)
{
    int err = NC_NOERR;

    for (int row = from; row < to; row++)
        for (int by = 1; by <= (t_nprocs > 1 ? 2 : 1); by++) {
            int got = transfer(ncid, varid, false, row, (t_rank + by) % t_nprocs, version);

            err = err == NC_NOERR ? got : err;
        }
    expect_ok(err, what);
}

/* In the header of a classic file; -1: it cannot be read. */
static inline int count_records(const char *path)
{
    unsigned char bytes[12] = {0}, *last = bytes + 4;
    int fd = open(path, O_RDONLY), found = -1;

    if (fd >= 0 && read(fd, bytes, 12) == 12) {
        last += bytes[3] == 5 ? 4 : 0;
        found = last[0] << 24 | last[1] << 16 | last[2] << 8 | last[3];
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static inline int64_t statistic(int ncid, const char *name)
{
    MPI_Offset value = -1;

    ncmpi_inq_stats(ncid, name, &value);
    return value;
}

#endif
