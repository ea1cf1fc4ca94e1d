/* Chunks that libhdf5 allocates before they have values, as it does in datasets of parallel HDF5: it writes the same
 * fill values to each of them, which are noted here. Before a commit they are written to those that have no values.
 * Pure. */
#ifndef PNC_NETCDF4_EARLY_H
#define PNC_NETCDF4_EARLY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pnc_offsets {
    int64_t *at;
    int64_t n, capacity;
} pnc_offsets;

/* Chunks with the same bytes. */
typedef struct pnc_early_group {
    struct pnc_early_group *next;
    int64_t length;
    unsigned char *bytes;
    pnc_offsets chunks; /* in the file */
} pnc_early_group;

/* {0} is empty. */
typedef struct pnc_early {
    pnc_early_group *groups; /* the last one first */
    int64_t n;               /* that were added */
    pnc_offsets released;    /* of chunks that have values, or are free */
} pnc_early;

/* A chunk with fill values. False without memory. */
bool pnc_netcdf4_early_add(pnc_early *early, int64_t offset, const void *bytes, int64_t length);
/* A chunk at this offset has values, or is free. False without memory. */
bool pnc_netcdf4_early_release(pnc_early *early, int64_t offset);
/* Remove those that are released. What remains ascends in each group. */
void pnc_netcdf4_early_remove_released(pnc_early *early);
void pnc_netcdf4_early_clear(pnc_early *early);

#endif
