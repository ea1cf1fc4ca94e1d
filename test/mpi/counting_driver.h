/* A driver that counts the accesses and bytes of the MPI-IO driver. */
#ifndef COUNTING_DRIVER_H
#define COUNTING_DRIVER_H

#include "drivers/store.h"

typedef struct counting_counts {
    int64_t reads, writes, bytes_read, bytes_written; /* calls and bytes of this rank */
} counting_counts;

extern const pnc_store_ops counting_driver;
const counting_counts *counting_counts_of(const pnc_store *store);

#endif
