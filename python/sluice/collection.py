"""Collections as NumPy arrays: the outputs of a graph for the events of a batch or of a whole run."""
from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from . import _abi
from .exported import Exported, frame, places
from .nested import Lists, Node, Record, Values

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of a collection, as it is declared.

    per: the kind of entries: "slice", "event", "item", "subitem", "entry" (totals); "boundary" (offsets of the items
    of events, events + 1 entries); "item boundary" (offsets of the subitems of items, items + 1 entries); "word" (raw
    bytes of the items, see Collection); "value" (of a constant). width: values per entry. shape: of an entry; () for one value, so that the array has one dimension. dimensions: names of the axes
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
    _abi.BYTES: "word",
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

    @property
    def about(self) -> dict[str, str]:
        """The texts that go with the collection into other formats."""
        return {"output": self.output, "collection": self.collection, "doc": self.doc}

    def only(self, per: str, group: str = "") -> str | None:
        """The name of the first field of this kind (Field.per) and group, or None."""
        return next((f.name for f in self.fields.values() if f.per == per and f.group == group), None)

    @property
    def pool(self) -> str | None:
        """The field of the raw bytes of the items, or None."""
        return self.only("word")

    @property
    def groups(self) -> list[str]:
        return [f.group for f in self.fields.values() if f.per == "item boundary"]


_NAMES_OF = ("", "entries", "bits", "indices")


def read_collection(name: str, address: int) -> Schema:
    """The schema of a collection at this address, for an output of this name."""
    collection = _abi.struct_at(_abi.Collection, address)
    fields: dict[str, Field] = {}
    group = ""
    sizes = {
        _abi.decode(d.name): d.size
        for d in _abi.array_at(_abi.Dimension, collection.dimensions, collection.dimension_count)
    }
    for entry in _abi.array_at(_abi.Field, collection.fields, collection.field_count):
        field, per = _abi.decode(entry.name), _PER[entry.shape]
        if per == "item boundary":
            group = _group_name(field)
        dimensions = tuple(_abi.decode(entry.dimensions).split(", ")) if entry.dimensions else ()
        shape = tuple(sizes[d] for d in dimensions) if dimensions else (entry.width,) if entry.width > 1 else ()
        fields[field] = Field(
            name=field,
            dtype=np.dtype(_abi.TYPES[entry.type]),
            per=per,
            width=max(entry.width, 1),
            unit=_abi.decode(entry.unit),
            doc=_abi.decode(entry.doc),
            group=group if per in ("item boundary", "subitem") else "",
            shape=shape,
            dimensions=dimensions,
        )
    return Schema(name, _abi.decode(collection.name), _abi.decode(collection.doc), fields)


def read_schema(output: _abi.RunOutput) -> Schema:
    """The schema of an output of a session."""
    schema = read_collection(_abi.decode(output.name), output.collection)
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


FIRST_WORD, SIZE_BYTES = "first_word", "size_bytes"  # fields that address raw bytes


def word_bounds(sizes: Array) -> Array:
    """The first word of each item with this number of raw bytes, and the end of the last one."""
    bounds = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum((sizes.astype(np.int64) + 3) // 4, out=bounds[1:])
    return bounds


def about_field(field: Field) -> dict[str, str]:
    """The texts that go with a field into other formats."""
    return {"unit": field.unit, "doc": field.doc, "dimensions": ", ".join(field.dimensions)}


ArrayT = TypeVar("ArrayT")  # of a field: Array in host memory, DeviceArray in the memory of the device


class GroupOf(Generic[ArrayT]):
    """The subitems of a collection's items: see Group."""

    def __init__(self, collection: CollectionOf[ArrayT], name: str) -> None:
        self.name = name
        self._collection = collection
        schema = collection.schema
        self._offsets = schema.only("item boundary", name) or ""
        prefix = self._offsets.removesuffix("offsets")
        self.fields: dict[str, Field] = {
            f.name.removeprefix(prefix): f for f in schema.fields.values() if f.group == name and f.per == "subitem"
        }

    @property
    def offsets(self) -> ArrayT:
        return self._collection[self._offsets]

    def __getitem__(self, name: str) -> ArrayT:
        field = self.fields.get(name)
        return self._collection[field.name if field else name]

    def __getattr__(self, name: str) -> ArrayT:
        if name.startswith("__"):
            raise AttributeError(name)
        field = self.__dict__.get("fields", {}).get(name)
        if field is None:
            raise AttributeError(f"{self.name!r} has no field {name!r}; it has {', '.join(self.fields)}")
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.fields]


class CollectionOf(Generic[ArrayT]):
    """An output of the graph with fields: see Collection."""

    groups: Mapping[str, GroupOf[ArrayT]]

    def __init__(self, schema: Schema, events: int) -> None:
        self.schema = schema
        self.event_count = events

    @property
    def fields(self) -> Mapping[str, Field]:
        return self.schema.fields

    def __getitem__(self, name: str) -> ArrayT:
        raise NotImplementedError

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

    def __iter__(self) -> Iterator[str]:
        return iter(self.schema.fields)


class Group(GroupOf[Array]):
    """The subitems of a collection's items: the hits of tracks.

    Fields are attributes, or are reached by name, with or without the prefix of the group: `tracks.hits.x` is the field
    `hit_x`. offsets: items + 1 values; item i has the subitems [offsets[i], offsets[i + 1]). len() is the number of
    subitems.
    """

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def pandas(self) -> Any:
        """A copy as a pandas DataFrame: a row for each subitem, with the index (event, item, subitem)."""
        items, subitems = places(self.offsets)
        events, of_events = places(self._collection[self._collection.schema.only("boundary") or ""])
        index = {"event": events[items], "item": of_events[items], "subitem": subitems}
        return frame({name: self[name] for name in self.fields}, index)


class Collection(CollectionOf[Array], Exported):
    """An output of the graph, for a number of events.

    Fields are attributes, or are reached by name: `tracks.x`, `tracks["x"]`. Arrays have the valid entries only.
    Offsets begin at 0: event e has the items [offsets[e], offsets[e + 1]), none if it has an error. `fields` has the
    unit, doc string and kind of entries of each field; `groups` the groups of subitems, such as `tracks.hits`. If the
    bits or indices of a field have names (`names`), `decisions["Hlt1TrackMVA"]` is an array with a bool for each event: True if
    the event has this bit or index. A field of the same name comes first. Raw bytes are words in the order of their items:
    item i has the size_bytes[i] bytes from word first_word[i] on, and first_word[0] is 0. KeyError, AttributeError: there is no such field.
    """

    def __init__(
        self,
        schema: Schema,
        events: int,
        load: Callable[[str], Array],
        load_whole: Callable[[str], Array] | None = None,
    ) -> None:
        super().__init__(schema, events)
        self._load = load
        self._load_whole = load_whole  # fields as they are in memory, where offsets need not begin at 0; None: they do
        self._arrays: dict[str, Array] = {}
        self.groups: dict[str, Group] = {name: Group(self, name) for name in schema.groups}

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

    def _whole(self, name: str) -> Array:
        return self[name] if self._load_whole is None else self._load_whole(name)

    def __len__(self) -> int:
        """Number of items; of a collection without items, number of events."""
        offsets = self.schema.only("boundary")
        return int(self[offsets][-1]) if offsets else self.event_count

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
        return type(self)(self.schema, self.event_count, arrays.__getitem__)

    def _of_events(self) -> dict[str, Array]:
        """The fields with a value for each event; a value of the slice is repeated for each event."""
        arrays = {f.name: self[f.name] for f in self.fields.values() if f.per in ("event", "slice")}
        for name, array in arrays.items():
            if self.fields[name].per == "slice":
                arrays[name] = np.repeat(array, self.event_count, axis=0)
        return arrays

    def _nested(self) -> Record:
        """The outputs of events in nested form, from the arrays as they are in memory."""

        def values(names: Mapping[str, str]) -> dict[str, Node]:
            return {name: Values(self._whole(field), about_field(self.fields[field])) for name, field in names.items()}

        members: dict[str, Node] = {
            name: Values(array, about_field(self.fields[name])) for name, array in self._of_events().items()
        }
        offsets = self.schema.only("boundary")
        if offsets is not None:
            whole = self._whole(offsets)
            items = values({f.name: f.name for f in self.fields.values() if f.per == "item"})
            for group in self.groups.values():
                bounds = self._whole(group._offsets)
                subitems = Record(values({name: f.name for name, f in group.fields.items()}), int(bounds[-1]))
                items[group.name] = Lists(bounds, subitems)
            if self.schema.pool is not None:
                bounds = word_bounds(self._whole(SIZE_BYTES))
                bounds = bounds.astype(np.int32) if bounds[-1] < 1 << 31 else bounds
                words = Values(self._whole(self.schema.pool), about_field(self.fields[self.schema.pool]))
                items[self.schema.pool] = Lists(bounds, words)
            members["items"] = Lists(whole, Record(items, int(whole[-1])))
        return Record(members, self.event_count, self.schema.about)

    def pandas(self) -> Any:
        """A copy as a pandas DataFrame: a row for each item, with the index (event, item), and fields per event repeated for
        each of its items; of a collection without items a row for each event. Fields with several values have the columns
        `x_0`, `x_1`, ...; subitems have DataFrames of their own, `tracks.hits.pandas()`. ImportError without the package pandas.
        """
        by_event, offsets = self._of_events(), self.schema.only("boundary")
        if offsets is None:
            return frame(by_event, {"event": np.arange(self.event_count)})
        events, items = places(self[offsets])
        columns = {name: array[events] for name, array in by_event.items()}
        columns |= {f.name: self[f.name] for f in self.fields.values() if f.per == "item"}
        return frame(columns, {"event": events, "item": items})


class EventList(Exported):
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

    def _nested(self) -> Record:
        return Record({"listed": Values(self.mask, {"doc": "the event is on the list"})}, self.event_count, self.schema.about)

    def pandas(self) -> Any:
        """A pandas DataFrame with a row for each event, and the column `listed`."""
        return frame({"listed": self.mask}, {"event": np.arange(self.event_count)})

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
    values: Array = np.frombuffer(raw, dtype=dtype).reshape(shape).copy()
    return values
