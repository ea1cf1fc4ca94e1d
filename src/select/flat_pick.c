/* The elements of one flattened datatype in the order of another. Each is found by a search in the tree: neither
 * tree is copied or expanded. */
#include "base/memory.h"

#include <assert.h>
#include "select/flat_node.h"

static int64_t count_elements_of_part(const pnc_flat_type *node, int64_t i)
{
    return node->kind == PNC_FLAT_RUNS ? node->runs[i].count : node->children[i]->elements;
}

int pnc_select_index_make(pnc_flat_type *node)
{
    int64_t end = 0;
    int err;

    if (node->ends != NULL) /* shared, and already set */
        return NC_NOERR;
    err = node->child != NULL ? pnc_select_index_make(node->child) : NC_NOERR;
    for (int64_t i = 0; node->kind == PNC_FLAT_SEQUENCE && i < node->n && err == NC_NOERR; i++)
        err = pnc_select_index_make(node->children[i]);
    if (err != NC_NOERR || node->child != NULL || node->n < 2)
        return err;
    node->ends = pnc_memory_alloc(node->n, sizeof *node->ends);
    if (node->ends == NULL)
        return NC_ENOMEM;
    for (int64_t i = 0; i < node->n; i++)
        node->ends[i] = end += count_elements_of_part(node, i);
    return NC_NOERR;
}

/* The same without an index. */
static int64_t scan_parts(const pnc_flat_type *node, int64_t *at)
{
    int64_t i = 0;

    for (int64_t elements; *at >= (elements = count_elements_of_part(node, i)); i++)
        *at -= elements;
    return i;
}

int64_t pnc_select_flat_find_part(const pnc_flat_type *node, int64_t *at)
{
    int64_t low = 0, high = node->n - 1;

    if (node->kind == PNC_FLAT_VECTOR) {
        low = *at / node->child->elements;
        *at %= node->child->elements;
        return low;
    }
    if (node->n < 2)
        return 0;
    if (node->ends == NULL)
        return scan_parts(node, at);
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
        i = pnc_select_flat_find_part(node, &at);
        offset += node->kind == PNC_FLAT_VECTOR ? i * node->stride : 0;
        node = node->kind == PNC_FLAT_VECTOR ? node->child : node->children[i];
        offset += node->offset;
    }
    i = pnc_select_flat_find_part(node, &at);
    run = node->runs[i];
    return (pnc_memory_run){offset + run.offset + at * run.stride, run.stride, run.count - at};
}

pnc_flat_type *pnc_select_flat_create_pick(pnc_flat_type *order, pnc_flat_type *inner)
{
    pnc_flat_type *node = NULL;

    if (order != NULL && inner != NULL && order->elements > 0 && pnc_select_index_make(inner) == NC_NOERR)
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
