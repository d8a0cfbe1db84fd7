#!/usr/bin/env python3
"""Refuses source files over 600 lines, and folders of runtime/, plugins/ and tools/ with more than 5,000 lines of C in
their own files (subfolders are counted separately). Tests are not counted. The names of the files are read from standard input."""
import collections
import pathlib
import sys

FILE_LINES_MAX, FOLDER_LINES_MAX = 600, 5000
FOLDERS = ("runtime", "plugins", "tools")
# Larger all the same: path, and the reason.
EXCEPTIONS = {
    "runtime/include/sluice": "plugins include its files by the name of the folder; each one is read alone",
}

files, folders = {}, collections.Counter()
for path in (pathlib.Path(line.rstrip("\n")) for line in sys.stdin):
    if "tests" in path.parts:
        continue
    with open(path, "rb") as file:
        files[path] = sum(1 for _ in file)
    if path.parts[0] in FOLDERS and path.suffix != ".py":
        folders[path.parent] += files[path]
too_large = [(path, lines, limit) for found, limit in ((files, FILE_LINES_MAX), (folders, FOLDER_LINES_MAX))
             for path, lines in sorted(found.items()) if lines > limit]
status = 0
for path, lines, limit in too_large:
    if str(path) not in EXCEPTIONS:
        print(f"error: {path} has {lines} lines, more than {limit}: split it, or list it with a reason in scripts/sizes.py")
        status = 1
for path in EXCEPTIONS.keys() - {str(path) for path, *_ in too_large}:
    print(f"error: {path} is an exception in scripts/sizes.py, and within the limits")
    status = 1
sys.exit(status)
