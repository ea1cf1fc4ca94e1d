// first.cpp with the classes of PnetCDF 1.x for C++ (the header pnetcdf): each rank writes a row of a variable, and all
// read it back.
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <pnetcdf>

static void write(const std::string &path, int rank, int nprocs)
{
    PnetCDF::NcmpiFile file(MPI_COMM_WORLD, path, PnetCDF::NcmpiFile::replace, PnetCDF::NcmpiFile::classic5);
    std::vector<PnetCDF::NcmpiDim> dims{file.addDim("rank", nprocs), file.addDim("x", 10)};
    PnetCDF::NcmpiVar temperature = file.addVar("temperature", PnetCDF::ncmpiFloat, dims);
    temperature.putAtt("units", "K");
    file.enddef();

    std::vector<float> values(10);
    for (std::size_t i = 0; i < values.size(); i++)
        values[i] = 280 + static_cast<float>(rank) + 0.1F * static_cast<float>(i);
    temperature.putVar_all({rank, 0}, {1, 10}, values.data());
}

static double read(const std::string &path)
{
    PnetCDF::NcmpiFile file(MPI_COMM_WORLD, path, PnetCDF::NcmpiFile::read);
    PnetCDF::NcmpiVar temperature = file.getVar("temperature");
    std::size_t n = 1;
    for (const PnetCDF::NcmpiDim &dim : temperature.getDims())
        n *= static_cast<std::size_t>(dim.getSize());
    std::vector<double> values(n);
    temperature.getVar_all(values.data()); // float in the file, double in memory
    double sum = 0;
    for (double value : values)
        sum += value;
    return sum / static_cast<double>(n);
}

int main(int argc, char **argv)
{
    int rank, nprocs;
    const std::string path = argc > 1 ? argv[1] : "classes.nc";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    try {
        write(path, rank, nprocs);
        double mean = read(path);
        if (rank == 0)
            std::printf("mean temperature: %.2f K\n", mean);
    } catch (const PnetCDF::exceptions::NcmpiException &error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return MPI_Finalize();
}
