/* Preloaded into an MPI program: its accesses of files take as long as on a parallel file system. The data go to the
 * real file, on tmpfs; then the call sleeps until the access ends in the simulation. An asynchronous access transfers
 * its data when it is submitted, and is in progress until then. As in the GNU C library, those of a file descriptor
 * take place one after the other.
 *
 * statfs reports a parallel file system for the files.
 *
 * MPI-IO uses the functions with and without 64 in their names, which are the same on 64-bit systems. */
#define _GNU_SOURCE
#include "parallel_fs.h"

#include <aio.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* --- which files --- */

static bool matches(const char *name, const char *path)
{
    const char *pattern = getenv(name);

    return pattern != NULL && fnmatch(pattern, path, 0) == 0;
}

static place find_place(int fd, ino_t *file)
{
    char link[64], path[4096];
    struct stat status;
    ssize_t length;
    place found;

    if (fd <= STDERR_FILENO || model_rank() < 0)
        return REAL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return REAL;
    path[length] = '\0';
    found = matches("PARALLEL_FS_FILES", path) ? SHARED : REAL;
    if (found == REAL && matches("PARALLEL_FS_LOCAL", path))
        found = LOCAL;
    if (found == REAL || fstat(fd, &status) != 0)
        return REAL;
    *file = status.st_ino;
    return found;
}

/* A parallel file system for which MPI libraries have no driver of their own. */
#define CEPH 0x00C36400

#define REPLACE_STATFS(name, type)                                                                     \
    int name(const char *path, struct type *out)                                                       \
    {                                                                                                  \
        static int (*real)(const char *, struct type *);                                               \
        char absolute[PATH_MAX];                                                                       \
        int status;                                                                                    \
                                                                                                       \
        if (real == NULL)                                                                              \
            *(void **)&real = find_next(#name);                                                        \
        status = real(path, out);                                                                      \
        if (status == 0 && realpath(path, absolute) != NULL && matches("PARALLEL_FS_FILES", absolute)) \
            out->f_type = CEPH;                                                                        \
        return status;                                                                                 \
    }

REPLACE_STATFS(statfs, statfs)
REPLACE_STATFS(statfs64, statfs64)

/* --- blocking accesses --- */

/* An access of the real file has transferred `bytes`, or has failed. Returns its result, with errno unchanged, when the
 * access ends in the simulation. */
static ssize_t delay(direction direction, int fd, ssize_t bytes, off_t offset)
{
    file_access access = {.direction = direction, .offset = offset, .length = bytes};
    int error = errno;

    access.place = bytes > 0 ? find_place(fd, &access.file) : REAL;
    if (access.place != REAL) {
        outcome result = model_access(&access, model_now());

        record_access(&access, &result);
        model_sleep_until(result.end);
    }
    errno = error;
    return bytes;
}

/* After an access at the position of the file, which is now behind it. */
static ssize_t delay_at_position(direction direction, int fd, ssize_t bytes)
{
    ino_t file;

    if (bytes <= 0 || find_place(fd, &file) == REAL)
        return bytes;
    return delay(direction, fd, bytes, lseek(fd, 0, SEEK_CUR) - bytes);
}

/* Define a function that calls the one of the C library, and delays its return. `real` is that one, `bytes` its
 * result. */
#define REPLACE(name, parameters, arguments, delayed) \
    ssize_t name parameters                           \
    {                                                 \
        static ssize_t(*real) parameters;             \
        if (real == NULL)                             \
            *(void **)&real = find_next(#name);       \
        ssize_t bytes = real arguments;               \
        return delayed;                               \
    }

#define REPLACE_AT_POSITION(name, direction, parameters, arguments) \
    REPLACE(name, parameters, arguments, delay_at_position(direction, fd, bytes))
#define REPLACE_AT_OFFSET(name, direction, parameters, arguments) \
    REPLACE(name, parameters, arguments, delay(direction, fd, bytes, offset))

REPLACE_AT_POSITION(read, READ, (int fd, void *buf, size_t n), (fd, buf, n))
REPLACE_AT_POSITION(write, WRITE, (int fd, const void *buf, size_t n), (fd, buf, n))
REPLACE_AT_POSITION(readv, READ, (int fd, const struct iovec *list, int n), (fd, list, n))
REPLACE_AT_POSITION(writev, WRITE, (int fd, const struct iovec *list, int n), (fd, list, n))
REPLACE_AT_OFFSET(pread, READ, (int fd, void *buf, size_t n, off_t offset), (fd, buf, n, offset))
REPLACE_AT_OFFSET(pread64, READ, (int fd, void *buf, size_t n, off_t offset), (fd, buf, n, offset))
REPLACE_AT_OFFSET(pwrite, WRITE, (int fd, const void *buf, size_t n, off_t offset), (fd, buf, n, offset))
REPLACE_AT_OFFSET(pwrite64, WRITE, (int fd, const void *buf, size_t n, off_t offset), (fd, buf, n, offset))
REPLACE_AT_OFFSET(preadv, READ, (int fd, const struct iovec *list, int n, off_t offset), (fd, list, n, offset))
REPLACE_AT_OFFSET(preadv64, READ, (int fd, const struct iovec *list, int n, off_t offset), (fd, list, n, offset))
REPLACE_AT_OFFSET(pwritev, WRITE, (int fd, const struct iovec *list, int n, off_t offset), (fd, list, n, offset))
REPLACE_AT_OFFSET(pwritev64, WRITE, (int fd, const struct iovec *list, int n, off_t offset), (fd, list, n, offset))

/* --- asynchronous accesses --- */

enum { MAX_PENDING = 1024 };

/* An access that was submitted and whose result was not yet returned. */
typedef struct pending {
    const struct aiocb *block; /* NULL: the entry is free */
    int64_t end;
    ssize_t bytes;
    int error;
} pending;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pending table[MAX_PENDING];

/* The entry of a control block, or a free one for NULL. The caller has the lock. */
static pending *find_pending(const struct aiocb *block)
{
    for (pending *at = table; at < table + MAX_PENDING; at++)
        if (at->block == block)
            return at;
    return NULL;
}

/* A copy of the entry of a control block; false: the C library has the access. */
static bool get_pending(const struct aiocb *block, pending *out)
{
    const pending *found;

    pthread_mutex_lock(&lock);
    found = find_pending(block);
    if (found != NULL)
        *out = *found;
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

static ssize_t transfer(direction direction, const struct aiocb *block)
{
    static ssize_t (*real_pread)(int, void *, size_t, off_t);
    static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
    void *buf = (void *)block->aio_buf;

    if (real_pread == NULL || real_pwrite == NULL) {
        *(void **)&real_pread = find_next("pread");
        *(void **)&real_pwrite = find_next("pwrite");
    }
    if (direction == READ)
        return real_pread(block->aio_fildes, buf, block->aio_nbytes, block->aio_offset);
    return real_pwrite(block->aio_fildes, buf, block->aio_nbytes, block->aio_offset);
}

/* When the accesses of a file descriptor that are in progress have ended, now at the earliest. */
static int64_t find_last_end(int fd)
{
    int64_t last = model_now();

    pthread_mutex_lock(&lock);
    for (const pending *at = table; at < table + MAX_PENDING; at++)
        if (at->block != NULL && at->block->aio_fildes == fd && at->end > last)
            last = at->end;
    pthread_mutex_unlock(&lock);
    return last;
}

/* Returns at once. Notifications (aio_sigevent) are not simulated. */
static int submit(file_access *access, const struct aiocb *block)
{
    pending entry = {.block = block, .end = find_last_end(block->aio_fildes)};
    pending *at;

    entry.bytes = transfer(access->direction, block);
    entry.error = entry.bytes < 0 ? errno : 0;
    if (entry.bytes > 0) {
        access->offset = block->aio_offset;
        access->length = entry.bytes;
        outcome result = model_access(access, entry.end);

        record_access(access, &result);
        entry.end = result.end;
    }
    pthread_mutex_lock(&lock);
    at = find_pending(NULL);
    if (at == NULL)
        fail("more asynchronous accesses than the simulation has memory for");
    *at = entry;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int replace_submit(direction direction, struct aiocb *block, const char *name)
{
    file_access access = {.direction = direction};
    int (*real)(struct aiocb *);

    access.place = find_place(block->aio_fildes, &access.file);
    if (access.place != REAL)
        return submit(&access, block);
    *(void **)&real = find_next(name);
    return real(block);
}

static int get_error(const struct aiocb *block, const char *name)
{
    int (*real)(const struct aiocb *);
    pending entry;

    if (get_pending(block, &entry))
        return model_now() < entry.end ? EINPROGRESS : entry.error;
    *(void **)&real = find_next(name);
    return real(block);
}

static ssize_t take_result(struct aiocb *block, const char *name)
{
    ssize_t (*real)(struct aiocb *);
    ssize_t bytes;
    pending *entry;

    pthread_mutex_lock(&lock);
    entry = find_pending(block);
    if (entry == NULL) {
        pthread_mutex_unlock(&lock);
        *(void **)&real = find_next(name);
        return real(block);
    }
    bytes = entry->bytes;
    errno = entry->error;
    entry->block = NULL;
    pthread_mutex_unlock(&lock);
    return bytes;
}

/* When the first of the accesses ends; INT64_MAX: the C library has one of them, or there is none. */
static int64_t find_first_end(const struct aiocb *const list[], int n)
{
    int64_t first = INT64_MAX;

    for (int i = 0; i < n; i++) {
        pending entry;

        if (list[i] == NULL)
            continue;
        if (!get_pending(list[i], &entry))
            return INT64_MAX;
        first = entry.end < first ? entry.end : first;
    }
    return first;
}

static int suspend(const struct aiocb *const list[], int n, const struct timespec *timeout, const char *name)
{
    int (*real)(const struct aiocb *const[], int, const struct timespec *);
    int64_t end = find_first_end(list, n), limit = INT64_MAX;

    if (end == INT64_MAX) {
        *(void **)&real = find_next(name);
        return real(list, n, timeout);
    }
    if (timeout != NULL)
        limit = model_now() + timeout->tv_sec * INT64_C(1000000000) + timeout->tv_nsec;
    model_sleep_until(end < limit ? end : limit);
    if (end <= limit)
        return 0;
    errno = EAGAIN;
    return -1;
}

/* The control blocks of both interfaces are the same on 64-bit systems. */
#define REPLACE_ASYNCHRONOUS(suffix)                                                                         \
    int aio_read##suffix(struct aiocb##suffix *block)                                                        \
    {                                                                                                        \
        return replace_submit(READ, (struct aiocb *)block, "aio_read" #suffix);                              \
    }                                                                                                        \
    int aio_write##suffix(struct aiocb##suffix *block)                                                       \
    {                                                                                                        \
        return replace_submit(WRITE, (struct aiocb *)block, "aio_write" #suffix);                            \
    }                                                                                                        \
    int aio_error##suffix(const struct aiocb##suffix *block)                                                 \
    {                                                                                                        \
        return get_error((const struct aiocb *)block, "aio_error" #suffix);                                  \
    }                                                                                                        \
    ssize_t aio_return##suffix(struct aiocb##suffix *block)                                                  \
    {                                                                                                        \
        return take_result((struct aiocb *)block, "aio_return" #suffix);                                     \
    }                                                                                                        \
    int aio_suspend##suffix(const struct aiocb##suffix *const list[], int n, const struct timespec *timeout) \
    {                                                                                                        \
        return suspend((const struct aiocb *const *)list, n, timeout, "aio_suspend" #suffix);                \
    }

REPLACE_ASYNCHRONOUS()
REPLACE_ASYNCHRONOUS(64)
