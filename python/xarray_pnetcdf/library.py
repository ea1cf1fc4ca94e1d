"""The library libpnetcdf by ctypes: its lock, open files, and what the classic formats do not have."""
import ctypes
import importlib.util
import os
import threading

import numpy
from mpi4py import MPI


def _load():
    """The shared library: that of PNETCDF_LIBRARY, that of the package pnetcdf if it is installed, so that a program
    may use both, or the one that the loader finds."""
    candidates = [os.environ.get("PNETCDF_LIBRARY")]
    if candidates[0] is None:
        package = importlib.util.find_spec("pnetcdf")
        if package is not None:
            # An extension module: names are looked up in it, and in the libraries that it needs.
            candidates.append(importlib.import_module("pnetcdf")._File.__file__)
        candidates += ["libpnetcdf-2.so.0", "libpnetcdf.so"]
    problems = []
    for path in filter(None, candidates):
        try:
            library = ctypes.CDLL(path)
            library.ncmpi_inq_unlimdims  # PnetCDF 1.x has none
            break
        except (OSError, AttributeError) as error:
            problems.append(str(error))
    else:
        raise ImportError("no libpnetcdf of version 2 is found: set PNETCDF_LIBRARY to its path, which "
                          f"`pnetcdf-config --libdir` prints ({'; '.join(problems)})")
    text, length = ctypes.create_string_buffer(MPI.MAX_LIBRARY_VERSION_STRING + 1), ctypes.c_int()
    library.MPI_Get_library_version(text, ctypes.byref(length))
    if text.value.decode().strip("\0 \n") != MPI.Get_library_version().strip("\0 \n"):
        raise ImportError(f"mpi4py uses {MPI.Get_library_version().splitlines()[0]}, but libpnetcdf "
                          f"{text.value.decode().splitlines()[0]}: build mpi4py with the mpicc of libpnetcdf, "
                          "MPICC=mpicc pip install --force-reinstall --no-binary mpi4py mpi4py")
    return library


_LIBRARY = _load()
_LIBRARY.ncmpi_strerror.restype = ctypes.c_char_p

CONTIGUOUS = 1
QUANTIZE_MODES = {"BitGroom": 1, "GranularBitRound": 2, "BitRound": 3}
ENDIAN = {"native": 0, "little": 1, "big": 2}
GLOBAL = -1  # NC_GLOBAL
MAX_NAME = 256
NETCDF4_FORMATS = (3, 4)  # NC_FORMAT_NETCDF4, NC_FORMAT_NETCDF4_CLASSIC

# Types: their numbers, numpy's names, and the suffixes of functions.
_TYPES = {1: ("i1", "schar"), 2: ("S1", "text"), 3: ("i2", "short"), 4: ("i4", "int"), 5: ("f4", "float"),
          6: ("f8", "double"), 7: ("u1", "uchar"), 8: ("u2", "ushort"), 9: ("u4", "uint"), 10: ("i8", "longlong"),
          11: ("u8", "ulonglong")}
_NUMBERS = {name: (number, suffix) for number, (name, suffix) in _TYPES.items()}


class _Lock:
    """One thread at a time calls the library, because it calls MPI: dask reads with several."""

    def __init__(self):
        self._lock = threading.RLock()

    def __enter__(self):
        if MPI.Query_thread() < MPI.THREAD_SERIALIZED and not MPI.Is_thread_main():
            raise RuntimeError("this thread may not call MPI, which was initialised for its main thread only: "
                               "set mpi4py.rc.thread_level = \"serialized\" before MPI is imported, or compute with "
                               "dask.config.set(scheduler=\"synchronous\")")
        self._lock.acquire()

    def __exit__(self, *exception):
        self._lock.release()


LOCK = _Lock()


def call(name, *arguments, missing=False):
    """Call ncmpi_<name>; raises OSError with the library's sentence. With missing, returns whether it succeeded."""
    function = getattr(_LIBRARY, "ncmpi_" + name, None)
    if function is None:
        if missing:
            return False
        raise NotImplementedError(f"this libpnetcdf has no ncmpi_{name}: version 2 or later is needed")
    with LOCK:
        code = function(*arguments)
        if code != 0 and not missing:
            raise OSError(_LIBRARY.ncmpi_strerror(code).decode(errors="replace"))
    return code == 0


def _handle(handle):
    """An MPI handle as an argument: MPICH has integers, Open MPI addresses."""
    kind = ctypes.c_int if MPI._sizeof(handle) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p
    return kind.from_address(MPI._addressof(handle))


def _int(name, *arguments):
    """The int that a function returns in its last argument."""
    value = ctypes.c_int()
    call(name, *arguments, ctypes.byref(value))
    return value.value


def _offsets(numbers):
    return (ctypes.c_longlong * max(len(numbers), 1))(*map(int, numbers))


class Variable:
    """Of an open file. dtype is None if its type is none of the classic ones."""

    def __init__(self, file, varid, name, dtype, dims, shape):
        self.file, self.id, self.name = file, varid, name
        self.dtype, self.dims, self.shape = dtype, dims, shape

    def _access(self, name, data, start, count, stride=None):
        suffix = _NUMBERS[self.dtype.str[1:]][1]
        slab = [_offsets(numbers) for numbers in (start, count, stride) if numbers is not None]
        call(name.format("s" if stride else "a", suffix), self.file.id, self.id, *slab,
             data.ctypes.data_as(ctypes.c_void_p))

    def get(self, data, start, count, stride, collective):
        self._access("get_var{}_{}" + "_all" * collective, data, start, count, stride)

    def put_all(self, data, start, count):
        self._access("put_var{}_{}_all", data, start, count)


class File:
    """An open file. Opening, creating, enddef, begin_indep and close are collective."""

    def __init__(self, name, path, comm, mode, info):
        value = ctypes.c_int()
        call(name, _handle(comm), os.fsencode(path), mode, _handle(info), ctypes.byref(value))
        self.id = value.value
        self.format = _int("inq_format", self.id)

    def dimensions(self):
        """Names and lengths, in the order of ids."""
        found = {}
        for number in range(_int("inq_ndims", self.id)):
            name, length = ctypes.create_string_buffer(MAX_NAME + 1), ctypes.c_longlong()
            call("inq_dim", self.id, number, name, ctypes.byref(length))
            found[name.value.decode()] = length.value
        return found

    def unlimited(self):
        """The names of the unlimited dimensions: classic files have at most one."""
        names, number = list(self.dimensions()), ctypes.c_int()
        ids = (ctypes.c_int * max(len(names), 1))()
        call("inq_unlimdims", self.id, ctypes.byref(number), ids)
        return [names[i] for i in ids[:number.value]]

    def variables(self):
        """By name."""
        found, dimensions = {}, list(self.dimensions().items())
        for number in range(_int("inq_nvars", self.id)):
            ids = (ctypes.c_int * max(_int("inq_varndims", self.id, number), 1))()
            name, kind, ndims, natts = ctypes.create_string_buffer(MAX_NAME + 1), *(ctypes.c_int() for _ in range(3))
            call("inq_var", self.id, number, name, *map(ctypes.byref, (kind, ndims)), ids, ctypes.byref(natts))
            dims = [dimensions[i] for i in ids[:ndims.value]]
            dtype = numpy.dtype(_TYPES[kind.value][0]) if kind.value in _TYPES else None
            name = name.value.decode()
            found[name] = Variable(self, number, name, dtype, tuple(d for d, _ in dims), tuple(n for _, n in dims))
        return found

    def attributes(self, varid, skipped):
        """By name. Those of other types are added to the list skipped."""
        found = {}
        for number in range(_int("inq_varnatts", self.id, varid)):
            name, kind, length = ctypes.create_string_buffer(MAX_NAME + 1), ctypes.c_int(), ctypes.c_longlong()
            call("inq_attname", self.id, varid, number, name)
            call("inq_att", self.id, varid, name, ctypes.byref(kind), ctypes.byref(length))
            text = name.value.decode()
            dtype, suffix = _TYPES.get(kind.value, ("S1", "text"))
            values = numpy.zeros(length.value, dtype)
            try:
                call("get_att_" + suffix, self.id, varid, name, values.ctypes.data_as(ctypes.c_void_p))
            except OSError as error:
                if kind.value in _TYPES:
                    raise
                skipped.append(f"attribute {text!r} ({error})")
                continue
            found[text] = values.tobytes().decode(errors="surrogateescape") if suffix == "text" else \
                values[0] if len(values) == 1 else values
        return found

    def define_dimension(self, name, length):
        """length 0 is an unlimited dimension."""
        return _int("def_dim", self.id, name.encode(), ctypes.c_longlong(length))

    def define_variable(self, name, dtype, dimids):
        ids = (ctypes.c_int * max(len(dimids), 1))(*dimids)
        return _int("def_var", self.id, name.encode(), _NUMBERS[dtype.str[1:]][0], len(dimids), ids)

    def call(self, name, *arguments):
        call(name, self.id, *arguments)

    def close(self):
        call("close", self.id)


def _inquire(name, ncid, varid, number):
    """The ints that an inquiry returns, or zeros where the file has no such property."""
    values = [ctypes.c_int(0) for _ in range(number)]
    if not call(name, ncid, varid, *map(ctypes.byref, values), missing=True):
        return [0] * number
    return [value.value for value in values]


def storage(ncid, varid, ndim):
    """How a variable of a netCDF-4 file is stored, in the words of xarray's engine netcdf4."""
    found = {}
    layout, lengths = ctypes.c_int(), (ctypes.c_longlong * max(ndim, 1))()
    if not call("inq_var_chunking", ncid, varid, ctypes.byref(layout), lengths, missing=True):
        return found
    found["contiguous"] = layout.value != 0
    found["chunksizes"] = None if found["contiguous"] else tuple(lengths[:ndim])
    shuffle, deflate, level = _inquire("inq_var_deflate", ncid, varid, 3)
    zstd, zstd_level = _inquire("inq_var_zstandard", ncid, varid, 2)
    mode, digits = _inquire("inq_var_quantize", ncid, varid, 2)
    found.update(zlib=bool(deflate), zstd=bool(zstd), shuffle=bool(shuffle),
                 complevel=level if deflate else zstd_level if zstd else 0,
                 fletcher32=bool(_inquire("inq_var_fletcher32", ncid, varid, 1)[0]))
    for name, value in QUANTIZE_MODES.items():
        if value == mode:
            found.update(quantize_mode=name, significant_digits=digits)
    return found


def define_storage(ncid, varid, encoding):
    """What the encoding of a variable says, in define mode. Its keys are those of xarray's engine netcdf4."""
    chunks = encoding.get("chunksizes")
    if encoding.get("contiguous"):
        call("def_var_chunking", ncid, varid, CONTIGUOUS, None)
    elif chunks:
        call("def_var_chunking", ncid, varid, 0, (ctypes.c_longlong * len(chunks))(*chunks))
    if encoding.get("quantize_mode") or encoding.get("significant_digits"):
        mode = encoding.get("quantize_mode") or "BitGroom"
        if mode not in QUANTIZE_MODES:
            raise ValueError(f"quantize_mode {mode!r}: must be one of {', '.join(QUANTIZE_MODES)}")
        call("def_var_quantize", ncid, varid, QUANTIZE_MODES[mode], int(encoding.get("significant_digits") or 0))
    compression = encoding.get("compression") or ("zlib" if encoding.get("zlib") else
                                                  "zstd" if encoding.get("zstd") else None)
    if compression not in (None, "zlib", "deflate", "zstd"):
        raise ValueError(f"compression {compression!r}: must be \"zlib\" or \"zstd\"")
    level = 4 if encoding.get("complevel") is None else int(encoding["complevel"])
    deflate = compression in ("zlib", "deflate") and level > 0
    shuffle = encoding.get("shuffle")
    if shuffle is None:
        shuffle = compression is not None
    if deflate or shuffle:
        call("def_var_deflate", ncid, varid, int(bool(shuffle)), int(deflate), level if deflate else 0)
    if compression == "zstd":
        call("def_var_zstandard", ncid, varid, level)
    if encoding.get("fletcher32"):
        call("def_var_fletcher32", ncid, varid, 1)
    if encoding.get("endian") in ("little", "big"):
        call("def_var_endian", ncid, varid, ENDIAN[encoding["endian"]])


def put_attribute(ncid, varid, name, value, is_small):
    """is_small: of a format without 64-bit and unsigned integers."""
    where = ncid, varid, name.encode()
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, bytes) else value.encode()
        call("put_att_text", *where, ctypes.c_longlong(len(text)), text)
        return
    values = numpy.atleast_1d(numpy.asarray(value))
    if values.dtype.kind in "SUO" and all(isinstance(item, (str, bytes)) for item in values.ravel().tolist()):
        put_attribute(ncid, varid, name, "\n".join(
            item if isinstance(item, str) else item.decode() for item in values.ravel().tolist()), is_small)
        return
    if values.dtype.kind == "b":
        values = values.astype("i1")
    elif values.dtype == numpy.float16:
        values = values.astype("f4")
    if is_small and values.dtype.kind in "iu" and values.dtype.str[1:] not in ("i1", "i2", "i4"):
        values = as_small_integers(values, f"attribute {name!r}")
    kind = _NUMBERS.get(values.dtype.str[1:])
    if kind is None or kind[1] == "text":
        raise TypeError(f"attribute {name!r} is {value!r}: only texts and numbers are stored")
    values = numpy.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    call("put_att_" + kind[1], *where, kind[0], ctypes.c_longlong(values.size), values.ctypes.data_as(ctypes.c_void_p))


def as_small_integers(values, what):
    """As 32-bit integers, which all formats have."""
    converted = values.astype("i4")
    if (converted != values).any():
        raise ValueError(f"{what} has integers of more than 32 bits, which this format does not: "
                         "write NETCDF4 or NETCDF3_64BIT_DATA, or give a dtype")
    return converted
