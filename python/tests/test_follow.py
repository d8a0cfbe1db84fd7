"""A followed folder as input: the results are those of the files, bad files are warnings, and the wait can be interrupted."""
import os
import pathlib
import signal
import struct
import threading
import time

import numpy as np
import pytest

import sluice

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def lists():
    return sluice.Graph(ROOT / "tests/records/lists.yaml", plugin_paths=[os.environ["SLUICE_TEST_PLUGINS"]])


def content(first, count):
    """A file of the source in tests/records: records without items."""
    return b"LISTS1" + struct.pack("<HI", 1, 1) + b"".join(struct.pack("<III", 12, first + n, 0) for n in range(count))


def test_files_are_processed_in_order_and_moved(lists, tmp_path):
    folder, done = tmp_path / "in", tmp_path / "done"
    folder.mkdir()
    done.mkdir()
    (folder / "b").write_bytes(content(10, 5))

    def arrive():
        while not (done / "b").exists():
            time.sleep(0.01)
        (tmp_path / "new").write_bytes(content(20, 3))
        (tmp_path / "new").rename(folder / "c")

    writer = threading.Thread(target=arrive)
    writer.start()
    run = lists.run(follow=sluice.Follow(folder, done=done, until_idle=0.5), slice_events=2)
    numbers = np.concatenate([batch.events.number.copy() for batch in run])
    writer.join()
    assert list(numbers) == [10, 11, 12, 13, 14, 20, 21, 22]
    assert sorted(os.listdir(done)) == ["b", "c"]
    assert run.summary["follow"] == {
        "folder": str(folder), "taken": 2, "refused": 0, "late": 0, "waiting": 0, "moved": 2
    }


def test_bad_files_are_left_out_with_a_warning(lists, tmp_path):
    for name, text in {"a": b"no lists", "b": content(0, 4), "c": b"no lists", "d": b"text"}.items():
        (tmp_path / name).write_bytes(text)
    with pytest.warns(sluice.SluiceWarning) as warnings:
        run = lists.run(follow=sluice.Follow(tmp_path, pattern="[a-c]", until_idle=0.05))
        assert sum(len(batch) for batch in run) == 4
    texts = [str(warning.message) for warning in warnings]
    assert any("/a ends after 8 of the 12 bytes" in text for text in texts)
    assert any("/c: not recognised by lists.source" in text for text in texts)
    assert run.summary["follow"]["refused"] == 2


def test_the_wait_for_the_first_file_ends(lists, tmp_path):
    with pytest.raises(TimeoutError, match="no file arrived in"):
        lists.run(follow=sluice.Follow(tmp_path, until_idle=0.05))
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        lists.run(follow=sluice.Follow(tmp_path))
    timer.join()


def test_what_is_wrong_is_refused(lists, tmp_path):
    (tmp_path / "a").write_bytes(content(0, 4))
    with pytest.raises(sluice.GraphError, match="is the followed folder"):
        lists.run(follow=sluice.Follow(tmp_path, done=tmp_path))
    with pytest.raises(sluice.GraphError, match="No such file or directory"):
        lists.run(follow=sluice.Follow(tmp_path / "none"))
    with pytest.raises(ValueError, match="complete is rename or close, not 'now'"):
        sluice.Follow(tmp_path, complete="now")
    with pytest.raises(ValueError, match="until_idle is 0"):
        sluice.Follow(tmp_path, until_idle=0)
    with pytest.raises(TypeError, match="has no other files"):
        lists.run(tmp_path / "a", follow=sluice.Follow(tmp_path))
    lists.set("sums.tmies", 2)
    with pytest.raises(sluice.GraphError, match="did you mean times"):
        lists.run(follow=sluice.Follow(tmp_path))


def test_a_run_continues_at_its_checkpoint(lists, tmp_path, monkeypatch):
    """Files that an earlier run has processed are not read again."""
    folder = tmp_path / "in"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    lists.node("write", "output.csv_sink", output="sums")

    def numbers(name, first, count):
        (folder / name).write_bytes(content(first, count))
        options = {"output": "out-%04d.csv", "rotate": "1h", "checkpoint": "kept", "resume": True}
        run = lists.run(follow=sluice.Follow(folder, until_idle=0.1), **options)
        return [int(number) for batch in run for number in batch.events.number], run.summary["events"]

    assert numbers("a", 10, 3) == ([10, 11, 12], 3)
    assert numbers("b", 20, 2) == ([20, 21], 5)
    (tmp_path / "kept").write_text("sluice checkpoint 1\n")
    with pytest.raises(sluice.GraphError, match="kept: not a whole checkpoint"):
        numbers("c", 30, 1)
