"""The engine "pnetcdf" of xarray. MPI is initialised when it opens a file."""
import os

from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint


class PnetcdfBackendEntrypoint(BackendEntrypoint):
    """Open CDF-1, CDF-2, CDF-5 and netCDF-4 files through the PnetCDF library.

    comm: a communicator, whose ranks all open the file, and close it; None: this process alone.
    info: hints, as a dict or an MPI_Info.
    collective: with comm, each access is collective: all ranks access the same variables in the same order, each its
        part. Not for dask, whose tasks have no order.
    """
    description = "Open netCDF files in parallel through the PnetCDF library"
    open_dataset_parameters = (
        "filename_or_obj", "mask_and_scale", "decode_times", "concat_characters", "decode_coords", "drop_variables",
        "use_cftime", "decode_timedelta", "comm", "info", "collective")

    def open_dataset(self, filename_or_obj, *, mask_and_scale=True, decode_times=True, concat_characters=True,
                     decode_coords=True, drop_variables=None, use_cftime=None, decode_timedelta=None, comm=None,
                     info=None, collective=False):
        from .store import PnetcdfDataStore
        path = os.path.abspath(os.path.expanduser(os.fspath(filename_or_obj)))
        unwanted = [drop_variables] if isinstance(drop_variables, str) else drop_variables or ()
        store = PnetcdfDataStore(path, comm, info, collective, unwanted)
        try:
            return StoreBackendEntrypoint().open_dataset(
                store, mask_and_scale=mask_and_scale, decode_times=decode_times, concat_characters=concat_characters,
                decode_coords=decode_coords, drop_variables=drop_variables, use_cftime=use_cftime,
                decode_timedelta=decode_timedelta)
        except BaseException:
            store.close()
            raise

    def guess_can_open(self, filename_or_obj):
        """Only those who ask for it get MPI."""
        return False
