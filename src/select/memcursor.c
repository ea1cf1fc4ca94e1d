/* Walks a memory map run by run, without allocation once it has started. */
#include "base/memory.h"
#include "select/memnode.h"

typedef struct pnc_memlevel {
    const pnc_memmap *node;
    int64_t index;  /* the next run, copy or child */
    int64_t offset; /* of the node, with all that lies above */
} pnc_memlevel;

/* A pick is the root: what the cursor walks through is its order. */
int pnc_memcursor_start(pnc_memcursor *cursor, const pnc_memmap *map)
{
    *cursor = (pnc_memcursor){.map = map};
    if (map->kind == PNC_MEM_PICK)
        map = map->child;
    cursor->stack = pnc_memory_alloc(map->height, sizeof *cursor->stack);
    if (!cursor->stack)
        return NC_ENOMEM;
    cursor->stack[0] = (pnc_memlevel){map, 0, map->offset};
    cursor->depth = 1;
    return NC_NOERR;
}

void pnc_memcursor_end(pnc_memcursor *cursor)
{
    pnc_memory_free(cursor->stack);
    *cursor = (pnc_memcursor){0};
}

static void memcursor_push(pnc_memcursor *cursor, const pnc_memmap *node, int64_t offset)
{
    cursor->stack[cursor->depth++] = (pnc_memlevel){node, 0, offset + node->offset};
}

static void memcursor_set(pnc_memcursor *cursor, pnc_memrun run, int64_t offset)
{
    run.offset += offset;
    cursor->left = run;
}

/* Find the next run; false at the end. */
static bool memcursor_advance(pnc_memcursor *cursor)
{
    while (cursor->depth > 0) {
        pnc_memlevel *top = &cursor->stack[cursor->depth - 1];
        const pnc_memmap *node = top->node;
        if (top->index == node->n) {
            cursor->depth--;
            continue;
        }
        int64_t i = top->index++;
        if (node->kind == PNC_MEM_RUNS) {
            memcursor_set(cursor, node->runs[i], top->offset);
            return true;
        }
        if (node->kind == PNC_MEM_SEQUENCE) {
            memcursor_push(cursor, node->children[i], top->offset);
            continue;
        }
        int64_t offset = top->offset + i * node->stride;
        if (pnc_memnode_is_run(node->child)) { /* the row of a block, by far the most frequent: spare it a level */
            memcursor_set(cursor, node->child->runs[0], offset + node->child->offset);
            return true;
        }
        memcursor_push(cursor, node->child, offset);
    }
    return false;
}

/* The first elements of a run of the order, as far as they are in one run of what is picked from. */
static pnc_memrun picked(const pnc_memmap *pick, pnc_memrun run)
{
    int64_t step = run.stride / pick->elem_size;
    pnc_memrun found = pnc_memnode_locate(pick->inner, run.offset / pick->elem_size);
    int64_t most = step > 0 ? (found.count - 1) / step + 1 : step == 0 ? run.count : 1;

    return (pnc_memrun){found.offset, step * found.stride, run.count < most ? run.count : most};
}

bool pnc_memcursor_next(pnc_memcursor *cursor, int64_t max, pnc_memrun *run)
{
    if (cursor->left.count == 0 && !memcursor_advance(cursor))
        return false;
    const int64_t step = cursor->left.stride;
    *run = cursor->left;
    if (run->count > max)
        run->count = max;
    if (cursor->map->kind == PNC_MEM_PICK)
        *run = picked(cursor->map, *run);
    cursor->left.count -= run->count;
    cursor->left.offset += run->count * step;
    cursor->done += run->count;
    return true;
}
