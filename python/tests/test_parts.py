"""Parts of files: their results, joined, equal the result of the whole file."""
import pickle
import random

import numpy as np
import pytest

import sluice
from sluice.parts import NO_EVENTS

EVENTS = 40


@pytest.fixture(scope="module", params=["io.mdf_sink", "io.mep_sink"])
def events(request, tmp_path_factory):
    """A file of simulated events."""
    path = tmp_path_factory.mktemp("parts") / "events"
    settings = {"seed": 5} if request.param == "io.mdf_sink" else {"seed": 5, "write.events": 3}
    for _ in sluice.Graph("copy.yaml", set=settings, use={"write": request.param}).run(n=EVENTS, output=path):
        pass
    return path


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    outputs = tmp_path_factory.mktemp("parts") / "outputs.yaml"
    outputs.write_text("sluice: 1\nnodes: { draw: null }\noutputs: [tracks, fit.end_states, vertex_z, slopes]\n")
    return sluice.Graph("velo_histograms.yaml", with_=[outputs])


def result(graph, files):
    run = graph.run(files, digest=True, warn=False)
    for _ in run:
        pass
    return run


def digests(run):
    return {o["port"]: o["digest"] for o in run.summary["outputs"] if o["port"] not in run.totals}


def test_results_of_parts_join_to_the_result_of_the_file(graph, events):
    whole = result(graph, events)
    assert whole.summary["events"] == EVENTS
    choice = random.Random(7)
    parts = sluice.index(events, choice.randrange(1, 12))
    assert len(parts) > 2 and sum(part.events for part in parts) == EVENTS
    joined, totals, count = {}, {port: {} for port in whole.totals}, 0
    for part in pickle.loads(pickle.dumps(parts)):
        run = result(graph, [part])
        assert run.summary["events"] == part.events and part.bad_records == 0
        for port, digest in digests(run).items():
            joined[port] = sluice.join_digests(joined.get(port, NO_EVENTS), digest, run.summary["events"])
        for port, fields in run.totals.items():
            for name, values in fields.items():
                totals[port][name] = totals[port].get(name, 0) + values
        count += run.summary["events"]
    assert count == EVENTS and joined == digests(whole)
    assert len(totals) == 2
    for port, sums in totals.items():
        assert all(np.array_equal(sums[name], values) for name, values in whole.totals[port].items())
    for output in whole.summary["outputs"]:
        if output["port"] in totals:
            assert sluice.digest_of_totals(totals[output["port"]]) == output["digest"]


def test_a_part_needs_only_its_byte_range(graph, events):
    parts = sluice.index([events], 9)
    by_hand = [sluice.Part(str(events), 0, parts[0].bytes), sluice.Part(str(events), parts[0].bytes)]
    assert digests(result(graph, by_hand)) == digests(result(graph, events)) == digests(result(graph, parts))


def test_parts_can_be_cut_further(graph, events):
    """Only the bytes of the part are cut; the number of its first record is counted, unless it is given."""
    small = sluice.index(events, 6)
    large = sluice.index(events, 12)
    assert len(large) == 4 and [part for one in large for part in sluice.index(one, 6)] == small
    assert sluice.index([events, *large[::2]], 1000) == [*sluice.index(events, 1000), large[0], large[2]]
    by_bytes = sluice.Part(str(events), small[2].first_byte, small[2].bytes)
    assert sluice.index(by_bytes) == [small[2]]
    assert sluice.index(sluice.Part(str(events), small[-1].first_byte)) == [small[-1]]
    numbered = sluice.Part(str(events), small[2].first_byte, small[2].bytes, first_record=700)
    assert sluice.index(numbered)[0].first_record == 700
    size = events.stat().st_size
    for first, bytes, wrong in [
        (5, 0, "begins at byte 5"),
        (0, small[0].bytes - 1, f"ends at byte {small[0].bytes - 1}"),
        (0, size + 1, f"ends at byte {size + 1}"),
        (size, 0, f"begins at byte {size}"),
        (small[1].first_byte, 2**64 - 1, "ends at byte"),
    ]:
        with pytest.raises(sluice.RunError, match=f"no record {wrong}"):
            sluice.index(sluice.Part(str(events), first, bytes))


def test_files_without_parts_are_refused(tmp_path, graph, events):
    packed = tmp_path / "events.gz"
    packed.write_bytes(b"\x1f\x8b" + bytes(100))
    with pytest.raises(sluice.RunError, match="compressed as a whole"):
        sluice.index(packed)
    with pytest.raises(sluice.RunError, match="No such file"):
        sluice.index(tmp_path / "none.mdf")
    with pytest.raises(ValueError, match="events needs a number from 1"):
        sluice.index(events, 0)
    with pytest.raises(sluice.RunError, match="no record begins at byte 5"):
        result(graph, sluice.Part(str(events), 5))


def test_events_with_errors_count_in_digests_too(graph, events, tmp_path):
    damaged = tmp_path / "damaged"
    raw = bytearray(events.read_bytes())
    raw[len(raw) // 2] ^= 0xFF  # inside an event: a wrong checksum, or in packets a wrong item
    raw[5] ^= 1  # a header
    damaged.write_bytes(raw)
    whole = result(graph, damaged)
    with pytest.warns(sluice.SluiceWarning, match="record at byte 0: "):
        parts = sluice.index(damaged, 7)
    runs = [result(graph, part) for part in parts]
    assert parts[0].bad_records == 1 and sum(run.summary["events"] for run in runs) == EVENTS
    assert sum(run.summary["error_events"] for run in runs) == whole.summary["error_events"] > 0
    for port, digest in digests(whole).items():
        joined = NO_EVENTS
        for run in runs:
            joined = sluice.join_digests(joined, digests(run)[port], run.summary["events"])
        assert joined == digest
