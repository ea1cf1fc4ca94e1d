"""ncmpistat --plan of variables in chunks of netCDF-4 files: chunks of each rank, messages and their bytes, and
accesses of a plan are those that a run on simulated nodes counts; some are computed by hand."""
# needs: python
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.environ.get("PNC_BUILD", os.getcwd())
PROGRAM = r"""
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

/* Put, or get, blocks of v(t, y, x) by a grid of ranks, and print what the call has counted: sum and most of ranks.
 * ny nx cy cx deflate gy gx */
static const char *const names[] = {"messages",    "message_bytes", "node_bytes", "chunks_written",
                                    "chunks_read", "writes",        "reads"};
enum { NAMES = 7 };
static int rank, nprocs, n[7];

static void print_nodes(void)
{
    int leads, nodes, own;
    MPI_Comm node;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &own);
    MPI_Comm_free(&node);
    leads = own == 0;
    MPI_Reduce(&leads, &nodes, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("nodes %d\n", nodes);
}

static void count(int ncid, long long *out)
{
    for (int i = 0; i < NAMES; i++) {
        MPI_Offset value = -1;

        ncmpi_inq_stats(ncid, names[i], &value);
        out[i] = value;
    }
}

static void print(const char *call, const long long *before, const long long *after)
{
    long long own[NAMES], sum[NAMES], most[NAMES];

    for (int i = 0; i < NAMES; i++)
        own[i] = after[i] - before[i];
    MPI_Reduce(own, sum, NAMES, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(own, most, NAMES, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < NAMES && rank == 0; i++)
        printf("%s %s %lld %lld\n", call, names[i], sum[i], most[i]);
}

int main(int argc, char **argv)
{
    MPI_Offset start[3] = {0, 0, 0}, length[3] = {1, 0, 0}, chunk[3] = {1, 0, 0};
    long long before[NAMES], after[NAMES];
    int ncid, dims[3], v, y, x, err;
    MPI_Info info;
    float *values;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    print_nodes();
    for (int i = 0; i < 7; i++)
        n[i] = atoi(argv[2 + i]);
    y = rank / n[6];
    x = rank % n[6];
    chunk[1] = n[2];
    chunk[2] = n[3];
    start[1] = (MPI_Offset)n[0] * y / n[5];
    length[1] = (MPI_Offset)n[0] * (y + 1) / n[5] - start[1];
    start[2] = (MPI_Offset)n[1] * x / n[6];
    length[2] = (MPI_Offset)n[1] * (x + 1) / n[6] - start[2];
    values = malloc(sizeof *values * (size_t)(length[1] * length[2]));
    for (MPI_Offset i = 0; i < length[1] * length[2]; i++)
        values[i] = (float)(rank * 1000 + i % 317);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_stats", "keep");
    MPI_Info_set(info, "nc_filter_threads", "0");
    err = ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_NETCDF4, info, &ncid);
    if (err != NC_NOERR) {
        if (rank == 0)
            printf("none %s\n", ncmpi_strerrno(err));
        MPI_Finalize();
        return 0;
    }
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "y", n[0], &dims[1]);
    ncmpi_def_dim(ncid, "x", n[1], &dims[2]);
    ncmpi_def_var(ncid, "v", NC_FLOAT, 3, dims, &v);
    ncmpi_def_var_chunking(ncid, v, NC_CHUNKED, chunk);
    if (n[4] > 0)
        ncmpi_def_var_deflate(ncid, v, 1, 1, n[4]);
    ncmpi_enddef(ncid);
    count(ncid, before);
    err = ncmpi_put_vara_float_all(ncid, v, start, length, values);
    count(ncid, after);
    print("put", before, after);
    start[0] = 1; /* a plan is one of as many records as the call has */
    if (err == NC_NOERR)
        err = ncmpi_put_vara_float_all(ncid, v, start, length, values);
    start[0] = 0;
    if (err == NC_NOERR)
        err = ncmpi_close(ncid);
    if (err == NC_NOERR)
        err = ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, info, &ncid);
    count(ncid, before);
    if (err == NC_NOERR)
        err = ncmpi_get_vara_float_all(ncid, v, start, length, values);
    count(ncid, after);
    print("get", before, after);
    ncmpi_close(ncid);
    if (err != NC_NOERR)
        fprintf(stderr, "%s\n", ncmpi_strerrno(err));
    MPI_Info_free(&info);
    free(values);
    MPI_Finalize();
    return err != NC_NOERR;
}
"""
# Nodes, ranks of a node; ny, nx; chunk; deflate; grid.
RUNS = [
    (2, 1, 256, 256, 32, 32, 1, 2, 1),    # each rank has its chunks
    (2, 2, 256, 256, 32, 32, 1, 1, 4),    # columns: most chunks are those of others
    (4, 2, 300, 500, 32, 48, 1, 2, 4),    # blocks that share chunks
    (8, 1, 512, 256, 64, 64, 0, 4, 2),    # without filters
    (2, 2, 1024, 1024, 256, 512, 0, 4, 1),  # large chunks, which are written one by one
    (2, 1, 5120, 2048, 64, 2048, 0, 1, 2),  # two rounds of 16 MiB
    (4, 1, 64, 64, 64, 64, 1, 2, 2),      # one chunk of all
]


def plan(*arguments):
    """(status, plans, messages)"""
    program = os.path.join(BUILD, "src", "tools", "ncmpistat")
    done = subprocess.run([sys.executable, program, "--plan", *arguments], capture_output=True, text=True, check=False)
    plans = json.loads(done.stdout)["plans"] if done.returncode == 0 and "--json" in arguments else done.stdout
    return done.returncode, plans, done.stderr


def build():
    source, program = tap.scratch("program.c"), tap.scratch("program")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    include = os.path.join(BUILD, "include")
    command = [*os.environ.get("CC", "mpicc").split(), *tap.instruments(), "-std=c99", "-I" + include, source,
               "-o", program, *tap.library_flags()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return program if tap.ok(done.returncode == 0, "a program", done.stderr) else None


def run(program, row, path):
    """{(call, counter): (sum, most)}; None: there is none."""
    nodes, per_node = row[:2]
    environment = dict(os.environ, MPIR_CVAR_NUM_CLIQUES=str(nodes), MPIR_CVAR_CLIQUES_BY_BLOCK="1")
    status, text, errors = tap.run_mpi(nodes * per_node, program, path, *map(str, row[2:]), env=environment)
    if "none" in text or f"nodes {nodes}\n" not in text:
        tap.skip(f"{row}: a run", "the build is without netCDF-4, or MPI cannot simulate nodes")
        return None
    tap.ok(status == 0, f"{row}: a run", errors)
    return {(call, name): (int(total), int(most))
            for call, name, total, most in re.findall(r"^(\w+) (\w+) (-?\d+) (-?\d+)$", text, re.M)}


def is_near(found, planned):
    """Within 10%, or one."""
    return abs(found - planned) <= max(1, 0.1 * max(found, planned))


def compare(row, call, found, planned):
    chunks, accesses = {"put": ("chunks_written", "writes"), "get": ("chunks_read", "reads")}[call]
    pairs = {"messages": (found[call, "messages"][0], planned["messages"]),
             "bytes between nodes": (found[call, "message_bytes"][0], planned["message_bytes"]),
             "bytes within nodes": (found[call, "node_bytes"][0], planned["node_bytes"]),
             "accesses": (found[call, accesses][0], planned["accesses"])}
    wrong = {name: pair for name, pair in pairs.items() if not is_near(*pair)}
    exact = (found[call, chunks] == (planned["chunks"], planned["chunks_of_rank"]))
    tap.ok(not wrong and exact, f"{row}: a {call} as planned",
           f"(found, planned): {wrong}, all: {pairs}, chunks {found[call, chunks]}, {planned}")


def check_runs():
    program = build()
    if program is None:
        return
    for row in RUNS:
        nodes, per_node, *_, grid_y, grid_x = row
        path = tap.scratch("chunks.nc")
        found = run(program, row, path)
        if found is None:
            return
        for call, option in (("put", ()), ("get", ("--get",))):
            status, plans, errors = plan("--json", "-v", "v", "--grid", f"1,{grid_y},{grid_x}", "--ranks-per-node",
                                         str(per_node), *option, path)
            if tap.ok(status == 0 and plans[0]["nodes"] == nodes, f"{row}: the plan of a {call}", errors):
                compare(row, call, found, plans[0])
    check_by_hand(path)


def check_by_hand(path):
    """The last file: one chunk of 16 KiB, of four ranks on four nodes."""
    arguments = ("-v", "v", "--grid=1,2,2", "--ranks-per-node=1", path)
    planned = plan("--json", *arguments)[1][0]
    tap.ok((planned["chunks"], planned["aggregators"], planned["incomplete_chunks"], planned["messages"]) ==
           (1, 1, 0, 3) and 0 <= planned["message_bytes"] - 3 * 4096 < 3 * 64,
           "three ranks send a quarter of a chunk to the fourth one", planned)
    more = plan("--json", "--records=3", *arguments)[1][0]
    tap.ok((more["bytes"], more["chunks"], more["aggregators"], more["messages"]) == (3 * 16384, 3, 3, 9),
           "three records, whose chunks have different ranks", more)
    slow = plan("--json", "--filter-mbs=1", *arguments)[1][0]
    tap.ok(abs(slow["filter_seconds"] - 16384e-6) < 1e-9 and slow["limited_by"] == "filters" and
           slow["seconds"] >= slow["filter_seconds"], "a filter of 1 MB/s is a limit", slow)
    thin = plan("--json", "--ratio=4", *arguments)[1][0]
    tap.ok(thin["access_bytes"] == 4096 and thin["access_bytes_are_estimated"], "stored bytes by the ratio", thin)
    lines = tap.scratch("map")
    with open(lines, "w", encoding="utf-8") as file:
        file.write("0 0,0,0 1,32,64\n")
    part = plan("--json", "-v", "v", "--map", lines, path)[1][0]
    tap.ok((part["chunks"], part["incomplete_chunks"], part["accesses"]) == (0, 1, 0),
           "half of a chunk waits for the other half", part)
    text = plan(*arguments)[1]
    tap.ok(re.search(r"^ +chunks +1 of 16.0 KiB, at most 1 of a rank$", text, re.M) and "time" in text, "as text", text)
    for wanted, more in (("no --weak", ("--weak",)), ("one variable", ("-v", "v,t"))):
        status, _, errors = plan(*arguments[:3], *more, path)
        tap.ok(status == 1 and (wanted in errors or "no variable t" in errors), f"an error: {wanted}", errors)


if shutil.which(os.environ.get("MPIEXEC", "mpiexec").split()[0]) is None:
    tap.skip("runs", "there is no mpiexec")
else:
    check_runs()
tap.finish()
