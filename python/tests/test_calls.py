"""Calls from other threads, from functions of the run and from forked children: which end a run, which are refused."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import endless, in_child, threads_end

import sluice
from sluice import _session


# ---------------------------------------------------------------------- calls that cannot wait for the run


def test_close_from_another_thread_ends_the_loop(tracks):
    before = threads_end()
    run = endless(tracks)
    closing = threading.Timer(0.2, run.close)
    for batch in run:
        if closing.ident is None:
            closing.start()  # the first batch has come
    closing.join()
    assert run.summary["interrupted"]
    with pytest.raises(sluice.StateError, match="was closed"):
        iter(run)
    assert threads_end(before) <= before


def test_close_during_finish_raises_an_error(tracks):
    run = endless(tracks)
    closing = threading.Timer(0.2, run.close)
    closing.start()
    for _ in range(2):
        with pytest.raises(sluice.StateError, match="closed before its end"):
            run.finish()
    closing.join()
    open_run = endless(tracks)
    batch = next(open_run)
    open_run.close()
    with pytest.raises(sluice.ExpiredError, match="since its run was closed"):
        batch.tracks


def test_a_function_of_the_run_may_close_it(tracks):
    before = threads_end()
    run = endless(tracks, on_batch=lambda batch: run.close() if batch.first >= 4 else None)
    assert sum(len(batch) for batch in run) >= 4
    assert run.summary["interrupted"] and threads_end(before) <= before


def test_a_function_of_the_run_cannot_request_batches(tracks):
    run = tracks.run(n=4, slice_events=1, on_batch=lambda batch: next(run))
    with pytest.raises(RuntimeError, match="cannot ask for batches"):
        list(run)


def test_an_interrupt_ends_a_run_that_is_starting(tracks, request):
    """While the library opens the session, and while it makes a first batch of many events."""
    theirs = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, theirs))
    main = threading.main_thread().ident
    opening = _session._Opening.open
    for open_ in (lambda self: (time.sleep(1.5), opening(self)), opening):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_session._Opening, "open", open_)
            begin = time.monotonic()
            timer = threading.Timer(0.15, signal.pthread_kill, (main, signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                next(tracks.run(n=100_000, slice_events=1500, slots=1))
            assert time.monotonic() - begin < 1.15
            timer.join()
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join()


# --------------------------------------------------------------------------------------------------- forked children


def test_a_run_is_refused_in_a_forked_child(tracks):
    run = tracks.run(n=16, slice_events=2, slots=2)
    next(run)
    for call in (lambda: next(run), run.finish, lambda: list(run)):
        assert in_child(call).startswith("StateError: this run belongs to process")

    def leaves():
        run.close()
        with run:
            pass
        del globals()["kept_run"]
        gc.collect()
        return "left"

    globals()["kept_run"] = run
    assert in_child(leaves) == "left"
    assert in_child(lambda: len(tracks.arrays(n=3))) == "3"
    assert sum(len(batch) for batch in run) == 14


def test_a_program_that_forks_can_exit(tmp_path):
    script = tmp_path / "fork.py"
    script.write_text(
        """import os, sluice, sys
run = sluice.Graph("velo_counts.yaml").run(n=64, slice_events=8)
next(run)
child = os.fork()
if child == 0:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sum(1 for _ in run))
"""
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["7", "7"], done.stderr


def test_a_child_forked_by_a_function_of_the_run_ends(tracks, capfd):
    children = []

    def forks(batch):
        child = os.fork()
        if child:
            children.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        else:
            signal.alarm(20)

    assert tracks.run(n=2, slice_events=1, on_batch=forks).finish().summary["events"] == 2
    assert children == [1, 1] and "has forked, and returned in the child" in capfd.readouterr().err
