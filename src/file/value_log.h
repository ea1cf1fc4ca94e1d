/* Logs of values of variables, of a netCDF-4 file (hint nc_burst_buf): what a collective put has waits in the log of
 * its rank, until all ranks put it into the file in a collective step, from the first call to the last one. There is no
 * worker: chunks need all ranks, and their filters.
 *
 *           begin                 append, end_call                        a failure:
 *   no log --------> empty log --------------------> values wait ------.  the same values wait
 *                      ^  ^                               |  ^---------'
 *                      |  '-- restart: a new lap ---------+ all of them are in the file, and its metadata
 *                 end: no log
 *
 * The front of a log counts the calls that the file has: it is written when all ranks have put their values, and rank 0
 * has committed the metadata. So the largest number of all fronts says from which call on values are missing, if a
 * program dies before each rank has written its own. See log/values.h, docs/hidden.md. All but end is local. */
#ifndef PNC_FILE_VALUE_LOG_H
#define PNC_FILE_VALUE_LOG_H

#include "file/log.h"

/* Bytes that records with this many bytes behind them take in all, and the end of their call. */
static inline int64_t pnc_file_value_log_count_bytes(int64_t records, int64_t bytes)
{
    return bytes + (records + 1) * PNC_LOG_RECORD_BYTES;
}
/* Bytes that the log has space for; when it is empty. */
int64_t pnc_file_value_log_get_space(const pnc_file *file);
int64_t pnc_file_value_log_get_most(const pnc_file *file);
/* PNC_BEHIND_LOG_PORTION bytes of memory, for values on their way. */
static inline char *pnc_file_value_log_get_buffer(const pnc_file *file)
{
    return file->log.values->buffer;
}

/* n bytes of values (log/values.h) of the next call. Returns errno or 0. */
int pnc_file_value_log_append(pnc_file *file, int varid, const char *bytes, int64_t n);
/* The next call has no more. Returns errno or 0: then the log has it, if all ranks have (adopt_call). */
int pnc_file_value_log_end_call(pnc_file *file, int64_t numrecs);
static inline void pnc_file_value_log_adopt_call(pnc_file *file)
{
    file->log.call++;
}
/* Forget what the log has behind this position, of a call that failed. */
static inline int64_t pnc_file_value_log_get_tail(const pnc_file *file)
{
    return file->log.values->tail;
}
static inline void pnc_file_value_log_set_tail(pnc_file *file, int64_t tail)
{
    file->log.values->tail = tail;
}

/* The record at or behind *at that has values, up to the last call; *at becomes its position. False: there is none, or
 * *number is an errno. */
bool pnc_file_value_log_find(const pnc_file *file, int64_t *at, pnc_log_record *out, int *number);
/* Its bytes. Returns errno or 0. */
int pnc_file_value_log_read(const pnc_file *file, int64_t at, const pnc_log_record *record, char *bytes);
static inline int64_t pnc_file_value_log_get_next(int64_t at, const pnc_log_record *record)
{
    return at + PNC_LOG_RECORD_BYTES + record->extent.length;
}
/* The file, whether it has logs or not, is to be written: the log gets the time now and then. */
void pnc_file_value_log_set_time(const pnc_file *file);
/* errno of a log that can have no more values: of any rank, or of this one, as few descriptors are left. 0: it can. */
int pnc_file_value_log_get_failure(const pnc_file *file);

/* The file has all: begin a new lap. Returns errno or 0. */
int pnc_file_value_log_begin_lap(pnc_file *file, int64_t numrecs);
/* Values have left the log for the file, which is not flushed: since the last call of take. The same on all ranks. */
static inline void pnc_file_value_log_set_moved(const pnc_file *file)
{
    if (file->log.values != NULL)
        file->log.values->has_moved = true;
}
static inline bool pnc_file_value_log_take_moved(const pnc_file *file)
{
    bool has_moved = file->log.values->has_moved;

    file->log.values->has_moved = false;
    return has_moved;
}
/* What was put survives the death of the node. Returns errno or 0. */
int pnc_file_value_log_sync(pnc_file *file);
/* Add what logs have done to the statistics; queued: bytes that have waited elsewhere. */
void pnc_file_value_log_count(const pnc_file *file, int64_t queued);
/* As pnc_file_log_end. */
int pnc_file_value_log_end(pnc_file *file, int err);
/* Delete the log of this rank. */
void pnc_file_value_log_remove(pnc_file *file);

#endif
