"""Filters of netCDF-4 against HDF5, netCDF-C and the zstd program: chunks that h5py and netCDF4 write are decoded to
the values that they read, and chunks that this library encodes are read equal by h5py."""
import os
import shutil
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, is_quick, ok, scratch, skip  # noqa: E402

try:
    import h5py
except ImportError:
    skip("filters", "h5py is not installed (Debian: apt install python3-h5py)")
    finish()

PROGRAM = os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), "test/interop/filter_chunk")
TYPES = ["i1", "u1", "<i2", ">i2", "<u4", ">i4", "<f4", ">f4", "<f8", ">f8", "<i8", "S5"]
CHAINS = [{"shuffle": True}, {"fletcher32": True}, {"compression": "gzip", "compression_opts": 1},
          {"compression": "gzip", "compression_opts": 9, "shuffle": True, "fletcher32": True},
          {"compression": "gzip", "compression_opts": 4, "shuffle": True}, {"shuffle": True, "fletcher32": True},
          {"compression": "lzf"}, {"compression": "lzf", "shuffle": True, "fletcher32": True},
          {"compression": "szip", "compression_opts": ("nn", 16)},
          {"compression": "szip", "compression_opts": ("ec", 8)},
          {"compression": "szip", "compression_opts": ("nn", 8), "shuffle": True, "fletcher32": True}]
SHAPES = [((7,), (7,)), ((1000,), (256,)), ((30, 41), (8, 41)), ((5, 6, 70), (1, 6, 70))]
random = np.random.default_rng(1)


def filter_chunk(stdin, *arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else done.stderr.decode()


def values(kind, shape):
    """Some that compress, and some that do not."""
    n = int(np.prod(shape))
    if kind == "S5":
        return np.array([b"%d" % (i * i % 1000) for i in range(n)], kind).reshape(shape)
    steps = np.arange(n) // 3 % 100
    noise = random.integers(0, 100, n) if n % 2 else np.zeros(n, int)
    return (steps + noise).astype(kind).reshape(shape)


def chain_of(dataset):
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(i) for i in range(plist.get_nfilters())]
    return "/".join(f"{one[0]}:{','.join(map(str, one[2]))}" for one in filters)


def chunk_starts(dataset):
    counts = [-(-n // c) for n, c in zip(dataset.shape, dataset.chunks)]
    return [tuple(i * c for i, c in zip(index, dataset.chunks)) for index in np.ndindex(*counts)]


def values_of(dataset, start):
    """Of a chunk, as far as it is in the dataset, as a part of a whole chunk."""
    part = dataset[tuple(slice(at, at + c) for at, c in zip(start, dataset.chunks))]
    return tuple(slice(0, n) for n in part.shape), part


def decodes(dataset):
    """None, or what is wrong with a chunk."""
    size = int(np.prod(dataset.chunks)) * dataset.dtype.itemsize
    for start in chunk_starts(dataset):
        mask, stored = dataset.id.read_direct_chunk(start)
        chunk = filter_chunk(stored, "decode", chain_of(dataset), mask, size)
        if isinstance(chunk, str):
            return f"{start}: {chunk}"
        where, part = values_of(dataset, start)
        if np.frombuffer(chunk, dataset.dtype).reshape(dataset.chunks)[where].tobytes() != part.tobytes():
            return f"{start}: other values"
    return None


def encodes(dataset, copy):
    """Put what this library makes of the chunks of a dataset into another one, which must be read equal."""
    for start in chunk_starts(dataset):
        chunk = np.zeros(dataset.chunks, dataset.dtype)
        where, part = values_of(dataset, start)
        chunk[where] = part
        stored = filter_chunk(chunk.tobytes(), "encode", chain_of(copy))
        if isinstance(stored, str):
            return f"{start}: {stored}"
        copy.id.write_direct_chunk(start, stored[4:], int.from_bytes(stored[:4], "little"))
    return None


def check_h5py():
    quick = is_quick()
    for number, options in enumerate(CHAINS):
        if options.get("compression") == "szip" and not h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
            skip(f"{options}", "HDF5 has no szip")
            continue
        wrong, path, count = [], scratch(f"h5py{number}.h5"), 0
        with h5py.File(path, "w") as file:
            for kind in TYPES[number % 3::3] if quick else TYPES:
                for k, (shape, chunks) in enumerate(SHAPES):
                    if options.get("compression") == "szip" and (kind == "S5" or np.prod(chunks) < 32):
                        continue
                    count += 1
                    name = f"{kind.strip('<>')}{'b' if kind[0] == '>' else ''}{k}"
                    dataset = file.create_dataset(name, shape, kind, values(kind, shape), chunks=chunks, **options)
                    copy = file.create_dataset(name + "_copy", shape, kind, chunks=chunks, **options)
                    file.flush()
                    wrong += [f"{name}: {why}" for why in (decodes(dataset), encodes(dataset, copy)) if why]
        # Reopened: HDF5 1.10 forgets the mask of a chunk that the same dataset object wrote.
        with h5py.File(path) as file:
            wrong += [name for name in file if not name.endswith("_copy") and
                      file[name][...].tobytes() != file[name + "_copy"][...].tobytes()]
        ok(count > 3 and not wrong, f"{count} datasets of h5py with {options}", "\n".join(wrong))


def check_netcdf4():
    for options in ({"zlib": True, "complevel": 1, "shuffle": False}, {"zlib": True, "shuffle": True},
                    {"zlib": True, "shuffle": True, "fletcher32": True}, {"fletcher32": True}):
        path = scratch("netcdf4.nc")
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("t", None)
            file.createDimension("x", 50)
            for kind in ("i1", "i2", "u4", "i8", "f4", "f8"):
                var = file.createVariable(kind, kind, ("t", "x"), chunksizes=(3, 50), **options)
                var[:] = values(kind, (8, 50))
            file.createVariable("big", ">f4", ("t", "x"), endian="big", **options)[:] = values("f4", (8, 50))
        with h5py.File(path) as file:
            found = {name: decodes(file[name]) for name in file if name not in "tx"}
        wrong = [f"{name}: {why}" for name, why in found.items() if why]
        ok(len(found) == 7 and not wrong, f"variables of netCDF4 with {options}", "\n".join(wrong))


def run_zstd(program, stdin, *options):
    return subprocess.run([program, "-q", *options], input=stdin, capture_output=True, check=True).stdout


def check_zstd():
    program = shutil.which("zstd")
    if not program:
        skip("zstd", "the program zstd is not installed")
        return
    wrong = []
    for size in (1, 100, 4096, 500000):
        data = values("<f4", (size,)).tobytes()
        for level in (1, 3, 19):
            stored = run_zstd(program, data, "-c", f"-{level}")
            if filter_chunk(stored, "decode", f"32015:{level}", 0, len(data)) != data:
                wrong.append(f"decode {size} {level}")
            ours = filter_chunk(data, "encode", f"32015:{level}")
            if ours[:4] == bytes(4):
                back = run_zstd(program, ours[4:], "-d", "-c")
            else:
                back = ours[4:]
            if back != data:
                wrong.append(f"encode {size} {level}")
    ok(not wrong, "frames of the zstd program", "\n".join(wrong))


check_h5py()
check_netcdf4()
check_zstd()
finish()
