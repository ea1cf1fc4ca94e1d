# needs: python
"""Every tool over damaged files: no crash, no endless loop, bounded memory. PNC_TEST_MUTATED is their number."""
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import mutate
import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", "."))
QUICK = os.environ.get("PNC_TEST_QUICK") == "1"
WRAPPER = os.environ.get("PNC_TEST_WRAPPER", "").split()
COUNT = int(os.environ.get("PNC_TEST_MUTATED", 5 if WRAPPER else 25 if QUICK else 60))
SECONDS = 5 # of processor time: the machine may be busy with other things
MEMORY = 64 << 20

# A row for each tool: name, exit statuses that it documents, and the arguments of each run; FILE is the damaged file,
# GOOD another one, OUT a file that may be written.
TOOLS = [
    ("cdfdiff", {0, 1, 2}, [["FILE", "GOOD"]]),
    ("ncmpidiff", {0, 1, 2}, [["FILE", "GOOD"]]),
    ("ncmpicopy", {0, 1}, [["--verify", "-O", "-k", "cdf5", "FILE", "OUT"]]),
    ("ncmpidump", {0, 1}, [["FILE"]]),
    ("ncoffsets", {0, 1}, [["-sgrd", "--align=4096", "FILE"], ["--align=512", "--svg", "FILE"]]),
    ("ncvalidator", {0, 1}, [["-t", "--json", "FILE"], ["--repair", "--output=OUT", "FILE"]]),
]


def is_sanitized():
    with open(os.path.join(BUILD, "Makefile"), encoding="utf-8") as file:
        return "-fsanitize=address" in file.read()


def run(command, folder):
    """(exit status, stderr, seconds of the processor, bytes of memory); status None after a hang."""
    with open(os.path.join(folder, "stderr"), "w+b") as err:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (4 * SECONDS, 4 * SECONDS)))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return child.returncode, err.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def judge(command, statuses, size, sanitized, folder, worst):
    status, err, seconds, memory = run(command, folder)
    if status not in statuses:
        return f"exit status {status}"
    if b"Sanitizer" in err or b"runtime error" in err:
        return err[:2000].decode(errors="replace")
    if status == max(statuses) and err.count(b"\n") > 1 and not WRAPPER:
        return "more than one line: " + err[:300].decode(errors="replace")
    if not sanitized and not WRAPPER:
        worst[0], worst[1] = max(worst[0], seconds), max(worst[1], memory - size)
        if seconds > SECONDS:
            return f"{seconds:.1f} s"
        if memory > MEMORY + size:
            return f"{memory / 2**20:.0f} MiB"
    return ""


def main():
    folder = tap.scratch("mutated")
    os.makedirs(folder, exist_ok=True)
    path, good, out = [os.path.join(folder, name) for name in ("damaged.nc", "good.nc", "out.nc")]
    mutate.sample(2).write(good)
    sanitized = is_sanitized()
    problems, worst, runs = {}, {}, {}
    for number, data in mutate.files(folder, COUNT):
        with open(path, "wb") as file:
            file.write(data)
        for tool, statuses, all_arguments in TOOLS:
            command = WRAPPER + [os.path.join(BUILD, "src/tools", tool, tool)]
            if WRAPPER:
                command.insert(0, "--mode=execute")
                command.insert(0, os.path.join(BUILD, "libtool"))
            for arguments in all_arguments:
                if os.path.exists(out):
                    os.remove(out)
                words = [{"FILE": path, "GOOD": good}.get(a, a.replace("OUT", out)) for a in arguments]
                why = judge(command + words, statuses, len(data), sanitized, folder, worst.setdefault(tool, [0, 0]))
                runs[tool] = runs.get(tool, 0) + 1
                if why:
                    keep = os.path.join(folder, f"{tool}-{number}.nc")
                    with open(keep, "wb") as file:
                        file.write(data)
                    problems.setdefault(tool, []).append(f"file {number} (kept as {keep}): {' '.join(words)}: {why}")
    for tool, _, _ in TOOLS:
        found = problems.get(tool, [])
        tap.ok(not found, f"{tool}: {runs[tool]} runs over {COUNT} damaged files", "\n".join(found[:10]))
        print(f"# at most {worst[tool][0]:.2f} s and {worst[tool][1] / 2**20:.0f} MiB more than the file")


main()
tap.finish()
