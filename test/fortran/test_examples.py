"""The programs of examples/F77 compile without a warning, run on several ranks, and write the expected files."""
# needs: python
import glob
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "F77")
FC = shlex.split(os.environ.get("FC", ""))
FCFLAGS = shlex.split(os.environ.get("FCFLAGS", ""))


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, f"{shlex.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}"


def check_arguments(source, name):
    copy = tap.scratch(f"checked_{name}.f")
    with open(source, encoding="ascii") as original, open(copy, "w", encoding="ascii") as file:
        file.write(original.read().replace("'pnetcdf.inc'", "'pnetcdf_checked.inc'"))
    status, _, why = run(*FC, *FCFLAGS, "-I" + os.path.join(BUILD, "include"), "-c", copy, "-o", copy + ".o")
    tap.ok(status == 0, f"examples/F77/{name}.f compiles with its arguments checked", why)


def build(source):
    """The program of a source, linked with the library of the build tree, or None."""
    name = os.path.splitext(os.path.basename(source))[0]
    program = tap.scratch(name)
    warn = ["-Wall", "-Wextra", "-fno-allow-argument-mismatch"] if "GNU" in run(*FC, "--version")[1] else []
    status, _, why = run(*FC, *FCFLAGS, *warn, "-I" + os.path.join(BUILD, "include"), "-c", source,
                         "-o", program + ".o")
    check_arguments(source, name)
    ours = re.findall(rf"^\S*{name}\.f:\d+:\d+:", why, flags=re.M) # those of mpif.h are not ours
    tap.ok(status == 0 and not ours, f"examples/F77/{name}.f compiles without a warning", why)
    status, _, why = run(os.path.join(BUILD, "libtool"), "--tag=FC", "--mode=link", *FC, *FCFLAGS, program + ".o",
                         "-o", program, os.path.join(BUILD, "libpnetcdf.la"))
    return program if tap.ok(status == 0, f"{name} links", why) else None


def dumped(path):
    """{variable: its values} of a file, by ncmpidump."""
    _, text, _ = tap.run_mpi(1, "src/tools/ncmpidump/ncmpidump", path)
    data = text.partition("\ndata:\n")[2]
    return {name: [float(value) for value in values.split(",")]
            for name, values in re.findall(r"(\w+) =([^;]*);", data)}


def check_first(program, ranks):
    os.chdir(tap.scratch("."))
    status, _, why = tap.run_mpi(ranks, os.path.abspath(program))
    tap.ok(status == 0, f"first runs on {ranks} ranks", why)
    expected = [280 + rank + 0.1 * x for rank in range(ranks) for x in range(10)]
    found = dumped("first.nc").get("temperature", [])
    tap.ok(len(found) == len(expected) and all(abs(a - b) < 1e-4 for a, b in zip(found, expected)),
           f"first.nc of {ranks} ranks holds a row per rank", found)


def check_checkpoint(program, ranks):
    path = tap.scratch(f"checkpoint{ranks}.nc")
    status, output, why = tap.run_mpi(ranks, os.path.abspath(program), path)
    tap.ok(status == 0 and "no salinity: NetCDF: Variable not found" in output, f"checkpoint runs on {ranks} ranks",
           output + why)
    found = dumped(path)
    expected = {name: [100 * (i + 1) + 10 * (y + 1) + x + 1 for y in range(4 * ranks) for x in range(6)]
                for i, name in enumerate(("u", "v", "height"))}
    tap.ok(found == expected, f"the checkpoint of {ranks} ranks holds u, v and height", found)


if not FC:
    print("1..0 # SKIP this build has no Fortran")
    sys.exit(0)
CHECKS = {"first": check_first, "checkpoint": check_checkpoint}
sources = sorted(os.path.abspath(source) for source in glob.glob(os.path.join(EXAMPLES, "*.f")))
tap.ok({os.path.splitext(os.path.basename(source))[0] for source in sources} == set(CHECKS),
       "every example has a check")
for source in sources:
    built = build(source)
    for ranks in (1, 3) if built else ():
        CHECKS[os.path.basename(built)](built, ranks)
tap.finish()
