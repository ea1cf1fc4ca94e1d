# needs: python
"""JSON of ncoffsets, cdfdiff and ncvalidator: values worked out by hand, and docs/json.md describes every member."""
import json
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import cdf
import tap
import tool


def load(name, *arguments, status=0):
    done = tool.run(name, *arguments)
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        found = {"invalid": str(error)}
    check_members(name, found)
    tap.ok(done.returncode == status and "invalid" not in found, f"{name} {' '.join(arguments)}: JSON",
           f"{done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return found


def members(value):
    """The names of all members, at any depth."""
    if isinstance(value, list):
        return set().union(*map(members, value))
    return set(value).union(*map(members, value.values())) if isinstance(value, dict) else set()


def check_members(name, found):
    with open(os.path.join(TOP, "docs/json.md"), encoding="utf-8") as file:
        section = re.search(r"^## [^\n]*\b" + name + r" --json.*?(?=^## |\Z)", file.read(), re.M | re.S).group(0)
    unknown = members(found) - set(re.findall(r"`(\w+)`", section))
    tap.ok(not unknown, f"docs/json.md describes the members of {name}", unknown)


def test_offsets():
    variables = [("a\"", "byte", [1], [], [1, 2, 3]), ("r", "short", [0, 1], [], [0] * 6), ("b", "double", [], [], [1])]
    cdf.Writer(1, [("t", None), ("x", 3)], [], variables, 2).write("a.nc")
    size = os.path.getsize("a.nc")
    found = load("ncoffsets", "--json", "a.nc")
    a, r, b = found["variables"]
    begin = found["header_size"]
    tap.ok({**found, "variables": 0, "dimensions": 0} == {
        "file": "a.nc", "size": size, "format": "CDF-1", "header_size": begin, "header_extent": begin, "records": 2,
        "record_size": 6, "dimensions": 0, "variables": 0} and size == begin + 4 + 8 + 12, "the file", found)
    tap.ok(found["dimensions"] == [{"name": "t", "length": 2, "unlimited": True},
                                   {"name": "x", "length": 3, "unlimited": False}], "dimensions", found["dimensions"])
    with open("a.nc", "rb") as file:
        header = file.read()
    entries = [header.index(b"\0\0\0\x02a\""), header.rindex(b"\0\0\0\x01r"), header.rindex(b"\0\0\0\x01b")]
    tap.ok([a, b, r] == [
        {"name": 'a"', "type": "byte", "dimensions": ["x"], "record": False, "begin": begin, "end": begin + 3,
         "size": 3, "gap": 0, "header_entry": entries[0]},
        {"name": "b", "type": "double", "dimensions": [], "record": False, "begin": begin + 4, "end": begin + 12,
         "size": 8, "gap": 1, "header_entry": entries[2]},
        {"name": "r", "type": "short", "dimensions": ["t", "x"], "record": True, "begin": begin + 12,
         "end": begin + 18, "size": 6, "gap": 0, "header_entry": entries[1]}], "variables", found["variables"])
    tap.ok([v["name"] for v in load("ncoffsets", "--json", "-v", "r", "a.nc")["variables"]] == ["r"], "-v")
    cdf.Writer(5, [], [], [], 0).write("empty.nc")
    tap.ok(load("ncoffsets", "--json", "empty.nc")["variables"] == [], "an empty file")


def test_diff():
    nan = math.nan
    data = [("f", [1., .1, 3., nan], [1., .2, 4., 5.]), ("i", [1, 2, 3, -2**31], [1, 2, 3, 2**31 - 1]),
            ("c", b"abcd", b"abXd")]
    for name, which in (("one.nc", 1), ("two.nc", 2)):
        variables = [(row[0], {"f": "double", "i": "int", "c": "char"}[row[0]], [0, 1], [], row[which]) for row in data]
        cdf.Writer(1, [("y", 2), ("x", 2)], [("title", "char", name.encode())], variables).write(name)
    found = load("cdfdiff", "--json", "one.nc", "two.nc", status=1)
    title, f, i, c = found["differences"]
    tap.ok(list(title) == ["text"] and "title" in title["text"] and found["files"] == ["one.nc", "two.nc"] and
           (found["complete"], found["same"], found["differences_in_header"], found["differences_in_variables"]) ==
           (True, False, 1, 3), "the files, and a difference of headers", found)
    tap.ok(f == {"variable": "f", "type": "double", "elements": 4, "differ": 3, "nan_in_one": 1,
                 "first": {"index": [0, 1], "values": [.1, .2], "absolute": .1, "relative": .5},
                 "largest_absolute": {"index": [1, 0], "values": [3, 4], "absolute": 1, "relative": .25},
                 "largest_relative": {"index": [0, 1], "values": [.1, .2], "absolute": .1, "relative": .5}},
           "doubles", f)
    tap.ok((i["first"]["absolute"], i["first"]["index"], i["differ"]) == (2**32 - 1, [1, 1], 1), "integers", i)
    tap.ok(c == {"variable": "c", "type": "char", "elements": 4, "differ": 1, "nan_in_one": 0,
                 "first": {"index": [1, 0], "values": ["c", "X"]}}, "characters", c)
    os.link("one.nc", "same.nc")
    same = load("cdfdiff", "--json", "-b", "one.nc", "same.nc")
    tap.ok(same["same"] and same["differences"] == [], "the same", same)


def test_validator():
    found = load("ncvalidator", "--json", "-t", "one.nc")
    tap.ok(found["valid"] and found["errors"] == 0 and found["fields"][0]["offset"] == 0, "a valid file", found)
    with open("one.nc", "rb") as file:
        data = file.read()
    with open("cut.nc", "wb") as file:
        file.write(data[:-4] + b"\0")
    load("ncvalidator", "--json", "--repair", "cut.nc", status=2)


def main():
    os.chdir(tap.scratch("."))
    test_offsets()
    test_diff()
    test_validator()
    tap.finish()


main()
