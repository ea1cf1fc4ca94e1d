"""Random files of the classic formats, for the tests of ncmpidump and ncmpigen."""
import struct

import cdf

FILL_DOUBLE = 9.9692099683868690e+36
NAME_CHARACTERS = "abcXYZ019_" + " !\"#$%&'()*+,-.:;<=>?@[\\]^`{|}~" + "éß日"
# ncgen accepts no names with these characters, escaped or not, and no keywords, such as the types.
REFUSED_BY_NCGEN = "%?"


def random_name(rng, taken, ncgen=False):
    words = ["temperature", "lat", "x", "T2m", "time" if ncgen else "int", "data", "n" * rng.randrange(1, 90)]
    while True:
        name = rng.choice("abcdXYZ_059é日") + "".join(rng.choice(NAME_CHARACTERS) for _ in range(rng.randrange(8)))
        if rng.random() < 0.6:
            name = rng.choice(words)
        name = name.rstrip() if rng.random() < 0.8 else name.rstrip() + "_%d" % len(taken)
        if name not in taken and not (ncgen and (name == "_" or set(name) & set(REFUSED_BY_NCGEN))):
            taken.add(name)
            return name


def step_float(value, steps, letter):
    """The floating point number `steps` rounding steps after value."""
    size = struct.calcsize(">" + letter)
    bits = int.from_bytes(struct.pack(">" + letter, value), "big") + steps
    return struct.unpack(">" + letter, (bits % 256**size).to_bytes(size, "big"))[0]


def random_real(rng, letter, fill):
    limit = 38 if letter == "f" else 300
    value = rng.choice([
        lambda: rng.choice([0.0, -0.0, float("nan"), float("inf"), float("-inf"), FILL_DOUBLE]),
        lambda: float(rng.randrange(-1000, 1000)),
        lambda: rng.randrange(-10**9, 10**9) / 1000.0,
        lambda: rng.uniform(-10, 10) * 10.0**rng.randrange(-limit, limit - 1),
        lambda: step_float(fill, rng.randrange(-3, 4), letter),
    ])()
    return struct.unpack(">" + letter, struct.pack(">" + letter, value))[0]


def random_values(rng, kind, n, fill, ncgen=False):
    if kind == "char":
        pool = rng.choice([b"abc \0", b"abc\n\0\\\"'\t", bytes(range(256)), b"\0", b"x\n"])
        if ncgen: # begins a new row where ncdump cuts a text, behind newlines
            pool = pool.replace(b"\n", b"y")
        return bytes(rng.choice(pool) for _ in range(n))
    letter, size = cdf.TYPES[kind][1:]
    if letter in "fd":
        reals = [random_real(rng, letter, fill) for _ in range(n)]
        if ncgen: # refuses numbers without point and exponent that no int can hold, and drops the sign of -0
            reals = [x / 2**60 if 1e9 < abs(x) < 1e18 else 0.0 if x == 0 else x for x in reals]
        return reals
    low, high = (0, 256**size - 1) if letter.isupper() else (-256**size // 2, 256**size // 2 - 1)
    edges = [low, low + 1, low + 2, high, high - 1, 0 if low == 0 else -1, fill]
    return [rng.choice(edges) if rng.random() < 0.3 else rng.randrange(max(low, -2000), min(high, 2000) + 1)
            for _ in range(n)]


def random_attributes(rng, kinds, kind, fill, formats=True, ncgen=False):
    taken, atts = set(), []
    if ncgen and kind == "char":
        taken.add("_FillValue") # ncgen appends it to texts; dumps do not show null characters at the end of a text
    elif kind and rng.random() < 0.4:
        atts.append(("_FillValue", kind, b"b" if kind == "char" else [fill]))
        taken.add("_FillValue")
    elif kind and rng.random() < 0.2: # of another type or length: not a fill value at all
        other = rng.choice(kinds)
        # CDL has no suffix for int and double; and ncgen converts all of them to the variable's type.
        if formats or (other not in ("int", "double") and not ncgen):
            atts.append(("_FillValue", other, random_values(rng, other, rng.randrange(3), 1)))
        taken.add("_FillValue")
    if formats and kind and rng.random() < 0.3:
        formats = [b"%5d", b"%04x", b"%#o", b"<%i>", b"%u", b"none"]
        if kind in ("int64", "uint64"):
            formats = [b"%6lld", b"%llx"]
        elif kind in ("float", "double"):
            formats = [b"%.3f", b"%12.4e", b"%-8.2g|", b"%+G\0", b"value", b"%%%.1f"]
        atts.append(("C_format", "char", rng.choice(formats)))
        taken.add("C_format")
    for _ in range(rng.choice([0, 0, 1, 2, 5])):
        other = rng.choice(kinds)
        atts.append((random_name(rng, taken, ncgen), other,
                     random_values(rng, other, rng.choice([0, 1, 1, 2, 7, 40]), 1, ncgen)))
    return atts


def random_file(rng, version, path, formats=True, ncgen=False):
    """Writes a file; returns the names of its scalars and of its variables. formats: some variables have a C_format.
    ncgen: its dump is nothing that ncgen refuses, or makes other data of."""
    kinds = list(cdf.TYPES)[:11 if version == 5 else 6]
    if ncgen and version == 5:
        kinds.remove("int64") # its variables become int
    taken, dims = set(), []
    for _ in range(rng.randrange(1, 6)):
        dims.append((random_name(rng, taken, ncgen), rng.choice([1, 2, 3, 5, 17, 60])))
    record = rng.randrange(len(dims)) if rng.random() < 0.8 else None
    if record is not None:
        dims[record] = (dims[record][0], None)
    numrecs = rng.choice([0, 1, 2, 4]) if record is not None else 0
    fixed = [i for i in range(len(dims)) if i != record]
    taken, variables, scalars = set(), [], []
    for _ in range(rng.randrange(1, 25)):
        kind = rng.choice(kinds)
        dimids = [rng.choice(fixed) for _ in range(rng.randrange(4))] if fixed else []
        if record is not None and rng.random() < 0.5:
            dimids = [record] + dimids
        n = 1
        for dimid in dimids:
            n *= numrecs if dimid == record else dims[dimid][1]
        while n > 4000:
            n //= numrecs if dimids[-1] == record else dims[dimids[-1]][1]
            dimids.pop()
        name = random_name(rng, taken, ncgen)
        if rng.random() < 0.25 and dims[dimids[0] if dimids else 0][0] not in taken: # a coordinate variable
            taken.discard(name)
            name = dims[dimids[0] if dimids else 0][0]
            taken.add(name)
        if not dimids:
            scalars.append(name)
        fill = rng.choice([0, 1, 7, 100]) if kind not in ("float", "double") else random_real(rng, "f", 1.0)
        variables.append((name, kind, dimids, random_attributes(rng, kinds, kind, fill, formats, ncgen),
                          random_values(rng, kind, n, fill, ncgen)))
    if ncgen and record is not None:
        # ncgen does not read the comment, and CDL does not show null characters at the end of a text
        variables.append((random_name(rng, taken, ncgen), "int", [record], [], list(range(numrecs))))
    cdf.Writer(version, dims, random_attributes(rng, kinds, None, 0, formats, ncgen), variables, numrecs).write(path)
    return scalars, [v[0] for v in variables]
