#!/usr/bin/env python3
"""Finds pointers to global memory that nvcc compiled as pointers to shared memory, which makes a GPU fail or write elsewhere.

    shared_pointers.py BUILD         kernels that BUILD compiles with nvcc, compiled to PTX again
    shared_pointers.py FILE.ptx...

A pointer that a kernel loads from its parameters, or from global or constant memory, never points to shared memory. nvcc 13
converts such pointers (cvta.to.shared) if a struct has pointers to both memories. It does not if the two are passed
separately, as in plugins/ut/decode.cu.
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

LOAD = re.compile(r"\bld\.(?:\w+\.)*?(param|global|const)\b[^;]*?\s\{?((?:%\w+[\s,]*)+)\}?\s*,\s*\[")
WRITE = re.compile(r"^\s*(?:@!?%\w+\s+)?\{?\s*[a-z][\w.]*\s+\{?(%\w+)")
TO_SHARED = re.compile(r"\bcvta\.to\.shared\.u(?:32|64)\s+%\w+\s*,\s*(%\w+)")
FUNCTION = re.compile(r"\.(?:entry|func)\b.*?([\w$]+)\s*\(")


def wrong_pointers(text):
    """(line number, function, line) of each."""
    loaded, function = set(), "?"
    for number, line in enumerate(text.splitlines(), 1):
        begins, load, to_shared, write = FUNCTION.search(line), LOAD.search(line), TO_SHARED.search(line), WRITE.search(line)
        if begins:
            loaded, function = set(), begins.group(1)
        if to_shared and to_shared.group(1) in loaded:
            yield number, function, line.strip()
        if load:
            loaded.update(re.findall(r"%\w+", load.group(2)))
        elif write:
            loaded.discard(write.group(1))


def compiled(folder):
    """(source, command without its output) of what nvcc compiles."""
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if Path(words[0]).name == "nvcc" or (len(words) > 1 and Path(words[1]).name == "nvcc"):
            at = words.index("-o")
            # One architecture: what is made for several has no single PTX.
            kept = [w for w in words[:at] if not w.startswith("--generate-code") and w != "-c"]
            yield entry["file"], entry["directory"], [*kept, "-arch=sm_90", "-ptx"]


def ptx_of(source, folder, command):
    with tempfile.TemporaryDirectory() as out:
        path = Path(out) / "kernels.ptx"
        done = subprocess.run([*command, "-o", str(path)], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{source}: {done.stderr}")
        return path.read_text()


def main():
    paths = [Path(word) for word in sys.argv[1:]]
    if not paths:
        sys.exit(__doc__)
    if paths[0].is_dir():
        jobs = list(compiled(paths[0]))
        if not jobs:
            print(f"skipped: {paths[0]} is a build without nvcc, so that no kernel's pointers are looked at")
            sys.exit(77)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            texts = list(pool.map(lambda job: (job[0], ptx_of(*job)), jobs))
    else:
        texts = [(path, path.read_text()) for path in paths]
    wrong = [(name, *found) for name, text in texts for found in wrong_pointers(text)]
    for name, number, function, line in wrong:
        print(f"{name}: in {function}, line {number} of the PTX, a pointer to global memory is taken for one to shared memory: {line}")
    print(f"{len(texts)} files, {len(wrong)} such pointers")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
