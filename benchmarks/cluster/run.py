#!/usr/bin/env python3
"""Run workloads on simulated nodes over a simulated parallel file system, and report what reaches the network and the
file: benchmarks/README.md describes it. `make bench-cluster` starts this program for the library of the build.

    run.py --library LABEL=PREFIX[,LIBDIR[,HINTS]] ... [options]

A library is found in PREFIX/include and in LIBDIR (PREFIX/lib). HINTS become PNETCDF_HINTS; in them {nodes} is the
number of nodes. The MPI library of the first one must be MPICH with the device ch4:ucx, which can simulate nodes.
Others may be built for Open MPI: their ranks have the names of nodes, by which MPI-IO places its aggregators, but share
memory, and their messages are not counted.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

import cluster
import examine
import report


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n")[2])
    cluster.add_options(parser, 2 << 20)
    parser.add_argument("--hints", action="append", default=[], metavar="LABEL=HINTS",
                        help="the first library once more, with hints")
    parser.add_argument("--mpi-io", action="append", default=[], metavar="LABEL=HINTS",
                        help="with the first library only for the definitions, let MPI-IO access the data")
    parser.add_argument("--nodes", default="2,4,8", help="numbers of nodes (2,4,8)")
    parser.add_argument("--ranks-per-node", type=int, default=8)
    parser.add_argument("--stripe", type=int, default=1 << 20, help="bytes of a stripe (1 MiB)")
    parser.add_argument("--slowdown", type=float, default=0,
                        help="real seconds of a simulated one (twice the ranks that share a core)")
    parser.add_argument("--verify-counts", action="store_true", help="fail where the counts show a mistake")
    parser.add_argument("--most", type=int, default=5, help="violations of a run that are shown (5)")
    parser.add_argument("--plot", metavar="FILE.svg", help="draw the rates")
    parser.add_argument("--update", metavar="FILE.md", help="replace the tables in this document")
    options = cluster.parse_options(parser)
    first = options.library[0]
    for text, with_mpi_io in [(text, False) for text in options.hints] + [(text, True) for text in options.mpi_io]:
        label, _, hints = text.partition("=")
        options.library.append(cluster.Library(label, first.prefix, first.libdir, hints, with_mpi_io))
    return options


def build_all(options, folder):
    programs = []
    for library in options.library:
        try:
            programs.append((library, cluster.build_workloads(options.compilers, folder, library)))
        except cluster.Unfit as reason:
            print(f"run.py: {reason}", file=sys.stderr)
    if options.library[0].mpi != "mpich":
        raise cluster.Unfit(f"{options.library[0].label} is built for Open MPI, whose ranks share one node's memory")
    return programs


def run_all(options, folder):
    """(runs, number of failures)"""
    programs, runs, failures = build_all(options, folder), [], 0
    if not programs:
        return runs, 1
    machine = cluster.Cluster(options, folder)
    names = options.workloads.split(",") if options.workloads else cluster.run_tool([programs[0][1]]).split()
    for workload in names:
        for nodes in map(int, options.nodes.split(",")):
            for library, program in programs:
                begin = time.monotonic()
                result = machine.run(program, library, workload, nodes)
                text = f"done in {time.monotonic() - begin:.0f} s"
                if isinstance(result, cluster.Run):
                    runs.append(result)
                else:
                    text = result
                    failures += result.startswith("failed")
                print(f"{workload}, {nodes} nodes, {library.label}: {text}", file=sys.stderr)
    return runs, failures


def verify(runs, most):
    """Print the violations; return their number."""
    total = 0
    for run in runs:
        found = list(examine.find_violations(run))
        total += len(found)
        for text in found[:most]:
            print(f"{run.library}: {run.workload}, {run.nodes} nodes: {text}")
        if len(found) > most:
            print(f"{run.library}: {run.workload}, {run.nodes} nodes: {len(found) - most} more")
    print(f"{total} violations in {len(runs)} runs")
    return total


def main():
    options = parse_options()
    folder = tempfile.mkdtemp(prefix="cluster-", dir=os.path.realpath(options.dir))  # as the preload sees it
    try:
        runs, failures = run_all(options, folder)
    except cluster.Unfit as reason:
        sys.exit(f"run.py: {reason}")
    finally:
        shutil.rmtree(folder)
    rows = [report.Row(run, examine.summarise(run, "put"), examine.summarise(run, "get")) for run in runs]
    print("\n".join(report.make_table(rows, report.COLUMNS)))
    if options.plot:
        report.draw_plot(options.plot, rows)
    if options.update:
        report.update_document(options.update, rows, has_all_workloads=not options.workloads)
    if options.verify_counts:
        checked = {library.label for library in options.library if not library.with_mpi_io and library.mpi == "mpich"}
        failures += verify([run for run in runs if run.library in checked], options.most)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
