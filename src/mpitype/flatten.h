/* Flattens MPI datatypes: loops over runs of memory, not expanded. */
#ifndef PNC_MPITYPE_FLATTEN_H
#define PNC_MPITYPE_FLATTEN_H

#include <mpi.h>
#include "base/error.h"
#include "base/types.h"
#include "select/flat_type.h"

/* Flatten bufcount instances of an MPI datatype; *mem is the type of its elements. With MPI_DATATYPE_NULL, or with
 * bufcount -1 (NC_COUNT_IGNORE) and a predefined type, the buffer is contiguous and has as many elements as the
 * request: `elements`. NC_EMULTITYPES, NC_EUNSPTETYPE, NC_EIOMISMATCH, NC_ENEGATIVECNT, NC_ENOMEM. */
int pnc_mpitype_buftype_flatten(int64_t bufcount, MPI_Datatype buftype, int xtype, int64_t elements,
                                pnc_flat_type **flat, pnc_mem_type *mem, pnc_error *error);

#endif
