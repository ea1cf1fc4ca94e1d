"""References of kerchunk as JSON are opened like a store of Zarr: what ncoffsets --kerchunk writes of classic and
netCDF-4 files, other forms of references, and damaged or hostile ones. With PNC_TEST_LONG=1 more of the last."""
import base64
import json
import os
import random
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, instruments, ok, run_mpi, scratch, skip  # noqa: E402

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
READ = "test/interop/netcdf4_read"
CDL = """netcdf k { dimensions: t = UNLIMITED ; y = 40 ; x = 50 ;
variables: char a(y) ; double b(x) ; float c(t, y, x) ; c:units = "K" ; c:_FillValue = -9.f ; int d ; short e(t) ;
:title = "hello" ;
data: a = "abcd" ; b = 1, 2, 3 ; d = 7 ; e = 3, 4, 5 ;
c = %s ; }
""" % ", ".join(str(i % 1009) for i in range(3 * 40 * 50))


def run_tool(name, *arguments, **how):
    command = [os.path.join(BUILD, "src", "tools", name, name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=60, **how)
    return done.returncode, done.stdout + done.stderr


def write(name, references):
    path = scratch(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(references if isinstance(references, str) else json.dumps(references))
    return path


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def gets(path, ranks, mode):
    """What all ranks read, of hyperslabs that depend on the definitions only."""
    out = scratch("kerchunk.values")
    status, stdout, stderr = run_mpi(ranks, READ, path, mode, out, 5, 3)
    found = [read_bytes(f"{out}.{rank}") for rank in range(ranks)]
    return found, stdout + stderr if status != 0 or stdout else ""


def check_ours(kind, *options):
    cdl, path, references = scratch("kerchunk.cdl"), scratch(f"kerchunk_{kind}.nc"), scratch(f"kerchunk_{kind}.json")
    with open(cdl, "w", encoding="ascii") as file:
        file.write(CDL)
    made, text = run_tool("ncmpigen", "-k", kind, "-o", path, cdl)
    if made == 0 and options:
        shutil.move(path, path + ".plain")
        made, text = run_tool("ncmpicopy", *options, path + ".plain", path)
    status, more = run_tool("ncoffsets", "-O", f"--kerchunk={references}", path)
    if not ok(made == 0 and status == 0, f"{kind}: references", text + more):
        return None
    for ranks in (1, 2, 4):
        status, out, err = run_mpi(ranks, "src/tools/ncmpidiff/ncmpidiff", references, path)
        ok(status == 0, f"{kind}: ncmpidiff on {ranks} ranks", out + err)
        for mode in ("all", "indep", "nonblocking"):
            ours, trouble = gets(references, ranks, mode)
            theirs, more = gets(path, ranks, mode)
            ok(ours == theirs and not trouble and not more and sum(map(len, ours)) > 0,
               f"{kind}: gets on {ranks} ranks, {mode}", trouble + more)
    status, text = run_tool("ncvalidator", references)
    ok(status == 0, f"{kind}: ncvalidator", text)
    status, text = run_tool("ncmpicopy", "-O", *([] if has_hdf5() else ["-k", "cdf5"]), references,
                            scratch("kerchunk_copy.nc"))
    status, more = run_tool("ncmpidump", scratch("kerchunk_copy.nc")) if status == 0 else (status, text)
    ok(status == 0 and 'title = "hello"' in more and 'a = "abcd"' in more, f"{kind}: ncmpicopy", more[:500])
    status, text = run_tool("cdfdiff", references, path)
    ok(status == 0, f"{kind}: cdfdiff", text)
    return path, references


def check_forms(path, references):
    """All ways to say the same."""
    with open(references, encoding="utf-8") as file:
        refs = json.load(file)["refs"]
    wanted = gets(path, 2, "all")[0]
    name = os.path.basename(path)
    own = read_bytes(path)
    inlined = {key: own[value[1]:value[1] + value[2]] if isinstance(value, list) else None
               for key, value in refs.items()}
    whole = {key: value for key, value in refs.items()}
    for key, value in refs.items():
        if isinstance(value, list) and key.startswith("c/"):
            with open(scratch(f"kerchunk_part.{key[2:]}"), "wb") as file:
                file.write(inlined[key])
            whole[key] = [f"kerchunk_part.{key[2:]}"]
    forms = {
        "version 0": refs,
        "a relative path": {key: [name, *value[1:]] if isinstance(value, list) else value
                            for key, value in refs.items()},
        "a URL": {key: [f"file://{os.path.abspath(path)}", *value[1:]] if isinstance(value, list) else value
                  for key, value in refs.items()},
        "whole files": whole,
        "base64": {key: value if inlined[key] is None else "base64:" + base64.b64encode(
            inlined[key]).decode() for key, value in refs.items()},
        "objects": {key: json.loads(value) if isinstance(value, str) else value for key, value in refs.items()}}
    for text, form in forms.items():
        other = write("kerchunk_form.json", form if text == "version 0" else {"version": 1, "refs": form})
        found, trouble = gets(other, 2, "all")
        ok(found == wanted and not trouble, f"references: {text}", trouble)
    refs["a/0"] = "\u00e9\U0001f600" + "z" * 34
    text = json.dumps({"version": 1, "templates": {}, "gen": [], "refs": refs}, indent=3)
    status, dump = run_tool("ncmpidump", "-v", "a", write("kerchunk_form.json", text))
    ok(status == 0 and ("\u00e9\U0001f600zzz" in dump or r"\303\251\360\237\230\200zzz" in dump),
       "references: text", dump)


def check_refusals(path, references):
    with open(references, encoding="utf-8") as file:
        refs = json.load(file)["refs"]
    os.mkfifo(scratch("kerchunk_pipe"))
    places = (("https://example.org/k.nc", 0, 40), ("s3://bucket/k.nc", 0, 40), ("missing.nc", 0, 40),
              (path, os.path.getsize(path) - 8, 40), (path, 0, 1 << 50), (path, (1 << 63) - 1, 40),
              ("/dev/zero", 0, 40), (".", 0, 40), ("kerchunk_pipe", 0, 40))
    causes = ("https://example.org/k.nc", "s3://bucket/k.nc", "No such file", "has only", "has only", "has only",
              "not a regular file", "not a regular file", "not a regular file")
    for place, cause in zip(places, causes):
        other = write("kerchunk_bad.json", {"version": 1, "refs": {**refs, "a/0": list(place)}})
        status, text = run_tool("ncmpidump", "-h", other)
        values, more = run_tool("ncmpidump", "-v", "a", other)
        ok(status == 0 and values == 1 and cause in more and "a/0" in more, f"values in {place}", text + more)
    os.remove(scratch("kerchunk_pipe"))
    text = json.dumps(refs)
    for what, other, cause in (
            ("templates", {"version": 1, "templates": {"u": path}, "refs": refs}, "templates"),
            ("no JSON", "{ this is none", "byte"), ("its end is missing", text[:-20], "byte"),
            ("a key twice", text[:-1] + ', "a/0": ""}', "twice"), ("no dataset", {"a": "b"}, ".zgroup"),
            ("a negative offset", {**refs, "a/0": [path, -5, 4]}, "byte"),
            ("a large offset", {**refs, "a/0": [path, 1 << 64, 4]}, "too large"),
            ("two members", {**refs, "a/0": [path, 5]}, "length"),
            ("bad base64", {**refs, "a/0": "base64:!!!!"}, "base64"),
            ("a list in a list", {**refs, "a/0": [[path, 0, 4]]}, "byte"), ("empty", "{}", ".zgroup"),
            ("a damaged document", {**refs, "a/.zarray": "{"}, "a/.zarray")):
        status, more = run_tool("ncmpidump", "-h", write("kerchunk_bad.json", other))
        ok(status == 1 and cause in more, f"refused: {what}", more)
    _, stdout, _ = run_mpi(2, READ, references, "extend", "a")
    ok("NC_EPERM" in stdout and "only read" in stdout, "references are only read", stdout)
    folder = scratch("kerchunk.parq")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    write("kerchunk.parq/.zmetadata", {"metadata": {".zgroup": {"zarr_format": 2}}, "record_size": 10000})
    status, more = run_tool("ncmpidump", folder)
    ok(status == 1 and "Parquet" in more, "references as Parquet", more)
    shutil.rmtree(folder)


def limit():
    if not os.environ.get("PNC_TEST_WRAPPER") and not instruments():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))


def check_mutants(references):
    text, bad = read_bytes(references), []
    count = choose(60, 200, 3000)
    generator = random.Random(11)
    pieces = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u0000", b"\\ud800", b"9" * 18, b"null", b"\0",
              b"\xff", b"0", b"-", b"/", b"..", b'{"a":', b"[" * 3000, b"1e9"]
    for number in range(count):
        mutant = bytearray(text)
        for _ in range(generator.randint(1, 4)):
            at = generator.randrange(len(mutant))
            mutant[at:at + generator.choice((0, 1, 1, 3, 50))] = generator.choice(pieces)
        with open(scratch("kerchunk_mutant.json"), "wb") as file:
            file.write(mutant[:generator.choice((len(mutant), generator.randrange(len(mutant))))])
        status, out = run_tool("ncmpidump", scratch("kerchunk_mutant.json"), preexec_fn=limit)
        if status not in (0, 1):
            bad.append(f"{number}: status {status}: {out[-300:]}")
            shutil.copy(scratch("kerchunk_mutant.json"), scratch(f"kerchunk_mutant_{number}.json"))
    ok(not bad, f"{count} damaged files of references", bad[:5])


def main():
    classic = check_ours("cdf5")
    if has_hdf5():
        check_ours("nc4", "-k", "nc4", "--deflate=3", "--chunks=t/1,y/13,x/17")
    else:
        skip("netCDF-4", "this build has no HDF5")
    if classic is not None:
        check_forms(*classic)
        check_refusals(*classic)
        check_mutants(classic[1])
    finish()


main()
