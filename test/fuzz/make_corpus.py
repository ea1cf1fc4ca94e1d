#!/usr/bin/env python3
"""Write the seed corpus of fuzz_codec: small valid headers and small hostile ones, from the format specification alone.

Usage: make_corpus.py [FOLDER]    (default: corpus beside this script)
"""
import os
import struct
import sys

DIM, VAR, ATT = 10, 11, 12
BYTE, CHAR, SHORT, INT, FLOAT, DOUBLE, UBYTE, USHORT, UINT, INT64, UINT64 = range(1, 12)
SIZE = {BYTE: 1, CHAR: 1, SHORT: 2, INT: 4, FLOAT: 4, DOUBLE: 8, UBYTE: 1, USHORT: 2, UINT: 4, INT64: 8, UINT64: 8}
HUGE = 2 ** 62


class Writer:
    """Puts the pieces of a header of one format together; nothing is checked, so that wrong ones can be made."""

    def __init__(self, version):
        self.version = version

    def count(self, n):
        return struct.pack(">Q" if self.version == 5 else ">I", n % 2 ** (64 if self.version == 5 else 32))

    def offset(self, n):
        return struct.pack(">I" if self.version == 1 else ">Q", n % 2 ** (32 if self.version == 1 else 64))

    def padded(self, data):
        return data + b"\0" * (-len(data) % 4)

    def name(self, name):
        return self.count(len(name)) + self.padded(name)

    def list(self, tag, items):
        return struct.pack(">I", tag if items else 0) + self.count(len(items)) + b"".join(items)

    def dim(self, name, length):
        return self.name(name) + self.count(length)

    def att(self, name, xtype, data):
        return (self.name(name) + struct.pack(">I", xtype) + self.count(len(data) // SIZE.get(xtype, 1)) +
                self.padded(data))

    def var(self, name, dimids, xtype, vsize, begin, atts=()):
        return (self.name(name) + self.count(len(dimids)) + b"".join(map(self.count, dimids)) +
                self.list(ATT, list(atts)) + struct.pack(">I", xtype) + self.count(vsize) + self.offset(begin))

    def header(self, dims=(), atts=(), variables=(), numrecs=0, magic=None):
        return ((magic or b"CDF" + bytes([self.version])) + self.count(numrecs) + self.list(DIM, list(dims)) +
                self.list(ATT, list(atts)) + self.list(VAR, list(variables)))


def sample(version, **changes):
    """A header with everything in it; `changes` replace parts."""
    w = Writer(version)
    known = {
        "dims": [w.dim(b"t", 0), w.dim(b"x", 5)],
        "atts": [w.att(b"title", CHAR, b"abc"), w.att(b"empty", INT, b"")],
        "variables": [
            w.var(b"fix", [1], SHORT, 12, 1000, [w.att(b"valid", SHORT, b"\0\1\0\2\0\3")]),
            w.var(b"rb", [0, 1], BYTE, 8, 1020),
            w.var(b"rd", [0], DOUBLE, 8, 1028, [w.att(b"_FillValue", DOUBLE, bytes(8))]),
            w.var(b"scalar", [], UINT64 if version == 5 else INT, 8 if version == 5 else 4, 1012),
        ],
        "numrecs": 2,
    }
    known.update(changes)
    return w.header(**known)


def valid(version):
    w = Writer(version)
    yield "sample", sample(version) + bytes(900)
    yield "empty", w.header()
    yield "streaming", sample(version, numrecs=-1) + bytes(1200)
    yield "no_data", sample(version)
    yield "one_record_variable", w.header([w.dim(b"t", 0)], (), [w.var(b"v", [0], BYTE, 4, 200)], 3) + bytes(200)
    types = range(BYTE, UINT64 + 1 if version == 5 else DOUBLE + 1)
    yield "types", w.header((), [w.att(b"a%d" % t, t, bytes(range(SIZE[t] * 3))) for t in types])
    yield "many_attributes", w.header((), [w.att(b"a%d" % i, CHAR, b"x") for i in range(20)])
    yield "utf8", w.header([w.dim("ge\u0301ne\u0301".encode(), 2), w.dim("\u6e29\u5ea6".encode(), 3)])
    yield "nul_in_length", w.header([w.dim(b"pp\0\0\0\0\0\0", 7)], (), [w.var(b"v\0", [0], INT, 28, 500)])
    yield "padding", w.header([w.dim(b"xyz", 7)]).replace(b"xyz\0", b"xyzZ")
    yield "large_vsize", w.header([w.dim(b"x", 2 ** 31)], (), [w.var(b"v", [0], DOUBLE, -1, 500)])


def hostile(version):
    w = Writer(version)
    x, t = w.dim(b"x", 5), w.dim(b"t", 0)
    v = w.var(b"v", [0], INT, 20, 500)
    good = sample(version)
    for i in (0, 3, 4, 7, 9, 15, 20, 33, 50, len(good) // 2, len(good) - 1):
        yield "cut_%d" % i, good[:i]
    yield "magic", sample(version, magic=b"CDF\3")
    yield "numrecs", sample(version, numrecs=HUGE * 2 - 1)
    start = w.header()[:4 + len(w.count(0))]
    for tag, what in ((DIM, "dims"), (ATT, "atts"), (VAR, "vars")):
        before = (struct.pack(">I", 0) + w.count(0)) * (DIM, ATT, VAR).index(tag)  # the lists before it are absent
        for n in (1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, HUGE, -1):
            yield "count_%s_%x" % (what, n % 2 ** 64), start + before + struct.pack(">I", tag) + w.count(n) + bytes(40)
        yield "tag_%s" % what, start + before + struct.pack(">I", 99) + w.count(1) + bytes(40)
        yield "absent_%s" % what, start + before + struct.pack(">I", 0) + w.count(1) + bytes(40)
    for n in (2 ** 31, 2 ** 32 - 4, HUGE, -4):
        yield "name_%x" % (n % 2 ** 64), start + struct.pack(">I", DIM) + w.count(1) + w.count(n) + bytes(40)
    yield "name_long", w.header([w.dim(b"n" * 300, 3)])
    yield "name_nul", w.header([w.dim(b"a\0b", 3)])
    yield "two_records", w.header([t, w.dim(b"u", 0)])
    yield "dim_twice", w.header([x, x])
    yield "var_twice", w.header([x], (), [v, w.var(b"v", [0], INT, 20, 520)])
    yield "att_twice", w.header((), [w.att(b"a", CHAR, b"x")] * 2)
    yield "att_twice_hashed", w.header((), [w.att(b"a%d" % (i % 30), CHAR, b"x") for i in range(31)])
    for bad in (0, 7, 12, 2 ** 31, 2 ** 32 - 1):
        yield "att_type_%x" % bad, w.header((), [w.att(b"a", bad, bytes(4))])
        yield "var_type_%x" % bad, w.header([x], (), [w.var(b"v", [0], bad, 20, 500)])
    yield "att_length", w.header((), [w.name(b"a") + struct.pack(">I", DOUBLE) + w.count(HUGE // 2) + bytes(16)])
    for bad in (1, 2 ** 31, -1, HUGE):
        yield "dimid_%x" % (bad % 2 ** 64), w.header([x], (), [w.var(b"v", [bad], INT, 20, 500)])
    yield "ndims", w.header([x], (), [w.name(b"v") + w.count(2 ** 29 if version < 5 else HUGE) + bytes(60)])
    yield "record_second", w.header([x, t], (), [w.var(b"v", [0, 1], INT, 20, 500)])
    for begin in (0, 8, -4, 2 ** 31, 2 ** 63, 2 ** 63 - 4, 2 ** 63 - 30):
        yield "begin_%x" % (begin % 2 ** 64), w.header([x], (), [w.var(b"v", [0], INT, 20, begin)])
    yield "overlap", w.header([x], (), [v, w.var(b"w", [0], INT, 20, 516)])
    yield "order", w.header([x], (), [v, w.var(b"w", [0], INT, 20, 400)])
    yield "fixed_behind_records", w.header([t], (), [w.var(b"r", [0], INT, 4, 500), w.var(b"f", [], INT, 4, 520)], 2)
    yield "record_gap", w.header([t], (), [w.var(b"r", [0], INT, 4, 500), w.var(b"s", [0], INT, 4, 508)], 2)
    big = w.dim(b"x", 2 ** 32 - 4 if version < 5 else HUGE)
    yield "product", w.header([big], (), [w.var(b"v", [0] * 8, DOUBLE, 0, 500)])
    yield "sum", w.header([t, big], (), [w.var(b"r%d" % i, [0, 1], BYTE, 0, 500 + i * HUGE) for i in range(3)])
    yield "records", w.header([t, big], (), [w.var(b"r", [0, 1], BYTE, 0, 500)], 2 ** 31 - 1)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
    os.makedirs(folder, exist_ok=True)
    seen = set()  # some wrong counts are the same once cut to 32 bits
    for version in (1, 2, 5):
        for kind in (valid, hostile):
            for name, data in kind(version):
                if data in seen:
                    continue
                seen.add(data)
                with open(os.path.join(folder, "%s_cdf%d_%s" % (kind.__name__, version, name)), "wb") as out:
                    out.write(data)
    with open(os.path.join(folder, "hostile_hdf5"), "wb") as out:
        out.write(b"\x89HDF\r\n\x1a\n" + bytes(40))
    print("%d files in %s" % (len(seen) + 1, folder))


if __name__ == "__main__":
    main()
