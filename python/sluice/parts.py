"""Parts of files for several runs, and functions that combine the results of these runs."""
from __future__ import annotations

import ctypes
import dataclasses
import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from ctypes import c_uint64, c_void_p
from typing import Union

import numpy as np

from . import _abi
from ._library import Diagnostics, library
from .collection import Array
from .errors import RunError, SluiceWarning, failure, warn

Files = Union[str, os.PathLike[str], Iterable[Union[str, os.PathLike[str]]]]
NO_EVENTS = f"{1:016x}"  # the digest of no events


@dataclasses.dataclass(frozen=True)
class Part:
    """Bytes of a file that begin and end at a record; graph.run() takes a part like a file."""

    path: str
    first_byte: int = 0
    bytes: int = 0  # 0: to the end
    first_record: int | None = None  # number of records before it in the file; None: the run counts them
    events: int | None = None  # number of events according to the headers; None: not known
    bad_records: int = 0  # records with a wrong header

    def __fspath__(self) -> str:
        return self.path


def from_here(path: str | os.PathLike[str]) -> str:
    """The absolute path, which stays valid when the working directory changes; "-", "" and "zmq:ENDPOINT" are
    unchanged. Unlike os.path.abspath it keeps "..", which may follow a symbolic link.
    """
    name = os.fspath(path)
    return name if name in ("", "-") or name.startswith("zmq:") else os.path.join(os.getcwd(), name)


def input_from_here(item: str | Part) -> str | Part:
    """An input file, or a part of one, by its absolute path."""
    return dataclasses.replace(item, path=from_here(item.path)) if isinstance(item, Part) else from_here(item)


def files_of(files: Files) -> list[str | Part]:
    """The list of input files. Parts stay; a pattern becomes the files that it matches, sorted; a pattern without
    matches stays, as a file that does not exist. ValueError for an empty list.
    """
    found: list[str | Part] = []
    for item in [files] if isinstance(files, (str, os.PathLike)) else files:
        if isinstance(item, Part):
            found.append(item)
            continue
        path = os.fspath(item)
        is_pattern = glob.has_magic(path) and not os.path.exists(path)
        matches = sorted(glob.glob(path)) if is_pattern else []
        found += matches if matches else [path]
    if not found:
        raise ValueError("the list of input files is empty; None runs the graph's own source")
    return found


def _range(item: str | Part) -> _abi.InputRange:
    if not isinstance(item, Part):
        return _abi.InputRange(0, 0, 0)
    return _abi.InputRange(
        item.first_byte, item.bytes, _abi.RECORD_UNKNOWN if item.first_record is None else item.first_record
    )


def ranges_of(items: Sequence[str | Part]) -> ctypes.Array[_abi.InputRange] | None:
    """The ranges for struct sl_options; None if all items are whole files."""
    if not any(isinstance(item, Part) for item in items):
        return None
    return (_abi.InputRange * len(items))(*map(_range, items))


def index(files: Files, events: int = 10_000, *, plugin_paths: Sequence[str | os.PathLike[str]] = ()) -> list[Part]:
    """Cuts files, patterns or parts of files into parts of at least `events` events each; the last part of a file may
    have fewer. Reads headers of records and banks, no payloads. Bad headers are warnings; a run makes error events of
    them. RunError for a file that has no parts, or a part that does not begin and end at a record. The returned parts
    have absolute paths.
    """
    events = _abi.count("events", events, 64, 1)
    diagnostics, found, count = Diagnostics(), c_void_p(), c_uint64()
    items = [input_from_here(item) for item in files_of(files)]
    status = library().sl_index_ranges(
        _abi.strings([os.fsencode(path) for path in plugin_paths]),
        _abi.strings([os.fsencode(item) for item in items]),
        ranges_of(items),
        events,
        diagnostics.pointer,
        ctypes.byref(found),
    )
    messages = diagnostics.read()
    if status < 0:
        raise RunError(failure("the files have no index", messages), messages, _abi.ERRORS.get(status, str(status)))
    try:
        first = library().sl_index_parts(found, ctypes.byref(count))
        parts = [
            Part(
                _abi.decode(part.path),
                part.range.first_byte,
                part.range.bytes,
                part.range.first_record,
                part.events,
                part.bad_records,
            )
            for part in _abi.array_at(_abi.Part, first, count.value)
        ]
    finally:
        library().sl_index_close(found)
    for diagnostic in messages:
        warn(diagnostic.text, SluiceWarning)
    return parts


def join_digests(first: str, second: str, events_of_second: int) -> str:
    """The digest of an output over the events of two consecutive runs, from the digests in their summaries ("outputs",
    "digest"). NO_EVENTS is the digest of no events. Digests of totals cannot be joined: see digest_of_totals().
    """
    events = _abi.count("events_of_second", events_of_second, 64)
    digests = (_abi.count("a digest", int(digest, 16), 64) for digest in (first, second))
    return f"{library().sl_digest_join(*digests, events):016x}"


def _words_of_sums(name: str, values: Array) -> Array:
    """The bits of 64-bit sums as uint64 in this machine's byte order. TypeError for other types."""
    sums = np.asarray(values)
    if sums.dtype.kind not in "iuf" or sums.dtype.itemsize != 8:
        raise TypeError(f"the totals {name} are an array of {sums.dtype}; totals have 64 bits each")
    return np.ascontiguousarray(sums, sums.dtype.newbyteorder("=")).view(np.uint64).ravel()


def digest_of_totals(fields: Mapping[str, Array]) -> str:
    """The digest of an output of totals, from `totals[OUTPUT]` of a run, or from the sums over several runs."""
    values = [_words_of_sums(name, column) for name, column in fields.items()]
    sums = np.concatenate(values) if values else np.empty(0, np.uint64)
    return f"{library().sl_digest_totals(sums.ctypes.data, sums.size):016x}"
