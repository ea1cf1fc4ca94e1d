"""A program that uses libhdf5 beside this library: both files are right, also after H5close."""
import os
import re
import shlex
import subprocess
import sys

import h5py
import netCDF4

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from tap import finish, has_hdf5, instruments, library_flags, make_variable, ok, run_mpi, scratch, skip  # noqa: E402

BUILD = os.environ.get("PNC_BUILD", os.getcwd())


def library_of_hdf5():
    with open(os.path.join(BUILD, "config.h"), encoding="utf-8") as file:
        return re.search(r'^#define HDF5_LIBRARY "(.*)"', file.read(), re.M).group(1)


def build(program):
    command = [*make_variable("CC"), *instruments(), "-I" + os.path.join(BUILD, "include"),
               *make_variable("HDF5_CPPFLAGS"), os.path.join(HERE, "hdf5_beside.c"), "-o", program, *library_flags(),
               library_of_hdf5()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, shlex.join(command) + done.stdout + done.stderr


if not has_hdf5() or not library_of_hdf5():
    skip("HDF5 beside the library", "this build has no HDF5")
    finish()
built, why = build(scratch("hdf5_beside"))
if ok(built, "a program that uses libhdf5 compiles", why):
    for ranks in (1, 3):
        path = scratch("beside.nc")
        status, out, err = run_mpi(ranks, scratch("hdf5_beside"), path)
        ok(status == 0 and not out, f"{ranks} ranks: all calls succeed", out + err)
        with netCDF4.Dataset(path) as file:
            ok(list(file["v"][:ranks]) == [30 + rank for rank in range(ranks)],
               f"{ranks} ranks: netCDF4-python reads it")
        with h5py.File(path + ".0") as file:
            ok(list(file["own"]) == [1, 2, 3], f"{ranks} ranks: the file of the program")
finish()
