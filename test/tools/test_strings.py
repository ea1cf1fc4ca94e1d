"""Variables of strings in ncmpidump, ncmpidiff and cdfdiff: files that netCDF4-python and h5py have written, as they
and Debian's ncdump show them."""
import json
import os
import shutil
import subprocess
import sys

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool

try:
    import h5py
except ImportError:
    h5py = None

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


def diff(ranks, *arguments):
    """Of cdfdiff, or of ncmpidiff on so many ranks."""
    if ranks == 0:
        result = tool.run("cdfdiff", *arguments)
        return result.returncode, result.stdout.decode()
    status, out, _ = tap.run_mpi(ranks, "src/tools/ncmpidiff/ncmpidiff", *arguments)
    return status, out


def check_difference(path, change, name, *lines):
    """What differs after a change by netCDF4-python, in one line or several."""
    other = tap.scratch("other.nc")
    shutil.copy(path, other)
    with netCDF4.Dataset(other, "a") as file:
        change(file)
    for ranks in (0, 1, 3):
        status, out = diff(ranks, path, other)
        tap.ok(status == 1 and all(line in out for line in lines) and out.count("DIFF") == 1,
               f"{ranks or 'cdfdiff, not'} ranks: {name}", f"{status}\n{out}")


def put(variable, *elements):
    def change(file):
        for index, text in elements:
            file[variable][index] = text
    return change


def check_differences(path):
    same = tap.scratch("same.nc")
    shutil.copy(path, same)
    for ranks in (0, 1, 3):
        status, out = diff(ranks, "-b", path, same)
        tap.ok(status == 0 and 'SAME: variable "label" contents' in out, f"{ranks} ranks: strings are equal", out)
    check_difference(path, put("label", ((4, 1), "4.one"), ((2, 2), "2.\u20ac"), ((1, 1), "there")), "several strings",
                     'variable "label" of type "NC_STRING" at element [1, 1] of value "" vs "there"',
                     "3 of 15 elements differ")
    check_difference(path, put("label", ((3, 2), LONG[:-3] + "x" + LONG[-2:])), "the end of a long string",
                     'element [3, 2] of value ..."\u00e4', 'L\u00e4L\u00e4" vs ..."\u00e4', 'LxL\u00e4"')
    check_difference(path, put("one", (..., "scalars")), "a scalar",
                     'variable "one" of type "NC_STRING" at element [] of value "scalar" vs "scalars"')
    check_difference(path, put("fixed", (999, "name")), "the last one", 'element [999] of value "name 999" vs "name"',
                     "1 of 1000 elements differ")
    check_difference(path, put("g/inner", (2, "")), "of a group", 'variable "g/inner"', 'value "missing" vs ""')
    check_difference(path, lambda file: file.setncattr_string("list", ["a\nb"]), "strings of an attribute",
                     'global attribute "list" number of strings (2) != (1)')
    other = tap.scratch("other.nc")
    shutil.copy(path, other)
    with netCDF4.Dataset(other, "a") as file:
        file["g/inner"][2] = ""
        file["label"][0, 0] = "JSON"
    for ranks in (0, 3):
        status, out = diff(ranks, "--unwritten", "-v", "g/inner", path, other)
        tap.ok(status == 0, f"{ranks} ranks: a fill value may be unwritten in the other file", out)
        status, out = diff(ranks, "--json", path, other)
        first = json.loads(out)["differences"][0]
        tap.ok(first == {"variable": "label", "type": "string", "elements": 15, "differ": 1, "nan_in_one": 0,
                         "first": {"index": [0, 0], "values": ["0.0", "JSON"]}}, f"{ranks} ranks: JSON", out)


def check_null():
    """What h5py has never put is null; the empty string is not."""
    paths = tap.scratch("null.h5"), tap.scratch("empty.h5")
    for path in paths:
        with h5py.File(path, "w") as file:
            text = file.create_dataset("text", (5,), dtype=h5py.string_dtype("ascii"))
            text[1], text[3] = "one", ""
            if path == paths[1]:
                text[4] = ""
            file.create_dataset("equal", data=numpy.array([b"abc", b"", b"de"]))
    for ranks in (0, 1, 3):
        status, out = diff(ranks, *paths)
        tap.ok(status == 1 and 'element [4] of value NIL vs ""' in out and "1 of 5 elements" in out,
               f"{ranks} ranks: a null string differs from an empty one", out)


if not tool.has_netcdf4():
    tap.finish()
SOURCE = tap.scratch("netcdf4.nc")
make_netcdf4(SOURCE)
check_dump(SOURCE)
check_differences(SOURCE)
if h5py is None:
    tap.skip("files of h5py", "h5py is not installed (Debian: python3-h5py)")
else:
    check_null()
tap.finish()
