"""Damaged and hostile Zarr stores: documents, chunks, indexes of shards, lengths of objects, symbolic links, keys with
"..", logs. Listing, reading, checking and repairing them ends with values or an error: no crash, no hang, less than 1
GiB of memory, and nothing outside of the store is read or written. PNC_TEST_MUTATED is the number of stores,
PNC_TEST_SEED chooses others."""
# needs: python
import copy
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import choose, finish, instruments, ok, run_mpi, scratch, skip  # noqa: E402

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
COUNT = int(os.environ.get("PNC_TEST_MUTATED", choose(15, 50, 5000)))
SEED = int(os.environ.get("PNC_TEST_SEED", random.randrange(10**6)))
SECONDS = 60
MEMORY = 1 << 30 # of data; code and what MPI maps is not counted
TOOLS = [("src/tools/ncmpidump/ncmpidump", "-h"), ("src/tools/ncmpidump/ncmpidump",),
         ("src/tools/ncvalidator/ncvalidator",), ("src/tools/ncoffsets/ncoffsets",),
         ("src/tools/ncvalidator/ncvalidator", "--repair", "--in-place"), ("src/tools/ncvalidator/ncvalidator",)]
VALUES = [0, -1, 1, 2**31, 2**40, 2**62, 2**63 - 1, 2**64 - 1, 1e300, "", "x", None, [], {}, True, [0] * 40,
          "../../out", [2**62] * 3]
draw = random.Random(SEED)


# --- seeds ---

def make_seed(name, hints):
    path = scratch(name)
    shutil.rmtree(path, ignore_errors=True)
    env = {**os.environ, "PNETCDF_HINTS": f"*.zarr:nc_format=zarr{hints}"}
    status, out, err = run_mpi(1, "test/interop/zarr_die", path, 2, 0, 0, env=env)
    return path if status == 0 and "error" not in out else out + err


def make_dead(name):
    """With a log of changes that are not all made."""
    env = {**os.environ, "PNETCDF_HINTS": "*.zarr:nc_format=zarr"}
    for write in range(30, 80):
        path = scratch(name)
        shutil.rmtree(path, ignore_errors=True)
        run_mpi(1, "test/interop/zarr_die", path, 2, 0, write, env=env)
        if os.path.exists(os.path.join(path, ".~log")):
            return path
    return None


# --- damage ---

def list_files(path):
    """Those that can be damaged once more."""
    found = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return [name for name in found if os.path.isfile(name) and not os.path.islink(name) and
            os.path.getsize(name) < 1 << 24]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def change_bytes(path):
    content = bytearray(read(path)) or bytearray(1)
    for _ in range(draw.choice([1, 1, 2, 8])):
        content[draw.randrange(len(content))] = draw.randrange(256)
    write(path, bytes(content))


def change_length(path):
    content = read(path)
    n = draw.choice([0, 1, len(content) // 2, len(content) - 1, len(content) + 1, len(content) + 5000])
    write(path, content[:max(0, n)] + bytes(max(0, n - len(content))))


def make_sparse(path):
    os.truncate(path, draw.choice([1 << 28, 1 << 33, 1 << 40]))


def change_index(path):
    """Offsets and lengths of chunks, with and without a right checksum being lost."""
    content = bytearray(read(path))
    if len(content) < 16:
        return
    at = 16 * draw.randrange(min(8, len(content) // 16))
    content[at:at + 16] = struct.pack("<QQ", *(draw.choice([0, 1, len(content), 2**32, 2**63, 2**64 - 1])
                                               for _ in range(2)))
    write(path, bytes(content))


def change_link(path):
    os.unlink(path)
    os.symlink(draw.choice(["/etc/passwd", "/dev/zero", "..", path, os.path.join(os.path.dirname(path), "no")]), path)


def change_kind(path):
    os.unlink(path)
    draw.choice([os.mkdir, os.mkfifo, lambda name: None])(path)


def find_values(value, found):
    """All (container, key) in a value of JSON."""
    for key in (value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
        found.append((value, key))
        find_values(value[key], found)
    return found


def change_document(path):
    try:
        document = json.loads(read(path))
    except (ValueError, RecursionError): # of a text that was damaged before
        return
    for _ in range(draw.choice([1, 1, 3])):
        places = find_values(document, [])
        if not places:
            return
        owner, key = draw.choice(places)
        kind = draw.randrange(3)
        if kind == 0 and isinstance(owner, dict):
            owner[draw.choice(["..", "../out", "/etc", "a/../../b", "x" * 300, "", "zarr.json"])] = owner.pop(key)
        elif kind == 1 and isinstance(owner, dict):
            del owner[key]
        else:
            owner[key] = copy.deepcopy(draw.choice(VALUES))
    write(path, json.dumps(document).encode())


def nest(path):
    write(path, draw.choice([b"[" * 100000, b'{"a":' * 50000, b"9" * 300000, b'"' + b"\\u0000" * 9999 + b'"']))


def damage(store):
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        files = list_files(store)
        if not files:
            return
        path = draw.choice(files)
        documents = [name for name in files if name.endswith("zarr.json")]
        kinds = [change_bytes, change_length, change_bytes, change_index, change_link, change_kind, make_sparse]
        if draw.randrange(2) and documents:
            path, kinds = draw.choice(documents), [change_document] * 4 + [change_bytes, change_length, nest]
        draw.choice(kinds)(path)


# --- what tools do ---

def limit():
    if not instruments():  # which reserve address space
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))


def try_tool(tool, store):
    command = [os.path.join(BUILD, tool[0]), *tool[1:], store]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS, check=False, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return f"{tool}: more than {SECONDS} s"
    if done.returncode not in (0, 1, 2) or b"root:" in done.stdout:
        return f"{tool}: status {done.returncode} {done.stdout[-200:]} {done.stderr[-300:]}"
    return ""


def try_store(seed, number):
    """What was wrong; the store stays then."""
    top = scratch("mutated")
    shutil.rmtree(top, ignore_errors=True)
    os.mkdir(top)
    store = os.path.join(top, "store.zarr")
    shutil.copytree(seed, store)
    damage(store)
    for tool in TOOLS:
        why = try_tool(tool, store)
        if why:
            kept = f"{top}-{number}"
            shutil.rmtree(kept, ignore_errors=True)
            os.rename(top, kept)
            return f"store {number}: {why}"
    return "" if os.listdir(top) == ["store.zarr"] else f"store {number}: {os.listdir(top)} beside it"


def main():
    seeds = [make_seed("shards.zarr", ":nc_shards=3000"), make_seed("large.zarr", ""),
             make_seed("chunks.zarr", ":nc_shards=0:nc_compression=zstd:1"), make_dead("dead.zarr")]
    if not all(seed is not None and os.path.isdir(seed) for seed in seeds):
        skip("damaged Zarr stores", str(seeds)[:200].replace("\n", " "))
        finish()
    print(f"# PNC_TEST_SEED={SEED}", flush=True)
    wrong = [why for number in range(COUNT) for why in [try_store(draw.choice(seeds), number)] if why]
    ok(not wrong, f"{COUNT} damaged stores, each by {len(TOOLS)} commands", "\n".join(wrong[:10]))
    finish()


main()
