/* Objects of a folder: files, which are found step by step from the folder, so that no step leaves it. */
#include "config.h" /* system extensions */

#include "drivers/folder/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "host/bytes.h"
#include "host/host.h"

#define NAME_BYTES 256 /* of a component, with its end: NAME_MAX of Linux */

static const pnc_folder *folder_of(const pnc_objects *objects)
{
    return (const pnc_folder *)(const void *)objects;
}

/* --- steps --- */

/* A file in a folder that is open. */
typedef struct found_name {
    int folder; /* to be closed, unless it is that of the dataset */
    char name[NAME_BYTES];
} found_name;

/* The first component of *key, which is moved behind it. */
static bool take_component(const char **key, char *name)
{
    size_t length = strcspn(*key, "/");

    if (length == 0 || length >= NAME_BYTES)
        return false;
    memcpy(name, *key, length);
    name[length] = '\0';
    *key += length;
    *key += **key == '/';
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static void close_step(const pnc_folder *f, int fd)
{
    if (fd >= 0 && fd != f->fd)
        close(fd);
}

/* Returns 0, or an errno. */
static int enter_folder(const pnc_folder *f, const char *name, bool makes, int *at)
{
    int next;

    if (makes && mkdirat(*at, name, 0777) != 0 && errno != EEXIST)
        return errno;
    next = openat(*at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0)
        return errno;
    close_step(f, *at);
    *at = next;
    return 0;
}

/* The folder in which the last component of a key is. Returns 0, or an errno. */
static int follow_key(const pnc_folder *f, const char *key, bool makes, found_name *out)
{
    const char *rest = key;
    int number;

    out->folder = f->fd;
    do {
        if (!take_component(&rest, out->name))
            number = ELOOP;
        else if (*rest == '\0')
            return 0;
        else
            number = enter_folder(f, out->name, makes, &out->folder);
    } while (number == 0);
    close_step(f, out->folder);
    return number;
}

static int find_last(const pnc_folder *f, const char *key, found_name *out)
{
    return follow_key(f, key, false, out);
}

/* Its folders are made if they are not there, which costs a call for each. */
static int find_new_last(const pnc_folder *f, const char *key, found_name *out)
{
    int number = follow_key(f, key, false, out);

    return number == ENOENT ? follow_key(f, key, true, out) : number;
}

int pnc_folder_key_open(const pnc_folder *f, const char *key, int *out)
{
    char name[NAME_BYTES];
    int number = 0;

    *out = f->fd;
    while (*key != '\0' && number == 0)
        number = take_component(&key, name) ? enter_folder(f, name, false, out) : ELOOP;
    if (number != 0)
        close_step(f, *out);
    return number;
}

/* A regular file: a pipe or a device is none, and opening it has no effect. Returns 0, or an errno. */
static int open_object(const pnc_folder *f, const char *key, int flags, int *out)
{
    found_name at;
    struct stat facts;
    int number = (flags & O_CREAT) != 0 ? find_new_last(f, key, &at) : find_last(f, key, &at);

    if (number != 0)
        return number;
    *out = openat(at.folder, at.name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    number = *out < 0 ? errno : 0;
    close_step(f, at.folder);
    if (number == 0 && (fstat(*out, &facts) != 0 || !S_ISREG(facts.st_mode))) {
        close(*out);
        number = ENOTDIR;
    }
    return number;
}

static int sync_names_in_folder(const pnc_objects *objects, const char *key, pnc_error *error)
{
    const pnc_folder *folder = folder_of(objects);
    int fd, number;

    if (folder->in_memory)
        return NC_NOERR;
    number = pnc_folder_key_open(folder, key, &fd);
    if (number == 0) {
        number = pnc_host_file_sync(fd);
        close_step(folder, fd);
    }
    if (number == 0 || number == EINVAL || number == EBADF) /* the file system has no such call */
        return NC_NOERR;
    return pnc_objects_error_set(error, number, NC_EWRITE, "flush it", objects->path, key);
}

/* --- reading --- */

static int64_t get_nanoseconds(const struct statx_timestamp *time)
{
    return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

static int inspect_object_in_folder(const pnc_objects *objects, const char *key, pnc_objects_facts *out,
                                    pnc_error *error)
{
    const pnc_folder *folder = folder_of(objects);
    found_name at;
    struct statx facts;
    int number = find_last(folder, key, &at);

    *out = (pnc_objects_facts){.size = -1};
    if (number == 0) {
        number =
            statx(at.folder, at.name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &facts) != 0 ? errno : 0;
        close_step(folder, at.folder);
    }
    if (number == ENOENT)
        return NC_NOERR;
    if (number == 0 && !S_ISREG(facts.stx_mode))
        number = ENOTDIR;
    if (number != 0)
        return pnc_objects_error_set(error, number, NC_EREAD, "find it", objects->path, key);
    *out = (pnc_objects_facts){.size = (int64_t)facts.stx_size,
                               .inode = (int64_t)facts.stx_ino,
                               .birth = (facts.stx_mask & STATX_BTIME) != 0 ? get_nanoseconds(&facts.stx_btime) : 0,
                               .changed = get_nanoseconds(&facts.stx_ctime)};
    return NC_NOERR;
}

static int find_object_in_folder(const pnc_objects *objects, const char *key, int64_t *size, pnc_error *error)
{
    pnc_objects_facts facts;
    int err = inspect_object_in_folder(objects, key, &facts, error);

    *size = facts.size;
    return err;
}

static int read_object_in_folder(const pnc_objects *objects, const char *key, int64_t offset, void *to, int64_t n,
                                 pnc_error *error)
{
    const pnc_folder *folder = folder_of(objects);
    int fd, number = open_object(folder, key, O_RDONLY, &fd);

    if (number == 0) {
        number = pnc_host_bytes_read(fd, offset, to, n);
        close(fd);
    }
    return number == 0 ? NC_NOERR : pnc_objects_error_set(error, number, NC_EREAD, "read it", objects->path, key);
}

/* --- writing --- */

/* Of a name that no other process of a node has. Nodes write other objects. */
static bool choose_new_name(const char *name, char *out)
{
    return snprintf(out, NAME_BYTES, "%.200s.~%lx", name, (unsigned long)getpid()) < NAME_BYTES;
}

/* Returns 0, or an errno. */
static int write_new(int folder, const char *name, const void *bytes, int64_t n, bool is_durable)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    int number = fd < 0 ? errno : pnc_host_bytes_write(fd, 0, bytes, n);

    if (number == 0 && is_durable)
        number = pnc_host_file_sync(fd);
    if (fd >= 0 && close(fd) != 0 && number == 0)
        number = errno;
    return number;
}

static int put_object_in_folder(const pnc_objects *objects, const char *key, const void *bytes, int64_t n,
                                bool is_durable, pnc_error *error)
{
    const pnc_folder *folder = folder_of(objects);
    char name[NAME_BYTES];
    found_name at;
    int number = find_new_last(folder, key, &at);

    is_durable = is_durable && !folder->in_memory;
    if (number == 0) {
        number = choose_new_name(at.name, name) ? write_new(at.folder, name, bytes, n, is_durable) : ENAMETOOLONG;
        if (number == 0 && renameat(at.folder, name, at.folder, at.name) != 0)
            number = errno;
        if (number != 0)
            (void)unlinkat(at.folder, name, 0);
        else if (is_durable)
            (void)pnc_host_file_sync(at.folder); /* where the file system has a call for that */
        close_step(folder, at.folder);
    }
    return number == 0 ? NC_NOERR : pnc_objects_error_set(error, number, NC_EWRITE, "write it", objects->path, key);
}

static int create_object_in_folder(const pnc_objects *objects, const char *key, const void *bytes, int64_t n,
                                   bool is_durable, pnc_error *error)
{
    const pnc_folder *folder = folder_of(objects);
    found_name at;
    int number = find_new_last(folder, key, &at);

    if (number == 0) {
        number = write_new(at.folder, at.name, bytes, n, is_durable && !folder->in_memory);
        close_step(folder, at.folder);
    }
    return number == 0 ? NC_NOERR : pnc_objects_error_set(error, number, NC_EWRITE, "write it", objects->path, key);
}

static int write_object_in_folder(const pnc_objects *objects, const char *key, int64_t offset, const void *bytes,
                                  int64_t n, pnc_error *error)
{
    const pnc_folder *folder = folder_of(objects);
    int fd, number = open_object(folder, key, O_RDWR | O_CREAT, &fd);

    if (number == 0) {
        number = pnc_host_bytes_write(fd, offset, bytes, n);
        if (close(fd) != 0 && number == 0)
            number = errno;
    }
    return number == 0 ? NC_NOERR : pnc_objects_error_set(error, number, NC_EWRITE, "write it", objects->path, key);
}

static int sync_object_in_folder(const pnc_objects *objects, const char *key, pnc_error *error)
{
    const pnc_folder *folder = folder_of(objects);
    int fd, number;

    if (folder->in_memory)
        return NC_NOERR;
    number = open_object(folder, key, O_RDONLY, &fd);
    if (number == 0) {
        number = pnc_host_file_sync_data(fd);
        close(fd);
    }
    return number == 0 ? NC_NOERR : pnc_objects_error_set(error, number, NC_EWRITE, "flush it", objects->path, key);
}

static int rename_object_in_folder(const pnc_objects *objects, const char *from, const char *to, pnc_error *error)
{
    const pnc_folder *folder = folder_of(objects);
    found_name old, new;
    int number = find_last(folder, from, &old);

    if (number == 0) {
        number = find_last(folder, to, &new);
        if (number == 0) {
            number = renameat(old.folder, old.name, new.folder, new.name) != 0 ? errno : 0;
            close_step(folder, new.folder);
        }
        close_step(folder, old.folder);
    }
    return number == 0 ? NC_NOERR : pnc_objects_error_set(error, number, NC_EWRITE, "rename it", objects->path, from);
}

static int delete_entry(const pnc_folder *folder, const char *key, int flags, pnc_error *error)
{
    found_name at;
    int number = find_last(folder, key, &at);

    if (number == 0) {
        number = unlinkat(at.folder, at.name, flags) != 0 ? errno : 0;
        close_step(folder, at.folder);
    }
    if (number == 0 || number == ENOENT)
        return NC_NOERR;
    return pnc_objects_error_set(error, number, NC_EWRITE, "delete it", folder->objects.path, key);
}

int pnc_folder_object_delete(const pnc_objects *objects, const char *key, pnc_error *error)
{
    return delete_entry(folder_of(objects), key, 0, error);
}

static int remove_folder_in_folder(const pnc_objects *objects, const char *key, pnc_error *error)
{
    return delete_entry(folder_of(objects), key, AT_REMOVEDIR, error);
}

static const pnc_objects_ops folder_operations = {.find = find_object_in_folder,
                                                  .read = read_object_in_folder,
                                                  .list = pnc_folder_key_list,
                                                  .inspect = inspect_object_in_folder,
                                                  .put = put_object_in_folder,
                                                  .create = create_object_in_folder,
                                                  .write = write_object_in_folder,
                                                  .sync = sync_object_in_folder,
                                                  .sync_names = sync_names_in_folder,
                                                  .rename = rename_object_in_folder,
                                                  .remove = pnc_folder_object_delete,
                                                  .remove_folder = remove_folder_in_folder};

/* --- a folder --- */

int pnc_folder_root_open(pnc_folder *folder, const char *path, pnc_error *error)
{
    struct statfs system;
    const char *root;

    folder->objects = (pnc_objects){.ops = &folder_operations, .path = path, .root = PNC_FOLDER_ROOT};
    folder->fd = open(pnc_path_strip(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return pnc_objects_error_set(error, errno, NC_EFILE, "open it", path, "");
    root = pnc_folder_root_find(folder->fd);
    if (root != NULL)
        folder->objects.root = root;
    folder->in_memory = fstatfs(folder->fd, &system) == 0 &&
                        ((uint32_t)system.f_type == PNC_HOST_TMPFS || (uint32_t)system.f_type == PNC_HOST_RAMFS);
    return NC_NOERR;
}

void pnc_folder_root_close(pnc_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}
