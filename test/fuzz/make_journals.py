#!/usr/bin/env python3
"""Write the seed corpus of fuzz_journal: good journals and forged ones (test/tools/forge.py).

Usage: make_journals.py [FOLDER]    (default: journals beside this script)
"""
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
import forge

LARGEST = 4096 # of a file: the target adds data and zeros
COUNT = 60     # of the forged ones, beside those below


def known(folder):
    """Those that were found to do damage, or to be refused by one rule each."""
    for version in (1, 2, 5):
        yield f"good_{version}", forge.growth(folder, version, 1500, 40)
        yield f"good_patch_{version}", forge.patch(folder, version)
    yield "good_vars", forge.growth(folder, 2, 1500, 40, [("w", "int", [0]), ("r", "double", [1])])
    yield "good_records", forge.growth(folder, 5, 500, 40, [("w", "byte", [1]), ("r", "short", [0, 1])], 3)
    endless = forge.growth(folder, 5, 500, 40, [("r", "short", [0, 1])], 3, True)
    endless.numbers["half"] = 0
    endless.suit_sizes()
    yield "empty_step", endless
    vast = forge.growth(folder, 5, 500, 40, [("w", "byte", [2 ** 40])])
    vast.numbers["new_size"] = len(vast.old) + 2000
    vast.suit_sizes()
    yield "vast_variable", vast
    last = forge.growth(folder, 2, 500, 40)
    last.states = [(2 ** 63 - 2, *last.states[0][1:]), (2 ** 63 - 1, *last.states[1][1:])]
    yield "last_state", last
    down = forge.growth(folder, 2, 500, 400)
    down.old, down.new = down.new, down.old
    down.suit_sizes()
    yield "down", down


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "journals")
    os.makedirs(target, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        journals, forged = list(known(folder)), []
        rng = random.Random(1)
        while len(forged) < COUNT:
            one = forge.forge(folder, rng)
            if len(one.recipe()) <= LARGEST:
                forged.append(("forged_%02d" % len(forged), one))
    journals += forged
    for name, one in journals:
        with open(os.path.join(target, name), "wb") as out:
            out.write(one.recipe())
    print("%d files in %s" % (len(journals), target))


if __name__ == "__main__":
    main()
