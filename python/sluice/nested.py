"""The nested form of outputs: a tree of records, lists and values with one entry per event. Arrow and Awkward arrays, tables
and files are made from it, so that they all have the same names and the same nesting:

    <field per event>           a value, or an array of fixed size
    items                       a list of records, one for each item of the event
      <field per item>
      <group of subitems>       a list of records, one for each subitem of the item
        <field per subitem>     by its name without the prefix of the group

All outputs of a batch or of a run are a record with the member `events`, and a record for each output.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Union

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Values:
    """Numbers or bools, `len(array)` of them; further axes are those of arrays of fixed size. about: unit and doc."""

    array: Array
    about: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.array)


@dataclasses.dataclass(frozen=True)
class Lists:
    """Entry i has the entries [offsets[i], offsets[i + 1]) of the content. offsets[0] need not be 0."""

    offsets: Array
    content: Node

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclasses.dataclass(frozen=True)
class Record:
    """Records with these members, `length` of them. about: collection, output and doc."""

    members: Mapping[str, Node]
    length: int
    about: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __len__(self) -> int:
        return self.length


Node = Union[Values, Lists, Record]


def copied(record: Record) -> Record:
    """The record with arrays in memory of their own."""
    return Record({name: _copied(member) for name, member in record.members.items()}, record.length, record.about)


def _copied(node: Node) -> Node:
    if isinstance(node, Values):
        return Values(np.array(node.array), node.about)
    if isinstance(node, Lists):
        return Lists(np.array(node.offsets), _copied(node.content))
    return copied(node)


def to_awkward(node: Node) -> Any:
    """The layout of an Awkward array. Doc strings are its parameter "__doc__", as of uproot, units its parameter "unit"."""
    from awkward import contents, index

    if isinstance(node, Lists):
        return contents.ListOffsetArray(index.Index64(node.offsets.astype(np.int64)), to_awkward(node.content))
    about = {("__doc__" if key == "doc" else key): text for key, text in node.about.items() if text}
    if isinstance(node, Record):
        members = [to_awkward(member) for member in node.members.values()]
        return contents.RecordArray(members, list(node.members), length=node.length, parameters=about)
    array = node.array
    if array.ndim == 1:
        return contents.NumpyArray(array, parameters=about)
    layout = contents.NumpyArray(array.reshape(-1))
    for axis in range(array.ndim - 1, 0, -1):
        rows = int(np.prod(array.shape[:axis]))
        layout = contents.RegularArray(
            layout, array.shape[axis], zeros_length=rows, parameters=about if axis == 1 else None
        )
    return layout
