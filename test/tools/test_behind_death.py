"""A rank, or all of them, die at each write that the worker makes for earlier puts (nc_write_behind), or within it, or
end by a signal, exit, _exit or MPI_Abort: the file has all records that were put before the last ncmpi_sync, and each
record that it counts has its values. The bytes are read here, without the library."""
# needs: python
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cdf
import tap

NX = 64
os.environ["OMPI_MCA_odls_base_sigkill_timeout"] = "0" # mpiexec of Open MPI waits for a second otherwise
PATH = tap.scratch("behind_death.nc")


def check(ranks, where):
    with open(PATH, "rb") as file:
        content = file.read()
    synced = 0
    if os.path.exists(PATH + ".synced"):
        with open(PATH + ".synced", encoding="ascii") as file:
            synced = int(file.read() or 0)
        os.remove(PATH + ".synced")
    if content[:3] != b"CDF":
        return tap.ok(synced == 0, f"{where}: the file has no header yet")
    numrecs = struct.unpack_from(">i", content, 4)[0]
    begin = cdf.read_variables(content)["v"][1]
    wrong = []
    for row in range(numrecs):
        got = struct.unpack_from(f">{ranks * NX}i", content.ljust(begin + (row + 1) * ranks * NX * 4, b"\0"),
                                 begin + row * ranks * NX * 4)
        wanted = tuple(100000 + 1000 * row + 100 * column + x for column in range(ranks) for x in range(NX))
        if got != wanted:
            wrong.append(row)
    return tap.ok(not wrong and numrecs >= synced,
                  f"{where}: {numrecs} records are counted and complete, {synced} were synced", f"wrong: {wrong}")


def run(ranks, rank, at, *how):
    """Whether the program died."""
    for path in (PATH, PATH + ".synced"):
        if os.path.exists(path):
            os.remove(path)
    status, output, text = tap.run_mpi(ranks, "test/mpi/test_behind", PATH, str(rank), str(at), *how)
    if status == 0 and "not ok" in output:
        tap.ok(False, "the program without a death", (output, text))
    return status != 0


def die_everywhere(n, dying):
    number = 0
    while run(n, dying, number):
        check(n, f"{n} ranks, {'all' if dying < 0 else 'rank ' + str(dying)} at write {number}, hints "
              f"'{os.environ.get('TEST_HINTS', '')}'")
        number += 1 if number < 6 or not tap.is_quick() else 5
    tap.ok(number >= 6, f"{n} ranks: {number} writes")


def end_otherwise(n, rank):
    """After the puts of a record, two records after a sync."""
    for how in "SIGHUP", "SIGTERM", "SIGSEGV", "SIGKILL", "exit", "_exit", "MPI_Abort":
        where = f"{how} of {'all' if rank < 0 else 'rank ' + str(rank)} of {n} ranks"
        tap.ok(run(n, rank, 5, how), f"{where}: the program ends")
        check(n, where)


for n in tap.choose((1, 2), (1, 2), (1, 2, 4)):
    for dying in [-1] if n == 1 else [-1, 0, n - 1]:
        die_everywhere(n, dying)
for more in ("nc_prefetch=enable", "nc_defer_puts=enable"):
    os.environ["TEST_HINTS"] = more
    die_everywhere(1, -1)
    die_everywhere(2, -1)
    os.environ["MPIR_CVAR_NUM_CLIQUES"] = "2" # MPICH sees two nodes
    die_everywhere(2, -1)
    del os.environ["TEST_HINTS"], os.environ["MPIR_CVAR_NUM_CLIQUES"]
for n, rank in (1, -1), (2, -1), (2, 1):
    end_otherwise(n, rank)
# the worker makes no MPI calls: programs of any thread level may have it
for level in ("single", "funneled", "multiple"):
    os.environ["PNC_TEST_THREAD_LEVEL"] = level
    for program in ("test_behind", "test_prefetch", "test_burst_buffer"):
        status, output, text = tap.run_mpi(2, "test/mpi/" + program)
        tap.ok(status == 0 and "not ok" not in output, f"{program} with MPI_THREAD_{level.upper()}", (output, text))
for made in (PATH, PATH + ".synced"):
    if os.path.exists(made):
        os.remove(made)
tap.finish()
