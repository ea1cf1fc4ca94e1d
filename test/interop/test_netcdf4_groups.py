"""Groups of netCDF-4 files: netCDF4-python, h5py and ncdump read those that this library defines on 1, 2 and 4 ranks,
and it adds to files of netCDF4-python that have groups."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, has_hdf5, ok, run_mpi, scratch, skip  # noqa: E402

try:
    import h5py
    import netCDF4
    import numpy as np
except ImportError:
    skip("groups", "h5py or netCDF4 is not installed (Debian: python3-h5py, python3-netcdf4)")
    finish()

PROGRAM = "test/interop/netcdf4_groups"
LENGTH = 12
INDEX = np.arange(LENGTH, dtype="i4")
NAMES = """group forecast
group empty
group late
group forecast/high
dimension x 12
dimension forecast/time 1
dimension forecast/high/level 12
dimension late/x 12
variable tas
variable forecast/tas
variable forecast/time
variable forecast/high/level
variable forecast/high/extra
variable late/x
attribute title
attribute forecast/title
attribute forecast/models
attribute forecast/high/title
attribute late/title""".splitlines()


def compare(bad, what, found, expected):
    if isinstance(expected, np.ndarray):
        good = np.array_equal(np.ma.filled(found, -1), expected)
    else:
        good = found == expected
    if not good:
        bad.append(f"{what}: {found!r}, expected {expected!r}")


def find_differences(path):
    bad = []
    with netCDF4.Dataset(path) as file:
        forecast, late = file["forecast"], file["late"]
        high = forecast["high"]
        for what, found, expected in (
                ("groups", sorted(file.groups), ["empty", "forecast", "late"]),
                ("dimensions", [list(group.dimensions) for group in (file, forecast, high, late)],
                 [["x"], ["time"], ["level"], ["x"]]),
                ("variables", [sorted(group.variables) for group in (file, forecast, high, late, file["empty"])],
                 [["tas"], ["tas", "time"], ["extra", "level"], ["x"], []]),
                ("dimensions of variables", [forecast["tas"].dimensions, high["level"].dimensions,
                                             high["extra"].dimensions, forecast["time"].dimensions],
                 [("time", "x"), ("level",), ("level",), ("time",)]),
                ("group of a dimension", forecast["tas"].get_dims()[1].group().path, "/"),
                ("unlimited", forecast.dimensions["time"].isunlimited(), True),
                ("attributes", [file.title, forecast.title, forecast.models, high.title, late.title],
                 ["root", "new", ["one", "two"], "high", "end"]),
                ("units", forecast["tas"].units, "K"),
                ("filters", forecast["tas"].filters()["zlib"], True),
                ("/forecast/tas", forecast["tas"][0], INDEX), ("/tas", file["tas"][:], 2 * INDEX),
                ("level", high["level"][:], 3 * INDEX), ("late/x", late["x"][:], 4 * INDEX),
                ("extra", high["extra"][:], 5 * INDEX)):
            compare(bad, what, found, expected)
    with h5py.File(path, "r") as file:
        compare(bad, "scales", [file["forecast/tas"].dims[0][0].name, file["forecast/tas"].dims[1][0].name,
                                file["forecast/high/extra"].dims[0][0].name],
                ["/forecast/time", "/x", "/forecast/high/level"])
        compare(bad, "attributes of the group", sorted(file["forecast"].attrs), ["models", "title"])
        ids = [int(file[name].attrs["_Netcdf4Dimid"])
               for name in ("x", "forecast/time", "forecast/high/level", "late/x")]
        compare(bad, "ids", sorted(set(ids)), [0, 1, 2, 3])
        for name in ("forecast", "late", "forecast/high"):
            order = file[name].id.get_create_plist().get_link_creation_order()
            compare(bad, f"order of {name}", order, h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
    dump = subprocess.run(["ncdump", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in ("group: forecast {", "  group: high {", "group: empty {", "\ttime = UNLIMITED ; // (1 currently)"):
        if line not in dump.stdout:
            bad.append(f"ncdump: no {line!r}\n{dump.stdout}")
    return "\n".join(bad)


def run(ranks, title, *arguments):
    status, stdout, stderr = run_mpi(ranks, PROGRAM, *arguments)
    ok(status == 0 and stdout == "", title, stdout + stderr)


def check_names(path, expected, title, ranks=1):
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "list", path)
    ok(status == 0 and stdout.splitlines() == expected, title,
       stdout + stderr + "\nexpected:\n" + "\n".join(expected))


def check_created(ranks):
    path = scratch(f"groups_{ranks}.nc")
    run(ranks, f"groups are defined on {ranks} ranks", "put", path)
    bad = find_differences(path)
    ok(not bad, f"netCDF4, h5py and ncdump read them, of {ranks} ranks", bad)
    check_names(path, NAMES, f"and this library, of {ranks} ranks", ranks)
    run(ranks, f"wrong calls on {ranks} ranks", "refuse", scratch("refused.nc"))


def check_renamed(ranks):
    path = scratch(f"renamed_{ranks}.nc")
    run(ranks, f"a file for {ranks} ranks", "put", path)
    run(ranks, f"groups are renamed on {ranks} ranks", "rename", path)
    bad = []
    with netCDF4.Dataset(path) as file:
        forecast, late, newer = file["forecast"], file["late"], file["newer"]
        upper = late["upper"]
        for what, found, expected in (
                ("groups", [list(group.groups) for group in (file, forecast, late)],
                 [["late", "empty", "forecast", "newer"], [], ["upper"]]),
                ("variables", [sorted(group.variables) for group in (file, forecast, late, upper, newer)],
                 [["tas"], ["x"], ["tas", "time"], ["extra", "level"], ["x"]]),
                ("dimensions", [late["tas"].dimensions, upper["extra"].dimensions, forecast["x"].dimensions,
                                newer["x"].dimensions], [("time", "x"), ("level",), ("x",), ("x",)]),
                ("attributes", [late.title, late.models, upper.title, forecast.title, newer.title],
                 ["new", ["one", "two"], "high", "late", "new"]),
                ("late/tas", late["tas"][0], INDEX), ("forecast/x", forecast["x"][:], 4 * INDEX),
                ("extra", upper["extra"][:], 5 * INDEX), ("newer/x", newer["x"][:], 6 * INDEX),
                ("level", upper["level"][:], 7 * INDEX)):
            compare(bad, what, found, expected)
    with h5py.File(path, "r") as file:
        compare(bad, "scales", [file["late/tas"].dims[0][0].name, file["late/upper/extra"].dims[0][0].name],
                ["/late/time", "/late/upper/level"])
    ok(not bad, f"netCDF4 and h5py read them, of {ranks} ranks", "\n".join(bad))


def make_peer_file(path):
    with netCDF4.Dataset(path, "w") as file:
        file.title = "of netCDF4"
        file.createDimension("z", 3)
        file.createVariable("root", "f8", ("z",))[:] = [1, 2, 3]
        forecast = file.createGroup("forecast")
        forecast.title = "forecast"
        forecast.setncattr_string("list", ["p", "q"])
        forecast.createDimension("x", LENGTH)
        forecast.createDimension("t", None)
        forecast.createVariable("x", "f8", ("x",))[:] = np.arange(LENGTH)
        forecast.createVariable("tas", "i4", ("x",), zlib=True)[:] = 7
        forecast.createVariable("series", "i4", ("t", "z"))[:] = np.arange(6).reshape(2, 3)
        file.createGroup("other").createVariable("lonely", "i4", ())[...] = 5


def check_appended(ranks):
    path = scratch(f"appended_{ranks}.nc")
    make_peer_file(path)
    run(ranks, f"a file of netCDF4 gets more groups, on {ranks} ranks", "append", path)
    bad = []
    with netCDF4.Dataset(path) as file:
        forecast = file["forecast"]
        inner = forecast["inner"]
        for what, found, expected in (
                ("root", file["root"][:], np.array([1.0, 2, 3])),
                ("x", forecast["x"][:], np.arange(LENGTH, dtype="f8")),
                ("series", forecast["series"][:], np.arange(6).reshape(2, 3)),
                ("lonely", int(file["other"]["lonely"][...]), 5), ("tas", forecast["tas"][:], 4 * INDEX),
                ("added", forecast["added"][:], INDEX), ("inner/added", inner["added"][:], 2 * INDEX),
                ("inner/y", inner["y"][:], 3 * INDEX),
                ("attributes", [file.title, file.history, forecast.title, forecast.list, inner.title],
                 ["of netCDF4", "changed", "changed", ["p", "q"], "inner"]),
                ("dimensions", [forecast["added"].dimensions, inner["added"].dimensions, inner["y"].dimensions,
                                forecast["series"].dimensions], [("x",), ("x",), ("y",), ("t", "z")])):
            compare(bad, what, found, expected)
    with netCDF4.Dataset(path, "a") as file:
        file["forecast"].createDimension("again", 2)
        file["forecast/inner"].createVariable("again", "i4", ("again",))[:] = [8, 9]
    with netCDF4.Dataset(path) as file:
        compare(bad, "what netCDF4 has added", file["forecast/inner/again"][:], np.array([8, 9]))
    ok(not bad, f"netCDF4 finds what was there and what was added, and adds more, of {ranks} ranks", "\n".join(bad))


if not has_hdf5():
    skip("groups", "this build has no libhdf5")
    finish()
for ranks in (1, 2, 4):
    check_created(ranks)
    check_appended(ranks)
    check_renamed(ranks)
finish()
