"""The Debian packages: built from a tarball in a clean folder, unpacked into a root of their own, and a program that
pkg-config compiles there writes a compressed netCDF-4 file on 2 ranks, which other programs read."""
# builds: the library
import os
import re
import shutil
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
SOURCE = os.environ.get("PNC_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
RECIPE = os.path.join(SOURCE, "packaging")
ROOT = os.path.abspath(tap.scratch("root"))
# Of the environment, only what a machine without this project has: not the compilers and flags of the build.
CLEAN = {name: value for name, value in os.environ.items()
         if name in ("PATH", "HOME", "LANG", "TMPDIR", "MPICH_CC", "MPICH_CXX") or name.startswith("CCACHE_")}

# Variables with the same values, one for each filter: deflate, zstd, szip.
PROGRAM = r"""
#include <stdio.h>
#include <pnetcdf.h>
#define TRY(call) do { int e = (call); if (e != NC_NOERR) { \
    fprintf(stderr, "%s: %s\n", #call, ncmpi_strerror(e)); MPI_Abort(MPI_COMM_WORLD, 1); } } while (0)
enum { N = 1000 };
int main(int argc, char **argv)
{
    unsigned szip[2] = {32, 8};
    int rank, nprocs, ncid, dim, vars[3], values[N];
    MPI_Offset start, count = N, chunk = N;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    TRY(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    TRY(ncmpi_def_dim(ncid, "x", (MPI_Offset)N * nprocs, &dim));
    TRY(ncmpi_def_var(ncid, "by_deflate", NC_INT, 1, &dim, &vars[0]));
    TRY(ncmpi_def_var(ncid, "by_zstd", NC_INT, 1, &dim, &vars[1]));
    TRY(ncmpi_def_var(ncid, "by_szip", NC_INT, 1, &dim, &vars[2]));
    for (int i = 0; i < 3; i++)
        TRY(ncmpi_def_var_chunking(ncid, vars[i], NC_CHUNKED, &chunk));
    TRY(ncmpi_def_var_deflate(ncid, vars[0], 1, 1, 4));
    TRY(ncmpi_def_var_zstandard(ncid, vars[1], 3));
    TRY(ncmpi_def_var_filter(ncid, vars[2], 4, 2, szip));
    TRY(ncmpi_enddef(ncid));
    start = (MPI_Offset)N * rank;
    for (int i = 0; i < N; i++)
        values[i] = ((int)start + i) * 3 / 7;
    for (int i = 0; i < 3; i++)
        TRY(ncmpi_put_vara_int_all(ncid, vars[i], &start, &count, values));
    TRY(ncmpi_close(ncid));
    return MPI_Finalize();
}
"""
WANTED = np.arange(2000) * 3 // 7


def run(*command, **options):
    """Its exit status, what it wrote to stdout, and both outputs for messages."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=options.pop("env", CLEAN), **options)
    return done.returncode, done.stdout, f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}"


def must(text, good, why):
    if not tap.ok(good, text, why):
        tap.finish()


def reason_to_skip():
    if not tap.is_long():
        return "not long: it builds the library once more"
    if tap.make_variable("MPI_FAMILY") != ["mpich"] or tap.instruments() or not tap.has_hdf5():
        return "the packages are the same for each build: the usual one tests them"
    for program in ("dpkg-buildpackage", "dh", "pkg-config"):
        if not shutil.which(program):
            return f"there is no {program} (Debian: apt install debhelper pkg-config)"
    status, _, why = run("dpkg-checkbuilddeps", os.path.join(RECIPE, "debian", "control"))
    return why if status != 0 else None


def make_tarball():
    """As make dist, in the scratch folder: other tests use the build folder meanwhile."""
    version = tap.make_variable("PACKAGE_VERSION")[0]
    tree = os.path.abspath(tap.scratch("pnetcdf-" + version))
    status, _, why = run("make", "-C", BUILD, "distdir", "distdir=" + tree)
    must("make distdir", status == 0, why)
    subprocess.run(["tar", "-czf", tree + ".tar.gz", "-C", os.path.dirname(tree), os.path.basename(tree)], check=True)
    return tree + ".tar.gz"


def build_packages(tarball):
    """The paths of the packages by name."""
    folder = os.path.abspath(tap.scratch("deb"))
    status, _, why = run(os.path.join(RECIPE, "build-deb"), tarball, folder,
                         env={**CLEAN, "DEB_BUILD_OPTIONS": "parallel=2"})
    must("build-deb builds the packages", status == 0, "\n".join(why.splitlines()[-60:]))
    return {name.split("_")[0]: os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".deb")}


def owner_of_hdf5():
    """The package of the libhdf5 that is opened."""
    with open(os.path.join(BUILD, "config.h"), encoding="utf-8") as file:
        soname = re.search(r'^#define HDF5_SONAME "(.*)"', file.read(), re.M).group(1)
    return run("dpkg-query", "-S", "*/" + soname)[1].split(":")[0]


def check_dependencies(packages):
    """A package depends on what it opens at run time: on all that the list has, and Debian for this processor."""
    with open(os.path.join(RECIPE, "dependencies.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and line[0] != "#"]
    wanted = {row[3] for row in rows if row[1] == "opened" and row[0] != "HDF5"}
    wanted = {name for name in wanted if run("apt-cache", "show", name)[1] != ""} | {owner_of_hdf5()}
    for name, linked in (("libpnetcdf-2-0", {"libmpich12", "libutf8proc2"}), ("pnetcdf-2-tools", {"python3"})):
        depends = run("dpkg-deb", "-f", packages[name], "Depends")[1]
        found = {entry.split()[0] for entry in depends.split(",")}
        tap.ok(found >= wanted | linked, f"{name} depends on what is linked and what is opened",
               f"{depends}missing: {sorted((wanted | linked) - found)}")


def unpack(packages):
    for name in ("libpnetcdf-2-0", "libpnetcdf-2-dev", "pnetcdf-2-tools", "pnetcdf-2-doc"):
        status, _, why = run("dpkg-deb", "-x", packages[name], ROOT)
        must(f"{name} unpacks", status == 0, why)
    libraries = os.path.dirname(run("find", ROOT, "-name", "libpnetcdf.so")[1].strip())
    CLEAN["LD_LIBRARY_PATH"] = libraries
    return libraries


def compile_program(libraries):
    source, program = tap.scratch("client.c"), os.path.abspath(tap.scratch("client"))
    with open(source, "w", encoding="ascii") as file:
        file.write(PROGRAM)
    flags = run("pkg-config", "--cflags", "--libs", "pnetcdf",
                env={**CLEAN, "PKG_CONFIG_LIBDIR": libraries + "/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": ROOT})[1].split()
    # pkg-config leaves out the folders of the system, which here are those of the root
    status, _, why = run("mpicc.mpich", source, "-o", program, f"-I{ROOT}/usr/include", f"-L{libraries}", *flags)
    must("a program compiles by pkg-config", status == 0, why)
    loaded = run("ldd", program)[1]
    must("and loads the library of the package", f"=> {libraries}/libpnetcdf-2.so" in loaded, loaded)
    return program


def check_readers(path):
    """h5py decodes deflate and szip itself; the program zstd the third."""
    import h5py  # pylint: disable=import-outside-toplevel
    with h5py.File(path, "r") as file:
        filters = {name: file[name].id.get_create_plist().get_filter(index)[0]
                   for name, index in (("by_deflate", 1), ("by_zstd", 0), ("by_szip", 0))}
        tap.ok(filters == {"by_deflate": 1, "by_zstd": 32015, "by_szip": 4}, "h5py finds the three filters", filters)
        stored = {name: file[name].id.get_storage_size() for name in filters}
        tap.ok(all(0 < size < 4000 for size in stored.values()), "each made 8000 bytes smaller", stored)
        for name in ("by_deflate", "by_szip"):
            tap.ok(np.array_equal(file[name][:], WANTED), f"h5py reads {name}", file[name][:])
        chunks = b"".join(subprocess.run(["zstd", "-dcq"], input=file["by_zstd"].id.read_direct_chunk((start,))[1],
                                         capture_output=True, check=False).stdout for start in (0, 1000))
        tap.ok(np.array_equal(np.frombuffer(chunks, "<i4"), WANTED), "zstd decompresses the chunks of by_zstd")


def check_dumps(path):
    text = ", ".join(map(str, WANTED))
    for what, command in (("ncdump", ["ncdump", "-v", "by_deflate", path]),
                          ("the package's ncmpidump", [ROOT + "/usr/bin/ncmpidump", path])):
        status, out, why = run(*command)
        found = re.findall(r"^ by_\w+ = ([^;]*) ;", out, re.M)
        tap.ok(status == 0 and len(found) == (1 if what == "ncdump" else 3)
               and all(" ".join(values.split()) == text for values in found), f"{what} prints the values", why)


why_not = reason_to_skip()
if why_not:
    tap.skip("the Debian packages", why_not)
    tap.finish()
packages = build_packages(make_tarball())
must("there are four packages", len([name for name in packages if "dbgsym" not in name]) == 4, sorted(packages))
check_dependencies(packages)
written = os.path.abspath(tap.scratch("compressed.nc"))
status, _, why = run("mpiexec.mpich", "-n", "2", compile_program(unpack(packages)), written)
must("it writes a compressed file on 2 ranks", status == 0, why)
check_readers(written)
check_dumps(written)
tap.finish()
