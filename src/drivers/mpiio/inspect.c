/* Inspection of a path before MPI opens it: the errors of MPI implementations for a directory, a missing directory
 * or a file without permission differ, and lack detail. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int code_of_errno(int number)
{
    switch (number) {
    case ENOENT: return NC_ENOENT;
    case EACCES:
    case EPERM: return NC_EACCESS;
    case EROFS: return NC_EPERM;
    case ENAMETOOLONG:
    case ENOTDIR:
    case ELOOP: return NC_EBAD_FILE;
    default: return NC_EFILE;
    }
}

/* A file cannot be created in a folder that does not exist: MPI-IO reports that in words of its own. */
static void check_folder(const char *path, pnc_inspection *found)
{
    const char *slash = strrchr(path, '/');
    char folder[PNC_MPIIO_PATH_BYTES];
    struct stat facts;

    if (slash == NULL || slash == path || (size_t)(slash - path) >= sizeof folder)
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (stat(folder, &facts) != 0 && errno == ENOENT)
        pnc_error_set(&found->error, NC_ENOENT, "cannot create %s: the folder %s does not exist%s", path, folder,
                      pnc_path_explain_missing(path));
}

/* An error of stat is final only for a path without a prefix: MPI may support file systems that stat does not. */
static void judge_missing_file(const char *path, int number, bool ordinary, pnc_open_purpose purpose,
                               pnc_inspection *found)
{
    bool creates = purpose == PNC_OPEN_REPLACE || purpose == PNC_OPEN_NEW;

    if (!ordinary)
        found->truncation = PNC_TRUNCATE_COLLECTIVELY;
    else if (!creates || number != ENOENT)
        pnc_error_set(&found->error, code_of_errno(number), "cannot %s %s: %s%s", creates ? "create" : "open", path,
                      strerror(number), number == ENOENT ? pnc_path_explain_missing(path) : "");
    else
        check_folder(path, found);
}

/* A new file with a temporary name does not get the stripes of the file that it replaces. */
static pnc_creation find_creation(const char *local, const char *suffix)
{
    struct stat facts;

    if (!pnc_mpiio_striping_is_on_lustre(local))
        return PNC_CREATION_ELSEWHERE;
    return suffix[0] == '\0' && stat(local, &facts) == 0 ? PNC_CREATION_REPLACES : PNC_CREATION_CHOOSES;
}

void pnc_mpiio_path_inspect(const char *path, pnc_open_purpose purpose, pnc_inspection *found)
{
    const char *local = pnc_path_strip(path);
    struct stat facts;
    int wanted = purpose == PNC_OPEN_READ ? R_OK : R_OK | W_OK;

    pnc_mpiio_path_choose_prefix(path, found->prefix);
    if (found->suffix[0] != '\0' && lstat(local, &facts) == 0 && S_ISLNK(facts.st_mode))
        pnc_error_set(
            &found->error, NC_EBAD_FILE,
            "%s is a symbolic link, which nc_whole_files would replace by the file: pass the path of its target", path);
    else if (path[0] == '\0')
        pnc_error_set(&found->error, NC_EBAD_FILE, "the file name is empty");
    else if (strlen(local) > PNC_MPIIO_PATH_MOST)
        pnc_error_set(&found->error, NC_EBAD_FILE, "the path has %zu bytes, and may have at most %d: %.60s..",
                      strlen(local), PNC_MPIIO_PATH_MOST, local);
    else if (stat(local, &facts) != 0)
        judge_missing_file(path, errno, local == path, purpose, found);
    else if (purpose == PNC_OPEN_NEW)
        pnc_error_set(&found->error, NC_EEXIST, "%s already exists, and NC_NOCLOBBER forbids replacing it", path);
    else if (S_ISDIR(facts.st_mode))
        pnc_error_set(&found->error, NC_EBAD_FILE, "%s is a directory", path);
    else if (!S_ISREG(facts.st_mode))
        pnc_error_set(&found->error, NC_EBAD_FILE, "%s is not a regular file", path);
    else if (access(local, wanted) != 0)
        pnc_error_set(&found->error, code_of_errno(errno), "no permission to %s %s: %s",
                      wanted == R_OK ? "read" : "write", path, strerror(errno));
    else if (local != path)
        found->truncation = PNC_TRUNCATE_COLLECTIVELY;
    else if (facts.st_size > 0)
        found->truncation = PNC_TRUNCATE_ON_ROOT;
    if (found->error.code == NC_NOERR && (purpose == PNC_OPEN_REPLACE || purpose == PNC_OPEN_NEW))
        found->creation = find_creation(local, found->suffix);
}

int pnc_mpiio_path_truncate(const char *path, pnc_error *error)
{
    if (truncate(path, 0) == 0)
        return NC_NOERR;
    return pnc_error_set(error, code_of_errno(errno), "cannot truncate %s: %s", path, strerror(errno));
}
