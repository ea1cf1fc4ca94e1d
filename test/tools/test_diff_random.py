# needs: python
"""ncmpidiff and cdfdiff over generated pairs of files, against the rule of their manual pages worked out by numpy, and
in Python's integers where doubles would round: count, NaNs, the first place, the largest differences and their
places."""
import os
import random
import re
import subprocess
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cdf
import tap
import tool

QUICK = tap.is_quick()
PAIRS = 12 if QUICK or os.environ.get("PNC_TEST_WRAPPER") else 105
KINDS = {"byte": "i1", "short": "i2", "int": "i4", "float": "f4", "double": "f8", "ubyte": "u1", "ushort": "u2",
         "uint": "u4", "int64": "i8", "uint64": "u8"}
SHAPES = [(), (1,), (7,), (64,), (3, 20), (5, 1), (2, 3, 5), (1, 4, 2, 3), (600,), (0, 3)]
TOLERANCES = [None, None, (0., 0.), (3., 0.), (0., .5), (2.5, .25), (1e19, 0.), (1e-3, 1e-6), (0., 1.5)]
PLACE = r"(?: at element \[([\d, ]*)\])?"
REPORT = re.compile(r'DIFF(?: \(tolerance\))?: variable "(\w+)" of type "\w+"' + PLACE + r" of value .*\n"
                    r"\t(\d+) of (\d+) elements differ(?:, (\d+) of them NaN in one file only)?\n"
                    r"(?:\tlargest absolute difference (\S+)" + PLACE + r" of value .*\n"
                    r"\tlargest relative difference (\S+)" + PLACE + r" of value .*\n)?")


# --- files ---

def real(rng, kind):
    pool = [0., -0., 1., -1., 1e-30, 3e37, -3e37, float("nan"), float("inf"), float("-inf")]
    if kind == "double":
        pool += [1e308, -1e308, 5e-324]
    value = rng.choice(pool) if rng.random() < .3 else float(numpy.float32(rng.uniform(-9, 9)))
    return float(numpy.float32(value)) if kind == "float" else value


def whole(rng, kind):
    limits = numpy.iinfo(KINDS[kind])
    low, high = int(limits.min), int(limits.max)
    return rng.choice([low, low + 1, high, high - 1]) if rng.random() < .4 else rng.randrange(low, min(high, low + 200))


def numbers(rng, kind, n):
    return [(real if kind in ("float", "double") else whole)(rng, kind) for _ in range(n)]


def changed(rng, kind, values):
    share = rng.choice([0, .02, .3, 1])
    return [numbers(rng, kind, 1)[0] if rng.random() < share else x for x in values]


def make_pair(rng):
    """Writes x.nc and y.nc. Returns {name: (kind, shape, values, other values)}."""
    shape, records = rng.choice(SHAPES), rng.random() < .5
    dims = [("d%d" % i, None if records and i == 0 else length) for i, length in enumerate(shape)]
    if not records and 0 in shape:
        shape, dims = (3, 3), [("d0", 3), ("d1", 3)] # a dimension of length 0 would be the record dimension
    pair = {}
    for kind in KINDS:
        x = numbers(rng, kind, int(numpy.prod(shape, dtype=int)))
        pair["v_" + kind] = (kind, shape, x, changed(rng, kind, x))
    for path, which in [("x.nc", 2), ("y.nc", 3)]:
        cdf.Writer(5, dims, [], [(name, v[0], list(range(len(shape))), [], v[which]) for name, v in pair.items()],
                   shape[0] if records and shape else 0).write(path)
    return pair


# --- the rule ---

def sizes_of_reals(x, y):
    """Absolute and relative differences, infinite where a value is; NaN where one is NaN; 0 where they are the same."""
    x, y = numpy.array(x, "f8"), numpy.array(y, "f8")
    with numpy.errstate(all="ignore"):
        absolute, largest = abs(x - y), numpy.maximum(abs(x), abs(y))
        relative = numpy.where(numpy.isinf(absolute), abs(x / largest - y / largest), absolute / largest)
    infinite, same = numpy.isinf(x) | numpy.isinf(y), (x == y) | (numpy.isnan(x) & numpy.isnan(y))
    for sizes in (absolute, relative):
        sizes[infinite & ~numpy.isnan(x) & ~numpy.isnan(y)] = numpy.inf
        sizes[same] = 0
    return absolute.tolist(), relative.tolist(), same


def sizes_of_wholes(x, y):
    absolute = [abs(a - b) for a, b in zip(x, y)]
    relative = [float(d) / float(max(abs(a), abs(b))) if d else 0. for d, a, b in zip(absolute, x, y)]
    return absolute, relative, numpy.array(x, object) == numpy.array(y, object)


def wanted(kind, x, y, tolerance):
    """The numbers of a report: first element, count, NaNs, the largest of both kinds (as they are printed) and their
    places."""
    reals = kind in ("float", "double")
    absolute, relative, same = (sizes_of_reals if reals else sizes_of_wholes)(x, y)
    nan = lambda i: absolute[i] != absolute[i]
    infinite = lambda i: absolute[i] == float("inf") and relative[i] == float("inf")
    counts = lambda i: not same[i] and (tolerance is None or nan(i) or infinite(i)
                                        or (absolute[i] > tolerance[0] and relative[i] > tolerance[1]))
    found = [i for i in range(len(x)) if counts(i)]
    if not found:
        return None
    sized = [i for i in found if not nan(i)]
    expected = [found[0], len(found), len(x), len(found) - len(sized)]
    for sizes in (absolute, relative) if sized else ():
        largest = max(sizes[i] for i in sized)
        expected += ["%e" % largest if isinstance(largest, float) else str(largest),
                 min(i for i in sized if sizes[i] == largest)]
    return expected


# --- the reports ---

def number_of(place, shape):
    return int(numpy.ravel_multi_index([int(i) for i in place.split(",")], shape)) if place else 0


def reported(match, shape):
    first, count, total, nans, absolute, at, relative, there = match.groups()[1:]
    expected = [number_of(first, shape), int(count), int(total), int(nans or 0)]
    return expected + ([absolute, number_of(at, shape), relative, number_of(there, shape)] if absolute else [])


def start(name, ranks):
    library = os.environ.get("PNC_TEST_YIELD", "no")
    preload = [] if library == "no" else ["env", "LD_PRELOAD=" + library]
    mpiexec = [*os.environ.get("MPIEXEC", "mpiexec").split(), "-n", str(ranks), *preload] if ranks > 1 else []
    return mpiexec + tool.command(name)


def compare(name, ranks, pair, tolerance):
    """Differences between the tool's report and the rule."""
    words = ["-t", "%r,%r" % tolerance] if tolerance else []
    done = subprocess.run([*start(name, ranks), *words, "x.nc", "y.nc"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    shape = next(iter(pair.values()))[1]
    got = {match.group(1): reported(match, shape) for match in REPORT.finditer(done.stdout)}
    rule = {variable: wanted(kind, x, y, tolerance) for variable, (kind, _, x, y) in pair.items()}
    problems = ["%s: %s, not %s" % (variable, got.get(variable), expected) for variable, expected in rule.items()
                if got.get(variable) != expected]
    if done.returncode != any(rule.values()) or done.stderr:
        problems.append("exit status %d, %s" % (done.returncode, done.stderr))
    return ["%s on %d ranks, shape %s, tolerance %s: %s" % (name, ranks, shape, tolerance, p) for p in problems]


def main():
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    problems, compared = {}, {}
    for seed in range(PAIRS):
        rng = random.Random(seed)
        pair, tolerance = make_pair(rng), rng.choice(TOLERANCES)
        for run in [("cdfdiff", 1), ("ncmpidiff", (1, 2, 4)[seed % 3])]:
            problems.setdefault(run, []).extend("pair %d: %s" % (seed, p) for p in compare(*run, pair, tolerance))
            compared[run] = compared.get(run, 0) + 1
    for (name, ranks), found in problems.items():
        tap.ok(not found, "%s on %d ranks: %d pairs of files, each with variables of ten types"
               % (name, ranks, compared[name, ranks]), "\n".join(found[:10]))


main()
tap.finish()
