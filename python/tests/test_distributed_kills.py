"""Kills workers at random times, and restarts clients, for 50 seeds; -k seed17 runs one of them."""
import os
import random
import signal
import threading

import pytest
from test_distributed import (  # noqa: F401
    check_same,
    client,
    cluster,
    expected,
    files,
    folder,
    graph_of,
    no_thread_stays,
    with_sinks,
)

import sluice.distributed
from distributed import Status
from sluice.distributed._folder import Folder

SEEDS = 50


@pytest.fixture(autouse=True)
def time_is_limited(cluster):  # noqa: F811
    """Fails a run that never ends, and prints the state of the scheduler."""

    def tell(*_):
        scheduler = cluster.scheduler
        states = sorted((task.state, task.key) for task in scheduler.tasks.values())
        raise TimeoutError(f"a run does not end; workers {list(scheduler.workers.values())}, tasks {states}")

    before = signal.signal(signal.SIGALRM, tell)
    signal.alarm(int(os.environ.get("SLUICE_TEST_SECONDS", 120)))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


class Killer:
    """Kills one or all workers, again and again, until its limit or end(); their nannies restart them."""

    def __init__(self, cluster, draw):  # noqa: F811
        self._cluster = cluster
        self._delays = [draw.uniform(0, 0.7) for _ in range(draw.randint(1, 4))]
        self._all = [draw.random() < 0.3 for _ in self._delays]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._kill)
        self.killed = 0

    def _kill(self):
        for delay, all_of_them in zip(self._delays, self._all):
            if self._over.wait(delay):
                return
            alive = [nanny.pid for nanny in self._cluster.workers.values() if nanny.status is Status.running]
            for pid in alive if all_of_them else alive[:1]:
                try:
                    os.kill(pid, signal.SIGKILL)
                    self.killed += 1
                except ProcessLookupError:
                    pass  # it has died already and is not restarted yet

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._over.set()
        self._thread.join()


@pytest.mark.parametrize("seed", [f"seed{i}" for i in range(SEEDS)])
def test_no_event_is_lost_or_counted_twice(cluster, client, files, tmp_path, expected, seed):  # noqa: F811
    draw = random.Random(seed)
    graph = with_sinks(graph_of())
    options = {
        "out": tmp_path,
        "names": {"copy": "taken.mdf", "table": "counts.csv"},
        "events_per_task": draw.randint(1, 8),
        "retries": 100,
    }
    clients = draw.randint(1, 3)
    resumed = []
    with Killer(cluster, draw) as killer:
        for life in range(clients):
            job = sluice.distributed.submit(graph, files, client, **options)
            resumed.append(job.resumed)
            if life < clients - 1:
                killer._over.wait(draw.uniform(0, 0.5))
                job.cancel()
        result = job.result()
    check_same(result, expected, is_same_graph=False)
    assert b"".join(path.read_bytes() for path in result.files["copy"]) == b"".join(path.read_bytes() for path in files)
    lines = [line for path in result.files["table"] for line in path.read_text().splitlines()[1:]]
    assert len(lines) == 94
    left = [path.name for path in Folder(tmp_path).tasks.iterdir() if path.name.startswith(".")]
    print(f"{seed}: {len(result.tasks)} tasks, {killer.killed} workers killed, done before: {resumed}, left: {left}")
