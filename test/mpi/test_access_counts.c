/* How often the MPI-IO driver accesses the file: each access is made once, in the background or by MPI-IO. One that
 * transfers nothing, or is interrupted, is made again, up to 16 times; after a short one the rest follows. Counted in
 * wrappers of the functions of MPI and of asynchronous I/O. Also the codes and messages of failures by cause. Each rank
 * has a file of its own. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "drivers/mpiio/mpiio.h"
#include "../harness.h"

enum { ATTEMPTS = 16, BYTES = 20, PIECES = 12, AT = 40, NFS = 0x6969 };

static char path[4096];
static pnc_error error;

/* --- counts and faults --- */

/* The next accesses transfer nothing, one byte, half of the bytes, are interrupted, or fail. */
typedef enum fault { NOTHING, ONE, HALF, INTERRUPTED, BROKEN } fault;
typedef struct plan {
    int n;
    fault faults[2 * ATTEMPTS];
} plan;

static plan to_come;
static int step; /* of the plan */
static int interruption, broken_code = MPI_ERR_IO;
static int writes, reads, background;
static MPI_Offset last_offset; /* of the last call of MPI-IO */
static int last_count;

static void begin(const plan *p)
{
    writes = reads = background = step = 0;
    to_come = p == NULL ? (plan){0} : *p;
    pnc_error_clear(&error);
}

static plan plan_of(int n, fault kind)
{
    plan p = {.n = n};

    for (int i = 0; i < n; i++)
        p.faults[i] = kind;
    return p;
}

/* The code of this access, and the number of bytes that it may transfer. */
static int take_fault(int count, int *bytes)
{
    *bytes = count;
    if (step >= to_come.n)
        return MPI_SUCCESS;
    switch (to_come.faults[step++]) {
    case NOTHING: *bytes = 0; return MPI_SUCCESS;
    case ONE: *bytes = 1; return MPI_SUCCESS;
    case HALF: *bytes = count / 2; return MPI_SUCCESS;
    case INTERRUPTED: return interruption;
    default: return broken_code;
    }
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    int bytes, code = take_fault(count, &bytes);

    writes++;
    last_offset = at;
    last_count = count;
    return code != MPI_SUCCESS ? code : PMPI_File_write_at(file, at, buf, bytes, type, status);
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    int bytes, code = take_fault(count, &bytes);

    reads++;
    last_offset = at;
    last_count = count;
    return code != MPI_SUCCESS ? code : PMPI_File_read_at(file, at, buf, bytes, type, status);
}

static int views, failing_view; /* calls; the number of the one that fails, or 0 */

int MPI_File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype etype, MPI_Datatype type, const char *representation,
                      MPI_Info info)
{
    int code = PMPI_File_set_view(file, at, etype, type, representation, info);

    return ++views == failing_view ? MPI_ERR_IO : code;
}

/* Of the background: it does not begin, is short, or fails later. */
typedef enum trouble { NO_TROUBLE, REFUSED, SHORT, FAILED } trouble;
static trouble trouble_to_come;

static bool begins(struct aiocb *block)
{
    background++;
    if (trouble_to_come == SHORT)
        block->aio_nbytes /= 2;
    if (trouble_to_come == FAILED)
        block->aio_fildes = -1;
    errno = EAGAIN;
    return trouble_to_come != REFUSED;
}

/* The second name is the one of 32-bit processors with large files. */
/* clang-format off */
#define BACKGROUND(name)                                                  \
    int __real_##name(struct aiocb *block);                               \
    int __wrap_##name(struct aiocb *block);                               \
                                                                          \
    int __wrap_##name(struct aiocb *block)                                \
    {                                                                     \
        return begins(block) ? __real_##name(block) : -1;                 \
    }
BACKGROUND(aio_read)
BACKGROUND(aio_read64)
BACKGROUND(aio_write)
BACKGROUND(aio_write64)
/* clang-format on */

/* Each access is found to be under way once. */
static bool under_way;
static int waits;

/* clang-format off */
#define STATE(name)                                                       \
    int __real_##name(const struct aiocb *block);                         \
    int __wrap_##name(const struct aiocb *block);                         \
                                                                          \
    int __wrap_##name(const struct aiocb *block)                          \
    {                                                                     \
        under_way = !under_way;                                           \
        return under_way ? EINPROGRESS : __real_##name(block);            \
    }
STATE(aio_error)
STATE(aio_error64)

#define SUSPENSION(name)                                                                         \
    int __real_##name(const struct aiocb *const *list, int n, const struct timespec *limit);     \
    int __wrap_##name(const struct aiocb *const *list, int n, const struct timespec *limit);     \
                                                                                                 \
    int __wrap_##name(const struct aiocb *const *list, int n, const struct timespec *limit)      \
    {                                                                                            \
        waits++;                                                                                 \
        t_local(n == 1 && limit == NULL, "a wait for %d accesses", n);                           \
        return __real_##name(list, 1, limit);                                                    \
    }
SUSPENSION(aio_suspend)
SUSPENSION(aio_suspend64)
/* clang-format on */

/* --- the file --- */

static pnc_store *open_store(pnc_open_purpose purpose)
{
    pnc_open_call call = {.comm = MPI_COMM_SELF, .path = path, .purpose = purpose, .info = MPI_INFO_NULL};
    pnc_store *store = NULL;

    pnc_error_clear(&error);
    if (purpose == PNC_OPEN_REPLACE)
        unlink(path);
    t_local(pnc_driver_file_open(&pnc_store_mpiio, call, &store, &error) == NC_NOERR, "open: %s", error.text);
    store->statistics = pnc_statistics_create();
    views = 0;
    return store;
}

static void close_store(pnc_store *store)
{
    pnc_statistics *statistics = store->statistics;

    pnc_error_clear(&error);
    t_local(store->ops->close(store, &error) == NC_NOERR, "close: %s", error.text);
    pnc_statistics_free(statistics);
}

static void set_size(pnc_store *store, int64_t size)
{
    t_local(store->ops->set_size(store, 0, &error) == NC_NOERR && store->ops->set_size(store, size, &error) == NC_NOERR,
            "set_size: %s", error.text);
}

/* The bytes of the file, by the system. */
static bool has_bytes(const char *name, int64_t at, const char *wanted, int n)
{
    char found[200];
    int fd = open(name, O_RDONLY);
    bool same = fd >= 0 && pread(fd, found, (size_t)n, at) == n && memcmp(found, wanted, (size_t)n) == 0;

    close(fd);
    return same;
}

static int count_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* The driver does not access NFS in the background. */
static bool has_background(void)
{
    struct statfs system;

    return statfs(path, &system) == 0 && system.f_type != NFS;
}

static const char text[] = "abcdefghijklmnopqrst"; /* BYTES */

/* --- in the background --- */

static int transfer(pnc_store *store, bool puts, pnc_extent extent, char *bytes)
{
    pnc_store_transfer t;

    store->ops->start(store, puts, extent, bytes, &t);
    return store->ops->finish(store, &t, &error);
}

/* The rest that the background leaves is one access by MPI-IO. */
static void try_background(trouble kind, int in_background, int rest, const char *what)
{
    pnc_store *store = open_store(PNC_OPEN_REPLACE);
    pnc_extent extent = {AT, BYTES};
    char bytes[BYTES + 1] = "", given[BYTES + 1];
    int64_t *counts = store->statistics->counts;

    strcpy(given, text);
    trouble_to_come = kind;
    begin(NULL);
    waits = 0;
    t_local(transfer(store, true, extent, given) == NC_NOERR, "write: %s", error.text);
    t_local(waits == (kind != REFUSED), "%d waits", waits);
    t_local(background == in_background && writes == (rest > 0) && reads == 0, "%d and %d writes", background, writes);
    t_local(rest == 0 || (last_count == rest && last_offset == AT + BYTES - rest), "%d bytes at %d remain", last_count,
            (int)last_offset);
    t_local(has_bytes(path, AT, text, BYTES), "wrong bytes in the file");
    t_local(counts[PNC_COUNT_WRITES] == 1 + (rest > 0 && rest < BYTES) && counts[PNC_COUNT_WRITE_BYTES] == BYTES,
            "%d writes counted, of %d bytes", (int)counts[PNC_COUNT_WRITES], (int)counts[PNC_COUNT_WRITE_BYTES]);
    begin(NULL);
    t_local(transfer(store, false, extent, bytes) == NC_NOERR, "read: %s", error.text);
    t_local(background == in_background && reads == (rest > 0) && writes == 0, "%d and %d reads", background, reads);
    t_local(rest == 0 || (last_count == rest && last_offset == AT + BYTES - rest), "%d bytes at %d remain", last_count,
            (int)last_offset);
    t_local(strcmp(bytes, text) == 0, "the bytes read are %s", bytes);
    t_local(counts[PNC_COUNT_READS] == 1 + (rest > 0 && rest < BYTES) && counts[PNC_COUNT_READ_BYTES] == BYTES,
            "%d reads counted, of %d bytes", (int)counts[PNC_COUNT_READS], (int)counts[PNC_COUNT_READ_BYTES]);
    trouble_to_come = NO_TROUBLE;
    close_store(store);
    t_check(true, "%s", what);
}

/* A file that is read-only and ends before the extent does; and one byte of it. */
static void test_end(void)
{
    pnc_store *store = open_store(PNC_OPEN_REPLACE);
    pnc_extent extent = {AT, BYTES}, beyond = {AT + BYTES / 2, BYTES}, single = {AT, 1};
    char bytes[BYTES] = "", zeros[BYTES / 2] = "", given[BYTES + 1];

    strcpy(given, text);
    t_local(transfer(store, true, extent, given) == NC_NOERR, "write: %s", error.text);
    close_store(store);
    store = open_store(PNC_OPEN_READ);
    begin(NULL);
    memset(bytes, 'x', sizeof bytes);
    t_local(transfer(store, false, beyond, bytes) == NC_NOERR, "read: %s", error.text);
    t_local(background == 1 && reads == 1 && last_offset == AT + BYTES && last_count == BYTES / 2, "%d and %d reads",
            background, reads);
    t_local(memcmp(bytes, text + BYTES / 2, BYTES / 2) == 0 && memcmp(bytes + BYTES / 2, zeros, sizeof zeros) == 0,
            "wrong bytes");
    begin(NULL);
    t_local(transfer(store, false, single, bytes) == NC_NOERR && bytes[0] == text[0], "read a byte: %s", error.text);
    t_local(background == 1 && reads == 0, "%d and %d reads of a byte", background, reads);
    t_local(store->statistics->counts[PNC_COUNT_READS] == 3, "%d reads counted",
            (int)store->statistics->counts[PNC_COUNT_READS]);
    close_store(store);
    t_check(true, "a read in the background beyond the end of a file that is read-only");
}

/* Another file has the path by now: it is neither read nor written, and no descriptor of it stays open. */
static void test_replaced(void)
{
    int before = count_descriptors(), fd;
    char kept[sizeof path + 8], given[BYTES + 1], bytes[BYTES + 1] = "";
    pnc_store *store = open_store(PNC_OPEN_REPLACE);
    pnc_extent extent = {AT, BYTES};

    snprintf(kept, sizeof kept, "%s.kept", path);
    strcpy(given, text);
    t_local(rename(path, kept) == 0, "rename");
    fd = open(path, O_RDWR | O_CREAT, 0600);
    t_local(fd >= 0 && close(fd) == 0, "replace");
    begin(NULL);
    t_local(transfer(store, true, extent, given) == NC_NOERR && transfer(store, false, extent, bytes) == NC_NOERR,
            "write and read: %s", error.text);
    t_local(background == 0 && writes == 1 && reads == 1, "%d, %d and %d accesses", background, writes, reads);
    t_local(has_bytes(kept, AT, text, BYTES) && strcmp(bytes, text) == 0, "wrong bytes");
    t_local(!has_bytes(path, 0, "", 1), "the other file has bytes");
    close_store(store);
    t_local(count_descriptors() == before, "%d descriptors are open, not %d", count_descriptors(), before);
    unlink(kept);
    t_check(true, "a file that was replaced is not accessed in the background");
}

/* Whether an access is in progress: once at least, unless it has not begun. */
static void test_complete(void)
{
    pnc_store *store = open_store(PNC_OPEN_REPLACE);
    pnc_extent extent = {AT, BYTES};
    pnc_store_transfer t;
    char given[BYTES + 1];

    strcpy(given, text);
    begin(NULL);
    store->ops->start(store, true, extent, given, &t);
    t_local(!store->ops->is_complete(store, &t), "an access that is in progress is complete");
    while (!store->ops->is_complete(store, &t)) /* for ever, if it does not end */
        sched_yield();
    t_local(store->ops->finish(store, &t, &error) == NC_NOERR && has_bytes(path, AT, text, BYTES), "wrong bytes");
    trouble_to_come = REFUSED;
    store->ops->start(store, true, extent, given, &t);
    t_local(store->ops->is_complete(store, &t), "an access that has not begun is in progress");
    trouble_to_come = NO_TROUBLE;
    t_local(store->ops->finish(store, &t, &error) == NC_NOERR, "write: %s", error.text);
    close_store(store);
    t_check(true, "whether an access in the background is complete");
}

/* --- several in the background --- */

static void start_pieces(pnc_store *store, char *bytes, int n, pnc_store_transfer *transfers)
{
    for (int i = 0; i < n; i++)
        store->ops->start(store, true, (pnc_extent){AT + i, 1}, bytes + i, &transfers[i]);
}

static void finish_pieces(pnc_store *store, int n, pnc_store_transfer *transfers)
{
    for (int i = 0; i < n; i++)
        t_local(store->ops->finish(store, &transfers[i], &error) == NC_NOERR, "write: %s", error.text);
}

static int descriptor_of(const pnc_store_transfer *transfer)
{
    return ((const pnc_mpiio_access *)transfer->own)->block.aio_fildes;
}

static int count_distinct(const pnc_store_transfer *transfers, int n)
{
    int distinct = 0;

    for (int i = 0; i < n; i++) {
        bool is_new = true;

        for (int k = 0; k < i; k++)
            is_new = is_new && descriptor_of(&transfers[k]) != descriptor_of(&transfers[i]);
        distinct += is_new;
    }
    return distinct;
}

/* Accesses at the same time have file descriptors of their own, as the GNU C library makes those of one in turn. */
static void test_descriptors(void)
{
    pnc_store *store = open_store(PNC_OPEN_REPLACE);
    int before = count_descriptors(), distinct, fd;
    pnc_store_transfer transfers[PIECES];
    char given[BYTES + 1], bytes[BYTES + 1] = "";

    strcpy(given, text);
    start_pieces(store, given, PIECES, transfers);
    distinct = count_distinct(transfers, PIECES);
    t_local(distinct == PNC_MPIIO_CHANNELS, "%d descriptors for %d accesses", distinct, PIECES);
    finish_pieces(store, PIECES, transfers);
    t_local(transfer(store, false, (pnc_extent){AT, PIECES}, bytes) == NC_NOERR && memcmp(bytes, text, PIECES) == 0,
            "the bytes read are %s", bytes);
    start_pieces(store, given, PNC_MPIIO_CHANNELS, transfers);
    fd = descriptor_of(&transfers[5]);
    finish_pieces(store, 1, &transfers[5]);
    start_pieces(store, given, 1, &transfers[5]);
    t_local(descriptor_of(&transfers[5]) == fd, "a descriptor without an access is not used");
    finish_pieces(store, PNC_MPIIO_CHANNELS, transfers);
    t_local(count_descriptors() == before + distinct, "%d descriptors are open", count_descriptors() - before);
    close_store(store);
    t_check(true, "accesses in the background at the same time");
}

static void test_background(void)
{
    int before = count_descriptors();
    pnc_store *store = open_store(PNC_OPEN_REPLACE);
    bool possible = has_background();

    close_store(store);
    if (!t_check(true, "a file is created") || !possible) {
        t_skip("NFS");
        return;
    }
    try_background(NO_TROUBLE, 1, 0, "an access in the background is made once");
    try_background(REFUSED, 1, BYTES, "one that cannot begin is made by MPI-IO");
    try_background(SHORT, 1, BYTES / 2, "after a short one the rest is");
    try_background(FAILED, 1, BYTES, "one that fails is made again by MPI-IO");
    test_complete();
    test_descriptors();
    t_check(count_descriptors() == before, "the descriptors are closed");
    test_end();
    test_replaced();
}

/* --- by MPI-IO --- */

/* A list of extents of one length at equal distances. */
typedef struct list {
    int n, length, distance;
} list;

enum { MOST = 10, FEW = 4 }; /* up to so many extents are written one by one */

static void set_extents(const list *l, pnc_extent *extents)
{
    for (int i = 0; i < l->n; i++)
        extents[i] = (pnc_extent){AT + l->distance * i, l->length};
}

static int end_of(const list *l)
{
    return AT + l->distance * (l->n - 1) + l->length;
}

/* Zeros in the gaps. */
static bool has_list(const list *l)
{
    char wanted[200] = "";

    for (int i = 0; i < l->n; i++)
        memcpy(wanted + i * l->distance, text + i * l->length, (size_t)l->length);
    return has_bytes(path, AT, wanted, end_of(l) - AT);
}

static char said[sizeof error.text]; /* the message of the last write */

/* A long list is counted as a call with a view, other extents as accesses. */
static void check_statistics(const pnc_store *store, const list *l, int code)
{
    const int64_t *counts = store->statistics->counts;
    int64_t moved = counts[PNC_COUNT_MPI_IO_BYTES];

    if (l->n > FEW) {
        t_local(counts[PNC_COUNT_MPI_IO_CALLS] == 1, "%d calls with a view", (int)counts[PNC_COUNT_MPI_IO_CALLS]);
        if (code == NC_NOERR || failing_view == 2)
            t_local(moved == BYTES, "%d bytes of them", (int)moved);
        if (code == NC_EWRITE && failing_view != 2)
            t_local(moved == 0, "%d bytes of them", (int)moved);
    } else if (code == NC_NOERR) {
        t_local(counts[PNC_COUNT_WRITE_BYTES] == BYTES && counts[PNC_COUNT_WRITES] == writes, "%d bytes in %d writes",
                (int)counts[PNC_COUNT_WRITE_BYTES], (int)counts[PNC_COUNT_WRITES]);
        t_local(l->n > 1 || counts[PNC_COUNT_WRITES_NEXT] == writes - 1, "%d writes behind another",
                (int)counts[PNC_COUNT_WRITES_NEXT]);
    }
}

static int64_t size_of_file(void)
{
    struct stat facts;

    return stat(path, &facts) == 0 ? (int64_t)facts.st_size : -1;
}

/* Write the list to a file of `size` bytes: so many calls, and this code. */
static void try_write(const list *l, int64_t size, const plan *p, int calls, int code, const char *what)
{
    pnc_store *store = open_store(PNC_OPEN_REPLACE);
    pnc_extent extents[MOST], behind = {500, BYTES};
    int err;

    set_extents(l, extents);
    set_size(store, size);
    begin(p);
    err = store->ops->write(store, extents, l->n, text, &error);
    t_local(err == code, "code %d, not %d: %s", err, code, error.text);
    t_local(writes == calls && reads == 0 && background == 0, "%d writes, not %d", writes, calls);
    t_local(code != NC_NOERR || has_list(l), "wrong bytes");
    t_local(code != NC_NOERR || size_of_file() == (size > end_of(l) ? size : end_of(l)), "the file has %d bytes",
            (int)size_of_file());
    check_statistics(store, l, code);
    snprintf(said, sizeof said, "%s", error.text);
    begin(NULL); /* what follows is not affected */
    t_local(store->ops->write(store, &behind, 1, text, &error) == NC_NOERR && writes == 1 &&
                has_bytes(path, 500, text, BYTES),
            "a write behind: %s", error.text);
    close_store(store);
    t_check(true, "%d extents of %d bytes, %s: %d writes", l->n, l->length, what, calls);
}

static void try_read(const list *l, const plan *p, int calls, int code, const char *what)
{
    pnc_store *store = open_store(PNC_OPEN_REPLACE);
    pnc_extent extents[MOST];
    char bytes[BYTES + 1] = "";
    int64_t got = -1;
    int err;

    set_extents(l, extents);
    set_size(store, 1000);
    t_local(store->ops->write(store, extents, l->n, text, &error) == NC_NOERR, "write: %s", error.text);
    begin(p);
    err = store->ops->read(store, extents, l->n, bytes, &got, &error);
    t_local(err == code, "code %d, not %d: %s", err, code, error.text);
    t_local(reads == calls && writes == 0 && background == 0, "%d reads, not %d", reads, calls);
    t_local(code != NC_NOERR || (memcmp(bytes, text, (size_t)(l->n * l->length)) == 0 && got == l->n * l->length),
            "wrong bytes");
    close_store(store);
    t_check(true, "%d extents of %d bytes, %s: %d reads", l->n, l->length, what, calls);
}

static const list single = {1, BYTES, BYTES}, few = {4, 5, 8}, many = {10, 2, 5};

/* A longer list is one write through a file view. A file that ends before the list does is extended by a write of one
 * byte. */
static void test_usual(void)
{
    try_write(&single, 0, NULL, 1, NC_NOERR, "an empty file");
    try_write(&few, 0, NULL, 4, NC_NOERR, "an empty file");
    try_write(&many, 0, NULL, 2, NC_NOERR, "an empty file");
    try_write(&many, end_of(&many) - 1, NULL, 2, NC_NOERR, "a file without the last byte");
    try_write(&many, end_of(&many), NULL, 1, NC_NOERR, "a file that ends with the list");
    try_write(&many, 1000, NULL, 1, NC_NOERR, "a longer file");
}

static void test_faults(const list *l, int calls)
{
    const plan once = plan_of(1, NOTHING), often = plan_of(ATTEMPTS - 1, NOTHING), always = plan_of(ATTEMPTS, NOTHING);
    const plan one_signal = plan_of(1, INTERRUPTED), signals = plan_of(ATTEMPTS - 1, INTERRUPTED);
    const plan flood = plan_of(ATTEMPTS, INTERRUPTED), broken = plan_of(1, BROKEN);

    try_write(l, 1000, NULL, calls, NC_NOERR, "without a fault");
    try_write(l, 1000, &once, calls + 1, NC_NOERR, "one of no bytes");
    try_write(l, 1000, &often, calls + ATTEMPTS - 1, NC_NOERR, "15 of no bytes");
    try_write(l, 1000, &always, ATTEMPTS, NC_ENO_SPACE, "16 of no bytes");
    try_write(l, 1000, &one_signal, calls + 1, NC_NOERR, "one signal");
    try_write(l, 1000, &signals, calls + ATTEMPTS - 1, NC_NOERR, "15 signals");
    try_write(l, 1000, &flood, ATTEMPTS, NC_EWRITE, "16 signals");
    try_write(l, 1000, &broken, 1, NC_EWRITE, "an error");
}

/* A view that cannot be set is an error, and so is one that cannot be reset: nothing is written by a wrong one. */
static void test_views(void)
{
    failing_view = 1;
    try_write(&many, 1000, NULL, 0, NC_EWRITE, "no view");
    try_write(&many, 0, NULL, 1, NC_EWRITE, "no view of an empty file");
    t_local(has_bytes(path, end_of(&many) - 1, text + BYTES - 1, 1), "the file ends with another byte");
    failing_view = 2;
    try_write(&many, 1000, NULL, 1, NC_EWRITE, "a view that stays");
    failing_view = 0;
}

/* After a short access the attempts are counted anew. */
static void test_short(void)
{
    plan mixed = plan_of(2 * ATTEMPTS - 1, NOTHING);
    const plan bytes = plan_of(BYTES, ONE);
    const plan half = plan_of(1, HALF), three = plan_of(3, HALF);

    mixed.faults[ATTEMPTS - 1] = HALF;
    try_write(&single, 1000, &half, 2, NC_NOERR, "a short one");
    try_write(&single, 1000, &three, 4, NC_NOERR, "three short ones");
    try_write(&single, 1000, &mixed, 2 * ATTEMPTS, NC_NOERR, "a short one among 30 of no bytes");
    try_write(&single, 1000, &bytes, BYTES, NC_NOERR, "byte by byte");
    try_read(&single, &bytes, BYTES, NC_NOERR, "byte by byte");
    try_read(&single, &half, 2, NC_NOERR, "a short one");
    try_read(&single, &three, 4, NC_NOERR, "three short ones");
    try_read(&single, &mixed, 2 * ATTEMPTS, NC_NOERR, "a short one among 30 of no bytes");
    try_write(&many, 1000, &half, 1, NC_ENO_SPACE, "a short one"); /* there is no rest that could be written alone */
    t_local(strstr(said, "only 10 of 20 bytes were written at offset 40") != NULL, "%s", said);
    t_check(true, "the message about a short write of a list");
}

/* A list of small extents is one read of all of them. */
static void test_reads(const list *l, int calls)
{
    const plan once = plan_of(1, NOTHING), often = plan_of(ATTEMPTS - 1, NOTHING);
    const plan signals = plan_of(ATTEMPTS - 1, INTERRUPTED), flood = plan_of(ATTEMPTS, INTERRUPTED);
    const plan broken = plan_of(1, BROKEN), always = plan_of(ATTEMPTS, NOTHING);

    try_read(l, NULL, calls, NC_NOERR, "without a fault");
    try_read(l, &once, calls + 1, NC_NOERR, "one of no bytes");
    try_read(l, &often, calls + ATTEMPTS - 1, NC_NOERR, "15 of no bytes");
    try_read(l, &always, ATTEMPTS, NC_EREAD, "16 of no bytes");
    try_read(l, &signals, calls + ATTEMPTS - 1, NC_NOERR, "15 signals");
    try_read(l, &flood, ATTEMPTS, NC_EREAD, "16 signals");
    try_read(l, &broken, 1, NC_EREAD, "an error");
}

/* --- causes --- */

static void try_cause(int mpi_code, int code, const char *cause)
{
    const plan broken = plan_of(1, BROKEN);

    broken_code = mpi_code;
    try_write(&single, 1000, &broken, 1, code, cause);
    t_local(strstr(said, "cannot write ") != NULL && strstr(said, path) != NULL && strstr(said, cause) != NULL,
            "the message is %s", said);
    broken_code = MPI_ERR_IO;
}

/* A class of MPI has a code. */
static void test_classes(void)
{
    static const struct {
        int class, code;
        const char *cause;
    } rows[] = {{MPI_ERR_NO_SUCH_FILE, NC_ENOENT, ""},
                {MPI_ERR_FILE_EXISTS, NC_EEXIST, ""},
                {MPI_ERR_ACCESS, NC_EACCESS, ""},
                {MPI_ERR_READ_ONLY, NC_EPERM, ""},
                {MPI_ERR_NO_SPACE, NC_ENO_SPACE, "no space left on its file system"},
                {MPI_ERR_QUOTA, NC_EQUOTA, "disk quota exceeded"},
                {MPI_ERR_BAD_FILE, NC_EBAD_FILE, ""},
                {MPI_ERR_NO_MEM, NC_ENOMEM, ""},
                {MPI_ERR_NOT_SAME, NC_EMULTIDEFINE, ""},
                {MPI_ERR_AMODE, NC_EINVAL_OMODE, ""},
                {MPI_ERR_IO, NC_EWRITE, ""},
                {MPI_ERR_OTHER, NC_EWRITE, ""}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        try_cause(rows[i].class, rows[i].code, rows[i].cause);
}

/* In an unspecific class the text of the system, which MPI libraries quote, decides. */
static void test_texts(int class)
{
    static const struct {
        int number, code;
        const char *cause;
    } rows[] = {{ENOSPC, NC_ENO_SPACE, "no space left on its file system"},
                {EFBIG, NC_ENO_SPACE, "the offset exceeds the largest file size"},
                {EDQUOT, NC_EQUOTA, "disk quota exceeded"},
                {EACCES, NC_EACCESS, ""},
                {EROFS, NC_EPERM, ""},
                {EMFILE, NC_ENFILE, "too many files are open in this process"},
                {ENFILE, NC_ENFILE, "too many files are open in this process"},
                {EIO, NC_EWRITE, "the library: "}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char quoted[200];
        int mpi_code;

        snprintf(quoted, sizeof quoted, "the library: %s (in a write)", strerror(rows[i].number));
        MPI_Add_error_code(class, &mpi_code);
        MPI_Add_error_string(mpi_code, quoted);
        try_cause(mpi_code, rows[i].code, rows[i].cause[0] != '\0' ? rows[i].cause : quoted);
    }
}

int main(int argc, char **argv)
{
    int class;

    t_start(&argc, &argv);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &interruption);
    MPI_Add_error_string(interruption, strerror(EINTR));
    snprintf(path, sizeof path, "%s-%d", t_path("access_counts.bin"), t_rank);
    test_background();
    test_usual();
    test_faults(&single, 1);
    test_faults(&few, 4);
    test_faults(&many, 1);
    test_views();
    test_short();
    test_reads(&single, 1);
    test_reads(&many, 1);
    test_classes();
    test_texts(class);
    unlink(path);
    return t_finish();
}
