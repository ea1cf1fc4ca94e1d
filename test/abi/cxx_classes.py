"""The header pnetcdf (classes for C++): it has every declaration of cxx_classes.txt and compiles without a warning from
C++11 to C++20; a program that uses all families of functions with all types finds what the functions of C write, and
they find what it writes, without any enddef; each error code has its exception; the program calls every function of the
header."""
# needs: python
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
import called  # noqa: E402
import tap  # noqa: E402

TOP = os.path.join(HERE, "..", "..")
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
CC = shlex.split(os.environ.get("CC", "mpicc"))
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast", "-Woverloaded-virtual",
          "-Werror", "-I" + os.path.join(BUILD, "include"), "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX"]
BYTES = ["signed char", "unsigned char"]
NUMBERS = ["short", "int", "long", "float", "double", "unsigned short", "unsigned int", "unsigned long long",
           "long long"]
TYPES = {"<T>": ["char", *BYTES, *NUMBERS], "<N>": [*BYTES, *NUMBERS], "<V>": NUMBERS, "<B>": BYTES}

# Whether a member function of these arguments exists: "const" is more than what programs need.
CHECKS = """\
#include <pnetcdf>
#include <type_traits>

using namespace PnetCDF;
using PnetCDF::exceptions::NcmpiException;

template <class C, class F> struct member;
template <class C, class R, class... A> struct member<C, R(A...)> {
    static constexpr bool is(R (C::*)(A...)) { return true; }
    static constexpr bool is(R (C::*)(A...) const) { return true; }
};
template <class C, class R, class... A> struct member<C, R(A...) const> {
    static constexpr bool is(R (C::*)(A...) const) { return true; }
};
template <class C, class F> struct made;
template <class C, class... A> struct made<C, void(A...)> : std::is_constructible<C, A...> {};
template <class C, class F> struct assigned;
template <class C, class A> struct assigned<C, void(A)> : std::is_assignable<C &, A> {};
struct SomeAtt : NcmpiAtt { // NcmpiAtt is abstract
    using NcmpiAtt::NcmpiAtt;
    SomeAtt() {}
    SomeAtt(const NcmpiAtt &other) : NcmpiAtt(other) {}
};
"""


def declarations():
    """(class, declaration) of each line, and (class, code) of the exceptions."""
    with open(os.path.join(HERE, "cxx_classes.txt"), encoding="utf-8") as file:
        text = re.sub(r"\n {6}", " ", file.read())
    members, exceptions, bases, owner = [], [], [], None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("class"):
            owner = words[1]
            bases += [(owner, words[3])] if len(words) > 3 else []
        elif line.startswith("exception"):
            exceptions.append((words[1], words[2]))
        elif line.startswith("  "):
            kind = next((kind for kind in TYPES if kind in line), None)
            line = line.strip().replace("<index>", "std::vector<MPI_Offset>&")
            members += [(owner, line.replace(kind, name)) for name in TYPES[kind]] if kind else [(owner, line)]
    return members, exceptions, bases


def nested(owner, members):
    """Names of types that a class declares."""
    return {line.split()[1] for other, line in members if other == owner and line.startswith("enum")}


def checks_of(owner, line, members):
    """The checks of a declaration."""
    cxx = "PnetCDF::exceptions::NcmpiException" if owner == "NcmpiException" else "PnetCDF::" + owner
    if line.startswith("enum"):
        return [f"static_assert(std::is_enum<{cxx}::{line.split()[1]}>::value, \"\");"]
    if line.startswith("values:"):
        name, values = re.match(r"values: (\w+) \{ (.*) \}", line).groups()
        owners = [other for other, text in members if text == "enum " + name]
        checks = []
        for other in owners:
            for value in values.split(", ") if name not in ("ncmpiType", "ncmpiEnumType") or other == owner else ():
                left, *right = value.split(" = ")
                checks.append(f"static_assert(PnetCDF::{other}::{left} == PnetCDF::{other}::{name}"
                              f"({right[0] if right else f'PnetCDF::{other}::{left}'}), \"\");")
        return checks
    for name in nested(owner, members):  # inside of a class they need no prefix
        line = re.sub(rf"(?<![\w:]){name}\b", f"{cxx}::{name}", line)
    line = re.sub(r"^template <class T> ", "", line)
    line = re.sub(r"\bT\b", "int", line).replace("virtual ", "").replace("throw()", "").strip()
    line = re.sub(r" ?= ?[\w:]+(?=[,)])", "", line)  # default arguments
    found = re.match(r"(.*?)([\w~]+|operator ?[=!]=? ?|operator=) ?\((.*)\)( const)?(=0)?\s*$", line)
    result, name, arguments, is_const = (part.strip() if part else "" for part in found.groups()[:4])
    name = name.replace(" ", "")
    if name.startswith("~"):
        return [f"static_assert(std::is_abstract<{cxx}>::value, \"\");" if found.group(5) else
                f"static_assert(std::is_destructible<{cxx}>::value, \"\");"]
    if name == owner:
        made = "SomeAtt" if owner == "NcmpiAtt" else cxx
        return [f"static_assert(made<{made}, void({arguments})>::value, \"\");"]
    if name == "operator=":
        return [f"static_assert(assigned<{cxx}, void({arguments})>::value, \"\");"]
    return [f"static_assert(member<{cxx}, {result}({arguments}){' const' if is_const else ''}>::is(&{cxx}::{name}), "
            "\"\");"]


def checks():
    members, exceptions, bases = declarations()
    lines = [check for owner, line in members for check in checks_of(owner, line, members)]
    lines += [f"static_assert(std::is_base_of<{base}, {owner}>::value, \"\");" for owner, base in bases]
    for name, _ in exceptions:
        cxx = "PnetCDF::exceptions::" + name
        lines.append(f"static_assert(std::is_base_of<NcmpiException, {cxx}>::value && made<{cxx}, void(const char *, "
                     "const char *, int)>::value, \"\");")
    return len(members) + len(exceptions), CHECKS + "\n".join(lines) + "\nint main() { return 0; }\n"


# Values are written through the classes and read by functions of C, and the other way round. Each rank has a row of
# eight elements; `row` is a model of it. Before each access the file is in define mode, which access ends.
PROGRAM = """\
#include <pnetcdf>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

using namespace PnetCDF;

static int rank, nprocs;
static const MPI_Offset WIDTH = 8;

static void expect(bool good, const std::string &what)
{
    if (!good)
        std::printf("%d: %s\\n", rank, what.c_str());
}

template <class T> struct type_of;
#define TYPE(T, cdl, mpi)                                   \\
    template <> struct type_of<T> {                         \\
        static const char *name() { return cdl; }           \\
        static MPI_Datatype memory() { return mpi; }        \\
    };
TYPE(char, "char", MPI_CHAR)
TYPE(signed char, "byte", MPI_SIGNED_CHAR)
TYPE(unsigned char, "ubyte", MPI_UNSIGNED_CHAR)
TYPE(short, "short", MPI_SHORT)
TYPE(unsigned short, "ushort", MPI_UNSIGNED_SHORT)
TYPE(int, "int", MPI_INT)
TYPE(unsigned int, "uint", MPI_UNSIGNED)
TYPE(long, "int64", MPI_LONG)
TYPE(float, "float", MPI_FLOAT)
TYPE(double, "double", MPI_DOUBLE)
TYPE(long long, "int64", MPI_LONG_LONG)
TYPE(unsigned long long, "uint64", MPI_UNSIGNED_LONG_LONG)

// A put of one element takes a value, but of characters, and a string for text.
template <class T> struct single {
    typedef T argument;
    static T of(const T &value) { return value; }
};
template <> struct single<signed char> {
    static const signed char *of(const signed char &value) { return &value; }
};
template <> struct single<unsigned char> {
    static const unsigned char *of(const unsigned char &value) { return &value; }
};
template <> struct single<char> {
    static std::string of(const char &value) { return std::string(1, value); }
};

template <class T> class families
{
  public:
    families(NcmpiFile &f, const NcmpiVar &v) : file(f), var(v), mpi(type_of<T>::memory()), next(0)
    {
    }
    void run()
    {
        var.putVar_all(whole());
        same("putVar_all of all");
        var.putVar_all(V{rank, 2}, single<T>::of(set(2)));
        same("putVar_all of one");
        var.putVar_all(V{rank, 1}, V{1, 3}, set(1, 3));
        same("putVar_all of a hyperslab");
        var.putVar_all(V{rank, 1}, V{1, 3}, V{1, 2}, set(1, 3, 2));
        same("putVar_all with a stride");
        var.putVar_all(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, mapped(0, 3, 2));
        same("putVar_all with a map");
        var.putVarn_all(2, starts(), counts(), set_two());
        same("putVarn_all");
        var.putVar_all(V{rank, 4}, V{1, 2}, static_cast<const void *>(set(4, 2)), 2, mpi);
        same("putVar_all of an MPI datatype");
        MPI_Datatype place = filetype();
        var.putVard_all(place, set(3, 2), 2, mpi);
        MPI_Type_free(&place);
        same("putVard_all");
        flexible();
        posted();
        posted_flexible();
        independent();
        independent_flexible();
        gets();
        gets_flexible();
    }

  private:
    typedef std::vector<MPI_Offset> V;

    // New values for some elements of the row, and the memory that has them.
    const T &set(MPI_Offset at) { return *set(at, 1); }
    const T *set(MPI_Offset at, MPI_Offset n, MPI_Offset stride = 1)
    {
        memory.assign(16, T());
        for (MPI_Offset i = 0; i < n; i++)
            memory[u(i)] = row[u(at + i * stride)] = value();
        return memory.data();
    }
    const T *mapped(MPI_Offset at, MPI_Offset n, MPI_Offset stride)
    {
        memory.assign(16, T());
        for (MPI_Offset i = 0; i < n; i++)
            memory[u(2 * i)] = row[u(at + i * stride)] = value();
        return memory.data();
    }
    const T *set_two() // elements 0, 1 and 5
    {
        memory.assign(16, T());
        const MPI_Offset at[] = {0, 1, 5};
        for (std::size_t i = 0; i < 3; i++)
            memory[i] = row[u(at[i])] = value();
        return memory.data();
    }
    const T *whole() // the same new value everywhere
    {
        T same_value = T(50 + next++ % 40);
        row.assign(WIDTH, same_value);
        everything.assign(u(all()), same_value);
        return everything.data();
    }
    static MPI_Offset all() { return WIDTH * nprocs; }
    static const void *any(const T *values) { return values; }
    MPI_Offset *const *starts()
    {
        for (int i = 0; i < 2; i++) {
            start_of[i][0] = rank;
            start_of[i][1] = 5 * i;
            start_list[i] = start_of[i];
        }
        return start_list;
    }
    MPI_Offset *const *counts()
    {
        for (int i = 0; i < 2; i++) {
            count_of[i][0] = 1;
            count_of[i][1] = 2 - i;
            count_list[i] = count_of[i];
        }
        return count_list;
    }
    MPI_Datatype filetype() const // elements 3 and 4 of the row
    {
        int size, length = 2;
        MPI_Type_size(mpi, &size);
        MPI_Aint from = static_cast<MPI_Aint>(WIDTH * rank + 3) * size;
        MPI_Datatype made;
        MPI_Type_create_hindexed(1, &length, &from, mpi, &made);
        MPI_Type_commit(&made);
        return made;
    }
    T value() { return static_cast<T>(1 + next++ % 90 + rank); }
    static std::size_t u(MPI_Offset n) { return static_cast<std::size_t>(n); }

    // The row as functions of C read it.
    void same(const char *what)
    {
        std::vector<T> got(WIDTH);
        const MPI_Offset start[] = {rank, 0}, count[] = {1, WIDTH};
        int code = ncmpi_get_vara_all(file.getId(), var.getId(), start, count, got.data(), WIDTH, mpi);
        expect(code == NC_NOERR && got == row, std::string(type_of<T>::name()) + " " + what);
        file.redef();
    }
    void wait(int *request, const char *what)
    {
        int status = -1;
        file.Wait_all(1, request, &status);
        expect(status == NC_NOERR, "status");
        same(what);
    }
    void flexible()
    {
        var.putVar_all(any(whole()), all(), mpi);
        same("putVar_all of all, of an MPI datatype");
        var.putVar_all(V{rank, 2}, any(set(2, 1)), 1, mpi);
        same("putVar_all of one, of an MPI datatype");
        var.putVar_all(V{rank, 1}, V{1, 3}, V{1, 2}, any(set(1, 3, 2)), 3, mpi);
        same("putVar_all with a stride, of an MPI datatype");
        var.putVar_all(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, any(mapped(0, 3, 2)), 3, mpi);
        same("putVar_all with a map, of an MPI datatype");
        var.putVarn_all(2, starts(), counts(), any(set_two()), 3, mpi);
        same("putVarn_all of an MPI datatype");
    }
    void posted_flexible()
    {
        int r;
        var.iputVar(any(whole()), all(), mpi, &r);
        wait(&r, "iputVar of all, of an MPI datatype");
        var.iputVar(V{rank, 2}, any(set(2, 1)), 1, mpi, &r);
        wait(&r, "iputVar of one, of an MPI datatype");
        var.iputVar(V{rank, 1}, V{1, 3}, V{1, 2}, any(set(1, 3, 2)), 3, mpi, &r);
        wait(&r, "iputVar with a stride, of an MPI datatype");
        var.iputVar(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, any(mapped(0, 3, 2)), 3, mpi, &r);
        wait(&r, "iputVar with a map, of an MPI datatype");
        var.iputVarn(2, starts(), counts(), any(set_two()), 3, mpi, &r);
        wait(&r, "iputVarn of an MPI datatype");
        file.Buffer_attach(1000);
        var.bputVar(any(whole()), all(), mpi, &r);
        wait(&r, "bputVar of all, of an MPI datatype");
        var.bputVar(V{rank, 2}, any(set(2, 1)), 1, mpi, &r);
        wait(&r, "bputVar of one, of an MPI datatype");
        var.bputVar(V{rank, 1}, V{1, 3}, V{1, 2}, any(set(1, 3, 2)), 3, mpi, &r);
        wait(&r, "bputVar with a stride, of an MPI datatype");
        var.bputVar(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, any(mapped(0, 3, 2)), 3, mpi, &r);
        wait(&r, "bputVar with a map, of an MPI datatype");
        var.bputVarn(2, starts(), counts(), any(set_two()), 3, mpi, &r);
        wait(&r, "bputVarn of an MPI datatype");
        file.Buffer_detach();
    }
    void independent_flexible()
    {
        T one = T(), three[3] = {T(), T(), T()}, five[5] = {T()};
        file.Begin_indep_data();
        var.putVar(whole());
        MPI_Barrier(MPI_COMM_WORLD); // the others have put into this row, too
        std::vector<T> got(u(all()));
        var.getVar(got.data());
        expect(got == everything, "independent getVar of all");
        MPI_Barrier(MPI_COMM_WORLD);
        var.putVar(any(whole()), all(), mpi);
        MPI_Barrier(MPI_COMM_WORLD);
        var.getVar(static_cast<void *>(got.data()), all(), mpi);
        expect(got == everything, "independent getVar of all, of an MPI datatype");
        MPI_Barrier(MPI_COMM_WORLD);
        var.putVar(V{rank, 7}, any(set(7, 1)), 1, mpi);
        var.putVar(V{rank, 1}, V{1, 3}, V{1, 2}, any(set(1, 3, 2)), 3, mpi);
        var.putVar(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, any(mapped(0, 3, 2)), 3, mpi);
        var.putVarn(2, starts(), counts(), any(set_two()), 3, mpi);
        var.getVar(V{rank, 7}, static_cast<void *>(&one), 1, mpi);
        var.getVar(V{rank, 3}, V{1, 2}, static_cast<void *>(three), 2, mpi);
        expect(one == row[7] && three[0] == row[3] && three[1] == row[4], "independent getVar of an MPI datatype");
        var.getVar(V{rank, 1}, V{1, 3}, V{1, 2}, static_cast<void *>(three), 3, mpi);
        expect(three[0] == row[1] && three[2] == row[5], "independent getVar with a stride, of an MPI datatype");
        var.getVar(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, static_cast<void *>(five), 3, mpi);
        expect(five[0] == row[0] && five[2] == row[2] && five[4] == row[4],
               "independent getVar with a map, of an MPI datatype");
        var.getVarn(2, starts(), counts(), static_cast<void *>(three), 3, mpi);
        expect(three[0] == row[0] && three[2] == row[5], "independent getVarn of an MPI datatype");
        file.End_indep_data();
        same("independent putVar of an MPI datatype");
    }
    void gets_flexible()
    {
        T one = T(), a[3] = {T()}, b[5] = {T()}, c[3] = {T()}, d[2] = {T()};
        std::vector<T> got(u(all())), again(u(all()));
        int r[7], status[7];
        var.putVar_all(whole());
        same("putVar_all of all");
        var.putVar_all(V{rank, 1}, V{1, 5}, set(1, 5));
        same("putVar_all of five");
        var.getVar_all(static_cast<void *>(got.data()), all(), mpi);
        file.redef();
        var.getVar_all(V{rank, 5}, static_cast<void *>(&one), 1, mpi);
        file.redef();
        var.getVar_all(V{rank, 1}, V{1, 3}, V{1, 2}, static_cast<void *>(a), 3, mpi);
        file.redef();
        var.getVar_all(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, static_cast<void *>(b), 3, mpi);
        file.redef();
        var.getVarn_all(2, starts(), counts(), static_cast<void *>(c), 3, mpi);
        const std::vector<T> mine(got.begin() + WIDTH * rank, got.begin() + WIDTH * (rank + 1));
        expect(mine == row && one == row[5] && a[2] == row[5] && b[2] == row[2] && b[4] == row[4] && c[2] == row[5],
               "getVar_all of an MPI datatype");
        file.redef();
        one = a[2] = b[2] = b[4] = c[2] = T();
        var.igetVar(again.data(), &r[0]);
        var.igetVar(V{rank, 5}, static_cast<void *>(&one), 1, mpi, &r[1]);
        var.igetVar(V{rank, 3}, V{1, 2}, static_cast<void *>(d), 2, mpi, &r[2]);
        var.igetVar(V{rank, 1}, V{1, 3}, V{1, 2}, static_cast<void *>(a), 3, mpi, &r[3]);
        var.igetVar(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, static_cast<void *>(b), 3, mpi, &r[4]);
        var.igetVarn(2, starts(), counts(), static_cast<void *>(c), 3, mpi, &r[5]);
        std::vector<T> third(u(all()));
        var.igetVar(static_cast<void *>(third.data()), all(), mpi, &r[6]);
        file.Wait_all(7, r, status);
        expect(again == got && third == got && one == row[5] && a[2] == row[5] && b[2] == row[2] && b[4] == row[4] &&
                   c[2] == row[5] && d[0] == row[3] && d[1] == row[4], "igetVar of an MPI datatype");
    }
    void posted()
    {
        int r;
        var.iputVar(whole(), &r);
        wait(&r, "iputVar of all");
        var.iputVar(V{rank, 6}, single<T>::of(set(6)), &r);
        memory.assign(16, T()); // the request has its own value, unless it was given an address
        if (sizeof(T) == 1)
            memory[0] = row[6];
        wait(&r, "iputVar of one");
        var.iputVar(V{rank, 1}, V{1, 3}, set(1, 3), &r);
        wait(&r, "iputVar of a hyperslab");
        var.iputVar(V{rank, 1}, V{1, 3}, V{1, 2}, set(1, 3, 2), &r);
        wait(&r, "iputVar with a stride");
        var.iputVar(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, mapped(0, 3, 2), &r);
        wait(&r, "iputVar with a map");
        var.iputVarn(2, starts(), counts(), set_two(), &r);
        wait(&r, "iputVarn");
        var.iputVar(V{rank, 4}, V{1, 2}, static_cast<const void *>(set(4, 2)), 2, mpi, &r);
        wait(&r, "iputVar of an MPI datatype");
        file.Buffer_attach(1000);
        var.bputVar(whole(), &r);
        wait(&r, "bputVar of all");
        var.bputVarn(2, starts(), counts(), set_two(), &r);
        wait(&r, "bputVarn");
        var.bputVar(V{rank, 6}, single<T>::of(set(6)), &r);
        memory.assign(16, T());
        wait(&r, "bputVar of one");
        var.bputVar(V{rank, 1}, V{1, 3}, set(1, 3), &r);
        memory.assign(16, T());
        wait(&r, "bputVar of a hyperslab");
        var.bputVar(V{rank, 1}, V{1, 3}, V{1, 2}, set(1, 3, 2), &r);
        wait(&r, "bputVar with a stride");
        var.bputVar(V{rank, 0}, V{1, 3}, V{1, 2}, V{1, 2}, mapped(0, 3, 2), &r);
        wait(&r, "bputVar with a map");
        var.bputVar(V{rank, 4}, V{1, 2}, static_cast<const void *>(set(4, 2)), 2, mpi, &r);
        wait(&r, "bputVar of an MPI datatype");
        file.Buffer_detach();
    }
    void independent()
    {
        int r, status;
        file.Begin_indep_data();
        var.putVar(V{rank, 2}, single<T>::of(set(2)));
        var.putVar(V{rank, 3}, V{1, 2}, set(3, 2));
        var.putVar(V{rank, 1}, V{1, 2}, V{1, 4}, set(1, 2, 4));
        var.putVar(V{rank, 0}, V{1, 2}, V{1, 2}, V{1, 2}, mapped(0, 2, 2));
        var.putVarn(2, starts(), counts(), set_two());
        var.putVar(V{rank, 6}, V{1, 2}, static_cast<const void *>(set(6, 2)), 2, mpi);
        var.iputVar(V{rank, 7}, V{1, 1}, set(7, 1), &r);
        file.Wait(1, &r, &status);
        MPI_Datatype place = filetype();
        var.putVard(place, set(3, 2), 2, mpi);
        T one = T(), two[2] = {T(), T()};
        var.getVar(V{rank, 2}, &one);
        var.getVar(V{rank, 3}, V{1, 2}, two);
        expect(one == row[2] && two[0] == row[3] && two[1] == row[4], "independent getVar");
        var.getVar(V{rank, 1}, V{1, 2}, V{1, 4}, two);
        expect(two[0] == row[1] && two[1] == row[5], "independent getVar with a stride");
        T three[3] = {T(), T(), T()};
        var.getVar(V{rank, 1}, V{1, 2}, V{1, 4}, V{1, 2}, three);
        expect(three[0] == row[1] && three[2] == row[5], "independent getVar with a map");
        var.getVard(place, two, 2, mpi);
        expect(two[0] == row[3] && two[1] == row[4], "independent getVard");
        MPI_Type_free(&place);
        var.getVarn(2, starts(), counts(), three);
        expect(three[0] == row[0] && three[1] == row[1] && three[2] == row[5], "independent getVarn");
        file.End_indep_data();
        same("independent putVar");
    }
    void gets()
    {
        std::vector<T> all(u(WIDTH * nprocs)), got(WIDTH);
        var.getVar_all(all.data());
        expect(std::vector<T>(all.begin() + WIDTH * rank, all.begin() + WIDTH * (rank + 1)) == row,
               "getVar_all of all");
        file.redef();
        T one = T(), three[6] = {T()};
        int r[5], status[5];
        var.getVar_all(V{rank, 5}, &one);
        expect(one == row[5], "getVar_all of one");
        file.redef();
        var.getVar_all(V{rank, 0}, V{1, WIDTH}, got.data());
        expect(got == row, "getVar_all of a hyperslab");
        file.redef();
        var.getVar_all(V{rank, 1}, V{1, 3}, V{1, 3}, three);
        expect(three[0] == row[1] && three[1] == row[4] && three[2] == row[7], "getVar_all with a stride");
        file.redef();
        var.getVar_all(V{rank, 1}, V{1, 3}, V{1, 3}, V{1, 2}, three);
        expect(three[0] == row[1] && three[2] == row[4] && three[4] == row[7], "getVar_all with a map");
        file.redef();
        var.getVarn_all(2, starts(), counts(), three);
        expect(three[0] == row[0] && three[1] == row[1] && three[2] == row[5], "getVarn_all");
        MPI_Datatype place = filetype();
        file.redef();
        var.getVard_all(place, three, 2, mpi);
        MPI_Type_free(&place);
        expect(three[0] == row[3] && three[1] == row[4], "getVard_all");
        got.assign(WIDTH, T());
        file.redef();
        var.getVar_all(V{rank, 0}, V{1, WIDTH}, static_cast<void *>(got.data()), WIDTH, mpi);
        expect(got == row, "getVar_all of an MPI datatype");
        T a = T(), b[3] = {T()}, c[6] = {T()}, d[3] = {T()};
        got.assign(WIDTH, T());
        file.redef();
        var.igetVar(V{rank, 5}, &a, &r[0]);
        var.igetVar(V{rank, 1}, V{1, 3}, V{1, 3}, b, &r[1]);
        var.igetVar(V{rank, 1}, V{1, 3}, V{1, 3}, V{1, 2}, c, &r[2]);
        var.igetVarn(2, starts(), counts(), d, &r[3]);
        var.igetVar(V{rank, 0}, V{1, WIDTH}, got.data(), &r[4]);
        file.Wait_all(5, r, status);
        expect(a == row[5] && b[1] == row[4] && c[4] == row[7] && d[2] == row[5] && got == row, "igetVar");
    }

    NcmpiFile &file;
    NcmpiVar var;
    MPI_Datatype mpi;
    int next;
    std::vector<T> row, memory, everything;
    MPI_Offset start_of[2][2], count_of[2][2], *start_list[2], *count_list[2];
};

template <class T> static void run_families(NcmpiFile &file, const std::string &name)
{
    families<T>(file, file.getVar(name)).run();
}

template <class T> static void attributes_of(const NcmpiVar &var, NcmpiFile &file)
{
    const T values[] = {T(3), T(99)};
    T got[2] = {T(), T()};
    NcmpiType type(file, type_of<T>::name());
    NcmpiVarAtt att = var.putAtt("att", type, 2, values);
    att.getValues(got);
    expect(got[1] == T(99) && att.getAttLength() == 2 && att.getType() == type && att.getName() == "att" &&
               att.getParentVar() == var, std::string("attribute of ") + type_of<T>::name());
    long long back[2] = {0, 0};
    ncmpi_get_att_longlong(file.getId(), var.getId(), "att", back);
    expect(back[0] == 3 && back[1] == 99, "attribute in C");
    var.putAtt("att", type, 2, static_cast<const void *>(values));
    NcmpiGroupAtt global = file.putAtt("att", type, 2, static_cast<const void *>(values));
    got[0] = T();
    global.getValues(static_cast<void *>(got));
    expect(got[0] == T(3), "global attribute");
    got[1] = T();
    file.putAtt("typed", type, 2, values).getValues(got);
    expect(got[1] == T(99), "typed global attribute");
}
template <class T> static void single_attribute(NcmpiFile &file, const NcmpiVar &var)
{
    T got = T();
    file.putAtt("one", NcmpiType(file, type_of<T>::name()), T(42)).getValues(&got);
    expect(got == T(42), std::string("one ") + type_of<T>::name());
    var.putAtt("one", NcmpiType(file, type_of<T>::name()), T(43)).getValues(&got);
    expect(got == T(43), std::string("one of a variable ") + type_of<T>::name());
}

template <class E> static void thrown(int code, const char *words, const std::function<void()> &call)
{
    try {
        call();
        expect(false, std::string("not thrown: ") + words);
    } catch (const E &e) {
        expect(e.errorCode() == code && std::string(e.what()).find(words) != std::string::npos,
               std::to_string(e.errorCode()) + " " + e.what() + " without " + words);
    } catch (const std::exception &e) {
        expect(false, std::string("another class: ") + e.what());
    }
}

static void check_exceptions(const std::string &path)
{
@EXCEPTIONS@
    NcmpiFile file(MPI_COMM_WORLD, path + ".e", NcmpiFile::replace, NcmpiFile::classic2);
    NcmpiDim x = file.addDim("x", 4);
    NcmpiVar v = file.addVar("v", ncmpiByte, x);
    const int many = 1000;
    signed char one = 1;
    thrown<exceptions::NcNameInUse>(NC_ENAMEINUSE, "\\"x\\"", [&] { file.addDim("x", 5); });
    // One rank cannot end define mode.
    thrown<exceptions::NcInDefineMode>(NC_EINDEFINE, "", [&] { v.putVar({0}, {1}, &one); });
    thrown<exceptions::NcNotNc4>(NC_ENOTNC4, "", [&] { file.addGroup("g"); });
    thrown<exceptions::NcNotNc4>(NC_ENOTNC4, "", [&] { file.addCompoundType("c", 8); });
    thrown<exceptions::NcNotNc4>(NC_ENOTNC4, "", [&] { v.setCompression(true, true, 1); });
    thrown<exceptions::NcNotNc4>(NC_ENOTNC4, "", [&] { NcmpiEnumType(file, "e"); });
    thrown<exceptions::NcNullDim>(0, "\\"w\\"", [&] { file.addVar("w", "int", "no_such_dim"); });
    thrown<exceptions::NcNullType>(0, "\\"w\\"", [&] { file.addVar("w", "no_such_type", "x"); });
    thrown<exceptions::NcNotAtt>(NC_ENOTATT, "", [&] { v.getAtt("no_such_att"); });
    thrown<exceptions::NcNullGrp>(0, "null", [&] { NcmpiFile().sync(); });
    thrown<exceptions::NcRange>(NC_ERANGE, "1000", [&] { v.putVar_all({0}, {1}, &many); });
    thrown<exceptions::NcInvalidCoords>(NC_EINVALCOORDS, "4", [&] { v.putVar_all({9}, {1}, &one); });
    thrown<exceptions::NcEdge>(NC_EEDGE, "", [&] { v.putVar_all({2}, {3}, &one); });
    thrown<exceptions::NcInvalidCoords>(NC_EINVALCOORDS, "",
                                        [&] { v.putVar_all(std::vector<MPI_Offset>(), {1}, &one); });
    thrown<exceptions::NcmpiException>(NC_ENOTINDEP, "", [&] { v.putVar({0}, {1}, &one); });
    file.close();
    thrown<exceptions::NcExist>(NC_EEXIST, "", [&] { NcmpiFile(MPI_COMM_WORLD, path + ".e", NcmpiFile::newFile); });
    NcmpiFile again(MPI_COMM_WORLD, path + ".e", NcmpiFile::read);
    thrown<exceptions::NcInvalidWrite>(NC_EPERM, "", [&] { again.addDim("y", 2); });
    try {
        NcmpiFile missing(MPI_COMM_WORLD, path + ".missing", NcmpiFile::read);
        expect(false, "a file that does not exist");
    } catch (const std::exception &e) {
        expect(std::string(e.what()).find(".missing") != std::string::npos, e.what());
    }
}

template <class T> static void compare(const T &one, const T &other, const char *what)
{
    T copy(one), assigned, null;
    assigned = other;
    expect(copy == one && !(copy != one) && assigned == other && one != other && (one < other) != (other < one) &&
               (one > other) == (other < one) && !(one < copy) && !one.isNull(), what);
    expect(null.isNull() && null == T() && null != one && one != null, std::string("null, ") + what);
}

template <class T> static void type_is(const T &type, nc_type id, const char *name, MPI_Offset size)
{
    const NcmpiType &base = type;
    std::string upper = "ncmpi_";
    for (const char *c = name; *c != '\\0'; c++)
        upper += static_cast<char>(std::toupper(*c));
    expect(type == T() && base == NcmpiType(id) && base != NcmpiType() && type.getId() == id &&
               type.getName() == name && type.getSize() == size &&
               type.getTypeClass() == static_cast<NcmpiType::ncmpiType>(id) &&
               type.getTypeClassName() == upper && type.getParentGroup().isNull() && !type.isNull(),
           std::string("type ") + name);
}

static void check_types(NcmpiFile &file)
{
    type_is(ncmpiByte, NC_BYTE, "byte", 1);
    type_is(ncmpiUbyte, NC_UBYTE, "ubyte", 1);
    type_is(ncmpiChar, NC_CHAR, "char", 1);
    type_is(ncmpiShort, NC_SHORT, "short", 2);
    type_is(ncmpiUshort, NC_USHORT, "ushort", 2);
    type_is(ncmpiInt, NC_INT, "int", 4);
    type_is(ncmpiUint, NC_UINT, "uint", 4);
    type_is(ncmpiInt64, NC_INT64, "int64", 8);
    type_is(ncmpiUint64, NC_UINT64, "uint64", 8);
    type_is(ncmpiFloat, NC_FLOAT, "float", 4);
    type_is(ncmpiDouble, NC_DOUBLE, "double", 8);
    compare(NcmpiType(NC_INT), NcmpiType(NC_DOUBLE), "types");
    expect(ncmpiByte.sizeoff() == 1 && NcmpiType(file, "short") == ncmpiShort && NcmpiType(file, NC_INT) == ncmpiInt,
           "types by name and id");
    thrown<exceptions::NcBadType>(NC_EBADTYPE, "", [&] { NcmpiType(file, "no_such_type"); });
    thrown<exceptions::NcNullType>(0, "null", [] { NcmpiType().getName(); });
    expect(file.getTypeCount() == 0 && file.getTypeCount(NcmpiType::ncmpi_ENUM) == 0 && file.getTypes().empty() &&
               file.getTypes("int").empty() && file.getTypes(NcmpiType::ncmpi_ENUM).empty() &&
               file.getTypes("e", NcmpiType::ncmpi_ENUM).empty(), "a file has no types of users");
}

#define NO_TYPES(call) thrown<exceptions::NcNotNc4>(NC_ENOTNC4, "", [&] { call; })

template <class T> static void no_user_type(NcmpiFile &file)
{
    T null, copy(null), of_null{NcmpiType()};
    copy = null;
    copy = NcmpiType();
    expect(copy.isNull() && of_null.isNull(), "a null type of users");
    NO_TYPES(T(file, "name"));
    NO_TYPES((T(NcmpiType(NC_INT))));
    NO_TYPES(copy = NcmpiType(NC_INT));
}

static void check_user_types(NcmpiFile &file)
{
    no_user_type<NcmpiEnumType>(file);
    no_user_type<NcmpiVlenType>(file);
    no_user_type<NcmpiOpaqueType>(file);
    no_user_type<NcmpiCompoundType>(file);
    NcmpiEnumType e;
    NcmpiCompoundType c;
    NcmpiType base(NC_INT);
    int value = 0;
    NO_TYPES(e.addMember("m", 1));
    NO_TYPES(e.getMemberCount());
    NO_TYPES(e.getMemberNameFromIndex(0));
    NO_TYPES(e.getMemberNameFromValue(1));
    NO_TYPES(e.getMemberValue(0, value));
    NO_TYPES(e.getBaseType());
    NO_TYPES(NcmpiVlenType().getBaseType());
    NO_TYPES(NcmpiOpaqueType().getTypeSize());
    NO_TYPES(c.addMember("m", base, 0));
    NO_TYPES(c.addMember("m", base, 0, std::vector<int>(1, 2)));
    NO_TYPES(c.getMemberCount());
    NO_TYPES(c.getMember(0));
    NO_TYPES(c.getMemberOffset(0));
    NO_TYPES(c.getMemberDimCount(0));
    NO_TYPES(c.getMemberShape(0));
    expect(c == NcmpiCompoundType(), "null compound types");
    NO_TYPES(file.addEnumType("e", NcmpiEnumType::ncmpi_INT));
    NO_TYPES(file.addVlenType("v", base));
    NO_TYPES(file.addOpaqueType("o", 8));
    NO_TYPES(file.addCompoundType("c", 8));
    NO_TYPES(file.addGroup("g"));
}

struct SomeAtt : NcmpiAtt { // NcmpiAtt is abstract
    using NcmpiAtt::NcmpiAtt;
    SomeAtt() {}
    SomeAtt(const NcmpiAtt &other) : NcmpiAtt(other) {}
    SomeAtt &operator=(const NcmpiAtt &other)
    {
        NcmpiAtt::operator=(other);
        return *this;
    }
};

static void check_attributes(NcmpiFile &file, const NcmpiVar &var)
{
    NcmpiGroupAtt title = file.putAtt("title", "a title"), date = file.putAtt("date", NcmpiInt(), 20261129);
    NcmpiVarAtt units = var.putAtt("units", "K"), scale = var.putAtt("scale", ncmpiDouble, 0.5);
    const NcmpiAtt &one = title, &other = units;
    compare(title, date, "attributes of the file");
    compare(units, scale, "attributes of a variable");
    expect(one != other && (one < other) != (other < one) && SomeAtt(one) == one && SomeAtt(true).isNull() &&
               SomeAtt() == SomeAtt(true), "attributes of both");
    SomeAtt copy;
    copy = one;
    expect(copy == title && copy.getParentGroup() == file && SomeAtt().getParentGroup().isNull(), "a copy");
    expect(NcmpiGroupAtt(file, 0) == title && NcmpiVarAtt(file, var, 1) == scale && scale.getParentVar() == var &&
               NcmpiVarAtt().getParentVar().isNull() && file.getAttCount() == 2 && file.getAtts().size() == 2 &&
               file.getAtts("date").size() == 1 && file.getAtts("none").empty() && file.getAtt("date") == date,
           "attributes by number and name");
    const char *strings[] = {"a", "b"};
    char *found[2];
    NO_TYPES(file.putAtt("strings", 2, strings));
    NO_TYPES(title.getValues(found));
}

static void check_groups(NcmpiFile &file, const std::string &path)
{
    NcmpiFile second(MPI_COMM_WORLD, path + ".q", NcmpiFile::replace, NcmpiFile::classic5);
    const NcmpiGroup one(file.getId()), other(second.getId());
    compare(one, other, "groups");
    expect(one.getGroupCount(NcmpiGroup::AllGrps) == 1 && one.getGroup("/", NcmpiGroup::AllGrps) == one &&
               one.getGroup("g").isNull() && one.getGroups("/", NcmpiGroup::ParentsAndCurrentGrps).size() == 1 &&
               one.getGroups("g").empty() && one.isRootGroup() && one.getName(true) == "/" &&
               one.getParentGroup().isNull(), "a file has one group");
    thrown<exceptions::NcNullGrp>(0, "null", [] { NcmpiGroup().getId(); });
}

// Members that the other functions do not call.
static void check_objects(const std::string &path)
{
    NcmpiFile file(MPI_COMM_WORLD, path + ".o", NcmpiFile::replace);
    NcmpiDim x = file.addDim("x", 3), t = file.addDim("t");
    NcmpiVar a = file.addVar("a", ncmpiShort), b = file.addVar("b", "double", "x"), c = file.addVar("c", ncmpiInt, t);
    compare(x, t, "dimensions");
    compare(a, b, "variables");
    check_attributes(file, b);
    check_groups(file, path);
    check_types(file);
    check_user_types(file);
    file.enddef();
    file.redef();
    expect(file.getFormat() == NcmpiFile::classic && file.getRecSize() == 4 && file.getDims("x").size() == 1 &&
               file.getDims("y").empty() && a.getDimCount() == 0 && b.getDim(0) == x && b.getParentGroup() == file &&
               NcmpiVar().getParentGroup().isNull() && NcmpiVar(file, 2) == c && x.getId() == 0,
           "what the file has");
    thrown<exceptions::NcBadDim>(NC_EBADDIM, "", [&] { b.getDim(1); });
    thrown<exceptions::NcNullDim>(0, "null", [] { NcmpiDim().getName(); });
    b.setFill(false);
    bool is_filled = true;
    b.getFillModeParameters(is_filled);
    expect(!is_filled, "no fill mode");
    MPI_Offset usage = -1, size = -1;
    file.Buffer_attach(64);
    file.Inq_buffer_usage(&usage);
    file.Inq_buffer_size(&size);
    const int value = 5;
    int request, status = -1, pending = -1;
    c.bputVar({0}, {1}, &value, &request);
    file.Cancel(1, &request, &status);
    file.Inq_nreqs(&pending);
    file.Buffer_detach();
    expect(usage == 0 && size == 64 && status == NC_NOERR && pending == 0 && t.getSize() == 0, "buffer and cancel");
    file.close();
    expect(file.isNull(), "a closed file");
    NcmpiFile two(MPI_COMM_WORLD, path + ".o", NcmpiFile::replace, NcmpiFile::classic2);
    expect(two.getFormat() == NcmpiFile::classic2, "CDF-2");
    thrown<exceptions::NcInvalidArg>(NC_EINVAL, "", [&] {
        NcmpiFile(MPI_COMM_WORLD, path + ".x", NcmpiFile::replace, NcmpiFile::BadFormat);
    });
    const exceptions::NcmpiException plain("complaint", "file.cc", 7), copied(plain);
    exceptions::NcmpiException assigned(NC_EPERM, nullptr, nullptr, 0);
    assigned = plain;
    expect(copied.what() == std::string("complaint\\nfile: file.cc  line:7") && copied.errorCode() == 0 &&
               assigned.what() == std::string(copied.what()), "an exception of the program");
}

static void check_inquiries(NcmpiFile &file)
{
    std::set<NcmpiVar> same = file.getVars("v_int");
    expect(file.getVarCount() == 13 && file.getVars().size() == 13 && same.size() == 1 && file.getDimCount() == 4 &&
               file.getDims().count("x") == 1 && file.getVarCount(NcmpiGroup::Children) == 0, "counts");
    expect(file.getVar("no_such_var").isNull() && file.getDim("no_such_dim").isNull() &&
               file.getAtt("no_such_att").isNull() && file.getType("no_such_type").isNull(), "null objects");
    NcmpiVar record = file.getVar("record");
    expect(file.getRecVarCount() == 1 && file.getFixVarCount() == 12 && record.getDim(0).isUnlimited() &&
               record.getDims().size() == 2 && !record.getDim(1).isUnlimited() && record.getDimCount() == 2 &&
               record.getDim(1).getSize() == WIDTH && record.getDim(1).getName() == "x" &&
               record.getType() == ncmpiFloat && record.getType().getName() == "float" &&
               record.getType().getSize() == 4 && record.getType() != ncmpiDouble, "inquiries of a variable");
    float fill = 0;
    bool is_filled = false;
    record.getFillModeParameters(is_filled, fill);
    expect(is_filled && fill == -5.0f, "fill value");
    const float part[] = {1, 2};
    record.putVar_all({1, 0}, {1, 2}, part);
    file.redef();
    record.fillRec(0);
    float all[2 * 8] = {0};
    record.getVar_all(all);
    expect(record.getDim(0).getSize() == 2 && all[0] == -5.0f && all[9] == 2.0f, "records");
    MPI_Offset size = 0, extent = 0, offset = 0;
    int n = -1, length = 0;
    file.Inq_header_size(&size);
    file.Inq_header_extent(&extent);
    record.Inq_file_offset(&offset);
    file.Inq_nreqs(&n);
    file.Inq_path(&length, nullptr);
    MPI_Offset put = 0, got = 0;
    file.Inq_put_size(&put);
    file.Inq_get_size(&got);
    MPI_Info info = MPI_INFO_NULL;
    file.Inq_file_info(&info);
    expect(size > 100 && extent >= size && offset >= extent && n == 0 && length > 3 && put > 0 && got > 0 &&
               info != MPI_INFO_NULL && file.getFormat() == NcmpiFile::classic5, "inquiries of the file");
    MPI_Info_free(&info);
    file.sync();
    file.flush();
    expect(file.getGroupCount() == 0 && file.getName() == "/" && file.isRootGroup() && file.getParentGroup().isNull() &&
               file.getGroups(NcmpiGroup::AllGrps).size() == 1 && file.getTypeCount() == 0, "the root group");
}

static void check_netcdf4(const std::string &path)
{
    NcmpiFile file(MPI_COMM_WORLD, path + "4", NcmpiFile::replace, NcmpiFile::nc4);
    NcmpiVar v = file.addVar("v", ncmpiInt, file.addDim("x", 4 * nprocs));
    expect(!v.getDim(0).isUnlimited() && file.addDim("t").isUnlimited() && file.addDim("u").isUnlimited(), "unlimited");
    std::vector<MPI_Offset> chunks(1, 3);
    try { // one rank names no variable: the others do not block
        NcmpiVar(file, rank == nprocs - 1 ? 99 : v.getId()).setChunking(NcmpiVar::ncmpi_CHUNKED, chunks);
        expect(rank != nprocs - 1, "chunks of no variable");
    } catch (const exceptions::NcNotVar &) {
    }
    v.setChunking(NcmpiVar::ncmpi_CHUNKED, chunks);
    v.setCompression(true, true, 1);
    v.setChecksum(NcmpiVar::ncmpi_FLETCHER32);
    v.setEndianness(NcmpiVar::ncmpi_ENDIAN_BIG);
    const int four[] = {rank, rank + 1, rank + 2, rank + 3};
    v.putVar_all({4 * rank}, {4}, four);
    NcmpiVar::ChunkMode mode = NcmpiVar::ncmpi_CONTIGUOUS;
    bool shuffle = false, deflate = false;
    int level = 0, got[4] = {0, 0, 0, 0};
    v.getChunkingParameters(mode, chunks);
    v.getCompressionParameters(shuffle, deflate, level);
    v.getVar_all({4 * rank}, {4}, got);
    expect(mode == NcmpiVar::ncmpi_CHUNKED && chunks == std::vector<MPI_Offset>(1, 3) && shuffle && deflate &&
               level == 1 && v.getChecksum() == NcmpiVar::ncmpi_FLETCHER32 &&
               v.getEndianness() == NcmpiVar::ncmpi_ENDIAN_BIG && got[3] == rank + 3 &&
               file.getFormat() == NcmpiFile::nc4, "netCDF-4");
}

static void run(const std::string &path)
{
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic5);
    NcmpiDim y = file.addDim("y", nprocs), x = file.addDim("x", WIDTH), t = file.addDim("t");
    static const char *const types[] = {@NAMES@};
    for (const char *type : types) {
        std::string cdl = type == std::string("long") ? "int64" : type;
        file.addVar(std::string("v_") + type, cdl, std::vector<std::string>{"y", "x"});
    }
    NcmpiVar record = file.addVar("record", ncmpiFloat, std::vector<NcmpiDim>{t, x});
    float fill = -5;
    record.setFill(true, &fill);
    NcmpiFile::FillMode old = NcmpiFile::Bad;
    file.set_fill(NcmpiFile::NoFill, &old);
    expect(old == NcmpiFile::NoFill, "fill mode");
    record.setFill(true, &fill);
    NcmpiVar v = file.getVar("v_int");
    v.rename("renamed");
    expect(v.getName() == "renamed" && v.putAtt("units", "K").getParentVar() == v, "rename");
    v.rename("v_int");
    std::string text;
    v.getAtt("units").getValues(text);
    expect(text == "K" && v.getAttCount() == 1 && v.getAtts().count("units") == 1, "text of an attribute");
@ATTRIBUTES@
    file.enddef();
    file.putAtt("later", "defined after enddef"); // enters define mode
    file.addDim("z", 2).rename("zz");
    file.enddef();
    expect(file.getDim("zz").getSize() == 2 && y.getSize() == nprocs && y != x && y.getParentGroup() == file, "dims");
@FAMILIES@
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    try {
        run(argv[1]);
        {
            NcmpiFile file(MPI_COMM_WORLD, argv[1], NcmpiFile::write);
            MPI_Offset n = file.getDimCount();
            expect(n == 4, "dimensions");
        }
        check_exceptions(argv[1]);
        check_objects(argv[1]);
        if (argc > 2)
            check_netcdf4(argv[1]);
    } catch (const std::exception &e) {
        expect(false, std::string("exception: ") + e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int open = -1;
    ncmpi_inq_files_opened(&open, nullptr);
    expect(open == 0, "files are open");
    if (rank == 0)
        std::printf("end\\n");
    return MPI_Finalize();
}
"""

SUFFIXES = {"char": "char", "byte": "signed char", "ubyte": "unsigned char", "short": "short",
            "ushort": "unsigned short", "int": "int", "uint": "unsigned int", "long": "long", "float": "float",
            "double": "double", "int64": "long long", "uint64": "unsigned long long"}


def program():
    _, exceptions, _ = declarations()
    throws = "".join(f"    thrown<exceptions::{name}>({code}, \"\", [] {{ ncmpiCheck({code}); }});\n"
                     for name, code in exceptions if code != "-")
    throws += "".join(f"    thrown<exceptions::{name}>(0, \"it\",\n"
                      f"        [] {{ throw exceptions::{name}(\"it\", \"\", 0); }});\n"
                      for name, code in exceptions if code == "-")
    attributes = "".join(f"    attributes_of<{name}>(v, file);\n" for name in TYPES["<N>"])
    attributes += "".join(f"    single_attribute<{name}>(file, v);\n" for name in NUMBERS)
    families = "".join(f"    run_families<{name}>(file, \"v_{suffix}\");\n" for suffix, name in SUFFIXES.items())
    text = PROGRAM.replace("@EXCEPTIONS@", throws).replace("@ATTRIBUTES@", attributes)
    text = text.replace("@NAMES@", ", ".join(f'"{suffix}"' for suffix in SUFFIXES))
    return text.replace("@FAMILIES@", "    check_inquiries(file);\n" + families)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def write(name, text):
    path = os.path.abspath(tap.scratch(name))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def compiles(standard, source, *arguments):
    system = [flag.replace("-I", "-isystem") for flag in tap.mpi_flags()]
    return run("g++", f"-std={standard}", *STRICT, *system, source, *arguments)


def main():
    if not shutil.which("g++"):
        tap.skip("the header pnetcdf", "g++ is not installed")
        tap.finish()
    number, text = checks()
    source = write("checks.cc", text)
    for standard in ("c++11", "c++20"):
        status, why = compiles(standard, source, "-fsyntax-only")
        tap.ok(status == 0, f"{standard}: all {number} declarations, without a warning", why[:6000])
    tap.ok(number > 850, f"{number} declarations were found")
    alone = write("alone.cc", "#include <pnetcdf>\nint main() { return 0; }\n")
    for standard in ("c++14", "c++17"):
        status, why = compiles(standard, alone, "-fsyntax-only")
        tap.ok(status == 0, f"{standard}: without a warning", why[:6000])
    absent = write("absent.cc", "#include <pnetcdf>\nint main() { PnetCDF::NcmpiVar().noSuchCall(); }\n")
    tap.ok(compiles("c++11", absent, "-fsyntax-only")[0] != 0, "another call does not compile")
    source = write("families.cc", program())
    made, binary = source[:-3] + ".o", source[:-3]
    status, why = compiles("c++11", source, *called.flags(), "-c", "-o", made)
    if tap.ok(status == 0, "a program with all families compiles without a warning", why[:6000]):
        status, why = run(*CC, *tap.make_variable("CFLAGS"), made, "-o", binary, *tap.library_flags(), "-lstdc++",
                          *called.libraries())
        tap.ok(status == 0, "and links with -lpnetcdf", why)
        formats = ["netcdf4"] if tap.has_hdf5() else []
        for ranks in (1, 2, 4):
            status, out, err = tap.run_mpi(ranks, binary, tap.scratch("families.nc"), *formats)
            tap.ok(status == 0 and out == "end\n", f"it reads and writes as the functions of C do, {ranks} ranks",
                   (out + err)[:6000])
        called.check(made, os.path.join(BUILD, "include", "pnetcdf"), 900)
    tap.finish()


main()
