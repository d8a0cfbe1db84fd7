#!/usr/bin/env python3
"""How many muons are found, and how many other particles are taken for muons, by momentum, among long tracks of
simulated events: the table and the figure of plugins/muon/README.md.

    bench/muon_study.py [-n 10000] [--figures docs/figures]

Muons are those of J/psi decays, everything else is from minimum bias. The figure, drawn where --figures names a folder,
needs matplotlib.
"""
import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/graphs"))
from common import call  # noqa: E402

SAMPLES = {"J/psi": ("--set", "raw.signal=Jpsi_mumu"), "minimum bias": ()}
ROWS = (("J/psi", "muons"), ("minimum bias", "pions"), ("minimum bias", "kaons"), ("minimum bias", "protons"), ("minimum bias", "electrons"),
        ("minimum bias", "ghosts"))
EDGES = (3, 6, 10, 15, 20, 30, 50, 100)  # GeV; the last bin has no end
STYLES = {"pions": ("#c8553d", "o"), "kaons": ("#1b6ca8", "s"), "protons": ("#3c8d5a", "^"), "ghosts": ("#777777", "x")}


def counted(events):
    """{(sample, kind): bins}"""
    found = {}
    for sample, arguments in SAMPLES.items():
        done = call("run", ROOT / "graphs/muon.yaml", "-n", events, "--quiet", "--json", "-", *arguments)
        for kind in json.loads(done.stdout)["results"]["muon_check"]["kinds"]:
            found[sample, kind["name"]] = kind["momentum"]
    return found


def table(found):
    names = [b["name"] for b in found[ROWS[0]]][1:]
    print("| % | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
    for sample, kind in ROWS:
        cells = [f"{100 * b['rate']:.1f} ± {100 * b['error']:.1f}" if b["tracks"] else "" for b in found[sample, kind][1:]]
        print(f"| {kind}, {sample} | " + " | ".join(cells) + " |")


def draw(axis, bins, **style):
    middles = [(low + high) / 2 for low, high in zip(EDGES, EDGES[1:])]
    halves = [(high - low) / 2 for low, high in zip(EDGES, EDGES[1:])]
    axis.errorbar(middles, [100 * b["rate"] for b in bins], xerr=halves, yerr=[100 * b["error"] for b in bins], linestyle="none", **style)


def figure(found, folder):
    import figures
    import matplotlib.pyplot as plt
    figures.prepare("muon_study")
    drawing, axes = plt.subplots(1, 2, figsize=(8, 3.2))
    draw(axes[0], found["J/psi", "muons"][1:-1], color="#1b6ca8", marker="o", markersize=4)
    for kind, (color, marker) in STYLES.items():
        draw(axes[1], found["minimum bias", kind][1:-1], color=color, marker=marker, markersize=4, label=kind)
    axes[0].set_ylabel("muons of J/psi found, %")
    axes[0].set_ylim(0, 105)
    axes[1].set_ylabel("taken for muons, minimum bias, %")
    axes[1].set_ylim(bottom=0)
    axes[1].legend()
    for axis in axes:
        axis.set_xscale("log")
        axis.set_xticks((3, 6, 10, 20, 50, 100))
        axis.minorticks_off()
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("momentum, GeV")
    folder.mkdir(parents=True, exist_ok=True)
    drawing.tight_layout()
    drawing.savefig(folder / "muon_rates.svg", metadata={"Date": None})
    print(folder / "muon_rates.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--events", type=int, default=10000)
    parser.add_argument("--figures", type=Path)
    options = parser.parse_args()
    found = counted(options.events)
    table(found)
    if options.figures:
        figure(found, options.figures)


if __name__ == "__main__":
    main()
