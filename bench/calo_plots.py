#!/usr/bin/env python3
"""The figures of plugins/calo/README.md, from what graphs/calo.yaml and graphs/photons.yaml report of simulated events.

    build/cpu-release/sluice run graphs/calo.yaml -n 10000 --set seed=2 --json electrons.json
    build/cpu-release/sluice run graphs/photons.yaml -n 10000 --json photons.json
    bench/calo_plots.py electrons.json photons.json [FOLDER]

Needs Debian's python3-matplotlib."""
import json
import sys
from pathlib import Path

import figures
import matplotlib.pyplot as plt

figures.prepare("calo")
EDGES_GEV = (1, 3, 5, 10, 20, 50, 100)
MASS_STEP = 5  # MeV
STYLES = {"electrons": ("#1b6ca8", "o"), "hadrons": ("#c8553d", "s"), "ghosts": ("#777777", "^")}


def electrons(result, path):
    """Shares of tracks that are identified as electrons, by momentum; open markers: by E/p alone."""
    figure, axis = plt.subplots(figsize=(5, 3.2))
    middles = [(a * b) ** 0.5 for a, b in zip(EDGES_GEV, EDGES_GEV[1:])]
    widths = [[m - a for m, a in zip(middles, EDGES_GEV)], [b - m for m, b in zip(middles, EDGES_GEV[1:])]]
    for sort, (color, marker) in STYLES.items():
        rows = [row[sort] for row in result["momentum_bins"] if row["name"] != "all"]
        label = {"ghosts": "tracks that match no particle"}.get(sort, sort)
        for suffix, face, text in (("", color, label), ("_by_e_over_p", "white", None)):
            axis.errorbar(middles, [100 * (r["share" + suffix] or 0) for r in rows], xerr=widths, yerr=[100 * r["error" + suffix] for r in rows],
                          fmt=marker, color=color, markerfacecolor=face, markersize=4, label=text)
    axis.errorbar([], [], fmt="o", color="black", markerfacecolor="white", markersize=4, label="open: E/p > 0.7")
    axis.set(xscale="log", yscale="log", ylim=(0.1, 150), xlabel="p, GeV", ylabel="identified as electrons, %")
    axis.set_xticks(EDGES_GEV, labels=[str(edge) for edge in EDGES_GEV])
    axis.legend(loc="lower left", fontsize=8)
    figures.save(figure, path)


def pi0(result, path):
    """Masses of all pairs of clusters, and of those of one pi0."""
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.8))
    for axis, key, title in zip(axes, ("pairs_by_mass", "pi0_by_mass"), ("all pairs", "of one pi0")):
        counts = result[key][:60]
        axis.stairs(counts, [MASS_STEP * i for i in range(len(counts) + 1)], color="#1b6ca8")
        axis.axvline(134.977, color="#c8553d", linewidth=0.8)
        axis.set(xlabel="mass of two clusters, MeV", ylabel=f"pairs in {MASS_STEP} MeV", title=title, xlim=(0, MASS_STEP * len(counts)))
    figures.save(figure, path)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    results = [json.loads(Path(name).read_text())["results"] for name in sys.argv[1:3]]
    folder = Path(sys.argv[3] if len(sys.argv) == 4 else Path(__file__).resolve().parent.parent / "docs/figures")
    electrons(results[0]["electron_check"], folder / "calo_electrons.svg")
    pi0(results[1]["photon_check"], folder / "calo_pi0.svg")


if __name__ == "__main__":
    main()
