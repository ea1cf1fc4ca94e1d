"""netCDF-4 files by ncmpigen: those of ncgen for the same text, and the same files again by way of ncmpidump -s and of
ncdump -s; values and storage as h5py and netCDF-C read them."""
import os
import re
import resource
import subprocess
import sys

import netCDF4
import numpy as np

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools")]
import tap  # noqa: E402
import tool  # noqa: E402
from tap import ok, scratch, skip  # noqa: E402

random = np.random.default_rng(17)
NUMBERS = ["i1", "i2", "i4", "f4", "f8", "i8", "u1", "u2", "u4", "u8"]


def values(kind, shape):
    if kind[0] == "f":
        return random.normal(0, 1000, shape).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, kind, endpoint=True)


# --- texts ---

def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.stdout, done.stderr if done.returncode == 0 else b"exit status %d: " % done.returncode + done.stderr


# who made the file, and what netCDF-C finds by rules of its own
MAKER = re.compile(rb"\t\t:(_NCProperties|_SuperblockVersion|_IsNetcdf4) = .*\n")


def ours(path, *options):
    text, err = output_of(*tool.command("ncmpidump"), "-s", "-n", "same", "-p", "9,17", *options, scratch(path))
    return MAKER.sub(b"", text) if not err else err


def theirs(path, *options):
    text, err = output_of("ncdump", "-s", "-n", "same", "-p", "9,17", *options, scratch(path))
    return MAKER.sub(b"", text) if not err else err


def write(name, text):
    with open(scratch(name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return scratch(name)


def generate(name, text, *options):
    result = tool.run("ncmpigen", "-o", scratch(name), *options, write("text.cdl", text))
    return result.returncode == 0 and not result.stderr, result.stderr


def where(a, b):
    lines = [(x, y) for x, y in zip(a.splitlines(), b.splitlines()) if x != y]
    return lines[:3] or (len(a), len(b), a[:200])


def comes_back(path, label):
    """By way of both dumping tools the file is made again, by both generators, and both dumping tools say so."""
    before, before_theirs = ours(path), theirs(path)
    for by, text in (("ncmpidump -s", before), ("ncdump -s", before_theirs)):
        made, why = generate("again.nc", text, "-k", "netcdf4")
        ok(made and ours("again.nc") == before, f"{label}: {by}, ncmpigen, ncmpidump",
           why or where(before, ours("again.nc")))
        ok(theirs("again.nc") == before_theirs, "  and ncdump agrees", where(before_theirs, theirs("again.nc")))
    _, err = output_of("ncgen", "-k", "nc4", "-o", scratch("theirs.nc"), write("text.cdl", before))
    ok(not err and ours("theirs.nc") == before, f"{label}: ncmpidump -s, ncgen, ncmpidump",
       err or where(before, ours("theirs.nc")))
    result = tool.run("ncvalidator", scratch("again.nc"))
    ok(result.returncode == 0, "  and ncvalidator finds no error", result.stdout + result.stderr)


# --- files of netCDF-C ---

def make_types(path, how="NETCDF4"):
    with netCDF4.Dataset(path, "w", format=how) as file:
        for name, length in (("time", None), ("x", 13), ("y", 7)):
            file.createDimension(name, length)
        time = file.createVariable("time", "f8", ("time",))
        time[:] = np.arange(9)
        time.units = "days since 2001-01-01"
        for kind in NUMBERS if how == "NETCDF4" else NUMBERS[:5]:
            packed = file.createVariable("packed_" + kind, kind, ("time", "x", "y"), zlib=True, complevel=4,
                                         shuffle=kind != "u4", fletcher32=kind == "i4", chunksizes=(4, 5, 3),
                                         fill_value=np.array(17, kind))
            packed[:] = values(kind, (9, 13, 7))
            packed.one, packed.many = values(kind, ()), values(kind, 3)
            file.createVariable("plain_" + kind, kind, ("x", "y"))[:] = values(kind, (13, 7))
            file.createVariable("scalar_" + kind, kind, ())[...] = values(kind, ())
        file.createVariable("big", ">i4", ("x",), endian="big", chunksizes=(6,))[:] = np.arange(13)
        file.createVariable("never", "f4", ("time", "x"))
        file.createVariable("free", "i2", ("y",), fill_value=False)[:] = np.arange(7)
        file.createVariable("loose", "i2", ("time", "y"), fill_value=False)[:] = np.arange(63).reshape(9, 7)
        letters = np.array(list(b"abcdefg") * 13, "u1").reshape(13, 7).view("S1")
        file.createVariable("text", "S1", ("x", "y"))[:] = letters
        file.createVariable("records", "S1", ("time", "y"), zlib=True)[:3] = letters[:3]
        file.createVariable("x", "f4", ("x",))[:] = np.arange(13)
        file.createVariable("y", "f4", ("x", "y"))[:] = 2  # not a coordinate variable
        file.title, file.empty = "two\nlines", ""


def make_random(path):
    with netCDF4.Dataset(path, "w") as file:
        lengths = {f"d{i}": int(random.integers(1, 9)) for i in range(4)}
        for name, length in lengths.items():
            file.createDimension(name, length)
        file.createDimension("t", None)
        records = int(random.integers(0, 6))
        for i in range(int(random.integers(1, 8))):
            names = list(random.permutation(list(lengths))[:random.integers(0, 4)])
            names = (["t"] if random.random() < .5 else []) + names
            shape = [records if name == "t" else lengths[name] for name in names]
            kind = str(random.choice(NUMBERS))
            options = {}
            if names and random.random() < .7:
                options = {"zlib": bool(random.random() < .5), "shuffle": bool(random.random() < .5),
                           "fletcher32": bool(random.random() < .3),
                           "chunksizes": [int(random.integers(1, 4 if name == "t" else lengths[name] + 1))
                                          for name in names]}
            variable = file.createVariable(f"v{i}", kind, names, **options)
            if random.random() < .9 and (not names or min(shape) > 0):
                variable[...] = values(kind, shape)
            variable.number = values(kind, ())
            if random.random() < .5:
                variable.setncattr("a text", "of \"v\"\\")
    return path


def check_files():
    make_types(scratch("types.nc"))
    comes_back("types.nc", "all types")
    make_types(scratch("classic.nc"), "NETCDF4_CLASSIC")
    text = ours("classic.nc")
    made, why = generate("again.nc", text)
    ok(made and ours("again.nc") == text and b'_Format = "netCDF-4 classic model"' in text,
       "the format that the text names", why or where(text, ours("again.nc")))
    made, why = generate("again.nc", MAKER.sub(b"", theirs("classic.nc")))
    ok(made and ours("again.nc") == text, "and that of the attribute _Format alone",
       why or where(text, ours("again.nc")))
    for i in range(4 if tap.is_quick() else 25):
        make_random(scratch("random.nc"))
        comes_back("random.nc", f"random file {i}")


# --- storage ---

SPECIAL = """netcdf special { dimensions: t = UNLIMITED ; x = 100 ; y = 40 ;
variables: float a(t, x, y) ; a:_DeflateLevel = 3 ; a:_Shuffle = "true" ; a:_ChunkSizes = 2, 30, 40 ;
    a:_Fletcher32 = "true" ;
  int b(x) ; b:_Storage = "compact" ; double c(x, y) ; c:_Storage = "chunked" ; c:_Endianness = "big" ;
  short d(x) ; d:_Filter = "32015,5" ; d:_Shuffle = "true" ; d:_NoFill = "true" ; int e(x) ; e:_Shuffle = "false" ;
  e:_Storage = "contiguous" ; byte f(y) ; f:_Filter = "2|1,7|3" ; int g(t) ; g:_Codecs = "[]" ; float h(x, y) ;
  h:_ChunkSizes = 7, 7 ; int i(x) ; i:_DeflateLevel = 0 ; float nan(x) ; nan:_FillValue = NaN ;
  :_Format = "netCDF-4" ; :_NCProperties = "of another file" ;
data: b = 1, 2, _ ; c = 1.5, -2.5 ; d = 7, 8, 9 ; e = 5 ; f = 1, -1 ; g = 1, 2, 3 ; a = 0, 1, 2 ; i = 4 ; nan = 1 ; }
"""


def check_special():
    made, why = generate("special.nc", SPECIAL)
    if not ok(made, "special attributes", why):
        return
    with netCDF4.Dataset(scratch("special.nc")) as file:
        file.set_auto_mask(False)
        storage = {name: (v.chunking(), {key: value for key, value in (v.filters() or {}).items() if value})
                   for name, v in file.variables.items()}
        expected = {"a": ([2, 30, 40], {"zlib": True, "shuffle": True, "complevel": 3, "fletcher32": True}),
                    "e": ("contiguous", {}), "f": ([40], {"shuffle": True, "zlib": True, "complevel": 7,
                                                         "fletcher32": True}),
                    "h": ([7, 7], {}), "i": ([100], {"zlib": True})}
        wrong = {name: (storage[name], what) for name, what in expected.items() if storage[name] != what}
        ok(not wrong and file.data_model == "NETCDF4", "netCDF-C finds chunks and filters", wrong)
        filled = netCDF4.default_fillvals
        rows = [("b", [1, 2, filled["i4"], filled["i4"]]), ("e", [5, filled["i4"]]), ("f", [1, -1, filled["i1"]]),
                ("g", [1, 2, 3]), ("i", [4, filled["i4"]])]
        wrong = [(name, file[name][:len(row)]) for name, row in rows if not np.array_equal(file[name][:len(row)], row)]
        ok(not wrong, "values, and fill values behind them", wrong)
        ok(file["c"].endian() == "big" and list(file["c"][0, :3]) == [1.5, -2.5, filled["f8"]], "big-endian values")
        ok(file["a"].shape == (3, 100, 40) and list(file["a"][0, 0, :3]) == [0, 1, 2] and
           (file["a"][1:] == np.float32(filled["f4"])).all(), "records that the text does not have", file["a"].shape)
        ok((file["h"][:] == np.float32(filled["f4"])).all(), "a variable without values has none in the file")
        ok(np.isnan(file["nan"][1:]).all() and file["nan"][0] == 1 and file["nan"]._FillValue.dtype == np.float32,
           "NaN as fill value has the type of the variable")
        try:
            ok(list(file["d"][:3]) == [7, 8, 9], "zstd")
        except RuntimeError as error:
            skip("netCDF-C reads zstd", error)
    text, _ = output_of("h5dump", "-pH", scratch("special.nc"))
    ok(not text or (b"COMPACT" in text and b"FILTER_ID 32015" in text and b"PARAMS { 5 }" in text),
       "compact storage, and zstd", text[:3000])
    text = ours("special.nc")
    made, why = generate("again.nc", text)
    ok(made and ours("again.nc") == text and text.count(b"_NoFill") == 1, "ncmpidump -s, and again", why)
    made, why = generate("again.nc", SPECIAL, "-k", "classic")
    ok(made and theirs("again.nc", "-h").count(b":_") == 2, "-k classic ignores them", why or theirs("again.nc", "-h"))
    made, why = generate("zeros.nc", SPECIAL, "-x")
    with netCDF4.Dataset(scratch("zeros.nc")) as file:
        file.set_auto_mask(False)
        ok(list(file["b"][:3]) == [1, 2, filled["i4"]] and not file["h"][:].any(), "-x: a variable without values")


def check_kinds():
    text = "netcdf k { dimensions: x = 3 ; variables: int v(x) ; data: v = 1, 2, 3 ; }"
    for kinds, model in ((("nc4", "netCDF-4", "netcdf4", "3", "hdf5", "enhanced"), "NETCDF4"),
                         (("nc7", "netCDF-4 classic model", "netcdf4_classic", "4", "hdf5-nc3"), "NETCDF4_CLASSIC")):
        for kind in kinds:
            made, why = generate("kind.nc", text, "-k", kind)
            with netCDF4.Dataset(scratch("kind.nc")) as file:
                ok(made and file.data_model == model and list(file["v"][:]) == [1, 2, 3], f"-k {kind}", why)


# --- what goes wrong ---

def check_mistakes():
    start = "netcdf m { dimensions: t = UNLIMITED ; x = 10 ; variables: int v(x), r(t), s ;\n"
    for line, words in [('v:_Storage = "tape" ;', "must be \"contiguous\""), ("v:_Storage = 1 ;", "_Storage"),
                        ('r:_Storage = "contiguous" ;', "must be chunked"), ("v:_ChunkSizes = 11 ;", "10 elements"),
                        ("v:_ChunkSizes = 2, 2 ;", "each dimension"), ("v:_ChunkSizes = 0 ;", "positive"),
                        ("v:_ChunkSizes = -3 ;", "positive"), ("v:_ChunkSizes = 2.5 ;", "positive"),
                        ("v:_DeflateLevel = 10 ;", "0 to 9"), ('v:_DeflateLevel = "high" ;', "0 to 9"),
                        ('v:_Shuffle = "perhaps" ;', "true"), ('v:_Fletcher32 = 7 ;', "true"),
                        ('v:_Endianness = "middle" ;', "little"), ('v:_NoFill = "no" ;', "true"),
                        ("s:_DeflateLevel = 1 ;", "no dimensions"), ('v:_Filter = "" ;', "ID"),
                        ('v:_Filter = "1,2,x" ;', "ID"), ('v:_Filter = "4294967296" ;', "ID"),
                        ("v:_Filter = 5 ;", "ID"),
                        ('v:_Filter = "1,9|" ;', "ID")]:
        tool.fails("ncmpigen", f"text.cdl:2:{line.index(':') + 2}: ", line, "-k", "nc4", "-o", scratch("bad.nc"),
                   write("text.cdl", start + line + " }"))
        result = tool.run("ncmpigen", "-k", "nc4", "-o", scratch("bad.nc"), scratch("text.cdl"))
        ok(words.encode() in result.stderr and not os.path.exists(scratch("bad.nc")), f"  {words}", result.stderr)
    tool.fails("ncmpigen", "uint64", "a type that the classic model does not have", "-k", "nc7", "-o",
               scratch("bad.nc"), write("text.cdl", "netcdf u { variables: uint64 u ; }"))
    for line, words in (("types: int enum e {a = 1} ;", "of such files"), ("group: g { }", "of such files"),
                        ("variables: string s ;", "this reader"), (':s = 1 ; string :t = "a" ;', "this reader"),
                        ("dimensions: g/x = 3 ;", "no groups"),
                        ("dimensions: t = UNLIMITED ; u = UNLIMITED ;", "of netCDF-4 files this reader has one"),
                        ("dimensions: t = UNLIMITED ; x = 3 ; variables: int v(x, t) ;", "the slowest of each")):
        tool.fails("ncmpigen", words, f"what is not made: {line}", "-k", "nc4", "-o", scratch("bad.nc"),
                   write("text.cdl", "netcdf u { " + line + " }"))
    tool.fails("ncmpigen", 'the name "CLASS"', "an attribute with a name of the format", "-k", "nc4", "-o",
               scratch("bad.nc"), write("text.cdl", 'netcdf u { dimensions: x = 1 ; variables: int x(x) ; '
                                                    'x:CLASS = "a" ; data: x = 1 ; }'))
    tool.fails("ncmpigen", "one value of type short", "a fill value of another type", "-k", "nc4", "-o",
               scratch("bad.nc"), write("text.cdl", "netcdf u { variables: short u ; int u:_FillValue = 70000 ; }"))
    tool.fails("ncmpigen", "filter", "a filter that is not installed", "-k", "nc4", "-o", scratch("bad.nc"),
               write("text.cdl", 'netcdf u { dimensions: x = 3 ; variables: int u(x) ; u:_Filter = "31999" ; '
                                 "data: u = 1 ; }"))
    tool.fails("ncmpigen", "-c and -f", "a program", "-c", "-k", "nc4", write("text.cdl", SPECIAL))
    large = "netcdf l { dimensions: x = 100000 ; variables: double v(x) ; data: v = 1 ; }"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))
    result = tool.run("ncmpigen", "-k", "nc4", "-o", scratch("bad.nc"), write("text.cdl", large), preexec_fn=limit,
                      restore_signals=False)
    left = [name for name in os.listdir(os.path.dirname(scratch("bad.nc"))) if name.startswith("bad.nc")]
    ok(result.returncode == 1 and not left, "a full disk leaves nothing behind", (result.stderr, left))


def check_memory():
    """Chunks across many records: memory holds a chunk, not the records."""
    n = 300 if tap.is_quick() else 1500
    head = ("netcdf m { dimensions: t = UNLIMITED ; x = 1000 ; variables: double v(t, x), w(t, x) ; "
            "v:_ChunkSizes = 50, 1000 ; v:_DeflateLevel = 1 ; data: ")
    with open(scratch("long.cdl"), "w", encoding="ascii") as file:
        file.write(head)
        for name in "vw":
            file.write(f"{name} = ")
            for i in range(n):
                file.write(", " * (i > 0) + ", ".join(str(i * 3 + j) for j in range(1000)))
            file.write(" ;\n")
        file.write("}")
    result = tool.run("ncmpigen", "-k", "nc4", "-o", scratch("long.nc"), scratch("long.cdl"))
    with netCDF4.Dataset(scratch("long.nc")) as file:
        expected = np.arange(n)[:, None] * 3 + np.arange(1000)
        ok(result.returncode == 0 and np.array_equal(file["v"][:], expected) and
           np.array_equal(file["w"][:], expected), f"{n} records", result.stderr)


if not tool.has_netcdf4():
    tap.finish()
check_files()
check_special()
check_kinds()
check_mistakes()
check_memory()
tap.finish()
