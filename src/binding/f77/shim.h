/* Shared by the C functions behind the nfmpi_ procedures. Fortran counts from 1, fastest dimension first; its strings
 * have a length and trailing blanks; its MPI handles are integers. */
#ifndef PNC_BINDING_F77_SHIM_H
#define PNC_BINDING_F77_SHIM_H

#include <stddef.h>
#include <stdint.h>

#include "pnetcdf.h"

/* A string argument for C, without trailing blanks. If there is no memory, the text is empty, which every function
 * rejects as a name, and pnc_f77_string_end returns NC_ENOMEM: the rank still takes part in a collective call. */
typedef struct pnc_f77_string {
    const char *text;
    char *allocated;
    int err;
    char small[NC_MAX_NAME + 1];
} pnc_f77_string;

void pnc_f77_string_begin(pnc_f77_string *string, const char *text, size_t length);
int pnc_f77_string_end(pnc_f77_string *string, int err);

/* A string result, filled with blanks to the length of the variable; NC_ESTS if it is truncated. */
int pnc_f77_string_store(char *text, size_t length, const char *from);

/* Ids and indices from 1. Unsigned arithmetic: the smallest number becomes the largest, also out of bounds. */
static inline int pnc_f77_id_convert(int id)
{
    return (int)((unsigned)id - 1);
}
static inline MPI_Offset pnc_f77_index_convert(MPI_Offset index)
{
    return (MPI_Offset)((uint64_t)index - 1);
}

/* An id from C; -1, for none, is unchanged. */
static inline int pnc_f77_id_return(int id)
{
    return id < 0 ? id : id + 1;
}

/* Convert ids of dimensions from C in place, and reverse their order. */
void pnc_f77_dimids_convert(int *dimids, int ndims);

/* start, count, stride and imap of one block (those that are not NULL) in C's order. If the variable does not exist,
 * each is a single 0, and the C function returns the error. If there is no memory, varid becomes invalid. */
#define PNC_F77_SMALL 8
typedef struct pnc_f77_block {
    int varid, err;
    const MPI_Offset *start, *count, *stride, *imap;
    MPI_Offset *allocated;
    MPI_Offset small[4 * PNC_F77_SMALL];
} pnc_f77_block;

void pnc_f77_block_begin(pnc_f77_block *block, int ncid, int varid, const MPI_Offset *start, const MPI_Offset *count,
                         const MPI_Offset *stride, const MPI_Offset *imap);
int pnc_f77_block_end(pnc_f77_block *block, int err);

/* The same for num blocks; starts and counts are Fortran arrays (ndims, num). */
typedef struct pnc_f77_list {
    int varid, err;
    MPI_Offset **starts, **counts;
} pnc_f77_list;

void pnc_f77_list_begin(pnc_f77_list *list, int ncid, int varid, int num, const MPI_Offset *starts,
                        const MPI_Offset *counts);
int pnc_f77_list_end(pnc_f77_list *list, int err);

#endif
