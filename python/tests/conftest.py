"""Fixtures. The tests compare the library that SLUICE_LIBRARY names with the command that SLUICE_COMMAND names."""
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest

import sluice

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_configure(config):
    for name in ("SLUICE_LIBRARY", "SLUICE_COMMAND"):
        if not os.environ.get(name):
            pytest.exit(f"{name} is not set", returncode=2)


def threads_end(allowed=None):
    """The number of threads of this process, including the library's. Waits at most 2 s until there are at most
    `allowed`, since a joined thread may still exist for a moment."""
    for _ in range(200):
        count = len(os.listdir("/proc/self/task"))
        if allowed is None or count <= allowed:
            break
        time.sleep(0.01)
    return count


def endless(tracks, **options):
    """A run that is too long for a test to wait for."""
    return tracks.run(n=20000, slots=2, slice_events=2, **options)


def in_child(function):
    """The result of `function` in a forked child, as text. The child is killed after 20 s."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os.write(writing, str(function()).encode())
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, f"the child had to be ended; it wrote {text!r}"
    return text


@pytest.fixture(autouse=True)
def no_thread_stays():
    """Each test must end the threads that it started."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@pytest.fixture
def command():
    """A function that runs the command with its arguments and returns the standard output; the command must succeed."""

    def call(*arguments, **options):
        done = subprocess.run(
            [os.environ["SLUICE_COMMAND"], *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


@pytest.fixture(scope="session")
def tracks():
    """The graph of VELO tracks, without the check against truth, which would take most of the time."""
    return sluice.Graph("common/velo_tracks.yaml", set={"seed": 3}, with_=[_outputs()])


def _outputs():
    path = pathlib.Path(os.environ["SLUICE_TEST_SCRATCH"]) / "outputs.yaml"
    path.write_text("sluice: 1\noutputs: [tracks, fit.end_states]\n")
    return path


@pytest.fixture(scope="session", autouse=True)
def scratch(tmp_path_factory):
    os.environ["SLUICE_TEST_SCRATCH"] = str(tmp_path_factory.mktemp("scratch"))
