"""Variables with a bound of the error (hint nc_error), put by all kinds of calls: by the arithmetic of numpy no value
that h5py and netCDF-C read is farther from what was put than the bound, each has the fewest bits that keep it, and NaN,
infinities, zeros, fill values and missing values stay as they are."""
import os
import sys

import h5py
import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, ok, run_mpi, scratch, skip  # noqa: E402

PROGRAM = "test/interop/netcdf4_quantize"
ROWS, COLUMNS = 6, 300
N = ROWS * COLUMNS
FILL, MISSING = float(np.float32(1e20)), float(np.float32(2e20))
TYPES = {"f": np.float32, "d": np.float64, "b": np.float32}


def numbers(ranks, seed):
    """Of a field, of many magnitudes, near the fill value, and those that mean something else."""
    rng = np.random.default_rng(seed)
    n = N * ranks
    values = np.where(np.arange(n) % 2 == 0, 280 + 30 * np.sin(np.arange(n) / 50) + rng.normal(size=n),
                      rng.normal(size=n) * 10.0 ** rng.uniform(-6, 12, n))
    values[5::89] = FILL * (1 + 1e-5 * rng.normal(size=len(values[5::89])))
    values[:n:53] = np.resize([np.nan, 0.0, -0.0, FILL, MISSING, 100.0, 0.004], len(values[:n:53]))
    return values


def given_to(kind, values, ranks):
    """What a variable was put, as double."""
    if kind == "int":
        return np.tile(np.arange(N) * 1234 % 100003 - 50000, ranks).astype(np.float64)
    if kind != "float":
        return values
    place = np.tile(np.arange(N), ranks)
    return np.where(place % 97 == 5, np.where(place % 2 == 0, np.inf, -np.inf), values.astype(np.float32))


def allowed(given, relative, bound):
    exact = np.longdouble(bound)
    return exact * np.abs(given.astype(np.longdouble)) if relative else np.full(len(given), exact)


def fewest(held, room, type_):
    """For each value the most zeros that a value within `room` of it can have at the end of its mantissa."""
    digits = np.finfo(type_).nmant
    _, exponent = np.frexp(held)
    unit = np.ldexp(np.longdouble(1), exponent - 1 - digits)
    best = np.zeros(len(held), int)
    for zeros in range(1, digits + 1):
        quantum = unit * 2.0 ** zeros
        nearest = np.floor(np.abs(held) / quantum + np.longdouble(0.5)) * quantum
        best[np.abs(nearest - np.abs(held)) <= room] = zeros
    return best


def find_wrong(stored, given, type_, relative, bound):
    """A list of what is wrong with the values of a variable."""
    with np.errstate(over="ignore", invalid="ignore"):
        held = given.astype(type_)
    unsigned = {np.float32: np.uint32, np.float64: np.uint64}[type_]
    special = ~np.isfinite(held) | (held == 0) | (held == type_(FILL)) | (held == type_(MISSING))
    same = stored.view(unsigned) == held.view(unsigned)
    wrong = [("special", given[i], stored[i]) for i in np.flatnonzero(special & ~same & ~np.isnan(held))]
    wrong += [("not NaN", stored[i]) for i in np.flatnonzero(np.isnan(held) & ~np.isnan(stored))]
    room = allowed(given, relative, bound)
    with np.errstate(invalid="ignore"):
        error = np.abs(stored.astype(np.longdouble) - given.astype(np.longdouble))
        lost = np.abs(held.astype(np.longdouble) - given.astype(np.longdouble))
        beyond = ~special & (error > room) & ~same
        beyond |= ~special & (error > room) & (lost < room / 4)
        became = ~special & ((stored == type_(FILL)) | (stored == type_(MISSING)))
    wrong += [("beyond", given[i], stored[i]) for i in np.flatnonzero(beyond)]
    wrong += [("a missing value now", given[i]) for i in np.flatnonzero(became)]
    usual = np.flatnonzero(~special & ~became & (np.abs(held - type_(FILL)) > 1e16))
    exact, end = held[usual].astype(np.longdouble), stored[usual].view(unsigned)
    half = np.where(held[usual] == given[usual], 0, np.spacing(np.abs(held[usual])).astype(np.longdouble) / 2)
    if type_ == np.float32:  # values that a float has may be among those of a double that has more digits
        half = np.maximum(half, np.spacing(np.abs(held[usual])).astype(np.longdouble) / 2)
    zeros = fewest(exact, (room[usual] * (1 - 1e-6) - 2 * half), type_)
    longer = np.flatnonzero((end & ((unsigned(1) << zeros.astype(unsigned)) - unsigned(1))) != 0)
    return wrong + [("could have fewer bits", given[usual[i]], stored[usual[i]], int(zeros[i])) for i in longer]


def compare(path, values, ranks, bounds):
    wrong, changed = [], 0
    with netCDF4.Dataset(path) as by_netcdf, h5py.File(path) as by_h5py:
        by_netcdf.set_auto_mask(False)
        for name, variable in by_netcdf.variables.items():
            kind, letter = name.rsplit("_", 1)
            relative, bound = bounds[letter]
            stored = np.array(variable[:]).reshape(-1).astype(TYPES[letter])
            other = np.array(by_h5py[name][:]).reshape(-1).astype(TYPES[letter])
            given = given_to(kind, values, ranks)
            wrong += [(name, *w) for w in find_wrong(stored, given, TYPES[letter], relative, bound)]
            changed += int(np.sum(stored != given))
            if not np.array_equal(stored, other, equal_nan=True):
                wrong.append((name, "h5py reads other values"))
            attribute = f"maximum_{'relative' if relative else 'absolute'}_error"
            found = {a: variable.getncattr(a) for a in variable.ncattrs() if a.startswith(("maximum_", "_Quant"))}
            if found != {attribute: bound}:
                wrong.append((name, "attributes", found))
    return wrong, changed


def main():
    if not has_hdf5():
        skip("netCDF-4 files", "the build is without HDF5")
        finish()
    cases = [("deflate", {"f": (False, 0.01), "d": (True, 1e-4), "b": (True, 2e-3)}, 2),
             ("none", {"f": (True, 1e-6), "d": (False, 1e-7), "b": (False, 3.7)}, 1),
             ("deflate:6", {"f": (False, 1e-9), "d": (False, 250), "b": (True, 0.3)}, 4)]
    for seed, (filters, bounds, ranks) in enumerate(cases * choose(1, 1, 20)):
        values, path = numbers(ranks, seed), scratch("by_hint.nc")
        values.tofile(scratch("values.bin"))
        hints = f"*_hint.nc:nc_format=netcdf4:nc_compression={filters}" + "".join(
            f":nc_error@*_{letter}={'rel' if relative else 'abs'}:{bound!r}"
            for letter, (relative, bound) in bounds.items())
        status, out, err = run_mpi(ranks, PROGRAM, path, scratch("values.bin"), 0, 0, "hint",
                                   env={**os.environ, "PNETCDF_HINTS": hints})
        label = f"{bounds} on {ranks} ranks, filters {filters}, seed {seed}"
        if ok(status == 0 and "wrong" not in out, f"{label}: all kinds of puts", out[-1500:] + err[-1500:]):
            wrong, changed = compare(path, values, ranks, bounds)
            ok(not wrong, f"{label}: 0 values beyond the bound", f"{len(wrong)}: {wrong[:10]}")
            ok(changed > 1000, f"{label}: {changed} values are rounded")
    finish()


main()
