/* The arguments of all put and get functions, which the entry points fill in. */
#ifndef PNC_IO_CALL_H
#define PNC_IO_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include "base/types.h"
#include "convert/convert.h"

typedef enum pnc_op { PNC_OP_PUT, PNC_OP_GET, PNC_OP_IPUT, PNC_OP_IGET, PNC_OP_BPUT } pnc_op;
typedef enum pnc_shape { PNC_VAR, PNC_VAR1, PNC_VARA, PNC_VARS, PNC_VARM, PNC_VARN } pnc_shape;

_Static_assert(_Generic((MPI_Offset)0, pnc_offset : 1, default : 0), "configure has found the type of MPI_Offset");

#define PNC_FLEX PNC_MEM_TYPE_COUNT /* memory type is described by bufcount and buftype */

typedef struct pnc_call {
    pnc_op op;
    pnc_shape shape;
    bool collective;
    int varid;
    pnc_mem_type mem;
    void *buf; /* read only when op is a put */
    const MPI_Offset *start, *count, *stride, *imap;
    int num; /* number of blocks of varn */
    MPI_Offset *const *starts, *const *counts;
    MPI_Offset bufcount;
    MPI_Datatype buftype;
    int *reqid; /* iput, iget and bput only; may be NULL */
} pnc_call;

static inline pnc_direction pnc_io_op_get_direction(pnc_op op)
{
    return op == PNC_OP_GET || op == PNC_OP_IGET ? PNC_GET : PNC_PUT;
}

/* mput and mget: num variables in one call. Arrays that the shape does not use are NULL. */
typedef struct pnc_multi {
    pnc_op op;
    pnc_shape shape;
    bool collective;
    int num;
    const int *varids;
    pnc_mem_type mem;
    void *const *bufs;
    MPI_Offset *const *starts, *const *counts, *const *strides, *const *imaps;
    const MPI_Offset *bufcounts;
    const MPI_Datatype *datatypes;
} pnc_multi;

/* put_vard and get_vard: a filetype with displacements in bytes from the beginning of the variable. */
typedef struct pnc_vard {
    pnc_op op;
    bool collective;
    int varid;
    MPI_Datatype filetype;
    void *buf; /* read only when op is a put */
    MPI_Offset bufcount;
    MPI_Datatype buftype;
} pnc_vard;

#endif
