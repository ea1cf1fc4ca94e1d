"""A limit for collective calls (PNETCDF_TIMEOUT) where a rank has ended or the program is to end: test/mpi/test_timeout
with an argument. The other ranks return NC_ETIMEOUT while one is in MPI_Finalize; with ",abort" the program ends."""
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
tap.finish()
