// The first program of README.md in C++: each rank writes a row of a variable, and all read it back.
#include <cstdio>
#include <pnetcdf.hpp>

static void write(const char *path, int rank, int nprocs)
{
    auto file = pnetcdf::file::create(MPI_COMM_WORLD, path);
    int row = file.def_dim("rank", nprocs), x = file.def_dim("x", 10);
    auto temperature = file.def_var<float>("temperature", {row, x});
    temperature.put_att("units", "K");
    file.enddef();

    std::vector<float> values(10);
    for (std::size_t i = 0; i < values.size(); i++)
        values[i] = 280 + static_cast<float>(rank) + 0.1F * static_cast<float>(i);
    temperature.put_all({rank, 0}, {1, 10}, values);
    file.close(); // reports errors; the destructor could not
}

static double read(const char *path)
{
    auto file = pnetcdf::file::open(MPI_COMM_WORLD, path);
    auto temperature = file.var("temperature");
    auto shape = temperature.shape();
    std::vector<double> values(static_cast<std::size_t>(shape[0] * shape[1]));
    temperature.get_all({0, 0}, shape, values); // float in the file, double in memory
    double sum = 0;
    for (double value : values)
        sum += value;
    return sum / static_cast<double>(values.size());
}

int main(int argc, char **argv)
{
    int rank, nprocs;
    const char *path = argc > 1 ? argv[1] : "first.nc";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    try {
        write(path, rank, nprocs);
        double mean = read(path);
        if (rank == 0)
            std::printf("mean temperature: %.2f K\n", mean);
    } catch (const pnetcdf::error &error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return MPI_Finalize();
}
