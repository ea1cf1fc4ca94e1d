! Parts of arrays on their way to a file and back: a row turned round, one component of a derived type, the interior of
! an array with halo cells. PnetCDF takes a section where it lies in memory; of a component the compiler may make a
! copy.
!
!     mpiexec -n 4 sections
program sections
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    type particle
        double precision :: x, y
        integer :: id
    end type particle

    character(len=*), parameter :: file = 'sections.nc'
    integer, parameter :: n = 6
    type(particle) :: particles(n)
    real :: field(0:n + 1, 0:n + 1), back(n)
    integer :: rank, ranks, ncid, dim_x, dim_y, dim_id, var_field, var_x, var_id, i, j
    integer(MPI_OFFSET_KIND) :: start(2)

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    call nc_try(file, 'create', nf90mpi_create(MPI_COMM_WORLD, file, nf90_clobber, MPI_INFO_NULL, ncid))
    call nc_try(file, 'def_dim x', nf90mpi_def_dim(ncid, 'x', n, dim_x))
    call nc_try(file, 'def_dim y', nf90mpi_def_dim(ncid, 'y', n * ranks, dim_y))
    call nc_try(file, 'def_dim particle', nf90mpi_def_dim(ncid, 'particle', n * ranks, dim_id))
    call nc_try(file, 'def_var field', nf90mpi_def_var(ncid, 'field', nf90_float, [dim_x, dim_y], var_field))
    call nc_try(file, 'def_var x', nf90mpi_def_var(ncid, 'particle_x', nf90_double, dim_id, var_x))
    call nc_try(file, 'def_var id', nf90mpi_def_var(ncid, 'particle_id', nf90_int, dim_id, var_id))
    call nc_try(file, 'enddef', nf90mpi_enddef(ncid))

    field = -1
    do j = 1, n
        do i = 1, n
            field(i, j) = real(i + 100 * (j + n * rank))
        end do
    end do
    start = [1, 1 + n * rank]
    call nc_try(file, 'put field', nf90mpi_put_var_all(ncid, var_field, field(1:n, 1:n), start))

    particles%x = [(0.5d0 * i, i = 1, n)]
    particles%y = 0
    particles%id = [(i + n * rank, i = 1, n)]
    call nc_try(file, 'put x', nf90mpi_put_var_all(ncid, var_x, particles%x, start(2:)))
    call nc_try(file, 'put id', nf90mpi_put_var_all(ncid, var_id, particles%id, start(2:)))

    ! A row of the file, read backwards into every value of `back`.
    call nc_try(file, 'get field', nf90mpi_get_var_all(ncid, var_field, back(n:1:-1), start))
    if (any(nint(back(n:1:-1)) /= nint(field(1:n, 1)))) &
        call die('the row that was read is not the row that was written')
    call nc_try(file, 'close', nf90mpi_close(ncid))
    if (rank == 0) print '(3a)', 'wrote ', file, '; the row read back is the same'
    call mpi_finalize()
end program sections
