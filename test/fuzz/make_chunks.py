#!/usr/bin/env python3
"""Write the seed corpus of fuzz_filter: chunks that h5py and the zstd program store, and damaged ones.

Usage: make_chunks.py [FOLDER]    (default: chunks beside this script)
"""
import gzip
import os
import random
import subprocess
import sys
import tempfile

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
GZIP, BLOSC, CRC32C, TRANSPOSE = range(65536, 65540)
IDS = [1, 2, 3, 4, 32015, 32001, 32000, 5, 6, 0, GZIP, BLOSC, CRC32C, TRANSPOSE] # the order in fuzz_filter.c
# The values of known() by numcodecs: Blosc("zstd", 5, 1) and Blosc("lz4", 5, 2).
BLOSC_CHUNKS = (bytes.fromhex(
    "02019104b0040000b0040000c400000014000000ac00000028b52ffd60b003150500640900000001010102020203030304040405050506"
    "06060707070808080909090a0a0a0b0b0b0c0c0c0d0d0d0e0e0e0f0f0f1010101111111212121313131414141515151616161717171818"
    "181919191a1a1a1b1b1b1c1c1c1d1d1d1e1e1e1f1f1f2020202121212222222323232424242525252626262727272828282929292a2a2a"
    "2b2b2b2c2c2c2d2d2d2e2e2e2f2f2f30303031313102007ea102164b863252"), bytes.fromhex(
    "02012404b0040000b004000056030000140000006d00000017000100170104001702040017030400170404001705040017060400170704"
    "001708040017090400170a0400170b0400170c0400170d0400170e0400170f040017100400171104001712040017130400171404001715"
    "04001716040017170400c01800000018000000180000002c0100001900000019000000190000001a0000001a0000001a0000001b000000"
    "1b0000001b0000001c0000001c0000001c0000001d0000001d0000001d0000001e0000001e0000001e0000001f0000001f0000001f0000"
    "00200000002000000020000000210000002100000021000000220000002200000022000000230000002300000023000000240000002400"
    "00002400000025000000250000002500000026000000260000002600000027000000270000002700000028000000280000002800000029"
    "00000029000000290000002a0000002a0000002a0000002b0000002b0000002b0000002c0000002c0000002c0000002d0000002d000000"
    "2d0000002e0000002e0000002e0000002f0000002f0000002f0000003000000030000000300000003100000031000000310000006d0000"
    "0017000100170104001702040017030400170404001705040017060400170704001708040017090400170a0400170b0400170c0400170d"
    "0400170e0400170f04001710040017110400171204001713040017140400171504001716040017170400c0180000001800000018000000"
    "2c0100001900000019000000190000001a0000001a0000001a0000001b0000001b0000001b0000001c0000001c0000001c0000001d0000"
    "001d0000001d0000001e0000001e0000001e0000001f0000001f0000001f00000020000000200000002000000021000000210000002100"
    "00002200000022000000220000002300000023000000230000002400000024000000240000002500000025000000250000002600000026"
    "000000260000002700000027000000270000002800000028000000280000002900000029000000290000002a0000002a0000002a000000"
    "2b0000002b0000002b0000002c0000002c0000002c0000002d0000002d0000002d0000002e0000002e0000002e0000002f0000002f0000"
    "002f000000300000003000000030000000310000003100000031000000"))
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


def crc32c(data):
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ (0x82F63B78 if total & 1 else 0)
    return total ^ 0xFFFFFFFF


def of_zarr():
    values = (np.arange(300) // 3 % 50).astype("<i4")
    zipped = gzip.compress(values.tobytes(), mtime=0)
    yield "gzip", entry([(GZIP, [1])], 0, values.nbytes, zipped)
    yield "gzip_twice", entry([(GZIP, [1])], 0, 2 * values.nbytes, zipped * 2)
    for name, parameters, chunk in zip(("zstd", "lz4"), ([5, 5, 1, 4, 0], [1, 5, 2, 4, 0]), BLOSC_CHUNKS):
        yield f"blosc_{name}", entry([(BLOSC, parameters)], 0, values.nbytes, chunk)
        yield f"blosc_{name}_early", entry([(BLOSC, parameters)], 0, values.nbytes, chunk[:-9])
    yield "crc32c", entry([(GZIP, [1]), (CRC32C, [])], 0, values.nbytes, zipped + number(crc32c(zipped)))
    order = [4, 3, 5, 6, 10, 2, 0, 1]
    yield "transpose", entry([(TRANSPOSE, order)], 0, values.nbytes, values.tobytes())
    yield "transpose_short", entry([(TRANSPOSE, order)], 0, values.nbytes, values.tobytes()[:-4])


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "chunks")
    os.makedirs(target, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        chunks = list(known(folder))
    chunks_of_zarr = list(of_zarr())
    rng = random.Random(1)
    for i in range(COUNT):
        damaged = bytearray(chunks[i % 7][1])
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        chunks.append((f"damaged_{i:02}", bytes(damaged)))
    chunks += chunks_of_zarr # behind those that draw from the numbers of `rng`
    for i in range(COUNT):
        damaged = bytearray(chunks_of_zarr[i % len(chunks_of_zarr)][1])
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        chunks.append((f"damaged_zarr_{i:02}", bytes(damaged)))
    for name, data in chunks:
        with open(os.path.join(target, name), "wb") as out:
            out.write(data)
    print(f"{len(chunks)} files in {target}")


if __name__ == "__main__":
    main()
