"""Every procedure of pnetcdf.inc was called by a program that ran: the programs of test_families and test_metadata,
which compare what they put and get, run once more with the shared library, and the loader reports what they call."""
# needs: python
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fortran import BUILD, MODULES, SHARED, link, run_counting  # noqa: E402
from tap import finish, ok, scratch, skip  # noqa: E402

PROGRAMS = {"families": ["test_families.o", "calls.o"], "metadata": ["test_metadata.o", "metadata.o"]}
OBJECTS = os.path.abspath(os.path.join(BUILD, "test", "fortran"))
HARNESS = [os.path.abspath(os.path.join(BUILD, "test", "libharness.a")), "-lm"]


def declared():
    """The functions that pnetcdf.inc declares."""
    with open(os.path.join(MODULES, "pnetcdf.inc"), encoding="utf-8") as file:
        text = file.read()
    return set(re.findall(r"\bnfmpi_\w+", "".join(re.findall(r"^ *external (.*\n)", text, flags=re.M))))


def main():
    if not os.path.exists(SHARED) or not os.path.exists(os.path.join(MODULES, "pnetcdf.inc")):
        skip("which procedures of pnetcdf.inc are called", "the build has no shared library, or no Fortran")
        finish()
    called = set()
    for name, objects in PROGRAMS.items():
        status, messages = link(name, [*(os.path.join(OBJECTS, each) for each in objects), *HARNESS])
        if not ok(status == 0, f"{name} links with the shared library", messages):
            continue
        status, output, errors, names = run_counting(1, scratch(name))
        ok(status == 0 and "not ok" not in output, f"{name} runs", output[-2000:] + errors)
        if names is None:
            skip("which procedures it calls", "the loader does not report them")
            finish()
        called |= {each.lower().rstrip("_") for each in names}
    missing = declared() - called
    ok(len(declared()) > 400 and not missing, f"all {len(declared())} procedures of pnetcdf.inc were called",
       "\n".join(sorted(missing)))
    finish()


main()
