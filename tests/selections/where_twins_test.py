#!/usr/bin/env python3
"""Lines without code say the same of each candidate as compiled ones, on simulated events with several signals:
where_twins_test.py EVENTS: so many of each signal"""
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
    """The twins, all events, and a file of what each line says."""
    text = ["sluice: 1", "description: twins and what they say", f"include: [{TWINS}]", "nodes:"]
    for name in lines:
        text.append(f"  Hlt1{name}: {{ set: {{ pre_scale: 1, post_scale: 1 }} }}")
        for node in f"Hlt1{name}", f"Where{name}":
            text.append(f"  {node}_written: {{ use: output.csv_sink, set: {{ output: {node}, path: {folder}/{node}.csv }} }}")
    outputs = [node for name in lines for node in (f"Hlt1{name}", f"Where{name}")]
    path = folder / "twins.yaml"
    path.write_text("\n".join([*text, f"outputs: [{', '.join(outputs)}]", ""]))
    return path


def accepted_in(path):
    """How many candidates, of whatever events."""
    return sum(line.endswith(",1") for line in path.read_text().splitlines()[1:])


def compare(signal, folder, accepted):
    done = call("run", graph_of(folder), "-n", EVENTS, "--set", f"raw.signal={signal}", "--set", "raw.luminosity_fraction=0.1",
                "--digest", "--json", "-", "--quiet")
    digests = {o["port"]: (o["items"], o["digest"]) for o in json.loads(done.stdout)["outputs"]}
    for name in lines:
        checks.that(digests[f"Hlt1{name}"] == digests[f"Where{name}"], f"{signal}: {name}: the same bits as its twin")
        compiled, twin = ((folder / f"{kind}{name}.csv") for kind in ("Hlt1", "Where"))
        checks.that(compiled.read_bytes() == twin.read_bytes(), f"{signal}: {name}: the same candidates as its twin")
        accepted[name] += accepted_in(compiled)
    passing = [digests[f"Where{name}"] for name in ("Passthrough", "ODINLumi", "TAEPassthrough")]
    checks.that(len(set(passing)) == 3, f"{signal}: all events pass, or some, or none")


of_events = re.findall(r"^  Where(\w+):\s+(?:{ )?use: selections.where_events", TWINS.read_text(), re.M)
accepted = dict.fromkeys(lines, 0)
for signal in SIGNALS:
    with tempfile.TemporaryDirectory() as folder:
        compare(signal, Path(folder), accepted)
print(f"{EVENTS} events of each of {', '.join(SIGNALS)}: candidates that each line accepts:")
for name in lines:
    if name not in of_events:
        print(f"  {name:45s} {accepted[name]}")
silent = [name for name in lines if not accepted[name] and name not in of_events]
checks.that(len(lines) >= 53, f"there are {len(lines)} twins")
checks.that(len(silent) <= len(lines) // 2, f"{len(silent)} of them accept nothing: {' '.join(silent)}")
checks.end()
