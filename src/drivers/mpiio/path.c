/* Paths: what a program passes, what MPI-IO takes for the same file, and whether a path still names the file that was
 * opened. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/host.h"

/* ROMIO takes what is before a colon, anywhere in a path, for the type of a file system, in capitals or not: it strips
 * the types that it has, and refuses the path otherwise (MPICH 4.0.2). After a prefix of its own it takes the rest as
 * it is. Open MPI (OMPIO) takes prefixes for parts of the name. */
static bool takes_prefixes(void)
{
    return pnc_mpiio_library_get() != PNC_MPIIO_OPEN_MPI;
}

void pnc_mpiio_path_find_folder(const char *path, char *folder)
{
    const char *slash = strrchr(path, '/');

    strcpy(folder, ".");
    if (slash != NULL)
        snprintf(folder, PNC_MPIIO_PATH_BYTES, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* True if a file at this path is, or would be, on NFS, where ROMIO locks what it accesses. */
static bool is_on_nfs(const char *path)
{
    char folder[PNC_MPIIO_PATH_BYTES];
    struct statfs system;

    pnc_mpiio_path_find_folder(path, folder);
    return (statfs(path, &system) == 0 || statfs(folder, &system) == 0) && system.f_type == PNC_HOST_NFS;
}

void pnc_mpiio_path_choose_prefix(const char *path, char *prefix)
{
    memset(prefix, 0, PNC_PREFIX_BYTES);
    if (strchr(path, ':') != NULL && pnc_path_strip(path) == path && takes_prefixes())
        strcpy(prefix, is_on_nfs(path) ? "nfs:" : "ufs:");
}

const char *pnc_mpiio_path_derive(const char *path, const char *prefix, char *buffer)
{
    const char *local = pnc_path_strip(path);

    if (strchr(path, ':') == NULL || strlen(path) >= PNC_MPIIO_PATH_BYTES - PNC_PREFIX_BYTES)
        return path;
    if (takes_prefixes())
        snprintf(buffer, PNC_MPIIO_PATH_BYTES, "%s%s", prefix != NULL ? prefix : "", path);
    else /* also if the MPI-IO of this Open MPI is ROMIO, it must not take the beginning of the name for a type */
        snprintf(buffer, PNC_MPIIO_PATH_BYTES, "%s%s", local[0] == '/' || local[0] == '.' ? "" : "./", local);
    return buffer;
}

/* getcwd, however long. Freed by pnc_memory_free; NULL without memory or folder. */
static char *get_folder(void)
{
    char *folder = NULL;

    for (int64_t capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
        pnc_memory_free(folder);
        folder = pnc_memory_alloc(capacity, 1);
        if (folder == NULL || getcwd(folder, (size_t)capacity) != NULL)
            return folder;
        if (errno != ERANGE)
            break;
    }
    pnc_memory_free(folder);
    return NULL;
}

char *pnc_mpiio_path_make_absolute(const char *path)
{
    const char *local = pnc_path_strip(path);
    char *folder = local[0] == '/' ? NULL : get_folder(), *full;
    int prefix = (int)(local - path);
    size_t capacity;

    if (folder == NULL)
        return pnc_string_copy(path);
    capacity = strlen(folder) + strlen(path) + 2;
    full = pnc_memory_alloc((int64_t)capacity, 1);
    if (full != NULL)
        snprintf(full, capacity, "%.*s%s/%s", prefix, path, folder, local);
    pnc_memory_free(folder);
    return full;
}

bool pnc_mpiio_path_identify(const char *path, pnc_identity *out)
{
    struct stat facts;

    if (stat(pnc_path_strip(path), &facts) != 0)
        return false;
    *out = (pnc_identity){(int64_t)facts.st_dev, (int64_t)facts.st_ino};
    return true;
}

/* A symbolic link to the file stays. */
static int remove_target(const char *path, MPI_Info info, pnc_error *error)
{
    const char *local = pnc_path_strip(path);
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

/* Like rename, but an existing file is an error. Where there are no hard links, an empty file takes the name first. */
static int rename_new(const char *from, const char *to)
{
    int fd, number;

    if (link(from, to) == 0)
        return unlink(from);
    if (errno == EEXIST)
        return -1;
    fd = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    close(fd);
    if (rename(from, to) == 0)
        return 0;
    number = errno;
    unlink(to);
    errno = number;
    return -1;
}

/* Without its last `suffix` bytes. A file that is replaced passes its permissions on, as if its content were. */
int pnc_mpiio_path_rename(const char *path, int suffix, bool replaces, pnc_error *error)
{
    const char *from = pnc_path_strip(path);
    char *to = pnc_string_copy(from);
    struct stat facts;
    int err = NC_NOERR;

    if (to == NULL)
        return pnc_error_set(error, NC_ENOMEM, "%s keeps this name: no memory to rename it", from);
    to[strlen(to) - (size_t)suffix] = '\0';
    if (replaces && stat(to, &facts) == 0)
        (void)chmod(from, facts.st_mode & 0777);
    if ((replaces ? rename(from, to) : rename_new(from, to)) != 0)
        err = pnc_error_set(error, errno == EEXIST ? NC_EEXIST : NC_EFILE, "%s: cannot rename the new file %s: %s", to,
                            from, strerror(errno));
    pnc_memory_free(to);
    return err;
}
