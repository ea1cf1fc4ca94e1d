/* Accesses of a parallel file system. */
#include "tools/plan/file_system.h"

/* Whether the lock of a stripe must move for this access. */
static bool move_lock(int *writer, int node, bool is_write)
{
    int own = node + 1, last = *writer;

    if (is_write)
        *writer = own;
    else if (last != own)
        *writer = 0;
    return last != 0 && last != own;
}

/* A resource that handles one request at a time is free again at *clock. The request occupies it from `from` on. */
static int64_t occupy(int64_t *clock, int64_t from, int64_t duration)
{
    *clock = (*clock > from ? *clock : from) + duration;
    return *clock;
}

/* The part of an access in one stripe: when it ends. */
static int64_t send_request(const plan_file_system *fs, const plan_clocks *clocks, const plan_access *part,
                            int *lock_moves)
{
    int64_t stripe = part->offset / fs->unit;
    int64_t sent = occupy(clocks->link, part->begin, (int64_t)((double)part->length * fs->link_byte));
    int64_t service = fs->request + (int64_t)((double)part->length * fs->server_byte);

    if (move_lock(&clocks->writer[stripe], part->node, part->is_write)) {
        service += fs->lock;
        ++*lock_moves;
    }
    return occupy(&clocks->server[stripe % fs->servers], sent, service) + fs->latency;
}

int64_t plan_access_compute_end(const plan_file_system *fs, const plan_clocks *clocks, const plan_access *access,
                                int *lock_moves)
{
    plan_access part = *access;
    int64_t last = access->offset + access->length, latest = access->begin;

    for (; part.offset < last; part.offset += part.length) {
        int64_t rest = last - part.offset, end;

        part.length = fs->unit - part.offset % fs->unit;
        part.length = part.length < rest ? part.length : rest;
        end = send_request(fs, clocks, &part, lock_moves);
        latest = end > latest ? end : latest;
    }
    return latest;
}

int64_t plan_disk_compute_end(const plan_disk *disk, int64_t *clock, int64_t length, int64_t begin)
{
    return occupy(clock, begin, (int64_t)((double)length * disk->byte)) + disk->latency;
}
