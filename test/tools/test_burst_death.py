"""A rank, or all of them, die at each write to a log or by the worker (nc_burst_buf), or within it. Until a replay the
file cannot be opened for writing; then it has at least what was flushed, each record that it counts has its values, and
of puts that overlap none but the last ones are there. The bytes are read here, without the library."""
# needs: python
import os
import shlex
import shutil
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool
from burst import (FLUSHED, LOGS, MARK, NX, PATH, PUT, RECORDS_AT, ROWS, build_preload, clear, is_complete, keep_all,
                   put_rows, read_file, replay, replay_and_die, restore_all, run_program, seal_record, value_of)


def read_flushed():
    if not os.path.exists(FLUSHED):
        return 0
    with open(FLUSHED, encoding="ascii") as file:
        return int(file.read() or 0)


def find_wrong(ranks, flushed):
    """What the file has not, or wrongly."""
    numrecs, get = read_file()
    wrong = [] if numrecs >= flushed else [f"{numrecs} records, but {flushed} were flushed"]
    for column in range(ranks):
        for row in range(numrecs):
            if get("v", row, column) != [value_of(row, column, x, 1) for x in range(NX)]:
                wrong.append(f"record {row}, column {column}")
        for row in range(flushed):
            if get("f", row, column) != [value_of(row, column, x, 1) for x in range(NX)]:
                wrong.append(f"row {row} of f, column {column}")
    versions = set()
    for column in range(ranks) if flushed > 0 else []:
        for x, got in enumerate(get("w", 0, column)):
            version, rest = divmod(got, 100000)
            versions.add(version)
            if rest != value_of(0, column, x, 0) or not flushed <= version <= ROWS:
                wrong.append(f"w of column {column}, value {x}: {got}")
                break
    return wrong, numrecs, versions


def check(ranks, where, processes):
    """After a death."""
    if not os.path.exists(MARK):
        wrong, numrecs, _ = find_wrong(ranks, read_flushed())
        left = os.listdir(LOGS)
        return tap.ok(not wrong and (not left or read_flushed() in (0, ROWS)),
                      f"{where}: no mark, {numrecs} records", (wrong, left))
    listed = tool.run("ncmpilog", PATH)
    tap.ok(listed.returncode == 2 and f"{ranks} logs".encode() in listed.stdout,
           f"{where}: ncmpilog says that values wait", listed)
    names = [name for name in os.listdir(LOGS) if ".log" in name]
    kept = {name: open(os.path.join(LOGS, name), "rb").read() for name in names}
    with open(MARK, "rb") as file:
        mark = file.read()
    died = os.stat(PATH).st_mtime_ns
    for again in (False, True): # what has been written already is written once more
        status, text = replay(ranks=processes)
        wrong, numrecs, versions = find_wrong(ranks, read_flushed())
        tap.ok(status == 0 and not wrong and not os.path.exists(MARK) and not os.listdir(LOGS),
               f"{where}: {'again, ' if again else ''}{numrecs} records, {read_flushed()} steps were flushed, "
               f"versions {sorted(versions)}", (status, text, wrong))
        if not again:
            with open(MARK, "wb") as file:
                file.write(mark)
            for name, content in kept.items():
                with open(os.path.join(LOGS, name), "wb") as file:
                    file.write(content)
            os.utime(PATH, ns=(died, died)) # the logs do not know of the first replay
    return True


def run(ranks, rank, kind, at):
    """Whether the program died."""
    status, output, text = run_program(ranks, rank, kind, at)
    if status == 0:
        tap.ok("not ok" not in output and not find_wrong(ranks, ROWS)[0] and not os.path.exists(MARK) and
               not os.listdir(LOGS), "the program without a death", (output, text, os.listdir(LOGS)))
    return status != 0


def check_deaths():
    for n in (1, 2) if tap.is_quick() else (1, 2, 4):
        for dying in [-1] if n == 1 else [-1, n - 1]:
            for kind in ("log", "worker"):
                number = 0
                while run(n, dying, kind, number):
                    check(n, f"{n} ranks, {'all' if dying < 0 else 'rank ' + str(dying)} at {kind} {number}",
                          1 + number % 2)
                    number += tap.choose(18, 16, 1) if number >= 4 else 1
                tap.ok(number >= 5, f"{n} ranks: {number} writes of {kind}")


def die(ranks):
    """With all that was put in the logs."""
    return run(ranks, -1, "held", 9)


def check_refusals():
    """Logs that are missing or damaged, another file, a mark that is damaged."""
    tap.ok(die(2), "a program that died")
    names = sorted(os.listdir(LOGS))
    with open(PATH, "rb") as file:
        before = file.read()
    os.rename(os.path.join(LOGS, names[1]), LOGS + ".kept")
    status, text = replay()
    tap.ok(status == 1 and names[1] in text and "rank 1" in text and "--partial" in text,
           "a log that is missing is named", text)
    os.rename(LOGS + ".kept", os.path.join(LOGS, names[1]))
    path = os.path.join(LOGS, names[0])
    with open(path, "rb") as file:
        log = file.read()
    for at in (None, RECORDS_AT + 44):
        with open(path, "wb") as file:
            file.write(bytes(256) + log[256:] if at is None else log[:at] + bytes([log[at] ^ 1]) + log[at + 1:])
        status, text = replay()
        tap.ok(status == 1 and names[0] in text and "damaged" in text,
               f"a log that is damaged {'in both fronts' if at is None else f'at byte {at}'}", text)
    with open(path, "wb") as file:
        file.write(log)
    os.rename(PATH, PATH + ".kept")
    shutil.copyfile(PATH + ".kept", PATH)
    status, text = replay()
    tap.ok(status == 1 and "another one" in text, "a file that is a copy", text)
    os.rename(PATH + ".kept", PATH)
    with open(MARK, "rb") as file:
        mark = file.read()
    with open(MARK, "wb") as file:
        file.write(mark.replace(b"ranks 2", b"ranks 9"))
    status, text = replay()
    tap.ok(status == 1 and "damaged" in text, "a mark that is damaged", text)
    with open(MARK, "wb") as file:
        file.write(mark)
    with open(PATH, "rb") as file:
        tap.ok(file.read() == before, "the file is unchanged after each of them")
    valid = tool.run("ncvalidator", PATH)
    tap.ok(valid.returncode == 0 and b"ncmpilog" in valid.stderr, "ncvalidator says that values wait", valid)
    listed = tool.run("ncmpilog", *(os.path.join(LOGS, name) for name in names), MARK)
    tap.ok(listed.returncode in (0, 2) and b"rank 0 of 2" in listed.stdout and b"rank 1 of 2" in listed.stdout and
           b"--replay" in listed.stdout, "ncmpilog lists logs and the mark", listed)
    os.remove(path)
    status, text = replay("--partial")
    wrong, numrecs, _ = find_wrong(1, 0)
    tap.ok(status == 2 and not os.path.exists(MARK) and not os.listdir(LOGS) and get_version() == 1,
           f"--partial does without a log: {numrecs} records", (status, text, wrong))
    status, text = replay()
    tap.ok(status == 1 and "no mark" in text, "nothing remains to be written", text)
    tool.fails("ncmpilog", "no file is given", "no file")
    tool.fails("ncmpilog", "need --replay", "--partial alone", "--partial", PATH)
    tool.fails("ncmpilog", "single file", "two files", "--replay", LOGS, PATH, PATH)
    listed = tool.run("ncmpilog", PATH)
    tap.ok(listed.returncode == 0 and b"no burst buffer" in listed.stdout, "a file without a mark", listed)


def get_version():
    with open(PATH, "rb") as file:
        return file.read(4)[3]


# --- deaths of a replay ---

def check_replay_deaths():
    """A replay dies at each change of a file, or within it; the next one makes it complete."""
    preload = build_preload()
    if preload is None:
        tap.skip("deaths of a replay", "a preload cannot be used here")
        return
    for ranks, processes in ((1, 1), (2, 2)) if tap.is_quick() else ((1, 1), (2, 1), (2, 2), (4, 2)):
        put_rows(ranks)
        kept, number, marks = keep_all(), 0, 0
        while replay_and_die(preload, number, processes):
            has_mark = os.path.exists(MARK)
            status, text = replay(ranks=processes)
            tap.ok(status == (0 if has_mark else 1) and is_complete(ranks) and not os.path.exists(MARK) and
                   (has_mark or "no mark" in text),
                   f"{ranks} ranks, {processes} processes: a replay after the death of one at change {number}, "
                   f"{'with' if has_mark else 'without'} a mark", (status, text))
            marks += has_mark
            number += tap.choose(5, 4, 1) if number >= 4 else 1
            restore_all(kept)
        tap.ok(number > 12 and marks > 6 and is_complete(ranks) and not os.listdir(LOGS),
               f"{ranks} ranks, {processes} processes: {number} changes of files", marks)


# --- two nodes, two programs ---

def move_to_nodes():
    """The logs of 4 ranks become those of two nodes, of which each has its own folder."""
    nodes = [os.path.abspath(tap.scratch(f"node{i}")) for i in range(2)]
    for node in nodes:
        shutil.rmtree(node, ignore_errors=True)
        os.mkdir(node)
    for name in os.listdir(LOGS):
        shutil.move(os.path.join(LOGS, name), nodes[int(name.split(".")[-2]) // 2])
    return nodes


def check_nodes():
    put_rows(4)
    nodes = move_to_nodes()
    kept = keep_all(*nodes)
    status, text = replay(folder=nodes[0])
    tap.ok(status == 1 and "rank 2" in text and "rank 3" in text and "rank 1" not in text and
           keep_all(*nodes) == kept, "without the second node nothing is changed", text)
    mpiexec = shlex.split(os.environ.get("MPIEXEC", "mpiexec"))
    words = [*tool.command("ncmpilog"), "--replay", ".", PATH]
    done = subprocess.run([*mpiexec, "-n", "1", "-wdir", nodes[0], *words, ":", "-n", "1", "-wdir", nodes[1], *words],
                          capture_output=True, text=True, check=False)
    tap.ok(done.returncode == 0 and is_complete(4) and not os.listdir(nodes[0]) and not os.listdir(nodes[1]),
           "a process of each node replays its folder", done)
    restore_all(kept)
    status, text = replay("--partial", folder=nodes[1])
    numrecs, get = read_file()
    good = [all(get("v", row, column) == [value_of(row, column, x, 1) for x in range(NX)] for row in range(PUT))
            for column in range(4)]
    tap.ok(status == 2 and "rank 0" in text and not os.path.exists(MARK) and numrecs == PUT and
           good == [False, False, True, True] and get("w", PUT - 1, 2)[0] // 100000 == PUT,
           "--partial writes what the second node has", (text, numrecs, good))
    for node in nodes:
        shutil.rmtree(node)


def check_partial_calls():
    """The log of one rank ends early, the other is missing: complete calls only."""
    put_rows(2)
    names = sorted(os.listdir(LOGS), key=lambda name: int(name.split(".")[-2]))
    os.remove(os.path.join(LOGS, names[0]))
    path = os.path.join(LOGS, names[1])
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)
    status, text = replay("--partial")
    numrecs, get = read_file()
    good = [get("v", row, 1) == [value_of(row, 1, x, 1) for x in range(NX)] for row in range(numrecs)]
    tap.ok(status == 2 and 1 < numrecs < PUT and all(good), f"{numrecs} complete records of a log that ends early",
           (status, text, good))
    clear()


def check_failed_write():
    """A write to the file fails before the put has returned, which the logs have: a replay writes it."""
    clear()
    status, output, text = tap.run_mpi(2, "test/mpi/test_burst_buffer", PATH, LOGS, "1", "fails", str(PUT))
    tap.ok(status == 0 and "not ok" not in output, "a program whose last write fails", (status, output, text))
    status, text = replay()
    numrecs, get = read_file()
    good = [get("v", row, column) == [value_of(row, column, x, 1) for x in range(NX)]
            for row in range(numrecs) for column in range(2)]
    tap.ok(status == 0 and numrecs == PUT and all(good), "a replay writes the put whose write to the file has failed",
           (status, text, numrecs, good))


def check_programs():
    """A second program that opens the file, or creates it, while the first one has values in logs."""
    clear()
    program = subprocess.Popen([*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", "2",
                                os.path.join(tool.BUILD, "test/mpi/test_burst_buffer"), PATH, LOGS, "99", "waits", "0"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    for _ in range(3000):
        if read_flushed() == ROWS:
            break
        time.sleep(0.01)
    status, out, text = tap.run_mpi(2, "test/tools/grow_and_die", "open", PATH)
    tap.ok(status == 0 and out.split() == ["0", "-280"] and os.path.exists(MARK),
           "a second program may read the file, and cannot open it for writing", (status, out, text))
    status, text = replay()
    tap.ok(status == 1 and "runs" in text and os.path.exists(MARK), "ncmpilog says that the program runs", text)
    with open(PATH + ".go", "wb"):
        pass
    _, text = program.communicate()
    wrong, numrecs, versions = find_wrong(2, ROWS)
    tap.ok(program.returncode == 0 and not wrong and numrecs == ROWS and versions == {ROWS} and
           not os.path.exists(MARK) and not os.listdir(LOGS), "the first one goes on undisturbed",
           (text, wrong, numrecs, versions))
    os.remove(PATH + ".go")


def check_forged():
    """A log whose digests are right and whose blocks belong elsewhere changes nothing: the header is no place for
    values."""
    tap.ok(die(1), "a program that died")
    name = os.path.join(LOGS, os.listdir(LOGS)[0])
    with open(name, "rb") as file:
        log = bytearray(file.read())
    with open(PATH, "rb") as file:
        before = file.read()
    for offset in (0, 20, 1 << 40, (1 << 63) - 8):
        struct.pack_into("<q", log, RECORDS_AT + 32, offset)
        seal_record(log, RECORDS_AT)
        with open(name, "wb") as file:
            file.write(log)
        status, text = replay()
        with open(PATH, "rb") as file:
            tap.ok(status == 1 and file.read() == before, f"a block at byte {offset} is refused", (status, text))
    clear()


check_deaths()
check_refusals()
check_replay_deaths()
check_nodes()
check_partial_calls()
check_failed_write()
check_programs()
if sys.byteorder == "little":
    check_forged()
clear()
shutil.rmtree(LOGS, ignore_errors=True)
tap.finish()
