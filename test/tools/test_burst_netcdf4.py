"""The burst buffer of netCDF-4 files (nc_burst_buf): a program that dies at any write, or after its puts, leaves a file
that nothing opens for writing, and logs that a replay puts into it, through the filters of its variables. netCDF-C and
h5py read what the file has; without the hint it has the same."""
# needs: python
import os
import random
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool

try:
    import h5py
    import netCDF4
    import numpy as np
except ImportError as missing:
    tap.skip("the burst buffer of netCDF-4 files", str(missing))
    tap.finish()

from burst import FLUSHED, LOGS, MARK, PATH, RECORDS_AT, build_preload, clear, replay, replay_and_die, seal_record

PROGRAM = "test/mpi/test_burst_values"
X, ROWS = 24, 12


def run(ranks, logs, steps, rank=-1, at=-1):
    clear()
    return tap.run_mpi(ranks, PROGRAM, PATH, LOGS, logs, steps, rank, at)


def die_with(ranks, steps):
    """All processes are killed when the steps are put; flush and sync at some of them."""
    return run(ranks, 1, steps, at=-2)


def read_flushed():
    if not os.path.exists(FLUSHED):
        return 0
    with open(FLUSHED, encoding="ascii") as file:
        return int(file.read() or 0)


def value_of(step, column):
    return 1000 * step + 100 * column + np.arange(X)


def read_all(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return {name: file[name][...] for name in file.variables}


def find_wrong(ranks, flushed, exactly=None):
    """What the file has not, or wrongly: (text, number of records)."""
    with netCDF4.Dataset(PATH) as file:
        file.set_auto_mask(False)
        v, f, w, b = (file[name][...] for name in "vfwb")
        c, m = file["c"][...], file["m"][...]
        number = int(file["n"][...])
    n, wrong = v.shape[0], []
    if n < flushed or (exactly is not None and n != exactly):
        wrong.append(f"{n} records, but {flushed} were flushed, {exactly}")
    for step in range(flushed):
        if list(m[step]) != [step + column for column in range(ranks)]:
            wrong.append(f"m of step {step}: {m[step]}")
    if exactly is not None and (m.shape[0] != exactly + 1 or m[exactly, ranks - 1] != 77):
        wrong.append(f"m has {m.shape[0]} rows: {m}")
    for column in range(ranks):
        for step in range(n):
            # the last record may lack the half of a call that was not complete
            good = [value_of(step, column) == v[step, column]]
            if step >= flushed:
                good[0] = good[0] | (v[step, column] == netCDF4.default_fillvals["f8"])
            if not good[0].all():
                wrong.append(f"v of step {step}, column {column}: {v[step, column]}")
        for step in range(flushed):
            if (f[step, column] != value_of(step, column)).any():
                wrong.append(f"f of step {step}, column {column}: {f[step, column]}")
            if list(b[step, column]) != [step, column, -step]:
                wrong.append(f"b of step {step}, column {column}: {b[step, column]}")
        if flushed > 0:
            steps = set((w[column] - value_of(0, column)).tolist())
            if len(steps) != 1 or min(steps) % 1000 or min(steps) < 1000 * (flushed - 1):
                wrong.append(f"w of column {column}: {w[column]}")
            steps = set((c[column] - value_of(0, column)).tolist())
            if len(steps) != 1 or min(steps) % 1000 or min(steps) < 1000 * (flushed - 1):
                wrong.append(f"c of column {column}: {c[column]}")
            if number < flushed - 1:
                wrong.append(f"n is {number}")
    return "\n".join(wrong), n


def check_filters(what):
    with h5py.File(PATH) as file:
        found = [(file[name].compression, file[name].shuffle) for name in "vfwb"]
        stored = [file[name].id.get_storage_size() for name in "vf"]
    tap.ok(found == [("gzip", True)] * 3 + [(None, False)] and min(stored) > 0, f"{what}: the filters", found)


# --- the same as without the hint ---

def check_same():
    for ranks in (1, 2, 4):
        status, out, err = run(ranks, 0, ROWS)
        tap.ok(status == 0 and "not ok" not in out, f"{ranks} ranks: without the hint", out + err)
        wanted = read_all(PATH)
        status, out, err = run(ranks, 1, ROWS)
        tap.ok(status == 0 and "not ok" not in out and not os.listdir(LOGS) and not os.path.exists(MARK),
               f"{ranks} ranks: with it", out + err)
        got = read_all(PATH)
        tap.ok(all(np.array_equal(wanted[name], got[name]) for name in wanted) and wanted.keys() == got.keys(),
               f"{ranks} ranks: the file has the same values")
        wrong, n = find_wrong(ranks, ROWS)
        tap.ok(not wrong and n == ROWS, f"{ranks} ranks: which are those that were put", wrong)
        check_filters(f"{ranks} ranks")


# --- deaths ---

def keep():
    return {path: (open(path, "rb").read(), os.stat(path).st_mtime_ns)
            for path in [PATH, MARK, *(os.path.join(LOGS, name) for name in os.listdir(LOGS))] if os.path.exists(path)}


def restore(kept):
    """The file remains the same one, of which the mark is."""
    for path, (content, when) in kept.items():
        with open(path, "r+b" if os.path.exists(path) else "wb") as file:
            file.write(content)
            file.truncate()
        os.utime(path, ns=(when, when))


def check_after_puts():
    """All that was put is in the logs or the file, whatever was flushed."""
    for ranks, processes, steps in ((1, 1, 4), (2, 1, 3), (2, 2, 9), (4, 2, 7)):
        status, out, err = die_with(ranks, steps)
        tap.ok(status != 0 and os.path.exists(MARK) and len(os.listdir(LOGS)) == ranks,
               f"{ranks} ranks: a program that died after {steps} steps", out + err)
        wrong, n = find_wrong(ranks, 0)
        tap.ok(not wrong and n == steps // 5 * 5, f"{ranks} ranks: the file has the {n} records of the last sync",
               wrong)
        listed = tool.run("ncmpilog", PATH)
        tap.ok(listed.returncode == 2 and f"{ranks} logs".encode() in listed.stdout, "ncmpilog says so", listed)
        kept = keep()
        for again in (False, True):
            hinted = dict(os.environ, PNETCDF_HINTS="nc_burst_buf=enable;nc_quantize=v:bitround:3;nc_defer_puts=enable")
            status, text = replay(ranks=processes, env=hinted if again else None)
            wrong, n = find_wrong(ranks, steps, steps)
            tap.ok(status == 0 and not wrong and not os.path.exists(MARK) and not os.listdir(LOGS),
                   f"{ranks} ranks, {processes} processes: a replay{' once more' if again else ''}, {n} records",
                   text + wrong)
            check_filters("after it")
            if not again:
                before = read_all(PATH)
                for path in kept:
                    if path != PATH:
                        with open(path, "wb") as file:
                            file.write(kept[path][0])
                os.utime(PATH, ns=(kept[PATH][1], kept[PATH][1]))
        after = read_all(PATH)
        tap.ok(all(np.array_equal(before[name], after[name]) for name in before), "it changes nothing")


def try_death(ranks, rank, at, processes):
    """Whether the program died, and what is wrong then."""
    status, out, err = run(ranks, 1, ROWS, rank, at)
    if status == 0:
        return False, find_wrong(ranks, ROWS)[0] if "not ok" not in out else out + err
    flushed = read_flushed()
    if not os.path.exists(MARK):
        return True, "" if flushed in (0, ROWS) or not os.listdir(LOGS) else f"no mark, but {os.listdir(LOGS)}"
    status, text = replay(ranks=processes)
    if status != 0 or os.path.exists(MARK) or os.listdir(LOGS):
        return True, f"replay: {status} {text}"
    return True, find_wrong(ranks, flushed)[0]


def check_deaths():
    draw = random.Random(3)
    for ranks in (1, 2):
        for rank in [-1] if ranks == 1 else [-1, 0, 1]:
            died, failed, at = 0, [], 0
            while True:
                has_died, wrong = try_death(ranks, rank, at, 1 + at % 2)
                if wrong:
                    failed.append(f"write {at}: {wrong}")
                if not has_died:
                    break
                died += 1
                at += tap.choose(draw.randint(60, 110), draw.randint(30, 60), 1)
            tap.ok(died >= 3 and not failed, f"{ranks} ranks: {died} deaths of {'all' if rank < 0 else f'rank {rank}'}",
                   "\n".join(failed[:5]))


def check_replay_deaths():
    """A replay that dies at a change of a file, or within it, can be repeated."""
    preload = build_preload()
    if preload is None:
        tap.skip("deaths of a replay", "a preload cannot be used here")
        return
    tap.ok(die_with(2, 4)[0] != 0, "a program that died")
    kept, failed, at, marks = keep(), [], 0, 0
    while replay_and_die(preload, at, 1 + at % 2, ["DIE_PAGES=1"]):
        has_mark = os.path.exists(MARK)
        status, text = replay() if has_mark else (0, "")
        wrong, n = find_wrong(2, 4, 4)
        if status != 0 or wrong or n != 4 or os.path.exists(MARK):
            failed.append(f"{at}: {status} {text} {wrong}")
        marks += has_mark
        at += tap.choose(11, 7, 1)
        restore(kept)
    tap.ok(at > 20 and marks > 2 and not failed, f"replays after deaths of one at {at} changes of files",
           "\n".join(failed[:3]))


# --- what a replay refuses ---

def check_refusals():
    tap.ok(die_with(2, 4)[0] != 0, "a program that died")
    kept = keep()
    names = sorted(os.listdir(LOGS))
    first = os.path.join(LOGS, names[0])
    log = bytearray(kept[first][0])

    def refused(what, *words, wanted, status=1):
        done, text = replay(*words)
        tap.ok(done == status and wanted in text and open(PATH, "rb").read() == kept[PATH][0], what, text)

    def forge(change):
        forged = bytearray(log)
        change(forged)
        seal_record(forged, RECORDS_AT)
        with open(first, "wb") as file:
            file.write(forged)
        os.utime(PATH, ns=(kept[PATH][1], kept[PATH][1]))

    os.rename(first, first + ".kept")
    refused("a log that is missing", wanted="is missing")
    os.rename(first + ".kept", first)
    behind = RECORDS_AT + 64
    for what, at, value in (("a variable that the file has not", RECORDS_AT + 32, 77),
                            ("a number of dimensions", behind, 4),
                            ("a start that is negative", behind + 8, -1),
                            ("a start behind the dimension", behind + 16, 9),
                            ("a count of none", behind + 32, 0),
                            ("a count that overflows", behind + 32, 1 << 61),
                            ("a stride of none", behind + 64, 0),
                            ("a stride behind the dimension", behind + 72, 99),
                            ("a block of a classic file", RECORDS_AT + 8, 1)):
        forge(lambda forged, at=at, value=value: struct.pack_into("<q", forged, at, value))
        refused(what, wanted="has bytes" if what.startswith("a block") else "has none")
    restore(kept)
    os.rename(PATH, PATH + ".kept")
    shutil.copyfile(PATH + ".kept", PATH)
    refused("a file that is a copy", wanted="another one of the same name")
    os.rename(PATH + ".kept", PATH)
    with netCDF4.Dataset(PATH, "a") as file:
        file.renameVariable("f", "g")
    done, text = replay()
    tap.ok(done == 1 and "its header is another one" in text, "a file with another variable", text)
    restore(kept)
    with netCDF4.Dataset(PATH, "a") as file:
        file.history = "meanwhile"
    os.utime(PATH, (os.stat(PATH).st_mtime + 300, os.stat(PATH).st_mtime + 300))
    done, text = replay()
    tap.ok(done == 1 and "--assume-same" in text, "a file that was written later", text)
    done, text = replay("--assume-same")
    wrong, n = find_wrong(2, 4, 4)
    tap.ok(done == 0 and not wrong, f"--assume-same: {n} records", text + wrong)
    clear()


def check_partial():
    tap.ok(die_with(2, 4)[0] != 0, "a program that died")
    names = sorted(os.listdir(LOGS), key=lambda name: int(name.split(".")[-2]))
    os.remove(os.path.join(LOGS, names[1]))
    status, text = replay("--partial")
    got = read_all(PATH)["v"]
    tap.ok(status == 2 and got.shape[0] == 4 and all((got[k, 0] == value_of(k, 0)).all() for k in range(4)) and
           not os.path.exists(MARK), "--partial does without the log of rank 1", text)


def check_finalize():
    """MPI_Finalize without ncmpi_close."""
    status, out, err = run(2, 1, 4, at=-4)
    wrong, n = find_wrong(2, 4, 4)
    tap.ok(status == 0 and not wrong and not os.path.exists(MARK) and not os.listdir(LOGS),
           f"MPI_Finalize puts {n} records into a file that is open", out + err + wrong)


def check_refused_variable():
    clear()
    with h5py.File(PATH, "w") as file:
        for name, more in (("y", {"compression": "gzip"}), ("z", {"scaleoffset": 0})):
            file.create_dataset(name, (8,), "i4", np.arange(8), chunks=(8,), **more)
    status, out, err = tap.run_mpi(2, PROGRAM, PATH, LOGS, 1, 0, -1, -5)
    with h5py.File(PATH) as file:
        got = list(file["y"][...]), list(file["z"][...])
    tap.ok(status == 0 and "not ok" not in out and got == ([0, 1, 2, 3, 1, 1, 2, 3], list(range(8))),
           "a variable that cannot be written", out + err + str(got))


def check_full_disk():
    """The file cannot be written at the end: close fails, and a replay writes the values."""
    status, out, err = run(2, 1, 4, at=-3)
    tap.ok(status == 0 and "not ok" not in out and os.path.exists(MARK) and len(os.listdir(LOGS)) == 2,
           "a close that fails leaves mark and logs", out + err)
    wrong, n = find_wrong(2, 0)
    tap.ok(not wrong and n == 0, f"the file counts {n} records", wrong)
    status, text = replay()
    wrong, n = find_wrong(2, 4, 4)
    tap.ok(status == 0 and not wrong, f"a replay writes {n} records", text + wrong)


def main():
    if "NC_ENOTBUILT" in run(1, 0, 1)[1]:
        tap.skip("the burst buffer of netCDF-4 files", "the build is without HDF5")
        tap.finish()
    check_same()
    check_after_puts()
    check_refusals()
    check_partial()
    check_full_disk()
    check_finalize()
    check_refused_variable()
    check_deaths()
    check_replay_deaths()
    tap.finish()


main()
