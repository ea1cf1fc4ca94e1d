/* What is cached in an attribute of a communicator of the program: which ranks share a node, which is found once, and a
 * duplicate of the communicator, for its next file. */
#ifndef PNC_FILE_NODES_H
#define PNC_FILE_NODES_H

#include <mpi.h>
#include <stdbool.h>

typedef struct pnc_nodes {
    int uses;        /* a communicator has it, and datasets */
    int n;           /* number of nodes; set by the caller of find: the sum of is_leader */
    int nranks;      /* of this node */
    int *ranks;      /* those ranks; the first one is the leader of the node */
    int nprocessors; /* of this node; the caller of find sets that of the node of rank 0, the same on all ranks */
    int nidle;       /* processors of the node for threads of this process, which no process of the program has */
    bool is_leader;
    MPI_Comm kept; /* see communicator.h; MPI_COMM_NULL: none */
} pnc_nodes;

/* Collective. NC_EMPI or NC_ENOMEM of this rank, which leaves *out unchanged. */
int pnc_file_nodes_find(MPI_Comm comm, pnc_nodes **out);
/* The cached result, or NULL. A duplicate of a communicator has a copy of that of its original. Local. */
pnc_nodes *pnc_file_nodes_get(MPI_Comm comm);
/* Cache it, without effect if MPI fails. Local. */
void pnc_file_nodes_set(MPI_Comm comm, pnc_nodes *nodes);
/* Whether duplicates that this thread makes have the attribute. Those of files do not: no file is opened with them, and
 * a duplication that fails in MPICH does not delete the attributes it has copied. Local. */
void pnc_file_nodes_share(bool with_duplicates);
/* The caller no longer uses it. NULL is allowed. */
void pnc_file_nodes_release(pnc_nodes *nodes);

/* The group of the ranks of the node, in `comm` or a duplicate of it. An MPI error code. Local. */
int pnc_file_nodes_make_group(const pnc_nodes *nodes, MPI_Comm comm, MPI_Group *out);

#endif
