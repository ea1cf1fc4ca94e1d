/* What a message says of the runs of chunks: a packed_chunk, its packed_runs, the next chunk. In a message with values
 * the bytes of each run follow it. */
#ifndef PNC_CHUNKS_PACKING_H
#define PNC_CHUNKS_PACKING_H

#include <stdint.h>

typedef struct pnc_packed_chunk {
    int64_t array, chunk, nruns;
} pnc_packed_chunk;

/* A chunk has less than 2^32 bytes (PNC_FILTER_CHUNK_MOST). */
typedef struct pnc_packed_run {
    uint32_t within, length;
} pnc_packed_run;

enum { PNC_CHUNK_HEAD = (int)sizeof(pnc_packed_chunk), PNC_RUN_HEAD = (int)sizeof(pnc_packed_run) };

#endif
