#!/usr/bin/env python3
"""The lines of 2026 over composites and pairs of vertices, as expressions: they accept candidates of
their signals, identical on cpu and simt; the line over two Ks equals the compiled line; sample events, if there are any.
composite_lines_test.py EVENTS: number of events per signal"""
import csv
import json
import sys
import tempfile
from pathlib import Path

from common import GEOMETRY, ROOT, SIX, Checks, call

EVENTS = int(sys.argv[1])
GRAPH = ROOT / "tests/selections/composite_lines.yaml"
LINES = ["Hlt1Dst2D0Pi", "Hlt1TauToPhiMu", "Hlt1LambdaLLDetachedTrack", "Hlt1KsLLDetachedTrack", "Hlt1XiOmegaLLL", "Hlt1D2Kshh",
         "Hlt1Kplus2PiEE", "Hlt1Kplus2PiMuMu", "Hlt1Kplus2PiPiPi", "CompiledTwoKs", "WhereTwoKs"]
# Per signal: the lines that accept one of its candidates in a few hundred events.
SIGNALS = {"Dst_D0pi": ("Dst2D0Pi",), "tau_PhiMu": ("TauToPhiMu",), "Kplus_3pi": ("Kplus2PiPiPi",), "D0_KsPiPi": ("D2Kshh",)}
checks = Checks(says_passed=False)


def graph_of(folder):
    sinks = [f"  {name}_written: {{ use: output.csv_sink, set: {{ output: {name}, path: {folder}/{name}.csv }} }}" for name in LINES]
    path = folder / "lines.yaml"
    path.write_text("\n".join(["sluice: 1", "description: accepted candidates", f"include: [{GRAPH}]", "nodes:", *sinks, ""]))
    return path


def decisions(*arguments):
    """Candidates and accepted candidates of each line, and the rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        call("run", graph_of(Path(folder)), *arguments, "--quiet")
        rows = {name: list(csv.DictReader((Path(folder) / f"{name}.csv").open())) for name in LINES}
    return {name: (len(of), sum(row["accepted"] == "1" for row in of)) for name, of in rows.items()}, rows


total = dict.fromkeys(LINES, 0)
for signal, intended in SIGNALS.items():
    counts, rows = decisions("-n", EVENTS, "--set", f"raw.signal={signal}")
    print(f"{EVENTS} events with {signal}: candidates and accepted ones: " + ", ".join(f"{n} {c[0]} {c[1]}" for n, c in counts.items()))
    checks.that(rows["WhereTwoKs"] == rows["CompiledTwoKs"], f"{signal}: TwoKs accepts the candidates of the compiled line")
    for name in LINES:
        total[name] += counts[name][1]
    if EVENTS >= 1000:
        for line in intended:
            checks.that(counts[f"Hlt1{line}"][1] > 0, f"{signal}: {line} accepts a candidate")
checks.that(total["Hlt1Dst2D0Pi"] > 0, "a D* is accepted")
checks.that(total["WhereTwoKs"] > 0, "a pair of V0s is accepted")
digests = [json.loads(call("run", GRAPH, "-n", 12, "--set", "raw.signal=Dst_D0pi", "--device", device, "--digest", "--json", "-", "--quiet").stdout)["outputs"]
           for device in ("cpu", "simt")]
checks.that(digests[0] == digests[1] and any(o["items"] for o in digests[0]), "digests are equal on cpu and simt")
if GEOMETRY.exists() and SIX.exists():
    counts, rows = decisions("-i", SIX, "--set", f"geometry={GEOMETRY}")
    print("six sample events: " + ", ".join(f"{n} {c[0]} {c[1]}" for n, c in counts.items()))
    checks.that(sum(c[0] for c in counts.values()) > 20, "sample events have candidates")
    checks.that(rows["WhereTwoKs"] == rows["CompiledTwoKs"], "sample events: TwoKs accepts the candidates of the compiled line")
checks.end()
