! The history file: one record per output time, in CDF-2, described by the CF conventions (https://cfconventions.org).
! All procedures are collective over the communicator of the grid. `command` goes into the history attribute and must be
! the same on all ranks.
module history_mod
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use pnetcdf
    use check
    use grid_mod
    use model_mod
    implicit none
    private
    public :: history_type, history_create, history_append, history_write, history_close

    type history_type
        character(len=:), allocatable :: path
        integer :: ncid
        integer :: time, h, u, v, volume, energy    ! variable ids
        integer(MPI_OFFSET_KIND) :: n_records = 0
        real(real64) :: seconds = 0                 ! spent in PnetCDF
    end type history_type

contains

    subroutine put_text(history, varid, name, text)
        type(history_type), intent(in) :: history
        integer, intent(in) :: varid
        character(len=*), intent(in) :: name, text

        call nc_try(history%path, 'put_att ' // name, nf90mpi_put_att(history%ncid, varid, name, text))
    end subroutine put_text

    integer function new_dimension(history, name, length) result(dimid)
        type(history_type), intent(in) :: history
        character(len=*), intent(in) :: name
        integer, intent(in) :: length

        call nc_try(history%path, 'def_dim ' // name, nf90mpi_def_dim(history%ncid, name, length, dimid))
    end function new_dimension

    integer function new_axis(history, name, axis, dimid, long_name) result(varid)
        type(history_type), intent(in) :: history
        character(len=*), intent(in) :: name, axis, long_name
        integer, intent(in) :: dimid

        call nc_try(history%path, 'def_var ' // name, nf90mpi_def_var(history%ncid, name, nf90_double, dimid, varid))
        call put_text(history, varid, 'units', 'm')
        call put_text(history, varid, 'standard_name', 'projection_' // name(1:1) // '_coordinate')
        call put_text(history, varid, 'long_name', long_name)
        call put_text(history, varid, 'axis', axis)
    end function new_axis

    integer function new_field(history, name, dimids, units, standard_name, long_name) result(varid)
        type(history_type), intent(in) :: history
        character(len=*), intent(in) :: name, units, standard_name, long_name
        integer, intent(in) :: dimids(3)

        call nc_try(history%path, 'def_var ' // name, nf90mpi_def_var(history%ncid, name, nf90_float, dimids, varid))
        call nc_try(history%path, 'put_att _FillValue', &
                    nf90mpi_put_att(history%ncid, varid, '_FillValue', nf90_fill_float))
        call put_text(history, varid, 'units', units)
        call put_text(history, varid, 'standard_name', standard_name)
        call put_text(history, varid, 'long_name', long_name)
    end function new_field

    integer function new_series(history, name, dimid, units, long_name) result(varid)
        type(history_type), intent(in) :: history
        character(len=*), intent(in) :: name, units, long_name
        integer, intent(in) :: dimid

        call nc_try(history%path, 'def_var ' // name, nf90mpi_def_var(history%ncid, name, nf90_double, dimid, varid))
        call put_text(history, varid, 'units', units)
        call put_text(history, varid, 'long_name', long_name)
    end function new_series

    subroutine define_variables(history, time, y, y_face, x, x_face)
        type(history_type), intent(inout) :: history
        integer, intent(in) :: time, y, y_face, x, x_face

        history%time = new_series(history, 'time', time, 'seconds since 2000-01-01 00:00:00', 'model time')
        call put_text(history, history%time, 'standard_name', 'time')
        call put_text(history, history%time, 'calendar', 'proleptic_gregorian')
        call put_text(history, history%time, 'axis', 'T')
        history%h = new_field(history, 'h', [x, y, time], 'm', 'sea_surface_height_above_mean_sea_level', &
                              'height of the surface above its level at rest')
        history%u = new_field(history, 'u', [x_face, y, time], 'm s-1', 'sea_water_x_velocity', &
                              'velocity in x on the western faces of the cells')
        history%v = new_field(history, 'v', [x, y_face, time], 'm s-1', 'sea_water_y_velocity', &
                              'velocity in y on the southern faces of the cells')
        history%volume = new_series(history, 'volume', time, 'm3', 'volume in excess of the volume at rest')
        history%energy = new_series(history, 'energy', time, 'm5 s-2', &
                                    'kinetic and available potential energy divided by density')
    end subroutine define_variables

    ! Cells of this rank along an axis. The ranks along one edge of the process grid write it. The others take part with
    ! nothing: in MPI-IO, overlapping writes of one collective call leave undefined data behind, even where all write
    ! the same.
    subroutine write_axis(history, varid, spacing, before, n, shift)
        type(history_type), intent(in) :: history
        integer, intent(in) :: varid, before, n
        real(real64), intent(in) :: spacing, shift
        integer :: i

        call nc_try(history%path, 'put axis', &
                    nf90mpi_put_var_all(history%ncid, varid, [(spacing * (before + (i - 1) + shift), i = 1, n)], &
                                        [before + 1_MPI_OFFSET_KIND], [int(n, MPI_OFFSET_KIND)]))
    end subroutine write_axis

    subroutine write_axes(history, model, y, y_face, x, x_face)
        type(history_type), intent(in) :: history
        type(model_type), intent(in) :: model
        integer, intent(in) :: y, y_face, x, x_face
        integer :: nx, ny

        associate (grid => model%grid, spacing => model%constants%spacing)
            nx = merge(grid%nx, 0, grid%before_y == 0)
            ny = merge(grid%ny, 0, grid%before_x == 0)
            call write_axis(history, y, spacing, grid%before_y, ny, 0.5_real64)
            call write_axis(history, y_face, spacing, grid%before_y, ny, 0.0_real64)
            call write_axis(history, x, spacing, grid%before_x, nx, 0.5_real64)
            call write_axis(history, x_face, spacing, grid%before_x, nx, 0.0_real64)
        end associate
    end subroutine write_axes

    ! The time of the clock in UTC, as in 2000-01-31T12:00:00Z.
    character(len=20) function date_of_now() result(text)
        integer :: now(8), days(12), minutes, day, month, year

        call date_and_time(values=now)
        year = now(1)
        month = now(2)
        days = [31, merge(29, 28, mod(year, 4) == 0 .and. (mod(year, 100) /= 0 .or. mod(year, 400) == 0)), &
                31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        minutes = 60 * now(5) + now(6) - now(4) ! since midnight in UTC
        day = now(3) + floor(minutes / 1440.0)
        minutes = modulo(minutes, 1440)
        if (day < 1) then
            month = modulo(month - 2, 12) + 1
            if (month == 12) year = year - 1
            day = days(month)
        else if (day > days(month)) then
            day = 1
            month = mod(month, 12) + 1
            if (month == 1) year = year + 1
        end if
        write (text, '(i4, 2("-", i2.2), "T", i2.2, 2(":", i2.2), "Z")') year, month, day, minutes / 60, &
            mod(minutes, 60), now(7)
    end function date_of_now

    ! One more line "date: command" in the global attribute `history`, as the CF conventions ask.
    subroutine add_history_line(history, model, command)
        type(history_type), intent(in) :: history
        type(model_type), intent(in) :: model
        character(len=*), intent(in) :: command
        character(len=:), allocatable :: text
        character(len=20) :: date
        integer(MPI_OFFSET_KIND) :: old_length
        integer :: status

        ! Attributes must be equal on all ranks, and their clocks are not.
        date = date_of_now()
        call mpi_bcast(date, len(date), MPI_CHARACTER, 0, model%grid%comm)
        status = nf90mpi_inquire_attribute(history%ncid, nf90_global, 'history', len=old_length)
        if (status == nf90_enotatt) then
            text = ''
        else
            call nc_try(history%path, 'inquire_attribute history', status)
            allocate (character(len=old_length) :: text)
            call nc_try(history%path, 'get_att history', nf90mpi_get_att(history%ncid, nf90_global, 'history', text))
            text = text // new_line('a')
        end if
        call put_text(history, nf90_global, 'history', text // date // ': ' // command)
    end subroutine add_history_line

    subroutine history_create(path, model, command, history)
        character(len=*), intent(in) :: path, command
        type(model_type), intent(in) :: model
        type(history_type), intent(out) :: history
        integer(MPI_OFFSET_KIND), parameter :: header_room = 4096, aligned = 4
        integer :: time, y, y_face, x, x_face, axis(4)
        real(real64) :: begun

        begun = mpi_wtime()
        history%path = path
        call nc_try(path, 'create', nf90mpi_create(model%grid%comm, path, ior(nf90_clobber, nf90_64bit_offset), &
                                                   MPI_INFO_NULL, history%ncid))
        time = new_dimension(history, 'time', nf90_unlimited)
        y = new_dimension(history, 'y', model%constants%ny)
        y_face = new_dimension(history, 'y_face', model%constants%ny)
        x = new_dimension(history, 'x', model%constants%nx)
        x_face = new_dimension(history, 'x_face', model%constants%nx)
        axis(1) = new_axis(history, 'y', 'Y', y, 'y of the centres of the cells')
        axis(2) = new_axis(history, 'y_face', 'Y', y_face, 'y of the southern faces of the cells')
        axis(3) = new_axis(history, 'x', 'X', x, 'x of the centres of the cells')
        axis(4) = new_axis(history, 'x_face', 'X', x_face, 'x of the western faces of the cells')
        call define_variables(history, time, y, y_face, x, x_face)
        call put_text(history, nf90_global, 'Conventions', 'CF-1.8')
        call put_text(history, nf90_global, 'title', 'Unstable jet in a rotating channel of shallow water')
        call put_text(history, nf90_global, 'source', &
                      'shallow_water example: Arakawa C grid, Sadourny (1975), Runge-Kutta 3')
        call add_history_line(history, model, command)
        ! Restarts add to the attribute `history`: with room in the header this need not move the data.
        call nc_try(path, 'enddef', &
                    nf90mpi_enddef(history%ncid, h_minfree=header_room, v_align=aligned, r_align=aligned))
        call write_axes(history, model, axis(1), axis(2), axis(3), axis(4))
        history%seconds = history%seconds + mpi_wtime() - begun
    end subroutine history_create

    ! The number of records up to the time of the model.
    integer(MPI_OFFSET_KIND) function count_records(history, model) result(n)
        type(history_type), intent(in) :: history
        type(model_type), intent(in) :: model
        integer(MPI_OFFSET_KIND) :: length
        real(real64), allocatable :: times(:)
        integer :: dimid

        call nc_try(history%path, 'inquire', nf90mpi_inquire(history%ncid, unlimiteddimid=dimid))
        call nc_try(history%path, 'inquire_dimension', nf90mpi_inquire_dimension(history%ncid, dimid, len=length))
        allocate (times(length))
        call nc_try(history%path, 'get time', nf90mpi_get_var_all(history%ncid, history%time, times))
        n = count(times <= model_time(model) + 0.5_real64 * model%constants%time_step, kind=MPI_OFFSET_KIND)
    end function count_records

    ! Open a history to go on after the model's time; records of a later time are overwritten.
    subroutine history_append(path, model, command, history)
        character(len=*), intent(in) :: path, command
        type(model_type), intent(in) :: model
        type(history_type), intent(out) :: history
        real(real64) :: begun

        begun = mpi_wtime()
        history%path = path
        call nc_try(path, 'open', nf90mpi_open(model%grid%comm, path, nf90_write, MPI_INFO_NULL, history%ncid))
        call nc_try(path, 'inq_varid time', nf90mpi_inq_varid(history%ncid, 'time', history%time))
        call nc_try(path, 'inq_varid h', nf90mpi_inq_varid(history%ncid, 'h', history%h))
        call nc_try(path, 'inq_varid u', nf90mpi_inq_varid(history%ncid, 'u', history%u))
        call nc_try(path, 'inq_varid v', nf90mpi_inq_varid(history%ncid, 'v', history%v))
        call nc_try(path, 'inq_varid volume', nf90mpi_inq_varid(history%ncid, 'volume', history%volume))
        call nc_try(path, 'inq_varid energy', nf90mpi_inq_varid(history%ncid, 'energy', history%energy))
        history%n_records = count_records(history, model)
        call nc_try(path, 'redef', nf90mpi_redef(history%ncid))
        call add_history_line(history, model, command)
        call nc_try(path, 'enddef', nf90mpi_enddef(history%ncid))
        history%seconds = history%seconds + mpi_wtime() - begun
    end subroutine history_append

    ! PnetCDF takes the interior out of the padded array, which is a section of it, and converts it to single precision.
    subroutine write_field(history, varid, grid, interior)
        type(history_type), intent(in) :: history
        integer, intent(in) :: varid
        type(grid_type), intent(in) :: grid
        real(real64), intent(in) :: interior(:, :)

        call nc_try(history%path, 'put field', nf90mpi_put_var_all(history%ncid, varid, interior, &
                    [grid%before_x + 1_MPI_OFFSET_KIND, grid%before_y + 1_MPI_OFFSET_KIND, history%n_records + 1]))
    end subroutine write_field

    subroutine history_write(history, model)
        type(history_type), intent(inout) :: history
        type(model_type), intent(in) :: model
        type(totals_type) :: totals
        real(real64) :: begun
        integer(MPI_OFFSET_KIND) :: record(1)

        totals = model_totals(model)
        begun = mpi_wtime()
        record = history%n_records + 1
        call nc_try(history%path, 'put time', &
                    nf90mpi_put_var_all(history%ncid, history%time, model_time(model), record))
        call nc_try(history%path, 'put volume', &
                    nf90mpi_put_var_all(history%ncid, history%volume, totals%volume, record))
        call nc_try(history%path, 'put energy', &
                    nf90mpi_put_var_all(history%ncid, history%energy, totals%energy, record))
        associate (grid => model%grid, nx => model%grid%nx, ny => model%grid%ny, now => model%now)
            call write_field(history, history%h, grid, now(1:nx, 1:ny, field_h) - model%constants%depth)
            call write_field(history, history%u, grid, now(1:nx, 1:ny, field_u))
            call write_field(history, history%v, grid, now(1:nx, 1:ny, field_v))
        end associate
        history%n_records = history%n_records + 1
        history%seconds = history%seconds + mpi_wtime() - begun
    end subroutine history_write

    subroutine history_close(history)
        type(history_type), intent(inout) :: history
        real(real64) :: begun

        begun = mpi_wtime()
        call nc_try(history%path, 'close', nf90mpi_close(history%ncid))
        history%seconds = history%seconds + mpi_wtime() - begun
    end subroutine history_close

end module history_mod
