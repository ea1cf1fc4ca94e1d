/* Started by test_finalize.py. end_early HOW FILE: create FILE, and call MPI_Finalize before ncmpi_close. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

static const char *how, *path;
static int ncid, rank, ranks;

static void check(int err, const char *what)
{
    if (err != NC_NOERR) {
        fprintf(stderr, "end_early: %s: %s\n", what, ncmpi_strerror(err));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int is(const char *word)
{
    return strcmp(how, word) == 0;
}

static void create(const char *name)
{
    int dim, id;

    check(ncmpi_create(MPI_COMM_WORLD, name, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    check(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dim), "def_dim");
    check(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id), "def_var");
}

static void post(int n)
{
    static int values[3];
    MPI_Offset start = rank, count = 1;

    for (int i = 0; i < n; i++) {
        values[i] = 100 + rank;
        check(ncmpi_iput_vara_int(ncid, 0, &start, &count, &values[i], NULL), "iput");
    }
}

static void post_others(void)
{
    static int got;
    MPI_Offset start = rank, count = 1;
    int value = 7;

    check(ncmpi_buffer_attach(ncid, 100), "attach");
    check(ncmpi_bput_vara_int(ncid, 0, &start, &count, &value, NULL), "bput");
    check(ncmpi_put_vara_int_all(ncid, 0, &start, &count, &value), "put");
    check(ncmpi_iget_vara_int(ncid, 0, &start, &count, &got, NULL), "iget");
}

static void put_together(void)
{
    MPI_Offset start = rank, count = 1;
    int value = 100 + rank;

    check(ncmpi_put_vara_int_all(ncid, 0, &start, &count, &value), "put");
}

static void put_alone(void)
{
    MPI_Offset start = 4 + rank, count = 1;
    int value = 7;

    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    if (rank == ranks - 1)
        check(ncmpi_put_vara_int(ncid, 0, &start, &count, &value), "put");
}

/* A library above this one that closes its files in MPI_Finalize. */
static int close_at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    check(ncmpi_close(ncid), "close");
    return MPI_SUCCESS;
}

static void leave_to_library(void)
{
    int key;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_free_keyval(&key);
}

static void use_file(void)
{
    if (is("iput") || is("library"))
        post(2);
    else if (is("last") && rank == ranks - 1)
        post(3);
    else if (is("put") || is("mode"))
        put_together();
    else if (is("others"))
        post_others();
    else if (is("redef"))
        check(ncmpi_redef(ncid), "redef");
    else if (is("records"))
        put_alone();
    if (is("library"))
        leave_to_library();
    if (is("mode"))
        check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    if (is("read")) {
        check(ncmpi_close(ncid), "close");
        check(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    }
}

int main(int argc, char **argv)
{
    char second[4096];

    MPI_Init(&argc, &argv);
    if (argc != 3)
        return 1;
    how = argv[1];
    path = argv[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    create(path);
    if (!is("define"))
        check(ncmpi_enddef(ncid), "enddef");
    use_file();
    if (is("iput")) { /* files are reported one by one */
        snprintf(second, sizeof second, "%s.second", path);
        create(second);
        check(ncmpi_enddef(ncid), "enddef");
        post(1);
    }
    MPI_Finalize();
    return 0;
}
