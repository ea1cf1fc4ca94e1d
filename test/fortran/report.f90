! What a test program in Fortran needs, as test/harness.h has it for C: start, check, finish, and where its files lie.
module report
    use, intrinsic :: iso_fortran_env, only: error_unit
    use mpi
    implicit none
    private
    public :: start, check, finish, path
    integer, public :: rank, ranks
    integer :: checks = 0

contains

    subroutine start()
        integer :: err

        call mpi_init(err)
        call mpi_comm_rank(MPI_COMM_WORLD, rank, err)
        call mpi_comm_size(MPI_COMM_WORLD, ranks, err)
    end subroutine start

    ! Collective: passes when good on every rank. Only rank 0 writes to stdout.
    subroutine check(good, text)
        logical, intent(in) :: good
        character(len=*), intent(in) :: text
        logical :: bad(1), any_bad(1)
        integer :: err

        bad = .not. good
        call mpi_allreduce(bad, any_bad, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, err)
        checks = checks + 1
        if (rank == 0) print '(2a)', trim(merge('not ok -', 'ok -    ', any_bad(1))), ' ' // text
        if (bad(1)) write (error_unit, '(a, i0, 2a)') 'rank ', rank, ' failed: ', text
    end subroutine check

    ! A file in the scratch folder.
    function path(name)
        character(len=*), intent(in) :: name
        character(len=:), allocatable :: path
        character(len=4096) :: folder

        folder = '.'
        call get_environment_variable('PNC_TEST_TMP', folder)
        path = trim(folder) // '/' // name
    end function path

    subroutine finish()
        integer :: err

        if (rank == 0) print '(a, i0, a)', '# finished after ', checks, ' checks'
        call mpi_finalize(err)
    end subroutine finish

end module report
