"""Outputs as Arrow data: the structs of the C Data Interface, read back without a package for Arrow; copies are counted by
comparing pointers.
"""
import ctypes
import gc
import struct
import subprocess
import sys
import warnings

import numpy as np
import pytest

import sluice
from sluice import _arrow
from sluice.collection import Collection, Field, Schema
from sluice.nested import Lists, Record, Values

pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
TYPES = {format: np.dtype(name) for name, format in _arrow._FORMATS.items()}


class Column:
    """An Arrow array as a consumer reads it."""

    def __init__(self, schema, array):
        self.schema, self.array = schema, array
        self.format, self.name = schema.format.decode(), schema.name.decode()
        assert schema.flags == 0 and array.null_count == 0 and not array.dictionary and array.offset == 0
        assert schema.n_children == array.n_children
        self.children = {
            child.name: child
            for child in (
                Column(_arrow.ArrowSchema.from_address(s), _arrow.ArrowArray.from_address(a))
                for s, a in zip(pointers(schema.children, schema.n_children), pointers(array.children, array.n_children))
            )
        }
        self.buffers = pointers(array.buffers, array.n_buffers)
        assert self.buffers[0] is None  # no nulls
        self.metadata = metadata_of(schema.metadata)

    def __getitem__(self, path):
        at = self
        for name in path.split("."):
            at = at.children[name]
        return at

    def values(self, dtype=None, count=None):
        dtype = TYPES[self.format] if dtype is None else np.dtype(dtype)
        raw = ctypes.string_at(self.buffers[1], dtype.itemsize * (self.array.length if count is None else count))
        return np.frombuffer(raw, dtype)


def pointers(address, count):
    return list((ctypes.c_void_p * count).from_address(address)) if count else []


def metadata_of(address):
    if not address:
        return {}
    at, texts = address + 4, []
    for _ in range(2 * struct.unpack("=i", ctypes.string_at(address, 4))[0]):
        size = struct.unpack("=i", ctypes.string_at(at, 4))[0]
        texts.append(ctypes.string_at(at + 4, size).decode())
        at += 4 + size
    return dict(zip(texts[::2], texts[1::2]))


def read(exported):
    """The column of an Arrow object, and the capsules that own its structs."""
    schema, array = exported.__arrow_c_array__()
    kinds = (schema, b"arrow_schema", _arrow.ArrowSchema), (array, b"arrow_array", _arrow.ArrowArray)
    structs = [kind.from_address(pointer_of(capsule, name)) for capsule, name, kind in kinds]
    return Column(*structs), (schema, array)


def test_nothing_is_copied(tracks):
    """Every buffer is an array of the library, at the same address: not one value is copied."""
    copies = compared = 0
    for batch in tracks.run(n=7, slice_events=3):
        for output in batch:
            found = batch[output]
            column, capsules = read(found.arrow())
            assert column.format == "+s" and column.array.length == len(batch)
            items = column["items"]
            same = [(items.buffers[1], found.offsets)]
            for name, child in items["item"].children.items():
                if name in found.groups:
                    group = found.groups[name]
                    same.append((child.buffers[1], group.offsets))
                    same += [(sub.buffers[1], group[short]) for short, sub in child["item"].children.items()]
                else:
                    same.append((child.buffers[1], found[name]))
            assert len(same) == len(found.fields)
            compared += len(same)
            copies += sum(address != array.ctypes.data for address, array in same)
            del column, items, child, capsules, same
        whole, capsules = read(batch.arrow())
        assert whole["tracks.items.item.hits.item.x"].buffers[1] == batch.tracks.hit_x.ctypes.data
        assert whole["fit.end_states.items.item.x"].buffers[1] == batch.fit.end_states.x.ctypes.data
        assert np.array_equal(whole["events.number"].values(), batch.events.number)
        del whole, capsules
    assert (copies, compared) == (0, 3 * (6 + 13))


def test_of_a_whole_run_nothing_is_copied(tracks):
    arrays = tracks.arrays(n=5)
    column, capsules = read(arrays.tracks.arrow())
    assert column["items"].format == "+L" and column["items"].buffers[1] == arrays.tracks.offsets.ctypes.data
    x = column["items.item.hits.item.x"]
    assert x.buffers[1] == arrays.tracks.hits.x.ctypes.data and x.array.length == len(arrays.tracks.hits)
    copied, more = read(arrays.tracks.arrow(copy=True))
    y = copied["items.item.hits.item.x"]
    assert y.buffers[1] != x.buffers[1] and np.array_equal(y.values(), arrays.tracks.hits.x)
    assert len(arrays.tracks.arrow()) == 5 and "5 events: items" in repr(arrays.tracks.arrow())


def test_units_and_doc_strings_are_metadata(tracks):
    arrays = tracks.arrays(n=1)
    column, capsules = read(arrays.tracks.arrow())
    assert column.metadata == {
        "output": "tracks", "collection": "velo_tracks", "doc": arrays.tracks.schema.doc
    }
    assert column["items.item.hits.item.x"].metadata == {"unit": "mm", "doc": "global x"}
    assert "unit" not in column["items.item.hits.item.id"].metadata


def test_structs_are_released_once_and_children_may_be_moved_away(tracks):
    gc.collect()
    before = len(_arrow._kept), len(_arrow._roots)
    arrays = tracks.arrays(n=2)
    x, expected = arrays.tracks.hits.x.ctypes.data, arrays.tracks.hits.x.copy()
    column, capsules = read(arrays.tracks.arrow())
    # A consumer moves an array: it copies the struct, and marks the original as released.
    child = column["items.item.hits.item.x"].array
    moved = _arrow.ArrowArray()
    ctypes.memmove(ctypes.byref(moved), ctypes.byref(child), ctypes.sizeof(moved))
    child.release = None
    del column, child, arrays, capsules
    gc.collect()
    assert len(_arrow._kept) == before[0] + 1 and len(_arrow._roots) == before[1]
    assert pointers(moved.buffers, 2)[1] == x
    assert np.array_equal(np.frombuffer(ctypes.string_at(x, expected.nbytes), np.float32), expected)
    _arrow._RELEASED(moved.release)(ctypes.addressof(moved))
    assert moved.release is None and len(_arrow._kept) == before[0]


def test_a_stream_has_one_array(tracks):
    arrays = tracks.arrays(n=3)
    capsule = arrays.tracks.arrow().__arrow_c_stream__()
    stream = _arrow.ArrowArrayStream.from_address(pointer_of(capsule, b"arrow_array_stream"))
    get_schema, get_next = _arrow._FILL(stream.get_schema), _arrow._FILL(stream.get_next)
    schema, array, end = _arrow.ArrowSchema(), _arrow.ArrowArray(), _arrow.ArrowArray()
    at = ctypes.addressof(stream)
    assert get_schema(at, ctypes.addressof(schema)) == get_next(at, ctypes.addressof(array)) == 0
    assert get_next(at, ctypes.addressof(end)) == 0 and end.release is None
    assert _arrow._TEXT(stream.get_last_error)(at) is None
    assert Column(schema, array)["items"].array.length == 3
    for filled in (schema, array):
        _arrow._RELEASED(filled.release)(ctypes.addressof(filled))
    del capsule
    gc.collect()


def test_a_failing_stream_has_a_message():
    """There is no Arrow type of complex numbers."""
    exported = _arrow.Arrow(lambda: Record({"z": Values(np.zeros(2, np.complex64))}, 2))
    capsule = exported.__arrow_c_stream__()
    stream = _arrow.ArrowArrayStream.from_address(pointer_of(capsule, b"arrow_array_stream"))
    schema = _arrow.ArrowSchema()
    assert _arrow._FILL(stream.get_schema)(ctypes.addressof(stream), ctypes.addressof(schema)) != 0
    assert "c8" in ctypes.string_at(_arrow._TEXT(stream.get_last_error)(ctypes.addressof(stream))).decode()


def test_the_data_of_a_batch_ends_with_it(tracks):
    kept = []
    run = tracks.run(n=6, slice_events=1)
    exported = next(run).tracks.arrow()
    copied = next(run).tracks.arrow(copy=True)
    with pytest.raises(sluice.ExpiredError, match="this batch is over"):
        exported.__arrow_c_array__()
    with pytest.warns(sluice.StaleViewWarning, match=r"still there: tracks\..*arrow\(copy=True\)") as warned:
        for batch in run:
            kept.append(batch.tracks.arrow().__arrow_c_array__())
    assert len(warned) == 1 and warned[0].filename == __file__
    column, capsules = read(copied)
    assert column.array.length == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in tracks.run(n=6, slice_events=1):
            kept.append(batch.tracks.arrow(copy=True).__arrow_c_array__())
            batch.tracks.arrow().__arrow_c_array__()


def test_the_memory_of_a_batch_lives_as_long_as_its_arrow_data(tracks):
    """Also when Python ends: nothing is freed before, and nothing crashes."""
    script = """import sluice
kept = []
for batch in sluice.Graph("velo.yaml").run(n=3, slice_events=1, warn=False):
    kept.append(batch.tracks.arrow().__arrow_c_array__())
circle = [kept]
circle.append(circle)
print(len(kept))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


def test_parts_of_slices_are_not_copied_either():
    """A slice that overflows is run again in parts; in memory, the source's items of a part do not begin at 0."""
    graph = sluice.Graph("common/velo_tracks.yaml", set={"seed": 3})
    graph.output("raw.velo_clusters", "tracks")
    whole = graph.arrays(n=60)["raw.velo_clusters"]
    graph.set("tracks.hits_per_event", 1)
    first = shifted = 0
    for batch in graph.run(n=60, slice_events=60, replan="off"):
        banks = batch["raw.velo_clusters"]
        column, capsules = read(banks.arrow())
        items = column["items"]
        offsets = items.values(np.int32, len(batch) + 1)
        begin, end = int(offsets[0]), int(offsets[-1])
        shifted += begin > 0
        source = items["item.source_id"]
        assert source.buffers[1] + 2 * begin == banks.source_id.ctypes.data
        assert np.array_equal(source.values()[begin:end], banks.source_id)
        words = items["item.payload"]
        bounds = words.values(np.int32, words.array.length + 1)
        payload = words["item"]
        assert payload.buffers[1] + 4 * int(bounds[begin]) == banks.payload.ctypes.data
        assert np.array_equal(payload.values()[bounds[begin] : bounds[end]], banks.payload)
        assert np.array_equal(bounds[begin:end] - bounds[begin], banks.first_word)
        expected = slice(*whole.offsets[[first, first + len(batch)]])
        assert np.array_equal(banks.size_bytes, whole.size_bytes[expected])
        found = whole.first_word[expected][0]
        assert np.array_equal(banks.payload, whole.payload[found : found + len(banks.payload)])
        first += len(batch)
        del column, items, source, words, payload, capsules
    assert first == 60 and shifted > 0


def made(fields, arrays, events):
    """A collection of these fields: (name, per, shape, dtype)."""
    described = {
        name: Field(name, np.dtype(dtype), per, int(np.prod(shape)), "", "", "", tuple(shape))
        for name, per, shape, dtype in fields
    }
    return Collection(Schema("made", "made", "", described), events, arrays.__getitem__)


def test_arrays_of_fixed_size_are_fixed_size_lists():
    cells = np.arange(3 * 2 * 4, dtype=np.int16).reshape(3, 2, 4)
    energy = np.arange(4, dtype=np.float64).reshape(2, 2)
    found = made(
        [("energy", "event", (2,), "f8"), ("gain", "slice", (), "f4"), ("offsets", "boundary", (), "u4"),
         ("cells", "item", (2, 4), "i2")],
        {"energy": energy, "gain": np.array([0.5], "f4"), "offsets": np.array([0, 1, 3], "u4"), "cells": cells},
        2,
    )
    column, capsules = read(found.arrow())
    assert list(column.children) == ["energy", "gain", "items"]
    assert (column["energy"].format, column["energy.item"].buffers[1]) == ("+w:2", energy.ctypes.data)
    assert column["gain"].values().tolist() == [0.5, 0.5]  # one value for the slice, repeated for each event
    inner = column["items.item.cells"]
    assert (inner.format, inner["item"].format, inner["item.item"].format) == ("+w:2", "+w:4", "s")
    assert [at.array.length for at in (inner, inner["item"], inner["item.item"])] == [3, 6, 24]
    assert inner["item.item"].buffers[1] == cells.ctypes.data


def test_large_offsets_have_64_bits():
    """A slice may have more items than 32-bit signed integers count; only the offsets exist here."""
    offsets = np.array([0, 1 << 31], np.uint32)
    node = Lists(offsets, Record({}, 1 << 31))
    exported = _arrow.Arrow(lambda: Record({"items": node}, 1))
    column, capsules = read(exported)
    assert column["items"].format == "+L" and column["items"].values(np.int64, 2).tolist() == [0, 1 << 31]


def test_empty_collections_have_arrow_data():
    found = made([("offsets", "boundary", (), "u4"), ("x", "item", (3,), "f4")],
                 {"offsets": np.zeros(3, "u4"), "x": np.zeros((0, 3), "f4")}, 2)
    column, capsules = read(found.arrow())
    assert column.array.length == 2 and column["items.item.x.item"].array.length == 0


def test_an_event_list_is_a_bool_for_each_event():
    graph = sluice.Graph.new(include="common/velo_tracks.yaml", set={"seed": 3})
    counts = graph.node("counts", "velo.count_tracks")
    busy = graph.node("busy", "generic.filter", of=counts.tracks, minimum=200)
    graph.output(busy)
    arrays = graph.arrays(n=20)
    column, capsules = read(arrays.busy.arrow())
    bits = np.frombuffer(ctypes.string_at(column["listed"].buffers[1], 3), np.uint8)
    assert column["listed"].format == "b"
    assert np.array_equal(np.unpackbits(bits, bitorder="little")[:20].astype(bool), arrays.busy.mask)
    assert 0 < arrays.busy.mask.sum() < 20


def test_an_output_cannot_take_the_place_of_the_events():
    graph = sluice.Graph.new(include="common/velo_tracks.yaml")
    graph.node("events", "velo.count_tracks", tracks="tracks")
    graph.output("events")
    (batch,) = graph.run(n=2)
    del batch
    for batch in graph.run(n=2):
        with pytest.raises(ValueError, match="an output has the name 'events'"):
            batch.arrow().__arrow_c_array__()
        assert batch["events"].arrow()


def test_a_batch_on_a_device_says_why_it_has_no_arrow_data(tracks):
    for batch in tracks.run(n=2, keep="device"):
        with pytest.raises(TypeError, match="tracks is on the device: only batches in host memory, without keep="):
            batch.arrow().__arrow_c_array__()


@pytest.mark.parametrize("module, call", [
    ("awkward", lambda tracks: tracks.awkward()),
    ("pandas", lambda tracks: tracks.pandas()),
    ("pandas", lambda tracks: tracks.hits.pandas()),
    ("polars", lambda tracks: tracks.polars()),
    ("pyarrow", lambda tracks: tracks.parquet("no.parquet")),
    ("pyarrow", lambda tracks: sluice.ArrowFile("no.arrow")),
    ("uproot", lambda tracks: tracks.root("no.root")),
])
def test_missing_packages_are_named(tracks, monkeypatch, module, call):
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"need the package {module}: pip install {module}"):
        call(tracks.arrays(n=1).tracks)
