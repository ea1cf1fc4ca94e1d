"""Unmodified programs under PNETCDF_HINTS write compressed netCDF-4 files: netCDF4-python reads the values that they
write without hints, and reports the filters and chunks that the hints name. The display says what is ignored, and hints
with errors are reported."""
import os
import shutil
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import finish, has_hdf5, ok, run_mpi, scratch, skip  # noqa: E402

COMPRESSED = "*.nc:nc_format=netcdf4:nc_compression=deflate:2"
# Those in C write the file that is their argument, those in Fortran one in the current folder.
EXAMPLES = ("C/block_cyclic", "C/blocks", "C/buffered", "C/collective", "C/fill", "C/flexible", "C/ghost_cells",
            "C/mput", "C/nonblocking", "C/records", "C/transpose", "C/varn", "F90/nonblocking", "F90/records",
            "F90/sections", "F90/varn", "F90/attributes")


def run(program, *arguments, hints=None, ranks=4, display=False):
    env = {**os.environ}
    if hints is not None:
        env["PNETCDF_HINTS"] = hints
    if display:
        env["PNETCDF_HINTS_DISPLAY"] = "1"
    return run_mpi(ranks, program, *arguments, env=env)


def contents(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        return {name: (v.dtype.str.replace(">", "<"), v.dimensions, np.array(v[...]).astype(v.dtype.newbyteorder("<"))
                       .tobytes(), {key: str(v.getncattr(key)) for key in v.ncattrs()})
                for name, v in file.variables.items()}


def storage(path):
    """By variable: filters and chunks."""
    with netCDF4.Dataset(path) as file:
        return {name: (v.filters(), v.chunking()) for name, v in file.variables.items()}, file.data_model, \
            {name: (v.ndim, v.dtype.str) for name, v in file.variables.items()}


def wrong_filters(path):
    """Variables that are not compressed by deflate 2 with the shuffle that suits them."""
    found, model, kinds = storage(path)
    wrong = [] if model in ("NETCDF4", "NETCDF4_CLASSIC") else [model]
    for name, (filters, _) in found.items():
        ndim, kind = kinds[name]
        is_compressed = ndim > 0 and kind != "|S1"
        if filters["zlib"] != is_compressed or (is_compressed and filters["complevel"] != 2) or \
                filters["shuffle"] != (is_compressed and kind[-1] != "1"):
            wrong.append((name, filters))
    return wrong


def try_example(program):
    if not os.path.exists(os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), "examples", program)):
        skip(program, "it is not built")
        return
    plain, compressed = scratch("plain.nc"), scratch("compressed.nc")
    written = scratch(os.path.basename(program) + ".nc")
    for path, hints in ((plain, None), (compressed, COMPRESSED)):
        for old in (path, written):
            if os.path.exists(old):
                os.unlink(old)
        status, out, err = run(f"examples/{program}", *([path] if program[0] == "C" else []), hints=hints)
        if os.path.exists(written):
            os.rename(written, path)
    if ok(status == 0 and err == "", f"{program} runs under hints", out + err):
        ok(contents(plain) == contents(compressed), f"{program}: the same values and attributes")
        wrong = wrong_filters(compressed)
        ok(not wrong, f"{program}: compressed netCDF-4", wrong)


def try_model(language):
    """The model, whose later run reads the checkpoint of the first one."""
    program = f"examples/{language}/shallow_water/shallow_water"
    if not os.path.exists(os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), program)):
        skip(program, "it is not built")
        return
    hints = "*history*.nc:nc_format=netcdf4:nc_compression=deflate:1:nc_compression@u=none:nc_chunks=time/2,y/10," \
            "*checkpoint*:nc_format=netcdf4:nc_compression=zstd:3"
    sizes = ("--nx", 37, "--ny", 53)
    for label, given in (("plain", None), ("hinted", hints)):
        history, checkpoint = scratch(f"{label}_history.nc"), scratch(f"{label}_checkpoint.nc")
        files = ("--history", history, "--checkpoint", checkpoint, "--history-every", 7)
        for path in (history, checkpoint):
            if os.path.exists(path):
                os.unlink(path)
        for extra in ((*sizes, "--steps", 33), ("--restart", checkpoint, "--steps", 60)):
            status, out, err = run(program, *extra, *files, hints=given, ranks=3)
            ok(status == 0, f"{language}: {label} {extra[-1]} steps", out + err)
    ok(contents(scratch("plain_history.nc")) == contents(scratch("hinted_history.nc")), f"{language}: the same history")
    found, _, _ = storage(scratch("hinted_history.nc"))
    ok(found["h"][0]["zlib"] and found["h"][0]["complevel"] == 1 and not found["u"][0]["zlib"] and
       found["h"][1] == [2, 10, 37] and found["u"][1] == [2, 10, 37], f"{language}: filters and chunks of the history",
       found)
    if shutil.which("h5dump") is None:
        skip(f"{language}: zstd in the checkpoint", "there is no h5dump")
        return
    found = subprocess.run(["h5dump", "-p", "-H", "-d", "/u", scratch("hinted_checkpoint.nc")], capture_output=True,
                           text=True, check=False).stdout
    ok("FILTER_ID 32015" in found and "SHUFFLE" in found and "PARAMS { 3 }" in found,
       f"{language}: zstd in the checkpoint", found)


def try_display():
    path = scratch("display.nc")
    cases = (("nc_format=cdf5;nc_compression=zstd;nc_compression@T*=deflate:1;nc_chunks=1,2;nc_quantize=bitround:9",
              (("nc_compression", "zstd", "ignored: the file is not netCDF-4"),
               ("nc_compression@T*", "deflate:1", "ignored: the file is not netCDF-4"),
               ("nc_chunks", "1,2", "ignored: the file is not netCDF-4"),
               ("nc_quantize", "bitround:9", "used for variables whose quantization the program does not choose"))),
             ("nc_format=netcdf4;nc_compression@T*=deflate:1;nc_shuffle=disable;nc_chunks@*=1,x;nc_header_reserve=100",
              (("nc_compression@T*", "deflate:1",
                "used for variables whose names match and whose filters the program does not choose"),
               ("nc_shuffle", "disable", "used for variables whose filters the program does not choose"),
               ("nc_chunks@*", "1,x", "ignored: must be auto"),
               ("nc_header_reserve", "100", "ignored: the file is netCDF-4"))))
    for hints, lines in cases:
        _, _, err = run("examples/C/blocks", path, hints=hints, display=True, ranks=2)
        for name, value, effect in lines:
            shown = [line for line in err.splitlines() if line.split()[:3] == [name, value, "PNETCDF_HINTS"]]
            ok(len(shown) == 1 and effect in shown[0], f"the display: {name}={value}: {effect}", err)
    for hints, unused in (("nc_compression@none*=zstd", "nc_compression@none*=zstd"),
                          ("nc_compression@*=deflate", None), ("nc_chunks=none/3", "nc_chunks=none/3"),
                          ("nc_chunks=1,1,1,1,1", "nc_chunks=1,1,1,1,1")):
        _, _, err = run("examples/C/blocks", path, hints=f"nc_format=netcdf4;{hints}", display=True, ranks=2)
        ok("no variable has the name or the dimensions for: " + unused in err if unused else "no variable" not in err,
           f"the display: {hints}: for {'no' if unused else 'a'} variable", err)
    _, _, err = run("examples/C/blocks", path, hints="nc_compression@=zstd:3", ranks=2)
    ok("nc_compression@=zstd:3 is ignored: the names of variables, or a pattern of them, must follow the @" in err,
       "a pattern that is empty is reported", err)
    for hints, message in (("nc_compresion=zstd", "hint nc_compresion is unknown: did you mean nc_compression?"),
                           ("nc_quantise@T*=bitround:3", "nc_quantise@T* is unknown: did you mean nc_quantize?"),
                           ("nc_elephant=1", "hint nc_elephant is unknown\n"), ("other=1;romio_other=2", ""),
                           ("*:nc_format=netcdf4,nc_compression=deflate",
                            '"nc_compression=deflate" is not of the form pattern:key=value')):
        _, _, err = run("examples/C/blocks", path, hints=hints, ranks=2)
        ok(message in err and (message != "" or err == ""), f"{hints}: {message or 'nothing is reported'}", err)
    _, _, err = run("examples/C/blocks", path, hints="nc_compression=gzip:9", ranks=2)
    ok("nc_compression=gzip:9 is ignored: must be none, deflate:1 to deflate:9, zstd:LEVEL, or a filter of" in err,
       "a value that cannot be used is reported", err)


def try_chosen():
    """Hints for variables whose storage the program has chosen, or that the file has, change nothing."""
    path = scratch("chosen.nc")
    hints = "nc_chunks=1000;nc_compression@v=deflate:3;nc_quantize=bitround:9"
    for how, chosen in (("bad", True), ("hinted", False), ("reopened", True)):
        if os.path.exists(path):
            os.unlink(path)
        status, _, err = run("test/mpi/test_statistics", "small_chunks", how, path, hints=hints, display=True, ranks=2)
        remark = "ignored, as the program has chosen for all variables of: nc_compression@v=deflate:3; nc_chunks=1000\n"
        ok(status == 0 and (remark in err) == chosen and ("ignored" in err) == chosen,
           f"{how}: storage that the program chooses {'' if chosen else 'not'}", err)
        lines = [line.split()[0] for line in err.splitlines() if "that are defined from now on and whose" in line]
        ok(lines == (["nc_chunks", "nc_compression@v"] if how == "reopened" else []), f"{how}: storage of the file",
           err)


def main():
    if not has_hdf5():
        skip("netCDF-4 files", "the build is without HDF5")
        finish()
    os.environ.setdefault("PNC_BUILD", os.getcwd())
    os.chdir(os.path.dirname(scratch("here")))
    for program in EXAMPLES:
        try_example(program)
    for language in ("C", "F90"):
        try_model(language)
    try_display()
    try_chosen()
    finish()


main()
