/* Small interleaved pieces over many stripes and rounds: one rank finds in the file, byte for byte, what the ranks
 * wrote; bytes in gaps are unchanged; a collective get returns the contents of the file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pnetcdf.h>

#include "../harness.h"

#define MOST (6 << 20) /* elements of the variable; 2 bytes each: 12 stripes */

static unsigned short before(int64_t i)
{
    return (unsigned short)(i * 7 + 3);
}

static unsigned short after(int64_t i)
{
    return (unsigned short)(i * 13 + 40000);
}

/* Rows of `width` elements; a rank has `mine` of them in each row that is a multiple of `step`. */
typedef struct pattern {
    MPI_Offset rows, width, mine, step;
} pattern;

static bool is_put(const pattern *p, int64_t i)
{
    return i / p->width % p->step == 0 && i % p->width < p->mine * t_nprocs;
}

/* Hints; NULL: not given. */
typedef struct settings {
    const char *memory, *unit, *nodes;
} settings;

static int make_file(const char *path, const pattern *p, const settings *s, unsigned short *whole)
{
    int ncid, dims[2], varid;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_ibuf_size", s->memory);
    MPI_Info_set(info, "striping_unit", s->unit);
    if (s->nodes != NULL)
        MPI_Info_set(info, "cb_config_list", s->nodes);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    ncmpi_def_dim(ncid, "row", p->rows, &dims[0]);
    ncmpi_def_dim(ncid, "column", p->width, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_USHORT, 2, dims, &varid);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    for (int64_t i = 0; i < p->rows * p->width; i++)
        whole[i] = before(i);
    MPI_Offset none[2] = {0, 0}, all[2] = {p->rows, p->width};
    t_local(ncmpi_put_vara_ushort_all(ncid, varid, none, t_rank == 0 ? all : none, whole) == NC_NOERR, "put before");
    return ncid;
}

static void try_pattern(const pattern *p, const settings *s)
{
    unsigned short *whole = malloc((size_t)(p->rows * p->width) * sizeof *whole);
    MPI_Offset rows = (p->rows + p->step - 1) / p->step, n = rows * p->mine, wrong = 0;
    MPI_Offset start[2] = {0, t_rank * p->mine}, count[2] = {rows, p->mine}, stride[2] = {p->step, 1};
    int *buf = malloc((size_t)n * sizeof *buf), *back = calloc((size_t)n, sizeof *back);
    int ncid = make_file(t_path("exchange.nc"), p, s, whole), varid = 0, err;

    for (int64_t i = 0; i < n; i++)
        buf[i] = after(i / p->mine * p->step * p->width + start[1] + i % p->mine);
    err = ncmpi_put_vars_int_all(ncid, varid, start, count, stride, buf);
    t_check(err == NC_NOERR, "put %d rows of %d elements on each rank, every %d rows, memory %s, nodes %s: %s",
            (int)rows, (int)p->mine, (int)p->step, s->memory, s->nodes == NULL ? "-" : s->nodes, ncmpi_strerror(err));
    err = ncmpi_get_vars_int_all(ncid, varid, start, count, stride, back);
    t_check(err == NC_NOERR && memcmp(buf, back, (size_t)n * sizeof *buf) == 0, "get them back: %s",
            ncmpi_strerror(err));
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");

    t_local(ncmpi_open(MPI_COMM_WORLD, t_path("exchange.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    t_local(ncmpi_get_var_ushort_all(ncid, varid, whole) == NC_NOERR, "get all");
    for (int64_t i = 0; i < p->rows * p->width; i++)
        wrong += whole[i] != (is_put(p, i) ? after(i) : before(i));
    t_check(wrong == 0, "the whole variable: %d elements differ", (int)wrong);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    free(whole);
    free(buf);
    free(back);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    /* dense; gaps in each row; gaps of rows; long gaps; rows that cross stripes */
    const pattern patterns[] = {{MOST / 128, 32 * t_nprocs, 32, 1},
                                {MOST / 512, 40 * t_nprocs + 9, 37, 1},
                                {MOST / 256, 16 * t_nprocs, 16, 3},
                                {64, 6000 * t_nprocs, 700, 2},
                                {MOST / 4096, 1000 * t_nprocs + 24, 1000, 1}};
    const char *memories[] = {"65536", "16777216"}, *units[] = {"1048576", "3000"};
    const char *lists[] = {"*:1", "*", "*:*", "*:-1", "other:3,*:2"};

    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 4; k++)
            try_pattern(&patterns[i], &(settings){memories[k % 2], units[k / 2], NULL});
    for (int i = 0; i < 5; i++)
        try_pattern(&patterns[1], &(settings){memories[1], units[0], lists[i]});
    return t_finish();
}
