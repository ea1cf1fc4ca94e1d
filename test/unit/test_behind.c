/* The queue of delayed writes, also with the worker and several threads, and the ranges that are not written, against
 * maps of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "drivers/behind/pending.h"
#include "drivers/behind/ring.h"
#include "drivers/behind/worker.h"

static uint64_t state = 88172645463325252u;

static int64_t draw(int64_t most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)(most + 1));
}

/* --- the ring --- */

#define FILE_BYTES 20000

typedef struct model {
    pnc_behind_ring ring;
    unsigned char wanted[FILE_BYTES], file[FILE_BYTES];
    int pending[FILE_BYTES]; /* writes of a byte that are queued */
    pnc_behind_block queue[100000];
    int first, last;
} model;

static model m;

static void mark(pnc_extent extent, int by)
{
    for (int64_t i = 0; i < extent.length; i++)
        m.pending[extent.offset + i] += by;
}

/* Put bytes that follow the last ones, or any others; as many as fit. */
static int64_t put_some(int call)
{
    static int64_t next;
    pnc_behind_block block = {
        .extent = {draw(2) > 0 && next < FILE_BYTES - 600 ? next : draw(FILE_BYTES - 600), 1 + draw(599)},
        .call = call};
    int64_t length, put = 0;

    next = block.extent.offset + block.extent.length;
    while (block.extent.length > 0) {
        char *to = pnc_behind_ring_reserve(&m.ring, &block, &length);

        if (length == 0)
            break;
        assert_true(to >= m.ring.memory && to + length <= m.ring.memory + m.ring.capacity);
        if (draw(3) == 0 && !pnc_behind_ring_is_empty(&m.ring)) { /* the worker goes on meanwhile */
            pnc_extent front = m.ring.front.extent;

            memcpy(m.file + front.offset, pnc_behind_ring_get_front(&m.ring), (size_t)front.length);
            mark(front, -1);
            pnc_behind_ring_remove(&m.ring, front.length);
        }
        for (int64_t i = 0; i < length; i++)
            to[i] = (char)draw(255);
        memcpy(m.wanted + block.extent.offset, to, (size_t)length);
        mark((pnc_extent){block.extent.offset, length}, 1);
        pnc_behind_ring_publish(&m.ring, &block, length);
        block.extent.offset += length;
        block.extent.length -= length;
        put += length;
    }
    return put;
}

static void write_some(void)
{
    pnc_extent front = m.ring.front.extent;

    if (pnc_behind_ring_is_empty(&m.ring))
        return;
    front.length = draw(1) == 0 ? front.length : 1 + draw(front.length - 1);
    memcpy(m.file + front.offset, pnc_behind_ring_get_front(&m.ring), (size_t)front.length);
    mark(front, -1);
    pnc_behind_ring_remove(&m.ring, front.length);
}

static bool is_pending(pnc_extent span)
{
    for (int64_t i = 0; i < span.length; i++)
        if (m.pending[span.offset + i] > 0)
            return true;
    return false;
}

/* Everything is written, the later bytes last, and the ring knows what it still has. most: places of the index. */
static void check_ring(int64_t most)
{
    static _Alignas(8) char memory[PNC_BEHIND_RING_LEAST + 8];
    int64_t put = 0;

    memset(&m, 0, sizeof m);
    pnc_behind_ring_init(&m.ring, memory, PNC_BEHIND_RING_LEAST);
    m.ring.capacity = 1600; /* a small one has more ends */
    m.ring.index.most = most;
    for (int step = 0; step < 200000; step++) {
        pnc_extent span = {draw(FILE_BYTES - 100), 1 + draw(99)};

        if (draw(5) < (step / 1000 % 2 == 0 ? 2 : 4))
            put += put_some(step / 7);
        else
            write_some();
        assert_int_equal(pnc_behind_ring_has_span(&m.ring, span), is_pending(span));
    }
    while (!pnc_behind_ring_is_empty(&m.ring))
        write_some();
    assert_memory_equal(m.wanted, m.file, FILE_BYTES);
    assert_true(put > 1000000 && m.ring.most <= 1600);
    pnc_behind_ring_free(&m.ring);
}

static void test_ring(void **unused)
{
    (void)unused;
    check_ring(1000);
    check_ring(3); /* it is lost at times */
}

/* A search among many small blocks does not read them: their memory cannot be read meanwhile. */
static void test_search(void **unused)
{
    enum { BLOCKS = 20000, GAP = 100, CAPACITY = 1 << 22 };
    char *memory = mmap(NULL, CAPACITY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pnc_behind_ring ring;
    int64_t length;

    (void)unused;
    assert_ptr_not_equal(memory, MAP_FAILED);
    pnc_behind_ring_init(&ring, memory, CAPACITY);
    for (int64_t i = 0; i < BLOCKS; i++) {
        const pnc_behind_block block = {.extent = {i * 7919 % BLOCKS * GAP, 8}, .call = i};

        memset(pnc_behind_ring_reserve(&ring, &block, &length), 0, 8);
        assert_int_equal(length, 8);
        pnc_behind_ring_publish(&ring, &block, length);
    }
    assert_int_equal(mprotect(memory, CAPACITY, PROT_NONE), 0);
    for (int64_t i = 0; i < BLOCKS; i++) {
        assert_false(pnc_behind_ring_has_span(&ring, (pnc_extent){i * GAP + 8, GAP - 8}));
        assert_true(pnc_behind_ring_has_span(&ring, (pnc_extent){i * GAP + 7, 3}));
    }
    assert_true(pnc_behind_ring_has_span(&ring, (pnc_extent){0, (int64_t)BLOCKS * GAP}));
    pnc_behind_ring_free(&ring);
    munmap(memory, CAPACITY);
}

/* --- ranges --- */

/* Of three spaces. */
#define BYTES 5000

static pnc_behind_point find_point(int64_t byte)
{
    const int64_t spaces[] = {0, 3, 4}, first[] = {0, 1000, 2500};
    int i = byte >= first[2] ? 2 : byte >= first[1];

    return (pnc_behind_point){spaces[i], byte - first[i]};
}

/* joins: ranges may overlap those of earlier calls. Returns how many did not get in. */
static int add_ranges(bool joins)
{
    int calls[BYTES] = {0}; /* of each byte the last one that put it; 0: none */
    pnc_behind_pending p = {0};
    int refused = 0;

    for (int call = 1; call < 20000; call++) {
        int64_t low = draw(BYTES - 40), high = low + draw(39), from = call - 1 - draw(150);
        const pnc_behind_range range = {find_point(low), find_point(high), call};
        bool known = pnc_behind_pending_has_range(&p, &range);

        for (int64_t i = low; i < high; i++)
            assert_true(calls[i] == 0 || known);
        for (int i = 1; i < p.n; i++)
            assert_true(!pnc_behind_point_is_before(p.ranges[i].low, p.ranges[i - 1].high) &&
                        !pnc_behind_range_is_empty(&p.ranges[i]));
        if (known && !joins) {
            refused++;
        } else {
            if (joins)
                pnc_behind_pending_join(&p, range);
            else
                pnc_behind_pending_add(&p, range);
            for (int64_t i = low; i < high; i++)
                calls[i] = call;
        }
        pnc_behind_pending_remove(&p, from);
        for (int i = 0; i < BYTES; i++)
            calls[i] = calls[i] < from ? 0 : calls[i];
    }
    return refused;
}

static void test_pending(void **unused)
{
    int refused = add_ranges(false);

    (void)unused;
    assert_true(refused > 1000 && refused < 19000);
    assert_int_equal(add_ranges(true), 0);
}

/* --- the worker --- */

#define THREADS 4
#define STEPS 200

/* Each thread opens its own queue and file, puts, waits, reads, and closes, several times: the worker ends and begins
 * meanwhile. Returns NULL if all was right. */
static void *use_queue(void *argument)
{
    static char failed;
    const char *path = argument;
    uint32_t random = (uint32_t)(uintptr_t)argument | 1;
    unsigned char wanted[FILE_BYTES] = {0}, got[FILE_BYTES];

    for (int turn = 0; turn < 20; turn++) {
        pnc_behind_queue queue = {0};
        int fd = open(path, O_RDWR | O_CREAT, 0600);

        if (fd < 0 || !pnc_behind_queue_open(&queue, dup(fd), INT64_C(1) << 21))
            return &failed;
        for (int step = 0; step < STEPS; step++) {
            pnc_behind_block block = {.call = step};
            char bytes[600];

            random = random * 1664525 + 1013904223;
            block.extent = (pnc_extent){random / 7 % (FILE_BYTES - 600), 1 + random / 65536 % 599};
            memset(bytes, (int)(random >> 24), sizeof bytes);
            memset(wanted + block.extent.offset, (int)(random >> 24), (size_t)block.extent.length);
            if (!pnc_behind_queue_add(&queue, &block, bytes))
                return &failed;
            if (step % 16 != 0)
                continue;
            pnc_behind_queue_wait(&queue, block.extent);
            if (pread(fd, got, (size_t)block.extent.length, block.extent.offset) != block.extent.length ||
                memcmp(got, bytes, (size_t)block.extent.length) != 0)
                return &failed;
        }
        if (turn % 2 == 0)
            pnc_behind_queue_finish(&queue);
        if (turn % 2 == 0 && (pnc_behind_queue_find_call(&queue) != INT64_MAX ||
                              pnc_behind_queue_get_failure(&queue).extent.length != 0))
            return &failed;
        pnc_behind_queue_close(&queue); /* in half of the turns it discards what it has */
        memset(got, 0, sizeof got);
        if (turn % 2 == 0 && (pread(fd, got, FILE_BYTES, 0) < 0 || memcmp(got, wanted, FILE_BYTES) != 0))
            return &failed;
        memset(wanted, 0, sizeof wanted);
        if (ftruncate(fd, 0) != 0 || close(fd) != 0)
            return &failed;
    }
    return NULL;
}

static void test_worker(void **unused)
{
    pthread_t threads[THREADS];
    char paths[THREADS][40];

    (void)unused;
    for (int i = 0; i < THREADS; i++) {
        snprintf(paths[i], sizeof paths[i], "/tmp/behind-%d-%d", (int)getpid(), i);
        assert_int_equal(pthread_create(&threads[i], NULL, use_queue, paths[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;

        pthread_join(threads[i], &result);
        unlink(paths[i]);
        assert_null(result);
    }
}

/* --- reading ahead --- */

/* A program that gets at `step`, once at another place, and in which the file changes beside the batches: what a batch
 * gives is what the file has. */
static void *read_ahead(void *argument)
{
    static char failed;
    pnc_behind_ahead *ahead = calloc(1, sizeof *ahead);
    pnc_behind_queue queue = {0};
    int fd = open(argument, O_RDWR | O_CREAT, 0600), taken = 0;
    unsigned char wanted[FILE_BYTES], got[FILE_BYTES];

    for (int i = 0; i < FILE_BYTES; i++)
        wanted[i] = (unsigned char)(i * 7 + i / 256);
    if (ahead == NULL || fd < 0 || write(fd, wanted, FILE_BYTES) != FILE_BYTES ||
        !pnc_behind_queue_open(&queue, dup(fd), INT64_C(1) << 21))
        return &failed;
    ahead->capacity = 3000;
    for (int turn = 0; turn < 1000; turn++) {
        int varid = turn % 3, at = turn / 3 % 30;
        pnc_extent parts[2] = {{100 * at + 20 * varid, 10}, {100 * at + 20 * varid + 12, 5 + turn / 90 % 3}}, range;
        pnc_store_read reads[PNC_BEHIND_EXTENTS];
        int n;
        pnc_behind_stream *s;
        pnc_behind_batch *next;

        if (pnc_behind_ahead_begin(ahead, varid, parts[0].offset, parts[0].offset + 20)) {
            pnc_behind_queue_discard(&queue, &ahead->current->batch);
            pnc_behind_batch_remove(ahead, ahead->current);
        }
        s = ahead->current;
        for (int i = 0; i < 2; i++) {
            int64_t from = pnc_behind_batch_find(&s->batch, parts[i]);

            pnc_behind_ahead_add(ahead, parts[i]);
            if (from < 0 || !pnc_behind_queue_take(&queue, &s->batch, from, parts[i].length, (char *)got))
                continue;
            taken++;
            s->batch.used += parts[i].length;
            if (memcmp(got, wanted + parts[i].offset, (size_t)parts[i].length) != 0)
                return &failed;
        }
        pnc_behind_queue_discard(&queue, &s->batch);
        pnc_behind_batch_remove(ahead, s);
        n = pnc_behind_ahead_find_next(ahead, &range) ? pnc_behind_ahead_move(ahead, reads) : 0;
        if (n > 0 && range.offset != reads[0].extent.offset)
            return &failed;
        next = pnc_behind_ahead_end(ahead, reads, n, NULL);
        if (next != NULL)
            pnc_behind_queue_read(&queue, next);
        if (turn % 5 == 0) { /* behind all batches */
            const pnc_behind_block block = {.extent = {3200 + turn % 700, 8}, .call = turn};

            pnc_behind_queue_add(&queue, &block, "12345678");
        }
        if (ahead->allocated > ahead->capacity)
            return &failed;
    }
    pnc_behind_queue_close(&queue);
    pnc_behind_ahead_free(ahead);
    free(ahead);
    close(fd);
    return taken > 1000 ? NULL : &failed;
}

static void test_ahead(void **unused)
{
    pthread_t threads[THREADS];
    char paths[THREADS][40];

    (void)unused;
    for (int i = 0; i < THREADS; i++) {
        snprintf(paths[i], sizeof paths[i], "/tmp/ahead-%d-%d", (int)getpid(), i);
        assert_int_equal(pthread_create(&threads[i], NULL, read_ahead, paths[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;

        pthread_join(threads[i], &result);
        unlink(paths[i]);
        assert_null(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ring), cmocka_unit_test(test_search),
                                       cmocka_unit_test(test_pending), cmocka_unit_test(test_worker),
                                       cmocka_unit_test(test_ahead)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
