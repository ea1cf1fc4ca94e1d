"""What a process that died while it changed a file has left: what readers find before and after repairs."""
import os
import sys
import time

import netCDF4
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cdf
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


def make(path, atts, space, shape):
    """A file of a fixed-size variable and records of random values, which are returned; shape: the length of the first,
    that of a record, and the number of records."""
    length, record_length, records = shape
    rng = numpy.random.default_rng(11)
    fixed = rng.integers(-2**15, 2**15, length)
    record = rng.integers(-2**15, 2**15, records * record_length)
    cdf.Writer(5, [("t", None), ("x", length), ("y", record_length)], atts,
               [("fixed", "short", [1], [], fixed.tolist()), ("record", "short", [0, 2], [], record.tolist())],
               records, space).write(path)
    return fixed, record.reshape(records, record_length)


def judge(data, values):
    """Whether a dataset is the old one with these values, the new one, or wrong."""
    good = all(name in data.variables and numpy.array_equal(data[name][:], v)
               for name, v in zip(("fixed", "record"), values))
    added = [name for name in data.variables if name.startswith("new")]
    history = data.history if "history" in data.ncattrs() else ""
    good = good and len(set(history)) <= 1 # else a mixture
    filled = all((data[name][:] == -32767).all() for name in added)
    if not good or not filled:
        return "wrong"
    return "new" if added or "text" in data.ncattrs() or "n" in history else "old"


def repair(path, out):
    """Launchers may return before the other ranks have ended: until then they hold the file."""
    for _ in range(1000):
        done = tool.run("ncvalidator", "--repair", "--output=" + out, path)
        if done.returncode != 1 or b"that is running" not in done.stdout + done.stderr:
            break
        time.sleep(0.02)
    return done.returncode


def examine(path, ranks, compare):
    """What readers find as it is, after ncvalidator --repair, and after an open for writing. Its codes are those of two
    opens."""
    result = {"left": read(path, compare)}
    repaired = path + ".repaired"
    if os.path.exists(repaired):
        os.remove(repaired)
    result["status of ncvalidator"] = repair(path, repaired)
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
