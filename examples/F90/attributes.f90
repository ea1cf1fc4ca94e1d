! Attributes of each type: text, one number, several numbers; of a variable and of the whole file.
!
!     mpiexec -n 4 attributes
!
! All ranks make the same calls. Packed data, as in many weather files: value = stored * scale_factor + add_offset.
program attributes
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    character(len=*), parameter :: file = 'attributes.nc'
    integer, parameter :: n = 5
    integer(kind=2) :: stored(n), range(2)
    double precision :: scale
    character(len=16) :: units
    integer :: rank, ranks, ncid, dimid, varid, i
    integer(MPI_OFFSET_KIND) :: start(1), length

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    call nc_try(file, 'create', nf90mpi_create(MPI_COMM_WORLD, file, nf90_clobber, MPI_INFO_NULL, ncid))
    call nc_try(file, 'def_dim', nf90mpi_def_dim(ncid, 'x', n * ranks, dimid))
    call nc_try(file, 'def_var', nf90mpi_def_var(ncid, 'wind', nf90_short, dimid, varid))
    call nc_try(file, 'put title', nf90mpi_put_att(ncid, nf90_global, 'title', 'Attributes in Fortran'))
    call nc_try(file, 'put units', nf90mpi_put_att(ncid, varid, 'units', 'm/s'))
    call nc_try(file, 'put scale_factor', nf90mpi_put_att(ncid, varid, 'scale_factor', 0.01d0))
    call nc_try(file, 'put valid_range', nf90mpi_put_att(ncid, varid, 'valid_range', [-100_2, 100_2]))
    call nc_try(file, 'enddef', nf90mpi_enddef(ncid))

    start = 1 + n * rank
    stored = [(int(10 * i + rank, kind=2), i = 1, n)]
    call nc_try(file, 'put wind', nf90mpi_put_var_all(ncid, varid, stored, start))
    call nc_try(file, 'close', nf90mpi_close(ncid))

    call nc_try(file, 'open', nf90mpi_open(MPI_COMM_WORLD, file, nf90_nowrite, MPI_INFO_NULL, ncid))
    call nc_try(file, 'inq_varid', nf90mpi_inq_varid(ncid, 'wind', varid))
    call nc_try(file, 'inquire units', nf90mpi_inquire_attribute(ncid, varid, 'units', len=length))
    call nc_try(file, 'get units', nf90mpi_get_att(ncid, varid, 'units', units))
    call nc_try(file, 'get scale_factor', nf90mpi_get_att(ncid, varid, 'scale_factor', scale))
    call nc_try(file, 'get valid_range', nf90mpi_get_att(ncid, varid, 'valid_range', range))
    if (rank == 0) print '(a, 2(f0.1, a), a)', 'wind from ', range(1) * scale, ' to ', range(2) * scale, ' ', &
        units(:length)
    call nc_try(file, 'close', nf90mpi_close(ncid))
    call mpi_finalize()
end program attributes
