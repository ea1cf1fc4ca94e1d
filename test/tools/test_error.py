"""ncmpicopy --error, by the arithmetic of numpy: no value differs from the input by more than the bound, special values
stay, the attribute says the bound with that of the input, and which variables are rounded."""
import os
import sys

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap

N = 20000


def numbers(kind):
    rng = numpy.random.default_rng(62)
    values = numpy.where(numpy.arange(N) % 2 == 0, 280 + rng.normal(size=N),
                         rng.normal(size=N) * 10.0 ** rng.uniform(-5, 9, N))
    values[::100] = numpy.resize([0.0, -0.0, numpy.nan, numpy.inf, 1e20, -999, -998, 5.5], N // 100)
    return values.astype(kind)


def write(path, variables, attributes):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("n", None)
        for name, values in variables.items():
            variable = file.createVariable(name, values.dtype, ("n",), fill_value=attributes.get(name, {}).get("fill"))
            variable.set_auto_mask(False)
            variable[:] = values
            variable.setncatts({k: v for k, v in attributes.get(name, {}).items() if k != "fill"})


def read(path, name):
    with netCDF4.Dataset(path) as file:
        file[name].set_auto_mask(False)
        attributes = {key: file[name].getncattr(key) for key in file[name].ncattrs() if key.startswith("maximum_")}
        return numpy.array(file[name][:]), attributes


def copy(*arguments, ranks=1):
    status, out, errors = tap.run_mpi(ranks, "src/tools/ncmpicopy/ncmpicopy", "-O", *arguments, "in.nc", "out.nc")
    return status, out + errors


def is_within(ours, given, relative, bound, missing):
    exact, room = given.astype(numpy.longdouble), numpy.longdouble(bound)
    with numpy.errstate(invalid="ignore"):
        error = numpy.abs(ours.astype(numpy.longdouble) - exact)
        good = error <= (room * numpy.abs(exact) if relative else room)
    held = given.astype(ours.dtype)
    special = ~numpy.isfinite(held) | (held == 0) | numpy.isin(held, missing)
    same = ours.view(f"u{ours.itemsize}") == held.view(f"u{ours.itemsize}")
    became = ~special & numpy.isin(ours, missing)
    return bool(numpy.all(numpy.where(special, same | numpy.isnan(held), good | same) & ~became)), int((~same).sum())


def test_bounds():
    for kind, to in (("f4", None), ("f8", None), ("f8", "float")):
        values, ranks = numbers(kind), 2 if kind == "f4" else 1
        if to is not None:  # a conversion makes infinities fill values
            values[numpy.isinf(values)] = 7
        write("in.nc", {"v": values}, {"v": {"fill": 1e20, "missing_value": numpy.array([-999, -998], "f8")}})
        for text in ("abs=0.01", "rel=1e-4", "abs=3", "rel=0.4", "abs=1e-7"):
            relative, bound = text.startswith("rel"), float(text[4:])
            convert = [] if to is None else ["-t", f"v:{to}"]
            status, output = copy("--verify", *convert, "--error", text, ranks=ranks)
            ours, attributes = read("out.nc", "v")
            good, changed = is_within(ours, values, relative, bound, numpy.array([1e20, -999, -998], ours.dtype))
            name = f"maximum_{'relative' if relative else 'absolute'}_error"
            tap.ok(status == 0 and good and attributes == {name: bound}, f"{kind} to {ours.dtype}: {text}",
                   (output, good, attributes))
            tap.ok(changed > N / 10 or bound < 1e-6, f"{kind} to {ours.dtype}: {text} rounds {changed} values")


def test_names():
    data = numpy.linspace(0.1, 0.9, 9)
    write("in.nc", {name: data.astype(kind) for name, kind in
                    (("n", "f8"), ("a", "f4"), ("b", "f8"), ("lon", "f8"), ("old", "f4"))} |
          {"i": numpy.arange(9, dtype="i4")},
          {"a": {"coordinates": "lon"}, "old": {"maximum_absolute_error": 0.5}})

    def stated(*options):
        status, text = copy(*options)
        return {name: found for name in ("n", "a", "b", "lon", "old", "i")
                if (found := list(read("out.nc", name)[1].values()))} if status == 0 else text
    result = stated("--error", "abs=0.25")
    tap.ok(result == {"a": [0.25], "b": [0.25], "old": [0.75]}, "without names: no coordinates, and sums", result)
    result = stated("--error", "a:rel=0.125", "--quantize", "b,old:bits=4", "--error", "a:abs=0.125")
    tap.ok(result == {"a": [0.125]}, "names; the last one; a bound that is no longer true", result)
    for text, arguments in (("--error must be", "abs=0"), ("--error must be", "rel=1"), ("--error must be", "abs=x"),
                            ("--error must be", "bits=3"), ("--error must be", "abs=-1"), ("no variable w", "w:abs=1"),
                            ("variable i has type int", "i:abs=1"),
                            ("variable old has an attribute maximum_absolute_error", "old:rel=0.1")):
        status, output = copy("--error", arguments)
        tap.ok(status == 1 and text in output, f"--error {arguments}", output)


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
test_bounds()
test_names()
tap.finish()
