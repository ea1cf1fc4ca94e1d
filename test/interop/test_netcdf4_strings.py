"""Attributes of strings in netCDF-4 files: netCDF4-python, h5py and ncdump read what this library has put, and it reads
what they have written, in define mode and in data mode, on 1, 2 and 4 ranks. Copies to a classic file are text."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, has_hdf5, ok, run_mpi, scratch, skip  # noqa: E402

try:
    import h5py
    import netCDF4
    import numpy as np
except ImportError:
    skip("attributes of strings", "h5py or netCDF4 is not installed (Debian: python3-h5py, python3-netcdf4)")
    finish()

PROGRAM = "test/interop/netcdf4_strings"
UTF8 = "b\u00e4ume\nund mehr"
FILE = {"three": ["good", "", UTF8], "uno": "K", "by_type": ["m", "s-1"], "none": [], "with_null": ["a", None, "c"],
        "becomes_text": b"text", "becomes_strings": ["m", "s-1"]}
VARIABLE = {"units": ["m", "s-1"], "late": "m"}


def read_h5(attributes):
    """Strings as texts, text of one length as bytes; NULL and "" are the same for h5py."""
    found = {}
    for name in attributes:
        id = h5py.h5a.open(attributes._id, name.encode())
        kind = h5py.check_string_dtype(id.dtype)
        if kind is None or name.startswith("_"):
            continue
        value = attributes[name]
        if kind.length is not None:
            found[name] = bytes(value)
        elif isinstance(value, h5py.Empty):
            found[name] = []
        elif isinstance(value, str):
            found[name] = value
        else:
            found[name] = [str(text) for text in value]
    return found


def find_differences(path):
    bad = []
    with h5py.File(path, "r") as file:
        expected = {name: [text or "" for text in value] if isinstance(value, list) else value
                    for name, value in FILE.items()}
        found = read_h5(file.attrs)
        if list(found) != list(expected) or found != expected:
            bad.append(f"h5py: {found}")
        found = {name: value for name, value in read_h5(file["t"].attrs).items()
                 if name not in ("CLASS", "NAME", "REFERENCE_LIST")}
        if found != VARIABLE:
            bad.append(f"h5py: t: {found}")
        kind = h5py.h5a.open(file.id, b"three").get_type()
        if not kind.is_variable_str() or kind.get_cset() != h5py.h5t.CSET_UTF8:
            bad.append("strings that are not of variable length, in UTF-8")
    with netCDF4.Dataset(path) as file:
        for name in ("three", "by_type", "becomes_strings"):
            if file.getncattr(name) != FILE[name]:
                bad.append(f"netCDF4: {name}: {file.getncattr(name)!r}")
        if file.uno != "K" or file.becomes_text != "text" or file["t"].units != VARIABLE["units"]:
            bad.append("netCDF4: uno, becomes_text or units")
    text = subprocess.run(["ncdump", "-h", path], stdout=subprocess.PIPE, text=True).stdout
    for line in ('string :three = "good", "", "b\u00e4ume\\nund mehr" ;', 'string :uno = "K" ;',
                 'string :with_null = "a", NIL, "c" ;', ':becomes_text = "text" ;', 'string t:units = "m", "s-1" ;'):
        if line not in text:
            bad.append(f"ncdump: no line {line}\n{text}")
    return "\n".join(bad)


def show(value):
    """The line of netcdf4_strings get behind the number of a variable and a name."""
    if isinstance(value, bytes):
        return f"-1 2 {len(value)}"
    texts = [value] if isinstance(value, str) else value
    joined = "\n".join(text or "" for text in texts).encode()
    shown = ["NULL" if text is None else text.encode().hex() for text in texts]
    return " ".join([f"{len(texts)} 2 {len(joined)}"] + shown)


def expect_lines(path, variables, title, ranks=1):
    """variables: the attributes of the file and of each variable."""
    lines = [f"{number - 1} {name} {show(value)}" for number, attributes in enumerate(variables)
             for name, value in attributes.items()]
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "get", path)
    found = [line for line in stdout.splitlines() if not line.startswith("-1 history")]
    ok(status == 0 and found == lines, title,
       stdout + stderr + "\nexpected:\n" + "\n".join(lines))


def make_peer_files():
    path = scratch("of_h5py.nc")
    with h5py.File(path, "w", track_order=True) as file:
        file.attrs["scalar"] = UTF8
        file.attrs["list"] = ["x", "", "long\nlong"]
        file.attrs["fixed"] = np.array([b"ab", b"cde"])
        file.attrs["bytes"] = np.bytes_(b"abc")
    expect_lines(path, [{"scalar": UTF8, "list": ["x", "", "long\nlong"], "fixed": ["ab", "cde"], "bytes": b"abc"}],
                 "strings of h5py are read")
    path = scratch("of_netcdf.nc")
    with netCDF4.Dataset(path, "w") as file:
        file.setncattr_string("one", "K")
        file.setncattr("many", ["a", "b", UTF8])
        file.text = "plain"
        file.createDimension("x", 2)
        file.createVariable("v", "f4", ("x",)).setncattr("names", ["p", "q"])
    many = [{"one": "K", "many": ["a", "b", UTF8], "text": b"plain"}, {"names": ["p", "q"]}]
    expect_lines(path, many, "strings of netCDF4-python are read")


def check(ranks):
    path = scratch(f"strings_{ranks}.nc")
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "put", path)
    ok(status == 0 and stdout == "", f"strings are put on {ranks} ranks",
       stdout + stderr)
    bad = find_differences(path)
    ok(not bad, f"h5py, netCDF4 and ncdump read them, of {ranks} ranks", bad)
    expect_lines(path, [FILE, VARIABLE], f"and this library, of {ranks} ranks", ranks)
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "refuse", scratch("."),
                                     env=dict(os.environ, PNETCDF_SAFE_MODE="1"))
    ok(status == 0 and stdout == "", f"wrong calls on {ranks} ranks", stdout + stderr)


def check_copies():
    path, same, classic = scratch("strings_1.nc"), scratch("copied.nc"), scratch("classic.nc")
    status, stdout, stderr = run_mpi(1, PROGRAM, "copy", path, same, classic)
    ok(status == 0 and stdout == "", "attributes are copied", stdout + stderr)
    expect_lines(same, [FILE], "to strings in a netCDF-4 file")
    texts = {name: value if isinstance(value, bytes) else
             "\n".join(text or "" for text in ([value] if isinstance(value, str) else value)).encode()
             for name, value in FILE.items()}
    expect_lines(classic, [texts], "to text in a classic file")
    copied = scratch("ncmpicopy.nc")
    status, stdout, stderr = run_mpi(2, "src/tools/ncmpicopy/ncmpicopy", "-O", path, copied)
    ok(status == 0, "ncmpicopy copies the file", stdout + stderr)
    expect_lines(copied, [FILE, VARIABLE], "with its strings")
    result = subprocess.run(["src/tools/ncmpidump/ncmpidump", "-h", path], stdout=subprocess.PIPE, text=True)
    ok('string :three = "good", "", "b\u00e4ume\\nund mehr" ;' in result.stdout and ':becomes_text = "text"' in
       result.stdout, "ncmpidump shows them", result.stdout)


def make_file_of_strings(path):
    """The unlimited dimension is longer than "log"."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createDimension("time", None)
        names = file.createVariable("names", str, ("x",))
        names[0], names[1] = "one", "zw\u00f6lf"
        log = file.createVariable("log", str, ("time", "x"))
        for i in range(2):
            for k in range(3):
                log[i, k] = f"{i}{k}" * (k + 1)
        file.createVariable("numbers", "i4", ("time",))[0:4] = 1


def check_values(ranks):
    path = scratch("values.nc")
    status, stdout, stderr = run_mpi(ranks, PROGRAM, "values", path)
    log = [[f"{i}{k}" * (k + 1) if i < 2 else "" for k in range(3)] for i in range(4)]
    wanted = []
    for what, values in (("names", lambda rank: ["one", "zw\u00f6lf", ""]),
                         ("log", lambda rank: [text for row in log for text in row[rank % 2:rank % 2 + 2]]),
                         ("last", lambda rank: [log[1][2]]), ("alone", lambda rank: ["one", "zw\u00f6lf", ""])):
        wanted += [f"{rank} {what}: " + " ".join(f"[{text}]" for text in values(rank)) for rank in range(ranks)]
    ok(status == 0 and sorted(stdout.splitlines()) == sorted(wanted), f"strings of variables are got on {ranks} ranks",
       stdout + stderr + "\n".join(wanted))


if not has_hdf5():
    skip("attributes of strings", "this build has no libhdf5")
    finish()
for ranks in (1, 2, 4):
    check(ranks)
make_file_of_strings(scratch("values.nc"))
for ranks in (1, 2, 4):
    check_values(ranks)
make_peer_files()
check_copies()
finish()
