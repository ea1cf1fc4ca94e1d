/* Which ranks share a node. It is found once for a communicator, and cached in an attribute of it. With it, a duplicate
 * of the communicator that a file no longer uses waits for the next file. */
#ifndef PNC_FILE_NODES_H
#define PNC_FILE_NODES_H

#include <mpi.h>
#include <stdbool.h>

typedef struct pnc_nodes pnc_nodes;
struct pnc_nodes {
    int uses;   /* datasets and communicators that have it */
    int n;      /* number of nodes; set by the caller of find: the sum of is_leader */
    int nranks; /* of this node */
    int *ranks; /* those ranks; the first one is the leader of the node */
    bool is_leader;
    bool reports_no_comm; /* of the first file: pnc_store has it */
    bool keeps_comm;      /* `idle` may be used: the same on all ranks; set by the caller of find */
    MPI_Comm idle;        /* MPI_COMM_NULL: none */
    pnc_nodes *next;      /* of those that exist */
};

/* Collective. NC_EMPI or NC_ENOMEM of this rank, which leaves *out unchanged. */
int pnc_file_nodes_find(MPI_Comm comm, pnc_nodes **out);
/* The cached result, or NULL. A duplicate of a communicator has that of its original. Local. */
pnc_nodes *pnc_file_nodes_get(MPI_Comm comm);
/* Cache it, without effect if MPI fails. Local. Returns whether this rank can keep an idle communicator: not if the
 * threads of a rank may open and close files in another order than those of other ranks. */
bool pnc_file_nodes_set(MPI_Comm comm, pnc_nodes *nodes);
/* The caller no longer uses it. NULL is allowed. */
void pnc_file_nodes_release(pnc_nodes *nodes);

/* An idle duplicate of the communicator, which the caller frees or keeps; or MPI_COMM_NULL, on all ranks. Local. */
MPI_Comm pnc_file_nodes_take_comm(pnc_nodes *nodes);
/* Keep *comm for the next file, and set it to MPI_COMM_NULL; on all ranks or on none. Local. */
void pnc_file_nodes_keep_comm(pnc_nodes *nodes, MPI_Comm *comm);

/* The group of the ranks of the node, in `comm` or a duplicate of it. An MPI error code. Local. */
int pnc_file_nodes_make_group(const pnc_nodes *nodes, MPI_Comm comm, MPI_Group *out);

#endif
