"""Shared by the tests of the Fortran interfaces: compile programs with the compiler and the module of the build."""
import os
import re
import shlex
import subprocess

from tap import finish, instruments, library_flags, make_variable, run_mpi, scratch, skip

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(BUILD, "include")
STRICT = ["-Wall", "-Wextra", "-Werror"]
SHARED = os.path.join(BUILD, ".libs", "libpnetcdf.so")
LAZY = ["-Wl,-z,lazy"] if os.path.exists(SHARED) else []  # so that the loader knows of calls

# A library in front of ours: it prints the name of each function of C that is called.
PROFILER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <pnetcdf.h>
void print_line(const char *text);
void print_line(const char *text) {{ puts(text); }}
{functions}
"""
WRAPPER = """
int {name}({parameters})
{{
    int (*next)({parameters});
    puts("  {name}");
    *(void **)&next = dlsym(RTLD_NEXT, "{name}");
    return next({arguments});
}}
"""

# The loader calls such a library for each function of ours when the program calls it for the first time.
AUDIT = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned int la_version(unsigned int version) { return version; }

unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    (void)space, (void)cookie;
    return strstr(map->l_name, "libpnetcdf") != NULL ? LA_FLG_BINDTO : map->l_name[0] == '\\0' ? LA_FLG_BINDFROM : 0;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int number, uintptr_t *from, uintptr_t *to, unsigned int *flags,
                       const char *name)
{
    char line[512];
    int file = open(getenv("PNC_TEST_CALLED"), O_WRONLY | O_APPEND | O_CREAT, 0666);
    size_t length = strlen(name);

    (void)number, (void)from, (void)to, (void)flags;
    if (file < 0 || length + 1 >= sizeof line)
        abort();
    memcpy(line, name, length);
    line[length] = '\\n';
    if (write(file, line, length + 1) < 0)
        abort();
    close(file);
    return symbol->st_value;
}
"""

# What a main program allocates is saved, and never freed: no leak of the library.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"


def need_module():
    """End the test, skipped, where the library is built without Fortran."""
    if not os.path.exists(os.path.join(MODULES, "pnetcdf.mod")):
        skip("module pnetcdf", "the library is built without Fortran")
        finish()


def with_mpi_f08():
    """Whether the module takes handles of mpi_f08."""
    path = os.path.join(BUILD, "src", "binding", "f90", "pnetcdf.f90")
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return "use mpi_f08" in file.read()


def compiler():
    return [*make_variable("FC"), f"-I{MODULES}"]


def compile_source(name, source, flags=()):
    """Compile one source in the scratch folder. Returns (exit status, messages)."""
    with open(scratch(name), "w", encoding="utf-8") as file:
        file.write(source)
    done = subprocess.run([*compiler(), *flags, "-c", name], cwd=os.path.dirname(scratch(name)), capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def link(program, objects):
    """Link objects of the scratch folder with the library of the build. Returns (exit status, messages)."""
    done = subprocess.run([*make_variable("FC"), *instruments(), *objects, *library_flags(), *LAZY, "-o", program],
                          cwd=os.path.dirname(scratch(program)), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def undefined_in(name):
    """The symbols that an object of the scratch folder takes from others: which procedures the compiler has chosen."""
    done = subprocess.run([*shlex.split(os.environ.get("NM", "nm")), "-P", "-u", scratch(name)], capture_output=True,
                          text=True, check=True)
    return {line.split()[0] for line in done.stdout.splitlines()}


def run_counting(ranks, program, chosen=None):
    """Run a program. Returns (exit status, stdout, stderr), and the names of the functions of the library that it has
    called. Where there is no shared library, or the loader does not report them, those are the symbols that an object
    takes from others, or None without an object."""
    source, audit, names = scratch("audit.c"), os.path.abspath(scratch("audit.so")), os.path.abspath(scratch("called"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(AUDIT)
    done = subprocess.run([*make_variable("CC"), "-fPIC", "-shared", source, "-o", audit], capture_output=True,
                          text=True, check=False)
    can_audit = done.returncode == 0 and os.path.exists(SHARED) and not os.environ.get("PNC_TEST_WRAPPER")
    if os.path.exists(names):
        os.remove(names)
    result = run_mpi(ranks, program,
                     env={**os.environ, "LD_AUDIT": audit, "PNC_TEST_CALLED": names} if can_audit else None)
    if not os.path.exists(names):
        return *result, undefined_in(chosen) if chosen else None
    with open(names, encoding="utf-8") as file:
        return *result, set(file.read().split())


def compile_program(name, source, flags=("-O0",)):
    """A program with module report; its path. Failure to compile is an error of the test."""
    with open(os.path.join(HERE, "report.f90"), encoding="utf-8") as file:
        steps = [("report.f90", file.read()), (f"{name}.f90", source)]
    for file, text in steps:
        status, messages = compile_source(file, text, flags)
        if status != 0:
            raise SystemExit(f"{file} does not compile:\n{messages[-4000:]}")
    status, messages = link(name, ["report.o", f"{name}.o"])
    if status != 0:
        raise SystemExit(f"{name} cannot be linked:\n{messages[-4000:]}")
    return scratch(name)


def functions(pattern):
    """Name, parameters and names of arguments of the functions of pnetcdf.h whose names match."""
    with open(os.path.join(BUILD, "include", "pnetcdf.h"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    for name, parameters in re.findall(r"^int (" + pattern + r")\(([^;]*)\);", text, flags=re.M):
        parameters = " ".join(parameters.split())
        names = [re.search(r"(\w+)(\[\])?$", each).group(1) for each in parameters.split(", ")]
        yield name, parameters, ", ".join("" if each == "void" else each for each in names)


def build_profiled(name, program, pattern):
    """A program that is linked with a profiler of the functions of C whose names match, and with `print_line`, which
    prints a line as the profiler does. Its path and nothing, or None with a reason."""
    status, messages = compile_source(f"{name}.f90", program, ["-O0"])
    if status != 0:
        return None, messages
    source = scratch("profiler.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROFILER.format(functions="".join(WRAPPER.format(name=function, parameters=parameters,
                                                                    arguments=arguments)
                                                     for function, parameters, arguments in functions(pattern))))
    command = [*shlex.split(os.environ.get("CC", "mpicc")), "-I" + os.path.join(BUILD, "include"), "-c", source,
               "-o", scratch("profiler.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr
    status, messages = link(name, [f"{name}.o", "profiler.o"])
    return (scratch(name), "") if status == 0 else (None, messages)
