"""The cases of bench_zarr.c by other writers of Zarr, one process with one thread, whole shards at a time: a line of
name, wall and CPU milliseconds for each.

    python3 peer_zarr.py tensorstore|zarrs [FOLDER]

zarrs: zarr-python with the codecs of the package zarrs.
"""
import resource
import shutil
import sys
import time

import numpy

TIMES, ROWS, COLUMNS, SHARD = 24, 1024, 1024, 12
CHUNK = (1, 512, 1024)
CODECS = {"blosc zstd 1": {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 1, "shuffle": "shuffle",
                                                              "typesize": 4, "blocksize": 0}},
          "gzip 1": {"name": "gzip", "configuration": {"level": 1}}}


def make_field():
    """That of cases.h: smooth, with noise in the low digits."""
    noise = numpy.random.default_rng(1).integers(0, 65536, (ROWS, COLUMNS)) / 65536
    return (280 + 20 * (numpy.arange(COLUMNS) / COLUMNS) + 1e-3 * noise).astype("f4")


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(name, work):
    before = time.perf_counter(), cpu()
    work()
    print(f"{name}\t{1e3 * (time.perf_counter() - before[0]):.3f}\t{1e3 * (cpu() - before[1]):.3f}", flush=True)


class Tensorstore:
    LIMITS = {"data_copy_concurrency": {"limit": 1}, "file_io_concurrency": {"limit": 1}}

    def __init__(self, path, codec):
        inner = [{"name": "bytes", "configuration": {"endian": "little"}}, codec]
        self.spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}, "context": self.LIMITS,
                     "metadata": {"shape": [TIMES, ROWS, COLUMNS], "data_type": "float32",
                                  "chunk_grid": {"name": "regular",
                                                 "configuration": {"chunk_shape": [SHARD, ROWS, COLUMNS]}},
                                  "codecs": [{"name": "sharding_indexed",
                                              "configuration": {"chunk_shape": list(CHUNK), "codecs": inner}}]}}
        tensorstore.open(self.spec, create=True, delete_existing=True).result()

    def open(self):
        return tensorstore.open({name: self.spec[name] for name in ("driver", "kvstore", "context")}).result()

    def put(self, values):
        store = self.open()
        for t in range(0, TIMES, SHARD):
            store[t:t + SHARD].write(values).result()

    def get(self):
        store = self.open()
        for t in range(0, TIMES, SHARD):
            store[t:t + SHARD].read().result()


class Zarrs:
    def __init__(self, path, codec):
        settings = codec["configuration"]
        kind = zarr.codecs.BloscCodec if codec["name"] == "blosc" else zarr.codecs.GzipCodec
        zarr.create_array(path, shape=(TIMES, ROWS, COLUMNS), dtype="f4", chunks=CHUNK, shards=(SHARD, ROWS, COLUMNS),
                          compressors=kind(**settings), filters=None, overwrite=True)
        self.path = path

    def put(self, values):
        array = zarr.open_array(self.path, mode="r+")
        for t in range(0, TIMES, SHARD):
            array[t:t + SHARD] = values

    def get(self):
        array = zarr.open_array(self.path, mode="r")
        for t in range(0, TIMES, SHARD):
            array[t:t + SHARD]


def main(kind, folder="/dev/shm"):
    values = numpy.broadcast_to(make_field(), (SHARD, ROWS, COLUMNS)).copy()
    path = f"{folder}/peer_{kind}.zarr"
    for name, codec in CODECS.items():
        for blocks in ("aligned", "shared"):  # one process has both
            shutil.rmtree(path, ignore_errors=True)
            store = (Tensorstore if kind == "tensorstore" else Zarrs)(path, codec)
            measure(f"put, {name}, {blocks}", lambda: store.put(values))
            measure(f"get, {name}, {blocks}", store.get)
    shutil.rmtree(path)


if len(sys.argv) < 2 or sys.argv[1] not in ("tensorstore", "zarrs"):
    sys.exit(__doc__)
if sys.argv[1] == "tensorstore":
    import tensorstore
else:
    import zarr
    import zarrs  # pylint: disable=unused-import

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "threading.max_workers": 1,
                     "codec_pipeline.chunk_concurrent_maximum": 1, "codec_pipeline.chunk_concurrent_minimum": 1})
main(*sys.argv[1:])
