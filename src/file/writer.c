/* The program that writes a file: see writer.h. */
#include "file/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/path.h"
#include "drivers/driver.h"
#include "host/writer.h"

/* NULL: the driver may have no file there. */
static const char *find_local_path(const pnc_file *file, const char *path)
{
    if (file->driver->local_path != NULL)
        return file->driver->local_path(path);
    return file->driver->has_dataset != NULL ? pnc_path_strip(path) : NULL;
}

int pnc_file_writer_begin(pnc_file *file, const char *path)
{
    const char *local = find_local_path(file, path);
    pnc_host_writer *writer = NULL;
    pnc_held held = PNC_HELD_UNKNOWN;
    char why[PNC_HOST_WHY_BYTES];

    if (local != NULL)
        held = pnc_host_writer_begin(local, &writer, why, sizeof why);
    if (held == PNC_HELD_BY_OTHERS)
        return pnc_error_set(file->error, NC_EACCESS,
                             "%s: %s: a %s has one writer at a time: close it there first, or open it for reading only",
                             file->path, why, file->driver->local_path != NULL ? "netCDF-4 file" : "Zarr store");
    pnc_file_writer_end(file);
    file->writer = held == PNC_HELD ? writer : NULL;
    return NC_NOERR;
}

void pnc_file_writer_end(pnc_file *file)
{
    if (file->writer != NULL)
        pnc_host_writer_end(file->writer);
    file->writer = NULL;
}

int64_t pnc_file_front_peek(const pnc_file *file, const char *path, char *front, int64_t n)
{
    int fd = -1;
    ssize_t got = 0;

    if (file->driver->local_path != NULL)
        fd = open(file->driver->local_path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        got = pread(fd, front, (size_t)n, 0);
        close(fd);
    }
    return got > 0 ? got : 0;
}
