// A compressed file with pnetcdf.hpp: netCDF-4, in chunks, which all ranks compress and write together. C++ has the
// functions that programs need most; others are called in C, with the ids of file and variable.
//
//     mpiexec -n 4 ./compressed compressed.nc
//     ncdump -s -h compressed.nc             # or ncmpidump: how each variable is stored
#include <cstdio>
#include <pnetcdf.hpp>

static const MPI_Offset STEPS = 3, ROWS = 30, COLUMNS = 120;

static void write(const char *path, int rank, int nprocs)
{
    auto file = pnetcdf::file::create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4);
    int time = file.def_dim("time", NC_UNLIMITED), y = file.def_dim("y", ROWS * nprocs);
    auto wind = file.def_var<float>("wind", {time, y, file.def_dim("x", COLUMNS)});
    wind.def_chunks({1, ROWS, COLUMNS});          // a chunk for each put of a rank
    wind.def_deflate(1);                          // higher levels are slower and rarely much smaller
    wind.def_quantize(NC_QUANTIZE_GRANULARBR, 3); // three decimal digits: the other bits become zeros
    const float fill = -1;
    pnetcdf::check(ncmpi_def_var_fill(wind.file_id(), wind.id(), 0, &fill)); // a function of pnetcdf.h
    file.enddef();

    std::vector<float> values;
    for (MPI_Offset step = 0; step < STEPS; step++) {
        values.clear();
        for (MPI_Offset i = 0; i < ROWS * COLUMNS; i++)
            values.push_back(static_cast<float>(10 + step) + 0.1F * static_cast<float>(ROWS * rank + i / COLUMNS) +
                             0.001F * static_cast<float>(i % COLUMNS));
        wind.put_all({step, ROWS * rank, 0}, {1, ROWS, COLUMNS}, values);
    }
    file.close();
}

static void show(const char *path, int rank)
{
    auto file = pnetcdf::file::open(MPI_COMM_WORLD, path);
    auto wind = file.var("wind");
    int level = 0;
    pnetcdf::check(ncmpi_inq_var_deflate(wind.file_id(), wind.id(), nullptr, nullptr, &level));
    pnetcdf::indices chunks = wind.chunks();
    if (rank == 0)
        std::printf("deflate level %d, chunks of %lld x %lld x %lld\n", level, static_cast<long long>(chunks[0]),
                    static_cast<long long>(chunks[1]), static_cast<long long>(chunks[2]));
}

int main(int argc, char **argv)
{
    int rank, nprocs;
    const char *path = argc > 1 ? argv[1] : "compressed.nc";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    try {
        write(path, rank, nprocs);
        show(path, rank);
    } catch (const pnetcdf::error &error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return MPI_Finalize();
}
