"""While one program moves data to the offsets of a longer header, another one opens the file for writing, or repairs it
by ncvalidator: the file stays as the first program needs it, and what the second one returns says that it runs. The
first one is stopped at each of its writes, loses its first rank, or runs. numpy and netCDF4 compare the values, and
Python the bytes. PNC_TEST_LIVE: so many moves that are not stopped."""
import fcntl
import os
import random
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time

import netCDF4
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import death
import tap
import tool

QUICK = tap.is_quick()
RUNS = int(os.environ.get("PNC_TEST_LIVE", tap.choose(1, 3, 50)))
SEED = int(os.environ.get("PNC_TEST_SEED", random.randrange(10**6)))
HELPER = "test/tools/move_and_wait"
MPIEXEC = shlex.split(os.environ.get("MPIEXEC", "mpiexec"))
INTERRUPTED = -280
SHAPE = 2100, 301, 9 # of the fixed-size variable, of a record, and records
RECORD, RECORDS = SHAPE[1:]
LIFE_BYTE = 1 << 62
ENDED = ("gone", "Z", "X") # states of a process

# The file before; bytes per access; what is added: see move_and_wait.c.
CASES = [
    ("a distance as long as direct steps", "base.nc", 1024, 1500, 0, 0),
    ("a longer record", "base.nc", 1024, 0, 0, 20),
    ("an attribute that crosses pages changes in data mode", "spacious.nc", 1024, -9000, 0, 0),
]


def make_large(path):
    fixed = numpy.arange(20 * 10**6, dtype=numpy.int64).astype(numpy.int16)
    record = numpy.arange(RECORDS * RECORD).reshape(RECORDS, RECORD).astype(numpy.int16)
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as data: # pylint: disable=no-member
        data.set_fill_off()
        for name, length in (("t", None), ("x", len(fixed)), ("y", RECORD)):
            data.createDimension(name, length)
        data.createVariable("fixed", "i2", ["x"])[:] = fixed
        data.createVariable("record", "i2", ["t", "y"])[:] = record
    return fixed, record


def compare(path, values):
    return death.read(path, lambda data: death.judge(data, values))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def is_marked(path):
    return read(path)[3] & 0x80 != 0


# --- programs ---

def environment(**extra):
    """Of programs: with other_node.so, and what it reads."""
    libraries = [os.environ["PNC_TEST_YIELD"]] if os.environ.get("PNC_TEST_YIELD", "no") != "no" else []
    if extra:
        libraries.append(os.path.abspath(os.path.join(tool.BUILD, "test/tools/other_node.so")))
    return {**os.environ, **extra, **({"LD_PRELOAD": ":".join(libraries)} if libraries else {})}


def start(ranks, *arguments, wrapper=(), env=None):
    env = environment(**(env or {}))
    preload = ["env", "LD_PRELOAD=" + env.pop("LD_PRELOAD")] if "LD_PRELOAD" in env else []
    return subprocess.Popen([*MPIEXEC, "-n", str(ranks), *preload, *wrapper, os.path.join(tool.BUILD, HELPER),
                             *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=env)


def run(ranks, *arguments, env=None):
    """Codes of all ranks, and the rest of the output."""
    out, err = start(ranks, *arguments, env=env).communicate()
    codes, _, rest = out.partition("\n")
    return codes.split(), rest + err


def validate(*options, env=None):
    if os.path.exists("copy.nc"):
        os.remove("copy.nc")
    done = tool.run("ncvalidator", "--repair", *options, env=environment(**(env or {})))
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def start_move(case, ranks, rank, how, count, wrapper=(), env=None):
    if os.path.exists("live.nc"):
        os.remove("live.nc") # ranks that a launcher has left alive hold the one that they have opened
    shutil.copy(case[1], "live.nc")
    for i in range(ranks):
        if os.path.exists(f"live.nc.{i}"):
            os.remove(f"live.nc.{i}")
    return start(ranks, "move", "live.nc", *case[2:], rank, how, count, wrapper=wrapper, env=env)


def process_of(rank, writer):
    while writer.poll() is None:
        if os.path.exists(f"live.nc.{rank}"):
            return int(read(f"live.nc.{rank}"))
        time.sleep(0.002)
    return None


def state_of(pid):
    try:
        return read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return "gone"


def is_stopped(pid, writer):
    """Wait until the process stops, or the program ends."""
    while True:
        state = state_of(pid)
        if state == "T":
            return True
        if state in ENDED or writer.poll() is not None:
            return False
        time.sleep(0.001)


# --- what a second program finds ---

def wait_until_stable(path):
    """The other ranks write until they wait for the one that has stopped."""
    before = None
    while before != read(path):
        before = read(path)
        time.sleep(0.03)


def intrude(path, env=None, ranks=1):
    """An open for writing and repairs of a file that another program changes. Returns what is wrong."""
    wait_until_stable(path)
    bad, before, marked = [], read(path), is_marked(path)
    codes, message = run(ranks, "open", path, "automatic", env=env)
    if codes != [str(INTERRUPTED if marked else 0)] * ranks or (marked and "that is running" not in message):
        bad.append(("open", marked, codes, message))
    status, message = validate("--in-place", path, env=env)
    if status != 1 or "that is running" not in message:
        bad.append(("--in-place", marked, status, message))
    status, message = validate("--output=copy.nc", path, env=env)
    if status != 1 or os.path.exists("copy.nc") or "that is running" not in message:
        bad.append(("--output", marked, status, message))
    if read(path) != before:
        bad.append(("the bytes of the file", marked))
    return bad


def stop_everywhere(case, ranks, rank, env=None):
    """A rank stops before each operation on the file, and a second program tries meanwhile."""
    writer = start_move(case, ranks, rank, "stop", 0, env=env)
    pid, steps, tried, bad = process_of(rank, writer), 0, 0, []
    while pid is not None and is_stopped(pid, writer):
        if steps % (9 if QUICK else 1) == 0:
            bad += [(steps, *what) for what in intrude("live.nc", env, 1 + steps % 2)]
            tried += 1
        steps += 1
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.002)
    out, err = writer.communicate()
    found = compare("live.nc", VALUES)
    tap.ok(not bad and found == "new" and steps > 1 and out.split() == ["0"] * ranks,
           f"{case[0]}, {ranks} ranks, rank {rank} stops {steps} times: a second program is refused {tried} times, and "
           f"the values are {found}", "\n".join(map(str, bad[:5])) + out + err)


def read_while_stopped():
    """Readers get the same sentence."""
    writer = start_move(CASES[0], 2, 0, "stop", 12)
    pids = [process_of(rank, writer) for rank in range(2)]
    stopped = None not in pids and is_stopped(pids[0], writer) and is_marked("live.nc")
    codes, message = run(2, "read", "live.nc")
    tap.ok(stopped and codes == ["-280"] * 2 and "that is running" in message, "an open for reading, too", message)
    end(writer, [pid for pid in pids if pid is not None])


def end(writer, pids):
    """Kill a program."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    while any(state_of(pid) not in ENDED for pid in pids):
        time.sleep(0.01)
    writer.kill()
    writer.communicate()


# --- the first rank has died ---

def die_first():
    """Others hold the file as long as they live. The launcher ends what it has started, so that is a shell; and they
    are stopped, as MPI would end them."""
    writer = start_move(CASES[0], 3, 0, "stop", 12, wrapper=["sh", "-c", 'setsid "$0" "$@" & wait $!'])
    pids = [process_of(rank, writer) for rank in range(3)]
    if None in pids or not is_stopped(pids[0], writer):
        tap.ok(False, "the first rank has died, others run", writer.communicate())
        return
    wait_until_stable("live.nc")
    for pid in pids[1:]:
        os.kill(pid, signal.SIGSTOP)
        is_stopped(pid, writer)
    os.kill(pids[0], signal.SIGKILL)
    while state_of(pids[0]) not in ENDED:
        time.sleep(0.01)
    time.sleep(0.1)
    alive = [pid for pid in pids[1:] if state_of(pid) not in ENDED]
    if len(alive) < 2:
        tap.skip("the first rank has died, others run", f"this launcher ends the others: {alive} run")
        end(writer, alive)
        return
    bad = intrude("live.nc")
    tap.ok(not bad, "the first rank has died, others run: a second program is refused", "\n".join(map(str, bad)))
    end(writer, alive)
    codes, message = run(1, "open", "live.nc", "automatic")
    tap.ok(codes == ["0"] and compare("live.nc", VALUES) == "new",
           "after these have died, too, the next open completes the move", message)


# --- locks that cannot be trusted ---

def stop_once(count, env):
    writer = start_move(CASES[0], 2, 0, "read", count, env=env)
    pid = process_of(0, writer)
    return writer, pid, pid is not None and is_stopped(pid, writer)


def take_over(count, by_hint, own, others):
    """A second program assumes that the first one is dead, which stops before a read. Returns None if there is no such
    read, else what is wrong."""
    writer, pid, stopped = stop_once(count, own)
    if not stopped:
        writer.communicate()
        return None
    wait_until_stable("live.nc")
    if len(read("live.nc")) == os.path.getsize("base.nc"): # no journal yet: nothing shows what begins
        end(writer, [pid])
        return []
    bad, before, marked = [], read("live.nc"), is_marked("live.nc")
    codes, message = run(2, "open", "live.nc", "automatic", env=others)
    if codes != (["-280"] * 2 if marked else ["0"] * 2) or (marked and "nc_repair=assume_dead" not in message):
        bad.append(("open", codes, message))
    for options in (["--in-place"], ["--output=copy.nc"]):
        status, message = validate(*options, "live.nc", env=others)
        if status != 1 or "--assume-dead" not in message or read("live.nc") != before:
            bad.append((options, status, message))
    if by_hint and marked:
        codes, message = run(2, "open", "live.nc", "assume_dead", env=others)
        done = codes == ["0"] * 2
    else:
        status, message = validate("--in-place", "--assume-dead", "live.nc", env=others)
        done = status in (0, 2)
    after, found = read("live.nc"), compare("live.nc", VALUES)
    if not done or found != ("new" if marked else "old"):
        bad.append(("--assume-dead", done, found, message))
    os.kill(pid, signal.SIGCONT)
    out, err = writer.communicate()
    if "0" in out.split() or len(out.split()) != 2 or read("live.nc") != after:
        bad.append(("the first program", out, err, "its file has changed" if read("live.nc") != after else ""))
    return bad


def take_over_everywhere(label, own, others):
    bad, count, tried = [], 1, 0
    while True:
        wrong = take_over(count, tried % 2 == 0, own, others)
        if wrong is None:
            break
        bad += [(count, *what) for what in wrong]
        tried += 1
        count += 23 if QUICK else 4
    tap.ok(not bad and tried > 1, f"{label}: a second program repairs only by --assume-dead or the hint, and the first "
           f"one then writes nothing more, {tried} times", "\n".join(map(str, bad[:5])))


def leave_dead(env):
    writer = start_move(CASES[0], 2, 0, "die", 12, env=env)
    writer.communicate()
    return is_marked("live.nc")


def repair_dead(label, own, others, trusts):
    """The writer has died."""
    marked = leave_dead(own)
    codes, message = run(2, "open", "live.nc", "automatic", env=others)
    good = codes == (["0"] * 2 if trusts else ["-280"] * 2)
    if not trusts:
        good = good and validate("--output=copy.nc", "live.nc", env=others)[0] == 1 and \
            validate("--output=copy.nc", "--assume-dead", "live.nc", env=others)[0] in (0, 2) and \
            compare("copy.nc", VALUES) == "new" and is_marked("live.nc")
        good = good and validate("--in-place", "--assume-dead", "live.nc", env=others)[0] in (0, 2)
    tap.ok(marked and good and compare("live.nc", VALUES) == "new",
           f"{label}, the writer has died: {'it is known' if trusts else 'repaired only on request'}", message)


def test_untrusted():
    for name, number in (("node-1", 1), ("node-2", 2)):
        with open(name, "w", encoding="ascii") as file:
            file.write(f"{number:08x}-0000-4000-8000-000000000000\n")
    shared = {"PNC_TEST_SHARED": "1", "PNC_TEST_NODE": os.path.abspath("node-1")}
    other = {**shared, "PNC_TEST_NODE": os.path.abspath("node-2"), "PNC_TEST_LOCKS": "ignore"}
    none = {**shared, "PNC_TEST_LOCKS": "no"}
    take_over_everywhere("another node, which does not see the locks", shared, other)
    take_over_everywhere("a file system without locks", none, none)
    stop_everywhere(CASES[2], 2, 0, env=shared)
    repair_dead("a shared file system, one node", shared, shared, True)
    repair_dead("a shared file system, another node", shared, other, False)
    repair_dead("a file system without locks", none, none, False)
    repair_dead("a local file system, after the node has started again", {"PNC_TEST_NODE": os.path.abspath("node-1")},
                {"PNC_TEST_NODE": os.path.abspath("node-2")}, True)


# --- a repair excludes others ---

def exclude():
    """The lock of a repair, set by hand."""
    shutil.copy("base.nc", "live.nc")
    before = read("live.nc")
    with open("live.nc", "r+b") as file:
        lock = struct.pack("hhqqixxxx", fcntl.F_WRLCK, os.SEEK_SET, LIFE_BYTE, 1, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
        out, err = start(2, "move", "live.nc", *CASES[0][2:], 0, "run", 0).communicate()
        status, message = validate("--in-place", "live.nc")
    tap.ok(out.split() == ["-280"] * 2 and read("live.nc") == before, "a repair runs: enddef fails and changes nothing",
           out + err)
    tap.ok(status == 1 and "that is running" in message, "and so does a second repair", message)


# --- programs that run ---

def run_both(rng, case, values, folder):
    """A second program comes at random moments. Returns how often it was refused, and how often not; and what is
    wrong."""
    path, seen, bad = os.path.join(folder, "live.nc"), {"refused": 0, "opened": 0}, []
    shutil.copy(case[1], path)
    writer = start(rng.choice((1, 2)), "move", path, *case[2:], 0, "run", 0)
    while writer.poll() is None:
        time.sleep(rng.random() * 0.2)
        kind = rng.randrange(3)
        if kind == 0:
            refused = run(1, "open", path, "automatic")[0] == ["-280"]
        elif kind == 1:
            refused = validate("--in-place", path)[0] == 1
        else:
            copy = path + ".copy"
            refused = validate("--output=" + copy, path)[0] == 1
            if not refused and compare(copy, values) not in ("old", "new"):
                bad.append("a wrong copy")
            if os.path.exists(copy):
                os.remove(copy)
        seen["refused" if refused else "opened"] += 1
    out, err = writer.communicate()
    found, codes = compare(path, values), set(out.split())
    if (found, codes) not in (("new", {"0"}), ("old", {"-280"})): # -280: a repair ran before it began
        bad.append((found, out, err))
    os.remove(path)
    return seen, bad


def run_at_random():
    values = make_large("large.nc")
    case = ("", "large.nc", 8192, 1500, 0, 0)
    rng, seen, bad = random.Random(SEED), {"refused": 0, "opened": 0}, []
    for _ in range(RUNS):
        counts, wrong = run_both(rng, case, values, ".")
        seen = {key: n + counts[key] for key, n in seen.items()}
        bad += wrong
    tap.ok(not bad, f"{RUNS} moves of 40 MB while others open and repair the file, PNC_TEST_SEED={SEED}: {seen}",
           "\n".join(map(str, bad[:5])))


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
VALUES = death.make("base.nc", [], 0, SHAPE)
death.make("spacious.nc", [("history", "char", b"h" * 9000)], 3000, SHAPE)
for c in CASES:
    stop_everywhere(c, 2, 0)
stop_everywhere(CASES[0], 3, 2)
read_while_stopped()
die_first()
exclude()
test_untrusted()
run_at_random()
tap.finish()
