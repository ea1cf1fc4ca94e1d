"""Open files. One of a single process is opened again when it is needed again; one that ranks share is not."""
import collections
import contextlib
import warnings

import xarray
from mpi4py import MPI

from .library import LOCK, File


def make_info(hints):
    """An MPI_Info of a dict of hints."""
    if not hints:
        return MPI.INFO_NULL
    info = MPI.Info.Create()
    for name, value in hints.items():
        info.Set(name, str(value))
    return info


@contextlib.contextmanager
def info_of(hints):
    info = make_info(hints)
    try:
        yield info
    finally:
        if info != MPI.INFO_NULL:
            info.Free()


def hints_of(info):
    """A dict of hints, which can be sent to other processes, of a dict or an MPI_Info."""
    if info is None or info == MPI.INFO_NULL:
        return {}
    return dict(info.items())


def _open(path, comm, hints):
    with info_of(hints) as info:
        return File("open", path, comm, 0, info)


class PrivateFile:
    """A file that this process reads alone. Few are open at the same time (xarray's option file_cache_maxsize): one
    that was closed is opened again. It can be sent to another process (pickle), which opens it for itself."""

    _open_files = collections.OrderedDict()  # by identity; those used last are at the end

    def __init__(self, path, hints):
        self.path, self.hints = path, hints

    def __getstate__(self):
        return {"path": self.path, "hints": self.hints}

    @contextlib.contextmanager
    def use(self):
        """The open File, which no other thread uses or closes meanwhile."""
        with LOCK:
            files = self._open_files
            file = files.pop(id(self), None)
            if file is None:
                most = xarray.get_options()["file_cache_maxsize"]
                while len(files) >= most:
                    files.popitem(last=False)[1].close()
                file = _open(self.path, MPI.COMM_SELF, self.hints)
                file.call("begin_indep_data")
            files[id(self)] = file
            yield file

    is_collective = False

    def close(self):
        # Without the lock if there is nothing to close: a thread that may not call MPI may drop an object.
        if id(self) not in self._open_files or MPI.Is_finalized():
            return
        with LOCK:
            file = self._open_files.pop(id(self), None)
            if file is not None:
                file.close()

    def __del__(self):
        self.close()


class SharedFile:
    """A file that the ranks of a communicator have opened together. Closing is collective: so it is not left to the
    garbage collector, which runs at different times on the ranks."""

    def __init__(self, path, comm, hints, collective):
        self.path, self.is_collective, self.file = path, collective, None
        with LOCK:
            self.file = _open(path, comm, hints)
            if not collective:
                self.file.call("begin_indep_data")

    def __getstate__(self):
        raise TypeError(f"{self.path} was opened by several ranks: it cannot be sent to another process; "
                        "open it without comm= for that")

    @contextlib.contextmanager
    def use(self):
        with LOCK:
            if self.file is None:
                raise ValueError(f"{self.path} was closed")
            yield self.file

    def close(self):
        with LOCK:
            if self.file is not None and not MPI.Is_finalized():
                file, self.file = self.file, None
                file.close()

    def __del__(self):
        if self.file is not None and not MPI.Is_finalized():
            warnings.warn(f"{self.path} was opened with comm= and not closed by all ranks: it stays open",
                          ResourceWarning, stacklevel=2)
