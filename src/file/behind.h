/* Delayed writes of a file that several ranks share (hint nc_write_behind): when the ranks wait for those of each
 * other. A file without them has no pnc_behind, and these functions are not called or do nothing. What a rank reads
 * ahead (nc_prefetch) is its own business: it discards it at each put, sync and change of the mode.
 *
 * Each collective put has a number, and the range of the file that it accesses is known to all ranks. Before a
 * collective call accesses a range that is not known to be written, each rank finishes its writes. So every get sees
 * every collective put before it, also of other ranks, and of puts that overlap the later one remains. A rank reports
 * with each call the first put that it has not written all of: earlier ones are in the file. */
#ifndef PNC_FILE_BEHIND_H
#define PNC_FILE_BEHIND_H

#include "drivers/behind/behind.h"
#include "file/file.h"

/* Local, after opening a file whose driver delays writes, or reads ahead. bytes: of memory on this rank, which both
 * share; 0: a share of the memory of the node. With logs: pnc_file_log_init. */
void pnc_file_behind_init(pnc_file *file, bool delays, bool reads_ahead, int64_t bytes);

/* Whether the writes of a file without a queue could be delayed: as the checks of the store, before it opens one. */
bool pnc_file_behind_is_possible(const pnc_file *file, const char *path);

/* For messages: the variable that has a byte of the file, or NULL. Local. */
static inline void pnc_file_behind_set_names(pnc_file *file, const char *(*find)(const void *names, int64_t offset),
                                             const void *names)
{
    if (file->behind != NULL) {
        file->behind->find_name = find;
        file->behind->names = names;
    }
}

/* Add what the worker has done to the timeline, if there is one. Local. */
void pnc_file_behind_trace_add(pnc_file *file);
static inline void pnc_file_behind_trace_update(pnc_file *file)
{
    if (file->statistics != NULL && file->statistics->trace != NULL)
        pnc_file_behind_trace_add(file);
}

/* Before the requests of a call are executed: from `low` to behind `high` - 1 in the file on this rank; none if they
 * are equal. Collective if the call is. A failure of an earlier put is an error of this call, and of all ranks if it is
 * collective. After a put: pnc_file_behind_end. */
int pnc_file_behind_begin(pnc_file *file, bool is_put, bool collective, int64_t low, int64_t high);
static inline void pnc_file_behind_end(pnc_file *file)
{
    if (file->behind != NULL)
        pnc_behind_store_end(file->behind);
}

/* A put, flush or close of the file has ended: what handles of this process have read ahead may be old. Local. */
void pnc_file_change_add(const pnc_file *file);
/* Discard what was read ahead, if any handle has announced a change since the last time. Local. */
void pnc_file_ahead_update(pnc_file *file);

/* A get of values of the variable, in this range on this rank, begins, after pnc_file_behind_begin; it has ended.
 * Local. */
static inline void pnc_file_ahead_begin(pnc_file *file, int varid, const pnc_behind_range *range)
{
    if (file->ahead == NULL)
        return;
    pnc_file_ahead_update(file);
    pnc_file_behind_trace_update(file);
    pnc_behind_store_begin_get(file->ahead, file->store, range->low.space == range->high.space ? varid : -1,
                               range->low.offset, range->high.offset);
}
static inline void pnc_file_ahead_end(pnc_file *file, int status, bool collective)
{
    if (file->ahead != NULL)
        pnc_behind_store_end_get(file->ahead, status, file->store, collective);
}
/* Other ranks, or other programs, may have changed the file. Local. */
static inline void pnc_file_ahead_discard(pnc_file *file)
{
    if (file->ahead != NULL)
        pnc_behind_store_discard(file->ahead);
}

/* Wait for the writes of all ranks; err as in pnc_file_status_agree. Returns a failure each time. Collective. */
int pnc_file_behind_agree(pnc_file *file, int err);
/* The same before an access: a failure that was reported before is no error, unless logs have what the file lacks: a
 * replay would write it over what is put now. */
int pnc_file_behind_wait(pnc_file *file);

/* Wait for the writes of this rank. Returns err or, if it is NC_NOERR, a failure of a write, each time. Local. */
static inline int pnc_file_behind_finish(pnc_file *file, int err)
{
    int own = file->behind != NULL ? pnc_behind_store_finish(file->behind, file->error) : NC_NOERR;

    return pnc_error_keep_first(err, own);
}
/* All ranks have done so, and agreed on it. */
static inline void pnc_file_behind_clear(pnc_file *file)
{
    if (file->behind != NULL)
        pnc_behind_store_clear_pending(file->behind);
}

/* Add what the worker has done to the statistics. Local. */
void pnc_file_behind_count(pnc_file *file);

#endif
