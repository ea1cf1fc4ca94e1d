/* Whether a journal is one that this library writes. Its digest shows damage, not intent: anyone can compute it, so a
 * file from elsewhere can have a journal of any content. Before a repair writes its first byte, these functions have
 * found that it ends, and that it writes nothing beyond the end of the file.
 *
 * They return NULL, or what is wrong, for a message. */
#ifndef PNC_GROWTH_PLAUSIBLE_H
#define PNC_GROWTH_PLAUSIBLE_H

#include "format/model.h"
#include "growth/journal.h"
#include "growth/stream.h"

/* The two headers, which were decoded: that of the old dataset, and the new one with at least the same variables. */
const char *pnc_growth_headers_find_wrong(const pnc_journal *journal, const pnc_model *old, const pnc_model *now);
/* The state with this number, of a stream of which the data from position `beyond` on move beyond the old file. */
const char *pnc_growth_state_find_wrong(const pnc_journal *journal, const pnc_growth_state *state, int64_t seq,
                                        const pnc_growth_stream *stream, int64_t beyond);

#endif
