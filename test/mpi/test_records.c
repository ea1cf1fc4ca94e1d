/* The number of records: agreed among ranks and written by collective puts, local in independent mode until the next
 * collective call, in the file after sync and close; and the record dimension in reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"

enum { NX = 3 };

static char path[4096];

static MPI_Offset records_of(int ncid)
{
    MPI_Offset n = -1;
    int id;
    t_local(ncmpi_inq_unlimdim(ncid, &id) == NC_NOERR && ncmpi_inq_dimlen(ncid, id, &n) == NC_NOERR, "inq_dimlen");
    return n;
}

static void expect_records(int ncid, MPI_Offset wanted, const char *text)
{
    MPI_Offset n = records_of(ncid);
    t_local(n == wanted, "%lld records, expected %lld", (long long)n, (long long)wanted);
    t_check(true, "%s", text);
}

/* numrecs as the header in the file says, read without the library (CDF-1, CDF-2: four bytes after the magic). */
static void expect_in_file(unsigned wanted, const char *text)
{
    unsigned char bytes[8] = {0};
    if (!t_classic()) /* the number of records of a netCDF-4 file is in its metadata */
        return;
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *f = fopen(path, "rb");
    t_local(f != NULL && fread(bytes, 1, 8, f) == 8, "read %s", path);
    if (f != NULL)
        fclose(f);
    unsigned n = (unsigned)bytes[4] << 24 | (unsigned)bytes[5] << 16 | (unsigned)bytes[6] << 8 | bytes[7];
    t_local(n == wanted, "the header says %u records, expected %u", n, wanted);
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(true, "%s", text);
}

static int put_record(int ncid, MPI_Offset record, bool collective)
{
    MPI_Offset start[2] = {record, 0}, count[2] = {1, NX};
    int values[NX] = {(int)record, 1, 2};
    return collective ? ncmpi_put_vara_int_all(ncid, 0, start, count, values)
                      : ncmpi_put_vara_int(ncid, 0, start, count, values);
}

static void test_collective(int ncid)
{
    MPI_Offset start[2] = {100, 0}, zero[2] = {0, 0};
    int value = 0;
    expect_records(ncid, 0, "a new file has no records");
    expect_ok(put_record(ncid, t_rank, true), "each rank puts its own record");
    expect_records(ncid, t_nprocs, "all ranks agree on the number of records");
    expect_in_file((unsigned)t_nprocs, "and it is in the file before the put returns on all ranks");
    expect_ok(put_record(ncid, t_rank == 0 ? t_nprocs + 4 : 0, true), "only rank 0 adds records");
    expect_records(ncid, t_nprocs + 5, "all ranks know");
    t_local(ncmpi_put_vara_int_all(ncid, 0, start, zero, &value) == NC_NOERR, "put of nothing");
    expect_records(ncid, t_nprocs + 5, "a put of nothing at record 100 adds none");
    start[0] = 0;
    if (t_rank == 0)
        zero[0] = zero[1] = 1;
    expect_ok(ncmpi_put_vara_int_all(ncid, 0, start, zero, &value), "a put where all ranks but one have nothing");
    expect_ok(ncmpi_get_vara_int_all(ncid, 0, start, zero, &value), "a get where all ranks but one have nothing");
    expect_records(ncid, t_nprocs + 5, "the number of records is still the same");
}

static void test_independent(int ncid)
{
    MPI_Offset before = records_of(ncid), mine = before + 2 + t_rank, all = before + 2 + t_nprocs;
    int got[NX];
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_ok(put_record(ncid, mine, false), "independent put of a new record");
    t_check(t_local(records_of(ncid) == mine + 1, "%lld", (long long)records_of(ncid)),
            "each rank knows of its own record only");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    expect_records(ncid, all, "all ranks agree after end_indep_data");
    expect_in_file((unsigned)all, "so does the file");
    expect_ok(ncmpi_get_vara_int_all(ncid, 0, (MPI_Offset[]){before + 2 + (t_rank + 1) % t_nprocs, 0},
                                     (MPI_Offset[]){1, NX}, got),
              "get the neighbour's record");
    t_check(got[0] == before + 2 + (t_rank + 1) % t_nprocs && got[1] == 1, "it is what the neighbour put");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    if (t_rank == t_nprocs - 1)
        t_local(put_record(ncid, all + 3, false) == NC_NOERR, "put by the last rank");
    expect_ok(ncmpi_sync_numrecs(ncid), "sync_numrecs in independent mode");
    expect_records(ncid, all + 4, "all ranks agree after sync_numrecs");
    expect_in_file((unsigned)(all + 4), "so does the file");
    if (t_rank == 0)
        t_local(put_record(ncid, all + 9, false) == NC_NOERR, "put by rank 0");
    expect_ok(ncmpi_redef(ncid), "redef from independent mode");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_records(ncid, all + 10, "all ranks agree after redef");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    if (t_rank == t_nprocs / 2)
        t_local(put_record(ncid, all + 19, false) == NC_NOERR, "put by a rank in the middle");
}

static void test_bounds(int ncid, MPI_Offset n)
{
    MPI_Offset start[2] = {n - 1, 0}, count[2] = {2, 1};
    int got[2];
    expect_code(ncmpi_get_vara_int_all(ncid, 0, start, count, got), NC_EEDGE, "get over the last record");
    start[0] = n;
    count[0] = 1;
    expect_code(ncmpi_get_vara_int_all(ncid, 0, start, count, got), NC_EINVALCOORDS, "get beyond the last record");
    count[0] = 0;
    expect_ok(ncmpi_get_vara_int_all(ncid, 0, start, count, got), "get of nothing just beyond the last record");
}

int main(int argc, char **argv)
{
    int ncid, dims[2], id;
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("records.nc"));
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", NX, &dims[1]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "w", NC_BYTE, 2, dims, &id) == NC_NOERR, "def_var");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    test_collective(ncid);
    MPI_Offset n = records_of(ncid);
    test_independent(ncid);
    expect_ok(ncmpi_close(ncid), "close from independent mode");
    n = n + 2 + t_nprocs + 20;
    expect_in_file((unsigned)n, "the file knows of the last independent put");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    expect_records(ncid, n, "all ranks see it after open");
    test_bounds(ncid, n);
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
