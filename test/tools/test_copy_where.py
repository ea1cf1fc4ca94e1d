"""ncmpicopy --where against numpy and cftime, which select by values and dates; --set-att, --del-att and --rename."""
import os
import sys

import cftime
import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap

PROGRAM = "src/tools/ncmpicopy/ncmpicopy"


def copy(*arguments, ranks=1):
    status, out, errors = tap.run_mpi(ranks, PROGRAM, "--no-history", "-O", *arguments)
    return status, out + errors


def make(path, units="days since 2000-01-01", calendar="standard", times=numpy.arange(0, 900, 0.25), kind="f8",
         descending=False):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        for name, length in (("time", None), ("lat", 37), ("x", 4)):
            file.createDimension(name, length)
        time = file.createVariable("time", kind, ("time",))
        time.units, time.calendar = units, calendar
        time[:] = times
        lat = file.createVariable("lat", "f4", ("lat",))
        lat[:] = numpy.linspace(90, -90, 37) if descending else numpy.linspace(-90, 90, 37)
        lat.units = "degrees_north"
        packed = file.createVariable("x", "i2", ("x",))
        packed.scale_factor, packed.add_offset = 0.5, 100.0
        packed.set_auto_maskandscale(False)
        packed[:] = [0, 2, 4, 6]
        data = file.createVariable("t", "f4", ("time", "lat", "x"))
        data.coordinates = "lat x"
        data.valid_range = numpy.array([0, 1], "f4")
        data[:] = numpy.arange(len(times) * 37 * 4).reshape(len(times), 37, 4)
        file.title = "old"


def select(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return numpy.asarray(file[name][:])


def dates(path):
    with netCDF4.Dataset(path) as file:
        return cftime.num2date(file["time"][:], file["time"].units, file["time"].calendar)


def test_values():
    for descending in (False, True):
        make("in.nc", times=numpy.arange(20.), descending=descending)
        lat, x = select("in.nc", "lat"), select("in.nc", "x") * 0.5 + 100
        for text, which in (("-30:30", (lat >= -30) & (lat <= 30)), (":-45", lat <= -45), ("62.5:", lat >= 62.5),
                            ("-5", lat == -5), ("-1e3:1e3", lat > -100)):
            for ranks in (1, 3):
                status, text_out = copy("--verify", "--where", f"lat={text}", "--where", "x=101:102", "in.nc",
                                        "out.nc", ranks=ranks)
                wanted = select("in.nc", "t")[:, which][:, :, (x >= 101) & (x <= 102)]
                tap.ok(status == 0 and numpy.array_equal(select("out.nc", "t"), wanted)
                       and numpy.array_equal(select("out.nc", "lat"), lat[which]),
                       f"lat={text}, {'descending' if descending else 'ascending'}, {ranks} ranks", text_out)
    status, text = copy("-d", "lat,3,20", "--where", "lat=-30:90", "in.nc", "out.nc")
    tap.ok(status == 0 and numpy.array_equal(select("out.nc", "lat"), lat[3:21][lat[3:21] >= -30]), "with -d", text)


def make_longitudes(path, values, kind="f4", bounds=False, limits=False, chunks=None):
    """A field whose values are 1000 * (index of lat) + longitude in 0 to 360, and one that has no latitude."""
    values = numpy.asarray(values)
    with netCDF4.Dataset(path, "w", format="NETCDF4" if chunks else "NETCDF3_CLASSIC") as file:
        for name, length in (("lat", 5), ("lon", len(values)), ("nv", 2)):
            file.createDimension(name, length)
        lon = file.createVariable("lon", kind, ("lon",))
        lon[:] = values
        lon.units = "degrees_east"
        if bounds:
            lon.bounds = "lon_bnds"
            file.createVariable("lon_bnds", "f8", ("lon", "nv"))[:] = numpy.stack([values - 0.5, values + 0.5], 1)
        if limits:
            lon.valid_range = numpy.array([0, 360], kind)
        field = file.createVariable("v", "i4", ("lat", "lon"), zlib=bool(chunks), chunksizes=chunks)
        field[:] = 1000 * numpy.arange(5)[:, None] + numpy.round(values % 360 * 2)
        file.createVariable("w", "i4", ("lon",))[:] = numpy.round(values % 360 * 2)


def test_longitudes():
    """Ranges over the end of the dimension. What is expected is computed from the longitudes alone: those that the
    range has modulo 360, each once, ascending or descending as in the file."""
    grids = {"east": numpy.arange(0, 360, 2.), "west": numpy.arange(-180, 180, 2.), "closed": numpy.arange(0, 361, 2.),
             "down": numpy.arange(358, -1, -2.), "pacific": numpy.arange(180, 540, 2.) % 360,
             "half": numpy.arange(0.5, 360)}
    for name, values in grids.items():
        make_longitudes("turn.nc", values, bounds=name == "half")
        for text, low, high in (("-10:40", -10, 40), ("350:40", 350, 400), ("170:190", 170, 190), ("-20:-10", -20, -10),
                                ("20:30", 20, 30), ("-180:179", -180, 179), ("0:359", 0, 359), ("355:370", 355, 370)):
            places = numpy.unique(values % 360)
            wanted = numpy.unique([x + 360 * k for x in places for k in range(-2, 3) if low <= x + 360 * k <= high])
            wanted = wanted[::-1] if name == "down" else wanted
            if name == "pacific" and text == "0:359":
                wanted = values  # all of them, none turned: as the file has them
            ranks = 1 + 2 * (len(text) % 2)
            status, out = copy("--verify", "--where", f"lon={text}", "turn.nc", "out.nc", ranks=ranks)
            ours = select("out.nc", "lon") if status == 0 else None
            numbers = numpy.round(wanted % 360 * 2)
            good = status == 0 and numpy.array_equal(ours, wanted) and \
                numpy.array_equal(select("out.nc", "v"), 1000 * numpy.arange(5)[:, None] + numbers) and \
                numpy.array_equal(select("out.nc", "w"), numbers)
            turned = not set(wanted.tolist()) <= set(values.tolist())
            tap.ok(good and ("longitudes" in out) == turned, f"{name}: lon={text}, {ranks} ranks",
                   f"{out}\n{ours}\n{wanted}")
            if good and name == "half":
                tap.ok(numpy.array_equal(select("out.nc", "lon_bnds"), numpy.stack([wanted - .5, wanted + .5], 1)),
                       f"{name}: lon={text}: the bounds")


def test_longitudes_kept():
    """Parts of files: of chunks, of numbers that cannot be turned, and what is refused."""
    in_chunks = {"chunks": (2, 7)} if tap.has_hdf5() else {}
    make_longitudes("chunks.nc", numpy.arange(0, 360, 2.), **in_chunks)
    wanted = numpy.arange(-20, 22, 2)
    for options in ((), ("-k", "cdf5"), ("--chunks", "v:lon/5"))[:3 if in_chunks else 2]:
        status, out = copy("--verify", "--where", "lon=-20:20", *options, "chunks.nc", "out.nc", ranks=3)
        tap.ok(status == 0 and numpy.array_equal(select("out.nc", "v") % 1000, numpy.tile(wanted % 360 * 2, (5, 1))) and
               numpy.array_equal(select("out.nc", "lon"), wanted), f"chunks {options}", out)
    status, out = copy("--checksum", "chunks.nc", "sums.nc")
    if "without xxHash" not in out:
        status, out = copy("--checksum", "--where", "lon=-180:179", "sums.nc", "out.nc", ranks=2)
        tap.ok(status == 0 and numpy.array_equal(select("out.nc", "lon"), numpy.arange(-180, 180, 2)),
               "all values in another order: the checksum is another one", out)
    for label, arguments in (("limits", {"limits": True}),
                             ("bytes", {"kind": "i1", "values": numpy.arange(-128, 127.)})):
        make_longitudes("kept.nc", **{"values": numpy.arange(0, 360, 2.), **arguments})
        before = select("kept.nc", "lon")
        words = "lon=350:370" if label == "limits" else "lon=240:250"
        status, out = copy("--where", words, "kept.nc", "out.nc", ranks=2)
        ours = select("out.nc", "lon")
        expected = [350, 352, 354, 356, 358, 0, 2, 4, 6, 8, 10] if label == "limits" else list(range(-120, -109))
        tap.ok(status == 0 and ours.tolist() == expected and set(ours) <= set(before) and "warning: --where" in out and
               "stay as they are" in out, f"longitudes that are not turned: {label}", out)
    make_longitudes("turn.nc", numpy.arange(0, 360, 2.))
    for words, message in ((("-d", "lon,0,100", "--where", "lon=-10:10"), "of which another option selects a part"),
                           (("--where", "lon=-10:10", "--where", "lon=-5:5"), "of which another option selects"),
                           (("--where", "lon=-10:10", "--where", "lon=0:5"), "of which another option selects")):
        status, out = copy(*words, "turn.nc", "none.nc", ranks=2)
        tap.ok(status == 1 and message in out and not os.path.exists("none.nc"), " ".join(words), out)
    make_longitudes("gap.nc", numpy.array([0, 10, 350, 20, 355.]))
    status, out = copy("--where", "lon=-10:10", "gap.nc", "none.nc", ranks=2)
    tap.ok(status == 1 and "4 values are in this range, which are not next to each other: from index 0 on" in out,
           "longitudes apart", out)
    make_longitudes("regional.nc", numpy.arange(10, 40, 2.))
    status, out = copy("--where", "lon=-20:-10", "regional.nc", "none.nc")
    tap.ok(status == 1 and "no value is in this range: they are 10 to 38" in out and not os.path.exists("none.nc"),
           "a range without longitudes", out)


def test_several_coordinates():
    """Two options along one dimension: each turns its own coordinate and the bounds of that, or none."""
    make_longitudes("two.nc", numpy.arange(0, 360, 2.), bounds=True)
    with netCDF4.Dataset("two.nc", "a") as file:
        file.createVariable("lon2", "f8", ("lon",))[:] = numpy.arange(0, 360, 2.)
        file["lon2"].units = "degrees_east"
        file.createVariable("x", "f8", ("lon",))[:] = numpy.arange(0, 36, 0.2)
    west, few = numpy.arange(-40., -18, 2), numpy.arange(-30., -18, 2)
    for words, lon, lon2 in ((("lon=-40:-10", "lon2=680:700"), west, west + 720),
                             (("lon2=680:700", "lon=-40:-10"), west, west + 720),
                             (("lon=-40:-10", "x=32.9:34.1"), few, few + 360),
                             (("lon=-40:-10", "lon=330:340"), few, few + 360),
                             (("lon=-40:-10", "lon2=330:340"), few, few + 360)):
        status, out = copy("--verify", *(word for one in words for word in ("--where", one)), "two.nc", "out.nc",
                           ranks=2)
        tap.ok(status == 0 and numpy.array_equal(select("out.nc", "lon"), lon) and
               numpy.array_equal(select("out.nc", "lon2"), lon2) and
               numpy.array_equal(select("out.nc", "lon_bnds"), numpy.stack([lon - 0.5, lon + 0.5], 1)) and
               numpy.array_equal(select("out.nc", "w"), lon % 360 * 2), f"--where {' --where '.join(words)}",
               f"{out}\n{select('out.nc', 'lon')}\n{select('out.nc', 'lon2')}")


def test_nearest():
    """The value that numpy finds nearest; longitudes across Greenwich, and dates."""
    make("in.nc", times=numpy.arange(20.))
    lat = select("in.nc", "lat")
    for text in ("45.3", "-1.2", "90", "0", "92", "1e3", "-91"):
        status, out = copy("--verify", "--where", f"lat~{text}", "in.nc", "out.nc", ranks=2)
        at = numpy.argmin(abs(lat - float(text)))
        far = abs(float(text)) > 95
        tap.ok(status == 0 and select("out.nc", "lat").tolist() == [lat[at]] and
               numpy.array_equal(select("out.nc", "t")[:, 0], select("in.nc", "t")[:, at]) and
               ("the nearest is" in out) == far and (far or not out), f"lat~{text}", out)
    status, out = copy("--where", "time~2000-01-05T13", "in.nc", "out.nc", ranks=2)
    tap.ok(status == 0 and select("out.nc", "time").tolist() == [5], "time~2000-01-05T13", out)
    make_longitudes("turn.nc", numpy.arange(0.5, 360))
    for text, wanted in (("-0.2", 359.5), ("359.9", 359.5), ("0.1", 0.5), ("-90", 270.5 - 1), ("725.4", 5.5)):
        status, out = copy("--where", f"lon~{text}", "turn.nc", "out.nc")
        tap.ok(status == 0 and select("out.nc", "lon").tolist() == [wanted] and not out, f"lon~{text}", out)
    for words in ("lat~x", "lat~1:2", "lat~", "~1", "time~2001-02-30"):
        status, out = copy("--where", words, "in.nc", "none.nc")
        tap.ok(status == 1 and "must be" in out and not os.path.exists("none.nc"), f"--where {words}", out)


def test_dates():
    for calendar, units, times in (("standard", "days since 2000-01-01", numpy.arange(0, 900, 0.25)),
                                   ("noleap", "hours since 1999-12-31 18:00", numpy.arange(0, 20000, 6.0)),
                                   ("360_day", "minutes since 2000-02-30", numpy.arange(0, 1000000, 360.0))):
        make("in.nc", units, calendar, times)
        all_dates = dates("in.nc")
        date = lambda *parts: cftime.datetime(*parts, calendar=calendar)
        for text, first, last in (("2001", date(2001, 1, 1), date(2002, 1, 1)),
                                  ("2000-12:2001-02", date(2000, 12, 1), date(2001, 3, 1)),
                                  ("2001-01-05:2001-01-07", date(2001, 1, 5), date(2001, 1, 8)),
                                  ("2001-06-10T06:2001-06-10T18:00", date(2001, 6, 10, 6), date(2001, 6, 10, 18, 1)),
                                  ("2001-06-10T06:00:2001-06-10T12:00:00", date(2001, 6, 10, 6),
                                   date(2001, 6, 10, 12, 0, 1)),
                                  (":2000-06-30", date(1999, 1, 1), date(2000, 7, 1)),
                                  ("2001-11-20:", date(2001, 11, 20), date(2010, 1, 1))):
            status, text_out = copy("--where", f"time={text}", "-V", "time,t", "in.nc", "out.nc", ranks=2)
            which = numpy.array([first <= d < last for d in all_dates])
            tap.ok(status == 0 and numpy.array_equal(select("out.nc", "t"), select("in.nc", "t")[which])
                   and 0 < which.sum() < len(which), f"{calendar}: time={text}", text_out)


def test_join():
    """Dates through all files, whose units differ."""
    make("a.nc", "days since 2000-01-01", times=numpy.arange(0, 60.))
    make("b.nc", "hours since 2000-03-01", times=numpy.arange(0, 60. * 24, 24))
    status, text = copy("--where", "time=2000-02-20:2000-03-10", "a.nc", "b.nc", "out.nc", ranks=2)
    ours = [str(d)[:10] for d in dates("out.nc")]
    tap.ok(status == 0 and ours[0] == "2000-02-20" and ours[-1] == "2000-03-10" and len(ours) == 20,
           "dates in two files with other units", f"{text} {ours}")


def test_join_longitudes():
    """The longitudes of a track that goes on in a second file."""
    track = numpy.arange(250., 350, 10)
    for name, part in (("a.nc", track[:5]), ("b.nc", track[5:])):
        with netCDF4.Dataset(name, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createVariable("lon", "f4", ("time",))[:] = part
            file["lon"].units = "degrees_east"
    for ranks in (1, 2):
        status, text = copy("--verify", "--where", "lon=-100:-30", "a.nc", "b.nc", "out.nc", ranks=ranks)
        tap.ok(status == 0 and numpy.array_equal(select("out.nc", "lon"), track[(track >= 260) & (track <= 330)] - 360),
               f"longitudes in two files, {ranks} ranks", f"{text} {select('out.nc', 'lon')}")


def test_messages():
    make("in.nc", times=numpy.array([0., 1, 2, 30, 3, 4]))
    for words, message in ((["--where", "lat"], "--where must be"), (["--where", "lat=a:b"], "with numbers"),
                           (["--where", "time=5:6x"], "with dates"), (["--where", "time=2001-02-30"], "with dates"),
                           (["--where", "lat=91:95"], "no value is in this range: they are -90 to 90"),
                           (["--where", "t=1:2"], "numbers along one dimension"),
                           (["--where", "nothing=1:2"], "no variable that is copied"),
                           (["--where", "time=2000-01-01:2000-01-05"], "not next to each other"),
                           (["--set-att", "t:units"], "--set-att must be"),
                           (["--set-att", "units=K"], "--set-att must be var:att=value, or :att=value for the file"),
                           (["--set-att", "title=a:b"], "--set-att must be"),
                           (["--set-att", "t:=K"], "--set-att must be"), (["--del-att", "units"], "--del-att must be"),
                           (["--rename", "t"], "--rename must be"),
                           (["--del-att", "t:nothing"], "no attribute nothing of t"),
                           (["--set-att", "q*:units=K"], "has the name q*"),
                           (["--rename", "nothing=x"], "no variable or dimension nothing"),
                           (["--rename", "t=lat"], "lat")):
        if os.path.exists("out.nc"):
            os.remove("out.nc")
        status, text = copy(*words, "in.nc", "out.nc", ranks=2)
        tap.ok(status == 1 and message in text and text.count("\n") == 1 and not os.path.exists("out.nc"),
               f"a message for {' '.join(words)}", text)


def test_edits():
    make("in.nc", times=numpy.arange(5.))
    for ranks in (1, 2):
        status, text = copy("--rename", "lat=latitude", "--rename", "t=temperature", "--set-att", ":title=new, too",
                            "--set-att", "t:units=K", "--set-att", "t:valid_range=-5,7.5", "--set-att", "lat:count=3",
                            "--set-att", 'lat:text="12"', "--del-att", "time:calendar", "--set-att", "*:seen=0.5",
                            "--set-att", ":number=1,2", "in.nc", "out.nc", ranks=ranks)
        with netCDF4.Dataset("out.nc") as file:
            file.set_auto_maskandscale(False)
            t = file["temperature"]
            tap.ok(status == 0 and file.title == "new, too" and t.units == "K" and t.dimensions[1] == "latitude"
                   and t.coordinates == "latitude x" and t.valid_range.dtype == "f4"
                   and t.valid_range.tolist() == [-5, 7.5] and file["latitude"].count == 3
                   and file["latitude"].text == "12" and "calendar" not in file["time"].ncattrs()
                   and all(v.seen == 0.5 for v in file.variables.values()) and file.number.tolist() == [1, 2]
                   and file.number.dtype == "i4" and "lat" not in file.variables
                   and numpy.array_equal(t[:], select("in.nc", "t")), f"names and attributes, {ranks} ranks", text)


def main():
    os.makedirs(tap.scratch("where"), exist_ok=True)
    os.chdir(tap.scratch("where"))
    test_values()
    test_longitudes()
    test_longitudes_kept()
    test_several_coordinates()
    test_nearest()
    test_dates()
    test_join()
    test_join_longitudes()
    test_messages()
    test_edits()
    tap.finish()


main()
