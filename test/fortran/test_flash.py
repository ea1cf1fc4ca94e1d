"""benchmarks/bench_flash with a small problem: it verifies its files; this test compares them again with its formula,
and with the copy of their bytes that MPI-IO wrote."""
# needs: python
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, ok, run_mpi, scratch, skip  # noqa: E402

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
PROGRAM = "benchmarks/bench_flash"
CELLS, BLOCKS = 4, 3
NAMES = ["dens", "pres", "temp", "ener", "velx", "vely", "velz", "eint", "gamc", "game", "enuc", "gpot", "h1", "he3",
         "he4", "c12", "n14", "o16", "ne20", "mg24", "si28", "s32", "ar36", "fe54"]


def cell(variable, block, i, j, k):
    value = 1 + (40009 * variable + 1021 * block + i + 97 * j + 9409 * k) % 1048576
    return value if 1 <= min(i, j, k) and max(i, j, k) <= CELLS else -value


def corner(variable, block, i, j, k):
    return sum(cell(variable, block, a, b, c) for a in (i - 1, i) for b in (j - 1, j) for c in (k - 1, k)) / 8


def read(name):
    with open(scratch(name), "rb") as file:
        return file.read()


def dumped(path):
    """{variable: its values} of a file, by ncmpidump."""
    text = subprocess.run([os.path.join(BUILD, "src/tools/ncmpidump/ncmpidump"), "-p", "9,17", path],
                          capture_output=True, text=True, check=False).stdout
    return {name: [float(value) for value in values.split(",")]
            for name, values in re.findall(r"^ (\w+) =([^;]*);", text.partition("\ndata:\n")[2], re.M)}


def check_values(name, ranks, number, side, formula):
    found = dumped(scratch(name + ".nc"))
    wrong = []
    for variable in range(1, number + 1):
        expected = [formula(variable, block, i, j, k) for block in range(1, BLOCKS * ranks + 1)
                    for k in range(1, side + 1)
                    for j in range(1, side + 1) for i in range(1, side + 1)]
        if found.get(NAMES[variable - 1]) != expected:
            wrong.append(NAMES[variable - 1])
    ok(not wrong and len(found) == 5 + number, f"np={ranks}: {name} holds {number} variables, and no guard cell", wrong)
    ok(found.get("lrefine") == [1] * BLOCKS * ranks and
       found.get("gid") == [block for block in range(1, BLOCKS * ranks + 1) for _ in range(15)] and
       found.get("bnd_box", [])[:6] == [0, 1, 0, 1, 0, 1] and found.get("coordinates",
                                                                        [])[-3:] == [BLOCKS * ranks - 0.5, 0.5, 0.5],
       f"np={ranks}: {name} holds the metadata of the blocks", found.get("gid"))
    ok(read(name + ".nc") == read(name + ".raw"), f"np={ranks}: MPI-IO wrote the bytes of {name}")


def main():
    if not os.path.exists(os.path.join(BUILD, PROGRAM)):
        skip("bench_flash", "the library is built without the module pnetcdf or MPI without mpi_f08")
        finish()
    for ranks in (1, 4):
        status, output, errors = run_mpi(ranks, PROGRAM, "--cells", CELLS, "--blocks", BLOCKS, "--rounds", 1, "--keep",
                                         "--dir", scratch("."))
        ok(status == 0 and len(re.findall(r"^\S.* \d+\.\d+$", output, re.M)) == 3, f"np={ranks}: it writes three files",
           output + errors)
        check_values("flash_checkpoint", ranks, 24, CELLS, cell)
        check_values("flash_plot", ranks, 4, CELLS, cell)
        check_values("flash_plot_corners", ranks, 4, CELLS + 1, corner)
    status, output, errors = run_mpi(1, PROGRAM, "--cells", "many")
    ok(status != 0 and "--cells" not in output and "many" in errors, "a number that is none is refused", errors)
    finish()


main()
