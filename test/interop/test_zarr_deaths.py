"""A program that is killed at any change of a Zarr store leaves one that this library and zarr read: each value is that
of the last sync, or of the sync in progress. When this library has opened it for writing, all of it is one or the
other, and after `ncvalidator --repair` nothing is there that belongs to nothing. A write or flush that fails once is
reported on all ranks, and nothing is lost. PNC_TEST_KILLS: so many deaths on each number of ranks."""
# needs: python
import os
import random
import re
import shutil
import subprocess
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import pypi  # noqa: E402
from tap import choose, finish, ok, run_mpi, scratch, skip  # noqa: E402

try:
    import zarr
except ImportError:
    zarr = None

PACKAGES = ("xarray>=2024.10", "zarr>=3", "fsspec", "netCDF4", "numpy<3", "pyarrow", "fastparquet",
            "h5py") # as test_zarr.py
PROGRAM = "test/interop/zarr_die"
GENERATIONS = 3
FILL = -2147483647
KILLS = int(os.environ.get("PNC_TEST_KILLS", choose(4, 10, 70)))
FAILURES = choose(3, 8, 60)
SEED = int(os.environ.get("PNC_TEST_SEED", random.randrange(10**6)))


class State:
    """A store after so many steps: 2 g + 1 is the sync of generation g, 2 g + 2 its definitions."""

    def __init__(self, number):
        self.length = (number + 1) // 2
        self.attribute = number // 2 - 1
        self.variables = 2 + number // 2
        self.fixed = self.length - 1 if number > 0 else FILL

    def record(self, k):
        return (self.length - 1 if k == 0 else k) if k < self.length else None

    def text(self):
        records = [self.record(k) for k in range(self.length)]
        return (self.length, self.attribute, self.variables, (self.fixed, self.fixed), [(r, r) for r in records])


def is_between(found, old, new):
    """Whether each value is of one of two states."""
    length, attribute, variables, fixed, records = found
    good = length in (old.length, new.length) and attribute in (old.attribute, new.attribute) and \
        variables in (old.variables, new.variables) and set(fixed) <= {old.fixed, new.fixed}
    return good and all(set(r) <= {old.record(k), new.record(k), FILL if k >= old.length else None}
                        for k, r in enumerate(records))


def read_by_ours(path):
    status, out, err = run_mpi(1, PROGRAM, path, "read")
    if status != 0:
        raise ValueError(out + err)
    number = {name: [tuple(map(int, text.split())) for text in re.findall(rf"^{name} (.*)$", out, re.M)]
              for name in ("length", "attribute", "variables", "fixed", "record")}
    return (number["length"][0][0], number["attribute"][0][0], number["variables"][0][0], number["fixed"][0],
            number["record"])


def read_by_zarr(path, consolidated):
    group = zarr.open_group(path, mode="r", zarr_format=3, use_consolidated=consolidated)
    records, fixed = group["records"][...], group["fixed"][...]
    number = len([name for name, _ in group.arrays()])
    return (len(records), int(group.attrs.get("generation", -1)), number, (int(fixed.min()), int(fixed.max())),
            [(int(r.min()), int(r.max())) for r in records])


def readers():
    found = {"ours": read_by_ours}
    if zarr is not None:
        found["zarr, consolidated"] = lambda path: read_by_zarr(path, True)
        found["zarr, not consolidated"] = lambda path: read_by_zarr(path, False)
    return found.items()


def get_synced(path):
    if not os.path.exists(path + ".synced"):
        return -1
    with open(path + ".synced", encoding="utf-8") as file:
        return int(file.read() or -1)


def find_temporary(path):
    return [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if ".~" in name]


def repair(path):
    """By ncvalidator; what was wrong."""
    validator = os.path.join(os.environ["PNC_BUILD"], "src/tools/ncvalidator/ncvalidator")
    done = subprocess.run([validator, "--repair", "--in-place", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"ncvalidator --repair: {done.stdout[-500:]}{done.stderr[-500:]}"
    done = subprocess.run([validator, path], capture_output=True, text=True, check=False)
    if done.returncode != 0 or "belongs to nothing" in done.stdout:
        return f"ncvalidator: {done.stdout[-500:]}{done.stderr[-500:]}"
    left = find_temporary(path)
    return f"left: {left}" if left else ""


def read_torn(read, path, is_torn):
    """An index of several pages, of which some are written, has another checksum: an error, never values."""
    try:
        return read(path)
    except (ValueError, RuntimeError) as error:
        if is_torn and "checksum" in str(error):
            return None
        raise


def examine(path, synced, number, is_torn):
    """What is wrong with a store that a death has left."""
    old, new = State(synced), State(synced + 1)
    for name, read in readers():
        found = read_torn(read, path, is_torn)
        if found is not None and not is_between(found, old, new):
            return f"{name}, before the repair: {found} after {synced}"
    if number % 2 == 0:
        status, out, err = run_mpi(1, PROGRAM, path, "repair")
        if status != 0:
            return f"opening it: {out}{err}"
    why = repair(path)
    if why:
        return why
    allowed = [old.text(), new.text()]
    if synced == 2: # ncmpi_end_indep_data has completed what was overwritten
        allowed.append((1, 0, 3, (1, 1), [(1, 1)]))
    for name, read in readers():
        found = read(path)
        if found not in allowed:
            return f"{name}, after the repair: {found} after {synced}"
    return ""


def begin(name):
    path = scratch(name)
    shutil.rmtree(path, ignore_errors=True)
    if os.path.exists(path + ".synced"):
        os.unlink(path + ".synced")
    return path


def try_death(ranks, place, env, number):
    who, write, half = place
    path = begin("death.zarr")
    _, out, _ = run_mpi(ranks, PROGRAM, path, GENERATIONS, who, write, *(["half"] if half else []), env=env)
    if "wrong" in out:
        return out
    synced = get_synced(path)
    if synced < 0:
        return ""
    try:
        return examine(path, synced, number, half)
    except (ValueError, KeyError, OSError, RuntimeError) as error:
        return f"{type(error).__name__} {error} after {synced}"


def try_failure(ranks, place, env):
    """A call returns the error on all ranks, and all values are there in the end."""
    who, write, error = place
    path = begin("failure.zarr")
    _, out, err = run_mpi(ranks, PROGRAM, path, GENERATIONS, who, write, error, env=env)
    if "wrong" in out or "writes" not in out:
        return out + err
    if "has failed" not in out:
        return "nothing has failed"
    if get_synced(path) < 0:
        return ""
    found = read_by_ours(path)
    if found != State(2 * GENERATIONS).text():
        return f"{found}\n{out}"
    return repair(path)


def count_writes(ranks, env, text):
    path = begin("alive.zarr")
    status, out, err = run_mpi(ranks, PROGRAM, path, GENERATIONS, 0, 0, env=env)
    ok(status == 0 and "wrong" not in out and "error" not in out, f"{text}: the program that lives", out + err)
    wrong = [f"{name}: {read(path)}" for name, read in readers() if read(path) != State(2 * GENERATIONS).text()]
    ok(not wrong and not find_temporary(path), f"{text}: its store", f"{wrong} {find_temporary(path)}")
    why = repair(path)
    ok(not why, f"{text}: there is nothing to repair", why)
    return {int(rank): int(n) for n, rank in re.findall(r"writes (\d+) of rank (\d+)", out)}


def main():
    found = run_mpi(1, PROGRAM, begin("first.zarr"), 1, 0, 0,
                    env={**os.environ, "PNETCDF_HINTS": "*.zarr:nc_format=zarr"})[1]
    if "NC_ENOTBUILT" in found:
        skip("deaths", found)
        finish()
    print(f"# PNC_TEST_SEED={SEED}", flush=True)
    draw = random.Random(SEED)
    for ranks in choose([2], [1, 2], [1, 2, 3, 4]):
        for shards in ("", ":nc_shards=0"):
            env = {**os.environ, "PNETCDF_HINTS": f"*.zarr:nc_format=zarr{shards}"}
            text = f"{ranks} ranks{shards}"
            writes = count_writes(ranks, env, text)
            places = [(rank, write, half) for rank in writes for write in range(1, writes[rank] + 1)
                      for half in (False, True)]
            places = draw.sample(places, min(KILLS, len(places)))
            failed = [(place, why) for number, place in enumerate(places)
                      for why in [try_death(ranks, place, env, number)] if why]
            ok(not failed, f"{text}: {len(places)} deaths at a write", "\n".join(map(str, failed[:5])))
            places = [(rank, write, error) for rank in writes for write in range(1, writes[rank] + 1)
                      for error in ("EIO", "ENOSPC")]
            places = draw.sample(places, min(FAILURES, len(places)))
            failed = [(place, why) for place in places for why in [try_failure(ranks, place, env)] if why]
            ok(not failed, f"{text}: {len(places)} changes that fail once", "\n".join(map(str, failed[:5])))
    finish()


class Environment(pypi.Environment):
    """Without zarr this library reads the stores."""

    def give_up(self, why):
        skip(self.what, why)
        main()


if sys.argv[1:] == ["--inside"]:
    warnings.simplefilter("ignore") # zarr warns of names that it does not know
    main()
environment = Environment("python-zarr", "Zarr stores for zarr and xarray")
environment.need(*PACKAGES)
os.execv(environment.python, [environment.python, "-B", os.path.abspath(__file__), "--inside"])
