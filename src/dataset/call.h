/* One struct for the whole put/get family: the entry points fill it, access.c carries it out. */
#ifndef PNC_DATASET_CALL_H
#define PNC_DATASET_CALL_H

#include "base/types.h"
#include "convert/convert.h"
#include "dataset/dataset.h"
#include "select/memmap.h"
#include "select/selection.h"

typedef enum pnc_op { PNC_OP_PUT, PNC_OP_GET } pnc_op;
typedef enum pnc_shape { PNC_VAR, PNC_VAR1, PNC_VARA, PNC_VARS, PNC_VARM } pnc_shape;

#define PNC_FLEX PNC_MEM_COUNT /* memory type is described by bufcount and buftype */

typedef struct pnc_call {
    pnc_op op;
    pnc_shape shape;
    bool collective;
    int varid;
    pnc_mem mem;
    void *buf; /* read only when op is a put */
    const MPI_Offset *start, *count, *stride, *imap;
    MPI_Offset bufcount;
    MPI_Datatype buftype;
} pnc_call;

int pnc_access(pnc_dataset *ds, const pnc_call *call);

/* buftype.c: the memory that bufcount instances of an MPI datatype describe. *mem is the type of its elements.
 * MPI_DATATYPE_NULL, or bufcount -1 (NC_COUNT_IGNORE) with a predefined type: the buffer is contiguous and fits the
 * request of `elements` elements. NC_EMULTITYPES, NC_EUNSPTETYPE, NC_EIOMISMATCH, NC_ENEGATIVECNT, NC_ENOMEM. */
int pnc_buftype_map(int64_t bufcount, MPI_Datatype buftype, int xtype, int64_t elements, pnc_memmap **map,
                    pnc_mem *mem, pnc_error *error);

/* transfer.c: move a selection between memory and file. `status` is what the call has met so far: a rank that failed
 * passes an empty selection. newrecs: number of records after a put, 0 if it does not concern records. Collective where
 * `collective` is set, and then carries the ranks' agreement on errors of I/O and on the number of records. */
int pnc_transfer(pnc_dataset *ds, pnc_direction way, bool collective, const pnc_selection *selection, pnc_pump *pump,
                 int64_t newrecs);

#endif
