"""The pages of the reference: one for each function or family, in C, Fortran 77 and Fortran 90."""
import os
import re

import rows as spec

MARKS = {"collective": "collective", "both": "collective with `_all`, independent without", "local": "local",
         "one rank": "call it on one rank", "independent": "independent"}
MODES = {"collective": "all", "both": "`_all`", "local": "", "one rank": "one", "independent": ""}
FILES = {"Files": "files", "Definitions": "definitions", "Storage": "storage", "Attributes": "attributes",
         "Inquiry": "inquiry", "Nonblocking requests": "nonblocking", "Headers in CDL": "cdl", "Data": "data",
         "Values that are strings": "strings"}


def plain(text):
    """Text of the rows as Markdown: names of constants and suffixes as code."""
    text = re.sub(r"[*<>|\[\]]", lambda found: "\\" + found.group(), text)
    text = re.sub(r"(?<![\w`])(NC_[A-Z0-9_]+|MPI_[A-Za-z_]+|PNETCDF_\w+|_all|_FillValue)\b", r"`\1`", text)
    return re.sub(r"(?<![\w`\"])((?:ncmpi|nfmpi|cdl_hdr)_\w*[a-z]|nc_[a-z_]+[a-z])\b", r"`\1`", text)


def without_type(prototype):
    return re.sub(r"_double(?=_all\(|\()", "_<T>", prototype).replace("double ", "T ")


def synopsis(page):
    """The prototypes in C: of those that differ in the type only, one."""
    if len(page.prototypes) <= 2:
        return page.prototypes
    shown = [line for line in page.prototypes if re.search(r"_double(_all)?\(", line)]
    flexible = [line for line in page.prototypes if spec.name_of(line) in (page.name, page.name + "_all")]
    text = [line for line in page.prototypes if line.startswith(f"int {page.name}(") and "_att_" in page.name]
    return text + [without_type(line) for line in shown] + [line for line in flexible if line not in text]


def f77_synopsis(page):
    if len(page.f77) <= 2:
        return [f"{name}({arguments})" for name, arguments in page.f77]
    typed = [(name, arguments) for name, arguments in page.f77 if re.search(r"_double(_all)?$", name)]
    typeless = [(name, arguments) for name, arguments in page.f77 if re.search(r"_var[1asmn]?(_all)?$", name)]
    text = [row for row in page.f77 if row[0].endswith("_att_text")]
    typed = [(re.sub(r"_double", "_<type>", name), arguments) for name, arguments in typed]
    return [f"{name}({arguments})" for name, arguments in text + typed + typeless]


def wrapped(line, width=76):
    """A prototype in lines of at most so many columns where that is possible."""
    if len(line) <= width:
        return line
    head, inside = line.split("(", 1)
    lines, indent = [head + "("], "    "
    for part in inside.split(", "):
        if len(lines[-1]) + len(part) + 2 > width:
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += part + ", "
    return "\n".join(lines)[:-2]


def block(language, lines, end=""):
    return "```" + language + "\n" + "\n".join(wrapped(line) + end for line in lines) + "\n```\n"


def faces(page):
    parts = ["::::{container} faces", ":::{container} face", "C", block("c", synopsis(page), ";"), ":::"]
    for title, lines in (("Fortran 77", f77_synopsis(page)),
                         ("Fortran 90", [f"{name}({arguments})" for name, arguments in page.f90])):
        parts += [":::{container} face", title, block("text", lines) if lines else "Not in this language.\n", ":::"]
    return "\n".join([*parts, "::::\n"])


def arguments(page, rows):
    lines, seen = [], set()
    for prototype in page.prototypes:
        for argument in spec.arguments_of(prototype):
            name = spec.argument_name(argument)
            if name not in seen:
                seen.add(name)
                meaning = rows.arguments.get(argument.removesuffix("[]"), rows.arguments.get(name, ""))
                lines.append(f"| `{name}` | {plain(meaning)} |")
    return "## Arguments\n\n| | |\n|---|---|\n" + "\n".join(lines) + "\n" if lines else ""


def errors(page, rows):
    if page.prototypes[0].startswith("const char"):
        return "## Result\n\nA string that is valid until the program ends.\n"
    meaning = {name: when for name, _, _, when in rows.codes}
    lines = [f"| `{code}` | {plain(meaning[code])}{' (' + plain(' '.join(remark.split())) + ')' if remark else ''} |"
             for code, remark in page.codes]
    text = "## Errors\n\n"
    if page.remark == "none":
        return text + "None.\n"
    text += "| | |\n|---|---|\n" + "\n".join(lines) + "\n\n" if lines else ""
    text += plain(page.remark[:1].upper() + page.remark[1:]) + ".\n\n" if page.remark else ""
    common = "A function that reads or writes the file may also return `NC_EREAD`, `NC_EWRITE`, `NC_ENO_SPACE`, " \
             "`NC_EQUOTA` or `NC_ENOMEM`."
    return text + ("Any function with an `ncid` may return `NC_EBADID`. " if "int ncid" in page.prototypes[0] else "") \
        + common + " [All error codes](errors.md).\n"


def example(page, build, programs):
    """The example of the manual page, and the programs of examples/ that call a function of the page."""
    with open(os.path.join(build, "man", "man3", page.name + ".3"), encoding="utf-8") as file:
        found = re.search(r"^\.Sh EXAMPLES\n\.Bd [^\n]*\n(.*?)^\.Ed", file.read(), re.M | re.S)
    text = "## Example\n\n```c\n" + found.group(1).replace("\\e", "\\") + "```\n"
    names = re.compile("|".join(rf"\b{name}\b" for name in page.names + [row[0] for row in page.f77 + page.f90]))
    calling = [f"[{title}](../{path})" for path, (title, code) in programs.items() if names.search(code)]
    return text + (f"\nPrograms that call it: {', '.join(calling)}.\n" if calling else "")


def all_names(page, rows):
    """The names of a family, by the type in memory."""
    if len(page.prototypes) <= 2:
        return ""
    known = set(page.names) | {name for name, _ in page.f77}
    ends_of_modes = ("", "_all") if any("_all" in name for name in known) else ("",)
    suffixes = [suffix for suffix, _ in rows.types] + ["ubyte", ""]
    in_fortran = {"schar": "int1", "short": "int2", "longlong": "int8", "float": "real"}
    stem = re.sub(r"_text$", "", page.name)
    lines = []
    for suffix in suffixes:
        ends = "_" + suffix if suffix else ""
        fortran = stem.replace("ncmpi", "nfmpi") + ("_" + in_fortran.get(suffix, suffix) if suffix else "")
        found = [name + mode for name in (stem + ends, fortran) for mode in ends_of_modes]
        if known & set(found):
            memory = dict(rows.types).get(suffix, {"ubyte": "unsigned char"}.get(suffix, "an MPI datatype"))
            cells = [f"`{name}`" if name in known else "" for name in found]
            lines.append(f"| {memory} | " + " | ".join(cells) + " |")
    heads = ["memory"] + [language + (", collective" if mode else "") for language in ("C", "Fortran 77")
                          for mode in ends_of_modes]
    return f"## All names\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n" + "\n".join(lines) + "\n"


def page_text(page, rows, build, programs):
    words = page.text.replace("Collective.", "Collective: all ranks of the dataset's communicator call it, in the "
                              "same order.")
    return "\n".join([f"({page.name})=\n# {page.name}\n", f"{plain(page.brief)}.\n",
                      f":::{{container}} mode mode-{page.mode.split()[0]}\n{MARKS[page.mode]}\n:::\n", faces(page),
                      plain(words) + "\n", arguments(page, rows), errors(page, rows),
                      example(page, build, programs), all_names(page, rows)])


def section_text(title, pages):
    lines = [f"| [`{page.name}`]({page.name}.md) | {plain(page.brief)} | {MODES[page.mode]} "
             f"| {'yes' if page.f77 else ''} | {'yes' if page.f90 else ''} |" for page in pages]
    toc = "\n".join(page.name for page in pages)
    return f"# {title}\n\nThe column *collective*: all ranks call it (all), its `_all` form, or one rank.\n\n" \
        "| function | | collective | F77 | F90 |\n|---|---|---|---|---|\n" + "\n".join(lines) + \
        f"\n\n```{{toctree}}\n:hidden:\n\n{toc}\n```\n"


def errors_text(rows):
    lines = [f"| `{name}` | {value} | `{'nf_' + name[3:].lower() if name.startswith('NC_') else ''}` | {plain(text)} "
             f"| {plain(when)} |" for name, value, text, when in rows.codes]
    lines = [line.replace("| `` |", "| |") for line in lines]
    others = "\n".join(f"| `{row[0]}` | `{row[1]}` |" for row in rows.aliases)
    return "# Error codes\n\nPositive codes are those of the operating system. Fortran 90 has `nf90_` for `nf_`.\n\n" \
        "| C | value | Fortran 77 | text of `ncmpi_strerror` | when |\n|---|---|---|---|---|\n" + "\n".join(lines) + \
        "\n\n## Other names of the same codes\n\n| | |\n|---|---|\n" + others + "\n"


def constants_text(rows):
    text, section = "# Constants\n\nFortran 77 has `nf_` and Fortran 90 `nf90_` in place of `NC_`.\n", None
    for name, value, title in rows.constants:
        if title != section:
            section, text = title, text + f"\n## {title}\n\n| C | value |\n|---|---|\n"
        text += f"| `{name}` | `{value}` |\n"
    return text


def index_text():
    toc = "\n".join(FILES.values())
    return f"""# Reference

Every function, generated from the rows of `src/spec`, from which the library itself is generated. The functions of C
begin with `ncmpi_`, those of Fortran 77 with `nfmpi_`, those of Fortran 90 with `nf90mpi_`. The
<a href="../card.html">quick card</a> (<a href="../card.pdf">PDF</a>) has all of them on two pages.

```{{toctree}}
:maxdepth: 1

{toc}
errors
constants
../manual/pnetcdf_hints
../manual/pnetcdf
../manual/pnetcdf_f77
../manual/pnetcdf_f90
```
"""


def pages(rows, build, programs):
    """{path: text} of the reference. programs: {path: (title, code)} of the examples."""
    found = {"index.md": index_text(), "errors.md": errors_text(rows), "constants.md": constants_text(rows)}
    for title, members in rows.sections.items():
        found[FILES[title] + ".md"] = section_text(title, members)
        for page in members:
            found[page.name + ".md"] = page_text(page, rows, build, programs)
    return {"reference/" + path: text for path, text in found.items()}
