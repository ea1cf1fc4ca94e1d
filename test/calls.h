/* Calls of the put/get families, blocking or not, for one variable or several, chosen at run time, so that a test can
 * loop over types and shapes. */
#ifndef TEST_CALLS_H
#define TEST_CALLS_H

#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stddef.h>

enum memory {
    M_TEXT,
    M_SCHAR,
    M_UCHAR,
    M_SHORT,
    M_USHORT,
    M_INT,
    M_UINT,
    M_LONG,
    M_FLOAT,
    M_DOUBLE,
    M_LONGLONG,
    M_ULONGLONG,
    MEMORIES
};
enum shape { VAR, VAR1, VARA, VARS, VARM, VARN, VARD, SHAPES }; /* VARD: flexible, and never posted */
enum post { NOW, POSTED, BUFFERED };                            /* put or get; iput or iget; bput */

struct call {
    bool put, collective, flexible;
    enum post post;
    enum shape shape;
    enum memory memory;                              /* not used by flexible calls */
    const MPI_Offset *start, *count, *stride, *imap; /* as far as the shape has them */
    int num;                                         /* of the blocks of varn */
    MPI_Offset *const *starts, *const *counts;
    void *buffer;
    MPI_Offset bufcount; /* flexible calls only */
    MPI_Datatype buftype;
    MPI_Datatype filetype; /* VARD only */
    int *request;          /* of calls that post one */
};

/* mput or mget: the arrays of a call, one element per variable. */
struct multi_call {
    bool put, collective, flexible;
    enum shape shape; /* up to VARM */
    enum memory memory;
    int num, *varids;
    MPI_Offset *const *starts, *const *counts, *const *strides, *const *imaps;
    void **buffers;
    const MPI_Offset *bufcounts;
    const MPI_Datatype *buftypes;
};

static const struct memory_type {
    const char *name;
    size_t size;
    MPI_Datatype mpi;
} memory_types[MEMORIES] = {
    {"text", 1, MPI_CHAR},
    {"schar", 1, MPI_SIGNED_CHAR},
    {"uchar", 1, MPI_UNSIGNED_CHAR},
    {"short", sizeof(short), MPI_SHORT},
    {"ushort", sizeof(short), MPI_UNSIGNED_SHORT},
    {"int", sizeof(int), MPI_INT},
    {"uint", sizeof(int), MPI_UNSIGNED},
    {"long", sizeof(long), MPI_LONG},
    {"float", sizeof(float), MPI_FLOAT},
    {"double", sizeof(double), MPI_DOUBLE},
    {"longlong", sizeof(long long), MPI_LONG_LONG},
    {"ulonglong", sizeof(long long), MPI_UNSIGNED_LONG_LONG},
};

static const char *const shape_names[SHAPES] = {"var", "var1", "vara", "vars", "varm", "varn", "vard"};

/* The memory type that holds an external type exactly; index is the external type 1..11. */
static const enum memory memory_of_type[12] = {M_INT,    M_SCHAR, M_TEXT,   M_SHORT, M_INT,      M_FLOAT,
                                               M_DOUBLE, M_UCHAR, M_USHORT, M_UINT,  M_LONGLONG, M_ULONGLONG};

/* One function for each shape; the arguments that all of them end with come last. */
#define CALL_BY_SHAPE(way, end, ...)                                                                             \
    switch (c->shape) {                                                                                          \
    case VAR: return ncmpi_##way##_var##end(ncid, varid, __VA_ARGS__);                                           \
    case VAR1: return ncmpi_##way##_var1##end(ncid, varid, c->start, __VA_ARGS__);                               \
    case VARA: return ncmpi_##way##_vara##end(ncid, varid, c->start, c->count, __VA_ARGS__);                     \
    case VARS: return ncmpi_##way##_vars##end(ncid, varid, c->start, c->count, c->stride, __VA_ARGS__);          \
    case VARM: return ncmpi_##way##_varm##end(ncid, varid, c->start, c->count, c->stride, c->imap, __VA_ARGS__); \
    default: return ncmpi_##way##_varn##end(ncid, varid, c->num, c->starts, c->counts, __VA_ARGS__);             \
    }

#define CALLS_OF_TYPE(suffix, ctype)                                               \
    static inline int call_put_##suffix(int ncid, int varid, const struct call *c) \
    {                                                                              \
        if (c->post == POSTED)                                                     \
            CALL_BY_SHAPE(iput, _##suffix, (const ctype *)c->buffer, c->request)   \
        if (c->post == BUFFERED)                                                   \
            CALL_BY_SHAPE(bput, _##suffix, (const ctype *)c->buffer, c->request)   \
        if (c->collective)                                                         \
            CALL_BY_SHAPE(put, _##suffix##_all, (const ctype *)c->buffer)          \
        CALL_BY_SHAPE(put, _##suffix, (const ctype *)c->buffer)                    \
    }                                                                              \
    static inline int call_get_##suffix(int ncid, int varid, const struct call *c) \
    {                                                                              \
        if (c->post != NOW)                                                        \
            CALL_BY_SHAPE(iget, _##suffix, (ctype *)c->buffer, c->request)         \
        if (c->collective)                                                         \
            CALL_BY_SHAPE(get, _##suffix##_all, (ctype *)c->buffer)                \
        CALL_BY_SHAPE(get, _##suffix, (ctype *)c->buffer)                          \
    }

#define MULTI_BY_SHAPE(way, end, ...)                                                                                  \
    switch (m->shape) {                                                                                                \
    case VAR: return ncmpi_##way##_var##end(ncid, m->num, m->varids, __VA_ARGS__);                                     \
    case VAR1: return ncmpi_##way##_var1##end(ncid, m->num, m->varids, m->starts, __VA_ARGS__);                        \
    case VARA: return ncmpi_##way##_vara##end(ncid, m->num, m->varids, m->starts, m->counts, __VA_ARGS__);             \
    case VARS: return ncmpi_##way##_vars##end(ncid, m->num, m->varids, m->starts, m->counts, m->strides, __VA_ARGS__); \
    default:                                                                                                           \
        return ncmpi_##way##_varm##end(ncid, m->num, m->varids, m->starts, m->counts, m->strides, m->imaps,            \
                                       __VA_ARGS__);                                                                   \
    }

#define MULTI_OF_TYPE(suffix, ctype)                                           \
    static inline int multi_put_##suffix(int ncid, const struct multi_call *m) \
    {                                                                          \
        if (m->collective)                                                     \
            MULTI_BY_SHAPE(mput, _##suffix##_all, (ctype *const *)m->buffers)  \
        MULTI_BY_SHAPE(mput, _##suffix, (ctype *const *)m->buffers)            \
    }                                                                          \
    static inline int multi_get_##suffix(int ncid, const struct multi_call *m) \
    {                                                                          \
        if (m->collective)                                                     \
            MULTI_BY_SHAPE(mget, _##suffix##_all, (ctype **)m->buffers)        \
        MULTI_BY_SHAPE(mget, _##suffix, (ctype **)m->buffers)                  \
    }

#define CALLS_AND_MULTI(suffix, ctype) \
    CALLS_OF_TYPE(suffix, ctype)       \
    MULTI_OF_TYPE(suffix, ctype)

CALLS_AND_MULTI(text, char)
CALLS_AND_MULTI(schar, signed char)
CALLS_AND_MULTI(uchar, unsigned char)
CALLS_AND_MULTI(short, short)
CALLS_AND_MULTI(ushort, unsigned short)
CALLS_AND_MULTI(int, int)
CALLS_AND_MULTI(uint, unsigned int)
CALLS_AND_MULTI(long, long)
CALLS_AND_MULTI(float, float)
CALLS_AND_MULTI(double, double)
CALLS_AND_MULTI(longlong, long long)
CALLS_AND_MULTI(ulonglong, unsigned long long)

static inline int call_put_flexible(int ncid, int varid, const struct call *c)
{
    if (c->post == POSTED)
        CALL_BY_SHAPE(iput, , c->buffer, c->bufcount, c->buftype, c->request)
    if (c->post == BUFFERED)
        CALL_BY_SHAPE(bput, , c->buffer, c->bufcount, c->buftype, c->request)
    if (c->collective)
        CALL_BY_SHAPE(put, _all, c->buffer, c->bufcount, c->buftype)
    CALL_BY_SHAPE(put, , c->buffer, c->bufcount, c->buftype)
}

static inline int call_get_flexible(int ncid, int varid, const struct call *c)
{
    if (c->post != NOW)
        CALL_BY_SHAPE(iget, , c->buffer, c->bufcount, c->buftype, c->request)
    if (c->collective)
        CALL_BY_SHAPE(get, _all, c->buffer, c->bufcount, c->buftype)
    CALL_BY_SHAPE(get, , c->buffer, c->bufcount, c->buftype)
}

static inline int call_vard(int ncid, int varid, const struct call *c)
{
    if (c->put && c->collective)
        return ncmpi_put_vard_all(ncid, varid, c->filetype, c->buffer, c->bufcount, c->buftype);
    if (c->put)
        return ncmpi_put_vard(ncid, varid, c->filetype, c->buffer, c->bufcount, c->buftype);
    if (c->collective)
        return ncmpi_get_vard_all(ncid, varid, c->filetype, c->buffer, c->bufcount, c->buftype);
    return ncmpi_get_vard(ncid, varid, c->filetype, c->buffer, c->bufcount, c->buftype);
}

static inline int multi_put_flexible(int ncid, const struct multi_call *m)
{
    if (m->collective)
        MULTI_BY_SHAPE(mput, _all, m->buffers, m->bufcounts, m->buftypes)
    MULTI_BY_SHAPE(mput, , m->buffers, m->bufcounts, m->buftypes)
}

static inline int multi_get_flexible(int ncid, const struct multi_call *m)
{
    if (m->collective)
        MULTI_BY_SHAPE(mget, _all, m->buffers, m->bufcounts, m->buftypes)
    MULTI_BY_SHAPE(mget, , m->buffers, m->bufcounts, m->buftypes)
}

/* Carries the call out and returns its code. */
static inline int call_run(int ncid, int varid, const struct call *c)
{
    typedef int typed_call(int, int, const struct call *);
    static typed_call *const puts_by_memory[MEMORIES] = {
        call_put_text, call_put_schar, call_put_uchar, call_put_short,  call_put_ushort,   call_put_int,
        call_put_uint, call_put_long,  call_put_float, call_put_double, call_put_longlong, call_put_ulonglong,
    };
    static typed_call *const gets_by_memory[MEMORIES] = {
        call_get_text, call_get_schar, call_get_uchar, call_get_short,  call_get_ushort,   call_get_int,
        call_get_uint, call_get_long,  call_get_float, call_get_double, call_get_longlong, call_get_ulonglong,
    };
    if (c->shape == VARD)
        return call_vard(ncid, varid, c);
    if (c->flexible)
        return c->put ? call_put_flexible(ncid, varid, c) : call_get_flexible(ncid, varid, c);
    return (c->put ? puts_by_memory : gets_by_memory)[c->memory](ncid, varid, c);
}

static inline int multi_run(int ncid, const struct multi_call *m)
{
    typedef int typed_multi(int, const struct multi_call *);
    static typed_multi *const puts_by_memory[MEMORIES] = {
        multi_put_text, multi_put_schar, multi_put_uchar, multi_put_short,  multi_put_ushort,   multi_put_int,
        multi_put_uint, multi_put_long,  multi_put_float, multi_put_double, multi_put_longlong, multi_put_ulonglong,
    };
    static typed_multi *const gets_by_memory[MEMORIES] = {
        multi_get_text, multi_get_schar, multi_get_uchar, multi_get_short,  multi_get_ushort,   multi_get_int,
        multi_get_uint, multi_get_long,  multi_get_float, multi_get_double, multi_get_longlong, multi_get_ulonglong,
    };
    if (m->flexible)
        return m->put ? multi_put_flexible(ncid, m) : multi_get_flexible(ncid, m);
    return (m->put ? puts_by_memory : gets_by_memory)[m->memory](ncid, m);
}

#endif
