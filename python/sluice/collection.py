"""Collections as NumPy arrays: the outputs of a graph for the events of a batch or of a whole run."""
from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of a collection, as it is declared.

    per: the kind of entries: "slice", "event", "item", "subitem", "entry" (totals); "boundary" (offsets of the items
    of events, events + 1 entries); "item boundary" (offsets of the subitems of items, items + 1 entries). width: values
    per entry. shape: of an entry; () for one value, so that the array has one dimension. dimensions: names of the axes
    of an entry, ("time", "channels"); () if they have no names. group: name of the group of a "subitem" or "item
    boundary" field, otherwise "".
    """

    name: str
    dtype: np.dtype[Any]
    per: str
    width: int
    unit: str
    doc: str
    group: str
    shape: tuple[int, ...] = ()
    dimensions: tuple[str, ...] = ()


_PER = {
    _abi.PER_SLICE: "slice",
    _abi.PER_EVENT: "event",
    _abi.OFFSETS: "boundary",
    _abi.PER_ITEM: "item",
    _abi.ITEM_OFFSETS: "item boundary",
    _abi.PER_SUBITEM: "subitem",
    _abi.BYTES: "byte",
    _abi.ARRAY: "value",
    _abi.TOTAL: "entry",
}


def _group_name(offsets: str) -> str:
    """The name of the group that an offsets field begins: `hits` for `hit_offsets`."""
    return offsets.removesuffix("_offsets") + "s"


@dataclasses.dataclass(frozen=True)
class Schema:
    """The collection of an output, known before the graph runs.

    names: of the entries of totals, or of what the bits or indices of a field stand for, in order; () if they have
    none. label: what a name is ("line"). names_of: "entries", "bits", "indices" or "". names_field: the field of the bits
    or indices.
    """

    output: str
    collection: str
    doc: str
    fields: Mapping[str, Field]
    names: tuple[str, ...] = ()
    label: str = ""
    names_of: str = ""
    names_field: str = ""

    @property
    def is_event_list(self) -> bool:
        return self.collection == "sl_event_list"

    @property
    def is_totals(self) -> bool:
        return any(field.per == "entry" for field in self.fields.values())

    def only(self, per: str, group: str = "") -> str | None:
        """The name of the first field of this kind (Field.per) and group, or None."""
        return next((f.name for f in self.fields.values() if f.per == per and f.group == group), None)

    @property
    def groups(self) -> list[str]:
        return [f.group for f in self.fields.values() if f.per == "item boundary"]


_NAMES_OF = ("", "entries", "bits", "indices")


def read_schema(output: _abi.RunOutput) -> Schema:
    """The schema of an output of a session."""
    collection = _abi.struct_at(_abi.Collection, output.collection)
    fields: dict[str, Field] = {}
    group = ""
    sizes = {
        _abi.decode(d.name): d.size
        for d in _abi.array_at(_abi.Dimension, collection.dimensions, collection.dimension_count)
    }
    for entry in _abi.array_at(_abi.Field, collection.fields, collection.field_count):
        name, per = _abi.decode(entry.name), _PER[entry.shape]
        if per == "item boundary":
            group = _group_name(name)
        dimensions = tuple(_abi.decode(entry.dimensions).split(", ")) if entry.dimensions else ()
        shape = tuple(sizes[d] for d in dimensions) if dimensions else (entry.width,) if entry.width > 1 else ()
        fields[name] = Field(
            name=name,
            dtype=np.dtype(_abi.TYPES[entry.type]),
            per=per,
            width=max(entry.width, 1),
            unit=_abi.decode(entry.unit),
            doc=_abi.decode(entry.doc),
            group=group if per in ("item boundary", "subitem") else "",
            shape=shape,
            dimensions=dimensions,
        )
    schema = Schema(_abi.decode(output.name), _abi.decode(collection.name), _abi.decode(collection.doc), fields)
    if not output.naming:
        return schema
    naming = _abi.struct_at(_abi.Names, output.naming)
    return dataclasses.replace(
        schema,
        names=_abi.texts_at(output.names, output.name_count),
        label=_abi.decode(naming.label),
        names_of=_NAMES_OF[naming.kind],
        names_field=_abi.decode(naming.field) if naming.field else "",
    )


class Group:
    """The subitems of a collection's items: the hits of tracks.

    Fields are attributes, or are reached by name, with or without the prefix of the group: `tracks.hits.x` is the field
    `hit_x`. offsets: items + 1 values; item i has the subitems [offsets[i], offsets[i + 1]). len() is the number of
    subitems.
    """

    def __init__(self, collection: Collection, name: str) -> None:
        self.name = name
        self._collection = collection
        schema = collection.schema
        self._offsets = schema.only("item boundary", name) or ""
        prefix = self._offsets.removesuffix("offsets")
        self.fields: dict[str, Field] = {
            f.name.removeprefix(prefix): f for f in schema.fields.values() if f.group == name and f.per == "subitem"
        }

    @property
    def offsets(self) -> Array:
        return self._collection[self._offsets]

    def __getitem__(self, name: str) -> Array:
        field = self.fields.get(name)
        return self._collection[field.name if field else name]

    def __getattr__(self, name: str) -> Array:
        if name.startswith("__"):
            raise AttributeError(name)
        field = self.__dict__.get("fields", {}).get(name)
        if field is None:
            raise AttributeError(f"{self.name!r} has no field {name!r}; it has {', '.join(self.fields)}")
        return self[name]

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.fields]


class Collection:
    """An output of the graph, for a number of events.

    Fields are attributes, or are reached by name: `tracks.x`, `tracks["x"]`. Arrays have the valid entries only.
    Offsets begin at 0: event e has the items [offsets[e], offsets[e + 1]), none if it has an error. `fields` has the
    unit, doc string and kind of entries of each field; `groups` the groups of subitems, such as `tracks.hits`. If the
    bits or indices of a field have names (`names`), `decisions["Hlt1TrackMVA"]` is an array with a bool for each event: True if
    the event has this bit or index. A field of the same name comes first. KeyError, AttributeError: there is no such field.
    """

    def __init__(self, schema: Schema, events: int, load: Callable[[str], Array]) -> None:
        self.schema = schema
        self.event_count = events
        self._load = load
        self._arrays: dict[str, Array] = {}
        self.groups: dict[str, Group] = {name: Group(self, name) for name in schema.groups}

    @property
    def fields(self) -> Mapping[str, Field]:
        return self.schema.fields

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bits or indices of a field, in order; () if they have none."""
        return self.schema.names

    def _mask(self, index: int) -> npt.NDArray[np.bool_]:
        """A bool for each event: True if the event has the bit or index."""
        offsets, values = self[self.schema.only("boundary") or ""].astype(np.int64), self[self.schema.names_field]
        if self.schema.names_of == "indices":
            found = np.concatenate([np.zeros(1, np.int64), np.cumsum(values == index)])
            return np.asarray(found[offsets[1:]] > found[offsets[:-1]])
        word = offsets[:-1] + index // 32
        mask = np.zeros(self.event_count, dtype=np.bool_)
        inside = word < offsets[1:]
        mask[inside] = values[word[inside]] >> np.uint32(index % 32) & np.uint32(1) != 0
        return mask

    def __getitem__(self, name: str) -> Array:
        if name not in self.schema.fields:
            if name in self.schema.names:
                return self._mask(self.schema.names.index(name))
            known = ", ".join([*self.schema.fields, *self.schema.names])
            raise KeyError(f"{self.schema.output} has no field {name!r}; it has {known}")
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = self._load(name)
        return array

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "schema" not in self.__dict__:
            raise AttributeError(name)
        if name in self.schema.fields:
            return self[name]
        if name in self.groups:
            return self.groups[name]
        known = ", ".join([*self.schema.fields, *self.groups])
        raise AttributeError(f"{self.schema.output} ({self.schema.collection}) has no {name!r}; it has {known}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.schema.fields, *self.groups]

    def __len__(self) -> int:
        """Number of items; of a collection without items, number of events."""
        offsets = self.schema.only("boundary")
        return int(self[offsets][-1]) if offsets else self.event_count

    def __iter__(self) -> Iterator[str]:
        return iter(self.schema.fields)

    def __repr__(self) -> str:
        return f"<{self.schema.output}: {self.schema.collection}, {self.event_count} events, {len(self)} items>"

    def forget(self) -> None:
        """Drops cached arrays; they are loaded again on demand."""
        self._arrays.clear()

    def arrays(self) -> dict[str, Array]:
        """All fields by name, without copies."""
        return {name: self[name] for name in self.schema.fields}

    def copy(self) -> Collection:
        """A copy in memory of its own, which does not expire."""
        arrays = {name: np.array(array) for name, array in self.arrays().items()}
        return Collection(self.schema, self.event_count, arrays.__getitem__)

    def awkward(self) -> Any:
        """A copy as an Awkward array: for each event a list of items, which are records; each group of subitems is a
        list of records in its item.

        If the collection has fields per event, each event is a record of these fields and "items". ImportError without
        the package awkward.
        """
        try:
            import awkward
        except ImportError:
            raise ImportError("Awkward arrays need the package awkward: pip install awkward") from None
        contents, index = awkward.contents, awkward.index

        def values(name: str) -> Any:
            array = np.array(self[name])  # a copy: Awkward arrays are kept
            flat = contents.NumpyArray(array.reshape(-1))
            for axis in range(array.ndim - 1, 0, -1):
                rows = int(np.prod(array.shape[:axis]))
                flat = contents.RegularArray(flat, array.shape[axis], zeros_length=rows)
            return flat

        def record(names: dict[str, str], length: int) -> Any:
            return contents.RecordArray([values(field) for field in names.values()], list(names), length=length)

        def lists(offsets: Any, content: Any) -> Any:
            return contents.ListOffsetArray(index.Index64(np.array(offsets, dtype=np.int64)), content)

        fields = self.fields
        by_event = {f.name: f.name for f in fields.values() if f.per == "event"}
        offsets = self.schema.only("boundary")
        if offsets is None:
            return awkward.Array(record(by_event, self.event_count))

        own = {f.name: f.name for f in fields.values() if f.per == "item"}
        parts, names = [values(name) for name in own], list(own)
        for group in self.groups.values():
            subitems = record({short: field.name for short, field in group.fields.items()}, len(group))
            parts.append(lists(group.offsets, subitems))
            names.append(group.name)
        items = lists(self[offsets], contents.RecordArray(parts, names, length=len(self)))
        if not by_event:
            return awkward.Array(items)
        around = [*(values(name) for name in by_event), items]
        return awkward.Array(contents.RecordArray(around, [*by_event, "items"], length=self.event_count))


class EventList:
    """An output that is an event list. numbers: indices of the listed events in the batch (in Arrays: in the run),
    ascending. len() is the number of listed events.
    """

    def __init__(self, schema: Schema, events: int, load: Callable[[], Array]) -> None:
        self.schema = schema
        self.event_count = events
        self._load = load
        self._numbers: Array | None = None

    @property
    def numbers(self) -> Array:
        if self._numbers is None:
            self._numbers = self._load()
        return self._numbers

    def forget(self) -> None:
        self._numbers = None

    @property
    def mask(self) -> npt.NDArray[np.bool_]:
        """A new array with a bool for each event: True if it is on the list."""
        mask = np.zeros(self.event_count, dtype=np.bool_)
        mask[self.numbers] = True
        return mask

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"<{self.schema.output}: {len(self)} of {self.event_count} events>"

    def copy(self) -> EventList:
        numbers = np.array(self.numbers)
        return EventList(self.schema, self.event_count, lambda: numbers)


class Memory:
    """Memory of the library, for NumPy's array interface. It keeps its owner alive, and with it the memory."""

    __slots__ = ("__array_interface__", "owner", "__weakref__")

    def __init__(
        self, address: int, dtype: np.dtype[Any], shape: tuple[int, ...], owner: object, is_read_only: bool = True
    ) -> None:
        self.__array_interface__ = {
            "data": (address, is_read_only),
            "typestr": dtype.str,
            "descr": dtype.descr,
            "shape": shape,
            "version": 3,
        }
        self.owner = owner


def copy_of_memory(address: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    count = int(np.prod(shape, dtype=np.int64))
    raw = ctypes.string_at(address, count * dtype.itemsize) if count else b""
    return np.frombuffer(raw, dtype=dtype).reshape(shape).copy()
