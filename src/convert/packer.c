/* Packs and unpacks the memory of a request, in one of three ways: a copy if memory holds external bytes; the kernel
 * if memory is contiguous; otherwise a block into which runs are gathered (or from which they are scattered). Runs
 * that lie side by side, as in a transposed array, are taken in tiles, so that each cache line is fetched once. */
#include "convert/convert.h"

#include <assert.h>
#include <string.h>

#include "base/minmax.h"

/* Elements of the block: as many as a kernel checks at once, at most 4 KiB. */
#define PACK_BLOCK 512
/* Contiguous runs of at least this many elements are converted without the block. */
#define PACK_RUN_MIN 64
/* Runs of at most this many elements are copied faster by a loop than by a call. */
#define PACK_SHORT_RUN 4
#define CACHE_LINE 64
/* A tile has at most this many runs and, of each, as many elements as its block holds: 8 KiB. */
#define TILE_RUNS 16
#define TILE_BLOCK 1024
/* Runs of fewer elements are not worth a tile. */
#define TILE_ELEMENTS_MIN 16

static void set_fill(pnc_packer *packer, const pnc_conversion *c)
{
    if (c->fill != NULL)
        memcpy(packer->fill, c->fill, (size_t)(c->direction == PNC_PUT ? packer->ext_size : packer->mem_size));
    else if (c->direction == PNC_PUT)
        pnc_convert_fill_get_external(c->xtype, c->encoding, packer->fill);
    else
        pnc_convert_fill_get_memory(c->mem, packer->fill);
}

int pnc_convert_packer_init(pnc_packer *packer, const pnc_conversion *conversion, const pnc_flat_type *flat,
                            void *memory)
{
    const pnc_conversion *c = conversion;
    int64_t offset = 0;
    *packer = (pnc_packer){.direction = c->direction, .memory = memory, .status = NC_NOERR};
    packer->kernel = pnc_convert_kernel_find(c->direction, c->xtype, c->mem, c->encoding, &packer->same);
    if (packer->kernel == NULL)
        return NC_ECHAR;
    packer->mem_size = (int)pnc_mem_type_get_size(c->mem);
    packer->ext_size = (int)pnc_type_get_size(c->xtype);
    packer->casts = c->encoding.casts;
    if (flat != NULL && pnc_select_flat_count_elements(flat) > 0 &&
        pnc_select_flat_get_element_size(flat) != packer->mem_size)
        return NC_EINTERNAL;
    if (pnc_convert_may_fail(c->xtype, c->mem))
        set_fill(packer, c);
    if (flat != NULL && (memory == NULL || !pnc_select_flat_is_contiguous(flat, &offset)))
        return pnc_select_run_cursor_init(&packer->cursor, flat);
    packer->origin = packer->memory + offset;
    if (packer->same)
        packer->direct = packer->origin;
    else
        packer->flat = packer->origin;
    return NC_NOERR;
}

void pnc_convert_packer_init_copy(pnc_packer *packer, pnc_direction direction, void *memory, int ext_size)
{
    *packer = (pnc_packer){.direction = direction,
                           .memory = memory,
                           .origin = memory,
                           .direct = memory,
                           .same = true,
                           .mem_size = ext_size,
                           .ext_size = ext_size,
                           .status = NC_NOERR};
}

/* A kernel for bytes that are external already. */
static int copy_elements_of_4(void *dst, const void *src, int64_t n, const void *fill)
{
    (void)fill;
    memcpy(dst, src, (size_t)n * 4);
    return NC_NOERR;
}

static int copy_elements_of_8(void *dst, const void *src, int64_t n, const void *fill)
{
    (void)fill;
    memcpy(dst, src, (size_t)n * 8);
    return NC_NOERR;
}

void pnc_convert_packer_set_quantizer(pnc_packer *packer, const pnc_quantizer *quantizer, pnc_encoding encoding)
{
    assert(packer->direction == PNC_PUT && (packer->ext_size == 4 || packer->ext_size == 8));
    packer->quantizer = *quantizer;
    packer->encoding = encoding;
    if (packer->direct == NULL)
        return;
    packer->flat = packer->direct;
    packer->direct = NULL;
    packer->kernel = packer->ext_size == 4 ? copy_elements_of_4 : copy_elements_of_8;
}

void pnc_convert_packer_seek(pnc_packer *packer, int64_t element)
{
    packer->packed = element;
    if (packer->direct != NULL)
        packer->direct = packer->origin + element * packer->mem_size;
    else if (packer->flat != NULL)
        packer->flat = packer->origin + element * packer->mem_size;
    else
        pnc_select_run_cursor_seek(&packer->cursor, element);
}

void pnc_convert_packer_set_memory(pnc_packer *packer, void *memory)
{
    assert(packer->direct != NULL || packer->flat != NULL);
    packer->status = NC_NOERR;
    packer->packed = 0;
    packer->memory = packer->origin = memory;
    if (packer->direct != NULL)
        packer->direct = memory;
    else
        packer->flat = memory;
}

void pnc_convert_packer_free(pnc_packer *packer)
{
    if (packer->cursor.stack != NULL) /* only for memory that is not contiguous */
        pnc_select_run_cursor_free(&packer->cursor);
}

/* With a constant element size the compiler replaces each copy by one move. */
#define COPY_RUN(size)              \
    for (int64_t i = 0; i < n; i++) \
    memcpy(dst + i * dst_stride, src + i * src_stride, size)

static void copy_run(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n, int size)
{
    if (dst_stride == size && src_stride == size && n > PACK_SHORT_RUN) {
        memcpy(dst, src, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1: COPY_RUN(1); break;
    case 2: COPY_RUN(2); break;
    case 4: COPY_RUN(4); break;
    default: COPY_RUN(8); break;
    }
}

static void run_kernel(pnc_packer *packer, void *dst, const void *src, int64_t n)
{
    if (packer->kernel(dst, src, n, packer->casts ? NULL : packer->fill) != NC_NOERR)
        packer->status = NC_ERANGE;
}

static bool runs_kernel(const pnc_packer *packer, const pnc_memory_run *run)
{
    return run->stride == packer->mem_size && run->count >= PACK_RUN_MIN;
}

static void drop_front(pnc_memory_run *run, int64_t n)
{
    run->offset += n * run->stride;
    run->count -= n;
}

/* --- tiles --- */

/* Element i of run j is `stride` * i + `distance` * j bytes from the first one. */
typedef struct grid {
    char *memory;
    int64_t stride, distance;
    int64_t elements, runs; /* of each run; of the grid */
} grid;

/* Runs whose elements are far apart. Their next ones may be beside them. */
static bool is_run_scattered(const pnc_memory_run *run)
{
    return run->count >= TILE_ELEMENTS_MIN && (run->stride >= CACHE_LINE || run->stride <= -CACHE_LINE);
}

/* Make a grid of a run and those like it that follow, at most n elements. A single run is a grid, too. */
static grid take_grid(pnc_packer *packer, pnc_memory_run run, int64_t n)
{
    grid g = {packer->memory + run.offset, run.stride, 0, run.count, 1};

    g.runs += pnc_select_run_cursor_take_alike(&packer->cursor, run.count, n / run.count - 1, &g.distance);
    return g;
}

/* Runs of a tile: those that share a cache line. Runs that overlap are taken one by one, as the last value counts. */
static int64_t runs_of_tile(const grid *g)
{
    int64_t distance = g->distance < 0 ? -g->distance : g->distance, stride = g->stride < 0 ? -g->stride : g->stride;

    if (distance == 0 || distance >= CACHE_LINE)
        return 1;
    return pnc_min64(TILE_RUNS, stride / distance);
}

#define COPY_TILE(size)                    \
    for (int64_t i = 0; i < n; i++)        \
        for (int64_t j = 0; j < runs; j++) \
    memcpy(dst + i * dst_stride + j * dst_distance, src + i * src_stride + j * src_distance, size)

static void copy_tile(char *dst, int64_t dst_stride, int64_t dst_distance, const char *src, int64_t src_stride,
                      int64_t src_distance, int64_t n, int64_t runs, int size)
{
    if (runs == 1) { /* half the time of the loops below */
        copy_run(dst, dst_stride, src, src_stride, n, size);
        return;
    }
    switch (size) {
    case 1: COPY_TILE(1); break;
    case 2: COPY_TILE(2); break;
    case 4: COPY_TILE(4); break;
    default: COPY_TILE(8); break;
    }
}

/* Between memory and external values; two runs are `apart` bytes from each other there. */
static void pack_tile(pnc_packer *packer, const grid *tile, char *out, int64_t apart)
{
    char block[TILE_BLOCK * 8];
    const int size = packer->mem_size;
    int64_t bytes = tile->elements * size;

    if (packer->same) {
        copy_tile(out, size, apart, tile->memory, tile->stride, tile->distance, tile->elements, tile->runs, size);
        return;
    }
    copy_tile(block, size, bytes, tile->memory, tile->stride, tile->distance, tile->elements, tile->runs, size);
    for (int64_t j = 0; j < tile->runs; j++)
        run_kernel(packer, out + j * apart, block + j * bytes, tile->elements);
}

static void unpack_tile(pnc_packer *packer, const grid *tile, const char *in, int64_t apart)
{
    char block[TILE_BLOCK * 8];
    const int size = packer->mem_size;
    int64_t bytes = tile->elements * size;

    if (packer->same) {
        copy_tile(tile->memory, tile->stride, tile->distance, in, size, apart, tile->elements, tile->runs, size);
        return;
    }
    for (int64_t j = 0; j < tile->runs; j++)
        run_kernel(packer, block + j * bytes, in + j * apart, tile->elements);
    copy_tile(tile->memory, tile->stride, tile->distance, block, size, bytes, tile->elements, tile->runs, size);
}

/* The elements of a grid to `out`, or from `in` if that is NULL. */
static void copy_grid(pnc_packer *packer, const grid *g, char *out, const char *in)
{
    int64_t runs = runs_of_tile(g), elements = TILE_BLOCK / runs, apart = g->elements * packer->ext_size;

    for (int64_t j = 0; j < g->runs; j += runs)
        for (int64_t i = 0; i < g->elements; i += elements) {
            int64_t at = j * apart + i * packer->ext_size;
            grid tile = *g;

            tile.memory += i * g->stride + j * g->distance;
            tile.elements = pnc_min64(elements, g->elements - i);
            tile.runs = pnc_min64(runs, g->runs - j);
            if (out != NULL)
                pack_tile(packer, &tile, out + at, apart);
            else
                unpack_tile(packer, &tile, in + at, apart);
        }
}

/* --- runs --- */

/* Short runs are gathered in the block; long contiguous runs and grids bypass it. */
static void pack_runs(pnc_packer *packer, char *out, int64_t n)
{
    char block[PACK_BLOCK * 8];
    int64_t held = 0;
    pnc_memory_run run;
    while (n > 0 && pnc_select_run_cursor_next(&packer->cursor, n, &run)) {
        if (is_run_scattered(&run)) {
            grid g = take_grid(packer, run, n);
            run_kernel(packer, out, block, held);
            out += held * packer->ext_size;
            held = 0;
            copy_grid(packer, &g, out, NULL);
            out += g.runs * g.elements * packer->ext_size;
            n -= g.runs * g.elements;
            continue;
        }
        n -= run.count;
        if (held == 0 && runs_kernel(packer, &run)) {
            run_kernel(packer, out, packer->memory + run.offset, run.count);
            out += run.count * packer->ext_size;
            continue;
        }
        while (run.count > 0) {
            int64_t m = pnc_min64(run.count, PACK_BLOCK - held);
            copy_run(block + held * packer->mem_size, packer->mem_size, packer->memory + run.offset, run.stride, m,
                     packer->mem_size);
            drop_front(&run, m);
            held += m;
            if (held < PACK_BLOCK && n > 0)
                continue;
            run_kernel(packer, out, block, held);
            out += held * packer->ext_size;
            held = 0;
        }
    }
    assert(n == 0 && held == 0); /* memory has all elements that the caller packs */
}

/* The inverse: the block holds converted elements for the next runs. */
static void unpack_runs(pnc_packer *packer, const char *in, int64_t n)
{
    char block[PACK_BLOCK * 8];
    int64_t held = 0, used = 0;
    pnc_memory_run run;
    while (n > 0 && pnc_select_run_cursor_next(&packer->cursor, n, &run)) {
        while (run.count > 0) {
            if (used == held && is_run_scattered(&run)) {
                grid g = take_grid(packer, run, n);
                copy_grid(packer, &g, NULL, in);
                in += g.runs * g.elements * packer->ext_size;
                n -= g.runs * g.elements;
                break;
            }
            if (used == held && runs_kernel(packer, &run)) {
                run_kernel(packer, packer->memory + run.offset, in, run.count);
                in += run.count * packer->ext_size;
                n -= run.count;
                break;
            }
            if (used == held) {
                held = pnc_min64(n, PACK_BLOCK);
                used = 0;
                run_kernel(packer, block, in, held);
                in += held * packer->ext_size;
            }
            int64_t m = pnc_min64(run.count, held - used);
            copy_run(packer->memory + run.offset, run.stride, block + used * packer->mem_size, packer->mem_size, m,
                     packer->mem_size);
            drop_front(&run, m);
            used += m;
            n -= m;
        }
    }
    assert(n == 0 && used == held);
}

/* No conversion: runs are copied between memory and ext. */
static void copy_runs(pnc_packer *packer, char *out, const char *in, int64_t n)
{
    const int size = packer->mem_size;
    pnc_memory_run run;
    int64_t i = 0;
    for (; i < n && pnc_select_run_cursor_next(&packer->cursor, n - i, &run); i += run.count) {
        char *memory = packer->memory + run.offset;
        if (is_run_scattered(&run)) {
            grid g = take_grid(packer, run, n - i);
            copy_grid(packer, &g, out == NULL ? NULL : out + i * size, out == NULL ? in + i * size : NULL);
            run.count *= g.runs;
            continue;
        }
        if (out != NULL)
            copy_run(out + i * size, size, memory, run.stride, run.count, size);
        else
            copy_run(memory, run.stride, in + i * size, size, run.count, size);
    }
    assert(i == n);
}

void *pnc_convert_packer_take_direct(pnc_packer *packer, int64_t n)
{
    void *next = packer->direct;
    assert(next != NULL && n >= 0);
    packer->direct += n * packer->mem_size;
    return next;
}

void pnc_convert_packer_pack(pnc_packer *packer, void *ext, int64_t n)
{
    assert(packer->direction == PNC_PUT);
    if (n <= 0)
        return;
    if (packer->direct != NULL) {
        memcpy(ext, pnc_convert_packer_take_direct(packer, n), (size_t)(n * packer->ext_size));
    } else if (packer->flat != NULL) {
        run_kernel(packer, ext, packer->flat, n);
        packer->flat += n * packer->mem_size;
    } else if (packer->same) {
        copy_runs(packer, ext, NULL, n);
    } else {
        pack_runs(packer, ext, n);
    }
    if (packer->quantizer.mode == 0)
        return;
    pnc_convert_external_quantize(&packer->quantizer, packer->encoding, packer->packed, ext, n);
    packer->packed += n;
}

void pnc_convert_packer_unpack(pnc_packer *packer, const void *ext, int64_t n)
{
    assert(packer->direction == PNC_GET);
    if (n <= 0)
        return;
    if (packer->direct != NULL) {
        memcpy(pnc_convert_packer_take_direct(packer, n), ext, (size_t)(n * packer->ext_size));
    } else if (packer->flat != NULL) {
        run_kernel(packer, packer->flat, ext, n);
        packer->flat += n * packer->mem_size;
    } else if (packer->same) {
        copy_runs(packer, NULL, ext, n);
    } else {
        unpack_runs(packer, ext, n);
    }
}

void pnc_convert_packer_pack_strided(pnc_packer *packer, void *ext, int64_t stride, int64_t n)
{
    const int size = packer->ext_size;
    char *to = ext, block[PACK_BLOCK * 8];

    for (int64_t m; n > 0; n -= m) {
        m = pnc_min64(n, PACK_BLOCK);
        pnc_convert_packer_pack(packer, block, m);
        copy_run(to, stride, block, size, m, size);
        to += m * stride;
    }
}

void pnc_convert_packer_unpack_strided(pnc_packer *packer, const void *ext, int64_t stride, int64_t n)
{
    const int size = packer->ext_size;
    const char *from = ext;
    char block[PACK_BLOCK * 8];

    for (int64_t m; n > 0; n -= m) {
        m = pnc_min64(n, PACK_BLOCK);
        copy_run(block, size, from, stride, m, size);
        pnc_convert_packer_unpack(packer, block, m);
        from += m * stride;
    }
}
