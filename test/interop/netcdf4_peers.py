"""What netCDF-C (netCDF4-python) and h5py do in a program of netcdf4_draw.py: make a file, change it, read it. Each in
a process of its own: libhdf5 may crash on a file that was destroyed, and keeps files in memory."""
import os
import pickle
import select
import signal
import sys
import time

import numpy as np

from netcdf4_model import TYPES, kind_of, make_values

NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable.%10d"
SECONDS = 60


def call(function, *arguments):
    """(value, "") or (None, why)."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        status = 0
        try:
            quiet()
            text = pickle.dumps((function(*arguments), ""))
        except BaseException as error:  # pylint: disable=broad-except
            text = pickle.dumps((None, f"{type(error).__name__}: {error}"))
        with os.fdopen(write, "wb") as out:
            out.write(text)
        sys.stdout.flush()
        os._exit(status)
    os.close(write)
    parts, end = [], time.time() + SECONDS
    with os.fdopen(read, "rb", buffering=0) as source:
        while True:
            ready = select.select([source], [], [], max(0, end - time.time()))[0]
            if not ready:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return None, "hangs"
            part = source.read(1 << 20)
            if not part:
                break
            parts.append(part)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return None, f"crash by signal {os.WTERMSIG(status)}"
    return pickle.loads(b"".join(parts))


# --- netCDF-C ---

def open_netcdf(path, mode):
    import netCDF4  # pylint: disable=import-outside-toplevel
    h5py()  # has the filter lzf
    file = netCDF4.Dataset(path, mode)
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)
    return file


def define_by_netcdf(file, spec):
    kind, fill = spec["type"], spec.get("fill")
    options = {"fill_value": None if fill is None else False if fill == "no" else
               (chr(fill).encode() if kind == "c" else np.dtype(kind).type(fill))}
    if spec.get("chunks"):
        options["chunksizes"] = spec["chunks"]
    elif spec["dims"] and not spec.get("any_storage"):
        options["contiguous"] = True
    options["shuffle"] = bool(spec.get("shuffle"))
    if spec.get("deflate"):
        options.update(zlib=True, complevel=spec["deflate"])
    if spec.get("szip"):
        options.update(compression="szip", szip_coding=spec["szip"][0], szip_pixels_per_block=spec["szip"][1])
    options["fletcher32"] = bool(spec.get("fletcher32"))
    if spec.get("big"):
        options["endian"] = "big"
    var = file.createVariable(spec["name"], "S1" if kind == "c" else kind, spec["dims"], **options)
    var.set_auto_maskandscale(False)
    var.set_auto_chartostring(False)
    return var


def quiet():
    """No warnings of netCDF4-python."""
    import warnings  # pylint: disable=import-outside-toplevel
    warnings.simplefilter("ignore")


def shaped(kind, base, box):
    values = make_values(kind, base, int(np.prod(box[1], dtype=int))).reshape(box[1])
    return values.view("S1") if kind == "c" else values


def slices(box):
    return tuple(slice(s, s + (c - 1) * t + 1, t) for s, c, t in zip(*box))


def set_attribute(target, name, value):
    target.setncattr(name, value if isinstance(value, str) else np.array(value, "i4"))


def carry_out_by_netcdf(file, ops):
    for op in ops:
        if op["op"] == "def_dim":
            file.createDimension(op["name"], op["len"])
        elif op["op"] == "def_var":
            define_by_netcdf(file, op["spec"])
        elif op["op"] == "att":
            set_attribute(file if op["var"] is None else file[op["var"]], op["name"], op["value"])
        elif op["op"] == "put":
            var = file[op["var"]]
            var.set_auto_maskandscale(False)
            var.set_auto_chartostring(False)
            values = shaped(op["kind"], op["base"], op["box"]).astype(var.dtype)
            if not var.dimensions:
                var[...] = values
            else:
                var[slices(op["box"])] = values


def make_by_netcdf(path, made):
    import netCDF4  # pylint: disable=import-outside-toplevel
    with netCDF4.Dataset(path, "w", format=made.get("format", "NETCDF4")) as file:
        file.set_fill_on()
        carry_out_by_netcdf(file, made["ops"])


def change_by_netcdf(path, ops):
    with open_netcdf(path, "a") as file:
        carry_out_by_netcdf(file, ops)


def find_shapes(path):
    """Lengths of the datasets themselves."""
    with h5py().File(path, "r") as file:
        return {name: var.shape for name, var in file.items()}


def read_by_netcdf(path):
    """Of a variable that is shorter than its unlimited dimensions only its own values, as netCDF-C 4.9 confuses the
    others where such a dimension is not the first one."""
    shapes = find_shapes(path)
    with open_netcdf(path, "r") as file:
        result = {"dims": {name: len(dim) for name, dim in file.dimensions.items()},
                  "atts": {name: file.getncattr(name) for name in file.ncattrs()}, "vars": {}, "var_atts": {},
                  "lengths": {}}
        for name, var in file.variables.items():
            shape = shapes.get(name, shapes.get("_nc4_non_coord_" + name))
            values = np.asarray(var[tuple(slice(0, n) for n in shape)] if shape else var[...])
            result["vars"][name] = values.view("u1").reshape(values.shape) if values.dtype.kind == "S" else values
            result["lengths"][name] = var.shape
            result["var_atts"][name] = {att: var.getncattr(att) for att in var.ncattrs()}
    return result


# --- h5py ---

def h5py():
    import h5py as module  # pylint: disable=import-outside-toplevel
    return module


def stored_type(spec):
    h5 = h5py()
    if spec["type"] == "c":
        kind = h5.h5t.C_S1.copy()
        kind.set_size(1)
        kind.set_strpad(h5.h5t.STR_NULLTERM)
        return kind
    return h5.h5t.py_create((">" if spec.get("big") else "<") + spec["type"])


def property_list(spec, shape):
    h5 = h5py()
    plist = h5.h5p.create(h5.h5p.DATASET_CREATE)
    if spec.get("track_order"):
        plist.set_attr_creation_order(h5.h5p.CRT_ORDER_TRACKED | h5.h5p.CRT_ORDER_INDEXED)
    if spec.get("chunks"):
        plist.set_chunk(tuple(spec["chunks"]))
    elif spec.get("storage") == "compact":
        plist.set_layout(h5.h5d.COMPACT)
    if spec.get("shuffle"):
        plist.set_shuffle()
    if spec.get("deflate"):
        plist.set_deflate(spec["deflate"])
    if spec.get("lzf"):
        plist.set_filter(h5.h5z.FILTER_LZF, h5.h5z.FLAG_OPTIONAL)
    if spec.get("szip"):
        plist.set_szip(h5.h5z.SZIP_NN_OPTION_MASK if spec["szip"][0] == "nn" else h5.h5z.SZIP_EC_OPTION_MASK,
                       spec["szip"][1])
    if spec.get("fletcher32"):
        plist.set_fletcher32()
    if spec.get("fill") is not None:
        plist.set_fill_value(np.array(spec["fill"], spec["type"]))
    if spec.get("alloc"):
        plist.set_alloc_time({"early": h5.h5d.ALLOC_TIME_EARLY, "late": h5.h5d.ALLOC_TIME_LATE,
                              "incr": h5.h5d.ALLOC_TIME_INCR}[spec["alloc"]])
    if spec.get("fill_time"):
        plist.set_fill_time({"never": h5.h5d.FILL_TIME_NEVER, "alloc": h5.h5d.FILL_TIME_ALLOC,
                             "ifset": h5.h5d.FILL_TIME_IFSET}[spec["fill_time"]])
    return plist


def define_by_h5py(file, spec, dims, with_scales):
    h5 = h5py()
    shape = tuple(0 if dims[d] is None else dims[d] for d in spec["dims"])
    most = tuple(h5.h5s.UNLIMITED if dims[d] is None else dims[d] for d in spec["dims"])
    space = h5.h5s.create_simple(shape, most) if shape else h5.h5s.create(h5.h5s.SCALAR)
    name = spec["name"]
    h5.h5d.create(file.id, name.encode(), stored_type(spec), space, property_list(spec, shape))
    var = file[name]
    if spec.get("fill_att") and spec.get("fill") is not None:
        var.attrs.create("_FillValue", np.array([spec["fill"]], spec["type"]))
    if not with_scales:
        return
    if spec["dims"] and name == spec["dims"][0] and len(spec["dims"]) == 1:
        var.make_scale(name)
        return
    for i, d in enumerate(spec["dims"]):
        var.dims[i].attach_scale(file[d])


def define_scale(file, name, length, number):
    dataset = file.create_dataset(name, (length or 0,), "f4", maxshape=(length,),
                                  chunks=(16,) if length is None else None)
    dataset.make_scale("x")
    del dataset.attrs["NAME"]
    dataset.attrs["NAME"] = np.bytes_(NO_VARIABLE % (length or 0) + b"\0")
    if number is not None:
        dataset.attrs["_Netcdf4Dimid"] = np.int32(number)


def set_h5py_attribute(target, name, value):
    if name in target.attrs:
        del target.attrs[name]
    target.attrs[name] = np.bytes_(value) if isinstance(value, str) else np.array(value, "i4")


def carry_out_by_h5py(file, ops, dims, with_scales):
    names = [op["spec"]["name"] for op in ops if op["op"] == "def_var" and len(op["spec"]["dims"]) == 1 and
             op["spec"]["name"] == op["spec"]["dims"][0]]
    for op in ops:
        if op["op"] == "def_dim":
            dims[op["name"]] = op["len"]
            if with_scales and op["name"] not in names:
                define_scale(file, op["name"], op["len"], None)
        elif op["op"] == "def_var":
            define_by_h5py(file, op["spec"], dims, with_scales)
        elif op["op"] == "att":
            set_h5py_attribute(file if op["var"] is None else file[op["var"]], op["name"], op["value"])
        elif op["op"] == "junk":
            dataset = file.create_dataset("junk", data=np.full(op["n"], 77, "u1"))
            file.flush()
            del dataset
            del file["junk"]
        elif op["op"] == "put":
            put_by_h5py(file[op["var"]], op)


def put_by_h5py(var, op):
    box = op["box"]
    ends = [s + (c - 1) * t + 1 for s, c, t in zip(*box)]
    if var.maxshape and any(end > now for end, now in zip(ends, var.shape)):
        var.resize(tuple(max(end, now) for end, now in zip(ends, var.shape)))
    values = shaped(op["kind"], op["base"], box)
    if op["kind"] == "c":  # h5py's type would make a text of one character and a zero of no characters
        h5 = h5py()
        space = var.id.get_space()
        if var.shape:
            space.select_hyperslab(tuple(box[0]), tuple(box[1]), tuple(box[2]))
        memory = h5.h5s.create_simple(values.shape) if var.shape else h5.h5s.create(h5.h5s.SCALAR)
        var.id.write(memory, space, np.ascontiguousarray(values), var.id.get_type())
    elif not var.shape:
        var[()] = values
    else:
        var[slices(box)] = values


def make_by_h5py(path, made):
    options = {"libver": made.get("libver", "earliest"), "track_order": made.get("track_order", False)}
    if made.get("userblock"):
        options["userblock_size"] = made["userblock"]
    if made.get("strategy"):
        options.update(fs_strategy=made["strategy"], fs_persist=made.get("persist", False))
    with h5py().File(path, "w", **options) as file:
        carry_out_by_h5py(file, made["ops"], {}, made.get("scales", True))


def change_by_h5py(path, ops, dims):
    with h5py().File(path, "r+") as file:
        carry_out_by_h5py(file, ops, dims, True)


def read_by_h5py(path):
    result = {"vars": {}}
    with h5py().File(path, "r") as file:
        for name, var in file.items():
            if var.dtype.kind == "S":
                values = np.zeros(var.shape, "S1")
                if values.size > 0:
                    var.id.read(h5py().h5s.ALL, h5py().h5s.ALL, values, var.id.get_type())
                result["vars"][name] = values.view("u1").reshape(values.shape)
            else:
                result["vars"][name] = np.asarray(var[()])
    return result


__all__ = ["TYPES", "kind_of", "call"]
