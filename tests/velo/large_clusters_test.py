#!/usr/bin/env python3
"""Large clusters on VELO tracks of the six events of full simulation: those counted from the patterns of retina words agree with
those counted from super-pixels, and these with a flood fill over the pixels of the banks."""
import csv
import math
import struct
import tempfile
from collections import Counter
from pathlib import Path

import mdf
from common import GEOMETRY, ROOT, SIX, Checks, call, need_data

need_data()
checks = Checks()
TYPE_SUPERPIXELS, TYPE_RETINA = 63, 73


def numbers(folder, min_pixels):
    """The number of large clusters of each track, from retina words and from super-pixels."""
    names = "large_clusters", "large_components"
    graph = folder / "graph.yaml"
    tables = "".join(f"  {name}_table: {{ use: output.csv_sink, set: {{ output: {name}, path: {folder}/{name}.csv }} }}\n" for name in names)
    graph.write_text(f"sluice: 1\ndescription: large clusters as tables\ninclude: [{ROOT}/graphs/large_clusters.yaml]\nnodes:\n{tables}")
    call("run", graph, "-i", SIX, "--set", f"geometry={GEOMETRY}", "--quiet", *(a for name in names for a in ("--set", f"{name}.min_pixels={min_pixels}")))
    return [[int(row["hits"]) for row in csv.DictReader((folder / f"{name}.csv").open())] for name in names]


with tempfile.TemporaryDirectory() as folder:
    for min_pixels in range(1, 7):
        retina, superpixels = numbers(Path(folder), min_pixels)
        equal = sum(a == b for a, b in zip(retina, superpixels))
        checks.that(len(retina) == len(superpixels) == 1435 and equal > 0.98 * len(retina),
                    f"at least {min_pixels} pixels: {sum(retina)} clusters on tracks, {sum(superpixels)} from super-pixels; {equal} of {len(retina)} tracks have equal numbers")


def line_of(folder):
    """For each track, what the line accepts with low limits, and its eta and number of large clusters."""
    names = {"states": "fit.beamline_states", "counts": "large_clusters", "line": "Hlt1VeloLargeClusters"}
    graph = folder / "line.yaml"
    tables = "".join(f"  {name}_table: {{ use: output.csv_sink, set: {{ output: {output}, path: {folder}/{name}.csv }} }}\n" for name, output in names.items())
    graph.write_text(f"sluice: 1\ndescription: decisions as a table\ninclude: [{ROOT}/graphs/large_clusters.yaml]\nnodes:\n{tables}")
    call("run", graph, "-i", SIX, "--set", f"geometry={GEOMETRY}", "--quiet", "--set", "Hlt1VeloLargeClusters.min_eta=4", "--set", "Hlt1VeloLargeClusters.min_large_clusters=1")
    states, counts, line = (list(csv.DictReader((folder / f"{name}.csv").open())) for name in names)
    for state, count, decision in zip(states, counts, line, strict=True):
        eta = math.asinh(1 / math.hypot(float(state["tx"]), float(state["ty"])))
        yield int(decision["accepted"]), -eta if int(state["backward"]) else eta, int(count["hits"])


with tempfile.TemporaryDirectory() as folder:
    decisions = list(line_of(Path(folder)))
wrong = [d for d in decisions if d[0] != (d[1] > 4 and d[2] >= 1) and abs(d[1] - 4) > 1e-5]
checks.that(not wrong and sum(d[0] for d in decisions) > 10, f"the line accepts {sum(d[0] for d in decisions)} of {len(decisions)} tracks, as eta and large clusters require")


def components(pixels):
    """The 8-connected components of a set of pixels."""
    left = set(pixels)
    while left:
        found, border = set(), {left.pop()}
        while border:
            found |= border
            border = {(c + i, r + k) for c, r in border for i in (-1, 0, 1) for k in (-1, 0, 1)} & left
            left -= border
        yield found


def pixels_of(words):
    for word in words:
        column, row = (word >> 14 & 0x1FF) * 2, (word >> 8 & 0x3F) * 4
        yield from ((column + bit // 4, row + bit % 4) for bit in range(8) if word >> bit & 1)


def words_of(payload):
    return struct.unpack(f"<{len(payload) // 4}I", payload)[1:]


def pattern_table(columns, rows, is_selected):
    """The patterns of each pair of fractions of a pixel in quarters, in ascending order of their bits, column by column."""
    table = {}
    for bits in range(1, 1 << columns * rows):
        pixels = {(bit // rows, bit % rows) for bit in range(columns * rows) if bits >> bit & 1}
        if len(list(components(pixels))) == 1 and is_selected(pixels):
            mean = (sum(p[axis] for p in pixels) / len(pixels) for axis in (0, 1))
            table.setdefault(tuple(int(4 * m + 0.5) % 4 for m in mean), []).append(pixels)
    return table


def moved_to_corner(pixels):
    column, row = (min(p[axis] for p in pixels) for axis in (0, 1))
    return {(c - column, r - row) for c, r in pixels}


isolated = pattern_table(2, 4, lambda pixels: True)
window = pattern_table(3, 3, lambda pixels: (0, 0) in pixels or {(0, 1), (1, 0)} <= pixels)
matched = Counter()
for record in mdf.records(SIX):
    banks = [(kind, source, words_of(payload)) for kind, _, source, _, payload in mdf.banks(record) if kind in (TYPE_SUPERPIXELS, TYPE_RETINA)]
    clusters = {source: [(c, *(sum(p[axis] for p in c) / len(c) for axis in (0, 1))) for c in components(pixels_of(words))]
                for kind, source, words in banks if kind == TYPE_SUPERPIXELS}
    for kind, sensor, words in banks:
        for word in words if kind == TYPE_RETINA else ():
            column, row = (word >> 10 & 0xFFF) / 4, (word & 0x3FF) / 4
            of = [c for c, mean_column, mean_row in clusters[sensor] if abs(mean_column - column) < 0.26 and abs(mean_row - row) < 0.26]
            if len(of) != 1:
                continue
            pixels, fractions, name = of[0], [word >> 10 & 3, word & 3], "isolated"
            patterns, number = isolated, word >> 23 & 63
            if not word >> 30 & 1:
                name, patterns, number = "window" if word >> 29 & 1 else "larger", window, word >> 23 & 31
                if sensor % 4 in (1, 2):
                    fractions[0], pixels = -fractions[0] % 4, {(-c, r) for c, r in pixels}
            found = dict(enumerate(patterns[tuple(fractions)])).get(number, set())
            matched[name, moved_to_corner(found) == moved_to_corner(pixels) if found else False] += 1
checks.that(matched["isolated", True] > 7000 and not matched["isolated", False], f"{matched['isolated', True]} patterns in isolated super-pixels equal the pixels")
checks.that(matched["window", True] > 2500 and matched["window", False] <= 5, f"{matched['window', True]} patterns in windows equal the pixels, {matched['window', False]} do not")
checks.that(matched["larger", True] + matched["larger", False] < 150, f"{matched['larger', True] + matched['larger', False]} clusters are marked as larger than a window")
checks.end()
