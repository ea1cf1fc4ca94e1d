/* A writer shares HDF5's lock of the file, flock(2): programs that write it by HDF5 want it alone, and are refused;
 * those that read it share it, too. Against other programs of this library it has a lock of one byte. Neither is taken
 * where flock is made of locks of bytes (NFS, SMB), which MPI-IO takes as well: only on local file systems. A folder
 * with a dataset, whose objects are replaced, is itself locked, by flock alone: no other library knows that.
 *
 * A lock belongs to an open file description: handles of a process use one, which a table has by device and inode. */
#define _GNU_SOURCE /* for locks of open files, which POSIX has since 2024 */
#include "host/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/host.h"

#define WRITER_BYTE ((INT64_C(1) << 62) + 1) /* beyond any data, behind that of pnc_host_file_hold */

struct pnc_host_writer {
    dev_t device;
    ino_t inode;
    int fd, count;
    pnc_host_writer *next;
};

static pthread_mutex_t writers_lock = PTHREAD_MUTEX_INITIALIZER;
static pnc_host_writer *writers;

/* --- what the environment asks for, in HDF5's words --- */

typedef enum lock_policy { LOCKS_OFF, LOCKS_TRIED, LOCKS_REQUIRED } lock_policy;

static lock_policy get_policy(void)
{
    const char *value = getenv("HDF5_USE_FILE_LOCKING");

    if (value == NULL)
        return LOCKS_TRIED;
    if (strcmp(value, "FALSE") == 0 || strcmp(value, "0") == 0)
        return LOCKS_OFF;
    return strcmp(value, "TRUE") == 0 || strcmp(value, "1") == 0 ? LOCKS_REQUIRED : LOCKS_TRIED;
}

/* --- who has the file --- */

/* The one other process that has such a lock of flock; 0: none, or several. Of locks of bytes the system names none. */
static int find_holder(const struct stat *facts, const char *kind)
{
    FILE *locks = fopen("/proc/locks", "re");
    int found = 0, many = 0;
    char line[200];

    while (locks != NULL && fgets(line, sizeof line, locks) != NULL) {
        char family[16], is_kind[16];
        unsigned device_major, device_minor;
        unsigned long long inode;
        int pid;

        if (sscanf(line, "%*d: %15s %*s %15s %d %x:%x:%llu", family, is_kind, &pid, &device_major, &device_minor,
                   &inode) != 6 ||
            strcmp(family, "FLOCK") != 0 || strcmp(is_kind, kind) != 0 || inode != facts->st_ino ||
            device_major != major(facts->st_dev) || device_minor != minor(facts->st_dev) || pid == getpid())
            continue;
        found = pid;
        many++;
    }
    if (locks != NULL)
        fclose(locks);
    return many == 1 ? found : 0;
}

static void name_holder(const struct stat *facts, const char *kind, char *why, size_t capacity)
{
    int pid = find_holder(facts, kind);
    char path[40], name[40] = "";
    FILE *file;

    if (pid <= 0) {
        snprintf(why, capacity, "another program has it open for writing");
        return;
    }
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    file = fopen(path, "re");
    if (file != NULL && fgets(name, sizeof name, file) != NULL)
        name[strcspn(name, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
    snprintf(why, capacity, "another program has it open for writing (process %d%s%s)", pid,
             name[0] != '\0' ? ", " : "", name);
}

/* --- locks --- */

static int set_writer_lock(int fd, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = WRITER_BYTE, .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &lock);
}

static pnc_held fail_lock(lock_policy policy, char *why, size_t capacity)
{
    if (policy != LOCKS_REQUIRED)
        return PNC_HELD_UNKNOWN;
    snprintf(why, capacity, "it cannot be locked, as HDF5_USE_FILE_LOCKING=TRUE requires: %s", strerror(errno));
    return PNC_HELD_BY_OTHERS;
}

static pnc_held take_locks(int fd, const struct stat *facts, lock_policy policy, char *why, size_t capacity)
{
    bool is_folder = S_ISDIR(facts->st_mode);

    if (flock(fd, (is_folder ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return fail_lock(policy, why, capacity);
        name_holder(facts, "WRITE", why, capacity);
        return PNC_HELD_BY_OTHERS;
    }
    if (is_folder || set_writer_lock(fd, F_WRLCK) == 0)
        return PNC_HELD;
    if (errno != EAGAIN && errno != EACCES)
        return fail_lock(policy, why, capacity);
    name_holder(facts, "READ", why, capacity);
    return PNC_HELD_BY_OTHERS;
}

/* A child of fork that still runs has the same open file: closing it would not release the locks. */
static void release_locks(int fd)
{
    (void)set_writer_lock(fd, F_UNLCK);
    (void)flock(fd, LOCK_UN);
    close(fd);
}

/* --- the table; its mutex is locked --- */

static pnc_host_writer *find_writer(const struct stat *facts)
{
    pnc_host_writer *w = writers;

    while (w != NULL && (w->device != facts->st_dev || w->inode != facts->st_ino))
        w = w->next;
    return w;
}

static pnc_held add_writer(int fd, const struct stat *facts, pnc_host_writer **out)
{
    pnc_host_writer *w = pnc_memory_alloc(1, sizeof *w);

    if (w == NULL)
        return PNC_HELD_UNKNOWN;
    *w = (pnc_host_writer){.device = facts->st_dev, .inode = facts->st_ino, .fd = fd, .count = 1, .next = writers};
    writers = *out = w;
    return PNC_HELD;
}

/* Another descriptor of a file in the table must not be closed: MPI-IO's locks of this process would be released. */
static pnc_held begin_writer(const char *path, lock_policy policy, pnc_host_writer **out, char *why, size_t capacity)
{
    struct statfs system;
    struct stat facts;
    pnc_held held = PNC_HELD_UNKNOWN;
    int fd;

    if (stat(path, &facts) != 0 || (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)))
        return PNC_HELD_UNKNOWN;
    *out = find_writer(&facts);
    if (*out != NULL) {
        (*out)->count++;
        return PNC_HELD;
    }
    fd = open(path, (S_ISDIR(facts.st_mode) ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_lock(policy, why, capacity);
    if (fstat(fd, &facts) == 0 && fstatfs(fd, &system) == 0 && pnc_host_type_is_local((uint32_t)system.f_type))
        held = take_locks(fd, &facts, policy, why, capacity);
    if (held == PNC_HELD)
        held = add_writer(fd, &facts, out);
    if (held != PNC_HELD)
        release_locks(fd);
    return held;
}

pnc_held pnc_host_writer_begin(const char *path, pnc_host_writer **out, char *why, size_t capacity)
{
    lock_policy policy = get_policy();
    pnc_held held;

    if (policy == LOCKS_OFF)
        return PNC_HELD_UNKNOWN;
    pthread_mutex_lock(&writers_lock);
    held = begin_writer(path, policy, out, why, capacity);
    pthread_mutex_unlock(&writers_lock);
    return held;
}

void pnc_host_writer_end(pnc_host_writer *writer)
{
    pnc_host_writer **at = &writers;

    pthread_mutex_lock(&writers_lock);
    if (--writer->count == 0) {
        while (*at != writer)
            at = &(*at)->next;
        *at = writer->next;
        release_locks(writer->fd);
        pnc_memory_free(writer);
    }
    pthread_mutex_unlock(&writers_lock);
}
