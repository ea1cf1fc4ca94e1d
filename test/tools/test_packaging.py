"""An installed library as builds of other programs find it: the tree that `make install` writes to a scratch folder is
used through compiler, pkg-config, pnetcdf-config, pnetcdf_version and CMake, as existing clients do."""
# needs: python
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
SOURCE = os.environ.get("PNC_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CC = shlex.split(os.environ.get("CC", "mpicc"))
FC = shlex.split(os.environ.get("FC", ""))
FOLDERS = ("prefix", "bindir", "includedir", "libdir", "mandir", "docdir", "UTF8PROC_ARCHIVE")
FEATURES = ("netcdf4", "adios", "gio", "relax-coord-bound", "in-place-swap", "erange-fill", "subfiling",
            "null-byte-header-padding", "burst-buffering", "profiling", "thread-safe", "debug")
# Macros of features that are not named like the option.
MACROS = {"netcdf4": "DRIVER_NETCDF4", "adios": "DRIVER_ADIOS", "gio": "DRIVER_GIO", "debug": "DEBUG_MODE",
          "in-place-swap": "BYTE_SWAP_IN_PLACE"}
BUILD_OPTIONS = ("cc", "cflags", "cppflags", "c++", "cxxflags", "f77", "fflags", "fppflags", "fc", "fcflags", "ldflags")

# A client: rank 0's value goes through a file to all ranks. The version decides which library was really linked.
CLIENT = r"""
#include <stdio.h>
#include <pnetcdf.h>
#if PNETCDF_VERSION_MAJOR * 1000 + PNETCDF_VERSION_MINOR < 1006
#error "netCDF-C would refuse this version"
#endif
#define TRY(call) do { int e = (call); if (e != NC_NOERR) { \
    fprintf(stderr, "%s: %s\n", #call, ncmpi_strerror(e)); MPI_Abort(MPI_COMM_WORLD, 1); } } while (0)
int main(int argc, char **argv)
{
    int rank, ncid, dim, var, value;
    MPI_Offset start, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start = 0;
    count = rank == 0;
    value = 42;
    TRY(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    TRY(ncmpi_def_dim(ncid, "x", 1, &dim));
    TRY(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &var));
    TRY(ncmpi_enddef(ncid));
    TRY(ncmpi_put_vara_int_all(ncid, var, &start, &count, &value));
    TRY(ncmpi_close(ncid));
    value = 0;
    TRY(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &ncid));
    TRY(ncmpi_get_var_int_all(ncid, 0, &value));
    TRY(ncmpi_close(ncid));
    if (value != 42)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0)
        printf("%s %s\n", ncmpi_inq_libvers(), PNETCDF_VERSION);
    return MPI_Finalize();
}
"""

# The same in Fortran; the call of MPI_Init makes sure that both libraries of MPI are linked.
FORTRAN_CLIENT = r"""
program client
    use mpi
    implicit none
    include 'pnetcdf.inc'
    integer :: err, rank, ncid, dim, var, value
    integer(MPI_OFFSET_KIND) :: start(1), count(1)
    character(4096) :: path
    character(80) :: version
    call MPI_Init(err)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
    call get_command_argument(1, path)
    start = 1
    count = merge(1, 0, rank == 0)
    value = 42
    call try(nfmpi_create(MPI_COMM_WORLD, path, ior(nf_clobber, nf_64bit_data), MPI_INFO_NULL, ncid))
    call try(nfmpi_def_dim(ncid, 'x', 1_MPI_OFFSET_KIND, dim))
    call try(nfmpi_def_var(ncid, 'v', nf_int, 1, dim, var))
    call try(nfmpi_enddef(ncid))
    call try(nfmpi_put_vara_int_all(ncid, var, start, count, value))
    value = 0
    call try(nfmpi_get_var_int_all(ncid, var, value))
    call try(nfmpi_close(ncid))
    if (value /= 42) call MPI_Abort(MPI_COMM_WORLD, 2, err)
    version = nfmpi_inq_libvers()
    if (rank == 0) print '(a)', trim(version) // ' ' // version(:index(version, ' '))
    call MPI_Finalize(err)
contains
    subroutine try(status)
        integer, intent(in) :: status
        if (status == nf_noerr) return
        print '(a)', nfmpi_strerror(status)
        call MPI_Abort(MPI_COMM_WORLD, 1, err)
    end subroutine
end program
"""

INTERPOSER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <pnetcdf.h>
int ncmpi_enddef(int ncid)
{
    int (*next)(int);
    *(void **)&next = dlsym(RTLD_NEXT, "ncmpi_enddef");
    fprintf(stderr, "intercepted\n");
    return next(ncid);
}
"""


def run(*command, **options):
    """Run it; returns its exit status, what it wrote to stdout, and both outputs for messages."""
    done = subprocess.run(command, stdin=options.pop("stdin", subprocess.DEVNULL), capture_output=True, text=True,
                          check=False, **options)
    return done.returncode, done.stdout, f"{shlex.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}"


def write(name, text):
    path = tap.scratch(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def outer_make():
    """The environment without the variables that the calling make sets for its children."""
    return {name: value for name, value in os.environ.items()
            if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "DESTDIR")}


def configured_folders():
    question = write("ask.mk", "include Makefile\nask-folders:\n"
                     + "".join(f"\t@echo '$({name})'\n" for name in FOLDERS))
    _, answer, why = run("make", "-s", "--no-print-directory", "-C", BUILD, "-f", question, "ask-folders",
                         env=outer_make())
    values = answer.splitlines()[-len(FOLDERS):]
    if not tap.ok(len(values) == len(FOLDERS) and values[0].startswith("/"), "the build prints its folders", why):
        tap.finish()
    return dict(zip(FOLDERS, values))


def install():
    """Stage the installation; returns the configured folders, and the same ones in the stage."""
    configured = configured_folders()
    stage = os.path.realpath(tap.scratch(".")) + "/stage"
    status, _, why = run("make", "-C", BUILD, "install", "DESTDIR=" + stage, env=outer_make())
    if not tap.ok(status == 0, "make install DESTDIR=...", why):
        tap.finish()
    return configured, {name: stage + value for name, value in configured.items() if name != "UTF8PROC_ARCHIVE"}


if "--coverage" in tap.make_variable("CFLAGS"):
    tap.skip("the installed library", "a build that counts lines is not installed")
    tap.finish()
configured, staged = install()
HEADER = os.path.join(staged["includedir"], "pnetcdf.h")
SHARED = os.path.exists(os.path.join(staged["libdir"], "libpnetcdf.so"))
ARCHIVE = os.path.join(staged["libdir"], "libpnetcdf.a")
CONFIG = os.path.join(staged["bindir"], "pnetcdf-config")
# The loader of the system reads its own folders; for others programs need the folder.
SYSTEM = ("/lib/", "/usr/lib/", "/usr/local/lib/")
RPATH = [f"-Wl,-rpath,{staged['libdir']}"] if not (configured["libdir"] + "/").startswith(SYSTEM) and SHARED else []
NEEDS = [] if SHARED else [name for name in tap.make_variable("STATIC_LIBS")]
LIBS = " ".join([f"-L{staged['libdir']}", *RPATH, "-lpnetcdf", *NEEDS])
VERSION = re.search(r'^#define PNETCDF_VERSION "(.*)"$', read(HEADER), flags=re.M).group(1)
# A library with sanitizers needs programs with the same ones.
CFLAGS = [word for word in shlex.split(run(CONFIG, "--cflags")[1]) if word.startswith("-fsanitize")]


def check_tree():
    wanted = [("bindir", name) for name in ("ncmpidump", "pnetcdf-config", "pnetcdf_version")]
    wanted += [("includedir", "pnetcdf.h"), ("includedir", "pnetcdf.hpp"),
               ("includedir", "pnetcdf"), ("libdir", "libpnetcdf.la"),
               ("libdir", "pkgconfig/pnetcdf.pc")]
    pages = ("man1/ncmpidump.1", "man1/pnetcdf-config.1", "man1/pnetcdf_version.1", "man3/pnetcdf.3",
             "man3/ncmpi_put_vara_int_all.3")
    wanted += [("mandir", name) for name in pages]
    wanted += [("docdir", name) for name in ("README.md", "LICENSE", "docs/cluster.md", "docs/scaling.svg")]
    wanted += [("includedir", name) for name in ("pnetcdf.inc", "pnetcdf_checked.inc")] if FC else []
    missing = [name for folder, name in wanted if not os.path.exists(os.path.join(staged[folder], name))]
    tap.ok(not missing, "the files that clients use are installed", "\n".join(missing))
    not_run = [name for folder, name in wanted
               if folder == "bindir" and not os.access(os.path.join(staged[folder], name), os.X_OK)]
    tap.ok(not not_run, "its programs are executable", "\n".join(not_run))


def check_links():
    """Installed pages have no links to files that are not installed."""
    broken, n = [], 0
    for folder, _, names in os.walk(staged["docdir"]):
        for name in names:
            if not name.endswith(".md"):
                continue
            for link in re.findall(r"\]\(([^()#]+)[^()]*\)", read(os.path.join(folder, name))):
                n += 1
                if not re.match("[a-z]+:", link) and not os.path.exists(os.path.join(folder, link)):
                    broken.append((name, link))
    tap.ok(n > 20 and not broken, f"the {n} links of installed pages", broken)


def check_bench():
    program = os.path.join(staged["bindir"], "pnetcdf-bench")
    status, out, why = run(program, "--list")
    names = [line.split()[0] for line in out.splitlines()]
    tap.ok(status == 0 and len(names) == 6, "pnetcdf-bench: its programs are listed", why)
    for name in names:
        installed = glob.glob(os.path.join(staged["prefix"], "**", "bench_" + name), recursive=True)
        tap.ok(len(installed) == 1 and os.access(installed[0], os.X_OK),
               f"pnetcdf-bench: {name} is installed", installed)
    moved = shutil.copytree(staged["prefix"], tap.scratch("bench"), symlinks=True)
    status, out, why = run(os.path.join(moved, "bin", "pnetcdf-bench"), "small", "--only", "no such case", "--dir", ".",
                           env={**os.environ, "LD_LIBRARY_PATH": os.path.join(moved, os.path.relpath(
                               staged["libdir"], staged["prefix"]))})
    tap.ok(status == 0, "pnetcdf-bench: runs where it was moved to", why)
    tap.ok(run(program, "none")[0] == 2, "pnetcdf-bench: another name")


def check_header():
    """As SCORPIO, netCDF-C and E3SM-IO read it: line by line, without a compiler."""
    lines = read(HEADER).splitlines()
    versions = [line for line in lines if re.match(r"\s*#\s*define\s+PNETCDF_VERSION_", line)]
    names = [line.split()[1] for line in versions]
    tap.ok(names == ["PNETCDF_VERSION_" + part for part in ("MAJOR", "MINOR", "SUB", "PRE")],
           "four macros begin with PNETCDF_VERSION_, in order", "\n".join(versions))
    joined = ".".join(line.split()[2] for line in versions[:3]) + versions[3].split()[2].strip('"')
    tap.ok(joined == VERSION, f"their values are those of PNETCDF_VERSION, {VERSION}", joined)
    beginning = read(HEADER)[:1000]
    tap.ok(f'#define PNETCDF_VERSION "{VERSION}"\n' in beginning and all(line + "\n" in beginning for line in versions),
           "they stand in the first 1000 characters", beginning)
    for name in ("ERANGE_FILL", "RELAX_COORD_BOUND"):
        tap.ok(lines.count(f"#define PNETCDF_{name} 1") == 1, f"#define PNETCDF_{name} 1, with single spaces",
               "\n".join(line for line in lines if name in line))
    spoilt = [line for line in lines if re.match(r"\s*#\s*define\s+PNETCDF_(?!PUBLIC_API)\w+\s", line)
              and not re.fullmatch(r'#define PNETCDF_\w+ (\d+|"[^"]*")', line)]
    tap.ok(not spoilt, "#define NAME value, with single spaces and nothing after it, for all macros of the library",
           "\n".join(spoilt))


def check_header_in_cmake():
    """CMake's own reading of the same lines, as netCDF-C's build does it: all digits of the line are the value."""
    script = write("parse.cmake", """
foreach(name VERSION_MAJOR VERSION_MINOR VERSION_SUB ERANGE_FILL RELAX_COORD_BOUND)
  file(STRINGS "${HEADER}" line REGEX "^#define PNETCDF_${name}")
  string(REGEX REPLACE "[^0-9]" "" value "${line}")
  list(APPEND values "${value}")
endforeach()
message("values=${values}")
""")
    _, _, output = run("cmake", f"-DHEADER={HEADER}", "-P", script)
    expected = ";".join([*VERSION.split("."), "1", "1"])
    tap.ok(f"values={expected}\n" in output, "CMake reads version and features from pnetcdf.h", output)


def check_option(option, pattern, text):
    status, output, why = run(CONFIG, option)
    return tap.ok(status == 0 and re.fullmatch(pattern, output), f"pnetcdf-config {option} {text}", why)


def check_config():
    macros = dict(re.findall(r"^#define PNETCDF_(\w+) ([01])$", read(HEADER), flags=re.M))
    for option in FEATURES:
        name = option.upper().replace("-", "_")
        word = {"1": "enabled", "0": "disabled"}.get(macros.get(MACROS.get(option, name)), "?")
        check_option("--" + option, re.escape(word) + "\n", "agrees with pnetcdf.h")
    tap.ok(macros.get("ENABLE_FORTRAN") == ("1" if FC else "0"), "pnetcdf.h defines whether Fortran is present", macros)
    with open(tap.scratch("feature.cdl"), "w", encoding="ascii") as text:
        text.write("netcdf feature { dimensions: x = 1 ; }")
    status, _, why = run(os.path.join(staged["bindir"], "ncmpigen"), "-k", "nc4", "-o", tap.scratch("feature.nc"),
                         tap.scratch("feature.cdl"))
    tap.ok(macros.get("DRIVER_NETCDF4") == ("1" if status == 0 else "0"), "pnetcdf.h defines whether netCDF-4 is", why)
    for option, name in (("--has-c++", "ENABLE_CXX"), ("--has-fortran", "ENABLE_FORTRAN")):
        word = {"1": "yes", "0": "no"}.get(macros.get(name), "?")
        check_option(option, re.escape(word) + "\n", "agrees with pnetcdf.h")
    for option in BUILD_OPTIONS:
        check_option("--" + option, "[^\n]*\n", "prints one line")
    check_option("--libs", re.escape(LIBS) + "\n", "prints -L and -lpnetcdf")
    check_option("--version", re.escape(f"PnetCDF {VERSION}") + "\n", f"prints PnetCDF {VERSION}")
    check_option("--release-date", ".+\n", "prints one line")
    check_option("--config-date", ".*[0-9].*\n", "prints a date")
    compiler = run(CONFIG, "--cc")[1].split()
    tap.ok(compiler and os.path.isabs(compiler[0]) and run(*compiler, "--version")[0] == 0,
           "pnetcdf-config --cc is a compiler that can be run", compiler)

    status, output, why = run(CONFIG, "--includedir", "--libdir", "--libs")
    tap.ok(status == 0 and output.splitlines() == [staged["includedir"], staged["libdir"], LIBS],
           "pnetcdf-config answers several options, one a line", why)
    status, output, why = run(CONFIG, "--no-such-option")
    tap.ok(status != 0 and output == "" and "--no-such-option" in why, "pnetcdf-config refuses an unknown option", why)
    status, output, why = run(CONFIG)
    tap.ok(status != 0 and output == "" and "Usage" in why, "pnetcdf-config without an option prints its usage", why)


def check_config_lists():
    """--help, --all and the manual list every option."""
    known = [*FEATURES, *BUILD_OPTIONS, "has-c++", "has-fortran", "libs", "prefix", "includedir", "libdir", "version",
             "release-date", "config-date"]
    shown = re.findall(r"^ *--(\S+)", run(CONFIG, "--help")[1], flags=re.M)
    tap.ok(sorted(shown) == sorted([*known, "all", "help"]), "pnetcdf-config --help lists its options",
           set(shown) ^ {*known, "all", "help"})
    _, output, why = run(CONFIG, "--all")
    answers = dict(re.findall(r"^ *--(\S+) +-> (.*)$", output, flags=re.M))
    tap.ok(sorted(answers) == sorted(known), "pnetcdf-config --all answers each of them", why)
    differ = [name for name in answers if run(CONFIG, "--" + name)[1] != answers[name] + "\n"]
    tap.ok(not differ, "with what the option itself prints", "\n".join(differ))
    page = read(os.path.join(SOURCE, "man", "pnetcdf-config.1"))
    named = {name.replace("Ns +", "+") for name in re.findall(r"Fl -([\w+-]+)", page)}
    tap.ok(set(shown) <= named, "pnetcdf-config.1 describes each of them", set(shown) - named)


def check_config_folders():
    names = ("prefix", "includedir", "libdir")
    questions = ["--" + name for name in names]
    _, output, why = run(os.path.join(BUILD, "src", "tools", "pnetcdf-config"), *questions)
    tap.ok(output.splitlines() == [configured[name] for name in names], "pnetcdf-config: the configured folders", why)
    _, output, why = run(CONFIG, *questions)
    tap.ok(output.splitlines() == [staged[name] for name in names], "and where DESTDIR staged them", why)
    moved = tap.scratch("moved tree")
    shutil.copytree(staged["prefix"], moved, symlinks=True)
    _, output, why = run(os.path.join(moved, os.path.relpath(staged["bindir"], staged["prefix"]), "pnetcdf-config"),
                         *questions)
    expected = [os.path.normpath(os.path.join(os.path.realpath(moved), os.path.relpath(staged[name], staged["prefix"])))
                for name in names]
    tap.ok(output.splitlines() == expected, "and where the tree was moved", why)


def check_version_program():
    program = os.path.join(staged["bindir"], "pnetcdf_version")
    status, output, why = run(program)
    lines = [line for line in output.splitlines() if "Version" in line]
    tap.ok(status == 0 and len(lines) == 1 and lines[0].split(":")[1].strip() == VERSION,
           "pnetcdf_version prints one line with Version, the value after the colon", why)
    # as awk and cut see it
    tap.ok(lines and lines[0].split()[2] == VERSION, "the value is the third word", why)
    tap.ok(run(program, "--version")[:2] == run(program, "-v")[:2], "pnetcdf_version --version is -v")
    parts = [run(program, "-" + option) for option in "vdcbl"]
    tap.ok(all(part[0] == 0 and part[1] for part in parts) and output == "".join(part[1] for part in parts),
           "without an option it prints what -v, -d, -c, -b and -l print", why)
    tap.ok(run(CONFIG, "--cc")[1].strip() in parts[3][1], "-b names the compiler", parts[3][2])
    for word in ("-h", "--help"):
        status, output, why = run(program, word)
        tap.ok(status == 0 and all(f" -{option} " in output for option in "vdcblh"), f"{word} lists the options", why)
    status, output, why = run(program, "-x")
    tap.ok(status != 0 and output == "" and "Usage" in why, "an unknown option is refused", why)


def works(text, program, expect_stderr="", found=False):
    """The client runs, on two ranks, with the library of the stage. found: it finds that without help."""
    os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, ["" if found else staged["libdir"], inherited_path]))
    status, output, errors = tap.run_mpi(2, program, tap.scratch("client.nc"))
    ran_with = output.split()
    return tap.ok(status == 0 and ran_with[:1] == [VERSION] and ran_with[-1:] == [VERSION] and expect_stderr in errors,
                  text, f"{program}: status {status}\n{output}{errors}")


def links(text, options, name, expect_stderr="", source=None, found=False):
    """The client compiles and links with these options, and runs."""
    source = source or write("client.c", CLIENT)
    program = tap.scratch(name)
    status, _, why = run(*CC, *CFLAGS, source, "-o", program, *options)
    return works(text, program, expect_stderr, found) if status == 0 else tap.ok(False, text, why)


inherited_path = os.environ.get("LD_LIBRARY_PATH", "")


def only_archive():
    """A folder with libpnetcdf.a and nothing else."""
    folder = tap.scratch("archive")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(ARCHIVE, folder)
    return folder


def objects(archive):
    return set(run("ar", "t", archive)[1].split())


def check_archive(include):
    """Objects of libutf8proc.a are in ours by default."""
    if not os.path.exists(ARCHIVE):
        tap.skip("static links", "this build makes no archive")
        return
    theirs = run(*CC, "-print-file-name=libutf8proc.a")[1].strip()
    wanted = bool(configured["UTF8PROC_ARCHIVE"])
    status, arguments, _ = run(os.path.join(BUILD, "config.status"), "--config")
    tap.ok(status == 0 and wanted == (os.path.exists(theirs) and "--disable-utf8proc-in-archive" not in arguments),
           "libpnetcdf.a is complete, unless configure has the option against it", (theirs, arguments))
    if os.path.exists(theirs):
        tap.ok(objects(theirs) and (objects(theirs) <= objects(ARCHIVE)) == wanted,
               f"libpnetcdf.a has {'all' if wanted else 'no'} objects of libutf8proc.a", objects(ARCHIVE))
    needs = [] if wanted else ["-lutf8proc"]
    links(" ".join(["a static link needs -lpnetcdf", *needs]), [include, "-L" + only_archive(), "-lpnetcdf", *needs],
          "static")
    links("libutf8proc may be linked, too, before or after it", [include, "-L" + only_archive(), "-lutf8proc",
                                                                 "-lpnetcdf", "-lutf8proc"], "static_twice")
    if os.path.exists(theirs):
        links("or as an archive", [include, "-L" + only_archive(), "-lpnetcdf", theirs], "static_archives")


def check_compiler():
    include = "-I" + staged["includedir"]
    links("a program links with -lpnetcdf and the MPI compiler only", [include, "-L" + staged["libdir"], "-lpnetcdf"],
          "plain")
    probe = write("probe.c", "char ncmpi_create(void);\nint main(void)\n{\n    return ncmpi_create();\n}\n")
    status, _, why = run(*CC, *CFLAGS, probe, "-o", tap.scratch("probe"), "-L" + staged["libdir"],
                         "-lpnetcdf")
    tap.ok(status == 0, "the probe of configure scripts finds ncmpi_create", why)
    check_archive(include)
    text = "a library in front sees the calls"
    if not SHARED:
        tap.skip(text, "this build makes no shared library")
        return
    source, library = write("interposer.c", INTERPOSER), tap.scratch("libinterposer.so")
    status, _, why = run(*CC, *CFLAGS, "-shared", "-fPIC", include, source, "-o", library, "-ldl")
    if tap.ok(status == 0, "a library that wraps a function compiles", why):
        links(text, [include, library, "-Wl,-rpath," + os.path.dirname(library), "-L" + staged["libdir"], "-lpnetcdf"],
              "interposed", expect_stderr="intercepted")


def loader_reads(path, tag):
    """The names that the loader reads from a program or library: SONAME or NEEDED."""
    return re.findall(rf"\({tag}\).*\[(.*)\]", run("readelf", "-d", path)[1])


def check_programs():
    """Programs that need no other rank start without the MPI library; all print the version."""
    programs = sorted(os.listdir(staged["bindir"]))
    path = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, [staged["libdir"], inherited_path]))}
    answers = {name: run(os.path.join(staged["bindir"], name), "--version", env=path) for name in programs}
    silent = [why for status, output, why in answers.values() if status != 0 or VERSION not in output]
    tap.ok(len(programs) > 10 and not silent, f"--version of {len(programs)} programs", silent)
    if not shutil.which("readelf"):
        tap.skip("programs without MPI", "there is no readelf (Debian: binutils)")
        return
    for name in ("cdfdiff", "ncmpigen", "ncoffsets", "ncvalidator"):
        needed = loader_reads(os.path.join(staged["bindir"], name), "NEEDED")
        tap.ok(needed and not [library for library in needed if "mpi" in library or "pnetcdf" in library],
               f"{name} is not linked with MPI", needed)


OLD_LIBRARY = "int only_in_1x(void);\nint only_in_1x(void)\n{\n    return 0;\n}\n"
OLD_CLIENT = "int only_in_1x(void);\nint main(void)\n{\n    return only_in_1x();\n}\n"


def check_shared_name():
    """Another libpnetcdf beside ours: programs find the library that they were linked with."""
    text = "the shared library is not mistaken for another one"
    if not SHARED or not shutil.which("readelf"):
        tap.skip(text, "this build makes no shared library, or there is no readelf (Debian: binutils)")
        return
    name = loader_reads(os.path.join(staged["libdir"], "libpnetcdf.so"), "SONAME")[0]
    tap.ok(not name.startswith("libpnetcdf.so"), f"{name} is not a name of PnetCDF 1.x or Debian's libpnetcdf0d", name)
    tap.ok(os.path.exists(os.path.join(staged["libdir"], name)), "and is installed", os.listdir(staged["libdir"]))
    needed = loader_reads(tap.scratch("plain"), "NEEDED")
    tap.ok(name in needed, "programs linked with -lpnetcdf need it", needed)
    folder = tap.scratch("old")
    os.makedirs(folder, exist_ok=True)
    for number in ("8", "0d"):
        library, program = f"{folder}/libpnetcdf.so.{number}", f"{folder}/program.{number}"
        source, client = write("old/library.c", OLD_LIBRARY), write("old/client.c", OLD_CLIENT)
        status = run(*CC, "-shared", "-fPIC", source, "-o", library, "-Wl,-soname," + os.path.basename(library))[0]
        status += run(*CC, client, library, "-o", program)[0]
        shutil.copy(library, folder + "/libpnetcdf.so")
        path = f"{staged['libdir']}:{folder}"
        status += run(program, env={**os.environ, "LD_LIBRARY_PATH": path})[0]
        tap.ok(status == 0, f"a program linked with libpnetcdf.so.{number} finds that, though ours comes first", status)
    os.environ["LD_LIBRARY_PATH"] = f"{folder}:{staged['libdir']}"
    status, output, why = tap.run_mpi(2, tap.scratch("plain"), tap.scratch("client.nc"))
    tap.ok(status == 0 and VERSION in output, "ours is found where others come first", output + why)


def check_first_program():
    """The program of README.md, with the sentence of an error."""
    program = re.search(r"^```c\n(.*?)^```$", read(os.path.join(SOURCE, "README.md")), re.M | re.S).group(1)
    folder = tap.scratch("first")
    os.makedirs(os.path.join(folder, "first.nc"))
    flags = ["-I" + staged["includedir"], *LIBS.split()]
    status, _, why = run(*CC, *CFLAGS, write("first/first.c", program), "-o", os.path.join(folder, "first"), *flags)
    if not tap.ok(status == 0, "the first program of README.md compiles", why):
        return
    os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [staged["libdir"], inherited_path]))
    start = os.getcwd()
    os.chdir(folder)
    errors = ""
    for _ in range(5):  # the launcher can lose the text of a program that aborts at once
        errors += tap.run_mpi(2, os.path.join(folder, "first"))[2]
    tap.ok("first.nc is a directory" in errors, "it prints the sentence of an error", errors)
    os.rmdir("first.nc")
    status, _, errors = tap.run_mpi(4, os.path.join(folder, "first"))
    os.chdir(start)
    dump = os.path.join(staged["bindir"], "ncmpidump")
    _, output, _ = run(dump, os.path.join(folder, "first.nc"))
    rows = [280 + rank + x / 10 for rank in range(4) for x in range(10)]
    numbers = [float(word) for word in re.findall(r"[\d.]+", output.split("temperature =")[-1])]
    tap.ok(status == 0 and numbers == rows, "and writes what it says", errors + output)


def check_other_library():
    """The warnings of configure, for a compiler that finds another library, before any that this machine has."""
    script = os.path.join(SOURCE, "scripts", "other_pnetcdf")
    folders = [os.path.realpath(tap.scratch("other/" + name)) for name in ("include", "lib", "no/include", "no/lib")]
    write("other/include/pnetcdf.h", "")
    if not tap.ok(run(*CC, "-shared", "-fPIC", "-o", write("other/lib/libpnetcdf.so", ""))[0] == 0, "another library"):
        return
    for folder in folders:
        os.makedirs(folder, exist_ok=True)
    include, lib, no_include, no_lib = folders

    def warnings(own, headers, libraries):
        flags = ["-I" + folder for folder in headers] + ["-L" + folder for folder in libraries]
        return run("sh", script, *own, *CC, *flags)[1].splitlines()

    found = warnings((no_include, no_lib), [include], [lib])
    tap.ok(len(found) == 2 and found[0].startswith(include + "/pnetcdf.h ") and found[0].endswith("-I" + no_include)
           and found[1].startswith(lib + "/libpnetcdf.so ") and found[1].endswith("-L" + no_lib),
           "configure names another pnetcdf.h and libpnetcdf that come first, and the cure", found)
    found = warnings((include, lib), [include], [lib])
    tap.ok(not found, "and not those of the prefix", found)
    found = warnings((no_include, no_lib), [no_include, include], [no_lib, lib])
    tap.ok(not found, "and not those that come later", found)
    source = write("includes.c", "#include <pnetcdf.h>\n")
    there = run(*CC, "-fsyntax-only", source)[0] == 0
    found = [line for line in warnings((no_include, no_lib), [], []) if "/pnetcdf.h " in line]
    tap.ok(bool(found) == there, "it names a pnetcdf.h exactly where there is one", found)


def links_fortran(text, options, name, expect_stderr=""):
    source = write("client.f90", FORTRAN_CLIENT)
    status, _, why = run(*FC, *CFLAGS, source, "-o", tap.scratch(name), *options)
    return works(text, tap.scratch(name), expect_stderr) if status == 0 else tap.ok(False, text, why)


def check_fortran():
    check_option("--has-fortran", "yes\n" if FC else "no\n", "prints whether Fortran is present")
    if not FC:
        tap.skip("Fortran programs", "this build has no Fortran")
        return
    for option in ("--f77", "--fc"):
        compiler = run(CONFIG, option)[1].split()
        tap.ok(compiler and os.path.isabs(compiler[0]) and run(*compiler, "--version")[0] == 0,
               f"pnetcdf-config {option} is a compiler that can be run", compiler)
    status, output, why = run(os.path.join(staged["bindir"], "pnetcdf_version"), "-b")
    tap.ok("MPIF90: /" in output and "MPIF77: /" in output, "pnetcdf_version names the Fortran compiler", why)
    flags = ["-I" + run(CONFIG, "--includedir")[1].strip(), "-L" + run(CONFIG, "--libdir")[1].strip(), "-lpnetcdf"]
    links_fortran("a Fortran program links by pnetcdf-config", flags, "fortran_client")
    if os.path.exists(ARCHIVE):
        links_fortran("a static link of Fortran", [flags[0], "-L" + only_archive(), "-lpnetcdf",
                                                  *([] if configured["UTF8PROC_ARCHIVE"] else ["-lutf8proc"])],
                      "fortran_static")
    interposer = tap.scratch("libinterposer.so")
    if os.path.exists(interposer):
        links_fortran("a library in front sees Fortran's calls as those of C",
                      [flags[0], "-Wl,--no-as-needed", interposer, "-Wl,-rpath," + os.path.dirname(interposer),
                       *flags[1:]],
                      "fortran_interposed", expect_stderr="intercepted")
    for library in (os.path.join(staged["libdir"], "libpnetcdf.so"), ARCHIVE):
        if os.path.exists(library):
            dynamic = ["--dynamic"] if library.endswith(".so") else []
            undefined = run(*shlex.split(os.environ.get("NM", "nm")), *dynamic, "--undefined-only", library)[1]
            needed = sorted(set(re.findall(r"\b_?_(?:gfortran|F90|Fortran)\w+", undefined)))
            tap.ok(not needed, f"{os.path.basename(library)} needs nothing of Fortran's runtime library",
                   "\n".join(needed))


def check_config_link():
    flags = ["-I" + run(CONFIG, "--includedir")[1].strip(), *run(CONFIG, "--libs")[1].split()]
    links("a program links by pnetcdf-config", flags, "by_config", found=bool(RPATH))


def check_pkg_config():
    folder = os.path.join(staged["libdir"], "pkgconfig")
    if not shutil.which("pkg-config"):
        tap.skip("pnetcdf.pc", "pkg-config is not installed")
        return
    ask = {**os.environ, "PKG_CONFIG_PATH": folder}
    status, output, why = run("pkg-config", "--variable=prefix", "pnetcdf", env=ask)
    tap.ok(status == 0 and output.strip() == configured["prefix"], "pnetcdf.pc has the configured prefix", why)
    status, output, why = run("pkg-config", "--modversion", "pnetcdf >= 1.12.3", env=ask)
    tap.ok(status == 0 and output.strip() == VERSION, f"pkg-config prints version {VERSION}", why)
    tap.ok("\nName: PnetCDF\n" in read(os.path.join(folder, "pnetcdf.pc")), "the package is named PnetCDF")
    here = "--define-variable=prefix=" + staged["prefix"]
    status, output, why = run("pkg-config", here, "--cflags", "--libs", "pnetcdf", env=ask)
    expected = {"-I" + staged["includedir"], *LIBS.split()}
    tap.ok(status == 0 and set(shlex.split(output)) == expected, "pkg-config prints -I and what pnetcdf-config prints",
           why)
    links("a program links by pkg-config, and finds the library", shlex.split(output), "by_pkg_config",
          found=bool(RPATH))
    if os.path.exists(ARCHIVE):
        status, output, why = run("pkg-config", here, "--static", "--cflags", "--libs", "pnetcdf", env=ask)
        links("a program links by pkg-config --static", ["-L" + only_archive(), *shlex.split(output)], "by_pkg_static")


# All spellings and ways to ask in one project; what a client expects and does not get is an error of CMake.
CMAKE_ALL = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES C)
find_package(PnetCDF 1.12 REQUIRED CONFIG COMPONENTS C)
find_package(PNETCDF REQUIRED)
find_package(pnetCDF 2.0 CONFIG)
find_package(pnetcdf 2.0.0 EXACT CONFIG)
foreach(name PnetCDF PNETCDF pnetCDF pnetcdf)
  foreach(variable FOUND C_FOUND VERSION INCLUDE_DIRS LIBRARIES C_LIBRARIES C_INCLUDE_DIRS)
    if(NOT ${name}_${variable})
      message(SEND_ERROR "${name}_${variable} is not set")
    endif()
  endforeach()
  if(NOT EXISTS "${${name}_INCLUDE_DIRS}/pnetcdf.h")
    message(SEND_ERROR "no pnetcdf.h in ${${name}_INCLUDE_DIRS}")
  endif()
endforeach()
foreach(target PnetCDF::PnetCDF PnetCDF::PnetCDF_C PNETCDF::PNETCDF)
  string(REPLACE "::" "_" program "by_${target}")
  add_executable(${program} client.c)
  target_link_libraries(${program} PRIVATE ${target})
endforeach()
add_executable(by_variables client.c)
target_include_directories(by_variables PRIVATE ${PnetCDF_INCLUDE_DIRS})
target_link_libraries(by_variables PRIVATE ${pnetCDF_LIBRARIES})
"""

# Projects that must be rejected, with a reason that the user sees.
CMAKE_REFUSED = """
cmake_minimum_required(VERSION 3.19)
project(client LANGUAGES C)
find_package(PnetCDF 3 QUIET CONFIG)
if(PnetCDF_FOUND)
  message(SEND_ERROR "version 3 is found in ${PnetCDF_VERSION}")
endif()
find_package(PnetCDF 1.6...<2 QUIET CONFIG)
if(PnetCDF_FOUND)
  message(SEND_ERROR "a version below 2 is found in ${PnetCDF_VERSION}")
endif()
find_package(PnetCDF 1.6...<3 QUIET CONFIG)
if(NOT PnetCDF_FOUND)
  message(SEND_ERROR "a version below 3 is not found")
endif()
find_package(PnetCDF QUIET CONFIG OPTIONAL_COMPONENTS Ada)
if(NOT PnetCDF_FOUND)
  message(SEND_ERROR "an optional component is taken for a required one")
endif()
find_package(PnetCDF REQUIRED CONFIG COMPONENTS C Ada)
"""

# A compiler that is not an MPI wrapper, and the archive.
CMAKE_STATIC = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES C)
set(PnetCDF_USE_STATIC_LIBRARY ON)
find_package(PnetCDF REQUIRED CONFIG)
if(NOT PnetCDF_LIBRARIES MATCHES "libpnetcdf\\\\.a")
  message(SEND_ERROR "not the archive: ${PnetCDF_LIBRARIES}")
endif()
add_executable(by_archive client.c)
target_link_libraries(by_archive PRIVATE PnetCDF::PnetCDF)
"""

# Fortran only, and a compiler that is not an MPI wrapper.
CMAKE_FORTRAN = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES Fortran)
find_package(PnetCDF REQUIRED CONFIG COMPONENTS Fortran)
if(NOT PnetCDF_Fortran_FOUND OR NOT EXISTS "${PnetCDF_Fortran_INCLUDE_DIRS}/pnetcdf.inc")
  message(SEND_ERROR "no pnetcdf.inc in ${PnetCDF_Fortran_INCLUDE_DIRS}")
endif()
add_executable(by_Fortran client.f90)
target_link_libraries(by_Fortran PRIVATE PnetCDF::PnetCDF_Fortran)
"""

# A find module of the client searches for files and runs pnetcdf-config, whose output it links unchanged.
CMAKE_BY_HAND = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES C)
find_path(PnetCDF_C_INCLUDE_DIR NAMES pnetcdf.h HINTS ${PNETCDF_PATH} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(PnetCDF_C_LIBRARY NAMES pnetcdf HINTS ${PNETCDF_PATH} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_program(PnetCDF_CONFIG NAMES pnetcdf-config HINTS ${PNETCDF_PATH} PATH_SUFFIXES bin NO_DEFAULT_PATH)
file(READ ${PnetCDF_C_INCLUDE_DIR}/pnetcdf.h beginning LIMIT 1000)
if(NOT beginning MATCHES "#define PNETCDF_VERSION \\"([0-9.]+)\\"" OR CMAKE_MATCH_1 VERSION_LESS 1.9.0)
  message(SEND_ERROR "no version in ${beginning}")
endif()
execute_process(COMMAND ${PnetCDF_CONFIG} --libs OUTPUT_VARIABLE libs OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${PnetCDF_CONFIG} --includedir OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
foreach(name client probe)
  try_compile(${name}_compiles ${CMAKE_BINARY_DIR}/${name} SOURCES ${CMAKE_SOURCE_DIR}/${name}.c
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${folder} LINK_LIBRARIES ${libs} OUTPUT_VARIABLE why)
  if(NOT ${name}_compiles)
    message(SEND_ERROR "${name}.c: ${why}")
  endif()
endforeach()
include_directories(${PnetCDF_C_INCLUDE_DIR})
add_executable(by_config_output client.c)
target_link_libraries(by_config_output PRIVATE ${libs})
add_executable(by_file client.c)
target_link_libraries(by_file PRIVATE ${PnetCDF_C_LIBRARY})
"""

# Programs that such modules try to compile, to detect a function or a feature.
CMAKE_PROBE = """
#include <pnetcdf.h>
#if !defined(NC_FORMAT_CDF5) || !PNETCDF_RELAX_COORD_BOUND || PNETCDF_ERANGE_FILL != 1
#error "a feature is missing"
#endif
int main(void)
{
    return ncmpi_get_varn_all(0, 0, 1, NULL, NULL, NULL, 0, MPI_INT) == NC_NOERR;
}
"""

CMAKE_CXX = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES CXX)
find_package(PnetCDF REQUIRED CONFIG)
add_executable(by_CXX client.cc)
target_link_libraries(by_CXX PRIVATE PnetCDF::PnetCDF)
"""

# MPI before PnetCDF: the target that find_package(MPI) would make for another MPI library.
CMAKE_OTHER_MPI = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES C)
add_library(MPI::MPI_C INTERFACE IMPORTED)
set_target_properties(MPI::MPI_C PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${OTHER_MPI}")
find_package(PnetCDF QUIET CONFIG)
if(PnetCDF_FOUND)
  message(SEND_ERROR "found with another MPI library")
endif()
find_package(PnetCDF REQUIRED CONFIG)
"""

CMAKE_MPI_FIRST = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES C)
find_package(MPI REQUIRED COMPONENTS C)
find_package(PnetCDF REQUIRED CONFIG)
add_executable(by_MPI_first client.c)
target_link_libraries(by_MPI_first PRIVATE PnetCDF::PnetCDF MPI::MPI_C)
"""


def cmake(name, text, *options):
    """Configure a project in a folder of its own; returns that folder, status and output."""
    folder = tap.scratch(name)
    write(name + "/CMakeLists.txt", text)
    write(name + "/client.c", CLIENT)
    write(name + "/probe.c", CMAKE_PROBE)
    write(name + "/client.cc", CLIENT)
    write(name + "/client.f90", FORTRAN_CLIENT)
    flags = [f"-DCMAKE_{language}_FLAGS={' '.join(CFLAGS)}" for language in ("C", "CXX", "Fortran")]
    status, _, why = run("cmake", "-S", folder, "-B", folder + "/build", *flags, *options)
    return folder + "/build", status, why


def build_and_run(folder, programs):
    status, _, why = run("cmake", "--build", folder, env=outer_make())
    if tap.ok(status == 0, f"the project of {', '.join(programs)} builds", why):
        for program in programs:
            works(f"the program linked {program.replace('_', ' ', 1)} runs", os.path.join(folder, program))


def check_cmake():
    options = [f"-DCMAKE_C_COMPILER={shutil.which(CC[0])}", f"-DCMAKE_PREFIX_PATH={staged['prefix']}"]
    folder, status, why = cmake("all", CMAKE_ALL, *options)
    if tap.ok(status == 0, "find_package finds PnetCDF in all spellings, with their variables", why):
        build_and_run(folder, ("by_PnetCDF_PnetCDF", "by_PnetCDF_PnetCDF_C", "by_PNETCDF_PNETCDF", "by_variables"))
    folder, status, why = cmake("by_hand", CMAKE_BY_HAND, options[0], f"-DPNETCDF_PATH={staged['prefix']}")
    if tap.ok(status == 0, "a module of the client's own finds header, library and pnetcdf-config", why):
        build_and_run(folder, ("by_config_output", "by_file"))
    _, status, why = cmake("refused", CMAKE_REFUSED, *options)
    tap.ok(status != 0 and "no component Ada" in " ".join(why.split()) and why.count("CMake Error") == 1,
           "find_package refuses versions and components that are not there", why)


def check_cmake_without_wrapper():
    """Compilers without an MPI wrapper: the package must find the library's MPI for them, of several."""
    package = os.path.relpath(staged["libdir"], staged["prefix"]) + "/cmake/PnetCDF"
    text = "find_package finds the archive of a moved tree, for a compiler that is not an MPI wrapper"
    if not os.path.exists(ARCHIVE) or not shutil.which("gcc"):
        tap.skip(text, "this build makes no archive, or there is no gcc")
    else:
        folder, status, why = cmake("archived", CMAKE_STATIC, "-DCMAKE_C_COMPILER=gcc",
                                    f"-DPnetCDF_DIR={tap.scratch('moved tree')}/{package}")
        if tap.ok(status == 0, text, why):
            build_and_run(folder, ("by_archive",))
    text = "find_package works in a project of Fortran only"
    if not FC or not shutil.which("gfortran"):
        tap.skip(text, "this build has no Fortran, or there is no gfortran")
    else:
        folder, status, why = cmake("fortran", CMAKE_FORTRAN, "-DCMAKE_Fortran_COMPILER=gfortran",
                                    f"-DPnetCDF_DIR={staged['libdir']}/cmake/PnetCDF")
        if tap.ok(status == 0, text, why):
            build_and_run(folder, ("by_Fortran",))
    text = "find_package works in a project of C++ only"
    wrapper = shutil.which(os.path.basename(CC[0]).replace("mpicc", "mpicxx"))
    if not wrapper or not shutil.which("g++"):
        tap.skip(text, "there is no mpicxx, or no g++")
        return
    folder, status, why = cmake("cxx", CMAKE_CXX, "-DCMAKE_CXX_COMPILER=g++",
                                f"-DPnetCDF_ROOT={staged['prefix']}", "-DCMAKE_POLICY_DEFAULT_CMP0074=NEW")
    if tap.ok(status == 0, text, why):
        build_and_run(folder, ("by_CXX",))


# C and Fortran in one project, with the target of all languages. MPI's Fortran compiler has an option of its own, as
# -fallow-invalid-boz is one.
CMAKE_C_AND_FORTRAN = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES C Fortran)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(PnetCDF REQUIRED CONFIG COMPONENTS C Fortran)
set_property(TARGET MPI::MPI_Fortran APPEND PROPERTY INTERFACE_COMPILE_OPTIONS -fno-range-check)
add_executable(by_both_in_C client.c)
target_link_libraries(by_both_in_C PRIVATE PnetCDF::PnetCDF)
add_executable(by_both_in_Fortran client.f90)
target_link_libraries(by_both_in_Fortran PRIVATE PnetCDF::PnetCDF)
"""


def check_cmake_c_and_fortran():
    text = "find_package works in a project of C and Fortran"
    if not FC or not shutil.which("gfortran") or not shutil.which("gcc"):
        tap.skip(text, "this build has no Fortran, or there is no gfortran or gcc")
        return
    folder, status, why = cmake("both", CMAKE_C_AND_FORTRAN, "-DCMAKE_C_COMPILER=gcc",
                                "-DCMAKE_Fortran_COMPILER=gfortran",
                                f"-DPnetCDF_DIR={staged['libdir']}/cmake/PnetCDF")
    if not tap.ok(status == 0, text, why):
        return
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
        commands = {os.path.basename(row["file"]): row["command"] for row in json.load(file)}
    tap.ok("-fno-range-check" not in commands["client.c"] and "-fno-range-check" in commands["client.f90"],
           "options of Fortran reach files in Fortran only", commands)
    build_and_run(folder, ("by_both_in_C", "by_both_in_Fortran"))


# C and C++ in one project, each with its target.
CMAKE_MIXED = """
cmake_minimum_required(VERSION 3.10)
project(client LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 98)
find_package(PnetCDF REQUIRED CONFIG COMPONENTS C CXX)
add_executable(by_C client.c)
target_link_libraries(by_C PRIVATE PnetCDF::PnetCDF_C)
add_executable(by_CXX client.cc)
target_link_libraries(by_CXX PRIVATE PnetCDF::PnetCDF_CXX)
get_target_property(features PnetCDF::PnetCDF_CXX INTERFACE_COMPILE_FEATURES)
if(NOT PnetCDF_CXX_FOUND OR NOT features MATCHES "cxx_std_11" OR NOT EXISTS "${PnetCDF_CXX_INCLUDE_DIRS}/pnetcdf")
  message(SEND_ERROR "component CXX: ${PnetCDF_CXX_FOUND}, ${features}, ${PnetCDF_CXX_INCLUDE_DIRS}")
endif()
"""
EXAMPLES = os.path.join(SOURCE, "examples", "CXX")


def run_example(text, program):
    """An example of C++, which says what each of two ranks has written: (280.45 + 281.45) / 2."""
    os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [staged["libdir"], inherited_path]))
    status, output, errors = tap.run_mpi(2, program, tap.scratch("example.nc"))
    tap.ok(status == 0 and output == "mean temperature: 280.95 K\n", text, f"status {status}\n{output}{errors}")


def check_cxx():
    """The examples of C++ by CMake and by pkg-config."""
    wrapper = shutil.which(os.path.basename(CC[0]).replace("mpicc", "mpicxx"))
    if not wrapper or run(wrapper, "--version")[0] != 0:
        tap.skip("the examples of C++", "there is no mpicxx")
        return
    if shutil.which("pkg-config"):
        here = os.path.join(staged["libdir"], "pkgconfig")
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "pnetcdf",
                                env={**os.environ, "PKG_CONFIG_PATH": here})[1])
        for name in ("first", "classes"):
            flags_here = [f"-I{staged['includedir']}", f"-L{staged['libdir']}", *flags]
            status, _, why = run(wrapper, *CFLAGS, os.path.join(EXAMPLES, name + ".cpp"), "-o",
                                 tap.scratch(name + "_by_pkg_config"), *flags_here)
            if tap.ok(status == 0, f"{name}.cpp compiles by pkg-config", why):
                run_example(f"{name}.cpp by pkg-config runs", tap.scratch(name + "_by_pkg_config"))
    if not shutil.which("cmake"):
        return
    compilers = [f"-DCMAKE_C_COMPILER={shutil.which(CC[0])}", f"-DCMAKE_CXX_COMPILER={wrapper}",
                 f"-DCMAKE_PREFIX_PATH={staged['prefix']}"]
    folder, status, why = cmake("mixed", CMAKE_MIXED, *compilers)
    if tap.ok(status == 0, "find_package in a project of C and C++: the component CXX", why):
        build_and_run(folder, ("by_C", "by_CXX"))
    folder = tap.scratch("examples")
    status, _, why = run("cmake", "-S", EXAMPLES, "-B", folder, f"-DCMAKE_CXX_FLAGS={' '.join(CFLAGS)}",
                         *compilers[1:])
    if tap.ok(status == 0, "CMake configures examples/CXX", why):
        status, _, why = run("cmake", "--build", folder, env=outer_make())
        if tap.ok(status == 0, "and builds them", why):
            for name in ("first", "classes"):
                run_example(f"{name}.cpp by CMake runs", os.path.join(folder, name))


def is_open_mpi():
    return run(*CC, "-E", write("family.c", "#include <mpi.h>\n#ifndef OPEN_MPI\n#error\n#endif\n"))[0] == 0


def refuses_other_mpi(text, output, status):
    words = " ".join(output.split())
    ours, theirs = ("Open MPI", "MPICH or a relative")[::1 if is_open_mpi() else -1]
    wanted = (f"was built with {ours} (", f"of this project is {theirs} (", "find_package(PnetCDF) before find_package",
              "-DMPI_C_COMPILER=/")
    tap.ok(status != 0 and all(word in words for word in wanted) and output.count("CMake Error") == 1, text, output)


def check_cmake_other_mpi():
    """A project that has another MPI library than PnetCDF gets an error that says so, and how to have the same."""
    options = [f"-DCMAKE_PREFIX_PATH={staged['prefix']}"]
    ours, theirs = ("OPEN_MPI 1", 'MPICH_VERSION "4.0"')[::1 if is_open_mpi() else -1]
    for name, macro in (("mpi_ours", ours), ("mpi_theirs", theirs)):
        write(f"{name}/mpi.h", f"#define {macro}\n")
    status, why = cmake("other", CMAKE_OTHER_MPI, *options, f"-DOTHER_MPI={tap.scratch('mpi_theirs')}")[1:]
    refuses_other_mpi("find_package refuses a project that has another MPI library", why, status)
    status, why = cmake("same", CMAKE_OTHER_MPI, *options, f"-DOTHER_MPI={tap.scratch('mpi_ours')}")[1:]
    tap.ok("found with another MPI library" in why and why.count("CMake Error") == 1, "and not one that has the same",
           why)
    folder, status, why = cmake("first", CMAKE_MPI_FIRST, *options, f"-DCMAKE_C_COMPILER={shutil.which(CC[0])}")
    if tap.ok(status == 0, "find_package(MPI) may come first", why):
        build_and_run(folder, ("by_MPI_first",))
    other = shutil.which("mpicc.mpich" if is_open_mpi() else "mpicc.openmpi")
    text = "find_package refuses the wrapper of another MPI library"
    if other is None:
        tap.skip(text, "there is no second MPI library")
        return
    status, why = cmake("wrapper", CMAKE_MPI_FIRST, *options, f"-DCMAKE_C_COMPILER={other}")[1:]
    refuses_other_mpi(text, why, status)


def check_uninstall():
    status, _, why = run("make", "-C", BUILD, "uninstall", "DESTDIR=" + staged["prefix"][:-len(configured["prefix"])],
                         env=outer_make())
    left = [os.path.join(path, name) for path, _, names in os.walk(staged["prefix"]) for name in names]
    left += [os.path.join(path, name) for path, names, _ in os.walk(staged["prefix"]) for name in names
             if name.lower() == "pnetcdf"]
    tap.ok(status == 0 and not left, "make uninstall leaves no file, and no folder of its own", "\n".join([why, *left]))


def check_bill_of_materials():
    tarball = tap.scratch("pnetcdf-1.2.3.tar.gz")
    with open(tarball, "wb") as file:
        file.write(b"not a tarball")
    status, text, why = run(os.path.join(SOURCE, "packaging", "make-sbom"), tarball)
    packages = {item["name"]: item for item in json.loads(text)["packages"]} if status == 0 else {}
    digest = subprocess.run(["sha256sum", tarball], capture_output=True, text=True, check=True).stdout.split()[0]
    own = packages.get("PnetCDF", {})
    tap.ok(own.get("versionInfo") == "1.2.3" and own["checksums"][0]["checksumValue"] == digest,
           "make-sbom has the version and the SHA-256 of the tarball", why)
    with open(os.path.join(BUILD, "Makefile"), encoding="utf-8") as file:
        libraries = set(re.findall(r"-l(\w+)", re.search(r"^LIBS = (.*)", file.read(), re.M).group(1))) - {"m"}
    tap.ok({name.lower() for name in packages} >= libraries | {"mpi", "pnetcdf"},
           "make-sbom names the libraries that the library is linked with", (sorted(libraries), sorted(packages)))


def check_wrapper():
    """Spack and conda set CC to a compiler without MPI. No compiler is found here, so that configure soon ends."""
    if os.path.exists(os.path.join(SOURCE, "config.status")):
        tap.skip("configure with CC and MPICC", "the source folder is configured")
        return
    os.makedirs(tap.scratch("wrapper"))
    status, _, why = run(os.path.abspath(os.path.join(SOURCE, "configure")), "MPICC=/nowhere/mpicc",
                         cwd=tap.scratch("wrapper"), env={**os.environ, "CC": "/nowhere/cc"})
    tap.ok(status != 0 and "\nCC='/nowhere/mpicc'\n" in read(tap.scratch("wrapper/config.log")),
           "configure takes MPICC rather than CC", why)


check_wrapper()
check_tree()
check_links()
check_bench()
check_header()
check_config()
check_config_lists()
check_config_folders()
check_version_program()
check_programs()
check_compiler()
check_shared_name()
check_first_program()
check_other_library()
check_fortran()
check_config_link()
check_pkg_config()
if shutil.which("cmake"):
    check_header_in_cmake()
    check_cmake()
    check_cmake_without_wrapper()
    check_cmake_c_and_fortran()
    check_cmake_other_mpi()
else:
    tap.skip("the CMake package", "cmake is not installed")
check_cxx()
check_bill_of_materials()
check_uninstall()
tap.finish()
