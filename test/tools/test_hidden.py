"""Tests of the library in C pass, too, with the hints that hide the time of I/O, which change when it happens, and
nothing that these programs look at. Tests that look at it have cases of their own for the hints."""
# needs: python
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

LOGS = os.path.abspath(tap.scratch("hidden_logs"))
SOME = ["bad_input", "misuse", "nonblocking", "transfer"]
MORE = ["attributes", "buftype", "collective_errors", "define", "extremes", "file_order", "fill", "interrupted",
        "large_header", "many_files", "mpi_failure", "redef_move", "two_handles"]
HINTS = {"delayed writes, prefetch and deferred puts":
         "nc_write_behind=enable;nc_prefetch=enable;nc_defer_puts=enable",
         "burst buffer": f"nc_burst_buf=enable;nc_burst_buf_dirname={LOGS}"}

os.makedirs(LOGS, exist_ok=True)
programs = tap.choose(SOME, SOME, SOME + MORE)
sizes = tap.choose([(2, 1)], [(4, 2)], [(1, 1), (2, 1), (4, 2)])


def run(name, ranks, nodes, text):
    """With the cases of a quick run."""
    environment = {**os.environ, "PNETCDF_HINTS": HINTS[text], "MPIR_CVAR_NUM_CLIQUES": str(nodes),
                   "PNC_TEST_QUICK": "1"}
    status, output, errors = tap.run_mpi(ranks, f"test/mpi/test_{name}", env=environment)
    bad = [line for line in output.splitlines() if line.startswith(("not ok", "# "))]
    tap.ok(status == 0 and "ok" in output and "not ok" not in output,
           f"test_{name} with {text}, {ranks} ranks on {nodes} nodes", (status, bad, errors))


for hints in HINTS:
    for program in programs:
        for size in sizes:
            run(program, *size, hints)
    left = [name for name in os.listdir(LOGS) if not name.startswith("misuse.nc")] # as after a death
    tap.ok(not left, f"{hints}: no log is left of files that were closed", left)
tap.finish()
