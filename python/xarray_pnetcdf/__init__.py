"""xarray over the PnetCDF library: xarray.open_dataset(path, engine="pnetcdf") and dataset.pnetcdf.to_netcdf(path).

Importing this package does not initialise MPI: xarray loads all of its engines before it opens any file.
"""
from .accessor import PnetcdfAccessor
from .parts import part

__version__ = "2.0.0"
__all__ = ["PnetcdfAccessor", "part"]
