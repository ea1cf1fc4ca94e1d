"""The style of the code: no line is too long, clang-format changes no C file, and pointers and error codes are
compared, not used as truth values."""
# needs: python
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# Texts that people write: folders, files of the top, and endings of names; files with "#!" are included.
WRITTEN = ["src", "test", "benchmarks", "examples", "man", "docs", "scripts", "cmake", ".ci"]
AT_THE_TOP = ["README.md", "NEWS.md", "CONTRIBUTING.md", "configure.ac", "Makefile.am", "check", "demo"]
TEXTS = (".c", ".h", ".inc", ".l", ".y", ".f", ".f90", ".m4", ".py", ".sh", ".am", ".in", ".md", ".1", ".3", ".7")
COLUMNS = 120


def is_made(path):
    """True if flex or bison generated the file: a release has it beside its source."""
    return path.endswith((".c", ".h")) and any(os.path.exists(path[:-1] + letter) for letter in "ly")


def written():
    """(path, lines) of each text that is checked in, as far as a release has it."""
    paths = [os.path.join(TOP, name) for name in AT_THE_TOP]
    for folder in WRITTEN:
        for path, _, names in os.walk(os.path.join(TOP, folder)):
            paths += [os.path.join(path, name) for name in sorted(names)]
    for path in paths:
        if not os.path.isfile(path) or is_made(path):
            continue
        with open(path, "rb") as file:
            if not path.endswith(TEXTS) and path not in paths[:len(AT_THE_TOP)] and file.read(2) != b"#!":
                continue
            file.seek(0)
            lines = file.read().decode().splitlines()
        # a build in the source folder leaves generated files there
        if path.endswith(".m4") or not any(re.search(r"\bGenerated (from|by)\b", line) for line in lines[:5]):
            yield os.path.relpath(path, TOP), lines


def may_be_long(path, line):
    """Rows of a table, and where a line end would be one of the text that m4 makes."""
    return path.endswith(".md") and line.startswith("|") or path.endswith(".m4") and "[" in line


def check_columns():
    texts = list(written())
    wrong = [f"{path}:{number}: {len(line)} columns" for path, lines in texts for number, line in enumerate(lines, 1)
             if len(line) > COLUMNS and not may_be_long(path, line)]
    tap.ok(len(texts) > 300 and not wrong, f"the lines of {len(texts)} texts have at most {COLUMNS} columns",
           "\n".join(wrong))


def c_sources():
    for path, lines in written():
        if path.endswith((".c", ".h")):
            yield path, "\n".join(lines)


def check_format():
    program = os.environ.get("CLANG_FORMAT", "clang-format-14") # another version breaks some lines elsewhere
    if not shutil.which(program):
        tap.skip("format of C files", f"no {program}")
        return
    paths = [path for path, _ in c_sources()]
    result = subprocess.run([program, "--dry-run", *paths], cwd=TOP, capture_output=True, text=True, check=False)
    wrong = sorted(set(re.findall(r"^(\S+?):\d+", result.stderr, re.M)))
    tap.ok(result.returncode == 0 and len(paths) > 200 and not result.stderr,
           f"{program} leaves {len(paths)} C files as they are",
           "\n".join([*(f"run {program} -i {path}" for path in wrong)] or [result.stderr]))


MASKED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TYPE = r"(?:char|void|int|struct \w+|pnc_\w+|size_t|double|float|\w+_t|MPI_\w+|FILE)"
POINTER = re.compile(TYPE + r" (?:const )?\*+(?:const )?(\w+)(?=\s*[,;=)\[])")
NUMBERS = re.compile(r"\b(?:bool|int|size_t|int64_t|long|unsigned) (\w+(?:(?: = [^,;()]*)?, \w+)*)(?=\s*[,;=)])")
# a name that is a pointer in one function and a number in another is left to the compiler
CODES = {"err", "status", "code"}
TRUTH = re.compile(r"!\s*((?:\w+(?:->|\.))*(\w+))(?![\w\[(.]|->)|"
                   r"(?:\bif \(|\bwhile \(|&& |\|\| )((?:\w+(?:->|\.))*(\w+))(?= \?|\)| &&| \|\|)")


def truth_values(text):
    """(line, expression) of each pointer and each error code that is used as a truth value."""
    text = MASKED.sub(lambda found: "\n" * found.group().count("\n") + '""', text)
    numbers = {name for names in NUMBERS.findall(text) for name in re.findall(r"\w+", names)}
    names = set(POINTER.findall(text)) - numbers | CODES
    for number, line in enumerate(text.split("\n"), 1):
        for found in TRUTH.finditer(line):
            if (found.group(2) or found.group(4)) in names:
                yield number, found.group(1) or found.group(3)


def check_truth_values():
    probe = 'void *p;\nif (!p || err)\n    p = "!p";\nif (p != NULL && err == NC_NOERR)\n'
    tap.ok([number for number, _ in truth_values(probe)] == [2, 2], "a pointer and an error code are found")
    wrong = [f"{path}:{number}: compare {name} with {'NC_NOERR' if name in CODES else 'NULL'}"
             for path, text in c_sources() for number, name in truth_values(text)]
    tap.ok(not wrong, "pointers are compared with NULL and error codes with NC_NOERR", "\n".join(wrong))


check_columns()
check_format()
check_truth_values()
tap.finish()
