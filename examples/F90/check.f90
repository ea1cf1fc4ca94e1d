! Error handling shared by the examples: every failure names the call, the file and the reason, and stops all ranks.
module check
    use, intrinsic :: iso_fortran_env, only: error_unit, real64
    use mpi_f08
    use pnetcdf
    implicit none
    private
    public :: die, nc_try

contains

    ! Wrap every PnetCDF call: call nc_try('ocean.nc', 'enddef', nf90mpi_enddef(ncid))
    subroutine nc_try(path, call, status)
        character(len=*), intent(in) :: path, call
        integer, intent(in) :: status
        character(len=nf90_max_message) :: message
        integer :: code, ignored

        if (status == nf90_noerr) return
        ignored = nf90mpi_inq_last_error(-1, code, message)  ! -1: of this thread, with any file
        if (code /= status) message = nf90mpi_strerror(status)
        call die('file ' // path // ': ' // call // ': ' // trim(message))
    end subroutine nc_try

    ! Print a message to standard error, then end the program on all ranks.
    subroutine die(message)
        character(len=*), intent(in) :: message
        integer :: rank
        real(real64) :: end

        call mpi_comm_rank(MPI_COMM_WORLD, rank)
        write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': ', message
        flush (error_unit)
        ! mpiexec forwards the text; if it receives the abort first, the text is lost.
        end = mpi_wtime() + 0.2_real64
        do while (mpi_wtime() < end)
        end do
        call mpi_abort(MPI_COMM_WORLD, 1)
    end subroutine die

end module check
