"""Writing a dataset with several ranks."""
import os
import re

import numpy
import xarray
from mpi4py import MPI
from xarray import conventions
from xarray.coding.strings import CharacterArrayCoder, EncodedStringCoder

from . import library
from .files import hints_of, info_of
from .library import LOCK, File
from .parts import part, parted_dimension

# The flags that create a format, whether it is netCDF-4, and whether it lacks 64-bit and unsigned integers.
FORMATS = {
    "NETCDF4": (0x1000, True, False),
    "NETCDF4_CLASSIC": (0x1100, True, True),
    "NETCDF3_64BIT_DATA": (0x20, False, False),
    "NETCDF3_64BIT": (0x200, False, True),
    "NETCDF3_64BIT_OFFSET": (0x200, False, True),
    "NETCDF3_CLASSIC": (0, False, True),
}
STORAGE = {"chunksizes", "contiguous", "zlib", "zstd", "compression", "complevel", "shuffle", "fletcher32",
           "quantize_mode", "significant_digits", "endian"}
# What reading leaves in an encoding, and does not concern a new file.
OF_SOURCE = {"source", "original_shape", "preferred_chunks", "chunks", "dtype", "unlimited_dims", "coordinates",
             "grid_mapping", "char_dim_name", "szip", "bzip2", "blosc", "least_significant_digit"}
# What decides how values are stored in a variable that exists.
OF_VALUES = {"dtype", "_FillValue", "missing_value", "scale_factor", "add_offset", "units", "calendar", "_Unsigned",
             "char_dim_name", "chunksizes"}
PORTION_BYTES = 64 << 20  # of a rank's part in memory at a time
UNITS = ("days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds")


def agree(comm, error):
    """If a rank has an error, all ranks raise an exception."""
    texts = comm.allgather(None if error is None else f"{type(error).__name__}: {error}")
    if error is not None:
        raise error
    for rank, text in enumerate(texts):
        if text is not None:
            raise RuntimeError(f"rank {rank}: {text}")


def together(comm, function, *arguments):
    """The result of a function that may fail on some ranks and makes no collective calls."""
    result = error = None
    try:
        result = function(*arguments)
    except Exception as problem:
        error = problem
    agree(comm, error)
    return result


def is_time(variable):
    return variable.dtype.kind in "mM" or variable.dtype.kind == "O" and \
        "cftime" in type(next(iter(variable.values.ravel()), None)).__module__


def chosen_units(variable):
    """The units and the calendar that xarray chooses for these times."""
    attributes = conventions.encode_cf_variable(variable.copy(deep=False)).attrs
    return attributes["units"], attributes.get("calendar")


def common_units(choices):
    """Units in which the times of all ranks are integers: the finest of those that ranks would choose for their parts,
    and of those in which the first time of each rank is an integer, since the first one of all."""
    units, calendar = chosen_units(xarray.Variable.concat([first for _, first in choices], "part"))
    steps = [units_of_part.split(" since ")[0] for (units_of_part, _), _ in choices]
    step, *since = re.split("( since )", units, maxsplit=1)
    finest = max([step, *steps], key=lambda name: UNITS.index(name) if name in UNITS else 0)
    return "".join([finest, *since]), calendar


def agree_times(comm, variables, along):
    """Parts of a time variable get the same units."""
    def choose():
        chosen = {}
        for name, variable in variables.items():
            # For arrays of dask xarray chooses units that do not depend on the values.
            if along in variable.dims and variable.size and "units" not in variable.encoding and \
                    variable.chunks is None and is_time(variable):
                first = xarray.Variable(("part",), variable.values.ravel()[:1])
                chosen[name] = chosen_units(variable), first
        return chosen

    def adopt():
        for name in sorted(set().union(*choices)):
            variable = variables[name]
            units, calendar = common_units([choice[name] for choice in choices if name in choice])
            variable.encoding["units"] = units
            if calendar is not None:
                variable.encoding["calendar"] = calendar

    choices = comm.allgather(together(comm, choose))
    together(comm, adopt)


def with_texts(variable):
    """A copy, in which texts are arrays of numpy's text type, in memory."""
    copy = variable.copy(deep=False)
    if variable.dtype.kind in "OT":
        values = variable.values
        if all(isinstance(value, str) for value in values.ravel()):
            copy = xarray.Variable(variable.dims, values.astype("U"), variable.attrs, variable.encoding)
    return copy


def encode(dataset, encoding, comm, along):
    """Variables as they are stored, by xarray's rules, and attributes of the file."""
    def begin():
        variables, attributes = conventions.encode_dataset_coordinates(dataset)
        variables = {name: with_texts(variable) for name, variable in variables.items()}
        for name, chosen in encoding.items():
            if name not in variables:
                raise ValueError(f"encoding of {name!r}: the dataset has no such variable")
            variables[name].encoding = dict(chosen)
        return variables, attributes

    def finish():
        encoded, texts = conventions.cf_encoder(variables, attributes)
        for name, variable in encoded.items():
            variable = EncodedStringCoder(allows_unicode=False).encode(variable, name)
            encoded[name] = CharacterArrayCoder().encode(variable, name)
        return encoded, texts

    variables, attributes = together(comm, begin)
    if along is not None:
        agree_times(comm, variables, along)
    return together(comm, finish)


def stored_type(dtype, is_small, name):
    """The type of a variable in the file."""
    if dtype.kind == "S" and dtype.itemsize == 1:
        return dtype
    if dtype.kind == "b":
        return numpy.dtype("i1")
    if dtype == numpy.float16:
        return numpy.dtype("f4")
    if is_small and dtype.kind in "iu" and dtype.str[1:] not in ("i1", "i2", "i4"):
        return numpy.dtype("i4")
    if dtype.kind not in "iuf" or dtype.itemsize > 8:
        raise TypeError(f"variable {name!r} has type {dtype}, which netCDF files do not have")
    return dtype.newbyteorder("=")


class Output:
    """A variable of the new file, and what this rank writes of it."""

    def __init__(self, name, variable, is_small, along):
        self.name, self.dims, self.data = name, tuple(variable.dims), variable.data
        self.attributes, self.encoding = variable.attrs, variable.encoding
        self.is_small, self.along = is_small, along
        self.is_part = along in self.dims
        self.dtype = stored_type(variable.dtype, is_small, name)
        self.shape = tuple(variable.shape)  # of this rank, and in the end that of the file
        self.is_text = self.dtype.kind == "S"
        self.file_dtype = None  # of a variable that exists

    def describe(self):
        return self.name, self.dims, self.dtype.str, self.shape

    def adopt(self, described):
        """Make this the variable that the descriptions of all ranks have in common."""
        if any(other[1] != self.dims for other in described if not self.is_text):
            raise ValueError(f"the ranks have different dimensions of variable {self.name!r}")
        if not self.is_text:
            self.dtype = numpy.result_type(*(numpy.dtype(other[2]) for other in described))
        shape = list(self.shape)
        for i, dim in enumerate(self.dims):
            lengths = [other[3][i] for other in described]
            if dim == self.along:
                shape[i] = sum(lengths)
            elif self.is_text and i == len(self.dims) - 1:
                shape[i] = max(lengths)
                if dim == f"string{self.shape[i]}":  # a dimension of xarray's for the characters of texts
                    self.dims = (*self.dims[:-1], f"string{shape[i]}")
            elif len(set(lengths)) != 1:
                raise ValueError(f"the ranks have different lengths of dimension {dim!r}: {sorted(set(lengths))}; "
                                 f"they may differ along {self.along!r} only" if self.along else
                                 f"the ranks have different lengths of dimension {dim!r}: name it by along=")
        self.shape = tuple(shape)

    def select(self, rank, ranks, offset):
        """Which elements this rank writes: `own` of its data, at `start` in the file."""
        local = self.data.shape
        self.start, self.own = [0] * len(local), [slice(0, length) for length in local]
        if not local:
            return
        if self.is_part:
            self.start[self.dims.index(self.along)] = offset
            return
        units = self.units()
        dimension = parted_dimension(local, units, ranks)
        self.own[dimension] = part(local[dimension], rank, ranks, units[dimension])
        self.start[dimension] = self.own[dimension].start

    def units(self):
        """Elements along each dimension that one rank writes: those of a chunk."""
        chunks = self.encoding.get("chunksizes")
        return chunks if chunks and len(chunks) == len(self.shape) else [1] * len(self.shape)

    def variable(self, file):
        return library.Variable(file, self.id, self.name, self.file_dtype or self.dtype, self.dims, self.shape)

    def portions(self):
        """The part of this rank, cut along its first dimension where a block of dask or a chunk of the file ends."""
        if not self.shape or any(own.start == own.stop for own in self.own):
            return []
        first, row = self.own[0], numpy.prod([own.stop - own.start for own in self.own[1:]], initial=1)
        most = max(1, int(PORTION_BYTES // (row * self.dtype.itemsize)))
        offset = self.start[0] - first.start  # from an index here to that in the file
        ends = {first.stop}
        if hasattr(self.data, "chunks") and self.data.chunks:
            blocks = numpy.cumsum(self.data.chunks[0])
            ends.update(int(end) for end in blocks if first.start < end < first.stop)
        else:
            most = max(1, most // self.units()[0]) * self.units()[0]
            begin = (first.start + offset) // most * most - offset
            ends.update(end for end in range(begin, first.stop, most) if end > first.start)
        found, begin, last = [], first.start, first.start
        for end in sorted(ends):
            if end - begin > most and last > begin:
                found.append(slice(begin, last))
                begin = last
            last = end
        found.append(slice(begin, last))
        return found

    def values(self, rows):
        """Of a portion, as they are stored."""
        selected = self.data[(rows, *self.own[1:])] if self.shape else self.data
        values = numpy.asarray(selected.compute() if hasattr(selected, "compute") else selected)
        if self.is_text:
            is_wider = self.is_part or self.file_dtype is not None
            padded = numpy.zeros((*values.shape[:-1], self.shape[-1] if is_wider else values.shape[-1]), self.dtype)
            padded[..., :values.shape[-1]] = values
            return padded
        if self.is_small and values.dtype.kind in "iu" and self.dtype == numpy.dtype("i4"):
            return library.as_small_integers(values, f"variable {self.name!r}")
        return values.astype(self.dtype) if self.file_dtype is None else self.as_stored(values)

    def as_stored(self, values):
        """In the type of a variable that exists, which has all integers."""
        converted = values.astype(self.file_dtype)
        if values.dtype.kind in "iu" and self.file_dtype.kind in "iu" and (converted != values).any():
            raise ValueError(f"variable {self.name!r} has integers that its type in the file, {self.file_dtype}, "
                             "does not have")
        return converted


def prepare(dataset, encoding, comm, along, is_netcdf4, is_small):
    """The variables of the file, the same on all ranks, and its attributes."""
    variables, attributes = encode(dataset, encoding, comm, along)

    def make():
        outputs = [Output(name, variable, is_small, along) for name, variable in variables.items()]
        for output in outputs:
            check_encoding(output, encoding, is_netcdf4)
        return outputs

    outputs = together(comm, make)
    mine = [output.describe() for output in outputs]
    described = comm.allgather(mine)

    def adopt():
        if any([row[0] for row in other] != [row[0] for row in mine] for other in described):
            raise ValueError("the ranks have different variables")
        for output, rows in zip(outputs, zip(*described)):
            output.adopt(rows)
            check_chunks(output, encoding)

    together(comm, adopt)
    offset = 0 if along is None else (comm.exscan(dataset.sizes[along]) or 0)
    for output in outputs:
        output.select(comm.rank, comm.size, offset)
    return outputs, attributes


def check_arguments(dataset, path, along):
    for name, variable in dataset.variables.items():
        source = variable.encoding.get("source")
        if not variable._in_memory and source and os.path.exists(path) and os.path.exists(source) and \
                os.path.samefile(path, source):
            raise ValueError(f"{path} is the source of {name!r}, whose values are not loaded: write another file")
    if along is not None and along not in dataset.dims:
        raise ValueError(f"along={along!r}: the dataset has the dimensions {', '.join(map(str, dataset.dims))}")


def check_encoding(output, encoding, is_netcdf4):
    """What the user asks for is done or refused; what reading left is used where it can be."""
    keys = {key for key, value in output.encoding.items() if value is not None}  # _FillValue=None: there is none
    if output.name in encoding:
        unknown = keys - STORAGE - OF_SOURCE
        if unknown:
            raise ValueError(f"encoding of {output.name!r}: unknown {', '.join(sorted(unknown))}")
        if not is_netcdf4 and any(output.encoding[key] for key in keys & STORAGE):
            raise ValueError(f"encoding of {output.name!r}: only netCDF-4 files have "
                             f"{', '.join(sorted(keys & STORAGE))}")
    output.encoding = {key: value for key, value in output.encoding.items() if key in STORAGE} if is_netcdf4 else {}


def check_chunks(output, encoding):
    """Chunks of the source may not fit the new variable."""
    chunks = output.encoding.get("chunksizes")
    if not chunks or output.name in encoding:
        return
    if len(chunks) != len(output.shape) or any(chunk > max(length, 1) for chunk, length in zip(chunks, output.shape)):
        del output.encoding["chunksizes"]


def define(file, outputs, attributes, unlimited, is_netcdf4, is_small):
    """Dimensions, variables and attributes, which are the same on all ranks."""
    lengths = {dim: length for output in outputs for dim, length in zip(output.dims, output.shape)}
    missing = set(unlimited) - set(lengths)
    if missing:
        raise ValueError(f"unlimited_dims: no variable has {', '.join(sorted(map(str, missing)))}")
    if not is_netcdf4 and len(unlimited) > 1:
        raise ValueError("unlimited_dims: classic files have one unlimited dimension")
    ids = {dim: file.define_dimension(dim, 0 if dim in unlimited else length) for dim, length in lengths.items()}
    for name, value in attributes.items():
        library.put_attribute(file.id, library.GLOBAL, name, value, is_small)
    for output in outputs:
        output.id = file.define_variable(output.name, output.dtype, [ids[dim] for dim in output.dims])
        if is_netcdf4:
            library.define_storage(file.id, output.id, storage_of(output, unlimited))
        for name, value in output.attributes.items():
            if name == "_FillValue" and not output.is_text:
                value = numpy.asarray(value).astype(output.dtype)
            library.put_attribute(file.id, output.id, name, value, is_small)
    if not is_netcdf4:
        file.call("set_fill", 0x100, None)  # NC_NOFILL: each value is written
    file.call("enddef")


def storage_of(output, unlimited):
    """Without what cannot be: a contiguous variable has neither filters nor unlimited dimensions."""
    needs_chunks = set(output.dims) & set(unlimited) or \
        any(output.encoding.get(key) for key in ("zlib", "zstd", "compression", "fletcher32", "shuffle"))
    return {key: value for key, value in output.encoding.items() if key != "contiguous" or not needs_chunks}


def put(file, output, rows):
    """A collective put. rows: a portion; None: this rank has no more. Returns the error of this rank."""
    error = None
    start, count = [0] * len(output.dims), [0] * len(output.dims)
    values = numpy.empty(count, output.file_dtype or output.dtype)
    try:
        if rows is not None:
            values = numpy.ascontiguousarray(output.values(rows))
            start, count = list(output.start), list(values.shape)
            start[0] = output.start[0] + rows.start - output.own[0].start
    except Exception as problem:
        error = problem
    try:
        output.variable(file).put_all(values, start, count)
    except Exception as problem:
        error = error or problem
    return error


def put_scalar(file, output, comm):
    """All ranks put the value of rank 0."""
    def value():
        return output.values(None) if comm.rank == 0 else None

    value = comm.bcast(together(comm, value))
    output.variable(file).put_all(value, [], [])


def put_values(file, outputs, comm):
    """All ranks make as many calls as the one with most portions. An error ends them after its variable."""
    numbers = numpy.array([len(output.portions()) for output in outputs], dtype="i8")
    comm.Allreduce(MPI.IN_PLACE, numbers, MPI.MAX)
    for output, number in zip(outputs, numbers):
        if not output.shape:
            put_scalar(file, output, comm)
            continue
        portions, error = output.portions(), None
        for i in range(number):
            problem = put(file, output, portions[i] if i < len(portions) and error is None else None)
            error = error or problem
        agree(comm, error)


class Target:
    """A variable of a file that exists, into which a part is put."""

    def __init__(self, name, variable):
        self.name, self.dims, self.shape = name, variable.dims, variable.shape
        self.attributes, self.encoding = variable.attrs, dict(variable.encoding)
        self.dtype = None  # as it is stored

    def encoding_of(self, variable):
        """By which xarray converts new values. Integers that stay integers are converted later, and checked."""
        found = {key: value for key, value in self.encoding.items() if key in OF_VALUES}
        if variable.dtype.kind in "iu" and not {"scale_factor", "add_offset", "_Unsigned"} & set(found):
            found.pop("dtype", None)
        return found

    def check(self, output, append_dim, region):
        """Whether what all ranks have fits. Texts may be shorter than those of the file."""
        characters = len(self.dims) - 1 if output.is_text else None
        if len(output.dims) != len(self.dims) or any(
                output.dims[i] != dim for i, dim in enumerate(self.dims) if i != characters):
            raise ValueError(f"variable {self.name!r} has the dimensions {output.dims}, in the file {self.dims}")
        for i, dim in enumerate(self.dims):
            length = output.shape[i]
            if i == characters:
                fits, wanted = length <= self.shape[i], f"{self.shape[i]} at most"
            elif dim in region:
                wanted = region[dim].stop - region[dim].start
                fits = length == wanted
            else:
                fits, wanted = dim == append_dim or length == self.shape[i], self.shape[i]
            if not fits:
                raise ValueError(f"variable {self.name!r} has length {length} along {dim!r}: must have {wanted}")

    def adopt(self, output, first):
        """Put into this variable, from the index `first` of each dimension on."""
        output.id, output.file_dtype = self.id, self.dtype
        if output.is_text:
            output.shape = (*output.shape[:-1], self.shape[-1])
        for i, dim in enumerate(self.dims):
            output.start[i] += first.get(dim, 0)


def read_targets(path, comm, names, info):
    """The variables of a file that have these names, and its dimensions: lengths, and which are unlimited."""
    from .backend import PnetcdfBackendEntrypoint
    file = PnetcdfBackendEntrypoint().open_dataset(path, comm=comm, info=info)
    try:
        targets = {name: Target(name, file.variables[name]) for name in names if name in file.variables}
        return targets, dict(file.sizes), set(file.encoding.get("unlimited_dims", ()))
    finally:
        file.close()


def check_target(path, dataset, targets, sizes, unlimited, append_dim, region):
    missing = [name for name in dataset.variables if name not in targets]
    if missing:
        raise ValueError(f"{path} has no variable {missing[0]!r}: only variables that exist are written")
    if append_dim is not None and append_dim not in unlimited:
        raise ValueError(f"append_dim={append_dim!r}: {path} has the unlimited dimensions "
                         f"{', '.join(sorted(unlimited)) or 'none'}")
    for dim, where in region.items():
        if dim not in sizes:
            raise ValueError(f"region: {path} has no dimension {dim!r}")
        if where.stop > sizes[dim]:
            raise ValueError(f"region: {dim!r} ends at {where.stop}, the file has {sizes[dim]}; append_dim adds more")


def begin_update(dataset, path, along, append_dim, region):
    """The region, and the dataset without the variables that are not concerned."""
    if region is not None and append_dim is not None:
        raise ValueError("append_dim and region exclude each other")
    check_arguments(dataset, path, along)
    for dim in [append_dim] if append_dim is not None else region:
        if dim not in dataset.dims:
            raise ValueError(f"{'region' if append_dim is None else 'append_dim'}: the dataset has the dimensions "
                             f"{', '.join(map(str, dataset.dims))}, not {dim!r}")
    for dim, where in (region or {}).items():
        if not isinstance(where, slice) or where.step not in (None, 1) or (where.start or 0) < 0 or \
                (where.stop is not None and where.stop < (where.start or 0)):
            raise ValueError(f"region[{dim!r}] is {where!r}: must be a slice of indices that are not negative, "
                             "without a step")
    concerned = {append_dim} if append_dim is not None else set(region)
    others = [name for name, variable in dataset.variables.items() if not concerned & set(variable.dims)]
    if region is not None and any(name in dataset.data_vars for name in others):
        raise ValueError(f"variable {others[0]!r} has no dimension of the region: drop it, or write it by itself")
    return dataset.drop_vars(others)


def complete_region(region, dataset, comm, along):
    """With numbers. A slice without an end is as long as what all ranks have."""
    found = {}
    for dim, where in sorted((region or {}).items()):
        start, length = where.start or 0, dataset.sizes[dim]
        if dim == along:
            length = comm.allreduce(length)
        found[dim] = slice(start, start + length if where.stop is None else where.stop)
    return found


def update(dataset, path, comm, along, append_dim, region, info):
    """Put values into variables of a file that exists."""
    comm = MPI.COMM_WORLD if comm is None else comm
    dataset = together(comm, begin_update, dataset, path, along, append_dim, region).copy(deep=False)
    region = complete_region(region, dataset, comm, along)
    targets, sizes, unlimited = read_targets(path, comm, list(dataset.variables), info)
    together(comm, check_target, path, dataset, targets, sizes, unlimited, append_dim, region)
    first = {dim: where.start for dim, where in region.items()}
    if append_dim is not None:
        first[append_dim] = sizes[append_dim]
    for name, target in targets.items():
        dataset.variables[name].encoding = target.encoding_of(dataset.variables[name])
    outputs, _ = prepare(dataset, {}, comm, along, True, False)
    with LOCK, info_of(hints_of(info)) as made:
        file = File("open", path, comm, 1, made)  # NC_WRITE
    try:
        def adopt():
            with LOCK:
                stored = file.variables()
            for output in outputs:
                target, variable = targets[output.name], stored[output.name]
                target.id, target.dtype, target.dims, target.shape = (variable.id, variable.dtype, variable.dims,
                                                                      variable.shape)
                target.check(output, append_dim, region)
                target.adopt(output, first)

        together(comm, adopt)
        put_values(file, outputs, comm)
    finally:
        file.close()


def write(dataset, path, comm, along, format, encoding, unlimited_dims, info):
    if format not in FORMATS:
        raise ValueError(f"format {format!r}: must be one of {', '.join(FORMATS)}")
    comm = MPI.COMM_WORLD if comm is None else comm
    mode, is_netcdf4, is_small = FORMATS[format]
    together(comm, check_arguments, dataset, path, along)
    outputs, attributes = prepare(dataset, encoding or {}, comm, along, is_netcdf4, is_small)
    if unlimited_dims is None:
        unlimited_dims = set(dataset.encoding.get("unlimited_dims", ())) & set(dataset.dims)
        unlimited_dims = unlimited_dims if is_netcdf4 else set(sorted(unlimited_dims)[:1])
    elif isinstance(unlimited_dims, str):
        unlimited_dims = {unlimited_dims}
    # What ranks may differ in is that of rank 0, as far as they do not write it.
    texts = comm.bcast((attributes, [(output.attributes, output.encoding) for output in outputs], unlimited_dims))
    attributes, unlimited_dims = texts[0], texts[2]
    for output, (output.attributes, output.encoding) in zip(outputs, texts[1]):
        pass
    with LOCK, info_of(hints_of(info)) as made:
        file = File("create", path, comm, mode, made)
    try:
        with LOCK:
            define(file, outputs, attributes, unlimited_dims, is_netcdf4, is_small)
        put_values(file, outputs, comm)
    finally:
        file.close()
