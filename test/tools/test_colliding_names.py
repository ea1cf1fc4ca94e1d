# needs: python
"""A file of 100,000 names whose digests (src/base/digest.h) are the same: to find names, this library once used a hash
that was computed from those, and opening the file took time with the square of their number. It opens within the
processor time that a file of other names needs many times over."""
import os
import random
import resource
import shutil
import string
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cdf
import forge
import tap
import tool

COUNT = 100000
BLOCKS, VARIANTS = 3, 47 # 47 to the power of 3 names
# To decode them took 19 s and more, and takes 0.05 s; sanitizers and valgrind take many times as long.
SECONDS = 60 if os.environ.get("PNC_TEST_WRAPPER") or tap.instruments() else 5
LETTERS = string.ascii_letters + string.digits + string.punctuation.replace("/", "").replace("\\", "")
START, FACTOR, MASK = 14695981039346656037, 0x9e3779b97f4a7c15, 2 ** 64 - 1


def mix(value, word):
    value = ((value ^ word) * FACTOR) & MASK
    return value ^ value >> 32


def make_block(rng, value):
    """Texts of 16 letters that lead from this value of the digest to the same next one, and that one: the second word
    undoes what the first one does. Of the words that do, a few in ten thousand have letters only."""
    allowed = frozenset(LETTERS.encode())
    halves = [int.from_bytes("".join(rng.choices(LETTERS, k=4)).encode(), sys.byteorder) for _ in range(1000)]
    meeting, found = mix(value, halves[0]) ^ (halves[1] << 32 | halves[2]), []
    for first in (low << 32 | high for low in halves for high in halves):
        second = mix(value, first) ^ meeting
        if second & 0x8080808080808080 == 0 and allowed.issuperset(second.to_bytes(8, sys.byteorder)):
            found.append((first.to_bytes(8, sys.byteorder) + second.to_bytes(8, sys.byteorder)).decode())
        if len(found) == VARIANTS:
            break
    return found, mix(meeting, 0)


def make_names():
    rng, value, names = random.Random(1), START, [""]
    for _ in range(BLOCKS):
        block, value = make_block(rng, value)
        names = [name + more for name in names for more in block]
    return names[:COUNT]


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def opens(name, path, *arguments):
    done = subprocess.run([*tool.command(name), *arguments, path], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, preexec_fn=limit)
    tap.ok(done.returncode in (0, 2), f"{name} {' '.join(arguments)} {os.path.basename(path)}",
           f"exit status {done.returncode}\n{done.stderr[:500].decode(errors='replace')}")


def main():
    folder = tap.scratch("colliding")
    os.makedirs(folder, exist_ok=True)
    names = make_names()
    tap.ok(len(set(names)) == COUNT and len({forge.digest(name.encode()) for name in names[::100]}) == 1,
           f"{COUNT} names with one digest")
    path = os.path.join(folder, "dimensions.nc")
    cdf.Writer(5, [(name, 1) for name in names], [], []).write(path)
    opens("ncvalidator", path, "-q")
    opens("ncmpidump", path, "-h")
    shutil.copy(path, path + ".copy")
    opens("cdfdiff", path, path + ".copy")
    status, out, err = tap.run_mpi(1, "test/tools/open_limited", SECONDS, path)
    tap.ok(status == 0 and out.split() == ["0"], "the library", f"exit status {status}: {out} {err}")
    path = os.path.join(folder, "attributes.nc")
    cdf.Writer(2, [], [(name, "byte", [1]) for name in names], []).write(path)
    opens("ncvalidator", path, "-q")
    path = os.path.join(folder, "variables.nc")
    cdf.Writer(1, [("x", 1)], [], [(name, "byte", [0], [], []) for name in names]).write(path)
    opens("ncvalidator", path, "-q")


main()
tap.finish()
