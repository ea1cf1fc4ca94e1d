"""One rank, or all of them, are killed at random moments, from outside of the library, while steps of one kind follow
one another: every reader then finds the dataset after the last step that ended, or after the next one, or refuses the
file; the next open for writing, as well as ncvalidator --repair, restores one of these. netCDF4 compares all values.
PNC_TEST_KILLS: so many deaths of each kind on each number of ranks, half of them in memory where /dev/shm is."""
import os
import random
import shutil
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cdf
import death
import tap

QUICK = tap.is_quick()
KILLS = int(os.environ.get("PNC_TEST_KILLS", tap.choose(1, 4, 50)))
SEED = int(os.environ.get("PNC_TEST_SEED", random.randrange(10**6)))
LENGTH, RECORDS, SHORT, HISTORY = 3000, 40, 50, 9000
LONGEST_DELAY = 300000 # microseconds
HINTS = "nc_data_move_chunk_size=4096" # data move in many portions

PHASES = {
    "header": "enddef, the header grows",
    "fixed": "enddef, a new fixed-size variable",
    "records": "enddef, a new record variable: records move apart",
    "append": "collective puts of new records",
    "deferred": "collective puts of three new records, which sync writes together (nc_defer_puts)",
    "sync": "independent puts of new records, and sync",
    "close": "open, independent puts of new records, and close",
    "change": "attributes and a name change in data mode",
}


def make_values(numrecs):
    return ((7 * numpy.arange(numrecs)[:, None] + numpy.arange(LENGTH)) % 30000).astype(numpy.int16)


def make_base(path):
    cdf.Writer(5, [("t", None), ("z", SHORT), ("x", LENGTH)], [("history", "char", b"-" * HISTORY)],
               [("fixed", "short", [2], [], list(range(LENGTH))),
                ("m000000", "short", [0, 2], [("units", "char", b"--------")],
                 make_values(RECORDS).ravel().tolist())], RECORDS).write(path)


def expect_changed(steps):
    """History, units and name after so many steps of "change"."""
    history, units, name = "-" * HISTORY, "-" * 8, "m000000"
    for i in range(steps):
        turn = i // 4
        letter = chr(ord("a") + turn % 26)
        if i % 4 in (0, 3):
            history = letter * max(1, HISTORY - turn - (i % 4 == 3))
        elif i % 4 == 1:
            units = letter * 8
        else:
            name = f"m{turn + 1:06d}"
    return history, units, name


def is_after(data, phase, ranks, steps):
    """Whether the dataset is the one after so many steps."""
    names, atts = list(data.variables), data.ncattrs()
    fixed, record = data[names[0]], data[names[1]]
    per_step = {"append": 1, "deferred": 3, "sync": ranks, "close": ranks}.get(phase, 0)
    numrecs = RECORDS + steps * per_step
    new_names = [f"n{i}" for i in range(steps)] if phase in ("fixed", "records") else []
    new_atts = [f"a{i}" for i in range(steps)] if phase == "header" else []
    return (names[0] == "fixed" and names[2:] == new_names and atts == ["history"] + new_atts and
            (data.history, record.units, names[1]) == expect_changed(steps if phase == "change" else 0) and
            all(data.getncattr(name) == "a" * (100 + i % 50) for i, name in enumerate(new_atts)) and
            all((data[name][:] == -32767).all() for name in new_names) and
            all(data[name].shape == (numrecs, SHORT)[phase == "fixed":] for name in new_names) and
            numpy.array_equal(fixed[:], numpy.arange(LENGTH)) and numpy.array_equal(record[:], make_values(numrecs)))


def compare(data, phase, ranks, done):
    """Whether the dataset is the one after so many steps, after one more, or wrong."""
    return "old" if is_after(data, phase, ranks, done) else "new" if is_after(data, phase, ranks, done + 1) else "wrong"


def die(phase, ranks, victim, delay, path):
    """The steps that ended, and what readers find before and after repairs: old is the dataset after these steps, new
    the one after one more."""
    shutil.copy("base.nc", path)
    os.environ["PNETCDF_HINTS"] = HINTS + (";nc_defer_puts=enable" if phase == "deferred" else "")
    status, _, why = tap.run_mpi(ranks, "test/tools/step_and_die", phase, path, LENGTH, delay, victim)
    if status == 0 or "step_and_die:" in why:
        return 0, {"left": f"status {status}: {why}"}
    with open(path + ".steps", encoding="ascii") as file:
        done = int(file.read())
    return done, death.examine(path, 1, lambda data: compare(data, phase, ranks, done))


def kill_some(phase, ranks, folders):
    rng = random.Random(f"{SEED} {phase} {ranks}")
    seen, bad, most = {"old": 0, "new": 0, "refused": 0}, [], 0
    for i in range(KILLS):
        victim, delay = rng.choice((-1, rng.randrange(ranks))), rng.randrange(LONGEST_DELAY)
        path = os.path.join(folders[i % len(folders)], "left.nc")
        done, result = die(phase, ranks, victim, delay, path)
        most = max(most, done)
        if death.is_right(result):
            seen[result["left"]] += 1
        else:
            bad.append((victim, delay, path, done, result))
    tap.ok(not bad, f"{PHASES[phase]}, {ranks} ranks: {KILLS} deaths after up to {most} steps left {seen}",
           "\n".join(map(str, bad[:5])))


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
print(f"# PNC_TEST_SEED={SEED}", flush=True)
make_base("base.nc")
with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else ".") as in_memory:
    tap.ok(death.read("base.nc", lambda data: compare(data, "header", 1, 0)) == "old", "the file before")
    for p in PHASES:
        for n in (1, 4) if QUICK else (1, 2, 4):
            kill_some(p, n, (".", in_memory))
tap.finish()
