"""The style of the code: no line is too long, clang-format changes no C file, pointers and error codes are compared,
not used as truth values, an expression does one thing, and one function prefetches."""
# needs: python
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# Texts that people write: folders, files of the top, and endings of names; files with "#!" are included.
WRITTEN = ["include", "src", "test", "benchmarks", "examples", "man", "docs", "packaging", "scripts", "cmake", ".ci"]
AT_THE_TOP = ["README.md", "NEWS.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "configure.ac",
              "Makefile.am", "check", "demo"]
TEXTS = (".c", ".h", ".inc", ".l", ".y", ".f", ".f90", ".m4", ".py", ".sh", ".am", ".in", ".md", ".1", ".3", ".7")
COLUMNS = 120


def is_made(path):
    """True if flex or bison generated the file: a release has it beside its source."""
    return path.endswith((".c", ".h")) and any(os.path.exists(path[:-1] + letter) for letter in "ly")


def written():
    """(path, lines) of each text that is checked in, as far as a release has it."""
    paths = [os.path.join(TOP, name) for name in AT_THE_TOP]
    for folder in WRITTEN:
        for path, _, names in os.walk(os.path.join(TOP, folder)):
            paths += [os.path.join(path, name) for name in sorted(names)]
    for path in paths:
        if not os.path.isfile(path) or is_made(path):
            continue
        with open(path, "rb") as file:
            if not path.endswith(TEXTS) and path not in paths[:len(AT_THE_TOP)] and file.read(2) != b"#!":
                continue
            file.seek(0)
            lines = file.read().decode().splitlines()
        # a build in the source folder leaves generated files there
        if path.endswith(".m4") or not any(re.search(r"\bGenerated (from|by)\b", line) for line in lines[:5]):
            yield os.path.relpath(path, TOP), lines


def may_be_long(path, line):
    """Rows of a table, and where a line end would be one of the text that m4 makes."""
    return path.endswith(".md") and line.startswith("|") or path.endswith(".m4") and "[" in line


def check_columns():
    texts = list(written())
    wrong = [f"{path}:{number}: {len(line)} columns" for path, lines in texts for number, line in enumerate(lines, 1)
             if len(line) > COLUMNS and not may_be_long(path, line)]
    tap.ok(len(texts) > 300 and not wrong, f"the lines of {len(texts)} texts have at most {COLUMNS} columns",
           "\n".join(wrong))


def c_sources():
    for path, lines in written():
        if path.endswith((".c", ".h")):
            yield path, "\n".join(lines)


def check_format():
    program = os.environ.get("CLANG_FORMAT", "clang-format-14") # another version breaks some lines elsewhere
    if not shutil.which(program):
        tap.skip("format of C files", f"no {program}")
        return
    paths = [path for path, _ in c_sources()]
    result = subprocess.run([program, "--dry-run", *paths], cwd=TOP, capture_output=True, text=True, check=False)
    wrong = sorted(set(re.findall(r"^(\S+?):\d+", result.stderr, re.M)))
    tap.ok(result.returncode == 0 and len(paths) > 200 and not result.stderr,
           f"{program} leaves {len(paths)} C files as they are",
           "\n".join([*(f"run {program} -i {path}" for path in wrong)] or [result.stderr]))


MASKED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TYPE = r"(?:char|void|int|struct \w+|pnc_\w+|size_t|double|float|\w+_t|MPI_\w+|FILE)"
POINTER = re.compile(TYPE + r" (?:const )?\*+(?:const )?(\w+)(?=\s*[,;=)\[])")
NUMBERS = re.compile(r"\b(?:bool|int|size_t|int64_t|long|unsigned) (\w+(?:(?: = [^,;()]*)?, \w+)*)(?=\s*[,;=)])")
# a name that is a pointer in one function and a number in another is left to the compiler
CODES = {"err", "status", "code"}
TRUTH = re.compile(r"!\s*((?:\w+(?:->|\.))*(\w+))(?![\w\[(.]|->)|"
                   r"(?:\bif \(|\bwhile \(|&& |\|\| )((?:\w+(?:->|\.))*(\w+))(?= \?|\)| &&| \|\|)")


def truth_values(text):
    """(line, expression) of each pointer and each error code that is used as a truth value."""
    text = MASKED.sub(lambda found: "\n" * found.group().count("\n") + '""', text)
    numbers = {name for names in NUMBERS.findall(text) for name in re.findall(r"\w+", names)}
    names = set(POINTER.findall(text)) - numbers | CODES
    for number, line in enumerate(text.split("\n"), 1):
        for found in TRUTH.finditer(line):
            if (found.group(2) or found.group(4)) in names:
                yield number, found.group(1) or found.group(3)


def check_truth_values():
    probe = 'void *p;\nif (!p || err)\n    p = "!p";\nif (p != NULL && err == NC_NOERR)\n'
    tap.ok([number for number, _ in truth_values(probe)] == [2, 2], "a pointer and an error code are found")
    wrong = [f"{path}:{number}: compare {name} with {'NC_NOERR' if name in CODES else 'NULL'}"
             for path, text in c_sources() for number, name in truth_values(text)]
    tap.ok(not wrong, "pointers are compared with NULL and error codes with NC_NOERR", "\n".join(wrong))


def check_prefetches():
    """pnc_memory_prefetch has an effect, so that gcc keeps calls of functions that do nothing but prefetch."""
    wrong = [path for path, text in c_sources() if "__builtin_prefetch" in text and path != "src/base/memory.h"]
    tap.ok(not wrong, "only pnc_memory_prefetch prefetches", "\n".join(wrong))


WORDS = re.compile(r"(?P<name>\w+)|(?P<assignment>(?:<<|>>|[-+*/%&|^])?=(?!=))|[=!<>]=|&&|\|\||->|\S")
COLLECTIVE = re.compile(r"(?:MPI_(?:I?(?:Allreduce|Allgatherv?|Alltoallv?|Bcast|Reduce|Gatherv?|Scatterv?|Exscan|Scan|"
                        r"Barrier)|Comm_(?:dup|split|split_type|create)|File_(?:open|close|sync|set_size|set_view))|"
                        r"pnc_\w*_(?:agree|broadcast))$")
DECLARES = re.compile(r"(?:int|bool|char|double|float|long|short|unsigned|const|static|\w+_t)$")


class Scope:
    """A pair of parentheses, brackets or braces. kind: the word before a "(", or the sign itself."""

    def __init__(self, kind):
        self.kind = kind
        self.start_statement()

    def start_statement(self):
        self.declares, self.later, self.empty = False, False, True
        self.start_item()

    def start_item(self):
        """After a comma. asks: conditionals of the item; holds: those in its parentheses."""
        self.asks = self.holds = 0


def close_scope(scopes):
    """Remove the innermost scope and return it."""
    last = scopes.pop() if len(scopes) > 1 else Scope("{")
    if last.kind == "(":
        scopes[-1].holds += last.asks + last.holds
    if last.kind in ("{", "if", "while", "for", "switch"):
        scopes[-1].start_statement()
    return last


def expressions(text):
    """(line, rule) of each expression that does more than one thing."""
    text = MASKED.sub(lambda found: '""' + "\n" * found.group().count("\n"), text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda found: "\n" * found.group().count("\n"), text, flags=re.M)
    scopes, previous, closed = [Scope("{")], "", None
    for found in WORDS.finditer(text):
        word, scope, line = found.group(), scopes[-1], text.count("\n", 0, found.start()) + 1
        around = [scope]                    # with the parentheses outside of one that only groups
        while around[-1].kind == "(":
            around.append(scopes[-len(around) - 1])
        if word in "([{":
            calls = word == "(" and re.match(r"[\w)\]]", previous) and previous not in ("return", "case")
            if calls and closed is not None and closed.kind == "(" and closed.asks:
                yield line, "a function is chosen inside its call"
            scopes.append(Scope(previous if calls else word))
            closed = None
        elif word in ")]}":
            closed = close_scope(scopes)
        else:
            if scope.empty:
                scope.empty, scope.declares = False, bool(DECLARES.match(word))
            if word == "?":
                if scope.holds or any(outer.asks for outer in around):
                    yield line, "a conditional expression is inside another one"
                scope.asks += 1
            elif word == ",":
                scope.start_item()
                scope.later = True
            elif word == ";":
                scope.start_statement()
            elif found.lastgroup == "assignment":
                outermost = around[-1].kind
                if outermost == "if" or len(around) > 1 and outermost not in ("while", "for"):
                    yield line, "an assignment is inside an expression"
            elif COLLECTIVE.match(word) and text.startswith("(", found.end()) and scope.declares and scope.later:
                yield line, "a collective call is a later declarator"
            closed = None
        previous = word


def check_expressions():
    probe = """int a = b ? (c ? 1 : 2) : f(d ? 3 : 4), err = MPI_Barrier(comm);
        if (p != NULL && (p = q) != NULL) while ((p = next()) != NULL) x = (a ? f : g)(b ? 1 : 2);"""
    tap.ok([number for number, _ in expressions(probe)] == [1, 1, 2, 2], "an expression that does two things is found")
    wrong = [f"{path}:{number}: {rule}" for path, text in c_sources() for number, rule in expressions(text)]
    tap.ok(not wrong, "an expression does one thing", "\n".join(wrong))


check_columns()
check_format()
check_truth_values()
check_prefetches()
check_expressions()
tap.finish()
