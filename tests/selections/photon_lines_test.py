#!/usr/bin/env python3
"""Lines over pairs of neutral clusters: the lines of 2026 against their requirements in double precision, and the lines of 2023
without code against the compiled ones. photon_lines_test.py EVENTS: number of events per signal"""
import csv
import math
import re
import sys
import tempfile
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from common import GEOMETRY, ROOT, SIX, Checks, call, need_data

need_data()
EVENTS = int(sys.argv[1])
SIGNALS = "none", "pi0_GammaGamma", "Bs_GammaGamma"
GRAPH = ROOT / "tests/selections/photon_lines.yaml"
AREAS = {"Outer": {0}, "Middle": {1}, "Inner": {2}, "MiddleOuterMixed": {0, 1}, "MiddleInnerMixed": {1, 2}}
LINES = ["DiPhotonHighMass", "Pi02GammaGamma", *("Pi02GammaGamma" + area for area in AREAS)]
OLD_LINES = "Bs2GammaGamma2023", "Pi02GammaGamma2023"
NAMES = re.findall(r"^  ((?:Hlt1|Where)\w+):", (ROOT / "graphs/menus/2026/photons.yaml").read_text() + GRAPH.read_text(), re.M)
Z = 12650.0
checks = Checks(says_passed=False)


def tables(folder, *arguments):
    """Runs the graph without scales; returns the rows of each table by event."""
    names = ["neutral_clusters", "cluster_pairs", "pv", "decide.decisions", *(f"Hlt1{line}" for line in LINES)]
    text = ["sluice: 1", "description: decisions of photon lines, as tables", f"include: [{GRAPH}]", "nodes:"]
    text += [f"  Hlt1{line}: {{ set: {{ pre_scale: 1, post_scale: 1 }} }}" for line in LINES]
    text += [f"  {name.replace('.', '_')}_table: {{ use: output.csv_sink, set: {{ output: {name}, path: {folder}/{name}.csv }} }}" for name in names]
    graph = folder / "graph.yaml"
    graph.write_text("\n".join([*text, f"outputs: [{', '.join(names)}]", ""]))
    call("run", graph, *arguments, "--quiet")
    found = {}
    for name in names:
        found[name] = defaultdict(list)
        for row in csv.DictReader((folder / f"{name}.csv").open()):
            found[name][row["event"]].append(row)
    return found


def passing(found):
    """The lines that each event passes, as a word of bits."""
    return {event: int(rows[0]["passed"]) for event, rows in found["decide.decisions"].items()}


class Pair:
    """Quantities of two photons from the origin, in double precision."""

    def __init__(self, first, second):
        momentum = [0.0, 0.0, 0.0]
        directions, self.energies = [], [float(c["energy"]) for c in (first, second)]
        for cluster, energy in zip((first, second), self.energies):
            x, y = float(cluster["x"]), float(cluster["y"])
            r = math.sqrt(x * x + y * y + Z * Z)
            directions.append((x / r, y / r, Z / r))
            momentum = [m + energy * d for m, d in zip(momentum, directions[-1])]
        chord2 = sum((a - b) ** 2 for a, b in zip(*directions))
        self.mass = math.sqrt(self.energies[0] * self.energies[1] * chord2)
        self.pt = math.hypot(*momentum[:2])
        self.eta = math.asinh(momentum[2] / self.pt)
        self.ets = [float(c["et"]) for c in (first, second)]
        self.share = min(float(c["highest_share"]) for c in (first, second))
        self.areas = {int(c["area"]) for c in (first, second)}
        self.flags = sum(int(c["on_velo_line"]) for c in (first, second))


def margins(line, pair, vertices):
    """The least of the relative distances to the limits of a line: above 0 if the line accepts the pair."""
    if line == "DiPhotonHighMass":
        of = [(pair.mass, 4200), (21000, pair.mass), (pair.pt, 3000), (min(pair.ets), 2500), (sum(pair.ets), 6000), (pair.share, 0.6), (10, pair.eta)]
        exact = pair.flags == 0
    else:
        of = [(pair.mass, 0), (500, pair.mass), (min(pair.ets), 400), (pair.share, 0.7), (pair.pt, 200 * (10 - pair.eta))]
        exact = pair.flags == 0 and vertices == 1 and pair.areas == AREAS.get(line.removeprefix("Pi02GammaGamma"), pair.areas)
    return min((a - b) / max(abs(a), abs(b), 1) for a, b in of) if exact else -1.0


def check_pairs(name, found):
    """Pairs of the clusters of each event in lexicographic order, with the quantities in double precision."""
    worst, count = 0.0, 0
    for event, rows in found["neutral_clusters"].items():
        clusters = rows
        chosen = [i for i, c in enumerate(clusters) if float(c["et"]) > 400 and float(c["highest_share"]) > 0.6]
        pairs = found["cluster_pairs"][event]
        expected = list(combinations(chosen, 2))
        if [(int(p["first"]), int(p["second"])) for p in pairs] != expected:
            checks.that(False, f"{name}: event {event}: pairs of selected clusters in order")
        for row, (i, k) in zip(pairs, expected):
            pair = Pair(clusters[i], clusters[k])
            count += 1
            scale = sum(pair.ets)  # of the rounding of pt, which may be a small difference
            worst = max(worst, abs(float(row["mass"]) / pair.mass - 1), abs(float(row["energy"]) / sum(pair.energies) - 1),
                        abs(float(row["pt"]) - pair.pt) / scale, abs(float(row["eta"]) - pair.eta) * pair.pt / scale)
            bits = sum(1 << area for area in pair.areas)
            if int(row["areas"]) != bits or int(row["on_velo_line"]) != pair.flags:
                checks.that(False, f"{name}: event {event}: areas and flags of pair {row['index']}")
    checks.that(count > 0, f"{name}: {count} pairs")
    checks.that(worst < 2e-6, f"{name}: quantities of pairs within {worst:.1e} of double precision")
    return count


def check_line(name, line, found):
    """Returns the number of accepted pairs; pairs within rounding of a limit are left out."""
    accepted = wrong = near = 0
    for event, bits in passing(found).items():
        clusters, pairs = found["neutral_clusters"][event], found["cluster_pairs"][event]
        vertices, decisions = len(found["pv"][event]), found[f"Hlt1{line}"][event]
        wrong += bits >> NAMES.index(f"Hlt1{line}") & 1 != any(int(d["accepted"]) for d in decisions) or len(decisions) != len(pairs)
        for row, decision in zip(pairs, decisions):
            margin = margins(line, Pair(clusters[int(row["first"])], clusters[int(row["second"])]), vertices)
            near += abs(margin) < 3e-6
            wrong += abs(margin) >= 3e-6 and int(decision["accepted"]) != (margin > 0)
            accepted += int(decision["accepted"])
    checks.that(wrong == 0, f"{name}: {line} accepts {accepted} pairs, {near} within rounding of a limit: {wrong} differ from the requirements")
    return accepted


def check_old(name, line, found):
    """Returns the number of events that pass."""
    compiled, without_code = ([bits >> NAMES.index(kind + line) & 1 for bits in passing(found).values()] for kind in ("Hlt1", "Where"))
    checks.that(len(compiled) > 0 and compiled == without_code, f"{name}: {line}: {sum(compiled)} of {len(compiled)} events pass, compiled and without code")
    return sum(compiled)


total = dict.fromkeys((*LINES, *OLD_LINES), 0)
samples = [("sample", ("-i", SIX, "--set", f"geometry={GEOMETRY}"))]
samples += [(signal, ("-n", EVENTS, "--set", f"raw.signal={signal}", "--set", "raw.mu=1.5")) for signal in SIGNALS]
for sample, arguments in samples:
    with tempfile.TemporaryDirectory() as folder:
        tables_of = tables(Path(folder), *arguments)
        check_pairs(sample, tables_of)
        for line in LINES:
            total[line] += check_line(sample, line, tables_of)
        for line in OLD_LINES:
            total[line] += check_old(sample, line, tables_of)
print(", ".join(f"{line} {count}" for line, count in total.items()))
for line, count in total.items():
    checks.that(count > 0 or EVENTS < 200, f"{line}: {count} accepted in all")
checks.end()
