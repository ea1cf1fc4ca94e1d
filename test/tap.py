"""What tests in Python share: TAP lines, the scratch and data folders, the build's compilers, and starting programs of
the build on n ranks.

The environment is described in test/runner/common.sh.
"""
import os
import re
import shlex
import subprocess
import sys

_count = 0
_failures = 0


def ok(good, text, why=""):
    """Print one TAP line; `why` explains a failure. Returns whether it was good."""
    global _count, _failures
    _count += 1
    _failures += not good
    print(f"{'' if good else 'not '}ok {_count} - {text}", flush=True)
    if not good:
        for line in str(why).splitlines():
            print(f"# {line}", flush=True)
    return bool(good)


def is_quick():
    """Whether the test is to take fewer cases (PNC_TEST_QUICK=1). The log then says that it does."""
    quick = os.environ.get("PNC_TEST_QUICK") == "1"
    if quick:
        print("# quick: fewer cases", flush=True)
    return quick


def is_long():
    """Whether the test is to take all cases that it has (PNC_TEST_LONG=1)."""
    return os.environ.get("PNC_TEST_LONG") == "1"


def choose(quick, usual, most):
    """One of them: PNC_TEST_QUICK=1, neither, PNC_TEST_LONG=1."""
    return quick if is_quick() else most if is_long() else usual


def skip(text, why):
    global _count
    _count += 1
    print(f"ok {_count} - {text} # SKIP {why}", flush=True)


def finish():
    print(f"1..{_count}", flush=True)
    sys.exit(1 if _failures else 0)


def scratch(name):
    """A path in the test's scratch folder."""
    return os.path.join(os.environ.get("PNC_TEST_TMP", "."), name)


def has_hdf5():
    """Whether the build has netCDF-4."""
    with open(os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), "config.h"), encoding="utf-8") as file:
        return re.search(r'^#define HDF5_SONAME "lib', file.read(), re.M) is not None


def data(name):
    """The path of a real data file, or None where it is absent."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.path.join(os.environ.get("PNC_TEST_DATA", os.path.join(top, "..", "shared", "data")), name)
    return path if os.path.exists(path) else None


def make_variable(name):
    """The words of a variable of the build's Makefile: programs that a test compiles take the build's compiler and
    flags, without which they do not link with a library that has sanitizers in it."""
    with open(os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), "Makefile"), encoding="utf-8") as makefile:
        found = re.search(rf"^{name} = (.*)$", makefile.read(), re.M)
    return shlex.split(found.group(1)) if found else []


def instruments():
    """Flags of the build's compiler that its objects link with."""
    return [flag for flag in make_variable("CFLAGS") if flag.startswith(("-fsanitize", "--coverage"))]


def library_flags():
    """What links a program with the library of the build. A static library needs the libraries that it uses."""
    libraries = os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), ".libs")
    if os.path.exists(os.path.join(libraries, "libpnetcdf.so")):
        return ["-L" + libraries, "-Wl,-rpath," + libraries, "-lpnetcdf"]
    return [os.path.join(libraries, "libpnetcdf.a"), *make_variable("LIBS")]


def ask_compiler(question):
    """What the wrapper says about itself, or None."""
    compiler = shlex.split(os.environ.get("CC", "mpicc"))
    done = subprocess.run([*compiler, question], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def mpi_flags():
    """The folder of mpi.h, for other compilers: Open MPI's wrapper answers the first, MPICH's the second."""
    answer = ask_compiler("--showme:compile") or ask_compiler("-compile_info") or ""
    return re.findall(r"-I\s*\S+", answer)


def retries_writes():
    """Whether a write that fails once may be made good without an error: Open MPI reports it as one of 0 bytes."""
    return ask_compiler("--showme:compile") is not None


def run_mpi(ranks, program, *arguments, env=None):
    """Run a program of the build tree ("examples/C/era_wind") on some ranks. Returns (exit status, stdout, stderr)."""
    build = os.environ.get("PNC_BUILD", os.getcwd())
    library = os.environ.get("PNC_TEST_YIELD", "no")
    wrapper = shlex.split(os.environ.get("PNC_TEST_WRAPPER", ""))
    libtool = os.path.join(build, "libtool")
    if wrapper and os.path.exists(libtool):
        wrapper = [libtool, "--mode=execute", *wrapper]
    preload = [] if library == "no" else ["env", f"LD_PRELOAD={library}"]
    command = [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", str(ranks), *preload, *wrapper,
               os.path.join(build, program), *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=env)
    return done.returncode, done.stdout, done.stderr


def run_script(ranks, program, name, lines):
    """What a program prints that reads its commands from a file, which is made of the lines in the scratch folder; also
    on stderr, and its exit status if that is not 0."""
    path = scratch(name)
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    status, out, err = run_mpi(ranks, program, path)
    return out + err + (f"exit status {status}" if status else "")
