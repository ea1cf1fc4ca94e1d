"""What src/spec says about the interface, for the pages of the site: reads the lines that man/functions.m4 and
docs/site/reference.m4 make of the rows, and the procedures of the Fortran 90 module."""
import os
import re

# Procedures of the module whose names are not those of C, and functions of C that one procedure stands for.
F90_NAMES = {"inquire": ["inq"], "inquire_dimension": ["inq_dim"], "inquire_variable": ["inq_var"],
             "inquire_attribute": ["inq_att"], "issyserr": ["strerror"], "enddef": ["enddef", "_enddef"],
             "put_att": ["put_att", "put_att_text"], "get_att": ["get_att", "get_att_text"]}
SHAPES = ("var", "var1", "vara", "vars", "varm")


class Page:
    """A page of the reference: a function, or the functions of a family that differ in the type of the values."""

    def __init__(self, name, brief, section):
        self.name, self.brief, self.section = name, brief, section
        self.words = ""
        self.prototypes = []            # of C, in the order of the header
        self.f77, self.f90 = [], []     # (name, arguments)

    def finish(self):
        words, _, errors = self.words.partition("Errors:")
        self.text = " ".join(words.split())
        self.text = self.text[:1].upper() + self.text[1:]
        self.codes = re.findall(r"(NC_E[A-Z0-9_]+)(?: \(([^)]*)\))?", errors)
        rest = re.sub(r"NC_E[A-Z0-9_]+( \([^)]*\))?", "", errors)
        self.remark = " ".join(rest.split()).strip(" ,;.:")
        if not self.brief:
            self.brief = re.split(r"\. |\.$|[:;(]", self.text)[0].strip()
            if len(self.brief) > 80:
                self.brief = self.brief.split(",")[0]
        self.brief = self.brief[:1].upper() + self.brief[1:]

    @property
    def names(self):
        return [name_of(prototype) for prototype in self.prototypes]

    @property
    def mode(self):
        """collective, independent, local; both: the functions that end in _all are collective."""
        if "Functions ending in _all" in self.text:
            return "both"
        for word, pattern in (("collective", "Collective"), ("one rank", "Call it on one rank")):
            if re.search(pattern, self.text):
                return word
        return "independent" if self.name == "ncmpi_wait" else "local"


class Rows:
    """sections: {title: [Page]}. codes, constants: rows as lists. types: [(suffix, type of C)]. hints: names."""

    def __init__(self):
        self.sections, self.pages, self.home = {}, {}, {}
        self.arguments, self.codes, self.aliases, self.constants, self.types, self.hints = {}, [], [], [], [], []

    def all_names(self):
        """{public name of any language: its page}."""
        found = dict(self.home)
        for page in self.pages.values():
            found.update({name: page for name, _ in page.f77 + page.f90})
        return found


def name_of(prototype):
    return re.search(r"(\w+)\(", prototype).group(1)


def arguments_of(prototype):
    inside = prototype[prototype.index("(") + 1:-1]
    return [] if inside == "void" else inside.split(", ")


def argument_name(argument):
    return re.search(r"(\w+)(\[\])?$", argument).group(1)


def read_functions(rows, path):
    section = page = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.rstrip("\n").partition(" ")
            key, _, value = rest.partition("|")
            if word == "@section":
                section = rest.split(":")[0].split(",")[0]
                rows.sections[section] = []
            elif word == "@page":
                page = Page(key, value, section)
                rows.sections[section].append(page)
                rows.pages[key] = page
            elif word == "@member":
                rows.pages[key].prototypes.append(value)
                rows.home[name_of(value)] = rows.pages[key]
            elif word == "@argument":
                rows.arguments[key] = value
            elif word == "@type":
                rows.types.append((key, value))
            elif page is not None and not word.startswith("@"):
                page.words += line
    for page in rows.pages.values():
        page.finish()


def read_others(rows, path):
    lists = {"@code": rows.codes, "@alias": rows.aliases, "@constant": rows.constants}
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.rstrip("\n").partition(" ")
            fields = rest.split("|")
            if word == "@f77":
                rows.home[fields[0]].f77.append((fields[1], fields[2]))
            elif word == "@hint":
                rows.hints.append(rest)
            elif word in lists:
                lists[word].append(fields)


def pages_of_f90(rows, name):
    """The pages of the functions of C that nf90mpi_<name> stands for."""
    match = re.fullmatch(r"([ib]?(?:put|get))_var(_all)?", name)
    if match:
        return [rows.pages[f"ncmpi_{match.group(1)}_{shape}"] for shape in SHAPES]
    return [rows.home["ncmpi_" + other] for other in F90_NAMES.get(name, [name])]


def read_f90(rows, path):
    """test/fortran/f90_names.txt: a test holds it against the module."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if not words or not words[0].startswith("nf90mpi_"):
                continue
            arguments = [word.split(":")[0] if not word.endswith("?") else f"[{word.split(':')[0]}]"
                         for word in words[1:]]
            for page in pages_of_f90(rows, words[0][len("nf90mpi_"):]):
                page.f90.append((words[0], ", ".join(arguments)))


def read(source, build):
    rows = Rows()
    read_functions(rows, os.path.join(build, "man", "functions.lines"))
    read_others(rows, os.path.join(build, "docs", "site", "reference.lines"))
    read_f90(rows, os.path.join(source, "test", "fortran", "f90_names.txt"))
    rows.pages["ncmpi_strerror"].f77.append(("nfmpi_issyserr", "err"))
    return rows
