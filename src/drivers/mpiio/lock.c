/* Locks: for data sieving of writes, and those that show that a program changes the file. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host.h"

/* The path may name another file by now: a lock of that one would be of no use. Negative without a descriptor. */
static int get_descriptor(pnc_mpiio *io)
{
    struct stat facts;

    if (io->lock >= 0 || io->store.full_path == NULL)
        return io->lock;
    io->lock = open(pnc_path_strip(io->store.full_path), (io->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
    if (io->lock >= 0 && (fstat(io->lock, &facts) != 0 || (int64_t)facts.st_ino != io->store.identity.inode)) {
        close(io->lock);
        io->lock = -1;
    }
    return io->lock;
}

/* kind: F_WRLCK or F_UNLCK. ROMIO takes the same lock for its data sieving: other programs that sieve do not write
 * to the span. */
static int set_span_lock(pnc_mpiio *io, pnc_extent span, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = span.offset, .l_len = span.length};
    int code;

    do
        code = fcntl(io->lock, F_SETLKW, &lock);
    while (code != 0 && errno == EINTR);
    return code;
}

bool pnc_mpiio_span_lock(pnc_store *store, pnc_extent span)
{
    pnc_mpiio *io = (pnc_mpiio *)store;

    assert(span.length > 0);
    return io->sole_writer && get_descriptor(io) >= 0 && set_span_lock(io, span, F_WRLCK) == 0;
}

/* If unlocking fails, closing the descriptor releases the lock. A remaining lock would block all other programs that
 * sieve. */
int pnc_mpiio_span_unlock(pnc_store *store, pnc_extent span, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    int number;

    if (set_span_lock(io, span, F_UNLCK) == 0)
        return NC_NOERR;
    number = errno;
    close(io->lock);
    io->lock = -1;
    return pnc_error_set(error, NC_EWRITE, "cannot unlock bytes %lld to %lld of %s after writing: %s",
                         (long long)span.offset, (long long)(span.offset + span.length - 1), io->path,
                         strerror(number));
}

pnc_held pnc_mpiio_file_hold(pnc_store *store, pnc_hold hold)
{
    int fd = get_descriptor((pnc_mpiio *)store);

    return fd >= 0 ? pnc_host_file_hold(fd, hold) : PNC_HELD_UNKNOWN;
}
