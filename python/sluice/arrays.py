"""All events of a run at once: outputs of the batches, copied and concatenated."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .batch import EVENT, Batch, Events, Output, OutputsByName
from .collection import FIRST_WORD, SIZE_BYTES, Array, Collection, EventList, Field, Schema, word_bounds
from .device import DeviceCollection
from .errors import Diagnostic, StateError
from .histogram import Histogram
from .run import Run
from .totals import Totals

_BOUNDARIES = ("boundary", "item boundary")


class Arrays(OutputsByName):
    """All events of a run, and the graph's outputs for them, in memory of their own.

    Outputs are reached as those of a Batch, `arrays.tracks.x`, `arrays["fit.end_states"]`, but never expire. Offsets
    have 64 bits. A field with one value per slice has that value for each event of the slice. events, totals,
    histograms, summary, diagnostics: as of Run.
    """

    def __init__(self, run: Run) -> None:
        parts = _Parts(run.schemas)
        with run:
            for batch in run:
                parts.add(batch)
        self.events = parts.events()
        self._outputs = {name: parts.output(name) for name in parts.schemas}
        self.totals: dict[str, Totals] = run.totals
        self.histograms: dict[str, Histogram] = run.histograms
        self.summary: dict[str, Any] = run.summary
        self.diagnostics: list[Diagnostic] = run.diagnostics

    def _find(self, name: str) -> Output:
        return self._outputs[name]

    def _names(self) -> list[str]:
        return list(self._outputs)

    def _why_not(self, name: str) -> str:
        if name in self.totals:
            return f"{name!r} holds sums over the run: they are in totals"
        return super()._why_not(name)

    def __len__(self) -> int:
        """Number of events."""
        return len(self.events)

    def __repr__(self) -> str:
        return f"<arrays of {len(self)} events: {', '.join(self._names())}>"


class _Parts:
    """Copies of the fields of all batches, by output and field."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self.schemas = {name: schema for name, schema in schemas.items() if not schema.is_totals}
        self.records: list[Array] = []
        self.event_count = 0
        self.columns: dict[tuple[str, str], list[Array]] = {}
        for name, schema in self.schemas.items():
            for field in self.fields(schema):
                self.columns[name, field] = []

    def fields(self, schema: Schema) -> list[str]:
        if schema.is_event_list:
            return ["numbers"]
        return list(schema.fields)

    def add(self, batch: Batch) -> None:
        if any(batch._schemas.get(name) != schema for name, schema in self.schemas.items()):
            raise StateError(f"the graph has changed at event {batch.first}, and with it its outputs: take batches, not arrays()")
        self.records.append(batch.events.records.copy())
        for (name, field), column in self.columns.items():
            output = batch[name]
            assert not isinstance(output, DeviceCollection)  # a run without keep="device"
            if isinstance(output, EventList):
                column.append(output.numbers.astype(np.int64) + self.event_count)
            elif output.fields[field].per == "slice":
                column.append(np.repeat(output[field], len(batch), axis=0))
            else:
                column.append(output[field].copy())
        self.event_count += len(batch)

    def events(self) -> Events:
        return Events(np.concatenate([np.zeros(0, EVENT), *self.records]))

    def output(self, name: str) -> Output:
        schema = self.schemas[name]
        if schema.is_event_list:
            numbers: Array = np.concatenate([np.zeros(0, np.int64), *self.columns[name, "numbers"]])
            return EventList(schema, self.event_count, lambda: numbers)
        arrays = {field: self.column(name, field) for field in self.fields(schema)}
        if schema.pool is not None:
            arrays[FIRST_WORD] = word_bounds(arrays[SIZE_BYTES])[:-1]
        fields = {name: _by_event(field) for name, field in schema.fields.items()}
        whole = dataclasses.replace(schema, fields=fields)
        return Collection(whole, self.event_count, arrays.__getitem__)

    def column(self, name: str, field: str) -> Array:
        described, parts = self.schemas[name].fields[field], self.columns.pop((name, field))
        if described.per in _BOUNDARIES:
            return _chain(parts)
        return np.concatenate([np.zeros((0, *described.shape), described.dtype), *parts])


def _by_event(field: Field) -> Field:
    return dataclasses.replace(field, per="event") if field.per == "slice" else field


def _chain(parts: list[Array]) -> Array:
    """Joins the offsets of consecutive parts, which begin at 0 in each part."""
    counts = [np.diff(part.astype(np.int64)) for part in parts]
    chained: Array = np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]))
    return chained
