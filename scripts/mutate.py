#!/usr/bin/env python3
"""Mutation tests of kernels: changes one operator or constant of a kernel at a time, and finds the test that fails.

    scripts/mutate.py --mutants 200 --seed 1 velo pv odin
    scripts/mutate.py --list velo          lists possible changes, without making any
    scripts/mutate.py --only FILE:LINE:COLUMN:NEW velo
    scripts/mutate.py --work /var/tmp/mutation --pack mutation.tar.gz     for another machine: below

A mutant is one change in the kernel sources of a plugin (*.cu, *.cpu.c, and headers of their folder that they include).
Works on a copy of the tree and one build of it in build/mutation. Each job has its own copy of the sources, compiles the
files that include the changed file, links its own plugins and tests, and runs the unit tests of the plugin, on the
processor and with two settings of the emulator, until one fails. Mutants that pass are then run by digest tests of whole
graphs.

Outcomes: killed (a unit test failed), timeout (a unit test did not end), digest (only a digest test failed), survived,
same code (the objects are identical: not a mutant), no build (the compiler refuses it: not a mutant). Changes that are not
mutants are replaced by others. Each result is written to --report at once as one line, and a later call continues after the
existing lines; --seconds limits a call.

--pack makes an archive for another machine with Python and gcc, without libraries or network. It is unpacked under the same
path:

    tar -C / -xzf mutation.tar.gz; python3 /var/tmp/mutation/tree/scripts/mutate.py --work /var/tmp/mutation --prepared
"""
import argparse
import collections
import concurrent.futures
import csv
import dataclasses
import json
import os
import pathlib
import queue
import random
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLUGINS = ["generic", "odin", "velo", "pv", "lumi"]
BUILD_SECONDS, TEST_SECONDS, DIGEST_SECONDS = 300, 20, 150
NO_MUTANT = ("same code", "no build")

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

    def text(self, original):
        """The file with this change."""
        lines = original.split("\n")
        line, at = lines[self.line - 1], self.column - 1
        assert line[at:].startswith(self.old), self
        lines[self.line - 1] = line[:at] + self.new + line[at + len(self.old):]
        return "\n".join(lines)


def blank(text):
    """The same text with spaces for comments, strings and lines of the preprocessor, line by line."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, text, flags=re.MULTILINE)


def places(plugin, path, tree):
    """All mutants of a file."""
    for number, line in enumerate(blank((tree / path).read_text()).split("\n"), 1):
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


def kernel_files(plugin, tree):
    """Sources of kernels, and what of the plugin's own folder they include."""
    folder = tree / "plugins" / plugin
    files = sorted(folder.rglob("*.cu")) + sorted(folder.rglob("*.cpu.c"))
    for file in files:
        for name in re.findall(r'^#include "([^"/]+)"', file.read_text(), re.MULTILINE):
            if (file.parent / name).exists() and file.parent / name not in files:
                files.append(file.parent / name)
    return [file.relative_to(tree) for file in files]


def drawn(plugins, seed, tree):
    """Mutants of all files in turn, so that a long file has no more of them than a short one; of each file at random."""
    generator = random.Random(seed)
    left = []
    for plugin in plugins:
        for path in kernel_files(plugin, tree):
            of_file = list(places(plugin, path, tree))
            generator.shuffle(of_file)
            if of_file:
                left.append(of_file)
    while left:
        for of_file in left:
            yield of_file.pop()
        left = [of_file for of_file in left if of_file]


class Unfinished(Exception):
    """The call's time is over."""


class Calls:
    """Runs programs until a time, beyond which there are none."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds if seconds else None

    def run(self, command, seconds, **more):
        """Exit status and output; None as the status when it takes longer. Ends what it started."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                   start_new_session=True, **more)
        end = time.monotonic() + seconds
        while True:
            try:
                output, _ = process.communicate(timeout=0.5)
                return process.returncode, output
            except subprocess.TimeoutExpired:
                is_over = self.end is not None and time.monotonic() > self.end
                if not is_over and time.monotonic() < end:
                    continue
                os.killpg(process.pid, 9)
                process.communicate()
                if is_over:
                    raise Unfinished from None
                return None, ""


class Workshop:
    """The folder WORK: tree/, a copy of the sources; build/, a build of it; plan.json, what depends on kernels there, and
    how it is made and tested; lib/, include/ and data/ if it was packed; sound/, objects of unchanged sources; jobs/."""

    def __init__(self, work, calls):
        self.work, self.calls = work, calls
        self.tree, self.build = work / "tree", work / "build"

    # ------------------------------------------------------------------------------------------------ preparing

    def copy_tree(self):
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                               capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, names):
            source, copy = ROOT / name, self.tree / name
            if source.is_file() and not (copy.exists() and copy.read_bytes() == source.read_bytes()):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)

    def prepare(self, jobs):
        """A copy of the tree, a build of it, and the plan."""
        self.copy_tree()
        launcher = ["-D", "CMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        commands = [["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D",
                     "CMAKE_C_FLAGS_RELEASE=-O2 -w", "-D", "SLUICE_CUDA=OFF", "-D", "SLUICE_X86_64_V4=OFF", *launcher],
                    ["cmake", "--build", self.build, "--parallel", str(jobs)]]
        for command in commands:
            status, output = self.calls.run(command, 3600)
            if status != 0:
                sys.exit(f"error: the tree does not build as it is:\n{output}")
        shutil.rmtree(self.work / "sound", ignore_errors=True)
        (self.work / "plan.json").write_text(json.dumps(self.planned(), indent=1))

    def ask(self, *command):
        return subprocess.run(command, cwd=self.build, check=True, capture_output=True, text=True).stdout

    def planned(self):
        kernels = {str(self.tree / path): str(path) for plugin in PLUGINS for path in kernel_files(plugin, self.tree)}
        compiled, linked, tests = {}, {}, collections.defaultdict(list)
        inputs = collections.defaultdict(list)  # per object: its kernel sources
        for line in self.ask("ninja", "-t", "deps").splitlines():
            if line.startswith(" "):
                path = os.path.normpath(self.build / line.strip())
                if path in kernels:
                    inputs[made].append(kernels[path])
            elif line:
                made = line.split(":")[0]
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            command = shlex.split(entry["command"])
            made = command[command.index("-o") + 1]
            if made in inputs:
                compiled[made] = {"command": command, "inputs": inputs[made]}
        for line in self.ask("ninja", "-t", "targets", "all").splitlines():
            made, rule = line.split(": ")
            if "_LINKER__" not in rule:
                continue
            command = self.ask("ninja", "-t", "commands", "-s", made).strip()
            objects = [word for word in command.split() if word in compiled]
            if objects:
                linked[made] = {"command": command, "objects": objects}
        for test in json.loads(self.ask("ctest", "--show-only=json-v1"))["tests"]:
            properties = {p["name"]: p["value"] for p in test["properties"]}
            for plugin in PLUGINS:
                if re.search(f"^{plugin}_.*test(_simt_1_32|_simt_2_64)?$|^({plugin}|graphs)_digests$", test["name"]):
                    tests[plugin].append({"name": test["name"], "command": test["command"],
                                          "environment": properties.get("ENVIRONMENT", [])})
        return {"compiled": compiled, "linked": linked, "tests": tests}

    def pack(self, archive):
        """Libraries, one header and the samples beside the rest, and all that in one file."""
        plan = json.loads((self.work / "plan.json").read_text())
        programs = [self.build / "sluice", *(self.build / "plugins").glob("*.so"),
                    *(path for path in (self.build / "tests").iterdir() if path.is_file() and os.access(path, os.X_OK))]
        folder = self.work / "lib"
        shutil.rmtree(folder, ignore_errors=True)  # where the command would find what an earlier call put there
        folder.mkdir()
        for line in sorted(set(self.ask("ldd", *programs).splitlines())):
            found = re.match(r"\t(\S+) => (/\S+)", line)
            if found and not re.match(r"(libc|libm|libdl|libpthread|libsluice.*)\.so", found.group(1)):
                shutil.copy(found.group(2), folder / found.group(1))
        for made in plan["linked"].values():
            for path in re.findall(r"(?<= )/usr/\S+\.so(?= )", made["command"]):
                name = pathlib.Path(path).resolve().name
                shutil.copy(path, folder / name)
                made["command"] = made["command"].replace(path, str(folder / name))
        (self.work / "include").mkdir(exist_ok=True)
        for header in pathlib.Path("/usr/include").glob("cmocka*.h"):
            shutil.copy(header, self.work / "include")
        if "SLUICE_DATA" in os.environ:
            shutil.copytree(os.environ["SLUICE_DATA"], self.work / "data", dirs_exist_ok=True)
        (self.work / "plan.json").write_text(json.dumps(plan, indent=1))

        def wanted(member):
            name = member.name[len(str(self.build)):] if member.name.startswith(str(self.build)[1:]) else ""
            unused = name.endswith((".o", ".d")) and name.lstrip("/") not in objects
            return None if unused or name.endswith("/.ninja_deps") else member

        objects = {word for made in plan["linked"].values() for word in made["command"].split()}
        with tarfile.open(archive, "w:gz", compresslevel=3) as file:
            for name in ("tree", "build", "lib", "include", "data", "plan.json", "report.csv"):
                if (self.work / name).exists():
                    file.add(self.work / name, filter=wanted)

    # ------------------------------------------------------------------------------------------------ working

    def open(self, plugins, jobs):
        """Folders of the jobs, and objects of all unchanged sources; then all tests must pass."""
        self.plan = json.loads((self.work / "plan.json").read_text())
        self.environment = {**os.environ, "LC_ALL": "C"}
        if (self.work / "lib").exists():
            self.environment["LD_LIBRARY_PATH"] = str(self.work / "lib")
        if (self.work / "data").exists():
            self.environment["SLUICE_DATA"] = str(self.work / "data")
        self.close()
        self.free = queue.Queue()
        for index in range(jobs):
            folder = self.work / "jobs" / str(index)
            shutil.copytree(self.tree, folder / "tree")
            self.free.put(folder)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for status, output in pool.map(self.compile_sound, self.plan["compiled"]):
                if status != 0:
                    sys.exit(f"error: the tree does not compile as it is:\n{output}")
            for plugin, (outcome, test) in zip(plugins, pool.map(self.try_sound, plugins)):
                if outcome != "survived":
                    sys.exit(f"error: {test} of {plugin} fails ({outcome}) as the tree is")

    def close(self):
        shutil.rmtree(self.work / "jobs", ignore_errors=True)

    def compile(self, made, tree, objects):
        """Compiles sources of `tree` to one of the objects in the folder `objects`."""
        target = objects / made
        target.parent.mkdir(parents=True, exist_ok=True)
        command = [word.replace(str(self.tree), str(tree)) for word in self.plan["compiled"][made]["command"]]
        command[command.index("-o") + 1] = str(target)
        source = self.build / command[command.index("-c") + 1]
        if source.is_relative_to(self.build):  # generated, and includes the kernel by its path
            copy = target.with_suffix(".c")
            copy.write_text(source.read_text().replace(str(self.tree), str(tree)))
            command[command.index("-c") + 1] = str(copy)
        command += [f"-ffile-prefix-map={tree}={self.tree}", "-I", str(self.work / "include")]
        return self.calls.run(command, BUILD_SECONDS, cwd=self.build)

    def compile_sound(self, made):
        if (self.work / "sound" / made).exists():
            return 0, ""
        folder = self.free.get()
        try:
            status, output = self.compile(made, folder / "tree", folder / "out")
            if status == 0:
                (self.work / "sound" / made).parent.mkdir(parents=True, exist_ok=True)
                os.replace(folder / "out" / made, self.work / "sound" / made)
            return status, output
        finally:
            self.free.put(folder)

    def link(self, folder, objects):
        """All that these objects are part of, of the job's objects, and of sound ones."""
        for made, how in self.plan["linked"].items():
            if not set(how["objects"]) & set(objects):
                continue
            target = folder / ("plugins" if made.endswith(".so") else "programs") / pathlib.Path(made).name
            target.parent.mkdir(exist_ok=True)
            words = how["command"].split(" ")
            words = [str(folder / "out" / word) if word in objects else
                     str(self.work / "sound" / word) if word in how["objects"] else word for word in words]
            words[words.index("-o") + 1] = str(target)
            status, output = self.calls.run(["sh", "-c", " ".join(words)], BUILD_SECONDS, cwd=self.build)
            if status != 0:
                sys.exit(f"error: cannot link {made}:\n{output}")

    def try_test(self, folder, test, seconds):
        command = list(test["command"])
        own = folder / "programs" / pathlib.Path(command[0]).name
        if own.exists():
            command[0] = str(own)
        elif pathlib.Path(command[0]).name.startswith("python"):
            command[0] = sys.executable
        environment = {**self.environment, **dict(entry.split("=", 1) for entry in test["environment"]),
                       "SLUICE_TEST_FOLDER": str(folder / "plugins"), "SLUICE_PLUGIN_PATH": str(folder / "plugins"),
                       "TMPDIR": str(folder / "tmp")}
        return self.calls.run(command, seconds, cwd=folder / "tmp", env=environment)

    def try_tests(self, folder, plugin, stem):
        """Outcome, and the test that decided it. Tests with the name of the file run first."""
        def order(test):
            return test["name"].endswith("_digests"), stem not in test["name"]

        for test in sorted(self.plan["tests"][plugin], key=order):
            is_digest = test["name"].endswith("_digests")
            status, output = self.try_test(folder, test, DIGEST_SECONDS if is_digest else TEST_SECONDS)
            if status is None:
                return "timeout", test["name"]
            if status not in (0, 77):  # 77 is skipped
                return ("digest" if is_digest else "killed"), test["name"]
        return "survived", ""

    def try_sound(self, plugin):
        folder = self.take()
        try:
            made = [m for m, how in self.plan["compiled"].items() if f"plugins/{plugin}/" in " ".join(how["inputs"])]
            for one in made:
                (folder / "out" / one).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.work / "sound" / one, folder / "out" / one)
            self.link(folder, made)
            return self.try_tests(folder, plugin, plugin)
        finally:
            self.free.put(folder)

    def take(self):
        """A job's folder, as new."""
        folder = self.free.get()
        for name in ("out", "plugins", "programs", "tmp"):
            shutil.rmtree(folder / name, ignore_errors=True)
        for name in ("plugins", "tmp"):
            (folder / name).mkdir()
        return folder

    def examine(self, mutant):
        folder = self.take()
        original = (self.tree / mutant.path).read_text()
        try:
            (folder / "tree" / mutant.path).write_text(mutant.text(original))
            objects = [made for made, how in self.plan["compiled"].items() if str(mutant.path) in how["inputs"]]
            for made in objects:
                if self.compile(made, folder / "tree", folder / "out")[0] != 0:
                    return "no build", ""
            if all((folder / "out" / made).read_bytes() == (self.work / "sound" / made).read_bytes() for made in objects):
                return "same code", ""
            self.link(folder, objects)
            return self.try_tests(folder, mutant.plugin, mutant.path.name.split(".")[0])
        finally:
            (folder / "tree" / mutant.path).write_text(original)
            self.free.put(folder)


class Report:
    """Outcomes by mutant, kept in a file as they are found."""

    def __init__(self, path):
        self.path, self.found, self.lock = path, {}, threading.Lock()
        if path and path.exists():
            with open(path, newline="") as file:
                self.found = {(row["place"], row["old"], row["new"]): row["outcome"] for row in csv.DictReader(file)}
        elif path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("place,old,new,outcome,test,seconds\n")

    def outcome(self, mutant):
        return self.found.get((mutant.name(), mutant.old, mutant.new))

    def add(self, mutant, outcome, test, seconds):
        with self.lock:
            self.found[mutant.name(), mutant.old, mutant.new] = outcome
            if self.path:
                with open(self.path, "a", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerow(
                        [mutant.name(), mutant.old, mutant.new, outcome, test, f"{seconds:.0f}"])
            print(f"{outcome:10} {mutant.name()}: {mutant.old} -> {mutant.new}  {test}", flush=True)


def examine_all(workshop, mutants, wanted, report, jobs):
    """Examines changes in order until `wanted` of them are mutants; returns the examined changes."""
    def one(mutant):
        start = time.monotonic()
        report.add(mutant, *workshop.examine(mutant), time.monotonic() - start)

    left, reached, running = collections.deque(mutants), [], set()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while True:
            # All running changes may be mutants.
            while left and len(running) < jobs and sum(report.outcome(m) not in NO_MUTANT for m in reached) < wanted:
                reached.append(left.popleft())
                if report.outcome(reached[-1]) is None:
                    running.add(pool.submit(one, reached[-1]))
            if not running:
                return reached
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                try:
                    future.result()
                except Unfinished:
                    left.clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugins", nargs="*", default=PLUGINS)
    parser.add_argument("--mutants", type=int, default=200, help="stop after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, help="stop after so many; what is not finished is left to a later call")
    parser.add_argument("--report", type=pathlib.Path, help="report.csv of the work folder unless given")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "mutation")
    parser.add_argument("--prepared", action="store_true", help="take the tree and the build in the work folder as they are")
    parser.add_argument("--pack", type=pathlib.Path, metavar="FILE", help="prepare, make an archive, and stop")
    parser.add_argument("--list", action="store_true", help="print the places and stop")
    parser.add_argument("--only", action="append", help="this one: FILE:LINE:COLUMN:NEW")
    arguments = parser.parse_args()
    if arguments.list:
        for mutant in sorted(drawn(arguments.plugins, arguments.seed, ROOT), key=lambda m: (str(m.path), m.line, m.column)):
            print(f"{mutant.name()}: {mutant.old} -> {mutant.new}")
        return 0
    workshop = Workshop(arguments.work.absolute(), Calls(arguments.seconds))
    if not arguments.prepared:
        workshop.prepare(arguments.jobs)
    if arguments.pack:
        workshop.pack(arguments.pack)
        return 0
    mutants = list(drawn(arguments.plugins, arguments.seed, workshop.tree))
    report = Report(None if arguments.only else arguments.report or workshop.work / "report.csv")
    if arguments.only:
        mutants = [m for m in mutants if f"{m.name()}:{m.new}" in arguments.only]
    try:
        workshop.open(arguments.plugins, arguments.jobs)
        reached = examine_all(workshop, mutants, arguments.mutants, report, arguments.jobs)
    except Unfinished:
        print("no time was left to begin")
        return 3
    finally:
        workshop.close()
    counts = collections.Counter(report.outcome(mutant) or "unfinished" for mutant in reached)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 3 if counts["unfinished"] else 0


if __name__ == "__main__":
    sys.exit(main())
