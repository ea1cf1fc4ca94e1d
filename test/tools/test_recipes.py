"""packaging/dependencies.txt against all that names dependencies: the recipes of packages, scripts/packages.txt, the
messages of the library, the bill of materials, and the summary of configure."""
# needs: python
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What each kind of machine has to compile a program at all, or to make configure in a clone.
TOOLS = {"autoconf", "automake", "libtool", "gcc", "g++", "make", "pkg-config", "debhelper-compat", "c", "cxx",
         "compiler(c)", "compiler(cxx)", "compiler(fortran)"}


def read(*name):
    with open(os.path.join(TOP, *name), encoding="utf-8") as file:
        return file.read()


class Dependency:
    """A row of the list."""
    def __init__(self, line):
        self.name, self.use, build, to_run, spack, conda, self.license, self.home = line.split()
        self.build, self.run, self.spack, self.conda = (set() if names == "-" else set(names.split(","))
                                                        for names in (build, to_run, spack, conda))


LIST = [Dependency(line) for line in read("packaging", "dependencies.txt").splitlines() if line and line[0] != "#"]


def names(what, uses=("linked", "header", "opened", "run", "build")):
    """The names of one recipe, of the dependencies with such a use."""
    return set().union(*(getattr(row, what) for row in LIST if row.use in uses))


def same(text, recipe, wanted):
    recipe = recipe - TOOLS
    tap.ok(recipe == wanted, text, f"only in the recipe: {sorted(recipe - wanted)}\n"
                                   f"only in packaging/dependencies.txt: {sorted(wanted - recipe)}")


def field(paragraph, name):
    """The packages of a field of Debian's control files, without versions and substitutions."""
    found = re.search(rf"^{name}: *(.*(?:\n .*)*)", paragraph, re.M)
    entries = [entry.split()[0] for entry in found.group(1).split(",")] if found else []
    return {entry for entry in entries if not entry.startswith("${")}


def check_debian():
    paragraphs = {re.match(r"\w+: (\S+)", part).group(1): part
                  for part in read("packaging", "debian", "control").split("\n\n")}
    same("Debian: Build-Depends", field(paragraphs["pnetcdf-2"], "Build-Depends"), names("build"))
    tap.ok("libisal2 [!i386]," in paragraphs["pnetcdf-2"], "Debian 12 has libisal2 for its processors but i386")
    tap.ok(field(paragraphs["pnetcdf-2-tools"], "Depends") == names("run", ["run"]), "Debian: the tools need Python")
    for name in ("libpnetcdf-2-0", "pnetcdf-2-tools"):
        tap.ok("${shlibs:Depends}" in paragraphs[name] and "-edebian/opened.so" in read("packaging", "debian", "rules"),
               f"Debian: {name} depends on what is linked and opened", paragraphs[name])


def check_container():
    stages = re.split(r"^FROM .*$", read("packaging", "Containerfile"), flags=re.M)[1:]
    install = re.compile(r"apt-get install -y --no-install-recommends ((?:[^&\n\\]|\\\n)*)")
    build, final = ({word for command in install.findall(stage) for word in command.replace("\\\n", " ").split()}
                    for stage in stages)
    tap.ok(len(stages) == 2, "container: two stages", len(stages))
    same("container: to build", build - names("run", ["run"]), names("build"))
    # the container is for compiling programs, with the packages of MPI for that
    mpi = next(row for row in LIST if row.name == "MPI")
    same("container: to run", final, names("run") - mpi.run | mpi.build | {"gfortran"})
    tap.ok("--with-hdf5 " in stages[0], "container: configure fails without HDF5")


def check_conda():
    text = re.sub(r'\{\{ (?:compiler\("(\w+)"\)|(\w+)) \}\}', lambda found: f"compiler({found.group(1)})"
                  if found.group(1) else found.group(2), read("packaging", "conda", "meta.yaml"))
    found = re.search(r"^requirements:\n  build:\n(.*?)  host:\n(.*?)  run:\n(.*?)\n\n", text, re.M | re.S)
    build, host, to_run = (set(re.findall(r"^    - (\S+)", part, re.M)) for part in found.groups())
    same("conda: build", build, names("conda", ["build"]))
    same("conda: host", host, names("conda", ["linked", "opened", "header"]))
    same("conda: run", to_run, names("conda", ["linked", "opened", "run"]))
    tap.ok('--with-hdf5="$PREFIX"' in read("packaging", "conda", "build.sh"), "conda: configure fails without HDF5")


def check_spack():
    """The directives, with a stand-in for Spack: (name, type, condition) of each depends_on."""
    found, conditions = [], []

    class When:
        def __init__(self, condition):
            self.condition = condition

        def __enter__(self):
            conditions.append(self.condition)

        def __exit__(self, *_):
            conditions.pop()

    def depends_on(spec, type=None, when=None):
        found.append((re.match(r"[\w-]+", spec).group(), type, when or (conditions or [None])[-1]))

    code = read("packaging", "spack", "package.py").replace("from spack.package import *", "")
    variants = []
    exec(compile(code, "package.py", "exec"),  # pylint: disable=exec-used
         {"AutotoolsPackage": object, "license": lambda *_: None, "version": lambda *_: None, "when": When,
          "variant": lambda name, **options: variants.append((name, options["default"])), "depends_on": depends_on})
    same("Spack: depends_on", {name for name, _, _ in found}, names("spack"))
    build = {name for name, kind, _ in found if kind == "build"}
    same("Spack: tools of the build", build, names("spack", ["build"]))
    opened = {name for name, kind, when in found if when == "+netcdf4" and kind is None}
    tap.ok(opened == names("spack", ["opened"]) and ("netcdf4", True) in variants,
           "Spack: the variant netcdf4, by default, links all that is opened", (opened, variants))


def check_packages():
    """scripts/packages.txt, from which ./check and ./demo install."""
    listed = dict(line.split()[:2] for line in read("scripts", "packages.txt").splitlines() if line[0] != "#")
    missing = [name for row in LIST for name in row.build | (row.run if row.use in ("opened", "run") else set())
               if name not in listed and not (row.name == "HDF5" and name in row.run)]
    tap.ok(not missing, "scripts/packages.txt has all of them", missing)


def check_messages():
    """The library's messages about a missing library name its package; its sources open no other library."""
    sources = {row.name: row for row in LIST if row.use == "opened"}
    named = {}
    for name in ("deflate", "szip", "zstd", "blosc"):
        text = read("src", "filter", name + ".c")
        named[re.search(r"\.library = (\w+)", text).group(1)] = re.search(r'\.package = "(.*)"', text).group(1)
    header = dict(re.findall(r'^#define (PNC_LIB\w+) "(.*)"', read("src", "filter", "codecs.h"), re.M))
    wanted = {"PNC_LIBDEFLATE": "libdeflate", "PNC_LIBSZ": "libaec", "PNC_LIBZSTD": "zstd",
              "PNC_LIBBLOSC": "c-blosc"}
    tap.ok(set(wanted) == set(named) and set(header) == {*wanted, "PNC_LIBISAL"}
           and all(named[macro] in sources[name].run for macro, name in wanted.items()),
           "messages of filters name the packages", (header, named))
    found = re.search(r"apt install (libhdf5-[\w-]*)", read("src", "formats", "netcdf4", "hdf5_library.c")).group(1)
    tap.ok(found in sources["HDF5"].run, "and that of a missing libhdf5", found)
    found = re.search(r"apt install (libjson-c[\w-]*)", read("src", "formats", "zarr", "json.c")).group(1)
    tap.ok(found in sources["json-c"].run, "and that of a missing json-c", found)
    header.update(re.findall(r'^#define (PNC_LIBJSON) "(.*)"', read("src", "host", "json.h"), re.M))
    for macro, name in {**wanted, "PNC_LIBISAL": "ISA-L", "PNC_LIBJSON": "json-c"}.items():
        package = min(sources[name].run)
        done = subprocess.run(["dpkg-query", "-L", package], capture_output=True, text=True, check=False) \
            if os.path.exists("/usr/bin/dpkg-query") else None
        if done is None or done.returncode != 0:
            tap.skip(f"{package} has {header[macro]}", "this package is not installed")
        else:
            tap.ok("/" + header[macro] + "\n" in done.stdout, f"{package} has {header[macro]}", done.stdout)


def check_pages():
    page = read("docs", "install.md")
    missing = [row.name for row in LIST if row.use in ("linked", "header", "opened") and row.name not in page]
    tap.ok(not missing, "docs/install.md names all of them", missing)


def check_bill():
    tarball = tap.scratch("pnetcdf-1.2.3.tar.gz")
    with open(tarball, "wb") as file:
        file.write(b"not a tarball")
    done = subprocess.run([os.path.join(TOP, "packaging", "make-sbom"), tarball], capture_output=True, text=True,
                          check=False)
    bill = json.loads(done.stdout) if done.returncode == 0 else {"packages": [], "relationships": []}
    listed = {row.name: row.home for row in LIST if row.use != "build"}
    tap.ok({item["name"]: item["homepage"] for item in bill["packages"] if "homepage" in item} == listed,
           "the bill of materials has the libraries of the list", done.stdout + done.stderr)
    related = {item["spdxElementId"][len("SPDXRef-"):] for item in bill["relationships"]
               if item["relationshipType"] == "OPTIONAL_DEPENDENCY_OF"}
    tap.ok(related == {row.name for row in LIST if row.use == "opened"}, "what is opened is optional in it", related)


check_debian()
check_container()
check_conda()
check_spack()
check_packages()
check_messages()
check_pages()
check_bill()
tap.finish()
