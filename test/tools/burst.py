"""Programs that died with values in logs (nc_burst_buf), of test/mpi/test_burst_buffer: what the file, its mark and its
logs have, and replays. The bytes are read here, without the library."""
import os
import shlex
import shutil
import struct
import subprocess

import cdf
import tap
import tool

NX, ROWS = 64, 12
RECORDS_AT = 512 # offset in a log
PUT = 5 # rows of a program that has all of them in logs
os.environ["OMPI_MCA_odls_base_sigkill_timeout"] = "0" # mpiexec of Open MPI waits for a second otherwise
PATH = os.path.abspath(tap.scratch("burst.nc"))
MARK, FLUSHED = PATH + ".burst", PATH + ".flushed"
LOGS = os.path.abspath(tap.scratch("burst_logs"))


def clear():
    for path in (PATH, MARK, FLUSHED):
        if os.path.exists(path):
            os.remove(path)
    shutil.rmtree(LOGS, ignore_errors=True)
    os.mkdir(LOGS)


def value_of(row, column, x, version):
    return 100000 * version + 1000 * row + 100 * column + x


def read_file():
    """(number of records, function for the values of a row and column of a variable)."""
    with open(PATH, "rb") as file:
        content = file.read()
    if content[:3] != b"CDF":
        return 0, None
    found = cdf.read_variables(content)
    ranks = found["f"][0][1]
    step = 4 * ranks * NX

    def get(name, row, column):
        begin = found[name][1] + row * step + column * NX * 4
        return list(struct.unpack_from(f">{NX}i", content.ljust(begin + step, b"\0"), begin))
    return struct.unpack_from(">i", content, 4)[0], get


def replay(*words, ranks=1, folder=LOGS, env=None):
    command = [*tool.command("ncmpilog"), "--replay", folder, *words, PATH]
    if ranks > 1:
        command = [os.environ.get("MPIEXEC", "mpiexec"), "-n", str(ranks), *command]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    return result.returncode, result.stdout + result.stderr


def run_program(ranks, rank, kind, at):
    """(status, output, messages); the rank, or -1: all, dies as plan_death of the program says."""
    clear()
    return tap.run_mpi(ranks, "test/mpi/test_burst_buffer", PATH, LOGS, str(rank), kind, str(at))


def put_rows(ranks, kind="rows"):
    """A program that dies when it has put some rows, each rank its columns, and nothing has left the logs."""
    tap.ok(run_program(ranks, -1, kind, PUT)[0] != 0 and len(os.listdir(LOGS)) == ranks and os.path.exists(MARK),
           f"a program of {ranks} ranks that died with {PUT} rows in logs")


def is_complete(ranks):
    """All rows of that program."""
    numrecs, get = read_file()
    return numrecs == PUT and all(
        get(name, row, column) == [value_of(row, column, x, row + 1 if name == "w" else 1) for x in range(NX)]
        for name in "vfw" for row in range(PUT) for column in range(ranks))


def keep_all(*folders):
    """The contents of the file, the mark and the logs, and their times, by path."""
    paths = [PATH, MARK, *(os.path.join(folder, name) for folder in folders or [LOGS] for name in os.listdir(folder))]
    kept = {}
    for path in paths:
        with open(path, "rb") as file:
            kept[path] = (file.read(), os.stat(path).st_mtime_ns)
    return kept


def restore_all(kept):
    """The file remains the same one, of which the mark is."""
    for path, (content, when) in kept.items():
        with open(path, "r+b" if os.path.exists(path) else "wb") as file:
            file.write(content)
            file.truncate()
        os.utime(path, ns=(when, when))


def add(state, word):
    state = (state ^ word) * 0x9e3779b97f4a7c15 & 0xffffffffffffffff
    return state ^ state >> 32


def digest(state, content):
    for at in range(0, len(content) // 8 * 8, 8):
        state = add(state, struct.unpack_from("<Q", content, at)[0])
    rest = bytes(content[len(content) // 8 * 8:])
    if rest:
        state = add(state + len(rest) & 0xffffffffffffffff, int.from_bytes(rest, "little"))
    return state


def seal_record(log, at):
    """Give the record of a log at this offset the digest of what it has."""
    length = struct.unpack_from("<q", log, at + 40)[0]
    state = digest(begin_digest(log), log[at:at + 56])
    struct.pack_into("<Q", log, at + 56, digest(state, log[at + 64:at + 64 + length]))


def begin_digest(log):
    stamp, rank = struct.unpack_from("<Qq", log, 16)
    return add(add(14695981039346656037, stamp), rank)


def build_preload():
    """Its path; None: it cannot be used."""
    path = tap.scratch("die_in_folder.so")
    if tap.instruments() or os.environ.get("PNC_TEST_WRAPPER"):
        return None
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "die_in_folder.c")
    done = subprocess.run([*shlex.split(os.environ.get("CC", "mpicc")), "-std=c99", "-shared", "-fPIC", "-o", path,
                           source, "-ldl"], capture_output=True, text=True, check=False)
    return os.path.abspath(path) if tap.ok(done.returncode == 0, "the preload", done.stderr) else None


def replay_and_die(preload, at, processes, words=()):
    """Whether a process was killed. Launchers and ranks get the preload, which acts on our files only."""
    command = [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", str(processes), "env", f"LD_PRELOAD={preload}",
               f"DIE_FOLDER={os.path.dirname(PATH)}", f"DIE_AT={at}", *words,
               *tool.command("ncmpilog"), "--replay", LOGS, PATH]
    return subprocess.run(command, capture_output=True, text=True, check=False).returncode != 0
