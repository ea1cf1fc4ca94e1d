"""Variables of strings in the tools: files that netCDF4-python and h5py have written, read back by them and by Debian's
ncdump."""
import os
import subprocess
import sys

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool

LONG = "L\u00e4" * 500000  # 1.5 MB


def objects(values):
    return numpy.array(values, object)


def make_netcdf4(path):
    """Unlimited dimensions, one of which a variable does not reach; chunks; a group; a scalar; fill values."""
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("x", 3), ("many", 1000)):
            file.createDimension(name, length)
        label = file.createVariable("label", str, ("time", "x"), chunksizes=(2, 2))
        label[0:5] = objects([[f"{t}.{x}" for x in range(3)] for t in range(5)])
        label[1, 1], label[2, 0], label[3, 2] = "", "\u00fcmlaut \u20ac", LONG
        label.units = "K"
        label.setncattr_string("words", ["one", "two\nlines"])
        file.createVariable("time", "f8", ("time",))[:] = numpy.arange(5)
        file.createVariable("short", str, ("time",), fill_value="none")[0:3] = objects(["p", "q", "none"])
        file.createVariable("fixed", str, ("many",))[:] = objects([f"name {i}" for i in range(1000)])
        file.createVariable("one", str, ())[...] = "scalar"
        file.createGroup("g").createVariable("inner", str, ("x",), fill_value="missing")[1] = "there"
        file.setncattr_string("list", ["a", "b"])


def check_dump(path):
    """Also of what was never written, and of what is beyond the end of a variable."""
    ours = tool.run("ncmpidump", "-v", "short,g/inner,one", path).stdout.decode()
    theirs = subprocess.run(["ncdump", "-v", "short,one,inner", path], stdout=subprocess.PIPE, text=True).stdout
    for name, values in (("short", '"p", "q", _, _, _'), ("inner", '_, "there", _'), ("one", '"scalar"')):
        line = f"{name} = {values} ;"
        tap.ok(line in ours and line in theirs, f"ncmpidump shows {name} as ncdump", ours + theirs)
    ours = tool.run("ncmpidump", "--json", "-v", "short", path).stdout.decode()
    tap.ok('["p", "q", null, null, null]' in ours, "in JSON, missing strings are null", ours)


if not tool.has_netcdf4():
    tap.finish()
SOURCE = tap.scratch("netcdf4.nc")
make_netcdf4(SOURCE)
check_dump(SOURCE)
tap.finish()
