#!/usr/bin/env python3
"""graphs/output/line_histograms.yaml: its histograms equal counts, in plain Python, of the candidates that the lines accept; they
have the same digests for any slices, slots and targets; `check` refuses a selection of other items."""
import csv
import json
import math
import tempfile
from pathlib import Path

from common import BRIEF, GEOMETRY, ROOT, SIX, Checks, call

checks = Checks()
GRAPH, WITH = ROOT / "graphs/hlt1_pp_default.yaml", ROOT / "graphs/output/line_histograms.yaml"
EVENTS = 300 if BRIEF else 3000
MASSES = {"mu": 105.65837, "pi": 139.57018, "K": 493.677, "p": 938.27203}
D0 = 1864.83
LINES = {"ks_mass": ("v0", "Hlt1KsToPiPi"), "lambda_mass": ("v0", "Hlt1L02PPi"), "d0_mass": ("dihadron", "Hlt1D2KPi"),
         "dimuon_mass": ("dilepton", "Hlt1DiMuonHighMass"), "track_pt": ("particles", "Hlt1TrackMVA"),
         "track_muon_pt": ("particles", "Hlt1TrackMuonMVA")}
TABLES = ("particles", "v0", "dihadron", "dilepton", *sorted({line for _, line in LINES.values()}))


def mass(faster, slower, p, opening):
    """Mass of two particles with the momenta p, ascending, and these hypotheses; opening: 1 - cos of their angle."""
    (m1, p1), (m2, p2) = (MASSES[faster], p[1]), (MASSES[slower], p[0])
    e1, e2 = math.hypot(p1, m1) - p1, math.hypot(p2, m2) - p2
    return math.sqrt(m1 * m1 + m2 * m2 + 2 * (p1 * e2 + p2 * e1 + e1 * e2) + 2 * p1 * p2 * opening)


QUANTITIES = {
    "ks_mass": lambda p, opening: mass("pi", "pi", p, opening),
    "lambda_mass": lambda p, opening: mass("p", "pi", p, opening),
    "d0_mass": lambda p, opening: min((mass(*two, p, opening) for two in (("K", "pi"), ("pi", "K"))), key=lambda m: abs(m - D0)),
    "dimuon_mass": lambda p, opening: mass("mu", "mu", p, opening),
}


def read(path):
    """The rows of a table by event and item."""
    return {(row["event"], int(row["index"])): row for row in csv.DictReader(path.open()) if row["index"]}


def plain_counts(tables, name, axis):
    """Counts below, in the bins and above of the accepted candidates."""
    candidates, line = LINES[name]
    counts = [0] * (axis["bins"] + 2)
    for at, decision in tables[line].items():
        if decision.get("accepted") != "1":
            continue
        row = tables[candidates][at]
        if name in QUANTITIES:
            p = sorted(float(tables["particles"][at[0], int(row[child])]["p"]) for child in ("first", "second"))
            value = QUANTITIES[name](p, float(row["opening"]))
        else:
            value = float(row["pt"])
        bin_ = math.floor((value - axis["lower"]) / (axis["upper"] - axis["lower"]) * axis["bins"])
        counts[max(0, min(1 + bin_, axis["bins"] + 1))] += 1
    return counts


def compare(folder, *arguments):
    """Compares all histograms with plain counts; returns the number of accepted candidates."""
    sinks = Path(folder) / "tables.yaml"
    sinks.write_text("sluice: 1\nnodes:\n" + "".join(
        f"  write_{table}: {{ use: output.csv_sink, set: {{ output: {table}, path: {folder}/{table}.csv }} }}\n" for table in TABLES)
        + f"outputs: [..., {', '.join(TABLES)}]\n")
    call("run", GRAPH, "--with", WITH, "--with", ROOT / "graphs/output/histograms.yaml", "--with", sinks, "-o", f"{folder}/h.json",
         "--quiet", *arguments)
    tables = {table: read(Path(folder) / f"{table}.csv") for table in TABLES}
    found = {h["name"]: h for h in json.loads((Path(folder) / "h.json").read_text())["histograms"]}
    entries = {}
    for name in LINES:
        axis, counts = found[name]["x"], found[name]["counts"]
        expected = plain_counts(tables, name, axis)
        entries[name] = found[name]["entries"]
        checks.that([axis["below"], *counts, axis["above"]] == expected and axis["not_finite"] == 0,
                    f"{name}: {entries[name]} entries, plain count {sum(expected)}")
        checks.that(axis["unit"] == "MeV", f"{name}: {axis['field']} in MeV")
    return entries


with tempfile.TemporaryDirectory() as folder:
    entries = compare(folder, "-n", EVENTS)
    checks.that(entries["ks_mass"] > EVENTS / 60 and entries["lambda_mass"] > 0, "simulated events have Ks and Lambdas")
    if GEOMETRY.exists() and SIX.exists():
        compare(folder, "-i", SIX, "--set", f"geometry={GEOMETRY}")


def digests(*arguments):
    done = call("run", GRAPH, "--with", WITH, "-n", 60, "--digest", "--json", "-", "--quiet", *arguments)
    return {o["port"]: o["digest"] for o in json.loads(done.stdout)["outputs"] if o["port"] in LINES}


reference = digests()
has_simt = "simt" in call("--version").stdout
for variation in ([("--slots", 2, "--slice-events", 7)] + ([("--device", "simt", "-n", 60)] if has_simt else [])):
    checks.that(digests(*variation) == reference, f"{len(reference)} digests, {' '.join(map(str, variation))}")


def refused(setting, text):
    done = call("check", GRAPH, "--with", WITH, "--set", setting, expect=2)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    checks.that(len(errors) == 1 and errors[0] == f"--set {setting}: error: node {setting.split('.')[0]}: {text}", f"{setting}: {errors}")


refused("ks_mass.selected=Hlt1D2KPi.accepted",
        "`selected` has the items of dihadron.pairs, but `of` has those of v0.pairs")
refused("ks_mass.selected=Hlt1ODINLumi.accepted",
        "`selected` has the items of Hlt1ODINLumi.decisions, but `of` has those of v0.pairs")
refused("ks_mass.selected=Hlt1KsToPiPi.made_by",
        "`selected` needs values per event, item or subitem, but made_by of line_decisions is PER_SLICE")
refused("ks_mass.selected=Hlt1KsToPiPi.accept", "`selected`: node `Hlt1KsToPiPi` (selections.ks_to_pipi) has no field `accept`")
call("check", GRAPH, "--with", WITH, "--set", "ks_mass.selected=Hlt1TrackMVA.passed")  # by event
checks.end()
