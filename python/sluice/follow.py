"""Follow: the files of a folder, in the order of their names, as they arrive; the input of a run."""
from __future__ import annotations

import ctypes
import dataclasses
import os
from ctypes import c_void_p

from . import _abi
from ._library import Diagnostics, library
from .errors import GraphError, failure
from .parts import from_here

STEP_MS = 100  # longest wait in C; between waits Python handles signals


@dataclasses.dataclass(frozen=True)
class Follow:
    """The files of a folder as the input of a run: `graph.run(follow=Follow("incoming", done="done"))`.

    pattern: of the names of files, as in a shell (None: "*"); names that begin with a dot or end in ".part" are never
    taken. complete: when a file is complete: "rename", when it was moved into the folder, or "close", when its writer
    has closed it. done: a folder on the same file system to which files are moved when all their events are delivered.
    until_idle: the run ends when no file arrived for so many seconds (None: it does not end by itself).
    """

    folder: str | os.PathLike[str]
    pattern: str | None = None
    complete: str = "rename"
    done: str | os.PathLike[str] | None = None
    until_idle: float | None = None

    def __post_init__(self) -> None:
        if self.complete not in _abi.COMPLETE:
            raise ValueError(f"complete is rename or close, not {self.complete!r}")
        if _abi.seconds("until_idle", self.until_idle) == 0:
            raise ValueError("until_idle is 0; it must be more than 0 seconds, or None")


class Watch:
    """A struct sl_follow, freed when nothing refers to it. A session that uses it refers to it."""

    def __init__(self, follow: Follow, diagnostics: Diagnostics) -> None:
        self._pid = os.getpid()
        self.pointer = c_void_p()
        self._follow, self._diagnostics = follow, diagnostics
        options = _abi.FollowOptions(
            ctypes.sizeof(_abi.FollowOptions),
            _abi.COMPLETE[follow.complete],
            os.fsencode(from_here(follow.folder)),
            None if follow.pattern is None else os.fsencode(follow.pattern),
            None if follow.done is None else os.fsencode(from_here(follow.done)),
            0 if follow.until_idle is None else follow.until_idle,
        )
        self._must_be_ok(library().sl_follow_new(ctypes.byref(options), diagnostics.pointer, ctypes.byref(self.pointer)))

    def _must_be_ok(self, status: int) -> None:
        if status < 0:
            messages = self._diagnostics.read()
            name = _abi.ERRORS.get(status, str(status))
            raise GraphError(failure("the folder cannot be followed", messages), messages, name)

    def resume(self, checkpoint: str) -> None:
        """Continues where the run of the checkpoint ended; before wait()."""
        path, diagnostics = os.fsencode(checkpoint), self._diagnostics.pointer
        self._must_be_ok(library().sl_follow_continue(self.pointer, path, diagnostics, None))

    def wait(self) -> None:
        """Waits for the first file. TimeoutError if none arrived within the idle time."""
        status = 0
        while status == 0:
            status = library().sl_follow_wait(self.pointer, STEP_MS)
        if status == _abi.INTERRUPTED:
            raise TimeoutError(f"no file arrived in {os.fspath(self._follow.folder)} for {self._follow.until_idle} s")
        if status < 0:
            raise MemoryError("sl_follow_wait")

    def __del__(self) -> None:
        if getattr(self, "pointer", None) and self._pid == os.getpid():
            library().sl_follow_free(self.pointer)
            self.pointer = c_void_p()
