!     Every rank writes one column of temperature(x, rank).
      program first
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nx
      parameter (nx = 10)
      integer rank, nprocs, ncid, varid, dimids(2), x, err
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), length
      real column(nx)

      call MPI_Init(err)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, err)

      err = nfmpi_create(MPI_COMM_WORLD, 'first.nc', nf_64bit_data,
     &                   MPI_INFO_NULL, ncid)
      call check(err, 'create')
      length = nx
      call check(nfmpi_def_dim(ncid, 'x', length, dimids(1)), 'x')
      length = nprocs
      call check(nfmpi_def_dim(ncid, 'rank', length, dimids(2)), 'rank')
      err = nfmpi_def_var(ncid, 'temperature', nf_real, 2, dimids,
     &                    varid)
      call check(err, 'temperature')
      length = 1
      err = nfmpi_put_att_text(ncid, varid, 'units', length, 'K')
      call check(err, 'units')
      call check(nfmpi_enddef(ncid), 'enddef')

      do x = 1, nx
         column(x) = 280 + rank + 0.1 * (x - 1)
      end do
      start(1) = 1
      start(2) = rank + 1
      count(1) = nx
      count(2) = 1
!     _all: every rank calls it
      err = nfmpi_put_vara_real_all(ncid, varid, start, count, column)
      call check(err, 'put')
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
