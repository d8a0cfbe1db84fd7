#!/usr/bin/env python3
"""Search paths of built files for libraries: search_paths_test.py SLUICE

Reads each RPATH and RUNPATH in the build tree: each entry must begin with $ORIGIN. An empty or relative entry would be the
current folder. Then the command runs in a folder with libraries of the names that it needs, and must not load them.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from common import Checks

DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29
PT_LOAD, PT_DYNAMIC = 1, 2
checks = Checks(says_passed=False)
check = checks.that


def dynamic_texts(path):
    """The texts of the dynamic section, by tag; None for a file that is no ELF file with one."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\2\1":
        return None
    offset, entry_bytes, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, offset + i * entry_bytes) for i in range(count)]  # type, flags, offset, vaddr, paddr, filesz
    found = [s for s in segments if s[0] == PT_DYNAMIC]
    if not found:
        return None
    entries = [struct.unpack_from("<QQ", data, found[0][2] + at) for at in range(0, found[0][5], 16)]
    strings = next(value for tag, value in entries if tag == DT_STRTAB)
    place = next(s[2] + strings - s[3] for s in segments if s[0] == PT_LOAD and s[3] <= strings < s[3] + s[5])
    texts = {}
    for tag, value in entries:
        if tag in (DT_NEEDED, DT_RPATH, DT_RUNPATH):
            texts.setdefault(tag, []).append(data[place + value:data.index(b"\0", place + value)].decode())
    return texts


def artefacts(build):
    for folder, folders, names in os.walk(build):
        folders[:] = [name for name in folders if name != "CMakeFiles"]
        for name in names:
            path = pathlib.Path(folder) / name
            if not path.is_symlink() and (path.suffix == ".so" or ".so." in name or os.access(path, os.X_OK)):
                yield path


def main(sluice):
    sluice = pathlib.Path(sluice).resolve()
    seen = 0
    for path in artefacts(sluice.parent):
        texts = dynamic_texts(path)
        seen += texts is not None
        for entry in [e for tag in (DT_RPATH, DT_RUNPATH) for text in (texts or {}).get(tag, []) for e in text.split(":")]:
            check(entry == "$ORIGIN" or entry.startswith("$ORIGIN/"), f"{path} searches libraries only next to itself: '{entry}'")
    check(seen > 20, f"more than 20 artefacts are found: {seen}")
    with tempfile.TemporaryDirectory() as folder:
        for needed in dynamic_texts(sluice)[DT_NEEDED]:
            (pathlib.Path(folder) / needed).write_text("no library\n")
        done = subprocess.run([sluice, "--version"], cwd=folder, capture_output=True, text=True)
        check(done.returncode == 0 and done.stdout.startswith("sluice "), f"libraries of the current folder are not loaded: {done.stderr}")
    print(f"{seen} artefacts")
    checks.end()


main(*sys.argv[1:])
