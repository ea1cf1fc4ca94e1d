! A compressed file: netCDF-4, in chunks, which all ranks compress and write together.
!
!     mpiexec -n 4 compressed
!     ncoffsets compressed.nc                # chunks and their ratios
!     ncdump -s -h compressed.nc             # or ncmpidump: how each variable is stored
!
! How a variable is stored follows from optional arguments of nf90mpi_def_var. Each chunk has one rank that compresses
! it, also if several ranks put parts of it.
program compressed
    use mpi_f08
    use pnetcdf
    use check
    implicit none

    character(len=*), parameter :: file = 'compressed.nc'
    integer, parameter :: columns = 120, rows = 30, steps = 3
    real :: values(columns, rows)
    integer :: rank, ranks, ncid, x_dim, y_dim, time_dim, wind, level, chunks(3), step, x, y
    integer(MPI_OFFSET_KIND) :: start(3)

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, ranks)

    call nc_try(file, 'create', &
        nf90mpi_create(MPI_COMM_WORLD, file, ior(nf90_clobber, nf90_netcdf4), MPI_INFO_NULL, ncid))
    call nc_try(file, 'def_dim x', nf90mpi_def_dim(ncid, 'x', columns, x_dim))
    call nc_try(file, 'def_dim y', nf90mpi_def_dim(ncid, 'y', rows * ranks, y_dim))
    call nc_try(file, 'def_dim time', nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, time_dim))
    ! A chunk for each put of a rank; without chunksizes the library chooses. Level 1: higher levels are slower and
    ! rarely much smaller. Three decimal digits are kept: the other bits become zeros, which compress well.
    call nc_try(file, 'def_var wind', nf90mpi_def_var(ncid, 'wind', nf90_float, [x_dim, y_dim, time_dim], wind, &
        chunksizes=[columns, rows, 1], shuffle=.true., deflate_level=1, &
        quantize_mode=nf90_quantize_granularbr, nsd=3))
    call nc_try(file, 'enddef', nf90mpi_enddef(ncid))

    do step = 1, steps
        do y = 1, rows
            do x = 1, columns
                values(x, y) = real(10 + step) + 0.1 * real(rows * rank + y) + 0.001 * real(x)
            end do
        end do
        start = [1, rows * rank + 1, step]
        call nc_try(file, 'put wind', nf90mpi_put_var_all(ncid, wind, values, start))
    end do
    call nc_try(file, 'close', nf90mpi_close(ncid))

    ! Reading needs no other calls than a classic file; inquiries show how a variable is stored.
    call nc_try(file, 'open', nf90mpi_open(MPI_COMM_WORLD, file, nf90_nowrite, MPI_INFO_NULL, ncid))
    call nc_try(file, 'inq_varid wind', nf90mpi_inq_varid(ncid, 'wind', wind))
    call nc_try(file, 'inquire wind', &
        nf90mpi_inquire_variable(ncid, wind, deflate_level=level, chunksizes=chunks))
    if (rank == 0) print '(a, i0, 3(a, i0))', 'deflate level ', level, ', chunks of ', chunks(1), ' x ', chunks(2), &
        ' x ', chunks(3)
    call nc_try(file, 'close', nf90mpi_close(ncid))
    call mpi_finalize()
end program compressed
