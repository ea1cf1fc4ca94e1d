"""The programs of examples/F90 of one concept each: netCDF4 reads their files, which must agree with formulas."""
# needs: python
import glob
import os
import re
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

RANKS = 4
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "F90")
CELLS = {name: np.concatenate([np.full(10, 10 * rank + k + 1) for rank in range(RANKS)])
         for k, name in enumerate("uvw")}


def sections(n=6):
    y, x = np.ogrid[1:n * RANKS + 1, 1:n + 1]
    return {"field": x + 100 * y, "particle_x": np.tile(0.5 * np.arange(1, n + 1), RANKS),
            "particle_id": np.arange(1, n * RANKS + 1)}


def records(n):
    record, x = np.ogrid[1:n + 1, 1:17]
    return {"time": 6.0 * np.arange(1, n + 1), "height": 100 * record + x}


def wind(n=5):
    return {"wind": 0.01 * np.concatenate([10 * np.arange(1, n + 1) + rank for rank in range(RANKS)])}


SUMS = "\n".join(f"{name}: sum {values.sum()}.0" for name, values in CELLS.items())
# Program, ranks, what it must print, its file and the values there. A program that is listed twice continues its file.
EXAMPLES = (
    ("attributes", RANKS, r"wind from -1\.0 to 1\.0 m/s", "attributes.nc", wind()),
    ("last_error", RANKS, r'code -57\n.*"cell" of variable "salt" has length 12: at most 3 fit .*', "last_error.nc",
     {"salt": np.arange(1, 3 * RANKS + 1)}),
    ("nonblocking", RANKS, "wrote nonblocking.nc", "nonblocking.nc", CELLS),
    ("read_many", 3, re.escape(SUMS), "nonblocking.nc", CELLS),
    ("records", RANKS, "wrote records.nc: 3 records", "records.nc", records(3)),
    ("records", 2, "wrote records.nc: 6 records", "records.nc", records(6)),
    ("sections", RANKS, "wrote sections.nc; the row read back is the same", "sections.nc", sections()),
    ("subset", 3, "wrote subset.nc", "subset.nc", {"u": CELLS["u"][::2]}),
    ("varn", RANKS, "wrote varn.nc", "varn.nc", {"pressure": 0.25 * np.arange(1, 7 * RANKS + 1)}),
)


def check_values(label, path, wanted):
    with netCDF4.Dataset(path) as file:
        found = {name: np.asarray(variable[...]) for name, variable in file.variables.items()}
    same = set(found) == set(wanted) and all(
        found[name].shape == np.shape(wanted[name]) and np.allclose(found[name], wanted[name]) for name in wanted)
    tap.ok(same, f"{label}: {path} has the values of the formulas", f"{found}\ninstead of\n{wanted}")


def check_attributes():
    with netCDF4.Dataset("attributes.nc") as file:
        variable = file["wind"]
        tap.ok(file.title == "Attributes in Fortran" and variable.units == "m/s" and variable.scale_factor == 0.01 and
               variable.valid_range.dtype == np.int16 and list(variable.valid_range) == [-100, 100],
               "attributes: all have their values and types", {**file.__dict__, **variable.__dict__})


def check_compressed():
    if not tap.has_hdf5():
        tap.skip("compressed", "the build is without HDF5")
        return
    status, output, errors = tap.run_mpi(RANKS, os.path.join(BUILD, "examples/F90/compressed"))
    if not tap.ok(status == 0 and output == "deflate level 1, chunks of 120 x 30 x 1\n",
                  f"compressed on {RANKS} ranks runs", output + errors):
        return
    with netCDF4.Dataset("compressed.nc") as file:
        wind, filters = file["wind"], file["wind"].filters()
        found = np.asarray(wind[...])
        tap.ok(wind.chunking() == [1, 30, 120] and filters["zlib"] and filters["shuffle"] and filters["complevel"] == 1
               and wind.quantization() == (3, "GranularBitRound"),
               "compressed: chunks, deflate and digits, as netCDF4 sees them", (filters, wind.quantization()))
    step, y, x = np.ogrid[1:4, 1:30 * RANKS + 1, 1:121]
    wanted = 10 + step + 0.1 * y + 0.001 * x
    tap.ok(found.shape == wanted.shape and np.allclose(found, wanted, rtol=5e-3),
           "compressed: three digits of the formula", found)
    tap.ok(os.path.getsize("compressed.nc") < found.size * 2, "compressed: less than half of the bytes",
           os.path.getsize("compressed.nc"))


def main():
    if not os.path.exists(os.path.join(BUILD, "examples/F90/sections")):
        tap.skip("the examples in Fortran", "the library is built without the module pnetcdf or MPI without mpi_f08")
        tap.finish()
    os.chdir(tap.scratch("."))
    for name, ranks, printed, file, wanted in EXAMPLES:
        label = f"{name} on {ranks} ranks"
        status, output, errors = tap.run_mpi(ranks, os.path.join(BUILD, "examples/F90", name))
        right = status == 0 and errors == "" and re.fullmatch(printed, output.strip())
        if tap.ok(bool(right), f"{label} runs", f"exit status {status}\n{output}{errors}"):
            check_values(label, file, wanted)
    check_attributes()
    check_compressed()
    written = {os.path.basename(path)[:-4] for path in glob.glob(os.path.join(SOURCES, "*.f90"))}
    tap.ok(written - {"check", "compressed"} == {row[0] for row in EXAMPLES}, "every example is run", sorted(written))
    with open(os.path.join(SOURCES, "README.md"), encoding="utf-8") as readme:
        text = readme.read()
    tap.ok(all(f"`{name}.f90`" in text for name in written), "every example is in the README", sorted(written))
    tap.finish()


main()
