/* Transfers in the background, by asynchronous I/O of the system on file descriptors of their own: the GNU C library
 * makes the accesses of one descriptor one after the other, those of several at the same time.
 *
 * MPI_File_iwrite_at is not used: in ROMIO a write that fails, on a full disk for example, is never complete (seen with
 * MPICH 4.0.2). Here an access that fails or is short is made again by MPI-IO, which reports the error. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/host.h"

/* The descriptor must be of the file that MPI has opened: the path may be that of another one since. On NFS, MPI
 * libraries lock what they access, so that the caches of the nodes agree. */
static int open_background(const pnc_mpiio *io)
{
    int fd = open(pnc_path_strip(io->store.full_path), (io->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    struct statfs system;
    struct stat facts;

    if (fd < 0)
        return PNC_MPIIO_NO_BACKGROUND;
    if (fstat(fd, &facts) == 0 && (int64_t)facts.st_ino == io->store.identity.inode && fstatfs(fd, &system) == 0 &&
        system.f_type != PNC_HOST_NFS)
        return fd;
    close(fd);
    return PNC_MPIIO_NO_BACKGROUND;
}

/* A file descriptor, or PNC_MPIIO_NO_BACKGROUND. */
static int open_once(pnc_mpiio *io)
{
    int *fd = &io->channels[0].fd;

    if (*fd == -1)
        *fd = open_background(io);
    return *fd;
}

static pnc_mpiio_access *take_access(pnc_mpiio *io)
{
    pnc_mpiio_access *access = io->unused;

    if (access == NULL)
        return pnc_memory_alloc(1, sizeof *access);
    io->unused = access->next;
    return access;
}

static void return_access(pnc_mpiio *io, pnc_mpiio_access *access)
{
    access->next = io->unused;
    io->unused = access;
}

void pnc_mpiio_background_close(pnc_mpiio *io)
{
    for (int i = 0; i < PNC_MPIIO_CHANNELS; i++)
        if (io->channels[i].fd >= 0)
            close(io->channels[i].fd);
    while (io->unused != NULL) {
        pnc_mpiio_access *access = take_access(io);

        pnc_memory_free(access);
    }
}

/* A duplicate needs no request to the file system. A program with many open files needs its descriptors: -1. */
static int duplicate_descriptor(int fd)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) == 0 && (rlim_t)fd > most.rlim_cur / 4)
        return -1;
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* The first of the channels with the fewest transfers. Channels but the first use duplicates of its descriptor; if none
 * can be made: the first. */
static int choose_channel(pnc_mpiio *io)
{
    int first = open_once(io), best = 0;

    for (int i = 1; first >= 0 && i < PNC_MPIIO_CHANNELS; i++)
        if (io->channels[i].ntransfers < io->channels[best].ntransfers)
            best = i;
    if (best > 0 && io->channels[best].fd == -1)
        io->channels[best].fd = duplicate_descriptor(first);
    return io->channels[best].fd == -1 ? 0 : best;
}

/* False if the system does not take it. */
static bool begin_access(pnc_mpiio_access *access, int fd, const pnc_store_transfer *t)
{
    memset(&access->block, 0, sizeof access->block);
    access->block.aio_fildes = fd;
    access->block.aio_buf = t->bytes;
    access->block.aio_nbytes = (size_t)t->extent.length;
    access->block.aio_offset = t->extent.offset;
    access->block.aio_sigevent.sigev_notify = SIGEV_NONE;
    return (t->is_write ? aio_write(&access->block) : aio_read(&access->block)) == 0;
}

void pnc_mpiio_transfer_start(pnc_store *store, bool is_write, pnc_extent extent, void *bytes, pnc_store_transfer *out)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    int channel = choose_channel(io), fd = io->channels[channel].fd;
    pnc_mpiio_access *access = fd >= 0 ? take_access(io) : NULL;

    assert(extent.offset >= 0 && extent.length >= 0 && extent.length < PNC_STORE_BYTES_MAX);
    *out = (pnc_store_transfer){.is_write = is_write, .extent = extent, .bytes = bytes};
    if (access == NULL)
        return;
    if (!begin_access(access, fd, out)) {
        return_access(io, access);
        return;
    }
    access->channel = channel;
    io->channels[channel].ntransfers++;
    out->own = access;
}

bool pnc_mpiio_transfer_is_complete(const pnc_store *store, const pnc_store_transfer *t)
{
    const pnc_mpiio_access *access = t->own;

    (void)store;
    return access == NULL || aio_error(&access->block) != EINPROGRESS;
}

/* Bytes at the front of the extent that were transferred. */
static int64_t wait_background(pnc_mpiio *io, pnc_store_transfer *t)
{
    pnc_mpiio_access *access = t->own;
    const struct aiocb *list[1];
    ssize_t done;

    if (access == NULL)
        return 0;
    list[0] = &access->block;
    while (!pnc_mpiio_transfer_is_complete(&io->store, t))
        (void)aio_suspend(list, 1, NULL); /* a signal interrupts it */
    done = aio_return(&access->block);
    t->own = NULL;
    io->channels[access->channel].ntransfers--;
    return_access(io, access);
    return done > 0 ? done : 0;
}

int pnc_mpiio_transfer_finish(pnc_store *store, pnc_store_transfer *t, pnc_error *error)
{
    int64_t done = wait_background((pnc_mpiio *)store, t);
    pnc_extent rest = {t->extent.offset + done, t->extent.length - done};

    if (done > 0)
        pnc_statistics_access_add(store->statistics, t->is_write, t->extent.offset, done);
    if (rest.length == 0)
        return NC_NOERR;
    if (t->is_write)
        return store->ops->write(store, &rest, 1, t->bytes + done, error);
    return store->ops->read(store, &rest, 1, t->bytes + done, NULL, error);
}
