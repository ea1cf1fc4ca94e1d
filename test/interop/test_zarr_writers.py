"""Two programs on one Zarr store, of 1 and 2 ranks. A second writer is refused by a lock; without locks, a program that
would write what another one has changed gets NC_ESTALE, and writes nothing. Readers, also zarr, open the store of a
writer, and have its last sync."""
# needs: python
import os
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import pypi  # noqa: E402
from tap import choose, finish, ok, scratch, skip  # noqa: E402

try:
    import zarr
except ImportError:
    zarr = None

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
PROGRAM = os.path.join(BUILD, "test/interop/netcdf4_writer")
PACKAGES = ("xarray>=2024.10", "zarr>=3", "fsspec", "netCDF4", "numpy<3", "pyarrow", "fastparquet",
            "h5py") # as test_zarr.py
LOCKING = "HDF5_USE_FILE_LOCKING"


class Program:
    """A process, or several ranks, with stores open. Each call returns what it has printed: the code first."""

    def __init__(self, ranks=1, locking=None, hints=""):
        environment = {name: value for name, value in os.environ.items() if name != LOCKING}
        environment["PNETCDF_HINTS"] = f"*.zarr:nc_format=zarr{hints}"
        if locking is not None:
            environment[LOCKING] = locking
        library = os.environ.get("PNC_TEST_YIELD", "no")
        preload = [] if library == "no" else ["env", f"LD_PRELOAD={library}"]
        command = [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", str(ranks), *preload, PROGRAM]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)

    def do(self, *words, handle=0):
        self.process.stdin.write(f"{handle} {' '.join(map(str, words))}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def tree(path):
    """What is in a store, and nothing of access times."""
    found = {}
    for folder, _, names in os.walk(path):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.relpath(os.path.join(folder, name), path)] = file.read()
    return found


def new_path(name):
    path = scratch(name)
    shutil.rmtree(path, ignore_errors=True)
    return path


class Case:
    """What was wrong, and the programs."""

    def __init__(self, text):
        self.text, self.wrong, self.programs = text, [], []

    def start(self, *arguments, **options):
        self.programs.append(Program(*arguments, **options))
        return self.programs[-1]

    def expect(self, program, code, *words, handle=0):
        found = program.do(*words, handle=handle)
        if found.split(" ")[0] != code:
            self.wrong.append(f"{words}: {found}, not {code}")
        return found

    def conclude(self, path, numbers):
        """Record r has numbers[r] + 1000 r + x, by a new process of ours, and by zarr."""
        reader = self.start()
        self.expect(reader, "NC_NOERR", "read", path)
        for record, number in enumerate(numbers):
            self.expect(reader, "NC_NOERR", "get", record, number)
        self.expect(reader, "NC_NOERR", "close")
        self.wrong += compare_in_zarr(path, numbers)
        for program in self.programs:
            program.end()
        ok(not self.wrong, self.text, "\n".join(self.wrong))


def compare_in_zarr(path, numbers):
    if zarr is None:
        return []
    values = zarr.open_group(path, mode="r")["v"][:]
    wanted = [[n + 1000 * r + x for x in range(50)] for r, n in enumerate(numbers)]
    return [] if values.tolist() == wanted else [f"zarr has {values[:, 0]}, not those of {numbers}"]


def test_second_writer(first, second):
    case, path = Case(f"a store that {first} ranks write: {second} cannot write or replace it"), new_path("held.zarr")
    one, two = case.start(first), case.start(second)
    case.expect(one, "NC_NOERR", "create", path)
    case.expect(one, "NC_NOERR", "put", 0, 7)
    case.expect(one, "NC_NOERR", "sync")
    before = tree(path)
    for way in (("open", path), ("create", path)):
        found = case.expect(two, "NC_EACCESS", *way)
        if "a Zarr store has one writer at a time" not in found or "(process " not in found:
            case.wrong.append(found)
    if tree(path) != before:
        case.wrong.append("the store has changed")
    case.expect(one, "NC_NOERR", "put", 1, 8)
    case.expect(one, "NC_NOERR", "close")
    case.expect(two, "NC_NOERR", "open", path)
    case.expect(two, "NC_NOERR", "put", 2, 9)
    case.expect(two, "NC_NOERR", "close")
    case.conclude(path, [7, 8, 9])


def test_reader(writer, reader):
    """The reader has the records of the time when it opened the store."""
    case, path = Case(f"a store that {writer} ranks write, and {reader} read"), new_path("read.zarr")
    one, two = case.start(writer), case.start(reader)
    case.expect(one, "NC_NOERR", "create", path)
    case.expect(one, "NC_NOERR", "put", 0, 7)
    case.expect(one, "NC_NOERR", "sync")
    case.expect(one, "NC_NOERR", "put", 1, 8)
    case.expect(two, "NC_NOERR", "read", path)
    case.expect(two, "NC_NOERR", "get", 0, 7)
    case.expect(two, "NC_EINVALCOORDS", "get", 1, 8)
    case.wrong += compare_in_zarr(path, [7])
    case.expect(one, "NC_NOERR", "put", 0, 5)
    case.expect(one, "NC_NOERR", "sync")
    case.expect(two, "NC_NOERR", "close")
    case.wrong += compare_in_zarr(path, [5, 8])
    case.expect(two, "NC_NOERR", "read", path)
    case.expect(two, "NC_NOERR", "get", 0, 5)
    case.expect(one, "NC_NOERR", "define", "w")
    case.expect(one, "NC_NOERR", "close")
    case.expect(one, "NC_NOERR", "open", path)
    case.expect(one, "NC_NOERR", "close")
    case.expect(two, "NC_NOERR", "get", 1, 8)
    case.expect(two, "NC_NOERR", "close")
    case.conclude(path, [5, 8])


CHANGES = [[("put", 1, 5), ("sync",), ("close",)], [("put", 3, 5), ("close",)], [("define", "w"), ("close",)]]


def make_store(case, path, hints):
    program = case.start(hints=hints)
    for words in (("create", path), ("put", 0, 7), ("close",)):
        case.expect(program, "NC_NOERR", *words)


def test_stale(ranks, changes, hints):
    """Both have the store open, and the second one changes it first."""
    names = ", ".join(change[0] for change in changes)
    case = Case(f"{ranks} ranks have a store open that another program changes without locks{hints}: {names}")
    path = new_path("stale.zarr")
    make_store(case, path, hints)
    one, two = case.start(ranks), case.start(1, "FALSE")
    case.expect(one, "NC_NOERR", "open", path)
    case.expect(one, "NC_NOERR", "get", 0, 7)
    case.expect(two, "NC_NOERR", "open", path)
    case.expect(two, "NC_NOERR", "put", 1, 8)
    case.expect(two, "NC_NOERR", "close")
    before = tree(path)
    for change in changes:
        found = one.do(*change)
        if not found.startswith("NC_ESTALE") and not (change[0] == "put" and found == "NC_NOERR"):
            case.wrong.append(f"{change}: {found}")
    if tree(path) != before:
        case.wrong.append("the store has changed")
    case.conclude(path, [7, 8])


def test_stale_by_zarr():
    """zarr changes an attribute of the group."""
    case, path = Case("zarr changes a store that a program has open: NC_ESTALE"), new_path("zarr.zarr")
    make_store(case, path, "")
    one = case.start(2)
    case.expect(one, "NC_NOERR", "open", path)
    zarr.open_group(path, mode="r+").attrs["note"] = "theirs"
    if not one.do("put", 1, 8).startswith("NC_ESTALE"):
        case.expect(one, "NC_ESTALE", "sync")
    case.expect(one, "NC_ESTALE", "close")
    if zarr.open_group(path, mode="r").attrs["note"] != "theirs":
        case.wrong.append("the attribute is lost")
    case.conclude(path, [7])


def replace_file(path, content, keeps_inode):
    """As a program that makes it anew; the file system may give the new file the inode of the old one. Whether it
    did."""
    inode, others = os.stat(path).st_ino, []
    if keeps_inode:
        os.unlink(path)
    for i in range(5000 if keeps_inode else 1):
        others.append(f"{path}.{i}")
        with open(others[-1], "wb") as file:
            file.write(content)
        if os.stat(others[-1]).st_ino == inode:
            break
    found = os.stat(others[-1]).st_ino == inode
    os.rename(others.pop(), path)
    for other in others:
        os.unlink(other)
    return found


def test_new_shard(keeps_inode, length):
    """A reader knows the index of a shard that is made anew, with chunks at other places, or so many bytes only."""
    case = Case(f"a reader of a shard that is made anew: NC_ESTALE ({'the same inode' if keeps_inode else 'another'})")
    path, other = new_path("anew.zarr"), new_path("other.zarr")
    for store, numbers in ((path, (7, 8)), (other, (5, 6, 4, 3))):
        program = case.start(hints=":nc_compression=none:nc_chunks=1,50")
        case.expect(program, "NC_NOERR", "create", store)
        for i, number in enumerate(numbers):
            case.expect(program, "NC_NOERR", "put", 1 - i % 2, number)
            case.expect(program, "NC_NOERR", "sync")
        case.expect(program, "NC_NOERR", "close")
    one = case.start()
    case.expect(one, "NC_NOERR", "read", path)
    case.expect(one, "NC_NOERR", "get", 0, 8)
    shard = os.path.join(path, "v", "c.0.0")
    with open(os.path.join(other, "v", "c.0.0"), "rb") as file:
        content = file.read()
    if replace_file(shard, content[:length], keeps_inode) != keeps_inode:
        skip(case.text, "the file system gave it another inode")
    else:
        case.expect(one, "NC_ESTALE", "get", 1, 7)
        case.expect(one, "NC_NOERR", "close")
        ok(not case.wrong, case.text, "\n".join(case.wrong))
    for program in case.programs:
        program.end()


def test_handles():
    """Those of one process share the lock, and find what another one has changed."""
    case, path = Case("two handles of a process on one store"), new_path("handles.zarr")
    make_store(case, path, "")
    one, two = case.start(1), case.start(1)
    case.expect(one, "NC_NOERR", "open", path, handle=0)
    case.expect(one, "NC_NOERR", "open", path, handle=1)
    case.expect(one, "NC_NOERR", "close", handle=1)
    case.expect(two, "NC_EACCESS", "open", path)
    case.expect(one, "NC_NOERR", "open", path, handle=1)
    case.expect(one, "NC_NOERR", "put", 1, 8, handle=0)
    case.expect(one, "NC_NOERR", "close", handle=0)
    found = one.do("put", 2, 9, handle=1)
    if found != "NC_NOERR" and not found.startswith("NC_ESTALE"):
        case.wrong.append(f"put by a handle that has not seen that: {found}")
    case.expect(one, "NC_ESTALE", "close", handle=1)
    case.conclude(path, [7, 8])


def test_replaced():
    """A store is replaced while a program without locks has it open."""
    case, path = Case("a store that is replaced is that of who replaced it"), new_path("new.zarr")
    one, two = case.start(2, "FALSE"), case.start(1, "0")
    case.expect(one, "NC_NOERR", "create", path)
    case.expect(one, "NC_NOERR", "put", 0, 7)
    case.expect(two, "NC_NOERR", "create", path)
    case.expect(two, "NC_NOERR", "put", 0, 9)
    case.expect(two, "NC_NOERR", "close")
    case.expect(one, "NC_ESTALE", "close")
    case.conclude(path, [9])


def test_release():
    """The lock is gone after close, abort and death, also while a program that the first one has started runs."""
    case, path = Case("a store is free after close, abort and death"), new_path("release.zarr")
    make_store(case, path, "")
    two = case.start()
    for way in ("close", "abort", "die", "kill"):
        one = Program(2)
        case.expect(one, "NC_NOERR", "open", path)
        case.expect(two, "NC_EACCESS", "open", path)
        case.expect(one, "NC_NOERR", "exec", 3)
        one.do(way)
        one.end()
        found = two.do("open", path)
        for _ in range(200):
            if not found.startswith("NC_EACCESS"):
                break
            subprocess.run(["sleep", "0.05"], check=False)
            found = two.do("open", path)
        if found != "NC_NOERR":
            case.wrong.append(f"open after {way}: {found}")
        case.expect(two, "NC_NOERR", "close")
    case.conclude(path, [7])


def main():
    tools = scratch("probe.zarr")
    probe = Program()
    found = probe.do("create", tools)
    probe.end()
    if not found.startswith("NC_NOERR"):
        skip("two programs on a Zarr store", found)
        finish()
    for first, second in choose([(2, 1)], [(1, 2), (2, 1)], [(1, 1), (1, 2), (2, 1), (2, 2), (4, 3)]):
        test_second_writer(first, second)
        test_reader(first, second)
    for changes in CHANGES:
        for hints in choose([""], ["", ":nc_shards=0"], ["", ":nc_shards=0"]):
            test_stale(2, changes, hints)
    if zarr is not None:
        test_stale_by_zarr()
    for keeps_inode in (False, True):
        test_new_shard(keeps_inode, None)
        test_new_shard(keeps_inode, 100)
    test_handles()
    test_replaced()
    test_release()
    finish()


class Environment(pypi.Environment):
    """Without zarr the other tests run."""

    def give_up(self, why):
        skip(self.what, why)
        main()


if sys.argv[1:] == ["--inside"]:
    main()
environment = Environment("python-zarr", "Zarr stores for zarr and xarray")
environment.need(*PACKAGES)
os.execv(environment.python, [environment.python, "-B", os.path.abspath(__file__), "--inside"])
