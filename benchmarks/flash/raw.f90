! What MPI-IO alone can do: the bytes of a file that the library wrote, in contiguous pieces made before the clock
! starts.
module raw
    use, intrinsic :: iso_fortran_env, only: int8, real64
    use mpi_f08
    use pnetcdf
    use check
    use mesh, only: rank, ranks
    implicit none
    private
    public :: copy_raw

    ! A rank's part of each variable; number 0 is the header, which rank 0 has.
    type piece
        integer(MPI_OFFSET_KIND) :: begin
        integer(int8), allocatable :: bytes(:)
    end type

contains

    ! Write the bytes of a file to another one; the seconds that this takes.
    real(real64) function copy_raw(path, raw_path)
        character(len=*), intent(in) :: path, raw_path
        type(piece), allocatable :: pieces(:)
        type(MPI_File) :: file
        integer :: k

        call read_pieces(path, pieces)
        call mpi_barrier(MPI_COMM_WORLD)
        copy_raw = mpi_wtime()
        call mpi_file_open(MPI_COMM_WORLD, raw_path, ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_INFO_NULL, file)
        call mpi_file_set_size(file, 0_MPI_OFFSET_KIND)
        do k = 1, size(pieces)
            call mpi_file_write_at_all(file, pieces(k)%begin, pieces(k)%bytes, size(pieces(k)%bytes), MPI_BYTE, &
                                       MPI_STATUS_IGNORE)
        end do
        call mpi_file_close(file)
        copy_raw = mpi_wtime() - copy_raw
    end function copy_raw

    subroutine read_pieces(path, pieces)
        character(len=*), intent(in) :: path
        type(piece), allocatable, intent(out) :: pieces(:)
        type(MPI_File) :: file
        integer(MPI_OFFSET_KIND), allocatable :: begins(:)
        integer(MPI_OFFSET_KIND) :: length
        integer :: ncid, n, k

        call nc_try(path, 'open', nf90mpi_open(MPI_COMM_WORLD, path, nf90_nowrite, MPI_INFO_NULL, ncid))
        call nc_try(path, 'inquire', nf90mpi_inquire(ncid, nvariables=n))
        allocate (begins(n + 1), pieces(n + 1))
        do k = 1, n
            call nc_try(path, 'inq_varoffset', nf90mpi_inq_varoffset(ncid, k, begins(k)))
        end do
        call nc_try(path, 'inq_header_size', nf90mpi_inq_header_size(ncid, length))
        call nc_try(path, 'close', nf90mpi_close(ncid))
        call mpi_file_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, file)
        call mpi_file_get_size(file, begins(n + 1))
        pieces(1)%begin = 0
        allocate (pieces(1)%bytes(merge(length, 0_MPI_OFFSET_KIND, rank == 0)))
        do k = 1, n
            length = (begins(k + 1) - begins(k)) / ranks
            pieces(k + 1)%begin = begins(k) + rank * length
            allocate (pieces(k + 1)%bytes(length))
        end do
        do k = 1, n + 1
            call mpi_file_read_at_all(file, pieces(k)%begin, pieces(k)%bytes, size(pieces(k)%bytes), MPI_BYTE, &
                                      MPI_STATUS_IGNORE)
        end do
        call mpi_file_close(file)
    end subroutine read_pieces

end module raw
