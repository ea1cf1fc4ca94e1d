"""What xarray asks a file for: variables, whose values stay in the file until they are needed, and attributes."""
import math
import os
import warnings

import numpy
import xarray
from mpi4py import MPI
from xarray.backends import AbstractDataStore, BackendArray
from xarray.core import indexing

from . import library
from .files import PrivateFile, SharedFile, hints_of

# A variable of a classic file has no chunks. Its rows are cut into parts of this size, that of dask's own chunks.
CLASSIC_CHUNK_BYTES = 128 << 20


def hyperslab(key, shape):
    """Start, count and stride of a basic index, and the shape of its result."""
    where = {"start": [], "count": [], "stride": []}
    result = []
    for index, length in zip(key, shape):
        if isinstance(index, slice):
            selected = range(length)[index]
            result.append(len(selected))
        else:
            selected = range(int(index), int(index) + 1)
        # Without elements there may be no valid start.
        where["start"].append(selected.start if selected else 0)
        where["count"].append(len(selected))
        where["stride"].append(selected.step)
    return where, tuple(result)


class PnetcdfArray(BackendArray):
    """The values of a variable, which are read when they are indexed."""

    def __init__(self, file, variable):
        # The file may have been opened again when it is read; ids stay the same.
        self.file, self.id, self.name = file, variable.id, variable.name
        self.dims, self.shape, self.dtype = variable.dims, variable.shape, variable.dtype

    def __getitem__(self, key):
        # xarray itself cannot divide an empty slice.
        key = type(key)(tuple(slice(0, 0) if isinstance(index, slice) and not range(length)[index] else index
                              for index, length in zip(key.tuple, self.shape)))
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key):
        where, shape = hyperslab(key, self.shape)
        backwards = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in where["stride"])
        for i, stride in enumerate(where["stride"]):
            if stride < 0:  # the same elements from the other end
                where["start"][i] += stride * (where["count"][i] - 1)
                where["stride"][i] = -stride
        if all(stride == 1 for stride in where["stride"]):
            where["stride"] = None
        data = numpy.empty(where["count"], self.dtype)
        with self.file.use() as file:
            if data.size or self.file.is_collective:
                variable = library.Variable(file, self.id, self.name, self.dtype, self.dims, self.shape)
                variable.get(data, **where, collective=self.file.is_collective)
        return data[backwards].reshape(shape)


def preferred_chunks(dims, shape, itemsize, chunksizes):
    """Those of the file. A large variable that has none is cut along its slowest dimension, so that a part of it is
    contiguous, and along others if one row is too large."""
    if chunksizes:
        return dict(zip(dims, chunksizes))
    if math.prod(shape) * itemsize <= CLASSIC_CHUNK_BYTES:
        return {}
    chunks = list(shape)
    for i in range(len(shape)):
        rest = math.prod(chunks[i + 1:]) * itemsize
        chunks[i] = max(1, CLASSIC_CHUNK_BYTES // rest)
        if rest <= CLASSIC_CHUNK_BYTES:
            break
    return dict(zip(dims, chunks))


class PnetcdfDataStore(AbstractDataStore):
    def __init__(self, path, comm=None, info=None, collective=False, unwanted=()):
        self.path, self.unwanted = os.fspath(path), unwanted
        hints = hints_of(info)
        if comm is None or comm == MPI.COMM_NULL:
            if collective:
                raise ValueError("collective access needs a communicator: comm=MPI.COMM_WORLD")
            self.file = PrivateFile(self.path, hints)
        else:
            self.file = SharedFile(self.path, comm, hints, collective)
        with self.file.use() as file:
            self.is_netcdf4 = file.format in library.NETCDF4_FORMATS

    def _attributes(self, file, varid, where):
        skipped = []
        found = file.attributes(varid, skipped)
        for what in skipped:
            warnings.warn(f"{self.path}: {what} of {where} is left out", stacklevel=2)
        return found

    def _variable(self, file, variable):
        data = PnetcdfArray(self.file, variable)
        encoding = {"source": self.path, "original_shape": data.shape, "dtype": data.dtype}
        if self.is_netcdf4:
            encoding.update(library.storage(file.id, variable.id, len(data.dims)))
        chunks = preferred_chunks(data.dims, data.shape, data.dtype.itemsize, encoding.get("chunksizes"))
        if chunks:
            encoding["preferred_chunks"] = chunks
        return xarray.Variable(data.dims, indexing.LazilyIndexedArray(data),
                               self._attributes(file, variable.id, f"variable {variable.name!r}"), encoding)

    def get_variables(self):
        found = {}
        with self.file.use() as file:
            for name, variable in file.variables().items():
                if variable.dtype is not None:
                    found[name] = self._variable(file, variable)
                elif name not in self.unwanted:
                    warnings.warn(f"{self.path}: variable {name!r} is left out, as it is not of numbers or characters "
                                  "(drop_variables silences this)", stacklevel=2)
        return found

    def get_attrs(self):
        with self.file.use() as file:
            return self._attributes(file, library.GLOBAL, "the file")

    def get_dimensions(self):
        with self.file.use() as file:
            return file.dimensions()

    def get_encoding(self):
        with self.file.use() as file:
            return {"unlimited_dims": set(file.unlimited())}

    def close(self):
        self.file.close()
