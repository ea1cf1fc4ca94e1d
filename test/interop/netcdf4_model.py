"""What a program that changes a netCDF-4 file makes of it: values, lengths and attributes, in numpy. A program is a
dict that JSON can hold (netcdf4_draw.py draws them): how the file was made, and sessions of calls. The model refuses a
program (Invalid) whose result is not defined: ranks that access the same elements without an order, for example."""
import numpy as np

CAPACITY = 20  # of an unlimited dimension
TYPES = {  # of numpy; "c" is text: number of different values, the first of them, the default fill value
    "i1": (120, 1, -127), "c": (90, 33, 0), "i2": (30000, 1, -32767), "i4": (30000, 1, -2147483647),
    "f4": (30000, 1, 9.9692099683868690e+36), "f8": (30000, 1, 9.9692099683868690e+36), "u1": (250, 1, 255),
    "u2": (30000, 1, 65535), "u4": (30000, 1, 4294967295), "i8": (30000, 1, -9223372036854775806),
    "u8": (30000, 1, 18446744073709551614)}
NEVER, KNOWN, UNKNOWN = 0, 1, 2  # written: never; its value is known; its value is one of several, or any


class Invalid(Exception):
    """The program's result is not defined, or the calls are not allowed."""


def kind_of(name):
    """A type of numpy; characters are numbers here."""
    return np.dtype("u1" if name == "c" else name)


def make_values(kind, base, n):
    """What a put has, as in netcdf4_program.c."""
    modulus, low, _ = TYPES[kind]
    return (low + (base + 13 * np.arange(n)) % modulus).astype(kind_of(kind))


def is_filtered(spec):
    return any(spec.get(name) for name in ("shuffle", "deflate", "fletcher32", "szip", "lzf", "zstd"))


class Var:
    def __init__(self, spec, shape):
        self.spec, self.kind, self.dims = spec, spec["type"], spec["dims"]
        self.values = np.zeros(shape, kind_of(self.kind))
        self.state = np.zeros(shape, np.uint8)
        self.writer = np.full(shape, -1, np.int8)  # rank that wrote an element since the last order
        self.readers = np.zeros(shape, np.uint8)
        self.pending = np.full(shape, -1, np.int8)  # rank that has posted a request for it
        self.pending_get = np.zeros(shape, np.uint8)
        self.atts = {}
        self.has_space = spec.get("chunks") is not None or spec.get("storage") == "compact" or spec["by"] == "ours"
        self.extent = [0] * len(shape)  # that any put has reached
        self.harmed = False
        self.fills = self.find_fills()

    def find_fills(self):
        """What elements that were never written may be; None: anything."""
        spec, default = self.spec, TYPES[self.kind][2]
        fill = spec.get("fill")
        if spec["by"] == "ours":
            if spec.get("chunks") is None and fill in (None, "no"):
                return None
            return [default if fill in (None, "default", "no") else fill]
        if spec["by"] == "netcdf":
            return None if fill == "no" else [default if fill is None else fill]
        if spec.get("fill_time") == "never" or (spec.get("fill_time") == "no"):
            return None
        return [0 if fill is None else fill, fill if spec.get("fill_att") and fill is not None else default]


def select(box):
    """Indices of a box: [start, count, stride]."""
    start, count, stride = box
    return tuple(slice(s, s + (c - 1) * t + 1, t) if c > 0 else slice(0, 0)
                 for s, c, t in zip(start, count, stride))


def size_of(boxes):
    return int(sum(np.prod(box[1], dtype=int) for box in boxes))


class Model:
    def __init__(self):
        self.dims = {}  # name: length or None
        self.length = {}  # of unlimited dimensions
        self.vars = {}
        self.atts = {}
        self.mode, self.ranks = "closed", 0
        self.known = []  # lengths of unlimited dimensions that each rank knows
        self.requests = {}  # rank: list of (number, op, rank)
        self.expected = {}  # (number, rank): (values, state, fills)
        self.attached = False

    # --- definitions ---

    def define_dim(self, name, length):
        if name in self.dims:
            raise Invalid("dim")
        self.dims[name] = length
        if length is None:
            self.length[name] = 0
            for known in self.known:
                known[name] = 0

    def define_var(self, spec):
        if spec["name"] in self.vars or any(d not in self.dims for d in spec["dims"]):
            raise Invalid("var")
        self.vars[spec["name"]] = Var(spec, [CAPACITY if self.dims[d] is None else self.dims[d]
                                             for d in spec["dims"]])

    def set_att(self, var, name, value):
        if var is not None and var not in self.vars:
            raise Invalid("att")
        (self.atts if var is None else self.vars[var].atts)[name] = value

    def shape(self, var, lengths=None):
        lengths = lengths or self.length
        return [lengths[d] if self.dims[d] is None else self.dims[d] for d in var.dims]

    # --- order ---

    def order(self):
        for var in self.vars.values():
            var.writer.fill(-1)
            var.readers.fill(0)

    def share_lengths(self):
        self.known = [dict(self.length) for _ in range(self.ranks)]

    def no_requests(self):
        if any(self.requests.values()):
            raise Invalid("pending requests")

    # --- puts and gets ---

    def check_boxes(self, var, boxes, shape):
        seen = None
        for start, count, stride in boxes:
            if len(start) != len(var.dims):
                raise Invalid("number of dimensions")
            if 0 in count:
                continue
            for s, c, t, n in zip(start, count, stride, shape):
                if s + (c - 1) * t + 1 > n:
                    raise Invalid("bounds")
            if len(boxes) > 1:
                seen = np.zeros(var.state.shape, bool) if seen is None else seen
                if seen[select((start, count, stride))].any():
                    raise Invalid("boxes overlap")
                seen[select((start, count, stride))] = True

    def touch(self, var, boxes, rank, is_put, collective):
        """Check that nothing else accesses these elements without an order."""
        bit = 1 << rank
        for box in boxes:
            if 0 in box[1]:
                continue
            at = select(box)
            if (var.pending[at] >= 0).any() or (is_put and var.pending_get[at].any()):
                raise Invalid("pending")
            other = (var.writer[at] >= 0) & (var.writer[at] != rank)
            if other.any() or (is_put and (var.readers[at] & ~np.uint8(bit)).any()):
                raise Invalid("no order")
        for box in boxes:
            if 0 not in box[1]:
                if is_put:
                    var.writer[select(box)] = rank
                else:
                    var.readers[select(box)] |= bit

    def store(self, var, boxes, base, rank):
        values, done = make_values(var.kind, base, size_of(boxes)), 0
        for box in boxes:
            n = int(np.prod(box[1], dtype=int))
            if n == 0:
                continue
            var.values[select(box)] = values[done:done + n].reshape(box[1])
            var.state[select(box)] = KNOWN
            done += n
            for i, (s, c, t) in enumerate(zip(*box)):
                end = s + (c - 1) * t + 1
                var.extent[i] = max(var.extent[i], end)
                name = var.dims[i]
                if self.dims[name] is None:
                    self.length[name] = max(self.length[name], end)
                    if rank is not None:
                        self.known[rank][name] = max(self.known[rank][name], end)

    def collect(self, var, boxes):
        values = [var.values[select(box)].ravel() for box in boxes if 0 not in box[1]]
        state = [var.state[select(box)].ravel() for box in boxes if 0 not in box[1]]
        if not values:
            return np.zeros(0, var.values.dtype), np.zeros(0, np.uint8), var.fills
        return np.concatenate(values), np.concatenate(state), var.fills

    def find_var(self, op):
        if op["var"] not in self.vars:
            raise Invalid("no variable")
        return self.vars[op["var"]]

    def parts(self, op):
        parts = {int(rank): boxes for rank, boxes in op["parts"].items()}
        if any(rank >= self.ranks for rank in parts):
            raise Invalid("rank")
        if op["mode"] == "c":
            if self.mode != "collective" or len(parts) != self.ranks:
                raise Invalid("collective")
        elif op["mode"] == "i" and (self.mode != "independent" or len(parts) != 1):
            raise Invalid("independent")
        elif op["mode"] in "nb" and (self.mode not in ("independent", "collective") or len(parts) != 1):
            raise Invalid("nonblocking")
        return parts

    def access(self, op, number):
        var, is_put, parts = self.find_var(op), op["op"] == "put", self.parts(op)
        if op["mode"] == "b" and not self.attached:
            raise Invalid("no buffer")
        if op["mode"] == "c":
            self.order()
        lengths = [CAPACITY if self.dims[d] is None else self.dims[d] for d in var.dims]
        for rank, boxes in parts.items():
            self.check_boxes(var, boxes, lengths if is_put else self.shape(var, self.known[rank]))
        if op["mode"] in "nb":
            self.post(op, var, parts, number)
            return
        if is_put and not var.has_space:
            if op["mode"] == "i":
                raise Invalid("no space")
            var.has_space = any(size_of(boxes) for boxes in parts.values())
        for rank, boxes in parts.items():
            self.touch(var, boxes, rank, is_put, op["mode"] == "c")
        for rank, boxes in parts.items():
            if is_put:
                self.store(var, boxes, op["base"] + 1000 * rank, rank)
            else:
                self.expected[number, rank] = self.collect(var, boxes)
        if op["mode"] == "c":
            self.order()
            self.share_lengths()

    def post(self, op, var, parts, number):
        (rank, boxes), = parts.items()
        if op["op"] == "put" and self.mode == "independent" and not var.has_space:
            raise Invalid("no space")
        for box in boxes:
            if 0 in box[1]:
                continue
            at = select(box)
            if op["op"] == "get":
                if (var.pending[at] >= 0).any():
                    raise Invalid("pending put")
                var.pending_get[at] = 1
            else:
                if ((var.pending[at] >= 0) & (var.pending[at] != rank)).any() or var.pending_get[at].any():
                    raise Invalid("pending")
                var.pending[at] = rank
        self.requests.setdefault(rank, []).append((number, op, boxes))

    def complete(self, rank, which, is_collective):
        """The requests of a rank, in the order in which they were posted."""
        done = [r for r in self.requests.get(rank, []) if which is None or r[0] in which]
        if which is not None and len(done) != len(which):
            raise Invalid("requests")
        for number, op, boxes in done:
            var = self.find_var(op)
            for box in boxes:
                if 0 not in box[1]:
                    (var.pending_get if op["op"] == "get" else var.pending)[select(box)] = \
                        0 if op["op"] == "get" else -1
        for number, op, boxes in done:
            var = self.find_var(op)
            if op["op"] == "put" and not var.has_space:
                if not is_collective:
                    raise Invalid("no space")
                var.has_space = size_of(boxes) > 0
            if not is_collective:
                self.touch(var, boxes, rank, op["op"] == "put", False)
            if op["op"] == "put":
                self.store(var, boxes, op["base"] + 1000 * rank, rank)
        for number, op, boxes in done:
            if op["op"] == "get":
                self.expected[number, rank] = self.collect(self.vars[op["var"]], boxes)
        self.requests[rank] = [r for r in self.requests.get(rank, []) if r not in done]
        for number, op, boxes in self.requests[rank]:  # those that remain keep their elements
            var = self.vars[op["var"]]
            for box in boxes:
                if 0 not in box[1]:
                    if op["op"] == "get":
                        var.pending_get[select(box)] = 1
                    else:
                        var.pending[select(box)] = rank

    def wait(self, op):
        parts = {int(rank): which for rank, which in op["parts"].items()}
        if any(rank >= self.ranks for rank in parts):
            raise Invalid("rank")
        is_collective = op["mode"] == "c"
        if is_collective != (self.mode == "collective") or (is_collective and len(parts) != self.ranks):
            raise Invalid("wait")
        if is_collective:
            self.order()
        for rank, which in parts.items():
            self.complete(rank, which, is_collective)
        if is_collective:
            self.order()
            self.share_lengths()

    # --- calls of our library ---

    def begin_session(self, session):
        self.ranks, self.mode, self.requests, self.attached = session["ranks"], "collective", {}, False
        self.order()
        self.share_lengths()
        if session.get("create"):
            self.mode = "define"

    def end_session(self):
        self.no_requests()
        if self.mode != "collective":
            raise Invalid("close")
        self.mode = "closed"

    def need(self, *modes):
        if self.mode not in modes:
            raise Invalid(self.mode)

    def apply(self, op, number):
        name = op["op"]
        if name in ("put", "get"):
            self.access(op, number)
        elif name == "wait":
            self.wait(op)
        elif name == "att":
            self.need("define")
            self.set_att(op["var"], op["name"], op["value"])
        elif name == "def_dim":
            self.need("define")
            self.define_dim(op["name"], op["len"])
        elif name == "def_var":
            self.need("define")
            self.define_var(op["spec"])
        elif name == "attach":
            if self.attached:
                raise Invalid("attach")
            self.attached = True
        elif name == "length":
            self.need("collective")
            if self.dims.get(op["dim"], 0) is not None:
                raise Invalid("length")
            for rank in range(self.ranks):
                self.expected[number, rank] = (np.array([self.length[op["dim"]]]), np.array([KNOWN]), None)
        else:
            self.change_mode(name)

    def change_mode(self, name):
        before, after = {"redef": ("collective", "define"), "enddef": ("define", "collective"),
                         "begin": ("collective", "independent"), "end": ("independent", "collective"),
                         "sync": (self.mode, self.mode), "order": (self.mode, self.mode)}[name]
        self.need(before)
        if self.mode == "define" and name in ("sync", "order"):
            raise Invalid("define mode")
        if name != "order":
            self.no_requests()
            self.share_lengths()
        self.mode = after
        self.order()

    # --- of other programs ---

    def leaves_unfilled(self, var):
        """Whether a put by h5py leaves what it does not put as it is in memory (chunks that are allocated late) or in
        the file (space that libhdf5 has freed)."""
        if var.spec["by"] != "h5py" or var.spec.get("storage") == "compact":
            return False
        if var.spec.get("chunks"):
            return var.spec.get("alloc") == "late"
        return not var.has_space and var.spec.get("fill") is None

    def apply_other(self, op, who):
        """Returns nothing: a put, attribute or definition by netCDF-C or h5py."""
        name = op["op"]
        if name == "put":
            var = self.find_var(op)
            self.check_boxes(var, [op["box"]],
                             [CAPACITY if self.dims[d] is None else self.dims[d] for d in var.dims])
            if self.leaves_unfilled(var):
                var.fills = None
            self.store(var, [op["box"]], op["base"], None)
            var.has_space = True
        elif name == "att":
            self.set_att(op["var"], op["name"], op["value"])
        elif name == "def_dim":
            self.define_dim(op["name"], op["len"])
        elif name == "def_var":
            self.define_var(op["spec"])
        elif name != "junk":
            raise Invalid(name)


def compare(found, expected):
    """Indices (of the flat arrays) at which values differ from what is expected."""
    values, state, fills = expected
    if len(found) != len(values):
        return None
    found = found.astype(values.dtype) if values.dtype.kind != found.dtype.kind else found
    good = (state == KNOWN) & (found == values)
    good |= state == UNKNOWN
    if fills is None:
        good |= state == NEVER
    else:
        for fill in fills:
            good |= (state == NEVER) & (found == np.array(fill).astype(values.dtype))
    return np.flatnonzero(~good)
