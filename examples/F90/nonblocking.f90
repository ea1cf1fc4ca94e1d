! Several variables in one access to the file: each write is posted, and nf90mpi_wait_all carries all of them out, of
! all ranks together. Until then the buffers may not change: they are asynchronous.
!
!     mpiexec -n 4 nonblocking
program nonblocking
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    character(len=*), parameter :: file = 'nonblocking.nc', names(3) = ['u', 'v', 'w']
    integer, parameter :: n = 10
    real, asynchronous :: values(n, 3)
    integer :: rank, ranks, ncid, dimid, varids(3), requests(3), statuses(3), k
    integer(MPI_OFFSET_KIND) :: start(1)

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    call nc_try(file, 'create', nf90mpi_create(MPI_COMM_WORLD, file, nf90_clobber, MPI_INFO_NULL, ncid))
    call nc_try(file, 'def_dim', nf90mpi_def_dim(ncid, 'cell', n * ranks, dimid))
    do k = 1, 3
        call nc_try(file, 'def_var', nf90mpi_def_var(ncid, names(k), nf90_float, dimid, varids(k)))
    end do
    call nc_try(file, 'enddef', nf90mpi_enddef(ncid))

    start = 1 + n * rank
    do k = 1, 3
        values(:, k) = real(10 * rank + k)
        call nc_try(file, 'iput', nf90mpi_iput_var(ncid, varids(k), values(:, k), requests(k), start))
    end do
    call nc_try(file, 'wait_all', nf90mpi_wait_all(ncid, 3, requests, statuses))
    do k = 1, 3
        call nc_try(file, 'iput of ' // names(k), statuses(k))
    end do
    call nc_try(file, 'close', nf90mpi_close(ncid))
    if (rank == 0) print '(2a)', 'wrote ', file
    call mpi_finalize()
end program nonblocking
