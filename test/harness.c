/* Checks of MPI test programs: the ranks agree on each result; rank 0 gathers the messages of failing ranks. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_SIZE 1024
#define PATH_SIZE 4096
#define PATHS 4

int t_rank, t_nprocs;
bool t_ok;

static MPI_Comm harness_comm; /* a test may mishandle MPI_COMM_WORLD; the report must still arrive */
static int checks, failed_checks;
static int local_failures; /* since the last t_check */
static char local_text[TEXT_SIZE];

bool t_start_threaded(int *argc, char ***argv, int wanted)
{
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(argc, argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &t_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t_nprocs);
    MPI_Comm_dup(MPI_COMM_WORLD, &harness_comm);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was checked before a crash must not be lost in a buffer */
    return provided >= wanted;
}

void t_start(int *argc, char ***argv)
{
    const char *wanted = getenv("PNC_TEST_THREAD_LEVEL");
    int level = MPI_THREAD_SINGLE;

    if (wanted != NULL && strcmp(wanted, "multiple") == 0)
        level = MPI_THREAD_MULTIPLE;
    else if (wanted != NULL && strcmp(wanted, "funneled") == 0)
        level = MPI_THREAD_FUNNELED;
    t_start_threaded(argc, argv, level);
}

/* A TAP description is one line, and " #" would begin a directive. */
static void text_flatten(char *text)
{
    for (; *text; text++) {
        if (*text == '\n' || *text == '\r')
            *text = ' ';
        else if (*text == '#')
            *text = '+';
    }
}

/* What this rank has to say about a failed check; empty where it has not failed. */
static void text_compose(char *out, bool ok, const char *text)
{
    out[0] = '\0';
    if (local_failures > 1)
        snprintf(out, TEXT_SIZE, "%.*s (and %d more)", TEXT_SIZE - 32, local_text, local_failures - 1);
    else if (local_failures == 1)
        snprintf(out, TEXT_SIZE, "%s", local_text);
    else if (!ok)
        snprintf(out, TEXT_SIZE, "%s", text);
}

static void report_failure(bool ok, const char *text)
{
    char mine[TEXT_SIZE];
    text_compose(mine, ok, text);
    char *all = t_rank == 0 ? malloc((size_t)t_nprocs * TEXT_SIZE) : NULL;
    if (t_rank == 0 && all == NULL) {
        printf("Bail out! no memory for a report\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Gather(mine, TEXT_SIZE, MPI_CHAR, all, TEXT_SIZE, MPI_CHAR, 0, harness_comm);
    if (t_rank == 0) {
        printf("not ok - %s\n", text);
        for (int rank = 0; rank < t_nprocs; rank++) {
            if (all[(size_t)rank * TEXT_SIZE])
                printf("#   rank %d of %d: %s\n", rank, t_nprocs, all + (size_t)rank * TEXT_SIZE);
        }
    }
    free(all);
    failed_checks++;
}

static bool record(bool ok, const char *text)
{
    int bad = !ok || local_failures > 0, any;
    checks++;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, harness_comm);
    if (any)
        report_failure(ok, text);
    else if (t_rank == 0)
        printf("ok - %s\n", text);
    local_failures = 0;
    return !any;
}

bool t_check_as(bool ok, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_flatten(text);
    return record(ok, text);
}

bool t_local_as(bool ok, const char *format, ...)
{
    if (ok || local_failures++ > 0)
        return ok;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(local_text, sizeof local_text, format, arguments);
    va_end(arguments);
    text_flatten(local_text);
    return ok;
}

static const char *path_join(const char *folder, const char *rest, const char *name)
{
    static char paths[PATHS][PATH_SIZE];
    static int next;
    char *path = paths[next++ % PATHS];
    if (snprintf(path, PATH_SIZE, "%s%s/%s", folder, rest, name) >= PATH_SIZE) {
        fprintf(stderr, "test path is too long: %s%s/%s\n", folder, rest, name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return path;
}

const char *t_path(const char *name)
{
    const char *folder = getenv("PNC_TEST_TMP");
    return path_join(folder && *folder ? folder : ".", "", name);
}

/* run-mpi always sets PNC_TEST_DATA; srcdir, which automake sets, serves a test that is started by hand. */
const char *t_data(const char *name)
{
    const char *folder = getenv("PNC_TEST_DATA"), *rest = "";
    if (folder == NULL || !*folder) {
        folder = getenv("srcdir");
        rest = "/../shared/data";
    }
    struct stat status;
    if (folder == NULL || stat(path_join(folder, rest, "."), &status) != 0)
        return NULL;
    return path_join(folder, rest, name);
}

bool t_quick(void)
{
    static bool is_reported;
    const char *quick = getenv("PNC_TEST_QUICK");
    if (quick == NULL || !*quick || strcmp(quick, "0") == 0)
        return false;
    if (t_rank == 0 && !is_reported)
        printf("# quick: fewer cases\n");
    is_reported = true;
    return true;
}

bool t_long(void)
{
    const char *wanted = getenv("PNC_TEST_LONG");

    return wanted != NULL && strcmp(wanted, "1") == 0;
}

int t_choose(int quick, int usual, int most)
{
    if (t_quick())
        return quick;
    return t_long() ? most : usual;
}

bool t_classic(void)
{
    const char *format = getenv("PNC_TEST_FORMAT");

    return format == NULL || strcmp(format, "netcdf4") != 0;
}

void t_skip(const char *why)
{
    if (t_rank != 0)
        return;
    printf("ok - # SKIP %s\n", why);
    checks++;
}

int t_finish(void)
{
    int failures = local_failures, all;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, harness_comm);
    if (all > 0)
        record(true, "local checks before the end");
    if (t_rank == 0) /* shows run-mpi that the test is complete and no line is lost */
        printf("# finished after %d checks\n", checks);
    MPI_Comm_free(&harness_comm);
    MPI_Finalize();
    return failed_checks > 0;
}
