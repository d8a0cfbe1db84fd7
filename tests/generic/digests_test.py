#!/usr/bin/env python3
"""Lists gathered by a list port are the same whatever the slots, slices and targets, however the graph names them, and with
a thousand of them; so are lists of events selected by a field of any collection. All are the same as in digests.txt.

A build with other options (-O0, another compiler) runs this test too, against the same file. To accept a change that is
meant: digests_test.py --accept
"""
import json
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
        totals = summary["totals"].get("decisions.totals", {"events": []})
        checks.that(sum(totals["events"]) == found["decisions.decisions"][1], "the totals sum up to the items")
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
    checks.that(decisions(lists(folder, "list.yaml", f"[{', '.join(NAMES)}]")) == reference, "a list instead of a map")
    checks.that(decisions(lists(folder, "all.yaml", "all")) == reference, "all, in the order of the document")
    other = decisions(lists(folder, "other.yaml", f"[{', '.join(reversed(NAMES))}]"))
    checks.that(other != reference and other[1] == reference[1], "in another order, as many items with other places")
    checks.that(decisions(lists(folder, "none.yaml", "[]"))[1] == 0, "no list, no items")

    # An overlay adds a list, and takes one away.
    error = "  error: { use: odin.filter, set: { error_states: 3 } }\n"
    more = decisions(lists(folder, "more.yaml", "{ every: error }", error))
    checks.that(more[1] == reference[1] + EVENTS, "one more list, which holds all events")
    fewer = decisions(lists(folder, "fewer.yaml", "{ every: error, colliding: null }", error))
    ends = decisions(lists(folder, "ends.yaml", "[luminosity, no_beam, one_beam, error]", error))
    checks.that(fewer == ends and fewer[1] < more[1], "and one taken away")

    # On a list of its own, it speaks of the events on that.
    some = overlay(folder, "some.yaml", "nodes: { decisions: { events: luminosity } }\noutputs: [decisions.decisions, decisions.totals, luminosity]\n")
    on_list = outputs(some)
    checks.that(0 < on_list["decisions.decisions"][1] < reference[1] and on_list["luminosity"][1] > 0, "on an event list")
    for variation in [] if BRIEF else [("--slice-events", 7)] + simt[:2]:
        checks.that(outputs(some, *variation) == on_list, f"on an event list {' '.join(map(str, variation))}")

    # A thousand filters, by their names and as all there are.
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

# A field that the graph names: of items, of subitems, by event.
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

checks.golden(Path(__file__).with_name("digests.txt"), found)
checks.end()
