/* Collective puts whose values are copied, and written together by a later call (hint nc_defer_puts). All ranks make
 * the same decisions: what they depend on is agreed.
 *
 * In a list of requests the order of the ranks is not defined. So the earlier puts are written before one that overlaps
 * them on any rank is added. */
#ifndef PNC_IO_DEFERRED_H
#define PNC_IO_DEFERRED_H

#include "base/arena.h"
#include "file/behind.h"
#include "io/request/request.h"

typedef struct pnc_deferred {
    pnc_arena arena; /* of the copies */
    pnc_request **at;
    int64_t n, capacity;
    int64_t bytes, most;       /* of memory of the copies, and its bound; most = 0: no put is deferred */
    int64_t calls;             /* whose puts are deferred; the same on all ranks, as what follows */
    pnc_behind_pending ranges; /* in which they are */
    int64_t numrecs;           /* before the first of them */
    bool was_dirty;            /* likewise, whether the file lacked that number */
    int is_last;               /* for the caller, in MPI_Finalize */
} pnc_deferred;

/* What a call has to do. All but the last two are the same on all ranks. */
typedef struct pnc_deferral {
    bool overlaps;   /* write the earlier puts first */
    bool writes;     /* write them all, with those of this call */
    int64_t numrecs; /* length of the first unlimited dimension, at least, after it; 0: not known */
    pnc_behind_range range;
    int64_t first;  /* so many copies are of earlier calls */
    bool is_copied; /* those of this call follow them */
} pnc_deferral;

/* Collective. Copy the requests of a call, unless memory is short on a rank. list->error is one in the arguments of
 * this rank, which the others do not get. After an error, which all ranks have, nothing of the call is kept. */
int pnc_io_deferred_add(pnc_io_context *io, pnc_deferred *d, pnc_request_list *list, pnc_deferral *out);
/* Collective. The range of the requests of all ranks. */
int pnc_io_deferred_agree_range(pnc_io_context *io, const pnc_request_list *list, pnc_behind_range *out);
/* The puts of the call remain. */
void pnc_io_deferred_keep(pnc_deferred *d, const pnc_deferral *call);
/* Collective. Whether requests of a get, on any rank, may need what is deferred. */
int pnc_io_deferred_compare(pnc_io_context *io, const pnc_deferred *d, const pnc_request_list *list, bool *overlaps);

/* The first n copies as a list. */
pnc_request_list pnc_io_deferred_get(const pnc_deferred *d, int64_t n);
/* Remove the copies from `first` on, n of them. */
void pnc_io_deferred_remove(const pnc_io_context *io, pnc_deferred *d, int64_t first, int64_t n);
void pnc_io_deferred_free(pnc_deferred *d);

#endif
