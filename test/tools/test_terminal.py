"""Names in files can have characters that act on a terminal: no program prints them. CDL has them as ncdump writes
them, and ncmpigen reads them back. Damaged reports of statistics end in a sentence."""
# needs: python
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cdf
import tap
import tool

ASCII = "a\x1b]0;t\x07\x7fz"  # sets the title of a terminal
UNICODE = "\u9b9b b\u009b31mz\u0085\u00e9"  # U+009B is CSI; the first character has the byte 0x9b, and stays
NAME = ASCII + UNICODE
QUICK = tap.is_quick()
PNETCDF = {**os.environ, "PNETCDF_VERBOSE": "1", "PNETCDF_STATS": "1"}


def acts(text):
    """Bytes that act on a terminal, or that are not text."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return repr(error)
    return re.findall(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", text)


def make(path, value, name=NAME, version=5):
    cdf.Writer(version, [("t", None), ("x" + name, 3)], [("g" + name, "char", ("x" + name).encode())], [
        ("v" + name, "int", [1], [("u" + name, "int", [value])], [1, 2, value]),
        ("r" + name, "int", [0, 1], [], [4, 5, value])], 1).write(path)


def run_plain(label, name, *arguments, **options):
    done = tool.run(name, *arguments, **options)
    tap.ok(not acts(done.stdout) and not acts(done.stderr) and (done.stdout or done.stderr),
           f"{name} {label}", (acts(done.stdout), acts(done.stderr), done))
    return done


def test_tools():
    make("one.nc", 3)
    make("two.nc", 4)
    shutil.copy("one.nc", "named\x1b[31m.nc")
    with open("one.nc", "rb") as file:
        whole = file.read()
    with open("cut.nc", "wb") as file: # the last record is missing
        file.write(whole[:-12])
    at = whole.index(b"v" + NAME.encode()) # the size of this variable, and its offset
    begin = whole.index((3 * 4).to_bytes(8, "big"), at) + 8
    with open("bad.nc", "wb") as file:
        file.write(whole[:begin] + (7).to_bytes(8, "big") + whole[begin + 8:])
    for words in ([], ["-h"], ["-b", "c"], ["-f", "f"], ["--json"], ["-V"], ["-v", "rr"]):
        run_plain(" ".join(words), "ncmpidump", *words, "one.nc")
    run_plain("of a file with such a name", "ncmpidump", "named\x1b[31m.nc")
    for words in ([], ["-b"], ["-h"], ["--json"], ["-v", "v" + NAME], ["-v", "vv" + NAME], ["-t", "1,1"]):
        for name in ("cdfdiff", "ncmpidiff"):
            run_plain(" ".join(words[:1]), name, *words, "one.nc", "two.nc", env=PNETCDF)
    for name in ("cdfdiff", "ncmpidiff"):
        run_plain("of other variables", name, "one.nc", make("other.nc", 3, "other") or "other.nc")
    for words in ([], ["-sgrd"], ["--align=64"], ["--svg"], ["--html"], ["--json"]):
        run_plain(" ".join(words), "ncoffsets", *words, "one.nc")
    for path in ("one.nc", "cut.nc", "bad.nc", "named\x1b[31m.nc", "none\x1b[31m.nc"):
        for words in ([], ["-t"], ["--json"]):
            run_plain(f"{' '.join(words)} {path[:4]}", "ncvalidator", *words, path)
        run_plain(path[:4], "ncmpidump", path)
        run_plain(path[:4], "ncmpicopy", "--allow-short", "-O", "-t", "v" + NAME + ":byte", path, "out.nc", env=PNETCDF)
        run_plain(path[:4], "ncmpidiff", path, "two.nc", env=PNETCDF)
    run_plain("with such an option", "ncmpicopy", "-d", NAME, "one.nc", "out.nc")
    tap.ok(b"\xe9\xae\x9b" in tool.run("ncmpidump", "-h", "one.nc").stdout, "other characters stay")


def test_cdl():
    """Control characters of ASCII as ncdump has them; what can be created is read back."""
    for version in (1, 2, 5):
        make("ascii.nc", 3, ASCII, version)
        ours = tool.run("ncmpidump", "-n", "f", "ascii.nc").stdout.decode()
        if shutil.which("ncdump") is None:
            tap.skip(f"names in CDL, CDF-{version}", "no ncdump")
        else:
            theirs = subprocess.run(["ncdump", "-n", "f", "ascii.nc"], capture_output=True, text=True,
                                    check=False).stdout
            without_format = [line for line in ours.splitlines() if not line.startswith("// file format")]
            tap.ok(without_format == theirs.splitlines(), f"names in CDL are those of ncdump, CDF-{version}",
                   (ours, theirs))
    make("unicode.nc", 3, UNICODE)
    with open("unicode.cdl", "wb") as file:
        file.write(tool.run("ncmpidump", "-n", "f", "unicode.nc").stdout)
    done = tool.run("ncmpigen", "-v", "5", "-o", "back.nc", "unicode.cdl")
    same = tool.run("cdfdiff", "-q", "unicode.nc", "back.nc")
    tap.ok(done.returncode == 0 and same.returncode == 0, "ncmpigen reads names with U+009B back", (done, same))
    with open("odd.cdl", "w", encoding="utf-8") as file:
        file.write("netcdf f { dimensions: a\\%41 = 1 ; b\\%zz = 2 ; c\\% = 3 ; }")
    tool.run("ncmpigen", "-o", "odd.nc", "odd.cdl")
    names = re.findall(r"^\t(.*) = ", tool.run("ncmpidump", "-h", "odd.nc").stdout.decode(), re.M)
    tap.ok(names == ["a%41", "b%zz", "c%"], "other characters after \\% stay", names)
    with open("bad.cdl", "w", encoding="utf-8") as file:
        file.write("netcdf f { dimensions: a\\%1b = 1 ; }")
    done = tool.run("ncmpigen", "-o", "bad.nc", "bad.cdl")
    tap.ok(done.returncode == 1 and b"0x1b" in done.stderr, "a name that no library creates", done)


# --- ncmpistat ---

def load_ncmpistat():
    path = os.path.join(tool.BUILD, "src", "tools", "ncmpistat")
    loader = importlib.machinery.SourceFileLoader("ncmpistat", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ncmpistat", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Output(io.TextIOWrapper):
    """stdout or stderr of a call in this process."""


def show(module, *arguments):
    """(status, bytes of stdout, bytes of stderr)"""
    sys.argv = ["ncmpistat", *arguments]
    out, err = (Output(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    status = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            module.main()
        except SystemExit as end:
            status = end.code
    out.flush()
    err.flush()
    return status, out.buffer.getvalue(), err.buffer.getvalue()


def members(value, path=()):
    """The paths to all members."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from members(item, (*path, key))


def damage(rng, content):
    for _ in range(rng.randint(1, 3)):
        paths = list(members(content))
        if not paths:
            return
        *path, last = rng.choice(paths)
        at = content
        for key in path:
            at = at[key]
        if rng.random() < 0.2:
            del at[last]
        else:
            at[last] = rng.choice([None, True, -1, 0, 1e308, -1e308, 10**400, float("nan"), float("inf"), "",
                                   "\x1b[31m", "\ud800", [], {}, [None], [[]], {"sum": 1}, "9", 1 << 62])


def test_reports():
    make("one.nc", 3)
    make("two.nc", 4)
    report = "report\x1b[31m.json"
    for value in ("json:" + report, "trace:trace.json"):
        tool.run("ncmpidiff", "one.nc", "two.nc", env={**os.environ, "PNETCDF_STATS": value})
    module = load_ncmpistat()
    for words in ([report], [report, "trace.json"], ["--html", "page.html", "--overwrite", report, "trace.json"],
                  ["none\x1b[31m.json"], [report, report]):
        status, out, err = show(module, *words)
        tap.ok(not acts(out) and not acts(err) and status == (2 if words[0].startswith("none") else 0),
               f"ncmpistat {' '.join(words).encode()}", (status, out, err))
    rng = random.Random(int(os.environ.get("PNC_TEST_SEED", "1")))
    wrong, counts = [], {0: 0, 2: 0}
    for source in (report, "trace.json"):
        with open(source, encoding="utf-8") as file:
            good = file.read()
        for _ in range(40 if QUICK else 400):
            content = json.loads(good)
            damage(rng, content)
            with open("damaged.json", "w", encoding="utf-8") as file:
                json.dump(content, file)
            for words in (["damaged.json"], ["damaged.json", source], ["--html", "page.html", "--overwrite",
                                                                      "damaged.json"]):
                try:
                    status, out, err = show(module, *words)
                except Exception as error: # what a traceback would show
                    wrong.append((words, repr(error), json.dumps(content)[:2000]))
                    continue
                counts[status] = counts.get(status, 0) + 1
                if status not in (0, 2) or acts(out) or acts(err) or (status == 2) != (len(err.splitlines()) == 1):
                    wrong.append((words, status, out[-200:], err, json.dumps(content)[:2000]))
    tap.ok(not wrong and counts[0] > 0 and counts[2] > 0, f"damaged reports: shown or refused by a sentence: {counts}",
           wrong[:3])
    for text in ("[" * 100000, '{"schema": ' * 5000, "9" * 5000, "[1, 2]", "[]", "null", '"x"', "[{}]"):
        with open("damaged.json", "w", encoding="utf-8") as file:
            file.write(text)
        status, out, err = show(module, "damaged.json")
        tap.ok(status == 2 and not out and len(err.splitlines()) == 1, f"ncmpistat of {text[:12]}", (status, out, err))


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
test_tools()
test_cdl()
test_reports()
tap.finish()
