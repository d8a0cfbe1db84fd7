#!/usr/bin/env python3
"""Each allocation and each system call may fail: commands run repeatedly, and the Nth call of a kind fails, for each N. No
failure may cause a crash or an endless wait. With a status other than 0 a message has the reason. With status 0 all
output is complete, byte for byte, or a message names what is missing. No incomplete file has the final name.

    failing_commands_test.py SLUICE FAIL_NTH.so [--stride N] [--only COMMAND] [--kind KIND] [--first N --last N]

With a stride of S, every Sth call of a kind fails (fewer for slow commands), and each of the first and last 6. Without a
stride every call fails, except for the two slowest commands, which have a stride of their own. Exits with 77 if system calls
cannot be caught.
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = 6  # number of first and last calls that no stride skips
SECONDS = 60
# Lines that differ from run to run.
VARYING = re.compile(r"^(rate|memory|as it is|slots \d)\b.*$|events of \S+, node|each of \d+ pass", re.M)  # the last alternative: a graph used as a source of events by a trial


class Command:
    """A command line; {out} is a new folder, {in} the folder of prepared inputs. `files`: output files with fixed content;
    `streams`: output files that differ from run to run; `slow`: factor of the stride."""

    def __init__(self, name, words, files=(), streams=(), slow=1):
        self.name, self.words, self.files, self.streams, self.slow = name, words, files, streams, slow


GRAPHS = shlex.quote(str(ROOT / "graphs"))  # in lines of words
COMMANDS = [
    Command("run", f"run {GRAPHS}/velo.yaml -n 3 --digest --slots 2"),
    Command("repeat", f"run {GRAPHS}/pv.yaml -n 3 --digest --repeat 3 --slots 2"),
    Command("simt", f"run {GRAPHS}/velo_counts.yaml -n 1 --digest --device simt"),
    Command("mdf", f"run {GRAPHS}/copy.yaml -i {{in}}/events.mdf -o {{out}}/copy.mdf", ["copy.mdf"]),
    Command("mep", f"run {GRAPHS}/copy.yaml -i {{in}}/events.mdf -o {{out}}/copy.mep --use write=io.mep_sink", ["copy.mep"]),
    Command("reports", f"run {GRAPHS}/velo.yaml -n 2 --json {{out}}/run.json --metrics {{out}}/run.prom --trace {{out}}/trace.json",
            streams=["run.json", "run.prom", "trace.json"]),
    Command("pattern", f"run {GRAPHS}/velo_counts.yaml -i {{in}}/e*s.[lm]df -n 1 --digest", slow=2),
    Command("check", f"check {GRAPHS}/velo.yaml"),
    Command("plan", f"plan {GRAPHS}/velo.yaml --svg {{out}}/plan.svg", ["plan.svg"]),
    Command("graph", f"graph {GRAPHS}/velo.yaml --mermaid -"),
    Command("new", "new plugin mine", ["mine/plugin.c", "mine/README.md"]),
    Command("list", "list", slow=4),
    Command("describe", "describe velo.search_by_triplet", slow=4),
    Command("schema", "schema", slow=4),
    Command("index", "index {in}/events.mdf -n 1", slow=2),
    Command("range", f"run {GRAPHS}/velo_counts.yaml -i {{in}}/events.mdf --range 0+ --digest", slow=4),
    Command("tune", f"tune {GRAPHS}/velo_counts.yaml -n 2 --slots 1,2 --rounds 1 --seconds 0.001", slow=20),
    Command("test", "test velo.decode_retina --device cpu -n 2", slow=40),
]


def preloaded(library, **more):
    environment = {**os.environ, "LD_PRELOAD": library, **more}
    environment.pop("SLUICE_FAIL", None) if "SLUICE_FAIL" not in more else None
    return environment


def call(arguments, words, folder, **more):
    filled = [word.format(out=folder, **{"in": arguments.inputs}) for word in shlex.split(words)]
    return subprocess.run([arguments.sluice, *filled], env=preloaded(arguments.library, **more), cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)


def steady(output, folder):
    return VARYING.sub("", output.decode(errors="replace").replace(str(folder), "OUT"))


class Reference:
    """Results of a run without failures."""

    def __init__(self, arguments, command):
        with tempfile.TemporaryDirectory(dir=arguments.inputs) as folder:
            count = Path(folder) / "count"
            done = call(arguments, command.words, folder, SLUICE_FAIL_COUNT=str(count))
            if done.returncode == 77 and not count.exists():
                print("skipped: system calls cannot be caught here (seccomp)")
                sys.exit(77)
            if done.returncode != 0:
                sys.exit(f"{command.name}: fails although no call was made to fail: {done.stderr.decode()}")
            self.calls = {kind: int(number) for kind, number in (line.split() for line in count.read_text().splitlines())}
            self.output = steady(done.stdout, folder)
            self.files = {name: (Path(folder) / name).read_bytes() for name in command.files}


def has_told(command, done):
    """True if a message reports the failure. `list` reports refused plugins in its output, and `test` its wrong results."""
    in_output = {"list": rb"^refused: ", "test": rb"[1-9]\d* (wrong|not run)"}.get(command.name)
    return bool(done.stderr.strip()) or bool(in_output and re.search(in_output, done.stdout, re.M))


def wrong_with(command, reference, folder, done):
    """Describes a wrong reaction to a failed call in one line; None if the reaction is right."""
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode == 127 and "cannot allocate memory for thread-local data" in said:
        return None  # the C library ends the process, which cannot be avoided
    if done.returncode < 0 or done.returncode > 125:
        return f"dies with {done.returncode}: {said[-300:]}"
    if done.returncode != 0 and "error: " not in said and not (command.name == "test" and has_told(command, done)):
        return f"ends with {done.returncode} without an error message: '{said[-200:]}'"
    for name in command.files:
        path = Path(folder) / name
        if done.returncode == 0 and (not path.exists() or (path.read_bytes() != reference.files[name] and not has_told(command, done))):
            return f"ends with 0, and {name} is {'wrong' if path.exists() else 'missing'}; prints '{said[-200:]}'"
        if done.returncode != 0 and path.exists() and path.read_bytes() != reference.files[name]:
            return f"ends with {done.returncode}, and leaves an incomplete {name}; prints '{said[-200:]}'"
    for name in command.streams:
        if done.returncode == 0 and not said and not (Path(folder) / name).exists():
            return f"ends with 0 without a message, and {name} is missing"
    if done.returncode == 0 and not has_told(command, done) and steady(done.stdout, folder) != reference.output:
        return f"ends with 0 without a message, and prints something else: {difference(reference.output, steady(done.stdout, folder))}"
    return None


def difference(expected, found):
    for a, b in zip(expected.splitlines() + [""], found.splitlines() + [""]):
        if a != b:
            return f"'{b}' for '{a}'"
    return "less"


def attempt(arguments, command, reference, kind, number):
    with tempfile.TemporaryDirectory(dir=arguments.inputs) as folder:
        try:
            done = call(arguments, command.words, folder, SLUICE_FAIL=f"{kind}:{number}")
        except subprocess.TimeoutExpired:
            return f"has not ended after {SECONDS} s"
        return wrong_with(command, reference, folder, done)


def chosen(arguments, command, total):
    stride = arguments.stride * command.slow if arguments.stride > 1 else max(1, command.slow // 4 - 1)
    first, last = arguments.first or 1, min(arguments.last or total, total)
    return [n for n in range(first, last + 1) if n % stride == 0 or n <= ALWAYS or n > total - ALWAYS]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("library")
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--kind")
    parser.add_argument("--first", type=int)
    parser.add_argument("--last", type=int)
    arguments = parser.parse_args()
    links = tempfile.TemporaryDirectory()  # a path in LD_PRELOAD ends at a space
    arguments.sluice, library = os.path.abspath(arguments.sluice), os.path.abspath(arguments.library)
    arguments.library = os.path.join(links.name, "library.so")
    os.symlink(library, arguments.library)
    begin, faults, attempts = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as inputs, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        arguments.inputs = inputs
        subprocess.run([arguments.sluice, "run", ROOT / "graphs/simulate.yaml", "-n", "2", "-o", f"{inputs}/events.mdf"], check=True,
                       capture_output=True)
        for command in COMMANDS:
            if arguments.only and command.name not in arguments.only.split(","):
                continue
            reference = Reference(arguments, command)
            for kind, total in reference.calls.items():
                if arguments.kind and kind != arguments.kind:
                    continue
                numbers = chosen(arguments, command, total)
                attempts += len(numbers)
                tries = {number: pool.submit(attempt, arguments, command, reference, kind, number) for number in numbers}
                for number, result in tries.items():
                    if result.result():
                        faults += 1
                        print(f"{command.name}, {kind} {number} of {total}: {result.result()}", flush=True)
    print(f"{attempts} calls failed, {faults} with a wrong reaction,  {time.monotonic() - begin:.0f} s")
    return 1 if faults or attempts == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
