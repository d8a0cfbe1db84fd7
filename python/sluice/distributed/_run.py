"""Makes tasks, submits them to Dask, and collects their results."""
from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from .. import _abi
from .._library import version
from .._session import Session, Settings
from ..errors import Error
from ..graph import Graph, Paths, describe
from ..parts import Files, Part, files_of
from ._dask import distributed
from ._folder import RESULT, Folder, InputFile, Manifest
from ._result import Result, Sums, join, write_report
from ._task import TaskSettings, index_input, run_task

Names = Union[str, Mapping[str, str], None]
SHOWN_MAX = 10  # most failed tasks, or unreadable files, in a message


class TasksFailedError(Error):
    """Tasks failed after all retries. The other tasks are finished, and are not run again by the same call.

    failures: the exception of each failed task, by task number.
    """

    def __init__(self, message: str, failures: dict[int, BaseException] | None = None) -> None:
        super().__init__(message)
        self.failures = failures or {}


# A node in the text of a graph: its name, its algorithm, and the rest of its lines.
_NODE = re.compile(r"^  (\w+):\n    use: ([\w.]+)\n((?:    .*\n)*)", re.MULTILINE)
_PATH = re.compile(r"^    set:\n(?:      .*\n)*?      path: (.*)$", re.MULTILINE)


def _sinks(graph: str, plugin_paths: Paths | None) -> dict[str, str]:
    """The sinks that can write a file, and the path of each in the graph, as YAML."""

    @functools.cache
    def is_sink(algorithm: str) -> bool:
        return bool(describe(algorithm, plugin_paths)["kind"] == "sink")

    nodes = [(node, _PATH.search(rest)) for node, algorithm, rest in _NODE.findall(graph) if is_sink(algorithm)]
    return {node: path[1] for node, path in nodes if path}


def _names(sinks: dict[str, str], given: Names) -> dict[str, str]:
    """The file name of each sink that writes one, in the folder of a task. ValueError for wrong or missing names."""
    if isinstance(given, str):
        if len(sinks) != 1:
            raise ValueError(f"names={given!r} is for a graph with one sink that writes a file, and not {list(sinks)}")
        given = {node: given for node in sinks}
    names = dict(given or {})
    for node in names:
        if node not in sinks:
            raise ValueError(f"names has {node!r}, which is no sink that writes a file; those are {list(sinks)}")
    for node, path in sinks.items():
        if node not in names and path != '""':
            raise ValueError(
                f"every task would write {path}, of the sink {node!r}: give names={{{node!r}: 'tracks.h5'}}, the name of "
                "the file that each task writes"
            )
    for name in names.values():
        if not name or "/" in name or "\0" in name or name == RESULT or name.startswith("."):
            raise ValueError(f"{name!r} is no name for files of a sink: give one like 'tracks.h5', without a folder")
    if len(set(names.values())) != len(names):
        raise ValueError(f"two sinks have the same name: {names}")
    return names


def _manifest(graph: Graph, given: list[Part], names: Names, events_per_task: int) -> Manifest:
    """The manifest, without the index. Opens the graph over the files; GraphError with all errors of the graph."""
    def look(sets: Sequence[str]) -> tuple[Session, Settings]:
        settings = Settings(inspect_only=True, input_paths=given)

        def open_(given: Settings) -> Session:
            given.sets = [*given.sets, *sets]
            return Session(given)

        return graph._open(settings, open_), settings

    session, settings = look([])
    sinks = _sinks(session.graph(False), settings.plugin_paths)
    chosen = _names(sinks, names)
    if chosen:  # paths in the graph do not affect results: leave them out of its digest
        session, settings = look([f'{node}.path=""' for node in chosen])
    summary = json.loads(session.json())
    return Manifest(
        version=version(),
        plugins={plugin["name"]: plugin["version"] for plugin in summary["plugins"]},
        graph_digest=summary["graph_digest"],
        graph=session.graph(False),
        plugin_paths=[os.path.abspath(path) for path in settings.plugin_paths],
        names=chosen,
        has_one_sink=len(sinks) == 1,
        events_per_task=events_per_task,
        files=[InputFile.of(path) for path in dict.fromkeys(part.path for part in given)],
        input=given,
    )


def tasks_of(parts: Sequence[Part], events: int) -> list[list[Part]]:
    """Groups neighbouring parts into tasks of at most `events` events, so that small files share a task."""
    tasks: list[list[Part]] = []
    inside = 0
    for part in parts:
        of_part = part.events or 0
        if tasks and inside + of_part <= events:
            tasks[-1].append(part)
        else:
            tasks.append([part])
            inside = 0
        inside += of_part
    return tasks


def _first_lines(texts: list[str], more: str) -> str:
    shown = texts[:SHOWN_MAX]
    if len(texts) > SHOWN_MAX:
        shown.append(f"{len(texts) - SHOWN_MAX} more {more}")
    return "\n".join(shown)


def _given(files: Files) -> list[Part]:
    """The input with absolute paths: whole files, and parts with their ranges only."""

    def whole(item: str | Part) -> Part:
        path = os.path.abspath(item)
        return Part(path, item.first_byte, item.bytes, item.first_record) if isinstance(item, Part) else Part(path)

    return [whole(item) for item in files_of(files)]


def _index(manifest: Manifest, client: Any, name: str, retries: int) -> list[Part]:
    """The parts of the whole input, found by one task per file or given part. Error with all files that failed."""
    keys = [f"{name}_index-{uuid.uuid4().hex}-{i}" for i in range(len(manifest.input))]
    look = functools.partial(index_input, events=manifest.events_per_task, plugin_paths=manifest.plugin_paths)
    futures = client.map(look, manifest.input, key=keys, retries=retries, pure=False)
    found, wrong = [], []
    for given, future in zip(manifest.input, futures):
        error = future.exception()
        if error is None:
            found += future.result()
        else:
            wrong.append(str(error) if given.path in str(error) else f"{given.path}: {error}")
    if wrong:
        raise Error(_first_lines(wrong, "files could not be read"))
    return found


def _location(parts: list[Part]) -> str:
    first, last = parts[0], parts[-1]
    text = f"{first.path} from byte {first.first_byte} on"
    return text if first is last else f"{text} to {last.path}"


def _begin(folder: Folder, manifest: Manifest, index: Callable[[], list[Part]]) -> tuple[Manifest, list[Part]]:
    """Starts the run or continues it; returns its manifest and the parts of its input."""
    parts = None
    if folder.read_manifest() is None:
        parts = index()
        manifest = folder.begin(manifest, parts)
    else:
        manifest = folder.resume(manifest)
    written = folder.read_index(manifest)
    if written is None:  # a new run, or a client died, or still is, between the manifest and the index
        written = index() if parts is None else parts
        folder.write_index(manifest, written)
    return manifest, written


class Job:
    """A run in progress. futures: futures of the unfinished tasks, for distributed.progress and the like."""

    def __init__(
        self,
        folder: Folder,
        manifest: Manifest,
        tasks: list[list[Part]],
        done: dict[int, dict[str, Any]],
        futures: dict[int, Any],
        client: Any,
    ) -> None:
        self._folder, self._manifest, self._tasks = folder, manifest, tasks
        self._client = client
        self._done: dict[int, dict[str, Any]] = {}
        self._sums = Sums()
        for number, result in done.items():
            self._take(number, result)
        self._numbers = {future.key: number for number, future in futures.items()}
        self.futures: list[Any] = list(futures.values())
        self.resumed = len(done)  # number of tasks that were finished before
        self._result: Result | None = None

    def result(self) -> Result:
        """Waits for all tasks and returns the result. TasksFailedError if tasks failed, after the others are finished;
        Error if every event has an error.
        """
        if self._result is None:
            failures = self._collect()
            if failures:
                raise TasksFailedError(self._why(failures), failures)
            tasks = [self._done[number] for number in range(len(self._tasks))]
            result = join(self._folder, self._manifest, tasks, self._sums)
            write_report(self._folder, result)
            self._folder.clean()
            if result.events and result.error_events == result.events:
                raise Error(f"every event has an error:\n{result}")
            self._result = result
        return self._result

    def cancel(self) -> None:
        """Cancels tasks that no worker has started. The same call of submit() continues from the finished tasks."""
        self._client.cancel(self.futures)

    def _take(self, number: int, result: dict[str, Any]) -> None:
        self._sums.take(result)
        self._done[number] = result

    def _collect(self) -> dict[int, BaseException]:
        failures: dict[int, BaseException] = {}
        try:
            for future in distributed().as_completed(self.futures):
                number = self._numbers[future.key]
                if number in self._done:  # by an earlier call of result(), which failed
                    continue
                try:
                    self._take(number, future.result())
                except (Exception, concurrent.futures.CancelledError) as error:
                    failures[number] = error
        except BaseException:
            self.cancel()
            raise
        return failures

    def _why(self, failures: dict[int, BaseException]) -> str:
        texts = [
            f"task {number}, {_location(self._tasks[number])}: {type(error).__name__}: {error}"
            for number, error in sorted(failures.items())
        ]
        return (
            f"{len(failures)} of {len(self._tasks)} tasks failed; the others are done, and the same call runs these "
            f"alone:\n{_first_lines(texts, 'tasks failed')}"
        )


def submit(
    graph: Graph,
    files: Files,
    client: Any,
    *,
    out: str | os.PathLike[str],
    events_per_task: int = 10000,
    names: Names = None,
    device: str | None = None,
    slots: int | None = None,
    slice_events: int | None = None,
    source_threads: int | None = None,
    retries: int = 2,
    resources: Mapping[str, float] | None = None,
) -> Job:
    """Starts a run with the arguments of run(), and returns without waiting for the tasks; Job.result() waits."""
    if getattr(client, "asynchronous", False):
        raise ValueError("the client is asynchronous: give one that is not")
    if events_per_task < 1:
        raise ValueError(f"events_per_task is {events_per_task}; it must be 1 or more")
    given = _given(files)
    if not given:
        raise ValueError("there are no files")
    settings = TaskSettings(device, slots or 0, slice_events or 0, source_threads or 0)
    folder = Folder(os.path.abspath(out))
    folder.check()
    manifest = _manifest(graph, given, names, events_per_task)
    name = pathlib.PurePath(graph._path or "graph").stem
    manifest, parts = _begin(folder, manifest, functools.partial(_index, manifest, client, name, retries))
    tasks = tasks_of(parts, events_per_task)
    folder.check_tasks(len(tasks))
    done = {
        number: result
        for number, of_task in enumerate(tasks)
        if (result := folder.done(number, manifest.key, of_task)) is not None
    }
    missing = [number for number in range(len(tasks)) if number not in done]
    # Unique keys: Dask must not share tasks with another call, even of the same run.
    keys = [f"{name}-{uuid.uuid4().hex}-{number}" for number in missing]
    run_one = functools.partial(_run_numbered, str(folder.path), manifest.key, settings=settings)
    futures = client.map(
        run_one,
        missing,
        [tasks[number] for number in missing],
        key=keys,
        retries=retries,
        pure=False,
        resources=dict(resources) if resources else None,
    )
    return Job(folder, manifest, tasks, done, dict(zip(missing, futures)), client)


def _run_numbered(path: str, key: str, number: int, parts: list[Part], settings: TaskSettings) -> dict[str, Any]:
    return run_task(path, key, number, parts, settings)


def run(graph: Graph, files: Files, client: Any, **options: Any) -> Result:
    """Runs a graph over files on the workers of a Dask cluster.

    files: files, patterns and parts of files, as of Graph.run. events_per_task: at most so many events per task, except
    where one part has more. out: the run's folder, shared by the client and all workers under one name; the same call
    continues a run that ended early. names: the file name of each sink that writes one, {"write": "tracks.h5"}, or one
    name for the only sink; each task writes such a file, OUT/tasks/000012/tracks.h5. device, slots, slice_events,
    source_threads: of each task, as of Graph.run. retries: how often a failed task is run again. resources: the worker
    resources that a task needs, {"GPU": 1}.

    Digests, counts, totals and histograms are those of one run over all files. TasksFailedError if tasks failed.
    """
    return submit(graph, files, client, **options).result()
