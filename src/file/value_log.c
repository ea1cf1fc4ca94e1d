/* Logs of values of variables. */
#include "file/value_log.h"

#include <errno.h>

#include "base/minmax.h"
#include "drivers/behind/behind.h"
#include "file/agree.h"
#include "file/behind.h"
#include "host/bytes.h"
#include "host/host.h"

int64_t pnc_file_value_log_get_space(const pnc_file *file)
{
    return file->log.values->capacity - file->log.values->tail;
}

int64_t pnc_file_value_log_get_most(const pnc_file *file)
{
    return file->log.values->capacity - PNC_LOG_FRONT_BYTES;
}

/* --- writing --- */

static int append_record(pnc_file *file, const pnc_log_record *record, const char *bytes)
{
    pnc_behind_log *log = file->log.values;
    int number = pnc_behind_log_append(log, record, bytes);

    if (number == 0)
        pnc_behind_log_add(log, record);
    return number;
}

int pnc_file_value_log_append(pnc_file *file, int varid, const char *bytes, int64_t n)
{
    const pnc_log_record record = {.kind = PNC_LOG_VALUES, .call = file->log.call + 1, .extent = {varid, n}};

    file->log.queued += n;
    return append_record(file, &record, bytes);
}

int pnc_file_value_log_end_call(pnc_file *file, int64_t numrecs)
{
    const pnc_log_record record = {.kind = PNC_LOG_END, .call = file->log.call + 1, .numrecs = numrecs};

    return append_record(file, &record, "");
}

int pnc_file_value_log_begin_lap(pnc_file *file, int64_t numrecs)
{
    pnc_behind_log *log = file->log.values;
    int number;

    log->numrecs = numrecs;
    number = pnc_behind_log_write_front(log, log->front.lap + 1, file->log.call);
    log->fronts++;
    if (number != 0)
        return number;
    pnc_behind_log_clear(log);
    log->has_moved = log->has_moved || !file->log.is_promised;
    file->log.is_promised = false;
    file->log.laps++;
    return 0;
}

int pnc_file_value_log_sync(pnc_file *file)
{
    file->log.is_promised = true;
    return pnc_behind_log_sync(file->log.values);
}

/* --- reading --- */

/* A log that is shorter than what it has is damaged. */
static int read_log_bytes(const pnc_file *file, int64_t at, char *bytes, int64_t n)
{
    int number = pnc_host_bytes_read(file->log.values->fd, at, bytes, n);

    return number < 0 ? EIO : number;
}

bool pnc_file_value_log_find(const pnc_file *file, int64_t *at, pnc_log_record *out, int *number)
{
    const pnc_behind_log *log = file->log.values;
    char bytes[PNC_LOG_RECORD_BYTES];
    uint64_t digest;

    while (*at < log->tail) {
        *number = read_log_bytes(file, *at, bytes, sizeof bytes);
        if (*number == 0 && !pnc_log_record_decode(&log->front, bytes, out, &digest))
            *number = EIO;
        if (*number != 0)
            return false;
        if (out->kind == PNC_LOG_VALUES)
            return true;
        *at = pnc_file_value_log_get_next(*at, out);
    }
    return false;
}

int pnc_file_value_log_read(const pnc_file *file, int64_t at, const pnc_log_record *record, char *bytes)
{
    return read_log_bytes(file, at + PNC_LOG_RECORD_BYTES, bytes, record->extent.length);
}

void pnc_file_value_log_set_time(const pnc_file *file)
{
    if (file->log.values != NULL)
        pnc_behind_log_set_time(file->log.values);
}

int pnc_file_value_log_get_failure(const pnc_file *file)
{
    if (file->log.failed == 0 && pnc_behind_queue_is_released(&file->log.store->queue))
        return EMFILE;
    return file->log.failed;
}

/* --- its end --- */

static void sum_work(const pnc_file *file, int64_t *writes, int64_t *bytes, int64_t *most)
{
    const pnc_behind_log *log = file->log.values;

    *writes = file->log.writes + (log != NULL ? log->fronts + log->records : 0);
    *bytes = file->log.bytes + (log != NULL ? log->fronts * PNC_LOG_SLOT_BYTES + log->bytes : 0);
    *most = pnc_max64(file->log.most, log != NULL ? log->most : 0);
}

void pnc_file_value_log_count(const pnc_file *file, int64_t queued)
{
    int64_t *counts = file->statistics->counts;

    if (file->log.state == PNC_LOG_UNUSED || file->log.header_size != NULL)
        return;
    counts[PNC_COUNT_BEHIND_QUEUED] = queued + file->log.queued;
    sum_work(file, &counts[PNC_COUNT_LOG_WRITES], &counts[PNC_COUNT_LOG_BYTES], &counts[PNC_COUNT_LOG_SIZE]);
    counts[PNC_COUNT_LOG_LAPS] = file->log.laps;
}

void pnc_file_value_log_remove(pnc_file *file)
{
    pnc_behind *store = file->log.store;

    if (file->log.values == NULL)
        return;
    sum_work(file, &file->log.writes, &file->log.bytes, &file->log.most);
    pnc_behind_log_free(file->log.values, true);
    file->log.values = NULL;
    file->log.is_promised = false;
    if (!pnc_behind_queue_is_released(&store->queue))
        (void)pnc_host_logs_hold(store->queue.fd, PNC_HOLD_NOTHING);
}

int pnc_file_value_log_end(pnc_file *file, int err)
{
    PNC_TRY(pnc_file_status_agree(file, pnc_file_behind_finish(file, err)));
    err = pnc_file_log_mark_delete(file);
    pnc_file_value_log_remove(file);
    return err;
}
