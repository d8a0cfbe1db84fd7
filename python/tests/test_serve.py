"""A page of a run: the texts of the server while a loop takes batches, and wrong options."""
import json
import pathlib
import time
import urllib.request

import pytest

import sluice

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def graph():
    return sluice.Graph(ROOT / "graphs/velo.yaml")


def status_of(run):
    with urllib.request.urlopen(run.url + "status.json") as answer:
        return json.load(answer)


def test_the_page_shows_the_run(graph):
    run = graph.run(n=100000, slice_events=4, serve=sluice.Serve())
    end = time.monotonic() + 60
    for _ in run:
        status = status_of(run)
        if status["events"] > 0 or time.monotonic() > end:
            break
    assert status["events"] > 0 and status["state"] == "running"
    run.close()
    assert graph.run(n=1).url is None


def test_wrong_options_are_refused(graph, tmp_path):
    open_file = tmp_path / "token"
    open_file.write_text("0123456789abcdef")
    open_file.chmod(0o644)
    wrong = (
        (sluice.Serve("nowhere"), "port"),
        (sluice.Serve("0.0.0.0:0"), "token"),
        (sluice.Serve(0, token_file=open_file), "mode 600"),
        (sluice.Serve(0, reference=[tmp_path / "absent.json"]), "absent.json"),
        (sluice.Serve(0, alarms=["noise=1"]), "noise=1"),
    )
    for serve, text in wrong:
        with pytest.raises(sluice.GraphError, match=text):
            graph.run(n=1, serve=serve)
