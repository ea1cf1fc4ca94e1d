"""pnetcdf.h in C++, as a binding for C++ uses it: every macro in an expression, every error code as the label of a
case, the address of every function. The constants have the values of constants.txt."""
# needs: python
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import tap  # noqa: E402

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
CC = shlex.split(os.environ.get("CC", "mpicc"))
INCLUDE = "-I" + os.path.join(BUILD, "include")
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-long-long"]

# show() has an overload for each type that a constant may have.
PROGRAM = """\
#include <cstdio>
#include <pnetcdf.h>

namespace {
void show(const char *name, long long value) { std::printf("%s %lld\\n", name, value); }
void show(const char *name, int value) { show(name, static_cast<long long>(value)); }
void show(const char *name, long value) { show(name, static_cast<long long>(value)); }
void show(const char *name, short value) { show(name, static_cast<long long>(value)); }
void show(const char *name, signed char value) { show(name, static_cast<long long>(value)); }
void show(const char *name, char value) { show(name, static_cast<long long>(value)); }
void show(const char *name, unsigned value) { show(name, static_cast<long long>(value)); }
/* NC_ALIGN_CHUNK: a size_t with all bits set, for which constants.txt has -1 */
void show(const char *name, unsigned long value) { show(name, static_cast<long long>(value)); }
void show(const char *name, unsigned long long value) { std::printf("%s %llu\\n", name, value); }
void show(const char *name, double value) { std::printf("%s %.17g\\n", name, value); }
void show(const char *name, const char *value) { std::printf("%s \\"%s\\"\\n", name, value); }

/* The exception classes of a binding hang on such a switch. */
const char *name_of(int code)
{
    switch (code) {
@CASES@    default: return NULL;
    }
}

struct Function { const char *name; void (*address)(); };
const Function functions[] = {
@FUNCTIONS@};
const int codes[] = {@CODES@};
}

/* A variable in an object, with the calls and types that bindings use. */
namespace PnetCDF {
class Error {
public:
    explicit Error(int code) : code_(code) {}
    bool of_system() const { return NC_ISSYSERR(code_); }
    const char *what() const { return ncmpi_strerror(code_); }
private:
    int code_;
};

inline void check(int code) { if (code != NC_NOERR) throw Error(code); }

class Variable {
public:
    Variable(int ncid, int id) : ncid_(ncid), id_(id) {}
    void put_all(const MPI_Offset *start, const MPI_Offset *count, const void *values, MPI_Offset n,
                 MPI_Datatype type) const
    {
        check(ncmpi_put_vara_all(ncid_, id_, start, count, values, n, type));
    }
    nc_type attribute(const char *name, MPI_Offset *length) const
    {
        nc_type type = NC_NAT;
        check(ncmpi_inq_att(ncid_, id_, name, &type, length));
        return type;
    }
private:
    int ncid_, id_;
};
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try { /* and catch: the message comes from C */
        PnetCDF::Variable(-1, 0).put_all(NULL, NULL, NULL, NC_COUNT_IGNORE, MPI_DATATYPE_NULL);
    } catch (const PnetCDF::Error &error) {
        std::printf("caught %d %s\\n", error.of_system(), error.what());
    }
    std::printf("system %d %d %d\\n", NC_ISSYSERR(2), NC_ISSYSERR(NC_NOERR), NC_ISSYSERR(NC_EBADID));
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
        if (name_of(codes[i]) == NULL)
            std::printf("no case for %d\\n", codes[i]);
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].address == NULL)
            std::printf("no address of %s\\n", functions[i].name);
@SHOWS@    return MPI_Finalize();
}
"""


def listed_constants():
    with open(os.path.join(HERE, "constants.txt"), encoding="utf-8") as file:
        return dict(line.split(None, 1) for line in file.read().splitlines() if not line.startswith("#"))


def program(macros, functions, listed):
    codes = {"0": "NC_NOERR"}
    for name, value in listed.items():
        if name.startswith("NC_E") and value.startswith("-"):
            codes.setdefault(value, name)  # others are older names
    text = PROGRAM.replace("@CASES@", "".join(f'    case {name}: return "{name}";\n' for name in codes.values()))
    text = text.replace("@CODES@", ", ".join(codes.values()))
    text = text.replace("@SHOWS@", "".join(f'    show("{name}", {name});\n' for name in macros))
    return text.replace("@FUNCTIONS@", "".join(
        f'    {{"{name}", reinterpret_cast<void (*)()>({name})}},\n' for name in functions))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def same(found, wanted):
    return wanted == "-" or found == wanted or (not wanted.startswith('"') and float(found) == float(wanted))


def check_values(printed, listed):
    found = dict(line.split(None, 1) for line in printed.splitlines() if re.match(r"(NC\d?|PNETCDF)_\w+ ", line))
    wrong = [f"{name} is {found.get(name)}, not {value}" for name, value in listed.items()
             if name not in found or not same(found[name], value)]
    tap.ok(not wrong, f"the {len(listed)} constants of constants.txt have their values", "\n".join(wrong))
    tap.ok(set(found) == set(listed), "pnetcdf.h has no others", sorted(set(found) ^ set(listed)))


def check(standard, text, skip_bindings):
    """Compile with g++, link as a client does; returns the output of the program, or None."""
    source, made, binary = (os.path.abspath(tap.scratch("cxx" + end)) for end in (".cc", ".o", ""))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    status, _, why = run("g++", f"-std={standard}", *STRICT, *skip_bindings, INCLUDE, "-c", source, "-o", made)
    if not tap.ok(status == 0, f"a binding in {standard} compiles without a warning", why):
        return None
    status, _, why = run(*CC, *tap.make_variable("CFLAGS"), made, "-o", binary, *tap.library_flags(), "-lstdc++")
    if not tap.ok(status == 0, "and links", why):
        return None
    status, printed, why = tap.run_mpi(1, binary)
    tap.ok(status == 0 and "no case" not in printed and "no address" not in printed, "and runs", printed + why)
    return printed


# Layers for C++ mark what their library exports, at any of these places.
LAYER = """\
#include <pnetcdf.h>
int hidden();
int hidden() { return 2; }
class PNETCDF_PUBLIC_API Exported { public: int method() const; };
int Exported::method() const { return NC_NOERR; }
extern PNETCDF_PUBLIC_API int variable;
int variable = 1;
PNETCDF_PUBLIC_API int before() { return hidden(); }
int PNETCDF_PUBLIC_API between() { return hidden(); }
"""


def check_layer(skip_bindings):
    """A shared library of which only the rest is hidden, by nm; and the macro as a client may have it already."""
    source, library = (os.path.abspath(tap.scratch("layer" + end)) for end in (".cc", ".so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(LAYER)
    command = ["g++", *STRICT, *skip_bindings, INCLUDE, "-fPIC", "-shared", "-fvisibility=hidden", source, "-o",
               library]
    status, _, why = run(*command, "-o", library)
    symbols = [line.split()[0] for line in run("nm", "-DCP", "--defined-only", library)[1].splitlines()]
    tap.ok(status == 0 and {"Exported::method()", "variable", "before()", "between()"} <= set(symbols) and
           "hidden()" not in symbols, "PNETCDF_PUBLIC_API exports what is declared with it", (symbols, why))
    status, _, why = run(*command, "-DPNETCDF_PUBLIC_API=")
    tap.ok(status == 0, "a client may define it", why)


def main():
    if not shutil.which("g++"):
        tap.skip("pnetcdf.h in C++", "g++ is not installed")
        tap.finish()
    with open(os.path.join(BUILD, "include", "pnetcdf.h"), encoding="utf-8") as file:
        header = file.read()
    macros = re.findall(r"^#define ((?!PNETCDF_PUBLIC_API)(?:NC\d?|PNETCDF)_\w+) ", header, re.M)
    functions = re.findall(r"\b((?:ncmpi|cdl_hdr)_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.S))
    listed = listed_constants()
    # The C++ bindings of MPI, which MPI 3 removed, are ignored; so are the warnings of mpi.h.
    skip_bindings = ["-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX",
                     *(flag.replace("-I", "-isystem") for flag in tap.mpi_flags())]
    check_layer(skip_bindings)
    for standard in ("c++98", "c++17"):
        printed = check(standard, program(macros, functions, listed), skip_bindings)
        if printed is not None:
            check_values(printed, listed)
            tap.ok(re.search(r"^caught 0 .+", printed, re.M) and "system 1 0 0\n" in printed,
                   "errors are caught, and NC_ISSYSERR identifies those of the system", printed)
    tap.finish()


main()
