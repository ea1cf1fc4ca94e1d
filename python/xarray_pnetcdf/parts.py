"""Which part of a dimension is a rank's."""


def part(length, rank, ranks, unit=1):
    """The slice of rank `rank` of `ranks`: parts are in the order of ranks, and differ by at most one unit.

    unit: elements that stay together, such as the length of the file's chunks, each of which is then read or written
    by one rank. A rank that gets none has an empty slice.
    """
    units = -(-length // unit)
    first, last = (min(length, units * r // ranks * unit) for r in (rank, rank + 1))
    return slice(first, last)


def parted_dimension(shape, units, ranks):
    """The dimension that gives each rank work: the first with a unit for each, or the one with most units."""
    numbers = [-(-length // unit) for length, unit in zip(shape, units)]
    for dimension, number in enumerate(numbers):
        if number >= ranks:
            return dimension
    return numbers.index(max(numbers))
