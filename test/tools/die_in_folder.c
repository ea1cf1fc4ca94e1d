/* Preloaded into ncmpilog by test_burst_death.py: the process dies at its call number DIE_AT, from 0, that changes a
 * file of which DIE_FOLDER is the beginning of the path. At a write with an odd number it dies with half of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
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
    const char *folder = getenv("DIE_FOLDER"), *at = getenv("DIE_AT");

    return folder != NULL && at != NULL && strncmp(path, folder, strlen(folder)) == 0 && calls++ == atoi(at);
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

#define WRITE(name, position)                                                          \
    ssize_t name(int fd, const void *bytes, size_t n, position offset)                 \
    {                                                                                  \
        ssize_t (*real)(int, const void *, size_t, position);                          \
                                                                                       \
        *(void **)&real = find(#name);                                                 \
        if (is_last_of(fd) && (calls % 2 == 1 || real(fd, bytes, n / 2, offset) >= 0)) \
            die();                                                                     \
        return real(fd, bytes, n, offset);                                             \
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
