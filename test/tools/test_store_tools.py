"""The tools on Zarr stores: a netCDF-4 file becomes a store and a file again, of which netCDF4-python reads what it had
written at first; other tools read the store; and what is no store is never replaced."""
# needs: python
import json
import os
import shutil
import sys
import xml.dom.minidom

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap

random = numpy.random.default_rng(11)
# of a file that a build without HDF5 reads, too
FORMAT, OUTPUT = ("NETCDF4", "nc4") if tap.has_hdf5() else ("NETCDF3_64BIT_DATA", "cdf5")
KINDS = ["i1", "i2", "i4", "f4", "f8", "u1", "u2", "u4", "i8", "u8"]


def run(tool, *arguments, ranks=1):
    status, out, errors = tap.run_mpi(ranks, f"src/tools/{tool}/{tool}", *arguments)
    return status, out + errors


def make(path):
    with netCDF4.Dataset(path, "w", format=FORMAT) as file:
        file.createDimension("time", None)
        file.createDimension("lat", 19)
        file.createDimension("lon", 23)
        file.title = "made"
        file.numbers = numpy.array([1.5, -2.5], "f4")
        for kind in KINDS:
            limits = (-1000, 1000) if kind[0] == "f" else (0, 120)
            variable = file.createVariable(f"v_{kind}", kind, ("time", "lat", "lon"), fill_value=numpy.array(7, kind))
            variable.units = f"units of {kind}"
            variable[:] = random.uniform(*limits, (6, 19, 23)).astype(kind)
        file.createVariable("scalar", "f8", ())[...] = 2.75
        file.createVariable("lat", "f4", ("lat",))[:] = numpy.linspace(-90, 90, 19)
        file.createVariable("empty", "i4", ("time",))


def compare(original, copy):
    wrong = []
    with netCDF4.Dataset(original) as a, netCDF4.Dataset(copy) as b:
        a.set_auto_maskandscale(False)
        b.set_auto_maskandscale(False)
        if a.ncattrs() != b.ncattrs() or list(a.variables) != list(b.variables):
            wrong.append(f"{b.ncattrs()} {list(b.variables)}")
        for name in a.variables:
            one, other = a[name], b.variables.get(name)
            if other is None or one.dimensions != other.dimensions or one.dtype != other.dtype or \
                    one[...].tobytes() != other[...].tobytes() or one.ncattrs() != other.ncattrs():
                wrong.append(f"{name}: {other}")
    return wrong


def check_copies(original):
    for ranks in (1, 3):
        store, back = tap.scratch(f"copy{ranks}.zarr"), tap.scratch(f"back{ranks}.nc")
        shutil.rmtree(store, ignore_errors=True)
        first = run("ncmpicopy", "--no-history", "--verify", original, store, ranks=ranks)
        second = run("ncmpicopy", "--no-history", "-O", "-k", OUTPUT, store, back, ranks=ranks)
        tap.ok(first[0] == 0 and second[0] == 0 and compare(original, back) == [],
               f"{ranks} ranks: to a store, by the name of the output, and back",
               first[1] + second[1] or compare(original, back))
        status, text = run("ncmpidiff", original, store, ranks=ranks)
        tap.ok(status == 0, f"{ranks} ranks: ncmpidiff finds no difference", text)
    return store


def check_readers(original, store):
    status, text = run("ncmpidump", store)
    wanted = run("ncmpidump", original)[1].split("\n", 2)[2].replace("netcdf ", "")
    tap.ok(status == 0 and text.split("\n", 2)[2] == wanted and "// file format: Zarr" in text,
           "ncmpidump prints the same text", text[:1500])
    tap.ok(run("ncmpidump", "-k", store) == (0, "zarr\n"), "ncmpidump -k")
    status, text = run("cdfdiff", original, store)
    tap.ok(status == 0, "cdfdiff finds no difference", text)
    status, text = run("ncvalidator", store)
    tap.ok(status == 0 and "is a Zarr file without errors" in text, "ncvalidator", text)
    listed = json.loads(run("ncoffsets", "--json", store)[1])
    tap.ok(listed["format"] == "Zarr" and {v["name"]: v["written"] for v in listed["variables"]}["v_f4"] >= 1,
           "ncoffsets --json", listed)
    status, text = run("ncoffsets", "--kerchunk", store)
    tap.ok(status != 0 and "is a Zarr store" in text, "ncoffsets --kerchunk has a message", text)
    status, text = run("ncoffsets", "--svg", store)
    drawn = {box.getAttribute("fill") for box in xml.dom.minidom.parseString(text).getElementsByTagName("rect")}
    tap.ok(status == 0 and "v_f4" in text and "Zarr, " in text and len(drawn) > 5,
           "ncoffsets --svg draws the chunks of variables", (drawn, text[:500]))
    stats, wanted = run("ncmpidump", "--stats", store), run("ncmpidump", "--stats", original)
    tap.ok(stats == wanted, "ncmpidump --stats", stats[1])


def check_damage(store):
    broken = tap.scratch("broken.zarr")
    shutil.rmtree(broken, ignore_errors=True)
    shutil.copytree(store, broken)
    with open(os.path.join(broken, ".~log"), "w", encoding="ascii") as file:
        file.write("of a program that has died")
    text = run("ncvalidator", broken)[1]
    tap.ok(".~log is the log of changes" in text and "belongs to nothing" not in text, "ncvalidator names a log", text)
    os.remove(os.path.join(broken, ".~log"))
    chunk = [name for name in os.listdir(os.path.join(broken, "v_f8")) if name.startswith("c")][0]
    path = os.path.join(broken, "v_f8", chunk)
    os.truncate(path, os.path.getsize(path) // 2)
    status, text = run("ncvalidator", broken)
    tap.ok(status == 1 and "v_f8" in text, "ncvalidator finds a chunk that is cut", text)
    shutil.rmtree(broken)


def check_replacing(original):
    folder = tap.scratch("folder.zarr")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    with open(os.path.join(folder, "letter"), "w") as file:
        file.write("mine")
    status, text = run("ncmpicopy", "-O", original, folder)
    tap.ok(status == 1 and "no Zarr store" in text and os.listdir(folder) == ["letter"],
           "a folder that is no store stays", text)
    status, text = run("ncmpidump", folder)
    tap.ok(status != 0 and "no Zarr store" in text, "and is not read", text)
    shutil.rmtree(folder)
    store = tap.scratch("again.zarr")
    shutil.rmtree(store, ignore_errors=True)
    run("ncmpicopy", "-v", "scalar", original, store)
    status, text = run("ncmpicopy", original, store)
    tap.ok(status == 1 and "exists already" in text, "a store is replaced only by -O", text)
    status, text = run("ncmpicopy", "-O", "-v", "v_i4", original, store)
    tap.ok(status == 0 and "int v_i4" in run("ncmpidump", "-h", store)[1] and
           "scalar" not in os.listdir(store), "-O replaces all of it", text)
    left = [name for name in os.listdir(os.path.dirname(store) or ".") if ".partial-" in name]
    tap.ok(not left, "nothing temporary is left", left)
    shutil.rmtree(store)


def write_json(path, document):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(document, file)


def check_groups():
    """Groups in groups, without consolidated metadata: as other libraries write them."""
    store = tap.scratch("nested.zarr")
    shutil.rmtree(store, ignore_errors=True)
    for group in ("", "a", "a/b", "a/b/c"):
        write_json(os.path.join(store, group, "zarr.json"),
                   {"zarr_format": 3, "node_type": "group", "attributes": {"of": group}})
    for name in ("y", "a/b/c/x"):
        write_json(os.path.join(store, name, "zarr.json"),
                   {"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "int32", "attributes": {},
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
                    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                    "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                    "dimension_names": ["n"]})
        os.mkdir(os.path.join(store, name, "c"))
        numpy.array([5, 6, len(name)], "<i4").tofile(os.path.join(store, name, "c", "0"))
    status, text = run("ncmpidump", store)
    tap.ok(status == 0 and "y = 5, 6, 1 ;" in text and "x = 5, 6, 7 ;" in text, "groups in groups are read", text)
    shutil.rmtree(store)


original = tap.scratch("original.nc")
make(original)
store = check_copies(original)
check_readers(original, store)
check_damage(store)
check_replacing(original)
check_groups()
tap.finish()
