"""The package in python/: xarray reads and writes files through the library on 1, 2 and 4 ranks, with the values,
attributes and encodings that its engines netcdf4, scipy and h5netcdf read and write without it.

With "--run", as an MPI program in the scratch folder: rank 0 prints a line of JSON for each check."""
# needs: python
import faulthandler
import json
import os
import pickle
import shutil
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import pypi
import tap

ENVIRONMENT = pypi.MpiEnvironment("the package in python/")
TOP = os.path.join(HERE, "..", "..")
ENCODINGS = ("dtype", "_FillValue", "scale_factor", "add_offset", "units", "calendar", "zlib", "shuffle", "complevel",
             "fletcher32", "contiguous", "chunksizes")
FORMATS = ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF3_64BIT", "NETCDF3_CLASSIC")


# --- on each rank -----------------------------------------------------------------------------------------------------

def check(good, text, why=""):
    """One line, with the complaints of all ranks."""
    complaints = [f"rank {rank}: {reason}" for rank, reason in enumerate(COMM.gather("" if good else str(why) or "no")
                                                                         or []) if reason]
    if COMM.rank == 0:
        print(json.dumps([text, "\n".join(complaints)]), flush=True)


def attempt(text, function, *arguments, **options):
    """Whether a function returns without an exception, on all ranks."""
    import traceback
    try:
        function(*arguments, **options)
        check(True, text)
    except Exception:
        check(False, text, traceback.format_exc())


def refused(text, kind, words, function, *arguments, **options):
    """All ranks raise an exception: that of the rank which fails has the kind, all have the words."""
    try:
        function(*arguments, **options)
        check(False, text, "no exception")
    except (kind, RuntimeError) as error:
        check(words in str(error), text, repr(error))
    except Exception as error:
        check(False, text, repr(error))


def sample(seed=1):
    random = numpy.random.default_rng(seed)
    wind = random.normal(10, 3, (7, 6, 9)).astype("f4")
    wind[2, 1:3, 4] = numpy.nan
    return xarray.Dataset(
        {"wind": (("time", "lat", "lon"), wind, {"units": "m s-1", "levels": numpy.array([1, 5], "i4")}),
         "count": (("time", "lat"), random.integers(-2**30, 2**30, (7, 6)).astype("i4")),
         "station": (("lat",), numpy.array(["Aa", "Oslo", "Ürümqi", "x", "", "Rio"])),
         "is_land": (("lon",), numpy.arange(9) % 2 == 0),
         "height": ((), 2.5),
         "delay": (("lat",), numpy.arange(6).astype("m8[h]").astype("m8[ns]"))},
        {"time": numpy.datetime64("2001-03-01", "ns") + numpy.arange(7) * numpy.timedelta64(6, "h"),
         "lat": numpy.linspace(-75, 75, 6), "lon": numpy.arange(9) * 40.0},
        {"title": "a sample", "version": numpy.float64(1.5)})


def make_inputs():
    """Files of other libraries."""
    data = sample()
    packed = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 10.0, "_FillValue": -999}
    chunks, text = {"zlib": True, "complevel": 3, "chunksizes": (2, 4, 5)}, {"dtype": "S1"}
    data.to_netcdf("netcdf4.nc", engine="netcdf4", unlimited_dims=["time", "lon"],
                   encoding={"wind": {**packed, **chunks, "fletcher32": True}, "count": {"chunksizes": (3, 6)},
                             "station": text})
    data.to_netcdf("h5netcdf.nc", engine="h5netcdf", encoding={"wind": chunks, "station": text})
    data.to_netcdf("cdf1.nc", engine="netcdf4", format="NETCDF3_CLASSIC", unlimited_dims=["time"])
    data.to_netcdf("model.nc", engine="netcdf4", format="NETCDF4_CLASSIC")
    data.to_netcdf("cdf2.nc", engine="scipy", format="NETCDF3_64BIT", encoding={"wind": packed})
    with netCDF4.Dataset("cdf5.nc", "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("x", 5)
        for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
            variable = file.createVariable("v_" + kind, kind, ("x",))
            variable[:] = numpy.arange(5)
            variable.setncattr("range", numpy.array([1, 100], kind))
    with netCDF4.Dataset("strings.nc", "w") as file:
        file.createDimension("x", 2)
        file.createVariable("name", str, ("x",))[:] = numpy.array(["a", "b"], object)
        file.createVariable("x", "i4", ("x",))[:] = [3, 4]
        file.createGroup("inner").createVariable("y", "f8", ("x",))[:] = [5, 6]


INPUTS = {"netcdf4.nc": "netcdf4", "h5netcdf.nc": "h5netcdf", "cdf1.nc": "scipy", "cdf2.nc": "scipy",
          "cdf5.nc": "netcdf4", "model.nc": "netcdf4"}


def open_other(path, engine, **options):
    with xarray.open_dataset(path, engine=engine, decode_timedelta=True, **options) as data:
        return data.load()


def open_ours(path, **options):
    return xarray.open_dataset(path, engine="pnetcdf", decode_timedelta=True, **options)


def compare(path, engine, options):
    theirs = open_other(path, engine)
    with open_ours(path, **options) as ours:
        assert not any(ours[name].variable._in_memory for name in ours.data_vars), "read when it was opened"
        xarray.testing.assert_identical(ours, theirs)
        if engine == "netcdf4":
            assert ours.encoding["unlimited_dims"] == theirs.encoding["unlimited_dims"], ours.encoding
        for name, variable in theirs.variables.items():
            for key in ENCODINGS:
                known = engine == "netcdf4" or key not in ENCODINGS[6:]
                assert not known or str(ours[name].encoding.get(key)) == str(variable.encoding.get(key)), (
                    name, key, ours[name].encoding, variable.encoding)
    if engine == "netcdf4":
        raw = {"mask_and_scale": False, "decode_times": False}
        with xarray.open_dataset(path, engine="pnetcdf", **raw, **options) as ours, \
                xarray.open_dataset(path, engine=engine, **raw) as theirs:
            xarray.testing.assert_identical(ours, theirs)


def compare_indices(path, engine, options):
    """Parts of a variable, in a random order that differs between ranks unless access is collective."""
    theirs = open_other(path, engine)["wind"]
    random = numpy.random.default_rng(7 if options.get("collective") else COMM.rank)
    with open_ours(path, **options) as ours:
        for _ in range(60):
            index = {}
            for dim, n in theirs.sizes.items():
                first, last = sorted(int(i) for i in random.integers(0, n + 1, 2))
                index[dim] = (slice(first, last), slice(first, last, 2), slice(last, first, -1), slice(None, None, -3),
                              int(random.integers(0, n)), slice(None), random.integers(0, n, 3)
                              )[random.integers(0, 7)]
            wanted, found = theirs.isel(index), ours["wind"].isel(index)
            assert numpy.array_equal(found.values, wanted.values, equal_nan=True), index


def compare_parts(path, engine, options):
    theirs = open_other(path, engine)
    with open_ours(path, **options) as ours:
        for dim in ours["wind"].dims:
            parts = COMM.allgather(ours.pnetcdf.part(dim, COMM)["wind"].values)
            assert len({part.shape for part in parts}) <= 3
            whole = numpy.concatenate(parts, theirs["wind"].dims.index(dim))
            assert numpy.array_equal(whole, theirs["wind"].values, equal_nan=True), dim


def compare_dask(options):
    theirs = open_other("netcdf4.nc", "netcdf4")
    with open_ours("netcdf4.nc", chunks={}, **options) as ours:
        assert ours["wind"].chunks == ((2, 2, 2, 1), (4, 2), (5, 4)), ours["wind"].chunks
        with dask.config.set(scheduler="threads", num_workers=8):
            xarray.testing.assert_identical(ours.compute(), theirs)
            # Each rank computes another thing.
            part = ours["wind"].isel(time=slice(COMM.rank, None, COMM.size)).mean(("lat", "lon")).values
        wanted = theirs["wind"].isel(time=slice(COMM.rank, None, COMM.size)).mean(("lat", "lon")).values
        numpy.testing.assert_allclose(part, wanted, rtol=1e-5)


def compare_few_open():
    """Several files, of which one is open at a time, and threads that use all."""
    paths = ("cdf1.nc", "cdf2.nc", "h5netcdf.nc")
    with xarray.set_options(file_cache_maxsize=1), dask.config.set(scheduler="threads", num_workers=8):
        ours = [open_ours(path, chunks={"time": 2, "lat": 4}) for path in paths]
        total = sum(data["wind"].astype("f8").sum() for data in ours).values
        again = pickle.loads(pickle.dumps(ours[0]))["wind"].values
        for data in ours:
            data.close()
    theirs = [open_other(path, INPUTS[path])["wind"] for path in paths]
    numpy.testing.assert_allclose(total, sum(float(data.astype("f8").sum()) for data in theirs))
    assert numpy.array_equal(again, theirs[0].values, equal_nan=True)


def test_reading():
    accesses = {"alone": {}, "shared": {"comm": COMM}, "collective": {"comm": COMM, "collective": True}}
    for how, options in accesses.items():
        for path, engine in INPUTS.items():
            attempt(f"{path}, {how}: as the engine {engine} reads it", compare, path, engine, options)
        for path in ("netcdf4.nc", "cdf1.nc", "cdf2.nc"):
            attempt(f"{path}, {how}: parts by all kinds of indices", compare_indices, path, INPUTS[path], options)
            attempt(f"{path}, {how}: each rank's part", compare_parts, path, INPUTS[path], options)
    for how in ("alone", "shared"):
        attempt(f"{how}: dask's chunks are those of the file, read by 8 threads", compare_dask, accesses[how])
    attempt("three files, one of them open at a time, 8 threads, and a copy by pickle", compare_few_open)
    with open_ours("cdf1.nc", comm=COMM) as shared:
        refused("a shared file is not sent to other processes", TypeError, "without comm=", pickle.dumps, shared)
    refused("a closed file", ValueError, "was closed", lambda: shared["wind"].load())
    refused("no file", OSError, "no_such.nc", open_ours, "no_such.nc", comm=COMM)
    refused("collective alone", ValueError, "needs a communicator", open_ours, "cdf1.nc", collective=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with open_ours("strings.nc") as data:
            check(set(data.variables) == {"x"} and any("'name'" in str(warning.message) for warning in caught),
                  "a variable of strings is left out with a warning", (data, caught))
    with open_ours("strings.nc", comm=COMM, info={"nc_groups": "all"}, drop_variables="name") as data:
        check(data["inner/y"].values.tolist() == [5, 6], "a variable of a group, by its path", data)


def written(path, theirs, encodings, number):
    """A file that was written, as another engine reads it on rank 0."""
    found = open_other(path, "netcdf4")
    wind = encodings.get("wind", {})
    tolerance = {"rtol": 1e-2 if "significant_digits" in wind else 1e-6,
                 "atol": 0.0051 if "scale_factor" in wind else 0}
    for name, variable in theirs.variables.items():
        if variable.dtype.kind == "f" and name == "wind":
            numpy.testing.assert_allclose(found[name].values, variable.values, **tolerance)
            assert {k: v for k, v in found[name].attrs.items() if not k.startswith("_Quantize")}.keys() == \
                variable.attrs.keys(), found[name].attrs
        elif variable.dtype.kind in "UOT":
            assert list(found[name].values) == list(variable.values), found[name].values
        else:
            assert numpy.array_equal(found[name].values, variable.values), name
    assert found.attrs.keys() == theirs.attrs.keys()
    with netCDF4.Dataset(path) as file:
        assert len(file.variables) == number, file.variables


def write_all(format, along, with_dask):
    """Encodings of all kinds, and the storage that netCDF4 finds."""
    data, path = sample(), "out.nc"
    encodings = {"time": {"units": "minutes since 2001-01-01", "dtype": "f8"}} if along != "time" else {}
    if format.startswith("NETCDF4"):
        encodings["wind"] = {"compression": "zstd" if along else "zlib", "complevel": 2, "chunksizes": (2, 4, 5),
                             "_FillValue": -1e9}
        encodings["count"] = {"zlib": True, "fletcher32": True, "shuffle": False}
    else:
        encodings["wind"] = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 10.0, "_FillValue": -999}
    mine = data if along is None else data.isel(
        {along: xarray_pnetcdf.part(data.sizes[along], COMM.rank, COMM.size)})
    if with_dask:
        mine = mine.assign({name: mine[name].chunk({"time": 2, "lat": 3}) for name in ("wind", "count")})
    mine.pnetcdf.to_netcdf(path, comm=COMM, along=along, format=format, encoding=encodings, unlimited_dims="time")
    if COMM.rank == 0:
        written(path, data, encodings, len(data.variables))
        with netCDF4.Dataset(path) as file:
            assert file.data_model == {"NETCDF3_64BIT": "NETCDF3_64BIT_OFFSET"}.get(format, format), file.data_model
            assert file.dimensions["time"].isunlimited() and not file.dimensions["lat"].isunlimited()
            if format.startswith("NETCDF4"):
                filters = file["wind"].filters()
                assert file["wind"].chunking() == [2, 4, 5] and filters["shuffle"] and filters["complevel"] == 2 and \
                    filters["zstd" if along else "zlib"], filters
                filters = file["count"].filters()
                assert filters["zlib"] and filters["fletcher32"] and not filters["shuffle"], filters


def write_again():
    """What a file has in encodings goes into the next one; a part of it has other lengths than its chunks."""
    with open_ours("netcdf4.nc", comm=COMM, chunks={}) as data:
        data.pnetcdf.to_netcdf("again.nc", comm=COMM)
        data.isel(lat=slice(0, 3)).pnetcdf.to_netcdf("less.nc", comm=COMM)
    if COMM.rank == 0:
        xarray.testing.assert_identical(open_other("again.nc", "netcdf4"), open_other("netcdf4.nc", "netcdf4"))
        xarray.testing.assert_identical(open_other("less.nc", "netcdf4"),
                                        open_other("netcdf4.nc", "netcdf4").isel(lat=slice(0, 3)))
        with netCDF4.Dataset("again.nc") as file:
            assert file["wind"].chunking() == [2, 4, 5] and file["wind"].filters()["fletcher32"], file["wind"]
            assert file["wind"].datatype == numpy.int16, file["wind"]
            assert {name for name in file.dimensions if file.dimensions[name].isunlimited()} == {"time", "lon"}, file


def write_times():
    """Each rank's times begin elsewhere and need other units."""
    times = numpy.array(["2001-01-01", "2001-01-02"], "M8[ns]") + COMM.rank * numpy.timedelta64(90, "m") * 17
    data = xarray.Dataset({"v": ("time", numpy.arange(2) + 10 * COMM.rank)}, {"time": times})
    data.pnetcdf.to_netcdf("times.nc", comm=COMM, along="time")
    whole = xarray.concat(COMM.allgather(data), "time")
    if COMM.rank == 0:
        xarray.testing.assert_equal(open_other("times.nc", "netcdf4"), whole)


def write_large():
    """Several portions of one rank's part, which is larger than a portion, and a rank without any."""
    xarray_pnetcdf.writer.PORTION_BYTES = 1000
    lengths = [37 * (rank != 1) for rank in range(COMM.size)]
    begin = sum(lengths[:COMM.rank])
    values = numpy.arange(begin * 11, (begin + lengths[COMM.rank]) * 11).reshape(-1, 11)
    mine = xarray.Dataset({"v": (("y", "x"), values)})
    for encoding in ({}, {"v": {"zlib": True, "chunksizes": (5, 4)}}):
        mine.pnetcdf.to_netcdf("large.nc", comm=COMM, along="y", encoding=encoding)
        if COMM.rank == 0:
            found = open_other("large.nc", "netcdf4")["v"].values
            assert numpy.array_equal(found, numpy.arange(found.size).reshape(-1, 11)) and len(found) == sum(lengths)
    xarray_pnetcdf.writer.PORTION_BYTES = 64 << 20


QUANTIZED = (("BitRound", 9, "_QuantizeBitRoundNumberOfSignificantBits"),
             ("GranularBitRound", 3, "_QuantizeGranularBitRoundNumberOfSignificantDigits"),
             ("BitGroom", 2, "_QuantizeBitGroomNumberOfSignificantDigits"))


def write_quantized(mode, digits, attribute, with_dask):
    """The bits that netCDF-C writes with the same encoding, where it keeps missing values: without them."""
    data = sample().fillna(0)[["wind"]]
    if with_dask:
        data = data.chunk({"time": 3})
    encoding = {"quantize_mode": mode, "significant_digits": digits, "zlib": True, "complevel": 1, "_FillValue": None}
    data.pnetcdf.to_netcdf("quantized.nc", comm=COMM, encoding={"wind": encoding})
    if COMM.rank == 0:
        with netCDF4.Dataset("quantized_c.nc", "w") as file:
            for name, length in data.sizes.items():
                file.createDimension(name, length)
            file.createVariable("wind", "f4", data["wind"].dims, zlib=True, complevel=1, quantize_mode=mode,
                                significant_digits=digits)[:] = data["wind"].values
        with netCDF4.Dataset("quantized.nc") as ours, netCDF4.Dataset("quantized_c.nc") as theirs:
            assert ours["wind"][:].tobytes() == theirs["wind"][:].tobytes()
            assert ours["wind"][:].tobytes() != data["wind"].values.tobytes()
            assert ours["wind"].getncattr(attribute) == theirs["wind"].getncattr(attribute) == digits
    COMM.Barrier()
    with open_ours("quantized.nc", comm=COMM) as again:
        assert again["wind"].encoding["quantize_mode"] == mode, again["wind"].encoding
        assert again["wind"].encoding["significant_digits"] == digits, again["wind"].encoding


def part_of(data, along):
    return data if along is None else data.isel({along: xarray_pnetcdf.part(data.sizes[along], COMM.rank, COMM.size)})


def append_all(format, along, with_dask):
    """Days are added to a file of another library; the whole is what xarray concatenates."""
    packed = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 10.0, "_FillValue": -999}
    whole, n = sample(), 3
    first, rest = whole.isel(time=slice(0, n)), whole.isel(time=slice(n, None))
    encoding = {"wind": {**packed, **({"zlib": True, "chunksizes": (2, 4, 5)} if format == "NETCDF4" else {})},
                "time": {"units": "hours since 2001-01-01", "dtype": "f8"}, "station": {"dtype": "S1"}}
    if COMM.rank == 0:
        first.to_netcdf("append.nc", engine="netcdf4", format=format, unlimited_dims=["time"], encoding=encoding)
        whole.to_netcdf("whole.nc", engine="netcdf4", format=format, unlimited_dims=["time"], encoding=encoding)
    COMM.Barrier()
    for step in (rest.isel(time=slice(0, 1)), rest.isel(time=slice(1, None))):
        mine = part_of(step, along)
        if with_dask:
            mine = mine.chunk({"time": 1})
        mine.pnetcdf.to_netcdf("append.nc", comm=COMM, along=along, mode="a", append_dim="time")
    if COMM.rank == 0:
        xarray.testing.assert_identical(open_other("append.nc", "netcdf4"), open_other("whole.nc", "netcdf4"))
    COMM.Barrier()


def write_regions(along, with_dask):
    """A part of each variable gets other values; what is around it stays."""
    whole, other = sample(1), sample(2)
    if COMM.rank == 0:
        whole.to_netcdf("region.nc", engine="netcdf4", encoding={"wind": {"zlib": True, "chunksizes": (2, 4, 5)}})
    COMM.Barrier()
    region = {"time": slice(2, 6), "lat": slice(1, None)}
    new = other.isel(time=slice(2, 6), lat=slice(1, 6))[["wind", "count"]].drop_vars(["time", "lat", "lon"])
    mine = part_of(new, along)
    if with_dask:
        mine = mine.chunk({"time": 2})
    mine.pnetcdf.to_netcdf("region.nc", comm=COMM, along=along, region=region)
    if COMM.rank == 0:
        for name in new.variables:
            whole[name].values[2:6, 1:] = other[name].values[2:6, 1:]
        found = open_other("region.nc", "netcdf4")
        for name in whole.variables:
            assert numpy.array_equal(found[name].values, whole[name].values, equal_nan=name == "wind"), name
    COMM.Barrier()


def write_anomaly():
    """The example of the package's README.md."""
    with open_ours("netcdf4.nc", comm=COMM, chunks={}) as data:
        mine = data.pnetcdf.part("lat", COMM)
        anomaly = mine["wind"] - mine["wind"].mean("time")
        anomaly.to_dataset(name="wind").pnetcdf.to_netcdf("anomaly.nc", comm=COMM, along="lat",
                                                          encoding={"wind": {"zlib": True, "complevel": 1}})
    if COMM.rank == 0:
        wind = open_other("netcdf4.nc", "netcdf4")["wind"]
        xarray.testing.assert_allclose(open_other("anomaly.nc", "netcdf4")["wind"], wind - wind.mean("time"))
    COMM.Barrier()


def test_updating():
    attempt("each rank computes its part with dask, and writes it", write_anomaly)
    for mode, digits, attribute in QUANTIZED:
        attempt(f"{mode}: the bits of netCDF-C", write_quantized, mode, digits, attribute, mode == "BitGroom")
    for format in ("NETCDF4", "NETCDF3_64BIT_DATA", "NETCDF3_CLASSIC"):
        for along in (None, "time", "lat"):
            attempt(f"{format}: append_dim, parts along {along}", append_all, format, along, along == "lat")
    for along in (None, "time", "lon"):
        attempt(f"region, parts along {along}", write_regions, along, along is None)
    data = sample().isel(time=slice(0, 2))

    def update(words, data=data, **options):
        refused(f"an update is refused: {words}", ValueError, words, data.pnetcdf.to_netcdf, "append.nc", comm=COMM,
                **options)

    update("needs append_dim or region".replace("needs", "need"), mode="a")
    update("exclude each other", append_dim="time", region={"time": slice(0, 2)})
    update("has the unlimited dimensions time", append_dim="lat")
    update("not 'depth'", append_dim="depth")
    update("has no variable 'new'", data.assign(new=("time", [1, 2])), append_dim="time")
    update("has no dimension of the region", region={"time": slice(0, 2)})
    update("ends at 100", data[["wind"]], region={"time": slice(98, 100)})
    update("must have 3", data[["count"]], region={"time": slice(0, 3)})
    update("without a step", data[["count"]], region={"time": slice(0, 4, 2)})
    update("along 'lat'", data[["count"]].isel(lat=slice(0, 2)), append_dim="time")
    update("integers that its type in the file", data[["count"]].astype("i8") + 2**33, append_dim="time")
    update("leave out encoding", append_dim="time", encoding={"wind": {"zlib": True}})


def fail_last(block):
    if COMM.rank == COMM.size - 1:
        raise ZeroDivisionError("a task that fails")
    return block


def test_writing():
    for format in FORMATS:
        for along in (None, "lat", "time"):
            attempt(f"{format}, parts along {along}: as netCDF4 reads it", write_all, format, along, along == "lat")
    attempt("NETCDF4, computed by dask in parts", write_all, "NETCDF4", None, True)
    attempt("what was read is written again, with its storage", write_again)
    attempt("times of ranks get the same units", write_times)
    attempt("parts that do not fit one portion", write_large)

    data = sample()
    wind = data["wind"].chunk({"time": 1})
    bad = data.assign(wind=wind.copy(data=wind.data.map_blocks(fail_last, dtype=wind.dtype)))
    refused("a task of dask fails on one rank", ZeroDivisionError, "a task that fails", bad.pnetcdf.to_netcdf, "bad.nc",
            comm=COMM)
    refused("an unknown encoding", ValueError, "unknown colour", data.pnetcdf.to_netcdf, "bad.nc", comm=COMM,
            encoding={"wind": {"colour": 1}})
    refused("compression of a classic file", ValueError, "only netCDF-4", data.pnetcdf.to_netcdf, "bad.nc", comm=COMM,
            format="NETCDF3_CLASSIC", encoding={"wind": {"zlib": True}})
    refused("an unknown format", ValueError, "NETCDF9", data.pnetcdf.to_netcdf, "bad.nc", comm=COMM, format="NETCDF9")
    refused("an unknown dimension", ValueError, "the dataset has the dimensions", data.pnetcdf.to_netcdf, "bad.nc",
            comm=COMM, along="depth")
    large = xarray.Dataset({"n": ("x", numpy.array([1, 2**40]))})
    refused("integers that the format does not have", ValueError, "more than 32 bits", large.pnetcdf.to_netcdf,
            "bad.nc", comm=COMM, format="NETCDF3_64BIT")
    if COMM.size > 1:
        uneven = data.isel(lon=slice(0, 9 - COMM.rank))
        refused("different lengths", ValueError, "different lengths", uneven.pnetcdf.to_netcdf, "bad.nc", comm=COMM,
                along="lat")
        fewer = data.drop_vars("count") if COMM.rank == 1 else data
        refused("different variables", ValueError, "different variables", fewer.pnetcdf.to_netcdf, "bad.nc", comm=COMM)
    with open_ours("again.nc", comm=COMM) as opened:
        refused("a file over its own source", ValueError, "is the source of", opened.pnetcdf.to_netcdf, "again.nc",
                comm=COMM)


def run_checks():
    """If one rank fails in a collective call, the others block: after a time limit each prints its stack."""
    global COMM, dask, netCDF4, numpy, xarray, xarray_pnetcdf
    faulthandler.dump_traceback_later(300, exit=True)
    import dask
    import netCDF4
    import numpy
    import xarray
    import xarray_pnetcdf
    known = "pnetcdf" in xarray.backends.list_engines() and hasattr(xarray.Dataset, "pnetcdf")
    initialised = "mpi4py.MPI" in sys.modules
    import xarray_pnetcdf.writer
    from mpi4py import MPI
    COMM = MPI.COMM_WORLD
    check(known, "xarray knows the engine and the accessor")
    check(not initialised, "without initialising MPI")
    if COMM.rank == 0:
        make_inputs()
    COMM.Barrier()
    test_reading()
    test_writing()
    test_updating()
    faulthandler.cancel_dump_traceback_later()


# Where MPI may be called by the main thread only, threads of dask get an error.
FUNNELED = """\
import mpi4py
mpi4py.rc.thread_level = "funneled"
import dask, xarray
try:
    xarray.open_dataset("cdf1.nc", engine="pnetcdf", chunks={"time": 1})["wind"].sum().compute(scheduler="threads")
except RuntimeError as error:
    print(error)
data = xarray.open_dataset("cdf1.nc", engine="pnetcdf", chunks={"time": 1})
print(float(data["wind"].sum().compute(scheduler="synchronous")))
"""


# --- the script -------------------------------------------------------------------------------------------------------

def install():
    """From a copy, because building leaves files behind, and the source may be for reading only."""
    copy = tap.scratch("python")
    shutil.copytree(os.path.join(TOP, "python"), copy, ignore=shutil.ignore_patterns("build", "*.egg-info",
                                                                                     "__pycache__"))
    subprocess.run(["chmod", "-R", "u+w", copy], check=True)
    pypi.must("the package in python/ is installed", ENVIRONMENT.install(copy, "--force-reinstall"))


def main():
    ENVIRONMENT.prepare()
    install()
    for ranks in (2,) if pypi.QUICK else (1, 2, 4):
        folder = tap.scratch(f"on{ranks}")
        os.makedirs(folder)
        status, output, errors = tap.run_mpi(ranks, ENVIRONMENT.python, "-B", os.path.abspath(__file__), "--run",
                                             folder)
        for line in output.splitlines():
            text, complaints = json.loads(line) if line.startswith("[") else (line, "not a line of this test")
            tap.ok(not complaints, f"{text}, {ranks} ranks", complaints)
        tap.ok(status == 0, f"all checks end on {ranks} ranks", f"exit status {status}\n{errors[-8000:]}")
    os.chdir(folder)
    status, output, errors = tap.run_mpi(1, ENVIRONMENT.python, "-B", "-c", FUNNELED)
    tap.ok(status == 0 and output.startswith("this thread may not call MPI") and len(output.splitlines()) == 2,
           "threads that may not call MPI get an error", output + errors)
    tap.finish()


if sys.argv[1:2] == ["--run"]:
    os.chdir(sys.argv[2])
    run_checks()
else:
    main()
