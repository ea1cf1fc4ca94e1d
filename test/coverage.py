"""Lines of the library that tests run, by room: ./check --coverage starts this after the tests, in the folder of a
build with --coverage. Exit status 1: a room is below its goal. A process that is killed leaves no counts.

usage: coverage.py [--lines]

--lines   list the lines that no test runs"""
import collections
import json
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOALS = collections.defaultdict(lambda: 85, {"format": 95})


def find_counts():
    for folder, _, names in os.walk("src"):
        for name in names:
            if name.endswith(".gcno"): # of all objects, also those that no test runs
                yield os.path.join(folder, name)


def read(counts):
    """{file: {line: times}} of what gcov finds in the files of counts."""
    lines = collections.defaultdict(collections.Counter)
    for path in counts:
        done = subprocess.run(["gcov", "--json-format", "--stdout", path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
        for text in done.stdout.splitlines():
            result = json.loads(text)
            for file in result["files"]:
                name = os.path.relpath(os.path.join(result["current_working_directory"], file["file"]), TOP)
                for line in file["lines"]:
                    lines[name][line["line_number"]] += line["count"]
    return lines


def show_lines(name, counts):
    missing = sorted(n for n, times in counts.items() if times == 0)
    if missing:
        print(f"{name}: {' '.join(map(str, missing))}")


def main(arguments):
    if set(arguments) - {"--lines"}:
        sys.exit(__doc__)
    rooms, low = collections.defaultdict(lambda: [0, 0]), []
    for name, counts in sorted(read(find_counts()).items()):
        found = re.fullmatch(r"src/(\w+)/.*\.[chly]", name)
        if not found: # generated, or a system header
            continue
        rooms[found.group(1)][0] += sum(times > 0 for times in counts.values())
        rooms[found.group(1)][1] += len(counts)
        if arguments:
            show_lines(name, counts)
    print("room        lines     run   share   goal")
    for room, (run, total) in sorted(rooms.items()):
        share = 100 * run / total
        low += [room] if share < GOALS[room] else []
        print(f"{room:10} {total:6} {run:7} {share:6.1f}% {GOALS[room]:5}%")
    run, total = (sum(of) for of in zip(*rooms.values())) if rooms else (0, 1)
    print(f"{'all':10} {total:6} {run:7} {100 * run / total:6.1f}%")
    if low:
        print(f"below their goals: {', '.join(low)}")
    return 1 if low or not rooms else 0


sys.exit(main(sys.argv[1:]))
