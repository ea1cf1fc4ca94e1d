"""benchmarks/ratios.py: the table and the picture of programs whose output is known. Ratios are computed by hand."""
# needs: python
import os
import re
import subprocess
import sys
import xml.dom.minidom

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.append(os.path.join(TOP, "test"))
from tap import finish, ok, scratch  # noqa: E402

# Case, wall ms, CPU ms.
OWN = [("open", 8, 4), ("limit of open", 1, 2), ("sync", 3, 2), ("put <all>", 1, 10), ("limit of put <all>", 2, 2)]
PEER = [("open", 2, 8), ("limit of open", 5, 5), ("sync", 3, 1), ("put <all>", 4, 20)]
# As bench_io --tabs prints them: the limit takes 2 ms of CPU time.
TABS = ["columns\tput\tlibrary\tfused\t2.000\t4.000\t1\t0.500\t0.250\t0.6 below",
        "columns\tput\tMPI-IO\tfused\t2.000\t1.000\t1\t2.000\t2.000\t"]
# Words of a row after its case: ranks, ms, ratio to the limit, goal, ratio to the peer; what it says.
EXPECTED = {
    "1 rank": {"open": "1 4.000 0.50 0.5 2.00", "sync": "1 2.000 0.50 behind the peer",
               "put <all>": "1 10.000 0.20 0.5 2.00 below its goal"},
    "2 ranks": {"open": "2 8.000 0.12 0.5 0.25 below its goal, behind the peer", "sync": "2 3.000 1.00",
                "put <all>": "2 1.000 2.00 0.5 4.00"},
    "bench_io on 1 rank": {"columns, put": "1 4.000 0.50 0.6 below its goal"},
    "bench_io on 2 ranks": {"columns, put": "2 4.000 0.25 0.6 below its goal"},
}


def write(name, lines):
    path = scratch(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))
    return f"cat {path}"


def rows(ranks, *commands):
    """What the table says of each case, and the picture."""
    svg = scratch("ratios.svg")
    done = subprocess.run([sys.executable, os.path.join(TOP, "benchmarks", "ratios.py"), "--svg", svg, "--run", ranks,
                           *commands], capture_output=True, text=True, check=False)
    found = {}
    for line in done.stdout.splitlines()[1:]:
        match = re.match(r"(\S.*?) {2,}(\d+ +\d+\.\d.*)", line)
        if match:
            found[match.group(1)] = " ".join(match.group(2).split())
    return done, found, svg


def main():
    own = write("own.txt", ["\t".join(map(str, line)) for line in OWN])
    peer = write("peer.txt", ["\t".join(map(str, line)) for line in PEER])
    tabs = write("tabs.txt", TABS)
    commands = {"1 rank": ("1", own, peer), "2 ranks": ("2", own, peer), "bench_io on 1 rank": ("1", tabs),
                "bench_io on 2 ranks": ("2", tabs)}
    for name, expected in EXPECTED.items():
        done, found, svg = rows(*commands[name])
        ok(found == expected, f"{name}: ratios and what falls short", f"{done.stdout}{done.stderr}\n{found}")
        document = xml.dom.minidom.parse(svg)
        titles = [element.firstChild.data for element in document.getElementsByTagName("title")]
        numbers = sum(len(re.findall(r"\d\.\d\d(?!\d)", row)) for row in expected.values())
        ok(len(titles) == numbers and all(title.split(":")[0] in expected for title in titles),
           f"{name}: the picture has a point for each ratio", titles)
    done, _, _ = rows("1", "false")
    ok(done.returncode != 0 and "false" in done.stderr, "a program that fails is reported", done.stderr)
    finish()


main()
