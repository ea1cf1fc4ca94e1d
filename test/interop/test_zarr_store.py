"""Zarr stores that this library writes on 1, 2 and 4 ranks and on two simulated nodes, in several steps and with blocks
that cross chunks and shards (test/mpi/test_zarr.c): zarr and xarray read what was put, and what shards have is in few
files."""
# needs: python
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "tools")]
import pypi
import tap

PACKAGES = ("xarray>=2024.10", "zarr>=3", "fsspec", "netCDF4", "numpy<3", "pyarrow", "fastparquet",
            "h5py") # as test_zarr.py
Y, X, RECORDS = 37, 53, 9
TYPES = {"byte": "i1", "char": "S1", "short": "i2", "int": "i4", "float": "f4", "double": "f8", "ubyte": "u1",
         "ushort": "u2", "uint": "u4", "int64": "i8", "uint64": "u8"}
KINDS = {"fixed": (Y, X), "record": (RECORDS, Y, X), "scalar": ()}


def expected(name, kind):
    """The formula of test_zarr.c."""
    shape, element = KINDS[kind], numpy.arange(int(numpy.prod(KINDS[kind], dtype=int)))
    values = 33 + (element * 7 + list(TYPES).index(name) * 13 + list(KINDS).index(kind) * 5 + element // 61) % 90
    kind = TYPES[name]
    return (values.astype("u1").view("S1") if kind == "S1" else values.astype(kind)).reshape(shape)


def compare(label, read):
    wrong = []
    for name in TYPES:
        for kind in KINDS:
            values, wanted = read(f"{name}_{kind}"), expected(name, kind)
            if values.shape != wanted.shape or values.tobytes() != wanted.tobytes():
                wrong.append(f"{name}_{kind}: {values.dtype} {values.shape}")
    tap.ok(not wrong, label, wrong)


def count_files(path):
    return sum(len(files) for _, _, files in os.walk(path))


def name_codecs(path, name):
    """Of a chunk, or a chunk of a shard."""
    with open(os.path.join(path, name, "zarr.json"), encoding="utf-8") as file:
        codecs = json.load(file)["codecs"]
    if codecs[0]["name"] == "sharding_indexed":
        codecs = codecs[0]["configuration"]["codecs"]
    return [codec["name"] for codec in codecs]


def check_compression(folder, label):
    found = {name: name_codecs(os.path.join(folder, name + ".zarr"), "double_fixed")
             for name in ("chunks", "shards", "large")}
    wanted = {"chunks": ["bytes"], "shards": ["bytes", "blosc"], "large": ["bytes", "blosc"]}
    tap.ok(found == wanted, f"{label}: no compression, that by default, and deflate with shuffle", found)


def check_store(path, label):
    group = zarr.open_group(path, mode="r", zarr_format=3)
    compare(f"{label}: zarr, by consolidated metadata", lambda name: numpy.asarray(group[name][...]))
    group = zarr.open_group(path, mode="r", zarr_format=3, use_consolidated=False)
    compare(f"{label}: zarr, by those of each array", lambda name: numpy.asarray(group[name][...]))
    tap.ok(group.attrs["title"] == "a box" and list(group.attrs["numbers"]) == [1, 2, 3] and
           group.attrs["history"] == "appended" and group["later"][...] == 77, f"{label}: attributes",
           dict(group.attrs))
    with xarray.open_zarr(path, mask_and_scale=False, decode_times=False) as dataset:
        compare(f"{label}: xarray", lambda name: numpy.asarray(dataset[name].values))
        tap.ok(dataset["float_record"].dims == ("time", "y", "x") and "x" in dataset.coords and
               list(dataset["time"].values) == list(range(RECORDS)) and dataset["x"].attrs["units"] == "m",
               f"{label}: dimensions and coordinates", dataset)
    with xarray.open_zarr(path) as dataset:
        tap.ok(str(dataset["time"].values[2])[:10] == "2001-01-03", f"{label}: times", dataset["time"].values)


def check_groups(path, label):
    """What test_groups of test_zarr.c puts."""
    group, index = zarr.open_group(path, mode="r", zarr_format=3, use_consolidated=False), numpy.arange(12)
    names = sorted(name for name, _ in group.members(max_depth=None))
    attrs = {"title": "forecast", "models": ["one", "two"], "weight": float(numpy.float32(0.1))}
    tap.ok(names == ["empty", "forecast", "forecast/high", "forecast/high/level", "forecast/tas", "later", "more",
                     "most", "tas"] and (group["forecast/tas"][...] == [index, 3 * index]).all() and
           (group["tas"][...] == 2 * index).all() and (group["forecast/high/level"][...] == 4 * index).all() and
           dict(group["forecast"].attrs) == attrs,
           f"{label}: groups, by zarr", (names, dict(group["forecast"].attrs)))
    with xarray.open_zarr(path, group="forecast") as dataset:
        tap.ok(dataset["tas"].dims == ("time", "x") and dataset["tas"].attrs["units"] == "K",
               f"{label}: a group, by xarray", dataset)


def inside():
    """In the environment with the packages."""
    folder = os.environ.get("PNC_TEST_TMP", ".")
    for ranks, nodes in ((1, 1), (2, 1), (4, 1), (4, 2)):
        variables = {"MPIR_CVAR_NUM_CLIQUES": str(nodes)} if nodes > 1 else {}
        status, out, err = tap.run_mpi(ranks, "test/mpi/test_zarr", "keep", env={**os.environ, **variables})
        label = f"{ranks} ranks of {nodes} nodes"
        if not tap.ok(status == 0 and "not ok" not in out, f"{label}: stores", out + err):
            continue
        for name in ("chunks.zarr", "shards.zarr", "large.zarr"):
            check_store(os.path.join(folder, name), f"{label}, {name}")
        check_compression(folder, label)
        check_groups(os.path.join(folder, "groups.zarr"), label)
        sizes = [count_files(os.path.join(folder, name)) for name in ("chunks.zarr", "shards.zarr", "large.zarr")]
        tap.ok(sizes[0] > 3 * sizes[1] > 9 * sizes[2] and sizes[2] <= 1 + 2 * (3 * len(TYPES) + 3),
               f"{label}: files without shards, with small and large ones", sizes)
    for name in ("chunks.zarr", "shards.zarr", "large.zarr", "groups.zarr"):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    tap.finish()


if sys.argv[1:] == ["--inside"]:
    import numpy
    import xarray
    import zarr
    inside()
environment = pypi.Environment("python-zarr", "Zarr stores for zarr and xarray")
environment.need(*PACKAGES)
os.execv(environment.python, [environment.python, "-B", os.path.abspath(__file__), "--inside"])
