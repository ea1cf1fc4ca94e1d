m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
! Generated from src/spec: every nfmpi_ function of the data families is called once, each on the variable of its name,
! for test_families.c, which creates the files and checks the results. Selections are those of that file, seen from
! Fortran.
module calls
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    private
    include 'pnetcdf_checked.inc'
    public :: f77_call_puts, f77_call_gets

    integer, parameter :: nx = 6, rows = 4, offset = MPI_OFFSET_KIND
    integer :: ncid, varid, rank, nprocs, n, num
    integer(offset) :: start(2), count(2), stride(2), imap(2), starts(2, 2), counts(2, 2)
    integer, allocatable :: xs(:), ys(:)
    character, allocatable :: b_text(:)
    integer(c_int8_t), allocatable :: b_int1(:)
    integer(c_int16_t), allocatable :: b_int2(:)
    integer, allocatable :: b_int(:)
    integer(c_int64_t), allocatable :: b_int8(:)
    real, allocatable :: b_real(:)
    double precision, allocatable :: b_double(:)

    interface
        subroutine f77_report(name, good) bind(c)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), value :: good
        end subroutine
    end interface
contains
    subroutine begin(path)
        character(kind=c_char), intent(in) :: path(4096)
        character(4096) :: name
        integer :: err, i

        call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
        call MPI_Comm_size(MPI_COMM_WORLD, nprocs, err)
        do i = 1, len(name)
            name(i:i) = path(i)
        end do
        err = nfmpi_open(MPI_COMM_WORLD, name, nf_write, MPI_INFO_NULL, ncid)
        if (err == nf_noerr) err = nfmpi_buffer_attach(ncid, 100000_offset)
        call report('open', err)
        n = nx * rows * nprocs
        allocate(xs(n), ys(n), b_text(n), b_int1(n), b_int2(n), b_int(n), b_int8(n), b_real(n), b_double(n))
    end subroutine

    subroutine end()
        integer :: err

        deallocate(xs, ys, b_text, b_int1, b_int2, b_int, b_int8, b_real, b_double)
        err = nfmpi_buffer_detach(ncid)
        if (err == nf_noerr) err = nfmpi_close(ncid)
        call report('close', err)
    end subroutine

    subroutine report(name, err)
        character(*), intent(in) :: name
        integer, intent(in) :: err

        call f77_report(name // ': ' // trim(nfmpi_strerror(err)) // c_null_char, merge(1, 0, err == nf_noerr))
    end subroutine

    ! A posted request is completed at once.
    subroutine finish(name, err, req)
        character(*), intent(in) :: name
        integer, intent(in) :: err
        integer, intent(inout) :: req
        integer :: status, waited

        call report(name, err)
        waited = nfmpi_wait_all(ncid, 1, req, status)
        call report('wait for ' // name, waited)
        call report('status of ' // name, status)
        call report('number of ' // name, merge(nf_noerr, nf_einval_request, req == nf_req_null))
    end subroutine

    ! A block of columns from..to by step and two rows, of memory with the first index running fastest.
    subroutine add_block(first, last, step, row, row_step)
        integer, intent(in) :: first, last, step, row, row_step
        integer :: x, y

        do y = row, row + row_step, row_step
            do x = first, last, step
                n = n + 1
                xs(n) = x
                ys(n) = y
            end do
        end do
    end subroutine

    ! The place that a shape is tried with, and where its elements are, in the order of memory.
    subroutine places(shape)
        character(*), intent(in) :: shape
        integer :: x, y, top

        top = rows * rank
        n = 0
        select case (shape)
        case ('')
            do y = 1, rows * nprocs
                do x = 1, nx
                    n = n + 1
                    xs(n) = x
                    ys(n) = y
                end do
            end do
        case ('1')
            start = (/2, top + 3/)
            n = 1
            xs(1) = 2
            ys(1) = top + 3
        case ('a')
            start = (/2, top + 2/)
            count = (/3, 2/)
            call add_block(2, 4, 1, top + 2, 1)
        case ('s')
            start = (/1, top + 1/)
            count = (/3, 2/)
            stride = (/2, 2/)
            call add_block(1, 5, 2, top + 1, 2)
        case ('m')
            start = (/1, top + 1/)
            count = (/3, 2/)
            stride = (/2, 2/)
            imap = (/2, 1/)
            do x = 1, 5, 2
                do y = top + 1, top + 3, 2
                    n = n + 1
                    xs(n) = x
                    ys(n) = y
                end do
            end do
        case ('n')
            num = 2
            starts = reshape((/1, top + 1, 4, top + 3/), (/2, 2/))
            counts = reshape((/2, 1, 3, 2/), (/2, 2/))
            xs(1:2) = (/1, 2/)
            ys(1:2) = top + 1
            n = 2
            call add_block(4, 6, 1, top + 3, 1)
        end select
    end subroutine

    integer function value_at(i)
        integer, intent(in) :: i

        value_at = mod(7 * (xs(i) - 1) + 13 * (ys(i) - 1) + 3 * (varid - 1), 90) + 33
    end function

    ! Ready for a put or a get of the function's name.
    subroutine prepare(name, shape, writes)
        character(*), intent(in) :: name, shape
        logical, intent(in) :: writes
        integer :: i

        varid = -1
        call report('inq_varid ' // name, nfmpi_inq_varid(ncid, name, varid))
        call places(shape)
        do i = 1, n
            b_int(i) = merge(value_at(i), 0, writes)
        end do
        b_text(:n) = achar(b_int(:n))
        b_int1(:n) = int(b_int(:n), c_int8_t)
        b_int2(:n) = int(b_int(:n), c_int16_t)
        b_int8(:n) = b_int(:n)
        b_real(:n) = real(b_int(:n))
        b_double(:n) = b_int(:n)
    end subroutine

    subroutine compare(name, values)
        character(*), intent(in) :: name
        integer, intent(in) :: values(n)
        integer :: i

        call report('values of ' // name, merge(nf_noerr, nf_erange, all((/(values(i) == value_at(i), i = 1, n)/))))
    end subroutine

    subroutine check_mode(err)
        integer, intent(in) :: err

        call report('change of mode', err)
    end subroutine
m4_divert(-1)
m4_dnl The variables above have the names of arguments. Memory is b_<type>; where the name of the function has no type,
m4_dnl integers describe it.
m4_define([ACTUAL], [m4_ifelse(
    m4_regexp(PASSING([$1]), [^\(buffer\|strings\)_]), 0, [b_[]_type],
    [$1], [length],   [int(n, offset)],
    [$1], [datatype], [MPI_INTEGER],
    [$3])])
m4_define([IS_READ], [m4_ifelse(m4_regexp(PASSING(ROLE_OF_MEMORY([$1], [$2])), [_out$]), -1, [], [$3])])
m4_define([FULL_NAME], [$1_var$2[]m4_ifelse([$3], [], [], [_$3])$5])
m4_define([MEMBER_CALL], [m4_define([_type], m4_ifelse([$3], [], [int], [[$3]]))OUTPUT([
        call prepare('FULL_NAME($@)', '$2', m4_dnl
m4_ifelse(IS_READ([$1], [$3], [yes]), [yes], [.false.], [.true.]))
        err = nfmpi_[]FULL_NAME($@)(EACH([ACTUAL], [, ], [MEMBER_PARAMETERS([$1], [$2], [$3])]))
        m4_ifelse(IS_POSTED([$1], [yes]), [yes], [call finish('FULL_NAME($@)', err, req)],
    [call report('FULL_NAME($@)', err)])[]IS_READ([$1], [$3], [
        call compare('FULL_NAME($@)', m4_ifelse([$3], [text], [iachar(b_text(:n))],
    [int(b_[]_type[](:n))]))])
])])
m4_dnl One subroutine for the members of an operation.
m4_define([FORTRAN_MEMBER], [m4_ifelse([$1$5], _wanted, [MEMBER_CALL($@)])])
m4_define([SUBROUTINE], [OUTPUT([
    subroutine $1()
        integer :: err[]m4_ifelse([$3], [], [], [, req])
])
m4_define([_wanted], [$2])
FAMILIES
OUTPUT([m4_dnl
    end subroutine
])])
SUBROUTINE([put_collective], [put_all])
SUBROUTINE([put_independent], [put])
SUBROUTINE([put_posted], [iput], [req])
SUBROUTINE([put_buffered], [bput], [req])
SUBROUTINE([get_collective], [get_all])
SUBROUTINE([get_independent], [get])
SUBROUTINE([get_posted], [iget], [req])
m4_divert(0)m4_dnl

    subroutine f77_call_puts(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)

        call begin(path)
        call put_collective()
        call put_posted()
        call put_buffered()
        call check_mode(nfmpi_begin_indep_data(ncid))
        call put_independent()
        call check_mode(nfmpi_end_indep_data(ncid))
        call end()
    end subroutine

    subroutine f77_call_gets(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)

        call begin(path)
        call get_collective()
        call get_posted()
        call check_mode(nfmpi_begin_indep_data(ncid))
        call get_independent()
        call check_mode(nfmpi_end_indep_data(ncid))
        call end()
    end subroutine
end module
