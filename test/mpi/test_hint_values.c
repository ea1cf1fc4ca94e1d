/* Hints with values that make no sense: MPI libraries abort, divide by zero or loop forever with some of them. Here a
 * file is created, written, opened and read with each, and the library reports each number that it does not use. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"

enum { NX = 64 };

static const char *const bad[] = {"-1", "0", "2147483648", "99999999999999999999", "-2147483649", "many", "3x", " "};
enum { BAD = sizeof bad / sizeof *bad, ZERO = 1 };

/* Numbers for MPI-IO. `zero`: 0 is one of their values. */
static const struct {
    const char *name;
    bool zero;
} numbers[] = {{"cb_buffer_size", false},
               {"cb_nodes", false},
               {"striping_factor", false},
               {"striping_unit", false},
               {"cb_block_size", false},
               {"nb_proc", false},
               {"num_io_nodes", false},
               {"ind_rd_buffer_size", false},
               {"ind_wr_buffer_size", false},
               {"romio_cb_fr_alignment", false},
               {"romio_cb_ds_threshold", true},
               {"romio_lustre_co_ratio", false},
               {"romio_lustre_coll_threshold", true}};

/* Other hints; what they become is the matter of other tests. */
static const char *const others[] = {"collective_buffering",
                                     "access_style",
                                     "file_perm",
                                     "io_node_list",
                                     "romio_ds_read",
                                     "romio_ds_write",
                                     "romio_cb_read",
                                     "romio_cb_write",
                                     "romio_no_indep_rw",
                                     "romio_cb_pfr",
                                     "romio_cb_fr_types",
                                     "romio_cb_alltoall",
                                     "romio_lustre_ds_in_coll",
                                     "romio_visibility_immediate",
                                     "romio_synchronized_flush",
                                     "romio_lustre_start_iodevice",
                                     "start_iodevice",
                                     "direct_read",
                                     "direct_write",
                                     "nc_var_align_size",
                                     "nc_record_align_size",
                                     "nc_header_read_chunk_size",
                                     "nc_data_move_chunk_size",
                                     "nc_ibuf_size",
                                     "nc_num_aggrs_per_node",
                                     "nc_strategy",
                                     "nc_overlap",
                                     "nc_short_file",
                                     "no_such_hint"};

typedef struct attempt {
    MPI_Comm comm;
    const char *path, *name, *value;
    MPI_Info info;
    bool reported; /* by create and by open */
} attempt;

static bool has_report(const attempt *a, int ncid)
{
    char message[NC_MAX_MESSAGE] = "";
    int code = 1;

    return ncmpi_inq_last_error(ncid, &code, message) == NC_NOERR && code == NC_NOERR &&
           strstr(message, a->name) != NULL && strstr(message, a->value) != NULL;
}

/* Elements with gaps, so that MPI-IO sieves: independently through a file view, collectively by aggregators. */
static int transfer(attempt *a, int ncid, bool puts)
{
    MPI_Offset start = 0, count = NX, stride = 2;
    int values[NX], np, rank, err;

    MPI_Comm_size(a->comm, &np);
    MPI_Comm_rank(a->comm, &rank);
    start = rank;
    stride = 2 * np;
    for (int i = 0; i < NX; i++)
        values[i] = puts ? 1000 * rank + i : -1;
    if (puts)
        return ncmpi_put_vars_int_all(ncid, 0, &start, &count, &stride, values);
    err = ncmpi_get_vars_int_all(ncid, 0, &start, &count, &stride, values);
    for (int i = 0; i < NX; i++)
        t_local(err != NC_NOERR || values[i] == 1000 * rank + i, "%s=%s: value %d", a->name, a->value, i);
    return err;
}

static int write_file(attempt *a)
{
    int ncid, dim, varid, np, err = ncmpi_create(a->comm, a->path, NC_64BIT_DATA, a->info, &ncid);

    if (err != NC_NOERR)
        return err;
    a->reported = has_report(a, ncid);
    MPI_Comm_size(a->comm, &np);
    ncmpi_def_dim(ncid, "x", 2 * NX * np, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid);
    err = ncmpi_enddef(ncid);
    if (err == NC_NOERR)
        err = transfer(a, ncid, true);
    return err == NC_NOERR ? ncmpi_close(ncid) : err;
}

static int read_file(attempt *a)
{
    int ncid, err = ncmpi_open(a->comm, a->path, NC_WRITE, a->info, &ncid);

    if (err != NC_NOERR)
        return err;
    a->reported = has_report(a, ncid) && a->reported;
    err = transfer(a, ncid, false);
    return err == NC_NOERR ? ncmpi_close(ncid) : err;
}

static int try_hint(MPI_Comm comm, const char *path, const char *strategy, const char *name, const char *value,
                    bool *reported)
{
    attempt a = {.comm = comm, .path = path, .name = name, .value = value};
    int err;

    MPI_Info_create(&a.info);
    if (strategy != NULL)
        MPI_Info_set(a.info, "nc_strategy", strategy);
    MPI_Info_set(a.info, name, value);
    err = write_file(&a);
    if (err == NC_NOERR)
        err = read_file(&a);
    MPI_Info_free(&a.info);
    *reported = a.reported;
    return err;
}

static void test_numbers(MPI_Comm comm, const char *path, const char *strategy)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bool right = true;

        for (int k = t_quick() ? (int)i % 3 : 0; k < BAD; k += t_quick() ? 3 : 1) {
            bool reported, wanted = k != ZERO || !numbers[i].zero;
            int err = try_hint(comm, path, strategy, numbers[i].name, bad[k], &reported);

            right = t_local(err == NC_NOERR && reported == wanted, "\"%s\": %s, %sreported", bad[k],
                            ncmpi_strerrno(err), reported ? "" : "not ") &&
                    right;
        }
        t_check(right, "%s: no value ends the program, and all are reported", numbers[i].name);
    }
}

static void test_others(MPI_Comm comm, const char *path)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool right = true, reported;

        for (int k = t_quick() ? (int)i % 3 : 0; k < BAD; k += t_quick() ? 3 : 1) {
            int err = try_hint(comm, path, NULL, others[i], bad[k], &reported);

            right = t_local(err == NC_NOERR, "\"%s\": %s", bad[k], ncmpi_strerrno(err)) && right;
        }
        t_check(right, "%s: no value ends the program", others[i]);
    }
}

/* MPICH refuses a list that has none of the nodes. */
static void test_list(MPI_Comm comm, const char *path)
{
    static const char *const lists[] = {"*:0", "*", "", ",", "*:many", "nosuchnode:1", "*:99999999999999999999",
                                        "*:-1"};

    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        bool reported;
        int all[2],
            err = lists[k][0] == '\0' ? NC_NOERR : try_hint(comm, path, NULL, "cb_config_list", lists[k], &reported);

        all[0] = err != NC_NOERR;
        MPI_Allreduce(&all[0], &all[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        t_check(all[1] == 0 || all[1] == t_nprocs, "cb_config_list=%s: %s on all ranks", lists[k], ncmpi_strerrno(err));
    }
}

int main(int argc, char **argv)
{
    char own[4096], common[4096], name[64];

    t_start(&argc, &argv);
    snprintf(name, sizeof name, "hint_values.%d.nc", t_rank);
    snprintf(own, sizeof own, "%s", t_path(name));
    snprintf(common, sizeof common, "%s", t_path("hint_values.nc"));
    test_numbers(MPI_COMM_WORLD, common, NULL);
    test_numbers(MPI_COMM_WORLD, common, "mpi_io");
    test_numbers(MPI_COMM_SELF, own, NULL);
    test_others(MPI_COMM_WORLD, common);
    test_list(MPI_COMM_WORLD, common);
    unlink(own);
    if (t_rank == 0)
        unlink(common);
    return t_finish();
}
