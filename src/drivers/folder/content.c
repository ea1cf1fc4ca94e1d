/* What is in a folder: listing and deleting it. */
#include "config.h" /* system extensions */

#include "drivers/folder/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders in folders: a dataset has few, and each has a descriptor open. A guess. */
enum { DEPTH_MOST = 64 };

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Of an entry, which is not followed. */
static bool is_folder_entry(int folder, const struct dirent *entry)
{
    struct stat facts;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(folder, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

static DIR *open_list(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);

    if (list == NULL && fd >= 0)
        close(fd);
    return list;
}

/* Of version 3 of Zarr; of a group of version 2, which may have only the document with all others; of an array of
 * version 2, which is no dataset that this library reads, but one that may be replaced. */
const char *pnc_folder_root_find(int fd)
{
    static const char *const roots[] = {PNC_FOLDER_ROOT, ".zgroup", ".zmetadata", ".zarray"};
    struct stat facts;

    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (fstatat(fd, roots[i], &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode))
            return roots[i];
    return NULL;
}

int pnc_folder_key_list(const pnc_objects *objects, const char *key, void *own, pnc_objects_visit *each,
                        pnc_error *error)
{
    const pnc_folder *folder = (const pnc_folder *)(const void *)objects;
    int fd, err = NC_NOERR, number = pnc_folder_key_open(folder, key, &fd);
    DIR *list = number == 0 ? open_list(fd, ".") : NULL;
    struct dirent *entry;

    if (number == 0 && list == NULL)
        number = errno;
    if (number == 0 && fd != folder->fd)
        close(fd);
    if (number != 0)
        return pnc_objects_error_set(error, number, NC_EREAD, "list it", objects->path, key);
    while (err == NC_NOERR && (entry = readdir(list)) != NULL)
        if (!is_dots(entry->d_name))
            err = each(own, entry->d_name, is_folder_entry(dirfd(list), entry), error);
    closedir(list);
    return err;
}

/* Returns 0, or an errno. `kept`: a name that stays; NULL: none. */
static int delete_content(int folder, const char *name, const char *kept, int depth)
{
    DIR *list = depth == DEPTH_MOST ? NULL : open_list(folder, name);
    struct dirent *entry;
    int number = list == NULL ? errno : 0;

    if (list == NULL)
        return number != 0 ? number : ELOOP;
    while (number == 0 && (entry = readdir(list)) != NULL) {
        int flags = is_folder_entry(dirfd(list), entry) ? AT_REMOVEDIR : 0;

        if (is_dots(entry->d_name) || (kept != NULL && strcmp(entry->d_name, kept) == 0))
            continue;
        if (flags != 0)
            number = delete_content(dirfd(list), entry->d_name, NULL, depth + 1);
        if (number == 0 && unlinkat(dirfd(list), entry->d_name, flags) != 0 && errno != ENOENT)
            number = errno;
    }
    closedir(list);
    return number;
}

int pnc_folder_content_delete(const pnc_folder *folder, pnc_error *error)
{
    int number = delete_content(folder->fd, ".", folder->objects.root, 0);

    if (number != 0)
        return pnc_objects_error_set(error, number, NC_EWRITE, "delete what is in it", folder->objects.path, "");
    return pnc_folder_object_delete(&folder->objects, folder->objects.root, error);
}
