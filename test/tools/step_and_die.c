/* Started by test_death_random.py. step_and_die PHASE FILE LENGTH DELAY VICTIM: open FILE and take steps of this phase
 * until the rank VICTIM, or each (-1), is killed DELAY microseconds later. Rank 0 writes the number of steps that have
 * ended to FILE.steps. The file has dimensions t (records), z and x (LENGTH), variables fixed(x) and m000000(t, x) of
 * shorts, and attributes. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pnetcdf.h"

#define HISTORY 9000
#define RECORD 1 /* the variable */

enum { T, Z }; /* dimensions */

static const char *path;
static int ncid, rank, ranks, length;

static void check(int err, const char *what)
{
    if (err != NC_NOERR) {
        fprintf(stderr, "step_and_die: %s: %s\n", what, ncmpi_strerror(err));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void open_file(void)
{
    check(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
}

static void put_text(int varid, const char *name, char letter, int n)
{
    char text[HISTORY];

    memset(text, letter, sizeof text);
    check(ncmpi_put_att_text(ncid, varid, name, n, text), "put_att_text");
}

/* Elements first to first + n of a record. Element i of record r has the value (7 r + i) mod 30000. */
static void put_part(int r, int first, int n, int is_collective)
{
    MPI_Offset start[] = {r, first}, count[] = {1, n};
    short *values = malloc((size_t)n * sizeof *values + 1);

    for (int i = 0; i < n; i++)
        values[i] = (short)((7 * r + first + i) % 30000);
    if (is_collective)
        check(ncmpi_put_vara_short_all(ncid, RECORD, start, count, values), "put_vara_all");
    else
        check(ncmpi_put_vara_short(ncid, RECORD, start, count, values), "put_vara");
    free(values);
}

static int get_numrecs(void)
{
    MPI_Offset n;

    check(ncmpi_inq_dimlen(ncid, T, &n), "inq_dimlen");
    return (int)n;
}

/* --- the phases: step i --- */

static void grow_header(int i)
{
    char name[20];

    sprintf(name, "a%d", i);
    check(ncmpi_redef(ncid), "redef");
    put_text(NC_GLOBAL, name, 'a', 100 + i % 50);
    check(ncmpi__enddef(ncid, 0, 4, 0, 4), "enddef");
}

static void define(int i, int ndims, const int *dims)
{
    char name[20];
    int id;

    sprintf(name, "n%d", i);
    check(ncmpi_redef(ncid), "redef");
    check(ncmpi_set_fill(ncid, NC_FILL, NULL), "set_fill");
    check(ncmpi_def_var(ncid, name, NC_SHORT, ndims, dims, &id), "def_var");
    check(ncmpi__enddef(ncid, 0, 4, 0, 4), "enddef");
}

static void define_fixed(int i)
{
    const int dims[] = {Z};

    define(i, 1, dims);
}

static void define_record(int i)
{
    const int dims[] = {T, Z};

    define(i, 2, dims);
}

static void append(int i)
{
    int first = length * rank / ranks;

    (void)i;
    put_part(get_numrecs(), first, length * (rank + 1) / ranks - first, 1);
}

static void append_together(int i)
{
    for (int k = 0; k < 3; k++)
        append(i);
    check(ncmpi_sync(ncid), "sync");
}

/* A record of each rank. */
static void append_independently(void)
{
    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    put_part(get_numrecs() + rank, 0, length, 0);
}

static void sync_file(int i)
{
    (void)i;
    append_independently();
    check(ncmpi_sync(ncid), "sync");
    check(ncmpi_end_indep_data(ncid), "end_indep_data");
}

static void close_file(int i)
{
    if (i > 0)
        open_file();
    append_independently();
    check(ncmpi_close(ncid), "close");
}

/* In data mode, in turns: a long attribute, a short one, a name, the long one shorter. */
static void change(int i)
{
    int turn = i / 4, bytes = turn < HISTORY - 1 ? HISTORY - turn : 1;
    char name[20], letter = (char)('a' + turn % 26);

    sprintf(name, "m%06d", turn + 1);
    if (i % 4 == 0)
        put_text(NC_GLOBAL, "history", letter, bytes);
    else if (i % 4 == 1)
        put_text(RECORD, "units", letter, 8);
    else if (i % 4 == 2)
        check(ncmpi_rename_var(ncid, RECORD, name), "rename_var");
    else
        put_text(NC_GLOBAL, "history", letter, bytes > 1 ? bytes - 1 : 1);
}

static const struct phase {
    const char *name;
    void (*step)(int i);
} phases[] = {
    {"header", grow_header}, {"fixed", define_fixed}, {"records", define_record}, {"append", append},
    {"sync", sync_file},     {"close", close_file},   {"change", change},         {"deferred", append_together},
};

/* --- death --- */

static void *die_later(void *microseconds)
{
    long n = *(long *)microseconds;
    struct timespec time = {n / 1000000, n % 1000000 * 1000};

    nanosleep(&time, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

static void write_steps(int n)
{
    char name[300], text[20];
    int file, bytes = sprintf(text, "%6d\n", n);

    snprintf(name, sizeof name, "%s.steps", path);
    file = open(name, O_WRONLY | O_CREAT, 0600);
    if (file < 0 || pwrite(file, text, (size_t)bytes, 0) != bytes)
        check(NC_EWRITE, name);
    close(file);
}

static void take_steps(void (*step)(int))
{
    for (int i = 0;; i++) {
        step(i);
        if (rank == 0)
            write_steps(i + 1);
    }
}

int main(int argc, char **argv)
{
    long delay;
    pthread_t thread;
    int victim;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 6)
        check(NC_EINVAL, "arguments");
    path = argv[2];
    length = atoi(argv[3]);
    delay = atol(argv[4]);
    victim = atoi(argv[5]);
    open_file();
    if (rank == 0)
        write_steps(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if ((victim == rank || victim == -1) && pthread_create(&thread, NULL, die_later, &delay) != 0)
        check(NC_ENOMEM, "thread");
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (strcmp(phases[i].name, argv[1]) == 0)
            take_steps(phases[i].step);
    check(NC_EINVAL, argv[1]);
    return 0;
}
