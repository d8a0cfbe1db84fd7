"""Events from Python give the results of a file with the same events; the ways in which sources and feeds end."""
import array
import ctypes
import gc
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from conftest import in_child, threads_end

import sluice

EVENTS = 12


def records(path):
    """The bodies of an uncompressed MDF file's records."""
    whole, at = path.read_bytes(), 0
    while at < len(whole):
        (size,) = struct.unpack_from("<I", whole, at)
        yield memoryview(whole)[at + 48 : at + size]
        at += size


def banks_of(body):
    """The raw banks of a record: type, version, source id, payload."""
    at = 0
    while at < len(body):
        magic, length, kind, version, source_id = struct.unpack_from("<HHBBH", body, at)
        assert magic == 0xCBCB
        yield sluice.Bank(kind, version, source_id, body[at + 8 : at + length])
        at += (length + 3) & ~3


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("events") / "events.mdf"
    list(sluice.Graph("simulate.yaml", set={"seed": 3}).run(n=EVENTS, output=path))
    return path


@pytest.fixture(scope="module")
def events(file):
    return [sluice.Event(banks_of(body)) for body in records(file)]


@pytest.fixture(scope="module")
def whole(tracks, file):
    return tracks.arrays(file)


def same(arrays, whole):
    count = len(arrays)
    assert np.array_equal(arrays.events.number, whole.events.number[:count])
    assert np.array_equal(arrays.events.run, whole.events.run[:count])
    assert arrays.tracks.hits.x.tobytes() == whole.tracks.hits.x[: len(arrays.tracks.hits)].tobytes()
    assert np.array_equal(arrays.tracks.offsets, whole.tracks.offsets[: count + 1])
    return True


@pytest.mark.parametrize("options", [{}, {"slice_events": 1, "slots": 3}, {"entries_max": 1}])
def test_results_equal_those_of_a_file(tracks, events, whole, options):
    arrays = tracks.arrays(source=events, **options)
    assert len(arrays) == EVENTS and len(arrays.tracks) > 100 and same(arrays, whole)
    assert arrays.events.offset.tolist() == list(range(EVENTS))  # indices in the source


def test_banks_may_be_arrays(tracks, file, whole):
    """All banks of an event as arrays, and single banks as arrays of words."""
    entries = []
    for i, body in enumerate(records(file)):
        banks = list(banks_of(body))
        if i % 2:
            data = np.frombuffer(b"".join(banks.data for banks in banks), np.uint8)
            offsets = np.cumsum([0, *(len(bank.data) for bank in banks)])
            kinds, versions, ids, _ = zip(*banks)
            entries.append(
                sluice.Event(sluice.Banks(data, offsets, type=kinds, version=np.array(versions), source_id=ids))
            )
        else:
            words = [(*bank[:3], np.frombuffer(bank.data, "u4" if len(bank.data) % 4 == 0 else "u1")) for bank in banks]
            entries.append(sluice.Event(words))
    assert same(tracks.arrays(source=entries), whole)


def test_banks_may_be_any_buffer_of_bytes_or_little_endian_words(tracks, file):
    """Source ids may have either byte order: they are copied as numbers."""
    words = np.array([4096, 8192], "<u4")
    same = [
        words, words.tobytes(), bytearray(words.tobytes()), memoryview(words), array.array("I", words.tolist()),
        ctypes.create_string_buffer(words.tobytes(), words.nbytes), memoryview(words.tobytes()).cast("b"),
        words.reshape(1, 2), words.view("<u2"),
    ]
    graph = sluice.Graph.new(include="common/raw.yaml")
    graph.node("geometry", "velo.geometry")
    graph.output(graph.node("clusters", "velo.decode_retina"))
    found = graph.arrays(source=[sluice.Event([(73, 4, 0, data)], run=1, number=1) for data in same], warn=False)
    ends = found.clusters.offsets
    assert len(set(np.diff(ends).tolist())) == 1 and ends[1] > 0
    assert np.array_equal(found.clusters.x, np.tile(found.clusters.x[: ends[1]], len(same)))
    data, offsets = np.concatenate([words, words]), np.array([0, 8, 16], ">u8")
    columns = {"type": np.array([73, 73], ">u2"), "version": np.int8(4), "source_id": np.array([0, 1], ">i4")}
    banks = sluice.Banks(data, offsets, **columns)
    assert banks.blocks["type"].tolist() == [73, 73] and banks.blocks["source_id"].tolist() == [0, 1]
    assert banks.blocks["bytes"].tolist() == [8, 8]


def test_packets_are_events_too(tracks, file, whole, events, tmp_path):
    path = tmp_path / "events.mep"
    copy = sluice.Graph("copy.yaml", use={"write": "io.mep_sink"})
    list(copy.run(file, output=path))
    packet = np.fromfile(path, "u4")
    assert same(tracks.arrays(source=[sluice.Packet(path.read_bytes())]), whole)
    mixed = tracks.arrays(source=iter([sluice.Packet(packet), events[0]]))
    assert len(mixed) == 13 and mixed.events.offset.tolist() == [0] * 12 + [1]


def passed(where, events):
    """The events that a line without code passes."""
    graph = sluice.Graph.new(include="common/raw.yaml")
    graph.node("odin", "odin.decode")
    graph.node("Line", "selections.where_events", where=where)
    graph.node("decide", "selections.decide", in_={"lines": ["Line"]})
    graph.output("decide.passed")
    return graph.arrays(source=events, warn=False).decide.passed.mask.tolist()


@pytest.mark.parametrize(
    "where, right",
    [
        ("event.event_number == 1234567890123456789", [0, 1, 0, 0]),
        ("event.event_number > 1234567890123456788", [0, 1, 1, 1]),
        ("1234567890123456789 != event.event_number", [1, 0, 1, 1]),
        ("event.gps_time < 1234567890123456792 us and event.event_number != 1234567890123456791", [1, 1, 1, 0]),
        ("event.orbit == 16777216", [0, 1, 0, 0]),
        ("event.run < 4294967294.5", [1, 1, 1, 0]),
        ("has(event.orbit, 1)", [1, 0, 1, 0]),
    ],
)
def test_a_line_compares_integers_exactly(where, right):
    def odin(run, number, orbit):
        gps = 1234567890123456791
        return struct.pack("<IHHQIIIIQ", run, 2, 0, gps, 1, 0, 13236, orbit, number)

    first = 1234567890123456788
    banks = [odin(2**32 - 4 + i, first + i, 16777215 + i) for i in range(4)]
    assert passed(where, [sluice.Event([sluice.Bank(16, 7, 0, bank)]) for bank in banks]) == right


def test_run_and_number_are_used_without_odin(events):
    graph = sluice.Graph("common/velo_tracks.yaml")
    graph.output(graph.node("counts", "velo.count_tracks"))
    bank = sluice.Banks(b"", [0, 0], type=73, version=4, source_id=0)
    arrays = graph.arrays(source=(sluice.Event(bank, run=7, number=2**40 + i) for i in range(3)), warn=False)
    assert arrays.events.run.tolist() == [7] * 3
    assert arrays.events.number.tolist() == [2**40, 2**40 + 1, 2**40 + 2]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: sluice.Bank(1, 2), "missing"),
        (lambda: sluice.Event([(1, 2, 3)]), "Bank.type, version, source_id, data"),
        (lambda: sluice.Event([(73, 4, 0, b""), (256, 4, 0, b"")]), "bank 1: type is 256; .* below 256"),
        (lambda: sluice.Event([(73, 4, -1, b"")]), "bank 0: source_id is -1; .* below 65536"),
        (lambda: sluice.Event([(73, 4.5, 0, b"")]), "version of banks must be whole numbers"),
        (lambda: sluice.Event([(73, 4, 0, np.arange(3))]), "bank 0 is an array of int64; .* uint8, uint16 or uint32"),
        (lambda: sluice.Event([(73, 4, 0, np.arange(6, dtype="u4")[::2])]), "not lie in one piece.*copy"),
        (lambda: sluice.Event([(73, 4, 0, "text")]), "bytes-like"),
        (lambda: sluice.Event([(73, 4, 0, np.arange(3, dtype=">u4"))]), "bank 0 is big-endian .>u4.*astype.'<u4'"),
        (lambda: sluice.Event([(73, 4, 0, memoryview(np.arange(3, dtype=">u2")))]), "bank 0 is big-endian"),
        (lambda: sluice.Packet(np.arange(3, dtype=">u4")), "the packet is big-endian"),
        (lambda: sluice.Banks(np.arange(3, dtype=">u4"), [0], type=1, version=1, source_id=1), "data is big-endian"),
        (lambda: sluice.Event([(73, 4, 0, array.array("d", [1]))]), "array of float64"),
        (lambda: sluice.Event([(73, 4, 0, np.ones(3, "f4"))]), "array of float32"),
        (lambda: sluice.Event([(73, 4, 0, np.ones(3, bool))]), "array of bool"),
        (lambda: sluice.Event([(73, 4, 0, np.ones(3, "M8[s]"))]), "array of datetime64"),
        (lambda: sluice.Event([(73, 4, 0, np.ones(3, object))]), "array of object"),
        (lambda: sluice.Event([(73, 4, 0, np.zeros(3, [("a", ">u4")]))]), "it must be one of uint8"),
        (lambda: sluice.Event([(73, 4, 0, np.ma.array([1, 2], "u4", mask=[0, 1]))]), "bank 0 is a masked array"),
        (lambda: sluice.Banks(b"", np.ma.array([0]), type=1, version=1, source_id=1), "offsets is a masked array"),
        (lambda: sluice.Banks(b"1", [0, 1], type=np.ma.array([1]), version=1, source_id=1), "type of banks is a masked"),
        (lambda: sluice.Event([], number=True), "number needs a number from 0 to 18446744073709551615, not True"),
        (lambda: sluice.Event([], run=1 << 32), "run needs a number from 0 to 4294967295, not 4294967296"),
        (lambda: sluice.Event([], number=2.5), "number needs a number from 0 to 18446744073709551615, not 2.5"),
        (lambda: sluice.Banks(b"123", [0, 2, 4], type=1, version=1, source_id=1), r"lie in \[0, 3\]"),
        (lambda: sluice.Banks(b"123", [0, 2, 1], type=1, version=1, source_id=1), "must not fall"),
        (lambda: sluice.Banks(b"123", [0.5], type=1, version=1, source_id=1), "whole numbers"),
        (lambda: sluice.Banks(b"123", [0, 1, 3], type=[1], version=1, source_id=1), r"type has the shape \(1,\) for 2"),
        (lambda: sluice.Banks(b"123", [0, 1, 3], type=1, version=[1, 999], source_id=1), "bank 1: version is 999"),
    ],
)
def test_wrong_banks_are_refused_where_they_are_made(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_a_bad_event_is_an_error_event(tracks, events):
    with pytest.warns(sluice.SluiceWarning, match="entry 1 of the feed .*no banks"):
        arrays = tracks.arrays(source=[events[0], sluice.Event([]), events[1]])
    assert arrays.events.error.tolist() == [0, 1, 0] and np.diff(arrays.tracks.offsets)[1] == 0


def test_files_and_a_source_are_refused(tracks):
    with pytest.raises(TypeError, match="not both"):
        tracks.run("events.mdf", source=[])
    with pytest.raises(ValueError, match="entries_max needs a number from 1 to 4294967295, not -1"):
        tracks.run(source=[], entries_max=-1)


# ------------------------------------------------------------------------------------------- ends of a source


def repeated(events, closed=None):
    """The events, again and again, without end."""
    try:
        while True:
            yield from events
    finally:
        if closed is not None:
            closed.append(threading.current_thread().name)


def test_an_empty_source_gives_no_events(tracks):
    assert len(tracks.arrays(source=[])) == 0


def test_a_source_is_at_most_entries_max_ahead(tracks, events):
    ahead = []
    taken = 0

    def counted():
        nonlocal taken
        for event in repeated(events):
            taken += 1
            yield event

    with tracks.run(source=counted(), entries_max=4, slice_events=2) as run:
        for batch in run:
            ahead.append(taken - batch.first)
            if batch.first > 60:
                break
    assert max(ahead) < 40


def test_a_source_ends_after_n_events(tracks, events, whole):
    closed = []
    arrays = tracks.arrays(source=repeated(events, closed), n=5)
    assert len(arrays) == 5 and same(arrays, whole) and closed == ["sluice source"]


@pytest.mark.parametrize("options", [{}, {"slots": 3, "slice_events": 1}])
def test_an_exception_in_a_source_comes_after_the_batches_before(tracks, events, options):
    def broken():
        yield from events[:7]
        raise ZeroDivisionError("in the source")

    seen = 0
    with pytest.raises(ZeroDivisionError, match="in the source"):
        for batch in tracks.run(source=broken(), **options):
            seen += len(batch)
    assert seen == 7


def test_an_exception_beyond_n_events_has_no_effect(tracks, events, whole):
    def broken():
        yield from events[:7]
        raise ZeroDivisionError

    for n in (4, 7):
        arrays = tracks.arrays(source=broken(), n=n)
        assert len(arrays) == n and same(arrays, whole)


def test_an_exception_in_closing_a_source_is_raised(tracks, events):
    def broken():
        try:
            yield from repeated(events)
        finally:
            raise ZeroDivisionError("closed")

    with pytest.raises(ZeroDivisionError, match="closed"):
        tracks.run(source=broken(), n=3).finish()


def test_an_exception_in_a_source_leaves_no_file(events, tmp_path):
    def broken():
        yield events[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sluice.Graph("copy.yaml").run(source=broken(), output=tmp_path / "copy.mdf", warn=False).finish()
    assert not (tmp_path / "copy.mdf").exists()


def test_an_entry_that_is_no_event_is_an_error(tracks, events):
    with pytest.raises(TypeError, match="bytes is no entry of a feed: give Inputs, a Packet or an Event"):
        list(tracks.run(source=[events[0], b"bank"]))
    with pytest.raises(TypeError, match="source needs an iterable of events, not 7"):
        list(tracks.run(source=7))


def test_leaving_the_loop_closes_the_source(tracks, events):
    before, closed = threads_end(), []
    for batch in tracks.run(source=repeated(events, closed), slice_events=2):
        break
    assert threads_end(before) <= before and closed == ["sluice source"]


def test_a_blocked_source_does_not_block_the_end(tracks, events, monkeypatch):
    monkeypatch.setattr(sluice.run, "_PATIENCE_S", 0.05)
    go_on, closed = threading.Event(), []

    def waiting():
        yield events[0]
        go_on.wait()
        yield from repeated(events, closed)

    for batch in tracks.run(source=waiting(), slice_events=1):
        break
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "sluice source":
            thread.join(10)
    assert closed == ["sluice source"]


def test_memory_is_kept_until_it_is_packed_and_no_longer(tracks, file, whole):
    """Each event has memory of its own that only the run refers to."""
    alive = []

    class Kept(np.ndarray):
        pass

    def fresh():
        for body in records(file):
            data = np.array(body, np.uint8).view(Kept)
            alive.append(weakref.ref(data))
            banks = list(banks_of(memoryview(body)))
            at = np.array([np.frombuffer(bank.data, "u1").__array_interface__["data"][0] for bank in banks])
            at -= np.frombuffer(body, "u1").__array_interface__["data"][0]
            whole_of = np.stack([at, at + [len(bank.data) for bank in banks]]).T.ravel()
            # Banks and padding; no node reads banks of this type.
            between = [kind for bank in banks for kind in (bank.type, 255)][:-1]
            versions = [version for bank in banks for version in (bank.version, 0)][:-1]
            ids = [source for bank in banks for source in (bank.source_id, 0)][:-1]
            yield sluice.Event(sluice.Banks(data, whole_of, type=between, version=versions, source_id=ids))
            del data

    assert same(tracks.arrays(source=fresh(), entries_max=2), whole)
    gc.collect()
    assert len(alive) == EVENTS and not any(data() is not None for data in alive)


# ------------------------------------------------------------------------------------------------------ a feed


def test_a_program_puts_events(tracks, events, whole):
    tracks_found, released = [], []

    def count(batch):
        tracks_found.extend(np.diff(batch.tracks.offsets).tolist())

    with tracks.feed(on_batch=count, on_release=released.append, slice_events=5) as feed:
        assert [feed.put(event) for event in events[:3]] == [0, 1, 2]
        feed.wait(1)
        assert len(tracks_found) >= 2 and released[:2] == events[:2]
        feed.wait()
        assert len(tracks_found) == 3
        for event in events[3:]:
            feed.put(event, timeout=60)
    assert tracks_found == np.diff(whole.tracks.offsets).tolist()
    assert released == events
    assert feed.run.summary["events"] == EVENTS and feed.run.summary["status"] == "ok"
    with pytest.raises(sluice.Error, match="takes no more events"):
        feed.put(events[0])
    feed.end()
    feed.close()


def test_an_exception_in_the_block_stops_the_run(tracks, events):
    before = threads_end()
    with pytest.raises(ZeroDivisionError):
        with tracks.feed() as feed:
            feed.put(events[0])
            feed.wait()
            1 / 0
    assert feed.run.summary["interrupted"] and threads_end(before) <= before


def test_an_unfinished_feed_is_stopped(tracks, events):
    before = threads_end()
    feed = tracks.feed()
    feed.put(events[0])
    del feed
    assert threads_end(before) <= before


def test_put_waits_at_most_its_timeout(tracks, events):
    stuck = threading.Event()

    def wait(batch):
        stuck.wait(20)

    with tracks.feed(on_batch=wait, entries_max=1, slice_events=1) as feed:
        with pytest.raises(TimeoutError, match="within 0.05 s"):
            for _ in range(100):
                feed.put(events[0], timeout=0.05)
        with pytest.raises(TimeoutError):
            feed.wait(timeout=0.05)
        stuck.set()


@pytest.mark.parametrize("waits", [False, True])
def test_an_interrupt_ends_put_and_wait(tracks, events, waits, request):
    """Like Ctrl-C, while put() waits for room or wait() for a result."""
    main = threading.main_thread().ident
    theirs = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, theirs))
    before, stuck = threads_end(), threading.Event()
    timers = [threading.Timer(0.15, signal.pthread_kill, (main, signal.SIGINT)), threading.Timer(0.4, stuck.set)]
    with pytest.raises(KeyboardInterrupt):
        with tracks.feed(on_batch=lambda batch: stuck.wait(20) and None, entries_max=1, slice_events=1) as feed:
            for timer in timers:
                timer.start()
            feed.put(events[0])
            if waits:
                feed.wait()
            for event in repeated(events):
                feed.put(event)
    for timer in timers:
        timer.join()
    assert threads_end(before) <= before


def test_a_run_collected_by_its_own_thread_does_not_block(tracks):
    """A run that is part of a reference cycle, collected by one of its own threads when that releases memory."""

    class Collects(np.ndarray):
        def __del__(self):
            if run() and threading.get_ident() not in {thread.ident for thread in threading.enumerate()}:
                gc.collect()

    before = threads_end()
    gc.disable()
    try:
        feed = tracks.feed(warn=False, slots=4, slice_events=1)
        circle = [feed]
        circle.append(circle)
        queue, run = feed._queue, weakref.ref(feed.run)
        del feed, circle
        for number in range(100000):
            memory = np.zeros(4, np.uint8).view(Collects)
            if queue.give(sluice.Event([(73, 4, 0, memory)], run=1, number=number), 10) is None:
                break
            del memory
        assert run() is None and threads_end(before) <= before
    finally:
        gc.enable()


def test_put_raises_the_error_of_the_run(tracks, events):
    def broken(batch):
        raise ZeroDivisionError("a sink")

    feed = tracks.feed(on_batch=broken)
    with pytest.raises(ZeroDivisionError, match="a sink"):
        for event in repeated(events):
            feed.put(event)
    feed = tracks.feed(on_batch=broken)
    feed.put(events[0])
    with pytest.raises(ZeroDivisionError, match="a sink"):
        feed.wait()
    feed = tracks.feed(on_release=lambda entry: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        for event in repeated(events):
            feed.put(event)


def test_functions_of_the_run_cannot_wait_for_it(tracks, events):
    messages = []

    def ask(batch):
        for call in (feed.wait, feed.end):
            with pytest.raises(sluice.Error, match="cannot wait") as refused:
                call()
            messages.append(str(refused.value))

    ready = threading.Event()
    feed = tracks.feed(on_batch=lambda batch: ready.wait(20) and ask(batch))
    ready.set()
    feed.put(events[0])
    feed.wait()
    feed.end()
    assert len(messages) == 2


def test_wrong_indices_and_timeouts_are_refused(tracks, events):
    with tracks.feed() as feed:
        feed.put(events[0])
        for index, error in ((-1, ValueError), (1.0, TypeError), (True, TypeError), (2**64, ValueError)):
            with pytest.raises(error, match="index needs a number"):
                feed.wait(index)
        for timeout, error in ((-1, ValueError), (float("nan"), ValueError), ("1", TypeError), (True, TypeError)):
            with pytest.raises(error, match="timeout needs seconds"):
                feed.wait(0, timeout)
            with pytest.raises(error, match="timeout needs seconds"):
                feed.put(events[0], timeout)
        feed.wait(np.int64(0), float("inf"))


def test_a_closed_feed_raises_a_state_error(tracks, events):
    feed = tracks.feed()
    feed.put(events[0])
    feed.wait()
    closing = threading.Timer(0.2, feed.close)
    closing.start()
    with pytest.raises(sluice.StateError, match="was closed: it takes no more events"):
        for event in repeated(events):
            feed.put(event)
    closing.join()
    with pytest.raises(sluice.StateError, match="was closed"):
        feed.put(events[0])


def test_a_feed_is_refused_in_a_forked_child(tracks, events):
    with tracks.feed() as feed:
        feed.put(events[0])
        for call in (lambda: feed.put(events[1]), feed.wait, feed.end):
            assert in_child(call).startswith("StateError: this run belongs to process")
        assert in_child(feed.close) == "None"
        feed.put(events[1])
    assert feed.run.summary["events"] == 2


def test_several_threads_put(tracks, events, whole):
    sizes = []
    with tracks.feed(on_batch=lambda batch: sizes.extend(np.diff(batch.tracks.offsets).tolist())) as feed:
        threads = [threading.Thread(target=lambda: [feed.put(event) for event in events]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(sizes) == sorted(3 * np.diff(whole.tracks.offsets).tolist())


def test_a_program_can_end_during_a_run(tmp_path):
    """The source never ends, and the loop is not left."""
    script = tmp_path / "open.py"
    script.write_text(
        """import sluice
def events():
    while True:
        yield sluice.Event([(73, 4, 0, b"")], run=1)
graph = sluice.Graph("common/velo_tracks.yaml")
graph.output(graph.node("counts", "velo.count_tracks"))
run = graph.run(source=events(), warn=False)
feed = graph.feed(warn=False)
feed.put(sluice.Event([]))
print(len(next(run)) > 0)
"""
    )
    begin = time.monotonic()
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "") and time.monotonic() - begin < 30
