"""A limit for collective calls (PNETCDF_TIMEOUT) in programs of their own: test/mpi/test_timeout with an argument. The
other ranks return NC_ETIMEOUT while one is in MPI_Finalize; with ",abort" the program ends; with threads a rank that
opens a file too late does not stop later openings."""
# needs: python
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

PROGRAM = "test/mpi/test_timeout"
TABLE = "rank 0: no call, and no answer"

for n in (2, 4):
    status, _, text = tap.run_mpi(n, PROGRAM, "finalize")
    tap.ok(status == 0 and text.count("put: NC_ETIMEOUT; close: NC_ETIMEOUT\n") == n - 1 and text.count(TABLE) == 1,
           f"one of {n} ranks is in MPI_Finalize: the others return an error, and the program ends", (status, text))
    status, _, text = tap.run_mpi(n, PROGRAM, "abort")
    tap.ok(status != 0 and text.count(TABLE) == 1 and "put:" not in text, f"abort ends {n} ranks", (status, text))
status, output, text = tap.run_mpi(4, PROGRAM, "threads")
if status == 0 and "# SKIP" in output:
    tap.skip("4 ranks open files with threads", "this MPI library does not provide MPI_THREAD_MULTIPLE")
else:
    tap.ok(status == 0 and "# finished after" in output and "not ok" not in output, "4 ranks open files with threads",
           (status, output, text))
tap.finish()
