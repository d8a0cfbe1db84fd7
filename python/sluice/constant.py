"""Constants of a graph: geometries, calibrations and tables, as NumPy arrays."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _abi
from ._session import Session
from .collection import Array, Collection, Memory, about_field, read_collection
from .exported import frame
from .nested import Lists, Node, Record, Values


class Constant(Collection):
    """A constant of a graph. Fields are attributes, or are reached by name: `geometry.x`; each one is a read-only array of a
    length of its own, which stays valid.

    As Arrow, Awkward and other data it is one record, with a list for each field.
    """

    def _nested(self) -> Record:
        members: dict[str, Node] = {}
        for field in self.fields.values():
            array = self[field.name]
            members[field.name] = Lists(np.array([0, len(array)], np.int64), Values(array, about_field(field)))
        return Record(members, 1, self.schema.about)

    def pandas(self) -> Any:
        """A copy as a pandas DataFrame, with a row for each value. ValueError if fields have different lengths."""
        lengths = {name: len(array) for name, array in self.arrays().items()}
        if len(set(lengths.values())) > 1:
            given = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise ValueError(f"the fields of {self.schema.output} have different lengths ({given}): one DataFrame cannot hold them")
        return frame(self.arrays(), {"index": np.arange(next(iter(lengths.values()), 0))})

    def __len__(self) -> int:
        """Number of fields."""
        return len(self.fields)

    def __repr__(self) -> str:
        return f"<constant {self.schema.output}: {self.schema.collection}, {len(self)} fields>"


def read_constants(session: Session) -> dict[str, Constant]:
    """The constants of a session that does not run, by name. Their arrays refer to the session."""
    return {_abi.decode(found.name): _read(found, session) for found in session.constants()}


def _read(found: _abi.Constant, session: Session) -> Constant:
    schema = read_collection(_abi.decode(found.name), found.collection)
    addresses = _abi.addresses_at(found.fields, len(schema.fields))
    counts = (ctypes.c_uint64 * len(addresses)).from_address(found.counts)
    arrays: dict[str, Array] = {}
    for field, address, count in zip(schema.fields.values(), addresses, counts):
        shape = (count // field.width, *field.shape)
        is_empty = 0 in shape or not address
        arrays[field.name] = np.zeros(shape, field.dtype) if is_empty else np.asarray(Memory(address, field.dtype, shape, session))
    return Constant(schema, 1, arrays.__getitem__)
