"""What Fortran programs learn of a failure: the texts of strerror in both interfaces, which are those of C unless a
call has just failed, two integers that were passed for one, pending requests, and calls before MPI_Init and after
MPI_Finalize, which C programs make too."""
# needs: python
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fortran import BUILD, STRICT, compile_source, link, need_module  # noqa: E402
from tap import finish, instruments, library_flags, ok, run_mpi, scratch  # noqa: E402

NAME = "a_rather_long_name_of_a_file_that_leaves_no_space_for_anything_else_in_80_characters.nc"
LIMIT = 80

# The lines that a program prints: a label, the text between bars, and its length.
TEXTS = f"""\
program texts
    use mpi
    use pnetcdf
    implicit none
    integer, parameter :: o = MPI_OFFSET_KIND
    character(len=*), parameter :: path = '{NAME}'
    integer :: err, ncid, x, y, grid, other
    integer(o) :: far(2) = [1_o, 6_o], one(2) = [1_o, 1_o], start(2) = [1_o, 2_o], five(2) = [1_o, 5_o]
    double precision :: values(3, 5) = 1
    character(len=80) :: short

    call MPI_Init(err)
    err = nf90mpi_create(MPI_COMM_WORLD, path, nf90_clobber, MPI_INFO_NULL, ncid)
    err = nf90mpi_def_dim(ncid, 'x', 3, x)
    err = nf90mpi_def_dim(ncid, 'y', 5, y)
    err = nf90mpi_def_var(ncid, 'grid', nf90_double, [x, y], grid)
    call show('mode', nf90mpi_put_var_all(ncid, grid, values))
    call show('mode77', nfmpi_put_vara_double_all(ncid, grid, one, one, values))
    call show('type', nf90mpi_def_var(ncid, 'text', nf90_string, [x], other))
    err = nf90mpi_enddef(ncid)
    call show('far', nf90mpi_put_var_all(ncid, grid, values, far))
    call show('far77', nfmpi_put_vara_double_all(ncid, grid, far, one, values))
    call show('edge77', nfmpi_put_vara_double_all(ncid, grid, start, five, values))
    call show('none77', nfmpi_inq_varid(ncid, 'height', other))
    call show('global', nf90mpi_put_var_all(ncid, nf90_global, values))
    call show('missing77', nfmpi_open(MPI_COMM_WORLD, 'no/' // path, 0, MPI_INFO_NULL, other))
    call show('closed', nf90mpi_close(ncid))
    print '(3a,i0)', 'never|', nf90mpi_strerror(nf90_eindep), '|', len(nf90mpi_strerror(nf90_eindep))
    err = nf90mpi_inq_dimid(1000, 'x', x)
    short = nf90mpi_strerror(err)
    print '(2a)', 'whole|', nf90mpi_strerror(err)
    print '(2a)', 'short|', short
    call MPI_Finalize(err)
contains
    subroutine show(what, err)
        character(len=*), intent(in) :: what
        integer, intent(in) :: err

        if (index(what, '77') > 0) then
            print '(4a,i0)', what, '|', trim(nfmpi_strerror(err)), '|', len(nfmpi_strerror(err))
        else
            print '(4a,i0)', what, '|', nf90mpi_strerror(err), '|', len(trim(nf90mpi_strerror(err)))
        end if
    end subroutine
end program
"""
FULL = {
    "mode": f"Operation not allowed in define mode: {NAME} is in define mode: call nf90mpi_enddef first",
    "type": f'{NAME}: variable "text": xtype is 12 (NF90_STRING), a type of netCDF-4 files: use NF90_CHAR; text of a '
            "variable then has a dimension for its characters",
    "far": f'{NAME}: start(2) = 6, but dimension "y" of variable "grid" has length 5',
    "global": f"{NAME}: varid is NF90_GLOBAL: must be the id of a variable",
}
SHORT = {
    "mode77": "the file is in define mode: call nfmpi_enddef first",
    "far77": 'start(2) = 6, but dimension "y" of variable "grid" has length 5',
    "edge77": 'count(2) = 5 from start(2) = 2, but dimension "y" of variable "grid" has...',
    "none77": 'the file has no variable "height"',
    "missing77": "cannot open the file: No such file or directory",
}

# Programs compare the text of a code with that of C, before and after a call has failed with another one.
CODES = """\
program codes
    use mpi
    use pnetcdf
    implicit none
    integer :: err, varid

    call MPI_Init(err)
    call show()
    err = nfmpi_inq_varid(-1, 'x', varid)
    call show()
    call MPI_Finalize(err)
contains
    subroutine show()
{prints}
    end subroutine
end program
"""

# Integers of 4 bytes where the library reads 8: with pnetcdf.inc the compiler does not check them.
KINDS = """\
      program kinds
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer err, ncid, x, y, grid, series, t, code
      integer n(2), place(4), size(4)
      integer*8 n8, far(2), one(2)
      double precision v(15)
      character*(nf_max_message) text
      data n, place, size /2, 6, 1, 2, 0, 0, 2, 1, 0, 0/
      data far, one /5000000000_8, 1, 1, 1/
      v = 0
      call MPI_Init(err)
      err = nfmpi_create(MPI_COMM_WORLD, 'kinds.nc', 0, MPI_INFO_NULL,
     &                   ncid)
      call show('length', nfmpi_def_dim(ncid, 'bad', n, x))
      n8 = 5000000000_8
      call show('large', nfmpi_def_dim(ncid, 'large', n8, x))
      n8 = 3
      err = nfmpi_def_dim(ncid, 'x', n8, x)
      err = nfmpi_def_dim(ncid, 'y', n8, y)
      err = nfmpi_def_dim(ncid, 't', nfmpi_unlimited, t)
      err = nfmpi_def_var(ncid, 'grid', nf_double, 2, (/x, y/), grid)
      err = nfmpi_def_var(ncid, 'series', nf_double, 1, (/t/), series)
      err = nfmpi_enddef(ncid)
      call show('start', nfmpi_put_vara_double_all(ncid, grid, place,
     &                                             one, v))
      call show('alone', nfmpi_get_vara_double_all(ncid, series, place,
     &                                             one, v))
      call show('count', nfmpi_put_vara_double_all(ncid, grid, one,
     &                                             size, v))
      call show('record', nfmpi_put_vara_double_all(ncid, series, place,
     &                                              one, v))
      call show('far', nfmpi_put_vara_double_all(ncid, grid, far, one,
     &                                           v))
      err = nfmpi_iput_vara_double(ncid, series, one, one, v, code)
      err = nfmpi_close(ncid)
      call MPI_Finalize(err)
      contains
      subroutine show(what, err)
      character*(*) what
      integer err
      code = nfmpi_inq_last_error(-1, code, text)
      print '(3a)', what, '|', trim(text)
      print '(4a)', what, '80|', trim(nfmpi_strerror(err))
      end subroutine
      end
"""
PAIR = " (integer of kind MPI_OFFSET_KIND?)"
QUESTIONS = {
    "length": f'kinds.nc: dimension "bad": length 25769803778{PAIR} is outside 0..2147483647, the range of CDF-1 '
              "(NF_EDIMSIZE)",
    "large": 'kinds.nc: dimension "large": length 5000000000 is outside 0..2147483647, the range of CDF-1: create the '
             "file with NF_64BIT_DATA (NF_EDIMSIZE)",
    "start": f'kinds.nc: start(2) = 0{PAIR}, dimension "y" of variable "grid": must be at least 1 (NF_EINVALCOORDS)',
    "alone": f'kinds.nc: start(1) = 8589934593{PAIR}, but dimension "t" of variable "series" has 0 records '
             "(NF_EINVALCOORDS)",
    "count": f'kinds.nc: count(1) = 4294967298{PAIR} from start(1) = 1, but dimension "x" of variable "grid" has '
             "length 3: at most 3 fit (NF_EEDGE)",
    "record": f'kinds.nc: the request needs 8589934593 records{PAIR}, but variable "series" of a CDF-1 file has at '
              "most 2147483647 (NF_EINVALCOORDS)",
    "far": 'kinds.nc: start(1) = 5000000000, but dimension "x" of variable "grid" has length 3 (NF_EINVALCOORDS)',
}

EARLY = """\
program early
    use mpi
    use pnetcdf
    implicit none
    integer :: err, ncid

    print '(2a)', 'open|', nf90mpi_strerror(nf90mpi_open(MPI_COMM_WORLD, 'e.nc', nf90_nowrite, MPI_INFO_NULL, ncid))
    print '(2a)', 'create|', nfmpi_strerror(nfmpi_create(MPI_COMM_SELF, 'e.nc', nf_clobber, MPI_INFO_NULL, ncid))
    print '(a,l1)', 'delete|', nf90mpi_delete('e.nc', MPI_INFO_NULL) == nf90_eparinit
    call MPI_Init(err)
    err = nf90mpi_create(MPI_COMM_WORLD, 'e.nc', nf90_clobber, MPI_INFO_NULL, ncid)
    if (err == nf90_noerr) err = nf90mpi_close(ncid)
    print '(a,l1)', 'between|', err == nf90_noerr
    call MPI_Finalize(err)
    print '(2a)', 'late|', nf90mpi_strerror(nf90mpi_open(MPI_COMM_WORLD, 'e.nc', nf90_nowrite, MPI_INFO_NULL, ncid))
end program
"""
EARLY_IN_C = """\
#include <pnetcdf.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int ncid, opened, created, deleted, late;

    opened = ncmpi_open(MPI_COMM_WORLD, "e.nc", NC_NOWRITE, MPI_INFO_NULL, &ncid);
    printf("open|%s\\n", ncmpi_strerror(opened));
    created = ncmpi_create(MPI_COMM_WORLD, "e.nc", NC_CLOBBER, MPI_INFO_NULL, &ncid);
    deleted = ncmpi_delete("e.nc", MPI_INFO_NULL);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    late = ncmpi_open(MPI_COMM_WORLD, "e.nc", NC_NOWRITE, MPI_INFO_NULL, &ncid);
    printf("codes|%d %d %d %d\\n", opened, created, deleted, late);
    return 0;
}
"""


def build(name, source, suffix, flags=()):
    status, messages = compile_source(name + suffix, source, flags)
    status = status or link(name, [name + ".o"])[0]
    return ok(status == 0, f"{name} is built", messages[:3000])


def printed(output):
    """{label: text} of the lines of a program, and the numbers behind a second bar."""
    rows = [line.split("|") for line in output.splitlines() if "|" in line]
    return {row[0].strip(): row[1].rstrip() for row in rows}, {row[0].strip(): row[2] for row in rows if len(row) > 2}


def check_texts():
    if not build("texts", TEXTS, ".f90", STRICT):
        return
    status, output, errors = run_mpi(1, scratch("texts"))
    texts, lengths = printed(output)
    ok(status == 0, "texts comes to its end", errors)
    for label, sentence in FULL.items():
        text = texts.get(label, "")
        ok(text.endswith(sentence), f"nf90mpi_strerror, {label}: all of the sentence", text)
        ok(lengths.get(label) == str(len(text)), f"nf90mpi_strerror, {label}: no character more", lengths.get(label))
    for label, sentence in SHORT.items():
        text = texts.get(label, "")
        ok(text == sentence or text.endswith(": " + sentence), f"nfmpi_strerror, {label}: cause and cure", text)
        ok(len(text) <= LIMIT and lengths.get(label) == str(LIMIT) and NAME[:9] not in text,
           f"nfmpi_strerror, {label}: {LIMIT} characters, without the name of the file", text)
    ok(lengths.get("never") == str(len(texts.get("never", ""))), "a text of its own length", texts.get("never"))
    ok(len(texts.get("whole", "")) > LIMIT and texts["whole"][:LIMIT].rstrip() == texts.get("short"),
       f"an assignment to {LIMIT} characters takes the first", output)
    ok(texts.get("closed") == "No error", "success has a text", texts.get("closed"))
    texts.pop("never", None)
    ok(not re.search(r"\b(ncmpi_|NC_)", str(texts)), "no name of C in any text of a failure", output)


def texts_of_codes():
    """[(code, text)] that programs rely on: the table of the test of ncmpi_strerror."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../mpi/test_inquire.c"),
              encoding="utf-8") as file:
        return re.findall(r'^    \{(NC_\w+), "(.*)"\},$', file.read(), re.M)


def check_codes():
    rows = [(code, text) for code, text in texts_of_codes() if code != "NC_EBADID"]
    prints = "".join(f"        print '(a)', nf90mpi_strerror({code.replace('NC_', 'nf90_')})\n"
                     f"        print '(a)', nfmpi_strerror({code.replace('NC_', 'nf_')})\n" for code, _ in rows)
    if not build("codes", CODES.format(prints=prints), ".f90", STRICT):
        return
    status, output, errors = run_mpi(1, scratch("codes"))
    wanted = [text for _, text in rows for _ in range(2)] * 2
    got = [line.rstrip() for line in output.splitlines()]
    wrong = [f"{found}, not {text}" for found, text in zip(got, wanted) if found != text]
    ok(status == 0 and len(rows) > 30 and len(got) == len(wanted) and not wrong,
       f"the texts of {len(rows)} codes alone are those of C", "\n".join(wrong) + errors)


def check_kinds():
    # of external functions compilers compare the calls: these differ on purpose
    if not build("kinds", KINDS, ".f", ["-fallow-argument-mismatch", "-w"]):
        return
    os.environ["PNETCDF_VERBOSE"] = "1"
    status, output, errors = run_mpi(1, scratch("kinds"))
    del os.environ["PNETCDF_VERBOSE"]
    texts, _ = printed(output)
    ok(status == 0, "kinds comes to its end", errors)
    for label, sentence in QUESTIONS.items():
        ok(texts.get(label, "").endswith(sentence), f"{label}: the message", texts.get(label))
        ok(sentence in errors, f"{label}: printed by PNETCDF_VERBOSE", errors)
        brief = texts.get(label + "80", "")
        ok((PAIR in sentence) == ("MPI_OFFSET_KIND?" in brief),
           f"{label}: the question is in the 80 characters", brief)
    ok("call nfmpi_wait_all before nfmpi_close" in errors and not re.search(r"\b(ncmpi_|NC_)", errors),
       "pending requests: names of Fortran", errors)


def alone(program, verbose="0"):
    """Status, output and errors of a program that no launcher starts: several ranks would each print."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "OMPI_COMM"))}
    environment["PNETCDF_VERBOSE"] = verbose
    done = subprocess.run([os.path.abspath(program)], capture_output=True, text=True, check=False, env=environment,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def check_early(name, function, code):
    status, output, errors = alone(scratch(name))
    texts, _ = printed(output)
    lines = [line for line in errors.splitlines() if line.startswith("PnetCDF: ")]
    ok(status == 0 and "MPI is not initialized: call MPI_Init first" in texts.get("open", ""),
       f"{name}: an error before MPI_Init, with a sentence", output + errors)
    ok(lines == [f"PnetCDF: {function}: e.nc: MPI is not initialized: call MPI_Init first ({code})"],
       f"{name}: one line is printed", errors)
    return texts


def check_before_init():
    if build("early", EARLY, ".f90", STRICT):
        texts = check_early("early", "nf90mpi_open", "NF90_EPARINIT")
        ok("MPI_Init" in texts.get("create", "") and texts.get("delete") == "T", "create and delete too", texts)
        ok(texts.get("between") == "T", "after MPI_Init, files work", texts)
        opened = alone(scratch("early"), "1")[2].count("nf90mpi_open: ")
        ok(opened == 2, "a call in an argument of nf90mpi_strerror is made once", opened)
        ok("MPI_Finalize has been called" in texts.get("late", ""), "after MPI_Finalize, they do not", texts)
    with open(scratch("early_c.c"), "w", encoding="utf-8") as file:
        file.write(EARLY_IN_C)
    command = [*shlex.split(os.environ.get("CC", "mpicc")), *instruments(), "-I" + os.path.join(BUILD, "include"),
               scratch("early_c.c"), *library_flags(), "-o", scratch("early_c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if ok(done.returncode == 0, "early_c is built", done.stderr):
        texts = check_early("early_c", "ncmpi_open", "NC_EPARINIT")
        ok(texts.get("codes") == "-115 -115 -115 -115", "all calls return NC_EPARINIT", texts)


def main():
    need_module()
    os.chdir(scratch("."))
    check_texts()
    check_codes()
    check_kinds()
    check_before_init()
    finish()


main()
