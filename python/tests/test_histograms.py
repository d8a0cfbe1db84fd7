"""Histograms are those that io.histogram_sink writes."""
import csv
import importlib.util

import numpy as np
import pytest

import sluice


@pytest.fixture(scope="module")
def graph():
    """velo_histograms.yaml without its sink."""
    text = "sluice: 1\ninclude: [velo_histograms.yaml]\nnodes: { draw: null }\n"
    return sluice.Graph.from_text(text, set={"seed": 3})


@pytest.fixture(scope="module")
def histograms(graph):
    run = graph.run(n=12, slice_events=5)
    assert [batch.outputs for batch in run] == [[], [], []]
    return run.histograms


def test_counts_are_those_of_the_sink(histograms, command, tmp_path):
    path = tmp_path / "velo.csv"
    command("run", "velo_histograms.yaml", "-n", 12, "--set", "seed=3", "-o", path, "--quiet")
    rows = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["histogram"], []).append(row)
    assert list(rows) == list(histograms) == ["vertex_z", "vertex_xy", "track_count", "slopes"]
    for name in ("vertex_z", "track_count"):
        of = histograms[name]
        bins = rows[name][1:-2]  # between what is below, and what is above or no number
        assert [int(row["count"]) for row in rows[name]] == of.all_counts.tolist()
        assert [int(row["count"]) for row in bins] == of.counts.tolist()
        assert np.array_equal([float(row["x_lower"]) for row in bins], of.edges[:-1])
        assert float(bins[-1]["x_upper"]) == of.edges[-1]
        assert of.all_counts.sum() == of.counts.sum() + of.below + of.above + of.not_finite
    flat = histograms["slopes"]
    # A row of x for each count of y; edges as for one axis.
    assert [int(row["count"]) for row in rows["slopes"]] == flat.all_counts.T.ravel().tolist()
    assert flat.counts.sum() > 100
    row = rows["slopes"][83 * 11 + 21]  # bin 20 of x, 10 of y
    assert (float(row["x_lower"]), float(row["y_lower"])) == (flat.axes[0].edges[20], flat.axes[1].edges[10])


def test_axes_tell_what_was_counted(histograms):
    axis = histograms["vertex_z"].axes[0]
    assert (axis.label, axis.unit, axis.bins, axis.lower, axis.upper) == ("pv.z", "mm", 100, -250, 250)
    assert histograms["vertex_z"].title == "Primary vertices along the beam"
    assert [a.label for a in histograms["slopes"].axes] == ["fit.beamline_states.tx", "fit.beamline_states.ty"]
    assert histograms["slopes"].counts.shape == (80, 80)


def test_totals_are_the_same_counts(graph, histograms):
    totals = graph.arrays(n=12).totals
    assert np.array_equal(totals["vertex_z"]["counts"], histograms["vertex_z"].all_counts)
    assert np.array_equal(totals["slopes"]["counts"].reshape(83, 83).T, histograms["slopes"].all_counts)


def test_boost_histograms(histograms):
    if importlib.util.find_spec("boost_histogram") is None:
        with pytest.raises(ImportError, match="pip install boost-histogram"):
            histograms["vertex_z"].to_boost()
        return
    for histogram in histograms.values():
        boost = histogram.to_boost()
        assert np.array_equal(boost.values(), histogram.counts)
        assert boost.sum(flow=True) == histogram.all_counts.sum()
