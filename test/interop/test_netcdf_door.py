"""Random programs that call netCDF: with libpnetcdf-netcdf preloaded on 1, 2 and 4 ranks, and without it on one, where
netCDF-C writes. Codes, values and inquiries are the same, and so are the files, which netCDF-C then reads. With a hint
the door makes Zarr stores of them."""
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from netcdf_scripts import Script  # noqa: E402
from tap import choose, finish, has_hdf5, make_variable, ok, scratch, skip  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
DOOR = os.path.join(BUILD, ".libs", "libpnetcdf-netcdf.so")
SEED = int(os.environ.get("PNC_TEST_SEED", "1"))


def build(source, program):
    command = [*shlex.split(os.environ.get("CC", "mpicc")), "-std=gnu11", *make_variable("NETCDF_CPPFLAGS"),
               os.path.join(HERE, source), "-o", program, "-lnetcdf"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def command_of(ranks, program, *arguments, door=True):
    yields = os.environ.get("PNC_TEST_YIELD", "no")
    preload = ([DOOR] if door else []) + ([] if yields == "no" else [yields])
    return [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", str(ranks),
            *(["env", "LD_PRELOAD=" + ":".join(preload)] if preload else []), program, *map(str, arguments)]


def run(ranks, program, *arguments, door=True, env=None):
    done = subprocess.run(command_of(ranks, program, *arguments, door=door), stdin=subprocess.DEVNULL,
                          capture_output=True, encoding="latin-1", check=False,
                          env={**os.environ, **(env or {})})
    return done.stdout + done.stderr + (f"exit status {done.returncode}\n" if done.returncode else "")


def compare_lines(script, wanted, got):
    """The first difference, with the calls before it."""
    wanted, got = wanted.splitlines(), got.splitlines()
    for i in range(max(len(wanted), len(got))):
        one, two = (text[i] if i < len(text) else "(end)" for text in (wanted, got))
        if one != two:
            return f"line {i + 1}:\nnetCDF-C: {one}\ndoor:     {two}\n" + "\n".join(script)
    return ""


def dump(path):
    done = subprocess.run(["ncdump", "-n", "x", path], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def leave_out(text):
    """What a store stores otherwise: all variables have chunks and filters."""
    return re.sub(" shuffle .*? no_fill", " no_fill", text)


def check_programs(program, kind, ranks, seeds, is_store=False):
    wrong = []
    for seed in seeds:
        script = Script(seed, kind, ranks).make(20)
        with open(scratch("script.txt"), "w", encoding="ascii") as file:
            file.write("\n".join(script) + "\n")
        ours, theirs = scratch("ours.zarr" if is_store else "ours.nc"), scratch("theirs.nc")
        env = {"PNC_TEST_NO_NULL": "1", "PNETCDF_HINTS": "nc_format=zarr"} if is_store else {}
        wanted = run(1, program, scratch("script.txt"), theirs, 0, door=False, env=env)
        got = run(ranks, program, scratch("script.txt"), ours, 1, env=env)
        if is_store:
            found = compare_lines(script, leave_out(wanted), leave_out(got)) or \
                ("" if os.path.isdir(ours) else "no store")
            shutil.rmtree(ours, ignore_errors=True)
        else:
            found = compare_lines(script, wanted, got) or compare_lines(script, dump(theirs), dump(ours))
        if found:
            wrong.append(f"seed {seed}: {found}")
    what = f"{kind}{' as a Zarr store' if is_store else ''} on {ranks} rank{'s' if ranks > 1 else ''}"
    ok(not wrong, f"{what}: {len(seeds)} programs as with netCDF-C", "\n".join(wrong[:2]))
    return not wrong


if __name__ == "__main__":
    if not os.path.exists(DOOR):
        skip("programs that call netCDF", "the build has no libpnetcdf-netcdf")
        finish()
    built, why = build("netcdf_program.c", scratch("netcdf_program"))
    if ok(built, "a program that calls netCDF compiles and links with -lnetcdf", why):
        count = choose(1, 2, 70)
        for each in (["netcdf4", "groups", "classic_model"] if has_hdf5() else []) + ["cdf1", "cdf2", "cdf5"]:
            for n in (1, 2, 4):
                check_programs(scratch("netcdf_program"), each, n, range(SEED, SEED + count))
        for each in ("netcdf4", "groups") if has_hdf5() else ():
            for n in (1, 4):
                check_programs(scratch("netcdf_program"), each, n, range(SEED, SEED + count), is_store=True)
    finish()
