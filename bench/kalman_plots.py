"""The figures of docs/physics.md on the fit of long tracks, drawn by `bench/kalman_study.py plots` from the files in the work folder."""
import figures
import matplotlib.pyplot as plt
import numpy

figures.prepare("kalman")
BEFORE, AFTER, WITHOUT_UT = "#c8553d", "#1b6ca8", "#777777"
EDGES_GEV = {"p < 3 GeV": (2, 3), "3 to 5 GeV": (3, 5), "5 to 10 GeV": (5, 10), "10 to 20 GeV": (10, 20), "20 to 50 GeV": (20, 50),
             "p > 50 GeV": (50, 100)}
STYLES = {"before": ("before", {"color": BEFORE, "marker": "s"}), "after": ("after", {"color": AFTER, "marker": "o"}),
          "after_without_ut_hits": ("after, without UT hits", {"color": WITHOUT_UT, "marker": "^"})}
RANGES = {"Ks_pipi": (480, 516, 1), "D0_Kpi": (1805, 1925, 4), "Jpsi_mumu": (3010, 3184, 4)}  # MeV: from, to, width of a bin


def momentum(options, result):
    """Width and median of q/p by the true momentum; the last bin ends at 100 GeV in the figure."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
    for name, (label, style) in STYLES.items():
        rows = [row for row in result[name]["momentum"] if row["name"] in EDGES_GEV]
        edges = numpy.array([EDGES_GEV[row["name"]] for row in rows])
        middles = numpy.sqrt(edges.prod(axis=1))
        for axis, key in zip(axes, ("width", "median")):
            axis.errorbar(middles, [100 * row[key] for row in rows], xerr=abs(edges.T - middles),
                          yerr=[100 * row[f"{key}_error"] for row in rows], linestyle="none", markersize=4, label=label, **style)
    axes[0].set(ylabel="width of (q/p) / true - 1, %", ylim=(0, None))
    axes[1].set(ylabel="median of (q/p) / true - 1, %")
    axes[1].axhline(0, color="black", linewidth=0.8)
    for axis in axes:
        axis.set(xscale="log", xlabel="true p, GeV")
        axis.set_xticks((2, 3, 5, 10, 20, 50, 100), labels=("2", "3", "5", "10", "20", "50", "100"))
        axis.minorticks_off()
    axes[1].legend()
    figures.save(figure, options.figures / "kalman_momentum.svg")


def masses(options, decays):
    """Masses of true decays before and after the fit, with their widths; the line is the mass of the Particle Data Group. A decay
    has its name, its mass, and for both cases the masses and their width, in MeV."""
    figure, axes = plt.subplots(1, len(decays), figsize=(3 * len(decays), 3), squeeze=False)
    for axis, (sample, (name, mass, cases)) in zip(axes.flat, decays.items()):
        low, high, step = RANGES[sample]
        edges = numpy.arange(low, high + step / 2, step)
        for case, color, style in (("before", BEFORE, "--"), ("after", AFTER, "-")):
            axis.stairs(numpy.histogram(cases[case][0], edges)[0], edges, color=color, linestyle=style, label=case)
        axis.axvline(mass, color="black", linewidth=0.8)
        axis.set(xlabel="mass, MeV", ylabel=f"candidates in {step} MeV", xlim=(low, high))
        axis.set_title(f"{name}: {', '.join(f'{cases[case][1]:.1f}' for case in ('before', 'after'))} MeV", fontsize=9)
    axes[0, 0].legend(loc="upper left", fontsize=8, handlelength=1.2, borderaxespad=0)
    figures.save(figure, options.figures / "kalman_masses.svg")
