"""Serve: a page in the browser, which shows a run while it goes on."""
from __future__ import annotations

import ctypes
import dataclasses
import os
from collections.abc import Sequence
from ctypes import c_void_p

from . import _abi
from ._library import Diagnostics, library
from .errors import GraphError, failure
from .parts import from_here


@dataclasses.dataclass(frozen=True)
class Serve:
    """A page that shows a run: `graph.run(serve=Serve(8080))`; its address is `run.url`. See docs/live.md.

    address: a port of this machine (0: any free one), or "ADDRESS:PORT". token_file: file with the token for changes
    and for other machines, which only its owner can read. reference: files to compare with, the JSON of a run or of
    histograms. alarms: limits, as of `--alarm`: "errors=1%", "rate:Hlt1TrackMVA=1%..5%".
    """

    address: str | int = 0
    token_file: str | os.PathLike[str] | None = None
    reference: Sequence[str | os.PathLike[str]] = ()
    alarms: Sequence[str] = ()


class Server:
    """A struct sl_server, freed when nothing refers to it. A session that uses it refers to it."""

    def __init__(self, serve: Serve, diagnostics: Diagnostics) -> None:
        self._pid = os.getpid()
        self.pointer = c_void_p()
        references = _abi.strings([os.fsencode(from_here(path)) for path in serve.reference])
        alarms = _abi.strings([alarm.encode() for alarm in serve.alarms])
        options = _abi.ServerOptions(
            ctypes.sizeof(_abi.ServerOptions),
            0,
            str(serve.address).encode(),
            None if serve.token_file is None else os.fsencode(from_here(serve.token_file)),
            ctypes.cast(references, c_void_p),
            ctypes.cast(alarms, c_void_p),
        )
        status = library().sl_server_new(ctypes.byref(options), diagnostics.pointer, ctypes.byref(self.pointer))
        if status < 0:
            messages = diagnostics.read()
            name = _abi.ERRORS.get(status, str(status))
            raise GraphError(failure("the run cannot be served", messages), messages, name)
        self.url: str = library().sl_server_url(self.pointer).decode()

    def __del__(self) -> None:
        if getattr(self, "pointer", None) and self._pid == os.getpid():
            library().sl_server_free(self.pointer)
            self.pointer = c_void_p()
