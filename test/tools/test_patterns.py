"""Patterns of PNETCDF_HINTS that match no file (test/tools/open_files): with PNETCDF_HINTS_DISPLAY, rank 0 names each
of them once in MPI_Finalize, and none that matches a file of any rank."""
# needs: python
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

ONE, TWO, WRF = (tap.scratch(name) for name in ("one.nc", "two.dat", "wrfout_d01_2005-08-28_00:00:00"))
EXACT = "matches no file that was opened"
PARTIAL = "matches no file that rank 0 has opened, and not all ranks have reported theirs"


def run(ranks, hints, arguments, display="1"):
    """What the program prints about patterns: a list of (pattern, text). Without a display, nothing is printed."""
    environment = dict(os.environ, PNETCDF_HINTS=hints)
    environment.pop("PNETCDF_HINTS_DISPLAY", None)
    if display is not None:
        environment["PNETCDF_HINTS_DISPLAY"] = display
    status, output, text = tap.run_mpi(ranks, "test/tools/open_files", *arguments, env=environment)
    tap.ok(status == 0, f"{ranks} ranks, {hints}: the program ends", (status, output, text))
    tap.ok(display == "1" or "PnetCDF" not in text, f"{ranks} ranks, {hints}: no text without a display", text)
    return re.findall(r'^PnetCDF: PNETCDF_HINTS: the pattern "(.*?)" (.*)$', text, re.M)


def expect(ranks, hints, arguments, wanted, display="1", how=EXACT):
    got = run(ranks, hints, arguments, display)
    tap.ok(got == [(pattern, how) for pattern in wanted],
           f"{ranks} ranks, {hints}, display {display}: {len(wanted)} patterns are named", f"{got}, not {wanted}")


for n in (1, 4):
    expect(n, "*.nc4:cb_nodes=1", ["all", ONE], ["*.nc4"])
    expect(n, "*.nc:cb_nodes=1", ["all", ONE], [])
    expect(n, "cb_nodes=1; *.nc4 :cb_nodes=1, one*:cb_nodes=1 ,x/*.nc:cb_nodes=1;?:cb_nodes=2", ["all", ONE],
           ["*.nc4", "x/*.nc", "?"])
    expect(n, "one*:cb_nodes=1,*.nc:cb_nodes=1", ["all", ONE], [])  # the second one matches, too
    expect(n, "*.nc:cb_nodes=1", ["all", WRF], ["*.nc"])
    expect(n, "wrfout*:cb_nodes=1", ["all", WRF], [])
    expect(n, "cb_nodes=1", ["all", ONE], [])
    expect(n, "*.nc4:cb_nodes=1", ["all", ONE], [], display=None)
    expect(n, "*.nc4:cb_nodes=1", ["all", ONE], [], display="0")
    expect(n, "*.nc4:cb_nodes=1", [], [])  # no rank knows that the library is there
    expect(n, "*.dat:cb_nodes=1,*.x:cb_nodes=1", ["all", ONE, "all", TWO], ["*.x"])
    many = [f"{i}.nc" for i in range(70)]
    expect(n, ",".join(f"{name}:cb_nodes=1" for name in many), ["all", ONE], many[:64])

# files that not all ranks open
expect(4, "*.nc:cb_nodes=1,*.dat:cb_nodes=1,*.x:cb_nodes=1", ["first", ONE, "others", TWO], ["*.x"])
expect(4, "*.dat:cb_nodes=1", ["others", TWO], [])
expect(4, "*.x:cb_nodes=1", ["others", TWO], [])  # rank 0 knows nothing
expect(4, "*.nc:cb_nodes=1,*.x:cb_nodes=1", ["first", ONE], ["*.x"], how=PARTIAL)
for path in (ONE, TWO, WRF):
    os.remove(path)
tap.finish()
