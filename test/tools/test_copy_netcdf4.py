"""ncmpicopy from and to netCDF-4: netCDF4-python reads values, attributes, chunks and filters of its files, which are
compared with the originals and with the copies of nccopy."""
import os
import shutil
import subprocess
import sys

import netCDF4
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tap

try:
    import h5py
except ImportError:
    h5py = None

PROGRAM = "src/tools/ncmpicopy/ncmpicopy"
random = numpy.random.default_rng(46)
NUMBERS = ["i1", "i2", "i4", "f4", "f8", "u1", "u2", "u4", "i8", "u8"]


def copy(*arguments, ranks=1):
    status, out, errors = tap.run_mpi(ranks, PROGRAM, "--no-history", *arguments)
    return status, out + errors


def draw(kind, shape):
    if kind == "S1":
        return random.choice(numpy.array(list(b"abcdefg"), "u1"), shape).view("S1")
    if kind[0] == "f":
        return random.normal(0, 1000, shape).astype(kind)
    limits = numpy.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, kind, endpoint=True)


def make(path, records=7, model="NETCDF4"):
    """All types, several unlimited dimensions, chunks, filters, byte orders, fill values."""
    classic = model != "NETCDF4"
    with netCDF4.Dataset(path, "w", format=model) as file:
        file.createDimension("time", None)
        file.createDimension("lat", 19)
        file.createDimension("lon", 23)
        if not classic:
            file.createDimension("obs", None)
            file.setncattr("count", numpy.int64(2) ** 40)
            file.setncattr("small", numpy.array([1, 200], "u1"))
            file.setncattr_string("words", ["one", "two"])
        file.title = "made"
        kinds = [kind for kind in NUMBERS + ["S1"] if not classic or kind in ("i1", "i2", "i4", "f4", "f8", "S1")]
        for number, kind in enumerate(kinds):
            how = [{}, {"zlib": True, "complevel": 3, "shuffle": True, "chunksizes": (2, 19, 8)},
                   {"zlib": True, "complevel": 1, "shuffle": False, "fletcher32": True},
                   {"chunksizes": (3, 5, 23)}][number % 4]
            order = ["little", "big"][number // 2 % 2]
            endian = {"endian": order} if kind[1] != "1" else {}
            fill = {"fill_value": draw(kind, ())} if number % 2 and kind != "S1" else {}
            dtype = numpy.dtype(kind).newbyteorder({"little": "<", "big": ">"}[order]) if endian else kind
            variable = file.createVariable("v_" + kind, dtype, ("time", "lat", "lon"), **how, **endian, **fill)
            variable.set_auto_maskandscale(False)
            variable.setncattr("number", number)
            variable[:] = draw(kind, (records, 19, 23))
        scalar = file.createVariable("scalar", "f8", ())
        scalar[...] = 1.5
        fixed = file.createVariable("fixed", "f4", ("lat", "lon"))
        fixed[:] = draw("f4", (19, 23))
        file.createDimension("cell", 40000)
        file.createVariable("ramp", "i4", ("cell",))[:] = numpy.arange(40000)
        if not classic:
            inner = file.createVariable("inner", "i4", ("lat", "obs"), zlib=True, chunksizes=(4, 5))
            inner[:] = draw("i4", (19, 11))
            alone = file.createVariable("obs", "f8", ("obs",))
            alone[:] = numpy.arange(11) / 4


def contents(path):
    """Values as bytes, attributes, dimensions, and how each variable is stored."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_always_mask(False)
        file.set_auto_chartostring(False)
        attributes = lambda thing: {name: (numpy.asarray(thing.getncattr(name)).dtype.kind,
                                           numpy.asarray(thing.getncattr(name)).tolist())
                                    for name in thing.ncattrs() if name != "words"}
        values = {}
        for name, v in file.variables.items():
            data = numpy.asarray(v[...])
            values[name] = (data.shape, data.astype(data.dtype.newbyteorder("=")).tobytes(), v.dimensions)
        return {"model": file.data_model, "attributes": attributes(file), "values": values,
                "dimensions": [(d.name, len(d), d.isunlimited()) for d in file.dimensions.values()],
                "atts": {name: attributes(v) for name, v in file.variables.items()},
                "types": {name: v.dtype.str[1:] for name, v in file.variables.items()},
                "storage": {name: (v.filters(), v.chunking(), v.endian()) for name, v in file.variables.items()
                            if file.data_model.startswith("NETCDF4")}}


def same(a, b, *parts):
    return [f"{part}: {a[part]}\n{b[part]}"[:2000] for part in parts if a[part] != b[part]]


ALL = ("attributes", "values", "dimensions", "atts", "types")


def test_same_format():
    for model in ("NETCDF4", "NETCDF4_CLASSIC"):
        make("in.nc", model=model)
        for ranks in (1, 3):
            status, text = copy("-O", "--verify", "in.nc", "out.nc", ranks=ranks)
            ours, theirs = contents("out.nc"), contents("in.nc")
            wrong = same(ours, theirs, "model", "storage", *ALL)
            tap.ok(status == 0 and not text and not wrong, f"{model}: as it was, {ranks} ranks",
                   f"{status} {text}\n" + "\n".join(wrong))
    with netCDF4.Dataset("in.nc", "a") as file:  # netCDF-C made it, and appends
        file["v_f4"][7] = 2
    with netCDF4.Dataset("out.nc", "a") as file:
        file["v_f4"][7] = 2
    wrong = same(contents("in.nc"), contents("out.nc"), *ALL)
    tap.ok(not wrong, "netCDF-C appends to the copy", "\n".join(wrong))


def test_to_classic():
    make("in.nc")
    theirs = contents("in.nc")
    for kind in ("cdf5", "netcdf4_classic"):
        names = ["-V", ",".join(name for name in theirs["values"] if name[-2:] in ("i2", "i4", "f4", "f8", "er"))]
        for ranks in (1, 2):
            status, text = copy("-O", "--verify", "-k", kind, *names, "in.nc", "out.nc", ranks=ranks)
            ours = contents("out.nc")
            wrong = [name for name in ours["values"] if ours["values"][name] != theirs["values"][name]]
            tap.ok(status == 0 and not wrong and len(ours["values"]) == 5 and "dimension obs becomes fixed" in text
                   and [d for d in ours["dimensions"] if d[2]] == [("time", 7, True)],
                   f"to {kind}: one unlimited dimension, {ranks} ranks", f"{status} {text} {wrong}")
    status, text = copy("-O", "-k", "cdf2", "-V", "v_f4,fixed", "in.nc", "out.nc")
    ours = contents("out.nc")
    tap.ok(status == 0 and ours["attributes"]["count"] == ("f", 2.0 ** 40)
           and ours["attributes"]["small"] == ("i", [1, 200]) and "count was converted from int64 to double" in text,
           "attributes of types that CDF-2 lacks", text)
    status, text = copy("-O", "-k", "cdf2", "-V", "v_i8", "in.nc", "out2.nc")
    tap.ok(status == 1 and "type int64 needs CDF-5 or netCDF-4" in text and not os.path.exists("out2.nc"),
           "a type that CDF-2 lacks", text)
    status, text = copy("-O", "-k", "cdf5", "in.nc", "out.nc", ranks=2)
    wrong = same(contents("out.nc"), theirs, "values", "types", "atts", "attributes")
    tap.ok(status == 0 and not wrong, "all types to CDF-5", f"{status} {text} {wrong}")


def test_strings():
    with netCDF4.Dataset("strings.nc", "w") as file:
        file.createDimension("n", 3)
        names = file.createVariable("names", str, ("n",))
        names[:] = numpy.array(["a", "b", "c"], object)
        file.createVariable("x", "i4", ("n",))[:] = [1, 2, 3]
    status, text = copy("-k", "nc7", "strings.nc", "out-strings.nc")
    with netCDF4.Dataset("out-strings.nc") as file:
        tap.ok(status == 2 and list(file.variables) == ["x"] and "variable names is left out" in text
               and file["x"][:].tolist() == [1, 2, 3], "strings are left out, which is said", text)
    status, text = copy("-O", "-k", "nc7", "strings.nc", "strings.nc")
    with netCDF4.Dataset("strings.nc") as file:
        tap.ok(status == 1 and "names" in file.variables, "such an input is not replaced", text)


def test_compress():
    """A classic file, compressed: like nccopy does it, and by pattern."""
    make("in4.nc", records=12, model="NETCDF4_CLASSIC")
    subprocess.run(["nccopy", "-k", "cdf5", "in4.nc", "classic.nc"], check=True)
    wanted = contents("classic.nc")
    subprocess.run(["nccopy", "-d", "2", "-s", "-c", "time/4,lat/10", "classic.nc", "theirs.nc"], check=True)
    for ranks in (1, 2, 4):
        status, text = copy("-O", "--verify", "-d", "2", "-s", "-c", "time/4,lat/10,lon/23", "classic.nc", "out.nc",
                            ranks=ranks)
        ours, theirs = contents("out.nc"), contents("theirs.nc")
        wrong = same(ours, theirs, *ALL) + same(ours, wanted, *ALL)
        filters = ours["storage"]["v_f4"]
        tap.ok(status == 0 and not text and not wrong and filters[1] == [4, 10, 23] and filters[0]["shuffle"]
               and filters[0]["complevel"] == 2, f"-d 2 -s -c, {ranks} ranks: as nccopy", f"{text} {wrong} {filters}")
        tap.ok(ours["model"].startswith("NETCDF4") and os.path.getsize("out.nc") < os.path.getsize("classic.nc"),
               "it is netCDF-4, and smaller")
    options = ["--deflate=v_*:5", "--deflate=fixed,scalar:0", "--chunks=v_i?:3,19,23", "--chunks=v_f4:contiguous",
               "--chunks=fixed:lon/7", "--no-shuffle"]
    status, text = copy("-O", "-k", "nc4", *options, "classic.nc", "out.nc", ranks=2)
    ours = contents("out.nc")
    storage = ours["storage"]
    tap.ok(status == 0 and not same(ours, wanted, *ALL) and storage["v_f8"][0]["complevel"] == 5
           and not storage["v_f8"][0]["shuffle"] and not storage["fixed"][0]["zlib"]
           and storage["v_i2"][1] == [3, 19, 23] and storage["fixed"][1] == [19, 7], "options by variables",
           f"{text} {storage}")
    status, text = copy("-O", "-k", "nc4", "--zstd=3", "--chunks=lat/7", "classic.nc", "out.nc", ranks=2)
    if shutil.which("h5dump"):
        dump = subprocess.run(["h5dump", "-p", "-H", "-d", "/v_f4", "out.nc"], capture_output=True, text=True,
                              check=False).stdout
        tap.ok(status == 0 and "32015" in dump and "SHUFFLE" in dump and ", 7, 23 )" in dump, "--zstd",
               f"{text} {dump}")
    status, text = copy("-O", "--verify", "--deflate", "0", "out.nc", "plain.nc", ranks=2)
    storage = contents("plain.nc")["storage"]["v_f4"][0]
    tap.ok(status == 0 and not storage["zstd"] and not storage["zlib"] and not same(contents("plain.nc"), wanted, *ALL),
           "--deflate=0 of a file with zstd", f"{text} {storage}")
    status, text = copy("-O", "-k", "nc4", "-d", "1", "--quantize", "bits=9", "classic.nc", "out.nc", ranks=2)
    with netCDF4.Dataset("out.nc") as file, netCDF4.Dataset("classic.nc") as original:
        ours, theirs = numpy.asarray(file["v_f4"][:]), numpy.asarray(original["v_f4"][:])
        tap.ok(status == 0 and numpy.all(numpy.abs(ours - theirs) <= numpy.abs(theirs) / 2 ** 10)
               and file["v_f4"].quantization() == (9, "BitRound"), "--quantize", text)


def test_parts_and_rechunking():
    """Chunks of the input, of the output, both; subsets; conversions."""
    rng = numpy.random.default_rng(3)
    data = rng.normal(size=(60, 40, 50)).astype("f4")
    for name, chunks in (("tall", (60, 3, 3)), ("flat", (1, 40, 50)), ("odd", (7, 11, 13))):
        with netCDF4.Dataset(f"{name}.nc", "w") as file:
            for dim, length in (("t", None), ("y", 40), ("x", 50)):
                file.createDimension(dim, length)
            file.createVariable("a", "f4", ("t", "y", "x"), zlib=True, chunksizes=chunks)[:] = data
    for source in ("tall", "flat", "odd"):
        for chunks in ("t/60,y/5,x/4", "t/1,y/40,x/50", "t/16,y/16,x/16", "auto", None):
            words = ["--chunks", chunks] if chunks else ["-k", "cdf5"]
            status, text = copy("-O", "--verify", *words, "-d", "t,3,-2,2", "-d", "x,5,-1", f"{source}.nc", "out.nc",
                                ranks=3)
            with netCDF4.Dataset("out.nc") as file:
                tap.ok(status == 0 and numpy.array_equal(file["a"][:], data[3:59:2, :, 5:]),
                       f"a part of {source} to {chunks}", text)
    ints = numpy.where(rng.random((60, 40, 50)) < 0.001, 70000, 5)
    with netCDF4.Dataset("ints.nc", "w") as file:
        for dim, length in (("t", 60), ("y", 40), ("x", 50)):
            file.createDimension(dim, length)
        file.createVariable("a", "i4", ("t", "y", "x"), chunksizes=(60, 5, 5))[:] = ints
    status, text = copy("-O", "-t", "a:short", "ints.nc", "out.nc", ranks=2)
    first = [int(i) for i in numpy.argwhere(ints == 70000)[0]]
    tap.ok(status == 2 and f"{int((ints == 70000).sum())} values do not fit" in text
           and f"the first at {first}" in text, "misfits are counted, the first one is named", f"{text} {first}")


def test_groups():
    with netCDF4.Dataset("groups.nc", "w") as file:
        file.createDimension("n", 3)
        file.createVariable("x", "i4", ("n",))[:] = [1, 2, 3]
        group = file.createGroup("forecast")
        group.title = "of a group"
        group.createDimension("m", 4)
        group.createVariable("tas", "f4", ("n", "m"), zlib=True)[:] = numpy.arange(12).reshape(3, 4)
    for kind in ("cdf5", "netcdf4"):
        status, text = copy("-O", "--verify", "-k", kind, "groups.nc", "out.nc", ranks=2)
        with netCDF4.Dataset("out.nc") as file:
            tap.ok(status == 2 and "groups are not written" in text and file.forecast_title == "of a group"
                   and file["forecast_tas"][:].ravel().tolist() == list(range(12)) and list(file["x"][:]) == [1, 2, 3],
                   f"groups become parts of names, {kind}", text)
    status, text = copy("-O", "-d", "forecast/m,1,2", "-v", "forecast/tas", "groups.nc", "out.nc")
    with netCDF4.Dataset("out.nc") as file:
        tap.ok(status == 2 and file["forecast_tas"][:].tolist() == [[1, 2], [5, 6], [9, 10]], "a part of a group", text)


def test_other_storage():
    """What this library reads but does not write."""
    if h5py is None:
        tap.skip("compact variables, szip", "h5py is not installed")
        return
    data = numpy.arange(3000, dtype="f4").reshape(50, 60)
    with h5py.File("other.nc", "w") as file:
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file.id, b"compact", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((4, 5)), compact).write(
            h5py.h5s.ALL, h5py.h5s.ALL, data.ravel()[:20].reshape(4, 5).copy())
        szip = h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP)
        file.create_dataset("squeezed", data=data, chunks=(20, 30), compression="szip" if szip else "gzip")
    status, text = copy("-O", "--verify", "other.nc", "out.nc", ranks=2)
    with netCDF4.Dataset("out.nc") as file:
        tap.ok(status == 0 and file["compact"][:].ravel().tolist() == list(range(20))
               and numpy.array_equal(file["squeezed"][:], data) and file["squeezed"].filters()["zlib"]
               and (not szip or "by deflate, not by szip" in text), "compact variables, szip", text)


def test_messages():
    make("in.nc")
    for words, message in ((["-k", "cdf5", "--deflate", "1"], "need a netCDF-4 output"),
                           (["--deflate=nothing:1"], "no variable that is copied has the name nothing"),
                           (["--deflate=11"], "with a level from 0"), (["--zstd=x"], "--zstd must be"),
                           (["--chunks=lat"], "--chunks must be"), (["--chunks=latt/3"], "no dimension latt"),
                           (["--chunks=v_f4:1,2"], "has 3 dimensions, not 2"), (["-k", "nc9"], "-k must be"),
                           (["-r", "obs", "in.nc"], "is not its first one")):
        status, text = copy("-O", *words, "in.nc", "never.nc", ranks=2)
        tap.ok(status == 1 and message in text and text.count("\n") == 1 and not os.path.exists("never.nc"),
               f"a message for {' '.join(words)}", f"{status} {text}")
    with open("in.nc", "rb") as file:
        whole = file.read()
    wrong = []
    for cut in (9, 100, 1000, len(whole) // 2, len(whole) - 1):
        with open("cut.nc", "wb") as file:
            file.write(whole[:cut])
        status, text = copy("cut.nc", "never.nc", ranks=2)
        if status != 1 or "ncmpicopy: " not in text or os.path.exists("never.nc"):
            wrong.append((cut, status, text))
    tap.ok(not wrong, "a truncated input is an error", wrong)


# --- several inputs ---

UNITS = ["days since 2000-01-01", "hours since 2000-01-05", "days since 2000-01-09"]


def make_part(path, i, model):
    """Four days; other units, fill values, packing, chunks and filters in each file."""
    with netCDF4.Dataset(path, "w", format=model) as file:
        file.createDimension("time", None)
        file.createDimension("x", 5)
        time = file.createVariable("time", "f8", ("time",))
        time.units = UNITS[i]
        time[:] = numpy.arange(4) * [1, 24, 1][i]
        stored = model.startswith("NETCDF4")
        ways = [{"zlib": True, "chunksizes": (2, 5)}, {"chunksizes": (3, 2), "fletcher32": True}, {}]
        how = ways[i] if stored else {}
        value = file.createVariable("value", "f4", ("time", "x"), fill_value=[-9, -9, -99][i], **how)
        value[:] = numpy.ma.masked_equal(numpy.arange(20).reshape(4, 5) + 100 * i, 100 * i + 7)
        packed = file.createVariable("packed", "i2", ("time",), **({"zlib": i == 1} if stored else {}))
        packed.scale_factor, packed.add_offset = [.5, .25, .5][i], 10. * i
        packed[:] = 10. * i + numpy.arange(4) / 2
        file.createVariable("x", "i4", ("x",))[:] = numpy.arange(5) * 3
        file.createVariable("name", "S1", ("time",))[:] = numpy.array(list(b"abcd"), "u1").view("S1")


def joined_is_right(path, model):
    with netCDF4.Dataset(path) as file:
        value, expected = file["value"][:], numpy.concatenate([numpy.arange(20).reshape(4, 5) + 100 * i
                                                               for i in range(3)])
        return (file.data_model == model and numpy.array_equal(file["time"][:], numpy.arange(12.)) and
                numpy.array_equal(value.data[~value.mask], expected[expected % 100 != 7]) and
                numpy.array_equal(value.mask, expected % 100 == 7) and
                numpy.array_equal(file["packed"][:], numpy.concatenate([10. * i + numpy.arange(4) / 2
                                                                        for i in range(3)])) and
                numpy.array_equal(file["x"][:], numpy.arange(5) * 3) and
                b"".join(file["name"][:].data) == b"abcd" * 3)


def test_joins():
    models = {"n": "NETCDF4", "m": "NETCDF4_CLASSIC", "c": "NETCDF3_CLASSIC", "5": "NETCDF3_64BIT_DATA"}
    for letter, model in models.items():
        for i in range(3):
            make_part(f"part-{letter}{i}.nc", i, model)
    for inputs, options, model in (("nnn", [], "NETCDF4"), ("mmm", [], "NETCDF4_CLASSIC"), ("ncn", [], "NETCDF4"),
                                   ("cn5", [], "NETCDF3_CLASSIC"), ("nnn", ["-k", "cdf5"], "NETCDF3_64BIT_DATA"),
                                   ("ccm", ["-k", "nc4", "--deflate=1"], "NETCDF4")):
        for ranks in (1, 3):
            files = [f"part-{letter}{i}.nc" for i, letter in enumerate(inputs)]
            status, text = copy("-O", "--verify", *options, *files, "joined.nc", ranks=ranks)
            right = status == 0 and joined_is_right("joined.nc", model)
            tap.ok(right and "times are converted" in text and "missing values are converted" in text,
                   f"{inputs} {' '.join(options)} are joined on {ranks} ranks", text)
    status, text = copy("-O", "part-n0.nc", "part-n1.nc", "part-n2.nc", "joined.nc")
    with netCDF4.Dataset("joined.nc") as file:
        tap.ok(file["value"].chunking() == [2, 5] and file["value"].filters()["zlib"],
               "chunks and filters are those of the first input", (file["value"].chunking(), file["value"].filters()))
    status, text = copy("-O", "-d", "time,1,-1,3", "part-n0.nc", "part-n1.nc", "part-n2.nc", "joined.nc", ranks=2)
    with netCDF4.Dataset("joined.nc") as file:
        tap.ok(numpy.array_equal(file["time"][:], [1, 4, 7, 10]), "a part of the joined dimension", text)
    make("part.nc")
    status, text = copy("-O", "-r", "obs", "part.nc", "part.nc", "never.nc")
    tap.ok(status == 1 and "obs" in text and not os.path.exists("never.nc"),
           "an inner unlimited dimension cannot be joined", text)
    status, text = copy("-O", "--strict", "part-n0.nc", "part-n1.nc", "never.nc", ranks=2)
    tap.ok(status == 1 and not os.path.exists("never.nc"), "--strict refuses what would be converted", text)


def count_written(*arguments):
    """Its exit status, and the bytes that one process wrote."""
    command = [os.path.join(os.environ.get("PNC_BUILD", os.getcwd()), PROGRAM), "--no-history", *arguments]
    child = os.posix_spawn(command[0], command, os.environ)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{child}/io", encoding="ascii") as file:
        written = int(dict(line.split(": ") for line in file)["wchar"])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), written


def test_maps_to_series():
    """Each chunk is written once, also where those of input and output together are more than memory."""
    rows = numpy.arange(576, dtype="f4")[:, None]
    with netCDF4.Dataset("maps.nc", "w") as file:
        for name, length in (("time", 300), ("y", 576), ("x", 400)):
            file.createDimension(name, length)
        maps = file.createVariable("v", "f4", ("time", "y", "x"), chunksizes=(1, 576, 400))
        for time in range(300):
            maps[time] = rows * 1000 + time + numpy.arange(400) / 512
    size = os.path.getsize("maps.nc")
    status, written = count_written("-O", "--chunks", "time/300,y/16,x/50", "maps.nc", "series.nc")
    tap.ok(status == 0 and written < 1.5 * size, "maps to time series: each chunk is written once", (written, size))
    with netCDF4.Dataset("maps.nc") as a, netCDF4.Dataset("series.nc") as b:
        same = all(numpy.array_equal(a["v"][t], b["v"][t]) for t in (0, 77, 299))
        tap.ok(same and b["v"].chunking() == [300, 16, 50], "  its values and chunks", b["v"].chunking())
    os.remove("maps.nc")
    os.remove("series.nc")


def main():
    os.makedirs(tap.scratch("copy4"), exist_ok=True)
    os.chdir(tap.scratch("copy4"))
    for name in os.listdir("."):
        os.remove(name)
    make("probe.nc")
    if "NC_ENOTBUILT" in copy("probe.nc", "probe-out.nc")[1] or "without HDF5" in copy("probe.nc", "p.nc")[1]:
        tap.skip("netCDF-4 files", "the build is without HDF5")
        tap.finish()
    test_same_format()
    test_to_classic()
    test_strings()
    if shutil.which("nccopy"):
        test_compress()
    test_parts_and_rechunking()
    test_groups()
    test_other_storage()
    test_maps_to_series()
    test_joins()
    test_messages()
    tap.finish()


main()
