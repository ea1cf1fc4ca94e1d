/* References of one file, which is opened once more: it has all that other ranks have written. */
#include "config.h" /* realpath */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "format/layout.h"
#include "references/references.h"

enum { FRONT_BYTES = 64 * 1024 }; /* in which HDF5 has its superblock, also behind a user block */

static int fail_to_read(const pnc_references *r, const char *what)
{
    return pnc_error_set(r->error, NC_EREAD, "%s: %s: %s", r->path, what, strerror(errno));
}

static int find_file_reader(const pnc_references *r, int fd, int64_t size, const pnc_reader_ops **result)
{
    char *front = pnc_memory_alloc(FRONT_BYTES, 1);
    ssize_t n;

    if (front == NULL)
        return pnc_error_set(r->error, NC_ENOMEM, "%s: not enough memory to read it", r->path);
    n = pread(fd, front, (size_t)pnc_min64(size, FRONT_BYTES), 0);
    *result = n > 0 ? pnc_formats_readers_find(front, n) : NULL;
    pnc_memory_free(front);
    return n < 0 ? fail_to_read(r, "cannot be read") : NC_NOERR;
}

/* A chunk that ends behind the file would fail in each reader. */
int pnc_references_size_check(const pnc_references *r, const pnc_model *model, int64_t size)
{
    int64_t end = pnc_format_layout_get_data_end(model);

    if (end <= size)
        return NC_NOERR;
    return pnc_error_set(r->error, NC_ENOTNC,
                         "%s: the file is truncated: its data end at byte %lld, it has %lld bytes. ncvalidator reports "
                         "what is missing, and repairs a copy",
                         r->path, (long long)end, (long long)size);
}

static int write_classic_file(pnc_references *r, int64_t size)
{
    PNC_TRY(pnc_references_size_check(r, r->model, size));
    pnc_references_fixed_write(r);
    pnc_references_records_write(r, r->model);
    return pnc_references_metadata_write(r);
}

static int write_loaded(pnc_references *r, pnc_reader *reader, const char *bytes, int64_t n)
{
    pnc_model model = {0};
    int err = pnc_formats_reader_adopt(reader, bytes, n, &model);

    r->model = &model;
    if (err == NC_NOERR)
        err = pnc_references_stored_write(r, reader);
    pnc_formats_reader_close(reader);
    pnc_format_model_free(&model);
    r->model = NULL;
    return err;
}

static int write_stored_file(pnc_references *r, const pnc_reader_ops *ops, int fd, int64_t size)
{
    pnc_reader *reader = NULL;
    char *bytes = NULL;
    int64_t n;
    int err = pnc_formats_reader_open(ops, fd, r->path, size, r->error, &reader);

    if (err == NC_NOERR)
        err = pnc_formats_reader_load(reader, &bytes, &n);
    if (err == NC_NOERR)
        err = write_loaded(r, reader, bytes, n);
    else
        pnc_formats_reader_close(reader);
    pnc_memory_free(bytes);
    return err;
}

static int write_open_file(pnc_references *r, int fd)
{
    struct stat facts;
    const pnc_reader_ops *ops;

    if (fstat(fd, &facts) != 0)
        return fail_to_read(r, "cannot be inspected");
    PNC_TRY(find_file_reader(r, fd, facts.st_size, &ops));
    pnc_references_list_begin(r);
    PNC_TRY(ops != NULL ? write_stored_file(r, ops, fd, facts.st_size) : write_classic_file(r, facts.st_size));
    pnc_references_list_end(r);
    return NC_NOERR;
}

int pnc_references_file_write(pnc_references *r)
{
    int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err;
    char *url;

    if (fd < 0)
        return fail_to_read(r, "cannot be opened to write references to its values");
    url = realpath(r->path, NULL);
    r->url = url;
    err = url == NULL ? fail_to_read(r, "its absolute path is not known") : write_open_file(r, fd);
    r->url = NULL;
    free(url);
    close(fd);
    return err;
}
