"""Events given as arrays by port and field: the results are those of a file, for any slices, and what is wrong is named."""
import os
import pathlib
import struct
import threading

import numpy as np
import pytest

import sluice

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVENTS = 50


@pytest.fixture
def lists():
    return sluice.Graph(ROOT / "tests/records/lists.yaml", plugin_paths=[os.environ["SLUICE_TEST_PLUGINS"]])


def events(seed=1, count=EVENTS):
    """The fields of `count` events with items and parts."""
    draw = np.random.default_rng(seed)
    items = draw.integers(0, 6, count)
    parts = draw.integers(0, 4, items.sum())
    return {
        "offsets": np.concatenate([[0], np.cumsum(items)]),
        "weight": draw.random(items.sum(), np.float32),
        "part_offsets": np.concatenate([[0], np.cumsum(parts)]),
        "part": draw.random(parts.sum(), np.float32),
        "id": np.arange(count, dtype=np.uint32),
    }


def as_records(fields):
    """The same events as the bytes of records, one per event."""
    found = []
    for e in range(len(fields["id"])):
        items = range(fields["offsets"][e], fields["offsets"][e + 1])
        body = b""
        for i in items:
            part = fields["part"][fields["part_offsets"][i]:fields["part_offsets"][i + 1]]
            body += struct.pack("<fI", fields["weight"][i], len(part)) + part.tobytes()
        found.append(struct.pack("<III", 12 + len(body), fields["id"][e], len(items)) + body)
    return found


def part_of(fields, first, count):
    """Events [first, first + count), with offsets that do not begin at 0."""
    item, end = fields["offsets"][[first, first + count]]
    part, part_end = fields["part_offsets"][[item, end]]
    return {
        "offsets": fields["offsets"][first:first + count + 1],
        "weight": fields["weight"][item:end],
        "part_offsets": fields["part_offsets"][item:end + 1],
        "part": fields["part"][part:part_end],
        "id": fields["id"][first:first + count],
    }


def digest_of(arrays):
    return arrays.summary["outputs"]


def test_arrays_give_the_events_of_a_file(lists, tmp_path):
    fields = events()
    path = tmp_path / "events.lists"
    path.write_bytes(b"LISTS1" + struct.pack("<HI", 1, 1) + b"".join(as_records(fields)))
    of_file = lists.arrays(path)
    given = lists.arrays(inputs={"lists": fields})
    for name in ("offsets", "sum", "id"):
        assert np.array_equal(given.sums[name], of_file.sums[name])
    assert given.events.number.tolist() == list(range(EVENTS))


@pytest.mark.parametrize("options", [{}, {"slice_events": 1}, {"slice_events": 7, "slots": 3}])
def test_the_division_into_entries_and_slices_does_not_matter(lists, options):
    fields = events()
    whole = digest_of(lists.arrays(inputs={"lists": fields}, digest=True))
    for cut in (1, 13, 25):
        parts = [{"lists": part_of(fields, first, min(cut, EVENTS - first))} for first in range(0, EVENTS, cut)]
        assert digest_of(lists.arrays(inputs=parts, digest=True, **options)) == whole


def test_a_record_source_takes_packets_and_arrays(lists):
    fields = events()
    reference = lists.arrays(inputs={"lists": fields})
    records = as_records(fields)
    mixed = [sluice.Packet(b"".join(records[:20])), sluice.Inputs({"lists": part_of(fields, 20, 10)}),
             *map(sluice.Packet, records[30:])]
    given = lists.arrays(source=mixed)
    assert np.array_equal(given.sums.sum, reference.sums.sum)
    assert np.array_equal(given.sums.id, reference.sums.id)


def test_a_bad_record_of_a_packet_is_an_event_with_an_error(lists):
    fields = events(count=3)
    records = as_records(fields)
    packets = [sluice.Packet(records[0]), sluice.Packet(records[1] + records[2][:-1]), sluice.Packet(b""),
               sluice.Event([]), sluice.Packet(records[2])]
    given = lists.arrays(source=packets, warn=False)
    assert given.events.error.tolist() == [0, 0, 1, 1, 1, 0]
    text = " ".join(d.message for d in given.diagnostics)
    assert "the packet ends within the record" in text and "this source takes packets" in text


def test_two_feeds_run_side_by_side(lists):
    bursts = sluice.Graph(ROOT / "examples/bursts/bursts.yaml", plugin_paths=[os.environ["SLUICE_TEST_PLUGINS"]])
    fields = events()
    draw = np.random.default_rng(3)
    blocks = draw.integers(20, 40, (6, 128, 512)).astype(np.uint8)
    alone = [digest_of(lists.arrays(inputs={"lists": fields}, digest=True)),
             digest_of(bursts.arrays(inputs={"block": blocks}, digest=True))]
    with lists.feed(arrays=True, digest=True) as items, bursts.feed(arrays=True, digest=True) as radio:
        threads = [
            threading.Thread(target=lambda: [items.put(sluice.Inputs({"lists": part_of(fields, e, 1)})) for e in range(EVENTS)]),
            threading.Thread(target=lambda: [radio.put(sluice.Inputs({"block": blocks[e:e + 1]})) for e in range(6)]),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [digest_of(items.run), digest_of(radio.run)] == alone


def changed(**values):
    fields = events()
    for name, value in values.items():
        if value is None:
            del fields[name]
        else:
            fields[name] = value(fields[name])
    return {"lists": fields}


@pytest.mark.parametrize("given, expected", [
    ({"list": np.zeros(3, np.float32)}, "the source has no port list; it has lists"),
    ({"lists": np.zeros(3, np.float32)}, "has several fields: name one for each array"),
    (changed(weight=lambda w: w.astype(np.float64)), "lists.weight has values of type f64; f32 is expected"),
    (changed(weight=lambda w: w[:-1]), "values; "),
    (changed(part=None), "no array for lists.part, which the graph reads"),
    (changed(offsets=lambda o: o[::-1].copy()), "the offsets decrease"),
    ({"lists": {**events(), "wieght": np.zeros(3, np.float32)}}, "lists, a lists, has no field wieght"),
])
def test_wrong_arrays_end_the_run(lists, given, expected):
    with pytest.raises(sluice.RunError, match="(?s).*"):
        try:
            lists.arrays(inputs=given)
        except sluice.RunError as error:
            assert expected in str(error)
            raise


@pytest.mark.parametrize("given, kind, expected", [
    ({}, ValueError, "without an array"),
    ([1, 2], TypeError, "a mapping of ports"),
    ({"lists": 3}, ValueError, "it must be an array"),
    ({"lists": np.zeros(3, ">f4")}, TypeError, "big-endian"),
    ({"lists": np.zeros(3, bool)}, TypeError, "an array of bool"),
    ({"lists": {"offsets": np.array([0, -1])}}, ValueError, "must be from 0"),
])
def test_what_is_no_array_of_a_field_is_refused(given, kind, expected):
    with pytest.raises(kind, match=expected):
        sluice.Inputs(given)


def test_an_event_with_too_many_items_is_an_error(lists):
    fields = {"offsets": [0, 2, 30, 31], "weight": np.ones(31, np.float32), "part_offsets": np.zeros(32, np.int64),
              "part": np.zeros(0, np.float32), "id": np.arange(3, dtype=np.uint32)}
    given = lists.arrays(inputs={"lists": fields}, warn=False)
    assert given.events.error.tolist() == [0, 3, 0]
    assert "28 items of `lists`" in given.diagnostics[0].message


def test_dimensions_are_axes_of_the_arrays():
    graph = sluice.Graph(ROOT / "examples/bursts/bursts.yaml", plugin_paths=[os.environ["SLUICE_TEST_PLUGINS"]])
    graph.output("series")
    blocks = np.full((2, 128, 512), 7, np.uint8)
    series = graph.arrays(inputs={"block": blocks}).series
    assert series.sum.shape == (2, 64, 384) and series.mean.shape == (2, 64)
    assert series.fields["sum"].dimensions == ("trials", "times")
    assert (series.sum == 7 * 128).all() and (series.deviation == 0).all()


def test_hdf5_keeps_the_dimensions(tmp_path):
    h5py = pytest.importorskip("h5py")
    graph = sluice.Graph(ROOT / "examples/bursts/bursts.yaml", plugin_paths=[os.environ["SLUICE_TEST_PLUGINS"]])
    graph.output("series")
    graph.node("write", "hdf5.sink")
    blocks = np.random.default_rng(4).integers(0, 99, (3, 128, 512)).astype(np.uint8)
    series = graph.arrays(inputs={"block": blocks}, output=tmp_path / "series.h5").series
    with h5py.File(tmp_path / "series.h5") as file:
        assert file["series/sum"].shape == (3, 64, 384) and file["series/mean"].shape == (3, 64)
        assert file["series/sum"].attrs["dimensions"] == "trials, times"
        assert np.array_equal(file["series/sum"], series.sum) and np.array_equal(file["series/mean"], series.mean)
