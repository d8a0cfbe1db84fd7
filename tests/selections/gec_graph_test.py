#!/usr/bin/env python3
"""The global event cut on six simulated events: counts compared with the raw banks and with the record of LHCb's trigger;
forward tracking only on the events that pass."""
import csv
import json
import lzma
import sys
import tempfile
from pathlib import Path

from common import DATA, GEOMETRY, ROOT, SIX, Checks, call

import mdf

path = DATA / "lhcb/reference.json.xz"
for needed in (path, GEOMETRY, SIX):
    if not needed.exists():
        print(f"skipped: {needed} is absent")
        sys.exit(77)

BANK_SCIFI, MAX_SCIFI = 64, 4000
checks = Checks()
recorded = json.load(lzma.open(path))["sequences"]["hlt1_pp_default"]["events"]
GRAPH = """sluice: 1
description: forward tracks of events that pass the global event cut
include: [{root}/graphs/forward.yaml, {root}/graphs/common/gec.yaml]
nodes:
{cut}  check:        null
  ut_check:     null
  long_check:   null
  write_counts: {{ use: output.csv_sink, set: {{ output: gec.counts, path: {folder}/counts.csv }} }}
  write_tracks: {{ use: output.csv_sink, set: {{ output: forward_tracks, path: {folder}/tracks.csv }} }}
outputs: [gec.passed, gec.counts, forward_tracks]
"""
CUT = "".join(f"  {node}: {{ events: gec }}\n" for node in ("clusters", "ut_hits", "scifi_hits"))


def rows(folder, cut):
    """Rows of the tables of counts and tracks. `cut`: the lines of the graph that apply the cut, or nothing."""
    graph = Path(folder) / "cut.yaml"
    graph.write_text(GRAPH.format(root=ROOT, folder=folder, cut=cut))
    call("run", graph, "-i", SIX, "--set", f"geometry={GEOMETRY}", "--set", f"gec.max_scifi={MAX_SCIFI}", "--quiet")
    return [list(csv.DictReader((Path(folder) / name).open())) for name in ("counts.csv", "tracks.csv")]


with tempfile.TemporaryDirectory() as folder:
    counts, all_tracks = rows(folder, "")
    _, tracks = rows(folder, CUT)

ut = [int(row["ut"]) for row in counts]
checks.that(ut == [event["n_ut_hits"] for event in recorded], f"hits in the UT as recorded: {ut}")
scifi = [int(row["scifi"]) for row in counts]
banks = [sum(len(payload) for kind, _, _, _, payload in mdf.banks(record) if kind == BANK_SCIFI) // 2 - 2 for record in mdf.records(SIX)]
checks.that(scifi == banks and (min(scifi), max(scifi)) == (3028, 7776), f"halfwords of SciFi banks: {scifi}")
passed = {row["event"] for row in counts if int(row["scifi"]) <= MAX_SCIFI}
expected = [row for row in all_tracks if row["event"] in passed]
checks.that(len(passed) == 4 and 0 < len(expected) < len(all_tracks), f"{len(expected)} of {len(all_tracks)} tracks are in the {len(passed)} events that pass")
checks.that(tracks == expected, "the same tracks are found if only events that pass are decoded")
checks.end()
