"""A feed of the library, struct sl_feed: takes entries while a session runs, and keeps each alive until it is packed.
"""
from __future__ import annotations

import ctypes
import itertools
import os
import time
from collections.abc import Callable, Iterable
from ctypes import c_uint64

from . import _abi
from ._library import library
from .errors import Error
from .source import Entry, Event, Inputs, Packet, _address

STEP_S = 0.1  # longest wait in C; between waits Python handles signals


class Pushed:
    """Stands for a source in the arguments of a run that gets its events from a Feed."""

    def __init__(self, on_release: Callable[[Entry], None] | None, is_arrays: bool = False) -> None:
        self.on_release, self.is_arrays = on_release, is_arrays


class Given:
    """Stands for a source of Inputs only, which take the place of the events of the graph's source."""

    def __init__(self, inputs: Iterable[Inputs]) -> None:
        self.inputs = inputs


class Queue:
    """A struct sl_feed, freed when nothing refers to it. A session that uses the feed refers to it."""

    def __init__(
        self, entries_max: int = 0, on_release: Callable[[Entry], None] | None = None, is_arrays: bool = False
    ) -> None:
        kept: dict[int, Entry] = {}  # by the owner number that the library returns
        self._kept, self._numbers = kept, itertools.count(1)

        def release(_: int | None, owner: int) -> None:
            entry = kept.pop(owner)
            if on_release is not None:
                on_release(entry)

        self._release = _abi.RELEASE_CALLBACK(release)
        self._pid = os.getpid()
        options = _abi.FeedOptions(ctypes.sizeof(_abi.FeedOptions), entries_max, None, self._release, is_arrays)
        self.pointer: int | None = library().sl_feed_new(ctypes.byref(options))
        if not self.pointer:
            raise MemoryError("sl_feed_new")

    def give(self, entry: Entry, timeout: float | None) -> int | None:
        """Gives an entry to the run and returns its number, from 0; None if the run takes no more entries. TimeoutError
        if there was no room within `timeout` seconds (None: no limit), TypeError if `entry` is none.
        """
        if not isinstance(entry, (Event, Packet, Inputs)):
            raise TypeError(f"{type(entry).__name__} is no entry of a feed: give Inputs, a Packet or an Event")
        owner, index = next(self._numbers), c_uint64()
        self._kept[owner] = entry
        try:
            taken = _wait(lambda timeout_ms: self._try(entry, owner, timeout_ms, index), timeout)
        except (TimeoutError, Error):
            del self._kept[owner]
            raise  # after other exceptions (KeyboardInterrupt) the library may have taken the entry: keep it
        if taken:
            return index.value
        del self._kept[owner]
        return None

    def _try(self, entry: Entry, owner: int, timeout_ms: int, index: c_uint64) -> int:
        if isinstance(entry, Packet):
            memory = entry.memory
            status = library().sl_feed_give_packet(
                self.pointer, _address(memory), memory.nbytes, owner, timeout_ms, ctypes.byref(index)
            )
        elif isinstance(entry, Inputs):
            arrays = _abi.FeedArrays(
                ctypes.sizeof(_abi.FeedArrays), len(entry.arrays), ctypes.addressof(entry.arrays), entry.events,
                entry.number, entry.run, 0, owner
            )
            status = library().sl_feed_give_arrays(self.pointer, ctypes.byref(arrays), timeout_ms, ctypes.byref(index))
        else:
            blocks = entry.banks.blocks
            event = _abi.FeedEvent(
                ctypes.sizeof(_abi.FeedEvent), len(blocks), _address(blocks), entry.number, entry.run, 0, owner
            )
            status = library().sl_feed_give_event(self.pointer, ctypes.byref(event), timeout_ms, ctypes.byref(index))
        return int(status)

    def wait(self, index: int, timeout: float | None) -> bool:
        """Waits until entry `index` has gone through the graph: True; False if the run ended before. TimeoutError as
        give().
        """
        return _wait(lambda timeout_ms: int(library().sl_feed_wait(self.pointer, index, timeout_ms)), timeout)

    def end(self) -> None:
        library().sl_feed_end(self.pointer)

    def __del__(self) -> None:
        if getattr(self, "pointer", None) and self._pid == os.getpid():
            library().sl_feed_free(self.pointer)
            self.pointer = None


def _wait(call: Callable[[int], int], timeout: float | None) -> bool:
    """Repeats call(timeout_ms) until it returns 1 (True) or SL_EINTERRUPTED (False). TimeoutError after `timeout`
    seconds, Error for other statuses.
    """
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = STEP_S if end is None else min(max(end - time.monotonic(), 0), STEP_S)
        status = call(round(left * 1000))
        if status in (1, _abi.INTERRUPTED):
            return status == 1
        if status != 0:
            name = _abi.ERRORS.get(status, str(status))
            raise Error(f"the feed refused an entry: {name}", (), name)
        if end is not None and time.monotonic() >= end:
            raise TimeoutError(f"nothing moved within {timeout:g} s")
