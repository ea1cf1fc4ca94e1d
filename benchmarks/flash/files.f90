! The three files of an output step: a checkpoint of all variables in double precision, and a few of them in single
! precision for plots, at the centres of cells and at their corners. Before the data stand the metadata of the blocks.
module files
    use, intrinsic :: iso_fortran_env, only: real32, real64
    use mpi_f08
    use pnetcdf
    use check
    use mesh
    implicit none
    private
    public :: prepare, write_file, verify_file

    integer, parameter, public :: checkpoint = 1, plot = 2, plot_of_corners = 3
    character(len=*), parameter, public :: file_names(3) = &
        [character(len=16) :: 'checkpoint', 'plot', 'plot of corners']
    integer, parameter :: stored(3) = [variables, 4, 4], extra(3) = [0, 0, 1]
    integer, parameter :: offset = MPI_OFFSET_KIND
    integer :: ncid
    real(real32), allocatable, asynchronous :: plotted(:, :, :, :, :)

contains

    ! The values of a plot file; those of a checkpoint are where they are needed.
    subroutine prepare(kind)
        integer, intent(in) :: kind
        integer :: n, i, j, k, v

        n = merge(0, cells + extra(kind), kind == checkpoint)
        if (allocated(plotted)) deallocate (plotted)
        allocate (plotted(n, n, n, blocks, stored(plot)))
        if (kind == plot) then
            do v = 1, stored(kind)
                plotted(:, :, :, :, v) = real(unk(v, 1:n, 1:n, 1:n, :), real32)
            end do
        else
            do k = 1, n
                do j = 1, n
                    do i = 1, n
                        do v = 1, stored(plot)
                            plotted(i, j, k, :, v) = &
                                real(sum(sum(sum(unk(v, i - 1:i, j - 1:j, k - 1:k, :), 1), 1), 1) / 8, real32)
                        end do
                    end do
                end do
            end do
        end if
    end subroutine prepare

    subroutine try(call, status)
        character(len=*), intent(in) :: call
        integer, intent(in) :: status

        call nc_try('of the benchmark', call, status)
    end subroutine

    subroutine write_file(path, kind)
        character(len=*), intent(in) :: path
        integer, intent(in) :: kind
        integer :: none(0), statuses(0)
        integer(offset) :: bytes

        call try('create', &
                 nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), MPI_INFO_NULL, ncid))
        call define(kind)
        bytes = 1000 * blocks
        if (kind == plot_of_corners) bytes = bytes + 4 * size(plotted, kind=offset)
        call try('buffer_attach', nf90mpi_buffer_attach(ncid, bytes))
        call put_metadata()
        call put_variables(kind)
        call try('wait_all', nf90mpi_wait_all(ncid, nf90_req_all, none, statuses))
        call try('buffer_detach', nf90mpi_buffer_detach(ncid))
        call try('close', nf90mpi_close(ncid))
    end subroutine write_file

    subroutine define(kind)
        integer, intent(in) :: kind
        integer :: side(3), block, two, three, fifteen, k, id, xtype

        do k = 1, 3
            call try('def_dim', nf90mpi_def_dim(ncid, 'xyz'(k:k), cells + extra(kind), side(k)))
        end do
        call try('def_dim', nf90mpi_def_dim(ncid, 'block', blocks * int(ranks, offset), block))
        call try('def_dim', nf90mpi_def_dim(ncid, 'bound', 2, two))
        call try('def_dim', nf90mpi_def_dim(ncid, 'axis', 3, three))
        call try('def_dim', nf90mpi_def_dim(ncid, 'neighbour', 15, fifteen))
        call try('def_var', nf90mpi_def_var(ncid, 'lrefine', nf90_int, block, id))
        call try('def_var', nf90mpi_def_var(ncid, 'gid', nf90_int, [fifteen, block], id))
        call try('def_var', nf90mpi_def_var(ncid, 'coordinates', nf90_double, [three, block], id))
        call try('def_var', nf90mpi_def_var(ncid, 'blocksize', nf90_double, [three, block], id))
        call try('def_var', nf90mpi_def_var(ncid, 'bnd_box', nf90_double, [two, three, block], id))
        xtype = merge(nf90_double, nf90_float, kind == checkpoint)
        do k = 1, stored(kind)
            call try('def_var', nf90mpi_def_var(ncid, trim(names(k)), xtype, [side, block], id))
        end do
        call try('put_att', nf90mpi_put_att(ncid, nf90_global, 'title', trim(file_names(kind)) // ' of blocks'))
        call try('put_att', nf90mpi_put_att(ncid, nf90_global, 'time', 0.25_real64))
        call try('put_att', nf90mpi_put_att(ncid, nf90_global, 'dt', 0.125_real64))
        call try('put_att', nf90mpi_put_att(ncid, nf90_global, 'nstep', 2))
        call try('put_att', nf90mpi_put_att(ncid, nf90_global, 'nblocks', blocks * ranks))
        call try('enddef', nf90mpi_enddef(ncid))
    end subroutine define

    ! The start of the blocks of a rank in an array whose last dimension is the block.
    pure function first_block_of(dimensions, source) result(start)
        integer, intent(in) :: dimensions, source
        integer(offset) :: start(dimensions)

        start = 1
        start(dimensions) = 1 + int(source, offset) * blocks
    end function

    ! The blocks form a row along x, all of one refinement. Requests are buffered: arrays may change before the wait.
    subroutine put_metadata()
        integer :: b, f, request, lrefine(blocks), gid(15, blocks)
        real(real64) :: centre(3, blocks), size(3, blocks), bounds(2, 3, blocks)

        lrefine = 1
        size = 1
        gid = reshape([((rank * blocks + b, f = 1, 15), b = 1, blocks)], shape(gid))
        centre = 0.5_real64
        centre(1, :) = [(rank * blocks + b - 0.5_real64, b = 1, blocks)]
        bounds(1, :, :) = centre - size / 2
        bounds(2, :, :) = centre + size / 2
        call try('bput lrefine', nf90mpi_bput_var(ncid, 1, lrefine, request, first_block_of(1, rank)))
        call try('bput gid', nf90mpi_bput_var(ncid, 2, gid, request, first_block_of(2, rank)))
        call try('bput coordinates', nf90mpi_bput_var(ncid, 3, centre, request, first_block_of(2, rank)))
        call try('bput blocksize', nf90mpi_bput_var(ncid, 4, size, request, first_block_of(2, rank)))
        call try('bput bnd_box', nf90mpi_bput_var(ncid, 5, bounds, request, first_block_of(3, rank)))
    end subroutine put_metadata

    ! Of a checkpoint from where they lie: of each block the cells inside, of each cell one variable.
    subroutine put_variables(kind)
        integer, intent(in) :: kind
        integer :: v, id, request
        integer(offset) :: start(4)

        start = first_block_of(4, rank)
        do v = 1, stored(kind)
            id = 5 + v
            select case (kind)
            case (checkpoint)
                call try('iput', nf90mpi_iput_var(ncid, id, unk(v, 1:cells, 1:cells, 1:cells, :), request, start))
            case (plot)
                call try('iput', nf90mpi_iput_var(ncid, id, plotted(:, :, :, :, v), request, start))
            case (plot_of_corners)
                call try('bput', nf90mpi_bput_var(ncid, id, plotted(:, :, :, :, v), request, start))
            end select
        end do
    end subroutine put_variables

    ! Each rank reads what the next one wrote.
    subroutine verify_file(path, kind)
        character(len=*), intent(in) :: path
        integer, intent(in) :: kind
        real(real64), allocatable :: values(:, :, :, :)
        integer :: v, n, source, gid(15, blocks)

        n = cells + extra(kind)
        source = mod(rank + 1, ranks)
        allocate (values(n, n, n, blocks))
        call try('open', nf90mpi_open(MPI_COMM_WORLD, path, nf90_nowrite, MPI_INFO_NULL, ncid))
        call try('get gid', nf90mpi_get_var_all(ncid, 2, gid, first_block_of(2, source)))
        do v = 1, stored(kind)
            call try('get ' // names(v), nf90mpi_get_var_all(ncid, 5 + v, values, first_block_of(4, source)))
            if (.not. as_expected(values, v, gid(1, :), kind)) call die(trim(path) // ': wrong values of ' // names(v))
        end do
        call try('close', nf90mpi_close(ncid))
    end subroutine verify_file

    logical function as_expected(values, v, gid, kind)
        real(real64), intent(in) :: values(:, :, :, :)
        integer, intent(in) :: v, gid(:), kind
        real(real64) :: expected
        integer :: i, j, k, b

        as_expected = all(gid == [(mod(rank + 1, ranks) * blocks + b, b = 1, blocks)])
        do b = 1, size(values, 4)
            do k = 1, size(values, 3)
                do j = 1, size(values, 2)
                    do i = 1, size(values, 1)
                        if (kind == plot_of_corners) then
                            expected = corner(v, gid(b), i, j, k)
                        else
                            expected = cell(v, gid(b), i, j, k)
                        end if
                        as_expected = as_expected .and. .not. abs(values(i, j, k, b) - expected) > 0
                    end do
                end do
            end do
        end do
    end function as_expected

end module files
