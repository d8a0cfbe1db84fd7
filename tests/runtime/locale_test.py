#!/usr/bin/env python3
"""Input and output of the library do not depend on the program's locale:
locale_test.py PROGRAM EXAMPLE_PLUGIN GENERIC_PLUGIN BURSTS_PLUGIN

locale_program.c calls every public function in the C locale, in a locale with a decimal comma and in one where the
capital of i is another letter; localedef makes both here. The output must be equal in all three.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ("inputs.h", "kept.h", "planner.h", "sluice.h", "testing.h")
LOCALES = {"C": ".", "de_DE": ",", "tr_TR": ","}
NUMBER = re.compile(r"\d+(\.\d+)?([eE][-+]?\d+)?|\b[0-9a-f]{16}\b")
faults = 0


def that(holds, text):
    global faults
    if not holds:
        faults += 1
        print(f"FAILED: {text}")


def public_functions():
    found = []
    for name in HEADERS:
        text = (ROOT / "runtime/include/sluice" / name).read_text(encoding="utf-8")
        found += re.findall(r"^SL_(?:TEST_)?API\b[^;(]*?\b(sl_\w+)\(", text, re.MULTILINE)
    return set(found)


def make_locales(folder):
    for name in LOCALES:
        if name == "C":
            continue
        done = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", str(folder / f"{name}.UTF-8")], capture_output=True, text=True)
        if not (folder / f"{name}.UTF-8").exists():
            print(f"skipped: localedef makes no {name} (Debian: locales): {done.stderr.strip()}")
            sys.exit(77)


def run(folder, name):
    """The text of each file that the program wrote, by file name."""
    out = folder / "out"  # always the same name, because it appears in messages
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    # newlocale of glibc loses its copy of LOCPATH: a library that hdf5.cpu.so links (p11-kit) calls it when it is loaded.
    leaks = folder / "leaks"
    leaks.write_text("leak:__argz_add_sep\n")
    environment = {**os.environ, "LOCPATH": str(folder), "LSAN_OPTIONS": f"suppressions={leaks}:print_suppressions=0"}
    locale = name if name == "C" else f"{name}.UTF-8"
    done = subprocess.run([sys.argv[1], locale, LOCALES[name], str(out), str(ROOT / "graphs"), *sys.argv[2:]], env=environment, capture_output=True, text=True)
    that(done.returncode == 0, f"{name}: status {done.returncode}\n{done.stderr}" + "\n".join(line for line in done.stdout.splitlines() if "FAILED" in line))
    called = set(re.findall(r"^called (\w+)$", done.stdout, re.MULTILINE))
    missing = sorted(public_functions() - called)
    that(not missing, f"{name}: the program calls every public function; not {missing}")
    return {path.name: path.read_bytes().decode(errors="replace") for path in sorted(out.iterdir()) if path.suffix != ".mdf"}


def first_difference(expected, found):
    for a, b in zip(expected.splitlines() + [""], found.splitlines() + [""]):
        if a != b:
            return f"'{b[:150]}' for '{a[:150]}'"
    return "less"


def main():
    if not shutil.which("localedef"):
        print("skipped: there is no localedef (Debian: locales)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_locales(folder)
        expected = run(folder, "C")
        for locale in list(LOCALES)[1:]:
            found = run(folder, locale)
            that(found.keys() == expected.keys(), f"{locale}: the same files")
            for file in expected.keys() & found.keys():
                before, after = expected[file], found[file]
                if file.startswith("varies.") or file == "trial":  # times
                    # Whole numbers in arrays of one line.
                    before, after = (re.sub(r'"event_records": \{.*?\n  \}', "", text, flags=re.DOTALL) for text in (before, after))
                    before, after = (" ".join(NUMBER.sub("#", text).split()) for text in (before, after))
                    that(not re.search(r"#,#", after), f"{locale}: {file} has a decimal comma: {re.search('.{0,60}#,#', after)}")
                else:
                    that(before == after, f"{locale}: {file} differs: {first_difference(before, after)}")
    print("ok" if not faults else f"{faults} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
