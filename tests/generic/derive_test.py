#!/usr/bin/env python3
"""Derived fields: expressions in place of fields, and generic.derive. Their values have the bits of the algorithms and of single
precision in C; digests are equal for any slices, slots and targets, and for the graph that `sluice graph --yaml` prints; errors
name the character."""
import csv
import json
import struct
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, Checks, call

checks = Checks()
EVENTS = 100 if BRIEF else 500
NODES = """
  odin:    { use: odin.decode }
  pions:   { use: selections.masses, in: { vertices: v0 } }
  kaons:   { use: selections.masses, in: { vertices: dihadron }, set: { faster: K, slower: K } }
  derived_pions: { use: generic.derive, set: { expression: "v0: mass(pi, pi)" } }
  derived_kaons: { use: generic.derive, set: { expression: "dihadron.mass(K, 493.677)" } }
  by_masses:     { use: generic.derive, set: { expression: "(pions.mass - derived_pions.value) / v0.pt" } }
  slopes:  { use: generic.derive, set: { expression: "particles: tx^2 + ty^2" } }
  fast:    { use: generic.derive, set: { expression: "v0: first.p > second.p and not has(leptons, 1)" } }
  turn:    { use: generic.derive, set: { expression: "dihadron: dphi(atan2(first.ty, first.tx), atan2(second.ty, second.tx))" } }
  of_pairs: { use: generic.derive, set: { expression: "v0_pairs: first.pt + second.pt" } }
  rounded: { use: generic.derive, set: { expression: "odin: bunch / 3" } }
  beside:  { use: generic.derive, set: { expression: "particles.pt / (odin.bunch + 1)" } }
  direct:  { use: generic.histogram, set: { of: "v0: mass(pi, pi)", bins: 80, lower: 400, upper: 600 } }
  by_node: { use: generic.histogram, set: { of: pions.mass, bins: 80, lower: 400, upper: 600 } }
  again:   { use: generic.histogram, set: { of: "v0: mass(pi, pi)", bins: 10, lower: 400, upper: 600 } }
  chosen:  { use: generic.histogram, set: { of: v0.pt, selected: "v0: pt > 1 GeV", upper: 1000 } }
  displaced: { use: generic.filter, set: { of: "particles: ip / 1 um", minimum: 100, count: 2 } }
"""
OUTPUTS = ("particles", "v0", "pions", "kaons", "derived_pions", "derived_kaons", "by_masses", "slopes", "fast", "turn", "of_pairs",
           "rounded", "beside", "direct", "by_node", "again", "chosen", "displaced")
TABLES = ("particles", "v0", "pions", "kaons", "derived_pions", "derived_kaons", "by_masses", "slopes", "fast", "turn")


def graph_text(nodes, outputs):
    return (f"sluice: 1\ninclude: [{ROOT}/graphs/secondary_vertices.yaml]\nnodes:" + nodes
            + f"outputs: [{', '.join(outputs)}]\n")


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def read(path):
    """The rows with an item, by event and item."""
    return {(row["event"], int(row["index"])): row for row in csv.DictReader(path.open()) if row["index"]}


def column(table, name):
    return {at: float(row[name]) for at, row in table.items()}


def run(graph, *arguments):
    done = call("run", graph, "-n", EVENTS, "--digest", "--json", "-", "--quiet", *arguments)
    return {o["port"]: o["digest"] for o in json.loads(done.stdout)["outputs"]}


def compare_values(folder, graph):
    sinks = folder / "tables.yaml"
    sinks.write_text("sluice: 1\nnodes:\n" + "".join(
        f"  write_{t}: {{ use: output.csv_sink, set: {{ output: {t}, path: {folder}/{t}.csv }} }}\n" for t in TABLES))
    call("run", graph, "--with", sinks, "-n", EVENTS, "--quiet")
    tables = {t: read(folder / f"{t}.csv") for t in TABLES}
    pions = column(tables["pions"], "mass")
    checks.that(len(pions) > 10 and pions == column(tables["derived_pions"], "value"), f"{len(pions)} masses of two pions have equal bits")
    kaons = column(tables["kaons"], "mass")
    checks.that(len(kaons) > 10 and kaons == column(tables["derived_kaons"], "value"), f"{len(kaons)} masses of two kaons have equal bits")
    checks.that(set(column(tables["by_masses"], "value").values()) == {0.0}, "the difference of both is 0")
    slopes = {at: single(sum(single(single(float(r[name])) ** 2) for name in ("tx", "ty"))) for at, r in tables["particles"].items()}
    checks.that(slopes == {at: single(v) for at, v in column(tables["slopes"], "value").items()}, f"{len(slopes)} sums of squares are rounded three times")
    children = {at: [tables["particles"][at[0], int(r[c])] for c in ("first", "second")] for at, r in tables["v0"].items()}
    fast = {at: float(float(a["p"]) > float(b["p"]) and not int(tables["v0"][at]["leptons"]) & 1) for at, (a, b) in children.items()}
    checks.that(set(fast.values()) == {0.0, 1.0} and fast == column(tables["fast"], "value"), "a condition is 1 or 0")
    turns = column(tables["turn"], "value").values()
    checks.that(all(-3.1416 < t < 3.1416 for t in turns) and min(turns) < -2 and max(turns) > 2, "differences of angles are in range")


def compare_selected(folder, graph):
    call("run", graph, "--with", ROOT / "graphs/output/histograms.yaml", "-n", EVENTS, "-o", folder / "h.json", "--quiet")
    counts = next(h for h in json.loads((folder / "h.json").read_text())["histograms"] if h["name"] == "chosen")
    expected = sum(float(row["pt"]) > 1000 for row in read(folder / "v0.csv").values())
    checks.that(counts["x"]["above"] == counts["entries"] == expected > 0, f"{expected} candidates are selected by a condition")


def compare_runs(folder, graph):
    reference = run(graph)
    checks.that(reference["direct"] == reference["by_node"], "histograms of an expression and of a node's masses are equal")
    for arguments in (("--slots", 3, "--slice-events", 7), ("--device", "simt", "-n", 8)):
        expected = reference if "simt" not in arguments else run(graph, "-n", 8)
        checks.that(run(graph, *arguments) == expected, f"digests are equal with {arguments}")
    canonical = folder / "canonical.yaml"
    canonical.write_text(call("graph", graph, "--yaml").stdout)
    text = canonical.read_text()
    checks.that(text.count("use: generic.derive") == 12, "equal expressions share a node")
    checks.that("items:" not in text and "generic.derive_of_events" in text, "operands are not written, the algorithm is")
    checks.that(run(canonical) == reference, "the whole graph as text has the same digests")
    call("check", graph)


# A node, the text at the position of the error, the error.
WRONG = (
    ("d: { use: generic.derive, set: { expression: 'v0: mass(pi, pion)' } }", "pion", "node d: expression: `mass` needs particles"),
    ("d: { use: generic.histogram, set: { of: 'v0: masss(pi, pi)' } }", "masss",
     "node d: of: there is no function `masss`; did you mean mass?"),
    ("d: { use: generic.histogram, set: { of: 'v0.ptt + 1 MeV' } }", "v0.ptt",
     "node d: of: there is no `v0.ptt`; did you mean v0.pt?"),
    ("d: { use: generic.histogram, set: { of: 'sqrt(pt^2)' } }", "pt^2", "node d: of: `pt` is no field; write NODE.pt"),
    ("d: { use: generic.histogram, set: { of: 'v0: first.ptt * 2' } }", "first", "there is no `first.ptt`; did you mean first.pt?"),
    ("d: { use: generic.histogram, set: { of: 'v0.pt + v0.x' } }", "v0.x", "`v0.pt` is an energy in MeV, but `v0.x` is a length in mm"),
    ("d: { use: generic.histogram, set: { of: 'v0.pt + particles.pt' } }", "particles",
     "`particles.pt` has the items of forward_tracks.tracks, but `v0.pt` has those of v0.pairs"),
    ("d: { use: generic.histogram, set: { of: 'nothing: pt + 1' } }", "nothing", "of: the graph has no node `nothing`"),
    ("d: { use: generic.histogram, set: { of: '1 + 2' } }", "1 + 2", "the expression names no field"),
    ("d: { use: generic.derive, set: { expression: 'd.value + v0.pt' } }", "d.value", "the expression depends on its own values"),
    ("d: { use: generic.derive, set: { expression: 'v0.pt^2', o1: v0.pt } }", "o1", "`o1` is set by the expression"),
    ("d: { use: generic.derive }", "d: ", "generic.derive needs an expression"),
    ("d: { use: generic.derive, set: { expression: 'v0.offsets + v0.pt' } }", "v0.offsets",
     "`v0.offsets` cannot be used: an expression needs one value per item or event"),
    ("d: { use: generic.derive, set: { expression: '' } }", "' } }", "the expression names no field"),
    ("d: { use: generic.derive, set: { expression: 'v0.pt +' } }", "' }", "a value is missing at the end"),
)


def check_errors(folder):
    for node, at, text in WRONG:
        wrong = folder / "wrong.yaml"
        wrong.write_text(graph_text(f"\n  {node}\n", ["d"]))
        done = call("check", wrong, expect=2)
        lines = done.stderr.splitlines()
        place = next((line.split(":")[2] for line in lines if "error:" in line), "")
        good = text in done.stderr and (at is None or place == str(2 + node.index(at) + 1)) and done.stderr.count("error:") == 1
        checks.that(good, f"{node}: {text}")
        if not good:
            print(done.stderr)


def check_warnings(folder):
    """Integers of 32 bits are rounded; only where this may matter is there a warning."""
    for expression, at in (("odin: orbit / (bunch + 1)", None), ("odin: sqrt(max(orbit, 1))", None), ("odin: orbit * 0.5", None),
                           ("odin: orbit - bunch", "orbit"), ("odin: max(orbit, 1) / 2 > 7.5", "orbit"), ("odin: run", "run")):
        graph = folder / "rounded.yaml"
        node = f"d: {{ use: generic.derive, set: {{ expression: '{expression}' }} }}"
        graph.write_text(graph_text(f"\n  odin: {{ use: odin.decode }}\n  {node}\n", ["d"]))
        done = call("check", graph)
        warnings = [line for line in done.stderr.splitlines() if "warning:" in line]
        expected = [] if at is None else [str(2 + node.index(at) + 1)]
        checks.that([line.split(":")[2] for line in warnings] == expected, f"{expression}: {len(expected)} warnings")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph = folder / "derived.yaml"
        graph.write_text(graph_text(NODES, OUTPUTS))
        compare_values(folder, graph)
        compare_selected(folder, graph)
        compare_runs(folder, graph)
        check_errors(folder)
        check_warnings(folder)
    checks.end()


main()
