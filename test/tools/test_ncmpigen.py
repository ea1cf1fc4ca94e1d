# needs: python
"""ncmpigen against ncgen, by way of ncdump; round trips of real and random files; the programs that it writes;
mistakes."""
import os
import random
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import random_files
import tap
import tool

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", "."))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.abspath(os.environ.get("PNC_TEST_DATA", os.path.join(SOURCE, "../shared/data")))
QUICK = tap.is_quick()
WRAPPER = shlex.split(os.environ.get("PNC_TEST_WRAPPER", ""))
if WRAPPER:
    WRAPPER = [os.path.join(BUILD, "libtool"), "--mode=execute", *WRAPPER]
GEN = [*WRAPPER, os.path.join(BUILD, "src/tools/ncmpigen/ncmpigen")]
DUMP = [os.path.join(BUILD, "src/tools/ncmpidump/ncmpidump")]
NCGEN = {1: "-3", 2: "-6", 5: "-5"}

# CDL as users write it, with all kinds of data; ncgen accepts it in all three formats.
CDL = r"""netcdf made { // a comment
dimensions: x = 3, y = 2 ; t = UNLIMITED ; \3d\ place = 4 ; /* another
one */ len = 5 ;
variables:
    double time(t) ; time:units = "days since 1900-1-1" ;
    float a(x), b(t,x) ; a:_FillValue = -1 ; b:valid = 1.f, 2.5e3f, NaNf, -Infinityf ;
    real r ; long l ; integer i ; r:missing = -1.5 ;
    byte by(x) ; by:flags = 1b, -128b ; by:c = 'a' ;
    char c(y,len), letter, line(len), rec(t), e(y,len) ; c:text = "two\nlines", "\"quoted\" \\ \101" ; letter:e = "" ;
    short s(t,y) ; s:_FillValue = -99s ; s:n = 7, -8 ; s:o = 010 ;
    int \3d\ place(\3d\ place) ;
    double never(y, x) ; double d ;
    :version = 3 ; :title = "what it is", " and more" ; :é = "é" ; :pi = 3.141592653589793 ;
data:
    time = 0, 1.5, -3e2 ; a = 1, _, NaN ; b = 1, 2, 3, 4 ;
    r = .5 ; l = -2147483648 ; i = 2147483647 ; by = -128, 127, _ ;
    c = "ab", "cdefg" ; letter = "q" ; line = "abc" ; rec = "xyz" ; e = "", "z" ;
    s = 1, 2, _, -32768 ; \3d\ place = 1, 2, 3, 4 ; d = 1.e-310 ;
}
"""
CDL5 = r"""netcdf five { dimensions: x = 3 ; t = UNLIMITED ;
variables: ubyte ub(x) ; ub:a = 1UB, 255UB ; ushort us(x) ; us:a = 65535US ; uint ui(x) ; ui:a = 4294967295U ;
    int64 i8(t, x) ; i8:a = -9223372036854775807LL ; uint64 u8(x) ; u8:a = 18446744073709551615ULL ; byte b(t) ;
data: ub = 1, 255, _ ; us = _, 0, 65534 ; ui = 1, _, 4294967294 ; i8 = _, 1, 2, -9223372036854775807, 0, 5 ;
    u8 = 18446744073709551615, 18446744073709551613, 0 ; b = 1 ; }
"""


def run(command, **options):
    done = subprocess.run(command, stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          stdin=options.pop("stdin", subprocess.DEVNULL), check=False, **options)
    return done.returncode, done.stdout or b"", done.stderr.decode(errors="replace")


def write(name, text):
    with open(name, "wb") as out:
        out.write(text if isinstance(text, bytes) else text.encode())
    return name


def read(name):
    with open(name, "rb") as file:
        return file.read()


def dump(path, *options):
    status, text, errors = run([*DUMP, "-p", "9,17", "-n", "x", *options, path])
    return text if status == 0 else b"ncmpidump failed: " + errors.encode()


def ncdump(path):
    return run(["ncdump", "-p", "9,17", "-n", "x", path])[1]


def difference(a, b):
    return next((f"line {n}\n{x!r}\n{y!r}" for n, (x, y) in enumerate(zip(a.split(b"\n"), b.split(b"\n")), 1)
                 if x != y),
                f"{len(a)} and {len(b)} bytes")


def same(a, b, text):
    tap.ok(a == b, text, difference(a, b))


# --- the options ---

def test_formats():
    write("made.cdl", CDL)
    write("five.cdl", CDL5)
    for name, formats in (("made", (1, 2, 5)), ("five", (5,))):
        for version in formats:
            status, out, errors = run([*GEN, "-v", str(version), "-o", "ours.nc", name + ".cdl"])
            tap.ok(status == 0 and not out and not errors, f"{name}: CDF-{version} is made without a message", errors)
            tap.ok(read("ours.nc")[3] == version, f"{name}: its bytes say CDF-{version}")
            if not shutil.which("ncgen"):
                tap.skip(f"{name}: CDF-{version} as ncgen makes it", "ncgen is absent")
                continue
            # ncgen converts int64 variables to int
            write("theirs.cdl", re.sub(r"int64 i8.*?LL ;|i8 = .*? ;", "", read(name + ".cdl").decode(), flags=re.S))
            run([*GEN, "-v", str(version), "-o", "ours.nc", "theirs.cdl"])
            run(["ncgen", NCGEN[version], "-o", "theirs.nc", "theirs.cdl"])
            same(ncdump("ours.nc"), ncdump("theirs.nc"), f"{name}: CDF-{version}: ncdump sees what ncgen makes")


def test_names_of_formats():
    names = {"1": 1, "classic": 1, "2": 2, "64-bit-offset": 2, "5": 5, "64-bit-variable": 5, "64-bit-data": 5}
    for name, version in names.items():
        run([*GEN, "-v", name, "-o", "ours.nc", "made.cdl"])
        tap.ok(read("ours.nc")[3] == version, f"-v {name} makes CDF-{version}")
        for printer in (["ncdump", "-k"], [*DUMP, "-k"]):
            kind = run([*printer, "ours.nc"])[1].decode().strip()
            run([*GEN, "-k", kind, "-o", "kind.nc", "made.cdl"])
            tap.ok(read("kind.nc") == read("ours.nc"), f"-k {kind!r}, as {printer[0]} prints it")
    cases = [("netcdf a { }", 1), ("netcdf a {\n// file format: CDF-2 (large file)\n}", 2),
            ("netcdf a { :_Format = \"64-bit data\" ; }", 5), ("netcdf a { variables: uint64 u ; }", 5),
            ("netcdf a { dimensions: x = 2147483647 ; }", 1), ("netcdf a { dimensions: x = 2147483648 ; }", 5)]
    for text, version in cases:
        run([*GEN, "-o", "ours.nc", write("named.cdl", text)])
        tap.ok(read("ours.nc")[3] == version, f"without -v CDF-{version} is made of {text!r}")
    run([*GEN, "-v", "1", "-o", "ours.nc", write("named.cdl", cases[1][0])])
    tap.ok(read("ours.nc")[3] == 1, "-v outranks the text")


def test_where_it_goes():
    write("x.cdl", "netcdf we\\ ird.name { variables: int v ; data: v = 5 ; }")
    for options, name in ((["-b"], "we ird.name.nc"), (["-n"], "we ird.name.cdf"), (["-l", "b"], "we ird.name.nc")):
        if os.path.exists(name):
            os.remove(name)
        status, _, errors = run([*GEN, *options, "x.cdl"])
        tap.ok(status == 0 and os.path.exists(name), f"{' '.join(options)} makes {name}", errors)
    before = os.listdir(".")
    status, out, errors = run([*GEN, "x.cdl"])
    tap.ok(status == 0 and not out and os.listdir(".") == before, "without options the text is checked only", errors)
    for command in ([*GEN, "-o", "stdin.nc"], [*GEN, "-o", "stdin.nc", "-"]):
        with open("x.cdl", "rb") as text:
            status, _, errors = run(command, stdin=text)
        tap.ok(status == 0 and b"v = 5" in dump("stdin.nc"), "standard input is read", errors)
        os.remove("stdin.nc")


def test_no_fill():
    text = "netcdf f { dimensions: x = 1000 ; t = UNLIMITED ; variables: int a(x), b(x), r(t) ; short q(t) ;\n" \
           "data: b = 7 ; r = 1, 2, 3 ; q = 1 ; }"
    run([*GEN, "-o", "filled.nc", write("f.cdl", text)])
    run([*GEN, "-x", "-o", "bare.nc", "f.cdl"])
    fill = struct.pack(">i", -2147483647)
    tap.ok(read("filled.nc").count(fill) >= 1999, "what has no values is filled")
    tap.ok(read("bare.nc").count(fill) == 999, "with -x only what follows values of the same variable")
    tap.ok(len(read("filled.nc")) == len(read("bare.nc")), "both files have the same size")
    tap.ok(b" q = 1, _, _ ;" in dump("filled.nc"), "the shorter record variable is filled")
    tap.ok(b" q = 1, 0, 0 ;" in dump("bare.nc"), "with -x it is zeros")


def test_words():
    for word in ("--help", "--version"):
        status, out, errors = run([*GEN, word])
        tap.ok(status == 0 and b"ncmpigen" in out and not errors, word, errors)


# --- round trips ---

def round_trip(path, version, label):
    """dump -> gen -> dump is the identity."""
    text = write("trip.cdl", dump(path))
    status, _, errors = run([*GEN, "-o", "again.nc", text])
    good = status == 0 and dump("again.nc") == read(text) and read("again.nc")[3] == version
    return good, f"{label}: {errors}{difference(dump('again.nc'), read(text)) if status == 0 else ''}"


def test_random():
    """The whole zoo, with names and values that ncgen does not accept."""
    n = 5 if WRAPPER else 12 if QUICK else 100
    problems = []
    for seed in range(1000, 1000 + n):
        version = (1, 2, 5)[seed % 3]
        random_files.random_file(random.Random(seed), version, "random.nc", formats=False)
        good, why = round_trip("random.nc", version, f"seed {seed}")
        if not good:
            problems.append(why)
    tap.ok(not problems, f"{n} random files: dump, gen and dump again give the same text", "\n".join(problems[:5]))


def test_random_against_ncgen():
    if not shutil.which("ncgen"):
        tap.skip("random files as ncgen makes them", "ncgen is absent")
        return
    n = 3 if WRAPPER else 12 if QUICK else 50 if "sanitize" in BUILD else 200
    problems = []
    for seed in range(1000, 1000 + n):
        version = (1, 2, 5)[seed % 3]
        random_files.random_file(random.Random(seed), version, "random.nc", formats=False, ncgen=True)
        good, why = round_trip("random.nc", version, f"seed {seed}")
        if not good:
            problems.append(why)
        status, _, errors = run(["ncgen", NCGEN[version], "-o", "theirs.nc", "trip.cdl"])
        theirs, ours = ncdump("theirs.nc"), ncdump("again.nc")
        if status != 0 or theirs != ours:
            problems.append(f"seed {seed}, ncgen: {errors}" + difference(theirs, ours))
    tap.ok(not problems, f"{n} random files: as ncgen makes them", "\n".join(problems[:5]))


def test_real():
    if not os.path.isdir(DATA):
        tap.skip("real files", f"{DATA} is absent: set PNC_TEST_DATA")
        return
    for name in sorted(os.listdir(DATA)):
        path = os.path.join(DATA, name)
        if name.endswith(".nc") and not name.startswith("bad") and not (WRAPPER and os.path.getsize(path) > 500000):
            good, why = round_trip(path, read(path)[3], name)
            tap.ok(good, f"{name}: dump, gen and dump again give the same text", why)


def test_texts():
    """Rows of text with newlines, which dumps split; and records whose number is only in a comment."""
    rows = [b"abc\ndef\n", b"abc\n\0\0\0\0", b"\n\n\n\n\n\n\n\n", b"\0" * 8, b"a\0b\0\0\0\0\0", b"abcdefgh"]
    variables = [("c", "char", [0, 1], [], b"".join(rows)), ("r", "char", [2], [], b"ab\0\0\0")]
    random_files.cdf.Writer(1, [("y", 6), ("x", 8), ("t", None)], [], variables, 5).write("rows.nc")
    for options in ([], ["-b", "c"], ["-f", "f"], ["-l", "20"]):
        run([*GEN, "-o", "again.nc", write("rows.cdl", dump("rows.nc", *options))])
        same(dump("again.nc"), dump("rows.nc"), f"rows of text with newlines, {options}")
        tap.ok(b"".join(rows) in read("again.nc"), f"the same bytes, {options}")
    run([*GEN, "-o", "again.nc", write("rows.cdl", "netcdf r { dimensions: t = UNLIMITED ; variables: char c(t) ; int "
                                       "n(t), s ;data: c = \"\" ; n = 1, 2 ; s = 5 ; }")])
    tap.ok(b"n = 1, 2 ;" in dump("again.nc") and b"s = 5 ;" in dump("again.nc"),
           "a text without characters has as many records as others, whatever comes last", dump("again.nc"))


# --- programs ---

def compile_and_run(source, compiler, folder):
    """The file that a program makes, in a folder of its own, or what went wrong."""
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "program")
    status, out, errors = run([os.path.join(BUILD, "libtool"), "--mode=link", *compiler, "-I" + BUILD + "/include",
                               source, os.path.join(BUILD, "libpnetcdf.la"), "-lm", "-o", program])
    if status != 0:
        return None, out.decode(errors="replace") + errors
    launcher = shlex.split(os.environ.get("MPIEXEC", "mpiexec"))
    preload = os.environ.get("PNC_TEST_YIELD", "no")
    if preload != "no":
        launcher += ["env", "LD_PRELOAD=" + preload]
    status, _, errors = run([launcher[0], "-n", "1", *launcher[1:], "./program"], cwd=folder)
    made = [name for name in os.listdir(folder) if name.endswith(".nc")]
    return (os.path.join(folder, made[0]) if status == 0 and made else None), errors


def test_c():
    compiler = [*tap.make_variable("CC"), *tap.make_variable("CFLAGS"), "-Wall", "-Werror"]
    for name in ("made", "five"):
        run([*GEN, "-o", "ours.nc", name + ".cdl"])
        for options, source in ((["-c", "-o", name + ".c"], name + ".c"), (["-c"], None), (["-l", "c"], None)):
            status, out, errors = run([*GEN, *options, name + ".cdl"])
            if source is None:
                tap.ok(status == 0 and out == read(name + ".c"), f"{name}: {options} writes the same program", errors)
        made, why = compile_and_run(name + ".c", compiler, "program_" + name)
        tap.ok(made is not None, f"{name}: the C program compiles without warnings and runs", why)
        if made:
            same(dump(made), dump("ours.nc"), f"{name}: the C program makes the same file as -b")


def test_fortran():
    compiler = [*tap.make_variable("FC"), *tap.make_variable("FCFLAGS"), "-w"]
    write("eight.cdl", CDL5.replace("18446744073709551615", "9223372036854775807").replace("18446744073709551613", "7"))
    for name in ("made", "eight"):
        status, out, errors = run([*GEN, "-f", name + ".cdl"])
        lines = out.decode().split("\n")
        tap.ok(status == 0 and not [line for line in lines if len(line) > 72 or not re.match(r"$| {6}| {5}&", line)],
               f"{name}: -f keeps to the columns of Fortran 77", errors)
        run([*GEN, "-f", "-o", name + ".f", name + ".cdl"])
        tap.ok(read(name + ".f") == out == run([*GEN, "-l", "f77", name + ".cdl"])[1],
               f"{name}: -f -o and -l f77: the same")
        if not os.path.exists(os.path.join(BUILD, "include/pnetcdf.inc")):
            tap.skip(f"{name}: the Fortran program", "this build has no Fortran")
            continue
        run([*GEN, "-o", "ours.nc", name + ".cdl"])
        made, why = compile_and_run(name + ".f", compiler, "fortran_" + name)
        tap.ok(made is not None, f"{name}: the Fortran program compiles and runs", why)
        if made:
            same(dump(made), dump("ours.nc"), f"{name}: the Fortran program makes the same file as -b")
    fails([*GEN, "-f", write("u.cdl", "netcdf u { variables: uint64 u ; data: u = 18446744073709551615 ; }")],
          "does not fit integer*8", "-f refuses what Fortran cannot hold")


# --- what goes wrong ---

def must_end():
    """In the child: the system kills a tool that computes without end. A wrapper such as valgrind takes longer."""
    if not WRAPPER:
        resource.setrlimit(resource.RLIMIT_CPU, (5, 5))


def fails(command, needle, text, **options):
    before = set(os.listdir("."))
    status, _, errors = run(command, **options)
    lines = errors.splitlines()
    good = status == 1 and lines and lines[0].startswith("ncmpigen: ") and needle in lines[0]
    tap.ok(good and set(os.listdir(".")) == before, text,
           f"exit status {status}\n{errors}\n{set(os.listdir('.')) - before}")


def test_mistakes():
    for text, place, words in [
            ("netcdf a {\ndimensions:\n\tx 3 ;\n}", "3:4", "is expected"),
            ("netcdf a {\nvariables: int v(x) ; }", "2:18", "no dimension \"x\""),
            ("netcdf a { variables: byte v ; data:\n v = 128 ; }", "2:6", "128 does not fit type byte"),
            ("netcdf a { variables: int v ; data: v = 1.5 ; }", "1:41", "1.5 does not fit type int"),
            ("netcdf a { variables: int v ; data: v = 1, 2 ; }", "1:44", "too many values"),
            ("netcdf a { variables: int v ; data: v = \"a\" ; }", "1:41", "does not hold text"),
            ("netcdf a { variables: char v ; data: v = 1 ; }", "1:42", "holds text"),
            ("netcdf a { variables: char v ; data: v = \"ab\" ; }", "1:43", "too many values"),
            ("netcdf a { variables: int v ; data: w = 1 ; }", "1:37", "no variable \"w\""),
            ("netcdf a { variables: int v ; data: v = ; }", "1:41", "a value"),
            ("netcdf a { variables: int v ; data: v = 1 }", "1:43", "';'"),
            ("netcdf a { variables: int v ; data: v = {1} ; }", "1:41", "a value"),
            ("netcdf a { variables: int v ; data: v = 1 ;", "1:44", "ends"),
            ("netcdf a { variables: int v ; } x", "1:33", "the end of the text"),
            ("netcdf a { /* never\nends", "1:12", "*/"),
            ("netcdf a { :a = \"never\nends", "1:17", "closing"),
            ("netcdf a { variables: int v ; data: v = foo ; }", "1:41", "a number"),
            ("netcdf a { dimensions: x = 99999999999999999999 ; }", "1:28", "99999999999999999999"),
            ("netcdf a { :_Format = \"netCDF-3\" ; }", "1:13", "_Format"),
            ("", "1:1", "netcdf"), ("\0\0\0", "1:1", "0x00"), ("CDF\1", "1:1", "netcdf")]:
        fails([*GEN, "-b", write("bad.cdl", text)], f"bad.cdl:{place}: ", f"{text[-40:]!r}: line and column")
        tap.ok(words in run([*GEN, "bad.cdl"])[2], f"  and {words!r}", run([*GEN, "bad.cdl"])[2])
    fails([*GEN, "-v", "1", "-b", "five.cdl"], "CDF-5 only", "a type that the format does not have")
    fails([*GEN, "-b", write("bad.cdl", "netcdf ../up { }")], "-o", "a dataset's name does not lead to another folder")


def test_arguments():
    cases = [("-z", "z"), ("-v 6", "6"), ("-k netCDF-6", "netCDF-6"), ("-v", "v"), ("-l java", "java"),
             ("-b -c", "exclude each other"),
             ("a.cdl b.cdl", "more than one"),
             ("missing.cdl", "missing.cdl: "), (". -o x.nc", ".: "), ("made.cdl -o no/folder/x.nc", "no/folder/x.nc: "),
             ("made.cdl -o /dev/null", "/dev/null: "), ("made.cdl -o .", ".: ")]
    for words, needle in cases:
        fails([*GEN, *words.split()], needle, f"refused: {words}")


def test_output():
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            fails([*GEN, "-c", "made.cdl"], "standard output", "a full disk is an error", stdout=full)
    reader, writer = os.pipe()
    os.close(reader)
    status, _, errors = run([*GEN, "-c", "made.cdl"], stdout=writer)
    os.close(writer)
    tap.ok(status == -signal.SIGPIPE and not errors, "a closed pipe ends it silently", (status, errors))
    write("large.cdl", "netcdf l { dimensions: x = 1000000 ; variables: int v(x) ; data: v = 1 ; }")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    fails([*GEN, "-o", "large.nc", "large.cdl"], "large.nc: ", "a disk that becomes full leaves nothing behind",
          preexec_fn=limit, restore_signals=False)
    write("large.nc", "CDF\1old")
    fails([*GEN, "-o", "large.nc", "large.cdl"], "large.nc: ", "and what was there stays", preexec_fn=limit,
          restore_signals=False)
    tap.ok(read("large.nc") == b"CDF\1old", "unchanged")


def begin_text(command):
    """A generator that waits for the rest of its text."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.stdin.write(b"netcdf a { dimensions: x = 1000000 ; variables: int v(x) ; data: v = " + b"1, " * 400000)
    process.stdin.flush()
    end = time.monotonic() + 60
    while not [name for name in os.listdir(".") if name.startswith("halted.nc.partial")] and time.monotonic() < end:
        time.sleep(.01)
    return process


def test_files():
    """What an output may replace."""
    tool.refuses_itself("ncmpigen", "made.cdl", lambda path, options: [*options, "-o", path, "made.cdl"])
    with open("made.cdl", "rb") as text:
        fails([*GEN, "-o", "made.cdl"], "is an input", "output is input, which is standard input", stdin=text)
    write("own.nc", "netcdf own { }")
    fails([*GEN, "-b", "own.nc"], "is an input", "output is input, by the name of the dataset")
    tap.ok(read("own.nc") == b"netcdf own { }", "unchanged")
    tool.replaces_kind("ncmpigen", "there.nc", b"netcdf precious { }", lambda path, options:
                       [*options, "-o", path, "made.cdl"])
    write("there.c", "int main(void) { return 0; }")
    fails([*GEN, "-c", "-o", "there.c", "made.cdl"], "exists already", "a program replaces no file")
    status, _, errors = run([*GEN, "-O", "-c", "-o", "there.c", "made.cdl"])
    tap.ok(status == 0 and read("there.c") == run([*GEN, "-c", "made.cdl"])[1], "but with -O", errors)
    _, text, errors = run([*GEN, "-c", "-o", "/dev/stdout", "made.cdl"])
    tap.ok(text == read("there.c"), "/dev/stdout, a pipe", errors)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = begin_text([*GEN, "-o", "halted.nc"])
        process.send_signal(number)
        process.stdin.close()
        status = process.wait(timeout=60)
        left = [name for name in os.listdir(".") if name.startswith("halted.nc")]
        tap.ok(status == -number and not left, f"signal {number} leaves nothing behind", (status, left))


def test_cut_and_damaged():
    text, rng = CDL.encode(), random.Random(7)
    n = 10 if WRAPPER else 60 if QUICK else 600
    texts = [text[:len(text) * i // n] for i in range(n)]
    for _ in range(n):
        damaged = bytearray(text)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(damaged))
            damaged[at:at + rng.choice([0, 1, 9])] = rng.choice([b"", b"9", b'"', b"{", b"}", b";", b"\\", b"\0",
                                                                 b"\xff", b"="])
        texts.append(bytes(damaged))
    wrong, accepted = [], 0
    for each in texts:
        if os.path.exists("damaged.nc"):
            os.remove("damaged.nc")
        status, _, errors = run([*GEN, "-x", "-o", "damaged.nc", write("damaged.cdl", each)], preexec_fn=must_end)
        accepted += status == 0
        made = os.path.exists("damaged.nc")
        if status not in (0, 1) or made != (status == 0) or (status == 1) != errors.startswith("ncmpigen: "):
            wrong.append(f"exit status {status}, {errors}")
    left = [name for name in os.listdir(".") if "partial" in name]
    tap.ok(not wrong and not left,
           f"{len(texts)} cut and damaged texts, {accepted} of them still good: a file or a message",
           "\n".join(wrong[:5] + left))


def test_hostile():
    def limit():
        must_end()
        if not WRAPPER and "sanitize" not in BUILD:
            resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
    many = 1 << 23
    for label, text, needle in [
            ("endless text in an attribute", b"netcdf a { :a = \"" + b"x" * many, "closing"),
            ("endless text in the data", b"netcdf a { dimensions: t = UNLIMITED ; variables: char c(t) ; data: c = \""
             + b"x" * many, "closing"),
            ("endless name", b"netcdf a { dimensions: " + b"x" * many, "65536"),
            ("endless number", b"netcdf a { :a = " + b"1" * many, "511"),
            ("endless name of the dataset", b"netcdf " + b"x" * many, "65536"),
            ("endless comment", b"netcdf a { //" + b"x" * many, "ends"),
            ("endless blanks", b"netcdf a {" + b" " * many, "ends"),
            ("braces in braces", b"netcdf a " + b"{" * many, "is expected"),
            ("brackets in brackets", b"netcdf a { variables: int v" + b"(" * many, "is expected")]:
        fails([*GEN, write("hostile.cdl", text)], needle, label, preexec_fn=limit)
    os.remove("hostile.cdl")


def test_memory():
    """getrusage returns the size of the largest child so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with open("long.cdl", "w", encoding="ascii") as out:
        out.write("netcdf long { dimensions: t = UNLIMITED ; x = 10 ; variables: float v(t, x) ; char c(t) ; "
                  "data: v = 1")
        for i in range(200000):
            out.write(f",\n {i}.5, {i}, -{i}e-3, _, NaN, 7, 8, 9, 10, 11")
        out.write(", 2, 3, 4, 5, 6, 7, 8, 9, 10 ; c = \"" + "abcdefghij" * 1000 + "\" ; }\n")
    begun = time.monotonic()
    status, _, errors = run([*GEN, "-o", "long.nc", "long.cdl"])
    seconds = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    tap.ok(status == 0 and read("long.nc")[4:8] == struct.pack(">i", 200001),
           "two million values and a long text are read", errors)
    # sanitizers keep memory that was freed
    most = 32 if "-fsanitize" in " ".join(tap.make_variable("CFLAGS")) else 16
    tap.ok(after - before < most * 1024,
           f"{os.path.getsize('long.cdl') >> 20} MiB of text in {(after - before) / 1024:.1f} MiB "
           f"more than a small one, {seconds:.1f} s")
    os.remove("long.cdl")


def test_records():
    """Many small records: in the text one variable after the other, in the file one record after the other."""
    n = 100000
    rows = range(n)
    with open("records.cdl", "w", encoding="ascii") as out:
        out.write("netcdf records { dimensions: t = UNLIMITED ; x = 3 ; variables: double d(t) ; float a(t, x) ; short "
                  "s(t) ;int i(t, x), none(t) ; byte b(t) ;\ndata:\n")
        out.write(f"d = {','.join(map(str, rows))} ;\na = {','.join(f'{i}.5,0,-1' for i in rows)} ;\n")
        out.write(f"s = {','.join(str(i % 30000) for i in rows)} ;\ni = {','.join(f'{i},{-i},7' for i in rows)} ;\n")
        out.write(f"b = {','.join(str(i % 100) for i in range(n // 2))} ; }}\n")
    for command in ([*GEN, "-o", "ours.nc"], ["ncgen", "-3", "-o", "theirs.nc"]):
        if shutil.which(command[0]):
            tap.ok(run([*command, "records.cdl"], preexec_fn=must_end)[0] == 0,
                   f"{n} records x 6 variables: {os.path.basename(command[0])}")
    data = read("ours.nc")[-44 * n:]
    wanted = b"".join(struct.pack(">d3fhxx4ibxxx", i, i + 0.5, 0, -1, i % 30000, i, -i, 7, -2147483647,
                                  i % 100 if i < n // 2 else -127) for i in rows)
    # padding is filled, too: that of short with the fill value of short, as the format requires
    padded = b"".join(wanted[at:at + 22] + b"\x80\x01" + wanted[at + 24:at + 41] + b"\x81" * 3
                      for at in range(0, len(wanted), 44))
    tap.ok(data == padded, "each value is in its record", difference(data[:440], padded[:440]))
    large = ("netcdf l { dimensions: t = UNLIMITED ; x = 200000 ; variables: int a(t, x), b(t, x) ; "
             "data: a = 1 ; b = 2 ; }")
    run([*GEN, "-o", "ours.nc", write("large.cdl", large)])
    fill = struct.pack(">i", -2147483647)
    tap.ok(read("ours.nc")[-1600000:] == struct.pack(">i", 1) + fill * 199999 + struct.pack(">i", 2) + fill * 199999,
           "records of more than a mebibyte")
    tap.ok(not [name for name in os.listdir(".") if "partial" in name or "records-" in name], "nothing is left behind")


os.chdir(tap.scratch(""))
test_formats()
test_names_of_formats()
test_where_it_goes()
test_no_fill()
test_words()
if not WRAPPER:
    test_memory()
    test_records()
test_texts()
test_random()
test_random_against_ncgen()
test_real()
test_c()
test_fortran()
test_mistakes()
test_arguments()
test_output()
test_files()
test_cut_and_damaged()
test_hostile()
tap.finish()
