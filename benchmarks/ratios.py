#!/usr/bin/env python3
"""Run benchmarks, and compare their cases with the limit and with another library: one table and one picture.

    benchmarks/ratios.py --svg FILE --run RANKS COMMAND [PEER_COMMAND] [--run ...]

A command prints lines of bench_io --tabs, or of a name, wall and CPU milliseconds, with tabs between them (bench_small,
bench_clients, bench_lists), where "limit of CASE" is the limit of a case. A peer command is the same program with
another library; both run in turn. Times are CPU time on 1 rank, and wall time of the slowest rank on more.
"""
import argparse
import collections
import html
import math
import shlex
import statistics
import subprocess
import sys

GOAL = 0.5          # of the limit, where a program has no other
PEER_GOAL = 0.95    # less is behind the other library; the rest is noise
LIMIT_OF = "limit of "

# Ratios are times of limit or peer divided by that of this library; None: not measured.
Row = collections.namedtuple("Row", "name ranks ms limit goal peer")


def run(command):
    print(f"== {command}", file=sys.stderr)
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"ratios.py: {command}: status {done.returncode}\n{done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def read_limits(lines, ranks):
    """Rows of bench_io --tabs: calls of the library with the limit of the same extents."""
    for case, op, subject, _, _, ms, _, cpu, wall, goal in (line for line in lines if len(line) == 10):
        if subject.startswith("library"):
            name = f"{case}, {op}" + subject.removeprefix("library")
            yield Row(name, ranks, float(ms), float(cpu if ranks == 1 else wall), float(goal.split()[0]) if goal
                      else GOAL, None)


def read_times(lines, ranks):
    return {line[0]: float(line[2 if ranks == 1 else 1]) for line in lines if len(line) == 3}


def medians(rounds):
    return {name: statistics.median(times[name] for times in rounds) for name in rounds[0]}


def ratio(times, name, own):
    return times[name] / own if name in times and own > 0 else None


def measure(ranks, commands, repeat):
    """Rows of a program, and of the same one with a peer."""
    first = run(commands[0])
    rows = list(read_limits(first, ranks))
    if rows:
        return rows
    rounds = [[read_times(first, ranks)], []]
    for number in range(repeat):
        for which, command in enumerate(commands):
            if number > 0 or which > 0:
                rounds[which].append(read_times(run(command), ranks))
    own, peer = medians(rounds[0]), medians(rounds[1]) if rounds[1] else {}
    return [Row(name, ranks, ms, ratio(own, LIMIT_OF + name, ms), GOAL if LIMIT_OF + name in own else None,
                ratio(peer, name, ms)) for name, ms in own.items() if not name.startswith(LIMIT_OF)]


def describe_shortfall(row):
    words = []
    if row.limit is not None and row.limit < row.goal:
        words.append("below its goal")
    if row.peer is not None and row.peer < PEER_GOAL:
        words.append("behind the peer")
    return ", ".join(words)


def show(value):
    return "" if value is None else f"{value:.2f}"


def print_table(rows):
    print(f"{'case':44} {'ranks':>5} {'ms':>9} {'limit':>6} {'goal':>5} {'peer':>6}")
    for row in rows:
        goal = "" if row.goal is None else f"{row.goal:.1f}"
        print(f"{row.name:44} {row.ranks:5} {row.ms:9.3f} {show(row.limit):>6} {goal:>5} {show(row.peer):>6}  "
              f"{describe_shortfall(row)}".rstrip())
    short = sum(describe_shortfall(row) != "" for row in rows)
    print(f"{len(rows)} rows, {short} of them fall short; ratios are times of the limit or the peer / this library")


# --- picture: a line for each row, ratios to the right on a logarithmic scale ---

LEFT, TOP, STEP, DECADE = 380, 60, 16, 150
LEAST, MOST = -2, 2  # powers of 10
COLOURS = {"limit": "#0b6ea8", "peer": "#c8501e"}


def position(value):
    return LEFT + (min(max(math.log10(value), LEAST), MOST) - LEAST) * DECADE


def draw_row(row, y):
    colour = "#a00" if describe_shortfall(row) else "#222"
    yield (f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end" fill="{colour}">'
           f'{html.escape(row.name)} ({row.ranks})</text>')
    if row.goal is not None:
        x = position(row.goal)
        yield f'<path d="M{x:.1f} {y - 5}v10" stroke="#0b6ea8"/>'
    for value, name in ((row.limit, "limit"), (row.peer, "peer")):
        if value is not None and value > 0:
            yield (f'<circle cx="{position(value):.1f}" cy="{y}" r="4" fill="{COLOURS[name]}">'
                   f'<title>{html.escape(row.name)}: {name} {value:.2f}</title></circle>')


def draw(path, rows):
    width, height = LEFT + (MOST - LEAST) * DECADE + 30, TOP + STEP * (len(rows) + 1)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             'font-size="11">', f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{LEFT}" y="20">time of the limit (blue; its goal is a bar) or of the peer (orange) / time of '
             'this library: right of 1 it is faster</text>']
    for power in range(LEAST, MOST + 1):
        x = position(10 ** power)
        parts.append(f'<path d="M{x} {TOP - 12}V{height - STEP}" stroke="{"#444" if power == 0 else "#ddd"}"/>'
                     f'<text x="{x}" y="{TOP - 18}" text-anchor="middle">{10 ** power:g}</text>')
    for number, row in enumerate(rows):
        parts += draw_row(row, TOP + STEP * number)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--svg", metavar="FILE", help="draw the picture")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each program, of which the median counts")
    parser.add_argument("--run", nargs="+", action="append", required=True, metavar=("RANKS", "COMMAND"))
    options = parser.parse_args()
    rows = []
    for ranks, *commands in options.run:
        if len(commands) not in (1, 2):
            parser.error("--run takes RANKS, a command and, if there is one, that of the peer")
        rows += measure(int(ranks), commands, options.repeat)
    print_table(rows)
    if options.svg:
        draw(options.svg, rows)
        print(f"picture: {options.svg}")


main()
