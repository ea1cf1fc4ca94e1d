"""The cost model of two-phase I/O in docs/scaling.md, as formulas: what a call costs by its bytes and ranks.

The constants are read from src/io/choose, which counts with them.
"""
import dataclasses
import math
import os
import re

CHOOSE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "io", "choose")


def constant(source, name):
    """The value of a #define that is a number or a shift of one."""
    with open(os.path.join(CHOOSE, source), encoding="utf-8") as file:
        found = re.search(rf"^#define {name} \(?(\d+)(?: << (\d+))?\)?", file.read(), re.M)
    return int(found.group(1)) << int(found.group(2) or 0)


UNIT = constant("sizes.h", "PNC_STRIPING_UNIT")
BUFFER_NODES = constant("sizes.c", "BUFFER_NODES")
BUFFER_ONE_NODE = constant("sizes.c", "BUFFER_ONE_NODE")
SEGMENT = constant("parts.h", "PNC_SEGMENT_BYTES")
SEGMENT_PIECES = constant("parts.h", "PNC_SEGMENT_PIECES")
MESSAGE = constant("parts.h", "PNC_PART_BYTES")
MESSAGE_PIECES = constant("parts.h", "PNC_PART_EXTENTS")
REDUCTIONS = 3  # of all ranks in a call, at most


def divide_up(value, unit):
    return -(-value // unit)


def doublings(n):
    """Steps of a reduction; a number that is not a power of two costs two more."""
    steps = math.ceil(math.log2(n)) if n > 1 else 0
    return steps if n & (n - 1) == 0 else steps + 2


@dataclasses.dataclass
class Call:
    """A collective call: the range of the file, bytes and pieces of a rank, nodes and their ranks."""
    low: int
    high: int
    bytes: int
    pieces: int
    nodes: int
    ranks_per_node: int

    @property
    def aggregators(self):
        return self.nodes if self.nodes > 1 else self.ranks_per_node

    @property
    def windows(self):
        """Striping units of each round: as few rounds as the buffers allow, of about the same size. Several rounds
        use half of the memory each."""
        buffer = BUFFER_NODES + UNIT if self.nodes > 1 else BUFFER_ONE_NODE
        if self.high - self.low > buffer * self.aggregators:
            buffer //= 2
        units = divide_up(self.high - self.low // UNIT * UNIT, UNIT)
        window = divide_up(units, divide_up(units, buffer // UNIT * self.aggregators))
        return [min(window, units - first) for first in range(0, units, window)]

    @property
    def wraps(self):
        """Whether the unit in which the call begins is one block more, of the last aggregator."""
        return self.nodes > 1 and self.low > UNIT and self.low % UNIT > 0 and self.windows[0] > self.aggregators

    @property
    def accesses(self):
        """Of a dense call: each block is accessed once, and an aggregator has a block of a unit at least."""
        return sum(min(units, self.aggregators) for units in self.windows) + self.wraps

    @property
    def rounds(self):
        return len(self.windows)

    @property
    def full_portions(self):
        return max(divide_up(self.bytes, SEGMENT), divide_up(self.pieces, SEGMENT_PIECES))

    @property
    def portions(self):
        """Of a rank in all rounds, at most: the last one of each round may not be full."""
        return self.full_portions + self.rounds

    @property
    def synchronisations(self):
        """Of the ranks of a node, at most: two for each portion, and two at the end of a round. Ranks may have their
        portions in different rounds."""
        portions = self.full_portions * min(self.rounds, self.ranks_per_node) + self.rounds
        return 2 * portions + 2 * self.rounds + REDUCTIONS

    @property
    def messages(self):
        """Of a delegate to other nodes, at most: one to each aggregator for each portion; more where they are full, of
        bytes or of pieces, as two successive ones hold more than fits in one; and reductions of the delegates and of
        all ranks."""
        full = divide_up(self.bytes * self.ranks_per_node, MESSAGE)
        full += divide_up(self.pieces * self.ranks_per_node, MESSAGE_PIECES) - 1
        data = 2 * full
        steps = (self.rounds + REDUCTIONS) * doublings(self.nodes)
        return 0 if self.nodes == 1 else self.portions * (self.aggregators - 1) + data + steps + self.wraps
