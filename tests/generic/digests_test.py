#!/usr/bin/env python3
"""Digests of list ports, of event lists selected by fields, and of histograms: equal for any slots, slices and targets, for any
way of naming the lists in the graph, with a thousand lists, and equal to digests.txt.

Builds with other options (-O0, another compiler) are compared with the same file. To accept an intended change:
digests_test.py --accept
"""
import csv
import json
import math
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, Checks, call

checks = Checks()
found = {}
DECISIONS = ROOT / "graphs/decisions.yaml"
SIMULATED = ("--set", "raw.luminosity_fraction=0.4")
EVENTS = 200
NAMES = ("luminosity", "no_beam", "one_beam", "colliding")


def outputs(graph, *arguments, events=EVENTS):
    done = call("run", graph, "-n", events, *SIMULATED, "--digest", "--json", "-", "--quiet", *arguments)
    summary = json.loads(done.stdout)
    found = {o["port"]: (o["digest"], o["items"]) for o in summary["outputs"]}
    if "decisions.decisions" in found:
        totals = summary["totals"].get("decisions.totals", {})
        checks.that(sum(of["events"] for of in totals.values()) == found["decisions.decisions"][1], "the totals sum up to the items")
    return found


def decisions(graph, *arguments):
    """Digest and items of the decisions, and the digest of the totals."""
    found = outputs(graph, *arguments)
    return (*found["decisions.decisions"], found["decisions.totals"][0])


def overlay(folder, name, text):
    path = Path(folder) / name
    path.write_text(f"sluice: 1\ninclude: [{DECISIONS}]\n{text}")
    return path


def lists(folder, name, value, nodes=""):
    return overlay(folder, name, f"nodes:\n  decisions: {{ in: {{ lists: {value} }} }}\n{nodes}")


has_simt = "simt" in call("--version").stdout
simt = [("--device", "simt", "--set", f"simt.seed={seed}", "--set", f"simt.warp={warp}", "--set", f"decisions.block={64 * seed}")
        for seed in (1, 2, 3) for warp in (32, 64)] if has_simt else []
reference = decisions(DECISIONS)
found["decisions"], found["totals"] = reference[0], reference[2]
host = [] if BRIEF else [("--slots", 3), ("--slice-events", 1), ("--slice-events", 64, "--slots", 2), ("--guard",)]
if BRIEF:
    simt = simt[:1]
for variation in host + simt:
    checks.that(decisions(DECISIONS, *variation) == reference, f"decisions {' '.join(map(str, variation))}")

with tempfile.TemporaryDirectory() as folder:
    checks.that(decisions(lists(folder, "list.yaml", f"[{', '.join(NAMES)}]")) == reference, "a list in the graph has the results of a map")
    checks.that(decisions(lists(folder, "all.yaml", "all")) == reference, "`all` takes the lists in the order of the document")
    other = decisions(lists(folder, "other.yaml", f"[{', '.join(reversed(NAMES))}]"))
    checks.that(other != reference and other[1] == reference[1], "in another order there are as many items, with other indices")
    checks.that(decisions(lists(folder, "none.yaml", "[]"))[1] == 0, "no list, no items")

    # An overlay adds a list, and removes one.
    error = "  error: { use: odin.filter, set: { error_states: 3 } }\n"
    more = decisions(lists(folder, "more.yaml", "{ every: error }", error))
    checks.that(more[1] == reference[1] + EVENTS, "an added list with all events adds an item per event")
    fewer = decisions(lists(folder, "fewer.yaml", "{ every: error, colliding: null }", error))
    ends = decisions(lists(folder, "ends.yaml", "[luminosity, no_beam, one_beam, error]", error))
    checks.that(fewer == ends and fewer[1] < more[1], "a removed list has no items")

    # If the node runs on an event list, only events on that list have decisions.
    some = overlay(folder, "some.yaml", "nodes: { decisions: { events: luminosity } }\noutputs: [decisions.decisions, decisions.totals, luminosity]\n")
    on_list = outputs(some)
    checks.that(0 < on_list["decisions.decisions"][1] < reference[1] and on_list["luminosity"][1] > 0, "on an event list there are fewer items")
    for variation in [] if BRIEF else [("--slice-events", 7)] + simt[:2]:
        checks.that(outputs(some, *variation) == on_list, f"on an event list {' '.join(map(str, variation))}")

    # A thousand filters, by their names and by `all`.
    filters = "".join(f"  line_{i}: {{ use: odin.filter, set: {{ orbit_period: {i % 97 + 1}, orbit_phase: {i // 97} }} }}\n"
                      for i in range(1000))
    removed = "".join(f"  {name}: null\n" for name in NAMES)
    names = ", ".join(f"line_{i}" for i in range(1000))
    thousand = lists(folder, "thousand.yaml", f"[{names}]", filters + removed)
    every = lists(folder, "every.yaml", "all", filters + removed)
    reference = decisions(thousand)
    found["a thousand"] = reference[0]
    checks.that(reference[1] > 5000, f"a thousand lists: {reference[1]} items")
    checks.that(decisions(every) == reference, "a thousand: all")
    checks.that(decisions(every, "--slice-events", 33, "--slots", 2) == reference, "a thousand: other slices")
    if has_simt:
        few = ("-n", 20)
        checks.that(decisions(thousand, "--device", "simt", *few) == decisions(thousand, *few), "a thousand: simt")

# Fields selected in the graph: of items, of subitems, by event.
GAS = ROOT / "graphs/gas_vertices.yaml"
WITH_GAS = ("--set", "raw.beam_gas_fraction=0.5")
FIELDS = {"vertices in the gas cell": (),
          "hits far away": ("--set", "gas.of=tracks.hit_z", "--set", "gas.minimum=600", "--set", "gas.maximum=1e6", "--set", "gas.count=40"),
          "crossings of two bunches": ("--set", "gas.of=odin.crossing_type", "--set", "gas.minimum=3", "--set", "gas.maximum=3")}
for what, options in FIELDS.items():
    reference = outputs(GAS, *WITH_GAS, *options, events=150)["gas"]
    found[what] = reference[0]
    checks.that(0 < reference[1] < 150, f"{what}: {reference[1]} events of 150")
    for variation in [] if BRIEF else [("--slots", 3), ("--slice-events", 17, "--slots", 2), ("--guard",)] + simt[:2]:
        variation = tuple(str(option).replace("decisions.", "gas.") for option in variation)
        checks.that(outputs(GAS, *WITH_GAS, *options, *variation, events=150)["gas"] == reference, f"{what} {' '.join(variation)}")

# Histograms, compared with a table of the same field.
HISTOGRAMS = ROOT / "graphs/velo_histograms.yaml"


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def histograms(path, *arguments, events=60):
    """Digests of all histograms, and the rows of the table that the sink writes."""
    done = call("run", HISTOGRAMS, "-n", events, "-o", path, "--digest", "--json", "-", "--quiet", *arguments)
    return {o["port"]: o["digest"] for o in json.loads(done.stdout)["outputs"]}, table(path)


with tempfile.TemporaryDirectory() as folder:
    reference = histograms(Path(folder) / "histograms.csv")
    found |= {f"histogram {name}": digest for name, digest in reference[0].items()}
    for variation in [("--slots", 3, "--slice-events", 7)] if BRIEF else [("--slots", 3, "--slice-events", 7), ("--guard",)]:
        checks.that(histograms(Path(folder) / "again.csv", *variation) == reference, f"histograms {' '.join(map(str, variation))}")
    if has_simt:
        few = histograms(Path(folder) / "few.csv", events=8)
        checks.that(histograms(Path(folder) / "simt.csv", "--device", "simt", "--slice-events", 3, events=8) == few, "histograms: simt")
    graph = Path(folder) / "vertices.yaml"
    graph.write_text(f"sluice: 1\ninclude: [{HISTOGRAMS}]\nnodes: {{ draw: {{ use: output.csv_sink, set: {{ output: pv }} }} }}\noutputs: [pv]\n")
    call("run", graph, "-n", 60, "-o", Path(folder) / "vertices.csv", "--quiet")
    vertices = table(Path(folder) / "vertices.csv")
    z = [row for row in reference[1] if row["histogram"] == "vertex_z"]
    checks.that(len(vertices) > 100 and sum(int(row["count"]) for row in z) == len(vertices), f"{len(vertices)} vertices are counted")
    checks.that(all(int(row["count"]) == sum(float(row["x_lower"]) <= float(vertex["z"]) < float(row["x_upper"]) for vertex in vertices)
                    for row in z), "each vertex is counted in the right bin")
    across = [row for row in reference[1] if row["histogram"] == "vertex_xy"]
    checks.that(all(int(row["count"]) == sum(float(row["x_lower"]) <= float(vertex["x"]) < float(row["x_upper"]) and
                                             float(row["y_lower"]) <= float(vertex["y"]) < float(row["y_upper"]) for vertex in vertices)
                    for row in across if row["count"] != "0"), "each pair of coordinates is counted in the right bin")
    checks.that(sum(int(row["count"]) for row in across) == len(vertices), "each pair of coordinates is counted once")
    drawn = Path(folder) / "histograms.json"
    call("run", HISTOGRAMS, "-n", 60, "-o", drawn, "--quiet")
    first = json.loads(drawn.read_text())["histograms"][0]
    mean = sum(float(vertex["z"]) for vertex in vertices) / len(vertices)
    checks.that(first["x"]["field"] == "pv.z" and first["x"]["unit"] == "mm" and math.isclose(first["x"]["mean"], mean, abs_tol=2.5),
                f"the mean is that of the values within half a bin: {first['x']['mean']:.1f}, {mean:.1f} mm")

checks.golden(Path(__file__).with_name("digests.txt"), found)
checks.end()
