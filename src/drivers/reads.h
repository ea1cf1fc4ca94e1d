/* What a later get will probably read of a file, as a store knows it that is in front of another one: the store that
 * reads ahead (behind/ahead.h) gives these bytes memory, and its worker reads them. Pure. */
#ifndef PNC_DRIVERS_READS_H
#define PNC_DRIVERS_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "select/selection.h"

/* The memory that one read takes beside its bytes, at most, also in the store that has found it. */
#define PNC_STORE_READ_COST 128

typedef struct pnc_store_read {
    pnc_extent extent;
    char *bytes; /* where they will be; NULL: they are not read ahead, as there is no memory */
} pnc_store_read;

typedef struct pnc_store_reads pnc_store_reads;
struct pnc_store_reads {
    int64_t n;
    pnc_store_read *reads; /* in the order of their use */
    int64_t wanted, spare; /* bytes that `prepare` can use, and those that it has at `memory` */
    char *memory;
    int64_t used; /* bytes of the reads that a get has used without reading them from the store: what became of them */
    bool is_current; /* the get that was foreseen is executed, and the file has not changed */
    /* When all are read, the worker calls it, which makes no calls of MPI: make a part of what the get will need.
     * Returns whether there is more. NULL: there is nothing to do. */
    bool (*prepare)(pnc_store_reads *reads);
    /* They are not used any more: by the thread of the program. */
    void (*free)(pnc_store_reads *reads);
    /* Of the store that reads ahead: discard them, which frees them, before the store that has found them ends. */
    void *holder;
    void (*discard)(void *holder, const pnc_store_reads *reads);
};

#endif
