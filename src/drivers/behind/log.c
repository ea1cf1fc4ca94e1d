/* The log of this process. */
#include "drivers/behind/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "host/host.h"

#define ENTRIES (INT64_C(1) << 15)     /* blocks that can wait: 1.25 MiB of memory */
#define PLACES (INT64_C(1) << 18)      /* of 1 GiB of large blocks, 6 MiB of memory */
#define PIECE_LEAST (INT64_C(1) << 16) /* a smaller part of a block waits for an empty log */

/* --- writes --- */

/* Bytes of one or two parts at a position. Returns errno or 0. */
static int write_vector(int fd, struct iovec *parts, int n, int64_t at)
{
    while (n > 0) {
        ssize_t some = pwritev(fd, parts, n, at);

        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return some < 0 ? errno : ENOSPC;
        at += some;
        for (; n > 0 && (size_t)some >= parts->iov_len; n--, parts++)
            some -= (ssize_t)parts->iov_len;
        if (n > 0) {
            parts->iov_base = (char *)parts->iov_base + some;
            parts->iov_len -= (size_t)some;
        }
    }
    return 0;
}

static int64_t read_log_clock(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Returns errno or 0. */
static int write_time_slot(pnc_behind_log *log, struct timespec time)
{
    char slot[PNC_LOG_SLOT_BYTES];
    struct iovec part = {slot, sizeof slot};

    log->timed_ns = read_log_clock();
    pnc_log_time_encode(&log->front, (int64_t)time.tv_sec * 1000000000 + time.tv_nsec, slot);
    log->time_slot = 1 - log->time_slot;
    return write_vector(log->fd, &part, 1, PNC_LOG_TIMES_AT + (int64_t)log->time_slot * PNC_LOG_SLOT_BYTES);
}

/* That of the file. Returns errno or 0. */
static int write_time(pnc_behind_log *log, int fd)
{
    struct stat facts;

    return fstat(fd, &facts) == 0 ? write_time_slot(log, facts.st_mtim) : errno;
}

/* Also of a log that has ended, but for one that is deleted, or another process's. */
static bool is_time_due(const pnc_behind_log *log)
{
    return log->path[0] != '\0' && read_log_clock() - log->timed_ns >= PNC_LOG_TIME_INTERVAL * INT64_C(1000000000);
}

/* If it fails, a replay may only ask more than it must. */
void pnc_behind_log_update_time(pnc_behind_log *log, int fd)
{
    if (is_time_due(log))
        log->fronts += write_time(log, fd) == 0;
}

void pnc_behind_log_set_time(pnc_behind_log *log)
{
    struct timespec now;

    if (is_time_due(log) && clock_gettime(CLOCK_REALTIME, &now) == 0)
        log->fronts += write_time_slot(log, now) == 0;
}

/* --- its life --- */

static char *join_log_path(const char *folder, const char *file, const pnc_log_front *front)
{
    char name[PNC_LOG_NAME_BYTES], *path;
    size_t capacity;

    pnc_log_name_format(file, front->stamp, front->rank, name);
    capacity = strlen(folder) + strlen(name) + 2;
    path = pnc_memory_alloc((int64_t)capacity, 1);
    if (path != NULL)
        snprintf(path, capacity, "%s/%s", folder, name);
    return path;
}

/* The front says where the log was made, so that a copy is known as one. */
static int identify_log(pnc_behind_log *log)
{
    struct stat facts;

    if (fstat(log->fd, &facts) != 0)
        return errno;
    log->front.inode = (int64_t)facts.st_ino;
    log->front.birth = pnc_host_file_get_birth(log->path);
    pnc_host_node_get(log->front.node);
    return 0;
}

/* Locks show a replay that this process runs: that of the file also one of copies of the logs. */
static bool open_log_file(pnc_behind_log *log, int fd, int *number)
{
    *number = EBUSY; /* a replay writes to the file */
    if (pnc_host_logs_hold(fd, PNC_HOLD_SHARED) == PNC_HELD_BY_OTHERS)
        return false;
    log->fd = open(log->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    *number = log->fd < 0 ? errno : EMFILE;
    if (log->fd < 0 || !pnc_host_has_descriptors(PNC_BEHIND_SPARE))
        return false;
    (void)pnc_host_file_hold(log->fd, PNC_HOLD_EXCLUSIVE);
    *number = identify_log(log);
    if (*number == 0)
        *number = pnc_behind_log_write_front(log, 1, log->call);
    if (*number == 0)
        *number = pnc_behind_log_write_front(log, 1, log->call);
    if (*number == 0)
        *number = write_time(log, fd);
    log->fronts = 3;
    log->most = PNC_LOG_FRONT_BYTES;
    return *number == 0;
}

pnc_behind_log *pnc_behind_log_create(const char *folder, const char *file, int fd, const pnc_log_front *front,
                                      int64_t capacity, int *number)
{
    pnc_behind_log *log = pnc_memory_alloc_zeroed(1, sizeof *log);

    *number = 0;
    if (log == NULL)
        return NULL;
    log->fd = -1;
    log->front = *front;
    log->call = front->call;
    log->numrecs = front->numrecs;
    log->index.most = PLACES;
    log->capacity = pnc_max64(capacity, PNC_BEHIND_LOG_LEAST);
    log->path = join_log_path(folder, file, front);
    log->entries = pnc_memory_alloc(ENTRIES, sizeof *log->entries);
    log->buffer = pnc_memory_alloc_large(PNC_BEHIND_LOG_PORTION);
    pnc_behind_log_clear(log);
    if (log->path != NULL && log->entries != NULL && log->buffer != NULL && open_log_file(log, fd, number))
        return log;
    (void)pnc_host_logs_hold(fd, PNC_HOLD_NOTHING);
    pnc_behind_log_free(log, log->fd >= 0);
    return NULL;
}

void pnc_behind_log_remove(pnc_behind_log *log)
{
    if (log->path != NULL && log->path[0] != '\0')
        (void)unlink(log->path);
    if (log->path != NULL)
        log->path[0] = '\0';
}

void pnc_behind_log_free(pnc_behind_log *log, bool removes)
{
    if (removes)
        pnc_behind_log_remove(log);
    if (log->fd >= 0)
        close(log->fd);
    pnc_memory_free(log->path);
    pnc_memory_free(log->entries);
    pnc_behind_index_free(&log->index);
    pnc_memory_free(log->buffer);
    pnc_memory_free(log);
}

/* --- its file --- */

int pnc_behind_log_append(const pnc_behind_log *log, const pnc_log_record *record, const char *bytes)
{
    char header[PNC_LOG_RECORD_BYTES];
    struct iovec parts[2] = {{header, sizeof header}, {(void *)(uintptr_t)bytes, (size_t)record->extent.length}};

    pnc_log_record_encode(&log->front, record, bytes, header);
    return write_vector(log->fd, parts, record->extent.length > 0 ? 2 : 1, log->tail);
}

int pnc_behind_log_write_front(pnc_behind_log *log, int64_t lap, int64_t call)
{
    char slot[PNC_LOG_SLOT_BYTES];
    struct iovec part = {slot, sizeof slot};
    pnc_log_front front = log->front;
    int number;

    front.lap = lap;
    front.call = call;
    front.numrecs = log->numrecs;
    pnc_log_front_encode(&front, slot);
    number = write_vector(log->fd, &part, 1, (int64_t)log->slot * PNC_LOG_SLOT_BYTES);
    if (number != 0)
        return number;
    log->front = front;
    log->slot = 1 - log->slot;
    return 0;
}

int pnc_behind_log_read(const pnc_behind_log *log, const pnc_behind_pieces *pieces)
{
    char *to = log->buffer;

    for (int i = 0; i < pieces->n; i++)
        for (int64_t done = 0; done < pieces->piece[i].length;) {
            struct iovec part = {to, (size_t)(pieces->piece[i].length - done)};
            ssize_t some = preadv(log->fd, &part, 1, pieces->piece[i].at + done);

            if (some == 0 || (some < 0 && errno != EINTR))
                return some < 0 ? errno : EIO;
            done += some > 0 ? some : 0;
            to += some > 0 ? some : 0;
        }
    return 0;
}

int pnc_behind_log_sync(pnc_behind_log *log)
{
    int number = log->is_listed ? 0 : pnc_host_file_sync_entry(log->path);

    if (number != 0)
        return number;
    log->is_listed = true;
    return pnc_host_file_sync_data(log->fd);
}

/* --- its blocks --- */

int64_t pnc_behind_log_reserve(const pnc_behind_log *log, int64_t length)
{
    int64_t left = log->capacity - log->tail - PNC_LOG_RECORD_BYTES;

    if (log->n == ENTRIES || left < pnc_min64(length, PIECE_LEAST))
        return 0;
    return pnc_min64(length, left);
}

static void widen_span(pnc_extent *span, pnc_extent by)
{
    int64_t end = pnc_max64(span->offset + span->length, by.offset + by.length);

    if (span->length == 0) {
        *span = by;
        return;
    }
    span->offset = pnc_min64(span->offset, by.offset);
    span->length = end - span->offset;
}

void pnc_behind_log_add(pnc_behind_log *log, const pnc_log_record *record)
{
    int64_t at = log->tail + PNC_LOG_RECORD_BYTES;
    pnc_behind_entry *entry;

    log->records++;
    log->bytes += at + record->extent.length - log->tail;
    log->tail = at + record->extent.length;
    log->most = pnc_max64(log->most, log->tail);
    if (record->kind != PNC_LOG_BLOCK)
        return;
    assert(log->n < ENTRIES);
    entry = &log->entries[(log->first + log->n) % ENTRIES];
    *entry = (pnc_behind_entry){record->extent, record->call, at, 0};
    if (log->n++ > 0)
        entry->nplaces = pnc_behind_index_add(&log->index, record->extent, false);
    log->first_call = pnc_min64(log->first_call, record->call);
    widen_span(&log->hull, record->extent);
}

void pnc_behind_log_clear(pnc_behind_log *log)
{
    log->tail = PNC_LOG_FRONT_BYTES;
    log->first_call = INT64_MAX;
    log->hull.length = log->n = 0;
    pnc_behind_index_clear(&log->index);
}

void pnc_behind_log_get_first(const pnc_behind_log *log, pnc_behind_pieces *out)
{
    out->extent = (pnc_extent){log->entries[log->first].extent.offset, 0};
    out->n = 0;
    for (int64_t i = 0; i < log->n && out->n < PNC_BEHIND_LOG_PIECES; i++) {
        const pnc_behind_entry *entry = &log->entries[(log->first + i) % ENTRIES];
        int64_t length = pnc_min64(entry->extent.length, PNC_BEHIND_LOG_PORTION - out->extent.length);

        if (entry->extent.offset != out->extent.offset + out->extent.length || length == 0)
            break;
        out->piece[out->n].at = entry->at;
        out->piece[out->n++].length = length;
        out->extent.length += length;
    }
}

void pnc_behind_log_release(pnc_behind_log *log, int64_t length)
{
    while (length > 0) {
        pnc_behind_entry *entry = &log->entries[log->first];
        int64_t some = pnc_min64(length, entry->extent.length);

        assert(log->n > 0);
        entry->extent.offset += some;
        entry->extent.length -= some;
        entry->at += some;
        length -= some;
        if (entry->extent.length > 0)
            return;
        log->first = (log->first + 1) % ENTRIES;
        if (--log->n > 0)
            pnc_behind_index_remove(&log->index, log->entries[log->first].nplaces);
    }
}

bool pnc_behind_log_has_span(const pnc_behind_log *log, pnc_extent span)
{
    if (log->n == 0 || !pnc_behind_extent_has_span(log->hull, span))
        return false;
    if (pnc_behind_index_is_shorter(&log->index, span))
        return pnc_behind_extent_has_span(log->entries[log->first].extent, span) ||
               pnc_behind_index_has_span(&log->index, span);
    for (int64_t i = 0; i < log->n; i++)
        if (pnc_behind_extent_has_span(log->entries[(log->first + i) % ENTRIES].extent, span))
            return true;
    return false;
}

bool pnc_behind_log_has_had_span(const pnc_behind_log *log, pnc_extent span)
{
    return pnc_behind_extent_has_span(log->hull, span);
}
