"""Files that end before the data that their headers describe: what each tool says, that ncmpicopy refuses where whole
variables or records are missing, and that nothing beyond the end of a file is read or written, or counted one by one.
Files are written byte by byte; what is missing is computed from their layout."""
# needs: python
import json
import os
import re
import resource
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cdf
import tap
import tool

try:
    from scipy.io import netcdf_file
except ImportError:
    netcdf_file = None

LENGTH, RECORDS = 100, 5
LAUNCHER = os.environ.get("MPIEXEC", "mpiexec").split()


def start(name, *arguments, ranks=0, **options):
    """(status, stdout, stderr)"""
    launcher = [*LAUNCHER, "-n", str(ranks)] if ranks else []
    done = subprocess.run([*launcher, *tool.command(name), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, **options)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def make_whole():
    writer = cdf.Writer(2, [("t", None), ("x", LENGTH)], [], [
        ("a", "int", [1], [], list(range(1, LENGTH + 1))), ("b", "short", [1], [], list(range(1, LENGTH + 1))),
        ("r", "int", [0, 1], [], list(range(1, RECORDS * LENGTH + 1))),
        ("s", "double", [0, 1], [], list(range(1, RECORDS * LENGTH + 1)))], RECORDS)
    writer.write("whole.nc")
    return writer.layout()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return path


# --- what is missing ---

def warns(path, words, why):
    """Every tool that reads data has these words in one line of stderr, and the file's name before them."""
    for name, arguments, ranks in (("ncmpidump", [path], 0), ("ncmpidump", [path], 3), ("ncoffsets", [path], 0),
                                   ("cdfdiff", [path, "whole.nc"], 0), ("ncmpidiff", [path, "whole.nc"], 2),
                                   ("ncmpicopy", ["-O", "--allow-short", path, "out.nc"], 2)):
        status, _, err = start(name, *arguments, ranks=ranks)
        start_of_line = f"{name}: warning: {path}: the file ends at byte"
        lines = [line for line in err.splitlines() if line.startswith(start_of_line)]
        tap.ok(len(lines) == 1 and words in lines[0] and status == {"ncmpicopy": 2, "cdfdiff": 1, "ncmpidiff": 1}.get(
            name, 0), f"{name} on {max(ranks, 1)} ranks: {why}", (status, err))


def warns_of_large(path, words, why, is_large):
    """Tools that read only the header warn where whole variables or records are missing."""
    plan = [sys.executable, os.path.join(tool.BUILD, "src", "tools", "ncmpistat"), "--plan", path, "-v", "r",
            "--grid=2,2"]
    for name, command in (("ncmpidump -h", [*tool.command("ncmpidump"), "-h", path]), ("ncmpistat --plan", plan)):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        status, err = done.returncode, done.stderr
        warned = f"warning: {path}: the file ends at byte" in err and words in err
        tap.ok(status == 0 and err.count("warning") == is_large and warned == is_large,
               f"{name} {'warns' if is_large else 'is silent'}: {why}", (status, err))


def test_warnings(begins, recsize, end):
    whole = read("whole.nc")
    for size, words, why, refused in (
            (end - 8, "were never written, or the file was cut", "last values", False),
            (begins[3] + 4 * recsize - 8, "were never written, or the file was cut", "the last variable of a record",
             False),
            (begins[2] + 4 * recsize, "1 of its 5 records are missing as a whole", "a record", True),
            (begins[2] + 2 * recsize - 8, "3 of its 5 records are missing as a whole", "three records", True),
            (begins[1], "5 of its 5 records are missing as a whole", "all records, and a variable", True)):
        path = write("cut.nc", whole[:size])
        warns(path, words, why)
        warns_of_large(path, words, why, refused)
        for ranks in (0, 3):
            if os.path.exists("new.nc"):
                os.remove("new.nc")
            status, _, err = start("ncmpicopy", path, "new.nc", ranks=ranks)
            tap.ok(status == (1 if refused else 2) and os.path.exists("new.nc") != refused and
                   ("--allow-short" in err) == refused,
                   f"ncmpicopy on {max(ranks, 1)} ranks {'refuses' if refused else 'copies'}: {why}", (status, err))
        strict, found, _ = start("ncvalidator", "--strict", path)
        plain = start("ncvalidator", "-q", path)
        tap.ok(strict == 1 and "--strict" in found and plain == (0, "", ""),
               f"ncvalidator: only --strict rejects: {why}", (strict, found, plain))
        status, found, _ = start("ncvalidator", "--json", path)
        summary = [f for f in json.loads(found)["findings"] if f["found"].startswith("the file ends at byte")]
        tap.ok(status == 0 and len(summary) == refused and (not refused or words in summary[0]["found"]),
               f"ncvalidator: a finding where more than last values is missing: {why}", found)
    tap.ok(start("ncvalidator", "--strict", "-q", "whole.nc") == (0, "", ""), "ncvalidator --strict: a whole file")


def test_fixed():
    """Variables without records: a file that was only defined is no error, one that lacks some variables is one."""
    names = ["a", "b", "c"]
    writer = cdf.Writer(5, [("x", LENGTH)], [], [(name, "int", [0], [], [7] * LENGTH) for name in names])
    writer.write("fixed.nc")
    begins, _, _ = writer.layout()
    whole = read("fixed.nc")
    for size, words, status in (
            (begins[0], "no data were written yet", 2),
            (begins[0] + 1, '2 variables are missing as a whole, the first is "b": if its writer did not leave them '
                            'unwritten', 1),
            (begins[1] + 4, 'variable "c" is missing as a whole: if its writer did not leave it unwritten', 1),
            (begins[2] + 4, "values beyond the end were never written", 2)):
        write("some.nc", whole[:size])
        if os.path.exists("out.nc"):
            os.remove("out.nc")
        got, _, err = start("ncmpicopy", "some.nc", "out.nc")
        tap.ok(got == status and words in err and os.path.exists("out.nc") == (status == 2),
               f"ncmpicopy: status {status}: {words}", (got, err))
    write("padded.nc", whole)
    got = start("ncmpicopy", "-O", "padded.nc", "out.nc")
    tap.ok(got == (0, "", ""), "ncmpicopy: a whole file", got)


def values(path, variable):
    """As another reader has them: what is beyond the end of the file is 0."""
    with netcdf_file(write("padded.nc", read(path) + b"\0" * 100000), "r", mmap=False) as file:
        return file.variables[variable][:].tolist()


def test_copies(begins, recsize, end):
    """A copy of a short file has the same values, counts the same records, and lacks the same ones."""
    whole = read("whole.nc")
    for size in (begins[0] + 10, begins[1], begins[2] + 8, begins[2] + recsize, begins[3] + 2 * recsize + 8, end - 8):
        write("cut.nc", whole[:size])
        for ranks, words in ((0, []), (3, ["--verify"]), (2, ["-d", "x,1,90,3"]), (0, ["-d", "t,1,4", "-u"]),
                             (0, ["-t", "r:double"])):
            status, _, err = start("ncmpicopy", "-O", "--no-history", "--allow-short", *words, "cut.nc", "out.nc",
                                   ranks=ranks)
            part = (slice(None), slice(1, 91, 3)) if "x,1,90,3" in words else (slice(None), slice(None))
            part = (slice(1, 5), slice(None)) if "-u" in words else part
            wanted = {name: [row[part[1]] for row in values("cut.nc", name)[part[0]]] for name in "rs"}
            wanted.update({name: values("cut.nc", name)[part[1]] for name in "ab"})
            found = {name: values("out.nc", name) for name in "abrs"}
            tap.ok(status == 2 and found == wanted, f"a copy of {size} bytes, {ranks} ranks {' '.join(words)}",
                   (status, err, wanted == found))
    missing = re.compile(r"(\d) of its 5 records are missing as a whole")
    for size in (begins[2] + recsize, begins[2] + 3 * recsize):
        write("cut.nc", whole[:size])
        start("ncmpicopy", "-O", "--allow-short", "cut.nc", "out.nc")
        counts = [missing.search(start("ncvalidator", path)[1])[1] for path in ("cut.nc", "out.nc")]
        tap.ok(counts[0] == counts[1], f"the copy lacks the {counts[0]} records that the input lacks", counts)


# --- what lies beyond the end ---

def limited():
    """More than these seconds are in proportion to what a header describes."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def make_giant(path, records, last):
    """180 bytes that describe 2^53 values, and one value."""
    length = (1 << 53) // records
    writer = cdf.Writer(5, [("t", None), ("x", length)] if records > 1 else [("x", length)], [],
                        [("v", "byte", [0, 1] if records > 1 else [0], [], [])], records if records > 1 else 0)
    begins, _, _ = writer.layout()
    return write(path, writer.header(begins) + bytes([1, last]))


def test_giants():
    for records in (1, 1 << 26):
        one, same, other = (make_giant(name, records, last) for name, last in (("1.nc", 2), ("2.nc", 2), ("3.nc", 3)))
        for name, ranks in (("cdfdiff", 0), ("ncmpidiff", 2)):
            status, out, err = start(name, one, same, ranks=ranks, preexec_fn=limited)
            tap.ok(status == 0 and "are the same" in out,
                   f"{name}: two equal files of {1 << 53} values that are not there", (status, out, err))
            status, out, err = start(name, one, other, ranks=ranks, preexec_fn=limited)
            tap.ok(status == 1 and "1 of 9007199254740992 elements differ" in out, f"{name}: one value differs",
                   (status, out, err))
        for ranks in (1, 2):
            allowed = ["--allow-short"] if records > 1 else []
            status, out, err = start("ncmpicopy", "-O", *allowed, "--no-history", "--verify", one, "copy.nc",
                                     ranks=ranks)
            used = 512 * os.stat("copy.nc").st_blocks if status == 2 else 0
            tap.ok(status == 2 and used < 1 << 24, f"ncmpicopy on {ranks} ranks: only what is there is written",
                   (status, out, err, used))
            status, out, err = start("cdfdiff", one, "copy.nc", preexec_fn=limited)
            tap.ok(status == 0, "and the copy is the same", (status, out, err))
    short, long = make_giant("1.nc", 1, 2), make_giant("2.nc", 1, 2)
    with open(long, "ab") as file:
        file.write(b"\0" * 5000000 + b"\1")
    status, out, err = start("cdfdiff", short, long, preexec_fn=limited)
    tap.ok(status == 1 and "element [5000002] of value 0 vs 1" in out, "a value beyond the end of the other file", out)


def test_plans():
    """Steps of a plan do not follow the length of a dimension."""
    planner = os.path.join(tool.BUILD, "src", "tools", "plan", "ncmpistat-plan")
    for dims, variable, words in (
            ([("y", 10**12), ("x", 2)], ("v", "double", [0, 1], [], []), ["--grid=1,2"]),
            ([("y", 10**12), ("x", 2)], ("v", "double", [0, 1], [], []), ["--grid=1,2", "--get"]),
            ([("y", 10**12), ("x", 2)], ("v", "double", [0, 1], [], []), ["--grid=32,2"]),
            ([("x", 10**13)], ("v", "double", [0], [], []), ["--ranks=1"]),
            ([("x", 10**13)], ("v", "byte", [0], [], []), ["--ranks=100"]),
            ([("y", 10**6), ("x", 10**7)], ("v", "double", [0, 1], [], []), ["--ranks=4096"])):
        writer = cdf.Writer(5, dims, [], [variable])
        write("plan.nc", writer.header(writer.layout()[0]) + b"\0" * 8)
        done = subprocess.run([planner, "-v", "v", *words, "plan.nc"], capture_output=True, check=False,
                              preexec_fn=limited)
        size = {"double": 8, "byte": 1}[variable[1]]
        for _, length in dims:
            size *= length
        plan = json.loads(done.stdout)["plans"][0] if done.returncode == 0 else {}
        moved = plan.get("access_bytes", 0) / size
        tap.ok(done.returncode == 0 and 0.9 < moved < 2.2, f"a plan of {size:.0e} bytes {' '.join(words)}",
               (done.returncode, done.stderr, moved))


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
LAYOUT = make_whole()
test_warnings(*LAYOUT)
test_fixed()
if netcdf_file is None:
    tap.skip("copies", "no scipy")
else:
    test_copies(*LAYOUT)
test_giants()
test_plans()
tap.finish()
