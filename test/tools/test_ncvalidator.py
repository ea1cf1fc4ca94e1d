# needs: python
"""ncvalidator: files damaged at known bytes, files that writers did not complete, and the results of other programs."""
import functools
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cdf
import mutate
import tap
import tool

QUICK = tap.is_quick()
PEER = shutil.which("ncvalidator")
run, fails = [functools.partial(do, "ncvalidator") for do in (tool.run, tool.fails)]


def report(*arguments):
    result = run("--json", *arguments)
    return result.returncode, json.loads(result.stdout)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def word(value):
    return struct.pack(">I", value % 2**32)


def changed(data, at, new):
    return data[:at] + new + data[at + len(new):]


# --- rules ---

# A CDF-1 file by hand: dimensions t (unlimited) and x = 5, attribute title, variables fix(x) of short and rec(t, x) of
# byte, 2 records. Each row of the list is one field, so that their offsets can be computed.
FIELDS = [
    ("magic", b"CDF\1"), ("numrecs", word(2)),
    ("dims", word(10)), ("ndims", word(2)),
    ("t length", word(1)), ("t", b"t\0\0\0"), ("t size", word(0)),
    ("x length", word(1)), ("x", b"x\0\0\0"), ("x size", word(5)),
    ("atts", word(12)), ("natts", word(1)),
    ("title length", word(5)), ("title", b"title\0\0\0"), ("title type", word(2)), ("title count", word(3)),
    ("title value", b"abc\0"),
    ("vars", word(11)), ("nvars", word(2)),
    ("fix length", word(3)), ("fix", b"fix\0"), ("fix rank", word(1)), ("fix dim", word(1)),
    ("fix atts", word(0)), ("fix natts", word(0)), ("fix type", word(3)), ("fix vsize", word(12)),
    ("fix begin", word(200)),
    ("rec length", word(3)), ("rec", b"rec\0"), ("rec rank", word(2)), ("rec dim 0", word(0)), ("rec dim 1", word(1)),
    ("rec atts", word(12)), ("rec natts", word(1)),
    ("fill length", word(10)), ("fill", b"_FillValue\0\0"), ("fill type", word(1)), ("fill count", word(1)),
    ("fill value", b"\x07\0\0\0"),
    ("rec type", word(1)), ("rec vsize", word(8)), ("rec begin", word(212)),
]
HEADER = b"".join(data for _, data in FIELDS)
PLACES = {}
for _name, _data in FIELDS:
    PLACES[_name] = sum(len(d) for _, d in FIELDS[:len(PLACES)])
assert len(HEADER) <= 200
GOOD = HEADER + bytes(200 - len(HEADER)) + b"\0\1" * 5 + b"\0\0" + b"\1\2\3\4\5" * 2

# field, offset in it, new bytes, severity, code, a part of the message; the finding has the offset of the field, or
# the one in the last column.
RULES = [
    ("magic", 3, b"\4", "error", "NC_ENOTNC", "43 44 46 04"),
    ("numrecs", 0, word(3), "warning", "NC_NOERR", "\"rec\" is truncated: 5 of its 15", 222),
    ("numrecs", 0, word(1), "warning", "NC_NOERR", "1 more record than", 217),
    ("dims", 0, word(11), "error", "NC_ENOTNC", "tag 0x0000000b"),
    ("dims", 0, word(0), "error", "NC_ENOTNC", "no tag"),
    ("ndims", 0, word(2**31), "error", "NC_EMAXDIMS", "cannot fit"),
    ("ndims", 0, word(2**31 - 1), "error", "NC_ENOTNC", "cannot fit"),
    ("t", 0, b"t\0\0\1", "warning", "NC_NOERR", "padding that is not null", "t", 1),
    ("t", 0, b"/\0\0\0", "warning", "NC_NOERR", "0x2f", "t length"),
    ("t", 0, b"\xff\0\0\0", "warning", "NC_NOERR", "not valid UTF-8", "t length"),
    ("x", 0, b"t\0\0\0", "error", "NC_ENOTNC", "name \"t\" of an earlier", "x length"),
    ("x size", 0, word(0), "error", "NC_EUNLIMIT", "unlimited", "x length"),
    ("title type", 0, word(7), "error", "NC_EBADTYPE", "CDF-1 does not have"),
    ("title count", 0, word(2**30), "error", "NC_ENOTNC", "cannot fit"),
    ("title value", 3, b"z", "warning", "NC_NOERR", "padding that is not null", "title value", 3),
    ("title", 0, b"ti\0le", "error", "NC_ENOTNC", "NUL", "title length"),
    ("title", 4, b" ", "warning", "NC_NOERR", "blank", "title length"),
    ("fix dim", 0, word(2), "error", "NC_EBADDIM", "id 2"),
    ("rec dim 1", 0, word(0), "error", "NC_EUNLIMPOS", "position 1"),
    ("fix type", 0, word(0), "error", "NC_EBADTYPE", "type"),
    ("fix vsize", 0, word(10), "warning", "NC_NOERR", "give 12"),
    ("fix begin", 0, word(100), "error", "NC_ENOTNC", "inside the header"),
    ("fix begin", 0, word(-4), "error", "NC_ENOTNC", "negative"),
    ("rec begin", 0, word(208), "error", "NC_ENOTNC", "the fixed-size variables before it"),
    ("rec begin", 0, word(213), "warning", "NC_NOERR", "begins at byte 213"),
    ("fill type", 0, word(2), "warning", "NC_NOERR", "_FillValue holds 1 of type char", "fill length"),
]


def test_rules():
    write("good.nc", GOOD)
    status, found = report("good.nc")
    tap.ok(status == 0 and found["valid"] and not found["findings"] and found["format"] == "CDF-1",
           "the file by hand is valid", found)
    for field, within, new, severity, code, needle, *place in RULES:
        at = PLACES[field] + within
        if place and isinstance(place[0], int):
            expected = place[0]
        else:
            expected = PLACES[place[0] if place else field] + (place[1] if len(place) > 1 else 0)
        write("bad.nc", changed(GOOD, at, new))
        status, found = report("bad.nc")
        same = [f for f in found["findings"] if f["severity"] == severity and f["code"] == code
                and f["offset"] == expected and needle in f["found"] and f["expected"]]
        errors = sum(f["severity"] == "error" for f in found["findings"])
        bad = errors > 0 or "padding" in needle
        tap.ok(same and status == bad and found["errors"] == errors and found["valid"] != bad,
               f"{field} {new.hex()}: {severity} at byte {expected}", json.dumps(found, indent=1))


def test_several():
    data = changed(changed(GOOD, PLACES["fix dim"], word(9)), PLACES["rec type"], word(99))
    write("bad.nc", changed(data, PLACES["title value"] + 3, b"z"))
    status, found = report("bad.nc")
    places = [f["offset"] for f in found["findings"]]
    tap.ok(status == 1 and {PLACES["fix dim"], PLACES["rec type"], PLACES["title value"] + 3} <= set(places)
           and places == sorted(places), "several violations in one file, in their order", found)
    text = run("bad.nc").stdout.decode()
    tap.ok(len(re.findall(r"^(?:Error|Warning) at byte \d+: .* \(expected: .*\)$", text, re.M)) == len(places) and
           text.endswith('File "bad.nc" fails to conform with classic CDF-1 file format specifications.\n'),
           "and as text", text)
    result = run("-q", "bad.nc")
    tap.ok(result.returncode == 1 and not result.stdout + result.stderr, "-q: nothing but the status")
    result = run("-q", "good.nc")
    tap.ok(result.returncode == 0 and not result.stdout + result.stderr, "-q: a valid file")
    for end in range(200, len(GOOD)):
        write("cut.nc", GOOD[:end])
        status, found = report("cut.nc")
        lost = {m.group(1): int(m.group(2)) for f in found["findings"]
                for m in [re.match(r'variable "(\w+)" is truncated: (\d+) of', f["found"])] if m}
        wanted = {"fix": max(0, 210 - end), "rec": min(10, 222 - end)}
        if status != 0 or lost != {k: v for k, v in wanted.items() if v}:
            tap.ok(False, f"cut after {end} bytes: truncated data of each variable", (wanted, found))
            return
    tap.ok(True, "cut anywhere: truncated data of each variable")


def test_trace():
    _, found = report("-t", "good.nc")
    at = 0
    for field in found["fields"]:
        if field["offset"] < at or field["offset"] > at + 3: # up to 3 bytes of padding between
            break
        at = field["offset"] + field["bytes"]
    tap.ok(len(HEADER) - 3 <= at <= len(HEADER), "-t: the fields cover the header", (at, found["fields"]))
    values = {f["offset"]: f["value"] for f in found["fields"]}
    tap.ok(values[PLACES["fix begin"]] == "200" and values[PLACES["title"]] == '"title"' and
           values[PLACES["fix type"]] == "short", "-t: values", values)
    lines = run("-t", "good.nc").stdout.decode().splitlines()
    tap.ok(len(lines) == len(found["fields"]) + 2, "-t: a line for each field", "\n".join(lines))


# --- repairs ---

def test_padding():
    data = changed(changed(GOOD, PLACES["t"] + 1, b"abc"), PLACES["title value"] + 3, b"z")
    write("padding.nc", data)
    text = run("padding.nc").stdout.decode()
    tap.ok(run("-q", "padding.nc").returncode == 1 and text.count("Warning at byte") == 2 and "Error" not in text
           and "fails to conform" in text and "-x" in text, "padding that is not null: warnings, exit status 1", text)
    text = run("--lenient", "padding.nc").stdout.decode()
    status, found = report("--lenient", "padding.nc")
    tap.ok(status == 0 and found["valid"] and text.count("Warning at byte") == 2 and "is a valid" in text,
           "--lenient: the same warnings, and exit status 0", text)
    write("bad.nc", changed(data, PLACES["fix dim"], word(9)))
    tap.ok(run("--lenient", "bad.nc").returncode == 1, "--lenient: errors stay errors")
    result = run("-x", "padding.nc")
    tap.ok(result.returncode == 0 and read("padding.nc") == GOOD, "-x: the padding is null, and nothing else changed",
           result)
    path = tap.data("eraint_uvz.nc")
    if not path:
        tap.skip("-x on real data", "eraint_uvz.nc is not there (PNC_TEST_DATA)")
        return
    shutil.copy(path, "real.nc")
    status = run("-x", "real.nc").returncode
    left = [f["found"] for f in report("real.nc")[1]["findings"] if "_FillValue" not in f["found"]]
    tap.ok(status == 0 and not left, "-x on real data", left)
    if PEER:
        result = subprocess.run([PEER, "-q", "real.nc"], capture_output=True, check=False)
        tap.ok(result.returncode == 0, f"{PEER}, to which such padding is an error, is content then", result)


def repair(data, label, wanted, certain, *options, status=None):
    """Repair a copy; wanted: its expected bytes, or those of the file if it is left as it is: then there is no copy,
    but one that is asked for by name. certain: whether each step is."""
    write("broken.nc", data)
    if os.path.exists("broken.nc.repaired"):
        os.remove("broken.nc.repaired")
    code, found = report("--repair", *options, "broken.nc")
    is_left = not os.path.exists("broken.nc.repaired")
    tap.ok(is_left == (wanted == data), label + ": a copy only if it differs")
    result = data if is_left else read("broken.nc.repaired")
    if os.path.exists("named.nc"):
        os.remove("named.nc")
    quiet = run("--repair", "-q", "--output=named.nc", *options, "broken.nc")
    tap.ok(read("named.nc") == wanted and not quiet.stdout and not quiet.stderr, label + ": by name, and quiet", quiet)
    if status is None:
        status = 0 if all(certain) else 2
    tap.ok(code == status and result == wanted and [s["certain"] for s in found["repairs"]] == certain and
           read("broken.nc") == data, label, (code, json.dumps(found, indent=1)))
    write("inplace.nc", data)
    code = run("--repair", "--in-place", *options, "inplace.nc").returncode
    if read("inplace.nc") != result or code != status:
        tap.ok(False, label + ", in place", code)


def test_records():
    uncounted = changed(GOOD, 4, word(1))
    repair(uncounted, "a record that was not counted is reported only", uncounted, [False])
    repair(uncounted, "--raise-records counts it", GOOD, [False], "--raise-records")
    repair(GOOD + b"abc", "bytes that are no record", GOOD + b"abc", [False], "--raise-records")
    repair(changed(GOOD, 4, word(7)), "records that are not there", GOOD, [True])
    repair(changed(GOOD, 4, word(-1)), "records left to the size of the file", GOOD, [True])
    repair(GOOD[:-3], "a record that was cut keeps its first values", GOOD[:-3] + b"\7\7\7", [False])
    repair(GOOD, "nothing to repair", GOOD, [])
    repair(changed(GOOD, PLACES["fix dim"], word(9)), "damage beyond repair", changed(GOOD, PLACES["fix dim"], word(9)),
           [False], status=1)


def test_right_files():
    """Files without a mistake, of which a repair must not change a byte, whatever follows the data."""
    rng = random.Random(11)
    patterns = {"random": [rng.randrange(-2**31, 2**31) for _ in range(3000)],
                "periodic": [rng.randrange(-2**31, 2**31) for _ in range(16)] * 188, "constant": [7] * 3000}
    for name, values in patterns.items():
        variables = [("a", "int", [1], [], values[:1000]), ("r", "int", [0, 1], [], values[1000:3000])]
        cdf.Writer(2, [("t", None), ("x", 1000)], [], variables, 2).write("right.nc")
        whole = read("right.nc")
        for what, tail in (("random bytes", rng.randbytes(192)), ("null bytes", bytes(192)), ("a record", bytes(4000)),
                           ("more than a record", rng.randbytes(5000)), ("its last bytes", whole[-192:]),
                           ("its own end, moved up", whole[-4096:])):
            repair(whole + tail, f"{name} data, then {what}", whole + tail, [False])


def test_unwritten():
    """The last record has a value of one variable, and nothing of the next, which was never written."""
    variables = [("a", "int", [0], [], [1, 2, 3]), ("b", "int", [0], [], [4, 5, -2147483647])]
    cdf.Writer(1, [("t", None)], [], variables, 3).write("half.nc")
    whole = read("half.nc")
    repair(whole[:-4], "a record that is half written is not lost", whole, [False])
    result = run("--repair", "--output=half-repaired.nc", "half.nc")
    tap.ok(result.returncode == 0 and read("half-repaired.nc") == whole, "a whole one stays", result)


def test_many():
    """Warnings of one rule are folded, errors are not, and JSON has all."""
    dims = [(f"d{i}", 2) for i in range(54)]
    cdf.Writer(1, dims, [], [("v", "int", [], [], [1])]).write("many.nc")
    data = read("many.nc")
    for i in range(54):
        name = f"d{i}".encode()
        data = data.replace(name + bytes(4 - len(name)), name + b"zz"[:4 - len(name)], 1)
    write("many.nc", data)
    text = run("many.nc").stdout.decode()
    _, found = report("many.nc")
    tap.ok(text.count("Warning at byte") == 3 and "Warning: and 51 more like it" in text and found["warnings"] == 54
           and len(found["findings"]) == 54, "54 warnings of one rule in four lines", text)


def test_fill():
    cdf.Writer(2, [("x", 5)], [], [("a", "short", [0], [], [1, 2, 3, 4, 5]),
                                   ("b", "int", [0], [("_FillValue", "int", [9])], [9] * 5)]).write("fixed.nc")
    whole = read("fixed.nc")
    repair(whole[:-20], "a variable that was never written", whole, [True])
    lost = changed(whole, len(whole) - 32, b"")
    tap.ok(len(lost) == len(whole), "the file is as long")
    repair(whole[:-6], "a variable that lost its end", whole, [False])


def grow(data, old, new, stop, chunk):
    """A writer without a journal moves data from offset old to new, from the end on, `chunk` bytes at a time, and ends
    when `stop` bytes have moved. What goes beyond the end goes first."""
    file, end = bytearray(data), len(data)
    distance = new - old
    file += bytes(distance)
    left = end
    while left > old and end - left < stop:
        n = min(chunk if left < end else min(distance, end - old), left - old)
        file[left - n + distance:left + distance] = file[left - n:left]
        left -= n
    return bytes(file)


def test_growth():
    rng = random.Random(7)
    values = [rng.randrange(-2**31, 2**31) for _ in range(3000)]
    cdf.Writer(5, [("t", None), ("x", 1000)], [], [("a", "int", [1], [], values[:1000]),
                                                   ("r", "int", [0, 1], [], values[1000:])], 2).write("grow.nc")
    whole = read("grow.nc")
    begin = len(whole) - 12000
    stops = [1, 500, 4000, 7777, 12000]
    for stop in stops[1:4] if QUICK else stops:
        for distance in (300, 512, 4096):
            repair(grow(whole, begin, begin + distance, stop, 256),
                   f"a growth by {distance} that ended after {stop} bytes", whole, [False], "--undo-growth")
    moved = grow(whole, begin, begin + 512, 4000, 256)
    repair(moved, "data are not moved without --undo-growth", moved, [False])
    for distance in (512, 4096): # nothing was overwritten: the old data are right
        repair(whole + whole[-distance:], f"the last {distance} bytes twice", whole + whole[-distance:], [False])
    torn = bytearray(grow(whole, begin, begin + 512, 4000, 256))
    torn[-4400:-4200] = bytes(200) # where old and new place still hold the same
    write("torn.nc", torn)
    _, found = report("--repair", "--undo-growth", "torn.nc")
    tap.ok(not any(s["certain"] for s in found["repairs"]) and not os.path.exists("torn.nc.repaired") and
           read("torn.nc") == torn,
           "if the data do not show where a move stopped, nothing is called certain", found)


def test_names():
    write("broken.nc", changed(GOOD, 4, word(1)))
    result = run("--repair", "--raise-records", "--output=copy.nc", "broken.nc")
    tap.ok(result.returncode == 2 and read("copy.nc") == GOOD and b'"copy.nc" is a valid' in result.stdout,
           "--output", result)
    write("copy.nc", b"precious")
    fails("copy.nc: exists already", "--output: a file that exists", "--repair", "--output=copy.nc", "broken.nc")
    tap.ok(read("copy.nc") == b"precious", "stays as it is")
    fails("no/copy.nc", "--output: a folder that does not exist", "--repair", "--output=no/copy.nc", "broken.nc")
    os.symlink("broken.nc", "link.nc")
    os.link("broken.nc", "hard.nc")
    for other in ("broken.nc", "link.nc", "hard.nc"):
        fails("is an input", f"--output={other}: the input", "--repair", f"--output={other}", "broken.nc")
    left = [name for name in os.listdir(".") if "partial" in name]
    tap.ok(not left, "nothing is left behind", left)


# --- other programs ---

def limited():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))


def test_others():
    """If a file is valid, ncdump reads its header and other ncvalidators agree, except for the differences below."""
    if not shutil.which("ncdump"):
        tap.skip("results of others", "ncdump is not installed (Debian: netcdf-bin)")
        return
    wrong, valid, agreed = [], 0, 0
    for number, data in mutate.files(".", 30 if QUICK else 150, seed=2):
        write("mutated.nc", data)
        status, found = report("mutated.nc")
        if status != 0:
            continue
        valid += 1
        theirs = subprocess.run(["ncdump", "-h", "mutated.nc"], capture_output=True, check=False, preexec_fn=limited)
        if theirs.returncode != 0 and not explained(found):
            wrong.append(f"file {number}: ncdump: {theirs.returncode} {theirs.stderr[:200]}\n"
                         f"{json.dumps(found)[:1000]}")
            shutil.copy("mutated.nc", f"mutated-{number}.nc")
        agreed += theirs.returncode == 0
    tap.ok(not wrong and agreed > 0, f"ncdump reads {agreed} of {valid} damaged files that are still valid",
           "\n".join(wrong))


# Debian's ncvalidator only warns of these:
PEER_TOLERATES = ("header is truncated", "at most 256 are allowed")
# and reports these as errors, which all readers accept:
PEER_REFUSES = ("padding after the last", "follow the last", "more record", "NUL byte")


def peer_cuts_count(found):
    """Of CDF-5's counts Debian's ncvalidator keeps the lower 32 bits: 2**33 + 1 dimensions are one to it. No file has
    room for so many."""
    count = re.search(r"a count of (\d+) cannot fit in the (\d+) bytes", found)
    return count and int(count[1]) >= 2**32 > int(count[2])


def test_peer():
    if not PEER:
        tap.skip("results of another ncvalidator", "none is installed (Debian: pnetcdf-bin)")
        return
    paths = [tap.data(n) for n in ("eraint_uvz.nc", "tiny.nc", "bad_cdf5_begin.nc", "ref_nctest_64bit_offset.nc")]
    for number, data in mutate.files(".", 40, seed=2):
        paths.append(f"peer-{number}.nc")
        write(paths[-1], data)
    wrong, compared = [], 0
    for path in filter(None, paths):
        status, found = report(path)
        try:
            theirs = subprocess.run([PEER, "-q", path], capture_output=True, check=False, timeout=30)
        except subprocess.TimeoutExpired: # it loops for very long over some
            continue
        compared += 1
        if theirs.returncode < 0 or (theirs.returncode != 0) == (status != 0):
            continue
        if status:
            excused = all(any(t in f["found"] for t in PEER_TOLERATES) or peer_cuts_count(f["found"])
                          for f in found["findings"] if f["severity"] == "error")
        else:
            excused = any(t in f["found"] for f in found["findings"] for t in PEER_REFUSES)
        if not excused:
            wrong.append(f"{path}: {PEER}: {theirs.returncode}\n{json.dumps(found)[:1000]}")
    tap.ok(not wrong and compared > 0, f"results of {PEER} on {compared} files", "\n".join(wrong))


def explained(found):
    """ncdump rejects some names that violate the specification; ncvalidator warns of them."""
    return any("name" in f["expected"] for f in found["findings"])


# --- what goes wrong ---

def test_trouble():
    fails("missing.nc: No such file", "a missing file", "missing.nc")
    fails(".: this is a folder", "a folder", ".")
    write("hdf5.nc", b"\x89HDF\r\n\x1a\n" + bytes(100))
    result = run("hdf5.nc")
    tap.ok(result.returncode == 1 and b"HDF5 cannot open" in result.stdout and
           b"is a netCDF-4 file that is damaged or not complete" in result.stdout, "HDF5", result)
    write("nothing.nc", b"")
    tap.ok(run("nothing.nc").returncode == 1, "an empty file")
    fails("no file", "no file")
    fails("a single file", "--output of two files", "--repair", "--output=a.nc", "good.nc", "good.nc")
    for words, status in ((["good.nc", "good.nc"], 0), (["hdf5.nc", "good.nc"], 1), (["good.nc", "missing.nc"], 1)):
        done, listed, quiet = run(*words), run("--json", *words), run("-q", *words)
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("File ")]
        found = [(report["file"], report["valid"]) for report in json.loads(listed.stdout)]
        tap.ok({done.returncode, listed.returncode, quiet.returncode} == {status} and not quiet.stdout and
               len(lines) == 2 - ("missing.nc" in words) and found == [(word, word == "good.nc") for word in words],
               f"several files: {words}", (done, listed, quiet))
    fails("'z'", "an unknown option", "-z", "good.nc")
    fails("-x", "-x with --repair", "-x", "--repair", "good.nc")
    fails("--repair", "--in-place without --repair", "--in-place", "good.nc")
    fails("--raise-records", "--raise-records without --repair", "--raise-records", "good.nc")
    fails("--output", "--in-place with --output", "--repair", "--in-place", "--output=a.nc", "good.nc")
    for option in ("-h", "--help", "--version"):
        result = run(option)
        tap.ok(result.returncode == 0 and b"ncvalidator" in result.stdout and not result.stderr, option)
    tool.fails_to_print("ncvalidator", "good.nc")
    tool.prints_elsewhere("ncvalidator", "good.nc", "good.nc")


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
for test in (test_rules, test_several, test_trace, test_padding, test_records, test_right_files,
             test_unwritten, test_many, test_fill, test_growth, test_names,
             test_others, test_peer, test_trouble):
    test()
tap.finish()
