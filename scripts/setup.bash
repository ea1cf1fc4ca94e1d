# shellcheck shell=bash
# Read by ./check and ./demo: packages, bootstrap, configure and make, each done only where it is needed. No questions.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# missing_packages WHEN...: those of scripts/packages.txt that dpkg does not have.
missing_packages() {
    local when package
    for when in "$@"; do
        while read -r package; do
            [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || echo "$package"
        done < <(awk -v when="$when" '!/^#/ && $2 == when { print $1 }' "$root/scripts/packages.txt")
    done
}

# known_packages PACKAGE...: those that apt has for this processor. Tests skip what needs the others.
known_packages() {
    local package
    for package in "$@"; do
        if [ -n "$(apt-cache show "$package" 2> /dev/null)" ]; then
            echo "$package"
        else
            say "not in this Debian: $package" >&2
        fi
    done
}

install_packages() {
    local missing as_root=()
    if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
        say "not a Debian system: what is needed is listed in scripts/packages.txt"
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    if [ ${#missing[@]} = 0 ]; then
        return
    fi
    say "installing by apt: ${missing[*]}"
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2> /dev/null || die "packages are missing; run as root: apt-get install ${missing[*]}"
        as_root=(sudo -n)
    fi
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3
        -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
    "${apt[@]}" update || die "apt-get update failed"
    mapfile -t missing < <(known_packages "${missing[@]}")
    if [ ${#missing[@]} = 0 ]; then
        return
    fi
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" || die "apt-get install failed"
    rm -f "$root"/build/*/options # what was configured before did not see them
}

# In some containers a plain file stands at /dev/null: it grows, and programs read from it what others have discarded.
mend_null_device() {
    [ ! -c /dev/null ] || return
    # a rename, as other programs may create the file anew at any moment
    if [ "$(id -u)" = 0 ] && mknod -m 666 "/dev/null.$$" c 1 3 && mv -fT "/dev/null.$$" /dev/null; then
        say "/dev/null was not a device, and is one again"
    else
        rm -f "/dev/null.$$"
        say "/dev/null is not a device: tests that need one are skipped"
    fi
}

# With both MPI libraries on a machine, mpicc may mean either; Debian's full names do not.
first_of() {
    local name
    for name in "$@"; do
        if command -v "$name" > /dev/null; then
            echo "$name"
            return
        fi
    done
    echo "${!#}"
}

# Automake makes Makefile.in and copies its scripts last, depcomp among them; it leaves them out when it fails. Later
# changes of configure.ac and Makefile.am are noticed by make.
bootstrap() {
    local product
    for product in configure config.h.in Makefile.in build-aux/ltmain.sh build-aux/missing build-aux/compile \
        build-aux/depcomp build-aux/tap-driver.sh build-aux/ylwrap; do
        if [ ! -f "$root/$product" ]; then
            say "bootstrap: autoreconf -i, because $product is missing"
            mkdir -p "$root/m4" "$root/build-aux"
            (cd "$root" && autoreconf -i) || die "autoreconf failed"
            return
        fi
    done
}

# configure FLAVOUR OPTIONS...: in build/FLAVOUR, unless it was configured with the same options.
configure() {
    local folder=$root/build/$1 options
    shift
    options=$(printf '%q ' "$@")
    if [ ! -f "$folder/config.status" ] || [ "$(cat "$folder/options" 2> /dev/null)" != "$options" ]; then
        say "configure in ${folder#"$root"/}: $options"
        mkdir -p "$folder"
        rm -f "$folder/options"
        (cd "$folder" && "$root/configure" --quiet "$@") || die "configure failed; see ${folder#"$root"/}/config.log"
        printf '%s\n' "$options" > "$folder/options"
    fi
}

# set_up FLAVOUR: a configured folder build/FLAVOUR. The flavours are mpich, shared, sanitize, tsan, coverage,
# without-hdf5 and openmpi.
set_up() {
    local mpicc mpif90 mpiexec
    local develop=(--enable-werror --enable-assertions)
    local sanitizers='-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined'
    bootstrap
    mpicc=${MPICC:-$(first_of mpicc.mpich mpicc)}
    mpif90=${MPIF90:-$(first_of mpifort.mpich mpif90.mpich mpifort mpif90)}
    mpiexec=${MPIEXEC:-$(first_of mpiexec.mpich mpiexec)}
    case $1 in
        mpich) configure mpich "${develop[@]}" "--prefix=$root/build/prefix" "MPICC=$mpicc" "MPIF90=$mpif90" "MPIEXEC=$mpiexec" ;;
        shared) # half of the objects: for ./demo, which links programs with the shared library only
            configure shared --disable-static "--prefix=$root/build/prefix" "MPICC=$mpicc" "MPIF90=$mpif90" \
                "MPIEXEC=$mpiexec"
            ;;
        sanitize)
            configure sanitize "${develop[@]}" --disable-shared "MPICC=$mpicc" "MPIF90=$mpif90" "MPIEXEC=$mpiexec" \
                "CFLAGS=$sanitizers" "FCFLAGS=$sanitizers"
            ;;
        tsan)
            configure tsan "${develop[@]}" --disable-shared --disable-fortran "MPICC=$mpicc" "MPIEXEC=$mpiexec" \
                'CFLAGS=-g -O1 -fno-omit-frame-pointer -fsanitize=thread'
            ;;
        coverage)
            configure coverage "${develop[@]}" --disable-shared "MPICC=$mpicc" "MPIF90=$mpif90" "MPIEXEC=$mpiexec" \
                'CFLAGS=-g -O0 --coverage -fprofile-update=atomic' LDFLAGS=--coverage LIBS=-lgcov
            ;;
        without-hdf5)
            configure without-hdf5 "${develop[@]}" --without-hdf5 "MPICC=$mpicc" "MPIF90=$mpif90" "MPIEXEC=$mpiexec"
            ;;
        openmpi)
            configure openmpi "${develop[@]}" "MPICC=$(first_of mpicc.openmpi mpicc)" \
                "MPIF90=$(first_of mpifort.openmpi mpif90.openmpi mpifort mpif90)" \
                "MPIEXEC=$(first_of mpiexec.openmpi mpiexec)"
            ;;
    esac
}

build() {
    say "make in build/$1"
    make -C "$root/build/$1" -j"$(nproc)" --no-print-directory
}
