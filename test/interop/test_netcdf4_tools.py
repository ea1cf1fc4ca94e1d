"""netCDF-4 files of netCDF-C, h5py and this library through the tools: ncmpidump prints what ncdump prints, ncmpidiff
compares across formats."""
import json
import os
import re
import shutil
import subprocess
import sys
import zlib

import netCDF4
import numpy as np

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools")]
import tap  # noqa: E402
import tool  # noqa: E402
from tap import ok, run_mpi, scratch, skip  # noqa: E402

try:
    import h5py
except ImportError:
    h5py = None

random = np.random.default_rng(11)
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
CLASSIC = ["i1", "i2", "i4", "f4", "f8"]


def values(kind, shape):
    if kind[0] == "f":
        return random.normal(0, 1000, shape).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, kind, endpoint=True)


# --- files ---

def make_types(path, how="NETCDF4"):
    kinds = NUMBERS if how == "NETCDF4" else CLASSIC
    with netCDF4.Dataset(path, "w", format=how) as file:
        file.createDimension("x", 13)
        file.createDimension("y", 7)
        file.setncattr("title", "of the file")
        for kind in kinds:
            plain = file.createVariable("plain_" + kind, kind, ("x", "y"))
            plain[:] = values(kind, (13, 7))
            plain.setncattr("one", values(kind, ()))
            plain.setncattr("many", values(kind, 3))
            plain.setncattr("empty", "")
            packed = file.createVariable("packed_" + kind, kind, ("x", "y"), zlib=True, complevel=1,
                                         shuffle=kind != "u4", fletcher32=kind == "i4", chunksizes=(5, 4),
                                         fill_value=np.array(17, kind))
            packed[2:11] = values(kind, (9, 7))
            file.createVariable("scalar_" + kind, kind, ())[...] = values(kind, ())
        big = file.createVariable("big", ">i4", ("x",), endian="big", chunksizes=(6,))
        big[:] = np.arange(13)
        letters = np.array(list(b"abcdefg") * 13, "u1").reshape(13, 7).view("S1")
        file.createVariable("text", "S1", ("x", "y"))[:] = letters
        for mode in ("BitGroom", "GranularBitRound", "BitRound"):
            rounded = file.createVariable("rounded_" + mode, "f4", ("x",), zlib=True, significant_digits=3,
                                          quantize_mode=mode)
            rounded[:] = values("f4", 13)
        file.createVariable("free", "i2", ("y",), fill_value=False)[:] = np.arange(7)


def make_unlimited(path):
    """Several unlimited dimensions, and rows that are longer than a line."""
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("x", 3), ("member", None), ("none", None)):
            file.createDimension(name, length)
        time = file.createVariable("time", "f8", ("time",))
        time[:40] = np.arange(40)
        time.units = "days since 2001-02-03"
        file.createVariable("inner", "i4", ("x", "time"))[:, :40] = np.arange(120).reshape(3, 40)
        file.createVariable("two", "f4", ("time", "x", "member"), zlib=True, chunksizes=(7, 2, 3))[3:9, :, :30] = 1.5
        letters = np.array([list("ab"), list("cd"), list("ef")], "S1")
        file.createVariable("letters", "S1", ("x", "member"))[:, :2] = letters
        file.createVariable("outer", "u1", ("member", "time", "x"))[:2, :40] = 9
        file.createVariable("nothing", "f4", ("none", "x"))
        file.createVariable("unwritten", "f4", ("time", "member"))


def make_strings(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createDimension("u", None)
        words = file.createVariable("words", str, ("x", "u"))
        words[0, 0], words[1, 1] = 'a"b\\c\n\td', "\u00fc'"
        words[2, 0] = words[2, 1] = "a text that has more characters than half of a line of this output"
        file.createVariable("word", str, ())[...] = "one"
        file.setncattr_string("empty", "")
        file.setncattr_string("several", ["first", "second\n", 'th"ird'])
        words.setncattr_string("units", "1")


def make_groups(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "i4", ("x",))[:] = [1, 2, 3]
        group = file.createGroup("inner")
        group.createDimension("y", 2)
        group.createVariable("w", "i4", ("x", "y"))[:] = 7


def make_user_types(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 2)
        pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
        file.createVariable("pairs", pair, ("x",))
        file.createVariable("v", "i4", ("x",))[:] = [5, 6]


def make_hdf5(path):
    with h5py.File(path, "w") as file:
        file["plain"] = np.arange(20.).reshape(4, 5)
        file["plain"].attrs["name"] = "of variable length"
        file.create_dataset("packed", data=np.arange(64, dtype="i4").reshape(8, 8), chunks=(3, 3), compression="gzip")


def write_files():
    files = {"types.nc": make_types, "unlimited.nc": make_unlimited, "strings.nc": make_strings}
    for name, make in files.items():
        make(scratch(name))
    make_types(scratch("classic_model.nc"), "NETCDF4_CLASSIC")
    names = [*files, "classic_model.nc"]
    if h5py:
        make_hdf5(scratch("hdf5.nc"))
        names.append("hdf5.nc")
    return names


# --- ncmpidump ---

# netCDF-C finds these by rules of its own
LEFT_OUT = re.compile(rb"\t\t(:_SuperblockVersion|:_IsNetcdf4|(words|word):_NoFill) = .*\n")


def lines_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def compare_dumps(names):
    if not shutil.which("ncdump"):
        skip("ncmpidump prints what ncdump prints", "ncdump is not installed (Debian: netcdf-bin)")
        return
    for name in names:
        for options in ([], ["-h"], ["-s"], ["-c"], ["-b", "f"], ["-f", "c"], ["-l", "30"], ["-p", "9,17"], ["-t"]):
            _, theirs, _ = lines_of(["ncdump", *options, scratch(name)])
            status, ours, err = lines_of([*tool.command("ncmpidump"), *options, scratch(name)])
            if "-s" in options:
                theirs = LEFT_OUT.sub(b"", theirs)
            ours = re.sub(rb"\n// file format: .*", b"", ours, count=1)
            difference = [pair for pair in zip(theirs.split(b"\n"), ours.split(b"\n")) if pair[0] != pair[1]][:4]
            ok(status == 0 and theirs and ours == theirs, f"ncmpidump {' '.join([*options, name])} is ncdump's output",
               (difference, err))
        kinds = [lines_of([*program, "-k", scratch(name)])[1] for program in (["ncdump"], tool.command("ncmpidump"))]
        ok(kinds[0] == kinds[1] and kinds[0], f"-k {name}: {kinds[1]}", kinds)


def check_ranks(names):
    program = os.path.join(tool.BUILD, "src/tools/ncmpidump/ncmpidump")
    for name in names:
        one = lines_of([*tool.command("ncmpidump"), "-s", scratch(name)])[1].decode()
        status, output, err = run_mpi(3, program, "-s", scratch(name))
        ok(status == 0 and output == one, f"{name} on 3 ranks is the same", err)


def check_json():
    for name in ("types.nc", "unlimited.nc", "strings.nc"):
        status, output, err = lines_of([*tool.command("ncmpidump"), "--json", "-p", "9,17", scratch(name)])
        found = json.loads(output) if status == 0 else {"variables": {}}
        wrong = []
        with netCDF4.Dataset(scratch(name)) as file:
            file.set_auto_chartostring(False)
            file.set_auto_mask(False)
            for variable in file.variables.values():
                mine = found["variables"].get(variable.name, {}).get("data")
                if variable.dtype in ("S1", str) or variable.size == 0:
                    continue
                theirs = np.ravel(variable[...])
                fill = getattr(variable, "_FillValue", netCDF4.default_fillvals[variable.dtype.str[1:]])
                flat = np.ravel(np.array(mine, object))
                same = all(b == fill if a is None else theirs.dtype.type(a) == b for a, b in zip(flat, theirs))
                if flat.size != theirs.size or not same:
                    wrong.append(variable.name)
            unlimited = [key for key, dim in file.dimensions.items() if dim.isunlimited()]
        expected = unlimited if len(unlimited) > 1 else unlimited[0] if unlimited else None
        ok(status == 0 and not wrong and found["unlimited"] == expected,
           f"ncmpidump --json {name} has netCDF4's values", (wrong, err))
    words = found["variables"]["words"]["data"]
    ok(words[0][0] == 'a"b\\c\n\td' and words[1][1] == "\u00fc'" and found["variables"]["word"]["data"] == "one",
       "and the strings", words)


def check_others():
    make_groups(scratch("groups.nc"))
    make_user_types(scratch("user.nc"))
    status, output, err = lines_of([*tool.command("ncmpidump"), scratch("groups.nc")])
    ok(status == 0 and b"int inner/w(x, inner/y) ;" in output and b"inner/y = 2 ;" in output and
       b" inner/w =\n  7, 7,\n  7, 7,\n  7, 7 ;" in output, "variables of groups have paths as names", (output, err))
    status, output, err = lines_of([*tool.command("ncmpidump"), scratch("user.nc")])
    ok(status == 0 and b"// compound pairs(x): values of this type are not read" in output and b" v = 5, 6 ;" in output,
       "a compound variable is a comment", (output, err))
    if h5py:
        with h5py.File(scratch("fixed.nc"), "w") as file:
            file.create_dataset("fixed", data=np.array([b"ab", b"c"]))
        output = lines_of([*tool.command("ncmpidump"), scratch("fixed.nc")])[1]
        ok(b' fixed = "ab", "c" ;' in output, "strings of one length", output)
    with open(scratch("bad.nc"), "wb") as file:
        file.write(b"\x89HDF\r\n\x1a\n" + bytes(100))
    tool.fails("ncmpidump", "bad.nc", "a damaged netCDF-4 file", scratch("bad.nc"))
    with open(scratch("types.nc"), "rb") as file:
        whole = file.read()
    with open(scratch("cut.nc"), "wb") as file:
        file.write(whole[:len(whole) // 2])
    tool.fails("ncmpidump", "cut.nc", "a netCDF-4 file of which half is missing", scratch("cut.nc"))


# --- ncmpidiff, cdfdiff ---

def diff(name, *arguments):
    return lines_of([*tool.command(name), *arguments])


def check_differences():
    """A netCDF-4 file, and the same as CDF-5."""
    source, copy, other = scratch("classic_model.nc"), scratch("cdf5.nc"), scratch("repacked.nc")
    if not shutil.which("nccopy"):
        skip("ncmpidiff across formats", "nccopy is not installed (Debian: netcdf-bin)")
        return
    subprocess.run(["nccopy", "-k", "cdf5", source, copy], check=True)
    subprocess.run(["nccopy", "-d", "5", "-c", "x/13,y/7", source, other], check=True)
    with netCDF4.Dataset(copy) as file:
        names = list(file.variables)
    for name in ("ncmpidiff", "cdfdiff"):
        ok(diff(name, source, copy)[0] == 0, f"{name}: netCDF-4 and the same as CDF-5", diff(name, source, copy))
        ok(diff(name, source, other)[0] == 0, f"{name}: other chunks and filters", diff(name, source, other))
        status, output, _ = diff(name, "--storage", source, other)
        ok(status == 1 and b'"packed_f4" storage (chunked 5x4 shuffle:4 deflate:1' in output or
           b'"packed_f4" storage (chunked 5x4 shuffle deflate:1' in output, f"{name} --storage reports them", output)
        status, output, _ = diff(name, "--storage", source, copy)
        ok(status == 1 and b"file format (netCDF-4) != (CDF-5)" in output, f"{name} --storage reports formats", output)
    for changed in (names[0], names[1], "text", names[-1]):
        shutil.copy(source, scratch("changed.nc"))
        with netCDF4.Dataset(scratch("changed.nc"), "a") as file:
            file.set_auto_maskandscale(False)
            variable = file[changed]
            first = variable[(0,) * variable.ndim]
            variable[(0,) * variable.ndim] = b"Z" if changed == "text" else 5 if first != 5 else 6
        for name in ("ncmpidiff", "cdfdiff"):
            status, output, _ = diff(name, copy, scratch("changed.nc"))
            count = b"Number of differences in variables 1"
            ok(status == 1 and f'variable "{changed}"'.encode() in output and count in output,
               f"{name}: a value of {changed} that differs", output)
    program = os.path.join(tool.BUILD, "src/tools/ncmpidiff/ncmpidiff")
    status, output, err = run_mpi(3, program, copy, source)
    ok(status == 0, "ncmpidiff across formats on 3 ranks", output + err)
    with netCDF4.Dataset(scratch("pair.nc"), "w") as file:
        pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
        file.createVariable("pairs", pair, ())[...] = np.array((1, 2.5), pair.dtype)
    for name in ("ncmpidiff", "cdfdiff"):
        status, output, err = diff(name, scratch("pair.nc"), scratch("./pair.nc"))
        ok(status == 0 and b"pairs: values of type compound are not compared" in err,
           f"{name}: compounds are not compared: it says so", err)


# --- ncoffsets ---

def check_offsets():
    """The chunks are where HDF5 says, and their bytes are what the filters make of the values."""
    for name in ("types.nc", "unlimited.nc"):
        status, output, err = lines_of([*tool.command("ncoffsets"), "--json", "-r", scratch(name)])
        found = json.loads(output) if status == 0 else {"variables": []}
        wrong = []
        with open(scratch(name), "rb") as raw, netCDF4.Dataset(scratch(name)) as file:
            file.set_auto_maskandscale(False)
            for entry in found["variables"]:
                variable = file[entry["name"]]
                chunks = variable.chunking()
                if (entry["storage"] == "contiguous") != (chunks == "contiguous") or \
                        (chunks != "contiguous" and entry["chunk_shape"] != chunks):
                    wrong.append(entry["name"])
                if entry["name"] == "plain_i4":
                    raw.seek(entry["begin"])
                    if raw.read(13 * 7 * 4) != variable[:].tobytes():
                        wrong.append("values of plain_i4")
                if entry["name"] != "packed_f8":
                    continue
                for place in entry["places"]:
                    raw.seek(place["offset"])
                    values_there = zlib.decompress(raw.read(place["stored"]))
                    block = np.frombuffer(values_there, "u1").reshape(8, -1).T.copy().view("f8").reshape(5, 4)
                    i, j = place["index"]
                    expected = variable[i:i + 5, j:j + 4]
                    if not np.array_equal(block[:expected.shape[0], :expected.shape[1]], expected):
                        wrong.append(place)
                if len(entry["places"]) != 6 or entry["written"] != 6 or entry["uncompressed"] != 6 * 20 * 8:
                    wrong.append(entry)
        ok(status == 0 and not wrong and found["variables"], f"ncoffsets --json {name}", (wrong, err))
    status, output, err = lines_of([*tool.command("ncoffsets"), "-r", scratch("types.nc")])
    ok(status == 0 and b"chunks of 5 x 4, shuffle, deflate:1" in output and b"chunk (10, 4) at byte" in output,
       "ncoffsets prints chunks", (output, err))
    for option in ("--svg", "--html"):
        status, output, err = lines_of([*tool.command("ncoffsets"), option, scratch("types.nc")])
        ok(status == 0 and b"<svg" in output and b"float packed_f4(x, y)" in output and b"ratio" in output,
           f"ncoffsets {option} draws them", err)
    tool.fails("ncoffsets", "is a netCDF-4 file", "-x does not apply", "-x", scratch("types.nc"))


# --- without libhdf5 ---

# What replaces dlopen.
NO_HDF5 = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return name != NULL && strstr(name, "hdf5") != NULL ? NULL : next(name, flags);
}
"""


def check_absence():
    with open(scratch("no_hdf5.c"), "w", encoding="ascii") as file:
        file.write(NO_HDF5)
    library = os.path.abspath(scratch("no_hdf5.so"))
    if os.environ.get("PNC_TEST_WRAPPER") or tap.instruments() or subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", library, scratch("no_hdf5.c"), "-ldl"], check=False).returncode != 0:
        skip("tools without libhdf5", "no compiler, or a wrapper or sanitizers")
        return
    for name in ("ncmpidump", "ncoffsets", "ncvalidator"):
        tool.fails(name, "types.nc: a netCDF-4 file: libhdf5", "without libhdf5 the message names it, and the file",
                   scratch("types.nc"), env={**os.environ, "LD_PRELOAD": library})


# --- files that are cut ---

def check_truncation():
    """The message says how long the file must be, whatever the version of its superblock."""
    cut = scratch("truncated.nc")
    for low in ("earliest", "v108", "v110") if h5py is not None else ():
        with h5py.File(cut, "w", libver=(low, "latest")) as file:
            file["v"] = np.arange(1000)
        with open(cut, "rb") as file:
            version = file.read()[8]
        length = os.path.getsize(cut)
        os.truncate(cut, length - 700)
        tool.fails("ncmpidump", f"truncated.nc: the file is truncated: it has {length - 700} bytes of {length}",
                   f"a file with superblock {version} that is cut", cut)
    shutil.copyfile(scratch("types.nc"), cut)
    os.truncate(cut, 49)
    tool.fails("ncmpidump", "HDF5 cannot open", "less than a superblock", cut)


# --- ncvalidator ---

def check_validation():
    for name in names:
        status, output, err = lines_of([*tool.command("ncvalidator"), scratch(name)])
        ok(status == 0 and b"is a netCDF-4 file without errors" in output, f"ncvalidator {name}", output + err)
    _, output, _ = lines_of([*tool.command("ncoffsets"), "--json", "-r", scratch("types.nc")])
    packed = {entry["name"]: entry for entry in json.loads(output)["variables"]}
    with open(scratch("types.nc"), "rb") as file:
        whole = bytearray(file.read())
    for variable, place in ((name, packed[name]["places"][1]) for name in ("packed_f8", "packed_i4")):
        damaged = bytearray(whole)
        damaged[place["offset"] + place["stored"] // 2] ^= 0x55
        with open(scratch("damaged.nc"), "wb") as file:
            file.write(damaged)
        status, output, err = lines_of([*tool.command("ncvalidator"), scratch("damaged.nc")])
        ok(status == 1 and b"at byte %d:" % place["offset"] in output and variable.encode() in output,
           f"ncvalidator finds a chunk of {variable} that is damaged", output + err)
    status, output, _ = lines_of([*tool.command("ncvalidator"), "--json", scratch("damaged.nc")])
    found = json.loads(output)
    ok(status == 1 and found["errors"] == 1 and found["format"] == "netCDF-4" and found["chunks"] > 50,
       "as JSON", output)
    status, output, err = lines_of([*tool.command("ncvalidator"), scratch("cut.nc")])
    ok(status == 1 and b"damaged or not complete" in output, "ncvalidator of half a file", output + err)
    tool.fails("ncvalidator", "padding of classic files", "-x does not apply", "-x", scratch("types.nc"))
    with netCDF4.Dataset(scratch("odd.nc"), "w") as file:
        file.createVariable("v", "i4", ()).setncattr("units", 3)
        file["v"].setncattr("scale_factor", [1., 2.])
    status, output, err = lines_of([*tool.command("ncvalidator"), scratch("odd.nc")])
    ok(status == 0 and b"units is a number" in output and b"scale_factor has 2 values" in output,
       "attributes against their meaning are warnings", output + err)


if not tap.has_hdf5():
    tap.skip("netCDF-4 files", "the build is without HDF5")
    tap.finish()
names = write_files()
compare_dumps(names)
check_ranks(names)
check_json()
check_others()
check_differences()
check_offsets()
check_truncation()
check_absence()
check_validation()
tap.finish()
