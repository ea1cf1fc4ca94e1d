/* A limit for the time that a collective call waits for ranks that do not make it.
 *
 * With a limit, the first agreement of a call is a nonblocking reduction. The first rank that has waited for the limit
 * sends a warning to all others. Those that wait, too, answer with their call. After ANSWER_SECONDS the rank prints
 * who waits where, and which ranks did not answer; it sends the result to the ranks that wait, and all return
 * NC_ETIMEOUT. A rank that arrives later finds the warning, does not begin the reduction, and returns the same error:
 * the reduction never completes. If the last rank had begun it before the warning arrived, it completes on all ranks
 * within ANSWER_SECONDS, and the call continues. So the ranks decide alike if messages take less than that.
 *
 * The reduction that does not complete cannot be cancelled. Afterwards the file takes part in no collective call.
 *
 * A file that is opened has a limit on the ranks that find one in their hints or environment, until all know that of
 * rank 0. The first steps of opening, which create the communicator unless an earlier file has left one, have no
 * answers: a rank with a limit that arrives later completes them, and waits for the limit in the next one. */
#ifndef PNC_FILE_TIME_LIMIT_H
#define PNC_FILE_TIME_LIMIT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define PNC_REDUCED_VALUES 10   /* at most, in a reduction with a limit */
#define PNC_COMBINED_BYTES 8192 /* the same, while a file is opened */

typedef struct pnc_file pnc_file;
typedef struct pnc_time_limit pnc_time_limit;

/* Set the limit of a file, the same on all ranks, in place of another one; `aborts`: end the program, instead of an
 * error. Local; NC_ENOMEM. */
int pnc_file_time_limit_set(pnc_file *file, int64_t seconds, bool aborts);
void pnc_file_time_limit_free(pnc_file *file);
/* Whether a call has exceeded it: no further collective step is possible. False without a limit. */
bool pnc_file_time_limit_is_exceeded(const pnc_file *file);
/* Replace each value by the largest one of all ranks; `call` describes the call in progress. Collective. NC_ETIMEOUT if
 * a rank did not make any call in time, or in an earlier call. */
int pnc_file_time_limit_agree(pnc_file *file, int64_t *values, int n, const char *call);

/* While the file is opened. Duplicate a communicator for several ranks: file->comm, or MPI_COMM_NULL if MPI has none
 * left. *code is that of MPI. Without a limit it waits. Collective; NC_ETIMEOUT. */
int pnc_file_time_limit_comm_create(pnc_file *file, MPI_Comm comm, int *code);
/* Combine bytes of all ranks by MPI_BOR, with a limit. Collective; NC_ETIMEOUT. */
int pnc_file_time_limit_bits_agree(pnc_file *file, void *bytes, int n, const char *call);

/* After the last agreement of a file, and when the limit changes: receive all notices that are under way. Otherwise one
 * could be taken for a notice of the next file whose communicator has the same context. Collective, also for ranks
 * without a limit, unless the limit was exceeded. */
void pnc_file_time_limit_end(pnc_file *file);

#endif
