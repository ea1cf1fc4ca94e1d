"""ncmpidump --stats --bits: the number of bits is that of the formulas of Kloewer and others (2021) in numpy, on any
number of ranks; with missing values; and what says that data were rounded before."""
import json
import os
import sys

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool

ROWS, COLUMNS = 40, 700
FILL = 1e20


def smooth(noise, seed=0, length=40):
    """Waves, with digits that are noise; of another wave in each row, so that leading bits are not constant."""
    rng = numpy.random.default_rng(seed)
    x, y = numpy.arange(COLUMNS), numpy.arange(ROWS)[:, None]
    return 5 + 4 * numpy.sin(x / length + y / 3) + noise * rng.normal(size=(ROWS, COLUMNS))


def entropy_of(p):
    p = numpy.array(p)
    return -numpy.sum(p[p > 0] * numpy.log2(p[p > 0]))


def information(values, there):
    """Of each bit, the first one first: the mutual information with that of the next value of the row."""
    unsigned = values.view(f"u{values.itemsize}")
    pairs = there[:, :-1] & there[:, 1:]
    a, b = unsigned[:, :-1][pairs], unsigned[:, 1:][pairs]
    n = len(a)
    p = 0.5 + 2.575829 / (2 * numpy.sqrt(n))
    least = 1 - entropy_of([p, 1 - p])
    result = []
    for bit in range(values.itemsize * 8 - 1, -1, -1):
        i, k = (a >> a.dtype.type(bit)) & a.dtype.type(1), (b >> b.dtype.type(bit)) & b.dtype.type(1)
        joint = numpy.array([[numpy.sum((i == u) & (k == v)) for v in (0, 1)] for u in (0, 1)]) / n
        mutual = entropy_of(joint.sum(0)) + entropy_of(joint.sum(1)) - entropy_of(joint.reshape(-1))
        result.append(mutual if mutual >= least else 0)
    return numpy.array(result)


def expected(values, there=None):
    found = information(values, numpy.ones(values.shape, bool) if there is None else there)
    kept = int(numpy.searchsorted(numpy.cumsum(found), 0.99 * found.sum())) + 1
    return max(0, kept - (9 if values.dtype == numpy.float32 else 12))


def write(path, variables, attributes):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("y", ROWS)
        file.createDimension("x", COLUMNS)
        file.createDimension("one", 1)
        for name, values in variables.items():
            dimensions = ("y", "x", "one")[:values.ndim]
            fill = attributes.get(name, {}).get("fill")
            variable = file.createVariable(name, values.dtype, dimensions, fill_value=fill)
            variable.set_auto_mask(False)
            variable[:] = values
            variable.setncatts({k: v for k, v in attributes.get(name, {}).items() if k != "fill"})


def main():
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    holes = smooth(0.01, 2).astype("f4")
    there = numpy.random.default_rng(3).random(holes.shape) > 0.1
    holes[~there] = FILL
    holes[1, 5:9] = numpy.nan
    there &= ~numpy.isnan(holes)
    bitround = (smooth(0.01, 4).astype("f4").view("u4") + 0x2000 & numpy.uint32(0xffffc000)).view("f4")
    packed = numpy.round(smooth(0.01, 5) / 0.3).astype("i2") * numpy.float32(0.3)
    variables = {"fine": smooth(1e-5, 0, 9000).astype("f4"), "coarse": smooth(0.3).astype("f4"),
                 "double": smooth(1e-9, 0, 1e6),
                 "deep": smooth(0.1, 1).astype("f4")[:, :, None], "holes": holes, "rounded": bitround, "packed": packed,
                 "said": smooth(0.01, 6).astype("f4"),
                 "count": numpy.arange(ROWS * COLUMNS, dtype="i4").reshape(ROWS, -1),
                 "noise": numpy.random.default_rng(7).random((ROWS, COLUMNS))}
    write("bits.nc", variables, {"holes": {"fill": FILL}, "said": {"maximum_relative_error": 1e-6}})
    answers = []
    for ranks in (1, 3):
        status, out, err = tap.run_mpi(ranks, "src/tools/ncmpidump/ncmpidump", "--stats", "--bits", "--json", "bits.nc")
        tap.ok(status == 0, f"on {ranks} ranks", err)
        answers.append({v["name"]: v for v in json.loads(out)["variables"]})
    rows = answers[0]
    tap.ok(rows == answers[1] or all(rows[v]["bits"] == answers[1][v]["bits"] for v in rows), "the same on 3 ranks")
    for name, values in variables.items():
        if name not in ("count", "noise"):
            flat = values.reshape(ROWS, COLUMNS)
            number = expected(flat, there if name == "holes" else None)
            tap.ok(rows[name]["bits"] == number, f"{name}: {number} bits", rows[name])
    tap.ok(rows["coarse"]["bits"] < rows["fine"]["bits"] < rows["double"]["bits"] < 45,
           "smoother fields with less noise, more bits", {name: row["bits"] for name, row in rows.items()})
    tap.ok(rows["count"]["bits"] is None, "integers have none", rows["count"])
    reasons = {name: row.get("rounded", "") for name, row in rows.items()}
    tap.ok(not any(reasons[name] for name in ("fine", "coarse", "double", "deep", "holes")), "not rounded", reasons)
    tap.ok("the last 14 bits" in reasons["rounded"] and "unpacked" in reasons["packed"] and
           "maximum_relative_error" in reasons["said"], "rounded before, and why", reasons)
    done = tool.run("ncmpidump", "--stats", "--bits", "-v", "fine,rounded", "bits.nc")
    lines = done.stdout.decode().splitlines()
    tap.ok(len(lines) == 4 and lines[0].split()[-2] == "bits" and lines[1].split()[-1] == str(rows["fine"]["bits"]) and
           lines[3].startswith("rounded was rounded before") and "14 bits" in lines[3], "the table", lines)
    done = tool.run("ncmpidump", "--stats", "bits.nc")
    tap.ok(b"bits" not in done.stdout, "without the option", done.stdout)
    tool.fails("ncmpidump", "--bits is of --stats", "--bits alone", "--bits", "bits.nc")
    tap.finish()


main()
