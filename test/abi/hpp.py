"""pnetcdf.hpp: its example compiles without a warning from C++11 to C++20 and writes the file that ncdump shows;
values, attributes and exceptions in a program of its own, whose results are known."""
# needs: python
import os
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
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


def build(source, name, standard):
    """Compile as strictly as a user may, and link as one does. Returns the program, or None."""
    system = [flag.replace("-I", "-isystem") for flag in tap.mpi_flags()]
    made, binary = (os.path.abspath(tap.scratch(name + end)) for end in (".o", ""))
    status, _, why = run("g++", f"-std={standard}", *STRICT, "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", *system,
                         *INCLUDES, "-c", source, "-o", made)
    if not tap.ok(status == 0, f"{name} compiles as {standard} without a warning", why):
        return None
    status, _, why = run(*CC, *tap.make_variable("CFLAGS"), made, "-o", binary, *tap.library_flags(), "-lstdc++")
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


def main():
    if not shutil.which("g++"):
        tap.skip("pnetcdf.hpp", "g++ is not installed")
        tap.finish()
    for standard in ("c++11", "c++14", "c++17", "c++20"):
        check_example(standard)
    source = os.path.abspath(tap.scratch("values.cc"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    for standard in ("c++11", "c++20"):
        binary = build(source, "values", standard)
        for ranks in (1, 4) if binary else ():
            status, out, err = tap.run_mpi(ranks, binary, tap.scratch("values.nc"))
            tap.ok(status == 0 and out == "end\n", f"values, attributes and exceptions on {ranks} ranks", out + err)
    tap.finish()


main()
