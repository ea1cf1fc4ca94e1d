! All ranks write one compressed netCDF-4 file with netCDF-Fortran, and read it back. Nothing in it is of PnetCDF:
!   mpif90 parallel_f.f90 -o parallel_f $(nf-config --fflags --flibs)
!   mpiexec -n 4 ./parallel_f                  # netCDF needs a parallel build of HDF5 and netCDF
!   mpiexec -n 4 pnetcdf-run ./parallel_f      # any build of netCDF
program parallel
    use mpi
    use netcdf
    implicit none
    integer, parameter :: nx = 20, ntimes = 3
    integer :: err, rank, nprocs, ncid, x, y, time, temp, steps, t, i
    real :: field(nx, 2), again(nx, 2)

    call MPI_Init(err)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
    call MPI_Comm_size(MPI_COMM_WORLD, nprocs, err)

    call check(nf90_create("parallel_f.nc", ior(NF90_NETCDF4, NF90_CLOBBER), ncid, comm=MPI_COMM_WORLD, &
        info=MPI_INFO_NULL), "create")
    call check(nf90_def_dim(ncid, "x", nx, x), "x")
    call check(nf90_def_dim(ncid, "y", 2 * nprocs, y), "y")
    call check(nf90_def_dim(ncid, "time", NF90_UNLIMITED, time), "time")
    call check(nf90_def_var(ncid, "temp", NF90_FLOAT, [x, y, time], temp, deflate_level=4, shuffle=.true., &
        chunksizes=[nx, 2 * nprocs, 1]), "temp")
    call check(nf90_put_att(ncid, temp, "units", "K"), "units")
    call check(nf90_def_var(ncid, "steps", NF90_INT, steps), "steps")
    call check(nf90_enddef(ncid), "enddef")

    ! a variable with filters is collective from the start; others are independent
    do t = 1, ntimes
        field = reshape([(280 + rank + t + 0.1 * i, i = 1, 2 * nx)], [nx, 2])
        call check(nf90_put_var(ncid, temp, field, start=[1, 2 * rank + 1, t], count=[nx, 2, 1]), "put temp")
    end do
    if (rank == 0) call check(nf90_put_var(ncid, steps, ntimes), "put steps")
    call check(nf90_close(ncid), "close")

    call check(nf90_open("parallel_f.nc", NF90_NOWRITE, ncid, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL), "open")
    call check(nf90_inq_varid(ncid, "temp", temp), "inquire")
    call check(nf90_get_var(ncid, temp, again, start=[1, 2 * rank + 1, ntimes], count=[nx, 2, 1]), "get temp")
    call check(nf90_close(ncid), "close")
    if (any(again /= field)) then
        print *, "rank", rank, "got other values than it has put"
        call MPI_Abort(MPI_COMM_WORLD, 1, err)
    end if
    if (rank == 0) print "(a, i0, a)", "parallel_f.nc: ", ntimes, " steps written and read"
    call MPI_Finalize(err)

contains

    subroutine check(code, what)
        integer, intent(in) :: code
        character(len=*), intent(in) :: what
        integer :: ignored

        if (code == NF90_NOERR) return
        print *, what, ": ", trim(nf90_strerror(code))
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine
end program
