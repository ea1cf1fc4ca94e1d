"""Shared by the tests of the tools: how to start one, and checks of its behaviour after an error."""
import os
import signal
import subprocess

import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", "."))


def command(name):
    program = [os.path.join(BUILD, "src/tools", name, name)]
    wrapper = os.environ.get("PNC_TEST_WRAPPER", "").split()
    return [os.path.join(BUILD, "libtool"), "--mode=execute", *wrapper, *program] if wrapper else program


def run(name, *arguments, **options):
    return subprocess.run([*command(name), *arguments], stdout=options.pop("stdout", subprocess.PIPE),
                          stdin=options.pop("stdin", subprocess.DEVNULL), stderr=subprocess.PIPE, check=False,
                          **options)


def has_netcdf4():
    """Whether the tools have a libhdf5; a test without it leaves out netCDF-4 files."""
    with open(tap.scratch("probe.cdl"), "w", encoding="ascii") as file:
        file.write("netcdf probe { }")
    result = run("ncmpigen", "-k", "nc4", "-o", tap.scratch("probe.nc"), tap.scratch("probe.cdl"))
    if result.returncode != 0 and b"HDF5" in result.stderr:
        tap.skip("netCDF-4 files", "the build is without HDF5")
        return False
    return True


def fails(name, needle, label, *arguments, status=1, **options):
    """A message that begins with the tool's name and contains the needle, and the exit status for errors."""
    result = run(name, *arguments, **options)
    err = result.stderr.decode(errors="replace")
    first = err.split("\n")[0]
    return tap.ok(result.returncode == status and first.startswith(name + ": ") and needle in first,
                  f"{name}: {label}", f"exit status {result.returncode}\n{err}")


def ends_by_pipe(name, *arguments):
    """A pipe without a reader ends a tool silently by SIGPIPE, as `ncdump file | head` ends ncdump."""
    reader, writer = os.pipe()
    os.close(reader)
    result = run(name, *arguments, stdout=writer)
    os.close(writer)
    tap.ok(result.returncode == -signal.SIGPIPE and not result.stderr, f"{name}: a closed pipe",
           f"exit status {result.returncode}\n{result.stderr.decode(errors='replace')}")


def fails_to_print(name, *arguments, status=1):
    """A tool whose output cannot be written."""
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            fails(name, "cannot write the output", "a full disk", *arguments, status=status, stdout=full)
    ends_by_pipe(name, *arguments)


def refuses_itself(name, path, arguments, status=1):
    """A file is refused as output if it is an input, also through links and with -O. arguments(output, options) makes
    the command line."""
    for label, make in (("itself", None), ("a symbolic link", os.symlink), ("a hard link", os.link)):
        other = path if make is None else "link-" + path
        if make is not None:
            make(path, other)
        for options in ([], ["-O"]):
            with open(path, "rb") as file:
                before = file.read()
            result = run(name, *arguments(other, options))
            with open(path, "rb") as file:
                after = file.read()
            lines = result.stderr.decode(errors="replace").splitlines()
            tap.ok(result.returncode == status and after == before and len(lines) == 1 and "is an input" in lines[0],
                   f"{name}: output is input, {label} {' '.join(options)}", result)
        if make is not None:
            os.remove(other)


def prints_elsewhere(name, path, *arguments):
    """`tool file >> file` changes nothing."""
    with open(path, "rb") as file:
        before = file.read()
    with open(path, "ab") as out:
        fails(name, "is the input and the output", ">> its input", *arguments, stdout=out)
    with open(path, "rb") as file:
        tap.ok(file.read() == before, f"{name}: and the input is as before")


def replaces_kind(name, path, foreign, arguments):
    """An existing file of the expected kind, and an empty one, are replaced; one of another kind only with -O."""
    expected = run(name, *arguments("new-" + path, []))
    with open("new-" + path, "rb") as file:
        whole = file.read()
    tap.ok(expected.returncode == 0 and whole, f"{name}: a new output", expected)
    for label, content, options, replaced in (("of the kind", whole + b"old", [], True), ("empty", b"", [], True),
                                              ("foreign", foreign, [], False), ("foreign", foreign, ["-O"], True),
                                              ("foreign", foreign, ["--overwrite"], True)):
        with open(path, "wb") as file:
            file.write(content)
        result = run(name, *arguments(path, options))
        with open(path, "rb") as file:
            after = file.read()
        good = result.returncode == (0 if replaced else 1) and after == (whole if replaced else content)
        tap.ok(good and (replaced or (result.stderr.count(b"\n") == 1 and b"-O replaces it" in result.stderr)),
               f"{name}: an existing output: {label} {' '.join(options)}", result)
    os.remove("new-" + path)
    tap.ok(not [left for left in os.listdir(".") if "partial" in left], f"{name}: no temporary file is left")
