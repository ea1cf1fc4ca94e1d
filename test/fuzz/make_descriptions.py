#!/usr/bin/env python3
"""Write the seed corpus of fuzz_description: descriptions of netCDF-4 files, as the head of
src/formats/netcdf4/description.h orders them, and damaged ones.

Usage: make_descriptions.py [FOLDER]    (default: descriptions beside this script)
"""
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT = 80 # of damaged ones
MAGIC, NETCDF4, CLASSIC_MODEL = 0x3466636e, 3, 4
BYTE, CHAR, INT, DOUBLE, STRING, COMPOUND = 1, 2, 4, 6, 12, 16
CONTIGUOUS, COMPACT, CHUNKED, UNREADABLE = range(4)
SIZE = {BYTE: 1, CHAR: 1, INT: 4, DOUBLE: 8}
EDGES = [-1, 0, 1, 2, 255, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -2**63]


def numbers(*values):
    return struct.pack(f"<{len(values)}q", *values)


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return numbers(len(value)) + value + bytes(-len(value) % 8)


def dim(name, length, unlimited=False):
    return text(name) + numbers(length, unlimited)


def att(name, kind, values, strings=None):
    """strings: the lengths of those that the text joins, or None; -1: NULL."""
    behind = numbers(0) if strings is None else numbers(1) + text(numbers(*strings))
    return text(name) + numbers(kind, len(values) // SIZE[kind]) + text(values) + behind


def atts(*entries):
    return numbers(len(entries)) + b"".join(entries)


def storage(layout, path, extent=(), address=-1, value=None, chunk=(), filters=(), places=()):
    flags = (0, 0, 1, 1) # big-endian, without filters at the edge, no fill mode, a fill value
    out = numbers(layout, *flags, address) + bytes(range(8)) + text(path) + numbers(*extent)
    if layout == COMPACT:
        out += text(value)
    if layout == CHUNKED:
        out += numbers(*chunk, len(filters))
        for number, optional, parameters in filters:
            out += numbers(number, optional) + text(struct.pack(f"<{len(parameters)}I", *parameters))
        out += text(b"".join(numbers(*place) for place in places))
    return out


def var(name, kind, dimids, its_atts, its_storage):
    return text(name) + numbers(kind, len(dimids), *dimids) + its_atts + its_storage


def file(size, dims=(), gatts=atts(), variables=(), version=NETCDF4, groups=(0, 0, 0, 0), paths=()):
    """groups: whether there are any, whether they are listed, how many dimensions and variables they have."""
    head = numbers(MAGIC, version, groups[0], groups[1], len(dims), groups[2], len(variables), groups[3], len(paths))
    head += b"".join(text(path) for path in paths)
    return numbers(size) + head + b"".join(dims) + gatts + b"".join(variables)


def known():
    xy = [dim("x", 6), dim("y", 4)]
    deflate = [(2, 1, [4]), (1, 1, [2]), (3, 0, [])]
    yield "empty", file(100)
    yield "dims", file(100, xy + [dim("t", 7, True), dim("größe", 0)])
    yield "atts", file(100, [], atts(att("title", CHAR, b"a title"), att("none", INT, b""),
                                     att("words", CHAR, b"a\nbcd", [1, 3]),
                                     att("d", DOUBLE, bytes(16))))
    yield "scalar", file(100, [], variables=[var("s", INT, [], atts(), storage(CONTIGUOUS, "/s", [], 96))])
    yield "unwritten", file(100, xy, variables=[var("v", INT, [0, 1], atts(), storage(CONTIGUOUS, "/v", [6, 4]))])
    yield "contiguous", file(1000, xy, variables=[var("v", INT, [0, 1], atts(att("units", CHAR, b"m")),
                                                      storage(CONTIGUOUS, "/v", [6, 4], 904))])
    yield "compact", file(100, xy, variables=[var("v", BYTE, [0], atts(),
                                                  storage(COMPACT, "/v", [6], value=b"abcdef"))])
    yield "chunked", file(1000, xy, variables=[
        var("v", DOUBLE, [0, 1], atts(), storage(CHUNKED, "/v", [6, 4], chunk=[4, 4], filters=deflate,
                                                 places=[(100, 50, 0), (-1, 0, 0)]))])
    yield "unknown_places", file(1000, xy, variables=[
        var("v", DOUBLE, [0, 1], atts(), storage(CHUNKED, "/v", [6, 4], chunk=[4, 4]))])
    yield "records", file(1000, [dim("t", 3, True), dim("x", 5)], version=CLASSIC_MODEL, variables=[
        var("a", INT, [0], atts(), storage(CHUNKED, "/a", [2], chunk=[1024])),
        var("b", INT, [0, 1], atts(), storage(CHUNKED, "/b", [3, 5], chunk=[1, 5], filters=deflate))])
    yield "inner", file(1000, [dim("t", 3, True), dim("s", 2, True)], variables=[
        var("v", INT, [1, 0], atts(), storage(CHUNKED, "/v", [2, 3], chunk=[1, 1],
                                              places=[(8 * i, 4, 1) for i in range(6)]))])
    yield "groups", file(100, xy + [dim("/g/z", 3)], groups=(1, 0, 1, 1), paths=["g"], variables=[
        var("/g/v", INT, [2], atts(), storage(CONTIGUOUS, "/g/v", [3], 0))])
    yield "compound", file(100, xy, variables=[var("v", COMPOUND, [0], atts(), storage(UNREADABLE, "/v", [6])),
                                               var("w", STRING, [], atts(), storage(UNREADABLE, "/w"))])
    yield "plugin", file(1000, xy, variables=[
        var("v", INT, [0], atts(), storage(CHUNKED, "/v", [6], chunk=[6],
                                           filters=[(32001, 1, [2, 2, 4, 96, 5, 1, 0]), (4, 0, [141, 32])]))])


def damage(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(max(1, len(data) // 8)) * 8
        how = rng.randrange(4)
        if how == 0:
            data[at:at + 8] = numbers(rng.choice(EDGES))
        elif how == 1:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif how == 2:
            del data[at:]
        else:
            data[at:at] = data[at:at + 8 * rng.randint(1, 4)]
        if len(data) < 8:
            data = bytearray(numbers(0))
    return bytes(data)


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "descriptions")
    os.makedirs(target, exist_ok=True)
    files = list(known())
    rng = random.Random(1)
    for i in range(COUNT):
        files.append((f"damaged_{i:02}", damage(rng, files[rng.randrange(14)][1])))
    for name, data in files:
        with open(os.path.join(target, name), "wb") as out:
            out.write(data)
    print(f"{len(files)} files in {target}")


if __name__ == "__main__":
    main()
