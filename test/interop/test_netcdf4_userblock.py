"""HDF5 files with a block of the program's own in front, as MATLAB makes them: read, appended to and changed on several
ranks. h5py, h5dump and ncdump have the last word, and the block keeps its bytes."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, ok, run_script, scratch, skip  # noqa: E402

try:
    import h5py
    import numpy as np
except ImportError:
    skip("files with user blocks", "h5py is not installed (Debian: apt install python3-h5py)")
    finish()

PROGRAM = "test/interop/netcdf4_calls"
FRONT = b"MATLAB 7.3 MAT-file, Platform: GLNXA64 "
ROWS, COLUMNS = 3, 5


def make(path, block, version):
    """Variables with and without space, in chunks and in one part, of an unlimited dimension and a fixed one."""
    with h5py.File(path, "w", userblock_size=block, libver=version, track_order=True) as file:
        file.create_dataset("t", data=np.arange(ROWS), maxshape=(None,), chunks=(4,)).make_scale("t")
        file.create_dataset("x", data=np.arange(COLUMNS)).make_scale("x")

        def add(name, dims, **how):
            if "data" not in how:
                how["shape"] = [len(file[dim]) for dim in dims]
            data = file.create_dataset(name, **how)
            for axis, dim in enumerate(dims):
                data.dims[axis].attach_scale(file[dim])

        values = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
        add("written", ["x"], data=np.arange(COLUMNS) * 1.5)
        add("lacking", ["x"], dtype="i4")
        add("filled", ["x"], dtype="f8", fillvalue=-3.0)
        chunked = {"maxshape": (None, COLUMNS), "chunks": (2, 4)}
        add("deflated", ["t", "x"], data=values * 0.5, compression=1, shuffle=True, **chunked)
        add("plain", ["t", "x"], data=values, **chunked)
        add("unwritten", ["t", "x"], dtype="i2", compression=1, **chunked)
    with open(path, "r+b") as file:
        file.write(FRONT.ljust(block, b".")[:block])


def listed(values):
    return ",".join(map(str, np.asarray(values).ravel())) or "-"


def check_expected(path, label, block, expected):
    """What h5py reads, that h5dump and ncdump do not complain, and the block."""
    wrong = []
    with h5py.File(path) as file:
        for name, values in expected.items():
            if not np.array_equal(file[name][...], values):
                wrong.append(f"{name} {file[name][...].tolist()} expected {np.asarray(values).tolist()}")
    with open(path, "rb") as file:
        if file.read(block) != FRONT.ljust(block, b".")[:block]:
            wrong.append("the block in front has other bytes")
    for command in (["h5dump"], ["ncdump"]):
        if shutil.which(command[0]):
            done = subprocess.run([*command, path], capture_output=True, text=True, check=False)
            if done.returncode != 0 or done.stderr:
                wrong.append(f"{command[0]}: {done.stderr}")
    ok(not wrong, label, "\n".join(wrong))


def first_values():
    values = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    return {"t": np.arange(ROWS), "x": np.arange(COLUMNS), "written": np.arange(COLUMNS) * 1.5,
            "lacking": np.zeros(COLUMNS), "filled": np.full(COLUMNS, -3.0), "deflated": values * 0.5,
            "plain": values, "unwritten": np.zeros((ROWS, COLUMNS))}


def check_reading(path, ranks, label):
    expected = first_values()
    found = run_script(ranks, PROGRAM, "read.txt", [f"open {path} 0", *(f"get {n}" for n in expected),
                                                    *(f"get_alone {n}" for n in expected), "close"])
    wanted = [f"{n} " + " ".join(f"{float(v):.17g}" for v in np.ravel(values)) for n, values in expected.items()]
    ok(found.split("\n")[:-1] == 2 * wanted, f"{label}: values, also of variables without space", found)


def check_writing(path, block, ranks, label):
    """Two rows are appended, variables without space get values, then definitions change, and again."""
    expected = first_values()
    found = run_script(ranks, PROGRAM, "write.txt", [
        f"open {path} 1", "put lacking 0 5 11,12,13,14,15", "put t 3 2 3,4", "sync",
        f"put deflated 3,0 2,5 {listed(np.arange(10) + 20)}", f"put plain 3,0 2,5 {listed(np.arange(10) + 30)}",
        "put filled 1 1 7", "put filled 3 1 8", "put_alone plain 0,1 1,2 70,71",
        "put_alone unwritten 1,4 1,1 9", "sync",
        "get filled", "redef", "dim y 2", "var more float y,x", "var packed int t,x", "filter packed 1 2",
        "att - history changed", "enddef", f"put more 0,0 2,5 {listed(np.arange(10))}",
        f"put packed 0,0 5,5 {listed(np.arange(25))}", f"put deflated 0,0 1,5 {listed(np.arange(5) + 90)}", "close"])
    ok(found == "filled -3 7 -3 8 -3\n", f"{label}: no call fails", found)
    expected["lacking"] = np.arange(11, 16)
    expected["filled"] = np.array([-3, 7, -3, 8, -3])
    expected["t"] = np.arange(5)
    expected["deflated"] = np.vstack([expected["deflated"], np.arange(20, 30).reshape(2, 5)])
    expected["deflated"][0] = np.arange(90, 95)
    expected["plain"] = np.vstack([expected["plain"], np.arange(30, 40).reshape(2, 5)])
    expected["plain"][0, 1:3] = [70, 71]
    expected["unwritten"] = np.zeros((5, 5))
    expected["unwritten"][1, 4] = 9
    expected["more"] = np.arange(10).reshape(2, 5)
    expected["packed"] = np.arange(25).reshape(5, 5)
    check_expected(path, f"{label}: h5py, h5dump and ncdump read what was put", block, expected)
    with h5py.File(path, "r+") as file:
        for name in ("t", "deflated", "plain", "unwritten", "packed"):
            file[name].resize(6, axis=0)
            file[name][5] = 50
            expected[name] = np.concatenate([expected[name], np.full_like(expected[name][:1], 50)])
        file["deflated"][1] = 60
        expected["deflated"][1] = 60
    check_expected(path, f"{label}: h5py appends to it", block, expected)
    found = run_script(ranks, PROGRAM, "again.txt", [
        f"open {path} 1", "put t 6 1 6", f"put plain 6,0 1,5 {listed(range(5))}",
        "put deflated 6,0 1,5 1,2,3,4,5", "close"])
    expected["t"] = np.append(expected["t"], 6)
    expected["plain"] = np.vstack([expected["plain"], np.arange(5)])
    expected["deflated"] = np.vstack([expected["deflated"], np.arange(1, 6)])
    for name in ("unwritten", "packed"):
        expected[name] = np.vstack([expected[name], np.zeros((1, 5))])
    expected["packed"][6] = -2147483647
    ok(found == "", f"{label}: and this library to that", found)
    check_expected(path, f"{label}: which others read", block, expected)


def check_outside(label):
    """A dataset at an address behind the end of the file is an error, and none reaches the block in front."""
    path = scratch("outside.nc")
    with h5py.File(path, "w", userblock_size=512) as file:
        data = file.create_dataset("v", data=np.arange(7, 107, dtype="<u8"))
        stored = (data.id.get_offset() - 512).to_bytes(8, "little") + (800).to_bytes(8, "little")
    with open(path, "rb") as file:
        content = file.read()
    wrong = [] if content.count(stored) == 1 else ["the layout message is not found"]
    for address in (1 << 40, (1 << 64) - 300, (1 << 63) - 600):
        with open(path, "wb") as file:
            file.write(content.replace(stored, address.to_bytes(8, "little") + stored[8:]))
        before = open(path, "rb").read()
        for mode in (0, 1):
            found = run_script(1, PROGRAM, "outside.txt",
                               [f"open {path} {mode}", "put v 0 2 1,1" if mode else "get v", "close"])
            if "NC_EHDFERR" not in found.split("\n")[0]:
                wrong.append(f"address {address:x}, mode {mode}: {found}")
        if open(path, "rb").read() != before:
            wrong.append(f"address {address:x}: the file has changed")
    ok(not wrong, label, "\n".join(wrong))


if not has_hdf5():
    skip("files with user blocks", "the build is without HDF5")
    finish()
CASES = [(512, "earliest", 1), (512, "v108", 2), (1024, "latest", 3), (4096, "earliest", 2), (4096, "v110", 4),
         (8192, "latest", 1)]
for size, library, n in CASES[:choose(2, 4, len(CASES))]:
    file_path = scratch(f"block{size}_{library}.nc")
    make(file_path, size, library)
    text = f"a block of {size} bytes, version {library}, {n} ranks"
    check_reading(file_path, n, text)
    check_writing(file_path, size, n, text)
check_outside("addresses outside the file are refused, before anything is read or written there")
finish()
