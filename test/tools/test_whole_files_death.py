"""A rank of test/mpi/test_whole_files is killed before ncmpi_close: with nc_whole_files the old file is as it was, to
the byte, and where there was none, there is none; the new one has another name."""
# needs: python
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

os.chdir(os.environ.get("PNC_TEST_TMP", "."))
for n in (1, 2, 4):
    for old in (b"", b"CDF\x01" + b"what was there before" * 100):
        os.mkdir("folder")
        if old:
            with open("folder/a.nc", "wb") as file:
                file.write(old)
        status, _, text = tap.run_mpi(n, "test/mpi/test_whole_files", "folder/a.nc")
        parts = [name for name in os.listdir("folder") if name.startswith("a.nc.part-")]
        tap.ok(status != 0 and len(parts) == 1 and sorted(os.listdir("folder")) == ["a.nc"] * bool(old) + parts,
               f"{n} ranks, {'an' if old else 'no'} old file: the new one has another name",
               (status, os.listdir("folder"), text))
        if old:
            with open("folder/a.nc", "rb") as file:
                tap.ok(file.read() == old, f"{n} ranks: the old file is as it was")
        for name in os.listdir("folder"):
            os.remove(os.path.join("folder", name))
        os.rmdir("folder")
tap.finish()
