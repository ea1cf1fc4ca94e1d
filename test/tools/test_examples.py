"""The examples of one concept each, on 4 ranks: netCDF4 reads the files, which must agree with formulas.

A row of EXAMPLES: program, number of ranks, what it must print (or None), and the function that gives the expected
variables of its file as arrays, masked where the file has fill values. None for the function: the program writes no
file of its own but reads that of the row before. A program that is listed twice continues its own file."""
import json
import os
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

RANKS = 4


def grid(ny, nx, step=100):
    """step * y + x in an array of ny x nx."""
    return step * np.arange(ny)[:, None] + np.arange(nx)


def fill():
    ice = np.ma.masked_all(6 * RANKS)
    ice[::2] = np.arange(0, 6 * RANKS, 2)
    flux = np.ma.masked_all((2, 6 * RANKS))
    flux[:, 0] = 0
    return {"sea_ice": ice, "flux": flux}


def faster():
    z, y, x = np.ogrid[:3, :32, :8 * RANKS]
    return {f"field_{f}": 1000 * f + 100 * z + y + 0.25 * x for f in range(8)}


def records(n):
    return {"time": 6.0 * np.arange(n), "height": grid(n, 4 * RANKS)}


def mput():
    cells = np.ma.masked_all((2 * RANKS, 4))
    for rank in range(RANKS):
        for patch in range(rank % 2 + 1):
            row = 2 * rank + patch
            cells[row, :patch + 2] = 100 * row + np.arange(patch + 2)
    return {"density": cells}


BLOCKS_MEAN = f"mean of 11 x 13 values: {grid(11, 13).mean():.10g}\n"
TRACER_SUMS = "".join(f"tracer_{v}: sum {(1000 * v + np.arange(5 * RANKS)).sum()}\n" for v in range(8))
EXAMPLES = (
    ("attributes", RANKS, "wind from -100 to 100\n", lambda: {}),
    ("block_cyclic", RANKS, None, lambda: {"matrix": grid(5, 6 * RANKS, 1000)}),
    ("blocks", RANKS, None, lambda: {"field": grid(11, 13)}),
    ("reread", 3, BLOCKS_MEAN, None),
    ("reread", 1, BLOCKS_MEAN, None),
    ("buffered", RANKS, None, lambda: {"temperature": grid(6, 5 * RANKS)}),
    ("collective", RANKS, None, lambda: {"field": grid(RANKS, 10), "steps": np.array(RANKS)}),
    ("faster", RANKS, None, faster),
    ("fill", RANKS, None, fill),
    ("flexible", RANKS, None, lambda: {"id": np.arange(6 * RANKS), "mass": 0.5 * np.arange(6 * RANKS)}),
    ("ghost_cells", RANKS, None, lambda: {"field": grid(2 * RANKS, 4)}),
    ("header_reserve", RANKS, None, lambda: {"first": np.arange(RANKS), "second": np.full(RANKS, RANKS)}),
    ("hints", RANKS, "nc_var_align_size = 4096, data begin at byte 4096\n", lambda: {"v": np.arange(RANKS)}),
    ("mput", RANKS, None, mput),
    ("nonblocking", RANKS, None, lambda: {f"tracer_{v}": 1000 * v + np.arange(5 * RANKS) for v in range(8)}),
    ("read_many", 3, TRACER_SUMS, None),
    ("records", RANKS, None, lambda: records(3)),
    ("records", RANKS, None, lambda: records(6)),
    ("transpose", RANKS, None, lambda: {"field": grid(4 * RANKS, 3)}),
    ("varn", RANKS, None, lambda: {"pressure": 0.25 * np.arange(7 * RANKS)}),
)


def difference(found, wanted):
    found, wanted = np.ma.asarray(found), np.ma.asarray(wanted)
    if found.shape != wanted.shape:
        return f"shape {found.shape} instead of {wanted.shape}"
    same_mask = np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted))
    return "" if same_mask and np.ma.allequal(found, wanted) else f"{found}\ninstead of\n{wanted}"


def check_file(label, path, wanted):
    with netCDF4.Dataset(path) as file:
        found = {name: variable[...] for name, variable in file.variables.items()} if wanted else {}
    tap.ok(set(found) == set(wanted), f"{label}: variables {', '.join(sorted(wanted)) or 'not compared'}",
           sorted(found))
    for name in sorted(set(found) & set(wanted)):
        why = difference(found[name], wanted[name])
        tap.ok(not why, f"{label}: {name} has the values of the formula", why)


def check_attributes():
    with netCDF4.Dataset(tap.scratch("attributes.nc")) as file:
        wind = file["wind"]
        tap.ok(file.title == "Attributes in a parallel program" and wind.units == "m/s" and wind.scale_factor == 0.01,
               "attributes: title, units, scale_factor", {**file.__dict__, **wind.__dict__})
        tap.ok(wind.valid_range.dtype == np.int16 and list(wind.valid_range) == [-100, 100],
               "attributes: valid_range is of type short", repr(wind.valid_range))
    with netCDF4.Dataset(tap.scratch("fill.nc")) as file:
        tap.ok(file["sea_ice"]._FillValue == -999, "fill: _FillValue is -999")
    with netCDF4.Dataset(tap.scratch("header_reserve.nc")) as file:
        tap.ok(len(file.history.splitlines()) == 3, "header_reserve: the history is there", file.history)


def check_faster():
    """Each step writes the same values, by fewer accesses: docs/slow.md."""
    writes, file = [], tap.scratch("faster.nc")
    report = tap.scratch("faster.json")
    for step in range(1, 6):
        os.environ["PNETCDF_STATS"] = f"json:{report}"
        status, _, errors = tap.run_mpi(RANKS, "examples/C/faster", file, step)
        del os.environ["PNETCDF_STATS"]
        if tap.ok(status == 0 and errors == "", f"faster, step {step}, runs", errors):
            check_file(f"faster, step {step}", file, faster())
            with open(report, encoding="utf-8") as text:
                writes.append(json.load(text)["counters"]["writes"]["sum"])
    tap.ok(writes == sorted(writes, reverse=True) and writes[0] >= 8 * 3 * 32 * 8 * RANKS and writes[-1] < 30,
           "each step makes fewer system writes", writes)


def check_subset():
    made = tap.scratch("subset.nc")
    status, output, errors = tap.run_mpi(3, "examples/C/subset", tap.scratch("blocks.nc"), made)
    if tap.ok(status == 0 and errors == "", "subset runs on 3 ranks", output + errors):
        check_file("subset", made, {"field": grid(11, 13)[2:, ::2]})


def check_from_cdl():
    """ncdump prints the same header for a file and for the one that was made from the text about it."""
    def print_header(path):
        return subprocess.run(["ncdump", "-h", "-n", "x", path], capture_output=True, text=True, check=True).stdout

    text, made = tap.scratch("attributes.cdl"), tap.scratch("copy.nc")
    header = print_header(tap.scratch("attributes.nc"))
    with open(text, "w", encoding="utf-8") as file:
        file.write(header)
    status, output, errors = tap.run_mpi(2, "examples/C/from_cdl", text, made)
    if tap.ok(status == 0 and errors == "", "from_cdl runs on 2 ranks", output + errors):
        again = print_header(made)
        tap.ok(again == header, "from_cdl: ncdump prints the same header", f"{again}\ninstead of\n{header}")


def check_last_error():
    path = tap.scratch("last_error.nc")
    status, output, errors = tap.run_mpi(RANKS, "examples/C/last_error", path)
    tap.ok(status == 0 and errors == "", f"last_error runs on {RANKS} ranks", errors)
    tap.ok(output.startswith("NC_EEDGE, code -57\n") and
           'dimension "cell" of variable "salt" has length 12: at most 3 fit' in output,
           "last_error prints the code and the sentence", output)
    check_file("last_error", path, {"salt": np.arange(3 * RANKS)})


def check_threads():
    path = tap.scratch("threads.nc")
    status, output, errors = tap.run_mpi(RANKS, "examples/C/threads", path)
    if tap.ok(status == 0 and errors == "", f"threads runs on {RANKS} ranks", output + errors):
        for t in range(2):
            check_file(f"threads, file {t}", f"{path}.{t}", {"v": 1000 * t + np.arange(4 * RANKS)})


def check_compressed():
    path = tap.scratch("compressed.nc")
    status, output, errors = tap.run_mpi(RANKS, "examples/C/compressed", path)
    if "NC_ENOTBUILT" in errors:
        tap.skip("compressed", "the build is without HDF5")
        return
    if not tap.ok(status == 0 and errors == "" and output == "deflate level 1, chunks of 1 x 30 x 120\n",
                  f"compressed runs on {RANKS} ranks", output + errors):
        return
    step, y, x = np.ogrid[:3, :30 * RANKS, :120]
    with netCDF4.Dataset(path) as file:
        wind, found = file["wind"], file["wind"][...]
        filters = wind.filters()
        tap.ok(wind.chunking() == [1, 30, 120] and filters["zlib"] and filters["shuffle"] and
               filters["complevel"] == 1 and wind.quantization() == (3, "GranularBitRound"),
               "compressed: chunks, deflate and digits, as netCDF4 sees them", (filters, wind.quantization()))
    tap.ok(np.ma.allclose(found, 10 + step + 0.1 * y + 0.001 * x, rtol=0, atol=0.05),
           "compressed: three digits of the formula", found)
    tap.ok(os.path.getsize(path) < found.size * 2, "compressed: less than half of the bytes", os.path.getsize(path))


path = None
for name, ranks, printed, expected in EXAMPLES:
    label = f"{name} on {ranks} ranks"
    if expected is not None:
        path = tap.scratch(name + ".nc")
    status, output, errors = tap.run_mpi(ranks, f"examples/C/{name}", path)
    good = status == 0 and errors == "" and (printed is None or output == printed)
    if tap.ok(good, f"{label} runs", f"exit status {status}\n{output}{errors}") and expected is not None:
        check_file(label, path, expected())
check_attributes()
check_faster()
check_subset()
check_from_cdl()
check_last_error()
check_threads()
check_compressed()

# No example is left out: those with a folder, or with other arguments, have tests of their own.
source = os.environ.get("PNC_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
written = {file[:-2] for file in os.listdir(os.path.join(source, "examples", "C")) if file.endswith(".c")}
OTHERS = {"compressed", "era_wind", "from_cdl", "last_error", "subset", "threads"}
tap.ok(written - OTHERS == {row[0] for row in EXAMPLES}, "every example is run", sorted(written))
with open(os.path.join(source, "examples", "C", "README.md"), encoding="utf-8") as file:
    text = file.read()
missing = sorted(name for name in written if f"`{name}.c`" not in text)
tap.ok(not missing, "every example is in the README", missing)
tap.finish()
