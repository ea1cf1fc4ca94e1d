"""Dependencies of the rooms: each room of src includes only what the table allows, and the pure rooms do not call MPI,
access files or keep state."""
# needs: python
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("PNC_BUILD", os.getcwd())

# What each room may include, besides itself. spec/ holds generated constants, config.h and base are for everyone.
PURE = ["spec", "base"]
# The rooms in io, and the headers beside them: those of io that each may include, besides itself.
IO_MAY_SEE = {
    "choose": [],
    "request": ["choose", "context.h"],
    "order": ["request"],
    "direct": ["choose", "context.h", "execution.h", "request", "order"],
    "two_phase": ["choose", "context.h", "display.h", "execution.h", "order"],
    "mpi_io": ["choose", "context.h", "execution.h", "order", "two_phase"],
    "chunked": ["choose", "context.h", "request"],
    "shared": ["choose", "context.h", "execution.h", "order", "two_phase"],
}
MAY_SEE = {
    "base": ["spec"],
    "format": PURE + ["mapping", "select", "convert/quantize.h", "filter/filter.h"],
    "select": PURE,
    "mapping": PURE + ["select"],
    "convert": PURE + ["select"],
    "filter": PURE,
    "growth": PURE + ["select", "format"],
    "log": PURE + ["select"],
    "host": PURE + ["filter/codecs.h"],
    "statistics": PURE,
    "drivers": PURE + ["select", "statistics", "host"],
    "drivers/behind": PURE + ["select", "statistics", "host", "log", "drivers"],
    "array": PURE,
    "drivers/chunks": PURE + ["array", "filter", "select", "drivers", "host/bytes.h", "host/pool.h"],
    "mpitype": PURE + ["select"],
    "file": PURE + ["host", "log", "statistics", "drivers/driver.h", "drivers/store.h", "drivers/behind/behind.h"],
    "io": PURE + ["select", "mapping", "array", "convert", "format/model.h", "format/addressing.h", "mpitype", "file",
                  "statistics/statistics.h", "drivers/chunks/chunks.h", "log/values.h"],
    "formats": PURE + ["array", "select", "convert", "filter/filter.h", "format", "growth", "statistics/statistics.h",
                       "host", "file", "drivers/chunks/cache.h", "drivers/chunks/chunks.h"],
    "formats/netcdf4": PURE + ["array", "select", "convert", "filter/filter.h", "format", "formats/format.h",
                               "formats/arrays.h", "formats/definitions.h", "formats/reader.h",
                               "host/codecs.h", "host/plugins.h", "file", "drivers/chunks/chunks.h",
                               "drivers/chunks/in_file.h"],
    "formats/zarr": PURE + ["array", "select", "convert", "filter/filter.h", "format", "formats/format.h",
                            "formats/arrays.h", "formats/definitions.h", "formats/reader.h", "host/codecs.h",
                            "host/json.h", "file", "drivers/chunks/chunks.h", "drivers/objects.h",
                            "drivers/folder/folder.h", "drivers/kerchunk/kerchunk.h"],
    # references to the chunks of a file: closed, or open in a tool
    "references": PURE + ["array", "convert/convert.h", "filter/filter.h", "format", "formats/reader.h",
                          "host/codecs.h"],
    # a dataset knows definitions, and how they are stored only by the operations of a format
    "dataset": PURE + ["convert", "filter/filter.h", "filter/text.h", "format/model.h", "format/coordinates.h",
                       "format/groups.h", "format/quantization.h", "format/storage.h", "format/strings.h",
                       "formats/format.h", "statistics", "drivers/driver.h", "file", "io", "references/references.h"],
    "api": PURE + ["select", "convert", "format", "formats/reader.h", "dataset", "io", "drivers/driver.h",
                   "pnetcdf.h"],
    # its calls go through pnetcdf.h; what it says about them, and asks before them, through dataset/caller.h
    "binding": PURE + ["dataset/caller.h", "pnetcdf.h"],
    # nothing of the library that its shared object does not export; netcdf.h has the constants
    "binding/netcdf": ["api/door.h", "pnetcdf.h"],
    "tools": PURE + ["array", "format", "growth", "log", "convert", "filter/filter.h", "filter/text.h",
                     "host", "drivers/folder/folder.h", "formats/reader.h", "formats/netcdf4/whole_file.h",
                     "references", "pnetcdf.h"],
    # plans count by the arithmetic of the library
    "tools/plan": PURE + ["format", "select", "convert", "array", "tools/common", "drivers/new_striping.h",
                         "drivers/chunks/aggregator.h", "drivers/chunks/grid.h", "drivers/chunks/messages.h",
                         "drivers/chunks/packing.h", "drivers/chunks/sizes.h", "file/reduction.h", "io/choose"],
    "spec": [],
}
PURE_ROOMS = ["array", "base", "filter", "format", "growth", "log", "mapping", "select", "convert"]
CODEC_LIBRARIES = ("deflate", "igzip", "szip", "zstd", "blosc")
# All that outlives a call without belonging to an open file: by object, what and why threads do not disturb each other.
MAY_CHANGE = {
    "src/base/memory": {"held": "atomic: bytes that are allocated", "peak": "atomic: the most of them"},
    "src/base/error": {"unknown": "one per thread: the text of a code that is not known"},
    "src/api/door": {"call_of_netcdf": "one per thread: the call of netCDF"},
    "src/binding/netcdf/files": {"door_files": "by the file: threads use different ones"},
    "src/binding/netcdf/opening": {"in_progress": "one per thread: the call that creates or opens"},
    "src/binding/netcdf/table": {"once": "set by pthread_once", "flag_of_table": "set by pthread_once",
                                 "table": "set by pthread_once"},
    "src/dataset/caller": {"in_progress": "one per thread: the call from Fortran",
                           "pnc_dataset_caller_was_other": "atomic: whether there has been one"},
    "src/dataset/registry": {"identities": "atomic: which file each of them is",
                             "open_datasets": "atomic: which ncid is which dataset",
                             "abandoned": "atomic: datasets that MPI may use until the program ends"},
    "src/dataset/kept_text": {"newest": "atomic: texts are added and never changed", "text_count": "atomic"},
    "src/dataset/last_error": {"last_of_thread": "one per thread", "is_recent": "one per thread",
                               "pnc_dataset_failed_threads": "atomic: how many have a recent failure"},
    "src/dataset/launcher": {"is_known": "atomic: whether the warning was printed"},
    "src/dataset/mpi_state": {"is_known": "atomic: whether the first call without MPI was printed"},
    "src/dataset/lifecycle": {"default_format": "atomic"},
    "src/dataset/lost": {"is_watched": "atomic: whether MPI_Finalize reports open files", "all": "in MPI_Finalize"},
    "src/dataset/opening": {"is_reported": "atomic: whether an opening by one rank was reported in safe mode"},
    "src/dataset/patterns": {"known": "under its lock, but in MPI_Finalize", "matched_here": "set in MPI_Finalize",
                             "matched_anywhere": "set in MPI_Finalize"},
    "src/dataset/statistics": {"files": "atomic: the number of files with statistics so far"},
    "src/file/behind": {"changes": "atomic: how many changes of files handles of the process have made"},
    "src/file/communicator": {"reserved": "atomic: how many communicators are kept or will be", "lock": "a mutex"},
    "src/file/watch": {"watcher": "under its lock, but `thread`, which only the thread that started it joins"},
    "src/file/nodes": {"keyval": "under its lock", "lock": "a mutex", "is_private": "one per thread"},
    "src/host/codecs": {f"{library}_{what}": "set by pthread_once" for library in CODEC_LIBRARIES
                        for what in ("once", "functions")} |
                       {f"has_{library}": "set by pthread_once" for library in CODEC_LIBRARIES},
    "src/host/json": {name: "set by pthread_once" for name in ("json_once", "has_json", "json_functions")},
    "src/host/pool": {"users_lock": "a mutex", "lock": "a mutex", "at_fork": "set by pthread_once",
                      **{name: "under the lock" for name in ("has_work", "has_left", "has_run", "threads",
                                                             "nthreads_started", "nusers", "must_end", "task",
                                                             "first_job", "last_job", "nforks", "used_ns",
                                                             "taken_ns", "paused_until")}},
    "src/host/writer": {"writers_lock": "a mutex", "writers": "under the lock"},
    "src/drivers/behind/worker": {"worker_lock": "a mutex", "has_work": "a condition", "has_progress": "a condition",
                                  "at_fork": "set by pthread_once", "worker": "under the lock",
                                  "is_running": "under the lock", "is_joinable": "under the lock",
                                  "queues": "under the lock"},
    "src/drivers/driver": {"pnc_driver_more": "tests set it before they open a file"},
    "src/drivers/memory/memory": {"files": "under its lock", "lock": "a mutex"},
    "src/drivers/mpiio/library": {"library": "atomic: the answer of MPI"},
    "src/drivers/mpiio/turn": {"turn": "a mutex", "is_prepared": "atomic: whether a file has been opened"},
    "src/formats/netcdf4/hdf5_library": {"hdf5_lock": "a mutex", "hdf5": "under the lock",
                                         "is_loaded": "under the lock"},
    "src/formats/netcdf4/hdf5_driver": {"driver_id": "under the lock of the library",
                                        "driver_library": "under the lock of the library"},
    "src/formats/netcdf4/hdf5_plugins": {"plugin_lock": "a mutex", "open_plugins": "under the lock"},
    "src/api/cdl": {"open_headers": "under its lock", "lock": "a mutex"},
}
# What flex and bison write and no code uses: only a compiler that does not optimise leaves it in the objects.
MADE_AND_UNUSED = {"src/format/cdl_tokens": {"fprintf", "stderr"}, "src/format/cdl_grammar": {"yyloc_default"}}
SHARED_ROOMS = ["host", "drivers", "file", "formats", "references", "dataset", "io", "mpitype", "api", "binding"]
FILE_HEADERS = {"fcntl.h", "unistd.h", "sys/stat.h", "sys/mman.h", "dirent.h"}
NOT_FOR_FILES = {("base/memory.c", "sys/mman.h")}  # for madvise; calls of mmap are found all the same
FILE_CALLS = {"fopen", "fopen64", "open", "open64", "openat", "creat", "read", "write", "pread", "pread64", "pwrite",
              "pwrite64", "fread", "fwrite", "printf", "puts", "putchar", "mmap", "mmap64", "stat", "unlink", "stderr",
              "stdout", "__printf_chk", "__fprintf_chk", "fprintf"}

def is_made(path):
    """True if flex or bison generated the file: a release has it beside its source."""
    return path.endswith((".c", ".h")) and any(os.path.exists(path[:-1] + letter) for letter in "ly")


def sources(folder):
    for path, _, names in os.walk(os.path.join(TOP, "src", folder)):
        for name in sorted(names):
            if re.search(r"\.(c|h|inc|l|y)(\.m4)?$", name) and not is_made(os.path.join(path, name)):
                yield os.path.relpath(os.path.join(path, name), os.path.join(TOP, "src"))


def includes(source):
    with open(os.path.join(TOP, "src", source), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if found:
                yield number, found.group(1) == "<", found.group(2)


def is_pure(source):
    return source.split("/")[0] in PURE_ROOMS or source.startswith("io/choose/")


def may_include(room, source, target):
    """Whether a file of a room may include "target", written as from src/ or as a neighbour in the same folder."""
    if target == "config.h":
        return True
    folder = os.path.dirname(source)
    if folder.startswith("io/") and target.startswith("io/"):
        return any(target.startswith(f"io/{seen}") for seen in [folder[len("io/"):], *IO_MAY_SEE[folder[len("io/"):]]])
    if folder == "io/choose":
        return target.split("/")[0] in PURE + ["select", "convert"]
    if "/" not in target and os.path.exists(os.path.join(TOP, "src", os.path.dirname(source), target)):
        return True
    if target.startswith(room + "/"):
        # A driver may not include headers of another driver, but all include the headers beside their folders.
        folder = os.path.dirname(target)
        return room != "drivers" or folder in ("drivers", os.path.dirname(source))
    return any(target == seen or target.startswith(seen + "/")
               for seen in MAY_SEE.get(os.path.dirname(source), MAY_SEE[room]))


# What only a format knows; io asks mappings, and src/format/addressing.h.
OF_FORMATS = re.compile(r"\b(begin_rec|recsize|is_record|header_extent)\b|(->|\.)(begin|classic)\b|->format\b")


def check_formats():
    wrong = []
    for source in sources("io"):
        with open(os.path.join(TOP, "src", source), encoding="utf-8") as file:
            wrong += [f"src/{source}:{number}: {line.strip()}" for number, line in enumerate(file, 1)
                      if OF_FORMATS.search(line)]
    tap.ok(not wrong, "io does not know how a format places variables and records", "\n".join(wrong))


def check_includes():
    rooms = sorted(entry.name for entry in os.scandir(os.path.join(TOP, "src")) if entry.is_dir())
    unknown = [room for room in rooms if room not in MAY_SEE]
    tap.ok(not unknown, "every folder of src is a room with a place in the house",
           f"say in {os.path.basename(__file__)} what these may include: {unknown}")
    for room in rooms:
        wrong, seen = [], 0
        for source in sources(room):
            for number, system, target in includes(source):
                seen += 1
                if (source, target) in NOT_FOR_FILES:
                    continue
                if system and is_pure(source) and (target == "mpi.h" or target in FILE_HEADERS):
                    wrong.append(f"src/{source}:{number}: a pure room includes <{target}>")
                elif not system and room in MAY_SEE and not may_include(room, source, target):
                    wrong.append(f'src/{source}:{number}: room {room} may not see "{target}"')
        if seen:
            tap.ok(not wrong, f"the {seen} includes of src/{room} point down", "\n".join(wrong))


def objects(room):
    """The built objects of a room; of each, the one for the static library if there is one."""
    known = {os.path.splitext(os.path.basename(s))[0] for s in sources(room)}
    found = {}
    for path, _, names in os.walk(os.path.join(BUILD, "src", room)):
        for name in names:
            stem = re.sub(r"^lib\w+_la-", "", os.path.splitext(name)[0])
            at = os.path.join(path.removesuffix("/.libs"), name)
            if name.endswith(".o") and stem in known and (at not in found or not path.endswith(".libs")):
                found[at] = os.path.join(path, name)
    return sorted(found.values())


def symbols(path):
    """(name, class letter, section) of each symbol of an object."""
    command = [*shlex.split(os.environ.get("NM", "nm")), "--format=sysv", path]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7 and fields[0] != "Name":
            yield re.sub(r"@.*", "", fields[0]), fields[2], fields[6]


def changes(section):
    """Whether data of a section can change: .data.rel.ro holds constant tables of addresses."""
    return re.match(r"\.(t?data|t?bss)\b", section) and not section.startswith(".data.rel.ro") or section == "*COM*"


def is_optimised():
    """Whether the compiler leaves out functions that are not called, and variables that do not change."""
    with open(os.path.join(BUILD, "Makefile"), encoding="utf-8") as file:
        flags = re.search(r"^CFLAGS = (.*)$", file.read(), re.M).group(1)
    levels = re.findall(r"(?:^|\s)-O(\S*)", flags)
    return bool(levels) and levels[-1] != "0"


def is_instrumented(names):
    return any("__asan_" in name or "__gcov" in name for name, _, _ in names)


def source_of(short):
    return re.sub(r"lib\w+_la-|\.o$", "", short).replace(".libs/", "")


def unused_of(source):
    return set() if is_optimised() else MADE_AND_UNUSED.get(source, set())


def kept_by(short, names):
    """Data that an object keeps between calls without being listed."""
    if is_instrumented(names): # the compiler adds data that change
        return []
    source = source_of(short)
    allowed = set(MAY_CHANGE.get(source, {})) | unused_of(source)
    return [f"{short} keeps {name}" for name, _, section in names
            if changes(section) and name.split(".")[0] not in allowed]


def check_objects(room):
    paths = objects(room)
    if not paths:
        tap.skip(f"objects of src/{room}", f"none were built in {BUILD}")
        return
    called, kept = [], []
    pure = [path for path in paths if is_pure(os.path.relpath(path, os.path.join(BUILD, "src")))]
    for path in paths:
        names = list(symbols(path))
        short = os.path.relpath(path, BUILD)
        if path in pure and not is_instrumented(names): # else unused functions remain
            called += [f"{short} refers to {name}" for name, kind, _ in names
                       if kind == "U" and name not in unused_of(source_of(short)) and
                       (re.match(r"P?MPI_", name) or name in FILE_CALLS)]
        kept += kept_by(short, names)
    if pure:
        tap.ok(not called, f"the {len(pure)} pure objects of src/{room} use no MPI and no files", "\n".join(called))
    tap.ok(not kept, f"the {len(paths)} objects of src/{room} keep nothing that threads would share", "\n".join(kept))


check_includes()
check_formats()
for each in PURE_ROOMS + SHARED_ROOMS:
    check_objects(each)
tap.finish()
