#!/usr/bin/env bash
set -eu
./configure --prefix="$PREFIX" --with-hdf5="$PREFIX" MPICC=mpicc MPIF90=mpifort
make -j"${CPU_COUNT:-2}"
make install
