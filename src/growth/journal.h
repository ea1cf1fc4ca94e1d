/* The journal of a growth: bytes at the end of the file while data move, after those of the old and the new layout.
 *
 *   scratch space: two halves of `half` bytes, each for a copy of data that a step overwrites
 *   two slots for the owner, see life.h; a journal of an older version has none
 *   two slots for states, written in turns: a torn write of one leaves the other
 *   the old header, the new header, the fill modes of the variables
 *   numbers with a digest, at the end of the file */
#ifndef PNC_GROWTH_JOURNAL_H
#define PNC_GROWTH_JOURNAL_H

#include <stdbool.h>
#include "format/model.h"
#include "growth/number.h"

enum { PNC_JOURNAL_SLOT = 64, PNC_JOURNAL_SLOTS = 2 * PNC_JOURNAL_SLOT, PNC_JOURNAL_FOOT = 80 };

enum { PNC_JOURNAL_ALIGNMENT = 4096 }; /* of the scratch space and its halves */

/* The next multiple of the alignment. */
static inline int64_t pnc_growth_alignment_compute(int64_t n)
{
    return n + (PNC_JOURNAL_ALIGNMENT - n % PNC_JOURNAL_ALIGNMENT) % PNC_JOURNAL_ALIGNMENT;
}

typedef struct pnc_journal {
    int64_t old_size, new_size;            /* of the file before and after the growth */
    int64_t scratch, half;                 /* offset of the scratch space, bytes of one half of it */
    int64_t owner;                         /* offset of the slots for the owner; -1: it has none */
    int64_t at;                            /* offset of the slots for states */
    int64_t old_header, new_header, nvars; /* bytes of the headers, and of the fill modes */
} pnc_journal;

/* Which data have moved: from position `end` of the stream on they are at their new offsets, before `first` at their
 * old ones. Those between are in a half of the scratch space. */
typedef struct pnc_growth_state {
    int64_t first, end;
    int64_t half; /* 0, 1 */
} pnc_growth_state;

/* Bytes of the journal from the slots on. */
int64_t pnc_growth_journal_get_size(const pnc_journal *journal);
/* The journal is the last thing in its file. */
int64_t pnc_growth_journal_get_end(const pnc_journal *journal);

/* The last PNC_JOURNAL_FOOT bytes of a journal. digest: of the headers and fill modes. */
void pnc_growth_journal_encode_foot(const pnc_journal *journal, pnc_growth_digest *digest, char *foot);
/* From the last PNC_JOURNAL_FOOT bytes of a file. False if they do not describe a journal of a file of this size. */
bool pnc_growth_journal_decode(const char *foot, int64_t file_size, pnc_journal *out);
/* Whether `bytes`, from the slots on, are those that were written. */
bool pnc_growth_journal_is_whole(const pnc_journal *journal, const char *bytes);

/* seq: one more in each state; states with an odd one have the second slot. Returns the offset of the slot from the
 * first one. */
int64_t pnc_growth_state_encode(const pnc_growth_state *state, int64_t seq, char *slot);
/* The last state that was written completely. False if there is none. */
bool pnc_growth_state_decode(const char *slots, int64_t *seq, pnc_growth_state *out);

#endif
