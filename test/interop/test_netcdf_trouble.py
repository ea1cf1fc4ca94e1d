"""Programs of netCDF that end badly, with libpnetcdf-netcdf: a full disk, with more calls after the first that fails; a
rank that is killed; a second program that opens the file. Every rank gets a code, no rank waits forever, and what
nc_sync had written before is read by netCDF4-python."""
import os
import re
import signal
import subprocess
import sys
import time

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, has_hdf5, ok, scratch, skip  # noqa: E402
from test_netcdf_door import DOOR, build, command_of, run  # noqa: E402

EARLY = 1000
CALLS = "put_packed put_plain sync put_again redef def_var enddef put_last close".split()
WITH_BEHIND = {"PNETCDF_HINTS": "nc_write_behind=enable"}


def has_early_values(path):
    with netCDF4.Dataset(path) as file:
        values = file["packed"][:EARLY]
    return np.array_equal(values, (np.arange(EARLY, dtype="u8") * 2654435761 & 0xffffffff).astype("u4").view("i4"))


def codes(printed):
    """{rank: {call: code}}"""
    found = {}
    for rank, call, code in re.findall(r"^(\d+) (\w+) (-?\d+)$", printed, re.M):
        found.setdefault(int(rank), {})[call] = int(code)
    return found


def check_full(ranks, env, what):
    path = scratch("full.nc")
    printed = run(ranks, scratch("netcdf_trouble"), "full", path, env=env)
    found = codes(printed)
    ok(len(found) == ranks and all(list(calls) == CALLS and calls["sync"] != 0 and calls["close"] != 0
                                   for calls in found.values()),
       f"a full disk{what}, {ranks} ranks: each gets a code from nc_sync and nc_close, and no call waits", printed)
    ok(has_early_values(path), f"a full disk{what}, {ranks} ranks: what was flushed before is there", printed)


def check_kill(ranks, env, what):
    path = scratch("killed.nc")
    printed = run(ranks, scratch("netcdf_trouble"), "kill", path, env=env)
    ok("exit status" in printed and has_early_values(path),
       f"a killed rank{what}, {ranks} ranks: what was flushed before is there", printed)


def check_two():
    path = scratch("held.nc")
    with open(scratch("held.txt"), "w+", encoding="latin-1") as printed:
        with subprocess.Popen(command_of(2, scratch("netcdf_trouble"), "hold", path), stdin=subprocess.DEVNULL,
                              stdout=printed, stderr=subprocess.STDOUT) as first:
            try:
                while first.poll() is None and os.path.getsize(scratch("held.txt")) < len("0 ready 0\n1 ready 0\n"):
                    time.sleep(0.05)
                second = codes(run(2, scratch("netcdf_trouble"), "open", path))
                ok(sorted(second) == [0, 1] and all(calls["open"] != 0 for calls in second.values()),
                   "a second program cannot open the file to write", second)
            finally:
                with open(path + ".go", "w", encoding="ascii"):
                    pass
        printed.seek(0)
        text = printed.read()
    ok(first.returncode == 0 and all(calls["close"] == 0 for calls in codes(text).values()),
       "the first one closes it", text)
    second = codes(run(2, scratch("netcdf_trouble"), "open", path))
    ok(len(second) == 2 and all(calls["open"] == 0 for calls in second.values()), "then the second one opens it",
       second)


def check_logs():
    printed = run(2, scratch("netcdf_trouble"), "full", scratch("full.nc"),
                  env={"PNETCDF_HINTS": "nc_burst_buf=enable", "PNETCDF_HINTS_DISPLAY": "1"})
    ok(printed.count("nc_burst_buf has no effect: an independent call could not write") == 1,
       "the display says that there are no logs", printed)


if __name__ == "__main__":
    if not os.path.exists(DOOR):
        skip("programs of netCDF that end badly", "the build has no libpnetcdf-netcdf")
        finish()
    if not has_hdf5():
        skip("programs of netCDF that end badly", "this build has no HDF5")
        finish()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    built, why = build("netcdf_trouble.c", scratch("netcdf_trouble"))
    if ok(built, "a program that ends badly compiles", why):
        for n in (1, 2):
            check_full(n, {}, "")
        check_full(2, WITH_BEHIND, " with delayed writes")
        check_kill(2, {}, "")
        check_kill(2, WITH_BEHIND, " with delayed writes")
        check_two()
        check_logs()
    finish()
