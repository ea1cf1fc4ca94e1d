/* The drivers alone: lists of extents of all sizes and distances against a copy in memory, the end of the file, locks,
 * and the codes for invalid paths. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counting_driver.h"
#include "drivers/driver.h"
#include "drivers/wrapper.h"
#include "keeping_wrapper.h"
#include "../harness.h"

#define SPAN (3 << 20) /* bytes of the file that a case plays in */
#define MOST 3000

static uint64_t state = 7;

static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* Ascending extents with typical length and gap, of which every rank keeps its own turn. The same on all ranks but for
 * that; returns their number. */
static int64_t deal(pnc_extent *extents, int64_t length, int64_t gap, int64_t *bytes)
{
    int64_t at = below(5000), n = 0;

    *bytes = 0;
    for (int turn = 0; turn < MOST * t_nprocs; turn++) { /* all ranks draw alike */
        pnc_extent next = {at, 1 + below(length)};

        if (next.offset + next.length > SPAN)
            break;
        at = next.offset + next.length + below(gap + 1);
        if (turn % t_nprocs != t_rank)
            continue;
        *bytes += next.length;
        extents[n++] = next;
    }
    return n;
}

static void copy_list(char *image, const pnc_extent *extents, int64_t n, char *list, bool into_image)
{
    for (int64_t i = 0; i < n; list += extents[i].length, i++)
        memcpy(into_image ? image + extents[i].offset : list, into_image ? list : image + extents[i].offset,
               (size_t)extents[i].length);
}

static int open_without_sieving(const pnc_store_ops *driver, MPI_Comm comm, const char *path, pnc_open_purpose purpose,
                                pnc_store **store, pnc_error *error)
{
    pnc_open_call call = {.comm = comm, .path = path, .purpose = purpose, .info = MPI_INFO_NULL};
    int err;

    MPI_Info_create(&call.info);
    MPI_Info_set(call.info, "romio_ds_write", "disable");
    err = pnc_driver_file_open(driver, call, store, error);
    MPI_Info_free(&call.info);
    return err;
}

/* On several ranks without data sieving of writes, as has_collective requires. */
static int open_store(const pnc_store_ops *driver, MPI_Comm comm, const char *path, pnc_open_purpose purpose,
                      pnc_store **store, pnc_error *error)
{
    pnc_open_call call = {.comm = comm, .path = path, .purpose = purpose, .info = MPI_INFO_NULL};
    int nprocs;

    MPI_Comm_size(comm, &nprocs);
    if (nprocs > 1)
        return open_without_sieving(driver, comm, path, purpose, store, error);
    return pnc_driver_file_open(driver, call, store, error);
}

#define OLD 0x5a /* what the file holds before */

/* What all ranks wrote, put together, over what was there. */
static void merge_images(char *image, char *mask)
{
    for (int i = 0; i < SPAN; i++)
        if (!mask[i])
            image[i] = 0;
    MPI_Allreduce(MPI_IN_PLACE, image, SPAN, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, mask, SPAN, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
    for (int i = 0; i < SPAN; i++)
        if (!mask[i])
            image[i] = OLD;
}

/* The independent transfers of a driver, or the collective ones. */
typedef struct transfers {
    const char *name;
    int (*write)(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
    int (*read)(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error);
} transfers;

static bool write_then_read(pnc_store *store, int64_t length, int64_t gap, const transfers *by)
{
    static char image[SPAN], mask[SPAN], list[SPAN], back[SPAN];
    static pnc_extent extents[MOST];
    pnc_error error = {0};
    int64_t bytes, n = deal(extents, length, gap, &bytes);
    bool good = true;

    memset(image, 0, sizeof image);
    memset(mask, 0, sizeof mask);
    if (t_nprocs > 1 && below(4) == 0 && t_rank == t_nprocs - 1)
        n = bytes = 0; /* one rank has nothing to do */
    for (int64_t i = 0; i < bytes; i++)
        list[i] = (char)(1 + (i * 31 + t_rank) % 250);
    copy_list(image, extents, n, list, true);
    for (int64_t i = 0; i < n; i++)
        memset(mask + extents[i].offset, 1, (size_t)extents[i].length);
    merge_images(image, mask);
    /* known bytes between the extents, and a file that is long enough for all */
    if (t_rank == 0) {
        pnc_extent all = {0, SPAN};

        memset(back, OLD, sizeof back);
        good &= t_local(store->ops->write(store, &all, 1, back, &error) == NC_NOERR, "clear: %s", error.text);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    good &= t_local(by->write(store, extents, n, list, &error) == NC_NOERR, "%s", error.text);
    MPI_Barrier(MPI_COMM_WORLD);
    pnc_extent all = {0, SPAN};
    good &= t_local(store->ops->read(store, &all, 1, back, NULL, &error) == NC_NOERR, "%s", error.text);
    good &= t_local(memcmp(back, image, SPAN) == 0, "the file differs from the model");
    memset(back, 0, sizeof back);
    good &= t_local(by->read(store, extents, n, back, NULL, &error) == NC_NOERR, "%s", error.text);
    good &= t_local(memcmp(back, list, (size_t)bytes) == 0, "extents read differ");
    MPI_Barrier(MPI_COMM_WORLD);
    return good;
}

static void test_lists_by(const pnc_store_ops *ops, const transfers *by, pnc_store *store, const char *who)
{
    const int64_t lengths[] = {1, 8, 100, 3000, 20000, 1500000}, gaps[] = {0, 7, 300, 3000, 40000};
    bool good = true;

    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 5; k++)
            good &= t_local(write_then_read(store, lengths[i], gaps[k], by), "lengths to %d, gaps to %d",
                            (int)lengths[i], (int)gaps[k]);
    t_check(good, "%s, %s: extents of 6 lengths at 5 distances, %s", ops->name, who, by->name);
}

/* Collective access of ranks that have each opened the file for themselves is without data sieving as well: ROMIO's
 * lock does not keep out its own contiguous writes. */
static void test_lists(const pnc_store_ops *ops, MPI_Comm comm, const char *path)
{
    pnc_store *store = NULL;
    pnc_error error = {0};
    const transfers independent = {"independent", ops->write, ops->read},
                    collective = {"collective", ops->write_all, ops->read_all};
    const char *who = comm == MPI_COMM_SELF ? "every rank on its own" : "all ranks together";

    if (!t_check(open_store(ops, comm, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "%s, %s: create %s",
                 ops->name, who, error.text))
        return;
    test_lists_by(ops, &independent, store, who);
    t_check(ops->close(store, &error) == NC_NOERR, "%s, %s: close", ops->name, who);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!t_check(open_without_sieving(ops, comm, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR,
                 "%s, %s: create without data sieving %s", ops->name, who, error.text))
        return;
    if (store->has_collective)
        test_lists_by(ops, &collective, store, who);
    t_check(ops->close(store, &error) == NC_NOERR, "%s, %s: close %s", ops->name, who, error.text);
}

/* read: one of the driver's two reads. */
static void test_end_by(const pnc_store_ops *ops,
                        int (*read)(pnc_store *, const pnc_extent *, int64_t, void *, int64_t *, pnc_error *),
                        MPI_Comm comm, const char *path)
{
    pnc_store *store = NULL;
    pnc_error error = {0};
    char bytes[200] = "x";
    pnc_extent end = {90, 20}, inside = {80, 20}, pair[2] = {{0, 4}, {98, 4}};
    int64_t size = -1, got = -1;

    t_check(open_store(ops, comm, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "%s: create", ops->name);
    int err = ops->set_size(store, 100, &error);
    err = err == NC_NOERR ? ops->size(store, &size, &error) : err;
    t_check(err == NC_NOERR && size == 100, "%s: a file of 100 bytes has %d", ops->name, (int)size);
    t_check(read(store, &inside, 1, bytes, NULL, &error) == NC_NOERR, "%s: read up to the end", ops->name);
    memset(bytes, 'x', sizeof bytes);
    t_check(read(store, &end, 1, bytes, &got, &error) == NC_NOERR && got == 20 &&
                memcmp(bytes + 10, bytes + 11, 9) == 0 && bytes[10] == '\0' && bytes[20] == 'x',
            "%s: zeros past the end: %s", ops->name, error.text);
    store->end->refuses_short = true;
    t_check(read(store, &end, 1, bytes, &got, &error) == NC_EREAD && got == 10 && strstr(error.text, "100") != NULL &&
                strstr(error.text, path) != NULL,
            "%s: or an error: %s", ops->name, error.text);
    pnc_error_clear(&error);
    memset(bytes, 'x', sizeof bytes);
    t_check(read(store, pair, 2, bytes, &got, &error) == NC_EREAD && (got == 4 || got == 6) && bytes[got] == 'x' &&
                bytes[got - 1] == '\0',
            "%s: the last of two extents past the end, %d bytes came", ops->name, (int)got);
    store->end->refuses_short = false;
    store->end->least_size = 101; /* it was longer once */
    pnc_error_clear(&error);
    t_check(read(store, &end, 1, bytes, &got, &error) == NC_EREAD && got == 10 &&
                strstr(error.text, "truncated") != NULL,
            "%s: truncated meanwhile: %s", ops->name, error.text);
    t_check(ops->close(store, NULL) == NC_NOERR, "%s: close", ops->name);
}

static void test_end(const pnc_store_ops *ops, MPI_Comm comm, const char *path)
{
    pnc_store *store = NULL;
    pnc_error error = {0};

    t_check(open_store(ops, comm, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "%s: create", ops->name);
    bool has_collective = store != NULL && store->has_collective;
    t_check(ops->close(store, NULL) == NC_NOERR, "%s: close", ops->name);
    test_end_by(ops, ops->read, comm, path);
    if (has_collective)
        test_end_by(ops, ops->read_all, comm, path);
}

/* What the system does not read in the background, because the file ends, is zeros at its place. */
static void test_background(const pnc_store_ops *ops, const char *path)
{
    pnc_store *store = NULL;
    pnc_store_transfer transfer;
    pnc_error error = {0};
    char bytes[40], expected[40] = "xxxxxxxxxxabcdefghij";
    pnc_extent last = {90, 10}, end = {90, 20};

    memset(expected + 30, 'x', 10);
    memset(bytes, 'x', sizeof bytes);
    t_check(open_store(ops, MPI_COMM_WORLD, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "%s: create",
            ops->name);
    ops->start(store, true, last, expected + 10, &transfer);
    t_check(ops->finish(store, &transfer, &error) == NC_NOERR, "%s: written in the background", ops->name);
    MPI_Barrier(MPI_COMM_WORLD);
    ops->start(store, false, end, bytes + 10, &transfer);
    t_check(ops->finish(store, &transfer, &error) == NC_NOERR && memcmp(bytes, expected, sizeof bytes) == 0,
            "%s: read in the background, past the end: %s", ops->name, error.text);
    t_check(ops->close(store, &error) == NC_NOERR, "%s: close", ops->name);
}

/* Of two accesses in the background one fails: the error is its own, and no other operation returns it. */
static void test_background_error(const pnc_store_ops *ops, const char *path)
{
    pnc_store *store = NULL;
    pnc_store_transfer good, bad;
    pnc_error error = {0};
    char bytes[3][10] = {"abcdefghi", "", ""};
    pnc_extent first = {0, 10}, beyond = {90, 20}, last = {20, 10};
    int64_t size;

    t_check(open_store(ops, MPI_COMM_WORLD, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR &&
                ops->set_size(store, 100, &error) == NC_NOERR,
            "%s: create", ops->name);
    store->end->refuses_short = true;
    ops->start(store, false, beyond, (char[20]){0}, &bad);
    ops->start(store, true, first, bytes[0], &good);
    t_local(ops->write(store, &last, 1, bytes[0], &error) == NC_NOERR, "a write in between: %s", error.text);
    t_local(ops->finish(store, &good, &error) == NC_NOERR, "the other access: %s", error.text);
    t_local(ops->size(store, &size, &error) == NC_NOERR, "the size: %s", error.text);
    t_check(ops->sync(store, &error) == NC_NOERR && error.text[0] == '\0', "%s: a flush in between: %s", ops->name,
            error.text);
    t_check(t_local(ops->finish(store, &bad, &error) == NC_EREAD && strstr(error.text, path) != NULL, "%s", error.text),
            "%s: an error in the background is one of its access", ops->name);
    pnc_error_clear(&error);
    t_check(ops->sync(store, &error) == NC_NOERR && ops->close(store, &error) == NC_NOERR, "%s: and of no other one",
            ops->name);
}

/* Behind the end of the file there are zeros between the extents, not what the memory of a buffer happened to hold. */
static void test_beyond(const pnc_store_ops *ops, const char *path)
{
    enum { TIMES = 3, N = 1000 };
    static char list[3 * N], back[4 * N - 1];
    pnc_extent extents[N], all = {0, sizeof back};
    pnc_store *store = NULL;
    pnc_error error = {0};
    int wrong = 0, err = NC_NOERR;

    for (int i = 0; i < N; i++)
        extents[i] = (pnc_extent){4 * i, 3};
    memset(list, 'x', sizeof list);
    for (int i = 0; i < TIMES && t_rank == 0 && err == NC_NOERR; i++) {
        size_t room = (512 << 10) + 64;
        char *dirt = malloc(room); /* of the size of ROMIO's buffer, which finds it again */
        if (dirt != NULL)
            memset(dirt, 'd', room);
        free(dirt);
        unlink(path);
        err = open_store(ops, MPI_COMM_SELF, path, PNC_OPEN_REPLACE, &store, &error);
        if (err != NC_NOERR)
            break;
        err = store->ops->write(store, extents, N, list, &error);
        if (err == NC_NOERR)
            err = store->ops->read(store, &all, 1, back, NULL, &error);
        store->ops->close(store, NULL);
        for (int k = 0; k < (int)sizeof back; k++)
            wrong += back[k] != (k % 4 < 3 ? 'x' : '\0');
    }
    t_check(t_local(err == NC_NOERR && wrong == 0, "%d bytes are wrong: %s", wrong, error.text),
            "%s: zeros between small extents beyond the end of the file", ops->name);
}

/* The same where all ranks write: each rank has every t_nprocs-th extent. */
static void test_beyond_all(const pnc_store_ops *ops, const char *path)
{
    enum { N = 1000 };
    static char list[3 * N], back[4 * N - 1];
    pnc_extent extents[N], all = {0, sizeof back};
    pnc_store *store = NULL;
    pnc_error error = {0};
    int n = 0, wrong = 0, err;

    for (int i = t_rank; i < N; i += t_nprocs)
        extents[n++] = (pnc_extent){4 * i, 3};
    memset(list, 'x', sizeof list);
    t_check(open_store(ops, MPI_COMM_WORLD, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "create %s",
            error.text);
    if (!store->has_collective) {
        t_skip("no collective access");
        store->ops->close(store, NULL);
        return;
    }
    err = store->ops->write_all(store, extents, n, list, &error);
    MPI_Barrier(MPI_COMM_WORLD);
    if (err == NC_NOERR)
        err = store->ops->read(store, &all, 1, back, NULL, &error);
    for (int k = 0; k < (int)sizeof back; k++)
        wrong += back[k] != (k % 4 < 3 ? 'x' : '\0');
    t_check(t_local(err == NC_NOERR && wrong == 0, "%d bytes are wrong: %s", wrong, error.text),
            "%s: zeros between small extents of all ranks beyond the end of the file", ops->name);
    t_check(store->ops->close(store, NULL) == NC_NOERR, "close");
}

/* What a store is like that is created with one hint; NULL: without hints. */
static pnc_store describe_store(const char *path, const char *key, const char *value)
{
    pnc_open_call call = {.comm = MPI_COMM_WORLD, .path = path, .purpose = PNC_OPEN_REPLACE, .info = MPI_INFO_NULL};
    pnc_store *store = NULL, description;
    pnc_error error = {0};

    MPI_Info_create(&call.info);
    if (key != NULL)
        MPI_Info_set(call.info, key, value);
    t_check(pnc_driver_file_open(&pnc_store_mpiio, call, &store, &error) == NC_NOERR, "create %s", error.text);
    description = *store;
    t_check(store->ops->close(store, NULL) == NC_NOERR, "close");
    MPI_Info_free(&call.info);
    return description;
}

/* OMPIO reports the hint if it is given, as ROMIO always does. */
static void test_given_hint(const char *path)
{
    bool without = describe_store(path, NULL, NULL).has_collective;
    bool with = describe_store(path, "romio_cb_write", "enable").has_collective;

    t_check(with == without, "collective access is the same with romio_cb_write");
}

/* The hint describes the stripes where the file system does not; a file with this hint is on servers. */
static void test_given_unit(const char *path)
{
    int64_t without = describe_store(path, NULL, NULL).striping.unit;
    pnc_striping with = describe_store(path, "striping_unit", "65536").striping;

    /* only rank 0 asks, and a file system that has stripes says so */
    if (t_rank > 0 || without > 0)
        with = (pnc_striping){.unit = 65536, .on_servers = true};
    t_check(t_local(with.unit == 65536, "%d", (int)with.unit), "the unit of the stripes is that of the hint");
    t_check(t_local(with.on_servers, "%d", with.on_servers), "a file with stripes is on servers");
}

/* Single values from inside the file to beyond its end: old bytes between them are unchanged, zeros follow. */
static void test_growth(const pnc_store_ops *ops, MPI_Comm comm, const char *path)
{
    pnc_store *store = NULL;
    pnc_error error = {0};
    pnc_extent old = {0, 100}, values[20], all = {0, 60 + 19 * 16 + 8};
    char bytes[400], back[400];
    int64_t size = -1;
    bool good = true;

    memset(bytes, OLD, sizeof bytes);
    t_check(open_store(ops, comm, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "%s: create", ops->name);
    if (t_rank == 0) {
        good &= t_local(ops->write(store, &old, 1, bytes, &error) == NC_NOERR, "%s", error.text);
        memset(bytes, 7, sizeof bytes);
        for (int i = 0; i < 20; i++)
            values[i] = (pnc_extent){60 + 16 * i, 8};
        good &= t_local(ops->write(store, values, 20, bytes, &error) == NC_NOERR, "%s", error.text);
        ops->size(store, &size, &error);
        good &= t_local(size == all.length, "the file has %d bytes", (int)size);
        good &= t_local(ops->read(store, &all, 1, back, NULL, &error) == NC_NOERR, "%s", error.text);
        for (int i = 0; i < all.length; i++) {
            int wanted = i < 100 ? OLD : 0;

            if (i >= 60 && (i - 60) % 16 < 8)
                wanted = 7;
            good &= t_local(back[i] == wanted, "byte %d is %d, not %d", i, back[i], wanted);
        }
    }
    t_check(good, "%s: values with gaps, beyond the end of the file", ops->name);
    t_check(ops->close(store, NULL) == NC_NOERR, "%s: close", ops->name);
}

/* The drivers' own calls of fcntl come here (the linker's --wrap); those of MPI do not. The second name is the one of
 * 32-bit processors with large files. */
static int unlocks, failing_unlocks;
int __real_fcntl(int fd, int command, struct flock *lock);
int __real_fcntl64(int fd, int command, struct flock *lock);
int __wrap_fcntl(int fd, int command, struct flock *lock);
int __wrap_fcntl64(int fd, int command, struct flock *lock);

static bool unlock_fails(int command, const struct flock *lock)
{
    if (command != F_SETLK && command != F_SETLKW)
        return false;
    unlocks += lock->l_type == F_UNLCK;
    if (lock->l_type != F_UNLCK || failing_unlocks == 0)
        return false;
    failing_unlocks--;
    errno = ENOLCK;
    return true;
}

int __wrap_fcntl(int fd, int command, struct flock *lock)
{
    return unlock_fails(command, lock) ? -1 : __real_fcntl(fd, command, lock);
}

int __wrap_fcntl64(int fd, int command, struct flock *lock)
{
    return unlock_fails(command, lock) ? -1 : __real_fcntl64(fd, command, lock);
}

/* Whether another program can lock the span: locks keep out other processes only. */
static bool can_lock_elsewhere(const char *path, pnc_extent span)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = span.offset, .l_len = span.length};
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        int file = open(path, O_RDWR);

        _exit(file < 0 || fcntl(file, F_SETLK, &lock) != 0);
    }
    t_check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status), "another process");
    return status == 0;
}

/* Only a program of one rank knows that no other rank writes, and only if sieving is allowed. If the lock cannot be
 * released, the error is reported and the lock does not remain. */
static void test_lock(const pnc_store_ops *ops, const char *path)
{
    const pnc_extent span = {100, 300}, inside = {399, 1}, all = {0, 0}, outside = {400, 10};
    pnc_store *store = NULL;
    pnc_error error = {0};
    int err;

    t_check(open_without_sieving(ops, MPI_COMM_WORLD, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR,
            "%s: create %s", ops->name, error.text);
    t_check(t_local(!ops->lock(store, span), "locked"), "%s: no lock for sieving where it is disabled", ops->name);
    t_check(ops->close(store, NULL) == NC_NOERR, "%s: close", ops->name);
    t_check(open_store(ops, MPI_COMM_WORLD, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "%s: create %s",
            ops->name, error.text);
    t_check(t_local(ops->lock(store, span) == (t_nprocs == 1), "on %d ranks", t_nprocs),
            "%s: a lock where there is no other rank", ops->name);
    if (t_nprocs == 1) {
        t_check(!can_lock_elsewhere(path, inside) && can_lock_elsewhere(path, outside), "%s: of the span", ops->name);
        unlocks = 0;
        failing_unlocks = 1;
        err = ops->unlock(store, span, &error);
        t_check(err == NC_EWRITE && unlocks == 1 && strstr(error.text, "unlock") && strstr(error.text, path),
                "%s: an unlock that fails: %d, \"%s\"", ops->name, err, error.text);
        t_check(can_lock_elsewhere(path, all), "%s: no lock stays", ops->name);
        t_check(ops->lock(store, span) && ops->unlock(store, span, &error) == NC_NOERR && unlocks == 2 &&
                    can_lock_elsewhere(path, all),
                "%s: the next lock, and its end", ops->name);
    }
    t_check(ops->close(store, NULL) == NC_NOERR, "%s: close", ops->name);
}

static int try_open(const pnc_store_ops *ops, const char *path, pnc_open_purpose purpose, pnc_error *error)
{
    pnc_store *store = NULL;
    int err;

    pnc_error_clear(error);
    err = open_store(ops, MPI_COMM_WORLD, path, purpose, &store, error);
    if (err == NC_NOERR)
        err = store->ops->close(store, error);
    return err;
}

static void expect(const pnc_store_ops *ops, int code, const char *path, pnc_open_purpose purpose, const char *what)
{
    pnc_error error = {0};
    int err = try_open(ops, path, purpose, &error);

    t_check(err == code && (code == NC_NOERR || error.text[0] != '\0'), "%s: %d, \"%s\"", what, err, error.text);
}

static void test_paths(const pnc_store_ops *ops)
{
    const char *file = t_path("store_a.bin"), *link = t_path("store_link.bin");
    struct stat facts;
    pnc_error error = {0};

    if (t_rank == 0)
        unlink(link);
    expect(ops, NC_EBAD_FILE, "", PNC_OPEN_REPLACE, "create an empty name");
    expect(ops, NC_EBAD_FILE, "", PNC_OPEN_READ, "open an empty name");
    expect(ops, NC_EBAD_FILE, "/tmp", PNC_OPEN_REPLACE, "create a directory");
    expect(ops, NC_EBAD_FILE, "/tmp", PNC_OPEN_READ, "open a directory");
    expect(ops, NC_ENOENT, "/no/such/folder/a.nc", PNC_OPEN_REPLACE, "create in a folder that is missing");
    expect(ops, NC_ENOENT, "/no/such/folder/a.nc", PNC_OPEN_READ, "open a file that is missing");
    expect(ops, NC_NOERR, file, PNC_OPEN_REPLACE, "create");
    expect(ops, NC_EEXIST, file, PNC_OPEN_NEW, "create once more with NC_NOCLOBBER");
    expect(ops, NC_NOERR, file, PNC_OPEN_UPDATE, "open to write");
    if (t_rank == 0) {
        t_local(symlink(strrchr(file, '/') ? strrchr(file, '/') + 1 : file, link) == 0, "symlink");
        t_local(truncate(file, 5) == 0, "truncate");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect(ops, NC_NOERR, link, PNC_OPEN_REPLACE, "create over a symbolic link");
    t_check(lstat(link, &facts) == 0 && S_ISLNK(facts.st_mode) && stat(file, &facts) == 0 && facts.st_size == 0,
            "the link stays, its target is empty");
    if (t_rank == 0)
        chmod(file, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    int root = geteuid() == 0;
    MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (root) {
        t_skip("no file is without permission for root");
    } else {
        expect(ops, NC_EACCESS, file, PNC_OPEN_READ, "open without permission");
        expect(ops, NC_EACCESS, file, PNC_OPEN_REPLACE, "create over a file without permission");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int err = t_rank == 0 ? ops->remove(file, MPI_INFO_NULL, &error) : NC_NOERR;
    t_check(err == NC_NOERR, "remove: %s", error.text);
    err = t_rank == 0 ? ops->remove(file, MPI_INFO_NULL, &error) : NC_ENOENT;
    t_check(err == NC_ENOENT, "remove once more: %s", error.text);
    if (t_rank == 0)
        unlink(link);
}

/* --- wrappers --- */

static const pnc_store_ops plain_wrapper = {.name = "plain", .store_bytes = sizeof(pnc_store), .is_wrapper = true};
/* In front of MPI-IO: a wrapper that changes nothing, two wrappers, and one that keeps data. */
static pnc_store_ops plain_driver, counting_driver, keeping_driver;

static void make_drivers(void)
{
    pnc_wrapper_join(&plain_wrapper, &pnc_store_mpiio, "plain:mpiio", &plain_driver);
    pnc_wrapper_join(&counting_wrapper, &plain_driver, "counting:plain:mpiio", &counting_driver);
    pnc_wrapper_join(&keeping_wrapper, &pnc_store_mpiio, "keeping:mpiio", &keeping_driver);
}

/* An operation that a driver has has a forward: one that is new does not remain without. */
static void test_forwards(void)
{
    const size_t first = offsetof(pnc_store_ops, inspect), end = offsetof(pnc_store_ops, flush),
                 each = sizeof(void (*)(void));
    pnc_store_ops plain_of_memory;
    int missing = 0, more = 0;

    pnc_wrapper_join(&plain_wrapper, &pnc_store_memory, "plain:memory", &plain_of_memory);
    for (size_t at = first; at < end; at += each) {
        void (*of_mpiio)(void), (*of_memory)(void), (*operation)(void);

        memcpy(&of_mpiio, (const char *)&plain_driver + at, each);
        memcpy(&of_memory, (const char *)&pnc_store_memory + at, each);
        memcpy(&operation, (const char *)&plain_of_memory + at, each);
        missing += of_mpiio == NULL;
        more += (operation == NULL) != (of_memory == NULL);
    }
    t_check(missing == 0, "a wrapper of mpiio has all operations, but for %d", missing);
    t_check(more == 0, "a wrapper of memory has those of memory, but for %d", more);
    t_check(keeping_driver.start == NULL && keeping_driver.finish == NULL,
            "a wrapper that keeps data has no accesses in the background that bypass it");
}

/* The counters of a few accesses of each kind. */
static void count_accesses(const pnc_store_ops *ops, const char *path, int64_t counts[PNC_COUNTER_N])
{
    pnc_open_call call = {.comm = MPI_COMM_WORLD,
                          .path = path,
                          .purpose = PNC_OPEN_REPLACE,
                          .info = MPI_INFO_NULL,
                          .statistics = pnc_statistics_create()};
    pnc_extent extents[2] = {{10, 3}, {20, 4}};
    pnc_store_transfer transfer;
    pnc_store *store = NULL;
    pnc_error error = {0};
    char bytes[8] = "abcdefg";

    t_check(pnc_driver_file_open(ops, call, &store, &error) == NC_NOERR, "%s: create %s", ops->name, error.text);
    t_local(ops->write(store, extents, 2, bytes, &error) == NC_NOERR, "write: %s", error.text);
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(ops->read(store, extents, 1, bytes, NULL, &error) == NC_NOERR, "read: %s", error.text);
    ops->start(store, true, extents[0], bytes, &transfer);
    t_local(ops->finish(store, &transfer, &error) == NC_NOERR, "write in the background: %s", error.text);
    t_check(ops->close(store, &error) == NC_NOERR, "%s: close", ops->name);
    memcpy(counts, call.statistics->counts, PNC_COUNTER_N * sizeof *counts);
    pnc_statistics_free(call.statistics);
}

static void test_wrapped_statistics(const pnc_store_ops *ops, const char *path)
{
    static const int same[] = {PNC_COUNT_WRITES,     PNC_COUNT_WRITE_BYTES,  PNC_COUNT_READS,
                               PNC_COUNT_READ_BYTES, PNC_COUNT_MPI_IO_CALLS, PNC_COUNT_MPI_IO_BYTES};
    int64_t counts[PNC_COUNTER_N], wrapped[PNC_COUNTER_N];
    bool good = true;

    count_accesses(&pnc_store_mpiio, path, counts);
    count_accesses(ops, path, wrapped);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        good &= t_local(counts[same[i]] == wrapped[same[i]], "counter %d: %d, not %d", same[i], (int)wrapped[same[i]],
                        (int)counts[same[i]]);
    t_check(good && t_local(counts[PNC_COUNT_WRITES] == 3 && counts[PNC_COUNT_READS] == 1, "%d writes, %d reads",
                            (int)counts[PNC_COUNT_WRITES], (int)counts[PNC_COUNT_READS]),
            "%s: statistics as without it", ops->name);
}

/* What the wrapper copies of the inner store, also after the ranks have agreed on it. */
static void test_wrapped_facts(const pnc_store_ops *ops, const char *path)
{
    const pnc_striping striping = {.unit = 4096, .factor = 7, .on_servers = true};
    const int ranks[] = {1, 4, 7};
    pnc_store *store = NULL;
    pnc_error error = {0};
    bool good = true;

    t_check(open_store(ops, MPI_COMM_WORLD, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "%s: create %s",
            ops->name, error.text);
    good &= t_local(!pnc_store_has_neighbour(store, 0), "a node is known");
    pnc_store_facts_set(store, 3, (pnc_neighbours){ranks, 3}, &striping, store->identity.inode);
    for (int rank = 0; rank < 9; rank++)
        good &= t_local(pnc_store_has_neighbour(store->inner, rank) == (rank % 3 == 1), "rank %d and this node", rank);
    for (const pnc_store *s = store; s->inner != NULL; s = s->inner)
        good &= t_local(s->end == s->inner->end && s->full_path == s->inner->full_path && s->nprocs == t_nprocs &&
                            s->rank == t_rank && s->has_collective == s->inner->has_collective &&
                            s->few_extents == s->inner->few_extents && s->inner->nnodes == 3 &&
                            s->inner->striping.factor == 7 && s->identity.inode == s->inner->identity.inode,
                        "a store differs from its inner one");
    t_check(good && t_local(store->inner != NULL && (t_rank > 0 || store->identity.inode != 0), "nothing is known"),
            "%s: striping, identity, nodes and the end of the file are those of the inner store", ops->name);
    t_check(ops->close(store, &error) == NC_NOERR, "%s: close", ops->name);
}

/* The counts of a wrapper, and what is the inner store's. */
static void test_counting(const char *path)
{
    pnc_extent extents[2] = {{10, 3}, {20, 4}};
    pnc_store *store = NULL;
    pnc_error error = {0};
    char back[8] = "";
    int64_t size = -1;
    MPI_Info info = MPI_INFO_NULL;

    t_check(open_store(&counting_driver, MPI_COMM_WORLD, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR,
            "counting: create %s", error.text);
    /* all ranks write the same bytes */
    t_check(t_local(store->ops->write(store, extents, 2, "abcdefg", &error) == NC_NOERR &&
                        store->ops->read(store, extents + 1, 1, back, NULL, &error) == NC_NOERR &&
                        strcmp(back, "defg") == 0,
                    "\"%s\" %s", back, error.text),
            "counting: write two extents, read one");
    t_check(t_local(store->ops->size(store, &size, &error) == NC_NOERR && size == 24 &&
                        store->ops->hints(store, &info, &error) == NC_NOERR && info != MPI_INFO_NULL,
                    "%d %s", (int)size, error.text),
            "counting: size and hints are those of the wrapped driver");
    MPI_Info_free(&info);
    counting_counts counts = *counting_counts_of(store);
    t_check(t_local(counts.writes == 1 && counts.bytes_written == 7 && counts.reads == 1 && counts.bytes_read == 4,
                    "%d %d %d %d", (int)counts.writes, (int)counts.bytes_written, (int)counts.reads,
                    (int)counts.bytes_read),
            "counting: one write of 7 bytes, one read of 4");
    t_check(store->ops->close(store, &error) == NC_NOERR, "counting: close");
}

typedef enum flusher { BY_READ, BY_SIZE, BY_SYNC, BY_SET_SIZE, BY_READ_ALL, BY_WRITE_ALL, BY_CLOSE, FLUSHERS } flusher;

static void flush_by(pnc_store *store, flusher how)
{
    pnc_extent first = {0, 1};
    char byte = 'x';
    int64_t size;

    switch (how) {
    case BY_READ: store->ops->read(store, &first, 1, &byte, NULL, NULL); break;
    case BY_SIZE: store->ops->size(store, &size, NULL); break;
    case BY_SYNC: store->ops->sync(store, NULL); break;
    case BY_SET_SIZE: store->ops->set_size(store, 100, NULL); break;
    case BY_READ_ALL: store->ops->read_all(store, &first, 1, &byte, NULL, NULL); break;
    case BY_WRITE_ALL: store->ops->write_all(store, &first, 1, &byte, NULL); break;
    default: store->ops->close(store, NULL);
    }
}

/* A write is kept, and in the file after each operation that depends on it; a file that is discarded loses it. */
static void test_keeping(void)
{
    pnc_extent extent = {40, 4};
    pnc_store *store = NULL;
    pnc_error error = {0};
    char name[32], path[4096];
    bool good = true;

    snprintf(name, sizeof name, "kept-%d.bin", t_rank);
    snprintf(path, sizeof path, "%s", t_path(name));
    for (int how = 0; how < FLUSHERS; how++) {
        t_local(open_store(&keeping_driver, MPI_COMM_SELF, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR,
                "create %s", error.text);
        good &= t_local(!store->has_collective, "collective access would bypass what is kept");
        t_local(store->ops->write(store, &extent, 1, "kept", &error) == NC_NOERR && keeping_writes_kept == 1,
                "%d writes are kept", keeping_writes_kept);
        if (store->inner->has_collective || (how != BY_READ_ALL && how != BY_WRITE_ALL))
            flush_by(store, (flusher)how);
        else
            flush_by(store, BY_SYNC);
        good &= t_local(keeping_writes_kept == 0, "%d writes are kept after operation %d", keeping_writes_kept, how);
        if (how != BY_CLOSE)
            store->ops->close(store, NULL);
    }
    t_check(good, "keeping: what depends on data that are kept flushes them");
    t_local(open_store(&keeping_driver, MPI_COMM_SELF, path, PNC_OPEN_REPLACE, &store, &error) == NC_NOERR, "create %s",
            error.text);
    t_local(store->ops->write(store, &extent, 1, "kept", &error) == NC_NOERR, "write");
    t_check(t_local(store->ops->discard(store, MPI_INFO_NULL, &error) == NC_NOERR && keeping_writes_kept == 0,
                    "%d writes: %s", keeping_writes_kept, error.text),
            "keeping: data of a file that is discarded are discarded");
}

/* All that the tests of one driver of files on disk are. */
static void test_driver(const pnc_store_ops *ops)
{
    test_lists(ops, MPI_COMM_WORLD, t_path("store.bin"));
    if (t_nprocs > 1) /* through file views, side by side in one file */
        test_lists(ops, MPI_COMM_SELF, t_path("store.bin"));
    test_end(ops, MPI_COMM_WORLD, t_path("store.bin"));
    if (ops->start != NULL) {
        test_background(ops, t_path("store.bin"));
        test_background_error(ops, t_path("store.bin"));
    }
    test_beyond(ops, t_path("beyond.bin"));
    test_beyond_all(ops, t_path("beyond.bin"));
    test_growth(ops, MPI_COMM_WORLD, t_path("store.bin"));
    test_lock(ops, t_path("store.bin"));
    test_paths(ops);
}

static void test_memory(void)
{
    pnc_store *store = NULL;
    pnc_error error = {0};
    pnc_extent extent = {5, 3};
    char back[4] = "";

    if (t_nprocs > 1) {
        t_check(open_store(&pnc_store_memory, MPI_COMM_WORLD, "m", PNC_OPEN_REPLACE, &store, &error) == NC_EDRIVER,
                "memory: several ranks: %s", error.text);
        return;
    }
    test_lists(&pnc_store_memory, MPI_COMM_WORLD, "m");
    test_end(&pnc_store_memory, MPI_COMM_WORLD, "m");
    test_growth(&pnc_store_memory, MPI_COMM_WORLD, "m");
    t_check(open_store(&pnc_store_memory, MPI_COMM_SELF, "m", PNC_OPEN_NEW, &store, &error) == NC_EEXIST,
            "memory: exists");
    t_check(open_store(&pnc_store_memory, MPI_COMM_SELF, "m", PNC_OPEN_REPLACE, &store, NULL) == NC_NOERR &&
                store->ops->write(store, &extent, 1, "abc", NULL) == NC_NOERR &&
                store->ops->close(store, NULL) == NC_NOERR,
            "memory: write and close");
    t_check(open_store(&pnc_store_memory, MPI_COMM_SELF, "m", PNC_OPEN_READ, &store, NULL) == NC_NOERR &&
                store->ops->read(store, &extent, 1, back, NULL, NULL) == NC_NOERR && strcmp(back, "abc") == 0 &&
                store->ops->close(store, NULL) == NC_NOERR,
            "memory: open finds \"%s\"", back);
    t_check(pnc_store_memory.remove("m", MPI_INFO_NULL, NULL) == NC_NOERR &&
                open_store(&pnc_store_memory, MPI_COMM_SELF, "m", PNC_OPEN_READ, &store, NULL) == NC_ENOENT,
            "memory: removed");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    make_drivers();
    test_driver(&pnc_store_mpiio);
    test_given_hint(t_path("store.bin"));
    test_given_unit(t_path("store.bin"));
    test_memory();
    test_forwards();
    test_driver(&plain_driver);
    test_driver(&counting_driver);
    test_wrapped_statistics(&plain_driver, t_path("store.bin"));
    test_wrapped_statistics(&counting_driver, t_path("store.bin"));
    test_wrapped_facts(&plain_driver, t_path("store.bin"));
    test_wrapped_facts(&counting_driver, t_path("store.bin"));
    test_counting(t_path("store.bin"));
    test_keeping();
    if (t_nprocs == 1) /* what a rank keeps is not seen by others */
        test_driver(&keeping_driver);
    if (t_rank == 0)
        unlink(t_path("store.bin"));
    return t_finish();
}
