"""What a process that died while it changed a file has left: what readers find before and after repairs."""
import os
import sys

import netCDF4

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap
import tool

INTERRUPTED = -280

# Without it, mpiexec of Open MPI waits for a second after it kills ranks.
os.environ["OMPI_MCA_odls_base_sigkill_timeout"] = "0"
# Without it, a program that is killed in MPI_File_open may leave a semaphore locked, for which the next open waits.
os.environ["OMPI_MCA_sharedfp"] = "^sm"


def read(path, compare):
    """What another reader finds: refused, or what `compare` says of the dataset: old, new or wrong."""
    try:
        data = netCDF4.Dataset(path) # pylint: disable=no-member
    except OSError:
        return "refused"
    with data:
        data.set_auto_mask(False)
        return compare(data)


def examine(path, ranks, compare):
    """What readers find as it is, after ncvalidator --repair, and after an open for writing. Its codes are those of two
    opens."""
    result = {"left": read(path, compare)}
    repaired = path + ".repaired"
    if os.path.exists(repaired):
        os.remove(repaired)
    result["status of ncvalidator"] = tool.run("ncvalidator", "--repair", "--output=" + repaired, path).returncode
    result["repaired"] = read(repaired, compare)
    result["codes"] = tap.run_mpi(ranks, "test/tools/grow_and_die", "open", path)[1].split()
    result["opened"] = read(path, compare)
    return result


def is_right(r):
    refused = r["left"] == "refused"
    return (r["left"] in ("refused", "old", "new") and r["status of ncvalidator"] in (0, 2) and
            r["repaired"] in ("old", "new") and r["opened"] in ("old", "new") and
            r["codes"] == [str(INTERRUPTED if refused else 0), "0"] and
            (refused or r["repaired"] == r["opened"] == r["left"]))
