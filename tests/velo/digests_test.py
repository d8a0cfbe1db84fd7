#!/usr/bin/env python3
"""velo.select_tracks in graphs over simulated events. Results do not depend on slots, slices and targets; all tracks are
selected by default; forward and backward tracks are classified as in the fit. Digests equal digests.txt; to accept an
intended change: digests_test.py --accept
"""
import csv
import json
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, Checks, call

EVENTS = 60
GRAPH = f"""sluice: 1
include: [{ROOT}/graphs/velo.yaml]
nodes:
  check: null
  fit: {{ in: {{ tracks: tracks }} }}
  every: {{ use: velo.select_tracks, in: {{ tracks: tracks }} }}
  forward: {{ use: velo.select_tracks, in: {{ tracks: tracks }}, set: {{ direction: forward }} }}
  backward: {{ use: velo.select_tracks, in: {{ tracks: every }}, set: {{ direction: backward }} }}
  forward_fit: {{ use: velo.kalman_filter, in: {{ tracks: forward }} }}
  backward_fit: {{ use: velo.kalman_filter, in: {{ tracks: backward }} }}
  forward_states: {{ use: output.csv_sink, set: {{ output: forward_fit.beamline_states, path: forward.csv }} }}
  backward_states: {{ use: output.csv_sink, set: {{ output: backward_fit.beamline_states, path: backward.csv }} }}
  states: {{ use: output.csv_sink, set: {{ output: fit.beamline_states, path: states.csv }} }}
outputs: [tracks, every, forward, backward, fit.beamline_states, forward_fit.beamline_states, backward_fit.beamline_states]
"""


def outputs(folder, graph, *arguments):
    summary = json.loads(call("run", graph, "-n", EVENTS, "--digest", "--json", "-", "--quiet", *arguments, cwd=folder).stdout)
    return {o["port"]: (o["digest"], o["items"]) for o in summary["outputs"]}


def rows(path):
    with open(path) as file:
        return [{key: value for key, value in row.items() if key != "index"} for row in csv.DictReader(file)]


checks = Checks()
has_simt = "simt" in call("--version").stdout
variations = [] if BRIEF else [("--slots", 3), ("--slice-events", 1), ("--slice-events", 7, "--slots", 2), ("--guard",)]
if has_simt:
    variations += [("--device", "simt", "--set", f"simt.seed={seed}", "--set", f"simt.warp={warp}") for seed, warp in ((1, 32), (2, 64))]

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    graph = folder / "graph.yaml"
    graph.write_text(GRAPH)
    found = outputs(folder, graph)
    tracks, forward, backward = (found[port][1] for port in ("tracks", "forward", "backward"))
    checks.that(found["every"] == found["tracks"], "all tracks, if nothing is asked for")
    checks.that(forward + backward == tracks and min(forward, backward) > tracks / 10, f"{forward} forward and {backward} backward tracks of {tracks}")
    states = rows(folder / "states.csv")
    checks.that(rows(folder / "forward.csv") == [row for row in states if row["backward"] == "0"], "states of forward tracks")
    checks.that(rows(folder / "backward.csv") == [row for row in states if row["backward"] == "1"], "states of backward tracks")

    sample = ROOT / "graphs/velo_sample.yaml"
    some = ("--set", "sample.fraction=0.5", "-o", "sample.csv")
    reference = outputs(folder, sample, *some)
    checks.that(0 < reference["good"][1] < tracks / 2 and reference["good"][1] == reference["fit.beamline_states"][1],
                f"{reference['good'][1]} good tracks of half of the events")
    for variation in variations:
        checks.that(outputs(folder, graph, *variation) == found, f"all events {' '.join(map(str, variation))}")
        checks.that(outputs(folder, sample, *some, *variation) == reference, f"a sample of events {' '.join(map(str, variation))}")

checks.golden(Path(__file__).with_name("digests.txt"), {f"{port} {what}": digest for what, ports in (("of all events", found), ("of a sample", reference))
                                                        for port, (digest, items) in ports.items()})
checks.end()
