"""Journals of changes of the header as docs/reliability.md describes them, written byte by byte: good ones, and forged
ones, with whatever content, whose digests are right."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cdf

SLOT, OWNER, FOOT, ALIGNMENT, MARK = 64, 128, 80, 4096, 0x80
MASK = 2 ** 64 - 1
NAMES = ["old_size", "new_size", "scratch", "half", "at", "old_header", "new_header", "nvars"]
HUGE = [2 ** 31 - 1, 2 ** 32 - 1, 2 ** 40, 2 ** 60, 2 ** 62, 2 ** 63 - 1, -1, -2 ** 63]
WORDS = [0, 1, 2, 3, 5, 10, 12, 100, 255, 256, 4096, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc]
LARGEST = 1 << 18 # of a forged file


def digest(data):
    """As in src/base/digest.h."""
    value = 14695981039346656037
    for at in range(0, len(data), 8):
        word = data[at:at + 8]
        if len(word) < 8:
            value = (value + len(word)) & MASK
            word += bytes(8 - len(word))
        value = ((value ^ int.from_bytes(word, sys.byteorder)) * 0x9e3779b97f4a7c15) & MASK
        value ^= value >> 32
    return value


def number(n):
    return struct.pack(">Q", n & MASK)


def owner():
    """The slots of a program that has died on a local file system: a number, its id, no node, locked, local."""
    data = b"".join(map(number, (0, 77, 0, 0, 1, 1)))
    return (data + number(digest(data))).ljust(OWNER, b"\0")


def round_up(n):
    return n + -n % ALIGNMENT


class Growth:
    """The file of a writer that has died: `start` is what is before the journal. `numbers`: as NAMES says. A state:
    its number, first, end, half."""

    def __init__(self, start, numbers, states, old, new, modes):
        self.start, self.numbers, self.states, self.old, self.new, self.modes = start, numbers, states, old, new, modes
        self.marked = True

    def suit_sizes(self):
        """The numbers that depend on others, so that a repair reads the journal at all."""
        n = self.numbers
        n["old_header"], n["new_header"], n["nvars"] = len(self.old), len(self.new), len(self.modes)
        n["scratch"] = round_up(n["new_size"])
        n["at"] = n["scratch"] + 2 * n["half"] + OWNER

    def state(self, values):
        data = b"".join(map(number, values))
        return (data + number(digest(data))).ljust(SLOT, b"\0")

    def image(self):
        at = self.numbers["at"]
        if not len(self.start) <= at <= LARGEST: # a repair finds the journal by the end of the file
            at = round_up(len(self.start))
        data = bytearray(self.start.ljust(at, b"\0"))
        data[at - OWNER:at] = owner()
        if self.marked:
            data[3] |= MARK
        body = self.old + self.new + self.modes + b"PNCgrow2" + b"".join(number(self.numbers[n]) for n in NAMES)
        return bytes(data) + b"".join(map(self.state, self.states)) + body + number(digest(body))

    def recipe(self):
        """The same for test/fuzz/fuzz_journal.c."""
        return (b"g" + b"".join(number(self.numbers[n]) for n in NAMES)
                + b"".join(number(v) for state in self.states for v in state) + self.old + self.new + self.modes)


class Patch:
    """As Growth, for bytes of the header that change in several pages."""

    def __init__(self, start, offset, before, after):
        self.start, self.before, self.after = start, before, after
        self.numbers = {"new_size": len(start), "offset": offset, "length": len(before)}
        self.marked = True

    def suit_sizes(self):
        self.numbers["new_size"] = len(self.start)
        self.numbers["length"] = len(self.before)

    def image(self):
        data = bytearray(self.start)
        if self.marked:
            data[3] |= MARK
        body = self.before + self.after + b"PNCpatc2" + b"".join(map(number, self.numbers.values()))
        return bytes(data) + owner() + body + number(digest(body))

    def recipe(self):
        return b"p" + b"".join(map(number, self.numbers.values())) + self.before + self.after


# --- good ones ---

def written(writer, folder):
    path = os.path.join(folder, "forge.nc")
    writer.write(path)
    with open(path, "rb") as file:
        return file.read()


def values(n):
    return [i * 7 % 32749 for i in range(n)]


def growth(folder, version, length, text, more=(), numrecs=0, stays=False):
    """A dataset of `length` shorts, or of records of them, whose header gets an attribute of `text` bytes, and more
    variables of (name, type, dimension ids): a length is one of a dimension of its own. stays: there is space for the
    header, only records move apart. What moves beyond the end of the old file is there already."""
    dims, shape = ([("t", None), ("x", length)], [0, 1]) if numrecs else ([("x", length), ("t", None)], [0])
    first = [("v", "short", shape, [], values(length * max(numrecs, 1)))]
    old = cdf.Writer(version, dims, [], first, numrecs, 2 * text + 500 if stays else 0)
    new = cdf.Writer(version, dims + [("y", n) for _, _, ids in more for n in ids if n > 1],
                     [("text", "char", b"t" * text)],
                     first + [(name, kind, [min(n, 2) for n in ids], [], []) for name, kind, ids in more], numrecs)
    if stays:
        new.space = old.layout()[0][0] - new.layout()[0][0]
    (begins, size, _), (new_begins, stride, end) = old.layout(), new.layout()
    size, stride = (size, stride) if numrecs else (2 * length, 2 * length)
    data, total = written(old, folder), size * max(numrecs, 1)

    def moved(position):
        return new_begins[0] + position // size * stride + position % size

    beyond = next((p for p in range(total) if moved(p) >= len(data)), total)
    new_size = max(end, len(data))
    start = bytearray(data.ljust(min(new_size, LARGEST), b"\0"))
    for position in range(beyond, total):
        start[moved(position)] = data[begins[0] + position]
    forged = Growth(bytes(start), {"old_size": len(data), "new_size": new_size, "half": round_up(beyond)},
                    [(0, beyond, beyond, 1), (1, beyond, beyond, 1)], old.header(begins), new.header(new_begins),
                    bytes(1 + len(more)))
    forged.suit_sizes()
    return forged


def patch(folder, version):
    before = cdf.Writer(version, [("x", 3)], [("text", "char", b"a" * 9000)], [("v", "int", [0], [], [1, 2, 3])])
    after = cdf.Writer(version, [("x", 3)], [("text", "char", b"b" * 9000)], before.variables)
    start, target = written(before, folder), written(after, folder)
    at = start.index(b"aaaa")
    return Patch(start, at, start[at:at + 9000], target[at:at + 9000])


def good(folder, rng):
    version, kind = rng.choice([1, 2, 5]), rng.randrange(8)
    length, text = rng.choice([3, 500, 1500, 3000, 6000]), rng.choice([1, 40, 2000, 9000])
    if kind == 0:
        return patch(folder, version)
    if kind == 1:
        return growth(folder, version, length, text, [("w", "int", [0]), ("r", "double", [1])])
    if kind == 2:
        return growth(folder, version, length, text, [("w", "byte", [1]), ("r", "short", [0, 1])], 3)
    if kind == 3:
        return growth(folder, version, min(length, 500), text, [], 5)
    if kind == 4:
        return growth(folder, version, min(length, 500), min(text, 2000), [("r", "short", [0, 1])], 5, True)
    if kind == 5: # larger than the file
        forged = growth(folder, version, length, text, [("w", "byte", [rng.choice([10 ** 5, 10 ** 7, 2 ** 31 - 4])])])
        forged.numbers["new_size"] = len(forged.start) - rng.choice([0, 8, 100])
        forged.suit_sizes()
        return forged
    return growth(folder, version, length, text)


# --- forged ones ---

def other_value(rng, forged, old):
    """In place of a number."""
    near = [0, 1, old - 1, old + 1, old - ALIGNMENT, old + ALIGNMENT, 2 * old, old // 2]
    return rng.choice(near + HUGE + list(forged.numbers.values()))


def forge_number(rng, forged):
    name = rng.choice(list(forged.numbers))
    forged.numbers[name] = other_value(rng, forged, forged.numbers[name])


def forge_state(rng, forged):
    if isinstance(forged, Patch):
        forge_number(rng, forged)
        return
    states = [list(state) for state in forged.states]
    state, field = rng.choice(states), rng.randrange(4)
    state[field] = other_value(rng, forged, state[field])
    forged.states = states


def forge_word(rng, forged):
    """Of a header, or of the bytes of a patch: any count, length, type or offset."""
    names = ["before", "after"] if isinstance(forged, Patch) else ["old", "new", "new", "modes"]
    for name in [rng.choice(names)] if rng.random() < .7 else names:
        data = bytearray(getattr(forged, name))
        if len(data) >= 8:
            at = rng.randrange(len(data) // 4) * 4
            word = struct.unpack_from(">I", data, at)[0]
            word = rng.choice(WORDS + [word + 1, word - 1, word + 4, word * 2, word + ALIGNMENT]) & 0xffffffff
            struct.pack_into(">I", data, at, word)
        setattr(forged, name, bytes(data))


def forge_large(rng, forged):
    """A new header whose variables or records are larger than the file; both headers with the same records."""
    if isinstance(forged, Patch):
        forge_word(rng, forged)
        return
    large = rng.choice([1 << 16, 1 << 24, 1 << 30, 2 ** 31 - 4])
    for name in ["new", "old", "new"][:rng.randrange(1, 4)]:
        data = bytearray(getattr(forged, name))
        width = 8 if data[3] == 5 else 4
        at = 4 if rng.random() < .5 else data.find(struct.pack(">I", 10)) + 4 + 3 * width # records, or a length
        data[at:at + width] = large.to_bytes(width, "big")
        setattr(forged, name, bytes(data))


def forge_halves(rng, forged):
    """Scratch space that does not suit the move."""
    if not isinstance(forged, Patch):
        forged.numbers["half"] = rng.choice([0, 0, 0, 1, 4095, ALIGNMENT, 2 * ALIGNMENT, 1 << 16])


def forge(folder, rng):
    forged = good(folder, rng)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        rng.choice([forge_number, forge_state, forge_word, forge_large, forge_halves])(rng, forged)
    if rng.random() < .8:
        forged.suit_sizes()
    forged.marked = rng.random() < .9
    return forged


def forgeries(folder, count, seed=1):
    """So many; the same ones each time."""
    for i in range(count):
        yield forge(folder, random.Random(seed * 1000003 + i))
