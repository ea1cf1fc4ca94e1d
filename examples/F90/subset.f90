! A part of a file becomes a smaller file: every second value, by all ranks together. No rank has all of it in memory.
!
!     mpiexec -n 4 nonblocking
!     mpiexec -n 4 subset
program subset
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    character(len=*), parameter :: from = 'nonblocking.nc', to = 'subset.nc'
    integer, parameter :: step = 2
    real, allocatable :: values(:)
    integer :: rank, ranks, in, out, dimid, new_dimid, varid, new_varid
    integer(MPI_OFFSET_KIND) :: length, before, count(1)

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    call nc_try(from, 'open', nf90mpi_open(MPI_COMM_WORLD, from, nf90_nowrite, MPI_INFO_NULL, in))
    call nc_try(from, 'inq_varid', nf90mpi_inq_varid(in, 'u', varid))
    call nc_try(from, 'inq_dimid', nf90mpi_inq_dimid(in, 'cell', dimid))
    call nc_try(from, 'inquire cell', nf90mpi_inquire_dimension(in, dimid, len=length))
    length = (length + step - 1) / step

    call nc_try(to, 'create', nf90mpi_create(MPI_COMM_WORLD, to, nf90_clobber, MPI_INFO_NULL, out))
    call nc_try(to, 'def_dim', nf90mpi_def_dim(out, 'cell', length, new_dimid))
    call nc_try(to, 'def_var', nf90mpi_def_var(out, 'u', nf90_float, new_dimid, new_varid))
    call nc_try(to, 'enddef', nf90mpi_enddef(out))

    before = length * rank / ranks
    count = length * (rank + 1) / ranks - before
    allocate (values(count(1)))
    call nc_try(from, 'get', nf90mpi_get_var_all(in, varid, values, [1 + step * before], count, &
        [int(step, MPI_OFFSET_KIND)]))
    call nc_try(to, 'put', nf90mpi_put_var_all(out, new_varid, values, [1 + before], count))
    call nc_try(from, 'close', nf90mpi_close(in))
    call nc_try(to, 'close', nf90mpi_close(out))
    if (rank == 0) print '(2a)', 'wrote ', to
    deallocate (values)
    call mpi_finalize()
end program subset
