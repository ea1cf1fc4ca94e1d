/* Preloaded into ncmpilog by burst.py: the process dies at its call number DIE_AT, from 0, that changes a file of which
 * DIE_FOLDER is the beginning of the path. At a write with an odd number it dies with half of it. With STOP_AT it stops
 * there instead. DIE_PAGES: the half ends with a page, as the kernel writes those of a page all or not at all, which
 * the metadata of netCDF-4 files rely on. FAR_FILES: all files are on servers; FAR_USER: another user runs it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

static int calls;

static void *find(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

/* Whether the call is the last one. */
static bool is_last(const char *path)
{
    const char *folder = getenv("DIE_FOLDER"), *at = getenv("DIE_AT"), *stop = getenv("STOP_AT");

    if (folder == NULL || strncmp(path, folder, strlen(folder)) != 0)
        return false;
    if (stop != NULL && calls == atoi(stop))
        raise(SIGSTOP);
    return calls++ == (at != NULL ? atoi(at) : -1);
}

static bool is_last_of(int fd)
{
    char link[64], path[4096];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return is_last(path);
}

static size_t cut(size_t n, long long offset)
{
    size_t end = ((size_t)offset + n / 2) / 4096 * 4096;

    if (getenv("DIE_PAGES") == NULL)
        return n / 2;
    return end > (size_t)offset ? end - (size_t)offset : 0;
}

#define WRITE(name, position)                                                                   \
    ssize_t name(int fd, const void *bytes, size_t n, position offset)                          \
    {                                                                                           \
        ssize_t (*real)(int, const void *, size_t, position);                                   \
                                                                                                \
        *(void **)&real = find(#name);                                                          \
        if (is_last_of(fd) && (calls % 2 == 1 || real(fd, bytes, cut(n, offset), offset) >= 0)) \
            die();                                                                              \
        return real(fd, bytes, n, offset);                                                      \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

#define TRUNCATE(name, position)       \
    int name(int fd, position size)    \
    {                                  \
        int (*real)(int, position);    \
                                       \
        *(void **)&real = find(#name); \
        if (is_last_of(fd))            \
            die();                     \
        return real(fd, size);         \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int fsync(int fd)
{
    int (*real)(int);

    *(void **)&real = find("fsync");
    if (is_last_of(fd))
        die();
    return real(fd);
}

int unlink(const char *path)
{
    int (*real)(const char *);

    *(void **)&real = find("unlink");
    if (is_last(path))
        die();
    return real(path);
}

int fstatfs(int fd, struct statfs *out)
{
    int (*real)(int, struct statfs *), code;

    *(void **)&real = find("fstatfs");
    code = real(fd, out);
    if (getenv("FAR_FILES") != NULL)
        out->f_type = 0x0BD00BD0;
    return code;
}

int fstatfs64(int fd, struct statfs64 *out)
{
    int (*real)(int, struct statfs64 *), code;

    *(void **)&real = find("fstatfs64");
    code = real(fd, out);
    if (getenv("FAR_FILES") != NULL)
        out->f_type = 0x0BD00BD0;
    return code;
}

uid_t geteuid(void)
{
    uid_t (*real)(void);

    *(void **)&real = find("geteuid");
    return real() + (getenv("FAR_USER") != NULL ? 1000 : 0);
}
