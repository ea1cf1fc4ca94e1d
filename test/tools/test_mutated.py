# needs: python
"""Every tool over damaged files: no crash, no endless loop, bounded memory, an output if and only if the tool says so,
and nothing else that is left behind. PNC_TEST_MUTATED is their number, PNC_TEST_SEED chooses others."""
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import mutate
import tap
import tool

WRAPPED = bool(os.environ.get("PNC_TEST_WRAPPER"))
COUNT = int(os.environ.get("PNC_TEST_MUTATED", 5 if WRAPPED else tap.choose(20, 40, 1000)))
SEED = int(os.environ.get("PNC_TEST_SEED", 1))
# Of the processor, after which the system kills a tool; a wrapper such as valgrind takes longer.
SECONDS = 20 if WRAPPED else 5
MEMORY = 64 << 20
LARGEST = 64 << 20 # a text may define a file of any size

# A row for each tool: name, exit statuses that it documents, and the arguments of each run; FILE is the damaged file,
# GOOD another one, OUT a file that may be written.
READERS = [
    ("cdfdiff", {0, 1, 2}, [["FILE", "GOOD"], ["-b", "GOOD", "FILE"]]),
    ("ncmpidiff", {0, 1, 2}, [["FILE", "GOOD"]]),
    ("ncmpicopy", {0, 1, 2}, [["--verify", "-O", "-k", "cdf5", "FILE", "OUT"]]),
    ("ncmpidump", {0, 1}, [["FILE"], ["--json", "FILE"], ["-t", "-s", "FILE"],
                           ["--stats", "FILE"]]),
    ("ncoffsets", {0, 1}, [["-sgrd", "--align=4096", "FILE"], ["--align=512", "--svg", "FILE"],
                              ["--kerchunk", "--chunk=64", "FILE"], ["--html", "FILE"]]),
    ("ncmpilog", {0, 1, 2}, [["FILE"]]),
    ("ncvalidator", {0, 1, 2}, [["-t", "--json", "FILE"], ["--repair", "--output=OUT", "FILE"],
                               ["--repair", "--raise-records", "--undo-growth", "--output=OUT", "FILE"]]),
]
CHECKERS = {"cdfdiff", "ncmpidiff", "ncvalidator"} # their status 1 is an error or a result
WRITERS = [("ncmpigen", {0, 1}, [["-o", "OUT", "FILE"], ["-k", "nc4", "-o", "OUT", "FILE"], ["-c", "FILE"],
                                ["-f", "-v", "5", "FILE"]])]


def is_sanitized():
    with open(os.path.join(tool.BUILD, "Makefile"), encoding="utf-8") as file:
        return "-fsanitize=address" in file.read()


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))


def run(command, folder):
    """(exit status, negative after a signal, stderr, seconds of the processor, bytes of memory)."""
    with open(os.path.join(folder, "stderr"), "w+b") as err:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                 preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return child.returncode, err.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def is_netcdf(path, netcdf4):
    if not os.path.exists(path):
        return False
    with open(path, "rb") as file:
        head = file.read(8)
    return head == b"\x89HDF\r\n\x1a\n" if netcdf4 else head[:4] in (b"CDF\1", b"CDF\2", b"CDF\5")


class Judge:
    """The errors of one tool, and the largest time and memory that it used."""

    def __init__(self, name, statuses, folder, sanitized):
        self.name, self.statuses, self.folder, self.sanitized = name, statuses, folder, sanitized
        self.runs, self.seconds, self.memory, self.problems = 0, 0, 0, []

    def look(self, words, size, out):
        status, err, seconds, memory = run(tool.command(self.name) + words, self.folder)
        self.runs += 1
        self.seconds, self.memory = max(self.seconds, seconds), max(self.memory, memory - size)
        if status not in self.statuses:
            return f"exit status {status} {err[:2000].decode(errors='replace')}"
        if b"Sanitizer" in err or b"runtime error" in err:
            return err[:2000].decode(errors="replace")
        if status != 1 and any(out in word for word in words) and not is_netcdf(out, "nc4" in words):
            return f"exit status {status}, and no netCDF file as output"
        # ncvalidator keeps its copy even if some errors cannot be repaired
        if status == 1 and os.path.exists(out) and self.name != "ncvalidator":
            return "exit status 1, and an output"
        if WRAPPED:
            return ""
        lines = [line for line in err.splitlines() if b": warning: " not in line]
        if status == 1 and len(lines) != 1 and self.name not in CHECKERS:
            return "not one line: " + err[:300].decode(errors="replace")
        if memory > MEMORY + size and not self.sanitized: # which has a use for memory of its own
            return f"{memory / 2**20:.0f} MiB"
        return ""


def test(tools, folder, damaged, what):
    work = os.path.join(folder, "work")
    os.makedirs(work, exist_ok=True)
    path, good, out = [os.path.join(work, name) for name in ("damaged", "good.nc", "out.nc")]
    mutate.sample(2).write(good)
    judges = {name: Judge(name, statuses, work, is_sanitized()) for name, statuses, _ in tools}
    for number, data in damaged:
        with open(path, "wb") as file:
            file.write(data)
        for name, _, all_arguments in tools:
            for arguments in all_arguments:
                words = [{"FILE": path, "GOOD": good}.get(a, a.replace("OUT", out)) for a in arguments]
                why = judges[name].look(words, len(data), out)
                if os.path.exists(out):
                    os.remove(out)
                left = sorted(set(os.listdir(work)) - {"damaged", "good.nc", "stderr"})
                for each in left:
                    os.remove(os.path.join(work, each))
                why = why or (f"left behind: {', '.join(left)}" if left else "")
                if why:
                    keep = os.path.join(folder, f"{name}-{number}")
                    with open(keep, "wb") as file:
                        file.write(data)
                    judges[name].problems.append(f"{what} {number} (kept as {keep}): {' '.join(words)}: {why}")
    for judge in judges.values():
        tap.ok(not judge.problems, f"{judge.name}: {judge.runs} runs over {COUNT} times a {what}",
               "\n".join(judge.problems[:10]))
        print(f"# at most {judge.seconds:.2f} s and {judge.memory / 2**20:.0f} MiB more than the file")


def main():
    folder = tap.scratch("mutated")
    os.makedirs(folder, exist_ok=True)
    test(READERS, folder, mutate.files(folder, COUNT, SEED), "damaged file")
    test(WRITERS, folder, mutate.texts(COUNT, SEED), "damaged text")


main()
tap.finish()
