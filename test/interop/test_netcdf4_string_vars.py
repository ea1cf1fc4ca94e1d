"""Variables of strings that this library defines and puts, on 1, 2 and 4 ranks: netCDF4-python, h5py, xarray and ncdump
read them as those of a file that netCDF4-python has written. Files of others are appended to. Calls that fail, also on
one rank only, and a file that cannot grow for some time."""
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
    skip("variables of strings", "h5py or netCDF4 is not installed (Debian: python3-h5py, python3-netcdf4)")
    finish()

PROGRAM = "test/interop/netcdf4_string_vars"
X, OWN, LONG = 5, 8, 3000000


def text(kind, a, b):
    return f"{kind} {a}.{b} \u00e4"


def wanted(ranks):
    """By name: the strings; None where none was ever written, and for NULL."""
    log = [[text("log", record, x) for x in range(X)] for record in range(2 * ranks)]
    for record in log[::2]:
        record[3] = None
    log.append([""] * X)
    alone = [None, "alone", None, None, None]
    return {"names": [text("name", i, 0) for i in range(X)], "log": log, "one": "alone",
            "filled": ["missing" if t is None else t for t in alone],
            "by_call": ["missing" if t is None else t for t in alone],
            "group/inner": [text("own", i, 0) if i < ranks else "" for i in range(OWN)],
            "added": ["", "late", "", "", ""],
            "long": [""] * (2 * ranks) + [chr(ord("a") + ranks) * LONG]}


def plain(values):
    """As lists; NULL, which netCDF4 and h5py show as an empty string, like it."""
    if isinstance(values, (list, np.ndarray)) and np.shape(values) != ():
        return [plain(value) for value in values]
    values = values.item() if isinstance(values, np.ndarray) else values
    if isinstance(values, bytes):
        values = values.decode()
    return values or ""


def find_differences(path, expected):
    bad = []
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        for name, values in expected.items():
            found = plain(file[name][...])
            if found != plain(values):
                bad.append(f"netCDF4: {name}: {str(found)[:300]}")
    with h5py.File(path) as file:
        for name, values in expected.items():
            found = file[name][()]
            found = plain(found)
            found += [""] * (len(values) - len(found)) if name == "long" else ""
            rows = len(values) - len(found) if name == "log" else 0
            found = found + [[""] * X] * rows if rows else found
            if found != plain(values):
                bad.append(f"h5py: {name}: {str(found)[:300]}")
    return "\n".join(bad)


def dump(path, *options):
    return subprocess.run(["ncdump", *options, path], stdout=subprocess.PIPE, text=True).stdout.split("\n", 1)[1]


def make_twin(path, ranks):
    """The same, by netCDF4-python. It puts no NULL: a string that was never put is there instead."""
    expected = wanted(ranks)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("x", X), ("time", None), ("own", OWN)):
            file.createDimension(name, length)
        file.createVariable("names", str, ("x",))[:] = np.array(expected["names"], object)
        log = file.createVariable("log", str, ("time", "x"))
        file.createVariable("one", str, ())[...] = "alone"
        for name in ("filled", "by_call"):  # netCDF4 does not read its own strings if "by_call" is in chunks, as ours
            file.createVariable(name, str, ("x",), fill_value="missing")[1] = "alone"
        inner = file.createGroup("group").createVariable("inner", str, ("own",))
        for i in range(ranks):
            inner[i] = expected["group/inner"][i]
        numbers = file.createVariable("numbers", "i4", ("time",), zlib=True, complevel=1)
        long = file.createVariable("long", str, ("time",))
        for record, row in enumerate(expected["log"][:-1]):
            for x, value in enumerate(row):
                log[record, x] = value or ""
            numbers[record] = record // 2 * (-1) ** (record % 2)
        long[2 * ranks] = expected["long"][-1]
        file.createVariable("added", str, ("x",))[1] = "late"


def check_put(ranks):
    path, twin = scratch(f"put_{ranks}.nc"), scratch(f"twin_{ranks}.nc")
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "put", path)
    ok(status == 0 and stdout == "", f"strings are put on {ranks} ranks", stdout + stderr)
    bad = find_differences(path, wanted(ranks))
    ok(not bad, f"netCDF4 and h5py read them, of {ranks} ranks", bad)
    make_twin(twin, ranks)
    ours, theirs = dump(path).replace("NIL", "_"), dump(twin)
    ok(ours == theirs, f"ncdump shows what netCDF4 has put, of {ranks} ranks",
       "\n".join(f"{a[:120]} | {b[:120]}" for a, b in zip(ours.split("\n"), theirs.split("\n")) if a != b))
    kinds = [subprocess.run(["h5dump", "-H", "-p", "-d", name, file], stdout=subprocess.PIPE, text=True).stdout
             for file in (path, twin) for name in ("names", "filled", "one")]
    facts = [[line.strip() for line in kind.split("ATTRIBUTE")[0].splitlines() if any(word in line for word in (
        "STRSIZE", "STRPAD", "CSET", "DATASPACE", "CHUNKED", "CONTIGUOUS", "VALUE", "FILL_TIME"))] for kind in kinds]
    ok(facts[:3] == facts[3:], f"they are stored as netCDF-C does, of {ranks} ranks", f"{facts[:3]}\n{facts[3:]}")
    try:
        import xarray
    except ImportError:
        skip("xarray reads them", "xarray is not installed")
        return
    with xarray.open_dataset(path, engine="netcdf4") as a, xarray.open_dataset(twin, engine="netcdf4") as b:
        ok(a.drop_vars(["log"]).identical(b.drop_vars(["log"])), f"xarray reads the same, of {ranks} ranks",
           f"{a}\n{b}")


def check_many(ranks, n, *length):
    """More than what rank 0 receives in a round, and than what it has in memory; or a round that is full but for a few
    strings, fewer bytes than the heads of its parts."""
    path = scratch(f"many_{ranks}.nc")
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "many", path, str(n), *map(str, length))
    with netCDF4.Dataset(path) as file:
        found = file["many"][:].ravel()
    bad = [i for i in range(n) if found[i] != f"{i:0{length[0] if length else 60 + i % 60}d}"]
    name = f"{n} strings of {ranks} ranks" + (f", each of {length[0]} bytes" if length else "")
    ok(status == 0 and stdout == "" and not bad, name,
       f"{stdout}{stderr}{len(bad)} differ, the first one is {bad[:1]}")


def make_files_of_others():
    paths = {"netCDF4": scratch("of_netcdf4.nc"), "h5py": scratch("of_h5py.nc")}
    with netCDF4.Dataset(paths["netCDF4"], "w") as file:
        file.createDimension("x", X)
        file.createDimension("time", None)
        file.createVariable("names", str, ("x",))[:] = np.array([f"old {i}" for i in range(X)], object)
        log = file.createVariable("log", str, ("time", "x"))
        for record in range(3):
            log[record, 1] = f"record {record}"
    with h5py.File(paths["h5py"], "w", track_order=True) as file:
        kind = h5py.string_dtype()
        file["x"] = np.arange(X)
        file.create_dataset("time", data=np.arange(3), maxshape=(None,), chunks=(4,))
        names = file.create_dataset("names", (X,), kind)
        log = file.create_dataset("log", (3, X), kind, maxshape=(None, X), chunks=(2, X))
        file["x"].make_scale("x")
        file["time"].make_scale("time")
        names.dims[0].attach_scale(file["x"])
        log.dims[0].attach_scale(file["time"])
        log.dims[1].attach_scale(file["x"])
        names[:] = [f"old {i}" for i in range(X)]
        for record in range(3):
            log[record, 1] = f"record {record}"
    return paths


def check_append(ranks):
    for maker, path in make_files_of_others().items():
        status, stdout, stderr = run_mpi(ranks, PROGRAM, "append", path)
        expected = {"names": ["old 0", "new name"] + [f"old {i}" for i in range(2, X)],
                    "log": [["", f"record {i}", "", "", ""] for i in range(3)] +
                           [[text("append", rank, x) for x in range(X)] for rank in range(ranks)]}
        bad = stdout + stderr if status != 0 or stdout else find_differences(path, expected)
        with h5py.File(path) as file:
            later = plain(file["later"][()])
        if later not in [[text("append", rank, x) for x in range(X)] for rank in range(ranks)]:
            bad += f"later: {later}"
        ok(not bad, f"strings are appended to a file of {maker} on {ranks} ranks", bad)


def check_failures(ranks):
    other = scratch("fixed.nc")
    with h5py.File(other, "w", track_order=True) as file:
        file["fixed"] = np.array([b"ab", b"cde"])
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "refuse", scratch("."), other)
    ok(status == 0 and stdout == "", f"calls that fail on {ranks} ranks", stdout + stderr)
    with h5py.File(scratch(f"refused_{ranks}.nc")) as file, h5py.File(other) as fixed:
        found, length = plain(file["v"][()]), plain(fixed["fixed"][()])
    ok(found == [""] * X and length == ["ab", "cde"], f"nothing was put by them on {ranks} ranks", f"{found} {length}")
    path = scratch(f"full_{ranks}.nc")
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "full", path)
    ok(status == 0 and stdout == "", f"a file that cannot grow on {ranks} ranks", stdout + stderr)
    with h5py.File(path) as now, h5py.File(path + ".failed") as before:
        found, old = plain(now["v"][()]), plain(before["v"][()])
    ok(old == [("before" if i < ranks else "") for i in range(OWN)],
       f"it keeps the strings of the last sync, of {ranks}", old)
    ok(found == [text("after", i, 0) if i < ranks else "" for i in range(OWN)],
       f"it gets the new ones when it can, of {ranks}", found)


def check_live():
    status, stdout, stderr = run_mpi(2, PROGRAM, "live", scratch("live.nc"))
    ok(status == 0 and stdout == "", "strings of a file that another program writes are right, or refused",
       stdout + stderr)


if not has_hdf5():
    skip("variables of strings", "this build has no libhdf5")
    finish()
for ranks in (1, 2, 4):
    check_put(ranks)
    check_append(ranks)
    check_failures(ranks)
check_live()
check_many(1, 20000)
check_many(4, 150000)
check_many(2, 500000)
check_many(1, 66052, 118)
check_many(2, 66052, 118)
finish()
