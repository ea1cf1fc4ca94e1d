!     A checkpoint of three fields on a grid that is dealt out in
!     columns: all puts are posted and then carried out together. It is
!     read back by the neighbour, and what is missing is asked for.
      program checkpoint
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nx, ny, nfields
      parameter (nx = 6, ny = 4, nfields = 3)
      character*8 names(nfields)
      character*256 path
      integer rank, nprocs, other, ncid, varids(nfields), dimids(2)
      integer requests(nfields), statuses(nfields), i, x, y, err
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), length
      double precision fields(nx, ny, nfields), again(nx, ny)
      data names /'u', 'v', 'height'/

      call MPI_Init(err)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, err)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'checkpoint.nc'

      err = nfmpi_create(MPI_COMM_WORLD, path, nf_64bit_data,
     &                   MPI_INFO_NULL, ncid)
      call check(err, 'create')
      length = nx
      call check(nfmpi_def_dim(ncid, 'x', length, dimids(1)), 'x')
      length = ny * nprocs
      call check(nfmpi_def_dim(ncid, 'y', length, dimids(2)), 'y')
      do i = 1, nfields
         err = nfmpi_def_var(ncid, names(i), nf_double, 2, dimids,
     &                       varids(i))
         call check(err, names(i))
      end do
      call check(nfmpi_enddef(ncid), 'enddef')

      start(1) = 1
      start(2) = ny * rank + 1
      count(1) = nx
      count(2) = ny
      do i = 1, nfields
         do y = 1, ny
            do x = 1, nx
               fields(x, y, i) = 100 * i + 10 * (ny * rank + y) + x
            end do
         end do
         err = nfmpi_iput_vara_double(ncid, varids(i), start, count,
     &                                fields(1, 1, i), requests(i))
         call check(err, names(i))
      end do
      err = nfmpi_wait_all(ncid, nfields, requests, statuses)
      call check(err, 'wait')
      do i = 1, nfields
         call check(statuses(i), names(i))
      end do

      other = mod(rank + 1, nprocs)
      start(2) = ny * other + 1
      err = nfmpi_get_vara_double_all(ncid, varids(2), start, count,
     &                                again)
      call check(err, 'get')
      do y = 1, ny
         do x = 1, nx
            i = 200 + 10 * (ny * other + y) + x
            if (nint(again(x, y)) .ne. i) then
               call check(nf_eread, 'values')
            end if
         end do
      end do

      err = nfmpi_inq_varid(ncid, 'salinity', i)
      if (err .eq. nf_enotvar .and. rank .eq. 0) then
         print *, 'no salinity: ', nfmpi_strerror(err)
      end if
      call check(nfmpi_close(ncid), 'close')
      call MPI_Finalize(err)
      end

      subroutine check(err, what)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer err, ignored, code
      character*(*) what
      character*(nf_max_message) message
      if (err .ne. nf_noerr) then
         ignored = nfmpi_inq_last_error(-1, code, message)
         if (code .ne. err) message = nfmpi_strerror(err)
         print *, what, ': ', trim(message)
         call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
      end if
      end
