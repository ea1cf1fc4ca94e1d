/* Builders of memory maps: each tries to say the same with fewer and longer runs. */
#include "select/memmap.h"

#include <string.h>

#include "base/memory.h"
#include "select/memnode.h"

/* No memory is as large; below it, sums and differences of a few distances cannot overflow. */
#define REACH_MAX (INT64_MAX / 8)

static bool too_far(int64_t distance)
{
    return distance > REACH_MAX || distance < -REACH_MAX;
}

/* Bytes from the first to one beyond the last of `count` steps, without sign; -1 where that is too far. */
static int64_t span(int64_t count, int64_t stride)
{
    int64_t bytes;
    if (too_far(stride) || pnc_size_multiply(count, stride < 0 ? -stride : stride, &bytes) || bytes > REACH_MAX)
        return -1;
    return bytes;
}

static pnc_memmap *node_new(pnc_memkind kind, int elem_size)
{
    pnc_memmap *node = pnc_memory_alloc_zeroed(1, sizeof *node);
    if (!node)
        return NULL;
    node->kind = kind;
    node->elem_size = elem_size;
    node->height = 1;
    node->refs = 1;
    node->runs = &node->single;
    return node;
}

void pnc_memmap_free(pnc_memmap *map)
{
    if (!map || --map->refs > 0)
        return;
    for (int64_t i = 0; map->children && i < map->n; i++)
        pnc_memmap_free(map->children[i]);
    pnc_memory_free(map->children);
    pnc_memmap_free(map->child);
    pnc_memmap_free(map->inner);
    pnc_memory_free(map->ends);
    if (map->runs != &map->single)
        pnc_memory_free(map->runs);
    pnc_memory_free(map);
}

/* Set how far the node's elements may lie from the pointer of the user; refuse a node that goes too far. */
static pnc_memmap *node_reach(pnc_memmap *node, int64_t below)
{
    if (node) {
        node->reach = below + (node->offset < 0 ? -node->offset : node->offset);
        if (node->reach <= REACH_MAX)
            return node;
    }
    pnc_memmap_free(node);
    return NULL;
}

static pnc_memmap *node_run(int elem_size, pnc_memrun run)
{
    int64_t bytes = span(run.count > 0 ? run.count : 0, run.stride);
    pnc_memmap *node = bytes < 0 || too_far(run.offset) ? NULL : node_new(PNC_MEM_RUNS, elem_size);
    if (!node || run.count <= 0)
        return node;
    node->single = run;
    node->n = 1;
    node->elements = run.count;
    return node_reach(node, bytes + (run.offset < 0 ? -run.offset : run.offset));
}

pnc_memmap *pnc_memmap_share(pnc_memmap *map)
{
    map->refs++;
    return map;
}

int64_t pnc_memmap_elements(const pnc_memmap *map)
{
    return map->elements;
}

int pnc_memmap_elem_size(const pnc_memmap *map)
{
    return map->elem_size;
}

bool pnc_memmap_contiguous(const pnc_memmap *map, int64_t *offset)
{
    if (map->elements == 0) {
        *offset = 0;
        return true;
    }
    if (!pnc_memnode_is_run(map) || (map->single.count > 1 && map->single.stride != map->elem_size))
        return false;
    *offset = map->offset + map->runs[0].offset;
    return true;
}

pnc_memmap *pnc_memmap_block(int64_t count, int elem_size)
{
    return node_run(elem_size, (pnc_memrun){0, elem_size, count});
}

/* A vector of one run is a longer run, where the copies follow one another at the run's own stride. */
static bool vector_as_run(const pnc_memmap *child, int64_t count, int64_t stride, pnc_memrun *run)
{
    if (!pnc_memnode_is_run(child))
        return false;
    *run = child->runs[0];
    run->offset += child->offset;
    if (run->count == 1) {
        run->count = count;
        run->stride = stride;
        return true;
    }
    if (run->count * run->stride != stride)
        return false;
    run->count *= count;
    return true;
}

static pnc_memmap *vector_new(pnc_memmap *child, int64_t count, int64_t stride)
{
    int64_t bytes = span(count, stride);
    pnc_memmap *node = bytes < 0 ? NULL : node_new(PNC_MEM_VECTOR, child->elem_size);
    if (!node)
        return NULL;
    node->n = count;
    node->stride = stride;
    node->elements = count * child->elements;
    node->height = child->height + 1;
    node->child = pnc_memmap_share(child);
    return node_reach(node, bytes + child->reach);
}

/* A vector of vectors is one, where the inner copies continue from one outer copy to the next. */
static pnc_memmap *vector_of(pnc_memmap *child, int64_t count, int64_t stride)
{
    int64_t elements;
    pnc_memrun run;
    if (count <= 0 || child->elements == 0)
        return node_run(child->elem_size, (pnc_memrun){0});
    if (pnc_size_multiply(count, child->elements, &elements))
        return NULL;
    if (vector_as_run(child, count, stride, &run))
        return node_run(child->elem_size, run);
    if (child->kind != PNC_MEM_VECTOR || child->n * child->stride != stride)
        return vector_new(child, count, stride);
    pnc_memmap *node = vector_new(child->child, count * child->n, child->stride);
    if (!node)
        return NULL;
    node->offset = child->offset;
    return node_reach(node, node->reach);
}

/* The same node for a longer run, where nobody else holds it: a nonblocking call with imap spends its time on nodes. */
static pnc_memmap *lengthen(pnc_memmap *node, pnc_memrun run)
{
    int64_t bytes = span(run.count, run.stride);
    if (bytes < 0 || too_far(run.offset)) {
        pnc_memmap_free(node);
        return NULL;
    }
    node->single = run;
    node->elements = run.count;
    node->offset = 0;
    return node_reach(node, bytes + (run.offset < 0 ? -run.offset : run.offset));
}

pnc_memmap *pnc_memmap_vector(pnc_memmap *child, int64_t count, int64_t stride)
{
    int64_t elements;
    pnc_memrun run;
    if (!child || (count == 1 && child->elements > 0))
        return child;
    if (child->refs == 1 && count > 0 && child->elements > 0 && pnc_size_multiply(count, child->elements, &elements) ==
        0 && vector_as_run(child, count, stride, &run))
        return lengthen(child, run);
    pnc_memmap *node = vector_of(child, count, stride);
    pnc_memmap_free(child);
    return node;
}

/* Another node with the same content, whose offset may be changed. */
static pnc_memmap *node_clone(pnc_memmap *node)
{
    if (pnc_memnode_is_run(node)) {
        pnc_memmap *run = node_run(node->elem_size, node->runs[0]);
        if (!run)
            return NULL;
        run->offset = node->offset;
        return node_reach(run, run->reach);
    }
    return vector_new(node, 1, 0);
}

pnc_memmap *pnc_memmap_shift(pnc_memmap *child, int64_t offset)
{
    if (!child || child->elements == 0 || offset == 0)
        return child;
    if (child->refs > 1) {
        pnc_memmap *clone = node_clone(child);
        pnc_memmap_free(child);
        child = clone;
    }
    if (!child || too_far(offset)) {
        pnc_memmap_free(child);
        return NULL;
    }
    int64_t below = child->reach - (child->offset < 0 ? -child->offset : child->offset);
    child->offset += offset;
    return node_reach(child, below);
}

/* Append a run, or lengthen the last one where it continues at the same stride. A single element continues only what
 * is contiguous, lest it steal the first element of the run that follows. */
static int64_t runs_append(pnc_memrun *runs, int64_t n, pnc_memrun run, int elem_size)
{
    if (run.count == 1)
        run.stride = elem_size;
    if (n > 0) {
        pnc_memrun *last = &runs[n - 1];
        bool alike = run.count == 1 || run.stride == last->stride;
        if (alike && run.offset == last->offset + last->count * last->stride) {
            last->count += run.count;
            return n;
        }
    }
    runs[n] = run;
    return n + 1;
}

/* Runs of one shape at equal distances are a vector: so do many indexed types look in practice. */
static bool runs_are_vector(const pnc_memrun *runs, int64_t n, int64_t *stride)
{
    if (n < 2)
        return false;
    *stride = runs[1].offset - runs[0].offset;
    for (int64_t i = 1; i < n; i++)
        if (runs[i].count != runs[0].count || runs[i].stride != runs[0].stride ||
            runs[i].offset - runs[i - 1].offset != *stride)
            return false;
    return true;
}

static pnc_memmap *runs_node(pnc_memrun *runs, int64_t n, int elem_size, int64_t reach)
{
    int64_t stride;
    if (n == 1)
        return node_run(elem_size, runs[0]);
    if (runs_are_vector(runs, n, &stride))
        return pnc_memmap_vector(node_run(elem_size, runs[0]), n, stride);
    pnc_memmap *node = node_new(PNC_MEM_RUNS, elem_size);
    if (!node || !(node->runs = pnc_memory_alloc(n, sizeof *runs))) {
        pnc_memory_free(node);
        return NULL;
    }
    memcpy(node->runs, runs, (size_t)n * sizeof *runs);
    node->n = n;
    for (int64_t i = 0; i < n; i++)
        node->elements += runs[i].count;
    return node_reach(node, reach);
}

/* A list of runs out of children that are runs themselves. */
static pnc_memmap *sequence_of_runs(pnc_memmap **children, int64_t n)
{
    int64_t total = 0, used = 0, reach = 0;
    for (int64_t i = 0; i < n; i++) {
        total += children[i]->n;
        reach = children[i]->reach > reach ? children[i]->reach : reach;
    }
    pnc_memrun *runs = pnc_memory_alloc(total, sizeof *runs);
    if (!runs)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < children[i]->n; k++) {
            pnc_memrun run = children[i]->runs[k];
            run.offset += children[i]->offset;
            used = runs_append(runs, used, run, children[i]->elem_size);
        }
    pnc_memmap *node = runs_node(runs, used, children[0]->elem_size, reach);
    pnc_memory_free(runs);
    return node;
}

static pnc_memmap *sequence_new(pnc_memmap **children, int64_t n)
{
    pnc_memmap *node = node_new(PNC_MEM_SEQUENCE, children[0]->elem_size);
    if (!node || !(node->children = pnc_memory_alloc(n, sizeof *children))) {
        pnc_memory_free(node);
        return NULL;
    }
    int deepest = 0;
    int64_t reach = 0;
    for (int64_t i = 0; i < n; i++) {
        node->children[i] = pnc_memmap_share(children[i]);
        node->elements += children[i]->elements;
        deepest = children[i]->height > deepest ? children[i]->height : deepest;
        reach = children[i]->reach > reach ? children[i]->reach : reach;
    }
    node->n = n;
    node->height = deepest + 1;
    return node_reach(node, reach);
}

/* The children that select something, in front; the others are released and become NULL. */
static int64_t sequence_compact(pnc_memmap **children, int64_t n)
{
    int64_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        pnc_memmap *child = children[i];
        children[i] = NULL;
        if (child->elements > 0)
            children[used++] = child;
        else
            pnc_memmap_free(child);
    }
    return used;
}

static pnc_memmap *sequence_build(pnc_memmap **children, int64_t n)
{
    bool flat = true, whole = true;
    int elem_size = n > 0 && children[0] ? children[0]->elem_size : 1;
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        whole = whole && children[i] && !pnc_size_add(total, children[i]->elements, &total);
    if (!whole)
        return NULL;
    n = sequence_compact(children, n);
    for (int64_t i = 0; i < n; i++)
        flat = flat && children[i]->kind == PNC_MEM_RUNS;
    if (n == 0)
        return node_run(elem_size, (pnc_memrun){0});
    if (n == 1)
        return pnc_memmap_share(children[0]);
    return flat ? sequence_of_runs(children, n) : sequence_new(children, n);
}

pnc_memmap *pnc_memmap_sequence(pnc_memmap **children, int64_t n)
{
    pnc_memmap *node = sequence_build(children, n);
    for (int64_t i = 0; i < n; i++)
        pnc_memmap_free(children[i]);
    return node;
}

pnc_memmap *pnc_memmap_imap(int ndims, const int64_t *count, const int64_t *imap, int elem_size)
{
    int64_t distance = elem_size;
    for (int dim = 0; dim < ndims; dim++)
        if (count[dim] <= 0)
            return pnc_memmap_block(0, elem_size);
    pnc_memmap *map = pnc_memmap_block(1, elem_size);
    for (int dim = ndims - 1; map && dim >= 0; dim--) {
        bool far = imap && span(elem_size, imap[dim]) < 0;
        int64_t stride = imap && !far ? imap[dim] * elem_size : distance;
        if (far || (!imap && pnc_size_multiply(distance, count[dim], &distance))) {
            pnc_memmap_free(map);
            return NULL;
        }
        map = pnc_memmap_vector(map, count[dim], stride);
    }
    return map;
}
