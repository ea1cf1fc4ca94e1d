"""The package "pnetcdf" of PyPI, a client written for the established library, is built against our installed one and
passes its own tests and examples on 1 and 4 ranks.

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
import shlex
import shutil
import sys
import tarfile
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import pypi
import tap
from pypi import BUILD, QUICK, last_line, read, run

ENVIRONMENT = pypi.Environment("python-package", "the package pnetcdf of PyPI")
TOP, PYTHON = ENVIRONMENT.top, ENVIRONMENT.python
give_up, pip = ENVIRONMENT.give_up, ENVIRONMENT.pip
CC = os.environ.get("CC", "mpicc")
# Ready-made packages, then those that are compiled here: the first with the MPI library, the second with ours too.
READY = ("Cython<4", "numpy<3", "packaging", "setuptools<81", "wheel")
MPI4PY, PACKAGE = "mpi4py==4.1.2", "pnetcdf==1.0.0"
FAST_BUILD = {"CFLAGS": "-O0 -g0", "MPICC": CC, "CC": CC}


def must(text, status_and_output):
    status, output = status_and_output
    if not tap.ok(status == 0, text, output[-4000:]):
        tap.finish()


def stamp_of(name, *contents):
    return pypi.Stamp(os.path.join(TOP, name), *contents)


def download(package, **variables):
    """The source distribution of a package. Without a network the test ends here."""
    status, output = pip("download", "--quiet", "--no-deps", "--no-build-isolation", "--no-binary", ":all:",
                         "--dest", TOP, package, **variables)
    if status != 0:
        give_up(f"{package} cannot be fetched: {last_line(output)}")
    name, version = package.split("==")
    return os.path.join(TOP, f"{name}-{version}.tar.gz")


def make_environment(stamp):
    ENVIRONMENT.make(*READY)
    source = download(MPI4PY, **FAST_BUILD)
    must(f"{MPI4PY} is compiled with {CC}", pip("install", "--quiet", "--no-deps", "--no-build-isolation", source,
                                                **FAST_BUILD))
    stamp.write()


def install_library():
    """Where the library is now; what is configured as prefix stays untouched."""
    stage = os.path.join(TOP, "stage")
    shutil.rmtree(stage, ignore_errors=True)
    must("make install", run("make", "-C", BUILD, "install", f"DESTDIR={stage}"))
    for folder, _, files in os.walk(stage):
        if "pnetcdf-config" in files:
            return os.path.dirname(folder)
    return tap.ok(False, "pnetcdf-config is installed") or tap.finish()


def build_package(prefix):
    """Unpacked beside the venv too, for its tests."""
    stamp = stamp_of("package.stamp", PACKAGE, prefix, read(os.path.join(prefix, "include", "pnetcdf.h")))
    unpacked = os.path.join(TOP, PACKAGE.replace("==", "-"))
    if not stamp.fits():
        variables = {**FAST_BUILD, "PNETCDF_DIR": prefix}
        source = download(PACKAGE, **variables)
        shutil.rmtree(unpacked, ignore_errors=True)
        with tarfile.open(source) as file:
            file.extractall(TOP)
        built = pip("install", "--quiet", "--no-deps", "--no-build-isolation", "--force-reinstall", source, **variables)
        if built[0] != 0 and "ompi_datatype_t" in built[1]:
            give_up(f"{PACKAGE} takes an MPI_Datatype for an integer, which with Open MPI it is not")
        must(f"{PACKAGE} is built against the installed library", built)
        stamp.write()
    return unpacked


def prepare_run(prefix):
    """The package's tests use the ncvalidator in $PNETCDF_DIR/bin: provide an independent one, or none."""
    validator = shutil.which("ncvalidator")
    os.environ.pop("PNETCDF_DIR", None)
    if validator is not None:
        os.makedirs(tap.scratch("validator/bin"))
        os.symlink(validator, tap.scratch("validator/bin/ncvalidator"))
        os.environ["PNETCDF_DIR"] = tap.scratch("validator")
    if os.environ.get("PNC_TEST_YIELD", "no") != "no":  # it wants to be loaded together with MPI
        os.environ["PNC_TEST_YIELD"] += ":" + os.path.join(prefix, "lib", "libpnetcdf.so")


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
    status, output, errors = tap.run_mpi(ranks, PYTHON, "-B", os.path.abspath(__file__), "--run", folder, *scripts)
    results = [json.loads(line) for line in output.splitlines() if line.startswith("[")]
    for path, complaints in results:
        tap.ok(not complaints, f"{os.path.basename(path)} on {ranks} ranks", complaints)
    unknown = scripts[len(results):]
    tap.ok(status == 0 and not unknown, f"all {len(scripts)} scripts end on {ranks} ranks",
           f"exit status {status} in {unknown[:1]}\n{errors}")


def scripts_of(folder, start=""):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))
            if name.startswith(start) and name.endswith(".py")]


def main():
    if not os.path.exists(os.path.join(BUILD, ".libs", "libpnetcdf.so")):
        give_up("this build makes no shared library")
    if os.environ.get("PNC_TEST_WRAPPER"):
        give_up("Python does not run under " + shlex.split(os.environ["PNC_TEST_WRAPPER"])[0])
    environment = stamp_of("environment.stamp", sys.version, CC, *READY, MPI4PY)
    if not environment.fits():
        if QUICK:
            give_up("a run without PNC_TEST_QUICK builds it")
        make_environment(environment)
    prefix = install_library()
    package = build_package(prefix)
    prepare_run(prefix)
    tests, examples = scripts_of(os.path.join(package, "test"), "tst_"), scripts_of(os.path.join(package, "examples"))
    tap.ok(len(tests) > 40 and len(examples) > 10, f"it has {len(tests)} tests and {len(examples)} examples")
    if QUICK:
        run_scripts([path for path in tests if path.endswith("tst_wait.py")], 4)
    else:
        for ranks in 1, 4:
            run_scripts(tests + examples, ranks)
    tap.finish()


if sys.argv[1:2] == ["--run"]:
    run_in_this_process(*sys.argv[2:])
else:
    main()
