"""A batch: a finished slice of events, or a part of one, as views of the library's memory."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _abi
from .collection import FIRST_WORD, SIZE_BYTES, Array, Collection, EventList, Memory, Schema, word_bounds
from .device import DeviceCollection, Hold, Holder, Shape
from .errors import ExpiredError, StateError
from .exported import Exported
from .nested import Node, Record, Values

Output = Union[Collection, EventList, DeviceCollection]
Shapes = Mapping[str, Mapping[str, Shape]]  # by output and field

EVENT = np.dtype([(name, kind) for name, kind in (
    ("number", "u8"), ("offset", "u8"), ("run", "u4"), ("file", "u4"), ("error", "u4"), ("reserved", "u4"))])


class Events:
    """The events of a batch or of a run, as arrays with one entry per event.

    run (u4), number (u8): run and event number; offset (u8): byte of the event's record in its file, or index of its
    entry in a source; file (u4): index of the input file; error (u4): 0, or why the event has no items (1 corrupt, 2
    truncated, 3 too large, 4 overflow, 5 refused).
    """

    def __init__(self, records: npt.NDArray[Any]) -> None:
        self.records = records

    def _nested(self) -> Record:
        names = [name for name in EVENT.names or () if name != "reserved"]
        return Record({name: Values(np.ascontiguousarray(self.records[name])) for name in names}, len(self))

    @property
    def run(self) -> Array:
        return self.records["run"]

    @property
    def number(self) -> Array:
        return self.records["number"]

    @property
    def offset(self) -> Array:
        return self.records["offset"]

    @property
    def file(self) -> Array:
        return self.records["file"]

    @property
    def error(self) -> Array:
        return self.records["error"]

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"<{len(self)} events, {int(np.count_nonzero(self.error))} with an error>"


class OutputsByName(Exported):
    """Outputs by name, `batch["fit.end_states"]`, and as attributes, `batch.tracks`, `batch.fit.end_states`.

    arrow(), awkward(), parquet() and so on take all of them: a record for each event, with `events` (run, number, error, ...)
    and a record for each output, named like the attributes. KeyError, AttributeError: there is no such output; the message lists the outputs.
    """

    events: Any  # Events

    def _find(self, name: str) -> Output:
        raise NotImplementedError

    def _nested(self, outputs: Iterable[str] | None = None) -> Record:
        """All outputs, or these."""
        names = self._names() if outputs is None else list(outputs)
        members: dict[str, Node] = {"events": self.events._nested()}
        for name in names:
            if name in members:
                raise ValueError(f"an output has the name {name!r}, which stands for run and event numbers: give outputs without it")
            node, _, port = name.partition(".")
            output = self[name]
            if not isinstance(output, Exported):
                raise TypeError(f"{name} is on the device: only batches in host memory, without keep=, have this form")
            record = output._nested()
            if not port:
                members[node] = record
                continue
            before = members.get(node)
            ports = before.members if isinstance(before, Record) else {}
            members[node] = Record({**ports, port: record}, len(record))
        return Record(members, len(self.events))

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _why_not(self, name: str) -> str:
        return f"there is no output {name!r} of events; there are {', '.join(self._names()) or 'none'}"

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs, in the order of the graph."""
        return self._names()

    def __getitem__(self, name: str) -> Output:
        if name not in self._names():
            raise KeyError(self._why_not(name))
        return self._find(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._names():
            return self._find(name)
        if any(output.startswith(name + ".") for output in self._names()):
            return _Node(self, name)
        raise AttributeError(self._why_not(name))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name.partition(".")[0] for name in self._names())]


class _Node:
    """The outputs of one node, as attributes."""

    def __init__(self, outputs: OutputsByName, node: str) -> None:
        self._outputs, self._node = outputs, node

    def __getattr__(self, port: str) -> Output:
        if port.startswith("__"):
            raise AttributeError(port)
        try:
            return self._outputs[f"{self._node}.{port}"]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> list[str]:
        prefix = self._node + "."
        return [name.removeprefix(prefix) for name in self._outputs.outputs if name.startswith(prefix)]


def _on_device(
    holder: Holder, name: str, schemas: Mapping[str, Schema], events: int, shapes: Mapping[str, Shape]
) -> DeviceCollection:
    return DeviceCollection(holder, list(schemas).index(name), schemas[name], events, shapes)


class KeptBatch(OutputsByName, Holder):
    """A batch that stays after the loop has asked for the next one: `with batch.keep() as kept: ... kept.tracks.x`.

    Outputs as those of the batch. events: a copy. first: index in the run of the first event. release(), the end of `with`,
    or the end of the last reference give the memory back to the run, unless tensors still hold it.
    """

    def __init__(self, hold: Hold, first: int, events: Events, schemas: Mapping[str, Schema], shapes: Shapes) -> None:
        self._hold = hold
        self.first = first
        self.events = events
        self._schemas, self._shapes = schemas, shapes

    def _share_hold(self) -> Hold:
        if self._hold.pointer is None:
            raise ExpiredError(f"the batch of {len(self)} events from {self.first} on was released")
        return self._hold.share()

    def _names(self) -> list[str]:
        return list(self._shapes)

    def _find(self, name: str) -> DeviceCollection:
        self._share_hold()
        return _on_device(self, name, self._schemas, len(self), self._shapes[name])

    def release(self) -> None:
        """Gives the memory back. A second call does nothing."""
        self._hold.release()

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        state = ", released" if self._hold.pointer is None else ""
        return f"<kept batch of {len(self)} events from {self.first} on{state}: {', '.join(self._names())}>"

    def __enter__(self) -> KeptBatch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Batch(OutputsByName, Holder):
    """Finished events, in input order, and the graph's outputs for them: `batch.tracks`, `batch["fit.end_states"]`.

    Arrays are read-only views of the library's memory, valid until the loop asks for the next batch; after that the
    batch raises ExpiredError. An array that is kept longer shows later events, never freed memory; copy() makes a
    permanent array. first: index in the run of the batch's first event. Totals belong to the run, not to batches.
    With keep="device" outputs are DeviceCollections, and keep() makes the batch stay.
    """

    def __init__(
        self,
        address: int,
        first: int,
        schemas: Mapping[str, Schema],
        owner: object,
        hold: Callable[[], Hold] | None = None,
    ) -> None:
        from_c = _abi.struct_at(_abi.Batch, address)
        self.first = first
        self.event_count: int = from_c.event_count
        self._owner: object | None = owner
        self._was_closed = False
        self._schemas = schemas
        self._fields: dict[str, list[int]] = {}
        for view in _abi.array_at(_abi.OutputView, from_c.outputs, from_c.output_count):
            schema = schemas[_abi.decode(view.name)]
            if not schema.is_totals:
                self._fields[schema.output] = _abi.addresses_at(view.fields, len(schema.fields))
        self._event_records: int = from_c.events or 0
        self._found: dict[str, Output] = {}
        self._events: Events | None = None
        self._handed_out: list[tuple[str, weakref.ref[Memory]]] = []
        self._make_hold = hold  # keep="device"
        self._hold: Hold | None = None
        self._holding = threading.Lock()  # a tensor may be made in another thread while the loop goes on

    @property
    def events(self) -> Events:
        self._must_be_valid()
        if self._events is None:
            self._events = Events(self._view("events", self._event_records, EVENT, (self.event_count,)))
        return self._events

    def __len__(self) -> int:
        """Number of events."""
        return self.event_count

    def __repr__(self) -> str:
        state = ", over" if self._owner is None else ""
        return f"<batch of {self.event_count} events from {self.first} on{state}: {', '.join(self._names())}>"

    def _names(self) -> list[str]:
        return list(self._fields)

    def _why_not(self, name: str) -> str:
        if name in self._schemas:
            return f"{name!r} holds sums over the run, not events: run.totals has them at its end"
        return super()._why_not(name)

    def _find(self, name: str) -> Output:
        self._must_be_valid()
        if name not in self._found:
            schema = self._schemas[name]
            if self._make_hold:
                self._found[name] = _on_device(self, name, self._schemas, self.event_count, self._shapes(name))
            elif schema.is_event_list:
                self._found[name] = EventList(schema, self.event_count, lambda: self._numbers(name))
            else:
                self._found[name] = Collection(
                    schema,
                    self.event_count,
                    lambda field: self._array(name, field),
                    lambda field: self._array(name, field, True),
                )
        return self._found[name]

    def keep(self) -> KeptBatch:
        """Keeps the batch in memory after the loop has asked for the next one, until it is released. Each slot has memory
        for two kept batches; with all of it in use the next batch is a RunError that names them. StateError without
        keep="device".
        """
        if self._make_hold is None:
            raise StateError('batches are kept by runs with keep="device"; copy() and arrays() make copies')
        hold = self._share_hold()
        shapes = {name: self._shapes(name) for name in self._fields}
        return KeptBatch(hold, self.first, Events(self.events.records.copy()), self._schemas, shapes)

    def _share_hold(self) -> Hold:
        with self._holding:
            self._must_be_valid()
            assert self._make_hold
            if self._hold is None:
                self._hold = self._make_hold()
            return self._hold.share()

    def _shapes(self, output: str) -> dict[str, Shape]:
        """The shapes of the fields on the device, from their first entry on; by the offsets in host memory."""
        schema = self._schemas[output]
        items = self._last(output, schema.only("boundary"), self.event_count)
        shapes: dict[str, Shape] = {}
        for name, field in schema.fields.items():
            count = {"slice": 1, "event": self.event_count, "boundary": self.event_count + 1, "item": items}.get(field.per)
            if schema.is_event_list and field.per != "slice":
                count = int(self._column(output, "count", 0, 1)[0])
            elif field.per == "item boundary":
                count = items + 1
            elif field.per == "subitem":
                count = self._last(output, schema.only("item boundary", field.group), items)
            assert count is not None
            shapes[name] = (count, *field.shape)
        return shapes

    def _last(self, output: str, offsets: str | None, entries: int) -> int:
        return int(self._column(output, offsets, entries, 1)[0]) if offsets else 0

    def _must_be_valid(self) -> None:
        if self._owner is None:
            advice = "take copies while the loop is at it, or arrays() for a whole run"
            if self._make_hold:
                advice = "keep it with keep() while the loop is at it"
            raise ExpiredError(
                f"this batch is over{', since its run was closed' if self._was_closed else ''}: its memory is in use for"
                f" others; {advice}"
            )

    def _view(self, what: str, address: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        if 0 in shape or not address:
            return np.zeros(shape, dtype)
        memory = Memory(address, dtype, shape, self._owner)
        self._handed_out.append((what, weakref.ref(memory)))
        return np.asarray(memory)

    def _column(self, output: str, field: str, first: int, count: int) -> Array:
        """A view of `count` entries of a field, from entry `first` on."""
        described = self._schemas[output].fields[field]
        index = list(self._schemas[output].fields).index(field)
        address = self._fields[output][index]
        shape = (count, *described.shape)
        begin = address + first * described.width * described.dtype.itemsize if address else 0
        return self._view(f"{output}.{field}", begin, described.dtype, shape)

    def _span(self, output: str, offsets: str | None, first: int, count: int, whole: bool) -> tuple[int, int]:
        """The first entry and the number of entries between boundaries `first` and `first` + `count`. whole: from 0 on."""
        if offsets is None:
            return 0, 0
        boundaries = self._column(output, offsets, first, count + 1)
        begin = 0 if whole else int(boundaries[0])
        return begin, int(boundaries[-1]) - begin

    def _array(self, output: str, name: str, whole: bool = False) -> Array:
        """A field for the events of the batch. whole: from the first entry in memory on, with offsets as they are."""
        self._must_be_valid()
        schema = self._schemas[output]
        field = schema.fields[name]
        if field.per == "slice":
            return self._column(output, name, 0, 1)
        if field.per == "event":
            return self._column(output, name, 0, self.event_count)
        shifted = _as_it_is if whole else _from_zero
        if field.per == "boundary":
            return shifted(self._column(output, name, 0, self.event_count + 1))
        first, count = self._span(output, schema.only("boundary"), 0, self.event_count, whole)
        if schema.pool is not None and name in (FIRST_WORD, schema.pool):
            return self._words(output, name, first, count)
        if field.per == "item":
            return self._column(output, name, first, count)
        if field.per == "item boundary":
            return shifted(self._column(output, name, first, count + 1))
        if field.per == "subitem":
            first, count = self._span(output, schema.only("item boundary", field.group), first, count, whole)
            return self._column(output, name, first, count)
        raise AssertionError(f"a field per {field.per} in an output")

    def _words(self, output: str, name: str, first: int, count: int) -> Array:
        """The raw bytes of items, in their order, or the first word of each item. A view if memory has this order."""
        places = self._column(output, FIRST_WORD, first, count).astype(np.int64)
        bounds = word_bounds(self._column(output, SIZE_BYTES, first, count))
        begin = int(places[0]) if count else 0
        is_in_order = np.array_equal(places, bounds[:-1] + begin)
        if name == FIRST_WORD:
            return self._column(output, name, first, count) if is_in_order and begin == 0 else bounds[:-1].astype(np.uint32)
        if is_in_order:
            return self._column(output, name, begin, int(bounds[-1]))
        shifts = np.repeat(places - bounds[:-1], bounds[1:] - bounds[:-1])
        end = int((places + (bounds[1:] - bounds[:-1])).max())
        gathered: Array = self._column(output, name, 0, end)[np.arange(bounds[-1]) + shifts]
        return gathered

    def _numbers(self, output: str) -> Array:
        self._must_be_valid()
        count = int(self._column(output, "count", 0, 1)[0])
        return self._column(output, "numbers", 0, count)

    def _forget(self) -> None:
        """Drops the arrays that the batch has cached; they are made again on demand."""
        for output in self._found.values():
            if not isinstance(output, DeviceCollection):
                output.forget()
        self._found.clear()
        self._events = None

    def _expire(self, was_closed: bool) -> None:
        """Makes the batch invalid: its memory is reused. was_closed: the run was closed while the loop had the batch.
        """
        with self._holding:
            self._owner, self._was_closed = None, was_closed
            if self._hold is not None:
                self._hold.release()
        self._forget()

    def _still_there(self) -> list[str]:
        """Names of the arrays of this batch that the program still refers to."""
        return [what for what, memory in self._handed_out if memory() is not None]


def _as_it_is(boundaries: Array) -> Array:
    return boundaries


def _from_zero(boundaries: Array) -> Array:
    """Offsets that begin at 0: the view itself for a whole slice, otherwise a shifted copy."""
    return boundaries if boundaries[0] == 0 else np.subtract(boundaries, boundaries[0])
