"""Write classic netCDF files byte by byte, from the format's specification and with no library: what the tests of the
tools read. Nothing is checked, so that odd and wrong files can be written too."""
import struct

# name: (code, letter of struct, size)
TYPES = {
    "byte": (1, "b", 1), "char": (2, "c", 1), "short": (3, "h", 2), "int": (4, "i", 4), "float": (5, "f", 4),
    "double": (6, "d", 8), "ubyte": (7, "B", 1), "ushort": (8, "H", 2), "uint": (9, "I", 4), "int64": (10, "q", 8),
    "uint64": (11, "Q", 8),
}


def packed(type_name, values):
    """External bytes of values; values of char are bytes."""
    if type_name == "char":
        return bytes(values)
    return struct.pack(">%d%s" % (len(values), TYPES[type_name][1]), *values)


def padded(data):
    return data + b"\0" * (-len(data) % 4)


def read_variables(content):
    """name: (lengths of the dimensions, 0 of an unlimited one, begin) of the variables of a CDF-1 file without
    attributes."""
    at = 8

    def take(form):
        nonlocal at
        at += struct.calcsize(">" + form)
        return struct.unpack_from(">" + form, content, at - struct.calcsize(">" + form))[0]

    def name():
        nonlocal at
        length = take("i")
        at += length + -length % 4
        return content[at - length - -length % 4:][:length].decode()
    take("i")
    lengths = []
    for _ in range(take("i")):
        name()
        lengths.append(take("i"))
    assert take("i") == 0 and take("i") == 0
    take("i")
    found = {}
    for _ in range(take("i")):
        of, dims = name(), [take("i") for _ in range(take("i"))]
        assert take("i") == 0 and take("i") == 0
        take("i")
        take("i")
        found[of] = ([lengths[d] for d in dims], take("i"))
    return found


class Writer:
    """dims: [(name, length or None)]; atts: [(name, type, values)]; variables: [(name, type, dimids, atts, values)].
    Values that are missing at the end of a variable are zeros. space: bytes after the header."""

    def __init__(self, version, dims, atts, variables, numrecs=0, space=0):
        self.version, self.dims, self.atts, self.variables, self.numrecs = version, dims, atts, variables, numrecs
        self.space = space

    def number(self, n):
        return struct.pack(">q" if self.version == 5 else ">i", n)

    def name(self, text):
        raw = text.encode()
        return self.number(len(raw)) + padded(raw)

    def array(self, tag, items):
        return struct.pack(">i", tag if items else 0) + self.number(len(items)) + b"".join(items)

    def attributes(self, atts):
        items = []
        for name, kind, values in atts:
            raw = packed(kind, values)
            items.append(self.name(name) + struct.pack(">i", TYPES[kind][0]) + self.number(len(raw) // TYPES[kind][2])
                         + padded(raw))
        return self.array(12, items)

    def is_record(self, variable):
        return bool(variable[2]) and self.dims[variable[2][0]][1] is None

    def size(self, variable):
        """Size of the variable, or of one record of it, without padding."""
        n = TYPES[variable[1]][2]
        for dimid in variable[2][self.is_record(variable):]:
            n *= self.dims[dimid][1]
        return n

    def header(self, begins):
        items = []
        for variable, begin in zip(self.variables, begins):
            name, kind, dimids, atts, _ = variable
            size = self.size(variable)
            size += -size % 4
            items.append(self.name(name) + self.number(len(dimids)) + b"".join(map(self.number, dimids))
                         + self.attributes(atts) + struct.pack(">i", TYPES[kind][0])
                         + (self.number(size) if self.version == 5 else struct.pack(">I", min(size, 2**32 - 4)))
                         + struct.pack(">i" if self.version == 1 else ">q", begin))
        dims = [self.name(name) + self.number(length or 0) for name, length in self.dims]
        return (b"CDF" + bytes([self.version]) + self.number(self.numrecs) + self.array(10, dims)
                + self.attributes(self.atts) + self.array(11, items))

    def layout(self):
        """Offsets of all variables, size of a record, size of the file."""
        begins = [0] * len(self.variables)
        at = len(self.header(begins)) + self.space
        for record in (False, True):
            first = at
            for i, variable in enumerate(self.variables):
                if self.is_record(variable) == record:
                    begins[i] = at
                    at += self.size(variable) + -self.size(variable) % 4
        records = [v for v in self.variables if self.is_record(v)]
        recsize = self.size(records[0]) if len(records) == 1 else at - first
        return begins, recsize, first + recsize * self.numrecs

    def write(self, path):
        begins, recsize, end = self.layout()
        with open(path, "wb") as out:
            out.truncate(end)
            out.write(self.header(begins))
            for variable, begin in zip(self.variables, begins):
                raw, size = packed(variable[1], variable[4]), self.size(variable)
                for i in range(self.numrecs if self.is_record(variable) else 1):
                    out.seek(begin + i * recsize)
                    out.write(raw[i * size:(i + 1) * size])
