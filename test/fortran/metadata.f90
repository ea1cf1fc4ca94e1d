! Every nfmpi_ function outside the data families, called from Fortran on the files of test_metadata.c, which
! checks the definitions and provides the values that the inquiries here must return.
module metadata
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    private
    include 'pnetcdf_checked.inc'
    public :: f77_define, f77_inquire, f77_attributes, f77_strings, f77_places, f77_requests, f77_reuse, &
        f77_errors, f77_many_dimensions

    integer, parameter :: offset = MPI_OFFSET_KIND

    interface
        subroutine f77_report(name, good) bind(c)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), value :: good
        end subroutine
    end interface
contains
    subroutine check(good, text)
        logical, intent(in) :: good
        character(*), intent(in) :: text

        call f77_report(text // c_null_char, merge(1, 0, good))
    end subroutine

    subroutine works(err, text)
        integer, intent(in) :: err
        character(*), intent(in) :: text

        call check(err == nf_noerr, text // ': ' // trim(nfmpi_strerror(err)))
    end subroutine

    subroutine fails(err, expected, text)
        integer, intent(in) :: err, expected
        character(*), intent(in) :: text

        call check(err == expected, &
            text // ': ' // trim(nfmpi_strerrno(err)) // ', not ' // trim(nfmpi_strerrno(expected)))
    end subroutine

    function from_c(path) result(name)
        character(kind=c_char), intent(in) :: path(4096)
        character(4096) :: name
        integer :: i

        do i = 1, len(name)
            name(i:i) = path(i)
        end do
    end function

    ! Dimensions lon, lat, time; variables temp(lon, lat, time), grid(lon, lat), flag(time), one; with data.
    subroutine f77_define(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)
        character(256) :: group
        integer :: ncid, dims(3), temp, grid, flag, one, old, filetype, err, rank
        integer(kind=selected_int_kind(4)) :: missing
        double precision :: row(3)
        integer(kind=offset) :: lengths(3)
        integer :: counts(3)

        call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
        call works(nfmpi_create(MPI_COMM_WORLD, from_c(path), ior(nf_clobber, nf_64bit_offset), MPI_INFO_NULL, ncid), &
            'create')
        call works(nfmpi_def_dim(ncid, 'lon', 3_offset, dims(1)), 'def_dim')
        call works(nfmpi_def_dim(ncid, 'width   ', 2_offset, dims(2)), 'def_dim with trailing blanks')
        call works(nfmpi_def_dim(ncid, 'time', nfmpi_unlimited, dims(3)), 'def_dim unlimited')
        call check(all(dims == (/1, 2, 3/)), 'ids of dimensions count from 1')
        call works(nfmpi_rename_dim(ncid, dims(2), 'lat'), 'rename_dim')
        call works(nfmpi_def_var(ncid, 'temp', nf_short, 3, dims, temp), 'def_var')
        call works(nfmpi_def_var(ncid, 'field', nf_double, 2, dims(1:2), grid), 'def_var')
        call works(nfmpi_def_var(ncid, 'flag', nf_byte, 1, dims(3), flag), 'def_var with a scalar for dimids')
        call works(nfmpi_def_var(ncid, 'one', nf_char, 0, 0, one), 'def_var without dimensions')
        call check(all((/temp, grid, flag, one/) == (/1, 2, 3, 4/)), 'ids of variables count from 1')
        call works(nfmpi_rename_var(ncid, grid, 'grid'), 'rename_var')
        call works(nfmpi_set_fill(ncid, nf_fill, old), 'set_fill')
        call check(old == nf_nofill, 'the fill mode was NF_NOFILL')
        missing = -99
        call works(nfmpi_def_var_fill(ncid, temp, 0, missing), 'def_var_fill')
        lengths = 7
        counts = 1
        call check(nfmpi_def_var_chunking(ncid, temp, nf_chunked, lengths) == nf_enotnc4, 'chunks of a classic file')
        call check(nfmpi_def_var_deflate(ncid, temp, 1, 1, 1) == nf_enotnc4, 'compression of a classic file')
        call check(all((/nfmpi_def_var_fletcher32(ncid, temp, nf_fletcher32), &
            nfmpi_def_var_endian(ncid, temp, nf_endian_big), nfmpi_def_var_zstandard(ncid, temp, 3), &
            nfmpi_def_var_quantize(ncid, temp, nf_quantize_bitround, 9), &
            nfmpi_def_var_sharding(ncid, temp, lengths), nfmpi_def_var_filter(ncid, temp, 1, 1_offset, counts), &
            nfmpi_var_set_chunk(ncid, temp, counts), &
            nfmpi_var_get_chunk(ncid, temp, counts), nfmpi_var_set_filter(ncid, temp, nf_filter_deflate), &
            nfmpi_inq_var_endian(ncid, temp, old), nfmpi_inq_var_quantize(ncid, temp, old, err)/) == nf_enotnc4), &
            'what a classic file does not have')
        call check(nfmpi_def_grp(ncid, 'group') == nf_enotnc4, 'a group in a classic file')
        call check(nfmpi_rename_grp(ncid, 1, 'name') == nf_enotnc4, 'to rename one')
        call works(nfmpi_inq_ngrps(ncid, old), 'inq_ngrps')
        call check(old == 0, 'a classic file has no groups')
        call check(nfmpi_inq_grpname(ncid, 1, group) == nf_enogrp, 'nor has one a name')
        call works(nfmpi_inq_var_deflate(ncid, temp, counts(1), counts(2), counts(3)), 'inq_var_deflate')
        call check(all(counts == 0), 'a classic variable is not compressed')
        call works(nfmpi_inq_var_fletcher32(ncid, temp, old), 'inq_var_fletcher32')
        call check(old == nf_nochecksum, 'nor has it checksums')
        call works(nfmpi_inq_var_zstandard(ncid, temp, old, err), 'inq_var_zstandard')
        call check(old == 0, 'nor zstd')
        call works(nfmpi_var_get_filter(ncid, temp, old), 'var_get_filter')
        call check(old == nf_filter_none, 'nor a filter')
        call works(nfmpi_inq_var_filter_ids(ncid, temp, lengths(1), counts), 'inq_var_filter_ids')
        call check(lengths(1) == 0, 'nor ids of filters')
        call check(nfmpi_inq_var_filter_info(ncid, temp, 1, lengths(2), counts) == nf_enofilter, &
            'nor parameters of a filter')
        lengths = 7
        call works(nfmpi_inq_var_chunking(ncid, temp, old, lengths), 'inq_var_chunking')
        call check(old == nf_contiguous .and. all(lengths == 7), 'a classic variable is contiguous')
        call works(nfmpi_inq_var_sharding(ncid, temp, lengths), 'inq_var_sharding')
        call check(all(lengths == 0), 'nor has it shards')
        call works(nfmpi__enddef(ncid, 400_offset, 8_offset, 0_offset, 8_offset), '_enddef')
        call works(nfmpi_fill_var_rec(ncid, temp, 2_offset), 'fill_var_rec')

        ! lat 1 of grid as a datatype, on all ranks; then lat 2 by rank 0.
        row = (/1, 2, 3/)
        call works(nfmpi_put_vard_all(ncid, grid, MPI_DOUBLE_PRECISION, row(1), 1_offset, MPI_DOUBLE_PRECISION), &
            'put_vard_all')
        call MPI_Type_create_subarray(2, (/3, 2/), (/3, 1/), (/0, 1/), MPI_ORDER_FORTRAN, &
            MPI_DOUBLE_PRECISION, filetype, err)
        call MPI_Type_commit(filetype, err)
        call works(nfmpi_begin_indep_data(ncid), 'begin_indep_data')
        row = row + 10
        if (rank == 0) call works(nfmpi_put_vard(ncid, grid, filetype, row, 3_offset, MPI_DOUBLE_PRECISION), 'put_vard')
        call works(nfmpi_end_indep_data(ncid), 'end_indep_data')
        call works(nfmpi_sync(ncid), 'sync')
        call works(nfmpi_sync_numrecs(ncid), 'sync_numrecs')
        row = 0
        call works(nfmpi_get_vard_all(ncid, grid, filetype, row, 3_offset, MPI_DOUBLE_PRECISION), 'get_vard_all')
        call check(all(nint(row) == (/11, 12, 13/)), 'values of get_vard_all')
        row = 0
        call works(nfmpi_begin_indep_data(ncid), 'begin_indep_data')
        call works(nfmpi_get_vard(ncid, grid, filetype, row, 3_offset, MPI_DOUBLE_PRECISION), 'get_vard')
        call works(nfmpi_end_indep_data(ncid), 'end_indep_data')
        call check(all(nint(row) == (/11, 12, 13/)), 'values of get_vard')
        call MPI_Type_free(filetype, err)
        call works(nfmpi_flush(ncid), 'flush')
        call works(nfmpi_close(ncid), 'close')
    end subroutine

    ! The file that f77_define made. numbers: header size, header extent, offset of grid, bytes of a record.
    subroutine f77_inquire(path, numbers) bind(c)
        character(kind=c_char), intent(in) :: path(4096)
        integer(c_int64_t), intent(in) :: numbers(4)
        integer :: ncid, n(4), m(4), dims(3), kind, id, ids(8), length, info, err, bytes, stripes
        integer(offset) :: size, other
        integer(kind=selected_int_kind(4)) :: missing
        character(256) :: name
        character(4096) :: text

        call works(nfmpi_inq_file_format(from_c(path), n(1)), 'inq_file_format')
        call check(n(1) == nf_format_cdf2, 'format of the file')
        call works(nfmpi_open(MPI_COMM_WORLD, from_c(path), nf_nowrite, MPI_INFO_NULL, ncid), 'open')
        call works(nfmpi_inq_format(ncid, n(1)), 'inq_format')
        call check(n(1) == nf_format_64bit, 'format of the dataset')
        call works(nfmpi_inq(ncid, n(1), n(2), n(3), n(4)), 'inq')
        call check(all(n == (/3, 4, 0, 3/)), 'inq: 3 dimensions, 4 variables, no attribute, 3 is unlimited')
        call works(nfmpi_inq_ndims(ncid, m(1)), 'inq_ndims')
        call works(nfmpi_inq_nvars(ncid, m(2)), 'inq_nvars')
        call works(nfmpi_inq_natts(ncid, m(3)), 'inq_natts')
        call works(nfmpi_inq_unlimdim(ncid, m(4)), 'inq_unlimdim')
        call check(all(m == n), 'inq_ndims .. inq_unlimdim return the same')
        call works(nfmpi_inq_num_rec_vars(ncid, n(1)), 'inq_num_rec_vars')
        call works(nfmpi_inq_num_fix_vars(ncid, n(2)), 'inq_num_fix_vars')
        call check(all(n(:2) == 2), '2 record variables, 2 others')

        call works(nfmpi_inq_dimid(ncid, 'lat ', id), 'inq_dimid')
        call works(nfmpi_inq_dim(ncid, id, name, size), 'inq_dim')
        call check(id == 2 .and. name == 'lat' .and. size == 2, 'dimension 2 is lat, of 2')
        call works(nfmpi_inq_dimname(ncid, 3, name), 'inq_dimname')
        call works(nfmpi_inq_dimlen(ncid, 3, size), 'inq_dimlen')
        call check(name == 'time' .and. size == 2, 'dimension 3 is time, of 2 records')

        call works(nfmpi_inq_varid(ncid, 'temp', id), 'inq_varid')
        call works(nfmpi_inq_var(ncid, id, name, kind, n(1), dims, n(2)), 'inq_var')
        call check(id == 1 .and. name == 'temp' .and. kind == nf_short .and. n(1) == 3 .and. n(2) == 1, &
            'variable 1 is temp')
        call check(all(dims == (/1, 2, 3/)), 'its dimensions are in the order of Fortran')
        dims = 0
        call works(nfmpi_inq_varname(ncid, 2, name), 'inq_varname')
        call works(nfmpi_inq_vartype(ncid, 2, kind), 'inq_vartype')
        call works(nfmpi_inq_varndims(ncid, 2, n(1)), 'inq_varndims')
        call works(nfmpi_inq_vardimid(ncid, 2, dims), 'inq_vardimid')
        call works(nfmpi_inq_varnatts(ncid, 2, n(2)), 'inq_varnatts')
        call check(name == 'grid' .and. kind == nf_double .and. n(1) == 2 .and. n(2) == 0, 'variable 2 is grid')
        call check(all(dims == (/1, 2, 0/)), 'its dimensions are lon and lat')
        call works(nfmpi_inq_var_fill(ncid, 1, n(1), missing), 'inq_var_fill')
        call check(n(1) == 0 .and. missing == -99, 'the fill value of temp')

        call works(nfmpi_inq_header_size(ncid, size), 'inq_header_size')
        call works(nfmpi_inq_header_extent(ncid, other), 'inq_header_extent')
        call check(size == numbers(1) .and. other == numbers(2), 'size and extent of the header')
        call works(nfmpi_inq_varoffset(ncid, 2, size), 'inq_varoffset')
        call works(nfmpi_inq_recsize(ncid, other), 'inq_recsize')
        call check(size == numbers(3) .and. other == numbers(4), 'offset of grid, size of records')
        size = -1
        call works(nfmpi_inq_put_size(ncid, size), 'inq_put_size')
        call works(nfmpi_inq_get_size(ncid, other), 'inq_get_size')
        call check(size == 0 .and. other >= 0, 'nothing was written')
        call works(nfmpi_inq_striping(ncid, bytes, stripes), 'inq_striping')
        call check(bytes >= 0 .and. stripes >= 0, 'stripes')

        call works(nfmpi_inq_path(ncid, length, text), 'inq_path')
        call check(length == len_trim(from_c(path)) .and. text == from_c(path), 'the path')
        call works(nfmpi_inq_files_opened(n(1), ids), 'inq_files_opened')
        call check(n(1) == 1 .and. ids(1) == ncid, 'one file is open')
        call works(nfmpi_inq_file_info(ncid, info), 'inq_file_info')
        call MPI_Info_get_nkeys(info, n(1), err)
        call check(err == MPI_SUCCESS .and. n(1) > 0, 'inq_file_info gives an info object of MPI')
        call MPI_Info_free(info, err)
        call works(nfmpi_get_file_info(ncid, info), 'get_file_info')
        call MPI_Info_free(info, err)
        call works(nfmpi_close(ncid), 'close')

        call works(nfmpi_set_default_format(nf_format_cdf5, n(1)), 'set_default_format')
        call works(nfmpi_inq_default_format(n(2)), 'inq_default_format')
        call check(n(1) == nf_format_classic .and. n(2) == nf_format_cdf5, 'the default format')
        call works(nfmpi_set_default_format(n(1), n(2)), 'set_default_format')
        call fails(nfmpi_inq_malloc_size(size), nf_enotenabled, 'inq_malloc_size')
        call fails(nfmpi_inq_malloc_max_size(size), nf_enotenabled, 'inq_malloc_max_size')
        call fails(nfmpi_inq_malloc_list(), nf_enotenabled, 'inq_malloc_list')
    end subroutine

    ! Attributes a_<type> of variable v with 7 and 8, then the rest on the file.
    subroutine f77_attributes(path, other) bind(c)
        character(kind=c_char), intent(in) :: path(4096), other(4096)
        integer :: ncid, copy, dim, v, kind, id
        integer(offset) :: length
        character(20) :: name
        integer(c_int8_t) :: b1(2)
        integer(c_int16_t) :: b2(2)
        integer :: b4(2)
        integer(c_int64_t) :: b8(2)
        real :: r4(2)
        double precision :: r8(2)

        b1 = (/7_c_int8_t, 8_c_int8_t/)
        b2 = b1
        b4 = b1
        b8 = b1
        r4 = b1
        r8 = b1
        call works(nfmpi_create(MPI_COMM_WORLD, from_c(path), nf_64bit_data, MPI_INFO_NULL, ncid), 'create')
        call works(nfmpi_def_dim(ncid, 'x', 1_offset, dim), 'def_dim')
        call works(nfmpi_def_var(ncid, 'v', nf_int, 1, dim, v), 'def_var')
        call works(nfmpi_put_att_text(ncid, v, 'a_text', 4_offset, 'abcdef'), 'put_att_text')
        call works(nfmpi_put_att_int1(ncid, v, 'a_int1', nf_int1, 2_offset, b1), 'put_att_int1')
        call works(nfmpi_put_att_int2(ncid, v, 'a_int2', nf_int2, 2_offset, b2), 'put_att_int2')
        call works(nfmpi_put_att_int(ncid, v, 'a_int', nf_int, 2_offset, b4), 'put_att_int')
        call works(nfmpi_put_att_int8(ncid, v, 'a_int8', nf_int64, 2_offset, b8), 'put_att_int8')
        call works(nfmpi_put_att_real(ncid, v, 'a_real', nf_real, 2_offset, r4), 'put_att_real')
        call works(nfmpi_put_att_double(ncid, v, 'a_double', nf_double, 2_offset, r8), 'put_att_double')
        call works(nfmpi_put_att(ncid, nf_global, 'wrong', nf_int, 1_offset, 42), 'put_att with a scalar')
        call works(nfmpi_rename_att(ncid, nf_global, 'wrong ', 'answer '), 'rename_att')
        call works(nfmpi_put_att_int(ncid, nf_global, 'gone', nf_int, 1_offset, 1), 'put_att_int with a scalar')
        call works(nfmpi_del_att(ncid, nf_global, 'gone'), 'del_att')
        call works(nfmpi_create(MPI_COMM_WORLD, from_c(other), nf_64bit_data, MPI_INFO_NULL, copy), 'create')
        call works(nfmpi_copy_att(ncid, v, 'a_int2', copy, nf_global), 'copy_att')
        call works(nfmpi_close(copy), 'close')

        call works(nfmpi_inq_att(ncid, v, 'a_int8', kind, length), 'inq_att')
        call check(kind == nf_int64 .and. length == 2, 'type and length of a_int8')
        call works(nfmpi_inq_attid(ncid, v, 'a_int2', id), 'inq_attid')
        call works(nfmpi_inq_attname(ncid, v, id, name), 'inq_attname')
        call check(id == 3 .and. name == 'a_int2', 'attributes are numbered from 1')
        call works(nfmpi_inq_atttype(ncid, v, 'a_real', kind), 'inq_atttype')
        call works(nfmpi_inq_attlen(ncid, v, 'a_text', length), 'inq_attlen')
        call check(kind == nf_float .and. length == 4, 'type of a_real, length of a_text')

        call works(nfmpi_get_att_text(ncid, v, 'a_text', name), 'get_att_text')
        b1 = 0
        b2 = 0
        b4 = 0
        b8 = 0
        r4 = 0
        r8 = 0
        call works(nfmpi_get_att_int1(ncid, v, 'a_double', b1), 'get_att_int1')
        call works(nfmpi_get_att_int2(ncid, v, 'a_int1', b2), 'get_att_int2')
        call works(nfmpi_get_att_int(ncid, v, 'a_int2', b4), 'get_att_int')
        call works(nfmpi_get_att_int8(ncid, v, 'a_int', b8), 'get_att_int8')
        call works(nfmpi_get_att_real(ncid, v, 'a_int8', r4), 'get_att_real')
        call works(nfmpi_get_att_double(ncid, v, 'a_real', r8), 'get_att_double')
        call check(name == 'abcd' .and. all(b1 == (/7, 8/)) .and. all(b2 == (/7, 8/)) .and. all(b4 == (/7, 8/)) .and. &
            all(b8 == (/7, 8/)) .and. all(nint(r4) == (/7, 8/)) .and. all(nint(r8) == (/7, 8/)), 'get_att_<type>')
        call works(nfmpi_get_att(ncid, nf_global, 'answer', id), 'get_att into a scalar')
        call check(id == 42, 'the answer')
        call works(nfmpi_enddef(ncid), 'enddef')
        call works(nfmpi_redef(ncid), 'redef')
        call works(nfmpi_close(ncid), 'close')
    end subroutine

    ! Places as sections with gaps, expressions, arrays with descriptors, and scalars; every rank writes the same.
    subroutine f77_places(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)
        integer :: ncid, dims(2), v, w, i, got(6, 4), block(2, 2), reqs(1), statuses(1)
        integer(offset) :: table(2, 3), scalar

        call works(nfmpi_create(MPI_COMM_WORLD, from_c(path), nf_clobber, MPI_INFO_NULL, ncid), 'create')
        call works(nfmpi_def_dim(ncid, 'x', 6_offset, dims(1)), 'def_dim')
        call works(nfmpi_def_dim(ncid, 'y', 4_offset, dims(2)), 'def_dim')
        call works(nfmpi_def_var(ncid, 'v', nf_int, 2, dims, v), 'def_var')
        call works(nfmpi_def_var(ncid, 'w', nf_int, 1, dims(1), w), 'def_var')
        call works(nfmpi_enddef(ncid), 'enddef')
        got = 0
        call works(nfmpi_put_var_int_all(ncid, v, got), 'put zeros')
        block = reshape((/(i, i = 1, 4)/), (/2, 2/))
        table = reshape((/2_offset, -9_offset, 3_offset, -9_offset, 1_offset, -9_offset/), (/2, 3/))
        call works(nfmpi_put_vara_int_all(ncid, v, table(1, 1:2), table(1, 2:3) * 0 + 2, block), 'a section with gaps')
        call post(table(1, 3:1:-2))
        call works(nfmpi_get_var_int_all(ncid, v, got), 'get all')
        call check(all(got(2:3, 3:4) == block) .and. got(1, 2) == 77 .and. sum(got) == 87, 'arrive where they say')

        scalar = 5
        call works(nfmpi_put_vara_int_all(ncid, w, 1_offset, 6_offset, got(:, 1)), 'constants')
        call works(nfmpi_put_var1_int_all(ncid, w, scalar, 8), 'a scalar')
        call works(nfmpi_put_var1_int_all(ncid, w, scalar - 1, 9), 'an expression')
        call works(nfmpi_get_var_int_all(ncid, w, got), 'get all')
        call check(all(got(:, 1) == (/0, 0, 0, 9, 8, 0/)), 'and for one dimension scalars too')
        call works(nfmpi_close(ncid), 'close')
    contains
        ! reqs is an array, where the function has one request.
        subroutine post(start)
            integer(offset), intent(in) :: start(:)

            call works(nfmpi_iput_var1_int(ncid, v, start, 77, reqs), 'an array with a descriptor')
            call works(nfmpi_wait_all(ncid, 1, reqs, statuses), 'wait_all')
        end subroutine
    end subroutine

    ! Names and texts that are longer or shorter than their variables, empty, with blanks and NULs.
    subroutine f77_strings(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)
        integer :: ncid, dim, v, n, none(1)
        integer(offset) :: length
        character(3) :: short
        character(3) :: fenced(3)
        character :: letters(302)
        character(300) :: long
        character(4096) :: text

        call works(nfmpi_create(MPI_COMM_WORLD, from_c(path), nf_clobber, MPI_INFO_NULL, ncid), 'create')
        call works(nfmpi_def_dim(ncid, 'letters', 10_offset, dim), 'def_dim')
        call works(nfmpi_def_var(ncid, 'message' // c_null_char // 'ignored   ', nf_char, 1, dim, v), 'def_var')
        call fails(nfmpi_def_dim(ncid, '', 1_offset, n), nf_ebadname, 'an empty name')
        call fails(nfmpi_def_dim(ncid, '      ', 1_offset, n), nf_ebadname, 'a name of blanks')
        call fails(nfmpi_def_dim(ncid, repeat('x', 257), 1_offset, n), nf_emaxname, 'a name that is too long')
        call works(nfmpi_def_dim(ncid, repeat('y', 256) // repeat(' ', 1000), 1_offset, n), &
            'a name of 256 before blanks')
        call works(nfmpi_put_att_text(ncid, v, 'empty', 0_offset, ''), 'an empty attribute')
        call works(nfmpi_put_att_int(ncid, v, 'none', nf_int, 0_offset, none), 'an attribute of no integers')
        call works(nfmpi_put_att_text(ncid, v, 'nul', 3_offset, 'a' // c_null_char // 'b'), 'an attribute with a NUL')
        call works(nfmpi_put_att_text(ncid, v, 'long', 300_offset, repeat('z', 300)), 'a long attribute')
        call works(nfmpi_enddef(ncid), 'enddef')

        fenced = '###'
        call fails(nfmpi_inq_varname(ncid, v, fenced(2)), nf_ests, 'a long name')
        call check(fenced(1) == '###' .and. fenced(2) == 'mes' .and. fenced(3) == '###', 'its beginning is returned')
        call fails(nfmpi_inq_dim(ncid, 2, fenced(1), length), nf_ests, 'the longest name')
        call check(fenced(1) == 'yyy' .and. fenced(2) == 'mes' .and. length == 1, 'all else is returned')
        fenced = '###'
        long = repeat('#', 300)
        call works(nfmpi_inq_varname(ncid, v, long), 'inq_varname')
        call check(long == 'message', 'a short name is followed by blanks, and ends at a NUL')
        call works(nfmpi_inq_dimname(ncid, 2, long), 'inq_dimname')
        call check(long == repeat('y', 256), 'the longest name')
        call works(nfmpi_get_att_text(ncid, v, 'empty', short), 'get_att_text')
        call check(short == ' ', 'an empty attribute is blank')
        short = '###'
        call works(nfmpi_get_att_text(ncid, v, 'none', short), 'no integers, as text')
        call check(short == ' ', 'are blank')
        none = 77
        call works(nfmpi_get_att_int(ncid, v, 'empty', none), 'an empty text, as integers')
        call check(none(1) == 77, 'sets none')
        call works(nfmpi_get_att_text(ncid, v, 'nul', short), 'get_att_text')
        call check(short == 'a' // c_null_char // 'b', 'a NUL in an attribute is kept')
        fenced = '###'
        call fails(nfmpi_get_att_text(ncid, v, 'long', fenced(2)), nf_ests, 'a long attribute')
        call check(fenced(1) == '###' .and. fenced(2) == 'zzz' .and. fenced(3) == '###', 'its beginning is read')
        letters = '#'
        call works(nfmpi_get_att_text(ncid, v, 'long', letters(2)), 'an attribute for an array of characters')
        call check(letters(1) == '#' .and. all(letters(2:301) == 'z') .and. letters(302) == '#', 'is read as a whole')
        fenced = '###'
        call fails(nfmpi_inq_path(ncid, n, fenced(2)), nf_ests, 'a long path')
        call check(fenced(2) == path(1) // path(2) // path(3) .and. fenced(3) == '###' .and. &
            n == len_trim(from_c(path)), 'its beginning and its length are returned')

        call works(nfmpi_put_var_text_all(ncid, v, 'hello     '), 'put_var_text_all')
        text = repeat('#', 4096)
        call works(nfmpi_get_var_text_all(ncid, v, text), 'get_var_text_all')
        call check(text(:11) == 'hello     #', 'as many characters as the variable has')
        call works(nfmpi_put_vara_text_all(ncid, v, (/3_offset/), (/2_offset/), (/'L', 'L'/)), &
            'put an array of characters')
        call works(nfmpi_close(ncid), 'close')
        call check(nfmpi_inq_libvers() /= ' ', 'inq_libvers')
        call check(nfmpi_strerror(nf_noerr) == 'No error', 'strerror')
        call check(nfmpi_strerrno(nf_ebadid) == 'NF_EBADID', 'strerrno')
    end subroutine

    ! A variable of 102,400 dimensions: the first has 4 elements, the others 1.
    subroutine f77_many_dimensions(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)
        integer, parameter :: many = 102400
        integer, allocatable :: dims(:), found(:)
        integer(offset), allocatable :: from(:), length(:), imap(:)
        integer :: ncid, four, one, v, n, type, natts, row(4), got(4)
        character(3) :: name

        allocate (dims(many), found(many), from(many), length(many), imap(many))
        call works(nfmpi_create(MPI_COMM_WORLD, from_c(path), nf_clobber, MPI_INFO_NULL, ncid), 'create')
        call works(nfmpi_def_dim(ncid, 'four', 4_offset, four), 'def_dim')
        call works(nfmpi_def_dim(ncid, 'one', 1_offset, one), 'def_dim')
        dims = one
        dims(1) = four
        call works(nfmpi_def_var(ncid, 'v', nf_int, many, dims, v), 'def_var of many dimensions')
        call works(nfmpi_enddef(ncid), 'enddef')
        from = 1
        length = 1
        length(1) = 4
        row = (/1, 2, 3, 4/)
        call works(nfmpi_put_vara_int_all(ncid, v, from, length, row), 'put_vara_int_all')
        from(1) = 3
        call works(nfmpi_put_var1_int_all(ncid, v, from, 33), 'put_var1_int_all')
        from(1) = 1
        imap = 1
        call works(nfmpi_get_varm_int_all(ncid, v, from, length, from, imap, got), 'get_varm_int_all')
        call check(all(got == (/1, 2, 33, 4/)), 'get what was put')
        call works(nfmpi_inq_var(ncid, v, name, type, n, found, natts), 'inq_var')
        call check(name == 'v' .and. n == many .and. all(found == dims), 'the dimensions of the variable')
        call works(nfmpi_close(ncid), 'close')
    end subroutine

    ! Requests of variable v (nx): wait in independent mode, cancel, wait for all kinds, counts of pending ones.
    subroutine f77_requests(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)
        integer :: ncid, v, req(3), status(3), n, value(3)
        integer(offset) :: bytes

        call works(nfmpi_open(MPI_COMM_WORLD, from_c(path), nf_write, MPI_INFO_NULL, ncid), 'open')
        call works(nfmpi_inq_varid(ncid, 'v', v), 'inq_varid')
        call works(nfmpi_buffer_attach(ncid, 100_offset), 'buffer_attach')
        call works(nfmpi_inq_buffer_size(ncid, bytes), 'inq_buffer_size')
        call check(bytes == 100, 'size of the buffer')
        value = (/5, 6, 7/)
        call works(nfmpi_bput_var1_int(ncid, v, (/1_offset/), value(1), req(1)), 'bput_var1_int')
        call works(nfmpi_inq_buffer_usage(ncid, bytes), 'inq_buffer_usage')
        call check(bytes == 4, 'usage of the buffer')
        call works(nfmpi_iput_var1_int(ncid, v, (/1_offset/), value(2), req(2)), 'iput_var1_int')
        call works(nfmpi_inq_nreqs(ncid, n), 'inq_nreqs')
        call check(n == 2, '2 requests are pending')
        call works(nfmpi_cancel(ncid, 1, req(2), status(2)), 'cancel')
        call check(req(2) == nf_req_null .and. status(2) == nf_noerr, 'a request is cancelled')
        call works(nfmpi_begin_indep_data(ncid), 'begin_indep_data')
        call works(nfmpi_wait(ncid, 1, req(1), status(1)), 'wait with scalars')
        call works(nfmpi_end_indep_data(ncid), 'end_indep_data')
        call check(req(1) == nf_req_null .and. status(1) == nf_noerr, 'a request is done')
        call works(nfmpi_iget_var1_int(ncid, v, (/1_offset/), value(3), req(3)), 'iget_var1_int')
        call works(nfmpi_wait_all(ncid, nf_req_all, req, status), 'wait_all for NF_REQ_ALL')
        call check(value(3) == 5, 'what was put first, and not cancelled, is there')
        call works(nfmpi_buffer_detach(ncid), 'buffer_detach')
        call works(nfmpi_close(ncid), 'close')
    end subroutine

    ! A loop that posts its index, which has changed when it is waited for; and the ends of two variables in one
    ! put_vard.
    subroutine f77_reuse(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)
        integer :: ncid, x, a, b, i, req(10), status(10), ends, err, values(10)
        integer(offset) :: first, second

        call works(nfmpi_create(MPI_COMM_WORLD, from_c(path), nf_clobber, MPI_INFO_NULL, ncid), 'create')
        call works(nfmpi_def_dim(ncid, 'x', 10_offset, x), 'def_dim')
        call works(nfmpi_def_var(ncid, 'a', nf_int, 1, (/x/), a), 'def_var')
        call works(nfmpi_def_var(ncid, 'b', nf_int, 1, (/x/), b), 'def_var')
        call works(nfmpi_enddef(ncid), 'enddef')
        do i = 1, 10
            call works(nfmpi_iput_var1_int(ncid, a, (/int(i, offset)/), i, req(i)), 'iput_var1_int')
        end do
        call works(nfmpi_wait_all(ncid, 10, req, status), 'wait_all')
        call check(all(status == nf_noerr), 'statuses of wait_all')
        call works(nfmpi_inq_varoffset(ncid, a, first), 'inq_varoffset')
        call works(nfmpi_inq_varoffset(ncid, b, second), 'inq_varoffset')
        call MPI_Type_create_hindexed_block(2, 5, (/20_MPI_ADDRESS_KIND, &
            int(second - first + 20, MPI_ADDRESS_KIND)/), MPI_INTEGER, ends, err)
        call MPI_Type_commit(ends, err)
        values = (/(100 + i, i = 1, 10)/)
        call works(nfmpi_put_vard_all(ncid, a, ends, values, 10_offset, MPI_INTEGER), 'put_vard_all of two variables')
        call fails(nfmpi_put_vard_all(ncid, a, ends, values, 9_offset, MPI_INTEGER), nf_eiomismatch, &
            'a buffer of another size than the filetype')
        call MPI_Type_free(ends, err)
        call works(nfmpi_close(ncid), 'close')
    end subroutine

    subroutine f77_errors(path) bind(c)
        character(kind=c_char), intent(in) :: path(4096)
        integer :: ncid, id, rank, err
        integer(offset) :: huge_index
        character(1000) :: message

        call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
        call works(nfmpi_open(MPI_COMM_WORLD, from_c(path), nf_write, MPI_INFO_NULL, ncid), 'open')
        call fails(nfmpi_inq_varid(ncid, 'nothing', id), nf_enotvar, 'a name of no variable')
        call fails(nfmpi_put_var1_int_all(ncid, 99, (/1_offset/), 1), nf_enotvar, 'an id of no variable')
        call fails(nfmpi_put_var1_int_all(ncid, nf_global, (/1_offset/), 1), nf_eglobal, 'data for NF_GLOBAL')
        call fails(nfmpi_put_var1_int_all(ncid, -huge(1) - 1, (/1_offset/), 1), nf_enotvar, 'the smallest id')
        call fails(nfmpi_put_var1_int_all(ncid, 1, (/0_offset/), 1), nf_einvalcoords, 'index 0')
        huge_index = -huge(huge_index) - 1
        call fails(nfmpi_put_var1_int_all(ncid, 1, (/huge_index/), 1), nf_einvalcoords, 'the smallest index')
        call fails(nfmpi_put_varn_int_all(ncid, 99, 1, (/1_offset/), (/1_offset/), 1), nf_enotvar, &
            'varn, an id of no variable')
        ! On one rank only: the others have done their part and are not kept waiting.
        err = nfmpi_put_var1_int_all(ncid, merge(99, 1, rank == 0), (/1_offset/), 1)
        call fails(err, merge(nf_enotvar, nf_noerr, rank == 0), 'a bad id on rank 0')
        call fails(nfmpi_put_vara_all(ncid, 1, (/1_offset/), (/1_offset/), 1, 2_offset, MPI_INTEGER), nf_eiomismatch, &
            'a buffer of another size')
        call works(nfmpi_put_vara_all(ncid, 1, (/1_offset/), (/1_offset/), 5, 0_offset, MPI_DATATYPE_NULL), &
            'no datatype')
        call fails(nfmpi_inq_stats(ncid, 'writes', huge_index), nf_einval, 'statistics are off')
        call works(nfmpi_close(ncid), 'close')
        call fails(nfmpi_close(ncid), nf_ebadid, 'a closed file')
        call fails(nfmpi_redef(-1), nf_ebadid, 'no file')
        call check(index(nfmpi_strerror(nf_ebadid), 'ncid is -1: not an open file') == 1, &
            'strerror with the sentence of the failure')
        call works(nfmpi_inq_last_error(-1, id, message), 'inq_last_error')
        call check(id == nf_ebadid .and. message /= ' ', 'the last error of any file')
        call check(.not. nfmpi_issyserr(nf_ebadid) .and. .not. nfmpi_issyserr(nf_noerr) .and. nfmpi_issyserr(2), &
            'issyserr')
        call works(nfmpi_create(MPI_COMM_WORLD, trim(from_c(path)) // '.aborted', nf_clobber, MPI_INFO_NULL, ncid), &
            'create')
        call works(nfmpi_abort(ncid), 'abort')
        call MPI_Barrier(MPI_COMM_WORLD, err)
        if (rank == 0) call works(nfmpi_delete(from_c(path), MPI_INFO_NULL), 'delete')
    end subroutine
end module
