/* Cursor over the runs of a flattened datatype; allocates memory only at init. */
#include "base/memory.h"

#include <assert.h>

#include "base/minmax.h"
#include "select/flat_node.h"

typedef struct pnc_run_level {
    const pnc_flat_type *node;
    int64_t index;  /* the next run, copy or child */
    int64_t offset; /* of the node, including those of all levels above */
} pnc_run_level;

/* A pick is always the root: the cursor iterates over its order. */
int pnc_select_run_cursor_init(pnc_run_cursor *cursor, const pnc_flat_type *flat)
{
    *cursor = (pnc_run_cursor){.flat = flat};
    assert(flat->height > 0);
    if (flat->kind == PNC_FLAT_PICK)
        flat = flat->child;
    cursor->stack = pnc_memory_alloc(flat->height, sizeof *cursor->stack);
    if (cursor->stack == NULL)
        return NC_ENOMEM;
    cursor->stack[0] = (pnc_run_level){flat, 0, flat->offset};
    cursor->depth = 1;
    return NC_NOERR;
}

void pnc_select_run_cursor_free(pnc_run_cursor *cursor)
{
    pnc_memory_free(cursor->stack);
    *cursor = (pnc_run_cursor){0};
}

static void cursor_push(pnc_run_cursor *cursor, const pnc_flat_type *node, int64_t offset)
{
    assert(cursor->depth < cursor->flat->height);
    cursor->stack[cursor->depth++] = (pnc_run_level){node, 0, offset + node->offset};
}

static void cursor_set(pnc_run_cursor *cursor, pnc_memory_run run, int64_t offset)
{
    run.offset += offset;
    cursor->left = run;
}

/* Find the next run; false at the end. */
static bool cursor_advance(pnc_run_cursor *cursor)
{
    while (cursor->depth > 0) {
        pnc_run_level *top = &cursor->stack[cursor->depth - 1];
        const pnc_flat_type *node = top->node;
        if (top->index == node->n) {
            cursor->depth--;
            continue;
        }
        int64_t i = top->index++;
        if (node->kind == PNC_FLAT_RUNS) {
            cursor_set(cursor, node->runs[i], top->offset);
            return true;
        }
        if (node->kind == PNC_FLAT_SEQUENCE) {
            cursor_push(cursor, node->children[i], top->offset);
            continue;
        }
        int64_t offset = top->offset + i * node->stride;
        if (pnc_select_flat_is_run(node->child)) { /* rows of a block, the most frequent case: no level for them */
            cursor_set(cursor, node->child->runs[0], offset + node->child->offset);
            return true;
        }
        cursor_push(cursor, node->child, offset);
    }
    return false;
}

void pnc_select_run_cursor_seek(pnc_run_cursor *cursor, int64_t element)
{
    const pnc_flat_type *node = cursor->flat->kind == PNC_FLAT_PICK ? cursor->flat->child : cursor->flat;
    int64_t offset = 0;

    cursor->done = element;
    cursor->left.count = 0;
    cursor->depth = 0;
    if (element >= node->elements)
        return;
    for (;;) {
        int64_t i = pnc_select_flat_find_part(node, &element);

        cursor_push(cursor, node, offset);
        cursor->stack[cursor->depth - 1].index = i + 1;
        offset = cursor->stack[cursor->depth - 1].offset;
        if (node->kind == PNC_FLAT_RUNS)
            break;
        if (node->kind == PNC_FLAT_VECTOR) {
            offset += i * node->stride;
            node = node->child;
        } else {
            node = node->children[i];
        }
    }
    cursor_set(cursor, node->runs[cursor->stack[cursor->depth - 1].index - 1], offset);
    cursor->left.offset += element * cursor->left.stride;
    cursor->left.count -= element;
}

/* The first elements of a run of the order that are in one run of `inner`. */
static pnc_memory_run locate_picked_run(const pnc_flat_type *pick, pnc_memory_run run)
{
    int64_t step = run.stride / pick->elem_size, most = 1;
    pnc_memory_run found = pnc_select_flat_locate_run(pick->inner, run.offset / pick->elem_size);

    if (step > 0)
        most = (found.count - 1) / step + 1;
    else if (step == 0)
        most = run.count;
    return (pnc_memory_run){found.offset, step * found.stride, pnc_min64(run.count, most)};
}

bool pnc_select_run_cursor_next(pnc_run_cursor *cursor, int64_t max, pnc_memory_run *run)
{
    assert(max > 0);
    if (cursor->left.count == 0 && !cursor_advance(cursor))
        return false;
    const int64_t step = cursor->left.stride;
    *run = cursor->left;
    if (run->count > max)
        run->count = max;
    if (cursor->flat->kind == PNC_FLAT_PICK)
        *run = locate_picked_run(cursor->flat, *run);
    cursor->left.count -= run->count;
    cursor->left.offset += run->count * step;
    cursor->done += run->count;
    assert(run->count > 0 && cursor->left.count >= 0 && cursor->done <= cursor->flat->elements);
    return true;
}

/* The runs are copies of a vector's child, so that they need not be visited. */
int64_t pnc_select_run_cursor_take_alike(pnc_run_cursor *cursor, int64_t count, int64_t most, int64_t *distance)
{
    pnc_run_level *top;
    int64_t n;

    if (cursor->left.count > 0 || cursor->depth == 0 || cursor->flat->kind == PNC_FLAT_PICK)
        return 0;
    top = &cursor->stack[cursor->depth - 1];
    if (top->node->kind != PNC_FLAT_VECTOR)
        return 0;
    assert(pnc_select_flat_is_run(top->node->child)); /* others have a level of their own */
    if (top->node->child->runs[0].count != count)
        return 0;
    n = top->node->n - top->index;
    n = pnc_min64(n, most);
    top->index += n;
    cursor->done += n * count;
    *distance = top->node->stride;
    return n;
}
