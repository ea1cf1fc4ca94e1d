/* Whether the file is still that of the last commit. A program that writes it without locks is noticed by the
 * superblock, which has the end of what is allocated, and by the size of the file: the ranks write nothing outside what
 * rank 0 knows to be allocated. The time of the file says nothing: ranks write chunks at any time, and a user may touch
 * a file. */
#include <string.h>

#include "base/minmax.h"
#include "file/agree.h"
#include "formats/netcdf4/netcdf4.h"

static pnc_extent get_front_extent(const pnc_netcdf4 *n)
{
    return (pnc_extent){n->seen.superblock, PNC_NETCDF4_FRONT};
}

int pnc_netcdf4_seen_begin(pnc_netcdf4 *n, int64_t size, int64_t superblock)
{
    n->seen = (pnc_netcdf4_seen){.superblock = superblock, .least = size, .most = size};
    if (size - superblock < PNC_NETCDF4_FRONT) /* libhdf5 refuses the file */
        return NC_NOERR;
    n->seen.has_front = true;
    return pnc_file_range_read(n->format.file, get_front_extent(n), n->seen.front);
}

static int refuse_stale(const pnc_netcdf4 *n, const char *what)
{
    return pnc_error_set(n->format.file->error, NC_ESTALE,
                         "%s: another program or handle has written this file since its metadata were read or written "
                         "last (%s): nothing was changed: close this ncid and open the file again",
                         n->format.file->path, what);
}

/* The end of all that ranks may have written. Nothing but a commit that failed has written to a new file. */
static int64_t find_most(const pnc_netcdf4 *n)
{
    int64_t most = pnc_max64(n->seen.most, n->end);

    if (!n->seen.has_front)
        return n->seen.most;
    if (n->has_chunks)
        most = pnc_max64(most, pnc_chunks_end_get(pnc_netcdf4_container_get(n)));
    return n->metadata != NULL ? pnc_max64(most, pnc_netcdf4_metadata_get_end(n->metadata)) : most;
}

/* Nodes may see an older size of a file on servers. */
static int check_size(const pnc_netcdf4 *n)
{
    const pnc_file *file = n->format.file;
    int64_t size;

    PNC_TRY(pnc_file_get_size(n->format.file, &size));
    if (size > find_most(n))
        return refuse_stale(n, "it is longer");
    return size < n->seen.least && !file->store->striping.on_servers ? refuse_stale(n, "it is shorter") : NC_NOERR;
}

/* A commit that has failed may have left the old bytes, the new ones, its mark, or some of each. */
static bool is_of_commit(const pnc_netcdf4 *n, const char *front)
{
    const pnc_netcdf4_seen *s = &n->seen;
    char mark[PNC_NETCDF4_FRONT];
    bool is_known = true;

    memcpy(mark, s->front, sizeof mark);
    pnc_netcdf4_mark_make(&n->unfinished, mark);
    for (int i = 0; i < PNC_NETCDF4_FRONT && is_known; i++)
        is_known = front[i] == s->front[i] || front[i] == s->next[i] || front[i] == mark[i];
    return is_known;
}

static int check_front(pnc_netcdf4 *n)
{
    char front[PNC_NETCDF4_FRONT];

    if (!n->seen.has_front)
        return NC_NOERR;
    PNC_TRY(pnc_file_range_read(n->format.file, get_front_extent(n), front));
    if (memcmp(front, n->seen.front, PNC_NETCDF4_FRONT) != 0 && !(n->is_unfinished && is_of_commit(n, front)))
        return refuse_stale(n, "its superblock has changed");
    memcpy(n->seen.front, front, PNC_NETCDF4_FRONT);
    return NC_NOERR;
}

int pnc_netcdf4_seen_check(pnc_netcdf4 *n)
{
    PNC_TRY(check_size(n));
    return check_front(n);
}

/* Delayed writes would be waited for, to find the size. */
int pnc_netcdf4_seen_check_chunks(void *own, pnc_error *error)
{
    pnc_netcdf4 *n = own;
    pnc_file *file = n->format.file;
    int err = NC_NOERR;

    (void)error; /* that of the file */
    if (file->rank == 0 && file->behind == NULL)
        err = check_size(n);
    if (file->rank == 0 && err == NC_NOERR)
        err = check_front(n);
    return pnc_file_status_broadcast(file, err);
}

void pnc_netcdf4_seen_extend(pnc_netcdf4 *n, int64_t end)
{
    if (n->seen.has_front)
        n->seen.most = pnc_max64(n->seen.most, end);
}

void pnc_netcdf4_seen_derive(pnc_netcdf4 *n)
{
    pnc_netcdf4_seen *s = &n->seen;

    s->superblock = n->unfinished.superblock;
    memcpy(s->next, s->front, sizeof s->next);
    if (n->unfinished.has_old_head) /* the file has a mark there */
        memcpy(s->next, n->unfinished.old_head, PNC_REDO_HEAD);
    pnc_netcdf4_redo_apply(&n->unfinished, get_front_extent(n), s->next);
    s->most = pnc_max64(find_most(n), n->end);
    if (!n->format.is_new)
        s->most = pnc_max64(s->most, n->unfinished.log + n->unfinished.length);
}

void pnc_netcdf4_seen_adopt(pnc_netcdf4 *n, bool has_end)
{
    pnc_netcdf4_seen *s = &n->seen;

    memcpy(s->front, s->next, sizeof s->front);
    s->has_front = true;
    if (has_end)
        s->least = s->most = n->end;
}
