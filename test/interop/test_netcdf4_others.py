"""netCDF-4 files of netCDF-C and h5py that this library changes: what is appended, first puts into variables without
space, writes that fail once, puts that filters refuse, and puts of several ranks into one place."""
import errno
import os
import subprocess
import sys

import h5py
import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, ok, retries_writes, run_mpi, scratch, skip  # noqa: E402

PROGRAM = "test/interop/netcdf4_program"
MODULUS = 1 << 20
X = 64


class Calls:
    """Lines for netcdf4_program. Values of a put are base, base + 13 .."""

    def __init__(self, ranks, path):
        self.ranks, self.path, self.lines = ranks, path, []
        self.add(f"ranks {ranks}")

    def add(self, text, who="*"):
        self.lines.append(f"{len(self.lines)} {who} {text}")
        return len(self.lines) - 1

    def put(self, name, start, count, base, mode="c", shape="vara", tail=(), who="*", kind="f4"):
        numbers = [len(start), 1, *start, *count, *tail, 0, base, MODULUS]
        return self.add(f"put {name} {kind} {mode} {shape} {' '.join(map(str, numbers))}", who)

    def run(self, *harm):
        """Error codes by number of the call: those of all ranks."""
        calls, log = scratch("calls.txt"), scratch("calls.log")
        with open(calls, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
        status, _, errors = run_mpi(self.ranks, PROGRAM, self.path, calls, log, *harm)
        found = {-1: {f"status {status}: {errors}"}} if status else {}
        for rank in range(self.ranks):
            with open(f"{log}.{rank}", encoding="utf-8") as file:
                for words in map(str.split, file):
                    if words[0] == "e" and words[2] != "0":
                        found.setdefault(int(words[1]), set()).add(words[2])
        return found


def values(base, shape):
    return ((base + 13 * np.arange(int(np.prod(shape)))) % MODULUS).reshape(shape)


# --- files of others ---

def record(t):
    return values(1000 * t, X)


def make_by_netcdf_c(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", X)
        file.createVariable("time", "f4", ("t",), chunksizes=(8,))
        file.createVariable("plain", "f4", ("t", "x"), chunksizes=(1, 16))
        file.createVariable("packed", "f4", ("t", "x"), chunksizes=(7, X), zlib=True)
        file.createVariable("summed", "f4", ("t", "x"), chunksizes=(3, X), fletcher32=True)
        for t in range(5):
            file["time"][t] = 1000 * t
            for name in ("plain", "packed", "summed"):
                file[name][t] = record(t)


def make_early(path, alloc_time=h5py.h5d.ALLOC_TIME_EARLY):
    """As parallel HDF5 makes datasets, which allocates all chunks at once, and fills them."""
    with h5py.File(path, "w", track_order=True) as file:
        for name, shape, most in (("t", (5,), (None,)), ("x", (X,), (X,))):
            file.create_dataset(name, shape, "f4", maxshape=most).make_scale(name)
        for name, chunks in (("time", (8,)), ("plain", (1, 16)), ("packed", (7, X)), ("summed", (3, X)),
                             ("left", (2, X)), ("lzf", (2, X))):
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk(chunks)
            properties.set_alloc_time(alloc_time)
            properties.set_fill_value(np.array(31, "f4"))
            if name in ("packed", "left"):
                properties.set_deflate(1)
            elif name == "summed":
                properties.set_fletcher32()
            elif name == "lzf":
                properties.set_filter(32000, h5py.h5z.FLAG_OPTIONAL, ())
            space = h5py.h5s.create_simple((5, X)[:len(chunks)], (h5py.h5s.UNLIMITED, X)[:len(chunks)])
            h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F32LE, space, properties)
            for d, scale in enumerate(("t", "x")[:len(chunks)]):
                file[name].dims[d].attach_scale(file[scale])
            if name != "left":
                file[name][...] = np.arange(5) * 1000 if name == "time" else [record(t) for t in range(5)]


def make_by_h5py(path, **how):
    with h5py.File(path, "w", track_order=True, **how) as file:
        for name, shape, most in (("t", (5,), (None,)), ("x", (X,), (X,))):
            file.create_dataset(name, shape, "f4", maxshape=most).make_scale(name)
        for name, chunks, filters in (("time", (8,), {}), ("plain", (1, 16), {}),
                                      ("packed", (7, X), {"compression": 1}), ("summed", (3, X), {"fletcher32": True})):
            shape = (5, X)[:len(chunks)]
            v = file.create_dataset(name, shape, "f4", maxshape=(None, *shape[1:]), chunks=chunks, **filters)
            for d, scale in enumerate(("t", "x")[:len(chunks)]):
                v.dims[d].attach_scale(file[scale])
            v[...] = np.arange(5) * 1000 if name == "time" else [record(t) for t in range(5)]


MAKERS = {"netCDF-C": make_by_netcdf_c, "h5py": make_by_h5py,
          "h5py, pages": lambda path: make_by_h5py(path, fs_strategy="page"),
          "h5py, latest": lambda path: make_by_h5py(path, libver="latest"),
          "h5py, early": make_early, "h5py, late": lambda path: make_early(path, h5py.h5d.ALLOC_TIME_LATE)}


def wrong_records(path, n):
    """What differs from n records, read by h5py and netCDF-C."""
    wanted = {"time": np.arange(n) * 1000, "plain": np.array([record(t) for t in range(n)])}
    wanted["packed"] = wanted["summed"] = wanted["plain"]
    found = []
    with h5py.File(path) as file:
        for name, values_of in wanted.items():
            got = file[name][...]
            if got.shape != values_of.shape or (got != values_of).any():
                found.append(f"{name}: {got.shape}, {np.argwhere(got != values_of[:len(got)])[:3].tolist()}")
        for name, first in (("left", 0), ("lzf", 5)):
            if name in file and (len(file[name]) != n or (file[name][first:] != 31).any()):
                found.append(f"{name}, which no rank put: {file[name][first:]}")
    done = subprocess.run(["ncdump", "-v", ",".join(wanted), path], capture_output=True, text=True, check=False)
    return "; ".join(found) + done.stderr


def put_record(calls, t):
    share = X // calls.ranks
    calls.put("time", (t,), (1,), 1000 * t)
    for rank in range(calls.ranks):
        for name in ("plain", "packed", "summed"):
            calls.put(name, (t, rank * share), (1, share), 1000 * t + 13 * rank * share, who=rank)


# --- tests ---

def test_append(maker, ranks, records):
    """A rewritten chunk leaves free space, which a chunk without filters must not get unnoticed."""
    path = scratch("append.nc")
    MAKERS[maker](path)
    calls = Calls(ranks, path)
    calls.add("open 1")
    for t in range(5, 5 + records):
        put_record(calls, t)
        calls.add("sync")
    calls.add("close")
    errors = calls.run()
    wrong = wrong_records(path, 5 + records)
    ok(not errors and not wrong, f"{records} records appended to a file of {maker} by {ranks} ranks",
       f"{errors} {wrong}")


SHAPES = {"vara": (0, 3, 1), "vars": (0, 3, 1), "varm": (0, 3, 1), "vars with gaps": (1, 2, 2), "var1": (2, 1, 1)}


def test_first_put(unlimited, ranks):
    """Of contiguous variables that their program never wrote: they get space during the call."""
    for shape, (start, count, stride) in SHAPES.items():
        path = scratch("first.nc")
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("y", 4)
            file.createDimension("x", 5)
            for i in range(unlimited):
                file.createDimension(f"t{i}", None)
            file.createVariable("packed", "f4", [f"t{i}" for i in range(unlimited)], zlib=unlimited > 0)
            for name in ("before", "v", "after"):
                file.createVariable(name, "f4", ("y", "x"))
        rows = 4 // ranks
        wanted = np.full((4, 5), netCDF4.default_fillvals["f4"], "f4")
        calls = Calls(ranks, path)
        calls.add("open 1")
        for rank in range(ranks):
            tail = {"vars": (1, stride), "varm": (1, stride, count, 1)}.get(shape.split()[0], ())
            n = 1 if shape == "var1" else rows
            calls.put("v", (rank * rows, start), (n, count), 1000 * rank, shape=shape.split()[0], tail=tail, who=rank)
            columns = slice(start, start + (count - 1) * stride + 1, stride)
            wanted[rank * rows:rank * rows + n, columns] = values(1000 * rank, (n, count))
        calls.add("close")
        errors = calls.run()
        with h5py.File(path) as file:
            wrong = np.argwhere(file["v"][...] != wanted).tolist()
            others = [name for name in ("before", "after") if file[name].id.get_offset() is not None]
        ok(not errors and not wrong and not others,
           f"first put by {shape}, {unlimited} unlimited dimensions, {ranks} ranks", f"{errors} {wrong} {others}")


def test_failed_write(maker, ranks):
    """Each write fails once: an error is returned, and the calls that follow make all of it good."""
    path, bad, failed = scratch("fail.nc"), [], 0
    for at in choose(range(2, 25, 5), range(1, 25), range(1, 60)):
        MAKERS[maker](path)
        calls = Calls(ranks, path)
        calls.add("open 1")
        for t in range(5, 8):
            put_record(calls, t)
            calls.add("sync")
        calls.add("sync")
        last = calls.add("close")
        errors = calls.run("fail", 0, at, errno.EIO)
        failed += bool(errors)
        wrong = wrong_records(path, 8)
        if wrong or last in errors or -1 in errors:
            bad.append(f"write {at}: {errors} {wrong}")
    ok(not bad and (failed > 0 or retries_writes()), f"{failed} writes fail in a file of {maker}, {ranks} ranks",
       "\n".join(bad))


def test_late(unlimited):
    """The first chunk makes libhdf5 allocate all of them: none gets the place of another one."""
    path, bad = scratch("late.nc"), []
    for name in ("none", "shuffle", "deflate", "lzf"):
        with h5py.File(path, "w", track_order=True) as file:
            file.create_dataset("x", (6,), "f4", maxshape=(None if unlimited else 6,)).make_scale("x")
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk((2,))
            properties.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
            properties.set_fill_value(np.array(31, "f4"))
            if name == "shuffle":
                properties.set_shuffle()
            elif name == "deflate":
                properties.set_deflate(9)
            elif name == "lzf":  # which libhdf5 leaves out of short chunks
                properties.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL)
                properties.set_fletcher32()
            space = h5py.h5s.create_simple((6,), (h5py.h5s.UNLIMITED if unlimited else 6,))
            h5py.h5d.create(file.id, b"v", h5py.h5t.IEEE_F32LE, space, properties)
            file["v"].dims[0].attach_scale(file["x"])
        calls = Calls(1, path)
        calls.add("open 1")
        calls.put("v", (0,), (1,), 77)
        calls.put("v", (2,), (1,), 99)
        calls.add("close")
        errors = calls.run()
        with h5py.File(path) as file:
            found = file["v"][...].tolist()
        if errors or found != [77, 31, 99, 31, 31, 31]:
            bad.append(f"{name}: {errors} {found}")
    ok(not bad, f"chunks that are allocated late{', and grow' if unlimited else ''}", "\n".join(bad))


def test_late_beside_early():
    """What the first late chunk frees gets none of the early chunks, which are in front of it."""
    path = scratch("late_early.nc")
    with h5py.File(path, "w", libver="latest") as file:
        scale = file.create_dataset("x", (0,), "f4", maxshape=(None,), chunks=(16,))
        scale.make_scale("x")
        for name, chunk, when in (("late", 4, h5py.h5d.ALLOC_TIME_LATE), ("early", 1, h5py.h5d.ALLOC_TIME_EARLY)):
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk((chunk,))
            properties.set_alloc_time(when)
            properties.set_deflate(1)
            h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I32LE,
                            h5py.h5s.create_simple((0,), (h5py.h5s.UNLIMITED,)), properties)
            file[name].dims[0].attach_scale(scale)
    calls = Calls(1, path)
    calls.add("open 1")
    calls.put("late", (0,), (1,), 7839, kind="i4")
    calls.put("early", (2,), (6,), 8000, kind="i4")
    calls.add("close")
    errors = calls.run()
    with h5py.File(path) as file:
        found = file["late"][...].tolist(), file["early"][...].tolist()
    right = [7839] + [0] * 7, [0, 0, *values(8000, (6,)).tolist()]
    ok(not errors and found == right, "late chunks in front of early ones", f"{errors} {found}")


def test_early_page():
    """Fill values of chunks whose filter libhdf5 lacks, at the place that it gives them in a page."""
    path = scratch("page.nc")
    with h5py.File(path, "w", fs_strategy="page") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((5,))
        properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        properties.set_fill_value(np.array(126, "i4"))
        properties.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL)
        space = h5py.h5s.create_simple((0,), (h5py.h5s.UNLIMITED,))
        h5py.h5d.create(file.id, b"v", h5py.h5t.STD_I32LE, space, properties)
        file.create_dataset("t", (0,), "f4", maxshape=(None,), chunks=(16,)).make_scale("t")
        file["v"].dims[0].attach_scale(file["t"])
    calls = Calls(1, path)
    calls.add("open 1")
    calls.put("v", (5,), (1,), 77, kind="i4")
    calls.add("close")
    errors = calls.run()
    with h5py.File(path) as file:
        found = file["v"][...].tolist()
    ok(not errors and found == [126] * 5 + [77], "early chunks in a file of pages", f"{errors} {found}")


def test_failed_record(ranks, chunk):
    """The write of the first record fails once: the next flush writes it, and the dataset is long enough for it."""
    path, bad = scratch("first.nc"), []
    for libver in ("earliest", "latest"):
        with h5py.File(path, "w", libver=libver) as file:
            file.create_dataset("t", (0,), "f4", maxshape=(None,), chunks=(16,)).make_scale("t")
            var = file.create_dataset("v", (0, 11), "i4", maxshape=(None, 11), chunks=(chunk, 11))
            var.dims[0].attach_scale(file["t"])
        calls = Calls(ranks, path)
        calls.add("open 1")
        put = calls.put("v", (chunk - 1, 0), (1, 11), 500, kind="i4")
        calls.add("sync")
        calls.add("close")
        errors = calls.run("fail", 0, 1, errno.ENOSPC)
        with h5py.File(path) as file:
            found = file["v"][...].tolist()
        lacks_error = not errors and not retries_writes()
        if lacks_error or errors.keys() - {put, put + 1} or found[chunk - 1:] != [values(500, (11,)).tolist()]:
            bad.append(f"{libver}: {errors} {found}")
    ok(not bad, f"the first record fails, {ranks} ranks, {chunk} records a chunk", "\n".join(bad))


def test_failed_definition(ranks):
    """Each write or flush of a change of definitions fails once: the file is the old or the new one."""
    path, bad, failed = scratch("define.nc"), [], 0
    for at in choose(range(1, 16, 3), range(1, 16), range(1, 30)):
        make_by_h5py(path, libver="earliest")
        calls = Calls(ranks, path)
        for text in ("open 1", "redef", "def_dim z 9", "def_var added f4 2 t z", "att packed units text K", "enddef",
                     "close"):
            calls.add(text)
        errors = calls.run("fail", 0, at, errno.ENOSPC)
        failed += bool(errors)
        with h5py.File(path) as file:
            found = ("added" in file, "units" in file["packed"].attrs)
        wrong = wrong_records(path, 5)
        if wrong or found not in ((False, False), (True, True)) or -1 in errors or (found[0] is False and not errors):
            bad.append(f"write {at}: {errors} {found} {wrong}")
    ok(not bad, f"{failed} writes of definitions fail, {ranks} ranks", "\n".join(bad))


def test_refused_put(ranks):
    """A filter that is not installed, and that HDF5 leaves out: the put is refused, and others are not."""
    path = scratch("refused.nc")
    with h5py.File(path, "w", track_order=True) as file:
        file.create_dataset("x", (X,), "f4").make_scale("x")
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((16,))
        properties.set_filter(32099, h5py.h5z.FLAG_OPTIONAL, ())
        h5py.h5d.create(file.id, b"strange", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((X,)), properties)
        file.create_dataset("good", (X,), "f4", chunks=(16,), compression=1)
        for name in ("strange", "good"):
            file[name].dims[0].attach_scale(file["x"])
    calls = Calls(ranks, path)
    calls.add("open 1")
    wanted = {calls.put("strange", (0,), (X,), 0): {"NC_EFILTER"}}
    calls.put("good", (0,), (X,), 7)
    calls.add("sync")
    calls.add("begin")
    wanted[calls.put("strange", (0,), (X // 2,), 0, mode="i", who=0)] = {"NC_EFILTER"}
    calls.add("end")
    calls.add("close")
    errors = calls.run()
    with h5py.File(path) as file:
        wrong = np.argwhere(file["good"][...] != values(7, X)).tolist()
    ok(errors == wanted and not wrong, f"a put that filters refuse holds nothing back, {ranks} ranks",
       f"{errors}, not {wanted}; {wrong}")


def test_order(ranks):
    """Of independent puts into one place the later one counts, if a collective call is between them."""
    path = scratch("order.nc")
    calls, gets = Calls(ranks, path), {}
    for text in ("create 0", "def_dim x 64", "def_var v f4 1 x", "storage v 0 1 16", "enddef", "begin"):
        calls.add(text)
    for turn in range(2 * ranks):
        calls.put("v", (0,), (X,), 1000 * turn, mode="i", who=(turn * (ranks - 1) + ranks - 1) % ranks)
        calls.add("sync" if turn % 3 == 2 else "order")
        gets[calls.add(f"get v f4 i vara 1 1 0 {X}")] = values(1000 * turn, X)
    calls.add("end")
    calls.add("close")
    errors = calls.run()
    old = []
    for rank in range(ranks):
        with open(scratch(f"calls.log.{rank}"), encoding="utf-8") as file:
            lines = [line.split() for line in file]
        read = {int(words[1]): np.array(words[2:], "f8") for words in lines if words[0] == "v"}
        old += [(rank, number) for number, wanted in gets.items() if (read[number] != wanted).any()]
    with h5py.File(path) as file:
        wrong = (file["v"][...] != values(1000 * (2 * ranks - 1), X)).sum()
    ok(not errors and not old and not wrong, f"puts of {ranks} ranks into one place, in order",
       f"{errors} {old} {wrong}")


# --- arrays in one part whose dimensions are unlimited ---

def make_scales(file, **lengths):
    for name, length in lengths.items():
        most = None if name.startswith("u") else length
        chunks = (3,) if most is None else None
        file.create_dataset(name, (length,), "i4", maxshape=(most,), chunks=chunks).make_scale(name)


def create_compact(file, name, shape, kind, bytes_of, scales):
    storage = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    storage.set_layout(h5py.h5d.COMPACT)
    dataset = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple(shape), storage)
    if bytes_of is not None:
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, bytes_of, mtype=h5py.h5t.NATIVE_INT32)
    for d, scale in enumerate(scales):
        file[name].dims[d].attach_scale(file[scale])


def make_in_one_part(path):
    short = h5py.h5t.STD_I32LE.copy()
    short.set_precision(24)
    short.set_size(3)
    with h5py.File(path, "w", track_order=True) as file:
        make_scales(file, x=2, u=3, u0=0)
        never = file.create_dataset("never", (2, 3), "i4")
        for d, scale in enumerate("xu"):
            never.dims[d].attach_scale(file[scale])
        grows = file.create_dataset("grows", (3,), "i4", maxshape=(None,), chunks=(3,))
        grows.dims[0].attach_scale(file["u"])
        create_compact(file, "short", (2, 3), short, np.arange(6, dtype="i4") - 2, "xu")
        create_compact(file, "empty", (0,), h5py.h5t.STD_I32LE, None, ["u0"])


def test_in_one_part(ranks):
    path = scratch("part.nc")
    make_in_one_part(path)
    calls = Calls(ranks, path)
    calls.add("open 1")
    calls.put("grows", [4], [1], 7, kind="i4")
    gets = [calls.add(f"get {name} i4 c vara 2 1 {box}") for name, box in
            (("never", "0 0 2 5"), ("short", "1 0 1 3"), ("short", "0 0 2 5"))]
    calls.add("close")
    errors = calls.run()
    ok(errors == {number: {"NC_EHDFERR"} for number in gets},
       f"in one part, though a dimension is unlimited: gets on {ranks} ranks are refused", f"{errors}")


def main():
    if not has_hdf5():
        skip("netCDF-4 files of others", "built without HDF5")
        return
    for maker in MAKERS:
        for ranks in (1, 2):
            test_append(maker, ranks, choose(20, 40, 40))
    for unlimited in (0, 1, 2):
        for ranks in (1, 2):
            test_first_put(unlimited, ranks)
    for unlimited in (False, True):
        test_late(unlimited)
    test_late_beside_early()
    test_early_page()
    for ranks, chunk in ((1, 1), (2, 1), (1, 3), (2, 3)):
        test_failed_record(ranks, chunk)
    test_failed_write("netCDF-C", 2)
    test_failed_write("h5py, pages", 1)
    for ranks in (1, 2):
        test_failed_definition(ranks)
        test_refused_put(ranks)
    for ranks in (2, 4):
        test_order(ranks)
    for ranks in (1, 2):
        test_in_one_part(ranks)


main()
finish()
