"""Entries that a program gives to a run: arrays, packets, and events as raw banks, in the program's memory.

Nothing is copied here: an event has a table of its banks (struct sl_feed_block) and refers to their memory.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _abi
from ._foreign import host_array
from .collection import Array

BLOCK = np.dtype(_abi.FeedBlock)

Data = Union[bytes, bytearray, memoryview, npt.NDArray[Any]]


def _memory(what: str, data: Data) -> Array:
    """`data` as an array that refers to it, without a copy. TypeError unless it is bytes, or little-endian unsigned
    integers of 1, 2 or 4 bytes, by the dtype of an array or the format of another buffer. ValueError if it is not
    contiguous.
    """
    array = data if isinstance(data, np.ndarray) else np.asarray(memoryview(data))
    if array is not data and array.dtype in (np.dtype("S1"), np.dtype("i1")):  # bytes of ctypes, of Arrow
        array = array.view(np.uint8)
    _must_be_plain(what, array)
    if array.dtype.kind != "u" or array.dtype.itemsize > 4:
        raise TypeError(f"{what} is an array of {array.dtype}; it must be one of uint8, uint16 or uint32, or bytes")
    little = array.dtype.newbyteorder("<")
    if array.dtype != little:
        raise TypeError(
            f"{what} is big-endian ({array.dtype.str}); banks are little-endian: give array.astype('{little.str}')"
        )
    if not array.flags.c_contiguous:
        raise ValueError(f"{what} does not lie in one piece: give array.copy()")
    return array


def _must_be_plain(what: str, array: npt.ArrayLike) -> None:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array; its mask would be lost: give array.compressed() or array.filled()")


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _column(name: str, values: npt.ArrayLike, count: int, bits: int) -> Array:
    """Numbers of `bits` bits: one, or one for each of `count` banks. TypeError, ValueError for others."""
    _must_be_plain(f"{name} of banks", values)
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"{name} of banks must be whole numbers, not {numbers.dtype}")
    if numbers.shape not in ((), (count,)):
        raise ValueError(f"{name} has the shape {numbers.shape} for {count} banks; give one number, or one for each")
    wrong = np.atleast_1d((numbers < 0) | (numbers >= 1 << bits))
    if wrong.any():
        index = int(np.argmax(wrong))
        value = numbers if numbers.shape == () else numbers[index]
        raise ValueError(f"bank {index}: {name} is {value}; it must be 0 or more, and below {1 << bits}")
    return numbers


class Bank(NamedTuple):
    """A raw bank. data: its payload, bytes or a NumPy array of uint8, uint16 or uint32, little-endian as in files."""

    type: int
    version: int
    source_id: int
    data: Data


class Banks:
    """Raw banks as arrays, for many of them at little cost.

    Bank b has the bytes [offsets[b], offsets[b + 1]) of `data`, which is bytes or an array as of Bank. type, version,
    source_id: an array with one number per bank, or one number for all. The memory of `data` must not change before the
    event is in a slice.
    """

    def __init__(
        self,
        data: Data,
        offsets: npt.ArrayLike,
        *,
        type: npt.ArrayLike,
        version: npt.ArrayLike,
        source_id: npt.ArrayLike,
    ) -> None:
        memory = _memory("data", data)
        self._kept = [memory]
        _must_be_plain("offsets", offsets)
        bounds = np.asarray(offsets)
        if bounds.ndim != 1 or len(bounds) == 0 or bounds.dtype.kind not in "iu":
            raise ValueError("offsets must be whole numbers, one more than there are banks")
        bounds = bounds.astype(np.int64)
        if bounds[0] < 0 or bounds[-1] > memory.nbytes or (np.diff(bounds) < 0).any():
            raise ValueError(f"offsets must not fall, and lie in [0, {memory.nbytes}], the bytes of data")
        count = len(bounds) - 1
        self.blocks: Array = np.zeros(count, BLOCK)
        self.blocks["data"] = _address(memory) + bounds[:-1]
        self.blocks["bytes"] = _column("the size", np.diff(bounds), count, 32)
        self._set(type, version, source_id)

    @classmethod
    def of(cls, banks: Iterable[Bank | tuple[int, int, int, Data]]) -> Banks:
        """Banks from single ones: Bank, or tuples (type, version, source_id, data)."""
        rows = list(banks)
        if any(len(row) != 4 for row in rows):
            raise TypeError("a bank is Bank(type, version, source_id, data)")
        self = cls.__new__(cls)
        self._kept = memory = [_memory(f"the data of bank {i}", row[3]) for i, row in enumerate(rows)]
        self.blocks = np.zeros(len(rows), BLOCK)
        self.blocks["data"] = [_address(array) for array in memory]
        self.blocks["bytes"] = _column("the size", [array.nbytes for array in memory], len(rows), 32)
        self._set([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
        return self

    def _set(self, type: npt.ArrayLike, version: npt.ArrayLike, source_id: npt.ArrayLike) -> None:
        columns: tuple[tuple[str, npt.ArrayLike, int], ...] = (
            ("type", type, 8), ("version", version, 8), ("source_id", source_id, 16)
        )
        for name, values, bits in columns:
            self.blocks[name] = _column(name, values, len(self.blocks), bits)

    def __len__(self) -> int:
        return len(self.blocks)


class Event:
    """An event to run a graph on: its raw banks, Banks or a list of Bank.

    run, number: used if the event has no ODIN bank. The memory of the banks is read when the event goes into a slice
    and must not change before.
    """

    def __init__(
        self, banks: Banks | Iterable[Bank | tuple[int, int, int, Data]], *, run: int = 0, number: int = 0
    ) -> None:
        self.banks = banks if isinstance(banks, Banks) else Banks.of(banks)
        self.run, self.number = _abi.count("run", run, 32), _abi.count("number", number, 64)

    def __repr__(self) -> str:
        return f"<event {self.number} of run {self.run}: {len(self.banks)} banks>"


class Packet:
    """A packet of the event builder (MEP), thousands of events, as bytes or a NumPy array, not in an MDF record.

    Its memory must not change before all its events are in slices.
    """

    def __init__(self, data: Data) -> None:
        self.memory = _memory("the packet", data)

    def __repr__(self) -> str:
        return f"<packet of {self.memory.nbytes} bytes>"


class Inputs:
    """Events as arrays, by port and field of the graph's source: Inputs({"block": array}), or {"hits": {"offsets": o,
    "x": x}}. An array alone is the only field of its port that is not an offset.

    The first axis of an array is that of events, or of items; the others are the dimensions of the field. `offsets`: one
    more than there are events; event e has the items [offsets[e], offsets[e + 1]). events: number of events (None: by
    the offsets, else the length of the first array). number: event number of the first event; the others follow (None:
    the events of the run are counted from 0).
    Arrays have the types of the fields; those of offsets may be any integers. The memory of arrays that are in one piece
    is not copied and must not change before all events are in slices. Arrays of other libraries (__dlpack__,
    __cuda_array_interface__) are not copied either if they are in host memory. Arrays on a GPU are copied to host memory
    at once, after all work on the GPU is done; copied_bytes is their size. TypeError and ValueError for arrays that cannot be
    given; wrong names, types and lengths end the run with an error.
    """

    def __init__(
        self,
        ports: Mapping[str, npt.ArrayLike | Mapping[str, npt.ArrayLike]],
        *,
        events: int | None = None,
        run: int = 0,
        number: int | None = None,
    ) -> None:
        self.run = _abi.count("run", run, 32)
        self.number = _abi.COUNTED if number is None else _abi.count("number", number, 64)
        if not isinstance(ports, Mapping):
            raise TypeError(f"inputs are a mapping of ports to arrays, not {type(ports).__name__}")
        fields: list[tuple[str, str, Array]] = []
        self.copied_bytes = 0  # from the memory of GPUs
        for port, given in ports.items():
            by_field = given if isinstance(given, Mapping) else {"": given}
            for field, of in by_field.items():
                name = f"{port}.{field}" if field else port
                array, copied_bytes = host_array(name, of)
                self.copied_bytes += copied_bytes
                fields.append((port, field, _values(name, field, array)))
        if not fields:
            raise ValueError("inputs without an array")
        lengths = [len(values) - 1 for _, field, values in fields if field == "offsets"]
        count = lengths[0] if lengths else len(fields[0][2])
        self.events = _abi.count("events", count if events is None else events, 64)
        self._kept = [values for _, _, values in fields]
        self.arrays = (_abi.FeedArray * len(fields))()
        for entry, (port, field, values) in zip(self.arrays, fields):
            entry.port, entry.field = port.encode(), field.encode()
            entry.values, entry.count = _address(values), values.size
            entry.type = _abi.TYPES.index(f"{values.dtype.kind}{values.dtype.itemsize}")

    def __repr__(self) -> str:
        return f"<inputs of {self.events} events: {', '.join(entry.port.decode() for entry in self.arrays)}>"


def _values(name: str, field: str, given: npt.ArrayLike) -> Array:
    """An array of a type that fields can have, in one piece."""
    _must_be_plain(name, given)
    array = np.asarray(given)
    if array.ndim == 0:
        raise ValueError(f"{name} is one number; it must be an array")
    if array.dtype.str[0] == ">":
        raise TypeError(f"{name} is big-endian ({array.dtype.str}): give array.astype('{array.dtype.str[1:]}')")
    if (field == "offsets" or field.endswith("_offsets")) and array.dtype.kind in "iu":
        if array.size and (array.min() < 0 or array.max() >= 1 << 32):
            raise ValueError(f"{name} must be from 0 to {(1 << 32) - 1}")
        array = array.astype(np.uint32)
    if f"{array.dtype.kind}{array.dtype.itemsize}" not in _abi.TYPES:
        raise TypeError(f"{name} is an array of {array.dtype}; fields have integers of 8 to 64 bits, float32 or float64")
    return np.ascontiguousarray(array)


Entry = Union[Event, Packet, Inputs]
