# needs: python
"""ncmpidump against ncdump, byte for byte, over files of all sorts and all options; and back into a file by ncgen."""
import decimal
import itertools
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
import cdf
import random_files
import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", "."))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.abspath(os.environ.get("PNC_TEST_DATA", os.path.join(SOURCE, "../shared/data")))
FILL_DOUBLE = random_files.FILL_DOUBLE
QUICK = tap.is_quick()
PROGRAM = [os.path.join(BUILD, "src/tools/ncmpidump/ncmpidump")]
if os.environ.get("PNC_TEST_WRAPPER"):
    PROGRAM = [os.path.join(BUILD, "libtool"), "--mode=execute"] + os.environ["PNC_TEST_WRAPPER"].split() + PROGRAM
FORMATS = {
    1: (b"// file format: CDF-1", b"classic"),
    2: (b"// file format: CDF-2 (large file)", b"64-bit offset"),
    5: (b"// file format: CDF-5 (big variables)", b"64-bit data"),
}
OPTIONS = ["", "-h", "-c", "-b c", "-b f", "-f c", "-f f", "-b f -f c", "-f f -b c", "-l 10", "-l 27", "-l 79 -b c",
           "-l 400", "-n name", "-n 3%s[x]", "-p 3", "-p 1,2", "-p 9,17", "-d 20,20", "-c -h", "-h -b c -p 4"]
REAL_OPTIONS = ["", "-h", "-t", "-i", "-c", "-b f", "-f f", "-l 27", "-p 9,17"]

failures = 0


def check(good, text, detail=""):
    global failures
    print("%s - %s" % ("ok" if good else "not ok", text), flush=True)
    if not good:
        failures += 1
        for line in str(detail).splitlines()[:20]:
            print("#   " + line)


def run(command, **options):
    return subprocess.run(command, stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **options)


def dump(path, *options, **more):
    return run(PROGRAM + list(options) + [path], **more)


def first_difference(theirs, ours):
    for number, (a, b) in enumerate(itertools.zip_longest(theirs.split(b"\n"), ours.split(b"\n")), 1):
        if a != b:
            return "line %d\nncdump    %r\nncmpidump %r" % (number, a, b)
    return ""


def expected(path, options, scalars):
    """The output of ncdump. Its index of a scalar in the comments of -f is uninitialised memory: ncmpidump prints the
    first. It also prints uninitialised memory if a fill value is not a date: 1e+20 in the real files. Those bytes are
    different in each run, and quotes and line ends may be among them."""
    result = run(["ncdump"] + options + [path])
    assert result.returncode == 0, result.stderr
    text = re.sub(rb'(?s)(_FillValue = 1.e\+20 ; // )".{0,16}?"\n(?=[\t\n])', rb"\g<1>1e+20\n", result.stdout)
    if "-f" in options:
        language = [b for a, b in zip(options, options[1:]) if a in ("-b", "-f")][-1]
        index = rb"\1(%d)\n" % (language == "f")
        for name in scalars:
            text = re.sub(rb"(  // " + re.escape(name.encode()) + rb")\(\d+\)\n", index, text)
    return text


def compare(path, version, all_options, text, scalars=()):
    """One result for all options on one file. Under valgrind a run takes seconds: some of the options."""
    problems = []
    if "PNC_TEST_WRAPPER" in os.environ and len(all_options) > 3:
        all_options = random.Random(text).sample(all_options, 3)
    for options in all_options:
        words = options.split() if isinstance(options, str) else options
        theirs = expected(path, words, scalars)
        ours = dump(path, *words)
        lines = ours.stdout.split(b"\n")
        if ours.returncode != 0 or ours.stderr:
            problems.append("%s: exit status %d, %s" % (words, ours.returncode, ours.stderr))
        elif lines[1] != FORMATS[version][0]:
            problems.append("%s: second line is %r" % (words, lines[1]))
        elif b"\n".join(lines[:1] + lines[2:]) != theirs:
            problems.append("%s: %s" % (words, first_difference(theirs, b"\n".join(lines[:1] + lines[2:]))))
    check(not problems, "%s: as ncdump with %d sets of options" % (text, len(all_options)), "\n".join(problems))


# --- random files ---

def escaped(name):
    return re.sub(r"^(?=\d)|(?=[^\w%@+./-])", r"\\", name, flags=re.UNICODE)


def test_random_files():
    for seed in range(3 if QUICK or "PNC_TEST_WRAPPER" in os.environ else 200):
        rng = random.Random(seed)
        version = (1, 2, 5)[seed % 3]
        path = "random %d.(v%d).nc" % (seed, version)
        scalars, names = random_files.random_file(rng, version, path)
        listed = [name for name in names if "," not in name]
        options = rng.sample(OPTIONS, 5) + ["", "-f f"] if seed < 9 else [rng.choice(OPTIONS)]
        if listed and seed < 9:
            options.append(["-v", ",".join(rng.sample(listed, min(3, len(listed))))])
            options.append(["-c", "-v", rng.choice(listed)])
        compare(path, version, options, "random file %d, CDF-%d" % (seed, version), [escaped(s) for s in scalars])


# --- files written by ncgen, and back ---

def cdl_of(version):
    integers = "" if version < 5 else """
    ubyte ub(x) ; ub:a = 1UB, 255UB ; ushort us(x) ; us:a = 65535US ; uint ui(x) ; ui:a = 4294967295U ;
    int64 i8(t, x) ; i8:a = -9223372036854775807LL ; uint64 u8(x) ; u8:a = 18446744073709551615ULL ;"""
    data = "" if version < 5 else """
    ub = 1, 255, _ ; us = _, 0, 65534 ; ui = 1, _, 4294967294 ; i8 = _, 1, 2, -9223372036854775807, 0, 5 ;
    u8 = 18446744073709551615, 18446744073709551613, 0 ;"""
    return """netcdf made {
dimensions: x = 3 ; t = UNLIMITED ; len = 20 ; \\3d\\ place = 2 ; one = 1 ;
variables:
    double t(t) ; t:units = "days since 1900-1-1" ; float x(x) ; x:_FillValue = -999.9f ;
    byte b(x, len) ; b:flags = 1b, -2b ; char c(t, len) ; c:note = "two\\nlines \\"quoted\\" \\\\ and a tab\\t" ;
    short s ; s:_FillValue = -1s ; int i(t, x, \\3d\\ place) ; int \\3d\\ place(\\3d\\ place) ; char letter ;
    float f(t, len) ; double d(one, len) ; d:range = 1.e-300, 1.e+300, 0.1 ;%s
// global attributes:
    :Conventions = "CF-1.8" ; :empty = "" ; :version = 3 ; :e = 2.718281828459045 ; :é = "é" ;
data:
    t = 1, 2.5 ; x = 1, _, 3 ; b = 1, 2, 3, -128, 127 ; c = "hello", "two\\tlines" ; s = _ ; letter = "q" ;
    i = 1, 2, 3, 4, 5, 6, 7, 8, _, 10, 11, -2147483648 ; \\3d\\ place = 10, 20 ;
    f = 0.1, 1.e20, -1.e-20, NaNf, Infinityf, -Infinityf, 16777216, 123456.789 ; d = 0.1, NaN, -Infinity, 1.e-310 ;%s
}
""" % (integers, data)


def test_round_trip():
    for version in (1, 2, 5):
        with open("made.cdl", "w") as out:
            out.write(cdl_of(version))
        kind = {1: "-3", 2: "-6", 5: "-5"}[version]
        made = run(["ncgen", kind, "-o", "made.nc", "made.cdl"])
        check(made.returncode == 0, "ncgen writes CDF-%d" % version, made.stderr.decode())
        compare("made.nc", version, OPTIONS, "file of ncgen, CDF-%d" % version, ["s", "letter"])
        with open("again.cdl", "wb") as out:
            out.write(dump("made.nc", "-p", "9,17").stdout)
        again = run(["ncgen", kind, "-o", "again.nc", "again.cdl"])
        check(again.returncode == 0 and open("made.nc", "rb").read() == open("again.nc", "rb").read(),
              "CDF-%d: ncgen makes the same file of the dump" % version, again.stderr.decode())
        check(dump("made.nc", "-k").stdout.strip() == FORMATS[version][1], "-k says the kind of CDF-%d" % version)
        check(dump("made.nc", "-V").stdout.strip() == b"made " + FORMATS[version][0][3:], "-V says CDF-%d" % version)


def test_small_files():
    words = "types dimensions variables data group groups attributes int char netcdf unlimited NaN infinity _".split()
    cases = {
        "empty": ([], [], []),
        "only a dimension": ([("x", 3)], [], []),
        "no records": ([("t", None), ("x", 2)], [("a", "int", [1])],
                       [("v", "int", [0], [], []), ("w", "char", [0, 1], [], b""), ("s", "int", [], [], [4])]),
        "no variables": ([("t", None)], [("a", "double", [1, 0.1])], []),
        "hidden attribute": ([], [("_NCProperties", "char", b"x")], []),
        "all characters": ([("x", 256)], [("a", "char", bytes(range(256)))],
                           [("c", "char", [0], [], bytes(range(256)))]),
        "words of CDL": ([(word, 1) for word in words], [(word, "int", [1]) for word in words],
                         [(word, "int", [i], [(word, "int", [1])], [1]) for i, word in enumerate(words)]),
        "wrong C_format": ([("x", 2)], [], [("f", "float", [0], [("C_format", "int", [1])], [1, 2])]),
    }
    for title, (dims, atts, variables) in cases.items():
        cdf.Writer(1, dims, atts, variables).write("small.nc")
        compare("small.nc", 1, ["", "-h", "-c", "-f c", "-b f"], title, ["s"])


def test_names_of_files():
    os.makedirs("folder.d", exist_ok=True)
    for name in ["a.b.nc", "3x", ".nc", "we ird(x).nc", "é.cdf", "a.", "x.nc.gz", "quo\"te'.nc"]:
        path = os.path.join("folder.d", name)
        cdf.Writer(1, [], [], []).write(path)
        compare(path, 1, ["", "-h"], "file name %s" % name)


def test_harmful_formats():
    """Formats with which printf would access other memory are ignored. ncdump does not check them."""
    for text in [b"%s", b"%n", b"%*d", b"%d%d", b"%", b"%f", b"%999999999d", b"%5", b"%-", b"%.", b"%L",
                 b"%" + b"0" * 300 + b"d"]:
        cdf.Writer(1, [("x", 2)], [], [("v", "int", [0], [("C_format", "char", text)], [1, 2])]).write("harm.nc")
        check(b"\n v = 1, 2 ;\n" in dump("harm.nc").stdout, "C_format %s is not used for int" % text[:12].decode())


# --- times ---

UNITS = ["days since 1900-01-01", "hours since 1582-10-10 12:00:00", "seconds since 1970-01-01T00:00:00Z",
         "minutes since 2000-02-28 23:59:30", "days since 1-1-1 00:00:0.0", "months since 1990-1-31 6",
         "years since 1850-06-01", "days since 1900-01-01 06:30 +05:30", "weeks since 2001-01-01", "day since 2000",
         "seconds since 2000-01-01 00:00:00.5", "Hours since 2000-12-31 1:2:3.25", "season since 2000-5",
         "hr since 99-1-1",
         "days since -4713-01-01", " dy  since  2000-2-31", "d since 2000-01-01", "days after 2000-01-01", "degrees",
         "since", "days since", "day as %Y%m%d.%f", "msec since 2000-01-01", "days SINCE 2000-01-01"]
CALENDARS = ["standard", "gregorian", "proleptic_gregorian", "noleap", "365_day", "all_leap", "366_day", "360_day",
             "julian", "NOLEAP", "of my own", None]


def test_times():
    rng = random.Random(3)
    # in 64ths, which are whole microseconds: ncdump prints the rounding errors of others
    values = [0, 1, -1, 0.5, -0.5, 1.5, 59.25, 366, 1e5 + 0.375, FILL_DOUBLE, float("nan"), float("inf")]
    values += [rng.randrange(-10**7, 10**7) / 64 for _ in range(8 if QUICK else 60)]
    for calendar in CALENDARS:
        variables = []
        for i, unit in enumerate(UNITS):
            atts = [("units", "char", unit.encode())]
            n = rng.randrange(1, 8)
            atts.append(("some", rng.choice(["int", "short"]), [rng.randrange(2000) for _ in range(n)]))
            atts.append(("range", "float", [rng.choice([0, 0.5, 12.25, 1 / 64, 700 / 64]) for _ in range(n)]))
            if calendar:
                atts.append(("calendar", "char", calendar.encode()))
            variables.append(("t%d" % i, "double", [0], atts, values))
        cdf.Writer(2, [("t", len(values))], [], variables).write("times.nc")
        compare("times.nc", 2, ["-t", "-i", "-t -l 40", "-i -f c", "-t -b f"], "times of calendar %s" % calendar)


def test_kinds_of_times():
    """The variables that contain times: numbers of all types, and bounds of other variables."""
    days, hours = ("units", "char", b"days since 2000-01-01"), ("units", "char", b"hours since 1999-01-01\0")
    variables = [("time", "float", [0], [days, ("bounds", "char", b"limits"), ("_FillValue", "float", [2])],
                  [0.1, 1, 2]),
                 ("limits", "double", [0, 1], [], [1, 2, 3, 4, 5, 6]), ("i", "int", [0], [hours], [70000, -3, 5]),
                 ("c", "char", [0], [days], b"abc"),
                 ("b", "byte", [0], [days, ("C_format", "char", b"%05d")], [1, 2, 127]),
                 ("s", "short", [], [days], [9]), ("wrong", "double", [0], [("units", "int", [3])], [1, 2, 3])]
    cdf.Writer(1, [("t", 3), ("two", 2)], [], variables).write("kinds.nc")
    compare("kinds.nc", 1, ["-t", "-i", "-t -c", "-i -h", "-t -v time,i"], "variables that hold times", ["s"])
    # ncdump uses only the last of several variables that have bounds
    variables = [("own", "double", [0], [hours, ("bounds", "char", b"other")], [1, 2, 3]),
                 ("other", "double", [0, 1], [days], [1, 2, 3, 4, 5, 6])]
    cdf.Writer(1, [("t", 3), ("two", 2)], [], variables).write("bounds.nc")
    compare("bounds.nc", 1, ["-t", "-i"], "the units of a variable are those of its bounds")
    # where ncdump prints bytes of its memory
    cdf.Writer(1, [("t", 2)], [], [("t", "double", [0], [days], [1e300, 5]),
                                   ("u", "double", [0], [("units", "char", b"days since 2000-13-01")],
                                    [1, 2])]).write("wrong.nc")
    text = dump("wrong.nc", "-t").stdout
    check(b' t = 1e+300, "2000-01-06" ;' in text and b" u = 1, 2 ;" in text, "other values stay numbers", text)


def test_special():
    for version in (1, 2):
        for atts in ([], [("title", "char", b"x")]):
            cdf.Writer(version, [("x", 2)], atts, [("v", "int", [0], [], [1, 2])]).write("special.nc")
            compare("special.nc", version, ["-s", "-s -h", "-s -c"], "-s for CDF-%d" % version)
    cdf.Writer(5, [], [], []).write("special.nc") # with variables, ncdump -s fails
    compare("special.nc", 5, ["-s", "-s -h"], "-s for CDF-5")


# --- JSON ---

def test_digits():
    """--json has the digits of Python's repr: the shortest that read back exactly, and of these the nearest."""
    generator = random.Random(5)
    doubles = [2. ** e for e in range(-1074, 1024)] + [-(10. ** e) for e in range(-323, 309)]
    doubles += [struct.unpack("<d", generator.getrandbits(64).to_bytes(8, "little"))[0] for _ in range(20000)]
    doubles += [round(generator.uniform(-1e6, 1e6), n % 12) for n in range(5000)] + [0., -0., 1 / 3, 9007199254740993.]
    doubles += [math.nextafter(2. ** e, way) for e in range(-1074, 1023) for way in (0, math.inf)]
    bits = [e << 23 for e in range(255)] + [1 << b for b in range(23)]
    bits += [generator.getrandbits(32) for _ in range(20000)]
    floats = [struct.unpack(">f", b.to_bytes(4, "big"))[0] for b in bits]
    doubles, floats = [x for x in doubles if math.isfinite(x)], [x for x in floats if math.isfinite(x)]
    cdf.Writer(1, [("d", len(doubles)), ("f", len(floats))], [],
               [("d", "double", [0], [], doubles), ("f", "float", [1], [], floats)]).write("digits.nc")
    found = json.loads(dump("digits.nc", "--json").stdout, parse_float=str, parse_int=str)["variables"]
    digits = lambda text: (float(text), len(decimal.Decimal(text).normalize().as_tuple().digits))
    for name, values, show in (("d", doubles, repr), ("f", floats, show_float)):
        wrong = [(got, show(x)) for got, x in zip(found[name]["data"], values)
                 if got is not None and digits(got) != digits(show(x))] # null: a fill value
        check(len(found[name]["data"]) == len(values) and not wrong, "--json: digits of %d values" % len(values),
              wrong[:9])


def show_float(x):
    """The nearest of the shortest decimal numbers that round to a single, by trial; of two as near, the even one."""
    exact = decimal.Decimal(x)
    for n in range(1, 10):
        rounded = [decimal.Context(n, way).plus(exact) for way in (decimal.ROUND_FLOOR, decimal.ROUND_CEILING)]
        good = [d for d in rounded if abs(d) < decimal.Decimal(2) ** 128 and
                struct.unpack(">f", struct.pack(">f", float(d)))[0] == x]
        if good:
            return str(min(good, key=lambda d: (abs(d - exact), d.as_tuple().digits[-1] % 2)))
    return "none"


def test_json():
    variables = [("time", "double", [0], [("units", "char", b"days since 2000-01-01")], [0, 1.5]),
                 ("f", "float", [0, 1], [("_FillValue", "float", [-9]), ("r", "float", [0.5, float("inf")])],
                  [1, -9, float("nan"), 0.25, float("-inf"), 1e20]),
                 ("c", "char", [0, 1], [("e", "char", b"")], b"ab\0\xc3\xa9\xff"), ("l", "char", [], [], b'"'),
                 ("u", "uint64", [], [], [2**64 - 1]), ("i", "int64", [1], [("none", "int", [])], [-2**63, 0, 5]),
                 ("cube", "short", [0, 1, 0], [], list(range(12)))]
    cdf.Writer(5, [("t", None), ("x", 3)], [("title", "char", b"a \"b\"\n\\\1"), ("n", "int", [1, 2])],
               variables[:1] + variables[3:6], 2).write("small.json.nc")
    cdf.Writer(5, [("t", 2), ("x", 3)], [("title", "char", b"a \"b\"\n\\\1"), ("n", "int", [1, 2])],
               variables).write("json.nc")
    wanted = {
        "name": "json", "format": "64-bit data", "dimensions": {"t": 2, "x": 3}, "unlimited": None,
        "attributes": {"title": {"type": "char", "data": "a \"b\"\n\\\1"}, "n": {"type": "int", "data": [1, 2]}},
        "variables": {
            "time": {"type": "double", "shape": ["t"], "data": [0, 1.5],
                     "attributes": {"units": {"type": "char", "data": "days since 2000-01-01"}}},
            "f": {"type": "float", "shape": ["t", "x"], "data": [[1, None, "NaN"], [0.25, "-Infinity", 1e20]],
                  "attributes": {"_FillValue": {"type": "float", "data": -9},
                                 "r": {"type": "float", "data": [0.5, "Infinity"]}}},
            "c": {"type": "char", "shape": ["t", "x"], "data": ["ab", "\xe9\xff"],
                  "attributes": {"e": {"type": "char", "data": ""}}},
            "l": {"type": "char", "shape": [], "data": '"', "attributes": {}},
            "u": {"type": "uint64", "shape": [], "data": 2**64 - 1, "attributes": {}},
            "i": {"type": "int64", "shape": ["x"], "data": [-2**63, 0, 5],
                  "attributes": {"none": {"type": "int", "data": []}}},
            "cube": {"type": "short", "shape": ["t", "x", "t"], "attributes": {},
                     "data": [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]}}}
    check(json.loads(dump("json.nc", "--json").stdout) == wanted, "--json: all that is in the file",
          dump("json.nc", "--json").stdout.decode())
    dates = json.loads(dump("json.nc", "--json", "-i", "-v", "time,c", "-n", "other").stdout)
    check(dates["variables"]["time"]["data"] == ["2000-01-01", "2000-01-02T12"] and dates["name"] == "other" and
          "data" in dates["variables"]["c"] and "data" not in dates["variables"]["f"], "--json with -i, -v and -n",
          dates)
    header = json.loads(dump("small.json.nc", "--json", "-h").stdout)
    check(header["unlimited"] == "t" and header["dimensions"]["t"] == 2 and
          not any("data" in v for v in header["variables"].values()), "--json -h: no data", header)
    coordinates = [("x", "int", [0], [], [4, 5]), ("v", "double", [0], [("a", "float", [1 / 3])], [2 / 3, 1e6 / 7])]
    cdf.Writer(1, [("x", 2)], [], coordinates).write("coordinates.nc")
    only = json.loads(dump("coordinates.nc", "--json", "-c").stdout)["variables"]
    check(only["x"]["data"] == [4, 5] and "data" not in only["v"], "--json -c: coordinate variables only", only)
    digits = json.loads(dump("coordinates.nc", "--json", "-p", "2,3").stdout)["variables"]["v"]
    check(digits["data"] == [0.667, 1.43e5] and digits["attributes"]["a"]["data"] == 0.33, "--json -p 2,3", digits)
    cdf.Writer(1, [], [], []).write("empty.nc")
    check(json.loads(dump("empty.nc", "--json").stdout)["variables"] == {}, "--json of an empty file")
    cdf.Writer(1, [("t", None), ("x", 2)], [],
               [("v", "int", [0], [], []), ("c", "char", [0, 1], [], b"")]).write("empty.nc")
    check([v["data"] for v in json.loads(dump("empty.nc", "--json").stdout)["variables"].values()] == [[], []],
          "--json without records")
    names = random_files.random_file(random.Random(4), 5, "random.nc")[1]
    check(sorted(json.loads(dump("random.nc", "--json").stdout)["variables"]) == sorted(names),
          "--json of a random file")


# --- blocks, memory, ranks ---

def test_blocks():
    """More than one block, in rows that fit a block and in one that does not."""
    n = 600000
    cdf.Writer(5, [("t", None), ("n", n), ("x", 7), ("y", 3)], [],
               [("long", "byte", [1], [], [i % 100 for i in range(n)]),
                ("text", "char", [1], [], b"ab\0" * (n // 3 - 1)),
                ("cube", "short", [0, 2, 3], [], [i % 999 for i in range(30000 * 21)]),
                ("row", "ubyte", [0, 1], [], [i % 200 for i in range(n)])], 2).write("blocks.nc")
    compare("blocks.nc", 5, ["", "-v row -b f"], "rows longer than a block")
    cdf.Writer(2, [("t", None), ("x", 7), ("y", 3)], [],
               [("cube", "short", [0, 1, 2], [], [i % 999 for i in range(30000 * 21)])], 30000).write("cube.nc")
    compare("cube.nc", 2, ["", "-b c"], "rows shorter than a block")


def test_memory():
    """getrusage returns the size of the largest process so far: a small file first, then a large one."""
    cdf.Writer(5, [("n", 2)], [], [("c", "char", [0], [], b"a")]).write("memory.nc")
    dump("memory.nc")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    cdf.Writer(5, [("n", 1 << 28)], [], [("c", "char", [0], [], b"a")]).write("memory.nc")
    result = dump("memory.nc")
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(b' c = "a" ;\n' in result.stdout, "a variable of 256 MiB is read to its end", result.stdout[:500])
    check(after - before < 64 * 1024, "in %.0f MiB more than a small one" % ((after - before) / 1024))
    os.remove("memory.nc")


def on_ranks(ranks, *command):
    launcher = os.environ.get("MPIEXEC", "mpiexec").split()
    environment = dict(os.environ)
    if os.environ.get("PNC_TEST_YIELD", "no") != "no":
        environment["LD_PRELOAD"] = os.environ["PNC_TEST_YIELD"]
    return run(launcher + ["-n", str(ranks)] + list(command), env=environment)


def start(ranks, *words):
    """The program with these words; ranks = 0: without a launcher."""
    return on_ranks(ranks, *PROGRAM, *words) if ranks else run([*PROGRAM, *words])


def test_ranks():
    """Ranks share the blocks of the files of test_blocks, whose dumps ncdump has confirmed; one prints, and
    complains."""
    sets = [("blocks.nc", "", (1, 2, 4)), ("cube.nc", "", (2, 4)), ("blocks.nc", "--json", (2,)),
            ("cube.nc", "-b c", (4,)),
            ("blocks.nc", "-l 27 -p 3 -v row,text", (4,)), ("blocks.nc", "-f f -v row", (2,))]
    for name, options, numbers in sets[:3] if QUICK else sets:
        alone = dump(name, *options.split()).stdout
        for ranks in numbers:
            result = on_ranks(ranks, *PROGRAM, *options.split(), name)
            check(result.returncode == 0 and result.stdout == alone,
                  "%s %s: on %d ranks as on one" % (options, name, ranks),
                  "%s\n%s" % (result.stderr, first_difference(alone, result.stdout)))
    for options, words in [(["missing.nc"], b"missing.nc: No such file"),
                           (["-v", "lon", "blocks.nc"], b"no variable lon"), (["-q", "blocks.nc"], b"usage")]:
        result = on_ranks(3, *PROGRAM, *options)
        check(result.returncode != 0 and result.stderr.count(words) == 1, "on 3 ranks one complains: %s" % words,
              result.stderr)
    if os.path.exists("/dev/full"):
        result = on_ranks(4, "sh", "-c", 'exec "$@" > /dev/full', "sh", *PROGRAM, "blocks.nc")
        check(result.returncode != 0 and result.stderr.count(b"cannot write the output") == 1,
              "on 4 ranks a full disk ends all of them", result.stderr)


# --- what goes wrong ---

def fails(command, needle, text, **options):
    result = run(command, **options)
    lines = result.stderr.decode().splitlines()
    check(result.returncode == 1 and lines and lines[0].startswith("ncmpidump: ") and needle in lines[0], text,
          "exit status %d\n%s" % (result.returncode, result.stderr.decode()))


def test_progress():
    """Only on request where stderr is no terminal, and on rank 0 only."""
    for ranks in (0, 3):
        shown, silent = start(ranks, "--progress", "blocks.nc"), start(ranks, "blocks.nc")
        header = start(ranks, "--progress", "-h", "blocks.nc")
        lines = shown.stderr.decode().splitlines()
        check(shown.returncode == 0 and shown.stdout == silent.stdout and not silent.stderr and not header.stderr and
              lines and re.match(r"ncmpidump: 100 % of \d+ MiB, ", lines[-1]), "--progress, %d ranks" % ranks,
              shown.stderr)


# What replaces MPI_Init shows that it was called.
NO_MPI = "#include <unistd.h>\nint MPI_Init(int *argc, char ***argv) { (void)argc; (void)argv; _exit(99); }\n"


def test_without_mpi():
    """A process that no launcher has started does not initialise MPI."""
    with open("no_mpi.c", "w", encoding="ascii") as file:
        file.write(NO_MPI)
    if os.environ.get("PNC_TEST_WRAPPER") or subprocess.run(["cc", "-shared", "-fPIC", "-o", "no_mpi.so", "no_mpi.c"],
                                                            check=False).returncode != 0:
        check(True, "MPI_Init # SKIP no compiler, or a wrapper")
        return
    starts = ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"]
    launchers = ("PMI", "OMPI_COMM", "SLURM_", "HYD", "MPI", "I_MPI", "ALPS", "PALS", "FLUX", "PRTE", "JSM")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(launchers)}
    for name, status in [("OMPI_MCA_x", 0), ("PATHS", 0), *[(name, 99) for name in starts]]:
        result = run([*PROGRAM, "-h", "blocks.nc"], env={**environment, name: "1", "LD_PRELOAD": "./no_mpi.so"})
        check(result.returncode == status, "%s: MPI_Init %s called" % (name, "is" if status else "is not"), result)


def test_bad_files():
    cdf.Writer(1, [("x", 2)], [], [("v", "int", [0], [], [1, 2])]).write("good.nc")
    whole = open("good.nc", "rb").read()
    for name, content in [("nothing.nc", b""), ("text.nc", b"this is no netCDF file, but text\n"),
                          ("cut.nc", whole[:50]), ("hdf5.nc", b"\x89HDF\r\n\x1a\n" + b"\0" * 100)]:
        open(name, "wb").write(content)
        fails(PROGRAM + [name], name + ": ", "%s is refused by name" % name)
    fails(PROGRAM + ["cut.nc"], "byte ", "a cut file is refused with the place")
    for ranks in (0, 3):
        for name in ("nothing.nc", "text.nc", "cut.nc", "hdf5.nc"):
            result = start(ranks, "-k", name)
            check(result.returncode != 0 and result.stdout == b"" and name.encode() in result.stderr,
                  "%s has no kind, %d ranks" % (name, max(1, ranks)), result)
    open("short.nc", "wb").write(whole[:-4])
    result = run([*PROGRAM, "short.nc"])
    check(result.returncode == 0 and b"v = 1, 0 ;" in result.stdout and
          b"short.nc: the file ends at byte %d, but its header describes data up to byte %d" %
          (len(whole) - 4, len(whole)) in result.stderr, "values that are missing", result)
    result = run([*PROGRAM, "-h", "short.nc"])
    check(result.returncode == 0 and result.stderr == b"", "a header has all its values", result)
    fails(PROGRAM + ["missing.nc"], "missing.nc: ", "a missing file")
    fails(PROGRAM + ["."], ".: this is a folder", "a folder")


def test_huge_variables():
    """Sizes that damaged bytes describe: zeros without end are no output."""
    cdf.Writer(5, [("n", 1), ("x", 2)], [], [("a", "short", [1], [], [1, 2]), ("v", "byte", [0], [], [1])],
               0).write("huge.nc")
    cdf.Writer(5, [("t", None), ("x", 2)], [], [("r", "short", [0, 1], [], [1, 2])], 1).write("records.nc")
    for path, offset, number in (("huge.nc", 36, 1 << 53), ("records.nc", 4, 1 << 50)): # length of n, number of records
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(number.to_bytes(8, "big"))
    for path, name in (("huge.nc", b"v"), ("records.nc", b"r")):
        for ranks in (1, 2):
            for options in ([], ["--json"]):
                result = on_ranks(ranks, *PROGRAM, *options, path)
                check(result.returncode != 0 and result.stderr.count(b": variable %s: " % name) == 1
                      and result.stderr.count(b"beyond the end of the file") == 1,
                      "%s is refused, %d ranks, %s" % (path, ranks, options), result.stderr)
        check(run(PROGRAM + ["-h", path]).returncode == 0, "its header is printed")
    check(b"a = 1, 2 ;" in dump("huge.nc", "-v", "a").stdout, "another variable is printed")


def test_growing_file():
    """Another program adds records meanwhile: all ranks print those that rank 0 has found."""
    cdf.Writer(5, [("t", None), ("x", 100000)], [], [("r", "byte", [0, 1], [], [1] * 900000)], 9).write("growing.nc")
    done = threading.Event()

    def change():
        number = 3
        while not done.is_set():
            with open("growing.nc", "r+b") as file:
                file.seek(4)
                file.write(number.to_bytes(8, "big"))
            number = 12 - number

    thread = threading.Thread(target=change)
    thread.start()
    results = [on_ranks(2, *PROGRAM, "growing.nc") for _ in range(3 if QUICK else 10)]
    done.set()
    thread.join()
    check(all(result.returncode == 0 for result in results), "a file that grows is printed on 2 ranks",
          [result.stderr for result in results])


def test_bad_arguments():
    cases = [("-v v,nope", "nope"), ("-v ,", "-v"), ("-l 9", "9"), ("-l x", "x"), ("-p 21", "21"), ("-p 3,", "3,"),
             ("-p 3,0", "3,0"), ("-b x", "-b"), ("-f 1", "-f"), ("-z", "z"), ("-n x good.nc", "a single file")]
    for words, needle in cases:
        fails(PROGRAM + words.split() + ["good.nc"], needle, "refused: %s" % words)
    fails(PROGRAM, "no file", "refused: no argument")
    for ranks in (0, 3):
        one, two = (start(ranks, "good.nc").stdout for _ in range(2))
        done = start(ranks, "good.nc", "missing.nc", "good.nc")
        check(done.returncode == 1 and done.stdout == one + two and done.stderr.count(b"missing.nc: ") == 1,
              "several files, of which one is missing, %d ranks" % max(1, ranks), done)
        done = start(ranks, "-k", "good.nc", "good.nc")
        check(done.returncode == 0 and done.stdout == b"good.nc: classic\n" * 2, "-k of several files", done)
    cdf.Writer(1, [], [], [("salinity", "int", [], [], [1]), ("temperature", "int", [], [], [2])]).write("two.nc")
    fails(PROGRAM + ["-v", "Temprature", "two.nc"], "did you mean temperature?", "a mistyped name is guessed")
    fails(PROGRAM + ["-v", "velocity", "two.nc"], "no variable velocity in this file (", "another one is not")
    for word in ("--help", "--version"):
        result = run(PROGRAM + [word])
        check(result.returncode == 0 and b"ncmpidump" in result.stdout and not result.stderr, word)
    result = dump("good.nc", "-v", "x", "-v", ",v,,")
    check(result.returncode == 0 and b"\n v = 1, 2 ;" in result.stdout, "the last -v counts, empty names do not")


def test_bad_output():
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            fails(PROGRAM + ["good.nc"], "cannot write the output", "a full disk is an error", stdout=full)
    reader, writer = os.pipe()
    os.close(reader)
    result = run(PROGRAM + ["good.nc"], stdout=writer)
    os.close(writer)
    check(result.returncode == -signal.SIGPIPE and not result.stderr, "a closed pipe ends it silently", result)
    cdf.Writer(1, [("x", 3000000)], [], [("v", "int", [0], [], [7] * 3000000)]).write("big.nc")
    with open("good.nc", "ab") as out:
        fails(PROGRAM + ["good.nc"], "is the input and the output", ">> its input", stdout=out)
    statuses = []
    for program in (PROGRAM, ["ncdump"]):
        with subprocess.Popen(program + ["big.nc"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            first = process.stdout.readline()
            process.stdout.close() # as `head -1` does
            err = process.stderr.read()
            statuses.append((first, process.wait(), err))
    check(statuses[0] == statuses[1] == (b"netcdf big {\n", -signal.SIGPIPE, b""), "| head -1, as ncdump", statuses)
    os.remove("big.nc")


def test_real_files():
    if not os.path.isdir(DATA):
        print("ok - real files # SKIP no folder %s (PNC_TEST_DATA)" % DATA)
        return
    for name in sorted(os.listdir(DATA)):
        path = os.path.join(DATA, name)
        if not name.endswith(".nc"):
            continue
        if name.startswith("bad"):
            fails(PROGRAM + [path], name, "%s is refused" % name)
            continue
        version = open(path, "rb").read(4)[3]
        scalars = re.findall(r"^\t\w+ (\S+) ;$", run(["ncdump", "-h", path]).stdout.decode(), re.M)
        options = REAL_OPTIONS[:3] if QUICK or os.path.getsize(path) > 500000 else REAL_OPTIONS
        compare(path, version, options, name, scalars)


def main():
    if not shutil.which("ncdump") or not shutil.which("ncgen"):
        print("ok - all # SKIP ncdump and ncgen are not installed (Debian: netcdf-bin)")
        return 0
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    tests = [test_small_files, test_round_trip, test_random_files, test_names_of_files, test_harmful_formats,
             test_times, test_kinds_of_times, test_special, test_digits, test_json, test_blocks, test_ranks,
             test_progress, test_without_mpi, test_bad_files, test_huge_variables, test_growing_file,
             test_bad_arguments, test_bad_output, test_real_files]
    if not QUICK:
        tests.append(test_memory)
    for test in tests:
        test()
    return 1 if failures else 0


sys.exit(main())
