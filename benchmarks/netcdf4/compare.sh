#!/bin/bash
# Build bench_netcdf4 and its peers, and compare them in turn: called by `make bench-netcdf4`, which sets CC, INCLUDES,
# LIBRARIES and MPIEXEC. HDF5_MPI: the flags of a parallel HDF5.
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
if [ -z "$HDF5_MPI" ]; then
    echo "no parallel HDF5 (Debian: libhdf5-mpich-dev)"
    exit 0
fi
$CC -O2 "$here/peer_hdf5.c" -o peer_hdf5 $HDF5_MPI
for ranks in 1 2 4; do
    echo "== beside parallel HDF5, $ranks ranks"
    python3 "$here/../compare.py" "$MPIEXEC -n $ranks ./peer_hdf5" "$MPIEXEC -n $ranks ./bench_netcdf4"
done
