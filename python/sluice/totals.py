"""Sums over a run."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _abi
from .collection import Array, copy_of_memory, read_schema


class Totals(dict[str, Array]):
    """An output of totals: the sums by field, arrays of 64-bit integers with the shape (entries,) or (entries, width).

    names: of the entries, in order; () if they have none. label: what a name is ("line"). An entry is reached by its name:
    `totals["Hlt1TrackMVA"]` is a dict with a number for each field, `by_name()` a dict of such dicts. A field of the same
    name comes first.
    """

    def __init__(self, fields: Mapping[str, Array], names: tuple[str, ...] = (), label: str = "") -> None:
        super().__init__(fields)
        self.names = names
        self.label = label

    def __missing__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(f"there is no field or {self.label or 'entry'} {name!r}; there are {', '.join([*self, *self.names])}")
        entry = self.names.index(name)
        return {field: values[entry].tolist() for field, values in self.items()}

    def by_name(self) -> dict[str, dict[str, Any]]:
        """The sums of each entry by its name; {} without names."""
        return {name: self.__missing__(name) for name in self.names}


def read_totals(output: _abi.RunOutput) -> Totals:
    """Copies of an output's totals."""
    schema = read_schema(output)
    totals: dict[str, Array] = {}
    address = output.totals or 0
    for field in schema.fields.values():
        shape = (output.items,) if field.width == 1 else (output.items, field.width)
        dtype = np.dtype("i8") if field.dtype.kind == "i" else np.dtype("u8")
        totals[field.name] = copy_of_memory(address, dtype, shape)
        address += totals[field.name].nbytes
    return Totals(totals, schema.names, schema.label)
