"""Writes the corpus of fuzz_zarr.c: documents of stores that zarr, xarray and tensorstore write, in versions 2 and 3,
documents by hand, and damaged ones. Needs these packages of PyPI."""
import json
import os
import shutil
import tempfile
import warnings

import numcodecs
import numpy as np
import tensorstore
import xarray as xr
import zarr
from zarr import codecs

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zarr")
NAMES = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")


def pack(documents, index=b""):
    return b"".join(key.encode() + b"\n" + (text if isinstance(text, bytes) else text.encode()) + b"\x1e"
                    for key, text in documents.items()) + index


def read(folder):
    found = {}
    for path, _, files in sorted(os.walk(folder)):
        for name in sorted(files):
            if name in NAMES:
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    found[os.path.relpath(os.path.join(path, name), folder)] = file.read()
    return found


def save(name, documents, index=b""):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(pack(documents, index))


def dataset():
    ds = xr.Dataset({"t": (("time", "x"), np.zeros((2, 3), "f4"), {"units": "K", "missing_value": np.float32(-1)}),
                     "c": (("x", "n"), np.array([[b"a", b"b"]] * 3, "S1")), "s": (("x",), np.array(["a", "b", "c"])),
                     "b": (("x",), np.array([True, False, True])), "sc": ((), np.int64(5))},
                    coords={"x": [1, 2, 3]}, attrs={"title": "text", "list": [1, 2.5], "nan": float("nan")})
    ds.t.encoding["_FillValue"] = np.float32(-9)
    return ds


def by_zarr(folder, version):
    group = zarr.open_group(folder, mode="w", zarr_format=version)
    group.attrs.update({"mixed": [1, "a"], "dict": {"a": [1]}, "null": None, "flags": [True], "texts": ["a", ""]})
    inner = group.create_group("one").create_group("two")
    if version == 3:
        for at, location in enumerate(("start", "end")):
            group.create_array(f"shards{at}", shape=(9, 8), chunks=(2, 2), dtype="i2", shards={
                "shape": (4, 4), "index_location": location}, dimension_names=("y", None), filters=[
                    codecs.TransposeCodec(order=(1, 0))], compressors=[codecs.BloscCodec(), codecs.Crc32cCodec()],
                               serializer=codecs.BytesCodec(endian="big"))
        inner.create_array("z", shape=(4, 0), dtype="f8", fill_value=float("inf"), compressors=codecs.GzipCodec())
    else:
        for at, codec in enumerate((numcodecs.Blosc(), numcodecs.Zlib(), numcodecs.LZ4(), None)):
            inner.create_array(f"a{at}", shape=(4, 5), dtype=">i4", order="F", compressors=codec,
                               filters=[numcodecs.Shuffle(4)])


def by_tensorstore(folder, driver):
    metadata = {"shape": [10, 20], "data_type": "uint16", "dimension_names": ["y", "x"]} if driver == "zarr3" else {
        "shape": [10, 20], "dtype": "<u2"}
    tensorstore.open({"driver": driver, "kvstore": {"driver": "file", "path": os.path.join(folder, "a")},
                      "metadata": metadata}, create=True).result()
    root = {"zarr.json": {"zarr_format": 3, "node_type": "group"}} if driver == "zarr3" else {
        ".zgroup": {"zarr_format": 2}}
    for name, value in root.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(value, file)


def good():
    with tempfile.TemporaryDirectory() as top:
        for version in (2, 3):
            for consolidated in (False, True):
                folder = os.path.join(top, f"xarray{version}{consolidated}")
                dataset().to_zarr(folder, zarr_format=version, consolidated=consolidated)
                save(f"xarray_{version}_{'consolidated' if consolidated else 'apart'}", read(folder))
            by_zarr(os.path.join(top, "zarr"), version)
            save(f"zarr_{version}", read(os.path.join(top, "zarr")), b"\xff" * 64 + bytes(200))
            shutil.rmtree(os.path.join(top, "zarr"))
            by_tensorstore(os.path.join(top, f"ts{version}"), "zarr3" if version == 3 else "zarr")
            save(f"tensorstore_{version}", read(os.path.join(top, f"ts{version}")))


ARRAY = {"zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "float32", "chunk_grid": {
    "name": "regular", "configuration": {"chunk_shape": [2, 3]}}, "chunk_key_encoding": {"name": "default"},
         "fill_value": "0x7fc00001", "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
         "dimension_names": ["y", "x"], "attributes": {"_FillValue": "AAAAAAAAIsA="}}
GROUP = {"zarr_format": 3, "node_type": "group", "attributes": {"_ncmpi": {
    "version": 1, "dimensions": [["time", 0, True], ["y", 5], ["x", 6], ["one/q", 2]], "variables": ["b", "a"],
    "types": {"": {"l": "latin1", "s": "strings", "f": "float"}, "a": {"_FillValue": "double"}},
    "attributes": {"b": {"_FillValue": "x"}}}, "l": "\u00e9", "s": "one", "f": [1, "NaN", "Infinity"]}}


def write(**changes):
    return json.dumps({**ARRAY, **changes})


def damaged():
    group = json.dumps(GROUP)
    save("by_hand", {"zarr.json": group, "a/zarr.json": write(), "b/zarr.json": write(shape=[4, 7])})
    save("renamed_dimensions", {"zarr.json": group, "a/zarr.json": write(dimension_names=None),
                                "b/zarr.json": write(shape=[6, 6], dimension_names=["x", "x"]),
                                "one/two/c/zarr.json": write(shape=[2, 5], dimension_names=["q", "y"])})
    for name, changes in {"shape_negative": {"shape": [-1, 2]}, "shape_huge": {"shape": [2**60, 2**60]},
                          "shape_real": {"shape": [1.5, 2]}, "chunk_zero": {"chunk_grid": {
                              "name": "regular", "configuration": {"chunk_shape": [0, 3]}}},
                          "chunk_huge": {"chunk_grid": {"name": "regular", "configuration": {
                              "chunk_shape": [2**40, 2**40]}}}, "fill_text": {"fill_value": "zero"},
                          "codecs_none": {"codecs": []}, "names_short": {"dimension_names": ["y"]},
                          "must_understand": {"extension": {"must_understand": True}},
                          "order_twice": {"codecs": [{"name": "transpose", "configuration": {"order": [0, 0]}},
                                                     "bytes"]},
                          "shard_odd": {"codecs": [{"name": "sharding_indexed", "configuration": {
                              "chunk_shape": [2, 2], "codecs": ["bytes"], "index_codecs": ["bytes"]}}]}}.items():
        save(name, {"zarr.json": group, "a/zarr.json": write(**changes)})
    save("key_twice", {"zarr.json": group[:-1] + ', "node_type": "group"}'})
    save("path_up", {"zarr.json": json.dumps({**GROUP, "consolidated_metadata": {
        "kind": "inline", "must_understand": False, "metadata": {"../a": ARRAY}}})})
    save("in_array", {"zarr.json": group, "a/zarr.json": write(), "a/b/zarr.json": write()})
    save("deep", {"zarr.json": "[" * 1000})
    save("not_utf8", {"zarr.json": b'{"zarr_format": 3, "node_type": "group", "attributes": {"a": "\xff"}}'})
    save("many_objects", {"zarr.json": "[" + "{}," * 2000 + "1]"})


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    good()
    damaged()
