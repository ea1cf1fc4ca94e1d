# needs: python
"""Completions of the tools' options: every option that a shell offers is one that the tool accepts, all that its usage
line names are offered, and the files are those of the installed folders."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import cdf
import tap
import tool

TOOLS = ["cdfdiff", "ncmpicopy", "ncmpidiff", "ncmpidump", "ncmpigen", "ncmpilog", "ncoffsets", "ncvalidator"]
FOLDER = os.path.join(tool.BUILD, "completions")


def complete(name, word):
    """What bash offers after a word, and whether it completes names of files where there is no option."""
    script = (f"source {FOLDER}/bash/{name}; COMP_WORDS=({name} {word}); COMP_CWORD=1; _{name}; "
              f"printf '%s\\n' \"${{COMPREPLY[@]}}\"; complete -p {name}")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    *offered, how = done.stdout.splitlines()
    return [word for word in offered if word], done.returncode == 0 and "-o default" in how


def test_options(name):
    offered, good = complete(name, "-")
    usage = tool.run(name, "--help").stdout.decode().split("\n\n")[0]
    named = set(re.findall(r"(?<![\w-])(--?[\w-]+)", usage))
    short = {"-" + letter for word in named if not word.startswith("--") for letter in word[1:]}
    missing = {word for word in named if word.startswith("--")} | short
    tap.ok(good and missing and missing <= set(offered), f"{name}: all options of its usage", missing - set(offered))
    refused = []
    for option in offered:
        done = tool.run(name, option)
        if re.search(rb"(invalid|unrecognized|ambiguous) option", done.stderr):
            refused.append((option, done.stderr))
    tap.ok(not refused and tool.run(name, "--nonsense").returncode in (1, 2), f"{name}: accepts what is offered",
           refused)
    tap.ok(complete(name, "--vers")[0] == ["--version"] and complete(name, "file")[0] == [], f"{name}: beginnings",
           complete(name, "--vers"))


def complete_value(name, words, at, folder):
    """What bash offers for the word at this position."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = (f"cd {folder}; source {FOLDER}/bash/{name}; COMP_WORDS=({quoted}); COMP_CWORD={at}; _{name}; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    path = os.path.join(tool.BUILD, "src", "tools", "ncmpidump") + ":" + os.environ["PATH"]
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": path})
    return done.stdout.split(), done.stderr


def test_values():
    """Kinds after -k, and names of variables of the files on the line after -v; never code in such a name."""
    folder = tap.scratch("values")
    os.makedirs(folder, exist_ok=True)
    cdf.Writer(5, [("time", None), ("x", 2)], [("double", "char", b"x")], [
        ("temp", "double", [0, 1], [("int", "int", [1])], []), ("time", "int", [0], [], []),
        ("salt", "float", [], [], []), ("$(touch owned)", "int", [1], [], []),
        ("`touch owned`", "int", [1], [], [])]).write(os.path.join(folder, "a.nc"))
    for words, at, wanted in (
            (["ncmpicopy", "-k", ""], 2, ["classic", "64-bit-offset", "cdf5"]), (["ncmpicopy", "-k", "c"], 2,
                                                                                 ["classic", "cdf5"]),
            (["ncmpidump", "-v", "", "a.nc"], 2, ["temp", "time", "salt"]),
            (["ncmpidump", "a.nc", "-v", "t"], 3, ["temp", "time"]),
            (["cdfdiff", "-v", "salt,te", "a.nc", "none.nc"], 2, ["salt,temp"]),
            (["ncmpicopy", "-V", "s", "a.nc"], 2, ["salt"]), (["ncoffsets", "-v", "x", "a.nc"], 2, []),
            (["ncmpidump", "-k", "-", "a.nc"], 2, None)):
        found, err = complete_value(words[0], words, at, folder)
        good = found == wanted if wanted is not None else "-v" in found
        tap.ok(good and not err, f"{' '.join(words)}: {wanted or 'options'}", (found, err))
    tap.ok(not os.path.exists(os.path.join(folder, "owned")), "names of variables are not executed")


def test_shells(name):
    """zsh and fish read their files, and fish offers what bash does."""
    offered = set(complete(name, "-")[0])
    for shell, path in (("zsh", f"zsh/_{name}"), ("fish", f"fish/{name}.fish")):
        if not shutil.which(shell):
            tap.skip(f"{name}: {shell}", "it is not installed")
            continue
        done = subprocess.run([shell, "-n", os.path.join(FOLDER, path)], capture_output=True, check=False)
        tap.ok(done.returncode == 0 and not done.stderr, f"{name}: {shell} reads its file", done.stderr)
    with open(f"{FOLDER}/fish/{name}.fish", encoding="utf-8") as file:
        pairs = re.findall(r"^complete -c " + name + r" (-[sl]) (\S+)", file.read(), re.M)
    tap.ok({("-" if kind == "-s" else "--") + word for kind, word in pairs} == offered, f"{name}: fish has the same")
    with open(f"{FOLDER}/zsh/_{name}", encoding="utf-8") as file:
        words = re.findall(r"^    '\*(--?[\w-]+)", file.read(), re.M)
    tap.ok(set(words) == offered, f"{name}: zsh has the same", offered ^ set(words))


def test_script(name, *helps):
    """Programs in Python: the options are those of --help, as argparse prints it."""
    program = os.path.join(tool.BUILD, "src", "tools", name)
    named = set()
    for options in helps:
        done = subprocess.run([program, *options], capture_output=True, text=True, check=False)
        for left in re.findall(r"^ +(-.*?)(?:  .*)?$", done.stdout, re.M): # up to what the option does
            named |= set(re.findall(r"(?<![\w-])--?[\w-]+", left))
    offered, good = complete(name, "-")
    tap.ok(good and len(named) > 2 and set(offered) == named and len(offered) == len(named),
           f"{name}: all options of its help", named ^ set(offered))


def main():
    test_values()
    for name in TOOLS:
        test_options(name)
        test_shells(name)
    test_script("ncoffsets-parquet", ["--help"])
    test_shells("ncoffsets-parquet")
    test_script("ncmpistat", ["--help"], ["--plan", "--help"])
    test_shells("ncmpistat")
    done = subprocess.run([os.path.join(tool.BUILD, "src", "tools", "ncmpistat"), "x.json", "--plan"],
                          capture_output=True, text=True, check=False)
    tap.ok(done.returncode == 2 and "--plan must be the first option" in done.stderr, "ncmpistat: --plan comes first",
           done)
    tap.finish()


main()
