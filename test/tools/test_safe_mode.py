"""Misuses that make ranks wait for one another (test/tools/misuse), in safe mode: an error on all ranks, or lines on
stderr that name the calls, files and communicators of both sides."""
# needs: python
import os
import re
import selectors
import shlex
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

FILE = tap.scratch("misuse.nc")
MOST = 120  # seconds: the lines come after 5
os.environ["PNETCDF_SAFE_MODE"] = "1"
for name in ("PNETCDF_TIMEOUT", "PNETCDF_HINTS", "PNETCDF_VERBOSE"):
    os.environ.pop(name, None)


def waits(path, rank, ranks, call, what):
    return f"PnetCDF warning: {path}: rank {rank} of {ranks} has waited for N s in {call} for ranks that have not " \
           f"made {what}."


OPENING = "this call with the same communicator"
CALL = "a collective call on this file"


def run_until(ranks, how, wanted):
    """Start a program that blocks, and end it when stderr has these lines, or after MOST seconds. Returns stderr."""
    build = os.environ.get("PNC_BUILD", os.getcwd())
    command = [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", str(ranks),
               os.path.join(build, "test/tools/misuse"), how, FILE]
    text, end = "", time.monotonic() + MOST
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          start_new_session=True) as process, selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while time.monotonic() < end and any(line not in text for line in wanted):
            if not selector.select(1):
                continue
            more = os.read(process.stderr.fileno(), 65536).decode()
            if not more:
                break
            text = re.sub(r"waited for \d+ s", "waited for N s", text + more)
        try:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGKILL)
    return text


def expect_lines(ranks, how, wanted):
    text = run_until(ranks, how, wanted)
    for line in wanted:
        tap.ok(line in text, f"{how}, {ranks} ranks: {line}", text)
    tap.ok(text.count("PnetCDF") == len(wanted), f"{how}, {ranks} ranks: {len(wanted)} lines", text)


def run(ranks, how):
    status, output, text = tap.run_mpi(ranks, "test/tools/misuse", how, FILE)
    tap.ok(status == 0, f"{how}, {ranks} ranks: the program ends", (status, output, text))
    return sorted(output.splitlines()), text


def expect_mismatch(ranks, how, ended, closes):
    """The ranks that close a file return NC_EMULTICALL, whose message names both calls."""
    lines, text = run(ranks, how)
    wanted = [rank for rank in range(ranks) if rank not in ended for _ in range(closes)]
    calls = {rank: "MPI_Finalize" if rank in ended else "ncmpi_close" for rank in range(ranks)}
    other = next(rank for rank in calls if calls[rank] != calls[0])
    both = f"rank 0 called {calls[0]}, rank {other} called {calls[other]}"
    good = len(lines) == len(wanted) and all(
        line.startswith(f"{rank} close NC_EMULTICALL: ") and both in line for line, rank in zip(lines, wanted))
    tap.ok(good, f"{how}, {ranks} ranks: {both}", lines)
    named = [line for line in text.splitlines() if "open in MPI_Finalize: " in line and both in line]
    wanted = len({0, other} & set(ended)) * closes
    tap.ok(len(named) == wanted, f"{how}, {ranks} ranks: {wanted} lines of ranks in MPI_Finalize", text)


for n in (2, 4):
    last = n - 1
    expect_mismatch(n, "end", [last], 1)
    expect_mismatch(n, "ends", list(range(last)), 1)
    expect_mismatch(n, "order", [last], 2)
    result = run(n, "all")
    tap.ok(not result[0] and "PnetCDF" not in result[1], f"all, {n} ranks: nothing if no rank closes the file", result)
    expect_lines(n, "next", [waits(FILE, rank, n, "ncmpi_close", CALL) for rank in range(last)] +
                 [waits(FILE + ".second", last, n, "ncmpi_create", OPENING)])
    ALONE = f"PnetCDF warning: {FILE}: rank {last} of the {n} of MPI_COMM_WORLD has opened it with a communicator of " \
            f"1 rank (ncmpi_create). Ranks that open it with a larger communicator wait until rank {last} does, too"
    expect_lines(n, "alone", [ALONE] + [waits(FILE, rank, n, "ncmpi_create", OPENING) for rank in range(last)])
result = run(1, "alone")
tap.ok(result[0] == ["0 close NC_NOERR: "] and "PnetCDF" not in result[1], "alone, 1 rank: nothing is printed", result)
lines_of_parts = run(2, "parts")
tap.ok(lines_of_parts[1].count("PnetCDF") == 2, "parts, 2 ranks: each prints once", lines_of_parts)
tap.finish()
