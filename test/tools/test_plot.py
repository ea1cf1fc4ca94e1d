"""ncmpidump --plot: the shapes, colours and texts of its pictures, read as XML, against the values of the files."""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

import netCDF4
import numpy as np

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
import tap  # noqa: E402
import tool  # noqa: E402
from tap import ok, scratch  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = r"(-?[\d.]+)"


def plot(path, what, *options):
    result = tool.run("ncmpidump", "--plot", what, *options, scratch(path))
    if result.returncode != 0 or result.stderr:
        return None, result.stderr
    return ElementTree.fromstring(result.stdout), result.stderr


def texts(picture):
    return [(element.text, float(element.get("x")), float(element.get("y"))) for element in picture.iter(SVG + "text")]


def has_text(picture, text):
    return any(found == text for found, _, _ in texts(picture))


def cells(picture):
    """(x1, y1, x2, y2, colour) of the rectangles of the map."""
    found = []
    for path in picture.iter(SVG + "path"):
        for part in re.findall(rf"M{NUMBER},{NUMBER}H{NUMBER}V{NUMBER}H{NUMBER}z", path.get("d")):
            x1, y1, x2, y2 = (float(number) for number in part[:4])
            found.append((min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2), path.get("fill")))
    return found


def colour_at(picture, x, y):
    hits = [colour for x1, y1, x2, y2, colour in cells(picture) if x1 < x < x2 and y1 < y < y2]
    return hits[0] if len(hits) == 1 else None if not hits else hits


def frame(picture):
    for rect in picture.iter(SVG + "rect"):
        if rect.get("fill") == "none" and rect.get("stroke") == "#333":
            return [float(rect.get(name)) for name in ("x", "y", "width", "height")]
    return None


def brightness(colour):
    return sum(int(colour[i:i + 2], 16) * weight for i, weight in ((1, .3), (3, .6), (5, .1)))


def make(path, model):
    with netCDF4.Dataset(path, "w", format=model) as file:
        for name, length in (("time", None), ("lev", 3), ("lat", 4), ("lon", 6), ("long", 5000)):
            file.createDimension(name, length)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "hours since 2001-01-01 12:00"
        time[:] = np.arange(10) * 24 * 40
        lev = file.createVariable("lev", "f4", ("lev",))
        lev.units, lev[:] = "hPa", [100, 400, 1000]
        if model == "NETCDF4":
            lev.positive = "down"  # pressure is that without the attribute, too
        lat = file.createVariable("lat", "f4", ("lat",))
        lat.units, lat.long_name, lat[:] = "degrees_north", "latitude", [-45, -15, 15, 45]
        lon = file.createVariable("lon", "f8", ("lon",))
        lon.units, lon[:] = "degrees_east", [0, 60, 120, 180, 240, 300]
        stored = {"zlib": True, "chunksizes": (2, 1, 3, 4)} if model == "NETCDF4" else {}
        value = file.createVariable("value", "i2", ("time", "lev", "lat", "lon"), fill_value=-999, **stored)
        value.scale_factor, value.long_name, value.units = .5, "A <value> & more", "K"
        value.set_auto_maskandscale(False)
        data = np.arange(10 * 3 * 4 * 6).reshape(10, 3, 4, 6)
        data[3, 1, 1, 2] = -999
        value[:] = data
        signed = file.createVariable("signed", "f4", ("lat", "lon"))
        signed[:] = np.linspace(-1, 1, 24).reshape(4, 6)
        long = file.createVariable("curve", "f4", ("long",))
        long[:] = np.sin(np.arange(5000) / 300)
        file.createVariable("wide", "i4", ("lat", "long"))[:] = np.arange(20000).reshape(4, 5000) // 9
        file.createVariable("gap", "f8", ("time",), fill_value=-1)[:] = [0, 1, 2, -1, -1, 5, 6, 7, 8, 9]
        file.createVariable("letters", "S1", ("lat",))[:] = np.array(list(b"abcd"), "u1").view("S1")
        file.createVariable("lost", "f4", ("lat", "lon"))
        file.createVariable("scalar", "f8", ())[...] = 1
        file.createVariable("same", "f8", ("lat",))[:] = 5


def check_map(path):
    picture, err = plot(path, "value,time=3,lev=1")
    if not ok(picture is not None, f"{path}: a map", err):
        return
    x, y, width, height = frame(picture)
    wrong, before = [], -1
    for i in range(4):
        for k in range(6):
            # latitudes ascend upwards
            colour = colour_at(picture, x + (k + .5) * width / 6, y + height - (i + .5) * height / 4)
            if (i, k) == (1, 2):
                wrong += [] if colour is None else [(i, k, colour)]
            elif not isinstance(colour, str) or brightness(colour) < before - 1e-6:
                wrong.append((i, k, colour, before))
            else:
                before = brightness(colour)
    ok(not wrong, "  larger values have lighter colours at their places, and a missing value has none", wrong)
    areas = sum((x2 - x1) * (y2 - y1) for x1, y1, x2, y2, _ in cells(picture))
    ok(abs(areas / (width * height) - 23 / 24) < 1e-3, "  the cells cover all but one", areas / (width * height))
    ok(abs(width / height - 360 / 120) < .01, "  degrees have the same length on both axes", (width, height))
    ok(has_text(picture, "A <value> & more") and has_text(picture, "value in K") and
       has_text(picture, "time = 2001-05-01 12, lev = 400 hPa") and has_text(picture, "latitude (degrees_north)") and
       has_text(picture, "lon (degrees_east)") and has_text(picture, "missing"), "  texts", texts(picture))
    ticks = {text: at for text, at, row in texts(picture)
             if row > y + height and at <= x + width and re.fullmatch(r"-?\d+", text)}
    ok(len(ticks) > 3 and all(abs(at - (x + (float(text) + 30) / 360 * width)) < .1 for text, at in ticks.items()),
       "  ticks are at their values", ticks)
    bar = [float(text) for text, at, _ in texts(picture) if at > x + width and re.fullmatch(r"-?[\d.]+", text)]
    ok(len(bar) > 2 and min(bar) >= 120 and max(bar) <= 131.5, "  the colour bar has unpacked values", bar)
    signed, _ = plot(path, "signed")
    x, y, width, height = frame(signed)
    low = colour_at(signed, x + 5, y + height - 5)
    high = colour_at(signed, x + width - 5, y + 5)
    ok(int(low[5:], 16) > int(low[1:3], 16) and int(high[1:3], 16) > int(high[5:], 16),
       "  values around 0 are blue and red", (low, high))


def check_other_shapes(path):
    picture, err = plot(path, "value,lat=-1,lon=0")
    if not ok(picture is not None, f"{path}: time and level", err):
        return
    x, y, width, height = frame(picture)
    first, last = (colour_at(picture, x + 3, at) for at in (y + 3, y + height - 3))
    late = colour_at(picture, x + width - 3, y + 3)
    ok(brightness(first) < brightness(last) < brightness(late), "  time is the x axis, and levels descend",
       (first, last, late))
    ok(has_text(picture, "2001-07") and has_text(picture, "lat = 45 degrees_north, lon = 0 degrees_east"), "  dates",
       texts(picture))
    edges = sorted({round(y1, 1) for _, y1, _, _, _ in cells(picture)})
    expected = [y + height * part for part in (0, 300 / 1350, 750 / 1350)]
    ok(np.allclose(edges, expected, atol=.15), "  cells end between the levels", (edges, expected))
    picture, _ = plot(path, "value")
    ok(has_text(picture, "time = 2001-01-01 12, lev = 100 hPa"), "  without indices, the first ones", texts(picture))
    picture, _ = plot(path, "wide")
    ok(has_text(picture, "means of 1 x 9 values") and has_text(picture, "long (index)"), "  many values are averaged",
       texts(picture))
    picture, _ = plot(path, "lost")
    ok(has_text(picture, "all values are missing") and not cells(picture), "  nothing but missing values")


def check_values(path):
    """Values and dates select what numpy finds nearest: the pictures are those of its indices."""
    with netCDF4.Dataset(scratch(path)) as file:
        days = np.asarray(file["time"][:]) / 24 + .5  # since 2001-01-01
        lev, lat, lon = (np.asarray(file[name][:]) for name in ("lev", "lat", "lon"))
    near = lambda values, wanted: int(np.argmin(abs(values - wanted)))
    turn = lambda wanted: int(np.argmin(abs((lon - wanted + 180) % 360 - 180)))
    for words, indices in (("time~2001-05-01,lev~300", f"time={near(days, 120)},lev={near(lev, 300)}"),
                           ("time~2001-12-31T18:30,lev~1e9", f"time={near(days, 364.77)},lev=2"),
                           ("time~1999,lev~400.0", "time=0,lev=1"), ("lev=0,lat~14.9", f"lev=0,lat={near(lat, 14.9)}"),
                           ("lat~-90,lon~-50", f"lat=0,lon={turn(-50)}"), ("lon~359,lat=1", f"lon={turn(359)},lat=1"),
                           ("lon~200.5,lat=-1", f"lon={turn(200.5)},lat=3")):
        ours, theirs = (tool.run("ncmpidump", "--plot", f"value,{text}", scratch(path)) for text in (words, indices))
        ok(ours.returncode == 0 and ours.stdout == theirs.stdout and b"<svg" in ours.stdout, f"{path}: {words}", ours)
    for what, words in (("value,time~2001-13-01", "neither a number nor a date"), ("value,lev~x", "neither a number"),
                        ("value,lev~", "neither a number"), ("value,time~7x", "neither a number"),
                        ("curve,long~3", "no coordinate variable"), ("value,depth~3", "no dimension"),
                        ("value,lev=2001-01-01", "lev~2001-01-01 is the nearest")):
        tool.fails("ncmpidump", words, f"refused: {what}", "--plot", what, scratch(path))


def points(picture):
    return [[tuple(float(number) for number in pair.split(",")) for pair in re.split("[ML]", path.get("d"))[1:]]
            for path in picture.iter(SVG + "path") if path.get("fill") == "none"]


def check_lines(path):
    picture, err = plot(path, "gap")
    if not ok(picture is not None, f"{path}: a line", err):
        return
    x, y, width, height = frame(picture)
    lines = points(picture)
    ok([len(line) for line in lines] == [3, 5], "  with a gap where values are missing", lines)
    at = [point for line in lines for point in line]
    values = [0, 1, 2, 5, 6, 7, 8, 9]
    slope = np.polyfit(values, [point[1] for point in at], 1)
    steps = np.diff([point[0] for point in at])[[0, 1, 3, 4]]
    ok(np.allclose(np.polyval(slope, values), [point[1] for point in at], atol=.1) and slope[0] < 0 and
       np.allclose(steps, width / 10, atol=.1), "  points are at their values", at)
    gaps = [rect for rect in picture.iter(SVG + "rect")
            if rect.get("fill") == "url(#missing)" and float(rect.get("height")) == height]
    ok(len(gaps) == 1 and abs(float(gaps[0].get("width")) - width * .2) < .1 and has_text(picture, "missing"),
       "  the gap is hatched")
    picture, _ = plot(path, "curve")
    ranges = [p for p in picture.iter(SVG + "path") if p.get("fill-opacity")]
    ok(has_text(picture, "means of 5 values, with their range") and len(ranges) == 1 and
       [len(line) for line in points(picture)] == [1000], "  many values have a range")
    picture, _ = plot(path, "value,time=1,lat=2,lon=3")
    ok(len(points(picture)) == 1 and len(points(picture)[0]) == 3, "  along a dimension in the middle")
    places = [round(point[0] - x, 1) for point in points(picture)[0]]
    ok(np.allclose([(place - places[0]) / (places[2] - places[0]) for place in places], [0, 1 / 3, 1], atol=.01),
       "  at coordinates that are not equidistant", places)
    picture, err = plot(path, "same")
    ok(picture is not None and len(points(picture)[0]) == 4, "  of one value", err)


def check_files(path):
    result = tool.run("ncmpidump", "--plot", "signed", "-o", scratch("out.svg"), scratch(path))
    with open(scratch("out.svg"), "rb") as file:
        drawn = file.read()
    ok(result.returncode == 0 and not result.stdout and drawn == tool.run("ncmpidump", "--plot", "signed",
                                                                          scratch(path)).stdout, "-o", result.stderr)
    ok(tool.run("ncmpidump", "--plot", "gap", "-o", scratch("out.svg"), scratch(path)).returncode == 0,
       "a picture is replaced")
    with open(scratch("text.svg"), "w", encoding="ascii") as file:
        file.write("precious")
    tool.fails("ncmpidump", "exists already", "another file is not", "--plot", "gap", "-o", scratch("text.svg"),
               scratch(path))
    for what, words in (("nothing", "no variable"), ("signed,lat", "DIMENSION=INDEX"), ("signed,lev=1", "no dimension"),
                        ("signed,lat=4", "0 to 3"), ("signed,lat=-5", "0 to 3"), ("signed,lat=x", "0 to 3"),
                        ("signed,lat=1,lat=2", "no dimension"), ("signed,lat=1,lon=1", "two elements"),
                        ("scalar", "two elements"), ("letters", "no numbers"), ("", "names of variables")):
        tool.fails("ncmpidump", words, f"refused: {what}", "--plot", what, scratch(path))
    tool.fails("ncmpidump", "SVG", "another kind of picture", "--plot", "signed", "-o", "x.png", scratch(path))
    tool.fails("ncmpidump", "--plot", "-o without --plot", "-o", "x.svg", scratch(path))
    tool.fails("ncmpidump", "single", "two files", "--plot", "signed", scratch(path), scratch(path))
    tool.fails_to_print("ncmpidump", "--plot", "signed", scratch(path))


FILES = {"classic.nc": "NETCDF3_CLASSIC"} | ({"netcdf4.nc": "NETCDF4"} if tool.has_netcdf4() else {})
for name, kind in FILES.items():
    make(scratch(name), kind)
    check_map(name)
    check_other_shapes(name)
    check_lines(name)
    check_values(name)
check_files("classic.nc")
same = {tool.run("ncmpidump", "--plot", "value,time=3", scratch(name)).stdout for name in FILES}
ok(len(same) == 1, "the same picture of both formats")
tap.finish()
