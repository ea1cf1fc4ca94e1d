/* What the library does when MPI_Finalize begins. */
#ifndef PNC_FILE_FINALIZE_H
#define PNC_FILE_FINALIZE_H

#include <mpi.h>
#include <stdbool.h>

/* The function is called once, when MPI_Finalize begins: MPI can still be used, but other ranks may be in another call.
 * The last one that was added is called first. False if it is never called: MPI has no memory, or the program only uses
 * MPI sessions and never calls MPI_Finalize. */
bool pnc_file_finalize_add(MPI_Comm_delete_attr_function *function);
/* In such a function: wait for a nonblocking operation, but not forever, as another rank may never begin it. False: it
 * has not ended, and MPI may use its memory until the program ends. */
bool pnc_file_finalize_wait(MPI_Request *request, double seconds);

#endif
