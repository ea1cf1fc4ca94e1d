"""Random programs that change netCDF-4 files of this library, netCDF-C and h5py on 1 to 4 ranks, with these writing in
between: all readers find the values of a model. In some programs all ranks are killed, or one write fails.

usage: test_netcdf4_programs.py [--mode=plain|kill|fail] [--seed=N] [--count=N] [--shrink=SECONDS] [--each=N]
           [--avoid=order,alloc,userblock,template] [--folder=FOLDER] [--seconds=N] [--program=FILE]

--count    programs of each mode; PNC_TEST_PROGRAMS: so many, and a third of that of kill and fail
--seed     of the first one, or PNC_TEST_SEED
--shrink   drop calls for so many seconds while a program still fails (30)
--each     show so many programs that fail in the same way (1)
--seconds  begin no program of a mode after so many
--avoid    draw nothing that needs this
--program  run this one, which another run has left in its folder (MODE-SEED.json): it stays the same when the
           generator changes
PNC_BUILD names the build, which needs to have no test programs; PNC_TEST_KEEP=1 keeps what the ranks printed."""
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import netcdf4_draw  # noqa: E402
import netcdf4_harm  # noqa: E402
import netcdf4_programs as programs  # noqa: E402
from netcdf4_model import Invalid  # noqa: E402
from tap import choose, finish, has_hdf5, ok, scratch, skip  # noqa: E402

try:
    import h5py
except ImportError:
    h5py = None

MODES = {"plain": "nothing goes wrong", "kill": "all ranks are killed", "fail": "one write fails"}
OPTIONS = dict(a.lstrip("-").partition("=")[::2] for a in sys.argv[1:])
FIRST = int(OPTIONS.get("seed", os.environ.get("PNC_TEST_SEED", "1")))
COUNT = int(os.environ.get("PNC_TEST_PROGRAMS", choose(3, 9, 1000)))
FOLDER = OPTIONS.get("folder", scratch("programs"))
AVOID = OPTIONS.get("avoid", "").split(",")


def draw(seed, mode):
    if "program" not in OPTIONS:
        return netcdf4_draw.draw_program(random.Random(f"{mode} {seed}"), mode, AVOID)
    with open(OPTIONS["program"], encoding="utf-8") as file:
        return json.load(file)


def run_seed(seed, mode, is_new):
    """(signature, text) or None. is_new: whether failures with a signature are to be made smaller."""
    program = draw(seed, mode)
    try:
        failure = programs.try_program(program, FOLDER)
    except programs.Refused as why:
        netcdf4_harm.count(str(why))
        return None
    except Invalid as error:
        return f"the generator: {error}", programs.show(program)
    if failure is None:
        return None
    text = failure.text
    seconds = int(OPTIONS.get("shrink", "30"))
    if seconds > 0 and is_new(failure.signature):
        program = programs.shrink(program, FOLDER, failure.signature, seconds)
        again = programs.try_program(program, FOLDER)
        text = again.text if again else text + "\n(the smaller program does not always fail)"
    with open(os.path.join(FOLDER, f"{mode}-{seed}.json"), "w", encoding="utf-8") as file:
        json.dump(program, file)
    return failure.signature, f"{text}\n{programs.show(program)}"


def run_mode(mode, count):
    seen, each, began = {}, int(OPTIONS.get("each", "1")), time.time()
    netcdf4_harm.COUNTS.clear()
    for seed in range(FIRST, FIRST + count):
        if time.time() - began > float(OPTIONS.get("seconds", "inf")):
            count = seed - FIRST
            break
        if seed > FIRST and (seed - FIRST) % 100 == 0:
            failures = sum(map(len, seen.values()))
            print(f"# {seed - FIRST} of {count} programs, {failures} fail", file=sys.stderr, flush=True)
        failed = run_seed(seed, mode, lambda signature: len(seen.get(signature, [])) < each)
        if failed:
            seen.setdefault(failed[0], []).append(seed)
            if len(seen[failed[0]]) <= each:
                text = f"seed {seed}: {failed[0]}\n{failed[1]}"
                print("\n".join("# " + line for line in text.splitlines()), flush=True)
    ok(not seen, f"{count} programs from seed {FIRST}: {MODES[mode]}",
       "\n".join(f"{len(seeds)} times: {signature}: --mode={mode} --seed={seeds[0]}, and {seeds[1:12]}"
                 for signature, seeds in sorted(seen.items(), key=lambda item: -len(item[1]))))
    for what, times in sorted(netcdf4_harm.COUNTS.items()):
        print(f"# {times} times {what}")
    print(f"# {time.time() - began:.0f} s", flush=True)


def main():
    if not has_hdf5() or h5py is None:
        skip("random programs", "the build is without HDF5" if h5py else "h5py is not installed")
        finish()
    for mode in [OPTIONS.get("mode", "plain")] if {"mode", "program"} & set(OPTIONS) else MODES:
        count = 1 if "program" in OPTIONS else COUNT if mode == "plain" else -(-COUNT // 3)
        run_mode(mode, int(OPTIONS.get("count", count)))
    finish()


main()
