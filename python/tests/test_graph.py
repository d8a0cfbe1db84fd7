"""Graphs from files, from text, and written in Python; errors of wrong graphs."""
import re

import numpy as np
import pytest

import sluice


def test_a_file_is_found_by_name():
    wiring = sluice.Graph("velo_pv.yaml").check()
    assert re.search(r"\bpv\b.*pv\.beamline", wiring)


def test_options_change_the_graph():
    graph = sluice.Graph("velo_pv.yaml", use={"pv": "pv.annealing"}, set={"geometry": ""})
    graph.set("raw.seed", np.int64(9))
    text = graph.yaml()
    assert "use: pv.annealing" in text
    assert "seed: 9" in text


def test_yaml_reads_as_the_same_graph():
    text = sluice.Graph("velo_pv.yaml").yaml()
    assert sluice.Graph.from_text(text).yaml() == text
    assert "velo_pv.yaml" in sluice.Graph("velo_pv.yaml").yaml(origins=True)


def in_python():
    graph = sluice.Graph.new(include="common/velo_tracks.yaml", description="vertices, from Python: é")
    pv = graph.node("pv", "pv.beamline", beamline_states="fit.beamline_states", vertices_per_event=np.uint32(64))
    counts = graph.node("counts", "velo.count_tracks", block=32)
    busy = graph.node("busy", "generic.filter", of=counts.tracks, minimum=50)
    graph.node("along", "generic.histogram", events=busy, of=pv.z, bins=40, lower=-200.0, upper=200.0, title="z: #1")
    graph.output(pv, busy, "along")
    return graph


def test_a_graph_can_be_written_in_python():
    written = sluice.Graph.from_text(
        """sluice: 1
include: [common/velo_tracks.yaml]
nodes:
  pv: { use: pv.beamline, in: { beamline_states: fit.beamline_states }, set: { vertices_per_event: 64 } }
  counts: { use: velo.count_tracks, block: 32 }
  busy: { use: generic.filter, set: { of: counts.tracks, minimum: 50 } }
  along:
    use: generic.histogram
    events: busy
    set: { of: pv.z, bins: 40, lower: -200, upper: 200, title: "z: #1" }
outputs: [pv, busy, along]
"""
    )
    assert in_python().yaml() == written.yaml()


def test_nodes_can_be_added_to_a_file():
    graph = sluice.Graph("velo_pv.yaml")
    graph.node("pv", vertices_per_event=99)
    graph.node("counts", "velo.count_tracks")
    graph.output("counts")
    text = graph.yaml()
    assert "vertices_per_event: 99" in text
    assert re.search(r"^outputs:\s*\[?\s*-?\s*counts", text, re.MULTILINE)


def test_a_second_call_of_node_keeps_earlier_arguments():
    once, twice = sluice.Graph("velo_pv.yaml"), sluice.Graph("velo_pv.yaml")
    once.node("along", "generic.histogram", of="pv.z", bins=40, lower=-2, upper=2, in_={}, block=64)
    twice.node("along", "generic.histogram", of="pv.z", bins=30, lower=-2, upper=2)
    twice.node("along", bins=40)
    twice.node("along", block=64)
    for graph in (once, twice):
        graph.output("along")
    assert once.yaml() == twice.yaml()
    twice.node("pv", vertices_per_event=99)
    twice.node("pv", in_={"beamline_states": "fit.beamline_states"})
    assert "vertices_per_event: 99" in twice.yaml()
    twice.node("pv", vertices_per_event=None, set={"min_tracks": None})
    assert twice.yaml() == once.yaml()
    twice.node("along", block=None, events="gec")
    twice.node("along", events=None)
    once.node("along", block=None)
    assert twice.yaml() == once.yaml() and "block: 64" not in twice.yaml().split("along:")[1].split("set:")[0]


def test_another_algorithm_drops_foreign_arguments_with_a_warning():
    graph = sluice.Graph("velo_pv.yaml")
    graph.node("pv", "pv.beamline", bin_width=0.5, vertices_per_event=64)
    with pytest.warns(sluice.SluiceWarning, match="node pv: pv.annealing lacks bin_width, given for pv.beamline: dropped"):
        graph.node("pv", "pv.annealing")
    text = graph.yaml()
    assert "pv.annealing" in text and "vertices_per_event: 64" in text and "bin_width" not in text


def test_entries_of_list_ports_are_merged_by_name():
    graph = sluice.Graph("velo_pv.yaml")
    graph.node("counts", "velo.count_tracks")
    for name, least in (("busy", 10), ("full", 1000)):
        graph.node(name, "generic.filter", of="counts.tracks", minimum=np.longdouble(least))
        graph.node("lists", "generic.gather_lists", in_={"lists": {name: name}})
    graph.output("lists.totals")
    assert "lists: [busy.passed, full.passed]" in graph.yaml()


def test_a_node_can_be_removed():
    graph = sluice.Graph("velo_pv.yaml")
    assert "pv_check:" in graph.yaml()
    graph.node("pv_check", None)
    assert "pv_check:" not in graph.yaml()
    graph.node("mine", "velo.count_tracks")
    graph.node("mine", None)
    assert "mine:" not in graph.yaml()
    graph.node("mine", "velo.count_tracks")
    graph.output("mine")
    assert "mine:" in graph.yaml()
    with pytest.raises(TypeError, match="removes the node 'mine'"):
        graph.node("mine", None, block=32)


def test_parameters_and_files_can_be_added(tmp_path):
    (tmp_path / "more.yaml").write_text('sluice: 1\nnodes: { counts: { use: velo.count_tracks } }\noutputs: [counts]\n')
    graph = sluice.Graph("common/velo_tracks.yaml")
    graph.parameter("seed", 77)
    graph.include(tmp_path / "more.yaml")
    text = graph.yaml()
    assert "seed: 77" in text and "velo.count_tracks" in text


def test_all_errors_have_file_line_and_column(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "sluice: 1\ninclude: [common/velo_tracks.yaml]\nnodes:\n  pv: { use: pv.beamlin }\n"
        "  counts: { use: velo.count_tracks, set: { no_such: 1 } }\noutputs: [tracks]\n"
    )
    with pytest.raises(sluice.GraphError) as wrong:
        sluice.Graph(path).check()
    errors = [d for d in wrong.value.diagnostics if d.severity == "error"]
    assert [(d.file, d.line) for d in errors] == [(str(path), 4), (str(path), 5)]
    assert errors[0].column > 0 and "pv.beamline" in errors[0].hint
    assert wrong.value.status == "SL_EGRAPH"
    assert str(path) + ":4:" in str(wrong.value) and str(path) + ":5:" in str(wrong.value)
    with pytest.raises(sluice.GraphError):
        sluice.Graph(path).run()


def test_an_unknown_algorithm_is_an_error():
    graph = sluice.Graph.new(include="common/raw.yaml")
    with pytest.raises(sluice.GraphError, match="pv.beamlin"):
        graph.node("pv", "pv.beamlin", bins=3)


def test_a_missing_graph_file_is_an_error():
    with pytest.raises(sluice.GraphError, match="nowhere.yaml"):
        sluice.Graph("nowhere.yaml").check()


@pytest.mark.parametrize("value", [float("nan"), object(), {"a": float("inf")}])
def test_values_that_a_graph_cannot_have_are_refused(value):
    graph = sluice.Graph.new()
    with pytest.raises((TypeError, ValueError), match="no value of a graph"):
        graph.set("node.property", value)


def test_null_characters_are_refused():
    with pytest.raises(ValueError, match="null character"):
        sluice.Graph("velo\0.yaml").check()


def test_a_graph_without_a_source_of_text_is_refused():
    with pytest.raises(TypeError, match="Graph.new"):
        sluice.Graph()


def test_a_graph_is_drawn():
    graph = in_python()
    assert graph.svg().rstrip().endswith("</svg>")
    assert "pv.beamline" in graph._repr_svg_()
    assert graph._repr_html_().startswith("<div><svg")
    assert "arena" in graph.plan()


def test_notebooks_show_the_errors_of_a_graph(monkeypatch):
    wrong = sluice.Graph.from_text("sluice: 1\nnodes: { a: { use: no.such<b> } }\n")
    assert wrong._repr_svg_() is None
    assert "no.such&lt;b&gt;" in wrong._repr_html_()
    monkeypatch.setenv("PATH", "/nowhere")
    assert "pv.beamline" in in_python()._repr_html_()
    with pytest.raises(sluice.Error, match="Graphviz"):
        in_python().svg()


def test_algorithms_are_described():
    described = sluice.describe("pv.beamline")
    assert described["outputs"][0]["name"] == "vertices"
    with pytest.raises(sluice.GraphError, match="no.such"):
        sluice.describe("no.such")
