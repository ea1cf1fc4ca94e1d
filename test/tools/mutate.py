"""Classic files of all sorts, and what bad disks, transfers and people make of them."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cdf

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus")
WORDS = [0, 1, 2, 3, 5, 7, 10, 11, 12, 255, 256, 257, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc, 0x40000000]


def sample(version, numrecs=3):
    """A Writer of a file with variables of every type, with and without records."""
    types = [t for t in cdf.TYPES if version == 5 or cdf.TYPES[t][0] <= 6]
    variables = []
    for i, name in enumerate(types):
        atts = [("units", "char", b"m s-1"), ("valid", name, b"ab" if name == "char" else [1, 2])][:i % 3]
        values = b"netcdf" if name == "char" else [1, 2, 3]
        variables.append(("fixed_" + name, name, [[], [1], [1, 2]][i % 3], atts, values))
        variables.append(("record_" + name, name, [[0], [0, 1]][i % 2], atts, values))
    return cdf.Writer(version, [("time", None), ("x", 3), ("y", 5)], [("title", "char", b"sample"), ("n", "int", [7])],
                      variables, numrecs)


def seeds(folder):
    """Bytes of good files (with names), among them those of the fuzzer's corpus."""
    path = os.path.join(folder, "seed.nc")
    for version in (1, 2, 5):
        for numrecs in (0, 3):
            sample(version, numrecs).write(path)
            with open(path, "rb") as file:
                yield file.read()
    for name in sorted(os.listdir(CORPUS)):
        with open(os.path.join(CORPUS, name), "rb") as file:
            yield file.read()


def damage(rng, data):
    """One to three changes; most of them in the header."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if not data:
            break
        kind, near = rng.randrange(8), min(len(data), rng.choice([64, 400, 2000, 1 << 30]))
        at = rng.randrange(near)
        if kind < 2:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            data[at] = rng.randrange(256)
        elif kind < 5:
            data[at // 4 * 4:at // 4 * 4 + 4] = struct.pack(">I", rng.choice(WORDS))
        elif kind == 5:
            del data[at:]
        elif kind == 6:
            del data[at:at + rng.choice([1, 4, 8])]
        else:
            data[at:at] = bytes(rng.choice([1, 4, 8, 100]))
    return bytes(data)


def files(folder, count, seed=1):
    """(number, bytes) of so many damaged files; the same ones each time."""
    good = list(seeds(folder))
    for number in range(count):
        rng = random.Random(seed * 1000003 + number)
        yield number, damage(rng, rng.choice(good))
