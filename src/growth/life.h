/* Life and identity of the program that changes a file under a journal.
 *
 * Life: each process that changes bytes holds the file by a lock (base/hold.h), shared by those of one program; a
 * repair, and a program before it begins, hold it exclusively.
 *
 * Identity: the journal has a record of its owner, in two slots that are written in turns, so that a torn write of one
 * leaves the other. Where locks may not reach all programs, a program reads it before each write, and stops if another
 * one has taken the file over. docs/reliability.md says when a repair trusts locks. */
#ifndef PNC_GROWTH_LIFE_H
#define PNC_GROWTH_LIFE_H

#include "growth/io.h"

enum { PNC_OWNER_SLOT = 64, PNC_OWNER_BYTES = 2 * PNC_OWNER_SLOT };

struct pnc_growth_life {
    pnc_growth_program owner; /* this program */
    pnc_held held;            /* by this process */
    int64_t at;               /* offset of the slots in the file; -1: this program has no record there */
    int64_t seq;              /* of the next record */
    bool is_certain;          /* no other program can take the file over: the record need not be read */
};

/* All use io->life, and are local unless something else is said. */

/* Before a change or a repair, rank 0 takes the file exclusively. NC_EINTERRUPTED if another program holds it. */
int pnc_growth_life_begin(const pnc_growth_io *io);
/* Then all ranks share it, as each will move data. Collective. */
int pnc_growth_life_share(const pnc_growth_io *io);
/* After a change, and also if it has failed. */
void pnc_growth_life_end(const pnc_growth_io *io);

/* PNC_OWNER_BYTES bytes, with the record of this program in the first slot. */
void pnc_growth_life_encode(const pnc_growth_io *io, char *slots);
/* NC_EINTERRUPTED if another program has taken the file over since the record was written. */
int pnc_growth_life_check(const pnc_growth_io *io);

/* Whether, on any rank, another program has taken the file over: then this one must not write any more, and io->error
 * does not change. Collective. */
int pnc_growth_life_examine(const pnc_growth_io *io, bool *is_lost);

/* For a repair: whether the owner of the journal with these slots has died, as far as that can be known. If it runs, or
 * may run and io->assumes_dead is not set: NC_EINTERRUPTED. at: -1: the journal is of a version without slots. */
int pnc_growth_owner_examine(const pnc_growth_io *io, int64_t at);
/* Then, before the first effect: the repair becomes the owner. */
int pnc_growth_owner_replace(const pnc_growth_io *io);

/* Whether another program holds the file now: then NC_EINTERRUPTED, with a message. */
int pnc_growth_life_inquire(const pnc_growth_io *io);

#endif
