"""ncmpicopy --checksum: checksums are those that xxhsum computes of the same bytes, the same in all formats, with all
chunks, on any number of ranks; ncvalidator --checksum and a copy find a value that changed. With nc_checksum=enable the
library writes the same ones, for each program that closes a file."""
import json
import os
import re
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


CDF5 = ["-k", "cdf5"]


def of_netcdf4(*runs):
    return [(ranks, ["-k", "nc4", *words]) for ranks, words in runs if tap.has_hdf5()]


def test_sums(wanted):
    first = None
    for ranks, words in [(1, CDF5), (3, CDF5), *of_netcdf4((2, ["-d", "1", "-c", "t/4,y/50,x/60"]),
                                                        (1, ["-c", "t/17,y/7,x/307"]))]:
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
    tool.run("ncmpicopy", "-O", "--del-att", "*:_Checksum", "sums.nc", "none.nc")
    result = tool.run("ncvalidator", "--checksum", "none.nc")
    tap.ok(result.returncode == 0 and b"no variable has a checksum" in result.stderr, "a file without any: a warning",
           result)
    for ranks in (1, 3):
        status, text = copy("--checksum", "-k", "nc4" if tap.has_hdf5() else "cdf5", "sums.nc", "never.nc", ranks=ranks)
        tap.ok(status == 1 and "variable v_i4: its values have the checksum" in text and text.count("\n") == 1
               and not os.path.exists("never.nc"), f"a copy finds it, {ranks} ranks", text)


def manifest_of(path, ranks=1):
    status, text, errors = tap.run_mpi(ranks, "src/tools/ncmpidump/ncmpidump", "--checksum", path)
    return text if status == 0 and not errors else errors


def diff(*arguments, ranks=1):
    status, out, errors = tap.run_mpi(ranks, "src/tools/ncmpidiff/ncmpidiff", "--checksum", *arguments)
    return status, out + errors


def test_netcdf4(wanted):
    """Files of netCDF-C: with chunks and filters of all kinds, the checksums are those of the classic file."""
    ours = sums("out1.nc")
    for name, options in (("whole.nc", {}), ("tall.nc", {"zlib": True, "chunksizes": (17, 7, 11)}),
                          ("big.nc", {"endian": "big", "fletcher32": True, "chunksizes": (1, 211, 307)})):
        with netCDF4.Dataset(name, "w") as file:
            for dim, length in (("t", None), ("y", 211), ("x", 307)):
                file.createDimension(dim, length)
            for var, values in wanted.items():
                dims = {3: ("t", "y", "x"), 2: ("y", "x"), 0: ()}[values.ndim]
                how = {key: value[-len(dims):] if key == "chunksizes" else value for key, value in options.items()
                       if dims and (key != "endian" or values.dtype.kind not in "SU" and values.itemsize > 1)}
                file.createVariable(var, values.dtype, dims, **how)[...] = values
            file.createVariable("words", str, ("y",))
        lines = manifest_of(name).splitlines()
        found = dict(reversed(line.split("  ", 1)) for line in lines[1:])
        tap.ok(found == ours and lines[0] == f"# netCDF checksums of {name}", f"{name}: ncmpidump --checksum",
               [item for item in found.items() if ours.get(item[0]) != item[1]] or lines[:3])
        status, text = copy("--checksum", name, "sum4.nc", ranks=2)
        with netCDF4.Dataset("sum4.nc") as file:
            tap.ok(status == 0 and file.data_model == "NETCDF4" and sums("sum4.nc") == {**ours, "words": None} and
                   "variable words has no checksum" in text, "  ncmpicopy --checksum",
                   text)
        result = tool.run("ncvalidator", "--checksum", "sum4.nc")
        tap.ok(result.returncode == 0 and not result.stderr, "  ncvalidator --checksum", result)
    tap.ok(manifest_of("tall.nc", 3) == manifest_of("tall.nc"), "the same on 3 ranks")
    with netCDF4.Dataset("sum4.nc", "a") as file:
        file["v_f8"][3, 4, 5] += 1
    result = tool.run("ncvalidator", "--checksum", "sum4.nc")
    tap.ok(result.returncode == 1 and b"variable v_f8: its values have the checksum" in result.stderr and
           result.stderr.count(b"\n") == 1, "ncvalidator: a value of a netCDF-4 file has changed", result)


def test_manifests():
    with open("tall.sums", "w", encoding="utf-8") as file:
        file.write(manifest_of("tall.nc"))
    status, text = copy("--checksum=copy.sums", "-k", "cdf5", "tall.nc", "copy.nc", ranks=3)
    with open("copy.sums", encoding="utf-8") as ours, open("tall.sums", encoding="utf-8") as theirs:
        tap.ok(status == 2 and ours.read().splitlines()[1:] == theirs.read().splitlines()[1:] and
               not any(sums("copy.nc").values()), "ncmpicopy --checksum=manifest", text)
    for ranks in (1, 3):
        for pair, expected in ((("tall.nc", "big.nc"), 0), (("tall.nc", "out1.nc"), 0), (("out1.nc", "out2.nc"), 0),
                               (("copy.nc", "tall.sums"), 0), (("tall.sums", "copy.sums"), 0),
                               (("sum4.nc", "tall.sums"), 1)):
            status, text = diff(*pair, ranks=ranks)
            good = "The checksums of all variables are the same\n" == text if expected == 0 else \
                "DIFF: variable \"v_f8\" has checksum" in text and "checksums 1\n" in text
            tap.ok(status == expected and good, f"ncmpidiff --checksum {' '.join(pair)} on {ranks} ranks", text)
    status, text = diff("sum4.nc", "out1.nc")
    tap.ok(status == 0, "of two files, attributes count", text)
    result = tool.run("cdfdiff", "--checksum", "-b", "-v", "v_i4,v_f8", "sum4.nc", "tall.sums")
    tap.ok(result.returncode == 1 and result.stdout.count(b"SAME: variable \"v_i4\"") == 1 and
           result.stdout.count(b"DIFF: variable \"v_f8\"") == 1 and result.stdout.count(b"\n") == 3, "cdfdiff -b -v",
           result)
    for path, status, words in (("copy.nc", 0, b""), ("tall.nc", 0, b""), ("sum4.nc", 1, b"variable v_f8")):
        result = tool.run("ncvalidator", "--checksum=tall.sums", path)
        tap.ok(result.returncode == status and words in result.stderr, f"ncvalidator --checksum=manifest {path}",
               result)
    with open("tall.sums", encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open("short.sums", "w", encoding="utf-8") as file:
        file.write("\n".join([*lines[:-1], lines[-1].replace("  ", "  other_")]) + "\n")
    status, text = diff("copy.nc", "short.sums", ranks=2)
    tap.ok(status == 1 and "\"scalar\" of copy.nc is not in short.sums" in text and
           "\"other_scalar\" of short.sums is not in copy.nc" in text and text.count("DIFF") == 2,
           "variables that only one has", text)
    result = tool.run("ncvalidator", "--checksum=short.sums", "copy.nc")
    tap.ok(result.returncode == 1 and b"other_scalar of short.sums is not in the file" in result.stderr and
           b"warning: copy.nc: variable scalar is not in short.sums" in result.stderr, "ncvalidator finds them", result)


def test_many_files():
    """One manifest of several files, as ncmpidump and cat make it; files elsewhere, missing, changed, not listed."""
    os.makedirs("archive/moved", exist_ok=True)
    names = ["archive/one.nc", "archive/two.nc", "archive/three.nc"]
    for name, source in zip(names, ("tall.nc", "sum4.nc", "big.nc")):
        shutil.copy(source, name)
    for ranks in (1, 3):
        status, out, err = tap.run_mpi(ranks, "src/tools/ncmpidump/ncmpidump", "--checksum", *names)
        tap.ok(status == 0 and not err and out == "".join(manifest_of(name) for name in names) and
               [line for line in out.splitlines() if line[0] == "#"] == [f"# netCDF checksums of {n}" for n in names],
               f"a manifest of three files on {ranks} ranks", err + out)
    with open("all.sums", "w", encoding="utf-8") as file:
        file.write(out)
    for arguments in ([], names, names[1:2], ["archive/../archive/one.nc"]):
        done = tool.run("ncvalidator", "--checksum=all.sums", *arguments)
        number = done.stdout.count(b"have the checksum of all.sums")
        tap.ok(done.returncode == 0 and not done.stderr and number == (len(arguments) or 3), f"checked: {arguments}",
               done)
    done = tool.run("ncvalidator", "-q", "--checksum=all.sums")
    tap.ok(done.returncode == 0 and not done.stdout and not done.stderr, "quietly", done)
    shutil.copy("archive/two.nc", "archive/moved/two.nc")
    for pair, expected in ((("archive/moved/two.nc", "all.sums"), 0), (("all.sums", names[0]), 0)):
        status, text = diff(*pair, ranks=2)
        tap.ok(status == expected, f"ncmpidiff --checksum {' '.join(pair)}", text)
    done = tool.run("ncvalidator", "--checksum=all.sums", "archive/moved/two.nc", "tall.nc")
    tap.ok(done.returncode == 1 and b"tall.nc: all.sums has the checksums of 3 files" in done.stderr,
           "not listed", done)
    status, text = diff("tall.nc", "all.sums", ranks=2)
    tap.ok(status == 2 and text.count("all.sums has the checksums of 3 files") == 1, "ncmpidiff: not listed", text)
    with netCDF4.Dataset("archive/three.nc", "r+") as file:
        file["v_i4"][...] = 5
    os.remove("archive/one.nc")
    done = tool.run("ncvalidator", "--checksum=all.sums")
    err = done.stderr.decode()
    tap.ok(done.returncode == 1 and "archive/one.nc: No such file" in err and
           re.search("archive/three.nc: variable v_i4: its values have the checksum", err) and "two.nc" not in err and
           done.stdout.count(b"have the checksum of all.sums") == 1, "one is missing, one has changed", done)
    done = tool.run("ncvalidator", "-q", "--checksum=all.sums", "archive/three.nc")
    tap.ok(done.returncode == 1 and not done.stdout and not done.stderr, "a change, quietly", done)
    done = tool.run("ncvalidator", "--json", "--checksum=all.sums")
    tap.ok(done.returncode == 1 and len(json.loads(done.stdout)) == 3, "as JSON", done)
    result = tool.run("ncmpidump", "--checksum", names[1], "archive/none.nc")
    tap.ok(result.returncode == 1 and result.stdout.decode() == manifest_of(names[1]),
           "a missing file leaves the others", result)


def test_nameless():
    """A manifest whose comment does not name its file."""
    with open("tall.sums", encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    with open("nameless.sums", "w", encoding="utf-8") as file:
        file.write("\n".join(["# netCDF checksums", *lines]) + "\n")
    done = tool.run("ncvalidator", "--checksum=nameless.sums")
    tap.ok(done.returncode == 1 and not done.stdout and
           done.stderr.decode().startswith("ncvalidator: nameless.sums: part 1 does not name its file") and
           done.stderr.count(b"\n") == 1, "ncvalidator: a manifest that does not name its file", done)
    done = tool.run("ncvalidator", "--checksum=nameless.sums", "copy.nc")
    tap.ok(done.returncode == 0 and not done.stderr, "ncvalidator: the same, with the file", done)
    status, text = diff("copy.nc", "nameless.sums")
    tap.ok(status == 0, "ncmpidiff: the same", text)


def test_mistakes():
    for number, line in enumerate(("xxh3-128:123  v", "xxh3-128:" + "g" * 32 + "  v", "v", "xxh3-128:" + "0" * 32,
                                   "xxh3-128:" + "0" * 32 + " v", "md5:" + "0" * 37 + "  v")):
        with open("bad.sums", "w", encoding="utf-8") as file:
            file.write(f"# netCDF checksums\n\n{line}\n")
        status, text = diff("copy.nc", "bad.sums", ranks=1 + number % 2)
        tap.ok(status == 2 and "bad.sums: line 3 is not a checksum" in text, f"not a manifest: {line}", text)
    tool.fails("ncvalidator", "is not a manifest", "ncvalidator: another file", "--checksum=copy.nc", "copy.nc")
    for words in (["--checksum"], ["--checksum=tall.sums", "--repair"], ["--checksum=tall.sums", "-x"]):
        tool.fails("ncvalidator", "no file is given", f"ncvalidator {' '.join(words)}: no file", *words)
    tool.fails("ncmpidiff", "do not apply", "ncmpidiff: -t", "--checksum", "-t", "0,1", "copy.nc", "tall.nc", status=2)
    tool.fails("ncmpidiff", "no variable nothing", "ncmpidiff: -v", "--checksum", "-v", "nothing", "copy.nc", "tall.nc",
               status=2)
    tool.fails("ncmpidiff", "No such file", "ncmpidiff: no file", "--checksum", "copy.nc", "missing.nc", status=2)
    with open("text.sums", "w", encoding="ascii") as file:
        file.write("precious")
    status, text = copy("--checksum=text.sums", "tall.nc", "never.nc", ranks=2)
    with open("text.sums", encoding="ascii") as file:
        tap.ok(status == 1 and "exists already" in text and file.read() == "precious",
               "ncmpicopy replaces no other file", text)
    tap.ok(not os.path.exists("never.nc"), "  and copies nothing")


def act(path, action, hints="", ranks=3, on=True):
    """The codes of close on all ranks, and the message of rank 0 with stderr."""
    env = {**os.environ, "PNETCDF_HINTS": ";".join(filter(None, [hints, "nc_checksum=enable" if on else ""]))}
    _, out, errors = tap.run_mpi(ranks, "test/tools/leave_references", path, action, env=env)
    found = re.search(rf"^((?:-?\d+ ){{{ranks}}})(.*)$", out, re.M)
    return ([int(code) for code in found[1].split()] if found else out), (found[2] if found else "") + errors


def is_right(path, label, of=None):
    """Those of a copy, and of xxhsum for the variables in `of`; ncvalidator agrees."""
    ours = sums(path)
    copied = copy("--checksum", path, "compared.nc", ranks=2)
    theirs = sums("compared.nc")
    if of is not None and shutil.which("xxhsum"):
        theirs.update({name: expected(values) for name, values in of.items()})
    checked = tool.run("ncvalidator", "--checksum", path)
    tap.ok(copied[0] == 0 and ours and all(ours.values()) and ours == theirs and checked.returncode == 0 and
           not checked.stderr, f"{label}: those of ncmpicopy", f"{copied} {ours} {theirs} {checked}")


def values_of(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: numpy.array(variable[...]) for name, variable in file.variables.items()}


def test_hint_sizes(wanted):
    """Variables of several blocks, of all types: of a program that knows nothing of checksums."""
    for ranks, words in [(1, CDF5), (3, CDF5), *of_netcdf4((1, ["-d", "1", "-c", "t/4,y/50,x/60"]), (3, []))]:
        env = {**os.environ, "PNETCDF_HINTS": "nc_checksum=enable"}
        status, out, errors = tap.run_mpi(ranks, PROGRAM, "--no-history", "-O", *words, "in.nc", "hint.nc", env=env)
        label = f"nc_checksum with {' '.join(words)} on {ranks} ranks"
        tap.ok(status == 0 and not errors, f"{label}: a copy", out + errors)
        is_right("hint.nc", label, wanted)


def test_hint_life(label, hints, ranks):
    path = "life.nc"
    label = f"nc_checksum, {label} on {ranks} ranks"
    done = act(path, "create", hints, ranks)
    tap.ok(done == ([0] * ranks, ""), f"{label}, a new file: close succeeds", done)
    is_right(path, f"{label}, a new file", values_of(path))
    with open(path, "rb") as file:
        before = file.read()
    first = sums(path)
    done = act(path, "keep", hints, ranks)
    with open(path, "rb") as file:
        tap.ok(done == ([0] * ranks, "") and file.read() == before, f"{label}, closed unchanged: the same bytes", done)
    done = act(path, "append", hints, ranks)
    tap.ok(done == ([0] * ranks, "") and sums(path)["fixed"] == first["fixed"] and
           sums(path)["record"] != first["record"], f"{label}, append: that of the record variable differs", done)
    is_right(path, f"{label}, append", values_of(path))
    done = act(path, "grow", hints, ranks)
    tap.ok(done == ([0] * ranks, "") and len(sums(path)) == 52, f"{label}, grow: new variables", done)
    is_right(path, f"{label}, grow", values_of(path))
    act(path, "append", hints, ranks, on=False)
    tap.ok(tool.run("ncvalidator", "--checksum", path).returncode == 1, f"{label}: without the hint they are old")
    act(path, "keep", hints, ranks)
    is_right(path, f"{label}, old ones are computed again", values_of(path))
    for action in ("abort", "redefine"):
        done = act(path, action, hints, ranks)
        tap.ok(done[0] == [0] * ranks, f"{label}, {action}: ncmpi_abort succeeds", done)
        is_right(path, f"{label}, {action}, which keeps the file", values_of(path))
    for more in ("nc_whole_files=enable", "nc_write_behind=enable"):
        done = act(path, "create", f"{hints};{more}", ranks)
        tap.ok(done == ([0] * ranks, ""), f"{label}, {more}: close succeeds", done)
        is_right(path, f"{label}, {more}", values_of(path))


def test_hint_without_place(label, hints):
    act("bare.nc", "create", hints, on=False)
    before = values_of("bare.nc")
    codes, errors = act("bare.nc", "append", hints)
    tap.ok(codes == [0, 0, 0] and errors.count("have no attribute _Checksum") == 1 and "2 of 2 variables" in errors,
           f"nc_checksum, {label}: one warning for variables that lack the attribute", errors)
    tap.ok(not any(sums("bare.nc").values()) and len(values_of("bare.nc")["record"]) == len(before["record"]) + 1,
           "  and no checksums")
    done = act("bare.nc", "grow", hints)
    tap.ok(done == ([0, 0, 0], ""), f"nc_checksum, {label}: redef adds them", done)
    is_right("bare.nc", f"nc_checksum, {label}: redef", values_of("bare.nc"))
    env = {**os.environ, "PNETCDF_HINTS": "nc_checksum=enable", "PNETCDF_HINTS_DISPLAY": "1"}
    for action, needle in (("copy", "the file is opened for reading only"), ("keep", "enable")):
        program = [PROGRAM, "-O", "bare.nc", "kept.nc"] if action == "copy" else \
            ["test/tools/leave_references", "bare.nc", action]
        _, out, errors = tap.run_mpi(1, *program, env=env)
        tap.ok(any("nc_checksum" in line and needle in line for line in (out + errors).splitlines()),
               f"nc_checksum, {label}: the display: {needle}", out + errors)


def test_hint_failure(label, hints, ranks):
    codes, errors = act("failed.nc", "fail", hints, ranks)
    tap.ok(len(codes) == ranks and all(codes) and "all values are in the file, but not their checksums" in errors,
           f"nc_checksum, {label} on {ranks} ranks: values that cannot be read are an error on all ranks",
           (codes, errors))
    tap.ok(values_of("failed.nc")["record"].shape == (2, 12), "  and the file is complete")


def test_hint(wanted):
    for ranks in (1, 3):
        test_hint_failure("classic", "nc_format=cdf5", ranks)
    test_hint_sizes(wanted)
    for ranks in (1, 3):
        test_hint_life("classic", "nc_format=cdf5", ranks)
        test_hint_life("netCDF-4", "nc_format=netcdf4", ranks)
    test_hint_life("compressed netCDF-4", "nc_format=netcdf4;nc_compression=deflate:1;nc_chunks=1,5;nc_chunks=5", 3)
    for kind in ("classic", "netCDF-4"):
        test_hint_without_place(kind, "nc_format=netcdf4" if kind == "netCDF-4" else "")


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
    if tool.has_netcdf4():
        test_netcdf4(wanted)
        test_hint(wanted)
        test_manifests()
        test_many_files()
        test_nameless()
        test_mistakes()
    tap.finish()


main()
