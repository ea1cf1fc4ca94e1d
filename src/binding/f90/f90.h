/* Module pnetcdf consists of interfaces that are bound to C functions pncf90_*: those of this folder. They receive what
 * Fortran knows of its arguments as C descriptors (ISO_Fortran_binding.h, Fortran 2018, 18.4) and call ncmpi_*. Fortran
 * counts dimensions from the fastest, and ids and indices from 1: both are turned round here. An optional argument that
 * is absent is NULL. */
#ifndef PNC_BINDING_F90_H
#define PNC_BINDING_F90_H

#include <ISO_Fortran_binding.h>
#include <stdbool.h>

#include <pnetcdf.h>

/* What only Fortran calls needs no prototype: it is declared in the module. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* --- text --- */

/* Longer than any name or path that is accepted: what is cut off is refused for its length by whom it is passed to. */
#define PNCF90_TEXT_MAX 8192

/* Of text, without the blanks at its end. */
size_t pnc_f90_text_get_length(const CFI_cdesc_t *text);

/* Copy text without the blanks at its end to `to`, which has room for PNCF90_TEXT_MAX characters; returns it. */
const char *pnc_f90_text_copy_in(const CFI_cdesc_t *text, char *to);

/* Copy a C string into a Fortran variable, filled up with blanks; NC_ESTS where it is too short, then holding the
 * beginning. */
int pnc_f90_text_copy_out(const char *text, const CFI_cdesc_t *to);

/* --- arrays of values --- */

#define PNCF90_MAX_RANK (CFI_MAX_RANK + 1)

/* An array of elements, fastest dimension first. Characters are elements, and the length of strings a dimension. */
typedef struct pnc_f90_array {
    char *base;
    MPI_Datatype element; /* MPI_DATATYPE_NULL for types that netCDF does not know */
    nc_type kind;         /* the external type of the same values; NC_NAT for those */
    MPI_Offset size;      /* bytes of an element */
    int rank;
    MPI_Offset extent[PNCF90_MAX_RANK]; /* the last is -1 for an assumed-size array */
    MPI_Aint distance[PNCF90_MAX_RANK]; /* in bytes */
} pnc_f90_array;

/* `ndims` is the rank of the variable that the values belong to: an array of single characters may have the same. */
pnc_f90_array pnc_f90_array_get(const CFI_cdesc_t *values, int ndims);

/* Number of elements; PNCF90_UNKNOWN for an assumed-size array. */
#define PNCF90_UNKNOWN INT64_MAX
MPI_Offset pnc_f90_array_count_elements(const pnc_f90_array *array);

bool pnc_f90_array_is_contiguous(const pnc_f90_array *array);

/* A committed datatype, to be freed, of the first n elements of an array, each of type `element`; NC_ENOMEM. */
int pnc_f90_array_create_type(const pnc_f90_array *array, MPI_Datatype element, MPI_Offset n, MPI_Datatype *type);

/* --- put and get --- */

typedef enum { PNCF90_PUT, PNCF90_GET, PNCF90_IPUT, PNCF90_IGET, PNCF90_BPUT } pnc_f90_op;

/* What a generic of the module was called with. */
typedef struct pnc_f90_call {
    pnc_f90_op op;
    bool collective;
    int ncid, varid;
    const CFI_cdesc_t *values, *start, *count, *stride, *map;
    const int *num;
    const MPI_Offset *bufcount;
    const MPI_Fint *buftype; /* NULL: the values' own type */
    int *req;
} pnc_f90_call;

/* The same in C's order and base, and the shape of the C function that takes it; NULL where that has a default. */
typedef enum { PNCF90_VAR1, PNCF90_VARA, PNCF90_VARS, PNCF90_VARM, PNCF90_VARN } pnc_f90_shape;

typedef struct pnc_f90_hyperslab {
    pnc_f90_shape shape;
    MPI_Offset *start, *count, *stride, *map;
    int num;
    MPI_Offset **starts, **counts;
} pnc_f90_hyperslab;

/* The values, for the function of the C type that belongs to an external type, or for a flexible one: NC_NAT. */
typedef struct pnc_f90_buffer {
    nc_type kind;
    void *base;
    MPI_Offset count;
    MPI_Datatype type;
    bool owned; /* the type is ours to free */
} pnc_f90_buffer;

int pnc_f90_call_dispatch(const pnc_f90_call *call, const pnc_f90_hyperslab *slab, const pnc_f90_buffer *buffer);

int pnc_f90_call_execute(const pnc_f90_call *call);
int pnc_f90_call_execute_varn(const pnc_f90_call *call);
int pnc_f90_call_execute_vard(const pnc_f90_call *call, MPI_Datatype filetype);

/* --- attributes and fill values, in memory of the type that the external type `kind` has in C --- */

int pnc_f90_attribute_get(int ncid, int varid, const CFI_cdesc_t *name, nc_type kind, MPI_Offset capacity,
                          void *values);
int pnc_f90_fill_define(int ncid, int varid, int no_fill, nc_type kind, const void *value);
int pnc_f90_fill_inquire(int ncid, int varid, int *no_fill, nc_type kind, void *value);

#endif
