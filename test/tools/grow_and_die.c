/* Started by test_death.py. grow FILE CHUNK TEXT FIXED RECORD MEMORY RANK COUNT TORN: add to the header of a file, so
 * that data move, as on a disk or (MEMORY 1) as in memory, and kill this rank at its operation COUNT on the file, or
 * within it. If TEXT is negative: change the attribute "history" in data mode, to this number of other bytes. open
 * FILE: print the codes of opening it for reading, and then for writing. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset/registry.h"
#include "grow.h"

static pnc_store_ops deadly;
static const pnc_store_ops *real;
static long count, dies_at;
static int torn;

/* Whether this rank dies now. */
static int is_last(void)
{
    return count++ == dies_at;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

static int deadly_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    if (is_last()) {
        pnc_extent half = {extents[0].offset, extents[0].length / 2};

        if (torn)
            real->write(store, &half, 1, buf, error);
        die();
    }
    return real->write(store, extents, n, buf, error);
}

static int deadly_sync(pnc_store *store, pnc_error *error)
{
    if (is_last())
        die();
    return real->sync(store, error);
}

static int deadly_set_size(pnc_store *store, int64_t size, pnc_error *error)
{
    if (is_last())
        die();
    return real->set_size(store, size, error);
}

static void check(int err, const char *what)
{
    grow_check(err, "grow_and_die", what);
}

static void grow(char **arguments)
{
    int ncid, rank, text = atoi(arguments[2]);
    pnc_dataset *ds;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check(ncmpi_open(MPI_COMM_WORLD, arguments[0], NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    ds = pnc_dataset_registry_peek(ncid);
    ds->hints.format.data_move_chunk = atol(arguments[1]);
    if (text >= 0) {
        check(ncmpi_redef(ncid), "redef");
        grow_define(ncid, "grow_and_die", text, atoi(arguments[3]), atoi(arguments[4]));
    }
    ds->file.store->striping.in_memory = atoi(arguments[5]) != 0;
    dies_at = atoi(arguments[6]) == rank ? atol(arguments[7]) : -1;
    torn = atoi(arguments[8]);
    real = ds->file.store->ops;
    deadly = *real;
    deadly.write = deadly_write;
    deadly.sync = deadly_sync;
    deadly.set_size = deadly_set_size;
    ds->file.store->ops = &deadly;
    if (text < 0)
        check(grow_change_history(ncid, -text), "put_att");
    else
        check(ncmpi__enddef(ncid, 0, 4, 0, 4), "enddef");
    ds->file.store->ops = real;
    check(ncmpi_close(ncid), "close");
}

static void open_twice(const char *path)
{
    int rank, ncid, codes[2];

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++) {
        codes[i] = ncmpi_open(MPI_COMM_WORLD, path, i == 0 ? NC_NOWRITE : NC_WRITE, MPI_INFO_NULL, &ncid);
        if (codes[i] == NC_NOERR)
            check(ncmpi_close(ncid), "close");
    }
    if (rank == 0)
        printf("%d %d\n", codes[0], codes[1]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc == 11 && strcmp(argv[1], "grow") == 0)
        grow(argv + 2);
    else if (argc == 3 && strcmp(argv[1], "open") == 0)
        open_twice(argv[2]);
    else
        check(NC_EINVAL, "arguments");
    MPI_Finalize();
    return 0;
}
