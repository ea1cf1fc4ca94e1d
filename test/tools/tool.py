"""Shared by the tests of the tools: how to start one, and checks of its behaviour after an error."""
import os
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


def fails(name, needle, label, *arguments, status=1, **options):
    """A message that begins with the tool's name and contains the needle, and the exit status for errors."""
    result = run(name, *arguments, **options)
    err = result.stderr.decode(errors="replace")
    first = err.split("\n")[0]
    return tap.ok(result.returncode == status and first.startswith(name + ": ") and needle in first,
                  f"{name}: {label}", f"exit status {result.returncode}\n{err}")


def fails_to_print(name, *arguments, status=1):
    """A tool whose output cannot be written."""
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            fails(name, "cannot write the output", "a full disk", *arguments, status=status, stdout=full)
    reader, writer = os.pipe()
    os.close(reader)
    fails(name, "cannot write the output", "a closed pipe", *arguments, status=status, stdout=writer)
    os.close(writer)
