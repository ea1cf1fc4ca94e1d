/* Locks of open files, file systems and nodes. */
#define _GNU_SOURCE /* for locks of open files, which POSIX has since 2024 */
#include "host/host.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

/* Types of local file systems. */
#define EXT 0xEF53
#define XFS 0x58465342
#define BTRFS 0x9123683E
#define ZFS 0x2FC12FC1
#define F2FS 0xF2F52010
#define BCACHEFS 0xCA451A4E
#define OVERLAY 0x794C7630

#define LIFE_BYTE (INT64_C(1) << 62) /* no file system has files of this size */
#define LOGS_BYTE (LIFE_BYTE + 2)    /* behind that of host/writer.c */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static int call_lock(int fd, int64_t byte, int command, short kind, short *found)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int code = fcntl(fd, command, &lock);

    *found = lock.l_type;
    return code;
}

static pnc_held set_program_lock(int fd, int64_t byte, short kind)
{
    short found;

    if (call_lock(fd, byte, F_OFD_SETLK, kind, &found) == 0)
        return PNC_HELD;
    return errno == EAGAIN || errno == EACCES ? PNC_HELD_BY_OTHERS : PNC_HELD_UNKNOWN;
}

static pnc_held inquire(int fd, int64_t byte)
{
    short found;

    if (call_lock(fd, byte, F_OFD_GETLK, F_WRLCK, &found) != 0)
        return PNC_HELD_UNKNOWN;
    return found == F_UNLCK ? PNC_HELD : PNC_HELD_BY_OTHERS;
}

static pnc_held hold_byte(int fd, int64_t byte, pnc_hold hold)
{
    switch (hold) {
    case PNC_HOLD_SHARED: return set_program_lock(fd, byte, F_RDLCK);
    case PNC_HOLD_EXCLUSIVE: return set_program_lock(fd, byte, F_WRLCK);
    case PNC_HOLD_INQUIRE: return inquire(fd, byte);
    default: return set_program_lock(fd, byte, F_UNLCK);
    }
}

pnc_held pnc_host_file_hold(int fd, pnc_hold hold)
{
    return hold_byte(fd, LIFE_BYTE, hold);
}

pnc_held pnc_host_logs_hold(int fd, pnc_hold hold)
{
    return hold_byte(fd, LOGS_BYTE, hold);
}

char *pnc_host_path_extend(const char *path, const char *suffix)
{
    struct stat facts;
    char *target = lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode) ? realpath(path, NULL) : NULL, *extended;
    size_t capacity;

    if (target != NULL)
        path = target;
    capacity = strlen(path) + strlen(suffix) + 1;
    extended = pnc_memory_alloc((int64_t)capacity, 1);
    if (extended != NULL)
        snprintf(extended, capacity, "%s%s", path, suffix);
    free(target);
    return extended;
}

int64_t pnc_host_file_get_birth(const char *path)
{
    struct statx facts;

    if (statx(AT_FDCWD, path, 0, STATX_BTIME, &facts) != 0 || (facts.stx_mask & STATX_BTIME) == 0)
        return 0;
    return facts.stx_btime.tv_sec * 1000000000 + facts.stx_btime.tv_nsec;
}

static int64_t get_change(const struct stat *facts)
{
    return (int64_t)facts->st_ctim.tv_sec * 1000000000 + facts->st_ctim.tv_nsec;
}

int64_t pnc_host_file_get_change(int fd)
{
    struct stat facts;

    return fstat(fd, &facts) == 0 ? get_change(&facts) : 0;
}

int64_t pnc_host_path_get_change(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 ? get_change(&facts) : 0;
}

static int repeat_sync(int (*call)(int fd), int fd)
{
    int code;

    do
        code = call(fd);
    while (code != 0 && errno == EINTR);
    return code == 0 ? 0 : errno;
}

int pnc_host_file_sync(int fd)
{
    return repeat_sync(fsync, fd);
}

int pnc_host_file_sync_data(int fd)
{
    return repeat_sync(fdatasync, fd);
}

int pnc_host_file_sync_entry(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *folder = length == 0 ? pnc_string_copy("./") : pnc_string_copy(path);
    int fd, number;

    if (folder == NULL)
        return ENOMEM;
    if (length > 0)
        folder[length] = '\0';
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    number = fd < 0 ? errno : pnc_host_file_sync(fd);
    if (number == EINVAL || number == EBADF || number == EACCES) /* no such call, or no permission */
        number = 0;
    if (fd >= 0)
        close(fd);
    pnc_memory_free(folder);
    return number;
}

bool pnc_host_type_is_local(uint32_t type)
{
    static const uint32_t types[] = {EXT, XFS, BTRFS, ZFS, F2FS, BCACHEFS, OVERLAY, PNC_HOST_TMPFS, PNC_HOST_RAMFS};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] == type)
            return true;
    return false;
}

bool pnc_host_file_is_local(int fd)
{
    struct statfs system;

    return fstatfs(fd, &system) == 0 && pnc_host_type_is_local((uint32_t)system.f_type);
}

bool pnc_host_path_is_nfs(const char *path)
{
    struct statfs system;

    return statfs(path, &system) == 0 && system.f_type == PNC_HOST_NFS;
}

static int value_of_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The kernel's random number of this boot: 32 hexadecimal digits, and hyphens. Containers of a node have the same. */
void pnc_host_node_get(int64_t node[2])
{
    uint64_t number[2] = {0, 0};
    char text[40];
    int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC), digits = 0;
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);

    for (ssize_t i = 0; i < n; i++) {
        int value = value_of_digit(text[i]);

        if (value >= 0 && digits < 32) {
            number[digits / 16] = number[digits / 16] << 4 | (uint64_t)value;
            digits++;
        }
    }
    if (fd >= 0)
        close(fd);
    node[0] = digits == 32 ? (int64_t)number[0] : 0;
    node[1] = digits == 32 ? (int64_t)number[1] : 0;
}

bool pnc_host_has_descriptors(int n)
{
    enum { MOST = 16 };
    int own[MOST], got = 0;
    bool has = true;

    assert(n <= MOST);
    for (; got < n && has; got++) {
        own[got] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        has = own[got] >= 0 || (errno != EMFILE && errno != ENFILE);
    }
    while (got-- > 0)
        if (own[got] >= 0)
            close(own[got]);
    return has;
}

int64_t pnc_host_id_create(void)
{
    struct timespec now;
    uint64_t id;

    if (getrandom(&id, sizeof id, GRND_NONBLOCK) != (ssize_t)sizeof id) { /* the node has just started */
        clock_gettime(CLOCK_REALTIME, &now);
        id = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20 ^ (uint64_t)getpid();
    }
    return (int64_t)(id >> 1);
}
