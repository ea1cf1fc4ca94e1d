/* Agreement between the ranks that share a file. All functions are collective, except the first eight.
 *
 * Every collective call begins with an agreement by maximum, and each of these has the same shape if it is the first
 * one of its call. So ranks that make different calls meet there, and do not block. It compares the calls: if they do
 * not match, pnc_file_call.mismatch is set, and all ranks return from the call without another collective step. A rank
 * has then made more calls than another one, or will: if they went on, one would wait in the end. So each later call
 * returns the same error at once, and the file can only be closed, which each rank does without the others.
 *
 * An MPI call that fails on this rank may have succeeded on the others, which continue by its result. So does this
 * rank, as they would wait for it. Its error becomes its status in the next agreement and, after the last one, the
 * result of the call. */
#ifndef PNC_FILE_AGREE_H
#define PNC_FILE_AGREE_H

#include "file/file.h"
#include "file/reduction.h"

/* Whether no further collective step is possible: calls did not match, or one has exceeded the time limit. */
static inline bool pnc_file_is_stopped(const pnc_file *file)
{
    return file->mismatch[0] != '\0' || pnc_file_time_limit_is_exceeded(file);
}

/* Begin a call of the program: `name` is that of the C function `function` in the program's language. */
static inline void pnc_file_call_begin(pnc_file *file, const char *function, const char *name)
{
    file->call = (pnc_file_call){.name = name, .function = function, .begins = true};
}

/* Prepare reductions by maximum as one element, for few ranks; used once file->maxima.is_used is set, which needs the
 * success of all ranks. NC_EMPI. */
int pnc_file_maxima_init(pnc_file *file);
void pnc_file_maxima_free(pnc_file *file);

/* A kind of calls: of one function, with one value of an argument. */
int64_t pnc_file_kind_compute(const char *function, const void *argument, int64_t length);

/* Keep the error of a step that has failed: "CALL of WHAT failed". */
void pnc_file_step_check(pnc_file *file, int code, const char *call, const char *what);
/* The status or, if it is NC_NOERR, the error of a collective step that no agreement has had. */
int pnc_file_late_take(pnc_file *file, int status);
/* A failure of this rank as a value for pnc_file_maxima_agree: 0 if the status is NC_NOERR. */
int64_t pnc_file_failure_encode(const pnc_file *file, int status);
/* After that agreement: if any rank has found an error, count those that have found the agreed one. The one whose
 * number was agreed reports them all. Returns the number of the others; -1 on ranks that do not report it; 0 if this
 * rank's status is not the agreed one. */
int64_t pnc_file_finders_count(pnc_file *file, int status, int64_t agreed);
/* The same, for the error that is set. */
void pnc_file_failure_count(pnc_file *file, int status, int64_t agreed);
/* The same. Returns the status or, if it is NC_NOERR, the agreed code, and sets its message: `what`, such as "a
 * collective write", failed. */
int pnc_file_failure_share(pnc_file *file, int status, int64_t agreed, const char *what);
/* Returns NC_NOERR if all ranks pass NC_NOERR; otherwise this rank's error or, if it has none, the most negative one of
 * the others. NC_EMULTICALL if the calls do not match. */
int pnc_file_status_agree(pnc_file *file, int status);
/* Return rank 0's status, and set its message, on all ranks. */
int pnc_file_status_broadcast(pnc_file *file, int status);
/* Replace each value by the largest one of all ranks; `what` names the values in messages. At most PNC_AGREED_VALUES
 * values. If the calls do not match: NC_EMULTICALL on all ranks, and the values are unchanged. */
int pnc_file_maxima_agree(pnc_file *file, int64_t *values, int n, const char *what);
/* Report that the calls of the ranks do not match, with the names of two of them. Replace file->numrecs by the largest
 * one of all ranks. Returns NC_EMULTICALL. */
int pnc_file_mismatch_report(pnc_file *file);
/* MPI_Finalize begins while a file of several ranks is open in safe mode, without a time limit: this rank takes part in
 * the agreement of the next call as if MPI_Finalize were one, so that ranks in another call return NC_EMULTICALL
 * instead of waiting forever. Other ranks may close several such files in any order: begin for all of them, and end for
 * each when its request is complete. There are PNC_FIRST_VALUES values, which remain until then. */
void pnc_file_parting_begin(pnc_file *file, int64_t *values, MPI_Request *request);
/* NC_EMULTICALL if the others are in another call. */
int pnc_file_parting_end(pnc_file *file, const int64_t *values);
/* Replace each value by the sum over the ranks. */
void pnc_file_sums_agree(pnc_file *file, int64_t *values, int n, const char *what);
/* Combine bytes of all ranks by MPI_BOR, while the file is opened. The reduction is nonblocking also on ranks that have
 * no limit, as others may have one. NC_ETIMEOUT on ranks whose limit is exceeded. */
int pnc_file_bits_agree(pnc_file *file, void *bytes, int n, const char *what);
/* Copy rank 0's bytes to all ranks. */
void pnc_file_bytes_broadcast(pnc_file *file, void *bytes, int64_t size, const char *what);

#endif
