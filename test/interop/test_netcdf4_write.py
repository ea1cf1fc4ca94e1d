"""netCDF-4 files that this library writes by random calls on 1 to 4 ranks, and on several simulated nodes:
netCDF4-python, h5netcdf, xarray, ncdump, h5dump and h5stat read what was put; netCDF-C appends to them; this library
changes them again. With PNC_TEST_LONG=1 there are 210 files."""
import os
import shutil
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, is_quick, ok, run_mpi, scratch, skip  # noqa: E402

try:
    import h5netcdf
except ImportError:
    h5netcdf = None
try:
    import xarray
except ImportError:
    xarray = None

PROGRAM = "test/interop/netcdf4_write"
KINDS = {1: "i1", 2: "S1", 3: "i2", 4: "i4", 5: "f4", 6: "f8", 7: "u1", 8: "u2", 9: "u4", 10: "i8", 11: "u8"}


def read_expected(path):
    with open(path + ".expected", "rb") as file:
        while True:
            line = file.readline().decode().split()
            if not line:
                return
            shape = [int(n) for n in line[3:]]
            kind = np.dtype(KINDS[int(line[1])])
            count = int(np.prod(shape)) if shape else 1
            yield line[0], np.frombuffer(file.read(count * kind.itemsize), kind).reshape(shape)


def compare(path, read, without=()):
    """What differs from the values that read(name) returns."""
    found = []
    for name, wanted in read_expected(path):
        if name in without:
            continue
        got = np.asarray(read(name))
        if got.shape != wanted.shape:
            found.append(f"{name}: shape {got.shape}, expected {wanted.shape}")
        elif got.astype(wanted.dtype).tobytes() != wanted.tobytes():
            wrong = np.argwhere(got.astype(wanted.dtype).reshape(wanted.shape) != wanted)
            found.append(f"{name} {got.dtype} {wanted.shape}: {len(wrong)} differ, first at {wrong[:1]}")
    return found


def differences(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        return compare(path, lambda name: file[name][...])


def differences_of_h5netcdf(path):
    with h5netcdf.File(path, "r") as file:
        return compare(path, lambda name: file[name][...])


def differences_of_xarray(path):
    """It refuses variables of several dimensions of which one has the name of the variable."""
    with netCDF4.Dataset(path) as file:
        refused = [name for name, v in file.variables.items() if v.ndim > 1 and name in v.dimensions]
    how = {"mask_and_scale": False, "decode_cf": False, "concat_characters": False, "cache": False}
    with xarray.open_dataset(path, engine="h5netcdf", drop_variables=refused, **how) as file:
        return compare(path, lambda name: file[name].values, refused)


OTHERS = {"h5netcdf": (h5netcdf, differences_of_h5netcdf), "xarray": (xarray, differences_of_xarray)}


def check_others(path, label):
    for name, (module, find_differences) in OTHERS.items():
        if module is not None:
            found = find_differences(path)
            ok(not found, f"{label}: {name} reads what was put", "\n".join(found))


def complaint(*command):
    """What a tool prints if it does not like a file."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return "" if done.returncode == 0 and not done.stderr else f"{command}: {done.returncode} {done.stderr[:500]}"


def append_by_netcdf(path):
    """netCDF-C extends every unlimited dimension by one, and adds a variable; what was there stays."""
    with netCDF4.Dataset(path, "a") as file:
        before = {name: np.array(v[...]) for name, v in file.variables.items()}
        file.createDimension("added", 3)
        file.createVariable("added_var", "f4", ("added",), zlib=True)[:] = [1, 2, 3]
        file.setncattr("added_att", "by netCDF-C")
        lengths = {name: len(dim) for name, dim in file.dimensions.items()}
        for name, v in file.variables.items():
            if v.dimensions and file.dimensions[v.dimensions[0]].isunlimited() and v.ndim == 1 and v.dtype != "S1":
                v[lengths[v.dimensions[0]]] = 42
    with netCDF4.Dataset(path) as file:
        for name, was in before.items():
            now = np.array(file[name][tuple(slice(0, n) for n in was.shape)])
            if now.tobytes() != was.tobytes():
                return f"{name} has changed"
        return "" if list(file["added_var"][:]) == [1, 2, 3] else "the added variable"


def try_seed(seed, ranks, steps, env):
    path = scratch(f"w{seed}_{ranks}.nc")
    for name in (path, path + ".expected"):
        if os.path.exists(name):
            os.unlink(name)
    label = f"seed {seed} on {ranks} ranks" + (f" {env}" if env else "")
    status, out, err = run_mpi(ranks, PROGRAM, path, str(seed), str(steps), env={**os.environ, **env})
    if not ok(status == 0 and "wrong" not in out, f"{label}: {steps} steps", f"{status} {out[-1500:]}{err[-1500:]}"):
        return
    found = differences(path)
    ok(not found, f"{label}: netCDF4-python reads what was put", "\n".join(found))
    check_others(path, label)
    problems = [complaint("ncdump", path), complaint("h5dump", "-H", path), complaint("h5stat", path)]
    ok(not any(problems), f"{label}: ncdump, h5dump and h5stat do not complain", problems)
    try:
        found = append_by_netcdf(path)
    except (OSError, RuntimeError, IndexError) as error:
        found = repr(error)
    ok(found == "", f"{label}: netCDF-C appends", found)
    status, out, err = run_mpi(ranks, PROGRAM, path, str(seed + 1000), str(steps), "append", env={**os.environ, **env})
    if ok(status == 0 and "wrong" not in out, f"{label}: changed again", f"{status} {out[-1500:]}{err[-1500:]}"):
        found = differences(path)
        ok(not found, f"{label}: netCDF4-python reads it again", "\n".join(found))
        problems = [complaint("h5dump", "-H", path), complaint("h5stat", path)]
        ok(not any(problems), f"{label}: h5dump and h5stat do not complain about it", problems)
        os.unlink(path)


def has_hdf5():
    out = run_mpi(1, PROGRAM, scratch("first.nc"), "1", "0")[1]
    if "NC_ENOTBUILT" in out:
        skip("netCDF-4 files", "the build is without HDF5")
    return "NC_ENOTBUILT" not in out


def main():
    if not has_hdf5():
        finish()
    for seed in range(choose(4, 6, 70)):
        for ranks in ((1, 2, 4) if not is_quick() else (1, 3)):
            env = {"MPIR_CVAR_NUM_CLIQUES": "2"} if seed % 3 == 2 else {}
            try_seed(seed, ranks, 60 if is_quick() else 120, env)
    for name, (module, _) in OTHERS.items():
        if module is None:
            skip(f"files are read by {name}", f"{name} is not installed (Debian: python3-{name})")
    finish()


main()
