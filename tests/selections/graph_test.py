#!/usr/bin/env python3
"""graphs/selections.yaml on six sample events: decisions of the lines compared with the record of LHCb's trigger; a graph
that includes the lines can change, add and remove lines."""
import csv
import json
import lzma
import re
import sys
import tempfile
from pathlib import Path

from common import DATA, GEOMETRY, ROOT, SIX, Checks, call

path = DATA / "lhcb/reference.json.xz"
for needed in (path, GEOMETRY, SIX):
    if not needed.exists():
        print(f"skipped: {needed} is absent")
        sys.exit(77)

checks = Checks()
LINES = re.findall(r"^  (Hlt1\w+):", (ROOT / "graphs/menus/2023.yaml").read_text(), re.M)


def decisions(changes="", names=LINES):
    """The lines that each event passes, by event number, with `changes` to the graph; and the events before scale of each line."""
    with tempfile.TemporaryDirectory() as folder:
        graph, table = Path(folder) / "graph.yaml", Path(folder) / "decisions.csv"
        graph.write_text(f"sluice: 1\ndescription: decisions as a table\ninclude: [{ROOT}/graphs/selections.yaml]\nnodes:\n{changes}"
                         f"  write: {{ use: output.csv_sink, set: {{ output: decide.decisions, path: {table} }} }}\n")
        summary = json.loads(call("run", graph, "-i", SIX, "--set", f"geometry={GEOMETRY}", "--json", "-", "--quiet").stdout)
        found = {}
        for row in csv.DictReader(table.open()):
            word = int(row["index"])
            passed = [names[32 * word + bit] for bit in range(32) if int(row["passed"]) >> bit & 1]
            found[int(row["event"])] = found.get(int(row["event"]), []) + passed
        return found, {line: totals["before_scale"] for line, totals in summary["totals"]["decide.totals"].items()}


recorded = json.load(lzma.open(path))["sequences"]["hlt1_pp_default"]
checks.that(LINES == recorded["lines"], f"{len(LINES)} lines with the recorded names, in their order")
expected = {event["event"]: event["decisions"] for event in recorded["events"]}
found, before_scale = decisions()
checks.that(found == expected, f"lines that passed: { {event: lines for event, lines in found.items() if lines} }")
# The last line accepts a nearly parallel pair; the DOCA that LHCb's trigger computed for it in single precision is too large.
scaled = {"Hlt1OneMuonTrackLine": 4, "Hlt1VeloMicroBias": 6, "Hlt1LowMassNoipDielectron_SS_massSlice1_prompt": 1}
unscaled = {line: count for line, count in before_scale.items() if count > sum(line in lines for lines in found.values())}
checks.that(unscaled == scaled, f"lines that would have passed without their scale: {unscaled}")

others = [line for line in LINES if line != "Hlt1KsToPiPi"] + ["Hlt1MyKs"]
found, _ = decisions("  Hlt1KsToPiPi: null\n  Hlt1LowPtMuon: { set: { min_ip: 100 } }\n  Hlt1VeloMicroBias: { set: { post_scale: 1 } }\n"
                     "  Hlt1MyKs: { use: selections.ks_to_pipi, in: { candidates: v0 }, events: gec, set: { max_ip: 0.2 } }\n", others)
changed = {event: [line for line in lines if line not in ("Hlt1KsToPiPi", "Hlt1LowPtMuon")] + ["Hlt1VeloMicroBias"] for event, lines in expected.items()}
changed[6001].append("Hlt1MyKs")
checks.that(found == changed, "an overlay removes a line, changes two lines and adds one")
checks.end()
