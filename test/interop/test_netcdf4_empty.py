"""Variables without values in netCDF-4 files: dimensions of fixed length 0, which only other programs make, and a null
dataspace. Puts and gets of no values, by all calls and on 1 and 2 ranks, succeed; h5py, netCDF-C and h5dump then find
the other values, and the variables that were added, as a new file of h5py has them."""
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
    skip("variables without values", "h5py or netCDF4 is not installed (Debian: python3-h5py, python3-netcdf4)")
    finish()

PROGRAM = "test/interop/netcdf4_empty"
MORE = h5py.h5s.UNLIMITED
VALUES = np.arange(6, dtype="i4").reshape(2, 3)
OWN = {"own_plain": "z", "own_chunked": "z", "own_deflated": "z", "own_compact": "z", "own_rows": "xz",
       "own_records": "tz"}


def add_var(file, name, dims, most=None, chunk=None, deflates=False, is_compact=False):
    space = h5py.h5s.create_simple(tuple(file[dim].shape[0] for dim in dims), most)
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunk:
        how.set_chunk(chunk)
    if deflates:
        how.set_deflate(1)
    if is_compact:
        how.set_layout(h5py.h5d.COMPACT)
    how.set_attr_creation_order(h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I32LE, space, how)
    for number, dim in enumerate(dims):
        file[name].dims[number].attach_scale(file[dim])


def make_file(path):
    with h5py.File(path, "w", libver="v108", track_order=True) as file:
        for name, shape in (("z", (0,)), ("x", (3,))):
            file.create_dataset(name, data=np.arange(shape[0], dtype="i4")).make_scale(name)
        for name in "tu":
            file.create_dataset(name, shape=(0,), maxshape=(None,), dtype="i4").make_scale(name)
        add_var(file, "plain", "z")
        add_var(file, "columns", "xz")
        add_var(file, "rows", "zx")
        add_var(file, "compact", "z", is_compact=True)
        add_var(file, "shrunk", "z", (10,), (5,))
        add_var(file, "shrunk_rows", "zx", (10, 3), (5, 3), True)
        add_var(file, "records", "tz", (MORE, 0), (1, 1))
        add_var(file, "many_records", "tuz", (MORE, MORE, 0), (1, 1, 1), True)
        add_var(file, "inner_records", "ztx", (0, MORE, 3), (1, 2, 3), True)
        file.create_dataset("values", data=VALUES)


def find_differences(path, records):
    """What h5py and netCDF-C do not find as it should be."""
    lengths = {"z": 0, "x": 3, "t": records, "u": 0}
    found = []
    with h5py.File(path, "r") as file:
        if not np.array_equal(file["values"][...], VALUES) or list(file["x"]) != [0, 1, 2]:
            found.append("h5py: the values")
        found += [f"h5py: shape of {name}" for name, dims in OWN.items()
                  if file[name].shape != tuple(lengths[dim] for dim in dims)]
    with netCDF4.Dataset(path) as file:
        if not np.array_equal(file["values"][...], VALUES):
            found.append("netCDF-C: the values")
        found += [f"netCDF-C: shape of {name}" for name, dims in OWN.items()
                  if file[name].dimensions != tuple(dims) or file[name].shape != tuple(lengths[dim] for dim in dims)]
    done = subprocess.run(["h5dump", path], capture_output=True, text=True, check=False)
    return found + ([f"h5dump: {done.stderr[:300]}"] if done.returncode != 0 or done.stderr else [])


def check_empty(ranks, fills):
    path = scratch("empty.nc")
    label = f"{ranks} ranks, {'fill' if fills else 'no-fill'} mode"
    make_file(path)
    status, out, err = run_mpi(ranks, PROGRAM, path, *(["fill"] if fills else []))
    wanted = "empty: 12, 18, 17, 17" if fills else "empty: 12, 18, 18, 18"
    ok(status == 0 and out.strip() == wanted, f"{label}: calls without values", f"{status} {out[:1500]}{err[:1500]}")
    found = find_differences(path, 3 if fills else 0)
    ok(not found, f"{label}: the file is as it should be", "\n".join(found))


def check_null(ranks):
    path = scratch("null.nc")
    with h5py.File(path, "w", libver="v108") as file:
        file.create_dataset("values", data=VALUES)
        file.create_dataset("null", data=h5py.Empty("i4"))
        file.create_dataset("one", data=np.int32(1))
    status, out, err = run_mpi(ranks, PROGRAM, path, "null")
    ok(status == 0 and "wrong" not in out, f"{ranks} ranks: a null dataspace takes no values",
       f"{status} {out[:1500]}{err[:1500]}")
    with h5py.File(path, "r") as file:
        ok(file["null"].shape is None and file["one"][()] == 7 and np.array_equal(file["values"][...], VALUES),
           f"{ranks} ranks: the others do")


def main():
    if not has_hdf5():
        skip("variables without values", "the build is without HDF5")
        finish()
    for ranks in (1, 2):
        for fills in (False, True):
            check_empty(ranks, fills)
        check_null(ranks)
    finish()


main()
