"""netCDF-4 files of netCDF-C, h5py, h5netcdf and xarray, read through this library on 1, 2 and 4 ranks: definitions,
attributes and values are those that netCDF4-python reads. With PNC_TEST_LONG=1 there are 200 random files."""
import os
import re
import shutil
import struct
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, instruments, is_quick, ok, run_mpi, scratch, skip  # noqa: E402

try:
    import h5py
except ImportError:
    h5py = None
try:
    import h5netcdf
except ImportError:
    h5netcdf = None
try:
    import xarray
except ImportError:
    xarray = None

PROGRAM = "test/interop/netcdf4_read"
TYPES = {"i1": 1, "S1": 2, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11}
NUMBERS = [kind for kind in TYPES if kind != "S1"]
random = np.random.default_rng(7)


def values(kind, shape):
    if kind == "S1":
        return random.choice(np.array(list(b"abcdefg"), "u1"), shape).view("S1")
    if kind[0] == "f":
        return random.normal(0, 1000, shape).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, kind, endpoint=True)


DUMPED = ("h5py", "block")  # netCDF4-python does not open files without scales


# --- files ---

def add_atts(target, number):
    target.setncattr("text", f"of {number}")
    target.setncattr("empty", "")
    target.setncattr_string("string", "with variable length")
    target.setncattr_string("strings", ["first", "second", ""])
    for kind in NUMBERS:
        target.setncattr(f"a_{kind}", values(kind, number % 3 + 1))


def make_types(path, endian="native", **how):
    with netCDF4.Dataset(path, "w", **how) as file:
        file.createDimension("x", 13)
        file.createDimension("y", 7)
        classic = file.data_model == "NETCDF4_CLASSIC"
        for number, kind in enumerate(TYPES):
            if classic and kind in ("u1", "u2", "u4", "i8", "u8"):
                continue
            if classic:
                file.setncattr(f"a_{kind}", "x")
            order = {"endian": endian} if kind[0] in "iuf" and kind[1] != "1" else {}
            if endian != "native":
                dtype = np.dtype(kind).newbyteorder({"big": ">", "little": "<"}[endian]) if order else kind
            else:
                dtype = kind
            for name, options in (("plain", {}), ("chunked", {"chunksizes": (3, 5)}),
                                  ("deflated", {"zlib": True, "complevel": 1}),
                                  ("rounded", {"zlib": True, "significant_digits": 3,
                                               "quantize_mode": "GranularBitRound"} if kind in ("f4", "f8") else {}),
                                  ("summed", {"fletcher32": True, "zlib": True, "shuffle": True,
                                              "chunksizes": (13, 2)})):
                var = file.createVariable(f"{name}_{kind}", dtype, ("x", "y"), **options, **order)
                if not classic:
                    add_atts(var, number)
                var[:] = values(kind, (13, 7))
            scalar = file.createVariable(f"scalar_{kind}", dtype, (), **order)
            scalar[...] = values(kind, ())


def make_unlimited(path):
    """Several unlimited dimensions, variables that are shorter than those, values that were never written."""
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("lat", 19), ("member", None), ("lon", 23), ("none", None)):
            file.createDimension(name, length)
        file.createVariable("time", "f8", ("time",))[:11] = np.arange(11)
        file.createVariable("lat", "f4", ("lat",))[:] = np.arange(19)
        whole = file.createVariable("whole", "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(1, 19, 23))
        whole[:9] = values("f4", (9, 19, 23))
        parts = file.createVariable("parts", "f8", ("time", "lat", "lon"), zlib=True, chunksizes=(4, 5, 6))
        parts[1:10] = values("f8", (9, 19, 23))
        short = file.createVariable("short", "i2", ("time", "lat"), fill_value=-3, chunksizes=(2, 7))
        short[:4] = values("i2", (4, 19))
        late = file.createVariable("late", "i4", ("member", "lon", "time"), fill_value=99, chunksizes=(2, 10, 3))
        late[3, 2:5, 1] = [1, 2, 3]
        file.createVariable("default", "i4", ("time", "lon"), chunksizes=(3, 23))[5, 3:6] = [7, 8, 9]
        file.createVariable("never", "f4", ("time", "member"))
        file.createVariable("fixed_never", "f4", ("lat", "lon"))
        file.createVariable("nothing", "f4", ("none", "lon"))
        file.createVariable("member", "i4", ("lat", "member"))[:, :2] = values("i4", (19, 2))
        file.createVariable("words", str, ("lat",))[0] = "a word"


def make_groups(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("b", 3)
        group = file.createGroup("group")
        group.createDimension("inner", 4)
        group.createVariable("in_group", "f4", ("b", "inner"))[:] = 1
        file.createDimension("a", 5)
        file.createVariable("b", "i4", ("b",))[:] = values("i4", 3)
        file.createVariable("z", "u2", ("a", "b"), zlib=True)[:] = values("u2", (5, 3))


def make_nested(path):
    """Groups in groups: dimensions of parents, of the same name, unlimited; coordinate variables, attributes."""
    with netCDF4.Dataset(path, "w") as file:
        file.setncattr("title", "of the root group")
        file.createDimension("x", 4)
        file.createDimension("time", None)
        file.createVariable("x", "f4", ("x",))[:] = np.arange(4)
        file.createVariable("tas", "f4", ("time", "x"), zlib=True)[:3] = values("f4", (3, 4))
        a, b = file.createGroup("a"), file.createGroup("b")
        inner = a.createGroup("inner")
        for group in (a, inner):
            group.setncattr("title", f"of {group.path}")
            group.setncattr("numbers", values("i4", 3))
        a.createDimension("x", 7)
        a.createDimension("member", None)
        b.createDimension("y", 3)
        a.createVariable("x", "i4", ("x",))[:] = values("i4", 7)
        a.createVariable("tas", "f8", ("time", "x"), chunksizes=(2, 3), fletcher32=True)[:5] = values("f8", (5, 7))
        a.createVariable("member", "i2", ("x", "member"))[:, :2] = values("i2", (7, 2))
        a["tas"].units = "K"
        inner.createVariable("deep", "i2", ("member", "x", "time"), fill_value=-7)[:4, :, :2] = values("i2", (4, 7, 2))
        inner.createVariable("flat", "u1", ("x",))[:] = np.arange(7)
        b.createVariable("scalar", "f8", ())[...] = 2.5
        b.createVariable("z", "i8", ("x", "y"), endian="big")[:] = np.arange(12).reshape(4, 3) * 1000000
        b.createGroup("empty").createGroup("nothing")


def make_many(path):
    """More chunks than a file that is opened says where they are, and many definitions."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 20000)
        file.createDimension("y", 3)
        var = file.createVariable("small", "i4", ("x", "y"), chunksizes=(1, 2), zlib=True)
        var[:] = values("i4", (20000, 3))
        for i in range(300):
            file.createVariable(f"v{i:03}", "f4", ("y",))[:] = values("f4", 3)


def make_h5py(path):
    """Without scales, with types that netCDF has and that it does not have, and other storage."""
    with h5py.File(path, "w", track_order=True) as file:
        file.attrs["title"] = np.bytes_("fixed")
        file.attrs["words"] = np.array([b"ab", b"cde"], dtype="S4")
        file.create_dataset("b_first", data=values("f8", (6, 4)))
        file.create_dataset("a_same", data=values("i4", (4, 6)), chunks=(2, 5), compression="lzf", shuffle=True)
        file.create_dataset("longer", data=values("i4", (40, 60)) // 9, chunks=(20, 50), compression="lzf")
        file.create_dataset("square", data=values("i2", (6, 6)), chunks=(4, 4), maxshape=(None, 6))
        file.create_dataset("scalar", data=np.float32(2.5))
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_layout(h5py.h5d.COMPACT)
        compact = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((5,)), dcpl)
        compact.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(5, dtype="i4"))
        file.create_dataset("big", data=values("f4", 9).astype(">f4"), chunks=(4,), compression=1, fletcher32=True)
        file.create_dataset("shorter", shape=(0, 4), maxshape=(None, 4), dtype="f4", chunks=(2, 4))


def make_block(path):
    """512 bytes of the program's own before the HDF5 file, symbol tables of HDF5 1.6, and no creation order."""
    with h5py.File(path, "w", userblock_size=512, libver="earliest") as file:
        x = file.create_dataset("x", data=np.arange(4.0))
        x.make_scale("x")
        y = file.create_dataset("y", data=np.arange(3.0))
        y.make_scale("y")
        data = file.create_dataset("data", data=values("i4", (4, 3)), chunks=(3, 2), compression=4)
        data.dims[0].attach_scale(x)
        data.dims[1].attach_scale(y)
        file.create_dataset("flat", data=values("i8", (4, 3)))


def make_h5netcdf(path):
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"x": 5, "t": None}
        file.attrs["title"] = "h5netcdf"
        file.create_variable("x", ("x",), float)[:] = np.arange(5.0)
        v = file.create_variable("v", ("t", "x"), "f4", chunks=(2, 3), compression="gzip", shuffle=True)
        file.resize_dimension("t", 7)
        v[...] = values("f4", (7, 5))
        v.attrs["units"] = "m"


# --- random files ---

class Draw:
    """Definitions and values of a file, which each library writes."""

    def __init__(self, has_unlimited=True):
        names = [f"d{i}" for i in range(int(random.integers(1, 5)))]
        self.dims = {name: int(random.integers(1, 12)) for name in names}
        self.unlimited = {name for name in names if has_unlimited and random.random() < 0.4}
        self.vars = {}
        for number in range(int(random.integers(1, 9))):
            along = [str(d) for d in random.permutation(names)[:int(random.integers(0, len(names) + 1))]]
            name = along[0] if len(along) == 1 and random.random() < 0.5 else f"v{number}"
            kind = str(random.choice(NUMBERS))
            self.vars[name] = kind, along, values(kind, [self.dims[d] for d in along]), self.draw_storage(along, kind)

    def draw_storage(self, along, kind):
        """Of h5netcdf and xarray: compression, shuffle, fletcher32, chunks, fill value."""
        how = {}
        if along and random.random() < 0.6:
            how["chunks"] = tuple(int(random.integers(1, self.dims[d] + 1)) for d in along)
            if random.random() < 0.7:
                how.update(compression="gzip", compression_opts=int(random.integers(1, 10)))
            how.update({key: True for key in ("shuffle", "fletcher32") if random.random() < 0.5})
        if random.random() < 0.3:
            how["fillvalue"] = values(kind, ())[()]
        return how

    def atts(self):
        some = {f"a_{kind}": values(kind, int(random.integers(1, 4))) for kind in random.choice(NUMBERS, 3)}
        return {**some, "title": "text", "number": np.float64(random.normal())}


def write_by_netcdf4(path, draw):
    with netCDF4.Dataset(path, "w") as file:
        for name, length in draw.dims.items():
            file.createDimension(name, None if name in draw.unlimited else length)
        file.setncatts(draw.atts())
        for name, (kind, along, array, how) in draw.vars.items():
            options = {"zlib": "compression" in how, "complevel": how.get("compression_opts", 4),
                       "shuffle": how.get("shuffle", False), "fletcher32": how.get("fletcher32", False),
                       "chunksizes": how.get("chunks"), "fill_value": how.get("fillvalue"),
                       "endian": str(random.choice(["little", "big"])) if kind[1] != "1" else "native"}
            stored = kind if kind[1] == "1" else np.dtype(kind).newbyteorder(options["endian"][0])
            var = file.createVariable(name, stored, along, **options)
            var.setncatts(draw.atts())
            var.set_auto_maskandscale(False)
            if random.random() < 0.9:
                var[...] = array


def write_by_h5netcdf(path, draw):
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {name: None if name in draw.unlimited else n for name, n in draw.dims.items()}
        for name in draw.unlimited:
            file.resize_dimension(name, draw.dims[name])
        file.attrs.update(draw.atts())
        for name, (kind, along, array, how) in draw.vars.items():
            if draw.unlimited & set(along) and "chunks" not in how:
                how = {**how, "chunks": tuple(draw.dims[d] for d in along)}
            var = file.create_variable(name, along, kind, **how)
            var.attrs.update(draw.atts())
            var[...] = array


def write_by_xarray(path, draw):
    data = xarray.Dataset({name: (along, array, draw.atts()) for name, (_, along, array, _) in draw.vars.items()},
                          attrs=draw.atts())
    keys = {"chunks": "chunksizes", "fillvalue": "_FillValue"}
    encoding = {name: {keys.get(key, key): value for key, value in how.items()}
                for name, (_, _, _, how) in draw.vars.items()}
    for how in encoding.values():
        how.setdefault("_FillValue", None)
    data.to_netcdf(path, engine="h5netcdf", encoding=encoding, unlimited_dims=draw.unlimited & set(data.sizes))


WRITERS = {"netCDF4-python": (netCDF4, write_by_netcdf4), "h5netcdf": (h5netcdf, write_by_h5netcdf),
           "xarray": (xarray, write_by_xarray)}


def check_random(count):
    """Files of each library in turn."""
    global random
    for number in range(count):
        random = np.random.default_rng(500 + number)
        title = list(WRITERS)[number % len(WRITERS)]
        module, write = WRITERS[title]
        if module is None:
            continue
        name, path = f"{title} {number}", scratch("random.nc")
        write(path, Draw())
        check_definitions(name, path)
        mode = ("all", "indep", "nonblocking", "varn")[number // 3 % 4]
        check_values(name, path, expected_values(name, path), (2, 1, 4)[number // 2 % 3], mode, 3)


FILES = [("types", make_types), ("big", lambda p: make_types(p, endian="big")),
         ("little", lambda p: make_types(p, endian="little")),
         ("classic", lambda p: make_types(p, format="NETCDF4_CLASSIC")), ("unlimited", make_unlimited),
         ("groups", make_groups), ("many", make_many)]
if h5py is not None:
    FILES += [("h5py", make_h5py), ("block", make_block)]
if h5netcdf is not None:
    FILES += [("h5netcdf", make_h5netcdf)]
FILES += [("nested", make_nested)]


# --- definitions ---

def expected_att(target, varid, name):
    value = target.getncattr(name)
    if isinstance(value, list):
        value = "\n".join(value)
    if isinstance(value, str):
        text = value.encode() or b"\0"  # netCDF4-python writes a zero for an empty text, and leaves it out
        return f"att {varid} {name} 2 {len(text)} {text.hex()}"
    array = np.atleast_1d(value)
    kind = TYPES[array.dtype.str[1:]]
    return " ".join([f"att {varid} {name} {kind} {array.size}", *(f"{float(v):.17g}" for v in array)])


def expected_storage(var):
    chunks, filters, digits = var.chunking(), var.filters() or {}, var.quantization()
    along = "".join(f" {n}" for n in chunks) if isinstance(chunks, list) else ""
    order = {"native": 0, "little": 1, "big": 2}[var.endian()]
    deflate = bool(filters.get("zlib"))
    return (f"storage{along}; shuffle {filters.get('shuffle', False):d} deflate {deflate:d} level "
            f"{filters['complevel'] if deflate else 0} fletcher32 {filters.get('fletcher32', False):d} endian {order} "
            f"quantize {digits[0] if digits else 0}")


def path_of(group, name):
    return f"{group.path}/{name}".lstrip("/")


def list_groups(file):
    """A group comes before its children."""
    return [file, *(g for child in file.groups.values() for g in list_groups(child))]


def list_vars(groups):
    """(path, variable)"""
    return [(path_of(group, name), var) for group in groups for name, var in group.variables.items()]


def expected_definitions(file, groups):
    """What inquiries of the root group find, or what the hint nc_groups=all lists."""
    model = {"NETCDF4": 3, "NETCDF4_CLASSIC": 4}[file.data_model]
    lengths = {path_of(group, name): dim for group in groups for name, dim in group.dimensions.items()}
    dims = sorted(lengths, key=lambda name: lengths[name]._dimid) # as they were defined
    unlimited = [i for i, name in enumerate(dims) if lengths[name].isunlimited()]
    lines = [f"format {model}", f"unlimited {unlimited[0] if unlimited else -1}",
             " ".join(["all_unlimited", *map(str, unlimited)])]
    lines += [f"dim {name} {len(lengths[name])}" for name in dims]
    for group in groups:
        lines += [expected_att(group, -1, name).replace(f"att -1 {name}", f"att -1 {path_of(group, name)}")
                  for name in group.ncattrs()]
    for varid, (name, var) in enumerate(list_vars(groups)):
        kind = 12 if var.dtype == str or var.dtype == object else TYPES[var.dtype.str[1:]]
        along = [dims.index(path_of(d.group(), d.name)) for d in var.get_dims()]
        lines.append(" ".join([f"var {name} {kind}", *map(str, along)]))
        if kind != 12:
            lines.append(expected_storage(var))
        lines += [expected_att(var, varid, att) for att in var.ncattrs()]
    return lines


def dumped_definitions(path):
    """Dimensions and variables as ncdump has them: netCDF4-python does not open files without scales."""
    text = subprocess.run(["ncdump", "-h", path], capture_output=True, text=True, check=True).stdout
    kinds = {"byte": 1, "char": 2, "short": 3, "int": 4, "float": 5, "double": 6, "int64": 10}
    dims = re.findall(r"^\t(\w+) = (?:UNLIMITED ; // \()?(\d+)", text, re.M)
    lines = [f"dim {name} {length}" for name, length in dims]
    for kind, name, along in re.findall(r"^\t(\w+) (\w+)(?:\((.*)\))? ;$", text, re.M):
        ids = [[name for name, _ in dims].index(d) for d in along.split(", ") if d]
        lines.append(" ".join([f"var {name} {kinds[kind]}", *map(str, ids)]))
    return lines


def hints(text):
    return dict(os.environ, PNETCDF_HINTS=text)


def check_definitions(name, path, scope="paths"):
    out = scratch(f"{name}.txt")
    status, stdout, stderr = run_mpi(2, PROGRAM, path, "define", out, env=hints(f"nc_groups={scope}"))
    with open(out, encoding="utf-8") as file:
        found = [line.rstrip() for line in file.read().splitlines()]
    if name in DUMPED:
        found = [line for line in found if line.startswith(("dim ", "var "))]
        wanted = dumped_definitions(path)
    else:
        with netCDF4.Dataset(path) as file:
            groups = list_groups(file) if scope == "all" else [file]
            wanted = [line.rstrip() for line in expected_definitions(file, groups)]
    wrong = [f"{f!r} in place of {w!r}" for f, w in zip(found, wanted) if f != w]
    ok(status == 0 and not stdout and not wrong and len(found) == len(wanted),
       f"{name}, {scope}: {len(wanted)} lines of definitions", "\n".join([stdout, stderr, *wrong[:20]]))


# --- values ---

def read_slabs(path):
    """(varid, slices, bytes) of each hyperslab."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        varid, ndims = struct.unpack_from("2q", data, at)
        numbers = struct.unpack_from(f"{3 * ndims}q", data, at + 16)
        at += 16 + 24 * ndims
        n, = struct.unpack_from("q", data, at)
        slices = tuple(slice(s, s + c * t, t) for s, c, t in zip(numbers[::3], numbers[1::3], numbers[2::3]))
        yield varid, slices, data[at + 8:at + 8 + n]
        at += 8 + n


def check_values(name, path, arrays, ranks, mode, rounds, scope="paths"):
    out = scratch(f"{name}.values")
    status, stdout, stderr = run_mpi(ranks, PROGRAM, path, mode, out, 17 * ranks, rounds,
                                     env=hints(f"nc_groups={scope}"))
    wrong, count, n = [], 0, 0
    for rank in range(ranks):
        for varid, slices, data in read_slabs(f"{out}.{rank}"):
            wanted = arrays[varid][slices]
            count += 1
            n += len(data)
            if np.ascontiguousarray(wanted).tobytes() != data:
                wrong.append(f"rank {rank}: variable {varid}, {slices}")
        os.remove(f"{out}.{rank}")
    expected = sum(a is not None for a in arrays) * ranks * rounds
    ok(status == 0 and not stdout and count == expected and not wrong,
       f"{name}: {count} hyperslabs, {n} bytes, {mode}, on {ranks} ranks",
       "\n".join([f"{count} of {expected}", stdout, stderr, *wrong[:10]]))


def pad(path, name, var, array):
    """netCDF-C packs what is read across the end of an unlimited dimension that is not the first one: beyond the
    dataset there are fill values."""
    if h5py is None:
        return array
    with h5py.File(path) as file:
        group, _, last = name.rpartition("/")
        other = f"{group}/_nc4_non_coord_{last}"
        stored = file[other if other in file else name]
        if stored.shape == array.shape:
            return array
        fill = getattr(var, "_FillValue", netCDF4.default_fillvals[array.dtype.str[1:]])
        padded = np.full(array.shape, fill, array.dtype)
        padded[tuple(slice(n) for n in stored.shape)] = stored[...]
    return padded


def expected_values(name, path, scope="paths"):
    arrays = []
    if name in DUMPED:
        with h5py.File(path) as file:
            names = [line.split()[1] for line in dumped_definitions(path) if line.startswith("var ")]
            return [np.asarray(file[n][...], file[n].dtype.newbyteorder("=")) for n in names]
    with netCDF4.Dataset(path) as file:
        for var_name, var in list_vars(list_groups(file) if scope == "all" else [file]):
            var.set_auto_maskandscale(False)
            var.set_auto_chartostring(False)
            if var.dtype == str or var.dtype == object:
                arrays.append(None)
                continue
            array = np.asarray(var[...])
            array = array.astype(array.dtype.newbyteorder("="))
            arrays.append(pad(path, var_name, var, array))
    return arrays


# --- groups ---

def check_paths(path):
    """Variables of groups have ids behind those that inquiries count; dimensions are found by paths, too."""
    with netCDF4.Dataset(path) as file:
        groups = list_groups(file)
        names = [name for name, _ in list_vars(groups)]
        lengths = [(path_of(g, name), len(dim)) for g in groups for name, dim in g.dimensions.items()]
        sums = {}
        for name, var in list_vars(groups):
            var.set_auto_maskandscale(False)
            array = pad(path, name, var, np.asarray(var[...]))
            sums[name] = [path_of(d.group(), d.name) for d in var.get_dims()], float(np.sum(array, dtype="f8"))
    status, stdout, stderr = run_mpi(2, PROGRAM, path, "paths", *names, *(f"/{name}" for name in names), "dims",
                                     *(f"/{name}" for name, _ in lengths), "a/nothing", "/a/x/y")
    wanted = [f"{name} {' '.join(sums[name][0])}: {sums[name][1]:.9g}".replace(" :", ":") for name in names] * 2
    wanted += [f"{name} {length}" for name, length in lengths] + ["NC_EBADDIM"] * 2
    found = stdout.splitlines()
    wrong = [f"{f!r} in place of {w!r}" for f, w in zip(found, wanted) if f != w]
    ok(status == 0 and not wrong and len(found) == len(wanted), f"{len(wanted)} paths of variables and dimensions",
       "\n".join([stderr, str(len(found)), *wrong]))


def check_change(ranks):
    """Values and attributes of variables of groups change, and definitions stay."""
    path = scratch("changed.nc")
    grow = {"a/tas": True, "a/inner/flat": False, "b/scalar": False, "b/z": False, "x": False}
    make_nested(path)
    with netCDF4.Dataset(path) as file:
        before = {name: np.asarray(file[name][...]) for name in grow}
    status, stdout, stderr = run_mpi(ranks, PROGRAM, path, "change", *(f"/{name}" for name in grow))
    wrong = []
    with netCDF4.Dataset(path) as file:
        for name, grows in grow.items():
            old, new = before[name], np.asarray(file[name][...])
            if not np.array_equal(new[:len(old)] if grows else new, old * 2) or file[name].changed != "yes" or \
                    (grows and not (len(new) == len(old) + 1 and (new[-1] == 9).all())):
                wrong.append(f"{name}: {new}")
        if len(file.dimensions["time"]) != 6:
            wrong.append(f"time: {len(file.dimensions['time'])}")
    ok(status == 0 and stdout == "NC_ENOTSUPPORT NC_ENOTSUPPORT\n" and not wrong,
       f"values of variables of groups change, on {ranks} ranks", "\n".join([stdout, stderr, *wrong]))


def choose_runs(modes):
    """Numbers of ranks, and modes: all pairs if the test is long."""
    pairs = [(ranks, mode) for ranks in (1, 2, 4) for mode in modes]
    return choose([(2, mode) for mode in modes], [pair for i, pair in enumerate(pairs) if i % 3 < 2], pairs)


def check_groups(quick):
    for name in ("groups", "nested"):
        path = scratch(f"{name}.nc")
        check_definitions(name, path, "all")
        arrays = expected_values(name, path, "all")
        for ranks, mode in choose_runs(("all", "indep", "nonblocking")):
            check_values(name, path, arrays, ranks, mode, 2 if quick else 5, "all")
    check_paths(scratch("nested.nc"))
    for ranks in (2,) if quick else (1, 2, 4):
        check_change(ranks)
    check_definitions("nested", scratch("nested.nc"), "root")


def make_phony(path):
    """Groups without scales, and links that lead back to a group. ncdump, which does not open such a file, numbers
    dimensions of groups without them so."""
    with h5py.File(path, "w", track_order=True) as file:
        file.create_dataset("a", data=values("f8", (3, 4)))
        group = file.create_group("g", track_order=True)
        group.create_dataset("x", data=values("i4", (3, 9)))
        group.create_group("k", track_order=True).create_dataset("y", data=values("f4", 7))
        group["back"] = file["/"]
        group["k"]["up"] = group
        file.create_group("h", track_order=True).create_dataset("z", data=values("i2", (8, 8)))
        file.create_dataset("b", data=values("f4", 5))
        file["h"]["again"] = group["k"]


def check_phony():
    path, out = scratch("phony.nc"), scratch("phony.txt")
    make_phony(path)
    status, stdout, stderr = run_mpi(2, PROGRAM, path, "define", out, env=hints("nc_groups=all"))
    with open(out, encoding="utf-8") as file:
        found = [line.rstrip() for line in file if line.startswith(("dim ", "var "))]
    wanted = ["dim phony_dim_5 3", "dim phony_dim_6 4", "dim phony_dim_7 5", "dim g/phony_dim_1 3",
              "dim g/phony_dim_2 9", "dim g/k/phony_dim_0 7", "dim h/phony_dim_3 8", "dim h/phony_dim_4 8",
              "var a 6 0 1", "var b 5 2", "var g/x 4 3 4", "var g/k/y 5 5", "var h/z 3 6 7"]
    ok(status == 0 and not stdout and found == wanted, "dimensions of groups without scales",
       "\n".join([stdout, stderr, *found]))


# --- values that other programs have not written, or have in the metadata ---

def make_unwritten(path):
    with h5py.File(path, "w", track_order=True) as file:
        for name in ("c_one", "i_two", "c_same"):
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            dcpl.set_layout(h5py.h5d.COMPACT)
            made = h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I32BE, h5py.h5s.create_simple((6, 5)), dcpl)
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(30, dtype="i4").reshape(6, 5))
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file.id, b"c_scalar", h5py.h5t.IEEE_F64LE, h5py.h5s.create(h5py.h5s.SCALAR), dcpl)
        file.create_dataset("never", shape=(40, 70), dtype="f8", fillvalue=-5)
        file.create_dataset("never_too", shape=(9,), dtype=">i2")
        file.create_dataset("scalar", shape=(), dtype="f4", fillvalue=3)
        file.create_dataset("untouched", shape=(8, 8), dtype="f4", fillvalue=7)
        file.create_dataset("chunked", shape=(30, 20), dtype="i4", chunks=(7, 9), fillvalue=1, compression=1)


UNWRITTEN = ("c_one", "never", "chunked", "i_two", "scalar", "c_scalar", "never_too", "ichunked")


def check_unwritten(ranks):
    path = scratch("unwritten.nc")
    make_unwritten(path)
    with h5py.File(path, "a") as file:
        file.copy("chunked", "ichunked")
        before = {name: file[name][...] for name in file}
    status, stdout, stderr = run_mpi(ranks, PROGRAM, path, "fill", *UNWRITTEN)
    wrong = []
    with h5py.File(path) as file:
        for name, old in before.items():
            wanted = old.copy()
            if name in UNWRITTEN and old.ndim == 0:
                wanted[...] = 100
            elif name in UNWRITTEN:
                wanted[:-1] = 100 + np.arange(old[:-1].size).reshape(old[:-1].shape)
            if not np.array_equal(file[name][...], wanted):
                wrong.append(f"{name}: {file[name][...]}")
        if file["untouched"].id.get_offset() is not None:
            wrong.append("untouched has an address")
    ok(status == 0 and not stdout and not wrong,
       f"puts into compact variables, and into those that were never written, on {ranks} ranks",
       "\n".join([stdout, stderr, *wrong]))


SHORT = ("short", "deflated", "ishort", "ideflated")


def check_short(ranks):
    """Puts into datasets that are shorter than their dimension: netCDF-C extends only what it writes."""
    path = scratch("short.nc")
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createVariable("whole", "i4", ("t",))[:] = np.arange(9)
        for name in SHORT:
            file.createVariable(name, "i4", ("t",), zlib="deflated" in name, chunksizes=(4,))[:] = np.arange(5)
    status, stdout, stderr = run_mpi(ranks, PROGRAM, path, "fill", *SHORT)
    with netCDF4.Dataset(path) as file:
        found = {name: list(file[name][:8]) for name in SHORT}
    ok(status == 0 and not stdout and all(got == list(range(100, 108)) for got in found.values()),
       f"puts behind the end of datasets that are shorter than their dimension, on {ranks} ranks",
       f"{found}{stdout}{stderr}")


def check_starved(ranks):
    """Without memory for the space of a variable, a put fails, and the file can be used as before."""
    path = scratch("starved.nc")
    make_unwritten(path)
    status, stdout, stderr = run_mpi(ranks, PROGRAM, path, "starve", "never", "chunked", "never_too", "c_one")
    counts = re.findall(r"^(\d+) allocations of rank \d+$", stdout, re.M)
    least = 3 if allocations_can_fail() else 0
    ok(status == 0 and len(counts) == len(stdout.splitlines()) and all(int(n) >= least for n in counts),
       f"puts into a variable without space on {ranks} ranks, of which one has no memory: {counts} allocations",
       "\n".join([stdout[:2000], stderr[-2000:]]))
    with h5py.File(path + ".copy") as file:
        wanted = 100 + np.arange(39 * 70).reshape(39, 70)
        ok(np.array_equal(file["never"][:39], wanted) and (file["never"][39] == -5).all(),
           f"the values after that, on {ranks} ranks")


def allocations_can_fail():
    """A sanitizer and valgrind have functions of their own."""
    return not os.environ.get("PNC_TEST_WRAPPER") and not instruments()


def check_refused_space():
    """An independent put cannot give a variable space."""
    path = scratch("unwritten.nc")
    with h5py.File(path, "w", track_order=True) as file:
        file.create_dataset("inever", shape=(4, 7), dtype="f8")
    status, stdout, stderr = run_mpi(2, PROGRAM, path, "fill", "inever")
    ok(status == 0 and "NC_ENOTSUPPORT" in stdout and "must be collective" in stdout,
       "an independent put into a variable without space is refused", stdout + stderr)


# --- damaged files ---

def is_in_hdf5(program, arguments):
    """Whether a crash is one of libhdf5, which is not safe on damaged files."""
    gdb = shutil.which("gdb")
    if gdb is None:
        return False
    trace = subprocess.run([gdb, "-q", "-batch", "-ex", "run", "-ex", "bt", "--args", program, *arguments],
                           capture_output=True, text=True, check=False).stdout
    return "libhdf5" in trace or "H5" in trace


def check_damaged(name, path, rounds):
    """Files that are cut off, or have other bytes, end in an error or in values, and never in a crash."""
    with open(path, "rb") as file:
        whole = file.read()
    chance = np.random.default_rng(11)
    crashed, refused, in_hdf5 = [], 0, 0
    bad, out = scratch("damaged.nc"), scratch("damaged.values")
    program = os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), PROGRAM)
    for number in range(rounds):
        data = bytearray(whole)
        if number % 4 == 0:
            data = data[:int(chance.integers(0, len(data)))]
        else:
            for at in chance.integers(0, min(len(data), 20000), 1 + number % 8):
                data[at] = int(chance.integers(0, 256))
        with open(bad, "wb") as file:
            file.write(data)
        arguments = [bad, "whole", out, "1", "1"]
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=100, check=False)
        refused += "error" in done.stdout
        if done.returncode != 0 and is_in_hdf5(program, arguments):
            in_hdf5 += 1
        elif done.returncode != 0:
            crashed.append(f"{number}: status {done.returncode}: {done.stderr[-300:]}")
    ok(not crashed and refused > 0,
       f"{name}: {rounds} damaged files, {refused} refused, {in_hdf5} crashes inside libhdf5", "\n".join(crashed))


def main():
    quick = is_quick()
    if not has_hdf5():
        skip("netCDF-4 files", "the library was configured without HDF5")
        return
    for name, make in FILES:
        path = scratch(f"{name}.nc")
        make(path)
        check_definitions(name, path)
        arrays = expected_values(name, path)
        check_values(name, path, arrays, 1, "whole", 1)
        for ranks, mode in choose_runs(("all", "indep", "nonblocking", "varn")):
            check_values(name, path, arrays, ranks, mode, 2 if quick else 5)
    check_groups(quick)
    check_random(choose(6, 12, 200))
    if h5py is not None:
        check_phony()
        for ranks in (2,) if quick else (1, 2, 4):
            check_unwritten(ranks)
            check_short(ranks)
        for ranks in choose((2,), (1, 2), (1, 2, 4)):
            check_starved(ranks)
        check_refused_space()
    for name in ("groups", "block") if h5py is not None else ("groups",):
        check_damaged(name, scratch(f"{name}.nc"), 20 if quick else 100)
    for name, (module, _) in WRITERS.items():
        if module is None:
            skip(f"files of {name}", f"{name} is not installed (Debian: python3-{name})")


main()
finish()
