"""The Arrow C Data Interface by ctypes: nested arrays as Arrow arrays, without a copy and without a package for Arrow.

See https://arrow.apache.org/docs/format/CDataInterface.html, and PyCapsuleInterface.html there. Each exported struct has an
entry in _kept, which holds what the struct points to, NumPy arrays included, until its release callback is called.
"""
from __future__ import annotations

import ctypes
import errno
import itertools
import struct
import sys
from collections.abc import Callable, Mapping
from ctypes import c_char_p, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from . import _abi
from .nested import Array, Lists, Node, Record, Values

_FORMATS = {"u1": "C", "i1": "c", "u2": "S", "i2": "s", "u4": "I", "i4": "i", "u8": "L", "i8": "l", "f4": "f", "f8": "g"}
_LAST_INT32 = (1 << 31) - 1


class ArrowSchema(ctypes.Structure):
    _fields_ = [
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_void_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArray(ctypes.Structure):
    _fields_ = [
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", c_void_p),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


_keys = itertools.count(1)
_kept: dict[int, Any] = {}  # what exported structs point to, by private_data


def _keep(what: Any) -> int:
    key = next(_keys)
    _kept[key] = what
    return key


def _for_ever(callback: Any) -> int:
    """The address of a callback that is never freed: Arrow arrays may be released while Python ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return ctypes.cast(callback, c_void_p).value or 0


def _release_function(kind: type[ctypes.Structure]) -> Callable[[int], None]:
    """The release callback of a struct with children. Children that the consumer moved away have no release any more. While
    Python ends, nothing is freed.
    """

    def release(address: int, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        released: Any = kind.from_address(address)
        released.release = None
        if is_ending():
            return
        for child in _children(released):
            if kind.from_address(child).release:
                release(child)
        _kept.pop(released.private_data, None)

    return release


def _children(released: Any) -> list[int]:
    return _abi.addresses_at(released.children, released.n_children) if released.children else []


_RELEASED = ctypes.CFUNCTYPE(None, c_void_p)
_release_schema, _release_array = _release_function(ArrowSchema), _release_function(ArrowArray)
_RELEASE_SCHEMA, _RELEASE_ARRAY = _for_ever(_RELEASED(_release_schema)), _for_ever(_RELEASED(_release_array))


def _pointers(addresses: list[int]) -> Any:
    return (c_void_p * len(addresses))(*addresses) if addresses else None


def _address(of: Any) -> int | None:
    return None if of is None else ctypes.addressof(of)


# ------------------------------------------------------------------------------------------------------------ types


def encode_metadata(about: Mapping[str, str]) -> bytes | None:
    """Pairs of texts as an ArrowSchema holds them; None without any."""
    pairs = [(key.encode(), text.encode("utf-8", "surrogateescape")) for key, text in about.items() if text]
    if not pairs:
        return None
    texts = [struct.pack("=i", len(text)) + text for pair in pairs for text in pair]
    return struct.pack("=i", len(pairs)) + b"".join(texts)


def _is_large(offsets: Array) -> bool:
    """Whether a list needs offsets of 64 bits."""
    return offsets.dtype.itemsize == 8 or int(offsets[-1]) > _LAST_INT32


def _format(node: Node) -> str:
    if isinstance(node, Record):
        return "+s"
    if isinstance(node, Lists):
        return "+L" if _is_large(node.offsets) else "+l"
    if node.array.ndim > 1:
        return f"+w:{node.array.shape[1]}"
    return "b" if node.array.dtype == np.bool_ else _FORMATS[f"{node.array.dtype.kind}{node.array.dtype.itemsize}"]


def _members(node: Node) -> list[tuple[str, Node]]:
    """The children of the node's Arrow type, by name."""
    if isinstance(node, Record):
        return list(node.members.items())
    if isinstance(node, Lists):
        return [("item", node.content)]
    array = node.array
    if array.ndim == 1:
        return []
    return [("item", Values(array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])))]


def fill_schema(schema: Any, name: str, node: Node) -> None:
    """Fills an ArrowSchema with the type of a node. No value is ever null."""
    children = []
    for child_name, member in _members(node):
        child = ArrowSchema()
        fill_schema(child, child_name, member)
        children.append(child)
    encoded = None if isinstance(node, Lists) else encode_metadata(node.about)
    metadata = None if encoded is None else ctypes.create_string_buffer(encoded, len(encoded))
    pointers = _pointers([ctypes.addressof(child) for child in children])
    texts = (_format(node).encode(), name.encode())
    schema.format, schema.name = texts
    schema.metadata, schema.flags, schema.dictionary = _address(metadata), 0, None
    schema.n_children, schema.children = len(children), _address(pointers)
    schema.release, schema.private_data = _RELEASE_SCHEMA, _keep((texts, metadata, children, pointers))


# ----------------------------------------------------------------------------------------------------------- values


def _buffers(node: Node) -> list[Array | None]:
    """The buffers of the node's Arrow type. The first buffer, for nulls, is absent. Bools become bits; offsets that do not
    fit into their type are converted; all other buffers are the arrays themselves.
    """
    if isinstance(node, Record):
        return [None]
    if isinstance(node, Lists):
        offsets = node.offsets
        is_signed_enough = offsets.dtype.itemsize == (8 if _is_large(offsets) else 4)
        return [None, np.ascontiguousarray(offsets if is_signed_enough else offsets.astype(np.int64))]
    if node.array.ndim > 1:
        return [None]
    if node.array.dtype == np.bool_:
        return [None, np.packbits(node.array, bitorder="little")]
    return [None, np.ascontiguousarray(node.array)]


def fill_array(to: Any, node: Node) -> None:
    """Fills an ArrowArray with the values of a node, which its release callback lets go of."""
    children = []
    for _, member in _members(node):
        child = ArrowArray()
        fill_array(child, member)
        children.append(child)
    arrays = _buffers(node)
    buffers = (c_void_p * len(arrays))(*(None if array is None else array.ctypes.data for array in arrays))
    pointers = _pointers([ctypes.addressof(child) for child in children])
    to.length, to.null_count, to.offset = len(node), 0, 0
    to.n_buffers, to.buffers = len(arrays), ctypes.addressof(buffers)
    to.n_children, to.children, to.dictionary = len(children), _address(pointers), None
    to.release, to.private_data = _RELEASE_ARRAY, _keep((arrays, buffers, children, pointers))


# ---------------------------------------------------------------------------------------------------------- streams

_FILL = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_TEXT = ctypes.CFUNCTYPE(c_void_p, c_void_p)


class _Stream:
    """A stream of one array, with which a table has one chunk."""

    def __init__(self, record: Record) -> None:
        self.record, self.is_over = record, False
        self.error: Any = None


def _answer(address: int, act: Callable[[_Stream], None]) -> int:
    stream: _Stream = _kept[ArrowArrayStream.from_address(address).private_data]
    try:
        act(stream)
        return 0
    except Exception as error:
        stream.error = ctypes.create_string_buffer(str(error).encode())
        return errno.ENOMEM if isinstance(error, MemoryError) else errno.EINVAL


def _get_schema(address: int, to: int) -> int:
    return _answer(address, lambda stream: fill_schema(ArrowSchema.from_address(to), "", stream.record))


def _get_next(address: int, to: int) -> int:
    def give(stream: _Stream) -> None:
        array = ArrowArray.from_address(to)
        if stream.is_over:
            array.release = None
            return
        fill_array(array, stream.record)
        stream.is_over = True

    return _answer(address, give)


def _get_last_error(address: int) -> int | None:
    return _address(_kept[ArrowArrayStream.from_address(address).private_data].error)


def _release_stream(address: int, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
    stream = ArrowArrayStream.from_address(address)
    stream.release = None
    if not is_ending():
        _kept.pop(stream.private_data, None)


_GET_SCHEMA, _GET_NEXT = _for_ever(_FILL(_get_schema)), _for_ever(_FILL(_get_next))
_GET_LAST_ERROR, _RELEASE_STREAM = _for_ever(_TEXT(_get_last_error)), _for_ever(_RELEASED(_release_stream))


def fill_stream(to: Any, record: Record) -> None:
    to.get_schema, to.get_next, to.get_last_error = _GET_SCHEMA, _GET_NEXT, _GET_LAST_ERROR
    to.release, to.private_data = _RELEASE_STREAM, _keep(_Stream(record))


# --------------------------------------------------------------------------------------------------------- capsules

_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
# A capsule that dies is an address here: a Python object would be counted, and the capsule would die again.
_pointer_of = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_roots: dict[int, Any] = {}  # structs of capsules, by address


def _destructor(name: bytes, release: Callable[[int], None]) -> int:
    def destroy(capsule: int, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_ending():
            return
        root = _roots.pop(_pointer_of(capsule, name))
        if root.release:  # no consumer has taken it
            release(ctypes.addressof(root))

    return _for_ever(ctypes.PYFUNCTYPE(None, c_void_p)(destroy))


_SCHEMA, _ARRAY, _STREAM = b"arrow_schema", b"arrow_array", b"arrow_array_stream"
_CAPSULES: dict[type[ctypes.Structure], tuple[bytes, int]] = {
    ArrowSchema: (_SCHEMA, _destructor(_SCHEMA, _release_schema)),
    ArrowArray: (_ARRAY, _destructor(_ARRAY, _release_array)),
    ArrowArrayStream: (_STREAM, _destructor(_STREAM, _release_stream)),
}


def capsule(kind: type[ctypes.Structure], fill: Callable[[Any], None]) -> Any:
    """A PyCapsule with a struct that `fill` fills."""
    root: Any = kind()
    fill(root)
    _roots[ctypes.addressof(root)] = root
    name, destructor = _CAPSULES[kind]
    return _new_capsule(ctypes.addressof(root), name, destructor)


class Arrow:
    """Arrow data, one record for each event: an object that PyArrow, Polars, pandas, DuckDB and others take by the Arrow
    PyCapsule Interface, `pyarrow.table(batch.tracks.arrow())`.

    It has no values of its own: those of a batch are the library's memory, valid as long as arrays of the batch are. Once the
    batch is over, handing them out raises ExpiredError.
    """

    def __init__(self, make: Callable[[], Record]) -> None:
        self._make = make

    def __arrow_c_schema__(self) -> Any:
        record = self._make()
        return capsule(ArrowSchema, lambda schema: fill_schema(schema, "", record))

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        record = self._make()
        return (
            capsule(ArrowSchema, lambda schema: fill_schema(schema, "", record)),
            capsule(ArrowArray, lambda array: fill_array(array, record)),
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        record = self._make()
        return capsule(ArrowArrayStream, lambda stream: fill_stream(stream, record))

    def __len__(self) -> int:
        """Number of events."""
        return len(self._make())

    def __repr__(self) -> str:
        record = self._make()
        return f"<Arrow data of {len(record)} events: {', '.join(record.members)}>"
