"""Datasets of HDF5's own filters scaleoffset and nbit, and of numbers that have other bits than types of netCDF: read
on 1 and 3 ranks as h5py and ncdump read them, and never written. Null dataspaces, which have no values. Enums, read and
written as integers. With PNC_TEST_LONG=1 there are 4,000 datasets."""
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
    skip("scaleoffset and nbit", "h5py is not installed (Debian: apt install python3-h5py)")
    finish()

PROGRAM = "test/interop/netcdf4_calls"
DUMP = os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), "src/tools/ncmpidump/ncmpidump")
INTEGERS = [f"{order}{sign}{size}" for order in "<>" for sign in "iu" for size in (1, 2, 4, 8)]
FLOATS = ["<f4", ">f4", "<f8", ">f8"]
random = np.random.default_rng(58)


# --- datasets ---

def create(file, name, kind, values, chunk, prepare):
    """A dataset with this type in the file, whose creation properties `prepare` completes."""
    space = h5py.h5s.create_simple(values.shape)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunk:
        plist.set_chunk(chunk)
    prepare(plist)
    dataset = h5py.h5d.create(file.id, name.encode(), kind, space, plist)
    if values.size:
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))


def draw_shape():
    shape = tuple(int(n) for n in random.integers(1, 9, int(random.integers(1, 4))))
    return shape, tuple(int(random.integers(1, n + 1)) for n in shape)


def draw_integers(kind, shape):
    """Few or many values; equal ones; also the least and the largest of the type."""
    limits = np.iinfo(kind)
    width = min(int(2.0 ** random.uniform(0, 8 * np.dtype(kind).itemsize)) - 1, int(limits.max) - int(limits.min))
    low = int(limits.min) + int(random.random() * (int(limits.max) - int(limits.min) - width))
    drawn = [low + min(int(random.random() * 1.2 * width), width) for _ in range(int(np.prod(shape)))]
    return np.array(drawn, dtype=kind).reshape(shape)


def draw_scaled(file, name):
    shape, chunk = draw_shape()
    has_fill = random.random() < 0.5
    if random.random() < 0.6:
        kind = str(random.choice(INTEGERS))
        values = draw_integers(kind, shape)
        bits = 0 if random.random() < 0.7 else int(random.integers(1, 8 * np.dtype(kind).itemsize + 1))
        scale = (h5py.h5z.SO_INT, bits)
    else:
        kind = str(random.choice(FLOATS))
        values = random.normal(0, 10.0 ** random.integers(-3, 8), shape).astype(kind)
        if random.random() < 0.2:
            values[...] = values.flat[0]
        scale = (h5py.h5z.SO_FLOAT_DSCALE, int(random.integers(0, 9)))
    fill = values.flat[int(random.integers(0, values.size))]

    def prepare(plist):
        if has_fill:
            plist.set_fill_value(np.array(fill, kind))
        plist.set_scaleoffset(*scale)
        if random.random() < 0.3:
            plist.set_deflate(1)
        if random.random() < 0.3:
            plist.set_fletcher32()
    create(file, name, h5py.h5t.py_create(np.dtype(kind)), values, chunk, prepare)


def draw_number_type():
    """A type of any bits, and values that it has."""
    if random.random() < 0.7:
        base = np.dtype(str(random.choice(INTEGERS)))
        kind = h5py.h5t.py_create(base).copy()
        size = int(random.integers(1, 9))
        precision = int(random.integers(1, 8 * size + 1))
        kind.set_precision(min(precision, 8 * base.itemsize)) # it must fit before the size changes
        kind.set_offset(0)
        kind.set_size(size)
        kind.set_precision(precision)
        kind.set_offset(int(random.integers(0, 8 * size - precision + 1)))
        low, high = (0, 2 ** precision - 1) if base.kind == "u" else (-2 ** (precision - 1), 2 ** (precision - 1) - 1)
        return kind, lambda: low + int(random.random() * (high - low)), "u8" if base.kind == "u" else "i8"
    if random.random() < 0.5:
        kind = h5py.h5t.py_create(np.dtype(str(random.choice(["<f2", ">f2"]))))
        return kind, lambda: float(np.float16(random.normal(0, 10.0 ** random.integers(-8, 5)))), "f8"
    kind = (h5py.h5t.IEEE_F64LE if random.random() < 0.5 else h5py.h5t.IEEE_F64BE).copy()
    exponent, mantissa = int(random.integers(3, 9)), int(random.integers(1, 24))
    offset = int(random.integers(0, 64 - exponent - mantissa))
    kind.set_fields(offset + exponent + mantissa, offset + mantissa, exponent, offset, mantissa)
    kind.set_ebias(2 ** (exponent - 1) - 1)
    kind.set_precision(offset + 1 + exponent + mantissa)
    return kind, lambda: float(random.normal(0, 3)), "f8"


def draw_packed(file, name):
    shape, chunk = draw_shape()
    kind, draw, memory = draw_number_type()
    values = np.array([draw() for _ in range(int(np.prod(shape)))], dtype=memory).reshape(shape)
    where = random.random()

    def prepare(plist):
        if where < 0.6:
            plist.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL, ())
        if where < 0.8 and random.random() < 0.3:
            plist.set_shuffle()
            plist.set_deflate(1)
        if where > 0.9:
            plist.set_layout(h5py.h5d.COMPACT)
    create(file, name, kind, values, chunk if where < 0.8 else None, prepare)


def make(path, number):
    with h5py.File(path, "w") as file:
        for i in range(number):
            draw_scaled(file, f"scaled{i:04}")
            draw_packed(file, f"packed{i:04}")
        file["none"] = h5py.Empty("f4")
        file.attrs["half"] = np.array([1.5, -2.25], "f2")
    return path


# --- comparisons ---

def dump(*command):
    done = subprocess.run([*command], capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if not line.lstrip().startswith("//")], done.stderr


def is_misread(data):
    """ncdump 4.9.0 and h5py differ in signed integers of few bits: it extends no sign in some."""
    kind = data.id.get_type()
    return (kind.get_class() == h5py.h5t.INTEGER and kind.get_sign() == h5py.h5t.SGN_2 and
            kind.get_size() in (1, 2, 4, 8) and kind.get_precision() < 8 * kind.get_size())


def check_dumps(path):
    with h5py.File(path) as file:
        names = [name for name in file if name != "none" and not is_misread(file[name])]
    if not shutil.which("ncdump"):
        skip("the text of ncdump", "it is not installed (Debian: apt install netcdf-bin)")
        return
    wanted, found, complaints = [], [], ""
    for part in range(0, len(names), 200): # ncdump does not end with data that it cannot read: "none"
        listed = ",".join(names[part:part + 200])
        wanted += dump("ncdump", "-p", "9,17", "-v", listed, path)[0]
        more, complaint = dump(DUMP, "-p", "9,17", "-v", listed, path)
        found, complaints = found + more, complaints + complaint
    differ = [f"{a} | {b}" for a, b in zip(wanted, found) if a != b]
    ok(len(wanted) > 100 and wanted == found, "ncmpidump prints the types and values that ncdump prints",
       "\n".join([complaints, f"{len(wanted)} and {len(found)} lines", *differ[:10]]))


def check_values(path, ranks):
    wrong = []
    with h5py.File(path) as file:
        wanted = {name: file[name].astype("f8")[...].ravel() for name in file if name != "none"}
    text = run_script(ranks, PROGRAM, "get.txt", [f"open {path} 0", *(f"get {name}" for name in wanted), "close"])
    found = {line.split()[0]: np.array(line.split()[1:], float) for line in text.splitlines()
             if line.split()[0] in wanted}
    for name, values in wanted.items():
        if name not in found or not np.array_equal(found[name], values, equal_nan=True):
            wrong.append(f"{name}: {found.get(name)} expected {values}")
    ok(len(wanted) > 10 and not wrong, f"{len(wanted)} datasets of scaleoffset and nbit on {ranks} ranks",
       "\n".join(wrong[:5] + [line for line in text.splitlines() if line.startswith(("error", "rank"))][:5]))


def check_validator(path):
    done = subprocess.run([DUMP.replace("ncmpidump", "ncvalidator"), path], capture_output=True, text=True, check=False)
    ok(done.returncode == 0, "ncvalidator accepts them", done.stdout + done.stderr)


def check_copy(path):
    """A copy has the types of netCDF, and other filters."""
    copy = scratch("copy.nc")
    done = subprocess.run([DUMP.replace("ncmpidump", "ncmpicopy"), "-k", "netcdf4", path, copy], capture_output=True,
                          text=True, check=False)
    wrong = [] if done.returncode == 0 else [done.stderr]
    with h5py.File(path) as file, h5py.File(copy) as other:
        for name in file:
            if name != "none" and not np.array_equal(file[name].astype("f8")[...], other[name].astype("f8")[...],
                                                     equal_nan=True):
                wrong.append(name)
    ok(not wrong and "not by nbit, which is only read" in done.stderr, "ncmpicopy makes deflate of both",
       "\n".join(wrong))


# --- puts ---

def check_puts(ranks):
    """None is possible, and none harms the others."""
    path = scratch("puts.nc")
    twelve = h5py.h5t.STD_I16LE.copy()
    twelve.set_precision(12)
    values = np.arange(8, dtype="i4")
    with h5py.File(path, "w", track_order=True) as file:
        x = file.create_dataset("x", data=np.arange(8))
        x.make_scale("x")
        create(file, "scaled", h5py.h5t.STD_I32LE, values, (4,), lambda plist: plist.set_scaleoffset(2, 0))
        create(file, "packed", twelve, values, (4,),
               lambda plist: plist.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL, ()))
        create(file, "bare", twelve, values, (4,), lambda plist: None)
        create(file, "flat", twelve, values, None, lambda plist: None)
        file["none"] = h5py.Empty("f4")
        file["filled"] = h5py.Empty("i4")
        file.create_dataset("good", data=values, chunks=(4,), compression=1)
        for name in ("scaled", "packed", "bare", "flat", "good"):
            file[name].dims[0].attach_scale(x)
    refused = ["scaled", "packed", "bare", "flat", "none"]
    lines = [f"open {path} 1"]
    for name in refused:
        where = "- - 9" if name == "none" else "2 4 9,9,9,9"
        lines += [f"put {name} {where}", f"put_alone {name} {where}"]
    lines += ["put scaled 0 0 -", "put packed 0 0 -", "put good 2 4 9,9,9,9", "sync", "redef",
              "var more int x", "att scaled units m", "enddef", "put more 0 8 1,2,3,4,5,6,7,8",
              *(f"get {name}" for name in [*refused, "good"]), "close"]
    text = run_script(ranks, PROGRAM, "puts.txt", lines)
    errors = [line for line in text.splitlines() if line.startswith(("error", "rank"))]
    ok(len(errors) == 2 * len(refused) and all(re.match("error NC_ENOTSUPPORT put", line) for line in errors),
       f"{ranks} ranks: puts of scaleoffset, nbit, other bits and null dataspaces are NC_ENOTSUPPORT", text)
    plain = " ".join(map(str, range(8)))
    ok(all(f"{name} {plain}\n" in text for name in refused[:-1]) and "none 9.969209968386869e+36\n" in text and
       "good 0 1 9 9 9 9 6 7\n" in text, f"{ranks} ranks: what they had is there, and other puts succeed", text)
    with h5py.File(path) as file:
        good = (all(np.array_equal(file[name][...], values) for name in refused[:-1]) and file["none"].shape is None
                and file["scaled"].attrs["units"] == b"m" and list(file["good"]) == [0, 1, 9, 9, 9, 9, 6, 7]
                and list(file["more"]) == [1, 2, 3, 4, 5, 6, 7, 8])
    ok(good, f"{ranks} ranks: h5py reads the same")
    text = run_script(1, PROGRAM, "define.txt", [f"open {path} 1", "redef", "var new int x", "chunks new 4",
                                                 "filter new 6 2,0", "filter new 5 -", "enddef", "close"])
    ok(text.count("error NC_EFILTER filter") == 2 and text.count("error") == 2,
       "a new variable cannot have these filters", text)


# --- enums ---

def check_enums(ranks):
    """Read and written as their integers; they stay enums."""
    path = scratch("enums.nc")
    colours = h5py.enum_dtype({"red": 3, "green": -5, "blue": 300}, basetype=">i2")
    with h5py.File(path, "w", track_order=True) as file:
        file.create_dataset("x", data=np.arange(4)).make_scale("x")
        file.create_dataset("truth", data=np.array([True, False, True, True]))
        file.create_dataset("colours", data=np.array([3, -5, 300, 3], ">i2"), dtype=colours, chunks=(3,),
                            compression=1)
        file.create_dataset("unset", shape=(4,), dtype=colours, chunks=(2,), fillvalue=-5)
        for name in ("truth", "colours", "unset"):
            file[name].dims[0].attach_scale(file["x"])
        file["truth"].attrs["is_valid"] = np.bool_(True)
    text = run_script(ranks, PROGRAM, "enums.txt", [f"open {path} 1", "get truth", "get colours", "get unset",
                                                    "put truth 0 4 0,1,1,0", "put colours 1 2 300,-5",
                                                    "put unset 0 2 3,3", "sync", "get colours", "redef",
                                                    "att truth units m", "enddef", "close"])
    ok(text.splitlines() == ["truth 1 0 1 1", "colours 3 -5 300 3", "unset -5 -5 -5 -5", "colours 3 300 -5 3"],
       f"enums are read as integers on {ranks} ranks", text)
    with h5py.File(path) as file:
        found = [list(map(int, file[name][...])) for name in ("truth", "colours", "unset")]
        kinds = [h5py.check_enum_dtype(file[name].dtype) for name in ("colours", "unset")]
        good = (found == [[0, 1, 1, 0], [3, 300, -5, 3], [3, 3, -5, -5]] and file["truth"].dtype == bool
                and kinds == [{"red": 3, "green": -5, "blue": 300}] * 2 and file["truth"].attrs["is_valid"])
    ok(good, f"enums that {ranks} ranks have put are enums for h5py", f"{found} {kinds}")


if not has_hdf5():
    skip("scaleoffset and nbit", "the build is without HDF5")
    finish()
numbers_path = make(scratch("numbers.h5"), choose(60, 300, 2000))
check_dumps(numbers_path)
for n in choose((3,), (1, 3), (1, 2, 3)):
    check_values(numbers_path, n)
check_validator(numbers_path)
check_copy(numbers_path)
for n in choose((2,), (1, 3), (1, 2, 4)):
    check_puts(n)
    check_enums(n)
finish()
