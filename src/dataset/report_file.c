/* Files in which statistics are written. */
#include "dataset/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "dataset/message.h"
#include "dataset/registry.h"

#define CHOOSE "choose another path in PNETCDF_STATS"
#define IS_DATASET "that is the dataset itself, or another one that is open: " CHOOSE

void pnc_dataset_report_file_explain(const pnc_dataset *ds, const char *what, const char *path, const char *why)
{
    pnc_dataset_warning_print(ds, "cannot write the %s %s: %s", what, path, why);
}

void pnc_dataset_report_file_warn(const pnc_dataset *ds, const char *what, const char *path)
{
    pnc_dataset_report_file_explain(ds, what, path, strerror(errno));
}

static bool has_name(const struct stat *facts, const char *path)
{
    struct stat named;

    return stat(pnc_path_strip(path), &named) == 0 && named.st_dev == facts->st_dev && named.st_ino == facts->st_ino;
}

/* By the name that it will have, the one that it has, and by identity if it has been renamed; or another one that is
 * open, by identity. A dataset that was just created is empty. */
static bool is_dataset(const pnc_dataset *ds, const struct stat *facts)
{
    const pnc_store *store = ds->file.store;

    return has_name(facts, ds->file.path) || (store->full_path != NULL && has_name(facts, store->full_path)) ||
           (store->identity.device != 0 && store->identity.device == (int64_t)facts->st_dev &&
            store->identity.inode == (int64_t)facts->st_ino) ||
           pnc_dataset_registry_has_file((int64_t)facts->st_dev, (int64_t)facts->st_ino);
}

/* Standard output and error may be regular files, to which other text is written. */
static FILE *open_standard(const struct stat *facts)
{
    FILE *const streams[] = {stdout, stderr};

    for (int i = 0; i < 2; i++) {
        int fd = fileno(streams[i]);
        struct stat other;

        if (fstat(fd, &other) == 0 && other.st_dev == facts->st_dev && other.st_ino == facts->st_ino) {
            fflush(streams[i]);
            fd = dup(fd);
            return fd < 0 ? NULL : fdopen(fd, "a");
        }
    }
    return NULL;
}

/* Why a regular file must not be replaced; NULL: it may be. Reports are JSON: an object, or an array. */
static const char *judge(const pnc_dataset *ds, int fd, const struct stat *facts)
{
    char first = '{';

    if (is_dataset(ds, facts))
        return IS_DATASET;
    if (pread(fd, &first, 1, 0) < 0)
        return strerror(errno);
    if (first != '{' && first != '[')
        return "that file exists and is not a report: " CHOOSE;
    return ftruncate(fd, 0) == 0 ? NULL : strerror(errno);
}

/* A regular file, or a new one. */
static FILE *open_regular(const pnc_dataset *ds, const char *what, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool is_new = fd >= 0;
    const char *why = NULL;
    struct stat facts;
    FILE *file = NULL;

    if (fd < 0 && errno == EEXIST)
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &facts) != 0)
        why = strerror(errno);
    else
        why = judge(ds, fd, &facts);
    if (why == NULL) {
        file = fdopen(fd, "w");
        why = file == NULL ? strerror(errno) : NULL;
    }
    if (why == NULL)
        return file;
    pnc_dataset_report_file_explain(ds, what, path, why);
    if (fd >= 0)
        close(fd);
    if (is_new)
        (void)unlink(path);
    return NULL;
}

FILE *pnc_dataset_report_file_open(const pnc_dataset *ds, const char *what, const char *path)
{
    bool exists;
    struct stat facts;
    FILE *file;

    exists = stat(path, &facts) == 0;
    file = exists ? open_standard(&facts) : NULL;
    if (file != NULL)
        return file;
    if (exists && is_dataset(ds, &facts)) { /* closing it would release the locks that this process has on it */
        pnc_dataset_report_file_explain(ds, what, path, IS_DATASET);
        return NULL;
    }
    if (!exists || S_ISREG(facts.st_mode))
        return open_regular(ds, what, path);
    file = fopen(path, "w"); /* a pipe, a terminal .. */
    if (file == NULL)
        pnc_dataset_report_file_warn(ds, what, path);
    return file;
}
