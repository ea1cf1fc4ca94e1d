"""Counts the functions of the library, and their files, that one call enters: how far a reader has to go. `make
trace-calls` builds the library again for it, without optimisation, so that inline functions count as well.

usage: trace_calls.py --cc COMMAND --mpiexec COMMAND --libs OPTIONS [--ranks N] [--nodes N] [--case NAME]...
                      [--list NAME] [--count FUNCTION,FUNCTION...] SOURCE...

--case   put_vara_all, get_vara_all, put_var1, get_var1, put_var1_all, put_chunks_all, get_chunks_all: doubles; vara: a
         block of a record; chunks: three deflated chunks of 64 x 64 of a netCDF-4 file
--list   the functions that the second call of this case enters, by file
--count  how often each of these functions is entered, on the rank that enters it most often

Rows are of the rank that enters the most functions. The first call of a file prepares what later calls use."""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ("put_vara_all", "get_vara_all", "put_var1_all", "put_var1", "get_var1", "put_chunks_all", "get_chunks_all")
FOLDER = "benchmarks/trace"


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def compile_source(compiler, top, source):
    path = source if os.path.exists(source) else os.path.join(top, source)
    out = os.path.join(FOLDER, re.sub(r"\W", "_", source) + ".o")
    options = ["-mavx2"] if source.endswith("avx2.c") else []
    run(*compiler, *options, "-gdwarf-4", "-O0", "-finstrument-functions", "-c", path, "-o", out)
    return out


def build(args):
    os.makedirs(FOLDER, exist_ok=True)
    top, compiler = os.path.dirname(HERE), args.cc.split()
    sources = [s for s in args.sources if s.endswith(".c")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: compile_source(compiler, top, source), sources))
    program = os.path.join(FOLDER, "trace_calls")
    run(*compiler, "-g", "-no-pie", os.path.join(HERE, "trace_calls.c"), *objects, *args.libs.split(), "-o", program)
    return program


def trace(args, program, case, folder):
    """[{call: {address: times}}] by rank."""
    env = {**os.environ, "MPIR_CVAR_NUM_CLIQUES": str(args.nodes)}
    out = os.path.join(folder, case)
    run(*args.mpiexec.split(), "-n", str(args.ranks), program, case, out + ".nc", out, env=env)
    ranks = []
    for rank in range(args.ranks):
        calls = collections.defaultdict(dict)
        with open(f"{out}.{rank}", encoding="ascii") as lines:
            for line in lines:
                call, address, times = line.split()
                calls[int(call)][address] = int(times)
        ranks.append(calls)
    return ranks


def find_names(program, addresses):
    """{address: (function, file)}"""
    addresses = sorted(addresses)
    done = run("addr2line", "-f", "-e", program, input="\n".join(addresses), stdout=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines()
    top, here = os.path.dirname(HERE) + os.sep, os.getcwd() + os.sep
    files = [os.path.normpath(os.path.join(here, line.rsplit(":", 1)[0])) for line in lines[1::2]]
    return {a: (name, file.replace(here, "").replace(top, "")) for a, name, file in zip(addresses, lines[::2], files)}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--libs", default="")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--list", choices=CASES)
    parser.add_argument("--count", default="")
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()
    program = build(args)
    counted = [name for name in args.count.split(",") if name]
    print(f"{args.ranks} ranks on {args.nodes} nodes     functions  files")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for case in args.case or CASES:
            ranks = trace(args, program, case, folder)
            names = find_names(program, {a for calls in ranks for entered in calls.values() for a in entered})
            for call in (1, 2):
                most = max((calls[call] for calls in ranks), key=lambda entered: len({names[a] for a in entered}))
                functions = {names[a] for a in most}
                print(f"{case:16s} call {call} {len(functions):12d} {len({file for _, file in functions}):6d}")
                for name in counted:
                    times = max(sum(n for a, n in calls[call].items() if names[a][0] == name) for calls in ranks)
                    print(f"    {name}: {times}")
                if call == 2 and case == args.list:
                    for name, file in sorted(functions, key=lambda f: (f[1], f[0])):
                        print(f"    {file:40s} {name}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failure:
        sys.exit(f"trace_calls.py: {failure.cmd[0]} failed")
