/* Collective access of MPI-IO for small interleaved pieces of several ranks on several nodes: the MPI library's driver
 * for the file system, and its hints (cb_nodes, striping_unit ..), decide how the file is accessed.
 *
 * Only delegates take part in the collective calls of MPI-IO. A call proceeds in windows. The ranks of a node put the
 * extents of their pieces into shared memory; a delegate merges those of its ranks, in the order of the file, into a
 * bounded list. The delegates agree on the end of the window, below which their lists are complete. Then the ranks put
 * the bytes of their pieces of the window into shared memory, from where the delegate copies them, and the delegates
 * write by one collective call. The rest of a list belongs to the next window. Of a get, they read before they copy. */
#ifndef PNC_IO_COLLECTIVE_ACCESS_H
#define PNC_IO_COLLECTIVE_ACCESS_H

#include "io/order/file_order.h"
#include "io/two_phase/node.h"

/* The delegates of a dataset, their lists, and the file as they have opened it. */
typedef struct pnc_collective_access pnc_collective_access;

/* Collective. NC_ENOTSUPPORT without has_collective of the store. shape->buffer is the size of a list in
 * bytes. The node must outlive the result. If a step fails on any rank, all ranks return an error. */
int pnc_io_collective_access_create(pnc_io_context *io, const pnc_node *node, const pnc_domain_shape *shape,
                                    pnc_collective_access **out);
/* Collective; NULL is allowed. Returns this rank's error of closing the file. */
int pnc_io_collective_access_free(pnc_collective_access *x);

/* Collective. order: this rank's requests, not yet advanced; range: of the file, of all ranks. Returns this rank's own
 * error; the caller must agree on it with the other ranks. */
int pnc_io_collective_access_execute(pnc_collective_access *x, pnc_file_order *order, pnc_range range);

/* Collective: create it for the strategy mpi_io, once. buffer: bytes that a delegate holds. False: it is not possible.
 * */
bool pnc_io_mpi_io_open(pnc_io_context *io, const pnc_node *node, int64_t buffer);

#endif
