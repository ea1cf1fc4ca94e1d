"""Module pnetcdf has the names that programs use: each procedure of f90_names.txt takes its arguments in that order and
by those keywords, of each type and rank, with and without the optional ones; each constant has its value."""
# needs: python
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fortran import HERE, compile_source, link, need_module  # noqa: E402
from tap import finish, make_variable, ok, run_mpi, scratch  # noqa: E402

KINDS = {"text": "character(len=8)", "byte": "integer(1)", "short": "integer(2)", "int": "integer(4)",
         "long": "integer(8)", "float": "real(4)", "double": "real(8)"}
VARIABLES = {"integer": "i", "integer(:)": "list", "offset": "o", "offset(:)": "places", "offset(:,:)": "table",
             "text": "t", "logical": "l"}
# Of attributes there are scalars and vectors, but one text; of fill values, and of what is called `value', scalars.
RANKS = {"values": range(8), "buf": range(8), "value": [0], "fill_value": [0]}

PROGRAM = """\
    use mpi
    use pnetcdf
    implicit none
    integer :: i, list(3)
    integer(kind=MPI_OFFSET_KIND) :: o, places(8), table(8, 3)
    character(len=80) :: t
    logical :: l
{variables}
"""


def rows():
    """[(procedure, [(argument, type, whether it is optional)])] and [(constant, what it equals)]."""
    procedures, constants = [], []
    with open(os.path.join(HERE, "f90_names.txt"), encoding="utf-8") as file:
        for line in file:
            name, *words = line.split() or ["#"]
            if name.startswith("nf90mpi_"):
                arguments = [word.rstrip("?").split(":", 1) + [word.endswith("?")] for word in words]
                procedures.append((name, arguments))
            elif name.startswith(("nf90_", "pnetcdf_")):
                equal = words[0] if words else name.replace("nf90_", "nf_")
                constants.append((name, make_variable(equal[1:])[0] if equal.startswith("@") else equal))
    return procedures, constants


def ranks_of(procedure, argument, kind):
    if "_att" in procedure:
        return [0] if kind == "text" else [0, 1]
    return RANKS[argument]


def values_of(procedure, argument):
    """Names of variables of each type and rank that the argument takes. A fill value is one character."""
    for kind in KINDS:
        for rank in ranks_of(procedure, argument, kind):
            yield "t(1:1)" if argument == "fill_value" and kind == "text" else f"{kind}{rank}"


def calls_of(procedure, arguments):
    """A list of statements: all arguments by position, by keyword, and those that have to be there."""
    of_any = [name for name, kind, _ in arguments if kind == "any"]
    for value in values_of(procedure, of_any[0]) if of_any else [None]:
        actual = [(name, value if kind == "any" else VARIABLES[kind], optional) for name, kind, optional in arguments]
        forms = [[what for _, what, _ in actual], [f"{name}={what}" for name, what, _ in reversed(actual)],
                 [f"{name}={what}" for name, what, optional in actual if not optional]]
        for form in forms:
            yield f"    print *, {procedure}({', &{}            '.format(chr(10)).join(form)})"


def check_calls(procedures):
    variables = "\n".join(f"    {declaration} :: {kind}{rank}" + (f"({','.join('2' * rank)})" if rank else "")
                          for kind, declaration in KINDS.items() for rank in range(8))
    head = PROGRAM.format(variables=variables)
    number = 0
    for procedure, arguments in procedures:
        calls = list(calls_of(procedure, arguments))
        number += len(calls)
        text = "program names\n" + head + "\n".join(calls) + "\nend program names\n"
        status, messages = compile_source("names.f90", text, ["-fsyntax-only"])
        ok(status == 0, f"{procedure}: {len(calls)} calls by position and by keyword", messages[:2000])
    ok(len(procedures) >= 80 and number > 1500, f"{len(procedures)} procedures, {number} calls")


def check_constants(constants):
    lines = "\n".join(f"    if (real({name}, 8) /= real({equal}, 8)) &\n        print *, 'other value:', '{name}'"
                      for name, equal in constants)
    text = ("program constants\n    use pnetcdf\n    implicit none\n"
            f"{lines}\n    print *, 'end'\nend program constants\n")
    status, messages = compile_source("constants.f90", text)
    if ok(status == 0, f"{len(constants)} constants are there", messages[:2000]):
        status, messages = link("constants", ["constants.o"])
        status, output, errors = run_mpi(1, scratch("constants"))
        ok(len(constants) > 240 and output.split() == ["end"], "they have their values", output + errors + messages)


def main():
    need_module()
    procedures, constants = rows()
    check_calls(procedures)
    check_constants(constants)
    finish()


main()
