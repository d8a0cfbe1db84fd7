#!/usr/bin/env python3
"""Compiled lines and equal lines without code accept the same candidates of simulated events with several signals.
where_twins_test.py EVENTS: number of events per signal"""
import json
import re
import sys
import tempfile
from pathlib import Path

from common import ROOT, Checks, call

EVENTS = int(sys.argv[1])
SIGNALS = "D0_Kpi", "Jpsi_mumu", "Ks_pipi", "Z_mumu", "B_KstarGamma"
TWINS = ROOT / "tests/selections/where_twins.yaml"
lines = re.findall(r"^  Where(\w+):", TWINS.read_text(), re.M)
checks = Checks(says_passed=False)


def graph_of(folder):
    """A graph with all pairs of lines on all events; the decisions of each line are written to a file."""
    text = ["sluice: 1", "description: decisions of compiled lines and of equal lines without code", f"include: [{TWINS}]", "nodes:"]
    for name in lines:
        text.append(f"  Hlt1{name}: {{ set: {{ pre_scale: 1, post_scale: 1 }} }}")
        for node in f"Hlt1{name}", f"Where{name}":
            text.append(f"  {node}_written: {{ use: output.csv_sink, set: {{ output: {node}, path: {folder}/{node}.csv }} }}")
    outputs = [node for name in lines for node in (f"Hlt1{name}", f"Where{name}")]
    path = folder / "twins.yaml"
    path.write_text("\n".join([*text, f"outputs: [{', '.join(outputs)}]", ""]))
    return path


def accepted_in(path):
    """Number of accepted candidates in all events."""
    return sum(line.endswith(",1") for line in path.read_text().splitlines()[1:])


def compare(signal, folder, accepted):
    done = call("run", graph_of(folder), "-n", EVENTS, "--set", f"raw.signal={signal}", "--set", "raw.luminosity_fraction=0.1",
                "--digest", "--json", "-", "--quiet")
    digests = {o["port"]: (o["items"], o["digest"]) for o in json.loads(done.stdout)["outputs"]}
    for name in lines:
        checks.that(digests[f"Hlt1{name}"] == digests[f"Where{name}"], f"{signal}: {name}: decisions equal those of the line without code")
        compiled, twin = ((folder / f"{kind}{name}.csv") for kind in ("Hlt1", "Where"))
        checks.that(compiled.read_bytes() == twin.read_bytes(), f"{signal}: {name}: candidates equal those of the line without code")
        accepted[name] += accepted_in(compiled)
    passing = [digests[f"Where{name}"] for name in ("Passthrough", "ODINLumi", "TAEPassthrough")]
    checks.that(len(set(passing)) == 3, f"{signal}: Passthrough, ODINLumi and TAEPassthrough pass all, some and no events")


of_events = re.findall(r"^  Where(\w+):\s+(?:{ )?use: selections.where_events", TWINS.read_text(), re.M)
accepted = dict.fromkeys(lines, 0)
for signal in SIGNALS:
    with tempfile.TemporaryDirectory() as folder:
        compare(signal, Path(folder), accepted)
print(f"{EVENTS} events of each of {', '.join(SIGNALS)}: accepted candidates per line:")
for name in lines:
    if name not in of_events:
        print(f"  {name:45s} {accepted[name]}")
silent = [name for name in lines if not accepted[name] and name not in of_events]
checks.that(len(lines) >= 53, f"{len(lines)} lines are compared")
checks.that(len(silent) <= len(lines) // 2, f"{len(silent)} lines accept nothing: {' '.join(silent)}")
checks.end()
