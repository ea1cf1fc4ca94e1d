"""A netCDF-4 file of many small chunks: the memory of each rank is bounded, and other readers find the same values.
Long: 1,000,000 chunks on 1, 2 and 4 ranks."""
import os
import re
import shutil
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, ok, run_mpi, scratch, skip  # noqa: E402

PROGRAM = "test/interop/netcdf4_many"
COLUMNS = 4000
MEBIBYTE = 1 << 20
# Of the library, however many chunks there are: of rank 0, which registers up to 2^18 at once, and of another rank.
MOST_OF_FIRST, MOST_OF_OTHERS = 112 * MEBIBYTE, 64 * MEBIBYTE


def check(ranks, records):
    path = scratch("many.nc")
    chunks = records * COLUMNS // 4
    status, out, err = run_mpi(ranks, PROGRAM, path, records, COLUMNS, 10)
    found = {int(rank): int(n) for rank, n in re.findall(r"rank (\d+): (\d+) bytes", out)}
    most = {rank: MOST_OF_OTHERS if rank > 0 else MOST_OF_FIRST for rank in range(ranks)}
    ok(status == 0 and "wrong" not in out and len(found) == ranks and all(found[r] < most[r] for r in found),
       f"{chunks} chunks on {ranks} ranks: {[n // MEBIBYTE for n in found.values()]} MiB", f"{most}\n{out}{err}")
    print("\n".join(f"# {line}" for line in out.splitlines()))
    with netCDF4.Dataset(path) as file:
        wanted = 7 * np.arange(records)[:, None] + np.arange(COLUMNS)
        ok(np.array_equal(file["v"][...], wanted), f"{chunks} chunks of {ranks} ranks: netCDF4-python reads them")
    if shutil.which("h5dump") is not None:
        done = subprocess.run(["h5dump", "-H", path], capture_output=True, text=True, check=False)
        ok(done.returncode == 0 and not done.stderr and 'DATASET "v"' in done.stdout,
           f"{chunks} chunks of {ranks} ranks: h5dump does not complain", done.stderr)
    os.unlink(path)


if "NC_ENOTBUILT" in run_mpi(1, PROGRAM, scratch("first.nc"), 1, 4, 1)[1]:
    skip("many chunks", "the build is without HDF5")
    finish()
for n in choose((2,), (1, 2), (1, 2, 4)):
    check(n, choose(20, 500, 1000))
finish()
