#!/usr/bin/env python3
"""Tests the kernels' tests: changes one operator or constant of a kernel at a time, and looks which test notices.

    scripts/mutate.py --mutants 200 --seed 1 velo pv odin
    scripts/mutate.py --list velo          the places that may be changed, none is
    scripts/mutate.py --only FILE:LINE:COLUMN:NEW velo

Works on a copy of the tree in build/mutation, so that the working tree stays as it is. A mutant is a change of one
place in the kernel sources of a plugin (*.cu, *.cpu.c, and the headers beside them that these include). The plugin alone
is built, and its unit tests run on the processor and on two of the emulator's settings until one fails. What they let
pass is then run by digest tests, which see whole graphs.

Outcomes: killed (a unit test failed), timeout (a unit test did not end), digest (only a digest test failed), survived,
same code (the compiler makes the same library of it: no mutant), no build (the compiler refuses it: no mutant). What is
no mutant is replaced by another. One line a mutant goes to build/mutation/report.csv as it is found.
"""
import argparse
import collections
import csv
import dataclasses
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutation"
TREE = WORK / "tree"
BUILD = WORK / "build"
PLUGINS = ["generic", "odin", "velo", "pv", "lumi"]
BUILD_SECONDS, TEST_SECONDS = 300, 60

# Binary operators stand between spaces; that tells them from pointers and signs.
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&&": "||", "||": "&&", "&": "|", "|": "&",
    "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=",
}
OPERATOR = re.compile(r"(?<= )(" + "|".join(sorted(map(re.escape, OPERATORS), key=len, reverse=True)) + r")(?= )")
INTEGER = re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])")
REAL = re.compile(r"(?<![\w.])(\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(f?)(?![\w.])")
NOT = re.compile(r"(?<=[( ])!(?=[\w(])")


@dataclasses.dataclass
class Mutant:
    plugin: str
    path: pathlib.Path  # in the tree
    line: int
    column: int  # from 1
    old: str
    new: str

    def name(self):
        return f"{self.path}:{self.line}:{self.column}"


def blank(text):
    """The same text with spaces for comments, strings and lines of the preprocessor, line by line."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, text, flags=re.MULTILINE)


originals = {}  # texts of what is mutated, as they were at the start


def places(plugin, path):
    """All mutants of a file."""
    originals[path] = (ROOT / path).read_text()
    for number, line in enumerate(blank(originals[path]).split("\n"), 1):
        if re.match(r"\s*(static_assert|_Static_assert|SL_DECLARE)\b", line):
            continue
        for match in OPERATOR.finditer(line):
            yield Mutant(plugin, path, number, match.start() + 1, match.group(1), OPERATORS[match.group(1)])
        for match in INTEGER.finditer(line):
            new = str(int(match.group(1), 0) + 1) + match.group(2)
            yield Mutant(plugin, path, number, match.start() + 1, match.group(0), new)
        for match in REAL.finditer(line):
            value = float(match.group(1))
            new = repr(value * 1.1 if value else 1.0) + match.group(2)
            yield Mutant(plugin, path, number, match.start() + 1, match.group(0), new)
        for match in NOT.finditer(line):
            yield Mutant(plugin, path, number, match.start() + 1, "!", "")


def kernel_files(plugin):
    """Sources of kernels, and what of the plugin's own folder they include."""
    folder = ROOT / "plugins" / plugin
    files = sorted(folder.glob("*.cu")) + sorted(folder.glob("*.cpu.c"))
    for file in files:
        for name in re.findall(r'^#include "([^"/]+)"', file.read_text(), re.MULTILINE):
            if (folder / name).exists() and folder / name not in files:
                files.append(folder / name)
    return [file.relative_to(ROOT) for file in files]


def run(command, seconds, **more):
    """Exit status and output; None as the status when it takes longer. Ends what it started."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True, **more)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return None, ""


def prepare(plugins, jobs):
    """A copy of the tree, and a build of what the plugins' tests need."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, copy = ROOT / name, TREE / name
        if source.is_file() and not (copy.exists() and copy.read_bytes() == source.read_bytes()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    launcher = ["-D", "CMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    commands = [["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D",
                 "CMAKE_C_FLAGS_RELEASE=-O2 -w", "-D", "SLUICE_CUDA=OFF", *launcher],
                ["cmake", "--build", BUILD, "--parallel", str(jobs)]]
    for command in commands:
        status, output = run(command, 3600)
        if status != 0:
            sys.exit(f"error: the tree does not build as it is:\n{output}")
    for plugin in plugins:
        outcome, test = try_tests(plugin, plugin, jobs)
        if outcome != "survived":
            sys.exit(f"error: {test} fails ({outcome}) as the tree is")


def targets(plugin):
    """The plugin's libraries that run here."""
    return [f"{plugin}.{target}" for target in ("cpu", "simt") if (BUILD / "plugins" / f"{plugin}.{target}.so").exists()]


def library_digest(plugin):
    digest = hashlib.sha256()
    for target in targets(plugin):
        digest.update((BUILD / "plugins" / f"{target}.so").read_bytes())
    return digest.hexdigest()


def build(plugin, jobs):
    """The plugin, and its tests that include what it is made of."""
    tests = subprocess.run(["ctest", "--test-dir", BUILD, "-N", "-R", f"^{plugin}_.*test$"], capture_output=True,
                           text=True).stdout
    wanted = targets(plugin) + re.findall(r"Test +#\d+: (\w+)$", tests, re.MULTILINE)
    return run(["cmake", "--build", BUILD, "--parallel", str(jobs), "--target", *wanted], BUILD_SECONDS)[0] == 0


def try_tests(plugin, stem, jobs):
    """Outcome, and the test that made it. First those that bear the file's name, which know best."""
    stages = [("killed", f"^{plugin}_.*{stem}.*test(_simt_1_32)?$"),
              ("killed", f"^{plugin}_.*test(_simt_1_32|_simt_2_64)?$"),
              ("digest", f"^({plugin}|graphs)_digests$")]
    for kind, pattern in stages:
        status, output = run(["ctest", "--test-dir", BUILD, "-R", pattern, "--parallel", str(jobs), "--timeout",
                              str(TEST_SECONDS), "--stop-on-failure"], 20 * TEST_SECONDS)
        if status == 0:
            continue
        failed = re.search(r"Test +#\d+: (\S+) \.*\s*\*\*\*(\S+)", output)
        if status is None or (failed and failed.group(2) == "Timeout"):
            return "timeout", failed.group(1) if failed else pattern
        return kind, failed.group(1) if failed else pattern
    return "survived", ""


def change(mutant):
    """Writes the mutant into the copy."""
    lines = originals[mutant.path].split("\n")
    line, at = lines[mutant.line - 1], mutant.column - 1
    assert line[at:].startswith(mutant.old), mutant
    lines[mutant.line - 1] = line[:at] + mutant.new + line[at + len(mutant.old):]
    (TREE / mutant.path).write_text("\n".join(lines))


def examine(mutant, digests, jobs):
    change(mutant)
    try:
        if not build(mutant.plugin, jobs):
            return "no build", ""
        if library_digest(mutant.plugin) == digests[mutant.plugin]:
            return "same code", ""
        return try_tests(mutant.plugin, mutant.path.name.split(".")[0], jobs)
    finally:
        (TREE / mutant.path).write_text(originals[mutant.path])


def drawn(plugins, seed):
    """Mutants of all files in turn, so that a long file has no more of them than a short one; of each file at random."""
    generator = random.Random(seed)
    left = []
    for plugin in plugins:
        for path in kernel_files(plugin):
            of_file = list(places(plugin, path))
            generator.shuffle(of_file)
            if of_file:
                left.append(of_file)
    while left:
        for of_file in left:
            yield of_file.pop()
        left = [of_file for of_file in left if of_file]


def examine_all(mutants, arguments):
    prepare(arguments.plugins, arguments.jobs)
    digests = {plugin: library_digest(plugin) for plugin in arguments.plugins}
    counts = collections.Counter()
    with open(WORK / "report.csv", "w", newline="") as file:
        report = csv.writer(file)
        report.writerow(["place", "old", "new", "outcome", "test"])
        for mutant in mutants:
            if counts["mutants"] == arguments.mutants:
                break
            outcome, test = examine(mutant, digests, arguments.jobs)
            counts[outcome] += 1
            counts["mutants"] += outcome not in ("no build", "same code")
            report.writerow([mutant.name(), mutant.old, mutant.new, outcome, test])
            file.flush()
            print(f"{outcome:10} {mutant.name()}: {mutant.old} -> {mutant.new}  {test}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugins", nargs="*", default=PLUGINS)
    parser.add_argument("--mutants", type=int, default=200, help="stop after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first so many of those drawn")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the places and stop")
    parser.add_argument("--only", action="append", help="this one: FILE:LINE:COLUMN:NEW")
    arguments = parser.parse_args()
    mutants = list(drawn(arguments.plugins, arguments.seed))
    mutants = mutants[arguments.skip:]
    if arguments.only:
        mutants = [m for m in mutants if f"{m.name()}:{m.new}" in arguments.only]
    if arguments.list:
        for mutant in sorted(mutants, key=lambda m: (str(m.path), m.line, m.column)):
            print(f"{mutant.name()}: {mutant.old} -> {mutant.new}")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder  # tests that a mutant ends leave their files behind
        examine_all(mutants, arguments)


if __name__ == "__main__":
    main()
