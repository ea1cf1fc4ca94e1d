/* Reading and writing lists of extents: at explicit offsets, through a window in memory, or through a file view. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define LARGE 4096 /* an extent so long that it is moved on its own */
#define WINDOW_BYTES (512 * 1024)

/* Ascending and disjoint, with extents and gaps that are small on average. */
static bool dense(const pnc_extent *extents, int64_t n)
{
    int64_t bytes = 0, span;

    for (int64_t i = 0; i < n; i++) {
        bytes += extents[i].length;
        if (i > 0 && extents[i].offset < extents[i - 1].offset + extents[i - 1].length)
            return false;
    }
    span = extents[n - 1].offset + extents[n - 1].length - extents[0].offset;
    return bytes / n < LARGE && (span - bytes) / n < PNC_WORTH_SKIPPING;
}

static pnc_extent span_of(const pnc_extent *extents, int64_t n)
{
    return (pnc_extent){extents[0].offset, extents[n - 1].offset + extents[n - 1].length - extents[0].offset};
}

/* --- writing at offsets --- */

static int write_one(pnc_mpiio *io, pnc_extent extent, const char *buf, pnc_error *error)
{
    MPI_Status status;
    int moved = 0;
    int code = MPI_File_write_at(io->file, extent.offset, buf, (int)extent.length, MPI_BYTE, &status);

    if (code != MPI_SUCCESS)
        return pnc_mpiio_fail(error, code, NC_EWRITE, "write", io->path);
    MPI_Get_count(&status, MPI_BYTE, &moved);
    if (moved != extent.length)
        return pnc_mpiio_fail_short(error, moved, extent, io->path);
    return NC_NOERR;
}

/* --- reading --- */

static int ends_early(pnc_mpiio *io, pnc_extent extent, pnc_error *error)
{
    MPI_Offset size = -1;

    MPI_File_get_size(io->file, &size);
    return pnc_fail(error, NC_EREAD, "%s ends at byte %lld, but bytes %lld to %lld were to be read: data that was never "
                    "written, or a file cut short", io->path, (long long)size, (long long)extent.offset,
                    (long long)(extent.offset + extent.length - 1));
}

static int read_one(pnc_mpiio *io, pnc_extent extent, char *buf, pnc_error *error)
{
    MPI_Status status;
    int moved = 0;
    int code = MPI_File_read_at(io->file, extent.offset, buf, (int)extent.length, MPI_BYTE, &status);

    if (code != MPI_SUCCESS)
        return pnc_mpiio_fail(error, code, NC_EREAD, "read", io->path);
    MPI_Get_count(&status, MPI_BYTE, &moved);
    return moved == extent.length ? NC_NOERR : ends_early(io, extent, error);
}

/* --- through a window --- */

/* Without memory for a window every extent is moved on its own, or through a view. */
static bool has_window(pnc_mpiio *io)
{
    if (io->window == NULL)
        io->window = pnc_alloc(WINDOW_BYTES, 1);
    return io->window != NULL;
}

/* A constant size is one move instead of a call: most extents of this kind are single values. */
static inline void copy_extent(char *to, const char *from, int64_t length)
{
    if (length == 8)
        memcpy(to, from, 8);
    else if (length == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, (size_t)length);
}

/* How many of the extents fit into one window with gaps not worth skipping. */
static int64_t window_of(const pnc_extent *extents, int64_t n)
{
    int64_t end = extents[0].offset + extents[0].length, i;

    for (i = 1; i < n; i++) {
        int64_t gap = extents[i].offset - end;

        if (gap < 0 || gap >= PNC_WORTH_SKIPPING || extents[i].length >= LARGE)
            break;
        if (extents[i].offset + extents[i].length - extents[0].offset > WINDOW_BYTES)
            break;
        end = extents[i].offset + extents[i].length;
    }
    return extents[0].length < LARGE ? i : 1;
}

/* The window ends where the last extent ends: it reaches past the end of the file only if that extent does. */
static int read_window(pnc_mpiio *io, const pnc_extent *extents, int64_t n, char *buf, pnc_error *error)
{
    pnc_extent all = span_of(extents, n);
    int err = read_one(io, all, io->window, error);

    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        copy_extent(buf, io->window + (extents[i].offset - all.offset), extents[i].length);
        buf += extents[i].length;
    }
    return err;
}

int pnc_mpiio_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    char *to = buf;
    int err = NC_NOERR;
    int64_t some;

    for (int64_t i = 0; i < n && err == NC_NOERR; i += some) {
        some = n > 1 && has_window(io) ? window_of(extents + i, n - i) : 1;
        err = some > 1 ? read_window(io, extents + i, some, to, error) : read_one(io, extents[i], to, error);
        for (int64_t k = i; k < i + some; k++)
            to += extents[k].length;
    }
    return err;
}

/* What the file holds between the extents, and zeros where it ends before. */
static int fetch_window(pnc_mpiio *io, pnc_extent all, pnc_error *error)
{
    MPI_Offset size = 0;
    int code = MPI_File_get_size(io->file, &size), err = NC_NOERR;
    int64_t present = size < all.offset ? 0 : size - all.offset < all.length ? size - all.offset : all.length;

    if (code != MPI_SUCCESS)
        return pnc_mpiio_fail(error, code, NC_EFILE, "find the size of", io->path);
    if (present > 0)
        err = read_one(io, (pnc_extent){all.offset, present}, io->window, error);
    memset(io->window + present, 0, (size_t)(all.length - present));
    return err;
}

/* kind: F_WRLCK or F_UNLCK. The lock that ROMIO takes for its sieving: other programs that sieve keep out of the span.
 * False where the file system has no locks. */
static bool lock_span(pnc_mpiio *io, pnc_extent all, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = all.offset, .l_len = all.length};
    int code;

    if (io->lock < 0)
        io->lock = open(pnc_store_bare_path(io->path), O_RDWR | O_CLOEXEC);
    if (io->lock < 0)
        return false;
    do
        code = fcntl(io->lock, F_SETLKW, &lock);
    while (code != 0 && errno == EINTR);
    return code == 0;
}

/* Under a lock, and where no other rank or thread writes: what they wrote between reading and writing would be lost. */
static int write_window(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const char *buf, pnc_error *error)
{
    pnc_extent all = span_of(extents, n);
    int err = fetch_window(io, all, error);

    if (err != NC_NOERR)
        return err;
    for (int64_t i = 0; i < n; i++) {
        copy_extent(io->window + (extents[i].offset - all.offset), buf, extents[i].length);
        buf += extents[i].length;
    }
    return write_one(io, all, io->window, error);
}

int pnc_mpiio_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    bool small = store->nprocs == 1 && n > PNC_FEW_EXTENTS && dense(extents, n);
    bool sieves = small && io->alone && has_window(io) && lock_span(io, span_of(extents, n), F_WRLCK);
    const char *from = buf;
    int err = NC_NOERR;
    int64_t some;

    if (small && !sieves)
        return pnc_mpiio_write_view(io, extents, n, buf, error);
    for (int64_t i = 0; i < n && err == NC_NOERR; i += some) {
        some = sieves ? window_of(extents + i, n - i) : 1;
        err = some > 1 ? write_window(io, extents + i, some, from, error) : write_one(io, extents[i], from, error);
        for (int64_t k = i; k < i + some; k++)
            from += extents[k].length;
    }
    if (sieves)
        lock_span(io, span_of(extents, n), F_UNLCK);
    return err;
}
