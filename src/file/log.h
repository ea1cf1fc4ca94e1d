/* Logs of a file that several ranks share (hint nc_burst_buf): delayed writes wait in files of a folder of the node, in
 * place of memory, and survive the death of the program. Each rank has a log from the first collective put on; a mark
 * beside the file names them, until the file is closed. See log/record.h, log/mark.h, docs/hidden.md. */
#ifndef PNC_FILE_LOG_H
#define PNC_FILE_LOG_H

#include <stdio.h>

#include "drivers/behind/behind.h"
#include "file/file.h"

/* Local, after pnc_file_behind_init for a file whose writes are delayed. path: of the file; folder: NULL: that of the
 * file; size: of a log, or 0; delays: without logs, in memory; header_size: bytes of the header that the file has, or
 * NULL: logs have values of variables (value_log.h). */
void pnc_file_log_init(pnc_file *file, const char *path, const char *folder, int64_t size, bool delays,
                       const int64_t *header_size);
void pnc_file_log_free(pnc_file *file);
/* Whether the store has what logs need. Local. */
static inline bool pnc_file_log_is_possible(const pnc_file *file)
{
    return pnc_behind_store_find(file->store) != NULL;
}

/* Local, the same on all ranks, before the first put: the file has no logs. */
static inline void pnc_file_log_reject(pnc_file *file, const char *why)
{
    if (file->log.state != PNC_LOG_WANTED)
        return;
    file->log.state = PNC_LOG_REFUSED;
    snprintf(file->log.why, sizeof file->log.why, "%s", why);
}

/* Before the first collective put: make the logs and the mark. If any rank cannot, none has a log, and the puts are
 * delayed in memory, or not at all: that is no error. Collective. */
void pnc_file_log_begin(pnc_file *file);
static inline bool pnc_file_log_is_used(const pnc_file *file)
{
    return file->log.state == PNC_LOG_USED && file->log.header_size != NULL && file->behind != NULL;
}
/* Whether logs are to have values of variables, which no other store writes. */
static inline bool pnc_file_log_is_for_values(const pnc_file *file)
{
    return file->log.header_size == NULL && (file->log.state == PNC_LOG_WANTED || file->log.state == PNC_LOG_USED);
}
static inline bool pnc_file_log_has_values(const pnc_file *file)
{
    return file->log.values != NULL;
}
/* Rank 0 deletes the mark, before the logs are: a replay would miss them. Collective. */
int pnc_file_log_mark_delete(pnc_file *file);
/* A collective put has ended without an error on all ranks. Local. */
void pnc_file_log_end_call(pnc_file *file, int64_t numrecs);
/* ncmpi_flush: what was put survives the death of the nodes. Collective. */
int pnc_file_log_sync(pnc_file *file);
/* All delayed writes are done, or have failed (err), as the file is closed: without an error of any rank, delete mark
 * and logs. Collective. */
int pnc_file_log_end(pnc_file *file, int err);
/* The header, of which the mark has a digest, will change: wait for all delayed writes, and delete mark and logs. The
 * next collective put makes others. Collective. */
int pnc_file_log_discard(pnc_file *file);
/* The same as pnc_file_log_end without the other ranks, which have no error. Local. */
void pnc_file_log_remove(pnc_file *file);

/* Why nothing is logged, or will be; false: it is. Local. */
bool pnc_file_log_explain(const pnc_file *file, char *why, size_t capacity);

/* Whether the file at this path has a mark: then NC_EINTERRUPTED, with a message. replays: NULL, or the stamp of the
 * mark that is expected, as a text: a replay writes the values of its logs. */
int pnc_file_log_mark_check(const char *path, const char *replays, pnc_error *error);
/* Delete the mark of a file that was replaced or deleted. */
void pnc_file_log_mark_remove(const char *path);

#endif
