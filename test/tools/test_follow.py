"""ncmpidump --follow: records of files that programs of this library and of netCDF-C are writing, files that are
replaced, truncated and damaged meanwhile."""
import os
import re
import signal
import subprocess
import sys
import time

import netCDF4
import numpy as np

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
import tap  # noqa: E402
import tool  # noqa: E402
from tap import ok, scratch  # noqa: E402

PATIENCE = 60


class Follower:
    """A running ncmpidump --follow; its output is in a file, which can be read meanwhile."""

    def __init__(self, path, *options):
        self.name = scratch("followed.txt")
        with open(self.name, "wb") as out, open(scratch("errors.txt"), "wb") as errors:
            self.process = subprocess.Popen([*tool.command("ncmpidump"), "--follow", *options, scratch(path)],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=errors)

    def read(self):
        with open(self.name, encoding="utf-8") as file:
            return file.read()

    def errors(self):
        with open(scratch("errors.txt"), encoding="utf-8") as file:
            return file.read()

    def wait_for(self, *needles):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            if all(needle in self.read() + self.errors() for needle in needles):
                break
            time.sleep(.05)
        return all(needle in self.read() + self.errors() for needle in needles)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE)


def open_new(path, model, records=0):
    file = netCDF4.Dataset(scratch(path), "w", format=model)
    file.createDimension("time", None)
    file.createDimension("x", 3)
    file.createVariable("x", "i4", ("x",))[:] = [1, 2, 3]
    file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
    file.createVariable("value", "f4", ("time", "x"), **({"zlib": True} if model == "NETCDF4" else {}))
    append(file, range(records))
    return file


def append(file, indices, shift=0):
    for i in indices:
        file["time"][i] = i + shift
        file["value"][i] = np.arange(3) + 10 * i
    file.sync()


def record(i, shift=0):
    return (f"// record {i}\n time[{i}] = {i + shift} ;\n"
            f" value[{i}] =\n  {10 * i}, {10 * i + 1}, {10 * i + 2} ;\n")


def check_growth(model):
    path = f"grow_{model}.nc"
    file = open_new(path, model, 2)
    follower = Follower(path)
    ok(follower.wait_for(record(1)) and "record 0" not in follower.read(), f"{model}: the last record that is there",
       follower.read() + follower.errors())
    text = record(1)
    for indices in ((2,), (3, 4, 5), (6,)):
        append(file, indices)
        ok(follower.wait_for(record(indices[-1])), f"  records {indices} appear", follower.read())
        text += "".join(record(i) for i in indices)
    file.close()
    ok(follower.end() == -signal.SIGINT and follower.read() == text and not follower.errors(),
       "  each once, and a signal ends it", follower.read() + follower.errors())


def check_ranges():
    open_new("still.nc", "NETCDF3_64BIT_OFFSET", 5).close()
    for options, first in (((), 4), (("--from", "0"), 0), (("--from", "3"), 3), (("--from", "-2"), 3),
                           (("--from", "-9"), 0), (("--from", "7"), 5)):
        result = tool.run("ncmpidump", "--follow", "--idle", "1", *options, scratch("still.nc"))
        ok(result.returncode == 0 and result.stdout.decode() == "".join(record(i) for i in range(first, 5)),
           f"--idle ends it; {' '.join(options)}", result.stdout + result.stderr)
    result = tool.run("ncmpidump", "--follow", "--idle", ".5", "-v", "time", "-i", scratch("still.nc"))
    ok(result.stdout == b'// record 4\n time[4] = "2000-01-05" ;\n', "-v and -i", result.stdout)
    result = tool.run("ncmpidump", "--follow", "--idle", ".5", "-v", "value", "-f", "c", scratch("still.nc"))
    ok(b"41,   // value(4,1)" in result.stdout or re.search(rb"41,.*value\(4,1\)", result.stdout), "-f", result.stdout)


def check_replaced(model):
    """By a file with fewer records, by one with other values, in place and by rename."""
    path = f"replace_{model}.nc"
    file = open_new(path, model, 3)
    follower = Follower(path)
    good = follower.wait_for(record(2))
    file.close()
    os.rename(scratch(path), scratch("old.nc"))
    file = open_new(path, model, 0)
    append(file, (0,), 100)
    ok(good and follower.wait_for("another file", record(0, 100)), f"{model}: a new file of the same name",
       follower.read() + follower.errors())
    append(file, (1,), 100)
    ok(follower.wait_for(record(1, 100)), "  whose records follow", follower.read())
    file.close()
    open_new("other.nc", model, 4).close()
    os.rename(scratch("other.nc"), scratch(path))
    ok(follower.wait_for(record(3)) and follower.errors().count("another file") == 2,
       "  a file with more records and another first one", follower.read() + follower.errors())
    with open(scratch(path), "rb") as copy:
        whole = copy.read()
    os.truncate(scratch(path), 0)
    time.sleep(1.2)
    with open(scratch(path), "wb") as damaged:
        damaged.write(whole[:len(whole) // 2])
    time.sleep(1.2)
    ok(follower.process.poll() is None, "  a file that is truncated is waited for", follower.errors())
    with open(scratch(path), "wb") as copy:
        copy.write(whole)
    file = netCDF4.Dataset(scratch(path), "a")
    append(file, (4,))
    file.close()
    ok(follower.wait_for(record(4)), "  and followed when it is whole again", follower.read() + follower.errors())
    with netCDF4.Dataset(scratch(path), "a") as file:
        file["value"][4] = 7
    ok(follower.wait_for("// record 4, which has changed\n time[4] = 4 ;\n value[4] =\n  7, 7, 7 ;\n"),
       "  a record that is written again is printed again", follower.read())
    follower.end()


def check_errors():
    tool.fails("ncmpidump", "No such file", "no file", "--follow", scratch("missing.nc"))
    with netCDF4.Dataset(scratch("fixed.nc"), "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 2)
        file.createVariable("v", "i4", ("x",))
    for words in (["--json"], ["-h"], ["--stats"], ["--idle", "0"], ["--idle", "x"], ["--from", "1.5"],
                  [scratch("fixed.nc")]):
        result = tool.run("ncmpidump", "--follow", *words, scratch("fixed.nc"))
        ok(result.returncode == 1 and result.stderr.startswith(b"ncmpidump: "), f"refused: {' '.join(words)}",
           result.stderr)
    tool.fails("ncmpidump", "of --follow", "--idle without --follow", "--idle", "3", scratch("fixed.nc"))
    tool.fails("ncmpidump", "no record dimension", "a file that cannot grow", "--follow", scratch("fixed.nc"))
    open_new("pipe.nc", "NETCDF3_CLASSIC", 3).close()
    tool.fails_to_print("ncmpidump", "--follow", scratch("pipe.nc"))


for kind in ("NETCDF3_CLASSIC", "NETCDF4") if tool.has_netcdf4() else ("NETCDF3_CLASSIC",):
    check_growth(kind)
    check_replaced(kind)
check_ranges()
check_errors()
tap.finish()
