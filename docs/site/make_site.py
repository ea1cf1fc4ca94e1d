"""Makes the documentation site: make_site.py SOURCE BUILD VERSION. The result is BUILD/site/html.

The sources of the site are put together in BUILD/site/source: the pages of docs/ and docs/site, the manual pages, the
examples, and the reference (reference.py). A link from one page to another is written as it is valid in the source
tree; a link that leads nowhere is an error. Names of functions in code get links. Exit status 77: a program is
missing, which is named.
"""
import glob
import os
import posixpath
import re
import shutil
import subprocess
import sys

import card
import reference
import rooms
import rows as spec

PROGRAMS = {"sphinx-build": "python3-sphinx", "mandoc": "mandoc", "dot": "graphviz"}
MODULES = {"myst_parser": "python3-myst-parser", "furo": "furo"}
TOOLS = ("ncmpidump", "ncmpigen", "ncmpidiff", "cdfdiff", "ncmpicopy", "ncmpilog", "ncvalidator",
         "ncoffsets", "ncoffsets-parquet", "ncmpistat", "pnetcdf-bench", "pnetcdf-config", "pnetcdf-run",
         "pnetcdf_version")
MANUALS = ("pnetcdf.3", "pnetcdf_f77.3", "pnetcdf_f90.3", "pnetcdf_hints.7")
LANGUAGES = {".c": "c", ".cpp": "cpp", ".h": "c", ".f": "fortranfixed", ".f90": "fortran"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def missing():
    """Debian packages that are missing."""
    lost = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if "python3-sphinx" not in lost:
        with open(shutil.which("sphinx-build"), encoding="utf-8") as script:
            python = script.readline()[2:].split()
        lost += [package for module, package in MODULES.items()
                 if subprocess.run([*python, "-c", "import " + module], capture_output=True, check=False).returncode]
    return lost


def example_files(source):
    """{path in the source tree: (page of the site, title)} of the examples."""
    found = {}
    for path in sorted(glob.glob(os.path.join(source, "examples", "**", "*.*"), recursive=True)):
        name = os.path.relpath(path, source)
        stem, ending = os.path.splitext(name)
        if ending not in LANGUAGES:
            continue
        folder, language = os.path.dirname(name), name.split("/")[1]
        whole = folder.count("/") > 1                           # a program of several files is one page
        title = folder if whole else name
        page = (folder if whole else stem).replace("examples/", "").lower().replace("/", "_") + ".md"
        found[name] = (f"examples/{page}", title.replace("examples/", "").replace("/", ": ", 1), language)
    return found


class Site:
    """pages: {path in the site: Markdown}. places: {path in the source tree: path in the site}."""

    def __init__(self, source, build):
        self.source, self.build = source, build
        self.pages, self.files, self.errors = {}, {}, []
        self.rows = spec.read(source, build)
        self.places = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "NEWS.md": "news.md",
                       "SECURITY.md": "security.md", "CODE_OF_CONDUCT.md": "conduct.md", "LICENSE": "LICENSE",
                       "CITATION.cff": "CITATION.cff", "benchmarks/README.md": "benchmarks.md",
                       "python/README.md": "xarray.md"}
        for language in ("C", "F77", "F90"):
            self.places[f"examples/{language}/README.md"] = f"examples/{language.lower()}.md"
        for path in glob.glob(os.path.join(source, "docs", "*.*")) + glob.glob(os.path.join(source, "docs/site/*.md")):
            self.places[os.path.relpath(path, source)] = os.path.basename(path)
        self.places["docs/site/rooms.svg"] = "rooms.svg"
        self.examples = example_files(source)
        self.places.update({path: page for path, (page, _, _) in self.examples.items()})
        self.known = self.names()

    def names(self):
        """{name in code: page of the site} that gets a link."""
        found = {name: f"reference/{page.name}.md" for name, page in self.rows.all_names().items()}
        found.update({name: "manual/pnetcdf_hints.md" for name in self.rows.hints})
        for name in re.findall(r"^\.It Ev (\w+)", read(os.path.join(self.source, "man", "pnetcdf.3")), re.M):
            found[name] = "manual/pnetcdf.md"
        found.update({name: f"tools/{name}.md" for name in TOOLS})
        found.update({row[0]: "reference/errors.md" for row in self.rows.codes})
        return found

    def add(self, path, text, origin=None):
        """A page; origin: its path in the source tree, with the links of that place."""
        folder = os.path.dirname(path)
        text = re.sub(r"<!-- code: (\S+) -->", self.code, text)
        text = re.sub(r"<!-- index: (.*?) -->", r"```{index} \1\n```", text)
        if origin:
            text = self.translate_links(text, os.path.dirname(origin), folder, origin)
        self.pages[path] = self.link_names(text, path)

    def code(self, found):
        """A program that is written in another file: the first one of a page, or the whole file."""
        path = found.group(1)
        text, language = read(os.path.join(self.source, path)), LANGUAGES.get(os.path.splitext(path)[1])
        if path.endswith(".md"):
            language, text = "c", re.search(r"^```c\n(.*?)^```", text, re.M | re.S).group(1)
        elif path.endswith(".3"):
            language = "fortran"
            text = re.search(r"^program .*?^end program\n", text, re.M | re.S).group().replace("\\e", "\\")
        return f"````{language}\n{text}````"

    def translate_links(self, text, from_folder, to_folder, origin):
        def translate(found):
            target, _, anchor = found.group(2).partition("#")
            if not target or re.match(r"[a-z]+:", target):
                return found.group()
            path = posixpath.normpath(posixpath.join(from_folder, target))
            place = self.places.get(path, target if target.endswith(".html") else None)
            if place is None:
                self.errors.append(f"{origin}: link to {target} leads nowhere")
                return found.group()
            place = posixpath.relpath(place, to_folder or ".")
            return f"{found.group(1)}({place}{'#' + anchor if anchor else ''})"
        return re.sub(r"(\])\(([^)\s]+)\)", translate, text)

    def link_names(self, text, path):
        def link(found):
            page = self.known.get(found.group(1))
            is_code = page == "reference/errors.md" and path.startswith("reference/")
            if page is None or page == path or is_code:
                return found.group()
            return f"[{found.group(0)}]({posixpath.relpath(page, os.path.dirname(path) or '.')})"
        lines, fence = [], None
        for line in text.split("\n"):
            mark = re.match(r"\s*(`{3,})", line)
            if mark and fence is None:
                fence = mark.group(1)
            elif mark and line.strip() == fence:
                fence = None
            elif fence is None and not line.startswith(("#", "    ", "\t", ":")):
                line = re.sub(r"(?<![\[`])`([\w-]+)`(?![\]`])", link, line)
            lines.append(line)
        return "\n".join(lines)

    def add_documents(self):
        for origin, place in self.places.items():
            path = os.path.join(self.source, origin)
            if not os.path.exists(path) or origin in self.examples or origin == "README.md":
                continue
            if place.endswith(".md"):
                self.add(place, read(path), origin)
            else:
                self.files[place] = path

    def add_examples(self):
        for language in ("C", "F77", "F90"):
            origin = f"examples/{language}/README.md"
            page = self.places[origin]
            text = re.sub(r"^\| (.*)`(\w+\.\w+|\w+/)`", self.link_example(language), self.pages[page], flags=re.M)
            members = {other[len("examples/"):-3] for other, _, kind in self.examples.values() if kind == language}
            self.pages[page] = text + toctree(sorted(members))
        by_page = {}
        for path, (page, title, _) in self.examples.items():
            by_page.setdefault(page, []).append((path, title))
        for page, members in by_page.items():
            parts = [f"# {members[0][1]}\n"]
            for path, _ in members:
                parts += [f"## {os.path.basename(path)}\n"] if len(members) > 1 else []
                parts.append(f"````{LANGUAGES[os.path.splitext(path)[1]]}\n"
                             f"{read(os.path.join(self.source, path))}````\n")
            self.pages[page] = "\n".join(parts)

    def link_example(self, language):
        def link(found):
            name = found.group(2)
            path = f"examples/{language}/{name}"
            page = next((page for other, (page, _, _) in self.examples.items() if other.startswith(path)), None)
            return f"| {found.group(1)}[`{name}`]({page[len('examples/'):]})" if page else found.group()
        return link

    def add_manuals(self):
        for folder, names in ("tools", [name + ".1" for name in TOOLS]), ("manual", MANUALS):
            for name in names:
                paths = [os.path.join(top, "man", name) for top in (self.source, self.build)]
                path = next((path for path in paths if os.path.exists(path)), None)
                if path is None:
                    self.errors.append(f"the build has no manual page {name} (is it without Fortran?)")
                    continue
                self.add(f"{folder}/{name[:-2]}.md", manual(path, name[:-2]))

    def add_reference(self):
        programs = {page: (title, "") for page, title, _ in self.examples.values()}
        for path, (page, title, _) in self.examples.items():
            programs[page] = (title, programs[page][1] + read(os.path.join(self.source, path)))
        for path, text in reference.pages(self.rows, self.build, programs).items():
            self.add(path, text)


def toctree(members):
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(members) + "\n```\n"


def lower_heading(found):
    """A heading of a manual page one level lower, and in small letters unless it is a name."""
    marks, words = found.group().split(" ", 1)
    is_word = words.isupper() and words != "JSON" and "_" not in words
    return f"#{marks} {words.capitalize() if is_word else words}"


def without_marks(line):
    """A line of a table without marks for bold words and code, in the same columns."""
    text = line.group().replace("\\_", "_")
    return re.sub(r"\*\*([^*]+)\*\*|`([^`]+)`",
                  lambda word: (word.group(1) or word.group(2)).ljust(len(word.group())), text)


def manual(path, name):
    """A manual page as Markdown, with a title in place of header and footer."""
    done = subprocess.run(["mandoc", "-T", "markdown", path], capture_output=True, text=True, check=True)
    lines = done.stdout.strip().split("\n")[1:-1]
    text = re.sub(r"^#+ .+$", lower_heading, "\n".join(lines), flags=re.M)
    # mandoc escapes names in code as well, and marks words in tables, which it indents as it does code
    text = re.sub(r"`[^`\n]*`", lambda code: code.group().replace("\\_", "_"), text)
    text = re.sub(r"^\t.*$", without_marks, text, flags=re.M)
    return f"# {name}\n\n{text.strip()}\n"


def write(path, text):
    """Unless the file has this text already, so that Sphinx reads changed pages only."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path) or read(path) != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def stage(site, folder):
    """Write the pages, and delete those of an earlier run."""
    for path, text in site.pages.items():
        write(os.path.join(folder, path), text)
    for place, path in site.files.items():
        shutil.copyfile(path, os.path.join(folder, place))
    for name in "_static/site.css", "_static/site.js", "conf.py":
        write(os.path.join(folder, name), read(os.path.join(site.source, "docs", "site", name)))
    for path in glob.glob(os.path.join(folder, "**", "*.md"), recursive=True):
        if os.path.relpath(path, folder) not in site.pages:
            os.remove(path)


def make_pictures(site, folder, version):
    extra = os.path.join(folder, "_extra")
    write(os.path.join(extra, "card.html"), card.text(site.rows, version))
    graph = rooms.dot(os.path.join(site.source, "test", "abi", "layers.py"))
    done = subprocess.run(["dot", "-Tsvg"], input=graph, capture_output=True, text=True, check=True)
    write(os.path.join(folder, "rooms.svg"), done.stdout)
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
    pdf = os.path.join(extra, "card.pdf")
    if browser and (not os.path.exists(pdf) or os.path.getmtime(pdf) < os.path.getmtime(extra + "/card.html")):
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
                        f"--print-to-pdf={pdf}", extra + "/card.html"], capture_output=True, check=False, timeout=60)


def main(source, build, version):
    lost = missing()
    if lost:
        print(f"the site needs Debian packages that are missing: apt install {' '.join(lost)}", file=sys.stderr)
        return 77
    site = Site(source, build)
    site.add_documents()
    site.add_examples()
    site.add_manuals()
    site.add_reference()
    folder = os.path.join(build, "site", "source")
    os.makedirs(folder, exist_ok=True)
    stage(site, folder)
    make_pictures(site, folder, version)
    for error in site.errors:
        print(error, file=sys.stderr)
    done = subprocess.run(["sphinx-build", "-q", "-W", "--keep-going", "-j", "auto", "-b", "html", "-d",
                           os.path.join(build, "site", "doctrees"), folder, os.path.join(build, "site", "html")],
                          env={**os.environ, "PNC_VERSION": version}, check=False)
    return 1 if site.errors or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
