! Cells of an unstructured mesh, scattered over the file: each rank has every ranks-th cell, in any order, and writes
! all of them in one call, then reads them back. A column of `starts` for each cell; without counts, one value at each.
!
!     mpiexec -n 4 varn
program varn
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    character(len=*), parameter :: file = 'varn.nc'
    integer, parameter :: n = 7
    integer(MPI_OFFSET_KIND) :: starts(1, n)
    double precision :: values(n), back(n)
    integer :: rank, ranks, ncid, dimid, varid, i

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    call nc_try(file, 'create', nf90mpi_create(MPI_COMM_WORLD, file, nf90_clobber, MPI_INFO_NULL, ncid))
    call nc_try(file, 'def_dim', nf90mpi_def_dim(ncid, 'cell', n * ranks, dimid))
    call nc_try(file, 'def_var', nf90mpi_def_var(ncid, 'pressure', nf90_double, dimid, varid))
    call nc_try(file, 'enddef', nf90mpi_enddef(ncid))

    starts(1, :) = [(1 + rank + (n - i) * ranks, i = 1, n)]  ! from the last to the first
    values = 0.25d0 * real(starts(1, :), kind(values))
    call nc_try(file, 'put_varn', nf90mpi_put_varn_all(ncid, varid, values, n, starts))
    call nc_try(file, 'get_varn', nf90mpi_get_varn_all(ncid, varid, back, n, starts))
    if (any(abs(back - values) > 0)) call die('the values that were read are not those that were written')
    call nc_try(file, 'close', nf90mpi_close(ncid))
    if (rank == 0) print '(2a)', 'wrote ', file
    call mpi_finalize()
end program varn
