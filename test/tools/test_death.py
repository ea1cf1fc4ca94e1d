"""A rank is killed at each of its writes, or within one, while the header changes: every reader then finds the old
dataset, or the new one, or refuses the file, and the next open for writing, as well as ncvalidator --repair,
restores one of them. netCDF4 compares the values. PNC_TEST_DEATHS=all, or PNC_TEST_LONG=1: at every write; otherwise
at some. "all 2": in the second case only."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import death
import tap

QUICK = tap.is_quick()
ALL, _, ONLY = os.environ.get("PNC_TEST_DEATHS", "").partition(" ")
HELPER = "test/tools/grow_and_die"
SHAPE = 2100, 301, 9 # of the fixed-size variable, of a record, and records

# The file before; bytes per access; what is added: bytes of text (negative: those of a changed attribute), elements
# of a new fixed-size variable, of a record variable; 1: as on a file system in memory, without flushes.
CASES = [
    ("a distance shorter than a step", "base.nc", 64, 120, 0, 0, 0),
    ("a distance as long as direct steps", "base.nc", 256, 1500, 0, 0, 0),
    ("a distance longer than the data", "base.nc", 1024, 20000, 0, 0, 0),
    ("a new fixed-size variable before records", "base.nc", 256, 0, 700, 0, 0),
    ("a longer record", "base.nc", 256, 0, 0, 20, 0),
    ("no data move, several pages of the header change", "spacious.nc", 64, 120, 0, 0, 0),
    ("a distance shorter than a step, in memory", "base.nc", 2048, 120, 0, 0, 1),
    ("a distance as long as direct steps, in memory", "base.nc", 256, 1500, 0, 0, 1),
    ("an attribute that crosses pages changes in data mode", "spacious.nc", 64, -9000, 0, 0, 0),
    ("an attribute that crosses pages is shortened in data mode", "spacious.nc", 64, -5000, 0, 0, 0),
    ("a small attribute that crosses two pages changes in data mode", "crossing.nc", 64, -300, 0, 0, 0),
]


def compare(data):
    return death.judge(data, VALUES)


def die(case, ranks, rank, count, torn):
    """Returns None if the rank has no such operation, else what readers find before and after repairs."""
    shutil.copy(case[1], "left.nc")
    status, _, why = tap.run_mpi(ranks, HELPER, "grow", "left.nc", *case[2:], rank, count, torn)
    if status == 0:
        return None
    return {"left": why} if "grow_and_die" in why else death.examine("left.nc", ranks, compare)


def get_step(case):
    """Between the operations at which a rank is killed."""
    if ALL == "all":
        return 1
    return tap.choose(199, 67, 1) if case[1] == "base.nc" else tap.choose(29, 7, 1)


def kill_all(case, ranks):
    seen, bad = {"old": 0, "new": 0, "refused": 0}, []
    step = get_step(case)
    for rank in range(ranks):
        count, torn = rank % step, rank % 2
        while True:
            result = die(case, ranks, rank, count, torn)
            if result is None:
                break
            if death.is_right(result):
                seen[result["left"]] += 1
            else:
                bad.append((rank, count, torn, result))
            count, torn = count + step, 1 - torn
    tap.ok(not bad and sum(seen.values()) > 0, f"{case[0]}, {ranks} ranks: {sum(seen.values())} deaths left {seen}",
           "\n".join(map(str, bad[:5])))


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
VALUES = death.make("base.nc", [], 0, SHAPE)
death.make("spacious.nc", [("history", "char", b"h" * 9000)], 3000, SHAPE)
# "history" begins at byte 4052
death.make("crossing.nc", [("first", "char", b"f" * 3900), ("history", "char", b"h" * 300)], 0, SHAPE)
for c in ("base.nc", "spacious.nc", "crossing.nc"):
    tap.ok(death.read(c, compare) == "old", f"the file before: {c}")
for c in CASES[int(ONLY) - 1:int(ONLY)] if ONLY else CASES:
    for n in (3,) if QUICK else (1, 2, 4):
        kill_all(c, n)
tap.finish()
