"""ncmpicopy: netCDF4 reads its files, which are compared with the originals, with slices that numpy computes, and with
the copies of nccopy."""
import datetime
import glob
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

import netCDF4
import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cdf
import tap
import tool

QUICK = tap.is_quick()
BUILD = os.path.abspath(os.environ.get("PNC_BUILD", "."))
PROGRAM = os.path.join(BUILD, "src/tools/ncmpicopy/ncmpicopy")
WRAPPER = os.environ.get("PNC_TEST_WRAPPER", "").split()
if WRAPPER:
    WRAPPER = [os.path.join(BUILD, "libtool"), "--mode=execute", *WRAPPER]
KINDS = {"classic": "NETCDF3_CLASSIC", "64-bit offset": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA"}


def run(ranks, *arguments, **options):
    """ranks 0: without mpiexec."""
    library = os.environ.get("PNC_TEST_YIELD", "no")
    preload = [] if library == "no" else ["env", "LD_PRELOAD=" + library]
    start = [*os.environ.get("MPIEXEC", "mpiexec").split(), "-n", str(ranks), *preload] if ranks else []
    arguments = arguments if options.pop("history", False) else ("--no-history", *arguments)
    done = subprocess.run([*start, *WRAPPER, PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False, **options)
    return done.returncode, done.stdout, done.stderr


def contents(path):
    """All that netCDF4 reads from a file, except its format."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_always_mask(False)
        attributes = lambda thing: [(name, numpy.asarray(thing.getncattr(name)).dtype.str,
                                     numpy.asarray(thing.getncattr(name)).tolist()) for name in thing.ncattrs()]
        return {"dimensions": [(d.name, len(d), d.isunlimited()) for d in file.dimensions.values()],
                "attributes": attributes(file),
                "variables": {v.name: (v.dtype.str, v.dimensions, attributes(v), v[...].tobytes())
                              for v in file.variables.values()}}


def values(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return numpy.asarray(file.variables[name][...])


def differences(a, b):
    different = [part for part in ("dimensions", "attributes") if a[part] != b[part]]
    names = {*a["variables"], *b["variables"]}
    different += [name for name in sorted(names) if a["variables"].get(name) != b["variables"].get(name)]
    if list(a["variables"]) != list(b["variables"]):
        different.append("order of variables")
    return different


def raw(path):
    with open(path, "rb") as file:
        return file.read()


def copy(text, arguments, output, status=0, message=""):
    """One output, the same to the byte on 1 and on 4 ranks, and nothing else in the folder. Returns whether it is."""
    results = []
    for ranks in (0, 4):
        if os.path.exists(output):
            os.remove(output)
        got, out, err = run(ranks, *arguments, output)
        good = got == status and not out and message in err and (message or not err) and not glob.glob("*partial*")
        tap.ok(good, "%s, %d ranks" % (text, max(ranks, 1)), "exit status %d\n%s%s" % (got, out, err))
        results.append(raw(output) if os.path.exists(output) else None)
    return tap.ok(results[0] is not None and results[0] == results[1], text + ": the same bytes on 1 and 4 ranks")


def make_source(path, version, numrecs=5, first=0):
    """Variables of all types, with and without records, and of more than one block."""
    kinds = list(cdf.TYPES)[:11 if version == 5 else 6]
    dims = [("t", None), ("x", 7), ("y", 3), ("long", 700001)]
    variables = [("s_" + kind, kind, [], [], b"q" if kind == "char" else [7]) for kind in kinds]
    for i, kind in enumerate(kinds):
        letters = lambda n: bytes(97 + (j + first) % 26 for j in range(n))
        numbers = lambda n: [(i + j + first) % 100 for j in range(n)]
        make = letters if kind == "char" else numbers
        variables.append(("f_" + kind, kind, [1, 2], [("note", "char", "été".encode())], make(21)))
        variables.append(("r_" + kind, kind, [0, 2, 1], [("_FillValue", kind, b"f" if kind == "char" else [99]),
                                                         ("range", "double", [0, 1e300])], make(21 * numrecs)))
    variables.append(("large", "short", [3], [], [j % 30000 for j in range(700001)]))
    variables.append(("t", "double", [0], [("units", "char", b"days since 1900-1-1")],
                      [first + j + .5 for j in range(numrecs)]))
    cdf.Writer(version, dims, [("title", "char", b"made"), ("empty", "char", b""), ("n", "int", [1, 2, 3])], variables,
               numrecs).write(path)


def test_kinds():
    for version in (1, 2, 5):
        make_source("v%d.nc" % version, version)
    for source, kind in [("v1.nc", None), ("v1.nc", "cdf5"), ("v2.nc", "classic"), ("v5.nc", None)]:
        words = ["-k", kind] if kind else []
        if not copy("%s to %s" % (source, kind or "the same kind"), ["--verify", *words, source], "out.nc"):
            continue
        tap.ok(not differences(contents(source), contents("out.nc")), "all content is there",
               differences(contents(source), contents("out.nc")))
        with netCDF4.Dataset("out.nc") as file, netCDF4.Dataset(source) as original:
            tap.ok(file.data_model == (KINDS[kind] if kind else original.data_model), "in the right format")
        if shutil.which("nccopy"):
            subprocess.run(["nccopy", *words, source, "theirs.nc"], check=True)
            tap.ok(not differences(contents("theirs.nc"), contents("out.nc")), "as nccopy copies it")
            os.remove("theirs.nc")
    for word, kind in [("-3", "classic"), ("-6", "64-bit offset"), ("-5", "cdf5")]:
        status, _, err = run(0, "-O", word, "v1.nc", "out.nc")
        with netCDF4.Dataset("out.nc") as file:
            tap.ok(status == 0 and file.data_model == KINDS[kind], word, err)


def test_parts():
    copy("-v", ["-V", "r_int,f_char", "v1.nc"], "out.nc")
    theirs, ours = contents("v1.nc"), contents("out.nc")
    theirs["variables"] = {name: theirs["variables"][name] for name in ["f_char", "r_int"]}
    tap.ok(not differences(theirs, ours), "-v: these variables, all dimensions, in the order of the file",
           differences(theirs, ours))
    status, _, err = run(0, "-V", "r_int,f_char", "v1.nc", "parts.nc")
    tap.ok(status == 0 and raw("parts.nc") == raw("out.nc"), "-V is -v", err)
    os.remove("parts.nc")
    copy("-d", ["-d", "t,1,-2,2", "-d", "x,3", "-d", "y,,1", "-d", "long,5,,3", "--verify", "v5.nc"], "out.nc")
    for name, part in [("r_int64", numpy.s_[1:4:2, :2, 3:4]), ("f_char", numpy.s_[3:4, :2]), ("large", numpy.s_[5::3]),
                       ("t", numpy.s_[1:4:2]), ("s_uint", numpy.s_[...])]:
        tap.ok(numpy.array_equal(values("out.nc", name), values("v5.nc", name)[part]), "-d: part of " + name,
               values("out.nc", name).shape)
    copy("-u", ["-u", "v2.nc"], "out.nc")
    subprocess.run(["nccopy", "-u", "v2.nc", "theirs.nc"], check=True)
    tap.ok(not differences(contents("theirs.nc"), contents("out.nc")), "-u: as nccopy -u")
    os.remove("theirs.nc")
    copy("-r", ["-r", "x", "-v", "f_int,f_char,large", "v2.nc"], "out.nc")
    ours = contents("out.nc")
    tap.ok([d[0] for d in ours["dimensions"] if d[2]] == ["x"]
           and ours["variables"]["f_int"] == contents("v2.nc")["variables"]["f_int"], "-r: another record dimension")
    copy("in place", ["-O", "-k", "cdf5", "v1.nc"], "out.nc")
    status, _, err = run(4, "-O", "-k", "classic", "out.nc", "out.nc")
    tap.ok(status == 0 and not differences(contents("v1.nc"), contents("out.nc")), "-O: a file becomes its own copy",
           err)


def test_padding():
    """Null bytes, even if the original has others: bytes that were read must not become padding."""
    variables = [("b", "byte", [0, 1], [], [1] * 300), ("c", "char", [0], [], b"c" * 100),
                 ("s", "short", [0, 1], [], [2] * 300), ("f", "byte", [1], [], [3] * 3)]
    clean = cdf.Writer(1, [("t", None), ("x", 3)], [], variables, 100)
    clean.write("clean.nc")
    begins, recsize, _ = clean.layout()
    dirty = bytearray(raw("clean.nc"))
    for variable, begin in zip(variables, begins):
        size = clean.size(variable)
        for i in range(100 if clean.is_record(variable) else 1):
            at = begin + i * recsize + size
            dirty[at:at + -size % 4] = b"\xff" * (-size % 4)
    with open("dirty.nc", "wb") as file:
        file.write(dirty)
    copy("other bytes as padding", ["--align", "4", "dirty.nc"], "out.nc")
    tap.ok(raw("out.nc") == raw("clean.nc"), "padding of null bytes")


def test_coordinates():
    """-v takes along what a variable cannot be understood without, and nothing else."""
    text = lambda words: [("coordinates", "char", words)]
    cdf.Writer(1, [("t", None), ("y", 2), ("x", 3), ("n", 2)], [], [
        ("tas", "float", [0, 1], [*text(b"lon2d  other missing"), ("grid_mapping", "char", b"crs: y")], [1, 2]),
        ("lon2d", "float", [1, 2], [("bounds", "char", b"lon_bnds")], [0] * 6), ("crs", "int", [], [], [0]),
        ("lon_bnds", "float", [1, 2, 3], [], [0] * 12), ("y", "int", [1], [], [7, 8]),
        ("x", "int", [1, 2], [], [0] * 6),
        ("t", "int", [0], [("climatology", "char", b"t_bnds")], [5]), ("t_bnds", "int", [0, 3], [], [4, 6]),
        ("other", "int", [], [("coordinates", "int", [3])], [1]), ("n", "int", [3], [], [0, 1]),
        ("unused", "int", [3], [], [2, 3])], 1).write("cf.nc")
    for words, expected in ((["-v", "tas"], "tas lon2d crs lon_bnds y t t_bnds other n"), (["-V", "tas"], "tas"),
                            (["-v", "unused"], "n unused"), (["-V", "t,tas"], "tas t"),
                            (["-v", "t"], "t t_bnds n")):
        copy(" ".join(words), [*words, "cf.nc"], "cf_copy.nc")
        tap.ok(list(contents("cf_copy.nc")["variables"]) == expected.split(), " ".join(words) + ": the variables",
               list(contents("cf_copy.nc")["variables"]))


def test_history():
    """One line for each copy, the newest first; an attribute of another type stays as it is."""
    cdf.Writer(1, [], [("history", "int", [7])], [], 0).write("number.nc")
    cdf.Writer(1, [], [("title", "char", b"x")], [], 0).write("none.nc")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "86399"}
    line = "Thu Jan  1 23:59:59 1970: ncmpicopy none.nc -O once.nc"
    for ranks, words, expected in ((4, ["none.nc", "-O", "once.nc"], line),
                                   (0, ["-O", "once.nc", "twice.nc"],
                                    "Thu Jan  1 23:59:59 1970: ncmpicopy -O once.nc twice.nc\n" + line),
                                   (2, ["-O", "number.nc", "copy.nc"], 7),
                                   (0, ["-O", "--del-att", ":history", "once.nc", "less.nc"],
                                    "Thu Jan  1 23:59:59 1970: ncmpicopy -O --del-att :history once.nc less.nc"),
                                   (2, ["-O", "--set-att", ":history=made", "once.nc", "more.nc"],
                                    "Thu Jan  1 23:59:59 1970: ncmpicopy -O --set-att :history=made once.nc more.nc\n"
                                    "made")):
        status, _, err = run(ranks, *words, history=True, env=environment)
        with netCDF4.Dataset(words[-1]) as file:
            tap.ok(status == 0 and file.history == expected and (not isinstance(expected, str) or file.title == "x"),
                   "history: " + " ".join(words), (err, file.history))
    before = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0, tzinfo=None)
    environment.pop("SOURCE_DATE_EPOCH")
    run(4, "-O", "none.nc", "now.nc", history=True, env=environment)
    with netCDF4.Dataset("now.nc") as file:
        made = datetime.datetime.strptime(file.history.split(": ")[0], "%a %b %d %H:%M:%S %Y")
    tap.ok(datetime.timedelta(0) <= made - before < datetime.timedelta(minutes=5), "the time of the copy, in UTC",
           (made, before))


def test_join():
    for i, n in enumerate([3, 1, 4]):
        make_source("part%d.nc" % i, 5, n, 10 * i)
    parts = ["part0.nc", "part1.nc", "part2.nc"]
    copy("join", ["--verify", *parts], "out.nc", 0, "variable f_byte is left out, and differs from that in part0.nc")
    for name in ["r_short", "r_char", "t"]:
        wanted = numpy.concatenate([values(path, name) for path in parts])
        tap.ok(numpy.array_equal(values("out.nc", name), wanted), "records of all files: " + name)
    tap.ok(numpy.array_equal(values("out.nc", "f_int"), values("part0.nc", "f_int")),
           "other data is that of the first file")
    copy("join, every second one", ["-d", "t,1,,2", "-u", *parts], "out.nc", 0, "left out")
    wanted = numpy.concatenate([values(path, "r_double") for path in parts])[1::2]
    tap.ok(numpy.array_equal(values("out.nc", "r_double"), wanted), "-d counts in all files together")


def test_types():
    data = [1, -5, 40000, 1e20, float("nan"), -32766.4, 9, 12]
    cdf.Writer(5, [("t", None), ("x", 4)], [],
               [("f", "double", [0, 1], [("_FillValue", "double", [1e20]), ("valid_max", "double", [30000.]),
                                         ("factor", "double", [.5])], data),
                ("g", "float", [1], [], [1.5, 2.5, -3.5, 9.969209968386869e36]),
                ("u", "uint64", [1], [("_FillValue", "uint64", [7])], [2**64 - 1, 7, 0, 255]),
                ("s", "int", [], [], [70000])], 2).write("types.nc")
    words = ["--verify", "-t", "f:short", "-t", "g:double", "-t", "u:ubyte", "-t", "s:short", "types.nc"]
    copy("-t", words, "out.nc", 2,
         "variable f: 2 values do not fit short and became the fill value, the first at [0, 2]")
    tap.ok(values("out.nc", "f").dtype.str == ">i2" or values("out.nc", "f").dtype == numpy.int16, "-t: the new type")
    tap.ok(values("out.nc", "f").ravel().tolist() == [1, -5, -32767, -32767, -32767, -32766, 9, 12],
           "what does not fit, and what was missing, is the fill value", values("out.nc", "f"))
    with netCDF4.Dataset("out.nc") as file:
        f = file.variables["f"]
        tap.ok(f._FillValue == -32767 and f._FillValue.dtype == numpy.int16 and f.valid_max == 30000
               and f.valid_max.dtype == numpy.int16 and f.factor.dtype == numpy.float64,
               "attributes that have the type of the values go with them", f)
    tap.ok(values("out.nc", "g").tolist() == [1.5, 2.5, -3.5, 9.969209968386869e36], "float to double")
    tap.ok(values("out.nc", "u").tolist() == [7, 7, 0, 255], "uint64 to ubyte, with its own fill value")
    _, _, err = run(4, "-O", *words, "out.nc")
    lines = [line for line in err.splitlines() if line.startswith("ncmpicopy: ")]
    tap.ok(len(lines) == 3 and "variable u: 1 values do not fit ubyte" in lines[1] and "first at [0]" in lines[1]
           and "variable s: 1 values do not fit short" in lines[2], "a line for each variable", err)


def test_layout():
    marker = b"MARKER OF THE DATA!!"
    cdf.Writer(1, [("t", None), ("n", 20)], [], [("c", "char", [1], [], marker), ("d", "char", [1], [], marker[::-1]),
               ("r", "char", [0, 1], [], b"RECORDS ARE FROM HERE")], 1).write("layout.nc")
    size = open("layout.nc", "rb").read().find(marker)
    copy("--align --record-align --reserve",
         ["--align", "512", "--record-align", "2k", "--reserve", "3000", "layout.nc"], "out.nc")
    content = open("out.nc", "rb").read()
    first, records = content.find(marker), content.find(b"RECORDS ARE FROM HER")
    tap.ok(first % 512 == 0 and first >= size + 3000 - 4, "data begins behind the reserve, aligned", first)
    tap.ok(records > first and records % 2048 == 0, "records begin aligned", records)
    tap.ok(not differences(contents("layout.nc"), contents("out.nc")), "content is the same")
    cdf.Writer(1, [("n", 1 << 20)], [], [("c", "char", [0], [], marker + bytes((1 << 20) - len(marker)))],
               0).write("large.nc")
    for words, begin in (([], 8704), (["--reserve", "0"], 512), (["--align", "4096"], 4096)):
        copy(f"a large file, {words}", words + ["large.nc"], "out.nc")
        first = open("out.nc", "rb").read().find(marker)
        tap.ok(first == begin, f"data begin at {begin}", first)


# --- what goes wrong ---

def refuse(needle, arguments, text, ranks=0, **options):
    before = sorted(os.listdir("."))
    status, out, err = run(ranks, *arguments, **options)
    lines = [line for line in err.splitlines() if not line.lstrip(",").startswith("mca_")] # Open MPI's own
    tap.ok(status == 1 and lines and lines[0].startswith("ncmpicopy: ") and needle in lines[0]
           and err.count("ncmpicopy: ") - err.count("usage: ncmpicopy") <= 1, text,
           "exit status %d\n%s%s" % (status, out, err))
    if sorted(os.listdir(".")) != before:
        tap.ok(False, text + ": nothing is left behind", set(os.listdir(".")) ^ set(before))


def test_bad_inputs():
    for name in glob.glob("out.nc"):
        os.remove(name)
    whole = open("v1.nc", "rb").read()
    for name, content in [("nothing.nc", b""), ("text.nc", b"this is no netCDF file, but text\n"),
                          ("cut.nc", whole[:50]), ("hdf5.nc", b"\x89HDF\r\n\x1a\n" + b"\0" * 100)]:
        with open(name, "wb") as file:
            file.write(content)
        for ranks in (0, 4):
            refuse("HDF5" if name == "hdf5.nc" else name, [name, "out.nc"], "%s on %d ranks" % (name, max(1, ranks)),
                   ranks)
    refuse("missing.nc", ["missing.nc", "out.nc"], "a missing file")
    refuse("missing.nc", ["v1.nc", "missing.nc", "out.nc"], "a missing second file")
    cdf.Writer(1, [("t", None), ("x", 7), ("y", 3)], [], [("t", "int", [0], [], [1])], 1).write("other.nc")
    refuse("variable t has type int, but another type in v1.nc, double",
           ["-v", "t", "v1.nc", "other.nc", "out.nc"], "files that do not fit together")
    refuse("no variable r_byte", ["v1.nc", "other.nc", "out.nc"], "a variable that only the first file has", 4)
    cdf.Writer(1, [("x", 2)], [], [("v", "int", [0], [], [1, 2])]).write("fixed.nc")
    refuse("no record dimension", ["fixed.nc", "fixed.nc", "out.nc"], "nothing to join along")
    cdf.Writer(1, [("t", None)], [], [("v", "int", [0], [], [])]).write("none.nc")
    refuse("length 0", ["-u", "none.nc", "out.nc"], "no records to be fixed")


def test_short_input():
    """Data beyond the end of an input read as zeros: the copy is that of a file with zeros, but with a warning."""
    whole = open("v1.nc", "rb").read()
    for name, content in (("short.nc", whole[:-20]), ("zeros.nc", whole[:-20] + b"\0" * 20)):
        with open(name, "wb") as file:
            file.write(content)
    warning = "short.nc: the file ends at byte %d, but its header describes data up to byte %d" % (len(whole) - 20,
                                                                                                 len(whole))
    copy("a short file", ["-O", "short.nc"], "short_copy.nc", 2, warning)
    copy("the same with zeros", ["-O", "zeros.nc"], "zeros_copy.nc")
    tap.ok(open("short_copy.nc", "rb").read() == open("zeros_copy.nc", "rb").read(),
           "a short file is copied with zeros")
    copy("a short file as second input", ["v1.nc", "short.nc"], "short_joined.nc", 2, warning)
    status, out, err = run(4, "short.nc", "out.nc", env={**os.environ, "PNETCDF_HINTS": "nc_short_file=error"})
    tap.ok(status == 1 and "NC_EREAD" in err and not os.path.exists("out.nc"),
           "a short file is an error with nc_short_file=error", out + err)
    ignored = tool.run("ncmpicopy", "-O", "v1.nc", "hinted.nc", env={**os.environ, "PNETCDF_HINTS": "cb_nodes=0"})
    tap.ok(ignored.returncode == 0, "a remark about a hint is not one about the input", ignored.stderr.decode())


def test_in_place():
    """An input is replaced only on request, and only by a copy that has all of it."""
    shutil.copy("v1.nc", "self.nc")
    os.symlink("self.nc", "soft.nc")
    os.link("self.nc", "hard.nc")
    before = raw("self.nc")
    for name in ("self.nc", "soft.nc", "hard.nc", "./self.nc"):
        refuse("is an input", ["self.nc", name], "%s: the input" % name, 4 if name == "hard.nc" else 0)
    refuse("is an input", ["v1.nc", "self.nc", "soft.nc"], "the second input")
    with open("cut.nc", "wb") as file:
        file.write(before[:-20])
    for words in (["-O", "-t", "large:byte", "self.nc", "soft.nc"], ["-O", "cut.nc", "cut.nc"]):
        status, _, err = run(4, *words)
        tap.ok(status == 1 and words[-1] + ": is an input, and the copy does not have all" in err, " ".join(words), err)
    tap.ok(raw("self.nc") == before and raw("cut.nc") == before[:-20] and not glob.glob("*.partial-*"),
           "they are as before")
    for name in ("soft.nc", "hard.nc"):
        os.remove(name)


def test_prefixes():
    """A prefix of MPI-IO is no part of the name."""
    shutil.copy("v1.nc", "plain.nc")
    for words in (["plain.nc", "ufs:target.nc"], ["ufs:plain.nc", "target.nc"], ["ufs:plain.nc", "nfs:target.nc"]):
        status, _, err = run(1, *words)
        is_copy = glob.glob("*target.nc*") == ["target.nc"] and contents("target.nc") == contents("plain.nc")
        tap.ok(status == 0 and is_copy, " ".join(words), err)
        os.remove("target.nc")
    refuse("is an input", ["ufs:plain.nc", "plain.nc"], "the input without its prefix")
    refuse("is an input", ["plain.nc", "nfs:plain.nc"], "the input with a prefix")


def test_progress():
    cdf.Writer(1, [("x", 100000)], [], [("v", "int", [0], [], [1, 2])]).write("long.nc")
    for ranks in 1, 4:
        status, out, err = run(ranks, "--progress", "--verify", "-O", "long.nc", "long_copy.nc")
        lines = [line for line in err.splitlines() if "100 %" in line]
        tap.ok(status == 0 and not out and len(lines) == 2 and lines[0].startswith("ncmpicopy: 100 % of") and
               lines[1].startswith("ncmpicopy: verify: 100 % of"),
               "--progress on %d ranks shows a last line for the copy, and one for --verify" % ranks, (status, err))
    status, _, err = run(4, "-O", "long.nc", "long_copy.nc")
    tap.ok(status == 0 and not err, "without it nothing is shown", err)


def test_odd_files():
    """What new files cannot have, but others have: it is changed, with warnings, and the data are copied."""
    cdf.Writer(1, [("x", 2)], [], [
        ("exact", "short", [0], [("_FillValue", "double", [-32767.0])], [1, -32767]),
        ("rounded", "float", [0], [("_FillValue", "double", [1e20])], [1, 2]),
        ("nan", "short", [0], [("_FillValue", "double", [float("nan")])], [3, 4]),
        ("half", "int", [0], [("_FillValue", "double", [.5])], [5, 6])]).write("fills.nc")
    status, _, err = run(4, "--verify", "fills.nc", "fills_copy.nc")
    text = subprocess.run(["ncdump", "fills_copy.nc"], capture_output=True, check=True, text=True).stdout
    fills = re.findall(r"(\w+):_FillValue = (\S+) ;", text)
    tap.ok(status == 0 and fills == [("exact", "-32767s"), ("rounded", "1.e+20f")] and "exact = 1, _ ;" in text and
           err.count("was converted") == 2 and err.count("was left out") == 2, "a _FillValue of another type",
           (status, err, text))
    cdf.Writer(1, [("x", 2)], [], [("two", "short", [0], [("_FillValue", "short", [1, 2])], [1, 2]),
                                   ("text", "char", [0], [("_FillValue", "byte", [65])], b"ab")]).write("odd.nc")
    copy("a _FillValue of two values, and of bytes for text", ["--verify", "odd.nc"], "odd_copy.nc", 2, "left out")
    cdf.Writer(1, [("x_y", 2), ("x/y", 3)], [("bad ", "int", [1]), ("ok", "int", [2])], [
        ("+v", "int", [1], [("\x01", "short", [7])], [1, 2, 3]), ("_v", "int", [0], [], [4, 5])]).write("names.nc")
    data = raw("names.nc").replace(b"\0\2ok\0\0", b"\0\2\xff\xfe\0\0")
    with open("names.nc", "wb") as file:
        file.write(data)
    status, _, err = run(4, "--verify", "names.nc", "names_copy.nc")
    ours = contents("names_copy.nc")
    tap.ok(status == 2 and [d[0] for d in ours["dimensions"]] == ["x_y", "x_y_2"]
           and sorted(ours["variables"]) == ["_v", "_v_2"] and err.count("became") == 3 and "and 2 more" in err,
           "names", (status, err, ours))
    names = [("d%02d" % i).encode() for i in range(54)]
    cdf.Writer(1, [(name.decode(), 2) for name in names], [], []).write("many.nc")
    data = raw("many.nc")
    for name in names:
        data = data.replace(name, b"+" + name[1:])
    with open("many.nc", "wb") as file:
        file.write(data)
    status, _, err = run(0, "many.nc", "many_copy.nc")
    tap.ok(status == 2 and err.count("became") == 3 and "and 51 more like it" in err, "54 warnings in four lines", err)
    for name, message in (("eraint_uvz.nc", "was left out"), ("ref_null_byte_padding_test.nc", ""),
                          ("ref_nctest_classic.nc", ""), ("ref_nccopy3_subset.nc", "")):
        path = tap.data(name)
        if path:
            copy("a real file: " + name, ["--verify", path], "real.nc", 0, message)
        else:
            tap.skip("a real file: " + name, "it is not there (PNC_TEST_DATA)")


def test_bad_arguments():
    for words, needle in [(["-k", "netCDF-5"], "-k"), (["-v", "r_imt"], "did you mean r_int?"), (["-v", ","], "-v"),
                          (["-d", "x"], "-d"), (["-d", "x,1,2,0"], "-d"), (["-d", "x,7"], "0 to 6"),
                          (["-d", "x,3,2"], "-d x"), (["-d", "lomg,1"], "did you mean long?"), (["-t", "r_int"], "-t"),
                          (["-t", "r_int:real"], "-t"), (["-t", "nope:int"], "nope"),
                          (["-t", "r_int:uint"], "needs CDF-5"), (["-u", "-r", "x"], "exclude"),
                          (["-t", "r_char:int"], "characters"), (["-r", "z"], "no dimension z"),
                          (["-r", "y"], "not its first"), (["--align", "x"], "--align"),
                          (["--reserve", "-1"], "--reserve"), (["--record-align", "9E"], "9E"),
                          (["-z"], "z")]:
        refuse(needle, [*words, "v1.nc", "out.nc"], "refused: %s" % " ".join(words))
    refuse("needs CDF-5", ["-k", "classic", "v5.nc", "out.nc"], "types that the format does not know", 4)
    refuse("needed", ["v1.nc"], "refused: no output")
    for word in ("--help", "--version"):
        status, out, err = run(0, word)
        tap.ok(status == 0 and "ncmpicopy" in out and not err, word, err)


def test_bad_outputs():
    with open("there.nc", "w") as file:
        file.write("precious")
    refuse("there.nc: exists already", ["v1.nc", "there.nc"], "an output that exists", 4)
    tap.ok(open("there.nc").read() == "precious", "and is kept")
    if stat.S_ISCHR(os.stat("/dev/null").st_mode):
        refuse("/dev/null", ["-O", "v1.nc", "/dev/null"], "a device")
    else:
        tap.skip("a device", "/dev/null is not a device")
    tool.fails_to_print("ncmpicopy", "--help")
    refuse("nowhere/out.nc", ["v1.nc", "nowhere/out.nc"], "a missing folder", 4)


def begin_huge(ranks):
    """A long copy, in an empty folder "ended". Each rank leaves its process id in pid.RANK."""
    shutil.rmtree("ended", ignore_errors=True)
    os.mkdir("ended")
    note = 'echo $$ > new.$$; mv new.$$ "pid.${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}"; exec "$@"'
    start = [*os.environ.get("MPIEXEC", "mpiexec").split(), "-n", str(ranks)] if ranks else []
    return subprocess.Popen([*start, "sh", "-c", note, "sh", PROGRAM, os.path.abspath("huge.nc"), "out.nc"],
                            cwd="ended", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for(pattern, process):
    end = time.monotonic() + 60
    while not glob.glob(pattern) and process.poll() is None and time.monotonic() < end:
        time.sleep(.002)
    return bool(glob.glob(pattern))


def is_alive(pid):
    try:
        with open("/proc/%s/stat" % pid, encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def end_of(process):
    """The output of a process. Open MPI's mpiexec may block if a rank ended while it connected: then mpiexec
    is stopped, if all ranks have ended."""
    try:
        return process.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        living = [name for name in glob.glob("ended/pid.*") if is_alive(open(name, encoding="ascii").read().strip())]
        process.kill()
        assert not living, "these ranks hang: %s" % living
        return process.communicate()[0]


def interrupt(ranks, number, target, pattern="ended/*.partial-*", delay=0):
    """Sends a signal to the process that was started (target None) or to a rank, when a file is there that fits the
    pattern, or some time later. Nothing is to be left behind. Returns what went wrong."""
    with begin_huge(ranks) as process:
        if not wait_for(pattern, process):
            process.kill()
            return "there is no %s: %s" % (pattern, process.communicate()[0])
        time.sleep(delay)
        if target is None:
            process.send_signal(number)
        elif wait_for("ended/pid.%d" % target, process):
            with open("ended/pid.%d" % target, encoding="ascii") as file:
                os.kill(int(file.read()), number)
        out = end_of(process)
    left = glob.glob("ended/out.nc*")
    good = not left and (ranks or process.returncode == -number) # mpiexec has statuses of its own
    return "" if good else "exit status %d, left %s, after %.3f s\n%s" % (process.returncode, left, delay, out)


def test_interrupted():
    """A signal to one process, to all through mpiexec, or to one rank, which ends all ranks."""
    cdf.Writer(5, [("n", 1 << 32)], [], [("c", "char", [0], [], b"a")]).write("huge.nc")
    for ranks, target in [(0, None), (4, None), (4, 0), (4, 3)]:
        for number in (signal.SIGTERM, signal.SIGINT):
            why = interrupt(ranks, number, target)
            text = "signal %d to %s of %d" % (number, "all" if target is None else "rank %d" % target, max(1, ranks))
            tap.ok(not why, text + " leaves nothing behind", why)
        why = [interrupt(ranks, signal.SIGTERM, target, "ended/pid.*", i * .03) for i in range(3 if QUICK else 6)]
        tap.ok(not any(why), "%s: and at other moments" % text, "\n".join(filter(None, why)))
    os.remove("huge.nc")
    shutil.rmtree("ended")


def test_no_room():
    """A limit on the size of files instead of a full disk; MPI_Init needs files of some MiB too."""
    cdf.Writer(5, [("n", 1 << 26)], [], [("c", "char", [0], [], b"a")]).write("big.nc")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 25, 1 << 25))
    for ranks in (0, 4):
        for output in ("out.nc", "there.nc"):
            refuse("NC_ENO_SPACE", ["-O", "big.nc", output], "no room for %s on %d ranks" % (output, max(1, ranks)),
                   ranks, preexec_fn=limit)
    tap.ok(not os.path.exists("out.nc") and open("there.nc").read() == "precious", "a file to be replaced stays")
    os.remove("big.nc")


def main():
    if not shutil.which("nccopy"):
        tap.skip("ncmpicopy", "nccopy is not installed (Debian: netcdf-bin)")
        tap.finish()
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    for test in [test_kinds, test_parts, test_padding, test_coordinates, test_history, test_join, test_types,
                 test_layout, test_bad_inputs, test_short_input, test_in_place, test_prefixes, test_odd_files,
                 test_progress, test_bad_arguments, test_bad_outputs, test_no_room]:
        test()
    if not WRAPPER:
        test_interrupted()
    tap.finish()


main()
