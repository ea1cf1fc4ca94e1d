# needs: python
"""ncoffsets against offsets worked out by hand, and against Debian's ncoffsets where that is installed."""
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cdf
import mutate
import tap
import tool

PEER = shutil.which("ncoffsets")
run, fails = [functools.partial(do, "ncoffsets") for do in (tool.run, tool.fails)]


class Gaps(cdf.Writer):
    """A file with free space after the header, between fixed-size variables, and before the records."""
    header_gap = gap = record_gap = 0

    def layout(self):
        begins, recsize, _ = super().layout()
        n = fixed = 0
        for i, variable in enumerate(self.variables):
            if not self.is_record(variable):
                fixed = self.header_gap + n * self.gap
                begins[i] += fixed
                n += 1
        for i, variable in enumerate(self.variables):
            if self.is_record(variable):
                begins[i] += fixed + self.record_gap
        ends = [begin + self.size(v) + (recsize * (self.numrecs - 1) if self.is_record(v) else 0)
                for begin, v in zip(begins, self.variables)]
        return begins, recsize, max(ends)


def text(*arguments):
    return run(*arguments).stdout.decode()


def make_files():
    dims = [("t", None), ("x", 3), ("y", 5)]
    variables = [("a", "byte", [1], [], [1, 2, 3]), ("r", "short", [0, 1], [], []), ("b", "double", [1, 2], [], []),
                 ("q", "float", [0], [], [])]
    for name, version, numrecs, gaps in [("plain", 1, 2, (0, 0, 0)), ("head", 2, 0, (100, 0, 0)),
                                         ("gap", 5, 25, (8, 8, 40))]:
        writer = Gaps(version, dims, [], variables, numrecs)
        writer.header_gap, writer.gap, writer.record_gap = gaps
        writer.write(name + ".nc")
    cdf.Writer(1, dims, [], variables[1:2], 3).write("lone.nc")
    cdf.Writer(1, dims, [], variables[2:3], 0).write("whole.nc")
    cdf.Writer(5, [], [], [], 0).write("empty.nc")
    mutate.sample(5).write("sample.nc")


EXPECTED = """netcdf gap.nc {
// file format: CDF-5

file header:
\tsize   = 364 bytes
\textent = 372 bytes

dimensions:
\tt = UNLIMITED // (25 currently)
\tx = 3
\ty = 5

fixed-size variables:
\tbyte   a(x):
\t       start file offset =         372
\t       end   file offset =         375
\t       size in bytes     =           3
\t       gap from prev var =           8
\tdouble b(x, y):
\t       start file offset =         384
\t       end   file offset =         504
\t       size in bytes     =         120
\t       gap from prev var =           9

record variables:
\tshort  r(t, x):
\t       start file offset =         544    (0th record)
\t       end   file offset =         550    (0th record)
\t       size in bytes     =           6    (of one record)
\t       gap from prev var =          40
\tfloat  q(t):
\t       start file offset =         552    (0th record)
\t       end   file offset =         556    (0th record)
\t       size in bytes     =           4    (of one record)
\t       gap from prev var =           2
}
"""


def test_text():
    result = text("-sg", "gap.nc")
    tap.ok(result == EXPECTED, "all of a file with gaps, as computed by hand", result)
    result = text("-v", "q,a", "gap.nc")
    tap.ok(re.findall(r"^\t\w+ +(\w+)[(:]", result, re.M) == ["a", "q"], "-v: fixed-size variables first", result)
    starts = re.findall(r"start file offset =\s+(\d+)    \((\w+) record\)", text("-r", "-v", "q", "gap.nc"))
    tap.ok([int(s) for s, _ in starts] == [552 + 12 * r for r in range(25)], "-r: all records", starts)
    tap.ok([o for _, o in starts[1:4]] == ["1st", "2nd", "3rd"] and [o for _, o in starts[11:14]] ==
           ["11th", "12th", "13th"] and starts[21][1] == "21st", "records are counted in English", starts)
    tap.ok(text("-x", "gap.nc") == "1\n" and text("-x", "whole.nc") == "0\n", "-x")
    at = int(re.search(r"header entry at   =\s+(\d+)", text("-d", "-v", "b", "gap.nc")).group(1))
    tap.ok(open("gap.nc", "rb").read()[at:at + 9] == b"\0\0\0\0\0\0\0\1b", "-d: where the header has it", at)


def test_peer():
    """The same text, but for '11st', '12nd' and '13rd', which are correct English here; and the peer has no -d."""
    if not PEER or os.path.dirname(PEER).startswith(tool.BUILD):
        tap.skip("against another ncoffsets", "none is installed (Debian: pnetcdf-bin)")
        return
    wrong = []
    names = ["plain.nc", "head.nc", "gap.nc", "lone.nc", "whole.nc", "empty.nc", "sample.nc"]
    shared = [tap.data(n) for n in ("eraint_uvz.nc", "ref_nctest_classic.nc", "tiny.nc")]
    for path in names + [s for s in shared if s]:
        for options in [[], ["-sgr"], ["-x"]] if path != "sample.nc" else [[], ["-s", "-v", "record_int,fixed_byte"]]:
            theirs = subprocess.run([PEER, *options, path], capture_output=True, check=False).stdout.decode()
            theirs = re.sub(r"\((\d*1[123])(st|nd|rd) record", r"(\1th record", theirs)
            if theirs != text(*options, path):
                wrong.append(f"{options} {path}\n{theirs}---\n{text(*options, path)}")
    tap.ok(not wrong, f"as {PEER}", "\n".join(wrong))


def test_alignment():
    cdf.Writer(1, [("x", 250), ("y", 256)], [],
               [("a", "int", [0], [], []), ("b", "int", [1], [], [])]).write("align.nc")
    begin = int(re.search(r"start file offset =\s+(\d+)", text("align.nc")).group(1))
    result = text("--align=512", "align.nc")
    tap.ok(f"a: begins {begin} bytes into stripe 0, lies on 3 stripes" in result and
           f"b: begins {begin + 1000 - 1024} bytes into stripe 2, lies on 3 stripes" in result and
           "0 of 2 variables begin with a stripe; 2 stripes are shared" in result, "--align: stripes of 512 bytes",
           result)
    result = text("--align=4", "align.nc")
    tap.ok("2 of 2 variables begin with a stripe; 0 stripes are shared" in result, "--align: words of 4 bytes", result)
    tap.ok(text("--align=1K", "align.nc") == text("--align=1024", "align.nc"), "--align=1K")


def heights(svg):
    """Heights of the coloured parts of the strip, which is the column at x=110."""
    return [float(r.getAttribute("height")) for r in svg.getElementsByTagName("rect")
            if r.getAttribute("x") == "110.00" and r.getAttribute("fill") != "none"]


def test_picture():
    for name in ("plain.nc", "head.nc", "gap.nc", "lone.nc", "empty.nc", "sample.nc"):
        result = run("--svg", "--align=64", name)
        svg = xml.dom.minidom.parseString(result.stdout)
        words = " ".join(t.firstChild.data for t in svg.getElementsByTagName("text") if t.firstChild)
        tap.ok(result.returncode == 0 and name in words, f"--svg: {name} is well-formed XML", result.stderr)
    svg = xml.dom.minidom.parseString(run("--svg", "whole.nc").stdout)
    header, data = heights(svg)
    size = os.path.getsize("whole.nc")
    tap.ok(abs(data / header - 120 / (size - 120)) < 0.01, "--svg: the strip is to scale", (header, data, size))
    run("--svg=picture.svg", "gap.nc")
    tap.ok(open("picture.svg", "rb").read() == run("--svg", "gap.nc").stdout, "--svg=FILE")
    with open("odd.nc", "wb") as file:
        file.write(open("whole.nc", "rb").read().replace(b"\0\0\0\1b\0\0\0", b"\0\0\0\3<&\xff\0"))
    svg = xml.dom.minidom.parseString(run("--svg", "odd.nc").stdout)
    tap.ok(any("<&\ufffd" in t.firstChild.data for t in svg.getElementsByTagName("text")), "--svg: a hostile name")
    with open("cut.nc", "wb") as file:
        file.write(open("whole.nc", "rb").read()[:-40])
    sizes = {run("--align=" + size, "cut.nc").stdout for size in ("4096", "4k", "4K")}
    tap.ok(len(sizes) == 1 and b"4096" in sizes.pop(), "--align: suffixes in either case", sizes)
    tap.ok(b"truncated, 40 bytes" in run("--svg", "cut.nc").stdout, "--svg: a truncated file")
    result = run("--svg=no/folder.svg", "gap.nc")
    tap.ok(result.returncode == 1 and b"no/folder.svg" in result.stderr, "--svg: a folder that does not exist")


def test_groups():
    """Many small variables: groups with their number, names and first byte."""
    names = [f"v{i:03}" for i in range(300)]
    cdf.Writer(1, [("t", None), ("x", 3), ("y", 5000)], [], [(name, "int", [1], [], []) for name in names[:200]] +
               [("large", "int", [2], [], [])] + [(name, "int", [1], [], []) for name in names[200:]]).write("many.nc")
    begins = dict(zip(re.findall(r"^\t\w+ +(\w+)\(", text("many.nc"), re.M),
                      map(int, re.findall(r"start file offset =\s+(\d+)", text("many.nc")))))
    svg = xml.dom.minidom.parseString(run("--svg", "many.nc").stdout)
    words = [t.firstChild.data for t in svg.getElementsByTagName("text") if t.firstChild]
    seen, wrong = [], []
    for i, word in enumerate(words):
        group = re.fullmatch(r"(\d+) variables: (\w+) to (\w+)", word)
        if group:
            first, end = names.index(group[2]), names.index(group[3]) + 1
            seen += names[first:end]
            if int(group[1]) != end - first or int(words[i + 1]) != begins[group[2]]:
                wrong.append((word, words[i + 1]))
        elif word.startswith("int v"):
            seen.append(word[4:8])
    rows = sum(" variables: " in word or word.startswith("int ") for word in words)
    tap.ok(seen == names and not wrong and 30 <= rows <= 40 and "int large(y)" in words,
           "--svg: groups of small variables", (wrong, words))


def test_page():
    """The data of the page; test_page.py opens it in a browser."""
    page = run("--html", "--align=64", "gap.nc").stdout.decode()
    data = json.loads(re.search(r'<script type="application/json" id="data">\n(.*?)</script>', page, re.S)[1])
    variables = [[v["name"], v["type"], v["begin"], v["size"], v["record"], v["dims"]] for v in data.pop("variables")]
    tap.ok(variables == [["a", "byte", 372, 3, False, ["x = 3"]], ["r", "short", 544, 6, True, ["t = 25", "x = 3"]],
                         ["b", "double", 384, 120, False, ["x = 3", "y = 5"]], ["q", "float", 552, 4, True, ["t = 25"]]]
           and data == {"name": "gap.nc", "format": 5, "size": os.path.getsize("gap.nc"), "header": 364, "align": 64,
                        "begin_rec": 544, "recsize": 12, "numrecs": 25}, "--html: the file as computed by hand", page)
    tap.ok(not re.search(r'(src|href)\s*=|url\(|@import|fetch\(', page), "--html: nothing from elsewhere")
    name = "</script><b>"
    cdf.Writer(1, [("x", 3)], [], [(name, "int", [0], [], [])]).write("hostile.nc")
    page = run("--html", "hostile.nc").stdout.decode()
    tap.ok(name not in page and "\\u003c/script>\\u003cb>" in page, "--html: a hostile name", page)


def refs(*arguments):
    result = run("--kerchunk", *arguments)
    return json.loads(result.stdout)["refs"] if result.returncode == 0 else result


def test_references():
    """Offsets and sizes of chunks as computed by hand; test/interop/test_zarr.py reads the values by them."""
    def chunks(*arguments):
        found = refs(*arguments)
        return {key: value[1:] for key, value in found.items() if isinstance(value, list)}
    expected = {"a/0": [372, 3], "b/0.0": [384, 120]}
    expected.update((f"r/{i}.0", [544 + 12 * i, 6]) for i in range(25))
    expected.update((f"q/{i}", [552 + 12 * i, 4]) for i in range(25))
    result = chunks("gap.nc")
    tap.ok(result == expected, "--kerchunk: fixed-size variables and records", result)
    result = refs("gap.nc")
    tap.ok(json.loads(result["r/.zarray"]) == {
        "zarr_format": 2, "shape": [25, 3], "chunks": [1, 3], "dtype": ">i2", "compressor": None, "filters": None,
        "order": "C", "fill_value": None} and json.loads(result["r/.zattrs"]) == {"_ARRAY_DIMENSIONS": ["t", "x"]} and
        result["a/0"][0] == os.path.realpath("gap.nc"), "--kerchunk: metadata", result)
    result = chunks("-v", "b", "--chunk=50", "gap.nc")
    tap.ok(result == {f"b/{i}.0": [384 + 40 * i, 40] for i in range(3)}, "--chunk: along the slowest dimension", result)
    result = chunks("-v", "b", "--chunk=39", "gap.nc")
    tap.ok(result == {f"b/{i}.{k}": [384 + 40 * i + 8 * k, 8] for i in range(3) for k in range(5)},
           "--chunk: a row of prime length is one chunk or its elements", result)
    cdf.Writer(1, [("n", 10007)], [], [("v", "double", [0], [], [])]).write("prime.nc")
    tap.ok(len(chunks("--chunk=79K", "prime.nc")) == 1 and len(chunks("prime.nc")) == 1,
           "--chunk: a large prime length is not divided")
    shutil.copy("gap.nc", "gap2.nc")
    result = refs("--url=s3://bucket/run/", "gap.nc", "gap2.nc")
    tap.ok(json.loads(result["q/.zarray"])["shape"] == [50] and
           result["q/24"] == ["s3://bucket/run/gap.nc", 552 + 12 * 24, 4] and
           result["q/25"] == ["s3://bucket/run/gap2.nc", 552, 4] and result["a/0"][0].endswith("/gap.nc"),
           "--kerchunk: two files, --url", result)


def test_references_trouble():
    def write(name, variables, numrecs=1, x=3):
        cdf.Writer(1, [("t", None), ("x", x)], [], variables, numrecs).write(name)
    hours = [("units", "char", b"hours since 2001-01-01")]
    write("first.nc", [("v", "int", [0, 1], hours, []), ("f", "int", [1], [], [])])
    write("units.nc", [("v", "int", [0, 1], [("units", "char", b"hours since 2002-01-01")], [])])
    write("type.nc", [("v", "float", [0, 1], hours, [])])
    write("length.nc", [("v", "int", [0, 1], hours, [])], x=4)
    write("more.nc", [("w", "int", [0], [], []), ("v", "int", [0, 1], hours, [])])
    write("fixed.nc", [("f", "int", [1], [], [])])
    with open("short.nc", "wb") as file:
        file.write(open("first.nc", "rb").read()[:-1])
    for name, xs in (("x1.nc", [1, 2, 3]), ("x2.nc", [1, 2, 3]), ("x3.nc", [1, 2, 4])):
        write(name, [("x", "int", [1], [], xs), ("v", "int", [0, 1], hours, [])])
    fails("x3.nc: coordinate variable x has the value 4 at [2], but 3 in x1.nc",
          "--kerchunk: other coordinates", "--kerchunk", "x1.nc", "x3.nc")
    tap.ok(run("--kerchunk", "x1.nc", "x2.nc").returncode == 0, "--kerchunk: equal coordinates")
    fails('units.nc: v:units is "hours since 2002-01-01", but "hours since 2001-01-01" in first.nc: references cannot '
          "convert values", "--kerchunk: times since another day", "--kerchunk", "first.nc", "units.nc")
    fails("another type", "--kerchunk: another type", "--kerchunk", "first.nc", "type.nc")
    fails("other dimensions", "--kerchunk: another length", "--kerchunk", "first.nc", "length.nc")
    fails("fixed.nc: no variable v in this file, but in first.nc",
          "--kerchunk: a variable is missing", "--kerchunk", "first.nc", "fixed.nc")
    fails("fixed.nc: has no record variables", "--kerchunk: nothing to join", "--kerchunk", "fixed.nc", "first.nc")
    fails("short.nc: the file is truncated", "--kerchunk: a truncated file", "--kerchunk=no.json", "short.nc")
    fails("missing.nc: No such file", "--kerchunk: a missing file", "--kerchunk=no.json", "first.nc", "missing.nc")
    tap.ok(not os.path.exists("no.json"), "--kerchunk: no file after an error")
    result = run("--kerchunk", "first.nc", "more.nc")
    tap.ok(result.returncode == 0 and b"more.nc: warning: variable w is left out" in result.stderr,
           "--kerchunk: a variable that the first file does not have", result)
    fails("exclude each other", "--svg and --kerchunk", "--svg", "--kerchunk", "first.nc")
    fails("exclude each other", "--html and --svg", "--html", "--svg", "first.nc")
    fails("--chunk=0", "--chunk: 0", "--chunk=0", "first.nc")


def test_parquet_trouble():
    """References that ncoffsets-parquet refuses, before it needs pyarrow; test_zarr.py has those that it writes."""
    program = os.path.join(tool.BUILD, "src", "tools", "ncoffsets-parquet")
    array = json.dumps({"shape": [2], "chunks": [1]})
    whole = {"v/.zarray": array, "v/0": ["u", 0, 4], "v/1": ["u", 4, 4]}

    def refuses(content, words, folder="out.parq"):
        with open("in.json", "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        before = sorted(os.listdir())
        done = subprocess.run([sys.executable, "-S", program, "in.json", folder], capture_output=True, text=True,
                              check=False)
        tap.ok(done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1 and
               done.stderr.startswith("ncoffsets-parquet: ") and sorted(os.listdir()) == before,
               f"ncoffsets-parquet: {words}", done)

    def refuses_references(words, without=(), **changes):
        refs = {key.replace("_", "/", 1): value for key, value in changes.items()}
        refuses({"version": 1, "refs": {**{key: whole[key] for key in whole if key not in without}, **refs}}, words)

    refuses("{", "in.json: this is not JSON")
    refuses([], "in.json: these are no references")
    refuses({"version": 1, "refs": whole, "templates": {"u": "x"}}, "in.json: these are no references")
    refuses({"version": 0, "refs": whole}, "in.json: these are no references")
    refuses_references("w/.zarray is missing", w_0=["u", 0, 4])
    refuses_references("v: has 1 chunks, must be 2", ["v/1"])
    refuses_references("v/2: this is not the key of a chunk", ["v/1"], v_2=["u", 0, 4])
    refuses_references("v/01: this is not the key of a chunk", ["v/0"], **{"v_01": ["u", 0, 4]})
    refuses_references("v/00: this is not the key of a chunk", ["v/0"], **{"v_00": ["u", 0, 4]})
    refuses_references("this is not the key of a chunk", ["v/0"], **{"v_" + 5000 * "1": ["u", 0, 4]})
    refuses_references("v/0.1: this is not the key of a chunk", ["v/1"], **{"v_0.1": ["u", 0, 4]})
    refuses_references("v/0: must be [URL, offset, size]", v_0="inline")
    refuses_references("v/0: must be [URL, offset, size]", v_0=["u", -1, 4])
    refuses_references("v/0: must be [URL, offset, size]", v_0=["u", True, 4])
    refuses_references("v/0: must be [URL, offset, size]", v_0=["\ud800", 0, 4])
    for name in ("", "a\0b", "\ud800"):
        refuses_references("this is not the name of a variable", **{name + "_0": ["u", 0, 4]})
    refuses_references("v/.zarray: shape and chunks", **{"v_.zarray": json.dumps({"shape": [2], "chunks": [0]})})
    refuses_references("v/.zarray: shape and chunks", **{"v_.zarray": json.dumps({"shape": [True], "chunks": [1]})})
    refuses_references("v/.zarray: has too many chunks",
                       **{"v_.zarray": json.dumps({"shape": 2 * [2**62], "chunks": [1, 1]})})
    refuses_references("v/.zattrs: must be a string that contains", **{"v_.zattrs": 20000 * "["})
    refuses(100000 * "[", "in.json: this is not JSON")
    refuses_references("v/.zarray: must be a string that contains", **{"v_.zarray": "[1]"})
    refuses_references("../x: this is not the name of a variable", **{".._x": ["u", 0, 4]})
    refuses({"version": 1, "refs": whole}, "needs pyarrow: python3 -m pip install pyarrow")
    with open("file.parq", "w", encoding="utf-8") as file:
        file.write("mine")
    refuses({"version": 1, "refs": whole}, "file.parq: exists and is not a folder", "file.parq")
    os.mkdir("full.parq")
    shutil.move("file.parq", "full.parq/mine.txt")
    refuses({"version": 1, "refs": whole}, "full.parq/mine.txt is no part of references", "full.parq")
    refuses({"version": 1, "refs": whole}, ".: contains in.json, which is read", ".")
    refuses({"version": 1, "refs": whole}, "missing/out.parq: cannot be written: No such file", "missing/out.parq")
    done = subprocess.run(["sh", "-c", '"$0" -S "$1" - out.parq <&-', sys.executable, program], capture_output=True,
                          text=True, check=False)
    tap.ok(done.returncode == 1 and done.stderr == "ncoffsets-parquet: -: Bad file descriptor\n",
           "ncoffsets-parquet: standard input is closed", done)


def test_parquet_link():
    """A link to a folder of references stays, and nothing else is left. References to no chunk need no pyarrow."""
    program = os.path.join(tool.BUILD, "src", "tools", "ncoffsets-parquet")
    with open("none.json", "w", encoding="utf-8") as file:
        file.write('{"version": 1, "refs": {".zgroup": "{}"}}')
    os.mkdir("target.parq")
    os.symlink("target.parq", "link.parq")
    before = sorted(os.listdir())
    done = subprocess.run([sys.executable, "-S", program, "none.json", "link.parq"], capture_output=True, check=False)
    tap.ok(done.returncode == 0 and sorted(os.listdir()) == before and os.readlink("link.parq") == "target.parq" and
           os.listdir("target.parq") == [".zmetadata"], "ncoffsets-parquet: the folder is a link", done)
    for word in ("-h", "--version"):
        done = subprocess.run([program, word], capture_output=True, text=True, check=False)
        tap.ok(done.returncode == 0 and "ncoffsets-parquet" in done.stdout, f"ncoffsets-parquet {word}", done)


def test_documents():
    """The picture that README.md shows is the one that is drawn."""
    path = tap.data("ref_nctest_classic.nc")
    if path is None:
        tap.skip("docs/ncoffsets.svg", "no ref_nctest_classic.nc")
        return
    with open(os.path.join(HERE, "..", "..", "docs", "ncoffsets.svg"), "rb") as file:
        tap.ok(file.read() == run("--svg", "--align=4K", path).stdout, "docs/ncoffsets.svg is current")


def test_files():
    """What a picture, or a file of references, may replace."""
    def arguments(path, options):
        return [*options, f"--svg={path}", "sample.nc"]
    tool.refuses_itself("ncoffsets", "sample.nc", arguments)
    with open("sample.nc", "rb") as file:
        tool.replaces_kind("ncoffsets", "there.svg", file.read(), arguments)
    for name, option in (("there.json", "--kerchunk"), ("there.html", "--html")):
        with open("sample.nc", "rb") as file:
            tool.replaces_kind("ncoffsets", name, file.read(),
                               lambda path, options, option=option: [*options, f"{option}={path}", "sample.nc"])
    whole = run("--svg", "sample.nc").stdout
    tap.ok(run(*arguments("/dev/stdout", [])).stdout == whole, "--svg=/dev/stdout, a pipe")
    with open("stdout.svg", "wb") as out:
        out.write(b"before\n")
        out.flush()
        run(*arguments("/dev/stdout", []), stdout=out)
    tap.ok(open("stdout.svg", "rb").read() == b"before\n" + whole, "--svg=/dev/stdout, a file")
    os.mkfifo("fifo")
    with subprocess.Popen(["cat", "fifo"], stdout=subprocess.PIPE) as cat:
        run(*arguments("fifo", []))
        tap.ok(cat.stdout.read() == whole, "--svg=FIFO")


def test_trouble():
    fails("missing.nc: No such file", "a missing file", "missing.nc")
    fails(".: this is a folder", "a folder", ".")
    with open("hdf5.nc", "wb") as file:
        file.write(b"\x89HDF\r\n\x1a\n" + bytes(100))
    fails("HDF5", "HDF5", "hdf5.nc")
    with open("hole.nc", "wb") as file:
        file.write(open("gap.nc", "rb").read()[:50])
    fails("hole.nc: the list of dimensions at byte 16", "a header that is cut", "hole.nc")
    fails("did you mean fixed_int?", "-v: a mistyped name", "-v", "fixed_imt", "sample.nc")
    fails("-v ,: must be names", "-v: no name", "-v", ",", "sample.nc")
    fails("--align", "--align: no number", "--align=x", "sample.nc")
    fails("--align", "--align: 0", "--align=0", "sample.nc")
    fails("--align", "--align: too large", "--align=99999999999G", "sample.nc")
    fails("no file", "no file")
    fails("more than one", "two files", "sample.nc", "gap.nc")
    fails("'z'", "an unknown option", "-z", "gap.nc")
    for word in ("-h", "--help", "--version"):
        result = run(word)
        tap.ok(result.returncode == 0 and b"ncoffsets" in result.stdout and not result.stderr, word)
    tool.fails_to_print("ncoffsets", "sample.nc")
    tool.prints_elsewhere("ncoffsets", "sample.nc", "sample.nc")


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
make_files()
for test in (test_text, test_peer, test_alignment, test_picture, test_groups, test_page, test_references,
             test_references_trouble, test_parquet_trouble, test_parquet_link, test_documents,
             test_files, test_trouble):
    test()
tap.finish()
