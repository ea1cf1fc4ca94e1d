"""Files with damaged chunks, whose places h5py gives: ncmpicopy --salvage copies all other values, which are compared
with those that were written, and lists what it cannot read; ncmpidump --stats prints the other variables."""
import json
import os
import re
import sys
from collections import Counter

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool

try:
    import h5py
except ImportError:
    h5py = None

SHAPE, CHUNKS = (6, 20, 30), (2, 7, 11)
PROGRAM = "src/tools/ncmpicopy/ncmpicopy"


def make(path):
    """Variables with other filters, the last without any; the values of each."""
    values = {}
    with netCDF4.Dataset(path, "w") as file:
        for name, length in zip("tyx", (None, *SHAPE[1:])):
            file.createDimension(name, length)
        for name, kind, options in (("deflate", "f4", {"zlib": True, "fill_value": -999}),
                                    ("sum", "i2", {"fletcher32": True}),
                                    ("both", "f8", {"zlib": True, "shuffle": True}),
                                    ("good", "i4", {"zlib": True})):
            variable = file.createVariable(name, kind, ("t", "y", "x"), chunksizes=CHUNKS, **options)
            variable.set_auto_maskandscale(False)
            values[name] = (numpy.arange(numpy.prod(SHAPE)).reshape(SHAPE) % 30011).astype(kind)
            variable[:] = values[name]
        file.createVariable("x", "f4", ("x",))[:] = values["x"] = numpy.arange(30, dtype="f4")
        file.createVariable("one", "f4", ())[...] = 7
    return values


def damage(path, chunks):
    """Write over the middle of the chunks that begin at these indices."""
    with h5py.File(path, "r") as file:
        places = []
        for name, at in chunks:
            data = file[name].id
            found = [data.get_chunk_info(i) for i in range(data.get_num_chunks())]
            places += [(c.byte_offset, c.size) for c in found if c.chunk_offset == at]
    assert len(places) == len(chunks)
    with open(path, "r+b") as file:
        for offset, size in places:
            file.seek(offset + size // 2)
            old = file.read(8)
            file.seek(offset + size // 2)
            file.write(bytes(255 - byte for byte in old))


def read(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: numpy.asarray(variable[...]) for name, variable in file.variables.items()}


LOST = [("deflate", (0, 0, 0)), ("deflate", (4, 14, 22)), ("sum", (2, 7, 11)), ("both", (2, 0, 22))]
FILLS = {"deflate": -999, "sum": netCDF4.default_fillvals["i2"], "both": netCDF4.default_fillvals["f8"]}


def expect(values):
    wanted, number = {name: array.copy() for name, array in values.items()}, 0
    for name, at in LOST:
        part = wanted[name][tuple(slice(a, a + c) for a, c in zip(at, CHUNKS))]
        number += part.size
        part[...] = FILLS[name]
    return wanted, number


def copy(ranks, *arguments):
    status, out, err = tap.run_mpi(ranks, PROGRAM, "--no-history", *arguments)
    return status, out + err


def test_copies(values):
    wanted, number = expect(values)
    for ranks in (1, 3):
        for options in ((), ("-k", "cdf5"), ("--deflate", "1", "--chunks", "t/1,y/20,x/30"), ("-t", "sum:double")):
            label = f"--salvage {' '.join(options)} on {ranks} ranks"
            status, text = copy(ranks, "--salvage", "--verify", "-O", *options, "bad.nc", "out.nc")
            ours = read("out.nc") if os.path.exists("out.nc") else {}
            same = [name for name in wanted if name in ours and (
                numpy.array_equal(ours[name], wanted[name]) or
                (options[:1] == ("-t",) and name == "sum" and numpy.array_equal(
                    ours[name][values["sum"] == wanted["sum"]], values["sum"][values["sum"] == wanted["sum"]])))]
            tap.ok(status == 2 and sorted(same) == sorted(wanted) and ours["one"] == 7, label,
                   f"{status} {same}\n{text}")
            listed = re.findall(r"^ncmpicopy: variable (\w+): (\d+) values from (\[.*?\]) to (\[.*?\]) become the fill "
                                r"value$", text, re.M)
            reasons = re.findall(r"^ncmpicopy: .*bad\.nc.*$", text, re.M)
            tap.ok(len(reasons) == len(listed) and all(
                [reason.count("bad.nc") for reason in reasons if f'"{name}"' in reason] == [1] * count
                for name, count in Counter(name for name, *_ in listed).items()), f"{label}: why, for each", text)
            found = {name: numpy.zeros(SHAPE, bool) for name in FILLS}
            for name, n, first, last in listed:
                part = found[name][tuple(slice(a, b + 1) for a, b in zip(json.loads(first), json.loads(last)))]
                tap.ok(part.size == int(n) and not part.any(), f"{label}: a part of {name}", (n, first, last))
                part[...] = True
            tap.ok(all(numpy.array_equal(found[name], wanted[name] != values[name]) for name in FILLS) and
                   f"{number} values could not be read" in text, f"{label}: what is lost is listed, once", text)


def test_parts(values):
    """Strides, and ranges that the chunks are partly in."""
    wanted, _ = expect(values)
    status, text = copy(2, "--salvage", "-O", "-d", "t,1,5,2", "-d", "y,3,19,5", "-d", "x,2,29,3", "bad.nc", "out.nc")
    ours = read("out.nc")
    tap.ok(status == 2 and all(numpy.array_equal(ours[name], wanted[name][1:6:2, 3:20:5, 2:30:3])
                               for name in (*FILLS, "good")), "a part with strides", text)
    status, text = copy(2, "--salvage", "-O", "-v", "good", "bad.nc", "out.nc")
    tap.ok(status == 0 and not text, "variables without damage: as ever", text)
    with open("bad.nc", "rb") as file:
        before = file.read()
    status, text = copy(2, "--salvage", "-O", "bad.nc", "bad.nc")
    with open("bad.nc", "rb") as file:
        tap.ok(status == 1 and "not replaced" in text and file.read() == before, "the damaged file is not replaced",
               text)
    if os.path.exists("none.nc"):
        os.remove("none.nc")
    status, text = copy(3, "bad.nc", "none.nc")
    tap.ok(status == 1 and not os.path.exists("none.nc"), "without the option: an error, and no copy", text)


def test_checksums(values):
    """The input has checksums, which its damaged variables do not have any more."""
    status, text = copy(2, "--checksum", "-O", "whole.nc", "summed.nc")
    if "without xxHash" in text:
        tap.skip("checksums of a damaged file", "a build without xxHash")
        return
    tap.ok(status == 0, "a file with checksums", text)
    damage("summed.nc", LOST)
    wanted, number = expect(values)
    for ranks in (1, 3):
        for options in ((), ("--checksum",), ("--checksum=out.sums",)):
            label = f"--salvage {' '.join(options)} of a file with checksums, {ranks} ranks"
            status, text = copy(ranks, "--salvage", "--verify", "-O", *options, "summed.nc", "out.nc")
            ours = read("out.nc")
            tap.ok(status == 2 and all(numpy.array_equal(ours[name], wanted[name]) for name in wanted) and
                   f"{number} values could not be read" in text and "have the checksum" not in text, label, text)
            with netCDF4.Dataset("summed.nc") as before, netCDF4.Dataset("out.nc") as after:
                sums = {name: (before[name]._Checksum, getattr(after[name], "_Checksum", None)) for name in wanted}
            tap.ok(all((new is not None) == (options == ("--checksum",)) for _, new in sums.values()) and
                   all(old != new for name, (old, new) in sums.items() if name in FILLS), f"{label}: attributes", sums)
            if options == ("--checksum",):
                tap.ok(all(sums[name][0] == sums[name][1] for name in wanted if name not in FILLS),
                       f"{label}: of variables without damage", sums)
                done = tap.run_mpi(1, "src/tools/ncvalidator/ncvalidator", "--checksum", "out.nc")
                tap.ok(done[0] == 0, f"{label}: ncvalidator", done)
    copy(1, "-O", "--set-att", "good:_Checksum=xxh3-128:" + 32 * "0", "whole.nc", "wrong.nc")
    damage("wrong.nc", LOST)
    status, text = copy(3, "--salvage", "--checksum", "-O", "wrong.nc", "out.nc")
    tap.ok(status == 1 and "variable good: its values have the checksum" in text,
           "--salvage --checksum: a wrong checksum of a variable that has lost nothing", text)


def test_stats(values):
    bad = set(FILLS)
    for ranks in (1, 3):
        status, out, err = tap.run_mpi(ranks, "src/tools/ncmpidump/ncmpidump", "--stats", "bad.nc")
        rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[1:]}
        good = values["good"]
        tap.ok(status == 1 and list(rows) == ["deflate", "sum", "both", "good", "x", "one"] and
               all(rows[name][2:6] == ["?"] * 4 for name in bad) and
               [float(word) for word in rows["good"][2:6]] == [0, good.min(), good.max(), good.mean()],
               f"--stats on {ranks} ranks: the other variables", f"{status}\n{out}{err}")
        tap.ok(all(f"variable {name}" in err or f'"{name}"' in err for name in bad), "and what is damaged", err)
        status, out, err = tap.run_mpi(ranks, "src/tools/ncmpidump/ncmpidump", "--stats", "--json", "bad.nc")
        rows = {row["name"]: row for row in json.loads(out)["variables"]}
        tap.ok(status == 1 and all(rows[name]["error"] is True and rows[name]["missing"] is None and
                                   rows[name]["mean"] is None for name in bad) and rows["x"]["mean"] == 14.5 and
               "error" not in rows["x"], f"--stats --json on {ranks} ranks", f"{status}\n{out}{err}")


def main():
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    if h5py is None or not tool.has_netcdf4():
        tap.skip("damaged chunks", "no h5py, or a build without HDF5")
        tap.finish()
    values = make("bad.nc")
    make("whole.nc")
    damage("bad.nc", LOST)
    test_copies(values)
    test_parts(values)
    test_checksums(values)
    test_stats(values)
    tap.finish()


main()
