#!/usr/bin/env python3
"""How much of the time of puts and gets is hidden behind computation, on simulated nodes with disks of their own over a
simulated parallel file system. `make bench-hidden-cluster` starts this program for the library of the build.

A workload is put and got for several records. First without computing: the time in calls, with that of the close. Then
once more for each hint, in a program that computes after each record for so many times as long as the calls for it
took: what is no longer in calls is hidden. The last columns are what `ncmpistat --plan` says about one put.
"""
import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile

import cluster

# Variables and grid of ranks of a plan, for workloads of one put; the dimension of the records is that of the grid's 1.
PLANNED = {"blocks-2d": ("v0", "1,0,0"), "lbnl-yz": ("v0", "1,0,0,1"), "wrf": None, "flash": None}
HINTS = {"behind": ";nc_write_behind=enable", "logs": ";nc_burst_buf=enable;nc_burst_buf_dirname={disk}",
         "ahead": ";nc_prefetch=enable"}


@dataclasses.dataclass
class Times:
    """Simulated seconds of all records."""
    put: float
    get: float
    disk_bytes: int


def time_calls(run):
    def add(*names):
        return sum(phase.end - phase.begin for name in names for phase in run.named(name)) / 1e9 / run.slowdown
    return Times(add("put", "close"), add("get"), sum(a.length for p in run.phases for a in p.disk if a.kind == "W"))


class Failed(Exception):
    """A run has no times."""


def run_once(machine, program, library, workload, nodes, computes, hints):
    library.hints, machine.computes = machine.options.hints + hints, computes
    run = machine.run(program, library, workload, nodes)
    if not isinstance(run, cluster.Run):
        raise Failed(f"{workload}, {nodes} nodes, {hints or 'no hints'}: {run}")
    return time_calls(run)


def plan(machine, library, workload, ranks):
    """(share of a put that write-behind hides, the same of a burst buffer) or None"""
    if PLANNED.get(workload) is None:
        return None
    variable, grid = PLANNED[workload]
    program = os.path.join(library.prefix, "src", "tools", "ncmpistat")
    done = subprocess.run([sys.executable, program, "--plan", "--json", "-v", variable, "--grid", grid, "--ranks",
                           str(ranks), "--ranks-per-node", str(machine.options.ranks_per_node), machine.data],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{workload}, {ranks} ranks: {done.stderr}")
    found = json.loads(done.stdout)["plans"][0]
    return tuple(found[name] / found["seconds"] for name in ("hidden_seconds", "hidden_by_logs_seconds"))


def percent(share):
    return f"{100 * share:.0f}%"


def measure(machine, program, library, workload, nodes):
    """The cells of a row."""
    options = machine.options
    plain = run_once(machine, program, library, workload, nodes, 0, "")
    planned = plan(machine, library, workload, nodes * options.ranks_per_node)
    cells = [workload, nodes, nodes * options.ranks_per_node, f"{1e3 * plain.put:.0f} ms"]
    for name in ("behind", "logs"):
        found = run_once(machine, program, library, workload, nodes, options.factor * plain.put / options.steps,
                         HINTS[name])
        if name == "logs" and found.disk_bytes == 0:
            raise Failed(f"{workload}, {nodes} nodes: nothing was written to disks of nodes")
        cells += [f"{1e3 * found.put:.0f} ms", percent(1 - found.put / plain.put)]
    cells += ["-", "-"] if planned is None else map(percent, planned)
    if not options.gets:
        return cells
    found = run_once(machine, program, library, workload, nodes, options.factor * plain.get / options.steps,
                     HINTS["ahead"])
    return [*cells, f"{1e3 * plain.get:.0f} ms", f"{1e3 * found.get:.0f} ms", percent(1 - found.get / plain.get)]


TITLES = ["workload", "nodes", "ranks", "puts", "write-behind", "hidden", "burst buffer", "hidden", "planned",
          "planned, burst buffer"]
TITLES_OF_GETS = ["gets", "prefetch", "hidden"]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0],
                                     epilog=__doc__.split("\n\n", maxsplit=1)[1])
    cluster.add_options(parser, 2 << 20)
    parser.set_defaults(workloads="blocks-2d")
    parser.add_argument("--nodes", default="8,16,32,64", help="numbers of nodes (8,16,32,64)")
    parser.add_argument("--ranks-per-node", type=int, default=1)
    parser.add_argument("--steps", type=int, default=6, help="records (6)")
    parser.add_argument("--factor", type=float, default=1.2, help="computation in relation to the calls (1.2)")
    parser.add_argument("--gets", action="store_true", help="also gets, with nc_prefetch")
    parser.add_argument("--hints", default="nc_record_align_size=1048576",
                        help="for all runs (nc_record_align_size=1048576: records begin at stripes)")
    parser.add_argument("--stripe", type=int, default=1 << 20, help="bytes of a stripe (1 MiB)")
    parser.add_argument("--slowdown", type=float, default=0,
                        help="real seconds of a simulated one (twice the ranks that share a core)")
    return cluster.parse_options(parser)


def main():
    options = parse_options()
    folder = tempfile.mkdtemp(prefix="hidden-", dir=os.path.realpath(options.dir))  # as the preload sees it
    try:
        library = options.library[0]
        program = cluster.build_workloads(options.compilers, folder, library)
        machine = cluster.Cluster(options, folder)
        machine.steps = options.steps
        titles = TITLES + (TITLES_OF_GETS if options.gets else [])
        print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles))
        for workload in options.workloads.split(","):
            for nodes in map(int, options.nodes.split(",")):
                cells = measure(machine, program, library, workload, nodes)
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    except (cluster.Unfit, Failed) as reason:
        sys.exit(f"hidden.py: {reason}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
