/* Many small nonblocking requests: time per request to post and to wait, and by how much memory grows.
 *
 * Each rank posts N requests of 32 bytes to places that interleave with those of the other ranks, waits for all of them
 * by one call, and reads them back the same way. Everything that was read is compared.
 * With --scaling it measures N, N/10 and N/100 requests in turn, as many in all of each number, after one list that is
 * not timed. It prints medians and minima of the CPU time per request, and those of copies of 32 bytes in the same
 * order.
 * Usage: bench_requests [--requests N] [--scaling ROUNDS] [--dir FOLDER] */
#include "bench_calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { LENGTH = 8 /* ints of a request */, SIZES = 3 /* N, N/10, N/100 */, MOST_ROUNDS = 99 };

/* Of posting: along the file and memory; anywhere in the file, along memory; anywhere in both. */
enum order { ALONG, SCATTERED, SHUFFLED, ORDERS };
static const char *const order_names[] = {"along the file", "scattered in the file", "in random order"};

/* The limits: copies that the processor may overlap, and copies each of which needs a value of the one before it. */
enum way { IPUT, BPUT, IGET, COPY, COPY_IN_TURN, WAYS };
static const char *const way_names[] = {"iput", "bput", "iget", "copy", "copy in turn"};

struct bench {
    int rank, nprocs, ncid, varid;
    long n, rounds;
    const char *dir;
    char path[1024];
    int *values, *got;
    long *shuffled, zero;
    enum order order;
};

/* So that a run does not reuse memory that the previous one freed, or that the file keeps for the next requests. */
static void return_free_memory(struct bench *b)
{
    check(ncmpi_close(b->ncid), "close");
    check(ncmpi_open(MPI_COMM_WORLD, b->path, NC_WRITE, MPI_INFO_NULL, &b->ncid), "open");
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* Memory in MiB: a line of /proc/self/status, 0 where the system has no such file. VmHWM is the peak since the last
 * reset. */
static double memory(const char *line)
{
    FILE *status = fopen("/proc/self/status", "r");
    char text[256];
    long kib = 0;
    while (status != NULL && fgets(text, sizeof text, status) != NULL)
        if (strncmp(text, line, strlen(line)) == 0)
            kib = strtol(text + strlen(line), NULL, 10);
    if (status != NULL)
        fclose(status);
    return (double)kib / 1024;
}

static void reset_peak(void)
{
    FILE *refs = fopen("/proc/self/clear_refs", "w");
    if (refs == NULL)
        return;
    fputs("5", refs); /* proc(5): resets the peak resident set size */
    fclose(refs);
}

static double most(double own)
{
    double all;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* Copy values to where an iput would keep them. */
static void copy(const struct bench *b, enum way way, long from, long to)
{
    if (way == COPY_IN_TURN)
        from += b->got[b->n * LENGTH - 1] & b->zero; /* what the copy before this one wrote */
    memcpy(b->got + to * LENGTH, b->values + from * LENGTH, LENGTH * sizeof *b->got);
    if (way == COPY_IN_TURN)
        b->got[b->n * LENGTH - 1] = b->got[to * LENGTH];
}

/* Post requests of this kind, or copy. */
static void post(struct bench *b, enum way way)
{
    MPI_Offset count = LENGTH;
    for (long i = 0; i < b->n; i++) {
        long k = b->order == ALONG ? i : b->shuffled[i], m = b->order == SHUFFLED ? k : i;
        MPI_Offset start = ((MPI_Offset)k * b->nprocs + b->rank) * LENGTH;
        int *values = b->values + m * LENGTH, *got = b->got + m * LENGTH, code = NC_NOERR;
        switch (way) {
        case IPUT: code = ncmpi_iput_vara_int(b->ncid, b->varid, &start, &count, values, NULL); break;
        case BPUT: code = ncmpi_bput_vara_int(b->ncid, b->varid, &start, &count, values, NULL); break;
        case IGET: code = ncmpi_iget_vara_int(b->ncid, b->varid, &start, &count, got, NULL); break;
        default: copy(b, way, m, b->order == SCATTERED ? k : i);
        }
        check(code, "post");
    }
}

static size_t count_bytes(const struct bench *b)
{
    return (size_t)b->n * LENGTH * sizeof(int);
}

static void begin(struct bench *b, enum way way)
{
    memset(b->got, 0, count_bytes(b));
    if (way == BPUT)
        check(ncmpi_buffer_attach(b->ncid, (MPI_Offset)count_bytes(b)), "buffer_attach");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end(struct bench *b, enum way way)
{
    if (way == BPUT)
        check(ncmpi_buffer_detach(b->ncid), "buffer_detach");
    if (way == IGET && memcmp(b->got, b->values, count_bytes(b)) != 0)
        check(NC_EINTERNAL, "values differ");
}

/* Seconds of this rank. */
static double time_post(struct bench *b, enum way way)
{
    double start = MPI_Wtime();
    post(b, way);
    return MPI_Wtime() - start;
}

static double time_wait(struct bench *b)
{
    double start;
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    check(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    return MPI_Wtime() - start;
}

/* A line of the table of times and memory. */
static void run(struct bench *b, enum way way)
{
    double before, pending, peak, posted, waited;
    char name[64];
    return_free_memory(b);
    begin(b, way);
    reset_peak();
    before = memory("VmRSS:");
    posted = most(time_post(b, way));
    pending = most(memory("VmRSS:") - before);
    waited = most(time_wait(b));
    peak = most(memory("VmHWM:") - before);
    end(b, way);
    snprintf(name, sizeof name, "%s %s", way_names[way], order_names[b->order]);
    if (b->rank == 0)
        printf("| %-26s | %9ld | %8.0f | %8.0f | %11.1f | %9.1f |\n", name, b->n, 1e9 * posted / (double)b->n,
               1e9 * waited / (double)b->n, pending, peak);
}

/* --- scaling --- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of CPU time per request, of `times` lists, on the rank that takes most. */
static double measure(struct bench *b, enum way way, long times)
{
    double sum = 0;
    for (long i = 0; i < times; i++) {
        begin(b, way);
        sum -= cpu_now();
        post(b, way);
        if (way < COPY)
            check(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
        sum += cpu_now();
        end(b, way);
    }
    return 1e9 * most(sum) / (double)(b->n * times);
}

/* A random order of the first n numbers. */
static void shuffle_first(struct bench *b, long n)
{
    b->n = n;
    for (long i = 0; i < n; i++)
        b->shuffled[i] = i;
    shuffle(b->shuffled, n);
}

static void print_scaling(const struct bench *b, enum way way, double ns[SIZES][MOST_ROUNDS])
{
    double median[SIZES];
    char name[64];
    for (int k = 0; k < SIZES; k++) {
        qsort(ns[k], (size_t)b->rounds, sizeof ns[k][0], compare_numbers);
        median[k] = ns[k][b->rounds / 2];
    }
    snprintf(name, sizeof name, "%s %s", way_names[way], order_names[b->order]);
    if (b->rank == 0)
        printf("| %-34s | %7.1f | %7.1f | %7.1f | %5.2f | %7.1f | %7.1f | %7.1f | %5.2f |\n", name, median[2],
               median[1], median[0], median[0] / median[2], ns[2][0], ns[1][0], ns[0][0], ns[0][0] / ns[2][0]);
}

/* All lines of an order. Igets read what iputs have written in the same order. */
static void run_scaling(struct bench *b, enum order order)
{
    static double ns[WAYS][SIZES][MOST_ROUNDS];
    long n = b->n, ratio = 1;
    b->order = order;
    for (long round = 0; round < b->rounds; round++) {
        ratio = 1;
        for (int k = 0; k < SIZES; k++, ratio *= 10) {
            shuffle_first(b, n / ratio);
            measure(b, IPUT, 1); /* a longer list than the one before takes memory that the system must find first */
            for (int way = 0; way < WAYS; way++)
                ns[way][k][round] = measure(b, (enum way)way, ratio);
        }
    }
    b->n = n;
    for (int way = 0; way < WAYS; way++)
        print_scaling(b, (enum way)way, ns[way]);
}

/* --- all --- */

static void make_file(struct bench *b)
{
    int dim;
    snprintf(b->path, sizeof b->path, "%s/bench_requests.nc", b->dir);
    check(ncmpi_create(MPI_COMM_WORLD, b->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &b->ncid), "create");
    check(ncmpi_def_dim(b->ncid, "x", (MPI_Offset)b->n * b->nprocs * LENGTH, &dim), "def_dim");
    check(ncmpi_def_var(b->ncid, "v", NC_INT, 1, &dim, &b->varid), "def_var");
    check(ncmpi_enddef(b->ncid), "enddef");
}

static void prepare(struct bench *b)
{
    size_t ints = (size_t)b->n * LENGTH;
    b->values = malloc(ints * sizeof(int));
    b->got = malloc(ints * sizeof(int));
    b->shuffled = malloc((size_t)b->n * sizeof *b->shuffled);
    if (b->values == NULL || b->got == NULL || b->shuffled == NULL)
        check(NC_ENOMEM, "memory");
    for (size_t i = 0; i < ints; i++)
        b->values[i] = (int)(i * 2654435761u) + b->rank;
    memset(b->got, 0, ints * sizeof(int));
    shuffle_first(b, b->n);
}

static void print_tables(struct bench *b)
{
    if (b->rank == 0)
        printf("%d ranks, requests of 32 bytes that interleave\n\n", b->nprocs);
    if (b->rank == 0 && b->rounds > 0)
        printf(
            "| CPU ns per request                 | %7ld | %7ld | %7ld | ratio | least |  |  | ratio |\n"
            "|---|---|---|---|---|---|---|---|---|\n",
            b->n / 100, b->n / 10, b->n);
    else if (b->rank == 0)
        printf(
            "| requests                   |  per rank |  post ns |  wait ns | pending MiB |  peak MiB |\n"
            "|---|---|---|---|---|---|\n");
    for (b->order = ALONG; b->order < ORDERS; b->order++) {
        if (b->rounds > 0) {
            run_scaling(b, b->order);
            continue;
        }
        run(b, IPUT);
        run(b, IGET);
        run(b, BPUT);
        run(b, IGET);
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.n = 1000000, .dir = "/dev/shm"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.nprocs);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--requests") == 0)
            b.n = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--scaling") == 0)
            b.rounds = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--dir") == 0)
            b.dir = argv[i + 1];
    }
    if (b.n < 100 || b.rounds < 0 || b.rounds > MOST_ROUNDS)
        check(NC_EINVAL, "100 requests or more, and at most 99 rounds");
    prepare(&b);
    make_file(&b);
    print_tables(&b);
    check(ncmpi_close(b.ncid), "close");
    if (b.rank == 0)
        unlink(b.path);
    free(b.values);
    free(b.got);
    free(b.shuffled);
    MPI_Finalize();
    return 0;
}
