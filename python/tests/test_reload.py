"""Changes of the graph of a run: batches before and after, views that are kept, and changes that are refused."""
import json
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from test_source import banks_of, records

import sluice

EVENTS = 40
TOKEN = "0123456789abcdef-token"


def tracks():
    graph = sluice.Graph.new(include="common/velo_tracks.yaml")
    graph.output("tracks")
    return graph


def vertices(**properties):
    graph = tracks()
    graph.node("pv", "pv.beamline", **properties)
    graph.output("pv")
    return graph


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    path = tmp_path_factory.mktemp("events") / "events.mdf"
    list(sluice.Graph("simulate.yaml", set={"seed": 3}).run(n=EVENTS, output=path))
    return [sluice.Event(banks_of(body)) for body in records(path)]


class Batches:
    """Collects copies of the batches of a feed, by outputs, and keeps views of all tracks."""

    def __init__(self):
        self.seen, self.kept = [], []

    def __call__(self, batch):
        self.seen.append((sorted(batch.outputs), {name: batch[name].offsets.copy() for name in batch.outputs}))
        self.kept.append((batch.tracks.hits.x, batch.tracks.hits.x.copy(), batch.events.number, batch.tracks.offsets))


def put(feed, events):
    for event in events:
        feed.put(event)
    feed.wait(timeout=60)


@pytest.mark.parametrize("device", ["cpu", "simt"])
def test_batches_before_and_after(events, device):
    batches = Batches()
    whole = {name: vertices().arrays(source=events)[name] for name in ("tracks", "pv")}
    with tracks().feed(on_batch=batches, device=device, slots=2, slice_events=4, warn=False) as feed:
        put(feed, events[:12])
        assert list(feed.run.schemas) == ["tracks"]
        feed.reload(vertices())
        put(feed, events[12:28])
        assert sorted(feed.run.schemas) == ["pv", "tracks"]
        feed.reload(tracks())
        put(feed, events[28:])
    counts = np.concatenate([np.diff(offsets["tracks"]) for _, offsets in batches.seen])
    assert np.array_equal(counts, np.diff(whole["tracks"].offsets))
    found = np.concatenate([np.diff(offsets["pv"]) for outputs, offsets in batches.seen if "pv" in outputs])
    firsts = [c["first_event"] for c in feed.run.summary["configurations"]]
    assert firsts[0] == 0 and 12 <= firsts[1] <= 16 and 28 <= firsts[2] <= 32 and feed.run.summary["events"] == EVENTS
    assert np.array_equal(found, np.diff(whole["pv"].offsets)[firsts[1] : firsts[2]])
    for view, copy, numbers, offsets in batches.kept:  # memory of three configurations is still there
        assert view.sum() is not None and len(view) == len(copy) and len(numbers) > 0 and len(offsets) > 0


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_memory_of_earlier_graphs_is_freed(events):
    graphs = [vertices(), tracks()]
    sizes = []
    with tracks().feed(on_batch=lambda batch: None, slice_events=16) as feed:
        for i in range(60):
            put(feed, events[:1])
            feed.reload(graphs[i % 2])
            sizes.append(resident())
    assert max(sizes[40:]) < max(sizes[10:20]) + 30e6, sizes


def test_wrong_graphs_change_nothing(events):
    wrong = tracks()
    wrong.node("pv", "pv.beamlin")
    with_sink = tracks()
    with_sink.node("write", "output.csv_sink", output="tracks")
    batches = Batches()
    with tracks().feed(on_batch=batches, warn=False) as feed:
        put(feed, events[:5])
        with pytest.raises(sluice.GraphError, match="pv.beamlin"):
            feed.reload(wrong)
        with pytest.raises(sluice.GraphError, match="write"):
            feed.reload(with_sink)
        put(feed, events[5:10])
    assert len(feed.run.summary["configurations"]) == 1 and feed.run.summary["events"] == 10
    with pytest.raises(sluice.StateError, match="over"):
        feed.reload(vertices())


def test_where_it_is_possible(events):
    """Not before the run, with a batch of the loop, or in functions of the run; but in another thread."""
    changed = threading.Event()

    def source():
        yield from events[:6]
        changed.wait(60)
        yield from events[6:]

    def change_in_thread():
        run.reload(vertices())
        changed.set()

    run = tracks().run(source=source(), slice_events=2, slots=1, warn=False)
    with pytest.raises(sluice.StateError, match="not started"):
        run.reload(vertices())
    next(run)
    with pytest.raises(sluice.StateError, match="another thread"):
        run.reload(vertices())
    other = threading.Thread(target=change_in_thread)
    other.start()
    seen = [sorted(batch.outputs) for batch in run]
    other.join()
    assert seen[-1] == ["pv", "tracks"] and sorted(run.schemas) == ["pv", "tracks"]
    failed = []

    def change(batch):
        try:
            feed.reload(vertices())
        except sluice.StateError as error:
            failed.append(str(error))

    with tracks().feed(on_batch=change) as feed:
        put(feed, events[:1])
    assert "a function that the run calls cannot change its configuration" in failed


def test_arrays_need_one_graph(events):
    reached, changed = threading.Event(), threading.Event()

    def source():
        yield from events[:4]
        reached.set()
        changed.wait(60)
        yield from events[4:]

    run = tracks().run(source=source(), slice_events=2, warn=False)

    def change():
        reached.wait(60)
        run.reload(sluice.Graph.from_text("sluice: 1\ninclude: [common/velo_tracks.yaml]\noutputs: [fit.end_states]\n"))
        changed.set()

    other = threading.Thread(target=change)
    other.start()
    with pytest.raises(sluice.StateError, match="the graph has changed at event [0-9]+"):
        sluice.arrays.Arrays(run)
    other.join()


def test_a_request_to_the_page(events, tmp_path):
    """POST /config changes a graph that was written in Python."""
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    graph = vertices()
    batches = Batches()

    def post(change):
        request = urllib.request.Request(
            feed.run.url + "config", json.dumps(change).encode(), {"Authorization": f"Bearer {TOKEN}"}, method="POST"
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    with graph.feed(on_batch=batches, serve=sluice.Serve(token_file=token), warn=False) as feed:
        put(feed, events[:5])
        post({"sets": ["pv.max_chi2=10"]})
        put(feed, events[5:])
        with pytest.raises(urllib.error.HTTPError, match="409"):
            post({"sets": ["search.absent=1"]})
    assert len(feed.run.summary["configurations"]) == 2
