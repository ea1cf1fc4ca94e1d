/* Started by test_live_writer.py. move FILE CHUNK TEXT FIXED RECORD RANK HOW COUNT: add to the header of a file, so
 * that data move, and print the codes of ncmpi__enddef on all ranks. HOW: "stop": RANK stops (SIGSTOP) before each
 * write, flush and change of the size from number COUNT on; "read": it stops once, before read COUNT; "die": it is
 * killed before operation COUNT; "run": neither. Each rank writes its process number to FILE.RANK first. If TEXT is
 * negative: change the attribute "history" in data mode, to this number of other bytes. open FILE REPAIR: open the file
 * for writing with this value of the hint nc_repair, close it, and print the codes of all ranks and the message of
 * rank 0. read FILE: the same, for reading. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset/registry.h"
#include "grow.h"

static pnc_store_ops slow;
static const pnc_store_ops *real;
static const char *how;
static long operations, reads, count;
static int is_chosen; /* this rank stops or dies */

static void wait_before_operation(void)
{
    if (is_chosen && strcmp(how, "stop") == 0 && operations >= count)
        raise(SIGSTOP);
    if (is_chosen && strcmp(how, "die") == 0 && operations == count)
        raise(SIGKILL);
    operations++;
}

static int slow_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    wait_before_operation();
    return real->write(store, extents, n, buf, error);
}

static int slow_sync(pnc_store *store, pnc_error *error)
{
    wait_before_operation();
    return real->sync(store, error);
}

static int slow_set_size(pnc_store *store, int64_t size, pnc_error *error)
{
    wait_before_operation();
    return real->set_size(store, size, error);
}

static int slow_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error)
{
    if (is_chosen && strcmp(how, "read") == 0 && reads++ == count)
        raise(SIGSTOP);
    return real->read(store, extents, n, buf, got, error);
}

static void check(int err, const char *what)
{
    grow_check(err, "move_and_wait", what);
}

static void print_codes(int code)
{
    int rank, nprocs, *codes;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    codes = malloc((size_t)nprocs * sizeof *codes);
    MPI_Gather(&code, 1, MPI_INT, codes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < nprocs && rank == 0; i++)
        printf("%d%s", codes[i], i < nprocs - 1 ? " " : "\n");
    free(codes);
}

static void write_process(const char *path, int rank)
{
    char name[400], whole[420];
    FILE *file;

    snprintf(name, sizeof name, "%s.%d", path, rank);
    snprintf(whole, sizeof whole, "%s.part", name);
    file = fopen(whole, "w");
    if (file == NULL || fprintf(file, "%ld\n", (long)getpid()) < 0 || fclose(file) != 0 || rename(whole, name) != 0)
        check(NC_EWRITE, name);
}

static void install(pnc_dataset *ds)
{
    real = ds->file.store->ops;
    slow = *real;
    slow.write = slow_write;
    slow.read = slow_read;
    slow.sync = slow_sync;
    slow.set_size = slow_set_size;
    ds->file.store->ops = &slow;
}

static void move(char **arguments)
{
    int ncid, rank, text = atoi(arguments[2]), err;
    pnc_dataset *ds;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    is_chosen = atoi(arguments[5]) == rank;
    how = arguments[6];
    count = atol(arguments[7]);
    check(ncmpi_open(MPI_COMM_WORLD, arguments[0], NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    ds = pnc_dataset_registry_peek(ncid);
    ds->hints.format.data_move_chunk = atol(arguments[1]);
    if (text >= 0) {
        check(ncmpi_redef(ncid), "redef");
        grow_define(ncid, "move_and_wait", text, atoi(arguments[3]), atoi(arguments[4]));
    }
    write_process(arguments[0], rank);
    MPI_Barrier(MPI_COMM_WORLD);
    install(ds);
    err = text < 0 ? grow_change_history(ncid, -text) : ncmpi__enddef(ncid, 0, 4, 0, 4);
    ds->file.store->ops = real;
    print_codes(err);
    if (err == NC_NOERR)
        check(ncmpi_close(ncid), "close");
}

static void open_file(const char *path, int mode, const char *repair)
{
    char message[NC_MAX_MESSAGE] = "";
    int ncid, rank, err, code;
    MPI_Info info;

    MPI_Info_create(&info);
    if (repair != NULL)
        MPI_Info_set(info, "nc_repair", repair);
    err = ncmpi_open(MPI_COMM_WORLD, path, mode, info, &ncid);
    MPI_Info_free(&info);
    if (err == NC_NOERR)
        check(ncmpi_close(ncid), "close");
    else
        ncmpi_inq_last_error(-1, &code, message);
    print_codes(err);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%s\n", message);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc == 10 && strcmp(argv[1], "move") == 0)
        move(argv + 2);
    else if (argc == 4 && strcmp(argv[1], "open") == 0)
        open_file(argv[2], NC_WRITE, argv[3]);
    else if (argc == 3 && strcmp(argv[1], "read") == 0)
        open_file(argv[2], NC_NOWRITE, NULL);
    else
        check(NC_EINVAL, "arguments");
    MPI_Finalize();
    return 0;
}
