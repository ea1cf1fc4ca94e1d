"""ncmpicopy with several inputs, whose numbers mean different things, and the same inputs for ncoffsets --kerchunk. The
results are compared with what netCDF4 reads from the inputs, with dates of cftime, and with fractions of Python, which
have no rounding errors."""
import glob
import os
import random
import re
import sys
from fractions import Fraction

import cftime
import netCDF4
import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cdf
import tap
import tool

SECONDS = {"nanoseconds": Fraction(1, 10**9), "milliseconds": Fraction(1, 1000), "s": 1, "seconds": 1, "minutes": 60,
           "Hours": 3600, "h": 3600, "days": 86400, "day": 86400, "weeks": 604800}
NUMPY = {"byte": "i1", "short": "i2", "int": "i4", "float": "f4", "double": "f8", "ubyte": "u1", "ushort": "u2",
         "uint": "u4", "int64": "i8", "uint64": "u8"}


def text(**attributes):
    return [(name, "char", words.encode()) for name, words in attributes.items()]


def write(path, variables, numrecs=None, version=1, x=2):
    """variables: (name, type, dimensions, attributes, values); a dimension is t, x or n, of length 2."""
    if numrecs is None:
        numrecs = max([len(v[4]) // (x if "x" in v[2] else 2 if "n" in v[2] else 1)
                       for v in variables if v[2][:1] == "t"] or [1])
    dims = [("t", None), ("x", x), ("n", 2)]
    made = [(name, kind, ["txn".index(d) for d in of], atts, values) for name, kind, of, atts, values in variables]
    cdf.Writer(version, dims, [], made, numrecs).write(path)


def run(ranks, *arguments):
    if ranks == 1:
        done = tool.run("ncmpicopy", *arguments)
        return done.returncode, done.stderr.decode(errors="replace")
    status, out, err = tap.run_mpi(ranks, "src/tools/ncmpicopy/ncmpicopy", *arguments)
    return status, out + err


def read(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        file.set_auto_scale(False)
        return numpy.asarray(file.variables[name][...])


def meaning(path, name):
    """What netCDF4 makes of the numbers: missing values masked, and unpacked."""
    with netCDF4.Dataset(path) as file:
        return numpy.ma.masked_array(file.variables[name][...])


def join(label, files, lines=(), options=()):
    """Whether the files are joined, alike on 1 and 3 ranks, with these lines and no others."""
    results = []
    for ranks in (1, 3):
        status, err = run(ranks, "--no-history", "--verify", "-O", *options, *files, "out.nc")
        printed = [line for line in err.splitlines() if line.startswith("ncmpicopy: ")]
        good = status == 0 and len(printed) == len(lines) and all(word in line for word, line in zip(lines, printed))
        if not tap.ok(good, "%s, on %d ranks" % (label, ranks), "exit status %d\n%s" % (status, err)):
            return False
        with open("out.nc", "rb") as file:
            results.append(file.read())
    return tap.ok(results[0] == results[1], label + ": the same on 1 and 3 ranks")


def refuse(label, files, *words, options=(), ranks=(1,), kerchunk=True):
    """One message, perhaps after notes, which has the words, and no output; ncoffsets --kerchunk refuses too."""
    def check(what, status, err):
        lines = [line for line in err.splitlines() if line.startswith(("ncmpicopy: ", "ncoffsets: "))]
        notes = [" are converted from " in line or " is repacked from " in line for line in lines]
        tap.ok(status == 1 and lines and all(notes[:-1]) and all(word in lines[-1] for word in words) and
               not glob.glob("none.nc*"), what, "exit status %d\n%s" % (status, err))
    for n in ranks:
        check("%s, refused on %d ranks" % (label, n), *run(n, *options, *files, "none.nc"))
    if kerchunk:
        done = tool.run("ncoffsets", "--kerchunk", *files)
        tap.ok(done.returncode == 1 and words[0] in done.stderr.decode(), label + ": refused by --kerchunk",
               done.stderr)


def refuse_strictly(label, files, *words):
    status, err = run(3, "--strict", *files, "none.nc")
    tap.ok(status == 1 and "--strict" in err and all(word in err for word in words) and not glob.glob("none.nc*"),
           label + ": refused with --strict", err)
    done = tool.run("ncoffsets", "--kerchunk", *files)
    err = done.stderr.decode()
    tap.ok(done.returncode == 1 and "references cannot convert" in err and all(word in err for word in words),
           label + ": refused by --kerchunk", err)


def same_meaning(label, name, files, tolerance):
    ours, theirs = meaning("out.nc", name), numpy.ma.concatenate([meaning(path, name) for path in files])
    missing = numpy.array_equal(numpy.ma.getmaskarray(ours), numpy.ma.getmaskarray(theirs))
    apart = numpy.ma.filled(numpy.ma.abs(ours - theirs), 0).max()
    tap.ok(missing and apart <= tolerance, label + ": netCDF4 reads the same values", (ours, theirs))


# --- packed values ---

def packing(scale, offset, fill=None, kind="short"):
    return [("scale_factor", "double", [scale]), ("add_offset", "double", [offset]),
            *([("_FillValue", kind, [fill])] if fill is not None else [])]


def nearest(value):
    """The nearest integers: one, or two."""
    low = value.numerator // value.denominator
    return {low} if value - low < Fraction(1, 2) else {low + 1} if value - low > Fraction(1, 2) else {low, low + 1}


def test_packing():
    write("a.nc", [("v", "short", "t", packing(.01, 273.15, -32767), [0, 1, -32767, 500])])
    write("b.nc", [("v", "short", "t", packing(.002, 270., -32767), [0, 1, -32767, 32767, -32768, 1575])])
    line = ("b.nc: variable v: is repacked from scale_factor 0.002 and add_offset 270 to 0.01 and 273.15, as in a.nc; "
            "values change by at most 0.005")
    if join("scale_factor", ["a.nc", "b.nc"], [line]):
        same_meaning("scale_factor", "v", ["a.nc", "b.nc"], .005000001)
    refuse_strictly("scale_factor", ["a.nc", "b.nc"], "b.nc: v:scale_factor is 0.002, but 0.01 in a.nc")
    write("c.nc", [("v", "short", "t", [], [300, 200])])
    if join("no scale_factor", ["a.nc", "c.nc"], ["v: is repacked from scale_factor 1 and add_offset 0"]):
        same_meaning("no scale_factor", "v", ["a.nc", "c.nc"], .005000001)
    write("far.nc", [("v", "short", "tx", packing(.02, 500., -32767), [-32767, -4000, 5, 5, 6, 30000])])
    write("near.nc", [("v", "short", "tx", packing(.01, 273.15, -32767), [0, 0])])
    refuse("a value that cannot be packed", ["near.nc", "far.nc"],
           "far.nc: variable v at [2, 1]: value 30000 is out of the range of type short", ranks=(1, 3),
           kerchunk=False)
    write("fill.nc", [("v", "short", "t", packing(1., 0.), [7, -32766, -32765])])
    write("hits.nc", [("v", "short", "t", packing(1., -1., -999), [-999, 4, -32766])])
    refuse("a value that would become missing", ["fill.nc", "hits.nc"],
           "hits.nc: variable v at [2]: value -32766 would become -32767, a missing value in the first file",
           kerchunk=False)
    for name, bad in (("zero", 0.), ("nan", float("nan"))):
        write(name + ".nc", [("v", "short", "t", packing(bad, 0., -32767), [1])])
        refuse("scale_factor " + name, ["a.nc", name + ".nc"], name + ".nc: v:scale_factor", kerchunk=False)
    write("unsigned1.nc", [("v", "byte", "t", packing(1., 0.) + text(_Unsigned="true"), [1])])
    write("unsigned2.nc", [("v", "byte", "t", packing(2., 0.) + text(_Unsigned="true"), [1])])
    refuse("_Unsigned", ["unsigned1.nc", "unsigned2.nc"], "unsigned2.nc: v:scale_factor is 2, but 1 in unsigned1.nc")


def draw_packed(kind, n, draw, numpy_draw):
    """Attributes in two files, numbers in the second one, and the nearest packed values of each in the first one."""
    limits = numpy.iinfo(NUMPY[kind])
    wide = min(int(limits.max), 10**5)
    numbers = numpy_draw.integers(wide // 4, wide // 2, n).astype(NUMPY[kind])
    while True:
        first = packing(draw.choice([.01, -.25, 3.]), draw.uniform(-9, 9))
        other = packing(first[0][2][0] * draw.choice([.2, -.3, 1.]), first[1][2][0] + draw.uniform(0, 3))
        s, o, s1, o1 = (Fraction(a[2][0]) for a in other + first)
        ends = [(p * s + o - o1) / s1 for p in (wide // 4, wide // 2)]
        if limits.min + 1 < min(ends) and max(ends) < limits.max - 1:
            return first, other, numbers, [nearest((int(p) * s + o - o1) / s1) for p in numbers]


def test_packing_random():
    """Integers and fractions: each result is the nearest packed value. More values than a block has."""
    draw, numpy_draw = random.Random(7), numpy.random.default_rng(7)
    kinds = ("byte", "short", "int", "ushort", "int64", "uint64")
    drawn = [(kind, *draw_packed(kind, 500, draw, numpy_draw)) for kind in kinds]
    reals = {kind: numpy_draw.normal(size=500).astype(NUMPY[kind]) for kind in ("float", "double")}
    write("a.nc", [("v_" + kind, kind, "t", atts, [1, 2, 3]) for kind, atts, _, _, _ in drawn] +
          [("v_" + kind, kind, "t", packing(.1, 3.), [1, 2, 3]) for kind in reals], version=5)
    write("b.nc", [("v_" + kind, kind, "t", atts, numbers.tolist()) for kind, _, atts, numbers, _ in drawn] +
          [("v_" + kind, kind, "t", packing(.3, -1.), numbers.tolist()) for kind, numbers in reals.items()], version=5)
    if join("repacked", ["a.nc", "b.nc"], 3 * ["is repacked"] + ["and 5 more like it"]):
        for kind, _, _, _, wanted in drawn:
            result = read("out.nc", "v_" + kind)
            tap.ok(all(int(r) in w for r, w in zip(result[3:], wanted)), "repacked %s: the nearest values" % kind)
        for kind, numbers in reals.items():
            wanted = [rounded((Fraction(float(p)) * Fraction(.3) - 1 - 3) / Fraction(.1), kind) for p in numbers]
            tap.ok(read("out.nc", "v_" + kind)[3:].tolist() == wanted, "repacked %s: rounded correctly" % kind)
    numbers = numpy_draw.integers(-9999, 9999, 700001).astype("i2")
    write("a.nc", [("v", "short", "t", packing(.01, 20.), [1, 2, 3])])
    write("b.nc", [("v", "short", "t", packing(.03, 10.), numbers.tolist())])
    if join("a large variable", ["a.nc", "b.nc"], ["is repacked"]):
        exact = ((numbers.astype("f8") * .03 + 10) - 20) / .01
        tap.ok(numpy.abs(read("out.nc", "v")[3:] - exact).max() < .5001, "a large variable: all values")


# --- missing values ---

def test_missing():
    fill = lambda kind, value: [("_FillValue", kind, [value])]
    missing = lambda kind, *values: [("missing_value", kind, list(values))]
    nan = float("nan")
    rows = [
        ("float", fill("float", 1e20), fill("float", -999), [3, -999, 4], [3, 1e20, 4]),
        ("int", fill("int", -1), fill("int", -999), [3, -999, 4], [3, -1, 4]),
        ("short", [], fill("short", -999), [-999, 5, 3], [-32767, 5, 3]),
        ("short", fill("short", -999), [], [-32767, 5, 3], [-999, 5, 3]),
        ("double", fill("double", nan), fill("double", -1), [-1, 2, 5], [nan, 2, 5]),
        ("double", fill("double", -1), fill("double", nan), [2, nan, 5], [2, -1, 5]),
        ("int", missing("int", -1), missing("int", -999), [3, -999, 4], [3, -1, 4]),
        ("int", fill("int", -5) + missing("int", -1, -2), fill("int", -6) + missing("int", -3, -2), [-6, -3, -2],
         [-5, -1, -2]),
        ("short", missing("double", -1.), missing("int", -999), [3, -999, -32767], [3, -1, -32767]),
        ("int64", fill("int64", 2**62 + 1), fill("int64", 2**62 + 3), [2**62 + 3, 2**62 + 2, 1],
         [2**62 + 1, 2**62 + 2, 1]),
        ("byte", fill("byte", -1), fill("byte", -9), [3, -9, 4], [3, -1, 4]),
        ("char", [("_FillValue", "char", b"-")], [("_FillValue", "char", b"*")], b"a*b", b"a-b"),
    ]
    for path, which, n in (("a.nc", 1, 0), ("b.nc", 2, 3)):
        write(path, [("v%d" % i, row[0], "t", row[which], row[3][:n]) for i, row in enumerate(rows)], n, version=5)
    if join("missing values", ["a.nc", "b.nc"], 3 * ["missing values are converted from"] + ["and 9 more like it"]):
        for i, (kind, _, _, _, wanted) in enumerate(rows):
            result = read("out.nc", "v%d" % i)
            if kind == "char":
                tap.ok(result.tobytes() == wanted, "missing characters", result)
                continue
            expected = numpy.array(wanted, NUMPY[kind])
            same = numpy.array_equal(result, expected, equal_nan=kind == "double")
            tap.ok(same, "missing values: row %d" % i, result)
            same_meaning("missing values: row %d" % i, "v%d" % i, ["b.nc"], 0)
    for i, name in ((0, "_FillValue"), (3, "_FillValue"), (6, "missing_value")):
        for path, which in (("a.nc", 1), ("b.nc", 2)):
            write(path, [("v", rows[i][0], "t", rows[i][which], [1])])
        refuse_strictly("missing values: row %d" % i, ["a.nc", "b.nc"], "b.nc: v:" + name)
    write("a.nc", [("v", "double", "t", fill("double", nan), [1])])
    write("b.nc", [("v", "double", "t", fill("double", -1), [1, nan])])
    refuse("NaN beside another _FillValue", ["a.nc", "b.nc"],
           "b.nc: variable v at [1]: value NaN would become NaN, a missing value", kerchunk=False)
    write("a.nc", [("v", "int", "t", fill("int", -1), [1])])
    write("b.nc", [("v", "int", "t", fill("int", -999), [-999, -1])])
    refuse("a number that is the fill value of the first file", ["a.nc", "b.nc"],
           "b.nc: variable v at [1]: value -1 would become -1, a missing value in the first file", kerchunk=False)
    write("a.nc", [("v", "byte", "t", [], [-1])])
    write("b.nc", [("v", "byte", "t", fill("byte", -2), [-1, -2])])
    refuse("a type without a fill value", ["a.nc", "b.nc"],
           "b.nc: variable v at [1]: value -2 is missing, but the variable has no missing value", kerchunk=False)
    write("a.nc", [("v", "float", "t", [("valid_max", "float", [10])], [1])])
    write("b.nc", [("v", "float", "t", [("valid_max", "float", [20])], [2, 15])])
    refuse("values that are valid in one file", ["a.nc", "b.nc"], "b.nc: variable v at [1]: value 15", kerchunk=False)
    write("b.nc", [("v", "float", "t", [("valid_max", "float", [20])], [2, 3])])
    join("other valid values, which do not matter", ["a.nc", "b.nc"])
    write("a.nc", [("v", "short", "t", packing(.5, 0., -1), [1])])
    write("b.nc", [("v", "short", "t", packing(1., 0., -999), [-999, 7])])
    if join("packed and missing", ["a.nc", "b.nc"], ["is repacked", "missing values are converted from -999 to -1"]):
        tap.ok(read("out.nc", "v").tolist() == [1, -1, 14], "packed and missing: values", read("out.nc", "v"))
    write("a.nc", [("v", "int", "t", fill("int", -2147483647), [1])])
    write("b.nc", [("v", "int", "t", [], [-2147483647, 7])])
    join("the default as an attribute", ["a.nc", "b.nc"])


# --- times ---

def rounded(value, kind):
    """The nearest number of a type to a fraction; None where an integer type has none."""
    if kind not in ("float", "double"):
        limits = numpy.iinfo(NUMPY[kind])
        return int(value) if value.denominator == 1 and limits.min <= value <= limits.max else None
    near = float(value)
    if kind == "float":
        guess = numpy.float32(near)
        around = [numpy.nextafter(guess, numpy.float32(-numpy.inf)), guess,
                  numpy.nextafter(guess, numpy.float32(numpy.inf))]
        best = min(abs(Fraction(float(x)) - value) for x in around)
        ties = [x for x in around if abs(Fraction(float(x)) - value) == best]
        near = float(min(ties, key=lambda x: int(x.view("u4")) & 1))
    return near


def draw_date(draw, calendar):
    """A date of cftime and its text."""
    year = draw.choice([1, 1500, 1582, 1583, 1900, 1970, 2000, 2001, draw.randint(1, 3000)])
    month = draw.randint(1, 12)
    while True:
        try:
            date = cftime.datetime(year, month, draw.randint(1, 31), draw.randint(0, 23), draw.randint(0, 59),
                                   draw.randint(0, 59), calendar=calendar)
            break
        except ValueError:
            pass
    words = "%04d-%02d-%02d" % (date.year, date.month, date.day)
    zone = draw.choice(["", "", "", "Z", " UTC", " +05:30", " -06:00"])
    form = draw.randrange(5)
    shift = 0 if form == 0 else {" +05:30": -19800, " -06:00": 21600}.get(zone, 0)
    if form == 0:
        date = date.replace(hour=0, minute=0, second=0)
    elif form == 1:
        date = date.replace(second=0)
        words += " %d:%d%s" % (date.hour, date.minute, zone)
    else:
        words += "%s%02d:%02d:%02d%s" % ("T" if form == 2 else " ", date.hour, date.minute, date.second,
                                         ".25" * (form == 4) + zone)
        shift += Fraction(1, 4) if form == 4 else 0
    return date, shift, words


def seconds_between(a, b):
    """Exactly, from dates and shifts."""
    span = a[0] - b[0]
    return span.days * 86400 + span.seconds + Fraction(span.microseconds, 10**6) + a[1] - b[1]


def draw_times(draw):
    """Attributes and numbers of a variable whose times are in other units, and what they become."""
    names = draw.choice([["standard", "gregorian", "Gregorian", None], ["proleptic_gregorian"], ["noleap", "365_day"],
                         ["all_leap", "366_day"], ["360_day"], ["julian"]])
    epochs = [draw_date(draw, names[0]) for _ in range(2)]
    units = [draw.choice(list(SECONDS)) for _ in range(2)]
    kind = draw.choice(["int", "float", "double", "double", "int64", "short"])
    whole = kind not in ("float", "double")
    numbers = [draw.randint(-1000, 30000) if whole else draw.choice([draw.uniform(-1e5, 1e5), .1, 1e-9, 0.])
               for _ in range(20)]
    numbers = numpy.array(numbers, NUMPY[kind]).tolist()
    texts = ["%s since %s" % (u, e[2]) for u, e in zip(units, epochs)]
    atts = [text(units=words) for words in texts]
    for own in atts:
        name = draw.choice(names)
        own += text(calendar=name) if name else []
    shift = seconds_between(epochs[1], epochs[0])
    wanted = [rounded((Fraction(x) * SECONDS[units[1]] + shift) / SECONDS[units[0]], kind) for x in numbers]
    return kind, atts, numbers, wanted, names[0], texts


def same_dates(numbers, result, calendar, texts):
    dates = [cftime.num2date(numbers[:5], texts[1], calendar), cftime.num2date(result[:5], texts[0], calendar)]
    apart = max(abs((x - y).total_seconds()) for x, y in zip(*dates))
    tap.ok(apart < .01, "%s to %s: the same dates in cftime" % (texts[1], texts[0]), (apart, dates))


def test_times_random():
    draw = random.Random(11)
    cases = [draw_times(draw) for _ in range(100 if tap.is_quick() else 400)]
    good = [case for case in cases if None not in case[3]]
    bad = [case for case in cases if None in case[3]][:10 if tap.is_quick() else 40]
    changed = [case for case in good if case[2] != case[3]]
    tap.ok(len(changed) > 20 and len(bad) > 5, "times of all kinds", (len(changed), len(bad)))
    write("a.nc", [("v%d" % i, case[0], "t", case[1][0], []) for i, case in enumerate(good)], 0, version=5)
    write("b.nc", [("v%d" % i, case[0], "t", case[1][1], case[2]) for i, case in enumerate(good)], version=5)
    status, err = run(3, "--verify", "-O", "a.nc", "b.nc", "out.nc")
    for i, (kind, _, numbers, wanted, calendar, texts) in enumerate(good):
        result = read("out.nc", "v%d" % i).tolist() if status == 0 else []
        tap.ok(result == wanted, "%s, %s: %s to %s" % (kind, calendar, texts[1], texts[0]),
               (err, [x for x in zip(numbers, result, wanted) if x[1] != x[2]][:3]))
        if kind == "double" and {"weeks", "nanoseconds"}.isdisjoint(words.split()[0] for words in texts):
            same_dates(numbers, result, calendar, texts)
    for kind, atts, numbers, wanted, calendar, texts in bad:
        write("a.nc", [("v", kind, "t", atts[0], [])], 0, version=5)
        write("b.nc", [("v", kind, "t", atts[1], numbers)], version=5)
        status, err = run(1, "-O", "a.nc", "b.nc", "out.nc")
        at = "b.nc: variable v at [%d]: " % wanted.index(None)
        tap.ok(status == 1 and at in err and ("is not an integer" in err or "out of the range" in err),
               "%s, %s: %s to %s: refused" % (kind, calendar, texts[1], texts[0]), err)


def test_times():
    days = text(units="days since 2000-01-01", calendar="standard")
    write("a.nc", [("t", "double", "t", days + text(bounds="t_bnds"), [0, 1]), ("t_bnds", "double", "tn", [],
                   [-.5, .5, .5, 1.5]), ("reached", "float", "tx", text(units="days since 2000-01-01"), [3] * 4)])
    hours = text(units="hours since 2000-01-03 12:00")
    write("b.nc", [("t", "double", "t", hours + text(bounds="t_bnds"), [0, 24]), ("t_bnds", "double", "tn", [],
                   [-12, 12, 12, 36]), ("reached", "float", "tx", text(units="seconds since 2000-01-01"),
                   [86400, 0, 43200, 1])])
    said = "b.nc: variable %s: times are converted from"
    if join("time and its bounds", ["a.nc", "b.nc"], [said % "t", said % "t_bnds", said % "reached"]):
        tap.ok(read("out.nc", "t").tolist() == [0, 1, 2.5, 3.5] and read("out.nc", "t_bnds")[2:].tolist() ==
               [[2, 3], [3, 4]] and read("out.nc", "reached")[2:].ravel().tolist() ==
               [1, 0, .5, float(numpy.float32(1 / 86400))], "time and its bounds: values",
               (read("out.nc", "t"), read("out.nc", "t_bnds"), read("out.nc", "reached")))
        dates = []
        for path in ("a.nc", "b.nc", "out.nc"):
            with netCDF4.Dataset(path) as file:
                dates.append(netCDF4.num2date(file["t"][:], file["t"].units, "standard").tolist())
        tap.ok(dates[0] + dates[1] == dates[2], "time and its bounds: netCDF4 reads the same dates", dates)
    join("the same in another order", ["b.nc", "a.nc"], ["a.nc: variable t:", "a.nc: variable t_bnds:",
                                                         "a.nc: variable reached:"])
    refuse_strictly("times", ["a.nc", "b.nc"], 'b.nc: t:units is "hours since 2000-01-03 12:00", but "days since '
                    '2000-01-01" in a.nc')
    if join("a part, in another type", ["a.nc", "b.nc"], [said % "t", said % "t_bnds", said % "reached"],
            ["-d", "t,1,,2", "-t", "t:float"]):
        tap.ok(read("out.nc", "t").tolist() == [1, 3.5], "a part, in another type: values", read("out.nc", "t"))
    write("whole.nc", [("t", "int", "t", days, [0, 1])])
    write("half.nc", [("t", "int", "t", hours, [12, 0])])
    refuse("half days as integers", ["whole.nc", "half.nc"],
           'half.nc: variable t at [1]: time 0 is not an integer in "days since 2000-01-01"', "-t VARIABLE:double",
           kerchunk=False)
    write("far.nc", [("t", "short", "t", text(units="days since 1900-01-01"), [0])])
    write("late.nc", [("t", "short", "t", text(units="days since 2000-01-01"), [0])])
    refuse("days that a short cannot hold", ["far.nc", "late.nc"],
           "late.nc: variable t at [0]: value 0 is out of the range of type short with the units", kerchunk=False)
    write("gap1.nc", [("t", "double", "t", text(units="days since 1582-10-04"), [0])])
    write("gap2.nc", [("t", "double", "t", text(units="days since 1582-10-15"), [0])])
    if join("the reform of the calendar", ["gap1.nc", "gap2.nc"], [said.replace("b.nc", "gap2.nc") % "t"]):
        tap.ok(read("out.nc", "t").tolist() == [0, 1], "the reform of the calendar: values", read("out.nc", "t"))


def test_same_times():
    """Texts that mean the same."""
    rows = []
    for first, other in (("days since 2000-01-01", "days since 2000-1-1 00:00:00.0 UTC"),
                         ("hours since 2000-01-01 06:00 +06:00", "hour since 2000-01-01T00:00:00Z"),
                         ("days since 2000-01-01", "days since 1999-12-31 20:00 -4"),
                         ("days since 2000-01-01", "days since 2000-01-01 05:30 +0530"),
                         ("days since 2000-01-01", "days since 2000-01-01  \0"),
                         ("months since 2000-01-01", "months since 2000-01-01")):
        for calendars in ([], ["gregorian", "standard"], ["365_day", "noleap"]):
            rows.append([text(units=units) + [a for c in calendar for a in text(calendar=c)]
                         for units, calendar in ((first, calendars[:1]), (other, calendars[1:]))])
    for i, path in enumerate(("a.nc", "b.nc")):
        write(path, [("t%d" % k, "int", "t", row[i], [5]) for k, row in enumerate(rows)])
    join("texts that mean the same", ["a.nc", "b.nc"])
    done = tool.run("ncoffsets", "--kerchunk", "a.nc", "b.nc")
    tap.ok(done.returncode == 0, "the same for --kerchunk", done.stderr)


def test_other_times():
    """What is not converted."""
    for first, other, calendars, words in (
            ("days since 2000-01-01", "days since 2000-01-01", ("noleap", "standard"),
             'b.nc: t:calendar is "standard", but "noleap" in a.nc: times of different calendars'),
            ("days since 2000-01-01", "days since 2000-01-01", ("360_day", None),
             'b.nc: t:calendar is missing, but "360_day" in a.nc'),
            ("days since 2000-01-01", "days since 2000-01-02", ("none", "none"), "can only be converted"),
            ("months since 2000-01-01", "months since 2001-01-01", (None, None), "nanoseconds to weeks"),
            ("days since 2000-01-01", "years since 2000-01-01", (None, None), "nanoseconds to weeks"),
            ("days since 2000-01-01", "days since 2001-02-29", (None, None), "dates of the calendar"),
            ("days since 2000-01-01", "days since 2000-02-29", ("noleap", "noleap"), "dates of the calendar"),
            ("days since 2000-01-01", "days since 1582-10-10", ("standard", "standard"), "dates of the calendar"),
            ("days since 2000-01-01", "days since 0000-01-01", (None, None), "dates of the calendar"),
            ("days since 2000-01-01", "days since 2000-01-01 25:00", (None, None), "dates of the calendar"),
            ("days since 2000-01-01", "days since 2000-01-01 EST", (None, None), "dates of the calendar"),
            ("days since 2000-01-01", "days since 2000", (None, None), "dates of the calendar"),
            ("days since 2000-01-01", "days", (None, None), "only units of time"),
            ("days since 2000-01-01", None, (None, None), 'b.nc: t:units is missing, but "days since')):
        for name, units, calendar in (("a.nc", first, calendars[0]), ("b.nc", other, calendars[1])):
            atts = (text(units=units) if units else []) + (text(calendar=calendar) if calendar else [])
            write(name, [("t", "int", "t", atts, [5])])
        refuse("%s and %s, %s" % (first, other, calendars), ["a.nc", "b.nc"], words)
    packed = packing(.5, 0.)
    write("a.nc", [("t", "int", "t", text(units="days since 2000-01-01") + packed, [5])])
    write("b.nc", [("t", "int", "t", text(units="days since 2000-01-02") + packed, [5])])
    refuse("packed times", ["a.nc", "b.nc"], "without scale_factor", ranks=(3,))


# --- what is never converted ---

def test_refused():
    v = lambda *atts: ("v", "float", "tx", list(atts), [1, 2])
    x = lambda values, kind="double", *atts: ("x", kind, "x", list(atts), values)
    write("a.nc", [v(*text(units="K")), x([1, 2])])
    for label, variables, words, options in (
            ("other units", [v(*text(units="degC")), x([1, 2])],
             'b.nc: v:units is "degC", but "K" in a.nc: only units of time', {}),
            ("shifted coordinates", [v(*text(units="K")), x([1, 3])],
             "b.nc: coordinate variable x has the value 3 at [1], but 2 in a.nc", {}),
            ("coordinates of another type", [v(*text(units="K")), x([1, 2], "int")],
             "b.nc: variable x has type int, but another type in a.nc, double", {}),
            ("coordinates in other units", [v(*text(units="K")), x([1, 2], "double", *text(units="km"))],
             'b.nc: x:units is "km", but missing in a.nc', {}),
            ("packed coordinates", [v(*text(units="K")), x([1, 2], "double", *packing(2., 0.))],
             "b.nc: x:scale_factor is 2, but missing in a.nc", {}),
            ("another type", [("v", "double", "tx", text(units="K"), [1, 2]), x([1, 2])],
             "b.nc: variable v has type double, but another type in a.nc, float", {}),
            ("another shape", [("v", "float", "t", text(units="K"), [1, 2]), x([1, 2])],
             "b.nc: variable v has the dimensions (t=2), but other dimensions in a.nc, (t=1, x=2)", {}),
            ("another length", [v(*text(units="K"))], "(t=1, x=3), but other dimensions in a.nc, (t=1, x=2)",
             {"x": 3, "numrecs": 1}),
            ("no such variable", [x([1, 2])], "b.nc: no variable v in this file, but in a.nc", {"numrecs": 1}),
            ("_Unsigned", [v(*text(units="K", _Unsigned="true")), x([1, 2])],
             'b.nc: v:_Unsigned is "true", but missing in a.nc', {})):
        write("b.nc", variables, **options)
        refuse(label, ["a.nc", "b.nc"], words)
    write("a.nc", [v(("flag_values", "byte", [1, 2]), *text(flag_meanings="land sea"))])
    write("b.nc", [v(("flag_values", "byte", [1, 2]), *text(flag_meanings="sea land"))])
    refuse("flags", ["a.nc", "b.nc"], 'b.nc: v:flag_meanings is "sea land", but "land sea" in a.nc')
    for label, name, kind, of, values in (("auxiliary coordinates", "lon", "float", "xn", [[0] * 4, [0, 0, 0, 1]]),
                                          ("a scalar coordinate", "height", "double", "", [[2], [10]])):
        for path, numbers in zip(("a.nc", "b.nc"), values):
            write(path, [v(*text(coordinates="time lon height")), (name, kind, of, [], numbers)])
        refuse(label, ["a.nc", "b.nc"], "b.nc: coordinate variable %s has the value" % name)
        join(label + ", not selected", ["a.nc", "b.nc"], options=["-V", "v"])
    for path, angle in (("a.nc", 10), ("b.nc", 12)):
        write(path, [v(*text(grid_mapping="crs")), ("crs", "int", "", [("longitude_of_center", "double", [angle]),
                                                                       *text(comment=path)], [0])])
    refuse("a grid mapping", ["a.nc", "b.nc"], "b.nc: crs:longitude_of_center is 12, but 10 in a.nc")
    write("long1.nc", [("x", "double", "x", [], [i / 7 for i in range(600001)]), ("t", "int", "t", [], [1])], x=600001)
    write("long2.nc", [("x", "double", "x", [], [i / 7 for i in range(600000)] + [0]), ("t", "int", "t", [], [1])],
          x=600001)
    refuse("the last of many values", ["long1.nc", "long2.nc"], "coordinate variable x has the value 0 at [600000]",
           ranks=(1, 3))
    join("many equal values", ["long1.nc", "long1.nc"])


def test_left_out():
    """Data of later files that the output cannot have: a warning, and no input is replaced."""
    write("a.nc", [("v", "int", "t", [], [1]), ("f", "int", "x", [], [1, 2]), ("same", "int", "x", [], [1, 2])])
    write("b.nc", [("v", "int", "t", [], [2]), ("f", "int", "x", [], [1, 3]), ("same", "int", "x", [], [1, 2]),
                   ("w", "int", "t", [], [4])])
    both = ["variable w is left out: a.nc does not have it",
            "f is left out, and differs from that in a.nc: 3 at [1], not 2"]
    join("data that are left out", ["a.nc", "b.nc"], both)
    join("some of them are not selected", ["a.nc", "b.nc"], both[1:], ["-V", "v,f"])
    status, err = run(3, "-O", "a.nc", "b.nc", "b.nc")
    tap.ok(status == 1 and "is an input, and the copy does not have all of it" in err, "an input with them stays", err)
    status, err = run(3, "--strict", "a.nc", "b.nc", "none.nc")
    tap.ok(status == 1 and "--strict leaves out no variable" in err and not glob.glob("none.nc*"),
           "a variable of one file: refused with --strict", err)
    status, err = run(3, "--strict", "-V", "v,f", "a.nc", "b.nc", "none.nc")
    tap.ok(status == 1 and re.search(r"variable f differs from that in a.nc: 3 at \[1\], not 2: --strict", err),
           "other data: refused with --strict", err)
    join("all is the same", ["a.nc", "a.nc"], options=["--strict"])


def test_many():
    """Inputs with times of their own: three lines of each kind, and the number of the others."""
    files = []
    for i in range(12):
        files.append("m%02d.nc" % i)
        write(files[-1], [("t", "int", "t", text(units="days since 2000-01-%02d" % (i + 1)), [0, 0])])
    status, err = run(3, "-O", *files, "out.nc")
    tap.ok(status == 0 and err.count("times are converted") == 3 and "and 8 more like it" in err, "many inputs", err)
    tap.ok(read("out.nc", "t").tolist() == [i // 2 for i in range(24)], "many inputs: values", read("out.nc", "t"))
    for i, path in enumerate(files):  # kinds that take turns
        write(path, [("t", "int", "t", text(units="days since 2000-01-%02d" % (i + 1)), [0, 0]),
                     ("p", "double", "t", packing(1 + i, 0.), [1, 1])])
    status, err = run(3, "-O", *files, "out.nc")
    tap.ok(status == 0 and len(err.splitlines()) == 8 and
           re.search(r"and 8 more like it, the last: m11\.nc: variable t: times are converted", err) and
           re.search(r"and 8 more like it, the last: m11\.nc: variable p: is repacked", err),
           "many inputs, two kinds: three lines of each, and the number of the others", err)
    tap.ok(read("out.nc", "p").tolist() == [i // 2 + 1 for i in range(24)], "many inputs: packed values",
           read("out.nc", "p"))


def test_other_dimension():
    """Joined along a dimension that is no record dimension in the inputs."""
    for path, offset, values in (("a.nc", 0., [1, 2]), ("b.nc", 10., [3, 4])):
        cdf.Writer(1, [("x", 2), ("y", 2)], [], [("v", "short", [0], packing(1., offset), values),
                                                 ("y", "int", [1], [], [5, 6])]).write(path)
    if join("-r", ["a.nc", "b.nc"], ["b.nc: variable v: is repacked"], ["-r", "x"]):
        tap.ok(read("out.nc", "v").tolist() == [1, 2, 13, 14], "-r: values", read("out.nc", "v"))


# --- references to netCDF-4 files, which other programs join: they take the attributes of the first file ---

def write_netcdf4(path, scale=.01, fill=-32767, units="days since 2000-01-01", x=(1., 2.), records=4, chunk=2,
                  width=2, **storage):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", width)
        file.createVariable("x", "f8", ("x",))[:] = x if width == 2 else numpy.arange(width)
        time = file.createVariable("t", "f8", ("t",), chunksizes=(512,))
        time.units, time[:] = units, range(records)
        file.createVariable("name", str, ("t",))
        v = file.createVariable("v", "i2", ("t", "x"), chunksizes=(chunk, width), fill_value=fill, **storage)
        v.scale_factor, v.add_offset = scale, 273.15
        v.set_auto_maskandscale(False)
        v[:] = (numpy.arange(records * width) % 30000).reshape(records, width)


def test_netcdf4_references():
    """References to files that are alike are joined, others refused."""
    def run_on(*files):
        done = tool.run("ncoffsets", "--kerchunk", *files)
        return done.returncode, done.stderr.decode(), done.stdout
    for path, change in (("a.nc", {}), ("b.nc", {}), ("odd.nc", {"records": 3}), ("scale.nc", {"scale": .002}),
                         ("fill.nc", {"fill": -1}), ("units.nc", {"units": "days since 2000-01-05"}),
                         ("x.nc", {"x": (1., 3.)}), ("chunk.nc", {"chunk": 1}),
                         ("deflate.nc", {"zlib": True, "complevel": 1}),
                         ("level.nc", {"zlib": True, "complevel": 4}), ("order.nc", {"endian": "big"})):
        write_netcdf4(path, **change)
        write_netcdf4("wide_" + path, width=300000, **change)
    with netCDF4.Dataset("fixed.nc", "w") as file:
        file.createDimension("t", 2)
        file.createVariable("t", "f8", ("t",))
    write("classic.nc", [("v", "short", "tx", packing(.01, 273.15, -32767), [0, 1])])
    unlike = "has other chunks, filters, fill value or byte order than in wide_a.nc: references to such files " \
             "cannot be joined; ncmpicopy joins the files in one"
    wrong = "references cannot convert values; ncmpicopy joins such files in one"
    for last, words in (("scale.nc", ("scale.nc: v:scale_factor is 0.002, but 0.01 in a.nc", wrong)),
                        ("fill.nc", ("fill.nc: v:_FillValue is -1, but -32767 in a.nc", wrong)),
                        ("units.nc", ('units.nc: t:units is "days since 2000-01-05"', wrong)),
                        ("x.nc", ("x.nc: coordinate variable x has the value 3 at [1], but 2 in a.nc",)),
                        ("wide_chunk.nc", (f"wide_chunk.nc: variable v {unlike}",)),
                        ("wide_deflate.nc", (f"wide_deflate.nc: variable v {unlike}",)),
                        ("order.nc", ("order.nc: variable v has other chunks, filters, fill value or byte order",)),
                        ("classic.nc", ("classic.nc is a classic file, but a.nc a netCDF-4 file",))):
        wide = "wide_" if last.startswith("wide_") else ""
        for files in ((wide + "a.nc", wide + "b.nc", last), (wide + "a.nc", last, wide + "b.nc")):
            status, err, out = run_on(*files)
            tap.ok(status == 1 and all(word in err for word in words) and not out.strip()
                   .endswith(b"}}"), f"references to netCDF-4 files: {last} of {len(files)}", err)
    odd = "wide_odd.nc: the 3 records of variable v are not whole chunks of 2"
    for files, words in ((("wide_a.nc", "wide_odd.nc", "wide_b.nc"), odd), (("wide_odd.nc", "wide_a.nc"), odd),
                         (("fixed.nc", "fixed.nc"), "fixed.nc: has no record variables"),
                         (("a.nc", "missing.nc"), "missing.nc: No such file")):
        status, err, _ = run_on(*files)
        tap.ok(status == 1 and words in err and "kerchunk" not in err, f"references to netCDF-4 files: {files}", err)
    tool.run("ncmpicopy", "-k", "zarr", "a.nc", "store.zarr")
    with open("a.json", "wb") as file:
        file.write(run_on("-v", "t,v,x", "a.nc")[2])
    for other in ("store.zarr", "a.json"):
        status, err, _ = run_on("a.nc", other)
        tap.ok(status == 1 and f"{other} is a " in err and "but a.nc a netCDF-4 file" in err,
               f"references to netCDF-4 files: {other}", err)
    with netCDF4.Dataset("group.nc", "w") as file:
        file.createDimension("t", None)
        for where in (file, file.createGroup("g")):
            where.createVariable("t", "f8", ("t",), chunksizes=(2,))[:] = [5, 6]
        file["t"].units = "days since 2000-01-01"
    write_netcdf4("nogroup.nc")
    status, err, out = run_on("-v", "t,g/t", "group.nc", "nogroup.nc")
    tap.ok(status == 0 and "g/t is left out" in err and b'\\"shape\\":[6]' in out,
           "references to netCDF-4 files: what is left out is not compared", err + out.decode())
    with netCDF4.Dataset("second.nc", "w") as file:
        file.createDimension("t", None)
        file.createDimension("u", 2)
        for name, dims in (("t", ("t",)), ("w", ("u", "t"))):
            file.createVariable(name, "f8", dims, chunksizes=(2,) * len(dims))[:] = numpy.zeros((2,) * len(dims))
    status, err, _ = run_on("second.nc", "second.nc")
    tap.ok(status == 1 and "variable w has the record dimension t, but not as its first" in err,
           "references to netCDF-4 files: records are a second dimension", err)
    for files in (("a.nc", "b.nc"), ("a.nc", "odd.nc"), ("deflate.nc", "level.nc"), ("a.nc", "b.nc", "a.nc", "odd.nc"),
                  ("odd.nc", "a.nc", "b.nc"), ("a.nc", "chunk.nc", "deflate.nc"), ("wide_a.nc", "wide_odd.nc")):
        status, err, out = run_on(*files)
        with open("joined.json", "wb") as file:
            file.write(out)
        records = sum(3 if "odd.nc" in name else 4 for name in files)
        width = 300000 if files[0].startswith("wide_") else 2
        wanted = [i % 30000 for name in files for i in range(width * (3 if "odd.nc" in name else 4))]
        dumped = tool.run("ncmpidump", "-v", "v,t", "joined.json").stdout.decode()
        found = re.search(r" v =([^;]*);", dumped)
        values = [int(each) for each in found[1].replace("_", "-32767").split(",")] if found else []
        tap.ok(status == 0 and "name is left out" in err and f"t = {records} ;" in dumped and values == wanted,
               f"references to netCDF-4 files that are joined: {files}", err + dumped[:3000])
    done = tool.run("ncoffsets", "--kerchunk", "-v", "t", "a.nc", "scale.nc")
    tap.ok(done.returncode == 0, "references to netCDF-4 files: other variables are not selected", done)


def main():
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    for test in (test_packing, test_packing_random, test_missing, test_times, test_times_random, test_same_times,
                 test_other_times, test_refused, test_left_out, test_many, test_other_dimension):
        test()
    if tool.has_netcdf4():
        test_netcdf4_references()
    tap.finish()


main()
