/* Bytes that were written and are not in the file yet, by their offset in the file. Pure. */
#ifndef PNC_NETCDF4_UNWRITTEN_H
#define PNC_NETCDF4_UNWRITTEN_H

#include <stdbool.h>
#include <stdint.h>
#include "select/selection.h"

/* In pages, which ascend, with a mark, one bit, for each byte that was written. */
#define PNC_UNWRITTEN_PAGE 4096
#define PNC_UNWRITTEN_WORD 64

typedef struct pnc_unwritten_page {
    int64_t number; /* its offset / PNC_UNWRITTEN_PAGE */
    unsigned char bytes[PNC_UNWRITTEN_PAGE];
    uint64_t marks[PNC_UNWRITTEN_PAGE / PNC_UNWRITTEN_WORD];
} pnc_unwritten_page;

/* {0} is empty. */
typedef struct pnc_unwritten {
    pnc_unwritten_page **pages;
    int64_t n, capacity;
} pnc_unwritten;

/* Later bytes replace earlier ones. False without memory: then a part may be written. */
bool pnc_netcdf4_unwritten_write(pnc_unwritten *p, pnc_extent extent, const void *bytes);
/* Whether all bytes of the extent were written. */
bool pnc_netcdf4_unwritten_has(const pnc_unwritten *p, pnc_extent extent);
/* Copy those of the extent that were written over what `to` has. */
void pnc_netcdf4_unwritten_read(const pnc_unwritten *p, pnc_extent extent, void *to);
/* Memory that they occupy. */
int64_t pnc_netcdf4_unwritten_get_bytes(const pnc_unwritten *p);
/* All of them: extents that ascend and do not touch, and their bytes one after the other, which the caller frees.
 * False without memory. */
bool pnc_netcdf4_unwritten_list(const pnc_unwritten *p, pnc_extent **extents, int64_t *n, char **bytes);
void pnc_netcdf4_unwritten_clear(pnc_unwritten *p); /* frees its memory */

#endif
