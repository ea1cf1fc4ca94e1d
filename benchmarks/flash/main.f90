! Writes what the FLASH I/O benchmark describes: checkpoint and plot files of a block-structured hydrodynamics code,
! with nonblocking requests. Each file is read back and compared, and written once more by MPI-IO alone.
!
!     mpiexec -n 4 benchmarks/bench_flash [--cells 16] [--blocks 80] [--rounds 3] [--dir /dev/shm] [--keep]
program bench_flash
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use check
    use files
    use mesh
    use raw
    implicit none
    integer :: cells_along = 16, blocks_of_rank = 80, rounds = 3, kind
    logical :: keep = .false.
    character(len=4000) :: folder = '.'

    call mpi_init()
    call mpi_file_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL)
    call read_options()
    call make_mesh(cells_along, blocks_of_rank)
    if (rank == 0) then
        print '(4(a, i0), a)', 'bench_flash: ', ranks, ' ranks, ', blocks, ' blocks of ', cells, '**3 cells each, ', &
            variables, ' variables'
        print '(a)', 'file                   MB  library MB/s  MPI-IO MB/s  library/MPI-IO'
    end if
    do kind = checkpoint, plot_of_corners
        call measure(kind)
    end do
    call mpi_finalize()

contains

    subroutine read_options()
        character(len=4000) :: option
        integer :: k

        k = 1
        do while (k <= command_argument_count())
            call get_command_argument(k, option)
            select case (option)
            case ('--cells')
                cells_along = number_after(k)
            case ('--blocks')
                blocks_of_rank = number_after(k)
            case ('--rounds')
                rounds = number_after(k)
            case ('--dir')
                k = k + 1
                call get_command_argument(k, folder)
            case ('--keep')
                keep = .true.
            case default
                call die('unknown option ' // trim(option) // &
                    '; there are --cells, --blocks, --rounds, --dir and --keep')
            end select
            k = k + 1
        end do
    end subroutine read_options

    integer function number_after(k)
        integer, intent(inout) :: k
        character(len=40) :: text
        integer :: status

        k = k + 1
        call get_command_argument(k, text)
        read (text, *, iostat=status) number_after
        if (status /= 0 .or. number_after < 1) &
            call die('an option needs a number from 1 on, not "' // trim(text) // '"')
    end function

    ! The best of some rounds, in which library and MPI-IO take turns.
    subroutine measure(kind)
        integer, intent(in) :: kind
        character(len=:), allocatable :: path
        real(real64) :: began, seconds, best(2)
        integer :: round
        integer(int64) :: bytes

        path = trim(folder) // '/flash_' // trim(file_names(kind)(:index(file_names(kind) // ' ', ' ') - 1))
        if (kind == plot_of_corners) path = path // '_corners'
        best = huge(best)
        call prepare(kind)
        do round = 1, rounds
            call mpi_barrier(MPI_COMM_WORLD)
            began = mpi_wtime()
            call write_file(path // '.nc', kind)
            best(1) = min(best(1), slowest(mpi_wtime() - began))
            seconds = copy_raw(path // '.nc', path // '.raw')
            best(2) = min(best(2), slowest(seconds))
        end do
        call verify_file(path // '.nc', kind)
        inquire (file=path // '.nc', size=bytes)
        if (rank == 0) print '(a16, f9.1, 2f13.1, f16.2)', file_names(kind), bytes / 1e6_real64, &
            bytes / 1e6_real64 / best, best(2) / best(1)
        call mpi_barrier(MPI_COMM_WORLD)
        if (rank == 0 .and. .not. keep) then
            call mpi_file_delete(path // '.nc', MPI_INFO_NULL)
            call mpi_file_delete(path // '.raw', MPI_INFO_NULL)
        end if
    end subroutine measure

    real(real64) function slowest(seconds)
        real(real64), intent(in) :: seconds

        call mpi_allreduce(seconds, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    end function

end program bench_flash
