"""pnetcdf.inc and pnetcdf_checked.inc as programs include them: in fixed and free form, beside mpif.h and the module
mpi, preprocessed, with all warnings and without flags that forgive mismatched arguments; their constants are those of
pnetcdf.h, and the second one has mistakes refused."""
# needs: python
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
HERE = os.path.dirname(os.path.abspath(__file__))
CC = shlex.split(os.environ.get("CC", "mpicc"))
FC = shlex.split(os.environ.get("FC", ""))
INC = os.path.join(BUILD, "include", "pnetcdf.inc")
CHECKED = os.path.join(BUILD, "include", "pnetcdf_checked.inc")
FILES = ["pnetcdf.inc", "pnetcdf_checked.inc"]
INCLUDE = "-I" + os.path.join(BUILD, "include")
STRICT = ["-Wall", "-Wextra"]
# Wrappers add flags of their own, which users of a plain compiler do not have.
PLAIN = ["-fno-allow-argument-mismatch"]

# What users' programs do: one function with scalars, elements, arrays of any rank; flexible ones with any type.
CALLS = """
      integer nc, v, err, req, st, reqs(2), sts(2), d, i2(2, 2)
      integer i1(4), i, n
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), one, at(2,2)
      real r, r2(2, 2), r3(2, 2, 2)
      double precision x, d1(4)
      character*10 text, texts(3)
      character letters(10)
      one = 1
      n = 2
      err = nfmpi_open(MPI_COMM_WORLD, 'a', 0, MPI_INFO_NULL, nc)
      err = nfmpi_def_dim(nc, 'x', one, d)
      err = nfmpi_def_var(nc, 'v', nf_int, 1, d, v)
      err = nfmpi_def_var(nc, 'w', nf_int, 2, i1, v)
      err = nfmpi_def_var(nc, 'one', nf_int, 0, 0, v)
      err = nfmpi_put_att_int(nc, nf_global, 'n', nf_int, one, n)
      err = nfmpi_put_att_int(nc, nf_global, 'n', nf_int, one, 5)
      err = nfmpi_put_att_int(nc, nf_global, 'n', nf_int, one, i2)
      err = nfmpi_put_att_text(nc, v, 'units', one, 'K')
      err = nfmpi_put_att_text(nc, v, 'units', one, letters)
      err = nfmpi_get_att_text(nc, v, 'units', text)
      err = nfmpi_get_att_int(nc, v, 'n', i)
      err = nfmpi_get_att_int(nc, v, 'n', i1)
      err = nfmpi_put_var1_int(nc, v, start, i)
      err = nfmpi_put_var1_int(nc, v, start(1), i1(2))
      err = nfmpi_put_vara_int_all(nc, v, start,count, i1)
      err = nfmpi_put_vara_int_all(nc, v, start,count, i2)
      err = nfmpi_put_vara_int_all(nc, v, start,count, i2(1, 2))
      err = nfmpi_put_vara_int_all(nc, v, start,count, i)
      err = nfmpi_put_vara_all(nc, v, start,count, i1, one, MPI_INTEGER)
      err = nfmpi_put_vara_all(nc, v, start,count, r3, one, MPI_REAL)
      err = nfmpi_put_vara_all(nc, v, start,count, x, one, n)
      err = nfmpi_put_vara_all(nc, v, start,count, text, one, n)
      err = nfmpi_iput_vara_real(nc, v, start,count, r2, req)
      err = nfmpi_iput_vara_real(nc, v, start,count, r, reqs(1))
      err = nfmpi_bput_varn_double(nc, v, 2, at, at, d1, req)
      err = nfmpi_bput_varn_double(nc, v, 1, start,count, x, req)
      err = nfmpi_put_vara_text_all(nc, v, start,count, text)
      err = nfmpi_put_vara_text_all(nc, v, start,count, texts)
      err = nfmpi_put_vara_text_all(nc, v, start,count, letters)
      err = nfmpi_put_vara_text_all(nc, v, start,count, 'abc')
      err = nfmpi_wait_all(nc, 1, req, st)
      err = nfmpi_wait_all(nc, 2, reqs, sts)
      err = nfmpi_wait(nc, nf_req_all, reqs, sts)
      if (err .ne. nf_noerr) print *, nfmpi_strerror(err)
      if (nfmpi_issyserr(err)) print *, nfmpi_inq_libvers()
      err = nfmpi_close(nc)
"""
# The data families and attributes, as programs call them that were written for undeclared external functions. Each list
# is gone through from call to call, as far as it reaches.
STARTS = ["starts", "start", "start(1)", "one", "1_8", "table", "table(1, 2)", "2 * one"]
REQUESTS = ["req", "reqs", "reqs(2)"]
BUFFERS = {
    "text": ["word", "words", "words(2)", "word(2:4)", "letters", "letters(3)"],
    "int1": ["b0", "b1", "b1(2)", "b3", "b3(1, 1, 2)", "b7"], "int2": ["s0", "s1", "s1(2)", "s3", "s3(1, 1, 2)", "s7"],
    "int": ["i0", "i1", "i1(2)", "i3", "i3(1, 1, 2)", "i7"], "int8": ["l0", "l1", "l1(2)", "l3", "l3(1, 1, 2)", "l7"],
    "real": ["r0", "r1", "r1(2)", "r3", "r3(1, 1, 2)", "r7"],
    "double": ["d0", "d1", "d1(2)", "d3", "d3(1, 1, 2)", "d7"],
}
BUFFERS[""] = [name for names in BUFFERS.values() for name in names]
CONSTANTS = {"text": ["'abc'", "word(2:3) // 'c'"], "int1": ["int(5, 1)"], "int2": ["int(5, 2)"], "int": ["5", "n"],
             "int8": ["5_8"], "real": ["0.5"], "double": ["0.5d0"], "": ["5", "'abc'", "2.5d0"]}
PLACES = {"": 0, "1": 1, "a": 2, "s": 3, "m": 4, "n": 2}
VARIABLES = """
      integer nc, v, err, n, req, reqs(3)
      integer(kind=MPI_OFFSET_KIND) one
      integer(kind=MPI_OFFSET_KIND) start(2), starts(2), table(2, 3)
      character*10 word, words(3)
      character letters(10)
"""
for letter, declaration in (("b", "integer*1"), ("s", "integer*2"), ("i", "integer"), ("l", "integer*8"), ("r", "real"),
                            ("d", "double precision")):
    VARIABLES += (f"      {declaration} {letter}0, {letter}1(4), {letter}3(2,2,2)\n"
                  f"      {declaration} {letter}7(2,1,1,1,1,1,2)\n")
# Printed by a program with the pnetcdf.inc of PnetCDF 1.12.3.
NETCDF2 = """
filbyte -127 filchar 0 fillong -2147483647 filshort -32767 maxncatt 2000 maxncdim 100 maxncnam 128 maxncop 32
maxncvar 2000 maxvdims 100 ncbyte 1 ncchar 2 ncclob 0 nccreat 2 ncdouble 6 ncebadd -46 ncebadid -33
ncebadty -45 ncecoord -40 nceexist -35 nceglob -50 nceindef -39 nceinval -36 ncemaxat -44 ncemaxds -41
ncemaxvs -48 ncename -42 ncenfile -31 ncenoatt -43 ncenotin -38 ncenotnc -51 ncenotvr -49 ncentool -53
nceperm -37 ncests -52 nceunlim -47 ncexcl 4 ncfatal 1 ncfill 0 ncfloat 5 ncfoobar 32 ncglobal 0 nchdirty 128
nchsync 32 ncindef 8 nclink 32768 nclong 4 ncndirty 64 ncnoclob 4 ncnoerr 0 ncnofill 256 ncnowrit 0 ncnsync 16
ncrdwr 1 ncshort 3 ncsyserr -31 ncunlim 0 ncverbos 2 ncwrite 1 nf2_err -1
"""
INTERFACES = {"mpif.h": ("", "      include 'mpif.h'\n"), "module mpi": ("      use mpi\n", ""),
              "module mpi_f08": ("      use mpi_f08\n", "")}


def write(name, text):
    path = tap.scratch(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          cwd=tap.scratch("."))
    return done.returncode, done.stdout, f"{shlex.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}"


def compiles(source, *options):
    return run(*FC, *PLAIN, *options, INCLUDE, "-fsyntax-only", source)


def program(use, include, body, file="pnetcdf.inc"):
    return (f"      program client\n{use}      implicit none\n{include}      include '{file}'\n"
            f"{body.strip(chr(10))}\n      end\n")


def warnings_of_ours(text):
    """Warnings of mpif.h are not ours to avoid: each message of gfortran begins with the file it is about."""
    messages = re.split(r"\n(?=\S+:\d+:\d+:)", "\n" + text)
    return [message for message in messages if ("Warning:" in message or "Error:" in message)
            and not re.match(r"\S*mpif[\w-]*\.h:", message.strip())]


def with_integers(calls):
    """The same calls with handles of mpi_f08, which are integers by a component."""
    names = {"MPI_COMM_WORLD": "comm", "MPI_INFO_NULL": "info", "MPI_INTEGER": "itype", "MPI_REAL": "rtype"}
    set_up = "".join(f"      {short} = {name}%MPI_VAL\n" for name, short in names.items())
    for name, short in names.items():
        calls = calls.replace(name, short)
    return f"      integer {', '.join(names.values())}" + calls.replace("      one = 1\n", "      one = 1\n" + set_up)


def check_programs(file):
    for name, (use, include) in INTERFACES.items():
        for form, suffix, options in (("fixed form", ".f", ["-std=legacy"]), ("fixed form", ".f", []),
                                      ("fixed form of 132 columns", ".f", ["-ffixed-line-length-132"]),
                                      ("fixed form of any width", ".f", ["-ffixed-line-length-none"]),
                                      ("free form", ".f90", ["-std=legacy"]), ("free form", ".f90", [])):
            calls = with_integers(CALLS) if "f08" in name else CALLS
            source = write("client" + suffix, program(use, include, calls, file))
            status, _, why = compiles(source, *STRICT, *options)
            tap.ok(status == 0 and not warnings_of_ours(why),
                   f"{file}, {name}, {form} {' '.join(options)}: scalars, arrays, any type compile without a warning",
                   why)


def members():
    """(name, operation, shape, type) of each nfmpi_ function of the data families that the include files declare."""
    with open(CHECKED, encoding="ascii") as file:
        names = re.findall(r"procedure\(\w+\) :: nfmpi_(\w+)", file.read())
    split = re.compile(r"(put|get|iput|iget|bput)_var([1asmn]?)_?(text|int1|int2|int8|int|real|double|)(?:_all)?$")
    return [(name, *split.match(name).groups()) for name in names]


def family_calls(name, operation, shape, kind):
    """Calls of a function with all buffers of its type, and with all ways to give a place and a request."""
    buffers = BUFFERS[kind] + ([] if "get" in operation else CONSTANTS[kind])
    for k in range(max(len(buffers), len(STARTS))):
        arguments = ["nc", "v"] + ["n"] * (shape == "n")
        arguments += [STARTS[(k + i) % len(STARTS)] for i in range(PLACES[shape])]
        arguments.append(buffers[k % len(buffers)])
        arguments += ["one", "MPI_REAL"] * (kind == "")
        arguments += [REQUESTS[k % len(REQUESTS)]] * (operation in ("iput", "iget", "bput"))
        yield f"nfmpi_{name}({', '.join(arguments)})"


def attribute_calls(kind):
    for buffer in BUFFERS[kind]:
        yield f"nfmpi_get_att_{kind}(nc, v, 'a', {buffer})"
    for buffer in BUFFERS[kind] + CONSTANTS[kind]:
        yield f"nfmpi_put_att_{kind}(nc, v, 'a', {'nf_int, ' if kind != 'text' else ''}one, {buffer})"


def in_fixed_form(call):
    """A statement of fixed form, continued behind a comma."""
    lines = ["      err = "]
    for part in re.split(r"(?<=, )", call):
        if len(lines[-1] + part) > 72:
            lines.append("     &    ")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines) + "\n"


def check_unchanged_programs(file):
    """No argument of a program that compiles where nothing is declared may be refused for its rank."""
    calls = [call for member in members() for call in family_calls(*member)]
    calls += [call for kind in BUFFERS if kind for call in attribute_calls(kind)]
    text = ""
    for n in range(0, len(calls), 200):
        body = VARIABLES + "".join(map(in_fixed_form, calls[n:n + 200]))
        text += program("", "      include 'mpif.h'\n", body, file).replace("program client", f"subroutine client{n}")
    status, _, why = compiles(write("unchanged.f", text), *STRICT, "-Wno-unused", "-Wno-uninitialized", "-std=legacy")
    tap.ok(len(calls) > 2500 and status == 0 and not warnings_of_ours(why),
           f"{file}: {len(calls)} calls, of each function of the families with all places and buffers, compile",
           why[:4000])


def check_unused(file):
    source = write("unused.f", f"      subroutine unused\n      implicit none\n      include '{file}'\n      end\n")
    status, _, why = compiles(source, *STRICT, "-std=legacy")
    tap.ok(status == 0 and "Warning" not in why, f"{file}: what is not used is not warned of", why)
    text = f"      module mine\n      implicit none\n      include '{file}'\n      end module\n" \
           "      subroutine user\n      use mine\n      implicit none\n      integer err\n" \
           "      err = nfmpi_enddef(nf_global)\n      end\n"
    status, _, why = compiles(write("module.f90", text), *STRICT, "-std=f2018")
    tap.ok(status == 0 and "Warning" not in why, f"{file}: a module may include it, as standard Fortran 2018", why)


def check_refused():
    """Mistakes that crash programs where nothing checks arguments; most messages name the argument."""
    wrong = (("length of default kind", "length", "err = nfmpi_put_att_text(1, 1, 'a', 5, 'hello')"),
             ("size of default kind", "recsize", "err = nfmpi_inq_recsize(1, i)"),
             ("number for a name", "name", "err = nfmpi_inq_varid(1, 5, i)"),
             ("constant for a result", "OUT/INOUT", "err = nfmpi_inq_varid(1, 'v', 5)"),
             ("missing argument", "req", "err = nfmpi_iput_vara_int(1, 1, i8, i8, i)"),
             ("real for an id", "ncid", "err = nfmpi_close(1.5)"))
    for what, argument, call in wrong:
        text = program("", "", "      integer err, i, i4(2)\n      integer(kind=selected_int_kind(18)) i8(2)\n"
                       f"      {call}\n", "pnetcdf_checked.inc")
        status, _, why = compiles(write("wrong.f", text))
        tap.ok(status != 0 and re.search(rf"Error: .*\b{argument}\b", why), f"refused by the compiler: {what}", why)


def check_text(name):
    path = os.path.join(BUILD, "include", name)
    with open(path, encoding="ascii") as file:
        lines = file.read().split("\n")
    tap.ok(max(map(len, lines)) <= 72, f"{name}: no line has more than 72 columns",
           "\n".join(l for l in lines if len(l) > 72))
    tap.ok(all(re.match(r"!|      |$", line) for line in lines), f"{name}: lines begin in column 7, or are comments")
    # WRF greps for this constant in lower case, and hands the file to cpp
    tap.ok(any("nf_format_64bit" in line for line in lines), f"{name} has nf_format_64bit in lower case")
    status, output, why = run("cpp", "-P", "-traditional", path)
    kept = [line for line in lines if line.strip()]
    tap.ok(status == 0 and [l.rstrip() for l in output.split("\n") if l.strip()] == kept,
           f"{name}: cpp -traditional changes nothing", why)


def check_constants():
    with open(INC, encoding="ascii") as file:
        names = re.findall(r"parameter \((nf_\w+) *=", file.read())
    names = [name for name in names if name != "nf_offset_kind"]
    lines = "".join(f"      print *, '{name}', {name}\n" for name in names)
    source = write("constants.f90", program("", "", lines))
    status, output, why = run(*FC, INCLUDE, "-ffree-line-length-none", source, "-o", tap.scratch("f_constants"))
    printed = dict(line.split() for line in run(tap.scratch("f_constants"))[1].splitlines()) if status == 0 else {}
    tap.ok(len(printed) == len(names) > 250, f"a program prints all {len(names)} constants", why)
    with open(os.path.join(BUILD, "include", "pnetcdf.h"), encoding="ascii") as file:
        known = set(re.findall(r"#define (NC_\w+)", file.read()))
    in_c = [name for name in names if "NC_" + name[3:].upper() in known]
    lines = "".join(f'    printf("%s %.17g\\n", "{name}", (double)NC_{name[3:].upper()});\n' for name in in_c)
    source = write("constants.c", "#include <stdio.h>\n#include <pnetcdf.h>\n"
                   f"int main(void)\n{{\n{lines}    return 0;\n}}\n")
    status, output, why = run(*CC, INCLUDE, source, "-o", tap.scratch("c_constants"))
    c_values = dict(line.split() for line in run(tap.scratch("c_constants"))[1].splitlines()) if status == 0 else {}
    c_values["nf_global"] = "0"  # ids count from 1 in Fortran
    c_values["nf_align_chunk"] = "-1"  # a size_t in C, as in netcdf.h
    differ = [f"{name}: {printed.get(name)} in Fortran, {value} in C" for name, value in c_values.items()
              if not abs(float(printed.get(name, "nan")) - float(value)) <= 1e-6 * abs(float(value))]
    tap.ok(len(c_values) > 250 and not differ, f"{len(c_values)} constants have the values of C",
           why + "\n".join(differ))
    alone = {"nf_int1": 1, "nf_int2": 3, "nf_int4": 4, "nf_real": 5, "nf_real4": 5, "nf_real8": 6, "nf_fill_int1": -127,
             "nf_fill_int2": -32767, "nf_cdf2": 512, "nf_fatal": 1, "nf_verbose": 2}
    differ = [name for name, value in alone.items() if printed.get(name) != str(value)]
    tap.ok(not differ, "names that only Fortran has", "\n".join(differ))


def check_netcdf2():
    words = NETCDF2.split()
    expected = [f"{name} {value}" for name, value in zip(words[::2], words[1::2])] + ["fildoub 1", "filfloat 1"]
    lines = "".join(f"      print '(a,i0)', '{line.split()[0]} ', {line.split()[0]}\n" for line in expected[:-2])
    lines += "".join(f"      print '(a,i0)', '{name} ', nint({name} / 9.96921e36)\n"
                     for name in ("fildoub", "filfloat"))
    for name, use, include in (("pnetcdf.inc", "", "      include 'pnetcdf.inc'\n"),
                               ("the module", "      use pnetcdf\n", "")):
        source = write("netcdf2.f90", "      program p\n      use mpi\n"
                       f"{use}      implicit none\n{include}{lines}      end\n")
        status, _, why = run(*FC, INCLUDE, source, "-o", tap.scratch("netcdf2"))
        printed = run(tap.scratch("netcdf2"))[1].splitlines() if status == 0 else []
        tap.ok(printed == expected, f"{name} has the {len(expected)} constants of netCDF-2", why + "\n".join(printed))


def check_features():
    """Version and features are those of pnetcdf.h, read as text: numbers, which programs compare, and strings."""
    with open(os.path.join(BUILD, "include", "pnetcdf.h"), encoding="ascii") as file:
        macros = dict(re.findall(r'^#define (PNETCDF_\w+) (\d+|"[^"]*")$', file.read(), flags=re.M))
    lines = "".join(f"      print '(3a)', '{name} ', '\"', {name}//'\"'\n" if '"' in value else
                    f"      if ({name} .eq. {value}) print '(a,i0)', '{name} ', {name}\n"
                    for name, value in macros.items())
    expected = [f"{name} {value}" for name, value in macros.items()]
    source = write("features.f90", program("", "", lines))
    status, _, why = run(*FC, INCLUDE, "-ffree-line-length-none", source, "-o", tap.scratch("features"))
    output = run(tap.scratch("features"))[1] if status == 0 else ""
    tap.ok(len(macros) == 20 and output.splitlines() == expected, "version and features are those of pnetcdf.h",
           why + output)


def check_coverage():
    """test_families is generated from the families; all other functions are written out in metadata.f90."""
    with open(CHECKED, encoding="ascii") as file:
        functions = re.findall(r"^ *(?:pure )?function (nfmpi_\w+)", file.read(), flags=re.M)
    with open(os.path.join(HERE, "metadata.f90"), encoding="utf-8") as file:
        called = set(re.findall(r"nfmpi_\w+", file.read()))
    missing = sorted(set(functions) - called)
    tap.ok(len(functions) > 80 and not missing, f"all {len(functions)} functions outside the families are tested",
           "\n".join(missing))


if not os.path.exists(INC) or not FC:
    print("1..0 # SKIP this build has no Fortran")
    sys.exit(0)
for each in FILES:
    check_text(each)
check_coverage()
if "GNU Fortran" not in run(*FC, "--version")[1]:
    tap.skip("programs that include pnetcdf.inc", f"their flags are gfortran's, and this is {FC[0]}")
    tap.finish()
for each in FILES:
    check_programs(each)
    check_unchanged_programs(each)
    check_unused(each)
check_refused()
check_constants()
check_netcdf2()
check_features()
tap.finish()
