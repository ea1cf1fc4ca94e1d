/* Direct access: for large runs, a few small values, or a regular pattern of one rank, with data sieving. Values are
 * converted in the user's memory, in a staging buffer while they are in the cache, or on the stack if they are few. */
#include "io/execution.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "io/direct/sieve.h"
#include "mapping/cursor.h"

#define EXTENTS_INLINE 16
#define MAX_INTERLEAVED 24 /* requests */
#define CACHE_LINE 64
#define LEAST_TIMED 4096 /* bytes */
#define SMALL_BYTES 512

/* A request in progress. Its cursors point into this struct, so it must not be moved. */
typedef struct active_request {
    pnc_io_context *io;
    pnc_request *request;
    pnc_elements_cursor cursor;
    pnc_packer packer;
    pnc_extent *extents, few[EXTENTS_INLINE]; /* of one portion */
    int64_t max_extents, max_bytes;
    char *stage;  /* staging buffer; NULL if the user's memory is accessed directly */
    int64_t left; /* bytes */
} active_request;

/* A get whose values have the same size in file and memory reads into the user's buffer and converts in place: with
 * a staging buffer the processor would fetch the user's memory only to overwrite it (swapping gets: 0.76 of the
 * limit). */
static bool converts_in_place(const active_request *a)
{
    return a->request->direction == PNC_GET && a->packer.flat != NULL && a->packer.mem_size == a->packer.ext_size;
}

/* Kernels need distinct source and destination: the source is copied to a block in the first-level cache. */
static void convert_in_place(pnc_packer *packer, int64_t elements)
{
    char block[4096];
    int64_t most = (int64_t)sizeof block / packer->ext_size;

    for (int64_t n; elements > 0; elements -= n) {
        n = elements < most ? elements : most;
        memcpy(block, packer->flat, (size_t)(n * packer->ext_size));
        pnc_convert_packer_unpack(packer, block, n);
    }
}

/* For the clock of a conversion: reading it would take longer than converting a few values. */
static pnc_statistics *get_timed(const active_request *a, int64_t elements)
{
    return elements * a->packer.ext_size >= LEAST_TIMED ? a->io->file->statistics : NULL;
}

/* Read the next n extents and convert what was read; `bytes` is the staging buffer or the user's memory. If the read
 * fails, the complete values are still returned to the user. A value that was read in part is set to 0. */
static int read_portion(active_request *a, int64_t n, char *bytes)
{
    pnc_packer *packer = &a->packer;
    pnc_counter before;
    int64_t got, elements, rest;
    int err = pnc_file_extents_read(a->io->file, a->extents, n, bytes, &got);

    elements = got / packer->ext_size;
    before = pnc_statistics_begin(get_timed(a, elements), PNC_COUNT_TIME_CONVERT);
    rest = got % packer->ext_size;
    if (rest > 0 && bytes != a->stage)
        memset(bytes + got - rest, 0, (size_t)packer->ext_size);
    if (converts_in_place(a))
        convert_in_place(packer, elements);
    else if (packer->direct == NULL)
        pnc_convert_packer_unpack(packer, bytes, elements);
    pnc_statistics_end(get_timed(a, elements), before);
    pnc_statistics_add(a->io->file->statistics, PNC_COUNT_CONVERTED_BYTES, packer->direct == NULL ? got : 0);
    return err;
}

/* Access the next n extents, of `length` bytes. */
static int access_extents(active_request *a, int64_t n, int64_t length)
{
    pnc_packer *packer = &a->packer;
    int64_t elements = length / packer->ext_size;
    pnc_statistics *timed = get_timed(a, elements);
    pnc_counter before;
    char *bytes = a->stage;

    assert(elements * packer->ext_size == length);
    if (packer->direct != NULL) {
        bytes = pnc_convert_packer_take_direct(packer, elements);
    } else if (converts_in_place(a)) {
        bytes = packer->flat;
    } else if (a->request->direction == PNC_PUT) {
        before = pnc_statistics_begin(timed, PNC_COUNT_TIME_CONVERT);
        pnc_convert_packer_pack(packer, bytes, elements);
        pnc_statistics_end(timed, before);
        pnc_statistics_add(a->io->file->statistics, PNC_COUNT_CONVERTED_BYTES, length);
    }
    if (a->request->direction == PNC_GET)
        return read_portion(a, n, bytes);
    return pnc_io_extents_write(a->io, a->extents, n, bytes);
}

static int fail_no_stage(pnc_io_context *io, int64_t bytes)
{
    return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for a transfer buffer of %lld bytes",
                         io->file->path, (long long)bytes);
}

static int reserve_stage(active_request *a)
{
    int64_t bytes = pnc_io_context_get_stage_bytes(a->io);
    bool is_direct = a->packer.direct != NULL, in_place = converts_in_place(a);

    a->max_bytes = pnc_io_portion_get_bytes(pnc_io_context_is_on_servers(a->io), is_direct, in_place);
    if (is_direct || in_place)
        return NC_NOERR;
    if (a->io->stage == NULL)
        a->io->stage = pnc_memory_alloc(bytes, 1);
    a->stage = a->io->stage;
    return a->stage == NULL ? fail_no_stage(a->io, bytes) : NC_NOERR;
}

static int start_request(active_request *a, pnc_io_context *io, pnc_request *r)
{
    const pnc_mapping mapping = pnc_io_context_get_mapping(io, r->elements.varid);
    int64_t wanted = r->elements.form == PNC_EXTENTS ? r->elements.n : r->elements.count;

    a->io = io;
    a->request = r;
    a->extents = a->few;
    a->stage = NULL;
    a->left = pnc_io_request_count_bytes(r);
    pnc_mapping_cursor_init(&a->cursor, &mapping, &r->elements, 0, pnc_mapping_elements_get_end(&r->elements));
    PNC_TRY(pnc_io_request_init_packer(io, r, &a->packer));
    a->max_extents = pnc_min64(wanted, PNC_PORTION_EXTENTS);
    if (a->max_extents > EXTENTS_INLINE)
        a->extents = pnc_memory_alloc(a->max_extents, sizeof *a->extents);
    if (a->extents == NULL)
        return fail_no_stage(io, a->max_extents * (int64_t)sizeof *a->extents);
    return reserve_stage(a);
}

static int step_request(active_request *a)
{
    int64_t n, bytes;

    int err = pnc_mapping_cursor_take(&a->cursor, a->max_bytes, a->extents, a->max_extents, &n, &bytes);

    if (err != NC_NOERR)
        return pnc_io_request_fail(a->io, a->request->elements.varid, err);
    a->left -= bytes;
    assert(a->left >= 0);
    return access_extents(a, n, bytes);
}

static void finish_request(active_request *a)
{
    pnc_mapping_cursor_free(&a->cursor);
    if (a->extents != a->few)
        pnc_memory_free(a->extents);
    pnc_io_request_set_status(a->io, a->request, a->packer.status);
    pnc_convert_packer_free(&a->packer);
}

/* Most small calls access values that lie next to each other in file and memory, and whose conversion cannot fail. They
 * need no packer and no cursor: get_var1_all took 730 ns with them, and 655 without. The limit is not critical: where
 * nothing is converted the values are copied once more, which takes 10 ns for 512 bytes. */
static bool is_small(const pnc_io_context *io, const pnc_request *r)
{
    return pnc_io_request_is_single(r) && pnc_io_request_count_bytes(r) <= SMALL_BYTES && !r->external &&
           !pnc_io_request_is_quantized(io, r) &&
           !pnc_convert_may_fail(io->model->vars[r->elements.varid]->type, r->mem);
}

/* Like read_portion, returns the complete values that were read before a failure, and sets one that was read in part
 * to 0. */
static int execute_small(pnc_io_context *io, const pnc_request *r)
{
    const pnc_var *var = io->model->vars[r->elements.varid];
    const pnc_mapping mapping = pnc_io_context_get_mapping(io, r->elements.varid);
    pnc_extent extent = *r->elements.extents;
    int64_t size = r->elements.elem_size, done = extent.length;
    char block[SMALL_BYTES];
    pnc_locator locator;
    bool same;
    int err;
    pnc_kernel kernel = pnc_convert_kernel_find((pnc_direction)r->direction, var->type, r->mem,
                                                pnc_format_var_get_encoding(io->model, var), &same);

    assert(kernel != NULL); /* the types were checked */
    pnc_mapping_locator_init(&locator, &mapping);
    extent.offset = pnc_mapping_offset_locate(&locator, extent.offset);
    if (r->direction == PNC_PUT) {
        kernel(block, r->memory, r->elements.count, NULL);
        err = pnc_io_extents_write(io, &extent, 1, block);
    } else {
        err = pnc_file_extents_read(io->file, &extent, 1, block, &done);
        if (done % size > 0)
            memset(block + done / size * size, 0, (size_t)size);
        kernel(r->memory, block, (done + size - 1) / size, NULL);
    }
    pnc_statistics_add(io->file->statistics, PNC_COUNT_CONVERTED_BYTES, same ? 0 : done);
    return err;
}

static int execute_one(pnc_io_context *io, pnc_request *r)
{
    active_request a;
    bool done;
    int err;

    if (is_small(io, r))
        return execute_small(io, r);
    PNC_TRY(pnc_io_strided_execute(io, r, &done));
    if (done)
        return NC_NOERR;
    err = start_request(&a, io, r);
    while (err == NC_NOERR && a.left > 0)
        err = step_request(&a);
    finish_request(&a);
    return err;
}

/* Execute requests that advance alternately, one portion each. */
static int execute_interleaved(pnc_io_context *io, pnc_request **requests, int64_t n)
{
    int64_t most = pnc_io_interleaved_get_bytes(pnc_io_context_is_on_servers(io), n), started = 0;
    active_request active[MAX_INTERLEAVED];
    int err = NC_NOERR;
    bool more = true;

    assert(n <= MAX_INTERLEAVED);
    while (started < n && err == NC_NOERR) {
        err = start_request(&active[started], io, requests[started]);
        if (err == NC_NOERR)
            active[started].max_bytes = pnc_min64(active[started].max_bytes, most);
        started++;
    }
    while (more && err == NC_NOERR) {
        more = false;
        for (active_request *a = active; a < active + n && err == NC_NOERR; a++) {
            if (a->left > 0)
                err = step_request(a);
            more = more || a->left > 0;
        }
    }
    for (int64_t i = 0; i < started; i++)
        finish_request(&active[i]);
    return err;
}

static bool is_scattered_request(const pnc_request *r)
{
    int64_t offset;

    return r->flat != NULL && !pnc_select_flat_is_contiguous(r->flat, &offset);
}

/* Number of requests at the front of the list that advance alternately: their values are adjacent in memory, like the
 * variables of each cell of a mesh. A cache line is then used for all of them: one request after the other took 3
 * times as long for 24 doubles per cell. Each variable, and for gets each memory address, occurs only once, since
 * the last of two overlapping requests must win. */
static int64_t count_interleaved(pnc_request *const *r, int64_t most)
{
    int64_t n = 1;

    for (; n < most && n < MAX_INTERLEAVED; n++) {
        int64_t apart = (int64_t)((uintptr_t)r[n]->memory - (uintptr_t)r[n - 1]->memory);

        if (!is_scattered_request(r[n - 1]) || !is_scattered_request(r[n]) || apart < -CACHE_LINE || apart > CACHE_LINE)
            break;
        for (int64_t i = 0; i < n; i++)
            if (r[i]->elements.varid == r[n]->elements.varid ||
                (r[n]->direction == PNC_GET && r[i]->memory == r[n]->memory))
                return n;
    }
    return n;
}

int pnc_io_direct_execute(const pnc_execution *x)
{
    pnc_request **requests = x->list->at;
    int64_t n = x->list->n, some;

    /* Most calls have one request. The compiler makes this a jump: a return after a system call takes 10 ns. */
    if (n == 1 && requests[0]->elements.count > 0)
        return execute_one(x->io, requests[0]);
    for (int64_t i = 0; i < n; i += some) {
        some = count_interleaved(requests + i, n - i);
        if (requests[i]->elements.count > 0)
            PNC_TRY(some == 1 ? execute_one(x->io, requests[i]) : execute_interleaved(x->io, requests + i, some));
    }
    return NC_NOERR;
}

/* Each rank on its own: no other rank accesses the range of the file in which its requests lie. */
int pnc_io_separate_execute(const pnc_execution *x)
{
    bool one_slab = x->list->n == 1 && x->list->at[0]->elements.n == 1;
    int err;

    x->io->exclusive = true;
    err = one_slab ? pnc_io_direct_execute(x) : pnc_io_merged_execute(x);
    x->io->exclusive = false;
    return err;
}
