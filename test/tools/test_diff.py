"""ncmpidiff and cdfdiff: their output is compared with lines written by hand and, if another cdfdiff is installed,
their exit status with its exit status. test_diff_random.py compares with a formula."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cdf
import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", "."))
QUICK = tap.is_quick()
WRAPPER = os.environ.get("PNC_TEST_WRAPPER", "").split()
LIBTOOL = [os.path.join(BUILD, "libtool"), "--mode=execute"] if WRAPPER else []
TOOLS = {"cdfdiff": [0], "ncmpidiff": [1, 4]} # on how many ranks; 0: without mpiexec


def command(tool, ranks):
    program = [*LIBTOOL, *WRAPPER, os.path.join(BUILD, "src/tools", tool, tool)]
    library = os.environ.get("PNC_TEST_YIELD", "no")
    preload = [] if library == "no" else ["env", "LD_PRELOAD=" + library]
    return [*os.environ.get("MPIEXEC", "mpiexec").split(), "-n", str(ranks), *preload, *program] if ranks else program


def run(tool, ranks, *arguments, **options):
    done = subprocess.run([*command(tool, ranks), *arguments], stdin=subprocess.DEVNULL,
                          stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **options)
    return done.returncode, (done.stdout or b"").decode(), done.stderr.decode()


def runs(*arguments):
    """(label, exit status, stdout, stderr) of both tools, on all numbers of ranks."""
    for tool, numbers in TOOLS.items():
        for ranks in numbers:
            yield ("%s on %d ranks" % (tool, ranks) if ranks else tool, *run(tool, ranks, *arguments))


def expect(status, lines, arguments, text):
    """Both tools end with a status, and print these lines."""
    for label, got, out, err in runs(*arguments):
        wanted = "".join(line + "\n" for line in lines)
        tap.ok(got == status and out == wanted and not err, "%s: %s" % (label, text),
               "exit status %d, stderr %s\n%s" % (got, err, out))


def refuse(needle, arguments, text, tools=("cdfdiff", "ncmpidiff")):
    """Status 2, but 1 for one name twice, and one line on stderr that names the cause; after a wrong option also the
    usage."""
    for label, got, out, err in runs(*arguments):
        tool = label.split()[0]
        if tool not in tools:
            continue
        lines = err.splitlines()
        status = 1 if "both names" in needle else 2
        tap.ok(got == status and lines and lines[0].startswith(tool + ": ") and needle in lines[0]
               and sum(line.startswith(tool + ": ") for line in lines) == 1 and "DIFF" not in out,
               "%s: %s" % (label, text), "exit status %d\n%s" % (got, err))


# --- by hand ---

DIMS = [("t", None), ("x", 4), ("y", 2)]
FIRST = [("f", "float", [0, 1], [("units", "char", b"m"), ("n", "int", [1, 2, 3])], [1, 2, 3, 4, 5, 6, 7, 8]),
         ("i", "int", [1], [], [1, 2, 3, 4]),
         ("d", "double", [1], [], [1, float("nan"), 3, float("nan")]),
         ("c", "char", [2, 1], [], b"abcdefgh"),
         ("s", "short", [], [], [3]),
         ("b", "byte", [1], [], [1, 2, 3, 4]),
         ("old", "int", [], [], [1])]
SECOND = [("f", "float", [0, 1], [("units", "char", b"km"), ("n", "int", [1, 2, 4])], [1, 2, 3.5, 4, 5, 6, 7, 9]),
          ("i", "int", [1], [], [1, 2, 3, 5]),
          ("d", "double", [1], [], [1, float("nan"), float("nan"), 4.5]),
          ("c", "char", [2, 1], [], b"abcdefgX"),
          ("s", "int", [], [], [3]),
          ("b", "byte", [1], [], [1, 2, 3, -4]),
          ("new", "int", [], [], [1])]
HEADER_LINES = [
    'DIFF: file format (CDF-1) != (CDF-5)',
    'DIFF: number of dimensions (3) != (4)',
    'DIFF: global attribute "title" of type "NC_CHAR" at element 1 of value "hello" vs "hallo"',
    'DIFF: global attribute "g" data type (NC_DOUBLE) != (NC_FLOAT)',
    'DIFF: global attribute "onlya" defined in a.nc not found in b.nc',
    'DIFF: global attribute "onlyb" defined in b.nc not found in a.nc',
    'DIFF: dimension "z" defined in b.nc not found in a.nc',
    'DIFF: variable "f" attribute "units" length (1) != (2)',
    'DIFF: variable "f" attribute "n" of type "NC_INT" at element 2 of value 3 vs 4',
    'DIFF: variable "s" data type (NC_SHORT) != (NC_INT)',
    'DIFF: variable "old" defined in a.nc not found in b.nc',
    'DIFF: variable "new" defined in b.nc not found in a.nc',
]
F_LINES = [
    'DIFF: variable "f" of type "NC_FLOAT" at element [0, 2] of value 3 vs 3.5 (difference = -5.000000e-01)',
    '\t2 of 8 elements differ',
    '\tlargest absolute difference 1.000000e+00 at element [1, 3] of value 8 vs 9',
    '\tlargest relative difference 1.428571e-01 at element [0, 2] of value 3 vs 3.5',
]
DATA_LINES = F_LINES + [
    'DIFF: variable "i" of type "NC_INT" at element [3] of value 4 vs 5 (difference = -1)',
    '\t1 of 4 elements differ',
    '\tlargest absolute difference 1 at element [3] of value 4 vs 5',
    '\tlargest relative difference 2.000000e-01 at element [3] of value 4 vs 5',
    'DIFF: variable "d" of type "NC_DOUBLE" at element [2] of value 3 vs nan (difference = nan)',
    '\t2 of 4 elements differ, 2 of them NaN in one file only',
    'DIFF: variable "c" of type "NC_CHAR" at element [1, 3] of value "h" vs "X"',
    '\t1 of 8 elements differ',
    'DIFF: variable "b" of type "NC_BYTE" at element [3] of value 4 vs -4 (difference = 8)',
    '\t1 of 4 elements differ',
    '\tlargest absolute difference 8 at element [3] of value 4 vs -4',
    '\tlargest relative difference 2.000000e+00 at element [3] of value 4 vs -4',
]


def make_by_hand():
    atts = [("title", "char", b"hello"), ("g", "double", [1.5]), ("onlya", "int", [1])]
    cdf.Writer(1, DIMS, atts, FIRST, 2).write("a.nc")
    shutil.copy("a.nc", "same.nc")
    cdf.Writer(5, DIMS, atts, FIRST, 2).write("a5.nc")
    cdf.Writer(5, DIMS + [("z", 3)],
               [("title", "char", b"hallo"), ("g", "float", [1.5]), ("onlyb", "int", [1])], SECOND, 2).write("b.nc")


def test_differences():
    expect(1, [*HEADER_LINES, *DATA_LINES, "Number of differences in header 12",
               "Number of differences in variables 8"], ["a.nc", "b.nc"], "header and data")
    expect(1, [*HEADER_LINES, "Number of differences in header 12"], ["-h", "a.nc", "b.nc"], "-h: header only")
    expect(1, [*HEADER_LINES, *DATA_LINES, "Number of differences in header 12",
               "Number of differences in variables 8"], ["-q", "a.nc", "b.nc"], "-q reports differences too")
    expect(1, [HEADER_LINES[0], *F_LINES, 'DIFF: variable "new" defined in b.nc not found in a.nc',
               'DIFF: variable "s" data type (NC_SHORT) != (NC_INT)', "Number of differences in compared variables 3"],
           ["-v", "f,new,s", "a.nc", "b.nc"], "-v: these variables, without attributes")
    expect(1, [HEADER_LINES[0], "Number of differences in header 1", "All variables of two files are the same"],
           ["a.nc", "a5.nc"], "another format is a difference of the header only")


def test_sameness():
    for words, lines in [([], ["Headers of two files are the same", "All variables of two files are the same"]),
                         (["-h"], ["Headers of two files are the same"]), (["-q"], []), (["-q", "-b"], []),
                         (["-v", "f,c"], ["Compared variable(s) are the same"]),
                         (["-t", "0,0"], ["Headers of two files are the same",
                                          "All variables of two files are the same"])]:
        expect(0, lines, [*words, "a.nc", "same.nc"], "same files, %s" % words)
    for label, status, out, _ in runs("-b", "-t", "1,0.5", "a.nc", "same.nc"):
        lines = out.splitlines()
        tap.ok(status == 0 and lines[:4] == ["Tolerance absolute difference = 1.000000e+00",
                                             "Tolerance ratio    difference = 5.000000e-01", "First  file: a.nc",
                                             "Second file: same.nc"]
               and '\tSAME: variable "c" contents' in lines and "\tSAME: number of attributes (2)" in lines
               and '\tSAME: dimension "t" length (2)' in lines and "DIFF" not in out,
               label + ": -b reports what is equal", out)


def test_shapes():
    """Variables of different shape are not compared; a record dimension equals a fixed one of the same length."""
    cdf.Writer(1, [("t", None), ("x", 2)], [], [("v", "int", [0, 1], [], [1, 2, 3, 4]), ("w", "int", [1], [], [1, 2])],
               2).write("record.nc")
    cdf.Writer(1, [("t", 2), ("x", 2)], [], [("w", "int", [1], [], [1, 2]), ("v", "int", [0, 1], [], [1, 2, 3, 4])]
               ).write("fixed.nc")
    expect(0, [], ["-q", "record.nc", "fixed.nc"], "record and fixed dimension, another order of variables")
    cdf.Writer(1, [("t", None), ("y", 2)], [], [("v", "int", [0, 1], [], [1, 2] * 3), ("w", "int", [], [], [1])],
               3).write("other.nc")
    expect(1, ['DIFF: dimension "t" length (2) != (3)',
               'DIFF: dimension "x" defined in record.nc not found in other.nc',
               'DIFF: dimension "y" defined in other.nc not found in record.nc',
               'DIFF: variable "v" of type "NC_INT" dimension 0\'s length (2) != (3)',
               'DIFF: variable "v" of type "NC_INT" dimension 1\'s name (x) != (y)',
               'DIFF: variable "w" number of dimensions (1) != (0)',
               "Number of differences in header 6", "Number of differences in variables 2"],
           ["record.nc", "other.nc"], "other shapes")


# --- what needs care ---

def test_exact():
    """Numbers that are the same as doubles, and text that shows the difference."""
    big = 2**53
    cdf.Writer(5, [("n", 2)], [("long", "char", b"x" * 300 + b"a" * 100)],
               [("v", "int64", [0], [], [big, -2**63]), ("u", "uint64", [0], [], [2**64 - 1, 0])]).write("p.nc")
    cdf.Writer(5, [("n", 2)], [("long", "char", b"x" * 300 + b"b" * 100)],
               [("v", "int64", [0], [], [big + 1, 2**63 - 1]), ("u", "uint64", [0], [], [2**64 - 2, 0])]).write("q.nc")
    expect(1, ['DIFF: variable "v" of type "NC_INT64" at element [0] of value 9007199254740992 vs 9007199254740993 '
               "(difference = -1)", "\t2 of 2 elements differ",
               "\tlargest absolute difference 18446744073709551615 at element [1] of value -9223372036854775808 vs "
               "9223372036854775807",
               "\tlargest relative difference 2.000000e+00 at element [1] of value -9223372036854775808 vs "
               "9223372036854775807",
               'DIFF: variable "u" of type "NC_UINT64" at element [0] of value 18446744073709551615 vs '
               "18446744073709551614 (difference = 1)", "\t1 of 2 elements differ",
               "\tlargest absolute difference 1 at element [0] of value 18446744073709551615 vs 18446744073709551614",
               "\tlargest relative difference 5.421011e-20 at element [0] of value 18446744073709551615 vs "
               "18446744073709551614", "Number of differences in compared variables 2"],
           ["-v", "v,u", "p.nc", "q.nc"], "integers of 64 bits are compared exactly")
    for label, _, out, _ in runs("-h", "p.nc", "q.nc"):
        tap.ok('at element 300 of value ..."xxxxxxxxxxxxxxxxxxxxaaaa' in out and len(out.splitlines()[0]) < 300,
               label + ": of a long text the place that differs is shown", out)


def test_blocks():
    """Variables of several blocks, with differences at their edges, found by one rank or another."""
    n = 1 << 19
    rng = random.Random(7)
    places = sorted({0, n - 1, n, 2 * n, 2 * n + 17, *(rng.randrange(2 * n + 18) for _ in range(5))})
    data = numpy.zeros(2 * n + 18, ">i2")
    cdf.Writer(5, [("t", None), ("n", 2 * n + 18), ("x", 7), ("y", 30)], [],
               [("row", "short", [1], [], []), ("cube", "byte", [0, 2, 3], [], [])], 4000).write("large.nc")
    shutil.copy("large.nc", "large2.nc")
    begins, recsize, _ = cdf.Writer(5, [("t", None), ("n", 2 * n + 18), ("x", 7), ("y", 30)], [],
                                    [("row", "short", [1], [], []), ("cube", "byte", [0, 2, 3], [], [])], 4000).layout()
    data[places] = range(1, len(places) + 1)
    with open("large2.nc", "r+b") as file:
        file.seek(begins[0])
        file.write(data.tobytes())
        for record, x, y in [(3999, 6, 29), (2500, 1, 2)]:
            file.seek(begins[1] + record * recsize + x * 30 + y)
            file.write(b"\x05")
    expect(1, ['DIFF: variable "row" of type "NC_SHORT" at element [0] of value 0 vs 1 (difference = -1)',
               "\t%d of %d elements differ" % (len(places), 2 * n + 18),
               "\tlargest absolute difference %d at element [%d] of value 0 vs %d"
               % (len(places), places[-1], len(places)),
               "\tlargest relative difference 1.000000e+00 at element [0] of value 0 vs 1",
               'DIFF: variable "cube" of type "NC_BYTE" at element [2500, 1, 2] of value 0 vs 5 (difference = -5)',
               "\t2 of 840000 elements differ",
               "\tlargest absolute difference 5 at element [2500, 1, 2] of value 0 vs 5",
               "\tlargest relative difference 1.000000e+00 at element [2500, 1, 2] of value 0 vs 5",
               "Number of differences in variables 2"], ["-q", "large.nc", "large2.nc"], "variables of several blocks")


def test_progress():
    """On request progress is shown by one rank on what is no terminal; what is reported stays the same."""
    line = re.compile(r"(?:(?:ncmpidiff|cdfdiff): \d+ % of \d+ MiB, \d+ MiB/s.*\n)*"
                      r"(?:ncmpidiff|cdfdiff): 100 % of \d+ MiB, \d+ MiB/s.*\n")
    shutil.copy("large.nc", "large.nc.copy")
    for label, status, out, err in runs("-q", "--progress", "large.nc", "large.nc.copy"):
        tap.ok(status == 0 and not out and line.fullmatch(err), label + ": --progress shows lines", (status, out, err))
    for label, status, out, err in runs("-q", "large.nc", "large.nc.copy"):
        tap.ok(status == 0 and not out and not err, label + ": nothing without it", (status, out, err))


# --- against another implementation, and real files ---

def test_peer():
    peer = shutil.which("cdfdiff")
    if not peer or os.path.realpath(peer).startswith(BUILD):
        tap.skip("another cdfdiff", "none is installed (Debian: pnetcdf-bin)")
        return
    problems = []
    for seed in range(4 if QUICK else 12):
        rng = random.Random(seed)
        x = [float(rng.randrange(-50, 50)) for _ in range(40)]
        y = [v + rng.choice([0, 0, 0, .25, 3]) for v in x]
        for path, values in [("x.nc", x), ("y.nc", y)]:
            cdf.Writer(2, [("n", 40)], [], [("d", "double", [0], [], values),
                       ("i", "int", [0], [], [int(v) for v in values])]).write(path)
        for words in [[], ["-t", "1,0"], ["-t", "0,0.1"], ["-t", "5,5"], ["-h"], ["-t", "3,0.05"], ["-v", "i"]]:
            theirs = subprocess.run([peer, *words, "x.nc", "y.nc"], capture_output=True).returncode
            ours = run("cdfdiff", 0, *words, "x.nc", "y.nc")[0]
            if theirs != ours:
                problems.append("seed %d, %s: they say %d, we %d" % (seed, words, theirs, ours))
    tap.ok(not problems, "the exit status of another cdfdiff", "\n".join(problems))


def test_real_files():
    path = tap.data("eraint_uvz.nc")
    if not path or not shutil.which("nccopy"):
        tap.skip("real files", "the folder of real files (PNC_TEST_DATA) or nccopy (Debian: netcdf-bin) is missing")
        return
    for name in ["eraint_uvz.nc", "ref_nctest_classic.nc", "ref_nctest_64bit_offset.nc", "ref_nccopy3_subset.nc"]:
        subprocess.run(["nccopy", "-k", "cdf5", tap.data(name), "copy.nc"], check=True)
        for label, status, out, err in runs(tap.data(name), "copy.nc"):
            tap.ok(status == 1 and "Number of differences in header 1\nAll variables of two files are the same" in out,
                   "%s: %s and its copy differ in their format only" % (label, name), out + err)


# --- what goes wrong ---

def test_bad_files():
    whole = open("a.nc", "rb").read()
    for name, content, needle in [("nothing.nc", b"", ""), ("text.nc", b"this is no netCDF file, but text\n", ""),
                                  ("cut.nc", whole[:50], ""), ("hdf5.nc", b"\x89HDF\r\n\x1a\n" + b"\0" * 100, "HDF5")]:
        with open(name, "wb") as file:
            file.write(content)
        refuse(name, ["a.nc", name], "%s is refused" % name)
        refuse(needle, [name, "a.nc"], "%s is refused as first file, with the cause" % name)
    refuse("missing.nc", ["a.nc", "missing.nc"], "a missing file")
    refuse(".", [".", "a.nc"], "a folder")


def test_short_files():
    """Missing data at the end of a file read as zeros."""
    for last, wanted in [(0, 0), (5, 1)]:
        cdf.Writer(1, [("n", 100)], [], [("v", "int", [0], [], [1] * 90 + [last] * 10)]).write("long.nc")
        shutil.copy("long.nc", "short.nc")
        os.truncate("short.nc", os.path.getsize("short.nc") - 40)
        for label, status, out, err in runs("long.nc", "short.nc"):
            tap.ok(status == wanted and "short.nc: the file ends at byte 440" in err and err.count("\n") == 1,
                   "%s: %d in place of values cut off, and a warning" % (label, last), out + err)


def test_unwritten():
    """Fill values against zeros, in both directions; fill values are those of the format, or of an attribute."""
    fill, own = 9.969209968386869e36, [("_FillValue", "int", [-5])]
    first = [("f", "float", [1], [], [1, fill, 0, 4]), ("i", "int", [1], own, [-5, -5, 0, 7]),
             ("b", "byte", [1], [], [-127, 0, 1, 2]), ("s", "short", [1], [], [0, -32767, 1, 2])]
    second = [("f", "float", [1], [], [1, 0, fill, 4]), ("i", "int", [1], own, [0, -5, -5, 7]),
              ("b", "byte", [1], [], [0, -127, 1, 2]), ("s", "short", [1], [], [3, 0, 1, 2])]
    cdf.Writer(1, DIMS, [], first, 2).write("u.nc")
    cdf.Writer(1, DIMS, [], second, 2).write("v.nc")
    for label, status, out, err in runs("u.nc", "v.nc"):
        tap.ok(status == 1 and out.count("DIFF: variable") == 4 and not err, f"{label}: unwritten values differ", out)
    lines = ['DIFF: variable "s" of type "NC_SHORT" at element [0] of value 0 vs 3 (difference = -3)',
             '\t1 of 4 elements differ, 1 may be unwritten in one file',
             '\tlargest absolute difference 3 at element [0] of value 0 vs 3',
             '\tlargest relative difference 1.000000e+00 at element [0] of value 0 vs 3']
    expect(1, [*lines, "Headers of two files are the same", "Number of differences in variables 1"],
           ["--unwritten", "u.nc", "v.nc"], "--unwritten: one value was put")
    expect(0, [], ["--unwritten", "-q", "-v", "f,i,b", "u.nc", "v.nc"], "--unwritten: the others do not differ")
    for label, status, out, err in runs("--unwritten", "-b", "-v", "f,i,b", "u.nc", "v.nc"):
        tap.ok(status == 0 and out.count("contents, but for 2 that may be unwritten in one file") == 3,
               f"{label}: -b counts them", out + err)
    for label, status, out, err in runs("--unwritten", "--json", "u.nc", "v.nc"):
        found = json.loads(out)["differences"]
        tap.ok(status == 1 and [(d["variable"], d["differ"], d["unwritten_in_one"]) for d in found] == [("s", 1, 1)],
               f"{label}: JSON", out + err)
    refuse("--unwritten", ["--checksum", "--unwritten", "u.nc", "v.nc"], "--checksum has no --unwritten")


def test_bad_arguments():
    files = ["a.nc", "b.nc"]
    for words, needle in [(["-v", "f,oldd"], "did you mean old?"), (["-v", "zzz"], "zzz"), (["-v", ","], "-v"),
                          (["-t", "1"], "-t"), (["-t", "1,x"], "-t"), (["-t", "-1,0"], "-t"), (["-t", "nan,0"], "-t"),
                          (["-z"], "z"), (["--nonsense"], "nonsense"), (["c.nc"], "3 are given")]:
        refuse(needle, words + files, "refused: %s" % words)
    refuse("0 are given", [], "refused: no files")
    refuse("a.nc: both names", ["a.nc", "a.nc"], "the same name twice")
    for word in ("--help", "--version"):
        for label, status, out, err in runs(word):
            tap.ok(status == 0 and label.split()[0] in out and not err, "%s: %s" % (label, word), out + err)


def test_bad_output():
    for tool in TOOLS: # without mpiexec, which would write for the tool
        reader, writer = os.pipe()
        os.close(reader)
        status, _, err = run(tool, 0, "a.nc", "b.nc", stdout=writer)
        os.close(writer)
        tap.ok(status == -signal.SIGPIPE and not err, "%s: a closed pipe ends it silently" % tool, err)
        for name in ("a.nc", "b.nc"):
            with open(name, "ab") as out:
                status, _, err = run(tool, 0, "a.nc", "b.nc", stdout=out)
            tap.ok(status == 2 and name + ": is the input and the output" in err, "%s: >> %s" % (tool, name), err)
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                status, _, err = run(tool, 0, "a.nc", "same.nc", stdout=full)
            tap.ok(status == 2 and "cannot write the output" in err, "%s: a full disk is trouble" % tool, err)


def test_no_mpi():
    program = os.path.join(BUILD, "src/tools/cdfdiff/cdfdiff")
    hidden = os.path.join(BUILD, "src/tools/cdfdiff/.libs/cdfdiff")
    path = hidden if os.path.exists(hidden) else program
    if not shutil.which("readelf"):
        tap.skip("cdfdiff without MPI", "readelf is not installed (Debian: binutils)")
        return
    listing = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"NEEDED.*\[(.*)\]", listing)
    tap.ok(libraries and not any("mpi" in name or "pnetcdf" in name for name in libraries),
           "cdfdiff is not linked with MPI", listing)


def main():
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    make_by_hand()
    for test in [test_differences, test_sameness, test_shapes, test_exact, test_blocks, test_progress, test_peer,
                 test_real_files, test_bad_files, test_short_files, test_unwritten, test_bad_arguments, test_bad_output,
                 test_no_mpi]:
        test()
    tap.finish()


main()
