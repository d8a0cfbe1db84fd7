"""Figures of the documentation as SVG: the same file for the same figures. Text stays text, and ids and metadata do not change from
run to run. Needs Debian's python3-matplotlib."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def prepare(name, font_size=9):
    """Sets the style of all figures that are drawn from now on. `name` makes the ids of their elements."""
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": font_size, "axes.grid": True, "grid.alpha": 0.3,
                         "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})


def save(figure, path):
    """Writes a figure, prints its path and closes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(path)
