#!/usr/bin/env python3
"""Run two programs in turn, at least 5 times each, and compare the medians of what they print: lines of a name, wall
milliseconds and CPU milliseconds, with tabs between them, as bench_clients prints them.

    benchmarks/compare.py 'mpiexec -n 2 ./bench_peer' 'mpiexec -n 2 ./bench_clients' [ROUNDS]

The ratio is the time of the first program divided by that of the second one: above 1 the second one is quicker.
"""
import shlex
import statistics
import subprocess
import sys


def run(command):
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare.py: {command}: status {done.returncode}\n{done.stderr}")
    rows = (line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2)
    return {name: (float(wall), float(cpu)) for name, wall, cpu in rows}


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    first, second = sys.argv[1:3]
    rounds = [(run(first), run(second)) for _ in range(int(sys.argv[3]) if len(sys.argv) == 4 else 5)]
    print(f"{f'medians of {len(rounds)} runs each':42} {'wall ms':>19}  {'CPU ms':>19}  {'wall':>6} {'CPU':>6}")
    for name in rounds[0][0]:
        wall, cpu = ([statistics.median(pair[which][name][clock] for pair in rounds) for which in (0, 1)]
                     for clock in (0, 1))
        print(f"{name:42} {wall[0]:9.1f} {wall[1]:9.1f}  {cpu[0]:9.1f} {cpu[1]:9.1f}  "
              f"{wall[0] / wall[1]:6.2f} {cpu[0] / cpu[1]:6.2f}")


main()
