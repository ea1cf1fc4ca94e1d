"""Random programs that change netCDF-4 files of this library, netCDF-C and h5py on 1 to 4 ranks, with these writing in
between: all values are those of a model, for all of them.

test_netcdf4_programs.py [--seed=N] [--count=N] [--mode=plain|kill|fail] [--shrink] [--keep=FOLDER] [--log=FILE]
PNC_TEST_PROGRAMS: so many programs of each mode; PNC_TEST_SEED: the first one."""
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import netcdf4_draw  # noqa: E402
import netcdf4_programs as programs  # noqa: E402
from netcdf4_model import Invalid  # noqa: E402
from tap import choose, finish, has_hdf5, ok, scratch, skip  # noqa: E402


def read_options():
    options = dict(a.lstrip("-").partition("=")[::2] for a in sys.argv[1:])
    options.setdefault("count", os.environ.get("PNC_TEST_PROGRAMS", str(choose(5, 20, 1000))))
    options.setdefault("seed", os.environ.get("PNC_TEST_SEED", "1"))
    return options


def run_seed(seed, mode, folder, options):
    """(signature, text) or None."""
    program = netcdf4_draw.draw_program(random.Random(f"{mode} {seed}"), mode, options.get("avoid", "").split(","))
    try:
        failure = programs.try_program(program, folder)
    except Invalid as error:
        return f"refused: {str(error)[:80]}", f"{error}\n{programs.show(program)}"
    if failure is None:
        return None
    text = failure.text
    if "shrink" in options:
        program = programs.shrink(program, folder, failure.signature, int(options["shrink"] or 120))
        again = programs.try_program(program, folder)
        text = again.text if again else text + "\n(the smaller program does not fail again)"
    return failure.signature, f"{text}\n{programs.show(program)}"


def main():
    options = read_options()
    folder = options.get("keep") or scratch("programs")
    if not has_hdf5():
        skip("programs", "the build is without HDF5")
        finish()
    first, count, mode = int(options["seed"]), int(options["count"]), options.get("mode", "plain")
    seen, began = {}, time.time()
    for seed in range(first, first + count):
        failed = run_seed(seed, mode, folder, options)
        if failed:
            seen.setdefault(failed[0], []).append(seed)
            if len(seen[failed[0]]) <= int(options.get("each", "3")):
                print(f"# seed {seed}: {failed[0]}\n" + "\n".join("#   " + line for line in failed[1].splitlines()),
                      flush=True)
    ok(not seen, f"{mode}: {count} programs from seed {first}",
       "\n".join(f"{len(seeds)} times: {signature}: seeds {seeds[:12]}" for signature, seeds in seen.items()))
    print(f"# {time.time() - began:.0f} s")
    finish()


main()
