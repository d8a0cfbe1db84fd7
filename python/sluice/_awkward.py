"""Awkward arrays of collections. The package awkward is imported here, and only when asked for."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .collection import Collection


def from_collection(collection: Collection) -> Any:
    try:
        import awkward
    except ImportError:
        raise ImportError("Awkward arrays need the package awkward: pip install awkward") from None
    contents, index = awkward.contents, awkward.index

    def values(name: str) -> Any:
        array = np.array(collection[name])  # a copy: Awkward arrays are kept
        flat = contents.NumpyArray(array.reshape(-1))
        return flat if array.ndim == 1 else contents.RegularArray(flat, array.shape[1], zeros_length=len(array))

    def record(names: dict[str, str], length: int) -> Any:
        return contents.RecordArray([values(field) for field in names.values()], list(names), length=length)

    def lists(offsets: Any, content: Any) -> Any:
        return contents.ListOffsetArray(index.Index64(np.array(offsets, dtype=np.int64)), content)

    fields = collection.fields
    by_event = {f.name: f.name for f in fields.values() if f.per == "event"}
    offsets = collection.schema.only("boundary")
    if offsets is None:
        return awkward.Array(record(by_event, collection.event_count))

    own = {f.name: f.name for f in fields.values() if f.per == "item"}
    parts, names = [values(name) for name in own], list(own)
    for group in collection.groups.values():
        subitems = record({short: field.name for short, field in group.fields.items()}, len(group))
        parts.append(lists(group.offsets, subitems))
        names.append(group.name)
    items = lists(collection[offsets], contents.RecordArray(parts, names, length=len(collection)))
    if not by_event:
        return awkward.Array(items)
    around = [*(values(name) for name in by_event), items]
    return awkward.Array(contents.RecordArray(around, [*by_event, "items"], length=collection.event_count))
