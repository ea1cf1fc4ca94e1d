/* References get their name when they are complete. Those that are there and the same stay as they are. */
#include "dataset/references_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "dataset/message.h"
#include "references/references.h"

#define ENDING ".json"
#define TEMPORARY ".json.partial"
enum { HEAD_BYTES = 4096, COMPARED = 64 * 1024 };

/* --- the files --- */

/* NULL without memory. To be freed. */
static char *make_name(const char *path, const char *ending)
{
    size_t n = strlen(path), length = strlen(ending) + 1;
    char *name = pnc_memory_alloc((int64_t)(n + length), 1);

    if (name != NULL) {
        memcpy(name, path, n);
        memcpy(name + n, ending, length);
    }
    return name;
}

/* Whether an existing file may be replaced: references, of whatever program, or nothing. */
static bool has_references(const char *path)
{
    char head[HEAD_BYTES + 1];
    struct stat facts;
    FILE *file;
    size_t n;

    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) /* to open a pipe would wait for its writer */
        return false;
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    n = fread(head, 1, HEAD_BYTES, file);
    head[n] = '\0';
    fclose(file);
    return n == 0 || strstr(head, "\"refs\"") != NULL;
}

static void remove_references(const char *path)
{
    if (has_references(path))
        (void)unlink(path);
}

static bool has_same_bytes(FILE *a, FILE *b, char *first, char *second)
{
    size_t n;

    do {
        n = fread(first, 1, COMPARED, a);
        if (fread(second, 1, COMPARED, b) != n || memcmp(first, second, n) != 0)
            return false;
    } while (n > 0);
    return true;
}

/* False also if one cannot be read. */
static bool is_same_file(const char *path, const char *other)
{
    char *bytes = pnc_memory_alloc(2, COMPARED);
    FILE *a = fopen(path, "r"), *b = fopen(other, "r");
    bool same = bytes != NULL && a != NULL && b != NULL && has_same_bytes(a, b, bytes, bytes + COMPARED);

    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    pnc_memory_free(bytes);
    return same;
}

static int fail_to_write(pnc_dataset *ds, const char *path, const char *what)
{
    int number = errno, code = NC_EWRITE;

    if (number == ENOSPC)
        code = NC_ENO_SPACE;
    else if (number == EDQUOT)
        code = NC_EQUOTA;
    else if (number == EACCES || number == EROFS)
        code = NC_EACCESS;
    return pnc_error_set(&ds->error, code, "%s: %s: %s", path, what, strerror(number));
}

/* --- writing --- */

static void warn_of_variable(const void *with, const char *variable, const char *why)
{
    pnc_dataset_warning_print(with, "variable %s has no references (nc_references): %s", variable, why);
}

/* A temporary file of a program that died is in the way. */
static FILE *open_temporary(const char *path)
{
    int fd;

    (void)unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd < 0 ? NULL : fdopen(fd, "w");
}

static int write_temporary(pnc_dataset *ds, const char *path)
{
    pnc_references references = {.out = open_temporary(path),
                                 .path = ds->references_of,
                                 .model = &ds->model,
                                 .chunk = PNC_REFERENCES_CHUNK,
                                 .leave_out = warn_of_variable,
                                 .with = ds,
                                 .error = &ds->error};
    bool is_written;
    int err;

    if (references.out == NULL)
        return fail_to_write(ds, path, "cannot be created");
    err = pnc_references_file_write(&references);
    is_written = ferror(references.out) == 0;
    is_written = fclose(references.out) == 0 && is_written;
    return is_written || err != NC_NOERR ? err : fail_to_write(ds, path, "cannot be written");
}

static int write_references(pnc_dataset *ds, const char *temporary, const char *name)
{
    struct stat facts;

    if (lstat(name, &facts) == 0 && !has_references(name))
        return pnc_error_set(&ds->error, NC_EWRITE, "%s: exists already and is not a file of references", name);
    PNC_TRY(write_temporary(ds, temporary));
    if (is_same_file(temporary, name))
        return NC_NOERR;
    return rename(temporary, name) == 0 ? NC_NOERR : fail_to_write(ds, name, "cannot be written");
}

/* --- the dataset --- */

static bool is_due(const pnc_dataset *ds)
{
    return ds->hints.references != 0 && ds->file.rank == 0 && !ds->file.read_only &&
           ds->file.driver->local_path != NULL;
}

void pnc_dataset_references_begin(pnc_dataset *ds)
{
    const char *path = ds->file.store->full_path != NULL ? ds->file.store->full_path : ds->store_path;
    char *name;

    if (!is_due(ds))
        return;
    ds->references_of = pnc_string_copy(ds->file.driver->local_path(path));
    if (ds->references_of == NULL)
        return; /* close reports it */
    ds->references_of[strlen(ds->references_of) - (size_t)ds->suffix] = '\0';
    name = make_name(ds->references_of, ENDING);
    if (name != NULL && ds->format->is_new && ds->suffix == 0)
        remove_references(name);
    pnc_memory_free(name);
}

/* name: NULL without memory. */
static int replace_references(pnc_dataset *ds, const char *name)
{
    char *temporary = name != NULL ? make_name(ds->references_of, TEMPORARY) : NULL;
    int err = NC_ENOMEM;

    if (temporary == NULL) {
        pnc_error_set(&ds->error, err, "not enough memory for their name");
    } else {
        err = write_references(ds, temporary, name);
        (void)unlink(temporary);
    }
    pnc_memory_free(temporary);
    if (err != NC_NOERR)
        pnc_error_add_context(&ds->error, "%s: the file is complete, but without references (nc_references)",
                              ds->file.path);
    return err;
}

int pnc_dataset_references_write(pnc_dataset *ds, int err)
{
    bool is_replaced = err == NC_NOERR || ds->suffix == 0; /* else the old file keeps its name, and its references */
    char *name;

    if (!is_due(ds))
        return err;
    name = ds->references_of != NULL ? make_name(ds->references_of, ENDING) : NULL;
    if (err == NC_NOERR)
        err = replace_references(ds, name);
    if (err != NC_NOERR && name != NULL && is_replaced)
        remove_references(name);
    pnc_memory_free(name);
    return err;
}
