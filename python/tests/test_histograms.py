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


LISTS = """
sluice: 1
include: [common/velo_tracks.yaml]
nodes:
  counts: { use: velo.count_tracks }
  busy:   { use: generic.filter, set: { of: counts.tracks, minimum: 200 } }
  never:  { use: generic.filter, set: { of: counts.tracks, minimum: 100000 } }
  any:    { use: generic.filter, set: { of: counts.tracks } }
  lists:  { use: generic.gather_lists, in: { lists: [busy, never, any] } }
outputs: [lists.totals, lists.decisions]
"""


@pytest.fixture(scope="module")
def of_lists():
    return sluice.Graph.from_text(LISTS, set={"seed": 3}).arrays(n=12, slots=2, slice_events=5)


def test_totals_with_names_are_histograms(of_lists, command, tmp_path):
    totals, histograms = of_lists.totals["lists.totals"], of_lists.histograms
    assert list(histograms) == ["lists.totals.events", "lists.totals.alone"]
    for field in ("events", "alone"):
        histogram = histograms[f"lists.totals.{field}"]
        assert histogram.title.startswith("number of events on")
        assert histogram.counts.dtype == np.int64 and np.array_equal(histogram.counts, totals[field])
        assert np.array_equal(histogram.all_counts, histogram.counts)
        assert (histogram.below, histogram.above, histogram.not_finite) == (0, 0, 0)
        [axis] = histogram.axes
        assert axis.names == ("busy", "never", "any") and (axis.bins, axis.label, axis.unit) == (3, "list", "")
        assert axis.edges.tolist() == histogram.edges.tolist() == [0, 1, 2, 3]
    assert 0 < histograms["lists.totals.events"].counts[0] < histograms["lists.totals.events"].counts[2] == 12
    graph, path = tmp_path / "lists.yaml", tmp_path / "lists.csv"
    graph.write_text(LISTS)
    command("run", graph, "--with", "output/histograms.yaml", "-n", 12, "--set", "seed=3", "-o", path, "--quiet")
    with open(path, newline="") as file:
        rows = [(row["histogram"], row["x_name"], int(row["count"])) for row in csv.DictReader(file)]
    assert rows == [
        (name, of, count)
        for name, histogram in histograms.items()
        for of, count in zip(histogram.axes[0].names, histogram.counts.tolist())
    ]


def test_the_lines_of_a_trigger_are_histograms():
    graph = sluice.Graph("hlt1_pp_default.yaml", with_=["output/decisions.yaml"], set={"raw.seed": 3})
    run = graph.run(n=60).finish()
    totals = run.totals["decide.totals"]
    assert list(run.histograms) == [f"decide.totals.{field}" for field in totals]
    passed = run.histograms["decide.totals.passed"]
    assert passed.axes[0].names == totals.names and passed.axes[0].label == "line"
    assert np.array_equal(passed.counts, totals["passed"]) and passed.counts.sum() > 5


class FakeHistogram:
    """The members of boost_histogram.Histogram and hist.Hist that to_boost and to_hist use."""

    def __init__(self, *axes, storage=None):
        if isinstance(axes[0], FakeHistogram):  # as hist.Hist takes one
            self.__dict__.update(axes[0].__dict__)
            return
        assert storage == "int64"
        self.axes = axes
        self.all = np.zeros([axis.underflow + axis.bins + 1 for axis in axes], np.int64)

    def view(self, flow):
        return self.all if flow else self.all[tuple(slice(axis.underflow, -1) for axis in self.axes)]

    def values(self):
        return self.view(False)

    def sum(self, flow):
        return self.view(flow).sum()


def fake_axis(bins, lower, upper, metadata):
    edges = np.linspace(lower, upper, bins + 1)
    return types.SimpleNamespace(bins=bins, underflow=1, edges=edges, metadata=metadata)


class FakeCategories(list):
    """As boost_histogram.axis.StrCategory, iterates over the names and has an overflow bin only."""

    def __init__(self, names, metadata):
        super().__init__(names)
        self.bins, self.underflow, self.edges, self.metadata = len(names), 0, np.arange(len(names) + 1), metadata


@pytest.fixture(params=["installed", "fake"])
def packages(request, monkeypatch):
    """boost_histogram and hist where they are installed, and something like them everywhere."""
    if request.param == "installed":
        return all(importlib.util.find_spec(name) for name in ("boost_histogram", "hist"))
    boost = types.ModuleType("boost_histogram")
    boost.axis = types.SimpleNamespace(Regular=fake_axis, StrCategory=FakeCategories)
    boost.storage = types.SimpleNamespace(Int64=lambda: "int64")
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


def test_categories_become_those_of_other_packages(of_lists, packages):
    if not packages:
        return
    for histogram in of_lists.histograms.values():
        boost = histogram.to_boost()
        assert list(boost.axes[0]) == list(histogram.axes[0].names) and boost.axes[0].metadata == "list"
        assert np.array_equal(boost.values(), histogram.counts)
        assert boost.view(flow=True).tolist() == [*histogram.counts.tolist(), 0]
        drawn = histogram.to_hist()
        assert (drawn.name, drawn.label, drawn.axes[0].label) == (histogram.name, histogram.title, "list")
        assert np.array_equal(drawn.view(flow=True), boost.view(flow=True))


def test_axes_of_both_kinds_become_those_of_other_packages(packages):
    numbers = sluice.Axis(bins=2, lower=0, upper=2, label="a.x", unit="", doc="")
    names = sluice.Axis(bins=3, lower=0, upper=3, label="list", unit="", doc="", names=("a", "b", "c"))
    counts = np.arange(15).reshape(5, 3)
    histogram = sluice.Histogram("a", "", [numbers, names], counts)
    assert np.array_equal(histogram.counts, counts[1:3])
    assert (histogram.below, histogram.above, histogram.not_finite) == (3, 30, 39)
    if packages:
        assert histogram.to_boost().view(flow=True).tolist() == [
            [0, 1, 2, 0], [3, 4, 5, 0], [6, 7, 8, 0], [9 + 12, 10 + 13, 11 + 14, 0],
        ]


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
