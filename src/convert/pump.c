/* Moves a request between the user's memory and external bytes: directly where memory holds them already, through the
 * kernel where memory is contiguous, and otherwise through a block that gathers (or is scattered to) strided runs. */
#include "convert/convert.h"

#include <string.h>

/* Elements gathered before the kernel runs: as many as it checks at once, and 4 KiB at most. */
#define PUMP_BLOCK 512
/* A contiguous run of so many elements repays a call of the kernel of its own. */
#define PUMP_RUN_MIN 64
/* A run of no more elements is copied sooner by a loop than by a call. */
#define PUMP_SHORT_RUN 4

int pnc_pump_start(pnc_pump *pump, pnc_direction way, const pnc_flat_type *flat, void *memory, int xtype,
                   pnc_mem_type mem, int format, const void *fill)
{
    int64_t offset = 0;
    *pump = (pnc_pump){.way = way, .memory = memory, .status = NC_NOERR};
    pump->kernel = pnc_convert_kernel(way, xtype, mem, format, &pump->same);
    if (!pump->kernel)
        return NC_ECHAR;
    pump->mem_size = (int)pnc_mem_type_get_size(mem);
    pump->ext_size = (int)pnc_type_get_size(xtype);
    if (flat && pnc_select_flat_count_elements(flat) > 0 && pnc_select_flat_get_element_size(flat) != pump->mem_size)
        return NC_EINTERNAL;
    if (fill)
        memcpy(pump->fill, fill, (size_t)(way == PNC_PUT ? pump->ext_size : pump->mem_size));
    else if (way == PNC_PUT)
        pnc_convert_type_fill(xtype, pump->fill);
    else
        pnc_convert_mem_fill(mem, pump->fill);
    if (flat && (!memory || !pnc_select_flat_is_contiguous(flat, &offset)))
        return pnc_select_run_cursor_init(&pump->cursor, flat);
    *(pump->same ? &pump->direct : &pump->flat) = pump->memory + offset;
    return NC_NOERR;
}

void pnc_pump_copy(pnc_pump *pump, pnc_direction way, void *memory, int ext_size)
{
    *pump = (pnc_pump){.way = way, .memory = memory, .direct = memory, .same = true, .mem_size = ext_size,
                       .ext_size = ext_size, .status = NC_NOERR};
}

void pnc_pump_end(pnc_pump *pump)
{
    pnc_select_run_cursor_free(&pump->cursor);
    *pump = (pnc_pump){0};
}

/* The element size as a constant lets the compiler turn each copy into one move. */
#define COPY_RUN(size)                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                 \
        memcpy(dst + i * dst_stride, src + i * src_stride, size)

static void copy_run(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n, int size)
{
    if (dst_stride == size && src_stride == size && n > PUMP_SHORT_RUN) {
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

static void run_kernel(pnc_pump *pump, void *dst, const void *src, int64_t n)
{
    if (pump->kernel(dst, src, n, pump->fill))
        pump->status = NC_ERANGE;
}

static bool runs_kernel(const pnc_pump *pump, const pnc_memory_run *run)
{
    return run->stride == pump->mem_size && run->count >= PUMP_RUN_MIN;
}

static int64_t shorter(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void drop_front(pnc_memory_run *run, int64_t n)
{
    run->offset += n * run->stride;
    run->count -= n;
}

/* Short and strided runs collect in the block; a long contiguous one goes past it. */
static void put_runs(pnc_pump *pump, char *out, int64_t n)
{
    char block[PUMP_BLOCK * 8];
    int64_t held = 0;
    pnc_memory_run run;
    while (n > 0 && pnc_select_run_cursor_next(&pump->cursor, n, &run)) {
        n -= run.count;
        if (held == 0 && runs_kernel(pump, &run)) {
            run_kernel(pump, out, pump->memory + run.offset, run.count);
            out += run.count * pump->ext_size;
            continue;
        }
        while (run.count > 0) {
            int64_t m = shorter(run.count, PUMP_BLOCK - held);
            copy_run(block + held * pump->mem_size, pump->mem_size, pump->memory + run.offset, run.stride, m,
                     pump->mem_size);
            drop_front(&run, m);
            held += m;
            if (held < PUMP_BLOCK && n > 0)
                continue;
            run_kernel(pump, out, block, held);
            out += held * pump->ext_size;
            held = 0;
        }
    }
}

/* The same the other way round: the block holds converted elements that wait for the next runs. */
static void get_runs(pnc_pump *pump, const char *in, int64_t n)
{
    char block[PUMP_BLOCK * 8];
    int64_t held = 0, used = 0;
    pnc_memory_run run;
    while (n > 0 && pnc_select_run_cursor_next(&pump->cursor, n, &run)) {
        while (run.count > 0) {
            if (used == held && runs_kernel(pump, &run)) {
                run_kernel(pump, pump->memory + run.offset, in, run.count);
                in += run.count * pump->ext_size;
                n -= run.count;
                break;
            }
            if (used == held) {
                held = shorter(n, PUMP_BLOCK);
                used = 0;
                run_kernel(pump, block, in, held);
                in += held * pump->ext_size;
            }
            int64_t m = shorter(run.count, held - used);
            copy_run(pump->memory + run.offset, run.stride, block + used * pump->mem_size, pump->mem_size, m,
                     pump->mem_size);
            drop_front(&run, m);
            used += m;
            n -= m;
        }
    }
}

/* No conversion: runs go straight between memory and ext. */
static void copy_runs(pnc_pump *pump, char *out, const char *in, int64_t n)
{
    const int size = pump->mem_size;
    pnc_memory_run run;
    for (int64_t i = 0; i < n && pnc_select_run_cursor_next(&pump->cursor, n - i, &run); i += run.count) {
        char *memory = pump->memory + run.offset;
        if (out)
            copy_run(out + i * size, size, memory, run.stride, run.count, size);
        else
            copy_run(memory, run.stride, in + i * size, size, run.count, size);
    }
}

void *pnc_pump_place(pnc_pump *pump, int64_t n)
{
    void *place = pump->direct;
    pump->direct += n * pump->mem_size;
    return place;
}

void pnc_pump_put(pnc_pump *pump, void *ext, int64_t n)
{
    if (n <= 0)
        return;
    if (pump->direct) {
        memcpy(ext, pnc_pump_place(pump, n), (size_t)(n * pump->ext_size));
    } else if (pump->flat) {
        run_kernel(pump, ext, pump->flat, n);
        pump->flat += n * pump->mem_size;
    } else if (pump->same) {
        copy_runs(pump, ext, NULL, n);
    } else {
        put_runs(pump, ext, n);
    }
}

void pnc_pump_get(pnc_pump *pump, const void *ext, int64_t n)
{
    if (n <= 0)
        return;
    if (pump->direct) {
        memcpy(pnc_pump_place(pump, n), ext, (size_t)(n * pump->ext_size));
    } else if (pump->flat) {
        run_kernel(pump, pump->flat, ext, n);
        pump->flat += n * pump->mem_size;
    } else if (pump->same) {
        copy_runs(pump, NULL, ext, n);
    } else {
        get_runs(pump, ext, n);
    }
}
