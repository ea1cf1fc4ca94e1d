#!/usr/bin/env python3
"""Run the classic benchmarks of parallel I/O on this machine, and compare libraries: a table and a picture.

    classics.py --library LABEL=PREFIX[,LIBDIR[,HINTS]] ... [options]

`make bench-classics` starts this program for the library of the build, with MPI-IO alone and, where it is installed,
serial netCDF beside it. The programs verify what they read. They run in turn; the table has medians.
"""
import argparse
import collections
import html
import os
import re
import statistics
import subprocess
import sys
import tempfile

import cluster

CLASSICS = ["lbnl-x", "lbnl-y", "lbnl-z", "lbnl-xy", "lbnl-xz", "lbnl-yz", "lbnl-xyz", "flash", "flash-plot",
            "flash-corners", "btio", "s3d", "madbench", "ior-segmented", "ior-strided", "e3sm-f", "e3sm-g", "wrf",
            "halo"]
Result = collections.namedtuple("Result", "put get")  # 10^6 bytes per second


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0],
                                     epilog=__doc__.split("\n\n", maxsplit=2)[2])
    cluster.add_options(parser, 8 << 20)
    parser.add_argument("--serial", action="store_true", help="also with serial netCDF, on 1 rank, if it is installed")
    parser.add_argument("--mpi-io", action="store_true", help="also with MPI-IO alone")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each program (5)")
    parser.add_argument("--svg", metavar="FILE", help="draw the rates")
    return cluster.parse_options(parser)


# --- programs ---

def parallel_command(options, library, program):
    words = ["env", f"PNETCDF_HINTS={library.hints}", *(["CLUSTER_MPI_IO=1"] if library.with_mpi_io else [])]
    if options.yield_library and library.mpi == "mpich":
        words.append(f"LD_PRELOAD={options.yield_library}")
    return [*options.launchers[library.mpi], "-n", str(options.ranks), *words, program]


def make_programs(options, folder):
    """{label: (command before the file, words between workload and bytes)}"""
    libraries, programs = list(options.library), {}
    first = libraries[0]
    if options.mpi_io:
        libraries.append(cluster.Library("MPI-IO", first.prefix, first.libdir, "", with_mpi_io=True))
    for library in libraries:
        program = cluster.build_workloads(options.compilers, folder, library)
        programs[library.label] = (parallel_command(options, library, program), [])
    if options.serial:
        try:
            programs["serial netCDF"] = ([cluster.build_serial(options.compilers, folder, first)], [str(options.ranks)])
        except cluster.Unfit as reason:
            print(f"classics.py: without serial netCDF: {reason}", file=sys.stderr)
    return programs


def run(options, folder, program, workload):
    """A Result, or a text that says why there is none."""
    before, between = program
    path = os.path.join(folder, "classic.nc")
    command = [*before, path, workload, *between, str(options.bytes), *cluster.find_map(options.maps, workload)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return f"failed: stopped after {options.timeout} s"
    finally:
        if os.path.exists(path):
            os.remove(path)
    found = re.search(r"^times (\S+) (\S+) (\d+)$", done.stdout, re.M)
    if done.returncode == cluster.SKIPPED:
        return "skipped: " + done.stdout.strip().splitlines()[0]
    if done.returncode != 0 or not found:
        return f"failed: status {done.returncode}: {done.stderr.strip()[-500:]}"
    return Result(*(int(found[3]) / 1e6 / max(float(seconds), 1e-9) for seconds in found.groups()[:2]))


def measure(options, folder, programs):
    """({workload: {label: Result}}, failures)"""
    table, failures = {}, 0
    for workload in options.workloads.split(",") if options.workloads else CLASSICS:
        runs = {label: [] for label in programs}
        for _ in range(options.repeat):
            for label, program in programs.items():
                if runs[label] is not None:
                    result = run(options, folder, program, workload)
                    if isinstance(result, str):
                        print(f"{workload}, {label}: {result}", file=sys.stderr)
                        failures += result.startswith("failed")
                        runs[label] = None
                    else:
                        runs[label].append(result)
        table[workload] = {label: Result(*(statistics.median(values) for values in zip(*results)))
                           for label, results in runs.items() if results}
    return table, failures


# --- results ---

def print_table(options, table, labels):
    print(f"{options.ranks} ranks, about {options.bytes >> 10} KiB each; put / get in 10^6 bytes per second")
    rows = [["workload", *labels]]
    for workload, results in table.items():
        rows.append([workload, *(f"{results[label].put:.0f} / {results[label].get:.0f}" if label in results else "-"
                                 for label in labels)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for i, row in enumerate(rows):
        print("| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)) + " |")
        if i == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


COLOURS = ["#0b6ea8", "#c8501e", "#3d8b37", "#7b4fa3", "#8a6d1a"]
BAR, LEFT, WIDTH, TOP = 9, 120, 320, 60


def draw_workload(results, labels, y, scale):
    for column, which in enumerate(("put", "get")):
        for i, label in enumerate(labels):
            if label not in results:
                continue
            rate, x = getattr(results[label], which), LEFT + column * (WIDTH + 70)
            yield (f'<rect x="{x}" y="{y + i * BAR}" width="{WIDTH * rate / scale[which]:.1f}" height="{BAR - 1}" '
                   f'fill="{COLOURS[i % len(COLOURS)]}"><title>{html.escape(label)}: {rate:.0f} MB/s</title></rect>'
                   f'<text x="{x + WIDTH * rate / scale[which] + 4:.1f}" y="{y + i * BAR + 8}" font-size="9">'
                   f"{rate:.0f}</text>")


def draw(path, table, labels):
    scale = {which: max((getattr(result, which) for results in table.values() for result in results.values()),
                        default=1) for which in ("put", "get")}
    line, width = BAR * len(labels) + 8, LEFT + 2 * (WIDTH + 70)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + line * len(table)}" '
             'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>']
    for i, label in enumerate(labels):
        parts.append(f'<rect x="{LEFT + 150 * i}" y="10" width="12" height="12" fill="{COLOURS[i % len(COLOURS)]}"/>'
                     f'<text x="{LEFT + 150 * i + 18}" y="20">{html.escape(label)}</text>')
    for column, title in enumerate(("puts, MB/s", "gets, MB/s")):
        parts.append(f'<text x="{LEFT + column * (WIDTH + 70)}" y="46" font-weight="bold">{title}</text>')
    for number, (workload, results) in enumerate(table.items()):
        y = TOP + number * line
        parts.append(f'<text x="{LEFT - 8}" y="{y + line / 2:.1f}" text-anchor="end">{html.escape(workload)}</text>')
        parts += draw_workload(results, labels, y, scale)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


def main():
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="classics-", dir=os.path.realpath(options.dir)) as folder:
        try:
            programs = make_programs(options, folder)
        except cluster.Unfit as reason:
            sys.exit(f"classics.py: {reason}")
        table, failures = measure(options, folder, programs)
    print_table(options, table, list(programs))
    if options.svg:
        draw(options.svg, table, list(programs))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
