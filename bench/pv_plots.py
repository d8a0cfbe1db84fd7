"""The figures of docs/physics.md and docs/lab/vertices.md, drawn by `bench/pv_study.py plots` from what the studies left in the work folder."""
import json

import figures
import matplotlib.pyplot as plt
from pv_statistics import binomial_error, fit_resolution, resolution_points

figures.prepare("pv_study")
STYLES = {"pv.beamline": {"color": "#1b6ca8", "marker": "o", "markersize": 6, "markerfacecolor": "none"},
          "pv.annealing": {"color": "#c8553d", "marker": "s", "markersize": 3.5}}


def centre(row, kind):
    """Where a bin stands on the axis: its middle; the last bin, which has no end, a little above its beginning."""
    low = row[f"{kind[0]}_from{kind[1]}"]
    high = row.get(f"{kind[0]}_below{kind[1]}", 1.2 * low)
    return (low + high) / 2, (high - low) / 2


def rates(axes, results, table, kind, first_truth):
    """Efficiency on the left, false rate on the right."""
    for finder, result in results.items():
        truth = [b for b in result[table] if b["reconstructible"] >= 100 and centre(b, kind)[0] >= first_truth]
        found = [b for b in result[table] if b["vertices"] >= 100]
        for axis, rows, part, whole in ((axes[0], truth, "reconstructed", "reconstructible"), (axes[1], found, "false", "vertices")):
            x = [centre(b, kind) for b in rows]
            axis.errorbar([c for c, _ in x], [100 * b[part] / b[whole] for b in rows], xerr=[h for _, h in x],
                          yerr=[100 * binomial_error(b[part], b[whole]) for b in rows], linestyle="none", label=finder, **STYLES[finder])
    axes[0].set_ylabel("efficiency, %")
    axes[1].set_ylabel("false vertices, %")
    axes[1].set_yscale("symlog", linthresh=0.1)
    axes[1].set_ylim(bottom=0)
    for axis in axes:
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
    axes[1].yaxis.set_major_formatter("{x:g}")
    axes[0].legend(loc="lower right")


def efficiency(options, results):
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
    rates(axes, results, "bins", ("tracks", ""), 4)
    axes[0].set_xlabel("reconstructible tracks of the true vertex")
    axes[1].set_xlabel("sum of track weights of the found vertex")
    figures.save(figure, options.figures / "pv_tracks.svg")
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
    rates(axes, results, "distance_bins", ("distance", "_mm"), 0)
    axes[0].set_xlabel("distance to the next true vertex, mm")
    axes[1].set_xlabel("distance to the next found vertex, mm")
    figures.save(figure, options.figures / "pv_distance.svg")


def widths(options, results):
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    for axis, name in zip(axes, "xyz"):
        for finder, result in results.items():
            points = resolution_points(result, name)
            a, b, c = fit_resolution(points)
            axis.errorbar([p[0] for p in points], [p[1] for p in points], yerr=[p[2] for p in points], linestyle="none", label=finder,
                          **STYLES[finder])
            grid = [points[0][0] * (points[-1][0] / points[0][0])**(k / 60) for k in range(61)]
            axis.plot(grid, [a * n**-b + c for n in grid], color=STYLES[finder]["color"], linewidth=1)
        axis.set_xlabel("sum of track weights")
        axis.set_ylabel(f"resolution in {name}, µm")
        axis.set_ylim(bottom=0)
    axes[0].legend()
    figures.save(figure, options.figures / "pv_resolution.svg")


def pulls(options, results):
    figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True)
    for axis, name in zip(axes, "xyz"):
        for finder, result in results.items():
            rows = [b for b in result["bins"] if b["pairs"] >= 50 and b["mean_weight"] >= 2]
            axis.errorbar([b["mean_weight"] for b in rows], [b[f"pull_{name}"] for b in rows],
                          yerr=[b[f"pull_{name}"] / b["pairs"]**0.5 for b in rows], linestyle="none", label=finder, **STYLES[finder])
        axis.axhline(1, color="black", linewidth=0.8)
        axis.set_xlabel("sum of track weights")
        axis.set_title(name, fontsize=9)
    axes[0].set_ylabel("width of pulls")
    axes[0].set_ylim(bottom=0)
    axes[0].legend(loc="lower right")
    figures.save(figure, options.figures / "pv_pulls.svg")


def cost(options, rows):
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
    for name in rows[0]["us"]:
        style = STYLES.get(name, {**STYLES["pv.annealing"], "linestyle": "--", "markerfacecolor": "white"})
        timed = [r for r in rows if name in r["us"]]
        axes[0].plot([r["mu"] for r in timed], [r["us"][name] for r in timed], label=name, linewidth=1, **style)
        axes[1].plot([r["mu"] for r in timed], [r["us"][name] / r["mu"] for r in timed], linewidth=1, **style)
    axes[0].set_ylabel("µs an event")
    axes[1].set_ylabel("µs a collision")
    for axis in axes:
        axis.set_xlabel("mean number of collisions, mu")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_major_formatter("{x:g}")
    axes[0].legend()
    figures.save(figure, options.figures / "pv_cost.svg")


def draw(options):
    results = json.loads((options.work / "quality.json").read_text())
    efficiency(options, results)
    widths(options, results)
    pulls(options, results)
    cost(options, json.loads((options.work / "cost.json").read_text()))
