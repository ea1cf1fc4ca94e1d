! Checkpoints: everything needed to go on with exactly the same numbers, on any number of ranks. CDF-5, the whole state
! in double precision. Collective; each procedure returns the seconds it took.
module checkpoint_mod
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
    use, intrinsic :: iso_fortran_env, only: real64
    use mpi_f08
    use pnetcdf
    use check
    use grid_mod
    use model_mod
    implicit none
    private
    public :: checkpoint_write, checkpoint_read

    character(len=1), parameter :: names(n_fields) = ['h', 'u', 'v']
    character(len=5), parameter :: units(n_fields) = ['m    ', 'm s-1', 'm s-1']

    interface
        integer(c_int) function c_rename(old, new) bind(c, name='rename')
            import
            character(kind=c_char), dimension(*), intent(in) :: old, new
        end function c_rename
    end interface

contains

    subroutine define(path, ncid, c, fields, step)
        character(len=*), intent(in) :: path
        integer, intent(in) :: ncid
        type(constants_type), intent(in) :: c
        integer, intent(out) :: fields(n_fields), step
        integer :: x, y, n

        call nc_try(path, 'def_dim y', nf90mpi_def_dim(ncid, 'y', c%ny, y))
        call nc_try(path, 'def_dim x', nf90mpi_def_dim(ncid, 'x', c%nx, x))
        call nc_try(path, 'def_var step', nf90mpi_def_var(ncid, 'step', nf90_int64, step))
        do n = 1, n_fields
            call nc_try(path, 'def_var ' // names(n), nf90mpi_def_var(ncid, names(n), nf90_double, [x, y], fields(n)))
            call nc_try(path, 'put_att units', nf90mpi_put_att(ncid, fields(n), 'units', trim(units(n))))
        end do
        call nc_try(path, 'put_att title', nf90mpi_put_att(ncid, nf90_global, 'title', &
                                                           'Checkpoint of the shallow-water example'))
        call nc_try(path, 'put_att spacing', nf90mpi_put_att(ncid, nf90_global, 'spacing', c%spacing))
        call nc_try(path, 'put_att depth', nf90mpi_put_att(ncid, nf90_global, 'depth', c%depth))
        call nc_try(path, 'put_att gravity', nf90mpi_put_att(ncid, nf90_global, 'gravity', c%gravity))
        call nc_try(path, 'put_att f0', nf90mpi_put_att(ncid, nf90_global, 'f0', c%f0))
        call nc_try(path, 'put_att beta', nf90mpi_put_att(ncid, nf90_global, 'beta', c%beta))
        call nc_try(path, 'put_att time_step', nf90mpi_put_att(ncid, nf90_global, 'time_step', c%time_step))
        call nc_try(path, 'enddef', nf90mpi_enddef(ncid))
    end subroutine define

    ! This rank's part of a variable.
    pure function starts(grid)
        type(grid_type), intent(in) :: grid
        integer(MPI_OFFSET_KIND) :: starts(2)

        starts = [grid%before_x, grid%before_y] + 1
    end function starts

    ! The file gets its name only when it is complete, so a crash while writing leaves the last checkpoint as it was.
    ! The interior of a field is an array section, which PnetCDF takes as it is.
    real(real64) function checkpoint_write(path, model) result(seconds)
        character(len=*), intent(in) :: path
        type(model_type), intent(in) :: model
        integer :: ncid, fields(n_fields), step, n
        character(len=:), allocatable :: part

        seconds = mpi_wtime()
        part = path // '.part'
        associate (grid => model%grid)
            call nc_try(part, 'create', nf90mpi_create(grid%comm, part, ior(nf90_clobber, nf90_64bit_data), &
                                                       MPI_INFO_NULL, ncid))
            call define(part, ncid, model%constants, fields, step)
            call nc_try(part, 'put step', nf90mpi_put_var_all(ncid, step, model%step))
            do n = 1, n_fields
                call nc_try(part, 'put ' // names(n), &
                            nf90mpi_put_var_all(ncid, fields(n), model%now(1:grid%nx, 1:grid%ny, n), starts(grid)))
            end do
            call nc_try(part, 'close', nf90mpi_close(ncid))
            call mpi_barrier(grid%comm)
            if (grid%rank == 0) then
                if (c_rename(part // c_null_char, path // c_null_char) /= 0) &
                    call die('cannot rename ' // part // ' to ' // path)
            end if
            call mpi_barrier(grid%comm)
        end associate
        seconds = mpi_wtime() - seconds
    end function checkpoint_write

    integer function dimension_length(path, ncid, name)
        character(len=*), intent(in) :: path, name
        integer, intent(in) :: ncid
        integer(MPI_OFFSET_KIND) :: length
        integer :: dimid

        call nc_try(path, 'inq_dimid ' // name, nf90mpi_inq_dimid(ncid, name, dimid))
        call nc_try(path, 'inquire_dimension ' // name, nf90mpi_inquire_dimension(ncid, dimid, len=length))
        if (length < 1 .or. length > 1000000) &
            call die('file ' // path // ': dimension ' // name // ' is not one of this model')
        dimension_length = int(length)
    end function dimension_length

    subroutine read_constants(path, ncid, c)
        character(len=*), intent(in) :: path
        integer, intent(in) :: ncid
        type(constants_type), intent(out) :: c

        c%ny = dimension_length(path, ncid, 'y')
        c%nx = dimension_length(path, ncid, 'x')
        call nc_try(path, 'get_att spacing', nf90mpi_get_att(ncid, nf90_global, 'spacing', c%spacing))
        call nc_try(path, 'get_att depth', nf90mpi_get_att(ncid, nf90_global, 'depth', c%depth))
        call nc_try(path, 'get_att gravity', nf90mpi_get_att(ncid, nf90_global, 'gravity', c%gravity))
        call nc_try(path, 'get_att f0', nf90mpi_get_att(ncid, nf90_global, 'f0', c%f0))
        call nc_try(path, 'get_att beta', nf90mpi_get_att(ncid, nf90_global, 'beta', c%beta))
        call nc_try(path, 'get_att time_step', nf90mpi_get_att(ncid, nf90_global, 'time_step', c%time_step))
    end subroutine read_constants

    ! Creates the model on comm, whatever the number of ranks that wrote the file.
    real(real64) function checkpoint_read(path, comm, model) result(seconds)
        character(len=*), intent(in) :: path
        type(MPI_Comm), intent(in) :: comm
        type(model_type), intent(out) :: model
        type(constants_type) :: c
        integer :: ncid, varid, n

        seconds = mpi_wtime()
        call nc_try(path, 'open', nf90mpi_open(comm, path, nf90_nowrite, MPI_INFO_NULL, ncid))
        call read_constants(path, ncid, c)
        call model_create(comm, c, model)
        call nc_try(path, 'inq_varid step', nf90mpi_inq_varid(ncid, 'step', varid))
        call nc_try(path, 'get step', nf90mpi_get_var_all(ncid, varid, model%step))
        associate (grid => model%grid)
            do n = 1, n_fields
                call nc_try(path, 'inq_varid ' // names(n), nf90mpi_inq_varid(ncid, names(n), varid))
                call nc_try(path, 'get ' // names(n), &
                            nf90mpi_get_var_all(ncid, varid, model%now(1:grid%nx, 1:grid%ny, n), starts(grid)))
            end do
        end associate
        call nc_try(path, 'close', nf90mpi_close(ncid))
        call grid_exchange_halos(model%grid, model%now)
        seconds = mpi_wtime() - seconds
    end function checkpoint_read

end module checkpoint_mod
