/* The fields of bench_netcdf4 by parallel HDF5: collective filters, collective transfers. */
#include "cases.h"

#include <hdf5.h>

static int rank, nprocs;
static const char *path;

static hid_t check(hid_t id, const char *what)
{
    if (id >= 0)
        return id;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return id;
}

#define DO(call) check(call, #call)

static hid_t open_file(bool creates)
{
    hid_t fapl = DO(H5Pcreate(H5P_FILE_ACCESS)), file;

    DO(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL));
    DO(H5Pset_libver_bounds(fapl, H5F_LIBVER_V18, H5F_LIBVER_LATEST));
    file = creates ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl) : H5Fopen(path, H5F_ACC_RDONLY, fapl);
    H5Pclose(fapl);
    return DO(file);
}

static hid_t create_field(hid_t file, const layout *l)
{
    const hsize_t lengths[3] = {TIMES, ROWS, COLUMNS}, chunk[3] = {1, CHUNK_ROWS, CHUNK_COLUMNS};
    hid_t plist = DO(H5Pcreate(H5P_DATASET_CREATE)), space = DO(H5Screate_simple(3, lengths, NULL));

    DO(H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER));
    if (l->chunked)
        DO(H5Pset_chunk(plist, 3, chunk));
    if (l->compressed) {
        DO(H5Pset_shuffle(plist));
        DO(H5Pset_deflate(plist, 1));
    }
    return DO(H5Dcreate(file, "field", H5T_IEEE_F32LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
}

static void transfer_field(hid_t set, const layout *l, float *values, bool puts)
{
    block b = block_of(l, rank, nprocs);
    hsize_t start[3] = {0, b.row, b.column}, count[3] = {1, b.rows, b.columns};
    hid_t plist = DO(H5Pcreate(H5P_DATASET_XFER)), memory = DO(H5Screate_simple(3, count, NULL));
    hid_t space = DO(H5Dget_space(set));

    DO(H5Pset_dxpl_mpio(plist, H5FD_MPIO_COLLECTIVE));
    for (int t = 0; t < TIMES; t++) {
        start[0] = (hsize_t)t;
        DO(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
        if (puts)
            DO(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, plist, values));
        else
            DO(H5Dread(set, H5T_NATIVE_FLOAT, memory, space, plist, values));
    }
}

int main(int argc, char **argv)
{
    float *values = malloc((size_t)ROWS * COLUMNS * sizeof *values);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    path = file_name(argc, argv);
    for (const layout *l = layouts; l < layouts + LAYOUTS; l++) {
        block b = block_of(l, rank, nprocs);
        hid_t file = open_file(true), set = create_field(file, l);
        stopwatch w;

        make_field(values, b.rows * b.columns, (unsigned)rank + 1);
        w = start_watch();
        transfer_field(set, l, values, true);
        H5Dclose(set);
        H5Fclose(file);
        stop_watch(w, "put", l->name);
        w = start_watch();
        file = open_file(false);
        set = DO(H5Dopen(file, "field", H5P_DEFAULT));
        transfer_field(set, l, values, false);
        H5Dclose(set);
        H5Fclose(file);
        stop_watch(w, "get", l->name);
    }
    if (rank == 0)
        remove(path);
    free(values);
    MPI_Finalize();
    return 0;
}
