"""Filters of others: a plugin of HDF5, which this test builds, decodes what h5py has written with it, and encodes what
h5py then reads, by calls and by hints. Without the plugin, or with parameters that it refuses, an error names filter
and variable on all ranks; a hint changes nothing then."""
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, is_quick, ok, run_mpi, scratch, skip  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
ID, KEY = 32845, 90
REFUSES, FAILS, SKIPS = 201, 202, 203  # keys of xor_plugin.c


def find_setting(name, file):
    with open(os.path.join(BUILD, file), encoding="utf-8") as text:
        found = re.search(rf'^(?:#define )?{name} (?:= )?"?([^"\n]*)', text.read(), re.M)
    return found.group(1) if found else ""


def build_plugin(folder):
    """False: there are no headers or no shared library."""
    os.makedirs(folder)
    library = find_setting("HDF5_LIBRARY", "config.h")
    if not library:
        return False
    command = ["cc", "-shared", "-fPIC", *shlex.split(find_setting("HDF5_CPPFLAGS", "Makefile")),
               os.path.join(HERE, "xor_plugin.c"), library, "-o", os.path.join(folder, "libxor.so")]
    with open(os.path.join(folder, "libnone.so"), "w", encoding="utf-8") as other:
        other.write("not a library\n")
    return subprocess.run(command, check=False).returncode == 0


WRITE = f"""
import h5py, numpy as np, sys
with h5py.File(sys.argv[1], "w") as file:
    values = np.arange(3000, dtype="f4").reshape(100, 30) / 7
    file.create_dataset("plain", data=values, chunks=(7, 30), compression={ID}, compression_opts=({KEY},))
    file.create_dataset("several", data=values.astype("i8"), chunks=(16, 11), shuffle=True, fletcher32=True,
                        compression={ID}, compression_opts=({KEY},))
"""
COUNT = """
import h5py, sys
print(h5py.File(sys.argv[1])["made"].id.get_create_plist().get_nfilters())
"""
MASKS = """
import h5py, sys
made = h5py.File(sys.argv[1])["made"]
print(sorted({made.id.get_chunk_info(i).filter_mask for i in range(made.id.get_num_chunks())}))
"""
SUM = """
import h5py, numpy as np, sys
with h5py.File(sys.argv[1]) as file:
    for name in sys.argv[2:]:
        print(f"{name}: {np.sum(file[name][...], dtype='f8'):.9g} {file[name].id.get_create_plist().get_filter(0)[2]}")
"""


def run_h5py(program, path, *arguments):
    return subprocess.run([sys.executable, "-c", program, path, *arguments], capture_output=True, text=True,
                          check=False, env=with_plugins)


def check_reading(path, ranks):
    status, stdout, stderr = run_mpi(ranks, "test/interop/netcdf4_read", path, "paths", "plain", "several",
                                     env=with_plugins)
    found = [line.split(": ") for line in stdout.splitlines()]
    wanted = run_h5py(SUM, path, "plain", "several").stdout.splitlines()
    ok(status == 0 and len(wanted) == 2 and len(found) == 2 and
       [float(f[1]) for f in found] == [float(w.split(": ")[1].split()[0]) for w in wanted],
       f"{ranks} ranks read what h5py has written with a plugin", f"{stdout}{stderr}{wanted}")


def check_refusal(path):
    status, stdout, stderr = run_mpi(2, "test/interop/netcdf4_read", path, "paths", "several", env=without)
    ok(status == 0 and "NC_EFILTER" in stdout and f"(id {ID})" in stdout and '"several"' in stdout and
       "HDF5_PLUGIN_PATH" in stdout, "without the plugin an error names filter and variable", stdout + stderr)


TOTAL = sum(i * 100 + k for i in range(24) for k in range(50))


def write(ranks, *arguments, hints=None, env=None, wrapper=None):
    """Exit status, lines of standard output in order, standard error, and the path of the file."""
    path = scratch("made.nc")
    if os.path.exists(path):
        os.unlink(path)
    env = dict(env or with_plugins, **({"PNETCDF_HINTS": hints} if hints else {}))
    program = wrapper or "test/interop/plugin_write"
    status, stdout, stderr = run_mpi(ranks, program, path, *arguments, env=env)
    return status, sorted(stdout.splitlines()), stderr, path


def check_writing(ranks, *arguments, hints=None, stored=f"32845: {KEY} 4"):
    status, lines, stderr, path = write(ranks, *arguments, hints=hints)
    parameters = stored.split(": ")[1].replace(" ", ", ")
    found = run_h5py(SUM, path, "made")
    ok(status == 0 and lines == [stored] and found.stdout == f"made: {TOTAL} ({parameters})\n",
       f"h5py reads what {ranks} ranks have written with {hints or 'a plugin'}",
       f"{lines} {stderr} {found.stdout} {found.stderr}")


def check_skipped():
    """Chunks that the plugin does not encode are stored without it, as by HDF5."""
    status, lines, stderr, path = write(2, ID, SKIPS)
    found = run_h5py(SUM, path, "made")
    masks = run_h5py(MASKS, path)
    ok(status == 0 and lines == [f"32845: {SKIPS} 4"] and found.stdout.startswith(f"made: {TOTAL} ") and
       masks.stdout == "[0, 1]\n", "chunks that a plugin leaves out are stored without it",
       f"{lines} {stderr} {found.stdout} {found.stderr} {masks}")


def check_error(what, code, words, *arguments, ranks=2, **options):
    """All ranks get the error."""
    status, lines, stderr, _ = write(ranks, *arguments, **options)
    errors = [line for line in lines if f": {code} " in line]
    ok(status == 0 and {line.split(":")[0] for line in errors} == {f"rank {i}" for i in range(ranks)} and
       all(any(word in line for line in errors) for word in words), what, f"{lines} {stderr}")


def check_hint_ignored(what, hints, words, env=None):
    status, lines, stderr, path = write(2, hints=hints, env=env)
    found = run_h5py(COUNT, path)
    ok(status == 0 and lines == [] and found.stdout == "0\n" and all(w in stderr for w in words), what,
       f"{lines} {stderr} {found.stdout} {found.stderr}")


def hide_plugins_from_rank_1():
    """A program that finds no plugins on rank 1."""
    path = scratch("hide")
    program = os.path.join(BUILD, "test", "interop", "plugin_write")
    with open(path, "w", encoding="utf-8") as script:
        script.write(f"""#!/bin/sh
[ "${{PMI_RANK-$OMPI_COMM_WORLD_RANK}}" != 1 ] || export HDF5_PLUGIN_PATH=/nonexistent
exec {shlex.quote(program)} "$@"
""")
    os.chmod(path, 0o755)
    return os.path.abspath(path)


def check_errors():
    names = (f"(id {ID})", "/nonexistent", "HDF5_PLUGIN_PATH")
    check_error("without the plugin a definition fails", "NC_ENOFILTER", names, ID, KEY, env=without)
    check_error("a plugin that refuses a variable is named at ncmpi_enddef", "NC_EFILTER", (f"(id {ID})", "made"),
                ID, REFUSES)
    check_error("a plugin that encodes nothing is named at the put", "NC_EFILTER", (f"(id {ID})", "made"), ID, FAILS)
    check_error("without the plugin on one rank a put fails on all", "NC_EFILTER", (f"(id {ID})", "/nonexistent"),
                hints=f"nc_compression={ID}:{KEY}", wrapper=hide_plugins_from_rank_1())
    check_hint_ignored("a hint for a plugin that is missing is ignored", f"nc_compression={ID}:{KEY}", names, without)
    check_hint_ignored("a hint for a plugin that refuses a variable leaves it as it is",
                       f"nc_compression={ID}:{REFUSES}", ())


plugins = scratch("plugins")
with_plugins = dict(os.environ, HDF5_PLUGIN_PATH=plugins)
without = dict(os.environ, HDF5_PLUGIN_PATH="/nonexistent")
try:
    import h5py  # noqa: F401
except ImportError:
    skip("plugins", "h5py is not installed (Debian: apt install python3-h5py)")
    finish()
if not find_setting("HDF5_SONAME", "config.h") or not build_plugin(plugins):
    skip("plugins", "no headers of HDF5, or no shared library")
    finish()
file = scratch("by_h5py.h5")
done = run_h5py(WRITE, file)
ok(done.returncode == 0, "h5py writes with the plugin", done.stderr)
for n in (2,) if is_quick() else (1, 2, 4):
    check_reading(file, n)
    check_writing(n, ID, KEY)
check_writing(2, hints=f"nc_compression={ID}:{KEY}")
check_writing(2, hints=f"*.nc:nc_chunks=5,40:nc_compression@m*={ID}:{KEY}:nc_shuffle=enable")
check_refusal(file)
check_skipped()
check_errors()
finish()
