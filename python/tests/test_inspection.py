"""Constants, raw banks and other outputs of a source as arrays."""
import numpy as np
import pytest

import sluice

HITS = """sluice: 1
include: [common/raw.yaml]
nodes:
  geometry: { use: velo.geometry, set: { path: "${geometry}" } }
  clusters: { use: velo.decode_retina }
outputs: [raw.velo_clusters, clusters]
"""


@pytest.fixture(scope="module")
def raw():
    return sluice.Graph.from_text(HITS, set={"seed": 3})


def test_constants_are_arrays(tracks):
    geometry = tracks.constants()["geometry"]
    assert geometry.schema.collection == "velo_geometry"
    assert (geometry.fields["module_z"].unit, geometry.fields["module_z"].per) == ("mm", "value")
    assert geometry.module_z.shape == (52,) and (np.diff(geometry.module_z) != 0).all()
    assert geometry.transform.size == 12 * 208 and geometry["local_x"].dtype == np.float32
    assert not geometry.module_z.flags.writeable and not geometry.module_z.flags.owndata
    assert list(geometry) == list(geometry.fields) and len(geometry) == len(geometry.fields) == 5
    with pytest.raises(AttributeError, match="geometry.*has no 'z'; it has module_z"):
        geometry.z
    assert "constant geometry" in repr(geometry)


def test_arrays_of_constants_outlive_everything_else(tracks):
    z = tracks.constants()["geometry"].module_z
    expected = z.copy()
    for _ in range(3):
        sluice.Graph("velo.yaml").check()
    assert np.array_equal(z, expected)


def test_constants_follow_the_properties_of_the_graph(command, tmp_path):
    """Files of constants give the arrays of the files."""
    command("run", "geometry.yaml", "-o", tmp_path / "geo", "--quiet")
    nominal = sluice.Graph.from_text(HITS).constants()["geometry"]
    read = sluice.Graph.from_text(HITS, set={"geometry": str(tmp_path / "geo")}).constants()["geometry"]
    for name, array in nominal.arrays().items():
        assert np.allclose(read[name], array), name
    with pytest.raises(sluice.GraphError, match="no/such: there is no such file"):
        sluice.Graph.from_text(HITS, set={"geometry": "no/such"}).constants()


def test_constants_in_other_formats(tracks):
    from test_arrow import read

    geometry = tracks.constants()["geometry"]
    column, capsules = read(geometry.arrow())
    assert column.array.length == 1
    assert column["module_z.item"].buffers[1] == geometry.module_z.ctypes.data
    assert column["module_z"].values(np.int64, 2).tolist() == [0, 52]
    pytest.importorskip("pandas", reason="needs pandas")
    with pytest.raises(ValueError, match="different lengths.*module_z 52"):
        geometry.pandas()


def test_constants_of_the_trigger_are_listed():
    constants = sluice.Graph("hlt1_pp_default.yaml").constants()
    assert len(constants) > 5
    for constant in constants.values():
        for name, array in constant.arrays().items():
            assert array.dtype == constant.fields[name].dtype and array.ndim == 1


@pytest.mark.parametrize("options", [{}, {"slice_events": 3}, {"slots": 2, "slice_events": 4}])
def test_raw_banks_are_arrays(raw, options):
    """The hits of the detector are decoded from the words of the banks: each begins with a header word; each other one is a cluster."""
    arrays = raw.arrays(n=9, **options)
    banks = arrays["raw.velo_clusters"]
    assert banks is arrays.raw.velo_clusters
    assert np.diff(banks.offsets).tolist() == [208] * 9 and set(banks.type.tolist()) == {73}
    counts = (banks.size_bytes.astype(int) + 3) // 4
    assert banks.first_word[0] == 0 and np.array_equal(np.diff(banks.first_word), counts[:-1])
    assert len(banks.payload) == counts.sum() and banks.payload.dtype == np.uint32
    hits_of_events = np.add.reduceat(counts - 1, banks.offsets[:-1])
    assert np.array_equal(hits_of_events, np.diff(arrays.clusters.offsets))


def test_banks_of_a_batch_are_views(raw):
    whole = raw.arrays(n=9)["raw.velo_clusters"]
    first = 0
    for batch in raw.run(n=9, slice_events=4):
        banks = batch["raw.velo_clusters"]
        assert not banks.payload.flags.owndata and not banks.payload.flags.writeable
        assert not banks.first_word.flags.owndata
        end = first + len(banks.payload)
        assert np.array_equal(banks.payload, whole.payload[first:end])
        first = end
    assert first == len(whole.payload)


def test_payloads_equal_the_banks_of_events_from_memory():
    """The bytes of banks of any length, in the order of the event, come back unchanged."""
    random = np.random.default_rng(5)
    events = [[(source, random.integers(0, 256, random.integers(0, 40), dtype=np.uint8).tobytes()) for source in range(4)]
              for _ in range(6)]
    graph = sluice.Graph.from_text("sluice: 1\ninclude: [common/raw.yaml]\noutputs: [raw.plume]\n")
    source = [sluice.Event([sluice.Bank(type=84, version=1, source_id=s, data=data) for s, data in event], run=1, number=n)
              for n, event in enumerate(events)]
    whole = [graph.arrays(source=source)["raw.plume"]]
    batches = [batch["raw.plume"].copy() for batch in graph.run(source=source)]
    for collections in (whole, batches):
        found, sources = [], []
        for collection in collections:
            payload = collection.payload.tobytes()
            found += [payload[4 * first : 4 * first + size]
                      for first, size in zip(collection.first_word, collection.size_bytes)]
            sources += collection.source_id.tolist()
        assert found == [data for event in events for _, data in event]
        assert sources == [s for event in events for s, _ in event]


def test_digests_of_raw_banks_do_not_depend_on_slices(raw):
    digests = set()
    for options in ({}, {"slice_events": 1}, {"slots": 2, "slice_events": 4}):
        outputs = raw.run(n=9, digest=True, **options).finish().summary["outputs"]
        digests.add(next(output["digest"] for output in outputs if output["port"] == "raw.velo_clusters"))
    assert len(digests) == 1
    other = sluice.Graph.from_text(HITS, set={"seed": 4}).run(n=9, digest=True).finish().summary["outputs"]
    assert {output["digest"] for output in other if output["port"] == "raw.velo_clusters"} != digests


def test_raw_banks_have_lists_of_words(raw):
    from test_arrow import read

    for batch in raw.run(n=4):
        banks = batch["raw.velo_clusters"]
        column, capsules = read(banks.arrow())
        words = column["items.item.payload"]
        assert words["item"].buffers[1] == banks.payload.ctypes.data and words.format == "+l"
        bounds = words.values(np.int32, words.array.length + 1)
        assert np.array_equal(bounds[:-1], banks.first_word) and bounds[-1] == len(banks.payload)
        del column, words, capsules


def test_records_are_arrays(command, tmp_path):
    path = tmp_path / "events.mdf"
    command("run", "simulate.yaml", "-n", 3, "-o", path, "--quiet")
    graph = sluice.Graph.from_text("sluice: 1\ninclude: [common/raw.yaml]\noutputs: [raw.record]\n")
    records = graph.arrays(path)["raw.record"]
    assert np.diff(records.offsets).tolist() == [1, 1, 1]
    data = records.data.tobytes()
    found = b"".join(data[4 * first : 4 * first + size] for first, size in zip(records.first_word, records.size_bytes))
    assert found == path.read_bytes()


def test_an_event_with_an_error_has_no_banks(command, tmp_path):
    path = tmp_path / "events.mdf"
    command("run", "simulate.yaml", "-n", 3, "-o", path, "--quiet")
    path.write_bytes(path.read_bytes()[:-1000])
    arrays = sluice.Graph.from_text(HITS).arrays(path, warn=False)
    assert np.diff(arrays["raw.velo_clusters"].offsets).tolist() == [208, 208, 0]


def test_a_sink_that_cannot_write_raw_bytes_refuses_them():
    graph = sluice.Graph.from_text(HITS)
    graph.node("write", "output.csv_sink")
    with pytest.raises(sluice.GraphError, match="raw.velo_clusters cannot be an output: it contains raw bytes, which output.csv_sink cannot write"):
        graph.check()


def test_all_outputs_are_those_of_the_graph():
    graph = sluice.Graph.from_text(HITS.replace("[raw.velo_clusters, clusters]", "all"))
    assert list(graph.run(n=1).schemas) == ["clusters"]


def test_a_constant_cannot_be_an_output():
    graph = sluice.Graph.from_text(HITS.replace("raw.velo_clusters", "geometry"))
    with pytest.raises(sluice.GraphError, match="geometry cannot be an output: a constant is the same for all events"):
        graph.check()
