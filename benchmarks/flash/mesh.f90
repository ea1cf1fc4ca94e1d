! The mesh of an adaptive hydrodynamics code: blocks of cells, each with guard cells around it, variables side by side
! in memory. Its values follow a formula, so that each cell of a file shows whether its offset is right.
module mesh
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    implicit none
    private
    public :: make_mesh, cell, corner

    integer, parameter, public :: variables = 24, guard = 4
    character(len=4), parameter, public :: names(variables) = [character(len=4) :: &
        'dens', 'pres', 'temp', 'ener', 'velx', 'vely', 'velz', 'eint', 'gamc', 'game', 'enuc', 'gpot', &
        'h1', 'he3', 'he4', 'c12', 'n14', 'o16', 'ne20', 'mg24', 'si28', 's32', 'ar36', 'fe54']
    integer, public :: rank, ranks, cells, blocks ! cells of a block along each side, blocks of a rank
    real(real64), allocatable, asynchronous, public :: unk(:, :, :, :, :)

contains

    ! A whole number, so that it and the mean of eight are exact in single precision. A guard cell has one below zero,
    ! and shall not be found in a file.
    pure real(real64) function cell(variable, block, i, j, k)
        integer, intent(in) :: variable, block, i, j, k

        cell = 1 + mod(40009_int64 * variable + 1021_int64 * block + i + 97 * j + 9409 * k, 1048576_int64)
        if (min(i, j, k) < 1 .or. max(i, j, k) > cells) cell = -cell
    end function

    ! At the corners of cells stands the mean of the eight around it, for which guard cells are needed.
    pure real(real64) function corner(variable, block, i, j, k)
        integer, intent(in) :: variable, block, i, j, k
        integer :: a, b, c

        corner = 0
        do c = k - 1, k
            do b = j - 1, j
                do a = i - 1, i
                    corner = corner + cell(variable, block, a, b, c) / 8
                end do
            end do
        end do
    end function

    subroutine make_mesh(cells_along, blocks_of_rank)
        integer, intent(in) :: cells_along, blocks_of_rank
        integer :: v, i, j, k, b, low, high

        call mpi_comm_rank(MPI_COMM_WORLD, rank)
        call mpi_comm_size(MPI_COMM_WORLD, ranks)
        cells = cells_along
        blocks = blocks_of_rank
        low = 1 - guard
        high = cells + guard
        allocate (unk(variables, low:high, low:high, low:high, blocks))
        do b = 1, blocks
            do k = low, high
                do j = low, high
                    do i = low, high
                        unk(:, i, j, k, b) = [(cell(v, rank * blocks + b, i, j, k), v = 1, variables)]
                    end do
                end do
            end do
        end do
    end subroutine make_mesh

end module mesh
