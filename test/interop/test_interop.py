"""Files between this library and others: every file we write is read equal by ncdump, netCDF4 and scipy and passes
ncvalidator; every file that ncgen, nccopy, netCDF4 and scipy write, and the real data, are read equal by us.

write_zoo.c writes by formulas that stand here once more (value); dump_raw.c prints what our library reads.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import warnings

import netCDF4
import numpy as np
import scipy.io

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import data, finish, is_quick, ok, run_mpi, scratch, skip  # noqa: E402

warnings.simplefilter("ignore")
TYPES = {"byte": "i1", "char": "S1", "short": "i2", "int": "i4", "float": "f4", "double": "f8", "ubyte": "u1",
         "ushort": "u2", "uint": "u4", "int64": "i8", "uint64": "u8"}
NUMBER = {name: i + 1 for i, name in enumerate(TYPES)}
CLASSIC = list(TYPES)[:6]
FILL = {"byte": -127, "char": b"\0", "short": -32767, "int": -2147483647, "float": 9.9692099683868690e+36,
        "double": 9.9692099683868690e+36, "ubyte": 255, "ushort": 65535, "uint": 4294967295,
        "int64": -9223372036854775806, "uint64": 18446744073709551614}
MODEL = {1: "NETCDF3_CLASSIC", 2: "NETCDF3_64BIT_OFFSET", 5: "NETCDF3_64BIT_DATA"}
NAMES = ["with space", "über", "温度", "dot.dash-plus+at@", "7up", "_x", "brackets(a)[b]", "colon:percent%"]


def value(kind, i):
    """Element i of a variable or attribute in the zoo."""
    if kind == "char":
        return bytes([65 + i % 26])
    if kind in ("float", "double"):
        top = np.finfo(TYPES[kind]).max
        return top if i % 7 == 3 else -0.0 if i % 7 == 5 else i * 0.5 - 3 if kind == "float" else i / 3
    limits = np.iinfo(TYPES[kind])
    if i % 4 in (1, 2):
        return limits.min if i % 4 == 1 else limits.max
    return -(i % 100) if i % 4 == 3 and limits.min < 0 else (i * 37 + NUMBER[kind]) % 100


def values(kind, n, first=0):
    return np.array([value(kind, i) for i in range(first, first + n)], dtype=TYPES[kind])


def filled(kind, fill):
    whole = np.full((3, 5), fill, dtype=TYPES[kind])
    whole[1] = values(kind, 5, 5)
    return whole


def expected(name, number):
    """Variables of a file of the zoo: name to array."""
    kinds = list(TYPES) if number == 5 else CLASSIC
    if name == "types":
        return {f"{p}_{k}": {"fixed": values(k, 15).reshape(3, 5), "record": values(k, 20).reshape(4, 5),
                             "scalar": values(k, 1, NUMBER[k])[0]}[p] for k in kinds for p in ("fixed", "record",
                                                                                               "scalar")}
    if name.startswith("packed"):
        kind = name.split("_")[1]
        return {f"only_{kind}": values(kind, 15).reshape(5, 3)}
    if name == "fill":
        found = {f"default_{k}": filled(k, FILL[k]) for k in kinds}
        found.update({f"own_{k}": filled(k, b"X" if k == "char" else 88) for k in kinds})
        return found
    if name == "redefined":
        return {"fixed_short": values("short", 15).reshape(3, 5), "record_byte": values("byte", 20).reshape(4, 5),
                "fixed_double": values("double", 15).reshape(3, 5), "record_float": values("float", 20).reshape(4, 5)}
    if name == "names":
        return {n: 5 for n in NAMES}  # the last element only: the others were never written
    return {"none_int": np.empty((0, 5), "i4"), "none_byte": np.empty((0,), "i1")} if name == "no_records" else {}


def same(a, b):
    """Equal in type, shape and every bit (NaN too)."""
    a, b = np.asarray(a), np.asarray(b)
    a, b = a.astype(a.dtype.newbyteorder("=")), b.astype(b.dtype.newbyteorder("="))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def compare(label, names, get, wanted):
    bad = [n for n, w in wanted.items()
           if n not in names or not (get(n).reshape(-1)[-1] == 5 if isinstance(w, int) else same(get(n), w))]
    ok(set(names) == set(wanted) and not bad, label, f"differ: {bad}; names {sorted(set(names) ^ set(wanted))}")


def check_netcdf4(path, name, number):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        ok(file.data_model == MODEL[number], f"{os.path.basename(path)} is {MODEL[number]}", file.data_model)
        compare(f"netCDF4 reads {os.path.basename(path)} equal", list(file.variables), lambda n: file[n][...],
                expected(name, number))
        if name == "types":
            bad = [k for k in (TYPES if number == 5 else CLASSIC) if not attributes_right(file, k)]
            ok(not bad, f"netCDF4 reads the attributes of {os.path.basename(path)} equal", bad)


def attributes_right(file, kind):
    """Lengths 0 to 3 on the fixed variable, as many as its number among the global ones."""
    found = [(file[f"fixed_{kind}"].getncattr(f"length{n}"), n) for n in range(4)]
    found.append((file.getncattr(kind), NUMBER[kind]))
    if kind == "char":
        return all(a == values(kind, n).tobytes().decode() for a, n in found)
    return all(same(np.atleast_1d(np.asarray(a, TYPES[kind])), values(kind, n)) for a, n in found if n > 0)


def check_scipy(path, name, number):
    with scipy.io.netcdf_file(path, "r", mmap=False) as file:
        ok(file.version_byte == number, f"scipy sees version {number} in {os.path.basename(path)}", file.version_byte)
        found = {n.encode("latin1").decode(): v for n, v in file.variables.items()}
        compare(f"scipy reads {os.path.basename(path)} equal", list(found),
                lambda n: np.asarray(found[n].data), expected(name, number))


def cdl_values(path):
    """The data section of ncdump, name to list of texts; 17 and 9 digits are exact."""
    done = subprocess.run(["ncdump", "-p", "9,17", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr
    section = done.stdout.partition("\ndata:\n")[2].rstrip().removesuffix("}")
    return {m[1].strip(): m[2] for m in re.finditer(r"\n ([^\n=]+) =\s*(.*?) ;\n", "\n" + section, re.S)}, done.stdout


def cdl_numbers(text):
    special = {"NaN": "nan", "NaNf": "nan", "Infinity": "inf", "-Infinity": "-inf"}
    tokens = [t.strip() for t in text.replace("\n", " ").split(",")]
    return [special.get(t, re.sub(r"(?<=[0-9])(ub|us|ul|ull|b|s|f|u|ll|LL|UB|US|U|ULL)$", "", t)) for t in tokens if t]


def check_cdl(path, name, number):
    """Numbers as ncdump prints them; char variables as strings in quotes."""
    found, text = cdl_values(path)
    bad = []
    for n, wanted in ({} if found is None or name == "names" else expected(name, number)).items():
        wanted = np.atleast_1d(wanted)
        if wanted.size == 0:
            bad += [n] if n in found and found[n].strip() else []
        elif wanted.dtype.kind == "S":
            letters = "".join(re.findall(r'"([^"]*)"', found.get(n, "")))
            plain = wanted.tobytes().replace(b"\0", b"").decode()
            bad += [n] if letters.replace("\\000", "") != plain else []
        else:
            fill = np.array([FILL[next(k for k, t in TYPES.items() if np.dtype(t) == wanted.dtype)]], wanted.dtype)[0]
            if n.startswith("own"):
                fill = wanted.dtype.type(88)
            got = [fill if t == "_" else wanted.dtype.type(t if wanted.dtype.kind == "f" else int(t))
                   for t in cdl_numbers(found.get(n, ""))]
            bad += [n] if not np.array_equal(np.array(got, wanted.dtype), wanted.reshape(-1)) else []
    ok(found is not None and not bad, f"ncdump prints {os.path.basename(path)} equal", f"differ: {bad}\n{text}")


def check_validator(path):
    done = subprocess.run(["ncvalidator", path], capture_output=True, text=True, check=False)
    ok(done.returncode == 0, f"ncvalidator accepts {os.path.basename(path)}", done.stdout + done.stderr)


def present(*tools):
    return all(shutil.which(t) for t in tools)


def ours(path, ranks=2):
    """What dump_raw prints, as lists of words; None if it fails."""
    status, output, errors = run_mpi(ranks, "test/interop/dump_raw", path)
    return [line.split(" ") for line in output.splitlines()] if status == 0 else None, output + errors


def array_of(kind, words):
    if kind == "char":
        return np.frombuffer(bytes(int(w) for w in words), "S1")
    return np.array([float.fromhex(w) if kind in ("float", "double") else int(w) for w in words], TYPES[kind])


def theirs(file):
    """The same list as dump_raw's, but with arrays, from netCDF4."""
    number = next(n for n, m in MODEL.items() if m == file.data_model)
    lines = [["format", str(number)]]
    dims = list(file.dimensions)
    for n, d in file.dimensions.items():
        lines.append(["dim", n.encode().hex(), str(len(d)), str(int(d.isunlimited()))])
    for varid, holder in enumerate([file, *file.variables.values()], -1):
        if varid >= 0:
            kind = next(k for k, t in TYPES.items() if np.dtype(t) == holder.dtype)
            lines.append(["var", holder.name.encode().hex(), kind, *[str(dims.index(d)) for d in holder.dimensions]])
            lines.append(["data", np.asarray(holder[...])])
        lines += [["att", str(varid), a.encode().hex(), holder.getncattr(a)] for a in holder.ncattrs()]
    return lines


def agree(mine, other, kind):
    """One line of dump_raw against one of theirs. netCDF4 gives text as str, one number as a scalar."""
    if mine[0] == "data":
        return other[0] == "data" and same(array_of(kind, mine[1:]).reshape(other[1].shape), other[1])
    if mine[0] != "att":
        return mine == other
    if mine[:3] != other[:3]:
        return False
    got = array_of(mine[3], mine[4:])
    if mine[3] == "char":
        text = other[3].decode("utf-8", "replace") if isinstance(other[3], bytes) else str(other[3])
        return got.tobytes().rstrip(b"\0").decode("utf-8", "replace") == text.rstrip("\0")
    return same(got, np.atleast_1d(other[3]).astype(TYPES[mine[3]])) and np.asarray(other[3]).dtype == TYPES[mine[3]]


def check_ours(path, label):
    mine, text = ours(path)
    if not ok(mine is not None, f"we read {label}", text):
        return
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        other, kind, bad = theirs(file), None, []
    for m, o in zip(mine, other):
        kind = m[2] if m[0] == "var" else kind
        if not agree(m, o, kind):
            bad.append(f"{' '.join(m)[:200]} / {str(o)[:200]}")
    ok(len(mine) == len(other) and not bad, f"we read {label} as netCDF4 does",
       f"{len(mine)} lines, {len(other)} expected\n" + "\n".join(bad[:5]))


def write_netcdf4(path, number):
    with netCDF4.Dataset(path, "w", format=MODEL[number]) as file:
        file.createDimension("t", None)
        file.createDimension("x", 7)
        for kind in TYPES if number == 5 else CLASSIC:
            fixed = file.createVariable(f"fixed_{kind}", TYPES[kind], ("x",))
            record = file.createVariable(f"record_{kind}", TYPES[kind], ("t", "x"))
            fixed[:] = values(kind, 7)
            record[0:3] = values(kind, 21).reshape(3, 7)
            file.createVariable(f"filled_{kind}", TYPES[kind], ("x",))[2] = value(kind, 0)
        file.title = "grüezi"


def write_scipy(path, number):
    with scipy.io.netcdf_file(path, "w", version=number) as file:
        file.createDimension("t", None)
        file.createDimension("x", 3)
        for kind in CLASSIC:
            dtype = "c" if kind == "char" else TYPES[kind]
            file.createVariable(f"fixed_{kind}", dtype, ("x",))[:] = values(kind, 3)
            file.createVariable(f"record_{kind}", dtype, ("t", "x"))[0:5] = values(kind, 15).reshape(5, 3)
        file.history = "by scipy"


def check_foreign(folder):
    for number in MODEL:
        path = os.path.join(folder, f"netcdf4_{number}.nc")
        write_netcdf4(path, number)
        check_ours(path, f"a CDF-{number} file of netCDF4")
    for number in (1, 2):
        path = os.path.join(folder, f"scipy_{number}.nc")
        write_scipy(path, number)
        check_ours(path, f"a CDF-{number} file of scipy")
    if not present("ncdump", "ncgen", "nccopy"):
        skip("files of ncgen and nccopy", "netcdf-bin is not installed")
        return
    for number, flag in ((1, "-3"), (2, "-6"), (5, "-5")):
        source, cdl = os.path.join(folder, f"netcdf4_{number}.nc"), os.path.join(folder, "a.cdl")
        with open(cdl, "w", encoding="utf-8") as out:
            subprocess.run(["ncdump", "-p", "9,17", source], stdout=out, check=True)
        subprocess.run(["ncgen", flag, "-o", os.path.join(folder, f"ncgen_{number}.nc"), cdl], check=True)
        check_ours(os.path.join(folder, f"ncgen_{number}.nc"), f"a CDF-{number} file of ncgen")
        kind = {1: "classic", 2: "64-bit offset", 5: "cdf5"}[number]
        subprocess.run(["nccopy", "-k", kind, os.path.join(folder, "netcdf4_1.nc"),
                        os.path.join(folder, f"nccopy_{number}.nc")], check=True)
        check_ours(os.path.join(folder, f"nccopy_{number}.nc"), f"a CDF-{number} file of nccopy")


def check_real_files():
    folder = data(".")
    if folder is None:
        skip("real files", "the folder of real data is absent")
        return
    for path in sorted(glob.glob(os.path.join(folder, "*.nc"))):
        if os.path.basename(path).startswith("bad_"):
            mine, text = ours(path)
            ok(mine is None, f"we refuse {os.path.basename(path)}", text)
        else:
            check_ours(path, os.path.basename(path))


def check_zoo(folder, ranks):
    status, output, errors = run_mpi(ranks, "test/interop/write_zoo", folder)
    if not ok(status == 0, f"write the zoo on {ranks} ranks", output + errors):
        return
    for path in sorted(glob.glob(os.path.join(folder, "*.nc"))):
        name, number = os.path.basename(path)[:-3].rsplit("_", 1)
        check_netcdf4(path, name, int(number))
        if int(number) < 5:
            check_scipy(path, name, int(number))
        if present("ncdump"):
            check_cdl(path, name, int(number))
        else:
            skip(f"ncdump of {os.path.basename(path)}", "netcdf-bin is not installed")
        if present("ncvalidator"):
            check_validator(path)
        else:
            skip(f"ncvalidator of {os.path.basename(path)}", "pnetcdf-bin is not installed")
        check_ours(path, f"our own {os.path.basename(path)}")


def main():
    for ranks in (3,) if is_quick() else (1, 3):
        folder = scratch(f"interop_zoo_{ranks}")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        check_zoo(folder, ranks)
        shutil.rmtree(folder)
    folder = scratch("interop_foreign")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    check_foreign(folder)
    shutil.rmtree(folder)
    check_real_files()
    finish()


main()
