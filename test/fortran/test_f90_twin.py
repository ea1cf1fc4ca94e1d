"""examples/F90/shallow_water writes, byte for byte, the files of examples/C/shallow_water, and restarts from them."""
# needs: python
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, ok, run_mpi, scratch, skip  # noqa: E402

MODEL = "examples/{}/shallow_water/shallow_water"
OPTIONS = ["--nx", 37, "--ny", 23, "--spacing", "40000"]
RUN = ["--steps", 30, "--history-every", 10]


def read(name):
    with open(scratch(name), "rb") as file:
        return file.read()


def run(language, ranks, name, *options):
    status, output, errors = run_mpi(ranks, MODEL.format(language), *options, *RUN, "--history", scratch("history"),
                                     "--checkpoint", scratch(name))
    ok(status == 0, f"{name}: the model in {language} runs on {ranks} ranks", output + errors)


def history():
    """The file of the last run: header up to the attribute history, which differs, and all records."""
    text = read("history")
    dates = re.findall(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: ", text)
    place = text.find(dates[0]) if dates else 0
    return len(dates), text[:place - 8], text[-40000:]


def main():
    if not os.path.exists(os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), MODEL.format("F90"))):
        skip("the model in Fortran", "the library is built without the module pnetcdf or MPI without mpi_f08")
        finish()
    run("C", 2, "c.nc", *OPTIONS)
    in_c = history()
    run("F90", 2, "f90.nc", *OPTIONS)
    in_fortran = history()
    ok(read("c.nc") == read("f90.nc"), "the checkpoints are the same, byte for byte")
    ok(in_c == in_fortran, "so are header and data of the histories, but for the line of the command",
       f"{in_c[0]} and {in_fortran[0]} dates")
    run("F90", 4, "half.nc", *OPTIONS, "--stop-after", 17)
    run("F90", 3, "rest.nc", "--restart", scratch("half.nc"))
    ok(read("c.nc") == read("rest.nc"),
       "a run that is stopped, and continued with fewer ranks, ends with the same checkpoint")
    finish()


main()
