"""pnetcdf.hpp: its examples compile without a warning from C++11 to C++20 and write the files that ncdump shows;
values, attributes, exceptions and the storage of netCDF-4 files in a program of its own, whose results are known, and
which calls every function of the header."""
# needs: python
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
import called  # noqa: E402
import tap  # noqa: E402

TOP = os.path.join(HERE, "..", "..")
BUILD = os.environ.get("PNC_BUILD", os.getcwd())
CC = shlex.split(os.environ.get("CC", "mpicc"))
INCLUDES = ["-I" + os.path.join(BUILD, "include"), "-I" + os.path.join(TOP, "include")]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wold-style-cast", "-Wconversion", "-Wshadow", "-Werror"]

PROGRAM = """\
#include <array>
#include <cstdio>
#include <pnetcdf.hpp>

template <class Call> static void expect(const char *what, int code, const char *words, Call call)
{
    try {
        call();
        std::printf("not thrown: %s\\n", what);
    } catch (const pnetcdf::error &e) {
        bool good = e.code() == code && std::string(e.what()).find(words) != std::string::npos;
        if (!good)
            std::printf("%s: %d %s\\n", what, e.code(), e.what());
    }
}

// An attribute and a variable of a type, with three values.
template <class T> static void all_of(const pnetcdf::file &file, const std::string &name, const std::vector<int> &dims)
{
    const std::vector<T> values{T(1), T(2), T(120)};
    file.redef();
    auto v = file.def_var<T>("v_" + name, dims);
    v.put_att("three", values);
    file.put_att(name, T(3));
    file.enddef();
    v.put_all({0}, {3}, values);
    std::vector<T> got(3);
    std::vector<double> numbers(3);
    v.get_all({0}, {3}, got);
    v.get_all({0}, {3}, numbers);
    double sum = 0;
    for (const T &value : pnetcdf::span<const T>(got))
        sum += static_cast<double>(value);
    if (v.template get_att<T>("three") != values || file.get_att<T>(name) != std::vector<T>(1, T(3)) || got != values ||
        sum != 123 || numbers != std::vector<double>{1, 2, 120})
        std::printf("other values of type %s\\n", name.c_str());
}

static void run_types(const char *path)
{
    auto made = pnetcdf::file::create(MPI_COMM_WORLD, std::string(path) + "3");
    const std::vector<int> dims{made.def_dim("x", 3)};
    made.enddef();
    all_of<signed char>(made, "schar", dims);
    all_of<unsigned char>(made, "uchar", dims);
    all_of<short>(made, "short", dims);
    all_of<unsigned short>(made, "ushort", dims);
    all_of<int>(made, "int", dims);
    all_of<unsigned>(made, "uint", dims);
    all_of<long>(made, "long", dims);
    all_of<unsigned long>(made, "ulong", dims);
    all_of<long long>(made, "longlong", dims);
    all_of<unsigned long long>(made, "ulonglong", dims);
    all_of<float>(made, "float", dims);
    all_of<double>(made, "double", dims);
    auto v = made.var("v_int");
    int length = 0; // by the ids, functions of C
    pnetcdf::check(ncmpi_inq_varndims(v.file_id(), v.id(), &length));
    if (length != 1 || made.id() != NC_GLOBAL || made.file_id() != v.file_id())
        std::printf("other ids\\n");
    expect("storage", NC_ENOTNC4, "", [&] {
        made.redef();
        made.def_var<int>("w", dims).def_deflate();
    });
    made.enddef();
}

static void run_netcdf4(const char *path, int rank, int nprocs)
{
    auto made = pnetcdf::file::create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4);
    const std::vector<int> dims{made.def_dim("y", 4 * nprocs), made.def_dim("x", 10)};
    auto deflated = made.def_var<float>("deflated", dims), whole = made.def_var<float>("whole", dims);
    auto zstd = made.def_var<int>("zstd", dims), plain = made.def_var<int>("plain", dims);
    deflated.def_chunks({2, 10});
    deflated.def_deflate(2);
    deflated.def_quantize(NC_QUANTIZE_BITROUND, 8);
    deflated.def_fletcher32();
    whole.def_contiguous();
    zstd.def_zstd(5);
    plain.def_zstd(1, false);
    expect("a chunk length is missing", NC_EBADCHUNK, "-1", [&] { deflated.def_chunks({4}); });
    const bool last = rank == nprocs - 1;
    try { /* one rank names no variable: the others do not block */
        pnetcdf::variable(made.file_id(), last ? 99 : deflated.id()).def_chunks({2, 10});
        if (last)
            std::printf("chunks of no variable\\n");
    } catch (const pnetcdf::error &e) {
        if (e.code() != NC_ENOTVAR)
            std::printf("%d: %s\\n", rank, e.what());
    }
    expect("shards of a netCDF-4 file", NC_ENOTSUPPORT, "", [&] { deflated.def_shards({4, 10}); });
    made.enddef();
    if (!deflated.shards().empty())
        std::printf("shards\\n");
    std::vector<float> row(40);
    for (std::size_t i = 0; i < row.size(); i++)
        row[i] = static_cast<float>(i) + 0.25F;
    deflated.put_all({4 * rank, 0}, {4, 10}, row);
    whole.put_all({4 * rank, 0}, {4, 10}, row);
    std::vector<float> got(40), copied(40);
    deflated.get_all({4 * rank, 0}, {4, 10}, got);
    whole.get_all({4 * rank, 0}, {4, 10}, copied);
    if (got != row || copied != row) /* eight bits are enough for these numbers */
        std::printf("%d: other values of netCDF-4\\n", rank);
    if (deflated.chunks() != pnetcdf::indices{2, 10} || !whole.chunks().empty())
        std::printf("other chunks\\n");
}

static void run(const char *path, int rank, int nprocs)
{
    auto made = pnetcdf::file::create(MPI_COMM_WORLD, path);
    int time = made.def_dim("time", NC_UNLIMITED), x = made.def_dim("x", 4 * nprocs);
    auto v = made.def_var<unsigned long>("count", {time, x});
    auto text = made.def_var<char>("text", {x});
    auto narrow = made.def_var<signed char>("narrow", {x});
    made.put_att("title", "from C++");
    made.put_att("version", 3);
    v.put_att("range", std::vector<double>{-1.5, 2.5});
    made.enddef();
    std::array<unsigned long, 4> four = {{1, 2, 3, 18446744073709551615UL}};
    v.put_all({1, 4 * rank}, {1, 4}, four);
    text.put_all({4 * rank}, {4}, std::string("abcd"));
    const float one[] = {7};
    made.begin_indep_data();
    narrow.put({4 * rank}, {1}, one);
    float same[1] = {0};
    narrow.get({4 * rank}, {1}, same);
    if (same[0] != 7)
        std::printf("another value of independent get\\n");
    made.end_indep_data();

    int last = rank == nprocs - 1;
    try { /* one rank has too few values, or no index: the others do not block */
        v.put_all({0, 4 * rank}, {1, last ? 4 : 3}, std::vector<long long>(3));
        if (last)
            std::printf("too few values\\n");
    } catch (const pnetcdf::error &e) {
        if (!last || e.code() != NC_EIOMISMATCH)
            std::printf("%d: %s\\n", rank, e.what());
    }
    try {
        if (last)
            v.put_all({0}, {1}, std::vector<int>(1));
        else
            v.put_all({0, 0}, {0, 0}, std::vector<int>());
        if (last)
            std::printf("a short index\\n");
    } catch (const pnetcdf::error &e) {
        if (!last || e.code() != NC_EINVALCOORDS)
            std::printf("%d: %s\\n", rank, e.what());
    }
    const int digits[] = {9, 8, 7, 6};
    v.put_all({0, 4 * rank}, {1, 2}, pnetcdf::span<const int>(digits + 1, 2));
    expect("a range", NC_ERANGE, "1000 at x = ", [&] { narrow.put_all({0}, {1}, std::vector<int>{1000}); });
    expect("a name", NC_ENOTVAR, "did you mean \\"narrow\\"?", [&] { made.var("narow"); });
    pnetcdf::file moved = std::move(made);
    moved.close();
    expect("closed", NC_EBADID, "-1", [&] { moved.sync(); });

    auto file = pnetcdf::file::open(MPI_COMM_WORLD, path);
    auto again = file.var("count");
    std::vector<double> range = again.get_att<double>("range");
    unsigned long got[4] = {0};
    again.get_all({1, 4 * rank}, {1, 4}, got);
    int first[2] = {0};
    again.get_all({0, 4 * rank}, {1, 2}, pnetcdf::span<int>(first, 2));
    std::string letters(4, ' ');
    file.var("text").get_all({4 * rank}, {4}, letters);
    if (range != std::vector<double>{-1.5, 2.5} || file.get_att_text("title") != "from C++" ||
        file.get_att<long long>("version") != std::vector<long long>{3} || file.dim_length("time") != 2 ||
        again.shape() != pnetcdf::indices{2, 4 * nprocs} || got[3] != four[3] || got[0] != 1 || first[0] != 8 ||
        first[1] != 7 || letters != "abcd")
        std::printf("%d: other values\\n", rank);
    pnetcdf::file other = pnetcdf::file::create(MPI_COMM_WORLD, std::string(path) + "2");
    file = std::move(other); /* each closes one of both */
}

int main(int argc, char **argv)
{
    int rank, nprocs, files = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    run(argv[1], rank, nprocs);
    run_types(argv[1]);
    if (argc > 2)
        run_netcdf4(argv[2], rank, nprocs);
    ncmpi_inq_files_opened(&files, nullptr);
    if (files != 0)
        std::printf("%d files are open\\n", files);
    if (rank == 0)
        std::printf("end\\n");
    return MPI_Finalize();
}
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def build(source, name, standard, flags=(), libraries=()):
    """Compile as strictly as a user may, and link as one does. Returns the program, or None."""
    system = [flag.replace("-I", "-isystem") for flag in tap.mpi_flags()]
    made, binary = (os.path.abspath(tap.scratch(name + end)) for end in (".o", ""))
    status, _, why = run("g++", f"-std={standard}", *STRICT, "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", *system,
                         *INCLUDES, *flags, "-c", source, "-o", made)
    if not tap.ok(status == 0, f"{name} compiles as {standard} without a warning", why):
        return None
    status, _, why = run(*CC, *tap.make_variable("CFLAGS"), made, "-o", binary, *tap.library_flags(), "-lstdc++",
                         *libraries)
    return binary if tap.ok(status == 0, "and links", why) else None


def check_example(standard):
    binary = build(os.path.join(TOP, "examples/CXX/first.cpp"), "first", standard)
    for ranks in (1, 4) if binary else ():
        status, out, err = tap.run_mpi(ranks, binary, tap.scratch("first.nc"))
        wanted = f"mean temperature: {280 + (ranks - 1) / 2 + .45:.2f} K\n"
        tap.ok(status == 0 and out == wanted, f"and runs on {ranks} ranks", out + err)
    if binary and shutil.which("ncdump"):
        _, text, err = run("ncdump", tap.scratch("first.nc"))
        tap.ok('temperature:units = "K" ;' in text and "283, 283.1, 283.2" in text, "ncdump shows its values",
               text + err)
    if binary:
        status, _, err = tap.run_mpi(1, binary, tap.scratch("no_folder/first.nc"))
        tap.ok(status != 0 and "no_folder does not" in err, "an exception has the sentence of the failure", err)


def dumped(path, name):
    """The values of a variable as ncdump prints them."""
    _, text, err = run("ncdump", "-p", "9,17", "-v", name, path)
    values = re.search(rf"^ {name} =\s([^;]*);", text, re.M)
    if not tap.ok(values, f"ncdump shows {name}", text[-2000:] + err):
        return []
    return [float("nan" if word.strip() == "_" else word) for word in values.group(1).split(",")]


def check_compressed(standard):
    """The example of a compressed file: its values are 10 + step + 0.1 y + 0.001 x, rounded to three digits."""
    binary = build(os.path.join(TOP, "examples/CXX/compressed.cpp"), "compressed", standard)
    if not binary or not tap.has_hdf5():
        return
    path = tap.scratch("compressed.nc")
    status, out, err = tap.run_mpi(4, binary, path)
    tap.ok(status == 0 and out == "deflate level 1, chunks of 1 x 30 x 120\n", "and runs on 4 ranks", out + err)
    if shutil.which("ncdump"):
        found = dumped(path, "wind")
        wanted = [10 + step + .1 * y + .001 * x for step in range(3) for y in range(4 * 30) for x in range(120)]
        tap.ok(len(found) == len(wanted) and all(abs(a - b) <= 5e-3 * b for a, b in zip(found, wanted)),
               "ncdump shows three digits of the formula", f"{len(found)} values: {found[:9]} .. {found[-9:]}")
        text = run("ncdump", "-s", "-h", path)[1]
        wanted = ["wind:_ChunkSizes = 1, 30, 120 ;", "wind:_DeflateLevel = 1 ;", 'wind:_Shuffle = "true" ;',
                  "wind:_FillValue = -1.f ;", "SignificantDigits = 3 ;"]
        tap.ok(all(word in text for word in wanted), "ncdump shows chunks, deflate, digits and the fill value", text)


def check_storage(path, ranks):
    """The values of the program, and what it has said of the storage of its variables, as ncdump prints them."""
    row = [i + .25 for i in range(40)]
    for name in ("deflated", "whole"):
        found = dumped(path, name)
        tap.ok(found == row * ranks, f"ncdump shows the values of {name}", found)
    text = run("ncdump", "-s", "-h", path)[1]
    wanted = ["deflated:_ChunkSizes = 2, 10 ;", "deflated:_DeflateLevel = 2 ;", 'deflated:_Shuffle = "true" ;',
              'deflated:_Fletcher32 = "true" ;', "SignificantBits = 8 ;", 'whole:_Storage = "contiguous" ;',
              'zstd:_Shuffle = "true" ;', 'zstd:_Filter = "32015,5" ;', 'plain:_Filter = "32015,1" ;']
    tap.ok(all(word in text for word in wanted) and "plain:_Shuffle" not in text, "ncdump shows the storage", text)


def main():
    if not shutil.which("g++"):
        tap.skip("pnetcdf.hpp", "g++ is not installed")
        tap.finish()
    for standard in ("c++11", "c++14", "c++17", "c++20"):
        check_example(standard)
    source = os.path.abspath(tap.scratch("values.cc"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    files = [tap.scratch("values.nc")] + ([tap.scratch("storage.nc")] if tap.has_hdf5() else [])
    check_compressed("c++11")
    for standard in ("c++20", "c++11"):
        binary = build(source, "values", standard, called.flags(), called.libraries())
        for ranks in (1, 4) if binary else ():
            status, out, err = tap.run_mpi(ranks, binary, *files)
            tap.ok(status == 0 and out == "end\n", f"values, attributes and exceptions on {ranks} ranks", out + err)
    if tap.has_hdf5() and shutil.which("ncdump"):
        check_storage(files[1], 4)
    if binary:
        called.check(os.path.abspath(tap.scratch("values.o")), os.path.join(TOP, "include", "pnetcdf.hpp"), 150)
    tap.finish()


main()
