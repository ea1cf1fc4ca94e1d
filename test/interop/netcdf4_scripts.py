"""Lists of calls for netcdf4_program, which ranks carry out: writing them, running it, reading its logs."""
import functools
import os
import shlex
import signal
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from netcdf4_model import TYPES, is_filtered  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
PROGRAM = os.path.join("test", "interop", "netcdf4_program")
LIMIT = int(os.environ.get("PNC_PROGRAM_LIMIT", "60"))  # seconds for one session


def describe(spec):
    """The kind of storage of a variable, for signatures."""
    filters = "filtered" if is_filtered(spec) else "chunked" if spec.get("chunks") else \
        spec.get("storage", "contiguous")
    return f"{filters} by {spec['by']}"


class Script:
    """Lines for one session; `numbers` of calls that are no operations of the program are above 10^6."""

    def __init__(self):
        self.lines, self.next = [], 1000000

    def add(self, text, number=None, who="*"):
        if number is None:
            number, self.next = self.next, self.next + 1
        self.lines.append(f"{number} {who} {text}")
        return number

    def define_var(self, spec, number):
        name, dims = spec["name"], spec["dims"]
        self.add(f"def_var {name} {spec['type']} {len(dims)} {' '.join(dims)}", number)
        if spec.get("chunks"):
            self.add(f"storage {name} 0 {len(dims)} {' '.join(map(str, spec['chunks']))}", number)
        elif spec.get("storage") == "compact":
            self.add(f"storage {name} 2 0", number)
        elif dims:
            self.add(f"storage {name} 1 0", number)
        for filter_name, text in (("shuffle", "2 0"), ("deflate", f"1 1 {spec.get('deflate')}"),
                                  ("szip", f"4 2 {self.szip(spec)}"), ("fletcher32", "3 0")):
            if spec.get(filter_name):
                self.add(f"filter {name} {text}", number)
        if spec.get("big"):
            self.add(f"endian {name} 2", number)
        if spec.get("fill") is not None:
            no_fill = spec["fill"] == "no"
            value = "default" if spec["fill"] in ("no", "default") else spec["fill"]
            self.add(f"fill {name} {int(no_fill)} {spec['type']} {value}", number)

    @staticmethod
    def szip(spec):
        return f"{32 if spec['szip'][0] == 'nn' else 4} {spec['szip'][1]}" if spec.get("szip") else ""

    def add_access(self, op, var_dims):
        low_high = {"c": 33}
        for rank, boxes in op["parts"].items():
            rank, words = int(rank), []
            for start, count, stride in boxes:
                words += start + count
                if op["shape"] in ("vars", "varm"):
                    words += stride
                if op["shape"] == "varm":
                    words += imap(count, op["order"])
            text = f"{op['op']} {op['var']} {op['mem']} {op['mode']} {op['shape']} {var_dims} {len(boxes)} " + \
                " ".join(map(str, words))
            if op["op"] == "put":
                modulus = TYPES[op["kind"]][0]
                text += f" {low_high.get(op['kind'], 1)} {op['base'] + 1000 * rank} {modulus}"
            self.add(text, op["n"], rank)

    def add_op(self, op, model):
        name, number = op["op"], op.get("n")
        if name in ("put", "get"):
            self.add_access(op, len(model.vars[op["var"]].dims))
        elif name == "wait":
            for rank, which in op["parts"].items():
                self.add(f"wait {op['mode']} " + ("all" if which is None else
                                                  f"{len(which)} {' '.join(map(str, which))}"), number, rank)
        elif name == "att":
            value = op["value"]
            self.add(f"att {op['var'] or '.'} {op['name']} " +
                     (f"text {value}" if isinstance(value, str) else f"int {len(value)} {' '.join(map(str, value))}"),
                     number)
        elif name == "def_dim":
            self.add(f"def_dim {op['name']} {-1 if op['len'] is None else op['len']}", number)
        elif name == "def_var":
            self.define_var(op["spec"], number)
        elif name == "attach":
            self.add("attach 1000000", number)
        elif name == "length":
            self.add(f"length {op['dim']}", number)
        else:
            self.add(name, number)


def imap(count, order):
    """Distances in memory where dimensions are stored in this order."""
    result, distance = [0] * len(count), 1
    for d in reversed(order):
        result[d] = distance
        distance *= max(1, count[d])
    return result


def read_logs(name, ranks):
    """By (number, rank): code; values; and which have begun; writes of each rank."""
    codes, values, begun, writes = {}, {}, {}, {}
    for rank in range(ranks):
        path = f"{name}.{rank}"
        if not os.path.exists(path):
            continue
        with open(path, encoding="ascii") as file:
            for line in file:
                words = line.split()
                if words[0] == "w":
                    writes[rank] = int(words[1])
                elif words[0] == "b":
                    begun[int(words[1]), rank] = True
                elif words[0] == "e":
                    key = int(words[1]), rank
                    if codes.get(key, "0") == "0":
                        codes[key] = words[2]
                elif words[0] == "v":
                    values[int(words[1]), rank] = words[2:]
    return codes, values, begun, writes


@functools.lru_cache(maxsize=None)
def find_binary():
    """Of the build, or made here with its shared library."""
    made = os.path.join(BUILD, PROGRAM)
    source = os.path.join(HERE, "netcdf4_program.c")
    if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
        made = os.path.abspath(tap.scratch("netcdf4_program.made"))
        subprocess.run([*shlex.split(os.environ.get("CC", "mpicc")), "-O1", "-g", "-I" + os.path.join(BUILD, "include"),
                        source, *tap.library_flags(), "-o", f"{made}.{os.getpid()}"], check=True)
        os.replace(f"{made}.{os.getpid()}", made)  # a run in another folder may use it
    return made


def run_binary(ranks, *arguments, nodes=1):
    """nodes: for how many MPICH takes the ranks."""
    env = {**os.environ, "MPIR_CVAR_NUM_CLIQUES": str(nodes)} if nodes > 1 else None
    yielding = os.environ.get("PNC_TEST_YIELD", os.path.join(BUILD, "test", "runner", "yield.so"))
    preload = ["env", f"LD_PRELOAD={yielding}"] if yielding != "no" and os.path.exists(yielding) else []
    command = [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", str(ranks), *preload, find_binary(),
               *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True, errors="replace", env=env) as process:
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "hangs", "", ""
        return process.returncode, out, err


def parse_all(words, kind):
    """Numbers of a log."""
    if kind.kind == "f":
        return np.array([float(word) for word in words], "f8").astype(kind)
    return np.array([int(float(word)) if "e" in word or "." in word else int(word) for word in words],
                    object).astype(kind)
