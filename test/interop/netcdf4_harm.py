"""What a session that was killed, or in which one write failed, may leave. Killed: every variable has its values of the
last ncmpi_sync, ncmpi_enddef or ncmpi_close that ended, or later ones, element by element; a chunk with filters has all
values of one moment. A failed write: a call returns the error; if the session's close succeeds nothing is lost but, at
most, what calls put that returned an error; else the file is like one of a program that was killed."""
import copy
import fcntl
import os
import time

import numpy as np

import netcdf4_peers as peers
from netcdf4_model import KNOWN, NEVER, UNKNOWN, is_filtered
from netcdf4_scripts import describe, read_logs, run_binary

COMMITS = ("sync", "enddef", "close", "open")
OPEN, CLOSE = -1, 10**9
COUNTS = {}  # how often what happened


class Moment:
    """The dataset after a call."""

    def __init__(self, model, op):
        self.op = op
        self.vars = {name: (var.values.copy(), var.state.copy()) for name, var in model.vars.items()}
        self.length = dict(model.length)
        self.atts = {None: dict(model.atts), **{name: dict(var.atts) for name, var in model.vars.items()}}


def is_collective(op):
    return op["op"] not in ("put", "get", "wait") or op.get("mode") == "c"


def play(run, session, before, codes):
    """Moments from the beginning to the end of the session; and for each element of a variable whether a call that
    returned an error put it, and what was there before; under None, variables that it defined. `before` becomes the
    model after it."""
    before.begin_session(session)
    moments = [Moment(before, {"op": "open", "n": OPEN})]
    doubtful = {None: []}
    posted = set()
    for op in session["ops"]:
        failed = any(codes.get((op["n"], rank), "0") != "0" for rank in range(session["ranks"]))
        if op["op"] == "put" and op["mode"] in "nb" and failed:
            posted.add(op["n"])
        if op["op"] == "def_var" and failed:
            doubtful[None].append(op["spec"]["name"])
        requests = {r[0] for rs in before.requests.values() for r in rs}
        before.apply(op, op["n"])
        moments.append(Moment(before, op))
        if op["op"] in ("put", "wait"):
            done = requests - {r[0] for rs in before.requests.values() for r in rs}
            note_doubts(doubtful, moments, failed or bool(done & posted))
    before.end_session()
    moments.append(Moment(before, {"op": "close", "n": CLOSE}))
    return moments, doubtful


def note_doubts(doubtful, moments, failed):
    """The elements that the last call changed."""
    for name, (values, state) in moments[-1].vars.items():
        if name not in moments[-2].vars:
            continue
        old, old_state = moments[-2].vars[name]
        changed = (values != old) | (state != old_state)
        mask, olds = doubtful.setdefault(name, (np.zeros(values.shape, bool), []))
        mask[changed] = failed
        if failed:
            olds.append((old, old_state))


def matches(var, found, there, candidate):
    """Elements that are as in a candidate; there: those that the file has."""
    values, state = candidate
    good = (state == KNOWN) & (found == values) & there
    good |= state == UNKNOWN
    if var.fills is None:
        good |= state == NEVER
    else:
        good |= (state == NEVER) & ~there
        for fill in var.fills:
            good |= (state == NEVER) & (found == np.array(fill).astype(found.dtype))
    return good


def spread(var, values):
    """What was found, in an array of the model's shape, and which elements were found."""
    found, there = np.zeros(var.values.shape, var.values.dtype), np.zeros(var.values.shape, bool)
    at = tuple(slice(0, n) for n in values.shape)
    inside = tuple(slice(0, n) for n in found.shape)
    found[at], there[at] = values[inside].astype(found.dtype), True
    return found, there


def chunks_of(var):
    sizes, shape = var.spec["chunks"], var.values.shape
    for corner in np.ndindex(*[-(-n // c) for n, c in zip(shape, sizes)]):
        yield tuple(slice(i * c, min(n, (i + 1) * c)) for i, c, n in zip(corner, sizes, shape))


def check_chunks(run, name, var, found, there, candidates, label):
    """Each chunk with filters is that of one of these moments."""
    if not is_filtered(var.spec):
        return
    good = [matches(var, found, there, c.vars[name]) for c in candidates if name in c.vars]
    for at in chunks_of(var):
        if not any(g[at].all() for g in good):
            run.fail(f"{label}: a chunk is a mixture: filtered by {var.spec['by']}", f"{name}{at}: {found[at].ravel()}")


def count(what):
    COUNTS[what] = COUNTS.get(what, 0) + 1


def find_codes(codes, ranks, n):
    return {codes.get((n, rank)) for rank in range(ranks)}


def check_session(run, session, before, status, err, logs):
    """Check what a session with harm has left, and adopt it."""
    codes, values, begun, _ = logs
    start = copy.deepcopy(before) if not session.get("create") else None
    ranks = session["ranks"]
    lived = run.close_number in {n for n, _ in codes}
    real = {(CLOSE if n == run.close_number else OPEN if n == 1000001 + len(session["hints"]) else n, rank): code
            for (n, rank), code in codes.items()}
    began = {CLOSE if n == run.close_number else n for n, _ in begun}
    if session["harm"][0] == "fail" and (status != 0 or not lived):
        run.fail(f"failed write: ends with {status}", err[-1500:])
    moments, doubtful = play(run, session, before, real)
    good, last = 0, 0
    for i, moment in enumerate(moments):
        if moment.op["n"] in began or moment.op["n"] == OPEN:
            last = i
        done = find_codes(real, ranks, moment.op["n"])
        if moment.op["op"] in COMMITS and moment.op["n"] != OPEN and None not in done and done == {"0"}:
            good = i
    if session["harm"][0] != "fail" and lived and status == 0:
        good = last
    label = ("killed" if session["harm"][0] != "fail" else "failed write") + (" (new file)" if start is None else "")
    if session.get("create") and good == 0:
        run.ended = True
        return
    errors = [(n, rank, code) for (n, rank), code in real.items() if code != "0"]
    if label.startswith("killed") and errors and lived:
        run.fail(f"killed: {errors[0][2]}", err[:1000])
    effect = "close succeeds" if good == len(moments) - 1 else "close fails or is not reached"
    count(f"{session['harm'][0]}: {'of no effect' if not errors and status == 0 else effect}")
    if label.startswith("failed"):
        check_reads(run, session, real, values, errors)
    if os.path.exists(run.path):
        spaces = {} if start is None else {name: var.has_space for name, var in start.vars.items()}
        judge(run, before, moments[good:last + 1], doubtful, label, spaces)
    elif good > 0 or start is not None:
        run.fail(f"{label}: no file", "")


def check_reads(run, session, codes, values, errors):
    """Before the first error all that was read is right."""
    first = min([n for n, _, _ in errors if 0 <= n < 10**6] + [10**6])
    waits = max([op["n"] for op in session["ops"] if op["op"] == "wait"] + [0])
    ops = [op for op in session["ops"] if op["op"] == "get" and op["n"] < first and
           (op["mode"] != "n" or waits < first) and all((op["n"], int(rank)) in values for rank in op["parts"])]
    run.check_gets({**session, "ops": ops}, values, "failed write: get before it")


def wait_for_end(path):
    """mpiexec may end before the ranks that were killed, which until then hold the locks of the file."""
    with open(path, "rb") as file:
        for _ in range(2000):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                time.sleep(0.01)


def judge(run, model, candidates, doubtful, label, spaces):
    wait_for_end(run.path)
    found, why = peers.call(peers.read_by_netcdf, run.path)
    count(f"{label}, as left: {'refused by netCDF-C' if why else 'read'}")
    if not why:
        compare_with(run, model, found, candidates, doubtful, label + ", as left")
    calls = os.path.join(run.folder, "calls.txt")
    with open(calls, "w", encoding="ascii") as file:
        file.write("1 * ranks 2\n2 * open 1\n3 * close\n")
    log = os.path.join(run.folder, "log")
    status, _, err = run_binary(2, run.path, calls, log)
    codes = read_logs(log, 2)[0]
    bad = sorted({code for code in codes.values() if code != "0"})
    if status != 0 or bad:
        run.fail(f"{label}: the next open for writing: {bad or status}", err[:1000])
    found, why = peers.call(peers.read_by_netcdf, run.path)
    if why:
        run.fail(f"{label}: netCDF-C refuses the file: {why[:60]}", why)
    compare_with(run, model, found, candidates, doubtful, label)
    adopt(run, model, found, candidates)
    for name, var in model.vars.items():  # a put may have given it space, or not
        var.has_space = spaces.get(name, var.has_space)


def needed_lengths(model, first, doubtful):
    """Of unlimited dimensions: those of the values that must be there."""
    lengths = {}
    for name, (_, state) in first.vars.items():
        sure = state != NEVER
        if name in doubtful:
            sure &= ~doubtful[name][0]
        for axis, d in enumerate(model.vars[name].dims):
            if d in first.length and sure.any():
                end = int(np.argwhere(sure)[:, axis].max()) + 1
                lengths[d] = max(lengths.get(d, 0), end)
    return lengths


def compare_with(run, model, found, candidates, doubtful, label):
    first = candidates[0]
    for name, n in needed_lengths(model, first, doubtful).items():
        if found["dims"].get(name, -1) < n and any(name in model.vars[v].dims for v in first.vars):
            run.fail(f"{label}: length", f"{name} has length {found['dims'].get(name)}, {n} after the last sync")
    for name in first.vars:
        var = model.vars[name]
        if name not in found["vars"] and name in doubtful[None]:
            continue
        if name not in found["vars"]:
            run.fail(f"{label}: a variable is missing", name)
        values, there = spread(var, found["vars"][name])
        good = np.zeros(values.shape, bool)
        for candidate in candidates:
            good |= matches(var, values, there, candidate.vars[name])
        mask, olds = doubtful.get(name, (None, []))
        for old in olds:
            good |= mask & matches(var, values, there, old)
        if not good.all():
            bad = np.argwhere(~good)
            at = tuple(bad[0])
            what = "missing" if not there[at] else "fill value" if var.fills and values[at] in \
                [np.array(f).astype(values.dtype) for f in var.fills] else "zero" if values[at] == 0 else "other value"
            expected = sorted({c.vars[name][0][at].item() if c.vars[name][1][at] else f"fill {var.fills}"
                               for c in candidates}, key=str)
            run.fail(f"{label}: {what}: {describe(var.spec)}",
                     f"{name}: {len(bad)} elements, first {list(map(int, at))} is {values[at]}, expected {expected}")
        if not (mask is not None and mask.any()):
            check_chunks(run, name, var, values, there, [c for c in candidates if is_collective(c.op)] + candidates[:1],
                         label)


def adopt(run, model, found, candidates):
    """The model becomes what the file has."""
    for name in list(model.vars):
        var = model.vars[name]
        if name not in found["vars"]:
            del model.vars[name]
            continue
        values, there = spread(var, found["vars"][name])
        old_state = candidates[0].vars[name][1] if name in candidates[0].vars else np.zeros_like(var.state)
        fills = var.fills or []
        is_fill = np.zeros(values.shape, bool)
        for fill in fills:
            is_fill |= values == np.array(fill).astype(values.dtype)
        state = np.where(there, KNOWN, NEVER).astype(np.uint8)
        state[(old_state == NEVER) & is_fill] = NEVER
        if var.fills is None:
            put = np.zeros(values.shape, bool)
            for candidate in candidates:
                if name in candidate.vars:
                    put |= (candidate.vars[name][1] == KNOWN) & (candidate.vars[name][0] == values)
            state[(old_state == NEVER) & ~put] = NEVER
        state[(old_state == UNKNOWN) | (var.state == UNKNOWN)] = UNKNOWN
        if not is_filtered(var.spec) and any(name in c.vars and (c.vars[name][1] != NEVER)[~there].any()
                                             for c in candidates):
            var.fills = None  # a chunk has values of records that the file lacks: they may become part of it again
        var.values, var.state = values, state
        var.extent = [min(e, n) for e, n in zip(var.extent, found["vars"][name].shape)]
        var.atts = {k: v for k, v in plain(found["var_atts"][name]).items() if k in var.atts}
    for name in list(model.dims):
        if name not in found["dims"] and name not in run.program["made"].get("phony", []):
            del model.dims[name]
            model.length.pop(name, None)
        elif name in model.length:
            model.length[name] = found["dims"][name]
    model.atts = {k: v for k, v in plain(found["atts"]).items() if k in model.atts}
    run.model = model


def plain(atts):
    return {name: value if isinstance(value, str) else list(np.atleast_1d(value)) for name, value in atts.items()}
