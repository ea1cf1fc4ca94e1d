/* Paths: what a program passes, what MPI-IO takes for the same file, and whether a path still names the file that was
 * opened. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* The prefixes of ROMIO, one per file system driver. */
const char *pnc_mpiio_path_strip(const char *path)
{
    static const char *const types[] = {"ufs",    "nfs",  "xfs", "pvfs2",   "gpfs",  "panfs",
                                        "lustre", "daos", "ime", "quobyte", "testfs"};
    size_t n = strcspn(path, ":");

    for (size_t i = 0; path[n] == ':' && i < sizeof types / sizeof *types; i++)
        if (strlen(types[i]) == n && strncmp(path, types[i], n) == 0)
            return path + n + 1;
    return path;
}

/* getcwd, however long. Freed by pnc_memory_free; NULL without memory or folder. */
static char *get_folder(void)
{
    char *folder = NULL;

    for (int64_t room = 1024; room <= 1 << 20; room *= 2) {
        pnc_memory_free(folder);
        folder = pnc_memory_alloc(room, 1);
        if (folder == NULL || getcwd(folder, (size_t)room) != NULL)
            return folder;
        if (errno != ERANGE)
            break;
    }
    pnc_memory_free(folder);
    return NULL;
}

char *pnc_mpiio_path_make_absolute(const char *path)
{
    const char *local = pnc_mpiio_path_strip(path);
    char *folder = local[0] == '/' ? NULL : get_folder(), *full;
    int prefix = (int)(local - path);
    size_t room;

    if (folder == NULL)
        return pnc_string_copy(path);
    room = strlen(folder) + strlen(path) + 2;
    full = pnc_memory_alloc((int64_t)room, 1);
    if (full != NULL)
        snprintf(full, room, "%.*s%s/%s", prefix, path, folder, local);
    pnc_memory_free(folder);
    return full;
}

bool pnc_mpiio_path_identify(const char *path, pnc_identity *out)
{
    struct stat facts;

    if (stat(pnc_mpiio_path_strip(path), &facts) != 0)
        return false;
    *out = (pnc_identity){(int64_t)facts.st_dev, (int64_t)facts.st_ino};
    return true;
}

/* A symbolic link to the file stays. */
static int remove_target(const char *path, MPI_Info info, pnc_error *error)
{
    const char *local = pnc_mpiio_path_strip(path);
    struct stat facts;
    char *target;
    int err;

    if (lstat(local, &facts) != 0 || !S_ISLNK(facts.st_mode))
        return pnc_mpiio_path_remove(path, info, error);
    target = realpath(local, NULL);
    if (target == NULL)
        return pnc_error_set(error, NC_EFILE, "cannot delete %s: %s", path, strerror(errno));
    err = pnc_mpiio_path_remove(target, info, error);
    free(target);
    return err;
}

int pnc_mpiio_path_discard(const char *path, pnc_identity own, MPI_Info info, pnc_error *error)
{
    pnc_identity now;

    if (own.inode == 0) /* of a file system that only MPI-IO can access */
        return pnc_mpiio_path_remove(path, info, error);
    if (!pnc_mpiio_path_identify(path, &now)) /* deleted, or moved away */
        return NC_NOERR;
    if (now.inode == own.inode && now.device == own.device)
        return remove_target(path, info, error);
    return pnc_error_set(error, NC_EFILE,
                         "%s is another file than the one that was created: it was replaced, and is not deleted", path);
}
