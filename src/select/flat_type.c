/* Builders of flattened datatypes. Each one simplifies: fewer and longer runs with the same elements. */
#include "select/flat_type.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "select/flat_node.h"

/* Larger than any address space; below it, sums and differences of a few distances cannot overflow. */
#define REACH_MAX (INT64_MAX / 8)

static bool exceeds_reach(int64_t distance)
{
    return distance > REACH_MAX || distance < -REACH_MAX;
}

/* Distance in bytes from the first step to one beyond the last of `count`, as an absolute value; -1 if it exceeds
 * REACH_MAX. */
static int64_t compute_span(int64_t count, int64_t stride)
{
    int64_t bytes;
    if (exceeds_reach(stride) || pnc_size_multiply(count, stride < 0 ? -stride : stride, &bytes) != 0 ||
        bytes > REACH_MAX)
        return -1;
    return bytes;
}

static pnc_flat_type *node_new(pnc_flat_kind kind, int elem_size)
{
    pnc_flat_type *node = pnc_memory_alloc_zeroed(1, sizeof *node);
    if (node == NULL)
        return NULL;
    node->kind = kind;
    node->elem_size = elem_size;
    node->height = 1;
    node->refs = 1;
    node->runs = &node->single;
    return node;
}

void pnc_select_flat_free(pnc_flat_type *flat)
{
    if (flat == NULL)
        return;
    assert(flat->refs > 0);
    if (--flat->refs > 0)
        return;
    for (int64_t i = 0; flat->children != NULL && i < flat->n; i++)
        pnc_select_flat_free(flat->children[i]);
    pnc_memory_free(flat->children);
    pnc_select_flat_free(flat->child);
    pnc_select_flat_free(flat->inner);
    pnc_memory_free(flat->ends);
    if (flat->runs != &flat->single)
        pnc_memory_free(flat->runs);
    pnc_memory_free(flat);
}

/* Set the node's reach; frees the node and returns NULL if it exceeds REACH_MAX. */
static pnc_flat_type *node_reach(pnc_flat_type *node, int64_t below)
{
    if (node != NULL) {
        node->reach = below + (node->offset < 0 ? -node->offset : node->offset);
        if (node->reach <= REACH_MAX)
            return node;
    }
    pnc_select_flat_free(node);
    return NULL;
}

static pnc_flat_type *node_run(int elem_size, pnc_memory_run run)
{
    int64_t bytes = compute_span(run.count > 0 ? run.count : 0, run.stride);
    pnc_flat_type *node = bytes < 0 || exceeds_reach(run.offset) ? NULL : node_new(PNC_FLAT_RUNS, elem_size);
    if (node == NULL || run.count <= 0)
        return node;
    node->single = run;
    node->n = 1;
    node->elements = run.count;
    return node_reach(node, bytes + (run.offset < 0 ? -run.offset : run.offset));
}

pnc_flat_type *pnc_select_flat_share(pnc_flat_type *flat)
{
    assert(flat->refs > 0);
    flat->refs++;
    return flat;
}

int64_t pnc_select_flat_count_elements(const pnc_flat_type *flat)
{
    return flat->elements;
}

int pnc_select_flat_get_element_size(const pnc_flat_type *flat)
{
    return flat->elem_size;
}

bool pnc_select_flat_is_contiguous(const pnc_flat_type *flat, int64_t *offset)
{
    if (flat->elements == 0) {
        *offset = 0;
        return true;
    }
    if (!pnc_select_flat_is_run(flat) || (flat->single.count > 1 && flat->single.stride != flat->elem_size))
        return false;
    *offset = flat->offset + flat->runs[0].offset;
    return true;
}

pnc_flat_type *pnc_select_flat_create_block(int64_t count, int elem_size)
{
    return node_run(elem_size, (pnc_memory_run){0, elem_size, count});
}

/* A vector of one run is a longer run if the copies continue at the stride of the run. */
static bool vector_as_run(const pnc_flat_type *child, int64_t count, int64_t stride, pnc_memory_run *run)
{
    if (!pnc_select_flat_is_run(child))
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

static pnc_flat_type *vector_new(pnc_flat_type *child, int64_t count, int64_t stride)
{
    int64_t bytes = compute_span(count, stride);
    pnc_flat_type *node = bytes < 0 ? NULL : node_new(PNC_FLAT_VECTOR, child->elem_size);
    assert(count > 0 && child->elements > 0 && count <= INT64_MAX / child->elements);
    if (node == NULL)
        return NULL;
    node->n = count;
    node->stride = stride;
    node->elements = count * child->elements;
    node->height = child->height + 1;
    node->child = pnc_select_flat_share(child);
    return node_reach(node, bytes + child->reach);
}

/* A vector of a vector is one vector if the inner copies continue from one outer copy to the next. */
static pnc_flat_type *vector_of(pnc_flat_type *child, int64_t count, int64_t stride)
{
    int64_t elements;
    pnc_memory_run run;
    if (count <= 0 || child->elements == 0)
        return node_run(child->elem_size, (pnc_memory_run){0});
    if (pnc_size_multiply(count, child->elements, &elements) != 0)
        return NULL;
    if (vector_as_run(child, count, stride, &run))
        return node_run(child->elem_size, run);
    if (child->kind != PNC_FLAT_VECTOR || child->n * child->stride != stride)
        return vector_new(child, count, stride);
    pnc_flat_type *node = vector_new(child->child, count * child->n, child->stride);
    if (node == NULL)
        return NULL;
    node->offset = child->offset;
    return node_reach(node, node->reach);
}

/* Reuse a node with a single reference for a longer run: allocation of nodes dominates the cost of a nonblocking
 * call with imap. */
static pnc_flat_type *extend_run(pnc_flat_type *node, pnc_memory_run run)
{
    int64_t bytes = compute_span(run.count, run.stride);
    if (bytes < 0 || exceeds_reach(run.offset)) {
        pnc_select_flat_free(node);
        return NULL;
    }
    node->single = run;
    node->elements = run.count;
    node->offset = 0;
    return node_reach(node, bytes + (run.offset < 0 ? -run.offset : run.offset));
}

pnc_flat_type *pnc_select_flat_create_vector(pnc_flat_type *child, int64_t count, int64_t stride)
{
    int64_t elements;
    pnc_memory_run run;
    if (child == NULL || (count == 1 && child->elements > 0))
        return child;
    if (child->refs == 1 && count > 0 && child->elements > 0 &&
        pnc_size_multiply(count, child->elements, &elements) == 0 && vector_as_run(child, count, stride, &run))
        return extend_run(child, run);
    pnc_flat_type *node = vector_of(child, count, stride);
    pnc_select_flat_free(child);
    return node;
}

/* A new node with the same content, whose offset may be changed. */
static pnc_flat_type *node_clone(pnc_flat_type *node)
{
    if (pnc_select_flat_is_run(node)) {
        pnc_flat_type *run = node_run(node->elem_size, node->runs[0]);
        if (run == NULL)
            return NULL;
        run->offset = node->offset;
        return node_reach(run, run->reach);
    }
    return vector_new(node, 1, 0);
}

pnc_flat_type *pnc_select_flat_create_shifted(pnc_flat_type *child, int64_t offset)
{
    if (child == NULL || child->elements == 0 || offset == 0)
        return child;
    if (child->refs > 1) {
        pnc_flat_type *clone = node_clone(child);
        pnc_select_flat_free(child);
        child = clone;
    }
    if (child == NULL || exceeds_reach(offset)) {
        pnc_select_flat_free(child);
        return NULL;
    }
    int64_t below = child->reach - (child->offset < 0 ? -child->offset : child->offset);
    child->offset += offset;
    return node_reach(child, below);
}

/* Append a run, or extend the last one if the run continues it at the same stride. A single element extends only a
 * contiguous run: otherwise it could absorb the first element of the following run. */
static int64_t runs_append(pnc_memory_run *runs, int64_t n, pnc_memory_run run, int elem_size)
{
    if (run.count == 1)
        run.stride = elem_size;
    if (n > 0) {
        pnc_memory_run *last = &runs[n - 1];
        bool alike = run.count == 1 || run.stride == last->stride;
        if (alike && run.offset == last->offset + last->count * last->stride) {
            last->count += run.count;
            return n;
        }
    }
    runs[n] = run;
    return n + 1;
}

/* Runs of the same count and stride at equal distances are a vector: typical of indexed types. */
static bool runs_are_vector(const pnc_memory_run *runs, int64_t n, int64_t *stride)
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

static pnc_flat_type *runs_node(pnc_memory_run *runs, int64_t n, int elem_size, int64_t reach)
{
    int64_t stride;
    if (n == 1)
        return node_run(elem_size, runs[0]);
    if (runs_are_vector(runs, n, &stride))
        return pnc_select_flat_create_vector(node_run(elem_size, runs[0]), n, stride);
    pnc_flat_type *node = node_new(PNC_FLAT_RUNS, elem_size);
    pnc_memory_run *copy = pnc_memory_alloc(n, sizeof *copy);
    if (node == NULL || copy == NULL) {
        pnc_memory_free(copy);
        pnc_memory_free(node);
        return NULL;
    }
    memcpy(copy, runs, (size_t)n * sizeof *copy);
    node->runs = copy;
    node->n = n;
    for (int64_t i = 0; i < n; i++)
        node->elements += runs[i].count;
    return node_reach(node, reach);
}

/* Make one node from children that are all runs. */
static pnc_flat_type *sequence_of_runs(pnc_flat_type **children, int64_t n)
{
    int64_t total = 0, used = 0, reach = 0;
    for (int64_t i = 0; i < n; i++) {
        assert(children[i]->elem_size == children[0]->elem_size && children[i]->elements > 0);
        total += children[i]->n;
        reach = children[i]->reach > reach ? children[i]->reach : reach;
    }
    pnc_memory_run *runs = pnc_memory_alloc(total, sizeof *runs);
    if (runs == NULL)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < children[i]->n; k++) {
            pnc_memory_run run = children[i]->runs[k];
            run.offset += children[i]->offset;
            used = runs_append(runs, used, run, children[i]->elem_size);
        }
    pnc_flat_type *node = runs_node(runs, used, children[0]->elem_size, reach);
    pnc_memory_free(runs);
    return node;
}

static pnc_flat_type *sequence_new(pnc_flat_type **children, int64_t n)
{
    pnc_flat_type *node = node_new(PNC_FLAT_SEQUENCE, children[0]->elem_size);
    pnc_flat_type **own = pnc_memory_alloc(n, sizeof *own);
    if (node == NULL || own == NULL) {
        pnc_memory_free(own);
        pnc_memory_free(node);
        return NULL;
    }
    node->children = own;
    int deepest = 0;
    int64_t reach = 0;
    for (int64_t i = 0; i < n; i++) {
        assert(children[i]->elem_size == children[0]->elem_size && children[i]->elements > 0);
        own[i] = pnc_select_flat_share(children[i]);
        node->elements += children[i]->elements;
        deepest = children[i]->height > deepest ? children[i]->height : deepest;
        reach = children[i]->reach > reach ? children[i]->reach : reach;
    }
    node->n = n;
    node->height = deepest + 1;
    return node_reach(node, reach);
}

/* Move non-empty children to the front; the others are freed and set to NULL. */
static int64_t sequence_compact(pnc_flat_type **children, int64_t n)
{
    int64_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        pnc_flat_type *child = children[i];
        children[i] = NULL;
        if (child->elements > 0)
            children[used++] = child;
        else
            pnc_select_flat_free(child);
    }
    return used;
}

static pnc_flat_type *sequence_build(pnc_flat_type **children, int64_t n)
{
    bool flat = true, whole = true;
    int elem_size = n > 0 && children[0] != NULL ? children[0]->elem_size : 1;
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        whole = whole && children[i] != NULL && pnc_size_add(total, children[i]->elements, &total) == 0;
    if (!whole)
        return NULL;
    n = sequence_compact(children, n);
    for (int64_t i = 0; i < n; i++)
        flat = flat && children[i]->kind == PNC_FLAT_RUNS;
    if (n == 0)
        return node_run(elem_size, (pnc_memory_run){0});
    if (n == 1)
        return pnc_select_flat_share(children[0]);
    return flat ? sequence_of_runs(children, n) : sequence_new(children, n);
}

pnc_flat_type *pnc_select_flat_create_sequence(pnc_flat_type **children, int64_t n)
{
    pnc_flat_type *node = sequence_build(children, n);
    for (int64_t i = 0; i < n; i++)
        pnc_select_flat_free(children[i]);
    return node;
}

pnc_flat_type *pnc_select_flat_create_imap(int ndims, const int64_t *count, const int64_t *imap, int elem_size)
{
    int64_t distance = elem_size;
    for (int dim = 0; dim < ndims; dim++)
        if (count[dim] <= 0)
            return pnc_select_flat_create_block(0, elem_size);
    pnc_flat_type *flat = pnc_select_flat_create_block(1, elem_size);
    for (int dim = ndims - 1; flat != NULL && dim >= 0; dim--) {
        bool far = imap != NULL && compute_span(elem_size, imap[dim]) < 0;
        int64_t stride = imap != NULL && !far ? imap[dim] * elem_size : distance;
        if (far || (imap == NULL && pnc_size_multiply(distance, count[dim], &distance) != 0)) {
            pnc_select_flat_free(flat);
            return NULL;
        }
        flat = pnc_select_flat_create_vector(flat, count[dim], stride);
    }
    return flat;
}
