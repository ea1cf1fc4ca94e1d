-- Environment Modules (Lmod): copy to MODULEPATH/pnetcdf/2.0.0.lua and set the folder of the installation.
local prefix = "/opt/pnetcdf/2.0.0"

help("Parallel access to netCDF files in the classic formats from MPI programs. Compile with the mpicc of the MPI " ..
     "library that it was built with: pnetcdf_version prints it.")
whatis("Name: PnetCDF")
whatis("Version: 2.0.0")
conflict("parallel-netcdf", "pnetcdf")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share", "man"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib", "pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
setenv("PNETCDF_DIR", prefix)
