#!/usr/bin/env python3
"""Every tool reads every file of a classic format that ncdump reads: real files, of PNC_TEST_DATA, of PNC_TEST_CORPUS
(folders, separated by colons; scripts/corpus.bash fills one) and of the Python packages that are installed here; and
small ones with the faults that real files have.

ncmpidump prints what ncdump prints. ncmpicopy makes a file that ncdump prints alike and cdfdiff finds the same, unless
a warning names what was changed. ncvalidator reports nothing worse than padding that is not null."""
# needs: python
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "test"), os.path.dirname(os.path.abspath(__file__))]
import tap  # noqa: E402
import tool  # noqa: E402


def is_classic(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) in (b"CDF\1", b"CDF\2", b"CDF\5")
    except OSError:
        return False


def find_files():
    """Without the same file in two packages."""
    folders = [os.environ.get("PNC_TEST_DATA", ""), *os.environ.get("PNC_TEST_CORPUS", "").split(":")]
    for package in ("scipy", "xarray", "netCDF4", "MDAnalysisTests"):
        spec = importlib.util.find_spec(package)
        folders += spec.submodule_search_locations if spec is not None and spec.submodule_search_locations else []
    found = {}
    for folder in filter(os.path.isdir, folders):
        for where, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(where, name)
                if is_classic(path):
                    found.setdefault((name, os.path.getsize(path)), path)
    return list(found.values())


def name(text, padding=b"\0"):
    return struct.pack(">i", len(text)) + text + padding * (-len(text) % 4)


def attribute(text, kind, n, values, padding=b"\0"):
    return name(text, padding) + struct.pack(">ii", kind, n) + values + padding * (-len(values) % 4)


def write(path, dims, gatts, variables, data, padding=b"\0", numrecs=0):
    """CDF-1. variables: (name, dimids, attributes, type, vsize); their data follow one another."""
    tagged = lambda tag, parts: struct.pack(">ii", tag if parts else 0, len(parts)) + b"".join(parts)
    head = lambda begins: (b"CDF\1" + struct.pack(">i", numrecs) +
                           tagged(10, [name(text, padding) + struct.pack(">i", n) for text, n in dims]) +
                           tagged(12, gatts) +
                           tagged(11, [name(text, padding) + struct.pack(">i", len(dimids)) +
                                       struct.pack(">%di" % len(dimids), *dimids) + tagged(12, atts) +
                                       struct.pack(">iIi", kind, vsize, begin)
                                       for (text, dimids, atts, kind, vsize), begin in zip(variables, begins)]))
    at, begins = len(head([0] * len(variables))), []
    for variable in variables:
        begins.append(at)
        at += variable[4]
    with open(path, "wb") as file:
        file.write(head(begins) + data)


def make_faults():
    """Each has a fault of a real file. Bytes, not the library, make them."""
    double = struct.pack(">d", 9.5)
    nan = attribute(b"_FillValue", 6, 1, struct.pack(">d", float("nan")))
    shorts = struct.pack(">2h", 1, -2)
    short = lambda text, atts: (text, [0], atts, 3, 4)
    write("padding.nc", [(b"x", 2)], [attribute(b"title", 2, 3, b"abc", b"0")], [short(b"v", [])], shorts, b"0")
    write("fill_type.nc", [(b"x", 2)], [], [short(b"v", [attribute(b"_FillValue", 6, 1, double)]), short(b"w", [nan])],
          2 * shorts)
    write("fill_of_text.nc", [(b"x", 2)], [], [short(b"v", [attribute(b"_FillValue", 2, 3, b"-99")])], shorts)
    write("names.nc", [(b"a b", 2), (b"lat(deg)", 1)], [attribute(b"+plus", 2, 1, b"q")],
          [short(b"T (2 m)", [attribute(b"units:", 2, 1, b"K")])], shorts)
    write("vsize.nc", [(b"x", 2)], [], [(b"v", [0], [], 3, 4)], shorts[:4])
    with open("vsize.nc", "r+b") as file:
        data = file.read()
        file.seek(data.rindex(struct.pack(">iI", 3, 4)) + 4)
        file.write(struct.pack(">I", 12)) # more than the shape: readers compute it
    write("no_data.nc", [(b"x", 2)], [], [short(b"v", []), short(b"w", [])], shorts)
    empty = [attribute(b"none", 2, 0, b""), attribute(b"zero", 4, 0, b"")]
    write("empty.nc", [(b"x", 2), (b"y", 0)], empty, [], b"")
    write("header_only.nc", [], [], [], b"")
    return ["padding.nc", "fill_type.nc", "fill_of_text.nc", "names.nc", "vsize.nc", "no_data.nc", "empty.nc",
            "header_only.nc"]


def dump(path):
    done = subprocess.run(["ncdump", "-n", "x", path], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def check_dump(path, expected):
    done = tool.run("ncmpidump", "-n", "x", path)
    ours = re.sub(rb"\n// file format: [^\n]*", b"", done.stdout, count=1) # ncdump prints no such line
    return [] if done.returncode == 0 and ours == expected else [explain(done), *first_difference(expected, ours)]


def explain(done):
    return "%s: status %d %s" % (os.path.basename(done.args[0]), done.returncode, done.stderr.decode(errors="replace"))


def first_difference(a, b):
    return [repr(pair) for pair in zip(a.split(b"\n"), b.split(b"\n")) if pair[0] != pair[1]][:1]


def check_copy(path, expected):
    done = tool.run("ncmpicopy", "--no-history", "--allow-short", "-O", path, "copy.nc")
    if done.returncode not in (0, 2) or (done.returncode == 2 and not done.stderr):
        return [explain(done)]
    copied = dump("copy.nc")
    if done.stderr:
        return [] if copied is not None and done.stderr.startswith(b"ncmpicopy: warning: ") else [explain(done)]
    difference = tool.run("cdfdiff", path, "copy.nc")
    return [*([] if copied == expected else ["ncmpicopy", *first_difference(expected, copied or b"")]),
            *([] if difference.returncode == 0 else ["cdfdiff: " + explain(difference)])]


def check_others(path):
    validator, offsets = tool.run("ncvalidator", "--lenient", path), tool.run("ncoffsets", "-sg", path)
    shutil.copyfile(path, "same.nc")
    same = tool.run("cdfdiff", path, "same.nc")
    return [explain(done) for done in (validator, offsets, same) if done.returncode != 0]


def main():
    os.chdir(tap.scratch("."))
    real = [path for path in find_files() if not os.path.basename(path).startswith("bad_")]
    for path in [*make_faults(), *real]:
        expected = dump(path)
        if expected is None:
            tap.skip(path, "ncdump does not read it")
            continue
        wrong = check_dump(path, expected) + check_copy(path, expected) + check_others(path)
        tap.ok(not wrong, path, "\n".join(wrong))
    print("# %d real files" % len(real))
    tap.finish()


if __name__ == "__main__":
    main()
