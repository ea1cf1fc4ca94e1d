"""ncmpicopy --quantize against netCDF4, which quantizes when it writes netCDF-4 files: the same bits, and the same
attributes."""
import os
import sys

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool

MODES = {"bits": "BitRound", "digits": "GranularBitRound"}
FILLS = {"f4": netCDF4.default_fillvals["f4"], "f8": netCDF4.default_fillvals["f8"]}


def numbers(kind):
    """Of all magnitudes; halves between two results; powers of 2 and 10, where the number of digits changes."""
    rng = numpy.random.default_rng(15)
    largest = 37 if kind == "f4" else 300
    powers = numpy.array([float(f"1e{k}") for k in range(-largest, largest + 1)])
    with numpy.errstate(all="ignore"):
        values = numpy.concatenate([
            rng.normal(size=4000), 10.0 ** rng.uniform(-largest, largest, 4000), powers, -powers, powers * 5, [0.0],
            numpy.arange(1, 2100) / 16, 2.0 ** numpy.arange(-100, 100), 3 * 2.0 ** numpy.arange(-100, 100)])
    return values.astype(kind)


def write(path, variables, fill=None):
    """A classic file: {name: values}; the first dimension of each is the record dimension."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.createDimension("n", None)
        for name, values in variables.items():
            variable = file.createVariable(name, values.dtype, ("n",), fill_value=fill)
            variable.set_auto_mask(False)
            variable[:] = values


def read(path, name):
    with netCDF4.Dataset(path) as file:
        variable = file[name]
        variable.set_auto_mask(False)
        attributes = {key: variable.getncattr(key) for key in variable.ncattrs() if key.startswith("_Quantize")}
        return numpy.array(variable[:]), {key: (value, value.dtype.str) for key, value in attributes.items()}


def expected(values, option, number, fill=None):
    if os.path.exists("expected.nc"):
        os.remove("expected.nc")
    with netCDF4.Dataset("expected.nc", "w", format="NETCDF4") as file:
        file.createDimension("n", len(values))
        variable = file.createVariable("v", values.dtype, ("n",), significant_digits=number, fill_value=fill,
                                       quantize_mode=MODES[option])
        variable.set_auto_mask(False)
        variable[:] = values
    return read("expected.nc", "v")


def copy(*arguments, ranks=1):
    status, out, errors = tap.run_mpi(ranks, "src/tools/ncmpicopy/ncmpicopy", *arguments)
    return status, out + errors


def same_bits(ours, theirs):
    return ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()


def test_bits():
    for kind, most in (("f4", {"bits": 23, "digits": 7}), ("f8", {"bits": 52, "digits": 15})):
        values = numbers(kind)
        write("in.nc", {"v": values})
        for option, last in most.items():
            wrong = []
            for number in range(1, last + 1) if option == "digits" else (1, 2, 7, 12, last - 1):
                status, text = copy("-O", "--verify", "--quantize", f"{option}={number}", "in.nc", "out.nc",
                                    ranks=1 + number % 2)
                ours, attributes = read("out.nc", "v")
                theirs, their_attributes = expected(values, option, number)
                # netCDF-C spoils values that have no bit to spare, such as 1 with 7 digits: here they stay as they are.
                lost = (numpy.abs(theirs - values) > 5 * 10.0 ** -number * numpy.abs(values)) & (option == "digits")
                theirs = numpy.where(lost, values, theirs)
                if status != 0 or not same_bits(ours, theirs) or attributes != their_attributes or \
                        (lost.any() and (option, number) != ("digits", 7)):
                    different = numpy.flatnonzero(ours != theirs)[:3]
                    wrong.append((number, text, attributes, their_attributes, lost.sum(),
                                  [(values[i], ours[i], theirs[i]) for i in different]))
            tap.ok(not wrong, f"{kind}: --quantize {option}=1 to {last}, bit by bit as netCDF4", wrong)


def test_special():
    """Values that stay as they are."""
    for kind in ("f4", "f8"):
        fill, info = 1e20, numpy.finfo(kind)
        values = numpy.array([numpy.nan, numpy.inf, -numpy.inf, fill, FILLS[kind], 0.0, -0.0, 1.23456789, info.max,
                              info.smallest_subnormal], kind)
        for option, own in (("bits=3", None), ("digits=2", None), ("bits=3", fill), ("digits=2", fill)):
            write("in.nc", {"v": values}, own)
            copy("-O", "--quantize", option, "in.nc", "out.nc")
            ours, _ = read("out.nc", "v")
            kept = [0, 1, 2, 5, 6, 4 if own is None else 3]
            changed = [7] + [3] * (own is None)
            tap.ok(same_bits(ours[kept], values[kept]) and (ours[changed] != values[changed]).all() and
                   numpy.isfinite(ours[8]), f"{kind}: {option}: NaN, infinities, zeros, the fill value {own}", ours)
    write("in.nc", {"v": numpy.array([1e15, 1.2345], "f4")})
    with netCDF4.Dataset("in.nc", "a") as file:
        file["v"].missing_value = numpy.float32(1e15)
    copy("-O", "--quantize", "bits=3", "in.nc", "out.nc")
    ours, _ = read("out.nc", "v")
    tap.ok(ours[0] == numpy.float32(1e15) and ours[1] != numpy.float32(1.2345), "missing_value stays as it is", ours)


def test_names():
    """Which variables are quantized."""
    data = numpy.linspace(0.1, 0.9, 9)
    write("in.nc", {name: data.astype(kind) for name, kind in
                    (("n", "f8"), ("a", "f4"), ("b", "f8"), ("lon", "f8"), ("edges", "f8"))} |
          {"i": numpy.arange(9, dtype="i4")})
    with netCDF4.Dataset("in.nc", "a") as file:
        file["a"].coordinates, file["n"].bounds = "lon missing", "edges"

    def changed(*options):
        status, text = copy("-O", *options, "in.nc", "out.nc")
        if status != 0:
            return text
        result = {}
        for name in ("n", "a", "b", "lon", "edges", "i"):
            (ours, attributes), (theirs, _) = read("out.nc", name), read("in.nc", name)
            if not same_bits(ours, theirs) or attributes:
                result[name] = [int(value[0]) for value in attributes.values()]
        return result
    result = changed("--quantize", "bits=8")
    tap.ok(result == {"a": [8], "b": [8]}, "without names: neither coordinates, bounds nor integers", result)
    result = changed("--quantize", "digits=4", "--quantize", "n,b:bits=9", "--quantize", "bits=6")
    tap.ok(result == {"a": [6], "b": [9], "n": [9]}, "names, and an option for the others", result)
    result = changed("-t", "i:float", "-t", "b:float", "--quantize", "i,b:bits=2")
    with netCDF4.Dataset("out.nc") as file:
        theirs, _ = expected(data.astype("f4"), "bits", 2)
        tap.ok(same_bits(numpy.array(file["b"][:]), theirs) and numpy.array_equal(
            file["i"][:], [0, 1, 2, 3, 4, 5, 6, 7, 8]), "after a conversion", result)


def test_trouble():
    write("in.nc", {"v": numpy.ones(3, "f4"), "i": numpy.ones(3, "i4")})
    for text, arguments in (("--quantize must be", ["bits=0"]), ("--quantize must be", ["bits=53"]),
                            ("--quantize must be", ["v"]), ("--quantize must be", ["digits=x"]),
                            ("--quantize must be", ["v:digits=16"]), ("must be names of variables", [":bits=3"]),
                            ("variable i has type int: only float and double are rounded", ["i:bits=3"]),
                            ("variable v has type float, which has at most 23 bits", ["bits=24"]),
                            ("no variable w", ["w:bits=3"])):
        status, output = copy("-O", "--quantize", *arguments, "in.nc", "none.nc")
        tap.ok(status == 1 and text in output and not os.path.exists("none.nc"), f"--quantize {arguments[0]}", output)


os.chdir(os.environ.get("PNC_TEST_TMP", "."))
for test in (test_bits, test_special, test_names, test_trouble):
    test()
tap.finish()
