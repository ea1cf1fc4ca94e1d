"""Random programs that make a netCDF-4 file and change it, for test_netcdf4_programs.py. netcdf4_model.py knows the
result of every call that is drawn."""
import copy
import os

import numpy as np

from netcdf4_model import CAPACITY, TYPES, Invalid, Model, is_filtered, size_of

KINDS = list(TYPES)
MOST_ELEMENTS = 12000
NUMBERS = [kind for kind in KINDS if kind != "c"]
FILTERS = ["none", "none", "none", "deflate", "deflate", "shuffle+deflate", "shuffle+deflate", "fletcher32",
           "shuffle", "deflate+fletcher32", "shuffle+deflate+fletcher32", "szip", "lzf", "lzf+fletcher32"]


def capacity(length):
    return CAPACITY if length is None else length


class Drawer:
    """A program that grows call by call, and the model after the calls so far."""

    def __init__(self, rng, mode, avoid=()):
        self.avoid = avoid
        self.rng, self.mode, self.model, self.number = rng, mode, Model(), 0
        self.new_names = 0
        self.program = {"mode": mode, "made": {}, "sessions": []}

    def name(self, letter):
        self.new_names += 1
        return f"{letter}{self.new_names}"

    # --- definitions ---

    def draw_dims(self):
        rng = self.rng
        unlimited = rng.choice([0, 1, 1, 1, 1, 2, 2, 3])
        dims = [(self.name("u"), None) for _ in range(unlimited)]
        for _ in range(rng.choice([1, 2, 2, 3])):
            dims.append((self.name("d"), rng.choice([rng.randint(1, 9), rng.randint(1, 9), rng.randint(10, 40),
                                                     rng.randint(100, 400)])))
        return dims

    def draw_shape(self, dims):
        """Names of dimensions: unlimited ones first, as a rule."""
        rng = self.rng
        for _ in range(50):
            names = [rng.choice(list(dims)) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3]))] if dims else []
            if rng.random() < 0.5:
                unlimited = [d for d in dims if dims[d] is None]
                names = ([unlimited[0]] if unlimited else []) + names[:2]
            if len(set(names)) == len(names) and \
                    np.prod([capacity(dims[d]) for d in names], dtype=int) <= MOST_ELEMENTS:
                break
        else:
            names = []
        if rng.random() < 0.85:
            names.sort(key=lambda d: dims[d] is not None)
        return names

    def draw_chunks(self, names, dims):
        rng = self.rng
        if rng.random() < 0.2:  # a chunk has a record
            return [1 if dims[d] is None else dims[d] for d in names]
        return [rng.randint(1, 6) if dims[d] is None else rng.randint(max(1, dims[d] // 4), dims[d]) for d in names]

    def draw_spec(self, by, name, dims, names=None):
        rng = self.rng
        names = self.draw_shape(dims) if names is None else names
        kind = rng.choice(KINDS) if rng.random() < 0.7 else rng.choice(["f4", "i4", "f8"])
        spec = {"name": name, "type": kind, "dims": names, "by": by}
        has_unlimited = any(dims[d] is None for d in names)
        filters = rng.choice(FILTERS) if names else "none"
        if has_unlimited or filters != "none" or (names and rng.random() < 0.4):
            spec["chunks"] = self.draw_chunks(names, dims)
        elif names and by != "netcdf" and rng.random() < 0.25 and \
                np.prod([dims[d] for d in names], dtype=int) <= 7000:
            spec["storage"] = "compact"
        self.draw_filters(spec, filters, by, dims)
        self.draw_fill(spec, by)
        if kind not in ("c", "i1", "u1") and rng.random() < 0.1:
            spec["big"] = True
        if by == "h5py":
            self.draw_h5py(spec)
        return spec

    def draw_filters(self, spec, filters, by, dims):
        for part in filters.split("+"):
            if part == "deflate":
                spec["deflate"] = self.rng.randint(1, 9)
            elif part == "szip":
                self.draw_szip(spec, by, dims)
            elif part == "lzf" and by == "h5py":
                spec["lzf"] = True
            elif part == "lzf":
                spec["deflate"] = 1
            elif part != "none":
                spec[part] = True
        if by == "netcdf" and not spec.get("deflate"):
            spec.pop("shuffle", None)  # netCDF4-python shuffles only what it deflates

    def draw_szip(self, spec, by, dims):
        n = int(np.prod(spec["chunks"]))
        if by == "netcdf":  # refuses blocks with more elements than the dimensions that are not unlimited have
            n = min(n, int(np.prod([dims[d] or 1 for d in spec["dims"]])))
        if spec["type"] == "c" or n < 16:
            spec["deflate"] = 1
            return
        spec["szip"] = [self.rng.choice(["nn", "ec"]), self.rng.choice([4, 8, 16])]

    def draw_fill(self, spec, by):
        rng, kind = self.rng, spec["type"]
        number = 126 if kind in ("i1", "c") else rng.choice([0, 254]) if kind == "u1" else rng.choice([0, 31000])
        choices = {"ours": [None, None, "default", number, "no"], "netcdf": [None, None, None, number, number, "no"],
                   "h5py": [None, number, number]}
        fill = rng.choice(choices[by])
        if by == "h5py" and kind == "c":  # h5py would convert it to a text of no characters
            return
        if fill is not None:
            spec["fill"] = fill
        if by == "h5py" and fill is not None and rng.random() < 0.7:
            spec["fill_att"] = True

    def draw_h5py(self, spec):
        rng = self.rng
        if rng.random() < 0.5:
            spec["track_order"] = True
        is_chunked = bool(spec.get("chunks"))
        if spec.get("storage") != "compact" and rng.random() < 0.4 and "alloc" not in self.avoid:
            spec["alloc"] = rng.choice(["early", "late", "incr"] if is_chunked else ["early", "late"])
        if rng.random() < 0.2:
            spec["fill_time"] = rng.choice(["never", "alloc", "ifset"])

    def draw_value(self):
        rng = self.rng
        if rng.random() < 0.5:
            return "".join(rng.choice("abcdefgh") for _ in range(rng.choice([1, 5, 20, 200])))
        return [rng.randint(-1000, 1000) for _ in range(rng.choice([1, 2, 7, 30]))]

    def draw_att(self):
        var = self.rng.choice([None] + list(self.model.vars))
        return {"op": "att", "var": var, "name": f"a{self.rng.randint(0, 4)}", "value": self.draw_value()}

    def draw_definitions(self, by):
        dims = dict(self.draw_dims())
        ops = [{"op": "def_dim", "name": name, "len": length} for name, length in dims.items()]
        for name in dims:
            if self.rng.random() < 0.25:
                spec = self.draw_spec(by, name, dims, [name])
                spec["type"] = self.rng.choice(["f8", "i4"])
                spec.pop("storage", None)
                spec.pop("fill", None)
                ops.append({"op": "def_var", "spec": spec})
        for _ in range(self.rng.choice([1, 2, 3, 4, 6])):
            ops.append({"op": "def_var", "spec": self.draw_spec(by, self.name("v"), dims)})
        return ops

    # --- boxes ---

    def draw_box(self, var, lengths, strided, growth):
        """Of a variable of these lengths; growth: it may be beyond the end by so much."""
        rng, start, count, stride = self.rng, [], [], []
        whole = rng.random() < 0.3
        for d, n in zip(var.dims, lengths):
            unlimited = self.model.dims[d] is None
            n = min(CAPACITY, n + growth) if unlimited else n
            if n == 0:
                return None
            if unlimited and growth and rng.random() < 0.5:  # appends
                s = max(0, n - growth)
                c = rng.randint(1, n - s) if n > s else 1
                s, c, t = min(s, n - 1), c, 1
            else:
                s = 0 if whole else rng.randrange(n)
                c = n - s if whole else rng.randint(1, n - s)
                t = rng.choice([1, 2, 3]) if strided else 1
                c = (c - 1) // t + 1
            start.append(s)
            count.append(c)
            stride.append(t)
        return [start, count, stride]

    def empty_box(self, var):
        n = len(var.dims)
        return [[0] * n, [0] * n, [1] * n]

    def split_box(self, box, ranks):
        """A part for each rank, along one dimension."""
        start, count, stride = box
        along = self.rng.randrange(len(start))
        cuts = sorted(self.rng.randint(0, count[along]) for _ in range(ranks - 1))
        if self.rng.random() < 0.5:
            cuts = [count[along] * (i + 1) // ranks for i in range(ranks - 1)]
        parts = []
        for a, b in zip([0] + cuts, cuts + [count[along]]):
            part = copy.deepcopy(box)
            part[0][along], part[1][along] = start[along] + a * stride[along], b - a
            if a == b:
                part = [[0] * len(start), [0] * len(start), [1] * len(start)]
            parts.append([part])
        return parts

    def draw_boxes(self, var, lengths, shape, growth):
        if shape in ("varn", "mvara"):
            boxes = [self.draw_box(var, lengths, False, growth) for _ in range(self.rng.randint(1, 5))]
        elif shape == "var1":
            boxes = [self.draw_box(var, lengths, False, growth)]
            for box in boxes:
                if box:
                    box[1] = [1] * len(box[1])
        else:
            boxes = [self.draw_box(var, lengths, shape != "vara", growth)]
        return None if None in boxes else boxes

    def draw_parts(self, var, shape, growth, is_put):
        """For a collective call."""
        ranks, rng = self.model.ranks, self.rng
        lengths = self.model.shape(var)
        if is_put and shape in ("vara", "vars", "varm") and var.dims and rng.random() < 0.5:
            boxes = self.draw_boxes(var, lengths, shape, growth)
            return None if boxes is None else dict(enumerate(self.split_box(boxes[0], ranks)))
        parts = {}
        for rank in range(ranks):
            boxes = self.draw_boxes(var, lengths, shape, growth)
            if boxes is None:
                return None
            if is_put and rank > 0 and not var.dims or (rng.random() < 0.25 and shape != "var1"):
                boxes = [self.empty_box(var)] if var.dims and shape not in ("varn", "mvara") else \
                    [] if shape in ("varn", "mvara") else boxes
            parts[rank] = boxes
        return parts

    # --- calls ---

    def draw_memory(self, var, is_put):
        if var.kind == "c":
            return "c"
        wide = [var.kind] * 3
        if var.kind in ("i1", "u1", "i2", "u2", "i4", "f4"):
            wide += ["f8", "f8"]
        if is_put:
            wide += ["i4", "f4", "f8", "i8"]
        return self.rng.choice(wide)

    def draw_access(self, mode, is_put=None):
        rng = self.rng
        if not self.model.vars:
            return None
        var = self.model.vars[rng.choice(list(self.model.vars))]
        is_put = rng.random() < 0.7 if is_put is None else is_put
        shape = rng.choice(["vara", "vara", "vara", "vars", "varm", "varn", "var1", "mvara"])
        if mode in "nb" and shape in ("mvara", "varm"):
            shape = "vara"
        if not var.dims:
            shape = rng.choice(["var1", "vara"])
        growth = rng.choice([0, 0, 1, 1, 2]) if is_put else 0
        op = {"op": "put" if is_put else "get", "var": var.spec["name"], "mode": mode, "shape": shape,
              "mem": self.draw_memory(var, is_put), "kind": var.kind, "base": rng.randrange(10**6)}
        if mode == "c":
            op["parts"] = self.draw_parts(var, shape, growth, is_put)
            if op["parts"] is None:
                return None
        else:
            rank = rng.randrange(self.model.ranks)
            boxes = self.draw_boxes(var, self.model.shape(var, self.model.known[rank]), shape, growth)
            if boxes is None:
                return None
            op["parts"] = {rank: boxes}
        if shape == "varm":
            op["order"] = rng.sample(range(len(var.dims)), len(var.dims))
        return op

    def draw_wait(self):
        rng, model = self.rng, self.model
        if model.mode == "collective":
            parts = {}
            for rank in range(model.ranks):
                numbers = [r[0] for r in model.requests.get(rank, [])]
                parts[rank] = None if rng.random() < 0.6 else rng.sample(numbers, rng.randint(0, len(numbers)))
            return {"op": "wait", "mode": "c", "parts": parts}
        ranks = [rank for rank in model.requests if model.requests[rank]]
        if not ranks:
            return None
        rank = rng.choice(ranks)
        numbers = [r[0] for r in model.requests[rank]]
        return {"op": "wait", "mode": "i", "parts": {
            rank: None if rng.random() < 0.6 else rng.sample(numbers, rng.randint(1, len(numbers)))}}

    def try_op(self, ops, op):
        """Append a call if the model takes it."""
        if op is None:
            return False
        before = copy.deepcopy(self.model)
        try:
            self.model.apply(op, self.number)
        except Invalid:
            self.model = before
            return False
        op["n"] = self.number
        self.number += 1
        ops.append(op)
        return True

    def drain(self, ops):
        for i in range(100):
            if not any(self.model.requests.values()):
                return
            self.try_op(ops, self.draw_wait())
            if i % 5 == 4 and "order" not in self.avoid:
                self.try_op(ops, {"op": "order"})
        raise Invalid("requests that cannot be completed")

    def draw_append(self, ops):
        """A step of a model: the next record of the variables of an unlimited dimension, and sometimes a sync."""
        rng, model = self.rng, self.model
        unlimited = [d for d in model.length if model.length[d] < CAPACITY]
        if not unlimited or model.mode != "collective":
            return
        along = rng.choice(unlimited)
        at = model.length[along]
        for var in list(model.vars.values()):
            if along not in var.dims or rng.random() < 0.2:
                continue
            box = [[at if d == along else 0 for d in var.dims],
                   [1 if d == along else n if model.dims[d] is not None else min(CAPACITY, max(1, n))
                    for d, n in zip(var.dims, model.shape(var))], [1] * len(var.dims)]
            op = {"op": "put", "var": var.spec["name"], "mode": "c", "shape": "vara", "kind": var.kind,
                  "mem": self.draw_memory(var, True), "base": rng.randrange(10**6),
                  "parts": dict(enumerate(self.split_box(box, model.ranks)))}
            self.try_op(ops, op)
        if rng.random() < 0.5:
            self.try_op(ops, {"op": "sync"})

    def draw_new_var(self, by, name):
        dims = {d: n for d, n in self.model.dims.items() if d not in self.program["made"].get("phony", [])}
        spec = self.draw_spec(by, name, dims)
        if self.program.get("classic"):
            if any(dims[d] is None for d in spec["dims"][1:]) or spec["type"] in ("u1", "u2", "u4", "i8", "u8"):
                return None
        return {"op": "def_var", "spec": spec}

    def draw_define(self, ops):
        rng, keeps_order = self.rng, self.program["made"].get("track_order", True)
        if not self.try_op(ops, {"op": "redef"}):
            return
        for _ in range(rng.choice([1, 1, 2, 3])):
            what = rng.random()
            if what < 0.4 or not keeps_order:
                self.try_op(ops, self.draw_att())
            elif what < 0.55:
                self.try_op(ops, {"op": "def_dim", "name": self.name("d"), "len": rng.choice([3, 5, 12])})
            else:
                self.try_op(ops, self.draw_new_var("ours", self.name("w")))
        self.try_op(ops, {"op": "enddef"})

    def draw_call(self, ops):
        rng, model = self.rng, self.model
        what = rng.random()
        if model.mode == "independent":
            if what < 0.6:
                self.try_op(ops, self.draw_access(rng.choice("iiin")))
            elif what < 0.68 and model.attached:
                self.try_op(ops, self.draw_access("b", True))
            elif what < 0.8:
                self.try_op(ops, self.draw_wait())
            elif what < 0.9 and "order" not in self.avoid:
                self.try_op(ops, {"op": "order"})
            elif what >= 0.9:
                self.drain(ops)
                self.try_op(ops, {"op": "end"})
        elif what < 0.5:
            self.try_op(ops, self.draw_access("c"))
        elif what < 0.6:
            self.draw_append(ops)
        elif what < 0.72:
            self.try_op(ops, self.draw_access("b" if model.attached and rng.random() < 0.4 else "n"))
        elif what < 0.79:
            self.try_op(ops, self.draw_wait())
        elif what < 0.85:
            self.drain(ops)
            self.try_op(ops, {"op": "begin"})
        elif what < 0.92:
            self.drain(ops)
            self.try_op(ops, {"op": "sync"})
        elif what < 0.95:
            self.drain(ops)
            self.draw_define(ops)
        elif what < 0.97 and model.length:
            self.try_op(ops, {"op": "length", "dim": rng.choice(list(model.length))})
        else:
            self.try_op(ops, {"op": "order"})

    def make_classic(self, ops):
        """Whether these are definitions of the classic model, then of types that it has."""
        for op in ops:
            if op["op"] == "def_var" and any(self.is_unlimited(ops, d) for d in op["spec"]["dims"][1:]):
                return False
        if sum(op["op"] == "def_dim" and op["len"] is None for op in ops) > 1:
            return False
        for op in ops:
            if op["op"] == "def_var" and op["spec"]["type"] in ("u1", "u2", "u4", "i8", "u8"):
                op["spec"]["type"] = "i4"
                op["spec"].pop("fill", None)
        return True

    def draw_ours(self, create=False):
        rng = self.rng
        session = {"who": "ours", "ranks": rng.choice([1, 2, 2, 3, 4]), "hints": {}, "ops": []}
        if rng.random() < 0.15:
            session["hints"]["nc_chunk_cache_size"] = str(rng.choice([0, 100, 5000]))
        if rng.random() < 0.2:
            session["hints"].update(nc_write_behind="enable", nc_filter_threads="2")
        if session["ranks"] > 1 and rng.random() < 0.15:
            session["nodes"] = 2
        if create:
            session["create"] = True
            definitions = self.draw_definitions("ours")
            session["classic"] = rng.random() < 0.3 and self.make_classic(definitions)
        self.program["classic"] = self.program.get("classic") or session.get("classic", False)
        self.model.begin_session(session)
        if create:
            for op in definitions:
                self.try_op(session["ops"], op)
            self.try_op(session["ops"], {"op": "enddef"})
        if rng.random() < 0.3:
            self.try_op(session["ops"], {"op": "attach"})
        for _ in range(rng.choice([3, 6, 10, 20, 30])):
            self.draw_call(session["ops"])
        self.drain(session["ops"])
        if self.model.mode == "independent":
            self.try_op(session["ops"], {"op": "end"})
        self.model.end_session()
        self.program["sessions"].append(session)

    def draw_other_put(self, who=None):
        rng, model = self.rng, self.model
        var = model.vars[rng.choice(list(model.vars))]
        if who == "netcdf" and var.spec.get("big"):  # netCDF4-python swaps the bytes in a file that it has opened
            return None
        if var.spec.get("lzf") and (who or var.state.any()):  # libhdf5 1.10 forgets that a chunk has no filter
            return None
        box = self.draw_box(var, model.shape(var), rng.random() < 0.3, rng.choice([0, 1, 2]))
        if box is None:
            return None
        return {"op": "put", "var": var.spec["name"], "kind": var.kind, "base": rng.randrange(10**6), "box": box}

    def draw_other(self, who):
        rng, session = self.rng, {"who": who, "ops": []}
        for _ in range(rng.choice([1, 3, 8])):
            what = rng.random()
            if what < 0.75:
                op = self.draw_other_put(who)
            elif what < 0.9:
                op = self.draw_att()
            elif who == "h5py":
                op = {"op": "junk", "n": rng.choice([10, 600, 5000])}
            else:
                op = self.draw_new_var(who, self.name("x"))
            if op is None:
                continue
            try:
                self.model.apply_other(op, who)
            except Invalid:
                continue
            session["ops"].append(op)
        if session["ops"]:
            self.program["sessions"].append(session)

    def draw_made(self, by):
        """By another program."""
        rng, made = self.rng, {"by": by}
        ops = self.draw_definitions(by)
        if by == "h5py":
            made["libver"] = rng.choice(["earliest", "latest", "v108"])
            made["track_order"] = rng.random() < 0.7
            made["scales"] = rng.random() < 0.8
            if rng.random() < 0.1 and "userblock" not in self.avoid:
                made["userblock"] = rng.choice([512, 1024])
            if rng.random() < 0.15:
                made["strategy"] = rng.choice(["fsm", "page", "aggregate", "none"])
            if not made["scales"]:
                ops = [op for op in ops if op["op"] == "def_dim" or op["spec"]["name"] not in self.dim_names(ops)]
                for op in ops:
                    if op["op"] == "def_dim" and op["len"] is None:
                        op["len"] = 6
                made["phony"] = [op["name"] for op in ops if op["op"] == "def_dim"]
                lengths = {op["name"]: op["len"] for op in ops if op["op"] == "def_dim"}
                for op in ops:
                    if op["op"] == "def_var" and op["spec"].get("chunks"):
                        op["spec"]["chunks"] = [min(c, lengths[d])
                                                for c, d in zip(op["spec"]["chunks"], op["spec"]["dims"])]
        else:
            made["format"] = "NETCDF4_CLASSIC" if rng.random() < 0.3 and self.make_classic(ops) else "NETCDF4"
        self.program["made"] = made
        self.program["classic"] = made.get("format") == "NETCDF4_CLASSIC"
        made["ops"] = ops
        if "template" in self.avoid:
            lengths = {op["name"]: op["len"] for op in ops if op["op"] == "def_dim"}
            for op in ops[:]:
                if op["op"] == "def_var" and not op["spec"].get("chunks"):
                    box = [[0] * len(op["spec"]["dims"]), [lengths[d] for d in op["spec"]["dims"]],
                           [1] * len(op["spec"]["dims"])]
                    ops.append({"op": "put", "var": op["spec"]["name"], "kind": op["spec"]["type"], "base": 1,
                                "box": box})
        for op in ops:
            self.model.apply_other(op, by)
        for _ in range(rng.choice([0, 2, 5, 12])):
            op = self.draw_other_put() if rng.random() < 0.8 else self.draw_att()
            if op is None:
                continue
            try:
                self.model.apply_other(op, by)
            except Invalid:
                continue
            ops.append(op)

    @staticmethod
    def is_unlimited(ops, dim):
        return any(op["op"] == "def_dim" and op["name"] == dim and op["len"] is None for op in ops)

    @staticmethod
    def dim_names(ops):
        return [op["name"] for op in ops if op["op"] == "def_dim"]

    def others(self):
        """Who may write in between."""
        made = self.program["made"]
        if made.get("by") != "h5py":
            return ["netcdf", "h5py"]
        return ["netcdf", "h5py"] if made["track_order"] and made["scales"] and not made.get("strategy") else ["h5py"]

    def draw(self):
        rng = self.rng
        by = rng.choice(["ours", "netcdf", "netcdf", "h5py", "h5py"])
        if by == "ours":
            self.program["made"] = {"by": "ours"}
            self.draw_ours(create=True)
        else:
            self.draw_made(by)
            self.draw_ours()
        for _ in range(rng.choice([0, 1, 2, 3])):
            if rng.random() < 0.4:
                self.draw_other(rng.choice(self.others()))
            else:
                self.draw_ours()
        if self.mode != "plain":
            self.draw_harm()
        return self.program

    def draw_harm(self):
        """What goes wrong in one session: all ranks are killed, or a write fails."""
        rng = self.rng
        sessions = [i for i, s in enumerate(self.program["sessions"]) if s["who"] == "ours"]
        session = rng.choice(sessions)
        rank = rng.choice([0, 0, rng.randrange(self.program["sessions"][session]["ranks"])])
        at = int(np.exp(rng.uniform(0, np.log(40))))
        if self.mode == "kill":
            how = rng.choice(["kill", "kill", "half", "moment"])
            harm = [how, rng.randrange(300, 30000)] if how == "moment" else [how, rank, at]
        else:
            harm = ["fail", rank, at, rng.choice([5, 28])]
        self.program["sessions"][session]["harm"] = harm


def draw_program(rng, mode, avoid=()):
    """avoid: what is known to fail: order, alloc, userblock, template."""
    while True:
        try:
            return Drawer(rng, mode, avoid).draw()
        except Invalid:
            pass


__all__ = ["draw_program", "is_filtered", "size_of", "os"]
