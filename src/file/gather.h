/* Bytes of several ranks to rank 0, which has few of them at a time. */
#ifndef PNC_FILE_GATHER_H
#define PNC_FILE_GATHER_H

#include "file/file.h"

typedef struct pnc_gather {
    void *own;
    /* The next bytes of this rank, valid until the next call; false: there are no more. */
    bool (*next)(void *own, const char **bytes, int64_t *n);
    /* On rank 0, for its own and those of other ranks. */
    void (*take)(void *own, const char *bytes, int64_t n);
} pnc_gather;

/* Collective. The sum of the values of all ranks before this one. */
int64_t pnc_file_sum_scan(pnc_file *file, int64_t value);
/* Collective. sends: this rank has bytes, as do nsenders of all ranks, the same number on each. Rank 0 takes all bytes
 * of a rank before those of another one. Errors are those of the next agreement; then rank 0 lacks some bytes. */
void pnc_file_bytes_gather(pnc_file *file, const pnc_gather *gather, bool sends, int64_t nsenders);

#endif
