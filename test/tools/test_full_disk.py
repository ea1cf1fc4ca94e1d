# needs: python
"""Tools that write, on a full disk: a file system of 256 KiB, which only root may make. One line that names the file
and the cause, exit status 1, no file under the output's name nor beside it, and what was to be replaced stays."""
import ctypes
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cdf
import tap
import tool

CLONE_NEWNS = 0x20000 # <linux/sched.h>
SIZE = 256 << 10


def make_disk():
    """Mount the folder "disk" for this process only, and unmount it at its end. Returns an error message or None."""
    if os.geteuid() != 0:
        return "only root can mount a file system"
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        return "no mount namespace: " + os.strerror(ctypes.get_errno())
    os.mkdir("disk")
    for words in (["--make-rprivate", "/"], ["-t", "tmpfs", "-o", "size=%d" % SIZE, "none", "disk"]):
        done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr.strip()
    return ""


def make_files():
    """A file larger than the disk, the same with a wrong number of records, and texts for large and small files."""
    writer = cdf.Writer(2, [("t", None), ("x", 1 << 16)], [], [("v", "double", [0, 1], [], [1.])], 4)
    writer.write("large.nc")
    with open("large.nc", "rb") as file:
        data = file.read()
    with open("broken.nc", "wb") as file:
        file.write(data[:4] + b"\xff\xff\xff\xff" + data[8:])
    cdf.Writer(1, [("x", 3)], [], [("v", "int", [0], [], [1, 2, 3])]).write("small.nc")
    with open("large.cdl", "w", encoding="ascii") as file:
        file.write("netcdf large { dimensions: x = 1000000 ; variables: double v(x) ; data: v = 1, 2, 3 ; }\n")
    with open("small.cdl", "w", encoding="ascii") as file:
        file.write("netcdf small { dimensions: x = 3 ; variables: int v(x) ; data: v = 1, 2, 3 ; }\n")


def fill():
    """Fill the disk."""
    with open("disk/filler", "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass


def refused(name, ranks, *arguments):
    """The output is disk/out in all cases."""
    mpiexec = [*os.environ.get("MPIEXEC", "mpiexec").split(), "-n", str(ranks)] if ranks > 1 else []
    before = sorted(os.listdir("disk"))
    done = subprocess.run([*mpiexec, *tool.command(name), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    said = [line for line in done.stderr.splitlines() if line.startswith(name + ": ")]
    tap.ok(done.returncode == 1 and len(said) == 1 and "disk/out" in said[0]
           and ("full" in said[0] or "space" in said[0]),
           "%s %s on %d ranks" % (name, " ".join(arguments), ranks),
           "exit status %d\n%s" % (done.returncode, done.stderr))
    after = sorted(os.listdir("disk"))
    tap.ok(after == before, "and leaves nothing behind", after)


def main():
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    why = make_disk()
    if why:
        tap.skip("tools on a full disk", why)
        tap.finish()
    make_files()
    for ranks in (1, 4):
        refused("ncmpicopy", ranks, "large.nc", "disk/out.nc")
    refused("ncvalidator", 1, "--repair", "--output=disk/out.nc", "broken.nc")
    refused("ncmpigen", 1, "-o", "disk/out.nc", "large.cdl")
    with open("disk/out.nc", "wb") as file:
        file.write(b"precious")
    refused("ncmpicopy", 4, "-O", "large.nc", "disk/out.nc")
    refused("ncmpigen", 1, "-O", "-o", "disk/out.nc", "large.cdl")
    with open("disk/out.nc", "rb") as file:
        tap.ok(file.read() == b"precious", "a file to be replaced stays")
    fill()
    refused("ncoffsets", 1, "--svg=disk/out.svg", "small.nc")
    refused("ncmpigen", 1, "-c", "-o", "disk/out.c", "small.cdl")
    refused("ncmpigen", 1, "-f", "-o", "disk/out.f", "small.cdl")
    refused("ncmpigen", 1, "-O", "-o", "disk/out.nc", "small.cdl")
    refused("ncvalidator", 1, "--repair", "--output=disk/out2.nc", "small.nc")
    for ranks in (1, 4):
        refused("ncmpicopy", ranks, "-O", "small.nc", "disk/out.nc")
    tap.finish()


main()
