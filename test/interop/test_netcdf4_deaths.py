"""A program that is killed at any write, or at any moment, leaves a netCDF-4 file that other programs refuse or read as
an old dataset, and that this library completes: metadata and filtered chunks are the old or the new ones.
PNC_TEST_KILLS: so many deaths at random moments on each number of ranks; PNC_TEST_SEED chooses others."""
import os
import random
import re
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, is_long, ok, run_mpi, scratch, skip  # noqa: E402

PROGRAM = "test/interop/netcdf4_die"
GENERATIONS = 3
KILLS = int(os.environ.get("PNC_TEST_KILLS", choose(0, 10, 500)))
SEED = int(os.environ.get("PNC_TEST_SEED", random.randrange(10**6)))


def examine(path, synced):
    """What is wrong with a file whose last complete ncmpi_sync was that of a generation; -1: none."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        allowed = {synced, synced + 1}
        if synced < 0:
            return ""
        if getattr(file, "generation") not in allowed:
            return f"attribute of generation {file.generation} after {synced}"
        if file["compressed"].shape[0] < synced + 1:
            return f"{file['compressed'].shape[0]} records after generation {synced}"
        for k in range(synced + 1):
            for name in ("compressed", "chunked"):
                values = file[name][k]
                for y in range(0, 8, 3):
                    for x in range(0, 16, 5):
                        found = set(np.unique(values[y:y + 3, x:x + 5]).tolist())
                        good = allowed if (k == 0 and name == "compressed") else {k}
                        if len(found) > 1 or not found <= good:
                            return f"{name}[{k}] at {y}, {x} has {found} after generation {synced}"
        found = set(np.unique(file["contiguous"][...]).tolist())
        if not found <= allowed:
            return f"contiguous values {found} after generation {synced}"
        for k in range(synced + 1):
            if f"more_{k}" not in file.variables:
                return f"no variable more_{k}"
    return ""


def try_validator(path, synced):
    """A file with the mark of metadata that are not complete: a copy, and the file that ncvalidator repairs."""
    with open(path, "rb") as file:
        if file.read(7) != b"\x89PNCRED":
            return ""
    validator = os.path.join(os.environ["PNC_BUILD"], "src/tools/ncvalidator/ncvalidator")
    refused = subprocess.run([validator, path], capture_output=True, text=True, check=False)
    if refused.returncode != 1 or "--repair" not in refused.stdout:
        return f"a file that is not complete: {refused}"
    repaired = path + ".repaired"
    if os.path.exists(repaired):
        os.unlink(repaired)
    done = subprocess.run([validator, "--repair", path], capture_output=True, text=True, check=False)
    if done.returncode != 0 or "are complete" not in done.stdout or "without errors" not in done.stdout:
        return f"the repair: {done}"
    MARKED.append(path)
    return examine(repaired, synced)


def try_death(ranks, who, write, half):
    path = scratch("death.nc")
    for name in (path, path + ".synced"):
        if os.path.exists(name):
            os.unlink(name)
    run_mpi(ranks, PROGRAM, path, str(GENERATIONS), str(who), str(write), *(["half"] if half else []))
    synced = -1
    if os.path.exists(path + ".synced"):
        with open(path + ".synced", encoding="utf-8") as file:
            synced = int(file.read() or -1)
    if not os.path.exists(path):
        return ""
    try:
        found = examine(path, synced)
        if found:
            return f"before: {found}"
    except OSError:
        pass  # refused
    found = try_validator(path, synced)
    if found:
        return f"ncvalidator: {found}"
    status, out, err = run_mpi(1, PROGRAM, path, "repair")
    if status != 0 or "wrong" in out:
        return "" if synced < 0 and "enddef" not in out else f"repair: {out}{err}"
    try:
        found = examine(path, synced)
    except OSError as error:
        return f"netCDF-C refuses the file: {error}"
    return f"after: {found}" if found else ""


def count_writes(ranks):
    path = scratch("alive.nc")
    status, out, err = run_mpi(ranks, PROGRAM, path, str(GENERATIONS), "0", "0")
    ok(status == 0 and "wrong" not in out, f"{ranks} ranks: the program that lives", out + err)
    found = examine(path, GENERATIONS - 1)
    ok(not found, f"{ranks} ranks: its file", found)
    writes = {int(rank): int(n) for n, rank in re.findall(r"writes (\d+) of rank (\d+)", out)}
    return writes, max(int(n) for n in re.findall(r"(\d+) microseconds", out))


def try_moments(ranks, longest):
    """One rank, or all, are killed from a timer."""
    draw = random.Random(f"{SEED} {ranks}")
    failed = []
    for _ in range(KILLS):
        place = draw.randrange(-1, ranks), -draw.randint(1, longest)
        why = try_death(ranks, *place, False)
        failed += [(place, why)] if why else []
    ok(not failed, f"{ranks} ranks: {KILLS} deaths at random moments", "\n".join(map(str, failed[:10])))


MARKED = []  # a file for each death that left such a mark


def main():
    if "NC_ENOTBUILT" in run_mpi(1, PROGRAM, scratch("first.nc"), "1", "0", "0")[1]:
        skip("deaths", "the build is without HDF5")
        finish()
    draw = random.Random(5)
    print(f"# PNC_TEST_SEED={SEED}", flush=True)
    for ranks in (1, 2):
        writes, longest = count_writes(ranks)
        places = [(rank, write, half) for rank in writes for write in range(1, writes[rank] + 1)
                  for half in (False, True)]
        if not is_long():
            places = draw.sample(places, min(choose(12, 30, 0), len(places)))
        failed = [(place, why) for place in places for why in [try_death(ranks, *place)] if why]
        ok(not failed, f"{ranks} ranks: {len(places)} deaths at a write", "\n".join(map(str, failed[:10])))
        if KILLS > 0:
            try_moments(ranks, longest)
    print(f"# {len(MARKED)} of these files were repaired by ncvalidator, too")
    finish()


main()
