/* The library's side of the benchmark: one dataset with one or two variables, and the calls to be timed. */
#include "bench_library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_measure.h"

#define CALLS(suffix, T)                                                                                             \
    static int put_##suffix(int ncid, int varid, const MPI_Offset *start, const MPI_Offset *count, const void *from) \
    {                                                                                                                \
        return ncmpi_put_vara_##suffix##_all(ncid, varid, start, count, (const T *)from);                            \
    }                                                                                                                \
    static int get_##suffix(int ncid, int varid, const MPI_Offset *start, const MPI_Offset *count, void *to)         \
    {                                                                                                                \
        return ncmpi_get_vara_##suffix##_all(ncid, varid, start, count, (T *)to);                                    \
    }

CALLS(schar, signed char)
CALLS(text, char)
CALLS(short, short)
CALLS(int, int)
CALLS(float, float)
CALLS(double, double)
CALLS(uchar, unsigned char)
CALLS(ushort, unsigned short)
CALLS(uint, unsigned int)
CALLS(longlong, long long)
CALLS(ulonglong, unsigned long long)

/* clang-format off */
#define TYPE(suffix, external, T) {#suffix, external, sizeof(T), put_##suffix, get_##suffix}
/* clang-format on */

static const struct bench_type types[] = {
    TYPE(schar, NC_BYTE, char),       TYPE(text, NC_CHAR, char),          TYPE(short, NC_SHORT, short),
    TYPE(int, NC_INT, int),           TYPE(float, NC_FLOAT, float),       TYPE(double, NC_DOUBLE, double),
    TYPE(uchar, NC_UBYTE, char),      TYPE(ushort, NC_USHORT, short),     TYPE(uint, NC_UINT, int),
    TYPE(longlong, NC_INT64, double), TYPE(ulonglong, NC_UINT64, double),
};

size_t bench_type_count(void)
{
    return sizeof types / sizeof *types;
}

const struct bench_type *bench_type_at(size_t i)
{
    return &types[i];
}

const struct bench_type *bench_type_find(const char *name)
{
    for (size_t i = 0; i < bench_type_count(); i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    bench_fail("no type %s", name);
}

static void check(int status, const char *call, const struct bench_job *job)
{
    if (status != NC_NOERR)
        bench_fail("rank %d: %s on %s: %s", job->rank, call, job->path, ncmpi_strerror(status));
}

static void check_mpi(int status, const char *call, const struct bench_job *job)
{
    if (status != MPI_SUCCESS)
        bench_fail("rank %d: %s on %s: MPI error %d", job->rank, call, job->path, status);
}

static int file_open(const struct bench_job *job, int flags)
{
    int fd = open(job->path, flags, 0666);
    if (fd < 0)
        bench_fail("rank %d: %s: %s", job->rank, job->path, strerror(errno));
    return fd;
}

/* Overwriting is what is compared, so neither side may pay for the first touch of a page of the file. */
static void pages_allocate(const struct bench_job *job, off_t bytes)
{
    int error = job->rank == 0 ? posix_fallocate(job->plan.fd, 0, bytes) : 0;
    if (error)
        bench_fail("%s: cannot be extended to %lld bytes: %s", job->path, (long long)bytes, strerror(error));
    MPI_Barrier(MPI_COMM_WORLD);
}

void bench_job_open(struct bench_job *job)
{
    static const char *const names[] = {"z", "y", "x"};
    int dims[3];
    MPI_Offset offset, bytes = (MPI_Offset)job->external->size;
    int mode = NC_CLOBBER | NC_64BIT_DATA;
    check(ncmpi_create(MPI_COMM_WORLD, job->path, mode, MPI_INFO_NULL, &job->ncid), "create", job);
    for (int d = 0; d < job->ndims; d++) {
        check(ncmpi_def_dim(job->ncid, names[d], job->shape[d], &dims[d]), "def_dim", job);
        bytes *= job->shape[d];
    }
    check(ncmpi_def_var(job->ncid, "v", job->external->external, job->ndims, dims, &job->varid), "def_var", job);
    check(ncmpi_enddef(job->ncid), "enddef", job);
    check(ncmpi_inq_varoffset(job->ncid, job->varid, &offset), "inq_varoffset", job);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, job->path, MPI_MODE_RDWR, MPI_INFO_NULL, &job->fh), "MPI_File_open", job);
    job->plan.fd = file_open(job, O_RDWR);
    job->plan.codec = bench_codec_find(job->memory->name, job->external->name);
    if (!job->plan.codec)
        bench_fail("the limit has no conversion from %s to %s", job->memory->name, job->external->name);
    job->plan.base += offset;
    pages_allocate(job, offset + bytes);
}

void bench_job_close(struct bench_job *job)
{
    close(job->plan.fd);
    MPI_File_close(&job->fh);
    check(ncmpi_close(job->ncid), "close", job);
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 0)
        unlink(job->path);
}

#define FILL(T)                                                \
    for (size_t i = 0; i < job->memory_bytes / sizeof(T); i++) \
    ((T *)(void *)job->source)[i] = (T)((i * 31 + i / 127 + seed) % 101)

void bench_job_fill(struct bench_job *job, unsigned seed)
{
    if (!strcmp(job->memory->name, "double"))
        FILL(double);
    else if (!strcmp(job->memory->name, "float"))
        FILL(float);
    else if (job->memory->size == 8)
        FILL(long long);
    else if (job->memory->size == 4)
        FILL(int);
    else if (job->memory->size == 2)
        FILL(short);
    else
        FILL(char);
    memset(job->sink, 0xff, job->memory_bytes);
}

/* Gaps in memory must not be touched by a get. */
static bool sink_equal(const struct bench_job *job)
{
    const struct bench_plan *plan = &job->plan;
    size_t row = plan->run * job->memory->size, pitch = plan->memory_row * job->memory->size;
    if (plan->transposed || plan->planes * plan->rows == 1 || pitch == row)
        return !memcmp(job->source, job->sink, job->memory_bytes);
    for (size_t r = 0; r < plan->rows; r++) {
        if (memcmp(job->source + r * pitch, job->sink + r * pitch, row))
            return false;
        for (size_t i = row; i < pitch && r + 1 < plan->rows; i++)
            if (job->sink[r * pitch + i] != (char)0xff)
                return false;
    }
    return true;
}

void bench_job_verify(struct bench_job *job)
{
    bench_job_fill(job, 1);
    bench_raw_put(job);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_library_get(job);
    if (!sink_equal(job))
        bench_fail("rank %d: the library reads other values than the limit wrote", job->rank);
    bench_job_fill(job, 2);
    bench_library_put(job);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_raw_get(job);
    if (!sink_equal(job))
        bench_fail("rank %d: the limit reads other values than the library wrote", job->rank);
}

void bench_library_put(void *argument)
{
    struct bench_job *job = argument;
    const double *from = (const double *)(const void *)job->source;
    int status;
    if (job->buftype != MPI_DATATYPE_NULL)
        status = ncmpi_put_vara_all(job->ncid, job->varid, job->start, job->count, from, 1, job->buftype);
    else if (job->imap[0])
        status = ncmpi_put_varm_double_all(job->ncid, job->varid, job->start, job->count, NULL, job->imap, from);
    else if (job->stride[0] > 1)
        status = ncmpi_put_vars_double_all(job->ncid, job->varid, job->start, job->count, job->stride, from);
    else
        status = job->memory->put(job->ncid, job->varid, job->start, job->count, job->source);
    check(status, "put", job);
}

void bench_library_get(void *argument)
{
    struct bench_job *job = argument;
    double *to = (double *)(void *)job->sink;
    int status;
    if (job->buftype != MPI_DATATYPE_NULL)
        status = ncmpi_get_vara_all(job->ncid, job->varid, job->start, job->count, to, 1, job->buftype);
    else if (job->imap[0])
        status = ncmpi_get_varm_double_all(job->ncid, job->varid, job->start, job->count, NULL, job->imap, to);
    else if (job->stride[0] > 1)
        status = ncmpi_get_vars_double_all(job->ncid, job->varid, job->start, job->count, job->stride, to);
    else
        status = job->memory->get(job->ncid, job->varid, job->start, job->count, job->sink);
    check(status, "get", job);
}

void bench_raw_put(void *argument)
{
    struct bench_job *job = argument;
    bench_limit_put(&job->plan, job->source);
}

void bench_raw_get(void *argument)
{
    struct bench_job *job = argument;
    bench_limit_get(&job->plan, job->sink);
}

void bench_memcpy(void *argument)
{
    struct bench_job *job = argument;
    memcpy(job->sink, job->source, job->memory_bytes);
}

static int elements(const struct bench_job *job)
{
    return (int)(job->plan.planes * job->plan.rows * job->plan.run);
}

/* 8-byte elements of the machine's own order throughout: MPI-IO as such, without conversion. */
void bench_mpiio_put(void *argument)
{
    struct bench_job *job = argument;
    check_mpi(MPI_File_write_at(job->fh, job->plan.base, job->source, elements(job), MPI_DOUBLE, MPI_STATUS_IGNORE),
              "MPI_File_write_at", job);
}

void bench_mpiio_get(void *argument)
{
    struct bench_job *job = argument;
    check_mpi(MPI_File_read_at(job->fh, job->plan.base, job->sink, elements(job), MPI_DOUBLE, MPI_STATUS_IGNORE),
              "MPI_File_read_at", job);
}

/* With a view the offset counts from its start, without from that of the file. */
void bench_mpiio_put_all(void *argument)
{
    struct bench_job *job = argument;
    MPI_Offset at = job->ndims > 1 ? 0 : job->plan.base;
    check_mpi(MPI_File_write_at_all(job->fh, at, job->source, elements(job), MPI_DOUBLE, MPI_STATUS_IGNORE),
              "MPI_File_write_at_all", job);
}

void bench_mpiio_get_all(void *argument)
{
    struct bench_job *job = argument;
    MPI_Offset at = job->ndims > 1 ? 0 : job->plan.base;
    check_mpi(MPI_File_read_at_all(job->fh, at, job->sink, elements(job), MPI_DOUBLE, MPI_STATUS_IGNORE),
              "MPI_File_read_at_all", job);
}

void bench_mpiio_view(struct bench_job *job)
{
    MPI_Datatype view;
    MPI_Offset origin;
    int shape[3], count[3], start[3];
    for (int d = 0; d < job->ndims; d++) {
        shape[d] = (int)job->shape[d];
        count[d] = (int)job->count[d];
        start[d] = (int)job->start[d];
    }
    check(ncmpi_inq_varoffset(job->ncid, job->varid, &origin), "inq_varoffset", job);
    MPI_Type_create_subarray(job->ndims, shape, count, start, MPI_ORDER_C, MPI_DOUBLE, &view);
    MPI_Type_commit(&view);
    check_mpi(MPI_File_set_view(job->fh, origin, MPI_DOUBLE, view, "native", MPI_INFO_NULL), "MPI_File_set_view", job);
    MPI_Type_free(&view);
}

void bench_records_create(void *argument)
{
    struct bench_job *job = argument;
    int dims[2];
    int mode = NC_CLOBBER | NC_64BIT_DATA;
    check(ncmpi_create(MPI_COMM_WORLD, job->path, mode, MPI_INFO_NULL, &job->ncid), "create", job);
    check(ncmpi_def_dim(job->ncid, "time", NC_UNLIMITED, &dims[0]), "def_dim", job);
    check(ncmpi_def_dim(job->ncid, "x", job->shape[1], &dims[1]), "def_dim", job);
    check(ncmpi_def_var(job->ncid, "u", NC_DOUBLE, 2, dims, &job->varid), "def_var", job);
    check(ncmpi_def_var(job->ncid, "v", NC_DOUBLE, 2, dims, &job->varid), "def_var", job);
    check(ncmpi_enddef(job->ncid), "enddef", job);
    check(ncmpi_inq_varoffset(job->ncid, 0, &job->header), "inq_varoffset", job);
}

void bench_records_close(void *argument)
{
    struct bench_job *job = argument;
    check(ncmpi_close(job->ncid), "close", job);
}

void bench_records_reopen(struct bench_job *job)
{
    check(ncmpi_open(MPI_COMM_WORLD, job->path, NC_NOWRITE, MPI_INFO_NULL, &job->ncid), "open", job);
    job->plan.fd = file_open(job, O_RDONLY);
}

static const double *record_of(const struct bench_job *job, const char *buffer, MPI_Offset record, int variable)
{
    return (const double *)(const void *)buffer + (record * 2 + variable) * job->count[1];
}

void bench_records_put(void *argument)
{
    struct bench_job *job = argument;
    MPI_Offset start[2] = {0, job->start[1]}, count[2] = {1, job->count[1]};
    for (; start[0] < job->records; start[0]++)
        for (int v = 0; v < 2; v++)
            check(ncmpi_put_vara_double_all(job->ncid, v, start, count, record_of(job, job->source, start[0], v)),
                  "put", job);
}

void bench_records_get(void *argument)
{
    struct bench_job *job = argument;
    MPI_Offset start[2] = {0, job->start[1]}, count[2] = {1, job->count[1]};
    for (; start[0] < job->records; start[0]++)
        for (int v = 0; v < 2; v++)
            check(ncmpi_get_vara_double_all(job->ncid, v, start, count,
                                            (double *)(size_t)record_of(job, job->sink, start[0], v)),
                  "get", job);
}

void bench_records_raw_create(void *argument)
{
    struct bench_job *job = argument;
    if (job->rank == 0)
        close(file_open(job, O_RDWR | O_CREAT | O_TRUNC));
    MPI_Barrier(MPI_COMM_WORLD);
    job->plan.fd = file_open(job, O_RDWR);
}

void bench_records_raw_close(void *argument)
{
    struct bench_job *job = argument;
    close(job->plan.fd);
}

static struct bench_plan record_plan(const struct bench_job *job, MPI_Offset record, int variable)
{
    struct bench_plan plan = job->plan;
    plan.base = job->header + record * job->record_bytes + variable * job->variable_bytes + job->start[1] * 8;
    return plan;
}

/* A collective call of several ranks needs one reduction at least, in which they agree on errors. */
static void reduce_errors(const struct bench_job *job)
{
    long long errors[4] = {0};
    if (job->nprocs > 1)
        MPI_Allreduce(MPI_IN_PLACE, errors, 4, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
}

/* Appending a record owes the file its new number of records: 8 bytes at offset 4 in CDF-5, written by one rank. */
void bench_records_raw_put(void *argument)
{
    struct bench_job *job = argument;
    for (MPI_Offset record = 0; record < job->records; record++)
        for (int v = 0; v < 2; v++) {
            struct bench_plan plan = record_plan(job, record, v);
            bench_limit_put(&plan, record_of(job, job->source, record, v));
            unsigned long long numrecs = __builtin_bswap64((unsigned long long)record + 1);
            if (job->rank == 0 && v == 0)
                bench_pwrite(plan.fd, &numrecs, sizeof numrecs, 4);
            reduce_errors(job);
        }
}

void bench_records_raw_get(void *argument)
{
    struct bench_job *job = argument;
    for (MPI_Offset record = 0; record < job->records; record++)
        for (int v = 0; v < 2; v++) {
            struct bench_plan plan = record_plan(job, record, v);
            bench_limit_get(&plan, (void *)(size_t)record_of(job, job->sink, record, v));
            reduce_errors(job);
        }
}
