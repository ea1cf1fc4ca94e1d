"""Module pnetcdf but for the movement of values: definitions, inquiry and optional arguments, texts, fill values, error
codes; what compiles without a warning in users' programs, and what must not compile."""
# needs: python
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fortran import BUILD, STRICT, compile_program, compile_source, link, need_module, run_counting  # noqa: E402
from tap import finish, ok, scratch  # noqa: E402

METADATA = """\
program metadata
    use, intrinsic :: iso_c_binding, only: c_int8_t, c_int16_t
    use mpi
    use pnetcdf
    use report, only: check, finish, path, rank, ranks, start
    implicit none

    integer, parameter :: big = MPI_OFFSET_KIND
    integer :: err, ncid, x, y, t, v, s, c, n, natts, xtype, ids(3), few(1)
    integer :: formatnum, unlimited, info, old, no_fill, req(2), st(2)
    integer(big) :: length, bytes, p, q
    character(len=20) :: name, long
    character(len=2) :: short
    character(len=300) :: where
    character(len=nf90_max_message) :: message
    real :: field(6, 4), one
    logical :: in_one, shuffled, checked
    double precision :: numbers(3), number
    integer(c_int8_t) :: tiny
    integer(c_int16_t) :: list(4)
    integer(big), allocatable :: from(:)

    call start()
    call check(nf90mpi_create(MPI_COMM_WORLD, path('storage.nc'), nf90_clobber, MPI_INFO_NULL, ncid) == nf90_noerr, &
        'create')
    call check(nf90mpi_def_dim(ncid, 'x', 6, x) == nf90_noerr .and. nf90mpi_def_dim(ncid, 'y', 4, y) == nf90_noerr, &
        'dimensions')
    call check(nf90mpi_def_var(ncid, 'z', nf90_float, [x, y], n, deflate_level=1, shuffle=.true.) == nf90_enotnc4, &
        'compression of a classic file')
    call check(nf90mpi_def_var(ncid, 'k', nf90_float, [x, y], n, chunksizes=[2, 2]) == nf90_enotnc4, &
        'chunks of a classic file')
    call check(all([nf90mpi_def_var_deflate(ncid, n, 1, 1, 1), &
                    nf90mpi_def_var_fletcher32(ncid, n, nf90_fletcher32), &
                    nf90mpi_def_var_endian(ncid, n, nf90_endian_big), nf90mpi_def_var_zstandard(ncid, n, 3), &
                    nf90mpi_def_var_quantize(ncid, n, nf90_quantize_bitround, 9), &
                    nf90mpi_var_set_filter(ncid, n, nf90_filter_deflate), &
                    nf90mpi_inq_var_endian(ncid, n, old), nf90mpi_inq_var_quantize(ncid, n, old, xtype), &
                    nf90mpi_def_grp(ncid, 'group'), &
                    nf90mpi_rename_grp(ncid, 1, 'name')] == nf90_enotnc4), 'what a classic file does not have')
    call check(nf90mpi_inq_ngrps(ncid, old) == nf90_noerr .and. old == 0, 'nor has it groups')
    call check(nf90mpi_inq_grpname(ncid, 1, name) == nf90_enogrp, 'nor has one a name')
    call check(all([nf90mpi_inq_var_deflate(ncid, n, old, xtype, natts), &
                    nf90mpi_inq_var_zstandard(ncid, n, old, xtype), &
                    nf90mpi_inq_var_fletcher32(ncid, n, xtype), nf90mpi_var_get_filter(ncid, n, info)] == nf90_noerr) &
               .and. all([old, xtype, natts, info] == 0), 'no filters in a classic file')
    call check(nf90mpi_abort(ncid) == nf90_noerr, 'abort')

    call check(nf90mpi_create(MPI_COMM_WORLD, path('metadata.nc   '), ior(nf90_clobber, nf90_64bit_data), &
                              MPI_INFO_NULL, ncid) == nf90_noerr, 'create, with blanks after the path')
    err = nf90mpi_def_dim(ncid, 'x', 6_big, x)
    call check(err == nf90_noerr .and. x == 1, 'the first dimension has number 1')
    err = nf90mpi_def_dim(ncid, 'y  ', 4, y)
    call check(err == nf90_noerr .and. y == 2, 'a length may be a default integer')
    call check(nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, t) == nf90_noerr, 'nf90mpi_unlimited')
    call check(nf90mpi_def_dim(ncid, 'again', nf90_unlimited, n) == nf90_eunlimit, 'nf90_unlimited, a second time')
    err = nf90mpi_def_var(ncid, 'v', nf90_float, [x, y, t], v)
    call check(err == nf90_noerr .and. v == 1, 'a variable of rank 3')
    call check(nf90mpi_def_var(ncid, 's', nf90_double, s) == nf90_noerr, 'a variable of rank 0')
    call check(nf90mpi_def_var(ncid, 'c', nf90_char, dimids=x, varid=c) == nf90_noerr, &
        'a variable of rank 1, by keywords')
    call check(nf90mpi_def_var(ncid, 'v', nf90_float, [t, x], n) == nf90_eunlimpos .or. &
               nf90mpi_def_var(ncid, 'w', nf90_float, [t, x], n) == nf90_eunlimpos, 'the record dimension comes last')

    call check(nf90mpi_put_att(ncid, nf90_global, 'title ', 'a title ') == nf90_noerr, 'a text attribute')
    call check(nf90mpi_put_att(ncid, v, 'scale', 2.5) == nf90_noerr, 'an attribute of one number')
    call check(nf90mpi_put_att(ncid, v, 'range', [1.5d0, 2.5d0, 3.5d0]) == nf90_noerr, 'an attribute of three')
    list = [1_c_int16_t, 2_c_int16_t, 3_c_int16_t, 4_c_int16_t]
    call check(nf90mpi_put_att(ncid, v, 'backwards', list(4:1:-2)) == nf90_noerr, 'an attribute from an array section')
    call check(nf90mpi_put_att(ncid, v, 'empty', '') == nf90_noerr, 'an empty text')
    err = nf90mpi_get_att(ncid, nf90_global, 'title', name)
    call check(err == nf90_noerr .and. name == 'a title', 'read the text')
    err = nf90mpi_inquire_attribute(ncid, nf90_global, 'title', len=length)
    call check(err == nf90_noerr .and. length == 7, 'written without the blanks at its end')
    call check(nf90mpi_get_att(ncid, nf90_global, 'title', short) == nf90_ests, 'refuse a text that is too short')
    err = nf90mpi_get_att(ncid, v, 'range', numbers)
    call check(err == nf90_noerr .and. all(nint(2 * numbers) == [3, 5, 7]), 'read three')
    call check(nf90mpi_get_att(ncid, v, 'range', number) == nf90_eiomismatch, 'refuse to read three into one')
    call check(nf90mpi_get_att(ncid, v, 'range', numbers(:2)) == nf90_eiomismatch, 'refuse to read three into two')
    numbers = 0
    err = nf90mpi_get_att(ncid, v, 'backwards', numbers(3:1:-2))
    call check(err == nf90_noerr .and. &
               all(nint(numbers) == [2, 0, 4]), 'read into a section, of another type')
    call check(nf90mpi_get_att(ncid, v, 'scale', name) == nf90_echar, 'refuse numbers as text')
    call check(nf90mpi_put_att(ncid, v, 'none', numbers(1:0)) == nf90_noerr, 'an attribute of no numbers')
    err = nf90mpi_get_att(ncid, v, 'none', name)
    call check(err == nf90_noerr .and. name == '', 'as text it is blank')
    one = 77
    err = nf90mpi_get_att(ncid, v, 'empty', one)
    call check(err == nf90_noerr .and. nint(one) == 77, 'an empty text has no number')
    call check(nf90mpi_get_att(ncid, v, 'absent', one) == nf90_enotatt, 'an attribute that is not there')
    err = nf90mpi_inquire_attribute(ncid, v, 'range', xtype=xtype, len=length, attnum=n)
    call check(err == nf90_noerr .and. &
               xtype == nf90_double .and. length == 3 .and. n == 2, 'inquire about an attribute')
    call check(nf90mpi_inquire_attribute(ncid, v, 'range') == nf90_noerr, 'inquire only whether it exists')
    err = nf90mpi_inq_attname(ncid, v, 2, name)
    call check(err == nf90_noerr .and. name == 'range', 'the name of attribute 2')
    call check(nf90mpi_rename_att(ncid, v, 'scale', 'scale_factor') == nf90_noerr, 'rename an attribute')
    call check(nf90mpi_copy_att(ncid, v, 'range', ncid, s) == nf90_noerr, 'copy an attribute')
    call check(nf90mpi_del_att(ncid, v, 'backwards') == nf90_noerr, 'delete an attribute')

    call check(nf90mpi_def_var_fill(ncid, v, 0, -9) == nf90_noerr, 'a fill value of another type is converted')
    err = nf90mpi_inq_var_fill(ncid, v, no_fill, one)
    call check(err == nf90_noerr .and. no_fill == 0 .and. nint(one) == -9, 'read it')
    call check(nf90mpi_def_var_fill(ncid, s, 0, nf90_fill_double) == nf90_noerr, 'the default fill value')
    call check(nf90mpi_inq_var_fill(ncid, s, no_fill, tiny) == nf90_erange, 'a fill value that does not fit')
    call check(nf90mpi_def_var_fill(ncid, c, 0, 'x') == nf90_noerr, 'a character')
    call check(nf90mpi_def_var_fill(ncid, c, 0, 1) == nf90_echar, 'no number for a character')
    err = nf90mpi_set_fill(ncid, nf90_nofill, old)
    call check(err == nf90_noerr .and. old == nf90_nofill, 'set_fill')
    call check(nf90mpi_enddef(ncid, h_minfree=4096_big, r_align=512_big) == nf90_noerr, &
        'enddef, with some of its arguments')
    err = nf90mpi_inq_header_extent(ncid, bytes)
    call check(err == nf90_noerr .and. bytes > 4096, 'and they are obeyed')

    err = nf90mpi_inquire(ncid, nvariables=n, unlimiteddimid=unlimited)
    call check(err == nf90_noerr .and. n == 3 .and. &
               unlimited == t, 'inquire, some arguments')
    err = nf90mpi_inquire(ncid, n, nattributes=natts, formatnum=formatnum)
    call check(err == nf90_noerr .and. n == 3 .and. natts == 1 &
               .and. formatnum == nf90_format_cdf5, 'inquire, others')
    err = nf90mpi_inquire_dimension(ncid, y, name, length)
    call check(err == nf90_noerr .and. name == 'y' .and. length == 4, &
               'inquire_dimension')
    call check(nf90mpi_inquire_dimension(ncid, 9) == nf90_ebaddim, 'a dimension that is not there')
    err = nf90mpi_inquire_variable(ncid, v, name, xtype, n, ids, natts)
    call check(err == nf90_noerr .and. name == 'v' .and. &
               xtype == nf90_float .and. n == 3 .and. all(ids == [x, y, t]), 'inquire_variable')
    ids = 9
    err = nf90mpi_inquire_variable(ncid, v, contiguous=in_one, shuffle=shuffled, fletcher32=checked, &
                                   deflate_level=n, chunksizes=ids)
    call check(err == nf90_noerr .and. in_one .and. .not. shuffled .and. .not. checked .and. n == 0 .and. &
               all(ids == 0), 'the storage of a classic variable')
    call check(nf90mpi_inquire_variable(ncid, v, endianness=n) == nf90_enotnc4, 'it has no choice of byte order')
    call check(nf90mpi_inquire_variable(ncid, v, chunksizes=few) == nf90_einval, 'no room for the chunk lengths')
    call check(nf90mpi_inquire_variable(ncid, v, dimids=few) == nf90_einval, 'no room for the dimensions')
    call check(nf90mpi_inq_varid(ncid, 'absent', n) == nf90_enotvar, 'a variable that is not there')
    err = nf90mpi_inq_path(ncid, n, where)
    call check(err == nf90_noerr .and. where == path('metadata.nc'), 'the path')
    call check(nf90mpi_inq_path(ncid, n, short) == nf90_ests, 'no room for the path')
    err = nf90mpi_inq_files_opened(n, ids)
    call check(err == nf90_noerr .and. n == 1 .and. ids(1) == ncid, 'the files that are open')
    err = nf90mpi_inq_file_info(ncid, info)
    call check(err == nf90_noerr .and. info /= MPI_INFO_NULL, 'the hints')
    call check(nf90mpi_strerrno(nf90_enotvar) == 'NF90_ENOTVAR', 'strerrno')
    long = nf90mpi_strerror(nf90_noerr)
    call check(long == 'No error' .and. len_trim(nf90mpi_inq_libvers()) > 0, 'strerror, inq_libvers')
    call check(.not. nf90mpi_issyserr(nf90_enotvar), 'issyserr')

    call values()
    call check(nf90mpi_close(ncid) == nf90_noerr, 'close')
    call check(nf90mpi_close(ncid) == nf90_ebadid, 'and no second time')
    call others()
    call many_dimensions()
    call finish()

contains

    ! The differences between the generics of the module and those of pnetcdf.inc; those are compared with C.
    subroutine others()
        integer :: a, b, c, d

        call check(nf90mpi_open(MPI_COMM_WORLD, path('metadata.nc'), nf90_write, MPI_INFO_NULL, ncid) == nf90_noerr, &
            'open')
        err = nf90mpi_inq_dimid(ncid, 'y', n)
        call check(err == nf90_noerr .and. n == y, 'inq_dimid')
        call check(nf90mpi_buffer_attach(ncid, 1000_big) == nf90_noerr, 'buffer_attach')
        call same(nf90mpi_inq_header_size(ncid, p), nfmpi_inq_header_size(ncid, q), 'inq_header_size')
        call same(nf90mpi_inq_recsize(ncid, p), nfmpi_inq_recsize(ncid, q), 'inq_recsize')
        call same(nf90mpi_inq_varoffset(ncid, s, p), nfmpi_inq_varoffset(ncid, s, q), 'inq_varoffset')
        call same(nf90mpi_inq_put_size(ncid, p), nfmpi_inq_put_size(ncid, q), 'inq_put_size')
        call same(nf90mpi_inq_get_size(ncid, p), nfmpi_inq_get_size(ncid, q), 'inq_get_size')
        call same(nf90mpi_inq_buffer_size(ncid, p), nfmpi_inq_buffer_size(ncid, q), 'inq_buffer_size')
        call same(nf90mpi_inq_buffer_usage(ncid, p), nfmpi_inq_buffer_usage(ncid, q), 'inq_buffer_usage')
        p = 0
        q = 0
        call same(nf90mpi_inq_malloc_size(p), nfmpi_inq_malloc_size(q), 'inq_malloc_size')
        call same(nf90mpi_inq_malloc_max_size(p), nfmpi_inq_malloc_max_size(q), 'inq_malloc_max_size')
        call check(nf90mpi_inq_malloc_list() == nfmpi_inq_malloc_list(), 'inq_malloc_list')
        err = nf90mpi_inq_num_rec_vars(ncid, a)
        err = nf90mpi_inq_num_fix_vars(ncid, b)
        call check(a == 1 .and. b == 2, 'one record variable, and two others')
        call check(nf90mpi_inq_stats(ncid, 'writes', p) == nf90_einval, 'inq_stats without statistics')
        err = nf90mpi_inq_striping(ncid, a, b)
        err = nfmpi_inq_striping(ncid, c, d)
        call check(err == nf90_noerr .and. a == c .and. b == d, 'inq_striping')
        err = nf90mpi_set_default_format(nf90_format_cdf5, a)
        err = nf90mpi_inq_default_format(b)
        err = nf90mpi_inq_dimid(ncid, 'nowhere', n)
        call check(index(nf90mpi_strerror(err), 'NetCDF: Invalid dimension ID or name: ') == 1 .and. &
                   index(nf90mpi_strerror(err), 'metadata.nc') > 0, 'strerror with the sentence of a failure')
        call check(nf90mpi_inq_last_error(-1, n, message) == nf90_noerr .and. n == err .and. &
                   index(message, 'nf90mpi_inq_dimid on rank') == 1 .and. index(message, '"nowhere"') > 0 .and. &
                   index(message, '(NF90_EBADDIM)') > 0, 'inq_last_error')
        err = nf90mpi_set_default_format(a, c)
        call check(a == nf90_format_classic .and. b == nf90_format_cdf5 .and. c == b, 'default formats')
        call requests()
        err = nf90mpi_redef(ncid)
        err = nf90mpi_rename_dim(ncid, y, 'lat')
        call check(err == nf90_noerr .and. nf90mpi_inq_dimid(ncid, 'lat', n) == nf90_noerr, 'rename_dim')
        err = nf90mpi_rename_var(ncid, s, 'scalar')
        call check(err == nf90_noerr .and. nf90mpi_inq_varid(ncid, 'scalar', n) == nf90_noerr, 'rename_var')
        err = nf90mpi_def_var(ncid, 'letter', nf90_char, n)
        call check(nf90mpi_iput_var(ncid, n, 5, req(1)) == nf90_echar, 'no number is posted for a single character')
        call check(nf90mpi_abort(ncid) == nf90_noerr, 'abort')
        err = nf90mpi_open(MPI_COMM_WORLD, path('metadata.nc'), nf90_nowrite, MPI_INFO_NULL, ncid)
        call check(nf90mpi_inq_dimid(ncid, 'y', n) == nf90_noerr, 'leaves the file as it was')
        err = nf90mpi_close(ncid)
    end subroutine

    ! The first of 102,400 dimensions has 4 elements, the others 1.
    subroutine many_dimensions()
        integer, parameter :: many = 102400
        integer, allocatable :: dims(:), found(:)
        integer(big), allocatable :: at(:), lengths(:), starts(:, :), counts(:, :)
        integer :: row(4)

        allocate (dims(many), found(many), at(many), lengths(many), starts(many, 1), counts(many, 1))
        err = nf90mpi_create(MPI_COMM_WORLD, path('many.nc'), nf90_clobber, MPI_INFO_NULL, ncid)
        err = nf90mpi_def_dim(ncid, 'four', 4, x)
        err = nf90mpi_def_dim(ncid, 'one', 1, y)
        dims = y
        dims(1) = x
        call check(nf90mpi_def_var(ncid, 'v', nf90_int, dims, v) == nf90_noerr, 'a variable of 102,400 dimensions')
        call check(nf90mpi_enddef(ncid) == nf90_noerr, 'enddef')
        call check(nf90mpi_put_var_all(ncid, v, [1, 2, 3, 4]) == nf90_noerr, 'put all of it')
        at = 1
        at(1) = 3
        call check(nf90mpi_put_var_all(ncid, v, 33, at) == nf90_noerr, 'put one value')
        at(1) = 2
        lengths = 1
        lengths(1) = 2
        call check(nf90mpi_put_var_all(ncid, v, [22, 33], at, lengths) == nf90_noerr, 'put two')
        call check(nf90mpi_close(ncid) == nf90_noerr, 'close')
        err = nf90mpi_open(MPI_COMM_WORLD, path('many.nc'), nf90_nowrite, MPI_INFO_NULL, ncid)
        err = nf90mpi_inquire_variable(ncid, v, ndims=n, dimids=found)
        call check(err == nf90_noerr .and. n == many .and. all(found == dims), 'inquire about it')
        starts = 1
        counts = 1
        counts(1, 1) = 4
        row = 0
        err = nf90mpi_get_varn_all(ncid, v, row, starts, counts)
        call check(err == nf90_noerr .and. all(row == [1, 22, 33, 4]), 'get what was put')
        err = nf90mpi_close(ncid)
    end subroutine

    subroutine same(status, other_status, text)
        integer, intent(in) :: status, other_status
        character(len=*), intent(in) :: text

        call check(status == other_status .and. p == q, text)
    end subroutine

    ! fill_var_rec makes record 3 and flush and sync keep it; requests come to nothing, or are carried out by each rank.
    subroutine requests()
        call check(nf90mpi_fill_var_rec(ncid, v, 3_big) == nf90_noerr, 'fill_var_rec')
        call check(nf90mpi_flush(ncid) == nf90_noerr, 'flush')
        call check(nf90mpi_sync(ncid) == nf90_noerr .and. nf90mpi_sync_numrecs(ncid) == nf90_noerr, 'sync')
        err = nf90mpi_inquire_dimension(ncid, t, len=length)
        field = 0
        err = nf90mpi_get_var_all(ncid, v, field, [1_big, 1_big, 3_big], [6_big, 4_big, 1_big])
        call check(length == 3 .and. all(nint(field) == -9), 'record 3 holds the fill value')
        one = 7
        err = nf90mpi_bput_var(ncid, v, one, req(1), [1_big, 1_big, 3_big])
        err = nf90mpi_cancel(ncid, 1, req, st)
        err = nf90mpi_inq_nreqs(ncid, n)
        call check(n == 0, 'cancel')
        call check(nf90mpi_begin_indep_data(ncid) == nf90_noerr, 'begin_indep_data')
        err = nf90mpi_bput_var(ncid, v, one, req(1), [2_big, 1_big, 3_big])
        err = nf90mpi_wait(ncid, 1, req, st)
        call check(err == nf90_noerr .and. st(1) == nf90_noerr .and. req(1) == nf90_req_null, 'wait')
        call check(nf90mpi_end_indep_data(ncid) == nf90_noerr, 'end_indep_data')
        err = nf90mpi_get_var_all(ncid, v, field, [1_big, 1_big, 3_big], [6_big, 4_big, 1_big])
        call check(nint(field(1, 1)) == -9 .and. nint(field(2, 1)) == 7, &
            'what was waited for is there, what was cancelled is not')
        call check(nf90mpi_buffer_detach(ncid) == nf90_noerr, 'buffer_detach')
    end subroutine

    ! A scalar is written to the first of three elements and read from it; the others have no value.
    subroutine one_request()
        integer(big) :: places(3, 3), counts(3, 3)
        character(len=3) :: text

        places = reshape([2_big, 1_big, 1_big, 4_big, 1_big, 1_big, 6_big, 1_big, 1_big], [3, 3])
        counts = 1
        field = 0
        err = nf90mpi_put_var_all(ncid, v, field, [1_big, 1_big, 1_big])
        call check(nf90mpi_put_varn_all(ncid, v, 7.0, places) == nf90_noerr .and. first_row() == 70000, &
            'put_varn, a scalar')
        one = 0
        call check(nf90mpi_get_varn_all(ncid, v, one, places) == nf90_noerr .and. nint(one) == 7, 'get_varn, a scalar')
        call check(nf90mpi_put_varn_all(ncid, v, 8.0, places, counts) == nf90_noerr .and. first_row() == 80000, &
            'put_varn, a scalar with counts')
        err = nf90mpi_iput_varn(ncid, v, 6.0, req(1), places)
        call check(nf90mpi_wait_all(ncid, 1, req, st) == nf90_noerr .and. first_row() == 60000, 'iput_varn, a scalar')
        err = nf90mpi_buffer_attach(ncid, 4_big)
        err = nf90mpi_bput_varn(ncid, v, 5.0, req(1), places)
        call check(nf90mpi_wait_all(ncid, 1, req, st) == nf90_noerr .and. first_row() == 50000, 'bput_varn, a scalar')
        err = nf90mpi_buffer_detach(ncid)
        err = nf90mpi_iget_varn(ncid, v, one, req(1), places)
        call check(nf90mpi_wait_all(ncid, 1, req, st) == nf90_noerr .and. nint(one) == 5, 'iget_varn, a scalar')

        err = nf90mpi_put_var_all(ncid, c, '......')
        call check(nf90mpi_put_varn_all(ncid, c, 'abc', places) == nf90_noerr, 'put_varn, a string')
        err = nf90mpi_get_var_all(ncid, c, name(:6))
        call check(name(:6) == '.a....', 'is one character without counts')
        err = nf90mpi_put_varn_all(ncid, c, 'abc', places, counts)
        err = nf90mpi_get_var_all(ncid, c, name(:6))
        call check(err == nf90_noerr .and. name(:6) == '.a.b.c', 'as many as the counts say with them')
        text = '---'
        call check(nf90mpi_get_varn_all(ncid, c, text, places) == nf90_noerr .and. text == 'a--', 'get_varn, a string')
    end subroutine

    ! The first row of v, as the digits of a number.
    integer function first_row()
        integer :: k

        field = 9
        err = nf90mpi_get_var_all(ncid, v, field, [1_big, 1_big, 1_big])
        first_row = 0
        do k = 1, 6
            first_row = 10 * first_row + nint(field(k, 1))
        end do
    end function

    ! Errors on all ranks, and on one alone: the others are not kept waiting and succeed.
    subroutine values()
        integer :: k
        real, allocatable :: from_reshape(:, :)

        field = reshape([(real(k), k = 1, 24)], [6, 4])
        call check(nf90mpi_put_var_all(ncid, v, field, [1_big, 1_big]) == nf90_einvalcoords, 'start is too short')
        call check(nf90mpi_put_var_all(ncid, v, field, [1_big, 1_big, 1_big], [6_big]) == nf90_eedge, &
            'count is too short')
        call check(nf90mpi_put_var_all(ncid, v, field, stride=[1_big]) == nf90_estride, 'stride is too short')
        call check(nf90mpi_put_var_all(ncid, v, field, map=[1_big]) == nf90_einval, 'map is too short')
        call check(nf90mpi_put_var_all(ncid, v, field, map=[1_big, 60_big, 1_big]) == nf90_einval, &
            'map leads out of the values')
        call check(nf90mpi_put_var_all(ncid, v, field(:, 1), [1_big, 1_big, 1_big], [6_big, 4_big, 1_big]) &
                   == nf90_eiomismatch, 'fewer values than count says')
        call check(nf90mpi_put_var_all(ncid, s, field(:, 1)) == nf90_eiomismatch, &
            'more dimensions than the variable has')
        call check(nf90mpi_put_var_all(ncid, v, 'text') == nf90_echar, 'text for numbers')
        call check(nf90mpi_put_var_all(ncid, 99, field) == nf90_enotvar, 'no such variable')
        call check(nf90mpi_put_var(ncid, v, field) == nf90_enotindep, 'not in collective mode')
        call check(nf90mpi_put_varn_all(ncid, v, field, reshape([1_big, 1_big], [2, 1])) == nf90_einvalcoords, &
                   'a list of blocks with too few indices')
        call check(nf90mpi_put_varn_all(ncid, v, field, 2, reshape([1_big, 1_big, 1_big], [3, 1])) == nf90_einval, &
                   'a list of fewer blocks than num')
        ! Record 1 is written by the last rank; the first fails where there are others.
        from = [1_big, 1_big, 1_big]
        if (rank == 0 .and. ranks > 1) from = from(:2)
        err = nf90mpi_put_var_all(ncid, v, field, from, [6_big, 4_big, merge(1_big, 0_big, rank == ranks - 1)])
        call check(err == merge(nf90_einvalcoords, nf90_noerr, rank == 0 .and. ranks > 1), &
            'one rank fails, the others write')
        field = 0
        err = nf90mpi_get_var_all(ncid, v, field, [1_big, 1_big, 1_big])
        call check(err == nf90_noerr .and. &
                   all(nint(field) == reshape([(k, k = 1, 24)], [6, 4])), 'and what they wrote is there')

        ! gfortran 12 leaves parts of the descriptor unset in what an intrinsic allocates.
        from_reshape = reshape(field(1, :) + 100, [2, 2])
        err = nf90mpi_put_var_all(ncid, v, from_reshape, [1_big, 1_big, 1_big], [2_big, 2_big, 1_big])
        call check(err == nf90_noerr, 'put an array of reshape')
        err = nf90mpi_get_var_all(ncid, v, field, [1_big, 1_big, 1_big])
        call check(all(nint(field(:2, :2)) == reshape([101, 107, 113, 119], [2, 2])), 'arrives as it is')

        err = nf90mpi_iput_var(ncid, v, field, req(1), [1_big, 1_big, 1_big], [6_big, 4_big, 1_big])
        err = nf90mpi_inq_nreqs(ncid, n)
        call check(n == 1, 'a request is pending')
        call check(nf90mpi_wait_all(ncid, 3, req, st) == nf90_einval, 'more requests than the arrays have')
        err = nf90mpi_wait_all(ncid, nf90_req_all, req, st)
        err = nf90mpi_inq_nreqs(ncid, n)
        call check(n == 0, 'nf90_req_all')
        call one_request()
    end subroutine
end program metadata
"""

# A user's program; {0} declares handles, {1} is the text before implicit none, {2} the text after it.
USER = """\
program user
    {1}
    use pnetcdf
    implicit none
    {2}
    {0}
    integer :: err, ncid, varid, dims(2), req(1), st(1)
    integer(kind=MPI_OFFSET_KIND) :: start(2), count(2), n
    real, asynchronous :: values(4, 2)
    double precision, allocatable :: other(:, :)
    character(len=20) :: name
    call MPI_Init(err)
    comm = MPI_COMM_WORLD
    err = nf90mpi_create(comm, 'user.nc', NF90_CLOBBER, MPI_INFO_NULL, ncid)
    err = nf90mpi_def_dim(ncid, 'x', 4_MPI_OFFSET_KIND, dims(1))
    err = nf90mpi_def_dim(ncid, 'y', NF90_UNLIMITED, dims(2))
    err = nf90mpi_def_var(ncid, 'v', NF90_FLOAT, dims, varid)
    err = nf90mpi_put_att(ncid, varid, 'units', 'm')
    err = nf90mpi_enddef(ncid)
    values = 1
    start = 1
    count = [4, 2]
    err = nf90mpi_put_var_all(ncid, varid, values, start, count)
    n = 8
    err = nf90mpi_put_var_all(ncid, varid, values, start, count, bufcount=n, buftype=MPI_REAL)
    err = nf90mpi_iput_var(ncid, varid, values(:, ::2), req(1), start)
    err = nf90mpi_wait_all(ncid, 1, req, st)
    err = nfmpi_inq_varname(ncid, varid, name)
    allocate (other(4, 2))
    call fetch(other)
    err = nf90mpi_get_file_info(ncid, info)
    call MPI_Info_free(info, err)
    if (err /= NF90_NOERR .or. any(nint(other) /= 1) .or. name /= 'v') then
        print *, trim(nf90mpi_strerror(err))
        stop 1
    end if
    err = nf90mpi_close(ncid)
    err = nf90mpi_delete('user.nc', MPI_INFO_NULL)
    call MPI_Finalize(err)
contains
    subroutine fetch(x)
        double precision, intent(out) :: x(:, :)
        err = nf90mpi_get_var_all(ncid, varid, x, start, count)
    end subroutine
end program user
"""
INTEGERS = "integer :: comm, info"
USERS = [
    ("the module mpi", USER.format(INTEGERS, "use mpi", ""), "-std=f2018"),
    ("the module mpi_f08", USER.format("type(MPI_Comm) :: comm\n    type(MPI_Info) :: info", "use mpi_f08", ""),
     "-std=f2018"),
    ("mpif.h", USER.format(INTEGERS, "", "include 'mpif.h'"), "-std=legacy -Wno-unused-parameter"), # its own constants
]

BAD = """\
program bad
    use mpi
    use pnetcdf
    implicit none
    integer :: err, ncid
    logical :: flags(3)
    complex :: z(3)
    real(selected_real_kind(18)) :: quad(3)
    real :: values(3), matrix(2, 2)
    integer :: start(1), req(1)
    {}
    print *, err, ncid, flags, z, quad, values, matrix, start, req
end program bad
"""
BAD_CALLS = [
    ("logicals", "err = nf90mpi_put_var_all(ncid, 1, flags)"),
    ("complex numbers", "err = nf90mpi_put_var_all(ncid, 1, z)"),
    ("quadruple precision", "err = nf90mpi_get_var_all(ncid, 1, quad)"),
    ("start of the wrong kind", "err = nf90mpi_put_var_all(ncid, 1, values, start)"),
    ("no request", "err = nf90mpi_iput_var(ncid, 1, values)"),
    ("a constant to read into", "err = nf90mpi_get_var_all(ncid, 1, 1.0)"),
    ("an attribute of rank 2", "err = nf90mpi_put_att(ncid, 1, 'a', matrix)"),
    ("an id that is real", "err = nf90mpi_put_var_all(1.0, 1, values)"),
    ("a name that is a number", "err = nf90mpi_inq_varid(ncid, 5, err)"),
    ("an unknown keyword", "err = nf90mpi_put_var_all(ncid, 1, values, begin=start)"),
]


def bound_names():
    """The C functions that nf90mpi_* are bound to, but for those of the values, attributes and fill values of each
    type."""
    with open(os.path.join(BUILD, "src", "binding", "f90", "pnetcdf.f90"), encoding="utf-8") as file:
        names = set(re.findall(r'bind\(c, name="(pncf90_\w+)"', file.read()))
    return {name for name in names if not re.match(r"pncf90_(i|b|)(put|get)_(var|att_)|pncf90_(def|inq)_var_fill",
                                                   name)}


def main():
    need_module()
    program = compile_program("metadata", METADATA)
    called = set()
    for ranks in (1, 4):
        status, output, errors, names = run_counting(ranks, program, "metadata.o")
        called |= names
        for line in output.splitlines():
            if line.startswith(("ok", "not ok")):
                ok(line.startswith("ok"), f"np={ranks}: {line.partition('- ')[2].strip()}", errors)
        ok(status == 0 and "# finished after" in output, f"np={ranks}: came to its end", output[-2000:] + errors)
    for name, source, standard in USERS:
        flags = STRICT + standard.split() + ["-O2"]
        status, messages = compile_source("user.f90", source, flags)
        ok(status == 0, f"a program with {name} compiles without a warning with {' '.join(flags)}", messages)
        status, messages = link("user", ["user.o"]) if status == 0 else (1, "not compiled")
        os.chdir(os.path.dirname(scratch("user")))
        if ok(status == 0, "and links", messages):
            status, output, errors, names = run_counting(1, scratch("user"), "user.o")
            called |= names
            ok(status == 0, "and runs", output + errors)
    ok(len(bound_names()) > 50 and bound_names() <= called, f"all {len(bound_names())} other procedures were called",
       sorted(bound_names() - called))
    status, messages = compile_source("bad.f90", BAD.format("err = nf90mpi_put_var_all(ncid, 1, values)"))
    ok(status == 0, "a program for comparison compiles", messages)
    for name, call in BAD_CALLS:
        status, messages = compile_source("bad.f90", BAD.format(call))
        ok(status != 0 and "Error" in messages and "compiler error" not in messages, f"no program with {name} compiles",
           messages)
    finish()


main()
