"""The quick card: all functions on two pages of A4, from the rows of the reference."""
import html
import re

import rows as spec

STYLE = """
@page { size: A4; margin: 9mm 10mm; }
* { box-sizing: border-box; }
body { font: 7.7pt/1.36 "DejaVu Sans", "Liberation Sans", Arial, sans-serif; margin: 0 auto; max-width: 194mm;
    padding: 0; color: #111; }
h1 { font-size: 12pt; margin: 0 0 1mm; } h1 small { font-size: 7.5pt; font-weight: normal; }
h2 { font-size: 9.5pt; margin: 1.7mm 0 0.5mm; background: #1a5fb4; color: #fff; padding: 0 1.5mm; break-after: avoid; }
.page { columns: 2; column-gap: 5mm; break-after: page; } .page:last-child { break-after: auto; }
code { font: 6.9pt/1.36 "DejaVu Sans Mono", "Liberation Mono", monospace; }
p { margin: 0 0 0.6mm; } .f { padding-left: 3mm; text-indent: -3mm; break-inside: avoid; }
a { color: inherit; } @media print { a { text-decoration: none; } }
b, .all { color: #1a5fb4; font-weight: bold; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: 0 1mm 0 0; }
tr { border-bottom: 0.1mm solid #ccc; }
@media (max-width: 600px) { .page { columns: 1; } body { font-size: 10pt; padding: 2mm; } code { font-size: 8.5pt; } }
@media screen and (min-width: 601px) { body { padding: 6mm 0; } .page { margin-bottom: 8mm; } }
"""
FRONT = ("Files", "Definitions", "Storage", "Attributes", "Inquiry")
VARIABLES = ("PNETCDF_HINTS", "PNETCDF_HINTS_DISPLAY", "PNETCDF_STATS", "PNETCDF_TIMEOUT", "PNETCDF_VERBOSE",
             "PNETCDF_SAFE_MODE")


def short(prototype, rows):
    """name(arguments), with & before what receives a result."""
    names = []
    for argument in spec.arguments_of(prototype):
        name = spec.argument_name(argument)
        receives = rows.arguments.get(argument, rows.arguments.get(name, "")).startswith("receives")
        names.append(("&" if receives else "") + name)
    return spec.name_of(prototype), ", ".join(names)


def function(page, rows):
    """The first function of the page and, of attributes, the one of the other types, which has one argument more."""
    typed = [line for line in page.prototypes if re.search(r"_att_double\(", line)]
    lines = []
    for prototype in page.prototypes[:1] + typed:
        name, arguments = short(prototype, rows)
        name = html.escape(name.replace("_att_double", "_att_<T>"))
        marked = f'<b>{name}</b>' if page.mode == "collective" else name
        lines.append(f'<p class="f"><code>{marked}({html.escape(arguments)})</code></p>')
    return "\n".join(lines)


def section(title, rows):
    return f"<h2>{title}</h2>\n" + "\n".join(function(page, rows) for page in rows.sections[title])


def families(rows):
    """A line for each operation and shape."""
    lines = ["<h2>Data: ncmpi_&lt;operation&gt;_&lt;shape&gt;[_&lt;T&gt;][_all]</h2>",
             "<p><b>put_ get_ mput_ mget_</b>: with <b>_all</b> collective, without it independent. "
             "iput_ iget_ bput_: post a request, then <b>ncmpi_wait_all</b> or ncmpi_wait. Without &lt;T&gt; an MPI "
             "datatype describes the memory: add <code>bufcount, buftype</code> after the buffer.</p>"]
    for page in rows.sections["Data"]:
        typed = [line for line in page.prototypes if re.search(r"_double\(", line)] or page.prototypes[:1]
        name, arguments = short(typed[0], rows)
        ends = "<b>[_all]</b>" if page.mode == "both" else ""
        name = html.escape(name.replace("_double", "_<T>"))
        lines.append(f'<p class="f"><code>{name}{ends}({html.escape(arguments)})</code></p>')
    types = ", ".join(f"{suffix} ({kind})" if suffix != kind else suffix for suffix, kind in rows.types)
    return "\n".join(lines) + f"<p>&lt;T&gt;: {types}.</p>"


def fortran():
    return """<h2>Fortran</h2>
<p><code>include 'pnetcdf.inc'</code>: <code>nfmpi_</code> for <code>ncmpi_</code>, <code>nf_</code> for
<code>NC_</code>; int1 int2 int int8 real double text for &lt;T&gt;. <code>use pnetcdf</code>: <code>nf90mpi_</code>,
<code>nf90_</code>; <code>nf90mpi_put_var_all(ncid, varid, values, [start], [count], [stride], [map])</code> for all
types and shapes. Ids and indices count from 1, the fastest dimension first; sizes are of kind
<code>MPI_OFFSET_KIND</code>.</p>"""


def formats():
    return """<h2>Modes and formats</h2>
<table><tr><th>flag</th><th></th></tr>
<tr><td><code>NC_CLOBBER</code>, <code>NC_NOCLOBBER</code></td><td>create: replace, or refuse an existing file</td></tr>
<tr><td>none; <code>NC_64BIT_OFFSET</code>; <code>NC_64BIT_DATA</code></td><td>CDF-1 (2 GiB); CDF-2 (4 GiB a variable or
record); CDF-5 (no limit, unsigned and 64-bit types)</td></tr>
<tr><td><code>NC_NOWRITE</code>, <code>NC_WRITE</code></td><td>open: to read, or to read and write</td></tr>
<tr><td><code>NC_UNLIMITED</code>, <code>NC_GLOBAL</code></td><td>length of the record dimension; varid of attributes of
the file</td></tr></table>
<p>create → define mode → <b>enddef</b> → collective data mode ⇄ (<b>begin_indep_data</b>, <b>end_indep_data</b>)
independent data mode; <b>redef</b> → define mode; <b>close</b>.</p>"""


def settings():
    lines = "\n".join(f"<tr><td><code>{name}</code></td><td>{text}</td></tr>" for name, text in zip(VARIABLES, (
        "hints for programs that cannot be changed: <code>*.nc:striping_factor=8</code>",
        "1: hints that were set; all: every hint", "1: report where the time went; json:PATH; trace:PATH",
        "seconds that a collective call waits for the other ranks", "1: each failing call prints its message",
        "1: compare the arguments of collective calls")))
    return f"<h2>Environment</h2><table>{lines}</table>"


def text(rows, version):
    """The page."""
    front = "\n".join(section(title, rows) for title in FRONT)
    back = "\n".join([families(rows), section("Nonblocking requests", rows),
                      section("Headers in CDL", rows), formats(), fortran(), settings()])
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>PnetCDF quick card</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>
<h1><a href="index.html">PnetCDF</a> {version}
<small>quick card: <b>blue</b> is collective, &amp;name receives a result. Each function returns
NC_NOERR or a code for ncmpi_strerror.</small></h1>
<div class="page">{front}</div>
<div class="page">{back}</div>
</body></html>
"""
