"""The hint nc_quantize_cf: what the CF conventions (8.4) have for quantized variables, read by netCDF4-python:
attributes that name a variable for each algorithm, behind those of the program; none for coordinates, bounds and
integers, nor where a program has its own attribute or has not asked. The values are those without the hint."""
import os
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, has_hdf5, ok, run_mpi, scratch  # noqa: E402

CDL = """netcdf cf {
dimensions: time = UNLIMITED ; lat = 4 ; lon = 5 ; nv = 2 ;
variables:
 double time(time) ; time:units = "days since 2000-01-01" ;
 float lat(lat) ; lat:bounds = "lat_bnds" ;
 float lat_bnds(lat, nv) ;
 float tas(time, lat, lon) ; tas:coordinates = "height" ;
 double pr(time, lat, lon) ;
 float ua(time, lat, lon) ;
 float own(lat, lon) ; own:quantization = "quantization_granular_bitround" ; own:quantization_nsd = 3 ;
 float raw(lat, lon) ;
 int mask(lat, lon) ;
 double height ;
 char quantization_granular_bitround ;
  quantization_granular_bitround:algorithm = "granular_bitround" ;
  quantization_granular_bitround:implementation = "libnetcdf version 4.9.0" ;
data:
 time = 1, 2 ; lat = 1.1, 2.2, 3.3, 4.4 ;
 height = 2.1 ;
}
"""
HINTS = ("nc_quantize=bitround:7;nc_quantize@pr=granular:3;nc_quantize@ua=bitgroom:4;nc_quantize@raw=none;"
         "nc_quantize_cf={}")
VALUES = {"tas": ("bitround", "nsb", 7, "quantization_bitround"), "ua": ("bitgroom", "nsd", 4, "quantization_bitgroom"),
          "pr": ("granular_bitround", "nsd", 3, "quantization_granular_bitround_1")}
OWN = {"quantization": "quantization_granular_bitround", "quantization_nsd": 3}
ALL = ["time", "lat", "lat_bnds", "tas", "pr", "ua", "own", "raw", "mask", "height", "quantization_granular_bitround"]


def copy(format_, cf, ranks):
    """By ncmpicopy, which asks for no quantization itself; hints do."""
    path = scratch(f"cf_{format_}_{cf}_{ranks}.nc")
    env = {**os.environ, "PNETCDF_HINTS": HINTS.format(cf)}
    status, out, err = run_mpi(ranks, "src/tools/ncmpicopy/ncmpicopy", "-k", format_, scratch("cf.nc"), path, env=env)
    ok(status == 0, f"{format_}, {cf}: ncmpicopy with hints on {ranks} ranks", out + err)
    return path


def own_attributes(variable):
    return {name: variable.getncattr(name) for name in variable.ncattrs() if name.startswith("quantization")}


def check(path, label):
    with netCDF4.Dataset(path) as file:
        names = list(file.variables)
        ok(names[:len(ALL)] == ALL and sorted(names[len(ALL):]) == sorted(v[3] for v in VALUES.values()),
           f"{label}: three variables more, behind the others", names)
        for name, (algorithm, unit, number, container) in VALUES.items():
            found = own_attributes(file[name])
            ok(found == {"quantization": container, f"quantization_{unit}": number}, f"{label}: {name}", found)
            found = {a: file[container].getncattr(a) for a in file[container].ncattrs()}
            ok(found.get("algorithm") == algorithm and found.get("implementation", "").startswith("PnetCDF version ")
               and file[container].ndim == 0 and len(found) == 2, f"{label}: {container}", found)
        others = {name: own_attributes(file[name]) for name in ALL if name not in VALUES}
        ok(all(found == (OWN if name == "own" else {}) for name, found in others.items()),
           f"{label}: no attributes of coordinates, bounds, integers, exact variables, or beside one of the program",
           others)


def main():
    with open(scratch("cf.cdl"), "w", encoding="utf-8") as file:
        file.write(CDL)
    subprocess.run(["ncgen", "-k", "cdf5", "-o", scratch("cf.nc"), scratch("cf.cdl")], check=True)
    with netCDF4.Dataset(scratch("cf.nc"), "a") as file:
        for name in VALUES:
            file[name][:] = np.linspace(1, 300, 40).reshape(2, 4, 5) / 7
    for format_, ranks in (("cdf2", 1), ("cdf5", 4), ("nc4", 1), ("nc4", 2)):
        if format_ == "nc4" and not has_hdf5():
            continue
        label = f"{format_} on {ranks} ranks"
        path = copy(format_, "enable", ranks)
        check(path, label)
        plain = copy(format_, "disable", ranks)
        with netCDF4.Dataset(path) as file, netCDF4.Dataset(plain) as other:
            ok(list(other.variables) == ALL and not any(own_attributes(other[name]) for name in VALUES),
               f"{label}: nothing without the hint")
            ok(all(np.array_equal(file[name][:], other[name][:]) for name in VALUES) and
               not np.array_equal(file["tas"][:].reshape(-1), np.float32(np.linspace(1, 300, 40) / 7)),
               f"{label}: the values are those without it, and quantized")
    finish()


main()
