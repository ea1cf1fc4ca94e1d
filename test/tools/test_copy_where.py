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


def test_longitudes():
    """A range over the end of the dimension selects a part, with a warning; none in it is an error that says why."""
    with netCDF4.Dataset("turn.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("lon", 180)
        lon = file.createVariable("lon", "f4", ("lon",))
        lon[:] = numpy.arange(0, 360, 2)
        lon.units = "degrees_east"
    for text, wanted, said in (("-10:10", numpy.arange(0, 12, 2), "longitudes of this file are 0 to 358: 5 that"),
                               ("350:370", numpy.arange(350, 360, 2), "such as 10, are left out"),
                               ("20:30", numpy.arange(20, 32, 2), "")):
        status, out = copy("--where", f"lon={text}", "turn.nc", "out.nc", ranks=2)
        tap.ok(status == 0 and numpy.array_equal(select("out.nc", "lon"), wanted) and said in out and
               (said == "") == (out == ""), f"lon={text}", out)
    status, out = copy("--where", "lon=-20:-10", "turn.nc", "none.nc")
    tap.ok(status == 1 and "longitudes of this file are 0 to 358: give the range in these" in out and
           not os.path.exists("none.nc"), "lon=-20:-10", out)


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
    test_dates()
    test_join()
    test_messages()
    test_edits()
    tap.finish()


main()
