"""pnetcdf.inc and pnetcdf_checked.inc as programs include them: in fixed and free form, beside mpif.h and the module
mpi, through m4 and cpp -traditional, beside variables named as intrinsic functions, with all warnings. Their constants
are those of pnetcdf.h. The first is plain: external functions and literals. The second has mistakes refused, and needs
no flags that forgive mismatched arguments."""
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
# Of external functions, compilers compare the calls of a program, and warn of each constant that it does not use.
OF_FILE = {"pnetcdf.inc": ["-Wno-unused-parameter"], "pnetcdf_checked.inc": []}
FORGIVING = {"pnetcdf.inc": ["-fallow-argument-mismatch"], "pnetcdf_checked.inc": []}

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


def warnings_of_ours(text, file=None):
    """Warnings of mpif.h are not ours to avoid: each message of gfortran begins with the file it is about. So
    are those of calls of external functions that differ from each other."""
    messages = re.split(r"\n(?=\S+:\d+:\d+:)", "\n" + text)
    return [message for message in messages if ("Warning:" in message or "Error:" in message)
            and not re.match(r"\S*mpif[\w-]*\.h:", message.strip())
            and not (file == "pnetcdf.inc" and "mismatch between actual argument" in message)]


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
            status, _, why = compiles(source, *STRICT, *options, *OF_FILE[file], *FORGIVING[file])
            tap.ok(status == 0 and not warnings_of_ours(why, file),
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
    status, _, why = compiles(write("unchanged.f", text), *STRICT, "-Wno-unused", "-Wno-uninitialized", "-std=legacy",
                              *OF_FILE[file], *FORGIVING[file])
    tap.ok(len(calls) > 2500 and status == 0 and not warnings_of_ours(why, file),
           f"{file}: {len(calls)} calls, of each function of the families with all places and buffers, compile",
           why[:4000])


def check_unused(file):
    source = write("unused.f", f"      subroutine unused\n      implicit none\n      include '{file}'\n      end\n")
    status, _, why = compiles(source, *STRICT, "-std=legacy", *OF_FILE[file])
    tap.ok(status == 0 and "Warning" not in why, f"{file}: what is not used is not warned of", why)
    text = f"      module mine\n      implicit none\n      include '{file}'\n      end module\n" \
           "      subroutine user\n      use mine\n      implicit none\n      integer err\n" \
           "      err = nfmpi_enddef(nf_global)\n      end\n"
    status, _, why = compiles(write("module.f90", text), *STRICT, "-std=f2018", *OF_FILE[file])
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


# The macros of GNU m4 that remain after -Uinclude -Uindex -Ulen, as its manual lists them.
M4_WORDS = set("""
builtin changecom changequote changeword debugfile debugmode decr define defn divert divnum dnl dumpdef errprint
esyscmd eval format ifdef ifelse incr indir m4exit m4wrap maketemp mkstemp patsubst popdef pushdef regexp shift
sinclude substr syscmd sysval traceoff traceon translit undefine undivert unix __file__ __line__ __program__
""".split())
# The intrinsic procedures of Fortran 2018, and those of gfortran that old programs are likely to have as variables.
INTRINSICS = """
abs achar acos acosh adjustl adjustr aimag aint all allocated anint any asin asinh associated atan atan2 atanh
atomic_add atomic_and atomic_cas atomic_define atomic_or atomic_ref atomic_xor bessel_j0 bessel_j1 bessel_jn bessel_y0
bessel_y1 bessel_yn bge bgt ble blt bit_size btest ceiling char cmplx command_argument_count conjg coshape cos cosh
count cpu_time cshift date_and_time dble digits dim dot_product dprod dshiftl dshiftr eoshift epsilon erf erfc
erfc_scaled execute_command_line exp exponent extends_type_of failed_images findloc floor fraction gamma get_command
get_command_argument get_environment_variable get_team huge hypot iachar iall iand iany ibclr ibits ibset ichar
image_index image_status ieor index int ior iparity ishft ishftc is_contiguous is_iostat_end is_iostat_eor kind lbound
lcobound leadz len len_trim lge lgt lle llt log log10 logical log_gamma maskl maskr matmul max maxexponent maxloc
maxval merge merge_bits min minexponent minloc minval mod modulo move_alloc mvbits nearest new_line nint norm2 not
null num_images out_of_range pack parity popcnt poppar precision present product radix random_init random_number
random_seed range rank real reduce repeat reshape rrspacing same_type_as scale scan selected_char_kind
selected_int_kind selected_real_kind set_exponent shape shifta shiftl shiftr sign sin sinh size spacing spread sqrt
stopped_images storage_size sum system_clock tan tanh team_number this_image tiny trailz transfer transpose trim
ubound ucobound unpack verify abort access alarm and besj0 chdir chmod complex ctime dcmplx dfloat dreal dtime etime
exit fdate float flush fnum fseek fstat ftell getarg getcwd getenv getpid gmtime hostnm idate ierrno imag isatty
itime kill link lnblnk loc long lshift ltime malloc mclock or rand rename rshift second short sizeof sleep srand
stat system time ttynam umask unlink xor format version string
""".split()
# How WRF's external/io_pnetcdf is compiled: cpp -traditional reads the include file, m4 all of the result. Calls in
# code that never runs have other arguments, lengths are integers of default kind, and constants are in upper case.
LIKE_WRF = """\
subroutine ext_pnc_realfieldio(Coll, IO, NCID, VarID, VStart, VCount, Len, Data, Status)
  implicit none
#  include "pnetcdf.inc"
  logical, intent(in) :: Coll
  character(len=*), intent(in) :: IO
  integer, intent(in) :: NCID, VarID, VStart(4), VCount(4), Len
  real, intent(inout) :: Data(Len)
  integer, intent(out) :: Status
  integer(kind=8) :: Start(4), Count(4)
  Start = VStart
  Count = VCount
  if (IO == 'write') then
    if (Coll) then
      Status = NFMPI_PUT_VARA_REAL_ALL(NCID, VarID, Start, Count, Data)
    else
      Status = NFMPI_PUT_VARA_REAL(NCID, VarID, Start, Count, Data)
    endif
  else
    Status = NFMPI_GET_VARA_REAL_ALL(NCID, VarID, Start, Count, Data)
  endif
end subroutine
subroutine ext_pnc_open(FileName, format, Hndl, Status)
  implicit none
#  include "pnetcdf.inc"
  character(*), intent(in) :: FileName
  integer, intent(in) :: format
  integer, intent(out) :: Hndl, Status
  integer :: DimID, Version, substring
  integer, dimension(4) :: DimLen
  Status = NF_NOERR
  if (format == nf_format_64bit) then
    Status = NFMPI_OPEN(FileName, NF_NOWRITE, Hndl)
  end if
  DimID = 1
  Status = NFMPI_INQ_DIMLEN(Hndl, DimID, DimLen(1))
  Version = PNETCDF_VERSION_MAJOR
  substring = Version
  if (Status /= NF_NOERR) write(*,*) 'NetCDF error: ', NFMPI_STRERROR(Status)
  Status = NFMPI_PUT_ATT_TEXT(Hndl, NF_GLOBAL, 'TITLE', len_trim(FileName), FileName)
end subroutine
"""


def check_plain():
    """Statements of Fortran 77 but for three kinds of types, and nothing that a preprocessor takes for its own."""
    with open(INC, encoding="ascii") as file:
        text = file.read()
    name, number = r"[A-Za-z]\w*", r'(-?\d+(_8)?|-?\d+(\.\d+)?[ed]?[+]?\d*|"")'
    statements = [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("!")]
    other = [line for line in statements if not re.fullmatch(
        rf"(integer(\(8\))?|real|double precision|logical|character\((80|\*)\)|external) {name}(, {name})*"
        rf"|parameter \({name}={number}\)", line)]
    tap.ok(len(statements) > 800 and not other, "pnetcdf.inc has declarations, external functions and literals only",
           "\n".join(other))
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    tap.ok(not words & M4_WORDS and not re.search("[#'`]", text), "no word of it is a macro of m4, it has no quotes",
           "\n".join(sorted(words & M4_WORDS)))
    names = {word.lower() for word in words if word.lower().startswith("pnetcdf_version")}
    tap.ok(names == {"pnetcdf_version_" + part for part in ("major", "minor", "sub", "pre")},
           "of the version it has the parts: PNETCDF_VERSION is left to programs", "\n".join(sorted(names)))


def check_preprocessed():
    for command in (["m4", "-Uinclude", "-Uindex", "-Ulen"], ["cpp", "-traditional"], ["cpp", "-P", "-traditional"]):
        if shutil.which(command[0]) is None:
            tap.skip(f"pnetcdf.inc through {' '.join(command)}", f"{command[0]} is not installed")
            continue
        status, output, why = run(*command, INC)
        with open(INC, encoding="ascii") as file:
            kept = [line.rstrip() for line in file if line.strip()]
        left = [line.rstrip() for line in output.split("\n") if line.strip() and not line.startswith("#")]
        tap.ok(status == 0 and left == kept, f"pnetcdf.inc through {' '.join(command)} is what it was", why[:2000])


def check_like_wrf():
    if not all(map(shutil.which, ("cpp", "m4"))):
        tap.skip("a source that is preprocessed as WRF does it", "cpp or m4 is not installed")
        return
    status, read, why = run("cpp", "-P", "-traditional", INCLUDE, write("field_routines.F90", LIKE_WRF))
    if status == 0:
        status, read, why = run("m4", "-Uinclude", "-Uindex", "-Ulen", write("field_routines.b", read))
    if status == 0:
        status, _, why = run(*FC, *PLAIN, "-Wall", "-std=legacy", "-c", write("field_routines.f90", read), "-o",
                             tap.scratch("field_routines.o"))
    tap.ok(status == 0 and not warnings_of_ours(why), "a source that is preprocessed as WRF does it compiles",
           why[:4000])


def check_names(file):
    """Variables and dummy arguments of programs may have the names of intrinsic functions."""
    include, text = f"      include '{file}'\n", ""
    names = [name for name in INTRINSICS if file == "pnetcdf.inc" or name != "selected_int_kind"]
    for first in range(0, len(names), 50):
        some = names[first:first + 50]
        declared = "".join(f"      integer {name}\n" for name in some)
        dummies = "(" + ",\n     &  ".join(some) + ")"
        used = "".join(f"      {name} = nf_noerr\n      if ({name} .ne. 0) stop\n" for name in some)
        for n, (dummy, lines) in enumerate((("", include + declared), ("", declared + include),
                                            (dummies, declared + include), (dummies, include + declared))):
            text += f"      subroutine s{first}_{n}{dummy}\n      implicit none\n{lines}{used}      end\n"
    status, _, why = run(*FC, *PLAIN, INCLUDE, "-c", write("names.f", text), "-o", tap.scratch("names.o"))
    tap.ok(status == 0, f"{file} beside {len(names)} variables and arguments named as intrinsic functions", why[:4000])


def check_text(name):
    path = os.path.join(BUILD, "include", name)
    with open(path, encoding="ascii") as file:
        lines = file.read().split("\n")
    tap.ok(max(map(len, lines)) <= 72, f"{name}: no line has more than 72 columns",
           "\n".join(l for l in lines if len(l) > 72))
    tap.ok(all(re.match(r"!|      |$", line) for line in lines), f"{name}: lines begin in column 7, or are comments")
    # WRF greps for this constant in lower case, and hands the file to cpp
    tap.ok(any("nf_format_64bit" in line for line in lines), f"{name} has nf_format_64bit in lower case")


def check_constants():
    with open(INC, encoding="ascii") as file:
        names = re.findall(r"parameter \((nf_\w+) *=", file.read())
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


# What Fortran has of the version and the features: the rest are for the preprocessor of C.
FEATURES = """
VERSION_MAJOR VERSION_MINOR VERSION_SUB VERSION_PRE ERANGE_FILL SUBFILING RELAX_COORD_BOUND DEBUG_MODE
NULL_BYTE_HEADER_PADDING BYTE_SWAP_IN_PLACE BURST_BUFFERING THREAD_SAFE DRIVER_NETCDF4
""".split()


def check_features():
    """Version and features are those of pnetcdf.h, read as text: numbers, which programs compare, and a string."""
    with open(os.path.join(BUILD, "include", "pnetcdf.h"), encoding="ascii") as file:
        macros = dict(re.findall(r'^#define PNETCDF_(\w+) (\d+|"[^"]*")$', file.read(), flags=re.M))
    values = {"PNETCDF_" + name: macros.get(name, "?") for name in FEATURES}
    lines = "".join(f"      print '(3a)', '{name} ', '\"', {name}//'\"'\n" if '"' in value else
                    f"      if ({name} .eq. {value}) print '(a,i0)', '{name} ', {name}\n"
                    for name, value in values.items())
    expected = [f"{name} {value}" for name, value in values.items()]
    source = write("features.f90", program("", "", lines))
    status, _, why = run(*FC, INCLUDE, "-ffree-line-length-none", source, "-o", tap.scratch("features"))
    output = run(tap.scratch("features"))[1] if status == 0 else ""
    tap.ok(len(expected) == 13 and output.splitlines() == expected, "version and features are those of pnetcdf.h",
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
check_plain()
check_preprocessed()
check_coverage()
if "GNU Fortran" not in run(*FC, "--version")[1]:
    tap.skip("programs that include pnetcdf.inc", f"their flags are gfortran's, and this is {FC[0]}")
    tap.finish()
for each in FILES:
    check_programs(each)
    check_unchanged_programs(each)
    check_unused(each)
    check_names(each)
check_like_wrf()
check_refused()
check_constants()
check_netcdf2()
check_features()
tap.finish()
