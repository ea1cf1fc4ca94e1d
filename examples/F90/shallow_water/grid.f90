! The 2D process grid of the shallow-water model: who owns which cells, and the exchange of halo cells.
!
! Fields are arrays (0:nx+1, 0:ny+1, 3) of a rank's cells with a row or column of halo cells on each side, which belong
! to the neighbouring ranks. Arakawa C grid:
!     field_h  thickness of the layer at the centre of a cell
!     field_u  eastward velocity on the western face of the cell
!     field_v  northward velocity on the southern face of the cell
! The channel is periodic in x and has free-slip walls in y.
module grid_mod
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use check, only: die
    implicit none
    private
    public :: grid_type, grid_create, grid_exchange_halos, field_h, field_u, field_v, n_fields

    integer, parameter :: field_h = 1, field_u = 2, field_v = 3, n_fields = 3

    type grid_type
        type(MPI_Comm) :: comm
        integer :: rank
        integer :: nx, ny           ! this rank's cells
        integer :: before_x, before_y   ! cells of the whole channel before them
        integer :: south, north, west, east ! neighbours; MPI_PROC_NULL beyond a wall
    end type grid_type

contains

    ! Collective over comm; size: cells of the whole channel in y and x.
    subroutine grid_create(comm, size, grid)
        type(MPI_Comm), intent(in) :: comm
        integer, intent(in) :: size(2)
        type(grid_type), intent(out) :: grid
        integer :: n_ranks, ranks(2), place(2), mine(2), before(2)
        character(len=100) :: text

        call mpi_comm_size(comm, n_ranks)
        ranks = 0
        call mpi_dims_create(n_ranks, 2, ranks)
        if (any(size < ranks)) then
            write (text, '(3(a, i0), a, i0, a)') 'a grid of ', size(1), ' x ', size(2), ' cells is too small for ', &
                ranks(1), ' x ', ranks(2), ' ranks: run on fewer ranks'
            call die(trim(text))
        end if
        call mpi_cart_create(comm, 2, ranks, [.false., .true.], .true., grid%comm)
        call mpi_comm_rank(grid%comm, grid%rank)
        call mpi_cart_coords(grid%comm, grid%rank, 2, place)
        call mpi_cart_shift(grid%comm, 0, 1, grid%south, grid%north)
        call mpi_cart_shift(grid%comm, 1, 1, grid%west, grid%east)
        before = int(int(size, int64) * place / ranks)
        mine = int(int(size, int64) * (place + 1) / ranks) - before
        grid%before_y = before(1)
        grid%before_x = before(2)
        grid%ny = mine(1)
        grid%nx = mine(2)
    end subroutine grid_create

    ! Columns first, then whole rows with their halo cells: this carries the corners without diagonal messages.
    subroutine exchange(grid, field)
        type(grid_type), intent(in) :: grid
        real(real64), intent(inout) :: field(0:, 0:)
        real(real64) :: sent(max(grid%nx, grid%ny) + 2), received(max(grid%nx, grid%ny) + 2)

        associate (nx => grid%nx, ny => grid%ny)
            sent(:ny) = field(nx, 1:ny)
            call swap(ny, grid%east, grid%west)
            if (grid%west /= MPI_PROC_NULL) field(0, 1:ny) = received(:ny)
            sent(:ny) = field(1, 1:ny)
            call swap(ny, grid%west, grid%east)
            if (grid%east /= MPI_PROC_NULL) field(nx + 1, 1:ny) = received(:ny)
            sent(:nx + 2) = field(:, ny)
            call swap(nx + 2, grid%north, grid%south)
            if (grid%south /= MPI_PROC_NULL) field(:, 0) = received(:nx + 2)
            sent(:nx + 2) = field(:, 1)
            call swap(nx + 2, grid%south, grid%north)
            if (grid%north /= MPI_PROC_NULL) field(:, ny + 1) = received(:nx + 2)
        end associate

    contains

        subroutine swap(n, to, from)
            integer, intent(in) :: n, to, from

            call mpi_sendrecv(sent, n, MPI_DOUBLE_PRECISION, to, 0, received, n, MPI_DOUBLE_PRECISION, from, 0, &
                              grid%comm, MPI_STATUS_IGNORE)
        end subroutine swap
    end subroutine exchange

    ! Beyond a wall h and u are mirrored (no gradient, no stress) and nothing flows through the wall's face.
    subroutine set_wall(fields, halo_row, edge_row)
        real(real64), intent(inout) :: fields(0:, 0:, :)
        integer, intent(in) :: halo_row, edge_row

        fields(:, halo_row, field_h) = fields(:, edge_row, field_h)
        fields(:, halo_row, field_u) = fields(:, edge_row, field_u)
        fields(:, halo_row, field_v) = 0
    end subroutine set_wall

    subroutine grid_exchange_halos(grid, fields)
        type(grid_type), intent(in) :: grid
        real(real64), intent(inout) :: fields(0:, 0:, :)
        integer :: n

        do n = 1, n_fields
            call exchange(grid, fields(:, :, n))
        end do
        if (grid%south == MPI_PROC_NULL) call set_wall(fields, 0, 1)
        if (grid%north == MPI_PROC_NULL) call set_wall(fields, grid%ny + 1, grid%ny)
    end subroutine grid_exchange_halos

end module grid_mod
