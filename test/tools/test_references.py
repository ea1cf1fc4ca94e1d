"""nc_references: files of references that programs leave at close. They are those of ncoffsets, byte for byte; and a
reader of this test, which knows numpy and zlib only, finds the values by them that netCDF4 reads from the files."""
import base64
import json
import os
import re
import shutil
import sys
import zlib

import netCDF4
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import tap  # noqa: E402
import tool  # noqa: E402

HINT = "nc_references=enable"
COMPRESSED = "nc_format=netcdf4;nc_compression=deflate:1;nc_chunks=1,5;nc_chunks=5"
KINDS = [("classic", "")]
if tap.has_hdf5():
    KINDS += [("netCDF-4", "nc_format=netcdf4"), ("compressed netCDF-4", COMPRESSED)]


def act(action, hints="", path="f.nc", ranks=3, on=True):
    """The codes of close on all ranks, the message of rank 0, and stderr. No codes: the program has not closed."""
    env = {**os.environ, "PNETCDF_HINTS": ";".join(filter(None, [hints, HINT if on else ""]))}
    _, out, err = tap.run_mpi(ranks, "test/tools/leave_references", path, action, env=env)
    found = re.search(rf"^((?:-?\d+ ){{{ranks}}})(.*)$", out, re.M)
    return ([int(code) for code in found[1].split()], found[2], err) if found else ([], out, err)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["refs"]


def read_chunk(entry, filters):
    if isinstance(entry, str):
        data = base64.b64decode(entry.removeprefix("base64:"))
    else:
        with open(entry[0], "rb") as file:
            file.seek(entry[1])
            data = file.read(entry[2])
        assert len(data) == entry[2]
    for each in reversed(filters or []):
        if each["id"] == "zlib":
            data = zlib.decompress(data)
        elif each["id"] == "shuffle":
            data = np.frombuffer(data, "u1").reshape(each["elementsize"], -1).T.tobytes()
        else:
            raise ValueError(each)
    return data


def read_by_references(refs):
    """By variable: shape, type and values."""
    found = {}
    for key in refs:
        if not key.endswith("/.zarray"):
            continue
        name, array = key[:-len("/.zarray")], json.loads(refs[key])
        values = np.full(array["shape"], array["fill_value"] or 0, array["dtype"])
        grid = [range(-(-n // c)) for n, c in zip(array["shape"], array["chunks"])]
        for at in np.ndindex(*[len(each) for each in grid]):
            entry = refs.get(f"{name}/{'.'.join(map(str, at)) or '0'}")
            if entry is None:
                continue
            chunk = np.frombuffer(read_chunk(entry, array["filters"]), array["dtype"]).reshape(array["chunks"])
            where = tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(at, array["chunks"], array["shape"]))
            values[where] = chunk[tuple(slice(0, w.stop - w.start) for w in where)]
        found[name] = values
    return found


def read_by_netcdf(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: np.array(variable[...]) for name, variable in file.variables.items()}


def is_right(label, path="f.nc"):
    if not tap.ok(os.path.exists(path + ".json"), f"{label}: there are references", os.listdir()):
        return
    done = tool.run("ncoffsets", "--kerchunk", path)
    with open(path + ".json", "rb") as file:
        tap.ok(done.returncode == 0 and done.stdout == file.read(), f"{label}: those of ncoffsets", done)
    ours, theirs = read_by_references(load(path + ".json")), read_by_netcdf(path)
    tap.ok(ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in theirs),
           f"{label}: the values of netCDF4", (ours, theirs))
    tap.ok(not [name for name in os.listdir() if "partial" in name], f"{label}: nothing temporary is left")


def facts(path):
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns


def test_life(label, hints):
    codes, _, err = act("create", hints)
    tap.ok(codes == [0, 0, 0] and not err, f"{label}, a new file: close succeeds", (codes, err))
    is_right(f"{label}, a new file")
    before = facts("f.nc.json")
    codes, _, err = act("keep", hints)
    tap.ok(codes == [0, 0, 0] and facts("f.nc.json") == before, f"{label}, closed unchanged: they stay", (codes, err))
    for action in ("append", "grow"):
        codes, _, err = act(action, hints)
        tap.ok(codes == [0, 0, 0] and facts("f.nc.json") != before, f"{label}, {action}: new ones", (codes, err))
        is_right(f"{label}, {action}")
        before = facts("f.nc.json")
    os.remove("f.nc.json")
    act("keep", hints)
    is_right(f"{label}, opened for writing without references")
    codes, _, _ = act("abort", hints)
    tap.ok(codes == [0, 0, 0], f"{label}: ncmpi_abort succeeds", codes)
    is_right(f"{label}, abort in data mode, which keeps the file")
    act("leave", hints)
    tap.ok(not os.path.exists("f.nc.json"), f"{label}: a new file that was not closed has none, not the old ones")
    act("create", hints + ";nc_whole_files=enable")
    is_right(f"{label}, nc_whole_files")
    act("create", hints + ";nc_write_behind=enable")
    is_right(f"{label}, nc_write_behind")
    before = facts("f.nc.json")
    act("append", hints, on=False)
    tap.ok(facts("f.nc.json") == before, f"{label}: without the hint nothing is written")


def test_trouble(label, hints):
    for what, ranks in (("a text", 3), ("a pipe", 1), ("a folder", 2)):
        os.makedirs(what, exist_ok=True)
        path = os.path.join(what, "f.nc")
        if what == "a text":
            with open(path + ".json", "w", encoding="utf-8") as file:
                file.write("mine")
        elif what == "a pipe":
            os.mkfifo(path + ".json")
        else:
            os.makedirs(path + ".json.partial", exist_ok=True)
        codes, message, _ = act("create", hints, path, ranks)
        tap.ok(len(set(codes)) == 1 and codes[0] != 0, f"{label}, {what} is in the way: an error on all ranks", codes)
        tap.ok("the file is complete, but without references" in message and ".json" in message,
               f"{label}, {what}: the message of rank 0", message)
        with netCDF4.Dataset(path) as file:
            tap.ok(file["record"].shape == (2, 12), f"{label}, {what}: the file is complete")
        shutil.rmtree(what) if what != "a text" else None
    with open("a text/f.nc.json", encoding="utf-8") as file:
        tap.ok(file.read() == "mine", f"{label}: what is not references stays")
    shutil.rmtree("a text")


def test_left_out():
    with netCDF4.Dataset("left.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 12)
        file.createVariable("record", "f8", ("time", "x"), zlib=True)[:2] = 1
        file.createVariable("sum", "f8", ("x",), zlib=True, fletcher32=True)[:] = 1
    codes, _, err = act("append", "", "left.nc", 2)
    tap.ok(codes == [0, 0] and err.count("variable sum has no references (nc_references): ") == 1,
           "a variable that readers of Zarr cannot read is left out, with one warning", (codes, err))
    tap.ok(set(read_by_references(load("left.nc.json"))) == {"record"}, "the others have references")


def test_display():
    program = "test/tools/leave_references"
    for hints, needle in (("nc_driver=memory", "ignored: the driver memory keeps no file"), ("", "enable")):
        env = {**os.environ, "PNETCDF_HINTS": ";".join(filter(None, [hints, HINT])), "PNETCDF_HINTS_DISPLAY": "1"}
        _, out, err = tap.run_mpi(1, program, "display.nc", "create", env=env)
        line = [each for each in (out + err).splitlines() if "nc_references" in each]
        tap.ok(len(line) == 1 and needle in line[0], f"the display: {needle}", out + err)
    tap.ok(os.path.exists("display.nc.json"), "and there are references")


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
for each in KINDS:
    test_life(*each)
    test_trouble(*each)
if tap.has_hdf5():
    test_left_out()
else:
    tap.skip("netCDF-4 files", "the build is without HDF5")
test_display()
tap.finish()
