#!/usr/bin/env python3
"""Event lists of odin.filter (by bunches) and of odin.prescale do not depend on slots, slices, targets and launches,
for single nodes and for nodes of a family."""
import json
import tempfile
from pathlib import Path

from common import BRIEF, Checks, call

NODES = 16


def graph(folder):
    lines = ["sluice: 1", "nodes:", "  raw: { use: sim.source }", "  odin: { use: odin.decode }"]
    for n in range(NODES):
        lines.append(f"  bunches_{n}: {{ use: odin.filter, set: {{ bunches: '{20 * n}-{1500 + 50 * n}, {3563 - n}' }} }}")
        lines.append(f"  scaled_{n}: {{ use: odin.prescale, set: {{ fraction: {0.1 + 0.05 * n} }} }}")
    lines += ["  both: { use: odin.prescale, events: bunches_0, set: { fraction: 0.5 } }",
              "  decisions: { use: generic.gather_lists, in: { lists: all } }",
              "outputs: [decisions.decisions, decisions.totals]", ""]
    path = Path(folder) / "lists.yaml"
    path.write_text("\n".join(lines))
    return path


def run(path, *arguments):
    summary = json.loads(call("run", path, "-n", 500, "--digest", "--json", "-", "--quiet", *arguments).stdout)
    return {o["port"]: (o["digest"], o["items"]) for o in summary["outputs"]}, [totals["events"] for totals in summary["totals"]["decisions.totals"].values()]


checks = Checks()
has_simt = "simt" in call("--version").stdout
with tempfile.TemporaryDirectory() as folder:
    path = graph(folder)
    reference = run(path)
    counts = reference[1]
    checks.that(len(counts) == 2 * NODES + 1 and all(0 < count < 500 for count in counts), f"each list has some but not all events: {counts}")
    checks.that(all(abs(counts[2 * n + 1] - 500 * (0.1 + 0.05 * n)) < 56 for n in range(NODES)), "prescales pass their fractions")
    checks.that(counts[-1] < 0.65 * counts[0], "a prescale on the list of a filter")
    variations = [("--slots", 3), ("--slice-events", 1), ("--slice-events", 64, "--slots", 2), ("--guard",),
                  ("--set", "runtime.families=off")]
    if has_simt:
        variations += [("--device", "simt", "--set", f"runtime.families={families}", "--set", f"simt.seed={seed}", "--set", f"simt.warp={warp}")
                       for families in ("on", "off") for seed, warp in ((1, 32), (2, 64))]
    if BRIEF:
        variations = [("--slice-events", 1), ("--guard",), *variations[5:7]]
    for variation in variations:
        checks.that(run(path, *variation) == reference, f"equal results with {' '.join(map(str, variation))}")
    checks.that(run(path, "--set", "both.seed=x") != reference, "another seed gives other events")
checks.end()
