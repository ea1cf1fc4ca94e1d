/* Started by test_cluster.py on 2 ranks: accesses of a file, one after the other, each in a phase of its own, with
 * stripes of 10^6 bytes; and of a file on the disk of the node. Usage: file_accesses FILE DISK */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

enum { STRIPE = 1000000 };

void parallel_fs_phase(const char *name); /* of the preload */

static int rank, fd;
static char bytes[3 * STRIPE];

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "file_accesses: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Begin a phase after the accesses of the last one. Returns whether this rank takes part in it. */
static bool begin(const char *name, int who)
{
    MPI_Barrier(MPI_COMM_WORLD);
    parallel_fs_phase(name);
    return rank == who;
}

static void put(const char *name, int who, size_t length, off_t offset)
{
    if (begin(name, who))
        check(pwrite(fd, bytes, length, offset) == (ssize_t)length, name);
}

static void get(const char *name, int who, size_t length, off_t offset)
{
    if (begin(name, who))
        check(pread(fd, bytes, length, offset) == (ssize_t)length, name);
}

static void put_by_position(void)
{
    struct iovec list[] = {{bytes, STRIPE / 4}, {bytes, STRIPE / 4}};

    if (!begin("position", 0))
        return;
    lseek(fd, 2 * STRIPE, SEEK_SET);
    check(write(fd, bytes, STRIPE) == STRIPE && writev(fd, list, 2) == STRIPE / 2, "position");
}

static void put_asynchronously(void)
{
    struct aiocb block = {.aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = STRIPE};
    const struct aiocb *list[] = {&block};

    if (!begin("asynchronous", 0))
        return;
    check(aio_write(&block) == 0 && aio_error(&block) == EINPROGRESS, "an asynchronous access is in progress");
    check(aio_suspend(list, 1, &(struct timespec){0}) != 0 && errno == EAGAIN, "a wait of no time does not end it");
    check(aio_suspend(list, 1, NULL) == 0 && aio_error(&block) == 0, "a wait ends it");
    check(aio_return(&block) == STRIPE, "its result");
}

static void put_with_mpi(const char *path)
{
    MPI_Request request;
    MPI_File file;

    check(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS, path);
    if (begin("nonblocking", 0)) {
        MPI_File_iwrite_at(file, 0, bytes, STRIPE, MPI_BYTE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* Both ranks write at the same time. */
static void put_on_disk(const char *path)
{
    int disk = open(path, O_RDWR | O_CREAT, 0600);
    int length = rank == 0 ? STRIPE : STRIPE / 2;

    check(disk >= 0, path);
    (void)begin("disk", 0);
    check(pwrite(disk, bytes, length, 10) == length, "disk");
    close(disk);
}

static void send_message(void)
{
    bool sends = begin("message", 0);

    if (sends)
        MPI_Send(bytes, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(bytes, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    parallel_fs_phase(NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check(argc == 3, "usage: file_accesses FILE DISK");
    fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    check(fd >= 0, argv[1]);
    put("first", 0, STRIPE, 0);
    put("two stripes", 0, STRIPE + STRIPE / 2, STRIPE / 2);
    put("same server", 0, 3 * STRIPE, 0);
    put("lock", 1, STRIPE, 0);
    get("other node", 0, STRIPE, 0);
    get("again", 1, STRIPE, 0);
    put("no lock", 1, STRIPE, 0);
    put("lock for the next", 0, STRIPE, 0);
    put_by_position();
    put_asynchronously();
    put_with_mpi(argv[1]);
    put_on_disk(argv[2]);
    send_message();
    close(fd);
    MPI_Finalize();
    return 0;
}
