"""What a run shows: counts of accesses and messages, and which of them are not as they must be."""
import collections
import dataclasses

import costs

# --- counts ---

def stripes_of(access, size):
    return range(access.offset // size, (access.offset + access.length - 1) // size + 1)


def find_writers(phase, size):
    """{stripe: accesses that write to it}"""
    writers = collections.defaultdict(list)
    for access in phase.accesses:
        if access.kind == "W":
            for stripe in stripes_of(access, size):
                writers[stripe].append(access)
    return writers


def nodes_of(accesses, ranks_per_node):
    return {access.rank // ranks_per_node for access in accesses}


@dataclasses.dataclass
class Summary:
    """Of the phases of one name; each call is a phase."""
    seconds: float = 0
    bytes: int = 0     # written by puts, read by gets
    accesses: int = 0  # writes of puts, reads of gets
    sieved: int = 0    # reads of puts
    rounds: int = 0
    messages: int = 0
    busiest: int = 0
    local: int = 0
    lock_moves: int = 0
    by_two_nodes: int = 0
    twice: int = 0
    collectives: int = 0
    peak: int = 0

    @property
    def average(self):
        return self.bytes / self.accesses if self.accesses else 0

    @property
    def rate(self):
        """10^6 bytes in a simulated second."""
        return self.bytes / self.seconds / 1e6 if self.seconds else 0


def count_rounds(phase):
    """A round of this library ends with a nonblocking reduction. Those of MPI-IO cannot be counted."""
    return max(calls.get("Iallreduce", 0) for calls in phase.collectives)


def summarise(run, name):
    out = Summary()
    kind = "W" if name == "put" else "R"
    per_node = run.ranks // run.nodes
    messages = [0] * run.ranks
    for phase in run.named(name):
        moved = [access.length for access in phase.accesses if access.kind == kind]
        out.seconds += (phase.end - phase.begin) / 1e9 / run.slowdown
        out.bytes += sum(moved)
        out.accesses += len(moved)
        out.sieved += sum(access.kind != kind for access in phase.accesses)
        out.rounds += count_rounds(phase)
        out.lock_moves += sum(access.lock_moves for access in phase.accesses)
        out.collectives += max(sum(calls.values()) for calls in phase.collectives)
        out.local += sum(phase.local)
        out.peak = max(out.peak, *phase.peaks)
        messages = [a + b for a, b in zip(messages, phase.messages)]
        for accesses in find_writers(phase, run.stripe).values():
            out.by_two_nodes += len(nodes_of(accesses, per_node)) > 1
            out.twice += len(accesses) > 1
    out.messages, out.busiest = sum(messages), max(messages)
    return out


def describe_calls(run, name):
    """The calls as the cost model sees them; the ranks have equal shares of the bytes."""
    kind = "W" if name == "put" else "R"
    for phase in run.named(name):
        accesses = [access for access in phase.accesses if access.kind == kind]
        if not accesses:
            continue
        low, high = min(a.offset for a in accesses), max(a.offset + a.length for a in accesses)
        share, pieces = costs.divide_up(high - low, run.ranks), costs.divide_up(run.pieces, len(run.named(name)))
        yield costs.Call(low, high, share, pieces, run.nodes, run.ranks // run.nodes)


# --- what the counts must be; no clock is needed ---

LARGE = 4 << 20            # bytes of a write that is large enough
GAP = 1 << 20              # bytes of a gap that one write may cover


def check_stripes(run, call, phase):
    """Each stripe is written by one node, once; twice where two variables meet."""
    per_node = run.ranks // run.nodes
    borders = {offset // run.stripe for offset in run.borders[1:]}
    for stripe, accesses in sorted(find_writers(phase, run.stripe).items()):
        nodes, most = nodes_of(accesses, per_node), 2 if stripe in borders else 1
        if len(nodes) > 1 or len(accesses) > most:
            listed = ", ".join(f"rank {a.rank} (node {a.rank // per_node}) [{a.offset}, {a.offset + a.length})"
                               for a in accesses[:4])
            yield (f"put {call}: stripe {stripe} is written {len(accesses)} times by {len(nodes)} nodes: {listed}"
                   + (" ..." if len(accesses) > 4 else ""))


def count_ranges(phase):
    """Ranges of the file that a call writes without large gaps between them."""
    number, end = 0, -GAP - 1
    for access in sorted((a for a in phase.accesses if a.kind == "W"), key=lambda a: a.offset):
        number += access.offset > end + GAP
        end = max(end, access.offset + access.length)
    return number


def has_shared_stripe(run, phase):
    """Whether the first write has the rest of a stripe, in which the call before ends: a block of its own."""
    writes = sorted((a.offset, a.offset + a.length) for a in phase.accesses if a.kind == "W")
    if len(writes) < 2:
        return False
    low, high = writes[0]
    return low > run.stripe and high - low < run.stripe and high % run.stripe == 0


def find_violations(run):
    calls = run.named("put")
    summary = summarise(run, "put")
    if summary.accesses == 0:
        yield "put: nothing is written"
        return
    aggregators = next(describe_calls(run, "put")).aggregators
    # an aggregator's part of a call, or what large gaps leave of it
    share = min(summary.bytes / aggregators / len(calls), summary.bytes / sum(map(count_ranges, calls)))
    for call, phase in enumerate(calls):
        yield from check_stripes(run, call, phase)
    average = summary.bytes / (summary.accesses - sum(has_shared_stripe(run, phase) for phase in calls))
    if average < min(LARGE, share):
        yield f"put: {summary.accesses} writes of {average:.0f} bytes on average, not {min(LARGE, share):.0f}"
    if summary.sieved > 0:
        yield f"put: {summary.sieved} reads, though the call leaves no holes"
    bound = sum(call.messages for call in describe_calls(run, "put"))
    if summary.busiest > bound:
        yield f"put: the busiest rank sends {summary.busiest} messages, more than {bound}"
