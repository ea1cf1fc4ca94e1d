"""Simulated nodes and a simulated file system: builds programs, runs them, and reads the records of their ranks."""
import dataclasses
import os
import re
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77  # exit status of the workloads
SOURCES = os.path.join(HERE, "..", "..", "src")
MODEL = os.path.join(SOURCES, "tools", "plan", "file_system.c")
PRELOAD_SOURCES = ["parallel_fs.c", "model.c", "record.c", "calls.c"]
WORKLOAD_SOURCES = ["workloads.c", "patterns.c", "values.c", "e3sm.c", "mpi_io.c"]
SERIAL_SOURCES = ["serial.c", "patterns.c", "values.c", "e3sm.c"]
# ROMIO, as OMPIO ignores cb_nodes and most other hints.
OPENMPI_LAUNCHER = ["mpiexec.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1",
                    "--mca", "io", "romio321", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]


class Unfit(Exception):
    """A library, or the MPI library, cannot be used."""


def run_tool(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unfit(f"{shlex.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


# --- programs ---

@dataclasses.dataclass
class Library:
    label: str
    prefix: str
    libdir: str
    hints: str
    with_mpi_io: bool = False  # MPI-IO accesses the data
    mpi: str = "mpich"         # or "openmpi": set when its programs are built

    @classmethod
    def parse(cls, text):
        """LABEL=PREFIX[,LIBDIR[,HINTS]]"""
        label, _, rest = text.partition("=")
        prefix, libdir, hints = (rest.split(",", 2) + ["", ""])[:3]
        if not label or not prefix:
            raise ValueError(text)
        return cls(label, prefix, libdir or os.path.join(prefix, "lib"), hints)


# --- options that the programs of this folder share ---

def add_options(parser, most_bytes):
    """most_bytes: the default of --bytes."""
    parser.add_argument("--library", action="append", type=Library.parse, required=True, metavar="LABEL=PREFIX,...")
    parser.add_argument("--workloads", default="", help="names, with commas between them (all)")
    parser.add_argument("--bytes", type=int, default=most_bytes,
                        help=f"of each rank, about ({most_bytes >> 20} MiB)")
    parser.add_argument("--maps", default=os.environ.get("PNC_TEST_DATA", "."), metavar="FOLDER",
                        help="of e3sm_map_f_case_16p.nc and e3sm_map_g_case_16p.nc ($PNC_TEST_DATA)")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one run (300)")
    parser.add_argument("--cc", type=shlex.split, default=["mpicc"], help="compiler of MPI programs (mpicc)")
    parser.add_argument("--mpiexec", type=shlex.split, default=["mpiexec"])
    parser.add_argument("--openmpi-cc", type=shlex.split, default=["mpicc.openmpi"],
                        help="the same for libraries that are built for Open MPI (mpicc.openmpi)")
    parser.add_argument("--openmpi-mpiexec", type=shlex.split, default=OPENMPI_LAUNCHER,
                        help=f"likewise ({shlex.join(OPENMPI_LAUNCHER)})")
    parser.add_argument("--yield-library", default="", help="a preload that lets waiting ranks yield (yield.so)")
    parser.add_argument("--dir", default="/dev/shm", help="folder for the files (/dev/shm)")


def parse_options(parser):
    """What the parser returns, with the compilers and launchers of each MPI library."""
    options = parser.parse_args()
    options.compilers = {"mpich": options.cc, "openmpi": options.openmpi_cc}
    options.launchers = {"mpich": options.mpiexec, "openmpi": options.openmpi_mpiexec}
    return options


def find_map(maps, workload):
    """[path] of the decomposition that a workload reads, if there is one."""
    path = os.path.join(maps, f"e3sm_map_{workload[-1]}_case_16p.nc")
    return [path] if workload.startswith("e3sm-") and os.path.exists(path) else []


def build_preload(compiler, folder, name="parallel_fs.so"):
    path = os.path.join(folder, name)
    run_tool([*compiler, "-std=c11", "-O2", "-shared", "-fPIC", "-I" + SOURCES, "-o", path,
              *(os.path.join(HERE, name) for name in PRELOAD_SOURCES), MODEL, "-ldl", "-lpthread"])
    return path


def identify_mpi(path, label):
    """The MPI library of the program or library at `path`: MPICH over libucp, or Open MPI."""
    needed = run_tool(["ldd", path])
    if re.search(r"libopen-rte|libmpi\.so\.[1-9]0", needed):
        return "openmpi"
    if not re.search(r"libmpich\.so|libmpi\.so\.12", needed) or "libucp" not in needed:
        raise Unfit(f"{label}: the MPI library is neither Open MPI nor MPICH with the device ch4:ucx")
    return "mpich"


def compile_program(compiler, library, sources, path, *libraries):
    run_tool([*compiler, "-std=c99", "-O2", "-I" + os.path.join(library.prefix, "include"),
              *(os.path.join(HERE, name) for name in sources), "-o", path, "-L" + library.libdir,
              "-Wl,-rpath," + library.libdir, *libraries, "-lpnetcdf", "-lm"])


def build_serial(compilers, folder, library):
    """By serial netCDF; the library reads the maps of E3SM."""
    path = os.path.join(folder, "serial")
    compile_program(compilers[library.mpi], library, SERIAL_SOURCES, path, "-lnetcdf")
    return path


def build_workloads(compilers, folder, library):
    """Compile with the MPI library that the library is built for."""
    path = os.path.join(folder, "workloads-" + re.sub(r"\W", "_", library.label))
    shared = os.path.join(library.libdir, "libpnetcdf.so")
    if os.path.exists(shared):
        library.mpi = identify_mpi(shared, library.label)
    compile_program(compilers[library.mpi], library, WORKLOAD_SOURCES, path)
    if identify_mpi(path, library.label) != library.mpi:
        raise Unfit(f"{library.label}: compiler and library use different MPI libraries")
    return path


# --- runs ---

@dataclasses.dataclass
class Access:
    rank: int
    kind: str  # R or W
    offset: int
    length: int
    delay: int  # simulated nanoseconds
    lock_moves: int


@dataclasses.dataclass
class DiskAccess:
    """Of a file on the disk of the rank's node."""
    rank: int
    kind: str
    length: int
    delay: int


@dataclasses.dataclass
class Phase:
    """One phase of all ranks: a call, or the calls up to a wait_all."""
    name: str
    begin: int = 0
    end: int = 0
    accesses: list = dataclasses.field(default_factory=list)
    messages: list = dataclasses.field(default_factory=list)     # to other nodes, by rank
    local: list = dataclasses.field(default_factory=list)        # to ranks of the node, by rank
    peaks: list = dataclasses.field(default_factory=list)        # KiB, by rank
    collectives: list = dataclasses.field(default_factory=list)  # {name: calls} by rank
    disk: list = dataclasses.field(default_factory=list)         # accesses of files on disks of nodes


def read_record(path, rank, phases):
    """Add the phases of one rank to those of the others."""
    number, accesses, disk, collectives = 0, [], [], {}
    with open(path, encoding="ascii") as file:
        for line in file:
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "access":
                accesses.append(Access(rank, fields[0], *map(int, fields[1:])))
            elif kind == "disk":
                disk.append(DiskAccess(rank, fields[0], *map(int, fields[1:])))
            elif kind == "collective":
                collectives[fields[0]] = int(fields[1])
            else:
                begin, end, messages, local, peak = map(int, fields[1:])
                if number == len(phases):
                    phases.append(Phase(fields[0], begin, end))
                phase = phases[number]
                phase.begin, phase.end = min(begin, phase.begin), max(end, phase.end)
                phase.accesses += accesses
                phase.disk += disk
                phase.messages.append(messages)
                phase.local.append(local)
                phase.peaks.append(peak)
                phase.collectives.append(collectives)
                number, accesses, disk, collectives = number + 1, [], [], {}


@dataclasses.dataclass
class Run:
    library: str
    workload: str
    nodes: int
    ranks: int
    slowdown: float
    stripe: int
    pieces: int    # of a rank, in all puts
    borders: list  # offsets of variables
    phases: list
    has_messages: bool = True  # they are counted

    def named(self, name):
        return [phase for phase in self.phases if phase.name == name]


class Cluster:
    """Starts programs, each with a new file system."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.preloads = {}
        self.data = os.path.join(folder, "cluster.nc")
        self.steps, self.computes = 0, 0.0  # records of a run, and simulated seconds of computation after each
        os.makedirs(os.path.join(folder, "disk"), exist_ok=True)

    def find_preload(self, mpi):
        if mpi not in self.preloads:
            self.preloads[mpi] = build_preload(self.options.compilers[mpi], self.folder, f"parallel_fs-{mpi}.so")
        return self.preloads[mpi]

    def slowdown(self, nodes):
        """Ranks that share cores compute slower than with a core each; the file system is slowed down twice as much."""
        ranks_per_core = nodes * self.options.ranks_per_node / os.cpu_count()
        return self.options.slowdown or max(1, 2 * ranks_per_core)

    def environment(self, nodes, library):
        """Variables for the ranks, not for mpiexec."""
        options, preload = self.options, self.find_preload(library.mpi)
        yields = options.yield_library and library.mpi == "mpich"
        environment = {
            "MPIR_CVAR_NUM_CLIQUES": str(nodes), "MPIR_CVAR_CLIQUES_BY_BLOCK": "1",
            "LD_PRELOAD": f"{options.yield_library}:{preload}" if yields else preload,
            "PARALLEL_FS_FILES": self.data, "PARALLEL_FS_STATE": os.path.join(self.folder, "state"),
            "PARALLEL_FS_RECORD": os.path.join(self.folder, "record"),
            "PARALLEL_FS_LOCAL": os.path.join(self.folder, "disk", "*"),
            "PARALLEL_FS_RANKS_PER_NODE": str(options.ranks_per_node),
            "PARALLEL_FS_STRIPE": str(options.stripe),
            "PARALLEL_FS_SLOWDOWN": str(self.slowdown(nodes)),
        }
        if library.hints:
            environment["PNETCDF_HINTS"] = library.hints.format(nodes=nodes, disk=os.path.join(self.folder, "disk"))
        if library.with_mpi_io:
            environment["CLUSTER_MPI_IO"] = "1"
        if self.steps > 0:
            environment.update({"CLUSTER_STEPS": str(self.steps), "CLUSTER_COMPUTE": str(self.computes)})
        return environment

    def clean(self):
        for name in os.listdir(self.folder):
            if name == "state" or name.startswith(("cluster.nc", "record.")):
                os.remove(os.path.join(self.folder, name))
        for name in os.listdir(os.path.join(self.folder, "disk")):
            os.remove(os.path.join(self.folder, "disk", name))

    def command(self, program, library, workload, nodes):
        options, environment = self.options, self.environment(nodes, library)
        words = [f"{name}={value}" for name, value in environment.items()]
        return [*options.launchers[library.mpi], "-n", str(nodes * options.ranks_per_node), "env", *words, program,
                self.data, workload, str(options.bytes), *find_map(options.maps, workload)]

    def run(self, program, library, workload, nodes):
        """A Run, or a text that says why there is none."""
        options, ranks, phases = self.options, nodes * self.options.ranks_per_node, []
        self.clean()
        try:
            done = subprocess.run(self.command(program, library, workload, nodes), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return f"failed: stopped after {options.timeout} s"
        if done.returncode == SKIPPED:
            return "skipped: " + done.stdout.strip().splitlines()[0]
        if done.returncode != 0:
            return f"failed: status {done.returncode}: {done.stderr.strip()[-2000:]}"
        for rank in range(ranks):
            read_record(os.path.join(self.folder, f"record.{rank}"), rank, phases)
        pieces = int(re.search(r"^pieces (\d+)$", done.stdout, re.M)[1])
        borders = [int(text) for text in re.findall(r"^offset (\d+)$", done.stdout, re.M)]
        return Run(library.label, workload, nodes, ranks, self.slowdown(nodes), options.stripe, pieces, borders, phases,
                   library.mpi == "mpich")
