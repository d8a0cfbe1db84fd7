"""Histograms in Python equal the files of output.histogram_sink."""
import csv
import importlib.util
import sys
import types

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


def test_counts_equal_the_file_of_the_sink(histograms, command, tmp_path):
    path = tmp_path / "velo.csv"
    command("run", "velo_histograms.yaml", "-n", 12, "--set", "seed=3", "-o", path, "--quiet")
    rows = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["histogram"], []).append(row)
    assert list(rows) == list(histograms) == ["vertex_z", "vertex_xy", "track_count", "slopes"]
    for name in ("vertex_z", "track_count"):
        of = histograms[name]
        bins = rows[name][1:-2]  # without the entries below, above and not finite
        assert [int(row["count"]) for row in rows[name]] == of.all_counts.tolist()
        assert [int(row["count"]) for row in bins] == of.counts.tolist()
        assert np.array_equal([float(row["x_lower"]) for row in bins], of.edges[:-1])
        assert float(bins[-1]["x_upper"]) == of.edges[-1]
        assert of.all_counts.sum() == of.counts.sum() + of.below + of.above + of.not_finite
    flat = histograms["slopes"]
    # One row of x bins per y bin; edges as for one axis.
    assert [int(row["count"]) for row in rows["slopes"]] == flat.all_counts.T.ravel().tolist()
    assert flat.counts.sum() > 100
    row = rows["slopes"][83 * 11 + 21]  # bin 20 of x, 10 of y
    assert (float(row["x_lower"]), float(row["y_lower"])) == (flat.axes[0].edges[20], flat.axes[1].edges[10])


def test_axes_have_field_unit_and_range(histograms):
    axis = histograms["vertex_z"].axes[0]
    assert (axis.label, axis.unit, axis.bins, axis.lower, axis.upper) == ("pv.z", "mm", 100, -250, 250)
    assert histograms["vertex_z"].title == "Primary vertices along the beam"
    assert [a.label for a in histograms["slopes"].axes] == ["fit.beamline_states.tx", "fit.beamline_states.ty"]
    assert histograms["slopes"].counts.shape == (80, 80)


def test_totals_equal_the_counts(graph, histograms):
    totals = graph.arrays(n=12).totals
    assert np.array_equal(totals["vertex_z"]["counts"], histograms["vertex_z"].all_counts)
    assert np.array_equal(totals["slopes"]["counts"].reshape(83, 83).T, histograms["slopes"].all_counts)


class FakeHistogram:
    """The members of boost_histogram.Histogram and hist.Hist that to_boost and to_hist use."""

    def __init__(self, *axes, storage=None):
        if isinstance(axes[0], FakeHistogram):  # as hist.Hist takes one
            self.__dict__.update(axes[0].__dict__)
            return
        assert storage == "int64"
        self.axes = axes
        self.all = np.zeros([axis.bins + 2 for axis in axes], np.int64)

    def view(self, flow):
        return self.all if flow else self.all[tuple(slice(1, -1) for _ in self.axes)]

    def values(self):
        return self.view(False)

    def sum(self, flow):
        return self.view(flow).sum()


def fake_axis(bins, lower, upper, metadata):
    return types.SimpleNamespace(bins=bins, edges=np.linspace(lower, upper, bins + 1), metadata=metadata)


@pytest.fixture(params=["installed", "fake"])
def packages(request, monkeypatch):
    """boost_histogram and hist where they are installed, and something like them everywhere."""
    if request.param == "installed":
        return all(importlib.util.find_spec(name) for name in ("boost_histogram", "hist"))
    boost = types.ModuleType("boost_histogram")
    boost.axis, boost.storage = types.SimpleNamespace(Regular=fake_axis), types.SimpleNamespace(Int64=lambda: "int64")
    boost.Histogram = FakeHistogram
    hist = types.ModuleType("hist")
    hist.Hist = FakeHistogram
    monkeypatch.setitem(sys.modules, "boost_histogram", boost)
    monkeypatch.setitem(sys.modules, "hist", hist)
    return True


def test_they_become_those_of_other_packages(histograms, packages):
    if not packages:
        return  # test_packages_that_are_missing_are_named tests the error
    for histogram in histograms.values():
        boost = histogram.to_boost()
        assert np.array_equal(boost.values(), histogram.counts)
        assert boost.sum(flow=True) == histogram.all_counts.sum()
        assert boost.view(flow=True)[0].sum() == histogram.below
        assert boost.view(flow=True)[-1].sum() == histogram.above + histogram.not_finite
        for axis, of in zip(boost.axes, histogram.axes):
            assert np.allclose(axis.edges, of.edges) and axis.metadata == of.label
        drawn = histogram.to_hist()
        assert (drawn.name, drawn.label) == (histogram.name, histogram.title)
        assert np.array_equal(drawn.view(flow=True), boost.view(flow=True))
    assert histograms["vertex_z"].to_hist().axes[0].label == "pv.z [mm]"
    assert histograms["track_count"].to_hist().axes[0].label == "counts.tracks"


def test_values_that_are_no_numbers_are_above(packages):
    axis = sluice.Axis(bins=2, lower=0, upper=2, label="a.x", unit="", doc="")
    histogram = sluice.Histogram("a", "", [axis], np.array([1, 2, 3, 4, 5]))
    assert (histogram.below, histogram.above, histogram.not_finite) == (1, 4, 5)
    if packages:
        assert histogram.to_boost().view(flow=True).tolist() == [1, 2, 3, 9]


@pytest.mark.parametrize("name, method", [("boost_histogram", "to_boost"), ("hist", "to_hist")])
def test_packages_that_are_missing_are_named(histograms, monkeypatch, name, method):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"pip install {name.replace('_', '-')}"):
        getattr(histograms["vertex_z"], method)()
