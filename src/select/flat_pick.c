/* The elements of one flattened datatype in the order of another. Each is found by a search in the tree: neither
 * tree is copied or expanded. */
#include "base/memory.h"

#include <assert.h>
#include "select/flat_node.h"

static int64_t count_elements_of_part(const pnc_flat_type *node, int64_t i)
{
    return node->kind == PNC_FLAT_RUNS ? node->runs[i].count : node->children[i]->elements;
}

/* Set `ends` in all nodes of the tree: the number of elements up to the end of each run or child. */
static int index_tree(pnc_flat_type *node)
{
    int64_t end = 0;
    int err;

    if (node->ends != NULL) /* shared, and already set */
        return NC_NOERR;
    err = node->kind == PNC_FLAT_VECTOR ? index_tree(node->child) : NC_NOERR;
    for (int64_t i = 0; node->kind == PNC_FLAT_SEQUENCE && i < node->n && err == NC_NOERR; i++)
        err = index_tree(node->children[i]);
    if (err != NC_NOERR || node->kind == PNC_FLAT_VECTOR || node->n < 2)
        return err;
    node->ends = pnc_memory_alloc(node->n, sizeof *node->ends);
    if (node->ends == NULL)
        return NC_ENOMEM;
    for (int64_t i = 0; i < node->n; i++)
        node->ends[i] = end += count_elements_of_part(node, i);
    return NC_NOERR;
}

/* The index of the run or child that holds element *at of the node; *at becomes relative to it. */
static int64_t find_picked_part(const pnc_flat_type *node, int64_t *at)
{
    int64_t low = 0, high = node->n - 1;

    if (node->n < 2)
        return 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (node->ends[middle] <= *at)
            low = middle + 1;
        else
            high = middle;
    }
    *at -= low > 0 ? node->ends[low - 1] : 0;
    assert(*at >= 0 && *at < count_elements_of_part(node, low));
    return low;
}

pnc_memory_run pnc_select_flat_locate_run(const pnc_flat_type *node, int64_t at)
{
    int64_t offset = node->offset, i;
    pnc_memory_run run;

    assert(at >= 0 && at < node->elements);
    while (node->kind != PNC_FLAT_RUNS) {
        if (node->kind == PNC_FLAT_VECTOR) {
            offset += at / node->child->elements * node->stride;
            at %= node->child->elements;
            node = node->child;
        } else {
            i = find_picked_part(node, &at);
            node = node->children[i];
        }
        offset += node->offset;
    }
    i = find_picked_part(node, &at);
    run = node->runs[i];
    return (pnc_memory_run){offset + run.offset + at * run.stride, run.stride, run.count - at};
}

pnc_flat_type *pnc_select_flat_create_pick(pnc_flat_type *order, pnc_flat_type *inner)
{
    pnc_flat_type *node = NULL;

    if (order != NULL && inner != NULL && order->elements > 0 && index_tree(inner) == NC_NOERR)
        node = pnc_memory_alloc_zeroed(1, sizeof *node);
    if (node == NULL) {
        pnc_select_flat_free(order);
        pnc_select_flat_free(inner);
        return NULL;
    }
    *node = (pnc_flat_type){.kind = PNC_FLAT_PICK,
                            .elem_size = inner->elem_size,
                            .height = order->height,
                            .refs = 1,
                            .elements = order->elements,
                            .reach = inner->reach,
                            .child = order,
                            .inner = inner};
    node->runs = &node->single;
    return node;
}
