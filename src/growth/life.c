/* Which program changes a file, and whether it runs. */
#include "growth/life.h"

#include <string.h>

#include "growth/number.h"

enum { NUMBERS = 6, MOST_SEQ = 1 << 30 };

static pnc_held hold(const pnc_growth_io *io, pnc_hold kind)
{
    return io->hold == NULL ? PNC_HELD_UNKNOWN : io->hold(io->file, kind);
}

/* --- messages --- */

static int fail_as_running(const pnc_growth_io *io)
{
    return pnc_error_set(io->error, NC_EINTERRUPTED,
                         "%s: a program that is running changes the header, moves data or repairs the file now: wait "
                         "until it has completed that, or has ended",
                         io->path);
}

static int fail_as_unknown(const pnc_growth_io *io)
{
    return pnc_error_set(io->error, NC_EINTERRUPTED,
                         "%s: a change of the header is not complete, and whether its program still runs is not known, "
                         "as locks of this file system may not reach all nodes, or it had none: if it has ended, "
                         "ncvalidator --repair --assume-dead, or opening the file for writing with the hint "
                         "nc_repair=assume_dead, completes the change",
                         io->path);
}

static int fail_as_lost(const pnc_growth_io *io)
{
    return pnc_error_set(io->error, NC_EINTERRUPTED,
                         "%s: another program has taken this file over, as it assumed that this one had ended "
                         "(--assume-dead, nc_repair=assume_dead), and completes the change of the header: nothing more "
                         "is written here; close the file, and open it again",
                         io->path);
}

/* --- the record --- */

static void encode_slot(const pnc_growth_program *owner, int64_t seq, char *slot)
{
    const int64_t numbers[NUMBERS] = {
        seq, owner->id, owner->node[0], owner->node[1], owner->is_locked, owner->is_local};
    char *to = slot;

    memset(slot, 0, PNC_OWNER_SLOT);
    for (int i = 0; i < NUMBERS; i++)
        to = pnc_growth_number_encode(to, numbers[i]);
    pnc_growth_number_encode(to, pnc_growth_digest_get(slot, to - slot));
}

/* The last record that was written completely. All zeros, and seq -1, if there is none. */
static void decode_slots(const char *slots, int64_t *seq, pnc_growth_program *out)
{
    *seq = -1;
    *out = (pnc_growth_program){.id = 0};
    for (const char *slot = slots; slot < slots + PNC_OWNER_BYTES; slot += PNC_OWNER_SLOT) {
        int64_t number = pnc_growth_number_decode(slot);

        if (pnc_growth_number_decode(slot + 8 * NUMBERS) != pnc_growth_digest_get(slot, 8 * NUMBERS) ||
            number <= *seq || number > MOST_SEQ)
            continue;
        *seq = number;
        *out = (pnc_growth_program){pnc_growth_number_decode(slot + 8),
                                    {pnc_growth_number_decode(slot + 16), pnc_growth_number_decode(slot + 24)},
                                    pnc_growth_number_decode(slot + 32) == 1,
                                    pnc_growth_number_decode(slot + 40) == 1};
    }
}

static int read_owner(const pnc_growth_io *io, int64_t at, int64_t *seq, pnc_growth_program *out)
{
    pnc_extent extent = {at, PNC_OWNER_BYTES};
    char slots[PNC_OWNER_BYTES];

    PNC_TRY(io->read(io->file, &extent, 1, slots));
    decode_slots(slots, seq, out);
    return NC_NOERR;
}

void pnc_growth_life_encode(const pnc_growth_io *io, char *slots)
{
    memset(slots, 0, PNC_OWNER_BYTES);
    encode_slot(&io->life->owner, 0, slots);
}

int pnc_growth_life_check(const pnc_growth_io *io)
{
    const pnc_growth_life *life = io->life;
    pnc_growth_program found;
    int64_t seq;

    if (life == NULL || life->at < 0 || life->is_certain)
        return NC_NOERR;
    PNC_TRY(read_owner(io, life->at, &seq, &found));
    return seq >= 0 && found.id == life->owner.id ? NC_NOERR : fail_as_lost(io);
}

int pnc_growth_life_examine(const pnc_growth_io *io, bool *is_lost)
{
    pnc_error cause = pnc_growth_cause_get(io);
    int err = io->agree(io->file, pnc_growth_life_check(io));

    *is_lost = err == NC_EINTERRUPTED;
    if (err != NC_NOERR && !*is_lost) /* the record cannot be read now */
        return err;
    if (io->error != NULL)
        *io->error = cause;
    return NC_NOERR;
}

/* --- a change --- */

/* Another program holds the file. On a node that has died, or that cannot reach the server, a lock may remain. */
static bool may_ignore(const pnc_growth_io *io)
{
    return io->assumes_dead && !io->life->owner.is_local;
}

static void conclude(pnc_growth_life *life, bool is_locked)
{
    life->owner.is_locked = is_locked;
    life->is_certain = is_locked && life->owner.is_local;
}

int pnc_growth_life_begin(const pnc_growth_io *io)
{
    pnc_growth_life *life = io->life;

    *life = (pnc_growth_life){.held = PNC_HELD_UNKNOWN, .at = -1};
    if (io->identify != NULL)
        io->identify(io->file, &life->owner);
    if (io->rank != 0)
        return NC_NOERR;
    life->held = hold(io, PNC_HOLD_EXCLUSIVE);
    conclude(life, life->held == PNC_HELD);
    return life->held == PNC_HELD_BY_OTHERS && !may_ignore(io) ? fail_as_running(io) : NC_NOERR;
}

/* Rank 0 does not lose the file between the two kinds, and the others ask for it when it has the second one. */
int pnc_growth_life_share(const pnc_growth_io *io)
{
    pnc_growth_life *life = io->life;
    int64_t all[3];

    if (io->nprocs == 1)
        return NC_NOERR;
    if (life->held == PNC_HELD)
        life->held = hold(io, PNC_HOLD_SHARED);
    PNC_TRY(io->agree(io->file, NC_NOERR));
    if (io->rank != 0)
        life->held = hold(io, PNC_HOLD_SHARED);
    all[0] = io->rank == 0 ? life->owner.id : 0;
    all[1] = life->held != PNC_HELD;
    all[2] = life->held == PNC_HELD_BY_OTHERS && !may_ignore(io);
    PNC_TRY(io->maximize(io->file, all, 3));
    life->owner.id = all[0];
    conclude(life, all[1] == 0);
    return all[2] == 0 ? NC_NOERR : io->agree(io->file, fail_as_running(io));
}

void pnc_growth_life_end(const pnc_growth_io *io)
{
    if (io->life->held != PNC_HELD_UNKNOWN) /* also if it could not be shared after it was taken exclusively */
        hold(io, PNC_HOLD_NOTHING);
    io->life->held = PNC_HELD_UNKNOWN;
    io->life->at = -1;
}

/* --- a repair --- */

static bool is_same_node(const pnc_growth_program *a, const pnc_growth_program *b)
{
    return a->node[0] == b->node[0] && a->node[1] == b->node[1] && (a->node[0] != 0 || a->node[1] != 0);
}

/* Whether the locks of the owner that was found, if it has any, are those that this program sees. */
static bool sees_locks_of(const pnc_growth_program *found, const pnc_growth_program *own)
{
    return found->is_locked && ((found->is_local && own->is_local) || is_same_node(found, own));
}

int pnc_growth_owner_examine(const pnc_growth_io *io, int64_t at)
{
    pnc_growth_life *life = io->life;
    pnc_growth_program found = {.id = 0};
    int64_t seq = -1;
    bool sees_locks;

    if (at >= 0)
        PNC_TRY(read_owner(io, at, &seq, &found));
    life->at = at;
    life->seq = seq + 1;
    /* without a complete record, its program has ended while it wrote the journal: locks of a node reach all */
    sees_locks = seq >= 0 ? sees_locks_of(&found, &life->owner) : at >= 0 && life->owner.is_local;
    if (life->held == PNC_HELD_BY_OTHERS && (sees_locks || !may_ignore(io)))
        return fail_as_running(io);
    return io->assumes_dead || (sees_locks && life->held == PNC_HELD) ? NC_NOERR : fail_as_unknown(io);
}

int pnc_growth_owner_replace(const pnc_growth_io *io)
{
    pnc_growth_life *life = io->life;
    pnc_extent extent = {life->at + life->seq % 2 * PNC_OWNER_SLOT, PNC_OWNER_SLOT};
    char slot[PNC_OWNER_SLOT];

    if (life->at < 0)
        return NC_NOERR;
    encode_slot(&life->owner, life->seq, slot);
    return io->write(io->file, &extent, 1, slot);
}

int pnc_growth_life_inquire(const pnc_growth_io *io)
{
    return hold(io, PNC_HOLD_INQUIRE) == PNC_HELD_BY_OTHERS ? fail_as_running(io) : NC_NOERR;
}
