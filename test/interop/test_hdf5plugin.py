"""Filters of the plugins of PyPI's package hdf5plugin, written on several ranks: h5py with that package reads the
values, and finds the parameters that it gives itself for the same filter."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import pypi  # noqa: E402
from tap import finish, has_hdf5, ok, run_mpi, scratch, skip  # noqa: E402

COPY = "src/tools/ncmpicopy/ncmpicopy"
# Text of the hint, the same filter by hdf5plugin, and the largest error.
FILTERS = [("blosc:zstd:1", "Blosc('zstd', 1)", 0),
           ("blosc:lz4hc", "Blosc('lz4hc', 5)", 0),
           ("blosc2:zstd:3", "Blosc2('zstd', 3)", 0),
           ("bitshuffle:lz4", "Bitshuffle()", 0),
           ("bitshuffle:zstd:5", "Bitshuffle(cname='zstd', clevel=5)", 0),
           ("lz4", "LZ4()", 0),
           ("bzip2:4", "BZip2(4)", 0),
           ("zfp:accuracy:0.015", "Zfp(accuracy=0.015)", 0.015),
           ("zfp:precision:20", "Zfp(precision=20)", 0.1),
           ("zfp:rate:12.5", "Zfp(rate=12.5)", 10),
           ("zfp:reversible", "Zfp(reversible=True)", 0),
           ("sz3:abs:0.02", "SZ3(absolute=0.02)", 0.02),
           ("sz3:rel:1e-4", "SZ3(relative=1e-4)", 0.05),
           ("32001:0:0:0:0:9:2:1", "Blosc('lz4', 9, shuffle=2)", 0),
           ("32017:0:1066695393:1202590843:0:0:0:0:0:0", "SZ(absolute=0.02)", 0.1)]
CHUNKS = (3, 16, 20)

# Reference and result, by the package.
MAKE = """
import h5py, hdf5plugin, json, numpy as np, sys
path, filters, chunks = sys.argv[1], json.loads(sys.argv[2]), tuple(json.loads(sys.argv[3]))
rng = np.random.default_rng(62)
t, y, x = np.meshgrid(np.arange(10), np.arange(40), np.arange(50), indexing="ij")
values = 280 + 20 * np.sin(x / 9 + t / 4) * np.cos(y / 7) + rng.normal(0, .01, x.shape)
np.save(path + ".npy", values.astype("f4"))
wanted = {}
for text, expression in filters:
    with h5py.File(path + ".h5", "w") as file:
        made = file.create_dataset("T", data=values.astype("<f4"), chunks=chunks,
                                   **eval("hdf5plugin." + expression))
        wanted[text] = [int(v) for v in made.id.get_create_plist().get_filter(0)[2]]
print(json.dumps([hdf5plugin.PLUGIN_PATH, wanted]))
"""
READ = """
import h5py, hdf5plugin, json, numpy as np, sys
original = np.load(sys.argv[1])
out = []
for path in sys.argv[2:]:
    with h5py.File(path) as file:
        found = {}
        for name, made in file.items():
            wanted = original if made.ndim == 3 else np.arange(len(made))
            dcpl = made.id.get_create_plist()
            filters = [dcpl.get_filter(i) for i in range(dcpl.get_nfilters())]
            found[name] = [float(np.max(np.abs(made[...].astype("f8") - wanted))),
                           [[f[0], [int(v) for v in f[2]]] for f in filters], made.id.get_storage_size()]
        out.append(found)
print(json.dumps(out))
"""
environment = pypi.Environment("python-hdf5plugin", "filters of hdf5plugin")


def package(program, *arguments):
    status, output = pypi.run(environment.python, "-W", "ignore", "-c", program, *arguments)
    lines = [line for line in output.splitlines() if line.startswith("[")]
    if not ok(status == 0 and len(lines) == 1, "the package runs", output):
        finish()
    return json.loads(lines[0])


def make_input(path, values, names):
    """A classic file, by scipy: variables with these values, a counter of integers, and the coordinate x."""
    from scipy.io import netcdf_file
    with netcdf_file(path, "w", version=2) as file:
        for name, length in zip("tyx", values.shape):
            file.createDimension(name, length)
        for name in names:
            file.createVariable(name, ">f4", ("t", "y", "x"))[:] = values
        file.createVariable("n", ">i2", ("x",))[:] = range(values.shape[2])
        file.createVariable("x", ">f4", ("x",))[:] = range(values.shape[2])


def copy(ranks, given, name, *arguments, hints=None):
    """Whether ncmpicopy has made a file, its output, and the path."""
    path = scratch(name)
    env = dict(os.environ, HDF5_PLUGIN_PATH=plugins, **({"PNETCDF_HINTS": hints} if hints else {}))
    status, out, err = run_mpi(ranks, COPY, "--no-history", "-k", "netcdf4", *arguments, given, path, env=env)
    return status == 0, out + err, path


def get_expected(text):
    """The filters of a variable as h5py finds them."""
    name = text.split(":")[0]
    identity = int(name) if name.isdigit() else IDS[name]
    return ([[2, [4]]] if name in ("lz4", "bzip2") else []) + [[identity, wanted[text]]]


def check_files(label, names, path, times, filtered=True):
    found = package(READ, original, path)[0]
    for name, (text, _, most) in names.items():
        error, filters, size = found[name]
        ok(error <= times * most, f"{label}: {text}: h5py reads the values", f"error {error}")
        ok(filters == (get_expected(text) if filtered else []) and (size < 0.9 * PLAIN) == filtered,
           f"{label}: {text}: the parameters of hdf5plugin" if filtered else f"{label}: {text}: decoded",
           f"{filters} {get_expected(text)} {size}")
    ok(found["n"][:2] == [0, []] and found["x"][:2] == [0, []], f"{label}: others stay", found)


def check_filters(names):
    """By options of ncmpicopy, by hints, and by a copy of them all; and what our own reader decodes."""
    chunks = ("--chunks", "T*:" + ",".join(map(str, CHUNKS)))
    options = [word for name, (text, _, _) in names.items() for word in ("--compression", f"{name}:{text}")]
    done, why, by_option = copy(2, source, "option.nc", *options, *chunks)
    if ok(done, "written by options", why):
        check_files("option", names, by_option, 1)
        done, why, again = copy(2, by_option, "again.nc")
        if ok(done, "a copy keeps filters", why):
            check_files("copy", names, again, 2)
        done, why, plain = copy(3, by_option, "plain.nc", "--compression", "T*:none")
        if ok(done, "3 ranks decode", why):
            check_files("plain", names, plain, 1, filtered=False)
    hints = [f"nc_compression@{name}={text}" for name, (text, _, _) in names.items()]
    done, why, by_hint = copy(4, source, "hint.nc", *chunks, hints="*:" + ":".join(hints))
    if ok(done, "written by hints on 4 ranks", why):
        check_files("hint", names, by_hint, 1)


def check_all_variables():
    """Without names: zfp is for floats that are no coordinates; blosc for all."""
    for text, filtered in (("zfp:accuracy:0.015", {"T0"}), ("blosc:zstd:1", {"T0", "n", "x"})):
        done, why, path = copy(2, source, "all.nc", "-O", "-v", "T0,n,x", hints=f"nc_compression={text}")
        found = package(READ, original, path)[0]
        ok(done and {name for name in found if found[name][1]} == filtered and found["x"][0] == found["n"][0] == 0,
           f"nc_compression={text}: of {sorted(filtered)}", f"{why} {found}")
    done, why, _ = copy(1, source, "all.nc", "-O", "--compression", "zfp:accuracy:0.1")
    ok(not done and "needs names of variables" in why, "ncmpicopy wants names for a filter that changes values", why)


def check_noise():
    """Blosc refuses chunks that become no smaller: they are stored as they are."""
    noise, noisy = scratch("noise.npy"), scratch("noisy.nc")
    values = numpy.random.default_rng(1).integers(0, 2**32, (10, 40, 50), "u4").view("f4")
    values[~numpy.isfinite(values)] = 1
    values[:5] = 1
    numpy.save(noise, values)
    make_input(noisy, values, ["T"])
    done, why, path = copy(2, noisy, "noise.nc", "--compression", "T:blosc:lz4:1", "--chunks", "T:5,40,50")
    found = package(READ, noise, path)[0]["T"] if done else [None]
    ok(done and found[0] == 0 and found[2] > values.nbytes / 2, "noise by blosc", f"{why} {found}")


if not has_hdf5():
    skip("filters of hdf5plugin", "this build has no HDF5")
    finish()
try:
    import numpy
    import scipy.io  # noqa: F401
except ImportError:
    skip("filters of hdf5plugin", "scipy is not installed (Debian: apt install python3-scipy)")
    finish()
environment.need("h5py", "hdf5plugin>=5", "numpy")
IDS = {"blosc": 32001, "blosc2": 32026, "bitshuffle": 32008, "lz4": 32004, "bzip2": 307, "zfp": 32013, "sz3": 32024}
PLAIN = 4 * 12 * 48 * 60  # bytes of all chunks
original = scratch("values.npy")
plugins, wanted = package(MAKE, scratch("values"), json.dumps([f[:2] for f in FILTERS]), json.dumps(CHUNKS))
source = scratch("classic.nc")
make_input(source, numpy.load(original), [f"T{i}" for i in range(len(FILTERS))])
check_filters({f"T{i}": f for i, f in enumerate(FILTERS)})
check_all_variables()
check_noise()
finish()
