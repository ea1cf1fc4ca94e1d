"""Programs in Fortran 77 and 90 as they are written for external functions and for modules that check less than ours:
they compile, with flags that forgive mismatched arguments only where external functions need them, and their values
arrive."""
# needs: python
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fortran import BUILD, compile_source, compiler, link  # noqa: E402
from tap import finish, ok, run_mpi, scratch, skip  # noqa: E402

STRICT = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-fno-allow-argument-mismatch"]
FORGIVING = ["-fallow-argument-mismatch", "-w"]
FORMS = [("old.f", ["-std=legacy"]), ("old.f", []), ("old.f", ["-ffixed-line-length-132"]), ("old.f90", [])]

# Integers of 8 bytes for those of 4 in the library, and of 4, followed by a 0 in memory, for those of 8; scalars,
# elements and arrays for each other; numbers by the bytes that they have in another type. Each function is called in
# one way only, as compilers require of functions without an explicit interface.
OLD = """\
      program old
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer ierr, me, ncid(2), idims(2), iv, iw, ireq(1), istat(1)
      integer nx(2), ny(2), istart(4), icount(4), len4(2)
      integer*8 ndims, mode, nvars
      integer ivals(3, 2), iback(6), ibits(2)
      double precision two(1)
      character*1 title(5)
      character*5 word
      equivalence (two, ibits)
      data nx, ny, istart, icount /3, 0, 2, 0, 1, 0, 1, 0, 3, 0, 2, 0/
      data title, word /'o', 'l', 'd', 'e', 'r', '.....'/
      data ivals, iback, len4, nvars /1, 2, 3, 4, 5, 6, 6*0, 2*0, 0/
      two(1) = 2
      mode = nf_clobber
      ndims = 2
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
      call try(nfmpi_create(MPI_COMM_WORLD, 'old.nc', mode, MPI_INFO_NULL, ncid(2)))
      call try(nfmpi_def_dim(ncid(2), 'x', nx, idims(1)))
      call try(nfmpi_inq_dimid(ncid(2), 'x', idims))
      ierr = nfmpi_def_dim(ncid(2), 'y', ny, idims(2))
      call try(nfmpi_def_var(ncid(2), 'v', nf_int, ndims, idims, iv))
      ierr = nfmpi_def_var(ncid(2), 'w', nf_int, ndims - 1, idims, iw)
      call try(nfmpi_put_att_text(ncid(2), iv, 'title', 5_8, title))
      call try(nfmpi_put_att_double(ncid(2), iv, 'two', 6, 1_8, ibits))
      call try(nfmpi_enddef(ncid(2)))
      call try(nfmpi_put_vara_int_all(ncid(2), iv, istart, icount, ivals))
      call try(nfmpi_iput_var_int(ncid(2), iw, ivals(1, 2), ireq))
      call try(nfmpi_wait_all(ncid(2), 1, ireq, istat))
      call try(nfmpi_inq_dimlen(ncid(2), idims(2), len4))
      call try(nfmpi_inq_nvars(ncid(2), nvars))
      call try(nfmpi_get_att_text(ncid(2), iv, 'title', word))
      call try(nfmpi_get_var_int_all(ncid(2), iv, iback))
      two(1) = 0
      call try(nfmpi_get_att_double(ncid(2), iv, 'two', ibits))
      call try(nfmpi_close(ncid(2)))
      if (me .eq. 0) print *, len4, nvars, ' ', word, iback, nint(two(1))
      call MPI_Finalize(ierr)
      end

      subroutine try(ierr)
      integer ierr
      include 'pnetcdf.inc'
      if (ierr .ne. nf_noerr) print *, nfmpi_strerror(ierr)
      end
"""
OLD_PRINTS = ["2", "0", "2", "older", "1", "2", "3", "4", "5", "6", "2"]
OLD_WRITES = (1, 2, 3, 4, 5, 6, 4, 5, 6)

# One function with arguments of several kinds and shapes, in one program: compilers allow it by a flag. What
# receives an integer of 8 bytes is aligned for one, or storing it would be undefined behaviour.
MIXED = """\
      program mixed
      use mpi
      implicit none
      include 'pnetcdf.inc'
      integer ierr, me, nc, ix, ids(2), v(3), n4(2), req(2), st(2), i
      integer*8 n8, ndims, start(1), count(1), aligned
      integer i4(2)
      real r4(2)
      double precision r8(2)
      logical same
      type handle
        integer id
      end type
      type(handle) h
      equivalence (aligned, n4)
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
      start(1) = 1
      count(1) = 2
      n8 = 2
      ndims = 1
      i4 = 7
      r4 = 0.5
      r8 = -2.5d0
      ierr = nfmpi_create(MPI_COMM_WORLD, 'mixed.nc', nf_clobber, MPI_INFO_NULL, nc)
      ierr = ierr + nfmpi_def_dim(nc, 'x', n8, ix)
      ierr = ierr + nfmpi_def_dim(nc, 'y', 5_8, ids)
      ids = ix
      ierr = ierr + nfmpi_def_var(nc, 'a', nf_int, 1, ix, v(1))
      ierr = ierr + nfmpi_def_var(nc, 'b', nf_int, ndims, ids, v(2))
      h%id = nc
      ierr = ierr + nfmpi_def_var(h, 'c', nf_int, ids(1:1), ids(2), v(3:))
      ierr = ierr + nfmpi_enddef(h)
      ierr = ierr + nfmpi_put_vara_all(nc, v, start, count, i4, n8, MPI_INTEGER)
      ierr = ierr + nfmpi_put_vara_all(nc, v(2), start(1), 2_8, r8, n8, MPI_DOUBLE_PRECISION)
      do i = 1, 2
        n8 = i
        ierr = ierr + nfmpi_iput_vara(nc, 3, n8, 1_8, r4(i), 1_8, MPI_REAL, req(i))
      end do
      ierr = ierr + nfmpi_wait_all(nc, nf_req_all, 0, 0)
      ierr = ierr + nfmpi_inq_dimlen(nc, ix, n8)
      ierr = ierr + nfmpi_inq_dimlen(nc, ix, n4)
      same = n8 .eq. 2 .and. n4(1) .eq. 2
      ierr = ierr + nfmpi_close(h%id)
      st = 0
      if (me .eq. 0) print *, ierr, same, st
      call MPI_Finalize(ierr)
      end
"""

# Names of Fortran 77 through the module: as a build file uses them, and beside an include in a scope of its own.
CALL = "program fred\n    use pnetcdf\n    call nfmpi_put_att(4, 1, 'fred', 7)\nend program\n"
NESTED = """\
module library
    use pnetcdf, only: nf90_noerr, nf90mpi_strerror
    implicit none
contains
    integer function of_include()
        include 'pnetcdf.inc'
        of_include = nfmpi_close(-1)
    end function
end module
program nested
    use pnetcdf
    use library
    implicit none
    character(len=80) :: text(2)
    text(1) = nfmpi_strerror(nf_noerr)
    text(2) = nf90mpi_strerror(nf90_noerr)
    print *, text(1) == text(2), of_include() == nf_ebadid, of_module() == nf90_ebadid, inner() == nf_ebadid
contains
    integer function of_module()
        of_module = nfmpi_close(-1)
    end function
    integer function inner()
        include 'pnetcdf.inc'
        inner = nfmpi_close(-1)
    end function
end program
"""


def warnings_of_ours(text):
    """Warnings of mpif.h are not ours to avoid: each message of gfortran begins with the file it is about."""
    messages = re.split(r"\n(?=\S+:\d+:\d+:)", "\n" + text)
    return [message for message in messages if "Warning:" in message and not re.match(r"\S*mpif[\w-]*\.h:", message)]


def in_columns(source):
    """The same in fixed form of 72 columns."""
    lines = []
    for line in source.split("\n"):
        while len(line) > 72:
            cut = line.rfind(" ", 0, 72)
            lines.append(line[:cut])
            line = "     &" + line[cut:]
        lines.append(line)
    return "\n".join(lines)


def builds(name, source, flags, what):
    text = in_columns(source) if name.endswith(".f") else source
    status, messages = compile_source(name, text, [*STRICT, *flags])
    return ok(status == 0 and not warnings_of_ours(messages), f"{what} compiles without a warning", messages[:4000])


def output_of(name, ranks):
    program = name.split(".")[0]
    status, messages = link(program, [f"{program}.o"])
    if status != 0:
        return messages.split()
    status, output, errors = run_mpi(ranks, scratch(program))
    return output.split() + errors.split()[:50]


def tail(name, count):
    """The last `count` integers of a file, as they lie in it."""
    with open(name, "rb") as file:
        return struct.unpack(f">{count}i", file.read()[-4 * count:])


def check_old():
    for name, flags in FORMS:
        what = f"an old program, {name} {' '.join(flags)}"
        if builds(name, OLD, flags, what):
            for ranks in (1, 2):
                output = output_of(name, ranks)
                ok(output == OLD_PRINTS and tail("old.nc", len(OLD_WRITES)) == OLD_WRITES,
                   f"{what}: its values arrive, np={ranks}", output)


def check_mixed():
    for name in ("mixed.f", "mixed.f90"):
        if builds(name, MIXED, FORGIVING, f"{name}: one function with arguments of several kinds"):
            output = output_of(name, 2)
            ok(output == ["0", "T", "0", "0"] and tail("mixed.nc", 6) == (7, 7, -2, -2, 0, 0),
               f"{name}: their values arrive", output)


def check_module():
    status, messages = compile_source("fred.f90", CALL, STRICT)
    status = status or link("fred", ["fred.o"])[0]
    ok(status == 0, "a build file's `use pnetcdf; call nfmpi_put_att' compiles and links", messages)
    if builds("nested.f90", NESTED, FORGIVING, "module and pnetcdf.inc in scopes of one program"):
        output = output_of("nested.f90", 1)
        ok(output == ["T"] * 4, "and works", output)


def main():
    done = subprocess.run([*compiler(), "--version"], capture_output=True, text=True, check=False)
    if "GNU Fortran" not in done.stdout:
        skip("old programs", "their flags are gfortran's")
        finish()
    os.chdir(scratch("."))
    check_old()
    check_mixed()
    if os.path.exists(os.path.join(BUILD, "include", "pnetcdf.mod")):
        check_module()
    finish()


main()
