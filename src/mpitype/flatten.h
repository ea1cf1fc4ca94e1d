/* Flattens MPI datatypes: loops over runs of memory, not expanded. */
#ifndef PNC_MPITYPE_FLATTEN_H
#define PNC_MPITYPE_FLATTEN_H

#include <mpi.h>
#include "base/error.h"
#include "base/types.h"
#include "select/flat_type.h"

/* The arguments bufcount and buftype of a call: instances of an MPI datatype. */
typedef struct pnc_mpi_buffer {
    int64_t count;
    MPI_Datatype type;
} pnc_mpi_buffer;

/* The memory type of a contiguous buffer: as many instances of a predefined type as the request has elements.
 * PNC_MEM_TYPE_COUNT for any other buffer, which must be flattened. */
pnc_mem_type pnc_mpitype_buffer_find_type(pnc_mpi_buffer buffer, int64_t elements);

/* Flatten a buffer; *mem is the type of its elements. With MPI_DATATYPE_NULL, or with count -1 (NC_COUNT_IGNORE) and a
 * predefined type, the buffer is contiguous and has as many elements as the request: `elements`. NC_EMULTITYPES,
 * NC_EUNSPTETYPE, NC_EIOMISMATCH, NC_ENEGATIVECNT, NC_ENOMEM. */
int pnc_mpitype_buffer_flatten(pnc_mpi_buffer buffer, int xtype, int64_t elements, pnc_flat_type **flat,
                               pnc_mem_type *mem, pnc_error *error);

#endif
