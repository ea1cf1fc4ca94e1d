"""What configure prints at its end, against the libraries themselves; and where some are missing, what it says then."""
# needs: python
import ctypes
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
SOURCE = os.path.abspath(os.environ.get("PNC_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                                   "..", "..")))
CC = shlex.split(os.environ.get("CC", "mpicc"))

# Of the names in PNC_TEST_HIDDEN, dlopen finds none.
HIDE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int);
    const char *hidden = getenv("PNC_TEST_HIDDEN");
    if (hidden && name && strstr(hidden, name))
        return NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(name, flags);
}
"""


def rows_of(text):
    """{name: value} of the summary in what configure has printed, or in its log, and the line after it."""
    found = re.search(r"^PnetCDF [\d.]+\S*:\n((?:  .*\n)+)(What is missing.*\n)?", text, re.M)
    if found is None:
        return {}, ""
    return {line[:15].strip(): line[15:] for line in found.group(1).splitlines()}, found.group(2) or ""


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def output(*command):
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def opens(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def version_of_mpi():
    """As the library itself says, not its header."""
    code = ("#include <mpi.h>\n#include <stdio.h>\nint main(void)\n{\n    char text[MPI_MAX_LIBRARY_VERSION_STRING];\n"
            "    int n;\n    return MPI_Get_library_version(text, &n) != MPI_SUCCESS || puts(text) < 0;\n}\n")
    with open(tap.scratch("version.c"), "w", encoding="ascii") as file:
        file.write(code)
    if subprocess.run([*CC, tap.scratch("version.c"), "-o", tap.scratch("version")], check=False).returncode != 0:
        return "", ""
    text = output(tap.scratch("version"))
    found = re.search(r"(Open MPI) v([\d.]+)|(MPICH) Version:\s*(\S+)", text)
    return (" ".join(filter(None, found.groups())), text) if found else ("", text)


def check_own():
    rows, missing = rows_of(read(os.path.join(BUILD, "config.log")))
    if not tap.ok(rows, "configure prints a summary"):
        return
    wanted, text = version_of_mpi()
    if wanted:
        tap.ok(rows["MPI"].startswith(wanted + " (/"), f"MPI: {wanted}", f"{rows['MPI']}\n{text}")
    tap.ok(rows["Fortran"].startswith("yes: ") == bool(os.environ.get("FC")), "Fortran", rows["Fortran"])
    tap.ok(rows["netCDF-4"].startswith("no: ") != tap.has_hdf5(), "netCDF-4", rows["netCDF-4"])
    version = re.search(r"HDF5 Version:\s*(\S+)", output("h5cc", "-showconfig"))
    if version and tap.has_hdf5():
        tap.ok(f"HDF5 {version.group(1)} (" in rows["netCDF-4"], f"HDF5 {version.group(1)}", rows["netCDF-4"])
    for name, library in (("deflate", "libdeflate.so.0"), ("deflate 1", "libisal.so.2"),
                          ("zstd", "libzstd.so.1"), ("szip", "libsz.so.2")):
        if tap.has_hdf5():
            tap.ok(rows[name].startswith("yes: " + library if opens(library) else "not yet: " + library), name,
                   rows[name])
        else:
            tap.ok(name not in rows, f"no {name} without netCDF-4", rows)
    for name, library in (("Zarr", "libjson-c.so.5"), ("blosc", "libblosc.so.1")):
        tap.ok(rows[name].startswith("yes: " + library if opens(library) else "not yet: " + library), name, rows[name])
    version = re.search(r"xxhsum (\d\S*)", output("xxhsum", "--version"))
    if version:
        tap.ok(rows["checksums"] == "yes: xxHash " + version.group(1) or "apt install libxxhash-dev" in
               rows["checksums"], f"xxHash {version.group(1)}", rows["checksums"])
    prefix = tap.make_variable("prefix")
    tap.ok([rows["installs in"]] == prefix, "where it will be", (rows["installs in"], prefix))
    tap.ok(bool(missing) == any("apt install" in value for value in rows.values()), "and what is missing", missing)


def hide(name):
    """A header that compilers find before the system's, and cannot compile."""
    with open(os.path.join(tap.scratch("hidden"), name), "w", encoding="ascii") as file:
        file.write("#error hidden\n")


def check_missing():
    """configure on a machine that lacks a Fortran compiler, headers, and a library that is opened."""
    text = "a summary where much is missing"
    if tap.is_quick() or tap.instruments() or not tap.has_hdf5():
        tap.skip(text, "quick: documentation and packaging" if tap.is_quick() else "the usual build tests this")
        return
    if os.path.exists(os.path.join(SOURCE, "config.status")):
        tap.skip(text, "the source folder is configured")
        return
    os.makedirs(tap.scratch("hidden"))
    hide("xxhash.h")
    hide("cmocka.h")
    with open(tap.scratch("hide.c"), "w", encoding="ascii") as file:
        file.write(HIDE)
    library = os.path.abspath(tap.scratch("libhide.so"))
    subprocess.run([*CC, "-shared", "-fPIC", tap.scratch("hide.c"), "-o", library, "-ldl"], check=True)
    done = subprocess.run([os.path.join(SOURCE, "configure"), "MPICC=" + shlex.join(CC), "MPIF90=/bin/false",
                           "CPPFLAGS=-I" + os.path.abspath(tap.scratch("hidden"))],
                          cwd=tap.scratch("hidden"), capture_output=True, text=True, check=False,
                          env={**os.environ, "LD_PRELOAD": library, "PNC_TEST_HIDDEN": "libzstd.so.1 libsz.so.2"})
    rows, missing = rows_of(done.stdout)
    if not tap.ok(done.returncode == 0 and rows, text, done.stdout[-2000:] + done.stderr[-2000:]):
        return
    for name, words in (("Fortran", "no: no MPI Fortran compiler works (Debian: apt install gfortran)"),
                        ("checksums", "no: no header of xxHash 0.8 or later (Debian: apt install libxxhash-dev)"),
                        ("zstd", "not yet: libzstd.so.1 is missing; once it is there, programs find it "
                                 "(Debian: apt install libzstd1)"),
                        ("make check", "no: no cmocka (Debian: apt install libcmocka-dev)")):
        tap.ok(rows.get(name) == words, f"{name} is missing", rows)
    tap.ok("(Debian: apt install libsz2)" in rows["szip"], "and szip", rows)
    tap.ok(missing == "What is missing, on Debian: apt install gfortran libzstd1 libsz2 libxxhash-dev libcmocka-dev; "
                      "then configure and build again.\n", "all of them in one command", missing)


def check_no_hdf5():
    """The same text for a machine without headers of HDF5."""
    variables = {"srcdir": SOURCE, "with_hdf5": "no", "hdf5_asked": "auto", "enable_fortran": "no",
                 "fortran_asked": "no", "with_netcdf": "yes", "netcdf_version": "4.9.0", "xxhash_version": "0.8.1",
                 "ac_cv_header_cmocka_h": "yes",
                 "PACKAGE_NAME": "PnetCDF", "PACKAGE_VERSION": "2.0.0"}
    for asked, words in (("auto", "no: no headers of HDF5 1.10.5 or later (Debian: apt install libhdf5-dev)"),
                         ("no", "no: --without-hdf5")):
        done = subprocess.run(["/bin/sh", os.path.join(SOURCE, "scripts", "summary")], capture_output=True, text=True,
                              check=False, env={**os.environ, **variables, "hdf5_asked": asked})
        rows, missing = rows_of(done.stdout)
        tap.ok(rows.get("netCDF-4") == words and "zstd" not in rows and bool(missing) == (asked == "auto")
               and rows["Fortran"] == "no: --disable-fortran", words, done.stdout + done.stderr)


check_own()
check_no_hdf5()
check_missing()
tap.finish()
