"""benchmarks/cluster: the simulated file system delays accesses by times that are computed by hand here, the record
counts exactly, and the examination of a record finds what is wrong in it."""
# needs: python
import os
import re
import shlex
import subprocess
import sys

from simulated import BUILD, CLUSTER, COMPILER, MPIEXEC, TOP, YIELD
import cluster
import costs
import examine
import report
from tap import finish, library_flags, ok, scratch, skip

STRIPE = 10 ** 6
# A stripe takes 500 us on a link and 1000 us on a server.
SETTINGS = {"SERVERS": 2, "STRIPE": STRIPE, "LATENCY_US": 200, "REQUEST_US": 100, "LOCK_US": 3000,
            "SERVER_MBS": 1000, "LINK_MBS": 2000, "SLOWDOWN": 100, "DISK_MBS": 500, "DISK_LATENCY_US": 50}
# Name of the phase, and its accesses: rank, kind, offset, length, microseconds, moves of locks.
EXPECTED = [
    ("first", [(0, "W", 0, STRIPE, 500 + 100 + 1000 + 200, 0)]),
    ("two stripes", [(0, "W", 500000, 1500000, 250 + 500 + 100 + 1000 + 200, 0)]),
    ("same server", [(0, "W", 0, 3 * STRIPE, 500 + 2 * (100 + 1000) + 200, 0)]),
    ("lock", [(1, "W", 0, STRIPE, 1800 + 3000, 1)]),
    ("other node", [(0, "R", 0, STRIPE, 1800 + 3000, 1)]),
    ("again", [(1, "R", 0, STRIPE, 1800, 0)]),
    ("no lock", [(1, "W", 0, STRIPE, 1800, 0)]),
    ("lock for the next", [(0, "W", 0, STRIPE, 1800 + 3000, 1)]),
    ("position", [(0, "W", 2 * STRIPE, STRIPE, 1800, 0), (0, "W", 3 * STRIPE, STRIPE // 2, 250 + 100 + 500 + 200, 0)]),
    ("asynchronous", [(0, "W", 0, STRIPE, 1800, 0)]),
    ("nonblocking", [(0, "W", 0, STRIPE, 1800, 0)]),
    ("disk", []),
    ("message", []),
]


def run_accesses(preload, program, ranks_per_node):
    """(status, messages on stderr, phases)"""
    record = scratch("record")
    settings = {"FILES": scratch("accesses*"), "LOCAL": scratch("disk*"), "STATE": scratch("state"), "RECORD": record,
                "RANKS_PER_NODE": ranks_per_node, **SETTINGS}
    words = [f"PARALLEL_FS_{name}={value}" for name, value in settings.items()]
    words.append("LD_PRELOAD=" + (f"{YIELD}:{preload}" if YIELD else preload))
    words += [f"MPIR_CVAR_NUM_CLIQUES={2 // ranks_per_node}", "MPIR_CVAR_CLIQUES_BY_BLOCK=1"]
    done = subprocess.run([*MPIEXEC, "-n", "2", "env", *words, program, scratch("accesses.nc"), scratch("disk")],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    phases = []
    for rank in range(2 if done.returncode == 0 else 0):
        cluster.read_record(f"{record}.{rank}", rank, phases)
    os.remove(scratch("state"))
    return done.returncode, done.stderr, phases


def check_accesses(phases):
    ok([phase.name for phase in phases] == [name for name, _ in EXPECTED], "the record has all phases", phases)
    for phase, (name, expected) in zip(phases, EXPECTED):
        found = [(a.rank, a.kind, a.offset, a.length, a.delay / 1000, a.lock_moves) for a in phase.accesses]
        ok(found == expected, f"{name}: the accesses, their times and their locks", f"{found}, not {expected}")
        least = sum(access[4] for access in expected) * 1000 * SETTINGS["SLOWDOWN"]
        ok(phase.end - phase.begin >= least, f"{name}: the program waits until they end", phase)


def check_messages(preload, program, phases):
    last = phases[-1]
    found = sorted((a.rank, a.kind, a.length, a.delay / 1000) for phase in phases for a in phase.disk)
    ok(found == [(0, "W", STRIPE, 2000 + 50), (1, "W", STRIPE // 2, 1000 + 50)],
       "nodes have disks of their own", found)
    ok((last.messages, last.local) == ([1, 0], [0, 0]), "a message to another node is counted", last)
    status, errors, phases = run_accesses(preload, program, 2)
    last = phases[-1] if status == 0 else None
    ok(status == 0 and (last.messages, last.local) == ([0, 0], [1, 0]), "a message within a node is counted apart",
       errors or last)
    ok(sum(a.lock_moves for phase in phases for a in phase.accesses) == 0, "no lock moves within a node", phases)


def check_programs():
    folder = scratch(".")
    try:
        preload = cluster.build_preload(COMPILER, folder)
        program = scratch("file_accesses")
        cluster.run_tool([*COMPILER, "-std=c99", "-D_GNU_SOURCE", "-o", program,
                      os.path.join(TOP, "test", "tools", "file_accesses.c"), preload])
        if cluster.identify_mpi(program, "the program") != "mpich":
            raise cluster.Unfit("Open MPI cannot simulate nodes")
    except cluster.Unfit as reason:
        skip("the simulated file system", str(reason).replace("\n", " "))
        return
    status, errors, phases = run_accesses(preload, program, 1)
    if ok(status == 0, "accesses of a simulated file", errors):
        check_accesses(phases)
        check_messages(preload, program, phases)
    check_workload(folder)


def check_workload(folder):
    """The whole program, with one small workload."""
    libraries = os.path.join(BUILD, ".libs")
    if library_flags()[-1] != "-lpnetcdf":
        skip("a workload", "the library is not shared")
        return
    command = [sys.executable, os.path.join(CLUSTER, "run.py"), "--cc", shlex.join(COMPILER),
               "--mpiexec", shlex.join(MPIEXEC), "--yield-library", YIELD, "--dir", folder,
               "--library", f"this={BUILD},{libraries}", "--hints", "few=cb_nodes=1", "--mpi-io", "MPI-IO=",
               "--nodes", "1,2", "--ranks-per-node", "2", "--bytes", "65536", "--workloads", "blocks-2d,btio",
               "--plot", scratch("plot.svg"), "--verify-counts"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [line.split("|")[1:4] for line in done.stdout.splitlines() if line.startswith("|")][2:]
    rows = [[cell.strip() for cell in row] for row in rows]
    expected = [[*place, library] for place in (("blocks-2d", "1"), ("blocks-2d", "2"), ("btio", "2"))
                for library in ("this", "few", "MPI-IO")]
    ok(rows == expected and re.search(r"^\d+ violations in 6 runs$", done.stdout, re.M),
       "workloads on one and on two nodes", done.stdout + done.stderr)
    found = re.findall(r"^this: .* 2 nodes: .*", done.stdout, re.M)
    ok(not found, "the counts of this library on two nodes are as they must be", "\n".join(found))
    ok("btio, 1 nodes, this: skipped: diagonal multipartitioning needs a square" in done.stderr,
       "a workload that needs another number of ranks is skipped", done.stderr)
    check_classics(folder, libraries)
    check_hidden(folder, libraries)
    with open(scratch("plot.svg"), encoding="utf-8") as file:
        ok(file.read().count("<polyline") == 12, "the plot has two lines for each workload and library")


def check_hidden(folder, libraries):
    """The program of make bench-hidden-cluster. Its values are verified by the workload; times are not compared."""
    command = [sys.executable, os.path.join(CLUSTER, "hidden.py"), "--cc", shlex.join(COMPILER),
               "--mpiexec", shlex.join(MPIEXEC), "--yield-library", YIELD, "--dir", folder, "--library",
               f"this={BUILD},{libraries}", "--nodes", "2", "--bytes", "262144", "--steps", "3", "--gets",
               "--workloads", "blocks-2d,wrf"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]
    ok(done.returncode == 0 and [row[:3] for row in rows] == [["blocks-2d", "2", "2"], ["wrf", "2", "2"]] and
       all(re.fullmatch(r"\d+ ms", row[i]) for row in rows for i in (3, 4, 6, 10, 11)) and
       rows[1][8:10] == ["-", "-"] and all(re.fullmatch(r"\d+%", text) for text in rows[0][8:10]),
       "what hints hide on two nodes", done.stdout + done.stderr)


def check_classics(folder, libraries):
    """The program of make bench-classics, with what bench-cluster does not run here."""
    names = ["madbench", "halo", "ior-strided", "ior-segmented", "s3d", "flash-corners", "btio"]
    command = [sys.executable, os.path.join(CLUSTER, "classics.py"), "--cc", shlex.join(COMPILER),
               "--mpiexec", shlex.join(MPIEXEC), "--yield-library", YIELD, "--dir", folder,
               "--library", f"this={BUILD},{libraries}", "--mpi-io", "--ranks", "2", "--bytes", "65536", "--repeat",
               "1", "--workloads", ",".join(names), "--svg", scratch("classics.svg")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = re.findall(r"^\| ([\w-]+) +\| (\d+ / \d+|-) +\| (\d+ / \d+|-) +\|$", done.stdout, re.M)
    ok(done.returncode == 0 and [row[0] for row in rows] == names and
       all((cell == "-") == (row[0] == "btio") for row in rows for cell in row[1:]),
       "classic benchmarks verify their data; one needs a square number of ranks", done.stdout + done.stderr)
    with open(scratch("classics.svg"), encoding="utf-8") as file:
        ok(file.read().count("<title>") == 24, "their picture has a bar for each rate")


# --- without programs ---

def make_run(accesses, messages=(0, 0, 0, 0)):
    """2 nodes of 2 ranks, one put of accesses: rank, kind, offset, length."""
    phase = cluster.Phase("put", 0, 10 ** 9, [cluster.Access(*access, delay=0, lock_moves=0) for access in accesses],
                      list(messages), [0] * 4, [0] * 4, [{}] * 4)
    return cluster.Run("ours", "made", 2, 4, 1, STRIPE, 1, [0, 2 * STRIPE + 10], [phase])


def check_violations():
    cases = [
        ("one write of each node", [(0, "W", 0, STRIPE), (2, "W", STRIPE, STRIPE)], ()),
        ("a stripe of two nodes", [(0, "W", 0, STRIPE + 10), (2, "W", STRIPE + 10, STRIPE)],
         ("stripe 1 is written 2 times by 2 nodes",)),
        ("a stripe written twice", [(0, "W", 0, 10), (1, "W", 10, 10)], ("stripe 0 is written 2 times by 1 nodes",)),
        ("variables that share a stripe", [(0, "W", 2 * STRIPE, 10), (1, "W", 2 * STRIPE + 10, 10)], ()),
        ("small writes", [(0, "W", 0, 10), (0, "W", STRIPE, 10), (2, "W", 2 * STRIPE, 10)], ("3 writes of 10 bytes",)),
        ("no write", [], ("nothing is written",)),
        ("small writes with gaps between them", [(0, "W", 0, 10), (2, "W", 3 * STRIPE, 10)], ()),
        ("a read", [(0, "R", 0, 10), (0, "W", 0, 10)], ("1 reads",)),
    ]
    for name, accesses, expected in cases:
        found = list(examine.find_violations(make_run(accesses)))
        ok(len(found) == len(expected) and all(text in line for text, line in zip(expected, found)),
           f"violations: {name}", found)
    found = list(examine.find_violations(make_run([(0, "W", 0, STRIPE)], (100, 0, 0, 0))))
    ok(len(found) == 1 and "sends 100 messages" in found[0], "violations: too many messages", found)


def check_document():
    path = scratch("document.md")
    chosen = make_run([(0, "W", 0, STRIPE)])
    rows = [report.Row(chosen, examine.summarise(chosen, "put"), examine.Summary())]
    before = "a\n<!-- cluster: nodes 2 -->\nold\n<!-- end -->\nb\n<!-- cluster: nodes 4 -->\nkept\n<!-- end -->\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(before)
    report.update_document(path, rows, has_all_workloads=True)
    with open(path, encoding="utf-8") as file:
        after = file.read()
    ok("old" not in after and "| made" in after and after.startswith("a\n<!-- cluster: nodes 2 -->\n") and
       after.endswith("<!-- end -->\nb\n<!-- cluster: nodes 4 -->\nkept\n<!-- end -->\n"),
       "a document: tables between marks are replaced", after)


def check_costs():
    """By hand: 2 aggregators hold 17 MiB each; in several rounds 8 stripes, as one half is written meanwhile."""
    one, several = (costs.Call(0, n << 20, n << 18, 1, nodes=2, ranks_per_node=2) for n in (32, 128))
    ok((one.rounds, one.accesses) == (1, 2), "costs: a call of one round", one.windows)
    ok((several.rounds, several.accesses) == (8, 16), "costs: a call of several rounds", several.windows)


check_violations()
check_costs()
check_document()
check_programs()
finish()
