#!/usr/bin/env python3
"""The global event cut on six simulated events: counts against the raw banks and what LHCb's trigger recorded, and the forward
tracking on the events that pass alone."""
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
  write_counts: {{ use: output.csv_sink, set: {{ output: hit_counts, path: {folder}/counts.csv }} }}
  write_tracks: {{ use: output.csv_sink, set: {{ output: forward_tracks, path: {folder}/tracks.csv }} }}
outputs: [gec, hit_counts, forward_tracks]
"""
CUT = "".join(f"  {node}: {{ events: gec }}\n" for node in ("clusters", "ut_hits", "scifi_hits"))


def rows(folder, cut):
    """Of the counts and of the tracks, with the cut given to the nodes that decode, or not."""
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
kept = [row for row in all_tracks if row["event"] in passed]
checks.that(len(passed) == 4 and 0 < len(kept) < len(all_tracks), f"{len(kept)} of {len(all_tracks)} tracks are of {len(passed)} events that pass")
checks.that(tracks == kept, "behind the cut these are found, and no others")
checks.end()
