"""Runs over several processes by Dask give the results of one run, also after failures of workers, disks and files."""
import concurrent.futures
import dataclasses
import json
import os
import resource
import shutil
import signal
import threading

import dask
import distributed
import numpy as np
import pytest

import sluice.distributed
from sluice.distributed import _run, _task
from sluice.distributed._folder import Folder, write_whole
from sluice.parts import Part

EVENTS = 15  # events per task


@pytest.fixture(autouse=True)
def no_thread_stays():
    """Replaces the fixture of conftest.py: the cluster's threads stay until the last test."""


@pytest.fixture(scope="module")
def cluster():
    # LocalCluster removes a worker that is missing this long after it was first lost, also if it died again.
    settings = {"distributed.scheduler.allowed-failures": 100, "distributed.deploy.lost-worker-timeout": "1 hour"}
    with dask.config.set(settings):
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster:
            yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("input")


@pytest.fixture(scope="module")
def files(folder):
    """Three files of simulated events; the last one is smaller than a task."""
    paths = []
    for seed, events in ((1, 50), (2, 40), (3, 4)):
        path = folder / f"{seed}.mdf"
        for _ in sluice.Graph("simulate.yaml", set={"seed": seed}).run(n=events, output=path):
            pass
        paths.append(path)
    return paths


def graph_of(**options):
    graph = sluice.Graph("common/velo_tracks.yaml", **options)
    counts = graph.node("counts", "velo.count_tracks")
    busy = graph.node("busy", "generic.filter", of=counts.tracks, minimum=200)
    graph.node("lists", "generic.gather_lists", in_={"lists": ["busy"]})
    graph.node("number", "generic.histogram", of=counts.tracks, bins=50, lower=0, upper=500)
    graph.output("tracks", "counts", busy, "number", "lists.totals")
    return graph


def with_sinks(graph):
    graph.node("copy", "io.mdf_sink", path="taken.mdf")
    graph.node("table", "output.csv_sink", output="counts")
    return graph


def whole(graph, files, **options):
    """The result of one run over all files."""
    run = graph.run(files, digest=True, warn=False, **options)
    for _ in run:
        pass
    return run


def check_same(result, run, is_same_graph=True):
    summary = run.summary
    assert result.events == summary["events"] and result.error_events == summary["error_events"]
    assert [(o["port"], o["items"], o["digest"]) for o in summary["outputs"]] == [
        (port, result.items[port], digest) for port, digest in result.digests.items()
    ]
    assert result.totals.keys() == run.totals.keys()
    for port, fields in run.totals.items():
        for name, values in fields.items():
            assert np.array_equal(result.totals[port][name], values) and result.totals[port][name].dtype == values.dtype
    assert result.histograms.keys() == run.histograms.keys() >= {"number", "lists.totals.events"}
    for name, histogram in run.histograms.items():
        assert np.array_equal(result.histograms[name].all_counts, histogram.all_counts)
        assert result.histograms[name].axes == histogram.axes and result.histograms[name].title == histogram.title
    assert result.errors == summary["errors"] and result.truncations == summary["truncations"]
    if is_same_graph:
        assert result.graph_digest == summary["graph_digest"]


@pytest.fixture(scope="module")
def expected(files):
    return whole(graph_of(), files)


def test_tasks_give_the_result_of_one_run(client, files, tmp_path, expected):
    graph = with_sinks(graph_of())
    result = sluice.distributed.run(
        graph, files, client, out=tmp_path / "out", events_per_task=EVENTS,
        names={"copy": "taken.mdf", "table": "counts.csv"},
    )
    theirs = sluice.Graph.from_text(json.loads((tmp_path / "out/manifest.json").read_text())["graph"])
    theirs.set("table.path", tmp_path / "counts.csv")
    check_same(result, whole(theirs, files, output=tmp_path / "taken.mdf"), is_same_graph=False)
    assert result.digests == {o["port"]: o["digest"] for o in expected.summary["outputs"]}
    # The last 10 events of the second file and the 4 events of the third one share a task.
    assert [task["events"] for task in result.tasks] == [15, 15, 15, 5, 15, 15, 14]
    # The files of a sink, one after the other, equal the file of one run.
    assert b"".join(path.read_bytes() for path in result.files["copy"]) == (tmp_path / "taken.mdf").read_bytes()
    tables = [path.read_text().splitlines() for path in result.files["table"]]
    joined = tables[0][:1] + [line for table in tables for line in table[1:]]
    assert joined == (tmp_path / "counts.csv").read_text().splitlines()
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert (report["events"], report["outputs"][0]["digest"]) == (94, result.digests["tracks"])
    assert "94 events, 0 with errors" in str(result)
    assert result.tasks[0]["results"]["table"]["path"] == str(result.files["table"][0])
    assert [entry.name for entry in (tmp_path / "out/tasks").iterdir() if entry.name.startswith(".")] == []


@pytest.mark.parametrize("events", [7, 1000])
def test_any_split_has_the_same_digest(client, files, tmp_path, expected, events):
    check_same(sluice.distributed.run(graph_of(), files, client, out=tmp_path, events_per_task=events), expected)


def workers(client):
    return list(client.run(os.getpid).values())


def test_a_killed_worker_loses_nothing(client, files, tmp_path, expected):
    job = sluice.distributed.submit(graph_of(), files, client, out=tmp_path, events_per_task=4)
    next(iter(distributed.as_completed(job.futures)))
    os.kill(workers(client)[0], signal.SIGKILL)
    check_same(job.result(), expected)
    client.wait_for_workers(2, timeout=30)


def test_a_run_continues_with_unfinished_tasks(client, files, tmp_path, expected):
    """As after the death of the client: Dask forgets its tasks; finished tasks are not run again."""
    options = {"out": tmp_path / "out", "events_per_task": EVENTS}
    job = sluice.distributed.submit(graph_of(), files, client, **options)
    next(iter(distributed.as_completed(job.futures)))
    job.cancel()
    del job
    folder = Folder(tmp_path / "out")
    left = folder.tasks / ".000000.somewhere.killed"
    left.mkdir()
    done = {path: path.stat().st_mtime_ns for path in folder.tasks.glob("[0-9]*/result.json")}
    job = sluice.distributed.submit(graph_of(), files, client, **options)
    assert job.resumed >= len(done) > 0
    check_same(job.result(), expected)
    assert {path: path.stat().st_mtime_ns for path in done} == done and not left.exists()

    job = sluice.distributed.submit(graph_of(), files, client, **options)
    assert job.futures == []
    check_same(job.result(), expected)
    check_same(job.result(), expected)


def test_another_run_in_the_same_folder_is_refused(client, files, tmp_path):
    options = {"out": tmp_path / "out", "events_per_task": EVENTS}
    copies = [shutil.copy(path, tmp_path) for path in files[:2]]
    sluice.distributed.run(graph_of(), copies, client, **options)

    def refused(match, graph=None, paths=copies, **changed):
        with pytest.raises(sluice.Error, match=match):
            sluice.distributed.submit(graph or graph_of(), paths, client, **{**options, **changed})

    refused("events_per_task was 15, and is 16", events_per_task=16)
    refused("graph was .*, and is .*max_scatter: 0.08; .*max_scatter: 0.1", graph_of(set={"search.max_scatter": 0.1}))
    refused("there were 2 files, and are 1", paths=copies[:1])
    refused("1.mdf was read, and not .*2.mdf", paths=copies[::-1])
    os.utime(copies[1], ns=(1, 1))
    refused("2.mdf was changed: its time was .* and is 1 ns")
    with open(copies[1], "ab") as file:
        file.write(b"more")
    refused(r"2.mdf had \d+ bytes, and has \d+")
    (tmp_path / "out/manifest.json").write_text("{")
    refused("manifest.json: is no manifest of a run")


def records_of(path):
    """The first byte of each record of a file, and the end of the last record."""
    data, at = path.read_bytes(), [0]
    while at[-1] < len(data):
        at.append(at[-1] + int.from_bytes(data[at[-1] : at[-1] + 4], "little"))
    return at


def test_only_the_bytes_of_parts_are_read(client, files, tmp_path, expected):
    """Parts of index(), parts that are cut further, and parts that have only a byte range."""
    for events, per_task in ((12, 12), (30, 8), (3, 1000)):
        parts = sluice.index(files, events)
        result = sluice.distributed.run(graph_of(), parts, client, out=tmp_path / str(events), events_per_task=per_task)
        check_same(result, expected)
    at = records_of(files[0])
    five = [Part(str(files[0]), at[i], at[i + 10] - at[i]) for i in range(0, 50, 10)]
    result = sluice.distributed.run(graph_of(), five, client, out=tmp_path / "five", events_per_task=10)
    check_same(result, whole(graph_of(), files[:1]))
    assert len(result.tasks) == 5
    some = [five[3], five[1]]
    options = {"out": tmp_path / "some", "events_per_task": 10}
    result = sluice.distributed.run(graph_of(), some, client, **options)
    check_same(result, whole(graph_of(), some))
    assert result.events == 20
    with pytest.raises(sluice.Error, match=f"from byte {at[30]} to byte {at[40]} was read, and not .* byte {at[10]} to"):
        sluice.distributed.submit(graph_of(), some[::-1], client, **options)
    with pytest.raises(sluice.Error, match="was read, and not no further part"):
        sluice.distributed.submit(graph_of(), some[:1], client, **options)
    for wrong in (Part(str(files[0]), 4), Part(str(files[0]), 0, at[1] + 4), Part(str(files[0]), at[-1])):
        with pytest.raises(sluice.Error, match="1.mdf: no record (begins|ends) at byte"):
            sluice.distributed.submit(graph_of(), wrong, client, out=tmp_path / "wrong")
    assert not (tmp_path / "wrong/manifest.json").exists()


def test_a_changed_index_is_an_error(client, files, tmp_path, expected):
    options = {"out": tmp_path, "events_per_task": EVENTS}
    sluice.distributed.run(graph_of(), files, client, **options)
    index = tmp_path / "index.jsonl"
    lines = index.read_text().splitlines(keepends=True)
    for changed in (lines[1:], lines + lines[-1:], lines[::-1], [], ["{}\n"], [lines[0].replace("15", "16")]):
        index.write_text("".join(changed))
        with pytest.raises(sluice.Error, match=f"index.jsonl: was changed: it has {len(changed)} lines, and 8 parts"):
            sluice.distributed.submit(graph_of(), files, client, **options)
    index.unlink()
    job = sluice.distributed.submit(graph_of(), files, client, **options)
    assert job.futures == [] and index.read_text() == "".join(lines)
    check_same(job.result(), expected)


def test_results_of_other_tasks_are_errors(client, files, tmp_path, expected):
    options = {"out": tmp_path / "out", "events_per_task": EVENTS}
    sluice.distributed.run(graph_of(), files, client, **options)
    sluice.distributed.run(graph_of(set={"search.max_scatter": 0.1}), files, client, **{**options, "out": tmp_path / "b"})
    tasks = tmp_path / "out/tasks"
    first, second = (tasks / number / "result.json" for number in ("000000", "000001"))
    kept = first.read_text()

    def refused(match):
        with pytest.raises(sluice.Error, match=match):
            sluice.distributed.submit(graph_of(), files, client, **options)

    for text, match in [
        (second.read_text(), "000000/result.json: is the result of another task, 1; without .*000000 the task is run again"),
        (second.read_text().replace('"task": 1', '"task": 0'), "is the result of another task, 0"),
        ((tmp_path / "b/tasks/000000/result.json").read_text(), "000000/result.json: is the result of another run"),
        ("{}", "is no result of a task"),
        ("[]", "is no result of a task"),
        ("", "is no result of a task"),
    ]:
        first.write_text(text)
        refused(match)
    first.unlink()
    refused("000000/result.json: is not there any more")
    first.write_text(kept)
    for name in ("000007", "000001.copy", "1"):
        shutil.copytree(tasks / "000000", tasks / name)
        refused(rf"tasks: {name} is the folder of none of the 7 tasks of the run; remove it")
        shutil.rmtree(tasks / name)
    check_same(sluice.distributed.run(graph_of(), files, client, **options), expected)
    shutil.rmtree(tasks)
    refused("tasks: is not there any more, and had the results")


def test_an_out_that_is_not_a_folder_is_an_error(client, files, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nothing")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/tasks").touch()
    for out, wrong in (("file", "file"), ("link", "link"), ("folder", "folder/tasks")):
        with pytest.raises(sluice.Error, match=f"{wrong}: is no folder; `out` is a folder"):
            sluice.distributed.run(graph_of(), files, client, out=tmp_path / out)


def test_missing_results_are_errors(client, files, tmp_path):
    graph = with_sinks(graph_of())
    options = {"out": tmp_path, "names": {"copy": "taken.mdf", "table": "counts.csv"}, "events_per_task": EVENTS}
    result = sluice.distributed.run(graph, files[:1], client, **options)
    result.files["table"][1].write_text("run,event\n")
    with pytest.raises(sluice.Error, match=r"000001/counts.csv: has 10 bytes, and had \d+ when the task was done"):
        sluice.distributed.submit(graph, files[:1], client, **options)
    shutil.rmtree(result.files["table"][1].parent)
    job = sluice.distributed.submit(graph, files[:1], client, **options)
    assert len(job.futures) == 1
    assert job.result().digests == result.digests


def test_damaged_events_are_counted_and_named(client, files, tmp_path):
    damaged = tmp_path / "damaged.mdf"
    data = bytearray(files[0].read_bytes())
    data[len(data) // 2 : len(data) // 2 + 8] = b"\xff" * 8  # in the body of an event: its checksum is wrong
    damaged.write_bytes(data[:-100])
    paths = [files[1], damaged, files[2]]
    result = sluice.distributed.run(graph_of(), paths, client, out=tmp_path / "out", events_per_task=EVENTS)
    run = whole(graph_of(), paths)
    check_same(result, run)
    assert result.error_events == 2 and {e["first"]["file"] for e in result.errors} == {str(damaged)}
    assert sum("damaged.mdf" in message for message in result.messages) >= 2
    assert str(damaged) in str(result)


def test_a_file_with_only_damaged_events_does_not_fail_a_run_with_good_ones(client, files, tmp_path):
    """Tasks with only damaged events succeed; a run with only damaged events fails."""
    data = bytearray(files[2].read_bytes())
    at = 0
    while at < len(data):  # each record's checksum
        data[at + 12] ^= 255
        at += int.from_bytes(data[at : at + 4], "little")
    damaged = tmp_path / "damaged.mdf"
    damaged.write_bytes(data)
    paths = [damaged, files[1]]
    result = sluice.distributed.run(graph_of(), paths, client, out=tmp_path / "out", events_per_task=4)
    check_same(result, whole(graph_of(), paths))
    assert result.error_events == 4
    with pytest.raises(sluice.Error, match="every event has an error"):
        sluice.distributed.run(graph_of(), damaged, client, out=tmp_path / "other")


def test_unreadable_files_are_refused_before_any_task(client, files, tmp_path):
    junk = tmp_path / "junk.mdf"
    junk.write_bytes(b"Z" * 100000)
    for wrong in (junk, tmp_path / "none.mdf"):
        with pytest.raises((sluice.Error, OSError), match=wrong.name):
            sluice.distributed.run(graph_of(), [files[0], wrong], client, out=tmp_path / "out")
    assert not (tmp_path / "out/manifest.json").exists()


def limit(bytes):
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@pytest.mark.filterwarnings("ignore")
def test_tasks_that_failed_on_a_full_disk_run_when_there_is_room(client, files, tmp_path):
    graph = with_sinks(graph_of())
    names = {"copy": "taken.mdf", "table": "counts.csv"}
    options = {"out": tmp_path / "out", "names": names, "events_per_task": EVENTS}
    client.run(limit, 1 << 20)
    try:
        with pytest.raises(sluice.distributed.TasksFailedError, match="File too large") as failed:
            sluice.distributed.run(graph, files, client, retries=1, **options)
    finally:
        client.run(limit, resource.RLIM_INFINITY)
    # The last task has four events, which fit on the disk.
    done = len(list((tmp_path / "out/tasks").glob("[0-9]*")))
    assert 0 < done < 8 and len(failed.value.failures) >= 6
    assert not list((tmp_path / "out/tasks").glob(".*"))
    assert "the same call runs these alone" in str(failed.value) and "1.mdf from byte 0 on" in str(failed.value)
    job = sluice.distributed.submit(graph, files, client, **options)
    assert job.resumed == done
    result = job.result()
    assert b"".join(path.read_bytes() for path in result.files["copy"]) == b"".join(p.read_bytes() for p in files)


# ------------------------------------------------------------------------------------- a task alone, without Dask


def index_of(manifest, events=EVENTS):
    return [part for given in manifest.input for part in _task.index_input(given, events, [])]


@pytest.fixture
def begun(files, tmp_path):
    """The folder, manifest and tasks of a run that has begun."""
    manifest = _run._manifest(graph_of(), [Part(str(files[0]))], None, EVENTS)
    folder = Folder(tmp_path / "out")
    manifest, parts = _run._begin(folder, manifest, lambda: index_of(manifest))
    yield folder, manifest, _run.tasks_of(parts, EVENTS)
    _task._manifest.cache_clear()


def run_one(begun, number=0):
    folder, manifest, tasks = begun
    return _task.run_task(str(folder.path), manifest.key, number, tasks[number], _task.TaskSettings())


def test_concurrent_attempts_at_a_task_count_once(begun, monkeypatch):
    """Both attempts are complete before either is committed."""
    folder = begun[0]
    meet = threading.Barrier(2, timeout=20)
    commit = Folder.commit

    def commit_together(*arguments):
        meet.wait()
        return commit(*arguments)

    monkeypatch.setattr(Folder, "commit", commit_together)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first, second = [pool.submit(run_one, begun) for _ in range(2)]
        assert first.result() == second.result() == folder.done(0, begun[1].key, begun[2][0])
    assert [entry.name for entry in folder.tasks.iterdir()] == ["000000"]


def test_a_late_attempt_takes_the_existing_result(begun, monkeypatch):
    """Its folder was removed, since the run ended without it."""
    folder = begun[0]
    theirs = run_one(begun)
    parked = folder.path / "parked"
    folder.task(0).rename(parked)
    run = _task._run

    def run_and_clean(*arguments):
        result = run(*arguments)
        parked.rename(folder.task(0))
        folder.clean()
        return result

    monkeypatch.setattr(_task, "_run", run_and_clean)
    assert run_one(begun) == theirs


def test_workers_need_the_folder_and_version_of_the_client(begun, monkeypatch, tmp_path):
    folder, manifest, tasks = begun

    def refused(match, path=folder.path, key=manifest.key):
        _task._manifest.cache_clear()
        with pytest.raises(sluice.Error, match=match):
            _task.run_task(str(path), key, 0, tasks[0], _task.TaskSettings())

    refused("has no manifest.json: it must be a folder", path=tmp_path / "elsewhere")
    refused("is the folder of another run", key="0" * 64)
    monkeypatch.setattr(_task, "version", lambda: "0.0.1, commit 123")
    refused(r"this worker has Sluice 0.0.1, commit 123, and the client")
    monkeypatch.undo()
    changed = dataclasses.replace(manifest.files[0], bytes=7)
    monkeypatch.setattr(_task.InputFile, "of", lambda path: changed)
    refused(r"1.mdf had \d+ bytes, and has 7: input must stay as it was")
    assert not list(folder.tasks.iterdir())


def test_the_second_of_two_clients_with_different_tasks_is_refused(files, tmp_path, monkeypatch):
    """Both clients have indexed the files before either writes the manifest. The refused client changes nothing."""
    folder = Folder(tmp_path / "out")
    manifests = [_run._manifest(graph_of(), [Part(str(files[0]))], None, events) for events in (10, 7)]
    meet = threading.Barrier(2, timeout=20)

    def begin(manifest):
        def index():
            parts = index_of(manifest, manifest.events_per_task)
            meet.wait()
            return parts

        return _run._begin(folder, manifest, index)

    for _ in range(5):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            begun = [pool.submit(begin, manifest) for manifest in manifests]
        [winner] = [future.result() for future in begun if future.exception() is None]
        [error] = [future.exception() for future in begun if future.exception() is not None]
        assert "events_per_task was" in str(error) and "is the folder of another run" in str(error)
        assert folder.read_manifest() == winner[0] and folder.read_index(winner[0]) == winner[1]
        assert sum(part.events for part in winner[1]) == 50
        shutil.rmtree(folder.path)


def test_a_client_that_dies_before_the_index_loses_nothing(begun, files):
    folder, manifest, tasks = begun
    folder.index.unlink()
    given = _run._manifest(graph_of(), [Part(str(files[0]))], None, EVENTS)
    with pytest.raises(sluice.Error, match="index.jsonl: is not there, and the files have other parts now, 1 of them"):
        _run._begin(folder, given, lambda: index_of(given, 1000))
    again, parts = _run._begin(folder, given, lambda: index_of(given))
    assert again == manifest and _run.tasks_of(parts, EVENTS) == tasks and folder.read_index(manifest) == parts


def test_names_of_sinks_are_checked():
    unset = '""'
    assert _run._names({"write": unset}, "t.h5") == {"write": "t.h5"}
    assert _run._names({"write": unset}, None) == _run._names({}, None) == {}
    for sinks, given, match in [
        ({"write": "t.h5"}, None, r"every task would write t.h5, of the sink 'write': give names=\{'write': 'tracks"),
        ({"write": unset}, {"wrote": "t.h5"}, r"'wrote', which is no sink that writes a file; those are \['write'\]"),
        ({"a": unset, "b": unset}, "t.h5", "for a graph with one sink"),
        ({"a": unset, "b": unset}, {"a": "t.h5", "b": "t.h5"}, "two sinks have the same name"),
        ({"write": unset}, "../t.h5", "no name for files of a sink"),
        ({"write": unset}, "result.json", "no name for files of a sink"),
    ]:
        with pytest.raises(ValueError, match=match):
            _run._names(sinks, given)
    with_paths = _run._sinks(with_sinks(graph_of()).yaml(), None)
    assert with_paths == {"copy": '"taken.mdf"', "table": '""'}
    with pytest.raises(ValueError, match="events_per_task is 0"):
        sluice.distributed.run(graph_of(), "x.mdf", None, out="out", events_per_task=0)


def test_small_parts_share_a_task():
    parts = [Part("f", i, 1, i, events, 0) for i, events in enumerate([5, 5, 1, 12, 0, 9, 1])]
    assert [[p.events for p in task] for task in _run.tasks_of(parts, 10)] == [[5, 5], [1], [12], [0, 9, 1]]


def test_files_and_folders_have_the_modes_of_the_umask_and_of_replaced_files(tmp_path):
    before = os.umask(0o027)
    try:
        path = tmp_path / "index.jsonl"
        write_whole(path, "new")
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o604)
        write_whole(path, "newer")
        assert path.stat().st_mode & 0o777 == 0o604 and path.read_text(encoding="utf-8") == "newer"
        with pytest.raises(FileExistsError):
            write_whole(path, "other", replace=False)
        folder = Folder(tmp_path)
        folder.tasks.mkdir()
        with folder.attempt(3) as place:
            assert place.stat().st_mode & 0o777 == 0o750
        assert sorted(child.name for child in tmp_path.iterdir()) == ["index.jsonl", "tasks"]
        assert not list(folder.tasks.iterdir())
    finally:
        os.umask(before)
