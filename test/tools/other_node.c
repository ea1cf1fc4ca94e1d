/* Preloaded by test_live_writer.py: what a program finds on a file system that nodes share. PNC_TEST_SHARED=1: the type
 * of each file system is one that is not known to be local. PNC_TEST_NODE=FILE: the file that has the random number of
 * this boot of the kernel. PNC_TEST_LOCKS=no: the file system refuses locks of open files; ignore: it grants all of
 * them, as one does whose nodes do not share them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#define FUSE 0x65735546
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static int is_set(const char *name, const char *value)
{
    const char *set = getenv(name);

    return set != NULL && strcmp(set, value) == 0;
}

static const char *replace(const char *path)
{
    const char *node = getenv("PNC_TEST_NODE");

    return node != NULL && strcmp(path, BOOT_ID) == 0 ? node : path;
}

static int is_of_open_file(int command)
{
    return command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
}

/* Some names are those of one function. */
#define STATFS(name, first, argument, facts)             \
    int name(first argument, struct facts *out)          \
    {                                                    \
        int (*real)(first, struct facts *);              \
        int code;                                        \
                                                         \
        *(void **)&real = dlsym(RTLD_NEXT, #name);       \
        code = real(argument, out);                      \
        if (code == 0 && is_set("PNC_TEST_SHARED", "1")) \
            out->f_type = FUSE;                          \
        return code;                                     \
    }
STATFS(statfs, const char *, path, statfs)
STATFS(statfs64, const char *, path, statfs64)
STATFS(fstatfs, int, fd, statfs)
STATFS(fstatfs64, int, fd, statfs64)

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        int (*real)(const char *, int, ...);                                                       \
        va_list rest;                                                                              \
        int mode;                                                                                  \
                                                                                                   \
        va_start(rest, flags);                                                                     \
        mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, int) : 0; \
        va_end(rest);                                                                              \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        return real(replace(path), flags, mode);                                                   \
    }
OPEN(open)
OPEN(open64)

#define FCNTL(name)                                                           \
    int name(int fd, int command, ...)                                        \
    {                                                                         \
        int (*real)(int, int, ...);                                           \
        va_list rest;                                                         \
        void *argument;                                                       \
                                                                              \
        va_start(rest, command);                                              \
        argument = va_arg(rest, void *);                                      \
        va_end(rest);                                                         \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        if (is_of_open_file(command) && is_set("PNC_TEST_LOCKS", "no")) {     \
            errno = ENOLCK;                                                   \
            return -1;                                                        \
        }                                                                     \
        if (is_of_open_file(command) && is_set("PNC_TEST_LOCKS", "ignore")) { \
            if (command == F_OFD_GETLK)                                       \
                ((struct flock *)argument)->l_type = F_UNLCK;                 \
            return 0;                                                         \
        }                                                                     \
        return real(fd, command, argument);                                   \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
