"""The manual pages: a page for every function, pages without a warning of groff, and examples that compile."""
# needs: python
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
SOURCE = os.environ.get("PNC_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGES = os.path.join(BUILD, "man", "man3")
SECTIONS = ("NAME", "LIBRARY", "SYNOPSIS", "DESCRIPTION", "RETURN VALUES", "EXAMPLES", "SEE ALSO")
# The program around the examples of the pages.
FRAME = """#include <stdio.h>
#include <pnetcdf.h>
void example_{number}(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_{number}(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
{code}}}
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def declarations():
    """{function: [types and names of its arguments]} of pnetcdf.h."""
    text = re.sub(r"/\*.*?\*/", " ", read(os.path.join(BUILD, "include", "pnetcdf.h")), flags=re.S)
    found = re.findall(r"\b((?:ncmpi|cdl_hdr)_\w+)\s*\(([^)]*)\);", text)
    return {name: [] if arguments == "void" else arguments.split(", ") for name, arguments in found}


def check_complete(pages, functions):
    tap.ok(set(pages) == set(functions), f"each of the {len(functions)} functions has a page",
           sorted(set(pages) ^ set(functions)))
    lost = sorted(name for name, text in pages.items()
                  if text.startswith(".so ") and text.split()[1] not in {f"man3/{page}.3" for page in pages})
    tap.ok(not lost, "pages that lead to others lead to pages that exist", lost)


def check_contents(real, functions):
    bad = [f"{name}: no {section}" for name, text in real.items() for section in SECTIONS
           if f".Sh {section}\n" not in text]
    tap.ok(not bad, f"the {len(real)} pages that are not links have all sections", "\n".join(bad))
    bad = sorted(name for name, text in real.items() if not re.search(r"[Cc]ollective|Local|Call it on one rank", text))
    tap.ok(not bad, "each states whether the function is collective", "\n".join(bad))
    bad = []
    for name in set(real) & set(functions):
        for argument in functions[name]:
            if f'.Fa "{argument}"' not in real[name] and "const MPI_Datatype" not in argument:
                bad.append(f"{name}: synopsis without {argument}")
            word = re.search(r"(\w+)(\[\])?$", argument).group(1)
            if not re.search(rf"^\.It Fa {word}\n\S", real[name], flags=re.M):
                bad.append(f"{name}: nothing about argument {word}")
    tap.ok(not bad, "synopsis and arguments are those of pnetcdf.h", "\n".join(bad))
    bad = [f"{name}: {code}" for name, text in real.items()
           for code in re.findall(r"^\.It Er (\w+)\n\.$", text, flags=re.M)]
    tap.ok(not bad, "each error code has a meaning", "\n".join(bad))


def check_examples(real):
    blocks = {}
    for name, text in real.items():
        for block in re.findall(r"^\.Bd -literal -offset indent\n(.*?)^\.Ed", text, flags=re.M | re.S):
            blocks.setdefault(block.replace("\\e", "\\"), name)
    unexpanded = [name for code, name in blocks.items() if "CALL(" in code]
    tap.ok(not unexpanded, "no example is left as a template", unexpanded)
    source = tap.scratch("examples.c")
    with open(source, "w", encoding="utf-8") as file:
        for number, code in enumerate(blocks):
            file.write(FRAME.format(number=number, code=code))
    compiler = shlex.split(os.environ.get("CC", "mpicc"))
    done = subprocess.run([*compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable",
                           "-Wno-unused-but-set-variable", "-fsyntax-only", "-I" + os.path.join(BUILD, "include"),
                           source], capture_output=True, text=True, check=False)
    tap.ok(done.returncode == 0, f"their {len(blocks)} different examples compile", done.stderr)


def check_roff(real):
    if shutil.which("groff") is None:
        tap.skip("groff finds nothing wrong with the pages", "groff is not installed")
        return
    others = [os.path.join(folder, name) for folder in (os.path.join(SOURCE, "man"), os.path.join(BUILD, "man"))
              for name in sorted(os.listdir(folder)) if re.search(r"\.[1-9]$", name)]
    functions = [os.path.join(PAGES, f"{name}.3") for name in sorted(real)]
    for paths, label in (others, "of programs and formats"), (functions, "of functions"):
        done = subprocess.run(["groff", "-ww", "-mandoc", "-Tutf8", *paths], capture_output=True, text=True,
                              check=False)
        tap.ok(done.returncode == 0 and not done.stderr, f"groff finds nothing wrong with {len(paths)} pages {label}",
               done.stderr)
        # groff puts commas between the arguments of a function, also beside those that the page has.
        twice = [line for line in done.stdout.splitlines() if re.search(r",\s*,", line)]
        tap.ok(not twice, f"no comma is printed twice in pages {label}", "\n".join(twice))


pages = {name[:-2]: read(os.path.join(PAGES, name)) for name in os.listdir(PAGES)}
functions = declarations()
real = {name: text for name, text in pages.items() if not text.startswith(".so ")}
check_complete(pages, functions)
check_contents(real, functions)
check_examples(real)
check_roff(real)
tap.finish()
