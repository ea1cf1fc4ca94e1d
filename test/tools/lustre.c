/* Preloaded by test_new_striping.py: the folder LUSTRE is the root of a file system that answers as Lustre does, by its
 * manual pages (llapi_layout(7), lfs-setstripe(1)), with LUSTRE_SERVERS servers; as if a program of the tests called
 * liblustreapi, whose name this library has, unless WITHOUT_API is defined. What lfs setstripe would say about a folder
 * is in its file .layout: "NUMBER SIZE PATTERN", NUMBER -1: all, 0: not said; PATTERN 1: stripes, 513: overstriped;
 * 0 0 0: a composite layout. That of a file NAME which is created with a layout is in NAME.layout. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LUSTRE 0x0BD00BD0
#define DEFAULT_SIZE 4194304

typedef struct layout {
    long count, size, pattern;
} layout;

static int servers(void)
{
    const char *text = getenv("LUSTRE_SERVERS");

    return text != NULL ? atoi(text) : 0;
}

static int is_inside(const char *path)
{
    const char *root = getenv("LUSTRE");
    char full[PATH_MAX];
    size_t n = root != NULL ? strlen(root) : 0;

    return root != NULL && realpath(path, full) != NULL && strncmp(full, root, n) == 0 &&
           (full[n] == '\0' || full[n] == '/');
}

#define STATFS(name, facts)                        \
    int name(const char *path, struct facts *out)  \
    {                                              \
        int (*real)(const char *, struct facts *); \
        int code;                                  \
                                                   \
        *(void **)&real = dlsym(RTLD_NEXT, #name); \
        code = real(path, out);                    \
        if (code == 0 && is_inside(path))          \
            out->f_type = LUSTRE;                  \
        return code;                               \
    }
STATFS(statfs, statfs)
STATFS(statfs64, statfs64)

/* The root is where the device changes. */
#define STAT(name, facts)                                          \
    int name(const char *path, struct facts *out)                  \
    {                                                              \
        int (*real)(const char *, struct facts *);                 \
        int code;                                                  \
                                                                   \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                 \
        code = real(path, out);                                    \
        if (code == 0 && S_ISDIR(out->st_mode) && is_inside(path)) \
            out->st_dev ^= 0x4000;                                 \
        return code;                                               \
    }
STAT(stat, stat)
STAT(stat64, stat64)

/* --- layouts --- */

static int read_layout(const char *path, layout *out)
{
    FILE *file = fopen(path, "r");
    int n = file != NULL ? fscanf(file, "%ld %ld %ld", &out->count, &out->size, &out->pattern) : 0;

    if (file != NULL)
        fclose(file);
    return n == 3;
}

static int read_of_folder(const char *folder, layout *out)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/.layout", folder);
    return read_layout(path, out);
}

static void fill(const layout *from, layout *out)
{
    if (out->count == 0)
        out->count = from->count;
    if (out->size == 0)
        out->size = from->size;
}

/* What a new file has: what it, its folder and the root say; and not more stripes than servers without overstriping. */
static void complete(const char *path, layout *out)
{
    char folder[PATH_MAX];
    const layout last = {1, DEFAULT_SIZE, 1};
    layout other;

    snprintf(folder, sizeof folder, "%s", path);
    if (strrchr(folder, '/') != NULL)
        *strrchr(folder, '/') = '\0';
    else
        strcpy(folder, ".");
    if (read_of_folder(folder, &other))
        fill(&other, out);
    if (read_of_folder(getenv("LUSTRE"), &other))
        fill(&other, out);
    fill(&last, out);
    if (servers() > 0 && (out->count < 0 || (out->count > servers() && out->pattern != 513)))
        out->count = servers();
}

static void put(unsigned char *bytes, uint32_t value, int n)
{
    for (int i = 0; i < n; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

/* struct lov_user_md_v1, or the beginning of lov_comp_md_v1. */
static ssize_t encode(const layout *l, void *value, size_t size)
{
    unsigned char bytes[32] = {0};

    put(bytes, l->pattern == 0 ? 0x0BD60BD0 : 0x0BD10BD0, 4);
    put(bytes + 4, (uint32_t)l->pattern, 4);
    put(bytes + 24, (uint32_t)l->size, 4);
    put(bytes + 28, (uint32_t)l->count, 2);
    if (size > 0)
        memcpy(value, bytes, size < sizeof bytes ? size : sizeof bytes);
    return sizeof bytes;
}

static int find_layout(const char *path, layout *out)
{
    char own[PATH_MAX + 16];
    struct stat facts;

    *out = (layout){0, 0, 1};
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) /* the client asks the root for a folder that says nothing */
        return read_of_folder(path, out) || read_of_folder(getenv("LUSTRE"), out);
    snprintf(own, sizeof own, "%s.layout", path);
    if (!read_layout(own, out))
        complete(path, out);
    return 1;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    ssize_t (*real)(const char *, const char *, void *, size_t);
    layout found;

    *(void **)&real = dlsym(RTLD_NEXT, "getxattr");
    if (strcmp(name, "lustre.lov") != 0 || !is_inside(path))
        return real(path, name, value, size);
    if (find_layout(path, &found))
        return encode(&found, value, size);
    errno = ENODATA;
    return -1;
}

/* --- liblustreapi --- */

#ifndef WITHOUT_API
layout *llapi_layout_alloc(void)
{
    layout *l = calloc(1, sizeof *l);

    if (l != NULL)
        l->pattern = 1;
    return l;
}

void llapi_layout_free(layout *l)
{
    free(l);
}

static int refuse(int number)
{
    errno = number;
    return -1;
}

int llapi_layout_stripe_count_set(layout *l, uint64_t count)
{
    l->count = (long)count;
    return count > 2000 ? refuse(EINVAL) : 0;
}

int llapi_layout_stripe_size_set(layout *l, uint64_t size)
{
    l->size = (long)size;
    return size % 65536 != 0 ? refuse(EINVAL) : 0;
}

/* LUSTRE_OLD: one of before overstriping. */
int llapi_layout_pattern_set(layout *l, uint64_t pattern)
{
    if (pattern != 0 && (pattern != 4 || getenv("LUSTRE_OLD") != NULL))
        return refuse(EOPNOTSUPP);
    l->pattern = pattern == 4 ? 513 : 1;
    return 0;
}

int llapi_get_obd_count(const char *folder, int *count, int of_metadata)
{
    *count = of_metadata ? 1 : servers();
    return is_inside(folder) && *count > 0 ? 0 : -ENOTTY;
}

/* LUSTRE_FULL: the file system has no objects for it; the library has opened it before it knows that. */
int llapi_layout_file_create(const char *path, int flags, int mode, const layout *l)
{
    char name[PATH_MAX + 16];
    layout own = *l;
    FILE *file;
    int fd;

    fd = open(path, flags | O_CREAT | O_EXCL, mode);
    if (fd < 0)
        return -1;
    if (getenv("LUSTRE_FULL") != NULL) {
        close(fd);
        return refuse(ENOSPC);
    }
    snprintf(name, sizeof name, "%s.layout", path);
    complete(path, &own);
    file = fopen(name, "w");
    if (file == NULL)
        return refuse(EIO);
    fprintf(file, "%ld %ld %ld\n", own.count, own.size, own.pattern);
    fclose(file);
    return fd;
}
#endif
