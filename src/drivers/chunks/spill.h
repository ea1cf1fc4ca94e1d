/* A file for values that have no space in memory. It has no name, so that nothing is left when the program ends. */
#ifndef PNC_CHUNKS_SPILL_H
#define PNC_CHUNKS_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct pnc_spill {
    bool is_open;
    int fd;
    int64_t end; /* where the next bytes are written */
} pnc_spill;

/* Append bytes to the file, which is made in `folder` if there is none. After an error its end is what it was. */
int pnc_chunks_spill_write(pnc_spill *spill, const char *folder, const void *bytes, int64_t n, pnc_error *error);
/* Bytes that were written. */
int pnc_chunks_spill_read(const pnc_spill *spill, int64_t at, void *bytes, int64_t n, pnc_error *error);
void pnc_chunks_spill_close(pnc_spill *spill);

#endif
