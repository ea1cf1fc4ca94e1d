"""Carries out a program of netcdf4_draw.py on a file, compares all that is read with netcdf4_model.py, and drops calls
while it still fails in the same way."""
import copy
import json
import os
import re
import shutil
import subprocess
import time

import numpy as np

import netcdf4_harm
import netcdf4_peers as peers
from netcdf4_model import KNOWN, NEVER, Invalid, Model, compare
from netcdf4_scripts import Script, describe, parse_all, read_logs, run_binary


class Refused(Invalid):
    """Another program does not make the file."""


class Failure(Exception):
    """signature: what failures of one kind share."""

    def __init__(self, signature, text):
        super().__init__(text)
        self.signature, self.text = signature, text


def tell_values(found, expected, at):
    """What is there instead of one value, for signatures: the fill value, zero, an older or another value."""
    values, state, fills = expected
    value = found[at]
    if state[at] == NEVER:
        return "written where nothing was"
    if fills and any(value == np.array(f).astype(values.dtype) for f in fills):
        return "fill value"
    return "zero" if value == 0 else "other value"


class Run:
    """One program on one file."""

    def __init__(self, program, folder, keep=bool(os.environ.get("PNC_TEST_KEEP"))):
        self.program, self.folder, self.keep = program, folder, keep
        self.path = os.path.join(folder, "program.nc")
        self.model = Model()
        self.step = ""
        self.ended = False  # killed before there was a file

    def fail(self, signature, text):
        raise Failure(f"{signature}", f"{self.step}: {text}")

    def compare_values(self, where, var, found, expected, dims=None):
        wrong = compare(found, expected)
        if wrong is None:
            self.fail(f"{where}: number of values: {describe(var.spec)}",
                      f"{var.spec['name']}: {len(found)} values, expected {len(expected[0])}")
        if len(wrong):
            what = tell_values(found, expected, wrong[0])
            rows = [f"[{i}] {found[i]} expected " + (str(expected[0][i]) if expected[1][i] == KNOWN else
                                                     f"fill {expected[2]}") for i in wrong[:6]]
            shape = "" if dims is None else f" of shape {dims}"
            self.fail(f"{where}: {what}: {describe(var.spec)}",
                      f"{var.spec['name']}{shape}: {len(wrong)} of {len(found)} wrong: " + ", ".join(rows))

    # --- our library ---

    def write_script(self, session):
        script = Script()
        script.add(f"ranks {session['ranks']}")
        for name, value in session["hints"].items():
            script.add(f"hint {name} {value}")
        if session.get("create"):
            script.add(f"create {0x100 if session.get('classic') else 0}")
        else:
            script.add("open 1")
        self.model.begin_session(session)
        for op in session["ops"]:
            self.model.apply(op, op["n"])
            script.add_op(op, self.model)
        self.model.end_session()
        self.close_number = script.add("close")
        path = os.path.join(self.folder, "calls.txt")
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(script.lines) + "\n")
        return path

    def find_op(self, session, number):
        for op in session["ops"]:
            if op.get("n") == number:
                return op
        return {"op": "close" if number == self.close_number else "open"}

    def run_ours(self, session):
        before, log = copy.deepcopy(self.model), os.path.join(self.folder, "log")
        calls = self.write_script(session)
        status, out, err = run_binary(session["ranks"], self.path, calls, log, *session.get("harm", []),
                                      nodes=session.get("nodes", 1))
        if self.keep:
            self.keep_files(log, err)
        logs = read_logs(log, session["ranks"])
        if session.get("harm"):
            netcdf4_harm.check_session(self, session, before, status, err, logs)
            return
        for (number, rank), code in logs[0].items():
            if code != "0":
                op = self.find_op(session, number)["op"]
                message = re.sub(r"\d+", "N", (re.findall(rf"call {number}, rank \d+, \w+: (.*)", err) or [""])[0])
                self.fail(f"ours: {op}: {code}: {message[-60:]}", f"call {number} on rank {rank}: {code}\n{err[:1500]}")
        if status != 0:
            self.fail(f"ours: ends with {status}", f"{out[-1000:]}{err[-1500:]}")
        self.check_gets(session, logs[1], "ours: get")

    def keep_files(self, log, err):
        """Of a session: what rank 0 has logged, what the ranks have printed, and the file after it."""
        number = re.sub(r"\D", "", self.step)
        shutil.copy(log + ".0", f"{self.path}.log{number}")
        with open(f"{self.path}.err{number}", "w", encoding="utf-8") as file:
            file.write(err)
        if os.path.exists(self.path):
            shutil.copy(self.path, f"{self.path}.after{number}")

    def check_gets(self, session, values, where):
        for op in session["ops"]:
            if op["op"] not in ("get", "length"):
                continue
            ranks = range(session["ranks"]) if op["op"] == "length" else map(int, op["parts"])
            for rank in ranks:
                expected = self.model.expected[op["n"], rank]
                if (op["n"], rank) not in values:
                    self.fail(f"{where}: nothing", f"call {op['n']} on rank {rank} has not read")
                if op["op"] == "length":
                    found = int(values[op["n"], rank][0])
                    if found != expected[0][0]:
                        self.fail(f"{where}: length", f"call {op['n']} on rank {rank}: {op['dim']} has length {found}, "
                                  f"expected {expected[0][0]}")
                    continue
                var = self.model.vars[op["var"]]
                found = parse_all(values[op["n"], rank], expected[0].dtype)
                self.compare_values(f"{where} {op['mode']}", var, found, expected)

    # --- all sessions ---

    def run(self):
        program = self.program
        for name in os.listdir(self.folder):
            if name.startswith(("program.nc", "log.")):
                os.unlink(os.path.join(self.folder, name))
        if program["made"]["by"] != "ours":
            self.make(program["made"])
        was_harmed = False
        for i, session in enumerate(program["sessions"]):
            self.step = f"session {i} ({session['who']})"
            if was_harmed:
                session = {**session, "ops": self.possible_ops(session)}
            was_harmed = was_harmed or "harm" in session
            if session["who"] == "ours":
                self.run_ours(session)
            else:
                self.run_other(session)
            if self.ended:
                return
        self.step = "at the end"
        self.check_all()

    def possible_ops(self, session):
        """Without calls that need what a session before has lost."""
        model, ops, is_ours = copy.deepcopy(self.model), [], session["who"] == "ours"
        if is_ours:
            model.begin_session(session)
        rest = [{"op": "wait", "mode": mode, "parts": {r: None for r in range(session.get("ranks", 0))},
                 "n": 900000 + i} for i, mode in enumerate("ic")]
        for op in session["ops"] + (rest[:1] + [{"op": "end", "n": 900002}] + rest[1:] if is_ours else []):
            before = copy.deepcopy(model)
            try:
                if is_ours:
                    model.apply(op, op["n"])
                else:
                    model.apply_other(op, session["who"])
                ops.append(op)
            except Invalid:
                model = before
        return ops

    def make(self, made):
        self.step = f"made by {made['by']}"
        for op in made["ops"]:
            self.model.apply_other(op, made["by"])
        function = peers.make_by_netcdf if made["by"] == "netcdf" else peers.make_by_h5py
        _, why = peers.call(function, self.path, made)
        if why:
            raise Refused(f"{made['by']} does not make the file: {why}")

    def run_other(self, session):
        for op in session["ops"]:
            self.model.apply_other(op, session["who"])
        if session["who"] == "netcdf":
            _, why = peers.call(peers.change_by_netcdf, self.path, session["ops"])
        else:
            _, why = peers.call(peers.change_by_h5py, self.path, session["ops"], dict(self.model.dims))
        if why:
            self.fail(f"{session['who']} writes: {re.sub(r'[0-9]+', 'N', why)[:80]}", why)

    def whole(self, var):
        box = [[0] * len(var.dims), self.model.shape(var), [1] * len(var.dims)]
        return box

    def check_all(self):
        self.check_by_ours()
        self.check_by_netcdf()
        self.check_by_h5py()
        self.check_by_tools()

    def check_by_ours(self, most=4):
        """Every variable is read on 1 to 4 ranks: collectively, each rank its part; and each rank all of it."""
        script, wanted = Script(), []
        for ranks in range(1, most + 1):
            script.add(f"ranks {ranks}")
            script.add("open 0")
            for name, var in self.model.vars.items():
                mem = var.kind
                start, count, _ = self.whole(var)
                number = script.next
                script.next += 1
                for rank in range(ranks):
                    s, c = list(start), list(count)
                    if s:
                        s[0], c[0] = count[0] * rank // ranks, count[0] * (rank + 1) // ranks - count[0] * rank // ranks
                    box = [s, c, [1] * len(s)]
                    words = " ".join(map(str, s + c))
                    script.add(f"get {name} {mem} c vara {len(s)} 1 {words}", number, rank)
                    wanted.append((number, rank, var, box))
            script.add("begin")
            for name, var in self.model.vars.items():
                number = script.next
                script.next += 1
                box = self.whole(var)
                words = " ".join(map(str, box[0] + box[1]))
                for rank in range(ranks):
                    script.add(f"get {name} {var.kind} i vara {len(box[0])} 1 {words}", number, rank)
                    wanted.append((number, rank, var, box))
            script.add("close")
        path, log = os.path.join(self.folder, "calls.txt"), os.path.join(self.folder, "log")
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(script.lines) + "\n")
        status, out, err = run_binary(most, self.path, path, log)
        codes, values, _, _ = read_logs(log, most)
        bad = [(number, code) for (number, _), code in sorted(codes.items()) if code != "0"]
        if bad:
            names = {number: var for number, _, var, _ in wanted}
            var = names.get(bad[0][0])
            self.fail(f"ours reads: {bad[0][1]}: {describe(var.spec) if var else 'the file'}",
                      f"{var.spec['name'] if var else ''} {err[:1500]}")
        if status != 0:
            self.fail(f"ours reads: ends with {status}", f"{out[-500:]}{err[-1500:]}")
        for number, rank, var, box in wanted:
            expected = self.model.collect(var, [box])
            found = parse_all(values.get((number, rank), []), expected[0].dtype)
            self.compare_values("ours reads", var, found, expected, box[1])

    def check_by_netcdf(self):
        found, why = peers.call(peers.read_by_netcdf, self.path)
        if why:
            self.fail(f"netCDF-C reads: {why[:60]}", why)
        for name, var in self.model.vars.items():
            if name not in found["vars"]:
                self.fail("netCDF-C reads: a variable is missing", name)
            shape = self.model.shape(var)
            if list(found["lengths"][name]) != shape:
                self.fail(f"netCDF-C reads: shape: {describe(var.spec)}",
                          f"{name}: {found['lengths'][name]}, expected {shape}")
            self.compare_stored("netCDF-C", name, var, found["vars"][name].astype(var.values.dtype))
            self.check_atts(name, var.atts, found["var_atts"][name])
        self.check_atts("global", self.model.atts, found["atts"])

    def check_atts(self, name, wanted, found):
        for att, value in wanted.items():
            there = found.get(att)
            there = there if isinstance(there, str) or there is None else \
                there.decode() if isinstance(there, bytes) else list(np.atleast_1d(there))
            if there != value:
                self.fail("netCDF-C reads: attribute", f"{name}:{att} is {there}, expected {value}")

    def check_by_h5py(self):
        found, why = peers.call(peers.read_by_h5py, self.path)
        if why:
            self.fail(f"h5py reads: {why[:60]}", why)
        for name, var in self.model.vars.items():
            stored = name if name in found["vars"] else "_nc4_non_coord_" + name
            if stored not in found["vars"]:
                self.fail("h5py reads: a variable is missing", name)
            self.compare_stored("h5py", name, var, found["vars"][stored].astype(var.values.dtype))

    def compare_stored(self, who, name, var, values):
        """The values of a dataset, which may be shorter than its unlimited dimensions."""
        shape = self.model.shape(var)
        expected = self.model.collect(var, [self.whole(var)])
        grid = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
        inside = grid[tuple(slice(0, n) for n in values.shape)].ravel()
        if any(n < e for n, e in zip(values.shape, var.extent)):
            self.fail(f"{who} reads: shape: {describe(var.spec)}",
                      f"{name}: {values.shape}, but {var.extent} was written")
        at = tuple(slice(0, n) for n in shape)
        self.compare_values(f"{who} reads", var, values[at].ravel(), (expected[0][inside], expected[1][inside],
                                                                      expected[2]), values.shape)

    def check_by_tools(self):
        lzf = any(var.spec.get("lzf") for var in self.model.vars.values())
        for command in (["ncdump", self.path], ["h5dump", "-H", self.path]):
            if shutil.which(command[0]) is None or (lzf and command[0] == "ncdump"):
                continue
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                                  errors="replace")
            if done.returncode != 0 or done.stderr:
                self.fail(f"{command[0]} complains", done.stderr[:300])


# --- failures ---

def try_program(program, folder):
    """The Failure, or None."""
    os.makedirs(folder, exist_ok=True)
    try:
        Run(program, folder).run()
    except Failure as failure:
        return failure
    return None


def still_fails(program, folder, signature):
    try:
        failure = try_program(copy.deepcopy(program), folder)
    except (Invalid, KeyError):
        return False
    return failure is not None and failure.signature == signature


def lists_of(program):
    if program["made"]["by"] != "ours":
        yield program["made"]["ops"]
    for session in program["sessions"]:
        yield session["ops"]


def without_var(program, name):
    """All that concerns a variable."""
    other = copy.deepcopy(program)
    for ops in lists_of(other):
        ops[:] = [op for op in ops if op.get("var") != name and op.get("spec", {}).get("name") != name]
    return other


def simpler(program):
    """Programs that are a little smaller."""
    for i in reversed(range(len(program["sessions"]))):
        if not program["sessions"][i].get("create"):
            other = copy.deepcopy(program)
            del other["sessions"][i]
            yield other
    names = [op["spec"]["name"] for ops in lists_of(program) for op in ops if op["op"] == "def_var"]
    for name in names:
        yield without_var(program, name)
    for i in range(len(program["sessions"])):
        for ranks in range(1, program["sessions"][i].get("ranks", 1)):
            other = copy.deepcopy(program)
            session = other["sessions"][i]
            session["ranks"] = ranks
            for op in session["ops"]:
                if "parts" in op:
                    op["parts"] = {r: b for r, b in op["parts"].items() if int(r) < ranks}
            session["ops"] = [op for op in session["ops"] if op.get("parts", True)]
            yield other
    for which, ops in enumerate(lists_of(program)):
        size = len(ops)
        while size >= 1:
            for first in range(0, len(ops), size):
                other = copy.deepcopy(program)
                del list(lists_of(other))[which][first:first + size]
                yield other
            size //= 2
    yield from simpler_ops(program)


def simpler_ops(program):
    for which, ops in enumerate(lists_of(program)):
        for i, op in enumerate(ops):
            for name in ("shuffle", "deflate", "fletcher32", "szip", "fill", "big", "alloc", "fill_time", "fill_att"):
                if op["op"] == "def_var" and op["spec"].get(name):
                    other = copy.deepcopy(program)
                    del list(lists_of(other))[which][i]["spec"][name]
                    yield other
            if op.get("shape") in ("vars", "varm", "varn", "mvara") and all(
                    len(boxes) == 1 and set(boxes[0][2]) <= {1} for boxes in op["parts"].values()):
                other = copy.deepcopy(program)
                list(lists_of(other))[which][i]["shape"] = "vara"
                yield other
            if "parts" in op and op["op"] in ("put", "get"):
                for rank, boxes in op["parts"].items():
                    if any(0 not in box[1] for box in boxes) and len(op["parts"]) > 1 and op["shape"] != "var1":
                        other = copy.deepcopy(program)
                        n = len(boxes[0][0])
                        list(lists_of(other))[which][i]["parts"][rank] = [[[0] * n, [0] * n, [1] * n]] \
                            if op["shape"] not in ("varn", "mvara") else []
                        if n:
                            yield other


def shrink(program, folder, signature, seconds=120):
    """The smallest program found that fails in the same way."""
    end, changed = time.time() + seconds, True
    while changed and time.time() < end:
        changed = False
        for other in simpler(program):
            if time.time() > end:
                break
            if still_fails(other, folder, signature):
                program, changed = other, True
                break
    return program


def show(program):
    """The program as text, a line for each call."""
    made = {k: v for k, v in program["made"].items() if k != "ops"}
    lines = [f"made {json.dumps(made)}"]
    lines += ["    " + show_op(op) for op in program["made"].get("ops", [])]
    for session in program["sessions"]:
        lines.append(" ".join(f"{k}={v}" for k, v in session.items() if k != "ops"))
        lines += ["    " + show_op(op) for op in session["ops"]]
    return "\n".join(lines)


def show_op(op):
    if op["op"] == "def_var":
        spec = op["spec"]
        rest = " ".join(f"{k}={v}" for k, v in spec.items() if k not in ("name", "type", "dims", "by"))
        return f"def_var {spec['type']} {spec['name']}({', '.join(spec['dims'])}) {rest}"
    words = [f"{op['n']}:" if "n" in op else "", op["op"], op.get("var") or op.get("name") or ""]
    words += [str(op.get(k, "")) for k in ("mode", "shape", "mem", "len", "dim")]
    if "box" in op:
        words.append(f"start {op['box'][0]} count {op['box'][1]} stride {op['box'][2]}")
    for rank, boxes in op.get("parts", {}).items():
        words.append(f"rank {rank}: " + (str(boxes) if op["op"] == "wait" else
                                         "; ".join(f"{s}+{c}" + (f" by {t}" if set(t) > {1} or set(t) - {1} else "")
                                                   for s, c, t in boxes)) + ",")
    if op["op"] == "att":
        words.append(str(op["value"])[:40])
    return " ".join(word for word in words if word)
