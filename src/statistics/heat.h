/* Which parts of a file are accessed: bytes written and read, in a fixed number of buckets over the file. */
#ifndef PNC_STATISTICS_HEAT_H
#define PNC_STATISTICS_HEAT_H

#include <stdbool.h>
#include <stdint.h>

#define PNC_HEAT_BUCKETS 256
#define PNC_HEAT_LEAST_SHIFT 12

/* Buckets of 2^shift bytes. They become twice as long when an access lies behind the last one. */
typedef struct pnc_heat {
    int shift;
    int64_t bytes[2][PNC_HEAT_BUCKETS]; /* read, written */
} pnc_heat;

void pnc_statistics_heat_init(pnc_heat *heat);
void pnc_statistics_heat_add(pnc_heat *heat, bool is_write, int64_t offset, int64_t bytes);
/* Add all bytes of another one. */
void pnc_statistics_heat_join(pnc_heat *heat, const pnc_heat *other);
/* Merge neighbouring buckets until they have 2^shift bytes at least. */
void pnc_statistics_heat_merge(pnc_heat *heat, int shift);

#endif
