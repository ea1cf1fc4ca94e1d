"""examples/C/era_wind against numpy: speed and zonal means, in CDF-1, CDF-2 and CDF-5.

The input is read by scipy or netCDF-C and computed with in numpy; the output is read by netCDF-C (and scipy). Made-up
inputs contain what the real file lacks: missing values of every kind, a record dimension, fewer latitudes than ranks.
"""
import os
import sys
import warnings

import netCDF4
import numpy as np
import scipy.io

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import data, finish, is_quick, ok, run_mpi, scratch, skip  # noqa: E402

FORMATS = {"cdf1": "NETCDF3_CLASSIC", "cdf2": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA"}
FILL = np.float32(9.969209968386869e36)


def unpacked(path):
    """u, v and z in double precision with NaN for what is missing, by the attributes as written."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        found = {}
        for name in [n for n in "uvz" if n in file.variables]:
            variable = file[name]
            raw = variable[:].astype(np.float64)
            a = {k: variable.getncattr(k) for k in variable.ncattrs()}
            fill = a.get("_FillValue", netCDF4.default_fillvals.get(variable.dtype.str[1:]))
            missing = np.isnan(raw) | (raw == np.float64(fill))
            for value in np.atleast_1d(a.get("missing_value", [])):
                missing |= raw == np.float64(value)
            low, high = a.get("valid_range", (a.get("valid_min", -np.inf), a.get("valid_max", np.inf)))
            missing |= (raw < low) | (raw > high)
            values = raw * np.float64(a.get("scale_factor", 1)) + np.float64(a.get("add_offset", 0))
            found[name] = np.where(missing, np.nan, values)
    return found


def expected(path):
    """What era_wind should write, by the same formulas: sums run from west to east."""
    fields = unpacked(path)
    fields["speed"] = np.sqrt(fields["u"] * fields["u"] + fields["v"] * fields["v"])
    result = {"speed": fields["speed"]}
    for name, values in fields.items():
        number = np.count_nonzero(~np.isnan(values), axis=-1)
        total = np.cumsum(np.nan_to_num(values), axis=-1)[..., -1]
        result[f"{name}_zonal_mean"] = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return {name: np.where(np.isnan(v), FILL, v.astype(np.float32)) for name, v in result.items()}


def differences(found, wanted):
    """Why two arrays of floats differ by more than the last bit (compilers may fuse a multiply and an add)."""
    if found.shape != wanted.shape or found.dtype.newbyteorder("=") != np.float32:
        return f"shape {found.shape} of {found.dtype}, wanted {wanted.shape} of float32"
    bad = np.abs(found.astype(np.float64) - wanted) > np.spacing(np.abs(wanted)).astype(np.float64)
    bad |= (found == FILL) != (wanted == FILL)
    if not bad.any():
        return ""
    where = tuple(np.argwhere(bad)[0])
    return f"{bad.sum()} of {bad.size} values, first at {where}: {found[where]!r}, wanted {wanted[where]!r}"


def check_values(label, path, wanted):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        names = {n for n in file.variables if n not in file.dimensions}
        ok(names == set(wanted), f"{label}: the variables are complete", f"{names} instead of {set(wanted)}")
        for name in sorted(names & set(wanted)):
            found = file[name][:]
            why = differences(found, wanted[name])
            ok(not why, f"{label}: {name} is numpy's", why)
            exact = np.count_nonzero(found == wanted[name]) if not why else 0
            print(f"#   {exact} of {found.size} values are equal to the last bit")


def check_metadata(label, path, model, source):
    with netCDF4.Dataset(path) as out, netCDF4.Dataset(source) as file:
        ok(out.data_model == model, f"{label}: the format is {model}", out.data_model)
        ok(out.Conventions == "CF-1.8", f"{label}: CF conventions", out.Conventions)
        lengths = {n: (len(d), d.isunlimited()) for n, d in out.dimensions.items()}
        wanted = {n: (len(file.dimensions[n]), file.dimensions[n].isunlimited()) for n in file["u"].dimensions}
        ok(lengths == wanted, f"{label}: dimensions are those of the input", f"{lengths} instead of {wanted}")
        for name in [n for n in wanted if n in file.variables]:
            same = name in out.variables and np.array_equal(out[name][:], file[name][:]) \
                and getattr(out[name], "units", None) == getattr(file[name], "units", None)
            ok(same, f"{label}: coordinate {name} is copied", f"{out.variables.get(name)}")
        ok(out["speed"]._FillValue == FILL and out["u_zonal_mean"].cell_methods == f"{file['u'].dimensions[-1]}: mean",
           f"{label}: fill value and cell methods")


def check_masked_means(label, path, source):
    """netCDF4's own unpacking and masking, numpy's own (pairwise) mean."""
    with warnings.catch_warnings(), netCDF4.Dataset(path) as out, netCDF4.Dataset(source) as file:
        warnings.simplefilter("ignore")  # the _FillValue of the ERA-Interim file is NaN, its data are short
        u, v = (file[name][:].astype(np.float64) for name in "uv")
        wanted = np.ma.mean(np.ma.sqrt(u ** 2 + v ** 2), axis=-1)
        found = out["speed_zonal_mean"][:]
    same_mask = np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted))
    error = np.ma.max(np.ma.abs(found - wanted) / np.ma.abs(wanted)) if same_mask else None
    ok(same_mask and (error is np.ma.masked or error < 1e-7), f"{label}: mean speed as by netCDF4's masked arrays",
       f"masks {'equal' if same_mask else 'differ'}, relative error {error}")


def check(label, source, ranks):
    prefix = scratch(f"{label.replace(' ', '_')}_{ranks}")
    status, _, errors = run_mpi(ranks, "examples/C/era_wind", source, prefix)
    label = f"{label} on {ranks} ranks"
    if not ok(status == 0, f"{label}: runs", errors):
        return
    wanted = expected(source)
    for suffix, model in FORMATS.items():
        path = f"{prefix}.{suffix}.nc"
        check_metadata(f"{label}, {suffix}", path, model, source)
        check_values(f"{label}, {suffix}", path, wanted)
        check_masked_means(f"{label}, {suffix}", path, source)
        if suffix != "cdf5":
            with scipy.io.netcdf_file(path, mmap=False, maskandscale=False) as file:
                why = differences(file.variables["speed"][:], wanted["speed"])
            ok(not why, f"{label}, {suffix}: scipy reads the same speed", why)


def make_input(path, model, n_latitudes, kind, attributes, holes, with_z=True):
    """Random packed winds; `holes` are packed values that mean missing data. One row has no other."""
    rng = np.random.default_rng(20)
    with netCDF4.Dataset(path, "w", format=model) as file:
        for name, length in (("time", None), ("lev", 2), ("lat", n_latitudes), ("lon", 11)):
            file.createDimension(name, length)
        for name, units, values in (("time", "days since 2001-01-01", [0.5, 1.5, 2.5]), ("lon", "degrees_east", None),
                                    ("lat", "degrees_north", np.linspace(-60, 60, n_latitudes))):
            axis = file.createVariable(name, "f8" if name != "lon" else "f4", (name,))
            axis.units = units
            axis[:] = values if values is not None else np.arange(11) * 30.0
        for name in "uvz" if with_z else "uv":
            variable = file.createVariable(name, kind, ("time", "lev", "lat", "lon"),
                                           fill_value=attributes.get("_FillValue"))
            variable.set_auto_maskandscale(False)
            variable.setncatts({k: v for k, v in attributes.items() if k != "_FillValue"})
            values = rng.integers(-100, 100, (3, 2, n_latitudes, 11)).astype(kind)
            if holes:
                where = rng.random(values.shape) < 0.3
                values[where] = rng.choice(np.array(holes, kind), np.count_nonzero(where))
                values[1, 1, 0, :] = holes[0]
            variable[:] = values
    return path


def check_made_up():
    packed = {"scale_factor": 0.125, "add_offset": -3.0, "units": "m s-1"}
    check("fill value", make_input(scratch("a.nc"), "NETCDF3_CLASSIC", 7, "i2",
                                   {**packed, "_FillValue": np.int16(-999)}, [-999]), 4)
    check("missing values and range", make_input(
        scratch("b.nc"), "NETCDF3_64BIT_OFFSET", 3, "i2",
        {**packed, "missing_value": np.int16([-50, 50]), "valid_range": np.int16([-90, 90])}, [50, -50, 1000]), 4)
    check("default fill and maximum", make_input(
        scratch("c.nc"), "NETCDF3_CLASSIC", 5, "i2", {**packed, "valid_max": np.int16(50)}, [-32767]), 3)
    check("NaN", make_input(scratch("d.nc"), "NETCDF3_64BIT_DATA", 5, "f4", {"units": "m s-1"}, [np.nan], False), 2)
    check("bytes and minimum", make_input(scratch("e.nc"), "NETCDF3_CLASSIC", 4, "i1",
                                          {**packed, "valid_min": np.int8(-50)}, []), 1)


def check_errors():
    missing = scratch("nowhere.nc")
    status, _, errors = run_mpi(2, "examples/C/era_wind", missing, scratch("x"))
    ok(status != 0 and missing in errors and "ncmpi_open" in errors, "a missing file is named, with the call", errors)
    other = scratch("other.nc")
    with netCDF4.Dataset(other, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 2)
        file.createVariable("v", "f4", ("x",))
    status, _, errors = run_mpi(2, "examples/C/era_wind", other, scratch("x"))
    ok(status != 0 and 'no variable "u"' in errors, "a file without wind is refused", errors)


check_made_up()
check_errors()
era = data("eraint_uvz.nc")
if era is None:
    skip("ERA-Interim", "eraint_uvz.nc is not there; set PNC_TEST_DATA to its folder")
else:
    for n in (4,) if is_quick() else (4, 1, 3):
        check("ERA-Interim", era, n)
finish()
