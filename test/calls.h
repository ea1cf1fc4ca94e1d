/* Typed and flexible put/get calls chosen at run time, so that a test can loop over types and shapes. */
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
enum shape { VAR, VAR1, VARA, VARS, VARM, SHAPES };

struct call {
    bool put, collective, flexible;
    enum shape shape;
    enum memory memory;                              /* not used by flexible calls */
    const MPI_Offset *start, *count, *stride, *imap; /* as far as the shape has them */
    void *buffer;
    MPI_Offset bufcount; /* flexible calls only */
    MPI_Datatype buftype;
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

static const char *const shape_names[SHAPES] = {"var", "var1", "vara", "vars", "varm"};

/* The memory type that holds an external type exactly; index is the external type 1..11. */
static const enum memory memory_of_type[12] = {M_INT,    M_SCHAR, M_TEXT,   M_SHORT, M_INT,      M_FLOAT,
                                               M_DOUBLE, M_UCHAR, M_USHORT, M_UINT,  M_LONGLONG, M_ULONGLONG};

#define CALLS_OF_WAY(way, suffix, ctype)                                                                               \
    static inline int call_##way##_##suffix(int ncid, int varid, const struct call *c)                                 \
    {                                                                                                                  \
        switch (c->shape) {                                                                                            \
        case VAR:                                                                                                      \
            return c->collective ? ncmpi_##way##_var_##suffix##_all(ncid, varid, (ctype *)c->buffer)                   \
                                 : ncmpi_##way##_var_##suffix(ncid, varid, (ctype *)c->buffer);                        \
        case VAR1:                                                                                                     \
            return c->collective ? ncmpi_##way##_var1_##suffix##_all(ncid, varid, c->start, (ctype *)c->buffer)        \
                                 : ncmpi_##way##_var1_##suffix(ncid, varid, c->start, (ctype *)c->buffer);             \
        case VARA:                                                                                                     \
            return c->collective                                                                                       \
                       ? ncmpi_##way##_vara_##suffix##_all(ncid, varid, c->start, c->count, (ctype *)c->buffer)        \
                       : ncmpi_##way##_vara_##suffix(ncid, varid, c->start, c->count, (ctype *)c->buffer);             \
        case VARS:                                                                                                     \
            return c->collective                                                                                       \
                       ? ncmpi_##way##_vars_##suffix##_all(ncid, varid, c->start, c->count, c->stride,                 \
                                                           (ctype *)c->buffer)                                         \
                       : ncmpi_##way##_vars_##suffix(ncid, varid, c->start, c->count, c->stride, (ctype *)c->buffer);  \
        default:                                                                                                       \
            return c->collective ? ncmpi_##way##_varm_##suffix##_all(ncid, varid, c->start, c->count, c->stride,       \
                                                                     c->imap, (ctype *)c->buffer)                      \
                                 : ncmpi_##way##_varm_##suffix(ncid, varid, c->start, c->count, c->stride, c->imap,    \
                                                               (ctype *)c->buffer);                                    \
        }                                                                                                              \
    }

#define CALLS_OF_TYPE(suffix, ctype)                                                                                   \
    CALLS_OF_WAY(put, suffix, const ctype)                                                                             \
    CALLS_OF_WAY(get, suffix, ctype)

CALLS_OF_TYPE(text, char)
CALLS_OF_TYPE(schar, signed char)
CALLS_OF_TYPE(uchar, unsigned char)
CALLS_OF_TYPE(short, short)
CALLS_OF_TYPE(ushort, unsigned short)
CALLS_OF_TYPE(int, int)
CALLS_OF_TYPE(uint, unsigned int)
CALLS_OF_TYPE(long, long)
CALLS_OF_TYPE(float, float)
CALLS_OF_TYPE(double, double)
CALLS_OF_TYPE(longlong, long long)
CALLS_OF_TYPE(ulonglong, unsigned long long)

#define CALLS_FLEXIBLE(way)                                                                                            \
    static inline int call_##way##_flexible(int ncid, int varid, const struct call *c)                                 \
    {                                                                                                                  \
        switch (c->shape) {                                                                                            \
        case VAR:                                                                                                      \
            return c->collective ? ncmpi_##way##_var_all(ncid, varid, c->buffer, c->bufcount, c->buftype)              \
                                 : ncmpi_##way##_var(ncid, varid, c->buffer, c->bufcount, c->buftype);                 \
        case VAR1:                                                                                                     \
            return c->collective ? ncmpi_##way##_var1_all(ncid, varid, c->start, c->buffer, c->bufcount, c->buftype)   \
                                 : ncmpi_##way##_var1(ncid, varid, c->start, c->buffer, c->bufcount, c->buftype);      \
        case VARA:                                                                                                     \
            return c->collective                                                                                       \
                       ? ncmpi_##way##_vara_all(ncid, varid, c->start, c->count, c->buffer, c->bufcount, c->buftype)   \
                       : ncmpi_##way##_vara(ncid, varid, c->start, c->count, c->buffer, c->bufcount, c->buftype);      \
        case VARS:                                                                                                     \
            return c->collective ? ncmpi_##way##_vars_all(ncid, varid, c->start, c->count, c->stride, c->buffer,       \
                                                          c->bufcount, c->buftype)                                     \
                                 : ncmpi_##way##_vars(ncid, varid, c->start, c->count, c->stride, c->buffer,           \
                                                      c->bufcount, c->buftype);                                        \
        default:                                                                                                       \
            return c->collective ? ncmpi_##way##_varm_all(ncid, varid, c->start, c->count, c->stride, c->imap,         \
                                                          c->buffer, c->bufcount, c->buftype)                          \
                                 : ncmpi_##way##_varm(ncid, varid, c->start, c->count, c->stride, c->imap, c->buffer,  \
                                                      c->bufcount, c->buftype);                                        \
        }                                                                                                              \
    }

CALLS_FLEXIBLE(put)
CALLS_FLEXIBLE(get)

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
    if (c->flexible)
        return c->put ? call_put_flexible(ncid, varid, c) : call_get_flexible(ncid, varid, c);
    return (c->put ? puts_by_memory : gets_by_memory)[c->memory](ncid, varid, c);
}

#endif
