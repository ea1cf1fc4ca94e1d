"""ncmpicopy --checksum: checksums are those that xxhsum computes of the same bytes, the same in all formats, with all
chunks, on any number of ranks; ncvalidator --checksum and a copy find a value that changed."""
import os
import shutil
import subprocess
import sys

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool

PROGRAM = "src/tools/ncmpicopy/ncmpicopy"
BLOCK = 1 << 20
KINDS = ["i1", "i2", "i4", "f4", "f8", "u1", "u2", "u4", "i8", "u8", "S1"]


def copy(*arguments, ranks=1):
    status, out, errors = tap.run_mpi(ranks, PROGRAM, "--no-history", "-O", *arguments)
    return status, out + errors


def digest(data):
    """By an independent program."""
    with open("bytes", "wb") as file:
        file.write(data)
    done = subprocess.run(["xxhsum", "-H2", "bytes"], capture_output=True, text=True, check=True)
    return bytes.fromhex(done.stdout.split()[0])


def expected(values):
    data = values.astype(values.dtype.newbyteorder(">")).tobytes()
    blocks = b"".join(digest(data[at:at + BLOCK]) for at in range(0, len(data), BLOCK))
    return "xxh3-128:" + digest(blocks).hex()


def sums(path):
    with netCDF4.Dataset(path) as file:
        return {name: getattr(v, "_Checksum", None) for name, v in file.variables.items()}


def make(path):
    rng = numpy.random.default_rng(4)
    wanted = {}
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        for name, length in (("t", None), ("y", 211), ("x", 307), ("empty", None)):
            if name != "empty":
                file.createDimension(name, length)
        for number, kind in enumerate(KINDS):
            variable = file.createVariable("v_" + kind, kind, ("t", "y", "x") if number % 3 else ("y", "x"))
            shape = (17, 211, 307) if number % 3 else (211, 307)
            values = rng.integers(0, 100, shape).astype("u1").view("S1") if kind == "S1" else \
                rng.integers(0, 100, shape).astype(kind)
            variable[:] = values
            wanted["v_" + kind] = values
        scalar = file.createVariable("scalar", "f8", ())
        scalar[...] = 1.25
        wanted["scalar"] = numpy.array(1.25)
    return wanted


def test_sums(wanted):
    first = None
    for ranks, words in ((1, ["-k", "cdf5"]), (3, ["-k", "cdf5"]), (2, ["-k", "nc4", "-d", "1", "-c", "t/4,y/50,x/60"]),
                         (1, ["-k", "nc4", "-c", "t/17,y/7,x/307"])):
        status, text = copy("--checksum", "--verify", *words, "in.nc", f"out{ranks}.nc", ranks=ranks)
        ours = sums(f"out{ranks}.nc") if status == 0 else {}
        first = ours if first is None else first
        tap.ok(status == 0 and len(ours) == len(wanted) and all(ours.values()) and ours == first,
               f"the same with {' '.join(words)} on {ranks} ranks", f"{text} {ours} {first}")
    if shutil.which("xxhsum"):
        theirs = {name: expected(values) for name, values in wanted.items()}
        tap.ok(first == theirs, "those of xxhsum", f"{first} {theirs}")
    else:
        tap.skip("those of xxhsum", "it is not installed")


def test_kept():
    copy("--checksum", "in.nc", "sums.nc")
    status, text = copy("sums.nc", "again.nc")
    tap.ok(status == 0 and sums("again.nc") == sums("sums.nc"), "a copy keeps them", text)
    status, text = copy("-d", "x,1,5", "-t", "scalar:float", "sums.nc", "part.nc")
    ours = sums("part.nc")
    tap.ok(status == 0 and not any(ours.values()), "not of a part, or another type", f"{text} {ours}")
    status, text = copy("--checksum", "-d", "x,1,5", "sums.nc", "part.nc", ranks=2)
    tap.ok(status == 0 and all(sums("part.nc").values()) and sums("part.nc")["v_i4"] != sums("sums.nc")["v_i4"],
           "that of the part", text)


def test_changed():
    result = tool.run("ncvalidator", "--checksum", "sums.nc")
    tap.ok(result.returncode == 0, "ncvalidator: right", result)
    with netCDF4.Dataset("sums.nc", "a") as file:
        file["v_i4"][3, 4, 5] += 1
    result = tool.run("ncvalidator", "--checksum", "sums.nc")
    text = result.stderr.decode()
    tap.ok(result.returncode == 1 and "variable v_i4: its values have the checksum" in text and text.count("\n") == 1,
           "ncvalidator: a value has changed", result)
    tap.ok(tool.run("ncvalidator", "sums.nc").returncode == 0, "without --checksum it is a valid file")
    for ranks in (1, 3):
        status, text = copy("--checksum", "-k", "nc4", "sums.nc", "never.nc", ranks=ranks)
        tap.ok(status == 1 and "variable v_i4: its values have the checksum" in text and text.count("\n") == 1
               and not os.path.exists("never.nc"), f"a copy finds it, {ranks} ranks", text)


def main():
    os.makedirs(tap.scratch("sums"), exist_ok=True)
    os.chdir(tap.scratch("sums"))
    wanted = make("in.nc")
    status, text = copy("--checksum", "in.nc", "first.nc")
    if status == 1 and "without xxHash" in text:
        tap.skip("checksums", "the build is without xxHash")
        tap.finish()
    test_sums(wanted)
    test_kept()
    test_changed()
    tap.finish()


main()
