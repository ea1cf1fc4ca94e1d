# needs: python
"""Forged journals, their digests being right: opening the file for writing, and ncvalidator --repair, end in bounded
time, memory and space. They refuse the journal and leave the file as it is, or complete the change. PNC_TEST_FORGED is
the number of files, PNC_TEST_SEED chooses others."""
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import forge
import tap
import tool

WRAPPED = bool(os.environ.get("PNC_TEST_WRAPPER"))
COUNT = int(os.environ.get("PNC_TEST_FORGED", 10 if WRAPPED else tap.choose(60, 150, 1000)))
SEED = int(os.environ.get("PNC_TEST_SEED", 1))
BATCH = 50 # files that a program opens
# Of the processor, for a file; then the system ends the program. A wrapper such as valgrind takes longer.
SECONDS = 60 if WRAPPED else 5
MINUTES = 2 # of the clock: a repair also waits for the disk
REFUSED, COMPLETED = "refused", "completed"


def limit(size):
    """No file becomes longer than it was."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def judge(code, before, after):
    """(what became of it, what is wrong)"""
    if len(after) > len(before):
        return "", f"{len(after)} bytes of {len(before)}"
    if code not in (0, -280):
        return "code %d" % code, "" if after == before else "an error, and another file"
    if code == -280:
        return REFUSED, "" if after == before else "refused, and another file"
    return COMPLETED, "" if after[3] in (1, 2, 5) else "it still has the mark"


def open_all(paths):
    """Codes of opening each for writing."""
    status, out, err = tap.run_mpi(1, "test/tools/open_limited", SECONDS, *paths)
    codes = [int(line) for line in out.split()]
    if status != 0 or len(codes) < len(paths):
        raise OSError(f"{paths[len(codes)]}: exit status {status}: {err}")
    return codes


def validate(path):
    """0, or -280 for a refusal, which is printed."""
    done = subprocess.run([*tool.command("ncvalidator"), "-q", "--repair", "--in-place", path], capture_output=True,
                          text=True, check=False, timeout=60 * MINUTES,
                          preexec_fn=lambda: limit(os.path.getsize(path)))
    if done.returncode not in (0, 1, 2):
        return done.returncode - 1000
    return -280 if "journal" in done.stderr else 0


def write_batch(folder, forged, name):
    paths = []
    for i, one in enumerate(forged):
        paths.append(os.path.join(folder, "%s%d.nc" % (name, i)))
        with open(paths[-1], "wb") as file:
            file.write(one.image())
    return paths


def run(folder, forged, name, count):
    """Both ways of repairing. Adds to count what became of the files; returns what was wrong."""
    problems = []
    for how in ("open", "ncvalidator"):
        paths = write_batch(folder, forged, name)
        before = [read(path) for path in paths]
        try:
            codes = open_all(paths) if how == "open" else [validate(path) for path in paths]
        except (OSError, subprocess.TimeoutExpired) as error:
            return problems + [f"{how}: {error}"]
        for path, code, old in zip(paths, codes, before):
            kind, wrong = judge(code, old, read(path))
            count[how, kind] = count.get((how, kind), 0) + 1
            if wrong:
                problems.append(f"{how}: {path}: {wrong}")
    for path in paths if not problems else []:
        os.remove(path)
    return problems


def test_good(folder):
    """What a writer leaves is completed: the values are those of the formula."""
    for version in (1, 2, 5):
        for length in (3, 1500, 6000):
            for more in ([], [("w", "int", [0])]):
                one = forge.growth(folder, version, length, 40, more)
                count = {}
                problems = run(folder, [one], "good", count)
                paths = write_batch(folder, [one], "good")
                open_all(paths)
                begin = int.from_bytes(one.new[-4 if version == 1 else -8:], "big") if not more else \
                    one.numbers["new_size"] - 4 * length - 2 * length - 2 * length % 4
                values = b"".join(v.to_bytes(2, "big") for v in forge.values(length))
                got = read(paths[0])
                tap.ok(not problems and set(kind for _, kind in count) == {COMPLETED} and
                       got[begin:begin + 2 * length] == values,
                       f"CDF-{version}, {length} values, {len(more)} new variables: completed", "\n".join(problems))


def main():
    folder = tap.scratch("forged")
    os.makedirs(folder, exist_ok=True)
    test_good(folder)
    count, problems, forged = {}, [], []
    for i, one in enumerate(forge.forgeries(folder, COUNT, SEED)):
        forged.append(one)
        if len(forged) == BATCH or i == COUNT - 1:
            problems += run(folder, forged, "forged%d_" % (i // BATCH), count)
            forged = []
    for (how, kind), n in sorted(count.items()):
        print(f"# {how}: {n} {kind}")
    tap.ok(not problems, f"{COUNT} forged journals", "\n".join(problems[:20]))
    tap.ok(all(count.get((how, REFUSED), 0) > COUNT / 3 for how in ("open", "ncvalidator")), "most are refused", count)


main()
tap.finish()
