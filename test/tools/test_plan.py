"""ncmpistat --plan: the rounds, accesses and messages of a plan are those that the simulated cluster counts when a
program makes the call; a few plans are computed by hand; what is wrong on the command line or in a map is reported."""
# needs: python
import argparse
import json
import math
import os
import re
import subprocess
import sys

from simulated import BUILD, COMPILER, MPIEXEC, TOP, YIELD
import cluster
import examine
from tap import finish, is_quick, library_flags, ok, scratch, skip

try:
    import netCDF4
except ImportError:
    netCDF4 = None

QUICK = is_quick()
# Nodes and ranks of a node of the runs; PNC_TEST_PLAN=8x8 runs others.
SIZES = "2x2" if QUICK else "1x4 2x2 4x4"
SMALL = "cb_buffer_size=65536"
# Workload, grid of ranks (0: any number), variables, hints, and their options of a plan.
RUNS = [
    ("blocks-2d", "0,0", ["v0"], "", []),
    ("lbnl-x", "1,1,0", ["v0"], "", []),
    ("lbnl-x", "1,1,0", ["v0"], SMALL, ["--buffer=64K"]),
    ("lbnl-y", "1,0,1", ["v0"], "cb_nodes=1", ["--aggregators=1"]),
    ("lbnl-yz", "0,0,1", ["v0"], SMALL, ["--buffer=64K"]),
    ("lbnl-yz", "0,0,1", ["v0"], "nc_strategy=direct", ["--strategy=direct"]),
    ("lbnl-z", "0,1,1", ["v0"], "nc_strategy=within_nodes", ["--strategy=within_nodes"]),
    ("flash", "0,1,1,1", [f"v{i}" for i in range(24)], "", []),
    ("wrf", "0,0", [f"v{i}" for i in range(50)], SMALL, ["--buffer=64K"]),
    ("long", "0", ["v0"], "", []),
]


def plan(*arguments):
    """(status, plans, messages)"""
    program = os.path.join(BUILD, "src", "tools", "ncmpistat")
    done = subprocess.run([sys.executable, program, "--plan", "--json", *arguments], capture_output=True, text=True,
                          check=False)
    plans = json.loads(done.stdout)["plans"] if done.returncode == 0 else []
    return done.returncode, plans, done.stderr


# --- a plan and a run ---

def is_near(found, planned):
    """Within 10%, or one."""
    return abs(found - planned) <= max(1, 0.1 * max(found, planned))


def compare(run, direction, planned, label):
    """The counts of one call beside its plan."""
    seen = examine.summarise(run, direction)
    messages = planned["messages_of_rank"] + planned["reduction_messages_of_rank"]
    pairs = {"accesses": (seen.accesses, planned["accesses"]), "bytes": (seen.bytes, planned["access_bytes"]),
             "reads of puts": (seen.sieved, planned["reads_of_puts"])}
    if run.nodes > 1:
        pairs["messages of a rank"] = (seen.busiest, messages)
        if planned["strategy"] == "two_phase":
            pairs["rounds"] = (seen.rounds, planned["rounds"])
    wrong = {name: pair for name, pair in pairs.items() if not is_near(*pair)}
    ok(not wrong, f"{label}: {direction} as planned", f"(found, planned): {wrong}, all: {pairs}")


def make_machine(ranks_per_node, folder):
    options = argparse.Namespace(
        compilers={"mpich": COMPILER, "openmpi": COMPILER}, launchers={"mpich": MPIEXEC, "openmpi": MPIEXEC},
        ranks_per_node=ranks_per_node, bytes=1 << 18, maps=".", stripe=1 << 20, slowdown=1, timeout=100,
        yield_library=YIELD)
    return cluster.Cluster(options, folder)


def read_shape(path, name):
    program = os.path.join(BUILD, "src", "tools", "ncmpidump", "ncmpidump")
    header = subprocess.run([program, "-h", path], capture_output=True, text=True, check=True).stdout
    lengths = dict(re.findall(r"^\t(\w+) = (\d+) ;$", header, re.M))
    dims = re.search(rf"double {name}\((.*)\)", header)[1].split(", ")
    return [int(lengths[dim]) for dim in dims]


def write_map(path, name, grid):
    """Each rank has the block of the next one, as the workloads get it."""
    shape, ranks, lines = read_shape(path, name), math.prod(grid), []
    for rank in range(ranks):
        rest, start, count = (rank + 1) % ranks, [], []
        for length, n in reversed(list(zip(shape, grid))):
            rest, at = divmod(rest, n)
            start.insert(0, length * at // n)
            count.insert(0, length * (at + 1) // n - start[0])
        lines.append(f"{rank} {','.join(map(str, start))} {','.join(map(str, count))}\n")
    return write("map", "".join(lines))


def check_get(machine, run, row, planned, label):
    """That of one variable."""
    chosen = write_map(machine.data, row[2][0], planned["grid"])
    status, plans, errors = plan("-v", row[2][0], "--map", chosen, "--get", "--ranks-per-node",
                                 str(machine.options.ranks_per_node), *row[4], machine.data)
    # nodes whose ranges overlap may have few bytes of them: such reads are only estimated
    if ok(status == 0, f"{label}: the plan of a get", errors) and plans[0]["strategy"] != "within_nodes":
        compare(run, "get", plans[0], label)


def check_run(machine, program, library, row, nodes):
    workload, grid, variables, hints, options = row
    per_node = machine.options.ranks_per_node
    label = f"{workload}, {hints or 'no hints'}, {nodes} nodes of {per_node} ranks"
    library.hints = hints
    run = machine.run(program, library, workload, nodes)
    if not ok(isinstance(run, cluster.Run), f"{label}: the run", run):
        return
    status, plans, errors = plan("-v", ",".join(variables), "--grid", grid, "--ranks", str(nodes * per_node),
                                 "--ranks-per-node", str(per_node), *options, machine.data)
    if ok(status == 0, f"{label}: the plan of a put", errors):
        compare(run, "put", plans[0], label)
        if len(variables) == 1:
            check_get(machine, run, row, plans[0], label)


def check_runs():
    folder = os.path.realpath(scratch("."))  # as the preload sees it
    library = cluster.Library("this", BUILD, os.path.join(BUILD, ".libs"), "")
    if library_flags()[-1] != "-lpnetcdf":
        skip("runs", "the library is not shared")
        return
    try:
        program = cluster.build_workloads({"mpich": COMPILER, "openmpi": COMPILER}, folder, library)
        if library.mpi != "mpich":
            raise cluster.Unfit("Open MPI cannot simulate nodes")
    except cluster.Unfit as reason:
        skip("runs", str(reason).replace("\n", " "))
        return
    for size in os.environ.get("PNC_TEST_PLAN", SIZES).split():
        nodes, per_node = map(int, size.split("x"))
        machine = make_machine(per_node, folder)
        for row in RUNS:
            check_run(machine, program, library, row, nodes)


# --- by hand ---

HEADER = """netcdf a { // file format: CDF-5
dimensions: t = UNLIMITED ; z = 64 ; y = 1024 ; x = 1024 ;
variables: double v(t, z, y, x) ; byte b(y, x) ; double s ;
}
"""


def write(name, text):
    path = scratch(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def check_by_hand():
    path = write("a.cdl", HEADER)
    # 512 MiB from 1 MiB + 8 KiB on, or so: 513 stripes; aggregators hold 8 stripes while 8 are written. The first
    # stripe, which the variable before shares, is an access of its own.
    status, plans, errors = plan("-v", "v", "--grid", "1,1,4,4", "--ranks-per-node", "4", path)
    if ok(status == 0 and len(plans) == 1, "a plan from CDL", errors):
        found = plans[0]
        ok((found["ranks"], found["nodes"], found["aggregators"]) == (16, 4, 4), "ranks, nodes, aggregators", found)
        ok(found["bytes"] == 512 << 20 and found["strategy"] == "two_phase" and found["overlaps"] and
           found["rounds"] == 17 and found["accesses"] == 69, "17 rounds of 32 stripes", found)
        ok(found["memory_of_delays"] == 128 << 20 and
           abs(found["hidden_seconds"] + found["exchange_seconds"] - found["seconds"]) < 1e-6,
           "write-behind needs the bytes of an aggregator, and hides all but the exchange", found)
        slow = plan("-v", "v", "--grid", "1,1,4,4", "--ranks-per-node", "4", "--server-mbs", "100", path)[1][0]
        logged = slow["hidden_seconds"] - slow["hidden_by_logs_seconds"]
        ok(abs(logged - (128 << 20) / 2e9 - 17 * 20e-6) < 1e-6,
           "a burst buffer hides less by 128 MiB to the disk of a node, in 17 accesses", logged)
        slow = plan("-v", "v", "--grid", "1,1,4,4", "--ranks-per-node", "4", "--disk-mbs", "1", "--disk-latency-us",
                    "0", path)[1]
        ok(slow and slow[0]["hidden_by_logs_seconds"] == 0, "nothing if these disks are slow", slow)
    status, plans, errors = plan("-v", "v", "--weak", "--ranks", "16,1024,16384", "--ranks-per-node", "64", path)
    ok(status == 0 and [p["bytes"] for p in plans] == [p["ranks"] << 29 for p in plans] and
       [p["nodes"] for p in plans] == [1, 16, 256], "weak scaling", errors or plans)
    ok(all(p["seconds"] > p["bytes"] / (8 * 3.1e9) for p in plans), "8 servers are a limit of the time", plans)
    status, plans, errors = plan("-v", "b", "--grid", "1,1", path)
    ok(status == 0 and (plans[0]["strategy"], plans[0]["accesses"], plans[0]["messages"]) == ("direct", 1, 0),
       "one rank writes a variable in one access", errors or plans)
    slow = plan("-v", "b", "--grid", "1,1", "--server-mbs", "1", "--latency-us", "0", "--request-us", "0", "--link-mbs",
                "1000000", "--servers", "1", path)[1][0]["seconds"]
    got = plan("--get", "-v", "v", "--grid", "1,1,4,4", path)[1]
    ok(got and got[0]["hidden_seconds"] == 0, "a get is not hidden", got)
    ok(abs(slow - 1.048576) < 0.01, "1 MiB to a server of 1 MB/s takes about a second", slow)


# Shapes of the variable of a workload, 2 MiB of each rank, by the number of ranks; the grid of ranks.
COUNTED = {
    "blocks-2d": ({16: (2048, 2048), 32: (4096, 2048), 64: (4096, 4096), 128: (8192, 4096),
                   256: (8192, 8192)}, "0,0"),
    "lbnl-x": ({16: (256, 128, 128), 32: (256, 256, 128), 64: (256, 256, 256)}, "1,1,0"),
}


def check_counted():
    """The counts of runs on up to 256 ranks in docs/scaling.md, which the cluster benchmark has written there."""
    with open(os.path.join(TOP, "docs", "scaling.md"), encoding="utf-8") as file:
        text = file.read()
    for workload, (shapes, grid) in COUNTED.items():
        table = re.search(rf"<!-- cluster: costs {workload} -->\n(.*?)<!-- end -->", text, re.S)[1]
        number, skipped = r" +(\d+) \|", r" +\d+ \|"
        rows = re.findall(rf"^\|{number}{number} this +\|{number}{skipped}{number}{skipped}{number}", table, re.M)
        rows = [tuple(map(int, row)) for row in rows if row[0] != "1"]
        ok(len(rows) == len(shapes), f"{workload}: counts in docs/scaling.md", rows)
        for nodes, ranks, rounds, writes, messages in rows:
            dims = "".join(f"d{i} = {n} ; " for i, n in enumerate(shapes[ranks]))
            names = ", ".join(f"d{i}" for i in range(len(shapes[ranks])))
            path = write("counted.cdl", f"netcdf c {{ // file format: CDF-5\ndimensions: rows = 16 ; ranks = {ranks} ; "
                         f"{dims}\nvariables: double prepared(rows, ranks) ; double v({names}) ;\n}}\n")
            status, plans, errors = plan("-v", "v", "--grid", grid, "--ranks", str(ranks), path)
            found = [] if status != 0 else [plans[0]["nodes"], plans[0]["rounds"], plans[0]["accesses"],
                                            plans[0]["messages_of_rank"] + plans[0]["reduction_messages_of_rank"]]
            ok(found[:3] == [nodes, rounds, writes] and is_near(messages, found[3]),
               f"{workload}, {ranks} ranks: rounds, writes and messages that were counted",
               f"{found}, counted {(nodes, rounds, writes, messages)} {errors}")


def check_grids():
    """Dimensions of the grid that are longer than those of the variable, and variables with fewer dimensions."""
    path = write("a.cdl", HEADER.replace("z = 64", "z = 3"))
    status, plans, errors = plan("-v", "v", "--ranks", "64", path)
    ok(status == 0 and plans[0]["grid"] == [1, 1, 8, 8] and plans[0]["ranks_without_values"] == 0,
       "numbers of the grid that are chosen fit the lengths", errors or plans)
    status, plans, errors = plan("-v", "v", "--grid", "1,8,1,8", path)
    ok(status == 0 and plans[0]["grid"] == [1, 8, 1, 8] and plans[0]["ranks_without_values"] == 40 and
       plans[0]["bytes"] == 3 << 23, "of 8 x 8 ranks along 3 and 1024 elements, 3 x 8 have values", errors or plans)
    status, plans, errors = plan("-v", "s", "--ranks", "16", path)
    ok(status == 0 and (plans[0]["bytes"], plans[0]["ranks_without_values"], plans[0]["accesses"]) == (8, 15, 1),
       "one rank has the value of a variable without dimensions", errors or plans)
    status, plans, errors = plan("-v", "s,b", "--ranks", "16", path)
    ok(status == 0 and plans[0]["grid"] == [4, 4] and plans[0]["bytes"] == (1 << 20) + 8 and
       plans[0]["ranks_without_values"] == 0, "the grid is that of the variable with most dimensions", errors or plans)
    for columns, estimated in ((256, False), (4, True)):
        chosen = write("map", "".join(f"{rank} 0,{256 * rank} 1024,{columns}\n" for rank in range(4)))
        status, plans, errors = plan("-v", "b", "--map", chosen, "--get", "--ranks-per-node", "2", path)
        ok(status == 0 and plans[0]["strategy"] == "two_phase" and plans[0]["accesses_are_estimated"] == estimated,
           f"accesses of a get of {columns} of 256 columns: {'estimated' if estimated else 'counted'}",
           errors or plans)


def check_map():
    path = write("a.cdl", HEADER)
    grid = plan("-v", "b", "--grid", "2,2", "--ranks-per-node", "2", path)[1]
    lines = [f"{2 * y + x} {512 * y},{512 * x} 512,512\n" for y in range(2) for x in range(2)]
    status, plans, errors = plan("-v", "b", "--map", write("map", "# a comment\n\n" + "".join(lines[::-1])),
                                 "--ranks-per-node", "2", path)
    same = status == 0 and {key: value for key, value in plans[0].items() if key != "grid"} == {
        key: value for key, value in grid[0].items() if key != "grid"}
    ok(same, "a map with the blocks of a grid has the same plan", errors or (plans, grid))
    for text, wanted in (("0 0,0 1\n", ":1: must be a rank"), ("x\n", ":1: must begin with a rank"),
                         ("0 0,0 1,1\n0 1000,0 25,1\n", ":2: the hyperslab exceeds"), ("# none\n", "no hyperslab"),
                         ("0 0,0 1,1 2\n", ":1: must be a rank"), ("-1 0,0 1,1\n", ":1: must begin")):
        status, _, errors = plan("-v", "b", "--map", write("map", text), path)
        ok(status == 1 and wanted in errors and len(errors.splitlines()) == 1, f"a map: {wanted}", errors)


def check_machines():
    """A million ranks in one plan; times by hand: all servers of a machine, or the links of its nodes."""
    shape = "dimensions: x = 8388608 ;\nvariables: double v(x) ;\n"
    path = write("weak.cdl", f"netcdf w {{ // file format: CDF-5\n{shape}}}\n")
    # 64 MiB of each rank; Aurora: 1024 servers of 30.27 GB/s, and 100 us of each of them for each of 64 stripes
    status, plans, errors = plan("--machine=aurora", "-v", "v", "--weak", "--ranks", "1000000", path)
    if ok(status == 0 and (plans[0]["nodes"], plans[0]["bytes"]) == (9616, 10 ** 6 << 26), "a million ranks", errors):
        found = plans[0]
        wanted = 1e6 * 64 / 1024 * ((1 << 20) / 30270e6 + 100e-6)
        ok(found["limited_by"] == "servers" and abs(found["limits"]["servers"] / wanted - 1) < 0.02 and
           found["seconds"] > 0.98 * wanted, f"the servers are a limit: {wanted:.1f} s", found)
        links = 1e6 * (1 << 26) / 9616 / 50e9
        ok(abs(found["limits"]["links"] / links - 1) < 0.02, f"links: {links:.2f} s", found["limits"])
    # Fugaku: 65 MB/s between a node and the servers; 48 ranks of 64 MiB
    status, plans, errors = plan("--machine=fugaku", "-v", "v", "--weak", "--ranks", "480", path)
    wanted = 48 * (1 << 26) / 65e6
    ok(status == 0 and plans[0]["limited_by"] == "links" and abs(plans[0]["seconds"] / wanted - 1) < 0.02,
       f"the links are a limit: {wanted:.1f} s", errors or plans)
    # Perlmutter: a file with two stripes has two servers of 16.78 GB/s; 256 ranks of 64 MiB
    status, plans, errors = plan("--machine=perlmutter", "--stripe-count=2", "-v", "v", "--weak", "--ranks=256", path)
    wanted = 256 * 64 / 2 * ((1 << 20) / 16780e6 + 100e-6)
    ok(status == 0 and abs(plans[0]["limits"]["servers"] / wanted - 1) < 0.02 and plans[0]["seconds"] > 0.98 * wanted,
       f"servers without a stripe of the file do not count: {wanted:.2f} s", errors or plans)
    status, _, errors = plan("--machine=frontier", "-v", "v", "--weak", "--ranks", "1000000", path)
    ok(status == 1 and "frontier has 9408 nodes: 1000000 ranks need 15625" in errors, "too many ranks", errors)
    status, _, errors = plan("--machine=k", "-v", "v", path)
    ok(status == 1 and "--machine=k: must be aurora, cori, frontier, fugaku, intrepid or perlmutter" in errors,
       "no machine", errors)


def check_pieces():
    """32768 runs of 4 bytes of each of 64 ranks, four aggregators: each copies 524288 pieces, 24 ns and 4 bytes."""
    path = write("pieces.cdl", "netcdf p { // file format: CDF-5\ndimensions: row = 32768 ; rank = 64 ;\n"
                 "variables: float v(row, rank) ;\n}\n")
    status, plans, errors = plan("-v", "v", "--grid=1,64", "--ranks-per-node=16", "--strategy=two_phase", path)
    wanted = 524288 * (24e-9 + 4 * 0.25e-9)
    ok(status == 0 and plans[0]["aggregators"] == 4 and abs(plans[0]["limits"]["copies"] / wanted - 1) < 0.02 and
       plans[0]["exchange_seconds"] > wanted, f"an aggregator copies pieces: {1e3 * wanted:.2f} ms", errors or plans)


def check_new_files():
    """Stripes of a new file on Lustre, by hand: those of 1, 2, 8 and 64 nodes, with 8 servers and with 900."""
    path = write("a.cdl", HEADER)
    for servers, wanted in ((8, [(0, 0, 0), (2, 1 << 20, 0), (8, 1 << 20, 0), (32, 1 << 20, 4)]),
                            (900, [(0, 0, 0), (2, 1 << 20, 0), (8, 1 << 20, 0), (64, 1 << 20, 0)])):
        status, plans, errors = plan("-v", "v", "--ranks", "4,8,32,256", "--ranks-per-node", "4", "--servers",
                                     str(servers), path)
        found = [tuple(p["new_file"][name] for name in ("stripes", "stripe", "on_server")) for p in plans or []]
        ok(status == 0 and found == wanted, f"new files on {servers} servers", errors or found)


def check_document():
    """The figures of machines in docs/scaling.md are those of the program."""
    with open(os.path.join(TOP, "docs", "scaling.md"), encoding="utf-8") as file:
        table = re.search(r"<!-- machines: system -->\n(.*?)<!-- end -->", file.read(), re.S)[1]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    path = write("a.cdl", HEADER)
    for machine, *cells in rows:
        program = os.path.join(BUILD, "src", "tools", "ncmpistat")
        done = subprocess.run([sys.executable, program, "--plan", "--json", f"--machine={machine}",
                               f"--ranks-per-node={cells[0]}", "-v", "b", "--ranks", "4", path],
                              capture_output=True, text=True, check=False)
        system = json.loads(done.stdout)["system"] if done.returncode == 0 else {}
        ok([float(cell) for cell in cells] == [system.get(name) for name in head[1:]],
           f"{machine}: the figures in docs/scaling.md", (cells, system, done.stderr))


def check_errors():
    path = write("a.cdl", HEADER)
    for arguments, wanted in (
            ((path,), "no variable is given"), (("-v", "v"), "no file is given"), (("-v", "w", path), "no variable w"),
            (("-v", "s", "--map", path, path), "no dimensions"), (("-v", "b,b", path), "listed twice"),
            (("-v", "v", "--grid", "2,2", "--ranks", "5", path), "5 ranks do not"),
            (("-v", "v", "--grid", "a", path), "--grid=a"), (("-v", "v", "--strategy", "mpi_io", path), "--strategy"),
            (("-v", "v", "--ranks-per-node", "0", path), "--ranks-per-node=0"),
            (("-v", "b", "--map", os.path.dirname(path), path), "cannot be read: Is a directory"),
            (("-v", "v", "--map", scratch("none"), path), "No such file"), (("-v", "v", scratch("none")), "No such"),
            (("-v", "v", "--server-mbs", "0", path), "--server-mbs=0"), (("-v", "b", "--map", path, path), ":1:"),
            (("-v", "v", "--weak", "--grid", "2000000,2000000", path), "4000000000000 ranks"),
            (("-v", "v", "--weak", "--ranks", "16777217", path), "from 1 to 16777216"),
            (("-v", "v", "--ranks-per-node", "3000000000", path), "from 1 to 16777216"),
            (("-v", "v", "--records", "3000000000", path), "from 1 to 2147483647"),
            (("-v", "v", "--stripe", "2G", path), "at most 1G"), (("-v", "v", "--stripe", "0", path), "at most 1G"),
            (("-v", "v,b", "--records", "2000000000", path), "at most 524288 with 2 variables"),
            (("-v", "v", "--records", "2000000000", "--ranks", "64", path), "stripes: a plan follows at most"),
            (("-v", "v", write("bad.cdl", "netcdf {")), "bad.cdl:1:")):
        status, _, errors = plan(*arguments)
        ok(status == 1 and wanted in errors and "Traceback" not in errors, f"an error: {wanted}", errors)
    if netCDF4 is None:
        skip("a netCDF-4 file", "netCDF4 is not installed")
        return
    with netCDF4.Dataset(scratch("netcdf4.nc"), "w") as file:
        file.createVariable("v", "f4", ())
    status, _, errors = plan("-v", "v", scratch("netcdf4.nc"))
    ok(status == 1 and ("has no chunks" in errors and "PNETCDF_STATS=1" in errors or "without HDF5" in errors),
       "a netCDF-4 file: why there is no plan, and what helps", errors)


def check_terminal():
    path = write("a.cdl", HEADER)
    program = os.path.join(BUILD, "src", "tools", "ncmpistat")
    done = subprocess.run([sys.executable, program, "--plan", "-v", "v", "--ranks", "16,64", path],
                          capture_output=True, text=True, check=False)
    ok(done.returncode == 0 and re.search(r"^ +ranks, nodes +16, 2 +64, 8$", done.stdout, re.M) and
       "strategy" in done.stdout and
       re.search(r"^ +new file on Lustre +2 of 1.0 MiB +8 of 1.0 MiB$", done.stdout, re.M),
       "two plans beside each other", done.stdout + done.stderr)
    done = subprocess.run([sys.executable, program, "--plan", "--help"], capture_output=True, text=True, check=False)
    ok(done.returncode == 0 and "--ranks-per-node" in done.stdout, "help", done.stdout + done.stderr)


check_by_hand()
check_counted()
check_grids()
check_map()
check_machines()
check_pieces()
check_new_files()
check_document()
check_errors()
check_terminal()
check_runs()
finish()
