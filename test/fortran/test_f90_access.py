"""Every specific of every generic of module pnetcdf that moves values, attributes or fill values, with arrays of ranks
0 to 7, whole and as sections with strides forwards and backwards, on 1 and 4 ranks. The loader reports whether
the program has called each of them; without a shared library, its symbols show whether the compiler has chosen it.

A program is generated, compiled and run. The C interface reads the result of a put, which is compared with a
formula, and writes the values that a get must return.

A variable has dimensions 6, 2, 2 ..; the slowest is as many times longer as there are ranks, and each owns a part.
Values have the shape 3, 2, 2 ..: the first half along the fastest dimension, or with stride 2 every other element.
"""
# needs: python
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fortran import BUILD, compile_program, need_module, run_counting, with_mpi_f08  # noqa: E402
from tap import finish, is_quick, ok  # noqa: E402

# Name, declaration, external type, MPI datatype.
KINDS = [
    ("text", "character(len=3)", "nf90_char", "MPI_CHARACTER"),
    ("int1", "integer(c_int8_t)", "nf90_byte", "MPI_INTEGER1"),
    ("int2", "integer(c_int16_t)", "nf90_short", "MPI_INTEGER2"),
    ("int4", "integer(c_int)", "nf90_int", "MPI_INTEGER"),
    ("int8", "integer(c_int64_t)", "nf90_int64", "MPI_INTEGER8"),
    ("real4", "real(c_float)", "nf90_float", "MPI_REAL"),
    ("real8", "real(c_double)", "nf90_double", "MPI_DOUBLE_PRECISION"),
]
WITH_MPI_F08 = with_mpi_f08()
OPERATIONS = ["put{}", "put{}_all", "get{}", "get{}_all", "iput{}", "iget{}", "bput{}"]
QUICK = is_quick()
RANKS = [0, 3, 7] if QUICK else range(8)
RANKS_OF_ALL_FORMS = {0, 3} if QUICK else range(8)
SECTIONS_OF_ALL_FORMS = {3}  # of other ranks, those of the two shortest forms

PROGRAM = """\
program access
    use, intrinsic :: iso_c_binding
    use mpi
{use_f08}    use pnetcdf
    use report, only: check, finish, path, rank, ranks
    implicit none

    interface
        integer(c_int) function c_get(ncid, varid, start, count, stride, values) &
            bind(c, name='ncmpi_get_vars_double_all')
            import
            integer(c_int), value :: ncid, varid
            integer(c_int64_t), dimension(*), intent(in) :: start, count, stride
            real(c_double), dimension(*), intent(inout) :: values
        end function
        integer(c_int) function c_put(ncid, varid, start, count, stride, values) &
            bind(c, name='ncmpi_put_vars_double_all')
            import
            integer(c_int), value :: ncid, varid
            integer(c_int64_t), dimension(*), intent(in) :: start, count, stride
            real(c_double), dimension(*), intent(in) :: values
        end function
        integer(c_int) function c_get_text(ncid, varid, start, count, stride, values) &
                bind(c, name='ncmpi_get_vars_text_all')
            import
            integer(c_int), value :: ncid, varid
            integer(c_int64_t), dimension(*), intent(in) :: start, count, stride
            character(kind=c_char), dimension(*), intent(inout) :: values
        end function
        integer(c_int) function c_put_text(ncid, varid, start, count, stride, values) &
                bind(c, name='ncmpi_put_vars_text_all')
            import
            integer(c_int), value :: ncid, varid
            integer(c_int64_t), dimension(*), intent(in) :: start, count, stride
            character(kind=c_char), dimension(*), intent(in) :: values
        end function
        integer(c_int) function c_get_att(ncid, varid, name, values) bind(c, name='ncmpi_get_att_double')
            import
            integer(c_int), value :: ncid, varid
            character(kind=c_char), dimension(*), intent(in) :: name
            real(c_double), dimension(*), intent(inout) :: values
        end function
        integer(c_int) function c_get_att_text(ncid, varid, name, text) bind(c, name='ncmpi_get_att_text')
            import
            integer(c_int), value :: ncid, varid
            character(kind=c_char), dimension(*), intent(in) :: name
            character(kind=c_char), dimension(*), intent(inout) :: text
        end function
    end interface

    integer :: ncid, v, n, err, req(1), st(1), filetype, seed = 0
    logical :: text, posted, alone
    integer(MPI_OFFSET_KIND) :: elements
    integer(MPI_OFFSET_KIND), allocatable :: start(:), count(:), stride(:), map(:), starts(:,:), counts(:,:)
    character(len=:), allocatable :: wrong

    call startup()
    call check(nf90mpi_create(MPI_COMM_WORLD, path('access.nc'), ior(nf90_clobber, nf90_64bit_data), MPI_INFO_NULL, &
               ncid) == nf90_noerr, 'create')
{calls}
    call check(nf90mpi_close(ncid) == nf90_noerr, 'close')
    call finish()

contains

    subroutine startup()
        use report, only: start
        call start()
    end subroutine

    ! A new variable, with this rank's part of it and lists of blocks that make up the part.
    subroutine begin_case(name, xtype, element, shape_of_values, mine)
        character(len=*), intent(in) :: name
        integer, intent(in) :: xtype, element, shape_of_values(:), mine(:)
        integer :: k, nv, dimids(size(mine)), lengths(size(mine))
        character(len=40) :: dim

        nv = size(mine)
        err = nf90mpi_redef(ncid)
        do k = 1, nv
            write (dim, '(2a, i0)') name, '_', k
            lengths(k) = mine(k) * merge(ranks, 1, k == nv)
            err = nf90mpi_def_dim(ncid, dim, lengths(k), dimids(k))
        end do
        call check(nf90mpi_def_var(ncid, name, xtype, dimids, v) == nf90_noerr, 'define ' // name)
        call check(nf90mpi_enddef(ncid) == nf90_noerr, 'enddef')
        start = [(1_MPI_OFFSET_KIND, k = 1, nv)]
        start(nv) = 1 + rank * mine(nv)
        count = shape_of_values
        stride = [(1_MPI_OFFSET_KIND, k = 1, nv)]
        map = [(product(count(k + 1:)), k = 1, nv)]
        elements = product(count)
        n = int(elements)
        text = xtype == nf90_char
        starts = spread(start, 2, 2)
        counts = spread(count, 2, 2)
        counts(nv, 1) = max(count(nv) - 1, 1_MPI_OFFSET_KIND)
        starts(nv, 2) = start(nv) + counts(nv, 1)
        counts(nv, 2) = count(nv) - counts(nv, 1)
        if (counts(nv, 2) == 0) starts(nv, 2) = start(nv)
        call MPI_Type_create_subarray(nv, lengths, shape_of_values, int(start) - 1, MPI_ORDER_FORTRAN, element, &
            filetype, err)
        call MPI_Type_commit(filetype, err)
    end subroutine

    ! Whether an operation posts a request, and whether it wants independent data mode.
    subroutine begin_operation(name)
        character(len=*), intent(in) :: name

        posted = index(name, 'iput') + index(name, 'iget') + index(name, 'bput') == 1
        alone = .not. posted .and. index(name, '_all') == 0
        wrong = ''
        if (index(name, 'bput') == 1) err = nf90mpi_buffer_attach(ncid, 100000_MPI_OFFSET_KIND)
    end subroutine

    subroutine end_operation(name)
        character(len=*), intent(in) :: name

        if (index(name, 'bput') == 1) err = nf90mpi_buffer_detach(ncid)
        call check(wrong == '', name // wrong)
    end subroutine

    subroutine begin_put()
        seed = seed + 1
        if (alone) err = nf90mpi_begin_indep_data(ncid)
    end subroutine

    subroutine begin_get(steps)
        integer(MPI_OFFSET_KIND), intent(in) :: steps(:)

        seed = seed + 1
        if (text) then
            err = c_put_text(ncid, v - 1, c_order(start - 1), c_order(count), c_order(steps), [as_chars(series())])
        else
            err = c_put(ncid, v - 1, c_order(start - 1), c_order(count), c_order(steps), real(series(), c_double))
        end if
        if (err /= nf90_noerr) wrong = wrong // ' (C failed)'
        if (alone) err = nf90mpi_begin_indep_data(ncid)
    end subroutine

    subroutine end_call(form)
        character(len=*), intent(in) :: form

        if (err /= nf90_noerr) wrong = wrong // ' (' // form // ': ' // trim(nf90mpi_strerror(err)) // ')'
        if (alone) err = nf90mpi_end_indep_data(ncid)
        if (posted) then
            err = nf90mpi_wait_all(ncid, 1, req, st)
            if (err /= nf90_noerr .or. st(1) /= nf90_noerr) wrong = wrong // ' (wait after ' // form // ')'
        end if
    end subroutine

    subroutine end_put(form, steps)
        character(len=*), intent(in) :: form
        integer(MPI_OFFSET_KIND), intent(in) :: steps(:)
        real(c_double) :: numbers(n)
        character(kind=c_char) :: chars(n)
        logical :: good

        call end_call(form)
        if (text) then
            err = c_get_text(ncid, v - 1, c_order(start - 1), c_order(count), c_order(steps), chars)
            good = all(chars == as_chars(series()))
        else
            err = c_get(ncid, v - 1, c_order(start - 1), c_order(count), c_order(steps), numbers)
            good = all(nint(numbers) == series())
        end if
        if (err /= nf90_noerr .or. .not. good) wrong = wrong // ' (' // form // ': other values in the file)'
    end subroutine

    subroutine end_get(form, good)
        character(len=*), intent(in) :: form
        logical, intent(in) :: good

        if (.not. good) wrong = wrong // ' (' // form // ': other values in memory)'
    end subroutine

    pure function c_order(numbers) result(turned)
        integer(MPI_OFFSET_KIND), intent(in) :: numbers(:)
        integer(MPI_OFFSET_KIND) :: turned(size(numbers))

        turned = numbers(size(numbers):1:-1)
    end function

    ! The formula: the numbers of a rank's part, different for each rank and each call.
    function series() result(numbers)
        integer :: numbers(n), k

        numbers = [(mod(7 * k + 11 * rank + 13 * seed, 90), k = 1, n)]
    end function

    ! The same in the order of memory that `map` describes: the dimensions reversed.
    function mapped() result(numbers)
        integer :: numbers(n), in_file(n), k, d, rest, place

        in_file = series()
        do k = 1, n
            rest = k - 1
            place = 1
            do d = 1, size(count)
                place = place + int(map(d)) * mod(rest, int(count(d)))
                rest = rest / int(count(d))
            end do
            numbers(place) = in_file(k)
        end do
    end function

    pure function as_chars(numbers) result(chars)
        integer, intent(in) :: numbers(:)
        character(kind=c_char) :: chars(size(numbers))

        chars = achar(33 + numbers)
    end function

{helpers}
{routines}
end program access
"""

# Arrays of any rank pass as their elements in order, and strings as their characters.
HELPERS = """
    pure subroutine fill_{name}(values, numbers)
        {declaration}, intent(inout) :: values(*)
        integer, intent(in) :: numbers(:)

        values(:size(numbers)) = {conversion}
    end subroutine

    pure logical function same_{name}(values, numbers)
        {declaration}, intent(in) :: values(*)
        integer, intent(in) :: numbers(:)

        same_{name} = all(values(:size(numbers)) == {conversion})
    end function

    ! As many elements of an array have been touched as a part has.
    pure logical function touched_{name}(values, size)
        integer, intent(in) :: size
        {declaration}, intent(in) :: values(size)

        touched_{name} = sum(merge(1, 0, values /= {other})) == n
    end function
"""


def helpers(name, declaration):
    if name == "text":
        return HELPERS.format(name=name, declaration="character(len=1)", conversion="achar(33 + numbers)", other="'~'")
    function = "real" if "real" in name else "int"
    return HELPERS.format(name=name, declaration=declaration, conversion=f"{function}(numbers, kind(values))",
                          other="111")


def shapes(rank):
    """Shapes of the values and of a larger array, and the section of the latter that has the shape of the values."""
    if rank == 0:
        return [], [], ""
    if rank == 1:
        return [3], [6], "(6:1:-2)"
    section = ", ".join(["1:6:2"] + ["2:3"] * (rank - 2) + ["4:1:-3"])
    return [3] + [2] * (rank - 1), [6] + [4] * (rank - 1), f"({section})"


# Attributes and the fill value of a scalar variable that is never written. {k} is a number of the type.
ATTRIBUTES = """
    subroutine attributes_of_{name}()
        {declaration} :: one, three(3)
        real(c_double) :: numbers(3)
        integer :: no_fill

        err = nf90mpi_redef(ncid)
        call check(nf90mpi_def_var(ncid, 'fill_{name}', {xtype}, v) == nf90_noerr, 'define fill_{name}')
        call check(nf90mpi_put_att(ncid, v, 'one', {nine}) == nf90_noerr, 'put an attribute of {name}')
        call check(nf90mpi_put_att(ncid, v, 'three', [{five}, {nine}, {five}]) &
                   == nf90_noerr, 'put three of {name}')
        call check(nf90mpi_def_var_fill(ncid, v, 0, {five}) == nf90_noerr, 'def_var_fill of {name}')
        err = nf90mpi_inq_var_fill(ncid, v, no_fill, one)
        call check(err == nf90_noerr .and. no_fill == 0 .and. nint(real(one)) == 5, 'inq_var_fill of {name}')
        err = nf90mpi_enddef(ncid)
        err = nf90mpi_get_att(ncid, v, 'one', one)
        call check(err == nf90_noerr .and. nint(real(one)) == 9, 'get an attribute of {name}')
        three = 0
        err = nf90mpi_get_att(ncid, v, 'three', three)
        call check(err == nf90_noerr .and. all(nint(real(three)) == [5, 9, 5]), 'get three of {name}')
        err = c_get_att(ncid, v - 1, 'three' // c_null_char, numbers)
        call check(err == nf90_noerr .and. all(nint(numbers) == [5, 9, 5]), 'C gets three of {name}')
        err = c_get(ncid, v - 1, [1_c_int64_t], [1_c_int64_t], [1_c_int64_t], numbers)
        call check(err == nf90_noerr .and. nint(numbers(1)) == 5, 'C gets the fill value of {name}')
    end subroutine
"""
ATTRIBUTES_OF_TEXT = """
    subroutine attributes_of_text()
        character(len=3) :: three
        character(kind=c_char) :: one, chars(3)
        integer :: no_fill

        err = nf90mpi_redef(ncid)
        call check(nf90mpi_def_var(ncid, 'fill_text', nf90_char, v) == nf90_noerr, 'define fill_text')
        call check(nf90mpi_put_att(ncid, v, 'three', 'abc') == nf90_noerr, 'put an attribute of text')
        call check(nf90mpi_def_var_fill(ncid, v, 0, 'x') == nf90_noerr, 'def_var_fill of text')
        err = nf90mpi_inq_var_fill(ncid, v, no_fill, one)
        call check(err == nf90_noerr .and. no_fill == 0 .and. one == 'x', 'inq_var_fill of text')
        err = nf90mpi_enddef(ncid)
        err = nf90mpi_get_att(ncid, v, 'three', three)
        call check(err == nf90_noerr .and. three == 'abc', 'get an attribute of text')
        err = c_get_att_text(ncid, v - 1, 'three' // c_null_char, chars)
        call check(err == nf90_noerr .and. all(chars == ['a', 'b', 'c']), 'C gets the text')
        err = c_get_text(ncid, v - 1, [1_c_int64_t], [1_c_int64_t], [1_c_int64_t], chars)
        call check(err == nf90_noerr .and. chars(1) == 'x', 'C gets the fill value of text')
        three = '###'
        err = nf90mpi_get_att(ncid, v, 'none', three)
        call check(err == nf90_enotatt .and. three == '', 'a variable for text is blank after an error')
        err = nf90mpi_put_var_all(ncid, v, 'y  ')
        call check(err == nf90_noerr, 'put one character of a longer text')
        three = '###'
        err = nf90mpi_get_var_all(ncid, v, three)
        call check(err == nf90_noerr .and. three == 'y  ', 'get one character into a longer text')
        err = nf90mpi_put_var_all(ncid, v, 'y z')
        call check(err == nf90_eiomismatch, 'characters would be lost')
        err = nf90mpi_put_var_all(ncid, v, three(1:0))
        call check(err == nf90_eiomismatch, 'an empty text has no character to put')
        three = '###'
        err = nf90mpi_get_var_all(ncid, v, three(1:0))
        call check(err == nf90_eiomismatch .and. three == '###', 'an empty text has no place for one')
    end subroutine
"""


def attributes(name, declaration, xtype, _):
    if name == "text":
        return ATTRIBUTES_OF_TEXT
    five, nine = (f"{'real' if 'real' in name else 'int'}({k}, kind(one))" for k in (5, 9))
    return ATTRIBUTES.format(name=name, declaration=declaration, xtype=xtype, five=five, nine=nine)


def braces(numbers):
    return "(" + ",".join(map(str, numbers)) + ")" if numbers else ""


def forms(rank, mpi_type, operation):
    """Name, generic, arguments after the values, stride along the fastest dimension, whether map turns the values."""
    yield "start", "_var", "start", 1, False
    yield "varn", "_varn", "starts, counts", 1, False
    if rank in RANKS_OF_ALL_FORMS:
        yield "start, count", "_var", "start, count", 1, False
        yield "stride", "_var", "start, count, stride", 2, False
        yield "map", "_var", "start, count, map=map", 1, True
        yield "varn with num", "_varn", "2, starts, counts", 1, False
        for types, buftype in (("", mpi_type), (", mpi_f08", f"datatype({mpi_type})"))[:1 + WITH_MPI_F08]:
            yield "flexible" + types, "_var", f"start, count, bufcount=elements, buftype={buftype}", 1, False
            yield "flexible varn" + types, "_varn", f"2, starts, counts, elements, {buftype}", 1, False
            filetype = "filetype" if buftype == mpi_type else "datatype(filetype)"
            if operation[0] in "pg":
                yield ("vard" + types, "_vard", f"{filetype}, &\n            buf={{values}}, &\n"
                       f"            bufcount=elements, buftype={buftype}", 1, False)
    if rank == 0:
        yield "varn of a value", "_varn", "value={values}, start=starts, count=counts", 1, False


def access(operation, form, kind, rank, section):
    """The lines of one call and what surrounds it."""
    name, generic, arguments, stride, turned = form
    _, _, place = shapes(rank)
    length = " * 3" if kind == "text" else ""
    numbers = "mapped()" if turned else "series()"
    label = f"'{name}{' of a section' if section else ''}'"
    other = "'~~~'" if kind == "text" else "111"
    array = "large" + place if section else "a" if rank else "a(1)"
    if "{values}" in arguments:
        values = (["req=req(1)"] if operation[0] in "ib" else []) + [arguments.format(values=array)]
    else:
        values = [array] + (["req(1)"] if operation[0] in "ib" else []) + [arguments]
    more = ", &\n            "
    call = f"err = nf90mpi_{operation.format(generic)}(ncid, v" + more + more.join(values) + ")"
    lines = [f"stride(1) = {stride}"]
    if "get" not in operation:
        lines += ["call begin_put()", f"call fill_{kind}(a, {numbers})", f"large{place} = a" if section else "", call,
                  f"call end_put({label}, stride)"]
    elif section:
        lines += ["call begin_get(stride)", f"large = {other}", call, f"call end_call({label})", f"a = large{place}",
                  f"call end_get({label}, same_{kind}(a, {numbers}) .and. touched_{kind}(large, size(large){length}))"]
    else:
        lines += ["call begin_get(stride)", f"a = {other}", call, f"call end_call({label})",
                  f"call end_get({label}, same_{kind}(a, {numbers}))"]
    return ["        " + line for line in lines if line]


def routine(kind, declaration, xtype, mpi_type, rank):
    shape, large, _ = shapes(rank)
    counted = ([3] if kind == "text" else []) + shape or [1]
    mine = ([6] if kind == "text" or rank else [1]) + counted[1:]
    lines = [f"    subroutine test_{kind}_{rank}()",
             f"        {declaration}, asynchronous :: a{braces(shape or [1])}" +
             (f", large{braces(large)}" if rank else ""),
             "",
             f"        call begin_case('{kind}_{rank}', {xtype}, {mpi_type}, {counted}, {mine})"]
    for operation in OPERATIONS:
        name = operation.format(f" of {kind}, rank {rank}:")
        lines.append(f"        call begin_operation('{operation.format('')}')")
        for form in forms(rank, mpi_type, operation):
            with_section = rank in SECTIONS_OF_ALL_FORMS or (rank > 0 and form[0] in ("start", "varn"))
            for section in [False, True] if with_section else [False]:
                lines += access(operation, form, kind, rank, section)
        lines.append(f"        call end_operation('{operation.format('')} of {kind}, rank {rank}')")
    lines.append("        call MPI_Type_free(filetype, err)")
    return "\n".join(lines + ["    end subroutine", ""])


def check_completeness(called):
    """The program has to have called each specific: the procedures of the module, and what attributes are bound to."""
    with open(os.path.join(BUILD, "src", "binding", "f90", "pnetcdf.f90"), encoding="utf-8") as file:
        text = file.read()
    wanted = set(re.findall(r"^        procedure :: ((?:i|b|)(?:put|get)_var\w+)", text, re.M))
    bound = set(re.findall(r'name="(pncf90_(?:(?:put|get)_att_|(?:def|inq)_var_fill_)\w+)"', text))
    missing = [name for name in wanted
               if not any(re.search(rf"pnetcdf_\w*[Pp_]{name}_?$", symbol) for symbol in called)]
    missing += bound - called
    ok(len(wanted) > 200 and len(bound) > 35 and not missing,
       f"all {len(wanted) + len(bound)} specifics were called", sorted(missing))


def main():
    need_module()
    program = PROGRAM.format(
        use_f08="    use mpi_f08, only: datatype => MPI_Datatype\n" if WITH_MPI_F08 else "",
        helpers="".join(helpers(*kind[:2]) for kind in KINDS),
        routines="\n".join([routine(*kind, rank) for kind in KINDS for rank in RANKS] +
                           [attributes(*kind) for kind in KINDS]),
        calls="\n".join([f"    call test_{kind[0]}_{rank}()" for kind in KINDS for rank in RANKS] +
                        [f"    call attributes_of_{kind[0]}()" for kind in KINDS]))
    program = compile_program("access", program)
    for ranks in (1, 4):
        status, output, errors, called = run_counting(ranks, program, "access.o")
        check_completeness(called)
        lines = output.splitlines()
        for line in lines:
            if line.startswith(("ok", "not ok")):
                ok(line.startswith("ok"), f"np={ranks}: {line.partition('- ')[2].strip()}", errors)
        ok(status == 0 and any(line.startswith("# finished after") for line in lines), f"np={ranks}: came to its end",
           output[-2000:] + errors)
    finish()


main()
