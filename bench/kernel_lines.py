#!/usr/bin/env python3
"""Where a kernel's instructions are, by source line, from a profile of NVIDIA's ncu.

    ncu -i kernel.ncu-rep --page source --csv --print-source cuda,sass >kernel.csv
    bench/kernel_lines.py kernel.csv [--events N] [--top N] [FILE:FIRST-LAST...]

A row a line, or a row each range of lines: the share of all warp instructions that the kernel issued, how many an event
(with --events), active threads of a warp, and the share of samples, which is of time that warps spent there, waiting or
not. An instruction of an inlined function counts for its line and for each line that called it, once each, so that
shares add up to more than all. docs/profiling.md says how to take the profile.
"""
import argparse
import csv
import re
from collections import defaultdict

COLUMNS = ("Instructions Executed", "Thread Instructions Executed", "# Samples")


def read(path):
    """Counts of each instruction by its address, the addresses of each (file, line), and the lines' text."""
    counts, addresses, text = {}, defaultdict(set), {}
    file = line = columns = None
    with open(path, newline="", encoding="utf-8", errors="replace") as profile:
        for row in csv.reader(profile):
            if not row:
                continue
            if row[0] == "File Path":
                file = row[1].rsplit("/", 1)[-1]
            elif row[0] == "Line No":
                columns = [row.index(name) for name in COLUMNS]
            elif columns and row[0].isdigit():
                line = (file, int(row[0]))
                text[line] = row[1].strip()
            elif columns and len(row) > 2 and row[2].startswith("0x"):
                counts[row[2]] = [int(row[i]) for i in columns]
                addresses[line].add(row[2])
    if not counts:
        raise SystemExit(f"{path}: no instructions: is it ncu's source page, with --csv and --print-source cuda,sass?")
    return counts, addresses, text


def lines_of(addresses, text):
    """The addresses of lines FILE:FIRST-LAST."""
    match = re.fullmatch(r"(.+):(\d+)(?:-(\d+))?", text)
    if not match:
        raise SystemExit(f"{text}: no FILE:FIRST-LAST")
    file, first, last = match[1], int(match[2]), int(match[3] or match[2])
    return set().union(*(found for (name, line), found in addresses.items() if name == file and first <= line <= last))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", help="ncu's source page as CSV")
    parser.add_argument("--events", type=int, help="events of the slice, to give instructions an event")
    parser.add_argument("--top", type=int, default=40, help="lines to print (40)")
    parser.add_argument("ranges", nargs="*", metavar="FILE:FIRST-LAST")
    options = parser.parse_args()
    counts, addresses, text = read(options.profile)

    def row(found, label):
        warps, threads, samples = (sum(counts[a][i] for a in found) for i in range(len(COLUMNS)))
        each = f"{warps / options.events:10.0f} an event" if options.events else f"{warps:12d}"
        return (f"{100 * warps / max(1, total[0]):5.1f} %{each}  {threads / max(1, warps):4.1f} threads"
                f"  {100 * samples / max(1, total[2]):5.1f} % of samples  {label}")

    total = [sum(count[i] for count in counts.values()) for i in range(len(COLUMNS))]
    print(row(counts, "the kernel"))
    if options.ranges:
        for lines in options.ranges:
            print(row(lines_of(addresses, lines), lines))
        return
    by_size = sorted(addresses.items(), key=lambda entry: -sum(counts[a][0] for a in entry[1]))
    for (file, line), found in by_size[: options.top]:
        print(row(found, f"{file}:{line}  {text[(file, line)][:90]}"))


if __name__ == "__main__":
    main()
