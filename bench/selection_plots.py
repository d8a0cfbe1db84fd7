#!/usr/bin/env python3
"""The figures of docs/lab/selections.md, from what bench/selections_study.py left in its work folder.

    bench/selections_study.py run
    bench/selection_plots.py build/selections_study [FOLDER]

Needs Debian's python3-matplotlib."""
import sys
from pathlib import Path

import figures
import matplotlib.pyplot as plt
from selections_study import ANY, INPUT_KHZ, MINIMUM_BIAS, PUBLISHED, PUBLISHED_EVENTS, SIGNALS, fraction_error, load, shares

figures.prepare("selections", font_size=8)
SETS = (("of reconstructible", "#1b6ca8", "o"), ("of found", "#c8553d", "s"), ("by the signal, of found", "#777777", "^"))


def draw(axis, points, scale, **style):
    """Points (k, n, place): shares of n, from left to right."""
    axis.errorbar([scale * k / n for k, n, _ in points], [place for _, _, place in points],
                  xerr=[scale * fraction_error(k, n) for k, n, _ in points], linestyle="none", **style)


def rates(result, path):
    """Draws the rate of each line that passes an event: total, exclusive, and the published one."""
    events, rows = result["events"], [(name, row) for name, row in result["lines"].items() if row["passed"] or name in PUBLISHED]
    placed = [(name, row, len(rows) - i) for i, (name, row) in enumerate(rows)]
    figure, axis = plt.subplots(figsize=(7, 1 + 0.18 * len(rows)))
    for key, color, marker, label in (("passed", "#1b6ca8", "o", "rate"), ("alone", "#777777", "|", "alone")):
        points = [(row[key], events, place) for _, row, place in placed if row[key]]
        draw(axis, points, INPUT_KHZ, marker=marker, color=color, markersize=4, label=label)
    points = [(PUBLISHED[name], PUBLISHED_EVENTS, place) for name, _, place in placed if name in PUBLISHED]
    draw(axis, points, INPUT_KHZ, marker="D", color="#c8553d", markersize=3, label="published")
    axis.set_yticks([place for _, _, place in placed], labels=[name for name, _ in rows])
    axis.set(xscale="log", xlabel=f"kHz of {INPUT_KHZ // 1000} MHz", ylim=(0, len(rows) + 1))
    axis.legend(loc="best")
    figures.save(figure, path)


def efficiencies(results, path):
    """A panel for each signal that has reconstructible decays, with the lines that are meant for it."""
    samples = [sample for sample in SIGNALS if sample in results and results[sample]["reconstructible"]]
    columns = min(3, len(samples))
    rows = -(-len(samples) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.6 * columns, 1.7 * rows), squeeze=False)
    for axis in axes.flat[len(samples):]:
        axis.set_axis_off()
    for axis, sample in zip(axes.flat, samples):
        result = results[sample]
        names = [name for name in (*SIGNALS[sample][1], ANY) if name in result["lines"]]
        found = [(shares(result, result["lines"][name]), len(names) - i) for i, name in enumerate(names)]
        for which, (label, color, marker) in enumerate(SETS):
            points = [(*of[which], place + 0.2 * (1 - which)) for of, place in found if of[which] and of[which][1]]
            draw(axis, points, 100, marker=marker, color=color, markersize=3, label=label)
        axis.set_yticks(range(len(names), 0, -1), labels=names)
        axis.set(xlim=(0, 102), ylim=(0.4, len(names) + 0.6), title=sample)
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="lower right")
    for axis in axes[-1]:
        axis.set_xlabel("%")
    figures.save(figure, path)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    results = load(sys.argv[1])
    folder = Path(sys.argv[2] if len(sys.argv) == 3 else Path(__file__).resolve().parent.parent / "docs/figures")
    if not results:
        sys.exit(f"{sys.argv[1]} has no results: bench/selections_study.py run")
    if MINIMUM_BIAS in results:
        rates(results[MINIMUM_BIAS], folder / "selection_rates.svg")
    if any(sample in results for sample in SIGNALS):
        efficiencies(results, folder / "selection_efficiencies.svg")


if __name__ == "__main__":
    main()
