"""Documents and chunks of Zarr by this library, without MPI: zarr, xarray and tensorstore read ours, and it reads
theirs: types, shards, codecs, transposition, fill values, attributes, groups, versions 2 and 3."""
# needs: python
import json
import os
import shutil
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import pypi
import tap

PACKAGES = ("xarray>=2025.7", "zarr>=3.1", "numcodecs", "tensorstore", "numpy", "netCDF4>=1.7.2")  # test_zarr_others
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
PROGRAM = os.path.join(BUILD, "test", "interop", "zarr_documents")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def facts(folder):
    """What our library says: a list of (word, fields)."""
    done = run("print", folder)
    if done.returncode != 0:
        tap.ok(False, f"{folder} is read", done.stderr)
    return [line.split(" ", 1) for line in done.stdout.decode().splitlines()]


def attributes(folder, path=""):
    found = {}
    for word, rest in facts(folder):
        fields = rest.split("\t")
        if word == "attribute" and fields[0] == path:
            found[fields[1]] = (int(fields[2]), int(fields[3]), bytes.fromhex(fields[5]))
    return found


# --- ours, read by others ---

# What the program writes: value i of an array is i % 100.
def expected(array):
    numbers = numpy.arange(int(numpy.prod(array.shape))) % 100
    if array.dtype.kind == "S":
        return numpy.array([bytes([i]) for i in numbers], "S1").reshape(array.shape)
    return numbers.astype(array.dtype).reshape(array.shape)


def absent(array):
    """The first chunk of each shard is absent."""
    mask = numpy.zeros(array.shape, bool)
    if array.shards is not None:
        for corner in numpy.ndindex(*[-(-n // s) for n, s in zip(array.shape, array.shards)]):
            first = [c * s for c, s in zip(corner, array.shards)]
            mask[tuple(slice(f, f + c) for f, c in zip(first, array.chunks))] = True
    return mask


def same_as_written(values, array):
    wanted, mask = expected(array), absent(array)
    return (values[~mask] == wanted[~mask]).all() and (values[mask] == array.fill_value).all()


def check_zarr(folder):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        arrays = dict(zarr.open_group(folder, mode="r").arrays())
        wrong = [name for name, array in arrays.items() if not same_as_written(array[...], array)]
    tap.ok(len(arrays) == 13 and not wrong, "zarr reads all types and codecs that we write", (sorted(arrays), wrong))
    tap.ok(not seen, "zarr prints no warning", [str(warning.message) for warning in seen])
    alone = [name for name in arrays if not same_as_written(zarr.open_array(f"{folder}/{name}", mode="r")[...],
                                                           arrays[name])]
    tap.ok(not alone, "and each array by its own document", alone)
    return arrays


def check_tensorstore(folder, arrays):
    wrong = []
    for name, array in arrays.items():
        if array.dtype.kind != "S":
            spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": os.path.join(folder, name)}}
            if not (tensorstore.open(spec).result().read().result() == array[...]).all():
                wrong.append(name)
    tap.ok(not wrong, "tensorstore reads the numbers", wrong)


def check_xarray(folder):
    ds = xarray.open_zarr(folder)
    tap.ok(ds.attrs["title"] == 'a "title' and ds.attrs["wide"] == 1 << 40 and ds.attrs["widest"] == 2**64 - 1 and
           ds.attrs["latin"] == "a\u00e9z" and ds.attrs["third"] == float(numpy.float32(1 / 3)) and
           ds.attrs["reals"] == [1 / 3, 1e300, -0.0] and not [name for name in ds.attrs if name.startswith("_")],
           "xarray has the attributes, and not ours", ds.attrs)
    tap.ok(ds.sizes == {"time": 5, "y": 6, "x": 10} and list(ds.coords) == ["x"] and ds.int.attrs["units"] == "K1",
           "and dimensions and coordinates", ds)
    fill = numpy.frombuffer(b"\x42" * 4, "<f4")[0]
    tap.ok(ds.float.encoding["_FillValue"] == fill and ds.short.encoding["_FillValue"] == 0x4242,
           "and fill values", ds.float.encoding)
    tap.ok(ds.char.dtype == "S1", "and characters", ds.char)


def ours(top):
    folder = os.path.join(top, "ours")
    tap.ok(run("write", folder).returncode == 0, "a store of ours")
    arrays = check_zarr(folder)
    check_tensorstore(folder, arrays)
    check_xarray(folder)
    with open(os.path.join(folder, "zarr.json"), encoding="utf-8") as file:
        about = json.load(file)["attributes"]["_ncmpi"]
    tap.ok(about["dimensions"] == [["time", 5, True], ["unused", 17], ["y", 6], ["x", 10]] and
           about["variables"][:3] == ["byte", "char", "short"], "_ncmpi has dimensions and order", about)
    again = run("again", folder).stdout.decode().split("\n")
    tap.ok(len(again) == 15 and all(line.startswith("same") for line in again if line),
           "documents of definitions that have not changed are the same", again)


# --- theirs, read by us ---

def order_of(array):
    """Of bytes, in what is stored."""
    metadata = array.metadata.to_dict()
    if metadata["zarr_format"] == 2:
        return ">" if array.dtype.byteorder == ">" else "<"
    return ">" if '"big"' in json.dumps(metadata["codecs"], default=str).split("index_codecs", maxsplit=1)[0] else "<"


def is_read(folder, name, array):
    done = run("values", folder, name)
    values = numpy.frombuffer(done.stdout, array.dtype.newbyteorder(order_of(array)))
    return done.returncode == 0 and values.size == array.size and (values.reshape(array.shape) == array[...]).all()


def check_theirs(folder, text):
    arrays = dict(zarr.open_group(folder, mode="r").arrays())
    wrong = [(name, array.metadata.to_dict(), run("values", folder, name).stderr)
             for name, array in arrays.items() if not is_read(folder, name, array)]
    tap.ok(arrays and not wrong, f"{text}: {len(arrays)} arrays are read", wrong[:3])


def compressors():
    return [None, codecs.GzipCodec(level=3), codecs.ZstdCodec(level=3, checksum=True),
            codecs.BloscCodec(cname="zstd", clevel=1, shuffle="shuffle"),
            codecs.BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle"),
            codecs.BloscCodec(cname="zlib", clevel=2, shuffle="noshuffle"), codecs.BloscCodec(cname="blosclz")]


def draw(generator, array):
    """The last rows are never written."""
    most = 2 if array.dtype.kind == "b" else 100
    array[:9, :] = generator.integers(0, most, (9, 11)).astype(array.dtype)


def their_version_3(top):
    folder, n = os.path.join(top, "v3"), 0
    group, generator = zarr.open_group(folder, mode="w", zarr_format=3), numpy.random.default_rng(1)
    for dtype in ("int8", "uint16", "int64", "float32", "bool"):
        for compressor in compressors():
            n += 1
            endian = None if dtype in ("int8", "bool") else "big" if n % 2 else "little"
            used = [codec for codec in (compressor, codecs.Crc32cCodec() if n % 4 == 0 else None) if codec is not None]
            location = "start" if n % 3 else "end"
            draw(generator, group.create_array(
                f"a{n}", shape=(13, 11), chunks=(3, 4), dtype=dtype, compressors=used or None, fill_value=1,
                shards={"shape": (6, 8), "index_location": location} if n % 2 == 0 else None,
                filters=[codecs.TransposeCodec(order=(1, 0))] if n % 5 == 0 else None,
                serializer=codecs.BytesCodec(endian=endian), dimension_names=("y", "x") if n % 2 else None,
                chunk_key_encoding={"name": "default" if n % 5 else "v2", "separator": "/" if n % 7 else "."}))
    check_theirs(folder, "zarr, version 3")


def their_version_2(top):
    folder, n = os.path.join(top, "v2"), 0
    group, generator = zarr.open_group(folder, mode="w", zarr_format=2), numpy.random.default_rng(2)
    for dtype in ("i1", "<u2", ">i4", "<f4", ">f8", "|b1"):
        for codec in (None, numcodecs.GZip(3), numcodecs.Zlib(3), numcodecs.Zstd(3, checksum=True),
                      numcodecs.Blosc("zstd", 1, -1), numcodecs.Blosc("lz4", 5, 2), numcodecs.CRC32C()):
            n += 1
            filters = [[numcodecs.Shuffle(numpy.dtype(dtype).itemsize)], [numcodecs.Fletcher32()], None][n % 3]
            draw(generator, group.create_array(
                f"a{n}", shape=(13, 11), chunks=(3, 4), dtype=dtype, compressors=codec, filters=filters,
                order="CF"[n % 2], fill_value=0 if n % 4 else None,
                chunk_key_encoding={"name": "v2", "separator": "/" if n % 5 else "."}))
    check_theirs(folder, "zarr, version 2")


def their_tensorstore(top):
    folder = os.path.join(top, "tensorstore")
    zarr.open_group(folder, mode="w", zarr_format=3)
    for name, dtype in (("a", "uint16"), ("b", "float64")):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": os.path.join(folder, name)}, "metadata": {
            "shape": [10, 20], "data_type": dtype, "dimension_names": ["y", "x"],
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8, 8]}}, "codecs": [
                {"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 4], "codecs": [
                    {"name": "bytes", "configuration": {"endian": "little"}},
                    {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 1, "shuffle": "shuffle"}}]}}]}}
        array = tensorstore.open(spec, create=True).result()
        array[2:9, 3:17] = numpy.arange(7 * 14, dtype=dtype).reshape(7, 14)
    check_theirs(folder, "tensorstore")


def their_xarray(top):
    for version in (2, 3):
        ds = xarray.Dataset(
            {"t": (("time", "x"), numpy.arange(6, dtype="f4").reshape(2, 3), {"units": "K", "missing_value": -1.5}),
             "c": (("x", "n"), numpy.array([[b"a", b"b"]] * 3, "S1")), "b": (("x",), numpy.array([True, False, True])),
             "i": (("x",), numpy.array([1, 2, 3], "i2")), "s": (("x",), numpy.array(["a", "bc", "d"], dtype=object))},
            coords={"x": [1, 2, 3]}, attrs={"title": "text"})
        ds.t.encoding["_FillValue"], ds.i.encoding["_FillValue"] = numpy.float32(-9), numpy.int16(-5)
        folder = os.path.join(top, f"xarray{version}")
        ds.to_zarr(folder, zarr_format=version)
        found = dict(line for line in facts(folder) if line[0] == "array" and "refusal" in line[1])
        tap.ok(len(found) == 1 and ("string" in found["array"] or "|O" in found["array"]),
               f"xarray, version {version}: only the strings are not read", found)
        tap.ok(attributes(folder, "t")["_FillValue"] == (5, 1, numpy.float32(-9).tobytes()) and
               attributes(folder, "i")["_FillValue"] == (3, 1, numpy.int16(-5).tobytes()) and
               attributes(folder, "t")["missing_value"] == (6, 1, numpy.float64(-1.5).tobytes()) and
               attributes(folder)["title"] == (2, 4, b"text"), "and attributes", attributes(folder, "t"))
        before = xarray.open_zarr(folder).load()
        tap.ok(run("again", folder).returncode == 0 and before.identical(xarray.open_zarr(folder).load()) and
               "new" not in run("again", folder).stdout.decode(), "and are the same when we have written them")


def their_attributes(top):
    folder = os.path.join(top, "attributes")
    group = zarr.open_group(folder, mode="w")
    group.attrs.update({"mixed": [1, "a"], "dict": {"a": [1]}, "null": None, "flags": [True, False], "big": 2**63,
                        "texts": ["a", "b\u00e9", ""], "neg": -2**40, "real": [1, 2.5], "nan": float("nan"), "i": 5,
                        "a/b": 1, "none": []})
    inner = group.create_group("one").create_group("two")
    for place, length in ((group, 3), (inner, 3), (group["one"], 5)):
        place.create_array("t", shape=(4, length), dtype="f4", dimension_names=("y", "x"))
    group.create_array("w", shape=(7, 0), dtype="f4", dimension_names=("x", None))
    found = attributes(folder)
    wanted = {"mixed": (2, 7, b'[1,"a"]'), "dict": (2, 9, b'{"a":[1]}'), "null": (2, 4, b"null"),
              "flags": (1, 2, b"\1\0"), "big": (11, 1, (2**63).to_bytes(8, "little")),
              "texts": (2, 6, "a\nb\u00e9\n".encode()), "neg": (10, 1, (-2**40).to_bytes(8, "little", signed=True)),
              "real": (6, 2, numpy.array([1, 2.5]).tobytes()), "nan": (6, 1, numpy.float64("nan").tobytes()),
              "i": (4, 1, (5).to_bytes(4, "little")), "none": (4, 0, b"")}
    tap.ok(found == wanted, "attributes of all kinds have types by our rules", found)
    dims = [rest for word, rest in facts(folder) if word == "dimension"]
    tap.ok(sorted(dims) == ["dim_0\t0\t1", "one/x\t5\t0", "x\t3\t0", "x_7\t7\t0", "y\t4\t0"], "and dimensions names",
           dims)
    before = {key: repr(dict(sorted(zarr.open_group(folder, path=key).attrs.items()))) for key in ("", "one")}
    tap.ok(run("again", folder).returncode == 0, "they are written")
    after = {key: dict(zarr.open_group(folder, path=key).attrs) for key in ("", "one")}
    after[""].pop("_ncmpi")
    tap.ok({key: repr(dict(sorted(value.items()))) for key, value in after.items()} ==
           before,
           "and have not changed", after)


def inside():
    """In the environment with the packages."""
    warnings.simplefilter("ignore")
    top = os.path.abspath(os.path.join(os.environ.get("PNC_TEST_TMP", "."), "zarr_stores"))
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    for part in (ours, their_version_3, their_version_2, their_tensorstore, their_xarray, their_attributes):
        part(top)
    tap.finish()


if sys.argv[1:] == ["--inside"]:
    import numcodecs
    import numpy
    import tensorstore
    import xarray
    import zarr
    from zarr import codecs
    inside()
environment = pypi.Environment("zarr-documents", "documents of Zarr")
environment.need(*PACKAGES)
os.execv(environment.python, [environment.python, "-B", os.path.abspath(__file__), "--inside"])
