#!/usr/bin/env bash
# The tests of netCDF-C and netCDF-Fortran, unmodified, with libpnetcdf-netcdf and without: bash
# test/interop/netcdf_clients.sh BUILD, of a build with MPICH. It takes the sources of Debian's packages (deb-src) and
# compiles their tests, and nothing else of them, in BUILD/netcdf_clients. Those of one process begin with MPI_Init, and
# all their files come through the library; each must end with the same status as without it. Parallel ones must pass.
# Not a part of ./check, as it loads 20 MB.
set -u
build=$(cd "${1:?the folder of a build}" && pwd)
work=$build/netcdf_clients
mkdir -p "$work/include" "$work/sources" && cd "$work" || exit 1
same=0 other=0
# What needs user-defined types, NULL as a fill value, an alignment, 2^63 bytes, a fill value that comes
# late, or that h5py's files cannot be opened: docs/netcdf.md says so. tst_parallel3, 5 and _compress expect refusals
# of what works here, and f90tst_parallel_compressed compares memory that it has not set.
differ=" tst_alignment tst_atts2 tst_charvlenbug tst_chunks2 tst_compounds2 tst_compounds3 tst_empty_vlen_unlim
 tst_enums tst_fillbug tst_fills2 tst_grps tst_interops5 tst_opaques tst_types tst_utf8 tst_vars4
 tst_vl f90tst_types ftst_types ftst_types2 ftst_types3 ftst_vars3 ftst_vars4 ftst_vars5
 tst_parallel3 tst_parallel5 tst_parallel_compress f90tst_parallel_compressed "
differ=$(echo $differ)

if ! ls sources/netcdf-c-* > /dev/null 2>&1; then
    (cd sources && apt-get source --download-only netcdf netcdf-fortran > /dev/null 2>&1)
    tar xf "$(ls sources/netcdf_*.orig.tar.*)" -C sources --wildcards 'netcdf-c-*/nc_test/*' 'netcdf-c-*/nc_test4/*' \
        'netcdf-c-*/include/nc_tests.h' 'netcdf-c-*/include/err_macros.h' || exit 1
    tar xf "$(ls sources/netcdf-fortran_*.orig.tar.*)" -C sources --wildcards '*/nf_test/*' '*/nf_test4/*' \
        '*/nf03_test/*' '*/nf03_test4/*' || exit 1
fi
c=$(echo "$work"/sources/netcdf-c-*) fortran=$(echo "$work"/sources/netcdf-fortran-*)

# What the tests ask of a build of netCDF, and the names of headers that they do not use.
cat > include/config.h << 'END'
#define HAVE_UNISTD_H 1
#define USE_HDF5 1
#define USE_NETCDF4 1
#define ENABLE_CDF5 1
#define HDF5_SUPPORTS_PAR_FILTERS 1
#define TOPSRCDIR "."
#define TEMP_LARGE "."
#define CHUNK_CACHE_SIZE 16777216
#define CHUNK_CACHE_NELEMS 4133
#define CHUNK_CACHE_PREEMPTION 0.75
END
touch include/nc_logging.h include/ncpathmgr.h include/ncrc.h
cat > include/netcdf_par.h << 'END'
#include <mpi.h>
#define NC_INDEPENDENT 0
#define NC_COLLECTIVE 1
int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_var_par_access(int ncid, int varid, int access);
END
cat > with_mpi.c << 'END'
#include <mpi.h>
__attribute__((constructor)) static void begin(void) { MPI_Init(0, 0); }
__attribute__((destructor)) static void end(void)
{
    int over;
    MPI_Finalized(&over);
    if (!over)
        MPI_Finalize();
}
END
mpicc.mpich -c with_mpi.c -o with_mpi.o || exit 1
hdf5="-I/usr/include/hdf5/serial -L/usr/lib/$(gcc -print-multiarch)/hdf5/serial"
flags="-w -O1 -Iinclude -I$c/include -I$c/nc_test -I$c/nc_test4 $hdf5"
types="-Duchar=unsigned\\ char -Dlonglong=long\\ long -Dulonglong=unsigned\\ long\\ long"

# compile NAME COMMAND..: tests that use the library's own headers do not compile, and are left out.
compile() {
    local name=$1
    shift
    [ -x "$name" ] || "$@" -o "$name" > "$name.log" 2>&1
}

# run NAME FOLDER COMMAND..: the status.
run() {
    mkdir -p "runs/$1.$2"
    (cd "runs/$1.$2" && shift 2 && timeout 300 "$@" > out 2>&1)
    echo $?
}

report() {
    if [ "$2" = "$3" ]; then
        same=$((same + 1))
    elif [[ " $differ " == *" $1 "* ]]; then
        echo "differs, as expected: $1 ($2, $3)"
    else
        other=$((other + 1))
        echo "DIFFERS: $1: $2 without the library, $3 with it: $work/runs/$1.door/out"
    fi
}

door=(env "LD_LIBRARY_PATH=$build/.libs" "LD_PRELOAD=$build/.libs/libpnetcdf-netcdf.so:$build/test/runner/yield.so")

check_one_process() {
    report "$1" "$(run "$1" plain "../../$1")" "$(run "$1" door "${door[@]}" PNETCDF_NETCDF=all "../../$1")"
}

check_parallel() {
    report "$1" 0 "$(run "$1" door mpiexec.mpich -n "$2" "${door[@]}" "../../$1")"
}

for source in "$c"/nc_test4/tst_*.c "$c"/nc_test/t*_*.c; do
    name=$(basename "$source" .c)
    case $name in
        tst_parallel* | tst_mpi_parallel | tst_quantize_par | tst_simplerw_coll_r | tst_nc4perf) ;;
        tst_large* | tst_camrun | test_* | tst_diskless* | tst_byterange | tst_http*) ;;
        *)
            compile "$name" mpicc.mpich $flags "$source" with_mpi.o -lnetcdf -lhdf5 -lhdf5_hl -lm &&
                check_one_process "$name"
            ;;
    esac
done
parts=$c/nc_test/{nc_test,error,util,test_get,test_put,test_read,test_write}.c
eval "compile nc_test mpicc.mpich $flags $types $parts with_mpi.o -lnetcdf -lm" && check_one_process nc_test
parallel="-DUSE_PARALLEL -DUSE_PARALLEL4 -DTEST_PARALLEL"
for name in tst_parallel:4 tst_parallel3:4 tst_parallel4:4 tst_parallel5:4 tst_parallel6:4 tst_parallel_compress:4 \
    tst_parallel_zlib:4 tst_mpi_parallel:4 tst_quantize_par:4 tst_simplerw_coll_r:4; do
    compile "${name%:*}" mpicc.mpich $parallel $flags "$c/nc_test4/${name%:*}.c" -L"$build/.libs" -lpnetcdf-netcdf \
        -lnetcdf -lm && check_parallel "${name%:*}" "${name#*:}"
done
door_libraries="-lnetcdff -L$build/.libs -lpnetcdf-netcdf -lnetcdf"
f="mpifort.mpich -w -O1 -fallow-argument-mismatch -I/usr/include -I$fortran/nf_test -I$fortran/nf_test4"
for source in "$fortran"/nf03_test/*.[fF]90 "$fortran"/nf03_test4/f90tst_*.[fF]90 "$fortran"/nf_test4/ftst_*.F \
    "$fortran"/nf_test/tst_*.F; do
    name=$(basename "${source%.*}")
    more=$(grep -qi 'call handle_err' "$source" && echo "$fortran/nf_test/handle_err.F")
    case $name in
        f90tst_nc4_par) compile "$name" $f "$source" $door_libraries && check_parallel "$name" 8 ;;
        *parallel*) compile "$name" $f "$source" $more $door_libraries && check_parallel "$name" 4 ;;
        *) compile "$name" $f "$source" $more with_mpi.o -lnetcdff -lnetcdf && check_one_process "$name" ;;
    esac
done
echo "$same tests end in the same way, $other do not"
[ "$other" = 0 ] && [ "$same" -gt 80 ]
