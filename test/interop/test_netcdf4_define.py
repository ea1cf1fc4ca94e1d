"""netCDF-4 files whose metadata this library writes, and changes: netCDF4-python, h5py, ncdump and h5dump read what was
defined, and netCDF4-python changes them."""
import os
import shutil
import subprocess
import sys
import warnings

import h5py
import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, ok, scratch, skip  # noqa: E402

PROGRAM = "test/interop/netcdf4_define"
TYPES = {"i1": 1, "S1": 2, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11}
NUMBERS = [kind for kind in TYPES if kind != "S1"]
CHUNKED, CONTIGUOUS, COMPACT = 0, 1, 2
FILLS = {kind: np.array(netCDF4.default_fillvals[kind], kind) for kind in NUMBERS} | {"S1": np.array(b"\0", "S1")}
random = np.random.default_rng(11)
warnings.simplefilter("ignore")


def values(kind, shape):
    if kind == "S1":
        return random.choice(np.array(list(b"abcdefg"), "u1"), shape).view("S1")
    if kind[0] == "f":
        return random.normal(0, 1000, shape).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, kind, endpoint=True)


def hex_of(array):
    return array.tobytes().hex() or "-"


def array_of(value):
    return value if isinstance(value, str) else np.atleast_1d(value)


class Dim:
    def __init__(self, name, length, unlimited):
        self.name, self.length, self.unlimited = name, length, unlimited


class Var:
    def __init__(self, name, kind, dims, layout, chunks, big):
        self.name, self.kind, self.dims, self.layout, self.chunks, self.big = name, kind, dims, layout, chunks, big
        self.atts, self.values, self.fill = {}, None, None

    @property
    def stored(self):
        """The type in the file."""
        return self.kind if self.kind[1] == "1" else (">" if self.big else "<") + self.kind


class File:
    """Definitions and values, and the commands that write them."""

    def __init__(self, path, version=3):
        self.path, self.version, self.dims, self.vars, self.atts = path, version, [], [], {}
        self.lines = [f"create {path} {version}"]
        self.stored_lengths = {}

    def open(self):
        """The next commands change the file."""
        self.lines = [f"open {self.path}"]

    def add(self, *words):
        self.lines.append(" ".join(str(word) for word in words))

    def dim(self, name, length=0):
        self.dims.append(Dim(name, length, length == 0))
        self.add("dim", name, length)
        return len(self.dims) - 1

    def var(self, name, kind, dims=(), layout=None, chunks=None, filters=(), big=False, fill=None):
        if any(self.dims[d].unlimited for d in dims) or filters:
            layout = CHUNKED
        layout = CONTIGUOUS if layout is None else layout
        if layout == CHUNKED and chunks is None:
            chunks = [1 if self.dims[d].unlimited else int(random.integers(1, self.dims[d].length + 1)) for d in dims]
        var = Var(name, kind, list(dims), layout, chunks, big)
        number = len(self.vars)
        self.vars.append(var)
        self.add("var", name, TYPES[kind], *dims)
        for words in filters:
            self.add("filter", number, *words)
        self.add("storage", number, layout, *(chunks if layout == CHUNKED else ()))
        if big:
            self.add("endian", number, 1)
        if fill is not None:
            self.att(number, "_FillValue", np.array([fill], kind))
        var.values = np.full([self.dims[d].length for d in dims], self.fill_of(var), kind)
        return number

    def kinds(self):
        """Types that the model has."""
        return list(TYPES)[:6 if self.version == 4 else None]

    def is_aside(self, var):
        """Whether it has the name of a dimension that is not its first one. netCDF-C mixes up the order of such
        variables when it renames another one."""
        is_coordinate = var.dims and self.dims[var.dims[0]].name == var.name
        return var.name in [dim.name for dim in self.dims] and not is_coordinate

    def fill_of(self, var):
        if var.fill is not None:
            return var.fill
        return var.atts["_FillValue"][0] if "_FillValue" in var.atts else FILLS[var.kind]

    def atts_of(self, number):
        return self.atts if number < 0 else self.vars[number].atts

    def att(self, number, name, value):
        self.atts_of(number)[name] = value
        if isinstance(value, str):
            self.add("att", number, name, TYPES["S1"], value.encode().hex() or "-")
        else:
            self.add("att", number, name, TYPES[value.dtype.str[1:]], hex_of(value))

    def rename_att(self, number, old, new):
        atts = self.atts_of(number)
        renamed = {new if name == old else name: value for name, value in atts.items()}
        atts.clear()
        atts.update(renamed)
        self.add("rename_att", number, old, new)

    def delete_att(self, number, name):
        del self.atts_of(number)[name]
        self.add("delete_att", number, name)

    def rename_dim(self, number, name):
        self.dims[number].name = name
        self.add("rename_dim", number, name)

    def rename_var(self, number, name):
        self.vars[number].name = name
        self.add("rename_var", number, name)

    def grow(self, number, length):
        """An unlimited dimension; its variables have fill values there."""
        self.dims[number].length = length
        self.add("length", number, length)
        for var in self.vars:
            if number in var.dims:
                shape = [self.dims[d].length for d in var.dims]
                grown = np.full(shape, self.fill_of(var), var.kind)
                grown[tuple(slice(n) for n in var.values.shape)] = var.values
                var.values = grown

    @staticmethod
    def read(path):
        """A file of another library, as netCDF4-python finds it."""
        file = File(path)
        with netCDF4.Dataset(path) as found, h5py.File(path) as stored:
            found.set_auto_maskandscale(False)
            found.set_auto_chartostring(False)
            file.version = 4 if found.data_model == "NETCDF4_CLASSIC" else 3
            file.dims = [Dim(dim.name, len(dim), dim.isunlimited()) for dim in found.dimensions.values()]
            file.atts = {name: array_of(found.getncattr(name)) for name in found.ncattrs()}
            names = [dim.name for dim in file.dims]
            for name, read in found.variables.items():
                data = stored["_nc4_non_coord_" + name if "_nc4_non_coord_" + name in stored else name]
                layout = CHUNKED if data.chunks else CONTIGUOUS
                var = Var(name, read.dtype.str[1:], [names.index(dim) for dim in read.dimensions], layout,
                          list(data.chunks or ()), data.dtype.str[0] == ">")
                var.atts = {att: array_of(read.getncattr(att)) for att in read.ncattrs()}
                var.fill = np.array(data.fillvalue, var.kind)
                var.values = read[...]
                file.vars.append(var)
        file.open()
        return file

    def define(self):
        self.add("define")

    def write(self, number):
        """All values of a variable."""
        var = self.vars[number]
        var.values = values(var.kind, var.values.shape)
        stored = var.values.astype(var.stored)
        if var.layout != CHUNKED:
            if var.values.size > 0:
                self.add("values", number, hex_of(stored))
            return
        self.add("extend", number)
        grid = [range(0, n, c) for n, c in zip(stored.shape, var.chunks)]
        for index in np.ndindex(*[len(steps) for steps in grid]):
            self.write_chunk(number, stored, [steps[i] for steps, i in zip(grid, index)])

    def write_chunk(self, number, stored, start):
        var = self.vars[number]
        chunk = np.full(var.chunks, self.fill_of(var), var.stored)
        part = stored[tuple(slice(s, s + c) for s, c in zip(start, var.chunks))]
        chunk[tuple(slice(n) for n in part.shape)] = part
        self.add("chunk", number, 0, hex_of(chunk), *start)

    def write_all(self, numbers=None):
        for number in range(len(self.vars)) if numbers is None else numbers:
            self.write(number)

    def run(self):
        self.add("commit")
        self.add("close")
        script = "\n".join(self.lines) + "\n"
        return run(script)


def run(script):
    done = subprocess.run([os.path.join(os.environ.get("PNC_BUILD", "."), PROGRAM)], input=script, text=True,
                          capture_output=True)
    wrong = [line for line in done.stdout.splitlines() if line.startswith("error")]
    if done.returncode != 0:
        wrong.append(f"status {done.returncode}: {done.stderr[-2000:]}")
    return wrong, done.stdout


# --- what others read ---

def compare_atts(found, expected, where, wrong):
    if list(found.ncattrs()) != list(expected):
        wrong.append(f"{where}: attributes {found.ncattrs()}, not {list(expected)}")
        return
    for name, value in expected.items():
        read = found.getncattr(name)
        if isinstance(value, str):
            good = read == value
        else:
            good = np.array_equal(np.atleast_1d(read), value) and np.atleast_1d(read).dtype == value.dtype
        if not good:
            wrong.append(f"{where}: attribute {name} is {read!r}, not {value!r}")


def compare_netcdf4(file, wrong):
    with netCDF4.Dataset(file.path) as found:
        found.set_auto_maskandscale(False)
        found.set_auto_chartostring(False)
        dims = [(dim.name, len(dim), dim.isunlimited()) for dim in found.dimensions.values()]
        expected = [(dim.name, dim.length, dim.unlimited) for dim in file.dims]
        if dims != expected:
            wrong.append(f"dimensions {dims}, not {expected}")
        if found.data_model != {3: "NETCDF4", 4: "NETCDF4_CLASSIC"}[file.version]:
            wrong.append(f"model {found.data_model}")
        if list(found.variables) != [var.name for var in file.vars]:
            wrong.append(f"variables {list(found.variables)}, not {[var.name for var in file.vars]}")
            return
        compare_atts(found, file.atts, "file", wrong)
        for var in file.vars:
            compare_var(found.variables[var.name], var, file, wrong)


def compare_var(found, var, file, wrong):
    names = tuple(file.dims[d].name for d in var.dims)
    if found.dimensions != names:
        wrong.append(f"{var.name}: dimensions {found.dimensions}, not {names}")
    if found.dtype.str[1:] != var.kind:
        wrong.append(f"{var.name}: type {found.dtype}")
    chunks = found.chunking()
    if var.dims and var.layout != COMPACT and chunks != ("contiguous" if var.layout == CONTIGUOUS else var.chunks):
        wrong.append(f"{var.name}: chunks {chunks}, not {var.chunks}")
    compare_atts(found, var.atts, var.name, wrong)
    read = found[...]
    if not np.array_equal(read, var.values):
        wrong.append(f"{var.name}: values differ, {read!r} {var.values!r}"[:500])


def compare_h5py(file, wrong):
    """Scales are attached to each other, and lengths are those of netCDF-4."""
    with h5py.File(file.path) as found:
        for dim in file.dims:
            if dim.name.startswith("phony_dim_") and dim.name not in found:
                continue
            if not h5py.h5ds.is_scale(found[dim.name].id):
                wrong.append(f"{dim.name}: no scale")
        for var in file.vars:
            is_scale = bool(var.dims) and file.dims[var.dims[0]].name == var.name
            path = "_nc4_non_coord_" + var.name if file.is_aside(var) else var.name
            data = found[path]
            if is_scale != ("CLASS" in data.attrs):
                wrong.append(f"{path}: scale {is_scale}")
            for k, d in enumerate(var.dims if not is_scale else ()):
                scales = [scale.name[1:] for scale in data.dims[k].values()]
                if scales != [file.dims[d].name] and file.dims[d].name in found:
                    wrong.append(f"{path}: dimension {k} has scales {scales}")
        for number, dim in enumerate(file.dims):
            if dim.name not in found:
                continue
            listed = found[dim.name].attrs.get("REFERENCE_LIST", ())
            uses = sorted((found[use[0]].name[1:].removeprefix("_nc4_non_coord_"), int(use[1])) for use in listed)
            expected = sorted((var.name, k) for var in file.vars for k, d in enumerate(var.dims)
                              if d == number and file.dims[var.dims[0]].name != var.name)
            if uses != expected:
                wrong.append(f"{dim.name}: used by {uses}, not {expected}")


def compare_tools(file, wrong):
    for command in (["ncdump", "-hs"], ["h5dump", "-H"], ["h5stat"]):
        if shutil.which(command[0]) is None:
            continue
        done = subprocess.run([*command, file.path], capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            wrong.append(f"{command[0]}: {done.returncode} {done.stderr[:500]}")


def check(file, text, wrong=()):
    wrong = list(wrong)
    try:
        compare_netcdf4(file, wrong)
        compare_h5py(file, wrong)
        compare_tools(file, wrong)
    except Exception as why:  # what a reader raises is a failure of the file
        wrong.append(f"{type(why).__name__}: {why}")
    return ok(not wrong, text, "\n".join(wrong[:20]))


# --- what netCDF4-python changes ---

def change_by_netcdf4(file, text):
    """Records, a dimension, variables, attributes and renames by netCDF4-python, in a file of this library."""
    path = scratch("changed.nc")
    shutil.copy(file.path, path)
    wrong = []
    try:
        with netCDF4.Dataset(path, "a") as target:
            target.set_auto_maskandscale(False)
            target.createDimension("added", 3)
            target.createVariable("extra", "i4", ("added",))[:] = [1, 2, 3]
            target.createVariable("plain", "f8", ("added",), zlib=True)[:] = 1.5
            target.setncattr("by", "another library")
            for var in target.variables.values():
                var.setncattr("new", 5)
            is_renamed = bool(file.vars) and not any(map(file.is_aside, file.vars))
            if is_renamed:
                target.renameVariable(file.vars[0].name, "renamed")
        with netCDF4.Dataset(path) as found:
            found.set_auto_maskandscale(False)
            found.set_auto_chartostring(False)
            names = [var.name for var in file.vars]
            names[:1] = ["renamed"] if is_renamed else names[:1]
            if list(found.variables)[:len(names)] != names:
                wrong.append(f"variables {list(found.variables)}")
            if [dim.name for dim in found.dimensions.values()][:len(file.dims)] != [dim.name for dim in file.dims]:
                wrong.append(f"dimensions {list(found.dimensions)}")
            for name, var in zip(names, file.vars):
                if not np.array_equal(found.variables[name][...], var.values):
                    wrong.append(f"{var.name}: values differ")
    except Exception as why:
        wrong.append(f"{type(why).__name__}: {why}")
    failures, shown = run(f"open {path}\nshow\nclose\n")
    dims = [line.split()[1] for line in shown.splitlines() if line.startswith("dim ")]
    if dims[:len(file.dims)] != [dim.name for dim in file.dims] or dims[len(file.dims):] != ["added"]:
        wrong.append(f"this library reads dimensions {dims}")
    ok(not wrong and not failures, text, "\n".join(wrong + failures))


def append_by_netcdf4(file, text):
    path = scratch("appended.nc")
    shutil.copy(file.path, path)
    wrong = []
    try:
        with netCDF4.Dataset(path, "a") as target:
            target.set_auto_maskandscale(False)
            target.set_auto_chartostring(False)
            expected = {}
            for var in target.variables.values():
                if var.ndim == 0 or var.size == 0 or var.endian() == "big":  # which netCDF4-python does not swap
                    continue
                new = values(var.dtype.str[1:], var.shape)
                var[...] = new.astype(var.dtype)
                expected[var.name] = new
        with netCDF4.Dataset(path) as found:
            found.set_auto_maskandscale(False)
            found.set_auto_chartostring(False)
            wrong = [name for name, new in expected.items() if not np.array_equal(found.variables[name][...], new)]
    except Exception as why:
        wrong.append(f"{type(why).__name__}: {why}")
    ok(not wrong, text, "\n".join(wrong))


# --- shapes ---

DEFLATE = ((2, 1), (1, 1, 4))


def make_empty(path):
    return File(path)


def make_types(path):
    file = File(path)
    x, y = file.dim("x", 13), file.dim("y", 7)
    for kind in TYPES:
        for how, layout in (("contiguous", CONTIGUOUS), ("compact", COMPACT), ("chunked", CHUNKED)):
            file.var(f"{how}_{kind}", kind, (x, y), layout)
        file.var(f"packed_{kind}", kind, (x, y), filters=DEFLATE)
        file.var(f"checked_{kind}", kind, (x, y), filters=(*DEFLATE, (3, 0)))
        file.var(f"scalar_{kind}", kind)
        if kind != "S1":
            file.var(f"big_{kind}", kind, (y, x), big=True)
            file.var(f"filled_{kind}", kind, (y, x), filters=DEFLATE, fill=values(kind, 1)[0])
            file.var(f"both_{kind}", kind, (y, x), filters=DEFLATE, big=True, fill=values(kind, 1)[0])
    file.define()
    file.write_all()
    return file


def make_atts(path):
    file = File(path)
    x = file.dim("x", 3)
    file.var("x", "f4", (x,))
    file.var("v", "f4", (x,))
    for number in (-1, 0, 1):
        file.att(number, "text", "some words")
        file.att(number, "empty", "")
        for kind in NUMBERS:
            file.att(number, f"one_{kind}", values(kind, 1))
            file.att(number, f"many_{kind}", values(kind, 5))
        file.att(number, "none", values("i4", 0))
        file.att(number, "long", "x" * 70000)
        file.att(number, "wide", values("f8", 9000))
        file.att(number, "m\u00e9tr\u00e9", "\u00fcml\u00e4ut \u03b1")
    file.define()
    file.write_all()
    return file


def make_coordinates(path):
    file = File(path, 4)
    t, y, x = file.dim("t"), file.dim("y", 3), file.dim("x", 4)
    n, z = file.dim("name", 5), file.dim("z", 2)
    file.var("v", "i4", (t, y, x), filters=DEFLATE)
    file.var("x", "f4", (x,))
    file.var("y", "f4", (y, x))
    file.var("t", "f8", (t,), chunks=[4])
    file.var("name", "S1", (x, n))
    file.var("z", "i2")
    file.var("w", "i4", (x, y, z, x))
    file.grow(t, 3)
    file.define()
    file.write_all()
    return file


def make_unlimited(path):
    file = File(path)
    a, b, c, x = file.dim("a"), file.dim("b"), file.dim("c"), file.dim("x", 4)
    for number, dims in enumerate([(a,), (a, b), (a, b, c), (x, a), (x, b, c), (c, c)]):
        file.var(f"v{number}", "i2", dims, filters=DEFLATE if number % 2 else ())
    file.var("b", "i8", (b,))
    file.var("c", "i8", (c, x))
    for dim, length in ((a, 3), (b, 2), (c, 4)):
        file.grow(dim, length)
    file.define()
    file.write_all()
    return file


def make_many(path):
    file = File(path)
    dims = [file.dim(f"d{number}", 2) for number in range(100)]
    for number in range(1000):
        kind = NUMBERS[number % len(NUMBERS)]
        file.var(f"v{number}", kind, (dims[0], dims[number % 100]))
        file.att(number, "number", np.array([number], "i4"))
    file.define()
    file.write_all([0, 999])
    for var in file.vars[1:999]:
        var.values = np.zeros(var.values.shape, var.kind)
    return file


def make_names(path):
    file = File(path)
    file.dim("d\u00e9j\u00e0", 3)
    file.dim("\u6642\u9593")
    file.var("d\u00e9j\u00e0", "f4", (0,))
    file.var("\u03b1\u03b2", "f4", (1, 0))
    file.var("a" * 255, "f4", (1, 0))
    file.define()
    file.write_all()
    return file


# --- definitions at random, changed again and again ---

NAMES = list("abcdefgh")


def unused(names):
    free = [name for name in NAMES if name not in names]
    return str(random.choice(free)) if free else None


def add_dim(file):
    name = unused([dim.name for dim in file.dims])
    one_more = file.version == 3 or not any(dim.unlimited for dim in file.dims)
    if name:
        file.dim(name, int(random.integers(0 if one_more else 1, 5)))


def add_var(file):
    name = unused([var.name for var in file.vars])
    if not name:
        return
    dims = [int(d) for d in random.integers(0, len(file.dims), random.integers(0, 4))] if file.dims else []
    kind = str(random.choice(file.kinds()))
    filters = [(), DEFLATE, (*DEFLATE, (3, 0))][random.integers(0, 3)] if dims else ()
    fill = values(kind, 1)[0] if kind != "S1" and random.random() < 0.2 else None
    layout = int(random.choice([CONTIGUOUS, COMPACT, CHUNKED] if dims else [CONTIGUOUS, COMPACT]))
    number = file.var(name, kind, dims, layout, filters=filters, fill=fill,
                      big=kind[1] != "1" and random.random() < 0.2)
    for _ in range(random.integers(0, 4)):
        put_att(file, number)


def put_att(file, number):
    numbers = values(str(random.choice(file.kinds()[2:])), random.integers(0, 4))
    value = [f"text {random.integers(0, 10**6)}", "", numbers, "long" * 20000][random.choice(4, p=[0.4, 0.1, 0.4, 0.1])]
    file.att(number, str(random.choice(NAMES)), value)


def any_object(file):
    return int(random.integers(-1, len(file.vars)))


def change_att(file):
    number = any_object(file)
    atts = [name for name in file.atts_of(number) if name in NAMES]
    if not atts or random.random() < 0.5:
        put_att(file, number)
    elif random.random() < 0.5:
        file.delete_att(number, str(random.choice(atts)))
    elif unused(atts):
        file.rename_att(number, str(random.choice(atts)), unused(atts))


def rename_dim(file):
    name = unused([dim.name for dim in file.dims])
    if file.dims and name:
        file.rename_dim(int(random.integers(0, len(file.dims))), name)


def rename_var(file):
    name = unused([var.name for var in file.vars])
    if file.vars and name:
        file.rename_var(int(random.integers(0, len(file.vars))), name)


def grow_dim(file):
    growing = [number for number, dim in enumerate(file.dims)
               if dim.unlimited and any(number in var.dims for var in file.vars)]
    if growing:
        number = int(random.choice(growing))
        file.grow(number, file.dims[number].length + int(random.integers(1, 4)))


def change(file, kinds, most):
    for _ in range(random.integers(1, most + 1)):
        random.choice(kinds)(file)
    file.define()


def write_some(file):
    for number in range(len(file.vars)):
        if random.random() < 0.6 or file.vars[number].layout != CHUNKED:
            file.write(number)


def extend_all(file):
    for number, var in enumerate(file.vars):
        if var.layout == CHUNKED:
            file.add("extend", number)


def play(path, kinds, rounds, text):
    """A file of random definitions, which change in several sessions, some with several defines."""
    file = File(path, int(random.choice([3, 4])))
    change(file, [add_dim, add_var, add_var, change_att], 12)
    for number in range(rounds):
        if number > 0:
            file.open()
            change(file, kinds, 4)
        write_some(file)
        if random.random() < 0.3:
            file.add("commit")
            change(file, kinds, 3)
        grow_dim(file)
        extend_all(file)
        write_some(file)
        failed, _ = file.run()
        if not check(file, f"{text}, session {number}", failed):
            shutil.copy(file.path, scratch(f"wrong_{text.replace(' ', '_')}_{number}.nc"))
            return
    change_by_netcdf4(file, f"{text}: netCDF4-python changes definitions")
    append_by_netcdf4(file, f"{text}: netCDF4-python writes values")


EXTENDING = [add_dim, add_var, change_att]
RENAMING = [*EXTENDING, rename_dim, rename_var, rename_dim, rename_var]


# --- files of other libraries ---

def make_by_netcdf4(path):
    """As random definitions say."""
    file = File(path, int(random.choice([3, 4])))
    change(file, [add_dim, add_var, add_var, change_att], 12)
    with netCDF4.Dataset(path, "w", format={3: "NETCDF4", 4: "NETCDF4_CLASSIC"}[file.version]) as out:
        out.set_auto_maskandscale(False)
        out.set_auto_chartostring(False)
        for dim in file.dims:
            out.createDimension(dim.name, None if dim.unlimited else dim.length)
        for name, value in file.atts.items():
            out.setncattr(name, value)
        for var in file.vars:
            filters = {"zlib": True, "complevel": 4} if random.random() < 0.5 and var.layout == CHUNKED else {}
            new = out.createVariable(var.name, var.kind, [file.dims[d].name for d in var.dims],
                                     chunksizes=var.chunks if var.layout == CHUNKED else None,
                                     fill_value=var.atts.get("_FillValue", [None])[0], **filters)
            for name, value in var.atts.items():
                if name != "_FillValue":
                    new.setncattr(name, value)
            if random.random() < 0.7:
                shape = [int(random.integers(0, 4)) if file.dims[d].unlimited else file.dims[d].length
                         for d in var.dims]
                new[...] = values(var.kind, shape)


def make_by_h5py(path, has_scales=True, **how):
    with h5py.File(path, "w", **how) as out:
        for name, length in (("a", 3), ("b", 4)):
            out.create_dataset(name, data=values("f4", length), track_order=True)
            if has_scales:
                out[name].make_scale(name)
        out.create_dataset("c", data=values("i4", (3, 4)), chunks=(2, 3), maxshape=(3, 4), track_order=True)
        out.create_dataset("d", data=values("i2", (3, 4)), chunks=(2, 3), shuffle=True, compression="gzip",
                           track_order=True)
        out.create_dataset("e", data=values("u8", (4, 3)), track_order=True)
        out.create_dataset("f", (3,), "f8", track_order=True)
        for name, scales in (("c", "ab"), ("d", "ab"), ("e", "ba"), ("f", "a")):
            out[name].attrs["h"] = values("i4", 3)
            for k, scale in enumerate(scales if has_scales else ""):
                out[name].dims[k].attach_scale(out[scale])


def extend_other(path, make, text, kinds, sessions=3):
    make(path)
    file = File.read(path)
    for number in range(sessions):
        if number > 0:
            file.open()
        change(file, kinds, 4)
        grow_dim(file)
        extend_all(file)
        write_some(file)
        failed, _ = file.run()
        if not check(file, f"{text}, session {number}", failed):
            shutil.copy(file.path, scratch(f"wrong_{text.replace(' ', '_')}_{number}.nc"))
            return


H5PY = {"with orders": {"track_order": True},
        "of the newest format": {"track_order": True, "libver": "latest"},
        "with pages": {"track_order": True, "fs_strategy": "page"}}


def check_refusals():
    """Files whose definitions cannot change, and which cannot be written; they stay as they are."""
    for title, how, commands in (("keeps no order of creation", {}, "dim new 3\ndefine\n"),
                                 ("has a list of its free space",
                                  {"track_order": True, "fs_strategy": "fsm", "fs_persist": True}, "")):
        path = scratch("refused.nc")
        make_by_h5py(path, **how)
        with open(path, "rb") as file:
            before = file.read()
        failed, _ = run(f"open {path}\n{commands}")
        with open(path, "rb") as file:
            after = file.read()
        ok(failed and "NC_ENOTSUPPORT" in failed[0] and title in failed[0] and before == after,
           f"a file that {title} is refused", "\n".join(failed))
    path = scratch("groups.nc")
    with netCDF4.Dataset(path, "w") as out:
        out.createDimension("x", 3)
        out.createVariable("v", "f4", ("x",))[:] = 1
        out.createGroup("g").createDimension("z", 5)
        out["g"].createVariable("w", "f4", ("z", "x"))[:] = 2
    failed, _ = run(f"open {path}\ndim new 3\ndefine\nclose\n")
    ok(failed and "NC_ENOTSUPPORT" in failed[0], "no dimension is added to a file with groups", "\n".join(failed))
    file = File.read(path)
    file.rename_dim(0, "renamed")
    file.var("renamed", "f4", (0,))
    file.define()
    file.write_all()
    failed, _ = file.run()
    with netCDF4.Dataset(path) as found:
        w = found["g/w"]
        ok(not failed and w.dimensions == ("z", "renamed") and (w[:] == 2).all(),
           "a variable of a group has the new scale of its dimension", f"{failed} {w}")
    path = scratch("unordered.nc")
    make_by_h5py(path)
    file = File.read(path)
    file.att(2, "added", "a text")
    file.att(-1, "global", values("i4", 3))
    file.define()
    write_some(file)
    failed, _ = file.run()
    check(file, "a file without an order of creation: values and attributes", failed)


SHAPES = {"no definitions": make_empty, "all types and layouts": make_types, "attributes": make_atts,
          "coordinate variables": make_coordinates, "unlimited dimensions": make_unlimited,
          "1000 variables": make_many, "names": make_names}

if not has_hdf5():
    skip("netCDF-4 files", "the build is without HDF5")
    finish()
check_refusals()
for title, make in SHAPES.items():
    made = make(scratch("made.nc"))
    failed, _ = made.run()
    check(made, f"{title}: as defined", failed)
    change_by_netcdf4(made, f"{title}: netCDF4-python changes definitions")
    append_by_netcdf4(made, f"{title}: netCDF4-python writes values")
for seed in range(choose(3, 5, 50)):
    random = np.random.default_rng(seed)
    play(scratch("random.nc"), EXTENDING, 4, f"extended {seed}")
for seed in range(choose(3, 5, 50)):
    random = np.random.default_rng(1000 + seed)
    play(scratch("random.nc"), RENAMING, 4, f"renamed {seed}")
for seed in range(choose(3, 5, 50)):
    random = np.random.default_rng(2000 + seed)
    extend_other(scratch("other.nc"), make_by_netcdf4, f"of netCDF4-python {seed}", RENAMING)
for seed in range(choose(1, 2, 10)):
    random = np.random.default_rng(3000 + seed)
    for title, how in H5PY.items():
        extend_other(scratch("other.nc"), lambda path: make_by_h5py(path, **how), f"of h5py {title} {seed}", RENAMING)
        extend_other(scratch("other.nc"), lambda path: make_by_h5py(path, False, **how),
                     f"of h5py {title}, without scales {seed}", EXTENDING)
finish()
