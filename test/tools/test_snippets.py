"""The code in README.md, docs and the manual pages: complete programs compile and run on 2 ranks, and fragments compile
inside a frame."""
# needs: python
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fortran"))
import fortran
import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", os.getcwd()))
SOURCE = os.path.abspath(os.environ.get("PNC_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                                  "..", "..")))
# Pages whose fragments are shortened extracts of a program: each statement must be in it.
EXTRACTS = {"docs/slow.md": "examples/C/faster.c"}
MANUALS = ("pnetcdf.3", "pnetcdf_f77.3.m4", "pnetcdf_f90.3", "pnetcdf_hints.7.m4")
C_FRAME = """#include <stdio.h>
#include <stdlib.h>
#include <pnetcdf.h>
void fragment(int rank, int nprocs, int ncid, int varid, int *varids, MPI_Comm comm, const char *path);
void fragment(int rank, int nprocs, int ncid, int varid, int *varids, MPI_Comm comm, const char *path)
{{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)varids, (void)comm, (void)path;
{code}}}
"""
F90_FRAME = """subroutine fragment(rank, nprocs, ncid, varid)
    use mpi
    use pnetcdf
    implicit none
    integer :: rank, nprocs, ncid, varid, err, code
    block
{code}
    end block
end subroutine
"""
F77_FRAME = """      subroutine fragment(ncid, varid, rank)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer ncid, varid, rank, err
{code}
      end
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def kind_of(code):
    """The language of a block without a name of one: by the functions that it calls."""
    for language, pattern in (("f90", r"\bnf90mpi_\w+\("), ("f77", r"\bnfmpi_\w+\("),
                              ("c", r"\b(?:ncmpi|cdl_hdr)_\w+\(")):
        if re.search(pattern, code):
            return language
    return None


def blocks_of_page(path):
    """(line, language, code) of the fenced and the indented blocks of a page in Markdown."""
    text = read(path)
    fenced = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1 *$", re.M | re.S)
    for found in fenced.finditer(text):
        language, code = found.group(2), found.group(3)
        if language == "fortran":
            language = "f77" if re.search(r"nfmpi_|^      include", code, re.M) else "f90"
        yield text.count("\n", 0, found.start()) + 1, language or None, code
    rest = fenced.sub(lambda found: "\n" * found.group().count("\n"), text)
    for found in re.finditer(r"(?:^(?:    .*)?\n)+", rest, re.M):
        code = re.sub(r"^    ", "", found.group(), flags=re.M).strip("\n") + "\n"
        if re.match(r"\s*(\w+ )?\w+\(.*;", code):
            yield rest.count("\n", 0, found.start()) + 1, kind_of(code), code


def blocks_of_manual(path):
    text = read(path)
    for found in re.finditer(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed", text, re.M | re.S):
        code = found.group(1).replace("\\e", "\\")
        yield text.count("\n", 0, found.start()) + 1, kind_of(code), code


def is_program(language, code):
    begin = {"c": r"\bint main\(", "f90": r"^program ", "f77": r"^      program "}
    return bool(re.search(begin[language], code, re.M))


def run(*command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    return done.returncode, f"{shlex.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}"


def write(name, text):
    with open(tap.scratch(name), "w", encoding="utf-8") as file:
        file.write(text)
    return tap.scratch(name)


def compile_c(label, name, code):
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable",
             "-I" + os.path.join(BUILD, "include")]
    compiler = [*shlex.split(os.environ.get("CC", "mpicc")),
                *[flag for flag in tap.make_variable("CFLAGS") if flag.startswith("-fsanitize")]]
    if not is_program("c", code):
        status, why = run(*compiler, *flags, "-fsyntax-only", write(name + ".c", C_FRAME.format(code=code)))
        tap.ok(status == 0, f"{label}: the fragment compiles", why)
        return None
    status, why = run(*compiler, *flags, write(name + ".c", code), "-o", tap.scratch(name), *tap.library_flags())
    return tap.scratch(name) if tap.ok(status == 0, f"{label}: the program compiles", why) else None


def compile_fortran(label, name, language, code):
    if not os.path.exists(os.path.join(BUILD, "include", "pnetcdf.mod")):
        tap.skip(label, "this build has no Fortran")
        return None
    file = name + (".f90" if language == "f90" else ".f")
    program = is_program(language, code)
    if program and "mpi_f08" in code and not fortran.with_mpi_f08():
        tap.skip(label, "the MPI library has no mpi_f08")
        return None
    frame = {"f90": F90_FRAME, "f77": F77_FRAME}[language]
    status, why = fortran.compile_source(file, code if program else frame.format(code=code))
    if not tap.ok(status == 0, f"{label}: the {'program' if program else 'fragment'} compiles", why) or not program:
        return None
    status, why = fortran.link(name, [name + ".o"])
    return tap.scratch(name) if tap.ok(status == 0, f"{label}: the program links", why) else None


def check_python(label, code):
    """A program that needs packages is run where they are installed."""
    compile(code, label, "exec")
    packages = re.findall(r"^import (\w+)|^from (\w+)", code, re.M)
    own = os.path.join(BUILD, "python-package", "venv", "bin", "python")
    parallel = "pnetcdf" in code
    python = own if parallel else sys.executable
    needs = ", ".join(sorted({one or other for one, other in packages}))
    if not os.path.exists(python) or run(python, "-c", f"import {needs}")[0] != 0:
        tap.skip(label, f"no Python with {needs}")
        return
    script = write("snippet.py", code)
    folder = os.path.dirname(script)
    if not parallel:
        status, why = run(python, script, cwd=folder)
    else:
        mpi = shlex.split(os.environ.get("MPIEXEC", "mpiexec"))
        status, why = run(*mpi, "-n", "2", python, script, cwd=folder)
    tap.ok(status == 0, f"{label}: the program runs", why)


def check_extract(label, program, code):
    text = re.sub(r"\s+", " ", read(os.path.join(SOURCE, program)))
    lines = [re.sub(r"\s+", " ", line).strip().rstrip(";") for line in code.splitlines()]
    lost = [line for line in lines if line and "..." not in line and line not in text]
    tap.ok(not lost, f"{label}: its statements are those of {program}", "\n".join(lost))


def check(page, number, line, language, code):
    label = f"{page}:{line}"
    if page in EXTRACTS and language == "c":
        check_extract(label, EXTRACTS[page], code)
        return
    if language == "python":
        check_python(label, code)
        return
    name = f"snippet_{number}"
    program = compile_c(label, name, code) if language == "c" else compile_fortran(label, name, language, code)
    if program is None:
        return
    status, output, errors = tap.run_mpi(2, os.path.abspath(program))
    tap.ok(status == 0 and not errors, f"{label}: the program runs on 2 ranks", f"status {status}\n{output}{errors}")


top = os.getcwd()
pages = [os.path.join(SOURCE, "README.md"), *sorted(glob.glob(os.path.join(SOURCE, "docs", "*.md"))),
         *sorted(glob.glob(os.path.join(SOURCE, "docs", "site", "*.md")))]
blocks = [(path, *block) for path in pages for block in blocks_of_page(path)]
blocks += [(os.path.join(SOURCE, "man", name), *block) for name in MANUALS
           for block in blocks_of_manual(os.path.join(SOURCE, "man", name))]
blocks = [block for block in blocks if block[2] in ("c", "f77", "f90", "python")]
os.makedirs(tap.scratch("."), exist_ok=True)
os.environ["PNC_TEST_TMP"] = os.path.abspath(tap.scratch("."))
os.chdir(os.environ["PNC_TEST_TMP"])
for number, (path, line, language, code) in enumerate(blocks):
    check(os.path.relpath(path, SOURCE), number, line, language, code)
os.chdir(top)
tap.ok(len(blocks) > 25, f"{len(blocks)} pieces of code were found")
tap.finish()
