"""Two programs on one netCDF-4 file, in all pairs of ours (1 and 2 ranks), netCDF-C and h5py. A second writer is
refused by locks; without them, a program that would overwrite what another one has written gets NC_ESTALE, and writes
nothing. Readers open the file of a writer. The values are those of the writers, by netCDF-C, ncdump and h5dump."""
import hashlib
import os
import random
import re
import shlex
import shutil
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, has_hdf5, ok, retries_writes, scratch, skip  # noqa: E402

try:
    import h5py
except ImportError:
    h5py = None

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
PROGRAM = os.path.join(BUILD, "test/interop/netcdf4_writer")
X = 50
# As a user has it: only what a test sets.
LOCKING = "HDF5_USE_FILE_LOCKING"


# --- the other libraries: this file, started once more, does the same commands ---

class ByNetcdf:
    """netCDF-C."""

    def create(self, path, *_):
        self.file = netCDF4.Dataset(path, "w")
        self.file.createDimension("t", None)
        self.file.createDimension("x", X)
        self.file.createVariable("v", "i4", ("t", "x"), zlib=True, complevel=1, chunksizes=(1, X))
        self.file.sync()

    def open(self, path):
        self.file = netCDF4.Dataset(path, "a")

    def read(self, path):
        self.file = netCDF4.Dataset(path, "r")

    def put(self, record, number):
        self.file["v"][int(record)] = int(number) + 1000 * int(record) + np.arange(X)

    def get(self, record, number):
        if not np.array_equal(self.file["v"][int(record)], int(number) + 1000 * int(record) + np.arange(X)):
            raise ValueError(self.file["v"][int(record)])

    def define(self, name):
        self.file.createVariable(name, "i4", ("t", "x"))

    def sync(self):
        self.file.sync()

    def close(self):
        self.file.close()

    @staticmethod
    def check(path, *numbers):
        """Record r has numbers[r] + 1000 r + x, and there are no others."""
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            n = np.array(numbers, int)[:, None]
            if not np.array_equal(file["v"][:], n + 1000 * np.arange(len(n))[:, None] + np.arange(X)):
                raise ValueError(file["v"].shape, file["v"][:])


class ByHdf5(ByNetcdf):
    """h5py, by which the file has no dimensions of netCDF."""

    def create(self, path, *_):
        self.file = h5py.File(path, "w", track_order=True) # or netCDF-C would not write it
        self.file.create_dataset("v", (0, X), "i4", maxshape=(None, X), chunks=(1, X), compression=1)
        self.file.flush()

    def open(self, path):
        self.file = h5py.File(path, "r+")

    def read(self, path):
        self.file = h5py.File(path, "r")

    def put(self, record, number):
        self.file["v"].resize(max(int(record) + 1, len(self.file["v"])), 0)
        super().put(record, number)

    def define(self, name):
        self.file.create_dataset(name, (10, X), "i4", maxshape=(None, X), chunks=(1, X))

    def sync(self):
        self.file.flush()


def obey(peer):
    """Commands of the standard input, as those of netcdf4_writer."""
    for line in sys.stdin:
        _, verb, *arguments = line.split()
        try:
            getattr(peer, verb)(*arguments)
            print("NC_NOERR", flush=True)
        except Exception as error: # pylint: disable=broad-except
            print(f"{type(error).__name__} {error}".replace("\n", " "), flush=True)


class Program:
    """A process, or 2 ranks, with files open. Each call returns what it has printed: the code first."""
    running = {}

    @classmethod
    def start(cls, kind, locking=None, number=1):
        """One that runs already serves: all tests close what they have opened."""
        known = (kind, locking, number)
        if known not in cls.running:
            cls.running[known] = cls(kind, locking)
        return cls.running[known]

    def __init__(self, kind, locking=None):
        environment = {name: value for name, value in os.environ.items() if name != LOCKING}
        if locking is not None:
            environment[LOCKING] = locking
        if kind.startswith("ours"):
            library = os.environ.get("PNC_TEST_YIELD", "no")
            preload = [] if library == "no" else ["env", f"LD_PRELOAD={library}"]
            command = [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", kind[4:] or "1", *preload, PROGRAM]
        else:
            command = [sys.executable, os.path.abspath(__file__), kind]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)
        self.kind = kind

    def begin(self, *words, handle=0):
        self.process.stdin.write(f"{handle} {' '.join(map(str, words))}\n")
        self.process.stdin.flush()

    def result(self):
        return self.process.stdout.readline().strip()

    def do(self, *words, handle=0):
        self.begin(*words, handle=handle)
        return self.result()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def is_ours(kind):
    return kind.startswith("ours")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def dumps(path):
    """What ncdump and h5dump say against the file."""
    wrong = []
    for command in (["h5dump", path], ["ncdump", path]):
        if shutil.which(command[0]) is not None:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            wrong += [] if done.returncode == 0 and not done.stderr else [f"{command[0]}: {done.stderr[-200:]}"]
    return wrong


def check_records(path, numbers):
    """By netCDF-C in another process."""
    found = Program.start("netcdf", "FALSE").do("check", path, *numbers)
    return ([] if found == "NC_NOERR" else [f"records {numbers}: {found}"]) + dumps(path)


def conclude(wrong, path, numbers, text):
    """The records are those of the writers, and nothing was wrong."""
    wrong = wrong + check_records(path, numbers)
    ok(not wrong, text, "\n".join(wrong))


def expect(wrong, found, code, what):
    if not found.startswith(code + " ") and found != code:
        wrong.append(f"{what}: {found}, not {code}")


def expect_error(wrong, found, what):
    if found.startswith("NC_NOERR") or not found:
        wrong.append(f"{what}: {found or 'the program has ended'}")


# --- with locks ---

def refusal_names(found, program):
    """Whether the message says which process has the file: by the one that locks it, of mpiexec's children."""
    named = re.search(r"\(process (\d+)", found)
    if named is None:
        return False
    with open(f"/proc/{named.group(1)}/cmdline", "rb") as file:
        line = file.read().decode()
    return os.path.basename(PROGRAM) in line if is_ours(program.kind) else int(named.group(1)) == program.process.pid


def test_second_writer(first, second):
    """One program has made a file and writes it. Another one cannot open it, nor replace it; HDF5 cuts a file that it
    creates before it finds that it is locked, so that it is not asked to."""
    wrong, path = [], scratch(f"{first}-{second}.nc")
    one, two = Program.start(first), Program.start(second, number=2)
    expect(wrong, one.do("create", path), "NC_NOERR", "create")
    expect(wrong, one.do("put", 0, 7), "NC_NOERR", "put")
    expect(wrong, one.do("sync"), "NC_NOERR", "sync")
    before = digest(path)
    for way in [("open", path)] + [("create", path, "netcdf4"), ("create", path, "classic"),
                                   ("create", path, "whole")] * is_ours(second):
        found = two.do(*way)
        if is_ours(second):
            expect(wrong, found, "NC_EACCESS", way)
            if not refusal_names(found, one):
                wrong.append(f"{way}: who has the file: {found}")
        else:
            expect_error(wrong, found, way)
    if digest(path) != before:
        wrong.append("the file has changed")
    expect(wrong, one.do("put", 1, 8), "NC_NOERR", "put after that")
    expect(wrong, one.do("close"), "NC_NOERR", "close")
    expect(wrong, two.do("open", path), "NC_NOERR", "open when it is closed")
    expect(wrong, two.do("put", 2, 9), "NC_NOERR", "the second one puts")
    expect(wrong, two.do("close"), "NC_NOERR", "and closes")
    conclude(wrong, path, [7, 8, 9], f"{first} writes: {second} cannot open or replace the file")


def test_reader(writer, reader):
    """Readers open the file while it is written, stop no writer, and are stopped by none. HDF5 1.10's readers and
    writers refuse each other; so a reader of ours is tried, or a writer of ours."""
    wrong, path = [], scratch(f"{writer}-{reader}-read.nc")
    one, two = Program.start(writer), Program.start(reader, number=2)
    expect(wrong, one.do("create", path), "NC_NOERR", "create")
    expect(wrong, one.do("put", 0, 7), "NC_NOERR", "put")
    expect(wrong, one.do("sync"), "NC_NOERR", "sync")
    expect(wrong, two.do("read", path), "NC_NOERR", "a reader opens it")
    expect(wrong, two.do("get", 0, 7), "NC_NOERR", "and reads")
    expect(wrong, one.do("put", 1, 8), "NC_NOERR", "put while it is read")
    expect(wrong, one.do("close"), "NC_NOERR", "close while it is read")
    expect(wrong, one.do("open", path), "NC_NOERR", "open while it is read")
    expect(wrong, one.do("put", 2, 9), "NC_NOERR", "put")
    expect(wrong, one.do("close"), "NC_NOERR", "close")
    expect(wrong, two.do("close"), "NC_NOERR", "the reader closes")
    conclude(wrong, path, [7, 8, 9], f"{writer} writes while {reader} reads")


def test_race(tries):
    """While one program puts, syncs and defines, another one tries to open the file and add a record, at any moment. It
    can when the first one has closed the file, and only then."""
    wrong, path, came = [], scratch("race.nc"), 0
    for number in range(tries):
        first, second = random.choice([(n, m) for n in OURS + OTHERS for m in OURS + OTHERS
                                       if is_ours(n) or is_ours(m)])
        one, two = Program.start(first), Program.start(second, number=2)
        codes = [one.do("create", path), one.do("put", 0, 7), one.do("sync")]
        steps = [("put", 1, 7), ("sync",), ("put", 2, 7), ("define", "w"), ("put", 3, 7), ("close",)]
        for step in steps:
            one.begin(*step)
        found = two.do("open", path)
        for _ in range(random.randrange(4)):
            if not found.startswith("NC_NOERR"):
                found = two.do("open", path)
        records = [7, 7, 7, 7]
        if found.startswith("NC_NOERR"):
            codes += [two.do("put", 4, 9), two.do("close")]
            records.append(9)
            came += 1
        codes += [one.result() for _ in steps]
        found = check_records(path, records)
        if set(codes) != {"NC_NOERR"} or found:
            wrong.append(f"try {number}, {first} and {second}: {codes} {found}")
    ok(not wrong, f"{tries} times another program tried to write a file that is written, and {came} times it was "
       "closed by then", "\n".join(wrong[:5]))


# --- without ---

def make_file(path, maker):
    program = Program.start(maker)
    codes = [program.do("create", path), program.do("put", 0, 7), program.do("close")]
    return [] if set(codes) == {"NC_NOERR"} else codes


def try_stale(first, second, maker, changes, locking):
    """What was wrong. Both have the file open; the second one has changed it before the first one does."""
    wrong, path = make_file(scratch("stale.nc"), maker), scratch("stale.nc")
    one, two = Program.start(first, locking), Program.start(second, "FALSE", 2)
    expect(wrong, one.do("open", path), "NC_NOERR", "open")
    expect(wrong, one.do("get", 0, 7), "NC_NOERR", "get")
    expect(wrong, two.do("open", path), "NC_NOERR", "the second one opens")
    expect(wrong, two.do("put", 1, 8), "NC_NOERR", "puts")
    expect(wrong, two.do("close"), "NC_NOERR", "and closes")
    before = digest(path)
    for change in changes:
        found = one.do(*change)
        if not (change[0] == "put" and found == "NC_NOERR"): # its values wait
            expect(wrong, found, "NC_ESTALE", change)
    if digest(path) != before:
        wrong.append("the file has changed")
    return wrong + check_records(path, [7, 8])


def test_stale(first, second, maker, changes, locking):
    wrong = try_stale(first, second, maker, changes, locking)
    ok(not wrong, f"{first} ({locking or 'locks'}) has a file of {maker} open, and {second} (FALSE) "
       f"writes it: NC_ESTALE for {', '.join(change[0] for change in changes)}", "\n".join(wrong))


def test_stale_random(tries):
    wrong = []
    for _ in range(tries):
        first, second, maker = random.choice(OURS), random.choice(OURS + OTHERS), random.choice(OURS + OTHERS)
        changes, locking = random.choice(CHANGES), "FALSE" if is_ours(second) else random.choice([None, "FALSE"])
        found = try_stale(first, second, maker, changes, locking)
        wrong += [f"{first} {second} {maker} {changes} {locking}: {text}" for text in found]
    ok(not wrong, f"{tries} times another program wrote without locks, and lost nothing", "\n".join(wrong[:5]))


CHANGES = [[("put", 1, 5), ("sync",), ("close",)], [("put", 3, 5), ("close",)], [("define", "w"), ("close",)]]


def test_cut_by_hdf5():
    """HDF5 cuts a file that it creates, and only then finds that it is locked: what was in it is lost, but not without
    a word."""
    wrong, path = [], scratch("cut.nc")
    one, two = Program.start("ours2"), Program.start("netcdf")
    expect(wrong, one.do("create", path), "NC_NOERR", "create")
    expect(wrong, one.do("put", 0, 7), "NC_NOERR", "put")
    expect(wrong, one.do("sync"), "NC_NOERR", "sync")
    expect_error(wrong, two.do("create", path), "netCDF-C replaces it")
    if os.path.getsize(path) == 0:
        one.do("put", 1, 8) # its values may wait
        expect(wrong, one.do("close"), "NC_ESTALE", "close")
    ok(not wrong, "ours writes: netCDF-C cannot replace the file, and if HDF5 has cut it, ours returns NC_ESTALE",
       "\n".join(wrong))


def test_two_new_files():
    """Both create the file, and one has written it before the other one does."""
    wrong, path = [], scratch("new.nc")
    one, two = Program.start("ours", "FALSE"), Program.start("ours", "0")
    expect(wrong, one.do("create", path), "NC_NOERR", "create")
    expect(wrong, one.do("put", 0, 7), "NC_NOERR", "put")
    expect(wrong, two.do("create", path), "NC_NOERR", "create without locks")
    expect(wrong, two.do("put", 0, 9), "NC_NOERR", "put")
    expect(wrong, two.do("close"), "NC_NOERR", "close")
    expect(wrong, one.do("close"), "NC_ESTALE", "close of the file that was replaced")
    conclude(wrong, path, [9], "a file that is replaced without locks is that of who replaced it")


# --- what holds a file ---

def test_handles(kind):
    """Handles of one process share what it holds: it is free when the last one is closed. A reader holds nothing."""
    wrong, path = make_file(scratch("handles.nc"), "ours"), scratch("handles.nc")
    one, two = Program.start(kind), Program.start("ours", number=2)
    expect(wrong, one.do("open", path, handle=0), "NC_NOERR", "open")
    expect(wrong, one.do("open", path, handle=1), "NC_NOERR", "open again")
    expect(wrong, one.do("read", path, handle=2), "NC_NOERR", "open for reading")
    expect(wrong, one.do("close", handle=0), "NC_NOERR", "close the first one")
    expect(wrong, two.do("open", path), "NC_EACCESS", "another program opens it")
    expect(wrong, one.do("put", 1, 8, handle=1), "NC_NOERR", "put by the second one")
    expect(wrong, one.do("close", handle=1), "NC_NOERR", "close it")
    expect(wrong, two.do("open", path), "NC_NOERR", "open while the reader has it")
    expect(wrong, two.do("close"), "NC_NOERR", "close")
    expect(wrong, one.do("open", path, handle=1), "NC_NOERR", "open once more")
    expect(wrong, one.do("open", path, handle=0), "NC_NOERR", "twice")
    expect(wrong, one.do("put", 2, 9, handle=0), "NC_NOERR", "put")
    expect(wrong, one.do("close", handle=0), "NC_NOERR", "close")
    found = one.do("put", 3, 9, handle=1)
    if found != "NC_NOERR":
        expect(wrong, found, "NC_ESTALE", "put by a handle that has not seen that")
    expect(wrong, one.do("close", handle=1), "NC_ESTALE", "close")
    expect(wrong, one.do("close", handle=2), "NC_NOERR", "close the reader")
    conclude(wrong, path, [7, 8, 9], f"{kind}: handles of one process share a file")


def test_release():
    """What a program holds is free after close, abort, death, also while a program that it has started runs; and after
    an open that failed."""
    wrong, path = make_file(scratch("release.nc"), "ours"), scratch("release.nc")
    two = Program.start("ours")
    for way in ("close", "abort", "die", "kill"):
        one = Program("ours2")
        expect(wrong, one.do("open", path), "NC_NOERR", "open")
        expect(wrong, two.do("open", path), "NC_EACCESS", "it is held")
        expect(wrong, one.do("exec", 3), "NC_NOERR", "start a program")
        found = one.do(way)
        if way in ("close", "abort"):
            expect(wrong, found, "NC_NOERR", way)
            expect(wrong, two.do("open", path), "NC_NOERR", f"open after {way}")
        one.end()
        if way in ("die", "kill"):
            expect(wrong, wait_open(two, path), "NC_NOERR", f"open after {way}")
        expect(wrong, two.do("close"), "NC_NOERR", "close")
    ok(not wrong, "a file is free after close, abort and death of a program", "\n".join(wrong))


def wait_open(program, path):
    """A process that is killed takes a moment to end, which mpiexec need not wait for."""
    for _ in range(200):
        found = program.do("open", path)
        if not found.startswith("NC_EACCESS"):
            return found
        subprocess.run(["sleep", "0.05"], check=False)
    return found


def test_classic():
    """Files of other formats are not held: a second program may open and replace them, as ever."""
    wrong, path = [], scratch("classic.nc")
    one, two = Program.start("ours"), Program.start("ours", number=2)
    expect(wrong, one.do("create", path, "classic"), "NC_NOERR", "create")
    expect(wrong, one.do("put", 0, 7), "NC_NOERR", "put")
    expect(wrong, two.do("open", path), "NC_NOERR", "open for writing, too")
    expect(wrong, two.do("close"), "NC_NOERR", "close")
    expect(wrong, two.do("create", path, "classic"), "NC_NOERR", "replace it")
    expect(wrong, two.do("close"), "NC_NOERR", "close")
    expect(wrong, two.do("create", path, "netcdf4"), "NC_NOERR", "replace it by a netCDF-4 file")
    expect(wrong, two.do("close"), "NC_NOERR", "close")
    expect(wrong, two.do("create", path, "classic"), "NC_NOERR", "and that by a classic one")
    expect(wrong, two.do("open", path, handle=1), "NC_NOERR", "which is free")
    for program, handle in ((two, 0), (two, 1), (one, 0)):
        program.do("close", handle=handle)
    ok(not wrong, "classic files have no such locks", "\n".join(wrong))


def test_tools():
    """Tools do not replace a file that a program writes, and read it."""
    wrong, path, text = [], scratch("tools.nc"), scratch("tools.cdl")
    other = make_file(scratch("other.nc"), "ours") or scratch("other.nc")
    one = Program.start("ours")
    with open(text, "w", encoding="ascii") as file:
        file.write("netcdf tools { dimensions: x = 2 ; variables: int v(x) ; data: v = 1, 2 ; }\n")
    expect(wrong, one.do("create", path), "NC_NOERR", "create")
    expect(wrong, one.do("put", 0, 7), "NC_NOERR", "put")
    expect(wrong, one.do("sync"), "NC_NOERR", "sync")
    before = digest(path)
    for status, tool, *arguments in ((1, "ncmpicopy", "-O", other, path), (1, "ncmpigen", "-o", path, text),
                                     (0, "ncmpidump", path), (0, "ncvalidator", path),
                                     (0, "ncmpicopy", "-O", path, other),
                                     (0, "ncvalidator", "--repair", "--in-place", path)):
        done = subprocess.run([os.path.join(BUILD, "src/tools", tool, tool), *arguments], capture_output=True,
                              text=True, check=False)
        if done.returncode != status or (status == 1 and "open for writing" not in done.stderr):
            wrong.append(f"{tool} {' '.join(arguments)}: status {done.returncode}: {done.stderr}")
    if digest(path) != before:
        wrong.append("the file has changed")
    expect(wrong, one.do("put", 1, 8), "NC_NOERR", "put")
    expect(wrong, one.do("close"), "NC_NOERR", "close")
    conclude(wrong, path, [7, 8], "tools read a file that is written, and do not replace it")


def test_failed_write(kind, most):
    """A program whose own write has failed, and wrote a part, does not take it for another program's."""
    wrong, failed, path = [], 0, scratch("failed.nc")
    one = Program.start(kind, "FALSE", 3)
    for number in range(1, most):
        codes = [one.do("create", path), one.do("put", 0, 7), one.do("sync"), one.do("fail", number)]
        codes += [one.do(*step) for step in (("put", 1, 7), ("define", "w"), ("put", 2, 7), ("sync",), ("put", 3, 7),
                                             ("sync",), ("close",), ("fail", 0))]
        failed += any("NC_ENO_SPACE" in code for code in codes)
        wrong += [f"write {number}: {code}" for code in codes if "NC_ESTALE" in code or not code]
    ok(not wrong and (failed > most / 4 or retries_writes()),
       f"{kind}: after each of {failed} writes that failed the file is its own", "\n".join(wrong[:5]))


def test_environment():
    wrong, path = make_file(scratch("environment.nc"), "ours"), scratch("environment.nc")
    for value, code in (("TRUE", "NC_EACCESS"), ("1", "NC_EACCESS"), ("BEST_EFFORT", "NC_EACCESS"),
                        ("FALSE", "NC_NOERR"), ("0", "NC_NOERR")):
        one, two = Program.start("ours"), Program.start("ours", value)
        expect(wrong, one.do("open", path), "NC_NOERR", "open")
        expect(wrong, two.do("open", path), code, f"{LOCKING}={value}")
        if code == "NC_NOERR":
            two.do("close")
        one.do("close")
    ok(not wrong, f"{LOCKING} is obeyed", "\n".join(wrong))


if len(sys.argv) > 1:
    obey({"netcdf": ByNetcdf, "h5py": ByHdf5}[sys.argv[1]]())
    sys.exit()
if not has_hdf5():
    skip("two programs on a netCDF-4 file", "the build is without HDF5")
    finish()
OTHERS = ["netcdf"] + (["h5py"] if h5py is not None else [])
OURS = ["ours", "ours2"]
TRIES = choose(3, 10, 200)
MAKERS = choose(["netcdf"], ["ours", "netcdf"], ["ours", *OTHERS])
for n in OURS:
    for m in OTHERS:
        test_second_writer(n, m)
        test_second_writer(m, n)
        test_reader(n, m)
    test_reader("netcdf", n)
    test_reader(n, "ours")
    test_handles(n)
test_second_writer("ours", "ours")
test_second_writer("ours2", "ours2")
for n, steps in enumerate(CHANGES):
    for m, by in enumerate(["ours", *OTHERS]):
        for made in MAKERS:
            test_stale(OURS[(n + m) % 2], by, made, steps, "FALSE" if by == "ours" else (None, "FALSE")[(n + m) % 2])
test_cut_by_hdf5()
test_two_new_files()
test_release()
test_classic()
test_tools()
test_environment()
random.seed(os.environ.get("PNC_TEST_SEED", "1"))
for n in OURS:
    test_failed_write(n, 30)
for test in (test_race, test_stale_random):
    test(TRIES)
for running in Program.running.values():
    running.end()
finish()
