"""Outputs in the formats of other tools: each one with the values, units and doc strings of the arrays. A test that needs a
missing package is skipped.
"""
import numpy as np
import pytest

import sluice


@pytest.fixture(scope="module")
def whole(tracks):
    return tracks.arrays(n=11)


def row_of(tracks, event):
    """The tracks of an event as plain Python values, in the nested form."""
    rows = []
    for track in range(tracks.offsets[event], tracks.offsets[event + 1]):
        hits = slice(tracks.hits.offsets[track], tracks.hits.offsets[track + 1])
        rows.append({"hits": [dict(zip(tracks.hits.fields, values)) for values in
                              zip(*(tracks.hits[name][hits].tolist() for name in tracks.hits.fields))]})
    return {"items": rows}


def test_awkward_arrays(whole):
    pytest.importorskip("awkward", reason="needs awkward")
    nested = whole.tracks.awkward()
    assert len(nested) == 11 and nested.fields == ["items"]
    assert nested["items"].hits.fields == ["id", "x", "y", "z"]
    assert [nested[event].to_list() for event in (0, 10)] == [row_of(whole.tracks, event) for event in (0, 10)]
    x = nested["items"].hits.x.layout.content.content
    assert (x.parameter("unit"), x.parameter("__doc__")) == ("mm", "global x")


def test_awkward_arrays_have_one_shape(tracks, whole):
    """A record for each event, whatever the output; of a batch as of a run."""
    awkward = pytest.importorskip("awkward", reason="needs awkward")
    graph = sluice.Graph.new(include="common/velo_tracks.yaml", set={"seed": 3})
    counts = graph.node("counts", "velo.count_tracks")
    busy = graph.node("busy", "generic.filter", of=counts.tracks, minimum=200)
    graph.output("tracks", "fit.end_states", busy)
    arrays = graph.arrays(n=11)
    for name in arrays:
        nested = arrays[name].awkward()
        assert len(nested) == 11 and nested.layout.is_record
    assert arrays.busy.awkward().fields == ["listed"]
    assert arrays.busy.awkward().listed.to_list() == arrays.busy.mask.tolist()
    together = arrays.awkward()
    assert together.fields == ["events", "tracks", "fit", "busy"]
    assert together.events.number.to_list() == arrays.events.number.tolist()
    assert awkward.all(together.fit.end_states["items"].x == arrays.fit.end_states.awkward()["items"].x)
    parts = [batch.awkward() for batch in graph.run(n=11, slice_events=4)]
    assert awkward.concatenate(parts).to_list() == together.to_list()
    expected = whole.tracks.awkward()
    assert awkward.all(awkward.num(together.tracks["items"], axis=1) == awkward.num(expected["items"], axis=1))


def test_pyarrow_takes_outputs_without_a_copy(tracks):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    for batch in tracks.run(n=4, slice_events=2):
        table = pyarrow.table(batch.tracks.arrow())
        array = pyarrow.array(batch.tracks.arrow())
        assert array.to_pylist() == table.to_pylist() == [row_of(batch.tracks, event) for event in range(2)]
        hits = array.field("items").values.field("hits")
        assert hits.values.field("x").buffers()[1].address == batch.tracks.hits.x.ctypes.data
        assert hits.buffers()[1].address == batch.tracks.hits.offsets.ctypes.data
        table.validate(full=True)
        assert table.schema.metadata[b"collection"] == b"velo_tracks"
        del table, array, hits


def test_other_consumers_take_arrow_data(whole):
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    found = whole.arrow()  # noqa: F841: DuckDB finds it by its name
    counts = duckdb.sql("select len(tracks['items']) from found order by events.number").fetchall()
    assert [count for (count,) in counts] == np.diff(whole.tracks.offsets).tolist()


def test_polars_data_frames(tracks, whole):
    polars = pytest.importorskip("polars", reason="needs polars")
    frame = whole.tracks.polars()
    assert frame.row(3, named=True) == row_of(whole.tracks, 3)
    parts = [batch.polars() for batch in tracks.run(n=11, slice_events=4)]
    assert polars.concat(parts).equals(whole.polars())


def test_pandas_data_frames(whole):
    pytest.importorskip("pandas", reason="needs pandas")
    states, hits = whole.fit.end_states.pandas(), whole.tracks.hits.pandas()
    assert (list(states.index.names), list(hits.index.names)) == (["event", "item"], ["event", "item", "subitem"])
    assert len(states) == len(whole.tracks) and len(hits) == len(whole.tracks.hits)
    first = whole.tracks.offsets[4]
    assert np.array_equal(states.loc[4]["x"], whole.fit.end_states.x[first : whole.tracks.offsets[5]])
    assert states.loc[(4, 2), "y"] == whole.fit.end_states.y[first + 2]
    begin = whole.tracks.hits.offsets[first + 2]
    assert hits.loc[(4, 2, 1), "z"] == whole.tracks.hits.z[begin + 1]
    assert hits.dtypes["x"] == np.float32
    hits["x"] = 0  # a copy
    assert whole.tracks.hits.x.any()


def test_pandas_data_frames_of_events():
    pytest.importorskip("pandas", reason="needs pandas")
    graph = sluice.Graph.new(include="common/velo_tracks.yaml", set={"seed": 3})
    counts = graph.node("counts", "velo.count_tracks")
    graph.output(graph.node("busy", "generic.filter", of=counts.tracks, minimum=200))
    arrays = graph.arrays(n=9)
    frame = arrays.busy.pandas()
    assert frame["listed"].tolist() == arrays.busy.mask.tolist() and frame.index.name == "event"


def test_arrays_of_fixed_size_are_several_columns():
    pytest.importorskip("pandas", reason="needs pandas")
    from test_arrow import made

    cells = np.arange(3 * 2 * 2, dtype=np.int16).reshape(3, 2, 2)
    found = made(
        [("energy", "event", (2,), "f8"), ("gain", "slice", (), "f4"), ("offsets", "boundary", (), "u4"),
         ("cells", "item", (2, 2), "i2")],
        {"energy": np.array([[1.0, 2], [3, 4]]), "gain": np.array([0.5], "f4"),
         "offsets": np.array([0, 1, 3], "u4"), "cells": cells},
        2,
    )
    frame = found.pandas()
    assert list(frame) == ["energy_0", "energy_1", "gain", *(f"cells_{i}_{j}" for i in range(2) for j in range(2))]
    assert frame["energy_1"].tolist() == [2, 4, 4] and frame["cells_1_0"].tolist() == [2, 6, 10]


def test_parquet_files(whole, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    whole.tracks.parquet(tmp_path / "tracks.parquet", compression="zstd")
    table = parquet.read_table(tmp_path / "tracks.parquet")
    assert table.to_pylist() == [row_of(whole.tracks, event) for event in range(11)]
    item = table.schema.field("items").type.value_type
    assert item.field("hits").type.value_type.field("x").metadata == {b"unit": b"mm", b"doc": b"global x"}
    whole.parquet(tmp_path / "all.parquet")
    assert parquet.read_table(tmp_path / "all.parquet").column_names == ["events", "tracks", "fit"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.parquet", "tracks.parquet"]


def test_an_unfinished_file_does_not_get_its_name(whole, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    (tmp_path / "tracks.parquet").write_text("old")
    with pytest.raises(Exception, match="compression"):
        whole.tracks.parquet(tmp_path / "tracks.parquet", compression="none such")
    assert (tmp_path / "tracks.parquet").read_text() == "old"


def test_rntuples(whole, tmp_path):
    pytest.importorskip("awkward", reason="needs awkward")
    uproot = pytest.importorskip("uproot", reason="needs uproot")
    whole.root(tmp_path / "all.root", rntuple=True)
    read = uproot.open(tmp_path / "all.root", handler=uproot.MemmapSource)["events"].arrays()
    assert read.to_list() == whole.awkward().to_list()


def test_ttrees(whole, tmp_path):
    pytest.importorskip("awkward", reason="needs awkward")
    uproot = pytest.importorskip("uproot", reason="needs uproot")
    states = whole.fit.end_states
    states.root(tmp_path / "states.root")
    tree = uproot.open(tmp_path / "states.root", handler=uproot.MemmapSource)["events"]
    assert tree["nfit_end_states"].array().to_list() == np.diff(states.offsets).tolist()
    x = tree["fit_end_states_x"].array()
    assert np.array_equal(np.concatenate([part.to_numpy() for part in x]), states.x)


def test_a_ttree_refuses_what_it_cannot_hold(whole, tmp_path):
    pytest.importorskip("awkward", reason="needs awkward")
    pytest.importorskip("uproot", reason="needs uproot")
    from test_arrow import made

    for refused in (whole, whole.tracks):
        with pytest.raises(ValueError, match=r"tracks has a list of hits for each item.*rntuple=True"):
            refused.root(tmp_path / "tracks.root")
    cells = made([("offsets", "boundary", (), "u4"), ("cells", "item", (2,), "i2")],
                 {"offsets": np.array([0, 1], "u4"), "cells": np.zeros((1, 2), "i2")}, 1)
    with pytest.raises(ValueError, match="made has an array cells for each item.*parquet"):
        cells.root(tmp_path / "cells.root")
    cells.root(tmp_path / "cells.root", rntuple=True)
    assert [path.name for path in tmp_path.iterdir()] == ["cells.root"]


def test_ipc_files_are_written_batch_by_batch(tracks, whole, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    from pyarrow import ipc

    with sluice.ArrowFile(tmp_path / "run.arrow", compression="zstd") as file:
        tracks.run(n=11, slice_events=3, on_batch=file).finish()
        assert [path.name for path in tmp_path.iterdir()] == ["run.arrow.part"]
    assert file.events == 11
    reader = ipc.open_file(tmp_path / "run.arrow")
    assert reader.num_record_batches == 4
    rows = reader.read_all().to_pylist()
    assert [row["tracks"] for row in rows] == [row_of(whole.tracks, event) for event in range(11)]
    assert [row["events"]["number"] for row in rows] == whole.events.number.tolist()
    with pytest.raises(sluice.StateError, match=r"run.arrow is closed"):
        tracks.run(n=1, on_batch=file).finish()


def test_parquet_files_are_written_batch_by_batch(tracks, whole, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    with sluice.ArrowFile(tmp_path / "run.parquet", outputs=["fit.end_states"]) as file:
        for batch in tracks.run(n=11, slice_events=3):
            file.write(batch)
    table = parquet.read_table(tmp_path / "run.parquet")
    assert table.column_names == ["events", "fit"] and table.num_rows == 11
    assert parquet.ParquetFile(tmp_path / "run.parquet").num_row_groups == 4


def test_a_file_of_an_unfinished_run_keeps_its_name(tracks, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    with pytest.raises(ZeroDivisionError):
        with sluice.ArrowFile(tmp_path / "run.arrow") as file:
            for batch in tracks.run(n=4, slice_events=1):
                file.write(batch)
                1 / 0
    assert [path.name for path in tmp_path.iterdir()] == ["run.arrow.part"]
    with sluice.ArrowFile(tmp_path / "none.arrow"):
        pass
    assert (tmp_path / "none.arrow").exists()


def test_a_file_refuses_other_outputs(tracks, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    other = sluice.Graph("common/velo_tracks.yaml", with_=[])
    other.output("fit.end_states")
    with pytest.raises(sluice.StateError, match="the outputs have changed at event 0, and .*run.arrow cannot hold both"):
        with sluice.ArrowFile(tmp_path / "run.arrow") as file:
            for graph in (tracks, other):
                for batch in graph.run(n=1):
                    file.write(batch)
