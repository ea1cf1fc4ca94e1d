#!/usr/bin/env bash
# Compiles the pure rooms for s390x, whose bytes are in the order of the files, and runs their unit tests and the
# corpus of the fuzz target under qemu: ./check --big-endian. Prints TAP. Needs a build in build/mpich and the packages
# of scripts/packages.txt for big-endian; libraries for s390x are unpacked in build/s390x, and not installed.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$root/build/s390x
triplet=s390x-linux-gnu
compiler=$triplet-gcc

# Tests without MPI. The others are of rooms that include mpi.h, or of tools.
tests=(arena cdl codec convert flat_type growth layout model name packer region select suggest)

# apt with lists of its own, in which s390x is a known architecture.
apt_s390x() {
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
    apt-get -qq -o APT::Architecture=s390x -o APT::Architectures::=s390x -o Dir::State::Lists="$folder/apt/lists" \
        -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User=root "$@"
}

fetch_libraries() {
    [ ! -e "$folder/root/fetched" ] || return 0
    mkdir -p "$folder/packages" "$folder/root"
    apt_s390x update || return 1
    (cd "$folder/packages" && apt_s390x download libcmocka-dev libcmocka0 libutf8proc-dev libutf8proc2) || return 1
    local package
    for package in "$folder"/packages/*.deb; do
        dpkg -x "$package" "$folder/root" || return 1
    done
    touch "$folder/root/fetched"
}

# sources: the C files of the pure rooms, from the Makefile.
sources() {
    # shellcheck disable=SC2016 # make expands the variables
    printf 'include Makefile\nshow:\n\t@echo %s\n' \
        '$(libpure_la_SOURCES) $(libcdl_la_SOURCES) $(libkernels_base_la_SOURCES) $(libkernels_scalar_la_SOURCES)' |
        make -s --no-print-directory -C "$root/build/mpich" -f - show | tr ' ' '\n' | grep -E '\.[cly]$' |
        sed 's/\.[ly]$/.c/' | sort -u
}

# compile_all: an archive of the pure rooms, as the build configured them, without what is of the processor.
compile_all() {
    local flags=(-std=gnu11 -O2 -g -I"$root/build/mpich/include" -I"$root/build/mpich/src"
        -I"$root/build/mpich" -I"$root/src" -isystem "$folder/root/usr/include") source object objects=()
    mkdir -p "$folder/objects"
    while read -r source; do
        object=$folder/objects/$(tr / _ <<< "$source").o
        objects+=("$object")
        if [ -f "$root/$source" ]; then
            source=$root/$source
        else
            source=$root/build/mpich/$source
        fi
        "$compiler" "${flags[@]}" -c "$source" -o "$object" || return 1
    done < <(sources)
    [ ${#objects[@]} -gt 20 ] || return 1
    rm -f "$folder/libpure.a"
    "$triplet-ar" rc "$folder/libpure.a" "${objects[@]}" || return 1
    local test program
    for test in "${tests[@]}" codec_corpus; do
        program=$folder/$test source=$root/test/unit/test_$test.c
        [ "$test" != codec_corpus ] || source=$root/test/fuzz/fuzz_codec.c
        "$compiler" "${flags[@]}" -DPNC_FUZZ_REPLAY "$source" "$folder/libpure.a" -o "$program" \
            -L"$folder/root/usr/lib/$triplet" -lcmocka -lutf8proc -lm || return 1
    done
}

run() {
    (cd "$root" && CMOCKA_MESSAGE_OUTPUT=TAP PNC_SOURCE=$root timeout 1800 qemu-s390x -L /usr/$triplet \
        -E LD_LIBRARY_PATH="$folder/root/usr/lib/$triplet" "$folder/$1")
}

for program in "$compiler" qemu-s390x apt-get; do
    command -v "$program" > /dev/null || { echo "1..0 # SKIP $program is not installed"; exit 0; }
done
fetch_libraries || { echo "1..0 # SKIP the libraries for s390x cannot be fetched"; exit 0; }
compile_all || { echo "not ok - the pure rooms compile for s390x"; exit 1; }
status=0
for test in "${tests[@]}" codec_corpus; do
    run "$test" > "$folder/$test.log" 2>&1
    ended=$?
    grep -E '^(not )?ok' "$folder/$test.log" | sed "s,\$, ($test on s390x),"
    if [ $ended != 0 ]; then
        echo "not ok - $test on s390x: exit status $ended, see $folder/$test.log"
        status=1
    fi
done
exit $status
