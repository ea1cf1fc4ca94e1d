"""A repository of Spack takes this file as packages/pnetcdf2/package.py, with the url and checksum of the tarball. Do
not use it in one environment with parallel-netcdf: both install libpnetcdf.so and pnetcdf.h."""
from spack.package import *

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass  # before Spack 1.0 spack.package has it


class Pnetcdf2(AutotoolsPackage):
    """A library for parallel access to netCDF files from MPI programs, also to compressed netCDF-4 files."""

    url = "file:///tmp/pnetcdf-2.0.0.tar.gz"
    license("BSD-3-Clause")

    version("2.0.0")

    variant("fortran", default=True, description="Fortran interfaces")
    variant("shared", default=True, description="Shared library, too")
    variant("netcdf4", default=True, description="netCDF-4 (HDF5) files, also compressed")
    variant("netcdf", default=False, when="+shared", description="A door for programs that call netCDF-C")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("m4", type="build")
    depends_on("mpi")
    depends_on("utf8proc")
    depends_on("utf8proc+shared", when="+shared")
    depends_on("xxhash@0.8:")
    depends_on("netcdf-c@4.9:", when="+netcdf")
    depends_on("python@3:", type="run")
    # Opened at run time, in the folders that the compiler wrapper gives the library (rpath): of any MPI or none.
    with when("+netcdf4"):
        depends_on("hdf5@1.10.5:+shared")
        depends_on("libdeflate")
        depends_on("isa-l")
        depends_on("zstd")
        depends_on("libaec+shared")
        depends_on("c-blosc")
        depends_on("json-c")

    def configure_args(self):
        spec = self.spec
        arguments = ["MPICC=" + spec["mpi"].mpicc]
        arguments += self.enable_or_disable("fortran")
        arguments += self.enable_or_disable("shared")
        if spec.satisfies("+fortran"):
            arguments.append("MPIF90=" + spec["mpi"].mpifc)
        arguments.append("--with-hdf5=" + spec["hdf5"].prefix if spec.satisfies("+netcdf4") else "--without-hdf5")
        arguments.append("--with-netcdf=" + spec["netcdf-c"].prefix if spec.satisfies("+netcdf")
                         else "--without-netcdf")
        return arguments
