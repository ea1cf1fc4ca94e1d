"""Which functions of a header for C++ a program has called: the compiler keeps inline functions that nothing calls, and
gcov counts the calls of each. Of templates there is nothing to count unless a program has made a function of them:
those are found by their names in the text."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402


def has_gcov():
    return shutil.which("gcov") is not None


def flags():
    """Of g++, for the object of the program."""
    return ["-O0", "--coverage", "-fkeep-inline-functions"] if has_gcov() else []


def libraries():
    """For the linker, whose compiler may be another one than g++."""
    command = ["g++", "-print-file-name=libgcov.a"]
    return [subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()] if has_gcov() else []


def counts(made, header):
    """{function of the header: number of its calls} in the runs of the program of an object file."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", os.path.basename(made)], cwd=os.path.dirname(made),
                          capture_output=True, text=True, check=True)
    found = {}
    for file in json.loads(done.stdout)["files"]:
        for function in file["functions"] if os.path.realpath(file["file"]) == os.path.realpath(header) else ():
            name = function["demangled_name"]
            found[name] = found.get(name, 0) + function["execution_count"]
    return found


def templates(header):
    """Names of functions that are templates."""
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read())
    return set(re.findall(r"^ *template <.*>\s+[\w:<> *&,]+?[ *&](\w+)\(", text, re.M))


def check(made, header, least):
    """Two TAP lines: each function of the header was called."""
    if not has_gcov():
        tap.skip("which functions of the header were called", "gcov is not installed")
        return
    if not tap.has_hdf5():
        tap.skip("which functions of the header were called", "not those for netCDF-4 files, as the build has none")
        return
    found = counts(made, header)
    never = sorted(name for name, number in found.items() if number == 0)
    tap.ok(len(found) >= least and not never, f"all {len(found)} functions of the header were called in this run",
           "\n".join(never))
    called = " ".join(name for name, number in found.items() if number > 0)
    wanted = templates(header)
    absent = sorted(name for name in wanted if not re.search(rf"\b{name}<", called))
    tap.ok(wanted and not absent, f"so was each of {len(wanted)} templates", absent)
