"""Tables in Markdown, and plots in SVG, of the runs of run.py."""
import collections
import html
import re

import examine


# A run, and summaries of its puts and gets.
Row = collections.namedtuple("Row", "run put get")


# --- tables ---

def counted(row, messages):
    """Those of Open MPI are not."""
    return messages if row.run.has_messages else "-"


def kib(value):
    return f"{value / 1024:.0f}"


COLUMNS = [
    ("workload", lambda r: r.run.workload),
    ("nodes", lambda r: r.run.nodes),
    ("library", lambda r: r.run.library),
    ("put s", lambda r: f"{r.put.seconds:.3f}"),
    ("MB/s", lambda r: f"{r.put.rate:.0f}"),
    ("writes", lambda r: r.put.accesses),
    ("KiB", lambda r: kib(r.put.average)),
    ("reads in puts", lambda r: r.put.sieved),
    ("rounds", lambda r: r.put.rounds),
    ("messages", lambda r: counted(r, r.put.messages)),
    ("of one rank", lambda r: counted(r, r.put.busiest)),
    ("memory MiB", lambda r: f"{r.put.peak / 1024:.1f}"),
    ("lock moves", lambda r: r.put.lock_moves),
    ("two nodes", lambda r: r.put.by_two_nodes),
    ("twice", lambda r: r.put.twice),
    ("get s", lambda r: f"{r.get.seconds:.3f}"),
    ("MB/s", lambda r: f"{r.get.rate:.0f}"),
    ("reads", lambda r: r.get.accesses),
    ("KiB", lambda r: kib(r.get.average)),
    ("messages", lambda r: counted(r, r.get.messages)),
    ("of one rank", lambda r: counted(r, r.get.busiest)),
]


OPENING = ["define", "prepare", "close", "open"]


def phase_columns(name):
    """The first phase of this name."""
    return [(f"{name}: calls", lambda r: max(sum(calls.values()) for calls in r.run.named(name)[0].collectives)),
            ("messages of one rank", lambda r: max(r.run.named(name)[0].messages)),
            ("accesses", lambda r: len(r.run.named(name)[0].accesses))]


def add_costs(row, name):
    """A cost of all puts, by the cost model."""
    return sum(getattr(call, name) for call in examine.describe_calls(row.run, "put"))


LIBRARY = [("nodes", lambda r: r.run.nodes), ("ranks", lambda r: r.run.ranks), ("library", lambda r: r.run.library)]
OPENING_COLUMNS = LIBRARY + [column for name in OPENING for column in phase_columns(name)]
COST_COLUMNS = LIBRARY + [
    ("rounds", lambda r: r.put.rounds),
    ("computed", lambda r: add_costs(r, "rounds")),
    ("writes", lambda r: r.put.accesses),
    ("computed", lambda r: add_costs(r, "accesses")),
    ("messages of one rank", lambda r: r.put.busiest),
    ("at most", lambda r: add_costs(r, "messages")),
    ("synchronisations", lambda r: r.put.collectives),
    ("at most", lambda r: add_costs(r, "synchronisations")),
]


def make_table(rows, columns):
    """Lines in Markdown, in columns that are aligned as plain text."""
    cells = [[name for name, _ in columns], *([str(value(row)) for _, value in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    texts = [name in ("workload", "library") for name, _ in columns]
    lines = ["| " + " | ".join(f"{cell:<{width}}" if text else f"{cell:>{width}}"
                               for cell, width, text in zip(line, widths, texts)) + " |" for line in cells]
    rule = "|" + "|".join("-" * (width + 2) if text else "-" * (width + 1) + ":"
                          for width, text in zip(widths, texts)) + "|"
    return [lines[0], rule, *lines[1:]]


# --- documents ---

MARK = re.compile(r"(<!-- cluster: (\w+) (\S+) -->\n).*?(<!-- end -->)", re.S)


def of_workload(row, value):
    return row.run.workload == value


def of_nodes(row, value):
    return str(row.run.nodes) == value


def columns_without(name):
    return [column for column in COLUMNS if column[0] != name]


# By the first word of a mark: which runs the second word selects, and the columns of their table.
TABLES = {
    "workload": (of_workload, columns_without("workload")),
    "nodes": (of_nodes, columns_without("nodes")),
    "costs": (of_workload, COST_COLUMNS),
    "opening": (of_workload, OPENING_COLUMNS),
}


def update_document(path, rows, has_all_workloads):
    """Replace the tables between marks for which there are runs: those of a number of nodes if the runs are of all
    workloads, otherwise those of a workload."""
    def replace(found):
        is_chosen, columns = TABLES[found[2]]
        chosen = [row for row in rows if is_chosen(row, found[3]) and (is_chosen is of_nodes) == has_all_workloads]
        if not chosen:
            return found[0]
        return found[1] + "\n".join(make_table(chosen, columns)) + "\n" + found[4]

    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = MARK.sub(replace, text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# --- plots ---

WIDTH, HEIGHT = 220, 150         # of a panel's axes
LEFT, TOP, GAP_X, GAP_Y = 56, 64, 60, 64
PANELS = 4                       # in a line
COLOURS = ["#0b6ea8", "#c8501e", "#3d8b37", "#7b4fa3", "#8a6d1a", "#b3316e"]


def nice_limit(value):
    """The least of 1, 2, 5, 10, 20 ... that is not below the value."""
    limit = 1
    while limit < value:
        limit *= 2.5 if str(limit).startswith("2") else 2
    return limit


class Panel:
    """The axes of one workload: nodes to the right on a logarithmic scale, 10^6 bytes per second upwards."""

    def __init__(self, number, rows):
        self.rows = rows
        self.workload = rows[0].run.workload
        self.x = LEFT + number % PANELS * (WIDTH + GAP_X)
        self.y = TOP + number // PANELS * (HEIGHT + GAP_Y)
        self.nodes = sorted({row.run.nodes for row in rows})
        self.limit = nice_limit(max(max(row.put.rate, row.get.rate) for row in rows))

    def point(self, nodes, rate):
        step = self.nodes.index(nodes) / max(1, len(self.nodes) - 1)
        return f"{self.x + step * WIDTH:.1f},{self.y + HEIGHT * (1 - rate / self.limit):.1f}"

    def draw_axes(self):
        yield (f'<path d="M{self.x} {self.y}V{self.y + HEIGHT}H{self.x + WIDTH}" fill="none" stroke="#444"/>'
               f'<text x="{self.x}" y="{self.y - 8}" font-weight="bold">{html.escape(self.workload)}</text>')
        for rate in (0, self.limit / 2, self.limit):
            y = self.y + HEIGHT * (1 - rate / self.limit)
            yield (f'<path d="M{self.x} {y:.1f}h{WIDTH}" stroke="#ddd"/>'
                   f'<text x="{self.x - 6}" y="{y + 4:.1f}" text-anchor="end">{rate:g}</text>')
        for nodes in self.nodes:
            x = self.point(nodes, 0).split(",", maxsplit=1)[0]
            yield f'<text x="{x}" y="{self.y + HEIGHT + 16}" text-anchor="middle">{nodes}</text>'

    def draw_line(self, library, colour, of_puts):
        rows = sorted((row for row in self.rows if row.run.library == library), key=lambda row: row.run.nodes)
        points = [self.point(row.run.nodes, (row.put if of_puts else row.get).rate) for row in rows]
        dashes = "" if of_puts else ' stroke-dasharray="5 4"'
        yield f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'
        for at in points:
            x, y = at.split(",")
            yield f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>'


def draw_legend(colours):
    x = LEFT
    for library, colour in colours.items():
        yield (f'<path d="M{x} 24h24" stroke="{colour}" stroke-width="2"/>'
               f'<text x="{x + 30}" y="28">{html.escape(library)}</text>')
        x += 60 + 7 * len(library)
    yield f'<text x="{x}" y="28">puts: solid, gets: dashed; 10^6 bytes per simulated second against nodes</text>'


def draw_plot(path, rows):
    by_workload = collections.defaultdict(list)
    for row in rows:
        by_workload[row.run.workload].append(row)
    colours = dict(zip(dict.fromkeys(row.run.library for row in rows), COLOURS * len(rows)))
    lines = -(-len(by_workload) // PANELS)
    width, height = LEFT + PANELS * (WIDTH + GAP_X), TOP + lines * (HEIGHT + GAP_Y)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>', *draw_legend(colours)]
    for number, chosen in enumerate(by_workload.values()):
        panel = Panel(number, chosen)
        parts += panel.draw_axes()
        for library, colour in colours.items():
            for of_puts in (True, False):
                parts += panel.draw_line(library, colour, of_puts)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))
