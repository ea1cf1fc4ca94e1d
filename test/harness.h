/* What an MPI test program needs: start, check, finish, and where its files lie.
 *
 * Rank 0 prints one TAP line per check, without number and without plan: test/runner/run-mpi runs the program on
 * several numbers of ranks, adds both, and reports crashes, hangs and tests that end early. Nothing else may write to
 * stdout (from other ranks it would end up in the middle of these lines); stderr is free. A test reads
 *
 *     int main(int argc, char **argv)
 *     {
 *         t_start(&argc, &argv);
 *         t_check(ncmpi_create(MPI_COMM_WORLD, t_path("a.nc"), ...) == NC_NOERR, "create a.nc");
 *         return t_finish();
 *     }
 */
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__)
#define T_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define T_PRINTF(text, first)
#endif

extern int t_rank, t_nprocs;
extern bool t_ok; /* of the check under way */

/* Collective. MPI_Init, and sets t_rank and t_nprocs. */
void t_start(int *argc, char ***argv);

/* The same for a test with threads; wanted is MPI_THREAD_MULTIPLE, say. False where the MPI library does not provide
 * it. */
bool t_start_threaded(int *argc, char ***argv, int wanted);

/* Collective. Passes when ok is true on every rank and no t_local has failed since the last t_check. Returns the
 * result, the same on every rank. The line has rank 0's text; the texts of the ranks that failed follow it. */
bool t_check_as(bool ok, const char *format, ...) T_PRINTF(2, 3);

/* Local. A failure is remembered and fails the next t_check, or t_finish. Returns ok. */
bool t_local_as(bool ok, const char *format, ...) T_PRINTF(2, 3);

/* Arguments of a function are evaluated in any order; here `ok` comes first, so that the text can say what it found:
 * t_check(inquire(&n) == NC_NOERR && n == 3, "three, not %d", n). */
#define t_check(ok, ...) (t_ok = (ok), t_check_as(t_ok, __VA_ARGS__))
#define t_local(ok, ...) (t_ok = (ok), t_local_as(t_ok, __VA_ARGS__))

/* A file in the scratch folder, the same on every rank. The text is valid until the fourth call after this one. */
const char *t_path(const char *name);

/* A real data file, or NULL when the folder of real data is absent: then call t_skip. Valid as long as t_path's. */
const char *t_data(const char *name);

/* Whether the test is to take fewer cases (PNC_TEST_QUICK=1). The log then says that it does. */
bool t_quick(void);

/* Whether the test is to take all cases that it has (PNC_TEST_LONG=1). */
bool t_long(void);

/* One of three numbers of cases: if t_quick(), if neither, if t_long(). */
int t_choose(int quick, int usual, int most);

/* Whether files are classic: not in a run with PNC_TEST_FORMAT=netcdf4, where all new files are netCDF-4, and what is
 * about headers, offsets and limits of classic files is left out. */
bool t_classic(void);

/* Made by every rank or by rank 0 alone. Counts as one skipped check. */
void t_skip(const char *why);

/* Collective. MPI_Finalize. Returns the exit status for main. */
int t_finish(void);

#endif
