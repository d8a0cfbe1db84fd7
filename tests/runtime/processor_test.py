#!/usr/bin/env python3
"""On an emulated processor without AVX2, a build for x86-64-v3 reports an error instead of dying with SIGILL: the command,
a program that uses the library, and Python: processor_test.py SLUICE PROGRAM LIBRARY"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sluice, program, library = sys.argv[1:4]
PYTHON = "/usr/bin/python3"
faults = 0


def on(processor, *command):
    environment = {**os.environ, "SLUICE_LIBRARY": library, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(["qemu-x86_64", "-cpu", processor, *map(str, command)], capture_output=True, text=True, env=environment)


def that(holds, text, done):
    global faults
    if not holds:
        faults += 1
        print(f"FAILED: {text}\n  status {done.returncode}\n{done.stdout}{done.stderr}")


if not shutil.which("qemu-x86_64"):
    print("skipped: there is no qemu-x86_64 (Debian: qemu-user)")
    sys.exit(77)
version = on("Nehalem", sluice, "--version")
if version.returncode == 0:
    print("skipped: this build needs no more than the emulated processor has")
    sys.exit(77)
MESSAGE = version.stderr.removeprefix("error: ").strip()
that("this build needs x86-64-" in MESSAGE and "AVX2" in MESSAGE and MESSAGE.count("\n") == 0, "one line names the missing instructions", version)
for words in (("--version",), ("run", ROOT / "graphs/velo.yaml", "-n", 1), ("list",), (), ("--help",)):
    done = on("Nehalem", sluice, *words)
    that(done.returncode == 2 and done.stderr == f"error: {MESSAGE}\n" and done.stdout == "", f"sluice {words} refuses", done)
done = on("Nehalem", program)
that(done.returncode == 0 and done.stdout.count(f"error: {MESSAGE}\n") == 10, "functions of the library fail with the message", done)
if Path(PYTHON).exists() and subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True).returncode == 0:
    done = on("Nehalem", PYTHON, "-c", "import sluice")
    that(done.returncode == 1 and f"ImportError: {library}: {MESSAGE}" in done.stderr, "the import raises", done)
if "x86-64-v3" in MESSAGE:
    done = on("Haswell", sluice, "--version")
    that(done.returncode == 0 and done.stdout.startswith("sluice "), "a processor with AVX2 runs it", done)
print("ok" if not faults else f"{faults} failed")
sys.exit(1 if faults else 0)
