"""Packages of PyPI for tests: each test has a virtual environment of its own in the build tree, so that only the first
run is slow. Without a network the test is skipped; PNC_TEST_QUICK=1 makes nothing new."""
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tarfile

import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", os.getcwd()))
QUICK = os.environ.get("PNC_TEST_QUICK") == "1"


def run(*command, **variables):
    """Its exit status, and all that it printed."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "DESTDIR")}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, env={**environment, **variables})
    return done.returncode, done.stdout


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Stamp:
    """A file that records the inputs of a step: while they are the same, the step is not repeated."""

    def __init__(self, path, *contents):
        self.path, self.contents = path, "\n".join(contents)

    def fits(self):
        return os.path.exists(self.path) and read(self.path) == self.contents

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self.contents)


class Environment:
    """A virtual environment in the folder `name` of the build tree. what: of the line that says that it is skipped."""

    def __init__(self, name, what):
        self.top, self.what = os.path.join(BUILD, name), what
        self.python = os.path.join(self.top, "venv", "bin", "python")

    def give_up(self, why):
        tap.skip(self.what, why)
        tap.finish()

    def pip(self, *arguments, **variables):
        return run(self.python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "--retries", "1",
                   "--timeout", "30", *arguments, **variables)

    def make(self, *packages):
        shutil.rmtree(self.top, ignore_errors=True)
        os.makedirs(self.top)
        status, output = run(sys.executable, "-m", "venv", os.path.join(self.top, "venv"))
        if status != 0:
            self.give_up(f"{sys.executable} -m venv fails (Debian: apt install python3-venv): {last_line(output)}")
        status, output = self.pip("install", "--quiet", *packages)
        if status != 0:
            self.give_up(f"PyPI cannot be reached: {last_line(output)}")

    @contextlib.contextmanager
    def _locked(self):
        with open(self.top + ".lock", "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def need(self, *packages):
        """Make it unless it has these packages already. Several tests may use it at the same time."""
        with self._locked():
            stamp = Stamp(os.path.join(self.top, "environment.stamp"), sys.version, *packages)
            if stamp.fits():
                return
            if QUICK:
                self.give_up("a run without PNC_TEST_QUICK builds it")
            self.make(*packages)
            stamp.write()


# Ready-made packages, then those that are compiled here: the first with the MPI library, the second with ours too.
READY = ("Cython<4", "numpy<3", "packaging", "setuptools<81", "wheel", "xarray>=2024.10", "dask[array]", "netCDF4",
         "scipy", "h5netcdf", "h5py")
MPI4PY, PACKAGE = "mpi4py==4.1.2", "pnetcdf==1.0.0"
CC = os.environ.get("CC", "mpicc")
FAST_BUILD = {"CFLAGS": "-O0 -g0", "MPICC": CC, "CC": CC}


def must(text, status_and_output):
    status, output = status_and_output
    if not tap.ok(status == 0, text, output[-4000:]):
        tap.finish()


class MpiEnvironment(Environment):
    """With mpi4py, the library as it is installed, and the package pnetcdf, which is built against it. Several tests
    use it, also at the same time: one of them makes it."""

    def __init__(self, what):
        super().__init__("python-package", what)

    def prepare(self):
        """Returns the prefix of the library, and the unpacked source of the package pnetcdf."""
        if not os.path.exists(os.path.join(BUILD, ".libs", "libpnetcdf.so")):
            self.give_up("this build makes no shared library")
        if os.environ.get("PNC_TEST_WRAPPER"):
            self.give_up("Python does not run under " + os.environ["PNC_TEST_WRAPPER"].split()[0])
        with self._locked():
            stamp = Stamp(os.path.join(self.top, "environment.stamp"), sys.version, CC, *READY, MPI4PY)
            if not stamp.fits():
                if QUICK:
                    self.give_up("a run without PNC_TEST_QUICK builds it")
                self.make(*READY)
                source = self._download(MPI4PY, **FAST_BUILD)
                must(f"{MPI4PY} is compiled with {CC}", self.install(source, **FAST_BUILD))
                stamp.write()
            prefix = self._install_library()
            unpacked = self._build_package(prefix)
        # The preload wants to be loaded together with MPI.
        if os.environ.get("PNC_TEST_YIELD", "no") != "no":
            os.environ["PNC_TEST_YIELD"] += ":" + os.path.join(prefix, "lib", "libpnetcdf.so")
        return prefix, unpacked

    def install(self, source, *arguments, **variables):
        return self.pip("install", "--quiet", "--no-deps", "--no-build-isolation", *arguments, source, **variables)

    def _download(self, package, **variables):
        """The source distribution of a package. Without a network the test ends here."""
        status, output = self.pip("download", "--quiet", "--no-deps", "--no-build-isolation", "--no-binary", ":all:",
                                  "--dest", self.top, package, **variables)
        if status != 0:
            self.give_up(f"{package} cannot be fetched: {last_line(output)}")
        name, version = package.split("==")
        return os.path.join(self.top, f"{name}-{version}.tar.gz")

    def _install_library(self):
        """Where the library is now; what is configured as prefix stays untouched. What another test may be using is
        not replaced by the same."""
        stage = os.path.join(self.top, "stage")
        made = os.stat(os.path.join(BUILD, ".libs", "libpnetcdf.so"))
        stamp = Stamp(os.path.join(self.top, "stage.stamp"), f"{made.st_mtime_ns} {made.st_ino}",
                      read(os.path.join(BUILD, "include", "pnetcdf.h")))
        if not stamp.fits():
            shutil.rmtree(stage, ignore_errors=True)
            must("make install", run("make", "-C", BUILD, "install", f"DESTDIR={stage}"))
            stamp.write()
        for folder, _, files in os.walk(stage):
            if "pnetcdf-config" in files:
                return os.path.dirname(folder)
        return tap.ok(False, "pnetcdf-config is installed") or tap.finish()

    def _build_package(self, prefix):
        """Unpacked beside the venv too, for its tests."""
        stamp = Stamp(os.path.join(self.top, "package.stamp"), PACKAGE, prefix,
                      read(os.path.join(prefix, "include", "pnetcdf.h")))
        unpacked = os.path.join(self.top, PACKAGE.replace("==", "-"))
        if not stamp.fits():
            variables = {**FAST_BUILD, "PNETCDF_DIR": prefix}
            source = self._download(PACKAGE, **variables)
            shutil.rmtree(unpacked, ignore_errors=True)
            with tarfile.open(source) as file:
                file.extractall(self.top)
            built = self.install(source, "--force-reinstall", **variables)
            if built[0] != 0 and "ompi_datatype_t" in built[1]:
                self.give_up(f"{PACKAGE} takes an MPI_Datatype for an integer, which with Open MPI it is not")
            must(f"{PACKAGE} is built against the installed library", built)
            stamp.write()
        return unpacked
