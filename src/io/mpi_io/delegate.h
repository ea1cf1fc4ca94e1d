/* A delegate's part in collective access of MPI-IO: it merges the pieces of its ranks, agrees on windows with the other
 * delegates, and accesses the file. */
#ifndef PNC_IO_DELEGATE_H
#define PNC_IO_DELEGATE_H

#include "convert/convert.h"
#include "io/mpi_io/access_list.h"
#include "io/two_phase/node.h"

/* Parts of a segment: pieces that are not yet in the list of a delegate, and pieces of the window with their bytes. */
enum { PNC_PART_PENDING, PNC_PART_WANTED };

typedef struct pnc_delegate {
    const pnc_node *node;
    pnc_file file; /* opened again, for the delegates */
    MPI_Info info; /* the hints for that */
    int64_t striping_unit;
    int first, n; /* its ranks of the node */
    pnc_access_list list;
    int *heap; /* its ranks with pending pieces; the one with the lowest offset at the front */
    int nheap;
    pnc_extent rest;          /* what the list had no space for, of pieces that it contains in part */
    pnc_list_cursor *cursors; /* by rank, from `first` on */
    pnc_direction direction;
    /* Bound of a common window, from its first byte to its last one: that of a round of ROMIO with its default hints.
     * In a call of several rounds, other ranks block forever if a write of an aggregator fails (MPICH 4.0.2). */
    int64_t max_span;
    int is_disjoint;   /* in the order of the delegates, their ranges of the file ascend */
    int64_t in_window; /* extents of the list */
    int err;           /* first error of a call */
} pnc_delegate;

/* The delegate of a rank, both ranks of the node: neighbours have the same one. */
static inline int pnc_io_delegate_find(const pnc_node *node, int rank)
{
    return (int)((((int64_t)rank + 1) * node->ndelegates - 1) / node->nprocs);
}

/* NC_ENOMEM, NC_EMPI. After a failure, too, the delegate must be freed. */
int pnc_io_delegate_init(pnc_delegate *d, pnc_file *file, const pnc_node *node, const pnc_domain_shape *shape);
void pnc_io_delegate_free(pnc_delegate *d);

/* The functions below, except merge, copy and end, are collective over all delegates. */

/* Open the file again, and close it. */
int pnc_io_delegate_file_open(pnc_delegate *d, const pnc_file *file);
int pnc_io_delegate_file_close(pnc_delegate *d);
/* Begin a call. The segments have the ranges of the ranks. */
void pnc_io_delegate_start(pnc_delegate *d, pnc_direction direction);
/* Move pending pieces of the segments to the list, as long as their order is known and there is space. */
void pnc_io_delegate_merge(pnc_delegate *d);
/* Agree on the end of the window, at most `high`. */
void pnc_io_delegate_window_agree(pnc_delegate *d, int64_t high);
/* Copy the bytes of the wanted pieces: put: from the segments to the list; get: in reverse. */
void pnc_io_delegate_window_copy(pnc_delegate *d);
/* Write the window, or read it. */
void pnc_io_delegate_window_transfer(pnc_delegate *d);
/* Remove the window from the list. */
void pnc_io_delegate_window_end(pnc_delegate *d);

#endif
