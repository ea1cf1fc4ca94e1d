/* Stacks of drivers by the hint nc_driver: what programs see of a file does not depend on the wrappers, except for what
 * these add; and stacks that are wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counting_driver.h"
#include "drivers/driver.h"
#include "drivers/wrapper.h"
#include "keeping_wrapper.h"
#include "../expect.h"

#define VALUES 100

static const pnc_store_ops plain_wrapper = {.name = "plain", .store_bytes = sizeof(pnc_store), .is_wrapper = true};
/* A wrapper that changes what its open has found. */
static int independent_open(const pnc_open_call *call, pnc_store *store, pnc_error *error)
{
    int err = pnc_wrapper_open(call, store, error);

    store->has_collective = false;
    return err;
}

static const pnc_store_ops independent_wrapper = {
    .name = "independent", .store_bytes = sizeof(pnc_store), .is_wrapper = true, .open = independent_open};
static const pnc_store_ops *const more[] = {&plain_wrapper, &counting_wrapper, &keeping_wrapper, &independent_wrapper,
                                            NULL};
static char path[4096];

static MPI_Info make_info(const char *driver, const char *key, const char *value)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_stats", "keep");
    MPI_Info_set(info, "nc_driver", driver);
    if (key != NULL)
        MPI_Info_set(info, key, value);
    return info;
}

static bool reports_driver(int ncid, const char *wanted)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info used;

    if (ncmpi_inq_file_info(ncid, &used) != NC_NOERR)
        return false;
    MPI_Info_get(used, "nc_driver", MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&used);
    return t_local(strcmp(value, wanted) == 0, "the driver is %s, not %s", value, wanted);
}

static MPI_Offset count_of(int ncid, const char *name)
{
    MPI_Offset value = -1;

    t_local(ncmpi_inq_stats(ncid, name, &value) == NC_NOERR, "the counter %s", name);
    return value;
}

/* Create a file, put values, read them before and after it is closed. *writes, *bytes: what the file has counted. */
static void use_file(MPI_Comm comm, const char *driver, const char *name, MPI_Offset *writes, MPI_Offset *bytes)
{
    MPI_Info info = make_info(driver, "nc_whole_files", "enable");
    int ncid = -1, dimid, varid, nprocs, rank, values[VALUES], back[VALUES];
    MPI_Offset start, count = VALUES;

    MPI_Comm_size(comm, &nprocs);
    MPI_Comm_rank(comm, &rank);
    start = (MPI_Offset)rank * VALUES;
    for (int i = 0; i < VALUES; i++)
        values[i] = (int)start + i;
    expect_ok(ncmpi_create(comm, path, NC_CLOBBER, info, &ncid), "create");
    t_check(reports_driver(ncid, name), "%s: is reported as %s", driver, name);
    ncmpi_def_dim(ncid, "x", (MPI_Offset)nprocs * VALUES, &dimid);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dimid, &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, &start, &count, values), "put");
    expect_ok(ncmpi_get_vara_int_all(ncid, varid, &start, &count, back), "get");
    t_check(t_local(memcmp(values, back, sizeof back) == 0, "other values"), "%s: the values, while it is open",
            driver);
    expect_ok(ncmpi_sync(ncid), "sync");
    *writes = count_of(ncid, "writes");
    *bytes = count_of(ncid, "write_bytes");
    expect_ok(ncmpi_close(ncid), "close");
    memset(back, 0, sizeof back);
    expect_ok(ncmpi_open(comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open by the default driver");
    expect_ok(ncmpi_get_vara_int_all(ncid, varid, &start, &count, back), "get");
    t_check(t_local(memcmp(values, back, sizeof back) == 0, "other values"), "%s: the values in the file", driver);
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Info_free(&info);
}

/* A file that is aborted in its first define mode is deleted; ncmpi_delete finds the file. */
static void test_end_of_file(const char *driver)
{
    MPI_Info info = make_info(driver, NULL, NULL);
    struct stat facts;
    int ncid = -1;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    expect_ok(ncmpi_abort(ncid), "abort");
    t_check(stat(path, &facts) != 0, "%s: an aborted file is deleted", driver);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        t_local(ncmpi_delete(path, info) == NC_NOERR, "delete");
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(stat(path, &facts) != 0, "%s: a file is deleted", driver);
    expect_code(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid), NC_ENOENT, "open a file that is missing");
    MPI_Info_free(&info);
}

static void test_stack(const char *driver, const char *name)
{
    MPI_Offset writes, bytes, wanted, wanted_bytes;

    use_file(MPI_COMM_WORLD, "mpiio", "mpiio", &wanted, &wanted_bytes);
    use_file(MPI_COMM_WORLD, driver, name, &writes, &bytes);
    t_check(t_local(writes == wanted && bytes == wanted_bytes && (t_rank > 0 || writes > 0),
                    "%d writes of %d bytes, not %d of %d", (int)writes, (int)bytes, (int)wanted, (int)wanted_bytes),
            "%s: statistics as without wrappers", driver);
    test_end_of_file(driver);
}

/* A value that cannot be used is ignored. */
static void test_wrong(const char *driver)
{
    MPI_Info info = make_info(driver, NULL, NULL);
    int ncid = -1;

    t_check(pnc_driver_find(driver) == -1, "\"%s\" is no stack", driver);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    t_check(reports_driver(ncid, "mpiio"), "\"%s\" is ignored", driver);
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Info_free(&info);
}

/* Without collective access of the store, nc_strategy=mpi_io is not in effect. */
static void test_strategy(void)
{
    MPI_Info info = make_info("independent:mpiio", "nc_strategy", "mpi_io"), used;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int ncid = -1, found = 0;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    expect_ok(ncmpi_inq_file_info(ncid, &used), "inq_file_info");
    MPI_Info_get(used, "nc_strategy", MPI_MAX_INFO_VAL, value, &found);
    t_check(strcmp(value, "two_phase") == 0, "the strategy in effect is %s", value);
    MPI_Info_free(&used);
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Info_free(&info);
}

static void test_order(void)
{
    pnc_driver_stack stack;
    const pnc_store_ops *driver = pnc_driver_get(pnc_driver_find("counting:plain:keeping:gio"), &stack);

    t_check(strcmp(driver->name, "counting:plain:keeping:mpiio") == 0, "the stack is %s", driver->name);
    t_check(driver->store_bytes == counting_wrapper.store_bytes && driver->write == counting_wrapper.write &&
                driver->below->store_bytes == plain_wrapper.store_bytes &&
                strcmp(driver->below->name, "plain:keeping:mpiio") == 0 &&
                driver->below->below->write == keeping_wrapper.write &&
                driver->below->below->below == &pnc_store_mpiio && pnc_store_mpiio.below == NULL,
            "the first one is the outermost");
    t_check(pnc_driver_get(pnc_driver_find("memory"), &stack) == &pnc_store_memory &&
                pnc_driver_get(pnc_driver_find("gio"), &stack) == &pnc_store_mpiio,
            "a driver without wrappers is itself");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("stacks.nc"));
    pnc_driver_more = more;
    test_order();
    test_strategy();
    test_stack("plain:mpiio", "plain:mpiio");
    test_stack("plain:counting:plain:plain:gio", "plain:counting:plain:plain:mpiio");
    if (t_nprocs == 1) /* what a rank keeps is not seen by others */
        test_stack("counting:keeping:mpiio", "counting:keeping:mpiio");
    test_wrong("plain");
    test_wrong("plain:counting");
    test_wrong("plain:nothing");
    test_wrong("nothing:mpiio");
    test_wrong("mpiio:mpiio");
    test_wrong("plain:mpiio:mpiio");
    test_wrong("plain:");
    test_wrong(":mpiio");
    test_wrong("plain:plain:plain:plain:plain:mpiio");
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
