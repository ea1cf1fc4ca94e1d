"""Quantized variables: what this library writes by all kinds of puts has the bits, and the attribute, of what
netCDF4-python writes; NaN, infinities, zeros, fill values and missing values stay as they are."""
import os
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, is_quick, ok, run_mpi, scratch, skip  # noqa: E402

PROGRAM = "test/interop/netcdf4_quantize"
ROWS, COLUMNS, SMALL = 6, 300, 10
N = ROWS * COLUMNS
MODES = {"BitGroom": 1, "GranularBitRound": 2, "BitRound": 3}
TYPES = {"f": "f4", "d": "f8", "b": "f4"}
FILL, MISSING = 1e20, 2e20


def numbers(ranks):
    """Of all magnitudes that a float has, and those that mean something else."""
    rng = np.random.default_rng(46)
    values = rng.normal(size=N * ranks) * 10.0 ** rng.uniform(-30, 30, N * ranks)
    values = values.astype("f4").astype("f8")
    special = [np.nan, 0.0, -0.0, float(np.float32(FILL)), float(np.float32(MISSING)), 100.0, 1000.0]
    for rank in range(ranks):
        at = rank * N + 17 * np.arange(40)
        values[at] = np.resize(special, 40)
    return values


def is_special(values):
    return ~np.isfinite(values) | (values == 0) | (values == values.dtype.type(np.float32(FILL))) | \
        (values == values.dtype.type(np.float32(MISSING)))


def order_of(kind):
    """For each call of a rank, the places of its values in the order in which they are given."""
    places = np.arange(N)
    if kind == "strided":
        return [places[0::2], places[1::2]]
    if kind == "list":
        return [places.reshape(ROWS, COLUMNS)[::-1].reshape(-1)]
    if kind in ("many", "buffered", "early"):
        return list(places.reshape(-1, SMALL))
    if kind == "single":
        return [places] + [places[i:i + 1] for i in range(SMALL)]
    return [places]


def quantize(values, kind, mode, digits):
    """By netCDF-C, one variable for each call; with its attributes."""
    path = scratch("by_netcdf.nc")
    if os.path.exists(path):
        os.unlink(path)
    with netCDF4.Dataset(path, "w") as file:
        for i, call in enumerate(values):
            file.createDimension(f"n{i}", len(call))
            variable = file.createVariable(f"v{i}", kind, (f"n{i}",), significant_digits=digits, quantize_mode=mode,
                                           fill_value=FILL)
            variable.set_auto_mask(False)
            variable[:] = call
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        result = [np.array(file[f"v{i}"][:]) for i in range(len(values))]
        attributes = {name: file["v0"].getncattr(name) for name in file["v0"].ncattrs() if "uanti" in name}
    for given, got in zip(values, result):
        given = given.astype(kind)
        kept = is_special(given)
        got[kept] = given[kept]
        if digits == 7 and kind == "f4" and mode != "BitRound":  # netCDF-C spoils values that have no bit to spare
            with np.errstate(invalid="ignore"):
                lost = ~kept & ((np.abs(got - given) > 5e-7 * np.abs(given)) | (mode == "BitGroom"))
            got[lost] = given[lost]
    return result, attributes


def expected(values, kind, type_, mode, digits, ranks):
    result = np.zeros(N * ranks, type_)
    for rank in range(ranks):
        calls = order_of(kind)
        part = values[rank * N:(rank + 1) * N]
        if kind == "float":
            part = part.astype("f4")
            infinite = np.arange(N) % 97 == 5
            part[infinite] = np.where(np.arange(N)[infinite] % 2 == 0, np.inf, -np.inf)
        given = [part[call] for call in calls]
        got, attributes = quantize(given, type_, mode, digits)
        for call, of_call in zip(calls, got):
            result[rank * N + call] = of_call
    return result, attributes


def compare(path, values, mode, digits, ranks):
    """The names of variables that differ."""
    wrong = []
    integers = np.tile(np.arange(N) * 1234 % 100003 - 50000, ranks)
    known = {}
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        for name, variable in file.variables.items():
            kind, letter = name.rsplit("_", 1)
            given = integers.astype("i4") if kind == "int" else values
            key = (str(order_of(kind)), kind == "int", kind == "float", TYPES[letter])
            if key not in known:
                known[key] = expected(given, kind, TYPES[letter], mode, digits, ranks)
            theirs, attributes = known[key]
            ours = np.array(variable[:]).reshape(-1).astype(TYPES[letter])
            own = {name: variable.getncattr(name) for name in variable.ncattrs() if "uanti" in name}
            if own != attributes:
                wrong.append((name, own, attributes))
            different = np.flatnonzero(ours.view(f"u{ours.itemsize}") != theirs.view(f"u{ours.itemsize}"))
            if len(different) > 0:
                at = different[0]
                wrong.append((name, len(different), int(at), given[at], ours[at], theirs[at]))
    return wrong


def main():
    for mode, number in MODES.items():
        for digits, ranks in ((3, 1), (2, 2), (7, 1)) if is_quick() else ((1, 1), (3, 1), (2, 2), (5, 4), (7, 1)):
            values = numbers(ranks)
            values.tofile(scratch("values.bin"))
            path = scratch("by_us.nc")
            status, out, err = run_mpi(ranks, PROGRAM, path, scratch("values.bin"), number, digits, "define")
            if "NC_ENOTBUILT" in out:
                skip("netCDF-4 files", "the build is without HDF5")
                finish()
            label = f"{mode} {digits} on {ranks} ranks"
            if ok(status == 0 and "wrong" not in out, f"{label}: all kinds of puts", out[-1500:] + err[-1500:]):
                wrong = compare(path, values, mode, digits, ranks)
                ok(not wrong, f"{label}: the bits of netCDF-C", wrong)
    for format_ in ("cdf2", "cdf5", "netcdf4"):
        word, mode, number = {"cdf2": ("granular:3", "GranularBitRound", 3), "cdf5": ("bitround:9", "BitRound", 9),
                              "netcdf4": ("bitgroom:2", "BitGroom", 2)}[format_]
        values, path = numbers(2), scratch("by_hint.nc")
        values.tofile(scratch("values.bin"))
        hints = f"*_hint.nc:nc_format={format_}:nc_quantize@*=bitround:1:nc_quantize@*_?={word}"
        env = {**os.environ, "PNETCDF_HINTS": hints}
        status, out, err = run_mpi(2, PROGRAM, path, scratch("values.bin"), 0, 0, "hint", env=env)
        if ok(status == 0 and "wrong" not in out, f"{format_}, by hint: all kinds of puts", out[-1500:] + err[-1500:]):
            wrong = compare(path, values, mode, number, 2)
            ok(not wrong, f"{format_}, by hint: the bits of netCDF-C", wrong)
    finish()


main()
