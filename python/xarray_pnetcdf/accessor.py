"""dataset.pnetcdf. MPI is initialised by the first method that is called."""
import xarray

from .parts import part


@xarray.register_dataset_accessor("pnetcdf")
class PnetcdfAccessor:
    """Access of several ranks to a dataset."""

    def __init__(self, dataset):
        self._dataset = dataset

    def part(self, dim, comm=None):
        """This rank's part of a dataset that all ranks have opened, along a dimension, in the order of ranks.

        Parts begin at borders of the file's chunks, so that no chunk of the largest variable is read by two ranks.
        """
        if comm is None:
            from mpi4py import MPI
            comm = MPI.COMM_WORLD
        length = self._dataset.sizes[dim]
        largest = max((variable for variable in self._dataset.variables.values() if dim in variable.dims),
                      key=lambda variable: variable.nbytes)
        unit = largest.encoding.get("preferred_chunks", {}).get(dim, 1)
        if -(-length // unit) < comm.size:  # fewer chunks than ranks: they must share some
            unit = 1
        return self._dataset.isel({dim: part(length, comm.rank, comm.size, unit)})

    def to_netcdf(self, path, comm=None, along=None, format="NETCDF4", encoding=None, unlimited_dims=None, info=None,
                  mode=None, append_dim=None, region=None):
        """Write a file in parallel. Collective.

        comm: the ranks that write, all of them MPI_COMM_WORLD by default.
        along: the dimension along which each rank has its part: the file has the parts in the order of ranks. None: all
            ranks have the same dataset, and each computes and writes a part of it.
        format: NETCDF4, NETCDF4_CLASSIC, NETCDF3_64BIT_DATA, NETCDF3_64BIT or NETCDF3_CLASSIC.
        encoding: as of xarray.Dataset.to_netcdf with the engine netcdf4: dtype, _FillValue, scale_factor, add_offset,
            units, calendar; of netCDF-4 files also chunksizes, contiguous, zlib, compression ("zlib" or "zstd"),
            complevel, shuffle, fletcher32, quantize_mode, significant_digits, endian.
        info: hints of the library, as a dict or an MPI_Info.

        mode: "w" (the default) makes a new file. With append_dim "a" and with region "r+", their defaults, values are
            put into variables of a file that exists, which has names, types and encodings.
        append_dim: an unlimited dimension of the file: values are added at its end. Variables without it stay as they
            are in the file.
        region: a dict of slices by dimension, of the file: where the values are put. As of xarray.Dataset.to_zarr, each
            variable must have one of these dimensions.

        If a rank fails, all ranks raise an exception, and the file is incomplete.
        """
        from .writer import update, write
        is_update = append_dim is not None or region is not None
        if mode not in (("a", "r+", None) if is_update else ("w", None)):
            raise ValueError(f"mode={mode!r}: \"w\" makes a new file; \"a\" and \"r+\" need append_dim or region")
        if is_update:
            if encoding or unlimited_dims:
                raise ValueError("the file has the encodings and unlimited dimensions of what it gets: leave out "
                                 "encoding and unlimited_dims")
            update(self._dataset, path, comm, along, append_dim, region, info)
            return
        write(self._dataset, path, comm, along, format, encoding, unlimited_dims, info)
