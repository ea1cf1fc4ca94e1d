#include "tools/common/kind.h"

#include <stddef.h>
#include <string.h>

int tool_kind_parse(const char *name)
{
    static const struct {
        const char *name;
        int version;
    } kinds[] = {
        {"classic", 1},
        {"nc3", 1},
        {"cdf1", 1},
        {"CDF-1", 1},
        {"1", 1},
        {"64-bit offset", 2},
        {"64-bit-offset", 2},
        {"nc6", 2},
        {"cdf2", 2},
        {"CDF-2", 2},
        {"2", 2},
        {"64-bit data", 5},
        {"64-bit-data", 5},
        {"64-bit-variable", 5},
        {"nc5", 5},
        {"cdf5", 5},
        {"CDF-5", 5},
        {"5", 5},
        {"netcdf4", 3},
        {"netCDF-4", 3},
        {"NetCDF-4", 3},
        {"nc4", 3},
        {"hdf5", 3},
        {"enhanced", 3},
        {"3", 3},
        {"netcdf4_classic", 4},
        {"netCDF-4 classic model", 4},
        {"netCDF-4-classic-model", 4},
        {"netCDF-4-classic", 4},
        {"nc7", 4},
        {"hdf5-nc3", 4},
        {"enhanced-nc3", 4},
        {"4", 4},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return kinds[i].version;
    return 0;
}
