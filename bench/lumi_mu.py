#!/usr/bin/env python3
"""Luminosity counters against mu, the mean number of collisions of a crossing: are they linear where they should be?

    bench/lumi_mu.py [--events 1000] [--mu 0,1,2,3,4,5,6,8,10] [--svg FILE] [--set NODE.PROPERTY=VALUE]...

Simulates luminosity events at each mu, takes those where both beams were, and prints each counter's mean with its error,
the straight line that fits them best by its value at mu = 0 and its slope, and its chi2 for each degree of freedom. --svg
draws means and lines, and the distributions of one counter.

A counter that adds up over collisions is linear in mu. One that saturates is not: vertices merge where they are near, and
so do hits.
"""
import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ("VeloTracks", "VeloTracksEtaBin5", "VeloVertices", "SciFiT2M123", "MuonHitsM2R1", "MuonHitsM3R2", "MuonTracks", "ECalET")
DISTRIBUTION = "VeloTracks"
COLOURS = ("#1b5e8c", "#c0562b", "#3d7a3a", "#7b4b94", "#8a6d1d", "#5f5f5f")


def counts(sluice, mu, seed, events, settings):
    """{counter: values} of the luminosity events at crossings of two bunches."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "lumi.csv"
        command = [sluice, "run", str(ROOT / "graphs/lumi.yaml"), "-n", str(events), "-o", str(table), "--quiet",
                   "--set", f"raw.mu={mu}", "--set", f"seed={seed}", "--set", "raw.luminosity_fraction=1"]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        with open(table, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["BXType"] == "3"]
    names = [name for name in rows[0] if name.startswith(("Velo", "Fiducial", "SciFi", "Muon", "ECal"))]
    return {name: [float(row[name]) for row in rows if row[name] != ""] for name in names}


def mean_and_error(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))


def fit(points):
    """Value at mu = 0 and slope of the straight line, their errors, and chi2 / ndf; points: (mu, mean, error)."""
    used = [(mu, mean, 1 / error**2) for mu, mean, error in points if error > 0]
    n, x, y = (sum(w * f for w, f in zip((p[2] for p in used), values)) for values in
               ([1] * len(used), [p[0] for p in used], [p[1] for p in used]))
    xx, xy = sum(w * mu * mu for mu, _, w in used), sum(w * mu * mean for mu, mean, w in used)
    determinant = n * xx - x * x
    begin, slope = (xx * y - x * xy) / determinant, (n * xy - x * y) / determinant
    chi2 = sum(w * (mean - begin - slope * mu) ** 2 for mu, mean, w in used)
    return begin, math.sqrt(xx / determinant), slope, math.sqrt(n / determinant), chi2 / max(1, len(used) - 2)


# ------------------------------------------------------------------------------------------------------- the picture

def round_up(value):
    """The next of 1, 2, 4, 6, 8 times a power of ten, which divide by four well."""
    power = 10 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value)


class Panel:
    """A diagram with axes from 0, at (left, top)."""
    WIDTH, HEIGHT = 300, 200

    def __init__(self, left, top, x_max, y_max, title, x_label):
        x_max, y_max = round_up(x_max), round_up(y_max)
        self.left, self.top, self.x_max, self.y_max = left, top, x_max, y_max
        self.parts = [f'<text x="{left}" y="{top - 10}" font-weight="bold">{title}</text>',
                      f'<rect x="{left}" y="{top}" width="{self.WIDTH}" height="{self.HEIGHT}" fill="none" stroke="#888"/>',
                      f'<text x="{left + self.WIDTH / 2}" y="{top + self.HEIGHT + 32}" text-anchor="middle">{x_label}</text>']
        for i in range(5):
            x, y = x_max * i / 4, y_max * i / 4
            self.parts.append(f'<text x="{self.x(x):.1f}" y="{top + self.HEIGHT + 16}" text-anchor="middle">{x:.4g}</text>')
            self.parts.append(f'<text x="{left - 6}" y="{self.y(y) + 4:.1f}" text-anchor="end">{y:.3g}</text>')

    def x(self, value):
        return self.left + self.WIDTH * value / self.x_max

    def y(self, value):
        return self.top + self.HEIGHT * (1 - value / self.y_max)

    def line(self, points, colour, dashed=False):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.3"{dash}/>')

    def point(self, x, y, error, colour):
        self.line([(x, max(0, y - error)), (x, y + error)], colour)
        self.parts.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="2.6" fill="{colour}"/>')

    def label(self, row, text, colour):
        self.parts.append(f'<text x="{self.left + self.WIDTH - 8}" y="{self.top + 16 + 14 * row}" text-anchor="end" fill="{colour}">{text}</text>')


def means_panel(left, top, name, points, begin, slope):
    mu_max = max(mu for mu, _, _ in points)
    end = begin + slope * mu_max
    panel = Panel(left, top, mu_max, max(max(mean for _, mean, _ in points), end, 1e-9), f"mean of {name}", "mu")
    panel.line([(0, max(begin, 0)), (mu_max, end)], "#999", dashed=True)
    for mu, mean, error in points:
        panel.point(mu, mean, error, COLOURS[0])
    return panel


def distribution_panel(left, top, samples):
    bins = 30
    end = round_up(1 + max(sorted(values)[len(values) * 99 // 100] for _, values in samples))  # the rest is in the last bin
    shares = []
    for mu, values in samples:
        histogram = [0] * bins
        for value in values:
            histogram[min(bins - 1, int(bins * value / end))] += 1
        shares.append((mu, [h / len(values) for h in histogram]))
    panel = Panel(left, top, end, max(max(s) for _, s in shares), f"share of events by {DISTRIBUTION}", DISTRIBUTION)
    for i, (mu, share) in enumerate(shares):
        steps = [(end * (b + edge) / bins, share[b]) for b in range(bins) for edge in (0, 1)]
        panel.line(steps, COLOURS[i % len(COLOURS)])
        panel.label(i, f"mu = {mu:g}", COLOURS[i % len(COLOURS)])
    return panel


def draw(path, measured, fits):
    names = [name for name in SHOWN if name in fits]
    panels = [means_panel(60 + 380 * (i % 3), 40 + 280 * (i // 3), name, measured["points"][name], fits[name][0], fits[name][2])
              for i, name in enumerate(names)]
    some = [s for s in measured["samples"] if s[0] > 0]
    place = len(names)
    panels.append(distribution_panel(60 + 380 * (place % 3), 40 + 280 * (place // 3), some[:: max(1, len(some) // 4)]))
    height = 280 * ((place + 3) // 3) + 20
    body = "\n".join("\n".join(panel.parts) for panel in panels)
    Path(path).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="1140" height="{height}" font-family="sans-serif" '
                          f'font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice")))
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--mu", default="0,1,2,3,4,5,6,8,10")
    parser.add_argument("--svg")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    samples = [(float(mu), counts(options.sluice, mu, 1 + i, options.events, options.set))
               for i, mu in enumerate(options.mu.split(","))]  # each with a seed of its own, so that they are independent
    names = [name for name, values in samples[0][1].items() if all(s[1][name] for s in samples) and not name.startswith("VeloVertex")]
    points = {name: [(mu, *mean_and_error(s[name])) for mu, s in samples] for name in names}
    fits = {name: fit(points[name]) for name in names}
    print(f"{options.events} luminosity events at each mu; means of those with both beams")
    print(f"{'counter':20} " + " ".join(f"mu={mu:<5g}{'':6}" for mu, _ in samples) + "  at mu = 0           slope             chi2/ndf")
    for name in names:
        begin, begin_error, slope, error, chi2 = fits[name]
        cells = " ".join(f"{mean:7.2f}+-{e:<5.2f}" for _, mean, e in points[name])
        print(f"{name:20} {cells} {begin:8.3f} +- {begin_error:6.3f} {slope:8.3f} +- {error:6.3f} {chi2:9.2f}")
    if options.svg:
        draw(options.svg, {"points": points, "samples": [(mu, s[DISTRIBUTION]) for mu, s in samples]}, fits)


if __name__ == "__main__":
    main()
