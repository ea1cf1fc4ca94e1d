"""Damaged netCDF-4 files: whatever the bytes are, reading and changing values ends with values or an error. Seeds are
small files of netCDF4-python and h5py of all versions of the HDF5 format, storages and kinds of metadata. libhdf5
itself is not safe on such files: its crashes and endless loops are counted, and are no failure; those of this library
are.
PNC_TEST_DAMAGED is the number of damaged files for each seed, PNC_TEST_SEED chooses others."""
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, ok, scratch, skip  # noqa: E402

try:
    import h5py
    import netCDF4
    import numpy as np
except ImportError:
    skip("damaged netCDF-4 files", "h5py or netCDF4 is not installed (Debian: python3-h5py, python3-netcdf4)")
    finish()

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
PROGRAM = os.path.join(BUILD, "test/interop/netcdf4_read")
COUNT = int(os.environ.get("PNC_TEST_DAMAGED", choose(4, 12, 500)))
SECONDS = 60
random = np.random.default_rng(int(os.environ.get("PNC_TEST_SEED", 5)))


# --- seeds ---

def make_classic_model(path):
    with netCDF4.Dataset(path, "w", format="NETCDF4_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 6)
        file.title = "classic model"
        file.createVariable("time", "f8", ("time",))[:3] = np.arange(3)
        file.createVariable("a", "f4", ("time", "x"), zlib=True, fletcher32=True)[:3] = np.arange(18).reshape(3, 6)


def make_filters(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 30)
        file.createDimension("y", 7)
        for name, how in (("plain", {}), ("deflated", {"zlib": True}), ("summed", {"fletcher32": True}),
                          ("all", {"zlib": True, "shuffle": True, "fletcher32": True}), ("chunked", {})):
            chunks = {} if name == "plain" else {"chunksizes": (4, 5)}
            file.createVariable(name, "i4", ("x", "y"), **how, **chunks)[:] = np.arange(210).reshape(30, 7)


def make_several_unlimited(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("a", None)
        file.createDimension("b", None)
        file.createVariable("v", "i2", ("a", "b"), chunksizes=(2, 3))[:5, :4] = np.arange(20).reshape(5, 4)
        file.createVariable("short", "f4", ("a", "b"), fill_value=9, chunksizes=(2, 2))[:2, :1] = 1
        file.createVariable("b", "f8", ("b",))[:2] = 3


def make_groups(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 4)
        inner = file.createGroup("one").createGroup("two")
        inner.createDimension("x", 3)
        inner.createVariable("v", "f4", ("x",))[:] = 1
        file["one"].createVariable("w", "f8", ("x",), zlib=True)[:] = 2
        file["one"].note = "an attribute"


def make_many_atts(path):
    """So many that they are in a heap with a B-tree."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 2)
        var = file.createVariable("v", "f4", ("x",))
        for number in range(40):
            var.setncattr(f"att{number}", np.arange(number % 5 + 1))
            file.setncattr_string(f"text{number}", [f"first {number}", "second"])


def make_strings(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createVariable("words", str, ("x",))[:] = np.array(["a", "bcd", ""], object)
        file.createVariable("v", "u8", ("x",), fill_value=7)


def make_by_h5py(path, **how):
    with h5py.File(path, "w", **how) as file:
        file.create_dataset("flat", data=np.arange(24.0).reshape(4, 6))
        file.create_dataset("chunks", data=np.arange(100, dtype="i4").reshape(10, 10), chunks=(3, 4), compression=1)
        file.create_dataset("grows", data=np.arange(12, dtype=">i2").reshape(3, 4), chunks=(2, 4), maxshape=(None, 4))
        file.create_dataset("grows_twice", data=np.ones((3, 4)), chunks=(2, 2), maxshape=(None, None))
        file.create_dataset("one", data=np.ones((5, 5)), chunks=(5, 5))
        file.create_dataset("never", shape=(5, 6), dtype="f4")
        scale = file.create_dataset("scale", data=np.arange(4.0))
        scale.make_scale("scale")
        file["flat"].dims[0].attach_scale(scale)
        file.attrs["words"] = np.array([b"ab", b"cde"])


def make_compact(path):
    with h5py.File(path, "w", track_order=True) as file:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_layout(h5py.h5d.COMPACT)
        made = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((5, 3)), dcpl)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(15, dtype="i4"))
        file.create_dataset("scalar", data=np.float32(2))


SEEDS = {"classic model": make_classic_model, "filters": make_filters,
         "several unlimited dimensions": make_several_unlimited, "groups": make_groups,
         "many attributes": make_many_atts, "strings": make_strings, "compact": make_compact,
         "the oldest format": lambda p: make_by_h5py(p, libver="earliest"),
         "format 1.8": lambda p: make_by_h5py(p, libver=("v108", "v108"), track_order=True),
         "the newest format": lambda p: make_by_h5py(p, libver="latest"),
         "pages": lambda p: make_by_h5py(p, fs_strategy="page", libver="latest"),
         "a block in front": lambda p: make_by_h5py(p, userblock_size=512, track_order=True)}


# --- damage ---

SIGNATURES = re.compile(rb"TREE|SNOD|HEAP|OHDR|OCHK|FRHP|FHDB|FHIB|BTHD|BTLF|BTIN|GCOL|EAHD|EAIB|EADB|FAHD|FADB|"
                        rb"\x89HDF")
NUMBERS = [0, 1, 2, 255, 2**16 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]


def choose_place(data):
    """Near the begin of a structure, or anywhere."""
    found = [match.start() for match in SIGNATURES.finditer(data)]
    if found and random.random() < 0.7:
        return min(len(data) - 1, int(random.choice(found)) + int(random.integers(0, 96)))
    return int(random.integers(0, len(data)))


def damage_once(data):
    at = choose_place(bytes(data))
    match int(random.integers(0, 6)):
        case 0:
            data[at] = int(random.integers(0, 256))
        case 1:
            data[at] ^= 1 << int(random.integers(0, 8))
        case 2:
            size = int(random.choice([1, 2, 4, 8]))
            number = int(random.choice(np.array(NUMBERS + [len(data), at], object))) % 256**size
            data[at:at + size] = struct.pack("<Q", number)[:size]
        case 3:
            n = int(random.integers(1, 64))
            data[at:at + n] = bytes(len(data[at:at + n]))
        case 4:
            other, n = choose_place(bytes(data)), int(random.integers(1, 32))
            data[at:at + n] = data[other:other + len(data[at:at + n])].ljust(len(data[at:at + n]), b"\0")
        case 5:
            data[at:at + 8] = struct.pack("<Q", int(random.integers(0, len(data))))[:len(data[at:at + 8])]


def damage(whole, number):
    data = bytearray(whole)
    if number % 8 == 0:
        return data[:int(random.integers(0, len(data)))]
    for _ in range(1 + number % 4):
        damage_once(data)
    return data


# --- crashes ---

OF_C = re.compile(r"__|_?(mem|str)|(m|c|re)alloc|free|abort|raise|pthread_kill|_int_|unlink_chunk|sysmalloc|munmap")


def crashes_in_hdf5(arguments):
    """Whether the innermost function that is not of the C library is one of libhdf5."""
    gdb = shutil.which("gdb")
    if gdb is None:
        return False
    done = subprocess.run([gdb, "-q", "-batch", "-ex", "run", "-ex", "bt 40", "--args", PROGRAM, *arguments],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    frames = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\S+)", done.stdout, re.M)
    inner = [name for name in frames if not OF_C.match(name)]
    return bool(inner) and inner[0].startswith("H5")


def run_program(arguments):
    """Exit status; None: it has not ended."""
    try:
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=SECONDS,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None


def check_seed(title, make):
    seed, bad = scratch("seed.nc"), scratch("damaged.nc")
    make(seed)
    with open(seed, "rb") as file:
        whole = file.read()
    with h5py.File(seed) as file:
        names = [name for name in file if isinstance(file[name], h5py.Dataset)]
    refused, in_hdf5, endless, wrong = 0, 0, 0, []
    for number in range(COUNT):
        data = damage(whole, number)
        changes = number % 3 == 2
        arguments = [bad, "change", *names] if changes else [bad, "whole", scratch("damaged.values"), "1", "1"]
        with open(bad, "wb") as file:
            file.write(data)
        done = run_program(arguments)
        if done is None:
            endless += 1
            continue
        refused += "error" in done.stdout
        if done.returncode == 0:
            continue
        with open(bad, "wb") as file:
            file.write(data)
        if crashes_in_hdf5(arguments):
            in_hdf5 += 1
            continue
        kept = scratch(f"crash_{title.replace(' ', '_')}_{number}.nc")
        with open(kept, "wb") as file:
            file.write(data)
        wrong.append(f"{kept} {' '.join(arguments[1:])}: status {done.returncode}: {done.stderr[-300:]}")
    ok(not wrong and endless <= COUNT // 10,
       f"{title}: {COUNT} damaged files, {refused} refused, {in_hdf5} crashes in libhdf5, {endless} without an end",
       "\n".join(wrong))


if not has_hdf5():
    skip("damaged netCDF-4 files", "the library was configured without HDF5")
    finish()
for name, maker in SEEDS.items():
    check_seed(name, maker)
finish()
