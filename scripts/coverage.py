#!/usr/bin/env python3
"""Line coverage of the tests: builds build/coverage with --coverage of gcc, runs its tests, and adds up the counts of gcov.

    scripts/coverage.py                  builds, runs the tests (those of `push`), prints a table of folders
    scripts/coverage.py --no-run         the table of the last run
    scripts/coverage.py --lines TEXT     also prints the lines never run of files with TEXT in their path

A line counts once, however often it is compiled (kernels for the processor and the emulator). The emulator runs with the
first of its seeds only. Counts of killed processes are lost; a process that ends with _exit, like the
children of `sluice test`, writes its counts first.
"""
import argparse
import collections
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
FLAGS = "-O1 -g -w --coverage -fprofile-update=single"
LEAVE = """void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) {
  __gcov_dump();
  __real__exit(status);
}
"""


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, **more)


def build_and_test(jobs):
    launcher = ["-D", "CMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    BUILD.mkdir(parents=True, exist_ok=True)
    run("gcc", "-O1", "-fPIC", "-fvisibility=hidden", "-x", "c", "-c", "-", "-o", BUILD / "leave.o", input=LEAVE.encode())
    # Otherwise symbols of libgcov would be exported by plugins.
    link = f"-Wl,--exclude-libs,libgcov.a -Wl,--wrap=_exit {BUILD / 'leave.o'}"
    kinds = [word for kind in ("EXE", "SHARED") for word in ("-D", f"CMAKE_{kind}_LINKER_FLAGS={link}")]
    kinds += ["-D", "CMAKE_MODULE_LINKER_FLAGS=-Wl,--exclude-libs,libgcov.a"]
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Debug", "-D", "CMAKE_C_COMPILER=gcc",
        "-D", f"CMAKE_C_FLAGS_DEBUG={FLAGS}", "-D", "SLUICE_CUDA=OFF", "-D", "SLUICE_RACE=OFF", "-D", "SLUICE_BUILD_KIND=release", *launcher, *kinds,
        stdout=subprocess.DEVNULL)
    run("cmake", "--build", BUILD, "--parallel", jobs, stdout=subprocess.DEVNULL)
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()
    # A test that fails here is one of the suite; what it ran counts all the same.
    subprocess.run(["ctest", "--test-dir", str(BUILD), "--parallel", str(jobs), "--label-regex", "^push$", "--quiet", "--output-log", str(BUILD / "tests.log")], check=False)
    print(next((line for line in (BUILD / "tests.log").read_text().splitlines() if "tests passed" in line), "no tests"))


def executed_lines():
    """{file: {line: times}} of the runtime and the plugins."""
    lines = collections.defaultdict(dict)
    notes = sorted(str(path) for path in BUILD.rglob("*.gcno"))
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(notes), 100):
            # It complains of what an earlier build left, too.
            subprocess.run(["gcov", "--json-format", "--hash-filenames", *notes[first:first + 100]], cwd=folder, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in pathlib.Path(folder).glob("*.gcov.json.gz"):
            report = json.loads(gzip.open(path).read())
            for file in report["files"]:
                source = pathlib.Path(report["current_working_directory"], file["file"]).resolve()
                if not source.is_relative_to(ROOT) or not source.exists() or source.relative_to(ROOT).parts[0] not in ("runtime", "plugins", "tools"):
                    continue
                counts = lines[source.relative_to(ROOT)]
                for line in file["lines"]:
                    counts[line["line_number"]] = max(counts.get(line["line_number"], 0), line["count"])
    return lines


def ranges(numbers):
    """1-3 5 7-8"""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in parts)


def show(lines, text):
    folders = collections.defaultdict(lambda: [0, 0])
    for file, counts in lines.items():
        for name in ("/".join(file.parts[:2]), "all"):
            folders[name][0] += sum(count > 0 for count in counts.values())
            folders[name][1] += len(counts)
    print(f"{'folder':24} {'lines':>7} {'run':>7}")
    for name in sorted(folders, key=lambda name: (name == "all", name)):
        done, total = folders[name]
        print(f"{name:24} {total:7} {100 * done / total:6.1f}%")
    for file in sorted(lines):
        missed = sorted(number for number, count in lines[file].items() if count == 0)
        if text is not None and text in str(file) and missed:
            print(f"{file}: {len(missed)} of {len(lines[file])}: {ranges(missed)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--lines", metavar="TEXT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if not arguments.no_run:
        build_and_test(arguments.jobs)
    show(executed_lines(), arguments.lines)


if __name__ == "__main__":
    main()
