"""ncmpidump --stats against numpy: all types and formats, missing values of every kind, packing, on 1 and 3 ranks."""
import json
import os
import sys

import netCDF4
import numpy as np

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
import tap  # noqa: E402
import tool  # noqa: E402
from tap import ok, scratch  # noqa: E402

random = np.random.default_rng(5)
PROGRAM = "src/tools/ncmpidump/ncmpidump"
TYPES = ["i1", "i2", "i4", "f4", "f8", "i8", "u1", "u2", "u4", "u8"]
MODELS = {"NETCDF3_CLASSIC": 5, "NETCDF3_64BIT_DATA": 10, "NETCDF4": 10, "NETCDF4_CLASSIC": 5}


def draw(kind, shape):
    if kind[0] == "f":
        return random.normal(7, 1000, shape).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, kind, endpoint=True)


def make(path, model):
    """expected: by name, the values that are not missing, and how many are."""
    expected = {}
    shape = (6, 70, 33)
    stored = {"zlib": True, "chunksizes": (4, 20, 33)} if model.startswith("NETCDF4") else {}
    with netCDF4.Dataset(path, "w", format=model) as file:
        file.set_auto_maskandscale(False)
        for name, length in (("t", None), ("y", 70), ("x", 33), ("none", None if model == "NETCDF4" else 1)):
            file.createDimension(name, length)

        def add(name, kind, values, dims, missing, unpack=lambda x: x, **attributes):
            fill = attributes.pop("fill", None)
            variable = file.createVariable(name, kind, dims, fill_value=fill, **(stored if len(dims) == 3 else {}))
            variable.set_auto_maskandscale(False)
            for key, value in attributes.items():
                variable.setncattr(key, value)
            variable[...] = values
            expected[name] = unpack(values[~missing]), int(missing.sum()), values.shape

        for kind in TYPES[:MODELS[model]]:
            default = netCDF4.default_fillvals[kind] if kind[1] != "1" else None
            values = draw(kind, shape)
            if default is not None:
                values[2, 3:9] = default
            add("plain_" + kind, kind, values, ("t", "y", "x"),
                values == default if default is not None else np.zeros(shape, bool))
            values, fill, other = draw(kind, shape), draw(kind, ()), draw(kind, ())
            values[0, :5], values[3, 7:11, 2] = fill, other
            add("fill_" + kind, kind, values, ("t", "y", "x"), (values == fill) | (values == other), fill=fill,
                missing_value=other)
            values = draw(kind, shape)
            low, high = sorted(draw(kind, 2))
            outside = (values < low) | (values > high)
            if default is not None:
                outside |= values == default
            add("valid_" + kind, kind, values, ("t", "y", "x"), outside, valid_range=np.array([low, high], kind))
        values = draw("i2", shape)
        add("packed", "i2", values, ("t", "y", "x"), values == netCDF4.default_fillvals["i2"],
            lambda x: x * .25 + 1000, scale_factor=.25, add_offset=1000.)
        values = draw("f4", shape)
        values[1, 1], values[5, 2, 3] = np.nan, np.inf
        add("nan", "f4", values, ("t", "y", "x"), np.isnan(values))
        add("lost", "f8", np.full(33, -1.), ("x",), np.ones(33, bool), fill=-1.)
        add("scalar", "f8", np.array(2.5), (), np.array(False))
        if model == "NETCDF4":
            add("empty", "f8", np.zeros((0, 33)), ("none", "x"), np.zeros((0, 33), bool))
            add("big", ">f8", draw("f8", (70, 33)), ("y", "x"), np.zeros((70, 33), bool))
        file.createVariable("letters", "S1", ("x",))
    return expected


def is_near(found, expected, scale):
    if isinstance(found, str):
        found = float(found)
    return found == expected or abs(found - expected) <= 1e-13 * scale


def compare(path, model, expected, ranks):
    status, text, errors = tap.run_mpi(ranks, PROGRAM, "--stats", "--json", path)
    if not ok(status == 0 and not errors, f"{model} on {ranks} ranks", errors):
        return
    found = {entry["name"]: entry for entry in json.loads(text)["variables"]}
    wrong = []
    for name, (values, missing, shape) in expected.items():
        entry = found[name]
        if entry["missing"] != missing or entry["shape"] != list(shape):
            wrong.append((name, missing, entry))
        elif values.size == 0:
            if any(entry[key] is not None for key in ("minimum", "maximum", "mean")):
                wrong.append((name, entry))
        else:
            exact = values.astype("f8").astype(np.longdouble)
            with np.errstate(invalid="ignore"):
                mean = float(exact.mean())
            scale = float(np.abs(exact).max())
            for key, value in (("minimum", values.min()), ("maximum", values.max())):
                # the digits of a float are those that read back as this float
                same = values.dtype.type(entry[key]) == value if name != "packed" else \
                    is_near(entry[key], value, scale)
                if not same:
                    wrong.append((name, key, value, entry))
            if not is_near(entry["mean"], mean, scale):
                wrong.append((name, mean, entry))
    ok(not wrong, "  minima, maxima, means and missing values are those of numpy", wrong[:4])
    ok(found["letters"]["mean"] is None and list(found) == [*expected, "letters"], "  in the order of the file")


def check_table():
    with netCDF4.Dataset(scratch("table.nc"), "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = [0, 1, 2]
        file.createVariable("v", "f4", ("time", "x"), fill_value=-9).units = "K"
        file["v"][:] = np.ma.masked_equal([[1, 2, 3], [4, -9, 6], [7, 8, 9.5]], -9)
        file.createVariable("word", "S1", ("x",))
    result = tool.run("ncmpidump", "--stats", scratch("table.nc"))
    ok(result.stdout.decode() == """\
variable  type    shape  missing  minimum  maximum    mean  units
time      double  3            0        0        2       1  days since 2000-01-01
v         float   3x3          1        1      9.5  5.0625  K
word      char    3            -        -        -       -
""", "the table", result.stdout)
    result = tool.run("ncmpidump", "--stats", "-t", "-v", "time", scratch("table.nc"))
    ok(result.stdout.decode().splitlines()[1].split() ==
       ["time", "double", "3", "0", "2000-01-01", "2000-01-03", "2000-01-02"], "dates", result.stdout)
    result = tool.run("ncmpidump", "--stats", scratch("table.nc"), scratch("table.nc"))
    ok(result.returncode == 0 and result.stdout.count(b"table.nc:\n") == 2, "several files", result.stdout)
    for words in (["-h"], ["-s"], ["-n", "x"], ["-k"], ["--follow"]):
        tool.fails("ncmpidump", "--stats", f"--stats {words[0]}", "--stats", *words, scratch("table.nc"))
    tool.fails("ncmpidump", "no variable", "an unknown variable", "--stats", "-v", "w", scratch("table.nc"))
    tool.fails_to_print("ncmpidump", "--stats", scratch("table.nc"))
    with open(scratch("table.nc"), "rb") as file:
        whole = file.read()
    with open(scratch("cut.nc"), "wb") as file:
        file.write(whole[:-20])
    result = tool.run("ncmpidump", "--stats", scratch("cut.nc"))
    ok(result.returncode == 0 and b"warning" in result.stderr, "a file that is cut has a warning", result.stderr)


def check_memory():
    """A variable of 512 MiB, of which the file has nothing but zeros."""
    megabytes = 64 if tap.is_quick() else 512
    with netCDF4.Dataset(scratch("large.nc"), "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.set_fill_off()
        file.createDimension("x", megabytes << 17)
        file.createVariable("v", "f8", ("x",))[-1] = 3
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, 1)
        os.execv(tool.command("ncmpidump")[0], [*tool.command("ncmpidump"), "--stats", "--json", scratch("large.nc")])
    os.close(write)
    with open(read, "rb") as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    found = json.loads(text)["variables"][0]
    ok(status == 0 and found["maximum"] == 3 and found["minimum"] == 0 and found["missing"] == 0, "a large variable",
       found)
    if not os.environ.get("PNC_TEST_WRAPPER"):
        ok(usage.ru_maxrss < 60000, "in bounded memory", f"{usage.ru_maxrss} KiB")
    os.remove(scratch("large.nc"))


has_netcdf4 = tool.has_netcdf4()
for name in [model for model in MODELS if has_netcdf4 or not model.startswith("NETCDF4")]:
    content = make(scratch(name + ".nc"), name)
    for n in (1, 3):
        compare(scratch(name + ".nc"), name, content, n)
check_table()
check_memory()
tap.finish()
