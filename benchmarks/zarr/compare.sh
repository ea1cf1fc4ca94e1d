#!/bin/bash
# Build bench_zarr, and compare it with its peers in turn: called by `make bench-zarr`, which sets CC, INCLUDES,
# LIBRARIES and MPIEXEC. PYTHON: an interpreter with the packages tensorstore, zarr and zarrs.
set -e
here=$(dirname "$0")
mkdir -p benchmarks/zarr/programs
cd benchmarks/zarr/programs
case $here in /*) ;; *) here=../../../$here ;; esac
$CC -O2 $INCLUDES "$here/bench_zarr.c" -o bench_zarr -L"$LIBRARIES" -Wl,-rpath,"$LIBRARIES" -lpnetcdf
for peer in tensorstore zarrs; do
    for ranks in 1 4; do
        echo "== beside $peer in one process, $ranks ranks"
        python3 "$here/../compare.py" "${PYTHON:-python3} $here/peer_zarr.py $peer" "$MPIEXEC -n $ranks ./bench_zarr"
    done
done
