"""Names and words: a function of src that other files call has the name of its room, an object and a verb; the name of
one that is local to a file is its own in the library; and no word that the glossary replaced is used again, in code,
comments, messages and documents."""
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

# What the names of a folder's functions begin with. All rooms use base, so its functions begin with their object.
PREFIX = {
    "src/api": "pnc_api_",
    "src/array": "pnc_array_",
    "src/base": "pnc_(bits|digest|error|language|memory|string|size|name|path|arena|region|siphash|table|text|type|"
                "mem_type)_",
    "src/binding": "pnc_binding_",
    "src/binding/f77": "pnc_f77_",
    "src/binding/netcdf": "pnc_door_",
    "src/binding/f90": "pnc_f90_",
    "src/convert": "pnc_convert_",
    "src/dataset": "pnc_dataset_",
    "src/drivers": "pnc_(store|driver|wrapper|objects)_",
    "src/drivers/behind": "pnc_behind_",
    "src/drivers/chunks": "pnc_chunks_",
    "src/drivers/folder": "pnc_folder_",
    "src/drivers/kerchunk": "pnc_kerchunk_",
    "src/drivers/memory": "pnc_memory_store_",
    "src/drivers/mpiio": "pnc_mpiio_",
    "src/file": "pnc_file_",
    "src/filter": "pnc_filter_",
    "src/format": "pnc_format_",
    "src/formats": "pnc_formats_",
    "src/formats/classic": "pnc_classic_",
    "src/formats/netcdf4": "pnc_netcdf4_",
    "src/formats/zarr": "pnc_zarr_",
    "src/growth": "pnc_growth_",
    "src/host": "pnc_host_",
    "src/io": "pnc_io_",
    "src/mpitype": "pnc_mpitype_",
    "src/references": "pnc_references_",
    "src/statistics": "pnc_(statistics|counter|spread|summary|trace|amount)_",
    "src/select": "pnc_select_",
    "src/log": "pnc_log_",
    "src/mapping": "pnc_mapping_",
    "src/tools/cdfdiff": "diff_",
    "src/tools/common": "tool_",
    "src/tools/diff": "diff_",
    "src/tools/ncmpicopy": "copy_",
    "src/tools/ncmpidiff": "diff_",
    "src/tools/ncmpidump": "dump_",
    "src/tools/ncmpigen": "gen_",
    "src/tools/ncmpilog": "log_",
    "src/tools/ncoffsets": "offsets_",
    "src/tools/plan": "plan_",
    "src/tools/ncvalidator": "validator_",
}
VERBS = set("""
    add adopt agree alloc append apply attach begin broadcast check choose clear close commit compare compute
    contain convert copy count create decode define delete derive describe destroy discard dispatch display divide
    draw encode end escape examine execute explain extend fail fill find finish flatten flush format free gather get
    grow has hold identify include init inquire inspect is join keep list load locate lock make merge move multiply
    next normalise open pack parse peek post prefetch print publish put quantize read register reject release remove
    rename repair replace report reserve resize resolve restore return scan scatter seek send set share sort start
    store strip suggest sync take transfer translate truncate undo unlock unpack update wait watch wipe write
""".split())
# The interface of C and of Fortran 90, and the functions that flex and bison make.
OTHERS = re.compile(r"(pnc_(min|max)64$|P?ncmpi_|cdl_hdr_|nfmpi_|pncf90_|pncnc_|pnc_cdl_yy|pnc_cdl_scan|__).*|main$")
# Rooms in which names of functions that are local to a file are still found in other files.
NOT_UNIQUE_YET = {"dataset", "format", "growth"}
# The word that is used instead, the words that are not, and the files. In code a word is a part of an identifier.
RETIRED_IN_CODE = [
    ("aggregator", r"owners?", "src/(io|dataset|drivers)"),
    ("two-phase, exchange phase, access phase", r"together|brings?|serves?|served|deal", ""),
    ("file domain, block: a stripe is the file system's", r"stripes?", "src/(io|dataset|drivers/mpiio)"),
    ("flattened datatype; envelope, contents", r"memmap|recipe|memrun|memnode|memcursor", ""),
    ("pack, unpack", r"pump|mover", ""),
    ("numrecs", r"newrecs", ""),
    ("violation, finding", r"breach(es)?", ""),
    ("report, record, return an error; error of another rank", r"hear|heard|told|tells?", ""),
    ("layout hints, hint", r"wish|wishes", ""),
    ("agree", r"settle|verdict", ""),
    ("direct, independent", r"straight|alone", ""),
    ("capacity, size", r"room", ""),
    ("direction", r"ways?", "io|dataset|file"),
    ("position, extent", r"places", "io|dataset|file"),
]
# Comments, messages, and all lines of files that are not in C.
RETIRED_IN_TEXT = [
    ("report, return, show an error", r"\b(told|tells?|hears?|heard)\b", ""),
    ("no rank, a rank, a user; block", r"\b(nobody|somebody|in vain|comes? along|whoever|whomever)\b", ""),
    ("hint, request", r"\bwish(es|ed)?\b", ""),
    ("agree, result", r"\b(settle[sd]?|verdicts?)\b", ""),
    ("return, contain, move", r"\b(brings?|brought)\b", ""),
    ("effect, end, error path", r"\b(fates?|welcomes?|gives? up)\b", ""),
    ("what", r"\bthat which\b", ""),
    ("envelope, contents", r"\brecipes?\b", "src/"),
    ("violation", r"\bbreach(es)?\b", ""),
    ("aggregator", r"\bowners?\b", "src/io/(two_phase/|transfer)"),
    ("pack, unpack", r"\b(pumps?|movers?)\b", ""),
]
C = (".c", ".h", ".y")
TEXT = re.compile(r"\.(c|h|hpp|l|m4|py|awk|sh|bash|in|am|md|f90|f|F90|cdl|examples|[1-8])$|^run[^.]*$")
TOKEN = re.compile(r'(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)


def sources():
    for path, _, names in os.walk(os.path.join(TOP, "src")):
        for name in sorted(names):
            full = os.path.join(path, name)
            made = name.endswith((".c", ".h")) and any(os.path.exists(full[:-1] + letter) for letter in "ly")
            if re.search(r"\.[chy]$", name) and not made:
                with open(full, encoding="utf-8") as file:
                    text = file.read()
                if "Generated from" not in text[:400]:
                    yield os.path.relpath(full, TOP), text


def pieces(text):
    """(line, kind, text) of code, comments and strings."""
    at = 0
    for found in TOKEN.finditer(text):
        yield text.count("\n", 0, at) + 1, "code", text[at:found.start()]
        yield text.count("\n", 0, found.start()) + 1, found.lastgroup, found.group()
        at = found.end()
    yield text.count("\n", 0, at) + 1, "code", text[at:]


def functions():
    """(folder, object, name) of each function that an object gives to others."""
    for path, _, names in os.walk(os.path.join(BUILD, "src")):
        if path.endswith(".libs"):
            continue
        folder = os.path.relpath(path, BUILD)
        for name in sorted(names):
            stem = re.sub(r"^(lib\w+_la|src_\w+)-", "", os.path.splitext(name)[0])
            # objects of files that moved are left over in a build; those of Fortran have their own names
            if not name.endswith(".o") or not any(os.path.exists(os.path.join(TOP, folder, stem + ending))
                                                  for ending in (".c", ".c.m4", ".y", ".l")):
                continue
            command = [*shlex.split(os.environ.get("NM", "nm")), "--format=posix", "--defined-only", "--extern-only",
                       os.path.join(path, name)]
            for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
                symbol, kind = line.split()[:2]
                if kind == "T":
                    yield folder, name, symbol


def inline_functions():
    for path, text in sources():
        if path.endswith(".h"):
            for found in re.finditer(r"^static inline [^;{(]*?\b(\w+)\(", text, re.M):
                if "##" not in found.group():
                    yield os.path.dirname(path), os.path.basename(path), found.group(1)


def interface(found):
    """Names of the interface without ncmpi_: dataset and f77 have a function of the same name for each."""
    return {symbol[6:] for _, _, symbol in found if symbol.startswith("ncmpi_")}


def is_well_named(folder, name, public):
    if folder.startswith("src/io/"):
        folder = "src/io"
    if OTHERS.match(name) or re.sub(r"^pnc_(dataset|f77|door)_", "", name) in public:
        return True
    if folder == "src/binding/netcdf" and re.match(r"nc_|pnc_door_(def|inq|show|var)_", name):
        return True # names of netCDF, and of members of its table
    found = re.match(PREFIX[folder], name) if folder in PREFIX else None
    if not found:
        return False
    words = name[found.end():].split("_")
    # where the room's name is left out, the object stands first
    return bool(VERBS.intersection(words)) and (len(words) > 1 or "|" in PREFIX[folder] or "_" in found.group()[4:-1])


def check_functions():
    found = sorted(set(functions()))
    public = interface(found)
    wrong = [f"{folder}/{name}: {symbol}" for folder, name, symbol in found + list(inline_functions())
             if not is_well_named(folder, symbol, public) and "numbers.h" != name]
    if not found:
        tap.skip("names of functions", f"no objects in {BUILD}")
        return
    tap.ok(not wrong, f"the {len(found)} functions that other files call are named by room, object and verb",
           "\n".join(wrong))


def local_functions():
    """{name: paths} of the functions of the library, without its tools, that are local to a file."""
    found = {}
    for path, text in sources():
        if path.endswith(".h") or path.startswith("src/tools/"):
            continue
        code = "".join(piece for _, kind, piece in pieces(text) if kind == "code")
        for name in re.findall(r"^static\s[^;{()=#]*?\b(\w+)\(", code, re.M):
            if not name.startswith("_"):
                found.setdefault(name, set()).add(path)
    return found


def check_local_functions():
    """A backtrace and a search for a name lead to one function."""
    found = local_functions()
    room = {path: path.split("/")[1] for paths in found.values() for path in paths}
    twice = {name: sorted(paths) for name, paths in found.items() if len(paths) > 1}
    wrong = [f"{name}: {', '.join(paths)}" for name, paths in sorted(twice.items())
             if not {room[path] for path in paths} <= NOT_UNIQUE_YET]
    tap.ok(len(found) > 1000 and not wrong, f"{len(found)} names of functions that are local to a file are unique",
           "\n".join(wrong))
    clean = NOT_UNIQUE_YET - {room[path] for paths in twice.values() for path in paths}
    tap.ok(not clean, "rooms with names that are not unique are listed as such",
           f"these have none, take them off the list NOT_UNIQUE_YET: {sorted(clean)}")


def rules(rows, pattern):
    return [(instead, re.compile(pattern.format(words), re.I), re.compile(where))
            for instead, words, where in rows]


def find_retired(path, number, text, found_by):
    return [f"{path}:{number}: {found.group().strip('_')}: say {instead}"
            for instead, rule, where in found_by if where.match(path)
            for found in [rule.search(text)] if found]


def texts():
    """(path, text) of what people read beside the C files of src."""
    for top in ("benchmarks", "cmake", "docs", "examples", "include", "man", "packaging", "scripts", "src", "test"):
        for path, _, names in os.walk(os.path.join(TOP, top)):
            for name in sorted(names):
                full = os.path.join(path, name)
                if TEXT.search(name) and full != os.path.abspath(__file__) and not (top == "src" and name[-2:] in C):
                    yield os.path.relpath(full, TOP)
    yield from ("README.md", "NEWS.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "check", "demo",
                "configure.ac")


def check_words():
    in_code, in_text = rules(RETIRED_IN_CODE, "(?:^|_)({})(?=_|$)"), rules(RETIRED_IN_TEXT, "{}")
    wrong = []
    for path, text in sources():
        for first, kind, piece in pieces(text):
            for number, line in enumerate(piece.split("\n"), first):
                if kind == "code":
                    for word in re.findall(r"[A-Za-z_]\w*", line):
                        wrong += find_retired(path, number, word, in_code)
                else:
                    wrong += find_retired(path, number, line, in_text)
    tap.ok(not wrong, "no retired word in src", "\n".join(wrong))
    wrong, count = [], 0
    for path in texts():
        count += 1
        with open(os.path.join(TOP, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                wrong += find_retired(path, number, line, in_text)
    tap.ok(count > 100 and not wrong, f"no retired word in {count} other files", "\n".join(wrong))


check_functions()
check_local_functions()
check_words()
tap.finish()
