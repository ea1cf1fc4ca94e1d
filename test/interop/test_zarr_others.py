"""Zarr stores of others through this library on 1, 2 and 4 ranks: random ones of zarr, versions 2 and 3, with all
codecs, types, orders and shapes, and those of NCZarr, xarray and tensorstore. All gets have the values that zarr reads;
what is put, and records that are appended, zarr reads. With PNC_TEST_LONG=1 there are 300 random stores."""
# needs: python
import json
import os
import shutil
import struct
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import pypi
import tap

PACKAGES = ("xarray>=2025.7", "zarr>=3.1", "numcodecs", "tensorstore", "numpy", "netCDF4>=1.7.2")  # test_zarr_documents
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
READ = "test/interop/netcdf4_read"
MODES = ("all", "indep", "nonblocking", "varn", "whole")
NUMBERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


def scratch(name):
    path = os.path.abspath(tap.scratch(name))
    shutil.rmtree(path, ignore_errors=True)
    return path


def run_mpi(ranks, *arguments):
    return tap.run_mpi(ranks, *arguments, env={**os.environ, "PNETCDF_HINTS": "nc_groups=all"})


# --- random stores ---

def compressor_of(draw, version):
    if version == 3:
        made = (None, codecs.GzipCodec(level=3), codecs.ZstdCodec(level=2, checksum=bool(draw.integers(2))),
                codecs.BloscCodec(cname=draw.choice(["zstd", "lz4", "zlib", "blosclz", "lz4hc"]), clevel=4,
                                  shuffle=draw.choice(["shuffle", "noshuffle", "bitshuffle"])), codecs.Crc32cCodec())
    else:
        made = (None, numcodecs.GZip(3), numcodecs.Zlib(int(draw.integers(-1, 10))), numcodecs.Zstd(2),
                numcodecs.Blosc(str(draw.choice(["zstd", "lz4", "zlib", "blosclz"])), 4, int(draw.integers(-1, 3))),
                numcodecs.CRC32C())
    return made[draw.integers(len(made))]


def filters_of(draw, version, dtype, ndims):
    if version == 3:
        return [codecs.TransposeCodec(order=tuple(draw.permutation(ndims).tolist()))] if ndims and draw.random() < .3 \
            else None
    size = numpy.dtype(dtype).itemsize
    return [None, [numcodecs.Shuffle(size)], [numcodecs.Fletcher32()], [numcodecs.Shuffle(size), numcodecs.Zlib(1)]][
        draw.integers(4)]


def some_values(draw, dtype, shape):
    if dtype.kind == "S":
        return draw.integers(97, 123, shape).astype("u1").view("S1").reshape(shape)
    if dtype.kind == "b":
        return draw.integers(0, 2, shape).astype("?")
    if dtype.kind == "f":
        return draw.normal(0, 1000, shape).astype(dtype)
    limits = numpy.iinfo(dtype)
    return draw.integers(limits.min, limits.max, shape, dtype.newbyteorder("="), endpoint=True).astype(dtype)


def write_some(draw, array):
    """All, none or a box of it."""
    kind = draw.integers(4)
    if kind == 0 or array.size == 0:
        return
    box = tuple(slice(0, n) if kind < 3 else slice(*sorted(draw.integers(0, n + 1, 2).tolist())) for n in array.shape)
    shape = tuple(part.stop - part.start for part in box)
    array[box if box else ...] = some_values(draw, array.dtype, shape)


def make_array(draw, group, version, name):
    ndims = int(draw.integers(5))
    shape = tuple(draw.integers(0 if draw.random() < .15 else 1, 18, ndims).tolist())
    chunks = tuple(int(draw.integers(1, n + 4)) for n in shape)
    order = str(draw.choice([">", "<"]))
    kind = str(draw.choice(NUMBERS + ("?",) + (("S1",) if version == 2 else ())))
    dtype = numpy.dtype(order + kind)
    fill = None if version == 2 and draw.random() < .3 else some_values(draw, dtype, ())[()]
    settings = {"order": str(draw.choice(["C", "F"]))} if version == 2 else {}
    if version == 3:
        settings["serializer"] = codecs.BytesCodec(
            endian=None if dtype.itemsize == 1 else "big" if order == ">" else "little")
        dtype = dtype.newbyteorder("=")
        if draw.random() < .5:
            settings["dimension_names"] = [f"{name}_{d}" if draw.random() < .7 else None for d in range(ndims)]
        if ndims and draw.random() < .5:
            settings["shards"] = {"shape": tuple(c * int(draw.integers(1, 4)) for c in chunks),
                                  "index_location": str(draw.choice(["start", "end"]))}
    filters = filters_of(draw, version, dtype, ndims)
    separator = str(draw.choice(["/", "."]))
    keys = {"name": "v2" if version == 2 or draw.random() < .3 else "default", "separator": separator}
    array = group.create_array(name, shape=shape, chunks=chunks, dtype=dtype, fill_value=fill, filters=filters,
                               compressors=compressor_of(draw, version), chunk_key_encoding=keys, **settings)
    if version == 2 and draw.random() < .5:
        array.attrs["_ARRAY_DIMENSIONS"] = [f"{name}_{d}" for d in range(ndims)]
    array.attrs["units"] = name
    write_some(draw, array)


def make_store(draw, path, version):
    root = zarr.open_group(path, mode="w", zarr_format=version)
    root.attrs["title"] = "random"
    groups = [root]
    for _ in range(draw.integers(3)):
        groups.append(groups[draw.integers(len(groups))].create_group(f"g{len(groups)}"))
    for number in range(draw.integers(1, 7)):
        make_array(draw, groups[draw.integers(len(groups))], version, f"{draw.choice(['a', 'i'])}{number}")
    if draw.random() < .5:
        zarr.consolidate_metadata(path)


# --- what zarr reads, and what this library reads ---

def arrays_of(group, prefix=""):
    """By path; in native order, as this library has the values in memory."""
    found = {}
    for name, array in group.arrays():
        values = numpy.asarray(array[...])
        values = values.view("i1") if values.dtype.kind == "b" else values
        found[prefix + name] = values.astype(values.dtype.newbyteorder("="), copy=False)
    for name, inner in group.groups():
        found.update(arrays_of(inner, f"{prefix}{name}/"))
    return found


def stored(path):
    return arrays_of(zarr.open_group(path, mode="r"))


def read_slabs(path):
    with open(path, "rb") as file:
        data = file.read()
    os.remove(path)
    at = 0
    while at < len(data):
        varid, ndims = struct.unpack_from("2q", data, at)
        numbers = struct.unpack_from(f"{3 * ndims}q", data, at + 16)
        at += 16 + 24 * ndims
        n, = struct.unpack_from("q", data, at)
        yield varid, tuple(slice(s, s + c * t, t) for s, c, t in zip(numbers[::3], numbers[1::3], numbers[2::3])), \
            data[at + 8:at + 8 + n]
        at += 8 + n


def definitions(path):
    """Lines of facts."""
    out = tap.scratch("zarr_others.facts")
    status, stdout, stderr = run_mpi(1, READ, path, "define", out)
    if status != 0 or stdout:
        return [], stdout + stderr
    with open(out, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    os.remove(out)
    return lines, ""


def compare(path, wanted, ranks, mode, rounds=2):
    """What differs."""
    lines, trouble = definitions(path)
    names = [line.split(" ")[1] for line in lines if line.startswith("var ")]
    if trouble or sorted(names) != sorted(wanted):
        return [trouble, f"{sorted(names)} instead of {sorted(wanted)}"]
    out, wrong, slabs = tap.scratch("zarr_others.values"), [], 0
    status, stdout, stderr = run_mpi(ranks, READ, path, mode, out, 3 * ranks, rounds)
    for rank in range(ranks):
        for varid, slices, data in read_slabs(f"{out}.{rank}"):
            values = wanted[names[varid]]
            slabs += 1
            if numpy.ascontiguousarray(values[slices] if slices else values).tobytes() != data:
                wrong.append(f"rank {rank}: {names[varid]}, {slices}")
    if status != 0 or stdout or slabs != len(names) * ranks * rounds:
        wrong.append(f"{slabs} slabs; {stdout}{stderr}")
    return wrong


def can_be_put(values):
    return values.ndim > 0 and values.size > 0 and values.dtype.kind in "if" and values.dtype.itemsize > 1 and \
        values.size < 30000


def put_and_compare(path, wanted, ranks):
    names = [name for name in wanted if can_be_put(wanted[name])]
    if not names:
        return []
    status, stdout, stderr = run_mpi(ranks, READ, path, "fill", *names)
    for name in names:
        values = wanted[name] = wanted[name].copy()
        rows = values[:-1]
        rows[...] = (numpy.arange(rows.size) + 100).reshape(rows.shape)
    found = stored(path)
    wrong = [name for name in wanted if found[name].tobytes() != wanted[name].tobytes()]
    return wrong + [stdout + stderr] if wrong or status != 0 or stdout else []


def odd_objects(path):
    """Of a writer that died, or has left them."""
    return [name for _, _, names in os.walk(path) for name in names if "~" in name]


def random_stores():
    wrong, puts, count = [], [], tap.choose(8, 24, 300)
    path = scratch("zarr_others")
    for seed in range(count):
        draw = numpy.random.default_rng(seed)
        shutil.rmtree(path, ignore_errors=True)
        make_store(draw, path, 2 + seed % 2)
        ranks, wanted = (1, 2, 4)[seed % 3], stored(path)
        wrong += [f"{seed}: {what}" for what in compare(path, wanted, ranks, MODES[seed % 5])]
        puts += [f"{seed}: {what}" for what in put_and_compare(path, wanted, ranks)]
        puts += [f"{seed}: after puts {what}" for what in compare(path, wanted, ranks, "whole", 1)]
        puts += [f"{seed}: {what} is left" for what in odd_objects(path)]
        if wrong or puts:
            shutil.rmtree(f"{path}_bad", ignore_errors=True)
            shutil.copytree(path, f"{path}_bad")
            break
    tap.ok(not wrong, f"{count} random stores of zarr are read as zarr reads them", wrong[:10])
    tap.ok(not puts, "zarr reads what is put into their arrays", puts[:10])
    shutil.rmtree(path, ignore_errors=True)


# --- records ---

def extend(path, ranks, *names):
    status, stdout, stderr = run_mpi(ranks, READ, path, "extend", *names)
    return stdout + stderr if status != 0 or stdout else ""


def appended():
    for version in (2, 3):
        for consolidated in (False, True):
            path = scratch("zarr_appended")
            group = zarr.open_group(path, mode="w", zarr_format=version)
            settings = {"shards": {"shape": (4, 6), "index_location": "end"}} if version == 3 else {}
            array = group.create_array("a", shape=(0, 5), chunks=(2, 3), dtype="f4", **settings)
            other = group.create_array("b", shape=(3, 5), chunks=(2, 3), dtype="i4", fill_value=1, **settings)
            array.attrs["_ARRAY_DIMENSIONS"] = ["time", "x"]
            other[...] = 7
            if consolidated:
                zarr.consolidate_metadata(path)
            trouble = [extend(path, ranks, "a") for ranks in (1, 2, 4)]
            for use in (None, False):
                found = zarr.open_group(path, mode="r", use_consolidated=use)
                tap.ok(not any(trouble) and found["a"].shape == (3, 5) and found["a"].attrs["changed"] == "yes" and
                       (found["a"][...] == [[36], [18], [9]]).all() and (found["b"][...] == 7).all(),
                       f"version {version}, consolidated {consolidated}, {use}: zarr reads appended records",
                       (trouble, found["a"], found["a"][...]))
            shutil.rmtree(path)


# --- NCZarr ---

CDL = """netcdf a { dimensions: y = 4 ; x = 5 ;
variables: float v(y, x) ; v:units = "K" ; v:_FillValue = -9.f ; v:_ChunkSizes = 3, 2 ;
int s ; s:n = 1s, 2s ; char c(y) ; double x(x) ; :title = "hello" ; :f = 1.5f ;
data: v = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 ; s = 7 ; c = "abcd" ; x = 1, 2, 3, 4, 5 ;
group: g { dimensions: z = 3 ; variables: short w(z, x) ; w:a = 1b ; data: w = 1, 2, 3, 4, 5, 6, 7 ; } }
"""
def nczarr_variables():
    """Types of netCDF, and values."""
    return {"v": (5, numpy.array([*range(1, 18), -9, -9, -9], "f4").reshape(4, 5)), "s": (4, numpy.array(7, "i4")),
            "c": (2, numpy.array([b"a", b"b", b"c", b"d"], "S1")), "x": (6, numpy.arange(1, 6, dtype="f8")),
            "g/w": (3, numpy.array([1, 2, 3, 4, 5, 6, 7] + [-32767] * 8, "i2").reshape(3, 5))}


def check_nczarr(path, text):
    lines, trouble = definitions(path)
    wanted = nczarr_variables()
    dims = [line.split(" ")[1:] for line in lines if line.startswith("dim ")]
    found = {line.split(" ")[1]: line.split(" ")[2:] for line in lines if line.startswith("var ")}
    atts = sorted(tuple(line.split(" ")[2:4]) for line in lines if line.startswith("att "))
    names = {name: [dims[int(i)][0] for i in rest[1:]] for name, rest in found.items()}
    tap.ok(dims == [["y", "4"], ["x", "5"], ["g/z", "3"]] and list(found) == list(wanted) and
           {name: int(rest[0]) for name, rest in found.items()} == {name: one for name, (one, _) in wanted.items()} and
           names == {"v": ["y", "x"], "s": [], "c": ["y"], "x": ["x"], "g/w": ["g/z", "x"]} and
           atts == [("_FillValue", "5"), ("a", "1"), ("f", "5"), ("n", "3"), ("title", "2"), ("units", "2")],
           f"{text}: definitions", (trouble, lines))
    for ranks, mode in ((1, "all"), (2, "indep"), (4, "whole")):
        wrong = compare(path, {name: values for name, (_, values) in wanted.items()}, ranks, mode)
        tap.ok(not wrong, f"{text}: values on {ranks} ranks", wrong)


def nczarr_of_debian():
    if shutil.which("ncgen") is None or shutil.which("nccopy") is None:
        tap.skip("NCZarr of ncgen and nccopy", "they are not installed (Debian: netcdf-bin)")
        return
    cdl, path, copy = tap.scratch("nczarr.cdl"), scratch("nczarr.zarr"), scratch("nczarr_copy.zarr")
    with open(cdl, "w", encoding="ascii") as file:
        file.write(CDL)
    subprocess.run(["ncgen", "-4", "-o", f"{cdl}.nc", cdl], check=True)
    for target, command in ((path, ["ncgen", "-4", "-o", f"file://{path}#mode=nczarr,file", cdl]),
                            (copy, ["nccopy", f"{cdl}.nc", f"file://{copy}#mode=nczarr,file"])):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not os.path.isdir(target):
            tap.skip(f"NCZarr of {command[0]}", f"it fails: {done.stdout}{done.stderr}")
            return
        check_nczarr(target, f"NCZarr of {command[0]}")
    wanted = {name: values for name, (_, values) in nczarr_variables().items()}
    status, stdout, stderr = run_mpi(2, READ, path, "fill", "g/w")
    rows = wanted["g/w"][:-1]
    rows[...] = (numpy.arange(rows.size) + 100).reshape(rows.shape)
    found = zarr.open_array(f"{path}/g/w", mode="r")[...]
    tap.ok(status == 0 and not stdout and (found == wanted["g/w"]).all() and not compare(path, wanted, 1, "all"),
           "zarr reads what is put into NCZarr", (stdout, stderr, found))


def nczarr_of_netcdf4(path):
    with netCDF4.Dataset(f"file://{path}#mode=nczarr,file", "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 5)
        file.createVariable("v", "f4", ("t", "x"), zlib=True, shuffle=True, chunksizes=(2, 3))[:3] = 1
        file.createVariable("c", "S1", ("x",))[:] = numpy.array([b"a", b"b", b"c", b"d", b"e"], "S1")
        file.createVariable("s", "i4", ())[...] = 5
        file["v"].small = numpy.int8(3)
        group = file.createGroup("g")
        group.createDimension("z", None)
        group.createVariable("w", "i2", ("z", "x"))[:2] = 3


def new_nczarr():
    path = scratch("new_nczarr.zarr")
    try:
        nczarr_of_netcdf4(path)
    except OSError as error:
        tap.skip("NCZarr of netCDF4", str(error))
        return
    lines, trouble = definitions(path)
    tap.ok([line for line in lines if line.startswith("dim ")] == ["dim t 3", "dim x 5", "dim g/z 2"] and
           "all_unlimited 0 2" in lines and "att 0 small 1 1 3" in lines and "var s 4" in lines and
           not [line for line in lines if "_nczarr" in line.lower()], "new NCZarr: definitions", (trouble, lines))
    wanted = {"v": numpy.ones((3, 5), "f4"), "c": numpy.array([b"a", b"b", b"c", b"d", b"e"], "S1"),
              "s": numpy.array(5, "i4"), "g/w": numpy.full((2, 5), 3, "i2")}
    wrong = compare(path, wanted, 2, "all")
    tap.ok(not wrong, "and values", wrong)
    trouble = extend(path, 2, "v", "g/w")
    with netCDF4.Dataset(f"file://{path}#mode=nczarr,file") as file:
        tap.ok(not trouble and file["v"].shape == (4, 5) and (file["v"][:3] == 2).all() and
               (file["v"][3] == 9).all() and file["g/w"].shape == (3, 5) and (file["g/w"][2] == 9).all() and
               file["v"].changed == "yes",
               "netCDF-C reads what is put and appended", (trouble, file["v"], file["g/w"]))


# --- others ---

def of_tensorstore():
    path = scratch("zarr_tensorstore")
    zarr.open_group(path, mode="w", zarr_format=2)
    for name, dtype, compressor in (("a", "<i4", {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1}),
                                    ("b", ">f8", {"id": "zstd", "level": 3}), ("c", "|u1", None)):
        spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": f"{path}/{name}"}, "metadata": {
            "shape": [10, 20], "dtype": dtype, "chunks": [4, 7], "compressor": compressor, "order": "F" if name == "b"
            else "C", "dimension_separator": "/" if name == "a" else "."}}
        array = tensorstore.open(spec, create=True).result()
        array[2:9, 3:17] = numpy.arange(7 * 14).astype(array.dtype.numpy_dtype).reshape(7, 14)
    wanted = stored(path)
    wrong = [what for mode in MODES for what in compare(path, wanted, 2, mode, 1)] + put_and_compare(path, wanted, 2)
    tap.ok(not wrong, "tensorstore, version 2", wrong)


def of_xarray():
    path = scratch("zarr_xarray")
    for consolidated in (False, True):
        shutil.rmtree(path, ignore_errors=True)
        data = xarray.Dataset({"t": (("time", "x"), numpy.arange(6, dtype="f4").reshape(2, 3), {"units": "K"})},
                              coords={"x": [1, 2, 3]}, attrs={"title": "text"})
        data.to_zarr(path, zarr_format=2, consolidated=consolidated)
        wrong = compare(path, stored(path), 2, "all")
        lines, trouble = definitions(path)
        tap.ok(not wrong and "dim time 2" in lines and "dim x 3" in lines and "att -1 title 2 4 74657874" in lines,
               f"xarray, version 2, consolidated {consolidated}", (wrong, trouble, lines))
        trouble = extend(path, 2, "x")
        with xarray.open_zarr(path, consolidated=consolidated) as found:
            tap.ok(not trouble and list(found.x.values) == [2, 4, 6] and found.x.attrs["changed"] == "yes" and
                   found.t.dims == ("time", "x"), "xarray reads what was changed", (trouble, found))


def run_tool(name, *arguments):
    done = subprocess.run([os.path.join(BUILD, "src", "tools", name, name), *arguments], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def tools():
    path, copy, other = scratch("zarr_tools"), scratch("zarr_tools_copy"), tap.scratch("zarr_tools.nc")
    draw, group = numpy.random.default_rng(16), zarr.open_group(path, mode="w", zarr_format=2)
    group.attrs["title"] = "random"
    for number in range(6):
        make_array(draw, group, 2, f"a{number}")
    status, text = run_tool("ncmpidump", "-h", path)
    tap.ok(status == 0 and 'title = "random"' in text, "ncmpidump of a store of version 2", text)
    status, text = run_tool("ncvalidator", path)
    tap.ok(status == 0, "ncvalidator of it", text)
    for target, options in ((other, ("-k", "nc4")), (copy, ("-k", "zarr"))):
        status, text = run_tool("ncmpicopy", "-O", "--no-history", *options, path, target)
        status, difference = run_tool("ncmpidiff", path, target) if status == 0 else (status, "")
        tap.ok(status == 0, f"ncmpicopy {' '.join(options)} has the same", text + difference)
    status, text = run_tool("ncmpicopy", "-k", "zarr", copy, path)
    tap.ok(status != 0 and os.path.exists(f"{path}/.zgroup"), "a store of version 2 is not replaced without -O", text)
    status, text = run_tool("ncmpicopy", "-O", "--no-history", "-k", "zarr", copy, path)
    tap.ok(status == 0 and not os.path.exists(f"{path}/.zgroup") and run_tool("ncmpidiff", path, copy)[0] == 0,
           "with -O it is", text)
    os.remove(other)


def refusals():
    path = scratch("zarr_refused")
    group = zarr.open_group(path, mode="w", zarr_format=2)
    for name, settings in (("delta", {"filters": [numcodecs.Delta("<i4")]}),
                           ("lzma", {"compressors": numcodecs.LZMA()}), ("good", {})):
        group.create_array(name, shape=(4,), chunks=(2,), dtype="<i4", **settings)[...] = 5
    group.create_array("text", shape=(4,), chunks=(2,), dtype="<U7")
    out = tap.scratch("zarr_others.values")
    for ranks in (1, 2):
        status, stdout, stderr = run_mpi(ranks, READ, path, "whole", out, 1, 1)
        for rank in range(ranks):
            os.remove(f"{out}.{rank}")
        tap.ok(status == 0 and 'NC_EFILTER delta' in stdout and '"delta"' in stdout and 'NC_EFILTER lzma' in stdout and
               '"lzma"' in stdout and "good" not in stdout, f"{ranks} ranks: codecs that are missing have names",
               stdout + stderr)
    with open(os.path.join(path, "lzma", ".zarray"), encoding="utf-8") as file:
        damaged = json.load(file)
    damaged["chunks"] = [1, 2, 3]
    for what, text in (("another number of chunks", json.dumps(damaged)), ("no JSON", '{"zarr_format": 2,')):
        with open(os.path.join(path, "lzma", ".zarray"), "w", encoding="utf-8") as file:
            file.write(text)
        _, stdout, stderr = run_mpi(2, READ, path, "whole", out, 1, 1)
        tap.ok("NC_ENCZARR" in stdout and "lzma/.zarray" in stdout, f"damage: {what}", stdout + stderr)
    array = os.path.join(path, "good")
    _, stdout, _ = run_mpi(1, READ, array, "whole", out, 1, 1)
    tap.ok("one array" in stdout, "an array is no dataset", stdout)
    group = zarr.open_group(path, mode="w", zarr_format=2)
    group.create_array("a", shape=(4,), chunks=(2,), dtype="<i4")[...] = 5
    _, stdout, _ = run_mpi(2, READ, path, "change", "a")
    tap.ok("NC_ENOTSUPPORT" in stdout and "version 2" in stdout and stored(path)["a"].tolist() == [5] * 4,
           "no variable is added to a store of version 2", stdout)


def inside():
    """In the environment with the packages."""
    warnings.simplefilter("ignore")
    for part in (random_stores, appended, nczarr_of_debian, new_nczarr, of_tensorstore, of_xarray, tools, refusals):
        part()
    tap.finish()


if sys.argv[1:] == ["--inside"]:
    import netCDF4
    import numcodecs
    import numpy
    import tensorstore
    import xarray
    import zarr
    from zarr import codecs
    inside()
environment = pypi.Environment("zarr-documents", "Zarr stores of others")
environment.need(*PACKAGES)
os.execv(environment.python, [environment.python, "-B", os.path.abspath(__file__), "--inside"])
