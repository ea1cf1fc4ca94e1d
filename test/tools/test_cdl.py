# needs: python
"""Headers printed by ncmpidump and ncdump, made into new files by way of cdl_hdr_*: these print the same header."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", "."))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.abspath(os.environ.get("PNC_TEST_DATA", os.path.join(SOURCE, "../shared/data")))
DUMP = os.path.join(BUILD, "src/tools/ncmpidump/ncmpidump")
CREATE = os.path.join(BUILD, "test/tools/create_from_cdl")
ZOO = os.path.join(BUILD, "test/interop/write_zoo")


def run(*command):
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def header(tool, path, name="x"):
    """The header as a tool prints it; a new file has no records, and no fill value of another type than its variable's,
    as NaN (a double) is for the floats and shorts of some real files."""
    text = re.sub(rb"\t\t\w+:_FillValue = NaN ;\n", b"", run(tool, "-h", "-n", name, path)[1])
    return re.sub(rb"\(\d+ currently\)", b"(0 currently)", text)


def check(path, tool):
    label = os.path.basename(path) + " by way of " + os.path.basename(tool)
    cdl, made = tap.scratch("header.cdl"), tap.scratch("made.nc")
    wanted = header(tool, path)
    with open(cdl, "wb") as file:
        file.write(wanted)
    if not wanted:
        tap.ok(False, label, "the header cannot be printed")
        return
    status, _, errors = run(CREATE, cdl, made)
    got = header(tool, made) if status == 0 else b""
    first = next((f"wanted {a!r}\ngot    {b!r}" for a, b in zip(wanted.split(b"\n"), got.split(b"\n")) if a != b), "")
    tap.ok(status == 0 and got == wanted, label, errors + first)


os.environ["PNETCDF_VERBOSE"] = "1"
zoo = tap.scratch("zoo")
os.makedirs(zoo, exist_ok=True)
run(ZOO, zoo)
files = sorted(glob.glob(os.path.join(zoo, "*.nc")))
tap.ok(len(files) > 3, f"a zoo of {len(files)} files is written")
real = sorted(path for path in glob.glob(os.path.join(DATA, "*.nc")) if not os.path.basename(path).startswith("bad_"))
if not real:
    tap.skip("real files", f"{DATA} is absent: set PNC_TEST_DATA")
tools = [DUMP] + ([shutil.which("ncdump")] if shutil.which("ncdump") else [])
for each in files + real:
    for program in tools:
        check(each, program)
tap.finish()
