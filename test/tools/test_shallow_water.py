"""examples/C/shallow_water: a run that is stopped and restarted on other numbers of ranks ends with the same bits.

The files are read by netCDF-C; the first record is compared with the formulas of the initial state.
"""
import os
import shutil
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, ok, run_mpi, scratch  # noqa: E402

PROGRAM = "examples/C/shallow_water/shallow_water"
NX, NY, STEPS, EVERY, STOP, SPACING = 37, 53, 60, 7, 33, 40e3


def run(label, ranks, history, checkpoint, *arguments):
    status, output, errors = run_mpi(ranks, PROGRAM, "--steps", STEPS, "--history-every", EVERY, "--history", history,
                                     "--checkpoint", checkpoint, *arguments)
    ok(status == 0, f"{label} runs on {ranks} ranks", output + errors)
    return output


def contents(path):
    """Everything but global attributes, arrays as bytes."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        dimensions = {n: (len(d), d.isunlimited()) for n, d in file.dimensions.items()}
        variables = {n: (v.dtype.str, v.dimensions, {a: v.getncattr(a) for a in v.ncattrs()}, v[:].tobytes())
                     for n, v in file.variables.items()}
        return file.data_model, dimensions, variables


def same(label, path, reference):
    a, b = contents(path), contents(reference)
    differ = [n for n in {*a[2], *b[2]} if a[2].get(n) != b[2].get(n)]
    ok(a == b, label, f"format {a[0]} / {b[0]}\ndimensions {a[1]} / {b[1]}\nvariables that differ: {differ}")


def check_first_record(path):
    with netCDF4.Dataset(path) as file:
        y, x = (np.arange(NY) + 0.5 - NY / 2) * SPACING, (np.arange(NX) + 0.5 - NX / 4) * SPACING
        h = -8 * np.tanh(y / 200e3)[:, None] + 2 * np.exp(-(x[None, :] ** 2 + y[:, None] ** 2) / 150e3 ** 2)
        u = 9.81 * 8 / ((1e-4 + 1.6e-11 * y) * 200e3) / np.cosh(y / 200e3) ** 2
        ok(np.allclose(file["h"][0], h, rtol=1e-6, atol=1e-7), "the first record of h is the formula's")
        ok(np.allclose(file["u"][0], u[:, None], rtol=1e-6), "the first record of u is the formula's")
        ok(not file["v"][0].any(), "the first record of v is zero")
        ok(np.array_equal(file["y"][:], (np.arange(NY) + 0.5) * SPACING)
           and np.array_equal(file["x_face"][:], np.arange(NX) * SPACING), "the axes are complete")


def check_series(path, checkpoint):
    with netCDF4.Dataset(path) as file, netCDF4.Dataset(checkpoint) as last:
        steps = np.arange(0, STEPS + 1, EVERY)
        ok(np.array_equal(file["time"][:], steps * last.time_step), "the times of the records are right",
           file["time"][:])
        volume = file["h"][:].astype(np.float64).sum(axis=(1, 2)) * SPACING ** 2
        ok(np.allclose(volume, file["volume"][:], rtol=1e-6), "the volume is the sum of h",
           f"{volume} and {file['volume'][:]}")
        ok(np.ptp(file["volume"][:]) < 1e-6 * file["volume"][0], "volume is conserved", file["volume"][:])
        energy = file["energy"][:]
        ok(abs(energy[-1] / energy[0] - 1) < 1e-3, "energy is nearly conserved", energy)
        last_v = np.abs(file["v"][-1])
        ok(last_v.max() > 1e-3 and not last_v[0].any(), "there is motion, but not through the wall")
        ok(last["step"][...] == STEPS, "the last checkpoint is of the last step", last["step"][...])
        ok(last["u"].shape == (NY, NX) and last["h"].dtype == np.float64,
           "the checkpoint has the whole grid in double precision")


def check_restarts():
    full, full_end = scratch("full.nc"), scratch("full_end.nc")
    run("the whole run", 4, full, full_end, "--nx", NX, "--ny", NY, "--spacing", SPACING)
    model, _, _ = contents(full)
    ok(model == "NETCDF3_64BIT_OFFSET", "the history is CDF-2", model)
    ok(contents(full_end)[0] == "NETCDF3_64BIT_DATA", "the checkpoint is CDF-5")
    check_first_record(full)
    check_series(full, full_end)

    part, stopped = scratch("part.nc"), scratch("stopped.nc")
    output = run("the run to be stopped", 4, part, stopped, "--nx", NX, "--ny", NY, "--spacing", SPACING,
                 "--checkpoint-every", 10, "--stop-after", STOP)
    ok(f"stopped at step {STOP} of {STEPS}" in output, "it says where it stopped", output)
    with netCDF4.Dataset(stopped) as file:
        ok(file["step"][...] == STOP, "its checkpoint is of that step", file["step"][...])
    for ranks in (3, 1, 2):
        history, end = scratch(f"part_{ranks}.nc"), scratch(f"end_{ranks}.nc")
        shutil.copy(part, history)
        run("the restart", ranks, history, end, "--restart", stopped)
        same(f"restarted on {ranks} ranks, the last checkpoint is the same", end, full_end)
        same(f"restarted on {ranks} ranks, the history is the same", history, full)
        with netCDF4.Dataset(history) as file:
            ok(len(file.history.splitlines()) == 2 and "--restart" in file.history,
               "the history attribute lists both runs", file.history)
    # After a crash the history may be ahead of the checkpoint: its later records are written again.
    run("one more restart with a history that is ahead", 3, history, end, "--restart", stopped)
    same("the history has no record twice", history, full)


def refused(label, ranks, wanted, *arguments):
    status, output, errors = run_mpi(ranks, PROGRAM, "--history", scratch("no.nc"),
                                     "--checkpoint", scratch("no_end.nc"), *arguments)
    ok(status != 0 and wanted in errors, label, f"status {status}\n{output}{errors}")


def check_errors():
    missing = scratch("missing.nc")
    refused("a missing checkpoint is named", 2, f"file {missing}", "--restart", missing)
    refused("a history is not a checkpoint", 2, '"spacing"', "--restart", scratch("full.nc"))
    refused("too many ranks for the grid", 4, "run on fewer ranks", "--nx", 1, "--ny", 1)
    refused("a number that is none", 1, "not a sensible whole number: 1x", "--steps", "1x")
    refused("a grid beside a restart", 1, "from the checkpoint", "--nx", 5, "--restart", scratch("stopped.nc"))
    refused("an unstable time step", 1, "too long", "--time-step", 10000)
    status, output, _ = run_mpi(1, PROGRAM, "--help")
    ok(status == 0 and output.startswith("Usage:") and "--stop-after" in output, "--help", output)


check_restarts()
check_errors()
finish()
