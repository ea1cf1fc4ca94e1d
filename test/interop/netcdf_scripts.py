"""Random calls of netCDF for test/interop/netcdf_program.c: a script, whose results do not depend on the number of
ranks. One call in some is wrong: both must return the same code."""
import random

NC_BYTE, NC_CHAR, NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE = range(1, 7)
NC_INT64, NC_UINT64, NC_STRING = 10, 11, 12
FORMATS = {"netcdf4": 0x1000, "groups": 0x1000, "classic_model": 0x1100, "cdf1": 0, "cdf2": 0x200, "cdf5": 0x20}
UNLIMITED = 0
MEMORY = [NC_BYTE, NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE, NC_INT64]


class Script:
    def __init__(self, seed, kind, ranks):
        self.r = random.Random(seed)
        self.kind, self.ranks = kind, ranks
        self.lines = []
        self.dims, self.vars, self.atts = [], [], {}
        self.groups, self.used = ["/"], 0  # paths, and the one of the calls
        self.is_netcdf4 = kind in ("netcdf4", "groups", "classic_model")
        self.is_strict = kind not in ("netcdf4", "groups")
        self.defines = True
        self.names = 0
        self.unseen = False  # independent puts that other ranks may not see

    def add(self, *words):
        self.lines.append(" ".join(str(word) for word in words))

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def use(self, group):
        if group != self.used:
            self.add("use", self.groups[group])
        self.used = group

    def is_above(self, upper, group):
        return upper == 0 or (self.groups[group] + "/").startswith(self.groups[upper] + "/")

    def new_name(self, stem, group):
        """In groups there are the same names."""
        if self.kind != "groups":
            return self.name(stem)
        known = {e["name"] for e in self.dims + self.vars if e["group"] == group}
        i = 1
        while f"{stem}{i}" in known:
            i += 1
        return f"{stem}{i}"

    def types(self):
        if self.kind in ("netcdf4", "groups", "cdf5"):
            return list(range(NC_BYTE, NC_UINT64 + 1))
        return [NC_BYTE, NC_CHAR, NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE]

    # --- definitions ---

    def define_begin(self):
        if not self.defines and (self.is_strict or self.r.random() < 0.5):
            self.show_all()
            self.add("redef")
        self.defines = True

    def define_end(self, is_collective):
        """The first access ends define mode, if all ranks make it."""
        if self.defines and (self.is_strict or not is_collective or self.r.random() < 0.5):
            self.add("enddef")
        self.defines = False

    def def_dim(self):
        self.define_begin()
        group = self.r.randrange(len(self.groups))
        unlimited = [d for d in self.dims if d["unlimited"]]
        can = not unlimited or (not self.is_strict and len(unlimited) < 2)
        is_unlimited = can and self.r.random() < 0.3
        length = UNLIMITED if is_unlimited else self.r.randint(1, 9)
        name = self.new_name("d", group)
        self.use(group)
        self.add("def_dim", name, length)
        self.dims.append({"name": name, "group": group, "length": length, "unlimited": is_unlimited})

    def def_grp(self):
        self.define_begin()
        parent = self.r.randrange(len(self.groups))
        name = self.name("g")
        self.use(parent)
        self.add("def_grp", name)
        self.groups.append(self.groups[parent].rstrip("/") + "/" + name)

    def def_var(self):
        self.define_begin()
        group = self.r.randrange(len(self.groups))
        seen = [i for i, d in enumerate(self.dims) if self.is_above(d["group"], group)]
        fixed = [i for i in seen if not self.dims[i]["unlimited"]]
        growing = [i for i in seen if self.dims[i]["unlimited"]]
        dimids = [self.r.choice(fixed) for _ in range(self.r.randint(0, min(3, len(fixed))))] if fixed else []
        if growing and self.r.random() < 0.5 and self.may_grow():
            dimids.insert(0, self.r.choice(growing))
        name, kind = self.new_name("v", group), self.r.choice(self.types())
        number = sum(var["group"] == group for var in self.vars)
        self.use(group)
        self.add("def_var", name, kind, len(dimids), *dimids)
        var = {"name": name, "group": group, "number": number, "type": kind, "dims": dimids, "filters": False,
               "chunked": self.is_netcdf4 and any(self.dims[d]["unlimited"] for d in dimids), "collective": False,
               "lengths": {}}  # of unlimited dimensions, as far as the variable itself was put
        self.vars.append(var)
        if self.is_netcdf4 and dimids:
            self.storage(number, var)
        if self.r.random() < 0.3:
            var["collective"] = self.r.random() < 0.8
            self.add("access", number, int(var["collective"]))

    def may_grow(self):
        """On several ranks, records of a classic file that no call puts have no fill values: one variable has records,
        which are put as a whole."""
        return not self.is_whole() or not any(self.dims[var["dims"][0]]["unlimited"]
                                              for var in self.vars if var["dims"])

    def is_whole(self):
        return self.ranks > 1 and not self.is_netcdf4

    def storage(self, varid, var):
        if self.r.random() < 0.5:
            lengths = [self.r.randint(1, 4 if self.dims[d]["unlimited"] else self.dims[d]["length"])
                       for d in var["dims"]]
            self.add("chunking", varid, 0, *lengths)
            var["chunked"] = True
            if self.r.random() < 0.6:
                self.add("deflate", varid, self.r.randint(0, 1), 1, self.r.randint(1, 9))
                var["filters"] = True
            if self.r.random() < 0.2:
                self.add("fletcher32", varid, 1)
                var["filters"] = True
        if var["filters"]:
            var["collective"] = True
        if var["type"] != NC_CHAR and self.r.random() < 0.2:
            self.add("endian", varid, 1) # netCDF-C 4.9.0 swaps bytes of others when the file is opened again

    def attribute(self):
        if self.is_strict:
            self.define_begin()
        group, varid = self.r.choice([(group, -1) for group in range(len(self.groups))] +
                                     [(var["group"], var["number"]) for var in self.vars])
        self.use(group)
        known = self.atts.setdefault((group, varid), [])
        kind = self.r.choice(self.types())
        memory = NC_CHAR if kind == NC_CHAR else self.r.choice(MEMORY)
        action = self.r.random()
        if known and action < 0.15:
            self.add("del_att", varid, known.pop(self.r.randrange(len(known))))
        elif known and action < 0.3:
            # elsewhere netCDF-C has another order when the file is opened again
            i = len(known) - 1 if self.is_netcdf4 else self.r.randrange(len(known))
            if known[i][0] == "s":
                return
            to = self.name(known[i][0])
            self.add("rename_att", varid, known[i], to)
            known[i] = to
        else:
            is_strings = not self.is_strict and self.r.random() < 0.25
            # elsewhere netCDF-C has another order when the file is opened again
            stem = "s" if is_strings else "c" if kind == NC_CHAR else "a"
            same = [name for name in (known[-1:] if self.is_netcdf4 else known) if name[0] == stem]
            name = self.name(stem) if not same or self.r.random() < 0.7 else self.r.choice(same)
            n = self.r.randint(1 if self.r.random() < .9 else 0, 9)
            if is_strings:
                self.add("satt", varid, name, int(name[1:]) % 10, self.r.randint(1, 999))
            else:
                self.add("att", varid, name, kind, n, memory, self.r.randint(1, 999))
            if name not in known:
                known.append(name)
        if not self.is_strict:
            self.defines = True

    def rename(self):
        if self.is_netcdf4:
            return # netCDF-C 4.9.0 fails (NC_EHDFERR), or cannot read the file
        self.define_begin()
        if self.vars and self.r.random() < 0.5:
            i = self.r.randrange(len(self.vars))
            self.vars[i]["name"] = self.name("w")
            self.add("rename_var", i, self.vars[i]["name"])
        elif self.dims:
            i = self.r.randrange(len(self.dims))
            self.dims[i]["name"] = self.name("e")
            self.add("rename_dim", i, self.dims[i]["name"])

    # --- access ---

    def show_all(self):
        """After it, all ranks see all values and lengths."""
        if self.unseen:
            self.add("sync")
            self.unseen = False

    def access(self, is_put):
        if not self.vars:
            return
        var = self.r.choice(self.vars)
        start, count, stride = [], [], []
        for d in var["dims"]:
            dim = self.dims[d]
            length = dim["length"]
            most = length + 4 if dim["unlimited"] and is_put else length
            if most == 0:
                return
            first, step = self.r.randrange(most), self.r.choice([1, 1, 2, 3])
            start.append(first)
            stride.append(step)
            count.append(self.r.randint(1, (most - 1 - first) // step + 1))
        if is_put and self.is_whole() and var["dims"] and self.dims[var["dims"][0]]["unlimited"]:
            lengths = [self.dims[d]["length"] for d in var["dims"]]
            start = [lengths[0]] + [0] * (len(lengths) - 1)
            count, stride = [self.r.randint(1, 3)] + lengths[1:], [1] * len(lengths)
        kind = self.r.choice([0, 0, 1, 2])
        if kind == 2 and is_put and (sum(dim["unlimited"] for dim in self.dims) > 1 or any(
                self.dims[d]["unlimited"] and self.dims[d]["group"] != var["group"] for d in var["dims"])):
            kind = 1  # netCDF-C extends one of them only, and none of another group
        reach = [first + (n - 1) * step + 1 for first, n, step in zip(start, count, stride)]
        if not is_put and any(self.dims[d]["unlimited"] and r > var["lengths"].get(d, 0)
                              for d, r in zip(var["dims"], reach)):
            kind = 0  # there netCDF-C 4.9.0 returns fill values only, if there are strides
        if kind == 0:
            stride = [1] * len(stride)
        self.define_end(var["collective"])
        memory = NC_CHAR if var["type"] == NC_CHAR else self.r.choice(
            [var["type"], *MEMORY])
        if not var["collective"] or is_put and not var["dims"]:
            self.show_all()
        alone = -1 if var["collective"] else self.r.randrange(4)
        self.use(var["group"])
        self.add("put" if is_put else "get", kind, var["number"], memory, self.r.randint(1, 9999), alone, len(start),
                 *start, *count, *stride)
        if is_put:
            self.unseen = True
            for d, first, n, step in zip(var["dims"], start, count, stride):
                if self.dims[d]["unlimited"]:
                    var["lengths"][d] = max(var["lengths"].get(d, 0), first + (n - 1) * step + 1)
                    self.dims[d]["length"] = max(self.dims[d]["length"], first + (n - 1) * step + 1)

    def wrong(self):
        """A call that fails, and changes nothing."""
        known = [(place, name) for place, names in self.atts.items() for name in names if not self.is_strict]
        if known and self.r.random() < 0.3:
            (group, varid), name = self.r.choice(known)
            self.use(group)
            self.add("get_att", self.r.choice([NC_CHAR, NC_DOUBLE, NC_STRING]), varid, name)
            return
        calls = [("rename_dim", 99, "x"), ("rename_var", 99, "x"), ("del_att", -1, "none"),
                 ("att", 99, "a", 4, 1, 4, 1), ("rename_att", -1, "none", "other")]
        if self.vars:
            var = self.r.choice(self.vars)
            varid = var["number"]
            self.use(var["group"])
            if not self.is_strict:
                calls += [("varid", "/" + var["name"]), ("varid", "none"), ("dimid", "g1/d1"), ("ncid", "none"),
                          ("ncid", "/"), ("att", -1, "a/b", 4, 1, 4, 1)]
                if self.r.random() < 0.3:  # in data mode, define mode begins first, or does not
                    self.show_all()
                    self.add("redef")
                    self.defines = True
                    calls = [("def_grp", "a/b"), ("def_var", "a/b", 4, 0), ("def_grp", var["name"])]
            calls += [("deflate", 99, 0, 1, 1)] if self.is_netcdf4 and self.defines else []
            if self.defines:
                calls += [("def_dim", self.dims[0]["name"], 3)] if self.kind != "groups" else []
                calls += [("def_var", var["name"], 4, 0), ("def_var", "x", 99, 0),
                          ("def_var", "x", 4, 1, 99)] if self.dims else []
            else:
                fixed = [i for i, d in enumerate(var["dims"]) if not self.dims[d]["unlimited"]]
                if fixed and var["collective"] and self.ranks == 1:
                    start, count = [0] * len(var["dims"]), [1] * len(var["dims"])
                    start[fixed[0]] = self.dims[var["dims"][fixed[0]]]["length"] + 1
                    calls.append(("put", 0, varid, var["type"], 1, -1, len(start), *start, *count,
                                  *([1] * len(start))))
                if self.is_strict:
                    calls += [("def_dim", "y", 3), ("def_var", "y", 4, 0), ("enddef",)]
        if self.defines and self.is_strict:
            calls.append(("redef",))
        self.add(*self.r.choice(calls))

    def reopen(self):
        self.show_all()
        self.add("close")
        self.add("open", 1)
        self.used = 0
        if self.is_whole():
            self.add("set_fill", 0)
        self.defines = False
        for var in self.vars:
            var["collective"] = self.r.random() < 0.7
            self.use(var["group"])
            self.add("access", var["number"], int(var["collective"]))

    def look(self):
        self.show_all()
        if self.defines:
            self.add("enddef")
            self.defines = False
        self.use(0)
        self.add("look")

    def make(self, steps):
        self.add("create", FORMATS[self.kind])
        if not self.is_netcdf4 or self.r.random() < 0.3:
            self.add("set_fill", 0)
        for _ in range(self.r.randint(1, 4) if self.kind == "groups" else 0):
            self.def_grp()
        for _ in range(self.r.randint(1, 4)):
            self.def_dim()
        for _ in range(self.r.randint(1, 5)):
            self.def_var()
        for _ in range(steps):
            choice = self.r.random()
            if choice < 0.05:
                self.def_dim()
            elif choice < 0.06 and self.kind == "groups":
                self.def_grp()
            elif choice < 0.12:
                self.def_var()
            elif choice < 0.22:
                self.attribute()
            elif choice < 0.27:
                self.rename()
            elif choice < 0.6:
                self.access(True)
            elif choice < 0.87:
                self.access(False)
            elif choice < 0.92:
                self.wrong()
            elif choice < 0.95:
                self.reopen()
            else:
                self.look()
        self.look()
        self.add("close")
        self.add("open", 0)
        self.used = 0
        self.add("look")
        for var in self.vars:
            lengths = [self.dims[d]["length"] for d in var["dims"]]
            if 0 not in lengths:
                self.use(var["group"])
                self.add("get", 0, var["number"], var["type"], 1, 0, len(lengths), *[0] * len(lengths), *lengths,
                         *[1] * len(lengths))
        self.add("close")
        return self.lines
