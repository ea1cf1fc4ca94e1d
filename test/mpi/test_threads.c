/* Threads of one rank that use different files at the same time, under MPI_THREAD_MULTIPLE: all with MPI_COMM_SELF, and
 * each with a communicator of its own, together with the same thread of the other ranks. Every file has the values of a
 * formula, and each thread sees only its own errors. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"

#define THREADS 4
#define ROWS 12
#define COLUMNS 40

typedef struct worker {
    int number; /* of the thread */
    int rounds;
    MPI_Comm comm;
    const char *driver;
    int rank, nprocs; /* in comm */
    char folder[3000], path[3100];
    int wrong;       /* checks that failed */
    char first[512]; /* what the first of them says */
} worker;

static pthread_barrier_t start_line;

static void expect(worker *w, bool ok, const char *what, int64_t detail)
{
    if (!ok && w->wrong++ == 0)
        snprintf(w->first, sizeof w->first, "thread %d: %s (%lld)", w->number, what, (long long)detail);
}

static int value_of(const worker *w, int round, int64_t i)
{
    return (int)(i * 7 + w->number * 100003 + round * 1009);
}

static void define(worker *w, int ncid, int round)
{
    int dims[2], varid, err;
    char name[32];

    snprintf(name, sizeof name, "only_in_%d_%d", w->number, round);
    err = ncmpi_def_dim(ncid, "row", NC_UNLIMITED, &dims[0]);
    expect(w, err == NC_NOERR, "def_dim", err);
    err = ncmpi_def_dim(ncid, name, (MPI_Offset)COLUMNS * w->nprocs, &dims[1]);
    expect(w, err == NC_NOERR, "def_dim", err);
    ncmpi_def_var(ncid, "blocking", NC_INT, 2, dims, &varid);
    ncmpi_def_var(ncid, "posted", NC_DOUBLE, 2, dims, &varid);
    ncmpi_put_att_int(ncid, NC_GLOBAL, "thread", NC_INT, 1, &w->number);
    ncmpi_put_att_text(ncid, varid, "only", (MPI_Offset)strlen(name), name);
    err = ncmpi_enddef(ncid);
    expect(w, err == NC_NOERR, "enddef", err);
}

/* Each rank has its columns: small pieces that interleave, which the ranks exchange. */
static void write_file(worker *w, int round)
{
    MPI_Offset start[2] = {0, (MPI_Offset)COLUMNS * w->rank}, count[2] = {ROWS, COLUMNS}, line[2] = {1, COLUMNS};
    int ncid, err, values[ROWS * COLUMNS];
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_driver", w->driver);
    err = ncmpi_create(w->comm, w->path, NC_CLOBBER | (round % 2 ? NC_64BIT_DATA : 0), info, &ncid);
    MPI_Info_free(&info);
    expect(w, err == NC_NOERR, "create", err);
    if (err != NC_NOERR)
        return;
    define(w, ncid, round);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = value_of(w, round, i + w->rank);
    err = ncmpi_put_vara_int_all(ncid, 0, start, count, values);
    expect(w, err == NC_NOERR, "put_vara_int_all", err);
    for (int row = ROWS - 1; row >= 0; row--) {
        start[0] = row;
        err = ncmpi_iput_vara_int(ncid, 1, start, line, values + row * COLUMNS, NULL);
        expect(w, err == NC_NOERR, "iput_vara_int", err);
    }
    err = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
    expect(w, err == NC_NOERR, "wait_all", err);
    err = ncmpi_close(ncid);
    expect(w, err == NC_NOERR, "close", err);
}

static void look_around(worker *w, int ncid, int round)
{
    char name[NC_MAX_NAME + 1] = "", wanted[32], path[3200] = "";
    int thread = -1, n = 0;
    MPI_Offset rows = 0;

    snprintf(wanted, sizeof wanted, "only_in_%d_%d", w->number, round);
    expect(w, ncmpi_inq_dimname(ncid, 1, name) == NC_NOERR && strcmp(name, wanted) == 0, "name of a dimension", 0);
    memset(name, 0, sizeof name);
    expect(w, ncmpi_get_att_text(ncid, 1, "only", name) == NC_NOERR && strcmp(name, wanted) == 0, "text attribute", 0);
    expect(w, ncmpi_get_att_int(ncid, NC_GLOBAL, "thread", &thread) == NC_NOERR && thread == w->number, "int attribute",
           thread);
    expect(w, ncmpi_inq_dimlen(ncid, 0, &rows) == NC_NOERR && rows == ROWS, "number of records", rows);
    expect(w, ncmpi_inq_path(ncid, NULL, path) == NC_NOERR && strcmp(path, w->path) == 0, "path", 0);
    expect(w, ncmpi_inq_files_opened(&n, NULL) == NC_NOERR && n >= 1 && n <= THREADS, "files opened", n);
}

/* Every thread fails in its own way, at the same time, and reads its own message. */
static void fail_on_purpose(worker *w, int ncid)
{
    char message[NC_MAX_MESSAGE] = "", wanted[64];
    int code = 0, bad = 50000 + w->number, unknown = -5000 - w->number;

    for (int i = 0; i < 20; i++) {
        ncmpi_inq_varname(ncid, bad, NULL);
        snprintf(wanted, sizeof wanted, "id %d", bad);
        expect(w,
               ncmpi_inq_last_error(NC_GLOBAL, &code, message) == NC_NOERR && code == NC_ENOTVAR &&
                   strstr(message, wanted) != NULL && strstr(message, w->path) != NULL,
               "message of another failure", code);
        ncmpi_inq_ndims(bad, NULL);
        snprintf(wanted, sizeof wanted, "ncid is %d", bad);
        expect(w,
               ncmpi_inq_last_error(NC_GLOBAL, &code, message) == NC_NOERR && code == NC_EBADID &&
                   strstr(message, wanted) != NULL,
               "message of another bad ncid", code);
        expect(w, strstr(ncmpi_strerror(NC_EBADID), wanted) != NULL, "sentence of another bad ncid", code);
        snprintf(wanted, sizeof wanted, "%d", unknown);
        expect(w, strstr(ncmpi_strerror(unknown), wanted) != NULL, "text of another unknown code", unknown);
    }
}

static void read_file(worker *w, int round)
{
    MPI_Offset start[2] = {0, (MPI_Offset)COLUMNS * w->rank}, count[2] = {ROWS, COLUMNS};
    int ncid, err, got[ROWS * COLUMNS];
    double posted[ROWS * COLUMNS];
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_driver", w->driver);
    err = ncmpi_open(w->comm, w->path, NC_NOWRITE, info, &ncid);
    expect(w, err == NC_NOERR, "open", err);
    if (err == NC_NOERR) {
        look_around(w, ncid, round);
        fail_on_purpose(w, ncid);
        err = ncmpi_get_vara_int_all(ncid, 0, start, count, got);
        expect(w, err == NC_NOERR, "get_vara_int_all", err);
        err = ncmpi_iget_vara_double(ncid, 1, start, count, posted, NULL);
        expect(w, err == NC_NOERR, "iget_vara_double", err);
        err = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
        expect(w, err == NC_NOERR, "wait_all", err);
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            int wanted = value_of(w, round, i + w->rank);
            expect(w, got[i] == wanted, "a value put by put_vara", i);
            expect(w, posted[i] == wanted, "a value put by iput_vara", i);
        }
        err = ncmpi_close(ncid);
        expect(w, err == NC_NOERR, "close", err);
    }
    if (w->rank == 0)
        expect(w, ncmpi_delete(w->path, info) == NC_NOERR, "delete", 0);
    MPI_Info_free(&info);
}

/* Headers in CDL are shared state as well. */
static void read_cdl(worker *w)
{
    char path[3200];
    MPI_Offset length = 0;
    int hid, err;
    FILE *file;

    snprintf(path, sizeof path, "%s.cdl", w->path);
    file = fopen(path, "w");
    if (file == NULL) {
        expect(w, false, "fopen", 0);
        return;
    }
    fprintf(file, "netcdf t {\ndimensions:\n\tx = %d ;\n}\n", 100 + w->number);
    fclose(file);
    err = cdl_hdr_open(path, &hid);
    expect(w, err == NC_NOERR, "cdl_hdr_open", err);
    if (err == NC_NOERR) {
        err = cdl_hdr_inq_dim(hid, 0, NULL, &length);
        expect(w, err == NC_NOERR && length == 100 + w->number, "length in CDL", length);
        expect(w, cdl_hdr_close(hid) == NC_NOERR, "cdl_hdr_close", 0);
    }
    unlink(path);
}

/* Opening duplicates the communicator first: here that takes most of the time, on several threads at once. */
static void *open_missing(void *argument)
{
    worker *w = argument;

    snprintf(w->path, sizeof w->path, "%s-missing-%d.nc", w->folder, w->number);
    pthread_barrier_wait(&start_line);
    for (int round = 0; round < w->rounds; round++) {
        int ncid, err = ncmpi_open(w->comm, w->path, NC_NOWRITE, MPI_INFO_NULL, &ncid);

        expect(w, err == NC_ENOENT, "open of a missing file", err);
    }
    return NULL;
}

static void *work(void *argument)
{
    worker *w = argument;
    int rank, old, format;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_wait(&start_line);
    for (int round = 0; round < w->rounds; round++) {
        snprintf(w->path, sizeof w->path, "%s-%d-%d.nc", w->folder, w->nprocs > 1 ? 0 : rank, w->number);
        write_file(w, round);
        read_file(w, round);
        if (w->nprocs == 1)
            read_cdl(w);
        expect(w, ncmpi_set_default_format(NC_FORMAT_CLASSIC, &old) == NC_NOERR && old == NC_FORMAT_CLASSIC,
               "set_default_format", old);
        expect(w, ncmpi_inq_default_format(&format) == NC_NOERR && format == NC_FORMAT_CLASSIC, "inq_default_format",
               format);
    }
    return NULL;
}

/* comms: one for each thread. */
static void run(const char *what, void *(*body)(void *), const MPI_Comm *comms, const char *driver, int rounds)
{
    worker *workers = calloc(THREADS, sizeof *workers);
    pthread_t threads[THREADS];

    pthread_barrier_init(&start_line, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        worker *w = &workers[t];
        *w = (worker){.number = t, .rounds = rounds, .comm = comms[t], .driver = driver};
        MPI_Comm_rank(w->comm, &w->rank);
        MPI_Comm_size(w->comm, &w->nprocs);
        snprintf(w->folder, sizeof w->folder, "%s", t_path("threads"));
        if (pthread_create(&threads[t], NULL, body, w) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        t_local(workers[t].wrong == 0, "%s: %s", what, workers[t].first);
    }
    pthread_barrier_destroy(&start_line);
    free(workers);
    t_check(true, "%d threads, %s, %d rounds each", THREADS, what, rounds);
}

int main(int argc, char **argv)
{
    bool can = t_start_threaded(&argc, &argv, MPI_THREAD_MULTIPLE);
    int rounds = t_choose(3, 5, 50);
    MPI_Comm self[THREADS], apart[THREADS], mixed[THREADS];

    if (!can) {
        t_skip("this MPI library does not provide MPI_THREAD_MULTIPLE");
        return t_finish();
    }
    for (int t = 0; t < THREADS; t++) {
        self[t] = MPI_COMM_SELF;
        MPI_Comm_dup(MPI_COMM_WORLD, &apart[t]);
        MPI_Comm_split(MPI_COMM_WORLD, 0, (t_rank + t) % t_nprocs, &mixed[t]);
    }
    run("all with MPI_COMM_SELF", work, self, "mpiio", rounds);
    run("all with MPI_COMM_SELF, files in memory", work, self, "memory", 3 * rounds);
    run("each with its duplicate of MPI_COMM_WORLD", work, apart, "mpiio", rounds);
    run("each with a communicator of another order, whose rank 0 is elsewhere", work, mixed, "mpiio", rounds);
    run("each opens missing files with a communicator of another order", open_missing, mixed, "mpiio", 10 * rounds);
    for (int t = 0; t < THREADS; t++) {
        MPI_Comm_free(&apart[t]);
        MPI_Comm_free(&mixed[t]);
    }
    return t_finish();
}
