"""When a replay of logs (ncmpilog --replay) changes nothing, and when it does: each part names the sentence of
docs/hidden.md that it holds. Files are replaced, moved and damaged here, without the library."""
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
from burst import (FLUSHED, LOGS, MARK, NX, PATH, PUT, RECORDS_AT, ROWS, begin_digest, build_preload, clear, digest,
                   is_complete, keep_all, put_rows, read_file, replay, replay_and_die, restore_all, seal_record,
                   value_of)

SECOND = 1000000000
DEAD_SINCE = 3600
COPIES = os.path.abspath(tap.scratch("burst_copies"))
PRELOAD = build_preload()


def says(sentence):
    """The sentence stands in the page."""
    with open(os.path.join(HERE, "..", "..", "docs", "hidden.md"), encoding="utf-8") as file:
        page = " ".join(file.read().split())
    tap.ok(sentence in page, f"docs/hidden.md: {sentence}")


def load(path):
    with open(path, "rb") as file:
        return file.read()


def overwrite(path, content):
    """As cp does: the file remains the same one. Its time becomes that of now."""
    with open(path, "r+b") as file:
        file.write(content)
        file.truncate()


def move_time(seconds):
    when = os.stat(PATH).st_mtime_ns + seconds * SECOND
    os.utime(PATH, ns=(when, when))


def is_refused(result, before, *words):
    """Nothing has changed, and the message has these words."""
    status, text = result
    return status == 1 and all(word in text for word in words) and load(PATH) == before and os.path.exists(MARK)


def list_logs():
    return sorted(os.path.join(LOGS, name) for name in os.listdir(LOGS))


# --- another dataset ---

def check_replaced():
    says("its header is another one")
    says("Then delete `out.nc.burst` and the logs")
    put_rows(2)
    kept = keep_all()
    other = load(PATH).replace(b"\0\0\0\1v\0\0\0", b"\0\0\0\1u\0\0\0")
    overwrite(PATH, other)
    result = replay()
    tap.ok(is_refused(result, other, "another dataset", "header", "delete the mark " + MARK, "--assume-same"),
           "a dataset of the same size with another name of a variable replaces that of the logs", result)
    status, out, text = tap.run_mpi(1, "test/tools/grow_and_die", "open", PATH)
    tap.ok("-280" in out, "a program cannot open it for writing", (status, out, text))
    restore_all(kept)
    with open(PATH, "r+b") as file: # the number of records is no part of the header's digest
        file.seek(4)
        file.write(struct.pack(">i", 1))
        file.truncate(os.path.getsize(PATH) + 100)
    result = replay()
    tap.ok(result[0] == 0 and is_complete(2), "the same dataset with another number of records", result)


def check_later():
    says("it was written more than a minute after the program has last done so")
    says("if the dataset is the same, `--assume-same` writes what they have")
    put_rows(2)
    kept = keep_all()
    move_time(100)
    before = load(PATH)
    result = replay()
    tap.ok(is_refused(result, before, "another dataset", "was written", "delete the mark " + MARK, "--assume-same"),
           "a file that was written 100 s later", result)
    result = replay("--assume-same", ranks=2)
    tap.ok(result[0] == 0 and is_complete(2), "--assume-same", result)
    restore_all(kept)
    move_time(20)
    result = replay()
    tap.ok(result[0] == 0 and is_complete(2), "a file that was written 20 s later", result)


def set_times(path, when):
    """The time in both slots of a log."""
    log = bytearray(load(path))
    for at in (256, 384):
        struct.pack_into("<q", log, at, when)
        log[at + 8:at + 120] = bytes(112)
        struct.pack_into("<Q", log, at + 120, digest(begin_digest(log), log[at:at + 120]))
    overwrite(path, log)


def make_old():
    """The program has died an hour ago."""
    when = time.time_ns() - DEAD_SINCE * SECOND
    for path in list_logs():
        set_times(path, when)
    os.utime(PATH, ns=(when, when))


def check_interrupted():
    says("A replay that is interrupted can be repeated.")
    if PRELOAD is None:
        tap.skip("deaths of a replay", "a preload cannot be used here")
        return
    put_rows(2)
    make_old()
    kept, marks = keep_all(), 0
    for number in range(tap.choose(6, 12, 24)):
        died = replay_and_die(PRELOAD, number, 1 + number % 2)
        has_mark = os.path.exists(MARK)
        result = replay()
        marks += died and has_mark
        tap.ok(result[0] == (0 if has_mark else 1) and is_complete(2),
               f"a replay long after the death, which dies at change {number}, is repeated", result)
        restore_all(kept)
    tap.ok(marks > 3, f"{marks} deaths with a mark")
    clear()


def check_changed():
    says("A call that changes the header waits for all writes and deletes mark and logs")
    put_rows(2, "changes")
    result = replay()
    tap.ok(result[0] == 0 and is_complete(2), "definitions that change while there are logs", result)


# --- programs ---

def start_program():
    """One that has values in logs, and waits."""
    clear()
    program = subprocess.Popen([*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", "2",
                                os.path.join(tool.BUILD, "test/mpi/test_burst_buffer"), PATH, LOGS, "99", "waits", "0"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    for _ in range(6000):
        if os.path.exists(FLUSHED) and load(FLUSHED).split() == [str(ROWS).encode()]:
            break
        time.sleep(0.01)
    return program


def copy_logs():
    shutil.rmtree(COPIES, ignore_errors=True)
    shutil.copytree(LOGS, COPIES)


def check_copies():
    says("Its locks of logs and file show that on its node, also if the logs are copies")
    program = start_program()
    copy_logs()
    for ranks, words in ((1, []), (2, []), (1, ["--assume-dead"]), (1, ["--partial", "--assume-same"])):
        result = replay(*words, ranks=ranks, folder=COPIES)
        tap.ok(result[0] == 1 and "runs" in result[1] and os.path.exists(MARK) and len(os.listdir(COPIES)) == 2,
               f"copies of the logs of a program that runs, {ranks} processes {words}", result)
    with open(PATH + ".go", "wb"):
        pass
    program.communicate()
    tap.ok(program.returncode == 0 and not os.path.exists(MARK), "the program goes on")
    os.remove(PATH + ".go")
    put_rows(2)
    copy_logs()
    result = replay(folder=COPIES)
    tap.ok(result[0] == 0 and is_complete(2) and not os.listdir(COPIES), "copies after its death", result)


def replay_with(variables, *words):
    result = subprocess.run([*tool.command("ncmpilog"), "--replay", LOGS, *words, PATH], capture_output=True,
                            text=True, check=False, env={**os.environ, "LD_PRELOAD": PRELOAD, **variables})
    return result.returncode, result.stdout + result.stderr


def seal_fronts(path, node):
    """The log of another node."""
    log = bytearray(load(path))
    for at in (0, 128):
        struct.pack_into("<q", log, at + 64, node)
        struct.pack_into("<Q", log, at + 120, digest(14695981039346656037, log[at:at + 120]))
    overwrite(path, log)


def check_nodes():
    says("Elsewhere it needs `--assume-dead`")
    if PRELOAD is None:
        tap.skip("files on servers", "a preload cannot be used here")
        return
    put_rows(2)
    before = load(PATH)
    result = replay_with({"FAR_FILES": "1"})
    tap.ok(result[0] == 0 and is_complete(2), "logs on servers, on the node of their program", result)
    put_rows(2)
    before = load(PATH)
    seal_fronts(list_logs()[1], 12345)
    result = replay_with({"FAR_FILES": "1"})
    tap.ok(is_refused(result, before, "--assume-dead", os.path.basename(list_logs()[1])), "on another node", result)
    result = replay_with({"FAR_FILES": "1"}, "--assume-dead")
    tap.ok(result[0] == 0 and is_complete(2), "the same with --assume-dead", result)


def is_stopped(program):
    with open(f"/proc/{program.pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def check_two_replays():
    says("**Another replay runs**, or a program has values in logs: they exclude each other")
    if PRELOAD is None:
        tap.skip("two replays", "a preload cannot be used here")
        return
    put_rows(2)
    env = {**os.environ, "LD_PRELOAD": PRELOAD, "DIE_FOLDER": os.path.dirname(PATH), "STOP_AT": "4"}
    first = subprocess.Popen([*tool.command("ncmpilog"), "--replay", LOGS, PATH], env=env, stdout=subprocess.DEVNULL)
    for _ in range(6000):
        if is_stopped(first) or first.poll() is not None:
            break
        time.sleep(0.01)
    before = load(PATH)
    result = replay()
    tap.ok(first.poll() is None and is_refused(result, before, "another replay"), "a second replay", result)
    first.send_signal(18) # SIGCONT
    tap.ok(first.wait() == 0 and is_complete(2) and not os.path.exists(MARK), "the first one goes on")


def check_owner():
    says("**A log belongs to another user** than the one who runs the replay; `--any-owner` permits it.")
    if PRELOAD is None:
        tap.skip("another user", "a preload cannot be used here")
        return
    put_rows(2)
    before = load(PATH)
    for words in ([], ["--partial"]):
        result = replay_with({"FAR_USER": "1"}, *words)
        tap.ok(is_refused(result, before, "--any-owner"), f"logs of another user {words}", result)
    result = replay_with({"FAR_USER": "1"}, "--any-owner")
    tap.ok(result[0] == 0 and is_complete(2), "--any-owner", result)


# --- the number of records ---

def check_numbers():
    says("**A record is counted that has no value**, neither in the file nor in a log")
    put_rows(2)
    kept = keep_all()
    for bit in (0x40, 0x01):
        content = bytearray(kept[PATH][0])
        content[4] |= bit
        overwrite(PATH, content)
        os.utime(PATH, ns=(kept[PATH][1], kept[PATH][1]))
        result = replay()
        tap.ok(is_refused(result, bytes(content), "records", "--partial"),
               f"bit {bit:#x} of the number of records in the header", result)
    restore_all(kept)
    for path in list_logs():
        log = bytearray(load(path))
        at = RECORDS_AT
        while at < len(log):
            kind, length = struct.unpack_from("<q", log, at + 8)[0], struct.unpack_from("<q", log, at + 40)[0]
            if kind == 2:
                struct.pack_into("<q", log, at + 48, 1 << 30)
                seal_record(log, at)
            at += 64 + length
        overwrite(path, log)
    result = replay()
    tap.ok(is_refused(result, kept[PATH][0], "records", "the logs say"), "the number in the logs", result)
    result = replay("--partial")
    tap.ok(result[0] == 0 and is_complete(2), "--partial sets the number of records that have values", result)


# --- names ---

def check_names():
    says("if you rename the file, rename the mark, too. It is not found through another hard link.")
    put_rows(1)
    moved, linked = PATH + ".moved", PATH + ".linked"
    for path in (moved, linked, moved + ".burst"):
        if os.path.exists(path):
            os.remove(path)
    os.link(PATH, linked)
    listed = tool.run("ncmpilog", linked)
    tap.ok(listed.returncode == 0 and (linked + ".burst").encode() in listed.stdout,
           "through a hard link ncmpilog names the mark that there is not", listed)
    os.rename(PATH, moved)
    os.rename(MARK, moved + ".burst")
    result = tool.run("ncmpilog", "--replay", LOGS, moved)
    os.rename(moved, PATH)
    numrecs, get = read_file()
    tap.ok(result.returncode == 0 and numrecs == PUT and is_complete(1) and
           get("v", 0, 0) == [value_of(0, 0, x, 1) for x in range(NX)], "a file that was renamed with its mark", result)
    os.remove(linked)


if sys.byteorder == "little":
    check_interrupted()
    check_nodes()
    check_numbers()
check_replaced()
check_later()
check_changed()
check_copies()
check_two_replays()
check_owner()
check_names()
clear()
for left in (LOGS, COPIES):
    shutil.rmtree(left, ignore_errors=True)
tap.finish()
