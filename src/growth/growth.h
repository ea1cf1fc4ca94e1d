/* The growth of a header in front of data: data move to higher offsets, and a process or node that dies at any instant
 * leaves a file that holds the old dataset, or the new one, or the journal from which the new one is completed.
 * docs/reliability.md has the order of writes and why it is safe.
 *
 *                        write the journal           write a state, set the mark
 *     OLD DATASET  ---------------------->  PREPARED ------------------------->  MOVING <--+
 *     no mark       <----------------------  no mark,                             mark      |  a step: copy, flush,
 *          ^          cut the file           journal                               |  |     |  write the next state
 *          |                                                                       |  +-----+
 *          |    move back, write the old header, remove the mark (undo, restore)   |
 *          +-----------------------------------------------------------------------+
 *                                                                                  |  write fill values and the new
 *                                                                                  v  header, flush
 *     NEW DATASET  <--------------------  COMPLETE  <--------------------------  MOVED
 *     no mark        cut the file          no mark,      remove the mark           mark
 *                                          journal
 *
 * A death: without the mark, readers find the old or the new dataset. With it, they refuse the file; a repair continues
 * from the last state that is complete, up to NEW DATASET. An undo that fails leaves MOVING; restore tries again. */
#ifndef PNC_GROWTH_GROWTH_H
#define PNC_GROWTH_GROWTH_H

#include "growth/io.h"
#include "growth/journal.h"
#include "growth/life.h"
#include "growth/stream.h"

typedef struct pnc_growth_change {
    const pnc_growth_io *io;
    pnc_model *old;
    const pnc_model *now;
    pnc_growth_stream stream;
    pnc_journal journal;
    pnc_growth_state state;
    int64_t seq;        /* of the last state that was written */
    int64_t in_scratch; /* position of the first byte in the half of the scratch space in use */
    int64_t half_in_use;
    int64_t step; /* bytes of a step through the scratch space, at most half of it */
    bool marked;  /* the file is marked as one with a journal */
    bool exposed; /* it was marked: bytes of the old dataset may be overwritten */
    bool begun;   /* the ranks share the file, and may have written to it */
    int late;     /* error of a copy of this rank, not yet agreed on */
    int64_t chunk;
    char *buf;
} pnc_growth_change;

/* All functions but free are collective, between pnc_growth_life_begin and _end with io->life. init finds the data
 * whose offsets differ between `old` and `now`; `file_size` is that of the old file, `chunk` a bound on the bytes that
 * a rank moves at a time. If nothing moves, stream.total is 0, and the growth must not be executed. Call free even if
 * init fails. */
int pnc_growth_change_init(pnc_growth_change *growth, const pnc_growth_io *io, pnc_model *old, const pnc_model *now,
                           int64_t file_size, int64_t chunk);
/* Move the data, fill new variables, write the new header (on rank 0: all its bytes) and set the size of the file. */
int pnc_growth_change_execute(pnc_growth_change *growth, const char *header);
/* After a failure: restore the old file, unless another program has it now. io->error holds the cause; its message
 * reports if that fails. Then the file keeps its mark and the journal, and restore, with the same growth and before
 * pnc_growth_life_end, tries again. */
int pnc_growth_change_undo(pnc_growth_change *growth);
int pnc_growth_change_restore(pnc_growth_change *growth);
void pnc_growth_change_free(pnc_growth_change *growth);

typedef enum pnc_growth_outcome { PNC_GROWTH_NONE, PNC_GROWTH_COMPLETED, PNC_GROWTH_REVERTED } pnc_growth_outcome;

/* Complete a growth that was interrupted, or remove the journal of one that had not begun to overwrite the old dataset
 * or was complete. NONE: the file has no journal. On one rank, between pnc_growth_life_begin, before which `file_size`
 * must not be found, and _end. */
int pnc_growth_file_repair(const pnc_growth_io *io, int64_t file_size, pnc_growth_outcome *outcome);
/* The same without a repair, which a copy of the file will get: whether the program has ended that owns the journal. */
int pnc_growth_file_examine(const pnc_growth_io *io, int64_t file_size);

#endif
