/* Data sieving for many small extents of one rank: one access covers all extents that fit into the sieve buffer,
 * with the gaps between them. A write reads the gaps first and writes them back. This requires a program of one rank
 * and one thread, and a lock. */
#include "drivers/mpiio/mpiio.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* If allocation fails, each extent is accessed on its own, or through a file view. */
static bool has_sieve_buffer(pnc_mpiio *io)
{
    if (io->sieve_buffer == NULL)
        io->sieve_buffer = pnc_memory_alloc(PNC_SIEVE_READ_BYTES, 1);
    return io->sieve_buffer != NULL;
}

/* With a constant size the compiler replaces the call of memcpy by a move: most extents here are single values. */
static inline void copy_extent(char *to, const char *from, int64_t length)
{
    if (length == 8)
        memcpy(to, from, 8);
    else if (length == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, (size_t)length);
}

static int64_t sum_lengths(const pnc_extent *extents, int64_t n)
{
    int64_t bytes = 0;

    for (int64_t i = 0; i < n; i++)
        bytes += extents[i].length;
    return bytes;
}

/* Decides which gaps are read: returns the number of leading extents that one sieve buffer covers; 1 if the first is
 * accessed on its own. */
static int64_t count_sieved(pnc_mpiio *io, const pnc_extent *extents, int64_t n)
{
    const pnc_sieve_limits most = {PNC_SIEVE_GAP - 1, PNC_SIEVE_LARGE - 1, PNC_SIEVE_READ_BYTES};

    if (n == 1 || extents[0].length > most.extent || !has_sieve_buffer(io))
        return 1;
    return pnc_select_extents_count_sieved(extents, n, &most).n;
}

/* The span ends with the last extent: it exceeds the end of the file only if that extent does. */
static int read_sieve_buffer(pnc_mpiio *io, const pnc_extent *extents, int64_t n, char *buf, int64_t *got,
                             pnc_error *error)
{
    pnc_extent all = pnc_mpiio_extents_get_span(extents, n);
    int64_t present = 0;
    int err;

    assert(all.length <= PNC_SIEVE_READ_BYTES);
    err = pnc_mpiio_extent_read(io, all, io->sieve_buffer, &present, error);
    for (int64_t i = 0; i < n && extents[i].offset - all.offset + extents[i].length <= present; i++) {
        copy_extent(buf, io->sieve_buffer + (extents[i].offset - all.offset), extents[i].length);
        buf += extents[i].length;
        *got += extents[i].length;
    }
    return err;
}

int pnc_mpiio_sieve_read(pnc_mpiio *io, const pnc_extent *extents, int64_t n, char *buf, int64_t *got, pnc_error *error)
{
    int err = NC_NOERR;
    int64_t some;

    for (int64_t i = 0; i < n && err == NC_NOERR; i += some) {
        some = count_sieved(io, extents + i, n - i);
        err = some > 1 ? read_sieve_buffer(io, extents + i, some, buf, got, error)
                       : pnc_mpiio_extent_read(io, extents[i], buf, got, error);
        buf += sum_lengths(extents + i, some);
    }
    return err;
}

/* Read the span of the extents; bytes beyond the end of the file are zeros. */
static int fetch_sieve_buffer(pnc_mpiio *io, pnc_extent all, pnc_error *error)
{
    int64_t size, present = 0, got = 0;
    int err = NC_NOERR;

    PNC_TRY(pnc_mpiio_file_get_size(&io->store, &size, error));
    if (size > all.offset)
        present = size - all.offset < all.length ? size - all.offset : all.length;
    if (present > 0)
        err = pnc_mpiio_extent_read(io, (pnc_extent){all.offset, present}, io->sieve_buffer, &got, error);
    memset(io->sieve_buffer + present, 0, (size_t)(all.length - present));
    return err;
}

/* kind: F_WRLCK or F_UNLCK. ROMIO takes the same lock for its data sieving: other programs that sieve do not write
 * to the span. */
static int set_lock(pnc_mpiio *io, pnc_extent span, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = span.offset, .l_len = span.length};
    int code;

    do
        code = fcntl(io->lock, F_SETLKW, &lock);
    while (code != 0 && errno == EINTR);
    return code;
}

bool pnc_mpiio_sieve_lock(pnc_mpiio *io, const pnc_extent *extents, int64_t n)
{
    if (!io->sole_writer || !has_sieve_buffer(io))
        return false;
    if (io->lock < 0)
        io->lock = open(pnc_path_strip(io->store.full_path), O_RDWR | O_CLOEXEC);
    return io->lock >= 0 && set_lock(io, pnc_mpiio_extents_get_span(extents, n), F_WRLCK) == 0;
}

/* If unlocking fails, closing the descriptor releases the lock. A remaining lock would block all other programs that
 * sieve. */
static int unlock_span(pnc_mpiio *io, pnc_extent span, pnc_error *error)
{
    int number;

    if (set_lock(io, span, F_UNLCK) == 0)
        return NC_NOERR;
    number = errno;
    close(io->lock);
    io->lock = -1;
    return pnc_error_set(error, NC_EWRITE, "cannot unlock bytes %lld to %lld of %s after writing: %s",
                         (long long)span.offset, (long long)(span.offset + span.length - 1), io->path,
                         strerror(number));
}

/* The caller holds the lock, and no other rank or thread writes: a concurrent write between read and write would be
 * lost. */
static int write_sieve_buffer(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const char *buf, pnc_error *error)
{
    pnc_extent all = pnc_mpiio_extents_get_span(extents, n);

    assert(all.length <= PNC_SIEVE_READ_BYTES);
    PNC_TRY(fetch_sieve_buffer(io, all, error));
    for (int64_t i = 0; i < n; i++) {
        assert(i == 0 || extents[i].offset >= extents[i - 1].offset + extents[i - 1].length);
        copy_extent(io->sieve_buffer + (extents[i].offset - all.offset), buf, extents[i].length);
        buf += extents[i].length;
    }
    return pnc_mpiio_extent_write(io, all, io->sieve_buffer, error);
}

int pnc_mpiio_sieve_write(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const char *buf, pnc_error *error)
{
    int err = NC_NOERR;
    int64_t some;

    for (int64_t i = 0; i < n && err == NC_NOERR; i += some) {
        some = count_sieved(io, extents + i, n - i);
        err = some > 1 ? write_sieve_buffer(io, extents + i, some, buf, error)
                       : pnc_mpiio_extent_write(io, extents[i], buf, error);
        buf += sum_lengths(extents + i, some);
    }
    return pnc_error_keep_first(err, unlock_span(io, pnc_mpiio_extents_get_span(extents, n), error));
}
