"""The package "pnetcdf" of PyPI, a client written for the established library, is built against our installed one and
passes its own tests and examples on 1 and 4 ranks. Its examples write compressed netCDF-4 files by hints alone.

Python packages and the installation are kept in the build tree (python-package/), so that only the first run is slow.
PNC_TEST_QUICK=1 makes nothing new and runs one test.

With "--run FOLDER SCRIPTS...", as an MPI program: runs the scripts one after the other in this process, because
starting Python takes longer than most of them. Rank 0 prints a line of JSON for each: [script, complaints]."""
# needs: python
import contextlib
import faulthandler
import gc
import io
import json
import os
import runpy
import shutil
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import pypi
import tap

try:
    import netCDF4
    import numpy
except ImportError:
    netCDF4 = None

ENVIRONMENT = pypi.MpiEnvironment("the package pnetcdf of PyPI")


def prepare_run():
    """The package's tests use the ncvalidator in $PNETCDF_DIR/bin: provide an independent one, or none."""
    validator = shutil.which("ncvalidator")
    os.environ.pop("PNETCDF_DIR", None)
    if validator is not None:
        os.makedirs(tap.scratch("validator/bin"))
        os.symlink(validator, tap.scratch("validator/bin/ncvalidator"))
        os.environ["PNETCDF_DIR"] = tap.scratch("validator")


def outcome(path, argument):
    """What is wrong with a script that is run in this process; nothing if it passes."""
    sys.argv = [path, argument]
    sys.path[0] = os.path.dirname(path)
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            return f"exit status {end.code}\n{output.getvalue()}"
    except BaseException:
        return traceback.format_exc() + output.getvalue()
    return "\n".join(line for line in output.getvalue().splitlines() if line.startswith(("Error", "Unexpected")))


def run_in_this_process(folder, *scripts):
    """If one rank fails, the others block: after a time limit each prints its stack, and the run ends."""
    from mpi4py import MPI
    os.chdir(folder)
    MPI.Finalize = lambda: None  # some end with it; it comes when this process ends
    gc.disable()  # files that were not closed are closed by the collector, which is collective: all at one time
    for path in scripts:
        faulthandler.dump_traceback_later(60, exit=True)
        # Tests take the name of a folder, examples that of a file.
        argument = folder if os.path.basename(path).startswith("tst_") else os.path.join(folder, "example.nc")
        complaints = MPI.COMM_WORLD.gather(outcome(path, argument))
        gc.collect()
        if MPI.COMM_WORLD.rank == 0:
            print(json.dumps([path, "\n".join(f"rank {rank}: {text}" for rank, text in enumerate(complaints) if text)]),
                  flush=True)
    faulthandler.cancel_dump_traceback_later()


def run_scripts(scripts, ranks):
    folder = tap.scratch(f"on{ranks}")
    os.makedirs(folder)
    status, output, errors = tap.run_mpi(ranks, ENVIRONMENT.python, "-B", os.path.abspath(__file__), "--run", folder,
                                         *scripts)
    results = [json.loads(line) for line in output.splitlines() if line.startswith("[")]
    for path, complaints in results:
        tap.ok(not complaints, f"{os.path.basename(path)} on {ranks} ranks", complaints)
    unknown = scripts[len(results):]
    tap.ok(status == 0 and not unknown, f"all {len(scripts)} scripts end on {ranks} ranks",
           f"exit status {status} in {unknown[:1]}\n{errors}")


def scripts_of(folder, start=""):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))
            if name.startswith(start) and name.endswith(".py")]


def raw_values(path):
    """By variable, in one byte order; and whether it has a filter, and can have one."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        values = {name: (v.dimensions, numpy.asarray(v[...]).astype(v.dtype.newbyteorder("<")).tobytes())
                  for name, v in file.variables.items()}
        return values, {name: (bool((v.filters() or {}).get("zlib")), v.ndim > 0 and v.dtype.kind != "S")
                        for name, v in file.variables.items()}, file.data_model


def run_example(path, hints, output):
    os.environ["PNETCDF_HINTS"] = hints
    status, _, errors = tap.run_mpi(4, ENVIRONMENT.python, "-B", path, output)
    del os.environ["PNETCDF_HINTS"]
    return status, errors


def check_compressed(examples):
    """Unchanged programs write compressed netCDF-4 by hints: values and filters as netCDF4 reads them."""
    n = 0
    for path in examples:
        name = os.path.basename(path)[:-len(".py")]
        plain, compressed = tap.scratch(name + "_plain.nc"), tap.scratch(name + "_compressed.nc")
        if run_example(path, "", plain)[0] != 0 or not os.path.exists(plain) or \
                not any(can for _, can in raw_values(plain)[1].values()):
            continue  # it does not run alone, or leaves no values
        n += 1
        status, errors = run_example(path, "*.nc:nc_format=netcdf4:nc_compression=deflate:2", compressed)
        if tap.ok(status == 0, f"{name} runs under hints for compression", errors):
            (values, _, _), (found, filters, model) = raw_values(plain), raw_values(compressed)
            tap.ok(values == found, f"{name}: the same values")
            tap.ok(model.startswith("NETCDF4") and all(has == can for has, can in filters.values()),
                   f"{name}: compressed netCDF-4", (model, filters))
    tap.ok(n >= (1 if pypi.QUICK else 5), f"{n} examples leave files", examples)


def main():
    _, package = ENVIRONMENT.prepare()
    prepare_run()
    tests, examples = scripts_of(os.path.join(package, "test"), "tst_"), scripts_of(os.path.join(package, "examples"))
    tap.ok(len(tests) > 40 and len(examples) > 10, f"it has {len(tests)} tests and {len(examples)} examples")
    if pypi.QUICK:
        run_scripts([path for path in tests if path.endswith("tst_wait.py")], 4)
    else:
        for ranks in 1, 4:
            run_scripts(tests + examples, ranks)
    if netCDF4 is None:
        tap.skip("files that are compressed by hints", "there is no netCDF4 (Debian: python3-netcdf4)")
    else:
        check_compressed([path for path in examples if "collective" in path] if pypi.QUICK else examples)
    tap.finish()


if sys.argv[1:2] == ["--run"]:
    run_in_this_process(*sys.argv[2:])
else:
    main()
