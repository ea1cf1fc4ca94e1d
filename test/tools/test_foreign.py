"""Files that people take for netCDF files, made by the programs that make them: each tool names what they are. Files
whose line ends a transfer has converted, and URLs."""
# needs: python
import bz2
import gzip
import io
import lzma
import os
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cdf
import tap
import tool

TOOLS = (("ncmpidump", ["-h", "FILE"]), ("ncvalidator", ["FILE"]), ("ncoffsets", ["FILE"]),
         ("ncmpicopy", ["FILE", "none.nc"]), ("ncmpidiff", ["FILE", "good.nc"]), ("cdfdiff", ["FILE", "good.nc"]))
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def put(name, content):
    with open(name, "wb") as file:
        file.write(content)


def get(name):
    with open(name, "rb") as file:
        return file.read()


def names(name, words, tools=TOOLS):
    """Each tool fails, and says so on one of its streams."""
    for program, arguments in tools:
        done = tool.run(program, *[name if word == "FILE" else word for word in arguments])
        said = (done.stdout + done.stderr).decode(errors="replace")
        tap.ok(done.returncode not in (0, -11, -6) and name in said and words in said and not os.path.exists("none.nc"),
               f"{program}: {name}", f"exit status {done.returncode}\n{said}")


def make_tar(content):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("good.nc")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def make_zip(content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("good.nc", content)
    return out.getvalue()


def test_foreign(good):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + 64 * b"0" + b"\nsize 12345\n"
    for name, content, words in (
            ("gzip.nc", gzip.compress(good), "compressed by gzip"), ("bzip2.nc", bz2.compress(good), "by bzip2"),
            ("xz.nc", lzma.compress(good), "by xz"), ("zstd.nc", b"\x28\xb5\x2f\xfd" + bytes(20), "by zstd"),
            ("zip.nc", make_zip(good), "a ZIP archive"), ("tar.nc", make_tar(good), "an archive of tar"),
            ("page.nc", b"\n  <!DOCTYPE html>\n<html><body>404</body></html>\n", "a page in HTML"),
            ("page2.nc", b"\xef\xbb\xbf<HTML>", "a page in HTML"),
            ("s3.nc", b'<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>', "a page in HTML or XML"),
            ("lfs.nc", pointer, "a pointer of Git LFS: `git lfs pull' gets the file"),
            ("annex.nc", b"/annex/objects/SHA256E-s12--00.nc\n", "a pointer of git-annex"),
            ("grib.nc", b"GRIB\0\0\x12\2", "it is GRIB"), ("text.cdl", b"netcdf good {\n}\n", "it is CDL"),
            ("text.nc", b"no such thing", "it starts with bytes 6e 6f 20 73")):
        put(name, content)
        names(name, words)
    put("short.nc", b"<h")
    names("short.nc", "")


def test_conversions(good):
    """By text mode in both directions, as in FTP and Git, and through UTF-8."""
    body = bytes(300) + b"\n" + bytes(9)
    for name, content in (("dos.nc4", (SIGNATURE + body).replace(b"\n", b"\r\n")),
                          ("unix.nc4", (SIGNATURE + body).replace(b"\r\n", b"\n")),
                          ("mac.nc4", (SIGNATURE + body).replace(b"\r", b"\n")),
                          ("ascii.nc4", bytes(c & 127 for c in SIGNATURE + body)),
                          ("latin.nc4", (SIGNATURE + body).decode("latin-1").encode()),
                          ("utf8.nc4", (SIGNATURE + body).decode("utf-8", "replace").encode())):
        put(name, content)
        names(name, "it is an HDF5 or netCDF-4 file")
    for version in (1, 2, 5):
        for numrecs in (0, 3, 10, 13, 266, 3338):  # 10: a newline, 13: CR, 3338: both
            cdf.Writer(version, [("t", None), ("x", 2)], [], [("v", "byte", [0], [], [1] * numrecs)], numrecs).write(
                "right.nc")
            put("dos.nc", get("right.nc").replace(b"\n", b"\r\n"))
            names("dos.nc", "the line ends in this file were converted", TOOLS[:2])
            done = tool.run("ncmpidump", "right.nc")
            tap.ok(done.returncode == 0 and not done.stderr, f"CDF-{version}, {numrecs} records: right", done)
    cdf.Writer(1, [], [("a", "char", b"\r\n\r\n")], []).write("none.dims")
    done = tool.run("ncmpidump", "none.dims")
    tap.ok(done.returncode == 0, "no dimensions, and line ends in an attribute", done)
    put("good-dos.nc", good.replace(b"\n", b"\r\n"))
    names("good-dos.nc", "the line ends in this file were converted")


def test_urls():
    for path in ("https://example.org/data/run.nc", "s3://bucket/run.nc", "file:///tmp/run.nc"):
        names(path, "this is a URL, and only files are opened", TOOLS)
    for path in ("folder://name.nc".replace("//", "/"), "a:b.nc", "://x.nc", "a b://x.nc"):
        done = tool.run("ncmpidump", path)
        tap.ok(done.returncode == 1 and b"URL" not in done.stderr, f"{path} is no URL", done)
    done = tool.run("ncmpicopy", "good.nc", "https://example.org/out.nc")
    tap.ok(done.returncode == 1 and b"https://example.org/out.nc" in done.stderr, "a URL as output is refused", done)
    os.makedirs("http:/host")
    put("http:/host/run.nc", get("good.nc"))
    done = tool.run("ncmpidump", "http://host/run.nc")
    tap.ok(done.returncode == 0, "a folder that is called http: is a folder", done)


def main():
    os.chdir(os.environ.get("PNC_TEST_TMP", "."))
    cdf.Writer(1, [("x", 3)], [], [("v", "int", [0], [], [1, 2, 3])]).write("good.nc")
    good = get("good.nc")
    test_foreign(good)
    test_conversions(good)
    test_urls()
    tap.finish()


main()
