"""Programs that were linked with an earlier version run with this one: abidiff finds no function, argument or type of
it changed or gone. `compatible.py --write` describes the library of the build for later versions, at a release."""
# needs: python, abidiff
import glob
import lzma
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
LIBRARY = os.path.join(BUILD, ".libs", "libpnetcdf.so")
HEADERS = os.path.join(BUILD, "include")


def describe():
    """What the library exports, in the XML of libabigail."""
    return subprocess.run(["abidw", "--headers-dir", HEADERS, "--drop-private-types", "--no-show-locs",
                           "--no-comp-dir-path", "--no-corpus-path", LIBRARY],
                          check=True, capture_output=True).stdout


def compare(description):
    """(whether the library has all of the description unchanged, the report)"""
    path = tap.scratch("earlier.abi")
    with open(path, "wb") as file:
        file.write(description)
    run = subprocess.run(["abidiff", "--no-added-syms", "--headers-dir2", HEADERS, path, LIBRARY],
                         capture_output=True, text=True)
    return run.returncode == 0, f"exit status {run.returncode}\n{run.stdout}{run.stderr}"


def why_not():
    """Why the descriptions say nothing of this build, or None: they are of the commonest one."""
    makefile = tap.make_variable
    if shutil.which("abidiff") is None or shutil.which("abidw") is None:
        return "abidiff is not installed"
    if not os.path.exists(LIBRARY):
        return "the build has no shared library"
    if os.uname().machine != "x86_64" or makefile("host_cpu") != ["x86_64"]:
        return "described on x86-64"
    if makefile("MPI_FAMILY") != ["mpich"] or makefile("ENABLE_FORTRAN") != ["1"]:
        return "described with MPICH and Fortran"
    if "-fsanitize" in " ".join(makefile("CFLAGS")) or "-g" not in makefile("CFLAGS"):
        return "the build has other debugging information"
    return None


def main():
    if sys.argv[1:] == ["--write"]:
        version = tap.make_variable("PACKAGE_VERSION")[0]
        with lzma.open(os.path.join(HERE, f"libpnetcdf-{version}.abi.xz"), "wb", preset=9) as file:
            file.write(describe())
        return
    reason = why_not()
    if reason is not None:
        tap.skip("compatible with earlier versions", reason)
        tap.finish()
    paths = sorted(glob.glob(os.path.join(HERE, "libpnetcdf-*.abi.xz")))
    tap.ok(paths, "there are descriptions of earlier versions")
    for path in paths:
        with lzma.open(path) as file:
            description = file.read()
        same, report = compare(description)
        tap.ok(same, f"has all of {os.path.basename(path)[:-len('.abi.xz')]}", report)
    gone = description.replace(b"'ncmpi_sync'", b"'ncmpi_no_more'")
    tap.ok(gone != description and not compare(gone)[0], "a function that is gone is noticed")
    number = re.search(rb"<type-decl name='int' .*id='([\w-]+)'/>", description).group(1)
    other = re.sub(rb"(<typedef-decl name='MPI_Offset' type-id=)'[\w-]+'", rb"\1'" + number + b"'", description)
    tap.ok(other != description and not compare(other)[0], "a type of another size is noticed")
    tap.finish()


if __name__ == "__main__":
    main()
