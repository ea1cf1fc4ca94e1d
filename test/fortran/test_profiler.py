"""A profiler that wraps the functions of C sees from Fortran what it would see from C: each nfmpi_ procedure calls the
function of its name, each nf90mpi_ generic the one of its operation, shape and type, both once.

The profiler is generated from pnetcdf.h and linked in front of the library; it prints the names of what is called. The
program is generated too, and says before each call which it is going to make.
"""
# needs: python
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fortran import BUILD, build_profiled, need_module  # noqa: E402
from tap import finish, ok, run_mpi, skip  # noqa: E402

# Fortran's word for a type, C's, declaration, external type, MPI datatype.
KINDS = [
    ("text", "text", "character", "nf90_char", "MPI_CHARACTER"),
    ("int1", "schar", "integer(c_int8_t)", "nf90_byte", "MPI_INTEGER1"),
    ("int2", "short", "integer(c_int16_t)", "nf90_short", "MPI_INTEGER2"),
    ("int", "int", "integer(c_int)", "nf90_int", "MPI_INTEGER"),
    ("int8", "longlong", "integer(c_int64_t)", "nf90_int64", "MPI_INTEGER8"),
    ("real", "float", "real(c_float)", "nf90_float", "MPI_REAL"),
    ("double", "double", "real(c_double)", "nf90_double", "MPI_DOUBLE_PRECISION"),
]
INDEPENDENT = ["put{}", "get{}", "iput{}", "iget{}", "bput{}"]
COLLECTIVE = ["put{}_all", "get{}_all"]

BUFFER = """\
    {declaration}, save, asynchronous :: a_{name}(2, 2), large_{name}(4, 2)
    data a_{name}, large_{name} / 12 * {value} /
"""
PROGRAM = """\
program profiled
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
    integer, parameter :: offset = MPI_OFFSET_KIND
    integer(offset), parameter :: one = 1, four = 4
    integer(offset), dimension(2), parameter :: start = 1, stride = 1, imap = [1, 2]
    integer(offset), dimension(2), parameter :: count = [2, 2]
    integer(offset), dimension(2, 1), parameter :: starts = 1, counts = 2, ones = 1
    integer :: err, ncid, dims(2), req
    integer :: {variables}
{buffers}

    call MPI_Init(err)
    call try(nf90mpi_create(MPI_COMM_WORLD, 'profiled.nc', ior(nf90_clobber, nf90_64bit_data), MPI_INFO_NULL, ncid))
    call try(nf90mpi_def_dim(ncid, 'x', 2, dims(1)))
    call try(nf90mpi_def_dim(ncid, 'y', 2, dims(2)))
{definitions}
    call try(nf90mpi_enddef(ncid))
    call try(nf90mpi_buffer_attach(ncid, 1000000_offset))
    call collective()
    call try(nf90mpi_begin_indep_data(ncid))
    call independent()
    call try(nfmpi_wait(ncid, nf_req_all, dims, dims))
    call try(nf90mpi_end_indep_data(ncid))
    call try(nf90mpi_buffer_detach(ncid))
    call try(nf90mpi_close(ncid))
    call print_line('end' // c_null_char)
    call MPI_Finalize(err)

contains

    subroutine try(err)
        integer, intent(in) :: err

        if (err /= nf90_noerr) call print_line('failed: ' // trim(nf90mpi_strerror(err)) // c_null_char)
    end subroutine

{subroutines}
end program profiled
"""


def f77_calls(operation):
    """Each procedure of an operation, as (call, the function of C that it should reach)."""
    request = ", req" if operation[0] in "ib" else ""
    for shape, place in (("", ""), ("1", "start, "), ("a", "start, count, "), ("s", "start, count, stride, "),
                         ("m", "start, count, stride, imap, "), ("n", "1, starts, counts, ")):
        for kind, in_c, *_ in KINDS:
            name = operation.format("_var" + shape + "_{}")
            yield f"nfmpi_{name.format(kind)}(ncid, v_{kind}, {place}a_{kind}{request})", "ncmpi_" + name.format(in_c)
        name = operation.format("_var" + shape)
        number = "one" if shape == "1" else "four"
        yield f"nfmpi_{name}(ncid, v_real, {place}a_real, {number}, MPI_REAL{request})", "ncmpi_" + name


def f90_calls(operation):
    request = "req, " if operation[0] in "ib" else ""
    for kind, in_c, _, _, mpi_type in KINDS:
        values, section = f"a_{kind}", f"large_{kind}(::2, :)"
        scalar = "vara" if kind == "text" else "var1"  # the length of a string is a dimension
        for shape, form, array, arguments, suffix in (
                (scalar, "var", f"a_{kind}(1, 1)", "start", in_c), ("vara", "var", values, "start", in_c),
                ("vara", "var", values, "start, count", in_c), ("vars", "var", values, "start, count, stride", in_c),
                ("varm", "var", values, "map=imap", in_c), ("varn", "varn", values, "starts, counts", in_c),
                ("varn", "varn", values, "1, starts, counts", in_c), ("varn", "varn", f"a_{kind}(1, 1)", "ones", in_c),
                ("vara", "var", section, "start", ""),
                ("varn", "varn", section, "starts, counts", ""),
                ("vara", "var", values, f"start, buftype={mpi_type}", ""),
                ("varn", "varn", values, f"1, starts, counts, four, {mpi_type}", "")):
            name = operation.format(f"_{shape}_{suffix}".rstrip("_"))
            call = f"nf90mpi_{operation.format('_' + form)}"
            yield f"{call}(ncid, v_{kind}, {array}, {request}{arguments})", "ncmpi_" + name


def attribute_calls():
    for kind, in_c, _, xtype, _ in KINDS:
        name = f"ncmpi_put_att_{in_c}"
        if kind == "text":
            yield "nf90mpi_put_att(ncid, v_text, 'b', 'text')", name
            yield "nfmpi_put_att_text(ncid, v_text, 'a', one, 'text')", name
        else:
            yield f"nf90mpi_put_att(ncid, v_{kind}, 'b', a_{kind}(1, 1))", name
            yield f"nf90mpi_put_att(ncid, v_{kind}, 'b', a_{kind}(:, 1))", name
            yield f"nfmpi_put_att_{kind}(ncid, v_{kind}, 'a', {xtype}, one, a_{kind})", name
            yield f"nf90mpi_get_att(ncid, v_{kind}, 'a', a_{kind}(:, 1))", name.replace("put", "get")
        yield f"nfmpi_get_att_{kind}(ncid, v_{kind}, 'a', a_{kind})", name.replace("put", "get")


def subroutines(calls):
    """Statements that print each call and make it, in subroutines of a size that compilers accept."""
    for name, some in calls.items():
        yield f"    subroutine {name}()"
        for call, _ in some:
            yield f"        call print_line('{call.partition('(')[0]}' // c_null_char)"
            yield "        call try(" + call.replace(", ", ", &\n" + " " * 12, 1) + ")"
        yield "    end subroutine\n"


def build(calls, attributes):
    """The program, or None with a reason."""
    lists = {"collective": calls["collective"], "independent": calls["independent"]}
    definitions = "\n".join(f"    call try(nf90mpi_def_var(ncid, '{k[0]}', {k[3]}, dims, v_{k[0]}))" for k in KINDS)
    definitions += "\n    call attributes()"
    buffers = "\n".join(BUFFER.format(declaration=k[2], name=k[0], value="'a'" if k[0] == "text" else "1")
                        for k in KINDS)
    text = PROGRAM.format(variables=", ".join("v_" + k[0] for k in KINDS), buffers=buffers, definitions=definitions,
                          subroutines="\n".join(subroutines({**lists, "attributes": attributes})))
    return build_profiled("profiled", text, r"ncmpi_(?:i|b|)(?:put|get)_(?:var|att)\w*")


def main():
    need_module()
    if not os.path.exists(os.path.join(BUILD, ".libs", "libpnetcdf.so")):
        skip("profiler", "this build has no shared library")
        finish()
    calls = {}
    for mode, operations in (("collective", COLLECTIVE), ("independent", INDEPENDENT)):
        calls[mode] = [call for operation in operations for call in (*f77_calls(operation), *f90_calls(operation))]
    attributes = list(attribute_calls())
    program, why = build(calls, attributes)
    if not ok(program, "program and profiler are built", why):
        finish()
    os.chdir(os.path.dirname(program) or ".")
    status, output, errors = run_mpi(1, os.path.abspath(os.path.basename(program)))
    lines = output.splitlines()
    ok(status == 0 and lines[-1:] == ["end"], "the program comes to its end", output[-1000:] + errors)
    ok("failed" not in output, "all calls succeed", "\n".join(line for line in lines if "failed" in line))
    made = attributes + calls["collective"] + calls["independent"]
    expected = [text for call, in_c in made for text in (call.partition("(")[0], "  " + in_c)]
    wrong = [f"{call}: it was{found}" for (call, in_c), found in zip(made, lines[1::2]) if found != "  " + in_c]
    ok(len(made) > 900 and lines[:-1] == expected,
       f"each of {len(made)} calls reaches its function of C, and only that",
       "\n".join(wrong[:20]) or f"{len(lines)} lines")
    finish()


main()
