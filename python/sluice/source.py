"""What a program feeds a run with: events as raw banks, and packets, in its own memory.

Nothing is copied here: an event holds a table of its banks as the library reads it (struct sl_feed_block), and refers
to the memory that the banks are in.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _abi
from .collection import Array

BLOCK = np.dtype(_abi.FeedBlock)

Data = Union[bytes, bytearray, memoryview, npt.NDArray[Any]]


def _memory(what: str, data: Data) -> Array:
    """The bytes of `data` as an array that refers to them, without a copy. TypeError unless they are bytes, or unsigned
    words of 1, 2 or 4 bytes in the byte order of files, which is little-endian. An array is judged by its dtype, any
    other buffer by its format.
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
    """Numbers of `bits` bits, one for each of `count` banks."""
    _must_be_plain(f"{name} of banks", values)
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"{name} of banks must be whole numbers, not {numbers.dtype}")
    if numbers.shape not in ((), (count,)):
        raise ValueError(f"{name} has the shape {numbers.shape} for {count} banks; give one number, or one for each")
    wrong = np.atleast_1d((numbers < 0) | (numbers >= 1 << bits))
    if wrong.any():
        place = int(np.argmax(wrong))
        value = numbers if numbers.shape == () else numbers[place]
        raise ValueError(f"bank {place}: {name} is {value}; it must be 0 or more, and below {1 << bits}")
    return numbers


class Bank(NamedTuple):
    """A raw bank. data: its payload, bytes or a NumPy array of uint8, uint16 or uint32, little-endian as in files."""

    type: int
    version: int
    source_id: int
    data: Data


class Banks:
    """Raw banks as arrays, for many of them at little cost.

    Bank b has the bytes [offsets[b], offsets[b + 1]) of `data`; type, version, source_id: a number for each, or one
    for all.
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
        """Of single ones."""
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

    run, number: for events without ODIN bank, which has both. The memory of the banks is read later, when the event
    goes into a slice: it must not change before.
    """

    def __init__(
        self, banks: Banks | Iterable[Bank | tuple[int, int, int, Data]], *, run: int = 0, number: int = 0
    ) -> None:
        self.banks = banks if isinstance(banks, Banks) else Banks.of(banks)
        self.run, self.number = _abi.count("run", run, 32), _abi.count("number", number, 64)

    def __repr__(self) -> str:
        return f"<event {self.number} of run {self.run}: {len(self.banks)} banks>"


class Packet:
    """A packet of the event builder (MEP) as bytes or a NumPy array, without anything around it: thousands of events.

    Its memory must not change before all of them are in slices.
    """

    def __init__(self, data: Data) -> None:
        self.memory = _memory("the packet", data)

    def __repr__(self) -> str:
        return f"<packet of {self.memory.nbytes} bytes>"


Entry = Union[Event, Packet]
