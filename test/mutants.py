"""Mutation testing of the core: does a unit test fail if one token of a source file is wrong? Run it in a build folder.

usage: mutants.py [--sample=N] [--seed=N] [--tests=NAME,...] [--again] FILE...

FILE       a source of the library; without --tests of src/select, src/convert, src/format, src/growth or src/base
--sample   so many mutants of all files, chosen by the seed (1), instead of all
--tests    these tests, as mpi/test_redef_move, instead of the unit tests that include a header of the room; those of
           test/mpi run quickly, on 2 ranks and on 1
--again    forget earlier results; otherwise those of unchanged files and tests are kept in mutants/state

A mutant has another relational or logical operator, + for - or the reverse, an integer constant that is larger by one,
or lacks a statement. Its object is linked with each unit test that includes a header of the room, before the archives
of the library: only one file is compiled. A mutant whose code the compiler makes the same is equivalent, and not
counted. A test that fails, crashes or takes five times as long, those of test/mpi a minute more, notices the mutant.
The others survive: they are listed, with the reason if test/mutants.txt has one (FILE | LINE | CHANGE | REASON)."""
import glob
import hashlib
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = "mutants"
STATE = os.path.join(FOLDER, "state")
REASONS = os.path.join(TOP, "test", "mutants.txt")
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
TOKEN = re.compile(r"""(?P<skip>\bassert\([^\n]*\n|/\*.*?\*/|"(?:\\.|[^"\\])*"
                   |'(?:\\.|[^'\\])*'|^[ ]*\#(?:[^\n]*\\\n)*[^\n]*)
                   |(?P<word>[A-Za-z_]\w*)|(?P<number>0x[0-9a-fA-F]+|\d+)(?P<suffix>[uUlL]*\b)
                   |(?P<op>->|<<=?|>>=?|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|\S)""", re.S | re.M | re.X)
STATEMENT = re.compile(r"^ +(?!return\b|break|continue|goto\b|case\b|else\b|assert\b|PNC_TRY\b)"
                       r"[\w.>\[\]()*+-]+(?: [-+*/|&]?= .*|\(.*\)|\+\+|--);$", re.M)


def find_mutants(text):
    """(offset, old, new) of each; comments, strings, directives and assertions have none."""
    previous = ""
    for match in TOKEN.finditer(text):
        if match["skip"]:
            continue
        binary = re.match(r"[\w)\]]", previous[-1:]) and previous != "return"
        if match["op"] in SWAPS and (match["op"] not in ("+", "-") or binary):
            yield match.start(), match["op"], SWAPS[match["op"]]
        elif match["number"]:
            is_octal = re.fullmatch("0[0-7]+", match["number"])
            yield match.start(), match["number"], str(int(match["number"], 8 if is_octal else 0) + 1)
        previous = match.group()
    for match in STATEMENT.finditer(text):
        statement = match.group().lstrip()
        yield match.end() - len(statement), statement, ";"


def ask_make(what, *changed):
    """The commands by which make would build something after files have changed."""
    flags = [flag for name in changed for flag in ("-W", name)]
    text = subprocess.run(["make", "-n", "V=1", *flags, what], capture_output=True, text=True, check=True).stdout
    return text.replace("\\\n", " ").split("\n")


def find_compiler(path):
    """The command that compiles a source, without libtool, dependencies, input and output."""
    inside = os.path.relpath(path, TOP)
    line = next((line for line in ask_make("libinternal.la", path, os.path.relpath(path))
                 if "--mode=compile" in line and inside in line), None)
    if line is None:
        sys.exit(f"mutants.py: {inside} is not part of libinternal.la")
    words = shlex.split(line[line.index("--mode=compile"):].split("&&")[0].rstrip("; "))[1:]
    pairs = ("-MT", "-MF", "-o")
    return [word for before, word in zip([""] + words, words)
            if word not in (*pairs, "-MD", "-MP", "-c") and before not in pairs and not word.endswith(inside)]


def list_tests(room):
    """The sources of the unit tests of a room."""
    return [path for path in sorted(glob.glob(os.path.join(TOP, "test", "unit", "*.c")) +
                                    glob.glob(os.path.join(TOP, "test", "fuzz", "*.c")))
            if f'#include "{room}/' in read(path)]


def find_links(paths):
    """(name, command that links it up to its first input, rest) of tests."""
    for path in paths:
        name = os.path.relpath(path, TOP)[:-2]
        line = next(line for line in ask_make(name, f"{name}.o", "libinternal.la")
                    if "--mode=link" in line and f" -o {name} " in line)
        words = shlex.split(line[line.index("libtool"):])
        at = words.index("-o")
        yield name, ["./" + words[0], "--silent", *words[1:at]], words[at + 2:]


def run_once(launcher, program, limit):
    """Whether it passes."""
    with tempfile.TemporaryDirectory(dir=os.path.abspath(FOLDER)) as scratch:
        try:
            done = subprocess.run([*launcher, program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=limit, check=False,
                                  env={**os.environ, "PNC_TEST_QUICK": "1", "PNC_SOURCE": TOP, "PNC_TEST_TMP": scratch})
        except subprocess.TimeoutExpired:
            return False
        return done.returncode in (0, 77)


def run_test(name, program, limit):
    if not name.startswith("test/mpi/"):
        return run_once([], program, limit)
    library = os.path.abspath(os.path.join("test", "runner", "yield.so"))
    preload = ["env", f"LD_PRELOAD={library}"] if os.path.exists(library) else []
    launcher = [*shlex.split(os.environ.get("MPIEXEC", "mpiexec")), "-n"]
    return all(run_once([*launcher, ranks, *preload], program, limit) for ranks in ("2", "1"))


class Bench:
    """Tests, the fastest first."""

    def __init__(self, paths):
        if not paths:
            sys.exit("mutants.py: no unit test includes a header of this room: name some with --tests")
        self.tests, hashed = [], hashlib.sha256()
        for name, link, rest in find_links(paths):
            hashed.update(read(os.path.join(TOP, name + ".c")).encode())
            subprocess.run(["make", "-s", name], check=True, stdout=subprocess.DEVNULL)
            start = time.time()
            if not run_test(name, name, 600):
                sys.exit(f"{name} fails without a mutant")
            self.tests.append((time.time() - start, name, link, rest))
        self.tests.sort()
        self.digest = hashed.hexdigest()

    def compile(self, compiler, text, name):
        source, made = (os.path.join(FOLDER, name + end) for end in (".c", ".o"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([*compiler, "-w", "-g0", "-c", "-o", made, source], stderr=subprocess.DEVNULL,
                              check=False)
        return made if done.returncode == 0 else None

    def judge(self, made):
        """The test that notices the object, or "survived"."""
        program = os.path.join(FOLDER, "mutant")
        for seconds, name, link, rest in self.tests:
            subprocess.run([*link, "-o", program, made, *rest], check=True, stderr=subprocess.DEVNULL)
            if not run_test(name, program, 5 * seconds + (60 if name.startswith("test/mpi/") else 2)):
                return name
        return "survived"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Mutant:
    """One change of a file. Its key is the same as long as file and tests are."""

    def __init__(self, path, text, offset, old, new):
        self.path, self.offset, self.old, self.new = path, offset, old, new
        self.number = text.count("\n", 0, offset) + 1
        self.column = offset - text.rfind("\n", 0, offset)
        self.line = text.split("\n")[self.number - 1].strip()

    def make_key(self, text, bench):
        return hashlib.sha256(f"{self.path}|{self.offset}|{self.new}|{bench.digest}|{text}".encode()).hexdigest()

    def apply(self, text):
        return text[:self.offset] + self.new + text[self.offset + len(self.old):]

    def describe(self):
        return os.path.relpath(self.path, TOP), self.line, f"{self.old} -> {self.new}"


def mutate_file(path, mutants, bench, results):
    """Yield mutants and outcomes, and keep them."""
    text = read(path)
    compiler = [*find_compiler(path), "-I", os.path.dirname(path)]
    name = os.path.basename(path)[:-2]
    with open(bench.compile(compiler, text, name), "rb") as file:
        original = file.read()
    for mutant in mutants:
        key = mutant.make_key(text, bench)
        if key not in results:
            made = bench.compile(compiler, mutant.apply(text), name)
            results[key] = "not compiled"
            if made is not None:
                with open(made, "rb") as file:
                    results[key] = "equivalent" if file.read() == original else bench.judge(made)
            with open(STATE, "a", encoding="utf-8") as state:
                state.write(json.dumps([key, results[key]]) + "\n")
        yield mutant, results[key]


def load_state():
    if not os.path.exists(STATE):
        return {}
    return dict(json.loads(line) for line in read(STATE).splitlines())


def load_reasons():
    if not os.path.exists(REASONS):
        return {}
    rows = [line.split(" | ") for line in read(REASONS).splitlines()]
    return {tuple(row[:3]): row[3] for row in rows if len(row) == 4}


def report(outcomes):
    """Exit status 1 if a mutant survives without a reason."""
    reasons = load_reasons()
    survived = [mutant for mutant, outcome in outcomes if outcome == "survived"]
    noticed = sum(outcome not in ("survived", "equivalent", "not compiled") for _, outcome in outcomes)
    missed = [mutant for mutant in survived if mutant.describe() not in reasons]
    for mutant in survived:
        path, line, change = mutant.describe()
        reason = reasons.get((path, line, change), "survived")
        print(f"{path}:{mutant.number}:{mutant.column}: {line}: {change}: {reason}")
    same = sum(outcome == "equivalent" for _, outcome in outcomes)
    print(f"{len(outcomes)} mutants: {noticed} noticed, {same} equivalent, {len(survived)} survived, "
          f"{len(survived) - len(missed)} of them with a reason; noticed of those that count: "
          f"{100 * noticed / max(noticed + len(missed), 1):.1f}%")
    return 1 if missed else 0


def parse(arguments):
    """Options, sources and, if they are given, tests."""
    options = dict(a.partition("=")[::2] for a in arguments if a.startswith("--"))
    paths = [os.path.abspath(a) for a in arguments if not a.startswith("--")]
    tests = [os.path.join(TOP, "test", name + ".c") for name in options.get("--tests", "").split(",") if name]
    if set(options) - {"--sample", "--seed", "--tests", "--again"} or not paths:
        sys.exit(__doc__)
    for name in ("--sample", "--seed"):
        if name in options and not options[name].isdecimal():
            sys.exit(f"mutants.py: {name}={options[name]}: a number is expected")
    for path in paths + tests:
        if not path.endswith(".c") or not os.path.isfile(path):
            sys.exit(f"mutants.py: {path}: there is no such source file")
    if not os.path.isfile("libinternal.la"):
        sys.exit("mutants.py: start it in a build folder, after make")
    return options, paths, tests


def main(arguments):
    options, paths, tests = parse(arguments)
    os.makedirs(FOLDER, exist_ok=True)
    if "--again" in options and os.path.exists(STATE):
        os.remove(STATE)
    mutants = [Mutant(path, read(path), *change) for path in paths for change in find_mutants(read(path))]
    if int(options.get("--sample", len(mutants))) < len(mutants):
        mutants = random.Random(int(options.get("--seed", "1"))).sample(mutants, int(options["--sample"]))
    results, benches, outcomes = load_state(), {}, []
    for path in paths:
        chosen = sorted((m for m in mutants if m.path == path), key=lambda m: m.offset)
        room = os.path.basename(os.path.dirname(path))
        if chosen and room not in benches:
            benches[room] = Bench(tests or list_tests(room))
        for mutant, outcome in mutate_file(path, chosen, benches[room], results) if chosen else ():
            outcomes.append((mutant, outcome))
            print(f"{len(outcomes)} of {len(mutants)}: {mutant.path}:{mutant.number}: {outcome}", file=sys.stderr)
    return report(outcomes)


sys.exit(main(sys.argv[1:]))
