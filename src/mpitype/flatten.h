/* MPI datatypes as runs of memory: flattened, but not expanded. */
#ifndef PNC_MPITYPE_FLATTEN_H
#define PNC_MPITYPE_FLATTEN_H

#include <mpi.h>
#include "base/error.h"
#include "base/types.h"
#include "select/flat_type.h"

/* The memory that bufcount instances of an MPI datatype describe. *mem is the type of its elements.
 * MPI_DATATYPE_NULL, or bufcount -1 (NC_COUNT_IGNORE) with a predefined type: the buffer is contiguous and fits the
 * request of `elements` elements. NC_EMULTITYPES, NC_EUNSPTETYPE, NC_EIOMISMATCH, NC_ENEGATIVECNT, NC_ENOMEM. */
int pnc_mpitype_buftype_flatten(int64_t bufcount, MPI_Datatype buftype, int xtype, int64_t elements,
                                pnc_flat_type **flat, pnc_mem_type *mem, pnc_error *error);

#endif
