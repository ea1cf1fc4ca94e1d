"""Profilers see every call: for each function of pnetcdf.h, a library in front of ours (as LD_PRELOAD puts it) and the
linker's --wrap both see the one call that a program makes, and no call that the library makes by itself."""
# needs: python
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
LIBS = os.path.join(BUILD, ".libs")

COUNTER = """
#include <pnetcdf.h>
int count_of(int function);
static int times_called[{number}];
int count_of(int function) {{ return times_called[function]; }}
"""
IN_FRONT = """
{result} {name}({parameters})
{{
    {result} (*next)({parameters});
    times_called[{index}]++;
    *(void **)&next = dlsym(RTLD_NEXT, "{name}");
    return next({arguments});
}}
"""
WRAP = """
{result} __real_{name}({parameters});
{result} __wrap_{name}({parameters});
{result} __wrap_{name}({parameters})
{{
    times_called[{index}]++;
    return __real_{name}({arguments});
}}
"""
CALLER = """
#include <stdio.h>
#include <pnetcdf.h>
int count_of(int function);
int main(void)
{{
    MPI_Init(NULL, NULL);
{calls}
    MPI_Finalize();
    for (int i = 0; i < {number}; i++)
        printf("%d\\n", count_of(i));
}}
"""


def functions():
    """(result, name, parameters, names of the arguments, harmless values for them) of each function of pnetcdf.h."""
    with open(os.path.join(BUILD, "include", "pnetcdf.h"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    for result, name, parameters in re.findall(r"^(int |const char \*)((?:ncmpi|cdl_hdr)_\w+)\(([^;]*)\);", text,
                                               flags=re.M):
        parameters = " ".join(parameters.split())
        each = [] if parameters == "void" else parameters.split(", ")
        names = [re.search(r"(\w+)(\[\])?$", parameter).group(1) for parameter in each]
        yield result.strip(), name, parameters, names, [harmless(*pair) for pair in zip(each, names)]


def harmless(parameter, name):
    if "*" in parameter or parameter.endswith("]"):
        return "NULL"
    for mpi_type, value in (("MPI_Comm", "MPI_COMM_SELF"), ("MPI_Info", "MPI_INFO_NULL"),
                            ("MPI_Datatype", "MPI_DATATYPE_NULL")):
        if parameter.startswith(mpi_type):
            return value
    return "-1" if re.fullmatch(r"ncid\w*|hid", name) else "0"


def compile_with(what, *arguments):
    compiler = shlex.split(os.environ.get("CC", "mpicc"))
    with open(os.path.join(BUILD, "Makefile"), encoding="utf-8") as file:
        flags = re.search(r"^CFLAGS = (.*)$", file.read(), flags=re.M).group(1)
    sanitizers = [flag for flag in flags.split() if flag.startswith("-fsanitize")]
    command = [*compiler, *sanitizers, "-Wno-nonnull", "-I" + os.path.join(BUILD, "include"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return tap.ok(done.returncode == 0, what, done.stderr)


def source(name, text):
    with open(tap.scratch(name), "w", encoding="utf-8") as file:
        file.write(text)
    return tap.scratch(name)


def check_counts(program, text, rows):
    done = subprocess.run([tap.scratch(program)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    counts = done.stdout.split()
    if not tap.ok(done.returncode == 0 and len(counts) == len(rows), f"{text}: the program runs",
                  f"status {done.returncode}\n{done.stderr}"):
        return
    wrong = [f"{row[1]}: {count}" for row, count in zip(rows, counts) if count != "1"]
    tap.ok(not wrong, f"{text}: each of {len(rows)} functions was seen once", "\n".join(wrong))


def check(rows):
    fields = [{"result": result, "name": name, "parameters": parameters, "arguments": ", ".join(names), "index": index}
              for index, (result, name, parameters, names, _) in enumerate(rows)]
    counter = COUNTER.format(number=len(rows))
    calls = "\n".join(f"    {name}({', '.join(values)});" for _, name, _, _, values in rows)
    caller = source("caller.c", CALLER.format(calls=calls, number=len(rows)))
    ours = ["-Wl,--no-as-needed", "-L" + LIBS, "-lpnetcdf", "-Wl,-rpath," + LIBS]
    library = tap.scratch("libinfront.so")
    front = source("front.c", "#define _GNU_SOURCE\n#include <dlfcn.h>\n" + counter +
                   "".join(IN_FRONT.format(**row) for row in fields))
    if compile_with("a library with all names of pnetcdf.h is built", "-shared", "-fPIC", front, "-o", library) and \
            compile_with("and a program behind it", caller, "-o", tap.scratch("behind"), library,
                         "-Wl,-rpath," + os.path.dirname(os.path.abspath(library)), *ours):
        check_counts("behind", "a library in front", rows)
    wrapper = source("wrap.c", counter + "".join(WRAP.format(**row) for row in fields))
    options = source("wrap.options", "".join(f"--wrap={row['name']}\n" for row in fields))
    if compile_with("a program wraps all of them by the linker", caller, wrapper, "-o", tap.scratch("wrapped"),
                    f"-Wl,@{options}", *ours):
        check_counts("wrapped", "the linker's --wrap", rows)


if os.path.exists(os.path.join(LIBS, "libpnetcdf.so")):
    with_types = list(functions())
    tap.ok(len(with_types) > 900, "pnetcdf.h was understood", f"{len(with_types)} functions")
    check(with_types)
else:
    tap.skip("interposition", "this build has no shared library")
tap.finish()
