"""Functions of on_batch: their batches, their findings, and their exceptions."""
import numpy as np
import pytest

import sluice


def test_functions_get_each_batch_before_the_loop(tracks):
    seen = []
    for batch in tracks.run(n=7, slice_events=2, on_batch=[lambda b: seen.append(b.first), lambda b: seen.append("b")]):
        assert seen[-2:] == [batch.first, "b"]
        seen.append("loop")
    assert seen == [0, "b", "loop", 2, "b", "loop", 4, "b", "loop", 6, "b", "loop"]


def test_finish_runs_to_the_end_without_a_loop(tracks):
    seen = []
    run = tracks.run(n=7, slice_events=2, on_batch=lambda batch: seen.append((batch.first, len(batch.tracks.hit_x))))
    assert next(run).first == 0 and run.finish() is run and run.finish() is run
    assert [first for first, _ in seen] == [0, 2, 4, 6]
    assert sum(hits for _, hits in seen) == len(tracks.arrays(n=7).tracks.hits)
    assert run.summary["events"] == 7 and next(run, None) is None


def busy(batch):
    counts = np.diff(batch.tracks.offsets)
    for event in np.flatnonzero(counts > 150):
        yield event, f"{counts[event]} tracks"


@pytest.mark.parametrize("options", [{}, {"slots": 3, "slice_events": 1}])
def test_findings_name_events_and_fail_the_run(tracks, options):
    counts = np.diff(tracks.arrays(n=11).tracks.offsets)
    places = np.flatnonzero(counts > 150)
    assert 0 < len(places) < 11
    run = tracks.run(n=11, on_batch=busy, **options)
    seen = 0
    with pytest.raises(sluice.CheckError) as failed:
        for batch in run:
            seen += len(batch)
    assert seen == 11 and run.summary["status"] == "ok"
    assert [finding.index for finding in run.findings] == places.tolist()
    assert failed.value.findings == run.findings
    first = run.findings[0]
    assert str(first) == f"busy: event {first.number} of run {first.run}: {counts[places[0]]} tracks"
    assert str(first) in str(failed.value)
    with pytest.raises(sluice.CheckError):
        tracks.arrays(n=11, on_batch=busy)
    assert tracks.run(n=11, on_batch=lambda batch: ()).finish().findings == []


def test_findings_beyond_20_are_counted():
    error = sluice.CheckError([sluice.Finding("check", 1, i, i, "wrong") for i in range(25)])
    assert len(str(error).splitlines()) == 21 and str(error).endswith("and 5 more findings")


def test_an_exception_in_a_function_names_the_events(tracks):
    def fails(batch):
        if batch.first == 4:
            1 / 0

    seen = 0
    with pytest.raises(ZeroDivisionError) as failed:
        for batch in tracks.run(n=11, slice_events=2, on_batch=fails):
            seen += len(batch)
    assert seen == 4
    assert "in fails, called by on_batch with 2 events, event " in failed.value.__notes__[0]
    for index in (99, 2, -1):
        with pytest.raises(IndexError, match=f"a finding names event {index} of a batch of 2 events"):
            tracks.run(n=2, on_batch=lambda batch: [(index, "no such event")]).finish()
    for index in (0.5, True, None):
        with pytest.raises(TypeError):
            tracks.run(n=2, on_batch=lambda batch: [(index, "no index")]).finish()
    with pytest.raises(TypeError):
        tracks.run(n=2, on_batch=lambda batch: 5).finish()


def test_arrays_that_a_function_keeps_cause_a_warning(tracks):
    kept = []
    with pytest.warns(sluice.StaleViewWarning, match="tracks.hit_x"):
        tracks.run(n=4, slice_events=1, on_batch=lambda batch: kept.append(batch.tracks.hit_x)).finish()
    copies = []
    tracks.run(n=4, slice_events=1, on_batch=lambda batch: copies.append(batch.tracks.hit_x.copy())).finish()
    assert np.array_equal(np.concatenate(copies), tracks.arrays(n=4).tracks.hit_x)
