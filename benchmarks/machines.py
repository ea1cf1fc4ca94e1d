"""Plans of FLASH, BTIO and E3SM on named machines with up to 1,000,000 ranks, and of runs that were published: the
tables and the picture of docs/scaling.md. No program is run; it takes minutes.

    python3 benchmarks/machines.py --ncmpistat build/mpich/src/tools/ncmpistat \\
        --update docs/scaling.md --svg docs/scaling-machines.svg
"""
import argparse
import html
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

GIB = 1 << 30
# Ranks of a node: more than cores where a million ranks need hardware threads.
MACHINES = {"frontier": 128, "aurora": 104, "fugaku": 48}
COLOURS = {"frontier": "#0b6ea8", "aurora": "#c8501e", "fugaku": "#3d8b37"}


def netcdf(dims, type_name, names, shape):
    """The text of a file."""
    lengths = "".join(f"{name} = {length} ; " for name, length in dims.items())
    variables = "".join(f"{type_name} {name}({shape}) ;\n" for name in names)
    return f"netcdf a {{ // file format: CDF-5\ndimensions: {lengths}\nvariables:\n{variables}}}\n"


FLASH = [f"v{i}" for i in range(24)]
E3SM = [f"f{i}" for i in range(10)]
# Of each workload: the file, variables, options, numbers of ranks. BTIO's cells are in diagonals; columns of the same
# width have as many rows of the same length.
WORKLOADS = {
    "FLASH": (netcdf({"blocks": 80, "z": 16, "y": 16, "x": 16}, "double", FLASH, "blocks, z, y, x"), FLASH,
              ["--weak", "--grid=0,1,1,1"], [10000, 100000, 1000000]),
    "BTIO": (netcdf({"z": 4000, "y": 4000, "x": 4000, "c": 5}, "double", ["u"], "z, y, x, c"), ["u"],
             ["--grid=1,0,0,1"], [10000, 102400, 1000000]),
    "E3SM": (netcdf({"level": 128, "column": 25165826}, "float", E3SM, "level, column"), E3SM,
             ["--grid=1,0"], [10000, 100000, 1000000]),
}
# The same for Intrepid: what was published is 20 to 60 GiB/s.
CHECKS = {
    "IOR": (netcdf({"x": 8 << 20}, "double", ["v"], "x"), ["v"], ["--weak"], [65536, 131072]),
    "MADbench": (netcdf({"matrix": 8, "x": 2 << 20}, "double", ["v"], "matrix, x"), ["v"], ["--weak", "--grid=1,0"],
                 [65536, 131072]),
    "FLASH": (*WORKLOADS["FLASH"][:3], [65536, 131072]),
    "BTIO": (netcdf({"z": 2048, "y": 2048, "x": 2048, "c": 5}, "double", ["u"], "z, y, x, c"), ["u"],
             ["--grid=1,0,0,1"], [65536]),
}


# Runs that were published: machine, nodes, ranks, stripes of the file, GiB/s, the file, variables, options. Variables,
# one behind the other in a record, are rows of one variable.
LAND = "--map=land"  # a file in the folder
VPIC = [f"v{i}" for i in range(8)]
PUBLISHED = {
    "E3SM F": ("perlmutter", 169, 21600, 169, "12.98", netcdf({"row": 4859, "run": 36, "rank": 21600}, "float", ["v"],
                                                              "row, run, rank"), ["v"], ["--grid=1,1,21600"]),
    "E3SM G": ("perlmutter", 75, 9600, 75, "21.93",
               netcdf({"row": 36, "run": 385, "rank": 9600, "level": 80}, "double", ["v"], "row, run, rank, level"),
               ["v"], ["--grid=1,1,9600,1"]),
    "E3SM I": ("perlmutter", 11, 1344, 11, "7.16", netcdf({"row": 1656, "point": 360 * 720}, "float", ["v"],
                                                          "row, point"), ["v"], [LAND]),
    "WRF": ("perlmutter", 64, 8192, 64, "-", netcdf({"row": 857, "y": 5200, "x": 15200}, "float", ["v"], "row, y, x"),
            ["v"], ["--grid=1,64,128"]),
    "SCORPIO": ("frontier", 2000, 16000, 64, "24.6", netcdf({"row": 225 * 128, "column": 25165826}, "float", ["v"],
                                                            "row, column"), ["v"], ["--grid=1,16000"]),
    "SCORPIO, get": ("frontier", 2000, 16000, 64, "30.0", netcdf({"row": 175 * 128, "column": 25165826}, "float",
                                                                 ["v"], "row, column"), ["v"],
                     ["--grid=1,16000", "--get"]),
    "VPIC": ("cori", 128, 4096, 128, "-", netcdf({"x": 4096 << 23}, "float", VPIC, "x"), VPIC, ["--grid=4096"]),
}
# Runs of two points, 27 in each third of a row of 720: 58,320 points of 259,200, about as many as I writes.
LAND_RUNS, LAND_ROWS, LAND_WIDTH = 27, 1656, 240


def write_land(path, ranks):
    """Continents in thirds of each row, of which each rank has runs of two points at random."""
    numbers, runs = random.Random(1), []
    for third in range(360 * 3):
        begin = third * LAND_WIDTH + numbers.randrange(LAND_WIDTH - 2 * LAND_RUNS)
        runs += range(begin, begin + 2 * LAND_RUNS, 2)
    numbers.shuffle(runs)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{i * ranks // len(runs)} 0,{at} {LAND_ROWS},2\n" for i, at in enumerate(runs))


def ask(program, folder, text, variables, *options):
    """The plans of a call, and the figures of the machine."""
    path = os.path.join(folder, "a.cdl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([sys.executable, os.path.abspath(program), "--plan", "--json", *options, "-v",
                           ",".join(variables), path], stdout=subprocess.PIPE, check=True, cwd=folder)
    return json.loads(done.stdout)


def plan(program, folder, machine, workload, direction=()):
    """The plans of a workload, and the figures of the machine."""
    text, variables, options, ranks = workload
    places = [f"--ranks-per-node={MACHINES[machine]}"] if machine in MACHINES else []
    return ask(program, folder, text, variables, f"--machine={machine}", *places, *direction, *options, "--ranks",
               ",".join(map(str, ranks)))


def plan_published(program, folder, systems, case):
    """Plans on the stripes of the run, with one aggregator on a node, on all servers, and of files of nodes."""
    machine, nodes, ranks, stripes, _, text, variables, options = case
    all_servers = systems[machine]["servers"]
    places = [f"--machine={machine}", f"--ranks-per-node={-(-ranks // nodes)}", *options]
    one = f"--aggregators={nodes}"
    plans = [ask(program, folder, text, variables, *places, *more)["plans"][0]
             for more in ([f"--stripe-count={stripes}"], [f"--stripe-count={stripes}", one],
                          [f"--stripe-count={all_servers}"])]
    return [*plans, plan_node(program, folder, systems[machine], case, plans[0])]


def plan_node(program, folder, system, case, found):
    """A node of many that write files of their own at the same time: it has its share of the servers."""
    machine, nodes, ranks, *_ = case
    own, share = system["servers"] / nodes, -(-ranks // nodes)
    text = netcdf({"x": found["bytes"] // nodes // share // 4}, "float", ["v"], "x")
    node = ask(program, folder, text, ["v"], f"--machine={machine}", f"--ranks-per-node={share}", "--weak",
               f"--ranks={share}", f"--stripe-count={max(1, int(own))}", f"--servers={max(1, int(own))}",
               f"--server-mbs={system['server_mbs'] * min(1, own)}",
               f"--request-us={system['request_us'] / min(1, own)}",
               *(["--get"] if "--get" in case[-1] else []))["plans"][0]
    return {**node, "bytes": found["bytes"]}


def rate(found):
    """GiB/s."""
    return found["bytes"] / found["seconds"] / GIB


def seconds(value):
    return f"{value:.0f} s" if value >= 10 else f"{value:.3g} s"


def amount(value):
    for unit, name in ((1 << 40, "TiB"), (GIB, "GiB")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value / (1 << 20):.3g} MiB"


# --- tables ---

def make_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---" for _ in head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def name_limits(found):
    """The largest two, with their times."""
    largest = sorted(found["limits"].items(), key=lambda item: -item[1])[:2]
    return ", ".join(f"{name} {seconds(value)}" for name, value in largest)


def describe(machine, workload, found):
    return (machine, workload, f"{found['ranks']:,}", f"{found['nodes']:,}", amount(found["bytes"]), found["strategy"],
            found["aggregators"] or "-", found["rounds"] or "-", f"{found['messages_of_rank']:,}",
            seconds(found["seconds"]), f"{rate(found):,.0f}", name_limits(found))


def make_plan_table(plans):
    head = ("machine", "workload", "ranks", "nodes", "bytes", "strategy", "aggregators", "rounds",
            "messages of a rank", "time", "GiB/s", "largest limits")
    return make_table(head, [describe(machine, workload, found) for (machine, workload), rows in plans.items()
                             for found in rows])


def make_check_table(checks):
    head = ("workload", "processes", "put GiB/s", "get GiB/s", "largest limits of the put")
    return make_table(head, [(workload, f"{put['ranks']:,}", f"{rate(put):.0f}", f"{rate(get):.0f}", name_limits(put))
                             for workload, rows in checks.items() for put, get in rows])


def make_published_table(published):
    head = ("case", "machine", "ranks", "nodes", "bytes", "stripes", "published GiB/s", "plan GiB/s",
            "1 aggregator a node", "all servers", "files of nodes", "largest limits of the plan")
    rows = []
    for name, (run, *others) in published.items():
        machine, nodes, ranks, stripes, figure, *_ = PUBLISHED[name]
        rates = [f"{rate(found):,.0f}" if rate(found) >= 100 else f"{rate(found):.3g}" for found in (run, *others)]
        rows.append((name, machine, f"{ranks:,}", f"{nodes:,}", amount(run["bytes"]), stripes, figure, *rates,
                     name_limits(run)))
    return make_table(head, rows)


def make_system_table(systems):
    names = ("ranks_per_node", "servers", "stripe", "stripe_count", "server_mbs", "link_mbs", "network_mbs",
             "latency_us", "request_us", "lock_us", "message_us")
    return make_table(("machine", *names), [(machine, *(f"{system[name]:g}" if name != "stripe" else system[name]
                                                        for name in names))
                                            for machine, system in systems.items()])


def update(path, tables):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, table in tables.items():
        mark = re.compile(rf"(<!-- machines: {name} -->\n).*?(<!-- end -->)", re.S)
        if not mark.search(text):
            raise SystemExit(f"{path} has no mark for the table {name}")
        text = mark.sub(lambda found, new=table: found[1] + new + found[2], text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# --- the picture ---

WIDTH, HEIGHT, LEFT, TOP, GAP = 240, 200, 70, 70, 80
LOW, HIGH = 1, 5  # powers of 10 of GiB/s


class Panel:
    """GiB/s against ranks, both logarithmic, of one workload; a dot has the name of the largest limit."""

    def __init__(self, number, workload, plans):
        self.x, self.y, self.workload, self.plans = LEFT + number * (WIDTH + GAP), TOP, workload, plans

    def place(self, ranks, value):
        x = self.x + WIDTH * (math.log10(ranks) - 4) / 2
        return x, self.y + HEIGHT * (1 - (math.log10(max(value, 10 ** LOW)) - LOW) / (HIGH - LOW))

    def draw_axes(self):
        yield (f'<path d="M{self.x} {self.y}V{self.y + HEIGHT}H{self.x + WIDTH}" fill="none" stroke="#444"/>'
               f'<text x="{self.x}" y="{self.y - 10}" font-weight="bold">{html.escape(self.workload)}</text>')
        for power in range(LOW, HIGH + 1):
            y = self.place(10000, 10 ** power)[1]
            yield (f'<path d="M{self.x} {y:.1f}h{WIDTH}" stroke="#ddd"/>'
                   f'<text x="{self.x - 6}" y="{y + 4:.1f}" text-anchor="end">{10 ** power:,}</text>')
        for power in (4, 5, 6):
            x = self.place(10 ** power, 10)[0]
            yield f'<text x="{x:.1f}" y="{self.y + HEIGHT + 18}" text-anchor="middle">{10 ** power:,}</text>'

    def draw_machine(self, machine, peak):
        colour = COLOURS[machine]
        points = [(*self.place(found["ranks"], rate(found)), found["limited_by"]) for found in self.plans[machine]]
        y = self.place(10000, peak)[1]
        yield f'<path d="M{self.x} {y:.1f}h{WIDTH}" stroke="{colour}" stroke-dasharray="2 4"/>'
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for x, y, limit in points:
            yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/><text x="{x:.1f}" y="{y - 7:.1f}" '
                   f'font-size="10" text-anchor="middle" fill="{colour}">{limit}</text>')


def get_peak(system):
    return system["servers"] * system["server_mbs"] * 1e6 / GIB


def draw(path, plans, systems):
    width, height = LEFT + len(WORKLOADS) * (WIDTH + GAP), TOP + HEIGHT + 50
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>']
    x = LEFT
    for machine, colour in COLOURS.items():
        parts.append(f'<path d="M{x} 24h24" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="{x + 30}" y="28">{machine}</text>')
        x += 100
    parts.append(f'<text x="{x}" y="28">planned GiB/s of a put against ranks; dotted: all servers; a dot: its largest '
                 'limit</text>')
    for number, workload in enumerate(WORKLOADS):
        panel = Panel(number, workload, {machine: plans[machine, workload] for machine in MACHINES})
        parts += panel.draw_axes()
        for machine in MACHINES:
            parts += panel.draw_machine(machine, get_peak(systems[machine]))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


# --- the command ---

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ncmpistat", required=True, metavar="PROGRAM")
    parser.add_argument("--update", metavar="FILE.md", help="replace the tables in this document")
    parser.add_argument("--svg", metavar="FILE.svg", help="draw the picture")
    options = parser.parse_args()
    plans, systems, checks, published = {}, {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for machine in MACHINES:
            for name, workload in WORKLOADS.items():
                found = plan(options.ncmpistat, folder, machine, workload)
                plans[machine, name], systems[machine] = found["plans"], found["system"]
        for name, workload in CHECKS.items():
            put = plan(options.ncmpistat, folder, "intrepid", workload)
            get = plan(options.ncmpistat, folder, "intrepid", workload, ["--get"])
            checks[name], systems["intrepid"] = list(zip(put["plans"], get["plans"])), put["system"]
        write_land(os.path.join(folder, "land"), PUBLISHED["E3SM I"][2])
        for name, case in PUBLISHED.items():
            systems.setdefault(case[0], ask(options.ncmpistat, folder, netcdf({"x": 4}, "int", ["v"], "x"), ["v"],
                                            f"--machine={case[0]}", "--ranks=4")["system"])
            published[name] = plan_published(options.ncmpistat, folder, systems, case)
    tables = {"system": make_system_table(systems), "plans": make_plan_table(plans), "check": make_check_table(checks),
              "published": make_published_table(published)}
    if options.update:
        update(options.update, tables)
    else:
        print("\n".join(tables.values()))
    if options.svg:
        draw(options.svg, plans, systems)


if __name__ == "__main__":
    main()
