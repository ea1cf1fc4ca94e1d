! What went wrong: the code, and the sentence that names the variable, the index and the cure. A program that handles
! errors itself, instead of ending, tests the code and shows the sentence to people.
!
!     mpiexec -n 4 last_error
program last_error
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    character(len=*), parameter :: file = 'last_error.nc'
    integer, parameter :: n = 3
    character(len=nf90_max_message) :: sentence
    integer :: rank, ranks, ncid, dimid, varid, status, code, ignored, values(n + 1), i
    integer(MPI_OFFSET_KIND) :: start(1), count(1)

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    call nc_try(file, 'create', nf90mpi_create(MPI_COMM_WORLD, file, nf90_clobber, MPI_INFO_NULL, ncid))
    call nc_try(file, 'def_dim', nf90mpi_def_dim(ncid, 'cell', n * ranks, dimid))
    call nc_try(file, 'def_var', nf90mpi_def_var(ncid, 'salt', nf90_int, dimid, varid))
    call nc_try(file, 'enddef', nf90mpi_enddef(ncid))

    values = [(n * rank + i, i = 1, n + 1)]
    start = 1 + n * rank
    count = merge(n + 1, n, rank == ranks - 1)  ! the last rank asks for one cell too many
    status = nf90mpi_put_var_all(ncid, varid, values, start, count)
    if (status == nf90_eedge .or. status == nf90_einvalcoords) then
        ignored = nf90mpi_inq_last_error(ncid, code, sentence)
        print '(a, i0)', 'code ', code
        print '(a)', trim(sentence)
        count = n
    else
        call nc_try(file, 'put', status)
    end if
    call nc_try(file, 'put again', nf90mpi_put_var_all(ncid, varid, values, start, count))  ! all ranks: collective
    call nc_try(file, 'close', nf90mpi_close(ncid))
    call mpi_finalize()
end program last_error
