"""Filters of others: a plugin of HDF5, which this test builds, decodes what h5py has written with it, and encodes what
h5py then reads. Without the plugin, an error names filter and variable."""
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


def check_writing(ranks):
    path = scratch("made.nc")
    status, stdout, stderr = run_mpi(ranks, "test/interop/plugin_write", path, ID, KEY, env=with_plugins)
    found = run_h5py(SUM, path, "made")
    total = sum(i * 100 + k for i in range(24) for k in range(50))
    ok(status == 0 and stdout == f"2 {KEY} 4\n" and found.stdout == f"made: {total} ({KEY}, 4)\n",
       f"h5py reads what {ranks} ranks have written with a plugin", stdout + stderr + found.stdout + found.stderr)


def check_unwritten():
    status, stdout, stderr = run_mpi(2, "test/interop/plugin_write", scratch("unmade.nc"), ID, KEY, env=without)
    ok(status == 0 and "NC_EFILTER" in stdout and f"(id {ID})" in stdout and '"made"' in stdout,
       "a put without the plugin names filter and variable", stdout + stderr)


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
    check_writing(n)
check_refusal(file)
check_unwritten()
finish()
