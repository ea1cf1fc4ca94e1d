"""A call from Fortran that fails makes one message, with the name that the program called, ids and indices as the
program passed them and dimensions in Fortran's order. A profiler that wraps the functions of C sees one call.

The program makes each call of the table through a profiler, and then asks for the message.
"""
# needs: python
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fortran import BUILD, build_profiled, need_module  # noqa: E402
from tap import finish, ok, run_mpi, skip  # noqa: E402

PROGRAM = """\
program reports
    use, intrinsic :: iso_c_binding
    use mpi
    use pnetcdf
    implicit none
    interface
        subroutine print_line(text) bind(c)
            import
            character(kind=c_char), dimension(*), intent(in) :: text
        end subroutine
    end interface
    integer, parameter :: o = MPI_OFFSET_KIND
    integer(o), parameter :: low = -huge(0_o) - 1
    integer(o) :: length, far(2) = [1_o, 6_o], start(2) = [1_o, 2_o], one(2) = [1_o, 1_o], five(2) = [1_o, 5_o]
    integer(o) :: zero(2) = [0_o, 1_o], lowest(2) = [1_o, low], minus(2) = [-1_o, 1_o], short(1) = [1_o]
    integer(o) :: starts(2, 1) = reshape([1_o, 6_o], [2, 1]), flat(1, 1) = 1_o, map(2) = [1_o, huge(1_o) / 2]
    integer(o) :: counts(2, 1) = 1_o, two(2) = [2_o, 1_o], all(2) = [3_o, 5_o]
    integer :: err, ncid, x, y, t, grid, label, series, id, least = -huge(0) - 1, numbers(2) = 1, requests(1)
    double precision :: values(3, 5) = 1, value = 1
    character(len=3) :: name, word = 'abc', words(2) = 'abc'
    character(len=40) :: path

    call MPI_Init(err)
    call try(nf90mpi_create(MPI_COMM_WORLD, 'reports.nc', nf90_clobber, MPI_INFO_NULL, ncid))
    call try(nf90mpi_def_dim(ncid, 'x', 3, x))
    call try(nf90mpi_def_dim(ncid, 'y', 5, y))
    call try(nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, t))
    call try(nf90mpi_def_var(ncid, 'grid', nf90_double, [x, y], grid))
    call try(nf90mpi_def_var(ncid, 'label', nf90_char, [x], label))
    call try(nf90mpi_def_var(ncid, 'series', nf90_short, [x, t], series))
    call try(nf90mpi_put_att(ncid, grid, 'units', 'metres'))
    call try(nf90mpi_put_att(ncid, grid, 'range', [1, 2, 3]))
    call define()
    call try(nf90mpi_enddef(ncid))
    call data()
    call inquire()
    call succeed()
    call print_line('end' // c_null_char)
    call MPI_Finalize(err)

contains

    subroutine try(err)
        integer, intent(in) :: err

        if (err /= nf90_noerr) call print_line('failed: ' // trim(nf90mpi_strerror(err)) // c_null_char)
    end subroutine

    ! The last failure of this thread, and its code.
    subroutine print_failure(err)
        integer, intent(in) :: err
        integer :: code, status
        character(len=nf_max_message) :: message

        status = nfmpi_inq_last_error(-1, code, message)
        if (status /= nf_noerr .or. err /= code) call print_line('not the code of the message' // c_null_char)
        call print_line(trim(message) // c_null_char)
    end subroutine

{subroutines}
end program reports
"""
BAD_NCID = "{}: ncid is 1000: not an open file; it was closed or never opened ({}_EBADID)"
HERE = "{} on rank 0: reports.nc: "
NO_VARIABLE = HERE + "no variable with id {} (valid: 1..3) ({}_ENOTVAR)"
NO_DIMENSION = HERE + "no dimension with id {} (valid: 1..3) ({}_EBADDIM)"
FAR = HERE + 'start(2) = 6, but dimension "y" of variable "grid" has length 5 ({}_EINVALCOORDS)'
ZERO = HERE + 'start(1) = 0, dimension "x" of variable "grid": must be at least 1 ({}_EINVALCOORDS)'
LOW = HERE + 'start(2) = -9223372036854775808, but dimension "y" of variable "grid" has length 5 ({}_EINVALCOORDS)'
MINUS = HERE + 'count(1) = -1, dimension "x" of variable "grid": must not be negative ({}_ENEGATIVECNT)'
FIVE = HERE + ('count(2) = 5 from start(2) = 2, but dimension "y" of variable "grid" has length 5: at most 4 fit '
               '({}_EEDGE)')
STRIDE = HERE + 'stride(1) = 0, dimension "x" of variable "grid": must be positive ({}_ESTRIDE)'
NUMBERS = HERE + 'variable "grid" has type double: it holds numbers, not text ({}_ECHAR)'
TEXT = HERE + 'variable "label" has type char: it holds text, not numbers: {} ({}_ECHAR)'
IMAP = HERE + 'variable "grid": imap(2) = 4611686018427387903 exceeds the address space ({}_EINVAL)'
SHORT = HERE + '{} has 1 elements{}, but variable "grid" has 2 dimensions ({})'
RECORD = HERE + "recno is 0: must be at least 1 ({}_EINVAL)"

# The call, the function of C that the profiler sees, and the message: its first word is the name in the call.
DEFINE = [
    ("nfmpi_def_var(ncid, 'bad', nf_int, 2, [x, 9], id)", "def_var",
     HERE + 'variable "bad": dimension id 9 at position 2 does not exist: there are 3 dimensions (NF_EBADDIM)'),
    ("nf90mpi_def_var(ncid, 'bad', nf90_int, [9, y], id)", "def_var",
     HERE + 'variable "bad": dimension id 9 at position 1 does not exist: there are 3 dimensions (NF90_EBADDIM)'),
    ("nf90mpi_def_var(ncid, 'bad', nf90_int, [t, x], id)", "def_var",
     HERE + 'variable "bad": unlimited dimension "time" is at position 1: it must be the slowest, at position 2 '
     "(NF90_EUNLIMPOS)"),
    ("nfmpi_rename_dim(ncid, 0, 'z')", "rename_dim", NO_DIMENSION.format("{}", 0, "NF")),
    ("nf90mpi_rename_dim(ncid, least, 'z')", "rename_dim", NO_DIMENSION.format("{}", -2147483648, "NF90")),
    ("nf90mpi_def_var_fill(ncid, series, 0, 70000)", "def_var_fill",
     HERE + "the fill value does not fit the type that it is converted to (NF90_ERANGE)"),
    ("nf90mpi_def_var_fill(ncid, 9, 0, 7)", "def_var_fill", NO_VARIABLE.format("{}", 9, "NF90")),
    ("nfmpi_put_vara_double_all(ncid, grid, one, one, values)", "put_vara_double_all",
     "{} on rank 0: reports.nc is in define mode: call nfmpi_enddef first (NF_EINDEFINE)"),
    ("nf90mpi_put_var_all(ncid, grid, values)", "put_vara_double_all",
     "{} on rank 0: reports.nc is in define mode: call nf90mpi_enddef first (NF90_EINDEFINE)"),
]
DATA = [
    ("nfmpi_put_vara_double_all(1000, grid, one, one, values)", "put_vara_double_all", BAD_NCID.format("{}", "NF")),
    ("nf90mpi_put_var_all(1000, grid, values)", "put_vara_double_all", BAD_NCID.format("{}", "NF90")),
    ("nfmpi_put_vara_double_all(ncid, 9, one, one, values)", "put_vara_double_all", NO_VARIABLE.format("{}", 9, "NF")),
    ("nfmpi_get_var_double_all(ncid, least, values)", "get_var_double_all",
     NO_VARIABLE.format("{}", -2147483648, "NF")),
    ("nfmpi_put_varn_double_all(ncid, 9, 1, starts, counts, values)", "put_varn_double_all",
     NO_VARIABLE.format("{}", 9, "NF")),
    ("nf90mpi_put_var_all(ncid, 9, values)", "put_vara_double_all", NO_VARIABLE.format("{}", 9, "NF90")),
    ("nf90mpi_get_varn_all(ncid, 9, values, starts, counts)", "get_varn_double_all",
     NO_VARIABLE.format("{}", 9, "NF90")),
    ("nf90mpi_put_var_all(ncid, nf90_global, values)", "put_vara_double_all",
     HERE + "varid is NF90_GLOBAL: must be the id of a variable (NF90_EGLOBAL)"),
    ("nfmpi_put_vara_double_all(ncid, grid, far, one, values)", "put_vara_double_all", FAR.format("{}", "NF")),
    ("nfmpi_get_var1_double_all(ncid, grid, far, value)", "get_var1_double_all", FAR.format("{}", "NF")),
    ("nfmpi_put_varn_double_all(ncid, grid, 1, starts, counts, values)", "put_varn_double_all", FAR.format("{}", "NF")),
    ("nf90mpi_put_var_all(ncid, grid, value, far)", "put_var1_double_all", FAR.format("{}", "NF90")),
    ("nf90mpi_get_varn_all(ncid, grid, values, starts, counts)", "get_varn_double_all", FAR.format("{}", "NF90")),
    ("nfmpi_get_vara_double_all(ncid, grid, zero, one, values)", "get_vara_double_all", ZERO.format("{}", "NF")),
    ("nf90mpi_get_var_all(ncid, grid, values, zero, one)", "get_vara_double_all", ZERO.format("{}", "NF90")),
    ("nfmpi_get_vara_double_all(ncid, grid, lowest, one, values)", "get_vara_double_all", LOW.format("{}", "NF")),
    ("nf90mpi_get_var_all(ncid, grid, values, lowest, one)", "get_vara_double_all", LOW.format("{}", "NF90")),
    ("nfmpi_put_vara_double_all(ncid, grid, one, minus, values)", "put_vara_double_all", MINUS.format("{}", "NF")),
    ("nf90mpi_put_var_all(ncid, grid, values, one, minus)", "put_vara_double_all", MINUS.format("{}", "NF90")),
    ("nfmpi_put_vara_double_all(ncid, grid, start, five, values)", "put_vara_double_all", FIVE.format("{}", "NF")),
    ("nf90mpi_put_var_all(ncid, grid, values, start, five)", "put_vara_double_all", FIVE.format("{}", "NF90")),
    ("nfmpi_put_vars_double_all(ncid, grid, one, one, zero, values)", "put_vars_double_all", STRIDE.format("{}", "NF")),
    ("nf90mpi_put_var_all(ncid, grid, values, one, one, zero)", "put_vars_double_all", STRIDE.format("{}", "NF90")),
    ("nfmpi_put_varm_double_all(ncid, grid, one, all, one, map, values)", "put_varm_double_all",
     IMAP.format("{}", "NF")),
    ("nf90mpi_put_var_all(ncid, grid, values, map=map)", "put_varm_double_all",
     HERE + "map exceeds the 15 elements of the values (NF90_EINVAL)"),
    ("nf90mpi_put_var_all(ncid, grid, values, short)", "put_vara_double_all",
     SHORT.format("{}", "start", "", "NF90_EINVALCOORDS")),
    ("nf90mpi_put_var_all(ncid, grid, values(::2, :), short)", "put_vara_double_all",
     SHORT.format("{}", "start", "", "NF90_EINVALCOORDS")),
    ("nf90mpi_get_var_all(ncid, grid, values, one, short)", "get_vara_double_all",
     SHORT.format("{}", "count", "", "NF90_EEDGE")),
    ("nf90mpi_get_var_all(ncid, grid, values, one, one, short)", "get_vars_double_all",
     SHORT.format("{}", "stride", "", "NF90_ESTRIDE")),
    ("nf90mpi_get_varn_all(ncid, grid, values, flat, counts)", "get_varn_double_all",
     SHORT.format("{}", "start", " in each column", "NF90_EINVALCOORDS")),
    ("nf90mpi_get_varn_all(ncid, grid, values, 2, starts, counts)", "get_varn_double_all",
     HERE + "start has 1 columns, but the call has 2 requests (NF90_EINVAL)"),
    ("nf90mpi_put_var_all(ncid, grid, values(::2, :), one, one, buftype=MPI_INTEGER)", "put_vara_all",
     HERE + "the values are an array section: buftype must be the predefined type of its elements (NF90_EINVAL)"),
    ("nfmpi_put_vara_text_all(ncid, grid, far, one, word)", "put_vara_text_all", NUMBERS.format("{}", "NF")),
    ("nf90mpi_put_var_all(ncid, grid, word)", "put_vara_text_all", NUMBERS.format("{}", "NF90")),
    ("nf90mpi_put_var_all(ncid, grid, words(::2), far)", "put_vara_text_all", NUMBERS.format("{}", "NF90")),
    ("nf90mpi_put_varn_all(ncid, grid, word, starts, counts)", "put_varn_text_all", NUMBERS.format("{}", "NF90")),
    ("nfmpi_put_vara_double_all(ncid, label, one, one, values)", "put_vara_double_all",
     TEXT.format("{}", "use the _text functions", "NF")),
    ("nf90mpi_put_var_all(ncid, label, values)", "put_vara_double_all",
     TEXT.format("{}", "use the _text functions", "NF90")),
    ("nfmpi_put_vara_double(ncid, grid, one, one, values)", "put_vara_double",
     "{} on rank 0: reports.nc is in collective data mode: call nfmpi_begin_indep_data first, or the function that "
     "ends in _all (NF_ENOTINDEP)"),
    ("nf90mpi_iput_var(ncid, grid, values, id, short)", "iput_vara_double",
     SHORT.format("{}", "start", "", "NF90_EINVALCOORDS")),
    ("nf90mpi_bput_var(ncid, grid, values, id)", "bput_vara_double",
     HERE + "no buffer is attached: call nf90mpi_buffer_attach first (NF90_ENULLABUF)"),
    ("nfmpi_fill_var_rec(ncid, series, 0_o)", "fill_var_rec",
     HERE + 'variable "series" is in no-fill mode and has no _FillValue: call nfmpi_def_var_fill in define mode '
     "(NF_ENOTFILL)"),
    ("nf90mpi_wait_all(ncid, 2, requests, numbers)", "wait_all",
     HERE + "num is 2, but req has 1 elements and st has 2 (NF90_EINVAL)"),
    ("nf90mpi_get_vard_all(ncid, 9, MPI_INTEGER, values, 1_o, MPI_INTEGER)", "get_vard_all",
     NO_VARIABLE.format("{}", 9, "NF90")),
    ("nfmpi_get_vard_all(ncid, 0, MPI_INTEGER, values, 1_o, MPI_INTEGER)", "get_vard_all",
     HERE + "varid is NF_GLOBAL: must be the id of a variable (NF_EGLOBAL)"),
]
INQUIRE = [
    ("nfmpi_inq_varname(1000, grid, name)", "inq_varname", BAD_NCID.format("{}", "NF")),
    ("nf90mpi_inquire_variable(1000, grid, name)", "inq_var", BAD_NCID.format("{}", "NF90")),
    ("nfmpi_inq_vardimid(ncid, 9, numbers)", "inq_vardimid", NO_VARIABLE.format("{}", 9, "NF")),
    ("nf90mpi_inquire_variable(ncid, 9, dimids=numbers)", "inq_var", NO_VARIABLE.format("{}", 9, "NF90")),
    ("nf90mpi_inquire_variable(ncid, grid, dimids=requests)", "inq_var",
     HERE + 'dimids has 1 elements, but variable "grid" has 2 dimensions (NF90_EINVAL)'),
    ("nfmpi_inq_dimlen(ncid, 9, length)", "inq_dimlen", NO_DIMENSION.format("{}", 9, "NF")),
    ("nf90mpi_inquire_dimension(ncid, 9, len=length)", "inq_dim", NO_DIMENSION.format("{}", 9, "NF90")),
    ("nfmpi_inq_varname(ncid, label, name)", "inq_varname",
     HERE + '"label" has 5 characters, the variable that receives it has 3 (NF_ESTS)'),
    ("nf90mpi_inquire_variable(ncid, label, name)", "inq_var",
     HERE + '"label" has 5 characters, the variable that receives it has 3 (NF90_ESTS)'),
    ("nfmpi_get_att_text(ncid, grid, 'units', name)", "get_att_text",
     HERE + 'attribute "units" has 6 characters, the variable that receives it 3 (NF_ESTS)'),
    ("nf90mpi_get_att(ncid, grid, 'units', name)", None,
     HERE + 'attribute "units" has 6 characters, the variable that receives it 3 (NF90_ESTS)'),
    ("nf90mpi_get_att(ncid, grid, 'range', numbers)", None,
     HERE + 'attribute "range" has 3 values, the array that receives it 2 (NF90_EIOMISMATCH)'),
    ("nf90mpi_get_att(ncid, grid, 'units', numbers)", "get_att_int",
     HERE + 'attribute "grid:units" has type char: NF90_CHAR values are only accessed through the text functions '
     "(NF90_ECHAR)"),
    ("nfmpi_inq_attname(ncid, grid, 3, name)", "inq_attname",
     HERE + "attnum is 3, but there are 2 attributes (NF_ENOTATT)"),
    ("nf90mpi_inquire_attribute(ncid, 9, 'units', attnum=id)", "inq_att", NO_VARIABLE.format("{}", 9, "NF90")),
    ("nfmpi_copy_att(ncid, 9, 'units', ncid, grid)", "copy_att", NO_VARIABLE.format("{}", 9, "NF")),
    ("nf90mpi_redef(1000)", "redef", BAD_NCID.format("{}", "NF90")),
    ("nfmpi_def_dim(ncid, 'z', 1_o, id)", "def_dim",
     "{} on rank 0: reports.nc is in data mode: call nfmpi_redef first (NF_ENOTINDEFINE)"),
    ("nfmpi_set_default_format(99, id)", "set_default_format",
     "{}: format 99 cannot be created: choose NF_FORMAT_CLASSIC, NF_FORMAT_CDF2, NF_FORMAT_CDF5, "
     "NF_FORMAT_NETCDF4_CLASSIC or NF_FORMAT_NETCDF4 (NF_EINVAL)"),
    ("nf90mpi_open(MPI_COMM_WORLD, 'missing.nc', nf90_nowrite, MPI_INFO_NULL, id)", "open",
     "{} on rank 0: cannot open missing.nc: No such file or directory (NF90_ENOENT)"),
]
# Calls that succeed and need to know more than one function of C returns.
SUCCEED = [
    ("nf90mpi_inquire(ncid, numbers(1), formatnum=id)", "inq"),
    ("nf90mpi_inquire_variable(ncid, grid, dimids=numbers)", "inq_var"),
    ("nf90mpi_inquire_attribute(ncid, grid, 'units', attnum=id)", "inq_att"),
    ("nf90mpi_inq_path(ncid, id, path)", "inq_path"),
    ("nfmpi_inq_path(ncid, id, path)", "inq_path"),
    ("nfmpi_inq_vardimid(ncid, grid, numbers)", "inq_vardimid"),
    ("nf90mpi_inq_files_opened(id, requests)", "inq_files_opened"),
    ("nfmpi_get_att_text(ncid, grid, 'units', path)", "get_att_text"),
    ("nf90mpi_get_att(ncid, grid, 'units', path)", "get_att_text"),
    ("nf90mpi_get_var_all(ncid, grid, values)", "get_vara_double_all"),
    ("nfmpi_get_vara_double_all(ncid, grid, one, all, values)", "get_vara_double_all"),
]


def statements(rows, subroutine):
    for call, *_ in rows:
        yield "        call print_line('call' // c_null_char)"
        yield f"        call {subroutine}(" + call.replace(", ", ", &\n" + " " * 12, 1) + ")"
        yield "        call print_line('done' // c_null_char)"


def build():
    text = ""
    for name, subroutine, rows in (("define", "print_failure", DEFINE), ("data", "print_failure", DATA),
                                   ("inquire", "print_failure", INQUIRE), ("succeed", "try", SUCCEED)):
        text += f"    subroutine {name}()\n" + "\n".join(statements(rows, subroutine)) + "\n    end subroutine\n\n"
    return build_profiled("reports", PROGRAM.format(subroutines=text), r"ncmpi_(?!inq_last_error)\w*")


def split(output):
    """What was printed in each call: the functions of C, then the message."""
    calls = re.findall(r"^call\n(.*?)^done$", output, flags=re.M | re.S)
    return [[line.strip() for line in lines.splitlines()] for lines in calls]


def main():
    need_module()
    if not os.path.exists(os.path.join(BUILD, ".libs", "libpnetcdf.so")):
        skip("reports", "this build has no shared library")
        finish()
    program, why = build()
    if not ok(program, "program and profiler are built", why):
        finish()
    os.chdir(os.path.dirname(program) or ".")
    os.environ["PNETCDF_VERBOSE"] = "1"
    status, output, errors = run_mpi(1, os.path.abspath(os.path.basename(program)))
    rows = DEFINE + DATA + INQUIRE
    ok(status == 0 and output.splitlines()[-1:] == ["end"], "the program comes to its end", output[-1000:] + errors)
    found = split(output)
    expected = []
    for (call, function, message), lines in zip(rows, found):
        expected.append(message.format(call.partition("(")[0]))
        wanted = (["ncmpi_" + function] if function else []) + expected[-1:]
        ok(lines == wanted, call, f"expected {wanted}\nfound    {lines}")
    for (call, function), lines in zip(SUCCEED, found[len(rows):]):
        ok(lines == ["ncmpi_" + function], f"{call} succeeds", str(lines))
    ok(len(found) == len(rows) + len(SUCCEED), "all calls were made", f"{len(found)} calls")
    printed = [line.removeprefix("PnetCDF: ") for line in errors.splitlines() if line.startswith("PnetCDF: ")]
    ok(printed == expected, "each message is printed once",
       "\n".join(line for line in printed if line not in expected) or f"{len(printed)} lines, {len(expected)} expected")
    finish()


main()
