! A time series: records are appended, and a second run, or a second job, continues after the last record.
!
!     mpiexec -n 4 records      # records 1 to 3
!     mpiexec -n 2 records      # records 4 to 6
!
! The last dimension of an array in Fortran is the record dimension. The number of ranks may change between runs.
program records
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    character(len=*), parameter :: file = 'records.nc'
    integer, parameter :: nx = 16, steps = 3
    real, allocatable :: height(:)
    integer :: rank, ranks, ncid, status, time_dim, time_var, height_var, first, last, i
    integer(MPI_OFFSET_KIND) :: done, record, one(1)

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    status = nf90mpi_open(MPI_COMM_WORLD, file, nf90_write, MPI_INFO_NULL, ncid)
    if (status == nf90_enoent) then
        call create_file()
    else
        call nc_try(file, 'open', status)
    end if
    call nc_try(file, 'inq_varid time', nf90mpi_inq_varid(ncid, 'time', time_var))
    call nc_try(file, 'inq_varid height', nf90mpi_inq_varid(ncid, 'height', height_var))
    call nc_try(file, 'inquire', nf90mpi_inquire(ncid, unlimiteddimid=time_dim))
    call nc_try(file, 'inquire time', nf90mpi_inquire_dimension(ncid, time_dim, len=done))

    first = 1 + nx * rank / ranks
    last = nx * (rank + 1) / ranks
    allocate (height(first:last))
    one = merge(1, 0, rank == 0)  ! rank 0 writes the time
    do record = done + 1, done + steps
        height = [(real(100 * record + i), i = first, last)]
        call nc_try(file, 'put time', &
            nf90mpi_put_var_all(ncid, time_var, [6.0d0 * real(record, kind(1d0))], [record], one))
        call nc_try(file, 'put height', nf90mpi_put_var_all(ncid, height_var, height, &
            [int(first, MPI_OFFSET_KIND), record], [int(last - first + 1, MPI_OFFSET_KIND), 1_MPI_OFFSET_KIND]))
        call nc_try(file, 'sync', nf90mpi_sync(ncid))  ! readers see the record
    end do
    call nc_try(file, 'close', nf90mpi_close(ncid))
    if (rank == 0) print '(3a, i0, a)', 'wrote ', file, ': ', done + steps, ' records'
    deallocate (height)
    call mpi_finalize()

contains

    subroutine create_file()
        integer :: x_dim

        call nc_try(file, 'create', nf90mpi_create(MPI_COMM_WORLD, file, nf90_clobber, MPI_INFO_NULL, ncid))
        call nc_try(file, 'def_dim time', nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, time_dim))
        call nc_try(file, 'def_dim x', nf90mpi_def_dim(ncid, 'x', nx, x_dim))
        call nc_try(file, 'def_var time', nf90mpi_def_var(ncid, 'time', nf90_double, time_dim, time_var))
        call nc_try(file, 'put units', nf90mpi_put_att(ncid, time_var, 'units', 'hours since 2000-01-01'))
        call nc_try(file, 'def_var height', &
            nf90mpi_def_var(ncid, 'height', nf90_float, [x_dim, time_dim], height_var))
        call nc_try(file, 'enddef', nf90mpi_enddef(ncid))
    end subroutine create_file

end program records
