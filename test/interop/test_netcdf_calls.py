"""Programs that call netCDF, with libpnetcdf-netcdf: the examples in C and Fortran, whose files netCDF4-python reads;
calls that random programs do not make; files of one process; and whether every function of libnetcdf that works on a
file comes to the table or is defined by the library."""
import os
import re
import shlex
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, has_hdf5, ok, scratch, skip  # noqa: E402
from test_netcdf_door import BUILD, DOOR, HERE, build, run  # noqa: E402

EXAMPLES = os.path.join(HERE, "..", "..", "examples", "netcdf")
RUN = os.path.join(BUILD, "src", "tools", "pnetcdf-run")

# Functions of libnetcdf: those that the library defines before it, and those that work on no open file, or on one
# only through other functions of the table. All others are members of the table, or call such (test_netcdf_door.py).
DEFINED = """nc_create nc_open nc__create nc__open nc_create_par nc_open_par nc_create_par_fortran nc_open_par_fortran
    nc_var_par_access nc_strerror nc_def_var_chunking_ints nc_inq_var_chunking_ints nc_set_var_chunk_cache_ints
    nc_get_var_chunk_cache_ints nc_def_var_zstandard nc_inq_var_zstandard nc_def_var_bzip2 nc_inq_var_bzip2
    nc_def_var_blosc nc_inq_var_blosc""".split()
WITHOUT_FILE = """nc__create_mp nc__open_mp nc__pseudofd nc__testurl nc_advise nc_create_mem nc_open_mem nc_open_memio
    nc_close_memio nc_delete nc_delete_mp nc_def_user_format nc_inq_user_format nc_finalize nc_initialize
    nc_free_string nc_free_vlen nc_free_vlens nc_get_NC nc_get_alignment nc_set_alignment nc_get_chunk_cache
    nc_set_chunk_cache nc_get_chunk_cache_ints nc_set_chunk_cache_ints nc_get_default_format nc_set_default_format
    nc_inq_libvers nc_set_log_level nc_inq_base_pe nc_set_base_pe nc_print_data nc_dump_data nc_reclaim_data
    nc_reclaim_data_all nc_copy_data nc_copy_data_all nc_inq_path""".split()
TABLE = re.compile(r"nc_(utf8\w+"
                   r"|(get|put)_(att|var|vara|var1|vars|varm)(_\w+)?|(get|put|inq)_rec|copy_(att|var)"
                   r"|abort|close|sync|redef|_?enddef|show_metadata|set_fill|inq|inq_format(_extended)?"
                   r"|inq_(natts|ndims|nvars|unlimdims?|dim\w*|att\w*|var(?!_(zst|bzip2|blosc|chunking_ints))\w*)"
                   r"|inq_(grp\w*|ncid|type\w*|user_type|compound\w*|enum\w*|opaque|vlen|filter_avail)"
                   r"|def_(dim|grp|var|compound|enum|opaque|vlen)"
                   r"|def_var_(chunking|deflate|endian|fill|filter|fletcher32|quantize|szip)"
                   r"|insert_\w+|del_att|rename_(att|dim|grp|var)|(put|get)_vlen_element|(get|set)_var_chunk_cache)$")


def exported(path):
    done = subprocess.run([*shlex.split(os.environ.get("NM", "nm")), "-D", "--defined-only", path], capture_output=True,
                          text=True, check=True)
    return {line.split()[2].split("@")[0] for line in done.stdout.splitlines() if " T " in line}


def check_functions(program):
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    library = re.search(r"libnetcdf\.so\S* => (\S+)", loaded).group(1)
    names = {name for name in exported(library) if re.match(r"nc_[a-z_]", name)}
    unknown = {name for name in names if name not in DEFINED + WITHOUT_FILE and not TABLE.match(name)
               and name != "nc__enddef"}
    ok(not unknown, f"the {len(names)} functions of libnetcdf are known here", sorted(unknown))
    ok(exported(DOOR) == set(DEFINED), "libpnetcdf-netcdf exports those that never ask the table, and no others",
       sorted(exported(DOOR) ^ set(DEFINED)))


def started(ranks, program, *arguments):
    """By pnetcdf-run."""
    return run(ranks, RUN, program, *arguments, door=False)


def check_examples():
    programs = {"c": [*shlex.split(os.environ.get("CC", "mpicc")), "parallel_c.c", "-lnetcdf"]}
    fortran = os.environ.get("FC", "")
    flags = subprocess.run("nf-config --fflags", shell=True, capture_output=True, text=True, check=False)
    if fortran and flags.returncode == 0:
        programs["f"] = [*shlex.split(fortran), *flags.stdout.split(), "parallel_f.f90", "-lnetcdff", "-lnetcdf"]
    else:
        skip("the example in Fortran", "no Fortran compiler, or no netCDF-Fortran")
    for name, command in programs.items():
        program = os.path.abspath(scratch("parallel_" + name))
        done = subprocess.run([*command, "-o", program], cwd=EXAMPLES, capture_output=True, text=True, check=False)
        if not ok(done.returncode == 0, f"parallel_{name} compiles with plain netCDF", done.stderr):
            continue
        for ranks in (1, 2, 4):
            printed = started(ranks, program)
            good = "3 steps written and read" in printed and check_file(name, ranks)
            ok(good, f"parallel_{name} on {ranks} ranks: netCDF4-python reads what it has put", printed)
        if name == "c":
            check_run(program)


def check_file(name, ranks):
    with netCDF4.Dataset(f"parallel_{name}.nc") as file:
        if name == "c":
            wind = file["wind"]
            wanted = (np.arange(ranks)[None, :, None] + 0.5 * np.arange(50)[None, None, :] +
                      np.arange(3)[:, None, None]).astype("f4")
            return (wind.filters()["zlib"] and np.array_equal(wind[...], wanted) and
                    np.array_equal(file["mean"][...], [5, 6, 7]))
        temp, i = file["temp"], np.arange(1, 41).reshape(2, 20)
        wanted = np.stack([np.concatenate([np.float32(280 + r + t) + np.float32(0.1) * i for r in range(ranks)])
                           for t in (1, 2, 3)])
        return (temp.filters()["zlib"] and temp.shape == wanted.shape and np.allclose(temp[...], wanted, rtol=1e-6) and
                file["steps"][...] == 3 and temp.units == "K")


def check_run(program):
    def answer(*arguments):
        done = subprocess.run([RUN, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    status, text = answer("--check", program)
    ok(status == 0 and text.startswith("yes: ") and "libnetcdf.so" in text, "pnetcdf-run --check: it works", text)
    status, text = answer("--check", "/bin/sh")
    ok(status == 1 and "loads no libnetcdf" in text, "pnetcdf-run --check: a program without netCDF", text)
    status, text = answer("--check", RUN)
    ok(status == 1 and "a script" in text, "pnetcdf-run --check: a script", text)
    status, text = answer("--check", "no/such/program")
    ok(status == 1 and "no such program" in text, "pnetcdf-run --check: no program", text)
    ok(answer("--unknown")[0] == 2 and answer()[0] == 2, "pnetcdf-run: wrong options")
    text = run(2, RUN, "--hints", "nc_no_such_hint=1", program, door=False, env={"PNETCDF_VERBOSE": "1"})
    ok("nc_no_such_hint" in text, "pnetcdf-run --hints: the library has them", text)


def check_calls():
    with netCDF4.Dataset(scratch("other.nc"), "w") as file:
        file.createDimension("x", 4)
        file.createVariable("plain", "i4", ("x",))[:] = np.arange(4)
        pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f4")]), "pair")
        file.createVariable("pairs", pair, ("x",))
        file.createGroup("group")
    with netCDF4.Dataset(scratch("strings.nc"), "w") as file:
        file.createDimension("x", 2)
        file.createDimension("t", None)
        file.createVariable("names", str, ("x",))[:] = np.array(["first", "second"], dtype=object)
        file.createVariable("log", str, ("t",))[:] = np.array(["a", "b", "c"], dtype=object)
        file.createVariable("plain", "i4", ("x",))[:] = 1
    program = scratch("netcdf_calls")
    files = [scratch(name) for name in ("calls.nc", "other.nc", "strings.nc", "rules.nc")]
    built, why = build("netcdf_calls.c", program)
    if not ok(built, "netcdf_calls compiles", why):
        return
    for ranks in (1, 2, 4):
        printed = run(ranks, program, *files, env={"PNETCDF_VERBOSE": "0"})
        for line in re.findall(r"^(?:not )?ok - .*", printed, re.M):
            ok(line.startswith("ok"), f"{ranks} ranks: {line.split(' - ')[1]}", printed)
        ok("the file is closed" in printed and "exit status" not in printed, f"{ranks} ranks: the program ends",
           printed)
        with netCDF4.Dataset(scratch("calls.nc")) as file:
            ok(file["chunked"][1] == 77 and file["contiguous"][1] == 77 and file["collective"][0] == 1,
               f"{ranks} ranks: netCDF4-python reads the values")
            inner = file["group"]["inner"]
            ok(inner.texts == ["one", "two"] and inner["v"].text == "one" and inner["v"].dimensions == ("y",),
               f"{ranks} ranks: netCDF4-python reads groups and strings")
    printed = run(2, program, *files, env={"PNETCDF_VERBOSE": "1"})
    ok(re.search(r'nc_get_vara on rank 1: .*variable "collective": .*nc_sync', printed) and
       'nc_def_compound' in printed, "messages name the calls of netCDF", printed)


def check_strings():
    """The same program with netCDF-C alone, on one process."""
    program = scratch("netcdf_strings")
    built, why = build("netcdf_strings.c", program)
    if not ok(built, "netcdf_strings compiles", why):
        return
    plain = run(1, program, scratch("strings_plain.nc"), "serial", door=False)
    dumped = subprocess.run(["ncdump", scratch("strings_plain.nc")], capture_output=True, text=True, check=False).stdout
    ok(plain.count("\n") > 40 and "again" in dumped, "netCDF-C puts strings and renames groups", plain + dumped)
    for ranks, kind in ((1, "serial"), (1, "parallel"), (2, "parallel"), (4, "parallel")):
        path = scratch(f"strings_{ranks}_{kind}.nc")
        printed = run(ranks, program, path, kind, env={"PNETCDF_NETCDF": "all", "PNETCDF_VERBOSE": "0"})
        ok(printed == plain, f"{kind} on {ranks} ranks: calls return what they do with netCDF-C",
           "\n".join(f"{a} | {b}" for a, b in zip(printed.split("\n"), plain.split("\n")) if a != b))
        ours = subprocess.run(["ncdump", path], capture_output=True, text=True, check=False).stdout
        ok(ours.split("\n")[1:] == dumped.split("\n")[1:] and "pnetcdf=" in writer_of(path),
           f"{kind} on {ranks} ranks: ncdump shows the same file", f"{ours}\n{dumped}")


def writer_of(path):
    with netCDF4.Dataset(path) as file:
        return file.getncattr("_NCProperties") if "_NCProperties" in file.ncattrs() else subprocess.run(
            ["ncdump", "-hs", path], capture_output=True, text=True, check=True).stdout


def check_one_process():
    program, script = scratch("netcdf_program"), scratch("one.txt")
    built, why = build("netcdf_program.c", program)
    ok(built, "netcdf_program compiles", why)
    with open(script, "w", encoding="ascii") as file:
        file.write("create 4096\ndef_dim x 4\ndef_var v 4 1 0\nput 0 0 4 1 -1 1 0 4 1\nclose\nopen 0\n"
                   "get 0 0 4 1 -1 1 0 4 1\nclose\n")
    plain = run(1, program, script, scratch("plain.nc"), 0)
    for choice, is_ours in (("all", True), ("hist*.nc:on*.nc", True), ("hist*.nc", False), (None, False)):
        path = scratch("one.nc")
        printed = run(1, program, script, path, 0, env={"PNETCDF_NETCDF": choice} if choice else {})
        ok(printed == plain and ("pnetcdf=" in writer_of(path)) == is_ours,
           f"PNETCDF_NETCDF={choice}: {'this library' if is_ours else 'netCDF-C'} writes the file of one process",
           printed + writer_of(path))


if __name__ == "__main__":
    if not os.path.exists(DOOR):
        skip("programs that call netCDF", "the build has no libpnetcdf-netcdf")
        finish()
    if not has_hdf5():
        skip("programs that call netCDF", "this build has no HDF5")
        finish()
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    check_examples()
    check_calls()
    check_strings()
    check_one_process()
    check_functions(scratch("netcdf_calls"))
    finish()
