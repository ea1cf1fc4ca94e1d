#!/usr/bin/env bash
# Compiles the library for another processor and runs tests of it under qemu: the unit tests, the corpus of the fuzz
# target, and random programs on 1 and 2 ranks. The exit status is 77 if something is missing.
#
#     scripts/cross.bash s390x      bytes are in the order of the files: ./check --big-endian
#     scripts/cross.bash aarch64    ./check --aarch64
#
# Needs the packages of scripts/packages.txt, also those for big-endian or aarch64. Debian's libraries for it are
# unpacked in build/PROCESSOR/root, and not installed. qemu runs the ranks that mpiexec of this machine starts.
set -u
# shellcheck source-path=SCRIPTDIR source=setup.bash
. "$(dirname "${BASH_SOURCE[0]}")/setup.bash"
processor=${1-}
case $processor in
    s390x) debian=s390x ;;
    aarch64) debian=arm64 ;;
    *) die "the processor is s390x or aarch64" ;;
esac
folder=$root/build/$processor
triplet=$processor-linux-gnu
mpiexec=${MPIEXEC:-$(first_of mpiexec.mpich mpiexec)}

# apt with lists of its own, in which this processor is known, and nothing is installed.
apt_for_processor() {
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
    apt-get -qq -o APT::Architecture="$debian" -o APT::Architectures::="$debian" -o APT::Sandbox::User=root \
        -o Dir::State::Lists="$folder/apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$folder/apt/cache" "$@"
}

# libmpich-dev would draw compilers in, so that it is unpacked without what it depends on.
fetch_libraries() {
    [ ! -e "$folder/libraries" ] || return 0
    local packages=$folder/apt/cache/archives package
    apt_for_processor update || return 1
    apt_for_processor -y --no-install-recommends --download-only install libmpich12 libutf8proc-dev libcmocka-dev ||
        return 1
    (cd "$packages" && apt_for_processor download libmpich-dev) || return 1
    for package in "$packages"/*.deb; do
        dpkg -x "$package" "$folder/root" || return 1
    done
    touch "$folder/libraries"
}

# As mpicc, which names the compiler and the folders of the machine that it is installed on.
write_mpicc() {
    local libraries=$folder/root/usr/lib/$triplet
    cat > "$folder/mpicc" << END
#!/bin/sh
exec $triplet-gcc -isystem $folder/root/usr/include/$triplet/mpich -isystem $folder/root/usr/include "\$@" \\
    -L$libraries -Wl,-rpath-link,$libraries -lmpich
END
    chmod +x "$folder/mpicc"
}

run_tests() {
    local tests
    tests="$(cd "$root" && find test/unit -name 'test_*.c' | sed 's/\.c$//' | tr '\n' ' ') test/fuzz/fuzz_codec"
    make -C "$folder" -j"$(nproc)" -k --no-print-directory check-TESTS "TESTS=$tests test/mpi/test_property" \
        "PNC_TEST_WRAPPER=qemu-$processor -L $folder/root" PNC_TEST_NP="1 2" PNC_TEST_NODES= PNC_TEST_YIELD=no \
        PNC_TEST_TIMEOUT=1800
}

for program in "$triplet-gcc" "qemu-$processor" "$mpiexec" apt-get; do
    command -v "$program" > /dev/null || { echo "SKIP: $program is not installed"; exit 77; }
done
fetch_libraries || { echo "SKIP: the libraries for $processor cannot be fetched"; exit 77; }
write_mpicc
bootstrap
configure "$processor" --enable-werror --enable-assertions --disable-fortran "--host=$triplet" "MPICC=$folder/mpicc" \
    "MPIEXEC=$mpiexec"
make -C "$folder" -j"$(nproc)" --no-print-directory || die "the library does not compile for $processor"
run_tests
