"""Runs: values equal those of the command; the ways in which a run ends."""
import csv
import ctypes.util
import gc
import json
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest
from conftest import endless, threads_end

import sluice
from sluice import _session

SLICES = [{}, {"slice_events": 3}, {"slots": 3, "slice_events": 1}]


def csv_columns(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return {name: np.array([float(row[i]) for row in rows[1:]]) for i, name in enumerate(rows[0])}


@pytest.fixture(scope="module")
def whole(tracks):
    return tracks.arrays(n=11)


@pytest.mark.parametrize("options", SLICES)
def test_values_equal_a_table_of_the_command(tracks, command, tmp_path, options):
    graph = tmp_path / "states.yaml"
    graph.write_text(
        "sluice: 1\ninclude: [common/velo_tracks.yaml]\nnodes: { write: { use: output.csv_sink } }\n"
        "outputs: [fit.end_states]\n"
    )
    command("run", graph, "-n", 11, "--set", "seed=3", "-o", tmp_path / "states.csv", "--quiet")
    columns = csv_columns(tmp_path / "states.csv")
    arrays = tracks.arrays(n=11, **options)
    states = arrays["fit.end_states"]
    assert len(states) == len(columns["event"]) > 500
    assert np.array_equal(np.repeat(arrays.events.number, np.diff(states.offsets)), columns["event"])
    for name, field in states.fields.items():
        if field.per == "item" and field.width == 1:
            assert np.array_equal(states[name], columns[name].astype(field.dtype)), name


@pytest.mark.parametrize("options", SLICES)
def test_nested_items_equal_an_hdf5_file(tracks, command, tmp_path, options):
    h5py = pytest.importorskip("h5py")
    written = tmp_path / "tracks.h5"
    sink = tmp_path / "sink.yaml"
    sink.write_text("sluice: 1\nnodes: { write: { use: hdf5.sink } }\noutputs: [tracks, fit.end_states]\n")
    command("run", "common/velo_tracks.yaml", "--with", sink, "-n", 11, "--set", "seed=3", "-o", written, "--quiet")
    arrays = tracks.arrays(n=11, **options)
    with h5py.File(written) as file:
        assert np.array_equal(arrays.events.number, file["events/number"])
        assert np.array_equal(arrays.events.run, file["events/run"])
        for output in arrays:
            for name, field in arrays[output].fields.items():
                values = file[output][name]
                assert np.array_equal(arrays[output][name], values), f"{output}.{name}"
                if "boundary" not in field.per:
                    assert (values.attrs.get("unit", ""), values.attrs["doc"]) == (field.unit, field.doc)


@pytest.mark.parametrize("options", SLICES)
def test_batches_concatenate_to_arrays(tracks, whole, options):
    first = items = subitems = 0
    for batch in tracks.run(n=11, **options):
        assert batch.first == first and len(batch) == len(batch.events)
        found, all_tracks = batch.tracks, whole.tracks
        assert found.offsets[0] == 0 and found.hit_offsets[0] == 0
        assert np.array_equal(batch.events.number, whole.events.number[first : first + len(batch)])
        assert np.array_equal(np.diff(found.offsets), np.diff(all_tracks.offsets)[first : first + len(batch)])
        assert np.array_equal(found.hits.x, all_tracks.hits.x[subitems : subitems + len(found.hits)])
        assert np.array_equal(batch.fit.end_states.x, whole["fit.end_states"].x[items : items + len(found)])
        first, items, subitems = first + len(batch), items + len(found), subitems + len(found.hits)
    assert (first, items, subitems) == (11, len(whole.tracks), len(whole.tracks.hits))


def test_no_batch_is_lost_by_a_slow_loop(tracks, whole, monkeypatch):
    """The run's threads may be ahead of the loop at any point: here the loop sleeps after it has started them."""
    start = threading.Thread.start

    def start_and_dawdle(thread):
        start(thread)
        time.sleep(0.1)

    monkeypatch.setattr(threading.Thread, "start", start_and_dawdle)
    numbers = [number for batch in tracks.run(n=11, slice_events=2) for number in batch.events.number.tolist()]
    assert numbers == whole.events.number.tolist()


def test_arrays_are_views_that_cannot_be_written(tracks):
    for batch in tracks.run(n=2):
        x = batch.tracks.hits.x
        assert x is batch.tracks.hit_x is batch["tracks"]["hit_x"]
        assert not x.flags.owndata and not x.flags.writeable
        assert x.dtype == np.float32
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1


def test_fields_have_units(tracks):
    schema = tracks.run(n=1).schemas["tracks"]
    assert schema.fields["hit_x"].unit == "mm" and schema.fields["hit_x"].doc == "global x"
    assert (schema.fields["offsets"].per, schema.fields["hit_offsets"].per) == ("boundary", "item boundary")
    assert schema.fields["hit_id"].dtype == np.uint32 and schema.fields["hit_id"].group == "hits"


def test_unknown_names_are_errors_that_list_the_known_ones(tracks, whole):
    run = tracks.run(n=1)
    for outputs in (whole, next(run)):
        with pytest.raises(AttributeError, match="no output 'vertices'.*tracks, fit.end_states"):
            outputs.vertices
        with pytest.raises(KeyError, match="no output 'fit.states'"):
            outputs["fit.states"]
        with pytest.raises(AttributeError, match="no output 'fit.states'"):
            outputs.fit.states
    with pytest.raises(AttributeError, match="has no 'y'; it has offsets, hit_offsets.*hits"):
        whole.tracks.y
    with pytest.raises(AttributeError, match="'hits' has no field 't'; it has id, x, y, z"):
        whole.tracks.hits.t
    assert "tracks" in whole and "vertices" not in whole and "hits" in dir(whole.tracks)


def test_bits_have_the_names_of_lines():
    arrays = sluice.Graph("hlt1_pp_default.yaml", with_=["output/decisions.yaml"], set={"raw.seed": 3}).arrays(n=60)
    decisions, totals = arrays.decide.decisions, arrays.totals["decide.totals"]
    assert len(decisions.names) == len(set(decisions.names)) > 32 and decisions.names == totals.names
    assert {line: int(decisions[line].sum()) for line in decisions.names} == dict(zip(totals.names, totals["passed"].tolist()))
    assert totals["passed"].sum() > 5 and totals.label == "line"


def test_event_lists_and_totals():
    graph = sluice.Graph("common/velo_tracks.yaml", set={"seed": 3})
    counts = graph.node("counts", "velo.count_tracks")
    graph.node("busy", "generic.filter", of=counts.tracks, minimum=200)
    graph.node("rare", "generic.filter", of=counts.tracks, minimum=100000)
    graph.node("lists", "generic.gather_lists", in_={"lists": ["busy", "rare"]})
    graph.output("busy", "rare", "counts", "lists.decisions", "lists.totals")
    expected = None
    for options in SLICES:
        arrays = graph.arrays(n=11, **options)
        passed = arrays.counts.tracks >= 200
        assert 0 < passed.sum() < 11
        assert np.array_equal(arrays.busy.numbers, np.flatnonzero(passed))
        assert np.array_equal(arrays.busy.mask, passed)
        assert (len(arrays.busy), len(arrays.rare)) == (passed.sum(), 0)
        assert arrays.totals["lists.totals"]["events"].tolist() == [passed.sum(), 0]
        assert arrays.lists.decisions.list.tolist() == [0] * passed.sum()
        assert arrays.lists.decisions.names == arrays.totals["lists.totals"].names == ("busy", "rare")
        assert np.array_equal(arrays.lists.decisions["busy"], passed) and not arrays.lists.decisions["rare"].any()
        assert arrays.totals["lists.totals"]["busy"] == {"events": passed.sum(), "alone": passed.sum()}
        assert arrays.summary["totals"]["lists.totals"] == arrays.totals["lists.totals"].by_name()
        with pytest.raises(KeyError, match="no field or list 'bussy'; there are events, alone, busy, rare"):
            arrays.totals["lists.totals"]["bussy"]
        expected = expected or arrays.summary["graph_digest"]
        assert arrays.summary["graph_digest"] == expected
        with pytest.raises(KeyError, match="sums over the run: they are in totals"):
            arrays["lists.totals"]
    batch = next(run := graph.run(n=2))
    assert np.array_equal(batch.lists.decisions["busy"], batch.busy.mask)
    with pytest.raises(KeyError, match="no field 'bussy'; it has offsets, list, busy, rare"):
        batch.lists.decisions["bussy"]
    assert batch.busy.mask.shape == (2,) and "lists.totals" not in batch
    with pytest.raises(AttributeError, match="run.totals has them"):
        batch.lists.totals
    run.close()


@pytest.mark.parametrize("options", SLICES)
def test_a_field_per_slice_has_an_entry_for_each_event_in_arrays(options):
    graph = sluice.Graph.new(include="common/raw.yaml")
    graph.node("odin", "odin.decode")
    graph.output(graph.node("some", "selections.passthrough", pre_scale=0.25))
    for batch in graph.run(n=7, **options):
        assert batch.some.pre_scale.tolist() == [0.25] and batch.some.fields["pre_scale"].per == "slice"
    some = graph.arrays(n=7, **options).some
    assert some.pre_scale.dtype == np.float32 and some.pre_scale.tolist() == [0.25] * 7
    assert some.fields["pre_scale"].per == "event" and len(some.passed) == 7


def test_the_summary_equals_the_json_of_the_command(tracks, command, tmp_path):
    run = tracks.run(n=5, digest=True)
    with pytest.raises(sluice.Error, match="not over"):
        run.summary
    assert sum(len(batch) for batch in run) == 5
    path = tmp_path / "summary.json"
    outputs = tmp_path / "outputs.yaml"
    outputs.write_text("sluice: 1\noutputs: [tracks, fit.end_states]\n")
    command("run", "common/velo_tracks.yaml", "--with", outputs, "-n", 5, "--set", "seed=3", "--digest", "--json", path)
    theirs = json.loads(path.read_text())
    for key in ("sluice_version", "graph_digest", "events", "outputs", "status", "device"):
        assert run.summary[key] == theirs[key], key
    assert run.summary["outputs"][0]["digest"] and "events       5" in run.table
    with pytest.raises(sluice.StateError, match="the run is over: its batches are gone"):
        list(run)


# ---------------------------------------------------------------------------------------------- how a run ends


def test_a_batch_expires_when_the_next_one_comes(tracks):
    kept = []
    for batch in tracks.run(n=3, slice_events=1):
        for old, collection in kept:
            assert "over" in repr(old)
            with pytest.raises(sluice.ExpiredError):
                old.tracks
            with pytest.raises(sluice.ExpiredError):
                old.events
            with pytest.raises(sluice.ExpiredError):
                collection.hit_x
        assert len(batch.tracks.hit_x) > 0
        kept.append((batch, batch.tracks))
    copies = [batch.tracks.copy() for batch in tracks.run(n=3, slice_events=1)]
    assert np.array_equal(np.concatenate([c.hits.x for c in copies]), tracks.arrays(n=3).tracks.hits.x)


def test_arrays_that_are_kept_cause_a_warning(tracks):
    kept = []
    with pytest.warns(sluice.StaleViewWarning, match=r"still there: tracks.hit_x; .*copy\(\)") as warned:
        for batch in tracks.run(n=6, slice_events=1):
            kept.append(batch.tracks.hit_x[:10])
    assert len(warned) == 1 and warned[0].filename == __file__
    gc.collect()
    assert np.isfinite(np.concatenate(kept)).all()  # the memory is still valid
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in tracks.run(n=6, slice_events=1):
            x = batch.tracks.hit_x  # replaced in the next round: no warning
            kept.append(x.copy())
    del x


def test_memory_is_freed_with_the_last_array(tracks):
    run = tracks.run(n=4, slice_events=2)
    session = weakref.ref(run._session)
    for batch in run:
        x = batch.tracks.hit_x
    assert session() is not None
    del x
    assert session() is None


def test_leaving_a_loop_stops_the_run(tracks):
    before = threads_end()
    for batch in endless(tracks):
        break
    assert threading.active_count() == 1 and threads_end(before) <= before
    with pytest.raises(sluice.ExpiredError):
        batch.tracks


def test_an_exception_in_the_loop_stops_the_run(tracks):
    before = threads_end()
    with pytest.raises(ZeroDivisionError):
        for batch in endless(tracks):
            len(batch) / 0
    assert threading.active_count() == 1 and threads_end(before) <= before


def test_close_stops_a_run(tracks):
    with endless(tracks) as run:
        next(run)
        next(run)
    assert next(run, None) is None and run.summary["interrupted"]
    with pytest.raises(sluice.StateError, match="the run was closed"):
        list(run)
    assert run.summary["events"] >= 4
    assert any("stopped" in d.message or "interrupt" in d.message for d in run.diagnostics) or run.diagnostics == []
    run.close()
    never_begun = endless(tracks)
    never_begun.close()
    assert next(never_begun, None) is None


@pytest.mark.parametrize("in_body", [False, True])
def test_an_interrupt_stops_the_run(tracks, in_body, request):
    """Like Ctrl-C, while the loop waits for a batch and while its body runs."""
    main = threading.main_thread().ident
    before = threads_end()
    # A program that a shell starts in the background ignores SIGINT.
    theirs = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, theirs))
    with pytest.raises(KeyboardInterrupt):
        timer = threading.Timer(0.15, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        for batch in endless(tracks):
            if in_body:
                time.sleep(5)
    timer.join()
    assert threading.active_count() == 1 and threads_end(before) <= before


def test_an_unfinished_run_does_not_block_the_end_of_the_program(tmp_path):
    script = tmp_path / "open.py"
    script.write_text(
        """import sluice
graph = sluice.Graph("velo.yaml")
runs = [graph.run(n=100000, slots=2, slice_events=2) for _ in range(2)]
x = next(runs[0]).tracks.hit_x
circle = [runs]
circle.append(circle)
print(len(x) > 0)
"""
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_two_runs_can_be_open_at_once(tracks):
    pairs = zip(tracks.run(n=4, slice_events=1), tracks.run(n=4, slice_events=1))
    assert [np.array_equal(a.tracks.hit_x, b.tracks.hit_x) for a, b in pairs] == [True] * 4


def test_a_missing_file_is_an_error(tracks):
    with pytest.raises(sluice.Error, match="no/such.mdf"):
        list(tracks.run("no/such.mdf"))


def test_files_are_read_one_after_another_and_by_patterns(command, tmp_path):
    graph = sluice.Graph.new(include="common/raw.yaml")
    graph.node("odin", "odin.decode")
    graph.output("odin")
    for seed in (1, 2):
        command("run", "simulate.yaml", "-n", 3, "--set", f"seed={seed}", "-o", tmp_path / f"{seed}.mdf", "--quiet")
    both = graph.arrays([tmp_path / "1.mdf", tmp_path / "2.mdf"])
    assert both.events.file.tolist() == [0, 0, 0, 1, 1, 1]
    matched = graph.arrays(str(tmp_path / "[12].mdf"), n=5)
    assert np.array_equal(matched.events.records, both.events.records[:5])
    with pytest.raises(sluice.Error, match="No such file"):
        graph.arrays(tmp_path / "*.mep")


def test_bad_events_cause_warnings_and_have_no_items(command, tmp_path):
    path = tmp_path / "events.mdf"
    command("run", "simulate.yaml", "-n", 3, "-o", path, "--quiet")
    path.write_bytes(path.read_bytes()[:-1000])
    graph = sluice.Graph("common/velo_tracks.yaml", with_=[])
    graph.output("tracks")
    with pytest.warns(sluice.SluiceWarning, match="events.mdf") as warned:
        arrays = graph.arrays(path)
    assert {warning.filename for warning in warned} == {__file__}
    assert arrays.events.error.tolist() == [0, 0, 2]
    assert np.diff(arrays.tracks.offsets)[2] == 0 and np.diff(arrays.tracks.offsets)[0] > 0
    assert arrays.summary["error_events"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arrays = graph.arrays(path, warn=False)
    assert any(d.severity != "note" and "events.mdf" in str(d) for d in arrays.diagnostics)


def test_a_failed_run_raises_its_messages(command, tmp_path):
    path = tmp_path / "events.mdf"
    command("run", "simulate.yaml", "-n", 3, "-o", path, "--quiet")
    path.write_bytes(path.read_bytes()[:-1000])
    graph = sluice.Graph("common/velo_tracks.yaml")
    graph.output("tracks")
    graph.set("raw.strict", True)
    seen = 0
    with pytest.raises(sluice.RunError, match="events.mdf") as failed:
        for batch in graph.run(path, slice_events=1, warn=False):
            seen += len(batch)
    assert failed.value.status == "SL_ESTRICT" and failed.value.diagnostics
    assert seen >= 2


def test_progress_is_reported(tracks, monkeypatch):
    told = []
    for batch in tracks.run(n=40, slice_events=2, progress=lambda *numbers: told.append(numbers)):
        time.sleep(0.03)
    assert told and all(0 < events <= 40 and total == 40 for events, done, total, seconds in told)
    with pytest.raises(ZeroDivisionError):
        for batch in tracks.run(n=1000000, slice_events=2, progress=lambda *numbers: 1 / 0, warn=False):
            pass
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        tracks.run(n=1, progress=True)


def test_a_bar_shows_progress(tracks, capsys, monkeypatch):
    try:
        import tqdm
    except ImportError:
        return  # test_progress_is_reported tests the error
    monkeypatch.setattr(tqdm.tqdm, "monitor_interval", 0)  # 0: tqdm starts no thread
    assert sum(len(batch) for batch in tracks.run(n=12, slice_events=4, progress=True)) == 12
    assert "12" in capsys.readouterr().err.split("\r")[-1]


def test_other_devices_give_the_same_values(tracks, whole):
    if "simt" not in sluice.devices():
        pytest.skip("this build has no emulator")
    emulated = tracks.arrays(n=2, device="simt")
    count = len(emulated.tracks.hits)
    assert count > 0 and np.array_equal(emulated.tracks.hits.x, whole.tracks.hits.x[:count])


def test_negative_numbers_are_refused(tracks):
    with pytest.raises(ValueError, match="n needs a number from 1 to 18446744073709551615, not -1"):
        tracks.run(n=-1)
    with pytest.raises(ValueError, match="slots needs a number from 1 to 4294967295, not 4294967296"):
        tracks.run(n=1, slots=1 << 32)


def test_no_input_is_replaced(tmp_path, monkeypatch):
    """Outputs that are an input, a graph file or the file of another sink are refused before anything is written."""
    monkeypatch.chdir(tmp_path)
    for _ in sluice.Graph("copy.yaml").run(n=2, output="in.mdf"):
        pass
    for _ in sluice.Graph("geometry.yaml").run(output="geo"):
        pass
    (tmp_path / "part.yaml").write_text("sluice: 1\nnodes: { again: { use: io.mdf_sink, set: { path: new.mdf } } }\n")
    (tmp_path / "graph.yaml").write_text("sluice: 1\ninclude: [part.yaml, copy.yaml]\n")
    (tmp_path / "link").symlink_to("in.mdf")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    cases = [
        ("copy.yaml", {}, "in.mdf", "link", r"/link: the same file as /.*/in\.mdf, an input"),
        ("graph.yaml", {}, None, "part.yaml", r"/part\.yaml: the same file as part\.yaml, a file of the graph"),
        ("graph.yaml", {}, None, "./new.mdf", r"/?new\.mdf: the same file as (/.*/)?new\.mdf"),
        ("geometry.yaml", {"geometry": "geo"}, None, "geo", r"velo_geometry\.bin: the same file as geo/velo_.*, which"),
    ]
    for graph, settings, files, output, message in cases:
        with pytest.raises(sluice.Error, match=message):
            for _ in sluice.Graph(graph, set=settings).run(files, n=1, output=output):
                pass
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    output = tmp_path / "private.mdf"
    output.touch(0o600)
    for _ in sluice.Graph("copy.yaml").run(n=1, output=output):
        pass
    assert output.stat().st_size > 0 and output.stat().st_mode & 0o777 == 0o600


# ------------------------------------------------------------------------------------- options that are empty or wrong


@pytest.mark.parametrize("files", [[], (), iter([])])
def test_an_empty_list_of_files_is_refused(tracks, files):
    """None would run the graph's own source."""
    with pytest.raises(ValueError, match="list of input files is empty"):
        tracks.run(files)


def test_an_empty_list_of_files_is_refused_by_the_library(tracks):
    settings = _session.Settings(input_paths=[])
    with pytest.raises(sluice.GraphError, match="input_paths names no file"):
        tracks._open(settings, _session.Session)


def test_a_pattern_that_matches_nothing_is_an_error(tracks, tmp_path):
    with pytest.raises(sluice.RunError, match="No such file"):
        tracks.run(tmp_path / "*.mdf", warn=False).finish()
    with pytest.raises(sluice.RunError, match="No such file"):
        tracks.run("", warn=False).finish()


@pytest.mark.parametrize("name", ["n", "slots", "slice_events", "source_threads"])
def test_numbers_out_of_range_are_refused(tracks, name):
    for value in (0, -1, 2**64):
        with pytest.raises(ValueError, match=rf"^{name} needs a number from 1 to \d+, not {value}$"):
            tracks.run(**{name: value})
    for value in (1.0, True, "1", np.float32(2), [1]):
        with pytest.raises(TypeError, match=f"^{name} needs a number from 1 to .*, not {re.escape(repr(value))}$"):
            tracks.run(**{name: value})
    tracks.run(**{name: np.uint32(1)}).close()


def test_new_plans_change_no_digest(tracks):
    digests = []
    for replan in (None, "on", "grow", "off"):
        summary = tracks.run(n=40, slice_events=2, replan=replan, digest=True).finish().summary
        assert summary["plan"]["replan"] == (replan or "on")
        digests.append([output["digest"] for output in summary["outputs"]])
    assert digests == digests[:1] * 4
    with pytest.raises(ValueError, match="replan is on, grow or off, not 'maybe'"):
        tracks.run(replan="maybe")


def test_the_memory_of_arenas_has_a_limit(tracks):
    with pytest.raises(sluice.GraphError, match=r"for arenas, and there is 1.00 kB left \(--memory\)"):
        tracks.run(n=2, slice_events=2, memory=1000)


def test_empty_names_are_errors(tracks):
    with pytest.raises(sluice.GraphError, match="No such file"):
        sluice.Graph("").check()
    with pytest.raises(sluice.GraphError):
        sluice.Graph(text="").check()
    with pytest.raises(sluice.GraphError, match="'' is not a device"):
        tracks.run(device="")
    with pytest.raises(sluice.GraphError, match="cannot be written|writes no file"):
        sluice.Graph("simulate.yaml").run(n=1, output="")
    with pytest.raises(TypeError):
        tracks.run(n=1, on_batch=0)


def test_relative_paths_belong_to_the_directory_of_the_call(command, tmp_path, monkeypatch):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    (here / "plugins").mkdir(parents=True)
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    (here / "more.yaml").write_text("sluice: 1\nparameters: { seed: 5 }\n")
    (here / "part.yaml").write_text("sluice: 1\ninclude: [simulate.yaml]\n")
    from_text = sluice.Graph.from_text("sluice: 1\ninclude: [part.yaml]\n")
    from_file = sluice.Graph("part.yaml", with_="more.yaml", plugin_paths="plugins")
    from_file.include("more.yaml")
    monkeypatch.chdir(elsewhere)
    from_text.check()
    from_file.check()
    monkeypatch.chdir(here)
    run = from_text.run(n=2, output="events.mdf")
    monkeypatch.chdir(elsewhere)
    run.finish()
    assert sorted(path.name for path in here.iterdir()) == ["events.mdf", "more.yaml", "part.yaml", "plugins"]
    monkeypatch.chdir(here)
    counts = sluice.Graph("velo_counts.yaml")
    runs = [counts.run(files) for files in ("events.mdf", "*.mdf", sluice.index("events.mdf"))]
    parts = sluice.index("*.mdf")
    monkeypatch.chdir(elsewhere)
    runs.append(counts.run(parts))
    assert [run.finish().summary["events"] for run in runs] == [2, 2, 2, 2]
    assert not list(elsewhere.iterdir())


@pytest.mark.skipif(ctypes.util.find_library("zmq") is None, reason="libzmq is not installed")
def test_a_run_receives_what_another_one_sends(tmp_path):
    endpoint, counts = f"zmq:ipc://{tmp_path}/socket", sluice.Graph("velo_counts.yaml")
    sender = sluice.Graph("simulate.yaml").run(n=20, output=endpoint)
    thread = threading.Thread(target=lambda: [None for _ in sender])
    thread.start()
    run = counts.run(endpoint, senders=1, digest=True)
    events = sum(len(batch) for batch in run)
    thread.join()
    (link,) = run.summary["zmq"]
    assert (events, link["events"], link["ended"], link["missing"]) == (20, 20, 1, 0)
    assert sender.summary["zmq"][0]["unsent"] == 0
    simulated = counts.run(n=20, digest=True)
    assert sum(len(batch) for batch in simulated) == 20
    assert simulated.summary["outputs"][0]["digest"] == run.summary["outputs"][0]["digest"]
    with pytest.raises(sluice.GraphError, match="--until-idle has no effect"):
        counts.run(n=20, until_idle=1)
