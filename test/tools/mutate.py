"""Classic files of all sorts, and damage as disks, transfers and users cause it."""
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


TEXTS = [
    """netcdf sample { // all types
dimensions:
    time = UNLIMITED ; // (2 currently)
    x = 3 ;
    long\\ name = 5 ;
variables:
    byte b(x) ; b:valid_range = 0b, 100b ; b:_FillValue = -1b ;
    char c(time, long\\ name) ;
    short s(time, x) ; s:scale_factor = 0.1f ; s:add_offset = 1e3 ; s:units = "days since 1900-1-1", "\\"noleap\\"" ;
    int i ;
    float f(time) ; f:missing_value = NaNf, -Infinityf ;
    double d(x, long\\ name) ; d:note = "a\\tb\\nc\\x41\\101" ;
    :title = "sample" ; :count = 1, 2, 3 ; :empty = "" ;
data:
    b = 1, _, 3 ;
    c = "one", "two" ;
    s = 1, 2, 3, -4, 5s, 0x7f ;
    i = 2147483647 ;
    f = 1.5, NaN ;
    d = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 ;
}
""",
    """netcdf large {
:_Format = "64-bit data" ;
dimensions: n = 2, m = 3 ; t = unlimited ;
variables: ubyte a(n), b(t); ushort u ; uint v(n) ; int64 w(n, m) ; uint64 z(t, n) ;
    w:far = -9223372036854775808ll ; z:far = 18446744073709551615ull ; u:a = 1us ; v:b = 4294967295u ; a:c = 'x',
        255ub ;
data: a = 255, 0 ; b = 1, 2, 3 ; u = 65535 ; v = 1, 4294967295 ; w = 1, 2, 3, 4, 5, _ ;
    z = 18446744073709551615, 0, 7 ;
}
""",
    """netcdf none { }
""",
]
PIECES = ["{", "}", ";", ",", "=", ":", "(", ")", "\"", "\\", "'", "//", "\n", "0x", "_", "-", "1e999", "1e-999", "NaN",
          "99999999999999999999", "-1", "0", "2147483648", "unlimited", "dimensions:", "variables:", "data:", "int",
          "string", "x", "time", "b", "group: g {", "types:", "\0", "\xe9", "é", "%n%s", "a" * 300, "\\x", "1,2" * 500]


def damage_text(rng, text):
    """The same as damage(), for words and characters."""
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        at, kind = rng.randrange(len(text) + 1), rng.randrange(6)
        far = at + rng.choice([1, 1, 2, 8, 60])
        if kind < 2:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 2:
            text = text[:at] + rng.choice(PIECES) + text[far:]
        elif kind == 3:
            text = text[:at] + text[far:]
        elif kind == 4:
            text = text[:far] + text[at:]
        else:
            text = text[:at] if rng.random() < .3 else text.replace(rng.choice(["1", "x", ";", "=", "3", '"']),
                                                                    rng.choice(PIECES), 1)
    return text


def texts(count, seed=1):
    """(number, bytes) of so many damaged CDL texts; the same ones each time."""
    for number in range(count):
        rng = random.Random(seed * 1000003 + number)
        text = damage_text(rng, rng.choice(TEXTS))
        yield number, text.encode("latin-1" if rng.random() < .1 else "utf-8", errors="replace")
