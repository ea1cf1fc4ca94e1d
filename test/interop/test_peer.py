"""The same calls, right and wrong, with this library and with another libpnetcdf (Debian's libpnetcdf-dev, on Open
MPI): each call of peer_calls.c returns the same code and the same values.

PNC_TEST_PEER names the folder under which the package was unpacked, where it is not installed.
"""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, ok, run_mpi, scratch, skip  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_calls.c")
PREFIX = os.path.join(os.environ.get("PNC_TEST_PEER", "/"), "usr")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def find():
    """The folder of the other library, or None."""
    found = glob.glob(PREFIX + "/lib/*/libpnetcdf.so")
    return os.path.dirname(found[0]) if found and os.path.exists(PREFIX + "/include/pnetcdf.h") else None


def run_peer(ranks, folder):
    """Returns (exit status, stdout, stderr)."""
    program = scratch("peer_calls")
    done = subprocess.run(["mpicc.openmpi", "-I" + PREFIX + "/include", SOURCE, "-o", program, "-L" + folder,
                           "-Wl,-rpath," + folder, "-lpnetcdf"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        done = subprocess.run(["mpiexec.openmpi", "--oversubscribe", "-n", str(ranks), program, scratch("peer.nc")],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                              env=dict(os.environ, **AS_ROOT))
    return done.returncode, done.stdout, done.stderr


def sections(printed):
    """Lines by the section that they name."""
    found = {}
    for line in printed.splitlines():
        if "| " in line:
            name, call = line.split("| ", 1)
            found.setdefault(name, []).append(call)
    return found


def compare(ranks, folder):
    status, printed, errors = run_peer(ranks, folder)
    if not ok(status == 0, f"the other library, {ranks} ranks", errors):
        return
    theirs = sections(printed)
    status, printed, errors = run_mpi(ranks, "test/interop/peer_calls", scratch("ours.nc"))
    ok(status == 0 and len(theirs) == 7, f"this library, {ranks} ranks", errors)
    ours = sections(printed)
    for name, calls in theirs.items():
        mine = ours.get(name, [])
        # Debian's library is built without netCDF-4, whose files this one may create
        calls = [b if a.endswith(": NC_ENOTBUILT") and b == a.replace("NC_ENOTBUILT", "NC_NOERR") else a
                 for a, b in zip(calls, mine + calls[len(mine):])]
        different = [f"there: {a}\nhere:  {b}" for a, b in zip(calls, mine) if a != b]
        ok(mine == calls, f"{name}, {ranks} ranks: {len(calls)} calls return the same", "\n".join(different))


library = find()
if library is None or not shutil.which("mpicc.openmpi"):
    skip("the calls of another libpnetcdf",
         "Debian's libpnetcdf-dev is not installed, or PNC_TEST_PEER does not name it")
else:
    for n in (1, 2):
        compare(n, library)
finish()
