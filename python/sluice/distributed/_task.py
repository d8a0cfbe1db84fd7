"""Tasks, as workers run them, without Dask. A task has the same result wherever and however often it runs."""
from __future__ import annotations

import dataclasses
import functools
import json
import socket
import time
import warnings
from typing import Any

from .. import _abi
from .._library import version
from .._session import Session, Settings
from ..collection import read_schema
from ..errors import Error, RunError, SluiceWarning, failure
from ..histogram import Histogram, read_histograms
from ..totals import read_totals
from ..parts import Part, index
from ._folder import Folder, InputFile, Manifest

MESSAGES_MAX = 100  # messages that the result of a task keeps


@dataclasses.dataclass(frozen=True)
class TaskSettings:
    """Settings of a task that do not change its result; see Settings."""

    device: str | None = None
    slots: int = 0
    slice_events: int = 0
    source_threads: int = 0


@functools.lru_cache(maxsize=4)
def _manifest(path: str, key: str) -> Manifest:
    """The manifest that the client wrote, read once per process. Error if it is missing, of another run, or of another
    version of Sluice.
    """
    host = socket.gethostname()
    manifest = Folder(path).read_manifest()
    if manifest is None:
        raise Error(f"{host}: {path} has no manifest.json: it must be a folder that the client and all workers share")
    if manifest.key != key:
        raise Error(f"{host}: {path} is the folder of another run than the client's: it must be one that all share")
    if manifest.version != version():
        raise Error(f"{host}: this worker has Sluice {version()}, and the client {manifest.version}: install the same")
    return manifest


def index_input(given: Part, events: int, plugin_paths: list[str]) -> list[Part]:
    """The parts of a file or of a part of one. Bad headers are reported when the parts run, not here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SluiceWarning)
        return index(given, events, plugin_paths=plugin_paths)


def _must_be_as_before(manifest: Manifest, parts: list[Part]) -> None:
    paths = {part.path for part in parts}
    for file in manifest.files:
        if file.path in paths:
            now = InputFile.of(file.path)
            if now != file:
                raise Error(f"{socket.gethostname()}: {file.difference(now)}: input must stay as it was")


def _histogram_as_json(histogram: Histogram) -> dict[str, Any]:
    axes = [{**dataclasses.asdict(axis), "names": list(axis.names)} for axis in histogram.axes]
    return {"name": histogram.name, "title": histogram.title, "axes": axes, "all_counts": histogram.all_counts.tolist()}


def _totals_as_json(output: _abi.RunOutput) -> dict[str, Any]:
    totals = read_totals(output)
    fields = {name: {"dtype": values.dtype.str, "values": values.tolist()} for name, values in totals.items()}
    return {"fields": fields, "names": list(totals.names), "label": totals.label}


def _outcome(session: Session) -> dict[str, Any]:
    """The part of a finished run's summary that its result keeps, with messages, totals and histograms."""
    summary = json.loads(session.json())
    kept = ("status", "events", "error_events", "retries", "outputs", "errors", "truncations", "results", "device", "seconds")
    outcome = {name: summary[name] for name in kept}
    outcome["messages"] = [message.text for message in session.messages()[:MESSAGES_MAX]]
    outcome["totals"], outcome["histograms"] = {}, []
    for output in session.outputs():
        name = _abi.decode(output.name)
        if read_schema(output).is_totals:
            outcome["totals"][name] = _totals_as_json(output)
        outcome["histograms"] += map(_histogram_as_json, read_histograms(output))
    return outcome


def _session(manifest: Manifest, parts: list[Part], settings: TaskSettings, attempt: str) -> Session:
    """Opens the graph over the parts, with the files of its sinks in the folder `attempt`."""
    written = {node: f"{attempt}/{name}" for node, name in manifest.names.items()}
    # The only sink gets its file as by `-o`, so that the path is not in the graph that an HDF5 file stores.
    output = next(iter(written.values())) if written and manifest.has_one_sink else None
    return Session(
        Settings(
            graph_path="graph",
            graph_text=manifest.graph,
            plugin_paths=manifest.plugin_paths,
            sets=[] if output else [f"{node}.path={json.dumps(path)}" for node, path in written.items()],
            output_path=output,
            input_paths=parts,
            digest=True,
            **dataclasses.asdict(settings),
        )
    )


def _run(manifest: Manifest, parts: list[Part], settings: TaskSettings, attempt: str) -> dict[str, Any]:
    session = _session(manifest, parts, settings, attempt)
    status = session.run()
    outcome = _outcome(session)
    # A part may have bad events only; Job.result() checks the whole run.
    if outcome["status"] not in ("ok", "all events in error"):
        messages = session.messages()
        name = _abi.ERRORS.get(status, str(status))
        raise RunError(f"{socket.gethostname()}: {failure('the run failed', messages)}", messages, name)
    return outcome


def run_task(path: str, key: str, number: int, parts: list[Part], settings: TaskSettings) -> dict[str, Any]:
    """Runs task `number` of the run in folder `path` and returns its result, or the result of an earlier attempt."""
    folder, manifest = Folder(path), _manifest(path, key)
    done = folder.done(number, key, parts)
    if done is not None:
        return done
    begin = time.time()
    try:
        with folder.attempt(number) as attempt:
            _must_be_as_before(manifest, parts)
            result = _run(manifest, parts, settings, str(attempt))
            _must_be_as_before(manifest, parts)
            for node, name in manifest.names.items():
                if "path" in result["results"].get(node, {}):
                    result["results"][node]["path"] = str(folder.task(number) / name)
            result.update(host=socket.gethostname(), begin=begin, end=time.time(), files=manifest.names)
            return folder.commit(number, key, parts, attempt, result)
    except Exception:
        # Another attempt may have finished first, and the client may have removed this attempt's folder.
        done = folder.done(number, key, parts)
        if done is not None:
            return done
        raise
