! A restart on another number of ranks, with all variables in one access: requests are posted, and nf90mpi_wait_all
! reads them together. The counterpart of nonblocking.f90.
!
!     mpiexec -n 4 nonblocking
!     mpiexec -n 3 read_many
program read_many
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    character(len=*), parameter :: file = 'nonblocking.nc', names(3) = ['u', 'v', 'w']
    real, allocatable, asynchronous :: values(:, :)
    integer :: rank, ranks, ncid, dimid, varid, requests(3), statuses(3), k
    integer(MPI_OFFSET_KIND) :: length, before, start(1)
    double precision :: sums(3)

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    call nc_try(file, 'open', nf90mpi_open(MPI_COMM_WORLD, file, nf90_nowrite, MPI_INFO_NULL, ncid))
    call nc_try(file, 'inq_dimid', nf90mpi_inq_dimid(ncid, 'cell', dimid))
    call nc_try(file, 'inquire cell', nf90mpi_inquire_dimension(ncid, dimid, len=length))
    before = length * rank / ranks
    start = before + 1
    allocate (values(length * (rank + 1) / ranks - before, 3))

    do k = 1, 3
        call nc_try(file, 'inq_varid', nf90mpi_inq_varid(ncid, names(k), varid))
        call nc_try(file, 'iget', nf90mpi_iget_var(ncid, varid, values(:, k), requests(k), start))
    end do
    call nc_try(file, 'wait_all', nf90mpi_wait_all(ncid, 3, requests, statuses))
    do k = 1, 3
        call nc_try(file, 'iget of ' // names(k), statuses(k))
    end do
    call nc_try(file, 'close', nf90mpi_close(ncid))

    sums = sum(real(values, kind(sums)), dim=1)
    call mpi_allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(a, a, f0.1)', (names(k), ': sum ', sums(k), k = 1, 3)
    deallocate (values)
    call mpi_finalize()
end program read_many
