"""Batches in the memory of the device: tensors without copies, their lifetime, and arrays of other libraries as inputs."""
import ctypes
import gc
import os
import pathlib
import threading

import numpy as np
import pytest
from conftest import in_child

import sluice
from sluice import _abi, _foreign
from sluice import device as device_module

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAPH = """sluice: 1
nodes:
  raw: { use: toy.source, set: { events: 200 } }
  even: { use: toy.select, set: { modulus: 2 } }
  scaled: { use: toy.scale }
  expanded: { use: toy.expand, in: { scaled: scaled } }
  all: { use: toy.sum }
  split: { use: toy.split, in: { numbers: raw } }
  tally: { use: toy.totals, in: { numbers: raw } }
outputs: [all, even, split, scaled, expanded, tally]
"""
EVENTS, SLICE = 200, 10
PLUGINS = [os.environ["SLUICE_TEST_PLUGINS"]]


@pytest.fixture(scope="module")
def toy():
    return sluice.Graph(text=GRAPH, plugin_paths=PLUGINS)


@pytest.fixture(scope="module")
def expected(toy):
    return toy.arrays()


@pytest.fixture(params=["cpu", "mock", "simt"])
def options(request):
    """Options of a run; the memory of "mock" is memory of its own, which NumPy can read all the same."""
    return {"device": request.param, "keep": "device", "slice_events": SLICE}


def values_of(collection, field, first, count):
    """The values of a field per item, subitem or event in the whole run, for the `count` events from `first` on."""
    if collection.fields[field].per == "event":
        return collection[field][first : first + count]
    begin, end = collection.offsets[first], collection.offsets[first + count]
    if collection.fields[field].per == "subitem":
        offsets = collection[collection.schema.only("item boundary", collection.fields[field].group)]
        begin, end = offsets[begin], offsets[end]
    return collection[field][begin:end]


def check(batch, expected):
    """Compares all fields of a batch without items of earlier events with those of the whole run."""
    for name in ("all", "split", "scaled", "expanded"):
        for field, described in batch[name].fields.items():
            array = batch[name][field]
            taken = np.from_dlpack(array)
            assert taken.shape == array.shape and taken.dtype == array.dtype == described.dtype
            assert taken.size == 0 or taken.ctypes.data == array.address  # not a copy
            if described.per == "boundary":
                own = expected[name].offsets[batch.first : batch.first + len(batch) + 1]
                assert np.array_equal(taken, own - own[0])
            elif described.per != "item boundary":
                assert np.array_equal(taken, values_of(expected[name], field, batch.first, len(batch)))
    listed = expected.even.numbers
    listed = listed[(listed >= batch.first) & (listed < batch.first + len(batch))] - batch.first
    assert np.array_equal(np.from_dlpack(batch.even.numbers), listed)
    assert np.from_dlpack(batch.even.count).tolist() == [len(listed)]


def test_tensors_are_the_memory_of_the_batch(toy, expected, options):
    count = 0
    for batch in toy.run(slots=2, **options):
        check(batch, expected)
        count += len(batch)
    assert count == EVENTS


def test_outputs_are_found_as_those_of_other_batches(toy, options):
    for batch in toy.run(n=SLICE, **options):
        assert batch.outputs == ["all", "even", "split", "scaled", "expanded"]
        split = batch.split
        assert isinstance(split, sluice.DeviceCollection) and "toy_parts" in repr(split)
        digit = split.digits.digit
        assert isinstance(digit, sluice.DeviceArray) and digit.name == "split.digit" and digit.dtype == np.uint8
        assert digit.address == split["digit"].address == split.digits["digit"].address
        assert split.digits.offsets.shape == (len(split.value) + 1,) and split.digits.offsets.ndim == 1
        assert digit.nbytes == digit.size == len(digit) and "split.digit" in repr(digit)
        assert digit.device == "cpu" and digit.__dlpack_device__() == (1, 0)
        assert list(split) == list(split.fields) and "digits" in dir(split) and "digit" in dir(split.digits)
        assert batch.even.event_count == len(batch)
        for wrong in (lambda: split.nothing, lambda: split.digits.nothing, lambda: batch.nothing):
            with pytest.raises(AttributeError, match="nothing"):
                wrong()
        with pytest.raises(KeyError, match="it has offsets"):
            split["nothing"]
        with pytest.raises(KeyError, match="sums over the run"):
            batch["tally"]


def test_copies_are_made_on_request_only(toy, expected, options):
    for batch in toy.run(n=SLICE, **options):
        array = batch.scaled.value
        for copy in (array.copy(), np.from_dlpack(Exported(array, copy=True))):
            assert copy.ctypes.data != array.address
            assert np.array_equal(copy, values_of(expected.scaled, "value", 0, SLICE))
        view = np.asarray(array)
        assert view.ctypes.data == array.address and view.flags.writeable
        assert np.array(array, dtype="f8").dtype == np.float64
        view[:] = 7  # the run does not read it
    assert batch is not None


def test_a_stale_view_refuses(toy, options):
    before = None
    for batch in toy.run(n=3 * SLICE, **options):
        if before is not None:
            collection, array = before
            for use in (array.__dlpack__, array.copy, array.__dlpack_device__, lambda: array.address,
                        lambda: np.asarray(array), lambda: array.__cuda_array_interface__, lambda: collection.value.copy()):
                with pytest.raises(sluice.ExpiredError, match="this batch is over"):
                    use()
        before = batch.scaled, batch.scaled.value
    with pytest.raises(sluice.ExpiredError):
        batch.keep()


def test_a_kept_batch_stays(toy, expected, options):
    run, kept = toy.run(slots=2, **options), []
    for batch in run:
        kept.append(batch.keep())
        if len(kept) > 3:
            check(kept[0], expected)
            kept.pop(0).release()
    del run, batch
    gc.collect()
    assert [k.first for k in kept] == [EVENTS - 3 * SLICE, EVENTS - 2 * SLICE, EVENTS - SLICE]
    for k in kept:  # after the run and its session
        check(k, expected)
        assert np.array_equal(k.events.number, expected.events.number[k.first : k.first + SLICE]) and len(k) == SLICE
        assert k.outputs == ["all", "even", "split", "scaled", "expanded"]


def test_a_released_batch_refuses(toy, options):
    for batch in toy.run(n=SLICE, **options):
        with batch.keep() as kept:
            array = kept.scaled.value
            assert array.address == batch.scaled.value.address and "released" not in repr(kept)
        kept.release()  # does nothing
        assert "released" in repr(kept)
        for use in (array.copy, lambda: kept.scaled):
            with pytest.raises(sluice.ExpiredError, match="was released"):
                use()
        batch.scaled.value.copy()  # the batch of the loop is still there


def test_too_many_kept_batches_are_an_error_that_names_them(toy, options):
    for slots in (1, 2):
        kept = []
        with pytest.raises(sluice.RunError, match=f"all {2 * slots} batches .*: events 0 to 9 .*; events 10 to 19") as error:
            for batch in toy.run(slots=slots, **options):
                kept.append(batch.keep())
        assert len(kept) == 2 * slots and error.value.status == "SL_ENOMEM"
        assert "release batches" in str(error.value)


def test_a_tensor_holds_its_batch_until_it_is_deleted(toy, expected, options):
    tensors = []
    for batch in toy.run(slots=2, **options):
        tensors.append((batch.first, np.from_dlpack(batch.scaled.value), np.asarray(batch.all.sum)))
        if len(tensors) == 4:
            first, value, of_event = tensors.pop(0)
            assert np.array_equal(value, values_of(expected.scaled, "value", first, SLICE))
            assert np.array_equal(of_event, expected.all.sum[first : first + SLICE])
            del value, of_event
    with pytest.raises(sluice.RunError, match="can keep are kept"):
        for batch in toy.run(**options):
            tensors.append(np.from_dlpack(batch.scaled.value))


def test_capsules_that_are_not_taken_release_the_batch(toy, options):
    for batch in toy.run(**options):
        for version in (None, (1, 0)):
            capsule = batch.scaled.value.__dlpack__(max_version=version)
            assert ("dltensor_versioned" in repr(capsule)) == (version is not None)


def test_the_rules_of_dlpack(toy, options):
    for batch in toy.run(n=SLICE, **options):
        array = batch.scaled.value
        for stream in (0, 1, 2, 1 << 40, "x"):
            with pytest.raises(ValueError, match="host memory has no streams"):
                array.__dlpack__(stream=stream)
        for wanted in ({"dl_device": (2, 0)}, {"dl_device": (1, 1), "copy": False}):
            with pytest.raises(BufferError, match="cannot be given as device"):
                array.__dlpack__(**wanted)
        assert np.from_dlpack(Exported(array, dl_device=(1, 0), copy=False)).ctypes.data == array.address
        assert not hasattr(array, "__cuda_array_interface__")


class Exported:
    """An array with arguments of __dlpack__ that not all versions of NumPy give."""

    def __init__(self, array, **arguments):
        self.array, self.arguments = array, arguments

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**{**arguments, **self.arguments})

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def on_gpu(monkeypatch):
    """Makes all memory that of cuda:3."""
    memory_of = device_module.Hold.memory

    def memory(hold):
        memory = _abi.KeptMemory.from_buffer_copy(memory_of(hold))
        memory.kind, memory.device = 2, 3
        return memory

    monkeypatch.setattr(device_module.Hold, "memory", memory)


def test_the_rules_of_a_gpu(toy, options, monkeypatch):
    """Without a GPU: the address is that of host memory, which nothing reads."""
    on_gpu(monkeypatch)
    for batch in toy.run(n=SLICE, **options):
        array = batch.scaled.value
        assert array.__dlpack_device__() == (2, 3) and array.device == "cuda:3"
        for stream in (None, -1, 1, 2, 1 << 40):
            assert "dltensor" in repr(array.__dlpack__(stream=stream))
        for stream in (0, -2, "x"):
            with pytest.raises(ValueError, match="must be None, -1"):
                array.__dlpack__(stream=stream)
        for wanted in ({"dl_device": (2, 0)}, {"copy": True}):
            with pytest.raises(BufferError, match=r"is on device \(2, 3\)"):
                array.__dlpack__(**wanted)
        with pytest.raises(BufferError, match="needs a copy"):
            array.__dlpack__(dl_device=(1, 0), copy=False)
        with pytest.raises(TypeError, match=r"cuda:3: copy\(\)"):
            np.asarray(array)
        described = array.__cuda_array_interface__
        assert described == {"shape": array.shape, "typestr": "<u4", "data": (array.address, False), "version": 3,
                             "strides": None, "stream": None}


def test_the_cuda_array_interface_holds_the_batch(toy, options, monkeypatch):
    on_gpu(monkeypatch)
    held = []
    with pytest.raises(sluice.RunError, match="can keep are kept"):
        for batch in toy.run(**options):
            array = batch.scaled.value
            array.__cuda_array_interface__
            held.append(array)
    assert len(held) == 2 and held[0].__cuda_array_interface__["data"][0]  # the batch is over, and held


def test_events_with_an_error_have_no_items(options):
    graph = sluice.Graph(text=GRAPH, plugin_paths=PLUGINS, set={"raw.bad_every": 7})
    found, errors = 0, 0
    for batch in graph.run(warn=False, **options):
        if batch.events.error.any():
            assert len(batch) == 1 and np.from_dlpack(batch.scaled.offsets).tolist() == [0, 0]
            assert np.from_dlpack(batch.all.sum).tolist() == [0] and np.from_dlpack(batch.even.count).tolist() == [0]
            assert batch.split.digits.digit.shape == (0,) and batch.split.digits.offsets.copy().tolist() == [0]
            errors += 1
        found += len(batch)
    assert (found, errors) == (EVENTS, EVENTS // 7)


def test_parts_of_a_slice_that_overflowed(expected, options):
    graph = sluice.Graph(text=GRAPH, plugin_paths=PLUGINS, set={"expanded.per_event": 1})
    run = graph.run(**{**options, "slice_events": 64})
    before = None
    for batch in run:
        kept = batch.keep()
        for field in ("value", "offsets"):
            own = np.from_dlpack(kept.expanded[field])
            offsets = expected.expanded.offsets[kept.first : kept.first + len(kept) + 1]
            right = offsets - offsets[0] if field == "offsets" else values_of(expected.expanded, field, kept.first, len(kept))
            assert np.array_equal(own, right)
        # Offsets of the input, which split shares, begin at 0 in the slice, not in the part.
        offsets = np.from_dlpack(kept.split.offsets)
        value = np.from_dlpack(kept.split.value)[offsets[0] : offsets[-1]]
        assert np.array_equal(value, values_of(expected.split, "value", kept.first, len(kept)))
        if before is not None:
            before.release()
        before = kept
        del own, offsets, value
    assert run.summary["retries"] > 0


def test_functions_of_a_run_can_keep_batches(toy, expected, options):
    kept = []
    run = toy.run(n=2 * SLICE, on_batch=lambda batch: kept.append(batch.keep()), **options).finish()
    assert run.summary["events"] == 2 * SLICE
    for k in kept:
        check(k, expected)


def test_another_thread_may_take_tensors_and_release(toy, expected, options):
    for batch in toy.run(slots=2, **options):
        kept = batch.keep()

        def work(kept=kept):
            check(kept, expected)
            kept.release()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()


def test_a_closed_run_leaves_kept_batches(toy, expected, options):
    run = toy.run(**options)
    kept = next(run).keep()
    run.close()
    check(kept, expected)


def test_the_graph_changes_while_a_batch_is_kept():
    def graph(outputs):
        made = sluice.Graph(ROOT / "tests/records/lists.yaml", plugin_paths=PLUGINS)
        if "more" in outputs:
            made.node("more", "lists.sums")
            made.output("sums", "more")
        return made

    kept, seen = [], []

    def keep(batch):
        if not seen or seen[-1] != batch.outputs:  # the first batch of each configuration
            seen.append(batch.outputs)
            kept.append((batch.keep(), np.array(batch.sums.sum)))

    fields = {"offsets": [0, 2, 3], "weight": np.array([1, 2, 4], "f4"), "part_offsets": [0, 0, 1, 1],
              "part": np.array([8], "f4"), "id": np.array([5, 6], "u4")}
    with graph(["sums"]).feed(arrays=True, on_batch=keep, keep="device", slots=2, slice_events=4) as feed:
        for outputs in (["sums"], ["sums", "more"], ["sums"]):
            if seen:
                feed.reload(graph(outputs))
            while not seen or seen[-1] != outputs:  # a slice may have begun before the change
                feed.put(sluice.Inputs({"lists": fields}))
                feed.wait(timeout=60)
    assert len(kept) == 3
    for batch, copy in kept:
        assert copy.any() and np.array_equal(np.from_dlpack(batch.sums.sum), copy)


def test_a_forked_child_releases_nothing(toy, expected, options):
    for batch in toy.run(n=SLICE, **options):
        kept = batch.keep()
        assert in_child(lambda: kept.release()) == "None"
        check(kept, expected)


def test_wrong_uses(toy, options):
    with pytest.raises(ValueError, match='keep is "device" or None'):
        toy.run(keep="host")
    with pytest.raises(TypeError, match=r"use run\(keep"):
        toy.arrays(keep="device")
    for batch in toy.run(n=SLICE):
        with pytest.raises(sluice.StateError, match='keep="device"'):
            batch.keep()


# ------------------------------------------------------------------------------------- arrays of other libraries


class OfHost:
    """An array of another library in host memory, which has nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OfGpu(OfHost):
    def __dlpack_device__(self):
        return 2, 0


class ByInterface:
    def __init__(self, array, **more):
        described = {"shape": array.shape, "typestr": array.dtype.str, "data": (array.ctypes.data, False), "version": 3,
                     "strides": None if array.flags.c_contiguous else array.strides}
        self.__cuda_array_interface__ = {**described, **more}


@pytest.fixture
def fields():
    offsets = np.arange(0, 41, 2, dtype=np.uint32)
    return {"offsets": offsets, "weight": np.arange(40, dtype=np.float32), "part_offsets": np.zeros(41, np.uint32),
            "part": np.zeros(0, np.float32), "id": np.arange(20, dtype=np.uint32)}


@pytest.fixture
def lists():
    return sluice.Graph(ROOT / "tests/records/lists.yaml", plugin_paths=PLUGINS)


def test_arrays_in_host_memory_are_not_copied(lists, fields):
    right = lists.arrays(inputs={"lists": fields})
    given = sluice.Inputs({"lists": {name: OfHost(array) for name, array in fields.items()}})
    by_name = {entry.field.decode(): entry for entry in given.arrays}
    for name in ("weight", "id"):
        assert by_name[name].values == fields[name].ctypes.data
    assert given.copied_bytes == 0
    assert np.array_equal(lists.arrays(inputs=given).sums.sum, right.sums.sum)


class Copying:
    """The library, with a device memory that is host memory."""

    def sl_device_download(self, kind, to, address, size, diagnostics):
        ctypes.memmove(to, address, size)
        return 0


def test_arrays_of_a_gpu_are_copied_and_counted(lists, fields, monkeypatch):
    right = lists.arrays(inputs={"lists": fields})
    monkeypatch.setattr(_foreign, "library", Copying)
    for kind in (OfGpu, ByInterface):
        given = sluice.Inputs({"lists": {name: kind(array) for name, array in fields.items()}})
        assert given.copied_bytes == sum(array.nbytes for array in fields.values())
        assert np.array_equal(lists.arrays(inputs=given).sums.sum, right.sums.sum)
    with pytest.raises(sluice.RunError, match="lists.id has values of type f32; u32 is expected"):
        lists.arrays(inputs={"lists": {**fields, "id": OfGpu(fields["id"].astype("f4"))}})


def test_arrays_that_cannot_be_taken(fields, monkeypatch):
    weight = fields["weight"]

    def refuse(array, error, text):
        with pytest.raises(error, match=text):
            sluice.Inputs({"lists": {**fields, "weight": array}})

    refuse(OfGpu(weight[::2]), ValueError, "lists.weight does not lie in one piece on the device")
    refuse(ByInterface(weight[::2]), ValueError, "does not lie in one piece on the device")
    refuse(ByInterface(weight, mask=ByInterface(weight)), TypeError, "has a mask")
    refuse(OfGpu(weight.astype("c8")), TypeError, "has DLPack's type 5")
    monkeypatch.setattr(OfGpu, "__dlpack_device__", lambda self: (14, 0))
    refuse(OfGpu(weight), TypeError, "DLPack's kind 14")


@pytest.mark.skipif("cuda" in sluice.devices(), reason="this build can read the memory of GPUs")
def test_without_a_backend_for_the_gpu_the_error_says_so(fields):
    with pytest.raises(sluice.Error, match="lists.weight could not be copied|memory of a device cannot be read"):
        sluice.Inputs({"lists": {**fields, "weight": OfGpu(fields["weight"])}})
