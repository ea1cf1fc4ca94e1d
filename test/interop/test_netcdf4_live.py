"""A netCDF-4 file is read while another program writes it record by record, with a sync after each. This library finds
an old dataset or a new one, complete, or an error; netCDF-C may lack a part of the last records. Ours writes, and
netCDF-C and ours read; netCDF-C writes, and ours reads. PNC_TEST_LIVE: so many records."""
import os
import shlex
import shutil
import subprocess
import sys
import time

import netCDF4
import numpy as np

try:
    import h5py
except ImportError:
    h5py = None

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, ok, scratch, skip  # noqa: E402

PROGRAM = os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), "test/interop/netcdf4_live")
RECORDS = int(os.environ.get("PNC_TEST_LIVE", choose(60, 200, 3000)))
X = 1000
FILL = netCDF4.default_fillvals["i4"]
# What a reader may get: the file is being changed, or is not complete.
PLAIN = {"NC_EINTERRUPTED", "NC_EHDFERR", "NC_ENOTNC", "NC_EREAD", "NC_ENOENT", "NC_EFILTER", "NC_EBAD_FILE"}


def start(ranks, *arguments):
    library = os.environ.get("PNC_TEST_YIELD", "no")
    preload = [] if library == "no" else ["env", f"LD_PRELOAD={library}"]
    return subprocess.Popen([*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", str(ranks), *preload, PROGRAM,
                             *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def finish_reader(reader, path):
    """(how often it could open the file, how often not, records, what was wrong, codes)"""
    with open(path + ".done", "w", encoding="ascii"):
        pass
    out, err = reader.communicate()
    words = out.split("\n")[0].split()
    if reader.returncode != 0 or len(words) < 4:
        return 0, 0, 0, f"status {reader.returncode}: {out}{err}", []
    wrong = out + err if words[3] != "0" else ""
    return int(words[0]), int(words[1]), int(words[2]), wrong, words[4:]


def differs(found, wanted, seen):
    """Whether values are neither those that were put nor, in the last records, fill values. netCDF-C reads what the
    file says of each variable in turn: one that it read earlier has fewer records than a later one, and the rest are
    fill values."""
    if np.array_equal(found, wanted):
        return False
    seen["partial"] += 1
    right = (found == wanted).reshape(len(found), -1).all(axis=1)
    known = int(np.argmin(right)) # records before the first that differs
    return not (found[known:] == FILL).all()


def check_values(file, records, seen):
    first = max(0, records - 3)
    if differs(file["v"][first:records], np.arange(first, records)[:, None] * 1000 + np.arange(X), seen):
        return "v"
    if differs(file["w"][:records], np.arange(records) + 1, seen):
        return "w"
    for number in range(len(file.variables) - 2):
        if file[f"more{number}"].units != "degrees":
            return f"more{number}"
    return ""


def read_once(path, seen):
    """netCDF-C opens the file anew. What it refuses is an error of Python."""
    try:
        with netCDF4.Dataset(path) as file:
            file.set_auto_maskandscale(False)
            records = file.dimensions["t"].size
            wrong = check_values(file, records, seen)
            if records < seen["records"]:
                wrong = "fewer records than before"
            seen["records"] = max(seen["records"], records)
            seen["opened"] += 1
            if wrong:
                seen["wrong"].append(f"{wrong} with {records} records")
    except (OSError, RuntimeError, KeyError, IndexError, AttributeError) as error:
        seen["refused"] += 1
        seen["errors"].add(str(error).split(":")[0][:60])


def new_findings():
    return {"opened": 0, "refused": 0, "records": 0, "partial": 0, "wrong": [], "errors": set()}


def read_finished(path):
    """In a process of its own: after files that it had to refuse, netCDF-C may have old metadata of this one."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "read", path], capture_output=True, text=True,
                          check=False)
    return done.stdout.splitlines()[-1] if done.returncode == 0 else done.stderr[-300:]


def test_our_writer(writers, readers):
    path = scratch(f"live{writers}{readers}.nc")
    seen = new_findings()
    reader = start(readers, "read", path)
    while not os.path.exists(path + ".reading") and reader.poll() is None:
        time.sleep(0.01)
    writer = start(writers, "write", path, RECORDS)
    while writer.poll() is None:
        read_once(path, seen)
    err = writer.communicate()[1]
    opened, refused, records, wrong, codes = finish_reader(reader, path)
    last = read_finished(path)
    label = f"{writers} ranks write {RECORDS} records"
    ok(writer.returncode == 0 and not seen["wrong"] and seen["opened"] > 0 and last == f"{RECORDS} records, all right",
       f"{label}: netCDF-C reads them {seen['opened']} times, {seen['partial']} of these without a part of the last "
       f"records, and gets an error {seen['refused']} times {sorted(seen['errors'])}",
       "\n".join([*seen["wrong"][:5], f"status {writer.returncode}, at the end: {last}", err]))
    ok(not wrong and records == RECORDS and opened > 1 and set(codes) <= PLAIN,
       f"{label}: {readers} ranks of ours read them {opened} times, and get an error {refused} times {codes}", wrong)


# --- other readers ---

def read_by_h5py(path):
    """Until PATH.done exists. What HDF5 refuses is an error of Python; a crash is the status of this process."""
    opened, wrong = 0, []
    while not os.path.exists(path + ".done"):
        try:
            with h5py.File(path) as file:
                records = min(len(file["v"]), len(file["w"]))
                first = max(0, records - 3)
                found = {"v": file["v"][first:records], "w": file["w"][:records]}
        except (OSError, RuntimeError, KeyError, ValueError):
            continue
        opened += 1
        for name, wanted in (("v", np.arange(first, records)[:, None] * 1000 + np.arange(X)),
                             ("w", np.arange(records) + 1)):
            if differs(found[name], wanted, {"partial": 0}):
                wrong.append(f"{name} with {records} records")
    print(opened, *wrong[:5], sep="\n")


def dump_once(path, seen):
    """The numbers of w by ncdump, in which fill values are underscores."""
    done = subprocess.run(["ncdump", "-v", "w", path], capture_output=True, text=True, check=False)
    if done.returncode < 0:
        seen["wrong"].append(f"signal {-done.returncode} in ncdump")
    if done.returncode != 0 or " w =" not in done.stdout:
        seen["refused"] += 1
        return
    words = [word.strip() for word in done.stdout.rsplit(" w =", 1)[1].split(";")[0].split(",")]
    known = words.index("_") if "_" in words else len(words)
    seen["opened"] += 1
    if words[:known] != [str(i + 1) for i in range(known)] and words != [""] or set(words[known:]) > {"_"}:
        seen["wrong"].append(f"w of ncdump: {words}")


def test_other_readers(records):
    """h5py in one process and ncdump in many read what two ranks write: none crashes, or stops the writer."""
    path = scratch("others.nc")
    seen = new_findings()
    writer = start(2, "write", path, records)
    with subprocess.Popen([sys.executable, os.path.abspath(__file__), "h5py", path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as reader:
        while writer.poll() is None:
            dump_once(path, seen)
        dump_once(path, seen)
        with open(path + ".done", "w", encoding="ascii"):
            pass
        out, err = reader.communicate()
    lines = [line for line in out.splitlines() if not line.startswith("#")]
    opened, *wrong = lines if reader.returncode == 0 else ["0", f"h5py: {reader.returncode}, {err}"]
    last = read_finished(path)
    ok(writer.returncode == 0 and not wrong and not seen["wrong"] and last == f"{records} records, all right",
       f"2 ranks write {records} records: h5py reads them {opened} times, and ncdump {seen['opened']} times",
       "\n".join([*wrong, *seen["wrong"][:5], last, writer.communicate()[1]]))


WRITE = """
import netCDF4, numpy as np, sys
path, records = sys.argv[1], int(sys.argv[2])
with netCDF4.Dataset(path, "w") as file:
    file.createDimension("t", None)
    file.createDimension("x", 1000)
    v = file.createVariable("v", "i4", ("t", "x"), zlib=True, complevel=1, chunksizes=(1, 1000))
    w = file.createVariable("w", "i4", ("t",), zlib=True, complevel=1, chunksizes=(500,))
    file.sync()
    for record in range(records):
        v[record] = record * 1000 + np.arange(1000)
        w[record] = record + 1
        if record % 10 == 9:
            file.createVariable(f"more{record // 10}", "i2", ("t", "x")).units = "degrees"
            file.history = "a" * (20 * (record // 10) % 500)
        file.sync()
"""


def test_their_writer(readers):
    """Its writes are not all or none: a reader may get an error, or no values of the last records; what is checked
    otherwise are values that a filter checks."""
    path = scratch(f"theirs{readers}.nc")
    with subprocess.Popen([sys.executable, "-c", WRITE, path, str(RECORDS)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as writer:
        while not os.path.exists(path) and writer.poll() is None:
            time.sleep(0.01)
        reader = start(readers, "read-theirs", path)
        err = writer.communicate()[1]
    opened, refused, records, wrong, codes = finish_reader(reader, path)
    ok(writer.returncode == 0 and not wrong and records == RECORDS and opened > 0 and set(codes) <= PLAIN,
       f"netCDF-C writes {RECORDS} records: {readers} ranks of ours read them {opened} times, and get an error "
       f"{refused} times {codes}", wrong + err)


if sys.argv[1:2] == ["h5py"]:
    read_by_h5py(sys.argv[2])
    sys.exit()
if len(sys.argv) > 1: # read_finished
    found = new_findings()
    read_once(sys.argv[2], found)
    is_right = found["opened"] == 1 and not found["wrong"] and found["partial"] == 0
    print(f"{found['records']} records, {'all right' if is_right else found}")
    sys.exit()
if "NC_ENOTBUILT" in start(1, "write", scratch("first.nc"), 1).communicate()[1]:
    skip("a netCDF-4 file that is read while it is written", "the build is without HDF5")
    finish()
test_our_writer(1, 1)
test_our_writer(2, 2)
for n in (1, 2):
    test_their_writer(n)
if h5py is None or shutil.which("ncdump") is None:
    skip("other readers", "h5py or ncdump is not installed (Debian: python3-h5py, netcdf-bin)")
else:
    test_other_readers(min(RECORDS, choose(30, 60, RECORDS)))
finish()
