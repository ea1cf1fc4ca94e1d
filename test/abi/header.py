"""pnetcdf.h compiles alone, strictly, from C and C++, and beside netcdf.h."""
# needs: python
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
CC = shlex.split(os.environ.get("CC", "mpicc"))
INCLUDE = "-I" + os.path.join(BUILD, "include")
STRICT = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", INCLUDE]
USE = "int use(int ncid); int use(int ncid) { return ncmpi_close(ncid) == NC_NOERR; }\n"


def write(name, text):
    with open(tap.scratch(name), "w", encoding="utf-8") as file:
        file.write(text)
    return tap.scratch(name)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def compiles(name, compiler, options, text):
    status, _, why = run(*compiler, *options, write(name, text))
    return status == 0, why


for standard in ("c99", "c11", "gnu17"):
    good, why = compiles("alone.c", CC, [*STRICT, f"-std={standard}"], "#include <pnetcdf.h>\n" + USE)
    tap.ok(good, f"pnetcdf.h compiles alone as {standard}", why)

good, why = compiles("twice.c", CC, STRICT, "#include <pnetcdf.h>\n#include <pnetcdf.h>\n" + USE)
tap.ok(good, "pnetcdf.h can be included twice", why)

if shutil.which("g++"):
    # The C++ bindings of MPI, which MPI 3 removed, are ignored.
    skip_bindings = ["-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", *tap.mpi_flags()]
    for standard in ("c++98", "c++17"):
        good, why = compiles("alone.cc", ["g++"], [*STRICT, f"-std={standard}", "-Wno-long-long", *skip_bindings],
                             "#include <pnetcdf.h>\n" + USE)
        tap.ok(good, f"pnetcdf.h compiles as {standard}", why)
    system = [flag.replace("-I", "-isystem") for flag in skip_bindings] # mpi.h has old casts itself
    for standard in ("c++11", "c++14", "c++17", "c++20"):
        good, why = compiles("alone.cc", ["g++"], [*STRICT, f"-std={standard}", "-Wpedantic", "-Wold-style-cast",
                                                   "-Wconversion", *system], "#include <pnetcdf.h>\n" + USE)
        tap.ok(good, f"pnetcdf.h compiles as {standard} without old casts and conversions", why)
else:
    tap.skip("pnetcdf.h compiles as C++", "g++ is not installed")

# What the mpi.h of each family defines, as far as pnetcdf.h looks at it.
FAMILIES = {"MPICH": "#define MPICH_VERSION \"4.0\"", "Open MPI": "#define OPEN_MPI 1"}
FAKE = "typedef {0} MPI_Comm, MPI_Info, MPI_Datatype; typedef long long MPI_Offset;\n"
own = "Open MPI" if compiles("family.c", CC, ["-fsyntax-only"],
                             "#include <mpi.h>\n#ifndef OPEN_MPI\n#error\n#endif\n")[0] else "MPICH"
for family, macro in FAMILIES.items():
    os.makedirs(tap.scratch("fake"), exist_ok=True)
    with open(os.path.join(tap.scratch("fake"), "mpi.h"), "w", encoding="utf-8") as header:
        header.write(macro + "\n" + FAKE.format("int"))
    good, why = compiles("family.c", ["gcc"], ["-fsyntax-only", "-I" + tap.scratch("fake"), INCLUDE],
                         "#include <pnetcdf.h>\n" + USE)
    if family == own:
        tap.ok(good, f"pnetcdf.h compiles with the mpi.h of {family}, which the library was built with", why)
    else:
        tap.ok(not good and "this libpnetcdf was built with " + own in why,
               f"pnetcdf.h refuses the mpi.h of {family}, and says why", why)

# If netcdf.h is not a system header, compilers warn of a macro with other tokens, even if the value is the same.
# These have other values. The header of another libpnetcdf makes compilers warn of the limits, too.
OTHER_VALUES = {"NC_MAX_DIMS", "NC_MAX_ATTRS", "NC_MAX_VARS", "NC_MAX_VAR_DIMS", "NC_QUANTIZE_BITGROOM_ATT_NAME"}


def check_both(compiler, options, suffix):
    for order in (("netcdf.h", "pnetcdf.h"), ("pnetcdf.h", "netcdf.h")):
        text = "".join(f"#include <{header}>\n" for header in order) + USE
        good, why = compiles("both" + suffix, compiler, [*STRICT, *options], text)
        tap.ok(good, f"{order[1]} compiles after {order[0]} in both{suffix}", why)
        _, why = compiles("both" + suffix, compiler, [*STRICT, *options, "-Wsystem-headers", "-Wno-error"], text)
        again = set(re.findall(r'warning: "(\w+)" redefined', why)) - OTHER_VALUES
        tap.ok(not again, "and no shared macro is defined with other tokens", "\n".join(sorted(again)))


# Codes whose texts a program may compare, whichever of the libraries it asks; PnetCDF 1.x says more in two of them.
SAME_TEXTS = set(range(-63, -32)) - {-41, -51} | {-113}
CODES = """\
#include <stdio.h>
#include <netcdf.h>
#include <pnetcdf.h>
int main(void)
{
@LINES@    return 0;
}
"""


def check_codes():
    """Names, values and texts of netCDF-C's codes, as its header and its library have them."""
    _, text, _ = run(*CC, "-E", "-dM", write("names.c", "#include <netcdf.h>\n"))
    names = sorted(set(re.findall(r"^#define (NC_E[A-Z0-9_]+) \(?-\d", text, re.M)) - {"NC_EXDR"})
    source = write("codes.c", CODES.replace("@LINES@", "".join(
        f'    printf("{name}|%d|%s|%s|%s\\n", {name}, ncmpi_strerrno({name}), nc_strerror({name}), '
        f'ncmpi_strerror({name}));\n' for name in names)))
    status, _, why = run(*CC, *tap.make_variable("CFLAGS"), INCLUDE, source, "-o", tap.scratch("codes"),
                         *tap.library_flags(), "-lnetcdf")
    if status != 0 and "-lnetcdf" in why:
        tap.skip("the codes of netCDF-C", "libnetcdf is not installed")
        return
    _, printed, more = tap.run_mpi(1, os.path.abspath(tap.scratch("codes")))
    rows = [line.split("|") for line in printed.splitlines()]
    wrong = [row for row in rows if row[0] != row[2] or (int(row[1]) in SAME_TEXTS and row[3] != row[4])]
    tap.ok(len(rows) == len(names) > 90 and not wrong, f"the {len(names)} codes of netCDF-C have their names and texts",
           (wrong, why, more))


if compiles("netcdf.c", CC, ["-fsyntax-only"], "#include <netcdf.h>\n")[0]:
    check_both(CC, ["-std=c99"], ".c")
    check_codes()
    if shutil.which("g++"):
        check_both(["g++"], skip_bindings, ".cc")
else:
    tap.skip("pnetcdf.h compiles beside netcdf.h", "netcdf.h is not installed")
tap.finish()
