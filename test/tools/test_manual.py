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
# Names of arguments that are also words of a text.
ENGLISH = {"code", "extent", "format", "info", "message", "name", "offset", "path", "size", "usage", "value", "values",
           "deflate", "filter", "level", "shuffle", "storage"}
# The program around the examples of the pages.
FRAME = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pnetcdf.h>
void example_{number}(int rank, int nprocs, int ncid, int varid, int dimid, int hid, int *varids);
void example_{number}(int rank, int nprocs, int ncid, int varid, int dimid, int hid, int *varids)
{{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)hid, (void)varids;
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
            word = argument_name(argument)
            if not re.search(rf"^\.It Fa {word}\n\S", real[name], flags=re.M):
                bad.append(f"{name}: nothing about argument {word}")
    tap.ok(not bad, "synopsis and arguments are those of pnetcdf.h", "\n".join(bad))
    bad = [f"{name}: {code}" for name, text in real.items()
           for code in re.findall(r"^\.It Er (\w+)\n\.$", text, flags=re.M)]
    tap.ok(not bad, "each error code has a meaning", "\n".join(bad))


def members_of(name, pages):
    """The functions that a page describes."""
    return {name} | {other for other, text in pages.items() if text.split() == [".so", f"man3/{name}.3"]}


def section_of(text, title):
    return re.search(rf"^\.Sh {title}\n(.*?)(?=^\.Sh |\Z)", text, flags=re.M | re.S).group(1)


def check_calls(real, pages):
    bad = []
    for name, text in sorted(real.items()):
        called = set(re.findall(r"\b((?:ncmpi|cdl_hdr)_\w+)\(", section_of(text, "EXAMPLES")))
        if not called & members_of(name, pages):
            bad.append(f"{name}: its example calls {', '.join(sorted(called)) or 'nothing'}")
    tap.ok(not bad, f"the example of each of the {len(real)} pages calls its function", "\n".join(bad))


def argument_name(argument):
    return re.search(r"(\w+)(\[\])?$", argument).group(1)


def check_words(real, pages, functions):
    """A description names no argument of another function, unless it says of which: "h_minfree of ncmpi__enddef"."""
    known = {argument_name(argument) for arguments in functions.values() for argument in arguments} - ENGLISH
    bad = []
    for name, text in sorted(real.items()):
        own = {argument_name(argument) for member in members_of(name, pages) for argument in functions[member]}
        words = re.sub(r"\w+ of ncmpi_\w+", "", section_of(text, "DESCRIPTION"))
        bad += [f"{name}: {word}" for word in sorted(set(re.findall(r"\w+", words)) & known - own)]
    tap.ok(not bad and len(known) > 40, f"no page speaks of one of {len(known)} arguments that its synopsis lacks",
           "\n".join(bad))


def check_flags(real):
    """What the code does with flags, by their names in it; test/mpi tests that it does."""
    for function in "create", "open":
        text = re.sub(r"\s+", " ", section_of(real["ncmpi_" + function], "DESCRIPTION"))
        tap.ok(re.search(r"NC_SHARE to flush .* after each collective put", text) and "ignored" not in text,
               f"ncmpi_{function} says what NC_SHARE does, and not that it is ignored", text)


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
check_calls(real, pages)
check_words(real, pages, functions)
check_flags(real)
check_examples(real)
check_roff(real)
tap.finish()
