"""xarray, zarr and fsspec read classic and netCDF-4 files by the references of ncoffsets --kerchunk, in JSON and in
Parquet, with the values and attributes that netCDF4 reads from the files themselves."""
# needs: python
import json
import os
import shutil
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "tools")]
import cdf
import mutate
import pypi
import tap
import tool

PACKAGES = ("xarray>=2024.10", "zarr>=3", "fsspec", "netCDF4", "numpy<3", "pyarrow", "fastparquet", "h5py")


def references(output, *arguments):
    result = tool.run("ncoffsets", f"--kerchunk={output}", "-O", *arguments)
    if result.returncode != 0 or result.stderr:
        tap.ok(False, f"ncoffsets --kerchunk {' '.join(arguments)}", result)
    return output


def open_references(path):
    options = {"consolidated": False, "storage_options": {"fo": path}}
    return xarray.open_dataset("reference://", engine="zarr", backend_kwargs=options, decode_timedelta=False)


def raw_arrays(path):
    """The arrays of the references as zarr has them: not masked, scaled or decoded."""
    return dict(zarr.open_group("reference://", mode="r", storage_options={"fo": path}, zarr_format=2).arrays())


def raw_variables(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        file.set_auto_scale(False)
        file.set_auto_chartostring(False)
        return {name: numpy.asarray(variable[...]) for name, variable in file.variables.items()}


def same_bytes(ours, theirs):
    return ours.shape == theirs.shape and ours.dtype.kind == theirs.dtype.kind and \
        ours.dtype.itemsize == theirs.dtype.itemsize and \
        ours.astype(theirs.dtype).tobytes() == theirs.astype(theirs.dtype).tobytes()


def compare_raw(label, path, expected):
    arrays = raw_arrays(path)
    wrong = sorted(set(arrays) ^ set(expected))
    wrong += [name for name in expected if name in arrays and not same_bytes(arrays[name][...], expected[name])]
    return tap.ok(not wrong, label, wrong)


def compare(label, path, *options):
    """All values and types as in netCDF4, and the dataset as xarray reads it with netCDF4."""
    refs = references("refs.json", *options, path)
    compare_raw(f"{label}: zarr", refs, raw_variables(path))
    with open_references(refs) as ours, xarray.open_dataset(path, engine="netcdf4", decode_timedelta=False) as theirs:
        used = {name for variable in theirs.variables.values() for name in variable.dims}
        tap.ok(ours.identical(theirs) and set(ours.sizes) == used, f"{label}: xarray", f"{ours}\n---\n{theirs}")


def test_types():
    for version in (1, 2, 5):
        for numrecs in (0, 1, 3):
            mutate.sample(version, numrecs).write("sample.nc")
            compare(f"all types of CDF-{version}, {numrecs} records", "sample.nc")
    dims = [("t", None), ("x", 3), ("y", 5)]
    for kind in ("byte", "short", "double"):
        cdf.Writer(2, dims, [], [("r", kind, [0, 1], [], list(range(12)))], 4).write("lone.nc")
        compare(f"a single record variable, {kind}: records without padding", "lone.nc")
    cdf.Writer(1, dims, [], [("r", "short", [0, 1], [], list(range(6))), ("b", "byte", [0, 1], [], list(range(6)))],
               2).write("end.nc")
    with open("end.nc", "r+b") as file:
        file.truncate(os.path.getsize("end.nc") - 1)
    compare("the padding of the last record is missing", "end.nc")


def make_climate(path, kind, start=0, n=4, units="hours since 2001-01-01"):
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.title = 'a "title" with \\ and \n, 20 \u00b0C'
        file.createDimension("time", None)
        for name, length in (("lat", 5), ("lon", 7), ("name", 6), ("station", 2)):
            file.createDimension(name, length)
        time = file.createVariable("time", "f8", ("time",))
        time.units, time.calendar = units, "noleap"
        time[:] = 6.0 * numpy.arange(start, start + n)
        file.createVariable("lat", "f4", ("lat",))[:] = numpy.linspace(-60, 60, 5)
        file.createVariable("lon", "f4", ("lon",))[:] = numpy.linspace(0, 300, 7)
        packed = file.createVariable("packed", "i2", ("time", "lat", "lon"), fill_value=-32768)
        packed.set_auto_maskandscale(False)
        packed.scale_factor, packed.add_offset, packed.valid_range = 0.01, 273.15, numpy.array([-30000, 30000], "i2")
        packed[:] = (numpy.arange(n * 35).reshape(n, 5, 7) + 35 * start) * 3 - 5000
        packed[0, 0, :] = -32768
        tas = file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=1e20)
        tas.coordinates, tas.weight = "lat lon", numpy.float32(0.1)
        tas[:] = numpy.sin(numpy.arange(n * 35).reshape(n, 5, 7) + 35 * start)
        tas[n - 1, 4, 6] = 1e20
        file.createVariable("station_name", "S1", ("station", "name"))[:] = netCDF4.stringtochar(
            numpy.array(["Zurich", "Oslo"], "S6"))
        scalar = file.createVariable("crs", "i4", ())
        scalar[...] = 7
        scalar.grid_mapping_name, scalar.odd = "latitude_longitude", numpy.array([numpy.inf, -numpy.inf, 0.5])
        nan = file.createVariable("nan", "f8", ("lat",), fill_value=numpy.nan)
        nan[:] = [1, numpy.nan, 3, 4, numpy.inf]


def test_climate():
    for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        make_climate("climate.nc", kind)
        compare(f"CF attributes, packed and text variables, {kind}", "climate.nc")
    for size in (1, 4, 20, 30, 50, 10000):
        compare(f"--chunk={size}", "climate.nc", f"--chunk={size}")
    era = tap.data("eraint_uvz.nc")
    if era is None:
        tap.skip("a reanalysis", "no eraint_uvz.nc")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its fill values are NaN in variables of integers
        compare("a reanalysis", era)
        compare("a reanalysis, --chunk=100K", era, "--chunk=100K")


def test_joined():
    names = []
    for i, (kind, n) in enumerate([("NETCDF3_CLASSIC", 4), ("NETCDF3_64BIT_DATA", 0), ("NETCDF3_64BIT_OFFSET", 3)]):
        names.append(f"part{i}.nc")
        make_climate(names[-1], kind, start=4 * i, n=max(n, 1))
    refs = references("joined.json", *names)
    parts = [raw_variables(name) for name in names]
    compare_raw("several files: zarr", refs, {
        name: numpy.concatenate([part[name] for part in parts]) if name in ("time", "packed", "tas") else values
        for name, values in parts[0].items()})
    with open_references(refs) as ours:
        files = [xarray.open_dataset(name, engine="netcdf4", decode_timedelta=False) for name in names]
        theirs = xarray.concat(files, "time", data_vars="minimal", coords="minimal", compat="override", join="override")
        tap.ok(ours.identical(theirs), "several files: xarray.concat", f"{ours}\n---\n{theirs}")
        os.remove(names[2])
        tap.ok(ours.tas[:4].identical(theirs.tas[:4]), "files are read when their values are needed")
        for file in files:
            file.close()


def test_url():
    """The files in another place: here the memory file system of fsspec, elsewhere an object store."""
    make_climate("cloud.nc", "NETCDF3_64BIT_DATA")
    refs = references("cloud.json", "--url=memory://bucket/run", "cloud.nc")
    expected = raw_variables("cloud.nc")
    with open("cloud.nc", "rb") as file:
        fsspec.filesystem("memory").pipe("/bucket/run/cloud.nc", file.read())
    os.remove("cloud.nc")
    options = {"fo": refs, "remote_protocol": "memory"}
    arrays = dict(zarr.open_group("reference://", mode="r", storage_options=options, zarr_format=2).arrays())
    tap.ok(all(same_bytes(arrays[name][...], expected[name]) for name in expected), "--url: another file system")


def test_names():
    names = ["a b", 'q"', "\u00e4\u6c34", "{{u}}", "x.0"]
    variables = [(name, "int", [1], [(name, "char", "\u00fc".encode("latin-1") + b"\0")], [i, 2, 3])
                 for i, name in enumerate(names)]
    cdf.Writer(1, [("t", None), ("x", 3)], [], variables).write("names.nc")
    arrays = raw_arrays(references("names.json", "names.nc"))
    tap.ok(all(arrays[name][...].tolist() == [i, 2, 3] and arrays[name].attrs[name] == "\u00fc"
               for i, name in enumerate(names)), "odd names, and text that is not UTF-8", arrays)
    with open("names.json", encoding="utf-8") as file:
        json.load(file)


# In the Python of the system: writes a chunk of noise_i2 without any of its filters.
WITHOUT_FILTERS = """
import h5py, numpy, sys
with h5py.File(sys.argv[1], "r+") as file:
    file["noise_i2"].id.write_direct_chunk((3, 5), numpy.arange(15, dtype="<i2").tobytes(), filter_mask=7)
"""


def test_netcdf4():
    """Chunks and filters of netCDF-C."""
    random = numpy.random.default_rng(3)
    with netCDF4.Dataset("chunks.nc", "w") as file:
        for name, length in (("time", None), ("x", 17), ("y", 9)):
            file.createDimension(name, length)
        file.createVariable("time", "f8", ("time",), chunksizes=(4,))[:10] = numpy.arange(10)
        file["time"].units = "days since 2001-01-01"
        for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"):
            size = numpy.dtype(kind).itemsize
            packed = file.createVariable("packed_" + kind, kind, ("time", "x", "y"), zlib=True, chunksizes=(3, 5, 4))
            packed[:10] = (numpy.arange(10 * 17 * 9) % 100).reshape(10, 17, 9)
            noise = file.createVariable("noise_" + kind, kind, ("time", "x"), zlib=True, fletcher32=size < 8,
                                        chunksizes=(3, 5))
            noise[:10] = random.normal(size=(10, 17)) if kind[0] == "f" else \
                numpy.frombuffer(random.bytes(170 * size), kind).reshape(10, 17)
            file.createVariable("whole_" + kind, kind, ("x", "y"), fill_value=7)[:] = 3
            file.createVariable("big_" + kind, ">" + kind if size > 1 else kind, ("x",), zlib=True,
                                endian="big" if size > 1 else "native")[:] = numpy.arange(17)
        gaps = file.createVariable("gaps", "f4", ("time", "x"), chunksizes=(2, 17), fill_value=-9.)
        gaps[0], gaps[8] = 1, 2
        file.createVariable("text", "S1", ("x", "y"))[:] = numpy.full((17, 9), b"a")
        file.createVariable("scalar", "i4", ())[...] = 5
    written = subprocess.run(["/usr/bin/python3", "-c", WITHOUT_FILTERS, "chunks.nc"], capture_output=True, check=False)
    compare("netCDF-4", "chunks.nc")
    with open("refs.json", encoding="utf-8") as file:
        inline = [key for key, value in json.load(file)["refs"].items() if str(value).startswith("base64:")]
    if written.returncode == 0:
        tap.ok(inline == ["noise_i2/1.1"], "a chunk that was stored without filters is inline", inline)
    else:
        tap.skip("a chunk that was stored without filters", "there is no h5py (Debian: python3-h5py)")
    done = to_parquet("refs.json", "chunks.parq")
    tap.ok(done.returncode == 0, "ncoffsets-parquet of netCDF-4", done)
    compare_raw("netCDF-4, Parquet: zarr", "chunks.parq", raw_variables("chunks.nc"))
    with netCDF4.Dataset("left_out.nc", "w") as file:
        file.createDimension("x", 8)
        file.createVariable("v", "f8", ("x",), zlib=True, fletcher32=True, shuffle=True)[:] = 1
        file.createVariable("s", str, ("x",))[0] = "text"
        file.createVariable("w", "i4", ("x",))[:] = 2
    result = tool.run("ncoffsets", "--kerchunk=left.json", "-O", "left_out.nc")
    tap.ok(result.returncode == 0 and b"variable v is left out" in result.stderr and
           b"variable s is left out" in result.stderr and set(raw_arrays("left.json")) == {"w"},
           "what numcodecs cannot read is left out, with a warning", result)


def make_part(path, first, records, random):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 7)
        file.createVariable("x", "f4", ("x",))[:] = numpy.arange(7)
        time = file.createVariable("time", "f8", ("time",), chunksizes=(3,))
        time.units, time[:records] = "days since 2001-01-01", first + numpy.arange(records)
        for kind in ("i1", "i2", "f4", "f8"):
            packed = file.createVariable("v_" + kind, kind, ("time", "x"), zlib=True, chunksizes=(3, 4), fill_value=9)
            packed[:records] = random.uniform(0, 100, (records, 7)).astype(kind)
        file.createVariable("plain", "i4", ("time", "x"), chunksizes=(1, 7), fill_value=-1)[records - 1] = first
        zeros = file.createVariable("zeros", "i4", ("time", "x"), chunksizes=(3, 4), zlib=True)
        if records != 3:
            zeros[records - 1:, :2] = 0


def make_gaps():
    """By netCDF-C, where no variable but one declares a fill value; one that is shorter than another has no chunks
    there."""
    with netCDF4.Dataset("gaps.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 10)
        for kind in ("i1", "u2", "i4", "i8", "f4", "f8", ">i4"):
            zeros = file.createVariable("zeros_" + kind[-2:] + "_" * (kind[0] == ">"), kind, ("time", "x"), zlib=True,
                                        chunksizes=(2, 5), endian="big" if kind[0] == ">" else "native")
            zeros[0:2, :3], zeros[7] = 0, 1
        file.createVariable("whole", "f4", ("time", "x"), chunksizes=(2, 5))[:13] = 0
        file.createVariable("declared", "f4", ("time", "x"), chunksizes=(2, 5), fill_value=0.)[3] = 4
        file.createVariable("text", "S1", ("time", "x"), chunksizes=(2, 5))[4] = numpy.full(10, b"a")
        file.createVariable("never", "f8", ("x",))
        file.createVariable("one", "i4", ())


def make_hdf5_gaps():
    """Of h5py: fill values that no attribute declares, and one that is not what the attribute says."""
    with h5py.File("hdf5_gaps.nc", "w") as file:
        for name, n in (("y", 8), ("x", 10)):
            file.create_dataset(name, (n,), "f4").make_scale(name)
        for name, kind, fill, declared in (("zero", "f4", 0, None), ("five", "i4", 5, None), ("differ", "f4", 0, -9),
                                           ("same", "f8", -9, -9), ("minus", "f4", -0.0, None)):
            variable = file.create_dataset(name, (8, 10), kind, chunks=(2, 5), fillvalue=fill, compression="gzip")
            variable[2:4], variable[4:6] = 7, fill
            variable.dims[0].attach_scale(file["y"])
            variable.dims[1].attach_scale(file["x"])
            if declared is not None:
                variable.attrs["_FillValue"] = numpy.dtype(kind).type(declared)


def test_gaps():
    """Only values that equal a declared _FillValue are missing."""
    make_gaps()
    compare("chunks that netCDF-C has not written", "gaps.nc")
    make_hdf5_gaps()
    compare("chunks that h5py has not written", "hdf5_gaps.nc")
    shape = (1 << 13, 1 << 14) # 128 chunks of 4 MiB, too many for the references
    for fill, declared in ((5, None), (5, -9)):
        with h5py.File("large.nc", "w") as file:
            variable = file.create_dataset("v", shape, "f4", chunks=(1 << 10, 1 << 10), fillvalue=fill)
            variable[0, 0] = 1
            if declared is not None:
                variable.attrs["_FillValue"] = numpy.float32(declared)
        result = tool.run("ncoffsets", "--kerchunk=large.json", "-O", "large.nc")
        if declared is None:
            found = raw_arrays("large.json")["v"]
            tap.ok(result.returncode == 0 and found.fill_value == 5 and os.path.getsize("large.json") < 10000 and
                   list(found[0, :2]) == [1, 5] and found[-1, -1] == 5, "gaps of too many bytes: a fill value", result)
        else:
            tap.ok(result.returncode == 1 and b"127 chunks were never written" in result.stderr,
                   "and if another one is declared: an error", result)


def test_joined_netcdf4():
    """Only the last file may end within a chunk; values that no file has are fill values."""
    random, names, first = numpy.random.default_rng(4), [], 0
    for i, records in enumerate((6, 3, 12, 5)):
        names.append(f"whole{i}.nc")
        make_part(names[-1], first, records, random)
        first += records
    refs = references("whole.json", *names)
    parts = [raw_variables(name) for name in names]
    compare_raw("several netCDF-4 files: zarr", refs, {
        name: values if name == "x" else numpy.concatenate([part[name] for part in parts])
        for name, values in parts[0].items()})
    with open_references(refs) as ours:
        files = [xarray.open_dataset(name, engine="netcdf4", decode_timedelta=False) for name in names]
        theirs = xarray.concat(files, "time", data_vars="minimal", coords="minimal", compat="override", join="override")
        tap.ok(ours.identical(theirs), "several netCDF-4 files: xarray.concat", f"{ours}\n---\n{theirs}")
        for file in files:
            file.close()


def to_parquet(refs, folder):
    """By the program that a user runs, in this environment."""
    program = os.path.join(tool.BUILD, "src", "tools", "ncoffsets-parquet")
    return subprocess.run([sys.executable, program, refs, folder], capture_output=True, text=True, check=False)


def tables(folder):
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, _, names in os.walk(folder) for name in names)


def test_hint():
    """What a program leaves at close (nc_references)."""
    for label, hints in (("classic", "nc_format=cdf5"), ("netCDF-4", "nc_format=netcdf4;nc_compression=deflate:2")):
        os.environ["PNETCDF_HINTS"] = f"{hints};nc_references=enable"
        status, _, err = tap.run_mpi(3, "test/tools/leave_references", "left_by_hint.nc", "create")
        del os.environ["PNETCDF_HINTS"]
        tap.ok(status == 0 and not err, f"nc_references, {label}: the program", err)
        compare_raw(f"nc_references, {label}: zarr", "left_by_hint.nc.json", raw_variables("left_by_hint.nc"))
        with open_references("left_by_hint.nc.json") as ours, xarray.open_dataset("left_by_hint.nc") as theirs:
            tap.ok(ours.identical(theirs), f"nc_references, {label}: xarray", f"{ours}\n---\n{theirs}")


def test_parquet():
    """By fsspec's default, which is fastparquet, and by the other reader."""
    names = []
    for i in range(2):
        names.append(f"parquet{i}.nc")
        make_climate(names[-1], "NETCDF3_64BIT_DATA", start=4 * i)
    refs = references("parquet.json", "--chunk=50", *names)
    done = to_parquet(refs, "run.parq")
    tap.ok(done.returncode == 0 and not done.stderr and "run.parq" in os.listdir(), "ncoffsets-parquet", done)
    tap.ok(set(tables("run.parq")) == {".zmetadata"} | {f"{name}/refs.0.parq" for name in raw_variables(names[0])},
           "a table for each variable", tables("run.parq"))
    mapper = LazyReferenceMapper(os.path.abspath("run.parq"), fsspec.filesystem("file"), engine="pyarrow")
    options = {"consolidated": False, "storage_options": {"fo": mapper, "remote_protocol": "file"}}
    with open_references(refs) as wanted, open_references("run.parq") as ours, \
            xarray.open_dataset("reference://", engine="zarr", backend_kwargs=options) as others:
        tap.ok(ours.identical(wanted) and wanted.sizes["time"] == 8, "Parquet, fastparquet: as with JSON", ours)
        tap.ok(others.equals(wanted), "Parquet, pyarrow: as with JSON", others)


def test_parquet_tables():
    """More references than a table has, and two dimensions of chunks; then the folder is replaced."""
    dims = [("x", 101), ("y", 104), ("u", 0)]
    values = [(7 * i) % 32749 for i in range(101 * 104)]
    cdf.Writer(2, dims, [], [("v", "short", [0, 1], [], values), ("s", "int", [], [], [5]), ("e", "int", [0], [],
                                                                                            list(range(101)))]
               ).write("many.nc")
    done = to_parquet(references("many.json", "--chunk=2", "many.nc"), "many.parq")
    found = tables("many.parq")
    tap.ok(done.returncode == 0 and [name for name in found if name.startswith("v/")] ==
           ["v/refs.0.parq", "v/refs.1.parq"], "10504 references in two tables", (done, found))
    compare_raw("many chunks: zarr", "many.parq", raw_variables("many.nc"))
    shutil.copy("many.parq/.zmetadata", "many.old")
    done = to_parquet(references("many.json", "many.nc"), "many.parq")
    tap.ok(done.returncode == 0 and tables("many.parq") == [".zmetadata", "e/refs.0.parq", "s/refs.0.parq",
                                                            "v/refs.0.parq"], "a folder of references is replaced",
           (done, tables("many.parq")))
    compare_raw("the new ones: zarr", "many.parq", raw_variables("many.nc"))
    os.symlink("many.parq", "link.parq")
    done = to_parquet("many.json", "link.parq")
    left = [name for name in os.listdir() if name.startswith(("many.parq.", "link.parq."))]
    tap.ok(done.returncode == 0 and os.path.islink("link.parq") and tables("link.parq") == tables("many.parq") and
           not left, "a symbolic link to the folder stays", (done, left))
    with open("many.parq/mine.txt", "w", encoding="utf-8") as file:
        file.write("mine")
    done = to_parquet("many.json", "many.parq")
    tap.ok(done.returncode == 1 and "mine.txt" in done.stderr and os.path.exists("many.parq/mine.txt"),
           "a folder with another file is not", done)


def inside():
    """In the environment with the packages."""
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    for test in (test_types, test_climate, test_joined, test_joined_netcdf4, test_url, test_names, test_netcdf4,
                 test_gaps, test_hint, test_parquet, test_parquet_tables):
        test()
    tap.finish()


if sys.argv[1:] == ["--inside"]:
    import fsspec
    import h5py
    import netCDF4
    import numpy
    import xarray
    import zarr
    from fsspec.implementations.reference import LazyReferenceMapper
    inside()
environment = pypi.Environment("python-zarr", "references for xarray and zarr")
environment.need(*PACKAGES)
os.execv(environment.python, [environment.python, "-B", os.path.abspath(__file__), "--inside"])
