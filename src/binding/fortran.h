/* Arguments between Fortran and C, for both Fortran interfaces. Fortran counts ids and indices from 1, the fastest
 * dimension first; its strings have a length and trailing blanks. */
#ifndef PNC_BINDING_FORTRAN_H
#define PNC_BINDING_FORTRAN_H

#include <stddef.h>
#include <stdint.h>

#include "dataset/caller.h"
#include "pnetcdf.h"

/* --- ids and indices --- */

/* Unsigned arithmetic: the smallest number becomes the largest, which is out of bounds too. */
static inline int pnc_binding_id_convert(int id)
{
    return (int)((unsigned)id - 1);
}

static inline MPI_Offset pnc_binding_index_convert(MPI_Offset index)
{
    return (MPI_Offset)((uint64_t)index - 1);
}

/* An id from C; -1, for none, is unchanged. */
static inline int pnc_binding_id_return(int id)
{
    return id < 0 ? id : id + 1;
}

/* ndims ids of dimensions for C, which the caller frees; NULL for a negative number, and without memory: NC_ENOMEM. */
int *pnc_binding_dimids_create(const int *from, int ndims, pnc_error *error);

/* A value for each dimension, between the orders of C and Fortran, in place. */
void pnc_binding_order_convert(int *values, int n);
/* n ids of dimensions from C, in place. */
void pnc_binding_dimids_return(int *dimids, int n);

/* --- handles --- */

/* Also before MPI_Init and after MPI_Finalize, for the functions that find this out themselves. */
MPI_Comm pnc_binding_comm_convert(MPI_Fint comm);
MPI_Info pnc_binding_info_convert(MPI_Fint info);

/* --- hyperslabs --- */

/* The arguments of a call; NULL where it has none. The last `unit_counts` dimensions have no count: it is 1. */
typedef struct pnc_binding_indices {
    const MPI_Offset *start, *count, *stride, *imap;
    int unit_counts;
} pnc_binding_indices;

/* The same for C. An absent start is 0 and an absent count is 1 along each dimension. */
#define PNC_BINDING_FEW 32
typedef struct pnc_binding_hyperslab {
    MPI_Offset *start, *count, *stride, *imap;
    MPI_Offset *allocated, few[PNC_BINDING_FEW];
} pnc_binding_hyperslab;

/* NC_ENOMEM: nothing is to be freed, all pointers are NULL. */
int pnc_binding_hyperslab_init(const pnc_binding_indices *from, int ndims, pnc_binding_hyperslab *to, pnc_error *error);
void pnc_binding_hyperslab_free(pnc_binding_hyperslab *slab);

/* The blocks of varn: Fortran arrays (rows, num), with at least as many rows as the variable has dimensions. Absent
 * counts are NULL. */
typedef struct pnc_binding_blocks {
    int num;
    const MPI_Offset *starts, *counts;
    size_t start_rows, count_rows;
} pnc_binding_blocks;

/* The same for C; absent counts are 1. */
typedef struct pnc_binding_list {
    MPI_Offset **starts, **counts;
} pnc_binding_list;

/* NC_ENOMEM: nothing is to be freed, both pointers are NULL. */
int pnc_binding_list_init(const pnc_binding_blocks *from, int ndims, pnc_binding_list *to, pnc_error *error);
void pnc_binding_list_free(pnc_binding_list *list);

/* --- text --- */

/* Longer than any valid name or path: the callee rejects a truncated text as too long. */
#define PNC_BINDING_TEXT_MAX 8192

/* Without trailing blanks. */
size_t pnc_binding_text_get_length(const char *text, size_t length);

/* Copy text without trailing blanks to `to`, which has a capacity of PNC_BINDING_TEXT_MAX characters; returns `to`. */
const char *pnc_binding_text_convert(const char *text, size_t length, char *to);

/* Copy a C string into a Fortran variable, padded with blanks; NC_ESTS if it is truncated. */
int pnc_binding_text_return(const char *from, char *text, size_t length, pnc_error *error);

/* inq_path of both interfaces. Returns the status of ncmpi_inq_path; other errors are set in caller->error. */
int pnc_binding_path_inquire(pnc_caller *caller, int *length, char *path, size_t capacity);

#endif
