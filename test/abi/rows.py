"""An invalid row of src/spec stops the build, and the message names file and row."""
# needs: python m4
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
M4 = tap.make_variable("M4") or ["m4"]

# File, its text, the text that replaces it, and words of the message.
BROKEN = [
    ("functions.m4", "P(dimid, dimid)P(name, name)]", "P(dimension, dimid)P(name, name)]",
     ["functions.m4", "rename_dim", 'role "dimension"']),
    ("functions.m4", "P(dimid, dimid)P(name, name)]", "P(dimid)P(name, name)]", ["functions.m4", "rename_dim"]),
    ("functions.m4", "P(dimid, dimid)P(name, name)]", "P(int *, dimid)P(name, name)]", ["rename_dim", '"int *"']),
    ("functions.m4", "P(dimid, dimid)P(name, name)]", "Q(dimid, dimid)P(name, name)]", ["rename_dim", '"Q(dimid'],),
    ("functions.m4", "P(dimid, dimid)P(name, name)]", "P(dimid, dimid), P(name, name)]", ["rename_dim", '","']),
    ("functions.m4", "P(dimid, dimid)P(name, name)]", "P(dimid, dim id)P(name, name)]", ["rename_dim", '"dim id"']),
    ("functions.m4", "FUNCTION([rename_dim], [all],", "FUNCTION([rename_dim], [f95],", ["rename_dim", '"f95"']),
    ("functions.m4", "FUNCTION([rename_dim], [all],", "FUNCTION([rename_dim],", ["rename_dim", "3 arguments"]),
    ("functions.m4", "FUNCTION([rename_dim], [all],", "FUNCTON([rename_dim], [all],", ["functions.m4", "FUNCTON"]),
    ("functions.m4", "FUNCTION([rename_dim], [all],", "FUNCTION([rename_dim, [all],", []),
    ("functions.m4", "[Number of variables. LOCAL]", "[Number of variables.]", ["inq_nvars", "collective"]),
    ("functions.m4", "PLAIN([int], [create],", "PLAIN([double *], [create],", ["create", '"double *"']),
    ("roles.m4", "[id_in],      [id of a dimension]", "[id of a dimension]", ["roles.m4", "dimid", "3 arguments"]),
    ("roles.m4", "[id_in],      [id of a dimension]", "[ident],      [id of a dimension]", ["dimid", '"ident"']),
    ("families.m4", "SHAPE([a], [P(start, start)", "SHAPE([a], [P(first, start)",
     ["families.m4", "vara", 'role "first"']),
    ("families.m4", "OPERATION([iput], [memory],", "OPERATION([iput], [values of any type],", ["families.m4", "iput"]),
    ("families.m4", "OPERATION([get],  [memory_out], [strings_out], [collective], [])",
     "OPERATION([get],  [memory_out], [strings_out], [collectively], [])", ["get", '"collectively"']),
    ("families.m4", "SHAPE([1], [P(start, start)], [P(start_each, starts)],", "SHAPE([1], [P(start, start)],",
     ["families.m4", "var1", "3 arguments"]),
    ("types.m4", "NC_SHORT,  int2", "NC_SHIRT,  int2", ["types.m4", "short", '"NC_SHIRT"']),
    ("errors.m4", "ALIAS([NC_ECMODE], [NC_EMULTIDEFINE_OMODE])", "ALIAS([NC_ECMODE], [NC_EMULTIDEFINE_MODE])",
     ["errors.m4", "NC_ECMODE", "NC_EMULTIDEFINE_MODE"]),
    ("constants.m4", "CONSTANT([NC_BYTE], [1])", "CONSTANT([NC_BYTE])", ["constants.m4", "NC_BYTE"]),
    ("hints.m4", "[nc_var_align_size], [format.layout.v_align], [-1],", "[nc_var_align_size], [format.layout.v_align],",
     ["hints.m4", "nc_var_align_size", "8 arguments"]),
    ("hints.m4", "[SENSELESS]", "[SENSLESS]", ["hints.m4", '"SENSLESS"']),
    ("hints.m4", "HINT_ALIAS([nc_header_align_size], [nc_var_align_size],",
     "HINT_ALIAS([nc_header_align_size], [v_align],", ["hints.m4", '"v_align"']),
    ("constants.m4", "CONSTANT([NC_BYTE], [1])", "CONSTANT([NC-BYTE], [1])", ["constants.m4", "NC-BYTE"]),
]
TEMPLATES = ["include/pnetcdf.h.m4", "src/spec/hint_table.h.m4", "include/pnetcdf.inc.m4",
             "include/pnetcdf_checked.inc.m4", "src/binding/f90/shims.c.m4"]


def generate(spec, template):
    """Exit status and messages of m4 for one template, with the rows of the folder `spec`."""
    done = subprocess.run([*M4, "-P", "-I", spec, "-I", os.path.join(TOP, "src/binding/f77"),
                           os.path.join(TOP, template)], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def copy_rows(name, old=None, new=None):
    """A folder with the rows, of which the first place in file `name` that reads `old` is changed."""
    folder = tap.scratch("spec")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(TOP, "src/spec"), folder)
    path = os.path.join(folder, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if old is not None and old not in text:
        return None
    os.chmod(path, 0o644)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text if old is None else text.replace(old, new, 1))
    return folder


for template in TEMPLATES:
    status, errors = generate(copy_rows("functions.m4"), template)
    tap.ok(status == 0 and errors == "", f"m4 takes the rows as they are, {template}", errors)
for name, old, new, words in BROKEN:
    spec = copy_rows(name, old, new)
    if not tap.ok(spec is not None, f"{name} has {old}"):
        continue
    results = [generate(spec, template) for template in TEMPLATES]
    refused = [errors for status, errors in results if status != 0]
    tap.ok(refused and all(word in refused[0] for word in words), f"refused: {new}", results)
tap.finish()
