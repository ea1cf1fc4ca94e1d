! The physics: nonlinear rotating shallow-water equations in vector-invariant form, with the energy-conserving scheme of
! Sadourny (1975, J. Atmos. Sci. 32, 680-689) in space and the third-order Runge-Kutta scheme of Shu and Osher (1988) in
! time.
!
! Each cell's arithmetic depends on its neighbours' values only, never on which rank owns them, and is done in the order
! of the model in C: the result is the same bit for bit, on any number of ranks, in both languages.
module model_mod
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use check, only: die
    use grid_mod
    implicit none
    private
    public :: constants_type, model_type, totals_type
    public :: model_stable_time_step, model_create, model_set_jet, model_step, model_totals, model_time

    type constants_type
        integer :: nx = 150, ny = 100           ! cells of the whole channel
        real(real64) :: spacing = 20e3_real64   ! width of a cell in both directions, m
        real(real64) :: depth = 100             ! thickness at rest, m
        real(real64) :: gravity = 9.81_real64   ! m s-2
        real(real64) :: f0 = 1e-4_real64        ! Coriolis parameter f0 + beta * (y - middle of the channel), s-1
        real(real64) :: beta = 1.6e-11_real64   ! m-1 s-1
        real(real64) :: time_step = 0           ! s
    end type constants_type

    type model_type
        type(constants_type) :: constants
        type(grid_type) :: grid
        integer(int64) :: step
        real(real64), allocatable :: now(:, :, :)   ! the state; the arrays below are work space
        real(real64), allocatable :: stage(:, :, :), tendency(:, :, :)
        real(real64), allocatable :: flux_x(:, :), flux_y(:, :), vorticity(:, :), head(:, :)
    end type model_type

    type totals_type
        real(real64) :: volume  ! in excess of the volume at rest, m3
        real(real64) :: energy  ! kinetic and available potential energy divided by density, m5 s-2
    end type totals_type

    ! The initial jet and the bump that disturbs it.
    real(real64), parameter :: jet_drop = 8             ! difference of thickness over half the jet, m
    real(real64), parameter :: jet_width = 200e3_real64 ! m
    real(real64), parameter :: bump_height = 2          ! m
    real(real64), parameter :: bump_width = 150e3_real64    ! m

    real(real64), parameter :: max_cells = 1e8_real64

contains

    pure real(real64) function model_stable_time_step(c) result(step)
        type(constants_type), intent(in) :: c
        real(real64) :: speed

        speed = sqrt(c%gravity * (c%depth + jet_drop + bump_height)) + c%gravity * jet_drop / (c%f0 * jet_width)
        ! The limit is sqrt(3) / (2 sqrt(2)) = 0.61 grid spacings per step.
        step = 0.4_real64 * c%spacing / speed
        if (step > 1) step = aint(step)
    end function model_stable_time_step

    pure real(real64) function model_time(model)
        type(model_type), intent(in) :: model

        model_time = real(model%step, real64) * model%constants%time_step
    end function model_time

    ! Collective over comm, as all that follows is over the communicator of the grid.
    subroutine model_create(comm, constants, model)
        type(MPI_Comm), intent(in) :: comm
        type(constants_type), intent(in) :: constants
        type(model_type), intent(out) :: model

        if (real(constants%nx, real64) * constants%ny > max_cells) call die('the grid has more than 100 million cells')
        model%constants = constants
        model%step = 0
        call grid_create(comm, [constants%ny, constants%nx], model%grid)
        associate (nx => model%grid%nx, ny => model%grid%ny)
            allocate (model%now(0:nx + 1, 0:ny + 1, n_fields), source=0.0_real64)
            allocate (model%stage, model%tendency, source=model%now)
            allocate (model%flux_x(0:nx + 1, 0:ny + 1), source=0.0_real64)
            allocate (model%flux_y, model%vorticity, model%head, source=model%flux_x)
        end associate
    end subroutine model_create

    ! f at the distance of `rows` cells from the southern wall.
    pure real(real64) function coriolis(c, rows)
        type(constants_type), intent(in) :: c
        real(real64), intent(in) :: rows

        coriolis = c%f0 + c%beta * c%spacing * (rows - 0.5_real64 * c%ny)
    end function coriolis

    ! An eastward jet in geostrophic balance, unstable to the bump that is laid on it.
    subroutine model_set_jet(model)
        type(model_type), intent(inout) :: model
        real(real64) :: row, x, y, slope, jet, bump
        integer :: i, j

        associate (c => model%constants, grid => model%grid, now => model%now)
            do j = 1, grid%ny
                row = grid%before_y + (j - 1) + 0.5_real64
                y = c%spacing * (row - 0.5_real64 * c%ny)
                slope = 1 / cosh(y / jet_width)
                jet = c%gravity * jet_drop / (coriolis(c, row) * jet_width) * slope * slope
                do i = 1, grid%nx
                    x = c%spacing * (grid%before_x + (i - 1) + 0.5_real64 - 0.25_real64 * c%nx)
                    bump = bump_height * exp(-(x * x + y * y) / (bump_width * bump_width))
                    now(i, j, field_h) = c%depth - jet_drop * tanh(y / jet_width) + bump
                    now(i, j, field_u) = jet
                    now(i, j, field_v) = 0
                end do
            end do
        end associate
        call grid_exchange_halos(model%grid, model%now)
    end subroutine model_set_jet

    ! Mass fluxes on faces, Bernoulli head g h + (u2 + v2) / 2 at centres, potential vorticity on corners. The loop
    ! visits the corners, each the south-western one of cell (i, j).
    pure subroutine set_diagnostics(c, grid, h, u, v, flux_x, flux_y, vorticity, head)
        type(constants_type), intent(in) :: c
        type(grid_type), intent(in) :: grid
        real(real64), dimension(0:, 0:), intent(in) :: h, u, v
        real(real64), dimension(0:, 0:), intent(inout) :: flux_x, flux_y, vorticity, head
        real(real64) :: f, per_spacing
        integer :: i, j

        per_spacing = 1 / c%spacing
        do j = 1, grid%ny + 1
            f = coriolis(c, real(grid%before_y + (j - 1), real64))
            do i = 1, grid%nx + 1
                flux_x(i, j - 1) = 0.5_real64 * (h(i - 1, j - 1) + h(i, j - 1)) * u(i, j - 1)
                flux_y(i - 1, j) = 0.5_real64 * (h(i - 1, j - 1) + h(i - 1, j)) * v(i - 1, j)
                vorticity(i, j) = (f + ((v(i, j) - v(i - 1, j)) - (u(i, j) - u(i, j - 1))) * per_spacing) &
                    / (0.25_real64 * ((h(i, j) + h(i - 1, j)) + (h(i, j - 1) + h(i - 1, j - 1))))
                head(i - 1, j - 1) = c%gravity * h(i - 1, j - 1) &
                    + 0.25_real64 * ((u(i - 1, j - 1) * u(i - 1, j - 1) + u(i, j - 1) * u(i, j - 1)) &
                    + (v(i - 1, j - 1) * v(i - 1, j - 1) + v(i - 1, j) * v(i - 1, j)))
            end do
        end do
    end subroutine set_diagnostics

    pure subroutine set_tendency(c, grid, fx, fy, q, head, tendency)
        type(constants_type), intent(in) :: c
        type(grid_type), intent(in) :: grid
        real(real64), dimension(0:, 0:), intent(in) :: fx, fy, q, head
        real(real64), intent(inout) :: tendency(0:, 0:, :)
        real(real64) :: per_spacing
        integer :: i, j

        per_spacing = 1 / c%spacing
        do j = 1, grid%ny
            do i = 1, grid%nx
                tendency(i, j, field_h) = -((fx(i + 1, j) - fx(i, j)) + (fy(i, j + 1) - fy(i, j))) * per_spacing
                tendency(i, j, field_u) = 0.25_real64 * (q(i, j + 1) * (fy(i, j + 1) + fy(i - 1, j + 1)) &
                    + q(i, j) * (fy(i, j) + fy(i - 1, j))) - (head(i, j) - head(i - 1, j)) * per_spacing
                tendency(i, j, field_v) = -0.25_real64 * (q(i + 1, j) * (fx(i + 1, j) + fx(i + 1, j - 1)) &
                    + q(i, j) * (fx(i, j) + fx(i, j - 1))) - (head(i, j) - head(i, j - 1)) * per_spacing
            end do
        end do
        if (grid%before_y == 0) tendency(:, 1, field_v) = 0 ! the wall
    end subroutine set_tendency

    ! stage = old_share * now + (1 - old_share) * (stage + time step * tendency(stage))
    subroutine advance_stage(model, old_share)
        type(model_type), intent(inout) :: model
        real(real64), intent(in) :: old_share
        real(real64) :: new_share

        new_share = 1 - old_share
        associate (m => model, nx => model%grid%nx, ny => model%grid%ny, dt => model%constants%time_step)
            call set_diagnostics(m%constants, m%grid, m%stage(:, :, field_h), m%stage(:, :, field_u), &
                                 m%stage(:, :, field_v), m%flux_x, m%flux_y, m%vorticity, m%head)
            call set_tendency(m%constants, m%grid, m%flux_x, m%flux_y, m%vorticity, m%head, m%tendency)
            m%stage(1:nx, 1:ny, :) = old_share * m%now(1:nx, 1:ny, :) &
                + new_share * (m%stage(1:nx, 1:ny, :) + dt * m%tendency(1:nx, 1:ny, :))
        end associate
        call grid_exchange_halos(model%grid, model%stage)
    end subroutine advance_stage

    subroutine model_step(model)
        type(model_type), intent(inout) :: model

        model%stage = model%now
        call advance_stage(model, 0.0_real64)
        call advance_stage(model, 3.0_real64 / 4)
        call advance_stage(model, 1.0_real64 / 3)
        model%now = model%stage
        model%step = model%step + 1
    end subroutine model_step

    ! Sums of reals depend on their order, and so on the number of ranks; sums of integers do not. These units leave
    ! room for max_cells cells with an average of 20 m of excess and 8 * 10^4 m3 s-2 of energy.
    type(totals_type) function model_totals(model) result(totals)
        type(model_type), intent(in) :: model
        real(real64), parameter :: height_unit = 2.0_real64**(-32), energy_unit = 2.0_real64**(-20)
        real(real64) :: excess, kinetic, area
        integer(int64) :: sums(2)
        integer :: i, j

        sums = 0
        associate (c => model%constants, s => model%now)
            do j = 1, model%grid%ny
                do i = 1, model%grid%nx
                    excess = s(i, j, field_h) - c%depth
                    kinetic = 0.25_real64 * ( &
                        (s(i - 1, j, field_h) + s(i, j, field_h)) * s(i, j, field_u) * s(i, j, field_u) &
                        + (s(i, j - 1, field_h) + s(i, j, field_h)) * s(i, j, field_v) * s(i, j, field_v))
                    sums(1) = sums(1) + nint(excess / height_unit, int64)
                    sums(2) = sums(2) + nint((kinetic + 0.5_real64 * c%gravity * excess * excess) / energy_unit, int64)
                end do
            end do
            area = c%spacing * c%spacing
        end associate
        call mpi_allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER8, MPI_SUM, model%grid%comm)
        totals%volume = real(sums(1), real64) * height_unit * area
        totals%energy = real(sums(2), real64) * energy_unit * area
    end function model_totals

end module model_mod
