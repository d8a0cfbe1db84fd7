"""A session of the library: opens a graph, runs it, and returns its texts and outputs."""
from __future__ import annotations

import ctypes
import dataclasses
import os
import threading
from collections.abc import Callable, Sequence
from ctypes import c_void_p
from typing import Any, Protocol

from . import _abi
from ._feed import Queue
from ._library import Diagnostics, library, text_of
from .collection import Schema, read_schema
from .device import Hold
from .errors import Diagnostic, GraphError, failure
from .follow import Follow, Watch
from .parts import Part, ranges_of
from .serve import Serve, Server


@dataclasses.dataclass
class Settings:
    """Options of a session, as struct sl_options. None and 0: the library's default."""

    graph_path: str | None = None
    graph_text: str | None = None
    with_paths: Sequence[str] = ()
    uses: Sequence[str] = ()
    sets: Sequence[str] = ()
    plugin_paths: Sequence[str] = ()
    input_paths: Sequence[str | Part] | None = None
    follow: Follow | None = None
    serve: Serve | None = None
    events: int = 0
    device: str | None = None
    slots: int = 0
    slice_events: int = 0
    source_threads: int = 0
    replan: str = "on"
    memory_bytes: int = 0
    until_idle: float = 0
    senders: int = 0
    output_path: str | None = None
    rotate: str | None = None
    checkpoint_path: str | None = None
    resume: bool = False
    digest: bool = False
    keep: bool = False  # batches can be kept on the device
    inspect_only: bool = False
    command_line: Sequence[str] = ()
    folder: object = None  # of files in with_paths that the run may read again; kept while the session uses them


class GraphOfRun(Protocol):
    """A Graph, for modules that graph.py imports."""

    def _open(self, settings: Settings, make: Any) -> Any: ...


class _Opening:
    """A session that is being opened, and the memory that the library reads and writes meanwhile."""

    def __init__(
        self, options: _abi.Options, diagnostics: Diagnostics, pointer: c_void_p, kept: Sequence[object]
    ) -> None:
        self._options, self._diagnostics, self._pointer, self._kept = options, diagnostics, pointer, kept
        self._lock = threading.Lock()
        self._is_abandoned = False
        self.ended = threading.Event()
        self.status: int | None = None

    def open(self) -> None:
        status = int(
            library().sl_session_open(
                ctypes.byref(self._options), self._diagnostics.pointer, ctypes.byref(self._pointer)
            )
        )
        with self._lock:
            self.status = status
            if self._is_abandoned and self._pointer:
                library().sl_session_close(self._pointer)
        self.ended.set()

    def abandon(self) -> bool:
        """Gives up the session. True if it is still being opened: the thread that opens it then closes it."""
        with self._lock:
            self._is_abandoned = self.status is None
            return self._is_abandoned


class Session:
    """An open session, closed when nothing refers to it. Arrays refer to it, so that they never view freed memory.

    GraphError if the graph, an option or a file is refused.
    """

    def __init__(
        self,
        settings: Settings,
        on_batch: Callable[[int], int] | None = None,
        on_progress: Callable[[int, int, int, float], None] | None = None,
        feed: Queue | None = None,
        explain: _abi.Explain | None = None,
    ) -> None:
        self._pid = os.getpid()
        self._pointer = c_void_p()
        self._kept: list[Any] = []  # memory that C reads until the session is closed
        self.diagnostics = Diagnostics()
        options = self._options(settings)
        if on_batch is not None:
            deliver = on_batch
            options.on_batch = _abi.BATCH_CALLBACK(lambda _, batch: deliver(batch))
            options.keeps_batches = 1
        if on_progress is not None:
            report_progress = on_progress
            options.on_progress = _abi.PROGRESS_CALLBACK(lambda _, *numbers: report_progress(*numbers))
        if feed is not None:
            options.feed = feed.pointer
        if explain is not None:
            options.explain = ctypes.addressof(explain)
            options.output_is_optional = 1
            self._kept.append(explain)
        self._kept += [options, feed]
        self._folder = settings.folder
        self.url: str | None = None
        if settings.serve is not None:
            server = Server(settings.serve, self.diagnostics)
            self.url, options.server = server.url, server.pointer
            self._kept.append(server)
        status = self._open(options) if settings.follow is None else self._open_followed(options, settings)
        if status < 0:
            messages = self.diagnostics.read()
            name = _abi.ERRORS.get(status, str(status))
            raise GraphError(failure("the graph could not be opened", messages), messages, name)

    def _open(self, options: _abi.Options) -> int:
        """sl_session_open: 0 or a negative error. It runs in a thread of its own, so that Ctrl-C interrupts the wait:
        planning, constants and memory can take seconds.
        """
        opening = _Opening(options, self.diagnostics, self._pointer, self._kept)
        thread = threading.Thread(target=opening.open, name="sluice open", daemon=True)
        thread.start()
        try:
            opening.ended.wait()  # not join(): an interrupted join() treats the thread as ended
        except BaseException:
            if opening.abandon():
                self._pointer = c_void_p()
            raise
        assert opening.status is not None
        return opening.status

    def _open_followed(self, options: _abi.Options, settings: Settings) -> int:
        """Opens the session when the first file is there. A file that no source recognises is left out."""
        assert settings.follow is not None
        watch = Watch(settings.follow, self.diagnostics)
        if settings.resume and settings.checkpoint_path is not None:
            watch.resume(settings.checkpoint_path)
        options.follow = watch.pointer
        self._kept.append(watch)
        status = _abi.WRONG_FORMAT
        while status == _abi.WRONG_FORMAT:
            watch.wait()
            status = self._open(options)
        return status

    def _text(self, text: str | None) -> bytes | None:
        return None if text is None else self._bytes(text)

    def _bytes(self, text: str) -> bytes:
        encoded = os.fsencode(text)
        if b"\0" in encoded:
            raise ValueError(f"a null character stands in {text!r}")
        self._kept.append(encoded)
        return encoded

    def _texts(self, texts: Sequence[str]) -> c_void_p:
        array = _abi.strings([self._bytes(text) for text in texts])
        self._kept.append(array)
        return ctypes.cast(array, c_void_p)

    def _options(self, settings: Settings) -> _abi.Options:
        o: _abi.Options = library().sl_options_default()
        o.graph_path = self._text(settings.graph_path)
        text = self._text(settings.graph_text)
        o.graph_text, o.graph_text_bytes = text, 0 if text is None else len(text)
        o.with_paths = self._texts(settings.with_paths)
        o.uses, o.sets = self._texts(settings.uses), self._texts(settings.sets)
        o.plugin_paths = self._texts(settings.plugin_paths)
        if settings.input_paths is not None:
            o.input_paths = self._texts([os.fspath(path) for path in settings.input_paths])
            ranges = ranges_of(settings.input_paths)
            self._kept.append(ranges)
            o.input_ranges = None if ranges is None else ctypes.cast(ranges, c_void_p)
        o.events = _abi.count("n", settings.events, 64)
        o.slots = _abi.count("slots", settings.slots, 32)
        o.slice_events = _abi.count("slice_events", settings.slice_events, 32)
        o.source_threads = _abi.count("source_threads", settings.source_threads, 32)
        o.replan = _abi.REPLAN[settings.replan]
        o.memory_bytes = _abi.count("memory", settings.memory_bytes, 64)
        o.until_idle, o.senders = settings.until_idle, _abi.count("senders", settings.senders, 32)
        if settings.device is not None:
            o.device = self._text(settings.device)
        o.output_path = self._text(settings.output_path)
        o.rotate = self._text(settings.rotate)
        o.checkpoint_path, o.resume = self._text(settings.checkpoint_path), int(settings.resume)
        o.digest, o.inspect_only = int(settings.digest), int(settings.inspect_only)
        o.keep_device = int(settings.keep)
        if settings.command_line:
            o.command_line = self._texts(settings.command_line)
        return o

    def run(self) -> int:
        """sl_session_run: 0 or a negative error. The GIL is released meanwhile."""
        return int(library().sl_session_run(self._pointer))

    def stop(self) -> None:
        """From any thread."""
        library().sl_session_stop(self._pointer)

    def reload(self, settings: Settings) -> int:
        """Changes the graph of a run to that of the settings, at the next slice boundary: 0, or INTERRUPTED if the run does
        not read its input. GraphError with all reasons if the change is refused; then nothing has changed.
        """
        diagnostics = Diagnostics()
        texts = [_abi.strings([os.fsencode(t) for t in given]) for given in (settings.sets, settings.uses, settings.with_paths)]
        graph = None if settings.graph_text is None else settings.graph_text.encode()
        change = _abi.Reload(
            ctypes.sizeof(_abi.Reload),
            0,
            None if settings.graph_path is None else os.fsencode(settings.graph_path),
            graph,
            0 if graph is None else len(graph),
            *(ctypes.cast(array, c_void_p) for array in texts),
        )
        status = int(library().sl_session_reload(self._pointer, ctypes.byref(change), diagnostics.pointer))
        if status == _abi.INTERRUPTED:
            return status
        if status < 0:
            messages = diagnostics.read()
            name = _abi.ERRORS.get(status, str(status))
            raise GraphError(failure("the configuration stays", messages), messages, name)
        self._folder = settings.folder
        return status

    def release_batches(self) -> None:
        """Frees the memory of batches of earlier configurations."""
        library().sl_session_release_batches(self._pointer)

    def keep_batch(self) -> Hold:
        """Holds the batch that the library has passed to on_batch, until on_batch returns."""
        kept = c_void_p()
        status = library().sl_session_keep_batch(self._pointer, ctypes.byref(kept))
        assert status == 0 and kept.value, _abi.ERRORS.get(status, str(status))
        return Hold(kept.value)

    def messages(self, first: int = 0) -> list[Diagnostic]:
        return self.diagnostics.read(first)

    def identity(self) -> _abi.Run:
        return _abi.struct_at(_abi.Run, library().sl_session_identity(self._pointer))

    def outputs(self) -> list[_abi.RunOutput]:
        identity = self.identity()
        return _abi.array_at(_abi.RunOutput, identity.outputs, identity.output_count)

    def schemas(self) -> dict[str, Schema]:
        """The collections of the outputs of the present configuration, by output."""
        return {_abi.decode(output.name): read_schema(output) for output in self.outputs()}

    def constants(self) -> list[_abi.Constant]:
        count = ctypes.c_uint32()
        address = library().sl_session_constants(self._pointer, ctypes.byref(count))
        if not address:
            raise MemoryError("sl_session_constants")
        return _abi.array_at(_abi.Constant, address, count.value)

    def json(self) -> str:
        return text_of(lambda stream: library().sl_session_write_json(self._pointer, stream))

    def table(self) -> str:
        return text_of(lambda stream: library().sl_session_write_table(self._pointer, 0, stream))

    def wiring(self) -> str:
        return text_of(lambda stream: library().sl_session_write_wiring(self._pointer, stream))

    def graph(self, origins: bool) -> str:
        return text_of(lambda stream: library().sl_session_write_graph(self._pointer, int(origins), stream))

    def plan(self) -> str:
        return text_of(lambda stream: library().sl_session_write_plan(self._pointer, stream))

    def dot(self) -> str:
        return text_of(lambda stream: library().sl_session_write_drawing(self._pointer, None, None, stream))

    def __del__(self) -> None:
        # A forked child has no threads of the session and must not close it.
        if getattr(self, "_pointer", None) and self._pid == os.getpid():
            library().sl_session_close(self._pointer)
            self._pointer = c_void_p()
