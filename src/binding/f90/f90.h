/* Module pnetcdf consists of interfaces bound to the C functions pncf90_* of this folder. These receive arguments as C
 * descriptors (ISO_Fortran_binding.h, Fortran 2018, 18.4) and call ncmpi_*. An optional argument that is absent is
 * NULL. */
#ifndef PNC_BINDING_F90_H
#define PNC_BINDING_F90_H

#include <ISO_Fortran_binding.h>
#include <stdbool.h>

#include "binding/fortran.h"

/* Functions that only Fortran calls are declared in the module, without a prototype in C. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* nf90mpi_<name> calls ncmpi_<function>. pnc_dataset_caller_end follows. */
#define PNC_F90_BEGIN(caller, name, function, ncid) \
    pnc_dataset_caller_begin(caller, PNC_LANGUAGE_F90, "nf90mpi_" #name, "ncmpi_" #function, ncid)

/* --- text: the functions of binding/fortran.h for descriptors --- */

static inline const char *pnc_f90_text_convert(const CFI_cdesc_t *text, char *to)
{
    return pnc_binding_text_convert(text->base_addr, text->elem_len, to);
}

static inline void pnc_f90_text_return(const char *from, const CFI_cdesc_t *text, pnc_error *error)
{
    (void)pnc_binding_text_return(from, text->base_addr, text->elem_len, error);
}

/* --- arrays of values --- */

#define PNCF90_MAX_RANK (CFI_MAX_RANK + 1)

/* An array of elements, fastest dimension first. Characters are elements, and the length of strings a dimension. */
typedef struct pnc_f90_array {
    char *base;
    MPI_Datatype element; /* MPI_DATATYPE_NULL for types that netCDF does not have */
    nc_type kind;         /* the external type of the same values; NC_NAT for those */
    MPI_Offset size;      /* bytes of an element */
    int rank;
    MPI_Offset extent[PNCF90_MAX_RANK]; /* the last is -1 for an assumed-size array */
    MPI_Aint distance[PNCF90_MAX_RANK]; /* in bytes */
} pnc_f90_array;

/* `ndims` is the rank of the variable: an array of single characters may have the same rank. */
pnc_f90_array pnc_f90_array_get(const CFI_cdesc_t *values, int ndims);

/* Number of elements; PNCF90_UNKNOWN for an assumed-size array. */
#define PNCF90_UNKNOWN INT64_MAX
MPI_Offset pnc_f90_array_count_elements(const pnc_f90_array *array);

bool pnc_f90_array_is_contiguous(const pnc_f90_array *array);

/* A committed datatype of the first n elements of an array, each of type `element`; the caller frees it. NC_ENOMEM */
int pnc_f90_array_create_type(const pnc_f90_array *array, MPI_Datatype element, MPI_Offset n, MPI_Datatype *type);

/* --- put and get --- */

typedef enum { PNCF90_PUT, PNCF90_GET, PNCF90_IPUT, PNCF90_IGET, PNCF90_BPUT } pnc_f90_op;

/* The arguments of a generic of the module. */
typedef struct pnc_f90_call {
    const char *name; /* of the generic */
    pnc_f90_op op;
    bool collective;
    int ncid, varid; /* varid as in C */
    const CFI_cdesc_t *values, *start, *count, *stride, *map;
    const int *num;
    const MPI_Offset *bufcount;
    const MPI_Fint *buftype; /* NULL: the values' own type */
    int *req;
} pnc_f90_call;

/* The same in C's order and base, and the shape of the C function; NULL for what it does not have. */
typedef enum { PNCF90_VAR1, PNCF90_VARA, PNCF90_VARS, PNCF90_VARM, PNCF90_VARN } pnc_f90_shape;

typedef struct pnc_f90_place {
    pnc_f90_shape shape;
    pnc_binding_hyperslab slab; /* of all shapes but varn */
    int num;
    pnc_binding_list list; /* of varn */
} pnc_f90_place;

/* The values, for the function of the C type of an external type, or for the flexible function: NC_NAT. */
typedef struct pnc_f90_buffer {
    nc_type kind;
    void *base;
    MPI_Offset count;
    MPI_Datatype type;
    bool owned; /* the type is freed after the call */
} pnc_f90_buffer;

/* The C function for the operation, shape and type; of a filetype. They set caller->function. */
int pnc_f90_call_dispatch(const pnc_f90_call *call, pnc_caller *caller, const pnc_f90_place *place,
                          const pnc_f90_buffer *buffer);
int pnc_f90_call_dispatch_vard(const pnc_f90_call *call, pnc_caller *caller, MPI_Datatype filetype,
                               const pnc_f90_buffer *buffer);

int pnc_f90_call_execute(const pnc_f90_call *call);
int pnc_f90_call_execute_varn(const pnc_f90_call *call);
int pnc_f90_call_execute_vard(const pnc_f90_call *call, MPI_Datatype filetype);

/* --- attributes and fill values, in memory of the type that the external type `kind` has in C --- */

/* Before a get: set caller->error if the attribute has more values than there is capacity for. */
void pnc_f90_attribute_check(pnc_caller *caller, int varid, const char *name, MPI_Offset capacity);
int pnc_f90_fill_define(int ncid, int varid, int no_fill, nc_type kind, const void *value);
int pnc_f90_fill_inquire(int ncid, int varid, int *no_fill, nc_type kind, void *value);

#endif
