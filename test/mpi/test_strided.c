/* Gets of every n-th value along rows that are long enough for data sieving without a list of extents, and puts of
 * ranks that have a part of the variable each: random hyperslabs, strides, types and orders in memory, against the
 * formula that the values were written by. Also columns, one value of each record, and a file that ends before its
 * variable. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pnetcdf.h>

#include "../harness.h"

enum { MOST_DIMS = 3, MOST_VALUES = 1 << 17, CASES = 150, RECORDS = 3000, WRITTEN = 40000 };

typedef struct variable {
    const char *name;
    nc_type type;
    int ndims, varid;
    MPI_Offset shape[MOST_DIMS];
} variable;

static variable variables[] = {
    {"line", NC_DOUBLE, 1, 0, {100003}}, {"plane", NC_INT, 2, 0, {91, 1013}},  {"cube", NC_FLOAT, 3, 0, {13, 17, 409}},
    {"tall", NC_SHORT, 2, 0, {2003, 7}}, {"bytes", NC_BYTE, 2, 0, {5, 20011}}, {"wide", NC_INT64, 2, 0, {120, 1000}},
};
enum { VARIABLES = sizeof variables / sizeof *variables };

static double values[MOST_VALUES];
static int ncid;

static int64_t random_in(int64_t low, int64_t high)
{
    return low + rand() % (high - low + 1);
}

static void succeed(int err, const char *what)
{
    t_local(err == NC_NOERR, "%s: %s", what, ncmpi_strerror(err));
}

/* The value of element i of a variable. */
static double value_of(int varid, int64_t i)
{
    return (double)((i * 7 + varid * 13 + i / 101) % 127);
}

static int64_t count_elements(const variable *v)
{
    int64_t n = 1;

    for (int d = 0; d < v->ndims; d++)
        n *= v->shape[d];
    return n;
}

/* --- writing --- */

static void define(variable *v)
{
    int dims[MOST_DIMS];

    for (int d = 0; d < v->ndims; d++) {
        char name[32];

        snprintf(name, sizeof name, "%s_%d", v->name, d);
        succeed(ncmpi_def_dim(ncid, name, v->shape[d], &dims[d]), "def_dim");
    }
    succeed(ncmpi_def_var(ncid, v->name, v->type, v->ndims, dims, &v->varid), "def_var");
}

/* Rank 0 writes the values. */
static void write_values(const variable *v)
{
    MPI_Offset start[MOST_DIMS] = {0}, count[MOST_DIMS] = {0};
    int64_t n = count_elements(v);

    t_local(n <= MOST_VALUES, "memory for %s", v->name);
    for (int64_t i = 0; i < n; i++)
        values[i] = value_of(v->varid, i);
    for (int d = 0; d < v->ndims && t_rank == 0; d++)
        count[d] = v->shape[d];
    succeed(ncmpi_put_vara_double_all(ncid, v->varid, start, count, values), "put");
}

static void create(const char *path)
{
    succeed(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid), "create");
    for (variable *v = variables; v < variables + VARIABLES; v++)
        define(v);
    succeed(ncmpi_enddef(ncid), "enddef");
    for (variable *v = variables; v < variables + VARIABLES; v++)
        write_values(v);
}

/* --- reading --- */

typedef struct strided_slab {
    MPI_Offset start[MOST_DIMS], count[MOST_DIMS], stride[MOST_DIMS], imap[MOST_DIMS];
    int64_t n;
} strided_slab;

/* Mostly long in the last dimension; sometimes one column. */
static strided_slab draw_slab(const variable *v)
{
    strided_slab s = {.n = 1};
    bool is_column = random_in(0, 4) == 0;

    for (int d = 0; d < v->ndims; d++) {
        int64_t length = v->shape[d];

        s.stride[d] = random_in(1, 4);
        s.start[d] = random_in(0, random_in(0, 1) ? length / 8 : length - 1);
        s.count[d] = (length - 1 - s.start[d]) / s.stride[d] + 1;
        s.count[d] = is_column && d == v->ndims - 1 ? 1 : random_in(s.count[d] / 2, s.count[d]);
        s.count[d] = s.count[d] > 0 ? s.count[d] : 1;
        s.n *= s.count[d];
    }
    return s;
}

/* The first dimension varies fastest in memory. */
static void transpose(const variable *v, strided_slab *s)
{
    MPI_Offset distance = 1;

    for (int d = 0; d < v->ndims; d++) {
        s->imap[d] = distance;
        distance *= s->count[d];
    }
}

/* Where element i of the hyperslab is in the variable, and in memory if it is transposed. */
static int64_t find_element(const variable *v, const strided_slab *s, int64_t i, int64_t *in_memory)
{
    int64_t element = 0, distance = 1;

    *in_memory = 0;
    for (int d = v->ndims - 1; d >= 0; d--) {
        int64_t index = i % s->count[d];

        i /= s->count[d];
        element += (s->start[d] + index * s->stride[d]) * distance;
        *in_memory += index * s->imap[d];
        distance *= v->shape[d];
    }
    return element;
}

typedef enum way { DOUBLES, SHORTS, TRANSPOSED, INDEPENDENT, WAYS } way;

static int get(const variable *v, const strided_slab *s, way how, void *to)
{
    switch (how) {
    case SHORTS: return ncmpi_get_vars_short_all(ncid, v->varid, s->start, s->count, s->stride, to);
    case TRANSPOSED: return ncmpi_get_varm_double_all(ncid, v->varid, s->start, s->count, s->stride, s->imap, to);
    case INDEPENDENT: return ncmpi_get_vars_double(ncid, v->varid, s->start, s->count, s->stride, to);
    default: return ncmpi_get_vars_double_all(ncid, v->varid, s->start, s->count, s->stride, to);
    }
}

/* The number of wrong values. */
static int64_t try_get(const variable *v, way how)
{
    strided_slab s = draw_slab(v);
    const short *shorts = (const short *)(const void *)values;
    int64_t wrong = 0;

    transpose(v, &s);
    memset(values, 0x55, sizeof values);
    succeed(get(v, &s, how, values), v->name);
    for (int64_t i = 0; i < s.n; i++) {
        int64_t in_memory, element = find_element(v, &s, i, &in_memory);
        double got = how == SHORTS ? shorts[i] : values[how == TRANSPOSED ? in_memory : i];

        wrong += got != value_of(v->varid, element);
    }
    return wrong;
}

static void test_variables(void)
{
    int64_t wrong = 0;

    create(t_path("strided.nc"));
    for (int i = 0; i < CASES; i++) {
        const variable *v = &variables[rand() % VARIABLES];
        way how = (way)(i % WAYS);

        if (how == INDEPENDENT)
            succeed(ncmpi_begin_indep_data(ncid), "begin_indep_data");
        wrong += try_get(v, how);
        if (how == INDEPENDENT)
            succeed(ncmpi_end_indep_data(ncid), "end_indep_data");
    }
    succeed(ncmpi_close(ncid), "close");
    t_check(wrong == 0, "%d gets of random strides: %lld wrong values", CASES, (long long)wrong);
}

/* --- puts --- */

/* Every n-th value of this rank's part of the slowest dimension, where the other ranks write nothing. */
static strided_slab choose_part(const variable *v, int stride)
{
    int64_t rows = v->shape[0] / t_nprocs;
    strided_slab s = {.n = 1};

    for (int d = 0; d < v->ndims; d++) {
        bool last = d == v->ndims - 1;

        s.start[d] = d == 0 ? rows * t_rank : 0;
        s.stride[d] = last ? stride : 1;
        s.count[d] = ((d == 0 ? rows : v->shape[d]) - 1) / s.stride[d] + 1;
        s.n *= s.count[d];
    }
    return s;
}

/* -1 where the rank of this part of the variable has put, otherwise what was there before. */
static double expect_value(const variable *v, int64_t element, int stride, bool was_written)
{
    int64_t row = v->ndims == 1 ? 1 : v->shape[1], part = v->shape[0] / t_nprocs;
    int64_t column = v->ndims == 1 ? element % part : element % row;

    if (element / row < part * t_nprocs && column % stride == 0)
        return -1;
    return was_written ? value_of(v->varid, element) : 0;
}

/* The number of wrong values. Values that were never written are zeros. */
static int64_t try_put(const variable *v, int stride, bool was_written)
{
    strided_slab s = choose_part(v, stride);
    int64_t wrong = 0, n = count_elements(v);

    for (int64_t i = 0; i < s.n; i++)
        values[i] = -1;
    succeed(ncmpi_put_vars_double_all(ncid, v->varid, s.start, s.count, s.stride, values), v->name);
    succeed(ncmpi_get_var_double_all(ncid, v->varid, values), v->name);
    for (int64_t i = 0; i < n; i++)
        wrong += values[i] != expect_value(v, i, stride, was_written);
    return wrong;
}

static void test_puts(void)
{
    int64_t wrong = 0;

    for (int stride = 2; stride < 5; stride++) {
        create(t_path("puts.nc"));
        for (int i = 0; i < VARIABLES; i++)
            if (variables[i].ndims < 3)
                wrong += try_put(&variables[i], stride, true);
        succeed(ncmpi_close(ncid), "close");
        succeed(ncmpi_create(MPI_COMM_WORLD, t_path("puts.nc"), NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
        define(&variables[0]);
        succeed(ncmpi_enddef(ncid), "enddef");
        wrong += try_put(&variables[0], stride, false);
        succeed(ncmpi_close(ncid), "close");
    }
    t_check(wrong == 0, "puts of every n-th value of separate parts: %lld wrong values", (long long)wrong);
}

/* --- special files --- */

/* A value of each record, with those of another variable between them. */
static void test_records(void)
{
    MPI_Offset start[1] = {0}, count[1] = {t_rank == 0 ? RECORDS : 0}, stride[1] = {2};
    int dim, first, second, wrong = 0;
    static double got[RECORDS];

    succeed(ncmpi_create(MPI_COMM_WORLD, t_path("records.nc"), NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    succeed(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dim), "def_dim");
    succeed(ncmpi_def_var(ncid, "first", NC_DOUBLE, 1, &dim, &first), "def_var");
    succeed(ncmpi_def_var(ncid, "second", NC_FLOAT, 1, &dim, &second), "def_var");
    succeed(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < RECORDS; i++)
        values[i] = i;
    succeed(ncmpi_put_vara_double_all(ncid, first, start, count, values), "put");
    for (int i = 0; i < RECORDS; i++)
        values[i] = -i;
    succeed(ncmpi_put_vara_double_all(ncid, second, start, count, values), "put");
    for (stride[0] = 1; stride[0] < 4; stride[0]++) {
        start[0] = t_rank;
        count[0] = (RECORDS - 1 - start[0]) / stride[0] + 1;
        succeed(ncmpi_get_vars_double_all(ncid, first, start, count, stride, got), "get");
        for (MPI_Offset i = 0; i < count[0]; i++)
            wrong += got[i] != (double)(start[0] + i * stride[0]);
        succeed(ncmpi_get_vars_double_all(ncid, second, start, count, stride, got), "get");
        for (MPI_Offset i = 0; i < count[0]; i++)
            wrong += got[i] != -(double)(start[0] + i * stride[0]);
    }
    succeed(ncmpi_close(ncid), "close");
    t_check(wrong == 0, "one value of each record: %d wrong values", wrong);
}

/* The end of the variable was never written: zeros. */
static void test_short_file(void)
{
    variable *v = &variables[0];
    MPI_Offset start = 0, count = t_rank == 0 ? WRITTEN : 0, stride = 3, n = (v->shape[0] - 1) / stride + 1;
    int wrong = 0;

    succeed(ncmpi_create(MPI_COMM_WORLD, t_path("short.nc"), NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    define(v);
    succeed(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < WRITTEN; i++)
        values[i] = value_of(v->varid, i);
    succeed(ncmpi_put_vara_double_all(ncid, v->varid, &start, &count, values), "put");
    succeed(ncmpi_get_vars_double_all(ncid, v->varid, &start, &n, &stride, values), "get");
    for (MPI_Offset i = 0; i < n; i++)
        wrong += values[i] != (i * stride < WRITTEN ? value_of(v->varid, i * stride) : 0);
    succeed(ncmpi_close(ncid), "close");
    t_check(wrong == 0, "a file that ends before its variable: %d wrong values", wrong);
}

/* --- locks: other programs of one rank sieve the same file --- */

/* Another process. It has the lock of the whole file when the pipe has its first byte, and gives it back after the
 * second one. */
static pid_t lock_elsewhere(const char *path, int *pipe_end)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int ends[2];
    pid_t child;
    char byte;

    if (pipe(ends) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        int fd = open(path, O_RDWR), done = fd >= 0 && fcntl(fd, F_SETLK, &all) == 0 && write(ends[1], "l", 1) == 1;

        usleep(100000);
        _exit(done && write(ends[1], "u", 1) == 1 ? 0 : 1);
    }
    *pipe_end = ends[0];
    close(ends[1]);
    return child > 0 && read(ends[0], &byte, 1) == 1 ? child : -1;
}

static bool has_lock(const char *path)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool is_locked = false;
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        int fd = open(path, O_RDWR);

        _exit(fd < 0 || fcntl(fd, F_GETLK, &all) != 0 || all.l_type != F_UNLCK);
    }
    if (child > 0 && waitpid(child, &status, 0) == child)
        is_locked = status != 0;
    return is_locked;
}

static int put_strided(void)
{
    MPI_Offset start = 1, count = 2000, stride = 3;

    return ncmpi_put_vars_double_all(ncid, 0, &start, &count, &stride, values);
}

static int put_list(void)
{
    static MPI_Offset at[500];
    MPI_Offset *starts[500];

    for (int i = 0; i < 500; i++) {
        at[i] = 7 * i;
        starts[i] = &at[i];
    }
    return ncmpi_put_varn_double_all(ncid, 0, 500, starts, NULL, values);
}

static void check_lock(const char *path, int (*put)(void), const char *what)
{
    struct pollfd end = {.events = POLLIN};
    pid_t child = lock_elsewhere(path, &end.fd);
    int status = 1;

    t_check(child > 0, "%s: another process has locked the file", what);
    t_check(put() == NC_NOERR, "%s: put", what);
    t_check(poll(&end, 1, 0) == 1, "%s: it waits for the lock of the other process", what);
    t_check(waitpid(child, &status, 0) == child && status == 0, "%s: which has ended", what);
    t_check(!has_lock(path), "%s: leaves no lock", what);
    close(end.fd);
}

/* A program of several ranks does not lock: MPI-IO does what it needs. */
static void test_locks(void)
{
    const char *path = t_path("locks.nc");
    int dim, varid;

    if (t_nprocs > 1)
        return;
    succeed(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    succeed(ncmpi_def_dim(ncid, "x", 10000, &dim), "def_dim");
    succeed(ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, &dim, &varid), "def_var");
    succeed(ncmpi_enddef(ncid), "enddef");
    check_lock(path, put_strided, "put_vars");
    check_lock(path, put_list, "put_varn with small gaps");
    succeed(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    srand(31 + (unsigned)t_rank);
    test_variables();
    test_puts();
    test_records();
    test_short_file();
    test_locks();
    return t_finish();
}
