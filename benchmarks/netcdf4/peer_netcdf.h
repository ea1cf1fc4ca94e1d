/* What the programs that call netCDF share. */
#ifndef BENCH_PEER_NETCDF_H
#define BENCH_PEER_NETCDF_H

#include <mpi.h>
#include <netcdf.h>
#include <stdio.h>

static const char *path;

static void check(int code, const char *what)
{
    if (code == NC_NOERR)
        return;
    fprintf(stderr, "%s: %s\n", what, nc_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define DO(call) check(call, #call)

#endif
