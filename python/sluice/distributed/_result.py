"""Combines the results of tasks in input order."""
from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._library import library
from ..collection import Array
from ..histogram import Axis, Histogram
from ..totals import Totals
from ._folder import Folder, Manifest, write_whole

MESSAGES_MAX = 1000


@dataclasses.dataclass
class Result:
    """The result of a run over all its files.

    events, error_events: counts. items, digests: by output; digests are those of one run over the same files. totals,
    histograms: sums over the run, as of sluice.Run. errors: events with an error, by node and reason, with their count
    and run, event, file and byte of the first one; truncations: events that a node truncated, in the same form. messages: at
    most 1,000 messages. files: files by sink, in input order. tasks: the result of each task, without totals and
    histograms; "results" are the reports of its sinks and checks.
    """

    folder: pathlib.Path
    graph_digest: str
    events: int
    error_events: int
    items: dict[str, int]
    digests: dict[str, str]
    totals: dict[str, Totals]
    histograms: dict[str, Histogram]
    errors: list[dict[str, Any]]
    truncations: list[dict[str, Any]]
    messages: list[str]
    files: dict[str, list[pathlib.Path]]
    tasks: list[dict[str, Any]]

    def report(self) -> dict[str, Any]:
        """The content of report.json: the result without the tasks."""
        return {
            "graph_digest": self.graph_digest,
            "events": self.events,
            "error_events": self.error_events,
            "tasks": len(self.tasks),
            "outputs": [
                {"port": port, "items": self.items[port], "digest": digest} for port, digest in self.digests.items()
            ],
            "totals": {
                port: sums.by_name() if sums.names else {name: values.tolist() for name, values in sums.items()}
                for port, sums in self.totals.items()
            },
            "errors": self.errors,
            "truncations": self.truncations,
            "messages": self.messages,
            "files": {node: [str(path) for path in paths] for node, paths in self.files.items()},
        }

    def __str__(self) -> str:
        lines = [f"{self.events} events, {self.error_events} with errors, in {len(self.tasks)} tasks"]
        lines += [f"error: {e['node']}: {e['reason']}: {e['count']} events, {_first(e)}" for e in self.errors]
        lines += [f"truncated: {e['node']}: {e['reason']}: {e['count']} events, {_first(e)}" for e in self.truncations]
        lines += [f"output {name}: {self.items[name]} items, digest {digest}" for name, digest in self.digests.items()]
        return "\n".join(lines)


def _first(counted: dict[str, Any]) -> str:
    first = counted["first"]
    return f"the first at byte {first['byte']} of {first['file']}"


def _counted(lists: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Adds up counts by node and reason; keeps the first event of each."""
    by_reason: dict[tuple[str, str], dict[str, Any]] = {}
    for counts in lists:
        for entry in counts:
            found = by_reason.setdefault((entry["node"], entry["reason"]), {**entry, "count": 0})
            found["count"] += entry["count"]
    return list(by_reason.values())


def _axis(of: dict[str, Any]) -> Axis:
    names: Any = tuple(of["names"])
    return Axis(**{**of, "names": names})


class Sums:
    """Totals and histograms, added up over tasks in any order. They are integers. Keeping them per task would take much
    memory.
    """

    def __init__(self) -> None:
        self.totals: dict[str, Totals] = {}
        self.histograms: dict[str, Histogram] = {}

    def take(self, task: dict[str, Any]) -> None:
        """Moves the totals and histograms of a task's result into the sums."""
        for port, totals in task.pop("totals").items():
            theirs = self.totals.setdefault(port, Totals({}, tuple(totals["names"]), totals["label"]))
            for name, field in totals["fields"].items():
                values = np.array(field["values"], np.dtype(field["dtype"]))
                theirs[name] = theirs[name] + values if name in theirs else values
        for one in task.pop("histograms"):
            name, counts = one["name"], np.array(one["all_counts"], np.int64)
            if name in self.histograms:
                counts += self.histograms[name].all_counts
            self.histograms[name] = Histogram(name, one["title"], [_axis(of) for of in one["axes"]], counts)


def digest_of_totals(fields: dict[str, Array]) -> int:
    """The digest of an output of totals: of its sums, field after field."""
    values = np.concatenate([field.reshape(-1).view(np.uint64) for field in fields.values()])
    return int(library().sl_digest_totals(values.ctypes.data, len(values)))


def _digests(tasks: list[dict[str, Any]], totals: dict[str, Totals]) -> dict[str, str]:
    joined: dict[str, int] = {}
    for task in tasks:
        for output in task["outputs"]:
            port, digest = output["port"], int(output["digest"], 16)
            if port in joined:
                digest = library().sl_digest_join(joined[port], digest, task["events"])
            joined[port] = digest
    joined.update((port, digest_of_totals(fields)) for port, fields in totals.items())
    return {port: f"{digest:016x}" for port, digest in joined.items()}


def _items(tasks: list[dict[str, Any]], totals: dict[str, Totals]) -> dict[str, int]:
    """Items by output: sums over the tasks; of outputs of totals, the number in any task."""
    items: dict[str, int] = {}
    for task in tasks:
        for output in task["outputs"]:
            before = 0 if output["port"] in totals else items.get(output["port"], 0)
            items[output["port"]] = before + output["items"]
    return items


def join(folder: Folder, manifest: Manifest, tasks: list[dict[str, Any]], sums: Sums) -> Result:
    """The result of the run. tasks: results of all tasks, in order; sums: the totals and histograms moved out of them.
    """
    totals = sums.totals
    return Result(
        folder=folder.path,
        graph_digest=manifest.graph_digest,
        events=sum(task["events"] for task in tasks),
        error_events=sum(task["error_events"] for task in tasks),
        items=_items(tasks, totals),
        digests=_digests(tasks, totals),
        totals=totals,
        histograms=sums.histograms,
        errors=_counted(task["errors"] for task in tasks),
        truncations=_counted(task["truncations"] for task in tasks),
        messages=[message for task in tasks for message in task["messages"]][:MESSAGES_MAX],
        files={
            node: [folder.task(task["task"]) / task["files"][node]["name"] for task in tasks] for node in manifest.names
        },
        tasks=tasks,
    )


def write_report(folder: Folder, result: Result) -> None:
    write_whole(folder.path / "report.json", json.dumps(result.report(), indent=1))
