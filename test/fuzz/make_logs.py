#!/usr/bin/env python3
"""Write the seed corpus of fuzz_log: logs and marks, good and forged.

Usage: make_logs.py [FOLDER]    (default: logs beside this script)
"""
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT = 12 # of the forged ones of each kind
BLOCK, END, VALUES = 1, 2, 3
EDGES = [0, 1, -1, 2, 63, 64, 128, 255, 2 ** 31, 2 ** 40, 2 ** 63 - 1, 2 ** 63 - 64, -2 ** 63]


def log(front, records):
    """front: stamp, rank, nranks, lap, call, numrecs; a record: kind, lap, call, offset, length, numrecs, bytes."""
    return b"l" + struct.pack("<6q", *front) + b"".join(
        struct.pack("<6q", *record[:6]) + bytes([len(record[6])]) + record[6] for record in records)


FRONT = (77, 1, 4, 2, 10, 3)
RECORDS = [(BLOCK, 2, 11, 1000, 40, 0, bytes(range(40))), (BLOCK, 2, 11, 5000, 9, 0, b"nine byte"),
           (END, 2, 11, 0, 0, 4, b""), (BLOCK, 2, 12, 1000, 200, 0, bytes(200)), (END, 2, 12, 0, 0, 5, b"")]
SLAB = (3, 0, 4, 2, 3, 1, 2) # numbers of a dimension, start, count, stride


def values(numbers, n):
    return struct.pack(f"<{len(numbers)}q", *numbers) + bytes(range(n))


def of_variable(content):
    return [(VALUES, 2, 11, 5, 0, 0, content), RECORDS[2]]


MARK = (b"PnetCDF burst buffer, version 2\nstamp 00000000000abcde\ninode 5\nbirth 17\n"
        b"header 0123456789abcdef\nfile a.nc\nfolder /local\njob 7\nranks 3\nnode n1\nnode n1\nnode n2\n")


def known():
    yield "good", log(FRONT, RECORDS)
    yield "empty", log(FRONT, [])
    yield "old_lap", log(FRONT, RECORDS[:2] + [(BLOCK, 1, 9, 0, 8, 0, b"12345678")] + RECORDS[2:])
    yield "everything", log((77, 1, 4, 2, 2 ** 63 - 1, 0), RECORDS)
    yield "descending", log(FRONT, RECORDS[3:] + RECORDS[:3])
    yield "too_long", log(FRONT, [(BLOCK, 2, 11, 1000, 2 ** 40, 0, bytes(40))])
    yield "values", log(FRONT, of_variable(values(SLAB, 24)))
    yield "values_scalar", log(FRONT, of_variable(values((2,), 8)))
    yield "values_short", log(FRONT, of_variable(values(SLAB, 23)))
    yield "values_no_numbers", log(FRONT, of_variable(b"four"))
    yield "values_overflow", log(FRONT, of_variable(values((3, 0, 0, 2 ** 32, 2 ** 32, 1, 1), 0)))
    yield "values_far", log(FRONT, of_variable(values((3, 2 ** 63 - 2, 4, 2, 3, 2 ** 62, 2), 24)))
    yield "many_begins", b"r" + b"PncRec1\n" * 400
    yield "mark", b"m" + MARK
    yield "mark_no_ranks", b"m" + MARK.replace(b"ranks 3", b"ranks 0")
    yield "mark_many_ranks", b"m" + MARK.replace(b"ranks 3", b"ranks 3000000000000")
    yield "mark_long_node", b"m" + MARK.replace(b"node n2", b"node " + b"n" * 300)
    yield "mark_slash", b"m" + MARK.replace(b"file a", b"file ../a")
    yield "mark_digest", b"s" + MARK + b"digest 0000000000000000\n"
    yield "mark_short", b"s" + MARK[:20]


def forged(source):
    for number in range(COUNT):
        front, records = list(FRONT), [list(record) for record in RECORDS]
        for _ in range(source.randint(1, 3)):
            target = source.choice([front, *records])
            target[source.randrange(6)] = source.choice(EDGES)
        yield f"forged_{number:02}", log(front, records)
        text = bytearray(MARK)
        for _ in range(source.randint(1, 4)):
            text[source.randrange(len(text))] = source.choice(b"\n 09a-")
        yield f"forged_mark_{number:02}", b"m" + bytes(text)


def forged_values(source):
    for number in range(COUNT):
        slab = list(SLAB)
        slab[source.randrange(len(slab))] = source.choice(EDGES)
        yield f"forged_values_{number:02}", log(FRONT, of_variable(values(slab, 24)))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "logs")
    os.makedirs(folder, exist_ok=True)
    for name, content in [*known(), *forged(random.Random(1)), *forged_values(random.Random(2))]:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


main()
