/* Patterns of PNETCDF_HINTS that match no file: a typing error, or a program that names its files otherwise.
 *
 * A file may be open on other ranks only. So each rank that has opened one combines what it knows with the others when
 * MPI_Finalize begins, by a reduction that does not block: ranks that have opened no file do not take part. Then it
 * does not complete, and after FINAL_SECONDS rank 0 prints what it knows as such. */
#include "dataset/patterns.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "dataset/hints_text.h"
#include "file/finalize.h"

#define MOST_PATTERNS 64 /* a bit each; further ones are not looked at */
#define FINAL_SECONDS 2  /* a guess: ranks that end together begin MPI_Finalize in less */

static struct {
    pthread_mutex_t lock;
    uint64_t list;    /* a digest of the value of PNETCDF_HINTS */
    uint64_t matched; /* its patterns that match a file of this rank */
    bool is_prepared; /* the function for MPI_Finalize has been added: with PNETCDF_HINTS_DISPLAY */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* MPI may use it until the program ends. */
static uint64_t matched_here, matched_anywhere;

static uint64_t digest_list(const char *list)
{
    return pnc_digest_add(PNC_DIGEST_START, list, (int64_t)strlen(list));
}

/* --- a file --- */

static uint64_t find_matched(int n, const char **patterns, const char *path)
{
    uint64_t matched = 0;

    for (int i = 0; i < n; i++)
        if (pnc_dataset_pattern_is_match(patterns[i], path))
            matched |= UINT64_C(1) << i;
    return matched;
}

/* Programs may change the environment: the patterns of the last list count. */
static void add_matched(uint64_t list, uint64_t matched)
{
    pthread_mutex_lock(&known.lock);
    if (known.list != list)
        known.matched = 0;
    known.list = list;
    known.matched |= matched;
    pthread_mutex_unlock(&known.lock);
}

static int print_unmatched(MPI_Comm comm, int key, void *value, void *extra);

static void prepare_end(void)
{
    pthread_mutex_lock(&known.lock);
    if (!known.is_prepared)
        known.is_prepared = pnc_file_finalize_add(print_unmatched);
    pthread_mutex_unlock(&known.lock);
}

/* A launcher may set the variable on some ranks only: the others take part at the end, too. */
void pnc_dataset_patterns_add(const pnc_dataset *ds)
{
    const char *given = getenv("PNETCDF_HINTS"), *patterns[MOST_PATTERNS];
    char *list;
    int n;

    if (!ds->hints.access.display)
        return;
    prepare_end();
    list = given != NULL ? pnc_string_copy(given) : NULL;
    n = list != NULL ? pnc_dataset_hints_list_patterns(list, MOST_PATTERNS, patterns) : 0;
    if (n > 0)
        add_matched(digest_list(given), find_matched(n, patterns, ds->file.path));
    pnc_memory_free(list);
}

/* --- the end --- */

/* Whether the ranks of MPI_COMM_WORLD have combined what they know. */
static bool combine(int rank)
{
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_complete;

    is_complete = MPI_Ireduce(&matched_here, &matched_anywhere, 1, MPI_UINT64_T, MPI_BOR, 0, MPI_COMM_WORLD,
                              &request) == MPI_SUCCESS &&
                  pnc_file_finalize_wait(&request, FINAL_SECONDS);
    if (rank == 0 && !is_complete)
        matched_anywhere = matched_here;
    return is_complete;
}

static void print_list(const char *given, bool is_complete)
{
    char *list = pnc_string_copy(given);
    const char *patterns[MOST_PATTERNS];
    int n = list != NULL ? pnc_dataset_hints_list_patterns(list, MOST_PATTERNS, patterns) : 0;

    for (int i = 0; i < n; i++)
        if ((matched_anywhere >> i & 1) == 0)
            fprintf(stderr, "PnetCDF: PNETCDF_HINTS: the pattern \"%s\" matches no file that %s\n", patterns[i],
                    is_complete ? "was opened" : "rank 0 has opened, and not all ranks have reported theirs");
    pnc_memory_free(list);
}

static int print_unmatched(MPI_Comm comm, int key, void *value, void *extra)
{
    const char *given = getenv("PNETCDF_HINTS");
    bool is_complete;
    int rank;

    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    matched_here = known.matched;
    is_complete = combine(rank);
    if (rank == 0 && given != NULL && digest_list(given) == known.list)
        print_list(given, is_complete);
    return MPI_SUCCESS;
}
