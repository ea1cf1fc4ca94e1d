/* The communicator of an open file: a duplicate of the program's. A closed file leaves it to the next file of the same
 * communicator, in the attribute that also has the nodes: a duplication takes a collective step, and MPI-IO libraries
 * examine each new communicator (ROMIO gathers the names of the hosts).
 *
 * All ranks must take the same one. So a file keeps its communicator only if all ranks may, and have found the
 * attribute: the first file of a communicator, which makes it, does not. Nor does a file with a time limit: after a
 * timeout MPI still uses its communicator. */
#ifndef PNC_FILE_COMMUNICATOR_H
#define PNC_FILE_COMMUNICATOR_H

#include "file/file.h"

/* Set file->comm, which returns its errors, for a file with the program's communicator `users`, and file->nodes if they
 * are known. file->nprocs and a time limit are set. Collective; on all ranks or on none, but for NC_ETIMEOUT.
 * NC_ENFILE: MPI has no communicator left. */
int pnc_file_comm_take(pnc_file *file, MPI_Comm users);
/* Free both, or keep the communicator if file->keeps_comm. Collective, unless there is none. */
void pnc_file_comm_release(pnc_file *file);
/* Whether this process may keep one more communicator: not with MPI_THREAD_MULTIPLE, and at most 64. Local. */
bool pnc_file_comm_can_keep(void);
/* The file will keep it: on all ranks, or on none. Local. */
void pnc_file_comm_reserve(pnc_file *file);
/* Free one that was kept, if any. */
void pnc_file_comm_discard(MPI_Comm *kept);

/* Communicators that exist at the same time: that of MPI_File_open; those of MPI_Comm_split_type in MPICH; of
 * io/two_phase/node.c the node's, the delegates', and the leaders' or later that of the window. */
enum {
    PNC_COMMS_FOR_FILE = 1,
    PNC_COMMS_FOR_NODES = 2,
    PNC_COMMS_FOR_AGGREGATORS = 3,
    PNC_COMMS_MOST = PNC_COMMS_FOR_AGGREGATORS
};
/* Whether MPI has n communicators left on this rank: NC_ENFILE. Without messages. Before a collective call that makes
 * some, all ranks must agree that each has them: otherwise ROMIO ends the program in MPI_File_open, and Open MPI blocks
 * the ranks that have them. It does not find that the ranks of MPICH have none in common (fragmentation). */
int pnc_file_comm_check_spare(const pnc_file *file, int n);

#endif
