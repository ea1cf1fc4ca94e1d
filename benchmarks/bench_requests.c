/* Many small nonblocking requests: time per request to post and to wait, and by how much memory grows.
 *
 * Each rank posts N requests of 32 bytes to places that interleave with those of the other ranks, waits for all of them
 * by one call, and reads them back the same way. Everything that was read is compared.
 * Usage: bench_requests [--requests N] [--dir FOLDER] */
#include "bench_calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { LENGTH = 8 }; /* ints of a request */

struct bench {
    int rank, nprocs, ncid, varid;
    long n;
    const char *dir;
    char path[1024];
    int *values, *got;
    long *order; /* of posting: along the file, or anywhere in it */
};

/* So that a run does not reuse memory that the previous one freed. */
static void return_free_memory(void)
{
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

enum way { IPUT, BPUT, IGET };

static void post(struct bench *b, enum way way)
{
    MPI_Offset count = LENGTH;
    for (long i = 0; i < b->n; i++) {
        long k = b->order[i];
        MPI_Offset start = ((MPI_Offset)k * b->nprocs + b->rank) * LENGTH;
        int *values = b->values + k * LENGTH, *got = b->got + k * LENGTH, code = NC_NOERR;
        switch (way) {
        case IPUT: code = ncmpi_iput_vara_int(b->ncid, b->varid, &start, &count, values, NULL); break;
        case BPUT: code = ncmpi_bput_vara_int(b->ncid, b->varid, &start, &count, values, NULL); break;
        case IGET: code = ncmpi_iget_vara_int(b->ncid, b->varid, &start, &count, got, NULL); break;
        }
        check(code, "post");
    }
}

static void run(struct bench *b, const char *name, enum way way)
{
    size_t bytes = (size_t)b->n * LENGTH * sizeof(int);
    double before, posted, waited, begin, middle, end;
    memset(b->got, 0, bytes);
    if (way == BPUT)
        check(ncmpi_buffer_attach(b->ncid, (MPI_Offset)bytes), "buffer_attach");
    MPI_Barrier(MPI_COMM_WORLD);
    return_free_memory();
    reset_peak();
    before = memory("VmRSS:");
    begin = MPI_Wtime();
    post(b, way);
    middle = MPI_Wtime();
    posted = memory("VmRSS:") - before;
    MPI_Barrier(MPI_COMM_WORLD);
    end = MPI_Wtime();
    check(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    end = MPI_Wtime() - end;
    waited = memory("VmHWM:") - before;
    if (way == BPUT)
        check(ncmpi_buffer_detach(b->ncid), "buffer_detach");
    if (way == IGET && memcmp(b->got, b->values, bytes) != 0)
        check(NC_EINTERNAL, "values differ");
    middle = most(middle - begin);
    end = most(end);
    posted = most(posted);
    waited = most(waited);
    if (b->rank == 0)
        printf("| %-22s | %9ld | %8.0f | %8.0f | %11.1f | %9.1f |\n", name, b->n, 1e9 * middle / (double)b->n,
               1e9 * end / (double)b->n, posted, waited);
}

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
    b->order = malloc((size_t)b->n * sizeof *b->order);
    if (b->values == NULL || b->got == NULL || b->order == NULL)
        check(NC_ENOMEM, "memory");
    for (size_t i = 0; i < ints; i++)
        b->values[i] = (int)(i * 2654435761u) + b->rank;
    for (long i = 0; i < b->n; i++)
        b->order[i] = i;
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
        else if (strcmp(argv[i], "--dir") == 0)
            b.dir = argv[i + 1];
    }
    prepare(&b);
    make_file(&b);
    if (b.rank == 0)
        printf(
            "%d ranks, requests of 32 bytes that interleave\n\n"
            "| requests               |  per rank |  post ns |  wait ns | pending MiB |  peak MiB |\n"
            "|---|---|---|---|---|---|\n",
            b.nprocs);
    run(&b, "iput along the file", IPUT);
    run(&b, "iget along the file", IGET);
    run(&b, "bput along the file", BPUT);
    run(&b, "iget along the file", IGET);
    shuffle(b.order, b.n);
    run(&b, "iput in random order", IPUT);
    run(&b, "iget in random order", IGET);
    check(ncmpi_close(b.ncid), "close");
    if (b.rank == 0)
        unlink(b.path);
    free(b.values);
    free(b.got);
    free(b.order);
    MPI_Finalize();
    return 0;
}
