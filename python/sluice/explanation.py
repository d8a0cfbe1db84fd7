"""Explanations: why a graph accepted or rejected events."""
from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _abi
from ._session import Session, Settings
from .collection import Array, copy_of_memory
from .errors import Error, RunError, failure

EventId = tuple[int, int]  # run and event number
Table = dict[str, Array]
_OF_EVENT = -1  # `candidate` of a requirement for the event
_ROLES = np.array(["requirement", "either", "or", "part", "value"])


def _dtype(kind: type[ctypes.Structure]) -> np.dtype[Any]:
    """The layout of a C struct, with pointers as integers."""

    def of(member: Any) -> np.dtype[Any]:
        if issubclass(member, ctypes.Structure):
            return _dtype(member)
        return np.dtype("u8") if member in (ctypes.c_void_p, ctypes.c_char_p) else np.dtype(member)

    return np.dtype([(field[0], of(field[1])) for field in kind._fields_])


_ROW, _CANDIDATE, _NODE = (_dtype(kind) for kind in (_abi.ExplainedRow, _abi.ExplainedCandidate, _abi.ExplainedNode))


def _records(dtype: np.dtype[Any], address: int, count: int) -> Array:
    """A copy of `count` structs."""
    return copy_of_memory(int(address), dtype, (int(count),))


class Explanation:
    """Decisions and requirements of events as tables: dicts of columns (arrays of equal length), which
    pandas.DataFrame(table) takes.

    decisions: a row per event and node. run, event; node, algorithm; evaluated: False if the event is not on the event
    list of the node; accepted; candidates, accepted_candidates: their numbers.
    requirements: a row per requirement, in the order of the algorithm. run, event, node; candidate: its index in the
    event, -1 for a requirement for the event; accepted: whether the candidate (the event) is; name of the value; value;
    comparison ("" for a condition; its value is 1 or 0); limit; property: its name, or the text in an expression; unit
    of limit and value; met; role: "requirement", "either" and "or" (one of the two must be met), "part" (of the condition
    that follows), "value" (compared with nothing). The rows are those of the best candidate of each node (fewest
    requirements that are not met), or of all.
    errors: a row per event with an error. run, event, node that found it, error.
    """

    def __init__(self, decisions: Table, requirements: Table, errors: Table) -> None:
        self.decisions = decisions
        self.requirements = requirements
        self.errors = errors

    def __repr__(self) -> str:
        counts = (len(self.decisions["node"]), len(self.requirements["name"]), len(self.errors["node"]))
        return "<explanation: {} decisions, {} requirements, {} errors>".format(*counts)


class _Collector:
    """Collects what the library reports, event by event."""

    def __init__(self, events: list[EventId] | None) -> None:
        self.missing = None if events is None else set(events)
        self.error: BaseException | None = None
        self._nodes: list[Array] = []
        self._rows: list[Array] = []
        self._ids: list[EventId] = []
        self._row_keys: list[tuple[int, int, int, int, bool, int]] = []  # run, event, node, candidate, accepted, rows
        self._errors: list[tuple[int, int, str, str]] = []
        self._texts: dict[int, str] = {0: ""}

    def on_event(self, _: object, address: int) -> int:
        try:
            self._add(_abi.struct_at(_abi.ExplainedEvent, address))
            return _abi.INTERRUPTED if self.missing is not None and not self.missing else 0
        except BaseException as error:  # raised by explain()
            self.error = error
            return _abi.INTERRUPTED

    def _add(self, event: _abi.ExplainedEvent) -> None:
        about = _abi.struct_at(_abi.Event, event.event)
        if self.missing is not None:
            if not self.missing:
                return
            self.missing.discard((about.run, about.number))
        nodes = _records(_NODE, event.nodes or 0, event.node_count)
        for node in nodes:
            for candidate in _records(_CANDIDATE, node["at"], node["candidate_count"]):
                self._add_rows(about, node, int(candidate["index"]), candidate)
            self._add_rows(about, node, _OF_EVENT, node)
        self._nodes.append(nodes)
        self._ids.append((about.run, about.number))
        if event.error:
            self._errors.append((about.run, about.number, _abi.decode(event.error_node), _abi.decode(event.error)))
        for pointer in np.unique(np.concatenate([nodes["name"], nodes["algorithm"]])):
            self._text(int(pointer))

    def _add_rows(self, about: _abi.Event, node: Any, candidate: int, source: Any) -> None:
        rows = _records(_ROW, source["rows"], source["row_count"])
        if not len(rows):
            return
        self._row_keys.append(
            (about.run, about.number, int(node["name"]), candidate, bool(source["is_accepted"]), len(rows))
        )
        self._rows.append(rows)

    def _text(self, pointer: int) -> str:
        if pointer not in self._texts:
            self._texts[pointer] = _abi.decode(ctypes.string_at(pointer))
        return self._texts[pointer]

    def _column(self, pointers: Array) -> Array:
        unique, inverse = np.unique(pointers, return_inverse=True)
        texts = np.array([self._text(int(pointer)) for pointer in unique], dtype=object)
        return texts[inverse] if len(unique) else np.empty(0, object)

    def tables(self) -> Explanation:
        """While the session is open, because texts belong to it."""
        nodes = np.concatenate([np.empty(0, _NODE), *self._nodes])
        counts = [len(array) for array in self._nodes]
        rows = np.concatenate([np.empty(0, _ROW), *self._rows])
        requirement = rows["requirement"]
        keys = np.array(self._row_keys, dtype="i8,u8,u8,i8,?,i8")
        sizes = keys["f5"]
        decisions = {
            "run": np.repeat(np.array([run for run, _ in self._ids], "u4"), counts),
            "event": np.repeat(np.array([number for _, number in self._ids], "u8"), counts),
            "node": self._column(nodes["name"]),
            "algorithm": self._column(nodes["algorithm"]),
            "evaluated": nodes["has_run"] != 0,
            "accepted": nodes["is_accepted"] != 0,
            "candidates": nodes["total"],
            "accepted_candidates": nodes["accepted"],
        }
        requirements = {
            "run": np.repeat(keys["f0"].astype("u4"), sizes),
            "event": np.repeat(keys["f1"], sizes),
            "node": np.repeat(self._column(keys["f2"]), sizes),
            "candidate": np.repeat(keys["f3"], sizes),
            "accepted": np.repeat(keys["f4"], sizes),
            "name": self._column(requirement["name"]),
            "value": requirement["value"],
            "comparison": self._column(requirement["comparison"]),
            "limit": requirement["limit"],
            "property": self._column(requirement["limit_name"]),
            "unit": self._column(rows["unit"]),
            "met": requirement["is_met"] != 0,
            "role": _ROLES[requirement["role"]],
        }
        errors = {
            "run": np.array([run for run, *_ in self._errors], "u4"),
            "event": np.array([number for _, number, *_ in self._errors], "u8"),
            "node": np.array([node for *_, node, _ in self._errors], "O"),
            "error": np.array([error for *_, error in self._errors], "O"),
        }
        return Explanation(decisions, requirements, errors)


def _run(session: Session) -> int:
    """Runs the session in a thread of its own, so that Ctrl-C stops it."""
    result: list[int] = []
    thread = threading.Thread(target=lambda: result.append(session.run()), name="sluice explain", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
    except BaseException:
        session.stop()
        thread.join()
        raise
    return result[0]


def explain(
    settings: Settings, events: Iterable[EventId] | None, lines: Iterable[str] | None, all_candidates: bool
) -> Explanation:
    """Opens and runs a session; see Graph.explain."""
    wanted = None if events is None else [(_abi.count("run", run, 32), _abi.count("event", n, 64)) for run, n in events]
    if wanted is not None and not wanted:
        raise ValueError("events is empty; None explains all events")
    collector = _Collector(wanted)
    ids = (_abi.EventId * max(1, len(wanted or [])))(*[_abi.EventId(number, run, 0) for run, number in wanted or []])
    names = None if lines is None else _abi.strings([line.encode() for line in lines])
    request = _abi.Explain(
        ctypes.sizeof(_abi.Explain),
        int(all_candidates),
        ctypes.addressof(ids),
        len(wanted or []),
        None if names is None else ctypes.cast(names, ctypes.c_void_p),
        _abi.EXPLAIN_CALLBACK(collector.on_event),
        None,
    )
    session = Session(settings, explain=request)
    status = _run(session)
    if collector.error is not None:
        raise collector.error
    is_complete = wanted is not None and not collector.missing
    messages = session.messages()
    result = collector.tables()
    are_all_errors = status == _abi.WRONG_FORMAT and len(result.errors["run"]) > 0
    if status < 0 and not is_complete and not are_all_errors:
        raise RunError(failure("the run failed", messages), messages, _abi.ERRORS.get(status, str(status)))
    if collector.missing:
        missing = ", ".join(f"{run}:{number}" for run, number in sorted(collector.missing))
        raise Error(f"the input has no such events (RUN:NUMBER): {missing}")
    return result
