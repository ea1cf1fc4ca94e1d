#!/usr/bin/env python3
"""Write the seed corpus of fuzz_filter: chunks that h5py and the zstd program store, and damaged ones.

Usage: make_chunks.py [FOLDER]    (default: chunks beside this script)
"""
import os
import random
import subprocess
import sys
import tempfile

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
IDS = [1, 2, 3, 4, 32015, 32001, 32000, 5, 6, 0] # the order in fuzz_filter.c
COUNT = 40                              # of damaged ones


def number(value):
    return int(value).to_bytes(4, "little")


def entry(filters, mask, size, stored):
    """An input of the target. It adds 1 to the length of the chunk."""
    head = bytes([len(filters)])
    for one, parameters in filters:
        head += bytes([IDS.index(one), len(parameters)]) + b"".join(map(number, parameters))
    return head + bytes([mask]) + number(size - 1) + stored


def known(folder):
    values = (np.arange(300) // 3 % 50).astype("<i4")
    options = {"shuffle": {"shuffle": True}, "deflate": {"compression": "gzip"}, "fletcher32": {"fletcher32": True},
               "all": {"shuffle": True, "compression": "gzip", "fletcher32": True},
               "szip_nn": {"compression": "szip", "compression_opts": ("nn", 16)},
               "szip_ec": {"compression": "szip", "compression_opts": ("ec", 8), "fletcher32": True}}
    with h5py.File(os.path.join(folder, "chunks.h5"), "w") as file:
        for name, how in options.items():
            dataset = file.create_dataset(name, data=values, chunks=(300,), **how)
            plist = dataset.id.get_create_plist()
            filters = [plist.get_filter(i) for i in range(plist.get_nfilters())]
            mask, stored = dataset.id.read_direct_chunk((0,))
            yield name, entry([(one[0], one[2]) for one in filters], mask, values.nbytes, stored)
    frame = subprocess.run(["zstd", "-q", "-c"], input=values.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    yield "zstd", entry([(32015, [3])], 0, values.nbytes, frame)
    yield "none", entry([], 0, 10, bytes(10))
    yield "masked", entry([(2, [4]), (32001, [])], 2, 10, bytes(10))
    yield "unknown", entry([(32001, [])], 0, 10, bytes(10))
    with h5py.File(os.path.join(folder, "lzf.h5"), "w") as file:
        dataset = file.create_dataset("lzf", data=values, chunks=(300,), compression="lzf")
        stored = dataset.id.read_direct_chunk((0,))[1]
    for name, piece in (("lzf", stored), ("lzf_early", stored[:-1]), ("lzf_before", b"\x00a\x20\x05"),
                        ("lzf_long", b"\x00a\xe0\xff\x00" * 10)):
        yield name, entry([(32000, [4, 261, 1200])], 0, values.nbytes, piece)
    with h5py.File(os.path.join(folder, "scaled.h5"), "w") as file:
        for name, kind, how in (("integers", "<i4", 0), ("shorts", ">i2", 5), ("floats", "<f4", 2),
                                ("doubles", ">f8", 1)):
            dataset = file.create_dataset(name, data=values.astype(kind), chunks=(300,), scaleoffset=how)
            parameters = dataset.id.get_create_plist().get_filter(0)[2]
            stored = dataset.id.read_direct_chunk((0,))[1]
            yield f"scaled_{name}", entry([(6, parameters)], 0, dataset.dtype.itemsize * 300, stored)
    for name, number_type in (("integers", [4, 4, 0, 0, 1, 3, 17]), ("halves", [2, 4, 0, 1, 0, 0, 10, 15, 10, 5, 15])):
        number_type += [0] * (12 - len(number_type))
        packed = [8, 0, 100, 1, number_type[0], 0, 14, 2]
        yield f"numbers_{name}", entry([(0, number_type)], 0, 400, bytes(range(100)) * number_type[0])
        yield f"packed_{name}", entry([(0, number_type), (5, packed)], 0, 400, bytes(range(175)))
    for bits in (1, 7, 12, 24, 30, 64): # lengths that are no multiple of a pixel
        yield f"szip_{bits}", entry([(4, [169, 2, bits, 3])], 0, 1001, number(1001) + bytes(300))


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "chunks")
    os.makedirs(target, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        chunks = list(known(folder))
    rng = random.Random(1)
    for i in range(COUNT):
        damaged = bytearray(chunks[i % 7][1])
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        chunks.append((f"damaged_{i:02}", bytes(damaged)))
    for name, data in chunks:
        with open(os.path.join(target, name), "wb") as out:
            out.write(data)
    print(f"{len(chunks)} files in {target}")


if __name__ == "__main__":
    main()
