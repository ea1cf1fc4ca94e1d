"""HDF5 files of others with links of all kinds, names that are too long, and attributes in any order and with
newlines: definitions and values are those that ncdump prints where it opens the file, no loop of links blocks, and no
link loses a value."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, ok, run_script, scratch, skip  # noqa: E402

try:
    import h5py
    import numpy as np
except ImportError:
    skip("links of HDF5 files", "h5py is not installed (Debian: apt install python3-h5py)")
    finish()

try:
    import netCDF4
except ImportError:
    netCDF4 = None

PROGRAM = "test/interop/netcdf4_calls"
TOOLS = os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), "src/tools")
DUMP = os.path.join(TOOLS, "ncmpidump/ncmpidump")
VALIDATOR = os.path.join(TOOLS, "ncvalidator/ncvalidator")


def dump(*command):
    """Status, and the text without comments."""
    done = subprocess.run([*command], capture_output=True, text=True, check=False, timeout=100)
    text = "\n".join(line for line in done.stdout.splitlines() if not line.lstrip().startswith("//"))
    return done.returncode, text, done.stderr


def make(path, change, **how):
    """A dimension, a variable in one part and one in chunks, and what `change` adds."""
    with h5py.File(path, "w", **how) as file:
        file.create_dataset("x", data=np.arange(4)).make_scale("x")
        file.create_dataset("flat", data=np.arange(4) * 1.5).dims[0].attach_scale(file["x"])
        file.create_dataset("packed", data=np.arange(4), chunks=(3,), compression=1).dims[0].attach_scale(file["x"])
        change(file)
    return path


# --- links ---

def add_hard(file):
    file["again"] = file["flat"]
    file["other"] = file["packed"]
    file.create_group("g")["inside"] = file["packed"]


def add_soft(file):
    file["alias"] = h5py.SoftLink("/flat")
    file["second"] = h5py.SoftLink("packed")
    file["third"] = h5py.SoftLink("/second")


def add_nothing(file):
    """Soft links to nothing, to themselves, to each other, to another file and through a link to another file, to a
    dimension and a group; a type."""
    outside = scratch("outside.h5")
    with h5py.File(outside, "w") as other:
        other["secret"] = np.arange(5)
    file["external"] = h5py.ExternalLink(outside, "/secret")
    for name, target in (("nowhere", "/no/such"), ("self", "/self"), ("there", "/back"), ("back", "/there"),
                         ("through", "/external"), ("scale", "/x"), ("group", "/")):
        file[name] = h5py.SoftLink(target)
    file["type"] = np.dtype("i4")


def add_loops(file):
    group = file.create_group("g")
    group["y"] = np.arange(2)
    group["me"] = group
    group["top"] = file["/"]
    group["up"] = h5py.SoftLink("/")
    group.create_group("h")["g"] = group


def check_links(ranks):
    names = {}
    for add, wanted in ((add_hard, "again flat other packed x"), (add_soft, "alias flat packed second third x"),
                        (add_nothing, "flat packed x"), (add_loops, "flat packed x")):
        path = make(scratch(f"{add.__name__}.h5"), add)
        status, text, complaint = dump(DUMP, path)
        names = sorted(re.findall(r"^\t\w+ (\w+)\(\w+\) ;", text, re.M))
        ok(status == 0 and " ".join(names) == wanted, f"{add.__name__}: the variables that the links lead to",
           f"{names} {complaint}")
        done = subprocess.run([VALIDATOR, path], capture_output=True, text=True, check=False, timeout=100)
        ok(done.returncode == 0, f"{add.__name__}: ncvalidator accepts them", done.stdout + done.stderr)
        if shutil.which("ncdump") and add is add_soft: # groups have another text
            ok(dump("ncdump", path)[1] == text, f"{add.__name__}: ncdump prints the same", text)
        found = run_script(ranks, PROGRAM, "get.txt", [f"open {path} 0", *(f"get {name}" for name in names), "close"])
        with h5py.File(path) as file:
            values = [f"{name} " + " ".join(f"{v:.17g}" for v in file[name].astype("f8")[...]) for name in names]
        ok(found.splitlines() == values, f"{add.__name__}: values on {ranks} ranks", found)


def add_both(file):
    add_hard(file)
    add_soft(file)
    data = file.create_dataset("lacking", shape=(4,), dtype="i4")
    data.dims[0].attach_scale(file["x"])
    file["empty"] = h5py.SoftLink("/lacking")
    time = file.create_dataset("time", shape=(2,), maxshape=(None,), chunks=(4,), dtype="i4", compression=1)
    time[...] = [1, 2]
    file["when"] = time


def check_puts(ranks):
    """One variable of a dataset in chunks takes values, so that none is lost; definitions change beside the links."""
    path = make(scratch("puts.h5"), add_both, track_order=True)
    found = run_script(ranks, PROGRAM, "puts.txt", [
        f"open {path} 1", "put packed 0 2 70,71", "put other 2 2 72,73", "put third 2 2 72,73", "put flat 0 1 80",
        "put lacking 0 4 1,2,3,4", "put empty 0 1 9", "put time 2 2 3,4", "put when 0 1 7", "sync", "get packed",
        "get other", "get third", "redef", "att second units m", "enddef", "close", f"open {path} 1", "get empty",
        "get when", "close"])
    lines = found.splitlines()
    refused = [line.split()[3].rstrip(":") for line in lines if line.startswith("error NC_ENOTSUPPORT put")]
    ok(refused == ["other", "third", "empty", "when"] and lines[4:] ==
       ["packed 70 71 2 3", "other 70 71 2 3", "third 70 71 2 3", "empty 1 2 3 4", "when 1 2 3 4"],
       f"{ranks} ranks: puts through one link, gets through all", found)
    with h5py.File(path) as file:
        ok(list(file["packed"]) == [70, 71, 2, 3] and list(file["flat"]) == [80, 1.5, 3, 4.5] and
           list(file["lacking"]) == [1, 2, 3, 4] and list(file["time"]) == [1, 2, 3, 4] and
           file["packed"].attrs["units"] == b"m", f"{ranks} ranks: h5py reads the same")


def add_for_redef(file):
    file["again"] = file["packed"]
    add_soft(file)
    add_nothing(file)


def check_redef(ranks):
    path = make(scratch("redef.h5"), add_for_redef, track_order=True)
    found = run_script(ranks, PROGRAM, "redef.txt", [f"open {path} 1", "redef", "dim y 2", "var more int y,x", "enddef",
                                                     "put more 0,0 2,4 1,2,3,4,5,6,7,8", "get third", "close"])
    with h5py.File(path) as file:
        good = (file["more"].shape == (2, 4) and file["more"][1, 3] == 8 and list(file["third"]) == [0, 1, 2, 3] and
                file.get("self", getlink=True).path == "/self" and file["again"] == file["packed"])
    ok(found == "third 0 1 2 3\n" and good, f"{ranks} ranks: new definitions beside links", found)


# --- names that are too long ---

def add_long(file):
    for length in (255, 256, 257, 300, 5000):
        file["n" * length] = np.arange(length % 7)
    file.create_dataset("d" * 257, data=np.arange(3)).make_scale()
    file.create_dataset("using", data=np.arange(3)).dims[0].attach_scale(file["d" * 257])
    group = file
    for _ in range(6):
        group = group.create_group("g" * 100)
    group["deep"] = 1
    file["flat"].attrs["a" * 256] = 1
    file["flat"].attrs["b" * 257] = 2
    file.attrs["c" * 300] = 3
    file.attrs["last"] = 4


def check_long_names():
    path = make(scratch("long.h5"), add_long)
    status, text, complaint = dump(DUMP, "-h", path)
    names = re.findall(r"^\t\w+ (\w+)\(", text, re.M)
    ok(status == 0 and sorted(len(name) for name in names if name[0] == "n") == [255, 256] and "using" in names and
       f"flat:{'a' * 256} = 1" in text and ":last = 4" in text and "bbb" not in text and "ccc" not in text,
       "names of more than 256 bytes leave out their objects, not the file", text[:2000] + complaint)
    found = run_script(1, PROGRAM, "long.txt", [f"open {path} 1", "put flat 0 1 9", "get flat", "get using", "close"])
    ok(found == "flat 9 1.5 3 4.5\nusing 0 1 2\n", "and the others are read and written", found)
    with h5py.File(path) as file:
        ok("n" * 5000 in file and list(file["flat"]) == [9, 1.5, 3, 4.5], "which leaves them as they are")


# --- attributes ---

def check_order():
    if not shutil.which("ncdump"):
        skip("the order of attributes", "ncdump is not installed (Debian: apt install netcdf-bin)")
        return
    names = ["z", "b", "M", "_x", "a", "y", "C", "k", "q", "d", "A", "w", "long_name", "units"]
    wrong = []
    for tracks in (False, True):
        for version in ("earliest", "latest"):
            for n in (3, 8, 9, 14):
                path = scratch(f"order_{tracks}_{version}_{n}.h5")
                with h5py.File(path, "w", track_order=tracks, libver=version) as file:
                    data = file.create_dataset("v", data=np.arange(3), track_order=tracks)
                    for target in (file, data):
                        for name in names[:n]:
                            target.attrs[name] = 1
                        del target.attrs["b"]
                        target.attrs["b"] = 2
                if dump("ncdump", path)[1] != dump(DUMP, path)[1]:
                    wrong.append(f"{path}\n{dump('ncdump', '-h', path)[1]}\n{dump(DUMP, '-h', path)[1]}")
    ok(not wrong, "attributes in the order of ncdump, with and without an order of creation, few and many",
       "\n".join(wrong))


# --- newlines ---

TEXTS = {"plain": "one line", "two": "first\nsecond", "end": "first\nsecond\n", "only": "\n", "many": "a\n\n\nb\n\n",
         "quote": 'say "x"\nand \\ tab\there\r', "letters": "\u00fcber\n\u00df", "long": "x" * 90 + "\n" + "y" * 90}


def make_texts(path, form):
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("x", 3)
        var = file.createVariable("v", "i4", ("x",))
        var[:] = [1, 2, 3]
        for target in (file, var):
            for name, value in TEXTS.items():
                target.setncattr(name, value)
                if form == "NETCDF4":
                    target.setncattr_string("s_" + name, value)
            if form == "NETCDF4":
                target.setncattr_string("strings", ["a", "b\nc", "", "\n", "d\n"])
    return path


def make_texts_by_h5py(path):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("v", data=[1, 2])
        for name, value in TEXTS.items():
            data.attrs["fixed_" + name] = np.bytes_(value.encode())
            data.attrs["variable_" + name] = value
        data.attrs["strings"] = np.array([b"ab", b"c\nd", b"", b"e\n"], "S4")
        data.attrs["more"] = ["x", "y\nz", ""]
    return path


def check_newlines():
    if not shutil.which("ncdump") or netCDF4 is None:
        skip("newlines in attributes", "ncdump or netCDF4 is not installed (Debian: netcdf-bin, python3-netcdf4)")
        return
    paths = [make_texts_by_h5py(scratch("texts.h5"))]
    for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC", "NETCDF4"):
        paths.append(make_texts(scratch(f"texts_{form}.nc"), form))
    wrong = [path + "\n" + dump(DUMP, path)[1] for path in paths if dump("ncdump", path)[1] != dump(DUMP, path)[1]]
    ok(not wrong, "newlines in attributes are printed as by ncdump, in files of all formats", "\n".join(wrong))


if not has_hdf5():
    skip("links of HDF5 files", "the build is without HDF5")
    finish()
for number in choose((2,), (1, 3), (1, 2, 4)):
    check_links(number)
    check_puts(number)
    check_redef(number)
check_long_names()
check_order()
check_newlines()
finish()
