#!/bin/bash
# Build bench_netcdf4 and its peers, and compare them in turn: called by `make bench-netcdf4`, which sets CC, INCLUDES,
# LIBRARIES, MPIEXEC and DOOR, the library for programs of netCDF. HDF5_MPI: the flags of a parallel HDF5; NETCDF_MPI:
# those of a parallel netCDF of this MPI, if there is one.
set -e
here=$(dirname "$0")
: "${HDF5_MPI:=$(pkg-config --cflags --libs hdf5-mpich 2>/dev/null || true)}"
mkdir -p benchmarks/netcdf4/programs
cd benchmarks/netcdf4/programs
case $here in /*) ;; *) here=../../../$here ;; esac
$CC -O2 $INCLUDES "$here/bench_netcdf4.c" -o bench_netcdf4 -L"$LIBRARIES" -Wl,-rpath,"$LIBRARIES" -lpnetcdf
$CC -O2 "$here/peer_netcdf.c" -o peer_netcdf -lnetcdf
echo "== beside serial netCDF-C, 1 rank"
python3 "$here/../compare.py" "$MPIEXEC -n 1 ./peer_netcdf" "$MPIEXEC -n 1 ./bench_netcdf4"
if [ -f "$DOOR" ]; then
    $CC -O2 "$here/peer_parallel.c" -o door_netcdf -lnetcdf
    for ranks in 1 2 4; do
        echo "== through libpnetcdf-netcdf, beside ncmpi_ functions, $ranks ranks"
        python3 "$here/../compare.py" "$MPIEXEC -n $ranks env LD_PRELOAD=$DOOR ./door_netcdf" \
            "$MPIEXEC -n $ranks ./bench_netcdf4"
    done
fi
if [ -f "$DOOR" ] && [ -n "$NETCDF_MPI" ]; then
    $CC -O2 "$here/peer_parallel.c" -o peer_parallel $NETCDF_MPI
    for ranks in 1 2 4; do
        echo "== through libpnetcdf-netcdf, beside parallel netCDF-C, $ranks ranks"
        python3 "$here/../compare.py" "$MPIEXEC -n $ranks ./peer_parallel" \
            "$MPIEXEC -n $ranks env LD_PRELOAD=$DOOR ./peer_parallel"
    done
fi
if [ -z "$HDF5_MPI" ]; then
    echo "no parallel HDF5 (Debian: libhdf5-mpich-dev)"
    exit 0
fi
$CC -O2 "$here/peer_hdf5.c" -o peer_hdf5 $HDF5_MPI
for ranks in 1 2 4; do
    echo "== beside parallel HDF5, $ranks ranks"
    python3 "$here/../compare.py" "$MPIEXEC -n $ranks ./peer_hdf5" "$MPIEXEC -n $ranks ./bench_netcdf4"
done
