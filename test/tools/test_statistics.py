"""PNETCDF_STATS: the counters against strace, the two formats of reports, timelines, and each rule of advice with a
program that does the bad thing and one that does not (test/mpi/test_statistics with arguments)."""
# needs: python
import collections
import glob
import html.parser
import json
import os
import re
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

PROGRAM = "test/mpi/test_statistics"
FILE = tap.scratch("statistics.nc")
RULES = {"small_writes": 2, "small_reads": 2, "small_calls": 2, "growth": 2, "holes": 1, "flushes": 1, "imbalance": 2,
         "hidden": 1, "alignment": 2}
RULES_OF_CHUNKS = {"chunks_written_again": 2, "chunks_read_again": 1, "chunks_little_used": 2, "small_chunks": 2,
                   "incompressible": 2}


def run(ranks, what, how, stats):
    os.environ["PNETCDF_STATS"] = stats
    try:
        return tap.run_mpi(ranks, PROGRAM, what, how, FILE)
    finally:
        del os.environ["PNETCDF_STATS"]


def run_json(ranks, what, how):
    """A file that exists is removed: before it is replaced, rank 0 would read its first bytes to know its format."""
    path = tap.scratch("statistics.json")
    if os.path.exists(FILE):
        os.remove(FILE)
    status, _, text = run(ranks, what, how, f"json:{path}")
    if status != 0:
        return None, text
    for name in (path, path + ".2"):  # of a file that was opened once more
        if os.path.exists(name):
            with open(name, encoding="utf-8") as file:
                report = json.load(file)
            os.remove(name)
    return report, text


# --- strace ---

def can_trace():
    """Not with a wrapper or a sanitizer in the way, and not where a container forbids it."""
    if os.environ.get("PNC_TEST_WRAPPER") or "-fsanitize" in " ".join(tap.make_variable("CFLAGS")):
        return False
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0


def count_accesses(log, counts):
    """Add the reads and writes of the file that one thread has made."""
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            access = re.match(r"p?(read|write)(?:64)?\(\d+<[^>]*statistics\.nc>, .* = (\d+)$", line)
            if access:
                counts[access[1] + "s"] += 1
                counts[access[1] + "_bytes"] += int(access[2])


def test_strace(ranks, what, how):
    prefix = tap.scratch("strace")
    counts = {"reads": 0, "read_bytes": 0, "writes": 0, "write_bytes": 0}
    os.environ["PNC_TEST_WRAPPER"] = f"strace -ff -y -o {prefix} -e trace=read,write,pread64,pwrite64"
    report, text = run_json(ranks, what, how)
    del os.environ["PNC_TEST_WRAPPER"]
    for log in glob.glob(prefix + ".*"):
        count_accesses(log, counts)
        os.remove(log)
    found = {} if report is None else {name: report["counters"][name]["sum"] for name in counts}
    tap.ok(found == counts and counts["writes"] > 0, f"{what}, {how}, {ranks} ranks: the accesses that strace counts",
           (counts, found, text))
    return {} if report is None else report["counters"]


def test_strace_rounds():
    """Aggregators of two nodes, where writes of a round and the exchange of the next one overlap."""
    os.environ.update({"MPIR_CVAR_NUM_CLIQUES": "2", "PNETCDF_HINTS": "cb_buffer_size=262144"})
    counters = test_strace(4, "columns", "good")
    del os.environ["MPIR_CVAR_NUM_CLIQUES"], os.environ["PNETCDF_HINTS"]
    tap.ok(counters and counters["rounds"]["most"] > 4, "that call has several rounds", counters)


# --- the worker ---

STEPS, STEP = 8, 1 << 17  # of the program


def count_calls(prefix):
    """Accesses that strace has seen: of the program and of other threads to the file, and of all to logs. A thread that
    a process has begun itself reads no libraries. Open MPI's file pointers are in files *.sm."""
    counts = collections.Counter()
    for log in glob.glob(prefix + ".*"):
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        os.remove(log)
        who = "program" if "\\177ELF" in text else "worker"
        for kind, path, number in re.findall(r"^p?(read|write)v?(?:64)?\(\d+<([^>]*)>, .* = (\d+)$", text, re.M):
            target = who if path.endswith("statistics.nc") else "logs"
            if "statistics.nc" in path and not path.endswith((".burst", ".sm")) and (target, number) != ("worker", "0"):
                counts[f"{target} {kind}s"] += 1
                counts[f"{target} {kind} bytes"] += int(number)
                counts[f"{target} {kind}s of {class_of(int(number))}"] += 1
    return counts


def class_of(number):
    """Of a size: its name, by the upper bounds in docs/statistics.md."""
    k, m, g = (1024 ** power for power in (1, 2, 3))
    for name, bound in (("0_100", 100), ("100_1K", k), ("1K_10K", 10 * k), ("10K_100K", 100 * k), ("100K_1M", m),
                        ("1M_4M", 4 * m), ("4M_10M", 10 * m), ("10M_100M", 100 * m), ("100M_1G", g)):
        if number <= bound:
            return name
    return "1G_more"


def test_worker(ranks, hints, how):
    """What the worker has done, against strace and the sizes of the calls."""
    prefix, logs = tap.scratch("strace"), tap.scratch("logs")
    os.makedirs(logs, exist_ok=True)
    if can_trace():
        os.environ["PNC_TEST_WRAPPER"] = (f"strace -ff -y -o {prefix} -e "
                                          "trace=read,write,pread64,pwrite64,preadv,pwritev")
    os.environ["PNETCDF_HINTS"] = "*.nc:" + hints.replace("LOGS", logs)
    report, text = run_json(ranks, "steps", how)
    os.environ.pop("PNC_TEST_WRAPPER", None)
    del os.environ["PNETCDF_HINTS"]
    s = collections.Counter() if report is None else collections.Counter({
        name: c["sum"] for name, c in report["counters"].items()
        if re.fullmatch("(behind|log|ahead)_.*|(write|read)(s|_bytes)", name)})
    what = f"{hints}, {how}, {ranks} ranks"
    bytes_put = STEPS * STEP * ranks
    tap.ok(s["behind_queued"] == s["behind_bytes"] == (0 if hints == "nc_prefetch=enable" else bytes_put) and
           s["behind_hidden"] <= s["behind_busy"], f"{what}: what is written behind the program", (s, text))
    tap.ok((s["log_size"] > 0) == (s["log_laps"] > 0) == ("burst" in hints) and
           s["log_size"] < s["log_bytes"] + 256 and
           (s["log_bytes"] > bytes_put) == ("burst" in hints), f"{what}: the logs have them", s)
    got = (STEPS if how == "good" else STEPS - 2) - 2
    tap.ok(s["ahead_used"] == ("prefetch" in hints) * got * STEP * ranks <= s["ahead_bytes"] and
           s["ahead_hidden"] <= s["ahead_busy"], f"{what}: from the third get on, values were there", s)
    found = {name: s[name] for name in ("writes", "write_bytes", "behind_writes", "behind_bytes", "log_writes",
                                        "log_bytes", "ahead_reads", "ahead_bytes", "reads", "read_bytes")}
    if not can_trace():
        tap.skip(f"{what}: accesses", "strace cannot be used here")
        return
    c = count_calls(prefix)
    if c["worker reads"] > 0:  # the worker may read behind the end, or not before the report, for a get that follows
        c["worker reads"] = min(max(c["worker reads"], s["ahead_reads"]), c["worker reads"] + ranks)
    wanted = dict(zip(found, (c["program writes"], c["program write bytes"], c["worker writes"],
                              c["worker write bytes"], c["logs writes"], c["logs write bytes"], c["worker reads"],
                              c["worker read bytes"], c["program reads"], c["program read bytes"])))
    tap.ok(found == wanted, f"{what}: the accesses that strace counts", (found, wanted))
    sizes = {name[len("behind_writes_"):]: number for name, number in s.items() if name.startswith("behind_writes_")}
    wanted = {name: c[f"worker writes of {name}"] for name in sizes}
    tap.ok(len(sizes) == 10 and sizes == wanted, f"{what}: the sizes of the worker's writes", (sizes, wanted))
    sizes = [number for name, number in s.items() if name.startswith("ahead_reads_")]
    tap.ok(len(sizes) == 10 and sum(sizes) == s["ahead_reads"], f"{what}: the sizes of the worker's reads", sizes)
    heat = [] if report is None else [sum(report["heat"][kind]) for kind in ("written", "read")]
    wanted = [sum(c[f"{who} {kind} bytes"] for who in ("program", "worker")) for kind in ("write", "read")]
    tap.ok(heat == wanted, f"{what}: the map of the file has all bytes", (heat, wanted))


def test_workers():
    for ranks in (1, 2):
        test_worker(ranks, "nc_write_behind=enable", "good")
        test_worker(ranks, "nc_burst_buf=enable:nc_burst_buf_dirname=LOGS", "good")
        test_worker(ranks, "nc_prefetch=enable", "good")
        test_worker(ranks, "nc_prefetch=enable:nc_write_behind=enable", "bad")
    os.environ["PNETCDF_HINTS"] = "*.nc:nc_burst_buf=enable:nc_prefetch=enable"
    status, _, text = run(2, "steps", "bad", "1")
    del os.environ["PNETCDF_HINTS"]
    tap.ok(status == 0 and
           re.search(r"^  behind the program: 2.0 MiB of puts; 2.0 MiB in \d+ writes, .* hidden; .*\n"
                     r"    sizes in bytes: .*\d;$", text, re.M) and
           re.search(r"^  logs: 2.0 MiB in \d+ writes; at most .* in a log; \d+ times one began again$", text, re.M) and
           re.search(r"^  read ahead: .* gets used 1.0 MiB, and waited .*; \d+ [KiB]+ were not used$", text, re.M),
           "the report for people has what the worker did", text)
    os.environ["PNETCDF_HINTS"] = "*.nc:nc_write_behind=enable:nc_write_behind_memory=1073741824"
    report, text = run_json(2, "steps", "good")
    del os.environ["PNETCDF_HINTS"]
    memory = [] if report is None else [report["counters"][name]["most"] for name in (
        "behind_memory", "peak_memory_of_library", "peak_memory")]
    tap.ok(memory == sorted(memory) and memory, "memory that is only reserved is not that of the library",
           (memory, text))


def test_worker_timeline():
    """Of a rank and of its worker, against the counters of the same run."""
    pattern, path = tap.scratch("behind-%p.json"), tap.scratch("statistics.json")
    os.environ["PNETCDF_HINTS"] = "*.nc:nc_write_behind=enable:nc_prefetch=enable"
    status, _, text = run(2, "steps", "good", f"json:{path},trace:{pattern}")
    del os.environ["PNETCDF_HINTS"]
    with open(path, encoding="utf-8") as file:
        counters = json.load(file)["counters"]
    paths, sums = [pattern.replace("%p", str(rank)) for rank in range(2)], collections.Counter()
    for rank, each in enumerate(paths):
        with open(each, encoding="utf-8") as file:
            events = json.load(file)
        spans = sorted((event["ts"], event["dur"], event["name"]) for event in events
                       if event["ph"] == "X" and event["tid"] == 10 ** 9 + rank)
        names = [event["args"]["name"] for event in events if event["ph"] == "M" and event.get("tid", 0) >= 10 ** 9]
        for _, length, name in spans:
            sums[name] += length
        sums["spans"] += len(spans)
        tap.ok(status == 0 and names == [f"worker of rank {rank}"] and {span[2] for span in spans} ==
               {"worker_write", "worker_read"} and
               all(a[0] + a[1] <= b[0] + 0.01 for a, b in zip(spans, spans[1:])),
               f"the worker of rank {rank} writes, then reads", (spans, text))
    for name, counter in (("worker_write", "behind_busy"), ("worker_read", "ahead_busy")):
        least = counters[counter]["sum"] / 1000
        tap.ok(least - 1 <= sums[name] <= least + 50 * 2 * STEPS + 1,
               f"the time of {name}, with pauses of less than 50 us", (sums, least))
    status, text, errors = show(*paths)
    rows = re.findall(r"^  (rank \d|  worker) +([drcfxwWR. ]+)$", text, re.M)
    tap.ok(status == 0 and [row[0] for row in rows] == ["rank 0", "  worker", "rank 1", "  worker"] and
           all("w" in row[1] or "r" in row[1] for row in rows[1::2]), "rows of workers in the terminal", (text, errors))
    for each in [*paths, path]:
        os.remove(each)
    made = [{"ph": "X", "tid": tid, "pid": 7, "name": name, "ts": at, "dur": length}
            for name, tid, at, length in (("time_write", 7, 0, 2), ("time_wait", 7, 6, 2),
                                          ("worker_write", 10 ** 9 + 7, 2, 4), ("worker_read", 10 ** 9 + 7, 7, 1))]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    _, text, errors = show(path)
    tap.ok("  rank 7        " + 20 * "W" + 40 * " " + 20 * "." + "\n    worker      " + 20 * " " + 40 * "w" + 10 * " " +
           10 * "r" + "\n" in text, "a worker's timeline that was made", (text, errors))
    page = tap.scratch("timeline.html")
    status, _, errors = show("--html", page, "--overwrite", path)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    tap.ok(status == 0 and Page(text).balanced and
           "worker of rank 7, 2.0 us to 6.0 us: writes behind" in text and
           "worker of rank 7, 7.0 us to 8.0 us: reads ahead" in text and Page(text).counts["rect"] == 4,
           "the same on a page", errors)
    os.remove(path)


def test_deferred():
    """300 puts of one byte by each of 2 ranks, which one call of each writes."""
    os.environ["PNETCDF_HINTS"] = "*.nc:nc_defer_puts=enable"
    path = tap.scratch("deferred.json")
    status, _, text = run(2, "rows", "bad", f"1,json:{path}")
    del os.environ["PNETCDF_HINTS"]
    tap.ok(status == 0 and "\n  deferred (nc_defer_puts): 600 collective puts, 600 B, written together in 2 calls\n"
           in text, "deferred puts have a line", text)
    status, text, errors = show(path)
    tap.ok(status == 0 and "600 collective puts, 600 B, written together in 2 calls\n" in text,
           "the same of ncmpistat", (text, errors))
    os.remove(path)


# --- reports ---

def test_spread():
    report, text = run_json(2, "small_calls", "bad")
    calls = {} if report is None else report["counters"]["puts_collective"]
    node = socket.gethostname().split(".")[0][:27]
    tap.ok(calls == {"sum": 600, "least": 300, "most": 300, "rank_of_least": 0, "node_of_least": node,
                     "rank_of_most": 0, "node_of_most": node},
           "calls of 2 ranks", (calls, text))
    tap.ok(report is not None and report["ranks"] == 2 and report["file"] == FILE and report["version"] == 1,
           "the head of the report", text)
    variables = [] if report is None else report["variables"]
    tap.ok(len(variables) == 1 and variables[0]["name"] == "v" and variables[0]["put_bytes"] == 600,
           "the bytes of the variable", variables)
    times = {} if report is None else {name: value for name, value in report["counters"].items()
                                       if name.startswith("time_") and name not in ("time_open", "time_moves")}
    total, most = sum(t["sum"] for t in times.values()), report["counters"]["time_open"]["most"] * 2
    tap.ok(0 < total <= most, "the times of calls are parts of the time that the file is open", (total, most))


def test_document():
    """Each counter and each rule is explained, and each rule has its two programs here."""
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "statistics.md")
    report, _ = run_json(1, "small_calls", "good")
    with open(top, encoding="utf-8") as file:
        text = file.read()
    missing = [name for name in [*report["counters"], *RULES, *RULES_OF_CHUNKS] if f"`{name}`" not in text]
    tap.ok(not missing, "docs/statistics.md has all counters and rules", missing)
    with open(os.path.join(os.path.dirname(top), "..", "src", "statistics", "advice.c"), encoding="utf-8") as file:
        rules = re.findall(r'^    \{"(\w+)", estimate_', file.read(), re.M)
    tap.ok(len(rules) > 5 and set(rules) == {*RULES, *RULES_OF_CHUNKS}, "each rule has a bad and a good program", rules)


def advice_of_growth(hints):
    """The text of the rule, and the number of bytes in it, of the program that lacks 90,000 bytes after the header."""
    os.environ["PNETCDF_HINTS"] = hints
    report, text = run_json(2, "growth", "bad")
    del os.environ["PNETCDF_HINTS"]
    found = [] if report is None else [each["text"] for each in report["advice"] if each["rule"] == "growth"]
    numbers = [int(number) for number in re.findall(r"(?:nc_header_reserve=|and )(\d+)", " ".join(found))]
    return " ".join(found) or text, numbers


def test_growth():
    text, wanted = advice_of_growth("")
    tap.ok(len(wanted) == 1 and 90000 <= wanted[0] < 91000 and "v_minfree" not in text and "record" not in text,
           "a header that grows: the reserve that suffices", text)
    text, numbers = advice_of_growth("nc_header_reserve=1000")
    tap.ok(numbers == wanted and "nc_header_reserve is 1000" in text and "with the hint" not in text,
           "with a hint that is too small: only its size", text)
    text, numbers = advice_of_growth(f"nc_header_reserve={wanted[0]}" if wanted else "")
    tap.ok(not numbers and "growth" not in text, "with the size that is advised: no advice", text)


def test_heat():
    report, text = run_json(4, "small_writes", "bad")
    heat, counters = ({}, {}) if report is None else (report["heat"], report["counters"])
    tap.ok(report is not None and sum(heat["written"]) == counters["write_bytes"]["sum"] > 0 and
           sum(heat["read"]) == counters["read_bytes"]["sum"] and len(heat["written"]) == len(heat["read"]) <= 256 and
           heat["bucket"] == 4096 and heat["written"][0] > 0, "the bytes of each part of the file", (heat, text))


def test_text():
    status, out, text = run(2, "small_writes", "bad", "1")
    tap.ok(status == 0 and out == "" and f"PnetCDF statistics of {FILE}: 2 ranks on " in text and
           re.search(r"^  calls on all ranks: 600 independent puts$", text, re.M) is not None and
           re.search(r"^  advice: .*600 independent puts", text, re.M) is not None, "the report for people", text)
    for value in ("0", ""):
        status, out, text = run(2, "small_writes", "bad", value)
        tap.ok(status == 0 and "statistics" not in text, f'"{value}" is off', text)


def check_timelines(paths):
    status, text, errors = show(*paths)
    lanes = re.findall(r"^  rank (\d) +([drcxWR. ]+)$", text, re.M)
    tap.ok(status == 0 and [lane[0] for lane in lanes] == ["0", "1"] and all(len(lane[1]) <= 80 for lane in lanes) and
           all("." in lane[1] for lane in lanes), "timelines in the terminal", (text, errors))
    # by hand: 10 us, of which 2 of writing, 4 of nothing
    made = [{"ph": "M", "tid": 7, "name": "thread_name"}] + [
        {"ph": "X", "tid": 7, "pid": 7, "name": name, "ts": 100 + at, "dur": length}
        for name, at, length in (("time_write", 0, 2), ("ncmpi_put_var_all", 0, 6), ("time_wait", 2, 4),
                                 ("time_read", 9, 1))]
    with open(tap.scratch("made.json"), "w", encoding="utf-8") as file:
        json.dump(made, file)
    _, text, errors = show(tap.scratch("made.json"))
    tap.ok("  rank 7        " + 16 * "W" + 32 * "." + 24 * " " + 8 * "R" + "\n" in text, "a timeline that was made",
           (text, errors))
    page = tap.scratch("timeline.html")
    for each, wanted in ((paths, 2), ([tap.scratch("made.json")], 3)):
        status, _, errors = show("--html", page, "--overwrite", *each)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        found = Page(text)
        tap.ok(status == 0 and found.balanced and found.links == 0 and found.counts["article"] == 1 and
               found.counts["svg"] == 1 and found.counts["rect"] >= wanted, "a page of timelines", errors)
    tap.ok(found.counts["rect"] == 3 and "0.0 us to 2.0 us: write, in ncmpi_put_var_all" in text,
           "the parts of a timeline that was made", text)
    for bad, wanted in (("[]", "no calls"), ('[{"ph": "X", "tid": 1}]', "not a timeline"), ("[3]", "not a timeline"),
                        ('[{"ph": "X", "tid": 0, "name": "time_write", "ts": NaN, "dur": 1}]', "begins at nan"),
                        ('[{"ph": "X", "tid": 0, "name": "time_write", "ts": 0, "dur": 1e999}]', "ends at inf"),
                        (100000 * "[", "not JSON")):
        with open(tap.scratch("made.json"), "w", encoding="utf-8") as file:
            file.write(bad)
        status, _, errors = show(tap.scratch("made.json"))
        tap.ok(status == 2 and wanted in errors and len(errors.splitlines()) == 1, f"not a timeline: {bad[:70]}",
               errors)


def test_trace():
    pattern = tap.scratch("%f-%p.json")
    status, _, text = run(2, "growth", "bad", f"trace:{pattern}")
    for rank in range(2):
        path = pattern.replace("%f", "statistics.nc").replace("%p", str(rank))
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        spans = [event for event in events if event["ph"] == "X"]
        calls = [event["name"] for event in spans if event["name"].startswith("ncmpi_")]
        tap.ok(status == 0 and calls == ["ncmpi_create", "ncmpi__enddef", "ncmpi_put_vara_all", "ncmpi_redef",
                                         "ncmpi_enddef", "ncmpi_close"], f"the timeline of rank {rank}", (calls, text))
        tap.ok({event["tid"] for event in spans} == {rank} and all(event["dur"] >= 0 for event in spans),
               "its events belong to the rank")
    paths = [pattern.replace("%f", "statistics.nc").replace("%p", str(rank)) for rank in range(2)]
    check_timelines(paths)
    for path in paths:
        os.remove(path)


def test_unwritable():
    status, _, text = run(1, "small_calls", "good", "json:/nonexistent/a.json,trace:/nonexistent/b.json")
    tap.ok(status == 0 and text.count("cannot write the") == 2, "paths that cannot be written are reported", text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def test_another_dataset_as_report():
    """The path of a report is that of another dataset of the program, which is open and has no bytes yet."""
    run(1, "another", "good", "0")
    wanted = read(FILE)
    for kind, reason in (("json", "another one that is open"), ("trace", "the file has become another one")):
        os.remove(FILE)
        status, _, text = run(1, "another", "good", f"{kind}:{FILE}")
        tap.ok(status == 0 and read(FILE) == wanted and text.count(reason) == 1,
               f"the path of a report ({kind}) is that of another dataset, which is open", text)
    for name in (FILE, FILE + ".2", FILE + ".another"):
        os.remove(name)


def test_dataset_as_report():
    """The path of a report is that of the dataset, which must stay as it is without reports."""
    run(1, "growth", "bad", "0")
    wanted = read(FILE)
    symbolic, hard, new = tap.scratch("symbolic.json"), tap.scratch("hard.json"), tap.scratch("new")
    os.symlink(os.path.abspath(FILE), symbolic)
    os.link(FILE, hard)
    cases = [("json:" + tap.scratch("%f"), 1), ("trace:" + tap.scratch("%f"), 1), (f"json:{FILE},trace:{FILE}", 2),
             (f"json:{symbolic}", 1), (f"trace:{symbolic}", 1), (f"json:{hard}", 1), (f"trace:{hard}", 1)]
    for stats, warnings in cases:
        status, _, text = run(1, "growth", "bad", stats)
        tap.ok(status == 0 and read(FILE) == wanted and text.count("that is the dataset itself") == warnings,
               f"PNETCDF_STATS={stats}", text)
    os.remove(FILE)
    status, _, text = run(1, "growth", "bad", f"trace:{FILE}")
    tap.ok(status == 0 and read(FILE) == wanted and "itself" in text, "a timeline of a dataset that is created", text)
    os.remove(FILE)
    os.environ["PNETCDF_HINTS"] = "nc_whole_files=enable"
    status, _, text = run(1, "growth", "bad", f"trace:{FILE}")
    del os.environ["PNETCDF_HINTS"]
    tap.ok(status == 0 and os.path.exists(FILE) and read(FILE)[:3] == b"CDF",
           "a timeline of a dataset that gets its name later", text)
    os.remove(symbolic)
    os.symlink(new, symbolic)
    run(1, "growth", "bad", f"json:{symbolic}")
    tap.ok(os.path.islink(symbolic) and read(new)[:1] == b"{", "a link to a file that does not exist yet")
    for path in (symbolic, hard, new):
        os.remove(path)


def test_data_as_report():
    """Files that have been there before, by hand: only reports and empty files are replaced."""
    path, header = tap.scratch("other.0"), b"\0\0\0\1" + 24 * b"\0"
    kept = [("CDF-1", b"CDF\1" + header), ("CDF-2", b"CDF\2" + header), ("CDF-5", b"CDF\5" + 2 * header),
            ("a file that is marked as interrupted", b"CDF\x81" + header), ("HDF5", b"\x89HDF\r\n\x1a\n" + header),
            ("HDF5 with a user block", 512 * b"\0" + b"\x89HDF\r\n\x1a\n"), ("text", b"results\n")]
    for what, data in kept + [("a report", b'{"schema": 1}' + 100000 * b" "), ("a timeline", b"[\n"), ("nothing", b"")]:
        keeps = (what, data) in kept
        for ranks, stats, opening in ((1, f"json:{path}", b"{"), (1, f"trace:{path}", b"["),
                                      (2, "trace:" + path[:-2], b"[")):
            with open(path, "wb") as file:
                file.write(data)
            status, _, text = run(ranks, "growth", "good", stats)
            now = read(path)
            tap.ok(status == 0 and (now == data) == keeps and now[:1] == (data[:1] if keeps else opening) and
                   text.count("exists and is not a report") == keeps and (keeps or json.loads(now)),
                   f"{what} at the path of {stats[:5]}, {ranks} ranks", (text, now[:100]))
    os.remove(path)


def test_standard_output():
    """It is a file with other text here."""
    path = tap.scratch("output")
    build = os.environ.get("PNC_BUILD", os.getcwd())
    with open(path, "w", encoding="utf-8") as file:
        file.write("before\n")
        file.flush()
        subprocess.run([os.path.join(build, PROGRAM), "growth", "good", FILE], check=False, stdout=file,
                       env={**os.environ, "PNETCDF_STATS": "json:/dev/stdout"})
        file.write("after\n")
    text = read(path)
    tap.ok(text.startswith(b"before\n{") and text.endswith(b"}\nafter\n"), "standard output is appended to", text)


# --- ncmpistat ---

class Page(html.parser.HTMLParser):
    """Counts elements, and checks that each one is closed."""

    def __init__(self, text):
        super().__init__()
        self.counts, self.open, self.balanced, self.links = collections.Counter(), [], True, 0
        self.feed(text)
        self.balanced = self.balanced and not self.open

    def handle_starttag(self, tag, attrs):
        self.counts[tag] += 1
        self.links += any(name in ("href", "src") for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        self.balanced = self.balanced and bool(self.open) and self.open.pop() == tag


def show(*arguments):
    program = os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), "src", "tools", "ncmpistat")
    done = subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_ncmpistat():
    paths, page = [tap.scratch(f"{how}.json") for how in ("bad", "good")], tap.scratch("page.html")
    for how, path in zip(("bad", "good"), paths):
        run(2, "small_calls", how, f"json:{path}")
    status, text, errors = show(*paths)
    tap.ok(status == 0 and text.count(FILE) == 2 and "600 puts collective" in text and "600 posted" in text and
           text.count("advice: ") == 1, "both reports in the terminal", (text, errors))
    with open(paths[1], encoding="utf-8") as file:
        doubled = json.load(file)
    for counter in doubled["counters"].values():
        counter["sum"] *= 2
    with open(tap.scratch("doubled.json"), "w", encoding="utf-8") as file:
        json.dump(doubled, file)
    _, text, errors = show(paths[1], tap.scratch("doubled.json"))
    bars = [max(map(len, re.findall("#+", part))) for part in re.findall(r"^time, .*\n(?:  .*\n)+", text, re.M)]
    tap.ok(bars == [20, 40], "the bars of both reports have the same scale", (bars, text, errors))
    status, _, errors = show("--html", page, *paths)
    with open(page, encoding="utf-8") as file:
        found = Page(file.read())
    tap.ok(status == 0 and found.balanced and found.links == 0 and found.counts["article"] == 2 and
           found.counts["svg"] == 6 and found.counts["rect"] >= 6, "both reports on a page without links",
           (found.counts, errors))
    status, _, errors = show("--html", page, *paths)
    tap.ok(status == 1 and "--overwrite" in errors, "a page is not replaced", errors)
    status, _, errors = show("--html", page, "--overwrite", paths[0])
    tap.ok(status == 0, "unless it may be", errors)
    for name in ("aggregators", "heat"):
        del doubled[name]
    del doubled["counters"]["peak_memory_of_library"]
    for counter in doubled["counters"].values():
        del counter["node_of_least"], counter["node_of_most"]
    with open(tap.scratch("doubled.json"), "w", encoding="utf-8") as file:
        json.dump(doubled, file)
    status, text, errors = show(tap.scratch("doubled.json"))
    tap.ok(status == 0 and re.search(r", rank \d\)$", text, re.M), "a report without members that were added", errors)
    for text, wanted in (("", "not JSON"), ("{}", "not a report"), ('{"schema": "pnetcdf-statistics"}', "version None"),
                         ('{"schema": "pnetcdf-statistics", "version": 1}', "member")):
        with open(paths[0], "w", encoding="utf-8") as file:
            file.write(text)
        status, _, errors = show(paths[0])
        tap.ok(status == 2 and wanted in errors and len(errors.splitlines()) == 1, f"not a report: {wanted}", errors)
    status, _, errors = show(tap.scratch("absent.json"))
    tap.ok(status == 2 and "No such file" in errors, "an absent file", errors)


# --- advice ---

def test_rule(rule, ranks):
    if rule == "alignment":
        os.environ["MPIR_CVAR_NUM_CLIQUES"] = "2"
    for how in ("bad", "good"):
        report, text = run_json(ranks, rule, how)
        if rule in RULES_OF_CHUNKS and "HDF5" in text:
            tap.skip(f"{rule}, {how}", "the build is without HDF5")
            continue
        found = [] if report is None else [item["rule"] for item in report["advice"]]
        if rule == "alignment" and report is not None and report["nodes"] == 1:
            tap.skip(f"{rule}, {how}", "the MPI library cannot simulate nodes")
            continue
        tap.ok(report is not None and (rule in found) == (how == "bad"), f"advice on {rule}: the {how} program",
               (found, text))
    os.environ.pop("MPIR_CVAR_NUM_CLIQUES", None)


def test_exchange_of_chunks():
    """48 chunks of 1 MiB, which rank 0 puts and gets, and of which rank 1 has half."""
    values = 2 * 24 << 20
    for nodes in (1, 2):
        os.environ["MPIR_CVAR_NUM_CLIQUES"] = str(nodes)
        report, text = run_json(2, "chunks_read_again", "good")
        status, _, page = run(2, "chunks_read_again", "good", "1")
        del os.environ["MPIR_CVAR_NUM_CLIQUES"]
        what = f"chunks of another rank, {nodes} nodes"
        if "HDF5" in text:
            tap.skip(what, "the build is without HDF5")
            continue
        if report is not None and report["nodes"] != nodes:
            tap.skip(what, "the MPI library cannot simulate nodes")
            continue
        within, between, messages = (report["counters"][name]["sum"] for name in (
            "node_bytes", "message_bytes", "messages")) if report is not None else (0, 0, 0)
        found = (within, between)[nodes - 1]
        tap.ok(values <= found < values + (values >> 6) and within + between == found and
               (messages > 0) == (nodes == 2), what, (within, between, messages, text))
        line = re.search(r"^  exchange: (.*) within nodes; (.*) between nodes in (\d+) messages$", page, re.M)
        tap.ok(status == 0 and line and (line[2] == "0 B", line[3] == "0") == (nodes == 1, nodes == 1) and
               (line[1] == "0 B") == (nodes == 2), f"{what}: the report for people", page)


def test_chunks():
    """Counters of chunks, against the sizes of the program's calls, and of the file."""
    report, text = run_json(2, "chunks_written_again", "bad")
    if "HDF5" in text:
        tap.skip("counters of chunks", "the build is without HDF5")
        return
    s = {name: each["sum"] for name, each in report["counters"].items()}
    tap.ok((s["chunks_written"], s["chunks_written_again"], s["chunk_bytes_written"]) == (240, 192, 240000) and
           0 < s["stored_bytes_written"] < 24000 and s["time_filters"] > 0, "48 chunks that are written 5 times", s)
    report, text = run_json(1, "incompressible", "bad")
    s = {name: each["sum"] for name, each in report["counters"].items()}
    size = os.path.getsize(FILE)
    tap.ok(0 < size - s["stored_bytes_written"] < 20000 and s["stored_bytes_written"] > s["chunk_bytes_written"] * 0.99,
           "bytes after filters are those of the file", (size, s["stored_bytes_written"]))
    report, text = run_json(1, "chunks_read_again", "bad")
    s = {name: each["sum"] for name, each in report["counters"].items()}
    tap.ok(s["chunks_read"] == 240 - s["chunks_merged"] and s["chunks_read_again"] == s["chunks_read"] - 48 and
           s["chunk_bytes_read"] == s["chunks_read"] << 20, "48 chunks that are read 5 times", s)
    _, _, text = run(1, "chunks_read_again", "bad", "1")
    written = r"^  chunks written: 48, 48.0 MiB, in the file .* \(ratio \d+\.\d\d\); 0 more than once$"
    tap.ok(re.search(written, text, re.M) and re.search("^  chunks read: .* 192 more than once$", text, re.M),
           "the report for people has them", text)


def filters_take_little(report):
    """Less than a hundredth of the time, as on a machine that is busy with other work: not worth advice."""
    times = ("define", "requests", "convert", "filters", "exchange", "write", "read", "wait")
    spent = {name: report["counters"][f"time_{name}"]["sum"] for name in times}
    return spent["filters"] * 100 <= sum(spent.values())


def advice_on(rule, ranks, what, hints="", how="bad"):
    os.environ["PNETCDF_HINTS"] = hints
    report, text = run_json(ranks, what, how)
    while rule == "incompressible" and report and filters_take_little(report):
        report, text = run_json(ranks, what, how)
    del os.environ["PNETCDF_HINTS"]
    return " ".join(item["text"] for item in (report or {"advice": []})["advice"] if item["rule"] == rule) or text


def test_shapes():
    """Advice on chunks names the variable, its chunks, what calls access, and better chunks."""
    if "HDF5" in run_json(1, "chunks_read_again", "bad")[1]:
        tap.skip("advice on the shapes of chunks", "the build is without HDF5")
        return
    for rule, sentence in (
            ("chunks_read_again", "its chunks are 1048576, the last get of rank 0 was 209715: --chunks x/209715 suits"),
            ("chunks_little_used", "its chunks are 1048576, the last get of rank 0 was 1000: --chunks x/256000 suits"),
            ("chunks_written_again", "its chunks are 1000, the last put of rank 0 was 200 ("),
            ("small_chunks", "its chunks are 64: --chunks x/128000 suits better ("),
            ("incompressible", "its chunks are 131072 (")):
        text = advice_on(rule, RULES_OF_CHUNKS[rule], rule)
        tap.ok(f'Mostly variable "v": {sentence}' in text, f"advice on {rule}: {sentence}", text)
    for rule, hints, how, wanted, unwanted in (
            ("chunks_written_again", "nc_chunks=1000:nc_compression=deflate", "bad", "(ncmpi_def_var_chunking)",
             "nc_chunks"),
            ("chunks_written_again", "nc_chunks=1000:nc_compression=deflate", "hinted", "(hint nc_chunks)", "def_var"),
            ("chunks_written_again", "nc_chunks=1000", "reopened", "(ncmpicopy --chunks)", "nc_chunks"),
            ("chunks_written_again", "nc_defer_puts=enable", "bad", "put whole chunks", "iput"),
            ("chunks_little_used", "", "bad", "(ncmpi_def_var_chunking)", "nc_chunks"),
            ("chunks_little_used", "nc_chunks=1048576:nc_compression=deflate", "hinted", "(hint nc_chunks)", "def_var"),
            ("small_chunks", "", "bad", "(ncmpi_def_var_chunking; ncmpicopy", "nc_chunks"),
            ("small_chunks", "nc_chunks=64", "hinted", "hint nc_chunks", "--none"),
            ("small_chunks", "nc_chunks=64", "reopened", "(ncmpicopy --chunks for a file)", "nc_chunks"),
            ("incompressible", "nc_compression=none", "bad", "(the program has chosen the filters)", "nc_compression"),
            ("incompressible", "nc_chunks=131072:nc_compression=deflate", "hinted", "(hint nc_compression=none)",
             "quantize")):
        text = advice_on(rule, RULES_OF_CHUNKS[rule], rule, f"*.nc:{hints}" if hints else "", how)
        tap.ok(text.startswith(("filters", "gets", *"0123456789")) and wanted in text and unwanted not in text,
               f"advice on {rule} names what can change them: {how} with {hints or 'no hint'}", text)
    text = advice_on("chunks_read_again", 1, "series", "nc_chunk_cache_size=0")
    found = re.search(r'Mostly variable "tas": its chunks are 1 x 32 x 64, the last get of rank 0 was 64 x 1 x 1: '
                      r"--chunks time/64,lat/(\d+),lon/(\d+) suits better", text)
    bytes_of_chunk = 4 * 64 * int(found[1]) * int(found[2]) if found else 0
    tap.ok(128 << 10 <= bytes_of_chunk <= 2 << 20, "series from maps: chunks that are long in time", text)


def test_able_hints():
    """Advice names no hint that is set, or cannot change anything."""
    text = advice_on("flushes", 1, "flushes")
    tap.ok(text.endswith(" in calls)") and "NC_SHARE" not in text, "flushes of a program without NC_SHARE", text)
    text = advice_on("small_calls", 2, "rows", "nc_defer_puts=enable")
    tap.ok(text == "", "small calls whose puts are written together", text)
    text = advice_on("small_calls", 2, "small_calls", "nc_defer_puts=enable")
    tap.ok("300 collective calls" in text and "iput" in text and "nc_defer_puts" not in text,
           "small calls whose puts overlap, so that each is written on its own", text)
    text = advice_on("hidden", 2, "hidden_independent")
    tap.ok(text == "", "independent puts of several ranks", text)
    text = advice_on("hidden", 1, "hidden", "nc_driver=memory")
    tap.ok(text == "", "puts to memory", text)
    os.environ["MPIR_CVAR_NUM_CLIQUES"] = "2"
    nodes = run_json(2, "shifted", "bad")[0]["nodes"]
    text = advice_on("alignment", 2, "shifted")
    del os.environ["MPIR_CVAR_NUM_CLIQUES"]
    if nodes == 1:
        tap.skip("a variable that is aligned", "the MPI library cannot simulate nodes")
        return
    tap.ok("whole stripes" in text and "nc_var_align_size" not in text, "a variable that is aligned", text)


def test_appends():
    report, text = run_json(1, "appends", "good")
    tap.ok(report is not None and report["counters"]["reads_of_puts"]["sum"] == 0 and not report["advice"],
           "appended records have no holes", (report, text))


def test_aggregators():
    """4 MiB of bytes that alternate between 4 ranks: by hand, each of 2 nodes has an aggregator with half of them."""
    os.environ.update({"MPIR_CVAR_NUM_CLIQUES": "2", "MPIR_CVAR_CLIQUES_BY_BLOCK": "1"})
    report, text = run_json(4, "columns", "good")
    status, _, page = run(4, "columns", "good", "1")
    del os.environ["MPIR_CVAR_NUM_CLIQUES"], os.environ["MPIR_CVAR_CLIQUES_BY_BLOCK"]
    if report is not None and report["nodes"] == 1:
        tap.skip("aggregators of two nodes", "the MPI library cannot simulate nodes")
        return
    counters = {} if report is None else report["counters"]
    found = {name: c["sum"] for name, c in counters.items()
             if re.match(r"(collective|independent)_(put|get)s_", name) and c["sum"] > 0}
    tap.ok(found == {"collective_puts_two_phase": 4, "independent_gets_direct": 4}, "the strategy of each call",
           (found, text))
    aggregators = {} if report is None else report["aggregators"]
    first = aggregators.get("first", [])
    tap.ok(aggregators.get("number") == 2 and [a["rank"] for a in first] == [0, 2] and
           {a["node"] for a in first} == {socket.gethostname().split(".")[0][:27]}, "the aggregators", aggregators)
    tap.ok(len(first) == 2 and first[0]["high"] == first[1]["low"] and first[0]["low"] < 1 << 12 and
           first[1]["high"] >= 4 << 20 and aggregators["window"] >= 4 << 20, "their file domains adjoin", aggregators)
    tap.ok(sum(a["write_bytes"] for a in first) == counters["write_bytes"]["sum"] > 4 << 20 and
           first[1]["writes"] == 1 and first[1]["write_bytes"] < 3 << 20, "the writes of each", aggregators)
    tap.ok(status == 0 and "strategies: independent gets: direct 4; collective puts: two_phase 4\n" in page and
           re.search(r"^  aggregators: 2; .*\n    rank 0, .*: bytes 0 to .*\n    rank 2, .*: bytes ", page, re.M),
           "strategies and aggregators in the report for people", page)


def test_values():
    """Of PNETCDF_STATS."""
    for value, printed in (("1", 1), ("yes", 0), ("10", 0), ("json:w,1.json", 0), ("0,1", 0), ("1,2", 0), ("json:", 0)):
        status, _, text = run(1, "growth", "good", value)
        tap.ok(status == 0 and text.count("PnetCDF statistics of") == printed and
               (printed == 1) == (f"PNETCDF_STATS: {value} is ignored" not in text), f"PNETCDF_STATS={value}", text)


for number in (1, 4):
    for name in ("small_writes", "small_reads", "small_calls", "growth"):
        for way in ("bad", "good"):
            if can_trace():
                test_strace(number, name, way)
            else:
                tap.skip(f"{name}, {way}, {number} ranks", "strace cannot be used here")
if can_trace():
    test_strace_rounds()
else:
    tap.skip("several rounds", "strace cannot be used here")
test_workers()
test_deferred()
test_worker_timeline()
test_spread()
test_growth()
test_heat()
test_document()
test_text()
test_trace()
test_unwritable()
test_dataset_as_report()
test_another_dataset_as_report()
test_data_as_report()
test_standard_output()
test_ncmpistat()
test_appends()
test_aggregators()
test_values()
for name, number in {**RULES, **RULES_OF_CHUNKS}.items():
    test_rule(name, number)
test_exchange_of_chunks()
test_chunks()
test_shapes()
test_able_hints()
tap.finish()
