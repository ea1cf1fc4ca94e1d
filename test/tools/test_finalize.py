"""Programs that call MPI_Finalize before ncmpi_close (test/tools/end_early): what is lost is reported on stderr, by
each rank that has a part of it; where nothing is lost, nothing is reported. The program ends as before."""
# needs: python
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

FILE = tap.scratch("early.nc")
LOGS = os.path.abspath(tap.scratch("early_logs"))
os.makedirs(LOGS, exist_ok=True)
OPEN = ": open in MPI_Finalize: "


def run(n, how, hints=""):
    """What the program prints about files: a list of (file, text), sorted."""
    os.environ["PNETCDF_HINTS"] = hints
    status, output, text = tap.run_mpi(n, "test/tools/end_early", how, FILE)
    found = sorted(re.findall(r"^PnetCDF warning: (.*)" + OPEN + "(.*)$", text, re.M))
    tap.ok(status == 0, f"{how}, {n} ranks: the program ends", (status, output, text))
    tap.ok(text.count("PnetCDF") == len(found), f"{how}, {n} ranks: each line is about a file", text)
    return found


def of_requests(rank, puts, gets):
    return f"{puts} nonblocking put and {gets} get requests pending on process {rank} are lost: call ncmpi_wait_all, " \
           "and ncmpi_close before MPI_Finalize"


def expect(n, how, wanted, hints=""):
    got = run(n, how, hints)
    tap.ok(got == sorted(wanted), f"{how}, {n} ranks: {len(wanted)} lines", f"{got}\nexpected {sorted(wanted)}")


def last_value():
    """The last value of a file with one record variable of ints, and its number of records."""
    with open(FILE, "rb") as file:
        content = file.read()
    return int.from_bytes(content[4:8], "big"), int.from_bytes(content[-4:], "big")


for ranks in (1, 2, 4):
    expect(ranks, "iput", [(name, of_requests(rank, number, 0)) for rank in range(ranks)
                           for name, number in ((FILE, 2), (FILE + ".second", 1))])
    expect(ranks, "last", [(FILE, of_requests(ranks - 1, 3, 0))])
    expect(ranks, "others", [(FILE, of_requests(rank, 1, 1)) for rank in range(ranks)])
    expect(ranks, "define", [(FILE, "it is in define mode, and the definitions since ncmpi_create are lost: call "
                              "ncmpi_enddef, and ncmpi_close before MPI_Finalize")])
    expect(ranks, "redef", [(FILE, "it is in define mode, and the definitions since ncmpi_redef are lost: call "
                             "ncmpi_enddef, and ncmpi_close before MPI_Finalize")])
    expect(ranks, "records", [(FILE, f"the number of records, {ranks + 4} on process {ranks - 1}, may not be in the "
                               "file, and later records are lost: call ncmpi_close before MPI_Finalize")])
    expect(ranks, "read", [])
    expect(ranks, "data", [])
    expect(ranks, "library", [])
    tap.ok(last_value() == (ranks, 99 + ranks), f"{ranks} ranks: a library has closed the file in MPI_Finalize")
    os.remove(FILE)
    for hints in ("nc_defer_puts=enable", "nc_write_behind=enable", f"nc_burst_buf=enable;nc_burst_buf_dirname={LOGS}"):
        for how in ("put", "mode"):
            expect(ranks, how, [], hints)
            tap.ok(last_value() == (ranks, 99 + ranks), f"{ranks} ranks, {how}: what waits is written ({hints})")
            os.remove(FILE)
    tap.ok(not os.listdir(LOGS), f"{ranks} ranks: no log is left", os.listdir(LOGS))
    lines = run(ranks, "data", "nc_whole_files=enable")
    tap.ok(len(lines) == 1 and re.fullmatch(
        r'the new file keeps its temporary name, with "\.part-[0-9a-f]{8}" at the end: call ncmpi_close before '
        "MPI_Finalize", lines[0][1]), f"{ranks} ranks: the temporary name", lines)
tap.finish()
