/* The data whose offsets differ between two layouts, as one stream of bytes in the order of the file. New offsets
 * ascend as the old ones do and are never smaller. */
#ifndef PNC_GROWTH_STREAM_H
#define PNC_GROWTH_STREAM_H

#include "format/model.h"
#include "select/selection.h"

typedef enum pnc_growth_side { PNC_OLD_SIDE, PNC_NEW_SIDE } pnc_growth_side;

typedef struct pnc_growth_stream {
    struct pnc_stretch *stretches;
    int n;
    int64_t total; /* bytes */
} pnc_growth_stream;

/* `file_size`: of the old file; data beyond it was never written. Call free even if init fails. */
int pnc_growth_stream_init(pnc_growth_stream *stream, const pnc_model *old, const pnc_model *now, int64_t file_size);
void pnc_growth_stream_free(pnc_growth_stream *stream);

/* The extent of the stream from a position on, as far as it is contiguous in the old or new file. */
pnc_extent pnc_growth_stream_get_extent(const pnc_growth_stream *stream, pnc_growth_side side, int64_t position);
/* The first position at this offset of the old or new file, or after it; `total` if there is none. */
int64_t pnc_growth_stream_find(const pnc_growth_stream *stream, pnc_growth_side side, int64_t offset);

#endif
