/* A wrapper that counts accesses and bytes, and makes collective accesses fail. */
#ifndef COUNTING_DRIVER_H
#define COUNTING_DRIVER_H

#include "drivers/store.h"

typedef struct counting_counts {
    int64_t reads, writes, bytes_read, bytes_written; /* calls and bytes of this rank */
    int64_t collective_reads, collective_writes;
} counting_counts;

/* The codes that the next collective accesses of this rank return; NC_NOERR: they succeed. */
typedef struct counting_faults {
    int read_all, write_all;
} counting_faults;

extern counting_faults counting_next_faults;

extern const pnc_store_ops counting_wrapper;
/* Of a store whose outermost driver it is. */
const counting_counts *counting_counts_of(const pnc_store *store);

#endif
