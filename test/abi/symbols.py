"""The shared library exports exactly what the installed header and the Fortran include file declare, with versions, and
the header declares what prototypes.txt lists, with the same types."""
# needs: python
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
# Symbols that the linker adds to every library.
OF_THE_LINKER = {"_init", "_fini", "_edata", "_end", "__bss_start"}


def declared():
    with open(os.path.join(BUILD, "include", "pnetcdf.h"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    return re.findall(r"\b((?:ncmpi|cdl_hdr)_\w+)\s*\(", text)


def declared_in_fortran():
    """Names of pnetcdf.inc, or none where the build has no Fortran."""
    path = os.path.join(BUILD, "include", "pnetcdf.inc")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return re.findall(r"\bnfmpi_\w+", "".join(re.findall(r"^ *external (.*\n)", text, flags=re.M)))


def of_fortran(symbol):
    """The name of a Fortran procedure, without the compiler's decoration; names of the module are unchanged."""
    found = re.fullmatch(r"(nfmpi_\w*?|NFMPI_\w*?)_?", symbol)
    return found.group(1).lower() if found else None


def of_module(symbol):
    """True if a name belongs to the module pnetcdf, is a C function that the module declares by bind(c), or is for
    libpnetcdf-netcdf."""
    return re.match(r"_*pnetcdf_|_QMpnetcdf|pncf90_|pncnc_", symbol)


def prototypes():
    """{function: type of a pointer to it} as prototypes.txt has them, and the names of our own functions."""
    types, pointers, ours, signature = {}, {}, set(), None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "prototypes.txt"), encoding="utf-8") as file:
        lines = [line.rstrip() for line in file if not line.startswith("#")]
    for line in lines:
        if line.startswith("T "):
            types.update(pair.split("=") for pair in line[2:].split(", "))
        elif line.startswith("ours "):
            ours.update(line.split()[1:])
        elif not line.startswith(" "):
            signature = re.sub(r"\bO\b", "MPI_Offset", line.rstrip(":").replace(" (", " (*)(", 1))
        else:
            for name in line.split():
                if "<T>" not in name:
                    pointers[name] = signature
                    continue
                for suffix, c_type in types.items():
                    if not (suffix == "text" and "_att_" in name):
                        pointers[name.replace("<T>", suffix)] = re.sub(r"\bT\b", c_type, signature)
    return pointers, ours


def check_prototypes():
    """The C compiler compares the types: a pointer to each function selects an association of _Generic."""
    pointers, ours = prototypes()
    missing, unlisted = sorted(set(pointers) - set(declared())), sorted(set(declared()) - set(pointers) - ours)
    tap.ok(not missing, f"pnetcdf.h has all {len(pointers)} functions of prototypes.txt", "\n".join(missing))
    tap.ok(not unlisted, "it declares no others but those listed there as ours", "\n".join(unlisted))
    source = tap.scratch("prototypes.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <pnetcdf.h>\n")
        for name in sorted(set(pointers) - set(missing)):
            file.write(f'_Static_assert(_Generic(&{name}, {pointers[name]}: 1, default: 0), '
                       f'"{name} is not {pointers[name]}");\n')
    compiler = shlex.split(os.environ.get("CC", "mpicc"))
    done = subprocess.run([*compiler, "-std=c11", "-fsyntax-only", "-I" + os.path.join(BUILD, "include"), source],
                          capture_output=True, text=True, check=False)
    tap.ok(done.returncode == 0, "their arguments have the listed types", done.stderr)


def listed(path, *options):
    """{symbol that a library defines, with its version if that is asked for: its kind}"""
    command = [*shlex.split(os.environ.get("NM", "nm")), "--defined-only", "--extern-only", *options, path]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines()]
    return {row[-1]: row[-2] for row in rows if len(row) >= 3}


def defined(path, *options):
    """Without versions, and without the symbols that name these."""
    found = {re.sub(r"@.*", "", name): kind for name, kind in listed(path, *options).items()}
    return {name: kind for name, kind in found.items()
            if name not in OF_THE_LINKER and not (kind == "A" and name.startswith("PNETCDF_"))}


def compare(path, kind_of_library, exported):
    functions = {name for name in exported if name.startswith(("ncmpi_", "cdl_hdr_"))}
    procedures = {of_fortran(name) for name in exported} - {None}
    others = sorted(name for name in set(exported) - functions if not of_fortran(name) and not of_module(name))
    promised = set(declared())
    tap.ok(functions <= promised,
           f"every ncmpi_ and cdl_hdr_ symbol of the {kind_of_library} library is declared in pnetcdf.h",
           "\n".join(sorted(functions - promised)))
    tap.ok(promised <= functions, f"the {kind_of_library} library has all {len(promised)} functions of pnetcdf.h",
           "\n".join(sorted(promised - functions)))
    promised = set(declared_in_fortran())
    tap.ok(procedures == promised,
           f"the {kind_of_library} library has all {len(promised)} nfmpi_ functions of pnetcdf.inc",
           "\n".join(sorted(procedures ^ promised)))
    return others


def check_versions(path):
    """A program asks for the version of a function with which it was linked: the loader refuses an older library."""
    if not any("version-script" in word for word in tap.make_variable("EXPORTS")):
        tap.skip("versions of functions", "configure has found a linker that gives none")
        return
    functions = [name for name, kind in listed(path, "--dynamic", "--with-symbol-versions").items() if kind in "TW"]
    without = [name for name in functions if not re.search(r"@@PNETCDF_2(\.\d+)?$", name)]
    tap.ok(functions and not without, f"all {len(functions)} functions have a version", "\n".join(without))


names = declared()
twice = sorted({name for name in names if names.count(name) > 1})
tap.ok(names and not twice, "pnetcdf.h declares functions, each once", "\n".join(twice))

check_prototypes()

names = declared_in_fortran()
twice = sorted({name for name in names if names.count(name) > 1})
tap.ok(not twice, "pnetcdf.inc declares each function once", "\n".join(twice))

shared = os.path.join(BUILD, ".libs", "libpnetcdf.so")
if os.path.exists(shared):
    exported = defined(shared, "--dynamic")
    extra = compare(shared, "shared", exported)
    tap.ok(not extra, "the shared library exports nothing else", "\n".join(extra))
    data = sorted(name for name, kind in exported.items() if kind not in "TW" and not of_module(name))
    tap.ok(not data, "it exports functions only, beside what compilers make of modules", "\n".join(data))
    check_versions(shared)
else:
    tap.skip("exports of the shared library", "this build makes none")

static = os.path.join(BUILD, ".libs", "libpnetcdf.a")
if os.path.exists(static):
    extra = [name for name in compare(static, "static", defined(static)) if not re.match(r"pnc_|__(odr_)?asan", name)]
    tap.ok(not extra, "all other global names of the static library begin with pnc_", "\n".join(extra))
else:
    tap.skip("names of the static library", "this build makes none")
tap.finish()
