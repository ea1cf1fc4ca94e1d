"""Packages of PyPI for tests: each test has a virtual environment of its own in the build tree, so that only the first
run is slow. Without a network the test is skipped; PNC_TEST_QUICK=1 makes nothing new."""
import os
import shutil
import subprocess
import sys

import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", os.getcwd()))
QUICK = os.environ.get("PNC_TEST_QUICK") == "1"


def run(*command, **variables):
    """Its exit status, and all that it printed."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "DESTDIR")}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, env={**environment, **variables})
    return done.returncode, done.stdout


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Stamp:
    """A file that records the inputs of a step: while they are the same, the step is not repeated."""

    def __init__(self, path, *contents):
        self.path, self.contents = path, "\n".join(contents)

    def fits(self):
        return os.path.exists(self.path) and read(self.path) == self.contents

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self.contents)


class Environment:
    """A virtual environment in the folder `name` of the build tree. what: of the line that says that it is skipped."""

    def __init__(self, name, what):
        self.top, self.what = os.path.join(BUILD, name), what
        self.python = os.path.join(self.top, "venv", "bin", "python")

    def give_up(self, why):
        tap.skip(self.what, why)
        tap.finish()

    def pip(self, *arguments, **variables):
        return run(self.python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "--retries", "1",
                   "--timeout", "30", *arguments, **variables)

    def make(self, *packages):
        shutil.rmtree(self.top, ignore_errors=True)
        os.makedirs(self.top)
        status, output = run(sys.executable, "-m", "venv", os.path.join(self.top, "venv"))
        if status != 0:
            self.give_up(f"{sys.executable} -m venv fails (Debian: apt install python3-venv): {last_line(output)}")
        status, output = self.pip("install", "--quiet", *packages)
        if status != 0:
            self.give_up(f"PyPI cannot be reached: {last_line(output)}")

    def need(self, *packages):
        """Make it unless it has these packages already."""
        stamp = Stamp(os.path.join(self.top, "environment.stamp"), sys.version, *packages)
        if stamp.fits():
            return
        if QUICK:
            self.give_up("a run without PNC_TEST_QUICK builds it")
        self.make(*packages)
        stamp.write()
