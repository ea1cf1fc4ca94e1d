"""The documentation site builds without a warning, and every public name, hint, error code and variable of the
environment is in it."""
# needs: python
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", os.getcwd()))
SOURCE = os.path.abspath(os.environ.get("PNC_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                                  "..", "..")))
PAGES = os.path.join(BUILD, "site", "html")
ENVIRONMENT = ("PNETCDF_HINTS", "PNETCDF_HINTS_DISPLAY", "PNETCDF_RELAX_COORD_BOUND", "PNETCDF_SAFE_MODE",
               "PNETCDF_STATS", "PNETCDF_TIMEOUT", "PNETCDF_VERBOSE")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def build():
    """Make the site, or skip the test where a program is missing."""
    version = " ".join(tap.make_variable("PACKAGE_VERSION"))
    script = os.path.join(SOURCE, "docs", "site", "make_site.py")
    done = subprocess.run([sys.executable, script, SOURCE, BUILD, version], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode == 77 or "without Fortran" in done.stderr:
        tap.skip("the documentation site", done.stderr.splitlines()[0])
        tap.finish()
    if not tap.ok(done.returncode == 0, "the site builds without a warning", done.stdout + done.stderr):
        tap.finish()


def all_pages():
    found = {}
    for folder, _, names in os.walk(PAGES):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                found[os.path.relpath(path, PAGES)] = read(path)
    return found


def words(pages, pattern):
    """The names in the text of pages."""
    text = "\n".join(html.unescape(re.sub(r"<[^>]*>", "", page)) for page in pages)
    return set(re.findall(pattern, text))


def names_of_c():
    """The functions that test/abi/prototypes.txt lists."""
    lines = read(os.path.join(SOURCE, "test", "abi", "prototypes.txt")).splitlines()
    types = [part.split("=")[0].strip() for line in lines if line.startswith("T ") for part in line[2:].split(",")]
    found = set()
    for line in lines:
        if line.startswith("    "):
            for name in line.split():
                found |= {name.replace("<T>", suffix) for suffix in types} if "<T>" in name else {name}
    return found


def names_of_fortran():
    declared = os.path.join(BUILD, "include", "pnetcdf_checked.inc")
    f77 = set(re.findall(r"\b(nfmpi_\w+)", read(declared))) - {"nfmpi_unlimited"} if os.path.exists(declared) else set()
    f90 = {line.split()[0] for line in read(os.path.join(SOURCE, "test", "fortran", "f90_names.txt")).splitlines()
           if line.startswith("nf90mpi_")}
    return f77, f90


def check_names(reference):
    found = words(reference, r"\b(?:ncmpi|cdl_hdr|nfmpi|nf90mpi)_\w+")
    of_c, (f77, f90) = names_of_c(), names_of_fortran()
    for label, wanted, least in ("C", of_c, 800), ("Fortran 77", f77, 400), ("Fortran 90", f90, 70):
        if not wanted and label == "Fortran 77":
            tap.skip("names of Fortran 77", "this build has no Fortran")
            continue
        lost = sorted(wanted - found)
        tap.ok(not lost and len(wanted) >= least, f"the {len(wanted)} functions of {label} are in the reference", lost)


def check_others(pages):
    table = read(os.path.join(BUILD, "src", "spec", "hint_table.h"))
    hints = set(re.findall(r'"((?:nc|cb|romio|striping|ind|pnetcdf)_\w+)"', table))
    found = words(pages.values(), r"[\w]+")
    tap.ok(len(hints) > 40 and not hints - found, f"the {len(hints)} hints are in it", sorted(hints - found))
    variables = set()
    for folder, _, names in os.walk(os.path.join(SOURCE, "src")):
        for name in names:
            if name.endswith(".c"):
                variables |= set(re.findall(r'"(PNETCDF_[A-Z_]+)"', read(os.path.join(folder, name))))
    tap.ok(variables >= set(ENVIRONMENT), "the variables of the environment are found in src", sorted(variables))
    lost = sorted(set(ENVIRONMENT) - words([pages["manual/pnetcdf.html"]], r"PNETCDF_\w+"))
    tap.ok(not lost, "each is described", lost)
    header = read(os.path.join(BUILD, "include", "pnetcdf.h"))
    codes = set(re.findall(r"^#define\s+(NC_E\w+)\s+\(?(?:-\d|NC_E)", header, flags=re.M))
    lost = sorted(codes - words([pages["reference/errors.html"]], r"NC_E[A-Z0-9_]+"))
    tap.ok(len(codes) > 100 and not lost, f"the {len(codes)} error codes are in it", lost)


def check_links(pages):
    """Links to files of the site, with their anchors."""
    anchors = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in pages.items()}
    broken, count = [], 0
    files = {os.path.relpath(os.path.join(top, name), PAGES) for top, _, names in os.walk(PAGES) for name in names}
    for path, text in pages.items():
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            target = html.unescape(target)
            if re.match(r"[a-z]+:", target) or target.startswith("//"):
                continue
            count += 1
            file, _, anchor = target.partition("#")
            place = os.path.normpath(os.path.join(os.path.dirname(path), file.split("?")[0])) if file else path
            if place not in files:
                broken.append(f"{path}: {target}")
            elif anchor and place in anchors and anchor not in anchors[place]:
                broken.append(f"{path}: {target}")
    tap.ok(not broken and count > 1000, f"{count} links within the site lead to pages and anchors",
           "\n".join(sorted(set(broken))[:40]))
    outside = sorted({path for path, text in pages.items()
                      if re.search(r'<(?:script|link|img)[^>]*(?:href|src)="(?:https?:)?//', text)})
    tap.ok(not outside, "no page loads anything from another host", outside)


# What a browser computes: the least contrast (WCAG 2) of a text in code with its background, the background of the
# page, and where it begins. With "#click" the switch of the colour scheme is used first.
PROBE = """<script>
function parts(colour) { const n = colour.match(/[\\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; }
function over(top, below) { return [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])); }
function luminance(colour) {
    const [r, g, b] = colour.map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function background(element) {
    const below = element.parentElement ? background(element.parentElement) : [255, 255, 255];
    return over(parts(getComputedStyle(element).backgroundColor), below);
}
function contrast(element) {
    const below = background(element), top = over(parts(getComputedStyle(element).color), below);
    const [low, high] = [luminance(below), luminance(top)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}
window.addEventListener("load", function () {
    if (location.hash == "#click")
        [...document.querySelectorAll(".theme-toggle")].find(button => button.offsetParent !== null)?.click();
    const found = {worst: 100, text: "", texts: 0, left: document.body.getBoundingClientRect().left,
                   page: luminance(background(document.querySelector("article")))};
    for (const block of document.querySelectorAll("pre, code")) {
        const walk = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            if (node.data.trim() === "")
                continue;
            const ratio = contrast(node.parentElement);
            found.texts++;
            if (ratio < found.worst)
                Object.assign(found, {worst: ratio, text: node.parentElement.className + " " + node.data});
        }
    }
    document.body.setAttribute("data-found", JSON.stringify(found));
});
</script>"""


def look(page, prefers_dark, anchor=""):
    """What PROBE finds in a page, with a browser whose user prefers a dark or a light colour scheme."""
    probed = os.path.join(PAGES, os.path.dirname(page), "probed.html")
    with open(probed, "w", encoding="utf-8") as file:
        file.write(read(os.path.join(PAGES, page)).replace("</body>", PROBE + "</body>"))
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                               "--disable-background-networking", f"--user-data-dir={profile}",
                               f"--blink-settings=preferredColorScheme={0 if prefers_dark else 1}", "--dump-dom",
                               f"file://{probed}{anchor}"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
    os.remove(probed)
    found = re.search(r'data-found="([^"]*)"', done.stdout)
    return json.loads(html.unescape(found.group(1))) if found else {"error": done.stderr}


def check_colours():
    for page in "start.html", "reference/ncmpi_put_vara.html", "reliability.html":
        for is_dark, label, click in (False, "light", ""), (True, "dark", ""), (False, "dark", "#click"):
            found = look(page, is_dark, click)
            good = "error" not in found and found["texts"] > 20 and found["worst"] >= 4.5 and found["left"] == 0
            good = good and (found["page"] > 0.8 if label == "light" else found["page"] < 0.1)
            tap.ok(good, f"{page}, {label}{' by the switch' if click else ''}: the page is {label} and has no margin, "
                   "and code contrasts with its background", found)


BUILT = ("build", "_build", "autom4te.cache") # _build: of distcheck, whose pages lack the pictures beside them


def check_sources():
    """Links in the pages of the source tree lead to files there."""
    broken = []
    for path, folders, names in os.walk(SOURCE):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in BUILT]
        for name in names:
            if not name.endswith(".md"):
                continue
            text = re.sub(r"^```.*?^```", "", read(os.path.join(path, name)), flags=re.M | re.S)
            for target in re.findall(r"\]\(([^)\s#]+)", text):
                where = os.path.join(path, target)
                if not re.match(r"[a-z]+:", target) and not os.path.exists(where) and target != "rooms.svg":
                    broken.append(f"{os.path.relpath(os.path.join(path, name), SOURCE)}: {target}")
    tap.ok(not broken, "links between files of the source tree lead to files", "\n".join(broken))


check_sources()
build()
pages = all_pages()
check_names([text for path, text in pages.items() if path.startswith("reference/")])
check_others(pages)
check_links(pages)
escaped = sorted(words(pages.values(), r"\w*\\_\w*"))
tap.ok(not escaped, "no page shows a mark of escape in a name", escaped)
tap.ok(os.path.exists(os.path.join(PAGES, "searchindex.js")), "the site has an index for its search")
lost = [word for word in ("crash", "interrupted program", "repair a file", "NC_EINTERRUPTED")
        if f">{word}</a>" not in pages["genindex.html"]]
tap.ok(not lost, "the index has words that people look for", lost)
readme = read(os.path.join(SOURCE, "README.md")).splitlines()
tap.ok(len(readme) <= 120 and any("./check" in line for line in readme[:20]),
       f"README.md has a first screen and {len(readme)} lines, and the command for the tests among the first")
card = pages["card.html"]
tap.ok(not re.search(r"[<&]T>", card) and len(words([card], r"\b(?:ncmpi|cdl_hdr)_\w+")) > 100,
       "the quick card has all functions")
if shutil.which("chromium"):
    check_colours()
    size = os.path.getsize(os.path.join(PAGES, "card.pdf")) if os.path.exists(os.path.join(PAGES, "card.pdf")) else 0
    tap.ok(size > 10000, "the quick card is there as PDF", size)
else:
    tap.skip("the quick card as PDF, colours of pages", "chromium is not installed")
tap.finish()
