"""ncmpicopy of variables of strings: netCDF4-python has written the inputs, and reads the copies, which are compared
with what was put into the inputs, sliced and joined by numpy; ncdump shows that they are stored as by nccopy."""
import os
import re
import subprocess
import sys

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap
import tool

PROGRAM = "src/tools/ncmpicopy/ncmpicopy"
LONG = "L\u00e4" * 500000  # 1.5 MB
LON = numpy.arange(0, 360, 30.0)


def strings(values):
    return numpy.array(values, object)


def draw(records, first):
    """Names of records and of longitudes: empty ones, of UTF-8, and a long one."""
    label = strings([[f"{first + t}.{x}" for x in range(len(LON))] for t in range(records)])
    label[0, 0], label[1, 2], label[records - 1, len(LON) - 1] = "", "\u00fcmlaut \u20ac", LONG
    return label


def make(path, records=5, first=0, place="place", whole=True):
    """Variable "short" does not reach the end of its unlimited dimension; two of three chunks of "gap" were never
    written. Returns the strings of each variable."""
    values = {"label": draw(records, first), "short": strings([f"s{first}", "none"] + ["none"] * (records - 2)),
              "place": strings([f"{place} {i}" for i in range(len(LON))]), "one": strings("scalar"),
              "many": strings([f"name {i}" for i in range(1000)])}
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("lon", len(LON)), ("many", 1000)):
            file.createDimension(name, length)
        file.createVariable("time", "f8", ("time",))[:] = numpy.arange(first, first + records)
        lon = file.createVariable("lon", "f8", ("lon",))
        lon.units = "degrees_east"
        lon[:] = LON
        label = file.createVariable("label", str, ("time", "lon"), chunksizes=(2, 5))
        label[:] = values["label"]
        label.units = "K"
        label.setncattr_string("words", ["one", "two\nlines"])
        file.createVariable("short", str, ("time",), fill_value="none")[0:1] = values["short"][:1]
        file.createVariable("place", str, ("lon",))[:] = values["place"]
        file.createVariable("one", str, ())[...] = "scalar"
        file.createVariable("many", str, ("many",))[:] = values["many"]
        file.setncattr_string("list", ["a", "b"])
        if whole:
            return values
        file.createVariable("gap", str, ("many",), chunksizes=(400,), fill_value="gone")[999] = "end"
    return values


def copy(ranks, *arguments):
    status, out, errors = tap.run_mpi(ranks, PROGRAM, "--no-history", "--verify", *arguments)
    return status, out + errors


def read(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return file[name][...] if name in file.variables else None


def find_difference(path, expected):
    """The first one among variables and their expected strings."""
    for name, values in expected.items():
        found = read(path, name)
        if found is None or numpy.shape(found) != numpy.shape(values) or not numpy.all(found == values):
            return f"{name}: {str(found)[:300]}\n{str(values)[:300]}"
    return ""


def check(ranks, what, expected, *arguments, status=0, says=""):
    """Copy, and compare all variables that are expected."""
    path = tap.scratch("out.nc")
    found, output = copy(ranks, "-O", *arguments, path)
    bad = find_difference(path, expected) if found == status else "no copy"
    tap.ok(found == status and says in output and not bad, f"{ranks} ranks: {what}", f"{found}\n{output}\n{bad}")
    return path


def dump(path):
    """How variables are stored, but for who has written the file."""
    text = subprocess.run(["ncdump", "-hs", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.sub(r"(netcdf |.*(_NCProperties|_SuperblockVersion|_Endianness|_NoFill)).*\n", "", text)


def check_whole(ranks, source, values):
    path = check(ranks, "all strings are copied", values, source)
    other = tap.scratch("nccopy.nc")
    subprocess.run(["nccopy", source, other], check=True)
    tap.ok(dump(path) == dump(other), f"{ranks} ranks: they are stored as nccopy does", dump(path) + dump(other))


def check_selections(ranks, source, values):
    label, place = values["label"], values["place"]
    check(ranks, "every second one, and some records",
          {"label": label[1:5:2, 2:11:3], "short": values["short"][1:5:2], "place": place[2:11:3]},
          "-d", "time,1,4,2", "-d", "lon,2,10,3", source)
    check(ranks, "in a range of a coordinate", {"label": label[1:4], "short": values["short"][1:4]},
          "--where", "time=1:3", source)
    around = [*range(10, 12), *range(0, 3)]
    check(ranks, "around the end of the longitudes", {"label": label[:, around], "place": place[around]},
          "--where", "lon=300:60", source)
    check(ranks, "a strided one beyond the end of a variable", {"short": values["short"][::4]},
          "-v", "short", "-d", "time,0,4,4", source)


def check_joins(ranks, source, values):
    second, third = tap.scratch("second.nc"), tap.scratch("third.nc")
    more = make(second, 4, 5)
    both = {name: numpy.concatenate([values[name], more[name]]) for name in ("label", "short")}
    check(ranks, "two files are joined", {**both, "place": values["place"]}, source, second)
    check(ranks, "a part of two files", {"label": both["label"][1:9:3]}, "-d", "time,1,8,3", source, second)
    make(third, 4, 5, place="other")
    check(ranks, "other strings of a later file are left out", {**both, "place": values["place"]}, source, third,
          says='place is left out, and differs from that in ' + source + ': "other 0" at [0], not "place 0"')
    status, output = copy(ranks, "-O", "--strict", source, third, tap.scratch("out.nc"))
    tap.ok(status == 1 and '"other 0" at [0]' in output, f"{ranks} ranks: --strict refuses them", output)


def check_options(ranks, source, values):
    path = check(ranks, "with filters and names of options", {"tag": values["label"], "short": values["short"]},
                 "--deflate", "5", "--compression", "label,many:zstd:1", "--chunks", "label:3,4", "--rename",
                 "label=tag", "--set-att", "label:units=m", source)
    with netCDF4.Dataset(path) as file:
        tag = file["tag"]
        tap.ok(tag.chunking() == [3, 4] and not tag.filters()["zlib"] and tag.units == "m" and
               tag.words == ["one", "two\nlines"] and file["lon"].filters()["zlib"],
               f"{ranks} ranks: chunks and attributes of options, filters of numbers only",
               f"{tag.chunking()} {tag.filters()} {tag}")
    path = check(ranks, "with another fill value", {"one": values["one"]}, "--set-att", "short:_FillValue=7", "-v",
                 "short,one", source)
    with netCDF4.Dataset(path) as file:
        tap.ok(file["short"]._FillValue == "7", f"{ranks} ranks: a fill value that looks like a number is a string")


def check_checksum(ranks, source, values):
    path = check(ranks, "strings have no checksum", {"label": values["label"]}, "--checksum", source,
                 says="variable label has no checksum: it is of strings")
    with netCDF4.Dataset(path) as file:
        having = [name for name in file.variables if "_Checksum" in file[name].ncattrs()]
    manifest = tap.scratch("sums.txt")
    check(ranks, "nor in a manifest", {}, "--checksum=" + manifest, source, says="label has no checksum")
    with open(manifest, encoding="utf-8") as lines:
        named = [line.split()[-1] for line in list(lines)[1:]]
        tap.ok(named == having == ["time", "lon"], f"{ranks} ranks: numbers have", f"{named} {having}")


def check_left_out(ranks, source):
    for kind in ("classic", "cdf5", "netcdf4_classic"):
        path = check(ranks, f"in {kind} they are left out, with the cure", {"lon": LON}, "-k", kind, source, status=2,
                     says="variable label is left out: it is of strings, which need a netCDF-4 output without the "
                     "classic model: -k netcdf4")
        tap.ok(read(path, "label") is None, f"{ranks} ranks: {kind} has no label")
    status, output = copy(ranks, "-O", "-t", "label:int", source, tap.scratch("out.nc"))
    tap.ok(status == 1 and "strings cannot be converted to int" in output, f"{ranks} ranks: are not converted", output)
    status, output = copy(ranks, "-O", "--where", "place=1:2", source, tap.scratch("out.nc"))
    tap.ok(status == 1 and "must be numbers" in output, f"{ranks} ranks: are no coordinate of --where", output)


def check_salvage(ranks):
    """libhdf5 1.10 cannot read strings of a chunk that was never written; later versions can."""
    source = tap.scratch("gap.nc")
    values = make(source, whole=False)
    gap = strings(["gone"] * 999 + ["end"])
    status, output = copy(ranks, "-O", source, tap.scratch("out.nc"))
    if status == 0:
        check(ranks, "strings that were never written are fill values", {**values, "gap": gap}, source)
        return
    tap.ok(status == 1 and "gap" in output, f"{ranks} ranks: what cannot be read is an error", output)
    path = tap.scratch("out.nc")
    status, output = copy(ranks, "-O", "--salvage", source, path)
    bad = find_difference(path, {**values, "gap": gap}) if status == 2 else "no copy"
    lines = [int(n) for n in re.findall(r"variable gap: (\d+) strings from \[\d+\] to \[\d+\] become", output)]
    tap.ok(status == 2 and not bad and sum(lines) == 800 and "800 values could not be read" in output,
           f"{ranks} ranks: --salvage makes them fill values", f"{status}\n{output}\n{bad}")


if not tool.has_netcdf4():
    tap.finish()
SOURCE = tap.scratch("source.nc")
VALUES = make(SOURCE)
for RANKS in (1, 3):
    check_whole(RANKS, SOURCE, VALUES)
    check_selections(RANKS, SOURCE, VALUES)
    check_joins(RANKS, SOURCE, VALUES)
    check_options(RANKS, SOURCE, VALUES)
    check_checksum(RANKS, SOURCE, VALUES)
    check_left_out(RANKS, SOURCE)
    check_salvage(RANKS)
tap.finish()
