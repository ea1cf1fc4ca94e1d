"""Stripes of new files on Lustre: a preload answers as Lustre does, by its manual pages (test/tools/lustre.c). What the
file system has then, what ncmpi_inq_striping returns, and what the display says."""
# needs: python
import os
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

BUILD = os.path.abspath(os.environ.get("PNC_BUILD", os.getcwd()))
YIELD = os.environ.get("PNC_TEST_YIELD", "no")
ROOT = os.path.realpath(tap.scratch("lustre"))
MIB = 1 << 20
RANKS = 8
GIVEN = "striping_factor=3;striping_unit=131072"


def write_layout(folder, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ".layout"), "w", encoding="ascii") as file:
        file.write(text)


def create(name, *arguments, nodes=1, ranks=RANKS, servers=100, api=True, hints="", **variables):
    """Of a file of the file system: its layout (count, size, pattern), what the program prints, the line of the
    display."""
    path = os.path.join(ROOT, name)
    preload = os.path.join(BUILD, "test/tools", "lustre.so" if api else "lustre_without_api.so")
    libraries = ":".join([preload] if YIELD == "no" else [YIELD, preload])
    words = [f"LD_PRELOAD={libraries}", f"LUSTRE={ROOT}", f"LUSTRE_SERVERS={servers}", "PNETCDF_HINTS_DISPLAY=1"]
    words += [f"PNETCDF_HINTS={hints}"] if hints else []
    words += [f"{key}={value}" for key, value in variables.items()]
    command = [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n", str(ranks), "env", *words,
               os.path.join(BUILD, "test/tools/create_files"), path, *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env={**os.environ, "MPIR_CVAR_NUM_CLIQUES": str(nodes)})
    lines = [line for line in done.stderr.splitlines() if line.startswith("PnetCDF: stripes of ")]
    shown = lines[0].partition(f"{name}: ")[2] if len(lines) == 1 else "\n".join(lines)
    layout = None
    if os.path.exists(path + ".layout"):
        with open(path + ".layout", encoding="ascii") as file:
            layout = tuple(map(int, file.read().split()))
    if done.returncode != 0:
        shown = f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    return layout, done.stdout.strip(), shown


def check(what, got, layout, stripes, shown):
    """layout: with which the file was created; None: with that of its folder."""
    tap.ok(got == (layout, stripes, shown), what, f"got {got}\nnot {(layout, stripes, shown)}")


def check_one_node():
    """A folder without a layout, on a file system that gives a stripe of 4 MiB; a folder with stripes; files of
    ranks, on a file system that gives several."""
    check("one node: the stripe of the file system", create("n1.nc"), None, f"1 of {4 * MIB}",
          f"1 of {4 * MIB} bytes: those of the folder, as the ranks are on one node")
    write_layout(os.path.join(ROOT, "four"), f"4 {2 * MIB} 1")
    check("one node, a folder with 4 stripes", create("four/1.nc"), None, f"4 of {2 * MIB}",
          f"4 of {2 * MIB} bytes: the folder has stripes of its own, which stay")
    check("one node, striping_factor, a folder with 4", create("four/f.nc", hints=GIVEN), (3, 131072, 1),
          "3 of 131072", "3 of 131072 bytes: as the hint striping_factor says")
    write_layout(ROOT, f"4 {MIB} 1")
    layout, stripes, shown = create("own.nc", "own")
    tap.ok(layout is None and stripes == f"1 of {MIB}" and
           shown.count(f"1 of {MIB} bytes: one, as ranks create files of their own") == RANKS, "files of ranks",
           (stripes, shown))
    with open(os.path.join(ROOT, "own.nc.7.layout"), encoding="ascii") as file:
        tap.ok(file.read() == f"1 {MIB} 1\n", "the file of the last rank")
    os.remove(os.path.join(ROOT, ".layout"))


def check_nodes():
    """The same folder."""
    for nodes in (2, 8):
        check(f"{nodes} nodes", create(f"n{nodes}.nc", nodes=nodes), (nodes, MIB, 1), f"{nodes} of {MIB}",
              f"{nodes} of {MIB} bytes: as many as nodes")
    check("NC_NOCLOBBER", create("new.nc", "keep", nodes=2), (2, MIB, 1), f"2 of {MIB}",
          f"2 of {MIB} bytes: as many as nodes")
    check("CDF-5, by a hint", create("c5.nc", nodes=2, hints="nc_format=cdf5"), (2, MIB, 1),
          f"2 of {MIB}", f"2 of {MIB} bytes: as many as nodes")
    if tap.has_hdf5():
        check("netCDF-4", create("n4.nc", nodes=2, hints="nc_format=netcdf4"), (2, MIB, 1), f"2 of {MIB}",
              f"2 of {MIB} bytes: as many as nodes")


def check_many():
    """64 ranks, each of them a node."""
    check("64 nodes", create("n64.nc", nodes=64, ranks=64), (64, MIB, 1), f"64 of {MIB}",
          f"64 of {MIB} bytes: as many as nodes")
    text = "the same number on each server, which are fewer than the nodes"
    check("64 nodes, 10 servers", create("m64.nc", nodes=64, ranks=64, servers=10), (40, MIB, 513), f"40 of {MIB}",
          f"40 of {MIB} bytes: {text}, 4 on each")


def check_folders():
    write_layout(os.path.join(ROOT, "one"), f"1 {8 * MIB} 1")
    write_layout(os.path.join(ROOT, "steps"), "0 0 0")
    for nodes in (2, 8):
        check(f"a folder with 4 stripes, {nodes} nodes", create(f"four/{nodes}.nc", nodes=nodes), None,
              f"4 of {2 * MIB}", f"4 of {2 * MIB} bytes: the folder has stripes of its own, which stay")
    check("a folder with 1 stripe", create("one/a.nc", nodes=8), (8, 8 * MIB, 1), f"8 of {8 * MIB}",
          f"8 of {8 * MIB} bytes: as many as nodes")
    text = "the composite layout of the folder or of the file system stays"
    layout, _, shown = create("steps/a.nc", nodes=8)
    tap.ok(layout is None and shown.endswith(text), "a composite layout", shown)
    write_layout(ROOT, f"4 {MIB} 1")
    os.makedirs(os.path.join(ROOT, "silent"))
    check("the file system gives fewer, the folder says nothing", create("silent/a.nc", nodes=8), (8, MIB, 1),
          f"8 of {MIB}", f"8 of {MIB} bytes: as many as nodes")
    check("the file system gives more", create("least.nc", nodes=2), (4, MIB, 1), f"4 of {MIB}",
          f"4 of {MIB} bytes: as many as the file system gives to a new file")
    write_layout(ROOT, "0 0 0")
    layout, _, shown = create("root.nc", nodes=8)
    tap.ok(layout is None and shown.endswith(text), "a composite layout of the file system", shown)
    os.remove(os.path.join(ROOT, ".layout"))


def check_hints():
    check("file_striping=inherit", create("i.nc", nodes=8, hints="file_striping=inherit"), None, f"1 of {4 * MIB}",
          f"1 of {4 * MIB} bytes: those of the folder, as file_striping=inherit says")
    check("striping_factor", create("f.nc", nodes=8, hints=GIVEN), (3, 131072, 1), "3 of 131072",
          "3 of 131072 bytes: as the hint striping_factor says")
    check("more than the servers have", create("s.nc", nodes=2, servers=2, hints="striping_factor=9"),
          (2, 4 * MIB, 1), f"2 of {4 * MIB}",
          f"2 of {4 * MIB} bytes: the file system gives no others; chosen: 9, as the hint striping_factor says")
    check("nc_expected_size", create("e.nc", nodes=8, hints=f"nc_expected_size={40 * MIB}"), (3, MIB, 1),
          f"3 of {MIB}", f"3 of {MIB} bytes: as many as nc_expected_size needs")
    text = "left to the MPI library, as its own hints or variables may name stripes"
    check("a variable of an MPI library", create("v.nc", nodes=8, MPICH_MPIIO_HINTS="*:striping_factor=5"), None,
          f"1 of {4 * MIB}", f"1 of {4 * MIB} bytes: {text}")
    check("a hint for the first server", create("d.nc", nodes=8, hints="romio_lustre_start_iodevice=2"), None,
          f"1 of {4 * MIB}", f"1 of {4 * MIB} bytes: {text}")


def check_files():
    """A file that exists keeps its stripes, unless the new one has a name of its own until it is closed."""
    create("old.nc", nodes=2)
    check("a file that exists", create("old.nc", nodes=8), (2, MIB, 1), f"2 of {MIB}",
          f"2 of {MIB} bytes: the file existed and keeps its stripes")
    _, stripes, shown = create("old.nc", nodes=8, hints="nc_whole_files=enable")
    tap.ok(stripes == f"8 of {MIB}" and shown.endswith("as many as nodes"), "nc_whole_files", (stripes, shown))
    os.symlink(os.path.join(ROOT, "target.nc"), os.path.join(ROOT, "link.nc"))
    layout, stripes, shown = create("link.nc", nodes=8)
    tap.ok(layout is None and stripes == f"1 of {4 * MIB}" and "liblustreapi failed: File exists" in shown and
           os.path.exists(os.path.join(ROOT, "target.nc")), "a symbolic link to nothing", (stripes, shown))
    layout, _, shown = create("failed.nc", nodes=2, hints="cb_config_list=nowhere:1") # MPICH cannot open a file then
    tap.ok(layout == (2, MIB, 1) and shown.startswith("exit status") and
           not os.path.exists(os.path.join(ROOT, "failed.nc")), "a file that MPI cannot open does not stay", shown)


def check_obstacles():
    """No obstacle prevents the file."""
    ignored = "the MPI library ignores the hints, and"
    chosen = f"chosen: 8 of {MIB} bytes, as many as nodes"
    check("no liblustreapi", create("x.nc", nodes=8, api=False), None, f"1 of {4 * MIB}",
          f"1 of {4 * MIB} bytes: {ignored} there is no liblustreapi, or an old one; {chosen}")
    check("no liblustreapi, NC_NOCLOBBER", create("w.nc", "keep", nodes=8, api=False), None, f"1 of {4 * MIB}",
          f"1 of {4 * MIB} bytes: {ignored} there is no liblustreapi, or an old one; {chosen}")
    text = f"1 of {4 * MIB} bytes: liblustreapi failed: No space left on device; {chosen}"
    for what, words, hints in (("", (), ""), (", NC_NOCLOBBER", ("keep",), ""),
                               (", nc_whole_files", (), "nc_whole_files=enable")):
        layout, stripes, shown = create(f"y{len(what)}.nc", *words, nodes=8, LUSTRE_FULL="1", hints=hints)
        tap.ok(layout is None and stripes == f"1 of {4 * MIB}" and shown.endswith(text), "a full file system" + what,
               (stripes, shown))
    text = "the same number on each server, which are fewer than the nodes"
    check("overstriping", create("o.nc", nodes=8, servers=4), (8, MIB, 513), f"8 of {MIB}",
          f"8 of {MIB} bytes: {text}, 2 on each")
    check("a Lustre without overstriping", create("z.nc", nodes=8, servers=4, LUSTRE_OLD="1"), (4, MIB, 1),
          f"4 of {MIB}", f"4 of {MIB} bytes: {text}")


def check_elsewhere():
    """Without the preload's file system nothing is chosen, and a hint has no effect."""
    done = tap.run_mpi(2, "test/tools/create_files", tap.scratch("local.nc"),
                       env={**os.environ, "PNETCDF_HINTS_DISPLAY": "1", "MPIR_CVAR_NUM_CLIQUES": "2",
                            "PNETCDF_HINTS": "file_striping=inherit"})
    tap.ok(done[0] == 0 and "stripes of" not in done[2] and "ignored: the file is not on Lustre" in done[2],
           "another file system", done)


def is_open_mpi():
    question = [*shlex.split(os.environ.get("CC", "mpicc")), "--showme:compile"]
    return subprocess.run(question, capture_output=True, check=False).returncode == 0


def main():
    if tap.instruments() or os.environ.get("PNC_TEST_WRAPPER"):
        tap.skip("stripes of new files", "a preload goes in front of the sanitizers")
        tap.finish()
    shutil.rmtree(ROOT, ignore_errors=True)
    os.makedirs(ROOT)
    check_one_node()
    check_elsewhere()
    if is_open_mpi():
        tap.skip("several nodes", "Open MPI cannot simulate nodes")
        tap.finish()
    check_nodes()
    check_folders()
    check_hints()
    check_files()
    check_obstacles()
    if tap.is_quick():
        tap.skip("64 nodes", "quick")
    else:
        check_many()
    tap.finish()


main()
