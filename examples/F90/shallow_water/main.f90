! A parallel shallow-water model that writes its history and its checkpoints with PnetCDF: the model of
! examples/C/shallow_water in modern Fortran, with the same options and, byte for byte, the same files.
!
!     mpiexec -n 4 shallow_water --steps 480 --stop-after 240
!     mpiexec -n 3 shallow_water --steps 480 --restart shallow_water_checkpoint.nc
!
! The two runs end with exactly the fields of a run that was not stopped, on any numbers of ranks.
program shallow_water
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
    use mpi_f08
    use checkpoint_mod
    use history_mod
    use model_mod
    implicit none

    type options_type
        type(constants_type) :: constants
        logical :: grid_given = .false.
        integer(int64) :: steps = 480, stop_after = huge(1_int64), history_every = 40, checkpoint_every = 0
        character(len=:), allocatable :: history, checkpoint, restart
    end type options_type

    type(options_type) :: options
    type(model_type) :: model
    type(history_type) :: history
    integer :: rank, n_ranks
    real(real64) :: begun, checkpoint_seconds

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, n_ranks)
    call parse_options(options)
    begun = mpi_wtime()
    checkpoint_seconds = 0
    call start_model()
    call report()
    if (allocated(options%restart)) then
        call history_append(options%history, model, command_line(), history)
    else
        call history_create(options%history, model, command_line(), history)
        call history_write(history, model)
    end if
    call run()
    call history_close(history)
    call report_end()
    call mpi_finalize()

contains

    ! All ranks see the same arguments: one says what is wrong, all leave.
    subroutine leave(problem)
        character(len=*), intent(in) :: problem

        if (rank == 0) write (error_unit, '(2a, /, a)') 'shallow_water: ', problem, 'Try --help.'
        call mpi_finalize()
        stop 1, quiet=.true.
    end subroutine leave

    subroutine help()
        character(len=*), parameter :: text(15) = [character(len=100) :: &
            'Usage: mpiexec -n RANKS shallow_water [OPTION VALUE]...', &
            'A jet in a rotating channel of shallow water, on a 2D grid of ranks.', &
            '', &
            '  --nx N, --ny N          cells along and across the channel (150, 100)', &
            '  --spacing METRES        width of a cell (20000)', &
            '  --depth METRES          thickness of the water at rest (100)', &
            '  --time-step SECONDS     (the largest stable one)', &
            '  --steps N               last step of the whole run (480)', &
            '  --stop-after N          stop at step N, to be restarted', &
            '  --history FILE          CF history file (shallow_water_history.nc); a restart appends to it', &
            '  --history-every N       steps between its records (40)', &
            '  --checkpoint FILE       (shallow_water_checkpoint.nc); always written at the end', &
            '  --checkpoint-every N    and every N steps (0: only at the end)', &
            '  --restart FILE          go on from a checkpoint; the grid comes from there', &
            '  --help                  this text']
        integer :: n

        if (rank == 0) print '(a)', (trim(text(n)), n = 1, size(text))
        call mpi_finalize()
        stop
    end subroutine help

    integer(int64) function whole_number(text, least, most) result(value)
        character(len=*), intent(in) :: text
        integer(int64), intent(in) :: least, most
        integer :: status

        read (text, *, iostat=status) value
        if (status /= 0) call leave('not a sensible whole number: ' // text)
        if (value < least .or. value > most) call leave('not a sensible whole number: ' // text)
    end function whole_number

    real(real64) function positive_number(text) result(value)
        character(len=*), intent(in) :: text
        integer :: status

        read (text, *, iostat=status) value
        if (status /= 0) call leave('not a sensible positive number: ' // text)
        if (.not. (value > 0 .and. value < 1e9_real64)) call leave('not a sensible positive number: ' // text)
    end function positive_number

    subroutine set_option(name, value, o)
        character(len=*), intent(in) :: name, value
        type(options_type), intent(inout) :: o
        integer(int64), parameter :: many_cells = 1000000, many_steps = 1000000000000_int64

        select case (name)
        case ('--nx');      o%constants%nx = int(whole_number(value, 1_int64, many_cells))
        case ('--ny');      o%constants%ny = int(whole_number(value, 1_int64, many_cells))
        case ('--spacing'); o%constants%spacing = positive_number(value)
        case ('--depth');   o%constants%depth = positive_number(value)
        case ('--time-step');  o%constants%time_step = positive_number(value)
        case ('--steps');      o%steps = whole_number(value, 0_int64, many_steps)
        case ('--stop-after'); o%stop_after = whole_number(value, 0_int64, many_steps)
        case ('--history');    o%history = value
        case ('--history-every');    o%history_every = whole_number(value, 1_int64, many_steps)
        case ('--checkpoint');       o%checkpoint = value
        case ('--checkpoint-every'); o%checkpoint_every = whole_number(value, 0_int64, many_steps)
        case ('--restart'); o%restart = value
        case default;       call leave('unknown option ' // name)
        end select
        o%grid_given = o%grid_given .or. any(name == [character(len=11) :: '--nx', '--ny', '--spacing', '--depth', &
                                                      '--time-step'])
    end subroutine set_option

    function argument(n) result(text)
        integer, intent(in) :: n
        character(len=:), allocatable :: text
        integer :: length

        call get_command_argument(n, length=length)
        allocate (character(len=length) :: text)
        call get_command_argument(n, text)
    end function argument

    ! The command line as one string, for the history attribute.
    function command_line() result(text)
        character(len=:), allocatable :: text
        integer :: n

        text = argument(0)
        do n = 1, command_argument_count()
            text = text // ' ' // argument(n)
        end do
    end function command_line

    subroutine parse_options(o)
        type(options_type), intent(out) :: o
        integer :: n

        o%history = 'shallow_water_history.nc'
        o%checkpoint = 'shallow_water_checkpoint.nc'
        do n = 1, command_argument_count(), 2
            if (argument(n) == '--help') call help()
            if (n == command_argument_count()) call leave('the value is missing after ' // argument(n))
            call set_option(argument(n), argument(n + 1), o)
        end do
        if (allocated(o%restart) .and. o%grid_given) &
            call leave('a restart takes its grid and time step from the checkpoint ' // o%restart)
        if (o%constants%depth < 20 .or. o%constants%depth > 12000) &
            call leave('the depth must be between 20 and 12000 m')
        if (o%constants%spacing * o%constants%ny > 10e6_real64) &
            call leave('the channel must be narrower than 10,000 km: its Coriolis parameter may not reach zero')
    end subroutine parse_options

    subroutine start_model()
        real(real64) :: stable

        if (allocated(options%restart)) then
            checkpoint_seconds = checkpoint_read(options%restart, MPI_COMM_WORLD, model)
            return
        end if
        stable = model_stable_time_step(options%constants)
        if (options%constants%time_step > stable) call leave('the time step is too long for the grid to be stable')
        if (.not. options%constants%time_step > 0) options%constants%time_step = stable
        call model_create(MPI_COMM_WORLD, options%constants, model)
        call model_set_jet(model)
    end subroutine start_model

    subroutine report()
        type(totals_type) :: totals

        totals = model_totals(model)
        if (model%grid%rank == 0) print '(a, i7, a, f10.0, a, sp, es17.9, a, ss, es16.9, a)', 'step', model%step, &
            '  time', model_time(model), ' s  volume', totals%volume, ' m3  energy', totals%energy, ' m5 s-2'
    end subroutine report

    subroutine run()
        integer(int64) :: last

        last = min(options%steps, options%stop_after)
        do while (model%step < last)
            call model_step(model)
            if (mod(model%step, options%history_every) == 0) then
                call history_write(history, model)
                call report()
            end if
            if (options%checkpoint_every > 0 .and. model%step < last) then
                if (mod(model%step, options%checkpoint_every) == 0) &
                    checkpoint_seconds = checkpoint_seconds + checkpoint_write(options%checkpoint, model)
            end if
        end do
        checkpoint_seconds = checkpoint_seconds + checkpoint_write(options%checkpoint, model)
    end subroutine run

    subroutine report_end()
        real(real64) :: seconds(2)

        seconds = [checkpoint_seconds, history%seconds]
        call mpi_allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
        if (rank == 0) print '(2a, 2(i0, a), i0, a, 3(f6.2, a))', trim(merge('stopped ', 'finished', &
            model%step < options%steps)), ' at step ', model%step, ' of ', options%steps, ' on ', n_ranks, ' ranks: ', &
            mpi_wtime() - begun, ' s, of which history ', seconds(2), ' s, checkpoints ', seconds(1), ' s'
    end subroutine report_end

end program shallow_water
