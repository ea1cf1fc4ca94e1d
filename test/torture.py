"""The full tests of deaths, faults, misuse and hostile files, which ./check only samples: make torture runs it in a
build folder. They take hours. Each step is written to torture.state when it ends, so that another make torture
continues with the next step, unless the library has changed. At the end: the table of docs/reliability.md.

usage: torture.py [--again] [--list] [--only=GROUP] [--seeds=N]

--again         begin with the first step
--list          only show the steps, and the table so far
--only=GROUP    deaths, faults, misuse, hostile, random or netcdf4
--seeds=N       number of steps with other seeds in hostile, random and netcdf4 (20)"""
import json
import os
import re
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STATE = "torture.state"
GROUPS = {
    "deaths": "SIGKILL at every write of a growth, and at random moments, on 1, 2 and 4 ranks; repair",
    "faults": "one failure of MPI, memory, access or disk at each position",
    "misuse": "calls that do not match, ranks that do not call, wrong arguments and hints",
    "hostile": "damaged files and CDL, through every tool and open",
    "random": "random programs and files against a model",
    "netcdf4": "random programs on netCDF-4 files of this library, netCDF-C and h5py; deaths; one failed write",
}
DEATH_CASES = 11
LIMIT = "36000"
# The tests of a group that are complete as they are.
PLAN = {
    "deaths": [
        "test/unit/test_growth", "test/tools/test_whole_files_death.py"
    ],
    "faults": [
        "test/mpi/test_mpi_failure", "test/mpi/test_access_failure", "test/mpi/test_redef_failure",
        "test/mpi/test_memory_failure",
        "test/mpi/test_collective_errors", "test/mpi/test_interrupted", "test/mpi/test_disk_full",
        "test/mpi/test_short_file", "test/mpi/test_other_programs", "test/mpi/test_two_handles",
        "test/mpi/test_torn_header", "test/mpi/test_limits",
        "test/mpi/test_behind", "test/mpi/test_burst_buffer", "test/mpi/test_prefetch",
        "test/tools/test_full_disk.py"
    ],
    "misuse": [
        "test/mpi/test_misuse", "test/mpi/test_timeout", "test/tools/test_timeout_end.py",
        "test/mpi/test_whole_files", "test/mpi/test_bad_input", "test/mpi/test_errors",
        "test/mpi/test_hint_values", "test/mpi/test_extremes"
    ],
    "hostile": [
        "test/fuzz/fuzz_codec", "test/mpi/test_odd_names", "test/tools/test_cdl.py",
        "test/tools/test_ncvalidator.py"
    ],
}
# Once more with hints that change when the file is accessed, where the results are the same.
HINTED = {
    "nc_write_behind=enable": ["faults", "test/mpi/test_mpi_failure", "test/mpi/test_interrupted",
                               "test/mpi/test_redef_failure", "test/mpi/test_collective_errors",
                               "test/mpi/test_two_handles"],
    "nc_burst_buf=enable": ["faults", "test/mpi/test_mpi_failure", "test/mpi/test_interrupted",
                            "test/mpi/test_redef_failure", "test/mpi/test_collective_errors",
                            "test/mpi/test_two_handles"],
    "nc_prefetch=enable": ["misuse", "test/mpi/test_misuse", "test/mpi/test_disk_full", "test/mpi/test_interrupted",
                           "test/mpi/test_collective_errors", "test/mpi/test_two_handles"],
}


def make_steps(seeds):
    """(name, group, test, environment) of each step."""
    steps = [(test, group, test, {}) for group, tests in PLAN.items() for test in tests]
    for hint, (group, *tests) in HINTED.items():
        steps += [(f"{test}, {hint}", group, test, {"PNETCDF_HINTS": hint}) for test in tests]
    for case in range(1, DEATH_CASES + 1):
        steps.append((f"test/tools/test_death.py, case {case}", "deaths", "test/tools/test_death.py",
                      {"PNC_TEST_DEATHS": f"all {case}"}))
    for test in ("test/tools/test_behind_death.py", "test/tools/test_burst_death.py"):
        steps.append((test, "deaths", test, {"PNC_TEST_LONG": "1"}))
    steps.append(("test/tools/test_death_random.py", "deaths", "test/tools/test_death_random.py",
                  {"PNC_TEST_KILLS": "50", "PNC_TEST_SEED": "1"}))
    steps.append(("test/tools/test_live_writer.py", "deaths", "test/tools/test_live_writer.py",
                  {"PNC_TEST_LIVE": "100", "PNC_TEST_SEED": "1"}))
    for seed in range(1, seeds + 1):
        steps.append((f"test/tools/test_mutated.py, seed {seed}", "hostile", "test/tools/test_mutated.py",
                      {"PNC_TEST_MUTATED": "1000", "PNC_TEST_SEED": str(seed)}))
        steps.append((f"test/tools/test_forged_journals.py, seed {seed}", "hostile",
                      "test/tools/test_forged_journals.py",
                      {"PNC_TEST_FORGED": "1000", "PNC_TEST_SEED": str(seed)}))
        steps.append((f"test/mpi/test_property, seed {seed}", "random", "test/mpi/test_property",
                      {"PNC_PROPERTY_CASES": "20000", "PNC_PROPERTY_SEED": str(1000000 * seed)}))
        steps.append((f"test/interop/test_netcdf4_programs.py, seed {seed}", "netcdf4",
                      "test/interop/test_netcdf4_programs.py",
                      {"PNC_TEST_PROGRAMS": "250", "PNC_TEST_SEED": str(1000000 * seed)}))
    return sorted(steps, key=lambda step: list(GROUPS).index(step[1]))


def identify_library():
    archive = os.path.join(".libs", "libpnetcdf.a")
    return os.path.getmtime(archive) if os.path.exists(archive) else 0


def load(again):
    """The results of earlier steps by name, if they are of this library."""
    if again or not os.path.exists(STATE):
        return {}
    with open(STATE, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {row["name"]: row for row in rows if row["library"] == identify_library()}


def name_log(name):
    return "torture." + re.sub(r"\W+", "-", name) + ".log"


def run(name, test, settings, show):
    """One step. Its output is kept."""
    path = os.path.join(TOP, test) if test.endswith(".py") else test
    environment = {**os.environ, "PNC_TEST_TIMEOUT": LIMIT, "PNC_TEST_QUICK": "0", **settings}
    row = {"name": name, "passed": 0, "failed": 0, "skipped": 0, "hung": 0}
    start, lines = time.time(), []
    with subprocess.Popen([os.path.join(TOP, "test", "runner", "run"), path], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, env=environment) as process:
        for line in process.stdout:
            lines.append(line)
            row["skipped"] += line.startswith("ok") and "# SKIP" in line
            row["passed"] += line.startswith("ok") and "# SKIP" not in line
            row["failed"] += line.startswith("not ok")
            row["hung"] += bool(re.match(r"not ok \d+ - .*hung \(", line))
            show(row, time.time() - start)
    if process.returncode != 0 and row["failed"] == 0:
        row["failed"] = 1
        lines.append(f"exit status {process.returncode}\n")
    with open(name_log(name), "w", encoding="utf-8") as log:
        log.writelines(lines)
    return {**row, "seconds": round(time.time() - start), "library": identify_library()}


def show_table(steps, results):
    print("\n| tests | steps | passed | failed | hung | skipped | minutes |\n|---|---|---|---|---|---|---|")
    for group, text in GROUPS.items():
        names = [name for name, of, _, _ in steps if of == group]
        done = [results[name] for name in names if name in results]
        if names:
            sums = [sum(row[key] for row in done) for key in ("passed", "failed", "hung", "skipped", "seconds")]
            print(f"| {text} | {len(done)} of {len(names)} | {sums[0]:,} | {sums[1]} | {sums[2]} | {sums[3]} | "
                  f"{sums[4] / 60:.0f} |")
    for row in results.values():
        if row["failed"]:
            print(f"failed: {row['name']}: {name_log(row['name'])}")


def make_progress(number, total, name):
    """A line that is overwritten on a terminal; elsewhere each step has one."""
    last = [0.0]

    def show(row, seconds, at_end=False):
        if not at_end and (not sys.stdout.isatty() or time.time() - last[0] < 0.5):
            return
        last[0] = time.time()
        text = (f"[{number}/{total}] {name}: {row['passed']} passed, {row['failed']} failed, "
                f"{int(seconds) // 60}:{int(seconds) % 60:02d}")
        print("\r" + text.ljust(110) if sys.stdout.isatty() else text, end="\n" if at_end else "", flush=True)

    return show


def main(arguments):
    options = dict(a.partition("=")[::2] for a in arguments)
    unknown = set(options) - {"--again", "--list", "--only", "--seeds"}
    if unknown or options.get("--only", "deaths") not in GROUPS or not options.get("--seeds", "20").isdigit():
        sys.exit(__doc__)
    steps = [step for step in make_steps(int(options.get("--seeds", "20")))
             if options.get("--only", step[1]) == step[1]]
    results = load("--again" in options)
    if "--list" in options:
        for name, group, _, _ in steps:
            print(f"{group:8} {name}{': done' if name in results else ''}")
        show_table(steps, {name: results[name] for name, _, _, _ in steps if name in results})
        return 0
    with open(STATE, "w", encoding="utf-8") as state:
        state.writelines(json.dumps(row) + "\n" for row in results.values())
    for number, (name, _, test, settings) in enumerate(steps, 1):
        if name in results:
            continue
        show = make_progress(number, len(steps), name)
        results[name] = run(name, test, settings, show)
        show(results[name], results[name]["seconds"], at_end=True)
        with open(STATE, "a", encoding="utf-8") as state:
            state.write(json.dumps(results[name]) + "\n")
    mine = {name: results[name] for name, _, _, _ in steps}
    show_table(steps, mine)
    return 1 if any(row["failed"] for row in mine.values()) else 0


sys.exit(main(sys.argv[1:]))
